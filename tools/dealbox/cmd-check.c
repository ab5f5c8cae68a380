// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox check: is there anything wrong with files of deals? It shows no card.
 */
#include "setinput.h"

static enum status check_run(struct args *args)
{
	const struct dealbox_format *format = NULL;
	bool json = false, reveal = false;
	struct setinput input;
	enum status status;
	const char *value;
	int key;

	while ((key = args_next(args, &value)) >= 0) {
		if (key == 'j')
			json = true;
		else if (key == KEY_REVEAL)
			reveal = true;
		else if (!(format = setinput_format(args, "from", value)))
			return STATUS_INPUT;
	}
	if (key == ARGS_STOP)
		return args->status;
	if (!args->argc)
		return args_wrong(args, "it wants the name of a file");

	status = setinput_read(&input, format, args->argv, args->argc);
	if (!status) {
		size_t problems = dealbox_report_found(input.report, DEALBOX_PROBLEM);
		size_t notes = dealbox_report_found(input.report, DEALBOX_NOTE);
		size_t deals = dealbox_set_count(input.set);

		if (json) {
			printf("{\"complete\":%zu,\"problems\":", deals);
			setinput_problems_json(input.report, reveal);
			puts("}");
		} else {
			setinput_complain(input.report, reveal);
			say("complete deals: %zu, problems: %zu, notes: %zu", deals, problems,
			    notes);
		}
		if (problems)
			status = STATUS_NO;
	}
	if (input.unread)
		status = STATUS_INPUT;
	setinput_free(&input);
	return status;
}

static const struct option_row check_options[] = {
	{ 'f', "from", "FORMAT", "read as this format (default: recognised): "
	  "pbn, dup, dlm, lin, ..." },
	OPT_JSON,
	OPT_REVEAL,
	{ 0 }
};

const struct command cmd_check = {
	.name = "check",
	.operands = "FILE...",
	.summary = "Judge files of deals without showing a card",
	.about = "Names everything that is wrong: a card held twice, a card missing, a hand of\n"
		 "12, a board twice, the same deal on two boards, a checksum, and more. All files\n"
		 "together are one set; - is standard input. Exit status 0: nothing is wrong;\n"
		 "1: there are problems; 2: a file could not be read.",
	.options = check_options,
	.run = check_run,
};
