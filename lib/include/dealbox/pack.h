/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pack: the cards that exist, and the number of cards in each hand. Every function that takes a
 * pack accepts NULL for bridge.
 */
#ifndef DEALBOX_PACK_H
#define DEALBOX_PACK_H

#include <stddef.h>

#include <dealbox/card.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dealbox_pack {
	const char *name;	/* "bridge" */
	dealbox_cards cards;
	uint8_t hands;		/* hands and talon: 4 */
	uint8_t size[4];	/* cards of each */
};

/* Returns the bridge pack: 52 cards, four hands of 13 (Law 1). Static. */
DEALBOX_API const struct dealbox_pack *dealbox_pack_bridge(void);

/*
 * Returns the preferans pack: 32 cards, three hands of 10 and, as hand 3, the talon of 2. Static.
 */
DEALBOX_API const struct dealbox_pack *dealbox_pack_preferans(void);

/*
 * Writes the cards in the order of a sorted deck, the first card to be fed first: spades from the
 * ace down, hearts, diamonds, clubs. Returns their number.
 */
DEALBOX_API size_t dealbox_pack_sorted(const struct dealbox_pack *pack, uint8_t deck[64]);

/* Returns the pack of that name, or NULL if there is none. Static. */
DEALBOX_API const struct dealbox_pack *dealbox_pack_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
