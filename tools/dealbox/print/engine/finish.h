/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Add to a PDF file, by libqpdf, what cairo 1.16 cannot write. */
#ifndef ENGINE_FINISH_H
#define ENGINE_FINISH_H

#include <stdbool.h>
#include <stddef.h>

/* Words for each figure, in the order in which they were drawn */
struct figures {
	char **about;
	size_t count;
};

/*
 * Marks the document as tagged, adds its language and the words for its figures, lets readers show
 * its title instead of the file's name, and gives it an identifier that depends on its contents
 * only. Without dated, it names no date. *out is to be wiped and freed. Returns 0 or -errno.
 */
int pdf_finish(const void *data, size_t size, const char *language, bool dated,
	       const struct figures *figures, void **out, size_t *out_size);

#endif
