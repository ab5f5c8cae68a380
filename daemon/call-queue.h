/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The queue of method calls: users, turns, and authorization by polkit. */
#ifndef DAEMON_CALL_QUEUE_H
#define DAEMON_CALL_QUEUE_H

#include <stdint.h>

#include <systemd/sd-bus.h>

#include "service.h"

/*
 * A method, called once the sender is authorized. Returns 1 if it replied, or -errno, or sets
 * *error.
 */
typedef int (*method_fn)(sd_bus_message *m, struct service *s, sd_bus_error *error);
/* Record an act of this user, or of DEALBOX_UID_UNKNOWN. */
typedef void (*record_fn)(struct service *s, sd_bus_message *m, uint32_t uid);

/* Start the queue, once the bus is connected. Returns 0 or -errno. */
int calls_open(struct service *s);
void calls_close(struct service *s);
/* Call method once polkit has authorized the sender for io.dealbox1.ACTION. */
int authorize(sd_bus_message *m, struct service *s, const char *action, method_fn method);
/* Return the user of the current call, or DEALBOX_UID_UNKNOWN: for limits and permissions. */
uint32_t sender_uid(sd_bus_message *m);
/*
 * The same for records: for a user who has become root, the one who logged in. 0 only if root
 * logged in, or if nobody is known to have.
 */
uint32_t sender_person(sd_bus_message *m);
/*
 * Return the time in us when the current call was read, before it waited for its turn or for
 * polkit.
 */
uint64_t call_arrived(void);
/* Record a call that was executed at once, as soon as its user is known. */
void calls_record(struct service *s, sd_bus_message *m, record_fn record);

/*
 * Execute a Stop, or the emergency stop of the panel, that has come meanwhile; queue other calls.
 * For what takes long: call it every few milliseconds, such as at each row that is read of the
 * ledger.
 */
void calls_look(struct service *s);

/*
 * Say why the call which is being executed needs the polkit action that it is going to ask for: who
 * is denied it is told so.
 */
void call_explain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Return the polkit action that the call which is being executed was granted. */
const char *call_action(void);

/* Define function_call(), which needs the polkit action and then calls function(). */
#define METHOD(function, action) \
static int function##_call(sd_bus_message *m, void *context, sd_bus_error *error) \
{ \
	(void)error; \
	return authorize(m, context, action, function); \
}

/* Record an act of the sender. Returns 0, or a negative value with *error set. */
int record_act(struct service *s, sd_bus_message *m, struct dealbox_ledger_act *act,
	       sd_bus_error *error);

#endif
