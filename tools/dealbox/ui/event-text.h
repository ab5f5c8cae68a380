/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events and verdicts as JSON and as text, see dealbox(1). */
#ifndef EVENTS_H
#define EVENTS_H

#include <stdbool.h>
#include <stdio.h>

#include <dealbox/machine.h>
#include <dealbox/verify.h>

struct json_object;

/*
 * Convert an event to a new JSON object. Without reveal, omits the card and other data of the
 * reader. Returns NULL without memory.
 */
struct json_object *event_to_json(const struct dealbox_event *event, bool reveal);

/* Parse an event that was written with reveal. Returns false if it is not valid. */
bool event_from_json(struct json_object *object, struct dealbox_event *out);

/* Convert a difference of a verdict to a new JSON object, with its card only if reveal. */
struct json_object *difference_to_json(const struct dealbox_difference *difference, bool reveal);

/* Write an event as a line for people, without line end. Shows cards only if reveal. */
void event_to_text(const struct dealbox_event *event, bool reveal, char *text, size_t size);

/* Returns true for a stop that puts the board in doubt. */
bool event_voids(const struct dealbox_event *event);

/* Returns true for a stop after which the deal can continue. */
bool event_holds(const struct dealbox_event *event);

/* The machine's own report of its state when a deal was stopped. */
const char *machine_stands(struct dealbox_machine *machine);

#define HELD_TEXT	512

/*
 * Write the library's instruction for a stop after which the deal can continue. cards is the number
 * of cards of the deal, 0 = unknown. Names no card.
 */
void held_text(const struct dealbox_event *event, unsigned int cards, char text[HELD_TEXT]);

/* Write the instruction for a machine that has moved no card for too long. */
void silent_text(char text[HELD_TEXT]);

#endif
