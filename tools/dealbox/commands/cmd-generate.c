// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox generate: wholly random deals, or those that Big Deal makes of the same seed.
 */
#include <errno.h>
#include <sched.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/bigdeal.h>
#include <dealbox/random.h>

#include "ui/files.h"
#include "ui/set-to-deal.h"

struct call {
	struct args *args;
	const struct dealbox_pack *pack;
	struct boards boards;
	uint32_t count;		/* boards 1 to count; 0 = those of `boards` */
	unsigned int threads;
	const char *fixed_path, *owner, *seed_path;
	struct dealbox_deal fixed;
	struct dealbox_random *random;		/* one of the two */
	struct dealbox_bigdeal *bigdeal;
};

static bool fixed_read(struct call *call)
{
	struct blob blob = { 0 };
	bool good = false;

	if (file_read(call->fixed_path, &blob)) {
		blob.data[strcspn(blob.data, "\r\n")] = 0;
		good = !dealbox_deal_parse(blob.data, &call->fixed);
		if (!good)
			complain("write one line such as N:AKQ.2.- - - - (the Deal tag of PBN; "
				 "missing cards are dealt)",
				 "%s: this is not a deal", call->fixed_path);
	}
	blob_wipe(&blob);
	return good;
}

/* The seed is a secret: it comes from a file, not from the command line. */
static bool bigdeal_start(struct call *call)
{
	uint8_t hash[DEALBOX_BIGDEAL_HASH];
	struct blob blob = { 0 };
	size_t length = 0;
	bool good = false;

	if (!file_read_secret(call->seed_path, &blob))
		goto out;
	if (sodium_hex2bin(hash, sizeof(hash), blob.data, blob.size, " \r\n", &length, NULL) ||
	    length != sizeof(hash)) {
		complain("it is in Big Deal's log of seeds, dealentr.txt",
			 "%s: this is not a seed of 40 hexadecimal digits", call->seed_path);
		goto out;
	}
	good = !dealbox_bigdeal_new_hashed(call->owner, strlen(call->owner), hash, &call->bigdeal);
	if (!good)
		complain(NULL, "out of memory");
out:
	sodium_memzero(hash, sizeof(hash));
	blob_wipe(&blob);
	return good;
}

static bool random_start(struct call *call)
{
	int err = dealbox_random_new(&call->random);

	if (err)
		complain("do not deal on this computer until that is repaired; there is no "
			 "substitute for it",
			 "the kernel gives no random bits: %s", strerror(-err));
	return !err;
}

/* Whole deals of bridge are made many at a time, others one after the other. */
static int deals_make(struct call *call, struct dealbox_deal *deals, size_t count)
{
	int err = 0;

	if (call->bigdeal)
		return dealbox_bigdeal_deals(call->bigdeal, deals, count, call->threads);
	if (!call->fixed_path && (!call->pack || call->pack == dealbox_pack_bridge())) {
		dealbox_random_deals(call->random, deals, count, call->threads);
		return 0;
	}
	for (size_t n = 0; !err && n < count; n++)
		err = dealbox_random_deal(call->random, call->pack,
					  call->fixed_path ? &call->fixed : NULL, &deals[n]);
	return err;
}

#define COUNT_MAX	1000000	/* a file of PBN with more could not be read again */
#define MADE_AT_ONCE	65536

static bool is_wanted(const struct call *call, uint32_t number)
{
	return call->count ? number <= call->count : boards_has(&call->boards, number);
}

/* How many threads can run at the same time. */
static unsigned int threads_useful(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : (unsigned int)CPU_COUNT(&cpus);
}

static struct dealbox_set *set_make(struct call *call)
{
	struct dealbox_set *set = dealbox_set_new(call->pack);
	struct dealbox_deal *deals = calloc(MADE_AT_ONCE, sizeof(*deals));
	const uint32_t last = call->count ? call->count : DEALBOX_BOARD_DEALT_MAX;
	int err = set && deals ? 0 : -ENOMEM;
	uint32_t number = 1;

	call->threads = threads_useful();
	while (!err && number <= last) {
		struct dealbox_board board = DEALBOX_BOARD_INIT;
		uint32_t from = number;
		size_t count = 0;

		for (; number <= last && count < MADE_AT_ONCE; number++)
			count += is_wanted(call, number);
		err = deals_make(call, deals, count);
		for (const struct dealbox_deal *deal = deals; !err && from < number; from++) {
			if (!is_wanted(call, from))
				continue;
			board.number = from;
			board.deal = *deal++;
			err = dealbox_set_add(set, &board);
		}
		dealbox_deal_wipe(&board.deal);
	}
	if (deals)
		explicit_bzero(deals, MADE_AT_ONCE * sizeof(*deals));
	free(deals);
	if (err == -EINVAL)
		complain("give each card once, and at most 13 per hand",
			 "%s: no deal has these cards", call->fixed_path);
	else if (err)
		complain(NULL, "cannot make the deals: %s", strerror(-err));
	if (err) {
		dealbox_set_free(set);
		return NULL;
	}
	dealbox_set_mark(set,
			 DEALBOX_MARK_UNPLAYED | (call->fixed_path ? DEALBOX_MARK_RESTRICTED : 0));
	return set;
}

