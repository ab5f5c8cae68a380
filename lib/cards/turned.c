// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cards/deal-internal.h"

void deal_turn(const struct dealbox_deal *deal, struct dealbox_deal *turned)
{
	bool talon = __builtin_popcountll(deal->hand[DEALBOX_HANDS - 1]) !=
		     __builtin_popcountll(deal->hand[0]);
	int hands = DEALBOX_HANDS - talon, first = 0, n;
	dealbox_cards lowest, all = 0;

	*turned = *deal;
	for (n = 0; n < hands; n++)
		all |= deal->hand[n];
	lowest = all & -all;
	for (n = 0; n < hands; n++)
		if (deal->hand[n] & lowest)
			first = n;
	for (n = 0; n < hands; n++)
		turned->hand[n] = deal->hand[(first + n) % hands];
}
