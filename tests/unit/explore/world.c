// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <string.h>

#include <dealbox/card.h>

#include "machine_wire.h"
#include "world.h"

const char *forbidden;

const uint8_t planned[BOARDS + 1][CARDS] = { { 0 }, { 0, 1, 0 }, { 1, 0, 0 } };

#define MACHINE(kind_of_reader, what_it_can) { \
	.reader = kind_of_reader, .version = WIRE_VERSION, .pockets = POCKETS, \
	.pocket_capacity = 20, .hopper = 60, .plan_entries = DEALBOX_MAX_CARDS, \
	.capabilities = DEALBOX_CAP_EXIT_SENSORS | DEALBOX_CAP_DOUBLE_FEED_SENSOR | (what_it_can), \
}

const struct wire_descriptor world_machines[MACHINES] = {
	[KIND_STORED] = MACHINE(DEALBOX_READER_CAMERA,
				DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_BY_CARD),
	[KIND_ROUTED] = MACHINE(DEALBOX_READER_CAMERA,
				DEALBOX_CAP_HOST_ROUTED | DEALBOX_CAP_BY_CARD),
	[KIND_LOCKED] = MACHINE(DEALBOX_READER_CAMERA, DEALBOX_CAP_STORED_PLAN |
				DEALBOX_CAP_BY_CARD | DEALBOX_CAP_BOARD_LOCK),
	[KIND_POSITION] = MACHINE(DEALBOX_READER_NONE,
				  DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_BY_POSITION),
};

static void forbid(const char *what)
{
	if (!forbidden)
		forbidden = what;
}

/* ---- contents of boards ------------------------------------------------------ */

bool contents_right(const struct contents *contents, unsigned int board)
{
	struct contents wanted = { 0 };
	unsigned int card;

	for (card = 0; card < CARDS; card++)
		wanted.count[planned[board][card]][card]++;
	return !memcmp(contents, &wanted, sizeof(wanted));
}

bool contents_empty(const struct contents *contents)
{
	static const struct contents empty;

	return !memcmp(contents, &empty, sizeof(empty));
}

bool world_deals(const struct world *w)
{
	return w->state == DEALBOX_STATE_DEALING || w->state == DEALBOX_STATE_PAUSED ||
	       w->state == DEALBOX_STATE_HELD;
}

bool world_deck_whole(const struct world *w)
{
	unsigned int card;

	for (card = 0; card < CARDS && w->hopper[card] == card; card++)
		;
	return w->in_hopper == CARDS && card == CARDS && w->reader == NOBODY;
}

/* ---- events ------------------------------------------------------------------ */

static struct told *emit(struct world *w, unsigned int type)
{
	static struct told nowhere;
	struct told *e = &nowhere;

	if (w->on && w->on_wire == WIRE) {
		memmove(w->wire, w->wire + 1, (WIRE - 1) * sizeof(*w->wire));
		w->on_wire--;
	}
	if (w->on)
		e = &w->wire[w->on_wire++];
	*e = (struct told){
		.number = w->next++, .type = type, .insertion = w->insertion,
		.position = DEALBOX_NONE, .card = DEALBOX_NONE, .pocket = DEALBOX_NONE,
		.quality = DEALBOX_NONE,
	};
	return e;
}

static uint8_t face(uint8_t card)
{
	return card == JOKER ? DEALBOX_CARD_JOKER1 : card;
}

static struct told *stop(struct world *w, unsigned int type)
{
	struct told *e = emit(w, type);

	w->state = DEALBOX_EV_IS_HELD(type) ? DEALBOX_STATE_HELD : DEALBOX_STATE_FAULT;
	w->fault = type;
	w->waits = w->pausing = w->aborting = false;
	if (w->state == DEALBOX_STATE_FAULT)
		w->touched = false;
	e->position = w->position;
	return e;
}

/* ---- cards ------------------------------------------------------------------- */

static uint8_t feed(struct world *w)
{
	uint8_t card = w->hopper[0];

	memmove(w->hopper, w->hopper + 1, DECK - 1);
	w->hopper[DECK - 1] = NOBODY;
	if (!--w->in_hopper)
		emit(w, DEALBOX_EV_HOPPER_EMPTY);
	return card;
}

