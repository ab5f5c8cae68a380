/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One machine at work, with the jobs and the ledger that it works for. engine.h decides; here its
 * steps are done, and the machine's events are kept in the trace of their insertion.
 *
 * Whoever runs it waits for the machine's events and for time to pass, and asks for step after step:
 * dealboxd for all its machines, dealbox_dealing for one.
 */
#ifndef DEALING_DEALING_H
#define DEALING_DEALING_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <dealbox/dealing.h>
#include <dealbox/diagnosis.h>
#include <dealbox/ledger.h>
#include <dealbox/machine.h>
#include <dealbox/plan.h>
#include <dealbox/trace.h>

#include "dealing/engine.h"

#define DEALING_ID	DEALBOX_DEALING_ID
#define DEALING_LOOK_US	2000000	/* between two looks at a machine that works */
#define DEALING_CARD_US	5000000	/* the longest that a machine takes for a card (docs/protocol.md, 5.1) */

enum dealing_message {
	DEALING_RECORDED,	/* an insertion that is exact, or was read */
	DEALING_VOID,		/* one that is not */
	DEALING_REFUSED,	/* by the machine, or by the ledger with a reason */
	DEALING_LEDGER,		/* it could not be written or read */
	DEALING_DOUBT,		/* what the operator should know of the board that has come */
	DEALING_MESSAGES
};

struct dealing;

/* What is told of it; neither is told a card. */
struct dealing_listener {
	/* for a log */
	void (*say)(struct dealing *dealing, enum dealing_message message, const struct copy *copy,
		    const char *text);
	/* an insertion has its verdict, and that is recorded */
	void (*judged)(struct dealing *dealing, const struct copy *copy, uint32_t insertion, bool exact,
		       const char *text);
};

struct dealing {
	struct dealbox_ledger *ledger;
	struct jobs *jobs;
	const struct dealing_listener *listener;
	void *context;			/* the listener's */
	struct dealbox_machine *machine;	/* NULL: not there */
	struct engine engine;
	bool suspect;			/* its last answer did not come */
	bool fresh;			/* no board has come since it was opened */
	uint64_t heard;			/* us: its last event, or the start of its deal */
	struct dealbox_plan plan;	/* of engine.copy; wiped after the deal */
	uint32_t plan_id;
	struct dealbox_trace *trace;	/* of the insertion that is there */
	struct dealbox_trace *kept;	/* of a deal whose board is out, and not recorded yet */
	uint64_t insertion;		/* record in the ledger of the deal */
	uint32_t starter;		/* who pressed start last; DEALBOX_UID_NONE = a key */
	unsigned int cards;		/* that have landed */
	unsigned int stopped_at;	/* card at which the last stop came, from 1; 0 = none */
	unsigned int seat, depth;	/* where the earlier of two same cards lies; 0 = not known */
	struct dealbox_confusion confusion;	/* how its reader misreads, as far as is known */
	char detail[48];		/* of what stopped the deal: where, or a code */
	char diagnosis[512];		/* of the last repeated card, without its name */
	char revealed[512];		/* and with it */
};

/* Microseconds of a clock that goes on, for what lasts. */
static inline uint64_t monotonic_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/*
 * Makes what the machine says of itself fit to stand in names, in records and on terminals: it may
 * send anything. One that calls itself as we call others, by their ports, is known by its own.
 */
void dealing_sanitize(struct dealbox_info *info);
/* What it is called in the ledger: by its serial number, without one by its port (or address). */
void dealing_id(const struct dealbox_info *info, const char *port, char id[DEALING_ID]);
/*
 * A machine of that id, which lives as long; it is not there yet. It is in doubt when the ledger
 * says that its last insertion did not end well. others: as engine_init().
 */
void dealing_init(struct dealing *dealing, const char *id, struct dealbox_ledger *ledger,
		  struct jobs *jobs, const struct engine *others);
/* The machine is there, and claimed; from now on it is the dealing's. */
void dealing_attach(struct dealing *dealing, struct dealbox_machine *machine,
		    const struct dealbox_info *info);
/* It has gone, or is given up. Closing pauses a deal that runs. */
void dealing_detach(struct dealing *dealing);
/* Frees all that it has, and wipes what tells cards. */
void dealing_end(struct dealing *dealing);
/* What the operator is told is about that. */
void dealing_facts(const struct dealing *dealing, struct dealbox_operator_facts *facts);

/*
 * Reads all events that were there when it began. How many, or -errno. *news (may be NULL): there
 * is one that the engine heeds.
 */
int dealing_read(struct dealing *dealing, bool *news);
/* The trace of that insertion; NULL: there is none. It lives until the next events are read. */
struct dealbox_trace *dealing_trace(const struct dealing *dealing, uint32_t insertion);
/* A deal begins: the number of cards and the reason of the last stop begin anew. */
void dealing_reset_progress(struct dealing *dealing);

/*
 * Does the step of a machine that is there, and gives what became of it, for engine_did(). It may
 * take as long as the machine takes to answer, or the ledger to write. dealing->suspect says then
 * whether the machine failed to answer in time.
 */
enum did dealing_do(struct dealing *dealing, const struct step *step);

#endif
