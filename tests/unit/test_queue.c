// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* The event queue of an open file: order, what overflow loses, and how it shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "queue.h"

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct event_queue));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void push(struct event_queue *q, u64 seqno)
{
	struct dealbox_event event = { .seqno = seqno, .type = 7, .code = seqno ^ 0xffff };

	event_queue_push(q, &event);
}

static void assert_pop(struct event_queue *q, u64 seqno, bool gap)
{
	struct dealbox_event event;

	assert_true(event_queue_pop(q, &event));
	assert_int_equal(event.seqno, seqno);
	assert_int_equal(event.code, seqno ^ 0xffff);
	assert_int_equal(event.flags, gap ? DEALBOX_EVF_GAP : 0);
}

static void test_order(void **state)
{
	struct event_queue *q = *state;
	struct dealbox_event event;

	assert_false(event_queue_pop(q, &event));
	/* several times round the ring, never full */
	for (u64 n = 0; n < 5 * QUEUE_EVENTS; n += 3) {
		push(q, n);
		push(q, n + 1);
		push(q, n + 2);
		assert_pop(q, n, false);
		assert_pop(q, n + 1, false);
		assert_pop(q, n + 2, false);
	}
	assert_false(event_queue_pop(q, &event));
	assert_int_equal(q->lost, 0);
}

static void test_full_loses_nothing(void **state)
{
	struct event_queue *q = *state;

	for (u64 n = 0; n < QUEUE_EVENTS; n++)
		push(q, n);
	for (u64 n = 0; n < QUEUE_EVENTS; n++)
		assert_pop(q, n, false);
	assert_int_equal(q->lost, 0);
}

static void test_overflow_drops_the_oldest(void **state)
{
	struct event_queue *q = *state;
	struct dealbox_event event;

	for (u64 n = 0; n < QUEUE_EVENTS + 5; n++)
		push(q, n);
	assert_int_equal(q->lost, 5);
	assert_pop(q, 5, true);
	for (u64 n = 6; n < QUEUE_EVENTS + 5; n++)
		assert_pop(q, n, false);
	assert_false(event_queue_pop(q, &event));
}

/* An overflow while the reader is half-way flags the record that is then first. */
static void test_overflow_after_reading(void **state)
{
	struct event_queue *q = *state;

	for (u64 n = 0; n < QUEUE_EVENTS; n++)
		push(q, n);
	assert_pop(q, 0, false);
	push(q, QUEUE_EVENTS);
	assert_pop(q, 1, false);
	for (u64 n = QUEUE_EVENTS + 1; n < QUEUE_EVENTS + 3; n++)
		push(q, n);
	assert_pop(q, 3, true);
	assert_pop(q, 4, false);
	assert_int_equal(q->lost, 1);
}

static void test_lose(void **state)
{
	struct event_queue *q = *state;

	push(q, 1);
	assert_pop(q, 1, false);
	event_queue_lose(q);
	assert_int_equal(q->lost, 1);
	push(q, 2);
	push(q, 3);
	assert_pop(q, 2, true);
	assert_pop(q, 3, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_loses_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_overflow_drops_the_oldest, setup, teardown),
		cmocka_unit_test_setup_teardown(test_overflow_after_reading, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lose, setup, teardown),
	};

	return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
