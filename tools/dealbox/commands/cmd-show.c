// SPDX-License-Identifier: LGPL-2.1-or-later
/* dealbox show: the deals of files, and the problems of the rest. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "double-dummy/double-dummy.h"
#include "ui/set-as-read.h"

static struct json_object *par_json(const struct par *par)
{
	struct json_object *object = json_object_new_object(), *list = json_object_new_array();
	char text[PAR_CONTRACT_TEXT], declarers[DEALBOX_HANDS + 1], *end;

	json_add_number(object, "score", par->score);
	for (unsigned int i = 0; i < par->count; i++) {
		const struct par_contract *contract = &par->contracts[i];
		struct json_object *one = json_object_new_object();

		end = declarers;
		for (int seat = 0; seat < DEALBOX_HANDS; seat++)
			if (contract->declarers & 1 << seat)
				*end++ = dealbox_seat_letter(seat);
		*end = '\0';
		json_add_number(one, "level", contract->level);
		json_add_text(one, "denomination", denomination_name(contract->denomination));
		json_add_text(one, "declarers", declarers);
		json_add_bool(one, "doubled", contract->result < 0);
		json_add_number(one, "result", contract->result);
		json_add_text(one, "text", par_contract_format(contract, text));
		json_object_array_add(list, one);
	}
	json_object_object_add(object, "contracts", list);
	return object;
}

static struct json_object *double_dummy_json(const struct dealbox_board *board,
					     const struct double_dummy *table)
{
	struct json_object *object = json_object_new_object(), *tricks = json_object_new_object();
	struct json_object *one;
	struct par par;

	for (int seat = 0; seat < DEALBOX_HANDS; seat++) {
		const char letter[] = { dealbox_seat_letter(seat), '\0' };

		one = json_object_new_object();
		for (int i = 0; i < DENOMINATIONS; i++)
			json_add_number(one, denomination_name(table_denominations[i]),
					table->tricks[table_denominations[i]][seat]);
		json_object_object_add(tricks, letter, one);
	}
	json_object_object_add(object, "tricks", tricks);
	if (par_of_board(board, table, &par))
		json_object_object_add(object, "par", par_json(&par));
	return object;
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
	int dealer = board_dealer(board), vulnerable = board_vulnerable(board);
	const char letter[] = { dealer >= 0 ? dealbox_seat_letter(dealer) : '\0', '\0' };
	struct json_object *object = json_line("board");
	char deal[DEALBOX_DEAL_TEXT];

	set_as_read_board_json(object, board);
	json_add_text(object, "dealer", letter);
	if (vulnerable >= 0)
		json_add_text(object, "vulnerable", dealbox_vulnerable_name(vulnerable));
	dealbox_deal_format(&board->deal, DEALBOX_NORTH, deal);
	json_add_text(object, "deal", deal);
	explicit_bzero(deal, sizeof(deal));
	if (table)
		json_object_object_add(object, "double_dummy", double_dummy_json(board, table));
	json_say(object);
}

/* tables: NULL if they are not wanted */
static void show_json(const struct set_as_read *input, const struct double_dummy *tables,
		      bool reveal)
{
	struct dealbox_board board;

	for (size_t i = 0; !dealbox_set_get(input->set, i, &board); i++)
		board_json(&board, tables ? &tables[i] : NULL);
	dealbox_deal_wipe(&board.deal);
	set_as_read_json(input->report, dealbox_set_count(input->set), reveal);
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
