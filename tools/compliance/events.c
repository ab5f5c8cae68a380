// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events (§4), configuration (§1.2) and what the machine keeps without power. */
#include <errno.h>
#include <string.h>

#include "run.h"
#include "tests.h"

/* Return the number of events from the last STATE_LOST on, without those of unknown types. */
static unsigned int told(const struct run *r)
{
	unsigned int count = 0;
	size_t i = r->event_count;

	while (i--) {
		count += event_is_known(r->events[i].e.type);
		if (r->events[i].e.type == DEALBOX_EV_STATE_LOST)
			break;
	}
	return count;
}

/* Behind STATE_LOST the machine tells what is true (R-5.2-8): compare with what was before. */
static void reconfigure(struct run *r, uint8_t reason)
{
	const struct observer *o = &r->observer;
	bool board, cover, hopper;
	struct wire_result last;
	uint32_t insertion;

	status(r);
	board = o->board;
	cover = o->cover_open;
	hopper = o->hopper;
	insertion = o->insertion;
	/* events that were not fetched are forgotten */
	if (has_faults(r)) {
		do_step(r, cover ? "cover close" : "cover open");
		do_step(r, cover ? "cover open" : "cover close");
	}
	configure(r, reason);
	check(r, "R-5.2-8", o->board == board, "a board is %s behind STATE_LOST",
	      o->board ? "in" : "out");
	check(r, "R-5.2-8", !board || o->insertion == insertion,
	      "insertion %u is %u behind STATE_LOST", insertion, o->insertion);
	check(r, "R-5.2-8", o->cover_open == cover, "COVER_OPEN behind STATE_LOST is wrong");
	check(r, "R-5.2-8", o->hopper == hopper, "HOPPER_LOADED behind STATE_LOST is wrong");
	last = get_result(r);
	check(r, "R-1.2-1", !last.sequence && !last.request && !last.error && !last.detail,
	      "the last command, number %u, is not forgotten", last.sequence);
	check(r, "R-1.2-1", told(r) == 1u + o->board + o->cover_open + o->hopper,
	      "there are %u events behind the configuration", told(r));
}

static void configured(struct run *r)
{
	struct wire_command wire = { 0 };
	struct wire_result last;
	uint8_t data[16];

	settle(r);
	if (has_hands(r))
		fresh_board(r);
	command(r, DEALBOX_OP_LOCATE, 0, 0, 0, NULL);
	wire.sequence = get_result(r).sequence;
	reconfigure(r, DEALBOX_LOST_RESET);
	/* the number of the command before is a new one now */
	dealbox_encode_command(data, &wire);
	check(r, "R-1.2-1",
	      command_raw(r, DEALBOX_OP_PAUSE, 0, data, 16) < 0 || HAS(r, REFUSES_BY_RESULT),
	      "the number of the last command is known behind the configuration");
	last = get_result(r);
	check(r, "R-1.2-1", last.request == DEALBOX_OP_PAUSE, "the last command is not forgotten");
	if (!has_hands(r))
		return;
	do_step(r, "cover open");
	reconfigure(r, DEALBOX_LOST_RESET);
	do_step(r, "cover close");
	do_step(r, "hopper empty");
	reconfigure(r, DEALBOX_LOST_RESET);
	do_step(r, "hopper fill");
	status(r);
}

/* SET_CONFIGURATION 0: no event is kept (R-1.2-10). */
static void unconfigured(struct run *r)
{
	settle(r);
	status(r);
	check(r, "R-1.2-10", control(r, 0x00, 9, 0, 0, NULL, 0) >= 0, "SET_CONFIGURATION 0 fails");
	do_step(r, "cover open");
	do_step(r, "cover close");
	do_step(r, "cover open");
	configure(r, DEALBOX_LOST_RESET);
	check(r, "R-1.2-10", told(r) == 1u + r->observer.board + 1 + r->observer.hopper,
	      "%u events behind STATE_LOST", told(r) - 1);
	check(r, "R-1.2-10", r->observer.cover_open, "COVER_OPEN is missing behind STATE_LOST");
	do_step(r, "cover close");
	status(r);
}

