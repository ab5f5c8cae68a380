/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbering of all distributions of a set of cards, for the generators. Not exported. */
#ifndef NUMBER_H
#define NUMBER_H

#include "number-math.h"

/* The number of bridge deals: 52! / (13!)^4 */
static const struct dealbox_number number_deals = { 0xad55e315, 0x634dda658bf49200 };

/*
 * Cards to distribute, and the number of cards per hand: at most 13 each, and together the number
 * of cards.
 */
struct number_space {
	dealbox_cards cards;
	uint8_t size[DEALBOX_HANDS];
};

/* Return the number of distributions. */
struct dealbox_number number_space_count(const struct number_space *space);

/* Make the distribution of a number, which must be less than the count. */
void number_space_unrank(const struct number_space *space, struct dealbox_number number,
			 struct dealbox_deal *deal);

/* Make Andrews' deals of these numbers, counted from 0. Faster than one at a time. */
void number_unrank_all(const struct dealbox_number *numbers, size_t count,
		       struct dealbox_deal *deals);

/* The same for Big Deal's numbers. Overwrites numbers. */
void number_bigdeal_unrank_all(struct dealbox_number *numbers, size_t count,
			       struct dealbox_deal *deals);

/* Make Big Deal's deal of a number, which must be less than number_deals. */
void number_bigdeal_unrank(struct dealbox_number number, struct dealbox_deal *deal);

#endif
