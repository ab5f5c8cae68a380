// SPDX-License-Identifier: LGPL-2.1-or-later
/* Comparison of two compliance reports. */
#include "unit.h"

#include <stdlib.h>

#include "compliance_sample.h"

static char *compared(struct json_object *before, struct json_object *now, bool *worse)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	*worse = report_compare(before, now, out);
	fclose(out);
	return text;
}

/* The n-th row of a list of the report */
static struct json_object *row(struct json_object *report, const char *list, size_t n)
{
	return json_object_array_get_idx(report_list(report, list), n);
}

static void result_set(struct json_object *report, size_t n, const char *result)
{
	json_object_object_add(row(report, "requirements", n), "result",
			       json_object_new_string(result));
}

static void test_nothing_changed(void **state)
{
	struct json_object *before = sample(), *now = sample();
	bool worse;
	char *text = compared(before, now, &worse);

	(void)state;
	assert_false(worse);
	assert_non_null(strstr(text, "cards read as another card: 2 of 5010, was 2 of 5010: "
				     "no significant difference (p = 1)"));
	assert_non_null(strstr(text, "time for a card: median 310 ms, was 310 ms"));
	assert_null(strstr(text, "R-"));
	assert_non_null(strstr(text, "Nothing became worse."));
	free(text);
	json_object_put(before);
	json_object_put(now);
}

static void test_requirements(void **state)
{
	static const struct {
		const char *before, *now, *line;
		bool worse;
	} cases[] = {
		{ "ok", "fail", "worse:  R-1-1: fail, was ok", true },
		{ "ok", "warn", "worse:  R-1-1: warn, was ok", true },
		{ "ok", "not run", "worse:  R-1-1: not run, was ok", true },
		{ "not run", "fail", "worse:  R-1-1: fail, was not run", true },
		{ "fail", "ok", "better: R-1-1: ok, was fail", false },
		{ "fail", "not run", "better: R-1-1: not run, was fail", false },
		{ "not run", "not supported", "other:  R-1-1: not supported, was not run", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_object *before = sample(), *now = sample();
		bool worse;
		char *text;

		result_set(before, 0, cases[i].before);
		result_set(now, 0, cases[i].now);
		text = compared(before, now, &worse);
		if (worse != cases[i].worse || !strstr(text, cases[i].line))
			fail_msg("%s: %s", cases[i].line, text);
		free(text);
		json_object_put(before);
		json_object_put(now);
	}
}

/* A requirement that is not tested any more is a proof that is lost. */
static void test_requirements_that_come_and_go(void **state)
{
	struct json_object *before = sample(), *now = sample();
	bool worse;
	char *text;

	(void)state;
	json_object_array_del_idx(report_list(now, "requirements"), 0, 1);
	text = compared(before, now, &worse);
	assert_true(worse);
	assert_non_null(strstr(text, "worse:  R-1-1: not in the report, was ok"));
	free(text);
	text = compared(now, before, &worse);
	assert_false(worse);
	assert_non_null(strstr(text, "better: R-1-1: ok, was not in the report"));
	free(text);
	json_object_put(before);
	json_object_put(now);
}

static void test_error_rates(void **state)
{
	static const struct {
		int wrong;
		const char *line;
		bool worse;
	} cases[] = {
		{ 4, "3 of 5000, was 1 of 5000: no significant difference", false },
		{ 41, "40 of 5000, was 1 of 5000: worse, significantly", true },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct json_object *before = sample(), *now = sample();
		struct json_object *gate = json_object_array_get_idx(
			report_list(report_object(now, "measurements", NULL), "gates"), 1);
		bool worse;
		char *text;

		json_object_object_add(gate, "wrong", json_object_new_int(cases[i].wrong - 1));
		text = compared(before, now, &worse);
		assert_int_equal(worse, cases[i].worse);
		assert_non_null(strstr(text, cases[i].line));
		free(text);
		text = compared(now, before, &worse);
		assert_false(worse);
		assert_int_equal(!!strstr(text, "better, significantly"), cases[i].worse);
		free(text);
		json_object_put(before);
		json_object_put(now);
	}
}

static void test_times(void **state)
{
	struct json_object *before = sample(), *now = sample();
	struct json_object *fast = json_object_new_array(), *slow = json_object_new_array();
	bool worse;
	char *text;

	(void)state;
	for (int i = 0; i < 30; i++) {
		json_object_array_add(fast, json_object_new_int(300 + i));
		json_object_array_add(slow, json_object_new_int(320 + i));
	}
	json_object_object_add(report_object(before, "measurements", "times"), "card_ms", fast);
	json_object_object_add(report_object(now, "measurements", "times"), "card_ms", slow);
	text = compared(before, now, &worse);
	assert_true(worse);
	assert_non_null(strstr(text, "time for a card: median 334.5 ms, "
				     "was 314.5 ms: worse, significantly"));
	free(text);
	text = compared(now, before, &worse);
	assert_false(worse);
	assert_non_null(strstr(text, "better, significantly"));
	free(text);
	json_object_put(before);
	json_object_put(now);
}

/* Escape sequences in a machine's serial number must not reach the terminal. */
static void test_another_machine(void **state)
{
	struct json_object *before = sample(), *now = sample();
	struct json_object *machine = report_object(now, "machine", NULL);
	bool worse;
	char *text;

	(void)state;
	json_object_object_add(machine, "serial", json_object_new_string("8\033[2J<b>\n"));
	json_object_object_add(machine, "firmware", json_object_new_string(""));
	text = compared(before, now, &worse);
	assert_false(worse);
	assert_non_null(strstr(text, "serial number: 8\xef\xbf\xbd[2J<b> , was 0007\n"));
	assert_non_null(strstr(text, "firmware: none, was 1.2.3\n"));
	free(text);
	json_object_put(before);
	json_object_put(now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_changed),
		cmocka_unit_test(test_requirements),
		cmocka_unit_test(test_requirements_that_come_and_go),
		cmocka_unit_test(test_error_rates),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_another_machine),
	};

	return cmocka_run_group_tests_name("compliance_compare", tests, NULL, NULL);
}
