/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One board in a rectangle: compass diagram, board, dealer, vulnerability, points, double dummy. */
#ifndef PRINT_DIAGRAM_H
#define PRINT_DIAGRAM_H

#include "frame.h"

/*
 * Adds the boxes of a board. They lie within area, and the size of its cards is at most size.
 * Returns the height that it takes.
 */
double diagram_add(struct boxes *boxes, const struct sheet *sheet, const struct sheet_board *board,
		   const struct area *area, double size);

#endif
