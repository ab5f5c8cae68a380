/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host's own edge, by usbmon: from the end of the transfer that brought a card
 * (stamped before the driver's handler is called) to the beginning of the one that
 * answers it (stamped before the host controller gets it).
 */
#ifndef BENCH_EDGE_H
#define BENCH_EDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct edge {
	int fd;
	uint8_t *ring;
	int device;

	bool waits;		/* a card that has no answer yet: */
	uint8_t position;
	uint32_t number, insertion;
	int64_t at_us;

	uint32_t *us;		/* one for each card that was answered */
	size_t count, room;
	unsigned int unanswered;	/* cards whose answer was not seen */
	unsigned int strays;	/* answers to no card */
	unsigned int dropped;	/* by usbmon, which had no room */
};

/*
 * From now on: the device with this number on this bus. What was measured before stays.
 * Ends the program if there is no usbmon.
 */
void edge_open(struct edge *edge, int bus, int device);
/* Takes what has been on the bus since the last call. */
void edge_take(struct edge *edge);
/* usbmon costs time for everybody who has it open, and for every transfer. */
void edge_close(struct edge *edge);

#endif
