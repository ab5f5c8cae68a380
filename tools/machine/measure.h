/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures how long the mechanics of a machine take, card by card, without a host. */
#ifndef MACHINE_MEASURE_H
#define MACHINE_MEASURE_H

#include <stdio.h>

#include "wiring.h"

/*
 * Let the cards of the hopper pass, one after the other into each pocket, and print to `out` how
 * long each step took. Then halve the time `settle` until a card falls into a wrong pocket, and
 * print what it should be. Needs exit sensors, and some 50 cards; which ones does not matter.
 * Prints no card. When `signals` becomes readable, all outputs go off, and it ends. Returns 0, or
 * -errno after a sentence on `out`.
 */
int measure(const struct wiring *wiring, int signals, FILE *out);

#endif
