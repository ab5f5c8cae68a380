// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sentence.h"

#include <dealbox/report.h>

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

/*
 * Returns the length of the character that begins here; 0: not a character, or a control character.
 */
static size_t character(const unsigned char *at, size_t left)
{
	/* of each length: the bits and the value of the first byte, the least number */
	static const struct {
		uint8_t mask, value;
		uint32_t least;
	} forms[] = { { 0x80, 0, 0x20 }, { 0xe0, 0xc0, 0xa0 }, { 0xf0, 0xe0, 0x800 },
		      { 0xf8, 0xf0, 0x10000 } };
	uint32_t number;
	size_t size, n;

	for (size = 1; size <= 4 && (*at & forms[size - 1].mask) != forms[size - 1].value; size++)
		;
	if (size > 4 || size > left)
		return 0;
	number = *at & (uint8_t)~forms[size - 1].mask;
	for (n = 1; n < size; n++) {
		if ((at[n] & 0xc0) != 0x80)
			return 0;
		number = number << 6 | (at[n] & 0x3f);
	}
	if (number < forms[size - 1].least || number == 0x7f || number > 0x10ffff ||
	    (number >= 0xd800 && number <= 0xdfff))
		return 0;
	return size;
}

size_t dealbox_text_safe(const char *from, size_t length, char *text, size_t size)
{
	const unsigned char *at = (const unsigned char *)from;
	size_t left = strnlen(from, length), used = 0, written = 0, bytes, taken;
	char out[4];

	for (; left; left -= taken, at += taken, used += bytes) {
		taken = bytes = character(at, left);
		if (bytes) {
			memcpy(out, at, bytes);
		} else if (*at >= 0xa0 && !(*at == 0xc2 && left > 1 && (at[1] & 0xe0) == 0x80)) {
			/* Latin-1 */
			taken = 1;
			bytes = 2;
			out[0] = (char)(0xc0 | *at >> 6);
			out[1] = (char)(0x80 | (*at & 0x3f));
		} else {
			/* a control character may have two bytes */
			taken = 1 + (*at == 0xc2);
			bytes = 1;
			out[0] = '?';
		}
		/* once something was left out, nothing follows */
		if (written == used && used + bytes < size) {
			memcpy(text + used, out, bytes);
			written += bytes;
		}
	}
	if (size)
		text[written] = '\0';
	return used;
}

void sentence_text(struct sentence *sentence, const char *from, size_t length)
{
	size_t left = sentence->length < sentence->size ? sentence->size - sentence->length : 0;

	sentence->length += dealbox_text_safe(from, length,
					      left ? sentence->text + sentence->length : NULL,
					      left);
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
