// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * abi.c: conversion of events and status, and checks of a caller's arguments.
 */
#include <kunit/test.h>

#include "abi.h"

static const struct wire_descriptor machine = {
	.reader = DEALBOX_READER_BARCODE, .version = WIRE_VERSION, .pockets = 4,
	.pocket_capacity = 13, .hopper = 60, .plan_entries = 54, .gate_deadline_us = 70000,
	.capabilities = DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_BY_CARD |
			DEALBOX_CAP_BY_POSITION | DEALBOX_CAP_CAPTURE |
			DEALBOX_CAP_BOARD_LOCK | DEALBOX_CAP_TEST_DEAL,
};

static const struct wire_event plain = {
	.type = DEALBOX_EV_CARD_LANDED, .number = 10, .clock_us = 20, .insertion = 30,
	.position = 51, .card = 53, .pocket = 3, .quality = 100, .code = 40, .arg = { 50, 60 },
};

static void test_event(struct kunit *test)
{
	struct event_source source = { .seqno = 9, .pockets = 4 };
	struct wire_event in = plain;
	struct dealbox_event out;

	memset(&out, 0xa5, sizeof(out));
	in.flags = 0xff;
	KUNIT_ASSERT_TRUE(test, dealbox_abi_event(&source, &in, 1234567890123, &out));
	KUNIT_ASSERT_EQ(test, out.timestamp_ns, 1234567890123);
	KUNIT_ASSERT_EQ(test, out.seqno, 9);
	KUNIT_ASSERT_EQ(test, out.type, DEALBOX_EV_CARD_LANDED);
	KUNIT_ASSERT_EQ(test, out.flags, DEALBOX_EVF_FACE_UP | DEALBOX_EVF_AT_POWER_ON);
	KUNIT_ASSERT_EQ(test, out.machine_seq, 10);
	KUNIT_ASSERT_EQ(test, out.machine_time_us, 20);
	KUNIT_ASSERT_EQ(test, out.insertion, 30);
	KUNIT_ASSERT_EQ(test, out.position, 51);
	KUNIT_ASSERT_EQ(test, out.card, 53);
	KUNIT_ASSERT_EQ(test, out.pocket, 3);
	KUNIT_ASSERT_EQ(test, out.quality, 100);
	KUNIT_ASSERT_EQ(test, out.code, 40);
	KUNIT_ASSERT_EQ(test, out.arg[0], 50);
	KUNIT_ASSERT_EQ(test, out.arg[1], 60);
	for (int i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, out.reserved[i], 0);
	KUNIT_ASSERT_EQ(test, source.seqno, 10);
}

static void test_deal_done_counts(struct kunit *test)
{
	struct event_source source = { .pockets = 4 };
	struct wire_event in = plain;
	struct dealbox_event out;

	in.type = DEALBOX_EV_DEAL_DONE;
	in.arg[0] = 0x04030201;
	in.arg[1] = 0x08070605;
	KUNIT_ASSERT_TRUE(test, dealbox_abi_event(&source, &in, 0, &out));
	for (int i = 0; i < 8; i++)
		KUNIT_ASSERT_EQ(test, out.counts[i], i + 1);
}

static void test_machine_gap(struct kunit *test)
{
	static const struct {
		u8 type;
		u32 number;
		bool gap;
	} steps[] = {
		{ DEALBOX_EV_KEY, 100, false },	/* the first one seen */
		{ DEALBOX_EV_KEY, 101, false },
		{ DEALBOX_EV_KEY, 103, true },
		{ DEALBOX_EV_KEY, 104, false },
		{ DEALBOX_EV_KEY, 104, true },
		{ DEALBOX_EV_STATE_LOST, 1, false },
		{ DEALBOX_EV_KEY, 2, false },
		{ DEALBOX_EV_KEY, 0xffffffff, true },
		{ DEALBOX_EV_KEY, 0, false },
	};
	struct event_source source = { .pockets = 4 };
	struct wire_event in = plain;
	struct dealbox_event out;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		in.type = steps[i].type;
		in.number = steps[i].number;
		KUNIT_ASSERT_TRUE(test, dealbox_abi_event(&source, &in, 0, &out));
		KUNIT_ASSERT_EQ(test, out.flags, steps[i].gap ? DEALBOX_EVF_MACHINE_GAP : 0);
		KUNIT_ASSERT_EQ(test, out.seqno, i);
	}
}

