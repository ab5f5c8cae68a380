/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs that deal on a host-routed machine, by the module or by libusb. Both deal by the
 * same plan, start the next deal as soon as a board is there, and end with status 3 when
 * anything but good deals happens.
 */
#ifndef BENCH_ROUTE_HOST_H
#define BENCH_ROUTE_HOST_H

#include <stdbool.h>

#include "wire.h"

#define PLAN_ID		1
#define PLAN_CARDS	52

/* Card n goes into pocket n modulo 4. */
void host_plan(struct wire_plan *plan);

/* By /dev/dealbox0: the module answers the cards. */
void host_module(unsigned int deals);
/*
 * By libusb, without the module, which is put off for that time. Transfers wait in the kernel
 * before they are needed. fifo: with a real-time priority and locked memory.
 */
void host_libusb(unsigned int deals, bool fifo);

#endif
