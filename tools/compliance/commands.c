// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Commands: each in each state, values, lengths, repetitions, the order of checks (§2.2, §2.3, §5).
 */
#include <errno.h>
#include <linux/unaligned.h>
#include <string.h>

#include "command_table.h"
#include "run.h"

/* A number of a parameter that the machine has, 0 if there is none; *value is one that it takes. */
static uint32_t some_param(struct run *r, uint32_t *value)
{
	uint8_t data[DATA_MAX];
	uint16_t number;

	for (number = 1; number <= 4; number++)
		if (query(r, WIRE_GET_PARAM, number, data, WIRE_PARAM_SIZE) == WIRE_PARAM_SIZE) {
			*value = get_unaligned_le32(data + 4);
			return number;
		}
	return 0;
}

/* Send a command with good values. */
static uint8_t send_good(struct run *r, const struct command_row *row, uint32_t *detail)
{
	uint32_t a = 0, b = 0, c = 0;

	switch (row->request) {
	case WIRE_LOAD:
		a = 77;
		b = WIRE_PLAN_SIZE(1);
		break;
	case WIRE_SET_PARAM:
		a = some_param(r, &b);
		break;
	case DEALBOX_OP_START:
		a = r->plan.plan_id;
		b = r->observer.insertion;
		c = ROUTED(r) ? r->plan.feed : 0;
		break;
	case DEALBOX_OP_TEST_DEAL:
		b = r->observer.insertion;
		c = 1;
		break;
	case WIRE_ATTEST:
		b = r->observer.insertion;
		break;
	}
	return command(r, row->request, a, b, c, detail);
}

/* The answer that the page demands */
static uint8_t demanded(const struct run *r, const struct command_row *row, uint8_t state,
			uint32_t *detail)
{
	*detail = 0;
	if (row->capability && !(r->desc.capabilities & row->capability))
		return DEALBOX_ERR_UNSUPPORTED;
	switch (row->answer[state]) {
	case ANSWER_STATE:
		*detail = state;
		return DEALBOX_ERR_STATE;
	case ANSWER_FAULT:
		*detail = r->observer.fault_type;
		return DEALBOX_ERR_FAULT;
	case ANSWER_SPENT:
		*detail = r->observer.insertion;
		return DEALBOX_ERR_SPENT;
	default:
		break;
	}
	if (row->request == WIRE_ATTEST && state == DEALBOX_STATE_IDLE) {
		*detail = r->observer.attestable;
		return DEALBOX_ERR_WRONG_INSERTION;
	}
	return DEALBOX_ERR_OK;
}

