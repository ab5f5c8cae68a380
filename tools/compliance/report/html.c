// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A report as one page of HTML: no script, nothing from outside. Each text of a report goes through
 * report_escape(), since a machine may send what it likes.
 */
#include <dealbox/card.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots.h"

static const char style[] =
	"body{font:16px/1.45 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;"
	"color:#1a1a1a;background:#fff}"
	"table{border-collapse:collapse;margin:1rem 0;width:100%}"
	"caption{text-align:left;font-weight:600;padding:.3rem 0}"
	"th,td{border:1px solid #767676;padding:.25rem .5rem;text-align:left;vertical-align:top;"
	"overflow-wrap:anywhere}"
	"td.n{text-align:right;white-space:nowrap}"
	"thead th{background:#eee}"
	".ok,.shown{color:#0a5c1f}.fail,.refuted{color:#a40000;font-weight:700}.warn{color:#7a4a00}"
	"code,.log{font-family:ui-monospace,monospace;font-size:.9em}"
	".log{margin:.3rem 0;padding-left:1.5rem}"
	"svg{max-width:100%;height:auto}"
	"@media print{body{max-width:none;margin:0;font-size:10pt}tr,svg{break-inside:avoid}"
	"thead{display:table-header-group}h2{break-after:avoid}}";

static void put(FILE *out, const char *text)
{
	report_escape(out, text);
}

/* <tag class>escaped</tag> */
static void element(FILE *out, const char *tag, const char *class, const char *text)
{
	fprintf(out, "<%s%s%s%s>", tag, *class ? " class=\"" : "", class, *class ? "\"" : "");
	put(out, text);
	fprintf(out, "</%.*s>", (int)strcspn(tag, " "), tag);
}

static void header_row(FILE *out, const char *caption, const char *const *names)
{
	fputs("<table><caption>", out);
	put(out, caption);
	fputs("</caption><thead><tr>", out);
	while (*names)
		element(out, "th scope=\"col\"", "", *names++);
	fputs("</tr></thead><tbody>\n", out);
}

/* The class of a result is its first word, of those that the style knows. */
static void put_result(FILE *out, const char *result)
{
	static const char *const classes[] = { "ok", "fail", "warn", "shown", "refuted" };
	const char *class = "";

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (!strcmp(result, classes[i]))
			class = classes[i];
	element(out, "td", class, result);
}

/* A share as people read it */
static void put_percent(FILE *out, double share)
{
	fprintf(out, "%.3g&#160;%%", 100 * share);
}

static void put_share(FILE *out, struct share share, double confidence)
{
	const struct interval interval = statistics_interval(share, confidence);

	fprintf(out, "<td class=\"n\">%llu</td><td class=\"n\">%llu</td><td class=\"n\">",
		(unsigned long long)share.errors, (unsigned long long)share.trials);
	put_percent(out, interval.low);
	fputs(" to ", out);
	put_percent(out, interval.high);
	fputs("</td>", out);
}

/* -- the head --------------------------------------------------------------- */

static void put_fact(FILE *out, const char *name, const char *value)
{
	if (!*value)
		return;
	fputs("<tr>", out);
	element(out, "th scope=\"row\"", "", name);
	element(out, "td", "", value);
	fputs("</tr>\n", out);
}

static void put_facts(FILE *out, struct json_object *report)
{
	fputs("<table><caption>What was tested</caption><tbody>\n", out);
	for (size_t i = 0; i < REPORT_FACTS; i++) {
		const struct report_fact *fact = &report_facts[i];
		struct json_object *object =
			fact->object ? report_object(report, fact->object, NULL) : report;

		put_fact(out, fact->name, report_text(object, fact->key));
	}
	fputs("</tbody></table>\n", out);
}

static void put_totals(FILE *out, struct json_object *report)
{
	static const char *const results[] = {
		"ok", "fail", "warn", "not supported", "not run", "not testable"
	};
	static const char *const names[] = { "Result", "Requirements", "Tests", NULL };
	const unsigned int failed = report_count(report_list(report, "requirements"), "fail") +
				    report_count(report_list(report, "tests"), "fail");

	fputs("<p>", out);
	element(out, "strong", failed ? "fail" : "ok", failed ?
		"The machine violates requirements." : "No requirement was found violated.");
	if (!json_object_get_boolean(report_object(report, "complete", NULL)))
		element(out, "strong", "fail",
			" The run was interrupted: the report is not complete.");
	fputs("</p>\n", out);
	header_row(out, "Totals", names);
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		fputs("<tr>", out);
		element(out, "th scope=\"row\"", "", results[i]);
		fprintf(out, "<td class=\"n\">%u</td><td class=\"n\">%u</td></tr>\n",
			report_count(report_list(report, "requirements"), results[i]),
			report_count(report_list(report, "tests"), results[i]));
	}
	fputs("</tbody></table>\n", out);
}

