// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit.h"

#include <errno.h>
#include <stdio.h>

#include <dealbox/card.h>

static void names_are_read_back(void **state)
{
	(void)state;
	for (unsigned int card = 0; card < 54; card++)
		assert_int_equal(dealbox_card_parse(dealbox_card_name(card)), card);
	assert_string_equal(dealbox_card_name(0), "SA");
	assert_string_equal(dealbox_card_name(12), "S2");
	assert_string_equal(dealbox_card_name(13), "HA");
	assert_string_equal(dealbox_card_name(51), "C2");
	assert_string_equal(dealbox_card_name(54), "?");
	assert_string_equal(dealbox_card_name(DEALBOX_CARD_NONE), "?");
}

static void names_in_other_spellings(void **state)
{
	(void)state;
	assert_int_equal(dealbox_card_parse("s10"), 4);
	assert_int_equal(dealbox_card_parse("dt"), 30);
	assert_int_equal(dealbox_card_parse("cA"), 39);
}

static void what_is_no_card_is_refused(void **state)
{
	static const char *const wrong[] = {
		"", "S", "1", "S1", "S0", "XA", "SAA", "S100", "AS", "joker", "?", "S 2"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(dealbox_card_parse(wrong[i]), -EINVAL);
}

static void seats(void **state)
{
	(void)state;
	for (int seat = 0; seat < 4; seat++) {
		assert_int_equal(dealbox_seat_parse("NESW"[seat]), seat);
		assert_int_equal(dealbox_seat_parse("nesw"[seat]), seat);
		assert_int_equal(dealbox_seat_letter(seat), "NESW"[seat]);
	}
	assert_string_equal(dealbox_seat_name(DEALBOX_WEST), "West");
	assert_int_equal(dealbox_seat_parse('X'), -EINVAL);
	assert_int_equal(dealbox_seat_parse('\0'), -EINVAL);
	assert_int_equal(dealbox_seat_letter(4), '?');
	assert_int_equal(dealbox_seat_letter(-1), '?');
}

static void hands_as_text(void **state)
{
	char text[DEALBOX_CARDS_TEXT];

	(void)state;
	assert_int_equal(dealbox_cards_format(0, text), 3);
	assert_string_equal(text, "...");
	assert_int_equal(dealbox_cards_format(DEALBOX_PACK_BRIDGE, text), 55);
	assert_string_equal(text, "AKQJT98765432.AKQJT98765432.AKQJT98765432."
			    "AKQJT98765432");
	dealbox_cards_format(DEALBOX_PACK_PREFERANS, text);
	assert_string_equal(text, "AKQJT987.AKQJT987.AKQJT987.AKQJT987");
	assert_int_equal(dealbox_cards_count(DEALBOX_PACK_PREFERANS), 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_read_back),
		cmocka_unit_test(names_in_other_spellings),
		cmocka_unit_test(what_is_no_card_is_refused),
		cmocka_unit_test(seats),
		cmocka_unit_test(hands_as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
