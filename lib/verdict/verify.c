// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dealbox/event.h>
#include <dealbox/law.h>
#include <dealbox/verify.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cards/messages.h"
#include "cards/sentence.h"
#include "event-internal.h"

#define POSITIONS	256

struct dealbox_verdict {
	enum dealbox_basis basis;
	bool identified;
	bool failed;		/* out of memory while differences were added */
	struct dealbox_difference *differences;
	size_t count, room;
};

/* How far a card has come */
enum stage { STAGE_NONE, STAGE_READ, STAGE_ROUTED, STAGE_LANDED };

struct card {
	uint8_t stage;		/* enum stage */
	uint8_t card;		/* of the last reading, DEALBOX_NONE = not read */
	uint8_t pocket;		/* where it was routed, then where it landed */
	bool face_up;
	bool stopped;		/* the deal was held after the reading: it may be reread */
	bool guessed;		/* the quality of the reading was too low to count */
};

/* The state of the deal while the trace is replayed */
struct view {
	const struct dealbox_plan *plan;
	const uint8_t *deck;		/* card at each position; NULL = unknown */
	struct dealbox_verdict *verdict;
	uint32_t insertion;
	bool started, done, removed;
	bool empty;			/* the hopper is empty */
	bool filled;			/* the hopper ran empty during the deal and was refilled */
	unsigned int foreign;		/* position + 1 of a card without a pocket, 0 = none */
	unsigned int next;		/* position of the next card to be read */
	bool landed_any;
	bool by_hand;			/* a person has dealt, at least in part */
	struct card cards[POSITIONS];
	uint8_t done_counts[DEALBOX_MAX_POCKETS];
	unsigned int done_total;
};

#define NOTHING(k) (struct dealbox_difference) { .kind = DEALBOX_DIFFERENCE_##k, \
	.card = DEALBOX_NONE, .position = DEALBOX_NONE, .pocket = DEALBOX_NONE, \
	.expected = DEALBOX_NONE, .other = DEALBOX_NONE }

static void differ(struct view *view, struct dealbox_difference difference)
{
	struct dealbox_verdict *verdict = view->verdict;

	if (verdict->count == verdict->room) {
		size_t room = verdict->room ? verdict->room * 2 : 16;
		struct dealbox_difference *differences = calloc(room, sizeof(difference));

		if (!differences) {
			verdict->failed = true;
			return;
		}
		if (verdict->count) {
			size_t size = verdict->count * sizeof(difference);

			memcpy(differences, verdict->differences, size);
			explicit_bzero(verdict->differences, size);
			free(verdict->differences);
		}
		verdict->differences = differences;
		verdict->room = room;
	}
	verdict->differences[verdict->count++] = difference;
}

static void differ_at(struct view *view, struct dealbox_difference difference,
		      const struct dealbox_event *event)
{
	difference.position = event->position;
	difference.card = event->card;
	difference.pocket = event->pocket;
	differ(view, difference);
}

/*
 * The hopper ran empty before all cards were dealt. The missing cards may be in the board, after
 * unseen double feeds. So cards that are added to the hopper afterwards prove nothing.
 */
static void deck_short(struct view *view, const struct dealbox_event *event)
{
	struct dealbox_difference difference = NOTHING(FAULT);

	difference.code = DEALBOX_EV_DECK_SHORT;
	differ_at(view, difference, event);
}

/* Return the pocket that the plan has for a card, or DEALBOX_NONE. */
static uint8_t planned(const struct view *view, uint8_t position, uint8_t card)
{
	const struct dealbox_plan *plan = view->plan;

	/* A reading is stronger evidence than the position in the deck. */
	if (view->deck && card != DEALBOX_NONE) {
		for (position = 0; position < plan->entries; position++)
			if (view->deck[position] == card)
				break;
	}
	switch (plan->mode) {
	case DEALBOX_PLAN_BY_CARD:
		return card < plan->entries ? plan->pocket[card] : DEALBOX_NONE;
	case DEALBOX_PLAN_BY_POSITION:
		return position < plan->entries ? plan->pocket[position] : DEALBOX_NONE;
	default:
		return plan->pocket[0];
	}
}

/* Return the planned number of cards of a pocket. For captures, it is unknown in advance. */
static unsigned int planned_count(const struct dealbox_plan *plan, unsigned int pocket)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < plan->entries; i++)
		count += plan->pocket[i] == pocket;
	return count;
}

