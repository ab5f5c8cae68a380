// SPDX-License-Identifier: LGPL-2.1-or-later
/* A host in user space, against a machine that is a table of answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <dealbox/verify.h>

#include "machine/host.h"
#include "machine_wire.h"
#include "queue.h"

_Static_assert(WIRE_QUALITY_MIN == DEALBOX_QUALITY_MIN, "R-4-14 of the router and of the verdict");

/* ---- the machine ---------------------------------------------------------- */

struct fake {
	struct host *host;
	struct wire_descriptor descriptor;
	struct wire_status status;
	struct wire_result result;	/* the answer to GET_RESULT */
	/* results of the next transfers of commands; 0 = success */
	int ends[4];
	unsigned int end;
	bool deaf;			/* the machine does not get a command that fails */
	int query_end;
	int query_length;		/* 0 = as asked */
	/* received */
	unsigned int commands;
	uint8_t request[16];
	struct wire_command command[16];
	uint8_t plan[WIRE_PLAN_MAX];
	size_t plan_size;
	int bulk_end;
	bool answers_plan;		/* PLAN_LOADED comes when the host pumps */
	bool load_expires;		/* PLAN_LOADED comes before the answer to LOAD */
	bool loses_state;		/* STATE_LOST comes when the host pumps */
	uint32_t plan_error;
	uint8_t gate[WIRE_GATE_SIZE];
	unsigned int gates;
	uint32_t number;		/* of the next event */
	uint64_t time_ns;
	bool gone;
	bool closed;
};

static struct fake *clock_of;

int __wrap_clock_gettime(clockid_t id, struct timespec *now);

int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
	assert_int_equal(id, CLOCK_MONOTONIC);
	now->tv_sec = (time_t)(clock_of->time_ns / 1000000000);
	now->tv_nsec = (long)(clock_of->time_ns % 1000000000);
	return 0;
}

static void send_event(struct fake *fake, struct wire_event event)
{
	uint8_t data[WIRE_EVENT_SIZE];

	event.number = fake->number++;
	wire_event_put(data, &event);
	host_receive(fake->host, data, sizeof(data));
}

static int fake_query(struct fake *fake, uint8_t request, uint16_t value, uint8_t *data,
		      uint16_t length)
{
	struct wire_param param = { .id = value, .value = 600, .min = 60, .max = 1200 };
	struct dealbox_counters counters = { .boards_dealt = 7, .seconds = 9 };
	struct wire_info info = { .version = WIRE_VERSION, .firmware = 0x01020003, .name = "Fake" };

	if (fake->query_end)
		return fake->query_end;
	switch (request) {
	case WIRE_GET_INFO:
		wire_info_put(data, &info);
		break;
	case WIRE_GET_STATUS:
		wire_status_put(data, &fake->status);
		break;
	case WIRE_GET_RESULT:
		wire_result_put(data, &fake->result);
		break;
	case WIRE_GET_COUNTERS:
		wire_counters_put(data, &counters);
		break;
	case WIRE_GET_PARAM:
		if (value != DEALBOX_PARAM_SPEED)
			return -EPIPE;
		wire_param_put(data, &param);
		break;
	default:
		return -EPIPE;
	}
	return fake->query_length ? fake->query_length : length;
}

static int fake_control(void *bus, uint8_t type, uint8_t request, uint16_t value, void *data,
			uint16_t length)
{
	struct fake *fake = bus;
	int end;

	if (fake->gone)
		return -ENODEV;
	if (type == WIRE_REQ_IN)
		return fake_query(fake, request, value, data, length);
	assert_int_equal(type, WIRE_REQ_OUT);
	assert_int_equal(value, 0);
	assert_int_equal(length, WIRE_COMMAND_SIZE);
	assert_in_range(fake->commands, 0, 15);
	fake->request[fake->commands] = request;
	wire_command_get(data, &fake->command[fake->commands]);
	end = fake->end < 4 ? fake->ends[fake->end++] : 0;
	if (!fake->deaf) {
		fake->result.sequence = fake->command[fake->commands].sequence;
		fake->result.request = request;
	}
	fake->commands++;
	if (fake->load_expires && request == WIRE_LOAD)
		send_event(fake, (struct wire_event){ .type = DEALBOX_EV_PLAN_LOADED,
						      .code = fake->command[0].a,
						      .arg = { DEALBOX_ERR_INCOMPLETE, 3 } });
	return end ? end : length;
}

