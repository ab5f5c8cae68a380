// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox monitor: what a machine says, as it says it.
 */
#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "ui/event-text.h"
#include "ui/tool.h"

static enum status monitor(struct dealbox_machine *machine, bool json, bool reveal)
{
	static struct dealbox_event events[1024];
	struct pollfd wait = { .fd = dealbox_machine_fd(machine), .events = POLLIN };
	char line[160];
	ssize_t count, n;

	for (;;) {
		count = dealbox_machine_read(machine, events,
					     sizeof(events) / sizeof(*events));
		if (count == -EAGAIN) {
			poll(&wait, 1, -1);
			continue;
		}
		if (count < 0) {
			complain(dealbox_machine_error(machine)->next, "%s",
				 dealbox_machine_error(machine)->what);
			return STATUS_MACHINE;
		}
		for (n = 0; n < count; n++) {
			if (json) {
				event_say_json(&events[n], reveal);
				continue;
			}
			event_to_text(&events[n], reveal, line, sizeof(line));
			say("%s", line);
		}
		explicit_bzero(events, (size_t)count * sizeof(*events));
		explicit_bzero(line, sizeof(line));
		if (ferror(stdout))
			return STATUS_DONE;	/* the reader is gone */
	}
}

static enum status monitor_run(struct args *args)
{
	struct dealbox_machine *machine;
	struct dealbox_error reason;
	bool json = false, reveal = false;
	const char *value, *uri = NULL;
	enum status status;
	int key;

	while ((key = args_next(args, &value)) >= 0) {
		json |= key == 'j';
		reveal |= key == KEY_REVEAL;
		if (key == 'm')
			uri = value;
	}
	if (key == ARGS_STOP)
		return args->status;
	if (args->argc)
		return args_wrong(args, "it takes no operand: '%s'", args->argv[0]);
	if (dealbox_machine_open(uri, DEALBOX_MACHINE_OBSERVE, &machine, &reason)) {
		complain(reason.next, "%s", reason.what);
		return STATUS_MACHINE;
	}
	status = monitor(machine, json, reveal);
	dealbox_machine_close(machine);
	return status;
}

static const struct option_row monitor_options[] = {
	OPT_MACHINE,
	OPT_JSON,
	OPT_REVEAL,
	{ 0 }
};

const struct command cmd_monitor = {
	.name = "monitor",
	.operands = "",
	.summary = "Print the events of a machine, until it is unplugged",
	.about = "One line for each event: time, number, name, and which card of the deal, but\n"
		 "not its pocket: in a sorted deck, that would tell the deal. It only watches,\n"
		 "and can run during `dealbox deal` on a local: machine. Ctrl-C ends it.",
	.options = monitor_options,
	.run = monitor_run,
};
