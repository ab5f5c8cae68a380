// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include <dealbox/event.h>

#include "engine.h"
#include "ledger/job-options.h"
#include "verdict/event-internal.h"

#define PACE_DEALS	20	/* deals before a machine can count as slow */
#define FAILURES	3	/* consecutive failures after which it is out of order */
#define SIGNING_LOOKS	6	/* looks, 2 s apart, until ATTESTED must have come (R-5.3-19) */

/* ---- input --------------------------------------------------------------- */

void engine_init(struct engine *d, const char *id, const struct engine *next)
{
	memset(d, 0, sizeof(*d));
	d->id = id;
	d->next = next;
}

static bool dealing(const struct engine *d)
{
	return d->phase == PHASE_RUNNING || d->phase == PHASE_PAUSED || d->phase == PHASE_HELD;
}

/* The deal has begun and is not judged yet, so events affect the verdict. */
static bool undecided(const struct engine *d)
{
	return dealing(d) || d->phase == PHASE_SETTLE;
}

/* The insertion is in the ledger, so its outcome must be recorded. */
static bool in_ledger(const struct engine *d)
{
	return d->phase >= PHASE_START;
}

/* End the deal with another outcome than exact. */
static void make_void(struct engine *d, enum dealbox_ledger_outcome outcome, unsigned int reason,
		      enum dealbox_operator_state state)
{
	d->confirm = true;
	if (d->insertion == d->dealt)
		d->used = true;
	d->phase = PHASE_VOID;
	d->signing = SIGNING_NOT;
	d->outcome = outcome;
	d->reason = reason;
	d->cause = state;
}

/* The recorded board does not count: its record is to be undone. */
static void revoke(struct engine *d, unsigned int reason, enum dealbox_operator_state state)
{
	d->recorded = false;
	d->undo = true;
	d->confirm = true;
	d->reason = reason;
	d->cause = state;
}

/* Drop a copy whose plan was loaded, but that was not recorded. */
static void forget_plan(struct engine *d)
{
	if (d->phase == PHASE_BEGIN)
		d->phase = PHASE_NONE;
}

/* The machine reports a fault, which concerns the present board or the last one. */
static void fault_is(struct engine *d, enum dealbox_ledger_outcome outcome, unsigned int reason,
		     enum dealbox_operator_state state)
{
	d->fault = true;
	d->moved = false;
	d->start = false;
	d->asked = false;
	if (undecided(d) || d->phase == PHASE_START ||
	    (d->phase == PHASE_JUDGE && d->insertion == d->dealt)) {
		make_void(d, outcome, reason, state);
	} else if (d->recorded) {
		revoke(d, reason, state);
	} else if (d->phase != PHASE_VOID) {
		d->cause = state;
	}
	forget_plan(d);
}

/* Start, if pressed for the fault, must not count as another answer. */
static void fault_over(struct engine *d)
{
	d->start &= !d->fault;
	d->fault = false;
}

void engine_plugged(struct engine *d, const struct dealbox_info *info)
{
	d->plugged = true;
	d->stale = true;
	d->lost = true;
	d->numbered = false;
	d->capabilities = info->capabilities;
}

void engine_recall(struct engine *d, uint32_t insertion, const struct copy *copy,
		   unsigned int options)
{
	d->insertion = d->dealt = insertion;
	d->copy = *copy;
	d->shuffled = options & JOB_LAWS;
	d->used = d->recorded = true;
}

static void insertion_is(struct engine *d, uint32_t insertion, unsigned int number, bool automatic)
{
	if (d->insertion != insertion) {
		/*
		 * The removed board may come back with its cards, and boards put in
		 * unobserved may have cards. An original has the cards that were read.
		 */
		if (!d->confirm && ((insertion && !automatic) || d->original ||
				    (d->phase != PHASE_JUDGE &&
				     (d->doubt || (d->used && !d->recorded))))) {
			d->confirm = true;
			d->cause = DEALBOX_OPERATOR_USED;
		}
		forget_plan(d);
		d->used = false;
		d->recorded = false;
		d->original = 0;
		d->released = false;
		d->vouched = 0;
		d->taken = false;
		d->start = false;
		d->refused = false;
		d->automatic = automatic;
		d->seen = automatic;
	}
	d->insertion = insertion;
	d->number = number;
}

void engine_unplugged(struct engine *d)
{
	/* A deal that can be judged without the machine is still judged. */
	if (in_ledger(d) && d->phase != PHASE_JUDGE && d->phase != PHASE_VOID)
		make_void(d, DEALBOX_LEDGER_UNKNOWN, DEALBOX_EV_STATE_LOST, DEALBOX_OPERATOR_DOUBT);
	d->plugged = false;
	d->deals = false;
	d->test = false;
	d->fault = false;
	insertion_is(d, 0, 0, false);
}

/* The effect of an event type. */
enum effect {
	EFFECT_NONE,
	EFFECT_LOST, EFFECT_HOPPER, EFFECT_EMPTY, EFFECT_INSERTED, EFFECT_REMOVED, EFFECT_COVER,
	EFFECT_CLOSED, EFFECT_KEY, EFFECT_STARTED, EFFECT_CARD, EFFECT_DONE, EFFECT_PAUSED,
	EFFECT_RESUMED, EFFECT_ATTESTED, EFFECT_ABORTED, EFFECT_CLEARED, EFFECT_HELD, EFFECT_FAULT,
	EFFECT_PROTOCOL,
};

struct event_row {
	enum effect effect;
	enum dealbox_operator_state state;
};