static int fake_bulk_out(void *bus, const void *data, size_t length, unsigned int ms)
{
	struct fake *fake = bus;

	assert_int_equal(ms, WIRE_PLAN_COMPLETE_MS);
	assert_in_range(length, 1, sizeof(fake->plan));
	memcpy(fake->plan, data, length);
	fake->plan_size = length;
	return fake->bulk_end;
}

static int fake_gate_out(void *bus, const void *data, size_t length)
{
	struct fake *fake = bus;

	assert_int_equal(length, WIRE_GATE_SIZE);
	memcpy(fake->gate, data, length);
	fake->gates++;
	return 0;
}

static int fake_pump(void *bus, int timeout_ms)
{
	struct fake *fake = bus;

	fake->time_ns += (uint64_t)timeout_ms * 500000;	/* wakes up early */
	if (fake->gone)
		return -ENODEV;
	if (fake->answers_plan && timeout_ms) {
		fake->answers_plan = false;
		send_event(fake, (struct wire_event){ .type = DEALBOX_EV_PLAN_LOADED,
						      .code = 5,
						      .arg = { fake->plan_error, 77 } });
	}
	if (fake->loses_state && timeout_ms) {
		fake->loses_state = false;
		send_event(fake, (struct wire_event){ .type = DEALBOX_EV_STATE_LOST, .code = 3 });
	}
	return 0;
}

static void fake_close(void *bus)
{
	((struct fake *)bus)->closed = true;
}

static const struct host_bus fake_bus = {
	.control = fake_control,
	.bulk_out = fake_bulk_out,
	.gate_out = fake_gate_out,
	.pump = fake_pump,
	.close = fake_close,
};

/* ---- set up --------------------------------------------------------------- */

static int make(void **state, uint32_t kind, uint32_t deadline, bool observe)
{
	struct fake *fake = calloc(1, sizeof(*fake));

	clock_of = fake;
	fake->number = 1;
	fake->descriptor = (struct wire_descriptor){
		.reader = DEALBOX_READER_BARCODE, .version = WIRE_VERSION, .pockets = 4,
		.pocket_capacity = 20, .hopper = 200, .plan_entries = 64,
		.capabilities = kind | DEALBOX_CAP_BY_CARD | DEALBOX_CAP_EXIT_SENSORS,
		.gate_deadline_us = deadline,
	};
	fake->result.sequence = 41;
	fake->host = host_new(&fake_bus, fake, &(struct host_kind){ &dealbox_native,
			      fake->descriptor, 64 }, "A1", observe);
	assert_non_null(fake->host);
	assert_int_equal(host_start(fake->host), 0);
	*state = fake;
	return 0;
}

static int stored(void **state)
{
	return make(state, DEALBOX_CAP_STORED_PLAN, 0, false);
}

static int routed(void **state)
{
	return make(state, DEALBOX_CAP_HOST_ROUTED, 50000, false);
}

static int observer(void **state)
{
	return make(state, DEALBOX_CAP_STORED_PLAN, 0, true);
}

static int unmake(void **state)
{
	struct fake *fake = *state;

	host_close(fake->host);
	assert_true(fake->closed);
	free(fake);
	return 0;
}

static void claim(struct fake *fake)
{
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_CLAIM, NULL), 0);
}

static int do_control(struct fake *fake, struct dealbox_control *cmd)
{
	return host_call(fake->host, DEALBOX_IOC_CONTROL, cmd);
}

static int reread(struct fake *fake)
{
	return do_control(fake, &(struct dealbox_control){ .op = DEALBOX_OP_REREAD });
}

static struct dealbox_plan by_card(void)
{
	struct dealbox_plan plan = { .plan_id = 5, .mode = DEALBOX_PLAN_BY_CARD, .entries = 52 };
	int card;

	for (card = 0; card < 52; card++)
		plan.pocket[card] = card % 4;
	return plan;
}

static bool readable(struct fake *fake)
{
	struct pollfd wait = { .fd = host_fd(fake->host), .events = POLLIN };

	return poll(&wait, 1, 0) == 1;
}

/* ---- commands ------------------------------------------------------------- */

