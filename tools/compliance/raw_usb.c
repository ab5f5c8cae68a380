// SPDX-License-Identifier: LGPL-2.1-or-later
/* Raw access to a machine on a cable, by libusb. */
#include <errno.h>
#include <fcntl.h>
#include <libusb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "access.h"
#include "machine/backend.h"

/* A machine that was switched on or reset is found by the host a little later. */
#define OPEN_TRIES	100
#define OPEN_PAUSE_US	50000

struct usb {
	struct access access;
	int node;
	libusb_context *context;
	libusb_device_handle *handle;
	bool claimed;
};

static int usb_result(int error, int done)
{
	switch (error) {
	case 0:
		return done;
	case LIBUSB_ERROR_PIPE:
		return -EPIPE;
	case LIBUSB_ERROR_TIMEOUT:
		return done ? done : -ETIMEDOUT;
	case LIBUSB_ERROR_NO_DEVICE:
	case LIBUSB_ERROR_NOT_FOUND:
		return -ENODEV;
	case LIBUSB_ERROR_OVERFLOW:
		return -EOVERFLOW;
	case LIBUSB_ERROR_NOT_SUPPORTED:
		return -EOPNOTSUPP;
	default:
		return -EIO;
	}
}

static int usb_control(struct access *access, const uint8_t setup[8], void *data, unsigned int ms)
{
	struct usb *usb = (struct usb *)access;
	uint16_t value = (uint16_t)(setup[2] | setup[3] << 8);
	uint16_t index = (uint16_t)(setup[4] | setup[5] << 8);
	int ret;

	/* The kernel has to know of these two: configuration, and data toggle after a halt. */
	if (setup[0] == 0x00 && setup[1] == LIBUSB_REQUEST_SET_CONFIGURATION) {
		libusb_release_interface(usb->handle, access->interface);
		ret = libusb_set_configuration(usb->handle, value ? value : -1);
		if (!ret && value)
			ret = libusb_claim_interface(usb->handle, access->interface);
	} else if (setup[0] == 0x02 && setup[1] == LIBUSB_REQUEST_CLEAR_FEATURE) {
		ret = libusb_clear_halt(usb->handle, (unsigned char)index);
	} else {
		ret = libusb_control_transfer(usb->handle, setup[0], setup[1], value, index, data,
					      (uint16_t)(setup[6] | setup[7] << 8), ms);
	}
	return ret < 0 ? usb_result(ret, 0) : ret;
}

static int usb_out(struct access *access, uint8_t endpoint, const void *data, size_t length,
		   unsigned int ms)
{
	struct usb *usb = (struct usb *)access;
	int done = 0, ret;

	/* The kernel knows of what kind the endpoint is, and accepts either call. */
	ret = libusb_bulk_transfer(usb->handle, endpoint, (unsigned char *)data, (int)length,
				   &done, ms);
	return usb_result(ret, done);
}

static int usb_in(struct access *access, uint8_t endpoint, void *data, size_t size,
		  unsigned int ms)
{
	struct usb *usb = (struct usb *)access;
	int done = 0, ret;

	ret = libusb_bulk_transfer(usb->handle, endpoint, data, (int)size, &done, ms ? ms : 1);
	return usb_result(ret, done);
}

static int usb_reset(struct access *access)
{
	struct usb *usb = (struct usb *)access;

	return usb_result(libusb_reset_device(usb->handle), 0);
}

/* The kernel suspends devices, not a program. */
static int usb_unable(struct access *access)
{
	(void)access;
	return -EOPNOTSUPP;
}

static int usb_wakeup(struct access *access, unsigned int ms)
{
	(void)access;
	(void)ms;
	return -EOPNOTSUPP;
}

static void usb_close(struct access *access)
{
	struct usb *usb = (struct usb *)access;

	if (usb->claimed) {
		libusb_release_interface(usb->handle, access->interface);
		libusb_attach_kernel_driver(usb->handle, access->interface);
	}
	if (usb->handle)
		libusb_close(usb->handle);
	if (usb->context)
		libusb_exit(usb->context);
	if (usb->node >= 0)
		close(usb->node);
	free(usb);
}

static const struct access_ops usb_ops = {
	.control = usb_control, .out = usb_out, .in = usb_in, .reset = usb_reset,
	.suspend = usb_unable, .wakeup = usb_wakeup, .resume = usb_unable, .close = usb_close,
};

struct access *access_open_usb(const char *where, char *error, size_t size)
{
	struct dealbox_error reason = { 0 };
	struct usb_place place = { 0 };
	struct usb *usb;
	int ret, tries = 0;

	while ((ret = usb_place_find(where, &place, &reason)) == -ENODEV && tries++ < OPEN_TRIES)
		usleep(OPEN_PAUSE_US);
	if (ret) {
		snprintf(error, size, "%s", reason.what);
		return NULL;
	}
	usb = calloc(1, sizeof(*usb));
	if (!usb) {
		snprintf(error, size, "no memory");
		return NULL;
	}
	usb->access.ops = &usb_ops;
	usb->access.host_configures = true;
	usb->access.interface = (uint8_t)place.interface;
	usb->node = open(place.node, O_RDWR | O_CLOEXEC);
	if (usb->node < 0) {
		snprintf(error, size, "%s: %s; run this as root, or install the udev rules",
			 place.node, strerror(errno));
		usb_close(&usb->access);
		return NULL;
	}
	ret = libusb_init(&usb->context);
	if (!ret)
		ret = libusb_wrap_sys_device(usb->context, usb->node, &usb->handle);
	if (!ret) {
		libusb_set_auto_detach_kernel_driver(usb->handle, 1);
		ret = libusb_claim_interface(usb->handle, place.interface);
	}
	if (ret) {
		snprintf(error, size, "usb:%s: %s; end what uses the machine", place.port,
			 libusb_strerror(ret));
		usb_close(&usb->access);
		return NULL;
	}
	usb->claimed = true;
	return &usb->access;
}
