/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mechanics of a machine on lines of GPIO chips: what the core orders is switched, and what the
 * sensors see is told to the core, with the kernel's times. For Linux computers.
 *
 *	m = mechanics_open(&wiring, error, sizeof(error));
 *	orders = mechanics_orders(m, store, context);
 *	mechanics_sensors(m, &sensors);
 *	core_start(&core, &config, &orders, m, mechanics_clock(), &sensors, slots);
 *	mechanics_real_time(warning, sizeof(warning));
 *	poll mechanics_fd(m), among others; whenever it is readable: mechanics_handle(m, &core)
 *
 * The heartbeat line changes in mechanics_handle() alone, so it stops when the caller's loop does.
 * Whatever takes longer than 20 ms, as writing to a disk, may let the watchdog circuit switch off
 * the motors: do it while no card moves.
 */
#ifndef MACHINE_MECHANICS_H
#define MACHINE_MECHANICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core.h"
#include "wiring.h"

/* Codes of HARDWARE, besides the core's */
enum mechanics_trouble {
	MECHANICS_LOST_EDGES = CORE_HARDWARE_MAKER + 1,	/* of a sensor that is not the reader */
	MECHANICS_LOST_LINES,				/* a chip is gone, or refuses */
	MECHANICS_HUNG,					/* for 20 ms or more, while a card fell */
	MECHANICS_OLD_BOARD, /* the board that is in may have a card of before */
	/*
	 * plus n: an input is active that must not be while a card is fed. n as in wiring.h,
	 * 0 = reader
	 */
	MECHANICS_BLOCKED = CORE_HARDWARE_MAKER + 0x10,
};

struct mechanics;

/*
 * Request all lines, with every output off. Returns NULL if that is impossible: error then has a
 * sentence. The wiring is copied. Free with mechanics_close().
 */
struct mechanics *mechanics_open(const struct wiring *wiring, char *error, size_t size);

/* Switch all outputs off, and release the lines. m may be NULL. */
void mechanics_close(struct mechanics *m);

/*
 * Return the orders of a core whose context is m. store: the order of that name, which gets
 * store_context. The caller sets orders.attest.
 */
struct core_orders mechanics_orders(struct mechanics *m,
				    bool (*store)(void *context, int slot,
						  const uint8_t bytes[RECORD_BYTES]),
				    void *store_context);

/* Store what the sensors see, for core_start(). */
void mechanics_sensors(const struct mechanics *m, struct core_sensors *sensors);

/* Return the time for the core, in µs. core_clock() wants the same clock everywhere. */
uint32_t mechanics_clock(void);

/* Return a descriptor that is readable (POLLIN) when mechanics_handle() has something to do. */
int mechanics_fd(const struct mechanics *m);

/*
 * Tell the core what has happened, and switch off what has been on for too long. Calls
 * core_clock(). Returns 0, or -errno if a line does not answer: the machine is unable to deal until
 * it is opened again, all outputs are off as far as that is possible, and the heartbeat has
 * stopped.
 */
int mechanics_handle(struct mechanics *m, struct core *core);

/*
 * Let this thread, and those that it starts, run before other programs, and keep the memory of the
 * process from being swapped. Returns 0, or -errno if either is refused: warning then says what is
 * refused, and what to do.
 */
int mechanics_real_time(char *warning, size_t size);

#endif
