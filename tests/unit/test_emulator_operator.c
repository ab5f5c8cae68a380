/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The emulated operator never loses a card, and resolves every stop. */
#include "command.h"
#include "emulator_fixture.h"
#include "emulated_operator.h"

#define STORED	DEALBOX_CAP_STORED_PLAN
#define BRIDGE	0x000fffffffffffffULL

struct table {
	struct fixture *fixture;
	struct operator operator;
};

static struct table table_new(const char *rules, unsigned int packs)
{
	struct table table = { .fixture = fixture_new(STORED) };

	fixture_rule(table.fixture, rules);
	operator_init(&table.operator, table.fixture->m, 3);
	operator_fill(&table.operator, BRIDGE, packs);
	return table;
}

/* The same as fixture_until(), with an operator at the machine. */
static const struct wire_event *until(struct table *table, const uint8_t *types)
{
	struct fixture *fixture = table->fixture;
	uint64_t end = fixture->now + FIXTURE_PATIENCE;

	for (;;) {
		uint64_t next;

		fixture_collect(fixture);
		while (operator_run(&table->operator, fixture->now))
			fixture_collect(fixture);
		while (fixture->seen < fixture->count)
			if (strchr((const char *)types, fixture->events[fixture->seen++].type))
				return &fixture->events[fixture->seen - 1];
		next = operator_next(&table->operator);
		if (machine_next(fixture->m) < next)
			next = machine_next(fixture->m);
		if (next > end)
			fail_msg("none of the events %02x... came", types[0]);
		if (next > fixture->now)
			fixture->now = next;
		machine_run(fixture->m, fixture->now);
	}
}

/* Checks that every card of the packs is in exactly one place. */
static void check_cards(struct table *table, unsigned int packs)
{
	struct machine *m = table->fixture->m;
	const struct machine_board *board = machine_view(m).board;
	uint8_t count[4][52] = { 0 };
	const struct pile *piles[11] = { machine_hopper(m), machine_path(m), machine_table(m) };
	unsigned int i, k, pack, card;

	for (i = 0; i < 8; i++)
		piles[3 + i] = &board->pocket[i];
	for (i = 0; i < 11; i++)
		for (k = 0; k < piles[i]->count; k++)
			if (!piles[i]->card[k].stray)
				count[piles[i]->card[k].pack][piles[i]->card[k].number]++;
	for (pack = 0; pack < packs; pack++)
		for (card = 0; card < 52; card++)
			assert_int_equal(count[pack][card], 1);
}

/* Deals a number of boards, as a host that knows only the events. */
static unsigned int deal_boards(struct table *table, unsigned int boards)
{
	static const uint8_t types[] = {
		DEALBOX_EV_BOARD_INSERTED, DEALBOX_EV_DEAL_DONE, DEALBOX_EV_KEY,
		DEALBOX_EV_CARD_UNREADABLE, DEALBOX_EV_NOT_IN_PLAN, DEALBOX_EV_FEED_TIMEOUT,
		DEALBOX_EV_DECK_SHORT, 0,
	};
	struct fixture *fixture = table->fixture;
	unsigned int done = 0, starts = 0;

	while (done < boards) {
		const struct wire_event *event = until(table, types);
		struct wire_status status = fixture_status(fixture);

		if (event->type == DEALBOX_EV_DEAL_DONE) {
			done++;
			check_cards(table, 1);
		} else if (event->type == DEALBOX_EV_KEY && event->arg[0] &&
			   status.state == DEALBOX_STATE_HELD) {
			assert_int_equal(fixture_do(fixture, DEALBOX_OP_REREAD), 0);
		} else if (event->type == DEALBOX_EV_KEY && event->arg[0] &&
			   status.state == DEALBOX_STATE_FAULT) {
			assert_int_equal(fixture_do(fixture, DEALBOX_OP_CLEAR_FAULT), 0);
		} else {
			continue;
		}
		status = fixture_status(fixture);
		if (status.state != DEALBOX_STATE_IDLE || !status.insertion)
			continue;
		fixture_load_mode(fixture, DEALBOX_PLAN_BY_CARD);
		assert_int_equal(fixture_start(fixture, DEALBOX_PLAN_BY_CARD), 0);
		starts++;
	}
	return starts;
}

