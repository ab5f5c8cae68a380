/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The club's logo: SVG by librsvg, PNG by cairo. */
#ifndef ENGINE_LOGO_H
#define ENGINE_LOGO_H

#include <cairo.h>
#include <stddef.h>

struct logo;

/* data is needed until logo_free(). Returns NULL if it is neither, or damaged, or far too large. */
struct logo *logo_new(const void *data, size_t size);
void logo_free(struct logo *logo);

void logo_size(const struct logo *logo, double *w, double *h);
void logo_draw(struct logo *logo, cairo_t *cr, double x, double y, double w, double h);

#endif
