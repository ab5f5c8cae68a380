// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* queue.c: order, and the loss of events on overflow. */
#include <kunit/test.h>

#include "queue.h"

static struct event_queue queue;	/* too big for a stack */

static int empty(struct kunit *test)
{
	memset(&queue, 0, sizeof(queue));
	return 0;
}

static void push(u64 seqno)
{
	struct dealbox_event event = { .seqno = seqno, .type = 7, .code = seqno ^ 0xffff };

	dealbox_queue_push(&queue, &event);
}

static void assert_pop(struct kunit *test, u64 seqno, bool gap)
{
	struct dealbox_event event;

	KUNIT_ASSERT_TRUE(test, dealbox_queue_pop(&queue, &event));
	KUNIT_ASSERT_EQ(test, event.seqno, seqno);
	KUNIT_ASSERT_EQ(test, event.code, seqno ^ 0xffff);
	KUNIT_ASSERT_EQ(test, event.flags, gap ? DEALBOX_EVF_GAP : 0);
}

static void test_order(struct kunit *test)
{
	struct dealbox_event event;

	KUNIT_ASSERT_FALSE(test, dealbox_queue_pop(&queue, &event));
	/* Wrap around several times without filling the ring. */
	for (u64 n = 0; n < 5 * QUEUE_EVENTS; n += 3) {
		push(n);
		push(n + 1);
		push(n + 2);
		assert_pop(test, n, false);
		assert_pop(test, n + 1, false);
		assert_pop(test, n + 2, false);
	}
	KUNIT_ASSERT_FALSE(test, dealbox_queue_pop(&queue, &event));
	KUNIT_ASSERT_EQ(test, queue.lost, 0);
}

static void test_full_loses_nothing(struct kunit *test)
{
	for (u64 n = 0; n < QUEUE_EVENTS; n++)
		push(n);
	for (u64 n = 0; n < QUEUE_EVENTS; n++)
		assert_pop(test, n, false);
	KUNIT_ASSERT_EQ(test, queue.lost, 0);
}

static void test_overflow_drops_the_oldest(struct kunit *test)
{
	struct dealbox_event event;

	for (u64 n = 0; n < QUEUE_EVENTS + 5; n++)
		push(n);
	KUNIT_ASSERT_EQ(test, queue.lost, 5);
	assert_pop(test, 5, true);
	for (u64 n = 6; n < QUEUE_EVENTS + 5; n++)
		assert_pop(test, n, false);
	KUNIT_ASSERT_FALSE(test, dealbox_queue_pop(&queue, &event));
}

/*
 * An overflow while the reader is half-way flags the record that is then
 * oldest.
 */
static void test_overflow_after_reading(struct kunit *test)
{
	for (u64 n = 0; n < QUEUE_EVENTS; n++)
		push(n);
	assert_pop(test, 0, false);
	push(QUEUE_EVENTS);
	assert_pop(test, 1, false);
	for (u64 n = QUEUE_EVENTS + 1; n < QUEUE_EVENTS + 3; n++)
		push(n);
	assert_pop(test, 3, true);
	assert_pop(test, 4, false);
	KUNIT_ASSERT_EQ(test, queue.lost, 1);
}

static void test_lose(struct kunit *test)
{
	push(1);
	assert_pop(test, 1, false);
	dealbox_queue_lose(&queue);
	KUNIT_ASSERT_EQ(test, queue.lost, 1);
	push(2);
	push(3);
	assert_pop(test, 2, true);
	assert_pop(test, 3, false);
}

static struct kunit_case queue_cases[] = {
	KUNIT_CASE(test_order),
	KUNIT_CASE(test_full_loses_nothing),
	KUNIT_CASE(test_overflow_drops_the_oldest),
	KUNIT_CASE(test_overflow_after_reading),
	KUNIT_CASE(test_lose),
	{ }
};

static struct kunit_suite queue_suite = {
	.name = "dealbox_queue",
	.init = empty,
	.test_cases = queue_cases,
};

kunit_test_suite(queue_suite);
