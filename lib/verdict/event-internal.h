/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EVENT_INTERNAL_H
#define EVENT_INTERNAL_H

#include <stdint.h>

/* Returns what stopped a deal, for a sentence: "a card is stuck". Static. */
const char *event_fault(uint32_t type);

#endif
