// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plans of stored-plan machines (§3). */
#include <errno.h>
#include <linux/crc32.h>
#include <linux/unaligned.h>
#include <string.h>

#include "run.h"

#define NUMBER	0x01020304u

static void seal(uint8_t *block, size_t size)
{
	put_unaligned_le32(~crc32c(~0, block, size - 4), block + size - 4);
}

/* LOAD without a block */
static void announce(struct run *r, uint32_t number, size_t size)
{
	uint8_t error = command(r, WIRE_LOAD, number, (uint32_t)size, 0, NULL);

	if (!check(r, error == DEALBOX_ERR_BAD_VALUE ? "R-2.3-5" : "R-5-1", !error,
		   "LOAD of %zu bytes is refused with error %u", size, error))
		end_test(r);
}

/* Send a block, and compare PLAN_LOADED. detail UINT32_MAX is any. */
static void expect_plan(struct run *r, const char *requirement, const uint8_t *block, size_t size,
			uint8_t error, uint32_t detail, const char *what)
{
	const struct event *event;
	uint64_t began;
	uint8_t is;

	announce(r, NUMBER, size);
	uint64_t before = now_us();

	plan_out(r, block, size);
	began = now_us();
	event = await(r, DEALBOX_EV_PLAN_LOADED, 3000, "R-3-5");
	check_time(r, "R-3-5", event->us - before > began - before ? event->us - began : 0, 500000,
		   "PLAN_LOADED");
	is = (uint8_t)event->e.arg[0];
	check(r, requirement, is == error && (detail == UINT32_MAX || event->e.arg[1] == detail),
	      "%s: error %u, detail %u, not %u, %u", what, is, event->e.arg[1], error, detail);
	if (is)
		check(r, "R-3-8", !status(r).plan_id,
		      "behind PLAN_LOADED with an error there is a plan");
	else
		check(r, "R-3-8", status(r).plan_id == NUMBER, "the plan is not loaded");
}

static size_t good(struct run *r, uint8_t *block, uint8_t mode, unsigned int entries)
{
	struct wire_plan plan;

	if (mode == DEALBOX_PLAN_BY_CARD)
		plan_by_card(r, &plan, entries);
	else
		plan_by_position(r, &plan, entries);
	plan.plan_id = NUMBER;
	plan.mode = mode;
	dealbox_count_plan(&plan);
	return dealbox_encode_plan(block, &plan);
}

static uint8_t some_mode(const struct run *r)
{
	return HAS(r, BY_POSITION) ? DEALBOX_PLAN_BY_POSITION : DEALBOX_PLAN_BY_CARD;
}

static unsigned int some_entries(const struct run *r)
{
	unsigned int room = r->desc.pocket_capacity * (unsigned int)r->desc.pockets;
	unsigned int n = 8;

	if (n > r->desc.plan_entries)
		n = r->desc.plan_entries;
	return n > room ? room : n;
}

static void good_plans(struct run *r)
{
	unsigned int room = r->desc.pocket_capacity * (unsigned int)r->desc.pockets, n;
	uint8_t block[WIRE_PLAN_MAX];

	settle(r);
	n = r->desc.plan_entries < room ? r->desc.plan_entries : room;
	if (HAS(r, BY_POSITION)) {
		expect_plan(r, "R-3-12", block, good(r, block, DEALBOX_PLAN_BY_POSITION, 1), 0, 0,
			    "the shortest plan by position");
		check(r, "R-2.3-5", true, "the longest plan is announced");
		expect_plan(r, "R-3-12", block, good(r, block, DEALBOX_PLAN_BY_POSITION, n), 0, 0,
			    "the longest plan by position");
	}
	if (HAS(r, BY_CARD)) {
		expect_plan(r, "R-3-12", block, good(r, block, DEALBOX_PLAN_BY_CARD, 1), 0, 0,
			    "the shortest plan by card");
		expect_plan(r, "R-3-12", block,
			    good(r, block, DEALBOX_PLAN_BY_CARD, n < 54 ? n : 54), 0, 0,
			    "the longest plan by card");
	}
	if (HAS(r, CAPTURE))
		expect_plan(r, "R-3-12", block, good(r, block, DEALBOX_PLAN_CAPTURE, 1), 0, 0,
			    "a capture");
	/* a later minor version of the block */
	n = (unsigned int)good(r, block, some_mode(r), 1);
	block[4] = 0x7f;
	seal(block, n);
	expect_plan(r, "R-3-12", block, n, 0, 0, "a block of version 01.7f");
}

