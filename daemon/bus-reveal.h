/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GetSet and GetTraces of io.dealbox1.Manager, which tell deals: sets and traces, as files, to the few
 * who may see them. It is recorded before it is done. Nothing of it is in a message, which others
 * could listen to.
 */
#ifndef DAEMON_BUS_REVEAL_H
#define DAEMON_BUS_REVEAL_H

#include <systemd/sd-bus.h>

#include "service.h"

int reveal_set(sd_bus_message *m, struct service *s, sd_bus_error *error);
int reveal_traces(sd_bus_message *m, struct service *s, sd_bus_error *error);

#endif
