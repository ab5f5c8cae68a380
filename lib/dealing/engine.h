/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The engine: one machine, and what to do with it next. No I/O, no clock: whoever
 * runs it tells what has happened (events, what the operator pressed, what became
 * of the last step), asks for the next step until there is none, and does it.
 *
 * Rules that hold whatever happens, in any order (tests/unit/test_engine.c):
 *  1. One insertion is started at most once, and only after the ledger has it.
 *  2. A board is judged only after DEAL_DONE of its own insertion, without a gap or a stop; and
 *     when it is out, or no stop has come for a while. A stop that comes later, while it is
 *     there, undoes what was recorded.
 *  3. What is void or unknown is recorded as such, and its board must be taken out;
 *     the next one is not started before somebody has said that it is empty.
 *  4. The same copy is never at two machines.
 *  5. A fault is cleared only after somebody has moved the board, or has pressed start.
 */
#ifndef DEALING_ENGINE_H
#define DEALING_ENGINE_H

#include <dealbox/operator.h>

#include "job.h"

/* What is to be done now. */
enum step_kind {
	STEP_STATUS,	/* ask the machine how it stands: engine_status() */
	STEP_PLAN,	/* give the machine the plan of copy */
	STEP_BEGIN,	/* record the insertion in the ledger */
	STEP_START,
	STEP_PAUSE,
	STEP_RESUME,
	STEP_REREAD,
	STEP_ABORT,
	STEP_CLEAR,	/* the fault */
	STEP_RELEASE,	/* the board */
	STEP_JUDGE,	/* verify the trace, and record the verdict with it */
	STEP_VOID,	/* record that it did not end well: outcome, reason */
	STEP_UNDO,	/* record that the board is dealt again, for that reason, though it was exact */
	STEPS
};

struct step {
	enum step_kind kind;
	struct copy copy;
	uint32_t insertion;
	enum dealbox_ledger_outcome outcome;	/* STEP_VOID */
	unsigned int reason;			/* VOID, UNDO: DEALBOX_EV_*, 0 = none */
};

/* What became of a step. */
enum did {
	DID_OK,
	DID_REFUSED,	/* the machine said no */
	DID_NO_ANSWER,	/* nobody knows whether it did it */
	DID_USED,	/* STEP_BEGIN: the insertion is in the ledger already */
	DID_TAKEN,	/* STEP_BEGIN: the copy is not to be dealt; the job was read again */
	DID_REPEAT,	/* STEP_BEGIN: the deal was dealt for another session */
	DID_LEDGER,	/* BEGIN, JUDGE, VOID, UNDO: it could not be recorded */
	DID_EXACT,	/* STEP_JUDGE */
	DID_DIFFERS,	/* STEP_JUDGE */
	DIDS
};

/* What an operator presses, at the machine, the panel or a program. */
enum push {
	PUSH_START,	/* go on: deal, resume, read again, "I have done it" */
	PUSH_PAUSE,
	PUSH_STOP,	/* emergency */
	PUSH_RELEASE,	/* let the board go */
	PUSHES
};

enum phase {
	PHASE_NONE,
	PHASE_BEGIN,	/* the plan is loaded; to be recorded */
	PHASE_START,	/* recorded; to be started */
	PHASE_RUNNING,
	PHASE_PAUSED,
	PHASE_HELD,
	PHASE_SETTLE,	/* all cards have fallen; a stop may still come */
	PHASE_JUDGE,	/* the board is out, or no stop has come; to be judged and recorded */
	PHASE_VOID,	/* to be recorded as void */
};

struct engine {
	const char *id;		/* of the machine, as jobs name it; lives as long as the engine */
	/* the machine, as far as is known */
	bool plugged;
	bool stale;		/* ask for its status */
	bool lost;		/* and what it tells until then may have been so before */
	uint32_t capabilities;
	bool hopper, cover, doubt;
	bool deals;		/* it deals, is paused or is held */
	bool fault;
	bool moved;		/* .. and the board was taken out or put in since then */
	uint32_t insertion;	/* of the board that is there */
	unsigned int number;	/* of the board, as read; 0 = none */
	bool used;		/* this insertion was dealt, whatever became of it */
	bool recorded;		/* and it is exact, and in the ledger */
	unsigned int original;	/* this insertion was captured into: the number of that board */
	bool released;
	bool test;		/* a test deal runs, or is about to */
	bool seen;		/* this insertion was seen to come */
	bool silent;		/* nothing was heard of the deal for too long */
	bool asked;		/* ABORT, CLEAR, PAUSE or RESUME is under way */
	unsigned int failures;	/* of commands, in a row */

