// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox start, release, locate, test: the keys of the machines of the service, for who is not
 * beside them.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "service/service-objects.h"

#define LOCATE_DEFAULT	10	/* seconds */
#define TEST_DEFAULT	52	/* cards */

/*
 * Return the only machine that takes this key now; NULL after reporting that there is none, or
 * more.
 */
static struct json_object *machine_only(struct json_object *machines, const char *key,
					const char *waits)
{
	struct json_object *m, *found = NULL;
	size_t n, count = 0;

	for (n = 0; n < json_object_array_length(machines); n++) {
		m = json_object_array_get_idx(machines, n);
		if (!service_has(m, "keys", key))
			continue;
		found = m;
		count++;
	}
	if (count == 1)
		return found;
	complain(count ? "name those that are meant" :
			 "`dealbox status` says what each machine needs",
		 "%zu machines %s", count, waits);
	return NULL;
}

/* A command's action on one machine. It reports errors itself. */
typedef enum status each_machine(sd_bus *bus, struct json_object *machine, const void *context);

/* Call each() for the machines that are named, or for the only one that takes the key. */
static enum status machines_each(struct args *args, const char *key, const char *waits,
				 each_machine *each, const void *context)
{
	struct json_object *machines = NULL, *m;
	enum status status = STATUS_DONE, one;
	sd_bus *bus = service_open();
	int n;

	if (bus)
		machines = service_objects(bus, "Machine");
	if (!machines)
		status = STATUS_MACHINE;
	for (n = 0; machines && n < args->argc; n++) {
		m = service_machine(machines, args->argv[n]);
		one = m ? each(bus, m, context) : STATUS_INPUT;
		if (one > status)
			status = one;
	}
	if (machines && !args->argc) {
		m = machine_only(machines, key, waits);
		status = m ? each(bus, m, context) : STATUS_NO;
	}
	json_object_put(machines);
	sd_bus_flush_close_unref(bus);
	return status;
}

/* ---- start ------------------------------------------------------------------- */

static enum status start_one(sd_bus *bus, struct json_object *m, const void *context)
{
	const bool *yes = context;

	if (!service_has(m, "keys", "start")) {
		complain(NULL, "%s does not wait for start: %s", service_text(m, "id"),
			 service_text(m, "instruction"));
		return STATUS_NO;
	}
	if (!confirm(*yes, "%s: %s Is that done?", service_text(m, "id"),
		     service_text(m, "instruction")))
		return STATUS_NO;
	/* The number of what was shown: it may be something else by now. */
	return service_call(bus, service_text(m, "path"), "Machine", "Answer", "u",
			    (uint32_t)service_number(m, "question"));
}

static enum status start_run(struct args *args)
{
	const char *value;
	bool yes = false;
	int key;

	while ((key = args_next(args, &value)) >= 0)
		yes = true;
	if (key == ARGS_STOP)
		return args->status;
	return machines_each(args, "start", "wait for start", start_one, &yes);
}

static const struct option_row start_options[] = {
	OPT_YES,
	{ 0 }
};

const struct command cmd_start = {
	.name = "start",
	.operands = "[MACHINE...]",
	.summary = "Press start at machines of the service",
	.about = "The command shows what the machine asks for, and asks whether that is done. If\n"
		 "the machine asks for something else by then, nothing happens. Without MACHINE:\n"
		 "the only one that waits for start.",
	.options = start_options,
	.run = start_run,
};

/* ---- release ----------------------------------------------------------------- */

static enum status release_one(sd_bus *bus, struct json_object *m, const void *context)
{
	(void)context;
	return service_call(bus, service_text(m, "path"), "Machine", "ReleaseBoard", "");
}

static enum status release_run(struct args *args)
{
	const char *value;

	if (args_next(args, &value) == ARGS_STOP)
		return args->status;
	return machines_each(args, "release", "hold a board that can be released", release_one,
			     NULL);
}

const struct command cmd_release = {
	.name = "release",
	.operands = "[MACHINE...]",
	.summary = "Unlock the boards in machines of the service",
	.about = "A board that is being dealt stays locked until it is done. Without MACHINE: the\n"
		 "only machine that holds a board.",
	.run = release_run,
};

/* ---- locate ------------------------------------------------------------------ */

static enum status locate_one(sd_bus *bus, struct json_object *m, const void *context)
{
	const unsigned long *seconds = context;

	return service_call(bus, service_text(m, "path"), "Machine", "Locate", "u",
			    (uint32_t)*seconds);
}

static enum status locate_run(struct args *args)
{
	unsigned long seconds = LOCATE_DEFAULT;
	const char *value;
	int key;

	while ((key = args_next(args, &value)) >= 0)
		if (!args_number(args, "--seconds", value, 0, 3600, &seconds))
			return STATUS_INPUT;
	if (key == ARGS_STOP)
		return args->status;
	return machines_each(args, "locate", "are connected", locate_one, &seconds);
}

static const struct option_row locate_options[] = {
	{ 's', "seconds", "N", "for so long (default: 10); 0 ends it" },
	{ 0 }
};

const struct command cmd_locate = {
	.name = "locate",
	.operands = "[MACHINE...]",
	.summary = "Let machines of the service blink",
	.about = "Shows which machine has which name. Without MACHINE: the only one.",
	.options = locate_options,
	.run = locate_run,
};

/* ---- test -------------------------------------------------------------------- */

static enum status test_one(sd_bus *bus, struct json_object *m, const void *context)
{
	const unsigned long *cards = context;
	enum status status = service_call(bus, service_text(m, "path"), "Machine", "TestDeal", "u",
					  (uint32_t)*cards);

	if (status == STATUS_DONE)
		say("%s deals %lu cards without a plan; afterwards, take the board out and empty "
		    "it", service_text(m, "id"), *cards);
	return status;
}

static enum status test_run(struct args *args)
{
	unsigned long cards = TEST_DEFAULT;
	const char *value;
	int key;

	while ((key = args_next(args, &value)) >= 0)
		if (!args_number(args, "--cards", value, 1, 512, &cards))
			return STATUS_INPUT;
	if (key == ARGS_STOP)
		return args->status;
	return machines_each(args, "test-deal", "can make a test deal: put an empty board in",
			     test_one, &cards);
}

static const struct option_row test_options[] = {
	{ 'n', "cards", "N", "deal so many cards (default: 52)" },
	{ 0 }
};

const struct command cmd_test = {
	.name = "test",
	.operands = "[MACHINE...]",
	.summary = "Make a test deal on machines of the service",
	.about = "For service technicians: deals cards without a plan into an empty board that\n"
		 "has just been put in, to check the mechanics. Without MACHINE: the only one\n"
		 "that can.",
	.options = test_options,
	.run = test_run,
};
