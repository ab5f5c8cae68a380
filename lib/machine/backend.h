/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inside of a machine: the ways that lead to one, behind one table.
 *
 * The calls are the kernel's, by number and structure, so that local: passes
 * them on and host.c answers them for the others.
 */
#ifndef DEALBOX_BACKEND_H
#define DEALBOX_BACKEND_H

#include <dealbox/machine.h>

#include "error.h"

struct backend {
	const char *scheme;
	/*
	 * Opens what stands behind the colon: fills in machine->self and
	 * machine->fd, and writes the address that opens it again to
	 * machine->uri. On failure -errno and machine->reason, and nothing is left.
	 */
	int (*open)(struct dealbox_machine *machine, const char *place, bool observe);
	/* One of DEALBOX_IOC_*; 0 or -errno. */
	int (*call)(void *self, unsigned long request, void *arg);
	/* As dealbox_machine_read(). */
	ssize_t (*read)(void *self, struct dealbox_event *events, size_t max);
	void (*close)(void *self);
};

extern const struct backend backend_local, backend_usb, backend_emu;

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
 * No permission for the node at path: says its owner, group and mode, and what
 * mends it: to join the group, or next when the group may not use it either.
 * Returns -EACCES.
 */
int reason_permission(struct dealbox_error *reason, const char *path, const char *next);
#define NO_RULE	"install the udev rule of dealbox, then run `sudo udevadm trigger`"

/*
 * Nothing to open: says why (nothing plugged in, module not loaded, Secure Boot)
 * and what to do. Returns -ENODEV.
 */
int reason_no_machine(struct dealbox_error *reason);

/* A process in words, "dealbox (1234)", in text; "another process" for 0. */
const char *process_name(uint32_t pid, char *text, size_t size);

/* A machine on USB, as sysfs has it. */
struct usb_place {
	char node[64];		/* /dev/bus/usb/001/004 */
	char serial[64];
	char port[32];		/* 1-2.3 */
	char driver[32];	/* bound to the interface, empty if none */
	int interface;
};

/*
 * The machine with that serial number or at that port; place "" is the only one.
 * 0, or -errno and *reason.
 */
int usb_place_find(const char *place, struct usb_place *out, struct dealbox_error *reason);

#endif
