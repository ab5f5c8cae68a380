// SPDX-License-Identifier: LGPL-2.1-or-later
/* Jobs: the order of boards and copies, priorities, completion. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dealing/job.h"

#include "freed_memory.h"
#include "ledger/job-options.h"

static bool nobody(const struct copy *copy, const void *context)
{
	(void)copy;
	(void)context;
	return false;
}

static bool is_that(const struct copy *copy, const void *context)
{
	const struct copy *that = context;

	return copy->board == that->board && copy->copy == that->copy;
}

/* Deals the whole job, and writes the order as "board.copy ". */
static void deal_all(struct job *job, char *order, unsigned int most)
{
	struct copy copy;
	int at = 0;

	while (most-- && job_pick(job, 0, nobody, NULL, &copy)) {
		at += sprintf(order + at, "%u.%u ", copy.board, copy.copy);
		assert_int_equal(job_set_state(job, copy.board, copy.copy,
					       DEALBOX_LEDGER_COPY_RECORDED), 0);
	}
}

static void test_orders(void **state)
{
	static const struct {
		unsigned int copies, options;
		const char *order;
		bool done;
	} rows[] = {
		{ 1, 0, "1.1 2.1 7.1 ", true },
		{ 2, 0, "1.1 1.2 2.1 2.2 7.1 7.2 ", true },
		{ 2, DEALBOX_JOB_SETS, "1.1 2.1 7.1 1.2 2.2 7.2 ", true },
		{ 2, DEALBOX_JOB_DESCENDING, "7.1 7.2 2.1 2.2 1.1 1.2 ", true },
		{ 2, DEALBOX_JOB_DESCENDING | DEALBOX_JOB_SETS, "7.1 2.1 1.1 7.2 2.2 1.2 ", true },
		{ 0, 0, "1.1 2.1 7.1 1.2 2.2 7.2 1.3 2.3 ", false },
	};
	static const unsigned int boards[] = { 7, 1, 2 };
	char order[256];
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		struct jobs jobs = { 0 };
		struct job *job =
			jobs_add(&jobs, 1, 1, boards, 3, rows[n].copies, rows[n].options, 0);

		assert_false(job_done(job));
		deal_all(job, order, 8);
		assert_string_equal(order, rows[n].order);
		assert_true(job_done(job) == rows[n].done);
		jobs_free(&jobs);
	}
}

static void test_states(void **state)
{
	static const unsigned int boards[] = { 1, 2 };
	struct jobs jobs = { 0 };
	struct job *job = jobs_add(&jobs, 1, 1, boards, 2, 3, 0, 0);
	struct copy copy, that = { 1, 1, 1 };

	(void)state;
	assert_true(job_has(job, 2, 3));
	assert_false(job_has(job, 2, 4));
	assert_false(job_has(job, 2, 0));
	assert_false(job_has(job, 3, 1));
	assert_int_equal(job_set_state(job, 3, 1, DEALBOX_LEDGER_COPY_OPEN), -ENOENT);
	assert_int_equal(job_state(job, 3, 1), DEALBOX_LEDGER_COPY_SKIPPED);

	/* a copy that another machine has is not picked */
	assert_true(job_pick(job, 0, is_that, &that, &copy));
	assert_int_equal(copy.copy, 2);
	/* a copy that is being dealt, or is skipped, is not picked */
	job_set_state(job, 1, 2, DEALBOX_LEDGER_COPY_DEALING);
	job_set_state(job, 1, 1, DEALBOX_LEDGER_COPY_SKIPPED);
	assert_true(job_pick(job, 0, nobody, NULL, &copy));
	assert_int_equal(copy.copy, 3);
	/* that board only */
	assert_true(job_pick(job, 2, nobody, NULL, &copy));
	assert_int_equal(copy.board, 2);
	assert_false(job_pick(job, 5, nobody, NULL, &copy));
	job_set_state(job, 1, 3, DEALBOX_LEDGER_COPY_RECORDED);
	assert_false(job_pick(job, 1, nobody, NULL, &copy));
	/* and open again */
	job_set_state(job, 1, 3, DEALBOX_LEDGER_COPY_OPEN);
	assert_true(job_pick(job, 1, nobody, NULL, &copy));
	assert_int_equal(copy.copy, 3);
	jobs_free(&jobs);
}

