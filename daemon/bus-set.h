/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Deal files from clients: conversion to boards, and the limit of boards per user. */
#ifndef DAEMON_BUS_SET_H
#define DAEMON_BUS_SET_H

#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-bus.h>

#include <dealbox/ledger.h>

#include "service.h"

/*
 * Read the boards of a deal file of any format. pack "" means any pack. A file with a problem is
 * refused. Returns >= 0, or -errno with or without *error set. Call boards_free() in any case.
 */
int read_boards(int fd, const char *pack, struct dealbox_ledger_board **boards, size_t *count,
		sd_bus_error *error);
/* Wipe and free the boards. */
void boards_free(struct dealbox_ledger_board *boards, size_t count);
/* Check the sender's limit of boards. Returns 0, or a negative value with *error set. */
int may_ask(sd_bus_message *m, struct service *s, size_t boards, sd_bus_error *error);

#endif
