/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The emulator's machine against docs/protocol.md, section by section. */
#include <linux/crc32.h>

#include "emulator_rig.h"

#define STORED	DEALBOX_CAP_STORED_PLAN
#define ROUTED	DEALBOX_CAP_HOST_ROUTED
#define BY_CARD	DEALBOX_PLAN_BY_CARD
#define ANY_INSERTION	1

/* --- deals --------------------------------------------------------------------------- */

static void check_done(struct rig *rig, uint32_t plan)
{
	const struct wire_event *done = rig_until(rig, DEALBOX_EV_DEAL_DONE);
	const struct machine_board *board = machine_view(rig->m).board;
	uint8_t counts[8];
	unsigned int i;

	assert_int_equal(done->code, plan);
	assert_int_equal(done->position, 52);
	memcpy(counts, done->arg, sizeof(counts));
	for (i = 0; i < 8; i++) {
		assert_int_equal(counts[i], i < 4 ? 13 : 0);
		assert_int_equal(board->pocket[i].count, counts[i]);
	}
	assert_int_equal(rig_status(rig).state, DEALBOX_STATE_DONE);
}

static void deals_by_card(void **state)
{
	struct rig *rig = rig_dealing(STORED, BY_CARD, "");
	unsigned int pocket, i, place[DEALBOX_MAX_CARDS] = { 0 };

	(void)state;
	check_done(rig, 0x101);
	for (pocket = 0; pocket < 4; pocket++)
		for (i = 0; i < 13; i++)
			assert_int_equal(machine_view(rig->m).board->pocket[pocket].card[i].number % 4,
					 pocket);
	/* CARD_READ before CARD_ROUTED before CARD_LANDED, with the same position */
	for (i = 0; i < rig->count; i++) {
		const struct wire_event *event = &rig->events[i];

		if (event->type >= DEALBOX_EV_CARD_READ && event->type <= DEALBOX_EV_CARD_LANDED) {
			assert_int_equal(place[event->position],
					 event->type - DEALBOX_EV_CARD_READ);
			place[event->position]++;
		}
		assert_int_equal(event->number, i + 1);
	}
	assert_int_equal(rig_counters(rig).boards_dealt, 1);
	assert_int_equal(rig_counters(rig).cards_fed, 52);
	rig_free(rig);
}

static void deals_by_position(void **state)
{
	struct rig *rig = rig_dealing(STORED, DEALBOX_PLAN_BY_POSITION,
				      "position 5: unreadable\n");
	unsigned int i;

	(void)state;
	check_done(rig, 0x102);
	/* the deal continues with an unreadable card as not read */
	for (i = 0; i < rig->count; i++)
		if (rig->events[i].type == DEALBOX_EV_CARD_READ && rig->events[i].position == 5)
			assert_int_equal(rig->events[i].card, DEALBOX_NONE);
	rig_free(rig);
}

static void by_position_stops_at_a_repeated_card(void **state)
{
	struct rig *rig = rig_dealing(STORED, DEALBOX_PLAN_BY_POSITION,
				      "position 9: misread S8\n");
	const struct wire_event *stop = rig_until(rig, DEALBOX_EV_REPEATED_CARD);

	(void)state;
	assert_int_equal(stop->position, 9);
	assert_int_equal(stop->card, card_parse("S8"));
	assert_int_equal(stop->arg[0], card_parse("S8"));
	rig_free(rig);
}

static void captures_until_the_hopper_is_empty(void **state)
{
	struct rig *rig = rig_dealing(STORED, DEALBOX_PLAN_CAPTURE, "");
	const struct wire_event *done = rig_until(rig, DEALBOX_EV_DEAL_DONE);
	uint32_t detail;

	(void)state;
	assert_int_equal(done->position, 52);
	assert_int_equal(machine_view(rig->m).board->pocket[0].count, 52);
	/* §5.2: not spent, but good for captures only */
	assert_int_equal(rig_status(rig).flags & DEALBOX_STATUS_SPENT, 0);
	rig_cards(rig, 4);
	assert_int_equal(rig_command(rig, DEALBOX_OP_START, 0x103, 1, 0, &detail), 0);
	rig_until(rig, DEALBOX_EV_DEAL_DONE);
	rig_cards(rig, 4);
	assert_int_equal(rig_command(rig, DEALBOX_OP_TEST_DEAL, 0, 1, 4, &detail),
			 DEALBOX_ERR_SPENT);
	assert_int_equal(detail, 1);
	rig_load_mode(rig, BY_CARD);
	assert_int_equal(rig_start(rig, BY_CARD), DEALBOX_ERR_SPENT);
	rig_free(rig);
}

static void capture_is_refused_for_a_spent_insertion(void **state)
{
	struct rig *rig = rig_dealing(STORED, BY_CARD, "");

	(void)state;
	check_done(rig, 0x101);
	rig_cards(rig, 52);
	rig_load_mode(rig, DEALBOX_PLAN_CAPTURE);
	assert_int_equal(rig_start(rig, DEALBOX_PLAN_CAPTURE), DEALBOX_ERR_SPENT);
	rig_free(rig);
}

static void deals_what_the_host_routes(void **state)
{
	struct rig *rig = rig_dealing(ROUTED, BY_CARD, "");

	(void)state;
	check_done(rig, 0x101);
	rig_free(rig);
}

static void routed_capture_ends_with_the_hopper(void **state)
{
	struct rig *rig = rig_dealing(ROUTED, DEALBOX_PLAN_CAPTURE, "");

	(void)state;
	assert_int_equal(rig_until(rig, DEALBOX_EV_DEAL_STARTED)->arg[0], 0);
	assert_int_equal(rig_until(rig, DEALBOX_EV_DEAL_DONE)->position, 52);
	rig_free(rig);
}

