// SPDX-License-Identifier: LGPL-2.1-or-later
/* The report of an acceptance test: its form, its parts, and its signature. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "compliance_sample.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* The sample with one text for another */
static char *changed(const char *from, const char *to)
{
	const char *at = strstr(sample_text, from);
	char *text;

	assert_non_null(at);
	assert_true(asprintf(&text, "%.*s%s%s", (int)(at - sample_text), sample_text, to,
			     at + strlen(from)) > 0);
	return text;
}

static void test_what_is_no_report(void **state)
{
	static const struct {
		const char *from, *to, *what;
	} cases[] = {
		{ "{\"dealbox", "[\"dealbox", "JSON" },
		{ "\"dealbox-compliance\":1,", "", "dealbox-compliance is missing" },
		{ "compliance\":1,", "compliance\":2,", "not known yet" },
		{ "\"complete\":true", "\"complete\":1", "complete is not true or false" },
		{ "\"tests\":[{", "\"tests\":[7,{", "tests[0] is not an object" },
		{ "\"result\":\"fail\"", "\"result\":\"failed\"", "tests[1].result is not a word" },
		{ "[\"R-1-1\"]", "[1]", "tests[0].requirements is not a list of text" },
		{ "\"expected\":51", "\"expected\":54",
		  "measurements.readings[2].expected is not a card" },
		{ "\"read\":255", "\"read\":254", "measurements.readings[3].read is not a card" },
		{ "\"count\":2}", "\"count\":-2}", "readings[1].count is not a count" },
		{ "\"count\":2}", "\"count\":1000000001}", "readings[1].count is not a count" },
		{ "\"count\":2}", "\"count\":2.5}", "readings[1].count is not a count" },
		{ "\"wrong\":1", "\"wrong\":2401", "gates[1] has more wrong cards than cards" },
		{ "\"boards\":100,\"wrong\":0", "\"boards\":100,\"wrong\":101",
		  "more wrong boards" },
		{ "\"us\":1200", "\"us\":\"1200\"", "evidence[0].us is not a count" },
		{ "0.75", "-0.75", "control_ms is not a list of numbers" },
		{ "0.75", "1e300", "control_ms is not a list of numbers" },
		{ "0.75", "NaN", "" },
		{ "0.75", "Infinity", "" },
		{ "\"0007\"", "\"00\\u000007\"", "machine.serial is not text" },
		{ "\"0007\"", "\"\xff\"", "JSON" },
		{ "\"machine\":{\"", "\"machine\":null,\"m\":{\"", "machine is not an object" },
		{ "\"boards\":100,\"wrong\":0}}}", "\"boards\":100,\"wrong\":0}}}}", "JSON" },
		{ "\"boards\":100,\"wrong\":0}}}", "\"boards\":100,\"wrong\":0}}", "JSON" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct json_object *report = NULL;
		struct dealbox_error error = { 0 };
		char *text = changed(cases[i].from, cases[i].to);

		assert_int_equal(report_parse(text, strlen(text), &report, &error), -EINVAL);
		assert_null(report);
		if (!strstr(error.what, cases[i].what))
			fail_msg("%s: %s", cases[i].to, error.what);
		assert_true(*error.next);
		free(text);
	}
}

static void test_empty_and_deep_files(void **state)
{
	struct json_object *report = NULL;
	char deep[4000], *comma;

	(void)state;
	memset(deep, '[', sizeof(deep));
	assert_int_equal(report_parse("", 0, &report, NULL), -EINVAL);
	assert_int_equal(report_parse("\n", 1, &report, NULL), -EINVAL);
	assert_int_equal(report_parse("null", 4, &report, NULL), -EINVAL);
	/* where json-c can be strict */
	comma = changed("\"boards\":100,\"wrong\":0}}}", "\"boards\":100,\"wrong\":0,}}}");
	if (json_c_version_num() < 18 << 8)
		assert_int_equal(report_parse(comma, strlen(comma), &report, NULL), -EINVAL);
	free(comma);
	assert_int_equal(report_parse(deep, sizeof(deep), &report, NULL), -EINVAL);
	assert_int_equal(report_parse("{}", REPORT_SIZE_MAX + 1u, &report, NULL), -EINVAL);
}

/* Optional members may be missing, and unknown ones of a later version are ignored. */
static void test_later_reports(void **state)
{
	static const char least[] = "{\"dealbox-compliance\":1,\"version\":\"9\",\"started\":\"\","
		"\"complete\":false,\"machine\":{},\"tests\":[],\"requirements\":[],"
		"\"new\":{\"x\":[null]}}\n";
	struct json_object *report = NULL;
	struct readings readings;
	size_t count;

	(void)state;
	assert_int_equal(report_parse(least, strlen(least), &report, NULL), 0);
	report_readings(report, NULL, &readings);
	assert_int_equal(readings.unread.trials, 0);
	assert_null(report_values(report, "card_ms", &count));
	assert_int_equal(report_gates(report, -1, "wrong").trials, 0);
	assert_int_equal(report_endurance(report).trials, 0);
	json_object_put(report);
}

static void test_sums(void **state)
{
	struct json_object *report = sample();
	struct readings readings;
	struct share share;
	double *values;
	size_t count;

	(void)state;
	report_readings(report, "camera", &readings);
	assert_int_equal(readings.count[0][0], 4000);
	assert_int_equal(readings.count[0][13], 2);
	assert_int_equal(readings.count[51][READING_NONE], 5);
	assert_int_equal(readings.misread.errors, 2);
	assert_int_equal(readings.misread.trials, 5000);
	assert_int_equal(readings.unread.errors, 5);
	assert_int_equal(readings.unread.trials, 5005);
	report_readings(report, NULL, &readings);
	assert_int_equal(readings.count[53][53], 10);
	assert_int_equal(readings.misread.trials, 5010);
	share = report_gates(report, -1, "wrong");
	assert_true(share.errors == 1 && share.trials == 5000);
	share = report_gates(report, 0, "wrong");
	assert_true(share.errors == 0 && share.trials == 2600);
	share = report_gates(report, 0, "feed_faults");
	assert_true(share.errors == 3 && share.trials == 2603);
	share = report_endurance(report);
	assert_true(share.errors == 0 && share.trials == 100);
	values = report_values(report, "latency_us", &count);
	assert_int_equal(count, 5);
	assert_true(values[0] == 900 && values[4] == 2000);
	free(values);
	values = report_values(report, "card_ms", &count);
	assert_int_equal(count, 5);
	assert_true(values[1] == 305);
	free(values);
	json_object_put(report);
}

static void test_escaping(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "a<b>&\"'", "a&#60;b&#62;&#38;&#34;&#39;" },
		{ "tab\tline\n", "tab line " },
		{ "\x01\x7f\xc2\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xe2\x99\xa0 \xf0\x9f\x82\xa1 \xc3\xb8",
		  "\xe2\x99\xa0 \xf0\x9f\x82\xa1 \xc3\xb8" },
		{ "\xe2\x80\xae", "\xef\xbf\xbd" },		/* right to left */
		{ "\xef\xbf\xbe", "\xef\xbf\xbd" },		/* no character of XML */
		{ "\xff!", "\xef\xbf\xbd!" },
		{ "\xe2\x99", "\xef\xbf\xbd\xef\xbf\xbd" },	/* cut off */
		{ "\xc0\xbc", "\xef\xbf\xbd\xef\xbf\xbd" },	/* < in two bytes */
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		report_escape(out, cases[i].in);
		fclose(out);
		assert_string_equal(text, cases[i].out);
		free(text);
	}
}

