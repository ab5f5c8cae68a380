// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Par: the auction as a game that all four players see through. A player passes or bids any higher
 * contract, which he then declares; a contract that fails is doubled. This is computed backwards
 * from 7NT. Without an auction, a par contract is one that gives this score, where no higher bid is
 * worth more to the side that bids it, and no opponent could gain by bidding the same contract
 * before.
 */
#include <stdio.h>
#include <string.h>

#include "double-dummy.h"

/* Bits of a seat and its partner */
#define SIDE_OF(seat)	(5 << (seat) % 2)

/* Contracts in the order of the auction: 1 = 1C, 2 = 1D .. 35 = 7NT; 0 = none yet. */
#define CONTRACTS	35

const uint8_t table_denominations[DENOMINATIONS] = {
	NOTRUMPS, DEALBOX_SPADES, DEALBOX_HEARTS, DEALBOX_DIAMONDS, DEALBOX_CLUBS
};
const uint8_t table_seats[DEALBOX_HANDS] = {
	DEALBOX_NORTH, DEALBOX_SOUTH, DEALBOX_EAST, DEALBOX_WEST
};

/* Worse than any score, for the side whose sign it has not */
#define WORST		100000

static int denomination_of(int contract)
{
	static const int8_t order[DENOMINATIONS] = {
		DEALBOX_CLUBS, DEALBOX_DIAMONDS, DEALBOX_HEARTS, DEALBOX_SPADES, NOTRUMPS
	};

	return order[(contract - 1) % DENOMINATIONS];
}

static int level_of(int contract)
{
	return (contract - 1) / DENOMINATIONS + 1;
}

static bool is_vulnerable(int seat, enum dealbox_vulnerable vulnerable)
{
	return vulnerable == DEALBOX_VULNERABLE_ALL ||
	       vulnerable == (seat % 2 ? DEALBOX_VULNERABLE_EW : DEALBOX_VULNERABLE_NS);
}

/* Points for North-South; over: tricks over the contract, or below it, which is doubled (Law 77) */
static int score(int contract, int seat, int over, bool vulnerable)
{
	int denomination = denomination_of(contract), level = level_of(contract);
	int trick = denomination == DEALBOX_CLUBS || denomination == DEALBOX_DIAMONDS ? 20 : 30;
	int first = denomination == NOTRUMPS ? 10 : 0, points;

	if (over >= 0) {
		points = trick * level + first;
		points += points < 100 ? 50 : vulnerable ? 500 : 300;
		if (level == 6)
			points += vulnerable ? 750 : 500;
		if (level == 7)
			points += vulnerable ? 1500 : 1000;
		points += trick * over;
	} else if (vulnerable) {
		points = 100 + 300 * over;
	} else {
		points = over >= -3 ? 100 + 200 * over : 400 + 300 * over;
	}
	return seat % 2 ? -points : points;
}

/* Return true if a is better than b for the side of seat. */
static bool is_better(int seat, int a, int b)
{
	return seat % 2 ? a < b : a > b;
}

/*
 * The score at the end if seat is to call next, and that many passes in a row end the auction with
 * the score passed. best: what each seat gets by the best bid that is left.
 */
static int call(const int best[DEALBOX_HANDS], int seat, int passes, int passed)
{
	/* the last player who can call chooses first */
	for (int turn = passes - 1; turn >= 0; turn--) {
		int player = (seat + turn) % DEALBOX_HANDS;

		if (is_better(player, best[player], passed))
			passed = best[player];
	}
	return passed;
}

static int over_of(const struct double_dummy *table, int contract, int seat)
{
	return table->tricks[denomination_of(contract)][seat] - 6 - level_of(contract);
}

/* Add a par contract, which is the lowest one of seat in its denomination. */
static void add(struct par *out, int contract, int seat, int over)
{
	struct par_contract found = {
		.level = (uint8_t)level_of(contract),
		.denomination = (uint8_t)denomination_of(contract),
		.declarers = (uint8_t)(1 << seat),
		.result = (int8_t)over,
	};

	for (unsigned int i = 0; i < out->count; i++) {
		struct par_contract *have = &out->contracts[i];

		if (have->denomination != found.denomination ||
		    !(have->declarers & SIDE_OF(seat)))
			continue;
		if (have->level == found.level && have->result == found.result) {
			have->declarers |= found.declarers;
			return;
		}
	}
	out->contracts[out->count++] = found;
}