static void test_deal_needs_no_host(void **state)
{
	static const uint32_t kinds[] = { STORED, ROUTED };
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct rig *rig = rig_new(kinds[i]);

		rig_rule(rig, "position 3: unreadable\nposition 4: misread SA\n");
		rig_cards(rig, 52);
		rig_insert(rig);
		assert_int_equal(rig_command(rig, DEALBOX_OP_TEST_DEAL, 0, 1, 52, NULL), 0);
		rig_until(rig, DEALBOX_EV_DEAL_STARTED);
		assert_int_equal(rig_status(rig).plan_id, DEALBOX_PLAN_TEST);
		check_done(rig, DEALBOX_PLAN_TEST);
		assert_int_equal(rig_start(rig, BY_CARD),
				 kinds[i] == STORED ? DEALBOX_ERR_NO_PLAN : DEALBOX_ERR_SPENT);
		rig_free(rig);
	}
}

static void without_exit_sensors_routed_is_done(void **state)
{
	struct machine_config config = rig_config(STORED);
	struct rig *rig;

	(void)state;
	config.desc.capabilities &= ~DEALBOX_CAP_EXIT_SENSORS;
	rig = rig_new_config(config);
	rig_cards(rig, 52);
	rig_insert(rig);
	rig_load_mode(rig, BY_CARD);
	assert_int_equal(rig_start(rig, BY_CARD), 0);
	check_done(rig, 0x101);
	assert_int_equal(rig_count(rig, DEALBOX_EV_CARD_LANDED), 0);
	assert_int_equal(rig_status(rig).cards_done, 52);
	rig_free(rig);
}

static void without_reader_cards_are_only_counted(void **state)
{
	struct machine_config config = rig_config(STORED);
	const struct wire_event *read;
	struct rig *rig;

	(void)state;
	config.desc.reader = DEALBOX_READER_NONE;
	config.desc.capabilities &= ~(DEALBOX_CAP_BY_CARD | DEALBOX_CAP_CAPTURE);
	rig = rig_new_config(config);
	rig_cards(rig, 52);
	rig_insert(rig);
	rig_load_mode(rig, DEALBOX_PLAN_BY_POSITION);
	assert_int_equal(rig_start(rig, DEALBOX_PLAN_BY_POSITION), 0);
	read = rig_until(rig, DEALBOX_EV_CARD_READ);
	assert_int_equal(read->card, DEALBOX_NONE);
	assert_int_equal(read->quality, DEALBOX_NONE);
	check_done(rig, 0x102);
	rig_free(rig);
}

/* --- §6: gate commands -------------------------------------------------------------- */

static struct rig *routed_at_first_card(const struct wire_event **read)
{
	struct rig *rig = rig_dealing(ROUTED, BY_CARD, "");

	rig->route = false;
	*read = rig_until(rig, DEALBOX_EV_CARD_READ);
	return rig;
}

static void hold_stops_with_the_reason(void **state)
{
	static const uint8_t reasons[] = { DEALBOX_EV_REPEATED_CARD, DEALBOX_EV_NOT_IN_PLAN };
	const struct wire_event *read, *stop;
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct rig *rig = routed_at_first_card(&read);

		rig_gate(rig, read, DEALBOX_NONE, reasons[i], i ? 0 : 17);
		stop = rig_until(rig, reasons[i]);
		assert_int_equal(stop->card, read->card);
		assert_int_equal(stop->quality, read->quality);
		assert_int_equal(stop->code, read->code);
		assert_int_equal(stop->arg[0], i ? 0 : 17);
		assert_int_equal(rig_status(rig).state,
				 i ? DEALBOX_STATE_HELD : DEALBOX_STATE_FAULT);
		assert_true(rig_status(rig).flags & DEALBOX_STATUS_CARD_AT_READER);
		rig_free(rig);
	}
}

static void late_gate_holds_the_card(void **state)
{
	const struct wire_event *read, *again;
	struct rig *rig = routed_at_first_card(&read);
	struct wire_event first = *read;

	(void)state;
	rig_pass(rig, 19000);
	assert_int_equal(rig_count(rig, DEALBOX_EV_GATE_LATE), 0);
	assert_int_equal(rig_until(rig, DEALBOX_EV_GATE_LATE)->card, first.card);
	assert_int_equal(rig_status(rig).state, DEALBOX_STATE_HELD);
	rig_gate(rig, &first, 0, 0, 0);
	assert_int_equal(rig_counters(rig).gates_late, 1);
	assert_int_equal(rig_counters(rig).gates_ignored, 0);
	rig->route = true;
	assert_int_equal(rig_do(rig, DEALBOX_OP_REREAD), 0);
	again = rig_until(rig, DEALBOX_EV_CARD_READ);
	assert_int_equal(again->position, first.position);
	assert_int_equal(again->card, first.card);
	assert_int_not_equal(again->number, first.number);
	check_done(rig, 0x101);
	rig_free(rig);
}

static void gate_commands_that_answer_nothing_are_ignored(void **state)
{
	const struct wire_event *read;
	struct rig *rig = routed_at_first_card(&read);
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
		machine_gate(rig->m, bad, WIRE_GATE_SIZE);
		assert_int_equal(rig_counters(rig).gates_ignored, i + 1);
	}
	memcpy(bad, good, sizeof(good));
	bad[1] = DEALBOX_NONE;	/* hold needs a reason */
	machine_gate(rig->m, bad, WIRE_GATE_SIZE);
	machine_gate(rig->m, good, WIRE_GATE_SIZE - 1);
	memcpy(bad, good, sizeof(good));
	bad[WIRE_GATE_SIZE] = 0;
	machine_gate(rig->m, bad, WIRE_GATE_SIZE + 1);
	assert_int_equal(rig_counters(rig).gates_ignored, i + 3);
	assert_int_equal(rig_status(rig).state, DEALBOX_STATE_DEALING);
	machine_gate(rig->m, good, WIRE_GATE_SIZE);
	assert_int_equal(rig_until(rig, DEALBOX_EV_CARD_ROUTED)->pocket, 0);
	rig_free(rig);
}

