/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The queue of method calls: whose a call is, whose turn it is, and whether polkit allows it.
 */
#ifndef DAEMON_CALL_QUEUE_H
#define DAEMON_CALL_QUEUE_H

#include <stdint.h>

#include <systemd/sd-bus.h>

#include "service.h"

/* What a method does when the sender may: 1 when it has replied, or -errno, or with *error. */
typedef int (*method_fn)(sd_bus_message *m, struct service *s, sd_bus_error *error);
/* Records what a call has done, by that user or DEALBOX_UID_UNKNOWN. */
typedef void (*record_fn)(struct service *s, sd_bus_message *m, uint32_t uid);

/* The queue of calls, once the bus is there. 0 or -errno. */
int calls_open(struct service *s);
void calls_close(struct service *s);
/* Carries it out once polkit has said that the sender may: io.dealbox1.ACTION. */
int authorize(sd_bus_message *m, struct service *s, const char *action, method_fn method);
/* The user of the call that has its turn; DEALBOX_UID_UNKNOWN: the bus could not tell. */
uint32_t sender_uid(sd_bus_message *m);
/* Has a call that was carried out at once recorded, when it is known whose it was. */
void calls_record(struct service *s, sd_bus_message *m, record_fn record);

/* A method: which action of polkit it needs, and what it does. */
#define METHOD(function, action) \
static int function##_call(sd_bus_message *m, void *context, sd_bus_error *error) \
{ \
	(void)error; \
	return authorize(m, context, action, function); \
}

/* Records an act as that of the user who sent the call. 0, or *error is set. */
int record_act(struct service *s, sd_bus_message *m, struct dealbox_ledger_act *act,
	       sd_bus_error *error);

#endif