static void what_it_is(void **state)
{
	struct fake *fake = *state;
	struct dealbox_info info;

	assert_int_equal(host_call(fake->host, DEALBOX_IOC_GET_INFO, &info), 0);
	assert_string_equal(info.model, "Fake");
	assert_string_equal(info.serial, "A1");
	assert_int_equal(info.firmware, 0x01020003);
	assert_int_equal(info.pockets, 4);
	assert_int_equal(info.queue_events, QUEUE_EVENTS);
}

static void numbers_go_on_from_those_of_the_last_host(void **state)
{
	struct fake *fake = *state;

	claim(fake);
	assert_int_equal(reread(fake), 0);
	assert_int_equal(reread(fake), 0);
	assert_int_equal(fake->command[0].sequence, 42);
	assert_int_equal(fake->command[1].sequence, 43);
	assert_int_equal(fake->request[0], DEALBOX_OP_REREAD);
}

static void number_zero_is_never_used(void **state)
{
	struct fake *fake = *state;

	fake->result.sequence = UINT32_MAX;
	assert_int_equal(host_start(fake->host), 0);
	claim(fake);
	assert_int_equal(reread(fake), 0);
	assert_int_equal(fake->command[0].sequence, 1);
}

static void a_refusal_is_told_with_its_reason(void **state)
{
	struct dealbox_control start = { .op = DEALBOX_OP_START, .plan_id = 5, .insertion = 9 };
	struct fake *fake = *state;

	claim(fake);
	fake->ends[0] = -EPIPE;
	fake->result.error = DEALBOX_ERR_SPENT;
	fake->result.detail = 9;
	assert_int_equal(do_control(fake, &start), -EREMOTEIO);
	assert_int_equal(start.result, DEALBOX_ERR_SPENT);
	assert_int_equal(start.detail, 9);
	assert_int_equal(fake->commands, 1);
	assert_int_equal(fake->command[0].a, 5);
	assert_int_equal(fake->command[0].b, 9);
	assert_int_equal(fake->command[0].c, 0);
}

static void a_lost_answer_is_asked_for(void **state)
{
	struct fake *fake = *state;

	claim(fake);
	fake->ends[0] = -ETIMEDOUT;
	assert_int_equal(reread(fake), 0);
	assert_int_equal(fake->commands, 1);
}

static void a_lost_command_is_repeated_with_its_number(void **state)
{
	struct fake *fake = *state;

	claim(fake);
	fake->deaf = true;
	fake->ends[0] = -EIO;
	assert_int_equal(reread(fake), 0);
	assert_int_equal(fake->commands, 2);
	assert_int_equal(fake->command[0].sequence, fake->command[1].sequence);
}

static void a_command_lost_twice_has_failed(void **state)
{
	struct fake *fake = *state;

	claim(fake);
	fake->deaf = true;
	fake->ends[0] = -ETIMEDOUT;
	fake->ends[1] = -ETIMEDOUT;
	assert_int_equal(reread(fake), -ETIMEDOUT);
	assert_int_equal(fake->commands, 2);
}

static void a_stall_without_a_result_breaks_the_protocol(void **state)
{
	struct fake *fake = *state;

	claim(fake);
	fake->deaf = true;
	fake->ends[0] = -EPIPE;
	assert_int_equal(reread(fake), -EPROTO);
	assert_int_equal(fake->commands, 1);
}

static void a_stalled_command_that_was_carried_out_breaks_the_protocol(void **state)
{
	struct fake *fake = *state;

	claim(fake);
	fake->ends[0] = -EPIPE;
	assert_int_equal(reread(fake), -EPROTO);
}

static void answers_of_the_wrong_size_break_the_protocol(void **state)
{
	struct dealbox_counters counters;
	struct dealbox_status status;
	struct fake *fake = *state;

	fake->query_length = 12;
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_GET_STATUS, &status), -EPROTO);
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_GET_COUNTERS, &counters), -EPROTO);
	fake->query_length = 0;
	fake->status.state = 6;
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_GET_STATUS, &status), -EPROTO);
}

static void parameters(void **state)
{
	struct dealbox_param speed = { .id = DEALBOX_PARAM_SPEED }, none = { .id = 0x10001 };
	struct fake *fake = *state;

	assert_int_equal(host_call(fake->host, DEALBOX_IOC_GET_PARAM, &speed), 0);
	assert_int_equal(speed.value, 600);
	assert_int_equal(speed.max, 1200);
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_GET_PARAM, &none), -EREMOTEIO);
	assert_int_equal(none.result, DEALBOX_ERR_BAD_VALUE);
	assert_int_equal(none.detail, 4);
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PARAM, &speed), -EPERM);
	claim(fake);
	speed.min = 0;
	speed.max = 0;
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PARAM, &speed), 0);
	assert_int_equal(fake->command[0].a, DEALBOX_PARAM_SPEED);
	assert_int_equal(fake->command[0].b, 600);
}

