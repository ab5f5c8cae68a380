// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tables: rows of cells, which may have several lines, with paragraphs and plots between them.
 * Names of columns are repeated on each page. A heading, or the names of columns, stay with the row
 * below.
 */
#include <math.h>
#include <string.h>

#include "pages.h"

#define HEADING		1.3	/* size of a heading */
#define STEP		1.35	/* height of a line, in lines of text */
#define LINES_ON_PAGE	46
#define PLOT_WIDTH	0.75	/* of the width of the page */

static size_t cells_of(const struct sheet_row *row)
{
	size_t count = 0;

	while (count < CELLS_MAX && row->cells[count])
		count++;
	return count;
}

/* The part of a table's width that is left of a cell; of the cell after the last: 1 */
static double cell_left(const struct sheet_row *row, size_t cell)
{
	const size_t count = cells_of(row);
	double left = 0, all = 0;

	for (size_t i = 0; i < count; i++) {
		const double share = row->shares ? row->shares[i] : 1;

		left += i < cell ? share : 0;
		all += share;
	}
	return all > 0 ? left / all : 1;
}

/* ---- lines of cells ------------------------------------------------------ */

static bool fits(const struct ruler *ruler, const struct face *face, const char *text, size_t size,
		 double w)
{
	char line[512];

	if (size >= sizeof(line))
		return false;
	memcpy(line, text, size);
	line[size] = '\0';
	return ruler->width(ruler->context, face, line) <= w;
}

/* Replaces spaces by ends of lines, at most that many. Returns the number of lines. */
static unsigned int cell_fold(char *text, const struct ruler *ruler, const struct face *face,
			      double w, unsigned int most)
{
	unsigned int lines = 1;
	char *line = text, *end = NULL, *space = text;

	while (lines < most && (space = strchr(space, ' '))) {
		if (end && !fits(ruler, face, line, (size_t)(space - line), w)) {
			*end = '\n';
			line = end + 1;
			lines++;
		}
		end = space++;
	}
	if (end && end >= line && lines < most && !fits(ruler, face, line, strlen(line), w)) {
		*end = '\n';
		lines++;
	}
	return lines;
}

static double step_of(const struct area *area)
{
	return area->h / (LINES_ON_PAGE + 1);
}

/* Lines that a plot takes. It is drawn smaller if they are lower on the page. */
static unsigned int plot_lines(const struct plot *plot, const struct layout *layout,
			       const struct paper *paper)
{
	const double step = (paper->h - 2 * PAGE_MARGIN) / (LINES_ON_PAGE + 1);
	const double h = PLOT_WIDTH * (paper->w - 2 * PAGE_MARGIN) * plot->h / plot->w;

	return (unsigned int)fmin(ceil(h / step), layout->rows - 3);
}

static void tables_fold(const struct sheet *sheet, const struct layout *layout,
			const struct ruler *ruler, const struct paper *paper)
{
	const double w = paper->w - 2 * PAGE_MARGIN;

	for (size_t i = 0; i < sheet->rows_count; i++) {
		struct sheet_row *row = &sheet->rows[i];
		const struct face face = { .size = layout->size };

		if (row->kind == ROW_PLOT)
			row->lines = plot_lines(row->plot, layout, paper);
		if (row->kind != ROW_CELLS && row->kind != ROW_TEXT)
			continue;
		for (size_t cell = 0; cell < cells_of(row); cell++) {
			const double room =
				w * (cell_left(row, cell + 1) - cell_left(row, cell)) - GAP;
			const unsigned int lines = cell_fold(row->cells[cell], ruler, &face, room,
							     layout->rows);

			row->lines = lines > row->lines ? lines : row->lines;
		}
	}
}

/* ---- pages --------------------------------------------------------------- */

/* Lines of a row. Above a heading there is an empty one, unless it begins a page. */
static unsigned int height_of(const struct sheet_row *row, bool begins)
{
	if (row->kind == ROW_HEADING)
		return begins ? 1 : 2;
	return row->lines ? row->lines : 1;
}

/* Lines of a row with those that must not be on another page */
static unsigned int height_together(const struct sheet *sheet, size_t i)
{
	unsigned int height = 0;

	while (i < sheet->rows_count) {
		height += height_of(&sheet->rows[i], false);
		if (sheet->rows[i].kind != ROW_HEADING && sheet->rows[i].kind != ROW_NAMES)
			break;
		i++;
	}
	return height;
}

/* Returns the first row that does not fit on the page that begins with a row. */
static size_t page_end(const struct sheet *sheet, const struct layout *layout, size_t first)
{
	unsigned int used = 0;
	size_t i = first;

	while (i < sheet->rows_count &&
	       (i == first || used + height_together(sheet, i) <= layout->rows)) {
		used += height_of(&sheet->rows[i], i == first);
		i++;
	}
	return i;
}

static size_t tables_count(const struct sheet *sheet, const struct layout *layout)
{
	size_t pages = 0;

	for (size_t row = 0; row < sheet->rows_count; row = page_end(sheet, layout, row))
		pages++;
	return pages;
}

/* ---- drawing ------------------------------------------------------------- */

static void heading_add(struct boxes *boxes, const struct sheet_row *row, const struct area *area,
			double size)
{
	boxes_open(boxes, "H2");
	boxes_line(boxes, &(struct line){ .face = { .size = HEADING * size, .bold = true },
					  .ink = INK_TEXT,
		.x = area->x, .y = area->y, .w = area->w }, "%s", row->cells[0]);
	boxes_close(boxes, "H2");
}

