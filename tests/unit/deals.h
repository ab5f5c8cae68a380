/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Deals and sets for tests: the same on every machine. */
#ifndef TESTS_DEALS_H
#define TESTS_DEALS_H

#include <string.h>

#include <dealbox/format.h>

/* A small random number generator. */
static inline uint32_t random_below(uint64_t *state, uint32_t below)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((*state >> 33) % below);
}

static inline void random_deal(uint64_t *state, struct dealbox_deal *deal)
{
	uint8_t deck[52];

	for (uint8_t i = 0; i < 52; i++)
		deck[i] = i;
	memset(deal, 0, sizeof(*deal));
	for (uint32_t i = 52; i > 0; i--) {
		uint32_t j = random_below(state, i);
		uint8_t card = deck[j];

		deck[j] = deck[i - 1];
		deal->hand[(i - 1) / 13] |= (dealbox_cards)1 << card;
	}
}

/* Boards from..from + count - 1; from 0 = without numbers. */
static inline struct dealbox_set *random_set(uint64_t *state, uint32_t from, size_t count)
{
	struct dealbox_set *set = dealbox_set_new(NULL);

	for (size_t i = 0; set && i < count; i++) {
		struct dealbox_board board = DEALBOX_BOARD_INIT;

		random_deal(state, &board.deal);
		board.number = from ? from + (uint32_t)i : 0;
		dealbox_set_add(set, &board);
	}
	return set;
}

/* Compares the cards of two sets, deal by deal. */
static inline bool same_deals(const struct dealbox_set *one,
			      const struct dealbox_set *other)
{
	struct dealbox_board a, b;

	if (dealbox_set_count(one) != dealbox_set_count(other))
		return false;
	for (size_t i = 0; !dealbox_set_get(one, i, &a); i++) {
		dealbox_set_get(other, i, &b);
		if (memcmp(&a.deal, &b.deal, sizeof(a.deal)))
			return false;
	}
	return true;
}

#endif
