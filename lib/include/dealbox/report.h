/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A report: the list of problems that were found, with their places. Readers, writers and checks
 * add to it; the caller shows it. A problem holds facts; dealbox_problem_message() makes the
 * sentence, with or without the names of cards. They are hidden by default, because the reader may
 * be playing the deal tomorrow.
 */
#ifndef DEALBOX_REPORT_H
#define DEALBOX_REPORT_H

#include <stdbool.h>

#include <dealbox/card.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The order of the values says nothing: later versions add theirs at the end. */
enum dealbox_severity {
	DEALBOX_SEVERITY_NOTE,		/* worth knowing, or repaired by a reader */
	DEALBOX_SEVERITY_PROBLEM	/* something could not be used, or must not be dealt */
};

/*
 * Codes of problems. The names in the comments are those of dealbox_code_name() and of JSON output;
 * they never change.
 */
enum dealbox_code {
	DEALBOX_CODE_NONE,		/* none: no code */

	/* the file */
	DEALBOX_CODE_FILE_UNREADABLE,	/* file-unreadable */
	DEALBOX_CODE_FILE_EMPTY,	/* file-empty */
	DEALBOX_CODE_FILE_TOO_LARGE,	/* file-too-large */
	DEALBOX_CODE_FILE_TRUNCATED,	/* file-truncated: ends within a deal */
	DEALBOX_CODE_FORMAT_UNKNOWN,	/* format-unknown */
	DEALBOX_CODE_NO_DEALS,		/* no-deals: not one complete deal */
	DEALBOX_CODE_ENCRYPTED,		/* encrypted */
	DEALBOX_CODE_BYTE_ORDER_MARK,	/* byte-order-mark: skipped */
	DEALBOX_CODE_BYTE_INVALID,	/* byte-invalid: control characters */
	DEALBOX_CODE_LINE_ENDS_MIXED,	/* line-ends-mixed */
	DEALBOX_CODE_NOT_EXPORT,	/* not-export: declared but not followed */
	DEALBOX_CODE_TRAILER_DISAGREES,	/* trailer-disagrees: text = with which value */
	DEALBOX_CODE_COUNT_DISAGREES,	/* count-disagrees: header and contents */

	/* the cards */
	DEALBOX_CODE_CARD_REPEATED,	/* card-repeated: card, hands */
	DEALBOX_CODE_CARD_MISSING,	/* card-missing: card */
	DEALBOX_CODE_CARD_FOREIGN,	/* card-foreign: card, hands: not in the pack */
	DEALBOX_CODE_HAND_SIZE,		/* hand-size: hand, count, expected */
	DEALBOX_CODE_HAND_NOT_GIVEN,	/* hand-not-given: hand */
	DEALBOX_CODE_HANDS_NUMBER,	/* hands-number: count, expected */
	DEALBOX_CODE_BAD_RANK,		/* bad-rank: hand */
	DEALBOX_CODE_BAD_SUIT,		/* bad-suit: hand */
	DEALBOX_CODE_BAD_CARD,		/* bad-card: a number or letter that is not a card */
	DEALBOX_CODE_TEN_AS_10,		/* ten-as-10: read as T */
	DEALBOX_CODE_SPACING,		/* spacing: too much of it, ignored */
	DEALBOX_CODE_DEAL_NOT_GIVEN,	/* deal-not-given: a board without a deal */
	DEALBOX_CODE_DEAL_SYNTAX,	/* deal-syntax */
	DEALBOX_CODE_HALVES_DISAGREE,	/* halves-disagree: DUP */
	DEALBOX_CODE_CHECKSUM_WRONG,	/* checksum-wrong */
	DEALBOX_CODE_PLACEHOLDER_DEAL,	/* placeholder-deal: sorted, so never dealt */
	DEALBOX_CODE_OUTSIDE_RANGE,	/* outside-range: not in From..To */

	/* the board */
	DEALBOX_CODE_BOARD_MISSING,	/* board-missing: no number */
	DEALBOX_CODE_BOARD_NOT_NUMBER,	/* board-not-number: a label, text */
	DEALBOX_CODE_BOARD_UNCERTAIN,	/* board-uncertain: text = why */
	DEALBOX_CODE_BOARD_REPEATED,	/* board-repeated: with another deal */
	DEALBOX_CODE_BOARD_AGAIN,	/* board-again: with the same deal */
	DEALBOX_CODE_BOARD_GAP,		/* board-gap: count missing before it */
	DEALBOX_CODE_DEAL_REPEATED,	/* deal-repeated: text = the other board */
	DEALBOX_CODE_DEAL_ROTATED,	/* deal-rotated: text = the other board */
	DEALBOX_CODE_DEALER_CONTRADICTS,	/* dealer-contradicts: the board's number */
	DEALBOX_CODE_VULNERABLE_CONTRADICTS,	/* vulnerable-contradicts */
	DEALBOX_CODE_DEALER_INVALID,	/* dealer-invalid */
	DEALBOX_CODE_VULNERABLE_INVALID,	/* vulnerable-invalid */
	DEALBOX_CODE_VULNERABLE_WORD,	/* vulnerable-word: understood, not standard */

