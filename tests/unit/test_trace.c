// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit.h"

#include <errno.h>

#include <dealbox/trace.h>

#include "freed_memory.h"

static struct dealbox_event event(uint32_t n, uint32_t type, uint32_t insertion)
{
	return (struct dealbox_event) {
		.seqno = 500 + n, .machine_seq = n, .type = type, .insertion = insertion,
	};
}

static int add(struct dealbox_trace *trace, uint32_t n, uint32_t type, uint32_t insertion)
{
	struct dealbox_event one = event(n, type, insertion);

	return dealbox_trace_add(trace, &one);
}

static void it_keeps_what_is_of_its_insertion(void **state)
{
	struct dealbox_trace *trace = dealbox_trace_new(9);

	(void)state;
	assert_int_equal(add(trace, 1, DEALBOX_EV_CARD_READ, 8), 0);
	assert_int_equal(add(trace, 2, DEALBOX_EV_BOARD_REMOVED, 8), 0);
	assert_int_equal(add(trace, 3, DEALBOX_EV_BOARD_INSERTED, 9), 1);
	assert_int_equal(add(trace, 4, DEALBOX_EV_HOPPER_LOADED, 9), 1);
	assert_int_equal(add(trace, 5, DEALBOX_EV_STATE_LOST, 0), 1);
	/* a deal elsewhere while this board is in is a reason to doubt */
	assert_int_equal(add(trace, 6, DEALBOX_EV_CARD_LANDED, 10), 1);
	assert_int_equal(add(trace, 7, DEALBOX_EV_BOARD_REMOVED, 9), 1);
	assert_int_equal(add(trace, 8, DEALBOX_EV_CARD_LANDED, 10), 0);
	assert_int_equal(dealbox_trace_count(trace), 5);
	assert_int_equal(dealbox_trace_get(trace, 4)->type, DEALBOX_EV_BOARD_REMOVED);
	assert_null(dealbox_trace_get(trace, 5));
	assert_int_equal(dealbox_trace_insertion(trace), 9);
	assert_false(dealbox_trace_gap(trace));
	dealbox_trace_free(trace);
}

static void gaps_before_the_board_do_not_matter(void **state)
{
	struct dealbox_trace *trace = dealbox_trace_new(9);

	(void)state;
	add(trace, 1, DEALBOX_EV_BOARD_REMOVED, 8);
	add(trace, 30, DEALBOX_EV_HOPPER_LOADED, 0);
	assert_false(dealbox_trace_gap(trace));
	add(trace, 40, DEALBOX_EV_BOARD_INSERTED, 9);
	assert_false(dealbox_trace_gap(trace));
	add(trace, 41, DEALBOX_EV_DEAL_STARTED, 9);
	assert_false(dealbox_trace_gap(trace));
	add(trace, 43, DEALBOX_EV_CARD_READ, 9);
	assert_true(dealbox_trace_gap(trace));
	dealbox_trace_free(trace);
}

static void a_gap_between_others_counts_while_the_board_is_in(void **state)
{
	struct dealbox_trace *trace = dealbox_trace_new(9);

	(void)state;
	add(trace, 1, DEALBOX_EV_BOARD_INSERTED, 9);
	add(trace, 5, DEALBOX_EV_KEY, 0);
	assert_true(dealbox_trace_gap(trace));
	add(trace, 6, DEALBOX_EV_DEAL_STARTED, 9);
	assert_true(dealbox_trace_gap(trace));
	dealbox_trace_free(trace);
}

/* The gap may hide a stop after the end of the deal. */
static void a_gap_that_hides_the_removal_counts(void **state)
{
	struct dealbox_trace *trace = dealbox_trace_new(9);

	(void)state;
	add(trace, 1, DEALBOX_EV_BOARD_INSERTED, 9);
	add(trace, 2, DEALBOX_EV_DEAL_STARTED, 9);
	add(trace, 3, DEALBOX_EV_DEAL_DONE, 9);
	assert_false(dealbox_trace_gap(trace));
	add(trace, 6, DEALBOX_EV_BOARD_INSERTED, 10);
	assert_true(dealbox_trace_gap(trace));
	dealbox_trace_free(trace);
}

