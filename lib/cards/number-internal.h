/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbering any division of cards, for the generators. Not exported. */
#ifndef NUMBER_H
#define NUMBER_H

#include <dealbox/number.h>

/*
 * Cards that are to be divided, and how many of them each hand gets: at most 13, and together
 * as many as there are cards.
 */
struct number_space {
	dealbox_cards cards;
	uint8_t size[DEALBOX_HANDS];
};

/* In how many ways they can be divided. */
dealbox_number number_space_count(const struct number_space *space);

/* The way with that number, which must be less than the count. */
void number_space_unrank(const struct number_space *space, dealbox_number number,
			 struct dealbox_deal *deal);

/* Andrews' deals with these numbers, counted from 0: many are faster than one at a time. */
void number_unrank_all(const dealbox_number *numbers, size_t count, struct dealbox_deal *deals);

/* The same for Big Deal's. The numbers are lost. */
void number_bigdeal_unrank_all(dealbox_number *numbers, size_t count, struct dealbox_deal *deals);

/* Big Deal's deal with that number, which must be less than DEALBOX_NUMBER_DEALS. */
void number_bigdeal_unrank(dealbox_number number, struct dealbox_deal *deal);

#endif
