// SPDX-License-Identifier: LGPL-2.1-or-later
/* The help texts of the commands in mdoc(7), for dealbox(1). */
#include <stdio.h>
#include <string.h>

#include "tool.h"

/*
 * Print text, escaped for mdoc(7). Each sentence starts on a new line.
 */
static void text_put(const char *text, size_t length)
{
	const char *end = text + length;
	bool begin = true;

	for (; text < end; text++) {
		if (begin && strchr(".'", *text))
			fputs("\\&", stdout);
		begin = false;
		if (*text == '\\')
			fputs("\\e", stdout);
		else if (*text == '-')
			fputs("\\-", stdout);
		else
			putchar(*text);
		if (strchr(".!?", *text) && text + 2 < end && text[1] == ' ') {
			text += strspn(text + 1, " ");
			putchar('\n');
			begin = true;
		}
	}
	putchar('\n');
}

/* Print a word as an argument of a macro. */
static void argument_put(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"')
			fputs("\\(dq", stdout);
		else if (*text == '\\')
			fputs("\\e", stdout);
		else
			putchar(*text);
	}
	putchar('"');
}

/* Print paragraphs. Lines that start with a space are literal. */
static void about_put(const char *about)
{
	bool literal = false;
	size_t length;

	for (; *about; about += length + (about[length] == '\n')) {
		length = strcspn(about, "\n");
		if (literal != (*about == ' ')) {
			puts(literal ? ".Ed" : ".Bd -literal -offset indent");
			literal = !literal;
		}
		if (length)
			text_put(about + (literal ? strspn(about, " ") : 0),
				 length - (literal ? strspn(about, " ") : 0));
		else
			puts(".Pp");
	}
	if (literal)
		puts(".Ed");
}

static void option_put(const struct option_row *row)
{
	if (row->key < OPT_LONG)
		printf(".It Fl %c , \\-%s", row->key, row->name);
	else
		printf(".It Fl \\-%s", row->name);
	if (row->arg)
		printf(" Ar %s", row->arg);
	putchar('\n');
	text_put(row->help, strlen(row->help));
}

void manual_print(void)
{
	const struct command *const *c;
	const struct option_row *row;
	size_t n;

	for (c = commands; *c; c++) {
		printf(".Ss %s: %s\n.Nm Cm %s\n.Op Ar OPTION ...\n", (*c)->name, (*c)->summary,
		       (*c)->name);
		if (*(*c)->operands) {
			fputs(".Ar ", stdout);
			argument_put((*c)->operands);
			putchar('\n');
		}
		puts(".Pp");
		about_put((*c)->about);
		puts(".Bl -tag -width Ds");
		for (n = 0; (row = command_option(*c, n)); n++)
			option_put(row);
		puts(".El");
	}
}
