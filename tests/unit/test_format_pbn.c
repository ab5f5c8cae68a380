// SPDX-License-Identifier: LGPL-2.1-or-later
/* PBN: dialects, defects, and the export format. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

struct read {
	struct dealbox_set *set;
	struct dealbox_report *report;
	struct dealbox_format_tally tally;
	int err;
};

static struct read read_text(const char *text, size_t size)
{
	struct read read = { dealbox_set_new(NULL), dealbox_report_new(), { 0 }, 0 };

	read.err = dealbox_format_read_memory(dealbox_format_find("pbn"), text, size, "t",
					      read.set, read.report, &read.tally);
	return read;
}

static void done(struct read *read)
{
	dealbox_set_free(read->set);
	dealbox_report_free(read->report);
}

/*
 * Returns the contents as "board=deal" for each complete deal (deal A, B, C), then " | ", then the
 * codes with their lines as "code@line".
 */
static void describe(const struct read *read, char *out, size_t room)
{
	static const char *const known[] = { A, B, C };
	const struct dealbox_problem *problem;
	struct dealbox_board board;
	char name[80], deal[DEALBOX_DEAL_TEXT];
	size_t used = 0;

	for (size_t i = 0; !dealbox_set_get(read->set, i, &board); i++) {
		char letter = '?';

		dealbox_deal_format(&board.deal, DEALBOX_NORTH, deal);
		for (int k = 0; k < 3; k++)
			if (!strcmp(deal + 2, known[k]))
				letter = (char)('A' + k);
		dealbox_board_name(&board, name, sizeof(name));
		used += (size_t)snprintf(out + used, room - used, "%s=%c ", name, letter);
	}
	used += (size_t)snprintf(out + used, room - used, "|");
	for (size_t i = 0; (problem = dealbox_report_get(read->report, i)); i++)
		used += (size_t)snprintf(out + used, room - used, " %s@%u",
					 dealbox_code_name(problem->code), problem->line);
}

struct example {
	const char *text, *expected;
};

static void check_examples(const struct example *examples, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct read read = read_text(examples[i].text, strlen(examples[i].text));
		char found[2000];

		assert_int_equal(read.err, 0);
		describe(&read, found, sizeof(found));
		if (strcmp(found, examples[i].expected))
			fail_msg("%s\nis read as:  %s\nand not as:  %s", examples[i].text,
				 found, examples[i].expected);
		done(&read);
	}
}

#define CHECK_EXAMPLES(examples) \
	check_examples(examples, sizeof(examples) / sizeof(*(examples)))