static void judge(struct run *r, const struct command_row *row, uint8_t state)
{
	uint32_t detail, want_detail;
	uint8_t error, want = demanded(r, row, state, &want_detail);
	const char *requirement = want == DEALBOX_ERR_UNSUPPORTED ? "R-2.3-6" :
		want == DEALBOX_ERR_SPENT ? "R-5.2-3" : "R-5-1";
	uint64_t began;

	if (row->request == WIRE_SET_PARAM && !some_param(r, &detail))
		return;
	began = now_us();
	error = send_good(r, row, &detail);
	/* Where nobody holds the cards, the deal may have come to its end by itself. */
	if (!has_faults(r) && (error != want || (error && detail != want_detail)) &&
	    state == DEALBOX_STATE_DEALING && status(r).state != state)
		return;
	/* One that does not know ATTEST may say so. */
	if (row->request == WIRE_ATTEST && want == DEALBOX_ERR_UNSUPPORTED &&
	    error == DEALBOX_ERR_BAD_REQUEST)
		error = want;
	check(r, requirement, error == want, "%s in state %s: error %u, not %u", row->name,
	      state_name(state), error, want);
	if (error == want)
		check(r, "R-2.3-1", detail == want_detail, "%s in state %s: detail %u, not %u",
		      row->name, state_name(state), detail, want_detail);
	if (error)
		return;
	/* An accepted command takes effect: its event comes. */
	if (has_faults(r) && row->request != DEALBOX_OP_LOCATE)
		step(r, "thaw");
	switch (row->request) {
	case DEALBOX_OP_PAUSE:
		await(r, DEALBOX_EV_PAUSED, 2500, "R-5.1-1");
		check_time(r, "R-5.1-1", now_us() - began, 2000000, "PAUSED behind PAUSE");
		break;
	case DEALBOX_OP_RESUME:
		await(r, DEALBOX_EV_RESUMED, 1500, "R-5.1-1");
		check_time(r, "R-5.1-1", now_us() - began, 1000000, "RESUMED behind RESUME");
		break;
	case DEALBOX_OP_ABORT:
		await(r, DEALBOX_EV_ABORTED, 2500, "R-5.1-1");
		check_time(r, "R-5.1-1", now_us() - began, 2000000, "ABORTED behind ABORT");
		break;
	case DEALBOX_OP_CLEAR_FAULT:
		await(r, DEALBOX_EV_FAULT_CLEARED, 1500, "R-5.1-1");
		check_time(r, "R-5.1-1", now_us() - began, 1000000,
			   "FAULT_CLEARED behind CLEAR_FAULT");
		break;
	case DEALBOX_OP_START:
	case DEALBOX_OP_TEST_DEAL:
		await(r, DEALBOX_EV_DEAL_STARTED, 1500, "R-5.1-1");
		check_time(r, "R-5.1-1", now_us() - began, 1000000, "DEAL_STARTED");
		break;
	case WIRE_ATTEST:
		await(r, DEALBOX_EV_ATTESTED, 5500, "R-5.1-1");
		break;
	default:
		break;
	}
	status(r);
}

/* Each command in a state: first those that are refused, for they change nothing. */
static void commands_in(struct run *r, uint8_t state)
{
	uint32_t detail;
	size_t i;

	reach(r, state);
	for (i = 0; i < COMMAND_ROWS; i++)
		if (demanded(r, &command_rows[i], state, &detail) ||
		    command_rows[i].request == DEALBOX_OP_LOCATE) {
			judge(r, &command_rows[i], state);
			status(r);
		}
	for (i = 0; i < COMMAND_ROWS; i++)
		if (!demanded(r, &command_rows[i], state, &detail)) {
			reach(r, state);
			judge(r, &command_rows[i], state);
		}
	settle(r);
}

static void in_idle(struct run *r)
{
	commands_in(r, DEALBOX_STATE_IDLE);
}

static void in_dealing(struct run *r)
{
	commands_in(r, DEALBOX_STATE_DEALING);
}

static void in_paused(struct run *r)
{
	commands_in(r, DEALBOX_STATE_PAUSED);
}

static void in_held(struct run *r)
{
	commands_in(r, DEALBOX_STATE_HELD);
}

static void in_fault(struct run *r)
{
	commands_in(r, DEALBOX_STATE_FAULT);
}

static void in_done(struct run *r)
{
	commands_in(r, DEALBOX_STATE_DONE);
}

/* --- values, lengths, repetitions --------------------------------------------------------- */

/* A command of any form. Returns the last result behind it; *ret how the transfer ended. */
static struct wire_result any_command(struct run *r, uint8_t request, uint16_t value,
				      const struct wire_command *wire, uint16_t length, int *ret)
{
	uint8_t data[128];

	memset(data, 0x5a, sizeof(data));
	dealbox_encode_command(data, wire);
	*ret = command_raw(r, request, value, data, length);
	return get_result(r);
}

static void expect_error(struct run *r, const char *requirement, uint8_t request, uint16_t value,
			 struct wire_command wire, uint16_t length, uint8_t error, uint32_t detail)
{
	struct wire_result result;
	int ret;

