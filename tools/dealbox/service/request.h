/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One call of a method of dealboxd: request_new(), the arguments, request_send() or request_ask(),
 * the results, request_end().
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <systemd/sd-bus.h>

#define SERVICE_NAME	"io.dealbox1"
#define MANAGER_PATH	"/io/dealbox1"

struct request {
	sd_bus_message *call;	/* arguments go to it */
	sd_bus_message *reply;	/* .. and results come from it */
	sd_bus_error error;	/* what the service refused */
};

/*
 * Begins a call of the object at path; the interface is named without the service's name ("Job").
 * 0, or a negative errno. request_end() in any case.
 */
int request_new(struct request *r, sd_bus *bus, const char *path, const char *interface,
		const char *method);

/* The same to the Manager. */
int request_manager(struct request *r, sd_bus *bus, const char *method);

/* Sends it and waits for the results. 0, or a negative errno, and then error may tell more. */
int request_send(struct request *r);

/* The same, where polkit may ask somebody for a password: waits as long as that may take. */
int request_ask(struct request *r);

void request_end(struct request *r);

#endif
