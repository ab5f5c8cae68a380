// SPDX-License-Identifier: LGPL-2.1-or-later
/* dealbox set: the sets of the service. */
#include <json-c/json.h>
#include <stdio.h>

#include "service/service-objects.h"
#include "service/set-add.h"
#include "ui/set-to-deal.h"

struct call {
	struct args *args;
	const char *session;
	bool json;
};

static enum status add(struct call *call)
{
	struct dealbox_set *set = NULL;
	char today[SESSION_TODAY];
	struct json_object *object;
	uint64_t number = 0;
	enum status status;
	sd_bus *bus;

	status = set_to_deal_read(call->args->argv + 1, call->args->argc - 1, false, "nothing was added", &set);
	if (status)
		return status;
	bus = service_open();
	status = bus ? set_add(bus, set, call->session ? call->session : session_today(today), &number) :
		       STATUS_MACHINE;
	if (status == STATUS_DONE && call->json) {
		object = json_object_new_object();
		json_add_number(object, "set", (int64_t)number);
		json_say(object);
	} else if (status == STATUS_DONE) {
		say("%llu", (unsigned long long)number);
	}
	sd_bus_flush_close_unref(bus);
	dealbox_set_free(set);
	return status;
}

static const struct action_row actions[] = {
	{ "add", 2, INT32_MAX, "files, or - for standard input", add },
	{ 0 }
};

static const struct option_row set_options[] = {
	{ 's', "session", "NAME", "the session that the set is for (default: the date)" },
	OPT_JSON,
	{ 0 }
};

static enum status set_run(struct args *args)
{
	struct call call = { .args = args };
	const struct action_row *action;
	const char *value;
	int key;

	while ((key = args_next(args, &value)) >= 0) {
		if (key == 's')
			call.session = value;
		else
			call.json = true;
	}
	if (key == ARGS_STOP)
		return args->status;
	action = args_action(args, actions);
	return action ? action->run(&call) : STATUS_INPUT;
}

const struct command cmd_set = {
	.name = "set",
	.operands = "add FILE...",
	.summary = "Give a set to the service, without dealing it",
	.about = "Reads deal files of any format (- is standard input), checks them, and adds\n"
		 "their boards to the ledger of the service as one set. Prints the number of the\n"
		 "set; `dealbox deal --set` deals it. The same deals for the same session are\n"
		 "the same set.",
	.options = set_options,
	.run = set_run,
};
