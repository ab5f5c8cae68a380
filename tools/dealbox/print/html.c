// SPDX-License-Identifier: LGPL-2.1-or-later
/* The twin of the pages for screen readers: a heading and a table for each board. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

static const char head[] =
	"<style>\n"
	"body{font-family:sans-serif;max-width:60em;margin:auto;padding:1em;line-height:1.5}\n"
	"table{border-collapse:collapse;margin:.5em 0}\n"
	"th,td{border:1px solid #545454;padding:.2em .6em;text-align:left}\n";

static void text_put(FILE *out, const char *text)
{
	static const char *const escapes[256] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;",
	};

	for (; *text; text++)
		if (escapes[(unsigned char)*text])
			fputs(escapes[(unsigned char)*text], out);
		else
			putc(*text, out);
}

static void element_put(FILE *out, const char *open, const char *text, const char *close)
{
	fputs(open, out);
	text_put(out, text);
	fputs(close, out);
}

/* "Session Monday", unless it has no name. */
static void name_put(FILE *out, const char *what, const char *name)
{
	if (!*name)
		return;
	fprintf(out, "<p>%s ", what);
	element_put(out, "", name, "</p>\n");
}

static void start_put(FILE *out, const struct sheet *sheet)
{
	static const char *const names[] = { "s", "h", "d", "c" };
	const char *title = *sheet->title ? sheet->title : sheet->words->records;

	fprintf(out, "<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width\">\n",
		sheet->words->language);
	element_put(out, "<title>", title, "</title>\n");
	fputs(head, out);
	for (int suit = 0; suit < 4; suit++)
		fprintf(out, ".%s{color:#%02x%02x%02x}\n", names[suit], ink_colours[suit][0],
			ink_colours[suit][1], ink_colours[suit][2]);
	fputs("</style>\n</head>\n<body>\n<main>\n", out);
	element_put(out, "<h1>", title, "</h1>\n");
	name_put(out, sheet->words->session, sheet->session);
	name_put(out, sheet->words->set, sheet->set);
}

static void suits_put(FILE *out, const struct sheet *sheet)
{
	static const char classes[] = "shdc";

	for (int suit = 0; suit < 4; suit++)
		fprintf(out,
			"<th scope=\"col\"><span class=\"%c\" "
			"aria-hidden=\"true\">%s</span> %s</th>",
			classes[suit], suit_signs[suit], sheet->words->suits[suit]);
}

static const char *hand_name(const struct sheet *sheet, int hand)
{
	return sheet->pack == dealbox_pack_bridge() ? sheet->words->seat_names[hand] :
						      sheet_hand_letter(sheet, hand);
}

static void hands_put(FILE *out, const struct sheet *sheet, const struct sheet_board *board)
{
	const bool bridge = sheet->pack == dealbox_pack_bridge();
	char text[HOLDING_TEXT];

	fputs("<table>\n<tr><td></td>", out);
	suits_put(out, sheet);
	if (bridge)
		element_put(out, "<th scope=\"col\">", sheet->words->points, "</th>");
	fputs("</tr>\n", out);
	for (int hand = 0; hand < DEALBOX_HANDS; hand++) {
		element_put(out, "<tr><th scope=\"row\">", hand_name(sheet, hand), "</th>");
		for (int suit = 0; suit < 4; suit++) {
			sheet_holding(sheet, board, hand, suit, text);
			element_put(out, "<td>", text, "</td>");
		}
		if (bridge && sheet_hand_known(sheet, board, hand))
			fprintf(out, "<td>%u</td>", sheet_points(board->deal.hand[hand]));
		else if (bridge)
			fputs("<td>?</td>", out);
		fputs("</tr>\n", out);
	}
	fputs("</table>\n", out);
	explicit_bzero(text, sizeof(text));
}

/* One row for each player: a screen reader need not know that rows of a side can be one. */
static void tricks_put(FILE *out, const struct sheet *sheet, const struct double_dummy *tricks)
{
	fprintf(out, "<table>\n<tr><th scope=\"col\">%s</th>", sheet->words->tricks);
	suits_put(out, sheet);
	fprintf(out, "<th scope=\"col\">%s</th></tr>\n", sheet->words->notrump);
	for (int seat = 0; seat < DEALBOX_HANDS; seat++) {
		element_put(out, "<tr><th scope=\"row\">", sheet->words->seat_names[seat], "</th>");
		for (int n = 0; n < DENOMINATIONS; n++)
			fprintf(out, "<td>%u</td>", tricks->tricks[n][seat]);
		fputs("</tr>\n", out);
	}
	fputs("</table>\n", out);
}

