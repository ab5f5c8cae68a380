// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dealbox/report.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sentence.h"

#define KIND_MAX	1000	/* of each code are kept */

/* The report owns the file names; problems point to them. */
struct name {
	struct name *next;
	char text[];
};

struct dealbox_report {
	struct dealbox_problem *kept;
	size_t count, room;
	size_t found[2];	/* by severity */
	size_t kinds[DEALBOX_CODES];	/* by code */
	struct name *names;	/* last used first */
};

/*
 * In the sentences {card} {hands} {hand} {count} {expected} {text} stand for the
 * fields. revealed is there where it may say more than hidden, one where the number
 * 1 has another sentence.
 */
static const struct {
	const char *name;
	enum dealbox_severity severity;
	const char *hidden, *revealed, *one;
} codes[DEALBOX_CODES] = {
	[DEALBOX_CODE_NONE] = { "none", DEALBOX_SEVERITY_NOTE, "nothing" },

	[DEALBOX_CODE_FILE_UNREADABLE] = { "file-unreadable", DEALBOX_SEVERITY_PROBLEM,
		"cannot be read: {text}" },
	[DEALBOX_CODE_FILE_EMPTY] = { "file-empty", DEALBOX_SEVERITY_PROBLEM,
		"the file is empty" },
	[DEALBOX_CODE_FILE_TOO_LARGE] = { "file-too-large", DEALBOX_SEVERITY_PROBLEM,
		"larger than {count} MiB: this is no file of deals" },
	[DEALBOX_CODE_FILE_TRUNCATED] = { "file-truncated", DEALBOX_SEVERITY_PROBLEM,
		"the file ends within a deal: copy it again from its source" },
	[DEALBOX_CODE_FORMAT_UNKNOWN] = { "format-unknown", DEALBOX_SEVERITY_PROBLEM,
		"not a deal file in any format known here: export the deals as PBN from "
		"the program that made it, or name its format to `dealbox convert --from`" },
	[DEALBOX_CODE_NO_DEALS] = { "no-deals", DEALBOX_SEVERITY_PROBLEM,
		"no complete deal in this file" },
	[DEALBOX_CODE_ENCRYPTED] = { "encrypted", DEALBOX_SEVERITY_PROBLEM,
		"the deals are encrypted: export them in clear from the program that "
		"made the file" },
	[DEALBOX_CODE_BYTE_ORDER_MARK] = { "byte-order-mark", DEALBOX_SEVERITY_NOTE,
		"a byte order mark at the beginning was skipped" },
	[DEALBOX_CODE_BYTE_INVALID] = { "byte-invalid", DEALBOX_SEVERITY_NOTE,
		"a control character that does not belong here was skipped" },
	[DEALBOX_CODE_LINE_ENDS_MIXED] = { "line-ends-mixed", DEALBOX_SEVERITY_NOTE,
		"lines end in different ways" },
	[DEALBOX_CODE_NOT_EXPORT] = { "not-export", DEALBOX_SEVERITY_NOTE,
		"declared as export format, but does not obey it: {text}" },
	[DEALBOX_CODE_TRAILER_DISAGREES] = { "trailer-disagrees", DEALBOX_SEVERITY_PROBLEM,
		"the trailer that numbers the boards cannot be trusted, so they have no "
		"numbers: {text}" },
	[DEALBOX_CODE_COUNT_DISAGREES] = { "count-disagrees", DEALBOX_SEVERITY_PROBLEM,
		"{count} deals where {expected} are announced",
		.one = "{count} deal where {expected} are announced" },

	[DEALBOX_CODE_CARD_REPEATED] = { "card-repeated", DEALBOX_SEVERITY_PROBLEM,
		"a card is there twice, held by {hands}",
		"{card} is there twice, held by {hands}" },
	[DEALBOX_CODE_CARD_MISSING] = { "card-missing", DEALBOX_SEVERITY_PROBLEM,
		"a card is missing", "{card} is missing" },
	[DEALBOX_CODE_CARD_FOREIGN] = { "card-foreign", DEALBOX_SEVERITY_PROBLEM,
		"a card that is not in the pack, held by {hands}",
		"{card} is not in the pack, held by {hands}" },
	[DEALBOX_CODE_HAND_SIZE] = { "hand-size", DEALBOX_SEVERITY_PROBLEM,
		"{hand} has {count} cards, not {expected}",
		.one = "{hand} has {count} card, not {expected}" },
	[DEALBOX_CODE_HAND_NOT_GIVEN] = { "hand-not-given", DEALBOX_SEVERITY_PROBLEM,
		"the hand of {hand} is not given: the deal is not complete" },
	[DEALBOX_CODE_HANDS_NUMBER] = { "hands-number", DEALBOX_SEVERITY_PROBLEM,
		"{count} hands, not {expected}",
		.one = "{count} hand, not {expected}" },
	[DEALBOX_CODE_BAD_RANK] = { "bad-rank", DEALBOX_SEVERITY_PROBLEM,
		"what stands in the hand of {hand} is not a rank (A K Q J T 9 .. 2)" },
	[DEALBOX_CODE_BAD_SUIT] = { "bad-suit", DEALBOX_SEVERITY_PROBLEM,
		"the suits of {hand} are not four, or not known" },
	[DEALBOX_CODE_BAD_CARD] = { "bad-card", DEALBOX_SEVERITY_PROBLEM,
		"this is not the number of a card" },
	[DEALBOX_CODE_TEN_AS_10] = { "ten-as-10", DEALBOX_SEVERITY_NOTE,
		"tens are written as 10, read as T" },
	[DEALBOX_CODE_SPACING] = { "spacing", DEALBOX_SEVERITY_NOTE,
		"there are spaces in the deal that do not belong there" },
	[DEALBOX_CODE_DEAL_NOT_GIVEN] = { "deal-not-given", DEALBOX_SEVERITY_PROBLEM,
		"there is no deal for this board: it was lost, or never entered" },
	[DEALBOX_CODE_DEAL_SYNTAX] = { "deal-syntax", DEALBOX_SEVERITY_PROBLEM,
		"the deal is not written as this format wants it" },
	[DEALBOX_CODE_HALVES_DISAGREE] = { "halves-disagree", DEALBOX_SEVERITY_PROBLEM,
		"the two halves of the record hold different deals: which one is meant "
		"is not known" },
	[DEALBOX_CODE_CHECKSUM_WRONG] = { "checksum-wrong", DEALBOX_SEVERITY_PROBLEM,
		"the checksum is {count} and should be {expected}" },
	[DEALBOX_CODE_PLACEHOLDER_DEAL] = { "placeholder-deal", DEALBOX_SEVERITY_PROBLEM,
		"sorted by suit, as programs fill unused boards: not a deal" },
	[DEALBOX_CODE_OUTSIDE_RANGE] = { "outside-range", DEALBOX_SEVERITY_NOTE,
		"boards outside the range {text} of the file are left out" },

	[DEALBOX_CODE_BOARD_MISSING] = { "board-missing", DEALBOX_SEVERITY_PROBLEM,
		"no board number" },
	[DEALBOX_CODE_BOARD_NOT_NUMBER] = { "board-not-number", DEALBOX_SEVERITY_NOTE,
		"the board has a label, not a number" },
	[DEALBOX_CODE_BOARD_UNCERTAIN] = { "board-uncertain", DEALBOX_SEVERITY_NOTE,
		"the numbers of the boards are not certain: {text}" },
	[DEALBOX_CODE_BOARD_REPEATED] = { "board-repeated", DEALBOX_SEVERITY_PROBLEM,
		"this board number was there before, with another deal" },
	[DEALBOX_CODE_BOARD_AGAIN] = { "board-again", DEALBOX_SEVERITY_NOTE,
		"this board was there before, with the same deal" },
	[DEALBOX_CODE_BOARD_GAP] = { "board-gap", DEALBOX_SEVERITY_NOTE,
		"board numbers missing before this one: {count}" },
	[DEALBOX_CODE_DEAL_REPEATED] = { "deal-repeated", DEALBOX_SEVERITY_PROBLEM,
		"the same deal as {text}" },
	[DEALBOX_CODE_DEAL_ROTATED] = { "deal-rotated", DEALBOX_SEVERITY_PROBLEM,
		"the same deal as {text}, turned to other seats" },
	[DEALBOX_CODE_DEALER_CONTRADICTS] = { "dealer-contradicts", DEALBOX_SEVERITY_PROBLEM,
		"the dealer is not the one that the board number gives (Law 2)" },
	[DEALBOX_CODE_VULNERABLE_CONTRADICTS] = {
		"vulnerable-contradicts", DEALBOX_SEVERITY_PROBLEM,
		"the vulnerability is not the one that the board number gives (Law 2)" },
	[DEALBOX_CODE_DEALER_INVALID] = { "dealer-invalid", DEALBOX_SEVERITY_PROBLEM,
		"the dealer is not N, E, S or W" },
	[DEALBOX_CODE_VULNERABLE_INVALID] = { "vulnerable-invalid", DEALBOX_SEVERITY_PROBLEM,
		"the vulnerability is not None, NS, EW or All" },
	[DEALBOX_CODE_VULNERABLE_WORD] = { "vulnerable-word", DEALBOX_SEVERITY_NOTE,
		"the vulnerability is written in an unusual way" },

	[DEALBOX_CODE_TAG_BROKEN] = { "tag-broken", DEALBOX_SEVERITY_PROBLEM,
		"a tag is broken: [Name \"value\"] is expected" },
	[DEALBOX_CODE_TAG_REPEATED] = { "tag-repeated", DEALBOX_SEVERITY_NOTE,
		"the tag {text} is there twice: the second one is ignored" },
	[DEALBOX_CODE_GAME_NOT_SEPARATED] = { "game-not-separated", DEALBOX_SEVERITY_NOTE,
		"no empty line before this game" },
	[DEALBOX_CODE_TEXT_STRAY] = { "text-stray", DEALBOX_SEVERITY_NOTE,
		"text that belongs to nothing was skipped" },
	[DEALBOX_CODE_COMMENT_UNCLOSED] = { "comment-unclosed", DEALBOX_SEVERITY_PROBLEM,
		"a comment begins here and is never closed" },
	[DEALBOX_CODE_INHERITANCE_FORBIDDEN] = { "inheritance-forbidden", DEALBOX_SEVERITY_PROBLEM,
		"the tag {text} may not be inherited with #" },
	[DEALBOX_CODE_RECORD_INVALID] = { "record-invalid", DEALBOX_SEVERITY_PROBLEM,
		"this record could not be understood" },
	[DEALBOX_CODE_LINE_LONG] = { "line-long", DEALBOX_SEVERITY_NOTE,
		"a line of {count} bytes" },

	[DEALBOX_CODE_TAG_CONTRADICTS] = { "tag-contradicts", DEALBOX_SEVERITY_PROBLEM,
		"the tag {text} is there twice with different values: which one is meant "
		"is not known" },

	[DEALBOX_CODE_COMMENT_HOLDS_GAME] = { "comment-holds-game", DEALBOX_SEVERITY_NOTE,
		"a comment holds a game: it is not read" },

	[DEALBOX_CODE_NOT_CARRIED] = { "not-carried", DEALBOX_SEVERITY_NOTE,
		"names, results, auctions, play or comments are there, too: only the deal, its "
		"number, dealer and vulnerability are taken over" },
	[DEALBOX_CODE_NOT_WRITTEN] = { "not-written", DEALBOX_SEVERITY_NOTE,
		"not written, because this format has no place for it: {text}" },

	[DEALBOX_CODE_VOID_AS_DASH] = { "void-as-dash", DEALBOX_SEVERITY_NOTE,
		"a suit without cards is written as -, and read as that" },
	[DEALBOX_CODE_FILE_UTF16] = { "file-utf-16", DEALBOX_SEVERITY_PROBLEM,
		"the text is UTF-16, which Windows calls Unicode: save it as UTF-8 or as plain "
		"text" },
	[DEALBOX_CODE_GZIP_BROKEN] = { "gzip-broken", DEALBOX_SEVERITY_PROBLEM,
		"the compressed file is damaged, or ends too early: copy it again from its "
		"source" },

	[DEALBOX_CODE_CANNOT_EXPRESS] = { "cannot-express", DEALBOX_SEVERITY_PROBLEM,
		"the format cannot express this: {text}" },
	[DEALBOX_CODE_WRITE_FAILED] = { "write-failed", DEALBOX_SEVERITY_PROBLEM,
		"cannot be written: {text}" },
};

