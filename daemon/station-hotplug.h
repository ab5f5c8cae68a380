/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Machines that come and go: opening them, closing them, and backing off from those that cannot be
 * opened, are in use, or are out of order. Times are microseconds of monotonic_us().
 */
#ifndef DAEMON_STATION_HOTPLUG_H
#define DAEMON_STATION_HOTPLUG_H

#include <stdbool.h>
#include <stdint.h>

#include "station.h"

/*
 * Opens the machines that are there and not open yet, the emulators of the settings among them.
 * False: not all were tried, end has come.
 */
bool machines_look(struct service *service, uint64_t end);
/* The same of emulators only, which no event tells of. */
bool emulators_look(struct service *service, uint64_t end);
/* Is an emulator of the settings neither open nor backed off from? */
bool emulator_missing(const struct service *service);
/* Tries those machines again whose time has come by now. */
void machines_retry(struct service *service, uint64_t now, uint64_t end);
/* When to call machines_retry() next; UINT64_MAX: never. */
uint64_t machines_next_retry(const struct service *service);
/* Machines at this port are tried again at once, however often they were refused. */
void machines_retry_port(struct service *service, const char *port);
/* The machine at this address is in order, or is not there: drop its back-off entry. */
void station_answered(struct service *service, const char *uri);
/* Closes the machine, if it is open; why goes to the journal. */
void station_close(struct station *station, const char *why);
/* Closes a machine that is out of order, and backs off from it. */
void station_give_up(struct station *station);
/* Drops all back-off entries. */
void machines_forget(struct service *service);

#endif
