/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The emulator's machine against docs/protocol.md, section by section. */
#include <linux/crc32.h>

#include "emulator_fixture.h"

#define STORED	DEALBOX_CAP_STORED_PLAN
#define ROUTED	DEALBOX_CAP_HOST_ROUTED
#define BY_CARD	DEALBOX_PLAN_BY_CARD
#define ANY_INSERTION	1

/* --- deals --------------------------------------------------------------------------- */

static void check_done(struct fixture *fixture, uint32_t plan)
{
	const struct wire_event *done = fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
	const struct machine_board *board = machine_view(fixture->m).board;
	uint8_t counts[8];
	unsigned int i;

	assert_int_equal(done->code, plan);
	assert_int_equal(done->position, 52);
	memcpy(counts, done->arg, sizeof(counts));
	for (i = 0; i < 8; i++) {
		assert_int_equal(counts[i], i < 4 ? 13 : 0);
		assert_int_equal(board->pocket[i].count, counts[i]);
	}
	assert_int_equal(fixture_status(fixture).state, DEALBOX_STATE_DONE);
}

static void deals_by_card(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "");
	unsigned int pocket, i, place[DEALBOX_MAX_CARDS] = { 0 };

	(void)state;
	check_done(fixture, 0x101);
	for (pocket = 0; pocket < 4; pocket++)
		for (i = 0; i < 13; i++)
			assert_int_equal(
				machine_view(fixture->m).board->pocket[pocket].card[i].number % 4,
				pocket);
	/* CARD_READ before CARD_ROUTED before CARD_LANDED, with the same position */
	for (i = 0; i < fixture->count; i++) {
		const struct wire_event *event = &fixture->events[i];

		if (event->type >= DEALBOX_EV_CARD_READ && event->type <= DEALBOX_EV_CARD_LANDED) {
			assert_int_equal(place[event->position],
					 event->type - DEALBOX_EV_CARD_READ);
			place[event->position]++;
		}
		assert_int_equal(event->number, i + 1);
	}
	assert_int_equal(fixture_counters(fixture).boards_dealt, 1);
	assert_int_equal(fixture_counters(fixture).cards_fed, 52);
	fixture_free(fixture);
}

static void deals_by_position(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, DEALBOX_PLAN_BY_POSITION,
						  "position 5: unreadable\n");
	unsigned int i;

	(void)state;
	check_done(fixture, 0x102);
	/* the deal continues with an unreadable card as not read */
	for (i = 0; i < fixture->count; i++)
		if (fixture->events[i].type == DEALBOX_EV_CARD_READ &&
		    fixture->events[i].position == 5)
			assert_int_equal(fixture->events[i].card, DEALBOX_NONE);
	fixture_free(fixture);
}

static void by_position_stops_at_a_repeated_card(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, DEALBOX_PLAN_BY_POSITION,
						  "position 9: misread S8\n");
	const struct wire_event *stop = fixture_until(fixture, DEALBOX_EV_REPEATED_CARD);

	(void)state;
	assert_int_equal(stop->position, 9);
	assert_int_equal(stop->card, card_parse("S8"));
	assert_int_equal(stop->arg[0], card_parse("S8"));
	fixture_free(fixture);
}

static void captures_until_the_hopper_is_empty(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, DEALBOX_PLAN_CAPTURE, "");
	const struct wire_event *done = fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
	uint32_t detail;

	(void)state;
	assert_int_equal(done->position, 52);
	assert_int_equal(machine_view(fixture->m).board->pocket[0].count, 52);
	/* §5.2: not spent, but good for captures only */
	assert_int_equal(fixture_status(fixture).flags & DEALBOX_STATUS_SPENT, 0);
	fixture_cards(fixture, 4);
	assert_int_equal(fixture_command(fixture, DEALBOX_OP_START, 0x103, 1, 0, &detail), 0);
	fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
	fixture_cards(fixture, 4);
	assert_int_equal(fixture_command(fixture, DEALBOX_OP_TEST_DEAL, 0, 1, 4, &detail),
			 DEALBOX_ERR_SPENT);
	assert_int_equal(detail, 1);
	fixture_load_mode(fixture, BY_CARD);
	assert_int_equal(fixture_start(fixture, BY_CARD), DEALBOX_ERR_SPENT);
	fixture_free(fixture);
}

static void capture_is_refused_for_a_spent_insertion(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "");

	(void)state;
	check_done(fixture, 0x101);
	fixture_cards(fixture, 52);
	fixture_load_mode(fixture, DEALBOX_PLAN_CAPTURE);
	assert_int_equal(fixture_start(fixture, DEALBOX_PLAN_CAPTURE), DEALBOX_ERR_SPENT);
	fixture_free(fixture);
}

static void deals_what_the_host_routes(void **state)
{
	struct fixture *fixture = fixture_dealing(ROUTED, BY_CARD, "");

	(void)state;
	check_done(fixture, 0x101);
	fixture_free(fixture);
}

static void routed_capture_ends_with_the_hopper(void **state)
{
	struct fixture *fixture = fixture_dealing(ROUTED, DEALBOX_PLAN_CAPTURE, "");

	(void)state;
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_DEAL_STARTED)->arg[0], 0);
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_DEAL_DONE)->position, 52);
	fixture_free(fixture);
}

static void test_deal_needs_no_host(void **state)
{
	static const uint32_t kinds[] = { STORED, ROUTED };
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct fixture *fixture = fixture_new(kinds[i]);

		fixture_rule(fixture, "position 3: unreadable\nposition 4: misread SA\n");
		fixture_cards(fixture, 52);
		fixture_insert(fixture);
		assert_int_equal(fixture_command(fixture, DEALBOX_OP_TEST_DEAL, 0, 1, 52, NULL), 0);
		fixture_until(fixture, DEALBOX_EV_DEAL_STARTED);
		assert_int_equal(fixture_status(fixture).plan_id, DEALBOX_PLAN_TEST);
		check_done(fixture, DEALBOX_PLAN_TEST);
		assert_int_equal(fixture_start(fixture, BY_CARD),
				 kinds[i] == STORED ? DEALBOX_ERR_NO_PLAN : DEALBOX_ERR_SPENT);
		fixture_free(fixture);
	}
}

static void without_exit_sensors_routed_is_done(void **state)
{
	struct machine_config config = fixture_config(STORED);
	struct fixture *fixture;

	(void)state;
	config.desc.capabilities &= ~DEALBOX_CAP_EXIT_SENSORS;
	fixture = fixture_new_config(config);
	fixture_cards(fixture, 52);
	fixture_insert(fixture);
	fixture_load_mode(fixture, BY_CARD);
	assert_int_equal(fixture_start(fixture, BY_CARD), 0);
	check_done(fixture, 0x101);
	assert_int_equal(fixture_count(fixture, DEALBOX_EV_CARD_LANDED), 0);
	assert_int_equal(fixture_status(fixture).cards_done, 52);
	fixture_free(fixture);
}

static void without_reader_cards_are_only_counted(void **state)
{
	struct machine_config config = fixture_config(STORED);
	const struct wire_event *read;
	struct fixture *fixture;

	(void)state;
	config.desc.reader = DEALBOX_READER_NONE;
	config.desc.capabilities &= ~(DEALBOX_CAP_BY_CARD | DEALBOX_CAP_CAPTURE);
	fixture = fixture_new_config(config);
	fixture_cards(fixture, 52);
	fixture_insert(fixture);
	fixture_load_mode(fixture, DEALBOX_PLAN_BY_POSITION);
	assert_int_equal(fixture_start(fixture, DEALBOX_PLAN_BY_POSITION), 0);
	read = fixture_until(fixture, DEALBOX_EV_CARD_READ);
	assert_int_equal(read->card, DEALBOX_NONE);
	assert_int_equal(read->quality, DEALBOX_NONE);
	check_done(fixture, 0x102);
	fixture_free(fixture);
}

/* --- §6: gate commands -------------------------------------------------------------- */

static struct fixture *routed_at_first_card(const struct wire_event **read)
{
	struct fixture *fixture = fixture_dealing(ROUTED, BY_CARD, "");

	fixture->route = false;
	*read = fixture_until(fixture, DEALBOX_EV_CARD_READ);
	return fixture;
}

static void hold_stops_with_the_reason(void **state)
{
	static const uint8_t reasons[] = { DEALBOX_EV_REPEATED_CARD, DEALBOX_EV_NOT_IN_PLAN };
	const struct wire_event *read, *stop;
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct fixture *fixture = routed_at_first_card(&read);

		fixture_gate(fixture, read, DEALBOX_NONE, reasons[i], i ? 0 : 17);
		stop = fixture_until(fixture, reasons[i]);
		assert_int_equal(stop->card, read->card);
		assert_int_equal(stop->quality, read->quality);
		assert_int_equal(stop->code, read->code);
		assert_int_equal(stop->arg[0], i ? 0 : 17);
		assert_int_equal(fixture_status(fixture).state,
				 i ? DEALBOX_STATE_HELD : DEALBOX_STATE_FAULT);
		assert_true(fixture_status(fixture).flags & DEALBOX_STATUS_CARD_AT_READER);
		fixture_free(fixture);
	}
}

