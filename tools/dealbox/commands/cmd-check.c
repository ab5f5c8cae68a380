// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox check: is there anything wrong with files of deals? It shows no card.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ui/set-as-read.h"

/* Their numbers as in "1-16, 18". Nobody needs to see the hands for that. */
static void say_boards(const struct dealbox_set *set)
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	struct boards boards = { { 0 } };
	unsigned int others = 0;
	const char *comma = "";
	char *text = NULL;
	size_t size = 0;
	FILE *list = open_memstream(&text, &size);

	for (size_t i = 0; !dealbox_set_get(set, i, &board); i++) {
		if (board.number && board.number <= DEALBOX_BOARD_DEALT_MAX)
			boards.bits[board.number / 64] |= (uint64_t)1 << (board.number % 64);
		else
			others++;
	}
	dealbox_deal_wipe(&board.deal);
	for (unsigned int from = 1, to; list && from <= DEALBOX_BOARD_DEALT_MAX; from = to + 1) {
		for (to = from; to <= DEALBOX_BOARD_DEALT_MAX && boards_has(&boards, to); to++)
			;
		if (to == from)
			continue;
		fprintf(list, "%s%u", comma, from);
		if (to > from + 1)
			fprintf(list, "-%u", to - 1);
		comma = ", ";
	}
	if (list && others)
		fprintf(list, "%s%u without a number up to %u", comma, others,
			(unsigned int)DEALBOX_BOARD_DEALT_MAX);
	if (list && !fclose(list) && size)
		say("boards: %s", text);
	free(text);
}

static enum status check_run(struct args *args)
{
	struct set_as_read input;
	enum status status;
	struct look look;

	if (!look_parse(&look, args))
		return args->status;
	status = set_as_read_files(&input, &look.reading, args->argv, args->argc);
	if (!status) {
		size_t problems = dealbox_report_found(input.report, DEALBOX_SEVERITY_PROBLEM);
		size_t notes = dealbox_report_found(input.report, DEALBOX_SEVERITY_NOTE);
		size_t deals = dealbox_set_count(input.set);

		if (look.json) {
			set_as_read_json(input.report, deals, look.reveal);
		} else {
			set_as_read_complain(input.report, look.reveal);
			say_boards(input.set);
			say("complete deals: %zu, problems: %zu, notes: %zu", deals, problems,
			    notes);
		}
		if (problems)
			status = STATUS_NO;
	}
	if (input.unread)
		status = STATUS_INPUT;
	set_as_read_free(&input);
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
	.about = "Reports all problems: a card held twice, a missing card, a hand of 12, a\n"
		 "repeated board, the same deal on two boards, a wrong checksum, and more; and\n"
		 "the boards that the files contain. All files together are one set; - is\n"
		 "standard input. The exit status is 0 if there are no problems, 1 if there are,\n"
		 "and 2 if a file could not be read.",
	.options = check_options,
	.run = check_run,
};
