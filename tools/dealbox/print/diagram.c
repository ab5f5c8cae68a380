// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A board has twelve lines: North's suits, West's and East's side by side, South's. What is known
 * about the board stands in the corners: upper left its number, dealer and vulnerability, upper
 * right the tricks, lower left par, lower right what makes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagram.h"

#define LINES		12
#define SMALL		0.75	/* size of what stands in the corners */
#define LETTER 1.5 /* widths, in sizes: the hand's letter and points, and a suit's sign */
#define SIGN		1.1
#define NUMBER		1.3	/* of two digits */
#define MIDDLE_LEFT	0.27	/* left edge of North and South, in widths of the area */
#define MIDDLE_RIGHT	0.66	/* right edge, if something stands in a corner there */

/*
 * Of more boards than this, cells of tables are no structure elements of their own: there are 30 on
 * a board, libqpdf has all elements in memory, and each takes some 1.6 kB there.
 */
#define BOARDS_WITH_CELLS	400

struct diagram {
	struct boxes *boxes;
	const struct sheet *sheet;
	const struct sheet_board *board;
	struct area area;
	double size, line;	/* line: height of a line of cards */
	double gap;		/* between columns */
};

static double line_y(const struct diagram *d, double line)
{
	return d->area.y + line * d->line;
}

static void suit_add(const struct diagram *d, int hand, int suit, double x, double y, double right)
{
	const double after = x + (LETTER + SIGN) * d->size;
	char text[HOLDING_TEXT];

	sheet_holding(d->sheet, d->board, hand, suit, text);
	boxes_line(d->boxes, &(struct line){ .face = { .size = d->size }, .ink = (enum ink)suit,
		.x = x + LETTER * d->size, .y = y, .w = SIGN * d->size }, "%s", suit_signs[suit]);
	boxes_line(d->boxes, &(struct line){ .face = { .size = d->size, .cards = true },
		.ink = INK_TEXT, .whole = true, .x = after, .y = y, .w = right - after }, "%s",
		text);
	explicit_bzero(text, sizeof(text));
}

static void hand_add(const struct diagram *d, int hand, double x, int first_line, double right)
{
	const double w = (LETTER - 0.25) * d->size;
	double y = line_y(d, first_line);

	boxes_open(d->boxes, "P");
	boxes_line(d->boxes, &(struct line){ .face = { .size = d->size * 0.9, .bold = true },
		.ink = INK_FAINT, .align = ALIGN_CENTRE, .x = x, .y = y, .w = w }, "%s",
		sheet_hand_letter(d->sheet, hand));
	if (d->sheet->pack == dealbox_pack_bridge() && sheet_hand_known(d->sheet, d->board, hand))
		boxes_line(d->boxes, &(struct line){ .face = { .size = d->size * SMALL },
						     .ink = INK_FAINT,
			.align = ALIGN_CENTRE, .x = x, .y = y + d->line, .w = w }, "%u",
			sheet_points(d->board->deal.hand[hand]));
	for (int suit = 0; suit < 4; suit++)
		suit_add(d, hand, suit, x, y + suit * d->line, right);
	boxes_close(d->boxes, "P");
}

/* A bar at each side of a square, filled for a vulnerable seat. */
static void bars_add(const struct diagram *d, double x, double y, double size)
{
	const double thick = size * 0.22, length = size - 2 * thick;
	const struct area bars[4] = {
		{ x + thick, y, length, thick },
		{ x + size - thick, y + thick, thick, length },
		{ x + thick, y + size - thick, length, thick },
		{ x, y + thick, thick, length },
	};

	for (int seat = 0; seat < 4; seat++)
		boxes_shape(d->boxes, d->board->vulnerable >> (seat & 1) & 1 ? BOX_FILL : BOX_FRAME,
			    d->board->vulnerable >> (seat & 1) & 1 ? INK_HEARTS : INK_FAINT,
			    bars[seat].x, bars[seat].y, bars[seat].w, bars[seat].h);
}

/* Number, dealer, vulnerability. */
static void heading_add(const struct diagram *d)
{
	const struct words *words = d->sheet->words;
	const double bars = 1.5 * d->size, w = MIDDLE_LEFT * d->area.w - d->gap;
	const struct line small = { .face = { .size = d->size * SMALL }, .ink = INK_TEXT,
				    .x = d->area.x, .w = w };
	struct line line = small;

	boxes_open(d->boxes, "H2");
	line.y = line_y(d, 0);
	line.w = w - bars - d->gap;
	boxes_line(d->boxes, &line, "%s", words->board);
	line.face = (struct face){ .size = d->size * 1.2, .bold = true };
	line.y += boxes_height(d->boxes, small.face.size);
	boxes_line(d->boxes, &line, "%s", *d->board->name ? d->board->name : "?");
	line = small;
	line.y = line_y(d, 3) - boxes_height(d->boxes, small.face.size);
	if (d->board->dealer >= 0)
		boxes_line(d->boxes, &line, words->dealer, words->seats[d->board->dealer]);
	line.y = line_y(d, 3);
	if (d->board->vulnerable >= 0)
		boxes_line(d->boxes, &line, "%s", words->vulnerable[d->board->vulnerable]);
	boxes_close(d->boxes, "H2");
	if (d->board->vulnerable >= 0)
		bars_add(d, d->area.x + w - bars, line_y(d, 0) + 0.1 * d->size, bars);
}

