// SPDX-License-Identifier: LGPL-2.1-or-later
/* Descriptors, and USB chapter 9 as far as docs/protocol.md names it. */
#include <errno.h>
#include <linux/unaligned.h>
#include <string.h>

#include "run.h"

/* standard requests, USB 2.0, 9.4 */
#define GET_STATUS	0
#define CLEAR_FEATURE	1
#define SET_FEATURE	3
#define GET_DESCRIPTOR	6
#define GET_CONFIGURATION	8
#define SET_CONFIGURATION	9
#define GET_INTERFACE	10
#define SET_INTERFACE	11

/* Call each for the descriptors of the machine's interface, with those before it passed over. */
static const uint8_t *interface_at(const struct run *r, size_t *left)
{
	size_t at;

	for (at = 0; at + 9 <= r->config_length && r->config[at] >= 2; at += r->config[at]) {
		const uint8_t *d = r->config + at;

		if (d[1] == 4 && d[2] == r->access->interface && !d[3]) {
			*left = r->config_length - at;
			return d;
		}
	}
	*left = 0;
	return NULL;
}

static const uint8_t *after(const uint8_t *d, size_t *left)
{
	size_t size = d[0];

	if (size < 2 || size + 2 > *left || size + d[size] > *left)
		return NULL;
	*left -= size;
	return d + size;
}

static void device(struct run *r)
{
	uint8_t data[DATA_MAX] = { 0 };
	int ret = control(r, 0x80, GET_DESCRIPTOR, 0x100, 0, data, 18);

	check(r, "R-1-1", ret == 18 && data[0] == 18 && data[1] == 1,
	      "the device descriptor has %d bytes", ret);
	check(r, "R-1-8", data[4] == 0x00 || data[4] == 0xef, "bDeviceClass is %02x", data[4]);
	check(r, "R-0-1", get_unaligned_le16(data + 2) >= 0x0200 && data[3] <= 0x03,
	      "bcdUSB is %04x", get_unaligned_le16(data + 2));
	check(r, "R-1-4", data[16], "iSerialNumber is 0");
	check(r, "R-1-4", r->serial_number[0], "the serial number is empty");
}

static void interface(struct run *r)
{
	size_t left;
	const uint8_t *d = interface_at(r, &left);
	const char *requirement = r->serial ? "R-S1-1" : "R-1-1";

	check(r, requirement, d, "there is no interface with alternate setting 0");
	if (!d)
		return;
	check(r, requirement, d[5] == WIRE_CLASS && d[6] == WIRE_SUBCLASS,
	      "class %02x, subclass %02x", d[5], d[6]);
	check(r, requirement, d[7] == (r->serial ? FRAME_PROTOCOL : WIRE_PROTOCOL),
	      "bInterfaceProtocol is %02x", d[7]);
	if (r->serial)
		check(r, requirement, d[4] == 2, "bNumEndpoints is %u", d[4]);
	else
		check(r, requirement, d[4] == 2 || d[4] == 3, "bNumEndpoints is %u", d[4]);
	check(r, requirement, r->config_length == get_unaligned_le16(r->config + 2),
	      "the configuration descriptor has %zu bytes, and says %u", r->config_length,
	      get_unaligned_le16(r->config + 2));
}

static bool is_high_speed(const struct run *r)
{
	return r->pipes.out_size == 512;
}

