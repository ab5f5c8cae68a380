// SPDX-License-Identifier: LGPL-2.1-or-later
/* Operators' instructions: every state has a name, a way on and sentences in each language. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <dealbox/law.h>
#include <dealbox/operator.h>
#include <linux/dealbox.h>

static const char *text_of(enum dealbox_operator_state state,
			   const struct dealbox_operator_facts *facts, const char *language)
{
	static char text[2048];
	size_t length = dealbox_operator_text(state, facts, language, text, sizeof(text));

	assert_int_equal(length, strlen(text));
	assert_int_equal(dealbox_operator_text(state, facts, language, NULL, 0), length);
	return text;
}

static void test_states(void **state)
{
	static const char *const rows[] = {
		"E1", "E2", "E2a", "E2b", "E2c", "E3", "E4", "E5", "E6", "E7", "E8", "E9", "E10",
		"E11", "E12", "E13", "E14", "E15", "E16", "E17"
	};
	static const struct dealbox_operator_facts facts = { .board = 12, .copy = 3 };
	char list[256], word[16], text[9];
	size_t n, k, found;

	(void)state;
	for (k = 0; k < DEALBOX_OPERATOR_STATES; k++) {
		assert_non_null(dealbox_operator_name(k));
		assert_int_not_equal(dealbox_operator_ways(k), 0);
		for (n = 0; n < k; n++)
			assert_string_not_equal(dealbox_operator_name(n), dealbox_operator_name(k));
	}
	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		found = 0;
		snprintf(word, sizeof(word), " %s ", rows[n]);
		for (k = 0; k < DEALBOX_OPERATOR_STATES; k++) {
			snprintf(list, sizeof(list), " %s ", dealbox_operator_rows(k));
			found += !!strstr(list, word);
		}
		if (!found)
			fail_msg("nobody answers %s", rows[n]);
	}
	assert_string_equal(text_of(DEALBOX_OPERATOR_INSERT, &facts, NULL),
			    "Put in the empty board 12, copy 3.");
	dealbox_operator_text(DEALBOX_OPERATOR_INSERT, &facts, NULL, text, 8);
	assert_string_equal(text, "Put in ");
	/* a state of a newer library */
	assert_null(dealbox_operator_name(DEALBOX_OPERATOR_STATES));
	assert_string_equal(dealbox_operator_rows(DEALBOX_OPERATOR_STATES), "");
	assert_int_equal(dealbox_operator_ways(DEALBOX_OPERATOR_STATES), 0);
	assert_string_equal(text_of(DEALBOX_OPERATOR_STATES, &facts, NULL), "");
}

/* Every state in every language, with all facts and with none: complete, and translated. */
static void test_languages(void **state)
{
	static const struct dealbox_operator_facts none, all[] = {
		{ 9999, 9999, 9999, 52, 52, 4, 13, 4, 0, 0, 1, 90 },
		{ 9999, 9999, 9999, 52, 52, 4, 13, 0, 9999, 0, 3, 50 },
		{ .shuffled = 1 },
		{ .by_hand = 1 },
	};
	const char *language;
	char english[2048];
	size_t n, k;

	(void)state;
	for (k = 0; k < DEALBOX_OPERATOR_STATES; k++) {
		snprintf(english, sizeof(english), "%s", text_of(k, &all[0], "en"));
		assert_string_equal(english, text_of(k, &all[0], NULL));
		assert_string_equal(english, text_of(k, &all[0], "xx"));
		for (n = 0; (language = dealbox_law_language(n)); n++) {
			assert_null(strpbrk(text_of(k, &all[0], language), "{}%"));
			assert_null(strpbrk(text_of(k, &all[1], language), "{}%"));
			snprintf(english, sizeof(english), "%s", text_of(k, &all[2], "en"));
			if (n)
				assert_string_not_equal(text_of(k, &all[2], language), english);
			snprintf(english, sizeof(english), "%s", text_of(k, &all[3], "en"));
			if (n)
				assert_string_not_equal(text_of(k, &all[3], language), english);
			snprintf(english, sizeof(english), "%s", text_of(k, &all[0], "en"));
			assert_true(*text_of(k, &none, language));
			if (n)
				assert_string_not_equal(text_of(k, &all[0], language), english);
		}
	}
}

