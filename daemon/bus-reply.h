/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the objects on the bus share: their names, replies and errors, and what a name may be.
 */
#ifndef DAEMON_BUS_REPLY_H
#define DAEMON_BUS_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-bus.h>

#include "service.h"

#define ROOT		"/io/dealbox1"
#define MACHINES	ROOT "/machine"
#define JOBS		ROOT "/job"

#define INSERTIONS_MAX	100000	/* in a reply: dbus-daemon hangs up on one above 32 MiB */

#define ERROR(name)	"io.dealbox1.Error." name

/* Appends a number of any type that D-Bus has. */
int append_number(sd_bus_message *reply, char type, uint64_t number);
/* Sends and frees a reply that was made without err (>= 0); gives err, or what sending gives. */
int send_reply(sd_bus_message *reply, int err);
/* Sets *error to what the ledger says of its last error, which is err; gives what a method returns. */
int ledger_error(struct service *s, int err, sd_bus_error *error);
/* Is it fit to stand on terminals, as the name of a session or a machine? */
bool is_name(const char *text);

#endif
