/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Types of events: the name and class of each, and whether its code may be shown. The types are
 * those of <linux/dealbox.h>; docs/protocol.md, section 4, describes them.
 */
#ifndef DEALBOX_EVENT_H
#define DEALBOX_EVENT_H

#include <linux/dealbox.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dealbox/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Flag of events that a person caused instead of a machine (hand: in <dealbox/machine.h>). All of
 * them have it. It is one of DEALBOX_EVF_USER, which neither machines nor drivers can set; the
 * others are for later versions of the library.
 */
#define DEALBOX_EVF_BY_HAND	(1U << 24)

/* The subject of an event. */
enum dealbox_event_class {
	DEALBOX_EVENT_UNKNOWN,	/* no known class: ignore it */
	DEALBOX_EVENT_MACHINE,	/* the machine and its board: hopper, cover, keys .. */
	DEALBOX_EVENT_DEAL,	/* the deal and its cards */
	DEALBOX_EVENT_HELD,	/* a stop: the machine holds a card, and the deal can continue */
	DEALBOX_EVENT_VOID,	/* a stop: the board is void */
	DEALBOX_EVENT_DRIVER	/* from the driver, not the machine: it has no machine_seq */
};

/* Returns the class of a type. A type that a later protocol adds within a class has that class. */
DEALBOX_API enum dealbox_event_class dealbox_event_classify(uint32_t type);

/* Returns true for the stops: the types that hold a card, and those that make a board void. */
DEALBOX_API bool dealbox_event_stops(uint32_t type);

/*
 * Returns the name of an event in English, "board inserted", "paused" .. Names are static. They are
 * also for programs, and never change.
 */
DEALBOX_API const char *dealbox_event_name(uint32_t type);

/*
 * Returns true if the code of such an event may be shown to everybody. Other codes reveal something
 * about a card, or belong to unknown types.
 */
DEALBOX_API bool dealbox_event_code_open(uint32_t type);

/*
 * Writes the detail of an event that helps at the machine and is not a card: the place of a jam,
 * "at the gate"; the maker's code of a fault, "code 17" (docs/protocol.md, 4.3). Empty for other
 * events. Returns the length, as snprintf() does.
 */
DEALBOX_API size_t dealbox_event_detail(const struct dealbox_event *event, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