static void a_full_pocket_is_a_fault(void **state)
{
	struct machine_config config = rig_config(ROUTED);
	unsigned int i;
	struct rig *rig;

	(void)state;
	config.desc.pocket_capacity = 3;
	rig = rig_new_config(config);
	rig_cards(rig, 52);
	rig_insert(rig);
	assert_int_equal(rig_start(rig, BY_CARD), 0);
	for (i = 0; i < 4; i++)
		rig_gate(rig, rig_until(rig, DEALBOX_EV_CARD_READ), 2, 0, 0);
	assert_int_equal(rig_until(rig, DEALBOX_EV_HARDWARE)->position, 3);
	rig_pass(rig, 1000000);
	assert_int_equal(machine_view(rig->m).board->pocket[2].count, 3);
	rig_free(rig);
}

/* --- §5: the table of states ---------------------------------------------------------- */

/* A machine in the state; by pressing on with what leads there. */
static struct rig *in_state(uint32_t kind, uint8_t wanted)
{
	static const char *const rules[] = {
		[DEALBOX_STATE_IDLE] = "", [DEALBOX_STATE_DEALING] = "",
		[DEALBOX_STATE_PAUSED] = "",
		[DEALBOX_STATE_HELD] = "position 2: unreadable",
		[DEALBOX_STATE_FAULT] = "position 2: jam reader",
		[DEALBOX_STATE_DONE] = "",
	};
	struct rig *rig;

	if (wanted == DEALBOX_STATE_IDLE) {
		rig = rig_new(kind);
		rig_cards(rig, 52);
		rig_insert(rig);
		if (kind == STORED)
			rig_load_mode(rig, BY_CARD);
		return rig;
	}
	rig = rig_dealing(kind, BY_CARD, rules[wanted]);
	switch (wanted) {
	case DEALBOX_STATE_PAUSED:
		rig_until(rig, DEALBOX_EV_CARD_LANDED);
		assert_int_equal(rig_do(rig, DEALBOX_OP_PAUSE), 0);
		rig_until(rig, DEALBOX_EV_PAUSED);
		break;
	case DEALBOX_STATE_HELD:
		rig_until(rig, DEALBOX_EV_CARD_UNREADABLE);
		break;
	case DEALBOX_STATE_FAULT:
		rig_until(rig, DEALBOX_EV_JAM);
		break;
	case DEALBOX_STATE_DONE:
		rig_until(rig, DEALBOX_EV_DEAL_DONE);
		rig_cards(rig, 52);
		break;
	}
	assert_int_equal(rig_status(rig).state, wanted);
	return rig;
}

#define OK	DEALBOX_ERR_OK
#define STATE	DEALBOX_ERR_STATE
#define FAULT	DEALBOX_ERR_FAULT
#define SPENT	DEALBOX_ERR_SPENT
#define NO_CAP	DEALBOX_ERR_UNSUPPORTED

/* The rows of §5 for a stored-plan machine with a board lock; a of START and LOAD is the plan. */
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
		/* nothing falls any more in PAUSED: ABORTED comes at once */
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
				struct rig *rig = in_state(kinds[k], s);
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
					machine_clear_path(rig->m);
				got = rig_command(rig, row->request, row->a, row->b, c, &detail);
				after = rig_status(rig).state;
				if (got != expected)
					fail_msg("kind %u request %02x in state %u: error %u, not %u",
						 k, row->request, s, got, expected);
				if (expected == STATE)
					assert_int_equal(detail, s);
				if (expected == FAULT)
					assert_int_equal(detail, DEALBOX_EV_JAM);
				if (expected == OK && after != row->after[s] && s != 3)
					fail_msg("request %02x in state %u leads to %u", row->request,
						 s, after);
				if (expected != OK)
					assert_int_equal(after, s);
				rig_free(rig);
			}
		}
	}
}

static void board_lock_holds_the_board(void **state)
{
	struct machine_config config = rig_config(STORED);
	struct rig *rig;

	(void)state;
	config.desc.capabilities |= DEALBOX_CAP_BOARD_LOCK;
	rig = rig_new_config(config);
	assert_int_equal(rig_do(rig, DEALBOX_OP_RELEASE_BOARD), DEALBOX_ERR_NO_BOARD);
	rig_insert(rig);
	assert_int_equal(machine_remove(rig->m, false), -EPERM);
	assert_int_equal(rig_do(rig, DEALBOX_OP_RELEASE_BOARD), OK);
	/* a deal locks it again */
	rig_cards(rig, 4);
	assert_int_equal(rig_command(rig, DEALBOX_OP_TEST_DEAL, 0, 1, 4, NULL), OK);
	rig_until(rig, DEALBOX_EV_DEAL_DONE);
	assert_int_equal(machine_remove(rig->m, false), -EPERM);
	assert_int_equal(rig_do(rig, DEALBOX_OP_RELEASE_BOARD), OK);
	assert_int_equal(machine_remove(rig->m, false), 0);
	rig_free(rig);
}

static void pause_waits_for_the_cards_that_fall(void **state)
{
	struct rig *rig = rig_dealing(STORED, BY_CARD, "");
	const struct wire_event *paused;
	unsigned int routed;

	(void)state;
	while (rig_until(rig, DEALBOX_EV_CARD_ROUTED)->position < 10)
		;
	assert_int_equal(rig_do(rig, DEALBOX_OP_PAUSE), OK);
	assert_int_equal(rig_status(rig).state, DEALBOX_STATE_DEALING);
	assert_int_equal(rig_do(rig, DEALBOX_OP_PAUSE), STATE);
	assert_int_equal(rig_do(rig, DEALBOX_OP_RESUME), STATE);
	paused = rig_until(rig, DEALBOX_EV_PAUSED);
	assert_int_equal(paused->code, DEALBOX_PAUSED_BY_HOST);
	assert_int_equal(paused->position, 11);
	routed = rig_count(rig, DEALBOX_EV_CARD_ROUTED);
	assert_int_equal(rig_count(rig, DEALBOX_EV_CARD_LANDED), routed);
	rig_pass(rig, 5000000);
	assert_int_equal(rig_count(rig, DEALBOX_EV_CARD_ROUTED), routed);
	assert_int_equal(rig_do(rig, DEALBOX_OP_RESUME), OK);
	assert_int_equal(rig_until(rig, DEALBOX_EV_RESUMED)->position, 11);
	check_done(rig, 0x101);
	rig_free(rig);
}