/* Of an event with a field out of range, only its numbers are passed on. */
static void test_event_fields(struct kunit *test)
{
	static const struct {
		size_t offset;
		u8 good, bad;
	} fields[] = {
		{ offsetof(struct wire_event, position), 64, 65 },
		{ offsetof(struct wire_event, card), 53, 54 },
		{ offsetof(struct wire_event, pocket), 3, 4 },
		{ offsetof(struct wire_event, quality), 100, 101 },
	};
	struct wire_event in;
	struct dealbox_event out;

	for (size_t i = 0; i < 4; i++) {
		for (int v = 0; v < 256; v++) {
			struct event_source source = { .seqno = 3, .pockets = 4 };
			bool good = v <= fields[i].good || v == DEALBOX_NONE;

			in = plain;
			((u8 *)&in)[fields[i].offset] = v;
			KUNIT_ASSERT_EQ(test, dealbox_abi_event(&source, &in, 0, &out), good);
			KUNIT_ASSERT_EQ(test, source.seqno, 4);
			KUNIT_ASSERT_EQ(test, out.machine_seq, 10);
			if (good)
				continue;
			KUNIT_ASSERT_EQ(test, out.type, DEALBOX_EV_PROTOCOL_ERROR);
			KUNIT_ASSERT_EQ(test, out.code, DEALBOX_PROTO_EVENT_FIELD);
			KUNIT_ASSERT_EQ(test, out.arg[0], DEALBOX_EV_CARD_LANDED);
			KUNIT_ASSERT_EQ(test, out.card, DEALBOX_NONE);
			KUNIT_ASSERT_EQ(test, out.pocket, DEALBOX_NONE);
			KUNIT_ASSERT_EQ(test, out.position, DEALBOX_NONE);
			KUNIT_ASSERT_EQ(test, out.quality, DEALBOX_NONE);
		}
	}
	/* Before the machine was asked, any pocket may be one of its own. */
	for (int v = 0; v < 256; v++) {
		struct event_source source = { 0 };

		in = plain;
		in.pocket = v;
		KUNIT_ASSERT_TRUE(test, dealbox_abi_event(&source, &in, 0, &out));
		KUNIT_ASSERT_EQ(test, out.pocket, v);
	}
	/* Fields of unknown types are not checked. */
	for (int type = 0; type < 256; type++) {
		struct event_source source = { .pockets = 4 };
		bool known = (type >= 1 && type <= 8) || (type >= 0x10 && type <= 0x1a) ||
			     (type >= 0x20 && type <= 0x24) || (type >= 0x28 && type <= 0x2e);

		in = plain;
		in.type = type;
		in.card = 54;
		KUNIT_ASSERT_EQ(test, dealbox_abi_event(&source, &in, 0, &out), !known);
	}
}

static void test_protocol_error(struct kunit *test)
{
	struct event_source source = { .seqno = 5, .pockets = 4 };
	struct dealbox_event out;

	dealbox_abi_protocol_error(&source, DEALBOX_PROTO_EVENT_SIZE, 31, 8, &out);
	KUNIT_ASSERT_EQ(test, out.type, DEALBOX_EV_PROTOCOL_ERROR);
	KUNIT_ASSERT_EQ(test, out.code, DEALBOX_PROTO_EVENT_SIZE);
	KUNIT_ASSERT_EQ(test, out.arg[0], 31);
	KUNIT_ASSERT_EQ(test, out.seqno, 5);
	KUNIT_ASSERT_EQ(test, out.timestamp_ns, 8);
	KUNIT_ASSERT_EQ(test, source.seqno, 6);
}

