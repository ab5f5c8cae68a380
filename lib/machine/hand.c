// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <dealbox/card.h>
#include <dealbox/deal.h>

#include "core.h"
#include "hand.h"

/* The abilities of a person with two hands and a table */
static const struct wire_descriptor person = {
	.reader = DEALBOX_READER_OTHER, .version = WIRE_VERSION, .pockets = DEALBOX_HANDS,
	.pocket_capacity = DEALBOX_MAX_ENTRIES, .hopper = DEALBOX_MAX_CARDS,
	.plan_entries = DEALBOX_MAX_ENTRIES,
	.capabilities = DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_KEYS | DEALBOX_CAP_BY_CARD |
			DEALBOX_CAP_BY_POSITION,
};

/* ---- cards from two keys --------------------------------------------------- */

/* Letters of a language: ace to jack, spades to clubs. English ones and digits count, too. */
struct hand_letters {
	const char *language;
	uint32_t ranks[4], suits[4];
};

static const struct hand_letters languages[] = {
	{ "en", { 'A', 'K', 'Q', 'J' }, { 'S', 'H', 'D', 'C' } },
	{ "nb", { 'E', 'K', 'D', 'B' }, { 'S', 'H', 'R', 'K' } },
	{ "el", { 0x391, 0x3a1, 0x39d, 0x392 }, { 0x3a0, 0x39a, 0x3a1, 0x3a3 } },
	{ "fr", { 'A', 'R', 'D', 'V' }, { 'P', 'C', 'K', 'T' } },
	{ "ru", { 0x422, 0x41a, 0x414, 0x412 }, { 0x41f, 0x427, 0x411, 0x422 } },
};

#define LANGUAGES	(sizeof(languages) / sizeof(languages[0]))
#define TEN		4	/* ranks count from the ace */

/* Return the capital letter. Accented letters are not on cards. */
static uint32_t capital(uint32_t key)
{
	if ((key >= 'a' && key <= 'z') || (key >= 0x3b1 && key <= 0x3c9) ||
	    (key >= 0x430 && key <= 0x44f))
		return key - 0x20;
	return key;
}

static int find(const uint32_t letters[4], uint32_t key)
{
	for (int n = 0; n < 4; n++)
		if (letters[n] == key)
			return n;
	return -1;
}

/*
 * Return the rank of a key, 0 = ace .. 12 = two; -1 = none. The number pad has / * - + at its edge.
 */
static int rank_of(const struct hand_letters *letters, uint32_t key)
{
	static const uint32_t pad[4] = { '+', '-', '*', '/' };
	int rank = find(letters->ranks, key);

	if (rank < 0)
		rank = find(pad, key);
	if (rank < 0)
		rank = find(languages[0].ranks, key);
	if (rank >= 0)
		return rank;
	if (key == '1')
		return 0;
	if (key == '0' || key == 'T')
		return TEN;
	return key >= '2' && key <= '9' ? 14 - ((int)key - '0') : -1;
}

/* Return the suit of a key, 0 = spades .. 3 = clubs; -1 = none. */
static int suit_of(const struct hand_letters *letters, uint32_t key)
{
	int suit = find(letters->suits, key);

	if (suit < 0 && key >= '1' && key <= '4')
		suit = (int)key - '1';
	return suit < 0 ? find(languages[0].suits, key) : suit;
}

uint8_t hand_parse(const char *text)
{
	size_t length = strlen(text),
	       ranks = length == 3 && text[0] == '1' && text[1] == '0' ? 2 : 1;
	int rank, suit;

	if (length != ranks + 1)
		return DEALBOX_NONE;
	rank = ranks == 2 ? TEN : rank_of(&languages[0], capital((uint8_t)text[0]));
	suit = suit_of(&languages[0], capital((uint8_t)text[ranks]));
	return rank < 0 || suit < 0 ? DEALBOX_NONE : (uint8_t)(suit * 13 + rank);
}

/* ---- events ---------------------------------------------------------------- */

_Static_assert(!(DEALBOX_EVF_BY_HAND & ~DEALBOX_EVF_USER), "a flag that no driver will ever set");

