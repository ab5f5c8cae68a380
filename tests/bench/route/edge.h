/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Latency of the host as usbmon sees it: from the completion of the transfer with a card (stamped
 * before the driver's handler is called) to the submission of the gate command (stamped before
 * the host controller gets it).
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

	bool waits;		/* a card has no answer yet; its position: */
	uint8_t position;
	uint32_t number, insertion;
	int64_t at_us;

	uint32_t *us;		/* latency of each card that was answered */
	size_t count, room;
	unsigned int unanswered;	/* cards whose answer was not seen */
	unsigned int strays;	/* answers to no card */
	unsigned int dropped;	/* packets that usbmon had no room for */
};

/*
 * Starts to measure the device with this number on this bus. Earlier figures are kept.
 * Ends the program if there is no usbmon.
 */
void edge_open(struct edge *edge, int bus, int device);
/* Evaluates the bus traffic since the last call. */
void edge_take(struct edge *edge);
/* Closes usbmon, which slows down every transfer while it is open. */
void edge_close(struct edge *edge);

#endif