/* The module refuses them, too, see tests/kernel/kselftest/dealbox_test.c. */
static void parameters_with_fields_that_are_not_used(void **state)
{
	struct dealbox_param param = { .id = DEALBOX_PARAM_SPEED, .reserved = { 1 } };
	struct fake *fake = *state;

	claim(fake);
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_GET_PARAM, &param), -EINVAL);
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PARAM, &param), -EINVAL);
	param = (struct dealbox_param){ .id = DEALBOX_PARAM_SPEED, .min = 1 };
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PARAM, &param), -EINVAL);
	param = (struct dealbox_param){ .id = DEALBOX_PARAM_SPEED, .max = 1 };
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PARAM, &param), -EINVAL);
	assert_int_equal(fake->commands, 0);
}

static void who_may_command(void **state)
{
	struct dealbox_plan plan = by_card();
	struct dealbox_status status;
	struct fake *fake = *state;

	assert_int_equal(reread(fake), -EPERM);
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PLAN, &plan), -EPERM);
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_RELEASE, NULL), -EPERM);
	assert_int_equal(host_call(fake->host, 0xffff, NULL), -ENOTTY);
	claim(fake);
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_GET_STATUS, &status), 0);
	assert_int_equal(status.claimed, DEALBOX_CLAIMED_BY_THIS);
	assert_int_equal(status.owner_pid, getpid());
	assert_int_equal(fake->commands, 0);
}

static void an_observer_may_not(void **state)
{
	struct dealbox_status status;
	struct fake *fake = *state;

	assert_int_equal(host_call(fake->host, DEALBOX_IOC_CLAIM, NULL), -EBADF);
	assert_int_equal(reread(fake), -EBADF);
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_GET_STATUS, &status), 0);
}

static void the_end_of_the_claim_pauses_a_deal(void **state)
{
	struct fake *fake = *state;

	claim(fake);
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_RELEASE, NULL), 0);
	assert_int_equal(fake->commands, 0);
	claim(fake);
	fake->status.state = DEALBOX_STATE_DEALING;
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_RELEASE, NULL), 0);
	assert_int_equal(fake->commands, 1);
	assert_int_equal(fake->request[0], DEALBOX_OP_PAUSE);
}

/* A machine with unknown state may be dealing: a refused PAUSE is harmless. */
static void a_machine_that_does_not_say_is_paused(void **state)
{
	struct fake *fake = *state;

	claim(fake);
	fake->query_end = -ETIMEDOUT;
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_RELEASE, NULL), 0);
	assert_int_equal(fake->commands, 1);
	assert_int_equal(fake->request[0], DEALBOX_OP_PAUSE);
	fake->query_end = 0;
}

/* ---- plans ---------------------------------------------------------------- */

static void a_plan_is_loaded(void **state)
{
	struct dealbox_plan plan = by_card();
	struct fake *fake = *state;
	struct wire_plan got;
	uint32_t detail;

	claim(fake);
	fake->answers_plan = true;
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PLAN, &plan), 0);
	assert_int_equal(fake->request[0], WIRE_LOAD);
	assert_int_equal(fake->command[0].a, 5);
	assert_int_equal(fake->command[0].b, WIRE_PLAN_SIZE(52));
	assert_int_equal(dealbox_decode_plan(fake->plan, fake->plan_size, &fake->descriptor, 5,
					     &got, &detail), DEALBOX_ERR_OK);
	assert_memory_equal(got.pocket, plan.pocket, 52);
}

static void a_refused_plan_is_told_with_its_reason(void **state)
{
	struct dealbox_plan plan = by_card();
	struct fake *fake = *state;

	claim(fake);
	fake->answers_plan = true;
	fake->plan_error = DEALBOX_ERR_CRC;
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PLAN, &plan), -EREMOTEIO);
	assert_int_equal(plan.result, DEALBOX_ERR_CRC);
	assert_int_equal(plan.detail, 77);
}

