/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The D-Bus object of the event: io.dealbox1.Event. It is there if the settings name an event. */
#ifndef DAEMON_BUS_EVENT_H
#define DAEMON_BUS_EVENT_H

#include <systemd/sd-bus.h>

#include "service.h"

extern const sd_bus_vtable event_vtable[];
/* Emit PropertiesChanged. */
void event_changed(struct service *s);

#endif
