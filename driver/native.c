// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * The dialect of docs/protocol.md: requests on the control pipe, plans on a
 * bulk pipe, events and gate commands on interrupt pipes. One transfer is one
 * message, except that a transfer may hold several events.
 */
#include <linux/errno.h>

#include "core.h"

static enum dealbox_action native_answered(struct dealbox_core *core,
					   struct dealbox_call *call, int moved)
{
	int error = moved < 0 ? moved : moved == call->length ? 0 : -EPROTO;

	return dealbox_call_answered(core, call, error);
}

static enum dealbox_action native_exchange(struct dealbox_core *core,
					   struct dealbox_call *call)
{
	call->step = native_answered;
	call->ms = WIRE_CONTROL_HOST_MS;
	return DEALBOX_CONTROL;
}

static size_t native_encode_gate(u8 *buf, const struct wire_gate *gate)
{
	dealbox_encode_gate(buf, gate);
	return WIRE_GATE_SIZE;
}

/* Drop the whole transfer if its size is not a multiple of the event size. */
static bool native_receive(struct dealbox_core *core, const u8 *bytes,
			   size_t length, u64 now_ns)
{
	bool good = true;
	size_t i;

	if (!length || length % WIRE_EVENT_SIZE) {
		dealbox_core_malformed(core, length, now_ns);
		return false;
	}
	for (i = 0; i < length; i += WIRE_EVENT_SIZE)
		good &= dealbox_core_event(core, bytes + i, now_ns);
	return good;
}

const struct dealbox_dialect dealbox_native = {
	.exchange = native_exchange,
	.encode_plan = dealbox_encode_plan,
	.encode_gate = native_encode_gate,
	.receive = native_receive,
};