static const struct event_row event_rows[] = {
	[DEALBOX_EV_STATE_LOST] = { EFFECT_LOST, DEALBOX_OPERATOR_DOUBT },
	[DEALBOX_EV_HOPPER_LOADED] = { EFFECT_HOPPER },
	[DEALBOX_EV_HOPPER_EMPTY] = { EFFECT_EMPTY },
	[DEALBOX_EV_BOARD_INSERTED] = { EFFECT_INSERTED },
	[DEALBOX_EV_BOARD_REMOVED] = { EFFECT_REMOVED, DEALBOX_OPERATOR_PULLED },
	[DEALBOX_EV_COVER_OPEN] = { EFFECT_COVER },
	[DEALBOX_EV_COVER_CLOSED] = { EFFECT_CLOSED },
	[DEALBOX_EV_KEY] = { EFFECT_KEY },
	[DEALBOX_EV_DEAL_STARTED] = { EFFECT_STARTED, DEALBOX_OPERATOR_DOUBT },
	[DEALBOX_EV_CARD_READ] = { EFFECT_CARD, DEALBOX_OPERATOR_DOUBT },
	[DEALBOX_EV_CARD_ROUTED] = { EFFECT_CARD, DEALBOX_OPERATOR_DOUBT },
	[DEALBOX_EV_CARD_LANDED] = { EFFECT_CARD, DEALBOX_OPERATOR_DOUBT },
	[DEALBOX_EV_DEAL_DONE] = { EFFECT_DONE, DEALBOX_OPERATOR_DOUBT },
	[DEALBOX_EV_PAUSED] = { EFFECT_PAUSED },
	[DEALBOX_EV_RESUMED] = { EFFECT_RESUMED },
	[DEALBOX_EV_ATTESTED] = { EFFECT_ATTESTED },
	[DEALBOX_EV_ABORTED] = { EFFECT_ABORTED, DEALBOX_OPERATOR_ABORTED },
	[DEALBOX_EV_FAULT_CLEARED] = { EFFECT_CLEARED },
	[DEALBOX_EV_CARD_UNREADABLE] = { EFFECT_HELD, DEALBOX_OPERATOR_UNREADABLE },
	[DEALBOX_EV_NOT_IN_PLAN] = { EFFECT_HELD, DEALBOX_OPERATOR_NOT_IN_PLAN },
	[DEALBOX_EV_GATE_LATE] = { EFFECT_HELD, DEALBOX_OPERATOR_GATE_LATE },
	[DEALBOX_EV_FEED_TIMEOUT] = { EFFECT_HELD, DEALBOX_OPERATOR_FEED },
	[DEALBOX_EV_DECK_SHORT] = { EFFECT_HELD, DEALBOX_OPERATOR_DECK_SHORT },
	[DEALBOX_EV_REPEATED_CARD] = { EFFECT_FAULT, DEALBOX_OPERATOR_REPEATED },
	[DEALBOX_EV_DOUBLE_FEED] = { EFFECT_FAULT, DEALBOX_OPERATOR_DOUBLE_FEED },
	[DEALBOX_EV_JAM] = { EFFECT_FAULT, DEALBOX_OPERATOR_JAM },
	[DEALBOX_EV_WRONG_POCKET] = { EFFECT_FAULT, DEALBOX_OPERATOR_WRONG_POCKET },
	[DEALBOX_EV_BOARD_PULLED] = { EFFECT_FAULT, DEALBOX_OPERATOR_PULLED },
	[DEALBOX_EV_COVER_OPENED] = { EFFECT_FAULT, DEALBOX_OPERATOR_COVER_OPENED },
	[DEALBOX_EV_HARDWARE] = { EFFECT_FAULT, DEALBOX_OPERATOR_HARDWARE },
	[DEALBOX_EV_PROTOCOL_ERROR] = { EFFECT_PROTOCOL, DEALBOX_OPERATOR_DOUBT },
};

/* Handle stops that a later minor version adds by their class. */
static struct event_row event_row(uint32_t type)
{
	static const struct event_row of_class[] = {
		[DEALBOX_EVENT_HELD] = { EFFECT_HELD, DEALBOX_OPERATOR_UNREADABLE },
		[DEALBOX_EVENT_VOID] = { EFFECT_FAULT, DEALBOX_OPERATOR_HARDWARE },
		[DEALBOX_EVENT_DRIVER] = { 0 },
	};

	if (type < sizeof(event_rows) / sizeof(event_rows[0]) && event_rows[type].effect)
		return event_rows[type];
	return of_class[dealbox_event_classify(type)];
}

enum dealbox_operator_state engine_stop_state(uint32_t type)
{
	return event_row(type).state;
}

bool engine_watched(const struct engine *d, const struct jobs *jobs)
{
	return d->plugged && (d->phase != PHASE_NONE || d->deals || d->fault || jobs_open(jobs));
}

void engine_look(struct engine *d)
{
	d->stale = d->plugged;
	if (d->fault)
		d->asked = false;
	/* the event may be lost, and the statement be there */
	if (d->signing == SIGNING_ASKED && ++d->looks >= SIGNING_LOOKS)
		d->signing = SIGNING_DONE;
}

bool engine_moves(const struct engine *d)
{
	return d->plugged && d->phase == PHASE_RUNNING && !d->by_hand;
}

void engine_silent(struct engine *d)
{
	d->silent = true;
}

static bool status_deals(const struct dealbox_status *status)
{
	return status->state == DEALBOX_STATE_DEALING || status->state == DEALBOX_STATE_PAUSED ||
	       status->state == DEALBOX_STATE_HELD;
}

static uint32_t status_insertion(const struct dealbox_status *status)
{
	return status->flags & DEALBOX_STATUS_BOARD ? status->insertion : 0;
}

/* The machine has sent other events than those that were passed. */
static bool event_missing(const struct engine *d, const struct dealbox_status *status)
{
	return d->numbered && status->machine_seq && status->machine_seq != d->machine_next;
}

bool engine_news(const struct engine *d, const struct dealbox_status *status)
{
	if (event_missing(d, status))
		return true;
	return !d->lost && (status_insertion(status) != d->insertion ||
			    (dealing(d) && !status_deals(status)) ||
			    (status->state == DEALBOX_STATE_FAULT && !d->fault));
}

void engine_status(struct engine *d, const struct dealbox_status *status)
{
	bool deals = status_deals(status);
	enum phase phase = status->state == DEALBOX_STATE_DEALING ? PHASE_RUNNING :
			   status->state == DEALBOX_STATE_PAUSED ? PHASE_PAUSED : PHASE_HELD;
	/* An accepted PAUSE or ABORT ends with an event, once the cards have landed. */
	bool under_way = d->asked && !d->lost && dealing(d) && deals && d->phase == phase;

	if (event_missing(d, status) && undecided(d))
		make_void(d, DEALBOX_LEDGER_UNKNOWN, DEALBOX_EV_PROTOCOL_ERROR,
			  DEALBOX_OPERATOR_DOUBT);
	d->numbered = true;
	d->machine_next = status->machine_seq;
	d->stale = false;
	d->lost = false;
	d->hopper = status->flags & DEALBOX_STATUS_HOPPER;
	d->cover = status->flags & DEALBOX_STATUS_COVER_OPEN;
	insertion_is(d, status_insertion(status), status->board, false);
	d->doubt = status->flags & DEALBOX_STATUS_IN_DOUBT;
	if (status->flags & DEALBOX_STATUS_SPENT)
		d->used = true;
	d->deals = deals;
	d->test &= deals;
	if (deals && d->recorded)
		revoke(d, DEALBOX_EV_DEAL_STARTED, DEALBOX_OPERATOR_DOUBT);
	if (status->state != DEALBOX_STATE_FAULT)
		fault_over(d);
	else if (!d->fault)
		fault_is(d, DEALBOX_LEDGER_UNKNOWN, status->fault,
			 dealing(d) ? DEALBOX_OPERATOR_DOUBT : event_row(status->fault).state);
	/* Retry CLEAR only after another change. */
	if (!d->fault)
		d->asked = under_way;
	if (d->phase == PHASE_SETTLE) {
		/* a machine that has lost its state cannot say any more whether it had stopped */
		if (status->state != DEALBOX_STATE_DONE || d->insertion != d->dealt)
			make_void(d, DEALBOX_LEDGER_UNKNOWN, 0, DEALBOX_OPERATOR_DOUBT);
		else if (d->settled)
			d->phase = PHASE_JUDGE;
	}
	/* The end of our deal was not observed. */
	if (!dealing(d))
		return;
	if (!deals || d->insertion != d->dealt) {
		d->asked = false;
		make_void(d, DEALBOX_LEDGER_UNKNOWN, status->fault, DEALBOX_OPERATOR_DOUBT);
	} else {
		/* a start that was pressed before it was held is no answer to that */
		if (d->phase != phase)
			d->start = false;
		d->phase = phase;
		if (d->phase == PHASE_HELD && d->held != status->fault) {
			d->held = status->fault;
			d->holds = event_row(status->fault).state;
			/* As if its event had come: see hold(). */
			if (d->held == DEALBOX_EV_DECK_SHORT)
				make_void(d, DEALBOX_LEDGER_VOID, d->held, d->holds);
		}
	}
}