/* The memory of jobs is counted: themselves, their boards, copies and machines. */
static void test_room(void **state)
{
	static unsigned int boards[9999];
	struct jobs jobs = { 0 };
	struct job *job;
	unsigned int n;

	(void)state;
	for (n = 0; n < 9999; n++)
		boards[n] = n + 1;
	assert_true(jobs_room(&jobs, JOBS_MAX, 9999, JOBS_NAMES));
	assert_false(jobs_room(&jobs, JOBS_MAX + 1, 0, 0));
	assert_false(jobs_room(&jobs, 0, 0, JOBS_NAMES + 1));
	assert_false(jobs_room(&jobs, 1, JOBS_BYTES, 0));
	job = jobs_add(&jobs, 1, 1, boards, 9999, 0, 0, 0);
	job_add_machine(job, "1234567");
	assert_true(jobs_room(&jobs, JOBS_MAX - 1, 0, JOBS_NAMES - 8));
	assert_false(jobs_room(&jobs, JOBS_MAX - 1, 0, JOBS_NAMES - 7));
	assert_false(jobs_room(&jobs, JOBS_MAX, 0, 0));
	/* a high copy number needs room for all copies before it */
	for (n = 0; jobs_room(&jobs, 0, 0, 0); n++)
		assert_int_equal(job_set_state(job, n + 1, 9999, DEALBOX_LEDGER_COPY_SKIPPED), 0);
	assert_in_range(n, 1000, JOBS_BYTES / 9999 + 1);
	jobs_free(&jobs);
}

/* To the byte: another copy is one too many. */
static void test_room_to_the_byte(void **state)
{
	const size_t each = sizeof(unsigned int) + sizeof(struct copies);
	size_t left = JOBS_BYTES - sizeof(struct job) - each, copies = left % each + each;
	unsigned int board = 1;
	struct jobs jobs = { 0 };
	struct job *job;

	(void)state;
	memory_seen.blocks = 0;
	job = jobs_add(&jobs, 1, 7, &board, 1, 0, 0, 0);
	assert_int_equal(job->set, 7);
	assert_int_equal(job_set_state(job, 1, copies, DEALBOX_LEDGER_COPY_SKIPPED), 0);
	assert_true(jobs_room(&jobs, 0, (left - copies) / each, 0));
	assert_int_equal(job_set_state(job, 1, copies + 1, DEALBOX_LEDGER_COPY_SKIPPED), 0);
	assert_false(jobs_room(&jobs, 0, (left - copies) / each, 0));
	jobs_free(&jobs);
	assert_int_equal(memory_seen.blocks, 0);
}

static void test_machines(void **state)
{
	unsigned int board = 1;
	struct jobs jobs = { 0 };
	struct job *job = jobs_add(&jobs, 1, 1, &board, 1, 1, 0, 0);

	(void)state;
	assert_true(job_for(job, "SN0"));
	assert_int_equal(job_add_machine(job, "SN0"), 0);
	assert_int_equal(job_add_machine(job, "SN1"), 0);
	assert_true(job_for(job, "SN0"));
	assert_true(job_for(job, "SN1"));
	assert_false(job_for(job, "SN2"));
	jobs_free(&jobs);
}

