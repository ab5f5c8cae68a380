/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Machines on the bus: io.dealbox1.Machine.
 */
#ifndef DAEMON_BUS_MACHINE_H
#define DAEMON_BUS_MACHINE_H

#include <stdbool.h>

#include <systemd/sd-bus.h>

#include "service.h"
#include "station.h"

extern const sd_bus_vtable machine_vtable[];
/* As sd_bus_add_fallback_vtable() and sd_bus_add_node_enumerator() want them. */
int find_station(sd_bus *bus, const char *path, const char *interface, void *context, void **found,
		 sd_bus_error *error);
int list_stations(sd_bus *bus, const char *prefix, void *context, char ***nodes,
		  sd_bus_error *error);
/* The emergency stop, of one machine or of all: a method of Machine and of Manager. Nobody is asked. */
int stop_all(sd_bus_message *m, void *context, sd_bus_error *error);
/* Signals: its object was added; its properties (or only Cards) may have changed. */
void machine_added(struct station *station);
void machine_changed(struct station *station, bool state);

#endif
