/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plot: rectangles and short texts, in lengths of its own, from the upper left corner. */
#ifndef PRINT_PLOT_H
#define PRINT_PLOT_H

#include "boxes.h"

#define PLOT_TEXT	24	/* bytes of a text, with its end */

struct plot_mark {
	enum ink ink;
	double tint;		/* of a rectangle: the share of ink, 1 = all of it */
	double x, y, w, h;	/* a text stands in it, as high as it is */
	enum align align;	/* of a text */
	char text[PLOT_TEXT];	/* "" = a rectangle */
};

struct plot {
	double w, h;
	char title[96];
	char about[256];	/* what there is to see, in words */
	struct plot_mark *marks;
	size_t count, room;
	bool failed;		/* out of memory */
};

/* Return an empty plot, NULL if out of memory. plot_free() it. */
struct plot *plot_new(double w, double h);
void plot_free(struct plot *plot);

void plot_fill(struct plot *plot, enum ink ink, double tint, double x, double y, double w,
	       double h);

/* Add a text (printf) whose line is as high as the box, at most PLOT_TEXT - 1 bytes. */
void plot_text(struct plot *plot, enum align align, double x, double y, double w, double h,
	       const char *format, ...) __attribute__((format(printf, 7, 8)));

#endif
