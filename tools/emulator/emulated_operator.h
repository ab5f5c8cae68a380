/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The operator at the machine: exchanges boards, returns cards to the hopper, and helps after a
 * stop. Pure, like emulated_machine.h. The operator sends no commands: CLEAR_FAULT and REREAD come
 * from the host.
 */
#ifndef EMULATED_OPERATOR_H
#define EMULATED_OPERATOR_H

#include "emulated_machine.h"

#define OPERATOR_BOARDS_MAX	512

struct operator {
	struct machine *machine;
	uint64_t random;
	uint64_t at;			/* time of the next action */
	uint32_t seen_stops;		/* number of handled stops */
	unsigned int next_board;	/* index into boards */
	unsigned int board_count;	/* 0 = boards without numbers */
	uint16_t boards[OPERATOR_BOARDS_MAX];
	bool absent;			/* no operator, no actions */
};

void operator_init(struct operator *op, struct machine *machine, uint64_t seed);
/*
 * Fill the hopper with shuffled packs, as many as fit. cards is the set of cards of a pack: bit n
 * is card n, 0..53.
 */
void operator_fill(struct operator *op, uint64_t cards, unsigned int packs);
/* Fill the hopper with these cards, the first on top. */
void operator_fill_order(struct operator *op, const uint8_t *cards, unsigned int count);
/*
 * Return all cards on the table to the hopper. Shuffles a complete pack and puts it at the bottom.
 * The cards of an incomplete pack go on top, to the rest of that pack.
 */
void operator_collect(struct operator *op);
/* Take the cards out of a stopped machine and return them to the hopper. */
void operator_empty(struct operator *op);
/* Insert the next empty board. Returns like machine_insert(). */
int operator_insert(struct operator *op);

/*
 * Perform the actions that are due. The machine must have been run up to now. Returns true if the
 * machine must be run again.
 */
bool operator_run(struct operator *op, uint64_t now);
uint64_t operator_next(const struct operator *op);

#endif
