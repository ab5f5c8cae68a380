// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The engine with simulated machines, boards and operators, and with faults in any order. The tests
 * assert the rules that no restart, unplug or power cut may break, and that every state has a way
 * on for an operator who follows the instructions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dealing/engine.h"
#include "dealing/strv.h"
#include "ledger/job-options.h"

#define MACHINES	2
#define CARDS		5	/* of a deal: enough for a fault at every kind of place */
#define INSERTIONS	4096
#define BOARDS		4
#define STEPS_MAX	40	/* between two events */

struct entry {
	unsigned int machine;
	uint32_t number;
	struct copy copy;
	enum dealbox_ledger_outcome outcome;
	unsigned int starts;
	bool undone;
};

struct table;

/* A machine, the board in it, and its engine. */
struct place {
	struct table *table;
	unsigned int index;
	struct engine engine;
	struct dealbox_info info;

	bool plugged;
	bool cover, hopper;
	unsigned int state, fault;
	uint32_t insertion, last_insertion;
	bool present, spent, doubt;
	unsigned int label;		/* on the present board */
	unsigned int in_board;		/* number of cards in it */
	unsigned int cards;		/* of the deal */
	unsigned int position;
	uint32_t sent;			/* number of its last event */
	bool lost;			/* an event, before the next one */
	bool lost_in_deal;
	uint32_t done;			/* insertion whose DEAL_DONE was sent */
	bool spoiled;			/* .. and a stop after it */
	bool acted;			/* somebody did something since the fault */
	uint64_t clock;
};

struct table {
	uint32_t random;
	bool chaos;
	struct jobs jobs;
	struct place places[MACHINES];
	struct entry entries[INSERTIONS];
	unsigned int count;
	unsigned int recorded;
	bool seen[DEALBOX_OPERATOR_STATES];
};

static bool states_seen[DEALBOX_OPERATOR_STATES];
static const char *const ids[MACHINES] = { "SN0", "SN1" };

static uint32_t draw(struct table *t, uint32_t limit)
{
	t->random = t->random * 1664525u + 1013904223u;
	return (uint64_t)t->random * limit >> 32;
}

static bool percent(struct table *t, uint32_t percent)
{
	return t->chaos && draw(t, 100) < percent;
}

/* ---- the ledger, which outlives the daemon -------------------------------- */

static struct entry *entry_find(struct table *t, unsigned int machine, uint32_t number)
{
	unsigned int n;

	for (n = 0; n < t->count; n++)
		if (t->entries[n].machine == machine && t->entries[n].number == number)
			return &t->entries[n];
	return NULL;
}

static bool same(const struct copy *a, const struct copy *b)
{
	return a->job == b->job && a->board == b->board && a->copy == b->copy;
}

static enum did ledger_begin(struct place *p, const struct step *step)
{
	struct table *t = p->table;
	unsigned int n;

	if (percent(t, 3))
		return DID_LEDGER;
	if (entry_find(t, p->index, step->insertion))
		return DID_USED;
	if (!job_for(jobs_find(&t->jobs, step->copy.job), ids[p->index]))
		fail_msg("job %u is not for %s", (unsigned int)step->copy.job, ids[p->index]);
	for (n = 0; n < t->count; n++) {
		const struct entry *e = &t->entries[n];

		/* rule 4: never the same copy twice */
		if (same(&e->copy, &step->copy) &&
		    (e->outcome == DEALBOX_LEDGER_NONE ||
		     (e->outcome == DEALBOX_LEDGER_EXACT && !e->undone)))
			fail_msg("copy %u.%u again", step->copy.board, step->copy.copy);
	}
	assert_true(t->count < INSERTIONS);
	t->entries[t->count++] = (struct entry){ p->index, step->insertion, step->copy, 0, 0 };
	return DID_OK;
}

static enum did ledger_end(struct place *p, const struct step *step,
			   enum dealbox_ledger_outcome outcome)
{
	struct entry *e = entry_find(p->table, p->index, step->insertion);

	if (percent(p->table, 3))
		return DID_LEDGER;
	assert_non_null(e);
	assert_int_equal(e->outcome, DEALBOX_LEDGER_NONE);
	assert_true(same(&e->copy, &step->copy));
	e->outcome = outcome;
	return DID_OK;
}

/* ---- the machine ---------------------------------------------------------- */

static bool deals(const struct place *p)
{
	return p->state == DEALBOX_STATE_DEALING || p->state == DEALBOX_STATE_PAUSED ||
	       p->state == DEALBOX_STATE_HELD;
}

static void emit(struct place *p, struct dealbox_event e)
{
	e.timestamp_ns = p->clock += 1000;
	e.machine_seq = ++p->sent;
	if (percent(p->table, 1)) {
		p->lost = true;
		if (deals(p) || e.type == DEALBOX_EV_DEAL_DONE)
			p->lost_in_deal = true;
		return;
	}
	if (p->lost)
		e.flags |= DEALBOX_EVF_MACHINE_GAP;
	p->lost = false;
	if (p->engine.plugged)
		engine_event(&p->engine, &p->table->jobs, &e);
}

static void emit_type(struct place *p, uint32_t type)
{
	emit(p, (struct dealbox_event){ .type = type, .insertion = p->insertion,
					.position = p->position, .card = 3 });
}

static void plug(struct place *p)
{
	if (p->plugged)
		return;
	p->plugged = true;
	engine_plugged(&p->engine, &p->info);
	p->sent = 0;
	emit_type(p, DEALBOX_EV_STATE_LOST);
	if (p->present)
		emit(p, (struct dealbox_event){ .type = DEALBOX_EV_BOARD_INSERTED,
			.insertion = p->insertion,
			.flags = p->doubt ? DEALBOX_EVF_AT_POWER_ON : 0 });
}

static void unplug(struct place *p, bool power)
{
	p->plugged = false;
	engine_unplugged(&p->engine);
	p->state = DEALBOX_STATE_IDLE;
	p->lost = false;
	if (power && p->present) {
		p->insertion = ++p->last_insertion;
		p->spent = false;
		p->doubt = true;
	}
}

static void stop(struct place *p, unsigned int fault)
{
	p->state = DEALBOX_EV_IS_HELD(fault) ? DEALBOX_STATE_HELD : DEALBOX_STATE_FAULT;
	p->fault = fault;
	p->acted &= DEALBOX_EV_IS_HELD(fault);
	emit_type(p, fault);
}

static void insert(struct place *p, unsigned int label)
{
	if (p->present)
		return;
	p->acted = true;
	p->present = true;
	p->insertion = ++p->last_insertion;
	p->spent = p->doubt = false;
	p->label = label;
	emit(p, (struct dealbox_event){ .type = DEALBOX_EV_BOARD_INSERTED,
		.insertion = p->insertion,
		.arg = { p->info.capabilities & DEALBOX_CAP_BOARD_READER ? label : 0 } });
}

static void pull(struct place *p)
{
	if (!p->present)
		return;
	if (deals(p))
		stop(p, DEALBOX_EV_BOARD_PULLED);
	p->acted = true;
	emit_type(p, DEALBOX_EV_BOARD_REMOVED);
	p->present = false;
	p->insertion = 0;
	if (p->state == DEALBOX_STATE_DONE)
		p->state = DEALBOX_STATE_IDLE;
}

static void open_cover(struct place *p)
{
	if (p->cover)
		return;
	p->cover = true;
	emit_type(p, DEALBOX_EV_COVER_OPEN);
	if (deals(p))
		stop(p, DEALBOX_EV_COVER_OPENED);
}

static void close_cover(struct place *p)
{
	if (p->cover)
		emit_type(p, DEALBOX_EV_COVER_CLOSED);
	p->cover = false;
}

/* The next card. */
static void advance(struct place *p)
{
	static const uint16_t stops[] = {
		DEALBOX_EV_CARD_UNREADABLE, DEALBOX_EV_NOT_IN_PLAN, DEALBOX_EV_GATE_LATE,
		DEALBOX_EV_FEED_TIMEOUT, DEALBOX_EV_DECK_SHORT, 0x27, DEALBOX_EV_REPEATED_CARD,
		DEALBOX_EV_DOUBLE_FEED, DEALBOX_EV_JAM, DEALBOX_EV_WRONG_POCKET,
		DEALBOX_EV_HARDWARE, 0x3f
	};

	/* after the end: a card that fell late, or beside the pocket */
	if (p->state == DEALBOX_STATE_DONE && percent(p->table, 10)) {
		/* an event that comes while the ledger cannot be written may be lost for good */
		p->spoiled = p->engine.phase != PHASE_JUDGE;
		stop(p, DEALBOX_EV_REPEATED_CARD + draw(p->table, 7));
		return;
	}
	if (p->state != DEALBOX_STATE_DEALING)
		return;
	if (percent(p->table, 8)) {
		stop(p, stops[draw(p->table, sizeof(stops) / sizeof(stops[0]))]);
		return;
	}
	p->position++;
	p->in_board++;
	emit_type(p, DEALBOX_EV_CARD_LANDED);
	if (p->position < CARDS)
		return;
	p->state = DEALBOX_STATE_DONE;
	p->done = p->insertion;
	emit_type(p, DEALBOX_EV_DEAL_DONE);
}

static enum did start(struct place *p, const struct step *step)
{
	struct entry *e = entry_find(p->table, p->index, step->insertion);

	/* rule 1, before the machine can help */
	assert_non_null(e);
	assert_int_equal(e->outcome, DEALBOX_LEDGER_NONE);
	assert_int_equal(e->starts, 0);
	e->starts++;
	if (p->state != DEALBOX_STATE_IDLE || !p->present || p->insertion != step->insertion ||
	    p->spent || p->doubt || p->cover || !p->hopper || percent(p->table, 2))
		return DID_REFUSED;
	/* rule 3 */
	if (p->in_board)
		fail_msg("dealt into a board with cards");
	if (percent(p->table, 1))
		return DID_NO_ANSWER;
	p->spent = true;
	p->state = DEALBOX_STATE_DEALING;
	p->position = 0;
	p->lost_in_deal = false;
	p->spoiled = false;
	emit_type(p, DEALBOX_EV_DEAL_STARTED);
	return percent(p->table, 1) ? DID_NO_ANSWER : DID_OK;
}

