/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Signed text, the form of manifests and certificates: lines of "word value", the last two
 * signer and signature. The signature is over every byte before its own line. Not exported.
 */
#ifndef SIGNED_TEXT_H
#define SIGNED_TEXT_H

#include <dealbox/manifest.h>

#include "error-internal.h"

#define HEX(bytes)	(2 * (bytes) + 1)	/* size of a buffer for bytes in hexadecimal */
#define SIGNATURE	64			/* bytes of one */

void hex_put(const uint8_t *bytes, size_t size, char *hex);

/* Parses exactly size bytes in lower case hexadecimal; returns false on any other text. */
bool hex_take(const char *hex, uint8_t *bytes, size_t size);

/* Signs size bytes. */
void signer_sign(const struct dealbox_signer *signer, const void *data, size_t size,
		 uint8_t signature[SIGNATURE]);

/*
 * Appends signer and signature to a body (which ends with a line end) and returns the whole text;
 * free it. NULL = out of memory.
 */
char *text_sign(const char *body, const struct dealbox_signer *signer);

/*
 * Finds the end of the signed text at data: after its line "signature", *size bytes from its start.
 * Checks the signature, and gets body (to be freed) and signer. line is advanced.
 */
int text_check(const char *data, size_t room, size_t *size, char **body,
	       uint8_t signer[DEALBOX_SIGNER_KEY], uint32_t *line, struct dealbox_error *error);

/*
 * Returns the value of the next line of a body, or NULL if the line does not begin with that word.
 * *at moves to the line after it. The line end is overwritten with a zero.
 */
char *line_take(char **at, const char *word);

/* Returns true if a name fits into a line: it is not empty, and has no control character. */
bool name_good(const char *name);

/* Returns true if a text has no control character but LF. */
bool lines_good(const char *text, size_t size);

/* Convert a time to text, "2026-11-20T11:00:00.000000Z", and back; false: not a time. */
#define TIME_TEXT	40
void time_put(int64_t microseconds, char text[TIME_TEXT]);
bool time_take(const char *text, int64_t *microseconds);

#endif
