// SPDX-License-Identifier: LGPL-2.1-or-later
/* A report as tables and plots for paper: the same facts as in html.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "paper.h"
#include "plots.h"

#define WORD_MAX	64	/* characters; a longer one may be folded */
#define CELL_MAX	1500	/* bytes, so that a row fits on a page */

/* Widths of columns */
static const unsigned char facts_shares[] = { 2, 8 };
static const unsigned char limit_shares[] = { 5, 2, 2, 5, 3, 4 };
static const unsigned char error_shares[] = { 5, 2, 2, 5 };
static const unsigned char card_shares[] = { 2, 2, 2, 5, 6 };
static const unsigned char why_shares[] = { 3, 3, 9, 7 };
static const unsigned char times_shares[] = { 5, 2, 3, 3, 3, 3, 3 };
static const unsigned char evidence_shares[] = { 2, 14 };

/*
 * Copies a text of a report: printable, in words that fit a line, and no longer than a cell.
 * free(3) it; NULL: out of memory.
 */
static char *text_copy(const char *text)
{
	size_t size = 0, word = 0;
	char *plain = NULL, *copy = NULL;
	FILE *out = open_memstream(&plain, &size);

	if (out)
		report_plain(out, text);
	if (!out || fclose(out) || !(out = open_memstream(&copy, &size))) {
		free(plain);
		return NULL;
	}
	for (size_t i = 0; plain[i]; i++) {
		const bool begins = (plain[i] & 0xc0) != 0x80;

		if (begins && i >= CELL_MAX) {
			fputs(" …", out);
			break;
		}
		word = plain[i] == ' ' ? 0 : word + begins;
		if (word > WORD_MAX) {
			putc(' ', out);
			word = 1;
		}
		putc(plain[i], out);
	}
	free(plain);
	if (!fclose(out))
		return copy;
	free(copy);
	return NULL;
}

static void text_cell(struct rows *rows, const char *text)
{
	char *copy = text_copy(text);

	if (copy)
		rows_cell(rows, "%s", copy);
	else
		rows->failed = true;
	free(copy);
}

static void heading(struct rows *rows, const char *text)
{
	rows_begin(rows, ROW_HEADING);
	text_cell(rows, text);
}

static void paragraph(struct rows *rows, const char *text)
{
	rows_begin(rows, ROW_TEXT);
	text_cell(rows, text);
}

static void names(struct rows *rows, const unsigned char *shares, const char *const *list)
{
	rows->shares = shares;
	rows_begin(rows, ROW_NAMES);
	while (*list)
		rows_cell(rows, "%s", *list++);
}

static void interval_cell(struct rows *rows, double low, double high)
{
	rows_cell(rows, "%.3g %% to %.3g %%", 100 * low, 100 * high);
}

/* Errors, trials, and the interval of the rate */
static void share_cells(struct rows *rows, struct share share, double confidence)
{
	const struct interval interval = statistics_interval(share, confidence);

	rows_cell(rows, "%llu", (unsigned long long)share.errors);
	rows_cell(rows, "%llu", (unsigned long long)share.trials);
	interval_cell(rows, interval.low, interval.high);
}

static void share_row(struct rows *rows, const char *name, struct share share, double confidence)
{
	rows_begin(rows, ROW_CELLS);
	text_cell(rows, name);
	share_cells(rows, share, confidence);
}

/* A plot, which the row owns; NULL: out of memory */
static void plot_add(struct rows *rows, struct plot *plot)
{
	if (plot)
		rows_plot(rows, plot);
	else
		rows->failed = true;
}

static void words_cell(struct rows *rows, struct json_object *list)
{
	struct json_object *word;
	const char *comma = "";
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out) {
		rows->failed = true;
		return;
	}
	report_each(word, list) {
		fprintf(out, "%s%s", comma, json_object_get_string(word));
		comma = ", ";
	}
	if (fclose(out))
		rows->failed = true;
	else
		text_cell(rows, text);
	free(text);
}

