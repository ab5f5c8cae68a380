/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The serial dialect (docs/protocol-serial.md) on the machine's side: bytes of the bulk endpoints
 * in and out, the core behind them. As the core: no allocation, no device, for microcontrollers
 * too.
 */
#ifndef MACHINE_SERIAL_H
#define MACHINE_SERIAL_H

#include <stddef.h>

#include "core.h"

#define SERIAL_PAYLOAD	128		/* bytes of a frame, at most */
#define SERIAL_AROUND 8 /* what a frame has besides: start, kind, tag, length, sum */
#define SERIAL_ANSWER	(SERIAL_AROUND + 1 + CORE_ANSWER_BYTES)	/* the longest frame of a machine */

/* The caller reads no field of it. */
struct serial {
	uint8_t in[SERIAL_AROUND + SERIAL_PAYLOAD];	/* may begin a frame */
	uint8_t have;
	uint8_t out[SERIAL_ANSWER], out_size, out_sent;	/* the frame that is being sent */
	uint8_t answer[SERIAL_ANSWER], answer_size;	/* the next one, 0 = none */
};

/*
 * The machine was configured, or the bus was reset: call it beside core_configure() and the like.
 */
void serial_reset(struct serial *serial);

/* A halt of the bulk OUT endpoint was cleared: the frame that was not complete is discarded. */
void serial_discard(struct serial *serial);

/*
 * Take bytes from the host, and do what their frames say. An answer that the host has not begun to
 * fetch is replaced by the next one: it sends one request at a time (R-S3-1).
 */
void serial_take(struct serial *serial, struct core *core, const uint8_t *bytes, size_t length);

/* Return true if there is something to send. */
bool serial_is_ready(const struct serial *serial, const struct core *core);

/*
 * Store up to `room` bytes for the host: the answer first, then events, oldest first. Returns how
 * many. A frame may go on in the next call. The time limit of a gate command begins as by
 * core_event().
 */
size_t serial_give(struct serial *serial, struct core *core, uint8_t *bytes, size_t room);

#endif
