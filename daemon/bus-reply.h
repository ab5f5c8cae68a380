/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names, replies and errors shared by the D-Bus objects. */
#ifndef DAEMON_BUS_REPLY_H
#define DAEMON_BUS_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-bus.h>

#include "service.h"

#define ROOT		"/io/dealbox1"
#define MACHINES	ROOT "/machine"
#define JOBS		ROOT "/job"
#define EVENT		ROOT "/event"

#define INSERTIONS_MAX	100000	/* per reply: dbus-daemon disconnects senders of more than 32 MiB */

#define LOOK_EVERY	32	/* rows of the ledger between two calls of calls_look() */

#define ERROR(name)	"io.dealbox1.Error." name

/* Append a number as the D-Bus type given. Returns >= 0 or -errno. */
int append_number(sd_bus_message *reply, char type, uint64_t number);
/*
 * Append the entry of a dictionary a{sv}, unless the number is 0: unknown. With words, the text for
 * the number; a number that has none is unknown, too.
 */
int append_fact(sd_bus_message *reply, const char *key, uint32_t number, const char *const *words,
		size_t count);
/* The last two arguments of append_fact() */
#define WORDS(table)	(table), sizeof(table) / sizeof((table)[0])
/* The same words in all facts: of seats, and of the places of a jam. 0 is unknown. */
extern const char *const seat_words[5];
extern const char *const place_words[5];
/* If err >= 0, send the reply. Frees it in any case. Returns err, or the result of sending. */
int send_reply(sd_bus_message *reply, int err);
/* Set *error from the ledger's last error, err. Returns a value for the method to return. */
int ledger_error(struct service *s, int err, sd_bus_error *error);
/* Return true for a valid name of a session or machine, which is safe to print on a terminal. */
bool is_name(const char *text);
/*
 * Check the ids of the machines that a job is kept to, terminated by NULL. Returns 0, or a negative
 * value with *error set.
 */
int check_machines(char *const *machines, sd_bus_error *error);

#endif
