/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine on the bench: virtual time, every event kept. For the tests of the emulator's
 * pure parts.
 */
#ifndef EMULATOR_RIG_H
#define EMULATOR_RIG_H

#include <setjmp.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "machine.h"

#define RIG_EVENTS_MAX	8192
#define RIG_PATIENCE	120000000ULL	/* µs of virtual time until something must have happened */

#define RIG_ALL_CAPS	(DEALBOX_CAP_EXIT_SENSORS | DEALBOX_CAP_BOARD_READER | \
			 DEALBOX_CAP_FACE_SENSOR | DEALBOX_CAP_DOUBLE_FEED_SENSOR | \
			 DEALBOX_CAP_TEST_DEAL | DEALBOX_CAP_KEYS | DEALBOX_CAP_BY_CARD | \
			 DEALBOX_CAP_BY_POSITION | DEALBOX_CAP_CAPTURE)

struct rig {
	struct machine *m;
	struct scenario *scenario;
	uint64_t now;
	uint32_t sequence;
	struct wire_event events[RIG_EVENTS_MAX];
	unsigned int count;	/* events that came */
	unsigned int seen;	/* number of events that the test has waited for */
	struct machine_board account;	/* the last one */
	unsigned int accounts, saves;
	uint32_t saved_insertion;
	bool route;		/* host-routed: the rig answers each card, see rig_route() */
	uint8_t at[DEALBOX_MAX_CARDS];	/* 1 + position at which the card was routed, 0 = it was not */
	bool deaf;		/* does not fetch */
};

static inline void rig_account(void *context, const struct machine_board *board)
{
	struct rig *rig = context;

	rig->account = *board;
	rig->accounts++;
}

static inline void rig_save(void *context, const struct machine_memory *memory)
{
	struct rig *rig = context;

	rig->saved_insertion = memory->insertion;
	rig->saves++;
}

static inline struct machine_config rig_config(uint32_t kind)
{
	return (struct machine_config){
		.speed = 1, .seed = 7,
		.desc = {
			.reader = DEALBOX_READER_CAMERA, .version = WIRE_VERSION, .pockets = 4,
			.pocket_capacity = 64, .hopper = 220, .plan_entries = 64,
			.capabilities = kind | RIG_ALL_CAPS,
			.gate_deadline_us = kind == DEALBOX_CAP_HOST_ROUTED ? 20000 : 0,
		},
		.info = { .version = WIRE_VERSION, .firmware = 1 << 24, .hardware = 1,
			  .name = "bench" },
	};
}

static inline void rig_rule(struct rig *rig, const char *rule)
{
	char error[400];

	if (!scenario_parse(rig->scenario, "test", rule, strlen(rule), error, sizeof(error)))
		fail_msg("%s", error);
}

/* A configured machine; no board, no cards. */
static inline struct rig *rig_new_config(struct machine_config config)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	rig->now = 1000000;
	rig->scenario = scenario_new();
	config.scenario = rig->scenario;
	config.context = rig;
	config.account = rig_account;
	config.save = rig_save;
	rig->m = machine_new(&config, NULL, rig->now);
	assert_non_null(rig->m);
	machine_configure(rig->m);
	return rig;
}

static inline struct rig *rig_new(uint32_t kind)
{
	return rig_new_config(rig_config(kind));
}

static inline void rig_free(struct rig *rig)
{
	machine_free(rig->m);
	scenario_free(rig->scenario);
	free(rig);
}

/* Cards 0..count-1 in order into the hopper. */
static inline void rig_cards(struct rig *rig, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		pile_put_bottom(machine_hopper(rig->m), (struct card){ .number = i % 52,
								       .pack = i / 52 });
	machine_hopper_changed(rig->m);
}

