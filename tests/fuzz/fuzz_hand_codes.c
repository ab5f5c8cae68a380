// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arbitrary files of bar codes for dealing by hand: refused with the reason and its line, or each
 * code is found, and is one card.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/card.h>

#include "fuzz.h"
#include "machine/hand.h"

/* Collect the first word of each line: these are the codes that a scanner could send. */
static void find_all(const struct hand_codes *codes, const char *text)
{
	char (*all)[HAND_CODE_MAX + 1] = calloc(codes->count, sizeof(*all));
	size_t found = 0, n;
	char *code;

	CHECK(all);

	while (*text) {
		const char *word = text + strspn(text, " \t,;\r");
		size_t length = strcspn(word, " \t,;\r\n");

		text = strchrnul(text, '\n');
		text += !!*text;
		if (!length || *word == '#')
			continue;
		CHECK(length <= HAND_CODE_MAX && found < codes->count);
		code = all[found];
		memcpy(code, word, length);
		/* none is there twice: a card would be taken for another */
		for (n = 0; n < found; n++)
			CHECK(strcmp(all[n], code));
		/* 52 and 53 are jokers */
		CHECK(hand_codes_find(codes, code) < 54);
		found++;
	}
	CHECK(found == codes->count);
	free(all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct hand_codes codes;
	const char *why = NULL;
	unsigned int line = 0;
	int error;

	CHECK(text);
	memcpy(text, data, size);
	text[size] = '\0';
	error = hand_codes_read(&codes, text, &line, &why);
	CHECK(error == 0 || error == -EINVAL || error == -EEXIST);
	CHECK(!error || (why && *why));
	if (!error)
		find_all(&codes, text);
	/* what no file has is no card, or two keys of one */
	CHECK(hand_codes_find(&codes, "") == DEALBOX_NONE);
	hand_codes_free(&codes);
	free(text);
	return 0;
}
