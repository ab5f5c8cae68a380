// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* The protocol in bytes: layouts, round trips, and every byte that is refused. */
#include <kunit/test.h>

#include "wire.h"

static const struct wire_descriptor machine = {
	.reader = DEALBOX_READER_BARCODE,
	.version = WIRE_VERSION,
	.pockets = 4,
	.pocket_capacity = 13,
	.hopper = 60,
	.plan_entries = 54,
	.capabilities = DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_BY_CARD |
			DEALBOX_CAP_BY_POSITION | DEALBOX_CAP_CAPTURE,
};

/* Bytes that differ everywhere, so that a field in the wrong place shows. */
static void fill(void *p, size_t size, u8 start)
{
	u8 *bytes = p;

	while (size--)
		*bytes++ = start++;
}

/* assert_<name>(): what it is in bytes, and that it comes back whole from them */
#define ROUND_TRIP(name, size)							\
static void assert_##name(struct kunit *test, const struct wire_##name *in,	\
			  const u8 *expected)					\
{										\
	struct wire_##name back;						\
	u8 buf[size];								\
										\
	fill(buf, sizeof(buf), 1);						\
	wire_##name##_put(buf, in);						\
	KUNIT_ASSERT_MEMEQ(test, buf, expected, sizeof(buf));			\
	memset(&back, 0xa5, sizeof(back));					\
	wire_##name##_get(buf, &back);						\
	fill(buf, sizeof(buf), 1);						\
	wire_##name##_put(buf, &back);						\
	KUNIT_ASSERT_MEMEQ(test, buf, expected, sizeof(buf));			\
}

ROUND_TRIP(status, WIRE_STATUS_SIZE)
ROUND_TRIP(result, WIRE_RESULT_SIZE)
ROUND_TRIP(param, WIRE_PARAM_SIZE)
ROUND_TRIP(command, WIRE_COMMAND_SIZE)
ROUND_TRIP(event, WIRE_EVENT_SIZE)

static void put32(u8 *p, u32 v)
{
	for (int i = 0; i < 4; i++)
		p[i] = v >> 8 * i;
}

static void test_crc_known_answer(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, wire_crc32c((const u8 *)"123456789", 9), 0xe3069283u);
	KUNIT_ASSERT_EQ(test, wire_crc32c(NULL, 0), 0);
}

static void test_descriptor(struct kunit *test)
{
	static const u8 expected[WIRE_DESC_SIZE] = {
		24, 0x24, 1, 1, 0x00, 0x01, 4, 13, 60, 0, 54, 0, 0x01, 0x0e, 0, 0,
	};
	u8 buf[WIRE_DESC_SIZE + 4] = { 0 };
	struct wire_descriptor out;

	wire_descriptor_put(buf, &machine);
	KUNIT_ASSERT_MEMEQ(test, buf, expected, sizeof(expected));
	KUNIT_ASSERT_TRUE(test, wire_descriptor_get(buf, WIRE_DESC_SIZE, &out));
	KUNIT_ASSERT_EQ(test, out.reader, machine.reader);
	KUNIT_ASSERT_EQ(test, out.version, machine.version);
	KUNIT_ASSERT_EQ(test, out.pockets, machine.pockets);
	KUNIT_ASSERT_EQ(test, out.pocket_capacity, machine.pocket_capacity);
	KUNIT_ASSERT_EQ(test, out.hopper, machine.hopper);
	KUNIT_ASSERT_EQ(test, out.plan_entries, machine.plan_entries);
	KUNIT_ASSERT_EQ(test, out.capabilities, machine.capabilities);
	KUNIT_ASSERT_EQ(test, out.gate_deadline_us, 0);

	/* a later minor version is longer, and says so */
	buf[0] = sizeof(buf);
	buf[4] = 7;
	buf[20] = 1;
	KUNIT_ASSERT_TRUE(test, wire_descriptor_get(buf, sizeof(buf), &out));
	/* longer than what is there */
	KUNIT_ASSERT_FALSE(test, wire_descriptor_get(buf, WIRE_DESC_SIZE, &out));
}