static const struct job *job_of(const struct engine *d, const struct jobs *jobs)
{
	return d->copy.job ? jobs_find(jobs, d->copy.job) : NULL;
}

/* The machine is held at a card, which may be the stop card between two decks. */
static void hold(struct engine *d, const struct jobs *jobs, const struct dealbox_event *e,
		 enum dealbox_operator_state state)
{
	const struct job *job = job_of(d, jobs);
	bool guess = e->type == DEALBOX_EV_NOT_IN_PLAN && event_guess(e);
	bool joker = e->type == DEALBOX_EV_NOT_IN_PLAN && !guess && e->card >= DEALBOX_CARD_JOKER1;
	bool face_up = e->flags & DEALBOX_EVF_FACE_UP;
	bool card = e->type == DEALBOX_EV_CARD_UNREADABLE || e->type == DEALBOX_EV_NOT_IN_PLAN;

	d->phase = PHASE_HELD;
	d->held = e->type;
	/* The router holds a card that was read badly as one that has no pocket. */
	d->holds = guess ? DEALBOX_OPERATOR_UNREADABLE : state;
	d->start = false;
	/* The missing cards may be in the board; adding cards to the hopper proves nothing. */
	if (e->type == DEALBOX_EV_DECK_SHORT)
		make_void(d, DEALBOX_LEDGER_VOID, e->type, state);
	if (card && job && job->options & DEALBOX_JOB_STOP_CARD) {
		if (!e->position)
			d->holds = DEALBOX_OPERATOR_STOP_CARD;
		else if (joker || face_up)
			make_void(d, DEALBOX_LEDGER_VOID, e->type, DEALBOX_OPERATOR_DECK_WRONG);
	} else if (card && face_up) {
		d->holds = DEALBOX_OPERATOR_FACE_UP;
	}
	/* Retry these automatically, once per card. */
	if ((d->holds == DEALBOX_OPERATOR_UNREADABLE || d->holds == DEALBOX_OPERATOR_GATE_LATE) &&
	    d->reread != e->position + 1u) {
		d->reread = e->position + 1u;
		d->start = true;
	}
}

static void measure(struct engine *d, uint64_t now)
{
	uint64_t took = now - d->begun;

	if (now <= d->begun)
		return;
	d->pace = d->paced ? d->pace + (took >> 3) - (d->pace >> 3) : took;
	if (d->paced < PACE_DEALS)
		d->paced++;
	if (d->paced == PACE_DEALS && (!d->best || d->pace < d->best))
		d->best = d->pace;
}

bool engine_slow(const struct engine *d)
{
	return !d->by_hand && d->best && d->pace > d->best + d->best / 2;
}

/*
 * Return true if an event of a deal cannot be of ours: it is of another insertion, comes after the
 * end, or before the start was reported, or starts the deal again. Then somebody else deals, or the
 * machine goes on when it should not.
 */
static bool not_ours(const struct engine *d, const struct dealbox_event *e, enum effect effect)
{
	bool ended = d->phase == PHASE_SETTLE ||
		     (d->phase == PHASE_JUDGE && d->insertion == d->dealt);

	if (!dealing(d))
		return ended;
	return e->insertion != d->dealt ||
	       (d->begun ? effect == EFFECT_STARTED :
			   effect == EFFECT_HELD || effect == EFFECT_DONE);
}

/* Returns false if it changed nothing. */
static bool deal_event(struct engine *d, const struct jobs *jobs, const struct dealbox_event *e,
		       struct event_row row)
{
	if (not_ours(d, e, row.effect)) {
		make_void(d, DEALBOX_LEDGER_UNKNOWN, e->type, DEALBOX_OPERATOR_DOUBT);
		d->stale = true;
		return true;
	}
	/* Cards that have come since then may lie in the board. */
	if (d->recorded)
		revoke(d, e->type, DEALBOX_OPERATOR_DOUBT);
	else if (row.effect == EFFECT_CARD)
		return false;
	switch (row.effect) {
	case EFFECT_STARTED:
		d->begun = e->timestamp_ns;
		d->deals = true;
		d->used |= !d->capture || d->test;
		break;
	case EFFECT_DONE:
		d->deals = false;
		d->test = false;
		d->used |= !d->capture;
		if (dealing(d)) {
			d->phase = PHASE_SETTLE;
			d->settled = false;
			measure(d, e->timestamp_ns);
		}
		break;
	case EFFECT_PAUSED:
		d->asked = false;
		if (dealing(d)) {
			d->phase = PHASE_PAUSED;
			/* After the stop key, wait for start. */
			if (e->code == DEALBOX_PAUSED_BY_KEY)
				d->pause = true;
		}
		break;
	case EFFECT_RESUMED:
		d->asked = false;
		if (dealing(d))
			d->phase = PHASE_RUNNING;
		break;
	case EFFECT_ABORTED:
		d->deals = false;
		d->test = false;
		d->asked = false;
		if (dealing(d))
			make_void(d, DEALBOX_LEDGER_VOID, e->type, row.state);
		break;
	case EFFECT_HELD:
		if (dealing(d))
			hold(d, jobs, e, row.state);
		break;
	default:	/* EFFECT_CARD */
		break;
	}
	return true;
}

/* Store the place of a stop for the operator, until the next stop. */
static void stopped_at(struct engine *d, const struct dealbox_event *e, enum effect effect)
{
	bool stop = effect == EFFECT_HELD || effect == EFFECT_FAULT;

	if (stop || effect == EFFECT_STARTED || effect == EFFECT_RESUMED || effect == EFFECT_LOST ||
	    effect == EFFECT_PROTOCOL || (effect == EFFECT_REMOVED && undecided(d)))
		d->stop_card = d->stop_place = d->stop_code = 0;
	if (!stop)
		return;
	d->stop_card = e->position == DEALBOX_NONE ? 0 : e->position + 1u;
	if (e->type == DEALBOX_EV_JAM)
		d->stop_place = e->code;
	if (e->type == DEALBOX_EV_JAM || e->type == DEALBOX_EV_HARDWARE)
		d->stop_code = e->code;
}

