/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading a machine: its events are kept in the trace of their insertion, told to its desk, and
 * looked through for what an operator may know of a deal that stopped.
 */
#ifndef DAEMON_STATION_EVENTS_H
#define DAEMON_STATION_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "station.h"

/*
 * Reads all events that were there when it began. How many, or -errno. *news (may be NULL): there
 * is one that the desk heeds.
 */
int station_read(struct station *station, bool *news);
/* The trace of that insertion; NULL: there is none. It lives until the next events are read. */
struct dealbox_trace *station_trace(const struct station *station, uint32_t insertion);
/* A deal begins: the number of cards and the reason of the last stop begin anew. */
void station_reset_progress(struct station *station);

#endif