static unsigned int planned_total(const struct dealbox_plan *plan)
{
	return plan->entries - planned_count(plan, DEALBOX_NONE);
}

/* -- events, one function each -------------------------------------------- */

static void on_started(struct view *view, const struct dealbox_event *event)
{
	struct dealbox_difference difference = NOTHING(COUNT);
	unsigned int total = planned_total(view->plan);

	if (view->started) {
		differ(view, NOTHING(AGAIN));
		return;
	}
	view->started = true;
	if (event->code != view->plan->plan_id)
		differ(view, NOTHING(WRONG_PLAN));
	if (view->plan->mode != DEALBOX_PLAN_CAPTURE && event->arg[0] != total) {
		difference.count = event->arg[0];
		difference.count_expected = total;
		differ(view, difference);
	}
}

static void on_read(struct view *view, const struct dealbox_event *event)
{
	struct card *card = &view->cards[event->position];

	if (view->filled || (view->empty && event->position + 1u == view->foreign))
		deck_short(view, event);
	view->filled = false;
	view->foreign = 0;
	if (event->position == view->next && event->position != DEALBOX_NONE) {
		view->next++;
	} else if (card->stage != STAGE_READ || !card->stopped) {
		differ_at(view, NOTHING(ORDER), event);
		return;
	}
	*card = (struct card) {
		.stage = STAGE_READ, .card = event->card, .pocket = DEALBOX_NONE,
		.face_up = event->flags & DEALBOX_EVF_FACE_UP,
		.guessed = event_guess(event),
	};
}

/* The card that is routed or lands must be the card that was read. */
static void same_card(struct view *view, const struct dealbox_event *event,
		      const struct card *card)
{
	if (event->card != card->card)
		differ_at(view, NOTHING(CARD_CHANGED), event);
}

static void on_routed(struct view *view, const struct dealbox_event *event)
{
	struct card *card = &view->cards[event->position];

	if (card->stage != STAGE_READ || card->stopped ||
	    event->position + 1u != view->next) {
		differ_at(view, NOTHING(ORDER), event);
		return;
	}
	same_card(view, event, card);
	card->stage = STAGE_ROUTED;
	card->pocket = event->pocket;
}

static void on_landed(struct view *view, const struct dealbox_event *event)
{
	struct card *card = &view->cards[event->position];
	struct dealbox_difference difference = NOTHING(WRONG_POCKET);

	view->landed_any = true;
	if (card->stage != STAGE_ROUTED) {
		differ_at(view, NOTHING(ORDER), event);
		return;
	}
	same_card(view, event, card);
	card->stage = STAGE_LANDED;
	if (event->pocket != card->pocket) {
		difference.expected = card->pocket;
		differ_at(view, difference, event);
	}
	card->pocket = event->pocket;
}

static void on_done(struct view *view, const struct dealbox_event *event)
{
	if (view->done) {
		differ(view, NOTHING(AGAIN));
		return;
	}
	view->done = true;
	if (event->code != view->plan->plan_id)
		differ(view, NOTHING(WRONG_PLAN));
	view->done_total = event->position;
	memcpy(view->done_counts, event->counts, sizeof(view->done_counts));
}

static void on_fault(struct view *view, const struct dealbox_event *event)
{
	struct dealbox_difference difference = NOTHING(FAULT);

	difference.code = event->type;
	if (event->type == DEALBOX_EV_REPEATED_CARD)
		difference.other = event->arg[0] < DEALBOX_NONE ? (uint8_t)event->arg[0] :
				   DEALBOX_NONE;
	differ_at(view, difference, event);
}

/* The card at the reader is held, and may be reread. */
static void on_held(struct view *view, const struct dealbox_event *event)
{
	struct card *card = &view->cards[event->position];

	/* a card that was only read badly stays, to be read again */
	if (event->type == DEALBOX_EV_NOT_IN_PLAN && !event_guess(event))
		view->foreign = event->position + 1u;
	if (event->type == DEALBOX_EV_DECK_SHORT)
		deck_short(view, event);
	else if (view->done && !view->removed)
		differ_at(view, NOTHING(ORDER), event);
	else if (card->stage == STAGE_READ)
		card->stopped = true;
}

static void on_aborted(struct view *view, const struct dealbox_event *event)
{
	differ_at(view, NOTHING(ABORTED), event);
}