static void restarted(struct run *r)
{
	uint32_t insertion;

	ready(r);
	insertion = r->observer.insertion;
	observer_configured(&r->observer, DEALBOX_LOST_FIRMWARE);
	do_step(r, "reset");
	await(r, DEALBOX_EV_STATE_LOST, 2000, "R-1.2-3");
	check(r, "R-1.2-3", !status(r).plan_id || ROUTED(r), "the plan is there behind STATE_LOST");
	check(r, "R-1.2-6", r->observer.insertion == insertion && !r->observer.spent,
	      "an unspent insertion is another behind STATE_LOST");
	check(r, "R-1.2-3", !get_result(r).sequence, "the last command is known behind STATE_LOST");
	/* during a deal: IDLE, and the insertion is spent */
	reach(r, DEALBOX_STATE_DEALING);
	observer_configured(&r->observer, DEALBOX_LOST_FIRMWARE);
	do_step(r, "reset");
	step(r, "thaw");
	await(r, DEALBOX_EV_STATE_LOST, 2000, "R-1.2-3");
	status(r);
	check(r, "R-1.2-5", r->observer.state == DEALBOX_STATE_IDLE, "the state is not IDLE");
	settle(r);
}

/* Each happening is told once, and nothing else is. */
static void expect_event(struct run *r, const char *words, uint8_t type)
{
	const struct event *event;

	do_step(r, "%s", words);
	event = next_event(r, has_faults(r) ? 1000 : 10000);
	check(r, "R-4.1-1", event && event->e.type == type, "%s comes at the step \"%s\", not %s",
	      event ? event_name(event->e.type) : "nothing", words, event_name(type));
	status(r);
	event = next_event(r, 20);
	check(r, "R-4.1-1", !event, "%s comes too, at the step \"%s\"",
	      event ? event_name(event->e.type) : "", words);
}

static void happenings(struct run *r)
{
	settle(r);
	fresh_board(r);
	r->event_seen = r->event_count;
	expect_event(r, "cover open", DEALBOX_EV_COVER_OPEN);
	expect_event(r, "cover close", DEALBOX_EV_COVER_CLOSED);
	expect_event(r, "hopper empty", DEALBOX_EV_HOPPER_EMPTY);
	expect_event(r, "hopper fill", DEALBOX_EV_HOPPER_LOADED);
	if (HAS(r, BOARD_LOCK))
		command(r, DEALBOX_OP_RELEASE_BOARD, 0, 0, 0, NULL);
	expect_event(r, "remove", DEALBOX_EV_BOARD_REMOVED);
	expect_event(r, "insert", DEALBOX_EV_BOARD_INSERTED);
	if (has_faults(r) && HAS(r, BOARD_READER)) {
		command(r, DEALBOX_OP_RELEASE_BOARD, 0, 0, 0, NULL);
		expect_event(r, "remove", DEALBOX_EV_BOARD_REMOVED);
		expect_event(r, "insert 77", DEALBOX_EV_BOARD_INSERTED);
		check(r, "R-4.1-1", r->observer.board_number == 77, "board 77 is read as %u",
		      r->observer.board_number);
	}
}

static void keys(struct run *r)
{
	static const char *const names[] = { NULL, "start", "stop", "release" };
	const struct event *event;
	uint8_t state = status(r).state;
	unsigned int key;

	for (key = 1; key <= 3; key++) {
		do_step(r, "key %s", names[key]);
		event = await(r, DEALBOX_EV_KEY, 10000, "R-4.1-1");
		check(r, "R-4.1-1", event->e.code == key && event->e.arg[0] == 1,
		      "the %s key is KEY with code %u, arg 0 %u", names[key], event->e.code,
		      event->e.arg[0]);
		event = await(r, DEALBOX_EV_KEY, 10000, "R-4.1-1");
		check(r, "R-4.1-1", event->e.code == key && !event->e.arg[0],
		      "the %s key let go is KEY with code %u, arg 0 %u", names[key], event->e.code,
		      event->e.arg[0]);
	}
	check(r, "R-5-19", status(r).state == state, "a key changes the state");
	if (has_faults(r)) {
		reach(r, DEALBOX_STATE_DEALING);
		do_step(r, "key start");
		do_step(r, "key release");
		check(r, "R-5-19", status(r).state == DEALBOX_STATE_DEALING, "a key ends DEALING");
		do_step(r, "key stop");
		do_step(r, "thaw");
		event = await(r, DEALBOX_EV_PAUSED, 3000, "R-5-18");
		check(r, "R-5-18", event->e.code == DEALBOX_PAUSED_BY_KEY,
		      "PAUSED by the key has the reason %u", event->e.code);
		do_step(r, "key start");
		check(r, "R-5-19", status(r).state == DEALBOX_STATE_PAUSED,
		      "the start key ends PAUSED");
		do_step(r, "key stop");
		check(r, "R-5-19", status(r).state == DEALBOX_STATE_PAUSED, "a key ends PAUSED");
		settle(r);
	}
	if (has_faults(r) && HAS(r, TEST_DEAL)) {
		uint8_t error,
			n = (uint8_t)(r->desc.pockets < 2 || r->desc.plan_entries < 2 ? 1 : 2);

		fresh_board(r);
		do_step(r, "inject on event DEAL_STARTED: freeze");
		error = command(r, DEALBOX_OP_TEST_DEAL, 0, r->observer.insertion, n, NULL);
		check(r, "R-7-1", !error, "TEST_DEAL is refused with error %u", error);
		await(r, DEALBOX_EV_DEAL_STARTED, 2000, "R-5.1-1");
		do_step(r, "wait frozen");
		do_step(r, "key stop");
		do_step(r, "thaw");
		check(r, "R-5-18", await_maybe(r, DEALBOX_EV_PAUSED, 3000),
		      "the stop key does not pause a test deal");
		settle(r);
	}
}

