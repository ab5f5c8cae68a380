// SPDX-License-Identifier: LGPL-2.1-or-later
/* Boxes to a PDF file, in memory: nothing but the finished file is ever written. */
#include <cairo-pdf.h>
#include <errno.h>
#include <pango/pangocairo.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"
#include "finish.h"
#include "logo.h"
#include "qr.h"
#include "shaper.h"

struct buffer {
	unsigned char *data;
	size_t size, room;
};

struct drawing {
	struct buffer pdf;
	cairo_surface_t *surface;
	cairo_t *cr;
	struct shaper *shaper;
	struct ruler ruler;
	struct logo *logo;
	char *language;
	bool dated;
	struct figures figures;
	bool failed;	/* out of memory */
};

static void buffer_wipe(struct buffer *buffer)
{
	if (buffer->data)
		explicit_bzero(buffer->data, buffer->size);
	free(buffer->data);
	*buffer = (struct buffer){ 0 };
}

static cairo_status_t buffer_write(void *context, const unsigned char *data, unsigned int size)
{
	struct buffer *buffer = context;
	unsigned char *more;
	size_t room;

	if (buffer->size + size > buffer->room) {
		room = 2 * buffer->room + size;
		more = malloc(room);
		if (!more)
			return CAIRO_STATUS_NO_MEMORY;
		if (buffer->size) {
			memcpy(more, buffer->data, buffer->size);
			explicit_bzero(buffer->data, buffer->size);
		}
		free(buffer->data);
		buffer->data = more;
		buffer->room = room;
	}
	memcpy(buffer->data + buffer->size, data, size);
	buffer->size += size;
	return CAIRO_STATUS_SUCCESS;
}

static double ruler_width(void *context, const struct face *face, const char *text)
{
	return shaper_width(context, face, text);
}

static void metadata_set(struct drawing *drawing, const struct drawing_setup *setup)
{
	const time_t made = (time_t)setup->made;
	char text[32];
	struct tm tm;

	cairo_pdf_surface_set_metadata(drawing->surface, CAIRO_PDF_METADATA_TITLE, setup->title);
	cairo_pdf_surface_set_metadata(drawing->surface, CAIRO_PDF_METADATA_CREATOR, "dealbox");
	drawing->dated = setup->made >= 0 && gmtime_r(&made, &tm) &&
			 strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (drawing->dated)
		cairo_pdf_surface_set_metadata(drawing->surface, CAIRO_PDF_METADATA_CREATE_DATE,
					       text);
}

static void drawing_free(struct drawing *drawing)
{
	if (!drawing)
		return;
	if (drawing->cr)
		cairo_destroy(drawing->cr);
	if (drawing->surface)
		cairo_surface_destroy(drawing->surface);
	if (drawing->shaper)
		shaper_free(drawing->shaper);
	logo_free(drawing->logo);
	buffer_wipe(&drawing->pdf);
	free(drawing->language);
	for (size_t i = 0; i < drawing->figures.count; i++)
		free(drawing->figures.about[i]);
	free(drawing->figures.about);
	free(drawing);
}

static struct drawing *drawing_begin(const struct drawing_setup *setup, const char **problem)
{
	struct drawing *drawing = calloc(1, sizeof(*drawing));

	*problem = "out of memory";
	if (!drawing)
		return NULL;
	if (setup->logo) {
		drawing->logo = logo_new(setup->logo, setup->logo_size);
		if (!drawing->logo) {
			*problem = "this is no picture that can be printed";
			goto fail;
		}
	}
	drawing->language = strdup(setup->language);
	drawing->surface = cairo_pdf_surface_create_for_stream(buffer_write, &drawing->pdf,
							       setup->w, setup->h);
	drawing->cr = cairo_create(drawing->surface);
	drawing->shaper = shaper_new(setup->font, setup->language);
	if (!drawing->language || cairo_status(drawing->cr))
		goto fail;
	drawing->ruler = (struct ruler){ .width = ruler_width, .context = drawing->shaper };
	shaper_extent(drawing->shaper, &drawing->ruler.ascent, &drawing->ruler.descent);
	metadata_set(drawing, setup);
	return drawing;
fail:
	drawing_free(drawing);
	return NULL;
}

static const struct ruler *drawing_ruler(struct drawing *drawing)
{
	return &drawing->ruler;
}

static void drawing_logo(struct drawing *drawing, double *w, double *h)
{
	*w = *h = 0;
	if (drawing->logo)
		logo_size(drawing->logo, w, h);
}

/* On white paper; of an opaque colour, since not all printers know transparency. */
static void tint_set(cairo_t *cr, enum ink ink, double tint)
{
	const unsigned char *colour = ink_colours[ink];

	cairo_set_source_rgb(cr, 1 - tint * (1 - colour[0] / 255.0),
			     1 - tint * (1 - colour[1] / 255.0),
			     1 - tint * (1 - colour[2] / 255.0));
}

static void ink_set(cairo_t *cr, enum ink ink)
{
	tint_set(cr, ink, 1);
}

