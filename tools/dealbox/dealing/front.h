/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine without the service: a job of a ledger is dealt by the library's engine, and here the
 * operator is told what to do. Enter is the start key; Ctrl-C pauses and leaves, or gives the job up.
 */
#ifndef FRONT_H
#define FRONT_H

#include <time.h>

#include <dealbox/dealing.h>

#include "ui/tool.h"

enum front_end {
	FRONT_DONE,	/* nothing is left to be dealt */
	FRONT_STOPPED,	/* by Ctrl-C */
	FRONT_FAILED,	/* our side cannot go on, which has been said */
	FRONT_MACHINE,	/* the machine cannot be used, which has been said */
};

/* Zeros, and what the caller sets. */
struct front {
	/* the caller's */
	struct dealbox_ledger *ledger;	/* open for writing */
	struct dealbox_ledger *reader;	/* .. and for reading */
	const char *uri;		/* NULL: the only one */
	uint64_t job;
	bool json;
	const char *language;		/* of what the operator reads */
	bool several;			/* copies of a board: they are named */
	bool capture;			/* a copy is a pocket */
	bool give_up;			/* Ctrl-C cancels the job: nobody can go on with it */
	/* A verdict is recorded: says it. False: no more is dealt; that was said. */
	bool (*judged)(struct front *front, const struct dealbox_dealing_news *news);
	void *context;
	/* to be read */
	char id[DEALBOX_DEALING_ID];	/* the machine in the ledger, after front_machine() */
	uint32_t capabilities;
	unsigned int exact, voids;	/* in this run */
	unsigned int landed, cards;	/* of the last deal */
	const char *stands;		/* the machine, when it was left in mid-deal, else NULL */
	struct timespec begin;
	/* its own */
	struct dealbox_dealing *dealing;
	enum dealbox_operator_state state;
	char told[2048];
};

/*
 * Is the machine there, free, and able to do that (DEALBOX_CAP_*)? False, and said: lacks is what it
 * cannot do, next what to do then.
 */
bool front_machine(struct front *front, uint32_t capability, const char *lacks, const char *next);

/* "board 3: ", or "board 3, copy 2: " where there are copies, or "board 3, pocket E: "; "" without a board. */
const char *front_name(const struct front *front, uint32_t board, uint32_t copy, char text[64]);

double front_seconds(const struct front *front);

/* Deals the job to its end, or until Ctrl-C. */
enum front_end front_run(struct front *front);

#endif
