// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Prints the tables of lib/dealing/operator.c and of lib/cards/report.c as JSON, so that the page
 * has the library's own sentences. Runs when dealbox is built, so it links no library. --examples
 * prints sentences that the library makes of the table: the page must make the same ones.
 */
#include <stdio.h>
#include <string.h>

#include <dealbox/report.h>

/* the table is private to that file */
#include "dealing/operator.c"	/* NOLINT(bugprone-suspicious-include) */

/* The page translates. */
const char *dealbox_law_translate(const char *language, const char *message)
{
	(void)language;
	return message;
}

static const struct {
	unsigned int bit;
	const char *name;
} ways[] = {
	{ DEALBOX_WAY_PLUG, "plug" }, { DEALBOX_WAY_INSERT, "insert" },
	{ DEALBOX_WAY_REMOVE, "remove" },
	{ DEALBOX_WAY_START, "start" }, { DEALBOX_WAY_HOPPER, "hopper" },
	{ DEALBOX_WAY_COVER, "cover" },
	{ DEALBOX_WAY_SKIP, "skip" }, { DEALBOX_WAY_JOB, "job" }, { DEALBOX_WAY_SELF, "self" },
};

/* The facts that a further sentence needs; see known(). */
static const struct {
	unsigned int bit;
	const char *name;
} needs[] = {
	{ CARD, "card" }, { CELL, "cell" }, { PLACE, "place" }, { CODE, "code" },
	{ THERE, "there" },
	{ CARD_ALONE, "card-alone" },
};

/* No text of the table has a character that JSON must escape other than these. */
static void text_print(const char *text)
{
	if (!text) {
		fputs("null", stdout);
		return;
	}
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

static void member(const char *name, const char *text)
{
	printf(",\"%s\":", name);
	text_print(text);
}

static void texts_print(const char *name, const char *const *texts, size_t count)
{
	size_t n;

	printf(",\n\"%s\":[", name);
	for (n = 0; n < count; n++) {
		if (n)
			putchar(',');
		text_print(texts[n]);
	}
	putchar(']');
}

static void state_print(const struct state *state)
{
	const char *comma = "";
	size_t n;

	fputs("{\"name\":", stdout);
	text_print(state->name);
	fputs(",\"ways\":[", stdout);
	for (n = 0; n < sizeof(ways) / sizeof(ways[0]); n++) {
		if (!(state->ways & ways[n].bit))
			continue;
		printf("%s\"%s\"", comma, ways[n].name);
		comma = ",";
	}
	printf("],\"empties\":%s", state->empties ? "true" : "false");
	member("says", state->says);
	member("behind", state->behind);
	member("shuffled", state->shuffled);
	member("keeper", state->keeper);
	putchar('}');
}

static void table_print(void)
{
	size_t n, m;

	fputs("{\"states\":[\n", stdout);
	for (n = 0; n < DEALBOX_OPERATOR_STATES; n++) {
		if (n)
			fputs(",\n", stdout);
		state_print(&states[n]);
	}
	fputs("],\n\"details\":[", stdout);
	for (n = 0; n < sizeof(details) / sizeof(details[0]); n++) {
		printf("%s\n{\"first\":%u,\"last\":%u,\"needs\":[", n ? "," : "",
		       (unsigned int)details[n].first, (unsigned int)details[n].last);
		for (m = 0; m < sizeof(needs) / sizeof(needs[0]); m++)
			if (details[n].needs == needs[m].bit)
				text_print(needs[m].name);
		putchar(']');
		member("text", details[n].text);
		putchar('}');
	}
	putchar(']');
	member("voidBoard", VOID_BOARD);
	member("voidShuffled", VOID_SHUFFLED);
	texts_print("places", places, PLACES);
	texts_print("seats", seats, SEATS);
	fputs(",\n\"problems\":{", stdout);
	for (n = 0; n < DEALBOX_CODES; n++) {
		printf("%s\n\"%s\":{\"severity\":%d", n ? "," : "", dealbox_code_name(n),
		       dealbox_code_severity(n));
		member("one", dealbox_code_sentence(n, 1));
		member("text", dealbox_code_sentence(n, 0));
		putchar('}');
	}
	puts("}}");
}

/* Each state with no fact, and with every fact in turn and together. */
static void examples_print(void)
{
	static const struct dealbox_operator_facts facts[] = {
		{ .board = 9, .copy = 2 },
		{ .board = 9, .copy = 2, .card = 8, .cards = 52, .place = 3, .code = 5 },
		{ .board = 9, .copy = 2, .card = 8, .code = 5 },
		{ .board = 9, .copy = 2, .there = 11, .seat = 4, .depth = 3 },
		{ .board = 9, .copy = 2, .shuffled = 1, .seat = 9, .depth = 3, .place = 9 },
	};
	char text[2048];
	size_t n, m;

	puts("[");
	for (n = 0; n < DEALBOX_OPERATOR_STATES; n++) {
		for (m = 0; m < sizeof(facts) / sizeof(facts[0]); m++) {
			const struct dealbox_operator_facts *f = &facts[m];

			dealbox_operator_text(n, f, NULL, text, sizeof(text));
			printf("%s{\"state\":\"%s\",\"facts\":{\"board\":%u,\"copy\":%u,"
			       "\"there\":%u,\"card\":%u,\"cards\":%u,\"seat\":%u,\"depth\":%u,"
			       "\"place\":%u,\"code\":%u,\"shuffled\":%u}",
			       n || m ? "," : "", states[n].name, f->board, f->copy, f->there,
			       f->card, f->cards, f->seat, f->depth, f->place, f->code,
			       f->shuffled);
			member("text", text);
			puts("}");
		}
	}
	puts("]");
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--examples"))
		examples_print();
	else
		table_print();
	return 0;
}
