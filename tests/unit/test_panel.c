// SPDX-License-Identifier: LGPL-2.1-or-later
/* The rules of a panel, without GPIO lines. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "panel-rules.h"

#define BIT(line)	(1u << (line))
#define RED		BIT(PANEL_RED)
#define AMBER		BIT(PANEL_AMBER)
#define GREEN		BIT(PANEL_GREEN)

static void test_settings(void **state)
{
	static const struct {
		enum panel_line line;
		const char *value;
		struct panel_setting is;
	} good[] = {
		{ PANEL_START, "START", { "START", false, PANEL_AS_IS, 10000 } },
		{ PANEL_STOP, "PIN 11 active-low pull-up",
		  { "PIN 11", true, PANEL_PULL_UP, 10000 } },
		{ PANEL_COVER, "C pull-down debounce=0", { "C", false, PANEL_PULL_DOWN, 0 } },
		{ PANEL_BOARD, "B  debounce=1000  active-low",
		  { "B", true, PANEL_AS_IS, 1000000 } },
		{ PANEL_RED, "LAMP active-low", { "LAMP", true, PANEL_AS_IS, 0 } },
		/* an option that an output cannot have, or that is misspelt, belongs to the name */
		{ PANEL_RED, "LAMP pull-up", { "LAMP pull-up", false, PANEL_AS_IS, 0 } },
		{ PANEL_STOP, "STOP activelow", { "STOP activelow", false, PANEL_AS_IS, 10000 } },
	};
	static const char *const bad[] = {
		"", " ", " active-low", "S debounce=", "S debounce=-1", "S debounce=1001",
		"S debounce=5ms", "a name that is longer than any line can have",
		"S debounce=99999999999999999999",
	};
	struct panel_setting setting;
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(good) / sizeof(good[0]); n++) {
		assert_int_equal(panel_setting_read(&setting, good[n].line, good[n].value), 0);
		assert_string_equal(setting.name, good[n].is.name);
		assert_int_equal(setting.active_low, good[n].is.active_low);
		assert_int_equal(setting.bias, good[n].is.bias);
		assert_int_equal(setting.debounce_us, good[n].is.debounce_us);
	}
	for (n = 0; n < sizeof(bad) / sizeof(bad[0]); n++)
		assert_int_equal(panel_setting_read(&setting, PANEL_START, bad[n]), -EINVAL);
}

static void test_bars(void **state)
{
	const unsigned int all = BIT(PANEL_LINES) - 1, board = BIT(PANEL_BOARD);

	(void)state;
	/* a line that is not configured bars nothing */
	assert_int_equal(panel_bars(0, 0), DEALBOX_OPERATOR_NONE);
	assert_int_equal(panel_bars(0, all), DEALBOX_OPERATOR_NONE);
	/* the board is seated when its switch is closed */
	assert_int_equal(panel_bars(board, 0), DEALBOX_OPERATOR_SEATED);
	assert_int_equal(panel_bars(board, board), DEALBOX_OPERATOR_NONE);
	/* the most serious state is shown */
	assert_int_equal(panel_bars(all, BIT(PANEL_COVER)), DEALBOX_OPERATOR_COVER);
	assert_int_equal(panel_bars(all, all), DEALBOX_OPERATOR_STOPPED);
	assert_int_equal(panel_bars(all, BIT(PANEL_EMERGENCY)), DEALBOX_OPERATOR_STOPPED);
	/* a pressed button and lamps bar nothing */
	assert_int_equal(panel_bars(all, board | BIT(PANEL_START) | BIT(PANEL_STOP) | RED),
			 DEALBOX_OPERATOR_NONE);
}

static void test_pushes(void **state)
{
	static const enum push due[] = { PUSH_START, PUSH_PAUSE, PUSH_STOP };
	enum panel_line line;
	enum push push;

	(void)state;
	for (line = 0; line < PANEL_LINES; line++) {
		bool button = line <= PANEL_EMERGENCY;

		assert_int_equal(panel_pushes(line, &push), button);
		if (button)
			assert_int_equal(push, due[line]);
	}
}

/* One start button for several machines. */
static void test_starts(void **state)
{
	(void)state;
	/* with one machine it is the start key */
	assert_true(panel_starts(DEALBOX_OPERATOR_JAM, 1, 0));
	assert_true(panel_starts(DEALBOX_OPERATOR_CONFIRM, 1, 1));
	/* one key answers the same question at every machine */
	assert_true(panel_starts(DEALBOX_OPERATOR_START, 3, 3));
	assert_true(panel_starts(DEALBOX_OPERATOR_PAUSED, 3, 3));
	assert_true(panel_starts(DEALBOX_OPERATOR_STOPPED, 3, 3));
	/* "is this board empty?" is answered for one machine only */
	assert_true(panel_starts(DEALBOX_OPERATOR_CONFIRM, 3, 1));
	assert_false(panel_starts(DEALBOX_OPERATOR_CONFIRM, 3, 2));
	assert_false(panel_starts(DEALBOX_OPERATOR_UNREADABLE, 2, 2));
	/* a machine that asks nothing gets no answer */
	assert_false(panel_starts(DEALBOX_OPERATOR_JAM, 2, 1));
	assert_false(panel_starts(DEALBOX_OPERATOR_NONE, 2, 1));
}

static void test_lamps(void **state)
{
	static const struct dealbox_operator_facts nothing;
	enum dealbox_operator_state shown;
	char text[1024];

	(void)state;
	for (shown = 0; shown < DEALBOX_OPERATOR_STATES; shown++) {
		unsigned int lamps = panel_lamps(shown);

		assert_int_equal(lamps & ~(RED | AMBER | GREEN), 0);
		/* dark: there is nothing to do */
		assert_int_equal(!lamps, shown == DEALBOX_OPERATOR_NO_WORK);
		/* green: cards move */
		assert_int_equal(!!(lamps & GREEN),
				 shown == DEALBOX_OPERATOR_NONE || shown == DEALBOX_OPERATOR_SLOW);
		/* a board that is void is red */
		dealbox_operator_text(shown, &nothing, NULL, text, sizeof(text));
		if (strstr(text, "is void"))
			assert_int_equal(lamps, RED);
	}
	assert_int_equal(panel_lamps(DEALBOX_OPERATOR_SLOW), GREEN | AMBER);
	assert_int_equal(panel_lamps(DEALBOX_OPERATOR_START), AMBER);
	assert_int_equal(panel_lamps(DEALBOX_OPERATOR_TAKE_OUT), AMBER);
	assert_int_equal(panel_lamps(DEALBOX_OPERATOR_PAUSED), AMBER);
	assert_int_equal(panel_lamps(DEALBOX_OPERATOR_CONFIRM), AMBER);
	assert_int_equal(panel_lamps(DEALBOX_OPERATOR_STOPPED), RED);
	assert_int_equal(panel_lamps(DEALBOX_OPERATOR_PANEL), RED);
	assert_int_equal(panel_lamps(DEALBOX_OPERATOR_HOPPER), RED);
	assert_int_equal(panel_lamps(DEALBOX_OPERATOR_COVER), RED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_bars),
		cmocka_unit_test(test_pushes),
		cmocka_unit_test(test_starts),
		cmocka_unit_test(test_lamps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
