// SPDX-License-Identifier: LGPL-2.1-or-later
/* Acceptance profiles: what a file may say, and what is shown or refuted. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "compliance_sample.h"
#include "profile.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define HEAD		"[profile]\nname = ours\nconfidence = 95 %\n"

static void test_built_in_profiles(void **state)
{
	struct dealbox_error error = { 0 };
	struct profile profile;
	const char *name;
	size_t n;

	(void)state;
	for (n = 0; (name = profile_name(n)); n++) {
		assert_int_equal(profile_find(name, &profile, &error), 0);
		assert_string_equal(profile.name, name);
		for (size_t i = 0; i < PROFILE_LIMITS; i++)
			assert_true(profile.limits[i].allowed > 0);
		assert_true(profile.endurance.bad > profile.endurance.good);
	}
	assert_int_equal(n, 3);
	/* an hour: 180 boards at 20 s a board */
	assert_int_equal(profile_find("club", &profile, &error), 0);
	assert_true(statistics_sprt_least(&profile.endurance) <= 180);
	assert_true(statistics_interval((struct share){ 0, 180 * 52 }, 0.95).high <=
		    profile.limits[0].allowed);
	assert_int_equal(profile_find("pub", &profile, &error), -ENOENT);
	assert_non_null(strstr(error.next, "championship"));
}

static void test_settings(void **state)
{
	static const char text[] = HEAD "; our own\n[rates]\nmisread = 0.5%\n"
		"[times]\ngate = 2 % above 1500 us\n"
		"[endurance]\nrisk = 10 %\nbad = 5 %\ngood = 1 %\n";
	struct profile profile;

	(void)state;
	assert_int_equal(profile_parse(text, &profile, NULL), 0);
	assert_string_equal(profile.name, "ours");
	assert_true(fabs(profile.confidence - 0.95) < 1e-12);
	assert_true(fabs(profile.limits[0].allowed - 0.005) < 1e-12);
	assert_true(profile.limits[1].allowed == 0);
	assert_true(fabs(profile.limits[7].allowed - 0.02) < 1e-12);
	assert_true(profile.limits[7].above == 1500);
	assert_true(fabs(profile.endurance.false_alarm - 0.1) < 1e-12);
	assert_true(fabs(profile.endurance.miss - 0.1) < 1e-12);
}

