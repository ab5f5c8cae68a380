// SPDX-License-Identifier: LGPL-2.1-or-later
/* A report as JUnit XML, as CI systems read it: a suite for each group of tests. */
#include <stdlib.h>
#include <string.h>

#include "report.h"

static bool is(struct json_object *test, const char *result)
{
	return !strcmp(report_text(test, "result"), result);
}

static bool skipped(struct json_object *test)
{
	return is(test, "not supported") || is(test, "not run") || is(test, "not testable");
}

static void attribute(FILE *out, const char *name, const char *value)
{
	fprintf(out, " %s=\"", name);
	report_escape(out, value);
	putc('"', out);
}

static void put_property(FILE *out, const char *name, const char *value)
{
	fputs("      <property", out);
	attribute(out, "name", name);
	attribute(out, "value", value);
	fputs("/>\n", out);
}

static void put_evidence(FILE *out, struct json_object *test)
{
	struct json_object *line;

	if (!report_length(report_list(test, "evidence")))
		return;
	fputs("      <system-out>", out);
	report_each(line, report_list(test, "evidence")) {
		fprintf(out, "%.0f us: ", report_number(line, "us"));
		report_escape(out, report_text(line, "what"));
		putc('\n', out);
	}
	fputs("</system-out>\n", out);
}

static void put_test(FILE *out, struct json_object *test)
{
	fputs("    <testcase", out);
	attribute(out, "classname", report_text(test, "group"));
	attribute(out, "name", report_text(test, "test"));
	fprintf(out, " time=\"%.6f\">\n", report_number(test, "seconds"));
	if (skipped(test)) {
		fputs("      <skipped", out);
		attribute(out, "message", report_text(test, "why"));
		fputs("/>\n", out);
	} else if (is(test, "fail")) {
		struct json_object *requirement;

		fputs("      <failure", out);
		attribute(out, "type", "requirement");
		attribute(out, "message", report_text(test, "why"));
		putc('>', out);
		report_each(requirement, report_list(test, "failed")) {
			report_escape(out, json_object_get_string(requirement));
			putc('\n', out);
		}
		fputs("</failure>\n", out);
	}
	put_evidence(out, test);
	/* JUnit has no warnings */
	if (is(test, "warn")) {
		fputs("      <system-err>warning: ", out);
		report_escape(out, report_text(test, "why"));
		fputs("</system-err>\n", out);
	}
	fputs("    </testcase>\n", out);
}

static void put_suite(FILE *out, struct json_object *report, const char *group)
{
	struct json_object *machine = report_object(report, "machine", NULL), *test;
	unsigned int tests = 0, failures = 0, skips = 0;
	double seconds = 0;
	char started[20];

	report_each(test, report_list(report, "tests")) {
		if (strcmp(report_text(test, "group"), group))
			continue;
		tests++;
		failures += is(test, "fail");
		skips += skipped(test);
		seconds += report_number(test, "seconds");
	}
	fputs("  <testsuite", out);
	attribute(out, "name", group);
	fprintf(out, " tests=\"%u\" failures=\"%u\" errors=\"0\" skipped=\"%u\" time=\"%.6f\"",
		tests, failures, skips, seconds);
	/* without zone: it is UTC */
	snprintf(started, sizeof(started), "%s", report_text(report, "started"));
	attribute(out, "timestamp", started);
	fputs(">\n    <properties>\n", out);
	put_property(out, "machine", report_text(machine, "product"));
	put_property(out, "serial", report_text(machine, "serial"));
	put_property(out, "firmware", report_text(machine, "firmware"));
	put_property(out, "dealbox-compliance", report_text(report, "version"));
	fputs("    </properties>\n", out);
	report_each(test, report_list(report, "tests"))
		if (!strcmp(report_text(test, "group"), group))
			put_test(out, test);
	fputs("  </testsuite>\n", out);
}

/* Returns true if no test before this one is of its group. */
static bool first_of_group(struct json_object *tests, size_t index)
{
	const char *group = report_text(json_object_array_get_idx(tests, index), "group");

	while (index--)
		if (!strcmp(report_text(json_object_array_get_idx(tests, index), "group"), group))
			return false;
	return true;
}

char *report_junit(struct json_object *report)
{
	struct json_object *tests = report_list(report, "tests");
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<testsuites name=\"dealbox-compliance\">\n", out);
	for (size_t i = 0; i < report_length(tests); i++)
		if (first_of_group(tests, i))
			put_suite(out, report,
				  report_text(json_object_array_get_idx(tests, i), "group"));
	fputs("</testsuites>\n", out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
