/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the commands reach dealboxd: its objects, with all their properties, as JSON.
 */
#ifndef SERVICE_H
#define SERVICE_H

#include "request.h"
#include "ui/tool.h"

struct json_object;

/* --machine: the address of one, or ids of machines of the service; zeros: none is named. */
#define WANTED_MAX	64
#define PRIORITY_MAX	99
struct wanted {
	const char *uri;
	const char *ids[WANTED_MAX + 1];	/* ends with NULL */
};

/* Takes the value of one --machine. False, and said, when it does not fit to those before. */
bool wanted_add(const struct args *args, struct wanted *wanted, const char *value);

/* Says that an id means nothing without the service. */
enum status wanted_refuse(const struct wanted *wanted);

/*
 * Has the service one of the machines that are wanted, or any if none is? Those that are not
 * there are named; false, and said, when there is none. machines are its objects.
 */
bool wanted_there(const struct wanted *wanted, struct json_object *machines);

/* The same ids as an option of AddJob or AddCapture, within a{sv}; nothing without ids. */
int wanted_append(sd_bus_message *m, const struct wanted *wanted);

/* Is the machine of that id (NULL: any) among these objects, and plugged in? */
bool service_present(struct json_object *machines, const char *id);

/* Is the text among the strings of that array of the object? */
bool service_has(struct json_object *object, const char *name, const char *text);

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

/* Says what the service refused, in its own words; err is what went wrong first with the request. */
void service_refused(const struct request *r, int err);

/* The same; and what it means for the caller. */
enum status service_error(const struct request *r, int err);

/* Calls a method, with arguments as sd_bus_message_append() has them. False: it has been said why. */
bool service_call(sd_bus *bus, const char *path, const char *interface, const char *method,
		  const char *types, ...);

/* Text and number of a property; "" and 0 if there is none. */
const char *service_text(struct json_object *object, const char *name);
int64_t service_number(struct json_object *object, const char *name);

/* Does the job, one of service_objects(), read boards instead of dealing them? */
bool service_captures(struct json_object *job);

/* The session of a set, when none was named: the date, in today. */
#define SESSION_TODAY	16
const char *session_today(char today[SESSION_TODAY]);

/* Writes each object of the array as one line of JSON, and drops the array. */
void service_say(struct json_object *array);

#endif
