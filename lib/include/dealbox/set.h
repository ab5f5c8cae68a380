/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set: the deals of one session, each with its board and its origin. It holds complete deals
 * only, in the order in which they were added.
 */
#ifndef DEALBOX_SET_H
#define DEALBOX_SET_H

#include <dealbox/deal.h>
#include <dealbox/report.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEALBOX_BOARD_MAX	0x7fffffffU	/* largest board number */
/* largest number of a board that can be dealt; most boards of a job, and copies of a board */
#define DEALBOX_BOARD_DEALT_MAX	9999

/*
 * One deal of a set. A board has a number, or a label that is not a number ("2-1"), or neither. To
 * add a board, start from DEALBOX_BOARD_INIT and fill in the known members.
 */
struct dealbox_board {
	struct dealbox_deal deal;
	uint32_t number;	/* 0 = none */
	const char *label;	/* NULL = none; valid as long as the set */
	int8_t dealer;		/* seat, -1 = not given */
	int8_t vulnerable;	/* enum dealbox_vulnerable, -1 = not given */
	const char *file;	/* NULL = not from a file; valid as long as the set */
	uint32_t line;		/* from 1; 0 in binary formats */
	uint64_t byte;		/* offset of the record, binary formats */
	uint32_t reserved[4];	/* 0 */
};

/*
 * A board with no known members. The initialisers are in the order of the members, because C++ has
 * named ones only since C++20.
 */
#define DEALBOX_BOARD_INIT { { { 0, 0, 0, 0 } }, 0, NULL, -1, -1, NULL, 0, 0, { 0, 0, 0, 0 } }

struct dealbox_set;

/*
 * Returns a new, empty set of deals of that pack (NULL = bridge), or NULL if out of memory. Free it
 * with dealbox_set_free().
 */
DEALBOX_API struct dealbox_set *dealbox_set_new(const struct dealbox_pack *pack);

/* Wipes the cards and frees the set. NULL is allowed. */
DEALBOX_API void dealbox_set_free(struct dealbox_set *set);

/* Returns the pack of the set. Static. */
DEALBOX_API const struct dealbox_pack *dealbox_set_pack(const struct dealbox_set *set);

/*
 * Marks of a set as a whole. PBN files carry them (a line "% dealbox: restricted unplayed" in
 * front); formats without comments do not.
 */
#define DEALBOX_MARK_RESTRICTED	0x1	/* not wholly random, so not dealt by Law 6 */
#define DEALBOX_MARK_UNPLAYED	0x2	/* generated, and not marked as played */

/* Sets these marks and clears all others. -EINVAL: an unknown mark; nothing is changed. */
DEALBOX_API int dealbox_set_mark(struct dealbox_set *set, unsigned int marks);

/* Returns the marks of the set. */
DEALBOX_API unsigned int dealbox_set_marks(const struct dealbox_set *set);

/*
 * Keeps the text that PBN files have besides deals (tags, auction, play, other sections, comments),
 * so that writing PBN preserves it. Call it before files are read. Such information of other
 * formats is not kept; a note reports it.
 */
DEALBOX_API void dealbox_set_keep_text(struct dealbox_set *set);

/*
 * Keeps deals of which some cards are not known, apart from the deals of the set: for a program
 * that shows what is known. Call it before files are read.
 */
DEALBOX_API void dealbox_set_keep_partial(struct dealbox_set *set);

/*
 * Gets the partial deal with that index (from 0), in the order of the files. No card is in two
 * hands of it. before, which may be NULL, is set to the number of complete deals that were read
 * before it.
 * -ENOENT: beyond the last.
 */
DEALBOX_API int dealbox_set_get_partial(const struct dealbox_set *set, size_t index,
					struct dealbox_board *board, size_t *before);

/*
 * Numbers boards without a number in their file, from first (1 to DEALBOX_BOARD_MAX) on, in the
 * order of the files. Call it before files are read. Unusable deals are counted as well. A number
 * that the writing program may have made up counts as none.
 */
DEALBOX_API void dealbox_set_number_from(struct dealbox_set *set, uint32_t first);

/* Returns how many boards dealbox_set_number_from() numbered. */
DEALBOX_API size_t dealbox_set_numbered(const struct dealbox_set *set);

/* Returns the number of deals in the set. */
DEALBOX_API size_t dealbox_set_count(const struct dealbox_set *set);

/*
 * Adds a board; label and file are copied. -EINVAL: the deal is incomplete, or number, dealer or
 * vulnerable are out of range. -ENOMEM, -E2BIG (too many).
 */
DEALBOX_API int dealbox_set_add(struct dealbox_set *set,
				const struct dealbox_board *board);

/* Gets the deal with that index (from 0). -ENOENT: beyond the last deal. */
DEALBOX_API int dealbox_set_get(const struct dealbox_set *set, size_t index,
				struct dealbox_board *board);

/*
 * Keeps only the boards for which pick() is true. It is called for each board in order, with
 * context.
 */
DEALBOX_API void dealbox_set_filter(struct dealbox_set *set,
				    bool (*pick)(const struct dealbox_board *board,
						 void *context),
				    void *context);

/*
 * Returns the index of the first board with that number. -ENOENT: there is none. The time is
 * proportional to the size of the set.
 */
DEALBOX_API long dealbox_set_find(const struct dealbox_set *set, uint32_t number);

/*
 * Checks the set as a whole and adds the findings to the report: a repeated number with another
 * deal or the same, gaps, the same deal on two boards (also rotated to other seats). Call it after
 * all files of the set have been read. Returns the number of problems (not notes), or -ENOMEM.
 */
DEALBOX_API long dealbox_set_check(const struct dealbox_set *set,
				   struct dealbox_report *report);

/*
 * Writes the number of a board, or its label as dealbox_text_safe() gives it: "7", "2-1", "" if it
 * has neither. Returns the length that it would have had, as snprintf() does.
 */
DEALBOX_API size_t dealbox_board_name(const struct dealbox_board *board, char *text,
				      size_t size);

#ifdef __cplusplus
}
#endif
#endif