static void test_info_and_status(struct kunit *test)
{
	struct wire_info info = { .firmware = 1, .hardware = 2 };
	struct wire_status status = { .state = 3, .fault = 0x21, .flags = 5, .cards_total = 52,
				      .plan_id = 6, .insertion = 7, .board = 8, .cards_done = 9,
				      .next_event = 0x31323334, .counts = { 1, 2, 3, 3 } };
	struct dealbox_status sout;
	struct dealbox_info iout;
	char serial[100];

	memset(info.name, 'n', WIRE_NAME_SIZE);
	memset(serial, 's', sizeof(serial));
	serial[99] = '\0';
	memset(&iout, 0xa5, sizeof(iout));
	dealbox_abi_info(&machine, &info, serial, 1024, &iout);
	KUNIT_ASSERT_EQ(test, strlen(iout.model), WIRE_NAME_SIZE);
	KUNIT_ASSERT_EQ(test, strlen(iout.serial), sizeof(iout.serial) - 1);
	KUNIT_ASSERT_EQ(test, iout.capabilities, machine.capabilities);
	KUNIT_ASSERT_EQ(test, iout.protocol, WIRE_VERSION);
	KUNIT_ASSERT_EQ(test, iout.firmware, 1);
	KUNIT_ASSERT_EQ(test, iout.hardware, 2);
	KUNIT_ASSERT_EQ(test, iout.queue_events, 1024);
	KUNIT_ASSERT_EQ(test, iout.hopper, 60);
	KUNIT_ASSERT_EQ(test, iout.plan_entries, 54);
	KUNIT_ASSERT_EQ(test, iout.pockets, 4);
	KUNIT_ASSERT_EQ(test, iout.pocket_capacity, 13);
	KUNIT_ASSERT_EQ(test, iout.reader, DEALBOX_READER_BARCODE);
	KUNIT_ASSERT_EQ(test, iout.reserved1, 0);
	dealbox_abi_info(&machine, &info, NULL, 1024, &iout);
	KUNIT_ASSERT_STREQ(test, iout.serial, "");
	KUNIT_ASSERT_EQ(test, iout.gate_deadline_us, machine.gate_deadline_us);
	/* Control characters are replaced, space and UTF-8 letters are kept. */
	memcpy(info.name, "a \x1f\x7f~\xce\x94", 8);
	dealbox_abi_info(&machine, &info, "\x01 \x7f!\n", 1024, &iout);
	KUNIT_ASSERT_STREQ(test, iout.model, "a ??~\xce\x94");
	KUNIT_ASSERT_STREQ(test, iout.serial, "? ?!?");
	/* So are those from U+0080 to U+009f, and no others of two bytes. */
	memcpy(info.name, "\xc2\x80\xc2\x9b[\xc2\xa0\xc3\x9b\xc2", 11);
	dealbox_abi_info(&machine, &info, "\xc2\x9f\xc2\x7f", 1024, &iout);
	KUNIT_ASSERT_STREQ(test, iout.model, "????[\xc2\xa0\xc3\x9b\xc2");
	KUNIT_ASSERT_STREQ(test, iout.serial, "??\xc2?");
	/* A two-byte character that does not fit is dropped whole. */
	serial[42] = '\xce';
	serial[43] = '\x94';
	dealbox_abi_info(&machine, &info, serial, 1024, &iout);
	KUNIT_ASSERT_EQ(test, strlen(iout.serial), 42);
	/* One position earlier, it fits. */
	serial[41] = '\xce';
	serial[42] = '\x94';
	serial[43] = 's';
	dealbox_abi_info(&machine, &info, serial, 1024, &iout);
	KUNIT_ASSERT_EQ(test, strlen(iout.serial), 43);
	/* No character begins anywhere. */
	memset(serial, '\x80', sizeof(serial) - 1);
	dealbox_abi_info(&machine, &info, serial, 1024, &iout);
	KUNIT_ASSERT_STREQ(test, iout.serial, "");

	memset(&sout, 0xa5, sizeof(sout));
	dealbox_abi_status(&status, &sout);
	KUNIT_ASSERT_EQ(test, sout.state, 3);
	KUNIT_ASSERT_EQ(test, sout.fault, 0x21);
	KUNIT_ASSERT_EQ(test, sout.flags, 5);
	KUNIT_ASSERT_EQ(test, sout.cards_total, 52);
	KUNIT_ASSERT_EQ(test, sout.plan_id, 6);
	KUNIT_ASSERT_EQ(test, sout.insertion, 7);
	KUNIT_ASSERT_EQ(test, sout.board, 8);
	KUNIT_ASSERT_EQ(test, sout.cards_done, 9);
	KUNIT_ASSERT_MEMEQ(test, sout.counts, status.counts, 8);
	KUNIT_ASSERT_EQ(test, sout.machine_seq, 0x31323334);
	KUNIT_ASSERT_EQ(test, sout.owner_pid, 0);
	KUNIT_ASSERT_EQ(test, sout.claimed, DEALBOX_CLAIMED_NOT);
}

