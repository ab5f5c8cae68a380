// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>

#include <dealbox/ledger.h>

#include "bus-reply.h"

#define MACHINES_MAX	64		/* machines that a job can name */

int append_number(sd_bus_message *reply, char type, uint64_t number)
{
	uint32_t narrow = number;

	return type == 't' ? sd_bus_message_append_basic(reply, type, &number) :
	       sd_bus_message_append_basic(reply, type, &narrow);
}

const char *const seat_words[5] = { "", "N", "E", "S", "W" };
const char *const place_words[5] = { "", "feeder", "reader", "gate", "pocket" };

int append_fact(sd_bus_message *reply, const char *key, uint32_t number, const char *const *words,
		size_t count)
{
	if (!number || (words && number >= count))
		return 0;
	return words ? sd_bus_message_append(reply, "{sv}", key, "s", words[number]) :
		       sd_bus_message_append(reply, "{sv}", key, "u", number);
}

int send_reply(sd_bus_message *reply, int err)
{
	if (err >= 0)
		err = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	return err;
}

int ledger_error(struct service *s, int err, sd_bus_error *error)
{
	const char *name = err == -EEXIST ? ERROR("Repeat") : err == -ENOENT ? ERROR("NotFound") :
			   err == -EBUSY ? ERROR("Busy") :
			   err == -EINVAL ? SD_BUS_ERROR_INVALID_ARGS : ERROR("Ledger");

	return sd_bus_error_set(error, name, dealbox_ledger_error(s->ledger)->what);
}

bool is_name(const char *text)
{
	size_t n;

	for (n = 0; text[n]; n++)
		if ((unsigned char)text[n] < 0x20 || text[n] == 0x7f ||
		    ((unsigned char)text[n] == 0xc2 && ((unsigned char)text[n + 1] & 0xe0) == 0x80))
			return false;
	return n && n < 128;
}

int check_machines(char *const *machines, sd_bus_error *error)
{
	size_t n;

	for (n = 0; machines && machines[n]; n++)
		if (!is_name(machines[n]))
			return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS,
						"the id of a machine must "
						"have 1 to 127 bytes, and no control characters");
	if (n > MACHINES_MAX)
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "a job can name %d machines", MACHINES_MAX);
	return 0;
}
