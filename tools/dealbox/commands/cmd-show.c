// SPDX-License-Identifier: LGPL-2.1-or-later
/* dealbox show: the deals of files, and the problems of the rest. */
#include <string.h>

#include "ui/set-as-read.h"

static int dealer_of(const struct dealbox_board *board)
{
	if (board->dealer >= 0 || !board->number)
		return board->dealer;
	return dealbox_board_dealer(board->number);
}

static int vulnerable_of(const struct dealbox_board *board)
{
	if (board->vulnerable >= 0 || !board->number)
		return board->vulnerable;
	return dealbox_board_vulnerable(board->number);
}

static void board_json(const struct dealbox_board *board)
{
	char deal[DEALBOX_DEAL_TEXT];
	int dealer = dealer_of(board), vulnerable = vulnerable_of(board);

	fputs("{\"board\":", stdout);
	if (board->number)
		printf("\"%u\"", board->number);
	else if (board->label)
		set_as_read_text_json(board->label);
	else
		fputs("null", stdout);
	fputs(",\"dealer\":", stdout);
	if (dealer >= 0)
		printf("\"%c\"", dealbox_seat_letter(dealer));
	else
		fputs("null", stdout);
	fputs(",\"vulnerable\":", stdout);
	if (vulnerable >= 0)
		printf("\"%s\"", dealbox_vulnerable_name(vulnerable));
	else
		fputs("null", stdout);
	dealbox_deal_format(&board->deal, DEALBOX_NORTH, deal);
	printf(",\"deal\":\"%s\"}", deal);
	explicit_bzero(deal, sizeof(deal));
}

static void show_json(const struct set_as_read *input, bool reveal)
{
	struct dealbox_board board;

	fputs("{\"deals\":[", stdout);
	for (size_t i = 0; !dealbox_set_get(input->set, i, &board); i++) {
		fputs(i ? ",\n" : "", stdout);
		board_json(&board);
	}
	dealbox_deal_wipe(&board.deal);
	fputs("],\n\"problems\":", stdout);
	set_as_read_problems_json(input->report, reveal);
	fputs(",\n\"counts\":", stdout);
	set_as_read_counts_json(input->report);
	puts("}");
}

/* One suit of one hand, "-" for none. */
static void suit_text(const struct dealbox_deal *deal, int seat, int suit, char text[16])
{
	char whole[DEALBOX_CARDS_TEXT];
	size_t size = dealbox_cards_format(deal->hand[seat] & (dealbox_cards)0x1fff
					   << (13 * suit), whole);

	/* the dots of the other suits stand around it */
	snprintf(text, 16, "%.*s", (int)(size - 3), whole + suit);
	if (size == 3)
		strcpy(text, "-");
}

/* North above, West and East side by side, South below. */
static void show_board(const struct dealbox_board *board)
{
	static const char suits[] = "SHDC";
	char name[80], left[16], right[16];

	dealbox_board_name(board, name, sizeof(name));
	say("Board %s  dealer %s  vulnerable %s", *name ? name : "-",
	    dealbox_seat_name(dealer_of(board)),
	    dealbox_vulnerable_name(vulnerable_of(board)));
	for (int suit = 0; suit < 4; suit++) {
		suit_text(&board->deal, DEALBOX_NORTH, suit, left);
		say("%15s%c %s", "", suits[suit], left);
	}
	for (int suit = 0; suit < 4; suit++) {
		suit_text(&board->deal, DEALBOX_WEST, suit, left);
		suit_text(&board->deal, DEALBOX_EAST, suit, right);
		say("%c %-27s%c %s", suits[suit], left, suits[suit], right);
	}
	for (int suit = 0; suit < 4; suit++) {
		suit_text(&board->deal, DEALBOX_SOUTH, suit, left);
		say("%15s%c %s", "", suits[suit], left);
	}
	say("%s", "");
}

static enum status show_run(struct args *args)
{
	struct set_as_read input;
	enum status status;
	struct look look;

	if (!look_parse(&look, args))
		return args->status;
	status = set_as_read_files(&input, &look.reading, args->argv, args->argc);
	if (!status && look.json) {
		show_json(&input, look.reveal);
	} else if (!status) {
		struct dealbox_board board;

		for (size_t i = 0; !dealbox_set_get(input.set, i, &board); i++)
			show_board(&board);
		dealbox_deal_wipe(&board.deal);
		set_as_read_complain(input.report, look.reveal);
	}
	if (input.unread)
		status = STATUS_INPUT;
	set_as_read_free(&input);
	return status;
}

static const struct option_row show_options[] = {
	OPT_FIRST,
	OPT_FROM,
	OPT_JSON,
	OPT_REVEAL,
	{ 0 }
};

const struct command cmd_show = {
	.name = "show",
	.operands = "FILE...",
	.summary = "Show the deals of files",
	.about = "Shows every complete deal, and reports the problems of the others. All files\n"
		 "together are one set; - is standard input. Do not show deals that you will\n"
		 "play: `dealbox check` checks them without showing cards. With --reveal, reports\n"
		 "of problems name cards too.",
	.options = show_options,
	.run = show_run,
};
