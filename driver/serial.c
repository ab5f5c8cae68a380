// SPDX-License-Identifier: GPL-2.0-only
/*
 * The serial dialect (docs/protocol-serial.md): everything in frames, over one pair
 * of bulk pipes, as a machine behind a serial bridge has it. Transfers and frames
 * have nothing to do with each other on the way in; on the way out, one is one.
 */
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/string.h>

#include "dealbox.h"

static int serial_bind(struct dealbox *db, struct dealbox_pipes *pipes)
{
	struct usb_endpoint_descriptor *in, *out;

	if (usb_find_common_endpoints(db->intf->cur_altsetting, &in, &out, NULL, NULL) ||
	    usb_endpoint_maxp(in) < 8 || usb_endpoint_maxp(out) < 8) {
		dev_err(&db->intf->dev, "an endpoint is missing or too small\n");
		return -EPROTO;
	}
	*pipes = (struct dealbox_pipes){ .in = in, .out = out, .gate = out };
	return 0;
}

/* Returns the tag that the answer shall bear, or -errno. */
static int arm(struct dealbox *db)
{
	struct dealbox_answer *answer = &db->answer;
	int result;

	spin_lock_irq(&db->lock);
	result = db->blocked;
	if (!result) {
		reinit_completion(&answer->done);
		answer->error = 0;
		answer->armed = true;
		result = ++answer->tag;
	}
	spin_unlock_irq(&db->lock);
	return result;
}

/* Until end, in jiffies. */
static int await_answer(struct dealbox *db, void *data, u16 length, unsigned long end)
{
	struct dealbox_answer *answer = &db->answer;
	unsigned long now = jiffies;
	unsigned int ms = time_before(now, end) ? jiffies_to_msecs(end - now) : 0;
	bool came = wait_for_completion_timeout(&answer->done, dealbox_patience(db, ms));
	int error = 0;

	spin_lock_irq(&db->lock);
	answer->armed = false;
	if (answer->error)
		error = answer->error;
	else if (!came)
		error = -ETIMEDOUT;
	else if (answer->status)
		error = answer->status == FRAME_STALL ? -EPIPE : -EPROTO;
	else if (answer->length != length)
		error = -EPROTO;
	else
		memcpy(data, answer->data, length);
	spin_unlock_irq(&db->lock);
	return error;
}

static int serial_exchange(struct dealbox *db, u8 type, u8 request, u16 value, u16 length)
{
	bool in = type & USB_DIR_IN;
	u8 *payload = db->plan_buf + FRAME_HEADER;
	u16 said = in ? 0 : length;
	/* for both ways, as on a control pipe */
	unsigned long end = jiffies + msecs_to_jiffies(WIRE_CONTROL_HOST_MS);
	int tag, error;

	tag = arm(db);
	if (tag < 0)
		return tag;
	payload[0] = request;
	payload[1] = value & 0xff;
	payload[2] = value >> 8;
	memcpy(payload + FRAME_REQUEST_HEADER, db->ctl_buf, said);
	error = dealbox_send(db, dealbox_frame_seal(db->plan_buf, FRAME_REQUEST, tag,
						    FRAME_REQUEST_HEADER + said),
			     WIRE_CONTROL_HOST_MS);
	if (error) {
		spin_lock_irq(&db->lock);
		db->answer.armed = false;
		spin_unlock_irq(&db->lock);
		return error;
	}
	return await_answer(db, db->ctl_buf, in ? length : 0, end);
}

static int serial_describe(struct dealbox *db)
{
	int error = serial_exchange(db, WIRE_REQ_IN, FRAME_DESCRIBE, 0, WIRE_DESC_SIZE);

	if (error)
		return error == -EPIPE ? -EPROTO : error;
	return dealbox_decode_descriptor(db->ctl_buf, WIRE_DESC_SIZE, &db->machine) ? 0 : -EPROTO;
}

static size_t serial_plan_put(u8 *buf, const struct wire_plan *plan)
{
	return dealbox_frame_seal(buf, FRAME_PLAN, 0,
				  dealbox_encode_plan(buf + FRAME_HEADER, plan));
}

static size_t serial_gate_put(u8 *buf, const struct wire_gate *gate)
{
	dealbox_encode_gate(buf + FRAME_HEADER, gate);
	return dealbox_frame_seal(buf, FRAME_GATE, 0, WIRE_GATE_SIZE);
}

/* False: nobody waits for it. One may come too late, but not one after the other. */
static bool take_answer(struct dealbox *db, const struct frame *frame)
{
	struct dealbox_answer *answer = &db->answer;

	if (!answer->armed || frame->tag != answer->tag)
		return false;
	answer->status = frame->payload[0];
	answer->length = frame->length - FRAME_ANSWER_HEADER;
	memcpy(answer->data, frame->payload + FRAME_ANSWER_HEADER, answer->length);
	answer->armed = false;
	complete(&answer->done);
	return true;
}

static bool serial_receive(struct dealbox *db, const u8 *bytes, unsigned int length, u64 now)
{
	struct frame frame;
	size_t left = length;
	/* an empty packet is of use behind a full one only: there is no more */
	bool whole = true, good = length || db->filled;

	db->filled = length == db->int_in->transfer_buffer_length;
	db->frames.dropped = 0;
	while (dealbox_frame_read(&db->frames, &bytes, &left, &frame)) {
		if (frame.kind == FRAME_EVENT && frame.length == WIRE_EVENT_SIZE)
			good &= dealbox_take_event(db, frame.payload, now);
		else if (frame.kind == FRAME_ANSWER && frame.length >= FRAME_ANSWER_HEADER)
			good &= take_answer(db, &frame);
		else
			whole = false;
	}
	if (whole && !db->frames.dropped)
		return good;
	dealbox_take_malformed(db, length, now);
	return false;
}

static void serial_restart(struct dealbox *db)
{
	memset(&db->frames, 0, sizeof(db->frames));
	db->filled = false;
}

const struct dealbox_dialect dealbox_serial = {
	.bind = serial_bind,
	.describe = serial_describe,
	.exchange = serial_exchange,
	.plan_put = serial_plan_put,
	.gate_put = serial_gate_put,
	.receive = serial_receive,
	.restart = serial_restart,
};