static void put_in(struct world *w, const uint8_t *cards, unsigned int count)
{
	bool was_empty = !w->in_hopper;
	unsigned int n;

	for (n = 0; n < DECK; n++)
		w->hopper[n] = n < count ? cards[n] : NOBODY;
	w->in_hopper = count;
	if (was_empty && w->on)
		emit(w, DEALBOX_EV_HOPPER_LOADED);
}

void world_fill(struct world *w, enum filling filling)
{
	static const struct {
		uint8_t cards[DECK], count;
	} decks[FILLINGS] = {
		[FILL_DECK] = { { 0, 1, 2 }, 3 },
		[FILL_JOKER_FIRST] = { { JOKER, 0, 1, 2 }, 4 },
		[FILL_JOKER_LAST] = { { 0, 1, 2, JOKER }, 4 },
		[FILL_SPARE] = { { 0, 1, 2, 0 }, 4 },
		[FILL_SHORT] = { { 0, 1 }, 2 },
		[FILL_TWICE] = { { 0, 1, 1 }, 3 },
	};

	put_in(w, decks[filling].cards, decks[filling].count);
	w->reader = w->second = NOBODY;
	w->stuck = false;
	w->irregular = filling != FILL_DECK;
}

void world_add_missing(struct world *w)
{
	uint8_t card = __builtin_ctz(~w->seen);

	put_in(w, &card, 1);
	w->irregular = true;
}

void world_take_card(struct world *w)
{
	w->reader = w->second = NOBODY;
	w->stuck = false;
}

void world_cover(struct world *w, bool open)
{
	w->cover = open;
	w->touched = true;
	if (!w->on)
		return;
	emit(w, open ? DEALBOX_EV_COVER_OPEN : DEALBOX_EV_COVER_CLOSED);
	if (open && world_deals(w))
		stop(w, DEALBOX_EV_COVER_OPENED);
}

/* A card that was let through falls. */
static void fall(struct world *w, uint8_t card, uint8_t pocket)
{
	w->board.count[pocket][card]++;
}

bool world_may(const struct world *w, enum mishap mishap)
{
	bool last = w->position == CARDS - 1;
	bool fed = w->reader == NOBODY && w->in_hopper;

	if (w->aborting)
		return mishap == MISHAP_NONE;
	if (w->state != DEALBOX_STATE_DEALING || w->waits)
		return false;
	if (mishap == MISHAP_NONE)
		return true;
	if (w->position == CARDS || (w->reader == NOBODY && !w->in_hopper))
		return false;
	switch (mishap) {
	case MISHAP_MISREAD:
	case MISHAP_MISREAD_OTHER:
	case MISHAP_POOR:
	case MISHAP_UNREADABLE:
		return w->kind != KIND_POSITION;
	case MISHAP_DOUBLE:
	case MISHAP_DOUBLE_SEEN:
		return fed && w->in_hopper > 1;
	case MISHAP_FLOOR:
	case MISHAP_FEED:
	case MISHAP_JAM:
		return fed;
	case MISHAP_WRONG_BEHIND:
	case MISHAP_WRONG_LATER:
		return last;
	default:
		return true;
	}
}

static void deal_done(struct world *w)
{
	struct told *e = emit(w, DEALBOX_EV_DEAL_DONE);

	e->code = w->deal_plan;
	e->position = w->position;
	e->arg[0] = w->counts[0] | w->counts[1] << 8;
	w->state = DEALBOX_STATE_DONE;
}