/* Neither a card nor a motor moves while an obstacle bars it. */
static void check_bar(const struct place *p, enum step_kind kind)
{
	bool moves = kind == STEP_START || kind == STEP_RESUME || kind == STEP_REREAD;
	bool clears = kind == STEP_CLEAR && p->engine.barred != DEALBOX_OPERATOR_SEATED;

	if (p->engine.barred && (moves || clears))
		fail_msg("step %d while barred by %s", kind,
			 dealbox_operator_name(p->engine.barred));
}

static enum did command(struct place *p, const struct step *step)
{
	switch (step->kind) {
	case STEP_PAUSE:
		if (p->state != DEALBOX_STATE_DEALING)
			return DID_REFUSED;
		p->state = DEALBOX_STATE_PAUSED;
		emit_type(p, DEALBOX_EV_PAUSED);
		return DID_OK;
	case STEP_RESUME:
		if (p->state != DEALBOX_STATE_PAUSED || p->cover)
			return DID_REFUSED;
		p->state = DEALBOX_STATE_DEALING;
		emit_type(p, DEALBOX_EV_RESUMED);
		return DID_OK;
	case STEP_REREAD:
		if (p->state != DEALBOX_STATE_HELD || p->cover)
			return DID_REFUSED;
		p->state = DEALBOX_STATE_DEALING;
		return DID_OK;
	case STEP_ABORT:
		if (!deals(p))
			return DID_REFUSED;
		p->state = DEALBOX_STATE_IDLE;
		emit_type(p, DEALBOX_EV_ABORTED);
		return DID_OK;
	case STEP_CLEAR:
		/* rule 5 */
		assert_true(p->acted);
		if (p->state != DEALBOX_STATE_FAULT || p->cover || percent(p->table, 20))
			return DID_REFUSED;
		p->state = DEALBOX_STATE_IDLE;
		emit_type(p, DEALBOX_EV_FAULT_CLEARED);
		return DID_OK;
	default:
		return DID_OK;
	}
}

static enum did judge(struct place *p, const struct step *step)
{
	enum did did;

	/* rule 2 */
	assert_int_equal(p->done, step->insertion);
	assert_false(p->lost_in_deal);
	/* a lost last event shows in the status, or in the number of the next event */
	assert_false(p->spoiled);
	if (percent(p->table, 2))
		return ledger_end(p, step, DEALBOX_LEDGER_DIFFERS) == DID_OK ? DID_DIFFERS :
		       DID_LEDGER;
	did = ledger_end(p, step, DEALBOX_LEDGER_EXACT);
	if (did == DID_OK)
		p->table->recorded++;
	return did == DID_OK ? DID_EXACT : did;
}

/* A stop after the end of a deal that was recorded. */
static enum did undo(struct place *p, const struct step *step)
{
	struct entry *e = entry_find(p->table, p->index, step->insertion);

	if (percent(p->table, 3))
		return DID_LEDGER;
	assert_non_null(e);
	assert_int_equal(e->outcome, DEALBOX_LEDGER_EXACT);
	assert_false(e->undone);
	assert_true(same(&e->copy, &step->copy));
	e->undone = true;
	p->table->recorded--;
	return DID_OK;
}

static enum did perform(struct place *p, const struct step *step)
{
	struct dealbox_status status;

	check_bar(p, step->kind);
	switch (step->kind) {
	case STEP_BEGIN:
		return ledger_begin(p, step);
	case STEP_JUDGE:
		return judge(p, step);
	case STEP_VOID:
		assert_true(step->outcome == DEALBOX_LEDGER_VOID ||
			    step->outcome == DEALBOX_LEDGER_UNKNOWN);
		return ledger_end(p, step, step->outcome);
	case STEP_UNDO:
		return undo(p, step);
	default:
		break;
	}
	assert_true(p->plugged);
	if (percent(p->table, 1))
		return DID_NO_ANSWER;
	switch (step->kind) {
	case STEP_STATUS:
		status = (struct dealbox_status){
			.state = p->state, .fault = p->fault, .insertion = p->insertion,
			.machine_seq = p->sent + 1,
			.board = p->info.capabilities & DEALBOX_CAP_BOARD_READER ? p->label : 0,
			.flags = (p->present ? DEALBOX_STATUS_BOARD : 0) |
				 (p->cover ? DEALBOX_STATUS_COVER_OPEN : 0) |
				 (p->hopper ? DEALBOX_STATUS_HOPPER : 0) |
				 /* the machine may be wrong; the ledger decides */
				 (p->present && p->spent && !percent(p->table, 10) ?
				  DEALBOX_STATUS_SPENT : 0) |
				 (p->present && p->doubt ? DEALBOX_STATUS_IN_DOUBT : 0),
		};
		engine_status(&p->engine, &status);
		return DID_OK;
	case STEP_PLAN:
		return deals(p) || percent(p->table, 2) ? DID_REFUSED : DID_OK;
	case STEP_START:
		return start(p, step);
	default:
		return command(p, step);
	}
}

static void settle(struct table *t)
{
	struct step step;
	unsigned int n, steps;

	for (n = 0; n < MACHINES; n++) {
		struct place *p = &t->places[n];

		/* the clock */
		if (!t->chaos || !draw(t, 4))
			engine_settled(&p->engine);
		for (steps = 0; engine_next(&p->engine, &t->jobs, &t->places[0].engine, &step);
		     steps++) {
			if (steps == STEPS_MAX)
				fail_msg("step %d for ever, phase %d", step.kind, p->engine.phase);
			engine_did(&p->engine, &t->jobs, &step, perform(p, &step));
		}
		/* against the instructions: the cable is pulled, and plugged in later */
		if (!p->engine.plugged && p->plugged)
			unplug(p, true);
		states_seen[engine_state(&p->engine)] = true;
	}
	/* no two operators are told to put in the same board, nor one that is being dealt */
	if (t->places[0].engine.copy.board && t->places[1].engine.copy.job)
		assert_false(same(&t->places[0].engine.copy, &t->places[1].engine.copy) &&
			     (engine_state(&t->places[0].engine) == DEALBOX_OPERATOR_INSERT ||
			      engine_state(&t->places[1].engine) == DEALBOX_OPERATOR_INSERT));
}

/* ---- the operator --------------------------------------------------------- */

static void empty_and_pull(struct place *p)
{
	pull(p);
	p->in_board = 0;
}

/* Does exactly what the row of the table gives as the way on. */
static void obey(struct place *p)
{
	struct table *t = p->table;
	enum dealbox_operator_state state = engine_state(&p->engine);
	unsigned int ways = dealbox_operator_ways(state);
	struct job *job;

	/* with two ways on, he takes either */
	if (ways & DEALBOX_WAY_START && ways & DEALBOX_WAY_REMOVE && draw(t, 2))
		ways &= ~DEALBOX_WAY_START;

	/* removes all obstacles around the machine */
	engine_bar(&p->engine, DEALBOX_OPERATOR_NONE);
	if (ways & DEALBOX_WAY_PLUG)
		plug(p);
	if (ways & DEALBOX_WAY_COVER || state == DEALBOX_OPERATOR_JAM ||
	    state == DEALBOX_OPERATOR_COVER_OPENED)
		close_cover(p);
	if (ways & DEALBOX_WAY_HOPPER) {
		p->hopper = true;
		emit_type(p, DEALBOX_EV_HOPPER_LOADED);
	}
	if (ways & DEALBOX_WAY_JOB)
		for (job = t->jobs.first; job; job = job->next)
			if (job->state == DEALBOX_LEDGER_JOB_PAUSED)
				job->state = DEALBOX_LEDGER_JOB_OPEN;
	if (ways & DEALBOX_WAY_INSERT && !p->present)
		insert(p, percent(t, 10) ? 9 * draw(t, 2) :
			  state == DEALBOX_OPERATOR_INSERT ? p->engine.copy.board :
			  1 + draw(t, BOARDS));
	else if (state == DEALBOX_OPERATOR_CONFIRM && p->in_board)
		/* he looks into the board, as instructed */
		empty_and_pull(p);
	else if (ways & DEALBOX_WAY_REMOVE && p->present && !(ways & DEALBOX_WAY_START)) {
		/* forgetful: told to empty it, he puts it back as it is */
		if (percent(t, 15) && state != DEALBOX_OPERATOR_TAKE_OUT) {
			pull(p);
			insert(p, p->label);
		} else {
			empty_and_pull(p);
		}
	} else if (ways & (DEALBOX_WAY_REMOVE | DEALBOX_WAY_INSERT) && !p->present &&
		   !(ways & DEALBOX_WAY_START)) {
		insert(p, p->engine.copy.board ? p->engine.copy.board : 1 + draw(t, BOARDS));
	} else if (ways & DEALBOX_WAY_START) {
		/* without looking */
		p->acted = true;
		engine_push(&p->engine, PUSH_START);
	}
}

/* The board that is there may be the last one of the ledger. */
static void recall(struct place *p)
{
	const struct entry *last = NULL;
	unsigned int n;

	for (n = 0; n < p->table->count; n++)
		if (p->table->entries[n].machine == p->index)
			last = &p->table->entries[n];
	if (p->plugged && last && last->outcome == DEALBOX_LEDGER_EXACT && !last->undone)
		engine_recall(&p->engine, last->number, &last->copy, 0);
}