static void on_state_lost(struct view *view, const struct dealbox_event *event)
{
	struct dealbox_difference difference = NOTHING(STATE_LOST);

	if (!view->started || view->done)
		return;
	difference.code = event->code;
	differ(view, difference);
}

static void on_removed(struct view *view, const struct dealbox_event *event)
{
	(void)event;
	view->removed = true;
	if (view->started && !view->done)
		differ(view, NOTHING(BOARD_REMOVED));
}

static void on_inserted(struct view *view, const struct dealbox_event *event)
{
	if (view->started)
		differ_at(view, NOTHING(ORDER), event);
}

static void on_empty(struct view *view, const struct dealbox_event *event)
{
	(void)event;
	view->empty = true;
}

static void on_loaded(struct view *view, const struct dealbox_event *event)
{
	(void)event;
	view->filled = view->empty && view->started && view->plan->mode != DEALBOX_PLAN_CAPTURE;
	view->empty = false;
}

/*
 * During a deal, the protocol requires COVER_OPENED to follow. Count this as a fault too, in case
 * it does not: somebody may have reached into the machine.
 */
static void on_cover(struct view *view, const struct dealbox_event *event)
{
	if (view->started && !view->done)
		on_fault(view, event);
}

static void on_protocol_error(struct view *view, const struct dealbox_event *event)
{
	(void)event;
	/* The bad event may have been a stop. */
	if (!view->removed)
		differ(view, NOTHING(GAP));
}

/*
 * Handlers by type of event. dealing: valid only between DEAL_STARTED and DEAL_DONE, with the board
 * in the machine.
 */
static const struct {
	void (*on)(struct view *view, const struct dealbox_event *event);
	bool dealing;
} events[DEALBOX_EV_CARD_UNREADABLE] = {
	[DEALBOX_EV_STATE_LOST] = { on_state_lost, false },
	[DEALBOX_EV_HOPPER_LOADED] = { on_loaded, false },
	[DEALBOX_EV_HOPPER_EMPTY] = { on_empty, false },
	[DEALBOX_EV_BOARD_INSERTED] = { on_inserted, false },
	[DEALBOX_EV_BOARD_REMOVED] = { on_removed, false },
	[DEALBOX_EV_COVER_OPEN] = { on_cover, false },
	[DEALBOX_EV_DEAL_STARTED] = { on_started, false },
	[DEALBOX_EV_CARD_READ] = { on_read, true },
	[DEALBOX_EV_CARD_ROUTED] = { on_routed, true },
	[DEALBOX_EV_CARD_LANDED] = { on_landed, true },
	[DEALBOX_EV_DEAL_DONE] = { on_done, false },
	[DEALBOX_EV_ABORTED] = { on_aborted, false },
};

static void take(struct view *view, const struct dealbox_event *event)
{
	enum dealbox_event_class class = dealbox_event_classify(event->type);
	struct dealbox_difference difference;

	view->by_hand |= event->flags & DEALBOX_EVF_BY_HAND;
	if (event->type == DEALBOX_EV_PROTOCOL_ERROR) {
		on_protocol_error(view, event);
		return;
	}
	if (class == DEALBOX_EVENT_UNKNOWN || class == DEALBOX_EVENT_DRIVER)
		return;
	if (event->insertion != view->insertion && class != DEALBOX_EVENT_MACHINE) {
		difference = NOTHING(WRONG_INSERTION);
		difference.count = event->insertion;
		differ_at(view, difference, event);
		return;
	}
	/* Handle stops by class, so that unknown ones of later versions are included. */
	if (class == DEALBOX_EVENT_VOID) {
		if (!view->removed)
			on_fault(view, event);
	} else if (class == DEALBOX_EVENT_HELD) {
		on_held(view, event);
	} else if (events[event->type].on) {
		if (events[event->type].dealing &&
		    (!view->started || view->done || view->removed))
			differ_at(view, NOTHING(ORDER), event);
		else
			events[event->type].on(view, event);
	}
}

/* -- judgement -------------------------------------------------------------- */

static struct dealbox_difference of_card(const struct view *view, unsigned int position)
{
	const struct card *card = &view->cards[position];
	struct dealbox_difference at = NOTHING(WRONG_POCKET);

	at.position = (uint8_t)position;
	at.card = card->guessed ? DEALBOX_NONE : card->card;
	at.pocket = card->pocket;
	at.expected = planned(view, at.position, at.card);
	return at;
}

