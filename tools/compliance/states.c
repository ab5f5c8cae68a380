// SPDX-License-Identifier: LGPL-2.1-or-later
/* How a machine is brought into a state. */
#include <string.h>

#include "run.h"
#include "tests.h"

#define PLAN_NUMBER	0x434f4d50u	/* "COMP" */
#define DEFAULT_CARDS	12u
/* for a board that somebody else exchanges */
#define BOARD_WAIT_MS	3000
#define DEAL_WAIT_MS	60000

/* --- plans ------------------------------------------------------------------------------------ */

static void plan_of(struct run *r, struct wire_plan *plan, uint8_t mode, unsigned int entries)
{
	unsigned int i;

	memset(plan, 0, sizeof(*plan));
	plan->plan_id = PLAN_NUMBER + mode;
	plan->mode = mode;
	plan->entries = (uint8_t)entries;
	for (i = 0; i < entries; i++)
		plan->pocket[i] = (uint8_t)(i % r->desc.pockets);
	dealbox_count_plan(plan);
}

void plan_by_card(struct run *r, struct wire_plan *plan, unsigned int entries)
{
	plan_of(r, plan, DEALBOX_PLAN_BY_CARD, entries);
}

void plan_by_position(struct run *r, struct wire_plan *plan, unsigned int entries)
{
	plan_of(r, plan, DEALBOX_PLAN_BY_POSITION, entries);
}

void plan_default(struct run *r, struct wire_plan *plan)
{
	unsigned int room = r->desc.pocket_capacity * (unsigned int)r->desc.pockets;
	unsigned int n = DEFAULT_CARDS;

	if (n > r->desc.plan_entries)
		n = r->desc.plan_entries;
	if (n > room)
		n = room;
	if (HAS(r, BY_POSITION) || ROUTED(r))
		plan_by_position(r, plan, n);
	else
		plan_by_card(r, plan, r->desc.plan_entries < 52 ? r->desc.plan_entries : 52);
}

uint8_t load(struct run *r, const struct wire_plan *plan)
{
	uint8_t block[WIRE_PLAN_MAX], error;
	const struct event *event;
	size_t size;
	int ret;

	r->plan = *plan;
	r->observer.plan = &r->plan;
	if (r->access->local) {
		error = load_local(r, plan);
		if (!error && !ROUTED(r))
			await(r, DEALBOX_EV_PLAN_LOADED, 2000, "R-3-5");
		return error;
	}
	if (ROUTED(r))
		return 0;
	size = dealbox_encode_plan(block, plan);
	error = command(r, WIRE_LOAD, plan->plan_id, (uint32_t)size, 0, NULL);
	if (!check(r, error == DEALBOX_ERR_BAD_VALUE ? "R-2.3-5" : "R-5-1", !error,
		   "LOAD is refused in state %s with error %u", state_name(r->observer.state),
		   error))
		end_test(r);
	ret = plan_out(r, block, size);
	check(r, "R-3-12", ret >= 0, "the plan block ends with an error: %s", strerror(-ret));
	event = await(r, DEALBOX_EV_PLAN_LOADED, 2000, "R-3-5");
	return (uint8_t)event->e.arg[0];
}

uint8_t start(struct run *r)
{
	uint32_t c = 0;

	if (ROUTED(r))
		c = r->plan.mode == DEALBOX_PLAN_CAPTURE ? WIRE_START_CAPTURE : r->plan.feed;
	r->observer.plan = &r->plan;
	r->event_seen = r->event_count;
	return command(r, DEALBOX_OP_START, r->plan.plan_id, r->observer.insertion, c, NULL);
}

/* --- states ----------------------------------------------------------------------------------- */

static bool board_is_good(const struct run *r)
{
	const struct observer *o = &r->observer;

	return o->board && !o->spent && !o->captured && !o->at_power_on;
}