static void the_answer_to_another_plan_is_not_taken(void **state)
{
	struct dealbox_plan plan = by_card();
	struct fake *fake = *state;

	claim(fake);
	plan.plan_id = 6;
	fake->answers_plan = true;	/* of plan 5 */
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PLAN, &plan), -ETIMEDOUT);
	assert_in_range(fake->time_ns, 3000000000u, 3100000000u);
}

/* The plan is lost with the state: PLAN_LOADED will never come, and the caller need not wait. */
static void state_that_is_lost_while_a_plan_is_loaded(void **state)
{
	struct dealbox_plan plan = by_card();
	struct fake *fake = *state;

	claim(fake);
	fake->loses_state = true;
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PLAN, &plan), -EIO);
	assert_in_range(fake->time_ns, 0, 2999999999u);
}

/* Its verdict says why. */
static void a_machine_that_stalls_the_block(void **state)
{
	struct dealbox_plan plan = by_card();
	struct fake *fake = *state;

	claim(fake);
	fake->bulk_end = -EPIPE;
	fake->answers_plan = true;
	fake->plan_error = DEALBOX_ERR_INCOMPLETE;
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PLAN, &plan), -EREMOTEIO);
	assert_int_equal(plan.result, DEALBOX_ERR_INCOMPLETE);
	assert_int_equal(plan.detail, 77);
	/* it says nothing */
	fake->time_ns = 0;
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PLAN, &plan), -ETIMEDOUT);
	assert_in_range(fake->time_ns, 3000000000u, 3100000000u);
}

/* The program stood still while LOAD was answered: it gets the verdict before the answer. */
static void a_plan_that_is_too_late(void **state)
{
	struct dealbox_plan plan = by_card();
	struct fake *fake = *state;

	claim(fake);
	fake->load_expires = true;
	fake->bulk_end = -EPIPE;
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PLAN, &plan), -EREMOTEIO);
	assert_int_equal(plan.result, DEALBOX_ERR_INCOMPLETE);
	assert_int_equal(plan.detail, 3);
	assert_int_equal(fake->time_ns, 0);
}

static void a_bad_plan_is_never_sent(void **state)
{
	struct dealbox_plan plan = by_card();
	struct fake *fake = *state;

	claim(fake);
	plan.pocket[3] = 4;	/* there are pockets 0..3 */
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PLAN, &plan), -EINVAL);
	plan = by_card();
	plan.mode = DEALBOX_PLAN_CAPTURE;
	plan.entries = 1;
	memset(plan.pocket, 0, sizeof(plan.pocket));
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PLAN, &plan), -EOPNOTSUPP);
	assert_int_equal(fake->commands, 0);
}

/* ---- host-routed ---------------------------------------------------------- */

static void card_read(struct fake *fake, uint8_t position, uint8_t card)
{
	send_event(fake, (struct wire_event){ .type = DEALBOX_EV_CARD_READ, .insertion = 9,
		.position = position, .card = card, .pocket = DEALBOX_NONE, .quality = 100 });
}

static struct wire_gate gate_of(struct fake *fake)
{
	struct wire_gate gate;

	assert_true(wire_gate_get(fake->gate, sizeof(fake->gate), &gate));
	return gate;
}

static void each_card_is_answered(void **state)
{
	struct dealbox_control start = { .op = DEALBOX_OP_START, .plan_id = 5, .insertion = 9 };
	struct dealbox_plan plan = by_card();
	struct dealbox_status status;
	struct fake *fake = *state;

	claim(fake);
	assert_int_equal(do_control(fake, &start), -EREMOTEIO);
	assert_int_equal(start.result, DEALBOX_ERR_NO_PLAN);
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PLAN, &plan), 0);
	assert_int_equal(fake->commands, 0);	/* nothing to load */
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_GET_STATUS, &status), 0);
	assert_int_equal(status.plan_id, 5);
	assert_int_equal(do_control(fake, &start), 0);
	assert_int_equal(fake->command[0].c, 52);

	card_read(fake, 0, 17);
	assert_int_equal(fake->gates, 0);	/* no deal runs yet */
	send_event(fake, (struct wire_event){ .type = DEALBOX_EV_DEAL_STARTED, .code = 5,
		.insertion = 9 });
	card_read(fake, 0, 17);
	assert_int_equal(fake->gates, 1);
	assert_int_equal(gate_of(fake).pocket, 17 % 4);
	assert_int_equal(gate_of(fake).position, 0);
	assert_int_equal(gate_of(fake).number, fake->number - 1);
	card_read(fake, 1, 17);
	assert_int_equal(gate_of(fake).pocket, DEALBOX_NONE);
	assert_int_equal(gate_of(fake).reason, DEALBOX_EV_REPEATED_CARD);
	/* two gate commands are in flight: a third must wait */
	card_read(fake, 1, 53);
	assert_int_equal(fake->gates, 2);
	assert_false(host_gate_done(fake->host, 0));
	card_read(fake, 1, 53);
	assert_int_equal(gate_of(fake).reason, DEALBOX_EV_NOT_IN_PLAN);
	assert_int_equal(fake->gates, 3);
	/* none while the endpoint is halted */
	assert_true(host_gate_done(fake->host, -EPIPE));
	card_read(fake, 1, 53);
	assert_int_equal(fake->gates, 3);
	host_allow_gates(fake->host);
	card_read(fake, 1, 53);
	assert_int_equal(fake->gates, 4);
}

