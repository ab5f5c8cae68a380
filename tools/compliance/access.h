/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Access to a machine. Raw: whatever can be sent, also what no host sends, by emu:PATH
 * (dealbox-emulator --socket) or usb:PLACE (libusb, the module is detached meanwhile). Or by the
 * module, local:NODE, with the calls of local.h.
 */
#ifndef COMPLIANCE_ACCESS_H
#define COMPLIANCE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"

/* the longest data of a transfer */
#define ACCESS_MAX	4096

struct access;
struct local;

/*
 * All calls wait for at most ms, and return a number of bytes (0 or more) or -errno: -EPIPE is a
 * stall, -ETIMEDOUT no answer, -ENODEV a machine that is gone, -EOVERFLOW more data than asked for,
 * -EOPNOTSUPP what this address cannot do.
 */
struct access_ops {
	/* data of as many bytes as setup says, to or from the machine */
	int (*control)(struct access *access, const uint8_t setup[8], void *data, unsigned int ms);
	/* a transfer to an OUT endpoint; 0 bytes are an empty packet */
	int (*out)(struct access *access, uint8_t endpoint, const void *data, size_t length,
		   unsigned int ms);
	/* one transfer of an IN endpoint; nothing is fetched between calls */
	int (*in)(struct access *access, uint8_t endpoint, void *data, size_t size,
		  unsigned int ms);
	int (*reset)(struct access *access);
	int (*suspend)(struct access *access);
	/* wait until a suspended machine wakes the host */
	int (*wakeup)(struct access *access, unsigned int ms);
	int (*resume)(struct access *access);
	void (*close)(struct access *access);
};

struct access {
	const struct access_ops *ops;
	uint8_t interface;	/* number of the machine's interface */
	bool host_configures;	/* the kernel has configured the machine before it is opened */
	struct local *local;	/* by the module: there is no raw access; else NULL */
};

/*
 * Open the machine at an address. It is not configured yet where the address allows that. Returns
 * NULL, with the reason in error.
 */
struct access *access_open(const char *address, char *error, size_t size);
struct access *access_open_emu(const char *path, char *error, size_t size);
struct access *access_open_usb(const char *place, char *error, size_t size);

#endif