/*
 * Each length there is: also those that fill the last packet, which no empty one follows (R-3-1),
 * and those that are no multiple of anything.
 */
static void lengths(struct run *r)
{
	unsigned int room = r->desc.pocket_capacity * (unsigned int)r->desc.pockets, n;
	uint8_t block[WIRE_PLAN_MAX], mode = some_mode(r);
	char what[60];

	settle(r);
	for (n = 1; n <= r->desc.plan_entries && n <= room &&
	     (n <= DEALBOX_MAX_CARDS || mode == DEALBOX_PLAN_BY_POSITION); n++) {
		snprintf(what, sizeof(what), "a plan of %u bytes", (unsigned int)WIRE_PLAN_SIZE(n));
		expect_plan(r, "R-3-5", block, good(r, block, mode, n), 0, 0, what);
	}
}

/* A plan stays loaded behind ABORT, a test deal and a stop (R-3-10). */
static void stays(struct run *r)
{
	uint32_t plan;
	uint8_t error;

	reach(r, DEALBOX_STATE_DEALING);
	plan = r->plan.plan_id;
	settle(r);
	check(r, "R-3-10", status(r).plan_id == plan, "ABORT makes the machine forget the plan");
	fresh_board(r);
	if (HAS(r, TEST_DEAL)) {
		error = command(r, DEALBOX_OP_TEST_DEAL, 0, r->observer.insertion, 1, NULL);
		check(r, "R-7-1", !error, "TEST_DEAL is refused with error %u", error);
		await_end(r, 60000);
		check(r, "R-3-10", status(r).plan_id == plan,
		      "TEST_DEAL makes the machine forget the plan");
		fresh_board(r);
	}
	r->route = true;
	error = start(r);
	check(r, "R-3-10", !error, "the plan cannot be started any more: error %u", error);
	settle(r);
}

/* One byte is changed; the checksum is right. */
static void spoilt(struct run *r, uint8_t mode, unsigned int entries, unsigned int at,
		   uint8_t value, uint32_t offset, const char *requirement)
{
	uint8_t block[WIRE_PLAN_MAX];
	size_t size = good(r, block, mode, entries);
	char what[100];

	if (block[at] == value)
		return;
	block[at] = value;
	seal(block, size);
	snprintf(what, sizeof(what), "byte %u of a plan of mode %u is %02x", at, mode, value);
	expect_plan(r, requirement, block, size, DEALBOX_ERR_PLAN, offset, what);
}

static void fields(struct run *r)
{
	unsigned int n = some_entries(r), at, p;
	uint8_t mode = some_mode(r);

	settle(r);
	for (at = 0; at < 4; at++)
		spoilt(r, mode, n, at, 0xee, 0, "R-3-14");
	spoilt(r, mode, n, 5, 0x02, 4, "R-3-14");
	spoilt(r, mode, n, 5, 0x00, 4, "R-3-14");
	spoilt(r, mode, n, 6, 0, 6, "R-3-14");
	spoilt(r, mode, n, 6, 4, 6, "R-3-14");
	spoilt(r, mode, n, 6, 255, 6, "R-3-14");
	spoilt(r, mode, n, 7, 1, 7, "R-0-3");
	for (at = 8; at < 12; at++)
		spoilt(r, mode, n, at, 0x77, 8, "R-3-14");
	spoilt(r, mode, n, 13, 0, 13, "R-3-14");
	spoilt(r, mode, n, 13, (uint8_t)(n + 1), 13, "R-3-14");
	spoilt(r, mode, n, 14, 1, 14, "R-0-3");
	spoilt(r, mode, n, 15, 0x80, 14, "R-0-3");
	for (p = 0; p < 8; p++)
		spoilt(r, mode, n, 16 + p, 60, 16 + p, "R-3-14");
	for (at = 24; at < 32; at++)
		spoilt(r, mode, n, at, 1, 24, "R-0-3");
}

