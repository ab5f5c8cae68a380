// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit.h"

#include <errno.h>
#include <string.h>

#include <dealbox/deal.h>

#define CARD(n) ((dealbox_cards)1 << (n))

/* Every hand has one suit, which makes changes obvious. */
static const struct dealbox_deal suits = {
	{ 0x1fffULL, 0x1fffULL << 13, 0x1fffULL << 26, 0x1fffULL << 39 }
};

static void a_complete_deal_has_no_defect(void **state)
{
	(void)state;
	assert_true(dealbox_deal_complete(&suits, dealbox_pack_bridge()));
	assert_int_equal(dealbox_deal_check(&suits, dealbox_pack_bridge(), NULL, 0), 0);
}

static void the_card_held_twice_and_by_whom(void **state)
{
	struct dealbox_defect defects[DEALBOX_DEFECTS_MAX];
	struct dealbox_deal deal = suits;

	(void)state;
	deal.hand[DEALBOX_WEST] |= CARD(3);	/* SJ, North has it */
	assert_false(dealbox_deal_complete(&deal, dealbox_pack_bridge()));
	assert_int_equal(dealbox_deal_check(&deal, dealbox_pack_bridge(), defects,
					    DEALBOX_DEFECTS_MAX), 2);
	assert_int_equal(defects[0].kind, DEALBOX_DEFECT_REPEATED);
	assert_int_equal(defects[0].card, 3);
	assert_int_equal(defects[0].hands, 1 << DEALBOX_NORTH | 1 << DEALBOX_WEST);
	assert_int_equal(defects[1].kind, DEALBOX_DEFECT_SIZE);
	assert_int_equal(defects[1].hand, DEALBOX_WEST);
	assert_int_equal(defects[1].count, 14);
	assert_int_equal(defects[1].expected, 13);
}

static void thirteen_each_is_not_enough(void **state)
{
	struct dealbox_defect defects[DEALBOX_DEFECTS_MAX];
	struct dealbox_deal deal = suits;

	(void)state;
	/* East has the spade ace instead of the heart two: all hands have 13 */
	deal.hand[DEALBOX_EAST] ^= CARD(25) | CARD(0);
	assert_false(dealbox_deal_complete(&deal, dealbox_pack_bridge()));
	assert_int_equal(dealbox_deal_check(&deal, dealbox_pack_bridge(), defects,
					    DEALBOX_DEFECTS_MAX), 2);
	assert_int_equal(defects[0].kind, DEALBOX_DEFECT_REPEATED);
	assert_int_equal(defects[0].card, 0);
	assert_int_equal(defects[1].kind, DEALBOX_DEFECT_MISSING);
	assert_int_equal(defects[1].card, 25);
}

static void a_joker_is_foreign(void **state)
{
	struct dealbox_defect defect;
	struct dealbox_deal deal = suits;

	(void)state;
	deal.hand[DEALBOX_SOUTH] ^= CARD(DEALBOX_CARD_JOKER1) | CARD(26);
	/* more defects than fit into the array */
	assert_int_equal(dealbox_deal_check(&deal, dealbox_pack_bridge(), &defect, 1), 2);
	assert_int_equal(defect.kind, DEALBOX_DEFECT_MISSING);
	assert_int_equal(defect.card, 26);
	assert_false(dealbox_deal_complete(&deal, dealbox_pack_bridge()));
}

static void preferans_has_a_talon(void **state)
{
	struct dealbox_deal deal = { { 0 } };
	dealbox_cards left = DEALBOX_PACK_PREFERANS;

	(void)state;
	for (int hand = 0; hand < 4; hand++)
		for (int i = 0; i < (hand == 3 ? 2 : 10); i++) {
			deal.hand[hand] |= left & -left;
			left &= left - 1;
		}
	assert_true(dealbox_deal_complete(&deal, dealbox_pack_preferans()));
	assert_false(dealbox_deal_complete(&deal, dealbox_pack_bridge()));
	assert_ptr_equal(dealbox_pack_find("preferans"), dealbox_pack_preferans());
	assert_ptr_equal(dealbox_pack_find("bridge"), dealbox_pack_bridge());
	assert_null(dealbox_pack_find("poker"));
}

