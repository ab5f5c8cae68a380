/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events of a machine as JSON, and recorded traces: JSON lines, one object each.
 * docs/man/dealbox-trace.5 describes the format.
 */
#ifndef EVENTS_H
#define EVENTS_H

#include <stdbool.h>
#include <stdio.h>

#include <dealbox/machine.h>

struct json_object;

/*
 * An event as a new JSON object. What tells a card (its number, and what the
 * reader saw of it) is left out unless reveal. NULL = out of memory.
 */
struct json_object *event_to_json(const struct dealbox_event *event, bool reveal);

/* An event that was written with reveal. False: it is none. */
bool event_from_json(struct json_object *object, struct dealbox_event *out);

/* One line for a person, without its end; same secrecy. */
void event_to_text(const struct dealbox_event *event, bool reveal, char *text, size_t size);

/* Does the event belong to the stops that put the board in doubt? */
bool event_voids(const struct dealbox_event *event);

/* Does the event belong to the stops after which the deal can go on? */
bool event_holds(const struct dealbox_event *event);

#endif
