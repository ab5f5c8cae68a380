// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* wire.c: layout of every message, and every byte that must be refused. */
#include <kunit/test.h>
#include <linux/crc32.h>
#include <linux/unaligned.h>

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

/* All bytes differ, so that a field in the wrong place is found. */
static void fill(void *p, size_t size, u8 start)
{
	u8 *bytes = p;

	while (size--)
		*bytes++ = start++;
}

/* dealbox_decode_<name>() of bytes is expected. */
#define DECODES(name)								\
static void assert_##name(struct kunit *test, const u8 *bytes,			\
			  const struct wire_##name *expected)			\
{										\
	struct wire_##name out;							\
										\
	memset(&out, 0, sizeof(out));						\
	dealbox_decode_##name(bytes, &out);					\
	KUNIT_ASSERT_MEMEQ(test, &out, expected, sizeof(out));			\
}

DECODES(status)
DECODES(result)
DECODES(param)
DECODES(event)

static const u8 machine_bytes[WIRE_DESC_SIZE] = {
	24, 0x24, 1, 1, 0x01, 0x01, 4, 13, 60, 0, 54, 0, 0x01, 0x0e, 0, 0,
};

static void test_crc_known_answer(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, ~crc32c(~0, "123456789", 9), 0xe3069283u);
	KUNIT_ASSERT_EQ(test, ~crc32c(~0, "", 0), 0);
}

static void test_descriptor(struct kunit *test)
{
	u8 buf[WIRE_DESC_SIZE + 4] = { 0 };
	struct wire_descriptor out;

	memcpy(buf, machine_bytes, sizeof(machine_bytes));
	KUNIT_ASSERT_TRUE(test, dealbox_decode_descriptor(buf, WIRE_DESC_SIZE, &out));
	KUNIT_ASSERT_EQ(test, out.reader, machine.reader);
	KUNIT_ASSERT_EQ(test, out.version, machine.version);
	KUNIT_ASSERT_EQ(test, out.pockets, machine.pockets);
	KUNIT_ASSERT_EQ(test, out.pocket_capacity, machine.pocket_capacity);
	KUNIT_ASSERT_EQ(test, out.hopper, machine.hopper);
	KUNIT_ASSERT_EQ(test, out.plan_entries, machine.plan_entries);
	KUNIT_ASSERT_EQ(test, out.capabilities, machine.capabilities);
	KUNIT_ASSERT_EQ(test, out.gate_deadline_us, 0);

	/* The descriptor of a later minor version may be longer. */
	buf[0] = sizeof(buf);
	buf[4] = 7;
	buf[20] = 1;
	KUNIT_ASSERT_TRUE(test, dealbox_decode_descriptor(buf, sizeof(buf), &out));
	/* Another descriptor may follow. */
	buf[0] = WIRE_DESC_SIZE;
	KUNIT_ASSERT_TRUE(test, dealbox_decode_descriptor(buf, sizeof(buf), &out));
	buf[0] = WIRE_DESC_SIZE - 1;
	KUNIT_ASSERT_FALSE(test, dealbox_decode_descriptor(buf, sizeof(buf), &out));
	buf[0] = sizeof(buf);
	/* bLength beyond the end of the buffer */
	KUNIT_ASSERT_FALSE(test, dealbox_decode_descriptor(buf, WIRE_DESC_SIZE, &out));
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
	}, last[] = {
		{ "another reader", 3, DEALBOX_READER_OTHER },
		{ "minor version", 4, 0xff }, { "version 1.0", 4, 0 },
		{ "one pocket", 6, 1 }, { "eight pockets", 6, 8 },
		{ "capacity 1", 7, 1 }, { "capacity 64", 7, 64 },
		{ "hopper 1", 8, 1 }, { "hopper 300", 9, 1 },
		{ "plan 1", 10, 1 }, { "plan 64", 10, 64 },
		{ "by card only", 13, 0x02 }, { "by position only", 13, 0x04 },
	};
	struct wire_descriptor out;
	const u8 *good = machine_bytes;
	u8 buf[WIRE_DESC_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		memcpy(buf, good, sizeof(buf));
		buf[bad[i].offset] = bad[i].value;
		if (dealbox_decode_descriptor(buf, sizeof(buf), &out))
			KUNIT_FAIL(test, "accepted: %s", bad[i].what);
	}
	for (size_t len = 0; len < WIRE_DESC_SIZE; len++)
		KUNIT_ASSERT_FALSE(test, dealbox_decode_descriptor(good, len, &out));

	/* the limits of each range */
	for (size_t i = 0; i < ARRAY_SIZE(last); i++) {
		memcpy(buf, good, sizeof(buf));
		buf[last[i].offset] = last[i].value;
		if (!dealbox_decode_descriptor(buf, sizeof(buf), &out))
			KUNIT_FAIL(test, "refused: %s", last[i].what);
	}
	memcpy(buf, good, sizeof(buf));
	buf[3] = 0;
	buf[13] = 0x04;		/* by position needs no reader */
	KUNIT_ASSERT_TRUE(test, dealbox_decode_descriptor(buf, sizeof(buf), &out));
	buf[15] = 0x80;		/* unknown capability */
	KUNIT_ASSERT_TRUE(test, dealbox_decode_descriptor(buf, sizeof(buf), &out));
	buf[12] = 2;		/* host-routed, with a deadline */
	put_unaligned_le32(20000, buf + 16);
	KUNIT_ASSERT_TRUE(test, dealbox_decode_descriptor(buf, sizeof(buf), &out));
	KUNIT_ASSERT_EQ(test, out.gate_deadline_us, 20000);
}

