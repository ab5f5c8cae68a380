// SPDX-License-Identifier: LGPL-2.1-or-later
/* Pages: a header, boards in columns and rows, a footer. */
#include <langinfo.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "diagram.h"
#include "pages.h"

#define TITLE_SIZE	1.45	/* of what stands around the boards, in its size */
#define HEADER_LINES	2
#define NUMBER_W	13.0	/* of the page's number */
#define QR_SIZE		46.0	/* 41 modules of 0.4 mm */
#define GAP		6.0	/* between header, boards and footer, and around rules */

static const struct paper papers[] = {
	{ "a4", 210 / 25.4 * 72, 297 / 25.4 * 72, 297 },
	{ "letter", 612, 792, 279 },
};

struct layout {
	const char *name;
	unsigned int columns, rows;
	double size;		/* of the cards */
	double around;		/* of header and footer */
	double share;		/* of a cell's height that the diagram may take */
	void (*below)(struct boxes *boxes, const struct sheet *sheet, const struct area *area);
};

static void auction_add(struct boxes *boxes, const struct sheet *sheet, const struct area *area);

static const struct layout layouts[] = {
	{ .name = "pocket", .columns = 3, .rows = 6, .size = 8.5, .around = 7.5, .share = 1 },
	{ .name = "wall", .columns = 2, .rows = 3, .size = 14, .around = 9, .share = 1 },
	{ .name = "study", .columns = 1, .rows = 1, .size = 20, .around = 9,
	  .share = 0.5, .below = auction_add },
	{ .name = "large", .columns = 1, .rows = 2, .size = 22, .around = 12, .share = 1 },
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

const struct layout *layout_find(const char *name)
{
	for (size_t i = 0; i < COUNT(layouts); i++)
		if (!strcmp(layouts[i].name, name))
			return &layouts[i];
	return NULL;
}

const struct layout *layout_get(size_t index)
{
	return index < COUNT(layouts) ? &layouts[index] : NULL;
}

const char *layout_name(const struct layout *layout)
{
	return layout->name;
}

static size_t per_page(const struct layout *layout)
{
	return (size_t)layout->columns * layout->rows;
}

size_t pages_count(const struct sheet *sheet, const struct layout *layout)
{
	return sheet->count ? (sheet->count + per_page(layout) - 1) / per_page(layout) : 1;
}

static void rule_add(struct boxes *boxes, double x, double y, double w)
{
	boxes_shape(boxes, BOX_FILL, INK_FAINT, x, y, w, 0.5);
}

/* An empty auction with the dealer's side first: four columns from West, then a line of results. */
static void auction_add(struct boxes *boxes, const struct sheet *sheet, const struct area *area)
{
	static const int order[4] = { DEALBOX_WEST, DEALBOX_NORTH, DEALBOX_EAST, DEALBOX_SOUTH };
	const struct words *words = sheet->words;
	const char *const results[3] = { words->contract, words->lead, words->result };
	const double size = 14, h = boxes_height(boxes, size), step = 1.6 * h;
	const double column = area->w / 4, third = area->w / 3, last = area->y + area->h - h;
	double y = area->y;

	boxes_open(boxes, "P");
	boxes_line(boxes, &(struct line){ .face = { .size = size, .bold = true }, .ink = INK_TEXT,
		.x = area->x, .y = y, .w = area->w }, "%s", words->auction);
	y += 1.2 * h;
	for (int n = 0; n < 4; n++)
		boxes_line(boxes, &(struct line){ .face = { .size = size }, .ink = INK_TEXT,
			.align = ALIGN_CENTRE, .x = area->x + n * column, .y = y, .w = column }, "%s",
			words->seat_names[order[n]]);
	boxes_close(boxes, "P");
	for (y += h + step; y + step < last; y += step)
		rule_add(boxes, area->x, y, area->w);
	boxes_open(boxes, "P");
	for (int n = 0; n < 3; n++)
		boxes_line(boxes, &(struct line){ .face = { .size = size }, .ink = INK_TEXT,
			.x = area->x + n * third, .y = last, .w = third }, "%s:", results[n]);
	boxes_close(boxes, "P");
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

static void cell_add(struct boxes *boxes, const struct sheet *sheet, const struct layout *layout,
		     const struct sheet_board *board, const struct area *cell)
{
	struct area area = { cell->x, cell->y, cell->w, cell->h * layout->share };
	const double used = diagram_add(boxes, sheet, board, &area, layout->size) + 2 * GAP;

	if (!layout->below)
		return;
	area = (struct area){ cell->x, cell->y + used, cell->w, cell->h - used };
	layout->below(boxes, sheet, &area);
}

static void boards_add(struct boxes *boxes, const struct sheet *sheet, const struct layout *layout,
		       const struct area *area, size_t first)
{
	const double w = area->w / layout->columns, h = area->h / layout->rows;

	for (size_t i = 0; i < per_page(layout) && first + i < sheet->count; i++) {
		const unsigned int column = i % layout->columns, row = i / layout->columns;
		const struct area cell = {
			.x = area->x + column * w + (column ? GAP : 0),
			.y = area->y + row * h + GAP / 2,
			.w = w - (column ? GAP : 0) - (column + 1 < layout->columns ? GAP : 0),
			.h = h - GAP,
		};

		if (row && !column)
			rule_add(boxes, area->x, area->y + row * h - 0.25, area->w);
		cell_add(boxes, sheet, layout, &sheet->boards[first + i], &cell);
	}
}

void pages_make(struct boxes *boxes, const struct sheet *sheet, const struct layout *layout,
		const struct paper *paper, size_t page)
{
	const double w = paper->w - 2 * PAGE_MARGIN;
	const double line = boxes_height(boxes, layout->around);
	const double lines = line * (1 + has_tricks(sheet));
	const double footer_h = sheet->qr ? fmax(QR_SIZE, lines) : lines;
	const struct area header = { PAGE_MARGIN, PAGE_MARGIN, w, HEADER_LINES * line };
	const struct area footer = { PAGE_MARGIN, paper->h - PAGE_MARGIN - footer_h, w, footer_h };
	const double top = header.y + header.h + GAP / 2;
	const struct area middle = { PAGE_MARGIN, top, w, footer.y - GAP / 2 - top };

	boxes_clear(boxes);
	header_add(boxes, sheet, &header, layout->around);
	rule_add(boxes, middle.x, middle.y - 0.5, middle.w);
	boards_add(boxes, sheet, layout, &middle, page * per_page(layout));
	footer_add(boxes, sheet, &footer, layout->around, page,
		   pages_count(sheet, layout));
}
