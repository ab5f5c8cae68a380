/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine for tests of the emulator's pure parts, in virtual time. Every event is kept.
 */
#ifndef EMULATOR_FIXTURE_H
#define EMULATOR_FIXTURE_H

#include <setjmp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emulated_machine.h"

#define FIXTURE_EVENTS_MAX	8192
/* limit of a wait, in µs of virtual time */
#define FIXTURE_PATIENCE	120000000ULL

#define FIXTURE_ALL_CAPS	(DEALBOX_CAP_EXIT_SENSORS | DEALBOX_CAP_BOARD_READER | \
			 DEALBOX_CAP_FACE_SENSOR | DEALBOX_CAP_DOUBLE_FEED_SENSOR | \
			 DEALBOX_CAP_TEST_DEAL | DEALBOX_CAP_KEYS | DEALBOX_CAP_BY_CARD | \
			 DEALBOX_CAP_BY_POSITION | DEALBOX_CAP_CAPTURE)

struct fixture {
	struct machine *m;
	struct scenario *scenario;
	uint64_t now;
	uint32_t sequence;
	struct wire_event events[FIXTURE_EVENTS_MAX];
	unsigned int count;	/* of events so far */
	unsigned int seen;	/* of events that the test has waited for */
	struct machine_board account;	/* the last one */
	unsigned int accounts, saves;
	uint32_t saved_insertion;
	bool route;		/* host-routed: route each card by fixture_route() */
	uint8_t at[DEALBOX_MAX_CARDS];	/* 1 + position at which the card was routed; 0 = not */
	bool deaf;		/* the host does not fetch events */
};

static inline void fixture_account(void *context, const struct machine_board *board)
{
	struct fixture *fixture = context;

	fixture->account = *board;
	fixture->accounts++;
}

static inline void fixture_save(void *context, const struct machine_memory *memory)
{
	struct fixture *fixture = context;

	fixture->saved_insertion = memory->insertion;
	fixture->saves++;
}

static inline struct machine_config fixture_config(uint32_t kind)
{
	return (struct machine_config){
		.speed = 1, .seed = 7,
		.desc = {
			.reader = DEALBOX_READER_CAMERA, .version = WIRE_VERSION, .pockets = 4,
			.pocket_capacity = 64, .hopper = 220, .plan_entries = 64,
			.capabilities = kind | FIXTURE_ALL_CAPS,
			.gate_deadline_us = kind & DEALBOX_CAP_HOST_ROUTED ? 20000 : 0,
		},
		.info = { .version = WIRE_VERSION, .firmware = 1 << 24, .hardware = 1,
			  .name = "bench" },
	};
}

static inline void fixture_rule(struct fixture *fixture, const char *rule)
{
	char error[400];

	if (!scenario_parse(fixture->scenario, "test", rule, strlen(rule), error, sizeof(error)))
		fail_msg("%s", error);
}

/* Returns a configured machine without a board or cards. */
static inline struct fixture *fixture_new_config(struct machine_config config)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	fixture->now = 1000000;
	fixture->scenario = scenario_new();
	config.scenario = fixture->scenario;
	config.context = fixture;
	config.account = fixture_account;
	config.save = fixture_save;
	fixture->m = machine_new(&config, NULL, fixture->now);
	assert_non_null(fixture->m);
	machine_configure(fixture->m);
	return fixture;
}

static inline struct fixture *fixture_new(uint32_t kind)
{
	return fixture_new_config(fixture_config(kind));
}

static inline void fixture_free(struct fixture *fixture)
{
	machine_free(fixture->m);
	scenario_free(fixture->scenario);
	free(fixture);
}

/* Puts cards 0..count-1 into the hopper, in order. */
static inline void fixture_cards(struct fixture *fixture, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		pile_put_bottom(machine_hopper(fixture->m),
				(struct card){ .number = i % 52, .pack = i / 52 });
	machine_hopper_changed(fixture->m);
}

