// SPDX-License-Identifier: LGPL-2.1-or-later
/* Paper, header and footer. */
#include <langinfo.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "frame.h"

#define TITLE_SIZE	1.45	/* of what stands around the boards, in its size */
#define HEADER_LINES	2
#define NUMBER_W	13.0	/* of the page's number */
#define QR_SIZE		54.0	/* 45 modules of 0.42 mm */

static const struct paper papers[] = {
	{ "a4", 210 / 25.4 * 72, 297 / 25.4 * 72, 297 },
	{ "letter", 612, 792, 279 },
};

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

const struct paper *paper_find(const char *name)
{
	for (size_t i = 0; i < COUNT(papers); i++)
		if (!strcmp(papers[i].name, name))
			return &papers[i];
	return NULL;
}

const struct paper *paper_default(void)
{
	/* a number in the place of a pointer: glibc, langinfo.h */
	const unsigned int height = (unsigned int)(uintptr_t)nl_langinfo(_NL_PAPER_HEIGHT);

	for (size_t i = 0; i < COUNT(papers); i++)
		if (papers[i].height_mm == height)
			return &papers[i];
	return &papers[0];
}

void rule_add(struct boxes *boxes, double x, double y, double w)
{
	boxes_shape(boxes, BOX_FILL, INK_FAINT, x, y, w, 0.5);
}

/* Logo, title; at the right session and set. */
static void header_add(struct boxes *boxes, const struct sheet *sheet, const struct area *area,
		       double size)
{
	double scale = 0, left = area->x;
	struct line line = { .face = { .size = TITLE_SIZE * size, .bold = true }, .ink = INK_TEXT,
			     .y = area->y };

	if (sheet->logo_w > 0 && sheet->logo_h > 0) {
		scale = fmin(area->h / sheet->logo_h, area->w / 4 / sheet->logo_w);
		boxes_shape(boxes, BOX_LOGO, INK_TEXT, left, area->y, scale * sheet->logo_w,
			    scale * sheet->logo_h);
		left += scale * sheet->logo_w + GAP;
	}
	boxes_open(boxes, "H1");
	line.x = left;
	line.w = area->x + area->w * 0.68 - left;
	boxes_line(boxes, &line, "%s", *sheet->title ? sheet->title : sheet->words->records);
	boxes_close(boxes, "H1");
	if (!*sheet->session && !*sheet->set)
		return;
	line = (struct line){ .face = { .size = size }, .ink = INK_TEXT, .align = ALIGN_RIGHT,
			      .x = area->x + area->w * 0.7, .y = area->y, .w = area->w * 0.3 };
	boxes_open(boxes, "P");
	if (*sheet->session)
		boxes_line(boxes, &line, "%s %s", sheet->words->session, sheet->session);
	line.y += boxes_height(boxes, size);
	if (*sheet->set)
		boxes_line(boxes, &line, "%s %s", sheet->words->set, sheet->set);
	boxes_close(boxes, "P");
}

static bool has_tricks(const struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->count; i++)
		if (sheet->boards[i].tricks)
			return true;
	return false;
}

static void footer_add(struct boxes *boxes, const struct sheet *sheet, const struct area *area,
		       double size, size_t page, size_t pages)
{
	const double h = boxes_height(boxes, size), number = NUMBER_W * size;
	const double qr = sheet->qr ? QR_SIZE + GAP : 0;
	struct line line = { .face = { .size = size }, .ink = INK_FAINT, .x = area->x,
			     .y = area->y + area->h - h, .w = area->w - number - qr - GAP };

	boxes_open(boxes, "P");
	if (has_tricks(sheet)) {
		line.y -= h;
		line.w += number + GAP;
		boxes_line(boxes, &line, "%s", sheet->words->footnote);
		line.y += h;
		line.w -= number + GAP;
	}
	if (*sheet->footer)
		boxes_line(boxes, &line, "%s", sheet->footer);
	line.x = area->x + area->w - number - qr;
	line.w = number;
	line.align = ALIGN_RIGHT;
	boxes_line(boxes, &line, sheet->words->page, (unsigned int)page + 1, (unsigned int)pages);
	boxes_close(boxes, "P");
	if (sheet->qr)
		boxes_qr(boxes, area->x + area->w - QR_SIZE, area->y + area->h - QR_SIZE, QR_SIZE,
			 sheet->qr);
}

static double footer_height(const struct boxes *boxes, const struct sheet *sheet, double size)
{
	const double lines = boxes_height(boxes, size) * (1 + has_tricks(sheet));

	return sheet->qr ? fmax(QR_SIZE, lines) : lines;
}

struct area frame_begin(struct boxes *boxes, const struct sheet *sheet, const struct paper *paper,
			double size)
{
	const double w = paper->w - 2 * PAGE_MARGIN;
	const struct area header = { PAGE_MARGIN, PAGE_MARGIN, w,
				     HEADER_LINES * boxes_height(boxes, size) };
	const double top = header.y + header.h + GAP / 2;
	const double bottom = paper->h - PAGE_MARGIN - footer_height(boxes, sheet, size) - GAP / 2;

	header_add(boxes, sheet, &header, size);
	rule_add(boxes, header.x, top - 0.5, w);
	return (struct area){ PAGE_MARGIN, top, w, bottom - top };
}

void frame_end(struct boxes *boxes, const struct sheet *sheet, const struct paper *paper,
	       double size, size_t page, size_t pages)
{
	const double h = footer_height(boxes, sheet, size);
	const struct area footer = { PAGE_MARGIN, paper->h - PAGE_MARGIN - h,
				     paper->w - 2 * PAGE_MARGIN, h };

	footer_add(boxes, sheet, &footer, size, page, pages);
}