	/* the deal */
	enum phase phase;
	struct copy copy;	/* that is dealt, or that comes next */
	uint32_t dealt;		/* insertion of the deal */
	enum dealbox_ledger_outcome outcome;
	unsigned int reason;
	unsigned int held;	/* DEALBOX_EV_* */
	unsigned int cards;	/* of the plan; whoever loads it says so. 0 = not known */
	unsigned int stop_card;	/* at which it stopped last, from 1; 0 = none, as the others .. */
	unsigned int stop_place;	/* .. place of a jam .. */
	unsigned int stop_code;	/* .. code of the maker */
	bool capture;		/* it reads an original */
	bool settled;		/* PHASE_SETTLE: no stop has come for long enough */
	bool undo;		/* a stop came when the board had been recorded as exact */
	unsigned int reread;	/* position + 1 of the card that was read again by itself */

	/* the operator */
	bool start;		/* was pressed, and not used yet */
	bool pause;
	bool stop;
	enum dealbox_operator_state barred;	/* a lock outside of the machine: nothing is dealt */
	bool unknown;		/* nobody has said that this machine may have deals */
	bool release;
	bool confirm;		/* the next board must be said to be empty */
	unsigned int vouched;	/* the number that this board has, as somebody said: 0 = none */
	bool automatic;		/* this insertion may be started by itself */
	bool ledger;		/* could not be written */
	bool refused;		/* the machine refused the plan or the start */
	enum dealbox_operator_state holds;	/* why the card is held */
	enum dealbox_operator_state cause;	/* why the board must be emptied, or the fault */
	enum dealbox_operator_state shows;	/* what the operator sees */

	/* how long deals take, ns: the best of the averages, and the average */
	uint64_t begun, pace, best;
	unsigned int paced;

	const struct engine *next;
};

/* next: a list of the other engines, or NULL; it lives as long as this one. */
void engine_init(struct engine *engine, const char *id, const struct engine *next);
/* The machine is there; its status follows. */
void engine_plugged(struct engine *engine, const struct dealbox_info *info);
/*
 * Recall the last insertion of the ledger, which is exact. If its board is still there, a stop
 * undoes that, as it does for the program that recorded it. Call it after engine_plugged().
 */
void engine_recall(struct engine *engine, uint32_t insertion, const struct copy *copy);
void engine_unplugged(struct engine *engine);
/*
 * Is there anything that a lost event, or a machine that hangs, would hold up? Then it is looked at
 * now and then; a machine that has nothing to do is left in peace.
 */
bool engine_watched(const struct engine *engine, const struct jobs *jobs);
/* Look at the machine again. */
void engine_look(struct engine *engine);
/* Does it deal, so that an event is due? */
bool engine_moves(const struct engine *engine);
/* It has told nothing for longer than it may; the next event ends that. */
void engine_silent(struct engine *engine);
/*
 * Does the status tell of a board that came or went, of a deal that is over, or of a fault, of which
 * no event has told? That is on its way then: a status overtakes events.
 */
bool engine_news(const struct engine *engine, const struct dealbox_status *status);
/* What stands in the status, and no event has told, was not seen by us. */
void engine_status(struct engine *engine, const struct dealbox_status *status);
/* Every event of the machine, in order. False: it changed nothing here, as those of single cards. */
bool engine_event(struct engine *engine, const struct jobs *jobs,
		  const struct dealbox_event *event);
void engine_push(struct engine *engine, enum push push);
/* In PHASE_SETTLE: so long as a stop may take to come, none has. The machine is asked once more. */
void engine_settled(struct engine *engine);
/*
 * What lies outside of the machine lets nothing be dealt: DEALBOX_OPERATOR_STOPPED,
 * DEALBOX_OPERATOR_PANEL, DEALBOX_OPERATOR_COVER, DEALBOX_OPERATOR_SEATED; or
 * DEALBOX_OPERATOR_NONE. A deal that runs is paused, and goes on when somebody has pressed start
 * after the bar is gone. DEALBOX_OPERATOR_SEATED bars no more than the board that is there.
 */
void engine_bar(struct engine *engine, enum dealbox_operator_state why);
/*
 * May a test deal be made now? Then engine->test is to be set before it is started, and
 * taken back if it is refused.
 */
bool engine_may_test(const struct engine *engine);
/* Was it stopped while it deals? Then the next step is STEP_ABORT. */
bool engine_must_abort(const struct engine *engine);
/*
 * The next step, or false: then engine_state() says what the operator does. The step must be
 * done, and engine_did() be told, before anything else is told. What another of the engines that
 * begin with all deals is not dealt here.
 */
bool engine_next(struct engine *engine, struct jobs *jobs, const struct engine *all,
		 struct step *step);
/* A machine that fails three commands in a row is out of order, and unplugged for us. */
void engine_did(struct engine *engine, struct jobs *jobs, const struct step *step, enum did did);
/* What the operator sees now. Valid after engine_next(). */
enum dealbox_operator_state engine_state(const struct engine *engine);
/* .. and what that is about, but for what only a trace tells: seat and depth. */
void engine_facts(const struct engine *engine, struct dealbox_operator_facts *facts);
/* Has the machine become slower, by half of its best? */
bool engine_slow(const struct engine *engine);

#endif