bool engine_event(struct engine *d, const struct jobs *jobs, const struct dealbox_event *e)
{
	struct event_row row = event_row(e->type);
	bool gap = e->flags & (DEALBOX_EVF_GAP | DEALBOX_EVF_MACHINE_GAP);
	bool was_silent = d->silent, news = row.effect != EFFECT_NONE;

	d->silent = false;
	/*
	 * The driver's own events have no number of the machine, or that of an event it replaces.
	 */
	if (e->machine_seq || !DEALBOX_EV_IS_DRIVER(e->type))
		d->machine_next = e->machine_seq + 1;
	stopped_at(d, e, row.effect);
	if (gap) {
		d->stale = true;
		d->lost = true;
		if (undecided(d))
			make_void(d, DEALBOX_LEDGER_UNKNOWN, DEALBOX_EV_PROTOCOL_ERROR,
				  DEALBOX_OPERATOR_DOUBT);
	}
	switch (row.effect) {
	case EFFECT_NONE:
		break;
	case EFFECT_LOST:
		if (in_ledger(d) && d->phase != PHASE_JUDGE && d->phase != PHASE_VOID)
			make_void(d, DEALBOX_LEDGER_UNKNOWN, e->type, row.state);
		forget_plan(d);
		d->deals = false;
		d->test = false;
		d->signing = SIGNING_NOT;
		fault_over(d);
		d->stale = true;
		d->lost = true;
		break;
	case EFFECT_HOPPER:
		d->hopper = true;
		break;
	case EFFECT_EMPTY:
		d->hopper = false;
		break;
	case EFFECT_INSERTED:
		if (undecided(d) && e->insertion != d->dealt)
			make_void(d, DEALBOX_LEDGER_UNKNOWN, e->type, DEALBOX_OPERATOR_DOUBT);
		/* A board known from the status may have been put in before the fault. */
		d->moved |= e->insertion != d->insertion;
		/* After a loss, the event may be of a board that was already present. */
		insertion_is(d, e->insertion, e->arg[0], !d->lost);
		d->doubt = e->flags & DEALBOX_EVF_AT_POWER_ON;
		break;
	case EFFECT_REMOVED:
		/* No more events of it can follow. */
		if (d->phase == PHASE_SETTLE && e->insertion == d->dealt)
			d->phase = PHASE_JUDGE;
		else if (in_ledger(d) && d->phase != PHASE_JUDGE && d->phase != PHASE_VOID)
			make_void(d, DEALBOX_LEDGER_UNKNOWN, e->type, row.state);
		d->moved |= e->insertion == d->insertion;
		insertion_is(d, 0, 0, false);
		if (d->fault)
			d->asked = false;
		break;
	case EFFECT_COVER:
		d->cover = true;
		break;
	case EFFECT_CLOSED:
		d->cover = false;
		d->asked = false;
		break;
	case EFFECT_KEY:
		if (!e->arg[0])
			break;
		if (e->code == DEALBOX_KEY_START)
			engine_push(d, PUSH_START);
		else if (e->code == DEALBOX_KEY_RELEASE)
			engine_push(d, PUSH_RELEASE);
		/* The machine handles its stop key itself and sends PAUSED. */
		break;
	case EFFECT_ATTESTED:
		news = d->signing == SIGNING_ASKED && e->arg[1] == d->dealt;
		if (news)
			d->signing = e->arg[0] == DEALBOX_ERR_OK ? SIGNING_DONE : SIGNING_NOT;
		break;
	case EFFECT_CLEARED:
		fault_over(d);
		d->asked = false;
		break;
	case EFFECT_FAULT:
		d->deals = false;
		d->test = false;
		fault_is(d, DEALBOX_LEDGER_VOID, e->type, row.state);
		break;
	case EFFECT_PROTOCOL:
		d->stale = true;
		if (undecided(d))
			make_void(d, DEALBOX_LEDGER_UNKNOWN, e->type, row.state);
		break;
	default:
		news = deal_event(d, jobs, e, row);
	}
	return gap || was_silent || news;
}

void engine_push(struct engine *d, enum push push)
{
	/* Start cannot answer a question about another board. */
	bool asked = d->shown == d->insertion;

	switch (push) {
	case PUSH_START:
		/* Start counts only when dealing is not forbidden. */
		if (d->barred && (d->barred != DEALBOX_OPERATOR_SEATED || dealing(d)))
			break;
		d->pause = false;
		/* The first press ends the emergency stop, a second one starts dealing. */
		if (d->stop) {
			d->stop = false;
			break;
		}
		/*
		 * Start answers the present question only, not the next one. To have the
		 * ledger tried again says nothing of a fault, or of the next board.
		 */
		d->start = !d->ledger && (dealing(d) || d->fault ||
			   (asked && (d->shows == DEALBOX_OPERATOR_START ||
				      d->shows == DEALBOX_OPERATOR_CONFIRM ||
				      d->shows == DEALBOX_OPERATOR_CAPTURE)));
		/* The machine may have stopped while the ledger could not be written. */
		d->stale |= d->ledger && d->plugged;
		if (asked && d->shows == DEALBOX_OPERATOR_NUMBER_UNREAD)
			d->vouched = d->copy.board;
		d->ledger = false;
		d->refused = false;
		if (d->fault || d->deals)
			d->asked = false;
		break;
	case PUSH_PAUSE:
		d->pause = true;
		break;
	case PUSH_STOP:
		d->stop = true;
		d->start = false;
		d->asked = false;
		forget_plan(d);
		if (d->phase == PHASE_START)
			make_void(d, DEALBOX_LEDGER_VOID, 0, DEALBOX_OPERATOR_ABORTED);
		break;
	default:	/* PUSH_RELEASE */
		d->release = true;
	}
}

void engine_settled(struct engine *d)
{
	if (d->phase != PHASE_SETTLE)
		return;
	d->settled = true;
	d->stale = d->plugged;
}

void engine_bar(struct engine *d, enum dealbox_operator_state why)
{
	d->barred = why;
	if (!why)
		return;
	forget_plan(d);
	if (d->phase == PHASE_START)
		make_void(d, DEALBOX_LEDGER_VOID, 0, DEALBOX_OPERATOR_ABORTED);
	d->pause |= dealing(d);
	/* Discard an earlier start, except for a fault, which can be cleared without a board. */
	if (why != DEALBOX_OPERATOR_SEATED || !d->fault)
		d->start = false;
}