static void layouts_that_the_import_format_allows(void **state)
{
	static const struct example examples[] = {
		{ BOARD(1) DEAL(A) "\n" BOARD(2) DEAL(B), "1=A 2=B |" },
		/* from any seat */
		{ BOARD(1) "[Deal \"E:" H2 " " H3 " " H4 " " H1 "\"]\n", "1=A |" },
		{ BOARD(1) "[Deal \"W:" H4 " " H1 " " H2 " " H3 "\"]\n", "1=A |" },
		/* several tags a line, tags over lines, any white space */
		{ "[Board \"1\"] [Dealer \"N\"] [Deal \"N:" A "\"]\n", "1=A |" },
		{ "[Board \"1\"][Deal \"N:" A "\"]", "1=A |" },
		{ "[  Board\n\t\"1\"\n]\n[Deal\t\"N:" A "\"  ]\n\n" BOARD(2) DEAL(B),
		  "1=A 2=B |" },
		/* tags in any order */
		{ DEAL(A) "[Vulnerable \"None\"]\n[Dealer \"N\"]\n" BOARD(1), "1=A |" },
		/* semi-empty lines */
		{ BOARD(1) DEAL(A) " \t \n" BOARD(2) DEAL(B), "1=A 2=B |" },
		/* ends of lines */
		{ "[Board \"1\"]\r\n[Deal \"N:" A "\"]\r\n\r\n[Board \"2\"]\r\n[Deal \"N:" B
		  "\"]\r\n", "1=A 2=B |" },
		{ "[Board \"1\"]\r[Deal \"N:" A "\"]\r\r[Board \"2\"]\r[Deal \"N:" B "\"]\r",
		  "1=A 2=B |" },
		{ "[Board \"1\"]\r\n[Deal \"N:" A "\"]\n\n[Board \"2\"]\r[Deal \"N:" B "\"]",
		  "1=A 2=B | line-ends-mixed@4" },
		/* lower case, and ranks in any order */
		{ "[Board \"1\"]\n[Dealer \"n\"]\n[Vulnerable \"none\"]\n[Deal \"n:"
		  "8q.4.3tqa.aqt963 akj43.97652.4.k8 t9652.t3.k72.j52 7.akqj8.j9865.74"
		  "\"]\n", "1=A |" },
		/* words for the vulnerability */
		{ BOARD(1) "[Vulnerable \"Love\"]\n" DEAL(A) "\n" BOARD(4)
		  "[Vulnerable \"Both\"]\n" DEAL(B) "\n" BOARD(8) "[Vulnerable \"-\"]\n"
		  DEAL(C), "1=A 4=B 8=C |" },
		{ BOARD(2) "[Vulnerable \"N-S \"]\n" DEAL(A),
		  "2=A | vulnerable-word@2" },
		/* not known, and not given */
		{ BOARD(1) "[Dealer \"?\"]\n[Vulnerable \"\"]\n" DEAL(A), "1=A |" },
		/* sections, with strings in tables and notes */
		{ BOARD(1) DEAL(A) "[Auction \"N\"]\n1NT =1= $1 Pass 3NT AP\n[Note \"1:x\"]\n"
		  "[Note \"2:y\"]\n[Play \"E\"]\nSA S2 - -\n*\n[ScoreTable \"Rank;Names\"]\n"
		  "1 \"a; [Deal\"\n2 \"{\"\n\n" BOARD(2) DEAL(B), "1=A 2=B |" },
		/* escapes in values */
		{ "[Event \"a \\\"b\\\" [c] \\\\\"]\n" BOARD(1) DEAL(A), "1=A |" },
		/* Latin-1 and UTF-8 */
		{ "[Event \"Troms\xf8\"]\n" BOARD(1) DEAL(A), "1=A |" },
		{ "[Event \"Troms\xc3\xb8\"]\n" BOARD(1) DEAL(A), "1=A |" },
		{ "\xef\xbb\xbf" BOARD(1) DEAL(A), "1=A | byte-order-mark@1" },
		/* escape lines, also within a game */
		{ "% PBN 2.1\n" BOARD(1) "%[Board \"9\"]\n" DEAL(A), "1=A |" },
		/* comments */
		{ "{ one\n\ntwo; three % }\n" BOARD(1) "; [Deal \"x\"] {\n" DEAL(A)
		  "{4}[Site \"\"]{\n%\n}\n", "1=A |" },
		{ BOARD(1) "[Dealer \"N\"] {x} [Deal \"N:" A "\"] ;y\n\n" BOARD(2) DEAL(B),
		  "1=A 2=B |" },
		/* labels */
		{ "[Board \"2-1\"]\n" DEAL(A), "2-1=A | board-not-number@1" },
		{ "[Board \" 007 \"]\n" DEAL(A), "7=A |" },
		{ "[Board \"0\"]\n" DEAL(A), "0=A | board-not-number@1" },
		{ "[Board \"2147483648\"]\n" DEAL(A),
		  "2147483648=A | board-not-number@1" },
		{ DEAL(A), "=A | board-missing@1" },
		/* inheritance */
		{ BOARD(3) DEAL(A) "\n[Board \"#\"]\n" DEAL(A), "3=A 3=A |" },
		{ "[Event \"##x\"]\n[Site \"\"]\n\n[Generator \"y\"]\n\n" BOARD(1) DEAL(A),
		  "1=A |" },
		{ "[Board \"##5\"]\n" DEAL(A) "\n[Dealer \"N\"]\n" DEAL(B), "5=A 5=B |" },
		{ BOARD(1) "[Dealer \"#\"]\n" DEAL(A),
		  "1=A | inheritance-forbidden@2" },
		{ BOARD(1) DEAL(A) "\n" BOARD(2) "[Deal \"#\"]\n",
		  "1=A | inheritance-forbidden@5 deal-not-given@5" },
	};

	(void)state;
	CHECK_EXAMPLES(examples);
}

static void what_was_repaired_is_noted(void **state)
{
	static const struct example examples[] = {
		{ BOARD(1) "[Deal \"N:Q8.4.AQ103.AQ10963 " H2 " " H3 " " H4 "\"]\n",
		  "1=A | ten-as-10@2" },
		/* "-" for a void */
		{ BOARD(1) "[Deal \"N:754.JT2.K732.AJ6 QJ9832.-.A9.KQT95 6.AQ86.QJT864.82 "
		  "AKT.K97543.5.743\"]\n", "1=B | void-as-dash@2" },
		{ BOARD(1) "[Deal \"N:" H1 "  " H2 " " H3 " " H4 "\"]\n",
		  "1=A | spacing@2" },
		{ BOARD(1) "[Deal \" N:" A " \"]\n", "1=A | spacing@2" },
		{ BOARD(1) BOARD(1) DEAL(A) DEAL(A), "1=A | tag-repeated@2 tag-repeated@4" },
		{ "[X \"1\"]\n[X \"2\"]\n" BOARD(1) DEAL(A), "1=A | tag-repeated@2" },
		/* a missing empty line: the next deal is not lost */
		{ BOARD(1) DEAL(A) BOARD(2) DEAL(B),
		  "1=A 2=B | game-not-separated@3" },
		{ "some text\n" BOARD(1) DEAL(A), "1=A | text-stray@1" },
		{ "[Board \"1\"] text\n" DEAL(A), "1=A | text-stray@1" },
		{ BOARD(1) "\x01\x02\n" DEAL(A),
		  "1=A | byte-invalid@2 text-stray@2" },
	};

	(void)state;
	CHECK_EXAMPLES(examples);
}

