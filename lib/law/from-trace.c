// SPDX-License-Identifier: LGPL-2.1-or-later
/* Machines and laws: a deal by position as a record, and the original of Law 6F. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <dealbox/event.h>
#include <dealbox/law.h>

#include "cards/deal-internal.h"
#include "cards/messages.h"
#include "error-internal.h"
#include "judge.h"
#include "record.h"
#include "verdict/event-internal.h"

/* The outcome of a position of the deck. */
struct fed {
	uint8_t card, place;	/* DEALBOX_NONE = not read, not known */
	bool read, faceup, twice;
};

struct story {
	struct dealbox_judge *judge;
	dealbox_happening_fn take;
	void *context;
	struct dealbox_error *error;
	const struct dealbox_ruleset *rules;
	struct fed fed[DEALBOX_MAX_ENTRIES];
	unsigned int count;	/* positions fed */
	bool done, deck_short, repeated;
};

static int tell(struct story *s, const struct dealbox_happening *h)
{
	if (s->take)
		s->take(h, s->context);
	return dealbox_judge_happening(s->judge, h, s->error);
}

static struct dealbox_happening by_machine(enum law_verb verb)
{
	return (struct dealbox_happening){
		.verb = verb, .actor = DEALBOX_ACTOR_MACHINE, .seat = 255, .number = { -1, -1 },
	};
}

static int note(struct story *s, enum law_topic topic)
{
	struct dealbox_happening h = by_machine(V_NOTES);

	h.topic = topic;
	return tell(s, &h);
}

/* Pockets are hands; a talon comes after the last of them. */
static uint8_t place_of(const struct story *s, uint8_t pocket)
{
	if (s->rules->talon_cards && pocket == s->rules->hands)
		return DEALBOX_TALON;
	return pocket < s->rules->hands ? pocket : DEALBOX_NONE;
}

static void see(struct story *s, const struct dealbox_event *event)
{
	struct fed *fed = event->position < DEALBOX_MAX_ENTRIES ? &s->fed[event->position] : NULL;

	switch (event->type) {
	case DEALBOX_EV_DEAL_STARTED:
		s->done = false;
		s->count = 0;
		break;
	case DEALBOX_EV_DEAL_DONE:
		s->done = true;
		break;
	case DEALBOX_EV_DECK_SHORT:
		s->deck_short = true;
		break;
	case DEALBOX_EV_CARD_READ:
		if (!fed)
			break;
		fed->read = true;
		fed->card = event_guess(event) ? DEALBOX_NONE : event->card;
		fed->faceup = event->flags & DEALBOX_EVF_FACE_UP;
		break;
	case DEALBOX_EV_REPEATED_CARD:
		s->repeated = true;
		break;
	case DEALBOX_EV_DOUBLE_FEED:
		if (fed)
			fed->twice = fed->read = true;
		break;
	case DEALBOX_EV_CARD_ROUTED:
	case DEALBOX_EV_CARD_LANDED:
	case DEALBOX_EV_WRONG_POCKET:
		if (!fed)
			break;
		fed->place = place_of(s, event->pocket);
		break;
	default:
		return;
	}
	if (fed && fed->place != DEALBOX_NONE && event->position >= s->count)
		s->count = event->position + 1u;
}

struct packet {
	unsigned int positions, cards;
	bool faceup;
};

/* The packet that begins at position: consecutive cards to one place. */
static struct packet packet_at(const struct story *s, unsigned int position)
{
	struct packet packet = { 0 };
	const struct fed *fed = &s->fed[position];

	do {
		packet.faceup |= fed[packet.positions].faceup;
		packet.cards += 1u + fed[packet.positions].twice;
		packet.positions++;
	} while (s->rules->packet > 1 && position + packet.positions < s->count &&
		 fed[packet.positions].place == fed->place);
	return packet;
}

/* Detects a pack with a missing, foreign or repeated card. */
static int pack_check(struct story *s)
{
	dealbox_cards seen = 0;
	bool foreign = s->repeated || s->deck_short;

	for (unsigned int i = 0; i < s->count; i++) {
		uint8_t card = s->fed[i].card;

		if (card == DEALBOX_NONE)
			continue;	/* nobody looked */
		if (card >= 64 || !(s->rules->pack >> card & 1) || seen >> card & 1)
			foreign = true;
		else
			seen |= (dealbox_cards)1 << card;
	}
	if (!foreign)
		return 0;
	return note(s, s->rules->rules == DEALBOX_RULES_PREFERANS ? T_SHORT_PACK : T_NONCONFORMING);
}

static int packet_tell(struct story *s, unsigned int position, const struct packet *packet)
{
	unsigned long before = s->judge->d.misdeal_last;
	struct dealbox_happening h = by_machine(V_DEAL);
	int err;

	h.places = 1u << s->fed[position].place;
	if (packet->cards != s->rules->packet)
		h.number[0] = (int16_t)packet->cards;
	if (packet->faceup)
		h.flags = FLAG(F_FACEUP);
	err = tell(s, &h);
	if (!err && s->judge->d.misdeal_last != before)
		err = note(s, T_MISDEAL);
	return err;
}

/*
 * Rubber: an error with the last card is noted too late for Law 10(a), but the machine knows which
 * hands have too many or too few cards, which 10(c) covers.
 */
static int count_tell(struct story *s, const unsigned int *hand)
{
	int err = 0;

	for (unsigned int h = 0; !err && h < s->rules->hands; h++) {
		struct dealbox_happening count = by_machine(V_COUNT);

		if (hand[h] == s->rules->hand_cards)
			continue;
		count.places = 1u << h;
		count.number[0] = (int16_t)hand[h];
		err = tell(s, &count);
	}
	return err;
}