static void test_descriptor_looked_for(struct kunit *test)
{
	static const struct { size_t length; u8 offset, value; int error; } rows[] = {
		{ WIRE_DESC_SIZE, 0, 24, 0 },
		{ WIRE_DESC_SIZE + 4, 0, 28, 0 },	/* longer */
		{ 0, 0, 24, -ENOENT },	/* nothing */
		{ 2, 0, 24, -ENOENT },	/* two bytes */
		{ 3, 0, 24, -EPROTO },	/* its head */
		{ WIRE_DESC_SIZE, 1, 5, -ENOENT },	/* an endpoint */
		{ WIRE_DESC_SIZE, 2, 2, -ENOENT },	/* another type */
		{ WIRE_DESC_SIZE - 1, 0, 24, -EPROTO },	/* cut */
		{ WIRE_DESC_SIZE, 0, 23, -EPROTO },	/* too short */
		{ WIRE_DESC_SIZE, 6, 0, -EPROTO },	/* no pockets */
		{ WIRE_DESC_SIZE, 5, 2, -EPROTONOSUPPORT },	/* version 2 */
		{ WIRE_DESC_SIZE, 5, 0, -EPROTO },	/* version 0 */
		{ WIRE_DESC_SIZE, 4, 0, 0 },	/* version 1.0 */
		{ WIRE_DESC_SIZE, 4, 10, 0 },	/* version 1.10 */
		{ WIRE_DESC_SIZE, 4, 255, 0 },	/* version 1.255 */
	};
	struct wire_descriptor out, none = { 0 };
	u8 buf[WIRE_DESC_SIZE + 4];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		memset(buf, 0, sizeof(buf));
		memcpy(buf, machine_bytes, sizeof(machine_bytes));
		buf[rows[i].offset] = rows[i].value;
		memset(&out, 0xff, sizeof(out));
		KUNIT_ASSERT_EQ(test, dealbox_read_descriptor(buf, rows[i].length, &out),
				rows[i].error);
		if (rows[i].error)
			KUNIT_ASSERT_MEMEQ(test, &out, &none, sizeof(out));
		else
			KUNIT_ASSERT_EQ(test, out.pockets, 4);
	}
}

