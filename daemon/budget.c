// SPDX-License-Identifier: LGPL-2.1-or-later
#include "budget.h"

#define BOARD_US	(3600 * 1000000ULL / BUDGET_HOUR)	/* refill interval of one board */

bool budget_take(struct budgets *budgets, uint32_t uid, size_t boards, uint64_t now)
{
	struct budget *own = NULL, *first = budgets->users, *b;
	uint64_t full;

	for (b = budgets->users; b < budgets->users + BUDGET_USERS; b++) {
		if (b->full && b->uid == uid)
			own = b;
		if (b->full < first->full)
			first = b;
	}
	full = own && own->full > now ? own->full : now;
	if (boards > BUDGET_BOARDS || full + boards * BOARD_US > now + BUDGET_BOARDS * BOARD_US)
		return false;
	if (!own)
		own = first;
	own->uid = uid;
	own->full = full + boards * BOARD_US;
	return true;
}
