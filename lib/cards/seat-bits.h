/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A deal as two masks of cards: bit n of low and of high is the seat, 0 to 3, that has card n. */
#ifndef SEAT_BITS_H
#define SEAT_BITS_H

#include <dealbox/deal.h>

/* Each card of the pack has an owner; bits of cards that are not in the pack do not count. */
static inline void deal_from_seat_bits(struct dealbox_deal *deal, dealbox_cards pack,
				       dealbox_cards low, dealbox_cards high)
{
	deal->hand[0] = pack & ~low & ~high;
	deal->hand[1] = pack & low & ~high;
	deal->hand[2] = pack & high & ~low;
	deal->hand[3] = pack & low & high;
}

#endif