static void late_gate_holds_the_card(void **state)
{
	const struct wire_event *read, *again;
	struct fixture *fixture = routed_at_first_card(&read);
	struct wire_event first = *read;

	(void)state;
	fixture_pass(fixture, 19000);
	assert_int_equal(fixture_count(fixture, DEALBOX_EV_GATE_LATE), 0);
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_GATE_LATE)->card, first.card);
	assert_int_equal(fixture_status(fixture).state, DEALBOX_STATE_HELD);
	fixture_gate(fixture, &first, 0, 0, 0);
	assert_int_equal(fixture_counters(fixture).gates_late, 1);
	assert_int_equal(fixture_counters(fixture).gates_ignored, 0);
	fixture->route = true;
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_REREAD), 0);
	again = fixture_until(fixture, DEALBOX_EV_CARD_READ);
	assert_int_equal(again->position, first.position);
	assert_int_equal(again->card, first.card);
	assert_int_not_equal(again->number, first.number);
	check_done(fixture, 0x101);
	fixture_free(fixture);
}

static void gate_commands_that_answer_nothing_are_ignored(void **state)
{
	const struct wire_event *read;
	struct fixture *fixture = routed_at_first_card(&read);
	uint8_t good[WIRE_GATE_SIZE], bad[WIRE_GATE_SIZE + 1];
	/* offset and value that make the command wrong */
	static const uint8_t wrong[][2] = {
		{ 0, 2 }, { 1, 4 }, { 1, 254 }, { 2, 0x28 }, { 3, 1 }, { 4, 0xee }, { 8, 9 },
	};
	struct wire_gate gate = { .pocket = 0, .position = 0, .number = read->number,
				  .insertion = read->insertion };
	unsigned int i;

	(void)state;
	dealbox_encode_gate(good, &gate);
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		memcpy(bad, good, sizeof(good));
		bad[wrong[i][0]] = wrong[i][1];
		machine_gate(fixture->m, bad, WIRE_GATE_SIZE);
		assert_int_equal(fixture_counters(fixture).gates_ignored, i + 1);
	}
	memcpy(bad, good, sizeof(good));
	bad[1] = DEALBOX_NONE;	/* hold needs a reason */
	machine_gate(fixture->m, bad, WIRE_GATE_SIZE);
	machine_gate(fixture->m, good, WIRE_GATE_SIZE - 1);
	memcpy(bad, good, sizeof(good));
	bad[WIRE_GATE_SIZE] = 0;
	machine_gate(fixture->m, bad, WIRE_GATE_SIZE + 1);
	assert_int_equal(fixture_counters(fixture).gates_ignored, i + 3);
	assert_int_equal(fixture_status(fixture).state, DEALBOX_STATE_DEALING);
	machine_gate(fixture->m, good, WIRE_GATE_SIZE);
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_CARD_ROUTED)->pocket, 0);
	fixture_free(fixture);
}

static void a_full_pocket_is_a_fault(void **state)
{
	struct machine_config config = fixture_config(ROUTED);
	unsigned int i;
	struct fixture *fixture;

	(void)state;
	config.desc.pocket_capacity = 3;
	fixture = fixture_new_config(config);
	fixture_cards(fixture, 52);
	fixture_insert(fixture);
	assert_int_equal(fixture_start(fixture, BY_CARD), 0);
	for (i = 0; i < 4; i++)
		fixture_gate(fixture, fixture_until(fixture, DEALBOX_EV_CARD_READ), 2, 0, 0);
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_HARDWARE)->position, 3);
	fixture_pass(fixture, 1000000);
	assert_int_equal(machine_view(fixture->m).board->pocket[2].count, 3);
	fixture_free(fixture);
}

/* --- §5: the table of states ---------------------------------------------------------- */

/* Returns a machine in that state. */
static struct fixture *in_state(uint32_t kind, uint8_t wanted)
{
	static const char *const rules[] = {
		[DEALBOX_STATE_IDLE] = "", [DEALBOX_STATE_DEALING] = "",
		[DEALBOX_STATE_PAUSED] = "",
		[DEALBOX_STATE_HELD] = "position 2: unreadable",
		[DEALBOX_STATE_FAULT] = "position 2: jam reader",
		[DEALBOX_STATE_DONE] = "",
	};
	struct fixture *fixture;

	if (wanted == DEALBOX_STATE_IDLE) {
		fixture = fixture_new(kind);
		fixture_cards(fixture, 52);
		fixture_insert(fixture);
		if (kind == STORED)
			fixture_load_mode(fixture, BY_CARD);
		return fixture;
	}
	fixture = fixture_dealing(kind, BY_CARD, rules[wanted]);
	switch (wanted) {
	case DEALBOX_STATE_PAUSED:
		fixture_until(fixture, DEALBOX_EV_CARD_LANDED);
		assert_int_equal(fixture_do(fixture, DEALBOX_OP_PAUSE), 0);
		fixture_until(fixture, DEALBOX_EV_PAUSED);
		break;
	case DEALBOX_STATE_HELD:
		fixture_until(fixture, DEALBOX_EV_CARD_UNREADABLE);
		break;
	case DEALBOX_STATE_FAULT:
		fixture_until(fixture, DEALBOX_EV_JAM);
		break;
	case DEALBOX_STATE_DONE:
		fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
		fixture_cards(fixture, 52);
		break;
	}
	assert_int_equal(fixture_status(fixture).state, wanted);
	return fixture;
}

#define OK	DEALBOX_ERR_OK
#define STATE	DEALBOX_ERR_STATE
#define FAULT	DEALBOX_ERR_FAULT
#define SPENT	DEALBOX_ERR_SPENT
#define NO_CAP	DEALBOX_ERR_UNSUPPORTED

/* The rows of §5 for a stored-plan machine with a board lock. a of START and LOAD is the plan. */
static const struct row {
	uint8_t request;
	uint32_t a, b, c;
	uint8_t error[6];	/* IDLE, DEALING, PAUSED, HELD, FAULT, DONE */
	uint8_t after[6];	/* state at once; for STATE and others the state stays */
} rows[] = {
	{ WIRE_LOAD, 5, 88, 0, { OK, STATE, STATE, STATE, STATE, OK }, { 0, 1, 2, 3, 4, 5 } },
	{ WIRE_SET_PARAM, 1, 300, 0, { OK, STATE, STATE, STATE, OK, OK }, { 0, 1, 2, 3, 4, 5 } },
	{ DEALBOX_OP_START, 0x101, ANY_INSERTION, 0,
		{ OK, STATE, STATE, STATE, FAULT, SPENT }, { 1, 1, 2, 3, 4, 5 } },
	{ DEALBOX_OP_TEST_DEAL, 0, ANY_INSERTION, 8,
		{ OK, STATE, STATE, STATE, FAULT, SPENT }, { 1, 1, 2, 3, 4, 5 } },
	{ DEALBOX_OP_PAUSE, 0, 0, 0, { STATE, OK, STATE, STATE, STATE, STATE },
		{ 0, 1, 2, 3, 4, 5 } },
	{ DEALBOX_OP_RESUME, 0, 0, 0, { STATE, STATE, OK, STATE, STATE, STATE },
		{ 0, 1, 1, 3, 4, 5 } },
	{ DEALBOX_OP_REREAD, 0, 0, 0, { STATE, STATE, STATE, OK, STATE, STATE },
		{ 0, 1, 2, 1, 4, 5 } },
	{ DEALBOX_OP_ABORT, 0, 0, 0, { STATE, OK, OK, OK, STATE, STATE },
		/* in PAUSED no card is falling, so ABORTED comes at once */
		{ 0, 1, 0, 3, 4, 5 } },
	{ DEALBOX_OP_CLEAR_FAULT, 0, 0, 0, { STATE, STATE, STATE, STATE, OK, STATE },
		{ 0, 1, 2, 3, 0, 5 } },
	{ DEALBOX_OP_RELEASE_BOARD, 0, 0, 0, { OK, STATE, STATE, STATE, OK, OK },
		{ 0, 1, 2, 3, 4, 5 } },
	{ DEALBOX_OP_LOCATE, 3, 0, 0, { OK, OK, OK, OK, OK, OK }, { 0, 1, 2, 3, 4, 5 } },
};

