/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The D-Bus objects of machines: io.dealbox1.Machine. */
#ifndef DAEMON_BUS_MACHINE_H
#define DAEMON_BUS_MACHINE_H

#include <stdbool.h>

#include <systemd/sd-bus.h>

#include "service.h"
#include "station.h"

extern const sd_bus_vtable machine_vtable[];
/* Callbacks for sd_bus_add_fallback_vtable() and sd_bus_add_node_enumerator() */
int find_station(sd_bus *bus, const char *path, const char *interface, void *context, void **found,
		 sd_bus_error *error);
int list_stations(sd_bus *bus, const char *prefix, void *context, char ***nodes,
		  sd_bus_error *error);
/* The method Stop of Machine and Manager: stops one machine or all. Needs no authorization. */
int stop_all(sd_bus_message *m, void *context, sd_bus_error *error);
/* Emit InterfacesAdded. */
void machine_added(struct station *station);
/* Emit PropertiesChanged for all properties that change (state), or for Cards only. */
void machine_changed(struct station *station, bool state);

#endif
