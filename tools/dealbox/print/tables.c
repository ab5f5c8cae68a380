// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tables: lines of cells in equal columns. Names of columns are repeated on each page. */
#include "pages.h"

#define HEADING		1.3	/* size of a heading */
#define STEP		1.35	/* height of a row, in lines */
#define ROWS_ON_PAGE	46

static size_t tables_count(const struct sheet *sheet, const struct layout *layout)
{
	return (sheet->rows_count + layout->rows - 1) / layout->rows;
}

static size_t cells_of(const struct sheet_row *row)
{
	size_t count = 0;

	while (count < CELLS_MAX && row->cells[count])
		count++;
	return count;
}

static void heading_add(struct boxes *boxes, const struct sheet_row *row, const struct area *area,
			double size)
{
	boxes_open(boxes, "H2");
	boxes_line(boxes, &(struct line){ .face = { .size = HEADING * size, .bold = true }, .ink = INK_TEXT,
		.x = area->x, .y = area->y, .w = area->w }, "%s", row->cells[0]);
	boxes_close(boxes, "H2");
}

static void cells_add(struct boxes *boxes, const struct sheet_row *row, const struct area *area, double size)
{
	const char *const element = row->kind == ROW_NAMES ? "TH" : "TD";
	const size_t count = cells_of(row);
	const double w = area->w / (double)count;

	boxes_open(boxes, "TR");
	for (size_t i = 0; i < count; i++) {
		boxes_open(boxes, element);
		if (*row->cells[i])
			boxes_line(boxes, &(struct line){
				.face = { .size = size, .bold = row->kind == ROW_NAMES },
				.ink = INK_TEXT, .x = area->x + i * w, .y = area->y, .w = w - GAP },
				"%s", row->cells[i]);
		boxes_close(boxes, element);
	}
	boxes_close(boxes, "TR");
}

static void row_add(struct boxes *boxes, const struct sheet_row *row, const struct area *area, double size)
{
	if (row->kind == ROW_HEADING)
		heading_add(boxes, row, area, size);
	else
		cells_add(boxes, row, area, size);
}

/* Names of the columns of the table that goes on at row first; NULL if a table begins there. */
static const struct sheet_row *names_above(const struct sheet *sheet, size_t first)
{
	if (sheet->rows[first].kind != ROW_CELLS)
		return NULL;
	while (first && sheet->rows[first].kind == ROW_CELLS)
		first--;
	return sheet->rows[first].kind == ROW_NAMES ? &sheet->rows[first] : NULL;
}

static void tables_make(struct boxes *boxes, const struct sheet *sheet, const struct layout *layout,
			const struct paper *paper, size_t page)
{
	const size_t first = page * layout->rows;
	struct area area = frame_begin(boxes, sheet, paper, layout->around);
	const double step = area.h / (ROWS_ON_PAGE + 1);
	const double size = layout->size < step / STEP ? layout->size : step / STEP;
	const struct sheet_row *names = sheet->rows_count ? names_above(sheet, first) : NULL;
	bool table = false;

	area.h = step;
	area.y += GAP / 2;
	if (names) {
		boxes_open(boxes, "Table");
		table = true;
		row_add(boxes, names, &area, size);
	}
	area.y += step;
	for (size_t i = first; i < sheet->rows_count && i < first + layout->rows; i++) {
		const struct sheet_row *row = &sheet->rows[i];

		if (table && row->kind != ROW_CELLS) {
			boxes_close(boxes, "Table");
			table = false;
		}
		if (!table && row->kind != ROW_HEADING) {
			boxes_open(boxes, "Table");
			table = true;
		}
		row_add(boxes, row, &area, size);
		area.y += step;
	}
	if (table)
		boxes_close(boxes, "Table");
	frame_end(boxes, sheet, paper, layout->around, page, pages_count(sheet, layout));
}

const struct layout tables_layout = {
	.name = "tables", .count = tables_count, .make = tables_make, .columns = 1,
	.rows = ROWS_ON_PAGE, .size = 9, .around = 9
};
