/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics of a set after play: shapes and points of each seat, and what chance makes of them. */
#ifndef PRINT_STATISTICS_H
#define PRINT_STATISTICS_H

#include "rows.h"

/* Adds the tables. Only bridge hands of which every card is known are counted. */
void statistics_add(struct rows *rows, const struct sheet *sheet);

/* Return the chance of a hand with these points, or with suits of these lengths in any order. */
double statistics_points_chance(unsigned int points);
double statistics_shape_chance(const unsigned int lengths[4]);

#endif