static void every_command_in_every_state(void **state)
{
	static const uint32_t kinds[] = { STORED, ROUTED };
	unsigned int k, i;
	uint8_t s;

	(void)state;
	for (k = 0; k < 2; k++) {
		for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
			for (s = 0; s < 6; s++) {
				struct fixture *fixture = in_state(kinds[k], s);
				const struct row *row = &rows[i];
				uint8_t expected = row->error[s], got, after;
				uint32_t detail, c = row->c;

				if (kinds[k] == ROUTED && row->request == DEALBOX_OP_START)
					c = 52;
				if (kinds[k] == ROUTED && row->request == WIRE_LOAD)
					expected = NO_CAP;
				if (row->request == DEALBOX_OP_RELEASE_BOARD)
					expected = NO_CAP;
				/* the cause of the jam is taken away for CLEAR_FAULT */
				if (row->request == DEALBOX_OP_CLEAR_FAULT)
					machine_clear_path(fixture->m);
				got = fixture_command(fixture, row->request, row->a, row->b, c,
						      &detail);
				after = fixture_status(fixture).state;
				if (got != expected)
					fail_msg("kind %u request %02x in state %u: "
						 "error %u, not %u",
						 k, row->request, s, got, expected);
				if (expected == STATE)
					assert_int_equal(detail, s);
				if (expected == FAULT)
					assert_int_equal(detail, DEALBOX_EV_JAM);
				if (expected == OK && after != row->after[s] && s != 3)
					fail_msg("request %02x in state %u leads to %u",
						 row->request, s, after);
				if (expected != OK)
					assert_int_equal(after, s);
				fixture_free(fixture);
			}
		}
	}
}

static void board_lock_holds_the_board(void **state)
{
	struct machine_config config = fixture_config(STORED);
	struct fixture *fixture;

	(void)state;
	config.desc.capabilities |= DEALBOX_CAP_BOARD_LOCK;
	fixture = fixture_new_config(config);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_RELEASE_BOARD), DEALBOX_ERR_NO_BOARD);
	fixture_insert(fixture);
	assert_int_equal(machine_remove(fixture->m, false), -EPERM);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_RELEASE_BOARD), OK);
	/* a deal locks it again */
	fixture_cards(fixture, 4);
	assert_int_equal(fixture_command(fixture, DEALBOX_OP_TEST_DEAL, 0, 1, 4, NULL), OK);
	fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
	assert_int_equal(machine_remove(fixture->m, false), -EPERM);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_RELEASE_BOARD), OK);
	assert_int_equal(machine_remove(fixture->m, false), 0);
	fixture_free(fixture);
}

static void pause_waits_for_the_cards_that_fall(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "");
	const struct wire_event *paused;
	unsigned int routed;

	(void)state;
	while (fixture_until(fixture, DEALBOX_EV_CARD_ROUTED)->position < 10)
		;
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_PAUSE), OK);
	assert_int_equal(fixture_status(fixture).state, DEALBOX_STATE_DEALING);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_PAUSE), STATE);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_RESUME), STATE);
	paused = fixture_until(fixture, DEALBOX_EV_PAUSED);
	assert_int_equal(paused->code, DEALBOX_PAUSED_BY_HOST);
	assert_int_equal(paused->position, 11);
	routed = fixture_count(fixture, DEALBOX_EV_CARD_ROUTED);
	assert_int_equal(fixture_count(fixture, DEALBOX_EV_CARD_LANDED), routed);
	fixture_pass(fixture, 5000000);
	assert_int_equal(fixture_count(fixture, DEALBOX_EV_CARD_ROUTED), routed);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_RESUME), OK);
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_RESUMED)->position, 11);
	check_done(fixture, 0x101);
	fixture_free(fixture);
}

static void abort_overrides_a_pause(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "");
	const struct wire_event *aborted;

	(void)state;
	while (fixture_until(fixture, DEALBOX_EV_CARD_ROUTED)->position < 10)
		;
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_PAUSE), OK);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_ABORT), OK);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_ABORT), STATE);
	aborted = fixture_until(fixture, DEALBOX_EV_ABORTED);
	assert_int_equal(aborted->code, 0x101);
	assert_true(aborted->position >= 11);
	assert_int_equal(fixture_count(fixture, DEALBOX_EV_PAUSED), 0);
	assert_int_equal(fixture_status(fixture).state, DEALBOX_STATE_IDLE);
	assert_int_equal(fixture_start(fixture, BY_CARD), SPENT);
	assert_int_equal(fixture_counters(fixture).boards_voided, 1);
	fixture_free(fixture);
}

static void the_stop_key_pauses(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "position 7: key stop");

	(void)state;
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_KEY)->code, DEALBOX_KEY_STOP);
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_PAUSED)->code, DEALBOX_PAUSED_BY_KEY);
	fixture_free(fixture);
}

static void removing_the_board_leaves_done_and_fault(void **state)
{
	struct fixture *fixture = in_state(STORED, DEALBOX_STATE_DONE);

	(void)state;
	assert_int_equal(machine_remove(fixture->m, false), 0);
	assert_int_equal(fixture_status(fixture).state, DEALBOX_STATE_IDLE);
	assert_int_equal(fixture_status(fixture).cards_done, 0);
	assert_int_equal(fixture->account.end, MACHINE_DONE);
	fixture_free(fixture);

	fixture = in_state(STORED, DEALBOX_STATE_FAULT);
	assert_int_equal(machine_remove(fixture->m, false), 0);
	assert_int_equal(fixture_status(fixture).state, DEALBOX_STATE_FAULT);
	assert_int_equal(fixture->account.end, MACHINE_VOID);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_CLEAR_FAULT), FAULT);
	machine_clear_path(fixture->m);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_CLEAR_FAULT), OK);
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_FAULT_CLEARED)->code, DEALBOX_EV_JAM);
	fixture_free(fixture);
}

/* --- §2.3: error codes -------------------------------------------------------------------- */

/* --mutant length_more */
static void takes_the_nonce_of_a_command_that_is_too_long(void **state)
{
	struct machine_config config = fixture_config(STORED);
	struct wire_command cmd = { .sequence = 1, .b = 1 };
	uint8_t buf[WIRE_ATTEST_SIZE + 8] = { 0 };
	struct fixture *fixture;

	(void)state;
	config.mutant.code = MUTANT_length_more;
	fixture = fixture_new_config(config);
	dealbox_encode_command(buf, &cmd);
	assert_false(machine_command(fixture->m, WIRE_ATTEST, 0, buf, sizeof(buf)));
	assert_int_equal(fixture_result(fixture).error, DEALBOX_ERR_BAD_VALUE);
	assert_int_equal(fixture_result(fixture).detail, 5);
	fixture_free(fixture);
}

static bool raw(struct fixture *fixture, uint8_t request, uint16_t value, uint32_t sequence,
		size_t length)
{
	uint8_t buf[64] = { 0 };
	struct wire_command cmd = { .sequence = sequence };

	dealbox_encode_command(buf, &cmd);
	return machine_command(fixture->m, request, value, buf, length);
}

static void bad_requests_and_lengths(void **state)
{
	struct fixture *fixture = fixture_new(STORED);
	static const size_t lengths[] = { 0, 3, 4, 15, 17, 64 };
	unsigned int i, request;

	(void)state;
	for (request = 0; request < 256; request++) {
		if (request >= WIRE_SET_PARAM && request <= WIRE_ATTEST)
			continue;
		assert_false(raw(fixture, request, 0, 1000 + request, 16));
		assert_int_equal(fixture_result(fixture).error, DEALBOX_ERR_BAD_REQUEST);
		assert_int_equal(fixture_result(fixture).sequence, 1000 + request);
		assert_int_equal(fixture_result(fixture).request, request);
	}
	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		assert_false(raw(fixture, DEALBOX_OP_LOCATE, 0, 2000 + i, lengths[i]));
		assert_int_equal(fixture_result(fixture).error, DEALBOX_ERR_BAD_LENGTH);
		assert_int_equal(fixture_result(fixture).detail, lengths[i]);
		assert_int_equal(fixture_result(fixture).sequence, lengths[i] < 4 ? 0 : 2000 + i);
	}
	assert_false(raw(fixture, DEALBOX_OP_LOCATE, 0, 0, 16));
	assert_int_equal(fixture_result(fixture).error, DEALBOX_ERR_BAD_LENGTH);
	assert_int_equal(fixture_result(fixture).detail, 16);
	/* an unknown request is found before a wrong length, a wrong length before wValue */
	assert_false(raw(fixture, 0x30, 1, 3000, 2));
	assert_int_equal(fixture_result(fixture).error, DEALBOX_ERR_BAD_REQUEST);
	assert_false(raw(fixture, DEALBOX_OP_LOCATE, 1, 3001, 15));
	assert_int_equal(fixture_result(fixture).error, DEALBOX_ERR_BAD_LENGTH);
	assert_false(raw(fixture, DEALBOX_OP_LOCATE, 1, 3002, 16));
	assert_int_equal(fixture_result(fixture).error, DEALBOX_ERR_BAD_VALUE);
	assert_int_equal(fixture_result(fixture).detail, 4);
	fixture_free(fixture);
}

