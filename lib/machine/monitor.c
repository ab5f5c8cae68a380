// SPDX-License-Identifier: LGPL-2.1-or-later
/* Watch for machines that are plugged in and unplugged, through udev. */
#include <errno.h>
#include <libudev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

struct dealbox_monitor {
	struct udev *udev;
	struct udev_monitor *monitor;
};

static int open_udev(struct dealbox_monitor *monitor)
{
	int err;

	monitor->udev = udev_new();
	if (!monitor->udev)
		return -ENOMEM;
	/* "udev" events follow the rules, so the node already has its group. */
	monitor->monitor = udev_monitor_new_from_netlink(monitor->udev, "udev");
	if (!monitor->monitor)
		return -EIO;
	err = udev_monitor_filter_add_match_subsystem_devtype(monitor->monitor, "dealbox", NULL);
	if (err >= 0)
		err = udev_monitor_filter_add_match_subsystem_devtype(monitor->monitor, "usb",
								      "usb_interface");
	if (err >= 0)
		err = udev_monitor_enable_receiving(monitor->monitor);
	return err < 0 ? err : 0;
}

int dealbox_monitor_new(struct dealbox_monitor **out, struct dealbox_error *reason)
{
	struct dealbox_monitor *monitor = calloc(1, sizeof(*monitor));
	int err = monitor ? open_udev(monitor) : -ENOMEM;

	*out = NULL;
	if (err) {
		dealbox_monitor_free(monitor);
		return error_set(reason, err, 0, "check that systemd-udevd is running",
				 "cannot watch for machines: %s", strerror(-err));
	}
	*out = monitor;
	return 0;
}

void dealbox_monitor_free(struct dealbox_monitor *monitor)
{
	if (!monitor)
		return;
	udev_monitor_unref(monitor->monitor);
	udev_unref(monitor->udev);
	free(monitor);
}

int dealbox_monitor_fd(const struct dealbox_monitor *monitor)
{
	return udev_monitor_get_fd(monitor->monitor);
}

/* Attributes are gone with the device, so go by the properties of the event. */
static bool is_machine(struct udev_device *device)
{
	const char *subsystem = udev_device_get_subsystem(device);
	const char *interface = udev_device_get_property_value(device, "INTERFACE");
	const char *product = udev_device_get_property_value(device, "PRODUCT");
	unsigned int class, subclass, protocol, vendor = 0, id = 0;

	if (subsystem && !strcmp(subsystem, "dealbox"))
		return true;
	if (!interface || sscanf(interface, "%u/%u/%u", &class, &subclass, &protocol) != 3 ||
	    class != WIRE_CLASS || subclass != WIRE_SUBCLASS)
		return false;
	if (product)
		sscanf(product, "%x/%x/", &vendor, &id);
	return usb_is_machine((uint16_t)vendor, (uint16_t)id, (uint8_t)protocol);
}

static enum dealbox_plug what_happened(struct udev_device *device)
{
	const char *action = udev_device_get_action(device);

	if (action && !strcmp(action, "add"))
		return DEALBOX_PLUG_ADDED;
	if (action && !strcmp(action, "remove"))
		return DEALBOX_PLUG_REMOVED;
	return DEALBOX_PLUG_CHANGED;
}

int dealbox_monitor_next(struct dealbox_monitor *monitor, char port[DEALBOX_PORT])
{
	struct udev_device *device, *usb;
	enum dealbox_plug plug;

	for (;;) {
		errno = 0;
		device = udev_monitor_receive_device(monitor->monitor);
		if (!device)
			return errno == ENOBUFS ? -ENOBUFS : -EAGAIN;
		if (is_machine(device))
			break;
		udev_device_unref(device);
	}
	usb = udev_device_get_parent_with_subsystem_devtype(device, "usb", "usb_device");
	snprintf(port, DEALBOX_PORT, "%s", usb ? udev_device_get_sysname(usb) : "");
	plug = what_happened(device);
	udev_device_unref(device);
	return plug;
}
