/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sentences for people: a pattern in which {names} are replaced by values. */
#ifndef DEALBOX_SENTENCE_H
#define DEALBOX_SENTENCE_H

#include <stddef.h>

/* A text buffer that counts the length it would have had, like snprintf(). */
struct sentence {
	char *text;
	size_t size;	/* of text, with room for the zero */
	size_t length;	/* the length it would have had */
};

void sentence_begin(struct sentence *sentence, char *text, size_t size);
void sentence_add(struct sentence *sentence, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds external text through dealbox_text_safe(). */
void sentence_text(struct sentence *sentence, const char *from, size_t length);

/* Calls put() for each {name} of the pattern; the rest is added as it is. */
void sentence_fill(struct sentence *sentence, const char *pattern,
		   void (*put)(struct sentence *sentence, const char *name, size_t size,
			       const void *facts),
		   const void *facts);

#endif
