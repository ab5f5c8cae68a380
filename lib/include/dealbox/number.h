/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers of deals: there are 53,644,737,765,488,792,839,237,440,000 bridge deals, and a
 * numbering gives each of them its own. Three are in use; they differ, so a number
 * means nothing without the name of its numbering.
 */
#ifndef DEALBOX_NUMBER_H
#define DEALBOX_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include <dealbox/api.h>
#include <dealbox/deal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number of a deal, high * 2^64 + low; 96 bits are enough. */
struct dealbox_number {
	uint64_t high, low;
};

enum dealbox_numbering {
	/*
	 * Big Deal's, a Goedel number from 0 (H. van Staveren, S. Mulder, "Goedel numbers
	 * and bridge hands"): hands N, E, S in lexicographic order, spade ace first.
	 */
	DEALBOX_NUMBERING_BIGDEAL,
	/*
	 * T. Andrews' (The Impossible Bridge Book, Andrews edition), from 1: hands N, E,
	 * S by the combinatorial number system, spade ace lowest.
	 */
	DEALBOX_NUMBERING_ANDREWS,
	/*
	 * R. Pavlicek's (rpbridge.net/7z68.htm, suited order), from 1: deals ordered by the holder
	 * of the spade ace, then of the spade king, and so on.
	 */
	DEALBOX_NUMBERING_PAVLICEK,
	DEALBOX_NUMBERINGS	/* number of numberings */
};

/* Size of a buffer for the longest number as text, including the terminating zero. */
#define DEALBOX_NUMBER_TEXT	32

/* Returns the short name of a numbering, "bigdeal"; "?" for one that does not exist. Static. */
DEALBOX_API const char *dealbox_numbering_name(enum dealbox_numbering numbering);

/* Returns the numbering of that short name. -ENOENT: there is none. */
DEALBOX_API int dealbox_numbering_find(const char *name);

/* Returns the first number of a numbering, 0 or 1; 0 if there is no such numbering. */
DEALBOX_API struct dealbox_number dealbox_number_first(enum dealbox_numbering numbering);

/*
 * Returns the last number of a numbering: there are 52! / (13!)^4 deals, from the first to the
 * last. 0 if there is no such numbering.
 */
DEALBOX_API struct dealbox_number dealbox_number_last(enum dealbox_numbering numbering);

/* Returns -1 if a is less than b, 0 if they are equal, 1 if a is greater. */
DEALBOX_API int dealbox_number_compare(struct dealbox_number a, struct dealbox_number b);

/*
 * Gets the number of a complete bridge deal. -EINVAL: it is not such a deal, or there is no such
 * numbering; *number is then unchanged.
 */
DEALBOX_API int dealbox_number_rank(const struct dealbox_deal *deal,
				    enum dealbox_numbering numbering,
				    struct dealbox_number *number);

/*
 * Gets the deal with that number. -ERANGE: no deal has it; -EINVAL: there is no such numbering;
 * *deal is then unchanged.
 */
DEALBOX_API int dealbox_number_unrank(struct dealbox_number number,
				      enum dealbox_numbering numbering,
				      struct dealbox_deal *deal);

/*
 * Parses a decimal number, with or without commas between groups of three. -EINVAL: it is not a
 * number; -ERANGE: it is larger than the type.
 */
DEALBOX_API int dealbox_number_parse(const char *text, struct dealbox_number *number);

/*
 * Writes a number in decimal, at most size bytes including the terminating zero, and returns the
 * length it would have had, as snprintf() does.
 */
DEALBOX_API size_t dealbox_number_print(struct dealbox_number number, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
