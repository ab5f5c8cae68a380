// SPDX-License-Identifier: LGPL-2.1-or-later
/* The machine's side of the protocol in bytes: layouts, the host's decoding, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "machine_wire.h"

/* Checks the encoding, and that it is the same after decoding by the host and encoding again. */
#define ROUND_TRIP(name, size)								\
static void assert_##name(const struct wire_##name *in, const u8 *expected)		\
{											\
	struct wire_##name back;							\
	u8 buf[size];									\
											\
	memset(buf, 0xa5, sizeof(buf));							\
	wire_##name##_put(buf, in);							\
	assert_memory_equal(buf, expected, sizeof(buf));				\
	memset(&back, 0x5a, sizeof(back));						\
	dealbox_decode_##name(buf, &back);						\
	wire_##name##_put(buf, &back);							\
	assert_memory_equal(buf, expected, sizeof(buf));				\
}

ROUND_TRIP(info, WIRE_INFO_SIZE)
ROUND_TRIP(status, WIRE_STATUS_SIZE)
ROUND_TRIP(result, WIRE_RESULT_SIZE)
ROUND_TRIP(param, WIRE_PARAM_SIZE)
ROUND_TRIP(event, WIRE_EVENT_SIZE)

static void descriptor(void **state)
{
	static const struct wire_descriptor machine = {
		.reader = DEALBOX_READER_BARCODE, .version = WIRE_VERSION, .pockets = 4,
		.pocket_capacity = 13, .hopper = 60, .plan_entries = 54,
		.capabilities = DEALBOX_CAP_HOST_ROUTED | DEALBOX_CAP_BY_CARD,
		.gate_deadline_us = 20000,
	};
	static const u8 expected[WIRE_DESC_SIZE] = {
		24, 0x24, 1, 1, 0x01, 0x01, 4, 13, 60, 0, 54, 0, 0x02, 0x02, 0, 0, 0x20, 0x4e,
	};
	struct wire_descriptor out = { 0 };
	u8 buf[WIRE_DESC_SIZE];

	(void)state;
	memset(buf, 0xa5, sizeof(buf));
	wire_descriptor_put(buf, &machine);
	assert_memory_equal(buf, expected, sizeof(buf));
	assert_true(dealbox_decode_descriptor(buf, sizeof(buf), &out));
	assert_memory_equal(&out, &machine, sizeof(out));
}

static void info(void **state)
{
	struct wire_info in = { .version = 0x0100, .firmware = 0x01020304,
				.hardware = 0x0a0b0c0d, .name = "Ruter" };
	u8 expected[WIRE_INFO_SIZE] = "\x00\x01\x00\x00\x04\x03\x02\x01\x0d\x0c\x0b\x0a"
				      "\0\0\0\0Ruter";

	(void)state;
	assert_info(&in, expected);
	/* a name of all 32 bytes is not terminated */
	memset(in.name, 'x', WIRE_NAME_SIZE);
	memset(expected + 16, 'x', WIRE_NAME_SIZE);
	assert_info(&in, expected);
}

static void status(void **state)
{
	static const struct wire_status in = {
		.state = DEALBOX_STATE_HELD, .fault = 0x21, .flags = 0x2d, .cards_total = 52,
		.plan_id = 0x01020304, .insertion = 0x11121314, .board = 0x2122,
		.cards_done = 7, .next_event = 0x31323334, .clock_us = 0x41424344,
		.counts = { 1, 2, 3, 1, 0, 0, 0, 9 },
	};
	static const u8 expected[WIRE_STATUS_SIZE] = {
		3, 0x21, 0x2d, 52, 4, 3, 2, 1, 0x14, 0x13, 0x12, 0x11, 0x22, 0x21, 7, 0,
		0x34, 0x33, 0x32, 0x31, 0x44, 0x43, 0x42, 0x41, 1, 2, 3, 1, 0, 0, 0, 9,
	};

	(void)state;
	assert_status(&in, expected);
}