/* The daemon dies, and a new one reads the ledger. */
static void crash(struct table *t)
{
	unsigned int n, k;
	struct job *job;

	for (n = 0; n < t->count; n++) {
		struct entry *e = &t->entries[n];

		if (e->outcome == DEALBOX_LEDGER_NONE)
			e->outcome = DEALBOX_LEDGER_UNKNOWN;
	}
	for (job = t->jobs.first; job; job = job->next)
		for (k = 0; k < job->count; k++)
			for (n = 0; n < job->states[k].count; n++)
				job->states[k].state[n] = DEALBOX_LEDGER_COPY_OPEN;
	for (n = 0; n < MACHINES; n++) {
		struct place *p = &t->places[n];

		engine_init(&p->engine, ids[n], n + 1 < MACHINES ? &p[1].engine : NULL);
		if (p->plugged)
			engine_plugged(&p->engine, &p->info);
	}
	for (n = 0; n < t->count; n++) {
		const struct entry *e = &t->entries[n];

		/* after a board that was not exact, somebody must confirm that the next is empty */
		t->places[e->machine].engine.confirm =
			e->outcome != DEALBOX_LEDGER_EXACT || e->undone;
		if (e->outcome == DEALBOX_LEDGER_EXACT && !e->undone)
			job_set_state(jobs_find(&t->jobs, e->copy.job), e->copy.board,
				      e->copy.copy, DEALBOX_LEDGER_COPY_RECORDED);
	}
	for (n = 0; n < MACHINES; n++)
		recall(&t->places[n]);
}

static void meddle(struct table *t, struct place *p)
{
	struct job *job;

	static const enum dealbox_operator_state bars[] = {
		DEALBOX_OPERATOR_NONE, DEALBOX_OPERATOR_STOPPED, DEALBOX_OPERATOR_PANEL,
		DEALBOX_OPERATOR_COVER, DEALBOX_OPERATOR_SEATED
	};

	switch (draw(t, 15)) {
	case 0:
		engine_push(&p->engine, PUSH_PAUSE);
		break;
	case 1:
		engine_push(&p->engine, PUSH_STOP);
		break;
	case 2:
		engine_push(&p->engine, PUSH_RELEASE);
		break;
	case 3:
		unplug(p, draw(t, 2));
		break;
	case 4:
		open_cover(p);
		break;
	case 5:
		close_cover(p);
		break;
	case 6:
		p->hopper = false;
		emit_type(p, DEALBOX_EV_HOPPER_EMPTY);
		break;
	case 7:
		if (p->state == DEALBOX_STATE_DEALING) {
			p->state = DEALBOX_STATE_PAUSED;
			emit(p, (struct dealbox_event){ .type = DEALBOX_EV_PAUSED,
				.insertion = p->insertion, .code = DEALBOX_PAUSED_BY_KEY });
		}
		break;
	case 8:
		job = t->jobs.first;
		jobs_set_priority(&t->jobs, job, draw(t, 3));
		break;
	case 9:
		t->jobs.first->state = draw(t, 2) ? DEALBOX_LEDGER_JOB_PAUSED :
				       DEALBOX_LEDGER_JOB_OPEN;
		break;
	case 10:
		if (draw(t, 3) == 0)
			crash(t);
		break;
	case 11:
		/* a board pulled at any time, emptied or not */
		if (draw(t, 2))
			empty_and_pull(p);
		break;
	case 12:
		/* any event, possible or not; but no DEAL_DONE, which the verdict checks */
		emit_type(p, 0x16 + draw(t, 0x40));
		break;
	case 13:
		engine_bar(&p->engine, bars[draw(t, 5)]);
		break;
	default:
		if (!p->in_board) {
			p->acted = true;
			engine_push(&p->engine, PUSH_START);
		}
	}
}

static void table_make(struct table *t, uint32_t seed)
{
	static const unsigned int boards[] = { 1, 2, 3, 4 };
	static const unsigned int options[] = {
		0, DEALBOX_JOB_AUTO_START, DEALBOX_JOB_BY_READER, DEALBOX_JOB_STOP_CARD,
		DEALBOX_JOB_SETS | DEALBOX_JOB_AUTO_START, DEALBOX_JOB_DESCENDING
	};
	unsigned int n;

	memset(t, 0, sizeof(*t));
	t->random = seed * 2654435761u;
	jobs_add(&t->jobs, 1, 1, boards, BOARDS, 2, options[draw(t, 6)], 0);
	if (!draw(t, 4))
		job_add_machine(t->jobs.first, ids[draw(t, MACHINES)]);
	jobs_add(&t->jobs, 2, 1, boards, BOARDS, 1, options[draw(t, 6)], draw(t, 2));
	for (n = 0; n < MACHINES; n++) {
		struct place *p = &t->places[n];

		p->table = t;
		p->index = n;
		p->hopper = true;
		p->info.capabilities = DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_BY_CARD |
			(draw(t, 2) ? DEALBOX_CAP_BOARD_LOCK : 0) |
			(draw(t, 2) ? DEALBOX_CAP_BOARD_READER : 0);
		engine_init(&p->engine, ids[n], n + 1 < MACHINES ? &p[1].engine : NULL);
		plug(p);
	}
}

static bool table_done(const struct table *t)
{
	const struct job *job;

	for (job = t->jobs.first; job; job = job->next)
		if (!job_done(job))
			return false;
	return true;
}

static void run(uint32_t seed, unsigned int chaos)
{
	static struct table table;
	struct table *t = &table;
	unsigned int n, k, exact = 0;

	table_make(t, seed);
	t->chaos = true;
	for (n = 0; n < chaos; n++) {
		struct place *p = &t->places[draw(t, MACHINES)];

		settle(t);
		switch (draw(t, 8)) {
		case 0:
			meddle(t, p);
			break;
		case 1:
		case 2:
			obey(p);
			break;
		default:
			advance(p);
		}
	}
	/* no more faults: following the instructions now gets everything dealt */
	t->chaos = false;
	for (n = 0; n < 2000 && !table_done(t); n++) {
		for (k = 0; k < MACHINES; k++) {
			engine_look(&t->places[k].engine);
			settle(t);
			advance(&t->places[k]);
			settle(t);
			if (t->places[k].state != DEALBOX_STATE_DEALING)
				obey(&t->places[k]);
		}
	}
	for (k = 0; k < MACHINES; k++) {
		const struct place *p = &t->places[k];

		if (!table_done(t))
			print_message("# %s: phase %d, plugged %d%d, cover %d%d, fault %d state "
				      "%u, insertion %u %u, asked %d, start %d\n",
				      dealbox_operator_name(engine_state(&p->engine)),
				      p->engine.phase, p->plugged, p->engine.plugged, p->cover,
				      p->engine.cover, p->engine.fault, p->state, p->insertion,
				      p->engine.insertion, p->engine.asked, p->engine.start);
	}
	if (!table_done(t))
		fail_msg("seed %u: stuck", seed);
	/* every insertion that was begun has its verdict, and the ledger agrees with the boards */
	for (n = 0; n < t->count; n++) {
		assert_int_not_equal(t->entries[n].outcome, DEALBOX_LEDGER_NONE);
		exact += t->entries[n].outcome == DEALBOX_LEDGER_EXACT && !t->entries[n].undone;
	}
	assert_int_equal(exact, t->recorded);
	assert_int_equal(exact, 3 * BOARDS);
	jobs_free(&t->jobs);
}

/* The chaos must reach every state that an operator can meet at a machine. */
static void assert_states_seen(void)
{
	/* states of files, jobs and time, which have their own tests */
	static const enum dealbox_operator_state elsewhere[] = {
		DEALBOX_OPERATOR_SLOW, DEALBOX_OPERATOR_FACE_UP, DEALBOX_OPERATOR_PLACEHOLDER,
		DEALBOX_OPERATOR_REPEAT, DEALBOX_OPERATOR_BAD_SET, DEALBOX_OPERATOR_DECK_WRONG,
		DEALBOX_OPERATOR_CAPTURE, DEALBOX_OPERATOR_CAPTURED, DEALBOX_OPERATOR_UNSUITED,
		DEALBOX_OPERATOR_SILENT,
		DEALBOX_OPERATOR_REUSED, DEALBOX_OPERATOR_NEW, DEALBOX_OPERATOR_LEASE,
	};
	unsigned int k, n;

	for (k = 0; k < DEALBOX_OPERATOR_STATES; k++) {
		for (n = 0; n < sizeof(elsewhere) / sizeof(elsewhere[0]); n++)
			if (elsewhere[n] == k)
				break;
		if (n == sizeof(elsewhere) / sizeof(elsewhere[0]) && !states_seen[k])
			fail_msg("nobody met %s", dealbox_operator_name(k));
	}
}

static void test_anything_in_any_order(void **state)
{
	uint32_t seed;

	(void)state;
	for (seed = 1; seed <= 20000; seed++)
		run(seed, 50 + seed % 500);
	assert_states_seen();
}

/* ---- single cases --------------------------------------------------------- */

/* One machine in a quiet world, with a board in it and a deal that runs. */
static struct place *running(struct table *t, unsigned int options)
{
	static const unsigned int boards[] = { 1, 2 };
	struct place *p = &t->places[0];

	table_make(t, 1);
	jobs_free(&t->jobs);
	jobs_add(&t->jobs, 1, 1, boards, 2, 1, options, 0);
	p->info.capabilities = DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_BY_CARD;
	unplug(&t->places[1], false);
	unplug(p, false);
	plug(p);
	settle(t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_INSERT);
	insert(p, 0);
	settle(t);
	if (!(options & DEALBOX_JOB_AUTO_START)) {
		assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_START);
		engine_push(&p->engine, PUSH_START);
		settle(t);
	}
	assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	assert_int_equal(job_state(t->jobs.first, 1, 1), DEALBOX_LEDGER_COPY_DEALING);
	return p;
}

static void held(struct place *p, struct dealbox_event e)
{
	p->state = DEALBOX_STATE_HELD;
	e.insertion = p->insertion;
	emit(p, e);
	settle(p->table);
}

static void test_unreadable(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);
	const struct dealbox_event e = { .type = DEALBOX_EV_CARD_UNREADABLE, .position = 2 };

	(void)state;
	/* once automatically, then by the operator, and the deal continues */
	held(p, e);
	assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	held(p, e);
	assert_int_equal(p->state, DEALBOX_STATE_HELD);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_UNREADABLE);
	engine_push(&p->engine, PUSH_START);
	settle(&t);
	assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	/* face up: rereading is useless before somebody turns the card */
	held(p, (struct dealbox_event){ .type = DEALBOX_EV_CARD_UNREADABLE, .position = 3,
					.flags = DEALBOX_EVF_FACE_UP });
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_FACE_UP);
	jobs_free(&t.jobs);
}

