/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scenarios and the emulator's machine, and the parser's messages about bad scenarios. */
#include "device.h"
#include "emulator_fixture.h"
#include "frame.h"

#define STORED	DEALBOX_CAP_STORED_PLAN
#define ROUTED	DEALBOX_CAP_HOST_ROUTED
#define BY_CARD	DEALBOX_PLAN_BY_CARD

/* --- the parser -------------------------------------------------------------------- */

static void good_rules_are_taken(void **state)
{
	static const char *const good[] = {
		"", "# nothing\n", "\r\n", "position 3: misread", "position 3:misread hk\n",
		"card SA nth 3 times 2: unreadable", "every 100: unreadable", "always: missing",
		"deal 2 position 1: extra joker2", "position 5: extra c10", "position 9: repeat",
		"position 1: double-feed", "position 1: face-up", "position 1: feed-timeout",
		"position 1: jam feeder", "position 1: jam reader", "position 1: jam gate",
		"position 1: jam pocket", "position 1: wrong-pocket", "pocket 2: wrong-pocket 3",
		"position 1: quality 7", "on event CARD_READ nth 4: drop",
		"on event card_landed: duplicate", "on event 0x12: unknown", "on event: flood 70",
		"on event DEAL_DONE: set 24 0d0d", "on event PLAN_LOADED: delay 400",
		"on descriptor: stall", "on descriptor config: set 18 00",
		"on descriptor 6: no-answer", "on standard CLEAR_FEATURE: ignore",
		"on standard 9 nth 2: stall", "on submit nth 40: unplug", "on submit: reset",
		"on request START: stall", "on request GET_STATUS: short 7",
		"on request GET_INFO: long 80", "on request: ignore", "on request 0x12: no-answer",
		"on request LOCATE: status EPROTO", "on request START: refuse HARDWARE 3",
		"on plan: refuse CRC", "on plan: stall", "on plan: no-answer", "on plan: ignore",
		"on route: ignore", "on route: delay 30", "on transfer: bytes 00ff",
		"on transfer: bytes", "on transfer nth 3: status EOVERFLOW",
		"on transfer: short 31", "on transfer: long 40", "position 3: pull",
		"position 3: cover open", "position 4: cover close", "position 3: key stop",
		"on event DEAL_STARTED: key 9", "position 8: hardware 7",
		"position 8: hardware 7 lasting", "position 8: reset", "position 8: unplug",
		"position 8: unplug 100", "position 8: power-cycle", "position 8: power-cycle 5",
		"on gate position 8: freeze", "on read card SA: unplug", "on land pocket 2: pull",
		"position 1: misread\nposition 2: misread\n",
	};
	unsigned int i;
	char error[400];

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct scenario *scenario = scenario_new();

		if (!scenario_parse(scenario, "s", good[i], strlen(good[i]), error, sizeof(error)))
			fail_msg("\"%s\": %s", good[i], error);
		scenario_free(scenario);
	}
}

static void bad_rules_are_named(void **state)
{
	static const struct { const char *text, *error; } bad[] = {
		{ "position 3 misread", "s:1: a rule is" },
		{ "\n\nposition 3:", "s:3: \"\" is no action" },
		{ "# good\nposition 3: fly", "s:2: \"fly\" is no action" },
		{ "position 3: misread as", "s:1: \"misread\" needs a card" },
		{ "position 3: misread SA SK", "s:1: \"SK\" is too much" },
		{ "position: misread", "s:1: \"position\" needs a number from 0 to 254" },
		{ "position 255: misread", "s:1: \"position\" needs" },
		{ "position -1: misread", "s:1: \"position\" needs" },
		{ "nth 0: misread", "s:1: \"nth\" needs a number from 1" },
		{ "insertion 99999999999: misread", "s:1: \"insertion\" needs" },
		{ "card S1: misread", "s:1: \"card\" needs a card" },
		{ "card: misread", "s:1: \"card\" needs a card" },
		{ "colour red: misread", "s:1: \"colour\" is no condition" },
		{ "on: misread", "s:1: \"on\" needs one of" },
		{ "on 3: misread", "s:1: \"on\" needs one of" },
		{ "on the moon: misread", "s:1: \"on\" needs one of" },
		{ "on event FOO: drop", "s:1: \"FOO\" is no condition" },
		{ "on event 256: drop", "s:1: \"256\" is no condition" },
		{ "on event CARD_READ: misread", "s:1: \"misread\" cannot happen on \"event\"" },
		{ "on feed: drop", "s:1: \"drop\" cannot happen on \"feed\"" },
		{ "on read: jam pocket", "s:1: \"jam\" cannot happen on \"read\"" },
		{ "position 3: stall", "s:1: \"stall\" needs \"on\"" },
		{ "position 3: jam", "s:1: \"jam\" needs feeder" },
		{ "position 3: jam 2", "s:1: \"jam\" needs feeder" },
		{ "position 3: wrong-pocket 8", "s:1: \"wrong-pocket\" needs a pocket" },
		{ "position 3: quality 101", "s:1: \"quality\" needs" },
		{ "position 3: cover ajar", "s:1: \"cover\" needs open or close" },
		{ "position 3: cover 0", "s:1: \"cover\" needs open or close" },
		{ "position 3: key any", "s:1: \"key\" needs" },
		{ "position 3: hardware", "s:1: \"hardware\" needs" },
		{ "position 3: hardware 1 1", "s:1: \"hardware\" needs \"lasting\"" },
		{ "position 3: unplug soon", "s:1: \"unplug\" needs a time" },
		{ "on event KEY: set 32 00", "s:1: \"set\" goes beyond" },
		{ "on request: set 1024 00", "s:1: \"set\" needs an offset" },
		{ "set 1 00", "s:1: a rule is" },
		{ "always: set 1 00", "s:1: \"set\" needs \"on\"" },
		{ "on descriptor moon: stall", "s:1: \"moon\" is no condition" },
		{ "on descriptor: refuse STATE", "s:1: \"refuse\" cannot happen on" },
		{ "on submit: stall", "s:1: \"stall\" cannot happen on" },
		{ "on event KEY: set 31 0000", "s:1: \"set\" goes beyond" },
		{ "on event KEY: set 3 0", "s:1: \"set\" needs bytes in hex" },
		{ "on event KEY: set 3 zz", "s:1: \"set\" needs bytes in hex" },
		{ "on request: status ENOENT", "s:1: \"status\" needs" },
		{ "on request START: refuse OK", "s:1: \"refuse\" needs" },
		{ "on request START: refuse 0", "s:1: \"refuse\" needs" },
	};
	unsigned int i;
	char error[400];

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct scenario *scenario = scenario_new();

		if (scenario_parse(scenario, "s", bad[i].text, strlen(bad[i].text), error,
				   sizeof(error)))
			fail_msg("\"%s\" was taken", bad[i].text);
		if (strncmp(error, bad[i].error, strlen(bad[i].error)))
			fail_msg("\"%s\": %s", bad[i].text, error);
		scenario_free(scenario);
	}
}

