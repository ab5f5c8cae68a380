/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sentences for the operator of a machine, with and without the service. */
#ifndef OPERATOR_SAY_H
#define OPERATOR_SAY_H

#include <stdbool.h>
#include <stdint.h>

#include <dealbox/operator.h>

#include "tool.h"

#define KEY_LANG	(OPT_LONG + 0xfb)
#define OPT_LANG	{ KEY_LANG, "lang", "LANGUAGE", \
	"sentences in nb, el, fr, ru or en (default: en, or the language of the service)" }

/* Behind a sentence: Enter is the answer to it. */
#define ENTER_MARK	" [Enter]"

/* Return the state with this name; DEALBOX_OPERATOR_STATES if there is none. */
enum dealbox_operator_state operator_state(const char *name);

/*
 * Return true if the state is not one of every board: somebody has to come, who may be away, so the
 * bell rings.
 */
bool operator_calls(enum dealbox_operator_state state);

/* A copy of a board, for the beginning of a message. */
struct operator_copy {
	const char *language;
	uint32_t board, copy;		/* board: 0 = none */
	bool several;			/* the copy is named */
	bool capture;			/* copy n is pocket n - 1 */
};

/*
 * Write "board 3: ", "board 3, copy 2: ", "board 3, pocket E: ", or "" without a board. Returns
 * text.
 */
#define OPERATOR_COPY	96
const char *operator_copy_name(const struct operator_copy *copy, char text[OPERATOR_COPY]);

/* How far a machine and its job are. */
struct operator_progress {
	const char *language;
	const char *name;		/* "board 3: " */
	uint32_t cards, of;		/* cards of the board that have fallen; of: 0 = unknown */
	uint64_t done, all;		/* copies of the job; all: 0 = without limit */
	unsigned int exact;		/* boards of this run .. */
	double seconds;			/* .. in this time */
};

/* Show it as the progress line. The time left is known once a board is exact. */
void operator_progress(const struct operator_progress *progress);

/* What came of a job. */
struct operator_summary {
	const char *language;
	uint64_t exact, all;		/* copies of the job; all: 0 = without limit */
	unsigned int skipped, voids;	/* voids: of this run */
	unsigned int dealt;		/* boards that became exact in this run .. */
	double seconds;			/* .. in this time */
};

/* Say it, in one line. */
void operator_summary(const struct operator_summary *summary);

#endif
