/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cards, seats, suits, packs: the numbers used in every part of dealbox.
 *
 * 0 = spade ace .. 12 = spade two, then hearts, diamonds, clubs; 52 and 53 are
 * jokers; 255 is "not read" (the numbering of all deal-file formats, minus one).
 */
#ifndef DEALBOX_CARD_H
#define DEALBOX_CARD_H

#include <stddef.h>
#include <stdint.h>

#include <dealbox/api.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEALBOX_CARDS		52	/* cards of a full pack without jokers */
#define DEALBOX_CARD_JOKER1	52
#define DEALBOX_CARD_JOKER2	53
#define DEALBOX_CARD_NONE	255	/* not read, not known */

enum dealbox_suit {
	DEALBOX_SPADES, DEALBOX_HEARTS, DEALBOX_DIAMONDS, DEALBOX_CLUBS
};

/* Pockets 0..3 of a bridge board; in preferans pocket 3 is the talon. */
enum dealbox_seat {
	DEALBOX_NORTH, DEALBOX_EAST, DEALBOX_SOUTH, DEALBOX_WEST
};

/* A set of cards: bit n = card n. */
typedef uint64_t dealbox_cards;

#define DEALBOX_PACK_BRIDGE	((dealbox_cards)0x000fffffffffffffULL)
/* 32 cards, sevens up: ranks A K Q J T 9 8 7 of each suit (code of preferans 3.2) */
#define DEALBOX_PACK_PREFERANS	((dealbox_cards)0x00007f83fc1fe0ffULL)

/*
 * Returns the name of a card: suit letter and rank letter ("SA", "HT", "C2"), "joker 1", "joker 2";
 * "?" for every other number. The string is static.
 */
DEALBOX_API const char *dealbox_card_name(unsigned int card);

/*
 * Returns the card number of a name as dealbox_card_name() gives it. Case is ignored, and "10" is
 * the same as "T". -EINVAL: not a card.
 */
DEALBOX_API int dealbox_card_parse(const char *name);

/* Returns the letter of a seat: N, E, S, W; '?' for every other number. */
DEALBOX_API char dealbox_seat_letter(int seat);

/* Returns the name of a seat: "North" ..; "?" for every other number. Static. */
DEALBOX_API const char *dealbox_seat_name(int seat);

/* Returns the seat of a letter, upper or lower case. -EINVAL: not a seat. */
DEALBOX_API int dealbox_seat_parse(char letter);

/* Size of a buffer for the text of any set of cards, including the terminating zero. */
#define DEALBOX_CARDS_TEXT	56

/*
 * Writes a hand as PBN does (standard 2.1, 3.4.11): ranks descending, suits in
 * the order spades, hearts, diamonds, clubs with a dot between: "AK2..QJ.T98".
 * Jokers are left out. Returns the length without the terminating zero.
 */
DEALBOX_API size_t dealbox_cards_format(dealbox_cards cards,
					char text[DEALBOX_CARDS_TEXT]);

/* Returns the number of cards in a set. */
static inline unsigned int dealbox_cards_count(dealbox_cards cards)
{
#ifdef __POPCNT__
	return (unsigned int)__builtin_popcountll(cards);
#else
	/* without popcnt the builtin is a call, which takes longer than unpacking a deal */
	cards -= cards >> 1 & 0x5555555555555555ULL;
	cards = (cards & 0x3333333333333333ULL) + (cards >> 2 & 0x3333333333333333ULL);
	cards = (cards + (cards >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (unsigned int)(cards * 0x0101010101010101ULL >> 56);
#endif
}

#ifdef __cplusplus
}
#endif
#endif
