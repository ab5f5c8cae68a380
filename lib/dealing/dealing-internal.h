/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine with its jobs and its ledger. The engine decides (engine.h); the functions here execute
 * its steps, and collect the machine's events in traces.
 *
 * Whoever runs it waits for the machine's events and for time to pass, and asks for step after
 * step: dealboxd for all its machines, dealbox_dealing for one.
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

#include "dealing/counts.h"
#include "dealing/engine.h"

#define DEALING_ID	DEALBOX_DEALING_ID
#define DEALING_LOOK_US	2000000	/* interval of checks of a busy machine */
#define DEALING_CARD_US	5000000	/* time limit for a card (docs/protocol.md, section 5.1) */

enum dealing_message {
	DEALING_RECORDED,	/* an insertion is exact, or was captured */
	DEALING_VOID,		/* an insertion has another outcome */
	DEALING_REFUSED,	/* refusal by the machine or the ledger, with the reason */
	DEALING_LEDGER,		/* the ledger could not be written or read */
	DEALING_DOUBT,		/* doubt about the board that was put in */
	DEALING_MESSAGES
};

struct dealing;

/* Callbacks. Their text never contains a card. */
struct dealing_listener {
	/* for a log */
	void (*say)(struct dealing *dealing, enum dealing_message message, const struct copy *copy,
		    const char *text);
	/* a verdict was recorded */
	void (*judged)(struct dealing *dealing, const struct copy *copy, uint32_t insertion,
		       bool exact, const struct dealbox_operator_verdict *verdict);
};

struct dealing {
	struct dealbox_ledger *ledger;
	struct jobs *jobs;
	const struct dealing_listener *listener;
	void *context;			/* for the listener */
	struct dealbox_machine *machine;	/* NULL = not connected */
	struct engine engine;
	bool suspect;			/* it did not answer the last call */
	bool fresh;			/* no board was put in since it was opened */
	uint64_t heard; /* us: time of the last event, or of the start of the deal */
	struct dealbox_plan plan;	/* plan of engine.copy; wiped after the deal */
	uint32_t plan_id;
	struct dealbox_trace *trace;	/* trace of the present insertion */
	struct dealbox_trace *kept;	/* trace of a removed board that is not recorded yet */
	uint8_t nonce[DEALBOX_NONCE_SIZE];	/* of the attestation that was asked for */
	uint64_t insertion;		/* number of the deal's record in the ledger */
	uint32_t starter;		/* user who last pressed start; DEALBOX_UID_NONE = a key */
	unsigned int cards;		/* number of cards that have landed */
	unsigned int stopped_at;	/* card of the last stop, from 1; 0 = none */
	unsigned int seat, depth;	/* place of the earlier of two same cards; 0 = unknown */
	unsigned int culprit,
		chance; /* which of the two was misread: as in dealbox_operator_facts */
	struct dealbox_confusion confusion;	/* known misreads of its reader */
	struct test_result tested;	/* the last test deal */
	uint8_t place;			/* of the last stop, as in dealbox_operator_verdict .. */
	bool coded;			/* .. or its code */
	uint32_t code;
	char diagnosis[512];		/* of the last repeated card, without its name */
	char revealed[512];		/* the same with its name */
};

/* Return the time of the monotonic clock in us. */
static inline uint64_t monotonic_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/*
 * Make strings of the machine safe for names, records and terminals, since it may send anything.
 * Drops a serial number that looks like the id of a machine without one, "port:...".
 */
void dealing_sanitize(struct dealbox_info *info);
/* Write the machine's id in the ledger: its serial number, otherwise its port or address. */
void dealing_id(const struct dealbox_info *info, const char *port, char id[DEALING_ID]);
/*
 * Initialise a machine that is not connected yet. id must live as long. Its board is in doubt if
 * its last insertion in the ledger was not exact. others is as for engine_init().
 */
void dealing_init(struct dealing *dealing, const char *id, struct dealbox_ledger *ledger,
		  struct jobs *jobs, const struct engine *others);
/* Attach a claimed machine, which the dealing owns from now on. */
void dealing_attach(struct dealing *dealing, struct dealbox_machine *machine,
		    const struct dealbox_info *info);
/* Close the machine, which pauses a running deal. */
void dealing_detach(struct dealing *dealing);
/* Free everything, and wipe data with cards. */
void dealing_end(struct dealing *dealing);
/* Get the facts of the operator's state. */
void dealing_facts(const struct dealing *dealing, struct dealbox_operator_facts *facts);

/*
 * Read the events that are queued. Returns their number, or -errno. *news (may be NULL) is set to
 * true if the engine's state has changed.
 */
int dealing_read(struct dealing *dealing, bool *news);
/* Return the trace of an insertion, or NULL. It is valid until the next dealing_read(). */
struct dealbox_trace *dealing_trace(const struct dealing *dealing, uint32_t insertion);
/* A deal begins: reset the number of cards and the last stop. */
void dealing_reset_progress(struct dealing *dealing);

/*
 * Execute a step of a connected machine. Returns the result for engine_did(). It may block until
 * the machine has answered or the ledger is written. Sets dealing->suspect if the machine did not
 * answer in time.
 */
enum did dealing_do(struct dealing *dealing, const struct step *step);

#endif
