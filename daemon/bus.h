/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the bus share: who may do what, and the words for what was refused.
 */
#ifndef DAEMON_BUS_H
#define DAEMON_BUS_H

#include <stdint.h>

#include <systemd/sd-bus.h>

#include "job.h"
#include "service.h"
#include "stations.h"
#include "texts.h"

#define ROOT		"/io/dealbox1"
#define MACHINES	ROOT "/machine"
#define JOBS		ROOT "/job"

#define INSERTIONS_MAX	100000	/* in a reply: dbus-daemon hangs up on one above 32 MiB */

#define ERROR(name)	"io.dealbox1.Error." name

/* What is done when the sender may: 1 when it has replied, or -errno, or with *error. */
typedef int (*deed_fn)(sd_bus_message *m, struct service *s, sd_bus_error *error);

/* ---- bus-calls.c ---- */
/* The queue of calls, once the bus is there. 0 or -errno. */
int calls_open(struct service *s);
void calls_close(struct service *s);
/* Does it once polkit has said that the sender may: io.dealbox1.ACTION. */
int authorize(sd_bus_message *m, struct service *s, const char *action, deed_fn deed);
/* Whose the call is that has its turn. */
uint32_t sender_uid(sd_bus_message *m);
/* Writes down, once it is known who it was, that a call has stopped a machine, or all. */
void calls_stopped(struct service *s, sd_bus_message *m);

/* A method: which action of polkit it needs, and what it does. */
#define METHOD(function, action) \
static int function##_call(sd_bus_message *m, void *context, sd_bus_error *error) \
{ \
	(void)error; \
	return authorize(m, context, action, function); \
}

/* Writes down who did it. 0, or *error is set. */
int record_act(struct service *s, sd_bus_message *m, struct dealbox_ledger_act *act,
	       sd_bus_error *error);

/* Sends and frees a reply that was made without err (>= 0); gives err, or what sending gives. */
int send_reply(sd_bus_message *reply, int err);

/* A number of any type that D-Bus has. */
int append_number(sd_bus_message *reply, char type, uint64_t number);

/* ---- bus-reveal.c: GetSet and GetTraces, for whom polkit lets see cards ---- */
int reveal_set(sd_bus_message *m, struct service *s, sd_bus_error *error);
int reveal_traces(sd_bus_message *m, struct service *s, sd_bus_error *error);

/* ---- bus-machine.c ---- */
extern const sd_bus_vtable machine_vtable[];
/* The machine that this object is; NULL: none, as the manager's is. */
struct station *machine_at(const struct service *s, const char *path);
/* Signals of the object of a machine. */
void machine_added(struct station *station);
void machine_changed(struct station *station, bool state);
int find_station(sd_bus *bus, const char *path, const char *interface, void *context, void **found,
		 sd_bus_error *error);
int list_stations(sd_bus *bus, const char *prefix, void *context, char ***nodes,
		  sd_bus_error *error);
/* The emergency stop, of one machine or of all. */
int stop_all(sd_bus_message *m, void *context, sd_bus_error *error);

/* ---- bus.c ---- */
int bus_open(struct service *service);
/* A subscriber: sends what has changed as D-Bus signals. */
void bus_notice(struct service *service, const struct notice *notice);
void bus_close(struct service *service);

#endif