	if (!wire.sequence)
		wire.sequence = ++r->sequence;
	result = any_command(r, request, value, &wire, length, &ret);
	check(r, requirement, result.error == error && result.detail == detail,
	      "command %02x with %u %u %u, wValue %u, %u bytes: error %u, detail %u, not %u, %u",
	      request, wire.a, wire.b, wire.c, value, length, result.error, result.detail, error,
	      detail);
	check(r, "R-2.3-1", result.error <= error, "error %u of command %02x comes before error %u",
	      result.error, request, error);
	check(r, "R-2.2-5", result.request == request,
	      "a refused command %02x is not the last command", request);
	if (length >= 4)
		check(r, "R-2.2-5", result.sequence == wire.sequence,
		      "a refused command is not the last command: number %u, not %u",
		      result.sequence, wire.sequence);
	else
		check(r, "R-2.3-4", !result.sequence,
		      "without a sequence number, the result has %u", result.sequence);
	if (!HAS(r, REFUSES_BY_RESULT))
		check(r, "R-2.2-2", ret < 0, "a refused command %02x is not stalled", request);
}

static void bad_value(struct run *r, uint8_t request, uint32_t a, uint32_t b, uint32_t c,
		      uint32_t detail)
{
	bool reserved = request == DEALBOX_OP_PAUSE ||
		(detail == 3 && request != DEALBOX_OP_START && request != DEALBOX_OP_TEST_DEAL);

	expect_error(r, "R-2.3-5", request, 0, (struct wire_command){ 0, a, b, c },
		     WIRE_COMMAND_SIZE, DEALBOX_ERR_BAD_VALUE, detail);
	if (reserved)
		check(r, "R-0-3", get_result(r).error == DEALBOX_ERR_BAD_VALUE,
		      "command %02x with %u %u %u is not refused for its field %u", request, a, b,
		      c, detail);
}