static void par_put(FILE *out, const struct sheet *sheet, const struct par *par)
{
	char text[CONTRACT_TEXT];

	fprintf(out, "<p>%s %s%d", sheet->words->par, par->score < 0 ? "−" : "", abs(par->score));
	for (size_t i = 0; i < par->count; i++) {
		sheet_contract(sheet, &par->contracts[i], text);
		element_put(out, i ? ", " : ": ", text, "");
	}
	fputs("</p>\n", out);
}

static void makes_put(FILE *out, const struct sheet *sheet, const struct double_dummy *tricks)
{
	char levels[DENOMINATIONS][LEVEL_TEXT];

	fprintf(out, "<p>%s:", sheet->words->makes);
	for (int seat = 0; seat < DEALBOX_HANDS; seat++) {
		const int count = sheet_levels(sheet, tricks, seat, levels);

		element_put(out, seat ? "; " : " ", sheet->words->seat_names[seat],
			    count ? "" : " —");
		for (int i = 0; i < count; i++)
			element_put(out, " ", levels[i], "");
	}
	fputs("</p>\n", out);
}

static void board_put(FILE *out, const struct sheet *sheet, const struct sheet_board *board)
{
	const struct words *words = sheet->words;
	const unsigned int unknown = sheet_unknown(sheet, board);
	char text[128];

	fprintf(out, "<section>\n<h2>%s ", words->board);
	text_put(out, *board->name ? board->name : "?");
	if (board->dealer >= 0) {
		snprintf(text, sizeof(text), words->dealer, words->seat_names[board->dealer]);
		element_put(out, ", ", text, "");
	}
	if (board->vulnerable >= 0)
		element_put(out, ", ", words->vulnerable[board->vulnerable], "");
	fputs("</h2>\n", out);
	if (unknown) {
		snprintf(text, sizeof(text), words->unknown, unknown);
		fprintf(out, "<p>%s: %s</p>\n", words->incomplete, text);
	}
	hands_put(out, sheet, board);
	if (board->tricks)
		tricks_put(out, sheet, board->tricks);
	if (board->par)
		par_put(out, sheet, board->par);
	if (board->tricks)
		makes_put(out, sheet, board->tricks);
	fputs("</section>\n", out);
}

static void cells_put(FILE *out, const struct sheet_row *row)
{
	const bool names = row->kind == ROW_NAMES;

	fputs("<tr>", out);
	for (size_t i = 0; i < CELLS_MAX && row->cells[i]; i++)
		element_put(out, names ? "<th scope=\"col\">" : !i ? "<th scope=\"row\">" : "<td>",
			    row->cells[i], names || !i ? "</th>" : "</td>");
	fputs("</tr>\n", out);
}

static void rows_put(FILE *out, const struct sheet *sheet)
{
	bool table = false;

	for (size_t i = 0; i < sheet->rows_count; i++) {
		const struct sheet_row *row = &sheet->rows[i];

		if (table != (row->kind == ROW_NAMES || row->kind == ROW_CELLS)) {
			fputs(table ? "</table>\n" : "<table>\n", out);
			table = !table;
		}
		if (row->kind == ROW_HEADING)
			element_put(out, "<h2>", row->cells[0], "</h2>\n");
		else if (row->kind == ROW_TEXT)
			element_put(out, "<p>", row->cells[0], "</p>\n");
		else if (row->kind == ROW_PLOT)
			element_put(out, "<p>", row->plot->about, "</p>\n");
		else
			cells_put(out, row);
	}
	if (table)
		fputs("</table>\n", out);
}

static void end_put(FILE *out, const struct sheet *sheet)
{
	bool tricks = false;

	for (size_t i = 0; i < sheet->count; i++)
		tricks |= sheet->boards[i].tricks != NULL;
	fputs("</main>\n", out);
	if (tricks)
		element_put(out, "<p>", sheet->words->footnote, "</p>\n");
	if (*sheet->footer)
		element_put(out, "<footer>", sheet->footer, "</footer>\n");
	fputs("</body>\n</html>\n", out);
}

bool print_html(const struct sheet *sheet, struct blob *out)
{
	FILE *file;
	int failed;

	*out = (struct blob){ 0 };
	file = open_memstream(&out->data, &out->size);
	if (file) {
		start_put(file, sheet);
		rows_put(file, sheet);
		for (size_t i = 0; i < sheet->count && !sheet->rows; i++)
			board_put(file, sheet, &sheet->boards[i]);
		end_put(file, sheet);
		failed = ferror(file);
		failed |= fclose(file);
		if (!failed)
			return true;
	}
	complain("free some memory", "the page was not written: out of memory");
	return false;
}
