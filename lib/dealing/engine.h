/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The engine: decides the next step of one machine. No I/O, no clock. Its owner reports what
 * happens (events, the operator's keys, the result of the last step), asks for the next step until
 * there is none, and executes it.
 *
 * Invariants, for all sequences of events (tests/unit/test_engine.c): 1. An insertion is started at
 * most once, and only after it is recorded in the ledger. 2. A board is judged only after DEAL_DONE
 * of its own insertion, without a gap or a stop, and only when it is out, or no stop has followed
 * for DEALBOX_SETTLED_MS. A later stop, or event of a deal, while the board is in the machine,
 * undoes the record. 3. A void or unknown insertion is recorded as such, and its board must be
 * taken out. The next board is not started before an operator has confirmed that it is empty. 4. A
 * copy is never at two machines. 5. A fault is cleared only after an operator has moved the board
 * or pressed start.
 */
#ifndef DEALING_ENGINE_H
#define DEALING_ENGINE_H

#include <dealbox/operator.h>

#include "job.h"

/* The next step. */
enum step_kind {
	STEP_STATUS,	/* query the status, and call engine_status() */
	STEP_PLAN,	/* load the plan of copy */
	STEP_BEGIN,	/* record the insertion in the ledger */
	STEP_START,
	STEP_PAUSE,
	STEP_RESUME,
	STEP_REREAD,
	STEP_ABORT,
	STEP_CLEAR,	/* clear the fault */
	STEP_RELEASE,	/* unlock the board */
	STEP_JUDGE,	/* verify the trace, and record it with the verdict */
	STEP_VOID,	/* record another outcome: outcome, reason */
	STEP_UNDO,	/* record that an exact board is to be redealt: reason */
	STEP_ATTEST,	/* ask the machine to sign the deal */
	STEP_SIGNED,	/* fetch what it signed, and record it */
	STEPS
};

struct step {
	enum step_kind kind;
	struct copy copy;
	uint32_t insertion;
	enum dealbox_ledger_outcome outcome;	/* STEP_VOID */
	unsigned int reason;			/* STEP_VOID, STEP_UNDO: DEALBOX_EV_*, 0 = none */
};

/* The result of a step. */
enum did {
	DID_OK,
	DID_REFUSED,	/* the machine refused */
	DID_NO_ANSWER,	/* unknown: the machine did not answer */
	DID_USED,	/* STEP_BEGIN: the insertion is in the ledger already */
	DID_TAKEN,	/* STEP_BEGIN: the copy is not to be dealt; the job was reread */
	DID_REPEAT,	/* STEP_BEGIN: the deal was dealt for another session */
	DID_LEDGER,	/* BEGIN, JUDGE, VOID, UNDO: recording failed */
	DID_EXACT,	/* STEP_JUDGE */
	DID_DIFFERS,	/* STEP_JUDGE */
	DIDS
};

/* A key pressed by an operator, at the machine, the panel or in a program. */
enum push {
	PUSH_START,	/* deal, resume, reread, or "task done" */
	PUSH_PAUSE,
	PUSH_STOP,	/* emergency stop */
	PUSH_RELEASE,	/* unlock the board */
	PUSHES
};

/* Requests that an operator may make of a machine now, as bits. */
#define ENGINE_START	(1u << 0)	/* PUSH_START */
#define ENGINE_TAKE	(1u << 1)	/* engine_take() */
#define ENGINE_NUMBER	(1u << 2)	/* engine_number() */
#define ENGINE_SKIP	(1u << 3)	/* the copy that is asked for is skipped */
#define ENGINE_REDEAL (1u << 4) /* the copy that is in the machine, and recorded, is dealt again */
#define ENGINE_PAUSE	(1u << 5)	/* PUSH_PAUSE */
#define ENGINE_RESUME	(1u << 6)	/* the job, which is paused, is resumed */
#define ENGINE_RELEASE	(1u << 7)	/* PUSH_RELEASE */
#define ENGINE_ACCEPT	(1u << 8)	/* the machine, which is new, may deal */
#define ENGINE_TEST	(1u << 9)	/* engine_may_test() */

enum phase {
	PHASE_NONE,
	PHASE_BEGIN,	/* plan loaded; record the insertion */
	PHASE_START,	/* recorded; start the deal */
	PHASE_RUNNING,
	PHASE_PAUSED,
	PHASE_HELD,
	PHASE_SETTLE,	/* all cards have landed; a stop may still follow */
	PHASE_JUDGE,	/* the board is out, or no stop has followed; judge and record */
	PHASE_VOID,	/* record as void */
};

/* Whether the machine has signed the deal of PHASE_JUDGE. */
enum signing {
	SIGNING_NOT,		/* it cannot, or that is over */
	SIGNING_WANTED,
	SIGNING_ASKED,		/* ATTESTED is to come */
	SIGNING_DONE,		/* what it signed is to be fetched */
};

struct engine {
	const char *id;		/* of the machine; owned by the caller */
	/* known state of the machine */
	bool plugged;
	bool stale;		/* query its status */
	bool lost;		/* events were lost; those before the status may be old */
	uint32_t capabilities;
	bool by_hand;		/* a person deals, and takes his time; set by the owner */
	bool emulated;		/* a program plays it, and no card is dealt; set by the owner */
	bool hopper, cover, doubt;
	bool deals;		/* dealing, paused or held */
	bool fault;
	bool moved;		/* the board was moved since the fault */
	uint32_t insertion;	/* of the present board, 0 = none */
	unsigned int number;	/* of the board, as read; 0 = none */
	bool used;		/* this insertion was dealt, with any outcome */
	bool recorded;		/* this insertion is recorded as exact */
	unsigned int original;	/* capture: number of the board of this insertion */
	bool released;
	bool test;		/* a test deal is running or about to start */
	bool seen;		/* the start of this insertion was observed */
	bool silent;		/* no event of the deal for too long */
	bool asked;		/* ABORT, CLEAR, PAUSE or RESUME is pending */
	unsigned int failures;	/* consecutive failed commands */
	bool numbered;		/* machine_next is known, by a status */
	uint32_t machine_next;	/* machine_seq of its next event */

	/* the deal */
	enum phase phase;
	struct copy copy;	/* being dealt, or next */
	bool shuffled;		/* copy is dealt by a law: a shuffled pack, and no numbered board */
	uint32_t dealt;		/* insertion of the deal */
	enum dealbox_ledger_outcome outcome;
	unsigned int reason;
	unsigned int held;	/* DEALBOX_EV_* */
	unsigned int cards;	/* number of cards of the plan, set by the owner; 0 = unknown */
	unsigned int stop_card;	/* card of the last stop, from 1; 0 = none */
	unsigned int stop_place;	/* last stop: place of a jam, 0 = none */
	unsigned int stop_code;	/* last stop: maker's code, 0 = none */
	bool capture;		/* reads an original */
	bool settled;		/* PHASE_SETTLE: DEALBOX_SETTLED_MS without a stop */
	enum signing signing;
	unsigned int looks;	/* since SIGNING_ASKED */
	bool undo;		/* a stop followed after the board was recorded as exact */
	unsigned int reread;	/* position + 1 of the card that was reread automatically */

	/* the operator */
	bool start;		/* start was pressed, and is not used up */
	bool pause;
	bool stop;
	enum dealbox_operator_state barred;	/* reason of engine_bar() */
	bool unknown;		/* the machine is new and not accepted */
	bool release;
	bool confirm;		/* an operator must confirm that the next board is empty */
	unsigned int vouched;	/* board number confirmed by an operator, 0 = none */
	bool taken;		/* the present board is to be dealt instead of the expected one */
	bool automatic;		/* this insertion may be started automatically */
	bool ledger;		/* the ledger could not be written */
	bool refused;		/* the machine refused the plan or the start */
	enum dealbox_operator_state holds;	/* reason why the card is held */
	enum dealbox_operator_state cause;	/* the fault, or why the board must be emptied */
	enum dealbox_operator_state shows;	/* state shown to the operator */
	uint32_t shown;		/* insertion when it was */

	/* duration of deals in ns: the average (pace), and the best average (best) */
	uint64_t begun, pace, best;
	unsigned int paced;

	const struct engine *next;
};

/* next is a list of other engines, or NULL; it must live as long as this one. */
void engine_init(struct engine *engine, const char *id, const struct engine *next);
/* The machine was plugged in; its status follows. */
void engine_plugged(struct engine *engine, const struct dealbox_info *info);
/*
 * Recall the last insertion of the ledger, which is exact. If its board is still there, a stop
 * undoes that, as it does for the program that recorded it. options are those of its job, which may
 * not be among the jobs any more. Call it after engine_plugged().
 */
void engine_recall(struct engine *engine, uint32_t insertion, const struct copy *copy,
		   unsigned int options);
void engine_unplugged(struct engine *engine);
/*
 * Return true if a lost event or a hanging machine would delay work, so that the machine must be
 * checked regularly. Idle machines are not checked.
 */
bool engine_watched(const struct engine *engine, const struct jobs *jobs);
/* Request a check: the next step is STEP_STATUS. */
void engine_look(struct engine *engine);
/* Return true while the machine deals, so that an event is due. A person may take any time. */
bool engine_moves(const struct engine *engine);
/* The machine has sent no event for too long. The next event ends that state. */
void engine_silent(struct engine *engine);
/*
 * Return true if the status shows a change of board, the end of a deal, or a fault that no event
 * has announced, or counts an event that was not passed. Events may still be in flight then: a
 * status can overtake them.
 */
bool engine_news(const struct engine *engine, const struct dealbox_status *status);
/*
 * Process a status. State that no event announced changed while nobody was watching, and an event
 * that the status counts is lost if it was not passed.
 */
void engine_status(struct engine *engine, const struct dealbox_status *status);
/*
 * Process an event; pass all, in order. Returns false if it changed nothing, as for single cards.
 */
bool engine_event(struct engine *engine, const struct jobs *jobs,
		  const struct dealbox_event *event);
void engine_push(struct engine *engine, enum push push);
/*
 * In DEALBOX_OPERATOR_NUMBER_OTHER: deal the present board instead of the expected one. all is as
 * for engine_next(). Returns false if the state is another one, or if the job has no copy of that
 * board left.
 */
bool engine_take(struct engine *engine, const struct jobs *jobs, const struct engine *all);
/*
 * In DEALBOX_OPERATOR_NUMBER_UNREAD: an operator says which number the present board has. Returns
 * false as engine_take() does.
 */
bool engine_number(struct engine *engine, const struct jobs *jobs, const struct engine *all,
		   unsigned int board);
/* Return what an operator may ask for now: ENGINE_*. all is as for engine_next(). */
unsigned int engine_keys(const struct engine *engine, const struct jobs *jobs,
			 const struct engine *all);
/*
 * Find the copy that follows the present one, or the one that is asked for. Returns false if there
 * is none, or if the machine's reader decides.
 */
bool engine_following(const struct engine *engine, const struct jobs *jobs,
		      const struct engine *all, struct copy *following);
/* In PHASE_SETTLE: DEALBOX_SETTLED_MS have passed. Queries the status once more before judging. */
void engine_settled(struct engine *engine);
/*
 * Forbid dealing for a reason outside of the machine: DEALBOX_OPERATOR_STOPPED,
 * DEALBOX_OPERATOR_PANEL, DEALBOX_OPERATOR_COVER or DEALBOX_OPERATOR_SEATED; DEALBOX_OPERATOR_NONE
 * allows it. Pauses a running deal, which continues when start is pressed after the reason is gone.
 * DEALBOX_OPERATOR_SEATED only applies to the present board.
 */
void engine_bar(struct engine *engine, enum dealbox_operator_state why);
/*
 * Return true if a test deal can be made now, which goes into an empty board. Set engine->test
 * before starting it, and clear it if the machine refuses.
 */
bool engine_may_test(const struct engine *engine);
/* Return true after an emergency stop during a deal: the next step is STEP_ABORT. */
bool engine_must_abort(const struct engine *engine);
/*
 * Get the next step. Returns false if there is none; engine_state() then has the state for the
 * operator. Execute the step and call engine_did() before any other function. all is the list of
 * engines: copies that another one deals are not chosen.
 */
bool engine_next(struct engine *engine, struct jobs *jobs, const struct engine *all,
		 struct step *step);
/*
 * Report the result of a step. After three consecutive failures, the machine counts as unplugged.
 */
void engine_did(struct engine *engine, struct jobs *jobs, const struct step *step, enum did did);
/* Return the state that a stop leads to; DEALBOX_OPERATOR_NONE for other events. */
enum dealbox_operator_state engine_stop_state(uint32_t type);
/* Return the state for the operator. Valid after engine_next(). */
enum dealbox_operator_state engine_state(const struct engine *engine);
/* Get the facts of that state, except for seat and depth, which need the trace. */
void engine_facts(const struct engine *engine, struct dealbox_operator_facts *facts);
/* Return true if deals take half as long again as the machine's best average. */
bool engine_slow(const struct engine *engine);

#endif
