/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Routing on a host-routed machine (docs/protocol.md, section 6): choose the
 * pocket of the card at the gate from the plan and from the cards routed
 * before. No I/O.
 *
 * Only the machine's events start and end a deal. They arrive in order, so that
 * no card is routed by the plan of another deal. When in doubt, send no gate
 * command: the machine then holds the card.
 */
#ifndef DEALBOX_ROUTER_H
#define DEALBOX_ROUTER_H

#include "wire.h"

/**
 * struct router - routing state; initialised with zeroes: no plan, no deal
 * @plan: the loaded plan; none if it has no entries
 * @insertion: insertion number of the board being dealt, 0 = no deal
 * @card_at: card routed at each position of this deal, or DEALBOX_NONE
 */
struct router {
	struct wire_plan plan;
	u32 insertion;
	u8 card_at[DEALBOX_MAX_ENTRIES];
};

/**
 * dealbox_router_load() - replace the plan
 * @router: the routing state
 * @plan: the new plan; NULL = none
 *
 * Ends a deal and overwrites the old plan.
 */
void dealbox_router_load(struct router *router, const struct wire_plan *plan);

/**
 * dealbox_router_event() - process an event
 * @router: the routing state
 * @event: the machine's event; all must be passed, in order
 * @gate: the gate command that answers the event
 *
 * Runs in a completion handler: it searches at most DEALBOX_MAX_ENTRIES bytes.
 *
 * Return: true if @gate is to be sent.
 */
bool dealbox_router_event(struct router *router, const struct wire_event *event,
			  struct wire_gate *gate);

#endif