static void test_stop_card(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_STOP_CARD);

	(void)state;
	held(p, (struct dealbox_event){ .type = DEALBOX_EV_CARD_UNREADABLE, .position = 0 });
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_STOP_CARD);
	engine_push(&p->engine, PUSH_START);
	settle(&t);
	assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	/* in the middle of a deal: the decks are not complete, and the board is void */
	held(p,
	     (struct dealbox_event){ .type = DEALBOX_EV_NOT_IN_PLAN, .position = 3, .card = 52 });
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_DECK_WRONG);
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	assert_int_equal(t.entries[0].outcome, DEALBOX_LEDGER_VOID);
	jobs_free(&t.jobs);
}

/* The operator's sentence names the place of this stop, and nothing about an earlier one. */
static void test_facts(void **state)
{
	static struct table t;
	struct place *p = running(&t, 0);
	struct dealbox_operator_facts facts;

	(void)state;
	p->engine.cards = 4;
	held(p, (struct dealbox_event){ .type = DEALBOX_EV_FEED_TIMEOUT, .position = 2 });
	engine_facts(&p->engine, &facts);
	assert_int_equal(facts.card, 3);
	assert_int_equal(facts.cards, 4);
	assert_int_equal(facts.board, 1);
	assert_int_equal(facts.copy, 1);
	assert_int_equal(facts.there, 0);
	engine_push(&p->engine, PUSH_START);
	settle(&t);
	emit(p, (struct dealbox_event){ .type = DEALBOX_EV_JAM, .position = 3, .code = 2 });
	p->state = DEALBOX_STATE_FAULT;
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_JAM);
	engine_facts(&p->engine, &facts);
	assert_int_equal(facts.card, 4);
	assert_int_equal(facts.place, 2);
	/* still shown when the board is out; the next fault is between deals, and has no card */
	pull(p);
	settle(&t);
	engine_facts(&p->engine, &facts);
	assert_int_equal(facts.place, 2);
	emit(p, (struct dealbox_event){
			.type = DEALBOX_EV_HARDWARE, .position = DEALBOX_NONE, .code = 77 });
	engine_facts(&p->engine, &facts);
	assert_int_equal(facts.card, 0);
	assert_int_equal(facts.place, 0);
	assert_int_equal(facts.code, 77);
	p->engine.number = 9;
	engine_facts(&p->engine, &facts);
	assert_int_equal(facts.there, 9);
	jobs_free(&t.jobs);
}

/* Cards are missing, and may lie in the board: adding cards does not make the deal good. */
static void test_deck_short(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);

	(void)state;
	advance(p);
	held(p, (struct dealbox_event){ .type = DEALBOX_EV_DECK_SHORT, .position = 1 });
	assert_int_equal(t.entries[0].outcome, DEALBOX_LEDGER_VOID);
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	emit_type(p, DEALBOX_EV_HOPPER_LOADED);
	engine_push(&p->engine, PUSH_START);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_DECK_SHORT);
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	jobs_free(&t.jobs);
}

/* A repeated card: the board is void, and somebody must confirm that it is empty. */
static void test_repeated(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);

	(void)state;
	advance(p);
	stop(p, DEALBOX_EV_REPEATED_CARD);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_REPEATED);
	assert_int_equal(t.entries[0].outcome, DEALBOX_LEDGER_VOID);
	pull(p);
	settle(&t);
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_REPEATED);
	p->in_board = 0;
	insert(p, 0);
	settle(&t);
	/* also if boards start automatically */
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_CONFIRM);
	engine_push(&p->engine, PUSH_START);
	settle(&t);
	assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	assert_int_equal(t.entries[1].copy.board, 1);
	jobs_free(&t.jobs);
}

/* Clearing a fault does not confirm that the board is empty, even if start is pressed twice. */
static void test_start_that_clears(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);
	struct step step;

	(void)state;
	advance(p);
	stop(p, DEALBOX_EV_REPEATED_CARD);
	settle(&t);
	pull(p);
	settle(&t);
	insert(p, 0);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_CONFIRM);
	stop(p, DEALBOX_EV_HARDWARE);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_HARDWARE);
	p->acted = true;
	engine_push(&p->engine, PUSH_START);
	assert_true(engine_next(&p->engine, &t.jobs, NULL, &step));
	assert_int_equal(step.kind, STEP_CLEAR);
	engine_did(&p->engine, &t.jobs, &step, DID_OK);
	engine_push(&p->engine, PUSH_START);
	p->state = DEALBOX_STATE_IDLE;
	emit_type(p, DEALBOX_EV_FAULT_CLEARED);
	settle(&t);
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_CONFIRM);
	jobs_free(&t.jobs);
}

/*
 * A board that is reported again, or that was removed before the fault, does not count as the
 * operator's action.
 */
static void test_news_that_is_old(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);
	const struct dealbox_event again = { .type = DEALBOX_EV_BOARD_INSERTED,
					     .insertion = p->insertion };
	const struct dealbox_event before = { .type = DEALBOX_EV_BOARD_REMOVED,
					      .insertion = p->insertion - 1 };
	const struct dealbox_event *const old[] = { &again, &before };
	unsigned int n;

	(void)state;
	for (n = 0; n < 2; n++) {
		stop(p, DEALBOX_EV_HARDWARE);
		settle(&t);
		emit_type(p, DEALBOX_EV_STATE_LOST);
		settle(&t);
		assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_HARDWARE);
		/* perform() asserts that the fault is not cleared */
		emit(p, *old[n]);
		settle(&t);
		assert_int_equal(p->state, DEALBOX_STATE_FAULT);
	}
	jobs_free(&t.jobs);
}

/* The operator does nothing: then nothing clears the fault, and nothing else is dealt. */
static void test_stop_behind_the_end(void **state)
{
	static struct table t;
	struct place *p;
	unsigned int recorded;

	(void)state;
	/* before the board is judged, or when it has been recorded */
	for (recorded = 0; recorded < 2; recorded++) {
		p = running(&t, DEALBOX_JOB_AUTO_START);
		while (p->state == DEALBOX_STATE_DEALING)
			advance(p);
		if (recorded) {
			settle(&t);
			assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_TAKE_OUT);
			assert_int_equal(t.recorded, 1);
		}
		p->spoiled = true;
		stop(p, DEALBOX_EV_WRONG_POCKET);
		settle(&t);
		assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_WRONG_POCKET);
		assert_int_equal(t.recorded, 0);
		assert_int_equal(t.entries[0].outcome,
				 recorded ? DEALBOX_LEDGER_EXACT : DEALBOX_LEDGER_VOID);
		assert_int_equal(t.entries[0].undone, recorded);
		engine_look(&p->engine);
		settle(&t);
		assert_int_equal(p->state, DEALBOX_STATE_FAULT);
		empty_and_pull(p);
		settle(&t);
		assert_int_equal(p->state, DEALBOX_STATE_IDLE);
		insert(p, 0);
		settle(&t);
		assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_CONFIRM);
		assert_int_equal(p->engine.copy.board, 1);
		jobs_free(&t.jobs);
	}
}

/* A removed board is judged at once, because no stop can follow. */
static void test_out_before_it_is_judged(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);
	struct step step;

	(void)state;
	while (p->state == DEALBOX_STATE_DEALING)
		advance(p);
	assert_false(engine_next(&p->engine, &t.jobs, NULL, &step));
	empty_and_pull(p);
	assert_true(engine_next(&p->engine, &t.jobs, NULL, &step));
	assert_int_equal(step.kind, STEP_JUDGE);
	jobs_free(&t.jobs);
}

/* The event of a stop is lost: the status is queried before the verdict. */
static void test_stop_that_was_lost(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);

	(void)state;
	while (p->state == DEALBOX_STATE_DEALING)
		advance(p);
	p->state = DEALBOX_STATE_FAULT;
	p->fault = DEALBOX_EV_WRONG_POCKET;
	p->acted = false;
	settle(&t);
	assert_int_equal(t.recorded, 0);
	assert_int_equal(t.entries[0].outcome, DEALBOX_LEDGER_UNKNOWN);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_WRONG_POCKET);
	jobs_free(&t.jobs);
}

/* Events before a loss of state will never come, so the board is in doubt. */
static void test_lost_state_before_the_verdict(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);

	(void)state;
	while (p->state == DEALBOX_STATE_DEALING)
		advance(p);
	/* its STATE_LOST has not come yet */
	p->state = DEALBOX_STATE_IDLE;
	p->spoiled = true;
	settle(&t);
	assert_int_equal(t.recorded, 0);
	assert_int_equal(t.entries[0].outcome, DEALBOX_LEDGER_UNKNOWN);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_DOUBT);
	jobs_free(&t.jobs);
}

/* A stop after the end, when the program that recorded the board has died. */
static void test_stop_for_another_program(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);

	(void)state;
	while (p->state == DEALBOX_STATE_DEALING)
		advance(p);
	settle(&t);
	assert_int_equal(t.recorded, 1);
	crash(&t);
	stop(p, DEALBOX_EV_WRONG_POCKET);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_WRONG_POCKET);
	assert_int_equal(t.recorded, 0);
	assert_true(t.entries[0].undone);
	/* without a stop, the record of the board still counts */
	jobs_free(&t.jobs);
	p = running(&t, DEALBOX_JOB_AUTO_START);
	while (p->state == DEALBOX_STATE_DEALING)
		advance(p);
	settle(&t);
	crash(&t);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_TAKE_OUT);
	assert_int_equal(t.recorded, 1);
	jobs_free(&t.jobs);
}

