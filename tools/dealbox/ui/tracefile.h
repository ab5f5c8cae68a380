/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recorded traces: JSON lines. Each insertion has a head that describes the deal, and a line for
 * each event, see dealbox(1). They reveal the deals, so the file is readable by its owner only.
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
 * Create a file. With append, it may exist. Returns NULL after reporting an error. Close it with
 * fclose().
 */
FILE *tracefile_create(const char *path, bool append);

/* How the cards were dealt */
enum tracefile_how {
	TRACEFILE_BY_CARD,	/* by reading each card */
	TRACEFILE_BY_POSITION,	/* by counting, from a sorted deck */
	TRACEFILE_CAPTURE,	/* not at all: an original was read */
	TRACEFILE_HOWS
};

/* Convert to and from the name, such as "by-card". Returns false for an unknown name. */
const char *tracefile_how_name(enum tracefile_how how);
bool tracefile_how_parse(const char *word, enum tracefile_how *how);

/*
 * Write the head of an insertion. Here and below, NULL as file means no recording. pockets has the
 * seats whose hands pockets 0 to 3 get, such as "NESW".
 */
void tracefile_begin(FILE *file, uint32_t board, uint32_t copy, uint32_t insertion,
		     uint32_t plan_id, enum tracefile_how how, const char *pockets);
void tracefile_event(FILE *file, const struct dealbox_event *event);
/* Flush the file. Returns false after reporting an error. */
bool tracefile_end(FILE *file);

/* The head of an insertion */
struct tracefile_head {
	uint32_t board;
	uint32_t copy;
	uint32_t insertion;
	uint32_t plan_id;
	enum tracefile_how how;
	uint8_t pockets[DEALBOX_HANDS];	/* as for dealbox_plan_by_card() */
};

/*
 * Compare a trace with its planned deal. Returns 0 with a verdict that the caller frees; -ENODATA
 * if the cards were counted and the head does not name the deck; -ENOTSUP for a capture; -EINVAL
 * for a deal that is not of the pack, or invalid pockets; -ENOMEM.
 */
int tracefile_judge(const struct tracefile_head *head, const uint8_t pockets[DEALBOX_HANDS],
		    const struct dealbox_trace *trace, const struct dealbox_deal *deal,
		    const struct dealbox_pack *pack, struct dealbox_verdict **verdict);

/*
 * Callback for a trace that was read. It owns the trace and must free it with dealbox_trace_free().
 * line is the last line of the trace. Returns false, after reporting an error, to stop.
 */
typedef bool tracefile_fn(void *context, const struct tracefile_head *head,
			  struct dealbox_trace *trace, const char *path, unsigned long line);

/* Call take for each trace of a file. Returns false after reporting an error. */
bool tracefile_read(const char *path, tracefile_fn *take, void *context);

#endif
