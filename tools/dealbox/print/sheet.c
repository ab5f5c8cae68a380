// SPDX-License-Identifier: LGPL-2.1-or-later
/* The texts of a board. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sheet.h"

#define RANKS	13

static dealbox_cards suit_of(dealbox_cards hand, int suit)
{
	return hand >> (RANKS * suit) & 0x1fff;
}

unsigned int sheet_points(dealbox_cards hand)
{
	unsigned int points = 0;

	for (int suit = 0; suit < 4; suit++)
		for (unsigned int rank = 0; rank < 4; rank++)
			points += (4 - rank) * (suit_of(hand, suit) >> rank & 1);
	return points;
}

static dealbox_cards all_of(const struct sheet_board *board)
{
	dealbox_cards all = 0;

	for (int hand = 0; hand < DEALBOX_HANDS; hand++)
		all |= board->deal.hand[hand];
	return all;
}

unsigned int sheet_unknown(const struct sheet *sheet, const struct sheet_board *board)
{
	return dealbox_cards_count(sheet->pack->cards & ~all_of(board));
}

bool sheet_hand_known(const struct sheet *sheet, const struct sheet_board *board, int hand)
{
	return dealbox_cards_count(board->deal.hand[hand]) == sheet->pack->size[hand];
}

static const char *rank_text(const struct sheet *sheet, unsigned int rank)
{
	static const char *const small[] = { "9", "8", "7", "6", "5", "4", "3", "2" };

	return rank < 4 ? sheet->words->ranks[rank] : rank == 4 ? sheet->ten : small[rank - 5];
}

void sheet_holding(const struct sheet *sheet, const struct sheet_board *board, int hand, int suit,
		   char text[HOLDING_TEXT])
{
	const dealbox_cards cards = suit_of(board->deal.hand[hand], suit);
	size_t used = 0;

	for (unsigned int rank = 0; rank < RANKS; rank++)
		if (cards >> rank & 1)
			used += (size_t)snprintf(text + used, HOLDING_TEXT - used, "%s%s",
						 used ? " " : "", rank_text(sheet, rank));
	/* a void is known only if the whole hand is */
	if (!used)
		strcpy(text, sheet_hand_known(sheet, board, hand) ? "—" : "?");
}

const char *sheet_hand_letter(const struct sheet *sheet, int hand)
{
	return sheet->pack == dealbox_pack_preferans() ? sheet->words->players[hand] :
							 sheet->words->seats[hand];
}

/* "N", "NS", "EW" */
static void declarers_text(const struct sheet *sheet, unsigned int declarers, char *text,
			   size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (int side = 0; side < 2; side++)
		if ((declarers >> side & 5) == 5) {
			snprintf(text, size, "%s", sheet->words->sides[side]);
			return;
		}
	for (int seat = 0; seat < 4 && used < size; seat++)
		if (declarers >> seat & 1)
			used += (size_t)snprintf(text + used, size - used, "%s",
						 sheet->words->seats[seat]);
}

void sheet_contract(const struct sheet *sheet, const struct par_contract *contract,
		    char text[CONTRACT_TEXT])
{
	char who[24], over[8] = "";

	declarers_text(sheet, contract->declarers, who, sizeof(who));
	if (contract->result)
		snprintf(over, sizeof(over), " %s%d", contract->result < 0 ? "−" : "+",
			 abs(contract->result));
	snprintf(text, CONTRACT_TEXT, "%u%s%s %s%s", contract->level,
		 contract->denomination < NOTRUMPS ? suit_signs[contract->denomination] :
						     sheet->words->notrump,
		 contract->result < 0 ? "x" : "", who, over);
}

int sheet_levels(const struct sheet *sheet, const struct double_dummy *table, int seat,
		 char levels[DENOMINATIONS][LEVEL_TEXT])
{
	static const unsigned char order[DENOMINATIONS] = { NOTRUMPS, 0, 1, 2, 3 };
	int count = 0;

	for (int n = 0; n < DENOMINATIONS; n++) {
		const int level = table->tricks[order[n]][seat] - 6;

		if (level > 0)
			snprintf(levels[count++], LEVEL_TEXT, "%d%s", level, order[n] < NOTRUMPS ?
				 suit_signs[order[n]] : sheet->words->notrump);
	}
	return count;
}