/* The card passes the gate, and falls. */
static void pass(struct world *w, uint8_t pocket)
{
	enum mishap mishap = w->mishap;
	uint8_t card = w->reader, as = w->read_as, fell;
	struct told *e;

	w->reader = NOBODY;
	if (as != DEALBOX_NONE)
		w->seen |= 1 << as;
	if (as != DEALBOX_NONE && as != card && w->quality > 1)
		w->misreads++;
	if (w->misreads > 1 || (w->misreads && w->irregular))
		w->excuses |= EXCUSE_READ;
	fell = mishap >= MISHAP_WRONG && mishap <= MISHAP_WRONG_UNSEEN ? !pocket : pocket;

	e = emit(w, DEALBOX_EV_CARD_ROUTED);
	e->position = w->position;
	e->card = as;
	e->pocket = pocket;
	fall(w, card, fell);
	if (w->second != NOBODY)
		fall(w, w->second, fell);
	w->second = NOBODY;
	if (mishap == MISHAP_WRONG) {
		e = stop(w, DEALBOX_EV_WRONG_POCKET);
		e->card = as;
		e->pocket = fell;
		e->arg[0] = pocket;
		return;
	}
	if (mishap == MISHAP_WRONG_BEHIND || mishap == MISHAP_WRONG_LATER) {
		w->wrong = fell + 1;
		w->wrong_later = mishap == MISHAP_WRONG_LATER;
		if (w->wrong_later)
			w->excuses |= EXCUSE_LATER;
	}
	if (mishap == MISHAP_WRONG_UNSEEN)
		w->excuses |= EXCUSE_SENSOR;
	e = emit(w, DEALBOX_EV_CARD_LANDED);
	e->position = w->position;
	e->card = as;
	e->pocket = pocket;
	w->position++;
	w->counts[pocket]++;
}

static void stop_card(struct world *w, unsigned int type)
{
	struct told *e = stop(w, type);

	e->card = face(w->read_as);
	e->quality = w->quality;
	if (type == DEALBOX_EV_REPEATED_CARD)
		w->stuck = true;
}

/* The machine itself chooses the pocket by what it has read. */
static bool by_card(const struct world *w)
{
	return w->kind == KIND_STORED || w->kind == KIND_LOCKED;
}

/* The card at the reader has been read. */
static void has_read(struct world *w)
{
	uint8_t as = w->read_as, position = w->position;
	struct told *e;

	if (by_card(w) && as != JOKER && w->seen >> as & 1) {
		stop_card(w, DEALBOX_EV_REPEATED_CARD);
		return;
	}
	if (by_card(w) && as == JOKER) {
		stop_card(w, DEALBOX_EV_NOT_IN_PLAN);
		return;
	}
	e = emit(w, DEALBOX_EV_CARD_READ);
	e->position = position;
	e->card = face(as);
	e->quality = w->quality;
	w->asked = e->number;
	w->waits = w->kind == KIND_ROUTED;
	if (!w->waits)
		pass(w, w->plan[w->kind == KIND_POSITION ? position : as]);
}

/* ---- gate commands ------------------------------------------------------------- */

void world_send_gate(struct world *w, const struct wire_gate *gate)
{
	if (w->gates == GATES)
		world_drop_gate(w);
	w->gate[w->gates++] = (struct gate){
		.number = gate->number, .insertion = gate->insertion, .position = gate->position,
		.pocket = gate->pocket, .reason = gate->reason,
	};
}

void world_drop_gate(struct world *w)
{
	memmove(w->gate, w->gate + 1, (GATES - 1) * sizeof(*w->gate));
	memset(&w->gate[--w->gates], 0, sizeof(*w->gate));
}

void world_take_gate(struct world *w)
{
	struct gate gate = w->gate[0];
	bool pausing = w->pausing;

	world_drop_gate(w);
	if (!w->waits || gate.number != w->asked || gate.position != w->position ||
	    gate.insertion != w->insertion)
		return;
	w->waits = w->pausing = false;
	if (gate.pocket != DEALBOX_NONE && w->read_as == JOKER)
		forbid("a card that is not in the plan is let through");
	else if (gate.pocket != DEALBOX_NONE && w->seen >> w->read_as & 1)
		forbid("a card is let through that was dealt before");
	if (gate.pocket == DEALBOX_NONE)
		stop_card(w, gate.reason);
	else
		pass(w, gate.pocket);
	if (pausing && w->state == DEALBOX_STATE_DEALING)
		world_pause(w);
}

void world_late(struct world *w)
{
	stop(w, DEALBOX_EV_GATE_LATE)->card = face(w->read_as);
}