static void abort_overrides_a_pause(void **state)
{
	struct rig *rig = rig_dealing(STORED, BY_CARD, "");
	const struct wire_event *aborted;

	(void)state;
	while (rig_until(rig, DEALBOX_EV_CARD_ROUTED)->position < 10)
		;
	assert_int_equal(rig_do(rig, DEALBOX_OP_PAUSE), OK);
	assert_int_equal(rig_do(rig, DEALBOX_OP_ABORT), OK);
	assert_int_equal(rig_do(rig, DEALBOX_OP_ABORT), STATE);
	aborted = rig_until(rig, DEALBOX_EV_ABORTED);
	assert_int_equal(aborted->code, 0x101);
	assert_true(aborted->position >= 11);
	assert_int_equal(rig_count(rig, DEALBOX_EV_PAUSED), 0);
	assert_int_equal(rig_status(rig).state, DEALBOX_STATE_IDLE);
	assert_int_equal(rig_start(rig, BY_CARD), SPENT);
	assert_int_equal(rig_counters(rig).boards_voided, 1);
	rig_free(rig);
}

static void the_stop_key_pauses(void **state)
{
	struct rig *rig = rig_dealing(STORED, BY_CARD, "position 7: key stop");

	(void)state;
	assert_int_equal(rig_until(rig, DEALBOX_EV_KEY)->code, DEALBOX_KEY_STOP);
	assert_int_equal(rig_until(rig, DEALBOX_EV_PAUSED)->code, DEALBOX_PAUSED_BY_KEY);
	rig_free(rig);
}

static void removing_the_board_leaves_done_and_fault(void **state)
{
	struct rig *rig = in_state(STORED, DEALBOX_STATE_DONE);

	(void)state;
	assert_int_equal(machine_remove(rig->m, false), 0);
	assert_int_equal(rig_status(rig).state, DEALBOX_STATE_IDLE);
	assert_int_equal(rig_status(rig).cards_done, 0);
	assert_int_equal(rig->account.end, MACHINE_DONE);
	rig_free(rig);

	rig = in_state(STORED, DEALBOX_STATE_FAULT);
	assert_int_equal(machine_remove(rig->m, false), 0);
	assert_int_equal(rig_status(rig).state, DEALBOX_STATE_FAULT);
	assert_int_equal(rig->account.end, MACHINE_VOID);
	assert_int_equal(rig_do(rig, DEALBOX_OP_CLEAR_FAULT), FAULT);
	machine_clear_path(rig->m);
	assert_int_equal(rig_do(rig, DEALBOX_OP_CLEAR_FAULT), OK);
	assert_int_equal(rig_until(rig, DEALBOX_EV_FAULT_CLEARED)->code, DEALBOX_EV_JAM);
	rig_free(rig);
}

/* --- §2.3: error codes -------------------------------------------------------------------- */

static bool raw(struct rig *rig, uint8_t request, uint16_t value, uint32_t sequence, size_t length)
{
	uint8_t buf[64] = { 0 };
	struct wire_command cmd = { .sequence = sequence };

	dealbox_encode_command(buf, &cmd);
	return machine_command(rig->m, request, value, buf, length);
}

static void bad_requests_and_lengths(void **state)
{
	struct rig *rig = rig_new(STORED);
	static const size_t lengths[] = { 0, 3, 4, 15, 17, 64 };
	unsigned int i, request;

	(void)state;
	for (request = 0; request < 256; request++) {
		if (request >= WIRE_SET_PARAM && request <= DEALBOX_OP_LOCATE)
			continue;
		assert_false(raw(rig, request, 0, 1000 + request, 16));
		assert_int_equal(rig_result(rig).error, DEALBOX_ERR_BAD_REQUEST);
		assert_int_equal(rig_result(rig).sequence, 1000 + request);
		assert_int_equal(rig_result(rig).request, request);
	}
	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		assert_false(raw(rig, DEALBOX_OP_LOCATE, 0, 2000 + i, lengths[i]));
		assert_int_equal(rig_result(rig).error, DEALBOX_ERR_BAD_LENGTH);
		assert_int_equal(rig_result(rig).detail, lengths[i]);
		assert_int_equal(rig_result(rig).sequence, lengths[i] < 4 ? 0 : 2000 + i);
	}
	assert_false(raw(rig, DEALBOX_OP_LOCATE, 0, 0, 16));
	assert_int_equal(rig_result(rig).error, DEALBOX_ERR_BAD_LENGTH);
	assert_int_equal(rig_result(rig).detail, 16);
	/* an unknown request is found before a wrong length, a wrong length before wValue */
	assert_false(raw(rig, 0x30, 1, 3000, 2));
	assert_int_equal(rig_result(rig).error, DEALBOX_ERR_BAD_REQUEST);
	assert_false(raw(rig, DEALBOX_OP_LOCATE, 1, 3001, 15));
	assert_int_equal(rig_result(rig).error, DEALBOX_ERR_BAD_LENGTH);
	assert_false(raw(rig, DEALBOX_OP_LOCATE, 1, 3002, 16));
	assert_int_equal(rig_result(rig).error, DEALBOX_ERR_BAD_VALUE);
	assert_int_equal(rig_result(rig).detail, 4);
	rig_free(rig);
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
		{ STORED, DEALBOX_OP_LOCATE, 61, 0, 0, 1 }, { STORED, DEALBOX_OP_LOCATE, 60, 1, 0, 2 },
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
		struct rig *rig = rig_new(cases[i].kind);
		uint32_t detail;

		assert_int_equal(rig_command(rig, cases[i].request, cases[i].a, cases[i].b,
					     cases[i].c, &detail), DEALBOX_ERR_BAD_VALUE);
		if (detail != cases[i].detail)
			fail_msg("case %u: detail %u", i, detail);
		rig_free(rig);
	}
}

