// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sentence.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void sentence_begin(struct sentence *sentence, char *text, size_t size)
{
	*sentence = (struct sentence) { text, size, 0 };
	if (size)
		text[0] = '\0';
}

void sentence_add(struct sentence *sentence, const char *format, ...)
{
	size_t left = 0;
	va_list args;
	int length;

	if (sentence->length < sentence->size)
		left = sentence->size - sentence->length;
	va_start(args, format);
	length = vsnprintf(left ? sentence->text + sentence->length : NULL, left, format,
			   args);
	va_end(args);
	if (length > 0)
		sentence->length += (size_t)length;
}

void sentence_fill(struct sentence *sentence, const char *pattern,
		   void (*put)(struct sentence *sentence, const char *name, size_t size,
			       const void *facts),
		   const void *facts)
{
	while (*pattern) {
		size_t plain = strcspn(pattern, "{"), name;

		sentence_add(sentence, "%.*s", (int)plain, pattern);
		pattern += plain;
		if (!*pattern)
			break;
		name = strcspn(++pattern, "}");
		put(sentence, pattern, name, facts);
		pattern += name + (pattern[name] == '}');
	}
}
