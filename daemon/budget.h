/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limit of the deals that a user may submit. Someone who knows some cards of a board could
 * otherwise generate all deals that fit, and look for the one in the ledger. No I/O, no clock.
 */
#ifndef DAEMON_BUDGET_H
#define DAEMON_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUDGET_BOARDS	2400	/* maximum: a festival of 32 sessions, searched and added */
#define BUDGET_HOUR	100	/* refill per hour */
#define BUDGET_USERS	64

struct budgets {
	struct budget {
		uint32_t uid;
		uint64_t full;	/* us: when the budget is full again; 0 = unused entry */
	} users[BUDGET_USERS];
};

/*
 * Take boards from the user's budget. now is the time of a monotonic clock in us. Returns false,
 * and takes nothing, if the budget is too small. If there are more users than entries, the one
 * whose budget is nearest to full is forgotten, and so gets a full one.
 */
bool budget_take(struct budgets *budgets, uint32_t uid, size_t boards, uint64_t now);

#endif
