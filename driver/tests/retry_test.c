// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* retry.c: the pause after a failure of the event pipe, and resets. */
#include <kunit/test.h>

#include "retry.h"

#define MS	1000000ULL
#define BEGIN	(77 * MS)

/* Fail at *now and advance it by the pause. */
static u32 fail_once(struct retry *retry, u64 *now, bool *reset)
{
	u32 pause = dealbox_retry_failed(retry, *now, reset);

	*now += pause * MS;
	dealbox_retry_begins(retry, *now);
	return pause;
}

static void test_one_alone_costs_nothing(struct kunit *test)
{
	struct retry retry = { 0 };
	u64 now = BEGIN;
	bool reset;

	for (int i = 0; i < 100; i++) {
		KUNIT_ASSERT_EQ(test, fail_once(&retry, &now, &reset), 0);
		KUNIT_ASSERT_FALSE(test, reset);
		if (i % 2)
			dealbox_retry_good(&retry);
		now += RETRY_ALONE_MS * MS;
	}
}

static void test_pauses_grow(struct kunit *test)
{
	static const u32 pauses[] = { 0, 13, 26, 52, 104, 104, 104, 104, 104, 104, 104, 104, 104 };
	struct retry retry = { 0 };
	u64 now = BEGIN;
	bool reset;

	for (unsigned int i = 0; i < ARRAY_SIZE(pauses); i++) {
		KUNIT_ASSERT_EQ(test, fail_once(&retry, &now, &reset), pauses[i]);
		KUNIT_ASSERT_FALSE(test, reset);
	}
}

/*
 * Good transfers in between end a series, but frequent failures still cost a
 * pause.
 */
static void test_every_second_one_fails(struct kunit *test)
{
	struct retry retry = { 0 };
	u64 now = BEGIN;
	int failures = 0;
	bool reset;

	while (now < BEGIN + 1000 * MS) {
		fail_once(&retry, &now, &reset);
		KUNIT_ASSERT_FALSE(test, reset);
		dealbox_retry_good(&retry);
		failures++;
	}
	KUNIT_ASSERT_GE(test, failures, 2);
	KUNIT_ASSERT_LE(test, failures, 1 + 1000 / RETRY_FIRST_MS + 1);
}

/* An attempt without a pause belongs to the failure just before it. */
static void test_good_ones_between_do_not_make_it_alone(struct kunit *test)
{
	struct retry retry = { 0 };
	u64 late = BEGIN + RETRY_ALONE_MS * MS;
	u64 soon = late + RETRY_ALONE_MS * MS - 1;
	bool reset;

	KUNIT_ASSERT_EQ(test, dealbox_retry_failed(&retry, BEGIN, &reset), 0);
	dealbox_retry_good(&retry);
	KUNIT_ASSERT_EQ(test, dealbox_retry_failed(&retry, late, &reset), 0);
	dealbox_retry_good(&retry);
	KUNIT_ASSERT_EQ(test, dealbox_retry_failed(&retry, soon, &reset), RETRY_FIRST_MS);
	KUNIT_ASSERT_FALSE(test, reset);
}

/* Halts that take longer to clear than RETRY_ALONE_MS are still a series. */
static void test_slow_tries_are_a_row(struct kunit *test)
{
	struct retry retry = { 0 };
	u64 now = BEGIN;
	bool reset = false;
	int i;

	for (i = 0; i < 10 && !reset; i++) {
		dealbox_retry_failed(&retry, now, &reset);
		now += 2 * RETRY_ALONE_MS * MS;
		dealbox_retry_begins(&retry, now);
	}
	KUNIT_ASSERT_EQ(test, i, 2);
}

/*
 * Resets are 1, 2, 4 ... 64, 64 s apart, and 1 s again after a good transfer.
 */
static void test_resets_become_rare(struct kunit *test)
{
	static const u32 seconds[] = { 1, 2, 4, 8, 16, 32, 64, 64, 64 };
	struct retry retry = { 0 };
	u64 now = BEGIN, last = BEGIN;
	bool reset;

	for (unsigned int i = 0; i < ARRAY_SIZE(seconds); i++) {
		do {
			fail_once(&retry, &now, &reset);
		} while (!reset);
		KUNIT_ASSERT_GE(test, now - last, 1000 * seconds[i] * MS);
		KUNIT_ASSERT_LE(test, now - last, (1000 * seconds[i] + 3 * RETRY_MAX_MS) * MS);
		last = now;
	}
	dealbox_retry_good(&retry);
	last = now;
	do {
		fail_once(&retry, &now, &reset);
	} while (!reset);
	KUNIT_ASSERT_GE(test, now - last, 1000 * MS);
	KUNIT_ASSERT_LE(test, now - last, (1000 + 3 * RETRY_MAX_MS) * MS);
}

/* A transfer that came and was malformed starts and moves no time of a reset. */
static void test_malformed_ones_are_no_reason_for_a_reset(struct kunit *test)
{
	struct retry retry = { 0 };
	u64 first, now = BEGIN;
	bool reset;
	int i;

	for (; now < BEGIN + 120000 * MS; now += RETRY_MAX_MS * MS)
		dealbox_retry_failed(&retry, now, NULL);
	KUNIT_ASSERT_EQ(test, retry.pause_ms, RETRY_MAX_MS);
	first = now;
	dealbox_retry_failed(&retry, first, &reset);
	KUNIT_ASSERT_FALSE(test, reset);
	for (i = 1; i < 10; i++)
		dealbox_retry_failed(&retry, first + 100 * i * MS, NULL);
	dealbox_retry_failed(&retry, first + RETRY_RESET_MS * MS - 1, &reset);
	KUNIT_ASSERT_FALSE(test, reset);
	dealbox_retry_failed(&retry, first + RETRY_RESET_MS * MS, &reset);
	KUNIT_ASSERT_TRUE(test, reset);
}

static struct kunit_case retry_cases[] = {
	KUNIT_CASE(test_one_alone_costs_nothing),
	KUNIT_CASE(test_pauses_grow),
	KUNIT_CASE(test_every_second_one_fails),
	KUNIT_CASE(test_good_ones_between_do_not_make_it_alone),
	KUNIT_CASE(test_slow_tries_are_a_row),
	KUNIT_CASE(test_resets_become_rare),
	KUNIT_CASE(test_malformed_ones_are_no_reason_for_a_reset),
	{ }
};

static struct kunit_suite retry_suite = {
	.name = "dealbox_retry",
	.test_cases = retry_cases,
};

kunit_test_suite(retry_suite);
