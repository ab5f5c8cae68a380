// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dealbox/plan.h>

#include <errno.h>
#include <string.h>

#include "cards/pack-internal.h"

static const uint8_t in_order[DEALBOX_HANDS] = { 0, 1, 2, 3 };

int dealbox_pockets_parse(const char *order, uint8_t pockets[DEALBOX_HANDS])
{
	unsigned int seen = 0;

	for (uint8_t pocket = 0; pocket < DEALBOX_HANDS; pocket++) {
		int seat = dealbox_seat_parse(order[pocket]);

		if (seat < 0 || seen >> seat & 1)
			return -EINVAL;
		seen |= 1u << seat;
		pockets[seat] = pocket;
	}
	return order[DEALBOX_HANDS] ? -EINVAL : 0;
}

static int begin(struct dealbox_plan *plan, uint32_t plan_id, uint8_t mode,
		 unsigned int entries)
{
	if (plan_id == DEALBOX_PLAN_NONE || plan_id == DEALBOX_PLAN_TEST)
		return -EINVAL;
	memset(plan, 0, sizeof(*plan));
	plan->plan_id = plan_id;
	plan->mode = mode;
	plan->entries = (uint8_t)entries;
	return 0;
}

static int check(const struct dealbox_deal *deal, const struct dealbox_pack *pack,
		 const uint8_t *pockets)
{
	unsigned int used = 0;

	if (!dealbox_deal_complete(deal, pack))
		return -EINVAL;
	for (int hand = 0; hand < DEALBOX_HANDS; hand++) {
		if (!pack->size[hand])
			continue;
		if (pockets[hand] >= DEALBOX_MAX_POCKETS || used >> pockets[hand] & 1)
			return -EINVAL;
		used |= 1u << pockets[hand];
	}
	return 0;
}

int dealbox_plan_by_card(struct dealbox_plan *plan, uint32_t plan_id,
			 const struct dealbox_deal *deal,
			 const struct dealbox_pack *pack, const uint8_t *pockets)
{
	unsigned int entries;
	int err;

	pack = pack_or_bridge(pack);
	entries = 64 - (unsigned int)__builtin_clzll(pack->cards);
	if (!pockets)
		pockets = in_order;
	err = check(deal, pack, pockets);
	if (!err)
		err = begin(plan, plan_id, DEALBOX_PLAN_BY_CARD, entries);
	if (err)
		return err;
	for (unsigned int card = 0; card < entries; card++) {
		int hand = dealbox_deal_holder(deal, card);

		plan->pocket[card] = hand < 0 ? DEALBOX_NONE : pockets[hand];
	}
	return 0;
}

int dealbox_plan_by_position(struct dealbox_plan *plan, uint32_t plan_id,
			     const struct dealbox_deal *deal,
			     const struct dealbox_pack *pack, const uint8_t *pockets,
			     const uint8_t *deck, size_t count)
{
	dealbox_cards left;
	int err;

	pack = pack_or_bridge(pack);
	left = pack->cards;
	if (!pockets)
		pockets = in_order;
	if (count != dealbox_cards_count(pack->cards))
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		if (deck[i] >= 64 || !(left >> deck[i] & 1))
			return -EINVAL;
		left &= ~((dealbox_cards)1 << deck[i]);
	}
	err = check(deal, pack, pockets);
	if (!err)
		err = begin(plan, plan_id, DEALBOX_PLAN_BY_POSITION, (unsigned int)count);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++)
		plan->pocket[i] = pockets[dealbox_deal_holder(deal, deck[i])];
	return 0;
}

int dealbox_plan_capture(struct dealbox_plan *plan, uint32_t plan_id, uint8_t pocket)
{
	if (pocket >= DEALBOX_MAX_POCKETS ||
	    begin(plan, plan_id, DEALBOX_PLAN_CAPTURE, 1))
		return -EINVAL;
	plan->pocket[0] = pocket;
	return 0;
}

void dealbox_plan_wipe(struct dealbox_plan *plan)
{
	explicit_bzero(plan, sizeof(*plan));
}