static void values(struct run *r)
{
	static const uint8_t plain[] = { DEALBOX_OP_PAUSE, DEALBOX_OP_RESUME, DEALBOX_OP_REREAD,
		DEALBOX_OP_ABORT, DEALBOX_OP_CLEAR_FAULT, DEALBOX_OP_RELEASE_BOARD };
	uint32_t longest = WIRE_PLAN_SIZE((uint32_t)r->desc.plan_entries), n = r->desc.plan_entries;
	uint32_t number, value = 0;
	size_t i;

	for (i = 0; i < sizeof(plain); i++) {
		bad_value(r, plain[i], 1, 0, 0, 1);
		bad_value(r, plain[i], 0, 1, 0, 2);
		bad_value(r, plain[i], 0, 0, 1, 3);
		bad_value(r, plain[i], 0, 0x80000000, 0x100, 2);
		expect_error(r, "R-2.3-2", plain[i], 0x100, (struct wire_command){ 0 }, 16,
			     DEALBOX_ERR_BAD_VALUE, 4);
		expect_error(r, "R-2.3-2", plain[i], 1, (struct wire_command){ 0, 0, 0, 9 }, 16,
			     DEALBOX_ERR_BAD_VALUE, 3);
	}
	bad_value(r, DEALBOX_OP_LOCATE, 61, 0, 0, 1);
	bad_value(r, DEALBOX_OP_LOCATE, 0xffffffff, 0, 0, 1);
	bad_value(r, DEALBOX_OP_LOCATE, 0, 1, 0, 2);
	bad_value(r, DEALBOX_OP_LOCATE, 0, 0, 1, 3);
	expect_error(r, "R-2.2-1", DEALBOX_OP_LOCATE, 1, (struct wire_command){ 0 }, 16,
		     DEALBOX_ERR_BAD_VALUE, 4);
	check(r, "R-2.3-7", !command(r, DEALBOX_OP_LOCATE, 60, 0, 0, NULL),
	      "LOCATE for 60 s is refused");
	check(r, "R-2.3-7", !command(r, DEALBOX_OP_LOCATE, 0, 0, 0, NULL), "LOCATE 0 is refused");
	/* also on a machine that has not the capability: values are checked first */
	bad_value(r, WIRE_LOAD, 0, 37, 0, 1);
	bad_value(r, WIRE_LOAD, 0xffffffff, 37, 0, 1);
	bad_value(r, WIRE_LOAD, 5, 1, 0, 2);
	bad_value(r, WIRE_LOAD, 5, 36, 0, 2);
	bad_value(r, WIRE_LOAD, 5, longest + 1, 0, 2);
	bad_value(r, WIRE_LOAD, 5, 0x10000 + 40, 0, 2);
	bad_value(r, WIRE_LOAD, 5, 37, 1, 3);
	bad_value(r, WIRE_LOAD, 0, 0, 1, 3);
	bad_value(r, DEALBOX_OP_START, 0, 1, 0, 1);
	bad_value(r, DEALBOX_OP_START, 0xffffffff, 1, 0, 1);
	bad_value(r, DEALBOX_OP_START, 7, 0, 0, 2);
	if (ROUTED(r)) {
		bad_value(r, DEALBOX_OP_START, 7, 1, 0, 3);
		bad_value(r, DEALBOX_OP_START, 7, 1, n + 1, 3);
		bad_value(r, DEALBOX_OP_START, 7, 1, 0x200, 3);
		bad_value(r, DEALBOX_OP_START, 7, 1, 0x10001, 3);
		bad_value(r, DEALBOX_OP_START, 7, 1, WIRE_START_CAPTURE + n + 1, 3);
	} else {
		bad_value(r, DEALBOX_OP_START, 7, 1, 1, 3);
		bad_value(r, DEALBOX_OP_START, 7, 1, WIRE_START_CAPTURE, 3);
	}
	bad_value(r, DEALBOX_OP_TEST_DEAL, 1, 1, 1, 1);
	bad_value(r, DEALBOX_OP_TEST_DEAL, 0, 0, 1, 2);
	bad_value(r, DEALBOX_OP_TEST_DEAL, 0, 1, 0, 3);
	bad_value(r, DEALBOX_OP_TEST_DEAL, 0, 1, n + 1, 3);
	number = some_param(r, &value);
	if (number)
		bad_value(r, WIRE_SET_PARAM, number, value, 1, 3);
	bad_value(r, WIRE_SET_PARAM, 0, 0, 0, 1);
	status(r);
}

static void lengths(struct run *r)
{
	static const uint16_t wrong[] = { 0, 1, 3, 4, 8, 15, 17, 20, 48, 64 };
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		if (r->serial && !wrong[i])
			continue;	/* that is a query */
		expect_error(r, wrong[i] < 4 ? "R-2.3-4" : "R-2.2-1", DEALBOX_OP_LOCATE, 0,
			     (struct wire_command){ 0 }, wrong[i], DEALBOX_ERR_BAD_LENGTH,
			     wrong[i]);
		/* before the values */
		expect_error(r, wrong[i] < 4 ? "R-2.3-4" : "R-2.3-1", DEALBOX_OP_LOCATE, 9,
			     (struct wire_command){ 0, 99, 1, 1 }, wrong[i], DEALBOX_ERR_BAD_LENGTH,
			     wrong[i]);
	}
	if (HAS(r, ATTEST))
		expect_error(r, "R-2.2-1", WIRE_ATTEST, 0, (struct wire_command){ 0, 0, 1, 0 }, 16,
			     DEALBOX_ERR_BAD_LENGTH, 16);
	status(r);
}

static void unknown(struct run *r)
{
	static const uint8_t requests[] = { 0x00, 0x01, 0x0f, 0x1c, 0x20, 0x40, 0x7f, 0xff };
	size_t i;

	for (i = 0; i < sizeof(requests); i++) {
		expect_error(r, "R-2.3-1", requests[i], 0, (struct wire_command){ 0 }, 16,
			     DEALBOX_ERR_BAD_REQUEST, 0);
		/* before length and values */
		expect_error(r, "R-2.3-1", requests[i], 1, (struct wire_command){ 0, 1, 1, 1 }, 9,
			     DEALBOX_ERR_BAD_REQUEST, 0);
	}
	status(r);
}