static struct dealbox_plan bridge(void)
{
	struct dealbox_plan plan = { .plan_id = 5, .mode = DEALBOX_PLAN_BY_CARD, .entries = 52 };

	for (int i = 0; i < 52; i++)
		plan.pocket[i] = i % 4;
	return plan;
}

static void test_plan(struct kunit *test)
{
	struct dealbox_plan in = bridge();
	struct wire_descriptor m = machine;
	struct wire_plan out;

	in.result = 7;		/* output only, ignored as input */
	in.detail = 7;
	KUNIT_ASSERT_EQ(test, dealbox_abi_plan(&in, &m, &out), 0);
	KUNIT_ASSERT_EQ(test, out.plan_id, 5);
	KUNIT_ASSERT_EQ(test, out.feed, 52);
	KUNIT_ASSERT_EQ(test, out.counts[3], 13);

#define REFUSED(error, change) do {				\
	in = bridge();						\
	change;							\
	KUNIT_ASSERT_EQ(test, dealbox_abi_plan(&in, &m, &out), error);	\
} while (0)
	REFUSED(-EINVAL, in.plan_id = DEALBOX_PLAN_NONE);
	REFUSED(-EINVAL, in.plan_id = DEALBOX_PLAN_TEST);
	REFUSED(-EINVAL, in.mode = 0);
	REFUSED(-EINVAL, in.mode = 4);
	REFUSED(-EINVAL, in.mode = 255);
	REFUSED(-EINVAL, in.entries = 65);
	REFUSED(-EINVAL, in.entries = 255);
	REFUSED(-EINVAL, in.reserved1[0] = 1);
	REFUSED(-EINVAL, in.reserved1[1] = 1);
	REFUSED(-EINVAL, in.reserved[0] = 1);
	REFUSED(-EINVAL, in.reserved[1] = 1);
	REFUSED(-EINVAL, in.reserved[2] = 1);
	REFUSED(-EINVAL, in.reserved[3] = 1);
	REFUSED(-EINVAL, in.pocket[52] = 1);
	REFUSED(-EINVAL, in.pocket[63] = 1);
	REFUSED(-EINVAL, in.pocket[7] = 4);
	REFUSED(-EINVAL, in.pocket[7] = 254);
	/* 14 cards into a pocket of 13 */
	REFUSED(-EINVAL, in.pocket[7] = 0);
	REFUSED(-EINVAL, memset(in.pocket, 0, 52));
	REFUSED(-EINVAL, memset(in.pocket, DEALBOX_NONE, 52));
	REFUSED(-EINVAL, (in.entries = 55, memset(in.pocket + 52, DEALBOX_NONE, 3)));
	REFUSED(-EINVAL, in.entries = 0);	/* forget, but with fields */
	REFUSED(-EINVAL, (in.mode = DEALBOX_PLAN_BY_POSITION, in.pocket[0] = DEALBOX_NONE));
	REFUSED(-EINVAL, in.mode = DEALBOX_PLAN_CAPTURE);
	in = (struct dealbox_plan){ .plan_id = 5, .mode = DEALBOX_PLAN_CAPTURE, .entries = 1 };
	in.pocket[0] = 2;
	KUNIT_ASSERT_EQ(test, dealbox_abi_plan(&in, &m, &out), 0);
	KUNIT_ASSERT_EQ(test, out.feed, 0);
	REFUSED(0, in.pocket[7] = DEALBOX_NONE);
	REFUSED(0, in.mode = DEALBOX_PLAN_BY_POSITION);
	REFUSED(0, (memset(&in, 0, sizeof(in))));
	KUNIT_ASSERT_EQ(test, out.entries, 0);
	REFUSED(-EINVAL, (memset(&in, 0, sizeof(in)), in.plan_id = 1));
	REFUSED(-EINVAL, (memset(&in, 0, sizeof(in)), in.mode = 1));
	REFUSED(-EINVAL, (memset(&in, 0, sizeof(in)), in.pocket[0] = 1));
	m.plan_entries = 51;
	REFUSED(-EINVAL, (void)0);
	m = machine;
	m.plan_entries = DEALBOX_MAX_ENTRIES;
	m.pocket_capacity = DEALBOX_MAX_ENTRIES;
	m.hopper = DEALBOX_MAX_ENTRIES;
	REFUSED(0, (in.mode = DEALBOX_PLAN_BY_POSITION, in.entries = DEALBOX_MAX_ENTRIES));
	m = machine;
	m.capabilities &= ~DEALBOX_CAP_BY_CARD;
	REFUSED(-EOPNOTSUPP, (void)0);
