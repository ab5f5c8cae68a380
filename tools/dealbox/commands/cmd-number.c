// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox number: the numbers of deals, and the deals of numbers.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include <dealbox/number.h>

#include "ui/files.h"
#include "ui/set-as-read.h"
#include "ui/set-to-deal.h"

struct call {
	bool json;
	enum dealbox_numbering numbering;
};

/* board: NULL if the number was given */
static void print(const struct call *call, const struct dealbox_board *board,
		  const struct dealbox_deal *deal, struct dealbox_number number)
{
	char text[DEALBOX_NUMBER_TEXT], cards[DEALBOX_DEAL_TEXT], name[16] = "";
	struct json_object *object;

	dealbox_number_print(number, text, sizeof(text));
	dealbox_deal_format(deal, DEALBOX_NORTH, cards);
	if (!call->json) {
		if (board)
			dealbox_board_name(board, name, sizeof(name));
		say("%s%s%s %s", name, *name ? " " : "", text, cards);
		return;
	}
	object = json_line("deal");
	if (board)
		set_as_read_board_json(object, board);
	json_add_text(object, "numbering", dealbox_numbering_name(call->numbering));
	json_add_text(object, "deal_number", text);
	json_add_text(object, "deal", cards);
	json_say(object);
}

static enum status unrank(const struct call *call, const char *text)
{
	struct dealbox_deal deal;
	struct dealbox_number number;

	if (dealbox_number_parse(text, &number) ||
	    dealbox_number_unrank(number, call->numbering, &deal)) {
		char low[DEALBOX_NUMBER_TEXT], high[DEALBOX_NUMBER_TEXT];

		dealbox_number_print(dealbox_number_first(call->numbering), low, sizeof(low));
		dealbox_number_print(dealbox_number_last(call->numbering), high, sizeof(high));
		complain("--numbering NAME chooses another numbering",
			 "'%s' is not the number of a deal; the numbers of %s are %s to %s", text,
			 dealbox_numbering_name(call->numbering), low, high);
		return STATUS_INPUT;
	}
	print(call, NULL, &deal, number);
	return STATUS_DONE;
}

#define PIPED_ROOM	((size_t)1 << 20)

/* Numbers of standard input: every user can read the arguments of a program. */
static enum status unrank_piped(const struct call *call)
{
	static const char between[] = " \t\r\n";
	enum status status = STATUS_INPUT;
	struct blob blob = { 0 };
	char *text, *rest;

	if (!file_read_piped(PIPED_ROOM, &blob))
		goto out;
	text = strtok_r(blob.data, between, &rest);
	if (!text) {
		complain("give one number a line", "there is no number on standard input");
		goto out;
	}
	for (status = STATUS_DONE; !status && text; text = strtok_r(NULL, between, &rest))
		status = unrank(call, text);
out:
	blob_wipe(&blob);
	return status;
}

static enum status rank(const struct call *call, char *const *files, int count)
{
	struct dealbox_board board;
	struct dealbox_set *set;
	enum status status = set_to_deal_read(files, count, true, "no number was made", &set);
	struct dealbox_number number;

	if (status)
		return status;
	for (size_t i = 0; !dealbox_set_get(set, i, &board); i++) {
		dealbox_number_rank(&board.deal, call->numbering, &number);
		print(call, &board, &board.deal, number);
	}
	dealbox_set_free(set);
	return STATUS_DONE;
}

static enum status number_run(struct args *args)
{
	struct call call = { .numbering = DEALBOX_NUMBERING_BIGDEAL };
	enum status status = STATUS_DONE;
	bool reveal = false;
	const char *value;
	int key, found;

	while ((key = args_next(args, &value)) != ARGS_END) {
		switch (key) {
		case ARGS_STOP:
			return args->status;
		case 'j':
			call.json = true;
			break;
		case 'n':
			found = dealbox_numbering_find(value);
			if (found < 0)
				return args_wrong(args,
						  "--numbering is bigdeal, andrews or pavlicek, "
						  "not '%s'", value);
			call.numbering = (enum dealbox_numbering)found;
			break;
		case KEY_REVEAL:
			reveal = true;
			break;
		}
	}
	if (!args->argc)
		return args_wrong(args, "it needs numbers, or files");
	if (!reveal)
		return args_wrong(args,
				  "a number reveals all cards of its deal: confirm with --reveal");
	if (args->argc == 1 && !strcmp(args->argv[0], "-"))
		return unrank_piped(&call);
	if (file_exists(args->argv[0]))
		return rank(&call, args->argv, args->argc);
	for (int i = 0; !status && i < args->argc; i++)
		status = unrank(&call, args->argv[i]);
	return status;
}

static const struct option_row number_options[] = {
	{ 'n', "numbering", "NAME", "bigdeal (from 0), andrews or pavlicek (from 1)" },
	OPT_REVEAL,
	OPT_JSON,
	{ 0 }
};

const struct command cmd_number = {
	.name = "number",
	.operands = "FILE...|NUMBER...|-",
	.summary = "Convert deals to numbers, and numbers to deals",
	.about = "For files: the number of each deal. For numbers: the deal. A number reveals\n"
		 "every card, so --reveal is required; all users see the arguments of a command,\n"
		 "so - reads numbers of deals still to be played from standard input. The three\n"
		 "numberings differ.",
	.options = number_options,
	.run = number_run,
};