static void a_gap_behind_the_removal_does_not_matter(void **state)
{
	struct dealbox_trace *trace = dealbox_trace_new(9);

	(void)state;
	add(trace, 1, DEALBOX_EV_BOARD_INSERTED, 9);
	add(trace, 2, DEALBOX_EV_DEAL_STARTED, 9);
	add(trace, 3, DEALBOX_EV_DEAL_DONE, 9);
	add(trace, 4, DEALBOX_EV_BOARD_REMOVED, 9);
	add(trace, 9, DEALBOX_EV_BOARD_INSERTED, 10);
	assert_false(dealbox_trace_gap(trace));
	dealbox_trace_free(trace);
}

static void numbers_wrap_and_begin_anew(void **state)
{
	struct dealbox_trace *trace = dealbox_trace_new(9);
	struct dealbox_event one = event(0xffffffff, DEALBOX_EV_BOARD_INSERTED, 9);

	(void)state;
	one.seqno = 1;
	dealbox_trace_add(trace, &one);
	one.seqno = 2;
	one.machine_seq = 0;
	one.type = DEALBOX_EV_KEY;
	dealbox_trace_add(trace, &one);
	/* the driver's own events have no number of the machine */
	one.seqno = 3;
	one.machine_seq = 0;
	one.type = DEALBOX_EV_PROTOCOL_ERROR;
	one.insertion = 0;
	assert_int_equal(dealbox_trace_add(trace, &one), 1);
	one.seqno = 4;
	one.machine_seq = 1;
	one.type = DEALBOX_EV_STATE_LOST;
	dealbox_trace_add(trace, &one);
	one.seqno = 5;
	one.machine_seq = 2;
	one.type = DEALBOX_EV_BOARD_INSERTED;
	one.insertion = 9;
	dealbox_trace_add(trace, &one);
	assert_false(dealbox_trace_gap(trace));
	assert_int_equal(dealbox_trace_count(trace), 5);
	dealbox_trace_free(trace);
}

static void it_has_an_end(void **state)
{
	struct dealbox_trace *trace = dealbox_trace_new(9);

	(void)state;
	for (uint32_t i = 0; i < DEALBOX_TRACE_MAX; i++)
		assert_int_equal(add(trace, i, DEALBOX_EV_KEY, 9), 1);
	assert_false(dealbox_trace_gap(trace));
	assert_int_equal(add(trace, DEALBOX_TRACE_MAX, DEALBOX_EV_KEY, 9), -ENOSPC);
	assert_true(dealbox_trace_gap(trace));
	assert_int_equal(dealbox_trace_count(trace), DEALBOX_TRACE_MAX);
	dealbox_trace_free(trace);
	dealbox_trace_free(NULL);
}

static bool kept(uint32_t type, uint32_t insertion)
{
	struct dealbox_trace *trace = dealbox_trace_new(9);
	bool kept;

	assert_int_equal(add(trace, 1, DEALBOX_EV_BOARD_INSERTED, 9), 1);
	kept = add(trace, 2, type, insertion);
	assert_int_equal(dealbox_trace_count(trace), 1 + kept);
	dealbox_trace_free(trace);
	return kept;
}

static void of_another_insertion_it_keeps_what_is_of_a_deal(void **state)
{
	(void)state;
	assert_false(kept(DEALBOX_EV_PLAN_LOADED, 10));
	assert_true(kept(DEALBOX_EV_DEAL_STARTED, 10));
	assert_true(kept(0x3f, 10));
	assert_false(kept(0x40, 10));
	assert_true(kept(0x40, 9));
}

/* Returns true if this event, between two consecutive ones, makes a gap. */
static bool gap_at(uint32_t seqno, uint32_t machine_seq, uint32_t type)
{
	struct dealbox_trace *trace = dealbox_trace_new(9);
	struct dealbox_event one = event(1, type, 9);
	bool gap;

	one.seqno = seqno;
	one.machine_seq = machine_seq;
	assert_int_equal(add(trace, 0, DEALBOX_EV_BOARD_INSERTED, 9), 1);
	assert_int_equal(dealbox_trace_add(trace, &one), 1);
	gap = dealbox_trace_gap(trace);
	dealbox_trace_free(trace);
	return gap;
}

