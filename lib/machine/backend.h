/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Backends: the ways to reach a machine.
 *
 * The calls have the numbers and structures of the kernel's ABI. local: passes them on; host.c
 * implements them for the other backends.
 */
#ifndef DEALBOX_BACKEND_H
#define DEALBOX_BACKEND_H

#include <dealbox/machine.h>

#include "core.h"
#include "error-internal.h"

struct backend {
	const char *scheme;
	/*
	 * Open the machine at place, the part of the address after the colon. Sets machine->self,
	 * machine->fd, and machine->uri, an address that opens the same machine again. On failure,
	 * frees everything, sets machine->reason and returns -errno.
	 */
	int (*open)(struct dealbox_machine *machine, const char *place, bool observe);
	/* request is DEALBOX_IOC_*. Returns 0 or -errno. */
	int (*call)(void *self, unsigned long request, void *arg);
	/* Like dealbox_machine_read(). */
	ssize_t (*read)(void *self, struct dealbox_event *events, size_t max);
	void (*close)(void *self);
	/* hand: only, otherwise NULL: dealbox_machine_get_prompt(), dealbox_machine_count_from() */
	void (*hand)(void *self, struct dealbox_prompt *out);
	void (*count_from)(void *self, uint32_t insertion);
};

extern const struct backend backend_local, backend_usb, backend_emu, backend_hand;

struct dealbox_machine {
	const struct backend *backend;
	void *self;
	int fd;
	char uri[256];
	struct dealbox_error reason;
	uint32_t result;
	uint32_t detail;
};

/*
 * Report that the user may not open path, with its owner, group and mode. The advice is to join the
 * group, or next if that would not help. Returns -EACCES.
 */
int reason_permission(struct dealbox_error *reason, const char *path, const char *next);
#define NO_RULE	"install the udev rule of dealbox, then run `sudo udevadm trigger`"

/*
 * Report why there is no machine to open (not plugged in, module not loaded, Secure Boot), and what
 * to do. Returns -ENODEV.
 */
int reason_no_machine(struct dealbox_error *reason);

/* Write "dealbox (process 1234)" to text, or "another process" for 0. Returns text. */
const char *process_name(uint32_t pid, char *text, size_t size);

/*
 * Return the dialect of an interface of class WIRE_CLASS with this protocol, NULL if it is none's.
 */
const struct dealbox_dialect *usb_dialect(uint8_t protocol);

/*
 * Return true if such an interface is a machine's: if its descriptors can say so, or if vendor and
 * product are known.
 */
bool usb_is_machine(uint16_t vendor, uint16_t product, uint8_t protocol);

/* A machine in sysfs */
struct usb_place {
	char node[64];		/* /dev/bus/usb/001/004 */
	char serial[64];
	char port[32];		/* 1-2.3 */
	char driver[32];	/* bound to the interface, empty if none */
	int interface;
};

/*
 * Find a machine by serial number or port; "" finds the only one. Returns 0, or -errno with *reason
 * set.
 */
int usb_place_find(const char *place, struct usb_place *out, struct dealbox_error *reason);

#endif
