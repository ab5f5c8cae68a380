/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Synthetic cards for the reader of tools/machine: where the edges of a code are, and when they
 * come.
 */
#ifndef CARD_STRIP_H
#define CARD_STRIP_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "reader.h"

#define STRIP_EDGES	64
#define STRIP_LENGTH	(137.0 / 11)	/* modules */

/* Edges of a code, in modules from its beginning: dark begins at even ones */
struct strip {
	unsigned int count;
	double edges[STRIP_EDGES];
};

static inline void strip_dark(struct strip *strip, double from, double to)
{
	if (strip->count && fabs(strip->edges[strip->count - 1] - from) < 0.001) {
		strip->edges[strip->count - 1] = to;
		return;
	}
	strip->edges[strip->count++] = from;
	strip->edges[strip->count++] = to;
}

static inline struct strip strip_of(uint16_t code)
{
	struct strip strip = { 0 };

	strip_dark(&strip, 0, 8.0 / 11);
	for (int module = 0; module < CODE_MODULES; module++)
		if (code >> (CODE_MODULES - 1 - module) & 1)
			strip_dark(&strip, 19.0 / 11 + module, 19.0 / 11 + module + 1);
	strip_dark(&strip, 129.0 / 11, STRIP_LENGTH);
	return strip;
}

static inline void strip_turn(struct strip *strip)
{
	const struct strip from = *strip;

	for (unsigned int i = 0; i < from.count; i++)
		strip->edges[i] = STRIP_LENGTH - from.edges[from.count - 1 - i];
}

/* How a card passes the sensor */
struct pass {
	double ticks;	/* for a module, in the middle */
	double change;	/* of the speed, over the code: 0.5 = half as fast again at the end */
	double dark;	/* modules that a bar seems wider */
	uint32_t start;
};

/* With constant acceleration, the square of the speed is linear in the way. */
static inline uint32_t pass_time(const struct pass *pass, double at)
{
	const double middle = 1 / pass->ticks, first = middle * (1 - pass->change / 2);
	const double last = middle * (1 + pass->change / 2);
	const double acceleration = (last * last - first * first) / (2 * STRIP_LENGTH);
	const double time = fabs(acceleration) < 1e-12 ? at / middle :
			    (sqrt(first * first + 2 * acceleration * at) - first) / acceleration;

	return pass->start + (uint32_t)(int64_t)llround(time + 4 * pass->ticks);
}

static inline struct reading strip_read(const struct strip *strip, const struct pass *pass,
					bool reversed)
{
	struct reader reader;
	struct reading reading;

	reader_start(&reader, reversed);
	for (unsigned int i = 0; i < strip->count; i++)
		reader_edge(&reader,
			    pass_time(pass, strip->edges[i] + (i % 2 ? 0.5 : -0.5) * pass->dark),
			    !(i % 2));
	reader_read(&reader, &reading);
	return reading;
}

#endif
