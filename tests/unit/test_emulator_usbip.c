/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* USB/IP in bytes, and the descriptors and standard requests that go through it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "device.h"
#include "emulator_fixture.h"
#include "usbip.h"

static void be32(uint8_t *buf, uint32_t value)
{
	buf[0] = value >> 24;
	buf[1] = value >> 16;
	buf[2] = value >> 8;
	buf[3] = value;
}

/* A CMD_SUBMIT with the layout of usbip_protocol.rst */
static void submit(uint8_t *buf, uint32_t direction, uint32_t endpoint, uint32_t length,
		   uint32_t packets)
{
	memset(buf, 0, USBIP_HEADER);
	be32(buf, 1);
	be32(buf + 4, 0x1234);
	be32(buf + 8, 0x10002);
	be32(buf + 12, direction);
	be32(buf + 16, endpoint);
	be32(buf + 24, length);
	be32(buf + 32, packets);
	memcpy(buf + 40, "\x80\x06\x00\x01\x00\x00\x12\x00", 8);
}

static void submit_is_decoded(void **state)
{
	struct usbip_message message;
	uint8_t buf[USBIP_HEADER + 16];
	size_t i;

	(void)state;
	submit(buf, 1, 0, 18, UINT32_MAX);
	for (i = 0; i < USBIP_HEADER; i++)
		assert_int_equal(usbip_decode(buf, i, &message), 0);
	assert_int_equal(usbip_decode(buf, sizeof(buf), &message), USBIP_HEADER);
	assert_int_equal(message.command, USBIP_CMD_SUBMIT);
	assert_int_equal(message.seqnum, 0x1234);
	assert_true(message.in);
	assert_int_equal(message.length, 18);
	assert_memory_equal(message.setup, buf + 40, 8);
	assert_null(message.data);

	submit(buf, 0, 1, 16, 0);
	memset(buf + USBIP_HEADER, 0x5a, 16);
	assert_int_equal(usbip_decode(buf, sizeof(buf) - 1, &message), 0);
	assert_int_equal(usbip_decode(buf, sizeof(buf), &message), sizeof(buf));
	assert_int_equal(message.endpoint, 1);
	assert_ptr_equal(message.data, buf + USBIP_HEADER);
}

static void unlink_is_decoded(void **state)
{
	struct usbip_message message;
	uint8_t buf[USBIP_HEADER] = { 0 };

	(void)state;
	be32(buf, 2);
	be32(buf + 4, 9);
	be32(buf + 20, 7);
	assert_int_equal(usbip_decode(buf, sizeof(buf), &message), USBIP_HEADER);
	assert_int_equal(message.command, USBIP_CMD_UNLINK);
	assert_int_equal(message.seqnum, 9);
	assert_int_equal(message.unlink, 7);
}

static void hostile_headers_are_refused(void **state)
{
	static const struct { uint32_t direction, endpoint, length, packets; } bad[] = {
		{ 0, 1, USBIP_DATA_MAX + 1, 0 }, { 0, 1, 0x7fffffff, 0 }, { 0, 1, 0x80000000, 0 },
		{ 1, 1, 0x80000000, 0 }, { 1, 1, UINT32_MAX, 0 }, { 2, 1, 8, 0 },
		{ UINT32_MAX, 1, 8, 0 }, { 0, 16, 8, 0 }, { 0, 0x10001, 8, 0 }, { 1, 2, 8, 1 },
		{ 1, 2, 8, 0x7fffffff },
	};
	struct usbip_message message;
	uint8_t buf[USBIP_HEADER];
	uint32_t command;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		submit(buf, bad[i].direction, bad[i].endpoint, bad[i].length, bad[i].packets);
		assert_int_equal(usbip_decode(buf, sizeof(buf), &message), -1);
	}
	submit(buf, 1, 0, 8, 0);
	for (command = 0; command < 300; command++) {
		be32(buf, command);
		assert_int_equal(usbip_decode(buf, sizeof(buf), &message),
				 command == 1 || command == 2 ? USBIP_HEADER : -1);
	}
	be32(buf, 0x01000000);
	assert_int_equal(usbip_decode(buf, sizeof(buf), &message), -1);
}

static void answers_are_encoded(void **state)
{
	uint8_t buf[USBIP_HEADER], expected[USBIP_HEADER] = { 0 };

	(void)state;
	usbip_ret_submit(buf, 0x01020304, -EPIPE, 32);
	be32(expected, 3);
	be32(expected + 4, 0x01020304);
	be32(expected + 20, (uint32_t)-32);
	be32(expected + 24, 32);
	assert_memory_equal(buf, expected, sizeof(buf));
	usbip_ret_unlink(buf, 5, -ECONNRESET);
	memset(expected, 0, sizeof(expected));
	be32(expected, 4);
	be32(expected + 4, 5);
	be32(expected + 20, (uint32_t)-104);
	assert_memory_equal(buf, expected, sizeof(buf));
}

