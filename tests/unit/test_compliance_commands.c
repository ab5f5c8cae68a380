// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The compliance tests expect of each command in each state exactly what docs/protocol.md demands:
 * compare command_table.h with the table of R-5-1, cell by cell.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "command_table.h"

#define REASON_MAX	200

static char *page;

/* The nth cell of a row of the table, without spaces around it. Returns false if there is none. */
static bool cell_of(const char *row, unsigned int n, char *cell, size_t size)
{
	const char *end;

	for (; n; n--) {
		row = strchr(row + 1, '|');
		if (!row)
			return false;
	}
	row += 1 + strspn(row + 1, " ");
	end = strchr(row, '|');
	if (!end || memchr(row, '\n', (size_t)(end - row)))
		return false;
	while (end > row && end[-1] == ' ')
		end--;
	snprintf(cell, size, "%.*s", (int)(end - row), row);
	return true;
}

static int answer_of(const char *cell)
{
	static const char *const words[] = { [ANSWER_YES] = "yes", [ANSWER_STATE] = "STATE",
		[ANSWER_FAULT] = "FAULT", [ANSWER_SPENT] = "SPENT" };
	int i;

	/* Behind the word are the next state, and exceptions. */
	for (i = 0; i < 4; i++)
		if (!strncmp(cell, words[i], strlen(words[i])))
			return i;
	return -1;
}

static const struct command_row *find(const char *name)
{
	unsigned int i;

	for (i = 0; i < COMMAND_ROWS; i++)
		if (!strcmp(command_rows[i].name, name))
			return &command_rows[i];
	return NULL;
}

static bool is_same_row(const char *line, const char *name, char *why)
{
	const struct command_row *row = find(name);
	char cell[100];
	unsigned int i;

	if (!row) {
		snprintf(why, REASON_MAX, "%s: the tests do not know it", name);
		return false;
	}
	for (i = 0; i < COMMAND_STATES; i++)
		if (!cell_of(line, i + 1, cell, sizeof(cell)) ||
		    answer_of(cell) != (int)row->answer[i]) {
			snprintf(why, REASON_MAX, "%s in state %u: the page says \"%s\"", name, i,
				 cell);
			return false;
		}
	return true;
}

/* Return true if the table of a page is that of the tests. */
static bool is_same(const char *text, char *why)
{
	const char *line =
		strstr(text, "\n| command | IDLE | DEALING | PAUSED | HELD | FAULT | DONE |\n");
	unsigned int rows = 0;
	char cell[100], *state, *name;

	snprintf(why, REASON_MAX, "the page has no such table");
	for (line = line ? line + 1 : NULL; line && *line == '|'; line = strchr(line, '\n') + 1) {
		if (!cell_of(line, 0, cell, sizeof(cell)) || *cell == '-' ||
		    !strcmp(cell, "command"))
			continue;
		for (name = strtok_r(cell, ", ", &state); name;
		     name = strtok_r(NULL, ", ", &state)) {
			if (!is_same_row(line, name, why))
				return false;
			rows++;
		}
	}
	if (rows && rows != COMMAND_ROWS)
		snprintf(why, REASON_MAX, "the page has %u commands", rows);
	return rows == COMMAND_ROWS;
}

static void the_page_and_the_tests_agree(void **state)
{
	char why[REASON_MAX];

	(void)state;
	if (!is_same(page, why))
		fail_msg("%s", why);
}

static void each_cell_counts(void **state)
{
	unsigned int i, changed = 0;
	char why[REASON_MAX], *at, *table = strstr(page, "\n| command | IDLE");

	(void)state;
	for (at = table; (at = strstr(at, "STATE |")); at++) {
		if (strstr(table, "\n\n") < at)
			break;
		memcpy(at, "yes  ", 5);
		assert_false(is_same(page, why));
		memcpy(at, "STATE", 5);
		changed++;
	}
	assert_int_equal(changed, 40);
	/* a row that is missing */
	for (i = 0, at = table; i < 4; i++)
		at = strchr(at + 1, '\n');
	memcpy(at + 1, "- ", 2);
	assert_false(is_same(page, why));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_and_the_tests_agree), cmocka_unit_test(each_cell_counts),
	};
	FILE *file = argc == 2 ? fopen(argv[1], "re") : NULL;
	size_t size = 0;
	int failed;

	if (!file || getdelim(&page, &size, '\0', file) < 0) {
		fputs("usage: test_compliance_commands docs/protocol.md\n", stderr);
		return 2;
	}
	fclose(file);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	free(page);
	return failed;
}