static void test_descriptor_refused(struct kunit *test)
{
	static const struct {
		const char *what;
		u8 offset, value;
	} bad[] = {
		{ "bLength short", 0, 23 }, { "bLength 0", 0, 0 },
		{ "bLength long", 0, 25 },
		{ "type", 1, 0x25 }, { "subtype", 2, 2 },
		{ "reader", 3, 4 }, { "no reader, but by card", 3, 0 },
		{ "major version higher", 5, 2 }, { "major version 0", 5, 0 },
		{ "no pockets", 6, 0 }, { "nine pockets", 6, 9 },
		{ "capacity 0", 7, 0 }, { "capacity 65", 7, 65 },
		{ "hopper 0", 8, 0 },
		{ "plan 0", 10, 0 }, { "plan 65", 10, 65 }, { "plan 256+", 11, 1 },
		{ "neither kind", 12, 0 }, { "both kinds", 12, 3 },
		{ "host-routed without deadline", 12, 2 },
		{ "no mode", 13, 0x08 },
		{ "stored plan with deadline", 16, 1 },
	};
	struct wire_descriptor out;
	u8 good[WIRE_DESC_SIZE], buf[WIRE_DESC_SIZE];

	wire_descriptor_put(good, &machine);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		memcpy(buf, good, sizeof(buf));
		buf[bad[i].offset] = bad[i].value;
		if (wire_descriptor_get(buf, sizeof(buf), &out))
			KUNIT_FAIL(test, "accepted: %s", bad[i].what);
	}
	for (size_t len = 0; len < WIRE_DESC_SIZE; len++)
		KUNIT_ASSERT_FALSE(test, wire_descriptor_get(good, len, &out));

	/* what must not be refused */
	memcpy(buf, good, sizeof(buf));
	buf[3] = 0;
	buf[13] = 0x04;		/* by position needs no reader */
	KUNIT_ASSERT_TRUE(test, wire_descriptor_get(buf, sizeof(buf), &out));
	buf[15] = 0x80;		/* unknown capability */
	KUNIT_ASSERT_TRUE(test, wire_descriptor_get(buf, sizeof(buf), &out));
	buf[12] = 2;		/* host-routed, with a deadline */
	put32(buf + 16, 20000);
	KUNIT_ASSERT_TRUE(test, wire_descriptor_get(buf, sizeof(buf), &out));
	KUNIT_ASSERT_EQ(test, out.gate_deadline_us, 20000);
}

static void test_info(struct kunit *test)
{
	struct wire_info in = { .version = 0x0100, .firmware = 0x01020304,
				.hardware = 0x0a0b0c0d, .name = "Ruter" }, out;
	u8 buf[WIRE_INFO_SIZE];

	fill(buf, sizeof(buf), 1);
	wire_info_put(buf, &in);
	KUNIT_ASSERT_MEMEQ(test, buf, "\x00\x01\x00\x00\x04\x03\x02\x01\x0d\x0c\x0b\x0a"
			   "\0\0\0\0Ruter", 22);
	for (int i = 21; i < WIRE_INFO_SIZE; i++)
		KUNIT_ASSERT_EQ(test, buf[i], 0);
	wire_info_get(buf, &out);
	KUNIT_ASSERT_EQ(test, out.version, in.version);
	KUNIT_ASSERT_EQ(test, out.firmware, in.firmware);
	KUNIT_ASSERT_EQ(test, out.hardware, in.hardware);
	KUNIT_ASSERT_STREQ(test, out.name, in.name);

	/* a name of all 32 bytes has no terminator in the bytes, but one in memory */
	memset(buf + 16, 'x', 48);
	wire_info_get(buf, &out);
	KUNIT_ASSERT_EQ(test, strlen(out.name), WIRE_NAME_SIZE);
	memset(buf, 0, sizeof(buf));
	wire_info_put(buf, &out);
	KUNIT_ASSERT_EQ(test, buf[47], 'x');
	KUNIT_ASSERT_EQ(test, buf[48], 0);
}

