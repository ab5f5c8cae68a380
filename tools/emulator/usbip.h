/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * USB/IP 1.1.1 in bytes, as the kernel's vhci_hcd speaks it: pure. The specification is the
 * kernel's Documentation/usb/usbip_protocol.rst. No isochronous transfers.
 */
#ifndef EMULATOR_USBIP_H
#define EMULATOR_USBIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct transfer;

#define USBIP_HEADER		48
#define USBIP_DATA_MAX		65536	/* of one transfer to the device */
#define USBIP_MESSAGE_MAX	(USBIP_HEADER + USBIP_DATA_MAX)

enum usbip_command {
	USBIP_CMD_SUBMIT = 1, USBIP_CMD_UNLINK = 2, USBIP_RET_SUBMIT = 3, USBIP_RET_UNLINK = 4,
};

/* What comes before them over a network: a host asks for a device by its name. */
#define USBIP_IMPORT		40
#define USBIP_IMPORT_REPLY	320
#define USBIP_BUSID		"1-1"	/* the only one */
#define USBIP_DEVID		0x00010002
#define USBIP_SPEED_HIGH	3

struct usbip_message {
	enum usbip_command command;	/* SUBMIT or UNLINK */
	uint32_t seqnum;
	bool in;
	uint8_t endpoint;		/* 0..15 */
	uint32_t length;		/* of the data, or of the room for them */
	uint8_t setup[8];
	uint32_t unlink;		/* UNLINK: the seqnum of the unlinked URB */
	const uint8_t *data;		/* OUT: in the buffer that was decoded */
};

/*
 * Decodes the message at the beginning of buf. Returns its bytes, 0 when it is not there
 * whole, -1 when it is none: the connection cannot go on.
 */
int usbip_decode(const uint8_t *buf, size_t length, struct usbip_message *message);
/* What a SUBMIT asks of the device; of its data and its room as much as the device has. */
void usbip_transfer(const struct usbip_message *message, struct transfer *transfer);
/* Both write the header only, USBIP_HEADER bytes; the data of an IN transfer follow it. */
void usbip_ret_submit(uint8_t *buf, uint32_t seqnum, int32_t status, uint32_t actual_length);
void usbip_ret_unlink(uint8_t *buf, uint32_t seqnum, int32_t status);

/* Returns true if these USBIP_IMPORT bytes request the device USBIP_BUSID. */
bool usbip_is_import(const uint8_t *buf);
/*
 * The answer, for a device of that vendor and product, at most USBIP_IMPORT_REPLY bytes; granted
 * false: there is no such device. Returns its length.
 */
size_t usbip_rep_import(uint8_t *buf, bool granted, uint16_t vendor, uint16_t product);

#endif
