/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bar codes of playing cards in wide use: nine modules, as numbers, the first module highest.
 */
#ifndef MACHINE_CODES_H
#define MACHINE_CODES_H

#include <stdint.h>

#define CODE_MODULES	9
#define CODES		53	/* 52 cards, numbered as everywhere in dealbox, and a joker */
#define CODE_NO_CARD	255	/* as DEALBOX_CARD_NONE */

/* Returns the card (0..52) that has the code; CODE_NO_CARD: none has. */
uint8_t code_card(uint16_t code);

/* Returns the code of a card, 0..52. */
uint16_t code_of(uint8_t card);

/* Returns the code as it is read from its other end. */
uint16_t code_turned(uint16_t code);

/*
 * Stores the cards whose codes differ from a code in at most one module, ascending; returns how
 * many.
 */
#define CODE_NEAR_MAX	(CODE_MODULES + 1)
unsigned int code_near(uint16_t code, uint8_t cards[CODE_NEAR_MAX]);

#endif