static void test_status(struct kunit *test)
{
	struct wire_status in = {
		.state = DEALBOX_STATE_HELD, .fault = 0x21, .flags = 0x2d, .cards_total = 52,
		.plan_id = 0x01020304, .insertion = 0x11121314, .board = 0x2122,
		.cards_done = 7, .next_event = 0x31323334, .clock_us = 0x41424344,
		.counts = { 1, 2, 3, 1, 0, 0, 0, 9 },
	}, out;
	static const u8 expected[WIRE_STATUS_SIZE] = {
		3, 0x21, 0x2d, 52, 4, 3, 2, 1, 0x14, 0x13, 0x12, 0x11, 0x22, 0x21, 7, 0,
		0x34, 0x33, 0x32, 0x31, 0x44, 0x43, 0x42, 0x41, 1, 2, 3, 1, 0, 0, 0, 9,
	};
	u8 buf[WIRE_STATUS_SIZE];

	assert_status(test, &in, expected);

	/* state and fault must fit together, for all 65536 pairs */
	memcpy(buf, expected, sizeof(buf));
	for (int s = 0; s < 256; s++) {
		for (int f = 0; f < 256; f++) {
			bool held = s == 3 && f >= 0x20 && f <= 0x27;
			bool fault = s == 4 && f >= 0x28 && f <= 0x3f;
			bool other = (s < 3 || s == 5) && !f;

			buf[0] = s;
			buf[1] = f;
			KUNIT_ASSERT_EQ(test, wire_status_get(buf, &out), held || fault || other);
		}
	}
}

static void test_result(struct kunit *test)
{
	static const u8 expected[WIRE_RESULT_SIZE] = {
		4, 3, 2, 1, 0x12, 11, 0, 0, 0x14, 0x13, 0x12, 0x11,
	};
	struct wire_result in = { 0x01020304, 0x12, 11, 0x11121314 };

	assert_result(test, &in, expected);
}

static void test_counters(struct kunit *test)
{
	struct dealbox_counters in, out;
	u8 buf[WIRE_COUNTERS_SIZE];

	fill(&in, sizeof(in), 1);
	in.boards_dealt = 0x01020304;
	in.seconds = 0x0e;
	wire_counters_put(buf, &in);
	KUNIT_ASSERT_MEMEQ(test, buf, "\x04\x03\x02\x01", 4);
	KUNIT_ASSERT_MEMEQ(test, buf + 56, "\x0e\0\0\0\0\0\0\0", 8);
	fill(buf + 60, 4, 1);
	wire_counters_get(buf, &out);
	in.reserved = 0;
	KUNIT_ASSERT_MEMEQ(test, &in, &out, sizeof(in));
}

static void test_param_and_command(struct kunit *test)
{
	static const u8 param_bytes[WIRE_PARAM_SIZE] = {
		1, 0, 0, 0, 4, 3, 2, 1, 3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
	}, command_bytes[WIRE_COMMAND_SIZE] = {
		9, 0, 0, 0, 4, 3, 2, 1, 3, 0, 0, 0, 0, 0, 0, 0x80,
	};
	struct wire_param param = { 1, 0x01020304, 3, 0xffffffff };
	struct wire_command command = { 9, 0x01020304, 3, 0x80000000 };

	assert_param(test, &param, param_bytes);
	assert_command(test, &command, command_bytes);
}

static void bridge_plan(struct wire_plan *plan)
{
	memset(plan, 0, sizeof(*plan));
	plan->plan_id = 0x01020304;
	plan->mode = DEALBOX_PLAN_BY_CARD;
	plan->entries = 52;
	for (int i = 0; i < 52; i++)
		plan->pocket[i] = i % 4;
	wire_plan_count(plan);
}