static void end_abort(struct world *w)
{
	struct told *e;

	w->state = DEALBOX_STATE_IDLE;
	w->fault = 0;
	w->waits = w->pausing = w->aborting = false;
	e = emit(w, DEALBOX_EV_ABORTED);
	e->code = w->deal_plan;
	e->position = w->position;
}

void world_advance(struct world *w, enum mishap mishap)
{
	uint8_t card = w->reader;
	/* more than the deal needs */
	bool spare = w->in_hopper > CARDS - w->position;

	if (w->aborting) {
		end_abort(w);
		return;
	}
	if (w->position == CARDS) {
		deal_done(w);
		return;
	}
	if (card == NOBODY && !w->in_hopper) {
		stop(w, DEALBOX_EV_DECK_SHORT);
		return;
	}
	if (mishap == MISHAP_FEED) {
		stop(w, DEALBOX_EV_FEED_TIMEOUT);
		return;
	}
	/* a second card stays with the one at the reader */
	if (card == NOBODY) {
		w->second = NOBODY;
		card = feed(w);
	}
	if (mishap == MISHAP_FLOOR)
		return;
	w->reader = card;
	if (mishap == MISHAP_DOUBLE || mishap == MISHAP_DOUBLE_SEEN)
		w->second = feed(w);
	if (mishap == MISHAP_DOUBLE && spare)
		w->excuses |= EXCUSE_SPARE;
	w->read_as = card;
	w->quality = 98;
	w->mishap = mishap;
	if (mishap == MISHAP_MISREAD || mishap == MISHAP_POOR)
		w->read_as = (card + 1) % CARDS;
	if (mishap == MISHAP_MISREAD_OTHER)
		w->read_as = (card + 2) % CARDS;
	if (mishap == MISHAP_POOR)
		w->quality = 1;
	if (w->kind == KIND_POSITION)
		w->read_as = w->quality = DEALBOX_NONE;
	switch (mishap) {
	case MISHAP_UNREADABLE:
		stop(w, DEALBOX_EV_CARD_UNREADABLE);
		break;
	case MISHAP_DOUBLE_SEEN:
		w->stuck = true;
		stop(w, DEALBOX_EV_DOUBLE_FEED);
		break;
	case MISHAP_JAM:
		w->stuck = true;
		stop(w, DEALBOX_EV_JAM)->code = DEALBOX_JAM_GATE;
		break;
	default:
		has_read(w);
	}
}

void world_report(struct world *w)
{
	struct told *e = stop(w, DEALBOX_EV_WRONG_POCKET);

	e->position = CARDS - 1;
	e->pocket = w->wrong - 1;
	e->arg[0] = !e->pocket;
	w->wrong = 0;
	if (w->excuses & EXCUSE_LATER)
		w->excuses ^= EXCUSE_LATER | EXCUSE_REPORTED;
}

/* ---- boards ------------------------------------------------------------------ */

static void new_insertion(struct world *w, bool doubt)
{
	w->insertion = ++w->insertions;
	w->doubt = doubt;
	w->spent = w->says_unspent = false;
	w->deals = w->excuses = w->misreads = 0;
	w->vouched = false;
	w->wrong = 0;
}

void world_insert(struct world *w, bool full)
{
	w->present = true;
	w->locked = w->kind == KIND_LOCKED && w->on;
	w->touched = true;
	w->board = full ? w->aside : (struct contents){ 0 };
	new_insertion(w, !w->on);
	w->from = full ? w->aside_from : 0;
	/* else he has emptied it */
	w->aside_full = false;
	w->aside_from = 0;
	w->aside = (struct contents){ 0 };
	if (w->on)
		emit(w, DEALBOX_EV_BOARD_INSERTED);
}

