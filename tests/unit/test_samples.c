// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Real files of many programs are read exactly as their index says. The files are kept outside of
 * the project; without them, the test is skipped (exit status 77).
 *
 * usage: test_samples FOLDER
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dealbox/format.h>

#define COLUMNS_MAX	32
#define SKIPPED		77

/* Splits a line of CSV in place. Returns the number of columns. */
static int split(char *line, char *columns[COLUMNS_MAX])
{
	int count = 0;

	line[strcspn(line, "\r\n")] = '\0';
	while (count < COLUMNS_MAX) {
		bool quoted = *line == '"';
		char *end = quoted ? strchr(line + 1, '"') : strchr(line, ',');

		columns[count++] = line + quoted;
		if (!end)
			break;
		*end = '\0';
		if (quoted)
			end++;
		if (quoted && *end != ',')
			break;
		line = end + 1;
	}
	return count;
}

static int column(char *columns[COLUMNS_MAX], int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(columns[i], name))
			return i;
	fprintf(stderr, "the index has no column %s\n", name);
	exit(EXIT_FAILURE);
}

static bool read_sample(const char *folder, const char *file, size_t seen[4],
			size_t *problems)
{
	struct dealbox_report *report = dealbox_report_new();
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct dealbox_format_tally tally = { 0 };
	char path[4096];
	int err;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	err = dealbox_format_read_file(NULL, path, set, report, &tally);
	seen[0] = tally.games;
	seen[1] = tally.complete;
	seen[2] = tally.partial;
	seen[3] = tally.invalid;
	*problems = dealbox_report_found(report, DEALBOX_SEVERITY_PROBLEM);
	dealbox_set_free(set);
	dealbox_report_free(report);
	return !err;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "games", "valid", "partial_or_empty", "invalid" };
	char *line = NULL, *columns[COLUMNS_MAX], path[4096];
	int file, format, places[4], samples = 0, bad = 0, count;
	size_t room = 0;
	FILE *index;

	if (argc != 2)
		return EXIT_FAILURE;
	snprintf(path, sizeof(path), "%s/index.csv", argv[1]);
	index = fopen(path, "r");
	if (!index) {
		printf("%s is not there\n", path);
		return SKIPPED;
	}
	if (getline(&line, &room, index) < 0)
		return EXIT_FAILURE;
	count = split(line, columns);
	file = column(columns, count, "file");
	format = column(columns, count, "format");
	for (int i = 0; i < 4; i++)
		places[i] = column(columns, count, names[i]);

	while (getline(&line, &room, index) >= 0) {
		size_t seen[4], problems, wanted[4];

		count = split(line, columns);
		samples++;
		for (int i = 0; i < 4; i++)
			wanted[i] = strtoul(columns[places[i]], NULL, 10);
		if (!read_sample(argv[1], columns[file], seen, &problems)) {
			printf("%s cannot be read\n", columns[file]);
			bad++;
		} else if (!strcmp(columns[format], "CSV")) {
			/* the index has no counts for these: all lines must be good */
			bad += problems || !seen[1] || seen[1] != seen[0];
		} else if (memcmp(seen, wanted, sizeof(seen))) {
			printf("%s: %zu games, %zu complete, %zu partial, %zu invalid; the "
			       "index has %zu, %zu, %zu, %zu\n", columns[file], seen[0],
			       seen[1], seen[2], seen[3], wanted[0], wanted[1], wanted[2],
			       wanted[3]);
			bad++;
		}
	}
	free(line);
	fclose(index);
	printf("%d samples, %d not as the index says\n", samples, bad);
	return bad || !samples ? EXIT_FAILURE : EXIT_SUCCESS;
}
