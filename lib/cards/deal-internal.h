/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Not exported. */
#ifndef DEAL_H
#define DEAL_H

#include <stdbool.h>

#include <dealbox/deal.h>

/* Returns true for a sorted pack, complete as it is: programs fill unused boards with one. */
bool deal_is_placeholder(const struct dealbox_deal *deal);

/*
 * Turns a deal so that its lowest card is in the first hand: deals that differ by that are the
 * same.
 */
void deal_turn(const struct dealbox_deal *deal, struct dealbox_deal *turned);

#endif