/* Return true if seat calls before any opponent who can bid the contract, and gains from that. */
static bool is_first(const int points[DEALBOX_HANDS], int seat, int dealer, int par)
{
	for (int player = dealer; player % DEALBOX_HANDS != seat; player++)
		if (player % 2 != seat % 2 &&
		    is_better(player, points[player % DEALBOX_HANDS], par))
			return false;
	return true;
}

/* The same; a contract that both players of a side make is theirs if one of them is first. */
static bool is_in_time(const int points[DEALBOX_HANDS], int seat, int dealer, int par)
{
	int partner = (seat + 2) % DEALBOX_HANDS;

	return is_first(points, seat, dealer, par) ||
	       (is_better(seat, par, 0) && points[partner] == par &&
		is_first(points, partner, dealer, par));
}

void par_compute(const struct double_dummy *table, int dealer,
		 enum dealbox_vulnerable vulnerable, struct par *out)
{
	int points[CONTRACTS + 1][DEALBOX_HANDS], best[DEALBOX_HANDS], value[DEALBOX_HANDS];
	int lowest[DEALBOX_HANDS][DENOMINATIONS] = { 0 };
	/* the best that each side can bid above the contract */
	int most[2] = { -WORST, WORST };

	*out = (struct par){ 0 };
	for (int seat = 0; seat < DEALBOX_HANDS; seat++)
		best[seat] = seat % 2 ? WORST : -WORST;
	for (int contract = CONTRACTS; contract > 0; contract--) {
		for (int seat = 0; seat < DEALBOX_HANDS; seat++) {
			points[contract][seat] = score(contract, seat,
						       over_of(table, contract, seat),
						       is_vulnerable(seat, vulnerable));
			value[seat] = call(best, seat + 1, DEALBOX_HANDS - 1,
					   points[contract][seat]);
		}
		for (int seat = 0; seat < DEALBOX_HANDS; seat++)
			if (is_better(seat, value[seat], best[seat]))
				best[seat] = value[seat];
	}
	out->score = call(best, dealer, DEALBOX_HANDS, 0);
	if (!out->score)
		return;
	for (int contract = CONTRACTS; contract > 0; contract--) {
		for (int seat = 0; seat < DEALBOX_HANDS; seat++)
			if (points[contract][seat] == out->score &&
			    !is_better(0, most[0], out->score) &&
			    !is_better(1, most[1], out->score) &&
			    is_in_time(points[contract], seat, dealer, out->score))
				lowest[seat][(contract - 1) % DENOMINATIONS] = contract;
		for (int seat = 0; seat < DEALBOX_HANDS; seat++)
			if (is_better(seat, points[contract][seat], most[seat % 2]))
				most[seat % 2] = points[contract][seat];
	}
	for (int i = DENOMINATIONS - 1; i >= 0; i--)
		for (int seat = 0; seat < DEALBOX_HANDS; seat++)
			if (lowest[seat][i])
				add(out, lowest[seat][i], seat,
				    over_of(table, lowest[seat][i], seat));
}

char *par_contract_format(const struct par_contract *contract, char text[PAR_CONTRACT_TEXT])
{
	char declarers[DEALBOX_HANDS + 1] = "", *end = declarers;

	for (int seat = 0; seat < DEALBOX_HANDS; seat++)
		if (contract->declarers & 1 << seat)
			*end++ = dealbox_seat_letter(seat);
	*end = '\0';
	if (contract->result)
		snprintf(text, PAR_CONTRACT_TEXT, "%u%s%s %s%+d", contract->level,
			 denomination_name(contract->denomination), contract->result < 0 ? "x" : "",
			 declarers, contract->result);
	else
		snprintf(text, PAR_CONTRACT_TEXT, "%u%s %s", contract->level,
			 denomination_name(contract->denomination), declarers);
	return text;
}

const char *denomination_name(int denomination)
{
	static const char *const names[DENOMINATIONS] = { "S", "H", "D", "C", "NT" };

	return names[denomination];
}
