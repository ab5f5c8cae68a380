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
/* as many events as the protocol asks every machine to keep (section 4) */
#define STREAM_QUEUE_PACKETS	(64 / STREAM_EVENTS)

enum stream_kind { STREAM_DEALING, STREAM_HID };

struct stream_machine {
	pid_t pid;
	int orders;	/* readable when the packets of an order are out: struct stream_report */
};

/* Packets of one order, and the time from one to the next. */
struct stream_order {
	uint32_t packets, period_ns;
};

struct stream_report {
	uint32_t first, end;	/* numbers of the first event, and behind the last */
};

/* Plugs it in, a process of its own. Ends the program if that fails. */
void stream_plug(struct stream_machine *machine, enum stream_kind kind);
void stream_go(const struct stream_machine *machine, const struct stream_order *order);
/* Pulls it out; the kernel may need a moment more. */
void stream_unplug(struct stream_machine *machine);

#endif
