// SPDX-License-Identifier: LGPL-2.1-or-later
/* dealbox show: the deals of files, and the problems of the rest. */
#include <stdlib.h>
#include <string.h>

#include "double-dummy/double-dummy.h"
#include "ui/set-as-read.h"

static void par_json(const struct par *par)
{
	char text[PAR_CONTRACT_TEXT];

	printf("{\"score_ns\":%d,\"contracts\":[", par->score);
	for (unsigned int i = 0; i < par->count; i++) {
		const struct par_contract *contract = &par->contracts[i];

		printf("%s{\"level\":%u,\"denomination\":\"%s\",\"declarers\":\"", i ? "," : "",
		       contract->level, denomination_name(contract->denomination));
		for (int seat = 0; seat < DEALBOX_HANDS; seat++)
			if (contract->declarers & 1 << seat)
				putchar(dealbox_seat_letter(seat));
		printf("\",\"doubled\":%s,\"result\":%d,\"text\":\"%s\"}",
		       contract->result < 0 ? "true" : "false", contract->result,
		       par_contract_format(contract, text));
	}
	fputs("]}", stdout);
}

static void double_dummy_json(const struct dealbox_board *board, const struct double_dummy *table)
{
	struct par par;

	fputs(",\"double_dummy\":{\"tricks\":{", stdout);
	for (int seat = 0; seat < DEALBOX_HANDS; seat++) {
		printf("%s\"%c\":{", seat ? "," : "", dealbox_seat_letter(seat));
		for (int i = 0; i < DENOMINATIONS; i++)
			printf("%s\"%s\":%u", i ? "," : "",
			       denomination_name(table_denominations[i]),
			       table->tricks[table_denominations[i]][seat]);
		putchar('}');
	}
	fputs("},\"par\":", stdout);
	if (par_of_board(board, table, &par))
		par_json(&par);
	else
		fputs("null", stdout);
	putchar('}');
}

static void par_show(const struct par *par)
{
	char text[PAR_CONTRACT_TEXT];

	if (!par->score) {
		say("Par 0: passed out");
		return;
	}
	put("Par %s %+d", par->score > 0 ? "NS" : "EW", abs(par->score));
	for (unsigned int i = 0; i < par->count; i++)
		put("%s %s", i ? "," : ":", par_contract_format(&par->contracts[i], text));
	say("%s", "");
}

static void double_dummy_show(const struct dealbox_board *board, const struct double_dummy *table)
{
	struct par par;

	put("Tricks ");
	for (int i = 0; i < DENOMINATIONS; i++)
		put("%3s", denomination_name(table_denominations[i]));
	say("%s", "");
	for (size_t n = 0; n < DEALBOX_HANDS; n++) {
		put("%-7s", dealbox_seat_name(table_seats[n]));
		for (int i = 0; i < DENOMINATIONS; i++)
			put("%3u", table->tricks[table_denominations[i]][table_seats[n]]);
		say("%s", "");
	}
	if (par_of_board(board, table, &par))
		par_show(&par);
	else
		say("Par is not known without dealer and vulnerability");
	say("%s", "");
}

static void board_json(const struct dealbox_board *board, const struct double_dummy *table)
{
	char deal[DEALBOX_DEAL_TEXT];
	int dealer = board_dealer(board), vulnerable = board_vulnerable(board);

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
	printf(",\"deal\":\"%s\"", deal);
	explicit_bzero(deal, sizeof(deal));
	if (table)
		double_dummy_json(board, table);
	putchar('}');
}

/* tables: NULL if they are not wanted */
static void show_json(const struct set_as_read *input, const struct double_dummy *tables,
		      bool reveal)
{
	struct dealbox_board board;

	fputs("{\"deals\":[", stdout);
	for (size_t i = 0; !dealbox_set_get(input->set, i, &board); i++) {
		fputs(i ? ",\n" : "", stdout);
		board_json(&board, tables ? &tables[i] : NULL);
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
	    dealbox_seat_name(board_dealer(board)),
	    dealbox_vulnerable_name(board_vulnerable(board)));
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

static void show_text(const struct set_as_read *input, const struct double_dummy *tables,
		      bool reveal)
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;

	for (size_t i = 0; !dealbox_set_get(input->set, i, &board); i++) {
		show_board(&board);
		if (tables)
			double_dummy_show(&board, &tables[i]);
	}
	dealbox_deal_wipe(&board.deal);
	set_as_read_complain(input->report, reveal);
}

static enum status show_run(struct args *args)
{
	struct double_dummy *tables = NULL;
	struct set_as_read input;
	enum status status;
	struct look look;

	if (!look_parse(&look, args))
		return args->status;
	status = set_as_read_files(&input, &look.reading, args->argv, args->argc);
	if (!status && look.double_dummy) {
		tables = double_dummy_solve(input.set);
		if (!tables)
			status = STATUS_INPUT;
	}
	if (!status)
		(look.json ? show_json : show_text)(&input, tables, look.reveal);
	if (input.unread)
		status = STATUS_INPUT;
	free(tables);
	set_as_read_free(&input);
	return status;
}

static const struct option_row show_options[] = {
	{ KEY_DOUBLE_DUMMY, "double-dummy", NULL, "add the tricks of each declarer, and par" },
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
		 "of problems name cards too.\n\n"
		 "With --double-dummy, the table says how many tricks each player takes as\n"
		 "declarer if all play well and see all cards. Par is the score if all bid as\n"
		 "well, with every contract that gives it: 4S N+1 is also 5S N, x is doubled.",
	.options = show_options,
	.run = show_run,
};
