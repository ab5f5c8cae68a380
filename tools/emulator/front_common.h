/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fronts connect the device to a host: through a Unix socket (lib/machine/emu.h), this computer's
 * vhci_hcd (USB/IP), a USB/IP server for another computer, QEMU's usb-redir, or a USB device
 * controller. They pass on transfers and do not interpret them.
 */
#ifndef EMULATOR_FRONT_H
#define EMULATOR_FRONT_H

#include <poll.h>
#include <stdio.h>

#include "device.h"

#define FRONT_POLL_MAX	2

struct front;

struct front_ops {
	/* Fill fds for poll(2). Returns their number. */
	unsigned int (*poll)(struct front *front, struct pollfd *fds);
	/* Process input, after poll(2) on fds. */
	void (*serve)(struct front *front, const struct pollfd *fds, uint64_t now);
	/* Send completed transfers, and plug or unplug the device as the machine requires. */
	void (*flush)(struct front *front, uint64_t now);
	uint64_t (*next)(const struct front *front);
	/* Close and free the front. */
	void (*close)(struct front *front);
};

struct front {
	const struct front_ops *ops;
	struct device *device;
	struct machine *machine;
	FILE *trace;		/* log of transfers in hex, may be NULL */
};

/* These return NULL after printing an error to stderr. */
struct front *front_socket_open(const char *path, struct device *device,
				struct machine *machine, FILE *trace);
/* port -1 = the first free high-speed port */
struct front *front_usbip_open(int port, struct device *device, struct machine *machine,
			       FILE *trace);
/* Listen at a TCP port of 127.0.0.1, 0 = any. Prints the port to stdout. */
struct front *front_usbip_serve(unsigned int port, struct device *device, struct machine *machine,
				FILE *trace);
/* path is the socket for QEMU's usb-redir */
struct front *front_usbredir_open(const char *path, struct device *device,
				  struct machine *machine, FILE *trace);
/* udc: a name in /sys/class/udc */
struct front *front_gadget_open(const char *udc, struct device *device, struct machine *machine,
				FILE *trace);
/* Write a line of the trace; label is e.g. "control". */
void front_trace(FILE *trace, uint64_t now, const char *label, int status, const uint8_t *data,
		 size_t length);

#endif