static void capabilities(struct run *r)
{
	uint8_t block[WIRE_PLAN_MAX];
	size_t size;
	uint8_t mode;

	settle(r);
	for (mode = 1; mode <= 3; mode++) {
		bool has = mode == 1 ? HAS(r, BY_CARD) :
			   mode == 2 ? HAS(r, BY_POSITION) :
				       HAS(r, CAPTURE);

		size = good(r, block, mode, 1);
		expect_plan(r, has ? "R-3-12" : "R-3-14", block, size, has ? 0 : DEALBOX_ERR_PLAN,
			    has ? 0 : 6, has ? "a plan of a mode that the machine has" :
			    "a plan of a mode that the machine has not");
	}
}

/* Entries, and the counts that belong to them: made whole, so that one field is at fault */
static void entries(struct run *r)
{
	unsigned int n = some_entries(r), k, sum;
	uint8_t block[WIRE_PLAN_MAX], mode = some_mode(r);
	size_t size;

	settle(r);
	for (k = 0; k < n; k++) {
		/* a pocket that the machine has not; it counts for a pocket 0..7, or for none */
		size = good(r, block, mode, n);
		block[16 + block[32 + k]]--;
		block[32 + k] = 9;
		seal(block, size);
		expect_plan(r, "R-3-14", block, size, DEALBOX_ERR_PLAN, 32 + k,
			    "an entry is pocket 9");
	}
	if (mode == DEALBOX_PLAN_BY_POSITION) {
		size = good(r, block, mode, n);
		block[16 + block[32 + n - 1]]--;
		block[32 + n - 1] = 255;
		seal(block, size);
		expect_plan(r, "R-3-14", block, size, DEALBOX_ERR_PLAN, 32 + n - 1,
			    "an entry by position is 255");
	}
	if (r->desc.pockets < 8) {
		size = good(r, block, mode, 1);
		block[16]--;
		block[16 + r->desc.pockets]++;
		block[32] = r->desc.pockets;
		seal(block, size);
		expect_plan(r, "R-3-14", block, size, DEALBOX_ERR_PLAN, 32, "an entry is bPockets");
	}
	/* one more than fits into a pocket */
	sum = r->desc.pocket_capacity + 1u;
	if (sum <= r->desc.plan_entries && HAS(r, BY_POSITION)) {
		size = good(r, block, DEALBOX_PLAN_BY_POSITION, sum);
		memset(block + 16, 0, 8);
		memset(block + 32, 0, sum);
		block[16] = (uint8_t)sum;
		seal(block, size);
		expect_plan(r, "R-3-14", block, size, DEALBOX_ERR_PLAN, 16,
			    "a pocket would be too full");
	}
	if (HAS(r, BY_CARD)) {
		/* no card at all */
		size = good(r, block, DEALBOX_PLAN_BY_CARD, 1);
		block[13] = 0;
		block[16] = 0;
		block[32] = 255;
		seal(block, size);
		expect_plan(r, "R-3-14", block, size, DEALBOX_ERR_PLAN, 13,
			    "a plan by card without a card");
		if (r->desc.plan_entries >= 55) {
			size = good(r, block, DEALBOX_PLAN_BY_CARD, 55);
			expect_plan(r, "R-3-14", block, size, DEALBOX_ERR_PLAN, 12,
				    "55 entries by card");
		}
	}
	if (HAS(r, CAPTURE)) {
		size = good(r, block, DEALBOX_PLAN_CAPTURE, 2);
		if (r->desc.plan_entries >= 2)
			expect_plan(r, "R-3-14", block, size, DEALBOX_ERR_PLAN, 12,
				    "a capture of two entries");
		spoilt(r, DEALBOX_PLAN_CAPTURE, 1, 13, 1, 13, "R-3-14");
		spoilt(r, DEALBOX_PLAN_CAPTURE, 1, 16, 1, 16, "R-3-14");
		spoilt(r, DEALBOX_PLAN_CAPTURE, 1, 32, r->desc.pockets, 32, "R-3-14");
	}
}