/* ---- the next step -------------------------------------------------------- */

struct others {
	const struct engine *all;
	const struct engine *self;
};

static bool elsewhere(const struct copy *copy, const void *context)
{
	const struct others *others = context;
	const struct engine *d;

	for (d = others->all; d; d = d->next)
		if (d != others->self && d->copy.job == copy->job && d->copy.board == copy->board &&
		    d->copy.copy == copy->copy)
			return true;
	return false;
}

/* All pockets of an original must be read at one machine. */
static bool original_elsewhere(const struct copy *copy, const void *context)
{
	const struct others *others = context;
	const struct engine *d;

	for (d = others->all; d; d = d->next)
		if (d != others->self && d->copy.job == copy->job && d->copy.board == copy->board)
			return true;
	return false;
}

/* Return true if the machine has the capabilities that the job needs. */
static bool suits(const struct engine *d, const struct job *job)
{
	uint32_t needs = job->options & DEALBOX_JOB_CAPTURE ? DEALBOX_CAP_CAPTURE :
			 job->options & (DEALBOX_JOB_BY_POSITION | JOB_LAWS) ?
							      DEALBOX_CAP_BY_POSITION :
							      DEALBOX_CAP_BY_CARD;

	/* in an event, what no machine has dealt would never count */
	if (job->options & JOB_EVENT && d->emulated && !job->rehearsal)
		return false;
	return d->capabilities & needs;
}

static bool by_reader(const struct engine *d, const struct job *job)
{
	return job->options & DEALBOX_JOB_BY_READER &&
	       d->capabilities & DEALBOX_CAP_BOARD_READER;
}

/* Keep the copy that the operator was asked for, if possible. */
static bool keep_copy(const struct engine *d, const struct jobs *jobs, const struct others *others)
{
	const struct job *job = job_of(d, jobs);

	return job && job_open(job) && job_for(job, d->id) && !by_reader(d, job) &&
	       job_may_begin(job, d->copy.board, d->copy.copy) &&
	       !elsewhere(&d->copy, others);
}

/* Choose a job and a copy. Returns the operator's state if there is none. */
static enum dealbox_operator_state choose(struct engine *d, const struct jobs *jobs,
					  const struct others *others)
{
	enum dealbox_operator_state none = DEALBOX_OPERATOR_NO_WORK;
	const struct job *job;
	struct copy asked = d->copy, copy;

	/* The operator has already put in the board that was asked for. */
	if (d->insertion && keep_copy(d, jobs, others))
		return DEALBOX_OPERATOR_NONE;
	d->copy = (struct copy){ 0 };
	d->shuffled = false;
	for (job = jobs->first; job; job = job->next) {
		if (!job_open(job) || !job_for(job, d->id) ||
		    !job_pick(job, 0,
			      job->options & DEALBOX_JOB_CAPTURE ? original_elsewhere : elsewhere,
			      others, &copy)) {
			if (job_open(job) && job_for(job, d->id) && job_lapsed(job))
				none = DEALBOX_OPERATOR_LEASE;
			continue;
		}
		if (!suits(d, job)) {
			none = DEALBOX_OPERATOR_UNSUITED;
			continue;
		}
		if (by_reader(d, job))
			copy = (struct copy){ job->id, 0, 0 };
		/* Start answers for the copy that was asked for; a reader names the board anew. */
		if (asked.job != copy.job ||
		    (copy.board && (asked.board != copy.board || asked.copy != copy.copy)))
			d->start = false;
		d->copy = copy;
		d->shuffled = job->options & JOB_LAWS;
		return DEALBOX_OPERATOR_NONE;
	}
	return none;
}

/* Check the number of the present board. */
static enum dealbox_operator_state check_number(struct engine *d, const struct job *job,
				 const struct others *others)
{
	struct copy copy;

	if (d->shuffled)
		return DEALBOX_OPERATOR_NONE;
	if (!d->number && d->capabilities & DEALBOX_CAP_BOARD_READER) {
		/*
		 * Assume the next board, if an operator confirms it. There is one, or choose()
		 * would not have chosen the job.
		 */
		if ((d->vouched && job_pick(job, d->vouched, elsewhere, others, &copy)) ||
		    (by_reader(d, job) &&	/* GCOVR_EXCL_BR_LINE */
		     job_pick(job, 0, elsewhere, others, &copy)))
			d->copy = copy;
		return d->vouched && d->vouched == d->copy.board ? DEALBOX_OPERATOR_NONE :
		       DEALBOX_OPERATOR_NUMBER_UNREAD;
	}
	if (!by_reader(d, job)) {
		if (!d->number || d->number == d->copy.board)
			return DEALBOX_OPERATOR_NONE;
		if (!d->taken || !job_pick(job, d->number, elsewhere, others, &copy)) {
			d->taken = false;
			return DEALBOX_OPERATOR_NUMBER_OTHER;
		}
		d->copy = copy;
		return DEALBOX_OPERATOR_NONE;
	}
	d->copy.board = d->number;
	if (!job_has(job, d->number, 1))
		return DEALBOX_OPERATOR_NUMBER_RANGE;
	if (!job_pick(job, d->number, elsewhere, others, &copy))
		return DEALBOX_OPERATOR_NUMBER_DONE;
	d->copy = copy;
	return DEALBOX_OPERATOR_NONE;
}

static bool shows(struct engine *d, enum dealbox_operator_state state)
{
	d->shows = state;
	d->shown = d->insertion;
	return false;
}

static bool does(struct engine *d, struct step *step, enum step_kind kind)
{
	*step = (struct step){
		.kind = kind, .copy = d->copy, .insertion = d->dealt,
		.outcome = d->outcome, .reason = d->reason,
	};
	return true;
}

/* The same for a command that completes with an event. */
static bool asks(struct engine *d, struct step *step, enum step_kind kind)
{
	d->asked = true;
	return does(d, step, kind);
}

static bool begins(struct engine *d, struct step *step, bool capture)
{
	d->start = false;
	d->automatic = false;
	d->dealt = d->insertion;
	d->capture = capture;
	d->signing = d->capabilities & DEALBOX_CAP_ATTEST && !capture ? SIGNING_WANTED :
									SIGNING_NOT;
	d->reread = 0;
	d->begun = 0;
	/* the deal locks the board again */
	d->released = false;
	return does(d, step, STEP_PLAN);
}

/*
 * Read an original pocket by pocket. The operator puts the cards of each pocket into the hopper and
 * presses start. The board is not dealt into, so it need not be empty.
 */
static bool next_original(struct engine *d, const struct job *job, const struct others *others,
			  struct step *step)
{
	enum dealbox_operator_state state;

