// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit.h"

#include <errno.h>
#include <stdio.h>

#include "deals.h"

static void what_goes_in_comes_out(void **state)
{
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct dealbox_board board, again;
	uint64_t seed = 1;
	char name[32];

	(void)state;
	/* more than one chunk of records, and more than one of labels */
	for (uint32_t i = 0; i < 10000; i++) {
		board = (struct dealbox_board) DEALBOX_BOARD_INIT;
		random_deal(&seed, &board.deal);
		if (i % 3 == 1)
			board.number = i;
		snprintf(name, sizeof(name), "label %u", i);
		if (i % 3 == 2)
			board.label = name;
		board.dealer = (int8_t)(i % 5) - 1;
		board.vulnerable = (int8_t)((i / 2) % 5) - 1;
		board.file = i % 2 ? "one.pbn" : "other.dup";
		if (i % 2)
			board.line = i + 7;
		else
			board.byte = 156 * (uint64_t)i;
		assert_int_equal(dealbox_set_add(set, &board), 0);
	}
	assert_int_equal(dealbox_set_count(set), 10000);
	seed = 1;
	for (uint32_t i = 0; i < 10000; i++) {
		random_deal(&seed, &board.deal);
		assert_int_equal(dealbox_set_get(set, i, &again), 0);
		assert_memory_equal(&board.deal, &again.deal, sizeof(board.deal));
		assert_int_equal(again.number, i % 3 == 1 ? i : 0);
		snprintf(name, sizeof(name), "label %u", i);
		if (i % 3 == 2)
			assert_string_equal(again.label, name);
		else
			assert_null(again.label);
		assert_int_equal(again.dealer, (int)(i % 5) - 1);
		assert_int_equal(again.vulnerable, (int)((i / 2) % 5) - 1);
		assert_string_equal(again.file, i % 2 ? "one.pbn" : "other.dup");
		assert_int_equal(again.line, i % 2 ? i + 7 : 0);
		assert_int_equal(again.byte, i % 2 ? 0 : 156 * (uint64_t)i);
	}
	assert_int_equal(dealbox_set_get(set, 10000, &again), -ENOENT);
	assert_int_equal(dealbox_set_find(set, 4000), 4000);
	assert_int_equal(dealbox_set_find(set, 3), -ENOENT);
	dealbox_set_free(set);
	dealbox_set_free(NULL);
}

static void what_is_no_deal_stays_out(void **state)
{
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	uint64_t seed = 2;

	(void)state;
	assert_int_equal(dealbox_set_add(set, &board), -EINVAL);
	random_deal(&seed, &board.deal);
	board.dealer = 4;
	assert_int_equal(dealbox_set_add(set, &board), -EINVAL);
	board.dealer = 0;
	board.vulnerable = 4;
	assert_int_equal(dealbox_set_add(set, &board), -EINVAL);
	board.vulnerable = 0;
	board.number = DEALBOX_BOARD_MAX + 1;
	assert_int_equal(dealbox_set_add(set, &board), -EINVAL);
	board.number = DEALBOX_BOARD_MAX;
	/* a later library may know what it means */
	board.reserved[3] = 1;
	assert_int_equal(dealbox_set_add(set, &board), -EINVAL);
	board.reserved[3] = 0;
	assert_int_equal(dealbox_set_add(set, &board), 0);
	board.deal.hand[2] ^= board.deal.hand[2] & -board.deal.hand[2];
	assert_int_equal(dealbox_set_add(set, &board), -EINVAL);
	assert_int_equal(dealbox_set_count(set), 1);
	dealbox_set_free(set);
}

static void unknown_marks_are_refused(void **state)
{
	const unsigned int all = DEALBOX_MARK_RESTRICTED | DEALBOX_MARK_UNPLAYED;
	struct dealbox_set *set = dealbox_set_new(NULL);

	(void)state;
	assert_int_equal(dealbox_set_mark(set, all), 0);
	assert_int_equal(dealbox_set_mark(set, all + 1), -EINVAL);
	assert_int_equal(dealbox_set_mark(set, 1U << 31), -EINVAL);
	assert_int_equal(dealbox_set_marks(set), all);
	assert_int_equal(dealbox_set_mark(set, 0), 0);
	assert_int_equal(dealbox_set_marks(set), 0);
	dealbox_set_free(set);
}