/* Judge each card by itself. */
static void judge_cards(struct view *view)
{
	enum stage wanted = view->landed_any ? STAGE_LANDED : STAGE_ROUTED;
	bool reads = view->plan->mode != DEALBOX_PLAN_BY_POSITION;
	unsigned int first[DEALBOX_MAX_ENTRIES] = { 0 };	/* position + 1 */
	bool wrong[POSITIONS] = { false };

	view->verdict->identified = view->next > 0;
	for (unsigned int i = 0; i < view->next; i++) {
		const struct card *card = &view->cards[i];
		struct dealbox_difference at = of_card(view, i);
		uint8_t read = at.card;

		if (card->stage < STAGE_ROUTED) {
			at.kind = DEALBOX_DIFFERENCE_NOT_ROUTED;
			differ(view, at);
			continue;
		}
		if (card->stage < wanted) {
			at.kind = DEALBOX_DIFFERENCE_NOT_LANDED;
			differ(view, at);
		}
		if (card->face_up) {
			at.kind = DEALBOX_DIFFERENCE_FACE_UP;
			differ(view, at);
		}
		if (read > DEALBOX_CARD_JOKER2) {
			view->verdict->identified = false;
			if (reads || read != DEALBOX_NONE) {
				at.kind = DEALBOX_DIFFERENCE_CARD_UNREAD;
				differ(view, at);
				continue;
			}
		} else if (first[read]) {
			at.kind = DEALBOX_DIFFERENCE_CARD_REPEATED;
			at.other = (uint8_t)(first[read] - 1);
			differ(view, at);
		} else {
			first[read] = i + 1;
		}
		wrong[i] = card->pocket != at.expected;
		if (at.expected == DEALBOX_NONE) {
			at.kind = DEALBOX_DIFFERENCE_CARD_FOREIGN;
			differ(view, at);
			wrong[i] = false;
		}
	}

	/* Apart from what was seen of other cards: their order would tell which cards these are. */
	for (unsigned int i = 0; i < view->next; i++)
		if (wrong[i])
			differ(view, of_card(view, i));

	if (view->plan->mode != DEALBOX_PLAN_BY_CARD)
		return;
	for (unsigned int i = 0; i < view->plan->entries; i++) {
		struct dealbox_difference missing = NOTHING(CARD_MISSING);

		if (view->plan->pocket[i] == DEALBOX_NONE || first[i])
			continue;
		missing.card = (uint8_t)i;
		missing.expected = view->plan->pocket[i];
		differ(view, missing);
	}
}

static void differ_count(struct view *view, unsigned int pocket, unsigned int count,
			 unsigned int expected)
{
	struct dealbox_difference difference = NOTHING(COUNT);

	if (count == expected)
		return;
	difference.pocket = (uint8_t)pocket;
	difference.count = count;
	difference.count_expected = expected;
	differ(view, difference);
}

/* Compare the machine's counts with the plan and with the cards in the trace. */
static void judge_counts(struct view *view)
{
	const struct dealbox_plan *plan = view->plan;
	bool capture = plan->mode == DEALBOX_PLAN_CAPTURE;
	unsigned int seen[DEALBOX_MAX_POCKETS] = { 0 };

	for (unsigned int i = 0; i < view->next; i++)
		if (view->cards[i].pocket < DEALBOX_MAX_POCKETS)
			seen[view->cards[i].pocket]++;

	for (unsigned int pocket = 0; pocket < DEALBOX_MAX_POCKETS; pocket++) {
		unsigned int wanted = planned_count(plan, pocket);

		if (capture)
			wanted = pocket == plan->pocket[0] ? view->next : 0;
		if (view->done)
			differ_count(view, pocket, view->done_counts[pocket], wanted);
		/* If each card is correct by itself, these are equal. */
		if (seen[pocket] != wanted && !view->verdict->count)
			differ_count(view, pocket, seen[pocket], wanted);
	}
	if (view->done)
		differ_count(view, DEALBOX_NONE, view->done_total,
			     capture ? view->next : planned_total(plan));
}

int dealbox_verify(const struct dealbox_plan *plan, const struct dealbox_trace *trace,
		   struct dealbox_verdict **out)
{
	return dealbox_verify_machine(plan, NULL, 0, trace, out);
}

int dealbox_verify_deck(const struct dealbox_plan *plan, const uint8_t *deck,
			const struct dealbox_trace *trace, struct dealbox_verdict **out)
{
	return dealbox_verify_machine(plan, deck, 0, trace, out);
}