	if (d->original && d->original != d->copy.board)
		return shows(d, DEALBOX_OPERATOR_CAPTURED);
	if (!d->insertion || !d->hopper) {
		d->start = false;
		return shows(d, DEALBOX_OPERATOR_CAPTURE);
	}
	state = check_number(d, job, others);
	if (!state && d->cover)
		state = DEALBOX_OPERATOR_COVER;
	if (!state)
		state = d->barred;
	if (!state && d->refused)
		state = DEALBOX_OPERATOR_MACHINE;
	if (state) {
		d->start = false;
		return shows(d, state);
	}
	if (!d->start || d->pause)
		return shows(d, d->pause ? DEALBOX_OPERATOR_PAUSED : DEALBOX_OPERATOR_CAPTURE);
	return begins(d, step, true);
}

/* No deal is running. */
static bool next_free(struct engine *d, struct jobs *jobs, const struct others *others,
		      struct step *step)
{
	bool locked = d->barred && d->barred != DEALBOX_OPERATOR_SEATED;
	const struct job *job;
	enum dealbox_operator_state state;
	bool automatic;

	/* before a fault, too, which may end when the board is out */
	if (d->used || d->doubt)
		d->release |= !d->released;
	/* The machine refuses it until the abort has ended. */
	if (d->release && !d->deals && d->insertion && d->capabilities & DEALBOX_CAP_BOARD_LOCK) {
		d->release = false;
		return does(d, step, STEP_RELEASE);
	}
	d->release &= d->deals;
	if (d->fault) {
		/* somebody has taken the board out, or says that it is mended */
		if (!d->asked && !d->cover && !locked && (d->moved || d->start)) {
			d->start = false;
			return asks(d, step, STEP_CLEAR);
		}
		if (locked && d->cause != DEALBOX_OPERATOR_JAM)
			return shows(d, d->barred);
		if (d->cover && d->cause != DEALBOX_OPERATOR_JAM)
			return shows(d, DEALBOX_OPERATOR_COVER);
		return shows(d, d->cause ? d->cause : DEALBOX_OPERATOR_HARDWARE);
	}
	if (d->insertion && (d->used || d->doubt)) {
		if (d->recorded)
			return shows(d, DEALBOX_OPERATOR_TAKE_OUT);
		if (d->doubt)
			return shows(d, DEALBOX_OPERATOR_DOUBT);
		return shows(d, d->confirm && d->cause ? d->cause : DEALBOX_OPERATOR_USED);
	}
	if (d->stop || locked)
		return shows(d, locked ? d->barred : DEALBOX_OPERATOR_STOPPED);
	/* whatever it says, or its own start key does: a plan tells the deal */
	if (d->unknown) {
		d->copy = (struct copy){ 0 };
		return shows(d, DEALBOX_OPERATOR_NEW);
	}
	state = choose(d, jobs, others);
	job = job_of(d, jobs);
	/* locked when it was put in, and nobody is to deal it */
	if (!job && d->insertion && !d->released && d->capabilities & DEALBOX_CAP_BOARD_LOCK)
		return does(d, step, STEP_RELEASE);
	if (!job || (d->original && !(job->options & DEALBOX_JOB_CAPTURE)))
		return shows(d, d->original ? DEALBOX_OPERATOR_CAPTURED : state);
	if (d->ledger)
		return shows(d, DEALBOX_OPERATOR_LEDGER);
	if (job->options & DEALBOX_JOB_CAPTURE)
		return next_original(d, job, others, step);
	if (!d->insertion) {
		if (d->confirm && d->cause && d->cause != DEALBOX_OPERATOR_USED)
			return shows(d, d->cause);
		return shows(d, by_reader(d, job) ? DEALBOX_OPERATOR_INSERT_ANY :
						    DEALBOX_OPERATOR_INSERT);
	}
	state = check_number(d, job, others);
	if (!state && d->cover)
		state = DEALBOX_OPERATOR_COVER;
	if (!state)
		state = d->barred;
	if (!state && !d->hopper)
		state = DEALBOX_OPERATOR_HOPPER;
	if (!state && d->refused)
		state = DEALBOX_OPERATOR_MACHINE;
	if (state) {
		/* A start that came too late must not move the machine when this is over. */
		d->start = false;
		return shows(d, state);
	}
	if (d->pause)
		return shows(d, DEALBOX_OPERATOR_PAUSED);
	if (!d->start && d->confirm)
		return shows(d, DEALBOX_OPERATOR_CONFIRM);
	/* By position, the operator must confirm that the deck is sorted. */
	automatic = job->options & DEALBOX_JOB_AUTO_START &&
		    !(job->options & DEALBOX_JOB_BY_POSITION);
	if (!d->start && !(d->automatic && automatic))
		return shows(d, DEALBOX_OPERATOR_START);
	return begins(d, step, false);
}

/* The operator is told that he may take the board out. It stays locked only until a plain start. */
static bool lets_go(struct engine *d, struct step *step)
{
	if (d->released || d->deals || !d->insertion ||
	    !(d->capabilities & DEALBOX_CAP_BOARD_LOCK) || d->shows == DEALBOX_OPERATOR_START ||
	    !(dealbox_operator_ways(d->shows) & DEALBOX_WAY_REMOVE))
		return false;
	return does(d, step, STEP_RELEASE);
}

/* A deal is running. */
static bool next_dealing(struct engine *d, const struct jobs *jobs, struct step *step)
{
	const struct job *job = job_of(d, jobs);
	bool cancelled = !job || job->state == DEALBOX_LEDGER_JOB_CANCELLED;
	bool pause = d->pause || d->barred || (job && job->state == DEALBOX_LEDGER_JOB_PAUSED);
	enum dealbox_operator_state paused = d->barred ? d->barred : DEALBOX_OPERATOR_PAUSED;

	if (d->asked)
		return shows(d, d->phase == PHASE_PAUSED ? paused :
			     d->phase == PHASE_HELD ? d->holds : DEALBOX_OPERATOR_NONE);
	if (cancelled)
		return asks(d, step, STEP_ABORT);
	if (d->phase == PHASE_RUNNING)
		return pause ? asks(d, step, STEP_PAUSE) :
		       shows(d, d->silent ? DEALBOX_OPERATOR_SILENT :
			     engine_slow(d) ? DEALBOX_OPERATOR_SLOW : DEALBOX_OPERATOR_NONE);
	if (d->phase == PHASE_PAUSED)
		return pause ? shows(d, paused) : asks(d, step, STEP_RESUME);
	/* held */
	if (!d->start || pause)
		return shows(d, pause ? paused : d->holds);
	d->start = false;
	return does(d, step, STEP_REREAD);
}

bool engine_may_test(const struct engine *d)
{
	/*
	 * Where no job asks whether the board is empty, whoever asks for the test deal answers for
	 * that.
	 */
	bool asks = d->confirm && d->shows != DEALBOX_OPERATOR_NO_WORK;

	return d->plugged && d->phase == PHASE_NONE && !d->deals && !d->fault && !d->stop &&
	       !d->barred && !d->pause && d->insertion && !d->used && !d->doubt && !asks &&
	       !d->original;
}