static void defects_have_their_codes(void **state)
{
	static const struct example examples[] = {
		/* a card of East's is wrong: one card twice, one missing */
		{ BOARD(7) "[Deal \"N:" H1 " " H2 " T9652.T3.K72.J52 A.AKQJ8.J9865.74\"]\n",
		  "| card-repeated@2 card-missing@2 no-deals@0" },
		{ BOARD(7) "[Deal \"N:QQ.4.AQT3.AQT963 " H2 " " H3 " " H4 "\"]\n",
		  "| card-repeated@2 card-missing@2 no-deals@0" },
		{ BOARD(7) "[Deal \"N:8.4.AQT3.AQT963 " H2 " " H3 " " H4 "\"]\n",
		  "| card-missing@2 hand-size@2 no-deals@0" },
		{ BOARD(7) "[Deal \"N:8.4.AQT3.AQT963 Q" H2 " " H3 " " H4 "\"]\n",
		  "| hand-size@2 hand-size@2 no-deals@0" },
		{ BOARD(7) "[Deal \"N:Q1.4.AQT3.AQT963 " H2 " " H3 " " H4 "\"]\n",
		  "| bad-rank@2 card-missing@2 no-deals@0" },
		{ BOARD(7) "[Deal \"N:Q8.4.AQT3.xxxxxx " H2 " " H3 " " H4 "\"]\n",
		  "| bad-rank@2 card-missing@2 card-missing@2 card-missing@2 card-missing@2 "
		  "card-missing@2 card-missing@2 no-deals@0" },
		{ BOARD(7) "[Deal \"N:" H1 " " H2 " " H3 "\"]\n",
		  "| hands-number@2 no-deals@0" },
		{ BOARD(7) "[Deal \"N:" A " " H1 "\"]\n",
		  "| hands-number@2 no-deals@0" },
		{ BOARD(7) "[Deal \"N:" H1 " - " H3 " -\"]\n",
		  "| hand-not-given@2 hand-not-given@2 no-deals@0" },
		{ BOARD(7) "[Deal \"N:Q8.4.AQT3AQT963 " H2 " " H3 " " H4 "\"]\n",
		  "| bad-suit@2 no-deals@0" },
		{ BOARD(7) "[Deal \"X:" A "\"]\n", "| deal-syntax@2 no-deals@0" },
		{ BOARD(7) "[Deal \"" A "\"]\n", "| deal-syntax@2 no-deals@0" },
		{ BOARD(7) "[Deal \"\"]\n", "| deal-not-given@2 no-deals@0" },
		{ BOARD(7), "| deal-not-given@1 no-deals@0" },
		/* a bracket is missing; the end of the file is missing */
		{ BOARD(1) "Deal \"N:" A "\"]\n\n" BOARD(2) DEAL(B),
		  "2=B | tag-broken@2 deal-not-given@1" },
		{ "Board \"1\"]\n" DEAL(A), "=A | tag-broken@1 board-missing@2" },
		{ "[Dealer \"N\"]\n[Auction \"N\"]\nDeal \"N:" A "\"]\n\n" BOARD(2) DEAL(B),
		  "2=B | tag-broken@3 deal-not-given@1" },
		{ BOARD(1) DEAL(A) "\n[Event \"x\"]\n", "1=A | deal-not-given@4" },
		/* contradictory numbers */
		{ BOARD(1) BOARD(2) DEAL(A), "1=A | tag-contradicts@2" },
		{ BOARD(1) DEAL(A) DEAL(B) "\n" BOARD(2) DEAL(C), "2=C | tag-contradicts@3" },
		/* placeholders */
		{ BOARD(7) "[Deal \"N:AKQJT98765432... .AKQJT98765432.. "
		  "..AKQJT98765432. ...AKQJT98765432\"]\n",
		  "| placeholder-deal@2 no-deals@0" },
		{ BOARD(7) "[Deal \"N:...AKQJT98765432 .AKQJT98765432.. "
		  "AKQJT98765432... ..AKQJT98765432.\"]\n",
		  "| placeholder-deal@2 no-deals@0" },
		{ BOARD(7) "[Deal \"N:AT62.J73.Q84.K95 K95.AT62.J73.Q84 Q84.K95.AT62.J73 "
		  "J73.Q84.K95.AT62\"]\n", "| placeholder-deal@2 no-deals@0" },
		{ BOARD(2) "[Dealer \"N\"]\n[Vulnerable \"All\"]\n" DEAL(A),
		  "2=A | dealer-contradicts@2 vulnerable-contradicts@3" },
		{ BOARD(2) "[Dealer \"X\"]\n[Vulnerable \"Maybe\"]\n" DEAL(A),
		  "2=A | dealer-invalid@2 vulnerable-invalid@3" },
	};

	(void)state;
	CHECK_EXAMPLES(examples);
}