static void first_board(struct table *table)
{
	static const uint8_t inserted[] = { DEALBOX_EV_BOARD_INSERTED, 0 };

	until(table, inserted);
	fixture_load_mode(table->fixture, DEALBOX_PLAN_BY_CARD);
	assert_int_equal(fixture_start(table->fixture, DEALBOX_PLAN_BY_CARD), 0);
}

static void packs_are_whole_and_mixed(void **state)
{
	struct table table = table_new("", 4);
	struct pile *hopper = machine_hopper(table.fixture->m);
	unsigned int pack, i, sorted = 0;

	(void)state;
	assert_int_equal(hopper->count, 208);
	for (pack = 0; pack < 4; pack++)
		for (i = 0; i < 52; i++) {
			assert_int_equal(hopper->card[pack * 52 + i].pack, pack);
			sorted += hopper->card[pack * 52 + i].number == i;
		}
	assert_true(sorted < 20);
	check_cards(&table, 4);
	/* a fifth pack does not fit */
	operator_fill(&table.operator, BRIDGE, 1);
	assert_int_equal(hopper->count, 208);
	fixture_free(table.fixture);
}

static void every_fault_finds_its_way_on(void **state)
{
	static const char *const rules[] = {
		"position 7: unreadable", "position 7: face-up", "position 7: extra joker1",
		"position 7: misread joker1", "position 7: feed-timeout", "position 7: missing",
		"position 7: repeat", "position 7: misread", "position 7: double-feed",
		"position 7: jam feeder", "position 7: jam reader", "position 7: jam gate",
		"position 7: jam pocket", "position 7: wrong-pocket", "position 7: pull",
		"position 7: cover open",
		"position 7: face-up\nposition 7: jam feeder", "position 7: hardware 5",
		"position 7: hardware 5 lasting",
	};
	static const uint8_t inserted[] = { DEALBOX_EV_BOARD_INSERTED, 0 };
	unsigned int i, packs;

	(void)state;
	for (packs = 1; packs <= 2; packs++) {
		for (i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
			struct table table = table_new(rules[i], packs);

			first_board(&table);
			deal_boards(&table, 1);
			check_cards(&table, packs);
			/* the dealt board goes out and its cards go back */
			until(&table, inserted);
			assert_int_equal(table.fixture->account.end, MACHINE_DONE);
			assert_int_equal(table.fixture->account.pocket[0].count, 13);
			assert_int_equal(machine_hopper(table.fixture->m)->count, 52 * packs);
			/* a card that was face up in a jam is turned over */
			if (strstr(rules[i], "jam"))
				assert_int_equal(
					fixture_count(table.fixture, DEALBOX_EV_CARD_UNREADABLE),
					0);
			check_cards(&table, packs);
			fixture_free(table.fixture);
		}
	}
}

static void numbered_boards_come_in_their_order(void **state)
{
	struct table table = table_new("deal 2 position 3: jam gate", 2);
	static const uint16_t expected[] = { 5, 6, 6, 5 };
	unsigned int i, seen = 0;

	(void)state;
	table.operator.boards[0] = 5;
	table.operator.boards[1] = 6;
	table.operator.board_count = 2;
	first_board(&table);
	for (i = 0; i < 3; i++) {
		deal_boards(&table, 1);
		if (i < 2) {
			static const uint8_t inserted[] = { DEALBOX_EV_BOARD_INSERTED, 0 };

			until(&table, inserted);
			fixture_load_mode(table.fixture, DEALBOX_PLAN_BY_CARD);
			assert_int_equal(fixture_start(table.fixture, DEALBOX_PLAN_BY_CARD), 0);
		}
	}
	for (i = 0; i < table.fixture->count; i++)
		if (table.fixture->events[i].type == DEALBOX_EV_BOARD_INSERTED && seen < 4)
			assert_int_equal(table.fixture->events[i].arg[0], expected[seen++]);
	assert_int_equal(seen, 4);
	fixture_free(table.fixture);
}

