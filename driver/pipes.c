// SPDX-License-Identifier: GPL-2.0-only
/* Endpoints of each kind of machine. */
#include <linux/errno.h>

#include "dealbox.h"

/* docs/protocol.md, section 1.1 */
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
	int error = read_descriptor(db->intf, &db->core.machine);
	bool routed = db->core.machine.capabilities & DEALBOX_CAP_HOST_ROUTED;

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

const struct dealbox_kind dealbox_native_kind = {
	.dialect = &dealbox_native,
	.bind = native_bind,
};

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

const struct dealbox_kind dealbox_serial_kind = {
	.dialect = &dealbox_serial,
	.bind = serial_bind,
};
