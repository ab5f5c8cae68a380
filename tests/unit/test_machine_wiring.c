// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The wiring of a machine: what is read, and what is refused. argv[1] is
 * docs/examples/machine.conf.
 */
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "wiring.h"

/* Each line of a good file, so that a case can replace or leave out one. */
static const char *const good[] = {
	"[machine]", "capacity = 13", "hopper = 60",				/* 1 */
	"[outputs]", "feed = c0 F most=3000", "release = c0 R most=1000", "heartbeat = c0 H",
	/* 4 */
	"[gates]", "a = c0 A most=1100", "b = c0 B active-low most=1100",	/* 8 */
	"[pockets]", "0 = a", "1 = b", "2 = a b", "3 = none",			/* 11 */
	"[inputs]", "reader = c0 E reversed", "card = c0 C debounce=2",		/* 16 */
	"hopper = c1 1 active-low pull-up", "board = c1 2 pull-down",		/* 19 */
	"[times]", "settle = 100", "fall = 300",				/* 21 */
};

#define GOOD (sizeof(good) / sizeof(good[0]))

static struct wiring w;
static const char *example;

/* Read the good file with another text at a line; 0: none. */
static unsigned int read_with(unsigned int line, const char *text)
{
	char file[4096] = "";
	size_t n, at = 0;

	for (n = 0; n < GOOD; n++)
		at += (size_t)snprintf(file + at, sizeof(file) - at, "%s\n",
				       n + 1 == line ? text : good[n]);
	return wiring_read(&w, file);
}

static void a_wiring_is_read(void **state)
{
	struct core_config config = { .gate_deadline = 0,
				      .capabilities = CORE_BY_CARD | CORE_STORED_PLAN };
	char name[WIRING_NAME];

	(void)state;
	if (read_with(0, NULL))
		fail_msg("%s", w.error);
	assert_string_equal(w.lines[WIRING_FEED].chip, "c0");
	assert_string_equal(w.lines[WIRING_FEED].name, "F");
	assert_int_equal(w.lines[WIRING_FEED].most_ms, 3000);
	assert_false(w.lines[WIRING_FEED].active_low);
	assert_true(w.lines[WIRING_GATE + 1].active_low);
	assert_true(w.lines[WIRING_READER].reversed);
	assert_int_equal(w.lines[WIRING_READER].debounce_us, 0);
	assert_int_equal(w.lines[WIRING_CARD].debounce_us, 2000);
	assert_int_equal(w.lines[WIRING_BOARD].debounce_us, 5000);
	assert_int_equal(w.lines[WIRING_HOPPER].bias, WIRING_PULL_UP);
	assert_int_equal(w.lines[WIRING_BOARD].bias, WIRING_PULL_DOWN);
	assert_false(wiring_has(&w, WIRING_COVER));
	assert_int_equal(w.pockets, 4);
	assert_int_equal(w.gates[2], 3);
	assert_int_equal(w.gates[3], 0);
	assert_int_equal(w.settle_ms, 100);
	assert_int_equal(w.fall_ms, 300);
	wiring_config(&w, &config);
	assert_true(core_config_is_valid(&config));
	assert_int_equal(config.capabilities, CORE_BY_CARD | CORE_STORED_PLAN);
	assert_string_equal(config.model, "dealbox-machine");
	wiring_name(WIRING_GATE + 1, name);
	assert_string_equal(name, "[gates] b");
	wiring_name(WIRING_EXIT + 7, name);
	assert_string_equal(name, "[exits] 7");
}

static void the_example_is_good(void **state)
{
	struct core_config config = { .capabilities = CORE_BY_CARD | CORE_STORED_PLAN };
	FILE *file = fopen(example, "r");
	char text[8192];

	(void)state;
	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	if (wiring_read(&w, text))
		fail_msg("%s", w.error);
	wiring_config(&w, &config);
	assert_true(core_config_is_valid(&config));
	assert_int_equal(config.capabilities & (CORE_EXIT_SENSORS | CORE_BOARD_LOCK | CORE_KEYS),
			 CORE_EXIT_SENSORS | CORE_BOARD_LOCK | CORE_KEYS);
}