static inline void fixture_gate(struct fixture *fixture, const struct wire_event *read,
				uint8_t pocket, uint8_t reason, uint32_t first)
{
	uint8_t buf[WIRE_GATE_SIZE];
	struct wire_gate gate = {
		.pocket = pocket, .reason = reason, .position = read->position,
		.number = read->number, .insertion = read->insertion, .first = first,
	};

	dealbox_encode_gate(buf, &gate);
	machine_gate(fixture->m, buf, sizeof(buf));
}

/* Routes a card to position % 4; holds jokers and cards that were already dealt. */
static inline void fixture_route(struct fixture *fixture, const struct wire_event *event)
{
	if (event->type == DEALBOX_EV_DEAL_STARTED)
		memset(fixture->at, 0, sizeof(fixture->at));
	if (event->type != DEALBOX_EV_CARD_READ || event->card >= DEALBOX_MAX_CARDS)
		return;
	if (fixture->at[event->card] && fixture->at[event->card] != event->position + 1) {
		fixture_gate(fixture, event, DEALBOX_NONE, DEALBOX_EV_REPEATED_CARD,
			 fixture->at[event->card] - 1);
	} else if (event->card >= 52) {
		fixture_gate(fixture, event, DEALBOX_NONE, DEALBOX_EV_NOT_IN_PLAN, 0);
	} else {
		fixture->at[event->card] = event->position + 1;
		fixture_gate(fixture, event, event->position % 4, 0, 0);
	}
}

static inline void fixture_collect(struct fixture *fixture)
{
	uint8_t buf[WIRE_EVENT_SIZE];

	while (!fixture->deaf && machine_fetch(fixture->m, buf, sizeof(buf))) {
		struct wire_event *event = &fixture->events[fixture->count++];

		assert_true(fixture->count < FIXTURE_EVENTS_MAX);
		dealbox_decode_event(buf, event);
		if (fixture->route)
			fixture_route(fixture, event);
	}
}

/* Advances to the next thing that happens, at most to until. Returns false if there is none. */
static inline bool fixture_step(struct fixture *fixture, uint64_t until)
{
	uint64_t next = machine_next(fixture->m);

	if (machine_fetch_at(fixture->m) < next && machine_fetch_at(fixture->m) > fixture->now)
		next = machine_fetch_at(fixture->m);
	if (next > until)
		return false;
	if (next > fixture->now)
		fixture->now = next;
	machine_run(fixture->m, fixture->now);
	fixture_collect(fixture);
	return true;
}

/* Advances time. */
static inline void fixture_pass(struct fixture *fixture, uint64_t us)
{
	uint64_t until = fixture->now + us;

	fixture_collect(fixture);
	while (fixture_step(fixture, until))
		;
	fixture->now = until;
	machine_run(fixture->m, until);
	fixture_collect(fixture);
}

/* Waits for an event of the type, and skips those before it. */
static inline const struct wire_event *fixture_until(struct fixture *fixture, uint8_t type)
{
	uint64_t until = fixture->now + FIXTURE_PATIENCE;

	fixture_collect(fixture);
	for (;;) {
		while (fixture->seen < fixture->count)
			if (fixture->events[fixture->seen++].type == type)
				return &fixture->events[fixture->seen - 1];
		if (!fixture_step(fixture, until))
			fail_msg("event %02x did not come", type);
	}
}

/* Returns the number of events of that type so far. */
static inline unsigned int fixture_count(struct fixture *fixture, uint8_t type)
{
	unsigned int i, count = 0;

	fixture_collect(fixture);
	for (i = 0; i < fixture->count; i++)
		count += fixture->events[i].type == type;
	return count;
}

static inline struct wire_result fixture_result(struct fixture *fixture)
{
	struct wire_result result;
	uint8_t buf[64];

	assert_int_equal(machine_query(fixture->m, WIRE_GET_RESULT, 0, buf), WIRE_RESULT_SIZE);
	dealbox_decode_result(buf, &result);
	return result;
}

static inline struct wire_status fixture_status(struct fixture *fixture)
{
	struct wire_status status;
	uint8_t buf[64];

	assert_int_equal(machine_query(fixture->m, WIRE_GET_STATUS, 0, buf), WIRE_STATUS_SIZE);
	assert_true(dealbox_decode_status(buf, &status));
	return status;
}