/* A test's note may end in mid-character. The report must be valid UTF-8 nevertheless. */
static void test_cleaning(void **state)
{
	struct json_object *report = sample(), *machine = report_object(report, "machine", NULL);
	struct json_object *test, *again;
	char *text;

	(void)state;
	json_object_object_add(machine, "serial", json_object_new_string("x\xe2\x99"));
	json_object_object_add(machine, "kind", json_object_new_string("\xc3\xb8"));
	test = json_object_array_get_idx(report_list(report, "tests"), 0);
	json_object_array_add(report_list(test, "failed"), json_object_new_string("\xff"));
	report_clean(report);
	text = report_print(report);
	assert_int_equal(report_parse(text, strlen(text), &again, NULL), 0);
	machine = report_object(again, "machine", NULL);
	assert_string_equal(report_text(machine, "serial"), "x\xef\xbf\xbd\xef\xbf\xbd");
	assert_string_equal(report_text(machine, "kind"), "\xc3\xb8");
	free(text);
	json_object_put(again);
	json_object_put(report);
}

static void test_one_text(void **state)
{
	struct json_object *report = sample(), *again;
	char *text, *text_again;

	(void)state;
	json_object_object_add(report, "extra", json_object_new_double(0.1));
	text = report_print(report);
	assert_null(strpbrk(text, "<>&\n"));
	assert_int_equal(report_parse(text, strlen(text), &again, NULL), 0);
	text_again = report_print(again);
	assert_string_equal(text, text_again);
	free(text);
	free(text_again);
	json_object_put(again);
	json_object_put(report);
}