static void bad_values(void **state)
{
	static const struct {
		uint32_t kind;
		uint8_t request;
		uint32_t a, b, c, detail;
	} cases[] = {
		{ STORED, WIRE_SET_PARAM, 0, 1, 0, 1 }, { STORED, WIRE_SET_PARAM, 99, 1, 0, 1 },
		{ STORED, WIRE_SET_PARAM, 1, 0, 0, 2 }, { STORED, WIRE_SET_PARAM, 4, 101, 0, 2 },
		{ STORED, WIRE_SET_PARAM, 4, 5, 1, 3 },
		{ STORED, WIRE_LOAD, 0, 88, 0, 1 }, { STORED, WIRE_LOAD, UINT32_MAX, 88, 0, 1 },
		{ STORED, WIRE_LOAD, 5, 36, 0, 2 }, { STORED, WIRE_LOAD, 5, 101, 0, 2 },
		{ STORED, WIRE_LOAD, 5, 88, 1, 3 }, { STORED, WIRE_LOAD, 0, 0, 1, 3 },
		{ STORED, DEALBOX_OP_START, 0, 1, 0, 1 },
		{ STORED, DEALBOX_OP_START, UINT32_MAX, 1, 0, 1 },
		{ STORED, DEALBOX_OP_START, 1, 0, 0, 2 }, { STORED, DEALBOX_OP_START, 1, 1, 1, 3 },
		{ ROUTED, DEALBOX_OP_START, 1, 1, 0, 3 }, { ROUTED, DEALBOX_OP_START, 1, 1, 65, 3 },
		{ ROUTED, DEALBOX_OP_START, 1, 1, 0x200 | 52, 3 },
		{ ROUTED, DEALBOX_OP_START, 1, 1, 0x100 | 65, 3 },
		{ STORED, DEALBOX_OP_TEST_DEAL, 1, 1, 4, 1 },
		{ STORED, DEALBOX_OP_TEST_DEAL, 0, 0, 4, 2 },
		{ STORED, DEALBOX_OP_TEST_DEAL, 0, 1, 0, 3 },
		{ STORED, DEALBOX_OP_TEST_DEAL, 0, 1, 65, 3 },
		{ STORED, DEALBOX_OP_LOCATE, 61, 0, 0, 1 },
		{ STORED, DEALBOX_OP_LOCATE, 60, 1, 0, 2 },
		{ STORED, DEALBOX_OP_LOCATE, 60, 0, 1, 3 },
		{ STORED, DEALBOX_OP_PAUSE, 1, 0, 0, 1 }, { STORED, DEALBOX_OP_RESUME, 0, 1, 0, 2 },
		{ STORED, DEALBOX_OP_REREAD, 0, 0, 1, 3 }, { STORED, DEALBOX_OP_ABORT, 1, 0, 0, 1 },
		{ STORED, DEALBOX_OP_CLEAR_FAULT, 1, 0, 0, 1 },
		{ STORED, DEALBOX_OP_RELEASE_BOARD, 1, 0, 0, 1 },
		/* a bad value is reported before an unsupported request */
		{ ROUTED, WIRE_LOAD, 0, 88, 0, 1 },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture *fixture = fixture_new(cases[i].kind);
		uint32_t detail;

		assert_int_equal(fixture_command(fixture, cases[i].request, cases[i].a, cases[i].b,
						 cases[i].c, &detail), DEALBOX_ERR_BAD_VALUE);
		if (detail != cases[i].detail)
			fail_msg("case %u: detail %u", i, detail);
		fixture_free(fixture);
	}
}

static void unsupported_without_the_capability(void **state)
{
	struct machine_config config = fixture_config(ROUTED);
	struct fixture *fixture;

	(void)state;
	config.desc.capabilities &= ~(DEALBOX_CAP_TEST_DEAL | DEALBOX_CAP_CAPTURE);
	fixture = fixture_new_config(config);
	assert_int_equal(fixture_command(fixture, WIRE_LOAD, 1, 88, 0, NULL), NO_CAP);
	assert_int_equal(fixture_command(fixture, DEALBOX_OP_TEST_DEAL, 0, 1, 4, NULL), NO_CAP);
	assert_int_equal(fixture_command(fixture, DEALBOX_OP_START, 1, 1, 0x100, NULL), NO_CAP);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_RELEASE_BOARD), NO_CAP);
	fixture_free(fixture);
}

/* Each check of START, from the last to the first: of several errors the first is reported. */
static void start_is_checked_in_the_order_of_the_codes(void **state)
{
	struct fixture *fixture = fixture_new(STORED);
	uint32_t detail;

	(void)state;
	fixture_cards(fixture, 52);
	fixture_insert(fixture);
	fixture_load_mode(fixture, BY_CARD);

	pile_move_all(machine_table(fixture->m), machine_hopper(fixture->m));
	machine_hopper_changed(fixture->m);
	assert_int_equal(fixture_command(fixture, DEALBOX_OP_START, 0x101, 1, 0, NULL),
			 DEALBOX_ERR_HOPPER_EMPTY);
	machine_cover(fixture->m, true);
	assert_int_equal(fixture_command(fixture, DEALBOX_OP_START, 0x101, 1, 0, NULL),
			 DEALBOX_ERR_COVER_OPEN);
	machine_power_cycle(fixture->m, 0);
	machine_run(fixture->m, fixture->now);
	machine_configure(fixture->m);
	fixture_load_mode(fixture, BY_CARD);
	assert_int_equal(fixture_command(fixture, DEALBOX_OP_START, 0x101, 2, 0, &detail),
			 DEALBOX_ERR_IN_DOUBT);
	assert_int_equal(detail, 2);
	assert_int_equal(fixture_command(fixture, DEALBOX_OP_START, 0x101, 1, 0, &detail),
			 DEALBOX_ERR_WRONG_INSERTION);
	assert_int_equal(detail, 2);
	machine_remove(fixture->m, false);
	assert_int_equal(fixture_command(fixture, DEALBOX_OP_START, 0x101, 2, 0, NULL),
			 DEALBOX_ERR_NO_BOARD);
	assert_int_equal(fixture_command(fixture, DEALBOX_OP_START, 0x999, 2, 0, &detail),
			 DEALBOX_ERR_WRONG_PLAN);
	assert_int_equal(detail, 0x101);
	assert_int_equal(fixture_command(fixture, WIRE_LOAD, 0, 0, 0, NULL), OK);
	assert_int_equal(fixture_command(fixture, DEALBOX_OP_START, 0x999, 2, 0, NULL),
			 DEALBOX_ERR_NO_PLAN);
	machine_break(fixture->m, 77, true);
	assert_int_equal(fixture_command(fixture, DEALBOX_OP_START, 0x999, 2, 0, &detail), FAULT);
	assert_int_equal(detail, DEALBOX_EV_HARDWARE);
	/* the cause is still there; then the cover is still open */
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_CLEAR_FAULT), FAULT);
	machine_repair(fixture->m);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_CLEAR_FAULT), DEALBOX_ERR_COVER_OPEN);
	machine_cover(fixture->m, false);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_CLEAR_FAULT), OK);
	fixture_free(fixture);
}

static void a_repeated_command_does_no_harm(void **state)
{
	struct fixture *fixture = in_state(STORED, DEALBOX_STATE_IDLE);
	struct wire_command cmd = { .sequence = 900, .a = 0x101, .b = 1 };
	uint8_t buf[WIRE_COMMAND_SIZE];

	(void)state;
	dealbox_encode_command(buf, &cmd);
	assert_true(machine_command(fixture->m, DEALBOX_OP_START, 0, buf, sizeof(buf)));
	assert_true(machine_command(fixture->m, DEALBOX_OP_START, 0, buf, sizeof(buf)));
	assert_int_equal(fixture_result(fixture).error, OK);
	fixture_until(fixture, DEALBOX_EV_DEAL_STARTED);
	assert_int_equal(machine_view(fixture->m).deals, 1);
	/* a repeated command that was refused is refused again, with the same result */
	assert_int_equal(fixture_start(fixture, BY_CARD), STATE);
	cmd.sequence = fixture->sequence;
	dealbox_encode_command(buf, &cmd);
	check_done(fixture, 0x101);
	assert_false(machine_command(fixture->m, DEALBOX_OP_LOCATE, 0, buf, sizeof(buf)));
	assert_int_equal(fixture_result(fixture).error, STATE);
	machine_configure(fixture->m);
	assert_int_equal(fixture_result(fixture).sequence, 0);
	fixture_free(fixture);
}

