// SPDX-License-Identifier: LGPL-2.1-or-later
#include <librsvg/rsvg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "logo.h"

#define PIXELS_MAX	(16u << 20)	/* of a PNG: 64 MB in memory */

struct logo {
	RsvgHandle *svg;
	cairo_surface_t *png;
	double w, h;
};

struct source {
	const unsigned char *data;
	size_t size;
};

static cairo_status_t source_read(void *context, unsigned char *data, unsigned int size)
{
	struct source *source = context;

	if (size > source->size)
		return CAIRO_STATUS_READ_ERROR;
	memcpy(data, source->data, size);
	source->data += size;
	source->size -= size;
	return CAIRO_STATUS_SUCCESS;
}

static uint32_t be32(const unsigned char *data)
{
	return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

static bool png_load(struct logo *logo, const unsigned char *data, size_t size)
{
	static const unsigned char magic[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
	struct source source = { data, size };

	/* the first chunk has width and height */
	if (size < 24 || memcmp(data, magic, 8) || !be32(data + 16) || !be32(data + 20) ||
	    (uint64_t)be32(data + 16) * be32(data + 20) > PIXELS_MAX)
		return false;
	logo->png = cairo_image_surface_create_from_png_stream(source_read, &source);
	logo->w = cairo_image_surface_get_width(logo->png);
	logo->h = cairo_image_surface_get_height(logo->png);
	return cairo_surface_status(logo->png) == CAIRO_STATUS_SUCCESS;
}

static bool svg_load(struct logo *logo, const unsigned char *data, size_t size)
{
	RsvgRectangle ink, box;

	logo->svg = rsvg_handle_new_from_data(data, size, NULL);
	if (!logo->svg)
		return false;
	if (!rsvg_handle_get_intrinsic_size_in_pixels(logo->svg, &logo->w, &logo->h)) {
		if (!rsvg_handle_get_geometry_for_element(logo->svg, NULL, &ink, &box, NULL))
			return false;
		logo->w = ink.width;
		logo->h = ink.height;
	}
	return true;
}

struct logo *logo_new(const void *data, size_t size)
{
	struct logo *logo = g_new0(struct logo, 1);

	if ((png_load(logo, data, size) || (!logo->png && svg_load(logo, data, size))) &&
	    logo->w > 0 && logo->h > 0)
		return logo;
	logo_free(logo);
	return NULL;
}

void logo_free(struct logo *logo)
{
	if (!logo)
		return;
	if (logo->png)
		cairo_surface_destroy(logo->png);
	if (logo->svg)
		g_object_unref(logo->svg);
	g_free(logo);
}

void logo_size(const struct logo *logo, double *w, double *h)
{
	*w = logo->w;
	*h = logo->h;
}

void logo_draw(struct logo *logo, cairo_t *cr, double x, double y, double w, double h)
{
	const RsvgRectangle place = { x, y, w, h };

	if (logo->svg) {
		rsvg_handle_render_document(logo->svg, cr, &place, NULL);
		return;
	}
	cairo_save(cr);
	cairo_translate(cr, x, y);
	cairo_scale(cr, w / logo->w, h / logo->h);
	cairo_set_source_surface(cr, logo->png, 0, 0);
	cairo_paint(cr);
	cairo_restore(cr);
}
