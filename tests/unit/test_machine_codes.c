// SPDX-License-Identifier: LGPL-2.1-or-later
/* The codes of the cards: those in use, and those that the host knows. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/card.h>
#include <dealbox/diagnosis.h>

#include "codes.h"

/* Returns the card of a name in the table of codes. */
static int card_of(const char *name)
{
	return strcmp(name, "joker") ? dealbox_card_parse(name) : CODES - 1;
}

static void codes_are_those_in_use(void **state)
{
	const char *folder = getenv("DEALBOX_SHARED");
	char path[4096], line[256];
	unsigned int rows = 0;
	FILE *file;

	(void)state;
	snprintf(path, sizeof(path), "%s/data/card-codes.csv", folder ? folder : "../shared");
	file = fopen(path, "r");
	if (!file) {
		/* cmocka's skip() writes "not ok" in TAP */
		print_message("# SKIP %s: there is no %s\n", __func__, path);
		return;
	}
	assert_non_null(fgets(line, sizeof(line), file));
	while (fgets(line, sizeof(line), file)) {
		char *at = line, *name = strsep(&at, ","), *modules = strsep(&at, ",");
		char *mirrored = strsep(&at, ","), *near = strsep(&at, ",\n");
		uint8_t found[CODE_NEAR_MAX];
		const uint8_t card = (uint8_t)card_of(name);
		const uint16_t code = (uint16_t)strtoul(modules, NULL, 2);
		unsigned int count = code_near(code, found), named = 1;

		rows++;
		assert_int_equal(code_of(card), code);
		assert_int_equal(code_card(code), card);
		assert_int_equal(code_card(code_turned(code)),
				 *mirrored ? card_of(mirrored) : CODE_NO_CARD);
		assert_non_null(memchr(found, card, count));
		for (char *other; (other = strsep(&near, " \r"));) {
			if (!*other)
				continue;
			named++;
			assert_non_null(memchr(found, card_of(other), count));
		}
		assert_int_equal(named, count);
	}
	fclose(file);
	assert_int_equal(rows, CODES);
}

/* The host has a table of its own, to say which card was probably misread. Both are the same. */
static void codes_are_those_of_the_host(void **state)
{
	(void)state;
	for (uint8_t card = 0; card < DEALBOX_CARDS; card++) {
		uint8_t near[CODE_NEAR_MAX];
		const unsigned int count = code_near(code_of(card), near);
		const uint8_t turned = code_card(code_turned(code_of(card)));
		dealbox_cards found = 0;

		for (unsigned int i = 0; i < count; i++)
			found |= 1ULL << near[i];
		if (turned != CODE_NO_CARD)
			found |= 1ULL << turned;
		found &= DEALBOX_PACK_BRIDGE & ~(1ULL << card);
		assert_true(found == dealbox_card_confusable(card));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_are_those_in_use),
		cmocka_unit_test(codes_are_those_of_the_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
