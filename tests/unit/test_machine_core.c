// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The core of a machine: docs/protocol.md, requirement by requirement, and cards that never go
 * wrong.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "core.h"

#define NONE	CORE_NONE

/* the numbers of the page, which the core does not export */
enum { SET_PARAM = 0x10, LOAD, START, PAUSE, RESUME, REREAD, ABORT, CLEAR_FAULT, RELEASE_BOARD,
       TEST_DEAL, LOCATE, ATTEST, COMMANDS_END };
enum { OK, BAD_REQUEST, BAD_LENGTH, BAD_VALUE, UNSUPPORTED, STATE, IN_FAULT, NO_PLAN, WRONG_PLAN,
       NO_BOARD, WRONG_INSERTION, SPENT, IN_DOUBT, COVER, HOPPER, CRC, PLAN, INCOMPLETE, UNABLE };

#define STORED_CAN	(CORE_STORED_PLAN | CORE_EXIT_SENSORS | CORE_BOARD_READER | \
			 CORE_BOARD_LOCK | CORE_FACE_SENSOR | CORE_DOUBLE_FEED_SENSOR | \
			 CORE_TEST_DEAL | CORE_KEYS | CORE_BY_CARD | CORE_BY_POSITION | \
			 CORE_CAPTURE)
#define ROUTED_CAN	((STORED_CAN & ~CORE_STORED_PLAN) | CORE_HOST_ROUTED)

static const struct core_config stored = {
	.reader = 1, .pockets = 4, .capacity = 20, .hopper = 60, .plan_cards = 64,
	.capabilities = STORED_CAN, .firmware = 0x01000000, .model = "Test",
};

static const struct core_config routed = {
	.reader = 1, .pockets = 4, .capacity = 20, .hopper = 60, .plan_cards = 64,
	.capabilities = ROUTED_CAN, .gate_deadline = 20000, .model = "Test",
};

/* the mechanics, and what the host has seen */
static struct {
	struct core core;
	uint8_t slots[RECORD_SLOTS][RECORD_BYTES];
	bool store_fails, wants_card, wants_gate, passed, locked, gate_was_set;
	uint8_t gate, lamp;
	uint32_t now, sequence, stores;
	uint8_t event[CORE_EVENT_BYTES];	/* the last one of until() */
	uint8_t answer[CORE_ANSWER_BYTES];
} m;

static void read_order(void *context)
{
	(void)context;
	m.wants_card = true;
}

static void gate_order(void *context, uint8_t pocket)
{
	(void)context;
	assert_true(pocket < 4);
	m.gate = pocket;
	m.wants_gate = true;
	m.gate_was_set = false;
}

static void let_go_order(void *context)
{
	(void)context;
	/* no card passes a gate that is not set, or without a good board */
	assert_true(m.gate_was_set);
	assert_true(m.core.insertion && m.core.state == CORE_DEALING);
	assert_false(m.core.doubt || m.core.sensors.cover_open);
	assert_true(m.core.in_board[m.gate] <= 20);
	m.gate_was_set = false;
	m.passed = true;
}

static void halt_order(void *context)
{
	(void)context;
	m.wants_card = m.wants_gate = m.gate_was_set = false;
}

static void lock_order(void *context, bool locked)
{
	(void)context;
	m.locked = locked;
}

static void locate_order(void *context, uint8_t seconds)
{
	(void)context;
	m.lamp = seconds;
}

static bool store_order(void *context, int slot, const uint8_t bytes[RECORD_BYTES])
{
	(void)context;
	assert_in_range(slot, 0, 1);
	if (m.store_fails)
		return false;
	memcpy(m.slots[slot], bytes, RECORD_BYTES);
	m.stores++;
	return true;
}

static const struct core_orders orders = {
	read_order, gate_order, let_go_order, halt_order, lock_order, locate_order, store_order,
	NULL,
};

static void power_on(const struct core_config *config, bool board)
{
	const struct core_sensors sensors = { .board = board, .hopper = true };

	m.wants_card = m.wants_gate = m.passed = m.gate_was_set = false;
	core_start(&m.core, config, &orders, NULL, m.now, &sensors, m.slots);
	core_configure(&m.core);
	m.sequence = 0;
}

/* A machine that was never used, configured, with a board that may be dealt into: insertion 1 */
static void fresh(const struct core_config *config)
{
	memset(&m, 0, sizeof(m));
	m.now = 0xfff00000;	/* the clock wraps soon */
	power_on(config, false);
	core_board(&m.core, true, 3);
	while (core_event(&m.core, m.event))
		;
}

static void after(uint32_t us)
{
	m.now += us;
	core_clock(&m.core, m.now);
}

static int query(uint8_t request, uint16_t value)
{
	const uint8_t setup[8] = { 0xc1, request, (uint8_t)value, (uint8_t)(value >> 8), 0, 0, 96 };

	return core_control(&m.core, setup, NULL, 0, m.answer);
}

static uint8_t status(int at)
{
	assert_int_equal(query(2, 0), 32);
	return m.answer[at];
}

static int send(uint8_t request, uint32_t a, uint32_t b, uint32_t c)
{
	const uint8_t setup[8] = { 0x41, request, 0, 0, 0, 0, 16 };
	uint8_t data[16];

	put_u32(data, m.sequence);
	put_u32(data + 4, a);
	put_u32(data + 8, b);
	put_u32(data + 12, c);
	return core_control(&m.core, setup, data, 16, m.answer);
}

/* Send a new command; returns the error code that GET_RESULT gives */
static int command(uint8_t request, uint32_t a, uint32_t b, uint32_t c)
{
	int ended;

	m.sequence++;
	ended = send(request, a, b, c);
	assert_int_equal(query(3, 0), 16);
	assert_int_equal(get_u32(m.answer), m.sequence);
	assert_int_equal(m.answer[4], request);
	assert_int_equal(ended == CORE_STALL, m.answer[5] != OK);
	return m.answer[5];
}

/* Take events until one of a type comes, which must come */
static void until(uint8_t type)
{
	do
		if (!core_event(&m.core, m.event))
			fail_msg("there is no event %02x", type);
	while (m.event[0] != type);
}

static void no_more(void)
{
	assert_false(core_event(&m.core, m.event));
}

/* A plan of n entries */
static uint32_t plan(uint8_t *block, uint8_t mode, uint8_t n, const uint8_t *entries)
{
	memset(block, 0, 100);
	memcpy(block, "DBXP", 4);
	block[5] = 1;
	block[6] = mode;
	put_u32(block + 8, 7);
	block[12] = n;
	memcpy(block + 32, entries, n);
	for (int i = 0; i < n && mode != 3; i++)
		if (mode == 2 || entries[i] != NONE) {
			block[13]++;
			block[16 + entries[i] % 8]++;
		}
	put_u32(block + 32 + n, record_crc(block, 32 + n));
	return 36 + n;
}

static int load(const uint8_t *block, uint32_t length)
{
	assert_int_equal(command(LOAD, 7, length, 0), OK);
	/* in two packets */
	assert_true(core_bulk(&m.core, block, 30));
	assert_true(core_bulk(&m.core, block + 30, (uint16_t)(length - 30)));
	until(0x10);
	assert_int_equal(get_u32(m.event + 20), 7);
	return m.event[24];
}