/* Queue an event; *e has what its type needs, and its numbers are set here. */
static void emit(struct hand *h, uint32_t type, const struct dealbox_event *e)
{
	struct dealbox_event event = *e;

	event.type = type;
	event.flags = DEALBOX_EVF_BY_HAND;
	event.timestamp_ns = h->now;
	event.machine_time_us = (uint32_t)(h->now / 1000);
	event.seqno = h->seqno++;
	event.machine_seq = (uint32_t)h->seqno;
	if (!event.insertion)
		event.insertion = h->insertion;
	dealbox_queue_push(&h->queue, &event);
	explicit_bzero(&event, sizeof(event));
}

#define NONE		DEALBOX_NONE
#define EVENT(at, what, where, ...) \
	(&(struct dealbox_event){ .position = (uint8_t)(at), .card = (what), \
				  .pocket = (where), .quality = NONE, __VA_ARGS__ })
#define PLAIN(...)	EVENT(NONE, NONE, NONE, __VA_ARGS__)

bool hand_init(struct hand *h, const char *language, uint64_t now)
{
	size_t n;

	memset(h, 0, sizeof(*h));
	for (n = 0; n < LANGUAGES && language && strcmp(language, languages[n].language); n++)
		;
	if (n == LANGUAGES)
		return false;
	h->letters = &languages[n];
	h->rank = DEALBOX_NONE;
	h->now = now;
	emit(h, DEALBOX_EV_STATE_LOST, PLAIN(.code = DEALBOX_LOST_POWER_ON));
	emit(h, DEALBOX_EV_HOPPER_LOADED, PLAIN(.code = 0));
	return true;
}

void hand_count_from(struct hand *h, uint32_t insertion)
{
	if (h->last < insertion)
		h->last = insertion;
}

/* ---- the deal -------------------------------------------------------------- */

static bool by_card(const struct hand *h)
{
	return h->plan.mode == DEALBOX_PLAN_BY_CARD;
}

static bool deals(const struct hand *h)
{
	return h->state == DEALBOX_STATE_DEALING || h->state == DEALBOX_STATE_PAUSED ||
	       h->state == DEALBOX_STATE_HELD;
}

/* Return the number of cards that were dealt, with the one in the hand. */
static unsigned int count(const struct hand *h)
{
	return h->placed + h->card.there;
}

static uint8_t pocket_of(const struct hand *h, unsigned int position, uint8_t card)
{
	return h->plan.pocket[by_card(h) ? card : position];
}

/* The card in the hand lies in its pocket, because the person has gone on to the next step. */
static void place(struct hand *h)
{
	uint8_t position = h->placed, card = h->card.card, pocket;

	if (!h->card.there)
		return;
	pocket = pocket_of(h, position, card);
	emit(h, DEALBOX_EV_CARD_READ, EVENT(position, card, NONE, .code = 0));
	emit(h, DEALBOX_EV_CARD_ROUTED, EVENT(position, card, pocket, .code = 0));
	h->placed++;
	h->counts[pocket]++;
	h->counters.cards_fed++;
	h->counters.cards_read += card != DEALBOX_NONE;
	if (card != DEALBOX_NONE)
		h->where[card] = h->placed;
	h->card = (struct hand_card){ 0 };
}

static void forget_keys(struct hand *h)
{
	h->shows = DEALBOX_PROMPT_NOTHING;
	h->again = 0;
	h->rank = DEALBOX_NONE;
	h->one = false;
}

/* The deal is over. The counts stay until the board is out. */
static void end(struct hand *h, uint8_t state)
{
	h->state = state;
	forget_keys(h);
	explicit_bzero(h->where, sizeof(h->where));
	explicit_bzero(&h->card, sizeof(h->card));
	if (state != DEALBOX_STATE_DONE)
		h->counters.boards_voided++;
}

static void finish(struct hand *h)
{
	struct dealbox_event done = *PLAIN(.code = h->plan.plan_id);

	place(h);
	done.position = h->placed;
	memcpy(done.counts, h->counts, sizeof(done.counts));
	emit(h, DEALBOX_EV_DEAL_DONE, &done);
	end(h, DEALBOX_STATE_DONE);
	h->counters.boards_dealt++;
}

