// SPDX-License-Identifier: LGPL-2.1-or-later
/* NULL means the bridge pack, in every function. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include <dealbox/diagnosis.h>
#include <dealbox/law.h>
#include <dealbox/plan.h>
#include <dealbox/random.h>
#include <dealbox/set.h>

static const char text[] = "N:Q8.4.AQT3.AQT963 AKJ43.97652.4.K8 T9652.T3.K72.J52 "
			   "7.AKQJ8.J9865.74";

static void a_deal(void **state)
{
	struct dealbox_defect defects[DEALBOX_DEFECTS_MAX];
	struct dealbox_deal deal;

	(void)state;
	dealbox_deal_parse(text, &deal);
	assert_true(dealbox_deal_complete(&deal, NULL));
	assert_int_equal(dealbox_deal_check(&deal, NULL, NULL, 0), 0);
	deal.hand[DEALBOX_EAST] &= deal.hand[DEALBOX_EAST] - 1;
	assert_false(dealbox_deal_complete(&deal, NULL));
	assert_int_equal(dealbox_deal_check(&deal, NULL, defects, DEALBOX_DEFECTS_MAX), 2);
	assert_int_equal(defects[0].kind, DEALBOX_DEFECT_MISSING);
	assert_int_equal(defects[1].expected, 13);
}

static void a_plan(void **state)
{
	struct dealbox_plan plan, same;
	struct dealbox_deal deal;
	uint8_t deck[64];

	(void)state;
	dealbox_deal_parse(text, &deal);
	assert_int_equal(dealbox_plan_by_card(&plan, 7, &deal, NULL, NULL), 0);
	assert_int_equal(dealbox_plan_by_card(&same, 7, &deal, dealbox_pack_bridge(), NULL), 0);
	assert_memory_equal(&plan, &same, sizeof(plan));

	assert_int_equal(dealbox_pack_sorted(NULL, deck), 52);
	assert_int_equal(dealbox_plan_by_position(&plan, 7, &deal, NULL, NULL, deck, 52), 0);
	assert_int_equal(dealbox_plan_by_position(&same, 7, &deal, dealbox_pack_bridge(), NULL,
						  deck, 52), 0);
	assert_memory_equal(&plan, &same, sizeof(plan));

	/* a deal of another pack is not dealt by mistake */
	memset(&deal, 0, sizeof(deal));
	assert_int_equal(dealbox_plan_by_card(&plan, 7, &deal, NULL, NULL), -EINVAL);
}

static void a_set_and_a_deal_at_random(void **state)
{
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct dealbox_random *random;
	struct dealbox_deal deal;

	(void)state;
	assert_ptr_equal(dealbox_set_pack(set), dealbox_pack_bridge());
	dealbox_set_free(set);
	assert_int_equal(dealbox_random_new(&random), 0);
	assert_int_equal(dealbox_random_deal(random, NULL, NULL, &deal), 0);
	assert_true(dealbox_deal_complete(&deal, dealbox_pack_bridge()));
	dealbox_random_free(random);
}

static void event(struct dealbox_trace *trace, uint32_t type, uint8_t position, uint8_t card)
{
	static uint32_t seqno;
	struct dealbox_event e = {
		.type = type, .position = position, .card = card, .pocket = DEALBOX_NONE,
		.seqno = seqno + 1, .machine_seq = seqno + 1, .insertion = 1, .quality = 90,
	};

	seqno++;
	assert_int_equal(dealbox_trace_add(trace, &e), 1);
}

static void a_card_that_came_twice(void **state)
{
	struct dealbox_trace *trace = dealbox_trace_new(1);
	struct dealbox_confusion confusion;
	struct dealbox_diagnosis with, without;

	(void)state;
	event(trace, DEALBOX_EV_DEAL_STARTED, DEALBOX_NONE, DEALBOX_NONE);
	event(trace, DEALBOX_EV_CARD_READ, 0, 5);
	event(trace, DEALBOX_EV_REPEATED_CARD, 1, 5);
	dealbox_confusion_reader(&confusion, DEALBOX_READER_BARCODE);
	assert_int_equal(dealbox_diagnose_repeat(trace, NULL, &confusion, NULL, &without), 0);
	assert_int_equal(dealbox_diagnose_repeat(trace, dealbox_pack_bridge(), &confusion, NULL,
						 &with), 0);
	assert_memory_equal(&with, &without, sizeof(with));
	dealbox_trace_free(trace);
}

static void four_captures(void **state)
{
	struct dealbox_trace *traces[DEALBOX_HANDS];
	const struct dealbox_trace *read[DEALBOX_HANDS];
	struct dealbox_deal deal, out;
	unsigned int pocket;

	(void)state;
	dealbox_deal_parse(text, &deal);
	for (int hand = 0; hand < DEALBOX_HANDS; hand++) {
		uint8_t position = 0;

		read[hand] = traces[hand] = dealbox_trace_new(1);
		event(traces[hand], DEALBOX_EV_DEAL_STARTED, DEALBOX_NONE, DEALBOX_NONE);
		for (uint8_t card = 0; card < DEALBOX_CARDS; card++)
			if (deal.hand[hand] >> card & 1)
				event(traces[hand], DEALBOX_EV_CARD_READ, position++, card);
		event(traces[hand], DEALBOX_EV_DEAL_DONE, position, DEALBOX_NONE);
	}
	assert_int_equal(dealbox_law_capture(read, NULL, &out, &pocket), 0);
	assert_memory_equal(&out, &deal, sizeof(out));
	for (int hand = 0; hand < DEALBOX_HANDS; hand++)
		dealbox_trace_free(traces[hand]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deal),
		cmocka_unit_test(a_plan),
		cmocka_unit_test(a_set_and_a_deal_at_random),
		cmocka_unit_test(a_card_that_came_twice),
		cmocka_unit_test(four_captures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