bool engine_must_abort(const struct engine *d)
{
	return d->plugged && (d->stop || (d->barred && d->test)) && d->deals && !d->asked;
}

/*
 * If the copy was asked for again, the recorded board does not count any more: a stop has nothing
 * to undo, and the board may come back with its cards.
 */
static void count_again(struct engine *d, const struct jobs *jobs)
{
	const struct job *job = job_of(d, jobs);

	if (!d->recorded || !job ||
	    job_state(job, d->copy.board, d->copy.copy) == DEALBOX_LEDGER_COPY_RECORDED)
		return;
	d->recorded = false;
	d->confirm = true;
	d->cause = DEALBOX_OPERATOR_USED;
}

/*
 * The deal is over. The board counts once the machine has signed what it dealt, or will not sign; a
 * stop behind the deal is its last word, too. It must not be asked for the next deal before that.
 */
static bool next_signing(struct engine *d, struct step *step)
{
	if (d->signing == SIGNING_ASKED)
		return shows(d, DEALBOX_OPERATOR_NONE);
	return does(d, step, d->signing == SIGNING_WANTED ? STEP_ATTEST : STEP_SIGNED);
}

/* Of other jobs, the ledger decides. */
static bool may_begin(const struct engine *d, const struct jobs *jobs)
{
	const struct job *job = job_of(d, jobs);

	return !job || !(job->options & JOB_EVENT) ||
	       job_may_begin(job, d->copy.board, d->copy.copy);
}

bool engine_next(struct engine *d, struct jobs *jobs, const struct engine *all, struct step *step)
{
	const struct others others = { all, d };

	count_again(d, jobs);
	/* The emergency stop comes first. A test deal is aborted too. */
	if (engine_must_abort(d))
		return asks(d, step, STEP_ABORT);
	if (d->plugged && d->stale)
		return does(d, step, STEP_STATUS);
	/* Abort a deal that is void or not ours. */
	if (d->plugged && d->deals && !d->asked && !dealing(d) && !d->test)
		return asks(d, step, STEP_ABORT);
	if (d->plugged && d->deals && d->test)
		return shows(d, DEALBOX_OPERATOR_NONE);
	if ((d->undo || d->phase == PHASE_JUDGE || d->phase == PHASE_VOID) && d->ledger)
		return shows(d, DEALBOX_OPERATOR_LEDGER);
	if (d->undo)
		return does(d, step, STEP_UNDO);
	if (d->phase == PHASE_JUDGE && d->plugged && d->signing)
		return next_signing(d, step);
	if (d->phase == PHASE_JUDGE)
		return does(d, step, STEP_JUDGE);
	if (d->phase == PHASE_VOID)
		return does(d, step, STEP_VOID);
	if (!d->plugged) {
		d->copy = (struct copy){ 0 };
		return shows(d, DEALBOX_OPERATOR_ABSENT);
	}
	switch (d->phase) {
	case PHASE_NONE:
		return next_free(d, jobs, &others, step) || lets_go(d, step);
	case PHASE_BEGIN:
		/*
		 * the plan took its time: the lease may have ended, or the copy may be given back
		 */
		if (!may_begin(d, jobs)) {
			forget_plan(d);
			return next_free(d, jobs, &others, step) || lets_go(d, step);
		}
		return does(d, step, STEP_BEGIN);
	case PHASE_START:
		return does(d, step, STEP_START);
	case PHASE_SETTLE:
		return shows(d, DEALBOX_OPERATOR_NONE);
	default:
		return next_dealing(d, jobs, step);
	}
}

/* ---- for the operator ------------------------------------------------------ */

/* Return true if the job of the present question has a copy of the board to be dealt here. */
static bool has_copy(const struct engine *d, const struct jobs *jobs, const struct engine *all,
		     unsigned int board)
{
	const struct others others = { all, d };
	const struct job *job = job_of(d, jobs);
	struct copy copy;

	return board && job && d->shown == d->insertion &&
	       job_pick(job, board, elsewhere, &others, &copy);
}

bool engine_take(struct engine *d, const struct jobs *jobs, const struct engine *all)
{
	if (d->shows != DEALBOX_OPERATOR_NUMBER_OTHER || d->barred ||
	    !has_copy(d, jobs, all, d->number))
		return false;
	d->taken = true;
	d->pause = false;
	/* It is the start key for this board, but it does not say that the board is empty. */
	d->start = !d->confirm;
	return true;
}

bool engine_number(struct engine *d, const struct jobs *jobs, const struct engine *all,
		   unsigned int board)
{
	if (d->shows != DEALBOX_OPERATOR_NUMBER_UNREAD || !has_copy(d, jobs, all, board))
		return false;
	d->vouched = board;
	d->pause = false;
	return true;
}

unsigned int engine_keys(const struct engine *d, const struct jobs *jobs, const struct engine *all)
{
	const struct job *job = job_of(d, jobs);
	bool paused = job && job->state == DEALBOX_LEDGER_JOB_PAUSED;
	bool waits = d->phase == PHASE_NONE && d->shows >= DEALBOX_OPERATOR_INSERT;
	unsigned int keys = 0;

	if (!d->plugged)
		return 0;
	if (dealbox_operator_ways(d->shows) & DEALBOX_WAY_START && !d->barred &&
	    !(d->shows == DEALBOX_OPERATOR_PAUSED && paused))
		keys |= ENGINE_START;
	if (d->shows == DEALBOX_OPERATOR_NUMBER_OTHER && !d->barred &&
	    has_copy(d, jobs, all, d->number))
		keys |= ENGINE_TAKE;
	if (d->shows == DEALBOX_OPERATOR_NUMBER_UNREAD)
		keys |= ENGINE_NUMBER;
	if (waits && job && !d->recorded &&
	    job_state(job, d->copy.board, d->copy.copy) == DEALBOX_LEDGER_COPY_OPEN)
		keys |= ENGINE_SKIP;
	if (d->recorded && d->shows == DEALBOX_OPERATOR_TAKE_OUT && !d->shuffled)
		keys |= ENGINE_REDEAL;
	if (d->phase == PHASE_RUNNING && !d->pause && !paused)
		keys |= ENGINE_PAUSE;
	if (paused)
		keys |= ENGINE_RESUME;
	if (d->insertion && d->capabilities & DEALBOX_CAP_BOARD_LOCK && !d->released && !d->deals)
		keys |= ENGINE_RELEASE;
	if (d->shows == DEALBOX_OPERATOR_NEW)
		keys |= ENGINE_ACCEPT;
	if (d->capabilities & DEALBOX_CAP_TEST_DEAL && engine_may_test(d))
		keys |= ENGINE_TEST;
	return keys;
}

