/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The D-Bus interface of the service, io.dealbox1. polkit authorizes the methods, without blocking
 * the service; the emergency stop needs no authorization. Signals, properties and errors never
 * contain a card.
 */
#ifndef DAEMON_BUS_H
#define DAEMON_BUS_H

#include "notice.h"

struct service;

/*
 * Connect to the bus, add the objects, and acquire the name. Returns 0, or -errno, which is logged.
 */
int bus_open(struct service *service);
/* Subscriber of notices: emits D-Bus signals. */
void bus_notice(struct service *service, const struct notice *notice);
void bus_close(struct service *service);

#endif