static void test_info(struct kunit *test)
{
	u8 buf[WIRE_INFO_SIZE] = "\x00\x01\x00\x00\x04\x03\x02\x01\x0d\x0c\x0b\x0a"
				 "\0\0\0\0Ruter";
	struct wire_info out;

	memset(&out, 0xff, sizeof(out));
	dealbox_decode_info(buf, &out);
	KUNIT_ASSERT_EQ(test, out.version, 0x0100);
	KUNIT_ASSERT_EQ(test, out.firmware, 0x01020304);
	KUNIT_ASSERT_EQ(test, out.hardware, 0x0a0b0c0d);
	KUNIT_ASSERT_STREQ(test, out.name, "Ruter");

	/* A name of 32 bytes has no terminator in the message. */
	memset(buf + 16, 'x', 48);
	dealbox_decode_info(buf, &out);
	KUNIT_ASSERT_EQ(test, strlen(out.name), WIRE_NAME_SIZE);
}

/* The ranges of section 4, with the types that nobody knows yet. */
static void test_classes(struct kunit *test)
{
	enum { MACHINE = 1, DEAL = 2, HELD = 4, VOID = 8, STOP = 16, DRIVER = 32 };
	static const struct {
		u32 first, last;
		unsigned int classes;
	} rows[] = {
		{ 0, 0, 0 }, { 1, 0x10, MACHINE }, { 0x11, 0x1f, DEAL },
		{ 0x20, 0x27, HELD | STOP }, { 0x28, 0x3f, VOID | STOP }, { 0x40, 0xff, 0 },
		{ 0x100, 0x200, DRIVER }, { 0x7ffffff0, 0x8000003f, DRIVER },
		{ U32_MAX - 0x3f, U32_MAX, DRIVER },
	};

	for (size_t n = 0; n < ARRAY_SIZE(rows); n++)
		for (u64 type = rows[n].first; type <= rows[n].last; type++)
			KUNIT_ASSERT_EQ(test, rows[n].classes,
					(DEALBOX_EV_IS_MACHINE(type) ? MACHINE : 0) |
					(DEALBOX_EV_IS_DEAL(type) ? DEAL : 0) |
					(DEALBOX_EV_IS_HELD(type) ? HELD : 0) |
					(DEALBOX_EV_IS_VOID(type) ? VOID : 0) |
					(DEALBOX_EV_IS_STOP(type) ? STOP : 0) |
					(DEALBOX_EV_IS_DRIVER(type) ? DRIVER : 0));
}

static void test_status(struct kunit *test)
{
	static const struct wire_status status = {
		.state = DEALBOX_STATE_HELD, .fault = 0x21, .flags = 0x2d, .cards_total = 52,
		.plan_id = 0x01020304, .insertion = 0x11121314, .board = 0x2122,
		.cards_done = 7, .next_event = 0x31323334, .clock_us = 0x41424344,
		.counts = { 1, 2, 3, 1, 0, 0, 0, 9 },
	};
	static const u8 bytes[WIRE_STATUS_SIZE] = {
		3, 0x21, 0x2d, 52, 4, 3, 2, 1, 0x14, 0x13, 0x12, 0x11, 0x22, 0x21, 7, 0,
		0x34, 0x33, 0x32, 0x31, 0x44, 0x43, 0x42, 0x41, 1, 2, 3, 1, 0, 0, 0, 9,
	};
	struct wire_status out;
	u8 buf[WIRE_STATUS_SIZE];

	assert_status(test, bytes, &status);

	/* State and fault must be consistent: all 65536 pairs. */
	memcpy(buf, bytes, sizeof(buf));
	for (int s = 0; s < 256; s++) {
		for (int f = 0; f < 256; f++) {
			bool held = s == 3 && f >= 0x20 && f <= 0x27;
			bool fault = s == 4 && f >= 0x28 && f <= 0x3f;
			bool other = (s < 3 || s == 5) && !f;

			buf[0] = s;
			buf[1] = f;
			KUNIT_ASSERT_EQ(test, dealbox_decode_status(buf, &out),
					held || fault || other);
		}
	}
}