static void text_is_read_back_from_each_seat(void **state)
{
	static const char text[] = "N:Q8.4.AQT3.AQT963 AKJ43.97652.4.K8 "
				   "T9652.T3.K72.J52 7.AKQJ8.J9865.74";
	struct dealbox_deal deal, again;
	char out[DEALBOX_DEAL_TEXT];

	(void)state;
	assert_int_equal(dealbox_deal_parse(text, &deal), 0);
	assert_true(dealbox_deal_complete(&deal, dealbox_pack_bridge()));
	assert_int_equal(dealbox_deal_holder(&deal, 2), DEALBOX_NORTH);
	assert_int_equal(dealbox_deal_holder(&deal, 0), DEALBOX_EAST);
	assert_int_equal(dealbox_deal_holder(&deal, DEALBOX_CARD_JOKER1), -ENOENT);
	assert_int_equal(dealbox_deal_format(&deal, DEALBOX_NORTH, out), strlen(text));
	assert_string_equal(out, text);
	for (int first = 0; first < 4; first++) {
		dealbox_deal_format(&deal, first, out);
		assert_int_equal(out[0], "NESW"[first]);
		assert_int_equal(dealbox_deal_parse(out, &again), 0);
		assert_memory_equal(&deal, &again, sizeof(deal));
	}
	assert_int_equal(dealbox_deal_parse("w:akq... - - -", &deal), 0);
	assert_int_equal(deal.hand[DEALBOX_WEST], 7);
	dealbox_deal_wipe(&deal);
	assert_int_equal(deal.hand[DEALBOX_WEST], 0);
}

static void text_that_is_no_deal_is_refused(void **state)
{
	static const char *const wrong[] = {
		"", "N", "N:", "X:- - - -", "N:- - -", "N:- - - - ", "N:- - - - -",
		"N:A.. - - -", "N:A.... - - -", "N:1... - - -", "N:AA... - - -",
		"N:-  - - -", "N: - - - -", "N:A... -- - -",
	};
	struct dealbox_deal deal;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(dealbox_deal_parse(wrong[i], &deal), -EINVAL);
}

static void dealer_and_vulnerability_of_a_board(void **state)
{
	/* Law 2, boards 1..16 */
	static const char dealers[] = "NESWNESWNESWNESW";
	static const char *const vulnerable[] = {
		"None", "NS", "EW", "All", "NS", "EW", "All", "None",
		"EW", "All", "None", "NS", "All", "None", "NS", "EW"
	};

	(void)state;
	for (uint32_t board = 1; board <= 64; board++) {
		uint32_t i = (board - 1) % 16;

		assert_int_equal(dealbox_seat_letter(dealbox_board_dealer(board)),
				 dealers[i]);
		assert_string_equal(vulnerable[i], dealbox_vulnerable_name(
					    dealbox_board_vulnerable(board)));
	}
	assert_int_equal(dealbox_board_dealer(0), -EINVAL);
	assert_int_equal(dealbox_board_vulnerable(0), -EINVAL);
	assert_string_equal(dealbox_vulnerable_name(4), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_complete_deal_has_no_defect),
		cmocka_unit_test(the_card_held_twice_and_by_whom),
		cmocka_unit_test(thirteen_each_is_not_enough),
		cmocka_unit_test(a_joker_is_foreign),
		cmocka_unit_test(preferans_has_a_talon),
		cmocka_unit_test(text_is_read_back_from_each_seat),
		cmocka_unit_test(text_that_is_no_deal_is_refused),
		cmocka_unit_test(dealer_and_vulnerability_of_a_board),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
