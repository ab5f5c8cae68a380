// SPDX-License-Identifier: GPL-2.0-only
/*
 * The dialect of docs/protocol.md: requests on the control pipe, plans on a bulk
 * pipe, events and gate commands on interrupt pipes.
 */
#include <linux/errno.h>

#include "dealbox.h"

/* Section 1.1 of the protocol. */
static int read_descriptor(struct usb_interface *intf, struct wire_descriptor *machine)
{
	struct usb_host_interface *alt = intf->cur_altsetting;
	const u8 *bytes = alt->extra;
	int length = alt->extralen;

	if (length >= WIRE_DESC_SIZE && bytes[1] == WIRE_DESC_TYPE &&
	    bytes[2] == WIRE_DESC_SUBTYPE && bytes[5] > WIRE_VERSION >> 8) {
		dev_err(&intf->dev,
			"the machine speaks protocol %u.%u, this driver %u.x: update the driver\n",
			bytes[5], bytes[4], WIRE_VERSION >> 8);
		return -EPROTONOSUPPORT;
	}
	if (!dealbox_decode_descriptor(bytes, length, machine)) {
		dev_err(&intf->dev, "machine descriptor missing, too short or out of range\n");
		return -EPROTO;
	}
	return 0;
}

static int native_bind(struct dealbox *db, struct dealbox_pipes *pipes)
{
	struct usb_host_interface *alt = db->intf->cur_altsetting;
	struct usb_endpoint_descriptor *in, *out, *gate = NULL;
	int error = read_descriptor(db->intf, &db->machine);
	bool routed = db->machine.capabilities & DEALBOX_CAP_HOST_ROUTED;

	if (error)
		return error;
	if (usb_find_common_endpoints(alt, NULL, &out, &in, NULL) ||
	    usb_endpoint_maxp(out) < 8 || usb_endpoint_maxp(in) < WIRE_INT_IN_MIN ||
	    (routed && (usb_find_int_out_endpoint(alt, &gate) ||
			usb_endpoint_maxp(gate) < WIRE_INT_OUT_MIN))) {
		dev_err(&db->intf->dev, "an endpoint is missing or too small\n");
		return -EPROTO;
	}
	*pipes = (struct dealbox_pipes){ .in = in, .out = out, .gate = gate };
	return 0;
}

static int native_exchange(struct dealbox *db, u8 type, u8 request, u16 value, u16 length)
{
	unsigned int pipe = type & USB_DIR_IN ? usb_rcvctrlpipe(db->udev, 0) :
						usb_sndctrlpipe(db->udev, 0);
	int error;

	db->setup->bRequestType = type;
	db->setup->bRequest = request;
	db->setup->wValue = cpu_to_le16(value);
	db->setup->wIndex = cpu_to_le16(db->intf->cur_altsetting->desc.bInterfaceNumber);
	db->setup->wLength = cpu_to_le16(length);
	usb_fill_control_urb(db->ctl_urb, db->udev, pipe, (unsigned char *)db->setup,
			     db->ctl_buf, length, dealbox_transfer_done, NULL);
	error = dealbox_transfer(db, db->ctl_urb, WIRE_CONTROL_HOST_MS);
	if (!error && db->ctl_urb->actual_length != length)
		return -EPROTO;
	return error;
}

static size_t native_gate_put(u8 *buf, const struct wire_gate *gate)
{
	dealbox_encode_gate(buf, gate);
	return WIRE_GATE_SIZE;
}

/* A transfer that is not a whole number of events is dropped as a whole. */
static bool native_receive(struct dealbox *db, const u8 *bytes, unsigned int length, u64 now)
{
	unsigned int i;
	bool good = true;

	if (!length || length % WIRE_EVENT_SIZE) {
		dealbox_take_malformed(db, length, now);
		return false;
	}
	for (i = 0; i < length; i += WIRE_EVENT_SIZE)
		good &= dealbox_take_event(db, bytes + i, now);
	return good;
}

const struct dealbox_dialect dealbox_native = {
	.bind = native_bind,
	.exchange = native_exchange,
	.plan_put = dealbox_encode_plan,
	.gate_put = native_gate_put,
	.receive = native_receive,
};
