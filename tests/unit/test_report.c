// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit.h"

#include <string.h>

#include <dealbox/report.h>

static void every_code_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (unsigned int code = 0; code < DEALBOX_CODES; code++) {
		const char *name = dealbox_code_name(code);

		assert_non_null(name);
		assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz-106"), strlen(name));
		for (unsigned int other = 0; other < code; other++)
			assert_string_not_equal(name, dealbox_code_name(other));
	}
	assert_string_equal(dealbox_code_name(DEALBOX_CODE_CARD_REPEATED), "card-repeated");
	assert_string_equal(dealbox_code_name(DEALBOX_CODES), "?");
}

static void a_sentence_names_cards_only_when_asked(void **state)
{
	struct dealbox_problem problem = {
		.hand = 2, .hands = 1 << 0 | 1 << 3, .count = 12, .expected = 13,
		.text = "board 9",
	};

	(void)state;
	for (unsigned int code = 1; code < DEALBOX_CODES; code++) {
		char first[256], text[256], revealed[256];

		problem.code = (uint16_t)code;
		for (unsigned int card = 0; card < 52; card++) {
			problem.card = (uint8_t)card;
			assert_true(dealbox_problem_message(&problem, false, text,
							    sizeof(text)));
			assert_null(strchr(text, '{'));
			if (!card)
				strcpy(first, text);
			assert_string_equal(text, first);
		}
		dealbox_problem_message(&problem, true, revealed, sizeof(revealed));
		if (code == DEALBOX_CODE_CARD_REPEATED || code == DEALBOX_CODE_CARD_MISSING ||
		    code == DEALBOX_CODE_CARD_FOREIGN)
			assert_non_null(strstr(revealed, "C2"));
		else
			assert_string_equal(revealed, first);
	}
}

static void sentences_say_what_and_where(void **state)
{
	struct dealbox_problem problem = {
		.code = DEALBOX_CODE_CARD_REPEATED, .card = 3, .hands = 1 << 0 | 1 << 3,
		.file = "a.pbn", .line = 12, .board = "7",
	};
	char text[128], small[8];
	size_t length;

	(void)state;
	dealbox_problem_describe(&problem, false, text, sizeof(text));
	assert_string_equal(text, "a.pbn:12: board 7: a card is there twice, held by North "
			    "and West");
	length = dealbox_problem_describe(&problem, true, text, sizeof(text));
	assert_string_equal(text,
			    "a.pbn:12: board 7: SJ is there twice, held by North and West");
	assert_int_equal(length, strlen(text));
	assert_int_equal(dealbox_problem_describe(&problem, true, small, sizeof(small)),
			 length);
	assert_string_equal(small, "a.pbn:1");
	assert_int_equal(dealbox_problem_describe(&problem, true, NULL, 0), length);

	problem.hands = 15;
	dealbox_problem_message(&problem, false, text, sizeof(text));
	assert_string_equal(text,
			    "a card is there twice, held by North, East, South and West");
	problem.hands = 1 << 2;
	dealbox_problem_message(&problem, false, text, sizeof(text));
	assert_string_equal(text, "a card is there twice, held by South alone");
	problem = (struct dealbox_problem) {
		.code = DEALBOX_CODE_HAND_SIZE, .hand = 1, .count = 12, .expected = 13,
		.file = "b.dup", .byte = 156,
	};
	dealbox_problem_describe(&problem, false, text, sizeof(text));
	assert_string_equal(text, "b.dup:byte 156: East has 12 cards, not 13");
}

/* Translations may fill in these members only, because none of them names a card. */
static void the_sentence_of_a_code_is_what_a_message_is_made_of(void **state)
{
	static const char *const names[] = { "hand}", "hands}", "count}", "expected}", "text}" };
	const struct dealbox_problem newer = { .code = DEALBOX_CODES };
	char text[256];

	(void)state;
	for (unsigned int code = 0; code < DEALBOX_CODES; code++) {
		struct dealbox_problem problem = { .code = (uint16_t)code };

		for (uint32_t count = 0; count < 3; count++) {
			const char *sentence = dealbox_code_sentence(code, count), *at;

			assert_true(*sentence);
			for (at = sentence; (at = strchr(at, '{')); at++) {
				size_t n = 0;

				while (n < 5 && strncmp(at + 1, names[n], strlen(names[n])))
					n++;
				assert_in_range(n, 0, 4);
			}
			problem.count = count;
			dealbox_problem_message(&problem, false, text, sizeof(text));
			assert_memory_equal(text, sentence, strcspn(sentence, "{"));
		}
	}
	assert_string_equal(dealbox_code_sentence(DEALBOX_CODE_HAND_SIZE, 12),
			    "{hand} has {count} cards, not {expected}");
	assert_string_equal(dealbox_code_sentence(DEALBOX_CODE_HAND_SIZE, 1),
			    "{hand} has {count} card, not {expected}");
	assert_string_equal(dealbox_code_sentence(DEALBOX_CODE_CARD_MISSING, 1),
			    "a card is missing");
	assert_string_equal(dealbox_code_sentence(DEALBOX_CODES, 0), "");
	/* of a newer library */
	for (int reveal = 0; reveal < 2; reveal++)
		assert_int_equal(dealbox_problem_message(&newer, reveal, text, sizeof(text)), 0);
}

