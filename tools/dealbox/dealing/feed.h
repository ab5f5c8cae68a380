/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One feeding: a plan that is not a deal of a set, carried out once. For packs dealt by position.
 */
#ifndef FEED_H
#define FEED_H

#include <dealbox/machine.h>
#include <dealbox/trace.h>

#include "ui/tool.h"

struct feed {
	struct dealbox_machine *machine;
	int signal_fd;
	uint32_t capabilities;
	bool json;
	bool fault;		/* the machine stopped for good .. */
	bool fault_told;	/* .. and an event has told of it, or none came that could */
	bool acted;		/* .. and somebody has done something since then */
	bool doubt;		/* a board was void or spent, and it may come back with its cards */
	uint32_t seen;		/* insertion of the last board that was seen to come */
	bool asked;		/* whether the board is empty .. */
	uint32_t offered;	/* .. of this insertion */
	uint32_t empty;		/* insertion of the board that is empty, as somebody has said */
	bool deaf;		/* standard input has ended: nobody presses Enter */
	bool lost;		/* STATE_LOST: next the machine tells of the board that is there */
	unsigned int cards;	/* of the plan */
	char told[512];		/* to the operator, last */
};

/*
 * Opens the machine at uri (NULL: the only one) and claims it; what is wrong has been said. feed_close() in
 * any case.
 */
enum status feed_open(struct feed *feed, const char *uri, uint32_t capability, const char *lacks);
void feed_close(struct feed *feed);

/*
 * Waits until a board and cards are there (a board that was not dealt into; if it may have cards,
 * until somebody has said that it is empty), deals by the plan, and gives the trace of it, whatever
 * became of it: free it with dealbox_trace_free(). What the operator must do is told, beginning with
 * what. Cards that are missing from the hopper end it. STATUS_DONE; or STATUS_MACHINE, or STATUS_NO
 * after Ctrl-C, and said.
 */
enum status feed_run(struct feed *feed, struct dealbox_plan *plan, const char *what,
		     struct dealbox_trace **out);

#endif