/* LOCATE makes a lamp blink for a time, or until it is stopped. */
static void lamp(struct run *r)
{
	settle(r);
	check(r, "R-2.3-7", !command(r, DEALBOX_OP_LOCATE, 60, 0, 0, NULL), "LOCATE is refused");
	if (!step(r, "lamp on"))
		not_supported(r, "the machine has no lamp, or nobody can see it");
	check(r, "R-2.3-7", !command(r, DEALBOX_OP_LOCATE, 0, 0, 0, NULL),
	      "LOCATE with 0 is refused");
	check(r, "R-2.2-3", step(r, "lamp off"), "the lamp blinks behind LOCATE with 0");
	command(r, DEALBOX_OP_LOCATE, 2, 0, 0, NULL);
	expect_quiet(r, "R-4.1-1", 3000, "while the lamp blinks");
	check(r, "R-2.2-3", step(r, "lamp off"), "the lamp blinks 3 s behind LOCATE for 2 s");
	status(r);
}

/* The host does not fetch, and events come: 64 are kept, the oldest are dropped. */
static void queue(struct run *r)
{
	uint32_t first, last, number;
	uint8_t data[DATA_MAX] = { 0 };
	struct wire_status s = { 0 };
	size_t before, i;
	int times;

	settle(r);
	status(r);
	for (times = 0; times < 400; times++)
		if (!step(r, times & 1 ? "cover close" : "cover open"))
			not_run(r, "the cover was not moved");
	before = r->event_count;
	r->deferring = true;
	query(r, WIRE_GET_STATUS, 0, data, WIRE_STATUS_SIZE);
	dealbox_decode_status(data, &s);
	while (fetch(r, 100))
		;
	r->event_judged = r->event_count;
	r->deferring = false;
	if (!check(r, "R-4-11", r->event_count > before, "no event was kept"))
		end_test(r);
	first = r->events[before].e.number;
	last = r->events[r->event_count - 1].e.number;
	check(r, "R-4-11", r->event_count - before >= 64, "%zu events were kept",
	      r->event_count - before);
	for (i = before, number = first; i < r->event_count; i++, number++)
		if (!check(r, "R-4-12", r->events[i].e.number == number,
			   "event %u comes where %u is expected: not the oldest was dropped",
			   r->events[i].e.number, number))
			break;
	check(r, "R-4-12", last == s.next_event - 1,
	      "the newest event was dropped");
	r->observer.next = last + 1;
	r->observer.clock = r->events[r->event_count - 1].e.clock_us;
	s = status(r);
	check(r, "R-4-12",
	      s.next_event == last + 1 && last == first + (uint32_t)(r->event_count - before) - 1,
	      "GET_STATUS numbers the next event %u behind %u", s.next_event, last);
}

/* GET_STATUS counts microseconds, forward. */
static void clocks(struct run *r)
{
	struct wire_status a, b;
	uint64_t before, between, after, passed;
	double low, high;

	uncertainty_begin();
	before = now_us();
	a = status(r);
	between = now_us();
	while (now_us() - between < 150000)
		fetch(r, 20);
	passed = now_us();
	b = status(r);
	after = now_us();
	low = (double)(passed - between) * 0.95 - 2000;
	high = (double)(after - before) * 1.05 + 2000;
	check(r, "R-4-4", b.clock_us - a.clock_us >= low && b.clock_us - a.clock_us <= high,
	      "the machine's clock advances by %u us in %.0f to %.0f us", b.clock_us - a.clock_us,
	      low, high);
}