static void one_bad_game_does_not_cost_the_next(void **state)
{
	static const struct example examples[] = {
		{ BOARD(1) "[Deal \"N:" A "]\n\n" BOARD(2) DEAL(B),
		  "2=B | tag-broken@2 deal-not-given@1" },
		{ "[Board \"1]\n" DEAL(A) "\n" BOARD(2) DEAL(B),
		  "=A 2=B | tag-broken@1 board-missing@2" },
		{ "[\n\n" BOARD(2) DEAL(B), "2=B | tag-broken@1" },
		{ "[Board\n\n" BOARD(2) DEAL(B), "2=B | tag-broken@1" },
		{ "[[[\n" BOARD(2) DEAL(B), "2=B | tag-broken@1" },
		{ BOARD(1) DEAL(A) "{ never closed\n\n" BOARD(2) DEAL(B),
		  "1=A 2=B | comment-unclosed@3" },
		{ BOARD(1) DEAL(A) "{ never closed\n\n" BOARD(2) DEAL(B) "\n" BOARD(3)
		  DEAL(C) "{ closed }\n", "1=A 2=B 3=C | comment-unclosed@3" },
		{ BOARD(1) DEAL(A) "{ never closed\n\n[Generator \"x\"]\n" BOARD(2) DEAL(B),
		  "1=A 2=B | comment-unclosed@3" },
		{ BOARD(1) DEAL(A) "{", "1=A | comment-unclosed@3" },
		{ BOARD(1) DEAL(A) "{ never closed\n\n" BOARD(2) DEAL(B) "{ closed }\n\n"
		  "{ never closed\n\n" BOARD(3) DEAL(C), "1=A 2=B 3=C | comment-unclosed@3 "
		  "comment-unclosed@9" },
		{ BOARD(1) DEAL(A) "{ never closed\n\n" BOARD(2) "[Event \"a } b\"]\n" DEAL(B),
		  "1=A 2=B | comment-unclosed@3" },
		/* a game in a comment is not dealt */
		{ BOARD(1) DEAL(A) "\n{ of last year\n\n" BOARD(2) DEAL(B) "}\n\n" BOARD(2)
		  DEAL(C), "1=A 2=C | comment-holds-game@4" },
		{ "{\n\n" BOARD(1) DEAL(A) "\n" BOARD(2) DEAL(B) "\n}\n" BOARD(2) DEAL(C)
		  "{ end }\n", "2=C | comment-holds-game@1" },
		/* but a comment may have empty lines, and brackets */
		{ BOARD(1) DEAL(A) "{ see\n\n[1] and\n\n[Board \"x\"] }\n\n" BOARD(2)
		  DEAL(B), "1=A 2=B |" },
		{ BOARD(1) "[Deal \"N:" A " " A " " A "\"]\n\n" BOARD(2) DEAL(B),
		  "2=B | hands-number@2" },
	};

	(void)state;
	CHECK_EXAMPLES(examples);
}

static void a_nul_does_not_end_the_file(void **state)
{
	static const char text[] = BOARD(1) "\0\0\n" DEAL(A) "\n" BOARD(2) DEAL(B);
	struct read read = read_text(text, sizeof(text) - 1);

	(void)state;
	assert_int_equal(dealbox_set_count(read.set), 2);
	assert_int_equal(dealbox_report_get(read.report, 0)->code, DEALBOX_CODE_BYTE_INVALID);
	done(&read);
}

static void problems_say_which_card_and_whose(void **state)
{
	static const char text[] = BOARD(7)
		"[Deal \"N:" H1 " " H2 " T9652.T3.K72.J52 A.AKQJ8.J9865.74\"]\n";
	struct read read = read_text(text, sizeof(text) - 1);
	const struct dealbox_problem *problem = dealbox_report_get(read.report, 0);

	(void)state;
	assert_int_equal(problem->code, DEALBOX_CODE_CARD_REPEATED);
	assert_int_equal(problem->card, 0);
	assert_int_equal(problem->hands, 1 << DEALBOX_EAST | 1 << DEALBOX_WEST);
	assert_string_equal(problem->board, "7");
	assert_string_equal(problem->file, "t");
	assert_int_equal(problem->line, 2);
	assert_int_equal(dealbox_report_get(read.report, 1)->card, 7);	/* S7 */
	assert_int_equal(read.tally.games, 1);
	assert_int_equal(read.tally.invalid, 1);
	done(&read);
}