static void a_bad_file_changes_nothing(void **state)
{
	static const char text[] = "position 1: unreadable\nposition 2: fly\n";
	struct happening happening = { .hook = HOOK_READ, .position = 1 };
	struct scenario *scenario = scenario_new();
	unsigned int cursor = 0;
	char error[400];

	(void)state;
	assert_false(scenario_parse(scenario, "s", text, strlen(text), error, sizeof(error)));
	assert_null(scenario_next(scenario, &happening, &cursor));
	assert_false(scenario_parse(scenario, "s", "a\0b", 3, error, sizeof(error)));
	assert_non_null(strstr(error, "zero byte"));
	scenario_free(scenario);
}

static unsigned int hits(const char *rule, unsigned int times)
{
	struct happening happening = { .hook = HOOK_READ, .position = 1, .card = 5 };
	struct scenario *scenario = scenario_new();
	unsigned int i, bits = 0;
	char error[400];

	assert_true(scenario_parse(scenario, "s", rule, strlen(rule), error, sizeof(error)));
	for (i = 0; i < times; i++) {
		unsigned int cursor = 0;

		if (scenario_next(scenario, &happening, &cursor))
			bits |= 1u << i;
	}
	scenario_free(scenario);
	return bits;
}

static void rules_count(void **state)
{
	(void)state;
	assert_int_equal(hits("position 1: unreadable", 8), 0x01);
	assert_int_equal(hits("position 2: unreadable", 8), 0x00);
	assert_int_equal(hits("card S9: unreadable", 8), 0x01);
	assert_int_equal(hits("nth 3: unreadable", 8), 0x04);
	assert_int_equal(hits("nth 3 times 2: unreadable", 8), 0x0c);
	assert_int_equal(hits("always: unreadable", 8), 0xff);
	assert_int_equal(hits("nth 5 always: unreadable", 8), 0xf0);
	assert_int_equal(hits("every 3: unreadable", 8), 0x24);
	assert_int_equal(hits("every 3 nth 1: unreadable", 8), 0x49);
	assert_int_equal(hits("every 3 nth 2 times 2: unreadable", 8), 0x12);
}

/* --- cards and mechanics -------------------------------------------------------------- */

/* A rule, and the type and place of the stop that it causes. */
static const struct {
	const char *rule;
	uint8_t stop, position;
	uint32_t code;
	bool goes_on;	/* REREAD is enough */
} stops[] = {
	{ "position 5: unreadable", DEALBOX_EV_CARD_UNREADABLE, 5, 0, true },
	{ "position 5: face-up", DEALBOX_EV_CARD_UNREADABLE, 5, 0, false },
	{ "position 5: misread joker1", DEALBOX_EV_NOT_IN_PLAN, 5, UINT32_MAX, true },
	{ "position 5: feed-timeout", DEALBOX_EV_FEED_TIMEOUT, 5, 0, true },
	{ "position 5: missing", DEALBOX_EV_DECK_SHORT, 51, 0, false },
	{ "position 5: extra joker2", DEALBOX_EV_NOT_IN_PLAN, 5, UINT32_MAX, false },
	{ "position 5: repeat", DEALBOX_EV_REPEATED_CARD, 5, UINT32_MAX, false },
	{ "position 5: misread SA", DEALBOX_EV_REPEATED_CARD, 5, UINT32_MAX, false },
	/* an earlier card was misread: found when the real one comes */
	{ "position 5: misread C2", DEALBOX_EV_REPEATED_CARD, 51, UINT32_MAX, false },
	{ "position 5: misread", DEALBOX_EV_REPEATED_CARD, 44, UINT32_MAX, false },
	{ "position 5: double-feed", DEALBOX_EV_DOUBLE_FEED, 5, 0, false },
	{ "position 5: jam feeder", DEALBOX_EV_JAM, 5, DEALBOX_JAM_FEEDER, false },
	{ "position 5: jam reader", DEALBOX_EV_JAM, 5, DEALBOX_JAM_READER, false },
	{ "position 5: jam gate", DEALBOX_EV_JAM, 5, DEALBOX_JAM_GATE, false },
	{ "position 5: jam pocket", DEALBOX_EV_JAM, 5, DEALBOX_JAM_POCKET, false },
	{ "position 5: wrong-pocket", DEALBOX_EV_WRONG_POCKET, 5, 0, false },
	{ "position 5: wrong-pocket 3", DEALBOX_EV_WRONG_POCKET, 5, 0, false },
	{ "card S5: jam gate", DEALBOX_EV_JAM, 9, DEALBOX_JAM_GATE, false },
	{ "position 5: pull", DEALBOX_EV_BOARD_PULLED, UINT8_MAX, 0, false },
	{ "position 5: cover open", DEALBOX_EV_COVER_OPENED, UINT8_MAX, 0, false },
	{ "position 5: hardware 77", DEALBOX_EV_HARDWARE, DEALBOX_NONE, 77, false },
};