/* The highest denomination first */
static const int columns[DENOMINATIONS] = { NOTRUMPS, DEALBOX_SPADES, DEALBOX_HEARTS,
					    DEALBOX_DIAMONDS, DEALBOX_CLUBS };

static bool rows_equal(const struct double_dummy *tricks, int one, int other)
{
	for (int n = 0; n < DENOMINATIONS; n++)
		if (tricks->tricks[n][one] != tricks->tricks[n][other])
			return false;
	return true;
}

static bool has_cells(const struct diagram *d)
{
	return d->sheet->count <= BOARDS_WITH_CELLS;
}

static void tricks_cell(const struct diagram *d, const char *element, struct line *line, double *x,
			double w, enum ink ink, const char *text)
{
	line->x = *x;
	line->w = w;
	line->ink = ink;
	if (has_cells(d))
		boxes_open(d->boxes, element);
	if (*text)
		boxes_line(d->boxes, line, "%s", text);
	if (has_cells(d))
		boxes_close(d->boxes, element);
	*x += w;
}

static void tricks_row(const struct diagram *d, const char *who, int seat, double x, double y)
{
	const double whole = d->area.x + d->area.w - x, name = 0.2 * whole;
	const double column = (whole - name) / DENOMINATIONS;
	/* "13" and a gap fit into a column, so that all numbers have one size */
	const double size = fmin(d->size * SMALL, (column - 0.15 * d->size) / NUMBER);
	struct line line = { .face = { .size = size }, .y = y, .align = ALIGN_CENTRE };
	char text[8];

	if (has_cells(d))
		boxes_open(d->boxes, "TR");
	tricks_cell(d, "TH", &line, &x, name, INK_FAINT, who);
	for (int n = 0; n < DENOMINATIONS; n++) {
		const int denomination = columns[n];

		if (seat >= 0) {
			snprintf(text, sizeof(text), "%u",
				 d->board->tricks->tricks[denomination][seat]);
			tricks_cell(d, "TD", &line, &x, column, INK_TEXT, text);
		} else {
			tricks_cell(d, "TH", &line, &x, column,
				    denomination < NOTRUMPS ? (enum ink)denomination : INK_TEXT,
				    denomination < NOTRUMPS ? suit_signs[denomination] :
						       d->sheet->words->notrump);
		}
	}
	if (has_cells(d))
		boxes_close(d->boxes, "TR");
}

/*
 * The header has no seat (-1). Rows of a side are one when both its players take the same tricks.
 */
static void tricks_add(const struct diagram *d)
{
	const double x = d->area.x + MIDDLE_RIGHT * d->area.w + d->gap, step = 0.8 * d->line;
	const struct double_dummy *tricks = d->board->tricks;
	double y = line_y(d, 0);

	boxes_open(d->boxes, has_cells(d) ? "Table" : "P");
	tricks_row(d, "", -1, x, y);
	for (int side = 0; side < 2; side++) {
		const bool merged = rows_equal(tricks, side, side + 2);

		for (int seat = side; seat < (merged ? side + 1 : side + 3); seat += 2) {
			y += step;
			tricks_row(d,
				   merged ? d->sheet->words->sides[side] :
					    d->sheet->words->seats[seat],
				   seat, x, y);
		}
	}
	boxes_close(d->boxes, has_cells(d) ? "Table" : "P");
}

/* A corner of lines, one below the other: CORNER_LINES at most beside four lines of cards. */
#define CORNER_LINES	5
struct corner {
	const struct diagram *d;
	double x, w, y;
};

static void corner_line(struct corner *corner, const char *text)
{
	const struct diagram *d = corner->d;

	boxes_line(d->boxes, &(struct line){ .face = { .size = d->size * SMALL }, .ink = INK_TEXT,
		.whole = true, .x = corner->x, .y = corner->y, .w = corner->w }, "%s", text);
	corner->y += boxes_height(d->boxes, d->size * SMALL);
}