void world_remove(struct world *w)
{
	if (w->wrong && !w->wrong_later && w->on)
		world_report(w);
	if (w->on && world_deals(w))
		stop(w, DEALBOX_EV_BOARD_PULLED);
	if (w->on)
		emit(w, DEALBOX_EV_BOARD_REMOVED);
	w->aside = w->board;
	w->aside_full = !contents_empty(&w->board);
	w->aside_from = !w->aside_full ? 0 : w->deals ? w->insertion : w->from;
	w->board = (struct contents){ 0 };
	w->present = w->locked = false;
	w->touched = true;
	w->insertion = 0;
	w->spent = w->says_unspent = w->doubt = false;
	w->deals = w->excuses = w->misreads = w->wrong = 0;
	w->vouched = false;
	w->from = 0;
	w->position = w->seen = 0;
	memset(w->counts, 0, sizeof(w->counts));
	if (w->state == DEALBOX_STATE_DONE)
		w->state = DEALBOX_STATE_IDLE;
}

/* Another one lies there, an empty one, and the machine has noticed nothing. */
void world_swap(struct world *w)
{
	w->aside = w->board;
	w->aside_full = !contents_empty(&w->board);
	w->aside_from = w->deals ? w->insertion : w->from;
	w->board = (struct contents){ 0 };
	w->excuses |= EXCUSE_SWAPPED;
}

/* ---- power and bus ----------------------------------------------------------- */

static void end_deal(struct world *w)
{
	if (world_deals(w))
		w->spent = true;
	w->state = DEALBOX_STATE_IDLE;
	w->fault = 0;
	w->waits = w->pausing = w->aborting = false;
	while (w->gates)
		world_drop_gate(w);
}

void world_configure(struct world *w, unsigned int reason)
{
	end_deal(w);
	w->plan_id = w->load_id = w->deal_plan = 0;
	memset(w->plan, 0, sizeof(w->plan));
	w->position = w->seen = 0;
	memset(w->counts, 0, sizeof(w->counts));
	w->sequence = w->request = w->error = 0;
	w->on_wire = 0;
	w->next = 1;
	/* it does not tell any more what it has not told */
	w->wrong = 0;
	emit(w, DEALBOX_EV_STATE_LOST)->code = reason;
	if (w->present)
		emit(w, DEALBOX_EV_BOARD_INSERTED)->flags = w->doubt ? DEALBOX_EVF_AT_POWER_ON : 0;
	if (w->cover)
		emit(w, DEALBOX_EV_COVER_OPEN);
	if (w->in_hopper)
		emit(w, DEALBOX_EV_HOPPER_LOADED);
}

void world_off(struct world *w)
{
	end_deal(w);
	w->wrong = 0;
	w->on = false;
	w->on_wire = 0;
}

void world_on(struct world *w)
{
	w->on = true;
	if (w->present)
		new_insertion(w, true);
	world_configure(w, DEALBOX_LOST_POWER_ON);
}

void world_pause(struct world *w)
{
	struct told *e;

	w->state = DEALBOX_STATE_PAUSED;
	e = emit(w, DEALBOX_EV_PAUSED);
	e->position = w->position;
	e->code = DEALBOX_PAUSED_BY_HOST;
}

void world_begin(struct world *w, enum kind kind)
{
	memset(w, 0, sizeof(*w));
	w->kind = kind;
	memset(w->hopper, NOBODY, sizeof(w->hopper));
	world_fill(w, FILL_DECK);
	world_on(w);
}

/* ---- commands ---------------------------------------------------------------- */

