/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dealbox deal with a machine of its own: a set, dealt board by board and copy by copy.
 *
 * The rules (design: any doubt is void):
 *  - the journal says "started" on disk before the machine is told to start;
 *  - a board counts when its trace is complete and the verdict is "exact", and
 *    that is on disk before the next one is asked for;
 *  - everything else makes the board void: it must be taken out and emptied, and
 *    is dealt again under the number of its new insertion.
 */
#ifndef DEAL_RUN_H
#define DEAL_RUN_H

#include <stdio.h>
#include <time.h>

#include <dealbox/machine.h>
#include <dealbox/plan.h>
#include <dealbox/trace.h>
#include <dealbox/verify.h>

#include "deal.h"
#include "journal.h"
#include "ui/certifier.h"
#include "ui/tournament.h"

#define EVENTS_MAX	1024	/* as many as the kernel's queue holds */

#define EMPTY_IT	"take the board out, empty it, put all the cards into the hopper, " \
			"and put the board in again"

struct run {
	const struct deal_options *options;
	struct dealbox_machine *machine;
	struct dealbox_info info;
	const struct dealbox_set *set;
	struct journal journal;
	FILE *record;
	struct certifier *certifier;	/* NULL = nothing is certified */
	struct dealbox_square_session session;	/* that it is dealt for */
	int signal_fd;
	bool stdin_open;

	/* events that were read and not looked at yet */
	struct dealbox_event events[EVENTS_MAX];
	size_t event_first, event_count;

	struct item *item;		/* what is dealt now */
	struct dealbox_plan plan;	/* of plan_board */
	uint32_t plan_board;
	bool plan_loaded;		/* the machine has it */
	uint32_t used;			/* insertion that must not be dealt into (again) */
	bool empty_it;			/* .. because what lies in it is void */
	bool confirm;			/* the operator must say that the next board is empty */
	bool fault;			/* the machine stopped for good .. */
	bool fault_told;		/* .. and an event has told of it, or none came that could */
	bool acted;			/* .. and somebody has done something since then */
	bool lost;			/* STATE_LOST: next the machine tells of the board that is there */
	enum asks {
		ASKS_NOTHING,
		ASKS_FAULT,		/* has somebody seen to it? */
		ASKS_NUMBER,		/* is it the board that is expected? */
		ASKS_EMPTY,		/* is it empty? */
	} asks;				/* what a press of start or Enter answers */
	uint32_t asks_of;		/* insertion that the question is about */
	uint32_t vouched;		/* insertion that is the board that is expected, as he said */
	uint32_t emptied;		/* insertion whose board is empty, as he said */
	uint32_t released;		/* insertion whose board was let go */
	uint32_t removed;		/* insertion that was seen to end */
	uint32_t known;			/* insertion of the board that is there, until it is seen to go */
	bool overtaken;			/* .. and the machine says another, but no event has told why */
	unsigned int plan_failures;	/* of giving it to the machine, in a row */
	unsigned int refusals;		/* of START, in a row */
	unsigned int cards;		/* dealt in this insertion */
	char told[512];			/* to the operator, last */
	const char *stands;		/* the machine, when it was stopped in mid-deal */
	bool locked;			/* .. and it holds the board */

	unsigned int exact, voids;
	struct timespec begin;
};

/* How an attempt ends. */
enum end {
	END_EXACT,
	END_VOID,	/* deal it again */
	END_AGAIN,	/* nothing was dealt: try again */
	END_READY,	/* board_wait() only: a board is there */
	END_STOPPED,	/* by Ctrl-C */
	END_MACHINE,	/* it is gone or broken, which has been said */
	END_INPUT,	/* our side cannot go on, which has been said */
};

/* What there is to do next. */
enum wake {
	WAKE_EVENT,
	WAKE_GO,	/* the operator pressed Enter */
	WAKE_STOP,	/* Ctrl-C */
	WAKE_QUIET,	/* nothing, for as long as asked */
	WAKE_GONE,
};

/* ---- deal-run.c: what is told, what happens next, the plan ---- */
/* "board 3", or "board 3, copy 2" when there are copies. */
const char *item_name(const struct run *run, char text[48]);
double seconds_since(const struct timespec *begin);
void progress_show(const struct run *run);
/* Tells the operator what to do; once, until there is something else to tell. */
void tell(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The last call failed: says why. */
enum end machine_failed(const struct run *run);
enum wake next(struct run *run, struct dealbox_event *event, int timeout_ms);
bool start_key(const struct dealbox_event *event);
/* The plan of run->item. END_READY, or why not, which has been said. */
enum end plan_make(struct run *run);
/* Gives it to the machine. As plan_make(); END_AGAIN: the operator was asked to help. */
enum end plan_load(struct run *run);
/*
 * The deal shall not stay in the machine when the job is done. Refused by a machine in the
 * middle of a deal, which needs it; one that is gone has forgotten it.
 */
void plan_forget(struct run *run);

/* ---- deal-board.c ---- */
/* Waits for a board that can be dealt; its insertion. */
enum end board_wait(struct run *run, uint32_t *insertion);

/* ---- deal-insertion.c ---- */
/* Deals run->item into that insertion, and judges it. */
enum end insertion_deal(struct run *run, uint32_t insertion);
/* The machine has come to a fault: that is cleared when somebody has done something. */
void fault_seen(struct run *run);
/* The insertion of run->item is void: says so, and writes it down. */
enum end insertion_void(struct run *run, const struct dealbox_verdict *verdict,
			const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
