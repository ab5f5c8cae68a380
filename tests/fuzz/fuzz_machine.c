// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arbitrary hosts, mechanics and people on the core of a machine, in both dialects. Whatever they
 * do, no card passes the gate where none may, no insertion is dealt into twice, and events are
 * numbered. Bytes: what the machine is, then a happening and its argument each; some take more
 * bytes.
 */
#include <string.h>

#include "bytes.h"
#include "fuzz.h"
#include "serial.h"

#define STARTED		0x11

static struct {
	struct core core;
	struct serial serial;
	uint8_t slots[RECORD_SLOTS][RECORD_BYTES];
	bool store_fails, gate_was_set, wants_gate;
	uint8_t gate;
	uint32_t now, next;		/* number of the next event */
	uint32_t dealt;			/* the insertion that was dealt into last */
	uint32_t insertion, given;	/* the one that is in; the highest number that was given */
} m;

static void nothing(void *context)
{
	(void)context;
}

static void gate_order(void *context, uint8_t pocket)
{
	(void)context;
	CHECK(pocket < m.core.config->pockets);
	m.gate = pocket;
	m.wants_gate = true;
	m.gate_was_set = false;
}

static void let_go_order(void *context)
{
	(void)context;
	CHECK(m.gate_was_set && m.core.insertion && m.core.state == CORE_DEALING);
	CHECK(!m.core.doubt && !m.core.sensors.cover_open);
	CHECK(m.core.in_board[m.gate] <= m.core.config->capacity);
	m.gate_was_set = false;
}

static void halt_order(void *context)
{
	(void)context;
	m.wants_gate = m.gate_was_set = false;
}

static void lock_order(void *context, bool locked)
{
	(void)context;
	(void)locked;
}

static void locate_order(void *context, uint8_t seconds)
{
	(void)context;
	CHECK(seconds <= 60);
}

static bool store_order(void *context, int slot, const uint8_t bytes[RECORD_BYTES])
{
	(void)context;
	CHECK(slot == 0 || slot == 1);
	if (m.store_fails)
		return false;
	memcpy(m.slots[slot], bytes, RECORD_BYTES);
	return true;
}

static const struct core_orders orders = {
	nothing, gate_order, let_go_order, halt_order, lock_order, locate_order, store_order, NULL,
};

static const struct core_config configs[] = {
	{ .reader = 1, .pockets = 4, .capacity = 3, .hopper = 60, .plan_cards = 64,
	  .capabilities = 0xfff & ~CORE_HOST_ROUTED },
	{ .reader = 1, .pockets = 8, .capacity = 20, .hopper = 60, .plan_cards = 64,
	  .gate_deadline = 20000,
	  .capabilities = 0xfff & ~CORE_STORED_PLAN },
	{ .reader = 0, .pockets = 1, .capacity = 64, .hopper = 1, .plan_cards = 1,
	  .capabilities = CORE_STORED_PLAN | CORE_BY_POSITION | CORE_REFUSES_BY_RESULT },
};

static void power_on(const struct core_config *config, uint8_t sensors)
{
	const struct core_sensors seen = { sensors & 1, sensors & 2, sensors & 4, sensors & 8,
					   sensors };

	core_start(&m.core, config, &orders, NULL, m.now, &seen, m.slots);
	m.wants_gate = m.gate_was_set = false;
}

/* No number is given twice, also behind a power cut and a store that failed. */
static void look_at_board(void)
{
	if (m.core.insertion == m.insertion)
		return;
	m.insertion = m.core.insertion;
	if (!m.insertion)
		return;
	CHECK(m.insertion > m.given);
	m.given = m.insertion;
}

static void take_events(void)
{
	uint8_t event[CORE_EVENT_BYTES];

	while (core_event(&m.core, event)) {
		if (event[0] == 1 && get_u32(event + 4) == 1)
			m.next = 1;
		CHECK((int32_t)(get_u32(event + 4) - m.next) >= 0);
		m.next = get_u32(event + 4) + 1;
		CHECK(event[16] <= 64 || event[16] == CORE_NONE);
		CHECK(event[17] < CORE_CARDS || event[17] == CORE_NONE);
		CHECK(event[18] < m.core.config->pockets || event[18] == CORE_NONE);
		CHECK(event[19] <= 100 || event[19] == CORE_NONE);
		CHECK(!(event[1] & ~3) && !event[2] && !event[3]);
		if (event[0] != STARTED || m.core.captured)
			continue;
		CHECK(get_u32(event + 12) != m.dealt);
		m.dealt = get_u32(event + 12);
	}
}