static void endpoints(struct run *r)
{
	bool high = is_high_speed(r);
	size_t left, extra;
	const uint8_t *d = interface_at(r, &left);
	unsigned int count = 0, expected;

	check(r, "R-1-5", d, "there is no interface");
	if (!d)
		return;
	expected = d[4];
	check(r, "R-1-5", high || (r->pipes.out_size >= 8 && r->pipes.out_size <= 64),
	      "bulk OUT has wMaxPacketSize %u", r->pipes.out_size);
	check(r, "R-1-5", r->pipes.in_size >= 32 && r->pipes.in_size <= (high ? 1024 : 64),
	      "interrupt IN has wMaxPacketSize %u", r->pipes.in_size);
	check(r, "R-1-5", !ROUTED(r) || r->pipes.gate,
	      "a host-routed machine has no interrupt OUT");
	if (ROUTED(r) && r->pipes.gate)
		check(r, "R-1-5",
		      r->pipes.gate_size >= 16 && r->pipes.gate_size <= (high ? 1024 : 64),
		      "interrupt OUT has wMaxPacketSize %u", r->pipes.gate_size);
	while ((d = after(d, &left)) && d[1] != 4) {
		if (d[1] != 5 || d[0] < 7)
			continue;
		count++;
		extra = get_unaligned_le16(d + 4) >> 11;
		if ((d[3] & 3) == 3)
			check(r, "R-1-6", !(extra & 3),
			      "endpoint %02x has %zu transactions in a microframe", d[2],
			      1 + (extra & 3));
		check(r, "R-1-5", (d[3] & 3) == 3 || ((d[3] & 3) == 2 && d[2] < 0x80),
		      "endpoint %02x has the transfer type %u", d[2], d[3] & 3);
	}
	check(r, "R-1-5", count == expected, "%u endpoint descriptors, and bNumEndpoints is %u",
	      count, expected);
}

static void frame_endpoints(struct run *r)
{
	check(r, "R-S1-1", r->pipes.out_size >= 8 && r->pipes.out_size <= 512,
	      "bulk OUT has wMaxPacketSize %u", r->pipes.out_size);
	check(r, "R-S1-1", r->pipes.in_size >= 8 && r->pipes.in_size <= 512,
	      "bulk IN has wMaxPacketSize %u", r->pipes.in_size);
	check(r, "R-S1-1", !r->pipes.gate, "there are more than two endpoints");
}

static void machine(struct run *r)
{
	uint32_t caps = get_unaligned_le32(r->descriptor + 12);
	const uint8_t *m = r->descriptor;

	check(r, "R-1.1-1", r->descriptor_length >= 24 && m[0] >= 24, "bLength is %u", m[0]);
	check(r, "R-1.1-1", m[1] == 0x24 && m[2] == 0x01, "type %02x, subtype %02x", m[1], m[2]);
	check(r, "R-1.1-1", m[3] <= 3, "bReader is %u", m[3]);
	check(r, "R-1.1-1", m[5] == 1, "wProtocol is %02x%02x", m[5], m[4]);
	check(r, "R-0-1", m[5] == 1, "wProtocol has the low byte last: %02x %02x", m[4], m[5]);
	check(r, "R-1.1-1", m[6] >= 1 && m[6] <= 8, "bPockets is %u", m[6]);
	check(r, "R-1.1-1", m[7] >= 1 && m[7] <= 64, "bPocketCapacity is %u", m[7]);
	check(r, "R-1.1-1", get_unaligned_le16(m + 8), "wHopper is 0");
	check(r, "R-1.1-1", get_unaligned_le16(m + 10) >= 1 && get_unaligned_le16(m + 10) <= 64,
	      "wPlanCards is %u", get_unaligned_le16(m + 10));
	if (m[4] <= 0x01)
		check(r, "R-0-2", !get_unaligned_le32(m + 20) && !(caps & ~0x3fffu),
		      "a reserved field of the machine descriptor is not 0");
	check(r, "R-1.1-7", (caps & 3) == 1 || (caps & 3) == 2, "dCapabilities has the low bits %u",
	      caps & 3);
	check(r, "R-1.1-8", caps & 0x600, "neither BY_CARD nor BY_POSITION");
	check(r, "R-1.1-1", m[3] || !(caps & 0xa00), "BY_CARD or CAPTURE without a reader");
	if (caps & 2)
		check(r, "R-1.1-3", get_unaligned_le32(m + 16), "dGateDeadline is 0");
	else
		check(r, "R-1.1-4", !get_unaligned_le32(m + 16), "dGateDeadline is %u",
		      get_unaligned_le32(m + 16));
}

