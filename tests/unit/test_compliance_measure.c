// SPDX-License-Identifier: LGPL-2.1-or-later
/* Figures about reader, gates and times, derived from the events of a deal. */
#include "unit.h"

#include <linux/dealbox.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

#define EVENTS_MAX	300

struct pass {
	struct measured_deal deal;
	struct measured_event events[EVENTS_MAX];
};

static void say(struct pass *pass, uint64_t us, uint8_t type, unsigned int position,
		unsigned int card, unsigned int pocket)
{
	pass->events[pass->deal.count++] = (struct measured_event){ us, type, (uint8_t)position,
		(uint8_t)card, (uint8_t)pocket };
	pass->deal.events = pass->events;
}

/* A deal by position of a pack in its order: a card each 100 ms, routed after 2 ms */
static void pass_make(struct pass *pass)
{
	memset(pass, 0, sizeof(*pass));
	pass->deal.reader = "camera";
	pass->deal.whole_pack = true;
	pass->deal.cards = 52;
	for (unsigned int i = 0; i < 52; i++)
		pass->deal.pocket[i] = i % 4;
	say(pass, 1000, DEALBOX_EV_DEAL_STARTED, 0, 0, 0);
	for (unsigned int i = 0; i < 52; i++) {
		const uint64_t us = 100000 * (i + 1);

		say(pass, us, DEALBOX_EV_CARD_READ, i, i, 0);
		say(pass, us + 2000, DEALBOX_EV_CARD_ROUTED, i, i, i % 4);
		say(pass, us + 50000, DEALBOX_EV_CARD_LANDED, i, i, i % 4);
	}
	say(pass, 5301000, DEALBOX_EV_DEAL_DONE, 52, 0, 0);
}

/* The reading of a position */
static struct measured_event *reading(struct pass *pass, unsigned int position)
{
	return &pass->events[1 + 3 * position];
}

static struct json_object *empty(void)
{
	return json_object_new_object();
}

static void test_exact_deal(void **state)
{
	struct json_object *report = empty();
	struct readings readings;
	struct pass pass;
	double *values;
	size_t count;

	(void)state;
	pass_make(&pass);
	assert_true(measure_deal(report, &pass.deal));
	assert_true(measure_deal(report, &pass.deal));
	report_readings(report, "camera", &readings);
	assert_int_equal(readings.misread.trials, 104);
	assert_int_equal(readings.misread.errors + readings.unread.errors, 0);
	for (unsigned int i = 0; i < 52; i++)
		assert_int_equal(readings.count[i][i], 2);
	assert_int_equal(report_gates(report, 3, "wrong").trials, 26);
	assert_int_equal(report_gates(report, -1, "wrong").errors, 0);
	values = report_values(report, "card_ms", &count);
	assert_int_equal(count, 102);
	assert_true(values[0] == 100 && values[101] == 100);
	free(values);
	values = report_values(report, "board_ms", &count);
	assert_true(count == 2 && values[0] == 5300);
	free(values);
	assert_null(report_values(report, "latency_us", &count));
	json_object_put(report);
}

static void test_latency_of_gates(void **state)
{
	struct json_object *report = empty();
	struct pass pass;
	double *values;
	size_t count;

	(void)state;
	pass_make(&pass);
	pass.deal.routed = true;
	assert_true(measure_deal(report, &pass.deal));
	values = report_values(report, "latency_us", &count);
	assert_true(count == 52 && values[0] == 2000 && values[51] == 2000);
	free(values);
	json_object_put(report);
}

/* The card that is missing was read as the one that is there twice, or not read. */
static void test_misreadings(void **state)
{
	struct json_object *report = empty();
	struct readings readings;
	struct pass pass;

	(void)state;
	pass_make(&pass);
	/* the earlier and the later card of the pair: nobody can tell, and it does not matter */
	reading(&pass, 7)->card = 30;
	measure_deal(report, &pass.deal);
	report_readings(report, NULL, &readings);
	assert_int_equal(readings.count[7][30], 1);
	assert_int_equal(readings.count[30][30], 1);
	assert_true(readings.misread.errors == 1 && readings.misread.trials == 52);
	json_object_put(report);

	report = empty();
	pass_make(&pass);
	reading(&pass, 40)->card = 3;
	reading(&pass, 9)->card = 255;
	reading(&pass, 50)->card = 53;
	measure_deal(report, &pass.deal);
	report_readings(report, NULL, &readings);
	assert_true(readings.unread.errors == 1 && readings.unread.trials == 52);
	assert_true(readings.misread.errors == 2 && readings.misread.trials == 51);
	assert_int_equal(readings.count[9][9] + readings.count[40][40] + readings.count[50][50], 0);
	json_object_put(report);
}

