/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by readers and writers of deal files. A format is a `const struct dealbox_format
 * format_<name>`, in a file <name>.c of its own or with those it is akin to, and stands in the list
 * at the top of formats.c.
 */
#ifndef DEALBOX_FORMAT_INTERNAL_H
#define DEALBOX_FORMAT_INTERNAL_H

#include <endian.h>
#include <string.h>

#include <dealbox/format.h>

#include "cards/deal-internal.h"
#include "cards/seat-bits.h"
#include "cards/set-internal.h"

/* -- readers --------------------------------------------------------------- */

/* The data of every reader is followed by this many zero bytes. */
#define READER_PADDING	128

struct reader {
	const uint8_t *data;
	size_t size;
	const char *name;
	struct dealbox_set *set;
	struct dealbox_report *report;
	struct dealbox_format_tally tally;
	int file;		/* for set_append() */
	uint64_t said;		/* bit n = code n, of those that are said once a file */
	bool more;		/* the file has information besides deals, which is not kept */
	bool binary;
	int error;		/* -ENOMEM and others: reading ends */
};

/* A deal in a file, good or bad. */
struct found {
	struct dealbox_deal deal;
	uint8_t given;		/* bit n = hand n is there */
	uint8_t broken;		/* bit n = in hand n something could not be understood */
	uint8_t unread;		/* bit n = its cards were not read: do not report its size */
	uint8_t extra[DEALBOX_HANDS];	/* cards written that deal does not show */
	uint32_t number;	/* 0 = none */
	const char *label;	/* not terminated; label_size 0 = none */
	size_t label_size;
	int dealer, vulnerable;	/* -1 = not given */
	uint32_t where;		/* line; binary formats: byte */
	uint32_t dealer_where, vulnerable_where;	/* 0 = the same */
};

#define FOUND_INIT { .dealer = -1, .vulnerable = -1 }

/* Reports a problem of a deal (NULL = of the file as a whole, with line where). */
void reader_say(struct reader *reader, const struct found *found, uint32_t where,
		struct dealbox_problem problem);

#define SAY_CARD(c, ...) ((struct dealbox_problem) { .card = (uint8_t)(c), __VA_ARGS__ })
#define SAY(...) SAY_CARD(DEALBOX_CARD_NONE, __VA_ARGS__)

/* Counts a written card that the hand cannot represent. */
void found_unread(struct found *found, int seat);

/* Puts a card into a hand, and reports a card that the hand already has. */
void found_card(struct reader *reader, struct found *found, int seat, unsigned int card);

/*
 * Adds all cards of a hand at once, if the only possible error is that they are not 13. Returns
 * false in that case; the caller then adds them one by one, so that the error is reported.
 */
static inline bool found_hand(struct found *found, int seat, dealbox_cards cards)
{
	if (dealbox_cards_count(cards) != 13)
		return false;
	found->deal.hand[seat] = cards;
	return true;
}

/* Eight bytes, the first of them lowest. */
static inline uint64_t load_le64(const void *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return le64toh(word);
}

static inline uint32_t load_le32(const void *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return le32toh(word);
}

/* Four bytes of text, to be compared with load_le32(). */
#define TEXT32(a, b, c, d) \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

#define EACH_BYTE	0x0101010101010101ULL

/* The lowest bit of each of eight bytes, that of the first byte lowest. */
static inline uint64_t gather_bits(uint64_t word)
{
	return (word & EACH_BYTE) * 0x0102040810204080ULL >> 56;
}

/*
 * Reads the suits of one hand one after the other, ranks in any order and case, "10" for T. Returns
 * false if something was not a rank; that is reported.
 */
bool found_ranks(struct reader *reader, struct found *found, int seat, int suit,
		 const char *text, size_t size);

/* Reports a hand whose suits are not four or unknown; its cards are then unknown. */
void found_bad_suit(struct reader *reader, struct found *found, int seat);

/* Gives the omitted hand the cards that the three others do not have. */
void found_rest(struct found *found);

/*
 * Checks a deal, reports its errors, and puts it into the set if it is complete. Every deal that a
 * reader finds ends here.
 */
void reader_deal(struct reader *reader, struct found *found);

/* Handles a deal that cannot be understood at all, after the report. */
void reader_spoiled(struct reader *reader, struct found *found);

/*
 * Returns the board number in text of that size, ignoring spaces around it; 0 = not a number. No
 * number is greater than DEALBOX_BOARD_MAX.
 */
uint32_t parse_number(const char *text, size_t size);

/* Sets number or label, whichever the text is; an empty text is neither. */
void found_board(struct reader *reader, struct found *found, const char *text,
		 size_t size);

/*
 * Gives a board without number and label a number, if the set gives numbers. Returns false if it
 * still has none. Call it once for each board, good or bad, in the order of the file.
 */
bool found_next_number(struct reader *reader, struct found *found);

