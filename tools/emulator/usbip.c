/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "device.h"
#include "usbip.h"

#define VERSION_CODE(code)	(0x01110000 | (code))
#define REQ_IMPORT	0x8003
#define REP_IMPORT	0x0003

static uint32_t get(const uint8_t *buf)
{
	return (uint32_t)buf[0] << 24 | buf[1] << 16 | buf[2] << 8 | buf[3];
}

static void put(uint8_t *buf, uint32_t value)
{
	buf[0] = value >> 24;
	buf[1] = value >> 16;
	buf[2] = value >> 8;
	buf[3] = value;
}

static int decode_submit(const uint8_t *buf, size_t length, struct usbip_message *message)
{
	uint32_t packets = get(buf + 32);

	message->length = get(buf + 24);
	memcpy(message->setup, buf + 40, sizeof(message->setup));
	/* -1 and 0 both mean not isochronous. The length is signed. */
	if ((packets && packets != UINT32_MAX) || message->length > INT32_MAX)
		return -1;
	if (message->in)
		return USBIP_HEADER;
	if (message->length > USBIP_DATA_MAX)
		return -1;
	if (length - USBIP_HEADER < message->length)
		return 0;
	message->data = buf + USBIP_HEADER;
	return USBIP_HEADER + message->length;
}

int usbip_decode(const uint8_t *buf, size_t length, struct usbip_message *message)
{
	uint32_t direction, endpoint;

	if (length < USBIP_HEADER)
		return 0;
	memset(message, 0, sizeof(*message));
	message->command = get(buf);
	message->seqnum = get(buf + 4);
	direction = get(buf + 12);
	endpoint = get(buf + 16);
	if (direction > 1 || endpoint > 15)
		return -1;
	message->in = direction;
	message->endpoint = endpoint;
	switch (message->command) {
	case USBIP_CMD_SUBMIT:
		return decode_submit(buf, length, message);
	case USBIP_CMD_UNLINK:
		message->unlink = get(buf + 20);
		return USBIP_HEADER;
	default:
		return -1;
	}
}

static void ret(uint8_t *buf, enum usbip_command command, uint32_t seqnum, int32_t status)
{
	memset(buf, 0, USBIP_HEADER);
	put(buf, command);
	put(buf + 4, seqnum);
	put(buf + 20, status);
}

void usbip_transfer(const struct usbip_message *message, struct transfer *transfer)
{
	*transfer = (struct transfer){
		.tag = message->seqnum,
		.endpoint = message->endpoint | (message->in && message->endpoint ? 0x80 : 0),
		.length = message->length < DEVICE_DATA_MAX ? message->length : DEVICE_DATA_MAX,
	};
	memcpy(transfer->setup, message->setup, sizeof(transfer->setup));
	if (message->data)
		memcpy(transfer->data, message->data, transfer->length);
}

void usbip_ret_submit(uint8_t *buf, uint32_t seqnum, int32_t status, uint32_t actual_length)
{
	ret(buf, USBIP_RET_SUBMIT, seqnum, status);
	put(buf + 24, actual_length);
}

void usbip_ret_unlink(uint8_t *buf, uint32_t seqnum, int32_t status)
{
	ret(buf, USBIP_RET_UNLINK, seqnum, status);
}

bool usbip_is_import(const uint8_t *buf)
{
	return get(buf) == VERSION_CODE(REQ_IMPORT) &&
	       !strncmp((const char *)buf + 8, USBIP_BUSID, USBIP_IMPORT - 8);
}

size_t usbip_rep_import(uint8_t *buf, bool granted, uint16_t vendor, uint16_t product)
{
	memset(buf, 0, USBIP_IMPORT_REPLY);
	put(buf, VERSION_CODE(REP_IMPORT));
	put(buf + 4, !granted);
	if (!granted)
		return 8;
	/* path and name, each padded with zeroes */
	strcpy((char *)buf + 8, "dealbox-emulator");
	strcpy((char *)buf + 264, USBIP_BUSID);
	put(buf + 296, USBIP_DEVID >> 16);
	put(buf + 300, USBIP_DEVID & 0xffff);
	put(buf + 304, USBIP_SPEED_HIGH);
	put(buf + 308, (uint32_t)vendor << 16 | product);
	/* one configuration with one interface */
	buf[318] = 1;
	buf[319] = 1;
	return USBIP_IMPORT_REPLY;
}
