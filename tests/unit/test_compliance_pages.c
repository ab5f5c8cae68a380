// SPDX-License-Identifier: LGPL-2.1-or-later
/* A report as JUnit XML and as a page: valid, complete, safe, and signed. */
#include "unit.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compliance_sample.h"
#include "profile.h"

extern char **environ;

/* Returns true if xmllint accepts the text. */
static bool xmllint(const char *text, const char *schema)
{
	char path[] = "/tmp/compliance-XXXXXX";
	char *argv[] = { "xmllint", "--noout", "--nonet", path, "--schema", (char *)schema, NULL };
	int fd = mkstemp(path), status = -1;
	pid_t pid;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	if (!schema)
		argv[4] = NULL;
	assert_int_equal(posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ), 0);
	assert_true(waitpid(pid, &status, 0) == pid);
	unlink(path);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static unsigned int occurrences(const char *text, const char *word)
{
	unsigned int count = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		count++;
	return count;
}

static struct json_object *judged_sample(void)
{
	struct json_object *report = sample();
	struct profile profile;

	assert_int_equal(profile_find("club", &profile, NULL), 0);
	profile_judge(&profile, report);
	return report;
}

static void test_junit(void **state)
{
	struct json_object *report = sample();
	char *text = report_junit(report);

	(void)state;
	assert_true(xmllint(text, TEST_DATA "/junit.xsd"));
	assert_int_equal(occurrences(text, "<testsuite name="), 3);
	assert_int_equal(occurrences(text, "<testcase "), 4);
	assert_int_equal(occurrences(text, "<failure "), 1);
	assert_int_equal(occurrences(text, "<skipped "), 1);
	assert_non_null(strstr(text, "name=\"dealing\" tests=\"2\" failures=\"0\" errors=\"0\" "
			       "skipped=\"1\" time=\"0.502000\" "
			       "timestamp=\"2026-11-24T01:00:00\""));
	assert_non_null(strstr(text, ">R-2-3\n</failure>"));
	assert_non_null(strstr(text, "<system-err>warning: 501 ms</system-err>"));
	assert_non_null(strstr(text, "1200 us: GET_STATUS &#60;/script"));
	free(text);
	json_object_put(report);
}

/* An empty run is a file, too. */
static void test_junit_without_tests(void **state)
{
	struct json_object *report = sample();
	char *text;

	(void)state;
	json_object_object_add(report, "tests", json_object_new_array());
	text = report_junit(report);
	assert_true(xmllint(text, TEST_DATA "/junit.xsd"));
	free(text);
	json_object_put(report);
}

static void test_page(void **state)
{
	struct json_object *report = judged_sample();
	char *text = report_html(report);

	(void)state;
	/* each element is closed, and each text escaped */
	assert_true(xmllint(text, NULL));
	assert_int_equal(occurrences(text, "<script"), 1);
	assert_int_equal(occurrences(text, "</script>"), 1);
	assert_null(strstr(text, "alert(1)<"));
	/* nothing from outside */
	assert_null(strstr(text, "src="));
	assert_null(strstr(text, "href="));
	assert_null(strstr(text, "url("));
	assert_int_equal(occurrences(text, "http://"),
			 occurrences(text, "xmlns=\"http://www.w3.org/2000/svg\""));
	/* for readers of the screen: language, headings, headers of tables, words for plots */
	assert_non_null(strstr(text, "<html lang=\"en\">"));
	assert_int_equal(occurrences(text, "<h1>"), 1);
	assert_int_equal(occurrences(text, "<table>"), occurrences(text, "<caption>"));
	assert_int_equal(occurrences(text, "<th"),
			 occurrences(text, "<th scope=") + occurrences(text, "<thead>"));
	assert_int_equal(occurrences(text, "<svg role=\"img\""), occurrences(text, "<svg"));
	assert_int_equal(occurrences(text, "<svg"), occurrences(text, "</title><desc>"));
	/* two matrices, four histograms */
	assert_int_equal(occurrences(text, "<svg"), 6);
	free(text);
	json_object_put(report);
}

