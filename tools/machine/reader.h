/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader: a card's bar code from the edges that one photo sensor sees. The caller brings the
 * edges, with the time of each in ticks of any clock that wraps at 2^32; a code may take at most
 * 2^30 ticks, and should take more than some thousand. No allocation; one struct reader is one
 * sensor.
 */
#ifndef MACHINE_READER_H
#define MACHINE_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "codes.h"

/* A code has 14 edges at most: two for each border, and for five bars. More are dirt. */
#define READER_EDGES	14

/* Below this quality no card is named: R-4-13. An edge is more than a quarter of a module off. */
#define READER_QUALITY	50

enum reader_result {
	READER_CARD,		/* a code that a card has, of good quality */
	READER_DOUBT,		/* there is a code, but no card has it, or its quality is too low */
	READER_NOTHING,		/* no code: see why */
};

/* Why there is no card */
enum reader_why {
	READER_WHY_NONE,
	READER_WHY_EMPTY, /* no edge at all */
	READER_WHY_LOST_EDGE, /* dark after dark or light after light, or the caller lost events */
	READER_WHY_TOO_FEW, /* fewer edges than a code has */
	READER_WHY_TOO_MANY,
	READER_WHY_SPEED,	/* it changes too much, or the borders are no borders */
	READER_WHY_GRID,	/* an edge is between two modules, or two are at the same place */
	READER_WHY_NO_CARD,	/* no card has the code */
};

struct reading {
	enum reader_result result;
	enum reader_why why;
	uint8_t card;			/* 0..52 (52 = a joker); CODE_NO_CARD unless READER_CARD */
	uint8_t quality;		/* 0..100; 1..49: doubt */
	uint16_t code;			/* as seen, in the direction of the code; 0 = none */
	uint8_t turned;			/* the card if the direction is wrong; CODE_NO_CARD: none */
	/*
	 * Of a doubt: the cards that are at most one module away. They may lie there; others may,
	 * too.
	 */
	uint8_t near_count, near[CODE_NEAR_MAX];
};

struct reader {
	bool reversed;			/* the last module comes first */
	bool dark, lost;
	uint8_t count, more;		/* edges; more: than are kept, counted to 2 */
	uint32_t edges[READER_EDGES];
};

/*
 * Make a reader ready for the next card, with the sensor over white. reversed: cards pass it the
 * other way round, which a code cannot tell. A whole pack with `turned` cards shows that it is set
 * wrong.
 */
void reader_start(struct reader *reader, bool reversed);

/* Take an edge; dark: a bar begins. Edges come in the order of time. */
void reader_edge(struct reader *reader, uint32_t time, bool dark);

/* Say that edges may have been lost: the card counts as not read. */
void reader_lost(struct reader *reader);

/*
 * Return true if the code is over: it has been light for longer than the code took. Not before the
 * code has the edges of the shortest one, so the caller ends a card that has left in any case. It
 * may be too early if the speed falls to less than half within the code.
 */
bool reader_is_over(const struct reader *reader, uint32_t now);

/* Read the card. An edge to dark at the end, of a card that leaves, does not count. */
void reader_read(const struct reader *reader, struct reading *reading);

#endif