static inline void rig_gate(struct rig *rig, const struct wire_event *read, uint8_t pocket,
			    uint8_t reason, uint32_t first)
{
	uint8_t buf[WIRE_GATE_SIZE];
	struct wire_gate gate = {
		.pocket = pocket, .reason = reason, .position = read->position,
		.number = read->number, .insertion = read->insertion, .first = first,
	};

	dealbox_encode_gate(buf, &gate);
	machine_gate(rig->m, buf, sizeof(buf));
}

/* As a host does: position % 4, but jokers and cards that were already dealt are held. */
static inline void rig_route(struct rig *rig, const struct wire_event *event)
{
	if (event->type == DEALBOX_EV_DEAL_STARTED)
		memset(rig->at, 0, sizeof(rig->at));
	if (event->type != DEALBOX_EV_CARD_READ || event->card >= DEALBOX_MAX_CARDS)
		return;
	if (rig->at[event->card] && rig->at[event->card] != event->position + 1) {
		rig_gate(rig, event, DEALBOX_NONE, DEALBOX_EV_REPEATED_CARD,
			 rig->at[event->card] - 1);
	} else if (event->card >= 52) {
		rig_gate(rig, event, DEALBOX_NONE, DEALBOX_EV_NOT_IN_PLAN, 0);
	} else {
		rig->at[event->card] = event->position + 1;
		rig_gate(rig, event, event->position % 4, 0, 0);
	}
}

static inline void rig_collect(struct rig *rig)
{
	uint8_t buf[WIRE_EVENT_SIZE];

	while (!rig->deaf && machine_fetch(rig->m, buf, sizeof(buf))) {
		struct wire_event *event = &rig->events[rig->count++];

		assert_true(rig->count < RIG_EVENTS_MAX);
		dealbox_decode_event(buf, event);
		if (rig->route)
			rig_route(rig, event);
	}
}

/* One thing happens, not later than until. False: nothing was to happen any more. */
static inline bool rig_step(struct rig *rig, uint64_t until)
{
	uint64_t next = machine_next(rig->m);

	if (machine_fetch_at(rig->m) < next && machine_fetch_at(rig->m) > rig->now)
		next = machine_fetch_at(rig->m);
	if (next > until)
		return false;
	if (next > rig->now)
		rig->now = next;
	machine_run(rig->m, rig->now);
	rig_collect(rig);
	return true;
}

/* So much time goes by. */
static inline void rig_pass(struct rig *rig, uint64_t us)
{
	uint64_t until = rig->now + us;

	rig_collect(rig);
	while (rig_step(rig, until))
		;
	rig->now = until;
	machine_run(rig->m, until);
	rig_collect(rig);
}

/* Waits for an event of the type; those before it are passed over. */
static inline const struct wire_event *rig_until(struct rig *rig, uint8_t type)
{
	uint64_t until = rig->now + RIG_PATIENCE;

	rig_collect(rig);
	for (;;) {
		while (rig->seen < rig->count)
			if (rig->events[rig->seen++].type == type)
				return &rig->events[rig->seen - 1];
		if (!rig_step(rig, until))
			fail_msg("event %02x did not come", type);
	}
}

/* Returns the number of events of that type so far. */
static inline unsigned int rig_count(struct rig *rig, uint8_t type)
{
	unsigned int i, count = 0;

	rig_collect(rig);
	for (i = 0; i < rig->count; i++)
		count += rig->events[i].type == type;
	return count;
}

static inline struct wire_result rig_result(struct rig *rig)
{
	struct wire_result result;
	uint8_t buf[64];

	assert_int_equal(machine_query(rig->m, WIRE_GET_RESULT, 0, buf), WIRE_RESULT_SIZE);
	dealbox_decode_result(buf, &result);
	return result;
}

static inline struct wire_status rig_status(struct rig *rig)
{
	struct wire_status status;
	uint8_t buf[64];

	assert_int_equal(machine_query(rig->m, WIRE_GET_STATUS, 0, buf), WIRE_STATUS_SIZE);
	assert_true(dealbox_decode_status(buf, &status));
	return status;
}

