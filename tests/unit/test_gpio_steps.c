// SPDX-License-Identifier: LGPL-2.1-or-later
/* The wiring of a fixture: what is read, and what is refused. */
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "gpio_steps.h"

#define GOOD \
	"[lines]\n" \
	"power = gpiochip0 17 on\n" \
	"cover = /dev/gpiochip1 COVER active-low\n" \
	"lifted = gpiochip0 5 input\n" \
	"[steps]\n" \
	"power-cycle = power off, wait 2000, power on\n" \
	"cover open = cover on, until lifted on 3000\n"

static struct gpio_wiring w;

static void a_wiring_is_read(void **state)
{
	const struct gpio_step *step;

	(void)state;
	assert_int_equal(gpio_wiring_read(&w, GOOD), 0);
	assert_int_equal(w.line_count, 3);
	assert_string_equal(w.lines[1].key, "cover");
	assert_string_equal(w.lines[1].chip, "/dev/gpiochip1");
	assert_string_equal(w.lines[1].name, "COVER");
	assert_true(w.lines[0].on_at_start && !w.lines[0].active_low && !w.lines[0].input);
	assert_true(w.lines[1].active_low && !w.lines[1].on_at_start);
	assert_true(w.lines[2].input);
	step = gpio_step_of(&w, "power-cycle");
	assert_non_null(step);
	assert_int_equal(step->count, 3);
	assert_true(step->actions[0].kind == GPIO_SET && !step->actions[0].on &&
		    step->actions[0].line == 0);
	assert_true(step->actions[1].kind == GPIO_WAIT && step->actions[1].ms == 2000);
	assert_true(step->actions[2].kind == GPIO_SET && step->actions[2].on);
	step = gpio_step_of(&w, "cover open");
	assert_int_equal(step->count, 2);
	assert_true(step->actions[1].kind == GPIO_UNTIL && step->actions[1].on &&
		    step->actions[1].line == 2 && step->actions[1].ms == 3000);
	assert_null(gpio_step_of(&w, "cover"));
	assert_null(gpio_step_of(&w, "cover close"));
}

static void what_is_wrong_is_told(void **state)
{
	static const struct { const char *text; int line; const char *why; } bad[] = {
		{ "", 1, "has no step" },
		{ "[wires]\na = b c\n", 2, "[wires]" },
		{ "[lines]\npower = gpiochip0\n", 2, "the chip and the line are needed" },
		{ "[lines]\npower = gpiochip0 1 high\n", 2, "\"high\"" },
		{ "[lines]\npower = gpiochip0 1 input on\n", 2, "is an input" },
		{ "[lines]\np = a 1\np = a 2\n", 3, "the line p is there twice" },
		{ "[lines]\np = a 1\n[steps]\ninsert = q on\n", 4, "\"q\" is no line" },
		{ "[lines]\np = a 1\n[steps]\ninsert = p up\n", 4, "none of" },
		{ "[lines]\np = a 1\n[steps]\ninsert = p on off\n", 4, "none of" },
		{ "[lines]\np = a 1\n[steps]\ninsert = wait\n", 4, "none of" },
		{ "[lines]\np = a 1\n[steps]\ninsert = wait long\n", 4, "a time in ms" },
		{ "[lines]\np = a 1\n[steps]\ninsert = wait 30001\n", 4, "a time in ms" },
		{ "[lines]\np = a 1\n[steps]\ninsert = wait 20000, wait 20000\n", 4,
		  "more than 30 s" },
		{ "[lines]\np = a 1\n[steps]\ninsert = until p on 10\n", 4, "p is no input" },
		{ "[lines]\np = a 1 input\n[steps]\ninsert = p on\n", 4, "p is an input" },
		{ "[lines]\np = a 1 input\n[steps]\ninsert = until p on soon\n", 4,
		  "a time in ms" },
		{ "[lines]\np = a 1\n[steps]\ninsert = p on\ninsert = p off\n", 5,
		  "is there twice" },
		{ "[lines]\np = a 1\n[steps]\ninsert =\n", 4, "does nothing" },
		{ "[lines]\nnonsense\n", 2, "NAME = VALUE" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		int line = gpio_wiring_read(&w, bad[i].text);

		if (line != bad[i].line || !strstr(w.error, bad[i].why))
			fail_msg("%zu: line %d: %s", i, line, w.error);
	}
}

/* More of anything than there is room for */
static void too_much_is_refused(void **state)
{
	char text[8000];
	unsigned int i;
	FILE *out;

	(void)state;
	out = fmemopen(text, sizeof(text), "w");
	fputs("[lines]\n", out);
	for (i = 0; i < 40; i++)
		fprintf(out, "l%u = c %u\n", i, i);
	fclose(out);
	assert_int_equal(gpio_wiring_read(&w, text), 34);
	out = fmemopen(text, sizeof(text), "w");
	fputs("[lines]\nl = c 1\n[steps]\n", out);
	for (i = 0; i < 40; i++)
		fprintf(out, "step %u = l on\n", i);
	fclose(out);
	assert_int_equal(gpio_wiring_read(&w, text), 36);
	out = fmemopen(text, sizeof(text), "w");
	fputs("[lines]\nl = c 1\n[steps]\ninsert = l on", out);
	for (i = 0; i < 20; i++)
		fputs(", l on", out);
	fputs("\n", out);
	fclose(out);
	assert_int_equal(gpio_wiring_read(&w, text), 4);
	out = fmemopen(text, sizeof(text), "w");
	fputs("[lines]\n", out);
	for (i = 0; i < 100; i++)
		fputc('l', out);
	fputs(" = c 1\n", out);
	fclose(out);
	assert_int_equal(gpio_wiring_read(&w, text), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wiring_is_read), cmocka_unit_test(what_is_wrong_is_told),
		cmocka_unit_test(too_much_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
