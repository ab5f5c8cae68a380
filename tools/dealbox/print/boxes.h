/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A page as a list of boxes, in reading order. Layouts make it, an engine draws it. Lengths are in
 * points (1/72 inch), from the upper left corner of the page.
 */
#ifndef PRINT_BOXES_H
#define PRINT_BOXES_H

#include <stdbool.h>
#include <stddef.h>

enum ink {
	INK_SPADES, INK_HEARTS, INK_DIAMONDS, INK_CLUBS,	/* as enum dealbox_suit */
	INK_TEXT, INK_FAINT,
	INKS
};

/* Red, green, blue: 0 to 255. Each is dark enough on white paper, also without colours. */
extern const unsigned char ink_colours[INKS][3];

struct face {
	double size;
	bool bold;
	bool cards;	/* ranks, with narrow spaces */
};

enum box_kind {
	BOX_OPEN,	/* begins the structure element named text; it has no place */
	BOX_FIGURE,	/* begins a figure, which text describes; BOX_CLOSE "Figure" ends it */
	BOX_CLOSE,	/* ends an element */
	BOX_TEXT,	/* one line */
	BOX_FILL,	/* a filled rectangle, of a tint */
	BOX_FRAME,	/* its outline, drawn inside */
	BOX_LOGO,
	BOX_QR,		/* text as a QR code */
	BOX_PATTERN,	/* an opaque pattern */
};

struct box {
	enum box_kind kind;
	enum ink ink;
	struct face face;
	double x, y, w, h;
	double tint;	/* the share of ink; 1 = all of it */
	const char *text;
};

/* Tells the width of a line. An engine does, or a test. */
struct ruler {
	double (*width)(void *context, const struct face *face, const char *text);
	void *context;
	double ascent, descent;		/* of a face of size 1 */
};

struct boxes {
	struct box *list;
	size_t count, room;
	char *text;			/* all texts */
	size_t text_used, text_room;
	const struct ruler *ruler;
	bool failed;			/* out of memory */
};

/* Empties the list for the next page. */
void boxes_clear(struct boxes *boxes);

/* Overwrites and frees the list: its texts are cards. */
void boxes_free(struct boxes *boxes);

void boxes_open(struct boxes *boxes, const char *element);
/*
 * Begins a figure. Who hears the page hears the words instead of what is drawn until boxes_close().
 */
void boxes_figure(struct boxes *boxes, const char *about);
void boxes_close(struct boxes *boxes, const char *element);

/* Adds a box without text. */
void boxes_shape(struct boxes *boxes, enum box_kind kind, enum ink ink, double x, double y,
		 double w, double h);

/* Adds a filled rectangle of a lighter ink. */
void boxes_tint(struct boxes *boxes, enum ink ink, double tint, double x, double y, double w,
		double h);

/* Adds a QR code of text. */
void boxes_qr(struct boxes *boxes, double x, double y, double size, const char *text);

enum align { ALIGN_LEFT, ALIGN_CENTRE, ALIGN_RIGHT };

/* A line of text at y (its upper edge), in a column at x of width w. */
struct line {
	struct face face;
	enum ink ink;
	enum align align;
	bool whole;		/* never shortened, however small it gets */
	double x, y, w;
};

/*
 * Adds a line of text (printf). It gets smaller if the column is too narrow. Below the smallest
 * legible size, it ends with "…" unless it is to stay whole. Returns the width that it takes.
 */
double boxes_line(struct boxes *boxes, const struct line *line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Returns the height of a line of that size. */
double boxes_height(const struct boxes *boxes, double size);

#endif