/* Unlock the board, if it can be locked. */
static void release(struct run *r)
{
	uint8_t error;

	if (!r->observer.board || !HAS(r, BOARD_LOCK))
		return;
	error = command(r, DEALBOX_OP_RELEASE_BOARD, 0, 0, 0, NULL);
	check(r, "R-5-1", error != DEALBOX_ERR_STATE, "RELEASE_BOARD is refused in state %s",
	      state_name(r->observer.state));
}

void take_out(struct run *r)
{
	release(r);
	if (step(r, "remove"))
		return;
	check(r, "R-5-15", !HAS(r, BOARD_LOCK) || !r->hands.locked,
	      "the board is locked behind RELEASE_BOARD");
	not_run(r, "the board was not taken out");
}

void fresh_board(struct run *r)
{
	uint64_t end = now_us() + BOARD_WAIT_MS * 1000ULL;

	status(r);
	if (has_hands(r)) {
		if (!board_is_good(r)) {
			if (r->observer.board)
				take_out(r);
			do_step(r, "hopper fill");
			do_step(r, "insert");
		}
		/* what was done a moment ago has not been fetched yet */
		if (!r->observer.hopper)
			status(r);
		if (!r->observer.hopper)
			do_step(r, "hopper fill");
	} else if (!board_is_good(r)) {
		release(r);
	}
	while (!board_is_good(r) && now_us() < end)
		fetch(r, 20);
	status(r);
	if (!board_is_good(r) || !r->observer.hopper)
		not_run(r, "there is no empty board, or no card: a person or a fixture is needed");
	r->event_seen = r->event_count;
}

void settle(struct run *r)
{
	struct wire_status s;
	uint32_t detail;
	uint8_t error;
	int tries;

	s = status(r);
	if (has_faults(r) && s.state != DEALBOX_STATE_DEALING)
		step(r, "thaw");
	for (tries = 0; tries < 3 && s.state != DEALBOX_STATE_IDLE && s.state != DEALBOX_STATE_DONE;
	     tries++) {
		if (s.state == DEALBOX_STATE_FAULT) {
			if (has_hands(r) && s.flags & DEALBOX_STATUS_CARD_AT_READER)
				step(r, "empty");
			if (has_hands(r) && s.flags & DEALBOX_STATUS_COVER_OPEN)
				step(r, "cover close");
			error = command(r, DEALBOX_OP_CLEAR_FAULT, 0, 0, 0, NULL);
			check(r, "R-5-1", error != DEALBOX_ERR_STATE,
			      "CLEAR_FAULT is refused in state FAULT");
			if (!error)
				await(r, DEALBOX_EV_FAULT_CLEARED, 1500, "R-5.1-1");
			else if (has_hands(r))
				step(r, "empty");
		} else {
			/* before cards move again, or the deal might end */
			error = command(r, DEALBOX_OP_ABORT, 0, 0, 0, &detail);
			check(r, "R-5-1",
			      error != DEALBOX_ERR_STATE || detail != s.state ||
			      r->observer.aborting,
			      "ABORT is refused in state %s", state_name(s.state));
			if (has_faults(r))
				step(r, "thaw");
			if (!error)
				await_end(r, 3000);
		}
		s = status(r);
	}
	if (s.flags & DEALBOX_STATUS_COVER_OPEN && has_hands(r))
		step(r, "cover close");
	if (s.flags & DEALBOX_STATUS_CARD_AT_READER && has_hands(r))
		step(r, "empty");
	s = status(r);
	if (s.state != DEALBOX_STATE_IDLE && s.state != DEALBOX_STATE_DONE)
		not_run(r, "the machine cannot be brought back to IDLE: it is in state %s",
			state_name(s.state));
	r->event_seen = r->event_count;
}

void ready(struct run *r)
{
	struct wire_plan plan;
	uint8_t error;

	settle(r);
	fresh_board(r);
	plan_default(r, &plan);
	r->route = true;
	error = load(r, &plan);
	if (!check(r, "R-3-12", !error, "a good plan is refused with error %u", error))
		end_test(r);
}

