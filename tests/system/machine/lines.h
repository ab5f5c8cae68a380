/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by lines_host.c and lines_world.c: a deal made from a seed, and the format of its file.
 */
#ifndef MACHINE_LINES_H
#define MACHINE_LINES_H

#include <stdint.h>
#include <stdio.h>

#define LINES_CARDS	52
#define LINES_NOWHERE	255

static inline void lines_shuffle(unsigned long seed, uint8_t cards[LINES_CARDS])
{
	uint64_t state = seed * 2 + 1;

	for (uint8_t card = 0; card < LINES_CARDS; card++)
		cards[card] = card;
	for (unsigned int left = LINES_CARDS; left > 1; left--) {
		unsigned int other;
		uint8_t card;

		state = state * 6364136223846793005u + 1442695040888963407u;
		other = (unsigned int)(state >> 33) % left;
		card = cards[left - 1];
		cards[left - 1] = cards[other];
		cards[other] = card;
	}
}

/* The pocket of each card */
static inline void lines_pockets(unsigned long seed, uint8_t pockets[LINES_CARDS])
{
	uint8_t cards[LINES_CARDS];

	lines_shuffle(seed, cards);
	for (unsigned int n = 0; n < LINES_CARDS; n++)
		pockets[cards[n]] = n / 13;
}

static inline void lines_write(const char *path, const uint8_t pockets[LINES_CARDS])
{
	FILE *file = fopen(path, "w");

	for (unsigned int card = 0; file && card < LINES_CARDS; card++)
		fprintf(file, "%u %u\n", card, pockets[card]);
	if (file)
		fclose(file);
}

#endif
