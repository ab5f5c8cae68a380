// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Routing on a host-routed machine. */
#include <linux/string.h>

#include "router.h"

static void end_deal(struct router *router)
{
	router->insertion = 0;
	memset(router->card_at, DEALBOX_NONE, sizeof(router->card_at));
}

void dealbox_router_load(struct router *router, const struct wire_plan *plan)
{
	end_deal(router);
	if (plan)
		router->plan = *plan;
	else
		memset(&router->plan, 0, sizeof(router->plan));
}

static u8 planned_pocket(const struct wire_plan *plan, u8 position, u8 card)
{
	switch (plan->mode) {
	case DEALBOX_PLAN_BY_CARD:
		return card < plan->entries ? plan->pocket[card] : DEALBOX_NONE;
	case DEALBOX_PLAN_BY_POSITION:
		return position < plan->entries ? plan->pocket[position] :
						  DEALBOX_NONE;
	default:	/* capture: only cards that were read */
		return card != DEALBOX_NONE ? plan->pocket[0] : DEALBOX_NONE;
	}
}

/*
 * Return the other position at which this card was routed, or DEALBOX_NONE.
 * Ignore the position itself: after a late gate command or a reread, the
 * machine asks again for the card at the reader.
 */
static u8 first_reading(const struct router *router, u8 position, u8 card)
{
	u8 p;

	if (card == DEALBOX_NONE)
		return DEALBOX_NONE;
	for (p = 0; p < DEALBOX_MAX_ENTRIES; p++)
		if (p != position && router->card_at[p] == card)
			return p;
	return DEALBOX_NONE;
}

/* A reading of low quality counts as none, even where it names a card. */
static u8 read_as(const struct wire_event *read)
{
	return read->quality && read->quality < WIRE_QUALITY_MIN ?
	       DEALBOX_NONE : read->card;
}

static bool route_card(struct router *router, const struct wire_event *read,
		       struct wire_gate *gate)
{
	u8 first, card = read_as(read);

	if (!router->insertion || read->insertion != router->insertion ||
	    read->position >= DEALBOX_MAX_ENTRIES)
		return false;

	*gate = (struct wire_gate) {
		.pocket = DEALBOX_NONE,
		.position = read->position,
		.number = read->number,
		.insertion = read->insertion,
	};
	router->card_at[read->position] = DEALBOX_NONE;

	first = first_reading(router, read->position, card);
	if (first != DEALBOX_NONE) {
		gate->reason = DEALBOX_EV_REPEATED_CARD;
		gate->first = first;
		return true;
	}

	gate->pocket = planned_pocket(&router->plan, read->position, card);
	if (gate->pocket == DEALBOX_NONE)
		gate->reason = DEALBOX_EV_NOT_IN_PLAN;
	else
		router->card_at[read->position] = card;
	return true;
}

bool dealbox_router_event(struct router *router, const struct wire_event *event,
			  struct wire_gate *gate)
{
	switch (event->type) {
	case DEALBOX_EV_CARD_READ:
		return route_card(router, event, gate);
	case DEALBOX_EV_DEAL_STARTED:
		end_deal(router);
		if (router->plan.entries && event->code == router->plan.plan_id)
			router->insertion = event->insertion;
		return false;
	case DEALBOX_EV_STATE_LOST:
		dealbox_router_load(router, NULL);
		return false;
	case DEALBOX_EV_BOARD_REMOVED:
	case DEALBOX_EV_DEAL_DONE:
	case DEALBOX_EV_ABORTED:
		end_deal(router);
		return false;
	default:
		if (DEALBOX_EV_IS_VOID(event->type))
			end_deal(router);
		return false;
	}
}