/* -- acceptance ------------------------------------------------------------- */

static void put_acceptance(FILE *out, struct json_object *report)
{
	static const char *const names[] = {
		"Limit", "Errors", "Of", "Confidence interval", "Allowed", "Judgement", NULL
	};
	struct json_object *acceptance = report_object(report, "acceptance", NULL), *row;
	const double confidence = report_number(acceptance, "confidence");

	if (!acceptance)
		return;
	fputs("<h2>Acceptance</h2>\n<p>Profile ", out);
	put(out, report_text(acceptance, "profile"));
	fputs(". A limit is <em>shown</em> if the whole exact interval (Clopper and Pearson), at a "
	      "confidence of ", out);
	put_percent(out, confidence);
	fputs(", is allowed; <em>refuted</em> if none of it is; <em>not shown yet</em> otherwise: "
	      "then more cards have to be dealt. "
	      "Endurance is judged by Wald&#39;s sequential test.</p>\n", out);
	header_row(out, "Limits", names);
	report_each(row, report_list(acceptance, "limits")) {
		fputs("<tr>", out);
		element(out, "th scope=\"row\"", "", report_text(row, "what"));
		fprintf(out, "<td class=\"n\">%.0f</td><td class=\"n\">%.0f</td><td class=\"n\">",
			report_number(row, "errors"), report_number(row, "trials"));
		put_percent(out, report_number(row, "low"));
		fputs(" to ", out);
		put_percent(out, report_number(row, "high"));
		fputs("</td><td class=\"n\">", out);
		put_percent(out, report_number(row, "allowed"));
		fputs("</td>", out);
		put_result(out, report_text(row, "result"));
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table>\n", out);
}

/* -- statistics ------------------------------------------------------------- */

/* A plot as SVG. Frees it; NULL: out of memory. */
static void put_plot(FILE *out, struct plot *plot)
{
	static const char *const anchors[] = {
		[ALIGN_LEFT] = "start", [ALIGN_CENTRE] = "middle", [ALIGN_RIGHT] = "end"
	};
	static const double shares[] = { [ALIGN_LEFT] = 0, [ALIGN_CENTRE] = 0.5,
					 [ALIGN_RIGHT] = 1 };

	if (!plot)
		return;
	fprintf(out, "<svg role=\"img\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
		"xmlns=\"http://www.w3.org/2000/svg\"><title>", plot->w, plot->h, plot->w);
	put(out, plot->title);
	fputs("</title><desc>", out);
	put(out, plot->about);
	fputs("</desc>\n", out);
	for (size_t i = 0; i < plot->count; i++) {
		const struct plot_mark *mark = &plot->marks[i];
		const unsigned char *colour = ink_colours[mark->ink];

		if (!*mark->text) {
			fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
				"fill=\"#%02x%02x%02x\" fill-opacity=\"%.2f\"/>", mark->x, mark->y,
				mark->w, mark->h, colour[0], colour[1], colour[2], mark->tint);
			continue;
		}
		fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.0f\" text-anchor=\"%s\">",
			mark->x + shares[mark->align] * mark->w, mark->y + 0.8 * mark->h, mark->h,
			anchors[mark->align]);
		put(out, mark->text);
		fputs("</text>", out);
	}
	fputs("</svg>\n", out);
	plot_free(plot);
}

static void put_misread_table(FILE *out, const struct readings *readings, double confidence)
{
	static const char *const names[] = {
		"Card", "Misread", "Named", "Confidence interval", "Read as", NULL
	};
	bool any = false;

	for (unsigned int i = 0; i < READING_CARDS; i++)
		any |= report_card_errors(readings, i).errors || readings->count[i][READING_NONE];
	if (!any) {
		fputs("<p>Each card was read as what it is.</p>\n", out);
		return;
	}
	header_row(out,
		   "Cards with errors. The intervals hold for all cards together (Bonferroni).",
		   names);
	for (unsigned int i = 0; i < READING_CARDS; i++) {
		const struct share share = report_card_errors(readings, i);
		const char *comma = "";

		if (!share.errors && !readings->count[i][READING_NONE])
			continue;
		fputs("<tr>", out);
		element(out, "th scope=\"row\"", "", dealbox_card_name(i));
		put_share(out, share, 1 - (1 - confidence) / READING_CARDS);
		fputs("<td>", out);
		for (unsigned int j = 0; j <= READING_NONE; j++)
			if (i != j && readings->count[i][j]) {
				fprintf(out, "%s%s (%u)", comma, report_card_name(j),
					readings->count[i][j]);
				comma = ", ";
			}
		fputs("</td></tr>\n", out);
	}
	fputs("</tbody></table>\n", out);
}