/* -- the head --------------------------------------------------------------- */

static void totals_add(struct rows *rows, struct json_object *report)
{
	static const char *const columns[] = { "Result", "Requirements", "Tests", NULL };
	static const char *const results[] = {
		"ok", "fail", "warn", "not supported", "not run", "not testable"
	};
	struct json_object *requirements = report_list(report, "requirements");
	struct json_object *tests = report_list(report, "tests");

	paragraph(rows, report_count(requirements, "fail") || report_count(tests, "fail") ?
		  "The machine violates requirements." : "No requirement was found violated.");
	if (!json_object_get_boolean(report_object(report, "complete", NULL)))
		paragraph(rows, "The run was interrupted: the report is not complete.");
	heading(rows, "Totals");
	names(rows, NULL, columns);
	for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++) {
		rows_begin(rows, ROW_CELLS);
		rows_cell(rows, "%s", results[i]);
		rows_cell(rows, "%u", report_count(requirements, results[i]));
		rows_cell(rows, "%u", report_count(tests, results[i]));
	}
}

static void fact_add(struct rows *rows, const char *name, const char *value)
{
	if (!*value)
		return;
	rows_begin(rows, ROW_CELLS);
	rows_cell(rows, "%s", name);
	text_cell(rows, value);
}

static void facts_add(struct rows *rows, struct json_object *report)
{
	static const char *const columns[] = { "What", "Value", NULL };

	heading(rows, "What was tested");
	names(rows, facts_shares, columns);
	for (size_t i = 0; i < REPORT_FACTS; i++) {
		const struct report_fact *fact = &report_facts[i];
		struct json_object *object =
			fact->object ? report_object(report, fact->object, NULL) : report;

		fact_add(rows, fact->name, report_text(object, fact->key));
	}
	fact_add(rows, "Signature", report_text(report, "signature"));
}

static void acceptance_add(struct rows *rows, struct json_object *report)
{
	static const char *const columns[] = {
		"Limit", "Errors", "Of", "Confidence interval", "Allowed", "Judgement", NULL
	};
	struct json_object *acceptance = report_object(report, "acceptance", NULL), *row;

	if (!acceptance)
		return;
	heading(rows, "Acceptance");
	paragraph(rows,
		  "A limit is shown if the whole exact interval (Clopper and Pearson) is allowed; "
		  "refuted if none of it is; not shown yet otherwise: then more cards have to be "
		  "dealt. Endurance is judged by Wald's sequential test.");
	names(rows, limit_shares, columns);
	report_each(row, report_list(acceptance, "limits")) {
		rows_begin(rows, ROW_CELLS);
		text_cell(rows, report_text(row, "what"));
		rows_cell(rows, "%.0f", report_number(row, "errors"));
		rows_cell(rows, "%.0f", report_number(row, "trials"));
		interval_cell(rows, report_number(row, "low"), report_number(row, "high"));
		rows_cell(rows, "%.3g %%", 100 * report_number(row, "allowed"));
		text_cell(rows, report_text(row, "result"));
	}
	rows_begin(rows, ROW_TEXT);
	rows_cell(rows, "Confidence: %.3g %%", 100 * report_confidence(report));
}

/* -- measurements ----------------------------------------------------------- */

static void misread_add(struct rows *rows, const struct readings *readings, double confidence)
{
	static const char *const columns[] = {
		"Card", "Misread", "Named", "Confidence interval", "Read as", NULL
	};
	bool any = false;

	for (unsigned int card = 0; card < READING_CARDS; card++) {
		const struct share share = report_card_errors(readings, card);
		char text[CELL_MAX], *at = text;

		if (!share.errors && !readings->count[card][READING_NONE])
			continue;
		if (!any)
			names(rows, card_shares, columns);
		any = true;
		*text = '\0';
		for (unsigned int j = 0; j <= READING_NONE; j++)
			if (card != j && readings->count[card][j] && at - text < CELL_MAX - 40)
				at += sprintf(at, "%s%s (%u)", at == text ? "" : ", ",
					      report_card_name(j), readings->count[card][j]);
		rows_begin(rows, ROW_CELLS);
		rows_cell(rows, "%s", report_card_name(card));
		share_cells(rows, share, 1 - (1 - confidence) / READING_CARDS);
		rows_cell(rows, "%s", text);
	}
	paragraph(rows, any ? "The intervals of cards hold for all cards together (Bonferroni)." :
		  "Each card was read as what it is.");
}