/* An insertion during a query of the status counts as seen. */
static void test_look_is_no_doubt(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);

	(void)state;
	while (p->state == DEALBOX_STATE_DEALING)
		advance(p);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_TAKE_OUT);
	empty_and_pull(p);
	settle(&t);
	engine_look(&p->engine);
	insert(p, 0);
	settle(&t);
	assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	jobs_free(&t.jobs);
}

/* Pause and abort end when the card past the gate has fallen; no status before repeats them. */
static void test_look_while_it_pauses(void **state)
{
	static const enum push pushes[] = { PUSH_PAUSE, PUSH_STOP };
	static const enum step_kind kinds[] = { STEP_PAUSE, STEP_ABORT };
	static struct table t;
	struct place *p;
	struct step step;
	unsigned int n;

	(void)state;
	for (n = 0; n < 2; n++) {
		p = running(&t, DEALBOX_JOB_AUTO_START);
		engine_push(&p->engine, pushes[n]);
		assert_true(engine_next(&p->engine, &t.jobs, NULL, &step));
		assert_int_equal(step.kind, kinds[n]);
		engine_did(&p->engine, &t.jobs, &step, DID_OK);
		engine_look(&p->engine);
		assert_true(engine_next(&p->engine, &t.jobs, NULL, &step));
		assert_int_equal(step.kind, STEP_STATUS);
		engine_did(&p->engine, &t.jobs, &step, perform(p, &step));
		assert_false(engine_next(&p->engine, &t.jobs, NULL, &step));
		jobs_free(&t.jobs);
	}
}

/* A status may overtake events, which then follow, unless events were lost. */
static void test_status_overtakes_events(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);
	const struct dealbox_event gap = { .type = DEALBOX_EV_CARD_ROUTED,
					   .flags = DEALBOX_EVF_GAP };
	const struct dealbox_event card = {
		.type = DEALBOX_EV_CARD_ROUTED, .insertion = p->engine.dealt,
	};
	struct dealbox_status status = {
		.state = DEALBOX_STATE_DEALING,
		.insertion = p->engine.dealt,
		.flags = DEALBOX_STATUS_BOARD,
	};

	(void)state;
	assert_false(engine_news(&p->engine, &status));
	status.state = DEALBOX_STATE_DONE;
	assert_true(engine_news(&p->engine, &status));
	status.state = DEALBOX_STATE_FAULT;
	assert_true(engine_news(&p->engine, &status));
	status.state = DEALBOX_STATE_DEALING;
	status.insertion++;
	assert_true(engine_news(&p->engine, &status));
	status.flags = 0;
	assert_true(engine_news(&p->engine, &status));
	/* a falling card changes nothing; lost events do */
	assert_false(engine_event(&p->engine, &t.jobs, &card));
	assert_true(engine_news(&p->engine, &status));
	assert_true(engine_event(&p->engine, &t.jobs, &gap));
	assert_false(engine_news(&p->engine, &status));
	jobs_free(&t.jobs);
	/* a fault without a deal, too: older information must not appear newer */
	p = running(&t, DEALBOX_JOB_AUTO_START);
	while (p->state == DEALBOX_STATE_DEALING)
		advance(p);
	settle(&t);
	status = (struct dealbox_status){
		.state = DEALBOX_STATE_FAULT,
		.insertion = p->insertion,
		.flags = DEALBOX_STATUS_BOARD,
	};
	assert_true(engine_news(&p->engine, &status));
	p->spoiled = true;
	stop(p, DEALBOX_EV_HARDWARE);
	assert_false(engine_news(&p->engine, &status));
	jobs_free(&t.jobs);
}

/* After any unanswered call, the status is queried. */
static void test_no_answer(void **state)
{
	static const enum step_kind kinds[] = {
		STEP_STATUS, STEP_PLAN, STEP_START, STEP_PAUSE, STEP_RESUME, STEP_REREAD,
		STEP_ABORT, STEP_CLEAR, STEP_RELEASE,
	};
	static struct table t;
	struct place *p;
	struct step step;
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++) {
		p = running(&t, DEALBOX_JOB_AUTO_START);
		step = (struct step){ .kind = kinds[n],
				      .copy = p->engine.copy,
				      .insertion = p->insertion };
		engine_did(&p->engine, &t.jobs, &step, DID_NO_ANSWER);
		assert_true(engine_next(&p->engine, &t.jobs, NULL, &step));
		assert_int_equal(step.kind, STEP_STATUS);
		jobs_free(&t.jobs);
	}
}

/* Aborts the first deal; its void board is emptied and taken out. */
static void settle_void(struct place *p)
{
	settle(p->table);
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	assert_int_equal(p->table->entries[0].outcome, DEALBOX_LEDGER_VOID);
	empty_and_pull(p);
}

/* A machine that nobody has accepted gets no plan; once accepted, it deals. */
static void test_machine_that_is_new(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);

	(void)state;
	engine_push(&p->engine, PUSH_STOP);
	settle_void(p);
	p->engine.unknown = true;
	engine_push(&p->engine, PUSH_START);
	insert(p, 0);
	settle(&t);
	engine_push(&p->engine, PUSH_START);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_NEW);
	assert_int_equal(p->engine.copy.job, 0);
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	p->engine.unknown = false;
	settle(&t);
	/* an earlier key press does not answer the current question */
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_CONFIRM);
	engine_push(&p->engine, PUSH_START);
	settle(&t);
	assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	jobs_free(&t.jobs);
}

static void test_emergency_stop(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);

	(void)state;
	engine_push(&p->engine, PUSH_STOP);
	settle_void(p);
	insert(p, 0);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_STOPPED);
	/* one press accepts the machine, another deals */
	engine_push(&p->engine, PUSH_START);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_CONFIRM);
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	jobs_free(&t.jobs);
}

/* Obstacles around the machine prevent dealing, and nothing continues automatically. */
static void test_bars(void **state)
{
	static const enum dealbox_operator_state bars[] = {
		DEALBOX_OPERATOR_STOPPED, DEALBOX_OPERATOR_PANEL, DEALBOX_OPERATOR_COVER,
		DEALBOX_OPERATOR_SEATED
	};
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);
	unsigned int n;

	(void)state;
	for (n = 0; n < 4; n++) {
		advance(p);
		engine_bar(&p->engine, bars[n]);
		settle(&t);
		assert_int_equal(p->state, DEALBOX_STATE_PAUSED);
		assert_int_equal(engine_state(&p->engine), bars[n]);
		engine_push(&p->engine, PUSH_START);
		settle(&t);
		assert_int_equal(p->state, DEALBOX_STATE_PAUSED);
		engine_bar(&p->engine, DEALBOX_OPERATOR_NONE);
		settle(&t);
		assert_int_equal(p->state, DEALBOX_STATE_PAUSED);
		assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_PAUSED);
		engine_push(&p->engine, PUSH_START);
		settle(&t);
		assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	}
	while (p->state == DEALBOX_STATE_DEALING)
		advance(p);
	settle(&t);
	empty_and_pull(p);
	/* the next board is not dealt before it is seated, and then automatically */
	engine_bar(&p->engine, DEALBOX_OPERATOR_SEATED);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_INSERT);
	insert(p, 0);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_SEATED);
	engine_bar(&p->engine, DEALBOX_OPERATOR_COVER);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_COVER);
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	engine_bar(&p->engine, DEALBOX_OPERATOR_NONE);
	settle(&t);
	assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	jobs_free(&t.jobs);
}

/* An obstacle that appears during START: the deal is paused as soon as it begins. */
static void test_barred_while_it_starts(void **state)
{
	static struct table t;
	struct place *p = running(&t, 0);
	struct step step;
	enum did did;

	(void)state;
	while (p->state == DEALBOX_STATE_DEALING)
		advance(p);
	settle(&t);
	empty_and_pull(p);
	settle(&t);
	insert(p, 0);
	settle(&t);
	engine_push(&p->engine, PUSH_START);
	do {
		assert_true(engine_next(&p->engine, &t.jobs, &p->engine, &step));
		did = perform(p, &step);
		if (step.kind == STEP_START)
			engine_bar(&p->engine, DEALBOX_OPERATOR_COVER);
		engine_did(&p->engine, &t.jobs, &step, did);
	} while (step.kind != STEP_START);
	assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	settle(&t);
	assert_int_equal(p->state, DEALBOX_STATE_PAUSED);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_COVER);
	jobs_free(&t.jobs);
}

/* The emergency stop whose button stays in. */
static void test_stop_held(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);

	(void)state;
	engine_push(&p->engine, PUSH_STOP);
	engine_bar(&p->engine, DEALBOX_OPERATOR_STOPPED);
	settle_void(p);
	insert(p, 0);
	engine_push(&p->engine, PUSH_START);
	engine_bar(&p->engine, DEALBOX_OPERATOR_NONE);
	settle(&t);
	/* start was pressed too early */
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_STOPPED);
	engine_push(&p->engine, PUSH_START);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_CONFIRM);
	jobs_free(&t.jobs);
}

/* One machine, a board in it, and the question whether to deal it; options are of two jobs. */
static struct place *asking(struct table *t, unsigned int capabilities, unsigned int options)
{
	static const unsigned int boards[] = { 1, 2 };
	struct place *p = &t->places[0];

	table_make(t, 1);
	jobs_free(&t->jobs);
	jobs_add(&t->jobs, 1, 1, boards, 2, 2, options, 0);
	jobs_add(&t->jobs, 2, 1, boards, 2, 2, options, 0);
	p->info.capabilities = DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_BY_CARD | capabilities;
	unplug(&t->places[1], false);
	unplug(p, false);
	plug(p);
	settle(t);
	insert(p, 1);
	settle(t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_START);
	return p;
}