static void unsupported_without_the_capability(void **state)
{
	struct machine_config config = rig_config(ROUTED);
	struct rig *rig;

	(void)state;
	config.desc.capabilities &= ~(DEALBOX_CAP_TEST_DEAL | DEALBOX_CAP_CAPTURE);
	rig = rig_new_config(config);
	assert_int_equal(rig_command(rig, WIRE_LOAD, 1, 88, 0, NULL), NO_CAP);
	assert_int_equal(rig_command(rig, DEALBOX_OP_TEST_DEAL, 0, 1, 4, NULL), NO_CAP);
	assert_int_equal(rig_command(rig, DEALBOX_OP_START, 1, 1, 0x100, NULL), NO_CAP);
	assert_int_equal(rig_do(rig, DEALBOX_OP_RELEASE_BOARD), NO_CAP);
	rig_free(rig);
}

/* Each check of START, from the last to the first: the more is wrong, the earlier the code. */
static void start_is_checked_in_the_order_of_the_codes(void **state)
{
	struct rig *rig = rig_new(STORED);
	uint32_t detail;

	(void)state;
	rig_cards(rig, 52);
	rig_insert(rig);
	rig_load_mode(rig, BY_CARD);

	pile_move_all(machine_table(rig->m), machine_hopper(rig->m));
	machine_hopper_changed(rig->m);
	assert_int_equal(rig_command(rig, DEALBOX_OP_START, 0x101, 1, 0, NULL),
			 DEALBOX_ERR_HOPPER_EMPTY);
	machine_cover(rig->m, true);
	assert_int_equal(rig_command(rig, DEALBOX_OP_START, 0x101, 1, 0, NULL),
			 DEALBOX_ERR_COVER_OPEN);
	machine_power_cycle(rig->m, 0);
	machine_run(rig->m, rig->now);
	machine_configure(rig->m);
	rig_load_mode(rig, BY_CARD);
	assert_int_equal(rig_command(rig, DEALBOX_OP_START, 0x101, 2, 0, &detail),
			 DEALBOX_ERR_IN_DOUBT);
	assert_int_equal(detail, 2);
	assert_int_equal(rig_command(rig, DEALBOX_OP_START, 0x101, 1, 0, &detail),
			 DEALBOX_ERR_WRONG_INSERTION);
	assert_int_equal(detail, 2);
	machine_remove(rig->m, false);
	assert_int_equal(rig_command(rig, DEALBOX_OP_START, 0x101, 2, 0, NULL),
			 DEALBOX_ERR_NO_BOARD);
	assert_int_equal(rig_command(rig, DEALBOX_OP_START, 0x999, 2, 0, &detail),
			 DEALBOX_ERR_WRONG_PLAN);
	assert_int_equal(detail, 0x101);
	assert_int_equal(rig_command(rig, WIRE_LOAD, 0, 0, 0, NULL), OK);
	assert_int_equal(rig_command(rig, DEALBOX_OP_START, 0x999, 2, 0, NULL),
			 DEALBOX_ERR_NO_PLAN);
	machine_break(rig->m, 77, true);
	assert_int_equal(rig_command(rig, DEALBOX_OP_START, 0x999, 2, 0, &detail), FAULT);
	assert_int_equal(detail, DEALBOX_EV_HARDWARE);
	/* the cause is still there; then the cover is still open */
	assert_int_equal(rig_do(rig, DEALBOX_OP_CLEAR_FAULT), FAULT);
	machine_repair(rig->m);
	assert_int_equal(rig_do(rig, DEALBOX_OP_CLEAR_FAULT), DEALBOX_ERR_COVER_OPEN);
	machine_cover(rig->m, false);
	assert_int_equal(rig_do(rig, DEALBOX_OP_CLEAR_FAULT), OK);
	rig_free(rig);
}

static void a_repeated_command_does_no_harm(void **state)
{
	struct rig *rig = in_state(STORED, DEALBOX_STATE_IDLE);
	struct wire_command cmd = { .sequence = 900, .a = 0x101, .b = 1 };
	uint8_t buf[WIRE_COMMAND_SIZE];

	(void)state;
	dealbox_encode_command(buf, &cmd);
	assert_true(machine_command(rig->m, DEALBOX_OP_START, 0, buf, sizeof(buf)));
	assert_true(machine_command(rig->m, DEALBOX_OP_START, 0, buf, sizeof(buf)));
	assert_int_equal(rig_result(rig).error, OK);
	rig_until(rig, DEALBOX_EV_DEAL_STARTED);
	assert_int_equal(machine_view(rig->m).deals, 1);
	/* refused ones are refused again, and the result stays */
	assert_int_equal(rig_start(rig, BY_CARD), STATE);
	cmd.sequence = rig->sequence;
	dealbox_encode_command(buf, &cmd);
	check_done(rig, 0x101);
	assert_false(machine_command(rig->m, DEALBOX_OP_LOCATE, 0, buf, sizeof(buf)));
	assert_int_equal(rig_result(rig).error, STATE);
	machine_configure(rig->m);
	assert_int_equal(rig_result(rig).sequence, 0);
	rig_free(rig);
}

/* --- §2.1: queries -------------------------------------------------------------------------- */

static void queries_answer_only_what_there_is(void **state)
{
	static const size_t sizes[] = { 0, 64, 32, 16, 64 };
	struct rig *rig = rig_new(STORED);
	uint8_t buf[64];
	unsigned int request;

	(void)state;
	for (request = 0; request < 256; request++) {
		if (request == WIRE_GET_PARAM)
			continue;
		assert_int_equal(machine_query(rig->m, request, 0, buf),
				 request < 5 ? sizes[request] : 0);
		assert_int_equal(machine_query(rig->m, request, 1, buf), 0);
	}
	for (request = 0; request < 8; request++)
		assert_int_equal(machine_query(rig->m, WIRE_GET_PARAM, request, buf),
				 request >= 1 && request <= 4 ? 16 : 0);
	assert_int_equal(machine_query(rig->m, WIRE_GET_PARAM, 0x8000, buf), 0);
	rig_free(rig);
}