static void readers_add(struct rows *rows, struct json_object *report)
{
	static const char *const columns[] = {
		"Error", "Errors", "Of", "Confidence interval", NULL
	};
	struct json_object *list =
		report_list(report_object(report, "measurements", NULL), "readings");
	const double confidence = report_confidence(report);
	struct readings *readings = malloc(sizeof(*readings));
	unsigned int readers = 0;

	rows->failed |= !readings;
	for (size_t i = 0; readings && i < report_length(list) && readers < REPORT_READERS_MAX;
	     i++) {
		const char *reader = report_text(json_object_array_get_idx(list, i), "reader");

		if (!report_first_of_reader(list, i))
			continue;
		readers++;
		report_readings(report, reader, readings);
		heading(rows, *reader ? reader : "Reader");
		names(rows, error_shares, columns);
		share_row(rows, "read as another card", readings->misread, confidence);
		share_row(rows, "not read", readings->unread, confidence);
		plot_add(rows, plot_of_readings(readings));
		misread_add(rows, readings, confidence);
	}
	free(readings);
}

static void gates_add(struct rows *rows, struct json_object *report)
{
	static const char *const columns[] = {
		"Gate", "Wrong", "Cards", "Confidence interval", "Failed feeds", "Feeds",
		"Confidence interval", NULL
	};
	struct json_object *gates =
		report_list(report_object(report, "measurements", NULL), "gates");
	struct json_object *row;
	const double confidence = report_confidence(report);

	if (!report_length(gates))
		return;
	heading(rows, "Gates: cards in a wrong pocket, and feeds that failed");
	names(rows, NULL, columns);
	report_each(row, gates) {
		const int gate = (int)report_number(row, "gate");

		rows_begin(rows, ROW_CELLS);
		rows_cell(rows, "%d", gate);
		share_cells(rows, report_gates(report, gate, "wrong"), confidence);
		share_cells(rows, report_gates(report, gate, "feed_faults"), confidence);
	}
}

static void time_row(struct rows *rows, const struct report_distribution *distribution,
		     const double *values, size_t count)
{
	static const double quantiles[] = { 0, 0.5, 0.95, 0.99, 1 };

	rows_begin(rows, ROW_CELLS);
	rows_cell(rows, "%s", distribution->name);
	rows_cell(rows, "%zu", count);
	for (size_t q = 0; q < sizeof(quantiles) / sizeof(*quantiles); q++)
		rows_cell(rows, "%.4g %s", statistics_quantile(values, count, quantiles[q]),
			  distribution->unit);
}

static void times_add(struct rows *rows, struct json_object *report)
{
	static const char *const columns[] = {
		"Time", "Values", "Least", "Median", "95 %", "99 %", "Most", NULL
	};
	double *values[REPORT_DISTRIBUTIONS];
	size_t count[REPORT_DISTRIBUTIONS];
	bool any = false;

	for (size_t i = 0; i < REPORT_DISTRIBUTIONS; i++) {
		values[i] = report_values(report, report_distributions[i].key, &count[i]);
		if (!values[i])
			continue;
		if (!any) {
			heading(rows, "Times");
			names(rows, times_shares, columns);
		}
		any = true;
		time_row(rows, &report_distributions[i], values[i], count[i]);
	}
	for (size_t i = 0; i < REPORT_DISTRIBUTIONS; i++) {
		if (!values[i])
			continue;
		heading(rows, report_distributions[i].name);
		plot_add(rows, plot_of_values(&report_distributions[i], values[i], count[i]));
		free(values[i]);
	}
}

