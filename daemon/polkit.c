// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <string.h>

#include "polkit.h"

#define ANSWER_US	(120 * 1000000ULL)	/* the user may have to type a password */

int polkit_ask(sd_bus *bus, sd_bus_slot **slot, sd_bus_message *call, const char *sender,
	       const char *action, sd_bus_message_handler_t callback, void *context)
{
	const bool interactive = sd_bus_message_get_allow_interactive_authorization(call) > 0;
	sd_bus_message *ask = NULL;
	char name[64];
	int err;

	snprintf(name, sizeof(name), "io.dealbox1.%s", action);
	err = sd_bus_message_new_method_call(bus, &ask, "org.freedesktop.PolicyKit1",
					     "/org/freedesktop/PolicyKit1/Authority",
					     "org.freedesktop.PolicyKit1.Authority",
					     "CheckAuthorization");
	if (err >= 0)
		err = sd_bus_message_append(ask, "(sa{sv})sa{ss}us",
					    "system-bus-name", 1, "name", "s", sender,
					    name, 0, interactive, "");
	if (err >= 0)
		err = sd_bus_call_async(bus, slot, ask, callback, context, ANSWER_US);
	sd_bus_message_unref(ask);
	return err < 0 ? err : 0;
}

/*
 * If polkit is not installed, allow members of the service's group what 50-dealbox.rules allows
 * them. If it is installed and fails, allow root only.
 */
static bool may_without_polkit(sd_bus_message *reply, const char *action, uint32_t uid, bool member)
{
	static const struct {
		const char *action;
		bool everybody;
	} rows[] = {
		{ "status", true }, { "deal" }, { "manage" },
	};
	size_t n;

	if (uid == 0)
		return true;
	if (!sd_bus_message_is_method_error(reply, SD_BUS_ERROR_SERVICE_UNKNOWN) &&
	    !sd_bus_message_is_method_error(reply, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
		return false;
	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++)
		if (!strcmp(action, rows[n].action))
			return rows[n].everybody || member;
	return false;
}

bool polkit_allows(sd_bus_message *reply, const char *action, uint32_t uid, bool member)
{
	int authorized, challenge;

	if (sd_bus_message_is_method_error(reply, NULL))
		return may_without_polkit(reply, action, uid, member);
	return sd_bus_message_enter_container(reply, 'r', "bba{ss}") >= 0 &&
	       sd_bus_message_read(reply, "bb", &authorized, &challenge) >= 0 && authorized;
}