static void a_declared_export_is_held_to_it(void **state)
{
	static const struct {
		const char *text, *rules;
	} examples[] = {
		{ "% EXPORT\r\n[Event \"\"]\r\n[Site \"\"]\r\n[Date \"\"]\r\n[Board \"1\"]\r\n"
		  "[West \"\"]\r\n[North \"\"]\r\n[East \"\"]\r\n[South \"\"]\r\n"
		  "[Dealer \"N\"]\r\n[Vulnerable \"None\"]\r\n[Deal \"N:" A "\"]\r\n"
		  "[Scoring \"\"]\r\n[Declarer \"\"]\r\n[Contract \"\"]\r\n[Result \"\"]\r\n",
		  "" },
		{ "% EXPORT\r\n[Event \"\"]\r\n[Site \"\"]\r\n[Date \"\"]\r\n[Board \"1\"]\r\n"
		  "[West \"\"]\r\n[North \"\"]\r\n[East \"\"]\r\n[South \"\"]\r\n"
		  "[Dealer \"N\"]\r\n[Vulnerable \"None\"]\r\n"
		  "[Deal \"N:" H1 " " H2 " " H3 " 7.AKQJ8.J9865.47\"]\r\n"
		  "[Scoring \"\"]\r\n[Declarer \"\"]\r\n[Contract \"\"]\r\n[Result \"\"]\r\n",
		  "ranks not descending@12 " },
		{ "% EXPORT\n[Dealer \"N\"]\n[Board \"1\"]\n\t\n[Dealer \"E\"]\n"
		  "[Deal \"N:8Q.4.AQT3.AQT963 " H2 " " H3 " " H4 "\"]\n[Board \"2\"] [X \"\"]\n",
		  "lines not ended by CR LF@1 tabs@4 the layout of tags@7 "
		  "mandatory tags are missing@6 tags are out of order@3 "
		  "first hand not the dealer's@6 ranks not descending@6 " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		struct read read = read_text(examples[i].text, strlen(examples[i].text));
		const struct dealbox_problem *problem;
		char found[512] = "";

		for (size_t j = 0; (problem = dealbox_report_get(read.report, j)); j++)
			if (problem->code == DEALBOX_CODE_NOT_EXPORT)
				snprintf(found + strlen(found), sizeof(found) - strlen(found),
					 "%s@%u ", problem->text, problem->line);
		assert_string_equal(found, examples[i].rules);
		done(&read);
	}
}

static void a_long_line(void **state)
{
	static char text[5000];
	struct read read;

	(void)state;
	memset(text, 'x', 1000);
	text[0] = '{';
	text[998] = '}';
	text[999] = '\n';
	strcpy(text + 1000, BOARD(1) DEAL(A));
	read = read_text(text, strlen(text));
	assert_int_equal(dealbox_set_count(read.set), 1);
	assert_int_equal(dealbox_report_count(read.report), 1);
	assert_int_equal(dealbox_report_get(read.report, 0)->code, DEALBOX_CODE_LINE_LONG);
	assert_int_equal(dealbox_report_get(read.report, 0)->count, 999);
	done(&read);
}

/* Written files conform to PBN 2.1: our own reader checks a declared export. */
static void what_is_written_is_export_format(void **state)
{
	uint64_t seed = 11;
	struct dealbox_set *set = random_set(&seed, 30, 20);
	char path[] = "/tmp/dealbox-test-XXXXXX";
	int fd = mkstemp(path);
	struct read read;
	char text[20000];
	ssize_t size;

	(void)state;
	assert_int_equal(dealbox_format_write_fd(dealbox_format_find("pbn"), set, fd, path,
						 NULL), 0);
	size = pread(fd, text, sizeof(text) - 1, 0);
	assert_true(size > 0 && (size_t)size < sizeof(text) - 1);
	text[size] = '\0';
	read = read_text(text, (size_t)size);
	assert_int_equal(dealbox_report_count(read.report), 0);
	assert_true(same_deals(set, read.set));
	assert_memory_equal(text, "% PBN 2.1\r\n% EXPORT\r\n[Event \"\"]\r\n", 33);
	assert_memory_equal(text + size - 13, "[Result \"\"]\r\n", 13);
	done(&read);
	dealbox_set_free(set);
	close(fd);
	unlink(path);
}

/* -- the other contents of a game ---------------------------------------------------- */

static bool pick_some(const struct dealbox_board *board, void *context)
{
	size_t *left = context;

	(void)board;
	return *left && (*left)--;
}

/* Read text, keep its first boards, give the first one tags (NULL = none), and write them. */
static void write_tagged(const char *format, const char *text, size_t boards, const char *tags,
			 char *out, size_t room, struct dealbox_report *report)
{
	struct dealbox_set *set = dealbox_set_new(NULL);
	char path[] = "/tmp/dealbox-test-XXXXXX";
	int fd = mkstemp(path);
	ssize_t size;

	dealbox_set_keep_text(set);
	assert_int_equal(dealbox_format_read_memory(dealbox_format_find("pbn"), text, strlen(text),
						    "t", set, report, NULL), 0);
	dealbox_set_filter(set, pick_some, &boards);
	if (tags)
		assert_int_equal(dealbox_pbn_put_tags(set, 0, tags), 0);
	assert_int_equal(dealbox_format_write_fd(dealbox_format_find(format), set, fd, path,
						 report), 0);
	size = pread(fd, out, room - 1, 0);
	assert_true(size >= 0 && (size_t)size < room - 1);
	out[size] = '\0';
	dealbox_set_free(set);
	close(fd);
	unlink(path);
}

static void write_again(const char *format, const char *text, size_t boards, char *out, size_t room,
			struct dealbox_report *report)
{
	write_tagged(format, text, boards, NULL, out, room, report);
}

#define EMPTY(name)	"[" name " \"\"]\r\n"
#define HEAD		EMPTY("Event") EMPTY("Site") EMPTY("Date")
#define SEATS		EMPTY("West") EMPTY("North") EMPTY("East") EMPTY("South")
#define BEFORE(n)	"[Board \"" #n "\"]\r\n" SEATS
#define DEAL_A		"[Dealer \"N\"]\r\n[Vulnerable \"None\"]\r\n[Deal \"N:" A "\"]\r\n"
#define DEAL_B		"[Dealer \"E\"]\r\n[Vulnerable \"NS\"]\r\n[Deal \"E:QJ9832..A9.KQT95 " \
			"6.AQ86.QJT864.82 AKT.K97543.5.743 754.JT2.K732.AJ6\"]\r\n"
#define TAIL		EMPTY("Scoring") EMPTY("Declarer") EMPTY("Contract") EMPTY("Result")

static void what_a_game_says_is_kept(void **state)
{
	static const struct {
		const char *text;
		size_t boards;
		const char *written;
	} examples[] = {
		/* values of the mandatory tags, and nothing else: this is export format */
		{ "[Contract \"3NT\"]\n[Event \"\\\"x\\\"\"]\n" BOARD(1) DEAL(A), 9,
		  "% PBN 2.1\r\n% EXPORT\r\n[Event \"\\\"x\\\"\"]\r\n" EMPTY("Site") EMPTY("Date")
		  BEFORE(1) DEAL_A EMPTY("Scoring") EMPTY("Declarer")
		  "[Contract \"3NT\"]\r\n" EMPTY("Result") },
		/* other tags, sections with their notes, and lines after them */
		{ BOARD(1) "[Room \"Open\"]\n" DEAL(A) "[Auction \"N\"]\n1NT =1= AP\n"
		  "[Note \"1:x\"]\n[T \"A;B\"]\n1 \"{\"\n2 \"}\"\n", 9,
		  "% PBN 2.1\r\n" HEAD BEFORE(1) DEAL_A TAIL "[Room \"Open\"]\r\n"
		  "[Auction \"N\"]\r\n1NT =1= AP\r\n[Note \"1:x\"]\r\n[T \"A;B\"]\r\n"
		  "1 \"{\"\r\n2 \"}\"\r\n" },
		/* comments stay where they are; in front of the first game, and behind the last */
		{ "% PBN 2.1\n% EXPORT\n%by x\n; one\n\n{ two\n\n}\n" BOARD(1) "{3} " DEAL(A)
		  " ;four {\n\n" BOARD(2) DEAL(B) "\n\n{ last }\n", 9,
		  "% PBN 2.1\r\n%by x\r\n; one\r\n{ two\r\n\r\n}\r\n" HEAD
		  "[Board \"1\"]\r\n{3} \r\n" SEATS DEAL_A " ;four {\r\n" TAIL "\r\n" HEAD
		  BEFORE(2) DEAL_B TAIL "\r\n{ last }\r\n" },
		/* a board that was not picked takes its own with it */
		{ BOARD(1) DEAL(A) "{1}\n\n{2}\n" BOARD(2) DEAL(B), 1,
		  "% PBN 2.1\r\n" HEAD BEFORE(1) DEAL_A "{1}\r\n" TAIL },
		/* values that are inherited are written out */
		{ "[Event \"##x\"]\n[Room \"##y\"]\n\n" BOARD(1) "[Site \"s\"]\n" DEAL(A) "\n"
		  BOARD(2) "[Site \"#\"]\n[Room \"z\"]\n" DEAL(B), 9,
		  "% PBN 2.1\r\n[Event \"x\"]\r\n[Site \"s\"]\r\n" EMPTY("Date") BEFORE(1)
		  DEAL_A TAIL "[Room \"y\"]\r\n\r\n[Event \"x\"]\r\n[Site \"s\"]\r\n"
		  EMPTY("Date") BEFORE(2) DEAL_B TAIL "[Room \"z\"]\r\n" },
		/* two games without an empty line between them */
		{ BOARD(1) DEAL(A) "{1}\n" BOARD(2) DEAL(B) "[X \"2\"]\n", 9,
		  "% PBN 2.1\r\n" HEAD BEFORE(1) DEAL_A "{1}\r\n" TAIL "\r\n" HEAD BEFORE(2)
		  DEAL_B TAIL "[X \"2\"]\r\n" },
	};
	char out[8000], again[8000];

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		write_again("pbn", examples[i].text, examples[i].boards, out, sizeof(out), NULL);
		assert_string_equal(out, examples[i].written);
		write_again("pbn", out, 9, again, sizeof(again), NULL);
		assert_string_equal(again, out);
	}
}