static void expect_same(struct run *r, const struct wire_result *before, bool accepted,
			uint8_t request, uint16_t value, uint32_t a, uint16_t length)
{
	struct wire_command wire = { before->sequence, a, 0, 0 };
	struct wire_result result;
	int ret;

	result = any_command(r, request, value, &wire, length, &ret);
	if (!HAS(r, REFUSES_BY_RESULT))
		check(r, "R-2.2-4", (ret >= 0) == accepted,
		      "a repetition as command %02x with %u bytes does not end as the first time",
		      request, length);
	check(r, "R-2.2-4", is_same_result(&result, before),
	      "a repetition as command %02x with %u bytes has another result", request, length);
}

static void repetition(struct run *r)
{
	struct wire_result last, result;
	struct wire_command wire = { 0 };
	int ret;

	/* accepted, refused by its state, refused by its length */
	command(r, DEALBOX_OP_LOCATE, 0, 0, 0, NULL);
	last = get_result(r);
	expect_same(r, &last, true, DEALBOX_OP_LOCATE, 0, 0, 16);
	expect_same(r, &last, true, DEALBOX_OP_PAUSE, 0, 0, 16);
	expect_same(r, &last, true, DEALBOX_OP_LOCATE, 0, 99, 16);
	expect_same(r, &last, true, DEALBOX_OP_LOCATE, 3, 0, 16);
	expect_same(r, &last, true, 0x55, 0, 0, 16);
	expect_same(r, &last, true, DEALBOX_OP_LOCATE, 0, 0, 7);
	expect_same(r, &last, true, DEALBOX_OP_LOCATE, 0, 0, 40);
	command(r, DEALBOX_OP_LOCATE, 61, 0, 0, NULL);
	last = get_result(r);
	expect_same(r, &last, false, DEALBOX_OP_LOCATE, 0, 61, 16);
	expect_same(r, &last, false, DEALBOX_OP_LOCATE, 0, 0, 16);
	expect_same(r, &last, false, DEALBOX_OP_LOCATE, 0, 0, 5);
	check(r, "R-2.2-5", last.error == DEALBOX_ERR_BAD_VALUE,
	      "a refused command is not the last one");
	/* the number 0 is none, so it is never repeated */
	result = any_command(r, DEALBOX_OP_LOCATE, 0, &wire, 16, &ret);
	check(r, "R-2.2-6", result.error == DEALBOX_ERR_BAD_LENGTH && !result.sequence &&
	      result.detail == 16, "a command with the number 0: error %u", result.error);
	result = any_command(r, DEALBOX_OP_RESUME, 0, &wire, 16, &ret);
	check(r, "R-2.2-6", result.request == DEALBOX_OP_RESUME,
	      "the sequence number 0 is taken for a repetition");
	/* a lower number is a new command */
	wire.sequence = 1;
	result = any_command(r, DEALBOX_OP_LOCATE, 0, &wire, 16, &ret);
	check(r, "R-2.2-4", result.sequence == 1 && !result.error,
	      "the number 1 is not taken as a new one");
	wire.sequence = 0xffffffff;
	result = any_command(r, DEALBOX_OP_LOCATE, 0, &wire, 16, &ret);
	check(r, "R-2.2-4", result.sequence == 0xffffffff && !result.error,
	      "the number ffffffff is not taken as a new one");
	status(r);
}