static inline struct dealbox_counters rig_counters(struct rig *rig)
{
	struct dealbox_counters counters;
	uint8_t buf[64];

	assert_int_equal(machine_query(rig->m, WIRE_GET_COUNTERS, 0, buf), WIRE_COUNTERS_SIZE);
	dealbox_decode_counters(buf, &counters);
	return counters;
}

/* A command with the next sequence number; its error code. *detail may be NULL. */
static inline uint8_t rig_command(struct rig *rig, uint8_t request, uint32_t a, uint32_t b,
				  uint32_t c, uint32_t *detail)
{
	struct wire_command cmd = { .sequence = ++rig->sequence, .a = a, .b = b, .c = c };
	uint8_t buf[WIRE_COMMAND_SIZE];
	struct wire_result result;
	bool accepted;

	dealbox_encode_command(buf, &cmd);
	accepted = machine_command(rig->m, request, 0, buf, sizeof(buf));
	result = rig_result(rig);
	assert_int_equal(result.sequence, cmd.sequence);
	assert_int_equal(result.request, request);
	assert_int_equal(accepted, result.error == DEALBOX_ERR_OK);
	if (detail)
		*detail = result.detail;
	return result.error;
}

static inline uint8_t rig_do(struct rig *rig, uint8_t request)
{
	return rig_command(rig, request, 0, 0, 0, NULL);
}

/* Loads a plan; the error of PLAN_LOADED. */
static inline uint8_t rig_load(struct rig *rig, struct wire_plan *plan)
{
	uint8_t buf[WIRE_PLAN_MAX];
	size_t size;

	dealbox_count_plan(plan);
	size = dealbox_encode_plan(buf, plan);
	assert_int_equal(rig_command(rig, WIRE_LOAD, plan->plan_id, size, 0, NULL), 0);
	assert_true(machine_bulk(rig->m, buf, size));
	return rig_until(rig, DEALBOX_EV_PLAN_LOADED)->arg[0];
}

/* By card or by position: entry k goes into pocket k % 4. Capture: pocket 0. */
static inline struct wire_plan rig_plan(uint8_t mode, uint8_t entries)
{
	struct wire_plan plan = { .plan_id = 0x100u + mode, .mode = mode, .entries = entries };
	unsigned int i;

	for (i = 0; i < entries; i++)
		plan.pocket[i] = i % 4;
	return plan;
}

static inline void rig_load_mode(struct rig *rig, uint8_t mode)
{
	struct wire_plan plan = rig_plan(mode, mode == DEALBOX_PLAN_CAPTURE ? 1 : 52);

	assert_int_equal(rig_load(rig, &plan), DEALBOX_ERR_OK);
}

static inline uint32_t rig_insert(struct rig *rig)
{
	assert_int_equal(machine_insert(rig->m, 3), 0);
	return machine_view(rig->m).board->insertion;
}

/* START of the plan that rig_load_mode() loads, for the board that is there; the error code. */
static inline uint8_t rig_start(struct rig *rig, uint8_t mode)
{
	uint32_t insertion = machine_view(rig->m).board->insertion;
	bool routed = machine_view(rig->m).desc->capabilities & DEALBOX_CAP_HOST_ROUTED;
	uint32_t c = !routed ? 0 : mode == DEALBOX_PLAN_CAPTURE ? WIRE_START_CAPTURE : 52;

	return rig_command(rig, DEALBOX_OP_START, 0x100u + mode, insertion, c, NULL);
}

/* A machine with a board, 52 cards, and a deal that has just been accepted. */
static inline struct rig *rig_dealing(uint32_t kind, uint8_t mode, const char *rules)
{
	struct rig *rig = rig_new(kind);

	rig_rule(rig, rules);
	rig_cards(rig, 52);
	rig_insert(rig);
	if (kind == DEALBOX_CAP_STORED_PLAN)
		rig_load_mode(rig, mode);
	else
		rig->route = true;
	assert_int_equal(rig_start(rig, mode), DEALBOX_ERR_OK);
	return rig;
}

#endif
