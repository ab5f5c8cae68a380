/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All machines: when each is read, whose turn it is to do its next steps, and the emergency stop.
 */
#ifndef DAEMON_STATIONS_H
#define DAEMON_STATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "station.h"

/* Begins to look for machines. 0 or -errno. */
int stations_open(struct service *service);
/*
 * Looks soon which machines there are. udev has news of that port (NULL: of none, or any): a
 * machine there is tried again, however often it was refused.
 */
void stations_seek(struct service *service, const char *port);
/* Lets every engine do what it can; called whenever something has changed. */
void stations_run(struct service *service);
/* The same, from the loop, when the caller has returned. */
void stations_run_later(struct service *service);
/*
 * The emergency stop of one machine or (NULL) of all. It only acts; stations_run() follows, by
 * itself. If true, something was stopped by it, and stations_stopped() writes down who did it:
 * the user, DEALBOX_UID_NONE (a button) or DEALBOX_UID_UNKNOWN.
 */
bool stations_stop(struct service *service, const struct station *only);
void stations_stopped(struct service *service, const struct station *only, uint32_t uid);
void stations_free(struct service *service);

#endif