/* A repeated START deals no second time, and a repeated PAUSE is answered behind its effect. */
static void repeated_start(struct run *r)
{
	const struct event *event;
	struct wire_result last;
	struct wire_command wire;
	uint8_t error;
	int ret;

	reach(r, DEALBOX_STATE_IDLE);
	error = start(r);
	check(r, "R-5-1", !error, "START is refused with error %u", error);
	last = get_result(r);
	wire = (struct wire_command){ last.sequence, r->plan.plan_id, r->observer.insertion,
				      ROUTED(r) ? r->plan.feed : 0 };
	any_command(r, DEALBOX_OP_START, 0, &wire, 16, &ret);
	check(r, "R-2.2-4", ret >= 0, "the repetition of an accepted START is not accepted");
	event = await_end(r, 60000);
	no_joker(r, event);
	check(r, "R-4.2-1", event && event->e.type == DEALBOX_EV_DEAL_DONE, "the deal ends with %s",
	      event ? event_name(event->e.type) : "nothing");
	while (fetch(r, 30))
		;
	r->event_seen = r->event_count;
	last = any_command(r, DEALBOX_OP_START, 0, &wire, 16, &ret);
	check(r, "R-2.2-4", ret >= 0 && !last.error,
	      "a START that was accepted is refused when it is repeated");
	expect_quiet(r, "R-2.2-4", 100, "behind the repetition of START");
	status(r);
	if (!has_hands(r))
		return;
	error = start(r);
	check(r, "R-5.2-3", error == DEALBOX_ERR_SPENT, "START for a spent insertion: error %u",
	      error);
	settle(r);
}

/* --- the order of checks, from NO_PLAN to HOPPER_EMPTY (R-2.3-1) ----------------------------- */

static void expect_start(struct run *r, uint32_t plan, uint32_t insertion, uint8_t want,
			 uint32_t want_detail, const char *when)
{
	uint32_t detail, c = ROUTED(r) ? 1 : 0;
	uint8_t error = command(r, DEALBOX_OP_START, plan, insertion, c, &detail);

	check(r, "R-2.3-1", error == want && detail == want_detail,
	      "START %s: error %u, detail %u, not %u, %u", when, error, detail, want, want_detail);
	if (HAS(r, TEST_DEAL) && want >= DEALBOX_ERR_NO_BOARD) {
		error = command(r, DEALBOX_OP_TEST_DEAL, 0, insertion, 1, &detail);
		check(r, "R-2.3-1", error == want && detail == want_detail,
		      "TEST_DEAL %s: error %u, detail %u, not %u, %u", when, error, detail, want,
		      want_detail);
	}
}

static void order(struct run *r)
{
	uint32_t plan, insertion, detail;
	uint8_t error;

	ready(r);
	plan = r->plan.plan_id;
	insertion = r->observer.insertion;
	do_step(r, "cover open");
	status(r);
	expect_start(r, plan, insertion, DEALBOX_ERR_COVER_OPEN, 0, "with the cover open");
	expect_start(r, plan, insertion + 1, DEALBOX_ERR_WRONG_INSERTION, insertion,
		     "for another insertion, with the cover open");
	do_step(r, "hopper empty");
	expect_start(r, plan, insertion, DEALBOX_ERR_COVER_OPEN, 0,
		     "with the cover open and the hopper empty");
	do_step(r, "cover close");
	expect_start(r, plan, insertion, DEALBOX_ERR_HOPPER_EMPTY, 0, "with the hopper empty");
	check(r, "R-5.2-2", !(status(r).flags & DEALBOX_STATUS_SPENT),
	      "a START that is refused spends the insertion");
	if (!ROUTED(r))
		expect_start(r, plan + 9, insertion + 1, DEALBOX_ERR_WRONG_PLAN, plan,
			     "of another plan, for another insertion");
	if (HAS(r, BOARD_LOCK))
		command(r, DEALBOX_OP_RELEASE_BOARD, 0, 0, 0, NULL);
	do_step(r, "remove");
	status(r);
	expect_start(r, plan, insertion, DEALBOX_ERR_NO_BOARD, 0, "without a board");
	if (HAS(r, BOARD_LOCK)) {
		error = command(r, DEALBOX_OP_RELEASE_BOARD, 0, 0, 0, &detail);
		check(r, "R-2.3-1", error == DEALBOX_ERR_NO_BOARD && !detail,
		      "RELEASE_BOARD without a board: error %u, detail %u", error, detail);
	}
	if (!ROUTED(r)) {
		expect_start(r, plan + 9, insertion, DEALBOX_ERR_WRONG_PLAN, plan,
			     "of another plan, without a board");
		error = command(r, WIRE_LOAD, 0, 0, 0, NULL);
		check(r, "R-3-9", !error, "LOAD 0 is refused with error %u", error);
		expect_start(r, plan, insertion, DEALBOX_ERR_NO_PLAN, 0, "without plan and board");
	}
	do_step(r, "hopper fill");
	do_step(r, "insert");
	status(r);
	/* PAUSED and FAULT with an open cover */
	reach(r, DEALBOX_STATE_FAULT);
	do_step(r, "cover open");
	status(r);
	error = command(r, DEALBOX_OP_CLEAR_FAULT, 0, 0, 0, &detail);
	check(r, "R-2.3-1", error == DEALBOX_ERR_COVER_OPEN && !detail,
	      "CLEAR_FAULT with the cover open: error %u, detail %u", error, detail);
	expect_start(r, plan, r->observer.insertion, DEALBOX_ERR_FAULT, DEALBOX_EV_COVER_OPENED,
		     "in FAULT with the cover open");
	do_step(r, "cover close");
	settle(r);
}

