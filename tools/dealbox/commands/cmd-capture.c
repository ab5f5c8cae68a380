// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox capture: reads an original that was dealt by hand, pocket by pocket, into a
 * deal file, for exact copies (Law 6F).
 */
#include <dealbox/set.h>

#include "dealing/capture.h"
#include "ui/operator-say.h"
#include "ui/ruling-text.h"
#include "ui/set-to-deal.h"
#include "ui/tool.h"

enum status capture_write(const struct dealbox_set *set, const char *file)
{
	struct dealbox_board board;

	if (!set_to_deal_write(set, file, NULL) || dealbox_set_get(set, 0, &board))
		return STATUS_INPUT;
	dealbox_deal_wipe(&board.deal);
	say("board %u is in %s; `dealbox deal --copies N %s` makes exact copies", board.number,
	    file, file);
	return STATUS_DONE;
}

/* By the service if it runs, and no machine is named by its address. */
static enum status capture(const struct capture_options *options)
{
	sd_bus *bus = options->wanted.uri ? NULL : service_find();
	enum status status;

	if (bus) {
		status = capture_by_service(bus, options);
	} else if (*options->wanted.ids) {
		status = wanted_refuse(&options->wanted);
	} else if (options->resume) {
		complain("run `sudo systemctl enable --now dealboxd`; or capture the board again "
			 "without --resume",
			 "--resume needs the service dealboxd");
		status = STATUS_MACHINE;
	} else {
		status = capture_alone(options);
	}
	sd_bus_flush_close_unref(bus);
	return status;
}

enum { KEY_LEDGER = OPT_LONG };

static enum status capture_run(struct args *args)
{
	struct capture_options options = { .board = 1 };
	const char *value;
	int key;

	while ((key = args_next(args, &value)) >= 0) {
		if (key == 'm' && !wanted_add(args, &options.wanted, value))
			return STATUS_INPUT;
		if (key == 'b')
			options.board_text = value;
		if (key == KEY_LEDGER)
			options.ledger = value;
		if (key == KEY_LANG) {
			options.language = ruling_text_language(value);
			if (!options.language)
				return STATUS_INPUT;
		}
		options.resume |= key == 'r';
	}
	if (key == ARGS_STOP)
		return args->status;
	if (args->argc != 1)
		return args_wrong(args, "it needs the name of a new deal file");
	if (options.resume && (options.board_text || *options.wanted.ids))
		return args_wrong(args, "--resume takes board and machines from "
					"the capture that it resumes");
	if (options.board_text &&
	    !args_number(args, "board", options.board_text, 1, DEALBOX_BOARD_DEALT_MAX,
			 &options.board))
		return STATUS_INPUT;
	options.file = args->argv[0];
	/* do not read four pockets for a file that cannot be written */
	return set_to_deal_can_be(options.file, NULL) ? capture(&options) : STATUS_INPUT;
}

static const struct option_row capture_options[] = {
	OPT_MACHINES,
	{ 'b', "board", "N", "number of the board (default: 1)" },
	{ 'r', "resume", NULL, "with the service: continue the last capture, or write its file" },
	{ KEY_LEDGER, "ledger", "FILE",
	  "without the service: the record (default: ~/.local/state/dealbox/ledger)" },
	OPT_LANG,
	OPT_PLAIN,
	{ 0 }
};

const struct command cmd_capture = {
	.name = "capture",
	.operands = "FILE",
	.summary = "Read a board that was dealt by hand into a deal file",
	.about = "Put the cards of pocket N into the hopper, then those of E, S and W, each\n"
		 "when asked, and press the start key of the machine or Enter. The deal is\n"
		 "written to a deal file, from which `dealbox deal --copies` makes exact copies\n"
		 "(Law 6F). The cards are not shown.\n"
		 "If the service dealboxd is running, it captures, unless --machine gives the\n"
		 "address of a machine. Ctrl-C pauses the capture, --resume continues it. The\n"
		 "file is written only if the user may see cards; others can deal the copies\n"
		 "with `dealbox deal --set`.\n"
		 "Without the service, the record is your own ledger, whose name is printed, and\n"
		 "Ctrl-C ends the capture.",
	.options = capture_options,
	.run = capture_run,
};
