/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A host in user space. It does for usb: and emu: what the kernel module does for local:. It
 * answers the calls of the kernel's ABI with the same core as the module, driver/core.c, and makes
 * the transfers through struct host_bus.
 */
#ifndef DEALBOX_HOST_H
#define DEALBOX_HOST_H

#include "backend.h"
#include "core.h"

struct host;

/* The transfers of a bus. bus is the pointer given to host_new(). */
struct host_bus {
	/*
	 * Make a control transfer to the machine's interface within WIRE_CONTROL_HOST_MS. Returns
	 * the number of bytes transferred, or -errno; -EPIPE is a stall.
	 */
	int (*control)(void *bus, uint8_t type, uint8_t request, uint16_t value, void *data,
		       uint16_t length);
	/*
	 * Make a bulk transfer within ms, and clear a halt. Returns 0 or -errno; -EPIPE is a halt.
	 */
	int (*bulk_out)(void *bus, const void *data, size_t length, unsigned int ms);
	/*
	 * Submit a gate command without waiting for its completion, which is passed to
	 * host_gate_done(). At most DEALBOX_GATES are in flight. Returns 0 or -errno.
	 */
	int (*gate_out)(void *bus, const void *data, size_t length);
	/*
	 * Wait at most timeout_ms for transfers of events, and pass them to host_receive(). Returns
	 * 0, or -ENODEV if the machine is gone.
	 */
	int (*pump)(void *bus, int timeout_ms);
	void (*close)(void *bus);
};

/* How to communicate with a machine */
struct host_kind {
	const struct dealbox_dialect *dialect;
	struct wire_descriptor machine;		/* if its descriptors contain it */
	size_t transfer_size;			/* maximum size of a transfer of events, in bytes */
};

/*
 * Create a host for a machine. serial may be NULL. With observe, the machine cannot be claimed.
 * Returns NULL if memory or file descriptors run out. Free it with host_close(), which closes the
 * bus too.
 */
struct host *host_new(const struct host_bus *ops, void *bus, const struct host_kind *kind,
		      const char *serial, bool observe);

/*
 * Ask a device whose descriptors do not say it whether it is a machine, before anything else is
 * sent. Sets *machine. Returns 0 or -errno.
 */
int host_describe(struct host *host, struct wire_descriptor *machine);

/* Make the first queries, once the bus is ready. Returns 0 or -errno. */
int host_start(struct host *host);

/*
 * Process a transfer of events. Returns the pause in ms before the next one is submitted: 0 unless
 * this one was malformed.
 */
uint32_t host_receive(struct host *host, const void *data, size_t length);
/* Note that the next transfer is about to be submitted. */
void host_try_receive(struct host *host);
/*
 * Note that a transfer of events failed. Returns the pause in ms before the next one; if *reset,
 * reset the machine first.
 */
uint32_t host_receive_failed(struct host *host, bool *reset);
/*
 * Note that a gate command was completed: status is 0 or -errno. Returns true if its pipe has
 * halted: the bus then cancels the others, clears the halt, and calls host_allow_gates().
 */
bool host_gate_done(struct host *host, int status);
/* Hold gate commands while a halt is cleared, whichever transfer met it; send them again. */
void host_hold_gates(struct host *host);
void host_allow_gates(struct host *host);
/* Forget plan and deal after a reset of the machine. */
void host_was_reset(struct host *host);

/* host_fd() is for poll(2). It becomes readable also by the descriptors that host_watch() adds. */
int host_fd(const struct host *host);
int host_watch(struct host *host, int fd, uint32_t epoll_events);
void host_unwatch(struct host *host, int fd);

/* For struct backend; self is the host. */
int host_call(void *self, unsigned long request, void *arg);
ssize_t host_read(void *self, struct dealbox_event *events, size_t max);
void host_close(void *self);

#endif