static const uint8_t four[] = { 0, 1, 2, 3, 0, 1, 2, 3 };

static void load_four(uint8_t mode)
{
	uint8_t block[100];

	assert_int_equal(load(block, plan(block, mode, mode == 3 ? 1 : 8, four)), OK);
}

static void show(uint8_t card, uint8_t quality)
{
	const struct core_reading reading = { card, quality, false, 0x51 };

	assert_true(m.wants_card);
	m.wants_card = false;
	core_card(&m.core, &reading);
}

static void answer(uint8_t pocket, uint8_t reason)
{
	uint8_t gate[16] = { 1, pocket, reason, m.event[16] };

	assert_int_equal(m.event[0], 0x12);
	memcpy(gate + 4, m.event + 4, 4);
	memcpy(gate + 8, m.event + 12, 4);
	core_gate(&m.core, gate, sizeof(gate));
}

static void set(void)
{
	assert_true(m.wants_gate);
	m.wants_gate = false;
	m.gate_was_set = true;
	core_gate_set(&m.core);
}

static void fall(void)
{
	assert_true(m.passed);
	m.passed = false;
	core_landed(&m.core, m.core.config->capabilities & CORE_EXIT_SENSORS ? m.gate : NONE);
}

/* One card, all the way; routed by the host if it is such a machine */
static void deal(uint8_t card, uint8_t pocket)
{
	after(1000);
	show(card, 90);
	until(0x12);
	assert_int_equal(m.event[17], card);
	if (m.core.config->capabilities & CORE_HOST_ROUTED && m.core.mode == CORE_MODE_ROUTED)
		answer(pocket, 0);
	assert_int_equal(m.gate, pocket);
	set();
	until(0x13);
	assert_int_equal(m.event[18], pocket);
	fall();
	if (m.core.config->capabilities & CORE_EXIT_SENSORS) {
		until(0x14);
		assert_int_equal(m.event[18], pocket);
	}
}

static void begin(uint8_t mode)
{
	if (mode) {
		load_four(mode);
		assert_int_equal(command(START, 7, m.core.insertion, 0), OK);
	} else {
		assert_int_equal(command(START, 7, m.core.insertion, 8), OK);
	}
	until(0x11);
	assert_true(m.locked);
}

static void is_done(uint8_t cards)
{
	until(0x15);
	assert_int_equal(m.event[16], cards);
	assert_int_equal(status(0), CORE_DONE);
	assert_int_equal(status(14), cards);
}

static void whole_deals(void **state)
{
	static const uint8_t cards[] = { 6, 0, 3, 5, 1, 2, 7, 4 };

	(void)state;
	for (uint8_t mode = 0; mode <= 2; mode++) {
		fresh(mode ? &stored : &routed);
		begin(mode);
		for (uint8_t i = 0; i < 8; i++)
			deal(cards[i], four[mode == 2 ? i : cards[i]]);
		is_done(8);
		assert_memory_equal(m.event + 24, "\2\2\2\2\0\0\0\0", 8);
		no_more();
		/* never twice */
		assert_int_equal(command(START, 7, 1, mode ? 0 : 8), SPENT);
		assert_int_equal(command(TEST_DEAL, 0, 1, 4), SPENT);
		core_board(&m.core, false, 0);
		assert_int_equal(status(0), CORE_IDLE);
		core_board(&m.core, true, 4);
		assert_int_equal(command(START, 7, 1, mode ? 0 : 8), WRONG_INSERTION);
		assert_int_equal(command(START, 7, 2, mode ? 0 : 8), OK);
	}
}

static void captures(void **state)
{
	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		const uint32_t c = kind ? 1 << 8 : 0;

		fresh(kind ? &routed : &stored);
		if (!kind)
			load_four(3);
		for (uint8_t round = 0; round < 2; round++) {
			assert_int_equal(command(START, 7, 1, c), OK);
			for (uint8_t i = 0; i < 3; i++) {
				if (i == 2)
					core_hopper(&m.core, false);
				deal(i, 0);
			}
			is_done(3);
			assert_int_equal(m.event[24], 3);
			assert_false(status(2) & 8);
			core_hopper(&m.core, true);
		}
		/* all cards of the insertion count for the pocket */
		assert_int_equal(command(START, 7, 1, c), OK);
		for (uint8_t i = 0; i < 14; i++)
			deal(i, 0);
		show(14, 90);
		if (kind) {
			until(0x12);
			answer(0, 0);
		}
		assert_false(m.wants_gate);
		until(0x2e);
		assert_int_equal(m.event[16], 14);
		assert_int_equal(command(CLEAR_FAULT, 0, 0, 0), OK);
		if (!kind)
			load_four(1);
		assert_int_equal(command(START, 7, 1, kind ? 8 : 0), SPENT);
	}
}

static void a_test_deal_takes_any_card(void **state)
{
	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		fresh(kind ? &routed : &stored);
		assert_int_equal(command(TEST_DEAL, 0, 1, 5), OK);
		assert_int_equal(status(4), 0xff);
		for (uint8_t i = 0; i < 4; i++)
			deal(9, i);
		show(9, 10);
		until(0x12);
		assert_int_equal(m.event[17], NONE);
		set();
		fall();
		is_done(5);
		assert_int_equal(get_u32(m.event + 20), 0xffffffff);
	}
}

static void without_exit_sensors_time_tells(void **state)
{
	struct core_config config = stored;

	(void)state;
	config.capabilities &= ~CORE_EXIT_SENSORS;
	fresh(&config);
	begin(1);
	for (uint8_t i = 0; i < 8; i++)
		deal(i, four[i]);
	is_done(8);
}

/* -- each command in each state -- */

static void enter(enum core_state wanted, uint8_t mode)
{
	fresh(mode ? &stored : &routed);
	if (wanted == CORE_IDLE) {
		if (mode)
			load_four(mode);
		return;
	}
	begin(mode);
	switch (wanted) {
	case CORE_PAUSED:
		assert_int_equal(command(PAUSE, 0, 0, 0), OK);
		show(0, 90);
		break;
	case CORE_HELD:
		after(2000000);		/* no card comes */
		break;
	case CORE_FAULT:
		core_cover(&m.core, true);
		core_cover(&m.core, false);
		break;
	case CORE_DONE:
		for (uint8_t i = 0; i < 8; i++)
			deal(i, four[i]);
		break;
	default:
		break;
	}
	assert_int_equal(status(0), wanted);
}

