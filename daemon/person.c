// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdarg.h>

#include "person.h"

#define LOGIND		"org.freedesktop.login1"
#define ANSWER_US	5000000

/* Ends the search, which may be called for by the answer that is being handled. */
static int found(struct person *person, uint32_t uid)
{
	person_forget(person);
	person->found(person->context, uid);
	return 0;
}

static int ask(struct person *person, sd_bus_message_handler_t callback, const char *service,
	       const char *path, const char *interface, const char *member, const char *types, ...)
{
	sd_bus_message *m = NULL;
	va_list arguments;
	int err;

	person_forget(person);
	err = sd_bus_message_new_method_call(person->bus, &m, service, path, interface, member);
	va_start(arguments, types);
	if (err >= 0)
		err = sd_bus_message_appendv(m, types, arguments);
	va_end(arguments);
	if (err >= 0)
		err = sd_bus_call_async(person->bus, &person->slot, m, callback, person, ANSWER_US);
	sd_bus_message_unref(m);
	return err < 0 ? err : 0;
}

static int on_owner(sd_bus_message *reply, void *context, sd_bus_error *unused)
{
	struct person *person = context;
	int there = 0;

	(void)unused;
	if (sd_bus_message_is_method_error(reply, NULL) ||
	    sd_bus_message_read(reply, "b", &there) < 0)
		there = 0;
	return found(person, there ? person->uid : 0);
}

/*
 * If the caller is still on the bus after logind has answered, its process lives, so its number
 * has not become another process's meanwhile.
 */
static int on_uid(sd_bus_message *reply, void *context, sd_bus_error *unused)
{
	struct person *person = context;

	(void)unused;
	if (sd_bus_message_is_method_error(reply, NULL) ||
	    sd_bus_message_read(reply, "v", "u", &person->uid) < 0 ||
	    ask(person, on_owner, "org.freedesktop.DBus", "/org/freedesktop/DBus",
		"org.freedesktop.DBus", "NameHasOwner", "s", person->sender))
		return found(person, 0);
	return 0;
}

static int on_user(sd_bus_message *reply, void *context, sd_bus_error *unused)
{
	struct person *person = context;
	const char *path;

	(void)unused;
	if (sd_bus_message_is_method_error(reply, NULL) ||
	    sd_bus_message_read(reply, "o", &path) < 0 ||
	    ask(person, on_uid, LOGIND, path, "org.freedesktop.DBus.Properties", "Get", "ss",
		LOGIND ".User", "UID"))
		return found(person, 0);
	return 0;
}

int person_find(struct person *person, sd_bus *bus, const char *sender, uint32_t pid,
		person_fn found_it, void *context)
{
	*person = (struct person){
		.bus = bus, .sender = sender, .found = found_it, .context = context
	};
	return ask(person, on_user, LOGIND, "/org/freedesktop/login1", LOGIND ".Manager",
		   "GetUserByPID", "u", pid);
}

void person_forget(struct person *person)
{
	person->slot = sd_bus_slot_unref(person->slot);
}
