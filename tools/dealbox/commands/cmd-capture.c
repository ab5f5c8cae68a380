// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox capture: reads an original that was dealt by hand, pocket by pocket, into a
 * deal file, for exact copies (Law 6F).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include <dealbox/law.h>
#include <dealbox/set.h>

#include "dealing/capture.h"
#include "dealing/feed.h"
#include "ui/set-to-deal.h"
#include "ui/tool.h"

/* Reports the errors of a capture; names cards only with reveal. */
static void defects_say(const struct dealbox_deal *deal, const struct dealbox_pack *pack)
{
	struct dealbox_defect defects[DEALBOX_DEFECTS_MAX];
	size_t count = dealbox_deal_check(deal, pack, defects, DEALBOX_DEFECTS_MAX);
	size_t missing = 0, repeated = 0, n;

	for (n = 0; n < count; n++) {
		missing += defects[n].kind == DEALBOX_DEFECT_MISSING;
		repeated += defects[n].kind == DEALBOX_DEFECT_REPEATED;
		if (defects[n].kind == DEALBOX_DEFECT_SIZE)
			complain(NULL, "pocket %s has %u cards, not %u",
				 dealbox_actor_name(defects[n].hand), defects[n].count,
				 defects[n].expected);
	}
	if (missing || repeated)
		complain(NULL, missing == 1 && repeated == 1 ? "%zu card is missing, %zu is there twice" :
			 "%zu cards are missing, %zu are there twice", missing, repeated);
	explicit_bzero(defects, sizeof(defects));
}

enum status capture_write(const struct dealbox_set *set, const char *file)
{
	struct dealbox_board board;

	if (!set_to_deal_write(set, file, NULL) || dealbox_set_get(set, 0, &board))
		return STATUS_INPUT;
	dealbox_deal_wipe(&board.deal);
	say("board %u is in %s; `dealbox deal --copies N %s` makes exact copies", board.number, file, file);
	return STATUS_DONE;
}

/*
 * If a whole hand was read, continues with the next pocket. Otherwise reports it, and asks for this
 * pocket again.
 */
static bool pocket_good(const struct dealbox_trace *capture, unsigned int pocket)
{
	const char *seat = dealbox_actor_name(pocket);
	unsigned int want = dealbox_pack_bridge()->size[pocket], count;
	dealbox_cards cards;
	int err = dealbox_law_capture_pocket(capture, &cards);

	count = dealbox_cards_count(cards);
	explicit_bzero(&cards, sizeof(cards));
	if (!err && count == want)
		return true;
	if (err)
		complain("take its cards out of the board, and put them into the hopper again, face down",
			 "pocket %s was not read completely", seat);
	else
		complain("take its cards out of the board, and put the right ones into the hopper",
			 "pocket %s has %u cards, not %u", seat, count, want);
	return false;
}

static enum status capture_all(struct feed *feed, struct dealbox_trace *captures[DEALBOX_HANDS])
{
	enum status status = STATUS_DONE;
	struct dealbox_plan plan;
	char what[64];
	unsigned int pocket;
	uint32_t id;

	for (pocket = 0; status == STATUS_DONE && pocket < DEALBOX_HANDS;) {
		dealbox_trace_free(captures[pocket]);
		captures[pocket] = NULL;
		do {
			if (getrandom(&id, sizeof(id), 0) != sizeof(id))
				id = DEALBOX_PLAN_NONE;
		} while (dealbox_plan_capture(&plan, id, (uint8_t)pocket));
		snprintf(what, sizeof(what), "pocket %s of the original",
			 dealbox_actor_name(pocket));
		status = feed_run(feed, &plan, what, &captures[pocket]);
		if (status == STATUS_DONE && pocket_good(captures[pocket], pocket))
			pocket++;
		else
			feed->told[0] = '\0';	/* it is asked for in the same words */
	}
	return status;
}