static void an_aborted_board_comes_again(void **state)
{
	static const uint8_t routed[] = { DEALBOX_EV_CARD_ROUTED, 0 };
	static const uint8_t inserted[] = { DEALBOX_EV_BOARD_INSERTED, 0 };
	struct table table = table_new("", 1);

	(void)state;
	table.operator.boards[0] = 5;
	table.operator.boards[1] = 6;
	table.operator.board_count = 2;
	first_board(&table);
	until(&table, routed);
	assert_int_equal(fixture_do(table.fixture, DEALBOX_OP_ABORT), 0);
	assert_int_equal(until(&table, inserted)->arg[0], 5);
	assert_int_equal(table.fixture->account.end, MACHINE_VOID);
	assert_int_equal(machine_hopper(table.fixture->m)->count, 52);
	check_cards(&table, 1);
	fixture_free(table.fixture);
}

/* Every fault but misreads, repeatedly, at intervals without a common divisor. */
static const char evening_rules[] =
	"every 97: unreadable\n"
	"every 131: feed-timeout\n"
	"every 157: face-up\n"
	"every 173: jam gate\n"
	"every 211: wrong-pocket\n"
	"every 233: double-feed\n"
	"every 251: extra joker1\n"
	"every 307: missing\n"
	"every 401: repeat\n"
	"every 449: jam pocket\n"
	"every 509: key stop\n"
	"every 601: pull\n"
	"every 701: cover open\n"
	"every 811: reset\n"
	"on land every 907: power-cycle 10\n"
	"on read every 1009: unplug 10\n";

/* The host's knowledge of the board in the machine, from events alone. */
struct knowledge {
	struct pile pocket[4];
	unsigned int done;
	uint32_t insertion;	/* the last; they only grow */
};

static void learn(struct table *table, struct knowledge *k, const struct wire_event *event)
{
	const struct machine_board *board = machine_view(table->fixture->m).board;
	unsigned int pocket, i;

	switch (event->type) {
	case DEALBOX_EV_BOARD_INSERTED:
		assert_true(event->insertion >= k->insertion);
		k->insertion = event->insertion;
		memset(k->pocket, 0, sizeof(k->pocket));
		break;
	case DEALBOX_EV_CARD_LANDED:
		pile_put_bottom(&k->pocket[event->pocket], (struct card){ .number = event->card });
		break;
	case DEALBOX_EV_DEAL_DONE:
		k->done++;
		assert_int_equal(event->insertion, board->insertion);
		for (pocket = 0; pocket < 4; pocket++) {
			assert_int_equal(board->pocket[pocket].count, 13);
			assert_int_equal(k->pocket[pocket].count, 13);
			for (i = 0; i < 13; i++)
				assert_int_equal(board->pocket[pocket].card[i].number,
						 k->pocket[pocket].card[i].number);
		}
		break;
	}
}

static void act(struct table *table, const struct wire_event *event, uint32_t kind)
{
	struct fixture *fixture = table->fixture;
	struct wire_status status = fixture_status(fixture);
	bool key = event->type == DEALBOX_EV_KEY && event->code == DEALBOX_KEY_START &&
		event->arg[0];

	if (event->type == DEALBOX_EV_PAUSED && status.state == DEALBOX_STATE_PAUSED)
		assert_int_equal(fixture_do(fixture, DEALBOX_OP_RESUME), 0);
	else if (key && status.state == DEALBOX_STATE_HELD)
		assert_int_equal(fixture_do(fixture, DEALBOX_OP_REREAD), 0);
	else if (key && status.state == DEALBOX_STATE_FAULT)
		assert_int_equal(fixture_do(fixture, DEALBOX_OP_CLEAR_FAULT), 0);
	status = fixture_status(fixture);
	if (status.state != DEALBOX_STATE_IDLE || !status.insertion ||
	    status.flags & (DEALBOX_STATUS_SPENT | DEALBOX_STATUS_IN_DOUBT |
			    DEALBOX_STATUS_COVER_OPEN))
		return;
	if (kind == STORED && !status.plan_id)
		fixture_load_mode(fixture, DEALBOX_PLAN_BY_CARD);
	/* loading the plan took time, so the state may have changed */
	if (fixture_status(fixture).insertion == status.insertion)
		fixture_start(fixture, DEALBOX_PLAN_BY_CARD);
}

