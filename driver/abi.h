/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Between the machine protocol (wire.h) and the ABI (linux/dealbox.h): pure
 * translation and the checks that come before anything is sent. The library's
 * USB backend uses it too, so that both paths refuse the same with the same errno.
 */
#ifndef DEALBOX_ABI_H
#define DEALBOX_ABI_H

#include "wire.h"

/**
 * struct event_source - numbers of the events of one machine; zeroed to begin
 * @seqno: number that the next event will have
 * @machine_next: number that the machine's next event should have
 * @machine_known: @machine_next is known
 * @pockets: pockets of the machine
 */
struct event_source {
	u64 seqno;
	u32 machine_next;
	bool machine_known;
	u8 pockets;
};

/*
 * Numbers the event and translates it. An event of a known type with a card,
 * pocket, position or quality that cannot be becomes DEALBOX_EV_PROTOCOL_ERROR,
 * and false is returned: nobody may act on it. timestamp_ns is CLOCK_MONOTONIC.
 */
bool dealbox_abi_event(struct event_source *source, const struct wire_event *in,
		       u64 timestamp_ns, struct dealbox_event *out);

/* DEALBOX_EV_PROTOCOL_ERROR of the driver itself; code is DEALBOX_PROTO_*. */
void dealbox_abi_protocol_error(struct event_source *source, u32 code, u32 arg,
				u64 timestamp_ns, struct dealbox_event *out);

/* Replaces control characters: nobody shall have to mistrust a machine's name. */
void dealbox_abi_printable(char *text);

/* serial may be NULL; of a long one, the characters that fit. */
void dealbox_abi_info(const struct wire_descriptor *machine, const struct wire_info *in,
		      const char *serial, u32 queue_events, struct dealbox_info *out);

/* Fills what the machine knows; the rest of *out is zero. */
void dealbox_abi_status(const struct wire_status *in, struct dealbox_status *out);

/*
 * Checks a caller's plan by encoding it and judging the bytes as a machine would.
 * 0, -EINVAL, or -EOPNOTSUPP if the machine has not the capability for its mode.
 * A plan of no entries (forget the plan) gives out->entries 0.
 */
int dealbox_abi_plan(const struct dealbox_plan *in, const struct wire_descriptor *machine,
		     struct wire_plan *out);

/*
 * Checks a caller's command and makes its a, b and c; the sequence number is left
 * 0. plan is the plan that the host routes by; NULL on a stored-plan machine, and
 * for all but START. 0, -EINVAL or -EOPNOTSUPP.
 */
int dealbox_abi_control(const struct dealbox_control *in, const struct wire_descriptor *machine,
			const struct wire_plan *plan, struct wire_command *out);

/* Checks what GET_PARAM or (set) SET_PARAM is called with: 0 or -EINVAL. */
int dealbox_abi_param(const struct dealbox_param *in, bool set);

#endif