int dealbox_judge_trace(struct dealbox_judge *judge, const struct dealbox_plan *plan,
			const struct dealbox_trace *trace, dealbox_happening_fn take,
			void *context, struct dealbox_error *error)
{
	struct dealbox_error unheard = { 0 };
	struct story s = { .judge = judge, .take = take, .context = context,
			   .error = error ? error : &unheard };
	const struct dealbox_event *event;
	unsigned int dealt = 0, hand[DEALBOX_PLACES] = { 0 }, n;
	struct packet packet;
	int err = 0;

	s.rules = judge->rules;
	if (!s.rules || plan->mode != DEALBOX_PLAN_BY_POSITION ||
	    plan->entries > DEALBOX_MAX_ENTRIES)
		return error_set(s.error, -EINVAL, 0, NULL, "%s",
				 dealbox_law_translate(judge->language,
						       N_("there is no ruleset yet, "
							  "or the plan is not one by position")));
	for (n = 0; n < DEALBOX_MAX_ENTRIES; n++)
		s.fed[n].card = s.fed[n].place = DEALBOX_NONE;
	for (n = 0; (event = dealbox_trace_get(trace, n)); n++)
		see(&s, event);
	/* a double feed stops the machine before routing: use the plan */
	for (n = 0; n < plan->entries; n++)
		if (s.fed[n].twice && s.fed[n].place == DEALBOX_NONE && n >= s.count) {
			s.fed[n].place = place_of(&s, plan->pocket[n]);
			s.count = n + 1;
		}
	for (unsigned int at = 0; !err && at < s.count; at += packet.positions) {
		packet.positions = 1;
		if (s.fed[at].place == DEALBOX_NONE)
			continue;
		packet = packet_at(&s, at);
		/* a double feed may be one card too many */
		if (dealt + packet.cards > law_cards_of_deal(judge))
			break;
		err = packet_tell(&s, at, &packet);
		dealt += packet.cards;
		hand[s.fed[at].place] += packet.cards;
	}
	if (!err && s.done && s.rules->rules == DEALBOX_RULES_RUBBER)
		err = count_tell(&s, hand);
	if (!err && dealt)
		err = pack_check(&s);
	explicit_bzero(s.fed, sizeof(s.fed));
	return err;
}

/* The cards of a capture that were read */
struct pocket {
	dealbox_cards *cards;
	unsigned int count;
	const struct dealbox_event *last;	/* the last reading, not counted yet; NULL = none */
	bool held;				/* the machine has stopped at that card */
};

/* Counts the last reading. Returns false if it does not name a card for certain, or face down. */
static bool count_last(struct pocket *pocket)
{
	const struct dealbox_event *last = pocket->last;

	pocket->last = NULL;
	if (!last)
		return true;
	if (last->card >= 64 || event_guess(last) || last->flags & DEALBOX_EVF_FACE_UP ||
	    *pocket->cards >> last->card & 1)
		return false;
	*pocket->cards |= (dealbox_cards)1 << last->card;
	pocket->count++;
	return true;
}

static bool read_card(struct pocket *pocket, const struct dealbox_event *event)
{
	const struct dealbox_event *last = pocket->last;
	/* at a stop, a card may be turned, or misread before */
	bool again = last && event->position == last->position &&
		     (pocket->held || event->card == last->card);

	if (!again && !count_last(pocket))
		return false;
	pocket->last = event;
	pocket->held = false;
	return true;
}

static bool capture_read(const struct dealbox_trace *trace, dealbox_cards *out)
{
	const struct dealbox_event *event;
	bool started = false, done = false;
	struct pocket pocket = { .cards = out };
	unsigned int end = 0;

	*out = 0;
	if (!trace || dealbox_trace_gap(trace))
		return false;
	for (size_t i = 0; (event = dealbox_trace_get(trace, i)); i++) {
		switch (event->type) {
		case DEALBOX_EV_DEAL_STARTED:
			/* several captures may follow one another in one insertion */
			started = true;
			done = false;
			pocket = (struct pocket){ .cards = out };
			*out = 0;
			break;
		case DEALBOX_EV_CARD_READ:
			if (!read_card(&pocket, event))
				return false;
			break;
		case DEALBOX_EV_DEAL_DONE:
			if (!count_last(&pocket))
				return false;
			done = true;
			end = event->position;
			break;
		case DEALBOX_EV_STATE_LOST:
		case DEALBOX_EV_ABORTED:
		case DEALBOX_EV_PROTOCOL_ERROR:
			return false;
		default:
			/* the stops after which a board is void */
			if (dealbox_event_classify(event->type) == DEALBOX_EVENT_VOID)
				return false;
			pocket.held |= dealbox_event_classify(event->type) == DEALBOX_EVENT_HELD;
		}
	}
	return started && done && !pocket.last && pocket.count == end;
}

int dealbox_law_capture_pocket(const struct dealbox_trace *capture, dealbox_cards *out)
{
	return capture_read(capture, out) ? 0 : -EINVAL;
}

int dealbox_law_capture(const struct dealbox_trace *const captures[DEALBOX_HANDS],
			const struct dealbox_pack *pack, struct dealbox_deal *out,
			unsigned int *pocket)
{
	memset(out, 0, sizeof(*out));
	for (*pocket = 0; *pocket < DEALBOX_HANDS; ++*pocket)
		if (!capture_read(captures[*pocket], &out->hand[*pocket]))
			return -EINVAL;
	if (!dealbox_deal_complete(out, pack))
		return -EBADMSG;
	return deal_is_placeholder(out) ? -EDOM : 0;
}
