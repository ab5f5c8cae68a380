/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fronts connect the device to a host: a unix socket (lib/machine/emu.h), the kernel's vhci_hcd
 * (USB/IP), a USB/IP server for another computer's, QEMU's usb-redir, or a USB device controller. A
 * front carries transfers, and knows nothing of the machine.
 */
#ifndef EMULATOR_FRONT_H
#define EMULATOR_FRONT_H

#include <poll.h>
#include <stdio.h>

#include "device.h"

#define FRONT_POLL_MAX	2

struct front;

struct front_ops {
	/* Fills what to poll for, returns how many. */
	unsigned int (*poll)(struct front *front, struct pollfd *fds);
	/* Takes in what came; fds as filled by poll. */
	void (*serve)(struct front *front, const struct pollfd *fds, uint64_t now);
	/* Sends what the device has ready; the cable goes in or out as the machine says. */
	void (*flush)(struct front *front, uint64_t now);
	uint64_t (*next)(const struct front *front);
	/* Ends and frees. */
	void (*close)(struct front *front);
};

struct front {
	const struct front_ops *ops;
	struct device *device;
	struct machine *machine;
	FILE *trace;		/* transfers in hex, NULL = none */
};

/* On an error, each prints the reason to stderr and returns NULL. */
struct front *front_socket_open(const char *path, struct device *device,
				struct machine *machine, FILE *trace);
/* port -1 = the first free high-speed port */
struct front *front_usbip_open(int port, struct device *device, struct machine *machine,
			       FILE *trace);
/* Listens at that TCP port of this computer's 127.0.0.1, 0 = any; says on stdout at which. */
struct front *front_usbip_serve(unsigned int port, struct device *device, struct machine *machine,
				FILE *trace);
/* For QEMU's usb-redir, which connects to path */
struct front *front_usbredir_open(const char *path, struct device *device,
				  struct machine *machine, FILE *trace);
/* udc: a name in /sys/class/udc */
struct front *front_gadget_open(const char *udc, struct device *device, struct machine *machine,
				FILE *trace);
/* Writes one line of a trace; label e.g. "control". */
void front_trace(FILE *trace, uint64_t now, const char *label, int status, const uint8_t *data,
		 size_t length);

#endif
