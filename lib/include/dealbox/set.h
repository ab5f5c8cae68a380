/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set: the deals of one session, each with its board, and where it came from. It
 * holds complete deals only, in the order in which they were added.
 */
#ifndef DEALBOX_SET_H
#define DEALBOX_SET_H

#include <dealbox/deal.h>
#include <dealbox/report.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEALBOX_BOARD_MAX	0x7fffffffU	/* greatest board number */
/* greatest number of a board that can be dealt; most boards of a job, and copies of a board */
#define DEALBOX_BOARD_DEALT_MAX	9999

/*
 * One deal of a set. A board has a number, or a label that is no number ("2-1"), or
 * neither. To put one in, fill what is known and leave the rest as
 * DEALBOX_BOARD_INIT has it.
 */
struct dealbox_board {
	struct dealbox_deal deal;
	uint32_t number;	/* 0 = none */
	const char *label;	/* NULL = none; lives as the set */
	int8_t dealer;		/* seat, -1 = not given */
	int8_t vulnerable;	/* enum dealbox_vulnerable, -1 = not given */
	const char *file;	/* NULL = from no file; lives as the set */
	uint32_t line;		/* from 1; 0 in binary formats */
	uint64_t byte;		/* offset of the record, binary formats */
};

/*
 * A board of which nothing is known. In the order of the members, because C++ knows their names in such a
 * list from C++20 on only.
 */
#define DEALBOX_BOARD_INIT { { { 0, 0, 0, 0 } }, 0, NULL, -1, -1, NULL, 0, 0 }

struct dealbox_set;

/*
 * A new, empty set of deals of that pack (NULL = bridge). NULL = out of memory. Free
 * it with dealbox_set_free().
 */
DEALBOX_API struct dealbox_set *dealbox_set_new(const struct dealbox_pack *pack);

/* Wipes the cards and frees it. NULL is allowed. */
DEALBOX_API void dealbox_set_free(struct dealbox_set *set);

/* The pack that it was made for. Static. */
DEALBOX_API const struct dealbox_pack *dealbox_set_pack(const struct dealbox_set *set);

/*
 * What is to be known of a set as a whole. PBN files carry it (a line "% dealbox: restricted
 * unplayed" in front); formats that have no place for a comment do not.
 */
#define DEALBOX_MARK_RESTRICTED	0x1	/* not wholly random: no deals by Law 6 */
#define DEALBOX_MARK_UNPLAYED	0x2	/* made, and not said to be played yet */

/* Puts these marks on the set, and takes all others off. */
DEALBOX_API void dealbox_set_mark(struct dealbox_set *set, unsigned int marks);

/* The marks that are on it. */
DEALBOX_API unsigned int dealbox_set_marks(const struct dealbox_set *set);

/*
 * Call it before files are read: then what a file of PBN says of a board beside its deal (tags,
 * auction, play, other sections, comments) is kept, and is written when PBN is. What other formats
 * say beside deals is not kept, which is noted when there is any.
 */
DEALBOX_API void dealbox_set_keep_text(struct dealbox_set *set);

/*
 * Call it before files are read: then boards that have no number in their file get one, from
 * first (1 to DEALBOX_BOARD_MAX) on, in the order of the files. Deals that cannot be used are
 * counted as well. A number that the program which wrote the file may have made up is none.
 */
DEALBOX_API void dealbox_set_number_from(struct dealbox_set *set, uint32_t first);

/* How many boards got their number so. */
DEALBOX_API size_t dealbox_set_numbered(const struct dealbox_set *set);

/* How many deals it holds. */
DEALBOX_API size_t dealbox_set_count(const struct dealbox_set *set);

/*
 * Adds a board; label and file are copied. -EINVAL: the deal is not complete, or
 * number, dealer or vulnerable are out of range. -ENOMEM, -E2BIG (too many).
 */
DEALBOX_API int dealbox_set_add(struct dealbox_set *set,
				const struct dealbox_board *board);

/* The deal with that index (from 0). -ENOENT beyond the last. */
DEALBOX_API int dealbox_set_get(const struct dealbox_set *set, size_t index,
				struct dealbox_board *board);

/*
 * Leaves only the boards for which pick() returns true; it is called for each, in their order, with
 * context.
 */
DEALBOX_API void dealbox_set_filter(struct dealbox_set *set,
				    bool (*pick)(void *context,
						 const struct dealbox_board *board),
				    void *context);

/*
 * Index of the first board with that number, -ENOENT if there is none. Takes time in
 * proportion to the set.
 */
DEALBOX_API long dealbox_set_find(const struct dealbox_set *set, uint32_t number);

/*
 * What is wrong with the set as a whole, added to the report: a number twice with
 * another deal or with the same, gaps, the same deal on two boards (also rotated to
 * other seats). Call it when all files of the set are read. Returns how many
 * problems (not notes) it found, or -ENOMEM.
 */
DEALBOX_API long dealbox_set_check(const struct dealbox_set *set,
				   struct dealbox_report *report);

/* The label, as dealbox_text_safe() gives it, or number of a board: "7", "2-1", "" if it has neither. */
DEALBOX_API size_t dealbox_board_name(const struct dealbox_board *board, char *text,
				      size_t size);

#ifdef __cplusplus
}
#endif
#endif