/* A deal that stops: what was read before counts, and so does the reading that stopped it. */
static void test_stops_of_the_reader(void **state)
{
	struct json_object *report = empty();
	struct readings readings;
	struct pass pass;

	(void)state;
	pass_make(&pass);
	pass.deal.count = 1 + 3 * 20;
	say(&pass, 1, DEALBOX_EV_REPEATED_CARD, 20, 5, 0);
	assert_false(measure_deal(report, &pass.deal));
	report_readings(report, NULL, &readings);
	assert_true(readings.misread.errors == 1 && readings.misread.trials == 21);
	assert_int_equal(readings.count[5][5], 1);
	json_object_put(report);

	/* on a host-routed machine the reading comes, too, and counts once */
	report = empty();
	pass_make(&pass);
	pass.deal.count = 1 + 3 * 20;
	say(&pass, 1, DEALBOX_EV_CARD_READ, 20, 5, 0);
	say(&pass, 1, DEALBOX_EV_REPEATED_CARD, 20, 5, 0);
	measure_deal(report, &pass.deal);
	report_readings(report, NULL, &readings);
	assert_true(readings.misread.errors == 1 && readings.misread.trials == 21);
	json_object_put(report);

	report = empty();
	pass_make(&pass);
	pass.deal.count = 1 + 3 * 20;
	say(&pass, 1, DEALBOX_EV_CARD_UNREADABLE, 20, 255, 0);
	measure_deal(report, &pass.deal);
	report_readings(report, NULL, &readings);
	assert_true(readings.unread.errors == 1 && readings.unread.trials == 21);
	json_object_put(report);
}

/* Of a part of a pack, nobody knows what is missing. */
static void test_no_readings(void **state)
{
	struct json_object *report = empty();
	struct readings readings;
	struct pass pass;

	(void)state;
	pass_make(&pass);
	pass.deal.whole_pack = false;
	measure_deal(report, &pass.deal);
	pass_make(&pass);
	pass.deal.reader = NULL;
	measure_deal(report, &pass.deal);
	report_readings(report, NULL, &readings);
	assert_int_equal(readings.unread.trials, 0);
	json_object_put(report);
}

static void test_what_is_not_exact(void **state)
{
	struct json_object *report = empty();
	struct pass pass;

	(void)state;
	/* another pocket than planned, and the machine says nothing of it */
	pass_make(&pass);
	pass.events[3].pocket = 1;
	assert_false(measure_deal(report, &pass.deal));
	assert_int_equal(report_gates(report, 0, "wrong").errors, 1);
	/* the machine says so */
	pass_make(&pass);
	pass.events[3].type = DEALBOX_EV_WRONG_POCKET;
	pass.events[3].pocket = 1;
	assert_false(measure_deal(report, &pass.deal));
	assert_int_equal(report_gates(report, 0, "wrong").errors, 2);
	assert_int_equal(report_gates(report, 0, "wrong").trials, 26);
	/* a card too few, though it is done */
	pass_make(&pass);
	pass.events[3].type = DEALBOX_EV_RESUMED;
	assert_false(measure_deal(report, &pass.deal));
	/* the end is missing */
	pass_make(&pass);
	pass.deal.count--;
	assert_false(measure_deal(report, &pass.deal));
	/* a stop that was helped */
	pass_make(&pass);
	say(&pass, 1, DEALBOX_EV_FEED_TIMEOUT, 2, 0, 0);
	assert_false(measure_deal(report, &pass.deal));
	assert_int_equal(report_gates(report, 2, "feed_faults").errors, 1);
	json_object_put(report);
}

/* By card, the pocket is that of the card, wherever it lies in the pack. */
static void test_deal_by_card(void **state)
{
	struct json_object *report = empty();
	struct pass pass;

	(void)state;
	pass_make(&pass);
	pass.deal.by_card = true;
	for (unsigned int i = 0; i < 52; i++) {
		pass.events[1 + 3 * i].card = (uint8_t)(51 - i);
		pass.events[2 + 3 * i].card = pass.events[3 + 3 * i].card = (uint8_t)(51 - i);
		pass.events[3 + 3 * i].pocket = (51 - i) % 4;
	}
	assert_true(measure_deal(report, &pass.deal));
	pass.events[3].pocket ^= 1;
	assert_false(measure_deal(report, &pass.deal));
	json_object_put(report);
}

/* Without exit sensors, a card counts where it was routed. */
static void test_no_exit_sensors(void **state)
{
	struct json_object *report = empty();
	struct pass pass;

	(void)state;
	pass_make(&pass);
	pass.deal.blind = true;
	for (unsigned int i = 0; i < 52; i++)
		pass.events[3 + 3 * i].type = DEALBOX_EV_HOPPER_EMPTY;
	assert_true(measure_deal(report, &pass.deal));
	assert_int_equal(report_gates(report, -1, "wrong").trials, 52);
	pass.events[2].pocket = 3;
	assert_false(measure_deal(report, &pass.deal));
	json_object_put(report);
}

static void test_boards(void **state)
{
	struct json_object *report = empty();

	(void)state;
	measure_board(report, true);
	measure_board(report, false);
	measure_board(report, true);
	assert_int_equal(report_endurance(report).trials, 3);
	assert_int_equal(report_endurance(report).errors, 1);
	json_object_put(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact_deal),
		cmocka_unit_test(test_latency_of_gates),
		cmocka_unit_test(test_misreadings),
		cmocka_unit_test(test_stops_of_the_reader),
		cmocka_unit_test(test_no_readings),
		cmocka_unit_test(test_what_is_not_exact),
		cmocka_unit_test(test_deal_by_card),
		cmocka_unit_test(test_no_exit_sensors),
		cmocka_unit_test(test_boards),
	};

	return cmocka_run_group_tests_name("compliance_measure", tests, NULL, NULL);
}
