// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/usb/ch9.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "emulated.h"
#include "port.h"
#include "usbip.h"
#include "vhci.h"

/* Each controller has eight or more of high speed; the machines of a test are in the first. */
#define PORT	7
#define PRODUCT	"1209/10/100"		/* in uevents of the device below */

static const struct usb_device_descriptor device = {
	.bLength = USB_DT_DEVICE_SIZE,
	.bDescriptorType = USB_DT_DEVICE,
	.bcdUSB = 0x0200,
	.bDeviceClass = USB_CLASS_VENDOR_SPEC,
	.bMaxPacketSize0 = 64,
	.idVendor = 0x1209,
	.idProduct = 0x0010,
	.bcdDevice = 0x0100,
	.bNumConfigurations = 1,
};

static const struct {
	struct usb_config_descriptor config;
	struct usb_interface_descriptor interface;
} __attribute__((packed)) configuration = {
	.config = {
		.bLength = USB_DT_CONFIG_SIZE,
		.bDescriptorType = USB_DT_CONFIG,
		.wTotalLength = sizeof(configuration),
		.bNumInterfaces = 1,
		.bConfigurationValue = 1,
		.bmAttributes = USB_CONFIG_ATT_ONE | USB_CONFIG_ATT_SELFPOWER,
	},
	.interface = {
		.bLength = USB_DT_INTERFACE_SIZE,
		.bDescriptorType = USB_DT_INTERFACE,
		.bInterfaceClass = USB_CLASS_VENDOR_SPEC,
	},
};

/* The requests and descriptors that the device answers; it stalls all others. */
static const struct {
	uint8_t request[2];
	uint8_t descriptor;
	const void *answer;
	size_t length;
} answers[] = {
	{ { USB_DIR_IN, USB_REQ_GET_DESCRIPTOR }, USB_DT_DEVICE, &device, sizeof(device) },
	{ { USB_DIR_IN, USB_REQ_GET_DESCRIPTOR }, USB_DT_CONFIG, &configuration,
	  sizeof(configuration) },
	{ { USB_DIR_OUT, USB_REQ_SET_CONFIGURATION }, 0, NULL, 0 },
};

static size_t answer(const struct usbip_message *message, uint8_t *reply)
{
	size_t i, length;

	if (message->command == USBIP_CMD_UNLINK) {
		/* the URB to unlink has already been answered */
		usbip_ret_unlink(reply, message->seqnum, 0);
		return USBIP_HEADER;
	}
	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (memcmp(message->setup, answers[i].request, 2) ||
		    (answers[i].answer && message->setup[3] != answers[i].descriptor))
			continue;
		length = message->length < answers[i].length ? message->length : answers[i].length;
		usbip_ret_submit(reply, message->seqnum, 0, length);
		if (length)
			memcpy(reply + USBIP_HEADER, answers[i].answer, length);
		return USBIP_HEADER + length;
	}
	usbip_ret_submit(reply, message->seqnum, -EPIPE, 0);
	return USBIP_HEADER;
}

/* Answers the kernel's requests, none of which carries data. */
static bool serve(int plug)
{
	uint8_t question[USBIP_HEADER], reply[USBIP_HEADER + sizeof(configuration)];
	struct usbip_message message;
	size_t length;

	if (recv(plug, question, sizeof(question), MSG_WAITALL) != sizeof(question) ||
	    usbip_decode(question, sizeof(question), &message) <= 0)
		return false;
	length = answer(&message, reply);
	return send(plug, reply, length, MSG_NOSIGNAL) == (ssize_t)length;
}

/* Returns true if the next uevent reports this action on the device */
static bool it_is(int uevents, const char *action)
{
	char message[4096];
	ssize_t length = recv(uevents, message, sizeof(message) - 1, 0);

	if (length <= 0)
		return false;
	message[length] = '\0';
	return !strcmp(uevent_value(message, length, "ACTION"), action) &&
	       !strcmp(uevent_value(message, length, "DEVTYPE"), "usb_device") &&
	       !strcmp(uevent_value(message, length, "PRODUCT"), PRODUCT);
}

/* plug: -1 if nothing is plugged in any more */
static bool await(int uevents, const char *action, int plug)
{
	struct pollfd fds[] = {
		{ .fd = uevents, .events = POLLIN },
		{ .fd = plug, .events = POLLIN },
	};

	while (poll(fds, 2, PATIENCE) > 0) {
		if (fds[0].revents && it_is(uevents, action))
			return true;
		if (fds[1].revents && !serve(plug))
			return false;
	}
	return false;
}

const char *port_plug(int uevents, int *plug)
{
	long long end = now_ms() + PATIENCE;

	/* the port is free a moment after its device is gone */
	while ((*plug = vhci_plug(PORT)) < 0) {
		if (now_ms() > end)
			return strerror(-*plug);
		a_moment();
	}
	/* the device is bound once it has a configuration */
	if (await(uevents, "bind", *plug))
		return NULL;
	close(*plug);
	return "a device is not found";
}

const char *port_unplug(int uevents, int plug)
{
	close(plug);
	return await(uevents, "remove", -1) ? NULL : "a device that was pulled out does not go";
}