static void a_report_keeps_the_first_of_each_kind_and_counts_all(void **state)
{
	struct dealbox_report *report = dealbox_report_new();
	struct dealbox_problem last = { .code = DEALBOX_CODE_NO_DEALS,
					.severity = DEALBOX_SEVERITY_PROBLEM };
	char name[16];

	(void)state;
	for (uint32_t i = 0; i < 10000; i++) {
		struct dealbox_problem problem = {
			.code = DEALBOX_CODE_BAD_RANK, .line = i + 1, .file = name,
			.severity = i % 4 ? DEALBOX_SEVERITY_PROBLEM : DEALBOX_SEVERITY_NOTE,
		};

		strcpy(name, i % 2 ? "odd" : "even");
		dealbox_report_add(report, &problem);
	}
	/* even after many problems of another kind */
	dealbox_report_add(report, &last);
	strcpy(name, "gone");
	assert_int_equal(dealbox_report_count(report), 1001);
	assert_int_equal(dealbox_report_dropped(report), 9000);
	assert_int_equal(dealbox_report_found(report, DEALBOX_SEVERITY_PROBLEM), 7501);
	assert_int_equal(dealbox_report_found(report, DEALBOX_SEVERITY_NOTE), 2500);
	assert_int_equal(dealbox_report_found_code(report, DEALBOX_CODE_BAD_RANK), 10000);
	assert_int_equal(dealbox_report_found_code(report, DEALBOX_CODE_NO_DEALS), 1);
	assert_int_equal(dealbox_report_found_code(report, DEALBOX_CODE_BAD_SUIT), 0);
	assert_int_equal(dealbox_report_found_code(report, DEALBOX_CODES), 0);
	assert_int_equal(dealbox_report_get(report, 999)->line, 1000);
	assert_string_equal(dealbox_report_get(report, 1)->file, "odd");
	assert_string_equal(dealbox_report_get(report, 998)->file, "even");
	assert_int_equal(dealbox_report_get(report, 1000)->code, DEALBOX_CODE_NO_DEALS);
	assert_null(dealbox_report_get(report, 1001));
	dealbox_report_free(report);
	dealbox_report_free(NULL);
	dealbox_report_add(NULL, &(struct dealbox_problem) { 0 });
}

/* Bytes that are no text, from files and machines, do not get into messages. */
static void text_from_outside_is_made_safe(void **state)
{
	static const struct {
		const char *from, *safe;
	} rows[] = {
		{ "", "" }, { "plain 7-1", "plain 7-1" },
		{ "Gr\xfcn", "Gr\xc3\xbcn" }, { "Gr\xc3\xbcn", "Gr\xc3\xbcn" },
		{ "\xe2\x99\xa0 \xf0\x9f\x82\xa1", "\xe2\x99\xa0 \xf0\x9f\x82\xa1" },
		{ "a\33[2Jb\nc\x7f", "a?[2Jb?c?" },
		/* the same control character in UTF-8, and as a byte that is not UTF-8 */
		{ "a\xc2\x9b" "2J", "a?2J" }, { "a\x9b" "2J", "a?2J" },
		/* overlong, half of a surrogate pair, above the last code point, truncated */
		{ "\xc0\x9b", "\xc3\x80?" }, { "\xed\xa0\x80", "\xc3\xad\xc2\xa0?" },
		{ "\xf4\x90\x80\x80", "\xc3\xb4???" }, { "\xe2\x99", "\xc3\xa2?" },
	};
	char text[64], again[64];

	(void)state;
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		size_t length = dealbox_text_safe(rows[n].from, SIZE_MAX, text, sizeof(text));

		assert_string_equal(text, rows[n].safe);
		assert_int_equal(length, strlen(text));
		dealbox_text_safe(text, sizeof(text), again, sizeof(again));
		assert_string_equal(again, text);
		assert_int_equal(dealbox_text_safe(rows[n].from, SIZE_MAX, NULL, 0), length);
	}
	assert_int_equal(dealbox_text_safe("abc", 2, text, sizeof(text)), 2);
	assert_string_equal(text, "ab");
}

static void no_sentence_is_cut_within_a_character(void **state)
{
	struct dealbox_problem problem = {
		.code = DEALBOX_CODE_TAG_REPEATED, .file = "Fr\xc3\xbch\33.pbn", .line = 1,
		.board = "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbcx",
		.text = "\xe2\x99\xa0\xe2\x99\xa0",
	};
	char whole[256], text[256], again[256];
	size_t length;

	(void)state;
	length = dealbox_problem_describe(&problem, false, whole, sizeof(whole));
	assert_int_equal(length, strlen(whole));
	assert_null(strchr(whole, 033));
	for (size_t size = 1; size < length; size++) {
		assert_int_equal(dealbox_problem_describe(&problem, false, text, size), length);
		assert_memory_equal(text, whole, strlen(text));
		/* UTF-8 is not changed */
		dealbox_text_safe(text, sizeof(text), again, sizeof(again));
		assert_string_equal(again, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_has_a_name_of_its_own),
		cmocka_unit_test(a_sentence_names_cards_only_when_asked),
		cmocka_unit_test(sentences_say_what_and_where),
		cmocka_unit_test(text_from_outside_is_made_safe),
		cmocka_unit_test(no_sentence_is_cut_within_a_character),
		cmocka_unit_test(the_sentence_of_a_code_is_what_a_message_is_made_of),
		cmocka_unit_test(a_report_keeps_the_first_of_each_kind_and_counts_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
