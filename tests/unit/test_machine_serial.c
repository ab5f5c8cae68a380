// SPDX-License-Identifier: LGPL-2.1-or-later
/* The serial dialect of a machine: docs/protocol-serial.md, with the core behind it. */
#include "unit.h"

#include <string.h>

#include "bytes.h"
#include "serial.h"

/* the example of the page, S4 */
static const uint8_t get_result[] = { 0xdb, 1, 7, 3, 3, 0, 0, 0x9d, 0x50, 0x60, 0x98 };
static const uint8_t no_result[] = { 0xdb, 0x81, 7, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
				     0, 0, 0xb5, 0x61, 0x80, 0x8d };

static struct {
	struct core core;
	struct serial serial;
	uint8_t slots[RECORD_SLOTS][RECORD_BYTES];
	uint8_t got[4096];
	size_t count;
} m;

static void nothing(void *context)
{
	(void)context;
}

static void pocket(void *context, uint8_t number)
{
	(void)context;
	(void)number;
}

static void lock(void *context, bool locked)
{
	(void)context;
	(void)locked;
}

static bool store(void *context, int slot, const uint8_t bytes[RECORD_BYTES])
{
	(void)context;
	memcpy(m.slots[slot], bytes, RECORD_BYTES);
	return true;
}

static const struct core_orders orders = { nothing, pocket, nothing, nothing, lock, pocket, store,
					   NULL };

static const struct core_config stored = {
	.reader = 1, .pockets = 4, .capacity = 20, .hopper = 60, .plan_cards = 64,
	.capabilities = CORE_STORED_PLAN | CORE_BY_CARD, .model = "Test",
};

static const struct core_config routed = {
	.reader = 1, .pockets = 4, .capacity = 20, .hopper = 60, .plan_cards = 64,
	.gate_deadline = 20000,
	.capabilities = CORE_HOST_ROUTED | CORE_BY_CARD, .model = "Test",
};

static void give(size_t room)
{
	m.count += serial_give(&m.serial, &m.core, m.got + m.count, room);
}

static void take(const uint8_t *bytes, size_t length)
{
	serial_take(&m.serial, &m.core, bytes, length);
}

/* A machine whose first events were fetched */
static void fresh(const struct core_config *config)
{
	static const struct core_sensors sensors = { .hopper = true };

	memset(&m, 0, sizeof(m));
	core_start(&m.core, config, &orders, NULL, 0, &sensors, m.slots);
	core_configure(&m.core);
	serial_reset(&m.serial);
	give(sizeof(m.got));
	/* STATE_LOST, HOPPER_LOADED */
	assert_int_equal(m.count, 2 * 40);
	assert_int_equal(m.got[0], 0xdb);
	assert_int_equal(m.got[1], 0x82);
	assert_int_equal(m.got[2], 0);
	assert_int_equal(m.got[3], 32);
	assert_int_equal(m.got[4], 1);
	assert_int_equal(m.got[44], 2);
	assert_int_equal(get_u32(m.got + 76), record_crc(m.got + 41, 35));
	m.count = 0;
	assert_false(serial_is_ready(&m.serial, &m.core));
}

static size_t frame(uint8_t *bytes, uint8_t kind, uint8_t tag, const uint8_t *payload,
		    uint8_t length)
{
	const uint8_t head[] = { 0xdb, kind, tag, length };

	memcpy(bytes, head, 4);
	if (length)
		memcpy(bytes + 4, payload, length);
	put_u32(bytes + 4 + length, record_crc(bytes + 1, 3u + length));
	return 8u + length;
}

static void answers(const char *what)
{
	give(sizeof(m.got));
	if (m.count != sizeof(no_result) || memcmp(m.got, no_result, sizeof(no_result)))
		fail_msg("%s: there is no answer, %u bytes", what, (unsigned int)m.count);
	m.count = 0;
}

static void the_example_of_the_page(void **state)
{
	(void)state;
	fresh(&stored);
	take(get_result, sizeof(get_result));
	answers("at once");
	for (size_t cut = 0; cut <= sizeof(get_result); cut++) {
		take(get_result, cut);
		give(sizeof(m.got));
		assert_int_equal(m.count, cut == sizeof(get_result) ? sizeof(no_result) : 0);
		if (cut < sizeof(get_result)) {
			take(get_result + cut, sizeof(get_result) - cut);
			answers("in two");
		}
	}
	m.count = 0;
	/* byte by byte */
	take(get_result, sizeof(get_result));
	for (size_t i = 0; i < sizeof(no_result); i++) {
		assert_true(serial_is_ready(&m.serial, &m.core));
		give(1);
	}
	assert_false(serial_is_ready(&m.serial, &m.core));
	answers("in bytes");
}