static void an_event_that_cannot_be_is_not_answered(void **state)
{
	struct dealbox_control start = { .op = DEALBOX_OP_START, .plan_id = 5, .insertion = 9 };
	struct dealbox_plan plan = by_card();
	struct dealbox_event events[3];
	struct fake *fake = *state;

	claim(fake);
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PLAN, &plan), 0);
	assert_int_equal(do_control(fake, &start), 0);
	send_event(fake, (struct wire_event){ .type = DEALBOX_EV_DEAL_STARTED, .code = 5,
		.insertion = 9 });
	card_read(fake, 0, 54);
	assert_int_equal(fake->gates, 0);
	assert_int_equal(host_read(fake->host, events, 3), 2);
	assert_int_equal(events[1].type, DEALBOX_EV_PROTOCOL_ERROR);
	assert_int_equal(events[1].code, DEALBOX_PROTO_EVENT_FIELD);
}

static void no_new_plan_while_it_deals(void **state)
{
	struct dealbox_plan plan = by_card();
	struct fake *fake = *state;

	claim(fake);
	fake->status.state = DEALBOX_STATE_PAUSED;
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PLAN, &plan), -EREMOTEIO);
	assert_int_equal(plan.result, DEALBOX_ERR_STATE);
	assert_int_equal(plan.detail, DEALBOX_STATE_PAUSED);
}

/* ---- events --------------------------------------------------------------- */

static void one_read_takes_all(void **state)
{
	struct dealbox_event events[64];
	struct fake *fake = *state;
	int n;

	assert_false(readable(fake));
	assert_int_equal(host_read(fake->host, events, 64), -EAGAIN);
	fake->time_ns = 123456789;
	for (n = 0; n < 40; n++)
		send_event(fake, (struct wire_event){ .type = DEALBOX_EV_KEY, .code = 1 });
	assert_true(readable(fake));
	assert_int_equal(host_read(fake->host, events, 64), 40);
	assert_false(readable(fake));
	for (n = 0; n < 40; n++) {
		assert_int_equal(events[n].seqno, n);
		assert_int_equal(events[n].machine_seq, n + 1);
		assert_int_equal(events[n].timestamp_ns, 123456789);
		assert_int_equal(events[n].flags, 0);
	}
}

static void several_events_in_one_transfer(void **state)
{
	struct wire_event event = { .type = DEALBOX_EV_COVER_OPEN };
	uint8_t data[3 * WIRE_EVENT_SIZE];
	struct dealbox_event events[4];
	struct fake *fake = *state;

	for (event.number = 1; event.number <= 3; event.number++)
		wire_event_put(data + (event.number - 1) * WIRE_EVENT_SIZE, &event);
	host_receive(fake->host, data, sizeof(data));
	assert_int_equal(host_read(fake->host, events, 4), 3);
}

static void the_oldest_are_lost_first(void **state)
{
	static struct dealbox_event events[QUEUE_EVENTS + 1];
	struct dealbox_status status;
	struct fake *fake = *state;
	int n;

	for (n = 0; n < QUEUE_EVENTS + 100; n++)
		send_event(fake, (struct wire_event){ .type = DEALBOX_EV_KEY });
	assert_int_equal(host_read(fake->host, events, QUEUE_EVENTS + 1), QUEUE_EVENTS);
	assert_int_equal(events[0].seqno, 100);
	assert_true(events[0].flags & DEALBOX_EVF_GAP);
	assert_false(events[1].flags & DEALBOX_EVF_GAP);
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_GET_STATUS, &status), 0);
	assert_int_equal(status.lost, 100);
	assert_int_equal(status.seqno, QUEUE_EVENTS + 100);
}

