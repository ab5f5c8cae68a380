// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The worked deals of docs/protocol.md, 9, replayed on the core of a machine: the host sends what
 * the page says, the mechanics do what it tells, and all transfers of the machine must be those of
 * the page. What the page leaves to each machine is not compared: the clocks, and the order among
 * the events of different cards.
 *
 * usage: test_machine_page docs/protocol.md
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "core.h"
#include "sign.h"

#define BATCH	24

/* a line of the page, and those that continue it */
struct transfer {
	/* "class", "setup", "data", "done", "stall", "bulk", "int in", "int out", "hash" */
	char pipe[8];
	bool to_machine;
	uint8_t bytes[256];
	uint16_t length;
};

static struct {
	const char *page;
	struct transfer transfers[200];
	size_t count;
} story;

static struct {
	struct core core;
	uint8_t slots[RECORD_SLOTS][RECORD_BYTES];
	uint32_t now;
	bool wants_card, wants_gate, falls;
	uint8_t gate;
	uint8_t answer[CORE_ANSWER_BYTES];
	int answered;
} m;

static char *content(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text;
	long size;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	text = calloc(1, (size_t)size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)size, file), size);
	fclose(file);
	return text;
}

static void add_bytes(struct transfer *transfer, const char *at)
{
	while (*at) {
		char *end;
		const unsigned long byte = strtoul(at, &end, 16);

		if (end == at)
			return;
		transfer->bytes[transfer->length++] = (uint8_t)byte;
		at = end;
	}
}

static void add_line(const char *line)
{
	static const char *const pipes[] = {
		"class", "setup", "data", "done", "stall", "bulk", "int in", "int out", "hash"
	};
	struct transfer *transfer = &story.transfers[story.count];

	if (*line == ';')
		return;
	if (!strncmp(line, "           ", 11)) {
		add_bytes(transfer - 1, line);
		return;
	}
	*transfer = (struct transfer){ .to_machine = *line == '>' };
	for (size_t i = 0; i < sizeof(pipes) / sizeof(*pipes); i++)
		if (!strncmp(line + 2, pipes[i], strlen(pipes[i]))) {
			strcpy(transfer->pipe, pipes[i]);
			add_bytes(transfer, line + 2 + strlen(pipes[i]));
			story.count++;
			return;
		}
	fail_msg("the page has the line: %s", line);
}

/* Read a worked deal of the page. */
static void read_story(const char *name)
{
	char *text = content(story.page), fence[32], *line, *end;

	snprintf(fence, sizeof(fence), "\n```%s\n", name);
	line = strstr(text, fence);
	assert_non_null(line);
	line += strlen(fence);
	end = strstr(line, "\n```");
	assert_non_null(end);
	*end = '\0';
	story.count = 0;
	for (line = strtok(line, "\n"); line; line = strtok(NULL, "\n"))
		add_line(line);
	free(text);
	assert_in_range(story.count, 5, sizeof(story.transfers) / sizeof(*story.transfers));
}

/* -- mechanics that wait to be moved -- */

static void read_order(void *context)
{
	(void)context;
	m.wants_card = true;
}

static void gate_order(void *context, uint8_t pocket)
{
	(void)context;
	m.wants_gate = true;
	m.gate = pocket;
}

static void let_go_order(void *context)
{
	(void)context;
	m.falls = true;
}

static void halt_order(void *context)
{
	(void)context;
	m.wants_card = m.wants_gate = false;
}

static void lock_order(void *context, bool locked)
{
	(void)context;
	(void)locked;
}

static void locate_order(void *context, uint8_t seconds)
{
	(void)context;
	(void)seconds;
}

static bool store_order(void *context, int slot, const uint8_t bytes[RECORD_BYTES])
{
	(void)context;
	memcpy(m.slots[slot], bytes, RECORD_BYTES);
	return true;
}

static const struct core_orders orders = { read_order, gate_order, let_go_order, halt_order,
					   lock_order, locate_order, store_order, NULL };

/* The machine that the page describes, which has given 1000 insertion numbers */
static void power_on(bool routed)
{
	static const struct core_sensors sensors = { .hopper = true };
	static struct core_config config;
	const struct record record = { .insertion = 1000 };

	config = (struct core_config){
		.reader = 1, .pockets = 4, .capacity = 20, .hopper = 60, .plan_cards = 54,
		.capabilities = CORE_EXIT_SENSORS | CORE_BOARD_READER | CORE_KEYS | CORE_BY_CARD |
				CORE_BY_POSITION | (routed ? CORE_HOST_ROUTED : CORE_STORED_PLAN),
		.gate_deadline = routed ? 20000 : 0,
		.firmware = 0x01020003, .hardware = 2, .model = "Example",
	};
	assert_true(core_config_is_valid(&config));
	memset(&m, 0, sizeof(m));
	record_encode(&record, m.slots[0]);
	core_start(&m.core, &config, &orders, NULL, 0, &sensors, m.slots);
	core_configure(&m.core);
}

