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

/* Print an event as a line for programs. */
void event_say_json(const struct dealbox_event *event, bool reveal);

/* Parse an event that was written with reveal. Returns false if it is not valid. */
bool event_from_json(struct json_object *object, struct dealbox_event *out);

/*
 * Convert the differences of a verdict to a new JSON array, or print them, a line each. Without
 * reveal, omits cards and pockets, and tells of missing and misplaced cards only how many they are.
 * The array is empty if verdict is NULL. Sentences are in that language; NULL is English.
 */
struct json_object *differences_to_json(const struct dealbox_verdict *verdict, bool reveal,
					const char *language);
void differences_say(const struct dealbox_verdict *verdict, bool reveal, const char *language);

/* Write an event as a line for people, without line end. Shows cards only if reveal. */
void event_to_text(const struct dealbox_event *event, bool reveal, char *text, size_t size);

#endif