/* --- §2.1: queries -------------------------------------------------------------------------- */

static void queries_answer_only_what_there_is(void **state)
{
	static const size_t sizes[] = { 0, 64, 32, 16, 64 };
	struct fixture *fixture = fixture_new(STORED);
	uint8_t buf[64];
	unsigned int request;

	(void)state;
	for (request = 0; request < 256; request++) {
		if (request == WIRE_GET_PARAM)
			continue;
		assert_int_equal(machine_query(fixture->m, request, 0, buf),
				 request < 5 ? sizes[request] : 0);
		assert_int_equal(machine_query(fixture->m, request, 1, buf), 0);
	}
	for (request = 0; request < 8; request++)
		assert_int_equal(machine_query(fixture->m, WIRE_GET_PARAM, request, buf),
				 request >= 1 && request <= 4 ? 16 : 0);
	assert_int_equal(machine_query(fixture->m, WIRE_GET_PARAM, 0x8000, buf), 0);
	fixture_free(fixture);
}

static void status_tells_where_the_deal_stands(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "");
	struct wire_status status;

	(void)state;
	while (fixture_until(fixture, DEALBOX_EV_CARD_LANDED)->position < 20)
		;
	status = fixture_status(fixture);
	assert_int_equal(status.state, DEALBOX_STATE_DEALING);
	assert_int_equal(status.plan_id, 0x101);
	assert_int_equal(status.insertion, 1);
	assert_int_equal(status.board, 3);
	assert_int_equal(status.cards_total, 52);
	assert_int_equal(status.cards_done, 21);
	assert_int_equal(status.counts[0], 6);
	assert_int_equal(status.counts[3], 5);
	assert_int_equal(status.next_event, fixture->count + 1);
	assert_true(status.flags & DEALBOX_STATUS_SPENT);
	assert_true(status.flags & DEALBOX_STATUS_BOARD);
	assert_true(status.flags & DEALBOX_STATUS_HOPPER);
	fixture_free(fixture);
}

/* R-2.1-9, at every step of a deal, and when the board is taken out and put in again */
static void status_is_of_one_moment(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "");
	const struct wire_event *e;
	struct wire_status status;
	unsigned int insertion = 0, landed = 0, i;
	bool out = false, in = false;

	(void)state;
	for (i = 0; !in; ) {
		fixture_step(fixture, fixture->now + FIXTURE_PATIENCE);
		status = fixture_status(fixture);
		/* what is still in the machine is fetched now, and has lower numbers */
		fixture_collect(fixture);
		for (; i < fixture->count && fixture->events[i].number < status.next_event; i++) {
			e = &fixture->events[i];
			if (e->type == DEALBOX_EV_BOARD_INSERTED)
				insertion = e->insertion;
			if (e->type == DEALBOX_EV_BOARD_REMOVED)
				insertion = landed = 0;
			landed += e->type == DEALBOX_EV_CARD_LANDED;
		}
		assert_int_equal(i + 1, status.next_event);
		assert_int_equal(i, fixture->count);
		assert_int_equal(status.insertion, insertion);
		assert_int_equal(status.cards_done, landed);
		in = out && insertion;
		if (!out && fixture_count(fixture, DEALBOX_EV_DEAL_DONE)) {
			assert_int_equal(landed, 52);
			machine_remove(fixture->m, false);
			assert_int_equal(machine_insert(fixture->m, 4), 0);
			out = true;
		}
	}
	assert_int_equal(insertion, 2);
	fixture_free(fixture);
}

static void parameters_are_set_within_their_range(void **state)
{
	struct fixture *fixture = fixture_new(STORED);
	struct wire_param param;
	uint8_t buf[64];

	(void)state;
	assert_int_equal(
		fixture_command(fixture, WIRE_SET_PARAM, DEALBOX_PARAM_SPEED, 1200, 0, NULL), OK);
	machine_query(fixture->m, WIRE_GET_PARAM, DEALBOX_PARAM_SPEED, buf);
	dealbox_decode_param(buf, &param);
	assert_int_equal(param.value, 1200);
	assert_true(param.min < param.value && param.value <= param.max);
	fixture_free(fixture);
}

/* --- §3: plans -------------------------------------------------------------------------------- */

static void plans_are_refused_whole(void **state)
{
	struct fixture *fixture = fixture_new(STORED);
	struct wire_plan plan = fixture_plan(BY_CARD, 52);
	uint8_t buf[WIRE_PLAN_MAX];
	const struct wire_event *loaded;
	uint32_t crc;

	(void)state;
	dealbox_count_plan(&plan);
	dealbox_encode_plan(buf, &plan);
	buf[40] ^= 1;
	assert_int_equal(fixture_command(fixture, WIRE_LOAD, plan.plan_id, 88, 0, NULL), OK);
	assert_true(machine_bulk(fixture->m, buf, 88));
	loaded = fixture_until(fixture, DEALBOX_EV_PLAN_LOADED);
	assert_int_equal(loaded->code, plan.plan_id);
	assert_int_equal(loaded->arg[0], DEALBOX_ERR_CRC);
	assert_int_equal(loaded->arg[1], ~crc32c(~0, buf, 84));
	assert_int_equal(fixture_status(fixture).plan_id, 0);
	/* the number of the block is not that of LOAD: offset 8 */
	buf[40] ^= 1;
	assert_int_equal(fixture_command(fixture, WIRE_LOAD, 77, 88, 0, NULL), OK);
	assert_true(machine_bulk(fixture->m, buf, 88));
	loaded = fixture_until(fixture, DEALBOX_EV_PLAN_LOADED);
	assert_int_equal(loaded->arg[0], DEALBOX_ERR_PLAN);
	assert_int_equal(loaded->arg[1], 8);
	/* a pocket that does not exist: the offset of the entry */
	plan.pocket[7] = 4;
	dealbox_count_plan(&plan);
	dealbox_encode_plan(buf, &plan);
	crc = ~crc32c(~0, buf, 84);
	memcpy(buf + 84, &crc, 4);
	assert_int_equal(fixture_command(fixture, WIRE_LOAD, plan.plan_id, 88, 0, NULL), OK);
	assert_true(machine_bulk(fixture->m, buf, 88));
	loaded = fixture_until(fixture, DEALBOX_EV_PLAN_LOADED);
	assert_int_equal(loaded->arg[0], DEALBOX_ERR_PLAN);
	fixture_free(fixture);
}

static void a_plan_may_come_in_pieces(void **state)
{
	struct fixture *fixture = fixture_new(STORED);
	struct wire_plan plan = fixture_plan(BY_CARD, 52);
	uint8_t buf[WIRE_PLAN_MAX];

	(void)state;
	dealbox_count_plan(&plan);
	dealbox_encode_plan(buf, &plan);
	assert_int_equal(fixture_command(fixture, WIRE_LOAD, plan.plan_id, 88, 0, NULL), OK);
	assert_true(machine_bulk(fixture->m, buf, 64));
	fixture_pass(fixture, 1900000);
	assert_int_equal(fixture_count(fixture, DEALBOX_EV_PLAN_LOADED), 0);
	assert_true(machine_bulk(fixture->m, buf + 64, 24));
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_PLAN_LOADED)->arg[0], OK);
	assert_int_equal(fixture_status(fixture).plan_id, plan.plan_id);
	fixture_free(fixture);
}

static void a_plan_that_does_not_come_is_incomplete(void **state)
{
	struct fixture *fixture = fixture_new(STORED);
	const struct wire_event *loaded;
	uint8_t buf[100] = { 0 };
	uint64_t from = fixture->now;

	(void)state;
	assert_int_equal(fixture_command(fixture, WIRE_LOAD, 5, 88, 0, NULL), OK);
	assert_true(machine_bulk(fixture->m, buf, 50));
	loaded = fixture_until(fixture, DEALBOX_EV_PLAN_LOADED);
	assert_int_equal(loaded->arg[0], DEALBOX_ERR_INCOMPLETE);
	assert_int_equal(loaded->arg[1], 50);
	assert_int_equal(fixture->now - from, 2000000);
	assert_false(machine_bulk(fixture->m, buf, 38));
	fixture_free(fixture);
}

static void bulk_data_without_load_or_too_much_stall(void **state)
{
	struct fixture *fixture = fixture_new(STORED);
	const struct wire_event *loaded;
	uint8_t buf[100] = { 0 };

	(void)state;
	assert_false(machine_bulk(fixture->m, buf, 88));
	assert_int_equal(fixture_command(fixture, WIRE_LOAD, 5, 88, 0, NULL), OK);
	assert_false(machine_bulk(fixture->m, buf, 89));
	loaded = fixture_until(fixture, DEALBOX_EV_PLAN_LOADED);
	assert_int_equal(loaded->arg[0], DEALBOX_ERR_PLAN);
	assert_int_equal(loaded->arg[1], 12);
	fixture_free(fixture);
}