static void noise_hides_no_frame(void **state)
{
	uint8_t bytes[300], other[64];
	size_t size;

	(void)state;
	fresh(&stored);
	/* anything before it, also what could begin a frame */
	for (int first = 0; first < 256; first++) {
		bytes[0] = (uint8_t)first;
		memcpy(bytes + 1, get_result, sizeof(get_result));
		take(bytes, 1 + sizeof(get_result));
		/* after a start, up to 135 bytes are awaited: those of another frame */
		if (first == 0xdb) {
			memset(bytes, 0, 140);
			take(bytes, 140);
		}
		answers("behind a byte");
	}
	/* every bit that falls over spoils that frame, and not the next one */
	for (size_t bit = 0; bit < 8 * sizeof(get_result); bit++) {
		memcpy(bytes, get_result, sizeof(get_result));
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		take(bytes, sizeof(get_result));
		memset(other, 0, sizeof(other));
		for (int i = 0; i < 3; i++)
			take(other, sizeof(other));
		give(sizeof(m.got));
		assert_int_equal(m.count, 0);
		take(get_result, sizeof(get_result));
		answers("behind a broken one");
	}
	/* a length that cannot be, unknown kinds, a request that is too short */
	for (int length = 129; length < 256; length++) {
		const uint8_t head[] = { 0xdb, 1, 7, (uint8_t)length };

		take(head, sizeof(head));
		take(get_result, sizeof(get_result));
		/* this one could begin a frame itself */
		if (length == 0xdb) {
			memset(bytes, 0, 140);
			take(bytes, 140);
		}
		answers("behind an impossible length");
	}
	for (int kind = 4; kind < 256; kind++) {
		take(bytes, frame(bytes, (uint8_t)kind, 7, get_result + 4, 3));
		assert_false(serial_is_ready(&m.serial, &m.core));
	}
	for (uint8_t length = 0; length < 3; length++) {
		take(bytes, frame(bytes, 1, 7, get_result + 4, length));
		assert_false(serial_is_ready(&m.serial, &m.core));
	}
	/* the longest frame */
	memset(other, 0, sizeof(other));
	memset(bytes + 100, 0, 128);
	size = frame(bytes, 4, 7, bytes + 150, 128);
	assert_int_equal(size, 136);
	take(bytes, size);
	take(get_result, sizeof(get_result));
	answers("behind the longest");
	/* R-S1-3, R-S1-4 */
	take(get_result, 5);
	serial_discard(&m.serial);
	take(get_result, sizeof(get_result));
	answers("behind a halt");
	take(get_result, 5);
	serial_reset(&m.serial);
	take(get_result + 5, sizeof(get_result) - 5);
	assert_false(serial_is_ready(&m.serial, &m.core));
}

static void ask(uint8_t tag, uint8_t request, uint16_t value)
{
	const uint8_t payload[] = { request, (uint8_t)value, (uint8_t)(value >> 8) };
	uint8_t bytes[16];

	take(bytes, frame(bytes, 1, tag, payload, sizeof(payload)));
}

static uint8_t command(uint8_t request, uint32_t sequence, uint32_t a, uint32_t b, uint8_t length)
{
	uint8_t payload[3 + 64] = { request }, bytes[128];

	put_u32(payload + 3, sequence);
	put_u32(payload + 7, a);
	put_u32(payload + 11, b);
	take(bytes, frame(bytes, 1, 9, payload, (uint8_t)(3 + length)));
	m.count = 0;
	give(9);
	assert_int_equal(m.count, 9);
	assert_int_equal(m.got[1], 0x81);
	assert_int_equal(m.got[2], 9);
	assert_int_equal(m.got[3], 1);
	return m.got[4];
}

static void requests(void **state)
{
	(void)state;
	fresh(&stored);
	ask(1, 0, 0);
	give(sizeof(m.got));
	assert_int_equal(m.count, 8 + 1 + 24);
	assert_memory_equal(m.got + 4, "\0\x18\x24\1\1", 5);
	m.count = 0;
	ask(2, 0, 1);
	give(sizeof(m.got));
	assert_int_equal(m.count, 9);
	assert_int_equal(m.got[4], 1);
	assert_int_equal(command(0x1a, 1, 5, 0, 16), 0);
	assert_int_equal(command(0x1a, 2, 99, 0, 16), 1);
	assert_int_equal(command(0x1a, 3, 5, 0, 15), 1);
	m.count = 0;
	ask(3, 3, 0);
	give(sizeof(m.got));
	assert_int_equal(m.got[4 + 1 + 5], 2);	/* BAD_LENGTH */
	assert_int_equal(m.got[4 + 1 + 8], 15);
	/* an answer goes before events, but into no frame that has begun */
	core_cover(&m.core, true);
	core_cover(&m.core, false);
	m.count = 0;
	give(7);
	ask(4, 1, 0);
	ask(5, 3, 0);
	give(sizeof(m.got));
	assert_int_equal(m.count, 40 + 25 + 40);
	assert_int_equal(m.got[4], 6);
	assert_int_equal(m.got[40 + 1], 0x81);
	assert_int_equal(m.got[40 + 2], 5);
	assert_int_equal(m.got[65 + 4], 7);
}

static void plans_and_gates(void **state)
{
	uint8_t block[37] = "DBXP", bytes[64], gate[16] = { 1 };

	(void)state;
	fresh(&stored);
	block[5] = block[6] = 1;
	put_u32(block + 8, 7);
	block[12] = block[13] = block[16] = 1;
	put_u32(block + 33, record_crc(block, 33));
	/* not announced */
	take(bytes, frame(bytes, 2, 0, block, sizeof(block)));
	assert_false(serial_is_ready(&m.serial, &m.core));
	assert_int_equal(command(0x11, 1, 7, sizeof(block), 16), 0);
	take(bytes, frame(bytes, 2, 0, block, sizeof(block)));
	m.count = 0;
	give(sizeof(m.got));
	assert_int_equal(m.count, 40);
	assert_int_equal(m.got[4], 0x10);
	assert_int_equal(get_u32(m.got + 4 + 20), 7);
	assert_int_equal(m.got[4 + 24], 0);
	/* a gate command that nobody waits for is counted */
	fresh(&routed);
	take(bytes, frame(bytes, 3, 0, gate, sizeof(gate)));
	ask(6, 4, 0);
	give(sizeof(m.got));
	assert_int_equal(get_u32(m.got + 4 + 1 + 4 * 12), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_of_the_page),
		cmocka_unit_test(noise_hides_no_frame),
		cmocka_unit_test(requests),
		cmocka_unit_test(plans_and_gates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
