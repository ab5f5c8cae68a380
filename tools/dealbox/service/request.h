/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A method call to dealboxd: request_new(), append the arguments, request_send() or request_ask(),
 * read the results, request_end().
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <systemd/sd-bus.h>

#define SERVICE_NAME	"io.dealbox1"
#define MANAGER_PATH	"/io/dealbox1"

struct request {
	sd_bus_message *call;	/* for arguments */
	sd_bus_message *reply;	/* for results */
	sd_bus_error error;	/* of the service, if it refused the call */
};

/*
 * Create a call to the object at path. interface is the last part of its name ("Job"). Returns 0 or
 * -errno. Call request_end() in any case.
 */
int request_new(struct request *r, sd_bus *bus, const char *path, const char *interface,
		const char *method);

/* The same for the Manager. */
int request_manager(struct request *r, sd_bus *bus, const char *method);

/* Send the call and wait for the results. Returns 0, or -errno, and then error may be set. */
int request_send(struct request *r);

/* The same with a long time limit, since polkit may ask the user for a password. */
int request_ask(struct request *r);

void request_end(struct request *r);

#endif
