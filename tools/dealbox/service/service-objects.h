/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Access to dealboxd: its objects, with all their properties, as JSON. */
#ifndef SERVICE_H
#define SERVICE_H

#include "request.h"
#include "ui/tool.h"

struct json_object;

/* Values of --machine: one address, or ids of machines of the service. Zeroes if none was given. */
#define WANTED_MAX	64
#define PRIORITY_MAX	99
struct wanted {
	const char *uri;
	const char *ids[WANTED_MAX + 1];	/* terminated by NULL */
};

/* Add the value of a --machine. Returns false after reporting an error. */
bool wanted_add(const struct args *args, struct wanted *wanted, const char *value);

/* Report that an id cannot be used without the service. */
enum status wanted_refuse(const struct wanted *wanted);

/*
 * Return true if the service has one of the wanted machines, or any machine if none was given.
 * Reports the missing ones. machines is from service_objects().
 */
bool wanted_there(const struct wanted *wanted, struct json_object *machines);

/* Append the ids as an option of AddJob or AddCapture to a{sv}. Appends nothing without ids. */
int wanted_append(sd_bus_message *m, const struct wanted *wanted);

/* Return true if the machine with this id, or any machine (NULL), is plugged in. */
bool service_present(struct json_object *machines, const char *id);

/* Return true if the array of strings called name contains text. */
bool service_has(struct json_object *object, const char *name, const char *text);

/* Connect to the system bus. Returns NULL, after reporting it, if the service is not running. */
sd_bus *service_open(void);

/* The same without a report. */
sd_bus *service_find(void);

/*
 * Read the objects of an interface ("Machine", "Job") as a JSON array. Each has the properties,
 * with names in snake_case, and "path". The caller puts it. Returns NULL after reporting an error.
 */
struct json_object *service_objects(sd_bus *bus, const char *interface);

/*
 * Find a machine by its id, in what service_objects() read. Returns NULL after reporting that there
 * is none.
 */
struct json_object *service_machine(struct json_object *machines, const char *id);

/*
 * Apply a PropertiesChanged signal to objects from service_objects(). Returns the changed object,
 * NULL if it is not among them.
 */
struct json_object *service_changed(struct json_object *objects, sd_bus_message *m);

/* Report the error of the service, or err, the first -errno of the request. */
void service_refused(const struct request *r, int err);

/* The same. Returns the exit status for it. */
enum status service_error(const struct request *r, int err);

/*
 * Call a method, with arguments as for sd_bus_message_append(). Reports an error, and returns the
 * exit status for it.
 */
enum status service_call(sd_bus *bus, const char *path, const char *interface, const char *method,
			 const char *types, ...);

/* Return a property as text or number; "" or 0 if there is none. */
const char *service_text(struct json_object *object, const char *name);
int64_t service_number(struct json_object *object, const char *name);

/*
 * Write what the operator of a machine, from service_objects(), is told: in that language, or as
 * the service says it (NULL). A state that this program does not know is told as the service says
 * it.
 */
void service_instruction(struct json_object *machine, const char *language, char *text,
			 size_t size);

/* Read a{sv} as JSON, which the caller puts. NULL: it is not there. */
struct json_object *service_facts(sd_bus_message *m);

/*
 * Read the facts of the signal Verdict. Returns false if this program does not know their kind or
 * one of their words.
 */
struct dealbox_operator_verdict;
bool service_verdict(struct json_object *facts, struct dealbox_operator_verdict *verdict);

/* Return true if the job, from service_objects(), is a capture. */
bool service_captures(struct json_object *job);

/* Write the default name of a session, the date, to today and return it. */
#define SESSION_TODAY	16
const char *session_today(char today[SESSION_TODAY]);

/*
 * Print an object, from service_objects(), as a line of JSON. kind: "machine" or "job". Keys are
 * those of docs/json.md.
 */
void service_object_say(struct json_object *object, const char *kind);

/* The same for each object of the array, which it puts. */
void service_say(struct json_object *array, const char *kind);

#endif
