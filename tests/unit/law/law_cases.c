// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Judges every case of the files given, and compares the rulings with those
 * expected. Prints TAP: one test a case.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/law.h>

struct text {
	char *at;
	size_t length, size;
};

static void add(struct text *text, const char *line)
{
	size_t n = strlen(line);

	if (text->length + n + 2 > text->size) {
		text->size = 2 * (text->length + n + 2);
		text->at = realloc(text->at, text->size);
		if (!text->at)
			abort();
	}
	memcpy(text->at + text->length, line, n);
	text->length += n;
	text->at[text->length++] = '\n';
	text->at[text->length] = 0;
}

static void clear(struct text *text)
{
	text->length = 0;
	if (text->at)
		*text->at = 0;
}

struct run {
	struct text given, expected;
	unsigned long record_line;	/* within the case */
	struct dealbox_judge *judge;
	char title[256];
	bool open, broken, sentence;
	unsigned long tests, failed, rulings;
};

/* The sentence must exist in every language and hold no unfilled field. */
static void check_sentence(struct run *run, const struct dealbox_ruling *ruling)
{
	char text[1024];

	for (size_t i = 0; dealbox_law_language(i); i++) {
		size_t n = dealbox_ruling_text(ruling, dealbox_law_language(i), text, sizeof(text));

		if (n < 20 || n >= sizeof(text) || strpbrk(text, "{}"))
			run->sentence = false;
	}
	for (int i = 1; i < ruling->fact_count; i++)
		if (ruling->facts[i - 1] >= ruling->facts[i])
			run->sentence = false;
	/* what it cites is explained, too */
	for (const char *see = ruling->see; see && *see;) {
		size_t n = strcspn(see, ",");

		snprintf(text, sizeof(text), "%.*s", (int)n, see);
		if (!dealbox_paragraph_find(ruling->rules, text))
			run->sentence = false;
		see += n + strspn(see + n, ", ");
	}
	if (!ruling->fact_count || ruling->facts[ruling->fact_count - 1] != ruling->line ||
	    !dealbox_paragraph_find(ruling->rules, ruling->reference))
		run->sentence = false;
}

static void on_ruling(const struct dealbox_ruling *ruling, void *context)
{
	struct run *run = context;
	char text[256], line[300];

	dealbox_ruling_format(ruling, text, sizeof(text));
	snprintf(line, sizeof(line), "%lu: %s", ruling->line, text);
	add(&run->given, line);
	run->rulings++;
	check_sentence(run, ruling);
}

static void case_end(struct run *run)
{
	bool good;

	if (!run->open)
		return;
	good = !run->broken && run->sentence &&
	       !strcmp(run->given.at ? run->given.at : "",
		       run->expected.at ? run->expected.at : "");
	run->tests++;
	run->failed += !good;
	printf("%sok %lu - %s\n", good ? "" : "not ", run->tests, run->title);
	if (!good) {
		printf("# expected:\n");
		for (char *line = strtok(run->expected.at, "\n"); line; line = strtok(NULL, "\n"))
			printf("#   %s\n", line);
		printf("# given:\n");
		for (char *line = strtok(run->given.at, "\n"); line; line = strtok(NULL, "\n"))
			printf("#   %s\n", line);
		if (!run->sentence)
			printf("#   a ruling without a sentence, or with facts out of order\n");
	}
	dealbox_judge_free(run->judge);
	run->judge = NULL;
	run->open = false;
}

static void case_begin(struct run *run, const char *title)
{
	snprintf(run->title, sizeof(run->title), "%.255s", title);
	clear(&run->given);
	clear(&run->expected);
	run->record_line = 0;
	run->broken = false;
	run->sentence = true;
	run->open = true;
	run->judge = dealbox_judge_new(on_ruling, run);
	if (!run->judge)
		abort();
}

static void case_line(struct run *run, const char *line)
{
	struct dealbox_error error;
	char text[600];

	if (!strncmp(line, "#> ", 3)) {
		snprintf(text, sizeof(text), "%lu: %s", run->record_line, line + 3);
		add(&run->expected, text);
		return;
	}
	if (!*line || *line == '#')
		return;
	/* comments and empty lines count as lines for a judge: number them alike */
	run->record_line++;
	if (!run->broken && dealbox_judge_line(run->judge, line, strlen(line), &error)) {
		snprintf(text, sizeof(text), "%u: error: %s", error.line, error.what);
		add(&run->given, text);
		run->broken = strncmp(run->title, "error", 5);
	}
}

int main(int argc, char **argv)
{
	struct run run = { 0 };
	char line[512];

	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "r");

		if (!file) {
			printf("Bail out! %s: cannot be read\n", argv[i]);
			return 1;
		}
		while (fgets(line, sizeof(line), file)) {
			line[strcspn(line, "\n")] = 0;
			if (!strncmp(line, "## ", 3)) {
				case_end(&run);
				case_begin(&run, line + 3);
			} else if (run.open) {
				case_line(&run, line);
			}
		}
		case_end(&run);
		fclose(file);
	}
	printf("1..%lu\n", run.tests);
	free(run.given.at);
	free(run.expected.at);
	return run.failed || !run.tests;
}