static void load_zero_forgets_without_an_event(void **state)
{
	struct fixture *fixture = fixture_new(STORED);
	unsigned int before;

	(void)state;
	fixture_load_mode(fixture, BY_CARD);
	before = fixture->count;
	assert_int_equal(fixture_command(fixture, WIRE_LOAD, 0, 0, 0, NULL), OK);
	fixture_pass(fixture, 5000000);
	assert_int_equal(fixture->count, before);
	assert_int_equal(fixture_status(fixture).plan_id, 0);
	fixture_free(fixture);
}

/* --- §1.2, §5.2: configuration and insertions ------------------------------------------------- */

static void configuration_tells_what_is_there(void **state)
{
	static const uint8_t types[] = {
		DEALBOX_EV_STATE_LOST, DEALBOX_EV_BOARD_INSERTED, DEALBOX_EV_COVER_OPEN,
		DEALBOX_EV_HOPPER_LOADED,
	};
	struct fixture *fixture = fixture_new(STORED);
	unsigned int i, start;

	(void)state;
	fixture_collect(fixture);
	assert_int_equal(fixture->count, 1);
	assert_int_equal(fixture->events[0].code, DEALBOX_LOST_POWER_ON);
	fixture_cards(fixture, 3);
	fixture_insert(fixture);
	machine_cover(fixture->m, true);
	fixture_collect(fixture);
	start = fixture->count;
	/* events that were not fetched are forgotten */
	machine_cover(fixture->m, false);
	machine_cover(fixture->m, true);
	machine_configure(fixture->m);
	fixture_collect(fixture);
	assert_int_equal(fixture->count, start + 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(fixture->events[start + i].type, types[i]);
		assert_int_equal(fixture->events[start + i].number, i + 1);
		assert_int_equal(fixture->events[start + i].insertion, 1);
	}
	assert_int_equal(fixture->events[start].code, DEALBOX_LOST_RESET);
	assert_int_equal(fixture->events[start + 1].arg[0], 3);
	assert_int_equal(fixture->events[start + 1].flags, 0);
	fixture_free(fixture);
}

static void a_deal_is_spent_when_the_bus_is_lost(void **state)
{
	static void (*const ways[])(struct machine *m) = {
		machine_configure, machine_disconnect, machine_reset_firmware,
	};
	static const uint32_t reasons[] = { DEALBOX_LOST_RESET, DEALBOX_LOST_RESET,
					    DEALBOX_LOST_FIRMWARE };
	unsigned int i, cards, pocket;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "");
		unsigned int routed, landed;

		while (fixture_until(fixture, DEALBOX_EV_CARD_ROUTED)->position < 10)
			;
		routed = fixture_count(fixture, DEALBOX_EV_CARD_ROUTED);
		landed = fixture_count(fixture, DEALBOX_EV_CARD_LANDED);
		ways[i](fixture->m);
		if (ways[i] == machine_disconnect)
			machine_configure(fixture->m);
		assert_int_equal(fixture_until(fixture, DEALBOX_EV_STATE_LOST)->number, 1);
		/* the first STATE_LOST of the machine was before that */
		assert_int_equal(fixture->events[fixture->seen - 1].code, reasons[i]);
		assert_int_equal(fixture_status(fixture).state, DEALBOX_STATE_IDLE);
		assert_true(fixture_status(fixture).flags & DEALBOX_STATUS_SPENT);
		assert_int_equal(fixture_status(fixture).cards_total, 0);
		fixture_pass(fixture, 5000000);
		assert_int_equal(fixture_count(fixture, DEALBOX_EV_CARD_LANDED), landed);
		for (cards = 0, pocket = 0; pocket < 4; pocket++)
			cards += machine_view(fixture->m).board->pocket[pocket].count;
		/* cards past the gate are in their pocket, and no others */
		assert_int_equal(cards, routed);
		fixture_load_mode(fixture, BY_CARD);
		assert_int_equal(fixture_start(fixture, BY_CARD), SPENT);
		assert_int_equal(fixture_counters(fixture).boards_voided, 1);
		fixture_free(fixture);
	}
}

static void an_unspent_insertion_stays_unspent(void **state)
{
	struct fixture *fixture = in_state(STORED, DEALBOX_STATE_IDLE);

	(void)state;
	machine_configure(fixture->m);
	assert_int_equal(fixture_start(fixture, BY_CARD), DEALBOX_ERR_NO_PLAN);
	fixture_load_mode(fixture, BY_CARD);
	assert_int_equal(fixture_start(fixture, BY_CARD), OK);
	check_done(fixture, 0x101);
	fixture_free(fixture);
}

static void insertion_numbers_are_never_used_again(void **state)
{
	struct machine_memory memory = { .insertion = UINT32_MAX - 1 };
	struct machine_config config = fixture_config(STORED);
	struct fixture *fixture = fixture_new(STORED);

	(void)state;
	assert_int_equal(fixture_insert(fixture), 1);
	assert_int_equal(machine_insert(fixture->m, 0), -EBUSY);
	machine_remove(fixture->m, false);
	assert_int_equal(fixture_insert(fixture), 2);
	/* saved before it is used */
	assert_int_equal(fixture->saved_insertion, 2);
	machine_free(fixture->m);
	config.context = fixture;
	fixture->m = machine_new(&config, &memory, fixture->now);
	assert_int_equal(fixture_insert(fixture), UINT32_MAX);
	machine_remove(fixture->m, false);
	assert_int_not_equal(fixture_insert(fixture), 0);
	fixture_free(fixture);
}

static void a_board_at_power_on_is_in_doubt(void **state)
{
	struct fixture *fixture = in_state(STORED, DEALBOX_STATE_IDLE);
	const struct wire_event *inserted;

	(void)state;
	machine_power_cycle(fixture->m, 300000);
	assert_false(machine_view(fixture->m).plugged);
	assert_int_equal(machine_insert(fixture->m, 1), -ENXIO);
	fixture_pass(fixture, 300000);
	assert_true(machine_view(fixture->m).plugged);
	assert_int_equal(fixture->accounts, 1);
	machine_configure(fixture->m);
	fixture->seen = fixture->count;
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_STATE_LOST)->code,
			 DEALBOX_LOST_POWER_ON);
	inserted = fixture_until(fixture, DEALBOX_EV_BOARD_INSERTED);
	assert_int_equal(inserted->insertion, 2);
	assert_int_equal(fixture->saved_insertion, 2);
	assert_int_equal(inserted->flags, DEALBOX_EVF_AT_POWER_ON);
	assert_true(fixture_status(fixture).flags & DEALBOX_STATUS_IN_DOUBT);
	fixture_load_mode(fixture, BY_CARD);
	assert_int_equal(fixture_start(fixture, BY_CARD), DEALBOX_ERR_IN_DOUBT);
	machine_remove(fixture->m, false);
	fixture_insert(fixture);
	assert_int_equal(fixture_start(fixture, BY_CARD), OK);
	assert_int_equal(fixture_counters(fixture).power_ons, 2);
	fixture_free(fixture);
}

/* --- §4: the event queue ---------------------------------------------------------------------- */

static void the_oldest_events_are_dropped(void **state)
{
	struct fixture *fixture = fixture_new(STORED);
	unsigned int i;

	(void)state;
	fixture_collect(fixture);
	fixture->deaf = true;
	for (i = 0; i < 300; i++)
		machine_cover(fixture->m, i % 2 == 0);
	fixture->deaf = false;
	fixture_collect(fixture);
	assert_int_equal(fixture->count, 1 + MACHINE_QUEUE);
	assert_true(MACHINE_QUEUE >= 64);
	for (i = 1; i < fixture->count; i++)
		assert_int_equal(fixture->events[i].number, 301 - MACHINE_QUEUE + i);
	fixture_free(fixture);
}

static void one_transfer_has_whole_events(void **state)
{
	struct fixture *fixture = fixture_new(STORED);
	uint8_t buf[256];

	(void)state;
	machine_cover(fixture->m, true);
	machine_cover(fixture->m, false);
	machine_cover(fixture->m, true);
	assert_int_equal(machine_fetch(fixture->m, buf, 31), 0);
	assert_int_equal(machine_fetch(fixture->m, buf, 95), 64);
	assert_int_equal(machine_fetch(fixture->m, buf, 256), 64);
	assert_int_equal(machine_fetch(fixture->m, buf, 256), 0);
	fixture_free(fixture);
}