static void every_stop_can_be_made(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(stops) / sizeof(*stops); i++) {
		struct fixture *fixture = fixture_dealing(STORED, BY_CARD, stops[i].rule);
		const struct wire_event *stop;

		stop = fixture_until(fixture, stops[i].stop);
		if (stops[i].position != UINT8_MAX && stop->position != stops[i].position)
			fail_msg("\"%s\": position %u", stops[i].rule, stop->position);
		if (stops[i].code != UINT32_MAX)
			assert_int_equal(stop->code, stops[i].code);
		assert_int_equal(fixture_status(fixture).state, DEALBOX_EV_IS_HELD(stops[i].stop) ?
				 DEALBOX_STATE_HELD : DEALBOX_STATE_FAULT);
		assert_int_equal(fixture_status(fixture).fault, stops[i].stop);
		if (stops[i].goes_on) {
			assert_int_equal(fixture_do(fixture, DEALBOX_OP_REREAD), 0);
			assert_int_equal(fixture_until(fixture, DEALBOX_EV_DEAL_DONE)->position,
					 52);
		}
		fixture_free(fixture);
	}
}

static void wrong_pocket_names_both(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "position 5: wrong-pocket 3");
	const struct wire_event *stop = fixture_until(fixture, DEALBOX_EV_WRONG_POCKET);

	(void)state;
	assert_int_equal(stop->pocket, 3);
	assert_int_equal(stop->arg[0], 1);
	assert_int_equal(stop->card, 5);
	assert_int_equal(fixture_counters(fixture).wrong_pockets, 1);
	fixture_free(fixture);
}

static void without_sensors_nobody_notices(void **state)
{
	struct machine_config config = fixture_config(STORED);
	struct fixture *fixture;

	(void)state;
	config.desc.capabilities &= ~(DEALBOX_CAP_EXIT_SENSORS | DEALBOX_CAP_DOUBLE_FEED_SENSOR);
	fixture = fixture_new_config(config);
	fixture_rule(fixture, "position 5: wrong-pocket 3\nposition 50: double-feed");
	fixture_cards(fixture, 52);
	fixture_insert(fixture);
	fixture_load_mode(fixture, DEALBOX_PLAN_BY_POSITION);
	assert_int_equal(fixture_start(fixture, DEALBOX_PLAN_BY_POSITION), 0);
	/* the hopper ends one card early: two fell at once */
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_DECK_SHORT)->position, 51);
	fixture_pass(fixture, 1000000);
	/* 12 by plan, because the 52nd card never came, and the one in the wrong pocket */
	assert_int_equal(machine_view(fixture->m).board->pocket[3].count, 13);
	assert_int_equal(machine_view(fixture->m).board->pocket[1].count, 12);
	fixture_free(fixture);
}

static void face_up_cards_are_flagged_and_can_be_turned(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "position 5: face-up");
	const struct wire_event *stop = fixture_until(fixture, DEALBOX_EV_CARD_UNREADABLE);

	(void)state;
	assert_int_equal(stop->flags, DEALBOX_EVF_FACE_UP);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_REREAD), 0);
	fixture_until(fixture, DEALBOX_EV_CARD_UNREADABLE);
	machine_clean_card(fixture->m);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_REREAD), 0);
	fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
	fixture_free(fixture);
}

static void pulling_the_board_is_told_twice(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "position 5: pull");
	const struct wire_event *event = fixture_until(fixture, DEALBOX_EV_BOARD_PULLED);

	(void)state;
	assert_int_equal(event->insertion, 1);
	event = fixture_until(fixture, DEALBOX_EV_BOARD_REMOVED);
	assert_int_equal(event->insertion, 1);
	assert_int_equal(fixture->account.end, MACHINE_VOID);
	assert_int_equal(fixture_status(fixture).insertion, 0);
	fixture_free(fixture);
}

static void cover_events_come_in_their_order(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "position 5: cover open");

	(void)state;
	fixture_until(fixture, DEALBOX_EV_COVER_OPEN);
	fixture_until(fixture, DEALBOX_EV_COVER_OPENED);
	assert_int_equal(fixture_do(fixture, DEALBOX_OP_CLEAR_FAULT), DEALBOX_ERR_COVER_OPEN);
	fixture_free(fixture);
}