static void endurance_add(struct rows *rows, struct json_object *report)
{
	static const char *const columns[] = { "Error", "Boards", "Of", "Confidence interval",
					       NULL };

	if (!report_object(report, "measurements", "endurance"))
		return;
	heading(rows, "Endurance");
	names(rows, error_shares, columns);
	share_row(rows, "no exact duplicate", report_endurance(report), report_confidence(report));
}

/* -- requirements and tests ------------------------------------------------- */

static void requirements_add(struct rows *rows, struct json_object *report)
{
	static const char *const columns[] = { "Requirement", "Result", "Tests", "Reason", NULL };
	struct json_object *row;

	heading(rows, "Requirements");
	names(rows, why_shares, columns);
	report_each(row, report_list(report, "requirements")) {
		rows_begin(rows, ROW_CELLS);
		text_cell(rows, report_text(row, "requirement"));
		text_cell(rows, report_text(row, "result"));
		words_cell(rows, report_list(row, "tests"));
		text_cell(rows, report_text(row, "why"));
	}
}

static void tests_add(struct rows *rows, struct json_object *report)
{
	static const char *const columns[] = { "Test", "Result", "Proves", "Findings", NULL };
	struct json_object *row;

	heading(rows, "Tests");
	names(rows, why_shares, columns);
	report_each(row, report_list(report, "tests")) {
		char name[128];

		snprintf(name, sizeof(name), "%s/ %s", report_text(row, "group"),
			 report_text(row, "test"));
		rows_begin(rows, ROW_CELLS);
		text_cell(rows, name);
		text_cell(rows, report_text(row, "result"));
		words_cell(rows, report_list(row, "requirements"));
		text_cell(rows, report_text(row, "why"));
	}
}

/* Of the tests that failed: what the machine did */
static void evidence_add(struct rows *rows, struct json_object *report)
{
	static const char *const columns[] = { "Time", "What", NULL };
	struct json_object *row, *line;

	report_each(row, report_list(report, "tests")) {
		struct json_object *lines = report_list(row, "evidence");
		char name[160];

		if (strcmp(report_text(row, "result"), "fail") || !report_length(lines))
			continue;
		snprintf(name, sizeof(name), "Evidence of %s/%s", report_text(row, "group"),
			 report_text(row, "test"));
		heading(rows, name);
		names(rows, evidence_shares, columns);
		for (size_t i = 0; i < report_length(lines); i++) {
			line = json_object_array_get_idx(lines, i);
			rows_begin(rows, ROW_CELLS);
			rows_cell(rows, "%.6f s", report_number(line, "us") / 1e6);
			text_cell(rows, report_text(line, "what"));
		}
	}
}

bool report_paper(struct json_object *report, struct rows *rows)
{
	totals_add(rows, report);
	facts_add(rows, report);
	acceptance_add(rows, report);
	readers_add(rows, report);
	gates_add(rows, report);
	times_add(rows, report);
	endurance_add(rows, report);
	requirements_add(rows, report);
	tests_add(rows, report);
	evidence_add(rows, report);
	rows->shares = NULL;
	return !rows->failed;
}

int64_t report_time(struct json_object *report)
{
	static const char *const keys[] = { "ended", "started" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct tm tm = { 0 };
		const char *end = strptime(report_text(report, keys[i]), "%Y-%m-%dT%H:%M:%SZ", &tm);

		if (end && !*end)
			return timegm(&tm);
	}
	return -1;
}

void report_line(char *line, size_t size, const char *words, const char *text)
{
	char *copy = text_copy(text);
	size_t end;

	snprintf(line, size, "%s%s", words, copy ? copy : "");
	free(copy);
	/* no part of a character at its end */
	end = strlen(line);
	if (end + 1 < size)
		return;
	while (end && (line[end - 1] & 0xc0) == 0x80)
		end--;
	line[end ? end - 1 : 0] = '\0';
}
