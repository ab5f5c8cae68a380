// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Curtain cards: a card for each hand, to be cut out. Every sheet has a front and a back. Cards
 * follow each other from sheet to sheet, so that the cut stack is in the order of the boards: place
 * p of sheet s has card p * sheets + s. A sheet is turned over its long edge, so the back of a card
 * is in the mirrored column.
 *
 * The back says which board and seat it is, at the height at which the front says so, too. All that
 * is behind cards is covered by a pattern.
 */
#include <string.h>

#include "pages.h"

#define HEAD_LINES	2.5	/* of a card, in sizes */
#define PADDING		8.0
#define MARK		10.0	/* length of a cut mark, outside of the cards */

struct card {
	const struct sheet_board *board;
	int hand;
	struct area area;
};

static size_t sheets_of(const struct sheet *sheet, const struct layout *layout)
{
	const size_t places = (size_t)layout->columns * layout->rows;

	return (sheet->count * DEALBOX_HANDS + places - 1) / places;
}

static size_t curtain_count(const struct sheet *sheet, const struct layout *layout)
{
	return 2 * sheets_of(sheet, layout);
}

static double head_height(const struct boxes *boxes, const struct layout *layout)
{
	return HEAD_LINES * boxes_height(boxes, layout->size);
}

/* Seat and board; the same on both sides. */
static void head_add(struct boxes *boxes, const struct sheet *sheet, const struct layout *layout,
		     const struct card *card)
{
	const double w = card->area.w / 3;

	boxes_line(boxes, &(struct line){ .face = { .size = 1.6 * layout->size, .bold = true },
		.ink = INK_TEXT, .x = card->area.x, .y = card->area.y, .w = w }, "%s",
		sheet_hand_letter(sheet, card->hand));
	boxes_line(boxes, &(struct line){ .face = { .size = layout->size }, .ink = INK_TEXT,
		.align = ALIGN_RIGHT, .x = card->area.x + w, .y = card->area.y, .w = 2 * w },
		"%s %s", sheet->words->board, *card->board->name ? card->board->name : "?");
}

static void front_add(struct boxes *boxes, const struct sheet *sheet, const struct layout *layout,
		      const struct card *card)
{
	const double line = boxes_height(boxes, layout->size), sign = 1.1 * layout->size;
	double y = card->area.y + head_height(boxes, layout);
	char text[HOLDING_TEXT];

	boxes_open(boxes, "Sect");
	boxes_open(boxes, "H2");
	head_add(boxes, sheet, layout, card);
	boxes_close(boxes, "H2");
	boxes_open(boxes, "P");
	for (int suit = 0; suit < 4; suit++, y += line) {
		sheet_holding(sheet, card->board, card->hand, suit, text);
		boxes_line(boxes, &(struct line){ .face = { .size = layout->size },
			.ink = (enum ink)suit, .x = card->area.x, .y = y, .w = sign }, "%s",
			suit_signs[suit]);
		boxes_line(boxes, &(struct line){ .face = { .size = layout->size, .cards = true },
			.ink = INK_TEXT, .whole = true, .x = card->area.x + sign, .y = y,
			.w = card->area.w - sign }, "%s", text);
	}
	boxes_close(boxes, "P");
	boxes_close(boxes, "Sect");
	explicit_bzero(text, sizeof(text));
}

static void back_add(struct boxes *boxes, const struct sheet *sheet, const struct layout *layout,
		     const struct card *card)
{
	const double head = head_height(boxes, layout);

	boxes_open(boxes, "P");
	head_add(boxes, sheet, layout, card);
	boxes_close(boxes, "P");
	boxes_shape(boxes, BOX_PATTERN, INK_TEXT, card->area.x - PADDING / 2, card->area.y + head,
		    card->area.w + PADDING, card->area.h - head);
}

/* Between the cards, at the edges of the paper only. */
static void marks_add(struct boxes *boxes, const struct layout *layout, const struct area *area)
{
	const double line = 0.5;

	for (unsigned int n = 0; n <= layout->columns; n++) {
		const double x = area->x + n * area->w / layout->columns - line / 2;

		boxes_shape(boxes, BOX_FILL, INK_TEXT, x, area->y - MARK, line, MARK - 1);
		boxes_shape(boxes, BOX_FILL, INK_TEXT, x, area->y + area->h + 1, line, MARK - 1);
	}
	for (unsigned int n = 0; n <= layout->rows; n++) {
		const double y = area->y + n * area->h / layout->rows - line / 2;

		boxes_shape(boxes, BOX_FILL, INK_TEXT, area->x - MARK, y, MARK - 1, line);
		boxes_shape(boxes, BOX_FILL, INK_TEXT, area->x + area->w + 1, y, MARK - 1,
			    line);
	}
}

static void curtain_make(struct boxes *boxes, const struct sheet *sheet,
			 const struct layout *layout, const struct paper *paper, size_t page)
{
	static void (*const sides[])(struct boxes *, const struct sheet *, const struct layout *,
				     const struct card *) = { front_add, back_add };
	const double margin = PAGE_MARGIN + MARK;
	const struct area area = { margin, margin, paper->w - 2 * margin, paper->h - 2 * margin };
	const double w = area.w / layout->columns, h = area.h / layout->rows;
	const size_t sheets = sheets_of(sheet, layout), cards = sheet->count * DEALBOX_HANDS;

	for (size_t place = 0; place < (size_t)layout->columns * layout->rows; place++) {
		const size_t n = place * sheets + page / 2, row = place / layout->columns;
		size_t column = place % layout->columns;

		if (n >= cards)
			break;
		if (page % 2)
			column = layout->columns - 1 - column;
		sides[page % 2](boxes, sheet, layout, &(struct card){
			&sheet->boards[n / DEALBOX_HANDS], (int)(n % DEALBOX_HANDS),
			{ area.x + column * w + PADDING, area.y + row * h + PADDING,
			  w - 2 * PADDING, h - 2 * PADDING } });
	}
	if (cards && page % 2 == 0)
		marks_add(boxes, layout, &area);
}

const struct layout curtain9 = {
	.name = "curtain", .count = curtain_count, .make = curtain_make, .columns = 3, .rows = 3,
	.size = 17, .duplex = true
};
const struct layout curtain16 = {
	.name = "curtain16", .count = curtain_count, .make = curtain_make, .columns = 4, .rows = 4,
	.size = 13, .duplex = true
};