static void result_and_param(void **state)
{
	static const struct wire_result result = { 0x01020304, 0x12, 11, 0x11121314 };
	static const struct wire_param param = { 1, 0x01020304, 3, 0xffffffff };
	static const u8 result_bytes[WIRE_RESULT_SIZE] = {
		4, 3, 2, 1, 0x12, 11, 0, 0, 0x14, 0x13, 0x12, 0x11,
	}, param_bytes[WIRE_PARAM_SIZE] = {
		1, 0, 0, 0, 4, 3, 2, 1, 3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
	};

	(void)state;
	assert_result(&result, result_bytes);
	assert_param(&param, param_bytes);
}

static void counters(void **state)
{
	struct dealbox_counters in = { .boards_dealt = 0x01020304, .seconds = 14, .reserved = 9 };
	struct dealbox_counters out;
	u8 buf[WIRE_COUNTERS_SIZE];

	(void)state;
	memset(buf, 0xa5, sizeof(buf));
	wire_counters_put(buf, &in);
	assert_memory_equal(buf, "\x04\x03\x02\x01", 4);
	assert_memory_equal(buf + 56, "\x0e\0\0\0\0\0\0\0", 8);
	dealbox_decode_counters(buf, &out);
	in.reserved = 0;
	assert_memory_equal(&in, &out, sizeof(in));
}

static void event(void **state)
{
	static const struct wire_event in = {
		.type = DEALBOX_EV_CARD_READ, .flags = 1, .number = 0x01020304,
		.clock_us = 0x11121314, .insertion = 0x21222324, .position = 5,
		.card = 6, .pocket = 7, .quality = 8, .code = 0x31323334,
		.arg = { 0x41424344, 0x51525354 },
	};
	static const u8 expected[WIRE_EVENT_SIZE] = {
		0x12, 1, 0, 0, 4, 3, 2, 1, 0x14, 0x13, 0x12, 0x11, 0x24, 0x23, 0x22, 0x21,
		5, 6, 7, 8, 0x34, 0x33, 0x32, 0x31, 0x44, 0x43, 0x42, 0x41, 0x54, 0x53, 0x52, 0x51,
	};

	(void)state;
	assert_event(&in, expected);
}

static void command(void **state)
{
	static const struct wire_command in = { 9, 0x01020304, 3, 0x80000000 };
	struct wire_command out;
	u8 buf[WIRE_COMMAND_SIZE];

	(void)state;
	dealbox_encode_command(buf, &in);
	wire_command_get(buf, &out);
	assert_memory_equal(&in, &out, sizeof(in));
}

static void gate(void **state)
{
	static const struct wire_gate in = { .pocket = 3, .position = 9, .number = 0x01020304,
					     .insertion = 0x11121314 };
	static const struct wire_gate hold = { .pocket = DEALBOX_NONE,
		.reason = DEALBOX_EV_REPEATED_CARD, .first = 4 };
	u8 buf[WIRE_GATE_SIZE + 1] = { 0 };
	struct wire_gate out;
	size_t length;
	int p, r;

	(void)state;
	dealbox_encode_gate(buf, &hold);
	assert_true(wire_gate_get(buf, WIRE_GATE_SIZE, &out));
	assert_int_equal(out.reason, hold.reason);
	assert_int_equal(out.first, 4);

	dealbox_encode_gate(buf, &in);
	assert_true(wire_gate_get(buf, WIRE_GATE_SIZE, &out));
	assert_int_equal(out.pocket, 3);
	assert_int_equal(out.position, 9);
	assert_int_equal(out.number, in.number);
	assert_int_equal(out.insertion, in.insertion);
	for (length = 0; length <= sizeof(buf); length++)
		assert_int_equal(wire_gate_get(buf, length, &out), length == WIRE_GATE_SIZE);
	/* pocket and reason must fit together, for all 65536 pairs */
	for (p = 0; p < 256; p++) {
		for (r = 0; r < 256; r++) {
			buf[1] = (u8)p;
			buf[2] = (u8)r;
			assert_int_equal(wire_gate_get(buf, WIRE_GATE_SIZE, &out),
					 p == 255 ? r == 0x28 || r == 0x21 : r == 0);
		}
	}
	buf[0] = 2;
	assert_false(wire_gate_get(buf, WIRE_GATE_SIZE, &out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descriptor),
		cmocka_unit_test(info),
		cmocka_unit_test(status),
		cmocka_unit_test(result_and_param),
		cmocka_unit_test(counters),
		cmocka_unit_test(event),
		cmocka_unit_test(command),
		cmocka_unit_test(gate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
