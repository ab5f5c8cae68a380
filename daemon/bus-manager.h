/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The service on the bus: io.dealbox1.Manager.
 */
#ifndef DAEMON_BUS_MANAGER_H
#define DAEMON_BUS_MANAGER_H

#include <systemd/sd-bus.h>

#include "service.h"

extern const sd_bus_vtable manager_vtable[];
/* A signal: panel_state() may have changed. */
void manager_panel_changed(struct service *s);

#endif
