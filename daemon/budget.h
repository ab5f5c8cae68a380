/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many deals a user may give us. Who knows some of the cards of a board could make all deals
 * that fit, and ask which of them was dealt. No I/O, no clock.
 */
#ifndef DAEMON_BUDGET_H
#define DAEMON_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUDGET_BOARDS	2400	/* at once: a festival of 32 sessions, looked for and added */
#define BUDGET_HOUR	100	/* so many more in an hour */
#define BUDGET_USERS	64

struct budgets {
	struct budget {
		uint32_t uid;
		uint64_t full;	/* us: when all of it is there again; 0: nobody's */
	} users[BUDGET_USERS];
};

/*
 * May the user give so many boards now (us of a clock that goes on)? Then they are counted. When
 * more users come than there are places, whose budget is nearly whole has it whole.
 */
bool budget_take(struct budgets *budgets, uint32_t uid, size_t boards, uint64_t now);

#endif