static void a_long_evening(void **state)
{
	static const uint32_t kinds[] = { STORED, DEALBOX_CAP_HOST_ROUTED };
	unsigned int k;

	(void)state;
	for (k = 0; k < 2; k++) {
		struct table table = { .fixture = fixture_new(kinds[k]) };
		struct knowledge *knowledge = calloc(1, sizeof(*knowledge));
		struct fixture *fixture = table.fixture;
		uint64_t patience = fixture->now + FIXTURE_PATIENCE;

		assert_non_null(knowledge);
		fixture_rule(fixture, evening_rules);
		fixture->route = true;
		operator_init(&table.operator, fixture->m, 3);
		operator_fill(&table.operator, BRIDGE, 2);
		while (knowledge->done < 200) {
			uint64_t next;
			unsigned int before = knowledge->done;

			if (machine_view(fixture->m).plugged &&
			    !machine_view(fixture->m).configured)
				machine_configure(fixture->m);
			fixture_collect(fixture);
			while (fixture->seen < fixture->count) {
				const struct wire_event *event = &fixture->events[fixture->seen++];

				learn(&table, knowledge, event);
				act(&table, event, kinds[k]);
			}
			/* make room, because the fixture keeps a limited number of events */
			fixture->count = fixture->seen = 0;
			if (operator_run(&table.operator, fixture->now))
				continue;
			/* no card is falling */
			if (machine_view(fixture->m).state == DEALBOX_STATE_IDLE ||
			    machine_view(fixture->m).state == DEALBOX_STATE_DONE)
				check_cards(&table, 2);
			if (knowledge->done > before)
				patience = fixture->now + 10 * FIXTURE_PATIENCE;
			next = operator_next(&table.operator);
			if (machine_next(fixture->m) < next)
				next = machine_next(fixture->m);
			if (next > patience)
				fail_msg("kind %u: stuck in state %u after %u boards", k,
					 machine_view(fixture->m).state, knowledge->done);
			if (next > fixture->now)
				fixture->now = next;
			machine_run(fixture->m, fixture->now);
		}
		/* all faults have occurred */
		assert_true(fixture_counters(fixture).boards_voided > 20);
		assert_true(fixture_counters(fixture).jams > 1);
		assert_true(fixture_counters(fixture).double_feeds > 1);
		assert_true(fixture_counters(fixture).wrong_pockets > 1);
		assert_true(fixture_counters(fixture).repeated > 1);
		assert_true(fixture_counters(fixture).not_in_plan > 1);
		assert_true(fixture_counters(fixture).feed_timeouts > 1);
		assert_true(fixture_counters(fixture).power_ons > 1);
		free(knowledge);
		fixture_free(fixture);
	}
}

static void the_account_tells_what_lies_there(void **state)
{
	struct machine_board board = {
		.present = true, .insertion = 7, .number = 3, .plan = 9, .deals = 1,
		.end = MACHINE_VOID, .spent = true,
	};
	char line[400];

	(void)state;
	pile_put_bottom(&board.pocket[0], (struct card){ .number = 51 });
	pile_put_bottom(&board.pocket[0], (struct card){ .number = 0 });
	pile_put_bottom(&board.pocket[3], (struct card){ .number = 52 });
	assert_true(account_json(&board, line, sizeof(line)) > 0);
	assert_string_equal(line,
			    "{\"insertion\":7,\"board\":3,\"plan\":9,\"deals\":1,\"end\":\"void\","
			    "\"spent\":true,\"captured\":false,\"in_doubt\":false,"
			    "\"pockets\":[[51,0],[],[],[52],[],[],[],[]]}");
	assert_int_equal(account_json(&board, line, 100), -1);
}

static const char *say(struct table *table, const char *line)
{
	static const struct device_config config = { .serial = "B1", .int_in_size = 64,
						       .protocol = WIRE_PROTOCOL };
	static char reply[CONTROL_REPLY_MAX];
	struct device *device = device_new(table->fixture->m, &config);
	struct control control = {
		table->fixture->m, &table->operator, table->fixture->scenario, device,
	};
	bool answered = control_line(&control, line, reply, sizeof(reply));

	device_free(device);
	return answered ? reply : "waits";
}