/*
 * The pack is at its end, and cards are missing: they may lie in the board, as seconds of a pair.
 */
static void run_short(struct hand *h)
{
	place(h);
	emit(h, DEALBOX_EV_DECK_SHORT, EVENT(h->placed, NONE, NONE, .code = 0));
	h->state = DEALBOX_STATE_HELD;
	h->fault = DEALBOX_EV_DECK_SHORT;
	forget_keys(h);
}

/* The card was dealt already: it, or the earlier one, is not what was read or typed. */
static void repeat(struct hand *h, uint8_t card)
{
	place(h);
	emit(h, DEALBOX_EV_REPEATED_CARD,
	     EVENT(h->placed, card, NONE, .arg = { h->where[card] - 1u }));
	h->counters.repeated++;
	h->fault = DEALBOX_EV_REPEATED_CARD;
	end(h, DEALBOX_STATE_FAULT);
}

static void notice(struct hand *h, uint8_t shows)
{
	h->shows = shows;
	h->rank = DEALBOX_NONE;
}

/* A card was read or typed. */
static void take(struct hand *h, uint8_t card, bool typed)
{
	bool confirmed = h->shows == DEALBOX_PROMPT_DEALT && h->again == card;

	if (h->card.there && h->card.card == card) {
		/* a scanner that holds on to its card reads it twice */
		if (typed || h->now - h->taken >= HAND_TWICE_NS)
			notice(h, DEALBOX_PROMPT_SAME);
		h->taken = h->now;
	} else if (card < DEALBOX_MAX_ENTRIES && h->where[card]) {
		/* It may be a typing error: only who names it twice means it. */
		if (confirmed) {
			repeat(h, card);
			return;
		}
		notice(h, DEALBOX_PROMPT_DEALT);
		h->again = card;
	} else if (card >= h->plan.entries || h->plan.pocket[card] == DEALBOX_NONE) {
		notice(h, DEALBOX_PROMPT_FOREIGN);
		h->counters.not_in_plan++;
	} else {
		place(h);
		forget_keys(h);
		h->card = (struct hand_card){ true, card, typed };
		h->taken = h->now;
	}
}

/* The next card of a pack whose order is known */
static void next(struct hand *h)
{
	place(h);
	h->card = (struct hand_card){ true, DEALBOX_NONE, false };
}

/* ---- keys ------------------------------------------------------------------ */

static void insert(struct hand *h)
{
	h->insertion = ++h->last;
	h->spent = false;
	emit(h, DEALBOX_EV_BOARD_INSERTED, PLAIN(.code = 0));
}

static void take_out(struct hand *h)
{
	emit(h, DEALBOX_EV_BOARD_REMOVED, PLAIN(.code = 0));
	h->insertion = 0;
	h->total = h->placed = 0;
	memset(h->counts, 0, sizeof(h->counts));
	if (h->state == DEALBOX_STATE_DONE)
		h->state = DEALBOX_STATE_IDLE;
}

/*
 * All cards are dealt. Enter answers "the last card" only: after any other message, a card may be
 * in the hand that the deal does not have.
 */
static bool enter_last(struct hand *h)
{
	if (h->shows == DEALBOX_PROMPT_DEALT)
		return false;
	if (h->shows || h->rank != DEALBOX_NONE)
		forget_keys(h);
	else
		finish(h);
	return true;
}

static bool enter_dealing(struct hand *h)
{
	if (count(h) == h->total) {
		return enter_last(h);
	} else if (!by_card(h)) {
		next(h);
	} else if (h->shows == DEALBOX_PROMPT_SHORT) {
		run_short(h);
	} else {
		notice(h, DEALBOX_PROMPT_SHORT);
	}
	return true;
}

/* Enter: the next step, whatever that is. */
static bool enter(struct hand *h)
{
	if (h->state == DEALBOX_STATE_DEALING)
		return enter_dealing(h);
	if (!h->insertion && h->state != DEALBOX_STATE_FAULT)
		insert(h);
	else if (h->insertion && h->spent && !deals(h))
		take_out(h);
	else
		emit(h, DEALBOX_EV_KEY, PLAIN(.code = DEALBOX_KEY_START, .arg = { 1 }));
	return true;
}