struct dealbox_report *dealbox_report_new(void)
{
	return calloc(1, sizeof(struct dealbox_report));
}

void dealbox_report_free(struct dealbox_report *report)
{
	struct name *next;

	if (!report)
		return;
	for (struct name *name = report->names; name; name = next) {
		next = name->next;
		free(name);
	}
	free(report->kept);
	free(report);
}

static const char *keep_name(struct dealbox_report *report, const char *text)
{
	struct name *name;
	size_t size;

	for (name = report->names; name; name = name->next)
		if (name->text == text || !strcmp(name->text, text))
			return name->text;
	size = strlen(text) + 1;
	name = malloc(sizeof(*name) + size);
	if (!name)
		return NULL;
	memcpy(name->text, text, size);
	name->next = report->names;
	report->names = name;
	return name->text;
}

void dealbox_report_add(struct dealbox_report *report,
			const struct dealbox_problem *problem)
{
	struct dealbox_problem *kept;

	if (!report)
		return;
	report->found[problem->severity == DEALBOX_SEVERITY_PROBLEM]++;
	if (problem->code < DEALBOX_CODES && report->kinds[problem->code]++ >= KIND_MAX)
		return;
	if (report->count == report->room) {
		size_t room = report->room ? report->room * 2 : 16;

		kept = realloc(report->kept, room * sizeof(*kept));
		if (!kept)
			return;	/* it is counted nevertheless */
		report->kept = kept;
		report->room = room;
	}
	kept = &report->kept[report->count++];
	*kept = *problem;
	if (problem->file)
		kept->file = keep_name(report, problem->file);
}

