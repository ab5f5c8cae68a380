/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Content of the printed pages, before their layout. */
#ifndef PRINT_SHEET_H
#define PRINT_SHEET_H

#include <dealbox/deal.h>

#include "double-dummy/double-dummy.h"
#include "plot.h"
#include "words.h"

struct sheet_board {
	struct dealbox_deal deal;
	char name[64];		/* number or label; "" = it has none */
	int dealer;		/* seat, -1 = unknown */
	int vulnerable;		/* enum dealbox_vulnerable, -1 = unknown */
	const struct double_dummy *tricks;	/* NULL = not computed */
	const struct par *par;			/* NULL = not known */
};

/* A row of a table: its cells, the rest NULL. */
#define CELLS_MAX	8
enum row_kind {
	ROW_HEADING,		/* one cell: the heading of a new table */
	ROW_NAMES,		/* names of the columns */
	ROW_CELLS,
	ROW_TEXT,		/* one cell: a paragraph */
	ROW_PLOT,		/* no cell: a plot */
};
struct sheet_row {
	enum row_kind kind;
	char *cells[CELLS_MAX];
	const unsigned char *shares;	/* of each cell in the width; NULL = equal */
	unsigned int lines;		/* that it takes, once it is folded for a page; 0 = one */
	struct plot *plot;
};

struct sheet {
	const struct words *words;
	const struct dealbox_pack *pack;
	const char *ten;	/* "10" or "T" */
	const char *title;
	const char *session, *set;	/* "" = not given */
	const char *footer;		/* "" = none */
	const char *qr;			/* text of the QR code; NULL = none */
	double logo_w, logo_h;		/* 0 = no logo */
	const struct sheet_board *boards;
	size_t count;
	struct sheet_row *rows;		/* instead of boards: tables; a layout folds them */
	size_t rows_count;
};

/* Returns the points of a hand: 4, 3, 2, 1 for each ace, king, queen, jack. */
unsigned int sheet_points(dealbox_cards hand);

/* Returns the number of cards of the pack that no hand of the board holds. */
unsigned int sheet_unknown(const struct sheet *sheet, const struct sheet_board *board);

/*
 * Room for the ranks of a suit. Sheets write "—" for a void, "?" if no card of the hand is known.
 */
#define HOLDING_TEXT	96

/* Writes the ranks that a hand holds in a suit, with spaces between. */
void sheet_holding(const struct sheet *sheet, const struct sheet_board *board, int hand, int suit,
		   char text[HOLDING_TEXT]);

/* Returns true if every card of the hand is known. */
bool sheet_hand_known(const struct sheet *sheet, const struct sheet_board *board, int hand);

/* Returns the name of a hand: a seat's letter, or a player of preferans. */
const char *sheet_hand_letter(const struct sheet *sheet, int hand);

/*
 * Writes what a declarer makes, "4♠", "2♥": the highest level of each denomination, no trumps
 * first. Returns how many.
 */
#define LEVEL_TEXT	16
int sheet_levels(const struct sheet *sheet, const struct double_dummy *table, int seat,
		 char levels[DENOMINATIONS][LEVEL_TEXT]);

/* Writes a contract as players do: "4♥ N", "5♣x EW −1". */
#define CONTRACT_TEXT	64
void sheet_contract(const struct sheet *sheet, const struct par_contract *contract,
		    char text[CONTRACT_TEXT]);

#endif