static inline struct dealbox_counters fixture_counters(struct fixture *fixture)
{
	struct dealbox_counters counters;
	uint8_t buf[64];

	assert_int_equal(machine_query(fixture->m, WIRE_GET_COUNTERS, 0, buf), WIRE_COUNTERS_SIZE);
	dealbox_decode_counters(buf, &counters);
	return counters;
}

/* Sends a command with the next sequence number. Returns its error code. detail may be NULL. */
static inline uint8_t fixture_command(struct fixture *fixture, uint8_t request, uint32_t a,
				      uint32_t b, uint32_t c, uint32_t *detail)
{
	struct wire_command cmd = { .sequence = ++fixture->sequence, .a = a, .b = b, .c = c };
	uint8_t buf[WIRE_COMMAND_SIZE];
	struct wire_result result;
	bool accepted;

	dealbox_encode_command(buf, &cmd);
	accepted = machine_command(fixture->m, request, 0, buf, sizeof(buf));
	result = fixture_result(fixture);
	assert_int_equal(result.sequence, cmd.sequence);
	assert_int_equal(result.request, request);
	assert_int_equal(accepted, result.error == DEALBOX_ERR_OK);
	if (detail)
		*detail = result.detail;
	return result.error;
}

static inline uint8_t fixture_do(struct fixture *fixture, uint8_t request)
{
	return fixture_command(fixture, request, 0, 0, 0, NULL);
}

/* Loads a plan. Returns the error of PLAN_LOADED. */
static inline uint8_t fixture_load(struct fixture *fixture, struct wire_plan *plan)
{
	uint8_t buf[WIRE_PLAN_MAX];
	size_t size;

	dealbox_count_plan(plan);
	size = dealbox_encode_plan(buf, plan);
	assert_int_equal(fixture_command(fixture, WIRE_LOAD, plan->plan_id, size, 0, NULL), 0);
	assert_true(machine_bulk(fixture->m, buf, size));
	return fixture_until(fixture, DEALBOX_EV_PLAN_LOADED)->arg[0];
}

/* Makes a plan: by card or by position, entry k goes into pocket k % 4; a capture into pocket 0. */
static inline struct wire_plan fixture_plan(uint8_t mode, uint8_t entries)
{
	struct wire_plan plan = { .plan_id = 0x100u + mode, .mode = mode, .entries = entries };
	unsigned int i;

	for (i = 0; i < entries; i++)
		plan.pocket[i] = i % 4;
	return plan;
}

static inline void fixture_load_mode(struct fixture *fixture, uint8_t mode)
{
	struct wire_plan plan = fixture_plan(mode, mode == DEALBOX_PLAN_CAPTURE ? 1 : 52);

	assert_int_equal(fixture_load(fixture, &plan), DEALBOX_ERR_OK);
}

static inline uint32_t fixture_insert(struct fixture *fixture)
{
	assert_int_equal(machine_insert(fixture->m, 3), 0);
	return machine_view(fixture->m).board->insertion;
}

/* Sends START for fixture_load_mode()'s plan and the present board. Returns the error code. */
static inline uint8_t fixture_start(struct fixture *fixture, uint8_t mode)
{
	uint32_t insertion = machine_view(fixture->m).board->insertion;
	bool routed = machine_view(fixture->m).desc->capabilities & DEALBOX_CAP_HOST_ROUTED;
	uint32_t c = !routed ? 0 : mode == DEALBOX_PLAN_CAPTURE ? WIRE_START_CAPTURE : 52;

	return fixture_command(fixture, DEALBOX_OP_START, 0x100u + mode, insertion, c, NULL);
}

/* Returns a machine with a board and 52 cards, whose START has just been accepted. */
static inline struct fixture *fixture_dealing(uint32_t kind, uint8_t mode, const char *rules)
{
	struct fixture *fixture = fixture_new(kind);

	fixture_rule(fixture, rules);
	fixture_cards(fixture, 52);
	fixture_insert(fixture);
	if (kind == DEALBOX_CAP_STORED_PLAN)
		fixture_load_mode(fixture, mode);
	else
		fixture->route = true;
	assert_int_equal(fixture_start(fixture, mode), DEALBOX_ERR_OK);
	return fixture;
}

#endif