static void put_readers(FILE *out, struct json_object *report)
{
	static const char *const names[] = { "Error", "Errors", "Of", "Confidence interval", NULL };
	struct json_object *rows =
		report_list(report_object(report, "measurements", NULL), "readings");
	const double confidence = report_confidence(report);
	unsigned int readers = 0;

	for (size_t i = 0; i < report_length(rows) && readers < REPORT_READERS_MAX; i++) {
		const char *reader = report_text(json_object_array_get_idx(rows, i), "reader");
		struct readings *readings;

		if (!report_first_of_reader(rows, i) || !(readings = malloc(sizeof(*readings))))
			continue;
		readers++;
		report_readings(report, reader, readings);
		fputs("<h3>Reader ", out);
		put(out, reader);
		fputs("</h3>\n", out);
		header_row(out, "Readings", names);
		fputs("<tr><th scope=\"row\">read as another card</th>", out);
		put_share(out, readings->misread, confidence);
		fputs("</tr>\n<tr><th scope=\"row\">not read</th>", out);
		put_share(out, readings->unread, confidence);
		fputs("</tr>\n</tbody></table>\n", out);
		put_plot(out, plot_of_readings(readings));
		put_misread_table(out, readings, confidence);
		free(readings);
	}
}

static void put_gates(FILE *out, struct json_object *report)
{
	static const char *const names[] = {
		"Gate", "Wrong", "Cards", "Confidence interval", "Failed feeds", "Feeds",
		"Confidence interval", NULL
	};
	struct json_object *gates =
		report_list(report_object(report, "measurements", NULL), "gates");
	const double confidence = report_confidence(report);
	struct json_object *row;

	if (!report_length(gates))
		return;
	fputs("<h3>Gates</h3>\n", out);
	header_row(out, "Cards in a wrong pocket, and feeds that failed", names);
	report_each(row, gates) {
		const double cards = report_number(row, "cards");
		const double faults = report_number(row, "feed_faults");
		const struct share wrong = { (uint64_t)report_number(row, "wrong"),
					     (uint64_t)cards };
		const struct share feed = { (uint64_t)faults,
			(uint64_t)fmin(cards + faults, STATISTICS_COUNT_MAX) };

		fprintf(out, "<tr><th scope=\"row\">%.0f</th>", report_number(row, "gate"));
		put_share(out, wrong, confidence);
		put_share(out, feed, confidence);
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table>\n", out);
}

static void put_times(FILE *out, struct json_object *report)
{
	static const char *const names[] = {
		"Time", "Values", "Least", "Median", "95 %", "99 %", "Most", NULL
	};
	static const double quantiles[] = { 0, 0.5, 0.95, 0.99, 1 };
	double *values[REPORT_DISTRIBUTIONS];
	size_t count[REPORT_DISTRIBUTIONS];
	bool any = false;

	for (size_t i = 0; i < REPORT_DISTRIBUTIONS; i++) {
		values[i] = report_values(report, report_distributions[i].key, &count[i]);
		any |= values[i] != NULL;
	}
	if (any) {
		fputs("<h3>Times</h3>\n", out);
		header_row(out, "Distributions", names);
	}
	for (size_t i = 0; i < REPORT_DISTRIBUTIONS; i++) {
		if (!values[i])
			continue;
		fputs("<tr>", out);
		element(out, "th scope=\"row\"", "", report_distributions[i].name);
		fprintf(out, "<td class=\"n\">%zu</td>", count[i]);
		for (size_t q = 0; q < sizeof(quantiles) / sizeof(quantiles[0]); q++)
			fprintf(out, "<td class=\"n\">%.4g&#160;%s</td>",
				statistics_quantile(values[i], count[i], quantiles[q]),
				report_distributions[i].unit);
		fputs("</tr>\n", out);
	}
	if (any)
		fputs("</tbody></table>\n", out);
	for (size_t i = 0; i < REPORT_DISTRIBUTIONS; i++) {
		if (!values[i])
			continue;
		fputs("<h4>", out);
		put(out, report_distributions[i].name);
		fputs("</h4>\n", out);
		put_plot(out, plot_of_values(&report_distributions[i], values[i], count[i]));
		if (!strcmp(report_distributions[i].key, "card_ms") &&
		    values[i][count[i] - 1] > 0) {
			double sum = 0;

			for (size_t n = 0; n < count[i]; n++)
				sum += values[i][n];
			fprintf(out, "<p>%.3g cards a minute.</p>\n",
				60000 * (double)count[i] / sum);
		}
		free(values[i]);
	}
}

static void put_endurance(FILE *out, struct json_object *report)
{
	static const char *const names[] = {
		"Error", "Boards", "Of", "Confidence interval", NULL
	};

	if (!report_object(report, "measurements", "endurance"))
		return;
	fputs("<h3>Endurance</h3>\n", out);
	header_row(out, "Boards", names);
	fputs("<tr><th scope=\"row\">no exact duplicate</th>", out);
	put_share(out, report_endurance(report), report_confidence(report));
	fputs("</tr>\n</tbody></table>\n", out);
}

/* -- requirements and tests ------------------------------------------------- */

static void put_words(FILE *out, struct json_object *list)
{
	const char *comma = "";
	struct json_object *word;

	report_each(word, list) {
		fputs(comma, out);
		put(out, json_object_get_string(word));
		comma = ", ";
	}
}

static void put_requirements(FILE *out, struct json_object *report)
{
	static const char *const names[] = { "Requirement", "Result", "Tests", "Reason", NULL };
	struct json_object *row;

	fputs("<h2>Requirements</h2>\n", out);
	header_row(out, "Each requirement of the protocol", names);
	report_each(row, report_list(report, "requirements")) {
		fputs("<tr>", out);
		element(out, "th scope=\"row\"", "", report_text(row, "requirement"));
		put_result(out, report_text(row, "result"));
		fputs("<td>", out);
		put_words(out, report_list(row, "tests"));
		fputs("</td>", out);
		element(out, "td", "", report_text(row, "why"));
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table>\n", out);
}

static void put_evidence(FILE *out, struct json_object *test)
{
	struct json_object *lines = report_list(test, "evidence"), *line;

	if (!report_length(lines))
		return;
	fprintf(out, "<details%s><summary>Evidence (%zu)</summary><ol class=\"log\">\n",
		!strcmp(report_text(test, "result"), "fail") ? " open=\"open\"" : "",
		report_length(lines));
	report_each(line, lines) {
		fprintf(out, "<li>%.6f s: ", report_number(line, "us") / 1e6);
		put(out, report_text(line, "what"));
		fputs("</li>\n", out);
	}
	fputs("</ol></details>\n", out);
}

static void put_tests(FILE *out, struct json_object *report)
{
	static const char *const names[] = { "Test", "Result", "Proves", "Findings", NULL };
	struct json_object *row;

	fputs("<h2>Tests</h2>\n", out);
	header_row(out, "Each test with what proves its result", names);
	report_each(row, report_list(report, "tests")) {
		fputs("<tr><th scope=\"row\">", out);
		put(out, report_text(row, "group"));
		putc('/', out);
		put(out, report_text(row, "test"));
		fputs("</th>", out);
		put_result(out, report_text(row, "result"));
		fputs("<td>", out);
		put_words(out, report_list(row, "requirements"));
		fputs("</td><td>", out);
		if (report_length(report_list(row, "failed"))) {
			fputs("Violated: ", out);
			put_words(out, report_list(row, "failed"));
			fputs(". ", out);
		}
		put(out, report_text(row, "why"));
		fprintf(out, " (%.3f s)", report_number(row, "seconds"));
		put_evidence(out, row);
		fputs("</td></tr>\n", out);
	}
	fputs("</tbody></table>\n", out);
}

char *report_html(struct json_object *report)
{
	struct json_object *machine = report_object(report, "machine", NULL);
	char *text = NULL, *json = report_print(report);
	size_t size;
	FILE *out = json ? open_memstream(&text, &size) : NULL;

	if (!out) {
		free(json);
		return NULL;
	}
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'\"/>\n"
	      "<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>Acceptance of ",
	      out);
	put(out, report_text(machine, "product"));
	fputs(" ", out);
	put(out, report_text(machine, "serial"));
	fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<h1>Acceptance of ",
		style);
	put(out, report_text(machine, "product"));
	fputs("</h1>\n", out);
	put_totals(out, report);
	put_facts(out, report);
	put_acceptance(out, report);
	if (report_object(report, "measurements", NULL)) {
		fputs("<h2>Statistics</h2>\n", out);
		put_readers(out, report);
		put_gates(out, report);
		put_times(out, report);
		put_endurance(out, report);
	}
	put_requirements(out, report);
	put_tests(out, report);
	fputs("<p>The data of this page are part of it. <code>dealbox-compliance verify</code> "
	      "checks the signature of a signed page.</p>\n</main>\n", out);
	/* a data block: browsers do not run it */
	fprintf(out,
		"<script type=\"application/json\" id=\"report\">%s</script>\n</body>\n</html>\n",
		json);
	free(json);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
