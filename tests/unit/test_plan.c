// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit.h"

#include <errno.h>
#include <string.h>

#include <dealbox/plan.h>

static const char text[] = "N:Q8.4.AQT3.AQT963 AKJ43.97652.4.K8 T9652.T3.K72.J52 "
			   "7.AKQJ8.J9865.74";

static void by_card(void **state)
{
	struct dealbox_deal deal;
	struct dealbox_plan plan;

	(void)state;
	dealbox_deal_parse(text, &deal);
	memset(&plan, 0xff, sizeof(plan));
	assert_int_equal(dealbox_plan_by_card(&plan, 7, &deal, dealbox_pack_bridge(),
					      NULL), 0);
	assert_int_equal(plan.plan_id, 7);
	assert_int_equal(plan.mode, DEALBOX_PLAN_BY_CARD);
	assert_int_equal(plan.entries, 52);
	assert_int_equal(plan.pocket[0], 1);	/* SA with East */
	assert_int_equal(plan.pocket[2], 0);	/* SQ with North */
	assert_int_equal(plan.pocket[7], 3);	/* S7 with West */
	assert_int_equal(plan.pocket[51], 2);	/* C2 with South */
	/* the kernel requires that unused entries are zero */
	for (int i = 52; i < DEALBOX_MAX_ENTRIES; i++)
		assert_int_equal(plan.pocket[i], 0);
	assert_int_equal(plan.reserved[3] | plan.reserved1[0] | plan.result, 0);
	dealbox_plan_wipe(&plan);
	assert_int_equal(plan.pocket[0], 0);
}

static void in_another_pocket_order(void **state)
{
	uint8_t pockets[4];
	struct dealbox_deal deal;
	struct dealbox_plan plan;

	(void)state;
	assert_int_equal(dealbox_pockets_parse("SWEN", pockets), 0);
	assert_int_equal(pockets[DEALBOX_SOUTH], 0);
	assert_int_equal(pockets[DEALBOX_NORTH], 3);
	dealbox_deal_parse(text, &deal);
	dealbox_plan_by_card(&plan, 7, &deal, dealbox_pack_bridge(), pockets);
	assert_int_equal(plan.pocket[0], 2);	/* SA with East, in pocket 2 */
	assert_int_equal(plan.pocket[51], 0);
	assert_int_equal(dealbox_pockets_parse("NESN", pockets), -EINVAL);
	assert_int_equal(dealbox_pockets_parse("NES", pockets), -EINVAL);
	assert_int_equal(dealbox_pockets_parse("NESWN", pockets), -EINVAL);
	assert_int_equal(dealbox_pockets_parse("", pockets), -EINVAL);
}

static void by_position(void **state)
{
	struct dealbox_deal deal;
	struct dealbox_plan plan;
	uint8_t deck[53], pockets[4];

	(void)state;
	dealbox_deal_parse(text, &deal);
	for (uint8_t i = 0; i < 52; i++)
		deck[i] = (uint8_t)(51 - i);
	deck[52] = 0;	/* a card of East's, beyond the plan */
	assert_int_equal(dealbox_plan_by_position(&plan, 7, &deal, dealbox_pack_bridge(),
						  NULL, deck, 52), 0);
	assert_int_equal(plan.mode, DEALBOX_PLAN_BY_POSITION);
	assert_int_equal(plan.entries, 52);
	assert_int_equal(plan.pocket[0], 2);
	assert_int_equal(plan.pocket[51], 1);
	assert_int_equal(plan.pocket[52], 0);
	/* the first card, the club two, is South's; the last one, the spade ace, is East's */
	assert_int_equal(dealbox_pockets_parse("SWEN", pockets), 0);
	assert_int_equal(dealbox_plan_by_position(&plan, 7, &deal, dealbox_pack_bridge(),
						  pockets, deck, 52), 0);
	assert_int_equal(plan.pocket[0], 0);
	assert_int_equal(plan.pocket[51], 2);
	/* NULL is the bridge pack */
	memset(&plan, 0xff, sizeof(plan));
	assert_int_equal(dealbox_plan_by_position(&plan, 7, &deal, NULL, NULL, deck, 52), 0);
	assert_int_equal(plan.pocket[51], 1);

	assert_int_equal(dealbox_plan_by_position(&plan, 7, &deal, dealbox_pack_bridge(),
						  NULL, deck, 51), -EINVAL);
	deck[3] = deck[4];
	assert_int_equal(dealbox_plan_by_position(&plan, 7, &deal, dealbox_pack_bridge(),
						  NULL, deck, 52), -EINVAL);
	for (size_t i = 0; i < 52; i++) {
		static const uint8_t none[] = { 52, 63, 64, 255 };

		for (size_t n = 0; n < sizeof(none); n++) {
			deck[3] = 48;
			deck[i] = none[n];
			assert_int_equal(dealbox_plan_by_position(&plan, 7, &deal, NULL, NULL,
								  deck, 52), -EINVAL);
			deck[i] = (uint8_t)(51 - i);
		}
	}
	assert_int_equal(dealbox_plan_by_position(&plan, 7, &deal, NULL, NULL, deck, 52), 0);
	assert_int_equal(dealbox_plan_by_position(&plan, DEALBOX_PLAN_TEST, &deal, NULL, NULL,
						  deck, 52), -EINVAL);
	deal.hand[0] &= deal.hand[0] - 1;
	assert_int_equal(dealbox_plan_by_position(&plan, 7, &deal, NULL, NULL, deck, 52),
			 -EINVAL);
}

