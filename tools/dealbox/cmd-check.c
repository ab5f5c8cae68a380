// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox check: is there anything wrong with files of deals? It shows no card.
 */
#include "setinput.h"

static enum status check_run(struct args *args)
{
	struct setinput input;
	enum status status;
	struct look look;

	if (!look_parse(&look, args))
		return args->status;
	status = setinput_read(&input, &look.reading, args->argv, args->argc);
	if (!status) {
		size_t problems = dealbox_report_found(input.report, DEALBOX_PROBLEM);
		size_t notes = dealbox_report_found(input.report, DEALBOX_NOTE);
		size_t deals = dealbox_set_count(input.set);

		if (look.json) {
			printf("{\"complete\":%zu,\"problems\":", deals);
			setinput_problems_json(input.report, look.reveal);
			puts("}");
		} else {
			setinput_complain(input.report, look.reveal);
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
	OPT_FIRST,
	OPT_FROM,
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
