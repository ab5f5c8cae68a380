// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <string.h>

#include "load.h"
#include "print.h"

#define PROGRESS_PAGES	16	/* from one progress line to the next */

static int pages_draw(const struct print_engine *engine, struct drawing *drawing,
		      const struct sheet *sheet, const struct print_how *how)
{
	struct boxes boxes = { .ruler = engine->ruler(drawing) };
	size_t count;
	int err = 0;

	if (how->layout->fold)
		how->layout->fold(sheet, how->layout, boxes.ruler, how->paper);
	count = pages_count(sheet, how->layout);
	for (size_t page = 0; page < count && !err; page++) {
		if (page % PROGRESS_PAGES == 0)
			progress("page %zu of %zu", page + 1, count);
		pages_make(&boxes, sheet, how->layout, how->paper, page);
		err = boxes.failed ? -ENOMEM : engine->page(drawing, &boxes);
	}
	progress(NULL);
	boxes_free(&boxes);
	return err;
}

bool print_pdf(const struct sheet *sheet, const struct print_how *how, struct blob *out)
{
	const struct drawing_setup setup = {
		.w = how->paper->w, .h = how->paper->h, .language = sheet->words->language,
		.title = *sheet->title ? sheet->title : sheet->words->records, .font = how->font,
		.made = how->made, .logo = how->logo->data, .logo_size = how->logo->size,
	};
	const struct print_engine *engine = engine_load();
	struct sheet measured = *sheet;
	struct drawing *drawing;
	const char *problem;
	void *data = NULL;
	int err;

	*out = (struct blob){ 0 };
	if (!engine)
		return false;
	drawing = engine->begin(&setup, &problem);
	if (!drawing) {
		complain(setup.logo ? "give --logo a PNG or SVG file" : NULL, "%s%s",
			 setup.logo ? "the logo: " : "", problem);
		return false;
	}
	engine->logo(drawing, &measured.logo_w, &measured.logo_h);
	err = pages_draw(engine, drawing, &measured, how);
	if (!err)
		err = engine->end(drawing, &data, &out->size);
	engine->free(drawing);
	if (err)
		complain("free some memory, or print fewer boards", "the pages were not drawn: %s",
			 strerror(-err));
	out->data = data;
	return !err;
}