static void test_plan_round_trip(struct kunit *test)
{
	static const u8 modes[] = { DEALBOX_PLAN_BY_CARD, DEALBOX_PLAN_BY_POSITION,
				    DEALBOX_PLAN_CAPTURE };
	struct wire_plan in, out;
	u8 buf[WIRE_PLAN_MAX];
	u32 detail;

	for (size_t m = 0; m < 3; m++) {
		bridge_plan(&in);
		in.mode = modes[m];
		if (in.mode == DEALBOX_PLAN_CAPTURE) {
			memset(in.pocket, 0, sizeof(in.pocket));
			in.entries = 1;
			in.pocket[0] = 2;
		} else if (in.mode == DEALBOX_PLAN_BY_CARD) {
			in.pocket[51] = DEALBOX_NONE;
		}
		wire_plan_count(&in);
		fill(buf, sizeof(buf), 1);
		KUNIT_ASSERT_EQ(test, wire_plan_put(buf, &in), WIRE_PLAN_SIZE(in.entries));
		KUNIT_ASSERT_EQ(test, wire_plan_get(buf, WIRE_PLAN_SIZE(in.entries), &machine,
						    in.plan_id, &out, &detail), DEALBOX_ERR_OK);
		KUNIT_ASSERT_EQ(test, detail, 0);
		KUNIT_ASSERT_EQ(test, out.plan_id, in.plan_id);
		KUNIT_ASSERT_EQ(test, out.mode, in.mode);
		KUNIT_ASSERT_EQ(test, out.entries, in.entries);
		KUNIT_ASSERT_EQ(test, out.feed, modes[m] == DEALBOX_PLAN_BY_CARD ? 51 :
				 modes[m] == DEALBOX_PLAN_BY_POSITION ? 52 : 0);
		KUNIT_ASSERT_EQ(test, out.feed, in.feed);
		KUNIT_ASSERT_MEMEQ(test, out.counts, in.counts, sizeof(in.counts));
		KUNIT_ASSERT_MEMEQ(test, out.pocket, in.pocket, sizeof(in.pocket));
	}
}

/* Any single byte that changes is found by the checksum (or by the length). */
static void test_plan_every_byte(struct kunit *test)
{
	struct wire_plan in, out;
	u8 buf[WIRE_PLAN_MAX];
	size_t size;
	u32 detail;

	bridge_plan(&in);
	size = wire_plan_put(buf, &in);
	for (size_t i = 0; i < size; i++) {
		for (int v = 1; v < 256; v++) {
			buf[i] ^= v;
			KUNIT_ASSERT_EQ(test, wire_plan_get(buf, size, &machine, in.plan_id,
							    &out, &detail),
					i == 12 ? DEALBOX_ERR_PLAN : DEALBOX_ERR_CRC);
			buf[i] ^= v;
		}
	}
	for (size_t len = 0; len <= sizeof(buf); len++) {
		if (len == size)
			continue;
		KUNIT_ASSERT_EQ(test, wire_plan_get(buf, len, &machine, in.plan_id, &out, &detail),
				DEALBOX_ERR_PLAN);
		KUNIT_ASSERT_EQ(test, detail, 12);
	}
}

/* With a good checksum, each field that is wrong is named by its offset. */
static void test_plan_refused(struct kunit *test)
{
	static const struct {
		const char *what;
		u8 offset, value, at;
	} bad[] = {
		{ "magic", 0, 0x45, 0 }, { "magic, last byte", 3, 0, 0 },
		{ "major version", 5, 2, 4 }, { "major version 0", 5, 0, 4 },
		{ "mode 0", 6, 0, 6 }, { "mode 4", 6, 4, 6 }, { "mode 255", 6, 255, 6 },
		{ "reserved", 7, 1, 7 },
		{ "plan number", 8, 5, 8 }, { "plan number, last byte", 11, 2, 8 },
		{ "feed", 13, 51, 13 }, { "feed", 13, 53, 13 }, { "feed", 13, 0, 13 },
		{ "reserved", 14, 1, 14 }, { "reserved", 15, 1, 14 },
		{ "count", 16, 12, 16 }, { "count", 19, 14, 19 }, { "count", 23, 1, 23 },
		{ "reserved", 24, 1, 24 }, { "reserved", 31, 1, 24 },
		{ "entry, so count", 32, 4, 16 }, { "entry, so feed", 40, 255, 13 },
	};
	struct wire_plan in, out;
	u8 good[WIRE_PLAN_MAX], buf[WIRE_PLAN_MAX];
	size_t size;
	u32 detail;
	u8 error;

	bridge_plan(&in);
	size = wire_plan_put(good, &in);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		memcpy(buf, good, size);
		buf[bad[i].offset] = bad[i].value;
		put32(buf + size - 4, wire_crc32c(buf, size - 4));
		error = wire_plan_get(buf, size, &machine, in.plan_id, &out, &detail);
		if (error != DEALBOX_ERR_PLAN || detail != bad[i].at)
			KUNIT_FAIL(test, "%s at %d: error %d at %u", bad[i].what, bad[i].offset,
				   error, detail);
	}
}

