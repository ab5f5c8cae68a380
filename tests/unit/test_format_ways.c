// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Text formats have two readers: a fast one for lines as programs write them, and a complete one
 * that accepts everything allowed and reports all errors. Both must give the same result for every
 * byte at every place.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "deals.h"

/* Three deals; H1..H4 are the hands of the first. */
#define H1 "Q8.4.AQT3.AQT963"
#define H2 "AKJ43.97652.4.K8"
#define H3 "T9652.T3.K72.J52"
#define H4 "7.AKQJ8.J9865.74"
#define A H1 " " H2 " " H3 " " H4
#define B "754.JT2.K732.AJ6 QJ9832..A9.KQT95 6.AQ86.QJT864.82 AKT.K97543.5.743"
#define C "JT8762.42.QJ.QJ5 K3.QT9.T7632.932 Q94.KJ.98.AKT864 A5.A87653.AK54.7"
#define DEAL(cards) "[Deal \"N:" cards "\"]\n"
#define BOARD(n) "[Board \"" #n "\"]\n"

/* Write the same text in a form that the fast reader does not take. Returns its size. */
typedef size_t other_way(const char *text, size_t size, char *out);

struct read {
	struct dealbox_set *set;
	struct dealbox_report *report;
	struct dealbox_format_tally tally;
};

static struct read read_text(const char *format, const char *text, size_t size)
{
	struct read read = { dealbox_set_new(NULL), dealbox_report_new(), { 0 } };

	dealbox_format_read_memory(dealbox_format_find(format), text, size, "t", read.set,
				   read.report, &read.tally);
	return read;
}

static void done(struct read *read)
{
	dealbox_set_free(read->set);
	dealbox_report_free(read->report);
}

/* Everything that was read and reported, except for line ends. */
static void describe_all(const struct read *read, char *out, size_t room)
{
	const struct dealbox_problem *problem;
	struct dealbox_board board;
	size_t used;

	used = (size_t)snprintf(out, room, "%zu games, %zu complete:", read->tally.games,
				read->tally.complete);
	for (size_t i = 0; !dealbox_set_get(read->set, i, &board); i++) {
		char deal[DEALBOX_DEAL_TEXT];

		dealbox_deal_format(&board.deal, DEALBOX_NORTH, deal);
		used += (size_t)snprintf(out + used, room - used, " %u/%s/%d/%d/%s@%u",
					 board.number, board.label ? board.label : "", board.dealer,
					 board.vulnerable, deal, board.line);
	}
	for (size_t i = 0; (problem = dealbox_report_get(read->report, i)); i++)
		if (problem->code != DEALBOX_CODE_LINE_ENDS_MIXED &&
		    strcmp(problem->text, "lines not ended by CR LF"))
			used += (size_t)snprintf(out + used, room - used,
						 " %s@%u:%s:%u:%u:%u:%u:%s",
						 dealbox_code_name(problem->code), problem->line,
						 problem->board, problem->card, problem->hand,
						 problem->hands, problem->count, problem->text);
	/* the two CSV texts differ in semicolons, also within labels: make them commas */
	for (; used; used--)
		out[used - 1] = out[used - 1] == ';' ? ',' : out[used - 1];
}

static void check_both_ways(const char *format, other_way *other, const char *text, size_t size)
{
	static char other_text[4096], shortly[32768], at_length[32768];
	struct read one = read_text(format, text, size);
	struct read two = read_text(format, other_text, other(text, size, other_text));

	describe_all(&one, shortly, sizeof(shortly));
	describe_all(&two, at_length, sizeof(at_length));
	if (strcmp(shortly, at_length))
		fail_msg("%.*s\nis read as    %s\nthe other way %s", (int)size, text, shortly,
			 at_length);
	done(&one);
	done(&two);
}

/* Checks the file; with every byte, or those of `some`, at every place; and without each byte. */
static void check_file(const char *format, other_way *other, const char *file, const char *some)
{
	const size_t size = strlen(file);
	const unsigned int count = some ? (unsigned int)strlen(some) + 1 : 256;
	char text[1024];

	assert_true(size < sizeof(text));
	check_both_ways(format, other, file, size);
	for (size_t i = 0; i < size; i++) {
		for (unsigned int n = 0; n < count; n++) {
			memcpy(text, file, size);
			text[i] = some ? some[n] : (char)n;
			check_both_ways(format, other, text, size);
		}
		memmove(text + i, file + i + 1, size - i - 1);
		check_both_ways(format, other, text, size - 1);
	}
}

/* Returns true if the file is good, so that the fast reader takes it. */
static void check_good(const char *format, const char *file, unsigned int boards)
{
	struct read read = read_text(format, file, strlen(file));

	assert_int_equal(dealbox_report_count(read.report), 0);
	assert_int_equal(dealbox_set_count(read.set), boards);
	done(&read);
}

/* PBN: all lines are ended by CR alone. */
static size_t with_cr(const char *text, size_t size, char *out)
{
	size_t used = 0;

	for (size_t i = 0; i < size; i++)
		if (text[i] != '\n')
			out[used++] = text[i];
		else if (!i || text[i - 1] != '\r')
			out[used++] = '\r';
	return used;
}