static void the_cable_and_the_power(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD,
						  "deal 1 position 5: unplug 50\n"
						  "on event DEAL_STARTED nth 2: power-cycle 50\n");

	(void)state;
	while (machine_view(fixture->m).plugged)
		assert_true(fixture_step(fixture, UINT64_MAX - 1));
	assert_false(machine_view(fixture->m).configured);
	fixture_pass(fixture, 50000);
	assert_true(machine_view(fixture->m).plugged);
	machine_configure(fixture->m);
	machine_remove(fixture->m, false);
	fixture_insert(fixture);
	fixture_cards(fixture, 52);
	fixture_load_mode(fixture, BY_CARD);
	assert_int_equal(fixture_start(fixture, BY_CARD), 0);
	while (machine_view(fixture->m).powered)
		assert_true(fixture_step(fixture, UINT64_MAX - 1));
	fixture_pass(fixture, 50000);
	assert_true(machine_view(fixture->m).board->in_doubt);
	fixture_free(fixture);
}

static void a_frozen_machine_answers_but_moves_no_card(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD, "position 5: freeze");
	unsigned int before;

	(void)state;
	while (!machine_view(fixture->m).frozen)
		assert_true(fixture_step(fixture, UINT64_MAX - 1));
	before = fixture->count;
	fixture_pass(fixture, 10000000);
	assert_int_equal(fixture->count, before);
	assert_int_equal(fixture_status(fixture).state, DEALBOX_STATE_DEALING);
	machine_freeze(fixture->m, false);
	fixture_until(fixture, DEALBOX_EV_DEAL_DONE);
	fixture_free(fixture);
}

/* --- events ------------------------------------------------------------------------------ */

static void events_can_be_spoilt(void **state)
{
	struct fixture *fixture = fixture_dealing(STORED, BY_CARD,
						  "on event CARD_LANDED nth 3: drop\n"
						  "on event CARD_LANDED nth 7: duplicate\n"
						  "on event CARD_READ nth 9: unknown\n"
						  "on event CARD_READ nth 11: flood 100\n"
						  "on event DEAL_DONE: set 16 33\n");
	unsigned int i, gaps = 0, twice = 0, unknown = 0;

	(void)state;
	assert_int_equal(fixture_until(fixture, DEALBOX_EV_DEAL_DONE)->position, 0x33);
	for (i = 1; i < fixture->count; i++) {
		gaps += fixture->events[i].number == fixture->events[i - 1].number + 2;
		twice += fixture->events[i].number == fixture->events[i - 1].number;
		unknown += fixture->events[i].type == 0xf0;
	}
	assert_int_equal(gaps, 1);
	assert_int_equal(twice, 1);
	assert_int_equal(unknown, 101);
	fixture_free(fixture);
}

static void events_can_be_late(void **state)
{
	struct fixture *fixture = fixture_new(STORED);
	uint64_t from = fixture->now;

	(void)state;
	fixture_collect(fixture);
	fixture_rule(fixture, "on event COVER_OPEN: delay 400");
	machine_cover(fixture->m, true);
	fixture_until(fixture, DEALBOX_EV_COVER_OPEN);
	assert_int_equal(fixture->now - from, 400000);
	fixture_free(fixture);
}

static void that_state_is_lost_can_be_kept_back(void **state)
{
	struct fixture *fixture = fixture_new(STORED);

	(void)state;
	fixture_rule(fixture, "on event STATE_LOST nth 2: drop");
	machine_reset_firmware(fixture->m);
	assert_int_equal(fixture_count(fixture, DEALBOX_EV_STATE_LOST), 1);
	machine_reset_firmware(fixture->m);
	assert_int_equal(fixture_count(fixture, DEALBOX_EV_STATE_LOST), 1);
	machine_reset_firmware(fixture->m);
	assert_int_equal(fixture_count(fixture, DEALBOX_EV_STATE_LOST), 2);
	fixture_free(fixture);
}

/* --- transfers ------------------------------------------------------------------------------- */

struct bench {
	struct fixture *fixture;
	struct device *device;
	struct completion done;
	uint64_t tag;
};

static struct bench bench_of(uint32_t kind, const char *rules, const struct device_config *config)
{
	static const struct transfer configure = { .setup = { 0, 9, 1 } };
	struct bench bench = { .fixture = fixture_new(kind) };

	fixture_rule(bench.fixture, rules);
	bench.device = device_new(bench.fixture->m, config);
	device_submit(bench.device, bench.fixture->now, &configure);
	assert_true(device_reap(bench.device, bench.fixture->now, &bench.done));
	assert_int_equal(bench.done.status, 0);
	return bench;
}

static struct bench bench_new(uint32_t kind, const char *rules)
{
	static const struct device_config config = {
		.serial = "B1", .product = "bench", .int_in_size = 64, .protocol = WIRE_PROTOCOL,
	};

	return bench_of(kind, rules, &config);
}

static void bench_free(struct bench *bench)
{
	device_free(bench->device);
	fixture_free(bench->fixture);
}

static void submit(struct bench *bench, uint8_t endpoint, const uint8_t *setup, const void *data,
		   uint32_t length)
{
	struct transfer transfer = { .tag = ++bench->tag, .endpoint = endpoint, .length = length };

	if (setup)
		memcpy(transfer.setup, setup, 8);
	if (data)
		memcpy(transfer.data, data, length);
	device_submit(bench->device, bench->fixture->now, &transfer);
}

static bool reap(struct bench *bench)
{
	return device_reap(bench->device, bench->fixture->now, &bench->done);
}

/* Advances time until a transfer ends, up to a limit. */
static bool reap_within(struct bench *bench, uint64_t us)
{
	uint64_t until = bench->fixture->now + us;

	while (!reap(bench)) {
		uint64_t next = device_next(bench->device);
		uint64_t other = machine_next(bench->fixture->m);

		if (other < next)
			next = other;
		if (next > until) {
			bench->fixture->now = until;
			machine_run(bench->fixture->m, until);
			return false;
		}
		if (next > bench->fixture->now)
			bench->fixture->now = next;
		machine_run(bench->fixture->m, bench->fixture->now);
	}
	return true;
}