/* OP_REQ_IMPORT and OP_REP_IMPORT with the layout of usbip_protocol.rst */
static void another_computer_asks_for_the_machine(void **state)
{
	uint8_t buf[USBIP_IMPORT_REPLY], request[USBIP_IMPORT] = { 1, 0x11, 0x80, 3 };

	(void)state;
	strcpy((char *)request + 8, "1-1");
	assert_true(usbip_is_import(request));
	assert_int_equal(usbip_rep_import(buf, true, 0x1209, 1), 320);
	assert_memory_equal(buf, "\1\x11\0\3\0\0\0", 8);
	assert_string_equal((char *)buf + 264, "1-1");
	/* bus 1, device 2, high speed; vendor and product; one configuration, one interface */
	assert_memory_equal(buf + 296, "\0\0\0\1\0\0\0\2\0\0\0\3\x12\x09\0\1", 16);
	assert_memory_equal(buf + 312, "\0\0\0\0\0\0\1\1", 8);

	memset(request + 8, '1', 32);
	assert_false(usbip_is_import(request));
	strcpy((char *)request + 8, "1-2");
	assert_false(usbip_is_import(request));
	strcpy((char *)request + 8, "1-1");
	request[3] = 5;
	assert_false(usbip_is_import(request));
	assert_int_equal(usbip_rep_import(buf, false, 0x1209, 1), 8);
	assert_memory_equal(buf, "\1\x11\0\3\0\0\0\1", 8);
}

/* --- the device ---------------------------------------------------------------------- */

static struct device *device_of(struct fixture *fixture)
{
	static const struct device_config config = {
		.serial = "S17", .product = "bench", .int_in_size = 64, .protocol = WIRE_PROTOCOL,
	};
	struct device *device = device_new(fixture->m, &config);

	assert_non_null(device);
	return device;
}

/* Returns the status, or the number of bytes read. */
static int control(struct device *device, struct fixture *fixture, uint8_t type, uint8_t request,
		   uint16_t value, uint16_t index, uint16_t length, uint8_t *data)
{
	struct transfer transfer = {
		.tag = 1, .length = length,
		.setup = { type, request, value & 0xff, value >> 8, index & 0xff, index >> 8,
			   length & 0xff, length >> 8 },
	};
	struct completion done;

	device_submit(device, fixture->now, &transfer);
	assert_true(device_reap(device, fixture->now, &done));
	if (done.status)
		return done.status;
	if (data)
		memcpy(data, done.data, done.length);
	return done.length;
}

static void descriptors_follow_section_1(void **state)
{
	static const uint32_t kinds[] = { DEALBOX_CAP_STORED_PLAN, DEALBOX_CAP_HOST_ROUTED };
	unsigned int k;

	(void)state;
	for (k = 0; k < 2; k++) {
		struct fixture *fixture = fixture_new(kinds[k]);
		struct device *device = device_of(fixture);
		struct wire_descriptor desc;
		uint8_t data[512];
		int length;

		assert_int_equal(control(device, fixture, 0x80, 6, 0x100, 0, 64, data), 18);
		assert_memory_equal(data + 8, "\x09\x12\x01\x00", 4);
		assert_true(data[16] != 0);
		/* the first bytes only */
		assert_int_equal(control(device, fixture, 0x80, 6, 0x200, 0, 9, data), 9);
		length = control(device, fixture, 0x80, 6, 0x200, 0, 512, data);
		assert_int_equal(length, data[2] | data[3] << 8);
		assert_int_equal(length, 9 + 9 + 24 + 7 * (2 + k));
		/* interface: ff/44/01, setting 0 */
		assert_int_equal(data[9 + 1], 4);
		assert_int_equal(data[9 + 3], 0);
		assert_int_equal(data[9 + 4], 2 + k);
		assert_memory_equal(data + 9 + 5, "\xff\x44\x01", 3);
		/* directly behind it the machine descriptor, then the endpoints */
		assert_true(dealbox_decode_descriptor(data + 18, length - 18, &desc));
		assert_int_equal(desc.pockets, 4);
		assert_int_equal(desc.capabilities & kinds[k], kinds[k]);
		assert_memory_equal(data + 42, "\x07\x05\x01\x02\x00\x02\x00", 7);
		assert_memory_equal(data + 49, "\x07\x05\x82\x03\x40\x00\x01", 7);
		if (k)
			assert_memory_equal(data + 56, "\x07\x05\x03\x03\x10\x00\x01", 7);
		assert_int_equal(control(device, fixture, 0x80, 6, 0x303, 0x409, 255, data), 8);
		assert_memory_equal(data, "\x08\x03S\0001\0007\0", 8);
		assert_int_equal(control(device, fixture, 0x80, 6, 0x300, 0, 255, data), 4);
		assert_int_equal(control(device, fixture, 0x80, 6, 0x304, 0, 255, data), -EPIPE);
		assert_int_equal(control(device, fixture, 0x80, 6, 0x600, 0, 10, data), -EPIPE);
		device_free(device);
		fixture_free(fixture);
	}
}

