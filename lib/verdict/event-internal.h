/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EVENT_INTERNAL_H
#define EVENT_INTERNAL_H

#include <dealbox/event.h>
#include <dealbox/verify.h>

#include <stdbool.h>
#include <stdint.h>

/* Returns true if the quality of a reading is so low that it counts as none (R-4-14). */
static inline bool event_guess(const struct dealbox_event *event)
{
	return event->quality && event->quality < DEALBOX_QUALITY_MIN;
}

/* Returns what stopped a deal, for a sentence that is translated: "a card is stuck". Static. */
const char *event_fault(uint32_t type);

#endif