static void a_jump_of_the_machine_is_flagged(void **state)
{
	struct dealbox_event events[2];
	struct fake *fake = *state;

	send_event(fake, (struct wire_event){ .type = DEALBOX_EV_KEY });
	fake->number += 3;
	send_event(fake, (struct wire_event){ .type = DEALBOX_EV_KEY });
	assert_int_equal(host_read(fake->host, events, 2), 2);
	assert_false(events[0].flags & DEALBOX_EVF_MACHINE_GAP);
	assert_true(events[1].flags & DEALBOX_EVF_MACHINE_GAP);
}

static void transfers_of_the_wrong_size(void **state)
{
	struct dealbox_event events[4];
	struct fake *fake = *state;
	uint8_t data[33] = { 0 };

	host_receive(fake->host, data, 0);
	host_receive(fake->host, data, 31);
	host_receive(fake->host, data, 33);
	assert_int_equal(host_read(fake->host, events, 4), 3);
	assert_int_equal(events[2].type, DEALBOX_EV_PROTOCOL_ERROR);
	assert_int_equal(events[2].code, DEALBOX_PROTO_EVENT_SIZE);
	assert_int_equal(events[2].arg[0], 33);
}

static void after_unplug_events_come_first(void **state)
{
	struct dealbox_event events[4];
	struct dealbox_info info;
	struct fake *fake = *state;

	claim(fake);
	send_event(fake, (struct wire_event){ .type = DEALBOX_EV_KEY });
	fake->gone = true;
	assert_int_equal(reread(fake), -ENODEV);
	assert_true(readable(fake));
	assert_int_equal(host_read(fake->host, events, 4), 1);
	assert_true(readable(fake));
	assert_int_equal(host_read(fake->host, events, 4), -ENODEV);
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_GET_INFO, &info), -ENODEV);
}

static void unplugged_while_a_plan_is_loaded(void **state)
{
	struct dealbox_plan plan = by_card();
	struct fake *fake = *state;

	claim(fake);
	fake->bulk_end = -ESHUTDOWN;
	assert_int_equal(host_call(fake->host, DEALBOX_IOC_SET_PLAN, &plan), -ENODEV);
}

#define STORED(f)	cmocka_unit_test_setup_teardown(f, stored, unmake)
#define ROUTED(f)	cmocka_unit_test_setup_teardown(f, routed, unmake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORED(what_it_is),
		STORED(numbers_go_on_from_those_of_the_last_host),
		STORED(number_zero_is_never_used),
		STORED(a_refusal_is_told_with_its_reason),
		STORED(a_lost_answer_is_asked_for),
		STORED(a_lost_command_is_repeated_with_its_number),
		STORED(a_command_lost_twice_has_failed),
		STORED(a_stall_without_a_result_breaks_the_protocol),
		STORED(a_stalled_command_that_was_carried_out_breaks_the_protocol),
		STORED(answers_of_the_wrong_size_break_the_protocol),
		STORED(parameters),
		STORED(parameters_with_fields_that_are_not_used),
		STORED(who_may_command),
		cmocka_unit_test_setup_teardown(an_observer_may_not, observer, unmake),
		STORED(the_end_of_the_claim_pauses_a_deal),
		STORED(a_machine_that_does_not_say_is_paused),
		STORED(a_plan_is_loaded),
		STORED(a_refused_plan_is_told_with_its_reason),
		STORED(the_answer_to_another_plan_is_not_taken),
		STORED(state_that_is_lost_while_a_plan_is_loaded),
		STORED(a_machine_that_stalls_the_block),
		STORED(a_plan_that_is_too_late),
		STORED(a_bad_plan_is_never_sent),
		ROUTED(each_card_is_answered),
		ROUTED(an_event_that_cannot_be_is_not_answered),
		ROUTED(no_new_plan_while_it_deals),
		STORED(one_read_takes_all),
		STORED(several_events_in_one_transfer),
		STORED(the_oldest_are_lost_first),
		STORED(a_jump_of_the_machine_is_flagged),
		STORED(transfers_of_the_wrong_size),
		STORED(after_unplug_events_come_first),
		STORED(unplugged_while_a_plan_is_loaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
