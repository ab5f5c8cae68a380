/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Follows a machine's events and the commands to it, and reports each requirement that it violates.
 * Pure: no I/O, no clock.
 */
#ifndef COMPLIANCE_OBSERVER_H
#define COMPLIANCE_OBSERVER_H

#include <stdbool.h>

#include "wire.h"

#define OBSERVER_UNKNOWN	255	/* a state that events do not tell */

struct observed_card {
	bool read, routed, landed;
	uint8_t card, pocket;
};

struct observer {
	struct wire_descriptor desc;
	/* called for each violation, with a text without a full stop */
	void (*fault)(void *context, const char *requirement, const char *text);
	void *context;

	bool configured;	/* and no event is missing since */
	bool first;		/* STATE_LOST is to come */
	uint8_t after_lost;	/* what may still follow STATE_LOST: rank in R-5.2-8; 0 = over */
	uint8_t expect_lost;	/* reason that STATE_LOST must have, 0 = any */
	uint32_t next;		/* number of the next event */
	uint32_t clock;
	bool have_clock;

	bool board, at_power_on, cover_open, hopper;
	bool spent, captured;
	bool from_before;	/* the board was in before this run: ask whether it is spent */
	uint32_t insertion, board_number;
	uint32_t used[1024];	/* insertion numbers so far */
	unsigned int used_count;

	uint8_t state, fault_type;
	uint32_t loaded;	/* number of the loaded plan, 0 = none */
	uint32_t loading;	/* a PLAN_LOADED with this number is to come, 0 = none */
	const struct wire_plan *plan;	/* the plan that is dealt, if the caller knows it */

	/* the deal that runs, or ran last */
	bool running, started;	/* accepted; DEAL_STARTED came */
	bool test, capture;
	bool pausing, aborting;	/* PAUSE or ABORT was accepted, its event is to come */
	uint32_t attestable;	/* the deal of this insertion can be attested (R-5.3-5), 0 = none */
	uint32_t plan_number;
	uint8_t total;		/* cards to deal, 0 = until the hopper is empty */
	uint8_t position;	/* of the next card to pass the gate */
	uint8_t done, counts[DEALBOX_MAX_POCKETS];
	struct observed_card cards[DEALBOX_MAX_ENTRIES + 1];
	uint8_t gate[DEALBOX_MAX_ENTRIES + 1];	/* host-routed: pocket that the host named */
};

/* The machine was configured: STATE_LOST is next, with that reason (0 = any). */
void observer_configured(struct observer *o, uint8_t reason);
/* An event, 32 bytes. */
void observer_event(struct observer *o, const uint8_t *bytes);
/* A command was accepted. */
void observer_accepted(struct observer *o, uint8_t request, const struct wire_command *command);
/* An answer to GET_STATUS: 32 bytes. All events before the number that it names were seen. */
void observer_status(struct observer *o, const uint8_t *bytes);

/* Return the name of an event's type, "event 42" for another. Valid until the next call. */
const char *event_name(uint8_t type);
bool event_is_known(uint8_t type);
const char *state_name(uint8_t state);

#endif
