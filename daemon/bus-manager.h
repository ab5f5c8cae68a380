/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The D-Bus object of the service: io.dealbox1.Manager. */
#ifndef DAEMON_BUS_MANAGER_H
#define DAEMON_BUS_MANAGER_H

#include <systemd/sd-bus.h>

#include "service.h"

extern const sd_bus_vtable manager_vtable[];
/* Emit PropertiesChanged for Panel: panel_state() may have changed. */
void manager_panel_changed(struct service *s);

#endif