/* Start was pressed for a copy, which somebody takes away before the engine's next step. */
static void test_start_for_another_copy(void **state)
{
	static const struct {
		unsigned int skipped;	/* copies of board 1 */
		bool paused;		/* the first job */
		unsigned int job, board, copy;
	} rows[] = {
		{ 1, false, 1, 1, 2 }, { 2, false, 1, 2, 1 }, { 0, true, 2, 1, 1 },
	};
	static struct table t;
	unsigned int n, copy;

	(void)state;
	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		struct place *p = asking(&t, 0, DEALBOX_JOB_SETS);
		struct job *job = jobs_find(&t.jobs, 1);

		engine_push(&p->engine, PUSH_START);
		for (copy = 1; copy <= rows[n].skipped; copy++)
			job_set_state(job, 1, copy, DEALBOX_LEDGER_COPY_SKIPPED);
		/* sets in a row: copy 2 comes after both boards */
		if (rows[n].board == 1 && rows[n].copy == 2)
			job_set_state(job, 2, 1, DEALBOX_LEDGER_COPY_SKIPPED);
		if (rows[n].paused)
			job->state = DEALBOX_LEDGER_JOB_PAUSED;
		settle(&t);
		assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_START);
		assert_int_equal(p->state, DEALBOX_STATE_IDLE);
		assert_int_equal(p->engine.copy.job, rows[n].job);
		assert_int_equal(p->engine.copy.board, rows[n].board);
		assert_int_equal(p->engine.copy.copy, rows[n].copy);
		engine_push(&p->engine, PUSH_START);
		settle(&t);
		assert_int_equal(p->state, DEALBOX_STATE_DEALING);
		assert_int_equal(t.entries[0].copy.job, rows[n].job);
		jobs_free(&t.jobs);
	}
}

/* Where the machine reads the number of the board, the job is what can change. */
static void test_start_for_another_job_by_reader(void **state)
{
	static struct table t;
	struct place *p = asking(&t, DEALBOX_CAP_BOARD_READER, DEALBOX_JOB_BY_READER);

	(void)state;
	engine_push(&p->engine, PUSH_START);
	jobs_find(&t.jobs, 1)->state = DEALBOX_LEDGER_JOB_PAUSED;
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_START);
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	assert_int_equal(p->engine.copy.job, 2);
	engine_push(&p->engine, PUSH_START);
	settle(&t);
	assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	jobs_free(&t.jobs);
}

static void test_cancelled_job(void **state)
{
	static struct table t;
	struct place *p = running(&t, 0);

	(void)state;
	t.jobs.first->state = DEALBOX_LEDGER_JOB_PAUSED;
	settle(&t);
	assert_int_equal(p->state, DEALBOX_STATE_PAUSED);
	t.jobs.first->state = DEALBOX_LEDGER_JOB_OPEN;
	settle(&t);
	assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	t.jobs.first->state = DEALBOX_LEDGER_JOB_CANCELLED;
	settle_void(p);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_NO_WORK);
	jobs_free(&t.jobs);
}

/* The deal of a job that is no longer in memory ends, even at a held card. */
static void test_job_that_is_gone(void **state)
{
	const struct step begin = { .kind = STEP_BEGIN, .copy = { 1, 1, 1 }, .insertion = 1 };
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_STOP_CARD);
	struct engine engine;
	struct step step;

	(void)state;
	jobs_free(&t.jobs);
	held(p, (struct dealbox_event){ .type = DEALBOX_EV_NOT_IN_PLAN, .position = 3, .card = 52,
					.flags = DEALBOX_EVF_FACE_UP });
	assert_int_equal(t.entries[0].outcome, DEALBOX_LEDGER_VOID);
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	empty_and_pull(p);
	settle(&t);
	insert(p, 0);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_NO_WORK);

	/* a copy that the ledger recalls has no effect, either */
	engine_init(&engine, "SN0", NULL);
	engine_plugged(&engine, &p->info);
	engine_did(&engine, &t.jobs, &begin, DID_REPEAT);
	engine_status(&engine, &(struct dealbox_status){ .state = DEALBOX_STATE_IDLE });
	assert_false(engine_next(&engine, &t.jobs, &engine, &step));
	assert_int_equal(engine_state(&engine), DEALBOX_OPERATOR_NO_WORK);
}

/* A job that names machines waits for them; other machines continue with the next job. */
static void test_kept_to_machines(void **state)
{
	static const unsigned int boards[] = { 1, 2 };
	static struct table t;
	struct place *first = &t.places[0], *second = &t.places[1];
	struct job *job;

	(void)state;
	table_make(&t, 1);
	jobs_free(&t.jobs);
	first->info.capabilities = second->info.capabilities =
		DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_BY_CARD;
	unplug(first, false);
	unplug(second, false);
	job = jobs_add(&t.jobs, 1, 1, boards, 2, 1, 0, 5);
	assert_int_equal(job_add_machine(job, "SN1"), 0);
	plug(first);
	settle(&t);
	assert_int_equal(engine_state(&first->engine), DEALBOX_OPERATOR_NO_WORK);
	jobs_add(&t.jobs, 2, 1, boards, 2, 1, 0, 0);
	plug(second);
	settle(&t);
	/* each machine gets its own job, whatever the order */
	assert_int_equal(first->engine.copy.job, 2);
	assert_int_equal(second->engine.copy.job, 1);
	/* when one more machine is named, that machine gets the job, too */
	assert_int_equal(job_add_machine(job, "SN0"), 0);
	settle(&t);
	assert_int_equal(first->engine.copy.job, 1);
	assert_int_equal(first->engine.copy.board, 2);
	assert_int_equal(second->engine.copy.job, 1);
	assert_int_equal(second->engine.copy.board, 1);
	/* when it is kept to the other one, a board that is in already is not dealt here */
	first->engine.start = false;
	insert(first, 0);
	settle(&t);
	assert_int_equal(first->engine.copy.job, 1);
	strv_free(job->machines);
	job->machines = NULL;
	assert_int_equal(job_add_machine(job, "SN1"), 0);
	settle(&t);
	assert_int_equal(first->engine.copy.job, 2);
	jobs_free(&t.jobs);
}

/* A capture goes pocket by pocket, each after start is pressed; its board is never dealt into. */
static void test_capture(void **state)
{
	static const unsigned int boards[] = { 7, 8 }, deals[] = { 1 };
	struct table t = { 0 };
	struct place *p = &t.places[0];
	unsigned int pocket;

	(void)state;
	table_make(&t, 1);
	jobs_free(&t.jobs);
	jobs_add(&t.jobs, 1, 0, boards, 2, 4, DEALBOX_JOB_CAPTURE, 1);
	jobs_add(&t.jobs, 2, 1, deals, 1, 1, DEALBOX_JOB_AUTO_START, 0);
	unplug(&t.places[1], false);
	unplug(p, false);
	p->info.capabilities = DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_BY_CARD;
	plug(p);
	settle(&t);
	/* without a reader that can capture it goes to the next job */
	assert_int_equal(p->engine.copy.job, 2);
	unplug(p, false);
	p->info.capabilities |= DEALBOX_CAP_CAPTURE;
	plug(p);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_CAPTURE);
	insert(p, 0);
	for (pocket = 1; pocket <= 4; pocket++) {
		settle(&t);
		assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_CAPTURE);
		assert_int_equal(p->engine.copy.copy, pocket);
		engine_push(&p->engine, PUSH_START);
		/* as a machine does: a capture does not spend the insertion */
		settle(&t);
		assert_int_equal(p->state, DEALBOX_STATE_DEALING);
		p->spent = false;
		while (p->state == DEALBOX_STATE_DEALING)
			advance(p);
		settle(&t);
		p->state = DEALBOX_STATE_IDLE;
		p->in_board = 0;
		/* the ledger may have several captures of one insertion */
		t.entries[t.count - 1].number = 1000 + pocket;
	}
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_CAPTURED);
	engine_push(&p->engine, PUSH_START);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_CAPTURED);
	/* it has cards: the next job, whose boards start automatically, does not use it */
	t.jobs.first->state = DEALBOX_LEDGER_JOB_PAUSED;
	settle(&t);
	assert_int_equal(p->engine.copy.job, 2);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_CAPTURED);
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	t.jobs.first->state = DEALBOX_LEDGER_JOB_OPEN;
	empty_and_pull(p);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_CAPTURE);
	assert_int_equal(p->engine.copy.board, 8);
	/* pause right after start: start must be pressed again */
	insert(p, 0);
	settle(&t);
	engine_push(&p->engine, PUSH_START);
	engine_push(&p->engine, PUSH_PAUSE);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_PAUSED);
	engine_push(&p->engine, PUSH_START);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_CAPTURE);
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	/* it may be the original again, with its cards */
	assert_false(engine_may_test(&p->engine));
	p->engine.confirm = false;
	/*
	 * a test deal, other than reading an original, uses the board; the machine may forget that
	 */
	assert_true(engine_may_test(&p->engine));
	p->engine.test = true;
	p->state = DEALBOX_STATE_DEALING;
	p->position = 0;
	emit_type(p, DEALBOX_EV_DEAL_STARTED);
	while (p->state == DEALBOX_STATE_DEALING)
		advance(p);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_USED);
	jobs_free(&t.jobs);
}

/* A test deal runs to its end, and its insertion is not dealt into again. */
static void test_test_deal(void **state)
{
	static const unsigned int boards[] = { 1 };
	struct table t = { 0 };
	struct place *p = &t.places[0];

	(void)state;
	table_make(&t, 1);
	jobs_free(&t.jobs);
	jobs_add(&t.jobs, 1, 1, boards, 1, 1, DEALBOX_JOB_AUTO_START, 0);
	t.jobs.first->state = DEALBOX_LEDGER_JOB_PAUSED;
	unplug(&t.places[1], false);
	settle(&t);
	assert_false(engine_may_test(&p->engine));
	insert(p, 0);
	settle(&t);
	assert_true(engine_may_test(&p->engine));
	p->engine.test = true;
	p->spent = true;
	p->state = DEALBOX_STATE_DEALING;
	emit_type(p, DEALBOX_EV_DEAL_STARTED);
	t.jobs.first->state = DEALBOX_LEDGER_JOB_OPEN;
	while (p->state == DEALBOX_STATE_DEALING) {
		settle(&t);
		assert_false(engine_may_test(&p->engine));
		advance(p);
	}
	assert_int_equal(p->state, DEALBOX_STATE_DONE);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_USED);
	assert_false(engine_may_test(&p->engine));
	jobs_free(&t.jobs);
}