static void status_tells_where_the_deal_stands(void **state)
{
	struct rig *rig = rig_dealing(STORED, BY_CARD, "");
	struct wire_status status;

	(void)state;
	while (rig_until(rig, DEALBOX_EV_CARD_LANDED)->position < 20)
		;
	status = rig_status(rig);
	assert_int_equal(status.state, DEALBOX_STATE_DEALING);
	assert_int_equal(status.plan_id, 0x101);
	assert_int_equal(status.insertion, 1);
	assert_int_equal(status.board, 3);
	assert_int_equal(status.cards_total, 52);
	assert_int_equal(status.cards_done, 21);
	assert_int_equal(status.counts[0], 6);
	assert_int_equal(status.counts[3], 5);
	assert_int_equal(status.next_event, rig->count + 1);
	assert_true(status.flags & DEALBOX_STATUS_SPENT);
	assert_true(status.flags & DEALBOX_STATUS_BOARD);
	assert_true(status.flags & DEALBOX_STATUS_HOPPER);
	rig_free(rig);
}

static void parameters_are_set_within_their_range(void **state)
{
	struct rig *rig = rig_new(STORED);
	struct wire_param param;
	uint8_t buf[64];

	(void)state;
	assert_int_equal(rig_command(rig, WIRE_SET_PARAM, DEALBOX_PARAM_SPEED, 1200, 0, NULL), OK);
	machine_query(rig->m, WIRE_GET_PARAM, DEALBOX_PARAM_SPEED, buf);
	dealbox_decode_param(buf, &param);
	assert_int_equal(param.value, 1200);
	assert_true(param.min < param.value && param.value <= param.max);
	rig_free(rig);
}

/* --- §3: plans -------------------------------------------------------------------------------- */

static void plans_are_refused_whole(void **state)
{
	struct rig *rig = rig_new(STORED);
	struct wire_plan plan = rig_plan(BY_CARD, 52);
	uint8_t buf[WIRE_PLAN_MAX];
	const struct wire_event *loaded;
	uint32_t crc;

	(void)state;
	dealbox_count_plan(&plan);
	dealbox_encode_plan(buf, &plan);
	buf[40] ^= 1;
	assert_int_equal(rig_command(rig, WIRE_LOAD, plan.plan_id, 88, 0, NULL), OK);
	assert_true(machine_bulk(rig->m, buf, 88));
	loaded = rig_until(rig, DEALBOX_EV_PLAN_LOADED);
	assert_int_equal(loaded->code, plan.plan_id);
	assert_int_equal(loaded->arg[0], DEALBOX_ERR_CRC);
	assert_int_equal(loaded->arg[1], ~crc32c(~0, buf, 84));
	assert_int_equal(rig_status(rig).plan_id, 0);
	/* the number of the block is not that of LOAD: offset 8 */
	buf[40] ^= 1;
	assert_int_equal(rig_command(rig, WIRE_LOAD, 77, 88, 0, NULL), OK);
	assert_true(machine_bulk(rig->m, buf, 88));
	loaded = rig_until(rig, DEALBOX_EV_PLAN_LOADED);
	assert_int_equal(loaded->arg[0], DEALBOX_ERR_PLAN);
	assert_int_equal(loaded->arg[1], 8);
	/* a pocket that is not there: offset of the entry */
	plan.pocket[7] = 4;
	dealbox_count_plan(&plan);
	dealbox_encode_plan(buf, &plan);
	crc = ~crc32c(~0, buf, 84);
	memcpy(buf + 84, &crc, 4);
	assert_int_equal(rig_command(rig, WIRE_LOAD, plan.plan_id, 88, 0, NULL), OK);
	assert_true(machine_bulk(rig->m, buf, 88));
	loaded = rig_until(rig, DEALBOX_EV_PLAN_LOADED);
	assert_int_equal(loaded->arg[0], DEALBOX_ERR_PLAN);
	rig_free(rig);
}

static void a_plan_may_come_in_pieces(void **state)
{
	struct rig *rig = rig_new(STORED);
	struct wire_plan plan = rig_plan(BY_CARD, 52);
	uint8_t buf[WIRE_PLAN_MAX];

	(void)state;
	dealbox_count_plan(&plan);
	dealbox_encode_plan(buf, &plan);
	assert_int_equal(rig_command(rig, WIRE_LOAD, plan.plan_id, 88, 0, NULL), OK);
	assert_true(machine_bulk(rig->m, buf, 64));
	rig_pass(rig, 1900000);
	assert_int_equal(rig_count(rig, DEALBOX_EV_PLAN_LOADED), 0);
	assert_true(machine_bulk(rig->m, buf + 64, 24));
	assert_int_equal(rig_until(rig, DEALBOX_EV_PLAN_LOADED)->arg[0], OK);
	assert_int_equal(rig_status(rig).plan_id, plan.plan_id);
	rig_free(rig);
}

static void a_plan_that_does_not_come_is_incomplete(void **state)
{
	struct rig *rig = rig_new(STORED);
	const struct wire_event *loaded;
	uint8_t buf[100] = { 0 };
	uint64_t from = rig->now;

	(void)state;
	assert_int_equal(rig_command(rig, WIRE_LOAD, 5, 88, 0, NULL), OK);
	assert_true(machine_bulk(rig->m, buf, 50));
	loaded = rig_until(rig, DEALBOX_EV_PLAN_LOADED);
	assert_int_equal(loaded->arg[0], DEALBOX_ERR_INCOMPLETE);
	assert_int_equal(loaded->arg[1], 50);
	assert_int_equal(rig->now - from, 2000000);
	assert_false(machine_bulk(rig->m, buf, 38));
	rig_free(rig);
}

