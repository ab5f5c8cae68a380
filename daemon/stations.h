/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All machines: reading their events, scheduling their steps, and the emergency stop. */
#ifndef DAEMON_STATIONS_H
#define DAEMON_STATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "station.h"

/* Start looking for machines. Returns 0 or -errno. */
int stations_open(struct service *service);
/*
 * Schedule a look for machines. If port is not NULL, udev reported a change there, so end the
 * back-off of machines at that port.
 */
void stations_seek(struct service *service, const char *port);
/* Run the next steps of all engines. Call it whenever something has changed. */
void stations_run(struct service *service);
/* Schedule stations_run() for when the caller has returned to the event loop. */
void stations_run_later(struct service *service);
/*
 * Emergency stop of one machine, or of all (NULL). It only stops; stations_run() is scheduled. If
 * it returns true, something was stopped; record that by stations_stopped(), with the user,
 * DEALBOX_UID_NONE (a button) or DEALBOX_UID_UNKNOWN.
 */
bool stations_stop(struct service *service, const struct station *only);
void stations_stopped(struct service *service, const struct station *only, uint32_t uid);
void stations_free(struct service *service);

#endif
