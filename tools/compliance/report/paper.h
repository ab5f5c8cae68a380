/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef COMPLIANCE_PAPER_H
#define COMPLIANCE_PAPER_H

#include <stdint.h>

#include "print/rows.h"
#include "report.h"

/*
 * Add the tables of a report that passed report_check(); rows_free() frees them. Returns false if
 * out of memory.
 */
bool report_paper(struct json_object *report, struct rows *rows);

/* Return when the test ended, or, unless it did, began: seconds since 1970; -1 = unknown. */
int64_t report_time(struct json_object *report);

/* Write a line for a page: words, and a text of a report, which may be anything. */
void report_line(char *line, size_t size, const char *words, const char *text);

#endif
