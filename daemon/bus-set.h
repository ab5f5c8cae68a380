/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sets that clients give: a file of deals becomes boards, and how many a user may give.
 */
#ifndef DAEMON_BUS_SET_H
#define DAEMON_BUS_SET_H

#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-bus.h>

#include <dealbox/ledger.h>

#include "service.h"

/*
 * Reads the boards of a file of deals, of any format, in which no problem is found; pack "" is any.
 * 0 or more, or -errno, or *error is set. boards_free() in any case.
 */
int read_boards(int fd, const char *pack, struct dealbox_ledger_board **boards, size_t *count,
		sd_bus_error *error);
/* Wipes and frees them. */
void boards_free(struct dealbox_ledger_board *boards, size_t count);
/* May the sender give so many boards now? 0, or *error is set. */
int may_ask(sd_bus_message *m, struct service *s, size_t boards, sd_bus_error *error);

#endif
