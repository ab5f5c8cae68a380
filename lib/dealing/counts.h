/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts of what a machine did, made from traces. No card can be derived from a result. Pure. */
#ifndef DEALING_COUNTS_H
#define DEALING_COUNTS_H

#include <stdint.h>

#include <dealbox/trace.h>

#define TEST_PLAN 0xffffffffu /* number of the plan of a test deal: docs/protocol.md, section 7 */

enum test_state {
	TEST_NONE,		/* none since the machine is known */
	TEST_RUNNING,
	TEST_DONE,
	TEST_STOPPED,		/* by a fault, or aborted */
	TEST_LOST,		/* the cable was pulled, or the machine has lost its state */
};

struct test_result {
	enum test_state state;
	uint32_t insertion;
	unsigned int cards;	/* to be fed */
	unsigned int fed;	/* seen by the reader */
	unsigned int read;	/* of these: the reader named a card */
	unsigned int face_up;	/* of these */
	/* of these: a card that had come before: misread, for a deck has each card once */
	unsigned int repeated;
	unsigned int landed;	/* seen to fall into a pocket; 0 without exit sensors */
	uint32_t stop;		/* DEALBOX_EV_* that ended it; 0 = none */
};

/*
 * Count a test deal from the trace of its insertion, up to its last event. The state is that of the
 * last event: TEST_NONE if the trace has no test deal.
 */
void count_test(const struct dealbox_trace *trace, struct test_result *result);

#endif