static void test_recorded(void **state)
{
	static const unsigned int boards[] = { 1, 2 };
	struct jobs jobs = { 0 };
	struct job *job = jobs_add(&jobs, 1, 1, boards, 2, 4, 0, 0);

	(void)state;
	assert_int_equal(job_count(job, DEALBOX_LEDGER_COPY_RECORDED), 0);
	job_set_state(job, 1, 1, DEALBOX_LEDGER_COPY_RECORDED);
	job_set_state(job, 1, 2, DEALBOX_LEDGER_COPY_DEALING);
	job_set_state(job, 1, 3, DEALBOX_LEDGER_COPY_SKIPPED);
	assert_int_equal(job_count(job, DEALBOX_LEDGER_COPY_RECORDED), 1);
	job_set_state(job, 1, 4, DEALBOX_LEDGER_COPY_RECORDED);
	job_set_state(job, 2, 2, DEALBOX_LEDGER_COPY_RECORDED);
	assert_int_equal(job_count(job, DEALBOX_LEDGER_COPY_RECORDED), 3);
	/* the copies before it are open, whatever the memory contained */
	assert_int_equal(job_state(job, 2, 1), DEALBOX_LEDGER_COPY_OPEN);
	job_set_state(job, 2, 4, DEALBOX_LEDGER_COPY_RECORDED);
	assert_int_equal(job_state(job, 2, 2), DEALBOX_LEDGER_COPY_RECORDED);
	assert_int_equal(job_state(job, 2, 3), DEALBOX_LEDGER_COPY_OPEN);
	jobs_free(&jobs);
}

static void test_no_memory(void **state)
{
	static const unsigned int boards[] = { 1, 2 };
	struct jobs jobs = { 0 };
	struct job *job;

	(void)state;
	memory_seen.blocks = 0;
	for (unsigned int n = 1; n <= 3; n++) {
		memory_seen.fails_at = n;
		assert_null(jobs_add(&jobs, 1, 1, boards, 2, 1, 0, 0));
		assert_null(jobs.first);
		assert_int_equal(memory_seen.blocks, 0);
	}
	job = jobs_add(&jobs, 1, 1, boards, 2, 5, 0, 0);
	assert_non_null(job);
	assert_int_equal(job_set_state(job, 1, 2, DEALBOX_LEDGER_COPY_RECORDED), 0);
	memory_seen.fails_at = 1;
	assert_int_equal(job_set_state(job, 1, 3, DEALBOX_LEDGER_COPY_RECORDED), -ENOMEM);
	assert_int_equal(job_state(job, 1, 3), DEALBOX_LEDGER_COPY_OPEN);
	assert_int_equal(job_count(job, DEALBOX_LEDGER_COPY_RECORDED), 1);
	/* a copy within the allocated room needs no memory */
	memory_seen.fails_at = 1;
	assert_int_equal(job_set_state(job, 1, 2, DEALBOX_LEDGER_COPY_OPEN), 0);
	assert_int_equal(memory_seen.fails_at, 1);
	memory_seen.fails_at = 0;
	jobs_remove(&jobs, job);
	assert_int_equal(memory_seen.blocks, 0);
}

static void test_priorities(void **state)
{
	static const unsigned int board = 1;
	struct jobs jobs = { 0 };
	struct job *third;

	(void)state;
	jobs_add(&jobs, 2, 1, &board, 1, 1, 0, 0);
	jobs_add(&jobs, 1, 1, &board, 1, 1, 0, 0);
	third = jobs_add(&jobs, 3, 1, &board, 1, 1, 0, 5);
	assert_int_equal(jobs.first->id, 3);
	assert_int_equal(jobs.first->next->id, 1);
	assert_int_equal(jobs.first->next->next->id, 2);
	jobs_set_priority(&jobs, third, -1);
	assert_int_equal(jobs.first->id, 1);
	assert_ptr_equal(jobs_find(&jobs, 3), third);
	jobs_remove(&jobs, third);
	assert_null(jobs_find(&jobs, 3));
	jobs_free(&jobs);
	assert_null(jobs.first);
}

