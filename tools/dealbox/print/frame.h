/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paper, and what stands around the contents of a page. */
#ifndef PRINT_FRAME_H
#define PRINT_FRAME_H

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

#define GAP		6.0	/* between header, contents and footer, and around rules */

struct area {
	double x, y, w, h;
};

void rule_add(struct boxes *boxes, double x, double y, double w);

/*
 * frame_begin() adds the header of a page, with letters of that size, and returns the area that is
 * left; frame_end() adds the footer. pages: how many there are.
 */
struct area frame_begin(struct boxes *boxes, const struct sheet *sheet, const struct paper *paper,
			double size);
void frame_end(struct boxes *boxes, const struct sheet *sheet, const struct paper *paper,
	       double size, size_t page, size_t pages);

#endif