static inline bool found_number(struct reader *reader, struct found *found)
{
	return found->number || found->label_size || found_next_number(reader, found);
}

/* Returns the seat of one letter, or -1 and reports a problem. Empty and "?" are "not given". */
int parse_dealer(struct reader *reader, const struct found *found, const char *text,
		 size_t size);

/* The same for the vulnerability, in the words of PBN and a few more. */
int parse_vulnerable(struct reader *reader, const struct found *found, const char *text,
		     size_t size);

/* Finds the first line end of either kind; end if there is none. READER_PADDING follows end. */
const char *text_line_end(const char *text, const char *end);

/*
 * The lines of a text, whether they end in LF, CR LF or CR. data must be followed by
 * READER_PADDING. text and size are without the end.
 */
struct lines {
	const char *next, *end;
	const char *text;
	size_t size;
	uint32_t number;	/* of this line, from 1 */
};

void lines_begin(struct lines *lines, const void *data, size_t size);
bool lines_next(struct lines *lines);

/* -- writers --------------------------------------------------------------- */

/* Buffers output and writes it to a descriptor in large pieces. */
struct writer {
	char *buffer;
	size_t used;
	int fd;
	int error;		/* the first one; nothing is written after it */
};

#define WRITER_ROOM	((size_t)256 << 10)

/*
 * Returns space for that many bytes, at most WRITER_ROOM; the caller adds the written bytes to
 * used. NULL = out of memory, which is kept in error.
 */
char *writer_room(struct writer *writer, size_t size);
void writer_add(struct writer *writer, const void *data, size_t size);
void writer_text(struct writer *writer, const char *text);
void writer_print(struct writer *writer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes the rest, frees the buffer; returns the first error. */
int writer_end(struct writer *writer);

/* Writes the digits of a number; returns the end. */
char *number_put(uint32_t number, char *text);

/* Dealer and vulnerability of a board: as given, else as its number has it, else -1. */
int board_dealer(const struct dealbox_board *board);
int board_vulnerable(const struct dealbox_board *board);

/*
 * The boards of a set with their numbers, for formats that have numbers or depend on them. If no
 * board has a number, they are numbered from 1 in their order. With unique they are sorted by
 * number, and a board that is repeated with the same deal is left out.
 */
struct ordered {
	const struct dealbox_set *set;
	uint64_t *boards;	/* number << 32 | index; NULL = as they stand */
	size_t count;
	bool numbered;
};

/* 0, or -ENOMEM; call ordered_end() in any case. */
int ordered_begin(struct ordered *ordered, const struct dealbox_set *set, bool unique);
/* Gets the nth board; its number is set, unless it has only a label. */
void ordered_get(const struct ordered *ordered, size_t n, struct dealbox_board *board);
void ordered_end(struct ordered *ordered);

/*
 * Writes the boards in order, each as a record of that size, which is at most WRITER_ROOM:
 * put() fills it with the deal of the board, which is the one with that index from 0.
 */
void write_records(struct writer *writer, const struct dealbox_set *set, size_t size,
		   void (*put)(const struct dealbox_deal *deal, size_t index, char *record));

/*
 * For can_write: every board has a number up to max; or none has one, and that is noted.
 * With range, each number must be there once, and none between the least and the
 * greatest may be missing.
 */
int need_numbers(const struct dealbox_set *set, uint32_t max, bool range,
		 struct dealbox_report *report);

/* For can_write of a format without numbers: there are none, or they count from 1. */
int need_no_numbers(const struct dealbox_set *set, struct dealbox_report *report);

/* For can_write: a reason why the set cannot be expressed. Returns -ENOTSUP. */
int cannot_express(struct dealbox_report *report, const struct dealbox_board *board,
		   const char *what);

/* -- a format ---------------------------------------------------------------- */

struct dealbox_format {
	const char *name;
	const char *title;
	bool binary;		/* places are bytes, not lines */

	/*
	 * Returns the confidence that data are of this format: 0 = they are not, 100 = no other
	 * format can look like that. data are the first size bytes of a file of total bytes,
	 * followed by padding.
	 */
	int (*recognise)(const uint8_t *data, size_t size, uint64_t total);

	/* Reads the whole file; problems go to the report, reader->error is for -ENOMEM. */
	void (*read)(struct reader *reader);

	/* NULL = no writer. can_write may be NULL: everything can be written. */
	int (*can_write)(const struct dealbox_set *set, struct dealbox_report *report);
	void (*write)(struct writer *writer, const struct dealbox_set *set);

	/*
	 * Returns the game of a board as it is written, with the text that its file had besides;
	 * the caller wipes and frees it. Returns NULL if out of memory. It is NULL itself if the
	 * format keeps no text; else a text that is not read back as its game is not kept.
	 */
	char *(*kept_game)(const struct set_text *kept, const struct dealbox_board *board,
			   size_t *size);
};

#endif
