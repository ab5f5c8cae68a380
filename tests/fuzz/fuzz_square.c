// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arbitrary descriptions and keys of Square Deal: accepted ones are the same after writing and
 * reading, their sessions have boards, and their file names stay in their folder.
 */
#include <dealbox/square.h>

#include "fuzz.h"

static void sessions(const struct dealbox_square *square)
{
	struct dealbox_square_phase phase;

	for (unsigned int p = 1; !dealbox_square_get_phase(square, p, &phase); p++)
		for (unsigned int s = 1; s < 4; s++) {
			struct dealbox_square_session session;
			const char *boards = strcmp(phase.boards, "?") ? NULL : "3x7";

			if (dealbox_square_get_session(square, p, s, s & 1, boards, &session,
						       NULL)) {
				CHECK(phase.sessions && s > phase.sessions);
				continue;
			}
			CHECK(session.low >= 1 && session.high >= session.low &&
			      session.high <= 9999);
			CHECK(*session.file && !strpbrk(session.file, "/.#"));
		}
}

static void description(const uint8_t *data, size_t size)
{
	struct dealbox_square *square, *again;
	struct dealbox_error error = { 0 };
	char *text, *text_again;

	if (dealbox_square_parse(data, size, &square, &error)) {
		CHECK(*error.what && memchr(error.what, 0, sizeof(error.what)));
		return;
	}
	sessions(square);
	text = dealbox_square_print(square);
	CHECK(text);
	CHECK(!dealbox_square_parse(text, strlen(text), &again, &error));
	text_again = dealbox_square_print(again);
	CHECK(!strcmp(text, text_again));
	free(text);
	free(text_again);
	dealbox_square_free(square);
	dealbox_square_free(again);
}

static void keys(const uint8_t *data, size_t size)
{
	struct dealbox_square_keys *keys, *again;
	size_t length, length_again;
	char *text, *text_again;
	bool mended;

	if (dealbox_square_keys_parse(data, size, NULL, &keys, &mended, NULL))
		return;
	text = dealbox_square_keys_print(keys, &length);
	CHECK(text && strlen(text) == length);
	CHECK(!dealbox_square_keys_parse(text, length, NULL, &again, &mended, NULL));
	text_again = dealbox_square_keys_print(again, &length_again);
	CHECK(length == length_again && !memcmp(text, text_again, length));
	free(text);
	free(text_again);
	dealbox_square_keys_free(keys);
	dealbox_square_keys_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = memdup(data, size);

	description(copy, size);
	keys(copy, size);
	free(copy);
	return 0;
}