/* A machine that only counts gets jobs by position, which never start automatically. */
static void test_by_position(void **state)
{
	static const unsigned int boards[] = { 1 };
	struct table t = { 0 };
	struct place *p = &t.places[0];

	(void)state;
	table_make(&t, 1);
	jobs_free(&t.jobs);
	jobs_add(&t.jobs, 1, 1, boards, 1, 1, 0, 1);
	unplug(&t.places[1], false);
	unplug(p, false);
	p->info.capabilities = DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_BY_POSITION;
	plug(p);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_UNSUITED);
	jobs_add(&t.jobs, 2, 1, boards, 1, 1, DEALBOX_JOB_BY_POSITION | DEALBOX_JOB_AUTO_START, 0);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_INSERT);
	insert(p, 0);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_START);
	engine_push(&p->engine, PUSH_START);
	settle(&t);
	assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	assert_int_equal(p->engine.copy.job, 2);
	jobs_free(&t.jobs);
}

/* Of a job of an event, only what is held is begun, and nothing when the lease has ended. */
static void test_lease(void **state)
{
	static const unsigned int boards[] = { 1, 2 };
	struct table t = { 0 };
	struct place *p = &t.places[0];
	struct step step;
	struct job *job;

	(void)state;
	table_make(&t, 1);
	jobs_free(&t.jobs);
	job = jobs_add(&t.jobs, 1, 1, boards, 2, 2, JOB_EVENT, 1);
	unplug(&t.places[1], false);
	settle(&t);
	/* the service has not heard of the event yet */
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_NO_WORK);
	job_hold(job, 2, 1, true);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_LEASE);
	job->leased = true;
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_INSERT);
	assert_int_equal(p->engine.copy.board, 2);
	insert(p, 2);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_START);
	/* it ends while the board waits */
	job->leased = false;
	engine_push(&p->engine, PUSH_START);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_LEASE);
	assert_int_not_equal(p->state, DEALBOX_STATE_DEALING);
	/* what was pressed then starts nothing later */
	job->leased = true;
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_START);
	/* it ends, or the copy is given back, while the plan is on its way */
	engine_push(&p->engine, PUSH_START);
	assert_true(engine_next(&p->engine, &t.jobs, &t.places[0].engine, &step));
	assert_int_equal(step.kind, STEP_PLAN);
	engine_did(&p->engine, &t.jobs, &step, DID_OK);
	job_hold(job, 2, 1, false);
	assert_false(engine_next(&p->engine, &t.jobs, &t.places[0].engine, &step));
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_NO_WORK);
	job_hold(job, 2, 1, true);
	/* a board that was begun is finished */
	settle(&t);
	engine_push(&p->engine, PUSH_START);
	settle(&t);
	assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	job->leased = false;
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_NONE);
	assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	jobs_free(&t.jobs);

	/* an emulated machine deals for a rehearsal only */
	t = (struct table){ 0 };
	table_make(&t, 1);
	jobs_free(&t.jobs);
	job = jobs_add(&t.jobs, 1, 1, boards, 2, 2, JOB_EVENT, 1);
	job->leased = true;
	job_hold(job, 1, 1, true);
	p->engine.emulated = true;
	unplug(&t.places[1], false);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_UNSUITED);
	job->rehearsal = true;
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_INSERT);
	jobs_free(&t.jobs);
}

/* No card for five seconds, or no answer: the operator sees it before the machine is given up. */
static void test_silent(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);
	struct step step;

	(void)state;
	assert_true(engine_moves(&p->engine));
	engine_silent(&p->engine);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_SILENT);
	emit_type(p, DEALBOX_EV_CARD_LANDED);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_NONE);

	engine_look(&p->engine);
	assert_true(engine_next(&p->engine, &t.jobs, &t.places[0].engine, &step));
	assert_int_equal(step.kind, STEP_STATUS);
	engine_did(&p->engine, &t.jobs, &step, DID_NO_ANSWER);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_SILENT);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_NONE);
	assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	jobs_free(&t.jobs);
}

/* Without DEAL_STARTED, no gate commands are sent to a host-routed machine. */
static void test_never_began(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);

	(void)state;
	p->engine.begun = 0;
	held(p, (struct dealbox_event){ .type = DEALBOX_EV_GATE_LATE, .position = 0 });
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	assert_int_equal(t.entries[0].outcome, DEALBOX_LEDGER_UNKNOWN);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_DOUBT);
	jobs_free(&t.jobs);
}

/* An insertion that was seen, with a number that is in the ledger. */
static void test_reused_number(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);

	(void)state;
	while (p->state != DEALBOX_STATE_DONE) {
		p->position++;
		if (p->position < CARDS)
			continue;
		p->state = DEALBOX_STATE_DONE;
		p->done = p->insertion;
		emit_type(p, DEALBOX_EV_DEAL_DONE);
	}
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_TAKE_OUT);
	empty_and_pull(p);
	settle(&t);
	p->last_insertion--;
	insert(p, 0);
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_REUSED);
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	jobs_free(&t.jobs);
}

/* A machine with a board reader, and an empty board whose number it cannot read. */
static struct place *unread(struct table *t, unsigned int options)
{
	struct place *p = running(t, options & DEALBOX_JOB_AUTO_START);
	static const unsigned int boards[] = { 1, 2 };

	t->jobs.first->state = DEALBOX_LEDGER_JOB_CANCELLED;
	settle(t);
	empty_and_pull(p);
	settle(t);
	jobs_free(&t->jobs);
	jobs_add(&t->jobs, 2, 1, boards, 2, 1, options, 0);
	p->info.capabilities |= DEALBOX_CAP_BOARD_READER;
	unplug(p, false);
	plug(p);
	settle(t);
	insert(p, 0);
	settle(t);
	/* after a void board, confirming that this one is empty comes second */
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_NUMBER_UNREAD);
	assert_int_equal(p->engine.copy.board, 1);
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	return p;
}

/* Only the operator knows whether it is the expected board. */
static void test_number_unread(void **state)
{
	static const unsigned int options[] = { DEALBOX_JOB_AUTO_START, DEALBOX_JOB_BY_READER };
	static struct table t;
	struct place *p;
	unsigned int n;

	(void)state;
	for (n = 0; n < 2; n++) {
		p = unread(&t, options[n]);
		engine_push(&p->engine, PUSH_START);
		settle(&t);
		if (engine_state(&p->engine) == DEALBOX_OPERATOR_CONFIRM) {
			engine_push(&p->engine, PUSH_START);
			settle(&t);
		}
		assert_int_equal(p->state, DEALBOX_STATE_DEALING);
		assert_int_equal(p->engine.copy.board, 1);
		jobs_free(&t.jobs);

		/* the operator confirmed board 1, not the board that is expected now */
		p = unread(&t, options[n]);
		engine_push(&p->engine, PUSH_START);
		job_set_state(t.jobs.first, 1, 1, DEALBOX_LEDGER_COPY_RECORDED);
		settle(&t);
		assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_NUMBER_UNREAD);
		assert_int_equal(p->engine.copy.board, 2);
		assert_int_equal(p->state, DEALBOX_STATE_IDLE);
		jobs_free(&t.jobs);

		/* nor of another board */
		p = unread(&t, options[n]);
		engine_push(&p->engine, PUSH_START);
		pull(p);
		insert(p, 0);
		settle(&t);
		assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_NUMBER_UNREAD);
		jobs_free(&t.jobs);
	}
}

/*
 * The board that is in, or the number that somebody has typed: of this insertion and this job only.
 */
static void test_board_is_chosen(void **state)
{
	static struct table t;
	struct place *p = unread(&t, DEALBOX_JOB_AUTO_START);
	struct engine *d = &p->engine;
	struct copy next;

	(void)state;
	assert_int_equal(engine_keys(d, &t.jobs, d) &
				 (ENGINE_TAKE | ENGINE_NUMBER | ENGINE_SKIP | ENGINE_START),
			 ENGINE_NUMBER | ENGINE_SKIP | ENGINE_START);
	assert_true(engine_following(d, &t.jobs, d, &next));
	assert_int_equal(next.board, 2);
	assert_false(engine_take(d, &t.jobs, d));
	assert_false(engine_number(d, &t.jobs, d, 3));
	assert_false(engine_number(d, &t.jobs, d, 0));
	/* no answer to a question about an earlier board */
	d->shown++;
	assert_false(engine_number(d, &t.jobs, d, 2));
	d->shown--;
	assert_true(engine_number(d, &t.jobs, d, 2));
	settle(&t);
	if (engine_state(d) == DEALBOX_OPERATOR_CONFIRM) {
		assert_false(engine_number(d, &t.jobs, d, 1));
		engine_push(d, PUSH_START);
		settle(&t);
	}
	assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	assert_int_equal(d->copy.board, 2);
	assert_true(engine_keys(d, &t.jobs, d) & ENGINE_PAUSE);
	t.jobs.first->state = DEALBOX_LEDGER_JOB_PAUSED;
	assert_int_equal(engine_keys(d, &t.jobs, d) & (ENGINE_PAUSE | ENGINE_RESUME),
			 ENGINE_RESUME);
	jobs_free(&t.jobs);

	/* another board than the expected one */
	p = unread(&t, DEALBOX_JOB_AUTO_START);
	d = &p->engine;
	pull(p);
	settle(&t);
	d->confirm = false;
	insert(p, 2);
	settle(&t);
	assert_int_equal(engine_state(d), DEALBOX_OPERATOR_NUMBER_OTHER);
	assert_true(engine_keys(d, &t.jobs, d) & ENGINE_TAKE);
	assert_false(engine_number(d, &t.jobs, d, 2));
	/* while dealing is forbidden, nothing is promised */
	engine_bar(d, DEALBOX_OPERATOR_COVER);
	assert_false(engine_keys(d, &t.jobs, d) & ENGINE_TAKE);
	assert_false(engine_take(d, &t.jobs, d));
	engine_bar(d, DEALBOX_OPERATOR_NONE);
	assert_true(engine_take(d, &t.jobs, d));
	/* it is skipped meanwhile: then nothing is dealt */
	job_set_state(t.jobs.first, 2, 1, DEALBOX_LEDGER_COPY_SKIPPED);
	settle(&t);
	assert_int_equal(engine_state(d), DEALBOX_OPERATOR_NUMBER_OTHER);
	assert_false(engine_keys(d, &t.jobs, d) & ENGINE_TAKE);
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	job_set_state(t.jobs.first, 2, 1, DEALBOX_LEDGER_COPY_OPEN);
	settle(&t);
	assert_true(engine_take(d, &t.jobs, d));
	settle(&t);
	assert_int_equal(p->state, DEALBOX_STATE_DEALING);
	assert_int_equal(d->copy.board, 2);
	jobs_free(&t.jobs);

	/* nothing said of one board holds for the next one */
	p = unread(&t, 0);
	d = &p->engine;
	pull(p);
	settle(&t);
	insert(p, 2);
	settle(&t);
	assert_true(engine_take(d, &t.jobs, d));
	pull(p);
	insert(p, 2);
	settle(&t);
	assert_int_equal(engine_state(d), DEALBOX_OPERATOR_NUMBER_OTHER);
	unplug(p, false);
	settle(&t);
	assert_int_equal(engine_keys(d, &t.jobs, d), 0);
	jobs_free(&t.jobs);

	/* a board that could have cards is confirmed first */
	p = unread(&t, DEALBOX_JOB_AUTO_START);
	d = &p->engine;
	pull(p);
	settle(&t);
	d->confirm = true;
	insert(p, 2);
	settle(&t);
	assert_true(engine_take(d, &t.jobs, d));
	settle(&t);
	assert_int_equal(engine_state(d), DEALBOX_OPERATOR_CONFIRM);
	assert_int_equal(d->copy.board, 2);
	assert_int_equal(p->state, DEALBOX_STATE_IDLE);
	jobs_free(&t.jobs);

	/* the reader decides what follows */
	p = unread(&t, DEALBOX_JOB_BY_READER);
	assert_false(engine_following(&p->engine, &t.jobs, &p->engine, &next));
	jobs_free(&t.jobs);
	assert_false(engine_following(&p->engine, &t.jobs, &p->engine, &next));
}

