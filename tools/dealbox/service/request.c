// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>

#include "request.h"

/* the time that the service waits for polkit */
#define ASK_USEC	(120 * 1000000ULL)

int request_new(struct request *r, sd_bus *bus, const char *path, const char *interface,
		const char *method)
{
	char full[64];

	*r = (struct request){ .error = SD_BUS_ERROR_NULL };
	snprintf(full, sizeof(full), SERVICE_NAME ".%s", interface);
	return sd_bus_message_new_method_call(bus, &r->call, SERVICE_NAME, path, full, method);
}

int request_manager(struct request *r, sd_bus *bus, const char *method)
{
	return request_new(r, bus, MANAGER_PATH, "Manager", method);
}

/* usec is the time limit; 0 = default of sd-bus. */
static int send_within(struct request *r, uint64_t usec)
{
	int err = sd_bus_call(sd_bus_message_get_bus(r->call), r->call, usec, &r->error, &r->reply);

	return err < 0 ? err : 0;
}

int request_send(struct request *r)
{
	return send_within(r, 0);
}

int request_ask(struct request *r)
{
	int err = sd_bus_message_set_allow_interactive_authorization(r->call, 1);

	return err < 0 ? err : send_within(r, ASK_USEC);
}

void request_end(struct request *r)
{
	sd_bus_message_unref(r->call);
	sd_bus_message_unref(r->reply);
	sd_bus_error_free(&r->error);
}
