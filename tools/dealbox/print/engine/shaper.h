/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text to glyphs, by pango. Each text is shaped once, at size 1, and kept; a line of ranks is put
 * together of ranks that were shaped before.
 */
#ifndef ENGINE_SHAPER_H
#define ENGINE_SHAPER_H

#include <cairo.h>

#include "print/boxes.h"

/* For one document, which is drawn by one cairo_t. */
struct shaper;

/* Returns NULL if out of memory. font is a family; one that the system lacks is replaced. */
struct shaper *shaper_new(const char *font, const char *language);
void shaper_free(struct shaper *shaper);

/* Distances of the highest and lowest points of usual letters from the base line, at size 1. */
void shaper_extent(struct shaper *shaper, double *ascent, double *descent);

double shaper_width(struct shaper *shaper, const struct face *face, const char *text);

/*
 * Draws a line from x on the base line y, followed by a space for those who copy or hear the text.
 */
void shaper_draw(struct shaper *shaper, cairo_t *cr, const struct face *face, double x, double y,
		 const char *text);

#endif
