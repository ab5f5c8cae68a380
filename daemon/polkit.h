/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who may do what: polkit is asked, without waiting for it.
 */
#ifndef DAEMON_POLKIT_H
#define DAEMON_POLKIT_H

#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-bus.h>

/*
 * Asks whether the sender of the call may do io.dealbox1.ACTION. The callback is given the answer,
 * for polkit_allows(), or an error; it is not called any more once *slot has been freed. 0 or -errno.
 */
int polkit_ask(sd_bus *bus, sd_bus_slot **slot, sd_bus_message *call, const char *sender,
	       const char *action, sd_bus_message_handler_t callback, void *context);
/*
 * Does the answer allow it? Without polkit it depends on the user, and on whether he is a member of
 * the group that the service runs as.
 */
bool polkit_allows(sd_bus_message *reply, const char *action, uint32_t uid, bool member);

#endif