static void add(struct dealbox_set *set, const struct dealbox_deal *deal, int turn,
		uint32_t number)
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;

	for (int i = 0; i < 4; i++)
		board.deal.hand[(i + turn) & 3] = deal->hand[i];
	board.number = number;
	assert_int_equal(dealbox_set_add(set, &board), 0);
}

/* The codes that a check of the set finds, with their boards: "code:board code:board". */
static void check_finds(const struct dealbox_set *set, long problems, const char *expected)
{
	struct dealbox_report *report = dealbox_report_new();
	const struct dealbox_problem *problem;
	char found[256] = "";

	assert_int_equal(dealbox_set_check(set, report), problems);
	for (size_t i = 0; (problem = dealbox_report_get(report, i)); i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s:%s",
			 i ? " " : "", dealbox_code_name(problem->code), problem->board);
	assert_string_equal(found, expected);
	dealbox_report_free(report);
}

static void a_set_is_checked_as_a_whole(void **state)
{
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct dealbox_deal a, b, c;
	uint64_t seed = 3;

	(void)state;
	random_deal(&seed, &a);
	random_deal(&seed, &b);
	random_deal(&seed, &c);
	check_finds(set, 0, "");
	add(set, &a, 0, 17);
	add(set, &b, 0, 18);
	check_finds(set, 0, "");
	add(set, &b, 0, 18);		/* the closed room */
	check_finds(set, 0, "board-again:18");
	add(set, &c, 0, 21);
	check_finds(set, 0, "board-gap:21 board-again:18");
	add(set, &a, 0, 20);		/* the deal of another board */
	check_finds(set, 1, "board-gap:20 board-again:18 deal-repeated:20");
	add(set, &a, 1, 19);
	check_finds(set, 2, "board-again:18 deal-repeated:20 deal-rotated:19");
	add(set, &c, 2, 17);
	check_finds(set, 4, "board-again:18 board-repeated:17 deal-repeated:20 "
		    "deal-rotated:19 deal-rotated:17");
	dealbox_set_free(set);
}

static void boards_without_numbers(void **state)
{
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct dealbox_deal a, b;
	uint64_t seed = 4;

	(void)state;
	random_deal(&seed, &a);
	random_deal(&seed, &b);
	add(set, &a, 0, 0);
	add(set, &b, 0, 0);
	check_finds(set, 0, "");
	add(set, &a, 0, 0);
	check_finds(set, 1, "deal-repeated:");
	dealbox_set_free(set);
}

static void preferans(void **state)
{
	struct dealbox_set *set = dealbox_set_new(dealbox_pack_preferans());
	dealbox_cards left = DEALBOX_PACK_PREFERANS;
	struct dealbox_board board = DEALBOX_BOARD_INIT, again;

	(void)state;
	for (int i = 0; i < 32; i++) {
		board.deal.hand[i < 30 ? i % 3 : 3] |= left & -left;
		left &= left - 1;
	}
	assert_ptr_equal(dealbox_set_pack(set), dealbox_pack_preferans());
	assert_int_equal(dealbox_set_add(set, &board), 0);
	dealbox_set_get(set, 0, &again);
	assert_memory_equal(&board.deal, &again.deal, sizeof(board.deal));
	dealbox_set_free(set);
}

static void a_large_set_with_repeats(void **state)
{
	uint64_t seed = 5;
	struct dealbox_set *set = random_set(&seed, 1, 50000);
	struct dealbox_report *report = dealbox_report_new();
	struct dealbox_board board;

	(void)state;
	assert_int_equal(dealbox_set_check(set, report), 0);
	assert_int_equal(dealbox_report_count(report), 0);
	for (size_t i = 0; i < 10; i++) {
		dealbox_set_get(set, i * 4999, &board);
		board.number = 60000 + (uint32_t)i;
		dealbox_set_add(set, &board);
	}
	assert_int_equal(dealbox_set_check(set, report), 10);
	assert_int_equal(dealbox_report_found(report, DEALBOX_SEVERITY_PROBLEM), 10);
	dealbox_report_free(report);
	dealbox_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes_in_comes_out),
		cmocka_unit_test(what_is_no_deal_stays_out),
		cmocka_unit_test(unknown_marks_are_refused),
		cmocka_unit_test(a_set_is_checked_as_a_whole),
		cmocka_unit_test(boards_without_numbers),
		cmocka_unit_test(preferans),
		cmocka_unit_test(a_large_set_with_repeats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
