/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events and verdicts as JSON and as text. dealbox(1) describes it. */
#ifndef EVENTS_H
#define EVENTS_H

#include <stdbool.h>
#include <stdio.h>

#include <dealbox/machine.h>
#include <dealbox/verify.h>

struct json_object;

/*
 * An event as a new JSON object. What tells a card (its number, and what the
 * reader saw of it) is left out unless reveal. NULL = out of memory.
 */
struct json_object *event_to_json(const struct dealbox_event *event, bool reveal);

/* An event that was written with reveal. False: it is none. */
bool event_from_json(struct json_object *object, struct dealbox_event *out);

/* A difference of a verdict as a new JSON object; its card only with reveal. */
struct json_object *difference_to_json(const struct dealbox_difference *difference, bool reveal);

/* One line for a person, without its end; same secrecy. */
void event_to_text(const struct dealbox_event *event, bool reveal, char *text, size_t size);

/* Returns true for a stop that puts the board in doubt. */
bool event_voids(const struct dealbox_event *event);

/* Returns true for a stop after which the deal can continue. */
bool event_holds(const struct dealbox_event *event);

/* The machine's own report of its state when a deal was stopped. */
const char *machine_stands(struct dealbox_machine *machine);

#define HELD_TEXT	512

/*
 * What the operator does about a stop after which the deal goes on, in the words of the library; cards
 * is how many the deal has, 0 = not known. It never names a card.
 */
void held_text(const struct dealbox_event *event, unsigned int cards, char text[HELD_TEXT]);

/* What he does when no card has moved for as long as one may take. */
void silent_text(char text[HELD_TEXT]);

#endif