static void place(struct run *r)
{
	size_t left, at = 0;
	const uint8_t *d = interface_at(r, &left);

	if (r->serial)
		not_supported(r, "the serial dialect has no machine descriptor among those of USB");
	if (!r->described)
		not_supported(r, "the machine gives its descriptor by DESCRIBE");
	while (d && (d = after(d, &left)) && d[1] != 4 && d[1] != 5)
		if (d[1] == WIRE_DESC_TYPE && d[2] == 1)
			at++;
	check(r, "R-1.1-1", at == 1, "%zu machine descriptors before the endpoint descriptors", at);
}

static void describe(struct run *r)
{
	uint8_t data[DATA_MAX] = { 0 };
	int ret = control(r, WIRE_REQ_IN, WIRE_DESCRIBE, 0, r->access->interface, data, 24);

	if (!r->serial && !r->described)
		check(r, "R-2.1-8", ret == 24 && !memcmp(data, r->descriptor, 24),
		      "DESCRIBE is answered by %d bytes", ret);
	else if (r->serial && ret >= 0)
		check(r, "R-S1-6", ret == 24 && !memcmp(data, r->descriptor, 24),
		      "DESCRIBE on endpoint 0 is answered by %d bytes", ret);
	else if (ret >= 0)
		check(r, "R-2.1-8", ret == 24 && !memcmp(data, r->descriptor, 24),
		      "DESCRIBE and the descriptor behind the interface differ");
	if (r->serial)
		check(r, "R-S1-7",
		      control(r, WIRE_REQ_IN, WIRE_GET_INFO, 0, r->access->interface, data, 64) < 0,
		      "the serial dialect has GET_INFO on endpoint 0");
	check(r, "R-2.2-11", !HAS(r, REFUSES_BY_RESULT) || !r->described,
	      "a machine with REFUSES_BY_RESULT has its descriptor among those of USB");
}

static void describe_framed(struct run *r)
{
	uint8_t data[DATA_MAX] = { 0 };
	int ret = query(r, WIRE_DESCRIBE, 0, data, 24);

	check(r, "R-S3-5", ret == 24 && !memcmp(data, r->descriptor, 24),
	      "DESCRIBE is answered by %d bytes", ret);
	check(r, "R-S3-5", query(r, WIRE_DESCRIBE, 1, data, 24) == -EPIPE,
	      "DESCRIBE with wValue 1 is answered");
	check(r, "R-S3-10", !HAS(r, REFUSES_BY_RESULT), "REFUSES_BY_RESULT in the serial dialect");
}

static void info(struct run *r)
{
	uint8_t data[DATA_MAX] = { 0 };
	int ret = query(r, WIRE_GET_INFO, 0, data, WIRE_INFO_SIZE);
	unsigned int i;

	check(r, "R-2.1-1", ret == WIRE_INFO_SIZE, "GET_INFO is answered by %d bytes", ret);
	check(r, "R-0-1", !memcmp(data, r->descriptor + 4, 2),
	      "wProtocol of GET_INFO is not that of the machine descriptor");
	check(r, "R-0-2", !get_unaligned_le16(data + 2) && !get_unaligned_le32(data + 12),
	      "a reserved field of GET_INFO is not 0");
	for (i = 48; i < 64; i++)
		check(r, "R-0-2", !data[i], "byte %u of GET_INFO is reserved, and %02x", i,
		      data[i]);
	for (i = 16; i < 48 && data[i]; i++)
		;
	for (; i < 48; i++)
		check(r, "R-2.1-1", !data[i], "the name of the model is not padded with zeros");
}

