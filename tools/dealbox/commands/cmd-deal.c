// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox deal: a set, dealt board by board and copy by copy.
 */
#include <string.h>
#include <time.h>

#include "dealing/deal-law.h"
#include "dealing/deal.h"
#include "dealing/rehearsal.h"
#include "service/service-objects.h"
#include "ui/operator-say.h"
#include "ui/ruling-text.h"
#include "ui/sealed.h"
#include "ui/set-to-deal.h"

#define COPIES_MAX	99

/* Boards that were asked for and are not in the files. */
bool boards_there(const struct deal_options *options, const struct dealbox_set *set)
{
	unsigned int board;

	for (board = 1; options->boards_text && board <= DEALBOX_BOARD_DEALT_MAX; board++) {
		if (!boards_has(&options->boards, board) || dealbox_set_find(set, board) >= 0)
			continue;
		complain("`dealbox check` lists the boards of a file", "board %u is not in the set",
			 board);
		return false;
	}
	return true;
}

/* May the set be dealt: as a session, and with what is recorded of it? */
bool set_allowed(const struct deal_options *options, const struct dealbox_set *set,
		 char *const *files, int count)
{
	if (dealbox_set_marks(set) & DEALBOX_MARK_RESTRICTED && !options->practice) {
		complain("--practice deals them anyway; their results do not count",
			 "the deals are restricted: they are not wholly random (Law 6E4)");
		return false;
	}
	for (int i = 0; options->record && i < count; i++) {
		if (!sealed_is(files[i]))
			continue;
		complain("deal without --record", "%s is sealed, and a record tells its deals",
			 files[i]);
		return false;
	}
	return true;
}

bool deal_asks(const struct deal_options *options)
{
	return !options->session && !options->yes;
}

void dealt_add(struct dealt *dealt, unsigned int board, int64_t at)
{
	/* a number of a damaged ledger, or of another service, may be any */
	if (board > DEALBOX_BOARD_DEALT_MAX)
		return;
	dealt->boards.bits[board / 64] |= 1ULL << board % 64;
	dealt->last = at > dealt->last ? at : dealt->last;
}

bool deal_again(const struct deal_options *options, const struct dealbox_set *set,
		const char *session, const struct dealt *dealt)
{
	const time_t last = dealt->last / 1000000;
	struct dealbox_board board;
	char at[32] = "";
	bool all = true;

	for (size_t n = 0; !dealbox_set_get(set, n, &board); n++)
		if (!options->boards_text || boards_has(&options->boards, board.number))
			all &= boards_has(&dealt->boards, board.number);
	dealbox_deal_wipe(&board.deal);
	if (!all)
		return true;
	strftime(at, sizeof(at), "%Y-%m-%d %H:%M", localtime(&last));
	return confirm(options->yes,
		       "All these boards were dealt for session %s already, the last at %s. To "
		       "play the same deals twice is against Law 6D2; for another session, give "
		       "--session NAME. Deal more copies of them?", session, at);
}

/* Return an option that was given and that only the service supports; NULL if there is none. */
static const char *only_by_service(const struct deal_options *options)
{
	return options->set ? "--set" : options->priority_text ? "--priority" : NULL;
}

/* By the service if it runs, and no machine is named by its address. */
static enum status deal(struct args *args, const struct deal_options *options)
{
	sd_bus *bus = options->wanted.uri ? NULL : service_find();
	enum status status;

	if (bus) {
		status = deal_by_service(bus, args, options);
	} else if (*options->wanted.ids) {
		status = wanted_refuse(&options->wanted);
	} else if (only_by_service(options)) {
		complain("run `sudo systemctl enable --now dealboxd`, "
			 "and name no address of a machine",
			 "%s is for the service dealboxd", only_by_service(options));
		status = STATUS_MACHINE;
	} else {
		status = deal_alone(args, options);
	}
	sd_bus_flush_close_unref(bus);
	return status;
}

/* On an emulated machine, with a ledger that is removed afterwards */
static enum status rehearse(struct args *args, const struct deal_options *options)
{
	struct deal_options rehearsed = *options;
	enum status status = STATUS_MACHINE;
	struct rehearsal rehearsal;

	if (rehearsal_begin(&rehearsal)) {
		rehearsed.wanted.uri = rehearsal.uri;
		rehearsed.ledger = rehearsal.ledger;
		status = deal_alone(args, &rehearsed);
	}
	rehearsal_end(&rehearsal);
	return status;
}