static void query(struct bench *bench, uint8_t request, uint16_t length)
{
	const uint8_t setup[8] = { 0xc1, request, 0, 0, 0, 0, length & 0xff, length >> 8 };

	submit(bench, 0, setup, NULL, length);
}

static void locate(struct bench *bench)
{
	static const uint8_t setup[8] = { 0x41, DEALBOX_OP_LOCATE, 0, 0, 0, 0, 16, 0 };
	uint8_t data[16] = { ++bench->fixture->sequence };

	submit(bench, 0, setup, data, sizeof(data));
}

/* R-1-1, R-1-8: systems find the interface, which they do not look for under device class ff. */
static void the_interface_makes_the_machine(void **state)
{
	static const uint8_t get_device[] = { 0x80, 6, 0, 1, 0, 0, 18, 0 };
	static const uint8_t get_config[] = { 0x80, 6, 0, 2, 0, 0, 255, 0 };
	struct bench bench = bench_new(DEALBOX_CAP_STORED_PLAN, "");

	(void)state;
	submit(&bench, 0, get_device, NULL, 18);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.length, 18);
	assert_int_equal(bench.done.data[4], 0);
	submit(&bench, 0, get_config, NULL, 255);
	assert_true(reap(&bench));
	/* the interface descriptor, behind that of the configuration */
	assert_memory_equal(bench.done.data + 9 + 5, ((uint8_t[]){ 0xff, 0x44, 0x01 }), 3);
	bench_free(&bench);
}

static void a_request_can_thaw_it(void **state)
{
	struct bench bench = bench_new(STORED, "on request LOCATE: thaw");

	(void)state;
	machine_freeze(bench.fixture->m, true);
	query(&bench, WIRE_GET_STATUS, 32);
	assert_true(reap(&bench));
	assert_true(machine_view(bench.fixture->m).frozen);
	locate(&bench);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, 0);
	assert_false(machine_view(bench.fixture->m).frozen);
	bench_free(&bench);
}

static void requests_can_be_spoilt(void **state)
{
	struct bench bench = bench_new(STORED,
		"on request GET_STATUS nth 1: short 5\n"
		"on request GET_STATUS nth 2: long 40\n"
		"on request GET_STATUS nth 3: bytes 0102030405060708\n"
		"on request GET_STATUS nth 4: stall\n"
		"on request GET_STATUS nth 5: status EILSEQ\n"
		"on request GET_STATUS nth 6: delay 700\n"
		"on request GET_STATUS nth 7: no-answer\n"
		"on request GET_STATUS nth 8: bytes\n"
		"on request LOCATE nth 1: refuse HARDWARE 9\n"
		"on request LOCATE nth 2: status EPROTO\n"
		"on request LOCATE nth 3: ignore\n");

	(void)state;
	query(&bench, WIRE_GET_STATUS, 64);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.length, 5);
	query(&bench, WIRE_GET_STATUS, 64);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.length, 40);
	query(&bench, WIRE_GET_STATUS, 4);
	assert_true(reap(&bench));
	/* more than there was room for: babble */
	assert_int_equal(bench.done.length, 4);
	assert_int_equal(bench.done.status, -EOVERFLOW);
	query(&bench, WIRE_GET_STATUS, 32);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, -EPIPE);
	query(&bench, WIRE_GET_STATUS, 32);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, -EILSEQ);
	query(&bench, WIRE_GET_STATUS, 32);
	assert_false(reap_within(&bench, 699000));
	assert_true(reap_within(&bench, 1000));
	query(&bench, WIRE_GET_STATUS, 32);
	assert_false(reap_within(&bench, 60000000));
	assert_true(device_cancel(bench.device, bench.tag));
	assert_false(device_cancel(bench.device, bench.tag));
	query(&bench, WIRE_GET_STATUS, 32);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.length, 0);

	locate(&bench);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, -EPIPE);
	assert_int_equal(fixture_result(bench.fixture).error, DEALBOX_ERR_HARDWARE);
	assert_int_equal(fixture_result(bench.fixture).detail, 9);
	/* the command is executed, and the answer is lost */
	locate(&bench);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, -EPROTO);
	assert_int_equal(fixture_result(bench.fixture).sequence, bench.fixture->sequence);
	assert_int_equal(fixture_result(bench.fixture).error, 0);
	/* the command does not reach the machine */
	locate(&bench);
	assert_false(reap_within(&bench, 60000000));
	assert_int_equal(fixture_result(bench.fixture).sequence, bench.fixture->sequence - 1);
	bench_free(&bench);
}

static void answers_can_be_patched(void **state)
{
	static const uint8_t get_config[8] = { 0x80, 6, 0, 2, 0, 0, 0, 1 };
	struct bench bench = bench_new(STORED,
		"on request GET_STATUS: set 0 09\n"
		"on transfer: set 0 77\n"
		"on descriptor config nth 2: set 14 ee\n"
		"on descriptor config nth 3: stall\n");
	uint8_t plain[256];

	(void)state;
	query(&bench, WIRE_GET_STATUS, 32);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.length, 32);
	assert_int_equal(bench.done.data[0], 9);
	submit(&bench, DEVICE_EP_INT_IN, NULL, NULL, 64);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.length, 32);
	assert_int_equal(bench.done.data[0], 0x77);
	submit(&bench, 0, get_config, NULL, 256);
	assert_true(reap(&bench));
	memcpy(plain, bench.done.data, bench.done.length);
	submit(&bench, 0, get_config, NULL, 256);
	assert_true(reap(&bench));
	assert_int_equal(plain[14], 0xff);
	plain[14] = 0xee;
	assert_memory_equal(bench.done.data, plain, bench.done.length);
	submit(&bench, 0, get_config, NULL, 256);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, -EPIPE);
	bench_free(&bench);
}