static char *signed_sample(char digit)
{
	struct dealbox_signer *signer = sample_signer(digit);
	struct json_object *report = sample();
	char *text;

	assert_true(report_sign(report, signer));
	/* signing again replaces the signature */
	assert_true(report_sign(report, signer));
	text = report_print(report);
	json_object_put(report);
	dealbox_signer_free(signer);
	return text;
}

static int verified(const char *text, size_t size, uint8_t key[DEALBOX_SIGNER_KEY])
{
	struct json_object *report = NULL;
	struct dealbox_error error = { 0 };
	int err = report_verify(text, size, &report, key, &error);

	assert_true(!err == !!report);
	assert_true(!err == !*error.what);
	json_object_put(report);
	return err;
}

/* The signer is named, and a line end may follow */
static void test_signed_report(void **state)
{
	char *text = signed_sample('f'), *line;
	uint8_t key[DEALBOX_SIGNER_KEY];
	struct dealbox_signer *signer = sample_signer('f');

	(void)state;
	assert_int_equal(verified(text, strlen(text), key), 0);
	assert_memory_equal(key, dealbox_signer_public(signer), sizeof(key));
	assert_true(asprintf(&line, "%s\n", text) > 0);
	assert_int_equal(verified(line, strlen(line), key), 0);
	assert_non_null(strstr(text, ",\"signer\":\""
			       "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"
			       "\",\"signature\":\""));
	free(line);
	free(text);
	dealbox_signer_free(signer);
}

static void test_each_changed_byte_is_refused(void **state)
{
	char *text = signed_sample('f');
	const size_t size = strlen(text);
	uint8_t key[DEALBOX_SIGNER_KEY];

	(void)state;
	for (size_t i = 0; i < size; i++)
		for (size_t bit = i % 4; bit < 8; bit += 4) {
			text[i] ^= (char)(1 << bit);
			assert_int_not_equal(verified(text, size, key), 0);
			text[i] ^= (char)(1 << bit);
		}
	for (size_t i = 0; i < size; i += 13)
		assert_int_not_equal(verified(text, i, key), 0);
	assert_int_equal(verified(text, size, key), 0);
	free(text);
}

/* The same content in another text: spaces, order, a member twice */
static void test_other_texts_are_refused(void **state)
{
	char *text = signed_sample('f'), *other;
	uint8_t key[DEALBOX_SIGNER_KEY];

	(void)state;
	assert_true(asprintf(&other, "{ %s", text + 1) > 0);
	assert_int_equal(verified(other, strlen(other), key), -EINVAL);
	free(other);
	assert_true(asprintf(&other, "{\"complete\":false,%s", text + 1) > 0);
	assert_int_not_equal(verified(other, strlen(other), key), 0);
	free(other);
	assert_true(asprintf(&other, "%s\n\n", text) > 0);
	assert_int_equal(verified(other, strlen(other), key), -EINVAL);
	free(other);
	assert_true(asprintf(&other, "\n%s", text) > 0);
	assert_int_equal(verified(other, strlen(other), key), -EINVAL);
	free(other);
	assert_int_equal(verified(sample_text, strlen(sample_text), key), -ENOKEY);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_no_report),
		cmocka_unit_test(test_empty_and_deep_files),
		cmocka_unit_test(test_later_reports),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_escaping),
		cmocka_unit_test(test_cleaning),
		cmocka_unit_test(test_one_text),
		cmocka_unit_test(test_signed_report),
		cmocka_unit_test(test_each_changed_byte_is_refused),
		cmocka_unit_test(test_other_texts_are_refused),
	};

	return cmocka_run_group_tests_name("compliance_report", tests, NULL, NULL);
}