size_t dealbox_report_count(const struct dealbox_report *report)
{
	return report->count;
}

const struct dealbox_problem *dealbox_report_get(const struct dealbox_report *report,
						 size_t index)
{
	return index < report->count ? &report->kept[index] : NULL;
}

size_t dealbox_report_found(const struct dealbox_report *report,
			    enum dealbox_severity severity)
{
	return report->found[severity == DEALBOX_SEVERITY_PROBLEM];
}

size_t dealbox_report_found_code(const struct dealbox_report *report, unsigned int code)
{
	return code < DEALBOX_CODES ? report->kinds[code] : 0;
}

size_t dealbox_report_dropped(const struct dealbox_report *report)
{
	return report->found[0] + report->found[1] - report->count;
}

const char *dealbox_code_name(unsigned int code)
{
	return code < DEALBOX_CODES ? codes[code].name : "?";
}

enum dealbox_severity dealbox_code_severity(unsigned int code)
{
	return code < DEALBOX_CODES ? codes[code].severity : DEALBOX_SEVERITY_PROBLEM;
}

const char *dealbox_code_sentence(unsigned int code, uint32_t count)
{
	if (code >= DEALBOX_CODES)
		return "";
	return count == 1 && codes[code].one ? codes[code].one : codes[code].hidden;
}