#undef REFUSED
}

static void test_control(struct kunit *test)
{
	static const struct dealbox_control good[] = {
		{ .op = DEALBOX_OP_START, .plan_id = 5, .insertion = 9 },
		{ .op = DEALBOX_OP_PAUSE }, { .op = DEALBOX_OP_RESUME },
		{ .op = DEALBOX_OP_REREAD }, { .op = DEALBOX_OP_ABORT },
		{ .op = DEALBOX_OP_CLEAR_FAULT }, { .op = DEALBOX_OP_RELEASE_BOARD },
		{ .op = DEALBOX_OP_TEST_DEAL, .insertion = 9, .arg = 54 },
		{ .op = DEALBOX_OP_LOCATE, .arg = 60 },
	};
	struct wire_command out;
	struct dealbox_control in;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		bool start = good[i].op == DEALBOX_OP_START;
		bool trial = good[i].op == DEALBOX_OP_TEST_DEAL;
		bool locate = good[i].op == DEALBOX_OP_LOCATE;

		in = good[i];
		in.result = 3;
		in.detail = 3;
		memset(&out, 0xa5, sizeof(out));
		KUNIT_ASSERT_EQ(test, dealbox_abi_control(&in, &machine, NULL, &out), 0);
		KUNIT_ASSERT_EQ(test, out.sequence, 0);
		KUNIT_ASSERT_EQ(test, out.a, start ? 5 : locate ? 60 : 0);
		KUNIT_ASSERT_EQ(test, out.b, start || trial ? 9 : 0);
		KUNIT_ASSERT_EQ(test, out.c, trial ? 54 : 0);

#define REFUSED(change) do {							\
	in = good[i];								\
	change;									\
	KUNIT_ASSERT_EQ(test, dealbox_abi_control(&in, &machine, NULL, &out), -EINVAL);	\
} while (0)
		REFUSED(in.reserved[0] = 1);
		REFUSED(in.reserved[1] = 1);
		REFUSED(in.plan_id = start ? DEALBOX_PLAN_NONE : 5);
		REFUSED(in.plan_id = DEALBOX_PLAN_TEST);
		REFUSED(in.insertion = start || trial ? 0 : 9);
		REFUSED(in.arg = locate ? 61 : trial ? 55 : 1);
		REFUSED(in.arg = 1u << 31);
		if (trial)
			REFUSED(in.arg = 0);
