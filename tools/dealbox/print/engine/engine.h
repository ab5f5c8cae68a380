/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Draws pages with cairo, pango, libqpdf, libqrencode and librsvg, in a module of its own. Only
 * `dealbox print` loads it: with these fifty libraries, every command would start slowly.
 */
#ifndef PRINT_ENGINE_H
#define PRINT_ENGINE_H

#include <stdint.h>

#include "print/boxes.h"

#define ENGINE_FILE	"dealbox-print.so"
#define ENGINE_SYMBOL	"dealbox_print_engine"
#define ENGINE_VERSION	3

struct drawing;

struct drawing_setup {
	double w, h;			/* of a page, in points */
	const char *language;		/* RFC 5646 */
	const char *title;
	const char *font;		/* family; the system replaces one that it does not have */
	int64_t made; /* seconds since 1970, -1 = unknown: the file names no date */
	const void *logo;		/* SVG or PNG, NULL = none; needed until drawing_end() */
	size_t logo_size;
};

struct print_engine {
	unsigned int version;		/* ENGINE_VERSION */

	/*
	 * Begins a document. Returns NULL, and then *problem is a sentence: out of memory, or the
	 * logo cannot be read.
	 */
	struct drawing *(*begin)(const struct drawing_setup *setup, const char **problem);

	/* How wide its texts are, and the size of its logo, 0 without. */
	const struct ruler *(*ruler)(struct drawing *drawing);
	void (*logo)(struct drawing *drawing, double *w, double *h);

	/* Draws a page. Returns 0 or -errno. */
	int (*page)(struct drawing *drawing, const struct boxes *boxes);

	/*
	 * Ends the document. data is the PDF file, to be wiped and freed. Returns 0 or -errno,
	 * after which there is no data.
	 */
	int (*end)(struct drawing *drawing, void **data, size_t *size);

	/* Wipes and frees it. NULL is allowed. */
	void (*free)(struct drawing *drawing);

	/*
	 * Makes a QR code of a text, without its quiet zone: width rows of width modules, 1 = dark;
	 * free it. -ENOMEM; -EMSGSIZE: the text is too long.
	 */
	int (*qr)(const char *text, uint8_t **modules, int *width);
};

#endif
