/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Signed text, the form of manifests and certificates: lines of "word value", the last two
 * signer and signature. The signature is over every byte before its own line. Not exported.
 */
#ifndef SIGNED_TEXT_H
#define SIGNED_TEXT_H

#include <dealbox/manifest.h>

#include "fault.h"

#define HEX(bytes)	(2 * (bytes) + 1)	/* room for bytes in hexadecimal */
#define SIGNATURE	64			/* bytes of one */

void hex_put(const uint8_t *bytes, size_t size, char *hex);

/* Exactly size bytes in lower case hexadecimal; false if it is not that. */
bool hex_take(const char *hex, uint8_t *bytes, size_t size);

/*
 * Puts signer and signature behind a body (which ends with a line end) and gives the whole
 * text; free it. NULL = out of memory.
 */
char *text_sign(const char *body, const struct dealbox_signer *signer);

/*
 * Where the signed text at data ends: behind its line "signature", which is *size bytes from
 * its start. Checks the signature, gives body (to be freed) and signer. line counts on.
 */
int text_check(const char *data, size_t room, size_t *size, char **body,
	       uint8_t signer[DEALBOX_SIGNER_KEY], uint32_t *line, struct dealbox_fault *fault);

/*
 * The value of the next line of a body, which must begin with that word; *at goes to the line
 * behind it. NULL if it does not. The line's end is overwritten with a zero.
 */
char *line_take(char **at, const char *word);

/* Time as text, "2026-11-20T11:00:00.000000Z", and back; false if it is none. */
#define TIME_TEXT	40
void time_put(int64_t microseconds, char text[TIME_TEXT]);
bool time_take(const char *text, int64_t *microseconds);

#endif