/* Faults of standard requests, and a cable that is pulled at a certain transfer. */
static void standard_requests_can_be_spoilt(void **state)
{
	static const uint8_t clear_halt[8] = { 2, 1, 0, 0, DEVICE_EP_INT_IN, 0, 0, 0 };
	static const uint8_t get_status[8] = { 0x80, 0, 0, 0, 0, 0, 2, 0 };
	struct bench bench = bench_new(STORED,
		"on standard CLEAR_FEATURE nth 1: ignore\n"
		"on standard CLEAR_FEATURE nth 2: stall\n"
		"on standard GET_STATUS: set 1 55\n"
		"on submit nth 6: unplug\n");

	(void)state;
	submit(&bench, 0, clear_halt, NULL, 0);
	assert_false(reap_within(&bench, 60000000));
	submit(&bench, 0, clear_halt, NULL, 0);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, -EPIPE);
	submit(&bench, 0, clear_halt, NULL, 0);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, 0);
	submit(&bench, 0, get_status, NULL, 2);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.length, 2);
	assert_int_equal(bench.done.data[1], 0x55);
	assert_true(machine_view(bench.fixture->m).plugged);
	submit(&bench, DEVICE_EP_INT_IN, NULL, NULL, 64);
	assert_false(machine_view(bench.fixture->m).plugged);
	bench_free(&bench);
}

static void event_transfers_can_be_spoilt(void **state)
{
	static const uint8_t clear_halt[8] = { 2, 1, 0, 0, DEVICE_EP_INT_IN, 0, 0, 0 };
	struct bench bench = bench_new(STORED,
		"on transfer nth 1: short 31\n"
		"on transfer nth 2: status EOVERFLOW\n"
		"on transfer nth 3: stall\n"
		"on transfer nth 4: bytes 0102\n"
		"on transfer nth 6: long 60\n"
		"on transfer nth 7: ignore\n");

	(void)state;
	submit(&bench, DEVICE_EP_INT_IN, NULL, NULL, 64);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.length, 31);
	/* no event is queued, so the transfer waits */
	submit(&bench, DEVICE_EP_INT_IN, NULL, NULL, 64);
	assert_false(reap_within(&bench, 60000000));
	machine_cover(bench.fixture->m, true);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, -EOVERFLOW);
	submit(&bench, DEVICE_EP_INT_IN, NULL, NULL, 64);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, -EPIPE);
	submit(&bench, DEVICE_EP_INT_IN, NULL, NULL, 64);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, -EPIPE);
	submit(&bench, 0, clear_halt, NULL, 0);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, 0);
	submit(&bench, DEVICE_EP_INT_IN, NULL, NULL, 64);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.length, 2);
	/* the event was kept through all of that */
	submit(&bench, DEVICE_EP_INT_IN, NULL, NULL, 64);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.length, 32);
	assert_int_equal(bench.done.data[0], DEALBOX_EV_COVER_OPEN);
	machine_cover(bench.fixture->m, false);
	submit(&bench, DEVICE_EP_INT_IN, NULL, NULL, 64);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.length, 60);
	machine_cover(bench.fixture->m, true);
	submit(&bench, DEVICE_EP_INT_IN, NULL, NULL, 64);
	assert_false(reap_within(&bench, 60000000));
	bench_free(&bench);
}

static void plans_can_be_spoilt(void **state)
{
	static const uint8_t clear_halt[8] = { 2, 1, 0, 0, DEVICE_EP_BULK_OUT, 0, 0, 0 };
	struct bench bench =
		bench_new(STORED, "on plan nth 1: stall\non plan nth 2: refuse CRC 77\n");
	struct wire_plan plan = fixture_plan(BY_CARD, 52);
	const struct wire_event *loaded;
	uint8_t buf[WIRE_PLAN_MAX];

	(void)state;
	dealbox_count_plan(&plan);
	dealbox_encode_plan(buf, &plan);
	assert_int_equal(fixture_command(bench.fixture, WIRE_LOAD, plan.plan_id, 88, 0, NULL), 0);
	submit(&bench, DEVICE_EP_BULK_OUT, NULL, buf, 88);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, -EPIPE);
	submit(&bench, 0, clear_halt, NULL, 0);
	assert_true(reap(&bench));
	submit(&bench, DEVICE_EP_BULK_OUT, NULL, buf, 88);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, 0);
	assert_int_equal(bench.done.length, 88);
	loaded = fixture_until(bench.fixture, DEALBOX_EV_PLAN_LOADED);
	assert_int_equal(loaded->arg[0], DEALBOX_ERR_CRC);
	assert_int_equal(loaded->arg[1], 77);
	/* no LOAD: the machine itself stalls */
	submit(&bench, DEVICE_EP_BULK_OUT, NULL, buf, 88);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, -EPIPE);
	bench_free(&bench);
}

