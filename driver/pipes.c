// SPDX-License-Identifier: GPL-2.0-only
/* The endpoints of a machine. */
#include <linux/errno.h>

#include "dealbox.h"

int dealbox_refuse_descriptor(struct dealbox *db, int error)
{
	if (error == -EPROTONOSUPPORT)
		dev_err(&db->intf->dev,
			"the machine speaks a later protocol than %u.x: update the driver\n",
			WIRE_VERSION >> 8);
	else
		dev_err(&db->intf->dev,
			"machine descriptor missing, too short or out of range: %d\n",
			error);
	return error;
}

static int no_endpoint(struct dealbox *db)
{
	dev_err(&db->intf->dev, "an endpoint is missing or too small\n");
	return -EPROTO;
}

/* docs/protocol.md, section 1.1. probe() asks for a missing one. */
static int read_descriptor(struct dealbox *db)
{
	struct usb_host_interface *alt = db->intf->cur_altsetting;
	int error = dealbox_read_descriptor(alt->extra, alt->extralen,
					    &db->core.machine);

	if (!error || error == -ENOENT)
		return 0;
	return dealbox_refuse_descriptor(db, error);
}

static int interrupt_pipes(struct dealbox *db, struct dealbox_pipes *pipes)
{
	struct usb_host_interface *alt = db->intf->cur_altsetting;
	struct usb_endpoint_descriptor *in, *out, *gate = NULL;

	if (usb_find_common_endpoints(alt, NULL, &out, &in, NULL) ||
	    usb_endpoint_maxp(out) < 8 ||
	    usb_endpoint_maxp(in) < WIRE_INT_IN_MIN)
		return no_endpoint(db);
	/* dealbox_check_pipes() refuses a host-routed machine without it. */
	if (usb_find_int_out_endpoint(alt, &gate) ||
	    usb_endpoint_maxp(gate) < WIRE_INT_OUT_MIN)
		gate = NULL;
	*pipes = (struct dealbox_pipes){ .in = in, .out = out, .gate = gate };
	return 0;
}

static int bulk_pipes(struct dealbox *db, struct dealbox_pipes *pipes)
{
	struct usb_endpoint_descriptor *in, *out;

	if (usb_find_common_endpoints(db->intf->cur_altsetting, &in, &out, NULL,
				      NULL) ||
	    usb_endpoint_maxp(in) < 8 || usb_endpoint_maxp(out) < 8)
		return no_endpoint(db);
	*pipes = (struct dealbox_pipes){ .in = in, .out = out, .gate = out };
	return 0;
}

int dealbox_find_pipes(struct dealbox *db, struct dealbox_pipes *pipes)
{
	const struct dealbox_dialect *dialect = db->core.dialect;
	int error = dialect->described ? 0 : read_descriptor(db);

	if (error)
		return error;
	return dialect->bulk ? bulk_pipes(db, pipes) :
			       interrupt_pipes(db, pipes);
}

int dealbox_check_pipes(struct dealbox *db, struct dealbox_pipes *pipes)
{
	if (!(db->core.machine.capabilities & DEALBOX_CAP_HOST_ROUTED))
		pipes->gate = NULL;
	else if (!pipes->gate)
		return no_endpoint(db);
	return 0;
}