static bool undo(struct hand *h)
{
	if (h->state == DEALBOX_STATE_DEALING) {
		if (h->shows || h->rank != DEALBOX_NONE) {
			forget_keys(h);
			return true;
		}
		if (!h->card.there)
			return false;
		h->card = (struct hand_card){ 0 };
		return true;
	}
	if (!h->insertion || h->spent || deals(h))
		return false;
	take_out(h);
	return true;
}

static void paused(struct hand *h, uint32_t by)
{
	/* what is typed half is typed anew */
	forget_keys(h);
	h->state = DEALBOX_STATE_PAUSED;
	emit(h, DEALBOX_EV_PAUSED, EVENT(count(h), NONE, NONE, .code = by));
}

/* One of the two keys of a card */
static bool half(struct hand *h, uint32_t key)
{
	int rank = rank_of(h->letters, key), suit;

	if (h->rank == DEALBOX_NONE) {
		if (rank < 0) {
			notice(h, DEALBOX_PROMPT_UNREAD);
			return false;
		}
		h->rank = (uint8_t)rank;
		h->one = key == '1';
		return true;
	}
	/* a ten may be typed as it is written */
	if (h->one && key == '0') {
		h->rank = TEN;
		h->one = false;
		return true;
	}
	suit = suit_of(h->letters, key);
	if (suit < 0) {
		notice(h, DEALBOX_PROMPT_UNREAD);
		return false;
	}
	rank = h->rank;
	h->rank = DEALBOX_NONE;
	take(h, (uint8_t)(suit * 13 + rank), true);
	return true;
}

bool hand_key(struct hand *h, uint32_t key, uint64_t now)
{
	bool dealing = h->state == DEALBOX_STATE_DEALING;
	uint64_t since = now - h->pressed;
	bool follows = h->pressed && now >= h->pressed;

	h->now = now;
	key = capital(key);
	if (key != HAND_ENTER || (dealing && !by_card(h)))
		h->pressed = now;
	if (dealing && !by_card(h) && (key == HAND_ENTER || key == ' ')) {
		if (follows && since < HAND_BOUNCE_NS)
			return false;
		/* the last question has its own key */
		return key == ' ' && count(h) == h->total ? false : enter(h);
	}
	if (key == HAND_ENTER)
		return dealing && follows && since < HAND_SUFFIX_NS ? false : enter(h);
	if (key == HAND_UNDO || key == '.' || key == ',')
		return undo(h);
	if (key == HAND_STOP) {
		if (dealing)
			paused(h, DEALBOX_PAUSED_BY_KEY);
		return dealing;
	}
	if (!dealing || !by_card(h) || key <= ' ')
		return false;
	return half(h, key);
}

void hand_code(struct hand *h, uint8_t card, uint64_t now)
{
	h->now = now;
	h->pressed = now;
	if (h->state != DEALBOX_STATE_DEALING || !by_card(h))
		return;
	if (card > DEALBOX_CARD_JOKER2) {
		notice(h, DEALBOX_PROMPT_UNREAD);
		h->counters.unreadable++;
	} else {
		take(h, card, false);
	}
}

/* ---- calls ----------------------------------------------------------------- */

static int refuse(uint32_t *result, uint32_t why)
{
	*result = why;
	return -EREMOTEIO;
}

static int set_plan(struct hand *h, struct dealbox_plan *plan)
{
	struct wire_plan checked;
	int error = dealbox_abi_plan(plan, &person, &checked);

	explicit_bzero(&checked, sizeof(checked));
	if (error)
		return error;
	if (deals(h) || h->state == DEALBOX_STATE_FAULT)
		return refuse(&plan->result, DEALBOX_ERR_STATE);
	explicit_bzero(&h->plan, sizeof(h->plan));
	if (plan->entries)
		h->plan = *plan;
	plan->result = plan->detail = 0;
	if (plan->entries)
		emit(h, DEALBOX_EV_PLAN_LOADED, PLAIN(.code = plan->plan_id));
	return 0;
}

