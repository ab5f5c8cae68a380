/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Real cards, and where they lie: a pile is an ordered heap of them.
 */
#ifndef EMULATOR_PILE_H
#define EMULATOR_PILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PILE_MAX	512	/* cards that a pile can hold */

/* One physical card. What the reader makes of it is another matter. */
struct card {
	uint8_t number;		/* 0..53 */
	uint8_t pack;		/* which pack it belongs to: the colour of its back */
	bool stray;		/* belongs to no pack of this machine: an extra card */
	bool face_up;
};

/* card[0] is the next that leaves a hopper, and the lowest in a pocket. */
struct pile {
	struct card card[PILE_MAX];
	unsigned int count;
};

/*
 * 0..limit-1, every number equally likely; limit is not 0. A small generator: the same
 * order for the same seed, everywhere.
 */
uint32_t random_below(uint64_t *state, uint32_t limit);

/* False, and nothing done, when the pile is full. */
bool pile_put_top(struct pile *pile, struct card card);
bool pile_put_bottom(struct pile *pile, struct card card);
/* Takes the card at an index below count; the others keep their order. */
struct card pile_take(struct pile *pile, unsigned int index);
/* Moves all cards of from to the bottom of to; those that do not fit stay. */
void pile_move_all(struct pile *to, struct pile *from);
void pile_shuffle(struct pile *pile, uint64_t *random);

/*
 * The card named by the text: suit S H D C and rank A K Q J T (or 10) 9..2 in either
 * order of letters' case, or joker1, joker2. Returns 0..53, or -1.
 */
int card_parse(const char *text);

#endif
