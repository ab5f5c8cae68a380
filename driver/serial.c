// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * The serial dialect (docs/protocol-serial.md), for machines behind a serial
 * bridge: all messages are frames on one pair of bulk pipes. An outgoing
 * transfer is one frame. Incoming transfers have no relation to frame
 * boundaries.
 */
#include <linux/errno.h>
#include <linux/string.h>

#include "core.h"

#define NS_PER_MS	1000000U

static enum dealbox_action serial_answered(struct dealbox_core *core,
					   struct dealbox_call *call, int error)
{
	bool came = core->awaited == DEALBOX_AWAIT_NOTHING;
	u16 length = call->type == WIRE_REQ_IN ? call->length : 0;

	core->awaited = DEALBOX_AWAIT_NOTHING;
	if (!came)
		error = error ?: -ETIMEDOUT;
	else if (core->await_error)
		error = core->await_error;
	else if (core->status != FRAME_DONE)
		error = core->status == FRAME_STALL ? -EPIPE : -EPROTO;
	else if (core->length != length)
		error = -EPROTO;
	else
		error = 0;
	if (!error)
		memcpy(call->data, core->answer, length);
	return dealbox_call_answered(core, call, error);
}

static enum dealbox_action serial_sent(struct dealbox_core *core,
				       struct dealbox_call *call, int error)
{
	if (error) {
		core->awaited = DEALBOX_AWAIT_NOTHING;
		/*
		 * -EPIPE would mean a refusal, but a halt of the pipe is none.
		 */
		return dealbox_call_answered(core, call,
					     error == -EPIPE ? -EPROTO : error);
	}
	call->step = serial_answered;
	call->ms = call->now_ns < call->end_ns ?
		   (u32)(call->end_ns - call->now_ns) / NS_PER_MS : 0;
	return DEALBOX_AWAIT;
}

static enum dealbox_action serial_exchange(struct dealbox_core *core,
					   struct dealbox_call *call)
{
	u16 said = call->type == WIRE_REQ_IN ? 0 : call->length;
	u8 *payload = call->bytes + FRAME_HEADER;

	core->awaited = DEALBOX_AWAIT_ANSWER;
	core->await_error = 0;
	core->tag++;
	payload[0] = call->request;
	payload[1] = call->value & 0xff;
	payload[2] = call->value >> 8;
	memcpy(payload + FRAME_REQUEST_HEADER, call->data, said);
	call->size = dealbox_frame_seal(call->bytes, FRAME_REQUEST, core->tag,
					FRAME_REQUEST_HEADER + said);
	call->step = serial_sent;
	/* One time limit for request and answer, as on a control pipe. */
	call->ms = WIRE_CONTROL_HOST_MS;
	call->end_ns = call->now_ns + (u64)WIRE_CONTROL_HOST_MS * NS_PER_MS;
	return DEALBOX_SEND;
}

static size_t serial_encode_plan(u8 *buf, const struct wire_plan *plan)
{
	return dealbox_frame_seal(buf, FRAME_PLAN, 0,
				  dealbox_encode_plan(buf + FRAME_HEADER,
						      plan));
}

static size_t serial_encode_gate(u8 *buf, const struct wire_gate *gate)
{
	dealbox_encode_gate(buf + FRAME_HEADER, gate);
	return dealbox_frame_seal(buf, FRAME_GATE, 0, WIRE_GATE_SIZE);
}

/* Return false if no call waits for the answer. A single late one is normal. */
static bool receive_answer(struct dealbox_core *core, const struct frame *frame)
{
	if (core->awaited != DEALBOX_AWAIT_ANSWER || frame->tag != core->tag)
		return false;
	core->status = frame->payload[0];
	core->length = frame->length - FRAME_ANSWER_HEADER;
	memcpy(core->answer, frame->payload + FRAME_ANSWER_HEADER,
	       core->length);
	dealbox_core_end_await(core);
	return true;
}

static bool serial_receive(struct dealbox_core *core, const u8 *bytes,
			   size_t length, u64 now_ns)
{
	struct frame frame;
	size_t left = length;
	/*
	 * An empty packet is valid only to end a transfer of the maximum size.
	 */
	bool known = true, good = length || core->full;

	core->full = length == core->transfer_size;
	core->frames.dropped = 0;
	while (dealbox_frame_read(&core->frames, &bytes, &left, &frame)) {
		if (frame.kind == FRAME_EVENT &&
		    frame.length == WIRE_EVENT_SIZE)
			good &= dealbox_core_event(core, frame.payload, now_ns);
		else if (frame.kind == FRAME_ANSWER &&
			 frame.length >= FRAME_ANSWER_HEADER)
			good &= receive_answer(core, &frame);
		else
			known = false;
	}
	if (known && !core->frames.dropped)
		return good;
	dealbox_core_malformed(core, length, now_ns);
	return false;
}

static void serial_restart(struct dealbox_core *core)
{
	memset(&core->frames, 0, sizeof(core->frames));
	core->full = false;
}

const struct dealbox_dialect dealbox_serial = {
	.bulk = true,
	.described = true,
	.describe = WIRE_DESCRIBE,
	.exchange = serial_exchange,
	.encode_plan = serial_encode_plan,
	.encode_gate = serial_encode_gate,
	.receive = serial_receive,
	.restart = serial_restart,
};