/*
 * The lines of a cell. Each but the last ends with a space, for who selects the text or hears it.
 */
static void lines_add(struct boxes *boxes, const char *text, const struct area *area, double size,
		      bool bold)
{
	struct line line = { .face = { .size = size, .bold = bold }, .ink = INK_TEXT, .x = area->x,
			     .y = area->y, .w = area->w };

	for (const char *end; *text; text = *end ? end + 1 : end, line.y += area->h) {
		end = strchrnul(text, '\n');
		line.w = area->w - (*end ? 0 : GAP);
		boxes_line(boxes, &line, "%.*s%s", (int)(end - text), text, *end ? " " : "");
	}
}

static void cells_add(struct boxes *boxes, const struct sheet_row *row, const struct area *area,
		      double size)
{
	const char *const element = row->kind == ROW_NAMES ? "TH" : "TD";

	boxes_open(boxes, "TR");
	for (size_t i = 0; i < cells_of(row); i++) {
		const double left = cell_left(row, i);
		const struct area cell = { area->x + left * area->w, area->y,
					   (cell_left(row, i + 1) - left) * area->w, area->h };

		boxes_open(boxes, element);
		lines_add(boxes, row->cells[i], &cell, size, row->kind == ROW_NAMES);
		boxes_close(boxes, element);
	}
	boxes_close(boxes, "TR");
}

static void text_add(struct boxes *boxes, const struct sheet_row *row, const struct area *area,
		     double size)
{
	boxes_open(boxes, "P");
	lines_add(boxes, row->cells[0], area, size, false);
	boxes_close(boxes, "P");
}

/* With a gap below */
static void plot_add(struct boxes *boxes, const struct sheet_row *row, const struct area *area,
		     double size)
{
	const struct plot *plot = row->plot;
	const double h = row->lines * area->h - GAP;
	const double scale = fmin(PLOT_WIDTH * area->w / plot->w, h / plot->h);

	(void)size;
	boxes_figure(boxes, plot->about);
	for (size_t i = 0; i < plot->count; i++) {
		const struct plot_mark *mark = &plot->marks[i];
		const double x = area->x + scale * mark->x, y = area->y + scale * mark->y;

		if (!*mark->text)
			boxes_tint(boxes, mark->ink, mark->tint, x, y, scale * mark->w,
				   scale * mark->h);
		else
			boxes_line(boxes, &(struct line){ .ink = mark->ink, .align = mark->align,
				.face = { .size = scale * mark->h / boxes_height(boxes, 1) },
				.x = x, .y = y,
				.w = scale * mark->w }, "%s", mark->text);
	}
	boxes_close(boxes, "Figure");
}

static void row_add(struct boxes *boxes, const struct sheet_row *row, const struct area *area,
		    double size)
{
	static void (*const adds[])(struct boxes *boxes, const struct sheet_row *row,
				    const struct area *area, double size) = {
		[ROW_HEADING] = heading_add, [ROW_NAMES] = cells_add, [ROW_CELLS] = cells_add,
		[ROW_TEXT] = text_add, [ROW_PLOT] = plot_add,
	};

	adds[row->kind](boxes, row, area, size);
}

static bool is_of_table(const struct sheet_row *row)
{
	return row->kind == ROW_NAMES || row->kind == ROW_CELLS;
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

static void table_set(struct boxes *boxes, bool *table, bool wanted)
{
	if (wanted && !*table)
		boxes_open(boxes, "Table");
	if (!wanted && *table)
		boxes_close(boxes, "Table");
	*table = wanted;
}

static void tables_make(struct boxes *boxes, const struct sheet *sheet, const struct layout *layout,
			const struct paper *paper, size_t page)
{
	struct area area = frame_begin(boxes, sheet, paper, layout->around);
	const double step = step_of(&area);
	const double size = layout->size < step / STEP ? layout->size : step / STEP;
	const struct sheet_row *names;
	bool table = false;
	size_t first = 0;

	for (size_t n = 0; n < page; n++)
		first = page_end(sheet, layout, first);
	names = sheet->rows_count ? names_above(sheet, first) : NULL;
	area.h = step;
	area.y += GAP / 2;
	if (names) {
		table_set(boxes, &table, true);
		row_add(boxes, names, &area, size);
	}
	area.y += step;
	for (size_t i = first; i < page_end(sheet, layout, first); i++) {
		const struct sheet_row *row = &sheet->rows[i];
		const unsigned int height = height_of(row, i == first);

		/* the names of columns begin another table */
		table_set(boxes, &table, table && row->kind == ROW_CELLS);
		table_set(boxes, &table, is_of_table(row));
		if (row->kind == ROW_HEADING)
			area.y += (height - 1) * step;
		row_add(boxes, row, &area, size);
		area.y += (row->kind == ROW_HEADING ? 1 : height) * step;
	}
	table_set(boxes, &table, false);
	frame_end(boxes, sheet, paper, layout->around, page, pages_count(sheet, layout));
}

const struct layout tables_layout = {
	.name = "tables", .count = tables_count, .make = tables_make, .fold = tables_fold,
	.columns = 1,
	.rows = LINES_ON_PAGE, .size = 9, .around = 9
};