/* The present copy is not the next one; of an original, no pocket of the present board is. */
static bool present_or_elsewhere(const struct copy *copy, const void *context)
{
	const struct others *others = context;
	const struct copy *present = &others->self->copy;

	return (copy->job == present->job && copy->board == present->board &&
		copy->copy == present->copy) ||
	       elsewhere(copy, context);
}

static bool original_present_or_elsewhere(const struct copy *copy, const void *context)
{
	const struct others *others = context;
	const struct copy *present = &others->self->copy;

	return (copy->job == present->job && copy->board == present->board) ||
	       original_elsewhere(copy, context);
}

bool engine_following(const struct engine *d, const struct jobs *jobs, const struct engine *all,
		      struct copy *following)
{
	const struct others others = { all, d };
	const struct job *job;

	for (job = jobs->first; job; job = job->next) {
		if (!job_open(job) || !job_for(job, d->id) || !suits(d, job) ||
		    !job_pick(job, 0,
			      job->options & DEALBOX_JOB_CAPTURE ? original_present_or_elsewhere :
								   present_or_elsewhere,
			      &others, following))
			continue;
		return !by_reader(d, job) && !(job->options & JOB_LAWS);
	}
	return false;
}

enum dealbox_operator_state engine_state(const struct engine *d)
{
	return d->shows;
}

void engine_facts(const struct engine *d, struct dealbox_operator_facts *facts)
{
	*facts = (struct dealbox_operator_facts){
		.board = d->copy.board, .copy = d->copy.copy,
		.there = d->number != d->copy.board ? d->number : 0,
		.card = d->stop_card, .cards = d->cards, .place = d->stop_place,
		.code = d->stop_code,
		.shuffled = d->shuffled, .by_hand = d->by_hand,
	};
	if (d->shuffled)
		facts->board = facts->copy = facts->there = 0;
}

/* ---- results of steps ----------------------------------------------------- */

static void mark(struct jobs *jobs, const struct copy *copy, enum dealbox_ledger_copy_state state)
{
	struct job *job = jobs_find(jobs, copy->job);

	/* If this fails for lack of memory, the ledger refuses the copy. */
	if (job)
		job_set_state(job, copy->board, copy->copy, state);
}

static void did_begin(struct engine *d, struct jobs *jobs, const struct step *step, enum did did)
{
	struct job *job = jobs_find(jobs, step->copy.job);

	d->phase = did == DID_OK ? PHASE_START : PHASE_NONE;
	switch (did) {
	case DID_OK:
		mark(jobs, &step->copy, DEALBOX_LEDGER_COPY_DEALING);
		break;
	case DID_USED:
		d->used = true;
		d->confirm = true;
		d->cause = d->seen ? DEALBOX_OPERATOR_REUSED : DEALBOX_OPERATOR_USED;
		break;
	case DID_REPEAT:
		if (job)
			job->repeat = true;
		break;
	case DID_LEDGER:
		d->ledger = true;
		break;
	default:
		break;
	}
}

static void did_start(struct engine *d, enum did did)
{
	if (did == DID_OK) {
		d->phase = PHASE_RUNNING;
		d->deals = true;
		d->silent = false;
		/* For an original, nobody confirmed that the board is empty. */
		d->confirm &= d->capture;
		d->cause = DEALBOX_OPERATOR_NONE;
		d->asked = false;
		if (d->capture)
			d->original = d->copy.board;
		return;
	}
	make_void(d, did == DID_REFUSED ? DEALBOX_LEDGER_VOID : DEALBOX_LEDGER_UNKNOWN, 0,
		  did == DID_REFUSED ? DEALBOX_OPERATOR_USED : DEALBOX_OPERATOR_DOUBT);
	d->stale = true;
}

/* The phase ends only when the ledger has the record. */
static void did_record(struct engine *d, struct jobs *jobs, const struct step *step, enum did did)
{
	if (did == DID_LEDGER) {
		d->ledger = true;
		return;
	}
	d->phase = PHASE_NONE;
	if (did == DID_EXACT) {
		mark(jobs, &step->copy, DEALBOX_LEDGER_COPY_RECORDED);
		if (d->insertion == step->insertion)
			d->recorded = !d->capture;
		return;
	}
	mark(jobs, &step->copy, DEALBOX_LEDGER_COPY_OPEN);
	d->confirm = true;
	if (did == DID_DIFFERS)
		d->cause = DEALBOX_OPERATOR_DIFFERS;
}

void engine_did(struct engine *d, struct jobs *jobs, const struct step *step, enum did did)
{
	static const bool command[STEPS] = {
		[STEP_STATUS] = true, [STEP_PAUSE] = true, [STEP_RESUME] = true,
		[STEP_REREAD] = true, [STEP_ABORT] = true, [STEP_RELEASE] = true,
	};
	/* A refused release is an answer, and would be refused again. */
	bool done = did == DID_OK || (step->kind == STEP_RELEASE && did == DID_REFUSED);

	if (command[step->kind] && done) {
		if (step->kind != STEP_STATUS)
			d->failures = 0;
	} else if (command[step->kind]) {
		/* Its state may differ from what was assumed. */
		d->stale = true;
		d->asked = false;
		if (++d->failures == FAILURES) {
			d->failures = 0;
			engine_unplugged(d);
			return;
		}
	}
	/* First find out whether the machine answers at all. */
	if (did == DID_NO_ANSWER) {
		d->stale = true;
		/* Shown unless the machine is queried again at once. */
		d->shows = DEALBOX_OPERATOR_SILENT;
	}
	switch (step->kind) {
	case STEP_PLAN:
		d->phase = did == DID_OK ? PHASE_BEGIN : PHASE_NONE;
		d->refused = did != DID_OK;
		break;
	case STEP_BEGIN:
		did_begin(d, jobs, step, did);
		break;
	case STEP_START:
		did_start(d, did);
		break;
	case STEP_REREAD:
		if (did == DID_OK)
			d->phase = PHASE_RUNNING;
		break;
	case STEP_RELEASE:
		/* The board may still be locked: try again when the machine answers. */
		d->released = done;
		break;
	case STEP_CLEAR:
		/* There may be no fault any more. */
		d->stale = did != DID_OK;
		break;
	case STEP_JUDGE:
	case STEP_VOID:
		did_record(d, jobs, step, did);
		break;
	case STEP_ATTEST:
		d->signing = did == DID_OK ? SIGNING_ASKED : SIGNING_NOT;
		d->looks = 0;
		break;
	case STEP_SIGNED:
		d->signing = SIGNING_NOT;
		break;
	case STEP_UNDO:
		d->undo = did == DID_LEDGER;
		d->ledger |= d->undo;
		if (!d->undo)
			mark(jobs, &step->copy, DEALBOX_LEDGER_COPY_OPEN);
		break;
	default:
		break;
	}
}
