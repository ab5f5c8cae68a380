/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Letters of the cards, and a hand as text: shared by every text format. */
#ifndef DEALBOX_CARD_TEXT_H
#define DEALBOX_CARD_TEXT_H

#include <dealbox/card.h>

extern const char card_ranks[13];	/* "AKQJT98765432" */
extern const char card_suits[4];	/* "SHDC" */

/* dealbox_cards_format() without the zero: returns the end. At most 55 bytes. */
char *cards_put(dealbox_cards cards, char *text);

#endif