enum {
	KEY_PRACTICE = OPT_LONG, KEY_CERTIFY, KEY_SESSION, KEY_SET, KEY_HOW, KEY_PRIORITY,
	KEY_LAW, KEY_TURN, KEY_BEFORE, KEY_LAW_RECORD, KEY_LEDGER, KEY_SPEAK, KEY_REHEARSE
};

static enum status deal_run(struct args *args)
{
	struct deal_options options = { .copies = 1 };
	struct deal_law law = { 0 };
	unsigned long first;
	const char *value;
	int key;

	while ((key = args_next(args, &value)) >= 0) {
		switch (key) {
		case 'm':
			if (!wanted_add(args, &options.wanted, value))
				return STATUS_INPUT;
			break;
		case 'b':
			options.boards_text = value;
			if (!args_boards(args, "boards", value, &options.boards))
				return STATUS_INPUT;
			break;
		case 'c':
			options.copies_text = value;
			break;
		case 'r':
			options.resume = true;
			break;
		case 'y':
			options.yes = true;
			break;
		case 'k':
			sealed_use_key(value);
			break;
		case KEY_FIRST:
			if (!args_number(args, "first", value, 1, DEALBOX_BOARD_DEALT_MAX, &first))
				return STATUS_INPUT;
			set_to_deal_number_from(first);
			break;
		case KEY_PRACTICE:
			options.practice = true;
			break;
		case KEY_CERTIFY:
			options.certify = value;
			break;
		case KEY_SESSION:
			options.session = value;
			break;
		case KEY_SET:
			if (!args_number(args, "set", value, 1, UINT32_MAX, &options.set))
				return STATUS_INPUT;
			break;
		case KEY_HOW:
			options.how = value;
			break;
		case KEY_PRIORITY:
			options.priority_text = value;
			break;
		case 't':
			options.record = value;
			break;
		case 'j':
			options.json = true;
			break;
		case KEY_LAW:
			law.rules = value;
			break;
		case KEY_TURN:
			law.turn = value;
			break;
		case KEY_BEFORE:
			law.before = value;
			break;
		case KEY_LAW_RECORD:
			law.record = value;
			break;
		case KEY_LANG:
			options.language = ruling_text_language(value);
			if (!options.language)
				return STATUS_INPUT;
			break;
		case KEY_LEDGER:
			options.ledger = value;
			break;
		case KEY_SPEAK:
			options.speak = true;
			break;
		case KEY_REHEARSE:
			options.rehearse = true;
			break;
		case KEY_REVEAL:
			options.reveal = true;
			break;
		}
	}
	if (key == ARGS_STOP)
		return args->status;
	if (options.rehearse && (law.rules || options.resume || options.set || options.certify ||
				 options.record ||
				 options.ledger || options.priority_text || options.wanted.uri ||
				 *options.wanted.ids))
		return args_wrong(args, "--rehearse has a machine of its own and leaves no record: "
					"no --machine, --ledger, --record, --certify, --resume, "
					"--set, --priority or --law");
	if (law.rules) {
		if (args->argc || options.resume || options.boards_text || options.copies_text ||
		    options.record || options.session || options.set || options.how ||
		    options.priority_text || *options.wanted.ids)
			return args_wrong(args, "--law deals a shuffled pack, and no deal file");
		law.uri = options.wanted.uri;
		law.ledger = options.ledger;
		law.language = options.language;
		law.json = options.json;
		return deal_by_law(&law);
	}
	if (law.turn || law.before || law.record)
		return args_wrong(args, "--turn, --before and --law-record go with --law");
	if (options.resume && (options.boards_text || options.copies_text))
		return args_wrong(args,
				  "--resume takes boards and copies from the job that it resumes");
	if (options.resume && (options.session || options.how || options.priority_text ||
			       *options.wanted.ids))
		return args_wrong(args,
				  "--resume takes session, how, priority and machines from the job "
				  "that it resumes");
	/* a sealed file is not told by a record, and the ledger does not know which was */
	if (options.resume && options.record && !args->argc)
		return args_wrong(args, "--resume with --record needs the files of the job");
	if (options.set && (args->argc || options.resume || options.session || options.certify))
		return args_wrong(args, "--set deals a set of the service, which has its session: "
					"no file, --resume, --session or --certify");
	if (!options.resume && !options.set && !args->argc)
		return args_wrong(args, "it needs a deal file");
	if (options.copies_text && !strcmp(options.copies_text, "unlimited"))
		options.copies = 0;
	else if (options.copies_text &&
		 !args_number(args, "copies", options.copies_text, 1, COPIES_MAX, &options.copies))
		return STATUS_INPUT;
	if (options.priority_text && !args_number(args, "priority", options.priority_text, 0,
						  PRIORITY_MAX, &options.priority))
		return STATUS_INPUT;
	return options.rehearse ? rehearse(args, &options) : deal(args, &options);
}