static uint8_t start(struct world *w, const struct wire_command *command)
{
	bool full;

	if (w->state == DEALBOX_STATE_FAULT)
		return DEALBOX_ERR_FAULT;
	if (world_deals(w))
		return DEALBOX_ERR_STATE;
	if (w->kind == KIND_ROUTED)
		w->plan_id = command->a;
	if (!w->plan_id)
		return DEALBOX_ERR_NO_PLAN;
	if (w->plan_id != command->a)
		return DEALBOX_ERR_WRONG_PLAN;
	if (!w->present)
		return DEALBOX_ERR_NO_BOARD;
	if (w->insertion != command->b)
		return DEALBOX_ERR_WRONG_INSERTION;
	if (w->spent && !w->says_unspent)
		return DEALBOX_ERR_SPENT;
	if (w->doubt)
		return DEALBOX_ERR_IN_DOUBT;
	if (w->cover)
		return DEALBOX_ERR_COVER_OPEN;
	if (!w->in_hopper)
		return DEALBOX_ERR_HOPPER_EMPTY;

	if (w->kind == KIND_ROUTED && command->c != CARDS)
		forbid("another number of cards is to be dealt");
	if (w->kind == KIND_POSITION && !world_deck_whole(w))
		w->excuses |= EXCUSE_ORDER;
	if (w->deals++)
		forbid("an insertion is dealt into twice");
	full = !contents_empty(&w->board);
	if (full && !w->vouched && !w->refilled)
		forbid("a board that has cards is dealt, and nobody was asked if it is empty");
	if (full)
		w->excuses |= EXCUSE_FULL;
	w->spent = true;
	w->says_unspent = false;
	w->locked = w->kind == KIND_LOCKED;
	w->state = DEALBOX_STATE_DEALING;
	w->fault = 0;
	w->position = w->seen = w->misreads = 0;
	memset(w->counts, 0, sizeof(w->counts));
	w->deal_plan = w->plan_id;
	*emit(w, DEALBOX_EV_DEAL_STARTED)->arg = CARDS;
	w->wire[w->on_wire - 1].code = w->plan_id;
	return DEALBOX_ERR_OK;
}

static uint8_t load(struct world *w, const struct wire_command *command)
{
	if (w->kind == KIND_ROUTED)
		return DEALBOX_ERR_UNSUPPORTED;
	if (w->state != DEALBOX_STATE_IDLE && w->state != DEALBOX_STATE_DONE)
		return DEALBOX_ERR_STATE;
	w->plan_id = 0;
	memset(w->plan, 0, sizeof(w->plan));
	w->load_id = command->b ? command->a : 0;
	return DEALBOX_ERR_OK;
}

static uint8_t pause(struct world *w, const struct wire_command *unused)
{
	(void)unused;
	if (w->state != DEALBOX_STATE_DEALING || w->pausing || w->aborting)
		return DEALBOX_ERR_STATE;
	/* a card that was read is let through first */
	w->pausing = w->waits;
	if (!w->pausing)
		world_pause(w);
	return DEALBOX_ERR_OK;
}

static uint8_t resume(struct world *w, const struct wire_command *unused)
{
	(void)unused;
	if (w->state != DEALBOX_STATE_PAUSED || w->aborting)
		return DEALBOX_ERR_STATE;
	if (w->cover)
		return DEALBOX_ERR_COVER_OPEN;
	w->state = DEALBOX_STATE_DEALING;
	emit(w, DEALBOX_EV_RESUMED)->position = w->position;
	return DEALBOX_ERR_OK;
}

static uint8_t reread(struct world *w, const struct wire_command *unused)
{
	(void)unused;
	if (w->state != DEALBOX_STATE_HELD || w->aborting)
		return DEALBOX_ERR_STATE;
	if (w->cover)
		return DEALBOX_ERR_COVER_OPEN;
	w->state = DEALBOX_STATE_DEALING;
	w->fault = 0;
	return DEALBOX_ERR_OK;
}

static uint8_t abort_deal(struct world *w, const struct wire_command *unused)
{
	(void)unused;
	if (!world_deals(w))
		return DEALBOX_ERR_STATE;
	if (w->kind == KIND_LOCKED)
		w->aborting = true;
	else
		end_abort(w);
	return DEALBOX_ERR_OK;
}

static uint8_t clear(struct world *w, const struct wire_command *unused)
{
	(void)unused;
	if (w->state != DEALBOX_STATE_FAULT)
		return DEALBOX_ERR_STATE;
	if (!w->touched)
		forbid("a fault is cleared before anybody did something about it");
	if (w->stuck)
		return DEALBOX_ERR_FAULT;
	if (w->cover)
		return DEALBOX_ERR_COVER_OPEN;
	emit(w, DEALBOX_EV_FAULT_CLEARED)->code = w->fault;
	w->state = DEALBOX_STATE_IDLE;
	w->fault = 0;
	return DEALBOX_ERR_OK;
}

static uint8_t release(struct world *w, const struct wire_command *unused)
{
	(void)unused;
	if (w->kind != KIND_LOCKED)
		return DEALBOX_ERR_UNSUPPORTED;
	if (world_deals(w))
		return DEALBOX_ERR_STATE;
	if (!w->present)
		return DEALBOX_ERR_NO_BOARD;
	w->locked = false;
	return DEALBOX_ERR_OK;
}