static void each_of_the_two_numbers_shows_a_gap(void **state)
{
	(void)state;
	assert_false(gap_at(501, 1, DEALBOX_EV_KEY));
	assert_true(gap_at(502, 1, DEALBOX_EV_KEY));
	assert_true(gap_at(501, 2, DEALBOX_EV_KEY));
	assert_true(gap_at(501, 2, 0xff));
	/* the machine's numbers restart, or the event has none */
	assert_false(gap_at(501, 7, DEALBOX_EV_STATE_LOST));
	assert_false(gap_at(501, 0, DEALBOX_EV_PROTOCOL_ERROR));
	assert_true(gap_at(502, 0, DEALBOX_EV_PROTOCOL_ERROR));
	assert_true(gap_at(502, 1, DEALBOX_EV_STATE_LOST));
}

static void what_the_driver_says_has_no_place_among_the_machines_numbers(void **state)
{
	struct dealbox_trace *trace = dealbox_trace_new(9);
	struct dealbox_event one = event(1, DEALBOX_EV_PROTOCOL_ERROR, 0);

	(void)state;
	one.machine_seq = 77;
	add(trace, 0, DEALBOX_EV_BOARD_INSERTED, 9);
	dealbox_trace_add(trace, &one);
	one = event(2, DEALBOX_EV_KEY, 9);
	one.machine_seq = 1;
	dealbox_trace_add(trace, &one);
	assert_false(dealbox_trace_gap(trace));
	dealbox_trace_free(trace);
}

/* A trace that grows twice keeps its events, and wipes the old memory. */
static void it_grows_and_is_wiped(void **state)
{
	struct dealbox_trace *trace = dealbox_trace_new(9);

	(void)state;
	memory_seen.unwiped = 0;
	for (uint32_t i = 0; i < 513; i++)
		assert_int_equal(add(trace, i, DEALBOX_EV_CARD_READ, 9), 1);
	assert_false(dealbox_trace_gap(trace));
	for (uint32_t i = 0; i < 513; i++)
		assert_int_equal(dealbox_trace_get(trace, i)->machine_seq, i);
	dealbox_trace_free(trace);
	assert_int_equal(memory_seen.unwiped, 0);
	assert_int_equal(memory_seen.blocks, 0);
}

static void no_memory_is_a_gap(void **state)
{
	struct dealbox_trace *trace;

	(void)state;
	memory_seen.fails_at = 1;
	assert_null(dealbox_trace_new(9));
	for (uint32_t full = 0; full <= 512; full += 256) {
		trace = dealbox_trace_new(9);
		for (uint32_t i = 0; i < full; i++)
			assert_int_equal(add(trace, i, DEALBOX_EV_KEY, 9), 1);
		memory_seen.fails_at = 1;
		assert_int_equal(add(trace, full, DEALBOX_EV_CARD_READ, 9), -ENOMEM);
		assert_true(dealbox_trace_gap(trace));
		assert_int_equal(dealbox_trace_count(trace), full);
		/* and stays incomplete */
		assert_int_equal(add(trace, full + 1, DEALBOX_EV_CARD_READ, 9), 1);
		assert_true(dealbox_trace_gap(trace));
		dealbox_trace_free(trace);
	}
	assert_int_equal(memory_seen.blocks, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_keeps_what_is_of_its_insertion),
		cmocka_unit_test(gaps_before_the_board_do_not_matter),
		cmocka_unit_test(a_gap_between_others_counts_while_the_board_is_in),
		cmocka_unit_test(a_gap_that_hides_the_removal_counts),
		cmocka_unit_test(a_gap_behind_the_removal_does_not_matter),
		cmocka_unit_test(numbers_wrap_and_begin_anew),
		cmocka_unit_test(it_has_an_end),
		cmocka_unit_test(of_another_insertion_it_keeps_what_is_of_a_deal),
		cmocka_unit_test(each_of_the_two_numbers_shows_a_gap),
		cmocka_unit_test(what_the_driver_says_has_no_place_among_the_machines_numbers),
		cmocka_unit_test(it_grows_and_is_wiped),
		cmocka_unit_test(no_memory_is_a_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
