// SPDX-License-Identifier: LGPL-2.1-or-later
/* A page as a list of boxes. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boxes.h"

#define SIZE_STEP	0.25	/* few sizes: each is a font for the engine */
#define SIZE_LEAST	4.0
#define LINE_MAX	512	/* bytes */

/* Contrast on white is 4.5 or more (WCAG 2.1, 1.4.3), and no two have the same grey. */
const unsigned char ink_colours[INKS][3] = {
	[INK_SPADES] = { 0, 0, 0 },
	[INK_HEARTS] = { 190, 0, 10 },
	[INK_DIAMONDS] = { 184, 84, 0 },
	[INK_CLUBS] = { 0, 98, 48 },
	[INK_TEXT] = { 0, 0, 0 },
	[INK_FAINT] = { 84, 84, 84 },
};

void boxes_clear(struct boxes *boxes)
{
	if (boxes->text)
		explicit_bzero(boxes->text, boxes->text_used);
	boxes->count = 0;
	boxes->text_used = 0;
}

void boxes_free(struct boxes *boxes)
{
	boxes_clear(boxes);
	free(boxes->list);
	free(boxes->text);
	*boxes = (struct boxes){ 0 };
}

/* Texts move when the arena grows, so let every box point into the new one. */
static bool text_grow(struct boxes *boxes, size_t more)
{
	size_t room = 2 * boxes->text_room + more + 4096;
	char *text;

	if (boxes->text_used + more <= boxes->text_room)
		return true;
	text = malloc(room);
	if (!text)
		return false;
	if (boxes->text_used)
		memcpy(text, boxes->text, boxes->text_used);
	for (size_t i = 0; i < boxes->count; i++)
		if (boxes->list[i].text)
			boxes->list[i].text = text + (boxes->list[i].text - boxes->text);
	if (boxes->text)
		explicit_bzero(boxes->text, boxes->text_used);
	free(boxes->text);
	boxes->text = text;
	boxes->text_room = room;
	return true;
}

static void box_add(struct boxes *boxes, struct box box, const char *text)
{
	const size_t size = text ? strlen(text) + 1 : 0;

	if (boxes->count == boxes->room) {
		size_t room = 2 * boxes->room + 256;
		struct box *list = realloc(boxes->list, room * sizeof(*list));

		if (!list) {
			boxes->failed = true;
			return;
		}
		boxes->list = list;
		boxes->room = room;
	}
	if (size && !text_grow(boxes, size)) {
		boxes->failed = true;
		return;
	}
	if (size) {
		box.text = boxes->text + boxes->text_used;
		memcpy(boxes->text + boxes->text_used, text, size);
		boxes->text_used += size;
	}
	boxes->list[boxes->count++] = box;
}

void boxes_open(struct boxes *boxes, const char *element)
{
	box_add(boxes, (struct box){ .kind = BOX_OPEN }, element);
}

void boxes_figure(struct boxes *boxes, const char *about)
{
	box_add(boxes, (struct box){ .kind = BOX_FIGURE }, about);
}

void boxes_close(struct boxes *boxes, const char *element)
{
	box_add(boxes, (struct box){ .kind = BOX_CLOSE }, element);
}

void boxes_shape(struct boxes *boxes, enum box_kind kind, enum ink ink, double x, double y,
		 double w, double h)
{
	box_add(boxes,
		(struct box){ .kind = kind, .ink = ink, .x = x, .y = y, .w = w, .h = h, .tint = 1 },
		NULL);
}

void boxes_tint(struct boxes *boxes, enum ink ink, double tint, double x, double y, double w,
		double h)
{
	box_add(boxes, (struct box){ .kind = BOX_FILL, .ink = ink, .x = x, .y = y, .w = w, .h = h,
				     .tint = tint }, NULL);
}

void boxes_qr(struct boxes *boxes, double x, double y, double size, const char *text)
{
	box_add(boxes, (struct box){ .kind = BOX_QR, .ink = INK_TEXT, .x = x, .y = y, .w = size,
				     .h = size }, text);
}

double boxes_height(const struct boxes *boxes, double size)
{
	return (boxes->ruler->ascent + boxes->ruler->descent) * size;
}

static double width_of(const struct boxes *boxes, const struct face *face, const char *text)
{
	return boxes->ruler->width(boxes->ruler->context, face, text);
}

/* Replaces the end of the text by "…" until it fits. */
static double shorten(const struct boxes *boxes, const struct face *face, double w, char *text)
{
	size_t size = strlen(text);
	double width;

	do {
		while (size && (text[--size] & 0xc0) == 0x80)
			;
		strcpy(text + size, "…");
		width = width_of(boxes, face, text);
	} while (width > w && size);
	return width;
}

/* Removes the part of a character at the end of a text that was cut. */
static void end_whole(char *text)
{
	size_t size = strlen(text);

	while (size && (text[size - 1] & 0xc0) == 0x80)
		size--;
	text[size ? size - 1 : 0] = '\0';
}

double boxes_line(struct boxes *boxes, const struct line *line, const char *format, ...)
{
	static const double shares[] = { [ALIGN_LEFT] = 0, [ALIGN_CENTRE] = 0.5,
					 [ALIGN_RIGHT] = 1 };
	char text[LINE_MAX + sizeof("…")];
	struct face face = line->face;
	double width, least;
	va_list list;

	va_start(list, format);
	if (vsnprintf(text, LINE_MAX, format, list) >= LINE_MAX)
		end_whole(text);
	va_end(list);
	width = width_of(boxes, &face, text);
	if (width > line->w) {
		least = line->whole ? SIZE_STEP : fmax(SIZE_LEAST, face.size / 2);
		face.size = fmax(least, floor(face.size * line->w / width / SIZE_STEP) * SIZE_STEP);
		width = width_of(boxes, &face, text);
	}
	if (width > line->w)
		width = shorten(boxes, &face, line->w, text);
	/* a smaller line stands on the same base line */
	box_add(boxes, (struct box){
		.kind = BOX_TEXT, .ink = line->ink, .face = face,
		.x = line->x + (line->w - width) * shares[line->align],
		.y = line->y + (line->face.size - face.size) * boxes->ruler->ascent,
		.w = width, .h = boxes_height(boxes, face.size) }, text);
	explicit_bzero(text, sizeof(text));
	return width;
}
