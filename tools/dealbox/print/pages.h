/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pages: how many boards stand on one, and where. */
#ifndef PRINT_PAGES_H
#define PRINT_PAGES_H

#include "boxes.h"
#include "sheet.h"

struct paper {
	const char *name;	/* "a4" */
	double w, h;		/* points */
	unsigned int height_mm;	/* as LC_PAPER has it */
};

/* Returns the paper of that name, NULL if there is none. */
const struct paper *paper_find(const char *name);

/* Returns the paper of the locale (LC_PAPER), A4 if it has another one. */
const struct paper *paper_default(void);

/* Outside of this, printers do not print. */
#define PAGE_MARGIN	30.0

struct layout;

/* Returns the layout of that name, NULL if there is none. */
const struct layout *layout_find(const char *name);

/* Returns the layout with that index, from 0, and its name; NULL beyond the last. */
const struct layout *layout_get(size_t index);
const char *layout_name(const struct layout *layout);

/* Returns the number of pages, at least one. */
size_t pages_count(const struct sheet *sheet, const struct layout *layout);

/* Makes the boxes of a page, from 0. The list is emptied first. */
void pages_make(struct boxes *boxes, const struct sheet *sheet, const struct layout *layout,
		const struct paper *paper, size_t page);

#endif
