/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Authorization by polkit, without blocking. */
#ifndef DAEMON_POLKIT_H
#define DAEMON_POLKIT_H

#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-bus.h>

/*
 * Ask polkit to authorize the sender of a call for io.dealbox1.ACTION. The callback gets the
 * answer, for polkit_allows(), or an error. Free *slot to cancel it. Returns 0 or -errno.
 */
int polkit_ask(sd_bus *bus, sd_bus_slot **slot, sd_bus_message *call, const char *sender,
	       const char *action, sd_bus_message_handler_t callback, void *context);
/*
 * Return true if the answer authorizes the action. Without polkit, that depends on the user, and on
 * membership in the group that the service runs as.
 */
bool polkit_allows(sd_bus_message *reply, const char *action, uint32_t uid, bool member);

#endif
