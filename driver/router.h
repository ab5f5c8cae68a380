/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Which pocket the card at the gate of a host-routed machine goes into: a pure
 * decision from the plan and from what was routed before (docs/protocol.md §6).
 *
 * A deal begins and ends by the machine's own events. They come in the order in
 * which things happened, so that no card is ever judged by another deal's plan.
 * When in doubt the router is silent: the machine then keeps the card.
 */
#ifndef DEALBOX_ROUTER_H
#define DEALBOX_ROUTER_H

#include "wire.h"

/**
 * struct router - zeroed memory has no plan and no deal
 * @plan: what is dealt; no entries = there is no plan
 * @insertion: the board that is being dealt, 0 = no deal runs
 * @card_at: card routed at each position of this deal, DEALBOX_NONE = none
 */
struct router {
	struct wire_plan plan;
	u32 insertion;
	u8 card_at[DEALBOX_MAX_ENTRIES];
};

/* Makes *plan the plan, wiping the old one; NULL = forget it. Ends a deal. */
void dealbox_router_load(struct router *router, const struct wire_plan *plan);

/*
 * Takes every event of the machine in order. True: *gate is the command that
 * answers it. Costs at most one walk through 64 bytes, takes no lock.
 */
bool dealbox_router_event(struct router *router, const struct wire_event *event,
			  struct wire_gate *gate);

#endif