/*
 * Do with the mechanics what an event of the page tells. Those that the core sends by itself:
 * nothing
 */
static void move(const uint8_t *event)
{
	const struct core_reading reading = { event[17], event[19], false, get_u32(event + 20) };

	m.now += 1000;
	core_clock(&m.core, m.now);
	switch (event[0]) {
	case 0x04:
		core_board(&m.core, true, get_u16(event + 24));
		break;
	case 0x05:
		core_board(&m.core, false, 0);
		break;
	case 0x12:
		/* the page's machine reads this card before the last has fallen; the core waits */
		if (m.falls) {
			m.falls = false;
			core_landed(&m.core, m.gate);
		}
		assert_true(m.wants_card);
		m.wants_card = false;
		core_card(&m.core, &reading);
		break;
	case 0x13:
		assert_true(m.wants_gate);
		m.wants_gate = false;
		core_gate_set(&m.core);
		break;
	case 0x14:
		if (m.falls && m.gate == event[18]) {
			m.falls = false;
			core_landed(&m.core, m.gate);
		}
		break;
	case 0x16:
		/* the next card was on its way, and is read behind RESUME */
		if (m.wants_card)
			core_card(&m.core, &reading);
		break;
	default:
		break;
	}
}

static bool is_event(const struct transfer *transfer)
{
	return !strcmp(transfer->pipe, "int in");
}

/* Everything but number and clock */
static bool is_same(const uint8_t *a, const uint8_t *b)
{
	return !memcmp(a, b, 4) && !memcmp(a + 12, b + 12, CORE_EVENT_BYTES - 12);
}

/* Move the mechanics through the events from `first` on, up to the next transfer of the host. */
static size_t events(size_t first)
{
	uint8_t seen[BATCH][CORE_EVENT_BYTES], event[CORE_EVENT_BYTES];
	const uint32_t number = get_u32(story.transfers[first].bytes + 4);
	size_t count = 0, last = first, position;
	bool told[BATCH] = { false };

	for (; last < story.count && is_event(&story.transfers[last]); last++)
		move(story.transfers[last].bytes);
	while (core_event(&m.core, event)) {
		assert_int_equal(get_u32(event + 4), number + count);
		assert_in_range(count, 0, BATCH - 1);
		memcpy(seen[count++], event, sizeof(event));
	}
	assert_int_equal(count, last - first);
	/*
	 * each of the page once, and those of a card, and those of no card, in the order of the
	 * page
	 */
	for (size_t i = first; i < last; i++) {
		const uint8_t *wanted = story.transfers[i].bytes;

		for (position = 0; position < count; position++)
			if (!told[position] && seen[position][16] == wanted[16])
				break;
		if (position == count || !is_same(seen[position], wanted))
			fail_msg("event %02x of the page (number %u) does not come", wanted[0],
				 (unsigned int)get_u32(wanted + 4));
		told[position] = true;
	}
	return last;
}

/* Send a control transfer of the page. The data stage of a command is the next line. */
static size_t control(size_t at)
{
	const struct transfer *setup = &story.transfers[at], *data = setup + 1;
	const bool in = setup->bytes[0] & 0x80;

	assert_int_equal(setup->length, 8);
	assert_string_equal(data->pipe, "data");
	m.answered = core_control(&m.core, setup->bytes, in ? NULL : data->bytes,
				  in ? 0 : data->length, m.answer);
	if (!in) {
		assert_string_equal((data + 1)->pipe, m.answered == CORE_STALL ? "stall" : "done");
		return at + 3;
	}
	assert_int_equal(m.answered, data->length);
	if (setup->bytes[1] == 1)	/* GET_INFO: 1.0 on the page */
		put_u16(m.answer, 0x0100);
	if (setup->bytes[1] == 2)	/* GET_STATUS: the clock */
		memcpy(m.answer + 20, data->bytes + 20, 4);
	assert_memory_equal(m.answer, data->bytes, data->length);
	return at + 2;
}

/* Only the page's prose says it: after NOT_IN_PLAN, the operator takes the card out. */
static void operator(size_t at)
{
	if (m.core.state == CORE_HELD && !strcmp(story.transfers[at].pipe, "setup"))
		core_reader(&m.core, false);
}

