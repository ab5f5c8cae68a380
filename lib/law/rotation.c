// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plans by position: how each ruleset deals a pack in its order. */
#include <errno.h>
#include <string.h>

#include <dealbox/law.h>

int dealbox_law_plan(enum dealbox_rules rules, enum dealbox_actor dealer, uint32_t plan_id,
		     struct dealbox_plan *plan)
{
	const struct dealbox_ruleset *r = dealbox_ruleset_get(rules);
	unsigned int hand, position = 0;

	if (!r || dealer >= r->hands || plan_id == DEALBOX_PLAN_NONE ||
	    plan_id == DEALBOX_PLAN_TEST)
		return -EINVAL;
	memset(plan, 0, sizeof(*plan));
	plan->plan_id = plan_id;
	plan->mode = DEALBOX_PLAN_BY_POSITION;
	plan->entries = r->cards;
	hand = dealer;
	for (unsigned int packet = 0; position < r->cards; packet++) {
		bool talon = r->talon_cards && packet == r->talon_packet;

		if (!talon)
			hand = (hand + 1) % r->hands;
		for (unsigned int i = 0; i < r->packet; i++)
			plan->pocket[position++] = talon ? r->hands : hand;
	}
	return 0;
}
