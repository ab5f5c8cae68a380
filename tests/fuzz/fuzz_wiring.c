// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arbitrary wiring of a machine: refused with a line and a reason, or a machine that is possible.
 */
#include "fuzz.h"
#include "wiring.h"

static void check_line(const struct wiring *w, enum wiring_line line)
{
	const struct wiring_setting *set = &w->lines[line];
	char name[WIRING_NAME];

	wiring_name(line, name);
	CHECK(*set->chip && *set->name && *name);
	CHECK(memchr(set->chip, 0, WIRING_NAME) && memchr(set->name, 0, WIRING_NAME));
	/* no motor without a limit, and nothing between the reader and the code */
	CHECK(!!set->most_ms == (line < WIRING_INPUTS && line != WIRING_HEARTBEAT));
	CHECK(set->debounce_us <= 100000 && (line > WIRING_READER || !set->debounce_us));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct core_config config = { .capabilities = CORE_STORED_PLAN | CORE_BY_CARD };
	char *text = malloc(size + 1);
	unsigned int line, lines = 1;
	static struct wiring w;

	CHECK(text);
	memcpy(text, data, size);
	text[size] = 0;
	for (const char *at = text; *at; at++)
		lines += *at == '\n';
	line = wiring_read(&w, text);
	CHECK(line <= lines && !!line == !!*w.error);
	free(text);
	if (line)
		return 0;
	for (unsigned int n = 0; n < WIRING_LINES; n++)
		if (wiring_has(&w, n))
			check_line(&w, n);
	CHECK(wiring_has(&w, WIRING_HEARTBEAT) && wiring_has(&w, WIRING_READER));
	wiring_config(&w, &config);
	CHECK(core_config_is_valid(&config));
	return 0;
}