static void pbn(void **state)
{
	static const char *const files[] = {
		BOARD(1) "[Dealer \"N\"]\n[Vulnerable \"None\"]\n" DEAL(A) "\n",
		"% EXPORT\n" BOARD(1) "[Scoring \"\"]\r\n[Annotator \"x\"]\r\n" DEAL(A) "\n"
		BOARD(2) "[Scoring \"IMP\"]\r\n[Annotator \"x\"]\r\n"
			 "[Deal \"W:" H4 " " H1 " " H2 " " H3 "\"]\n",
		DEAL(A) DEAL(B) BOARD(1) BOARD(2) "[Note \"1\"]\n[Note \"2\"]\n\n" DEAL(C) BOARD(4)
		"[Site \"12345678901234567\"]\n",
		/* the first tag is malformed; the second deal is invalid */
		BOARD(2) DEAL(B) "\n" BOARD(1) "[Deal \"N:" A "\"x\n[Deal \"N:" A ".\"]\n",
		/* tags in an unusual order */
		DEAL(A) BOARD(1) "\n" BOARD(2) DEAL(B) BOARD(3) "[Dealer \"N\"]\n",
		"% EXPORT\n" DEAL(A) BOARD(1) "\n" DEAL(B) BOARD(2) "\n",
		/* all cards, but one hand lacks a suit, and another has five */
		BOARD(1) DEAL("AKQJT98765432.A. .KQJT98765432... "
			      "..AKQJT98765432. ...AKQJT98765432") "\n"
		BOARD(2) DEAL("AKQJT98765432.A. .KQJT98765432... "
			      "..AKQJT98765432. ...AKQJT98765432"),
	};

	(void)state;
	check_good("pbn", files[0], 1);
	check_file("pbn", with_cr, files[0], NULL);
	for (size_t f = 1; f < sizeof(files) / sizeof(*files); f++)
		check_file("pbn", with_cr, files[f], "\"\\#\t\n\r .]A2-");
}

/* LIN: a tab before each bar, and a blank behind the D of a hand. */
static size_t with_blanks(const char *text, size_t size, char *out)
{
	size_t used = 0;

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '|')
			out[used++] = '\t';
		out[used++] = text[i];
		if (text[i] == 'D' && i && text[i - 1] != '|' && i + 1 < size && text[i + 1] != '|')
			out[used++] = ' ';
	}
	return used;
}

static void lin(void **state)
{
	static const char *const files[] = {
		"qx|o1|md|3ST9652HT3DK72CJ52,S7HAKQJ8DJ9865C74,SQ8H4DAQT3CAQT963|rh||"
		"ah|Board 1|sv|o|pg||\n",
		/* all hands; suits in another order; one of them twice */
		"qx|o1|md|3ST9652HT3DK72CJ52,S7HAKQJ8DJ9865C74,SQ8H4DAQT3CAQT963,"
		"SAKJ43H97652D4CK8|\r\nah|Board 1|sv|o|\r\npg||"
		"qx|o2|md|4ST9652DT3HK72CJ52,S7HAKQJ8DJ9865C74,SQ8H4DAQT3CAQT963,|sv|n|pg||\n"
		"qx|o3|md|4ST9652HT3DK72DJ52,S7HAKQJ8DJ9865C74,SQ8H4DAQT3CAQT963,|sv|n|pg||",
	};

	(void)state;
	check_good("lin", files[0], 1);
	check_file("lin", with_blanks, files[0], NULL);
	check_file("lin", with_blanks, files[1], "\t\n\r |,SHdCA1024");
}

/* CSV: semicolons instead of commas. */
static size_t with_semicolons(const char *text, size_t size, char *out)
{
	for (size_t i = 0; i < size; i++)
		out[i] = text[i] == ',' ? ';' : text[i];
	return size;
}

static void csv(void **state)
{
	static const char *const files[] = {
		"\"Q8\",\"4\",\"AQT3\",\"AQT963\",\"AKJ43\",\"97652\",\"4\",\"K8\","
		"\"T9652\",\"T3\",\"K72\",\"J52\",\"7\",\"AKQJ8\",\"J9865\",\"74\","
		"\"1\",\"N/None\"\r\n",
		/* voids; hands of 12 and 14; quoted commas and quotes; more and fewer fields */
		"\"AKQJT98765432\",\"\",\"\",\"\",\"\",\"AKQJT98765432\",\"\",\"\","
		"\"\",\"\",\"AK\",\"QJT98765432\",\"\",\"\",\"QJT98765432\",\"AK\",\"19\",\"e/-\"\n"
		"\"AKQJT98765432\",\",\",\"\"\"\",\"\",\"AKQJT98765432\",\"\",\"\","
		"\"\",\"\",\"AK\",\"QJT98765432\",\"\",\"\",\"QJT98765432\",\"AK\",\"2\",\"E/NS\"\n"
		"\"AKQJT9876543\",\"\",\"\",\"\",\"2\",\"AKQJT98765432\",\"\",\"\",2,3\n"
		"\"AKQJT98765432\",\",\",\"\",\"\",\"AKQJT98765432\",\"\",\"\","
		"\"\",\"\",\"AK\",\"QJT98765432\",\"\",\"\",\"QJT98765432\",\"AK\",\"19\",\"e/-\"\n"
		"\"AKQJT98765432\",\"\",\"\",\"\",\"\",\"AKQJT98765432\",\"\",\"\","
		"\"\",\"\",\"AK\",\"QJT98765432\",\"\",\"\",\"QJT98765432\",\"AK\","
		"\"1\",\"E/NS\",\"\"\n",
	};

	(void)state;
	check_good("csv", files[0], 1);
	check_file("csv", with_semicolons, files[0], NULL);
	check_file("csv", with_semicolons, files[1], "\"\t\n\r ,/-A12");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pbn),
		cmocka_unit_test(lin),
		cmocka_unit_test(csv),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