static void by_result(struct run *r)
{
	uint8_t error = command(r, DEALBOX_OP_RESUME, 0, 0, 0, NULL);

	check(r, "R-2.2-10", error == DEALBOX_ERR_STATE,
	      "GET_RESULT is ahead of the command: error %u", error);
	check(r, "R-2.2-9", error == DEALBOX_ERR_STATE, "RESUME in IDLE: error %u", error);
	status(r);
}

#define IN(state, name)	{ "commands", name, "R-5-1 R-2.2-2 R-2.3-1", \
			  "each command in state " #state, \
			  NEED_HANDS | NEED_BOARD, .run = in_##state }

const struct test_row command_tests[] = {
	{ "commands", "values", "R-0-3 R-2.2-1 R-2.2-5 R-2.3-1 R-2.3-2 R-2.3-5 R-2.3-7",
	  "values out of range",
	  .run = values },
	{ "commands", "lengths", "R-2.2-1 R-2.3-1 R-2.3-4", "data stages of a wrong length",
	  .run = lengths },
	{ "commands", "unknown", "R-2.3-1 R-2.2-5", "commands that there are not", .run = unknown },
	{ "commands", "repetition", "R-2.2-4 R-2.2-5 R-2.2-6", "sequence numbers",
	  .run = repetition },
	{ "commands", "repeated-start", "R-2.2-4 R-5.2-3", "a repeated START deals no second time",
	  NEED_BOARD, .run = repeated_start },
	{ "commands", "by-result", "R-2.2-9 R-2.2-10", "commands that are not stalled", 0,
	  DEALBOX_CAP_REFUSES_BY_RESULT, by_result },
	{ "commands", "order", "R-5.2-2 R-2.3-1 R-3-9", "the order of the checks",
	  NEED_HANDS | NEED_BOARD,
	  .run = order },
	{ "commands", "idle", "R-5-1 R-2.2-2 R-2.3-1 R-2.3-6", "each command in state IDLE",
	  NEED_HANDS | NEED_BOARD, .run = in_idle },
	IN(dealing, "dealing"),
	IN(paused, "paused"),
	IN(held, "held"),
	IN(fault, "fault"),
	{ "commands", "done", "R-5-1 R-5-4 R-2.2-2 R-2.3-1 R-5.2-3", "each command in state DONE",
	  NEED_HANDS | NEED_BOARD, .run = in_done },
	{ 0 }
};