static int do_command(struct world *w, uint8_t request, const uint8_t *data, size_t length)
{
	static uint8_t (*const commands[])(struct world *w, const struct wire_command *command) = {
		[WIRE_LOAD] = load, [DEALBOX_OP_START] = start, [DEALBOX_OP_PAUSE] = pause,
		[DEALBOX_OP_RESUME] = resume, [DEALBOX_OP_REREAD] = reread,
		[DEALBOX_OP_ABORT] = abort_deal, [DEALBOX_OP_CLEAR_FAULT] = clear,
		[DEALBOX_OP_RELEASE_BOARD] = release,
	};
	struct wire_command command;

	wire_command_get(data, &command);
	if (command.sequence != w->sequence) {
		w->sequence = command.sequence;
		w->request = request;
		w->error = request < sizeof(commands) / sizeof(*commands) && commands[request] ?
			   commands[request](w, &command) : DEALBOX_ERR_UNSUPPORTED;
	}
	return w->error ? -EPIPE : (int)length;
}

static void put_status(const struct world *w, uint8_t *data)
{
	bool stopped = w->state == DEALBOX_STATE_HELD || w->state == DEALBOX_STATE_FAULT;
	struct wire_status status = {
		.state = w->state, .fault = stopped ? w->fault : 0,
		.flags = (w->present ? DEALBOX_STATUS_BOARD : 0) |
			 (w->cover ? DEALBOX_STATUS_COVER_OPEN : 0) |
			 (w->in_hopper ? DEALBOX_STATUS_HOPPER : 0) |
			 (w->spent && !w->says_unspent ? DEALBOX_STATUS_SPENT : 0) |
			 (w->doubt ? DEALBOX_STATUS_IN_DOUBT : 0) |
			 (w->reader != NOBODY ? DEALBOX_STATUS_CARD_AT_READER : 0),
		.cards_total = CARDS, .cards_done = w->position, .plan_id = w->plan_id,
		.insertion = w->insertion, .next_event = w->next,
		.counts = { w->counts[0], w->counts[1] },
	};

	wire_status_put(data, &status);
}

int world_control(struct world *w, uint8_t type, uint8_t request, uint8_t *data, size_t length)
{
	const struct wire_result result = { w->sequence, w->request, w->error, 0 };
	const struct wire_info info = { .version = WIRE_VERSION, .name = "Small" };
	enum transfers transfers = w->transfers;
	int moved;

	if (!w->on)
		return -ENODEV;
	if (transfers == TRANSFERS_NONE)
		return -ETIMEDOUT;
	if (type == WIRE_REQ_OUT) {
		w->transfers = TRANSFERS_GOOD;
		if (transfers == TRANSFERS_LOST)
			return -EPROTO;
		moved = do_command(w, request, data, length);
		return transfers == TRANSFERS_ANSWER_LOST ? -EPROTO : moved;
	}
	switch (request) {
	case WIRE_GET_INFO:
		wire_info_put(data, &info);
		return length;
	case WIRE_GET_STATUS:
		put_status(w, data);
		return length;
	case WIRE_GET_RESULT:
		wire_result_put(data, &result);
		return length;
	default:
		return -EPIPE;
	}
}

int world_bulk(struct world *w, const uint8_t *bytes, size_t size)
{
	struct wire_plan plan;
	struct told *e;
	uint32_t detail;
	uint8_t error;

	if (!w->on)
		return -ENODEV;
	if (!w->load_id)
		return -EPIPE;
	error = dealbox_decode_plan(bytes, size, &world_machines[w->kind], w->load_id, &plan,
				    &detail);
	e = emit(w, DEALBOX_EV_PLAN_LOADED);
	e->code = w->load_id;
	e->arg[0] = error;
	if (!error) {
		w->plan_id = w->load_id;
		memcpy(w->plan, plan.pocket, sizeof(w->plan));
	}
	w->load_id = 0;
	return 0;
}
