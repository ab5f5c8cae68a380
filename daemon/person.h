/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The person behind a caller who is root: sudo, pkexec and Cockpit make a person root. */
#ifndef DAEMON_PERSON_H
#define DAEMON_PERSON_H

#include <stdint.h>

#include <systemd/sd-bus.h>

/* Called once with the number of the user who logged in, or 0 if nobody is known. */
typedef void (*person_fn)(void *context, uint32_t uid);

/* A search for a person. All fields are person.c's. */
struct person {
	sd_bus *bus;
	sd_bus_slot *slot;
	const char *sender;
	person_fn found;
	void *context;
	uint32_t uid;
};

/*
 * Ask logind in whose session the root process pid runs. That needs no view of other users'
 * processes, and only root can move a process to another user's session. sender is the process's
 * name on the bus, and must stay valid until found() has been called or person_forget().
 * Returns 0, or -errno if nothing could be asked; then found() is not called.
 */
int person_find(struct person *person, sd_bus *bus, const char *sender, uint32_t pid,
		person_fn found, void *context);
/* End a search. found() is not called any more. */
void person_forget(struct person *person);

#endif