static void test_result(struct kunit *test)
{
	static const u8 bytes[WIRE_RESULT_SIZE] = {
		4, 3, 2, 1, 0x12, 11, 0, 0, 0x14, 0x13, 0x12, 0x11,
	};
	static const struct wire_result result = { 0x01020304, 0x12, 11, 0x11121314 };

	assert_result(test, bytes, &result);
}

static void test_counters(struct kunit *test)
{
	struct dealbox_counters out;
	u8 buf[WIRE_COUNTERS_SIZE];

	for (int i = 0; i < WIRE_COUNTERS_SIZE; i++)
		buf[i] = i;
	dealbox_decode_counters(buf, &out);
	KUNIT_ASSERT_EQ(test, out.boards_dealt, 0x03020100);
	KUNIT_ASSERT_EQ(test, out.seconds, 0x3b3a3938);
	KUNIT_ASSERT_EQ(test, out.reserved, 0);
}

static void test_param_and_command(struct kunit *test)
{
	static const u8 param_bytes[WIRE_PARAM_SIZE] = {
		1, 0, 0, 0, 4, 3, 2, 1, 3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
	}, command_bytes[WIRE_COMMAND_SIZE] = {
		9, 0, 0, 0, 4, 3, 2, 1, 3, 0, 0, 0, 0, 0, 0, 0x80,
	};
	static const struct wire_param param = { 1, 0x01020304, 3, 0xffffffff };
	static const struct wire_command command = { 9, 0x01020304, 3, 0x80000000 };
	u8 buf[WIRE_COMMAND_SIZE];

	assert_param(test, param_bytes, &param);
	memset(buf, 0xa5, sizeof(buf));
	dealbox_encode_command(buf, &command);
	KUNIT_ASSERT_MEMEQ(test, buf, command_bytes, sizeof(buf));
}

static void bridge_plan(struct wire_plan *plan)
{
	memset(plan, 0, sizeof(*plan));
	plan->plan_id = 0x01020304;
	plan->mode = DEALBOX_PLAN_BY_CARD;
	plan->entries = 52;
	for (int i = 0; i < 52; i++)
		plan->pocket[i] = i % 4;
	dealbox_count_plan(plan);
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
		/* Earlier contents are overwritten. */
		memset(in.counts, 7, sizeof(in.counts));
		in.feed = 7;
		dealbox_count_plan(&in);
		memset(&out, 0xff, sizeof(out));
		fill(buf, sizeof(buf), 1);
		KUNIT_ASSERT_EQ(test, dealbox_encode_plan(buf, &in), WIRE_PLAN_SIZE(in.entries));
		KUNIT_ASSERT_EQ(test, dealbox_decode_plan(buf, WIRE_PLAN_SIZE(in.entries),
							  &machine, in.plan_id, &out, &detail),
				DEALBOX_ERR_OK);
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

/* Any single changed byte is found by the checksum or the length. */
static void test_plan_every_byte(struct kunit *test)
{
	struct wire_plan in, out;
	u8 buf[WIRE_PLAN_MAX];
	size_t size;
	u32 detail;

	bridge_plan(&in);
	size = dealbox_encode_plan(buf, &in);
	for (size_t i = 0; i < size; i++) {
		for (int v = 1; v < 256; v++) {
			buf[i] ^= v;
			KUNIT_ASSERT_EQ(test, dealbox_decode_plan(buf, size, &machine, in.plan_id,
								  &out, &detail),
					i == 12 ? DEALBOX_ERR_PLAN : DEALBOX_ERR_CRC);
			buf[i] ^= v;
		}
	}
	for (size_t len = 0; len <= sizeof(buf); len++) {
		if (len == size)
			continue;
		KUNIT_ASSERT_EQ(test, dealbox_decode_plan(buf, len, &machine, in.plan_id,
							  &out, &detail),
				DEALBOX_ERR_PLAN);
		KUNIT_ASSERT_EQ(test, detail, 12);
	}
}

/* With a correct checksum, detail is the offset of each bad field. */
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
	size = dealbox_encode_plan(good, &in);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		memcpy(buf, good, size);
		buf[bad[i].offset] = bad[i].value;
		put_unaligned_le32(~crc32c(~0, buf, size - 4), buf + size - 4);
		error = dealbox_decode_plan(buf, size, &machine, in.plan_id, &out, &detail);
		if (error != DEALBOX_ERR_PLAN || detail != bad[i].at)
			KUNIT_FAIL(test, "%s at %d: error %d at %u", bad[i].what, bad[i].offset,
				   error, detail);
	}
}

