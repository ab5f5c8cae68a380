/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Physical cards, and piles of them. */
#ifndef EMULATOR_PILE_H
#define EMULATOR_PILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PILE_MAX	512	/* capacity of a pile */

/* A physical card, regardless of how it is read */
struct card {
	uint8_t number;		/* 0..53 */
	uint8_t pack;		/* its pack, like the colour of its back */
	bool stray;		/* an extra card of no pack */
	bool face_up;
};

/* card[0] is the next card from the hopper, and the lowest card in a pocket. */
struct pile {
	struct card card[PILE_MAX];
	unsigned int count;
};

/*
 * Return a random number in 0..limit-1, uniformly distributed; limit is not 0. The same seed yields
 * the same sequence on every computer.
 */
uint32_t random_below(uint64_t *state, uint32_t limit);

/* These return false, without effect, if the pile is full. */
bool pile_put_top(struct pile *pile, struct card card);
bool pile_put_bottom(struct pile *pile, struct card card);
/* Remove the card at index, which is less than count. The others keep their order. */
struct card pile_take(struct pile *pile, unsigned int index);
/* Move all cards of from to the bottom of to, as far as they fit. */
void pile_move_all(struct pile *to, struct pile *from);
void pile_shuffle(struct pile *pile, uint64_t *random);

/*
 * Parse a card: suit S H D C and rank A K Q J T (or 10) 9..2, in upper or lower case; or joker1,
 * joker2. Returns 0..53, or -1.
 */
int card_parse(const char *text);

#endif