/* Text that would be read differently is not written: here the comment swallows the next game. */
static void what_cannot_be_kept_is_said(void **state)
{
	static const char open[] = BOARD(1) DEAL(A) "{ never closed\n\n" BOARD(2) DEAL(B);
	struct dealbox_report *report = dealbox_report_new();
	char out[8000];

	(void)state;
	write_again("pbn", open, 9, out, sizeof(out), report);
	assert_string_equal(out, "% PBN 2.1\r\n% EXPORT\r\n" HEAD BEFORE(1) DEAL_A TAIL "\r\n" HEAD
			    BEFORE(2) DEAL_B TAIL);
	assert_int_equal(dealbox_report_get(report, 1)->code, DEALBOX_CODE_NOT_CARRIED);
	assert_string_equal(dealbox_report_get(report, 1)->board, "1");
	dealbox_report_free(report);

	/* no other format has a place for it */
	report = dealbox_report_new();
	write_again("csv", BOARD(1) DEAL(A) "{x}\n", 9, out, sizeof(out), report);
	assert_int_equal(dealbox_report_count(report), 1);
	assert_int_equal(dealbox_report_get(report, 0)->code, DEALBOX_CODE_NOT_WRITTEN);
	dealbox_report_free(report);
	report = dealbox_report_new();
	write_again("csv", BOARD(1) "[Event \"?\"]\n[Site \"\"]\n" DEAL(A), 9, out, sizeof(out),
		    report);
	assert_int_equal(dealbox_report_count(report), 0);
	dealbox_report_free(report);
}