static uint8_t plan_cards(const struct dealbox_plan *plan)
{
	uint8_t cards = 0;

	for (unsigned int n = 0; n < plan->entries; n++)
		cards += plan->pocket[n] != DEALBOX_NONE;
	return cards;
}

static int start(struct hand *h, struct dealbox_control *c)
{
	uint32_t why = h->state == DEALBOX_STATE_FAULT ? DEALBOX_ERR_FAULT :
		       deals(h) ? DEALBOX_ERR_STATE :
		       !h->plan.plan_id ? DEALBOX_ERR_NO_PLAN :
		       h->plan.plan_id != c->plan_id ? DEALBOX_ERR_WRONG_PLAN :
		       !h->insertion ? DEALBOX_ERR_NO_BOARD :
		       h->insertion != c->insertion ? DEALBOX_ERR_WRONG_INSERTION :
		       h->spent ? DEALBOX_ERR_SPENT : DEALBOX_ERR_OK;

	if (why)
		return refuse(&c->result, why);
	h->spent = true;
	h->total = plan_cards(&h->plan);
	h->placed = 0;
	h->fault = 0;
	memset(h->counts, 0, sizeof(h->counts));
	memset(h->where, 0, sizeof(h->where));
	h->card = (struct hand_card){ 0 };
	forget_keys(h);
	h->state = DEALBOX_STATE_DEALING;
	emit(h, DEALBOX_EV_DEAL_STARTED, PLAIN(.code = c->plan_id, .arg = { h->total }));
	return 0;
}

static int pause_deal(struct hand *h, struct dealbox_control *c)
{
	if (h->state != DEALBOX_STATE_DEALING)
		return refuse(&c->result, DEALBOX_ERR_STATE);
	paused(h, DEALBOX_PAUSED_BY_HOST);
	return 0;
}

static int resume(struct hand *h, struct dealbox_control *c)
{
	if (h->state != DEALBOX_STATE_PAUSED)
		return refuse(&c->result, DEALBOX_ERR_STATE);
	h->state = DEALBOX_STATE_DEALING;
	emit(h, DEALBOX_EV_RESUMED, EVENT(count(h), NONE, NONE, .code = 0));
	return 0;
}

/* The only stop that holds is a pack that is short, and no card can make up for that. */
static int reread(struct hand *h, struct dealbox_control *c)
{
	if (h->state != DEALBOX_STATE_HELD)
		return refuse(&c->result, DEALBOX_ERR_STATE);
	emit(h, DEALBOX_EV_DECK_SHORT, EVENT(h->placed, NONE, NONE, .code = 0));
	return 0;
}

static int abort_deal(struct hand *h, struct dealbox_control *c)
{
	if (!deals(h))
		return refuse(&c->result, DEALBOX_ERR_STATE);
	emit(h, DEALBOX_EV_ABORTED, EVENT(count(h), NONE, NONE, .code = h->plan.plan_id));
	end(h, DEALBOX_STATE_IDLE);
	return 0;
}

static int clear_fault(struct hand *h, struct dealbox_control *c)
{
	if (h->state != DEALBOX_STATE_FAULT)
		return refuse(&c->result, DEALBOX_ERR_STATE);
	h->state = DEALBOX_STATE_IDLE;
	emit(h, DEALBOX_EV_FAULT_CLEARED, PLAIN(.code = h->fault));
	return 0;
}

static int locate(struct hand *h, struct dealbox_control *c)
{
	(void)h;
	(void)c;
	return 0;
}

static int control(struct hand *h, struct dealbox_control *c)
{
	static int (*const ops[])(struct hand *h, struct dealbox_control *c) = {
		[DEALBOX_OP_START] = start, [DEALBOX_OP_PAUSE] = pause_deal,
		[DEALBOX_OP_RESUME] = resume,
		[DEALBOX_OP_REREAD] = reread, [DEALBOX_OP_ABORT] = abort_deal,
		[DEALBOX_OP_CLEAR_FAULT] = clear_fault, [DEALBOX_OP_LOCATE] = locate,
	};
	struct wire_command checked;
	int error = dealbox_abi_control(c, &person, NULL, &checked);

	c->result = c->detail = 0;
	if (error)
		return error;
	if (!ops[c->op])
		return -EOPNOTSUPP;
	return ops[c->op](h, c);
}

