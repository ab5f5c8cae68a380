// SPDX-License-Identifier: LGPL-2.1-or-later
/* The versions in meson.build and in the header agree. */
#include "unit.h"

#include <stdio.h>

#include <dealbox/dealbox.h>

static void the_headers_say_what_meson_says(void **state)
{
	(void)state;
	assert_string_equal(DEALBOX_VERSION, PROJECT_VERSION);
}

static void number_and_text_agree(void **state)
{
	char text[32];

	(void)state;
	snprintf(text, sizeof(text), "%u.%u.%u", DEALBOX_VERSION_NUMBER >> 16,
		 DEALBOX_VERSION_NUMBER >> 8 & 0xff, DEALBOX_VERSION_NUMBER & 0xff);
	assert_string_equal(text, DEALBOX_VERSION);
}

static void the_library_says_what_its_headers_say(void **state)
{
	(void)state;
	assert_int_equal(dealbox_version(), DEALBOX_VERSION_NUMBER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_headers_say_what_meson_says),
		cmocka_unit_test(number_and_text_agree),
		cmocka_unit_test(the_library_says_what_its_headers_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