static void gate_commands_can_be_spoilt(void **state)
{
	struct bench bench = bench_new(ROUTED, "on route: ignore\non route: cover open\n");
	uint8_t buf[WIRE_GATE_SIZE] = { 1 };

	(void)state;
	submit(&bench, DEVICE_EP_INT_OUT, NULL, buf, sizeof(buf));
	assert_false(reap_within(&bench, 1000000));
	assert_int_equal(fixture_counters(bench.fixture).gates_ignored, 0);
	/* what happens at the ignored transfer happens all the same */
	assert_non_null(fixture_until(bench.fixture, DEALBOX_EV_COVER_OPEN));
	submit(&bench, DEVICE_EP_INT_OUT, NULL, buf, sizeof(buf));
	assert_true(reap(&bench));
	assert_int_equal(fixture_counters(bench.fixture).gates_ignored, 1);
	bench_free(&bench);
}

static void gate_commands_can_come_too_late(void **state)
{
	struct bench bench = bench_new(ROUTED, "on route: delay 30\n");
	struct fixture *fixture = bench.fixture;
	uint8_t buf[WIRE_GATE_SIZE];
	const struct wire_event *read;
	struct wire_gate gate = { 0 };

	(void)state;
	fixture_cards(fixture, 52);
	fixture_insert(fixture);
	assert_int_equal(fixture_start(fixture, BY_CARD), 0);
	read = fixture_until(fixture, DEALBOX_EV_CARD_READ);
	gate.number = read->number;
	gate.insertion = 1;
	dealbox_encode_gate(buf, &gate);
	submit(&bench, DEVICE_EP_INT_OUT, NULL, buf, sizeof(buf));
	/* the deadline is 20 ms */
	assert_true(reap_within(&bench, 30000));
	assert_int_equal(bench.done.status, 0);
	assert_int_equal(fixture_counters(fixture).gates_late, 1);
	assert_int_equal(fixture_status(fixture).fault, DEALBOX_EV_GATE_LATE);
	bench_free(&bench);
}

/* The transfers of an endpoint end in the order in which they were submitted. */
static void a_transfer_waits_for_the_one_before(void **state)
{
	struct bench bench = bench_new(ROUTED, "on route nth 1: delay 30\n");
	uint8_t buf[WIRE_GATE_SIZE] = { 1 };
	uint64_t first, begun = bench.fixture->now;

	(void)state;
	submit(&bench, DEVICE_EP_INT_OUT, NULL, buf, sizeof(buf));
	first = bench.tag;
	submit(&bench, DEVICE_EP_INT_OUT, NULL, buf, sizeof(buf));
	assert_true(reap_within(&bench, 30000));
	assert_int_equal(bench.done.tag, first);
	assert_int_equal(bench.fixture->now, begun + 30000);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.tag, first + 1);
	bench_free(&bench);
}

/* --- the serial dialect ---------------------------------------------------------------------- */

#define ANSWER_SIZE	FRAME_BYTES(FRAME_ANSWER_HEADER + WIRE_RESULT_SIZE)

/* A machine whose first event, STATE_LOST, has been fetched. */
static struct bench serial_bench(const char *rules)
{
	static const struct device_config config = {
		.serial = "B1", .product = "bench", .int_in_size = 512, .protocol = FRAME_PROTOCOL,
	};
	struct bench bench = bench_of(STORED, "", &config);

	submit(&bench, DEVICE_EP_INT_IN, NULL, NULL, 512);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.length, FRAME_BYTES(WIRE_EVENT_SIZE));
	fixture_rule(bench.fixture, rules);
	return bench;
}

/* Sends GET_RESULT with this tag, and reads one transfer of the stream. */
static uint32_t exchange(struct bench *bench, uint8_t tag)
{
	uint8_t frame[FRAME_MAX] = { 0 };

	frame[FRAME_HEADER] = WIRE_GET_RESULT;
	submit(bench, DEVICE_EP_BULK_OUT, NULL, frame,
	       dealbox_frame_seal(frame, FRAME_REQUEST, tag, FRAME_REQUEST_HEADER));
	assert_true(reap(bench));
	submit(bench, DEVICE_EP_INT_IN, NULL, NULL, 512);
	return reap(bench) ? bench->done.length : 0;
}

/* Returns the number of frames in the last transfer; *frame is the last one. */
static unsigned int frames(struct bench *bench, struct frame_reader *reader, struct frame *frame)
{
	const uint8_t *data = bench->done.data;
	size_t length = bench->done.length;
	unsigned int count = 0;

	memset(reader, 0, sizeof(*reader));
	while (dealbox_frame_read(reader, &data, &length, frame))
		count++;
	return count;
}

static void frames_can_be_spoilt(void **state)
{
	struct bench bench = serial_bench(
		"on frame ANSWER nth 1: set 2 63\n"
		"on frame ANSWER nth 2: bad-sum\n"
		"on frame ANSWER nth 3: short 20\n"
		"on frame ANSWER nth 4: long 300\n"
		"on frame ANSWER nth 5: bytes db8107\n"
		"on frame ANSWER nth 6: duplicate\n"
		"on frame ANSWER nth 7: drop\n"
		"on frame EVENT: unplug\n");
	struct frame_reader reader;
	struct frame frame;

	(void)state;
	/* another tag, with a valid checksum */
	assert_int_equal(exchange(&bench, 1), ANSWER_SIZE);
	assert_int_equal(frames(&bench, &reader, &frame), 1);
	assert_int_equal(frame.kind, FRAME_ANSWER);
	assert_int_equal(frame.tag, 0x63);
	assert_int_equal(exchange(&bench, 2), ANSWER_SIZE);
	assert_int_equal(frames(&bench, &reader, &frame), 0);
	assert_int_equal(exchange(&bench, 3), 20);
	assert_int_equal(exchange(&bench, 4), 300);
	assert_int_equal(frames(&bench, &reader, &frame), 1);
	assert_int_equal(frame.tag, 4);
	assert_int_equal(exchange(&bench, 5), 3);
	assert_memory_equal(bench.done.data, "\xdb\x81\x07", 3);
	assert_int_equal(exchange(&bench, 6), 2 * ANSWER_SIZE);
	assert_int_equal(frames(&bench, &reader, &frame), 2);
	assert_int_equal(frame.tag, 6);
	assert_int_equal(exchange(&bench, 7), 0);
	assert_true(machine_view(bench.fixture->m).plugged);
	machine_key(bench.fixture->m, 9, true);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.length, FRAME_BYTES(WIRE_EVENT_SIZE));
	assert_false(machine_view(bench.fixture->m).plugged);
	bench_free(&bench);
}