/* The consistent plan is refused at this offset. */
static void assert_refused(struct kunit *test, struct wire_plan *in,
			   const struct wire_descriptor *m, u32 at)
{
	struct wire_plan out;
	u8 buf[WIRE_PLAN_MAX];
	u32 detail;
	size_t size;

	dealbox_count_plan(in);
	size = dealbox_encode_plan(buf, in);
	KUNIT_ASSERT_EQ(test, dealbox_decode_plan(buf, size, m, in->plan_id, &out, &detail),
			DEALBOX_ERR_PLAN);
	KUNIT_ASSERT_EQ(test, detail, at);
}

/* Consistent plans that exceed a limit. */
static void test_plan_limits(struct kunit *test)
{
	struct wire_descriptor m = machine;
	struct wire_plan in, uncounted;
	u8 buf[WIRE_PLAN_MAX];
	size_t size;
	u32 detail;

	bridge_plan(&in);
	in.pocket[51] = 4;		/* no such pocket */
	assert_refused(test, &in, &m, 32 + 51);
	in.pocket[3] = 200;		/* the lowest offset is reported */
	assert_refused(test, &in, &m, 32 + 3);
	in.pocket[0] = DEALBOX_MAX_POCKETS;
	assert_refused(test, &in, &m, 32);

	bridge_plan(&in);		/* ... and counted nowhere */
	in.pocket[0] = DEALBOX_MAX_POCKETS;
	uncounted = in;
	dealbox_count_plan(&in);
	uncounted.counts[0]--;
	KUNIT_ASSERT_MEMEQ(test, &in, &uncounted, sizeof(in));

	bridge_plan(&in);		/* one card more than a pocket holds */
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
	/* The shortest block that still has a checksum. */
	size = dealbox_encode_plan(buf, &in);
	buf[size - 1] ^= 1;
	KUNIT_ASSERT_EQ(test, dealbox_decode_plan(buf, size, &m, in.plan_id, &in, &detail),
			DEALBOX_ERR_CRC);
	KUNIT_ASSERT_EQ(test, detail, ~crc32c(~0, buf, size - 4));

	m.plan_entries = 51;
	bridge_plan(&in);
	assert_refused(test, &in, &m, 12);

	m.plan_entries = 64;		/* by card, the limit is 54 cards */
	in.entries = 55;
	memset(in.pocket + 52, DEALBOX_NONE, 3);
	assert_refused(test, &in, &m, 12);
	in.entries = 54;
	dealbox_count_plan(&in);
	size = dealbox_encode_plan(buf, &in);
	KUNIT_ASSERT_EQ(test, dealbox_decode_plan(buf, size, &m, in.plan_id, &in, &detail),
			DEALBOX_ERR_OK);

	bridge_plan(&in);		/* the longest plan */
	in.mode = DEALBOX_PLAN_BY_POSITION;
	in.entries = DEALBOX_MAX_ENTRIES;
	m.pocket_capacity = DEALBOX_MAX_ENTRIES;
	dealbox_count_plan(&in);
	size = dealbox_encode_plan(buf, &in);
	KUNIT_ASSERT_EQ(test, size, sizeof(buf));
	KUNIT_ASSERT_EQ(test, dealbox_decode_plan(buf, size, &m, in.plan_id, &in, &detail),
			DEALBOX_ERR_OK);

	m = machine;			/* missing capability of the mode */
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
	static const struct wire_event event = {
		.type = DEALBOX_EV_CARD_READ, .flags = 1, .number = 0x01020304,
		.clock_us = 0x11121314, .insertion = 0x21222324, .position = 5,
		.card = 6, .pocket = 7, .quality = 8, .code = 0x31323334,
		.arg = { 0x41424344, 0x51525354 },
	};
	/* A host ignores reserved fields. */
	static const u8 bytes[WIRE_EVENT_SIZE] = {
		0x12, 1, 0xff, 0xff, 4, 3, 2, 1, 0x14, 0x13, 0x12, 0x11, 0x24, 0x23, 0x22, 0x21,
		5, 6, 7, 8, 0x34, 0x33, 0x32, 0x31, 0x44, 0x43, 0x42, 0x41, 0x54, 0x53, 0x52, 0x51,
	};

	assert_event(test, bytes, &event);
}

