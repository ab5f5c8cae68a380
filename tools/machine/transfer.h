/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The transfer of one endpoint of a USB device whose configuration changes behind the program's
 * back.
 *
 * The kernel enables the endpoints anew as soon as the host says so, and tells it by an event. A
 * transfer that the program begins before it has seen this event belongs to the new configuration.
 * A transfer that began in an older configuration must be forgotten, one of the new one must not.
 *
 * No calls of the kernel, so that every order of events can be tested.
 */
#ifndef MACHINE_TRANSFER_H
#define MACHINE_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

struct transfer {
	bool busy;			/* the kernel has it */
	bool rests;			/* it failed; the next configuration mends it */
	bool outlived;			/* the machine was configured since it began */
	bool crossed;			/* ... or an event arrived just then, and may do so */
	bool has_data;			/* from the host, and nobody has looked at them */
	uint8_t failures;		/* one after the other */
	uint16_t length;		/* of the data */
	uint16_t again;			/* bytes to the host that did not go out */
};

/*
 * The kernel has taken a transfer, or refused it. pending: an event waited when it had; so ask for
 * events before, to begin none then, and after.
 */
void transfer_begin(struct transfer *t, bool taken, bool pending);

/*
 * It has ended. result: its bytes, or a negative errno; wanted: the bytes that it was for; goes_in:
 * to the host. A controller may give a transfer back, as dwc2 and dwc3 do when a halt is cleared:
 * bytes that did not go out are then in `again`.
 */
void transfer_end(struct transfer *t, bool goes_in, uint16_t wanted, int64_t result);

/* The machine was configured (enabled), or its configuration was taken away. */
void transfer_configure(struct transfer *t, bool enabled);

/* The event that waited, if one did, was no configuration, and none waits behind it. */
void transfer_settle(struct transfer *t);

/*
 * Return true if there are data, and it is known which configuration they belong to: the one that
 * the program knows. pending: an event waits.
 */
bool transfer_is_due(const struct transfer *t, bool pending);

#endif