static void frames_can_change_places(void **state)
{
	struct bench bench = serial_bench("on frame ANSWER: swap\n");
	struct frame_reader reader;
	struct frame frame;

	(void)state;
	assert_int_equal(exchange(&bench, 1), 0);
	machine_key(bench.fixture->m, 9, true);
	assert_true(reap(&bench));
	assert_int_equal(frames(&bench, &reader, &frame), 2);
	assert_int_equal(frame.kind, FRAME_ANSWER);
	assert_int_equal(frame.tag, 1);
	assert_int_equal(bench.done.data[1], FRAME_EVENT);
	bench_free(&bench);
}

/* The rest of a frame that is cut off comes with the next transfer. */
static void frames_can_be_cut_over_transfers(void **state)
{
	struct bench bench = serial_bench("on transfer nth 1: short 3\n"
					  "on transfer nth 2: short 0\n");

	(void)state;
	assert_int_equal(exchange(&bench, 1), 3);
	submit(&bench, DEVICE_EP_INT_IN, NULL, NULL, 512);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.length, 0);
	submit(&bench, DEVICE_EP_INT_IN, NULL, NULL, 512);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.length, ANSWER_SIZE - 3);
	bench_free(&bench);
}

/* Transfers with frames to the machine can fail, too. */
static void streams_can_be_spoilt(void **state)
{
	struct bench bench = serial_bench("on stream nth 1: stall\n"
					  "on stream nth 2: status EPROTO\n"
					  "on stream nth 3: ignore\n");
	static const uint8_t clear_halt[8] = { 2, 1, 0, 0, DEVICE_EP_BULK_OUT };
	uint32_t before = device_submitted(bench.device);
	uint8_t frame[FRAME_MAX] = { 0 };
	size_t size;

	(void)state;
	frame[FRAME_HEADER] = WIRE_GET_RESULT;
	size = dealbox_frame_seal(frame, FRAME_REQUEST, 1, FRAME_REQUEST_HEADER);
	submit(&bench, DEVICE_EP_BULK_OUT, NULL, frame, size);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, -EPIPE);
	/* halted now */
	submit(&bench, DEVICE_EP_BULK_OUT, NULL, frame, size);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, -EPIPE);
	submit(&bench, 0, clear_halt, NULL, 0);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, 0);
	submit(&bench, DEVICE_EP_BULK_OUT, NULL, frame, size);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.status, -EPROTO);
	submit(&bench, DEVICE_EP_INT_IN, NULL, NULL, 512);
	assert_true(reap(&bench));
	assert_int_equal(bench.done.length, ANSWER_SIZE);
	submit(&bench, DEVICE_EP_BULK_OUT, NULL, frame, size);
	assert_false(reap_within(&bench, 10000000));
	assert_int_equal(device_submitted(bench.device) - before, 6);
	bench_free(&bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interface_makes_the_machine),
		cmocka_unit_test(good_rules_are_taken),
		cmocka_unit_test(bad_rules_are_named),
		cmocka_unit_test(a_bad_file_changes_nothing),
		cmocka_unit_test(rules_count),
		cmocka_unit_test(every_stop_can_be_made),
		cmocka_unit_test(wrong_pocket_names_both),
		cmocka_unit_test(without_sensors_nobody_notices),
		cmocka_unit_test(face_up_cards_are_flagged_and_can_be_turned),
		cmocka_unit_test(pulling_the_board_is_told_twice),
		cmocka_unit_test(cover_events_come_in_their_order),
		cmocka_unit_test(the_cable_and_the_power),
		cmocka_unit_test(a_frozen_machine_answers_but_moves_no_card),
		cmocka_unit_test(events_can_be_spoilt),
		cmocka_unit_test(events_can_be_late),
		cmocka_unit_test(that_state_is_lost_can_be_kept_back),
		cmocka_unit_test(a_request_can_thaw_it),
		cmocka_unit_test(requests_can_be_spoilt),
		cmocka_unit_test(answers_can_be_patched),
		cmocka_unit_test(standard_requests_can_be_spoilt),
		cmocka_unit_test(event_transfers_can_be_spoilt),
		cmocka_unit_test(plans_can_be_spoilt),
		cmocka_unit_test(gate_commands_can_be_spoilt),
		cmocka_unit_test(gate_commands_can_come_too_late),
		cmocka_unit_test(a_transfer_waits_for_the_one_before),
		cmocka_unit_test(frames_can_be_spoilt),
		cmocka_unit_test(frames_can_change_places),
		cmocka_unit_test(frames_can_be_cut_over_transfers),
		cmocka_unit_test(streams_can_be_spoilt),
	};

	return cmocka_run_group_tests_name("emulator scenario", tests, NULL, NULL);
}
