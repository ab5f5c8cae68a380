// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* How soon the driver goes on after a failure of the event pipe, and when it resets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "retry.h"

#define MS	1000000ULL
#define BEGIN	(77 * MS)

/* Fails at *now, which moves on by the pause. */
static u32 fail_once(struct retry *retry, u64 *now, bool *reset)
{
	u32 pause = retry_failed(retry, *now, reset);

	*now += pause * MS;
	retry_begins(retry, *now);
	return pause;
}

static void test_one_alone_costs_nothing(void **state)
{
	struct retry retry = { 0 };
	u64 now = BEGIN;
	bool reset;

	(void)state;
	for (int i = 0; i < 100; i++) {
		assert_int_equal(fail_once(&retry, &now, &reset), 0);
		assert_false(reset);
		if (i % 2)
			retry_good(&retry);
		now += RETRY_ALONE_MS * MS;
	}
}

static void test_pauses_grow(void **state)
{
	static const u32 pauses[] = { 0, 13, 26, 52, 104, 104, 104, 104, 104, 104, 104, 104, 104 };
	struct retry retry = { 0 };
	u64 now = BEGIN;
	bool reset;

	(void)state;
	for (unsigned int i = 0; i < sizeof(pauses) / sizeof(*pauses); i++) {
		assert_int_equal(fail_once(&retry, &now, &reset), pauses[i]);
		assert_false(reset);
	}
}

/* Good transfers between them end a row, but do not make a flood of failures free. */
static void test_every_second_one_fails(void **state)
{
	struct retry retry = { 0 };
	u64 now = BEGIN;
	int failures = 0;
	bool reset;

	(void)state;
	while (now < BEGIN + 1000 * MS) {
		fail_once(&retry, &now, &reset);
		assert_false(reset);
		retry_good(&retry);
		failures++;
	}
	assert_in_range(failures, 2, 1 + 1000 / RETRY_FIRST_MS + 1);
}

/* A halt that takes longer to clear than RETRY_ALONE_MS does not hide the row. */
static void test_slow_tries_are_a_row(void **state)
{
	struct retry retry = { 0 };
	u64 now = BEGIN;
	bool reset = false;
	int i;

	(void)state;
	for (i = 0; i < 10 && !reset; i++) {
		retry_failed(&retry, now, &reset);
		now += 2 * RETRY_ALONE_MS * MS;
		retry_begins(&retry, now);
	}
	assert_int_equal(i, 2);
}

/* Seconds between two resets: 1, 2, 4 ... 64, 64; and 1 again after a good transfer. */
static void test_resets_become_rare(void **state)
{
	static const u32 seconds[] = { 1, 2, 4, 8, 16, 32, 64, 64, 64 };
	struct retry retry = { 0 };
	u64 now = BEGIN, last = BEGIN;
	bool reset;

	(void)state;
	for (unsigned int i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
		do {
			fail_once(&retry, &now, &reset);
		} while (!reset);
		assert_in_range((now - last) / MS, 1000 * seconds[i],
				1000 * seconds[i] + 3 * RETRY_MAX_MS);
		last = now;
	}
	retry_good(&retry);
	last = now;
	do {
		fail_once(&retry, &now, &reset);
	} while (!reset);
	assert_in_range((now - last) / MS, 1000, 1000 + 3 * RETRY_MAX_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_alone_costs_nothing),
		cmocka_unit_test(test_pauses_grow),
		cmocka_unit_test(test_every_second_one_fails),
		cmocka_unit_test(test_slow_tries_are_a_row),
		cmocka_unit_test(test_resets_become_rare),
	};

	return cmocka_run_group_tests_name("retry", tests, NULL, NULL);
}
