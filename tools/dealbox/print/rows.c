// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "rows.h"

void rows_begin(struct rows *rows, enum row_kind kind)
{
	const size_t room = 2 * rows->room + 64;
	struct sheet_row *list = rows->list;

	if (rows->count == rows->room) {
		list = realloc(list, room * sizeof(*list));
		if (!list) {
			rows->failed = true;
			return;
		}
		rows->list = list;
		rows->room = room;
	}
	list[rows->count++] = (struct sheet_row){ .kind = kind, .shares = rows->shares };
}

void rows_cell(struct rows *rows, const char *format, ...)
{
	struct sheet_row *row = rows->count ? &rows->list[rows->count - 1] : NULL;
	size_t cell = 0;
	va_list list;

	if (rows->failed || !row)
		return;
	while (cell < CELLS_MAX && row->cells[cell])
		cell++;
	if (cell == CELLS_MAX)
		return;
	va_start(list, format);
	if (vasprintf(&row->cells[cell], format, list) < 0) {
		row->cells[cell] = NULL;
		rows->failed = true;
	}
	va_end(list);
}

void rows_plot(struct rows *rows, struct plot *plot)
{
	const size_t before = rows->count;

	rows_begin(rows, ROW_PLOT);
	if (rows->count > before)
		rows->list[before].plot = plot;
	else
		plot_free(plot);
}

void rows_free(struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		for (size_t cell = 0; cell < CELLS_MAX; cell++)
			free(rows->list[i].cells[cell]);
		plot_free(rows->list[i].plot);
	}
	free(rows->list);
	*rows = (struct rows){ 0 };
}