/* The plan agrees with itself, but is refused at this offset. */
static void assert_refused(struct kunit *test, struct wire_plan *in,
			   const struct wire_descriptor *m, u32 at)
{
	struct wire_plan out;
	u8 buf[WIRE_PLAN_MAX];
	u32 detail;
	size_t size;

	wire_plan_count(in);
	size = wire_plan_put(buf, in);
	KUNIT_ASSERT_EQ(test, wire_plan_get(buf, size, m, in->plan_id, &out, &detail),
			DEALBOX_ERR_PLAN);
	KUNIT_ASSERT_EQ(test, detail, at);
}

/* What the header cannot show: plans that agree with themselves, but are wrong. */
static void test_plan_limits(struct kunit *test)
{
	struct wire_descriptor m = machine;
	struct wire_plan in;

	bridge_plan(&in);
	in.pocket[51] = 4;		/* a pocket that the machine does not have */
	assert_refused(test, &in, &m, 32 + 51);
	in.pocket[3] = 200;		/* the lowest offset is named */
	assert_refused(test, &in, &m, 32 + 3);

	bridge_plan(&in);		/* one card more than fits into a pocket */
	for (int i = 0; i < 52; i++)
		if (in.pocket[i] == 1) {
			in.pocket[i] = 2;
			break;
		}
	assert_refused(test, &in, &m, 16 + 2);

	bridge_plan(&in);		/* no card at all */
	memset(in.pocket, DEALBOX_NONE, 52);
	assert_refused(test, &in, &m, 13);

	bridge_plan(&in);		/* 255 by position */
	in.mode = DEALBOX_PLAN_BY_POSITION;
	in.pocket[9] = DEALBOX_NONE;
	assert_refused(test, &in, &m, 32 + 9);

	bridge_plan(&in);
	in.mode = DEALBOX_PLAN_CAPTURE;	/* exactly one entry */
	assert_refused(test, &in, &m, 12);

	bridge_plan(&in);
	in.entries = 0;
	assert_refused(test, &in, &m, 12);

	m.plan_entries = 51;
	bridge_plan(&in);
	assert_refused(test, &in, &m, 12);

	m.plan_entries = 64;		/* by card there are 54 cards */
	in.entries = 55;
	memset(in.pocket + 52, DEALBOX_NONE, 3);
	assert_refused(test, &in, &m, 12);

	m = machine;			/* a mode without its capability */
	bridge_plan(&in);
	m.capabilities &= ~DEALBOX_CAP_BY_CARD;
	assert_refused(test, &in, &m, 6);
	in.mode = DEALBOX_PLAN_BY_POSITION;
	m.capabilities &= ~DEALBOX_CAP_BY_POSITION;
	assert_refused(test, &in, &m, 6);
	in.mode = DEALBOX_PLAN_CAPTURE;
	m.capabilities &= ~DEALBOX_CAP_CAPTURE;
	assert_refused(test, &in, &m, 6);
}