/* A text on several lines, rather than smaller letters */
static void corner_words(struct corner *corner, const char *text)
{
	const struct ruler *ruler = corner->d->boxes->ruler;
	const struct face face = { .size = corner->d->size * SMALL };
	char line[128] = "", longer[128];

	while (*text) {
		const int size = (int)strcspn(text, " ");

		snprintf(longer, sizeof(longer), "%s%s%.*s", line, *line ? " " : "", size, text);
		if (*line && ruler->width(ruler->context, &face, longer) > corner->w) {
			corner_line(corner, line);
			snprintf(longer, sizeof(longer), "%.*s", size, text);
		}
		strcpy(line, longer);
		text += size + (text[size] == ' ');
	}
	corner_line(corner, line);
}

static struct corner corner_start(const struct diagram *d, double left, double right)
{
	return (struct corner){ d, d->area.x + left * d->area.w,
				(right - left) * d->area.w - d->gap, line_y(d, 8) };
}

/* Every contract of the par, several on a line if there are many. */
static void par_add(const struct diagram *d)
{
	const struct par *par = d->board->par;
	struct corner corner = corner_start(d, 0, MIDDLE_LEFT);
	const size_t on_line = (par->count + CORNER_LINES - 2) / (CORNER_LINES - 1);
	char text[PAR_CONTRACTS_MAX * CONTRACT_TEXT], contract[CONTRACT_TEXT];
	size_t used = 0;

	boxes_open(d->boxes, "P");
	snprintf(text, sizeof(text), "%s %s%d", d->sheet->words->par, par->score < 0 ? "−" : "",
		 abs(par->score));
	corner_line(&corner, text);
	for (size_t i = 0; i < par->count; i++) {
		sheet_contract(d->sheet, &par->contracts[i], contract);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? ", " : "",
					 contract);
		if ((i + 1) % on_line && i + 1 < par->count)
			continue;
		corner_line(&corner, text);
		used = 0;
	}
	boxes_close(d->boxes, "P");
}

#define LEVELS_ON_LINE	3

/* Two lines for a side whose players make the same, if they make much; else one for each player. */
static void levels_add(struct corner *corner, const char *who, int seat, bool two)
{
	char levels[DENOMINATIONS][LEVEL_TEXT], text[128];
	const int count = sheet_levels(corner->d->sheet, corner->d->board->tricks, seat, levels);
	size_t used = (size_t)snprintf(text, sizeof(text), "%s%s", who, count ? "" : " —");

	for (int i = 0; i < count; i++) {
		if (two && i == LEVELS_ON_LINE) {
			corner_line(corner, text);
			used = 0;
		}
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? " " : "",
					 levels[i]);
	}
	corner_line(corner, text);
}

static void makes_add(const struct diagram *d)
{
	struct corner corner = corner_start(d, MIDDLE_RIGHT, 1);

	corner.x += d->gap;
	boxes_open(d->boxes, "P");
	corner_line(&corner, d->sheet->words->makes);
	for (int side = 0; side < 2; side++) {
		const bool merged = rows_equal(d->board->tricks, side, side + 2);

		for (int seat = side; seat < (merged ? side + 1 : side + 3); seat += 2)
			levels_add(&corner, merged ? d->sheet->words->sides[side] :
						     d->sheet->words->seats[seat], seat, merged);
	}
	boxes_close(d->boxes, "P");
}

static void incomplete_add(const struct diagram *d, unsigned int unknown)
{
	struct corner corner = corner_start(d, 0, MIDDLE_LEFT);
	char text[128];

	boxes_open(d->boxes, "P");
	corner_line(&corner, d->sheet->words->incomplete);
	snprintf(text, sizeof(text), d->sheet->words->unknown, unknown);
	corner_words(&corner, text);
	boxes_close(d->boxes, "P");
}

double diagram_add(struct boxes *boxes, const struct sheet *sheet, const struct sheet_board *board,
		   const struct area *area, double size)
{
	const double line = boxes_height(boxes, 1);
	struct diagram d = {
		.boxes = boxes, .sheet = sheet, .board = board, .area = *area,
		.size = fmin(size, floor(area->h / LINES / line * 8) / 8),
	};
	const double middle = area->x + MIDDLE_LEFT * area->w, half = area->w / 2;
	const double right = area->x + (board->tricks ? MIDDLE_RIGHT : 1) * area->w;
	const unsigned int unknown = sheet_unknown(sheet, board);

	d.line = d.size * line;
	d.gap = d.size * 0.4;
	boxes_open(boxes, "Sect");
	heading_add(&d);
	hand_add(&d, DEALBOX_NORTH, middle, 0, right);
	hand_add(&d, DEALBOX_EAST, area->x + half + d.gap, 4, area->x + area->w);
	hand_add(&d, DEALBOX_SOUTH, middle, 8, right);
	hand_add(&d, DEALBOX_WEST, area->x, 4, area->x + half - d.gap);
	if (board->tricks) {
		tricks_add(&d);
		if (board->par)
			par_add(&d);
		makes_add(&d);
	} else if (unknown) {
		incomplete_add(&d, unknown);
	}
	boxes_close(boxes, "Sect");
	return LINES * d.line;
}