static void each_command_in_each_state(void **state)
{
	/* IDLE, DEALING, PAUSED, HELD, FAULT, DONE */
	static const struct {
		uint8_t request, a, b, c, error[CORE_STATES];
	} rows[] = {
		{ SET_PARAM, 3, 200, 0, { OK, STATE, STATE, STATE, OK, OK } },
		{ LOAD, 7, 44, 0, { OK, STATE, STATE, STATE, STATE, OK } },
		{ START, 7, 1, 0, { OK, STATE, STATE, STATE, IN_FAULT, SPENT } },
		{ TEST_DEAL, 0, 1, 4, { OK, STATE, STATE, STATE, IN_FAULT, SPENT } },
		{ PAUSE, 0, 0, 0, { STATE, OK, STATE, STATE, STATE, STATE } },
		{ RESUME, 0, 0, 0, { STATE, STATE, OK, STATE, STATE, STATE } },
		{ REREAD, 0, 0, 0, { STATE, STATE, STATE, OK, STATE, STATE } },
		{ ABORT, 0, 0, 0, { STATE, OK, OK, OK, STATE, STATE } },
		{ CLEAR_FAULT, 0, 0, 0, { STATE, STATE, STATE, STATE, OK, STATE } },
		{ RELEASE_BOARD, 0, 0, 0, { OK, STATE, STATE, STATE, OK, OK } },
		{ LOCATE, 5, 0, 0, { OK, OK, OK, OK, OK, OK } },
		{ ATTEST, 0, 1, 0,
		  { BAD_LENGTH, BAD_LENGTH, BAD_LENGTH, BAD_LENGTH, BAD_LENGTH, BAD_LENGTH } },
		{ COMMANDS_END, 0, 1, 0,
		  { BAD_REQUEST, BAD_REQUEST, BAD_REQUEST, BAD_REQUEST, BAD_REQUEST,
		    BAD_REQUEST } },
	};

	(void)state;
	for (uint8_t mode = 0; mode <= 2; mode++)
		for (int s = 0; s < CORE_STATES; s++)
			for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
				const bool is_load = rows[i].request == LOAD && !mode;
				const uint8_t c = rows[i].request == START && !mode ? 8 : rows[i].c;
				const int wanted = is_load ? UNSUPPORTED : rows[i].error[s];
				int error;

				enter((enum core_state)s, mode);
				error = command(rows[i].request, rows[i].a, rows[i].b, c);
				if (error != wanted)
					fail_msg("command %02x in state %d: %d, not %d",
						 rows[i].request, s, error, wanted);
				if (error == STATE)
					assert_int_equal(m.answer[8], s);
			}
}