static void put_hands(struct sentence *sentence, unsigned int left)
{
	/* one hand that holds it twice */
	if (left && !(left & (left - 1))) {
		sentence_add(sentence, "%s alone",
			     dealbox_seat_name(__builtin_ctz(left)));
		return;
	}
	for (int seat = 0; seat < 4; seat++) {
		if (!(left >> seat & 1))
			continue;
		left &= ~(1u << seat);
		sentence_add(sentence, "%s%s", dealbox_seat_name(seat),
			     !left ? "" : left & (left - 1) ? ", " : " and ");
	}
}

static void put(struct sentence *sentence, const char *name, size_t size,
		const void *facts)
{
	const struct dealbox_problem *problem = facts;

#define IS(word) (size == sizeof(word) - 1 && !memcmp(name, word, size))
	if (IS("card"))
		sentence_add(sentence, "%s", dealbox_card_name(problem->card));
	else if (IS("hands"))
		put_hands(sentence, problem->hands);
	else if (IS("hand"))
		sentence_add(sentence, "%s", dealbox_seat_name(problem->hand));
	else if (IS("count"))
		sentence_add(sentence, "%" PRIu32, problem->count);
	else if (IS("expected"))
		sentence_add(sentence, "%" PRIu32, problem->expected);
	else if (IS("text"))
		sentence_text(sentence, problem->text, sizeof(problem->text));
#undef IS
}

static void put_sentence(struct sentence *sentence, const struct dealbox_problem *problem,
			 bool reveal)
{
	const char *pattern = dealbox_code_sentence(problem->code, problem->count);

	if (reveal && problem->code < DEALBOX_CODES && codes[problem->code].revealed)
		pattern = codes[problem->code].revealed;
	sentence_fill(sentence, pattern, put, problem);
}

size_t dealbox_problem_message(const struct dealbox_problem *problem, bool reveal,
			       char *text, size_t size)
{
	struct sentence sentence;

	sentence_begin(&sentence, text, size);
	put_sentence(&sentence, problem, reveal);
	return sentence.length;
}

size_t dealbox_problem_describe(const struct dealbox_problem *problem, bool reveal,
				char *text, size_t size)
{
	struct sentence sentence;

	sentence_begin(&sentence, text, size);
	if (problem->file) {
		sentence_text(&sentence, problem->file, strlen(problem->file));
		sentence_add(&sentence, ":");
	}
	if (problem->line)
		sentence_add(&sentence, "%" PRIu32 ":", problem->line);
	else if (problem->byte)
		sentence_add(&sentence, "byte %" PRIu64 ":", problem->byte);
	if (sentence.length)
		sentence_add(&sentence, " ");
	if (problem->board[0]) {
		sentence_add(&sentence, "board ");
		sentence_text(&sentence, problem->board, sizeof(problem->board));
		sentence_add(&sentence, ": ");
	}
	put_sentence(&sentence, problem, reveal);
	return sentence.length;
}