/* A deal in which no card moves from the third (or the last) on, where somebody can hold them. */
static void deal_and_hold(struct run *r)
{
	uint8_t error, last, i;

	ready(r);
	last = r->plan.feed < 3 ? (uint8_t)(r->plan.feed - 1) : 2;
	if (has_faults(r))
		do_step(r, "inject position %u: freeze", last);
	error = start(r);
	if (!check(r, "R-5-1", !error, "START is refused with error %u", error))
		end_test(r);
	await(r, DEALBOX_EV_DEAL_STARTED, 1500, "R-5.1-1");
	if (has_faults(r)) {
		/* a host routes the cards before */
		for (i = 0; i < last; i++)
			await(r, DEALBOX_EV_CARD_ROUTED, 5000, "R-5.1-1");
		do_step(r, "wait frozen");
	}
}

/* No pocket for seven cards of eight, or even fewer pockets: a card without one comes soon. */
static void plan_sparse(struct run *r, struct wire_plan *plan)
{
	unsigned int room = r->desc.pocket_capacity * (unsigned int)r->desc.pockets, used = 0, i;

	plan_by_card(r, plan, 52);
	for (i = 0; i < 52; i++) {
		bool dealt = i % 8 == 0 && used < room && used < r->desc.plan_entries;

		plan->pocket[i] = dealt ? (uint8_t)(used % r->desc.pockets) : DEALBOX_NONE;
		used += dealt;
	}
	dealbox_count_plan(plan);
}

void reach(struct run *r, uint8_t state)
{
	struct wire_plan plan;
	uint8_t error;

	switch (state) {
	case DEALBOX_STATE_IDLE:
		ready(r);
		break;
	case DEALBOX_STATE_DEALING:
		deal_and_hold(r);
		break;
	case DEALBOX_STATE_PAUSED:
		deal_and_hold(r);
		error = command(r, DEALBOX_OP_PAUSE, 0, 0, 0, NULL);
		check(r, "R-5-1", !error, "PAUSE is refused in DEALING with error %u", error);
		if (has_faults(r))
			step(r, "thaw");
		await(r, DEALBOX_EV_PAUSED, 3000, "R-5.1-1");
		break;
	case DEALBOX_STATE_HELD:
		settle(r);
		fresh_board(r);
		if (ROUTED(r) || (HAS(r, BY_CARD) && r->desc.plan_entries >= 52)) {
			plan_sparse(r, &plan);
			error = load(r, &plan);
			check(r, "R-3-12", !error, "a good plan is refused with error %u", error);
		} else if (has_faults(r)) {
			ready(r);
			do_step(r, "inject on feed: feed-timeout");
		} else {
			not_run(r, "nothing holds this machine");
		}
		r->route = true;
		error = start(r);
		check(r, "R-5-1", !error, "START is refused with error %u", error);
		if (!await_end(r, DEAL_WAIT_MS) || r->observer.state != DEALBOX_STATE_HELD)
			not_run(r, "the machine did not become HELD");
		break;
	case DEALBOX_STATE_FAULT:
		/* A person needs more time for the cover than a deal has. */
		if (has_faults(r))
			deal_and_hold(r);
		else
			reach(r, DEALBOX_STATE_PAUSED);
		do_step(r, "cover open");
		await(r, DEALBOX_EV_COVER_OPENED, 3000, "R-4.3-1");
		do_step(r, "cover close");
		if (has_faults(r))
			step(r, "thaw");
		break;
	case DEALBOX_STATE_DONE:
		ready(r);
		error = start(r);
		check(r, "R-5-1", !error, "START is refused with error %u", error);
		if (!await_end(r, DEAL_WAIT_MS) || r->observer.state != DEALBOX_STATE_DONE)
			not_run(r, "the deal did not come to its end");
		break;
	}
	status(r);
	if (r->observer.state != state)
		not_run(r, "the machine is not in state %s", state_name(state));
}