/*
 * No format of deal files has a pack but bridge's: a line for each deal, its number and the
 * three hands and the talon as in a Deal tag.
 */
static bool preferans_write(const struct dealbox_set *set, const char *path)
{
	const size_t room = dealbox_set_count(set) * (DEALBOX_DEAL_TEXT + 16) + 1;
	char *text = malloc(room), cards[DEALBOX_DEAL_TEXT];
	struct dealbox_board board;
	size_t used = 0;
	bool good;

	if (!text) {
		complain(NULL, "out of memory");
		return false;
	}
	for (size_t i = 0; !dealbox_set_get(set, i, &board); i++) {
		dealbox_deal_format(&board.deal, DEALBOX_NORTH, cards);
		used += (size_t)snprintf(text + used, room - used, "%u %s\n", board.number,
					 cards + 2);
	}
	good = file_write(path, text, used, FILE_SECRET, false);
	explicit_bzero(cards, sizeof(cards));
	explicit_bzero(text, used);
	free(text);
	return good;
}

static enum status generate(struct call *call, const char *path)
{
	struct dealbox_set *set = NULL;
	enum status status = STATUS_INPUT;

	if (call->fixed_path && !fixed_read(call))
		goto out;
	if (call->seed_path ? !bigdeal_start(call) : !random_start(call))
		goto out;
	set = set_make(call);
	if (!set || !(dealbox_set_pack(set) == dealbox_pack_bridge() ?
		      set_to_deal_write(set, path, NULL) : preferans_write(set, path)))
		goto out;
	say("%s: %zu boards%s", path, dealbox_set_count(set),
	    call->fixed_path ? ", restricted: not for play under the Laws" : "");
	status = STATUS_DONE;
out:
	dealbox_set_free(set);
	dealbox_random_free(call->random);
	dealbox_bigdeal_free(call->bigdeal);
	dealbox_deal_wipe(&call->fixed);
	return status;
}

enum { KEY_FIXED = OPT_LONG, KEY_BIGDEAL, KEY_SEED };

static enum status generate_run(struct args *args)
{
	struct call call = { .args = args };
	unsigned long count;
	const char *value;
	bool all = true;
	int key;

	while ((key = args_next(args, &value)) != ARGS_END) {
		switch (key) {
		case ARGS_STOP:
			return args->status;
		case 'b':
			all = false;
			if (!args_boards(args, "boards", value, &call.boards))
				return STATUS_INPUT;
			break;
		case 'n':
			if (!args_number(args, "number", value, 1, COUNT_MAX, &count))
				return STATUS_INPUT;
			call.count = (uint32_t)count;
			break;
		case 'p':
			call.pack = dealbox_pack_find(strcmp(value, "rubber") ? value : "bridge");
			if (!call.pack)
				return args_wrong(args,
						  "--pack is bridge, rubber or preferans, not '%s'",
						  value);
			break;
		case KEY_FIXED:
			call.fixed_path = value;
			break;
		case KEY_BIGDEAL:
			call.owner = value;
			break;
		case KEY_SEED:
			call.seed_path = value;
			break;
		}
	}
	if (!all && call.count)
		return args_wrong(args, "give --boards or --number, not both");
	if (all && !args_boards(args, "boards", "1-36", &call.boards))
		return STATUS_INPUT;
	if (args->argc != 1)
		return args_wrong(args, "it needs the name of one file to write");
	if (!call.owner != !call.seed_path)
		return args_wrong(args, "--bigdeal and --seed require each other");
	if (call.owner && (call.fixed_path || (call.pack && call.pack != dealbox_pack_bridge())))
		return args_wrong(args, "Big Deal makes whole bridge deals only");
	return generate(&call, args->argv[0]);
}

static const struct option_row generate_options[] = {
	{ 'b', "boards", "LIST", "board numbers, such as 1-16,21 (default: 1-36)" },
	{ 'n', "number", "N", "boards 1 to N, up to 1000000" },
	{ 'p', "pack", "NAME", "bridge, rubber (the same) or preferans (10-10-10 and 2)" },
	{ KEY_FIXED, "fixed", "FILE", "deal round the cards that FILE gives; for practice only" },
	{ KEY_BIGDEAL, "bigdeal", "OWNER", "the deals that Big Deal makes for this owner" },
	{ KEY_SEED, "seed", "FILE", "and for the seed (40 hexadecimal digits) in FILE" },
	{ 0 }
};

const struct command cmd_generate = {
	.name = "generate",
	.operands = "FILE",
	.summary = "Deal a set at random",
	.about = "Writes a set of deals to FILE, in the format of its suffix. All deals are\n"
		 "possible and equally likely; the random bits come from the kernel. There is no\n"
		 "selection by shape or strength. Preferans is written as text, a line for each\n"
		 "deal: its number, three hands, the talon. The set is marked as not yet played.\n"
		 "With --fixed it is marked as restricted, and `dealbox deal` refuses it for\n"
		 "sanctioned play. All processors are used; their number does not affect the\n"
		 "deals. Sets of more than 9999 boards are for studies and cannot be dealt.\n"
		 "To prove to others that nobody chose the deals, use `dealbox square`.",
	.options = generate_options,
	.run = generate_run,
};