	/* the notation */
	DEALBOX_CODE_TAG_BROKEN,	/* tag-broken */
	DEALBOX_CODE_TAG_REPEATED,	/* tag-repeated: ignored; text = its name */
	DEALBOX_CODE_GAME_NOT_SEPARATED,	/* game-not-separated: no empty line before it */
	DEALBOX_CODE_TEXT_STRAY,	/* text-stray: ignored */
	DEALBOX_CODE_COMMENT_UNCLOSED,	/* comment-unclosed */
	DEALBOX_CODE_INHERITANCE_FORBIDDEN,	/* inheritance-forbidden: text = the tag */
	DEALBOX_CODE_RECORD_INVALID,	/* record-invalid */
	DEALBOX_CODE_LINE_LONG,		/* line-long: count bytes */

	/* writing */
	DEALBOX_CODE_CANNOT_EXPRESS,	/* cannot-express: text = what */
	DEALBOX_CODE_WRITE_FAILED,	/* write-failed */

	/* later additions */
	DEALBOX_CODE_TAG_CONTRADICTS,	/* tag-contradicts: text = its name */
	DEALBOX_CODE_COMMENT_HOLDS_GAME,	/* comment-holds-game: the game is not read */
	DEALBOX_CODE_NOT_CARRIED,	/* not-carried: information besides deals */
	DEALBOX_CODE_NOT_WRITTEN,	/* not-written: text = what */
	DEALBOX_CODE_VOID_AS_DASH,	/* void-as-dash: read as a void */
	DEALBOX_CODE_FILE_UTF16,	/* file-utf-16 */
	DEALBOX_CODE_GZIP_BROKEN,	/* gzip-broken */

	DEALBOX_CODES			/* number of codes */
};

/* The facts of a problem. Members that do not apply are 0, NULL, or DEALBOX_CARD_NONE. */
struct dealbox_problem {
	const char *file;	/* as the caller named it; valid as long as the report */
	uint64_t byte;		/* offset in the file, binary formats */
	uint32_t line;		/* from 1; 0 in binary formats */
	uint16_t code;		/* enum dealbox_code */
	uint8_t severity;	/* enum dealbox_severity */
	uint8_t card;
	uint8_t hands;		/* bit n = seat n */
	uint8_t hand;
	uint32_t count;
	uint32_t expected;
	char board[16];		/* number or label, shortened if need be */
	char text[32];		/* never a card */
};

struct dealbox_report;

/* Returns a new, empty report, or NULL if out of memory. Free it with dealbox_report_free(). */
DEALBOX_API struct dealbox_report *dealbox_report_new(void);

/* Frees the report, with its problems and file names. NULL is allowed. */
DEALBOX_API void dealbox_report_free(struct dealbox_report *report);

/*
 * Adds a copy of *problem. A report keeps the first 1000 of each code and only counts the rest, so
 * that a frequent problem does not hide others. report may be NULL: nothing is kept.
 */
DEALBOX_API void dealbox_report_add(struct dealbox_report *report,
				    const struct dealbox_problem *problem);

/*
 * Returns the number of kept problems, or the problem with that index (NULL beyond the last), in
 * the order added.
 */
DEALBOX_API size_t dealbox_report_count(const struct dealbox_report *report);
DEALBOX_API const struct dealbox_problem *
dealbox_report_get(const struct dealbox_report *report, size_t index);

/* Returns how many problems of that severity were found, kept or not. */
DEALBOX_API size_t dealbox_report_found(const struct dealbox_report *report,
					enum dealbox_severity severity);

/*
 * Returns how many problems with that code (enum dealbox_code) were found, kept or not; 0 for other
 * numbers.
 */
DEALBOX_API size_t dealbox_report_found_code(const struct dealbox_report *report,
					     unsigned int code);

/* Returns how many problems were found but not kept. */
DEALBOX_API size_t dealbox_report_dropped(const struct dealbox_report *report);

/*
 * Converts external text (of a file, a machine, a record) to text that is safe for a terminal, a
 * sentence or a bus: valid UTF-8 without control characters. A byte that is not UTF-8 is read as
 * Latin-1, as in PBN files; anything else that is not text becomes '?'. Reads at most length bytes,
 * up to a zero; writes at most size bytes including the terminating zero, never a part of a
 * character. Returns the length that it would have had, as snprintf() does. Safe text is not
 * changed.
 */
DEALBOX_API size_t dealbox_text_safe(const char *from, size_t length, char *text, size_t size);

/* Returns the name of a code, "card-repeated"; "?" for other numbers. Static. */
DEALBOX_API const char *dealbox_code_name(unsigned int code);

/* Returns the default severity of a code. */
DEALBOX_API enum dealbox_severity dealbox_code_severity(unsigned int code);

/*
 * Returns the sentence of a code, without names of cards, for programs that translate it: {hand},
 * {hands}, {count}, {expected} and {text} stand for members of the problem, and no other member may
 * be shown. count is that of the problem: some sentences differ for 1. "" for other codes. Static.
 */
DEALBOX_API const char *dealbox_code_sentence(unsigned int code, uint32_t count);

/*
 * Writes the sentence for a problem, without file, line and board. Only with reveal does it contain
 * names of cards or anything that reveals them. Writes at most size bytes including the terminating
 * zero, and returns the length it would have had, as snprintf() does.
 */
DEALBOX_API size_t dealbox_problem_message(const struct dealbox_problem *problem,
					   bool reveal, char *text, size_t size);

/*
 * Writes the line for a person: "file:line: board 7: sentence", or with "byte n" for binary
 * formats. Same return value.
 */
DEALBOX_API size_t dealbox_problem_describe(const struct dealbox_problem *problem,
					    bool reveal, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