static void order(struct run *r)
{
	unsigned int n = some_entries(r);
	uint8_t block[WIRE_PLAN_MAX + 8], mode = some_mode(r);
	size_t size = good(r, block, mode, n);
	uint32_t sum = ~crc32c(~0, block, size - 4);

	settle(r);
	block[size - 1] ^= 0x40;
	expect_plan(r, "R-3-13", block, size, DEALBOX_ERR_CRC, sum, "a wrong checksum");
	block[size - 1] ^= 0x40;
	block[size - 4] ^= 0x01;
	expect_plan(r, "R-3-13", block, size, DEALBOX_ERR_CRC, sum,
		    "a checksum with one wrong bit");
	/* the checksum comes before the fields */
	block[0] = 0;
	sum = ~crc32c(~0, block, size - 4);
	expect_plan(r, "R-3-13", block, size, DEALBOX_ERR_CRC, sum,
		    "a wrong checksum and a wrong magic");
	/* the length comes before the checksum */
	size = good(r, block, mode, n);
	block[12]++;
	expect_plan(r, "R-3-13", block, size, DEALBOX_ERR_PLAN, 12, "n is not that of the length");
	/* the lowest offset first */
	size = good(r, block, mode, n);
	block[7] = 1;
	block[14] = 1;
	block[24] = 1;
	block[32] = 200;
	seal(block, size);
	expect_plan(r, "R-3-13", block, size, DEALBOX_ERR_PLAN, 7, "four fields are at fault");
	block[7] = 0;
	seal(block, size);
	expect_plan(r, "R-3-13", block, size, DEALBOX_ERR_PLAN, 14, "three fields are at fault");
}

static void forgets(struct run *r)
{
	uint8_t block[WIRE_PLAN_MAX];
	unsigned int n = some_entries(r);
	size_t size = good(r, block, some_mode(r), n);
	uint8_t error;

	settle(r);
	expect_plan(r, "R-3-12", block, size, 0, 0, "a good plan");
	announce(r, NUMBER, size);
	check(r, "R-3-2", !status(r).plan_id, "LOAD does not forget the old plan");
	/* a second LOAD: nothing is sent for the first */
	plan_out(r, block, 10);
	announce(r, NUMBER, size);
	plan_out(r, block, size);
	await(r, DEALBOX_EV_PLAN_LOADED, 3000, "R-3-5");
	check(r, "R-3-2", status(r).plan_id == NUMBER,
	      "bytes of a load that was not complete are kept");
	error = command(r, WIRE_LOAD, 0, 0, 0, NULL);
	check(r, "R-3-9", !error, "LOAD 0 is refused with error %u", error);
	check(r, "R-3-9", !status(r).plan_id, "LOAD 0 does not forget the plan");
	expect_quiet(r, "R-3-9", 60, "behind LOAD 0");
	/* LOAD 0 ends a load, too */
	announce(r, NUMBER, size);
	error = command(r, WIRE_LOAD, 0, 0, 0, NULL);
	check(r, "R-3-9", !error, "LOAD 0 is refused during a load with error %u", error);
	if (!r->serial) {
		check(r, "R-3-3", plan_out(r, block, size) == -EPIPE,
		      "the block is taken behind LOAD 0");
		clear_halt(r, r->pipes.out);
	}
	check(r, "R-3-9", !status(r).plan_id, "LOAD 0 does not end a load");
}

