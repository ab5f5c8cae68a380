/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that deal on a host-routed machine, through the module or through libusb. Both deal
 * the same plan, start the next deal as soon as a board is inserted, and end with status 3 if a
 * deal fails.
 */
#ifndef BENCH_ROUTE_HOST_H
#define BENCH_ROUTE_HOST_H

#include <stdbool.h>

#include "wire.h"

#define PLAN_ID		1
#define PLAN_CARDS	52

/* Card n goes into pocket n modulo 4. */
void host_plan(struct wire_plan *plan);

/* Deals through /dev/dealbox0: the module sends the gate commands. */
void host_module(unsigned int deals);
/*
 * Deals through libusb, while the module is detached. Transfers are submitted before they are
 * needed. fifo: with a real-time priority and locked memory.
 */
void host_libusb(unsigned int deals, bool fifo);

#endif
