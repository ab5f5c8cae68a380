// SPDX-License-Identifier: LGPL-2.1-or-later
/* Comparison of two reports. */
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define LEVEL	0.05	/* of significance, for all comparisons together */

/* -- requirements ----------------------------------------------------------- */

/* A proof that is lost is a change for the worse, too. */
static int badness(const char *result)
{
	static const struct {
		const char *result;
		int badness;
	} table[] = {
		{ "ok", 0 }, { "warn", 1 }, { "not supported", 2 }, { "not run", 2 },
		{ "not testable", 2 }, { "fail", 3 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(result, table[i].result))
			return table[i].badness;
	return 2;
}

/* The results of requirements by number; free with json_object_put(). */
static struct json_object *index_make(struct json_object *report)
{
	struct json_object *index = json_object_new_object(), *row;

	report_each(row, report_list(report, "requirements"))
		json_object_object_add(index, report_text(row, "requirement"),
				       json_object_get(row));
	return index;
}

static bool put_requirement(FILE *out, const char *number, struct json_object *before,
			    struct json_object *now)
{
	const char *was = before ? report_text(before, "result") : "not in the report";
	const char *is = now ? report_text(now, "result") : "not in the report";
	const bool worse = badness(is) > badness(was);

	if (!strcmp(was, is))
		return false;
	fprintf(out, "%s ", worse ? "worse: " : badness(is) < badness(was) ? "better:" : "other: ");
	report_plain(out, number);
	fprintf(out, ": %s, was %s", is, was);
	if (now && *report_text(now, "why")) {
		fputs(": ", out);
		report_plain(out, report_text(now, "why"));
	}
	putc('\n', out);
	return worse;
}

static bool compare_requirements(FILE *out, struct json_object *before, struct json_object *now)
{
	struct json_object *was = index_make(before), *is = index_make(now);
	bool worse = false;

	json_object_object_foreach(is, number, row)
		worse |= put_requirement(out, number, json_object_object_get(was, number), row);
	json_object_object_foreach(was, old, old_row)
		if (!json_object_object_get_ex(is, old, NULL))
			worse |= put_requirement(out, old, old_row, NULL);
	json_object_put(was);
	json_object_put(is);
	return worse;
}

/* -- statistics ------------------------------------------------------------- */

static const struct {
	const char *what;
	struct share (*of)(struct json_object *report);
} rates[] = {
	{ "cards read as another card", report_misread },
	{ "cards not read", report_unread },
	{ "cards in a wrong pocket", report_wrong_pocket },
	{ "failed feeds", report_feed_fault },
	{ "boards that were no exact duplicate", report_endurance },
};

static const struct {
	const char *what, *values, *unit;
} times[] = {
	{ "control transfers", "control_ms", "ms" },
	{ "time for a card", "card_ms", "ms" },
	{ "time for a board", "board_ms", "ms" },
	{ "gate latency", "latency_us", "us" },
};

#define RATES		(sizeof(rates) / sizeof(rates[0]))
#define TIMES		(sizeof(times) / sizeof(times[0]))
#define SIGNIFICANT	(LEVEL / COMPARISONS)

enum { COMPARISONS = RATES + TIMES };

/* Returns true if the difference is significant, and for the worse. */
static bool put_difference(FILE *out, double p, bool grew)
{
	fprintf(out, ": %s (p = %.2g)\n", p >= SIGNIFICANT ? "no significant difference" :
		grew ? "worse, significantly" : "better, significantly", p);
	return p < SIGNIFICANT && grew;
}

static void put_share(FILE *out, struct share share)
{
	fprintf(out, "%llu of %llu", (unsigned long long)share.errors,
		(unsigned long long)share.trials);
}

static bool compare_rate(FILE *out, size_t i, struct json_object *before, struct json_object *now)
{
	const struct share was = rates[i].of(before), is = rates[i].of(now);

	if (!was.trials || !is.trials)
		return false;
	fprintf(out, "%s: ", rates[i].what);
	put_share(out, is);
	fputs(", was ", out);
	put_share(out, was);
	return put_difference(out, statistics_fisher(was, is),
			      (double)is.errors * (double)was.trials >
				      (double)was.errors * (double)is.trials);
}

static bool compare_time(FILE *out, size_t i, struct json_object *before, struct json_object *now)
{
	size_t was_count, is_count;
	double *was = report_values(before, times[i].values, &was_count);
	double *is = report_values(now, times[i].values, &is_count);
	bool worse = false, longer = false;

	if (was && is) {
		const double p = statistics_rank_sum(was, was_count, is, is_count, &longer);

		fprintf(out, "%s: median %.4g %s, was %.4g %s", times[i].what,
			statistics_quantile(is, is_count, 0.5), times[i].unit,
			statistics_quantile(was, was_count, 0.5), times[i].unit);
		worse = put_difference(out, p, longer);
	}
	free(was);
	free(is);
	return worse;
}

/* -- what was tested -------------------------------------------------------- */

static void compare_facts(FILE *out, struct json_object *before, struct json_object *now)
{
	static const struct {
		const char *object, *key, *name;
	} facts[] = {
		{ "machine", "product", "machine" }, { "machine", "serial", "serial number" },
		{ "machine", "firmware", "firmware" }, { "machine", "protocol", "protocol" },
		{ "machine", "dialect", "dialect" }, { "machine", "kind", "kind" },
		{ "machine", "descriptor", "machine descriptor" },
		{ "host", "kernel", "kernel" }, { "host", "module", "module" },
		{ NULL, "version", "dealbox-compliance" }, { NULL, "profile", "profile" },
	};

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		const char *object = facts[i].object;
		const char *was = report_text(object ? report_object(before, object, NULL) : before,
					      facts[i].key);
		const char *is = report_text(object ? report_object(now, object, NULL) : now,
					     facts[i].key);

		if (!strcmp(was, is))
			continue;
		fprintf(out, "%s: ", facts[i].name);
		report_plain(out, *is ? is : "none");
		fputs(", was ", out);
		report_plain(out, *was ? was : "none");
		putc('\n', out);
	}
}

bool report_compare(struct json_object *before, struct json_object *now, FILE *out)
{
	bool worse;

	compare_facts(out, before, now);
	worse = compare_requirements(out, before, now);
	for (size_t i = 0; i < RATES; i++)
		worse |= compare_rate(out, i, before, now);
	for (size_t i = 0; i < TIMES; i++)
		worse |= compare_time(out, i, before, now);
	fputs(worse ? "Something became worse.\n" : "Nothing became worse.\n", out);
	return worse;
}