static void a_sorted_deck(void **state)
{
	uint8_t deck[64];

	(void)state;
	assert_int_equal(dealbox_pack_sorted(dealbox_pack_bridge(), deck), 52);
	for (uint8_t i = 0; i < 52; i++)
		assert_int_equal(deck[i], i);
	/* from the spade ace to the club seven */
	assert_int_equal(dealbox_pack_sorted(dealbox_pack_preferans(), deck), 32);
	assert_int_equal(deck[0], 0);
	assert_int_equal(deck[7], 7);
	assert_int_equal(deck[8], 13);
	assert_int_equal(deck[31], 46);
}

static void preferans_leaves_the_small_cards_out(void **state)
{
	dealbox_cards left = DEALBOX_PACK_PREFERANS;
	struct dealbox_deal deal = { { 0 } };
	struct dealbox_plan plan;

	(void)state;
	for (int i = 0; i < 32; i++) {
		deal.hand[i < 30 ? i / 10 : 3] |= left & -left;
		left &= left - 1;
	}
	assert_int_equal(dealbox_plan_by_card(&plan, 7, &deal, dealbox_pack_preferans(),
					      NULL), 0);
	assert_int_equal(plan.entries, 47);	/* the last is C7 */
	assert_int_equal(plan.pocket[0], 0);
	assert_int_equal(plan.pocket[8], DEALBOX_NONE);	/* S6 */
	assert_int_equal(plan.pocket[46], 3);
	assert_int_equal(dealbox_plan_by_card(&plan, 7, &deal, dealbox_pack_bridge(),
					      NULL), -EINVAL);
}

static void what_cannot_be_dealt_is_refused(void **state)
{
	static const uint8_t twice[4] = { 0, 1, 1, 3 }, far[4] = { 0, 1, 2, 8 };
	static const uint8_t first_far[4] = { 8, 1, 2, 3 };
	struct dealbox_deal deal, holed;
	struct dealbox_plan plan;
	const struct dealbox_pack *pack = dealbox_pack_bridge();

	(void)state;
	dealbox_deal_parse(text, &deal);
	holed = deal;
	holed.hand[1] &= holed.hand[1] - 1;
	assert_int_equal(dealbox_plan_by_card(&plan, 7, &holed, pack, NULL), -EINVAL);
	assert_int_equal(dealbox_plan_by_card(&plan, DEALBOX_PLAN_NONE, &deal, pack, NULL),
			 -EINVAL);
	assert_int_equal(dealbox_plan_by_card(&plan, DEALBOX_PLAN_TEST, &deal, pack, NULL),
			 -EINVAL);
	assert_int_equal(dealbox_plan_by_card(&plan, 7, &deal, pack, twice), -EINVAL);
	assert_int_equal(dealbox_plan_by_card(&plan, 7, &deal, pack, far), -EINVAL);
	assert_int_equal(dealbox_plan_by_card(&plan, 7, &deal, pack, first_far), -EINVAL);
	assert_int_equal(dealbox_plan_by_card(&plan, 7, &deal, NULL, NULL), 0);
	assert_int_equal(dealbox_plan_capture(&plan, 7, 8), -EINVAL);
	assert_int_equal(dealbox_plan_capture(&plan, DEALBOX_PLAN_NONE, 5), -EINVAL);
	assert_int_equal(dealbox_plan_capture(&plan, DEALBOX_PLAN_TEST, 5), -EINVAL);
	assert_int_equal(dealbox_plan_capture(&plan, 7, 5), 0);
	assert_int_equal(plan.entries, 1);
	assert_int_equal(plan.pocket[0], 5);
}

/* The pocket of a hand without cards does not matter. */
static void a_hand_without_cards(void **state)
{
	static const struct dealbox_pack pack = { "three", 7, 4, { 1, 1, 0, 1 } };
	static const uint8_t pockets[4] = { 0, 1, 255, 3 }, same[4] = { 0, 1, 1, 3 };
	struct dealbox_deal deal = { { 1, 2, 0, 4 } };
	struct dealbox_plan plan;

	(void)state;
	assert_int_equal(dealbox_plan_by_card(&plan, 7, &deal, &pack, pockets), 0);
	assert_int_equal(plan.entries, 3);
	assert_int_equal(plan.pocket[2], 3);
	assert_int_equal(dealbox_plan_by_card(&plan, 7, &deal, &pack, same), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_card),
		cmocka_unit_test(in_another_pocket_order),
		cmocka_unit_test(by_position),
		cmocka_unit_test(a_sorted_deck),
		cmocka_unit_test(preferans_leaves_the_small_cards_out),
		cmocka_unit_test(a_hand_without_cards),
		cmocka_unit_test(what_cannot_be_dealt_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
