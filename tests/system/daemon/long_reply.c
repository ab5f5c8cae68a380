// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A reply that takes as long as the file $LONG_REPLY is there, which names its method: whoever
 * looks at the bus between the beginning of the reply and its end, looks until then. Makes
 * $LONG_REPLY.looks. To be preloaded.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <systemd/sd-bus.h>

#define SHOWN	__attribute__((visibility("default")))

static int replying;

/* Return true if the file names that method. */
static int named(const char *member)
{
	const char *name = getenv("LONG_REPLY");
	FILE *file = name ? fopen(name, "re") : NULL;
	char method[64] = "";

	if (!file)
		return 0;
	if (!fgets(method, sizeof(method), file))
		*method = '\0';
	fclose(file);
	return member && !strcmp(method, member);
}

SHOWN int sd_bus_message_new_method_return(sd_bus_message *call, sd_bus_message **reply)
{
	int (*real)(sd_bus_message *, sd_bus_message **) =
		(int (*)(sd_bus_message *,
			 sd_bus_message **))dlsym(RTLD_NEXT, "sd_bus_message_new_method_return");

	replying |= named(sd_bus_message_get_member(call));
	return real(call, reply);
}

SHOWN int sd_bus_send(sd_bus *bus, sd_bus_message *message, uint64_t *cookie)
{
	int (*real)(sd_bus *, sd_bus_message *, uint64_t *) =
		(int (*)(sd_bus *, sd_bus_message *, uint64_t *))dlsym(RTLD_NEXT, "sd_bus_send");

	replying = 0;
	return real(bus, message, cookie);
}

SHOWN int sd_bus_process(sd_bus *bus, sd_bus_message **message)
{
	int (*real)(sd_bus *, sd_bus_message **) =
		(int (*)(sd_bus *, sd_bus_message **))dlsym(RTLD_NEXT, "sd_bus_process");
	const char *file = getenv("LONG_REPLY");
	char looks[4096];
	int did;

	if (!replying || !file)
		return real(bus, message);
	/* a Stop that is executed meanwhile is answered, and that ends no reply but its own */
	snprintf(looks, sizeof(looks), "%s.looks", file);
	close(open(looks, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	do {
		did = real(bus, message);
		if (!did)
			usleep(1000);
	} while (!access(file, F_OK));
	return did;
}