int dealbox_verify_machine(const struct dealbox_plan *plan, const uint8_t *deck,
			   uint32_t capabilities, const struct dealbox_trace *trace,
			   struct dealbox_verdict **out)
{
	struct view view = {
		.plan = plan, .deck = deck, .insertion = dealbox_trace_insertion(trace),
	};
	struct dealbox_verdict *verdict;
	const struct dealbox_event *event;

	*out = NULL;
	if (plan->mode < DEALBOX_PLAN_BY_CARD || plan->mode > DEALBOX_PLAN_CAPTURE ||
	    !plan->entries || plan->entries > DEALBOX_MAX_ENTRIES ||
	    plan->plan_id == DEALBOX_PLAN_NONE ||
	    (deck && plan->mode != DEALBOX_PLAN_BY_POSITION))
		return -EINVAL;
	verdict = calloc(1, sizeof(*verdict));
	if (!verdict)
		return -ENOMEM;
	view.verdict = verdict;

	for (size_t i = 0; (event = dealbox_trace_get(trace, i)); i++)
		take(&view, event);

	if (dealbox_trace_gap(trace))
		differ(&view, NOTHING(GAP));
	if (!view.started)
		differ(&view, NOTHING(NOT_STARTED));
	else if (!view.done)
		differ(&view, NOTHING(NOT_DONE));
	judge_cards(&view);
	judge_counts(&view);
	if (capabilities & DEALBOX_CAP_EXIT_SENSORS && plan->mode != DEALBOX_PLAN_CAPTURE &&
	    view.next && !view.landed_any)
		differ(&view, NOTHING(UNSEEN));
	if (view.next)
		verdict->basis = view.by_hand ? DEALBOX_BASIS_HAND :
				 view.landed_any ? DEALBOX_BASIS_SENSORS : DEALBOX_BASIS_GATES;
	explicit_bzero(&view, sizeof(view));
	if (verdict->failed) {
		dealbox_verdict_free(verdict);
		return -ENOMEM;
	}
	*out = verdict;
	return 0;
}

void dealbox_verdict_free(struct dealbox_verdict *verdict)
{
	if (!verdict)
		return;
	if (verdict->differences)
		explicit_bzero(verdict->differences,
			       verdict->room * sizeof(*verdict->differences));
	free(verdict->differences);
	free(verdict);
}

bool dealbox_verdict_exact(const struct dealbox_verdict *verdict)
{
	return !verdict->count && verdict->basis != DEALBOX_BASIS_NONE;
}

enum dealbox_basis dealbox_verdict_basis(const struct dealbox_verdict *verdict)
{
	return verdict->basis;
}

bool dealbox_verdict_identified(const struct dealbox_verdict *verdict)
{
	return verdict->identified;
}

size_t dealbox_verdict_count(const struct dealbox_verdict *verdict)
{
	return verdict->count;
}

const struct dealbox_difference *dealbox_verdict_get(const struct dealbox_verdict *verdict,
						     size_t index)
{
	return index < verdict->count ? &verdict->differences[index] : NULL;
}

/* -- text ------------------------------------------------------------------- */

/*
 * Sentences, and those without reveal where a card's name is not all that must be left out: the
 * deck may be sorted, and missing cards are told in order. So a hidden sentence has no pocket
 * beside a position, and nothing at all of a card that is found by comparing it with the plan.
 */
