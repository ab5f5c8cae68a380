/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hotplug of machines: open and close them, and back off from those that cannot be opened, are in
 * use, or are out of order. Times are in us of monotonic_us().
 */
#ifndef DAEMON_STATION_HOTPLUG_H
#define DAEMON_STATION_HOTPLUG_H

#include <stdbool.h>
#include <stdint.h>

#include "station.h"

/*
 * Open the connected machines that are not open yet, including the emulators of the settings.
 * Returns false if end was reached before all were tried.
 */
bool machines_look(struct service *service, uint64_t end);
/* The same for emulators only: no event announces them. */
bool emulators_look(struct service *service, uint64_t end);
/* Return true if an emulator of the settings is neither open nor has a back-off entry. */
bool emulator_missing(const struct service *service);
/* Retry the machines whose back-off has expired, until end. */
void machines_retry(struct service *service, uint64_t now, uint64_t end);
/* Return when to call machines_retry() next, UINT64_MAX for never. */
uint64_t machines_next_retry(const struct service *service);
/* End the back-off of machines at this port, so that they are retried at once. */
void machines_retry_port(struct service *service, const char *port);
/* Drop the back-off entry of an address: the machine works, or is unplugged. */
void station_answered(struct service *service, const char *uri);
/* Close the machine if it is open, and log the reason. */
void station_close(struct station *station, const char *why);
/* Close a machine that is out of order, and back off from it. */
void station_give_up(struct station *station);
/* Drop all back-off entries. */
void machines_forget(struct service *service);

#endif