/* Each error names its line. A missing setting is reported behind the last line. */
static void what_is_wrong_is_told(void **state)
{
	static const char long_line[] =
		"model = 0123456789012345678901234567890123456789012345678901234567890"
		"123456789012345678901234567890123456789012345678901234567890123456789012345"
		"678901234567890123456789012345678901234567890123456789012345678901234567890";
	static const struct {
		unsigned int line;
		const char *text;
		unsigned int at;
		const char *why;
	} bad[] = {
		{ 1, "[wires]", 2, "[wires] has no setting \"capacity\"" },
		{ 1, "nonsense", 1, "neither a section nor" },
		{ 2, "capacity = 0", 2, "no number from 1 to 64" },
		{ 2, "capacity = 65", 2, "no number from 1 to 64" },
		{ 2, "capacity = 13 cards", 2, "\"13 cards\"" },
		{ 2, "hopper = 60", 3, "set twice" },
		{ 2, "model = ", 2, "needs a name" },
		{ 2, "model = 01234567890123456789012345678901", 2, "at most 31 bytes" },
		{ 2, long_line, 2, "too long" },
		{ 2, "", 23, "[machine] capacity is missing" },
		{ 3, "", 23, "[machine] hopper is missing" },
		{ 3, "hopper = 65536", 3, "no number" },
		{ 5, "", 23, "[outputs] feed is missing" },
		{ 5, "feed = c0 F", 5, "most=MS is needed" },
		{ 5, "feed = c0 F most=", 5, "most= is no time" },
		{ 5, "feed = c0 F most=5001", 5, "from 1 to 5000" },
		{ 5, "feed = c0 F most=0", 5, "no time" },
		{ 5, "feed = c0 F most=-1", 5, "no time" },
		{ 5, "feed = c0 F most=1e3", 5, "no time" },
		{ 5, "feed = c0 F most=99999999999", 5, "no time" },
		{ 5, "feed = c0 F most=100 debounce=2", 5,
		  "\"debounce=2\" is no option of an output" },
		{ 5, "feed = c0 F most=100 pull-up", 5, "\"pull-up\" is no option of an output" },
		{ 5, "feed = c0", 5, "the chip and the line are needed" },
		{ 5, "feed =", 5, "the chip and the line are needed" },
		{ 5, "release = c0 F most=100", 6, "set in line 5, too" },
		{ 6, "release = c0 F most=100", 6, "line F of c0 is [outputs] feed already" },
		{ 6, "motor = c0 R most=100", 6, "no setting \"motor\"" },
		{ 7, "", 23, "[outputs] heartbeat is missing: without it" },
		{ 7, "heartbeat = c0 H most=100", 7, "\"most=100\" is no option" },
		{ 9, "i = c0 A most=1100", 9, "[gates] has no setting \"i\"" },
		{ 9, "aa = c0 A most=1100", 9, "[gates] has no setting \"aa\"" },
		{ 9, "a = c0 A most=1099", 23, "[gates] a needs most=1100 or more" },
		{ 9, "", 12, "\"a\" is no gate" },
		{ 9, "c = c0 A most=1100", 12, "\"a\" is no gate" },
		{ 12, "1 = a", 12, "pocket 0 is next" },
		{ 12, "x = a", 12, "\"x\" is no pocket" },
		{ 12, "8 = a", 12, "\"8\" is no pocket" },
		{ 12, "0 =", 12, "gates are needed" },
		{ 12, "0 = ab", 12, "\"ab\" is no gate" },
		{ 12, "0 = none a", 12, "\"none\" is no gate" },
		{ 12, "0 = a none", 12, "\"none\" is no gate" },
		{ 13, "1 = a", 13, "pocket 0 has the same gates" },
		{ 14, "2 = b a a", 0, NULL },
		{ 15, "3 = b a", 15, "pocket 2 has the same gates" },
		{ 17, "", 23, "[inputs] reader is missing" },
		{ 17, "reader = c0 E debounce=1", 17, "must not be debounced" },
		{ 17, "reader = c0 E debounce=0", 17, "must not be debounced" },
		{ 18, "card = c0 C reversed", 18, "\"reversed\" is no option of an input" },
		{ 18, "card = c0 C debounce=101", 18, "from 0 to 100 ms" },
		{ 18, "card = c0 C most=10", 18, "\"most=10\" is no option of an input" },
		{ 18, "", 23, "[inputs] card is missing" },
		{ 19, "", 23, "[inputs] hopper is missing" },
		{ 20, "", 23, "[inputs] board is missing" },
		{ 20, "board = c1 1", 20, "line 1 of c1 is [inputs] hopper already" },
		{ 22, "", 23, "[times] settle is missing" },
		{ 22, "settle = 401", 22, "from 1 to 400" },
		{ 22, "settle = 100 ms", 22, "no number" },
		{ 23, "", 23, "[times] fall is missing" },
		{ 23, "fall = 901", 23, "from 1 to 900" },
		{ 23, "[exits]\n0 = c2 0", 24, "a sensor for each pocket, or none" },
		{ 23, "[exits]\n4 = c2 0", 24, "there is no such pocket" },
		{ 23, "[exits]\n0 = c2 0\n0 = c2 1", 25, "set in line 24, too" },
		{ 23, "[exits]\n0 = c2 0\n1 = c2 1\n2 = c2 2\n3 = c2 3", 0, NULL },
		{ 23, "[exits]\n8 = c2 0", 24, "[exits] has no setting \"8\"" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const unsigned int line = read_with(bad[i].line, bad[i].text);

		if (line != bad[i].at || (line ? !strstr(w.error, bad[i].why) : *w.error))
			fail_msg("%zu: line %u, not %u: %s", i, line, bad[i].at, w.error);
	}
	assert_int_equal(wiring_read(&w, ""), 1);
	assert_true(strstr(w.error, "is missing"));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wiring_is_read),
		cmocka_unit_test(the_example_is_good),
		cmocka_unit_test(what_is_wrong_is_told),
	};

	if (argc < 2)
		return 2;
	example = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
