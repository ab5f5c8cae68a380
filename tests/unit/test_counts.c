// SPDX-License-Identifier: LGPL-2.1-or-later
/* Counts of what a machine did. */
#include "unit.h"

#include <dealbox/event.h>

#include <dealing/counts.h>

#define INSERTION	7

struct made {
	struct dealbox_trace *trace;
	uint32_t number;
};

static void add(struct made *made, struct dealbox_event e)
{
	made->number++;
	e.seqno = made->number;
	e.machine_seq = made->number;
	e.insertion = INSERTION;
	assert_int_equal(dealbox_trace_add(made->trace, &e), 1);
}

static void add_read(struct made *made, unsigned int position, unsigned int card,
		     unsigned int quality)
{
	add(made, (struct dealbox_event){ .type = DEALBOX_EV_CARD_READ, .position = position,
					  .card = card,
					  .pocket = DEALBOX_NONE, .quality = quality });
}

static void add_start(struct made *made, uint32_t plan, uint32_t cards)
{
	*made = (struct made){ .trace = dealbox_trace_new(INSERTION) };
	assert_non_null(made->trace);
	add(made, (struct dealbox_event){ .type = DEALBOX_EV_BOARD_INSERTED,
					  .position = DEALBOX_NONE,
					  .card = DEALBOX_NONE,
					  .pocket = DEALBOX_NONE });
	add(made, (struct dealbox_event){ .type = DEALBOX_EV_DEAL_STARTED,
					  .code = plan,
					  .arg = { cards },
					  .position = DEALBOX_NONE,
					  .card = DEALBOX_NONE,
					  .pocket = DEALBOX_NONE });
}

static struct test_result counted(struct made *made)
{
	struct test_result result;

	count_test(made->trace, &result);
	dealbox_trace_free(made->trace);
	return result;
}

/* One reading in a deal whose start comes first in the trace. */
static unsigned int is_read(unsigned int card, unsigned int quality)
{
	struct test_result result;
	struct made made = { .trace = dealbox_trace_new(INSERTION) };

	assert_non_null(made.trace);
	add(&made, (struct dealbox_event){ .type = DEALBOX_EV_DEAL_STARTED, .code = TEST_PLAN });
	add_read(&made, 0, card, quality);
	result = counted(&made);
	assert_int_equal(result.fed, 1);
	assert_int_equal(result.repeated, 0);
	return result.read;
}

static void a_card_is_read_well_or_not_at_all(void **state)
{
	(void)state;
	assert_int_equal(is_read(0, 100), 1);
	assert_int_equal(is_read(0, 50), 1);
	assert_int_equal(is_read(0, 49), 0);
	assert_int_equal(is_read(0, 1), 0);
	assert_int_equal(is_read(0, 0), 1);	/* the machine does not say how well */
	assert_int_equal(is_read(63, 0), 1);
	assert_int_equal(is_read(64, 0), 0);
	assert_int_equal(is_read(DEALBOX_NONE, 0), 0);
}

static void a_test_deal_is_counted(void **state)
{
	struct test_result result;
	struct made made;

	(void)state;
	add_start(&made, TEST_PLAN, 5);
	add_read(&made, 0, 3, 100);
	add(&made, (struct dealbox_event){ .type = DEALBOX_EV_CARD_LANDED, .card = 3 });
	add(&made, (struct dealbox_event){ .type = DEALBOX_EV_CARD_READ, .position = 1, .card = 51,
					   .flags = DEALBOX_EVF_FACE_UP });
	add_read(&made, 2, 3, 50);		/* once more: one of the two was misread */
	add_read(&made, 3, DEALBOX_NONE, DEALBOX_NONE);
	add_read(&made, 4, 9, 49);		/* below the threshold, whatever it names */
	count_test(made.trace, &result);
	assert_int_equal(result.state, TEST_RUNNING);
	add(&made, (struct dealbox_event){
			   .type = DEALBOX_EV_DEAL_DONE, .code = TEST_PLAN, .position = 5 });
	/* what comes later is of another deal */
	add_read(&made, 5, 20, 100);
	result = counted(&made);
	assert_int_equal(result.state, TEST_DONE);
	assert_int_equal(result.insertion, INSERTION);
	assert_int_equal(result.cards, 5);
	assert_int_equal(result.fed, 5);
	assert_int_equal(result.read, 3);
	assert_int_equal(result.face_up, 1);
	assert_int_equal(result.repeated, 1);
	assert_int_equal(result.landed, 1);
	assert_int_equal(result.stop, 0);
}

static void what_ends_it_is_told(void **state)
{
	static const struct {
		uint32_t type;
		enum test_state state;
		uint32_t stop;
	} ends[] = {
		{ DEALBOX_EV_JAM, TEST_STOPPED, DEALBOX_EV_JAM },
		{ DEALBOX_EV_HARDWARE, TEST_STOPPED, DEALBOX_EV_HARDWARE },
		{ DEALBOX_EV_ABORTED, TEST_STOPPED, DEALBOX_EV_ABORTED },
		{ DEALBOX_EV_STATE_LOST, TEST_LOST, 0 },
		{ DEALBOX_EV_PAUSED, TEST_RUNNING, 0 },
		{ DEALBOX_EV_FEED_TIMEOUT, TEST_RUNNING, 0 },
	};
	struct test_result result;
	struct made made;
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(ends) / sizeof(ends[0]); n++) {
		add_start(&made, TEST_PLAN, 52);
		add_read(&made, 0, 3, 100);
		add(&made, (struct dealbox_event){ .type = ends[n].type, .card = DEALBOX_NONE });
		result = counted(&made);
		assert_int_equal(result.state, ends[n].state);
		assert_int_equal(result.stop, ends[n].stop);
		assert_int_equal(result.fed, 1);
	}
}

/* Nothing of a deal is counted as a test: its number of repeated cards would be about cards. */
static void a_deal_is_no_test(void **state)
{
	struct test_result result;
	struct made made;

	(void)state;
	add_start(&made, 1, 52);
	add_read(&made, 0, 3, 100);
	add_read(&made, 1, 3, 100);
	result = counted(&made);
	assert_int_equal(result.state, TEST_NONE);
	assert_int_equal(result.fed, 0);
	assert_int_equal(result.repeated, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_test_deal_is_counted),
		cmocka_unit_test(a_card_is_read_well_or_not_at_all),
		cmocka_unit_test(what_ends_it_is_told),
		cmocka_unit_test(a_deal_is_no_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
