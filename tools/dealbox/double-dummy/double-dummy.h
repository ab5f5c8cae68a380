/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Double dummy: how many tricks each declarer takes with all four hands open, and par. The tables
 * come from libdds, in a program of its own with bounded memory (helper.c).
 */
#ifndef DOUBLE_DUMMY_H
#define DOUBLE_DUMMY_H

#include <dealbox/set.h>

#include "ui/tool.h"

/* Denominations: enum dealbox_suit, and no trumps. */
#define NOTRUMPS	4
#define DENOMINATIONS	5

/* Tricks by denomination and declarer (enum dealbox_seat), 0 to 13 */
struct double_dummy {
	uint8_t tricks[DENOMINATIONS][DEALBOX_HANDS];
};

/* The order of a table for people and in PBN: NT, S, H, D, C; N, S, E, W */
extern const uint8_t table_denominations[DENOMINATIONS], table_seats[DEALBOX_HANDS];

/*
 * Solve every deal of a set of the bridge pack. Shows a progress line. It takes about a quarter of
 * a second per deal, on two processors.
 *
 * Returns an array with the table of each board, in the order of the set, to be freed with free();
 * or NULL after reporting an error, which names no card: the set is not of the bridge pack, or the
 * helper is missing, crashed or ran out of memory.
 */
struct double_dummy *double_dummy_solve(const struct dealbox_set *set);

/*
 * A par contract: no side gains by bidding on. A contract that makes may be bid on any level from
 * level to level + result; a contract that fails is doubled.
 */
struct par_contract {
	uint8_t level;		/* 1 to 7 */
	uint8_t denomination;
	uint8_t declarers;	/* bit n: seat n, one or two of a side */
	int8_t result;		/* tricks over the contract, or, negative and doubled, below it */
};

/* Contracts of one side in one denomination differ by declarer only. */
#define PAR_CONTRACTS_MAX	(2 * 2 * DENOMINATIONS)

struct par {
	int score;		/* of North-South; 0 = passed out, without contracts */
	unsigned int count;
	struct par_contract contracts[PAR_CONTRACTS_MAX];	/* highest first */
};

/*
 * Compute par: the score if all four players bid and play with all hands open, beginning with the
 * dealer (enum dealbox_seat), and every contract that yields it. The dealer matters if both sides
 * gain by bidding the same contract: the first to call gets it.
 */
void par_compute(const struct double_dummy *table, int dealer,
		 enum dealbox_vulnerable vulnerable, struct par *out);

/*
 * Compute the par of a board. If its dealer or its vulnerability is not known, as board_dealer()
 * and board_vulnerable() tell, it is computed for all of them. Returns false if they differ.
 */
bool par_of_board(const struct dealbox_board *board, const struct double_dummy *table,
		  struct par *out);

/* The size of a buffer for the text of any par contract, including the terminating zero */
#define PAR_CONTRACT_TEXT	16

/*
 * Write a par contract: "3NT NS", "4S N+1", "5Dx EW-2". Level, denomination (S, H, D, C, NT), x if
 * it is doubled, the declarers, and the tricks over or below the contract. Returns text.
 */
char *par_contract_format(const struct par_contract *contract, char text[PAR_CONTRACT_TEXT]);

/* Return the name of a denomination: "S", "H", "D", "C", "NT". Static. */
const char *denomination_name(int denomination);

#endif