static void bulk_data_without_load_or_too_much_stall(void **state)
{
	struct rig *rig = rig_new(STORED);
	const struct wire_event *loaded;
	uint8_t buf[100] = { 0 };

	(void)state;
	assert_false(machine_bulk(rig->m, buf, 88));
	assert_int_equal(rig_command(rig, WIRE_LOAD, 5, 88, 0, NULL), OK);
	assert_false(machine_bulk(rig->m, buf, 89));
	loaded = rig_until(rig, DEALBOX_EV_PLAN_LOADED);
	assert_int_equal(loaded->arg[0], DEALBOX_ERR_PLAN);
	assert_int_equal(loaded->arg[1], 12);
	rig_free(rig);
}

static void load_zero_forgets_without_an_event(void **state)
{
	struct rig *rig = rig_new(STORED);
	unsigned int before;

	(void)state;
	rig_load_mode(rig, BY_CARD);
	before = rig->count;
	assert_int_equal(rig_command(rig, WIRE_LOAD, 0, 0, 0, NULL), OK);
	rig_pass(rig, 5000000);
	assert_int_equal(rig->count, before);
	assert_int_equal(rig_status(rig).plan_id, 0);
	rig_free(rig);
}

/* --- §1.2, §5.2: configuration and insertions ----------------------------------------------------- */

static void configuration_tells_what_is_there(void **state)
{
	static const uint8_t types[] = {
		DEALBOX_EV_STATE_LOST, DEALBOX_EV_BOARD_INSERTED, DEALBOX_EV_COVER_OPEN,
		DEALBOX_EV_HOPPER_LOADED,
	};
	struct rig *rig = rig_new(STORED);
	unsigned int i, start;

	(void)state;
	rig_collect(rig);
	assert_int_equal(rig->count, 1);
	assert_int_equal(rig->events[0].code, DEALBOX_LOST_POWER_ON);
	rig_cards(rig, 3);
	rig_insert(rig);
	machine_cover(rig->m, true);
	rig_collect(rig);
	start = rig->count;
	/* events that were not fetched are forgotten */
	machine_cover(rig->m, false);
	machine_cover(rig->m, true);
	machine_configure(rig->m);
	rig_collect(rig);
	assert_int_equal(rig->count, start + 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(rig->events[start + i].type, types[i]);
		assert_int_equal(rig->events[start + i].number, i + 1);
		assert_int_equal(rig->events[start + i].insertion, 1);
	}
	assert_int_equal(rig->events[start].code, DEALBOX_LOST_RESET);
	assert_int_equal(rig->events[start + 1].arg[0], 3);
	assert_int_equal(rig->events[start + 1].flags, 0);
	rig_free(rig);
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
		struct rig *rig = rig_dealing(STORED, BY_CARD, "");
		unsigned int routed, landed;

		while (rig_until(rig, DEALBOX_EV_CARD_ROUTED)->position < 10)
			;
		routed = rig_count(rig, DEALBOX_EV_CARD_ROUTED);
		landed = rig_count(rig, DEALBOX_EV_CARD_LANDED);
		ways[i](rig->m);
		if (ways[i] == machine_disconnect)
			machine_configure(rig->m);
		assert_int_equal(rig_until(rig, DEALBOX_EV_STATE_LOST)->number, 1);
		/* the first STATE_LOST of the machine was before that */
		assert_int_equal(rig->events[rig->seen - 1].code, reasons[i]);
		assert_int_equal(rig_status(rig).state, DEALBOX_STATE_IDLE);
		assert_true(rig_status(rig).flags & DEALBOX_STATUS_SPENT);
		assert_int_equal(rig_status(rig).cards_total, 0);
		rig_pass(rig, 5000000);
		assert_int_equal(rig_count(rig, DEALBOX_EV_CARD_LANDED), landed);
		for (cards = 0, pocket = 0; pocket < 4; pocket++)
			cards += machine_view(rig->m).board->pocket[pocket].count;
		/* cards past the gate are in their pocket, and no others */
		assert_int_equal(cards, routed);
		rig_load_mode(rig, BY_CARD);
		assert_int_equal(rig_start(rig, BY_CARD), SPENT);
		assert_int_equal(rig_counters(rig).boards_voided, 1);
		rig_free(rig);
	}
}

static void an_unspent_insertion_stays_unspent(void **state)
{
	struct rig *rig = in_state(STORED, DEALBOX_STATE_IDLE);

	(void)state;
	machine_configure(rig->m);
	assert_int_equal(rig_start(rig, BY_CARD), DEALBOX_ERR_NO_PLAN);
	rig_load_mode(rig, BY_CARD);
	assert_int_equal(rig_start(rig, BY_CARD), OK);
	check_done(rig, 0x101);
	rig_free(rig);
}

static void insertion_numbers_are_never_used_again(void **state)
{
	struct machine_memory memory = { .insertion = UINT32_MAX - 1 };
	struct machine_config config = rig_config(STORED);
	struct rig *rig = rig_new(STORED);

	(void)state;
	assert_int_equal(rig_insert(rig), 1);
	assert_int_equal(machine_insert(rig->m, 0), -EBUSY);
	machine_remove(rig->m, false);
	assert_int_equal(rig_insert(rig), 2);
	/* saved before it is used */
	assert_int_equal(rig->saved_insertion, 2);
	machine_free(rig->m);
	config.context = rig;
	rig->m = machine_new(&config, &memory, rig->now);
	assert_int_equal(rig_insert(rig), UINT32_MAX);
	machine_remove(rig->m, false);
	assert_int_not_equal(rig_insert(rig), 0);
	rig_free(rig);
}