static void test_event(struct kunit *test)
{
	struct wire_event in = {
		.type = DEALBOX_EV_CARD_READ, .flags = 1, .number = 0x01020304,
		.clock_us = 0x11121314, .insertion = 0x21222324, .position = 5,
		.card = 6, .pocket = 7, .quality = 8, .code = 0x31323334,
		.arg = { 0x41424344, 0x51525354 },
	}, out;
	static const u8 expected[WIRE_EVENT_SIZE] = {
		0x12, 1, 0, 0, 4, 3, 2, 1, 0x14, 0x13, 0x12, 0x11, 0x24, 0x23, 0x22, 0x21,
		5, 6, 7, 8, 0x34, 0x33, 0x32, 0x31, 0x44, 0x43, 0x42, 0x41, 0x54, 0x53, 0x52, 0x51,
	};
	u8 buf[WIRE_EVENT_SIZE];

	assert_event(test, &in, expected);
	memcpy(buf, expected, sizeof(buf));
	buf[2] = 0xff;		/* a host ignores what is reserved */
	buf[3] = 0xff;
	wire_event_get(buf, &out);
	wire_event_put(buf, &out);
	KUNIT_ASSERT_MEMEQ(test, buf, expected, sizeof(buf));
}

static void test_gate(struct kunit *test)
{
	struct wire_gate in = { .pocket = 3, .position = 9, .number = 0x01020304,
				.insertion = 0x11121314 }, out;
	static const u8 expected[WIRE_GATE_SIZE] = {
		1, 3, 0, 9, 4, 3, 2, 1, 0x14, 0x13, 0x12, 0x11,
	};
	u8 buf[WIRE_GATE_SIZE + 1];

	fill(buf, sizeof(buf), 1);
	wire_gate_put(buf, &in);
	KUNIT_ASSERT_MEMEQ(test, buf, expected, WIRE_GATE_SIZE);
	KUNIT_ASSERT_TRUE(test, wire_gate_get(buf, WIRE_GATE_SIZE, &out));
	KUNIT_ASSERT_EQ(test, out.pocket, 3);
	KUNIT_ASSERT_EQ(test, out.position, 9);
	KUNIT_ASSERT_EQ(test, out.number, in.number);
	KUNIT_ASSERT_EQ(test, out.insertion, in.insertion);

	for (size_t len = 0; len <= sizeof(buf); len++)
		KUNIT_ASSERT_EQ(test, wire_gate_get(buf, len, &out), len == WIRE_GATE_SIZE);
	/* pocket and reason must fit together, for all 65536 pairs */
	for (int p = 0; p < 256; p++) {
		for (int r = 0; r < 256; r++) {
			buf[1] = p;
			buf[2] = r;
			KUNIT_ASSERT_EQ(test, wire_gate_get(buf, WIRE_GATE_SIZE, &out),
					p == 255 ? r == 0x28 || r == 0x21 : r == 0);
		}
	}
	buf[0] = 2;
	KUNIT_ASSERT_FALSE(test, wire_gate_get(buf, WIRE_GATE_SIZE, &out));

	in = (struct wire_gate){ .pocket = DEALBOX_NONE, .reason = DEALBOX_EV_REPEATED_CARD,
				 .first = 4 };
	wire_gate_put(buf, &in);
	KUNIT_ASSERT_TRUE(test, wire_gate_get(buf, WIRE_GATE_SIZE, &out));
	KUNIT_ASSERT_EQ(test, out.reason, in.reason);
	KUNIT_ASSERT_EQ(test, out.first, 4);
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE(test_crc_known_answer),
	KUNIT_CASE(test_descriptor),
	KUNIT_CASE(test_descriptor_refused),
	KUNIT_CASE(test_info),
	KUNIT_CASE(test_status),
	KUNIT_CASE(test_result),
	KUNIT_CASE(test_counters),
	KUNIT_CASE(test_param_and_command),
	KUNIT_CASE(test_plan_round_trip),
	KUNIT_CASE(test_plan_every_byte),
	KUNIT_CASE(test_plan_refused),
	KUNIT_CASE(test_plan_limits),
	KUNIT_CASE(test_event),
	KUNIT_CASE(test_gate),
	{ }
};

static struct kunit_suite wire_suite = {
	.name = "dealbox_wire",
	.test_cases = wire_cases,
};

kunit_test_suite(wire_suite);
