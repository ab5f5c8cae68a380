/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine as a USB device: descriptors, standard requests, halts, and transfers that a scenario
 * corrupts. Pure, like emulated_machine.h. The fronts connect it to a host.
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
	uint8_t protocol;	/* of the interface, which tells the dialect: driver/dialects.h */
	bool by_request;	/* the machine descriptor is none of USB's: the host asks for it */
};

/* A transfer submitted by the host */
struct transfer {
	uint64_t tag;		/* the host's number of the transfer */
	uint8_t endpoint;	/* 0, or bEndpointAddress */
	uint8_t setup[8];	/* endpoint 0 */
	uint32_t length;	/* OUT: size of data; IN: size of the buffer */
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

/* Create a device for a machine, which the caller keeps. Returns NULL without memory. */
struct device *device_new(struct machine *machine, const struct device_config *config);
void device_free(struct device *device);

/*
 * Submit a transfer, which is copied. device_reap() returns its result, at once, later or never.
 * The machine must have been run to the present before all calls.
 */
void device_submit(struct device *device, uint64_t now, const struct transfer *transfer);
/*
 * The host is about to cancel a transfer: run the scenario's rules for that. They may end the
 * transfer, so call device_reap() before device_cancel().
 */
void device_before_cancel(struct device *device, uint64_t tag);
/* Cancel a transfer. Returns true if it had not been reaped; then it never will be. */
bool device_cancel(struct device *device, uint64_t tag);
/* Get the next completed transfer. Returns false if there is none. */
bool device_reap(struct device *device, uint64_t now, struct completion *completion);
/* Return when device_reap() may have a result, MACHINE_NEVER if that is unknown. */
uint64_t device_next(const struct device *device);
/* Unplug the cable, or reset the bus: drop all transfers and unconfigure the machine. */
void device_detach(struct device *device);
/* The host suspends the bus. Nothing is lost. */
void device_suspend(struct device *device);
/* Return true if the host has configured the device, and not reset the bus since. */
bool device_configured(const struct device *device);
/* Return true if a suspended device is to wake the host for its events. */
bool device_wakes(const struct device *device);
/* Return the number of transfers so far. */
uint32_t device_submitted(const struct device *device);
/* Return wMaxPacketSize of the interrupt OUT endpoint, 0 if there is none. */
uint16_t device_int_out_size(const struct device *device);
const struct device_config *device_config(const struct device *device);

#endif
