/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The person at the machine: takes dealt boards out and puts empty ones in, gives the
 * cards back to the hopper, helps after a stop. Pure, like emulated_machine.h. Does nothing for
 * which the host is needed: CLEAR_FAULT and REREAD come from there.
 */
#ifndef EMULATED_OPERATOR_H
#define EMULATED_OPERATOR_H

#include "emulated_machine.h"

#define OPERATOR_BOARDS_MAX	512

struct operator {
	struct machine *machine;
	uint64_t random;
	uint64_t at;			/* the next thing is done then */
	uint32_t seen_stops;		/* stops that were dealt with */
	unsigned int next_board;	/* index of boards */
	unsigned int board_count;	/* 0 = boards without numbers */
	uint16_t boards[OPERATOR_BOARDS_MAX];
	bool absent;			/* no operator: does nothing */
};

void operator_init(struct operator *op, struct machine *machine, uint64_t seed);
/*
 * Fills the hopper: so many shuffled packs of the cards 0..53 in the set (bit n = card n), or
 * as many as fit.
 */
void operator_fill(struct operator *op, uint64_t cards, unsigned int packs);
/* Fills the hopper with these cards, the first on top. */
void operator_fill_order(struct operator *op, const uint8_t *cards, unsigned int count);
/*
 * Takes all cards on the table to the hopper. A pack that is complete again goes under the others
 * in a new order; one that was not dealt to its end goes back to the top with the rest of it.
 */
void operator_collect(struct operator *op);
/* Takes the cards out of a stopped machine, and gives them back to the hopper. */
void operator_empty(struct operator *op);
/* The next empty board goes in. 0 or as machine_insert(). */
int operator_insert(struct operator *op);

/*
 * Performs the due actions; returns true if something was done, and the machine must be run again.
 * The machine must have been run up to now.
 */
bool operator_run(struct operator *op, uint64_t now);
uint64_t operator_next(const struct operator *op);

#endif
