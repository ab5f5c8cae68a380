/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Conversion between the machine protocol (wire.h) and the ABI
 * (linux/dealbox.h), and the checks of arguments before anything is sent. No
 * I/O. The library uses these functions too, so that both ways refuse the same
 * with the same errno.
 */
#ifndef DEALBOX_ABI_H
#define DEALBOX_ABI_H

#include "wire.h"

/**
 * struct event_source - event numbers of one machine; initialised with zeroes
 * @seqno: number of the next event
 * @machine_next: expected machine_seq of the next event
 * @machine_known: @machine_next is known
 * @pockets: number of pockets of the machine
 */
struct event_source {
	u64 seqno;
	u32 machine_next;
	bool machine_known;
	u8 pockets;
};

/**
 * dealbox_abi_event() - number and convert an event
 * @source: event numbers, updated
 * @in: the machine's event
 * @timestamp_ns: time of arrival, CLOCK_MONOTONIC
 * @out: the event for user space
 *
 * An event of a known type whose card, pocket, position or quality is out of
 * range becomes DEALBOX_EV_PROTOCOL_ERROR.
 *
 * Return: false for such an event, which must not be acted on.
 */
bool dealbox_abi_event(struct event_source *source, const struct wire_event *in,
		       u64 timestamp_ns, struct dealbox_event *out);

/**
 * dealbox_abi_protocol_error() - make a DEALBOX_EV_PROTOCOL_ERROR
 * @source: event numbers, updated
 * @code: DEALBOX_PROTO_*
 * @arg: arg[0] of the event
 * @timestamp_ns: time of arrival, CLOCK_MONOTONIC
 * @out: the event for user space
 */
void dealbox_abi_protocol_error(struct event_source *source, u32 code, u32 arg,
				u64 timestamp_ns, struct dealbox_event *out);

/**
 * dealbox_abi_printable() - replace control characters by question marks
 * @text: UTF-8 text of the machine, such as its name, which users print
 */
void dealbox_abi_printable(char *text);

/**
 * dealbox_abi_info() - make the answer to GET_INFO
 * @machine: the machine's descriptor
 * @in: versions and name
 * @serial: serial number, UTF-8; NULL = none. A long one is cut between
 *	characters.
 * @queue_events: capacity of the event queue of an open file
 * @out: the answer
 */
void dealbox_abi_info(const struct wire_descriptor *machine,
		      const struct wire_info *in, const char *serial,
		      u32 queue_events, struct dealbox_info *out);

/**
 * dealbox_abi_status() - convert the machine's status
 * @in: the machine's status
 * @out: the status for user space; fields that the machine does not know are 0
 */
void dealbox_abi_status(const struct wire_status *in,
			struct dealbox_status *out);

/**
 * dealbox_abi_plan() - check and convert a caller's plan
 * @in: the caller's plan
 * @machine: the machine's descriptor
 * @out: the plan; @out->entries is 0 if the loaded plan is to be forgotten
 *
 * Encodes the plan and checks the bytes as a machine would.
 *
 * Return: 0, -EINVAL, or -EOPNOTSUPP if the machine lacks the capability for
 * the mode.
 */
int dealbox_abi_plan(const struct dealbox_plan *in,
		     const struct wire_descriptor *machine,
		     struct wire_plan *out);

/**
 * dealbox_abi_control() - check and convert a caller's command
 * @in: the caller's command
 * @machine: the machine's descriptor
 * @plan: the plan of a host-routed machine, for START; may be NULL otherwise
 * @out: the command, with sequence 0
 *
 * Return: 0, -EINVAL, or -EOPNOTSUPP if the machine lacks the capability.
 */
int dealbox_abi_control(const struct dealbox_control *in,
			const struct wire_descriptor *machine,
			const struct wire_plan *plan, struct wire_command *out);

/**
 * dealbox_abi_param() - check the argument of GET_PARAM or SET_PARAM
 * @in: the caller's argument
 * @set: the call is SET_PARAM
 *
 * Return: 0 or -EINVAL.
 */
int dealbox_abi_param(const struct dealbox_param *in, bool set);

#endif
