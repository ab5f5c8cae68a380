/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine that deals nothing, and sends key events at a given rate: two events in each packet of
 * 64 bytes. It is a dealing machine, or a HID device whose reports are the same packets, so that
 * hidraw can read them.
 */
#ifndef BENCH_STREAM_MACHINE_H
#define BENCH_STREAM_MACHINE_H

#include <stdint.h>
#include <sys/types.h>

#define STREAM_PACKET		64
#define STREAM_EVENTS		2	/* in a packet */
/* the number of events that the protocol requires a machine to keep (section 4) */
#define STREAM_QUEUE_PACKETS	(64 / STREAM_EVENTS)

enum stream_kind { STREAM_DEALING, STREAM_HID };

struct stream_machine {
	pid_t pid;
	int orders;	/* gives a struct stream_report when all packets of an order were sent */
};

/* The number of packets of an order, and the time between two of them. */
struct stream_order {
	uint32_t packets, period_ns;
};

struct stream_report {
	uint32_t first, end;	/* number of the first event, and one past the last */
};

/* Plugs the machine in, as a separate process. Ends the program if that fails. */
void stream_plug(struct stream_machine *machine, enum stream_kind kind);
void stream_go(const struct stream_machine *machine, const struct stream_order *order);
/* Unplugs it; the kernel may still need a moment. */
void stream_unplug(struct stream_machine *machine);

#endif
