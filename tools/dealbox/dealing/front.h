/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deals a job of a ledger on one machine, without the service. The library's engine deals; the
 * front tells the operator what to do. Enter is the start key; answer-keys.h has the others. Ctrl-C
 * pauses the deal and exits, or cancels the job.
 */
#ifndef FRONT_H
#define FRONT_H

#include <time.h>

#include <dealbox/dealing.h>

#include "hand-show.h"
#include "ui/answer-keys.h"
#include "ui/operator-say.h"
#include "ui/tool.h"

enum front_end {
	FRONT_DONE,	/* nothing is left to deal */
	FRONT_STOPPED,	/* by Ctrl-C */
	FRONT_FAILED,	/* an error of this computer, which was reported */
	FRONT_MACHINE,	/* the machine cannot be used, which was reported */
};

/* Start from zeros. */
struct front {
	/* set by the caller: */
	struct dealbox_ledger *ledger;	/* open for writing */
	struct dealbox_ledger *reader;	/* the same ledger, open for reading */
	const char *uri;		/* of the machine; NULL: the only one */
	uint64_t job;
	const char *pockets;		/* seats of pockets 0 to 3; NULL: N, E, S, W */
	bool json;
	bool speak;			/* by hand: say the seats */
	const char *language;		/* of the operator's sentences */
	bool several;			/* messages name the copy of a board */
	bool capture;			/* copy n of a board is pocket n - 1 */
	bool give_up;			/* Ctrl-C cancels the job, which cannot be resumed */
	/*
	 * Called when a verdict is recorded. Returns false, after reporting why, to stop dealing.
	 */
	bool (*judged)(struct front *front, const struct dealbox_dealing_news *news);
	void *context;
	/* results: */
	char id[DEALBOX_DEALING_ID]; /* name of the machine in the ledger, from front_machine() */
	uint32_t capabilities;
	bool by_hand;			/* a person deals */
	unsigned int exact, voids;	/* verdicts of this run */
	unsigned int landed, cards;	/* of the last deal */
	const char *stands;		/* state of a machine that was left in mid-deal, or NULL */
	struct timespec begin;
	/* private: */
	struct dealbox_dealing *dealing;
	struct hand_show show;		/* by hand */
	char address[320];		/* uri with the language of the keys */
	char found[256];		/* address of the machine that was opened */
	enum dealbox_operator_state state;
	bool board;			/* in the machine, or in it when the machine went away */
	uint32_t insertion;		/* of what is shown */
	bool listens;			/* to Enter, and to keys */
	struct answer_keys keys;
	struct answer_asked asked;	/* what is shown */
	uint64_t done, all;		/* copies of the job; all: 0 = without limit */
	char told[2048];
};

/*
 * Check that the machine is there, is free, and has one of the capabilities (DEALBOX_CAP_*).
 * Otherwise reports that it lacks that, and the next step, and returns STATUS_MACHINE. A machine
 * that was there and goes away, as by a power cut, is waited for; STATUS_STOPPED after Ctrl-C.
 */
enum status front_machine(struct front *front, uint32_t capability, const char *lacks,
			  const char *next);

/*
 * Write the beginning of a message: "board 3: ", "board 3, copy 2: ", "board 3, pocket E: ", or ""
 * without a board. Returns text.
 */
const char *front_name(const struct front *front, uint32_t board, uint32_t copy,
		       char text[OPERATOR_COPY]);

/* Return the time since dealing began. */
double front_seconds(const struct front *front);

/* Deal the job to its end, or until Ctrl-C. While the machine is away, it is waited for. */
enum front_end front_run(struct front *front);

#endif