static void hopper_events_come_when_it_becomes_so(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "");

	(void)state;
	fixture_until(fixture, DEALBOX_EV_HOPPER_EMPTY);
	check_done(fixture, 0x101);
	assert_int_equal(fixture_count(fixture, DEALBOX_EV_HOPPER_LOADED), 1);
	assert_int_equal(fixture_count(fixture, DEALBOX_EV_HOPPER_EMPTY), 1);
	fixture_free(fixture);
}

/* --- §5.1: time limits ------------------------------------------------------------------------ */

static void time_limits_hold_at_every_speed(void **state)
{
	static const double speeds[] = { 0.001, 0.1, 1, 50 };
	unsigned int i, card;

	(void)state;
	for (i = 0; i < sizeof(speeds) / sizeof(*speeds); i++) {
		struct machine_config config = fixture_config(STORED);
		struct fixture *fixture;
		uint64_t from;

		config.speed = speeds[i];
		fixture = fixture_new_config(config);
		fixture_rule(fixture, "position 5: feed-timeout");
		fixture_cards(fixture, 52);
		fixture_insert(fixture);
		fixture_load_mode(fixture, BY_CARD);
		assert_int_equal(
			fixture_command(fixture, WIRE_SET_PARAM, DEALBOX_PARAM_SPEED, 60, 0, NULL),
			OK);
		assert_int_equal(fixture_command(fixture, WIRE_SET_PARAM,
						 DEALBOX_PARAM_FEED_TIMEOUT, 4000, 0, NULL),
				 OK);
		from = fixture->now;
		assert_int_equal(fixture_start(fixture, BY_CARD), OK);
		fixture_until(fixture, DEALBOX_EV_DEAL_STARTED);
		assert_true(fixture->now - from <= 1000000);
		for (card = 0; card < 5; card++) {
			from = fixture->now;
			fixture_until(fixture, DEALBOX_EV_CARD_READ);
			assert_true(fixture->now - from <= 5000000);
			/* the next card is fed when this one is past the gate */
			fixture_until(fixture, DEALBOX_EV_CARD_ROUTED);
		}
		from = fixture->now;
		fixture_until(fixture, DEALBOX_EV_FEED_TIMEOUT);
		assert_true(fixture->now - from <= 5000000);
		from = fixture->now;
		assert_int_equal(fixture_do(fixture, DEALBOX_OP_REREAD), OK);
		fixture_until(fixture, DEALBOX_EV_CARD_READ);
		assert_true(fixture->now - from <= 5000000);
		from = fixture->now;
		assert_int_equal(fixture_do(fixture, DEALBOX_OP_PAUSE), OK);
		fixture_until(fixture, DEALBOX_EV_PAUSED);
		assert_true(fixture->now - from <= 2000000);
		fixture_free(fixture);
	}
}

/* --- speed 0 ---------------------------------------------------------------------------------- */

static void without_a_speed_no_event_is_lost(void **state)
{
	struct machine_config config = fixture_config(STORED);
	struct fixture *fixture;
	unsigned int i;

	(void)state;
	config.speed = 0;
	fixture = fixture_new_config(config);
	fixture_cards(fixture, 52);
	fixture_insert(fixture);
	fixture_load_mode(fixture, BY_CARD);
	assert_int_equal(fixture_start(fixture, BY_CARD), OK);
	fixture->deaf = true;
	fixture_pass(fixture, 10000000);
	assert_true(machine_view(fixture->m).queued < 64);
	fixture->deaf = false;
	check_done(fixture, 0x101);
	for (i = 0; i < fixture->count; i++)
		assert_int_equal(fixture->events[i].number, i + 1);
	fixture_free(fixture);
}

/* --- cases that 1.0 left open, and 1.1 decides ------------------------------------------ */

/* A stored-plan machine that has just read the card at that position. */
static struct fixture *at_card(uint8_t position, const char *rules)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, rules);

	while (fixture_until(fixture, DEALBOX_EV_CARD_READ)->position < position)
		;
	return fixture;
}

/* R-4-15 */
static void a_card_that_was_read_is_the_next_card(void **state)
{
	struct fixture *fixture = at_card(5, "");

	(void)state;
	assert_int_equal(fixture_count(fixture, DEALBOX_EV_CARD_ROUTED), 5);
	machine_cover(fixture->m, true);
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_COVER_OPENED)->position, 5);
	fixture_free(fixture);

	fixture = at_card(5, "");
	machine_remove(fixture->m, true);
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_BOARD_PULLED)->position, 5);
	fixture_free(fixture);

	/* a card that was fed, and waits for RESUME */
	fixture = at_card(5, "");
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_PAUSE), OK);
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_PAUSED)->position, 6);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_RESUME), OK);
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_RESUMED)->position, 6);
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_CARD_READ)->position, 6);
	fixture_free(fixture);
}

static void pull_board(struct machine *m)
{
	machine_remove(m, true);
}

static void open_cover(struct machine *m)
{
	machine_cover(m, true);
	machine_cover(m, false);
}

static void break_down(struct machine *m)
{
	machine_break(m, 9, false);
}

/* R-4.3-9 */
static void a_card_left_at_the_reader_begins_the_next_deal(void **state)
{
	static const struct {
		const char *rules;
		void (*happen)(struct machine *m);
		uint8_t fault;
	} ways[] = {
		/* a card falls into a wrong pocket while the next one is at the reader */
		{ "on gate position 5: wrong-pocket 3\non read position 6: unreadable", NULL,
		  DEALBOX_EV_WRONG_POCKET },
		{ "", pull_board, DEALBOX_EV_BOARD_PULLED },
		{ "", open_cover, DEALBOX_EV_COVER_OPENED },
		{ "", break_down, DEALBOX_EV_HARDWARE },
	};
	const struct wire_event *read;
	unsigned int i;
	uint8_t card;

	(void)state;
	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct fixture *fixture = at_card(5, ways[i].rules);

		if (ways[i].happen)
			ways[i].happen(fixture->m);
		fixture_until(fixture, ways[i].fault);
		assert_true(fixture_status(fixture).flags & DEALBOX_STATUS_CARD_AT_READER);
		card = machine_path(fixture->m)->card[0].number;
		assert_int_equal(fixture_do(fixture, DEALBOX_OP_CLEAR_FAULT), OK);
		fixture_pass(fixture, 1000000);
		if (machine_view(fixture->m).board->present)
			machine_remove(fixture->m, true);
		fixture_insert(fixture);
		assert_int_equal(fixture_start(fixture, BY_CARD), OK);
		read = fixture_until(fixture, DEALBOX_EV_CARD_READ);
		assert_int_equal(read->position, 0);
		assert_int_equal(read->card, card);
		fixture_free(fixture);
	}
}

/* R-4.3-6 */
static void no_deal_overfills_a_pocket(void **state)
{
	static const uint8_t modes[] = { DEALBOX_PLAN_CAPTURE, 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct machine_config config = fixture_config(STORED);
		struct fixture *fixture;

		config.desc.pocket_capacity = 5;
		fixture = fixture_new_config(config);
		fixture_cards(fixture, 52);
		fixture_insert(fixture);
		if (modes[i]) {
			fixture_load_mode(fixture, modes[i]);
			assert_int_equal(fixture_start(fixture, modes[i]), OK);
		} else {
			assert_int_equal(fixture_command(fixture, DEALBOX_OP_TEST_DEAL, 0, 1, 52,
							 NULL), OK);
		}
		assert_int_equal(fixture_until(fixture, DEALBOX_EV_HARDWARE)->position,
				 modes[i] ? 5 : 20);
		fixture_pass(fixture, 1000000);
		assert_int_equal(machine_view(fixture->m).board->pocket[0].count, 5);
		assert_int_equal(machine_path(fixture->m)->count, 1);
		fixture_free(fixture);
	}
}

/* R-4.2-5 */
static void a_card_falls_into_no_later_insertion(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "");
	uint32_t insertion;
	unsigned int i, landed;

	(void)state;
	while (fixture_until(fixture, DEALBOX_EV_CARD_ROUTED)->position < 5)
		;
	machine_remove(fixture->m, true);
	insertion = fixture_insert(fixture);
	landed = fixture_count(fixture, DEALBOX_EV_CARD_LANDED);
	assert_true(landed < 6);
	fixture_pass(fixture, 5000000);
	for (i = 0; i < fixture->count; i++)
		if (fixture->events[i].type == DEALBOX_EV_CARD_LANDED)
			assert_int_not_equal(fixture->events[i].insertion, insertion);
	for (i = 0; i < 4; i++)
		assert_int_equal(machine_view(fixture->m).board->pocket[i].count, 0);
	fixture_free(fixture);
}

