/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of tables, one after the other. */
#ifndef PRINT_ROWS_H
#define PRINT_ROWS_H

#include <stdbool.h>

#include "sheet.h"

struct rows {
	struct sheet_row *list;
	size_t count, room;
	bool failed;		/* out of memory */
	const unsigned char *shares;	/* of the rows that follow, as in struct sheet_row */
};

/* Begins a row, of which rows_cell() adds the cells (printf), at most CELLS_MAX. */
void rows_begin(struct rows *rows, enum row_kind kind);
void rows_cell(struct rows *rows, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a plot, and takes it over. */
void rows_plot(struct rows *rows, struct plot *plot);

void rows_free(struct rows *rows);

#endif