static void unannounced(struct run *r)
{
	uint8_t block[WIRE_PLAN_MAX];
	size_t size = good(r, block, some_mode(r), some_entries(r));
	int ret;

	settle(r);
	command(r, WIRE_LOAD, 0, 0, 0, NULL);
	ret = plan_out(r, block, size);
	if (r->serial) {
		check(r, "R-S3-8", ret >= 0, "a plan that was not announced ends with an error");
	} else {
		check(r, "R-3-3", ret == -EPIPE, "bulk data without LOAD are not stalled");
		check(r, "R-3-3", plan_out(r, block, 1) == -EPIPE, "the endpoint is not halted");
		clear_halt(r, r->pipes.out);
	}
	expect_quiet(r, r->serial ? "R-S3-8" : "R-3-3", 60, "behind a plan that was not announced");
	check(r, r->serial ? "R-S3-8" : "R-3-3", !status(r).plan_id,
	      "a plan is loaded without LOAD");
	expect_plan(r, "R-3-3", block, size, 0, 0, "a good plan behind a halt");
	/* a plan that is loaded does not mind */
	plan_out(r, block, 3);
	if (!r->serial)
		clear_halt(r, r->pipes.out);
	check(r, "R-3-10", status(r).plan_id == NUMBER,
	      "data without LOAD end the plan that is loaded");
}

static void overrun(struct run *r)
{
	uint8_t block[WIRE_PLAN_MAX + 32] = { 0 };
	size_t size = good(r, block, some_mode(r), some_entries(r));
	const struct event *event;
	int ret;

	settle(r);
	announce(r, NUMBER, size);
	ret = plan_out(r, block, size + 1);
	if (!r->serial)
		check(r, "R-3-3", ret == -EPIPE, "more than LOAD gave is not stalled");
	event = await(r, DEALBOX_EV_PLAN_LOADED, 3000, "R-3-4");
	check(r, "R-3-4", event->e.arg[0] == DEALBOX_ERR_PLAN && event->e.arg[1] == 12,
	      "more than LOAD gave: error %u, detail %u", event->e.arg[0], event->e.arg[1]);
	if (!r->serial)
		clear_halt(r, r->pipes.out);
	check(r, "R-3-4", !status(r).plan_id, "more than LOAD gave, and there is a plan");
	expect_quiet(r, "R-3-4", 60, "behind a load that got too much");
	expect_plan(r, "R-3-4", block, size, 0, 0, "a good plan behind it");
}

static void incomplete(struct run *r)
{
	uint8_t block[WIRE_PLAN_MAX];
	size_t size = good(r, block, some_mode(r), some_entries(r));
	const struct event *event;
	uint64_t began, us;

	settle(r);
	announce(r, NUMBER, size);
	plan_out(r, block, 11);
	began = now_us();
	event = await(r, DEALBOX_EV_PLAN_LOADED, 4000, "R-3-6");
	us = event->us - began;
	check(r, "R-3-6", event->e.arg[0] == DEALBOX_ERR_INCOMPLETE && event->e.arg[1] == 11,
	      "11 bytes of a plan: error %u, detail %u", event->e.arg[0], event->e.arg[1]);
	check(r, "R-3-6", us > 1900000, "a load is given up after %.0f ms, not 2000", us / 1e3);
	check_time(r, "R-3-6", us, 2500000, "PLAN_LOADED of a load that was not complete");
	if (!r->serial) {
		check(r, "R-3-8", plan_out(r, block + 11, size - 11) == -EPIPE,
		      "bytes are taken behind INCOMPLETE");
		clear_halt(r, r->pipes.out);
	}
	check(r, "R-3-8", !status(r).plan_id, "a plan that was not complete is loaded");
}