/* An event has the time when it happened, not that when it was fetched. */
static void when_it_happened(struct run *r)
{
	static const char *const steps[] = { "cover open", "cover close" };
	uint8_t data[DATA_MAX] = { 0 };
	const struct event *event;
	struct wire_status s;
	uint32_t next;
	size_t i;

	settle(r);
	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		status(r);
		do_step(r, "%s", steps[i]);
		next = r->observer.next;
		query(r, WIRE_GET_STATUS, 0, data, WIRE_STATUS_SIZE);
		dealbox_decode_status(data, &s);
		if (s.next_event == next)
			not_run(r, "the step \"%s\" was not done at once", steps[i]);
		event = next_event(r, 1000);
		check(r, "R-4-4", event && (int32_t)(event->e.clock_us - s.clock_us) <= 0,
		      "the clock of %s is %d us behind that of a GET_STATUS which has numbered it",
		      event ? event_name(event->e.type) : "no event",
		      event ? (int32_t)(event->e.clock_us - s.clock_us) : 0);
		status(r);
	}
}

static void power(struct run *r)
{
	struct dealbox_counters before, behind;
	uint32_t insertion, seconds;
	uint8_t error;

	ready(r);
	before = counters(r);
	insertion = r->observer.insertion;
	do_step(r, "power-cycle");
	/* the machine comes back as another connection */
	if (!reconnect(r, DEALBOX_LOST_POWER_ON)) {
		check(r, "R-1.2-2", false, "the machine does not come back: %s", r->why);
		r->gone = true;
		end_test(r);
	}
	behind = counters(r);
	seconds = behind.seconds - before.seconds;
	check(r, "R-2.1-7",
	      behind.boards_dealt == before.boards_dealt && behind.cards_fed == before.cards_fed &&
		      behind.cards_read == before.cards_read &&
		      behind.boards_voided == before.boards_voided,
	      "the counters are not kept without power");
	check(r, "R-2.1-7", behind.power_ons == before.power_ons + 1, "%u power-ons behind %u",
	      behind.power_ons, before.power_ons);
	check(r, "R-2.1-7", seconds < 100, "%u seconds were added to the running time", seconds);
	check(r, "R-5.2-7", r->observer.board, "the board is not told behind power-on");
	check(r, "R-5.2-1", r->observer.insertion != insertion,
	      "a board has its old insertion %u at power-on", insertion);
	check(r, "R-5.2-7", r->observer.at_power_on,
	      "a board that was there at power-on is not in doubt");
	check(r, "R-5.2-7", !(status(r).flags & DEALBOX_STATUS_SPENT), "a board in doubt is spent");
	if (ROUTED(r) || HAS(r, STORED_PLAN)) {
		struct wire_plan plan = r->plan;
		uint32_t detail;

		load(r, &plan);
		error = command(r, DEALBOX_OP_START, plan.plan_id, r->observer.insertion,
				ROUTED(r) ? plan.feed : 0, &detail);
		check(r, "R-5.2-7",
		      error == DEALBOX_ERR_IN_DOUBT && detail == r->observer.insertion,
		      "START for a board in doubt: error %u, detail %u", error, detail);
		if (HAS(r, TEST_DEAL)) {
			error = command(r, DEALBOX_OP_TEST_DEAL, 0, r->observer.insertion, 1, NULL);
			check(r, "R-5.2-7", error == DEALBOX_ERR_IN_DOUBT,
			      "TEST_DEAL for a board in doubt: error %u", error);
		}
	}
	/* configured again it is in doubt still */
	reconfigure(r, DEALBOX_LOST_RESET);
	check(r, "R-5.2-7", r->observer.at_power_on, "SET_CONFIGURATION ends the doubt");
	ready(r);
	check(r, "R-5.2-7", !start(r), "a board that was taken out and put in is in doubt");
	settle(r);
}

/*
 * The power is cut while a board is in: whatever its insertion was, it is another, and the board is
 * in doubt.
 */