static void a_board_at_power_on_is_in_doubt(void **state)
{
	struct rig *rig = in_state(STORED, DEALBOX_STATE_IDLE);
	const struct wire_event *inserted;

	(void)state;
	machine_power_cycle(rig->m, 300000);
	assert_false(machine_view(rig->m).plugged);
	assert_int_equal(machine_insert(rig->m, 1), -ENXIO);
	rig_pass(rig, 300000);
	assert_true(machine_view(rig->m).plugged);
	assert_int_equal(rig->accounts, 1);
	machine_configure(rig->m);
	rig->seen = rig->count;
	assert_int_equal(rig_until(rig, DEALBOX_EV_STATE_LOST)->code, DEALBOX_LOST_POWER_ON);
	inserted = rig_until(rig, DEALBOX_EV_BOARD_INSERTED);
	assert_int_equal(inserted->insertion, 2);
	assert_int_equal(rig->saved_insertion, 2);
	assert_int_equal(inserted->flags, DEALBOX_EVF_AT_POWER_ON);
	assert_true(rig_status(rig).flags & DEALBOX_STATUS_IN_DOUBT);
	rig_load_mode(rig, BY_CARD);
	assert_int_equal(rig_start(rig, BY_CARD), DEALBOX_ERR_IN_DOUBT);
	machine_remove(rig->m, false);
	rig_insert(rig);
	assert_int_equal(rig_start(rig, BY_CARD), OK);
	assert_int_equal(rig_counters(rig).power_ons, 2);
	rig_free(rig);
}

/* --- §4: the event queue ------------------------------------------------------------------------- */

static void the_oldest_events_are_dropped(void **state)
{
	struct rig *rig = rig_new(STORED);
	unsigned int i;

	(void)state;
	rig_collect(rig);
	rig->deaf = true;
	for (i = 0; i < 300; i++)
		machine_cover(rig->m, i % 2 == 0);
	rig->deaf = false;
	rig_collect(rig);
	assert_int_equal(rig->count, 1 + MACHINE_QUEUE);
	assert_true(MACHINE_QUEUE >= 64);
	for (i = 1; i < rig->count; i++)
		assert_int_equal(rig->events[i].number, 301 - MACHINE_QUEUE + i);
	rig_free(rig);
}

static void one_transfer_has_whole_events(void **state)
{
	struct rig *rig = rig_new(STORED);
	uint8_t buf[256];

	(void)state;
	machine_cover(rig->m, true);
	machine_cover(rig->m, false);
	machine_cover(rig->m, true);
	assert_int_equal(machine_fetch(rig->m, buf, 31), 0);
	assert_int_equal(machine_fetch(rig->m, buf, 95), 64);
	assert_int_equal(machine_fetch(rig->m, buf, 256), 64);
	assert_int_equal(machine_fetch(rig->m, buf, 256), 0);
	rig_free(rig);
}

static void hopper_events_come_when_it_becomes_so(void **state)
{
	struct rig *rig = rig_dealing(STORED, BY_CARD, "");

	(void)state;
	rig_until(rig, DEALBOX_EV_HOPPER_EMPTY);
	check_done(rig, 0x101);
	assert_int_equal(rig_count(rig, DEALBOX_EV_HOPPER_LOADED), 1);
	assert_int_equal(rig_count(rig, DEALBOX_EV_HOPPER_EMPTY), 1);
	rig_free(rig);
}

/* --- §5.1: time limits ------------------------------------------------------------------------------ */

static void time_limits_hold_at_every_speed(void **state)
{
	static const double speeds[] = { 0.001, 0.1, 1, 50 };
	unsigned int i, card;

	(void)state;
	for (i = 0; i < sizeof(speeds) / sizeof(*speeds); i++) {
		struct machine_config config = rig_config(STORED);
		struct rig *rig;
		uint64_t from;

		config.speed = speeds[i];
		rig = rig_new_config(config);
		rig_rule(rig, "position 5: feed-timeout");
		rig_cards(rig, 52);
		rig_insert(rig);
		rig_load_mode(rig, BY_CARD);
		assert_int_equal(rig_command(rig, WIRE_SET_PARAM, DEALBOX_PARAM_SPEED, 60, 0, NULL),
				 OK);
		assert_int_equal(rig_command(rig, WIRE_SET_PARAM, DEALBOX_PARAM_FEED_TIMEOUT, 4000,
					     0, NULL), OK);
		from = rig->now;
		assert_int_equal(rig_start(rig, BY_CARD), OK);
		rig_until(rig, DEALBOX_EV_DEAL_STARTED);
		assert_true(rig->now - from <= 1000000);
		for (card = 0; card < 5; card++) {
			from = rig->now;
			rig_until(rig, DEALBOX_EV_CARD_READ);
			assert_true(rig->now - from <= 5000000);
			/* the next is fed when this one is past the gate */
			rig_until(rig, DEALBOX_EV_CARD_ROUTED);
		}
		from = rig->now;
		rig_until(rig, DEALBOX_EV_FEED_TIMEOUT);
		assert_true(rig->now - from <= 5000000);
		from = rig->now;
		assert_int_equal(rig_do(rig, DEALBOX_OP_REREAD), OK);
		rig_until(rig, DEALBOX_EV_CARD_READ);
		assert_true(rig->now - from <= 5000000);
		from = rig->now;
		assert_int_equal(rig_do(rig, DEALBOX_OP_PAUSE), OK);
		rig_until(rig, DEALBOX_EV_PAUSED);
		assert_true(rig->now - from <= 2000000);
		rig_free(rig);
	}
}

/* --- speed 0 --------------------------------------------------------------------------------------- */

static void without_a_speed_no_event_is_lost(void **state)
{
	struct machine_config config = rig_config(STORED);
	struct rig *rig;
	unsigned int i;

	(void)state;
	config.speed = 0;
	rig = rig_new_config(config);
	rig_cards(rig, 52);
	rig_insert(rig);
	rig_load_mode(rig, BY_CARD);
	assert_int_equal(rig_start(rig, BY_CARD), OK);
	rig->deaf = true;
	rig_pass(rig, 10000000);
	assert_true(machine_view(rig->m).queued < 64);
	rig->deaf = false;
	check_done(rig, 0x101);
	for (i = 0; i < rig->count; i++)
		assert_int_equal(rig->events[i].number, i + 1);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deals_by_card),
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
	};

	return cmocka_run_group_tests_name("emulator machine", tests, NULL, NULL);
}