static void test_content_of_page(void **state)
{
	static const char *const words[] = {
		"The machine violates requirements.", "0007", "1.2.3", "6.1.0",
		">R-1-2</th><td>not testable</td>", ">R-2-3</th><td class=\"fail\">fail</td>",
		"queries/limits</th><td class=\"fail\">fail</td>", "0.001200 s: GET_STATUS",
		"Violated: R-2-3.", "<h3>Reader camera</h3>", "<h3>Reader second</h3>",
		">SA</th><td class=\"n\">2</td><td class=\"n\">4002</td>", "HA (2)", "not read (5)",
		"cards read as another card", "not shown yet", "cards a minute",
		"<h3>Endurance</h3>", "<td class=\"n\">2400</td>",
	};
	struct json_object *report = judged_sample();
	char *text = report_html(report);

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strstr(text, words[i]))
			fail_msg("missing: %s", words[i]);
	free(text);
	json_object_put(report);
}

static void test_page_without_measurements(void **state)
{
	struct json_object *report = sample();
	char *text;

	(void)state;
	json_object_object_del(report, "measurements");
	json_object_object_add(report, "complete", json_object_new_boolean(false));
	text = report_html(report);
	assert_true(xmllint(text, NULL));
	assert_null(strstr(text, "Statistics"));
	assert_non_null(strstr(text, "interrupted"));
	free(text);
	json_object_put(report);
}

/* Equal values, and a single one, are distributions */
static void test_page_of_equal_values(void **state)
{
	struct json_object *report = sample(),
			   *times = report_object(report, "measurements", "times");
	struct json_object *values = json_object_new_array();
	char *text;

	(void)state;
	json_object_array_add(values, json_object_new_int(0));
	json_object_object_add(times, "card_ms", values);
	text = report_html(report);
	assert_true(xmllint(text, NULL));
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf"));
	free(text);
	json_object_put(report);
}

static int verified(const char *text, size_t size)
{
	uint8_t key[DEALBOX_SIGNER_KEY];
	struct json_object *report = NULL;
	struct dealbox_error error = { 0 };
	int err = report_verify(text, size, &report, key, &error);

	assert_true(!err == !!report);
	assert_true(!err == !*error.what);
	json_object_put(report);
	return err;
}

/* The page of the report that one signer signed, signed by another */
static char *signed_page(char data_signer, char page_signer)
{
	struct dealbox_signer *signer = sample_signer(data_signer);
	struct json_object *report = judged_sample();
	char *text;

	assert_true(report_sign(report, signer));
	dealbox_signer_free(signer);
	text = report_html(report);
	signer = sample_signer(page_signer);
	assert_true(report_sign_page(&text, signer));
	dealbox_signer_free(signer);
	json_object_put(report);
	return text;
}

static void test_signed_page(void **state)
{
	char *text = signed_page('f', 'f'), *other;
	const size_t size = strlen(text);

	(void)state;
	assert_int_equal(verified(text, size), 0);
	assert_true(xmllint(text, NULL));
	for (size_t i = 0; i < size; i += 31) {
		text[i] ^= (char)(1 << i % 8);
		assert_int_not_equal(verified(text, size), 0);
		text[i] ^= (char)(1 << i % 8);
	}
	for (size_t i = size - 300; i < size; i += 2) {
		text[i] ^= 1;
		assert_int_not_equal(verified(text, size), 0);
		text[i] ^= 1;
		assert_int_not_equal(verified(text, i), 0);
	}
	assert_true(asprintf(&other, "%s ", text) > 0);
	assert_int_equal(verified(other, strlen(other)), -EINVAL);
	free(other);
	free(text);
	text = signed_page('f', '0');
	assert_int_equal(verified(text, strlen(text)), -EKEYREJECTED);
	free(text);
}

/* The data are signed, and the page that people read is not. */
static void test_page_that_is_not_signed(void **state)
{
	struct dealbox_signer *signer = sample_signer('f');
	struct json_object *report = sample(), *again = NULL;
	char *text;

	(void)state;
	text = report_html(report);
	assert_int_equal(verified(text, strlen(text)), -ENOKEY);
	free(text);
	assert_true(report_sign(report, signer));
	text = report_html(report);
	assert_int_equal(verified(text, strlen(text)), -EINVAL);
	assert_int_equal(report_read(text, strlen(text), &again, NULL), 0);
	json_object_put(again);
	free(text);
	assert_int_equal(verified("<html></html>", 13), -EINVAL);
	json_object_put(report);
	dealbox_signer_free(signer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_junit),
		cmocka_unit_test(test_junit_without_tests),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_content_of_page),
		cmocka_unit_test(test_page_without_measurements),
		cmocka_unit_test(test_page_of_equal_values),
		cmocka_unit_test(test_signed_page),
		cmocka_unit_test(test_page_that_is_not_signed),
	};

	return cmocka_run_group_tests_name("compliance_pages", tests, NULL, NULL);
}