static enum status capture_save(struct dealbox_trace *const captures[DEALBOX_HANDS],
				const char *path, unsigned int board)
{
	const struct dealbox_trace *read[DEALBOX_HANDS] = {
		captures[0], captures[1], captures[2], captures[3]
	};
	struct dealbox_board original = DEALBOX_BOARD_INIT;
	enum status status = STATUS_INPUT;
	struct dealbox_set *set;
	unsigned int pocket;
	int ret;

	original.number = board;
	ret = dealbox_law_capture(read, dealbox_pack_bridge(), &original.deal, &pocket);

	if (ret == -EBADMSG) {
		defects_say(&original.deal, dealbox_pack_bridge());
		complain("put 13 cards into each pocket, and capture the board again",
			 "nothing was written: the cards that were read do not make a deal");
	} else if (ret == -EDOM) {
		complain("deal the board, and capture it then",
			 "nothing was written: the board is sorted, nobody dealt it");
	} else if (ret) {
		complain("put that pocket's cards back, face down, and capture the board again",
			 "nothing was written: pocket %s was not read completely",
			 dealbox_actor_name(pocket));
	}
	if (ret) {
		dealbox_deal_wipe(&original.deal);
		return STATUS_NO;
	}
	set = dealbox_set_new(dealbox_pack_bridge());
	if (set && !dealbox_set_add(set, &original))
		status = capture_write(set, path);
	else
		complain("free some memory", "out of memory");
	dealbox_deal_wipe(&original.deal);
	dealbox_set_free(set);
	return status;
}

/* With a machine of its own. */
static enum status capture_alone(const struct capture_options *options)
{
	struct dealbox_trace *captures[DEALBOX_HANDS] = { 0 };
	struct feed feed = { 0 };
	enum status status;
	int n;

	status = feed_open(&feed, options->wanted.uri, DEALBOX_CAP_CAPTURE, "cannot capture");
	if (status == STATUS_DONE)
		status = capture_all(&feed, captures);
	feed_close(&feed);
	if (status == STATUS_DONE)
		status = capture_save(captures, options->file, (unsigned int)options->board);
	for (n = 0; n < DEALBOX_HANDS; n++)
		dealbox_trace_free(captures[n]);
	return status;
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
		complain("run `sudo systemctl enable --now dealboxd`; or capture the board again without --resume",
			 "--resume needs the service dealboxd, which keeps the record");
		status = STATUS_MACHINE;
	} else {
		status = capture_alone(options);
	}
	sd_bus_flush_close_unref(bus);
	return status;
}

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
		options.resume |= key == 'r';
	}
	if (key == ARGS_STOP)
		return args->status;
	if (args->argc != 1)
		return args_wrong(args, "it needs the name of a new deal file");
	if (options.resume && (options.board_text || *options.wanted.ids))
		return args_wrong(args, "--resume takes board and machines from the capture that it resumes");
	if (options.board_text &&
	    !args_number(args, "board", options.board_text, 1, DEALBOX_BOARD_DEALT_MAX, &options.board))
		return STATUS_INPUT;
	options.file = args->argv[0];
	/* do not read four pockets for a file that cannot be written */
	return set_to_deal_can_be(options.file, NULL) ? capture(&options) : STATUS_INPUT;
}

static const struct option_row capture_options[] = {
	OPT_MACHINES,
	{ 'b', "board", "N", "number of the board (default: 1)" },
	{ 'r', "resume", NULL, "with the service: continue the last capture, or write its file" },
	{ 0 }
};

const struct command cmd_capture = {
	.name = "capture",
	.operands = "FILE",
	.summary = "Read a board that was dealt by hand into a deal file",
	.about = "Put the cards of pocket N into the hopper, then those of E, S and W, each\n"
		 "when asked. The deal is written to a deal file, from which `dealbox deal\n"
		 "--copies` makes exact copies (Law 6F). The cards are not shown.\n"
		 "If the service dealboxd is running, it captures, unless --machine gives the\n"
		 "address of a machine. Ctrl-C pauses the capture, --resume continues it. The\n"
		 "file is written only if the user may see cards; others can deal the copies\n"
		 "with `dealbox deal --set`.",
	.options = capture_options,
	.run = capture_run,
};