static void open_draw(struct drawing *drawing, const struct box *box)
{
	cairo_tag_begin(drawing->cr, box->text, NULL);
}

static void figure_draw(struct drawing *drawing, const struct box *box)
{
	struct figures *figures = &drawing->figures;
	char **about = reallocarray(figures->about, figures->count + 1, sizeof(*about));

	cairo_tag_begin(drawing->cr, "Figure", NULL);
	drawing->failed |= !about;
	if (!about)
		return;
	figures->about = about;
	about[figures->count] = strdup(box->text);
	drawing->failed |= !about[figures->count++];
}

static void close_draw(struct drawing *drawing, const struct box *box)
{
	cairo_tag_end(drawing->cr, box->text);
}

static void text_draw(struct drawing *drawing, const struct box *box)
{
	ink_set(drawing->cr, box->ink);
	shaper_draw(drawing->shaper, drawing->cr, &box->face, box->x,
		    box->y + drawing->ruler.ascent * box->face.size, box->text);
}

static void fill_draw(struct drawing *drawing, const struct box *box)
{
	tint_set(drawing->cr, box->ink, box->tint);
	cairo_rectangle(drawing->cr, box->x, box->y, box->w, box->h);
	cairo_fill(drawing->cr);
}

#define FRAME_LINE	0.5

static void frame_draw(struct drawing *drawing, const struct box *box)
{
	ink_set(drawing->cr, box->ink);
	cairo_set_line_width(drawing->cr, FRAME_LINE);
	cairo_rectangle(drawing->cr, box->x + FRAME_LINE / 2, box->y + FRAME_LINE / 2,
			box->w - FRAME_LINE, box->h - FRAME_LINE);
	cairo_stroke(drawing->cr);
}

#define PATTERN_STEP	3.0

/* Diagonal lines in both directions on grey: no print shines through. */
static void pattern_draw(struct drawing *drawing, const struct box *box)
{
	cairo_t *cr = drawing->cr;
	const double reach = box->w + box->h;

	cairo_save(cr);
	cairo_rectangle(cr, box->x, box->y, box->w, box->h);
	cairo_clip(cr);
	cairo_set_source_rgb(cr, 0.5, 0.5, 0.5);
	cairo_paint(cr);
	ink_set(cr, box->ink);
	cairo_set_line_width(cr, 1);
	for (double at = 0; at < reach; at += PATTERN_STEP) {
		cairo_move_to(cr, box->x + at, box->y);
		cairo_line_to(cr, box->x + at - box->h, box->y + box->h);
		cairo_move_to(cr, box->x + at - box->h, box->y);
		cairo_line_to(cr, box->x + at, box->y + box->h);
	}
	cairo_stroke(cr);
	cairo_restore(cr);
}

static void logo_box_draw(struct drawing *drawing, const struct box *box)
{
	if (drawing->logo)
		logo_draw(drawing->logo, drawing->cr, box->x, box->y, box->w, box->h);
}

static void qr_box_draw(struct drawing *drawing, const struct box *box)
{
	qr_draw(drawing->cr, box->x, box->y, box->w, box->text);
}

static void (*const draws[])(struct drawing *drawing, const struct box *box) = {
	[BOX_OPEN] = open_draw, [BOX_FIGURE] = figure_draw, [BOX_CLOSE] = close_draw,
	[BOX_TEXT] = text_draw, [BOX_FILL] = fill_draw, [BOX_FRAME] = frame_draw,
	[BOX_LOGO] = logo_box_draw,
	[BOX_QR] = qr_box_draw, [BOX_PATTERN] = pattern_draw,
};

/*
 * White paper first: cairo keeps the region that is drawn on, and unites it with each box. A region
 * that is the whole page stays one rectangle; else that takes an eighth of the time.
 */
static void paper_draw(struct drawing *drawing)
{
	cairo_set_source_rgb(drawing->cr, 1, 1, 1);
	cairo_paint(drawing->cr);
}

static int drawing_page(struct drawing *drawing, const struct boxes *boxes)
{
	paper_draw(drawing);
	for (size_t i = 0; i < boxes->count; i++)
		draws[boxes->list[i].kind](drawing, &boxes->list[i]);
	cairo_show_page(drawing->cr);
	return cairo_status(drawing->cr) || drawing->failed ? -ENOMEM : 0;
}

static int drawing_end(struct drawing *drawing, void **data, size_t *size)
{
	cairo_surface_finish(drawing->surface);
	if (cairo_surface_status(drawing->surface))
		return -ENOMEM;
	return pdf_finish(drawing->pdf.data, drawing->pdf.size, drawing->language, drawing->dated,
			  &drawing->figures, data, size);
}

extern const struct print_engine dealbox_print_engine;

__attribute__((visibility("default"))) const struct print_engine dealbox_print_engine = {
	.version = ENGINE_VERSION,
	.begin = drawing_begin,
	.ruler = drawing_ruler,
	.logo = drawing_logo,
	.page = drawing_page,
	.end = drawing_end,
	.free = drawing_free,
	.qr = qr_make,
};