/* A pocket of an original: thirteen cards, in that order. */
static void a_hand_is_put_on_top(void **state)
{
	struct table table = table_new("", 1);
	struct pile *hopper = machine_hopper(table.fixture->m);
	char line[PILE_MAX * 3 + 16] = "hopper top";
	unsigned int before, i;

	(void)state;
	say(&table, "hopper empty");
	assert_string_equal(say(&table, "hopper top SA SK SQ SJ ST S9 S8 S7 S6 S5 S4 S3 S2"), "ok");
	assert_int_equal(hopper->count, 13);
	for (i = 0; i < 13; i++)
		assert_int_equal(hopper->card[i].number, i);
	/* a pack that does not fit is refused entirely */
	before = hopper->count;
	for (i = 0; i < PILE_MAX - before + 1; i++)
		strcat(line, " SA");
	assert_string_equal(say(&table, line), "error: so many cards do not fit into the hopper");
	assert_int_equal(hopper->count, before);
	fixture_free(table.fixture);
}

static void commands_are_answered_by_one_line(void **state)
{
	static const struct { const char *line, *reply; } lines[] = {
		{ "", "error: no such command" }, { "fly", "error: no such command" },
		{ "remove", "error: no board" }, { "account", "error: no board" },
		{ "wait board", "waits" }, { "insert 4", "ok insertion 1" },
		{ "insert", "error: a board is there" }, { "wait board", "ok" },
		{ "insert x", "error: insert [BOARD]" }, { "cover", "error: cover open" },
		{ "cover open", "ok" }, { "cover close", "ok" }, { "key", "error: key" },
		{ "key start", "ok" }, { "key 9 press", "ok" },
		{ "key x", "error: there is no key" },
		{ "account", "ok {\"insertion\":1,\"board\":4," },
		{ "status", "ok state IDLE fault 0 position 0" },
		{ "wait state DONE", "waits" }, { "wait state IDLE", "ok" },
		{ "wait state OFF", "error: wait" }, { "wait", "error: wait" },
		{ "wait insertion 1", "ok" }, { "wait deals 1", "waits" },
		{ "inject position 3: fly", "error: inject:1: \"fly\"" },
		{ "inject position 3: misread", "ok" }, { "take-card", "error: no card" },
		{ "hopper", "error: hopper" }, { "hopper top SA", "ok" },
		{ "hopper top S1", "error" },
		{ "hopper empty", "ok" }, { "wait unlocked", "ok" },
		{ "hopper fill", "ok" }, { "operator off", "ok" },
		{ "operator", "error" }, { "freeze", "ok" }, { "wait frozen", "ok" },
		{ "speed 0.5", "ok" }, { "speed", "error: speed" }, { "speed -1", "error: speed" },
		{ "speed 1x", "error: speed" },
		{ "thaw", "ok" }, { "wait frozen", "waits" }, { "break", "error: break" },
		{ "break 5 lasting", "ok" }, { "wait state FAULT", "ok" }, { "repair", "ok" },
		{ "reset", "ok" }, { "wait state IDLE", "ok" }, { "remove", "ok" },
		{ "unplug x", "error: a time" }, { "unplug", "ok" }, { "wait unplugged", "ok" },
		{ "plug", "ok" }, { "wait plugged", "ok" }, { "power-cycle", "ok" },
		{ "wait configured", "waits" }, { "empty", "ok" }, { "clean-card", "ok" },
	};
	struct table table = table_new("", 1);
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const char *reply = say(&table, lines[i].line);

		if (strncmp(reply, lines[i].reply, strlen(lines[i].reply)))
			fail_msg("\"%s\": %s", lines[i].line, reply);
		assert_null(strchr(reply, '\n'));
	}
	fixture_free(table.fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packs_are_whole_and_mixed),
		cmocka_unit_test(every_fault_finds_its_way_on),
		cmocka_unit_test(numbered_boards_come_in_their_order),
		cmocka_unit_test(an_aborted_board_comes_again),
		cmocka_unit_test(a_long_evening),
		cmocka_unit_test(the_account_tells_what_lies_there),
		cmocka_unit_test(a_hand_is_put_on_top),
		cmocka_unit_test(commands_are_answered_by_one_line),
	};

	return cmocka_run_group_tests_name("emulator operator", tests, NULL, NULL);
}