static void replay(const char *name, bool routed)
{
	size_t commands = 0, gates = 0, at = 1;

	read_story(name);
	power_on(routed);
	assert_string_equal(story.transfers[0].pipe, "class");
	m.answered = core_control(&m.core, (const uint8_t[]){ 0xc1, 0, 0, 0, 0, 0, 24, 0 }, NULL, 0,
				  m.answer);
	put_u16(m.answer + 4, 0x0100);
	assert_int_equal(m.answered, story.transfers[0].length);
	assert_memory_equal(m.answer, story.transfers[0].bytes, 24);
	while (at < story.count) {
		const struct transfer *transfer = &story.transfers[at];

		operator(at);
		if (is_event(transfer)) {
			at = events(at);
		} else if (!strcmp(transfer->pipe, "setup")) {
			commands += transfer->bytes[0] == 0x41;
			at = control(at);
		} else if (!strcmp(transfer->pipe, "bulk")) {
			assert_true(core_bulk(&m.core, transfer->bytes, transfer->length));
			at++;
		} else {
			assert_string_equal(transfer->pipe, "int out");
			core_gate(&m.core, transfer->bytes, transfer->length);
			gates++;
			at++;
		}
	}
	assert_int_equal(commands, routed ? 3 : 5);
	assert_int_equal(gates, routed ? 7 : 0);
}

static void a_deal_with_a_stored_plan(void **state)
{
	(void)state;
	replay("stored", false);
}

static void a_deal_that_the_host_routes(void **state)
{
	(void)state;
	replay("routed", true);
}

static const struct transfer *next(size_t *at, const char *pipe)
{
	while (*at < story.count && strcmp(story.transfers[*at].pipe, pipe))
		++*at;
	assert_in_range(*at, 0, story.count - 1);
	return &story.transfers[(*at)++];
}

/* The statement and the signature of the page, from its plan, events and nonce */
static void the_attestation(void **state)
{
	uint8_t seed[SIGNER_SEED_BYTES], plan[40], statement[CORE_STATEMENT_BYTES];
	static struct transfer deal[200];
	const struct transfer *identity, *nonce, *wanted;
	struct core_attest attest;
	struct signer signer;
	size_t at = 0, count;

	(void)state;
	assert_true(sodium_init() >= 0);
	for (uint8_t i = 0; i < sizeof(seed); i++)
		seed[i] = i;
	signer_make(&signer, seed);
	attest = signer_attest(&signer);
	read_story("stored");
	memcpy(plan, next(&at, "bulk")->bytes, sizeof(plan));
	memcpy(deal, story.transfers, sizeof(deal));
	count = story.count;
	attest.begin(attest.context, plan, sizeof(plan));
	for (size_t i = 0; i < count; i++)
		if (is_event(&deal[i]) && get_u32(deal[i].bytes + 4) >= 5 &&
		    get_u32(deal[i].bytes + 4) <= 0x14)
			attest.event(attest.context, deal[i].bytes);
	read_story("attest");
	at = 0;
	next(&at, "setup");
	identity = next(&at, "data");
	assert_memory_equal(attest.show(attest.context, CORE_KEY), identity->bytes + 8,
			    CORE_KEY_BYTES);
	next(&at, "setup");
	nonce = next(&at, "data");
	assert_int_equal(nonce->length, 48);
	attest.nonce(attest.context, nonce->bytes + 16);
	next(&at, "setup");
	wanted = next(&at, "data");
	/* what the core writes; the rest is the signer's */
	memset(statement, 0, sizeof(statement));
	memcpy(statement, wanted->bytes, 8);
	memcpy(statement + 16, wanted->bytes + 16, 16);
	assert_true(attest.sign(attest.context, statement));
	assert_memory_equal(attest.show(attest.context, CORE_STATEMENT), wanted->bytes,
			    CORE_STATEMENT_BYTES);
	next(&at, "setup");
	assert_memory_equal(attest.show(attest.context, CORE_SIGNATURE), next(&at, "data")->bytes,
			    CORE_SIGNATURE_BYTES);
	/* nothing is kept of the nonce, nor of the deal when it is forgotten */
	assert_true(sodium_is_zero(signer.nonce, sizeof(signer.nonce)));
	attest.forget(attest.context);
	assert_true(sodium_is_zero(signer.plan, sizeof(signer.plan)));
	assert_true(sodium_is_zero((uint8_t *)&signer.events, sizeof(signer.events)));
	attest.nonce(attest.context, NULL);
	assert_true(sodium_is_zero(signer.statement, sizeof(signer.statement)));
	assert_true(sodium_is_zero(signer.signature, sizeof(signer.signature)));
	signer_wipe(&signer);
	assert_true(sodium_is_zero(signer.secret, sizeof(signer.secret)));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deal_with_a_stored_plan),
		cmocka_unit_test(a_deal_that_the_host_routes),
		cmocka_unit_test(the_attestation),
	};

	if (argc != 2) {
		fputs("usage: test_machine_page docs/protocol.md\n", stderr);
		return 2;
	}
	story.page = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