static void tags_of_the_caller_replace_others(void **state)
{
	static const char tags[] = "[A \"1\"]\n[T \"X\"]\n1\n2\n";
	static const struct {
		const char *text, *written;	/* what stands behind DEAL_A */
	} examples[] = {
		{ "", TAIL "[A \"1\"]\r\n[T \"X\"]\r\n1\r\n2\r\n" },
		/* behind the mandatory tags, and in front of all others */
		{ "[Room \"Open\"]\n[Auction \"N\"]\nAP\n",
		  TAIL "[A \"1\"]\r\n[T \"X\"]\r\n1\r\n2\r\n[Room \"Open\"]\r\n"
		  "[Auction \"N\"]\r\nAP\r\n" },
		/* with their sections, but not with comments; longer names are others */
		{ "[T \"Y\"]\n7\n8 {x\n9}\n{[A \"4\"]\n}\n%[A \"5\"]\n10\n[A \"3\"]\n[AA \"2\"]\n",
		  TAIL "[A \"1\"]\r\n[T \"X\"]\r\n1\r\n2\r\n{[A \"4\"]\r\n}\r\n%[A \"5\"]\r\n"
		  "[AA \"2\"]\r\n" },
		/* in the game, although text follows it */
		{ "{[Room \"\"]}\n\n{ last }\n",
		  "{[Room \"\"]}\r\n" TAIL "[A \"1\"]\r\n[T \"X\"]\r\n1\r\n2\r\n\r\n{ last }\r\n" },
		/* once is enough */
		{ "[A \"1\"]\n[A \"1\"]\n", TAIL "[A \"1\"]\r\n[T \"X\"]\r\n1\r\n2\r\n" },
	};
	struct dealbox_set *set = dealbox_set_new(NULL);
	char text[2000], expected[2000], out[2000];

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		snprintf(text, sizeof(text), "%s%s", BOARD(1) DEAL(A), examples[i].text);
		snprintf(expected, sizeof(expected), "%s%s", "% PBN 2.1\r\n" HEAD BEFORE(1) DEAL_A,
			 examples[i].written);
		write_tagged("pbn", text, 1, tags, out, sizeof(out), NULL);
		assert_string_equal(out, expected);
		write_tagged("pbn", out, 1, tags, text, sizeof(text), NULL);
		assert_string_equal(text, out);
	}
	assert_int_equal(dealbox_pbn_put_tags(set, 0, tags), -ENOENT);
	dealbox_set_free(set);
}