static void test_gate(struct kunit *test)
{
	static const struct wire_gate pocket = {
		.pocket = 3, .position = 9, .number = 0x01020304, .insertion = 0x11121314,
	}, hold = {
		.pocket = DEALBOX_NONE, .reason = DEALBOX_EV_REPEATED_CARD, .position = 9,
		.number = 0x01020304, .insertion = 0x11121314, .first = 4,
	};
	static const u8 pocket_bytes[WIRE_GATE_SIZE] = {
		1, 3, 0, 9, 4, 3, 2, 1, 0x14, 0x13, 0x12, 0x11,
	}, hold_bytes[WIRE_GATE_SIZE] = {
		1, 255, 0x28, 9, 4, 3, 2, 1, 0x14, 0x13, 0x12, 0x11, 4,
	};
	u8 buf[WIRE_GATE_SIZE];

	memset(buf, 0xa5, sizeof(buf));
	dealbox_encode_gate(buf, &pocket);
	KUNIT_ASSERT_MEMEQ(test, buf, pocket_bytes, sizeof(buf));
	dealbox_encode_gate(buf, &hold);
	KUNIT_ASSERT_MEMEQ(test, buf, hold_bytes, sizeof(buf));
}

static void test_identity(struct kunit *test)
{
	u8 bytes[WIRE_IDENTITY_SIZE];
	struct dealbox_identity id, expected = {
		.flags = DEALBOX_IDENTITY_EMULATED, .counter = 0x07060504,
	};
	unsigned int i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	/* A host ignores the other flags. */
	bytes[0] = 0xff;
	for (i = 0; i < sizeof(expected.key_id); i++)
		expected.key_id[i] = 8 + i;
	for (i = 0; i < sizeof(expected.public_key); i++)
		expected.public_key[i] = 16 + i;
	memset(&id, 0xa5, sizeof(id));
	dealbox_decode_identity(bytes, &id);
	KUNIT_ASSERT_MEMEQ(test, &id, &expected, sizeof(id));
}

static void test_known(struct kunit *test)
{
	u32 type;

	for (type = 0; type < 0x140; type++)
		KUNIT_ASSERT_EQ(test, dealbox_wire_known(type),
				(type >= 0x01 && type <= 0x08) ||
				(type >= 0x10 && type <= 0x1a) ||
				(type >= 0x20 && type <= 0x24) ||
				(type >= 0x28 && type <= 0x2e));
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE(test_crc_known_answer),
	KUNIT_CASE(test_descriptor),
	KUNIT_CASE(test_descriptor_refused),
	KUNIT_CASE(test_descriptor_looked_for),
	KUNIT_CASE(test_info),
	KUNIT_CASE(test_classes),
	KUNIT_CASE(test_status),
	KUNIT_CASE(test_result),
	KUNIT_CASE(test_counters),
	KUNIT_CASE(test_param_and_command),
	KUNIT_CASE(test_plan_round_trip),
	KUNIT_CASE(test_plan_every_byte),
	KUNIT_CASE(test_plan_refused),
	KUNIT_CASE(test_plan_limits),
	KUNIT_CASE(test_event),
	KUNIT_CASE(test_identity),
	KUNIT_CASE(test_known),
	KUNIT_CASE(test_gate),
	{ }
};

static struct kunit_suite wire_suite = {
	.name = "dealbox_wire",
	.test_cases = wire_cases,
};

kunit_test_suite(wire_suite);
