/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recorded traces: JSON lines. Each insertion begins with a line that describes the deal, and has a
 * line for each event; dealbox(1) describes both. They reveal the deals, so the file is readable by
 * its owner only.
 */
#ifndef TRACEFILE_H
#define TRACEFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <dealbox/machine.h>
#include <dealbox/trace.h>
#include <dealbox/verify.h>

/*
 * A new file; with append, one that may exist. NULL, and said, when it cannot be.
 * Close it with fclose().
 */
FILE *tracefile_create(const char *path, bool append);

/* How the cards were dealt. */
enum tracefile_how {
	TRACEFILE_BY_CARD,	/* each was read */
	TRACEFILE_BY_POSITION,	/* they were counted; the deck should have lain sorted */
	TRACEFILE_CAPTURE,	/* nothing was dealt: an original was read */
	TRACEFILE_HOWS
};

/* The word for it, "by-card"; and the way back: false when there is no such word. */
const char *tracefile_how_name(enum tracefile_how how);
bool tracefile_how_parse(const char *word, enum tracefile_how *how);

/* Each takes NULL for "nothing is recorded". pockets: the seats whose hands pockets 0 to 3 get, "NESW". */
void tracefile_begin(FILE *file, uint32_t board, uint32_t copy, uint32_t insertion,
		     uint32_t plan_id, enum tracefile_how how, const char *pockets);
void tracefile_event(FILE *file, const struct dealbox_event *event);
/* What was written is in the file. False, and said, when it is not. */
bool tracefile_end(FILE *file);

/* The line that begins an insertion. */
struct tracefile_head {
	uint32_t board;
	uint32_t copy;
	uint32_t insertion;
	uint32_t plan_id;
	enum tracefile_how how;
	uint8_t pockets[DEALBOX_HANDS];	/* as dealbox_plan_by_card() wants them */
};

/*
 * Judges a trace by its planned deal. Returns 0, and the caller frees the verdict; -ENODATA: the
 * cards were counted, and head does not name the deck; -ENOTSUP: it is a capture; -EINVAL: not a
 * deal of the pack, or impossible pockets; -ENOMEM.
 */
int tracefile_judge(const struct tracefile_head *head, const uint8_t pockets[DEALBOX_HANDS],
		    const struct dealbox_trace *trace, const struct dealbox_deal *deal,
		    const struct dealbox_pack *pack, struct dealbox_verdict **verdict);

/*
 * Takes a trace that was read: it is the function's, to keep or to dealbox_trace_free(). line is
 * its last one. False, and said: no more are wanted.
 */
typedef bool tracefile_fn(void *context, const struct tracefile_head *head,
			  struct dealbox_trace *trace, const char *path, unsigned long line);

/* Gives each trace of a file to the function. False, and said, when the file is no such one. */
bool tracefile_read(const char *path, tracefile_fn *take, void *context);

#endif