static const struct {
	const char *name, *pattern, *many, *hidden;	/* many: the pattern by count */
} kinds[DEALBOX_DIFFERENCES] = {
	[DEALBOX_DIFFERENCE_CARD_MISSING] = { "card-missing",
		N_("{card} is missing; it belongs in {expected}"),
		.hidden = N_("a card is missing") },
	[DEALBOX_DIFFERENCE_CARD_REPEATED] = { "card-repeated",
		N_("{card} was dealt twice, as the {position} and as the {other}: one of the two "
		   "was misread, or the deck has it twice") },
	[DEALBOX_DIFFERENCE_CARD_FOREIGN] = { "card-foreign",
		N_("{card}, the {position} dealt, is not in the plan and lies in {pocket}"),
		.hidden = N_("a card, the {position} dealt, is not in the plan") },
	[DEALBOX_DIFFERENCE_CARD_UNREAD] = { "card-unread",
		N_("the {position} card was not read, or not well enough, and lies in {pocket}"),
		.hidden = N_("the {position} card was not read, or not well enough") },
	[DEALBOX_DIFFERENCE_CARD_CHANGED] = { "card-changed",
		N_("the {position} card is not the same all along its way") },
	[DEALBOX_DIFFERENCE_WRONG_POCKET] = { "wrong-pocket",
		N_("{card}, the {position} dealt, lies in {pocket} and belongs in {expected}"),
		.hidden = N_("a card lies in the wrong pocket") },
	[DEALBOX_DIFFERENCE_NOT_LANDED] = { "not-landed",
		N_("{card}, the {position} dealt, was never seen to fall into {pocket}"),
		.hidden = N_("a card, the {position} dealt, was never seen to fall into its "
			     "pocket") },
	[DEALBOX_DIFFERENCE_NOT_ROUTED] = { "not-routed",
		N_("{card}, the {position} read, was not let into a pocket") },
	[DEALBOX_DIFFERENCE_FACE_UP] = { "face-up",
		N_("{card}, the {position} dealt, lies face up in {pocket}"),
		.hidden = N_("a card, the {position} dealt, lies face up") },
	[DEALBOX_DIFFERENCE_COUNT] = { "count",
		P_("{pocket} has {count} card, not {count_expected}",
		   "{pocket} has {count} cards, not {count_expected}") },
	[DEALBOX_DIFFERENCE_ORDER] = { "order",
		N_("what the machine said of the {position} card cannot be in that order") },
	[DEALBOX_DIFFERENCE_GAP] = { "gap",
		N_("some of the machine's events are lost: there is no proof") },
	[DEALBOX_DIFFERENCE_FAULT] = { "fault",
		N_("the machine stopped: {fault}") },
	[DEALBOX_DIFFERENCE_ABORTED] = { "aborted", N_("the deal was aborted") },
	[DEALBOX_DIFFERENCE_STATE_LOST] = { "state-lost",
		N_("the machine was reset or lost its power during the deal") },
	[DEALBOX_DIFFERENCE_BOARD_REMOVED] = { "board-removed",
		N_("the board was taken out before the deal was done") },
	[DEALBOX_DIFFERENCE_WRONG_INSERTION] = { "wrong-insertion",
		N_("cards were dealt into another insertion, number {count}") },
	[DEALBOX_DIFFERENCE_WRONG_PLAN] = { "wrong-plan", N_("another plan was dealt") },
	[DEALBOX_DIFFERENCE_NOT_STARTED] = { "not-started", N_("the deal never started") },
	[DEALBOX_DIFFERENCE_NOT_DONE] = { "not-done", N_("the deal was not finished") },
	[DEALBOX_DIFFERENCE_AGAIN] = { "again",
		N_("a deal started or ended twice in one insertion") },
	[DEALBOX_DIFFERENCE_UNSEEN] = { "unseen", N_("the exit sensors saw no card") },
};

struct facts {
	const struct dealbox_difference *difference;
	const char *language;
	bool reveal;
};

static void say(struct sentence *sentence, const struct facts *facts, const char *message)
{
	sentence_add(sentence, "%s", dealbox_law_translate(facts->language, message));
}

static void put_number(struct sentence *sentence, const char *name, size_t size,
		       const void *number)
{
	(void)name;
	(void)size;
	sentence_add(sentence, "%u", *(const unsigned int *)number);
}

/* A message with {number} alone. */
static void say_number(struct sentence *sentence, const struct facts *facts, const char *message,
		       unsigned int number)
{
	sentence_fill(sentence, dealbox_law_translate(facts->language, message), put_number,
		      &number);
}

static void put_ordinal(struct sentence *sentence, const struct facts *facts,
			unsigned int position)
{
	static const char *const ends[] = {
		N_("{number}th"), N_("{number}st"), N_("{number}nd"), N_("{number}rd"),
	};
	unsigned int n = position + 1, digit = n / 10 % 10 == 1 ? 0 : n % 10;

	if (position == DEALBOX_NONE)
		say(sentence, facts, N_("last"));
	else
		say_number(sentence, facts, ends[digit < 4 ? digit : 0], n);
}

static void put_pocket(struct sentence *sentence, const struct facts *facts, unsigned int pocket)
{
	if (pocket == DEALBOX_NONE)
		say(sentence, facts, N_("no pocket"));
	else
		say_number(sentence, facts, N_("pocket {number}"), pocket);
}

