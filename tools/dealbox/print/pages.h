/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Layouts: how many pages a sheet has, and the boxes of each. */
#ifndef PRINT_PAGES_H
#define PRINT_PAGES_H

#include "frame.h"

/* A layout makes pages of its own kind; the other members are for that. */
struct layout {
	const char *name;
	size_t (*count)(const struct sheet *sheet, const struct layout *layout);
	void (*make)(struct boxes *boxes, const struct sheet *sheet, const struct layout *layout,
		     const struct paper *paper, size_t page);
	/*
	 * Prepares the rows of tables for the width of a page, once, before they are counted; or
	 * NULL.
	 */
	void (*fold)(const struct sheet *sheet, const struct layout *layout,
		     const struct ruler *ruler, const struct paper *paper);
	unsigned int columns, rows;
	double size;		/* of the cards */
	double around;		/* of header and footer */
	double share;		/* of a cell's height that a diagram may take */
	bool duplex;		/* to be printed on both sides, turned over the long edge */
	void (*below)(struct boxes *boxes, const struct sheet *sheet, const struct area *area);
};

/* Curtain cards: curtain.c */
extern const struct layout curtain9, curtain16;

/* The tables of a sheet, for receipts and statistics: tables.c */
extern const struct layout tables_layout;

/* Returns the layout of that name, NULL if there is none. */
const struct layout *layout_find(const char *name);

/* Returns the layout with that index, from 0; NULL beyond the last. */
const struct layout *layout_get(size_t index);

/* Returns the number of pages, at least one. */
size_t pages_count(const struct sheet *sheet, const struct layout *layout);

/* Makes the boxes of a page, from 0. The list is emptied first. */
void pages_make(struct boxes *boxes, const struct sheet *sheet, const struct layout *layout,
		const struct paper *paper, size_t page);

#endif