/* §2.1, counter 12 */
static void a_gate_command_after_abort_is_ignored(void **state)
{
	const struct wire_event *read;
	struct fixture *fixture = routed_at_first_card(&read);

	(void)state;
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_ABORT), OK);
	fixture_gate(fixture, read, 0, 0, 0);
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_ABORTED)->position, 1);
	assert_int_equal(fixture_count(fixture, DEALBOX_EV_CARD_ROUTED), 0);
	assert_int_equal(fixture_counters(fixture).gates_ignored, 1);
	assert_int_equal(fixture_counters(fixture).gates_late, 0);
	fixture_free(fixture);
}

/* R-4-13 */
static void a_card_is_named_by_a_good_reading_only(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, DEALBOX_PLAN_BY_POSITION,
				      "on read every 3: unreadable");
	unsigned int i, unread = 0;

	(void)state;
	fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
	for (i = 0; i < fixture->count; i++) {
		if (fixture->events[i].type != DEALBOX_EV_CARD_READ)
			continue;
		unread += fixture->events[i].card == DEALBOX_NONE;
		assert_true(fixture->events[i].card == DEALBOX_NONE ||
			    fixture->events[i].quality >= 50);
	}
	assert_true(unread > 0);
	fixture_free(fixture);
}

/* R-4.3-8 */
static void a_stop_behind_the_end_is_a_fault(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "");
	const struct wire_event *stop;

	(void)state;
	check_done(fixture, 0x101);
	machine_break(fixture->m, 9, false);
	stop = fixture_until(fixture, DEALBOX_EV_HARDWARE);
	assert_int_equal(stop->insertion, 1);
	assert_int_equal(fixture_status(fixture).state, DEALBOX_STATE_FAULT);
	assert_int_equal(fixture_start(fixture, BY_CARD), DEALBOX_ERR_FAULT);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_CLEAR_FAULT), OK);
	assert_int_equal(fixture_start(fixture, BY_CARD), SPENT);
	fixture_free(fixture);
}

/* R-2.2-4 */
static void the_sequence_number_alone_makes_a_repetition(void **state)
{
	static const struct { uint8_t request; uint16_t value; size_t length; } other[] = {
		{ DEALBOX_OP_LOCATE, 0, WIRE_COMMAND_SIZE }, { 0x7f, 0, WIRE_COMMAND_SIZE },
		{ DEALBOX_OP_START, 1, WIRE_COMMAND_SIZE }, { DEALBOX_OP_START, 0, 4 },
		{ DEALBOX_OP_START, 0, WIRE_COMMAND_SIZE + 1 },
	};
	struct fixture *fixture = in_state(STORED, DEALBOX_STATE_IDLE);
	struct wire_command cmd = { .sequence = 900, .a = 0x101, .b = 1 };
	uint8_t buf[WIRE_COMMAND_SIZE + 1] = { 0 };
	unsigned int i;

	(void)state;
	dealbox_encode_command(buf, &cmd);
	assert_true(machine_command(fixture->m, DEALBOX_OP_START, 0, buf, WIRE_COMMAND_SIZE));
	for (i = 0; i < sizeof(other) / sizeof(*other); i++) {
		assert_true(machine_command(fixture->m, other[i].request, other[i].value, buf,
					    other[i].length));
		assert_int_equal(fixture_result(fixture).request, DEALBOX_OP_START);
		assert_int_equal(fixture_result(fixture).error, OK);
	}
	/* a truncated sequence number is not one */
	assert_false(machine_command(fixture->m, DEALBOX_OP_START, 0, buf, 3));
	assert_int_equal(fixture_result(fixture).error, DEALBOX_ERR_BAD_LENGTH);
	assert_int_equal(fixture_result(fixture).sequence, 0);
	fixture_free(fixture);
}

/* R-5.2-7 */
static void a_spent_board_at_power_on_is_in_doubt(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "");

	(void)state;
	check_done(fixture, 0x101);
	assert_true(fixture_status(fixture).flags & DEALBOX_STATUS_SPENT);
	machine_power_cycle(fixture->m, 300000);
	fixture_pass(fixture, 300000);
	machine_configure(fixture->m);
	fixture->seen = fixture->count;
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_BOARD_INSERTED)->insertion, 2);
	assert_int_equal(fixture_status(fixture).flags &
			 (DEALBOX_STATUS_SPENT | DEALBOX_STATUS_IN_DOUBT),
			 DEALBOX_STATUS_IN_DOUBT);
	fixture_cards(fixture, 52);
	fixture_load_mode(fixture, BY_CARD);
	assert_int_equal(fixture_start(fixture, BY_CARD), DEALBOX_ERR_IN_DOUBT);
	fixture_free(fixture);
}

/* R-1.2-10 */
static void an_unconfigured_machine_queues_nothing(void **state)
{
	struct fixture *fixture = fixture_new(STORED);

	(void)state;
	fixture_collect(fixture);
	machine_disconnect(fixture->m);
	fixture_cards(fixture, 52);
	fixture_insert(fixture);
	machine_cover(fixture->m, true);
	assert_int_equal(machine_view(fixture->m).queued, 0);
	machine_configure(fixture->m);
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_BOARD_INSERTED)->insertion, 1);
	fixture_free(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deals_by_card),
		cmocka_unit_test(takes_the_nonce_of_a_command_that_is_too_long),
		cmocka_unit_test(deals_by_position),
		cmocka_unit_test(by_position_stops_at_a_repeated_card),
		cmocka_unit_test(captures_until_the_hopper_is_empty),
		cmocka_unit_test(capture_is_refused_for_a_spent_insertion),
		cmocka_unit_test(deals_what_the_host_routes),
		cmocka_unit_test(routed_capture_ends_with_the_hopper),
		cmocka_unit_test(test_deal_needs_no_host),
		cmocka_unit_test(without_exit_sensors_routed_is_done),
		cmocka_unit_test(without_reader_cards_are_only_counted),
		cmocka_unit_test(hold_stops_with_the_reason),
		cmocka_unit_test(late_gate_holds_the_card),
		cmocka_unit_test(gate_commands_that_answer_nothing_are_ignored),
		cmocka_unit_test(a_full_pocket_is_a_fault),
		cmocka_unit_test(every_command_in_every_state),
		cmocka_unit_test(board_lock_holds_the_board),
		cmocka_unit_test(pause_waits_for_the_cards_that_fall),
		cmocka_unit_test(abort_overrides_a_pause),
		cmocka_unit_test(the_stop_key_pauses),
		cmocka_unit_test(removing_the_board_leaves_done_and_fault),
		cmocka_unit_test(bad_requests_and_lengths),
		cmocka_unit_test(bad_values),
		cmocka_unit_test(unsupported_without_the_capability),
		cmocka_unit_test(start_is_checked_in_the_order_of_the_codes),
		cmocka_unit_test(a_repeated_command_does_no_harm),
		cmocka_unit_test(queries_answer_only_what_there_is),
		cmocka_unit_test(status_tells_where_the_deal_stands),
		cmocka_unit_test(status_is_of_one_moment),
		cmocka_unit_test(parameters_are_set_within_their_range),
		cmocka_unit_test(plans_are_refused_whole),
		cmocka_unit_test(a_plan_may_come_in_pieces),
		cmocka_unit_test(a_plan_that_does_not_come_is_incomplete),
		cmocka_unit_test(bulk_data_without_load_or_too_much_stall),
		cmocka_unit_test(load_zero_forgets_without_an_event),
		cmocka_unit_test(configuration_tells_what_is_there),
		cmocka_unit_test(a_deal_is_spent_when_the_bus_is_lost),
		cmocka_unit_test(an_unspent_insertion_stays_unspent),
		cmocka_unit_test(insertion_numbers_are_never_used_again),
		cmocka_unit_test(a_board_at_power_on_is_in_doubt),
		cmocka_unit_test(the_oldest_events_are_dropped),
		cmocka_unit_test(one_transfer_has_whole_events),
		cmocka_unit_test(hopper_events_come_when_it_becomes_so),
		cmocka_unit_test(time_limits_hold_at_every_speed),
		cmocka_unit_test(without_a_speed_no_event_is_lost),
		cmocka_unit_test(a_card_that_was_read_is_the_next_card),
		cmocka_unit_test(a_card_left_at_the_reader_begins_the_next_deal),
		cmocka_unit_test(no_deal_overfills_a_pocket),
		cmocka_unit_test(a_card_falls_into_no_later_insertion),
		cmocka_unit_test(a_gate_command_after_abort_is_ignored),
		cmocka_unit_test(a_card_is_named_by_a_good_reading_only),
		cmocka_unit_test(a_stop_behind_the_end_is_a_fault),
		cmocka_unit_test(the_sequence_number_alone_makes_a_repetition),
		cmocka_unit_test(a_spent_board_at_power_on_is_in_doubt),
		cmocka_unit_test(an_unconfigured_machine_queues_nothing),
	};

	return cmocka_run_group_tests_name("emulator machine", tests, NULL, NULL);
}
