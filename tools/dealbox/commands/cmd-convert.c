// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox convert: deal files from one format into another. All or nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "double-dummy/double-dummy.h"
#include "ui/set-as-read.h"

#define KEY_FORCE	OPT_LONG

struct call {
	struct args *args;
	const struct dealbox_format *to;
	struct reading reading;
	const char *boards_text;	/* NULL = all */
	struct boards boards;
	const char *out;
	bool force;		/* OUT may be there, and is replaced */
	bool double_dummy;
};

/* Problems that leave every deal in the set; all others mean that something is lost. */
static bool loses_deal(unsigned int code)
{
	static const uint16_t harmless[] = {
		DEALBOX_CODE_BOARD_MISSING, DEALBOX_CODE_BOARD_REPEATED, DEALBOX_CODE_DEAL_REPEATED,
		DEALBOX_CODE_DEAL_ROTATED, DEALBOX_CODE_DEALER_CONTRADICTS,
		DEALBOX_CODE_VULNERABLE_CONTRADICTS, DEALBOX_CODE_DEALER_INVALID,
		DEALBOX_CODE_VULNERABLE_INVALID, DEALBOX_CODE_TRAILER_DISAGREES,
	};

	if (dealbox_code_severity(code) == DEALBOX_SEVERITY_NOTE)
		return false;
	for (size_t i = 0; i < sizeof(harmless) / sizeof(*harmless); i++)
		if (code == harmless[i])
			return false;
	return true;
}

static bool loses_any(const struct dealbox_report *report)
{
	for (unsigned int code = 0; code < DEALBOX_CODES; code++)
		if (dealbox_report_found_code(report, code) && loses_deal(code))
			return true;
	return false;
}

struct choice {
	const struct boards *wanted;
	struct boards found;
};

static bool is_wanted(const struct dealbox_board *board, void *context)
{
	struct choice *choice = context;

	if (!board->number || board->number > DEALBOX_BOARD_DEALT_MAX ||
	    !boards_has(choice->wanted, board->number))
		return false;
	choice->found.bits[board->number / 64] |= (uint64_t)1 << (board->number % 64);
	return true;
}

/* The boards that were asked for, each of which must be there. */
static enum status choose(const struct call *call, struct set_as_read *input)
{
	struct choice choice = { .wanted = &call->boards };

	dealbox_set_filter(input->set, is_wanted, &choice);
	for (unsigned int number = 1; number <= DEALBOX_BOARD_DEALT_MAX; number++) {
		if (!boards_has(&call->boards, number) || boards_has(&choice.found, number))
			continue;
		complain("give --boards without it, or correct the file",
			 "board %u is not among the complete deals; nothing was written", number);
		return STATUS_INPUT;
	}
	return STATUS_DONE;
}

/* A file that is there is replaced only when that is wanted. */
static bool may_write(const struct call *call)
{
	struct stat st;

	if (call->force || !strcmp(call->out, "-") || stat(call->out, &st) ||
	    !S_ISREG(st.st_mode))
		return true;
	complain("give --force to replace it, or another name",
		 "%s: there is such a file already; nothing was written", call->out);
	return false;
}

static bool lacks_numbers(const struct dealbox_set *set)
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	bool lacks = false;

	for (size_t i = 0; !lacks && !dealbox_set_get(set, i, &board); i++)
		lacks = !board.number && !board.label;
	dealbox_deal_wipe(&board.deal);
	return lacks;
}

static enum status write_out(const struct call *call, const struct set_as_read *input)
{
	struct dealbox_report *report = dealbox_report_new();
	int err = -ENOMEM;

	if (report && strcmp(call->out, "-"))
		err = dealbox_format_write_file(call->to, input->set, call->out, report);
	else if (report)
		err = dealbox_format_write_fd(call->to, input->set, STDOUT_FILENO,
					      "standard output", report);
	if (report)
		set_as_read_complain(report, false);
	dealbox_report_free(report);
	if (err)
		complain(lacks_numbers(input->set) ?
			 "give the number of the first board with --first" : NULL,
			 "nothing was written");
	return err ? STATUS_INPUT : STATUS_DONE;
}

/*
 * Give a board the tags of its table: DoubleDummyTricks as other programs write it, which is not in
 * the standard, the others by PBN 2.1, 4.2.7 and 5.7. Existing ones are replaced.
 */
static int put_tags(struct dealbox_set *set, size_t index, const struct double_dummy *table)
{
	char tags[512], *end = stpcpy(tags, "[DoubleDummyTricks \"");
	struct dealbox_board board;
	struct par par;
	int err;

	dealbox_set_get(set, index, &board);
	for (int n = 0; n < DEALBOX_HANDS; n++)
		for (int i = 0; i < DENOMINATIONS; i++)
			end += sprintf(end, "%x", table->tricks[table_denominations[i]]
							       [table_seats[n]]);
	end = stpcpy(end, "\"]\n");
	/* without it, one that is there remains wrong: an empty value is "not known" */
	if (par_of_board(&board, table, &par))
		end += sprintf(end, "[OptimumScore \"NS %d\"]\n", par.score);
	else
		end = stpcpy(end, "[OptimumScore \"\"]\n");
	end = stpcpy(end, "[OptimumResultTable \"Declarer;Denomination\\2R;Result\\2R\"]\n");
	for (int n = 0; n < DEALBOX_HANDS; n++)
		for (int i = 0; i < DENOMINATIONS; i++)
			end += sprintf(end, "%c %2s %2u\n", dealbox_seat_letter(table_seats[n]),
				       denomination_name(table_denominations[i]),
				       table->tricks[table_denominations[i]][table_seats[n]]);
	err = dealbox_pbn_put_tags(set, index, tags);
	explicit_bzero(tags, sizeof(tags));
	dealbox_deal_wipe(&board.deal);
	return err;
}

