/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cases of the host's side of the protocol. The outcome is the same on every connection to a
 * machine.
 */
#ifndef CONFORMANCE_CASES_H
#define CONFORMANCE_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum conformance_call {
	ASK_STATUS,
	ASK_COUNTERS,
	ASK_PARAM,	/* SPEED */
	SET_PARAM,	/* SPEED, to 600 */
	LOCATE,		/* for a second */
	ASK_IDENTITY,
	ASK_ATTESTATION,
	ATTEST,		/* of insertion 1, which no machine has dealt into */
	SET_PLAN,	/* CONFORMANCE_PLAN, by card: 52 cards in turn */
	CALLS,
};

#define CONFORMANCE_PLAN	5

enum { STORED = 1, ROUTED = 2, BOTH = 3 };

/* One call, after rules have been given to the emulator. */
struct conformance_case {
	const char *name;
	enum conformance_call call;
	unsigned int kinds;	/* of machines */
	const char *rules;	/* of a scenario, each in a line; NULL = none */
	/* the result for the caller */
	int native, serial;	/* by dialect: 0 or -errno */
	uint32_t result, detail;/* with -EREMOTEIO */
	/* the requests of the call, in order, "*" for the plan block: test_core.c */
	const char *sent;
	/* the types of the events that programs read, in order; NULL = none */
	const char *events;
	const char *serial_events;	/* in the serial dialect, if these are others */
};

/* A key that is pressed after each case: events before it belong to the case. */
#define CONFORMANCE_KEY		99

extern const struct conformance_case conformance_cases[];
extern const size_t conformance_count;

#endif
