/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encoding of USB/IP 1.1.1 as used by the kernel's vhci_hcd. No I/O. The specification is the
 * kernel's Documentation/usb/usbip_protocol.rst. No isochronous transfers.
 */
#ifndef EMULATOR_USBIP_H
#define EMULATOR_USBIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct transfer;

#define USBIP_HEADER		48
#define USBIP_DATA_MAX		65536	/* bytes per transfer to the device */
#define USBIP_MESSAGE_MAX	(USBIP_HEADER + USBIP_DATA_MAX)

enum usbip_command {
	USBIP_CMD_SUBMIT = 1, USBIP_CMD_UNLINK = 2, USBIP_RET_SUBMIT = 3, USBIP_RET_UNLINK = 4,
};

/* Over a network, the host first imports a device by name. */
#define USBIP_IMPORT		40
#define USBIP_IMPORT_REPLY	320
#define USBIP_BUSID		"1-1"	/* name of the only device */
#define USBIP_DEVID		0x00010002
#define USBIP_SPEED_HIGH	3

struct usbip_message {
	enum usbip_command command;	/* SUBMIT or UNLINK */
	uint32_t seqnum;
	bool in;
	uint8_t endpoint;		/* 0..15 */
	uint32_t length;		/* size of the data, or of the buffer for them */
	uint8_t setup[8];
	uint32_t unlink;		/* UNLINK: the seqnum of the unlinked URB */
	const uint8_t *data;		/* OUT: points into the decoded buffer */
};

/*
 * Decode the message at the start of buf. Returns its size in bytes, 0 if it is incomplete, or -1
 * if it is invalid, and the connection must be closed.
 */
int usbip_decode(const uint8_t *buf, size_t length, struct usbip_message *message);
/* Convert a SUBMIT to a transfer, limited to the size that the device supports. */
void usbip_transfer(const struct usbip_message *message, struct transfer *transfer);
/* These write only the header, USBIP_HEADER bytes. The data of an IN transfer follow it. */
void usbip_ret_submit(uint8_t *buf, uint32_t seqnum, int32_t status, uint32_t actual_length);
void usbip_ret_unlink(uint8_t *buf, uint32_t seqnum, int32_t status);

/* Return true if these USBIP_IMPORT bytes request the device USBIP_BUSID. */
bool usbip_is_import(const uint8_t *buf);
/*
 * Write the answer to an import, at most USBIP_IMPORT_REPLY bytes; with granted false, there is no
 * such device. Returns its length.
 */
size_t usbip_rep_import(uint8_t *buf, bool granted, uint16_t vendor, uint16_t product);

#endif