#undef REFUSED
	}
	for (u32 op = 0; op < 300; op++) {
		in = (struct dealbox_control){ .op = op };
		if (op < DEALBOX_OP_START || op > DEALBOX_OP_LOCATE)
			KUNIT_ASSERT_EQ(test, dealbox_abi_control(&in, &machine, NULL, &out),
					-EINVAL);
	}
}

static void test_control_capability(struct kunit *test)
{
	struct wire_descriptor m = machine;
	struct dealbox_control in = { .op = DEALBOX_OP_RELEASE_BOARD };
	struct wire_command out;

	m.capabilities = DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_BY_POSITION;
	KUNIT_ASSERT_EQ(test, dealbox_abi_control(&in, &m, NULL, &out), -EOPNOTSUPP);
	in = (struct dealbox_control){ .op = DEALBOX_OP_TEST_DEAL, .insertion = 1, .arg = 1 };
	KUNIT_ASSERT_EQ(test, dealbox_abi_control(&in, &m, NULL, &out), -EOPNOTSUPP);
}

static void test_control_routed_start(struct kunit *test)
{
	struct dealbox_control in = { .op = DEALBOX_OP_START, .plan_id = 5, .insertion = 9 };
	struct wire_plan plan = { .plan_id = 5, .mode = DEALBOX_PLAN_BY_CARD, .entries = 52,
				  .feed = 52 };
	struct wire_command out;

	KUNIT_ASSERT_EQ(test, dealbox_abi_control(&in, &machine, &plan, &out), 0);
	KUNIT_ASSERT_EQ(test, out.c, 52);
	plan = (struct wire_plan){ .plan_id = 5, .mode = DEALBOX_PLAN_CAPTURE, .entries = 1 };
	KUNIT_ASSERT_EQ(test, dealbox_abi_control(&in, &machine, &plan, &out), 0);
	KUNIT_ASSERT_EQ(test, out.c, WIRE_START_CAPTURE);
}

static void test_param(struct kunit *test)
{
	const struct dealbox_param plain_param = { .id = 1, .value = 2, .result = 3, .detail = 4 };
	struct dealbox_param in;

	for (int set = 0; set < 2; set++) {
		in = plain_param;
		KUNIT_ASSERT_EQ(test, dealbox_abi_param(&in, set), 0);
		/*
		 * min and max are ignored by GET_PARAM, and must be 0 for
		 * SET_PARAM.
		 */
		in.min = 1;
		KUNIT_ASSERT_EQ(test, dealbox_abi_param(&in, set), set ? -EINVAL : 0);
		in = plain_param;
		in.max = 1;
		KUNIT_ASSERT_EQ(test, dealbox_abi_param(&in, set), set ? -EINVAL : 0);
		for (int i = 0; i < 2; i++) {
			in = plain_param;
			in.reserved[i] = 1;
			KUNIT_ASSERT_EQ(test, dealbox_abi_param(&in, set), -EINVAL);
		}
	}
}

static struct kunit_case abi_cases[] = {
	KUNIT_CASE(test_event),
	KUNIT_CASE(test_deal_done_counts),
	KUNIT_CASE(test_machine_gap),
	KUNIT_CASE(test_event_fields),
	KUNIT_CASE(test_protocol_error),
	KUNIT_CASE(test_info_and_status),
	KUNIT_CASE(test_plan),
	KUNIT_CASE(test_control),
	KUNIT_CASE(test_control_capability),
	KUNIT_CASE(test_control_routed_start),
	KUNIT_CASE(test_param),
	{ }
};

static struct kunit_suite abi_suite = {
	.name = "dealbox_abi",
	.test_cases = abi_cases,
};

kunit_test_suite(abi_suite);
