/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine as a USB device: descriptors, standard requests, endpoints that halt, and
 * transfers that a scenario spoils. Pure, like emulated_machine.h: both fronts carry the
 * transfers of one of these.
 */
#ifndef EMULATOR_DEVICE_H
#define EMULATOR_DEVICE_H

#include "emulated_machine.h"

#define DEVICE_VENDOR		0x1209
#define DEVICE_PRODUCT		0x0001
#define DEVICE_DATA_MAX		4096
#define DEVICE_PENDING_MAX	64

#define DEVICE_EP_BULK_OUT	0x01
#define DEVICE_EP_INT_IN	0x82	/* bulk in the serial dialect */
#define DEVICE_EP_INT_OUT	0x03

struct device_config {
	char serial[64], product[64];
	uint16_t int_in_size;	/* wMaxPacketSize, 32..1024 */
	bool serial_dialect;	/* docs/protocol-serial.md instead of docs/protocol.md */
};

/* One transfer that the host asks for. */
struct transfer {
	uint64_t tag;		/* the host's own number of it */
	uint8_t endpoint;	/* 0, or an address of a descriptor */
	uint8_t setup[8];	/* endpoint 0 */
	uint32_t length;	/* of data for OUT, of the buffer for IN */
	uint8_t data[DEVICE_DATA_MAX];
};

/* The result of a transfer. status is 0 or a negative errno, as of a URB: -EPIPE = stall. */
struct completion {
	uint64_t tag;
	uint8_t endpoint;
	bool in;
	int32_t status;
	uint32_t length;	/* data read, or bytes written */
	uint8_t data[DEVICE_DATA_MAX];
};

struct device;

/* The machine is not owned. NULL without memory. */
struct device *device_new(struct machine *machine, const struct device_config *config);
void device_free(struct device *device);

/*
 * The machine must have been run to the present before each call. A transfer is copied.
 * It is answered by device_reap(), at once or later or never.
 */
void device_submit(struct device *device, uint64_t now, const struct transfer *transfer);
/*
 * The host wants to take this transfer back: what a scenario has happen at that moment. The
 * transfer may end by it, so reap before device_cancel().
 */
void device_before_cancel(struct device *device, uint64_t tag);
/* Takes a transfer back. True: it had not been reaped, and never will be. */
bool device_cancel(struct device *device, uint64_t tag);
/* The next transfer that has ended. False = none at this time. */
bool device_reap(struct device *device, uint64_t now, struct completion *completion);
/* When device_reap() may have something, MACHINE_NEVER if nothing is known. */
uint64_t device_next(const struct device *device);
/* The cable is pulled: all transfers are forgotten, the machine is not configured any more. */
void device_detach(struct device *device);
/* Returns the number of transfers so far. */
uint32_t device_submitted(const struct device *device);
/* 0 = there is no interrupt OUT endpoint */
uint16_t device_int_out_size(const struct device *device);
const struct device_config *device_config(const struct device *device);

#endif
