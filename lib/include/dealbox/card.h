/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cards, seats, suits, packs: numbers as in every part of dealbox.
 *
 * 0 = spade ace .. 12 = spade two, then hearts, diamonds, clubs; 52 and 53 are
 * jokers; 255 is "not read" (the numbering of all deal-file formats, minus one).
 */
#ifndef DEALBOX_CARD_H
#define DEALBOX_CARD_H

#include <stdint.h>

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

#ifdef __cplusplus
}
#endif
#endif