static void cut(struct run *r)
{
	uint32_t insertion = r->observer.insertion;
	uint8_t error;

	do_step(r, "power-cycle");
	if (has_faults(r))
		step(r, "thaw");
	if (!reconnect(r, DEALBOX_LOST_POWER_ON)) {
		r->gone = true;
		check(r, "R-1.2-2", false, "the machine does not come back: %s", r->why);
		end_test(r);
	}
	check(r, "R-5.2-1", r->observer.insertion != insertion, "the insertion %u is given twice",
	      insertion);
	check(r, "R-5.2-7", r->observer.at_power_on && !r->observer.spent,
	      "the board is not in doubt");
	check(r, "R-1.2-4", r->observer.state == DEALBOX_STATE_IDLE,
	      "the machine deals behind power-on");
	expect_quiet(r, "R-1.2-4", 100, "behind power-on");
	if (HAS(r, TEST_DEAL)) {
		error = command(r, DEALBOX_OP_TEST_DEAL, 0, insertion, 1, NULL);
		check(r, "R-5.2-1", error == DEALBOX_ERR_WRONG_INSERTION,
		      "TEST_DEAL for the insertion of before the power cut: error %u", error);
		error = command(r, DEALBOX_OP_TEST_DEAL, 0, r->observer.insertion, 1, NULL);
		check(r, "R-5.2-7", error == DEALBOX_ERR_IN_DOUBT,
		      "TEST_DEAL for a board in doubt: error %u", error);
	}
	settle(r);
}

/* Power cuts at each step of an insertion */
static void power_cuts(struct run *r)
{
	uint8_t state, error;

	/* unspent, without a plan and with one */
	settle(r);
	fresh_board(r);
	cut(r);
	ready(r);
	cut(r);
	/* START was accepted, and perhaps nothing has moved */
	ready(r);
	error = start(r);
	check(r, "R-5-1", !error, "START is refused with error %u", error);
	cut(r);
	/* DEAL_STARTED came, and nothing has moved */
	if (has_faults(r)) {
		ready(r);
		do_step(r, "inject on event DEAL_STARTED: freeze");
		error = start(r);
		check(r, "R-5-1", !error, "START is refused with error %u", error);
		await(r, DEALBOX_EV_DEAL_STARTED, 1500, "R-5.1-1");
		cut(r);
	}
	for (state = DEALBOX_STATE_DEALING; state <= DEALBOX_STATE_DONE; state++) {
		reach(r, state);
		cut(r);
	}
	/* spent, and in doubt already */
	cut(r);
	/* nothing is in */
	fresh_board(r);
	take_out(r);
	do_step(r, "power-cycle");
	if (!reconnect(r, DEALBOX_LOST_POWER_ON)) {
		r->gone = true;
		check(r, "R-1.2-2", false, "the machine does not come back: %s", r->why);
		end_test(r);
	}
	check(r, "R-5.2-7", !r->observer.board,
	      "a board is told behind power-on that was taken out before");
	do_step(r, "insert");
	ready(r);
	check(r, "R-5.2-7", !start(r), "a board that was put in behind power-on cannot be dealt");
	settle(r);
}

const struct test_row event_tests[] = {
	{ "events", "configured", "R-1.2-1 R-1.2-2 R-5.2-8",
	  "what SET_CONFIGURATION forgets and tells",
	  .run = configured },
	{ "events", "unconfigured", "R-1.2-10", "nothing is told while not configured", NEED_HANDS,
	  .run = unconfigured },
	{ "events", "restarted", "R-1.2-3 R-1.2-5 R-1.2-6", "the firmware restarts",
	  NEED_FAULTS | NEED_BOARD,
	  .run = restarted },
	{ "events", "happenings", "R-4.1-1", "boards, cover and hopper", NEED_HANDS,
	  .run = happenings },
	{ "events", "keys", "R-4.1-1 R-5-18 R-5-19", "keys", NEED_HANDS, DEALBOX_CAP_KEYS, keys },
	{ "events", "lamp", "R-2.2-3 R-2.3-7", "the lamp of LOCATE", NEED_HANDS, .run = lamp },
	{ "events", "queue", "R-4-11 R-4-12", "events that the host does not fetch", NEED_FAULTS,
	  .run = queue },
	{ "events", "clock", "R-4-4", "microseconds", NEED_RAW, .run = clocks },
	{ "events", "happened", "R-4-4", "the time of an event that is fetched late",
	  NEED_RAW | NEED_FAULTS,
	  .run = when_it_happened },
	{ "events", "power", "R-1.2-2 R-2.1-7 R-5.2-1 R-5.2-7 R-5.2-8",
	  "the machine is switched off and on",
	  NEED_HANDS | NEED_BOARD, .run = power },
	{ "events", "power-cuts", "R-1.2-4 R-5.2-1 R-5.2-7",
	  "power is cut at each step of an insertion",
	  NEED_HANDS | NEED_BOARD, .run = power_cuts },
	{ 0 }
};
