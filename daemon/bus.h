/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The service on the bus: io.dealbox1. Who may do what is asked of polkit, without waiting for it;
 * the emergency stop is asked of nobody. No card leaves by a signal, a property or an error.
 */
#ifndef DAEMON_BUS_H
#define DAEMON_BUS_H

#include "notice.h"

struct service;

/* Connects, adds the objects, and takes the name. 0 or -errno, logged. */
int bus_open(struct service *service);
/* A subscriber: sends what has changed as D-Bus signals. */
void bus_notice(struct service *service, const struct notice *notice);
void bus_close(struct service *service);

#endif