/*
 * A command with a sequence number that is new, and the plan that it announces; small fields are
 * likely.
 */
static void command(const uint8_t *data)
{
	uint8_t setup[8] = { 0x41, data[0], 0, 0, 0, 0, 16 }, fields[16], answer[CORE_ANSWER_BYTES];

	put_u32(fields, m.core.sequence + 1);
	put_u32(fields + 4, data[1]);
	put_u32(fields + 8, data[2] == 255 ? m.core.insertion : data[2]);
	put_u32(fields + 12, data[3]);
	core_control(&m.core, setup, fields, sizeof(fields), answer);
}

/* The answer to the CARD_READ that waits, with one byte that may be another */
static void route(uint8_t pocket)
{
	uint8_t gate[16] = { 1, pocket };

	gate[3] = m.core.position;
	put_u32(gate + 4, m.core.read_event);
	put_u32(gate + 8, m.core.insertion);
	if (pocket == 255)
		gate[2] = 0x28;
	core_gate(&m.core, gate, sizeof(gate));
}

static void set_gate(void)
{
	m.gate_was_set = m.wants_gate;
	m.wants_gate = false;
	if (m.gate_was_set)
		core_gate_set(&m.core);
}

static void happen(uint8_t what, uint8_t argument)
{
	const struct core_reading reading = { argument % 64, what, argument & 64, argument };

	m.now += 1000u * argument;
	core_clock(&m.core, m.now);
	switch (what & 15) {
	case 0:
		core_board(&m.core, argument & 1, argument);
		break;
	case 1:
		core_cover(&m.core, argument & 1);
		break;
	case 2:
		core_hopper(&m.core, argument & 1);
		break;
	case 3:
		core_reader(&m.core, argument & 1);
		break;
	case 4:
		core_key(&m.core, argument & 3, argument & 4);
		break;
	case 5:
		core_card(&m.core, &reading);
		break;
	case 6:
		set_gate();
		break;
	case 7:
		core_landed(&m.core, argument & 15 ? m.gate : argument);
		break;
	case 8:
		route(argument);
		break;
	case 9:
		argument & 1 ? core_double_feed(&m.core) : core_jam(&m.core, argument % 5);
		break;
	case 10:
		core_trouble(&m.core, argument & 1 ? CORE_HARDWARE_MAKER : 0);
		break;
	case 11:
		m.store_fails = argument & 1;
		break;
	case 12:
		argument & 1 ? core_deconfigure(&m.core) : core_lost(&m.core);
		break;
	case 13:
		power_on(m.core.config, argument);
		break;
	default:
		core_configure(&m.core);
		serial_reset(&m.serial);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t answer[CORE_ANSWER_BYTES], out[100];
	size_t at = 2;

	memset(&m, 0, sizeof(m));
	if (size < 2)
		return 0;
	power_on(&configs[data[0] % 3], data[1]);
	core_configure(&m.core);
	while (at + 5 <= size) {
		const uint8_t what = data[at++], length = data[at] & 63;

		if (what < 64) {
			happen(what, data[at++]);
		} else if (what < 128) {
			command(data + at);
			at += 4;
		} else if (at + 1 + length <= size && what < 160) {
			core_bulk(&m.core, data + at + 1, length);
			at += 1u + length;
		} else if (at + 1 + length <= size && what < 192) {
			serial_take(&m.serial, &m.core, data + at + 1, length);
			at += 1u + length;
			serial_give(&m.serial, &m.core, out, what % sizeof(out));
		} else if (at + 8 + 16 <= size && what < 224) {
			CHECK(core_control(&m.core, data + at, data + at + 8, length & 15,
					   answer) <= CORE_ANSWER_BYTES);
			at += 8;
		} else {
			core_gate(&m.core, data + at, size - at < 16 ? (uint16_t)(size - at) : 16);
			at++;
		}
		CHECK(m.core.state < CORE_STATES && m.core.event_count <= CORE_EVENTS);
		CHECK(m.core.position <= CORE_PLAN_CARDS &&
		      m.core.received <= sizeof(m.core.block));
		look_at_board();
		take_events();
	}
	return 0;
}
