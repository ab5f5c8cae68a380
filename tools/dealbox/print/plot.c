// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "plot.h"

struct plot *plot_new(double w, double h)
{
	struct plot *plot = calloc(1, sizeof(*plot));

	if (plot) {
		plot->w = w;
		plot->h = h;
	}
	return plot;
}

void plot_free(struct plot *plot)
{
	if (plot)
		free(plot->marks);
	free(plot);
}

static struct plot_mark *mark_add(struct plot *plot)
{
	const size_t room = 2 * plot->room + 64;
	struct plot_mark *marks = plot->marks;

	if (plot->count == plot->room) {
		marks = realloc(marks, room * sizeof(*marks));
		if (!marks) {
			plot->failed = true;
			return NULL;
		}
		plot->marks = marks;
		plot->room = room;
	}
	return &marks[plot->count++];
}

void plot_fill(struct plot *plot, enum ink ink, double tint, double x, double y, double w, double h)
{
	struct plot_mark *mark = mark_add(plot);

	if (mark)
		*mark = (struct plot_mark){
			.ink = ink, .tint = tint, .x = x, .y = y, .w = w, .h = h
		};
}

void plot_text(struct plot *plot, enum align align, double x, double y, double w, double h,
	       const char *format, ...)
{
	struct plot_mark *mark = mark_add(plot);
	va_list list;

	if (!mark)
		return;
	*mark = (struct plot_mark){
		.ink = INK_TEXT, .tint = 1, .align = align, .x = x, .y = y, .w = w, .h = h
	};
	va_start(list, format);
	vsnprintf(mark->text, sizeof(mark->text), format, list);
	va_end(list);
}
