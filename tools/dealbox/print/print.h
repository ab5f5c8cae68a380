/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sheets as files: PDF by the engine, or HTML. */
#ifndef PRINT_PRINT_H
#define PRINT_PRINT_H

#include "pages.h"
#include "ui/files.h"

struct print_how {
	const struct layout *layout;
	const struct paper *paper;
	const char *font;
	const struct blob *logo;	/* empty = none */
	int64_t made;			/* seconds since 1970, -1 = unknown */
};

/*
 * Make a PDF file in memory, with a progress line. Call blob_wipe() in any case. Returns false
 * after reporting an error.
 */
bool print_pdf(const struct sheet *sheet, const struct print_how *how, struct blob *out);

/* The same for a HTML file, for people who have it read to them. */
bool print_html(const struct sheet *sheet, struct blob *out);

#endif