static const struct option_row deal_options[] = {
	OPT_MACHINES,
	{ 'b', "boards", "LIST", "only these boards, such as 1-8,11 (default: all)" },
	{ 'c', "copies", "N", "so many boards with each deal, 1 to 99, or unlimited (default: 1)" },
	{ KEY_REHEARSE, "rehearse", NULL, "deal on an emulated machine, for practice; "
					  "nothing is recorded" },
	{ 'r', "resume", NULL, "continue the job that was stopped" },
	{ KEY_SESSION, "session", "NAME", "the session that it is dealt for (default: the date)" },
	{ KEY_LEDGER, "ledger", "FILE",
	  "without the service: the record (default: ~/.local/state/dealbox/ledger)" },
	{ KEY_SET, "set", "N", "by the service: no file but a set that it has, "
			       "such as of `dealbox capture`" },
	{ KEY_HOW, "how", "WORDS", "sets-in-a-row, descending, by-reader, by-position, "
				   "wait-for-start, stop-card, reversed-pockets, replay" },
	{ KEY_PRIORITY, "priority", "N", "by the service: before jobs of a lower one, "
					 "0 to 99 (default: 0)" },
	OPT_FIRST,
	OPT_KEY,
	{ KEY_CERTIFY, "certify", "FOLDER", "certify each board (`dealbox certificate "
					    "begin` makes FOLDER)" },
	{ KEY_PRACTICE, "practice", NULL, "deal sets that are restricted, for practice only" },
	{ 't', "record", "FILE", "write what the machine reports to FILE; it will tell the deals" },
	{ KEY_LAW, "law", "RULESET", "deal a shuffled pack by position, and judge it: "
				     "duplicate-2017, rubber, preferans .." },
	{ KEY_TURN, "turn", "SEAT", "with --law: whose turn it is to deal (default: N)" },
	{ KEY_BEFORE, "before", "FILE", "with --law: record of shuffle and cut "
					"(default: as they should be)" },
	{ KEY_LAW_RECORD, "law-record", "FILE", "with --law: write the record that "
						"was judged to FILE" },
	OPT_LANG,
	{ KEY_SPEAK, "speak", NULL, "by hand: say each seat (speech-dispatcher)" },
	OPT_YES,
	OPT_JSON,
	OPT_PLAIN,
	OPT_REVEAL,
	{ 0 }
};

const struct command cmd_deal = {
	.name = "deal",
	.operands = "FILE... | --set N | --law RULESET",
	.summary = "Deal a set of boards, and prove that each is an exact duplicate",
	.about = "Deals each board of the deal files, as many times as --copies says, and checks\n"
		 "each one against what the machine reported. A board that is not proven exact is\n"
		 "void: empty it and put it in again, and it is dealt again.\n"
		 "When the machine waits for help, press its start key or Enter, or the key that\n"
		 "the sentence names: D deals the board that is in, S skips the one that is\n"
		 "wanted, N says which number it has, and R deals the recorded one again.\n"
		 "Ctrl-C pauses and exits; --resume continues with the same files. Before an\n"
		 "interrupted job is dropped for another one, the command asks; and before the\n"
		 "same boards are dealt again on one day, if --session does not name a session.\n"
		 "If the service dealboxd is running, it deals, on all its machines or on those\n"
		 "that --machine names by their ids, unless --machine gives an address.\n"
		 "Without the service, the record is your own ledger, whose name is printed.\n"
		 "\n"
		 "With --rehearse, an emulated machine deals, which ends with the command:\n"
		 "everything is as with a machine, and nothing counts. It needs\n"
		 "dealbox-emulator.\n"
		 "\n"
		 "With --machine hand:, you are the machine: name each card with two keys, and\n"
		 "the seat that it belongs to fills the terminal. hand:DEVICE,codes=FILE reads\n"
		 "a bar-code scanner. That you saw the cards is recorded.\n"
		 "\n"
		 "With --law, a shuffled pack is dealt instead of a file, by single cards or by\n"
		 "packets as the ruleset requires, and judged by the laws: it stands, is to be\n"
		 "dealt again, or is open, with the reason.",
	.options = deal_options,
	.run = deal_run,
};