static void info(struct dealbox_info *out)
{
	static const struct wire_info who = { .version = WIRE_VERSION, .name = "a person" };

	dealbox_abi_info(&person, &who, "hand", QUEUE_EVENTS, out);
}

static void status(const struct hand *h, uint32_t pid, struct dealbox_status *out)
{
	*out = (struct dealbox_status){
		.seqno = h->seqno, .machine_seq = (uint32_t)h->seqno + 1, .lost = h->queue.lost,
		.plan_id = h->plan.plan_id, .insertion = h->insertion, .state = h->state,
		.fault = h->state == DEALBOX_STATE_HELD || h->state == DEALBOX_STATE_FAULT ?
			h->fault : 0,
		.flags = DEALBOX_STATUS_HOPPER | (h->insertion ? DEALBOX_STATUS_BOARD : 0) |
			 (h->insertion && h->spent ? DEALBOX_STATUS_SPENT : 0),
		.cards_total = h->total, .cards_done = h->placed,
		.claimed = !h->claimed ? DEALBOX_CLAIMED_NOT : DEALBOX_CLAIMED_BY_THIS,
		.owner_pid = h->claimed ? pid : 0,
	};
	memcpy(out->counts, h->counts, sizeof(out->counts));
}

int hand_call(struct hand *h, unsigned long request, void *arg, uint32_t pid, uint64_t now)
{
	const struct dealbox_ioctl *ioctl = dealbox_ioctl_find((unsigned int)request);
	struct dealbox_control none = { 0 };

	h->now = now;
	if (!ioctl)
		return -ENOTTY;
	if (ioctl->owner && !h->claimed && request != DEALBOX_IOC_CLAIM)
		return -EPERM;
	switch (request) {
	case DEALBOX_IOC_GET_INFO:
		info(arg);
		return 0;
	case DEALBOX_IOC_GET_STATUS:
		status(h, pid, arg);
		return 0;
	case DEALBOX_IOC_GET_COUNTERS:
		*(struct dealbox_counters *)arg = h->counters;
		return 0;
	case DEALBOX_IOC_CLAIM:
		h->claimed = true;
		return 0;
	case DEALBOX_IOC_RELEASE:
		h->claimed = false;
		/* no deal runs that nobody controls */
		pause_deal(h, &none);
		return 0;
	case DEALBOX_IOC_SET_PLAN:
		return set_plan(h, arg);
	case DEALBOX_IOC_CONTROL:
		return control(h, arg);
	default:
		return -EOPNOTSUPP;
	}
}

void hand_view(const struct hand *h, struct dealbox_prompt *out)
{
	bool dealing = h->state == DEALBOX_STATE_DEALING;
	unsigned int shown = count(h);
	/* by position, the card that is shown lies in no hand yet */
	bool ahead = !by_card(h) && shown < h->total;

	*out = (struct dealbox_prompt){
		.shows = DEALBOX_PROMPT_NOTHING, .pocket = DEALBOX_NONE, .card = DEALBOX_NONE,
		.rank = DEALBOX_NONE,
	};
	if (deals(h)) {
		out->number = (uint8_t)(shown + ahead);
		out->cards = h->total;
		out->shows = DEALBOX_PROMPT_PAUSED;
	}
	if (h->state == DEALBOX_STATE_FAULT || h->state == DEALBOX_STATE_HELD)
		out->shows = DEALBOX_PROMPT_VOID;
	if (!dealing)
		return;
	out->rank = h->rank;
	out->shows = h->shows ? h->shows :
		     shown == h->total ? DEALBOX_PROMPT_LAST : DEALBOX_PROMPT_CARD;
	/* With a question on the screen, no card may be put anywhere. */
	if (h->shows)
		return;
	if (ahead)
		out->pocket = h->plan.pocket[shown];
	else if (by_card(h) && h->card.there)
		out->pocket = pocket_of(h, h->placed, h->card.card);
	if (h->card.there && h->card.typed)
		out->card = h->card.card;
}
