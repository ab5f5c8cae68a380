/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GetSet and GetTraces of io.dealbox1.Manager, which reveal deals to the few users who may see
 * them. The act is recorded in the ledger first. Sets and traces are passed as files, since others
 * may monitor the messages.
 */
#ifndef DAEMON_BUS_REVEAL_H
#define DAEMON_BUS_REVEAL_H

#include <systemd/sd-bus.h>

#include "service.h"

/*
 * Return the polkit action that reveal_set() needs: "deal" for a set whose deals are no secret by
 * dealbox_ledger_secret(), otherwise "reveal".
 */
const char *to_reveal_set(sd_bus_message *m, struct service *s);
int reveal_set(sd_bus_message *m, struct service *s, sd_bus_error *error);
int reveal_traces(sd_bus_message *m, struct service *s, sd_bus_error *error);

#endif