static void standard_requests(void **state)
{
	struct fixture *fixture = fixture_new(DEALBOX_CAP_STORED_PLAN);
	struct device *device = device_of(fixture);
	uint8_t data[64];

	(void)state;
	/* not configured yet */
	assert_int_equal(control(device, fixture, 0xc1, 1, 0, 0, 64, data), -EPIPE);
	assert_int_equal(control(device, fixture, 0x81, 10, 0, 0, 1, data), -EPIPE);
	assert_int_equal(control(device, fixture, 0, 9, 2, 0, 0, NULL), -EPIPE);
	assert_int_equal(control(device, fixture, 0, 9, 1, 0, 0, NULL), 0);
	assert_int_equal(control(device, fixture, 0x80, 8, 0, 0, 1, data), 1);
	assert_int_equal(data[0], 1);
	assert_int_equal(control(device, fixture, 0x81, 10, 0, 0, 1, data), 1);
	assert_int_equal(control(device, fixture, 1, 11, 0, 0, 0, NULL), 0);
	assert_int_equal(control(device, fixture, 1, 11, 1, 0, 0, NULL), -EPIPE);
	/* self-powered; remote wakeup on and off */
	assert_int_equal(control(device, fixture, 0x80, 0, 0, 0, 2, data), 2);
	assert_memory_equal(data, "\1\0", 2);
	assert_int_equal(control(device, fixture, 0, 3, 1, 0, 0, NULL), 0);
	control(device, fixture, 0x80, 0, 0, 0, 2, data);
	assert_memory_equal(data, "\3\0", 2);
	assert_int_equal(control(device, fixture, 0, 1, 1, 0, 0, NULL), 0);
	control(device, fixture, 0x80, 0, 0, 0, 2, data);
	assert_memory_equal(data, "\1\0", 2);
	/* halt */
	assert_int_equal(control(device, fixture, 2, 3, 0, 0x82, 0, NULL), 0);
	assert_int_equal(control(device, fixture, 0x82, 0, 0, 0x82, 2, data), 2);
	assert_int_equal(data[0], 1);
	assert_int_equal(control(device, fixture, 2, 1, 0, 0x82, 0, NULL), 0);
	control(device, fixture, 0x82, 0, 0, 0x82, 2, data);
	assert_int_equal(data[0], 0);
	/* a stored-plan machine has no interrupt OUT */
	assert_int_equal(control(device, fixture, 2, 3, 0, 0x03, 0, NULL), -EPIPE);
	/* interface 1 is not there */
	assert_int_equal(control(device, fixture, 0xc1, 1, 0, 1, 64, data), -EPIPE);
	assert_int_equal(control(device, fixture, 0xc1, 1, 0, 0, 64, data), 64);
	assert_int_equal(control(device, fixture, 0xc1, 1, 0, 0, 10, data), 10);
	/* recipients and types that mean nothing here */
	assert_int_equal(control(device, fixture, 0xc0, 1, 0, 0, 64, data), -EPIPE);
	assert_int_equal(control(device, fixture, 0xa1, 1, 0, 0, 64, data), -EPIPE);
	device_free(device);
	fixture_free(fixture);
}

static void detaching_forgets_all_transfers(void **state)
{
	struct fixture *fixture = fixture_new(DEALBOX_CAP_STORED_PLAN);
	struct device *device = device_of(fixture);
	struct transfer transfer = { .tag = 5, .endpoint = DEVICE_EP_INT_IN, .length = 64 };
	struct completion done;

	(void)state;
	assert_int_equal(control(device, fixture, 0, 9, 1, 0, 0, NULL), 0);
	fixture_collect(fixture);
	device_submit(device, fixture->now, &transfer);
	assert_false(device_reap(device, fixture->now, &done));
	device_detach(device);
	assert_false(machine_view(fixture->m).configured);
	assert_false(device_cancel(device, 5));
	device_free(device);
	fixture_free(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(submit_is_decoded),
		cmocka_unit_test(unlink_is_decoded),
		cmocka_unit_test(hostile_headers_are_refused),
		cmocka_unit_test(answers_are_encoded),
		cmocka_unit_test(another_computer_asks_for_the_machine),
		cmocka_unit_test(descriptors_follow_section_1),
		cmocka_unit_test(standard_requests),
		cmocka_unit_test(detaching_forgets_all_transfers),
	};

	return cmocka_run_group_tests_name("emulator usbip", tests, NULL, NULL);
}