static enum status add_double_dummy(struct dealbox_set *set)
{
	struct double_dummy *tables = double_dummy_solve(set);
	int err = 0;

	if (!tables)
		return STATUS_INPUT;
	for (size_t i = 0; !err && i < dealbox_set_count(set); i++)
		err = put_tags(set, i, &tables[i]);
	free(tables);
	if (err)
		complain("free some memory, or give it fewer files",
			 "out of memory; nothing was written");
	return err ? STATUS_INPUT : STATUS_DONE;
}

static enum status convert(struct call *call)
{
	struct set_as_read input;
	enum status status;

	status = set_as_read_files(&input, &call->reading, call->args->argv, call->args->argc - 1);
	if (status)
		goto out;
	set_as_read_complain(input.report, false);
	if (input.unread) {
		complain("give the names of files with deals", "nothing was written");
		status = STATUS_INPUT;
	} else if (call->boards_text) {
		status = choose(call, &input);
	} else if (loses_any(input.report)) {
		complain("correct the file, or name the boards to convert with --boards",
			 "not every deal could be used; nothing was written");
		status = STATUS_INPUT;
	}
	if (!status && call->double_dummy)
		status = add_double_dummy(input.set);
	if (!status)
		status = write_out(call, &input);
out:
	set_as_read_free(&input);
	return status;
}

static enum status convert_run(struct args *args)
{
	struct call call = { .args = args, .reading.keep_text = true };
	const char *value;
	int key;

	while ((key = args_next(args, &value)) >= 0) {
		if (key == 'b') {
			call.boards_text = value;
			if (!args_boards(args, "boards", value, &call.boards))
				return STATUS_INPUT;
		} else if (key == KEY_FORCE) {
			call.force = true;
		} else if (key == KEY_DOUBLE_DUMMY) {
			call.double_dummy = true;
		} else if (key == 'f') {
			call.reading.from = set_as_read_format(args, "from", value);
			if (!call.reading.from)
				return STATUS_INPUT;
		} else if (key == KEY_FIRST) {
			if (!args_number(args, "first", value, 1, DEALBOX_BOARD_DEALT_MAX,
					 &call.reading.first))
				return STATUS_INPUT;
		} else {
			call.to = set_as_read_format(args, "to", value);
			if (!call.to)
				return STATUS_INPUT;
		}
	}
	if (key == ARGS_STOP)
		return args->status;
	if (args->argc < 2)
		return args_wrong(args, "it needs files to read and a file to write");
	call.out = args->argv[args->argc - 1];
	if (!call.to)
		call.to = dealbox_format_by_suffix(call.out);
	if (!call.to)
		return args_wrong(args, "the name '%s' does not tell a format: give --to",
				  call.out);
	if (call.double_dummy && call.to != dealbox_format_find("pbn"))
		return args_wrong(args, "--double-dummy: %s has no room for tricks; only pbn has",
				  dealbox_format_name(call.to));
	return may_write(&call) ? convert(&call) : STATUS_INPUT;
}

static const struct option_row convert_options[] = {
	{ 'b', "boards", "LIST", "only these boards, as 1-16 or 1-8,11" },
	{ KEY_DOUBLE_DUMMY, "double-dummy", NULL,
	  "add the tricks of each declarer, and the par score; to pbn only" },
	{ KEY_FORCE, "force", NULL, "replace OUT when it is there already" },
	OPT_FIRST,
	OPT_FROM,
	{ 't', "to", "FORMAT", "write this format (default: by the name of OUT)" },
	{ 0 }
};

const struct command cmd_convert = {
	.name = "convert",
	.operands = "IN... OUT",
	.summary = "Convert files of deals",
	.about = "Reads " SET_AS_READ_FORMATS "\n"
		 "and writes all of them except rbn and zrd. All files together are one set; -\n"
		 "is standard input or output. OUT is written only if every deal, or every one\n"
		 "of --boards, is complete, and if the format can express them.\n"
		 "From PBN to PBN, all tags, sections and comments of a board are preserved.\n"
		 "Contents that a format cannot express are reported.\n\n"
		 "With --double-dummy, boards get the tags DoubleDummyTricks, OptimumScore and\n"
		 "OptimumResultTable, which replace those of other programs. The tables tell\n"
		 "much about the cards: keep the file as secret as the deals.",
	.options = convert_options,
	.run = convert_run,
};