/* A card as players of the language write it: "♠Kn" in Norwegian is SJ. */
static void put_card(struct sentence *sentence, const struct facts *facts, unsigned int card)
{
	static const char honours[] = N_("A K Q J");
	static const char *const suits[] = { "♠", "♥", "♦", "♣" };
	const char *letters = dealbox_law_translate(facts->language, honours);
	unsigned int rank = card % 13;

	if (letters == honours || card >= DEALBOX_CARDS) {
		sentence_add(sentence, "%s", dealbox_card_name(card));
		return;
	}
	sentence_add(sentence, "%s", suits[card / 13]);
	if (rank > 3) {
		sentence_add(sentence, "%u", 14 - rank);
		return;
	}
	while (rank--)
		letters += strcspn(letters, " ") + 1;
	sentence_add(sentence, "%.*s", (int)strcspn(letters, " "), letters);
}

static bool is(const char *name, size_t size, const char *word)
{
	return size == strlen(word) && !memcmp(name, word, size);
}

static void put(struct sentence *sentence, const char *name, size_t size,
		const void *data)
{
	const struct facts *facts = data;
	const struct dealbox_difference *difference = facts->difference;

	if (is(name, size, "card") && facts->reveal && difference->card != DEALBOX_NONE)
		put_card(sentence, facts, difference->card);
	else if (is(name, size, "card"))
		say(sentence, facts, N_("a card"));
	else if (is(name, size, "position"))
		put_ordinal(sentence, facts, difference->position);
	else if (is(name, size, "other"))
		put_ordinal(sentence, facts, difference->other);
	else if (is(name, size, "pocket") && difference->kind == DEALBOX_DIFFERENCE_COUNT &&
		 difference->pocket == DEALBOX_NONE)
		say(sentence, facts, N_("the deal"));
	else if (is(name, size, "pocket"))
		put_pocket(sentence, facts, difference->pocket);
	else if (is(name, size, "expected"))
		put_pocket(sentence, facts, difference->expected);
	else if (is(name, size, "fault"))
		say(sentence, facts, event_fault(difference->code));
	else if (is(name, size, "count"))
		sentence_add(sentence, "%u", difference->count);
	else	/* count_expected */
		sentence_add(sentence, "%u", difference->count_expected);
}

const char *dealbox_difference_name(unsigned int kind)
{
	return kind < DEALBOX_DIFFERENCES ? kinds[kind].name : "?";
}

size_t dealbox_difference_text(const struct dealbox_difference *difference, bool reveal,
			       const char *language, char *text, size_t size)
{
	struct facts facts = { difference, language, reveal };
	struct sentence sentence;
	const char *pattern;

	sentence_begin(&sentence, text, size);
	if (difference->kind < DEALBOX_DIFFERENCES) {
		pattern = kinds[difference->kind].pattern;
		if (!reveal && kinds[difference->kind].hidden)
			pattern = kinds[difference->kind].hidden;
		sentence_fill(&sentence, kinds[difference->kind].many ?
			      dealbox_law_translate_count(language, pattern,
							  kinds[difference->kind].many,
							  difference->count) :
			      dealbox_law_translate(language, pattern), put, &facts);
	}
	return sentence.length;
}

size_t dealbox_difference_message(const struct dealbox_difference *difference,
				  bool reveal, char *text, size_t size)
{
	return dealbox_difference_text(difference, reveal, NULL, text, size);
}

size_t dealbox_verdict_message(const struct dealbox_verdict *verdict, char *text,
			       size_t size)
{
	struct sentence sentence;

	sentence_begin(&sentence, text, size);
	if (verdict->count == 1 && verdict->differences[0].kind == DEALBOX_DIFFERENCE_UNSEEN)
		sentence_add(&sentence, "not an exact duplicate: %s",
			     kinds[DEALBOX_DIFFERENCE_UNSEEN].pattern);
	else if (verdict->count)
		sentence_add(&sentence, "not an exact duplicate: %zu difference%s",
			     verdict->count, verdict->count == 1 ? "" : "s");
	else if (verdict->basis == DEALBOX_BASIS_NONE)
		sentence_add(&sentence, "no card came, so nothing is proved");
	else
		sentence_add(&sentence, "exact duplicate (by %s%s)",
			     verdict->basis == DEALBOX_BASIS_SENSORS ? "exit sensors" :
			     verdict->basis == DEALBOX_BASIS_HAND ? "hand" :
			     "gates", verdict->identified ? "" :
			     "; cards not read, if the deck was in order");
	return sentence.length;
}
