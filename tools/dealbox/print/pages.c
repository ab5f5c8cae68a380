// SPDX-License-Identifier: LGPL-2.1-or-later
/* Hand records: a header, boards in columns and rows, a footer. */
#include <string.h>

#include "diagram.h"
#include "pages.h"

/* An empty auction: four columns from West, then a line of results. */
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
			.align = ALIGN_CENTRE, .x = area->x + n * column, .y = y, .w = column },
			"%s", words->seat_names[order[n]]);
	boxes_close(boxes, "P");
	for (y += h + step; y + step < last; y += step)
		rule_add(boxes, area->x, y, area->w);
	boxes_open(boxes, "P");
	for (int n = 0; n < 3; n++)
		boxes_line(boxes, &(struct line){ .face = { .size = size }, .ink = INK_TEXT,
			.x = area->x + n * third, .y = last, .w = third }, "%s:", results[n]);
	boxes_close(boxes, "P");
}

static size_t per_page(const struct layout *layout)
{
	return (size_t)layout->columns * layout->rows;
}

static size_t records_count(const struct sheet *sheet, const struct layout *layout)
{
	return (sheet->count + per_page(layout) - 1) / per_page(layout);
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

static void records_make(struct boxes *boxes, const struct sheet *sheet,
			 const struct layout *layout, const struct paper *paper, size_t page)
{
	const struct area area = frame_begin(boxes, sheet, paper, layout->around);

	boards_add(boxes, sheet, layout, &area, page * per_page(layout));
	frame_end(boxes, sheet, paper, layout->around, page, pages_count(sheet, layout));
}

#define RECORDS	.count = records_count, .make = records_make

static const struct layout pocket = {
	.name = "pocket", RECORDS, .columns = 3, .rows = 6, .size = 8.5, .around = 7.5, .share = 1,
	.duplex = true
};
static const struct layout wall = {
	.name = "wall", RECORDS, .columns = 2, .rows = 3, .size = 14, .around = 9, .share = 1
};
static const struct layout study = {
	.name = "study", RECORDS, .columns = 1, .rows = 1, .size = 20, .around = 9, .share = 0.5,
	.below = auction_add
};
static const struct layout large = {
	.name = "large", RECORDS, .columns = 1, .rows = 2, .size = 22, .around = 12, .share = 1
};

static const struct layout *const layouts[] = { &pocket, &wall, &study, &large, &curtain9,
						&curtain16 };

#define LAYOUTS	(sizeof(layouts) / sizeof(*layouts))

const struct layout *layout_find(const char *name)
{
	for (size_t i = 0; i < LAYOUTS; i++)
		if (!strcmp(layouts[i]->name, name))
			return layouts[i];
	return NULL;
}

const struct layout *layout_get(size_t index)
{
	return index < LAYOUTS ? layouts[index] : NULL;
}

size_t pages_count(const struct sheet *sheet, const struct layout *layout)
{
	const size_t count = layout->count(sheet, layout);

	return count ? count : 1;
}

void pages_make(struct boxes *boxes, const struct sheet *sheet, const struct layout *layout,
		const struct paper *paper, size_t page)
{
	boxes_clear(boxes);
	layout->make(boxes, sheet, layout, paper, page);
}
