// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dealbox/deal.h>

#include <errno.h>
#include <string.h>

#include "card-text.h"
#include "deal-internal.h"
#include "pack-internal.h"

bool dealbox_deal_complete(const struct dealbox_deal *deal,
			   const struct dealbox_pack *pack)
{
	dealbox_cards all = 0;

	pack = pack_or_bridge(pack);
	/* The count matches and all cards of the pack are there, so none is repeated. */
	for (int i = 0; i < DEALBOX_HANDS; i++) {
		if (dealbox_cards_count(deal->hand[i]) != pack->size[i])
			return false;
		all |= deal->hand[i];
	}
	return all == pack->cards;
}

size_t dealbox_deal_check(const struct dealbox_deal *deal,
			  const struct dealbox_pack *pack,
			  struct dealbox_defect *out, size_t max)
{
	size_t found = 0;

	pack = pack_or_bridge(pack);
	for (unsigned int card = 0; card < 64; card++) {
		struct dealbox_defect defect = { .card = (uint8_t)card };
		bool wanted = pack->cards >> card & 1;

		for (int i = 0; i < DEALBOX_HANDS; i++)
			if (deal->hand[i] >> card & 1)
				defect.hands |= (uint8_t)(1 << i);
		if (!wanted && defect.hands)
			defect.kind = DEALBOX_DEFECT_FOREIGN;
		else if (wanted && !defect.hands)
			defect.kind = DEALBOX_DEFECT_MISSING;
		else if (defect.hands & (defect.hands - 1))
			defect.kind = DEALBOX_DEFECT_REPEATED;
		else
			continue;
		if (found < max)
			out[found] = defect;
		found++;
	}

	for (int i = 0; i < DEALBOX_HANDS; i++) {
		unsigned int count = dealbox_cards_count(deal->hand[i]);

		if (count == pack->size[i])
			continue;
		if (found < max)
			out[found] = (struct dealbox_defect) {
				.kind = DEALBOX_DEFECT_SIZE,
				.card = DEALBOX_CARD_NONE,
				.hand = (uint8_t)i,
				.count = (uint8_t)count,
				.expected = pack->size[i],
			};
		found++;
	}
	return found;
}

int dealbox_deal_holder(const struct dealbox_deal *deal, unsigned int card)
{
	for (int i = 0; i < DEALBOX_HANDS && card < 64; i++)
		if (deal->hand[i] >> card & 1)
			return i;
	return -ENOENT;
}

size_t dealbox_deal_format(const struct dealbox_deal *deal, int first,
			   char text[DEALBOX_DEAL_TEXT])
{
	char *end = text;

	*end++ = dealbox_seat_letter(first);
	for (int i = 0; i < DEALBOX_HANDS; i++) {
		*end++ = i ? ' ' : ':';
		end = cards_put(deal->hand[(first + i) & 3], end);
	}
	*end = '\0';
	return (size_t)(end - text);
}

int dealbox_deal_parse(const char *text, struct dealbox_deal *deal)
{
	int first = dealbox_seat_parse(text[0]);

	memset(deal, 0, sizeof(*deal));
	if (first < 0 || text[1] != ':')
		return -EINVAL;
	text += 2;

	for (int i = 0; i < DEALBOX_HANDS; i++) {
		dealbox_cards *hand = &deal->hand[(first + i) & 3];
		unsigned int dots = 0;

		if (i && *text++ != ' ')
			return -EINVAL;
		if (*text == '-') {
			text++;
			continue;
		}
		for (; *text && *text != ' '; text++) {
			char name[3] = { card_suits[dots], *text, '\0' };
			int card;

			if (*text == '.') {
				if (++dots > 3)
					return -EINVAL;
				continue;
			}
			card = dealbox_card_parse(name);
			if (card < 0 || *hand >> card & 1)
				return -EINVAL;
			*hand |= (dealbox_cards)1 << card;
		}
		if (dots != 3)
			return -EINVAL;
	}
	return *text ? -EINVAL : 0;
}

void dealbox_deal_wipe(struct dealbox_deal *deal)
{
	explicit_bzero(deal, sizeof(*deal));
}

int dealbox_board_dealer(uint32_t board)
{
	return board ? (int)((board - 1) & 3) : -EINVAL;
}

int dealbox_board_vulnerable(uint32_t board)
{
	/* Law 2: none, N-S, E-W, all; each four boards begin one further */
	return board ? (int)((board - 1 + ((board - 1) >> 2)) & 3) : -EINVAL;
}

const char *dealbox_vulnerable_name(int vulnerable)
{
	static const char *const names[] = { "None", "NS", "EW", "All" };

	return vulnerable >= 0 && vulnerable < 4 ? names[vulnerable] : "?";
}

bool deal_is_placeholder(const struct dealbox_deal *deal)
{
	/* one suit in each hand, or a sorted pack dealt one card at a time */
	for (int seat = 0; seat < DEALBOX_HANDS; seat++) {
		dealbox_cards hand = deal->hand[seat], low = hand & -hand;

		if (hand != low * 0x1fff && hand != low * 0x1111111111111ULL)
			return false;
	}
	return true;
}
