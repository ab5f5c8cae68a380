/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A host in user space: what the kernel module does for local:, done for a
 * machine that is reached by libusb or by the emulator's socket. It speaks the
 * machine protocol over a bus, which only moves bytes, and answers the calls of
 * the kernel's ABI with the same pure files as the module (driver/).
 */
#ifndef DEALBOX_HOST_H
#define DEALBOX_HOST_H

#include "backend.h"
#include "core.h"

struct host;

/* A bus: each function takes the pointer that host_new() was given. */
struct host_bus {
	/*
	 * A control transfer to the machine's interface, with WIRE_CONTROL_HOST_MS
	 * to finish. Bytes moved, or -errno: -EPIPE = the machine stalled it.
	 */
	int (*control)(void *bus, uint8_t type, uint8_t request, uint16_t value, void *data,
		       uint16_t length);
	/*
	 * A bulk transfer, with so many ms to finish; 0 or -errno. A halt is cleared before it
	 * returns.
	 */
	int (*bulk_out)(void *bus, const void *data, size_t length, unsigned int ms);
	/* Sends a gate command and does not wait for its end. 0 or -errno. */
	int (*gate_out)(void *bus, const void *data, size_t length);
	/*
	 * Gives what the machine sent to host_receive(), after waiting for it at
	 * most so long. 0; -ENODEV when the machine is gone.
	 */
	int (*pump)(void *bus, int timeout_ms);
	void (*close)(void *bus);
};

/* How a machine is spoken to. */
struct host_kind {
	const struct dealbox_dialect *dialect;
	struct wire_descriptor machine;		/* unless the dialect asks for it */
	size_t transfer_size;			/* the longest transfer of events */
};

/*
 * A host for a machine of that kind; serial may be NULL; with observe it cannot be claimed.
 * NULL when there is no memory or no descriptor left. Free it with host_close(), which closes
 * the bus too.
 */
struct host *host_new(const struct host_bus *ops, void *bus, const struct host_kind *kind,
		      const char *serial, bool observe);

/* First talk with the machine, when the bus is ready. 0 or -errno. */
int host_start(struct host *host);

/*
 * A transfer of events has come. Returns how many ms to wait before the next one is asked
 * for: 0 unless what came was bad.
 */
uint32_t host_receive(struct host *host, const void *data, size_t length);
/* The next one is asked for. */
void host_try_receive(struct host *host);
/* ... it failed: returns ms as above; *reset: and the machine is to be reset before. */
uint32_t host_receive_failed(struct host *host, bool *reset);
/* The machine was reset. */
void host_was_reset(struct host *host);

/* What poll(2) waits for, and descriptors of the bus that wake it. */
int host_fd(const struct host *host);
int host_watch(struct host *host, int fd, uint32_t epoll_events);
void host_unwatch(struct host *host, int fd);

/* call, read and close of struct backend; self is the host. */
int host_call(void *self, unsigned long request, void *arg);
ssize_t host_read(void *self, struct dealbox_event *events, size_t max);
void host_close(void *self);

#endif