/* Not what a host does; the machine counts bytes, and must not be confused. */
static void split(struct run *r)
{
	uint8_t block[WIRE_PLAN_MAX];
	size_t size = good(r, block, some_mode(r), some_entries(r));
	const struct event *event;

	settle(r);
	announce(r, NUMBER, size);
	plan_out(r, block, 16);
	plan_out(r, block + 16, size - 16);
	event = await(r, DEALBOX_EV_PLAN_LOADED, 3500, "R-3-6");
	check(r, "R-3-8", (status(r).plan_id == NUMBER) == !event->e.arg[0],
	      "a plan in two transfers is neither loaded nor refused");
	if (!r->serial) {
		clear_halt(r, r->pipes.out);
		expect_plan(r, "R-3-12", block, size, 0, 0, "a good plan");
		/* a packet of zero length is no byte of a plan */
		plan_out(r, block, 0);
		clear_halt(r, r->pipes.out);
		check(r, "R-3-10", status(r).plan_id == NUMBER,
		      "a packet of zero length ends the plan that is loaded");
	}
	expect_plan(r, "R-3-12", block, size, 0, 0, "a good plan");
}

static void numbers(struct run *r)
{
	static const uint32_t good_numbers[] = { 1, 0xff, 0x10000, 0x80000000, 0xfffffffe };
	uint8_t block[WIRE_PLAN_MAX];
	size_t size, i;

	settle(r);
	for (i = 0; i < sizeof(good_numbers) / sizeof(*good_numbers); i++) {
		const struct event *event;

		size = good(r, block, some_mode(r), 1);
		put_unaligned_le32(good_numbers[i], block + 8);
		seal(block, size);
		announce(r, good_numbers[i], size);
		plan_out(r, block, size);
		event = await(r, DEALBOX_EV_PLAN_LOADED, 3000, "R-3-5");
		check(r, "R-3-12", !event->e.arg[0] && event->e.code == good_numbers[i],
		      "plan number %u is refused with error %u", good_numbers[i], event->e.arg[0]);
		check(r, "R-2.1-5", status(r).plan_id == good_numbers[i],
		      "GET_STATUS has not plan number %u", good_numbers[i]);
	}
	configure(r, DEALBOX_LOST_RESET);
	check(r, "R-1.2-1", !status(r).plan_id, "the plan is there behind SET_CONFIGURATION");
}

#define STORED	DEALBOX_CAP_STORED_PLAN

const struct test_row plan_tests[] = {
	{ "plans", "good", "R-2.3-5 R-3-5 R-3-8 R-3-12", "plans at the limits", 0, STORED,
	  good_plans },
	{ "plans", "lengths", "R-3-5", "plans of each length", 0, STORED, lengths },
	{ "plans", "stays", "R-3-10", "a plan stays loaded", NEED_HANDS | NEED_BOARD, STORED,
	  stays },
	{ "plans", "modes", "R-3-12 R-3-14", "modes with and without their capability", 0, STORED,
	  capabilities },
	{ "plans", "fields", "R-0-3 R-3-8 R-3-14", "each field of the header at fault", 0, STORED,
	  fields },
	{ "plans", "entries", "R-3-14", "entries and counts at fault", 0, STORED, entries },
	{ "plans", "order", "R-3-13", "checksum, and the order of the checks", 0, STORED, order },
	{ "plans", "forgets", "R-3-2 R-3-9", "when a plan is forgotten", 0, STORED, forgets },
	{ "plans", "unannounced", "R-3-3 R-3-10 R-S3-8", "data without LOAD", 0, STORED,
	  unannounced },
	{ "plans", "overrun", "R-3-3 R-3-4", "more data than LOAD gave", 0, STORED, overrun },
	{ "plans", "incomplete", "R-3-6 R-3-8", "less data than LOAD gave", 0, STORED, incomplete },
	{ "plans", "split", "R-3-8 R-3-10", "a plan in two transfers, and an empty packet", 0,
	  STORED, split },
	{ "plans", "numbers", "R-2.1-5 R-3-12 R-1.2-1", "plan numbers", 0, STORED, numbers },
	{ 0 }
};