static void bad_values(void **state)
{
	static const struct {
		bool routed;
		uint8_t request;
		uint32_t a, b, c;
		uint8_t detail;
	} rows[] = {
		{ false, SET_PARAM, 1, 50, 0, 1 }, { false, SET_PARAM, 3, 99, 0, 2 },
		{ false, SET_PARAM, 3, 4001, 0, 2 }, { false, SET_PARAM, 3, 100, 1, 3 },
		{ false, LOAD, 0, 40, 0, 1 }, { false, LOAD, 0xffffffff, 40, 0, 1 },
		{ false, LOAD, 7, 36, 0, 2 }, { false, LOAD, 7, 101, 0, 2 },
		{ false, LOAD, 7, 0x100 + 40, 0, 2 }, { false, LOAD, 7, 40, 1, 3 },
		{ false, START, 0, 1, 0, 1 }, { false, START, 7, 0, 0, 2 },
		{ false, START, 7, 1, 8, 3 }, { true, START, 7, 1, 0, 3 },
		{ true, START, 7, 1, 65, 3 }, { true, START, 7, 1, 0x201, 3 },
		{ false, TEST_DEAL, 1, 1, 4, 1 }, { false, TEST_DEAL, 0, 0, 4, 2 },
		{ false, TEST_DEAL, 0, 1, 0, 3 }, { false, TEST_DEAL, 0, 1, 65, 3 },
		{ false, LOCATE, 61, 0, 0, 1 }, { false, LOCATE, 1, 1, 0, 2 },
		{ false, PAUSE, 0, 0, 1, 3 }, { false, PAUSE, 1, 1, 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fresh(rows[i].routed ? &routed : &stored);
		assert_int_equal(command(rows[i].request, rows[i].a, rows[i].b, rows[i].c),
				 BAD_VALUE);
		assert_int_equal(m.answer[8], rows[i].detail);
	}
}

static void start_checks_in_order(void **state)
{
	(void)state;
	fresh(&stored);
	core_cover(&m.core, true);
	core_hopper(&m.core, false);
	core_board(&m.core, false, 0);
	assert_int_equal(command(START, 7, 9, 0), NO_PLAN);
	load_four(1);
	assert_int_equal(command(START, 8, 9, 0), WRONG_PLAN);
	assert_int_equal(m.answer[8], 7);
	assert_int_equal(command(START, 7, 9, 0), NO_BOARD);
	assert_int_equal(command(RELEASE_BOARD, 0, 0, 0), NO_BOARD);
	core_board(&m.core, true, 0);
	assert_int_equal(command(START, 7, 9, 0), WRONG_INSERTION);
	assert_int_equal(m.answer[8], 2);
	assert_int_equal(command(START, 7, 2, 0), COVER);
	core_cover(&m.core, false);
	assert_int_equal(command(START, 7, 2, 0), HOPPER);
	core_hopper(&m.core, true);
	m.store_fails = true;
	assert_int_equal(command(START, 7, 2, 0), UNABLE);
	assert_int_equal(status(0), CORE_IDLE);
	assert_false(status(2) & 8);
}

static void a_command_counts_once(void **state)
{
	const uint8_t setup[8] = { 0x41, LOCATE, 0, 0, 0, 0, 16 };
	uint8_t data[20] = { 0 };
	struct core_config by_result = stored;

	(void)state;
	fresh(&stored);
	assert_int_equal(command(LOCATE, 9, 0, 0), OK);
	m.lamp = 0;
	/* the number alone decides */
	assert_int_equal(send(START, 0, 0, 0), 0);
	assert_int_equal(m.lamp, 0);
	assert_int_equal(command(LOCATE, 99, 0, 0), BAD_VALUE);
	assert_int_equal(send(LOCATE, 9, 0, 0), CORE_STALL);
	assert_int_equal(m.lamp, 0);
	/* 0 is no repetition, and a length is checked */
	for (uint16_t length = 0; length <= 20; length++) {
		assert_int_equal(core_control(&m.core, setup, data, length, m.answer), CORE_STALL);
		query(3, 0);
		assert_int_equal(m.answer[5], BAD_LENGTH);
		assert_int_equal(m.answer[8], length);
		assert_int_equal(get_u32(m.answer), 0);
	}
	/* refused by the result: R-2.2-9 */
	by_result.capabilities |= CORE_REFUSES_BY_RESULT;
	fresh(&by_result);
	m.sequence = 1;
	assert_int_equal(send(START, 7, 1, 0), 0);
	query(3, 0);
	assert_int_equal(m.answer[5], NO_PLAN);
	assert_int_equal(query(0, 0), 24);
	assert_memory_equal(m.answer, "\x18\x24\1\1\1\1\4\x14\x3c\0\x40\0", 12);
	assert_int_equal(get_u32(m.answer + 12), by_result.capabilities);
}

static void queries(void **state)
{
	static const int sizes[] = { 24, 64, 32, 16, 64, -1, -1, -1, -1, -1 };
	uint8_t setup[8] = { 0xc1, 2, 0, 0, 0, 0, 5, 0 };

	(void)state;
	fresh(&stored);
	for (uint8_t i = 0; i < 10; i++) {
		assert_int_equal(query(i, 0), sizes[i]);
		assert_int_equal(query(i, 1), CORE_STALL);
	}
	assert_int_equal(query(5, 3), 16);
	assert_int_equal(core_control(&m.core, setup, NULL, 0, m.answer), 5);
	setup[4] = 1;
	assert_int_equal(core_control(&m.core, setup, NULL, 0, m.answer), CORE_STALL);
}

/* -- plans -- */

static void every_fault_of_a_plan(void **state)
{
	static const struct {
		uint8_t mode, n, at, value, offset;
	} rows[] = {
		{ 1, 8, 0, 'X', 0 }, { 1, 8, 5, 2, 4 }, { 1, 8, 6, 4, 6 }, { 1, 8, 6, 0, 6 },
		{ 1, 8, 7, 1, 7 }, { 1, 8, 9, 1, 8 }, { 1, 8, 13, 7, 13 }, { 1, 8, 15, 1, 14 },
		{ 1, 8, 16, 3, 16 }, { 1, 8, 23, 1, 23 }, { 2, 8, 31, 1, 24 },
		{ 1, 55, 0, 'D', 12 },
		{ 3, 2, 0, 'D', 12 }, { 3, 1, 16, 1, 16 }, { 3, 1, 13, 1, 13 }, { 3, 1, 32, 4, 32 },
	};
	static const uint8_t many[64] = { 0 };
	uint8_t block[100];
	uint32_t length;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fresh(&stored);
		length = plan(block, rows[i].mode, rows[i].n, rows[i].n > 8 ? many : four);
		block[rows[i].at] = rows[i].value;
		put_u32(block + length - 4, record_crc(block, length - 4));
		assert_int_equal(load(block, length), PLAN);
		assert_int_equal(m.event[28], rows[i].offset);
		assert_int_equal(command(START, 7, 1, 0), NO_PLAN);
	}
	/* every bit counts, and nothing of a bad plan stays */
	fresh(&stored);
	length = plan(block, 1, 8, four);
	for (uint32_t bit = 0; bit < 8 * length; bit++) {
		block[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_not_equal(load(block, length), OK);
		for (size_t at = 0; at < sizeof(m.core.block); at++)
			assert_int_equal(m.core.block[at], 0);
		block[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	/* a pocket 4..7, where there are four pockets */
	length = plan(block, 2, 1, (const uint8_t[]){ 6 });
	assert_int_equal(load(block, length), PLAN);
	assert_int_equal(m.event[28], 32);
	/* too many, too late, without LOAD */
	assert_false(core_bulk(&m.core, block, 1));
	assert_int_equal(command(LOAD, 7, 40, 0), OK);
	assert_true(core_bulk(&m.core, block, 39));
	assert_false(core_bulk(&m.core, block, 2));
	until(0x10);
	assert_int_equal(m.event[24], PLAN);
	assert_int_equal(m.event[28], 12);
	assert_int_equal(command(LOAD, 7, 40, 0), OK);
	core_bulk(&m.core, block, 39);
	after(1999999);
	no_more();
	after(1);
	until(0x10);
	assert_int_equal(m.event[24], INCOMPLETE);
	assert_int_equal(m.event[28], 39);
	/* forgotten without a word */
	load_four(1);
	assert_int_equal(command(LOAD, 0, 0, 0), OK);
	after(3000000);
	no_more();
	assert_int_equal(command(START, 7, 1, 0), NO_PLAN);
}

/* -- stops -- */

static void is_stopped(uint8_t type, uint8_t position, uint8_t card, uint32_t code, uint8_t arg)
{
	until(type);
	assert_int_equal(m.event[16], position);
	assert_int_equal(m.event[17], card);
	assert_int_equal(get_u32(m.event + 20), code);
	assert_int_equal(m.event[24], arg);
	assert_int_equal(status(0), type < 0x28 ? CORE_HELD : CORE_FAULT);
	assert_int_equal(status(1), type);
	/* nothing moves any more */
	assert_false(m.wants_card || m.wants_gate || m.gate_was_set);
	after(60000000);
	assert_false(m.wants_card || m.wants_gate);
}

static void readings_that_stop(void **state)
{
	(void)state;
	fresh(&stored);
	begin(1);
	deal(3, 3);
	show(2, 49);	/* named, but in doubt */
	is_stopped(0x20, 1, NONE, 0x51, 0);
	assert_int_equal(m.event[19], 49);
	assert_int_equal(command(REREAD, 0, 0, 0), OK);
	show(52, 90);
	is_stopped(0x21, 1, 52, 0x51, 0);
	assert_int_equal(command(REREAD, 0, 0, 0), OK);
	show(2, 90);	/* the same card as before, which did not pass: it is no repetition */
	set();
	fall();
	assert_int_equal(status(14), 2);
	show(3, 90);
	is_stopped(0x28, 2, 3, 0x51, 0);
	assert_int_equal(command(CLEAR_FAULT, 0, 0, 0), IN_FAULT);
	core_reader(&m.core, false);
	assert_int_equal(command(CLEAR_FAULT, 0, 0, 0), OK);
	until(0x19);
	assert_int_equal(m.event[20], 0x28);
	assert_int_equal(command(START, 7, 1, 0), SPENT);
	/* by position a doubt does not stop, and a good repetition does */
	fresh(&stored);
	begin(2);
	deal(50, 0);
	show(50, 20);
	until(0x12);
	assert_int_equal(m.event[17], NONE);
	set();
	fall();
	show(50, 60);
	is_stopped(0x28, 2, 50, 0x51, 0);
}

static void mechanics_that_stop(void **state)
{
	enum { FEED, SEEN, GATE, FALL };
	static const struct {
		int when;
		uint8_t type, position, card;
		uint32_t code;
	} rows[] = {
		{ FEED, 0x23, 1, NONE, 0 }, { SEEN, 0x2a, 1, NONE, 2 }, { GATE, 0x2e, 1, NONE, 3 },
		{ FALL, 0x2a, 1, NONE, 4 },
	};

	(void)state;
	/* what takes too long */
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fresh(&stored);
		begin(1);
		deal(0, 0);
		if (rows[i].when == SEEN)
			core_reader(&m.core, true);
		if (rows[i].when >= GATE)
			show(1, 90);
		if (rows[i].when == FALL)
			set();
		after(2000000);
		is_stopped(rows[i].type, rows[i].position, rows[i].card, rows[i].code, 0);
		assert_int_equal(m.core.record.counters[1], rows[i].type >= 0x28);
	}
	/* what comes at any moment */
	for (int when = FEED; when <= FALL; when++)
		for (int what = 0; what < 6; what++) {
			static const uint8_t types[] = { 0x2c, 0x2d, 0x29, 0x2a, 0x2e, 0x29 };
			static const uint32_t codes[] = { 0, 0, 0, 3, 0x123, 0 };
			const bool next = what < 2 && when == FALL;
			const uint8_t position = what == 5 ? 0 : next ? 2 : 1;

			if (what == 5 && when == FALL)
				continue;
			fresh(&stored);
			begin(1);
			deal(0, 0);
			if (when >= SEEN)
				core_reader(&m.core, true);
			if (when >= GATE)
				show(1, 90);
			if (when == FALL)
				set();
			switch (what) {
			case 0:
				core_board(&m.core, false, 0);
				break;
			case 1:
				core_cover(&m.core, true);
				break;
			case 2:
				core_double_feed(&m.core);
				break;
			case 3:
				core_jam(&m.core, 3);
				break;
			case 4:
				core_trouble(&m.core, 0x123);
				break;
			default:
				core_landed(&m.core, 2);	/* nobody let it go */
				break;
			}
			is_stopped(types[what], position, NONE, codes[what], 0);
			if (!what) {
				assert_int_equal(get_u32(m.event + 12), 1);
				until(5);
				assert_int_equal(get_u32(m.event + 12), 1);
			}
			/* a gate that is set afterwards moves nothing */
			core_gate_set(&m.core);
			assert_int_equal(m.passed, when == FALL);
		}
	/* a card that leaves the reader by itself may be in the board */
	for (int when = SEEN; when <= GATE; when++) {
		fresh(&stored);
		begin(1);
		core_reader(&m.core, true);
		if (when == GATE)
			show(1, 90);
		core_reader(&m.core, false);
		is_stopped(0x2a, 0, NONE, 2, 0);
	}
	/* into another pocket; and a second card behind the end */
	fresh(&stored);
	begin(1);
	show(1, 90);
	set();
	core_landed(&m.core, 3);
	is_stopped(0x2b, 0, 1, 0, 1);
	assert_int_equal(m.event[18], 3);
	assert_int_equal(status(27), 1);
	enter(CORE_DONE, 1);
	core_landed(&m.core, 1);
	is_stopped(0x29, 7, NONE, 0, 0);
	enter(CORE_DONE, 1);
	core_double_feed(&m.core);
	is_stopped(0x29, 7, NONE, 0, 0);
	/* the hopper is empty too early */
	fresh(&stored);
	begin(1);
	core_hopper(&m.core, false);
	deal(0, 0);
	is_stopped(0x24, 1, NONE, 0, 0);
	assert_int_equal(command(REREAD, 0, 0, 0), OK);
	is_stopped(0x24, 1, NONE, 0, 0);
	/* one card too many for a pocket stays at the reader */
	fresh(&stored);
	load_four(3);
	assert_int_equal(command(START, 7, 1, 0), OK);
	for (uint8_t i = 0; i < 20; i++)
		deal(i, 0);
	show(20, 90);
	is_stopped(0x2e, 20, NONE, 2, 0);
	assert_true(status(2) & 32);
	assert_int_equal(command(CLEAR_FAULT, 0, 0, 0), OK);
}

static void the_host_routes(void **state)
{
	uint8_t gate[17] = { 1, 1 };

	(void)state;
	fresh(&routed);
	begin(0);
	show(5, 90);
	/* the time begins when the event is given to the controller */
	after(1000000);
	until(0x12);
	gate[3] = 0;
	memcpy(gate + 4, m.event + 4, 4);
	memcpy(gate + 8, m.event + 12, 4);
	/* whatever does not answer this card */
	for (int at = 0; at < 12; at++) {
		gate[at] ^= 0x40;
		core_gate(&m.core, gate, 16);
		gate[at] ^= 0x40;
		assert_false(m.wants_gate);
	}
	core_gate(&m.core, gate, 15);
	core_gate(&m.core, gate, 17);
	assert_false(m.wants_gate);
	assert_int_equal(m.core.record.counters[12], 14);
	after(20000);
	is_stopped(0x22, 0, 5, 0, 0);
	core_gate(&m.core, gate, 16);
	assert_false(m.wants_gate);
	assert_int_equal(m.core.record.counters[11], 1);
	assert_int_equal(command(REREAD, 0, 0, 0), OK);
	deal(5, 2);
	/* it holds */
	show(5, 90);
	until(0x12);
	answer(NONE, 0x21);
	is_stopped(0x21, 1, 5, 0x51, 0);
	assert_int_equal(command(REREAD, 0, 0, 0), OK);
	show(NONE, 0);
	is_stopped(0x20, 1, NONE, 0x51, 0);
	assert_int_equal(command(REREAD, 0, 0, 0), OK);
	show(5, 90);
	until(0x12);
	answer(NONE, 0x28);
	is_stopped(0x28, 1, 5, 0x51, 0);
	/* a lost event does not stop the clock */
	fresh(&routed);
	begin(0);
	show(5, 90);
	for (int i = 0; i < 64; i++)
		core_key(&m.core, 1, i & 1);
	after(20000);
	is_stopped(0x22, 0, 5, 0, 0);
}

static void pause_and_abort(void **state)
{
	(void)state;
	for (uint8_t mode = 0; mode <= 1; mode++)
		for (int end = 0; end < 3; end++) {
			/* while a card comes: it stays, and is read after RESUME */
			fresh(mode ? &stored : &routed);
			begin(mode);
			deal(0, 0);
			if (end == 2)
				core_key(&m.core, 2, true);
			else
				assert_int_equal(command(end ? ABORT : PAUSE, 0, 0, 0), OK);
			assert_int_equal(status(0), CORE_DEALING);
			assert_int_equal(command(PAUSE, 0, 0, 0), STATE);
			show(1, 90);
			until(end == 1 ? 0x18 : 0x16);
			assert_int_equal(m.event[16], end == 1 ? 2 : 1);
			assert_int_equal(get_u32(m.event + 20), end == 1 ? 7 : end ? 2 : 1);
			no_more();
			assert_true(status(2) & 32);
			if (end == 1) {
				assert_int_equal(status(0), CORE_IDLE);
				continue;
			}
			assert_int_equal(command(RESUME, 0, 0, 0), OK);
			until(0x17);
			deal(1, 1);
			/* while one falls */
			show(2, 90);
			until(0x12);
			if (!mode)
				answer(2, 0);
			set();
			assert_int_equal(command(PAUSE, 0, 0, 0), OK);
			assert_int_equal(command(PAUSE, 0, 0, 0), STATE);
			if (end)
				assert_int_equal(command(ABORT, 0, 0, 0), OK);
			fall();
			until(0x14);
			until(end ? 0x18 : 0x16);
			assert_int_equal(m.event[16], 3);
			no_more();
			assert_int_equal(m.core.record.counters[1], end ? 1 : 0);
		}
	/* no card comes to rest: neither waits for it */
	for (int end = 0; end < 2; end++) {
		fresh(&stored);
		assert_int_equal(command(SET_PARAM, 3, 3800, 0), OK);
		begin(1);
		assert_int_equal(command(end ? ABORT : PAUSE, 0, 0, 0), OK);
		after(1499999);
		no_more();
		after(1);
		until(end ? 0x18 : 0x16);
		assert_int_equal(m.event[16], 0);
		no_more();
	}
	/* the last card falls: DEAL_DONE only after RESUME */
	fresh(&stored);
	begin(1);
	for (uint8_t i = 0; i < 7; i++)
		deal(i, four[i]);
	show(7, 90);
	set();
	assert_int_equal(command(PAUSE, 0, 0, 0), OK);
	fall();
	until(0x16);
	no_more();
	assert_int_equal(command(RESUME, 0, 0, 0), OK);
	is_done(8);
}

/* -- attestations: the hashes and signatures are counted, not made -- */

static struct {
	uint32_t events, begun, signatures;
	uint8_t last;			/* type of the last event that was hashed */
	bool nonce, plan, cannot;
	uint8_t statement[CORE_STATEMENT_BYTES];
} signer;

static void begin_hash(void *context, const uint8_t *block, uint32_t length)
{
	assert_true(context == &signer);
	signer.events = 0;
	signer.begun++;
	signer.plan = block;
	assert_int_equal(length, block ? 44 : 0);
}

static void hash_one(void *context, const uint8_t event[CORE_EVENT_BYTES])
{
	(void)context;
	signer.events++;
	signer.last = event[0];
	/* complete, with what is filled in late */
	if (event[0] == 0x11 || event[0] == 0x15)
		assert_int_equal(get_u32(event + 20), 7);
}

static void forget_hash(void *context)
{
	(void)context;
	signer.events = 0;
}

static void take_nonce(void *context, const uint8_t *nonce)
{
	(void)context;
	signer.nonce = nonce;
}

static bool sign_one(void *context, const uint8_t statement[CORE_STATEMENT_BYTES])
{
	(void)context;
	assert_true(signer.nonce);
	signer.nonce = false;
	memcpy(signer.statement, statement, sizeof(signer.statement));
	signer.signatures += !signer.cannot;
	return !signer.cannot;
}

static const uint8_t *show_one(void *context, enum core_shown what)
{
	(void)context;
	(void)what;
	return signer.statement;
}

static const struct core_attest attest_orders = {
	&signer, begin_hash, hash_one, forget_hash, take_nonce, sign_one, show_one,
};

static int attest(uint32_t insertion, uint8_t nonce)
{
	const uint8_t setup[8] = { 0x41, ATTEST, 0, 0, 0, 0, 48 };
	uint8_t data[48];

	m.sequence++;
	put_u32(data, m.sequence);
	put_u32(data + 4, 0);
	put_u32(data + 8, insertion);
	put_u32(data + 12, 0);
	memset(data + 16, 0, 32);
	data[47] = nonce;
	core_control(&m.core, setup, data, sizeof(data), m.answer);
	query(3, 0);
	return m.answer[5];
}

static void attested(uint32_t counter, uint8_t error)
{
	until(0x1a);
	assert_int_equal(get_u32(m.event + 20), counter);
	assert_int_equal(m.event[24], error);
	assert_int_equal(query(7, 0), error ? CORE_STALL : 96);
	assert_int_equal(query(8, 0), error ? CORE_STALL : 64);
	assert_false(signer.nonce);
}

/* A machine with a key, and a deal that has ended */
static void attestable(bool host_routes)
{
	static struct core_config config;
	static struct core_orders with_key;

	config = host_routes ? routed : stored;
	config.capabilities |= CORE_ATTEST;
	with_key = orders;
	with_key.attest = &attest_orders;
	memset(&m, 0, sizeof(m));
	memset(&signer, 0, sizeof(signer));
	core_start(&m.core, &config, &with_key, NULL, 0, &(struct core_sensors){ .hopper = true },
		   m.slots);
	core_configure(&m.core);
	core_board(&m.core, true, 3);
	assert_int_equal(query(6, 0), 48);
	assert_int_equal(attest(1, 1), WRONG_INSERTION);
	begin(!host_routes);
	assert_int_equal(attest(1, 1), STATE);
	for (uint8_t i = 0; i < 8; i++)
		deal(i, four[i]);
	is_done(8);
}

static void a_deal_is_attested(void **state)
{
	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		attestable(kind);
		assert_int_equal(attest(1, 0), BAD_VALUE);
		assert_int_equal(m.answer[8], 5);
		assert_int_equal(attest(0, 1), BAD_VALUE);
		assert_int_equal(attest(2, 1), WRONG_INSERTION);
		assert_int_equal(m.answer[8], 1);
		/* a stop may still come */
		assert_int_equal(attest(1, 1), OK);
		assert_int_equal(attest(1, 1), STATE);
		after(299999);
		no_more();
		assert_int_equal(query(7, 0), CORE_STALL);
		after(1);
		attested(1, OK);
		/* DEAL_STARTED, three for each card, DEAL_DONE */
		assert_int_equal(signer.events, 26);
		assert_int_equal(signer.last, 0x15);
		assert_memory_equal(signer.statement, kind ? "DBXA\0\1\0" : "DBXA\0\1\2", 8);
		assert_int_equal(get_u32(signer.statement + 16), 1);
		assert_int_equal(get_u32(signer.statement + 20), 1);
		assert_int_equal(get_u32(signer.statement + 24), 26);
		/* the board may go; another statement is made at once, half a clock's turn later */
		core_board(&m.core, false, 0);
		core_board(&m.core, true, 4);
		for (int i = 0; i < 3; i++)
			after(0x40000000);
		assert_int_equal(attest(1, 1), OK);
		after(0);
		attested(2, OK);
		assert_int_equal(get_u32(m.event + 12), 2);
		assert_int_equal(get_u32(m.event + 28), 1);
		/* a test deal ends it, and is none */
		assert_int_equal(command(TEST_DEAL, 0, 2, 1), OK);
		deal(9, 0);
		is_done(1);
		assert_int_equal(attest(1, 1), WRONG_INSERTION);
		assert_int_equal(attest(2, 1), WRONG_INSERTION);
	}
}

static void a_stop_ends_the_attestation(void **state)
{
	(void)state;
	/* while it is made, before, and a machine that is unable to */
	attestable(false);
	assert_int_equal(attest(1, 1), OK);
	core_double_feed(&m.core);
	until(0x29);
	attested(0, STATE);
	assert_int_equal(signer.signatures, 0);
	assert_int_equal(command(CLEAR_FAULT, 0, 0, 0), OK);
	assert_int_equal(attest(1, 1), WRONG_INSERTION);

	attestable(false);
	core_double_feed(&m.core);
	assert_int_equal(command(CLEAR_FAULT, 0, 0, 0), OK);
	assert_int_equal(attest(1, 1), WRONG_INSERTION);

	attestable(false);
	signer.cannot = true;
	assert_int_equal(attest(1, 1), OK);
	after(300000);
	attested(0, UNABLE);
	/* a number that was stored is not given again, nor one that may have been */
	signer.cannot = false;
	m.store_fails = true;
	assert_int_equal(attest(1, 1), OK);
	after(0);
	attested(0, UNABLE);
	m.store_fails = false;
	assert_int_equal(attest(1, 1), OK);
	after(0);
	attested(3, OK);
	m.core.record.attestations = 0xffffffff;
	assert_int_equal(attest(1, 1), UNABLE);
	/* nothing of it outlives the configuration */
	attestable(false);
	assert_int_equal(attest(1, 1), OK);
	core_lost(&m.core);
	until(0x01);
	assert_int_equal(m.event[20], 3);
	after(300000);
	assert_false(signer.nonce);
	assert_int_equal(attest(1, 1), WRONG_INSERTION);
}

static void what_was_told_is_stored(void **state)
{
	struct record found;

	(void)state;
	fresh(&stored);
	for (int i = 0; i < 5; i++)
		after(1000000);
	core_gate(&m.core, four, 3);
	assert_int_equal(query(4, 0), 64);
	assert_true(record_choose(m.slots, &found) >= 0);
	assert_int_equal(found.counters[14], 5);
	assert_int_equal(found.counters[12], 1);
	/* once is enough */
	m.stores = 0;
	query(4, 0);
	assert_int_equal(m.stores, 0);
}

/* -- bus and power -- */

static void the_bus_takes_the_plan(void **state)
{
	(void)state;
	for (int s = 0; s < CORE_STATES; s++) {
		enter((enum core_state)s, 1);
		core_deconfigure(&m.core);
		core_cover(&m.core, true);
		core_gate_set(&m.core);
		no_more();
		core_configure(&m.core);
		until(1);
		assert_int_equal(get_u32(m.event + 4), 1);
		assert_int_equal(m.event[20], 2);
		until(4);
		assert_int_equal(m.event[1], 0);
		until(6);
		until(2);
		no_more();
		assert_int_equal(status(0), CORE_IDLE);
		core_cover(&m.core, false);
		assert_int_equal(command(START, 7, 1, 0), NO_PLAN);
		load_four(1);
		assert_int_equal(command(START, 7, 1, 0), s == CORE_IDLE ? OK : SPENT);
	}
}

static void the_queue_drops_the_oldest(void **state)
{
	(void)state;
	fresh(&stored);
	for (int i = 0; i < 100; i++)
		core_key(&m.core, 1, true);
	for (uint32_t i = 0; i < 64; i++) {
		assert_true(core_event(&m.core, m.event));
		assert_int_equal(get_u32(m.event + 4), m.core.event_next - 64 + i);
	}
	no_more();
}

static void a_torn_write_loses_nothing(void **state)
{
	struct record old = { 0 }, new, found;
	uint8_t bytes[RECORD_BYTES], slots[RECORD_SLOTS][RECORD_BYTES];

	(void)state;
	assert_int_equal(record_crc((const uint8_t *)"123456789", 9), 0xe3069283);
	/* the generation wraps on the way */
	old.generation = 0xfffffffd;
	for (int writes = 0; writes < 8; writes++) {
		const int slot = writes & 1;

		memset(slots, 0xff, sizeof(slots));
		new = old;
		new.generation++;
		new.insertion++;
		new.counters[13]++;
		if (writes) {
			struct record before = old;

			record_encode(&old, slots[!slot]);
			before.generation--;
			before.insertion--;
			record_encode(&before, slots[slot]);
		}
		record_encode(&new, bytes);
		/* written over what was there, or erased to 00 or ff before */
		for (int erased = 0; erased < 3; erased++)
			for (int cut = 0; cut <= RECORD_BYTES; cut++) {
				uint8_t torn[RECORD_SLOTS][RECORD_BYTES];
				bool whole;
				int at;

				memcpy(torn, slots, sizeof(torn));
				if (erased)
					memset(torn[slot], erased == 1 ? 0 : 0xff, RECORD_BYTES);
				memcpy(torn[slot], bytes, (size_t)cut);
				whole = !memcmp(torn[slot], bytes, RECORD_BYTES);
				at = record_choose(torn, &found);
				if (whole) {
					assert_int_equal(at, slot);
					assert_int_equal(found.insertion, new.insertion);
					assert_int_equal(found.counters[13], new.counters[13]);
				} else if (writes) {
					assert_int_equal(at, !slot);
					assert_int_equal(found.insertion, old.insertion);
					assert_int_equal(record_next(at), slot);
				} else {
					assert_int_equal(at, RECORD_NEW);
				}
			}
		old = new;
	}
	memset(slots, 0x55, sizeof(slots));
	assert_int_equal(record_choose(slots, &found), RECORD_BROKEN);
	memset(slots[0], 0, RECORD_BYTES);
	assert_int_equal(record_choose(slots, &found), RECORD_BROKEN);
}

/* Power goes at each write of an evening, after each of its bytes. */
static uint32_t cut_write, cut_byte;

static bool torn_store(void *context, int slot, const uint8_t bytes[RECORD_BYTES])
{
	(void)context;
	if (m.stores > cut_write)
		return false;
	memcpy(m.slots[slot], bytes, m.stores == cut_write ? cut_byte : RECORD_BYTES);
	m.stores++;
	return m.stores <= cut_write;
}

static void power_goes_at_every_write(void **state)
{
	struct core_orders torn = orders;

	(void)state;
	torn.store = torn_store;
	for (cut_write = 0; cut_write < 8; cut_write++)
		for (cut_byte = 0; cut_byte <= RECORD_BYTES; cut_byte++) {
			const struct core_sensors sensors = { .hopper = true };
			uint32_t given = 0;

			memset(&m, 0, sizeof(m));
			core_start(&m.core, &stored, &torn, NULL, 0, &sensors, m.slots);
			core_configure(&m.core);
			for (int board = 0; board < 3 && m.stores <= cut_write; board++) {
				core_board(&m.core, true, 0);
				if (m.core.insertion)
					given = m.core.insertion;
				if (m.stores > cut_write || command(TEST_DEAL, 0, given, 1))
					break;
				show(1, 90);
				set();
				fall();
				core_board(&m.core, false, 0);
			}
			/* the board of before is still there */
			power_on(&stored, true);
			assert_true(m.core.insertion > given);
			assert_int_equal(m.core.slot, m.core.slot & 1);
			until(1);
			assert_int_equal(m.event[20], 1);
			until(4);
			assert_int_equal(m.event[1], 2);
			assert_int_equal(command(TEST_DEAL, 0, m.core.insertion, 1), IN_DOUBT);
		}
}

/* Power goes at each step of a deal */
static void power_goes_at_every_step(void **state)
{
	(void)state;
	for (int steps = 0; steps <= 24; steps++) {
		uint32_t given;

		fresh(&stored);
		begin(1);
		for (int i = 0; i < steps; i++)
			if (i % 3 == 0)
				show((uint8_t)(i / 3), 90);
			else if (i % 3 == 1)
				set();
			else
				fall();
		given = m.core.insertion;
		power_on(&stored, true);
		until(1);
		until(4);
		assert_int_equal(get_u32(m.event + 12), given + 1);
		assert_int_equal(status(2) & 24, 16);
		assert_int_equal(command(START, 7, given + 1, 0), NO_PLAN);
		load_four(1);
		assert_int_equal(command(START, 7, given + 1, 0), IN_DOUBT);
		assert_int_equal(command(START, 7, given, 0), WRONG_INSERTION);
		query(4, 0);
		assert_int_equal(get_u32(m.answer), steps == 24);	/* dealt */
		assert_int_equal(get_u32(m.answer + 4), steps < 24);	/* voided */
		assert_int_equal(get_u32(m.answer + 52), 2);
		core_board(&m.core, false, 0);
		core_board(&m.core, true, 0);
		assert_int_equal(command(START, 7, given + 2, 0), OK);
	}
}

static void a_store_that_fails_gives_no_number(void **state)
{
	(void)state;
	fresh(&stored);
	core_board(&m.core, false, 0);
	m.store_fails = true;
	core_board(&m.core, true, 0);
	until(0x2e);
	assert_int_equal(get_u32(m.event + 12), 0);
	assert_false(status(2) & 1);
	assert_int_equal(command(CLEAR_FAULT, 0, 0, 0), IN_FAULT);
	m.store_fails = false;
	assert_int_equal(command(CLEAR_FAULT, 0, 0, 0), OK);
	core_board(&m.core, false, 0);
	core_board(&m.core, true, 0);
	assert_true(m.core.insertion > 1);
	/* a record that is damaged: no number is safe */
	memset(m.slots, 0x33, sizeof(m.slots));
	power_on(&stored, false);
	core_board(&m.core, true, 0);
	assert_int_equal(m.core.insertion, 0);
	assert_int_equal(m.slots[0][0], 0x33);
}

/* The mechanics may have said that the board has cards already. */
static void a_store_that_works_again_ends_no_other_trouble(void **state)
{
	(void)state;
	fresh(&stored);
	core_trouble(&m.core, 0x104);
	m.store_fails = true;
	assert_int_equal(command(CLEAR_FAULT, 0, 0, 0), IN_FAULT);
	after(1000000);
	query(4, 0);
	m.store_fails = false;
	query(4, 0);
	assert_int_equal(command(CLEAR_FAULT, 0, 0, 0), IN_FAULT);
	core_trouble(&m.core, 0);
	assert_int_equal(command(CLEAR_FAULT, 0, 0, 0), OK);
	/* ... and the other way round */
	m.store_fails = true;
	after(1000000);
	query(4, 0);
	core_trouble(&m.core, 0x104);
	core_trouble(&m.core, 0);
	assert_int_equal(command(CLEAR_FAULT, 0, 0, 0), IN_FAULT);
	m.store_fails = false;
	assert_int_equal(command(CLEAR_FAULT, 0, 0, 0), OK);
}

/* -- anything at any time -- */

static uint32_t seed;

static uint32_t chance(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

/* Act as an operator who clears the machine for the next deal. */
static void help(void)
{
	m.store_fails = false;
	core_hopper(&m.core, true);
	core_cover(&m.core, false);
	switch (m.core.state) {
	case CORE_FAULT:
		core_jam(&m.core, 0);
		core_reader(&m.core, false);
		command(CLEAR_FAULT, 0, 0, 0);
		break;
	case CORE_HELD:
		command(REREAD, 0, 0, 0);
		break;
	case CORE_PAUSED:
		command(RESUME, 0, 0, 0);
		break;
	case CORE_IDLE:
	case CORE_DONE:
		core_jam(&m.core, 0);
		core_board(&m.core, false, 0);
		core_board(&m.core, true, 0);
		break;
	default:
		break;
	}
}

static void anything_at_any_time(void **state)
{
	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		uint32_t spent = 0, passed = 0, deals = 0;
		bool seen[CORE_CARDS] = { 0 }, testing = false;

		seed = 1;
		fresh(kind ? &routed : &stored);
		for (int i = 0; i < 400000; i++) {
			const enum core_state was = m.core.state;
			uint8_t block[100];

			after(chance(4000));
			switch (chance(100)) {
			case 0:
				if (!chance(6))
					core_board(&m.core, chance(4), 0);
				break;
			case 1:
				if (!chance(10))
					core_cover(&m.core, !chance(4));
				break;
			case 2:
				core_hopper(&m.core, chance(8));
				break;
			case 3:
				if (!chance(20))
					core_double_feed(&m.core);
				break;
			case 4:
				if (!chance(8))
					core_jam(&m.core, chance(2) ? 0 : (uint8_t)chance(5));
				break;
			case 5:
				if (!chance(40))
					core_configure(&m.core);
				break;
			case 6:
				if (!kind && !command(LOAD, 7, 44, 0))
					core_bulk(&m.core, block, (uint16_t)
						  plan(block, chance(3) ? 1 : 2, 8, four));
				break;
			case 7:
				command((uint8_t)(PAUSE + chance(6)), 0, 0, 0);
				break;
			case 8:
				core_reader(&m.core, chance(3));
				break;
			case 9:
				m.store_fails = !chance(9);
				break;
			case 10:
				if (!chance(9))
					core_landed(&m.core, (uint8_t)chance(5));
				break;
			case 11:
				testing = !chance(9);
				if (testing ? command(TEST_DEAL, 0, m.core.insertion, 8) :
				    command(START, 7, m.core.insertion, kind ? 8 : 0)) {
					testing = m.core.mode == CORE_MODE_TEST;
					break;
				}
				/* one deal for each insertion, ever */
				assert_true(m.core.insertion > spent);
				spent = m.core.insertion;
				memset(seen, 0, sizeof(seen));
				deals++;
				break;
			default:
				if (m.wants_card) {
					show((uint8_t)chance(10),
					     chance(9) ? 90 : (uint8_t)chance(101));
				} else if (m.core.phase == CORE_HOST) {
					while (core_event(&m.core, m.event))
						if (m.event[0] == 0x12)
							answer((uint8_t)chance(4), 0);
				} else if (m.wants_gate) {
					const uint8_t card = m.core.reading.card;

					set();
					/* a stored plan never lets a card through twice */
					if (!kind && !testing && card != NONE) {
						assert_false(seen[card]);
						seen[card] = true;
					}
					passed++;
				} else if (m.passed) {
					fall();
				} else if (!chance(9)) {
					help();
				}
			}
			if (m.core.state != CORE_DEALING && was == CORE_DEALING &&
			    !m.core.insertion)
				m.passed = false;
		}
		assert_in_range(deals, 100, 400000);
		assert_in_range(passed, 1000, 400000);
	}
}

static void configurations(void **state)
{
	struct core_config config = stored;

	(void)state;
	assert_true(core_config_is_valid(&stored));
	assert_true(core_config_is_valid(&routed));
	config.capabilities |= CORE_HOST_ROUTED;
	assert_false(core_config_is_valid(&config));
	config = stored;
	config.capabilities |= 1 << 14;
	assert_false(core_config_is_valid(&config));
	config = stored;
	config.reader = 0;
	assert_false(core_config_is_valid(&config));
	config = routed;
	config.gate_deadline = 0;
	assert_false(core_config_is_valid(&config));
	config = stored;
	config.capacity = 65;
	assert_false(core_config_is_valid(&config));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(configurations),
		cmocka_unit_test(whole_deals),
		cmocka_unit_test(captures),
		cmocka_unit_test(a_test_deal_takes_any_card),
		cmocka_unit_test(without_exit_sensors_time_tells),
		cmocka_unit_test(each_command_in_each_state),
		cmocka_unit_test(bad_values),
		cmocka_unit_test(start_checks_in_order),
		cmocka_unit_test(a_command_counts_once),
		cmocka_unit_test(queries),
		cmocka_unit_test(every_fault_of_a_plan),
		cmocka_unit_test(readings_that_stop),
		cmocka_unit_test(mechanics_that_stop),
		cmocka_unit_test(the_host_routes),
		cmocka_unit_test(pause_and_abort),
		cmocka_unit_test(a_deal_is_attested),
		cmocka_unit_test(a_stop_ends_the_attestation),
		cmocka_unit_test(what_was_told_is_stored),
		cmocka_unit_test(the_bus_takes_the_plan),
		cmocka_unit_test(the_queue_drops_the_oldest),
		cmocka_unit_test(a_torn_write_loses_nothing),
		cmocka_unit_test(power_goes_at_every_write),
		cmocka_unit_test(power_goes_at_every_step),
		cmocka_unit_test(a_store_that_fails_gives_no_number),
		cmocka_unit_test(a_store_that_works_again_ends_no_other_trouble),
		cmocka_unit_test(anything_at_any_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
