/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the commands reach dealboxd: its objects, with all their properties, as JSON.
 */
#ifndef SERVICE_H
#define SERVICE_H

#include <systemd/sd-bus.h>

#include "tool.h"

struct json_object;

/* The system bus, with the service on it. NULL when there is none: that has been said. */
sd_bus *service_open(void);

/* The same, and nothing is said. */
sd_bus *service_find(void);

/*
 * The objects of an interface ("Machine", "Job"), as a JSON array of objects that have the
 * properties in lower case, and "path". The caller drops it. NULL: it has been said why.
 */
struct json_object *service_objects(sd_bus *bus, const char *interface);

/*
 * Takes a PropertiesChanged signal into the objects that service_objects() gave. The object
 * that it is about, NULL if it is not among them.
 */
struct json_object *service_changed(struct json_object *objects, sd_bus_message *m);

/* Says what the service refused, in its own words; err is what the call returned. */
void service_refused(const sd_bus_error *error, int err);

/* Calls a method without arguments. False: it has been said why. */
bool service_call(sd_bus *bus, const char *path, const char *interface, const char *method);

/* Text and number of a property; "" and 0 if there is none. */
const char *service_text(struct json_object *object, const char *name);
int64_t service_number(struct json_object *object, const char *name);

/* Writes each object of the array as one line of JSON, and drops the array. */
void service_say(struct json_object *array);

#endif