static void test_invalid_settings(void **state)
{
	static const struct {
		const char *text;
		uint32_t line;
	} cases[] = {
		{ "", 0 },
		{ "[profile]\nname = x\n", 0 },
		{ "[profile]\nconfidence = 95 %\n", 0 },
		{ "[profile]\nname = x\nconfidence = 40 %\n", 0 },
		{ HEAD "name = y\n", 4 },
		{ HEAD "colour = red\n", 4 },
		{ HEAD "[rates]\nmisread = 0.1\n", 5 },
		{ HEAD "[rates]\nmisread = 0 %\n", 5 },
		{ HEAD "[rates]\nmisread = 100 %\n", 5 },
		{ HEAD "[rates]\nmisread = nan %\n", 5 },
		{ HEAD "[rates]\nmisread = 1 % x\n", 5 },
		{ HEAD "[rates]\nmisread = 1 %\nmisread = 2 %\n", 6 },
		{ HEAD "[rates]\ncard = 1 % above 5 ms\n", 5 },
		{ HEAD "[times]\ncard = 1 %\n", 5 },
		{ HEAD "[times]\ncard = 1 % above 5 us\n", 5 },
		{ HEAD "[times]\ncard = 1 % above -5 ms\n", 5 },
		{ HEAD "[times]\ncard = 1 % above 5 ms ms\n", 5 },
		{ HEAD "[endurance]\ngood = 1 %\nbad = 2 %\n", 0 },
		{ HEAD "[endurance]\ngood = 2 %\nbad = 1 %\nrisk = 5 %\n", 0 },
		{ HEAD "[endurance]\ngood = 1 %\nbad = 2 %\nrisk = 50 %\n", 0 },
		{ HEAD "rubbish\n", 4 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct dealbox_error error = { .line = 99 };
		struct profile profile;

		if (profile_parse(cases[i].text, &profile, &error) != -EINVAL)
			fail_msg("accepted: %s", cases[i].text);
		assert_int_equal(error.line, cases[i].line);
		assert_true(*error.what && *error.next);
	}
}

/* The judgement on one limit, "" if there is none */
static const char *judged(struct json_object *report, const char *limit)
{
	struct json_object *row;

	report_each(row, report_list(report_object(report, "acceptance", NULL), "limits"))
		if (!strcmp(report_text(row, "limit"), limit))
			return report_text(row, "result");
	return "";
}

static void measure(struct json_object *report, unsigned int good, unsigned int bad)
{
	struct json_object *measurements = report_object(report, "measurements", NULL);
	struct json_object *rows = json_object_new_array();

	for (int i = 0; i < 2; i++) {
		struct json_object *row = json_object_new_object();

		json_object_object_add(row, "expected", json_object_new_int(0));
		json_object_object_add(row, "read", json_object_new_int(i));
		json_object_object_add(row, "count", json_object_new_int((int)(i ? bad : good)));
		json_object_array_add(rows, row);
	}
	json_object_object_add(measurements, "readings", rows);
}

/*
 * An interval decides, not a ratio: 0 of 1000 does not show 0.1 %, and 2 of 1000 does not refute it
 */
static void test_intervals_decide(void **state)
{
	static const struct {
		unsigned int good, bad;
		const char *result;
		enum judgement worst;
	} cases[] = {
		{ 0, 0, "not shown yet", NOT_SHOWN },
		{ 1000, 0, "not shown yet", NOT_SHOWN },
		{ 3686, 0, "not shown yet", NOT_SHOWN },
		{ 3688, 0, "shown", SHOWN },
		{ 998, 2, "not shown yet", NOT_SHOWN },
		{ 996, 4, "refuted", REFUTED },
		{ 0, 1, "refuted", REFUTED },
		{ 99000, 40, "shown", SHOWN },
	};
	struct profile profile;

	(void)state;
	assert_int_equal(profile_parse(HEAD "[rates]\nmisread = 0.1 %\n", &profile, NULL), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct json_object *report = sample();

		measure(report, cases[i].good, cases[i].bad);
		assert_int_equal(profile_judge(&profile, report), cases[i].worst);
		assert_string_equal(judged(report, "misread"), cases[i].result);
		assert_string_equal(judged(report, "unread"), "");
		assert_string_equal(report_text(report, "profile"), "ours");
		assert_int_equal(report_check(report, NULL), 0);
		json_object_put(report);
	}
}

static void test_times_and_endurance(void **state)
{
	struct json_object *report = sample();
	struct profile profile;

	(void)state;
	assert_int_equal(profile_parse(HEAD "[times]\ncard = 90 % above 305 ms\n"
				       "gate = 1 % above 1 us\ncontrol = 1 % above 0.1 ms\n"
				       "[endurance]\ngood = 0.5 %\nbad = 4 %\nrisk = 5 %\n",
				       &profile, NULL), 0);
	assert_int_equal(profile_judge(&profile, report), REFUTED);
	/* 3 of 5 are above */
	assert_string_equal(judged(report, "card-time"), "not shown yet");
	assert_string_equal(judged(report, "control-time"), "refuted");
	/* a machine that holds its plan gets no gate commands */
	assert_string_equal(judged(report, "gate-time"), "");
	assert_string_equal(judged(report, "endurance"), "shown");
	json_object_object_add(report_object(report, "machine", NULL), "kind",
			       json_object_new_string("host-routed"));
	profile_judge(&profile, report);
	assert_string_equal(judged(report, "gate-time"), "refuted");
	json_object_put(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_built_in_profiles),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_invalid_settings),
		cmocka_unit_test(test_intervals_decide),
		cmocka_unit_test(test_times_and_endurance),
	};

	return cmocka_run_group_tests_name("compliance_profile", tests, NULL, NULL);
}