/* A board is released unless it is being dealt, or is to be dealt. */
static void test_lock(void **state)
{
	static struct table t;
	struct place *p = running(&t, DEALBOX_JOB_AUTO_START);

	(void)state;
	t.jobs.first->state = DEALBOX_LEDGER_JOB_PAUSED;
	settle(&t);
	assert_int_equal(p->state, DEALBOX_STATE_PAUSED);
	assert_false(p->engine.released);
	jobs_free(&t.jobs);

	p = unread(&t, DEALBOX_JOB_AUTO_START);
	p->engine.capabilities |= DEALBOX_CAP_BOARD_LOCK;
	assert_false(p->engine.released);
	t.jobs.first->state = DEALBOX_LEDGER_JOB_PAUSED;
	settle(&t);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_NO_WORK);
	assert_true(p->engine.released);
	jobs_free(&t.jobs);

	/* a void board is released during the fault, because taking it out ends the fault */
	p = running(&t, DEALBOX_JOB_AUTO_START);
	p->engine.capabilities |= DEALBOX_CAP_BOARD_LOCK;
	p->spoiled = true;
	stop(p, DEALBOX_EV_REPEATED_CARD);
	settle(&t);
	assert_true(p->engine.fault);
	assert_int_equal(engine_state(&p->engine), DEALBOX_OPERATOR_REPEATED);
	assert_true(p->engine.released);
	jobs_free(&t.jobs);
}

/* A state is shown until the next step, for which a machine that does not answer has to wait. */
static void test_shown_until_next(void **state)
{
	const struct dealbox_event out = { .type = DEALBOX_EV_BOARD_REMOVED, .insertion = 1 };
	const struct dealbox_event in = { .type = DEALBOX_EV_BOARD_INSERTED, .insertion = 2 };
	struct jobs jobs = { 0 };
	struct engine engine;

	(void)state;
	engine_init(&engine, "SN1", NULL);
	engine.plugged = true;
	engine.insertion = engine.shown = 1;
	engine.shows = DEALBOX_OPERATOR_SILENT;
	engine_event(&engine, &jobs, &out);
	assert_int_equal(engine_state(&engine), DEALBOX_OPERATOR_SILENT);
	engine_event(&engine, &jobs, &in);
	assert_int_equal(engine_state(&engine), DEALBOX_OPERATOR_SILENT);
}

/* Measures deals of equal duration, in ns. */
static void deal_for(struct engine *engine, uint64_t *now, unsigned int deals, int64_t takes)
{
	struct jobs jobs = { 0 };
	struct dealbox_event e = { .insertion = 1 };

	while (deals--) {
		engine->phase = PHASE_RUNNING;
		engine->begun = 0;
		engine->dealt = 1;
		e.type = DEALBOX_EV_DEAL_STARTED;
		e.timestamp_ns = *now += 1000000;
		engine_event(engine, &jobs, &e);
		e.type = DEALBOX_EV_DEAL_DONE;
		e.timestamp_ns = *now += takes;
		engine_event(engine, &jobs, &e);
	}
}

/* An average of deals that is half longer than the best average of twenty. */
static void test_slow(void **state)
{
	static const int64_t second = 1000000000;
	static const struct {
		struct {
			unsigned int count;
			int64_t takes;
		} deals[3];
		bool slow;
	} rows[] = {
		{ { { 30, 6 * second }, { 30, 10 * second } }, true },
		/* too few deals for an average */
		{ { { 18, 6 * second }, { 1, 60 * second } }, false },
		{ { { 1, second }, { 60, 6 * second } }, false },
		/* one that takes 24 s more makes the average 3 s longer */
		{ { { 20, 6 * second }, { 1, 30 * second } }, false },
		{ { { 20, 6 * second }, { 1, 30 * second + 8 } }, true },
		/* slow at first, then fast: compared with the best average */
		{ { { 20, 12 * second }, { 100, 6 * second }, { 40, 10 * second } }, true },
		{ { { 20, 6 * second }, { 30, 8 * second }, { 60, 11 * second } }, true },
		/* a clock that goes back, or stands still, does not count */
		{ { { 20, 6 * second }, { 1, -second } }, false },
		{ { { 20, 6 * second }, { 10, 0 }, { 3, 6 * second } }, false },
	};
	static struct table t;
	struct place *p = running(&t, 0);
	struct engine engine;
	uint64_t now;
	size_t n, k;

	(void)state;
	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		engine_init(&engine, "SN1", NULL);
		now = second;
		for (k = 0; k < 3; k++)
			deal_for(&engine, &now, rows[n].deals[k].count, rows[n].deals[k].takes);
		if (engine_slow(&engine) != rows[n].slow)
			fail_msg("row %zu", n);
		/* the operator sees it during the next deal */
		p->engine.best = engine.best;
		p->engine.pace = engine.pace;
		settle(&t);
		assert_int_equal(engine_state(&p->engine),
				 rows[n].slow ? DEALBOX_OPERATOR_SLOW : DEALBOX_OPERATOR_NONE);
	}
	jobs_free(&t.jobs);
}

/* A machine is polled while it works, or has work to do; otherwise not. */
static void test_watched(void **state)
{
	const struct dealbox_info info = { .capabilities = DEALBOX_CAP_BY_CARD };
	struct jobs none = { 0 }, jobs = { 0 };
	unsigned int board = 1;
	struct engine engine;

	(void)state;
	assert_non_null(jobs_add(&jobs, 1, 1, &board, 1, 1, 0, 0));
	engine_init(&engine, "SN1", NULL);
	assert_false(engine_watched(&engine, &jobs));
	engine_plugged(&engine, &info);
	assert_true(engine_watched(&engine, &jobs));
	assert_false(engine_watched(&engine, &none));
	engine.phase = PHASE_RUNNING;
	assert_true(engine_watched(&engine, &none));
	engine.phase = PHASE_NONE;
	engine.deals = true;
	assert_true(engine_watched(&engine, &none));
	engine.deals = false;
	engine.fault = true;
	assert_true(engine_watched(&engine, &none));
	engine_unplugged(&engine);
	assert_false(engine_watched(&engine, &jobs));
	jobs_free(&jobs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_stop_card),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_deck_short),
		cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_start_that_clears),
		cmocka_unit_test(test_news_that_is_old),
		cmocka_unit_test(test_stop_behind_the_end),
		cmocka_unit_test(test_out_before_it_is_judged),
		cmocka_unit_test(test_stop_that_was_lost),
		cmocka_unit_test(test_lost_state_before_the_verdict),
		cmocka_unit_test(test_stop_for_another_program),
		cmocka_unit_test(test_look_is_no_doubt),
		cmocka_unit_test(test_look_while_it_pauses),
		cmocka_unit_test(test_status_overtakes_events),
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_machine_that_is_new),
		cmocka_unit_test(test_emergency_stop),
		cmocka_unit_test(test_bars),
		cmocka_unit_test(test_barred_while_it_starts),
		cmocka_unit_test(test_stop_held),
		cmocka_unit_test(test_start_for_another_copy),
		cmocka_unit_test(test_start_for_another_job_by_reader),
		cmocka_unit_test(test_cancelled_job),
		cmocka_unit_test(test_job_that_is_gone),
		cmocka_unit_test(test_kept_to_machines),
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_by_position),
		cmocka_unit_test(test_test_deal),
		cmocka_unit_test(test_lease),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_never_began),
		cmocka_unit_test(test_reused_number),
		cmocka_unit_test(test_number_unread),
		cmocka_unit_test(test_board_is_chosen),
		cmocka_unit_test(test_lock),
		cmocka_unit_test(test_shown_until_next),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_watched),
		cmocka_unit_test(test_anything_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