/* Apart from the deals: nothing that deals or writes a set meets it. */
static void what_is_known_of_a_partial_deal_is_kept(void **state)
{
	static const char text[] =
		"[Board \"1\"]\n[Deal \"N:AKQJT98765432... - - -\"]\n\n"
		"[Board \"2\"]\n"
		"[Deal \"N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432\"]\n"
		"\n"
		"[Board \"3\"]\n"
		"[Deal \"N:AKQJT98765432... .AKQJT98765432.. ..AKQ2.KQJT98765 ..JT9876543.A432\"]\n"
		"\n"
		"[Board \"a-1\"]\n[Dealer \"W\"]\n[Vulnerable \"EW\"]\n[Deal \"E:AK... - - -\"]\n\n"
		"[Board \"5\"]\n[Deal \"N:AK... A... - -\"]\n\n"
		"[Board \"6\"]\n"
		"[Deal \"N:AK32.AK32.AK32.A QJT9.QJT9.QJT9.K 876.876.8765.QJT -\"]\n\n";
	struct dealbox_set *set = dealbox_set_new(NULL), *other = dealbox_set_new(NULL);
	struct dealbox_format_tally tally;
	struct dealbox_board board;
	size_t before = 99;

	(void)state;
	dealbox_set_keep_partial(set);
	dealbox_format_read_memory(NULL, text, sizeof(text) - 1, "a.pbn", set, NULL, &tally);
	/* board 2 is a placeholder, board 3 is complete, board 5 has a card twice */
	assert_int_equal(dealbox_set_count(set), 1);
	assert_int_equal(dealbox_set_get_partial(set, 0, &board, &before), 0);
	assert_int_equal(board.number, 1);
	assert_int_equal(board.deal.hand[DEALBOX_NORTH], 0x1fff);
	assert_int_equal(board.deal.hand[DEALBOX_EAST], 0);
	assert_string_equal(board.file, "a.pbn");
	assert_int_equal(board.line, 2);
	assert_int_equal(before, 0);
	assert_int_equal(dealbox_set_get_partial(set, 1, &board, &before), 0);
	assert_int_equal(before, 1);
	assert_string_equal(board.label, "a-1");
	assert_int_equal(board.dealer, DEALBOX_WEST);
	assert_int_equal(board.vulnerable, DEALBOX_VULNERABLE_EW);
	assert_int_equal(board.deal.hand[DEALBOX_EAST], 3);
	assert_int_equal(dealbox_set_get_partial(set, 2, &board, NULL), 0);
	assert_int_equal(board.number, 6);
	assert_int_equal(dealbox_cards_count(board.deal.hand[DEALBOX_SOUTH]), 13);
	assert_int_equal(board.deal.hand[DEALBOX_WEST], 0);
	assert_int_equal(dealbox_set_get_partial(set, tally.partial, &board, NULL), -ENOENT);
	dealbox_format_read_memory(NULL, text, sizeof(text) - 1, "a.pbn", other, NULL, NULL);
	assert_int_equal(dealbox_set_get_partial(other, 0, &board, NULL), -ENOENT);
	dealbox_set_free(set);
	dealbox_set_free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layouts_that_the_import_format_allows),
		cmocka_unit_test(what_was_repaired_is_noted),
		cmocka_unit_test(defects_have_their_codes),
		cmocka_unit_test(one_bad_game_does_not_cost_the_next),
		cmocka_unit_test(a_nul_does_not_end_the_file),
		cmocka_unit_test(problems_say_which_card_and_whose),
		cmocka_unit_test(a_declared_export_is_held_to_it),
		cmocka_unit_test(a_long_line),
		cmocka_unit_test(what_is_written_is_export_format),
		cmocka_unit_test(what_a_game_says_is_kept),
		cmocka_unit_test(what_cannot_be_kept_is_said),
		cmocka_unit_test(tags_of_the_caller_replace_others),
		cmocka_unit_test(what_is_known_of_a_partial_deal_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