/* Halts, and requests that a machine does not have (USB 2.0, 9.4). */
static void standard(struct run *r)
{
	uint8_t data[DATA_MAX];

	check(r, "R-1.2-1", control(r, 0x80, GET_CONFIGURATION, 0, 0, data, 1) == 1 &&
	      data[0] == r->configuration, "GET_CONFIGURATION does not tell the configuration");
	check(r, "R-1-1", control(r, 0x81, GET_INTERFACE, 0, r->access->interface, data, 1) == 1 &&
	      !data[0], "GET_INTERFACE does not say alternate setting 0");
	check(r, "R-2.1-2", control(r, 0x80, 0x33, 0, 0, data, 8) == -EPIPE,
	      "an unknown standard request is not stalled");
	check(r, "R-2.1-2", control(r, 0x80, GET_DESCRIPTOR, 0x7700, 0, data, 8) == -EPIPE,
	      "an unknown descriptor is not stalled");
	if (!r->misdescribed)
		status(r);
}

static void halt(struct run *r)
{
	uint8_t data[DATA_MAX];
	int ret = control(r, 0x02, SET_FEATURE, 0, r->pipes.out, NULL, 0);

	if (ret < 0)
		not_supported(r, "the machine does not set a halt when asked");
	check(r, "R-3-3",
	      control(r, 0x82, GET_STATUS, 0, r->pipes.out, data, 2) == 2 && data[0] == 1,
	      "GET_STATUS of a halted endpoint does not say so");
	check(r, "R-3-3", r->access->ops->out(r->access, r->pipes.out, data, 1, 1000) == -EPIPE,
	      "a halted endpoint does not stall");
	check(r, "R-3-3", clear_halt(r, r->pipes.out) >= 0, "CLEAR_FEATURE fails");
	check(r, "R-3-3", control(r, 0x82, GET_STATUS, 0, r->pipes.out, data, 2) == 2 && !data[0],
	      "the halt does not end by CLEAR_FEATURE");
	if (!r->misdescribed)
		status(r);
}

const struct test_row descriptor_tests[] = {
	{ "descriptors", "device", "R-0-1 R-1-4 R-1-8", "the device descriptor", NEED_RAW,
	  .run = device },
	{ "descriptors", "interface", "R-1-1", "class and endpoints of the interface",
	  NEED_RAW | NEED_NATIVE,
	  .run = interface },
	{ "descriptors", "serial-interface", "R-S1-1", "the same, in the serial dialect",
	  NEED_RAW | NEED_SERIAL,
	  .run = interface },
	{ "descriptors", "endpoints", "R-1-5 R-1-6", "number, direction and sizes",
	  NEED_RAW | NEED_NATIVE,
	  .run = endpoints },
	{ "descriptors", "serial-endpoints", "R-S1-1", "number, direction and sizes",
	  NEED_RAW | NEED_SERIAL,
	  .run = frame_endpoints },
	{ "descriptors", "machine", "R-0-1 R-0-2 R-1.1-1 R-1.1-3 R-1.1-4 R-1.1-7 R-1.1-8",
	  "the fields of the machine descriptor", NEED_RAW, .run = machine },
	{ "descriptors", "place", "R-1.1-1", "where the machine descriptor is", NEED_RAW,
	  .run = place },
	{ "descriptors", "describe", "R-2.1-8 R-2.2-11", "DESCRIBE on endpoint 0",
	  NEED_RAW | NEED_NATIVE,
	  .run = describe },
	{ "descriptors", "serial-describe", "R-S1-6 R-S1-7", "DESCRIBE on endpoint 0",
	  NEED_RAW | NEED_SERIAL,
	  .run = describe },
	{ "descriptors", "framed-describe", "R-S3-5 R-S3-10", "DESCRIBE in a frame",
	  NEED_RAW | NEED_SERIAL,
	  .run = describe_framed },
	{ "descriptors", "info", "R-0-1 R-0-2 R-2.1-1", "GET_INFO", NEED_RAW, .run = info },
	{ "descriptors", "standard", "R-1-1 R-1.2-1 R-2.1-2", "standard requests",
	  NEED_RAW | NEED_NATIVE,
	  .run = standard },
	{ "descriptors", "halt", "R-3-3", "a halt is set and cleared", NEED_RAW, .run = halt },
	{ 0 }
};
