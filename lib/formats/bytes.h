/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes of text, eight or sixteen at once. Sixteen are GCC's vectors, which the compiler makes from
 * whatever the processor has. Ranks of cards are read without a branch: the lengths of suits
 * are as random as the deal, and a branch predictor would have to guess them.
 */
#ifndef DEALBOX_BYTES_H
#define DEALBOX_BYTES_H

#include "formats.h"

/* -- eight ------------------------------------------------------------------------- */

/* The high bit of each byte of load_le64() that is below n (n <= 128); exact up to the first. */
static inline uint64_t word_below(uint64_t word, unsigned int n)
{
	return (word - EACH_BYTE * n) & ~word & EACH_BYTE * 0x80;
}

static inline uint64_t word_equal(uint64_t word, unsigned int byte)
{
	return word_below(word ^ EACH_BYTE * byte, 1);
}

/* The number of the first byte that is marked. */
static inline unsigned int word_first(uint64_t marks)
{
	return (unsigned int)__builtin_ctzll(marks) >> 3;
}

/* A calling convention of vectors is of no concern to functions that are all inline. */
#pragma GCC diagnostic ignored "-Wpsabi"

/* -- sixteen ----------------------------------------------------------------------- */

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef int8_t signed16 __attribute__((vector_size(16)));
typedef uint64_t words2 __attribute__((vector_size(16)));

static inline bytes16 bytes_load(const void *text)
{
	bytes16 bytes;

	memcpy(&bytes, text, sizeof(bytes));
	return bytes;
}

/* All ones in each byte that is that one. */
static inline bytes16 bytes_equal(bytes16 bytes, unsigned int byte)
{
	return (bytes16)(bytes == (uint8_t)byte);
}

static inline bool bytes_all(bytes16 marks)
{
	const words2 words = (words2)marks;

	return !~(words[0] & words[1]);
}

/* Each byte becomes the one before it; the first one is 0. */
static inline bytes16 bytes_before(bytes16 bytes)
{
	return (bytes16)__builtin_shufflevector((bytes16) { 0 }, bytes, 15, 16, 17, 18, 19, 20, 21,
						22, 23, 24, 25, 26, 27, 28, 29, 30);
}

/* Each byte becomes the sum of itself and all before it. */
static inline bytes16 bytes_sums(bytes16 bytes)
{
	const bytes16 none = { 0 };

	bytes += bytes_before(bytes);
	bytes += (bytes16)__builtin_shufflevector(none, bytes, 14, 15, 16, 17, 18, 19, 20, 21, 22,
						  23, 24, 25, 26, 27, 28, 29);
	bytes += (bytes16)__builtin_shufflevector(none, bytes, 12, 13, 14, 15, 16, 17, 18, 19, 20,
						  21, 22, 23, 24, 25, 26, 27);
	bytes += (bytes16)__builtin_shufflevector(none, bytes, 8, 9, 10, 11, 12, 13, 14, 15, 16,
						  17, 18, 19, 20, 21, 22, 23);
	return bytes;
}

/*
 * Rank of each letter in either case, 0 to 12. *known = all ones where there is one; elsewhere the
 * rank is 0.
 */
static inline bytes16 bytes_ranks(bytes16 text, bytes16 *known)
{
	const bytes16 small = text | 0x20, digit = (bytes16)(text - '2' < 8);
	const bytes16 ace = bytes_equal(small, 'a'), king = bytes_equal(small, 'k');
	const bytes16 queen = bytes_equal(small, 'q'), jack = bytes_equal(small, 'j');
	const bytes16 ten = bytes_equal(small, 't');

	*known = digit | ace | king | queen | jack | ten;
	return (digit & ('9' + 5 - text)) | (king & 1) | (queen & 2) | (jack & 3) | (ten & 4);
}

#define CARD_NOWHERE	63	/* of bytes_cards(): a byte that is no card */

/* The bit of each card: a load and no shift, which takes three steps on some processors. */
extern const dealbox_cards card_bits[64];

/* Numbers of the cards, from rank and suit (0 = spades). What is not known goes nowhere. */
static inline bytes16 bytes_cards(bytes16 ranks, bytes16 suits, bytes16 known)
{
	const bytes16 two = suits + suits, four = two + two;

	return (ranks + suits + four + four + four) | (~known & CARD_NOWHERE);
}

/* The cards with these numbers, without those that are nowhere. */
static inline dealbox_cards cards_gather(bytes16 numbers)
{
	uint8_t number[16];
	dealbox_cards cards = 0;

	memcpy(number, &numbers, sizeof(number));
	/* a store and sixteen loads: GCC would move each byte through memory by itself */
	__asm__("" : "+m"(number));
#pragma GCC unroll 16
	for (unsigned int i = 0; i < sizeof(number); i++)
		cards |= card_bits[number[i] & 63];
	return cards;
}

#endif