/* jobs_open() returns true if there is anything to deal. */
static void test_open(void **state)
{
	struct jobs jobs = { 0 };
	struct job *first, *endless;
	unsigned int board = 1;

	(void)state;
	assert_false(jobs_open(&jobs));
	first = jobs_add(&jobs, 1, 1, &board, 1, 1, 0, 0);
	assert_true(jobs_open(&jobs));
	first->state = DEALBOX_LEDGER_JOB_PAUSED;
	assert_false(jobs_open(&jobs));
	first->state = DEALBOX_LEDGER_JOB_OPEN;
	first->repeat = true;
	assert_false(jobs_open(&jobs));
	first->repeat = false;
	job_set_state(first, 1, 1, DEALBOX_LEDGER_COPY_DEALING);
	assert_true(jobs_open(&jobs));
	job_set_state(first, 1, 1, DEALBOX_LEDGER_COPY_RECORDED);
	assert_false(jobs_open(&jobs));
	endless = jobs_add(&jobs, 2, 1, &board, 1, 0, 0, 0);
	assert_true(jobs_open(&jobs));
	endless->state = DEALBOX_LEDGER_JOB_CANCELLED;
	assert_false(jobs_open(&jobs));
	jobs_free(&jobs);
}

/* Of a job of an event, a copy is begun only while it is held, and while the lease lasts. */
static void test_held(void **state)
{
	static const unsigned int boards[] = { 1, 2 };
	struct jobs jobs = { 0 };
	struct job *job = jobs_add(&jobs, 1, 1, boards, 2, 3, JOB_EVENT, 0);
	struct job *other = jobs_add(&jobs, 2, 1, boards, 2, 1, 0, 0);
	struct copy copy;

	(void)state;
	job->leased = true;
	assert_false(job_pick(job, 0, nobody, NULL, &copy));
	assert_int_equal(job_hold(job, 2, 2, true), 0);
	assert_int_equal(job_hold(job, 3, 1, true), -ENOENT);
	assert_int_equal(job_hold(job, 1, 4, true), -ENOENT);
	assert_true(job_holds(job, 2, 2));
	assert_false(job_holds(job, 2, 1));
	assert_false(job_holds(job, 2, 3));
	assert_false(job_holds(job, 3, 1));
	assert_true(job_may_begin(job, 2, 2));
	assert_false(job_may_begin(job, 2, 1));
	assert_false(job_may_begin(job, 9, 1));
	assert_true(job_pick(job, 0, nobody, NULL, &copy));
	assert_int_equal(copy.board, 2);
	assert_int_equal(copy.copy, 2);
	assert_false(job_pick(job, 1, nobody, NULL, &copy));
	assert_false(job_lapsed(job));

	/* the lease has ended */
	job->leased = false;
	assert_false(job_may_begin(job, 2, 2));
	assert_false(job_pick(job, 0, nobody, NULL, &copy));
	assert_true(job_lapsed(job));
	assert_false(job_lapsed(other));
	assert_true(job_may_begin(other, 1, 1));

	/* what becomes of it changes nothing about who holds it */
	job->leased = true;
	assert_int_equal(job_set_state(job, 2, 2, DEALBOX_LEDGER_COPY_RECORDED), 0);
	assert_int_equal(job_state(job, 2, 2), DEALBOX_LEDGER_COPY_RECORDED);
	assert_false(job_may_begin(job, 2, 2));
	assert_int_equal(job_count(job, DEALBOX_LEDGER_COPY_RECORDED), 1);
	assert_true(job_holds(job, 2, 2));
	job->leased = false;
	assert_false(job_lapsed(job));
	job->leased = true;
	assert_int_equal(job_set_state(job, 2, 2, DEALBOX_LEDGER_COPY_OPEN), 0);
	assert_true(job_may_begin(job, 2, 2));
	assert_int_equal(job_hold(job, 2, 2, false), 0);
	assert_false(job_may_begin(job, 2, 2));
	assert_int_equal(job_hold(job, 1, 1, true), 0);
	job->leased = false;
	assert_true(job_lapsed(job));
	job->leased = true;
	job_hold_none(job);
	assert_false(job_pick(job, 0, nobody, NULL, &copy));
	jobs_free(&jobs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_room_to_the_byte),
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_priorities),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