/* Sentences contain the known facts, and nothing about unknown ones. */
static void test_facts(void **state)
{
	static const struct {
		enum dealbox_operator_state state;
		struct dealbox_operator_facts facts;
		const char *says, *says_not;
	} rows[] = {
		{ DEALBOX_OPERATOR_JAM, { .card = 8, .cards = 52, .place = 3, .code = 3 },
		  "close the cover. This was at card 8 of 52. It is stuck at the gate. The board "
		  "is void:", "code" },
		/* a place of a later protocol is a code */
		{ DEALBOX_OPERATOR_JAM, { .place = 77, .code = 77 }, "The machine gives code 77.",
		  "stuck at" },
		{ DEALBOX_OPERATOR_JAM, { 0 }, "close the cover. The board is void", "This was" },
		{ DEALBOX_OPERATOR_HARDWARE, { .code = 5 }, "The machine gives code 5.",
		  "This was" },
		{ DEALBOX_OPERATOR_UNREADABLE, { .card = 8, .cards = 52 },
		  "This was at card 8 of 52.", "void" },
		{ DEALBOX_OPERATOR_UNREADABLE, { .card = 8 }, "This was at card 8.", "52" },
		{ DEALBOX_OPERATOR_REPEATED, { .seat = 2, .depth = 5 },
		  "Before you empty the board, look at the two cards: the earlier one lies in the "
		  "pocket of East, number 5 from the top. The board is void: take it out, empty "
		  "it,", "This was" },
		{ DEALBOX_OPERATOR_REPEATED, { .seat = 5, .depth = 5 }, "came twice", "pocket of" },
		{ DEALBOX_OPERATOR_REPEATED, { .seat = 2 }, "came twice", "pocket of" },
		{ DEALBOX_OPERATOR_NUMBER_OTHER, { .board = 3, .there = 4 },
		  "Board 3 was expected, and another is here. Take it out and put in board 3, or "
		  "skip it. The label says board 4.", "code" },
		{ DEALBOX_OPERATOR_NUMBER_OTHER, { .board = 3 }, "Board 3 was expected", "label" },
		/* the first place and the first seat without a name */
		{ DEALBOX_OPERATOR_JAM, { .place = 5, .code = 5 }, "The machine gives code 5.",
		  "stuck at" },
		{ DEALBOX_OPERATOR_NUMBER_OTHER, { .board = 3, .place = 5, .seat = 5, .depth = 1 },
		  "Board 3 was expected", "pocket of" },
		/* facts of an earlier deal do not appear */
		{ DEALBOX_OPERATOR_INSERT, { .board = 3, .copy = 1, .card = 8, .cards = 52,
					     .place = 3, .code = 9,
		  .seat = 1, .depth = 1, .there = 7 }, "Put in the empty board 3, copy 1.",
		  " card " },
		/* a shuffled pack is dealt once, and into a board without a number */
		{ DEALBOX_OPERATOR_INSERT, { .shuffled = 1 }, "Put in an empty board.", "copy" },
		{ DEALBOX_OPERATOR_START, { .shuffled = 1 }, "Press start to deal.", "copy" },
		{ DEALBOX_OPERATOR_TAKE_OUT, { .shuffled = 1 },
		  "The board is dealt and recorded. Take it out.", "copy" },
		{ DEALBOX_OPERATOR_PAUSED, { .shuffled = 1 }, "Paused. Resume, or press start;",
		  "copy" },
		{ DEALBOX_OPERATOR_HOPPER, { .shuffled = 1 }, "Put in the shuffled pack.", "deck" },
		{ DEALBOX_OPERATOR_CONFIRM, { .shuffled = 1 },
		  "If it is empty, and the pack is whole and shuffled", "copy" },
		{ DEALBOX_OPERATOR_JAM, { .shuffled = 1 },
		  "The board is void: take it out and empty it.", "again" },
		/* a person has no hopper, and no deck to turn round */
		{ DEALBOX_OPERATOR_REPEATED, { .by_hand = 1, .seat = 2, .depth = 5 },
		  "named wrongly. Before you empty the board, look at the two cards: the earlier "
		  "one lies in the pocket of East, number 5 from the top. The board is void: take "
		  "it out, empty it, put its cards back into the pack, and put the board in again.",
		  "deck" },
		{ DEALBOX_OPERATOR_DECK_SHORT, { .by_hand = 1 }, "The pack is at its end",
		  "hopper" },
		{ DEALBOX_OPERATOR_ABORTED, { .by_hand = 1 }, "put its cards back into the pack",
		  "hopper" },
		{ DEALBOX_OPERATOR_DOUBT, { .by_hand = 1 }, "put its cards back into the pack",
		  "hopper" },
		{ DEALBOX_OPERATOR_CAPTURED, { .shuffled = 1 }, "The board is read.", "void" },
	};
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		const char *text = text_of(rows[n].state, &rows[n].facts, NULL);

		if (!strstr(text, rows[n].says) || strstr(text, rows[n].says_not))
			fail_msg("%s", text);
	}
	assert_non_null(strstr(text_of(DEALBOX_OPERATOR_REPEATED, &rows[6].facts, "nb"),
			       "i lommen til \303\230st, nummer 5 ovenfra"));
}

/* The board is void after exactly these. */
static void test_void(void **state)
{
	static const enum dealbox_operator_state states[] = {
		DEALBOX_OPERATOR_JAM, DEALBOX_OPERATOR_DECK_SHORT, DEALBOX_OPERATOR_REPEATED,
		DEALBOX_OPERATOR_DECK_WRONG, DEALBOX_OPERATOR_WRONG_POCKET,
		DEALBOX_OPERATOR_DOUBLE_FEED, DEALBOX_OPERATOR_PULLED,
		DEALBOX_OPERATOR_COVER_OPENED, DEALBOX_OPERATOR_HARDWARE, DEALBOX_OPERATOR_ABORTED,
		DEALBOX_OPERATOR_DIFFERS, DEALBOX_OPERATOR_DOUBT,
	};
	static const struct dealbox_operator_facts facts = { .board = 12, .copy = 3 };
	unsigned int k, n;

	(void)state;
	for (k = 0; k < DEALBOX_OPERATOR_STATES; k++) {
		bool is_void = strstr(text_of(k, &facts, NULL),
				      "The board is void: take it out, empty it");

		for (n = 0; n < sizeof(states) / sizeof(states[0]) && states[n] != k; n++)
			;
		if (is_void != (n < sizeof(states) / sizeof(states[0])))
			fail_msg("%s", dealbox_operator_name(k));
	}
	/* what follows the instruction */
	assert_non_null(strstr(text_of(DEALBOX_OPERATOR_WRONG_POCKET, &facts, NULL),
			       "put the board in again. If it "
			       "comes again, clean the gates."));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_languages),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_void),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
