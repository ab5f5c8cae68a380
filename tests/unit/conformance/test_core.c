// SPDX-License-Identifier: LGPL-2.1-or-later
/* The cases on the pure core, against the emulator's pure machine, in virtual time. */
#include <stdio.h>

#include "../emulator_fixture.h"

#include "cases.h"
#include "core.h"
#include "device.h"

#define IN_TAG		1
#define OUT_TAG		2
#define GATE_TAG	3
#define CLEAR_TAG	4
#define IN_SIZE		64

struct world {
	struct dealbox_core core;	/* first: the ops find the world by it */
	struct fixture *fixture;
	struct device *device;
	bool asked;			/* a transfer of events is in flight */
	bool ended;			/* the other transfer has ended, */
	struct completion done;		/* with this result */
	bool clearing;			/* the halt of the event pipe */
	uint64_t ask_at;		/* time of the next transfer of events */
	char sent[200];
	char seen[200];			/* types of events */
	struct dealbox_event last;	/* event */
	unsigned int events, gates, arrivals;
};

/* Gate commands have their own endpoint, or share that of plans. */
static int send_gate(struct dealbox_core *core, const struct wire_gate *gate)
{
	struct world *w = (struct world *)core;
	struct transfer transfer = {
		.tag = GATE_TAG,
		.endpoint = core->dialect == &dealbox_serial ? DEVICE_EP_BULK_OUT :
							       DEVICE_EP_INT_OUT,
	};

	transfer.length = core->dialect->encode_gate(transfer.data, gate);
	device_submit(w->device, w->fixture->now, &transfer);
	w->gates++;
	return 0;
}

static void keep_event(struct dealbox_core *core, const struct dealbox_event *event)
{
	struct world *w = (struct world *)core;

	w->last = *event;
	w->events++;
	if (event->type != DEALBOX_EV_KEY || event->code != CONFORMANCE_KEY)
		snprintf(w->seen + strlen(w->seen), sizeof(w->seen) - strlen(w->seen), "%s%02x",
			 *w->seen ? " " : "", event->type);
}

static void note_arrival(struct dealbox_core *core)
{
	((struct world *)core)->arrivals++;
}

static const struct dealbox_core_ops ops = {
	.send_gate = send_gate, .event = keep_event, .awaited = note_arrival,
};

static void note_sent(struct world *w, const char *what)
{
	snprintf(w->sent + strlen(w->sent), sizeof(w->sent) - strlen(w->sent), "%s%s",
		 *w->sent ? " " : "", what);
}

static void note_request(struct world *w, uint8_t request)
{
	char code[3];

	snprintf(code, sizeof(code), "%02x", request);
	note_sent(w, code);
}

/* Hand a transfer of events to the core, which says when the next begins. */
static void take_transfer(struct world *w, const struct completion *done)
{
	static const struct transfer clear = {
		.tag = CLEAR_TAG, .setup = { 0x02, 1, 0, 0, DEVICE_EP_INT_IN, 0, 0, 0 },
	};
	uint64_t now = w->fixture->now;
	uint32_t pause;
	bool reset;

	w->asked = false;
	if (!done->status) {
		pause = dealbox_core_receive(&w->core, done->data, done->length, now * 1000);
	} else {
		pause = dealbox_core_failed(&w->core, now * 1000, &reset);
		assert_false(reset);
	}
	if (done->status == -EPIPE) {
		w->clearing = true;
		device_submit(w->device, now, &clear);
	}
	w->ask_at = now + pause * 1000;
}

static bool may_ask(const struct world *w)
{
	return !w->asked && !w->clearing && w->fixture->now >= w->ask_at;
}

/* Handle all transfers that have ended by now. */
static void reap(struct world *w)
{
	static struct completion done;
	static const struct transfer in = { .tag = IN_TAG, .endpoint = DEVICE_EP_INT_IN,
					    .length = IN_SIZE };

	do {
		if (may_ask(w)) {
			dealbox_retry_begins(&w->core.pace, w->fixture->now * 1000);
			device_submit(w->device, w->fixture->now, &in);
			w->asked = true;
		}
		while (device_reap(w->device, w->fixture->now, &done)) {
			if (done.tag == OUT_TAG) {
				w->done = done;
				w->ended = true;
				continue;
			}
			if (done.tag == GATE_TAG) {
				dealbox_core_gate_done(&w->core, done.status);
				continue;
			}
			if (done.tag == CLEAR_TAG) {
				w->clearing = false;
				continue;
			}
			take_transfer(w, &done);
		}
	} while (may_ask(w));
}

/* Advance time until over() is true, at most ms. */
static int run_until(struct world *w, bool (*over)(struct world *w), unsigned int ms)
{
	uint64_t end = w->fixture->now + ms * 1000ULL;
	uint64_t next, other;

	for (;;) {
		reap(w);
		if (over(w))
			return 0;
		next = device_next(w->device);
		other = machine_next(w->fixture->m);
		if (other < next)
			next = other;
		if (!w->asked && !w->clearing && w->ask_at < next)
			next = w->ask_at;
		if (next > end) {
			w->fixture->now = end;
			machine_run(w->fixture->m, end);
			return -ETIMEDOUT;
		}
		if (next > w->fixture->now)
			w->fixture->now = next;
		machine_run(w->fixture->m, w->fixture->now);
	}
}

static bool has_ended(struct world *w)
{
	return w->ended;
}

static bool has_arrived(struct world *w)
{
	return w->core.awaited == DEALBOX_AWAIT_NOTHING;
}

static int make_transfer(struct world *w, struct transfer *transfer, unsigned int ms)
{
	int error;

	transfer->tag = OUT_TAG;
	w->ended = false;
	device_submit(w->device, w->fixture->now, transfer);
	error = run_until(w, has_ended, ms);
	if (error) {
		device_cancel(w->device, OUT_TAG);
		return error;
	}
	return w->done.status;
}

static int make_control(struct world *w, const struct dealbox_call *call)
{
	struct transfer transfer = {
		.setup = { call->type, call->request, call->value & 0xff, call->value >> 8, 0, 0,
			   call->length & 0xff, call->length >> 8 },
		.length = call->length,
	};
	int error;

	note_request(w, call->request);
	if (call->type == WIRE_REQ_OUT)
		memcpy(transfer.data, call->data, call->length);
	error = make_transfer(w, &transfer, call->ms);
	if (error)
		return error;
	if (call->type == WIRE_REQ_IN)
		memcpy(call->data, w->done.data, w->done.length);
	return (int)w->done.length;
}

static int send_bytes(struct world *w, const struct dealbox_call *call)
{
	static struct transfer clear = {
		.setup = { 0x02, 1, 0, 0, DEVICE_EP_BULK_OUT, 0, 0, 0 },
	};
	struct transfer transfer = { .endpoint = DEVICE_EP_BULK_OUT, .length = call->size };
	int error;

	if (w->core.dialect == &dealbox_serial && call->bytes[1] == FRAME_REQUEST)
		note_request(w, call->bytes[FRAME_HEADER]);
	else
		note_sent(w, "*");
	memcpy(transfer.data, call->bytes, call->size);
	error = make_transfer(w, &transfer, call->ms);
	if (error == -EPIPE)
		make_transfer(w, &clear, WIRE_CONTROL_HOST_MS);
	return error;
}

static int run_call(struct world *w, struct dealbox_call *call)
{
	uint8_t data[WIRE_DATA_MAX], bytes[FRAME_MAX];
	enum dealbox_action action;
	int result = 0;

	call->data = data;
	call->bytes = bytes;
	for (;;) {
		action = dealbox_call_next(&w->core, call, result, w->fixture->now * 1000);
		switch (action) {
		case DEALBOX_CONTROL:
			result = make_control(w, call);
			break;
		case DEALBOX_SEND:
			result = send_bytes(w, call);
			break;
		case DEALBOX_AWAIT:
			result = run_until(w, has_arrived, call->ms);
			break;
		case DEALBOX_DONE:
			return call->error;
		}
	}
}

static void host_begin(struct world *w, bool serial)
{
	w->core.ops = &ops;
	w->core.dialect = serial ? &dealbox_serial : &dealbox_native;
	if (!serial)
		w->core.machine = *machine_view(w->fixture->m).desc;
	w->core.transfer_size = IN_SIZE;
}

static struct world *world_before_greeting(uint32_t kind, bool serial)
{
	const struct device_config config = {
		.serial = "C1", .product = "conformance", .int_in_size = IN_SIZE,
		.protocol = serial ? FRAME_PROTOCOL : WIRE_PROTOCOL,
	};
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->fixture = fixture_new(kind);
	w->device = device_new(w->fixture->m, &config);
	host_begin(w, serial);
	assert_int_equal(make_transfer(w, &(struct transfer){ .setup = { 0, 9, 1 } }, 1000), 0);
	return w;
}

static int greet(struct world *w)
{
	struct dealbox_call call = { 0 };

	*w->sent = '\0';
	dealbox_call_greet(&call);
	return run_call(w, &call);
}

static struct world *world_new(uint32_t kind, bool serial)
{
	struct world *w = world_before_greeting(kind, serial);

	assert_int_equal(greet(w), 0);
	assert_string_equal(w->sent, serial ? "00 01 03" : "01 03");
	*w->sent = '\0';
	return w;
}

static void world_free(struct world *w)
{
	device_free(w->device);
	fixture_free(w->fixture);
	free(w);
}

static int make_call(struct world *w, const struct conformance_case *c, uint32_t *result,
		     uint32_t *detail)
{
	struct dealbox_param param = { .id = DEALBOX_PARAM_SPEED, .value = 600 };
	struct dealbox_control locate = { .op = DEALBOX_OP_LOCATE, .arg = 1 };
	struct dealbox_plan plan = { .plan_id = CONFORMANCE_PLAN, .entries = 52,
				     .mode = DEALBOX_PLAN_BY_CARD };
	struct dealbox_attest attest = { .insertion = 1, .nonce = { 1 } };
	struct dealbox_attestation attestation;
	struct dealbox_counters counters;
	struct dealbox_identity identity;
	struct dealbox_status status;
	struct dealbox_call call = { 0 };
	int card, error;

	if (c->call == ASK_PARAM)
		param.value = 0;
	for (card = 0; card < 52; card++)
		plan.pocket[card] = card % 4;
	switch (c->call) {
	case ASK_STATUS:
		dealbox_call_ioctl(&call, DEALBOX_IOC_GET_STATUS, &status);
		break;
	case ASK_COUNTERS:
		dealbox_call_ioctl(&call, DEALBOX_IOC_GET_COUNTERS, &counters);
		break;
	case ASK_PARAM:
		dealbox_call_ioctl(&call, DEALBOX_IOC_GET_PARAM, &param);
		break;
	case SET_PARAM:
		dealbox_call_ioctl(&call, DEALBOX_IOC_SET_PARAM, &param);
		break;
	case LOCATE:
		dealbox_call_ioctl(&call, DEALBOX_IOC_CONTROL, &locate);
		break;
	case ASK_IDENTITY:
		dealbox_call_ioctl(&call, DEALBOX_IOC_GET_IDENTITY, &identity);
		break;
	case ASK_ATTESTATION:
		dealbox_call_ioctl(&call, DEALBOX_IOC_GET_ATTESTATION, &attestation);
		break;
	case ATTEST:
		dealbox_call_ioctl(&call, DEALBOX_IOC_ATTEST, &attest);
		break;
	default:
		call.patient = true;
		dealbox_call_ioctl(&call, DEALBOX_IOC_SET_PLAN, &plan);
		break;
	}
	error = run_call(w, &call);
	*result = call.result;
	*detail = call.detail;
	return error;
}

static bool key_is_pressed(struct world *w)
{
	return w->last.type == DEALBOX_EV_KEY && w->last.code == CONFORMANCE_KEY;
}

/* Wait until all events in flight have come, by pressing a key. */
static void await_key(struct world *w)
{
	machine_key(w->fixture->m, CONFORMANCE_KEY, true);
	assert_int_equal(run_until(w, key_is_pressed, 20000), 0);
}

/* A machine that refuses by result gets GET_RESULT after each command. */
static void sent_by_result(char *text, size_t size, const char *sent)
{
	const char *code;

	*text = '\0';
	for (code = sent; *code; code += strcspn(code, " "), code += *code == ' ') {
		bool asks = *code == '1' && strncmp(code + 2, " 03", 3);

		snprintf(text + strlen(text), size - strlen(text), "%s%.*s%s", *text ? " " : "",
			 (int)strcspn(code, " "), code, asks ? " 03" : "");
	}
}

static void check(const struct conformance_case *c, uint32_t kind, bool serial)
{
	const char *events = serial && c->serial_events ? c->serial_events : c->events;
	struct world *w = world_new(kind, serial);
	uint32_t result, detail;
	int error, expected = serial ? c->serial : c->native;
	char sent[200];

	if (kind & DEALBOX_CAP_REFUSES_BY_RESULT)
		sent_by_result(sent, sizeof(sent), c->sent);
	else
		strcpy(sent, c->sent);

	fixture_cards(w->fixture, 52);
	await_key(w);
	w->last.type = 0;
	*w->seen = '\0';
	if (c->rules)
		fixture_rule(w->fixture, c->rules);
	error = make_call(w, c, &result, &detail);
	if (error != expected || (error == -EREMOTEIO &&
				  (result != c->result || detail != c->detail)))
		fail_msg("%s, %s: error %d (%u, %u), not %d (%u, %u)", c->name,
			 serial ? "serial" : "native", error, result, detail, expected, c->result,
			 c->detail);
	if (strcmp(w->sent, sent))
		fail_msg("%s, %s: sent %s, not %s", c->name, serial ? "serial" : "native", w->sent,
			 sent);
	/* no late answer is taken for that of the next call */
	error = make_call(w, &(struct conformance_case){ .call = ASK_STATUS }, &result, &detail);
	if (error)
		fail_msg("%s, %s: %d afterwards", c->name, serial ? "serial" : "native", error);
	await_key(w);
	if (strcmp(w->seen, events ? events : ""))
		fail_msg("%s, %s: events %s, not %s", c->name, serial ? "serial" : "native",
			 w->seen, events ? events : "none");
	world_free(w);
}

static void check_all(bool serial, uint32_t capabilities)
{
	size_t n;

	capabilities |= DEALBOX_CAP_ATTEST;
	for (n = 0; n < conformance_count; n++) {
		if (conformance_cases[n].kinds & STORED)
			check(&conformance_cases[n], DEALBOX_CAP_STORED_PLAN | capabilities,
			      serial);
		if (conformance_cases[n].kinds & ROUTED)
			check(&conformance_cases[n], DEALBOX_CAP_HOST_ROUTED | capabilities,
			      serial);
	}
}

/* -- cases that need no fault of a machine, in both dialects -------------------- */

static struct world *routed_world(bool serial)
{
	return world_new(DEALBOX_CAP_HOST_ROUTED, serial);
}

static struct dealbox_plan bridge_plan(uint32_t id)
{
	struct dealbox_plan plan = { .plan_id = id, .entries = 52, .mode = DEALBOX_PLAN_BY_CARD };
	int card;

	for (card = 0; card < 52; card++)
		plan.pocket[card] = card % 4;
	return plan;
}

static int set_plan(struct world *w, struct dealbox_plan *plan)
{
	struct dealbox_call call = { .patient = true };

	dealbox_call_ioctl(&call, DEALBOX_IOC_SET_PLAN, plan);
	return run_call(w, &call);
}

static int start(struct world *w, struct dealbox_control *control, uint32_t plan)
{
	struct dealbox_call call = { 0 };

	*control = (struct dealbox_control){ .op = DEALBOX_OP_START, .plan_id = plan,
					     .insertion = 9 };
	dealbox_call_ioctl(&call, DEALBOX_IOC_CONTROL, control);
	return run_call(w, &call);
}

/* For a host-routed machine, the host gives the answers of a stored-plan machine. */
static void a_plan_that_the_host_keeps(void **state)
{
	struct dealbox_plan plan = bridge_plan(5), none = { 0 };
	struct dealbox_control control;
	struct dealbox_status status;
	struct dealbox_call call;
	struct world *w;
	int serial;

	(void)state;
	for (serial = 0; serial < 2; serial++) {
		w = routed_world(serial);
		assert_int_equal(start(w, &control, 5), -EREMOTEIO);
		assert_int_equal(control.result, DEALBOX_ERR_NO_PLAN);
		assert_int_equal(control.detail, 0);
		assert_int_equal(set_plan(w, &plan), 0);
		assert_int_equal(start(w, &control, 6), -EREMOTEIO);
		assert_int_equal(control.result, DEALBOX_ERR_WRONG_PLAN);
		assert_int_equal(control.detail, 5);
		assert_string_equal(w->sent, "02");
		call = (struct dealbox_call){ 0 };
		dealbox_call_ioctl(&call, DEALBOX_IOC_GET_STATUS, &status);
		assert_int_equal(run_call(w, &call), 0);
		assert_int_equal(status.plan_id, 5);
		/* START reaches the machine, which refuses it because there is no board */
		assert_int_equal(start(w, &control, 5), -EREMOTEIO);
		assert_int_equal(control.result, DEALBOX_ERR_NO_BOARD);
		assert_int_equal(set_plan(w, &none), 0);
		assert_int_equal(start(w, &control, 5), -EREMOTEIO);
		assert_int_equal(control.result, DEALBOX_ERR_NO_PLAN);
		/* the bus was reset */
		assert_int_equal(set_plan(w, &plan), 0);
		dealbox_core_restart(&w->core);
		assert_int_equal(start(w, &control, 5), -EREMOTEIO);
		assert_int_equal(control.result, DEALBOX_ERR_NO_PLAN);
		world_free(w);
	}
}

/* A late answer to a program that has ended is not taken for an answer to the next one. */
static void an_answer_to_the_host_before(void **state)
{
	const struct conformance_case c = { .call = LOCATE };
	struct world *w = world_new(DEALBOX_CAP_STORED_PLAN, true);
	uint32_t result, detail;

	(void)state;
	fixture_rule(w->fixture, "on request LOCATE: delay 1300");
	assert_int_equal(make_call(w, &c, &result, &detail), 0);
	memset(&w->core, 0, sizeof(w->core));
	host_begin(w, true);
	assert_int_equal(greet(w), 0);
	*w->sent = '\0';
	fixture_rule(w->fixture, "on request LOCATE times 2: ignore");
	assert_int_equal(make_call(w, &c, &result, &detail), -ETIMEDOUT);
	assert_string_equal(w->sent, "1a 03 1a 03");
	world_free(w);
}

static void a_plan_is_forgotten(void **state)
{
	struct dealbox_plan none = { 0 }, bad = bridge_plan(5);
	struct world *w = world_new(DEALBOX_CAP_STORED_PLAN, false);

	(void)state;
	assert_int_equal(set_plan(w, &none), 0);
	assert_string_equal(w->sent, "11");
	bad.pocket[0] = 4;
	assert_int_equal(set_plan(w, &bad), -EINVAL);
	assert_string_equal(w->sent, "11");
	world_free(w);
}

/* O_NONBLOCK: the plan is sent, and the verdict comes as an event. */
static void a_plan_that_nobody_waits_for(void **state)
{
	struct dealbox_plan plan = bridge_plan(5);
	struct dealbox_call call = { 0 };
	struct world *w = world_new(DEALBOX_CAP_STORED_PLAN, false);

	(void)state;
	fixture_rule(w->fixture, "on event PLAN_LOADED: drop");
	dealbox_call_ioctl(&call, DEALBOX_IOC_SET_PLAN, &plan);
	assert_int_equal(run_call(w, &call), 0);
	assert_int_equal(w->core.awaited, DEALBOX_AWAIT_NOTHING);
	world_free(w);
}

/* A reset or an unplug ends a wait. */
static void a_wait_that_is_ended(void **state)
{
	struct dealbox_plan plan = bridge_plan(5);
	uint8_t data[WIRE_DATA_MAX], bytes[FRAME_MAX];
	struct dealbox_call call = { .data = data, .bytes = bytes, .patient = true };
	struct world *w = world_new(DEALBOX_CAP_STORED_PLAN, false);

	(void)state;
	dealbox_call_ioctl(&call, DEALBOX_IOC_SET_PLAN, &plan);
	assert_int_equal(dealbox_call_next(&w->core, &call, 0, 0), DEALBOX_CONTROL);
	assert_int_equal(dealbox_call_next(&w->core, &call, 16, 0), DEALBOX_SEND);
	assert_int_equal(call.ms, 2000);
	assert_int_equal(dealbox_call_next(&w->core, &call, 0, 0), DEALBOX_AWAIT);
	assert_int_equal(call.ms, 3000);
	dealbox_core_fail_call(&w->core, -ENODEV);
	assert_int_equal(dealbox_call_next(&w->core, &call, 0, 0), DEALBOX_DONE);
	assert_int_equal(call.error, -ENODEV);
	/* no effect, because no call waits */
	dealbox_core_fail_call(&w->core, -EIO);
	assert_int_equal(dealbox_call_next(&w->core, &call, 0, 0), DEALBOX_DONE);
	world_free(w);
}

static int pause_deal(struct world *w)
{
	struct dealbox_call call = { 0 };

	*w->sent = '\0';
	dealbox_call_pause(&call);
	return run_call(w, &call);
}

static void the_pause_at_the_end_of_a_claim(void **state)
{
	static const struct {
		const char *rules, *sent;
		int error;
	} cases[] = {
		{ "", "02", 0 },
		/* the status says that it deals; it does not, so it refuses */
		{ "on request GET_STATUS: set 0 01", "02 13 03", 0 },
		/* it may deal */
		{ "on request GET_STATUS: stall", "02 13 03", 0 },
		{ "on request GET_STATUS: no-answer", "02 13 03", 0 },
		{ "on request GET_STATUS: no-answer\non request PAUSE times 2: ignore",
		  "02 13 03 13 03", -ETIMEDOUT },
	};
	struct world *w;
	size_t n;
	int serial;

	(void)state;
	for (n = 0; n < sizeof(cases) / sizeof(*cases); n++) {
		for (serial = 0; serial < 2; serial++) {
			w = world_new(DEALBOX_CAP_STORED_PLAN, serial);
			fixture_rule(w->fixture, cases[n].rules);
			assert_int_equal(pause_deal(w), cases[n].error);
			assert_string_equal(w->sent, cases[n].sent);
			world_free(w);
		}
	}
}

static void a_machine_that_goes(void **state)
{
	uint8_t data[WIRE_DATA_MAX], bytes[FRAME_MAX];
	struct dealbox_call call = { .data = data, .bytes = bytes };
	struct world *w = world_new(DEALBOX_CAP_STORED_PLAN, false);

	(void)state;
	dealbox_call_pause(&call);
	assert_int_equal(dealbox_call_next(&w->core, &call, 0, 0), DEALBOX_CONTROL);
	assert_int_equal(call.request, WIRE_GET_STATUS);
	assert_int_equal(dealbox_call_next(&w->core, &call, -ESHUTDOWN, 0), DEALBOX_DONE);
	assert_int_equal(call.error, -ENODEV);
	/* during a command, and during the query for its result */
	call = (struct dealbox_call){ .data = data, .bytes = bytes };
	dealbox_call_ioctl(&call, DEALBOX_IOC_SET_PARAM, &(struct dealbox_param){ .id = 1 });
	assert_int_equal(dealbox_call_next(&w->core, &call, 0, 0), DEALBOX_CONTROL);
	assert_int_equal(dealbox_call_next(&w->core, &call, -ETIMEDOUT, 0), DEALBOX_CONTROL);
	assert_int_equal(call.request, WIRE_GET_RESULT);
	assert_int_equal(dealbox_call_next(&w->core, &call, -ENODEV, 0), DEALBOX_DONE);
	assert_int_equal(call.error, -ENODEV);
	world_free(w);
}

static void parameters_that_nobody_has(void **state)
{
	struct world *w = world_new(DEALBOX_CAP_STORED_PLAN, false);
	struct dealbox_param param = { .id = 0x10001 };
	struct dealbox_call call = { 0 };

	(void)state;
	dealbox_call_ioctl(&call, DEALBOX_IOC_GET_PARAM, &param);
	assert_int_equal(run_call(w, &call), -EREMOTEIO);
	assert_int_equal(param.result, DEALBOX_ERR_BAD_VALUE);
	assert_int_equal(param.detail, 4);
	param = (struct dealbox_param){ .id = DEALBOX_PARAM_SPEED, .min = 1, .result = 7 };
	call = (struct dealbox_call){ 0 };
	dealbox_call_ioctl(&call, DEALBOX_IOC_SET_PARAM, &param);
	assert_int_equal(run_call(w, &call), -EINVAL);
	assert_int_equal(param.result, 0);
	assert_string_equal(w->sent, "");
	world_free(w);
}

/* Sequence numbers continue those of the previous host, and skip 0. */
static void numbers_of_commands(void **state)
{
	struct world *w = world_new(DEALBOX_CAP_STORED_PLAN, false);
	struct conformance_case c = { .call = LOCATE };
	struct dealbox_call call = { 0 };
	uint32_t unused;

	(void)state;
	assert_int_equal(make_call(w, &c, &unused, &unused), 0);
	assert_int_equal(w->core.sequence, 1);
	w->core.sequence = 0;
	dealbox_call_greet(&call);
	assert_int_equal(run_call(w, &call), 0);
	assert_int_equal(w->core.sequence, 1);
	w->core.sequence = UINT32_MAX;
	assert_int_equal(make_call(w, &c, &unused, &unused), 0);
	assert_int_equal(w->core.sequence, 1);
	world_free(w);
}

/* The errno for each error of a URB or of libusb. */
static void errors_of_transfers(void **state)
{
	static const struct {
		int transfer, told;
	} errors[] = {
		{ -ENOENT, -ENODEV }, { -ESHUTDOWN, -ENODEV }, { -ENODEV, -ENODEV },
		{ -EREMOTEIO, -EPROTO }, { -EOVERFLOW, -EPROTO }, { -EPIPE, -EPROTO },
		{ -ENOMEM, -ENOMEM }, { -ETIMEDOUT, -ETIMEDOUT }, { -EPROTO, -EIO },
		{ -EILSEQ, -EIO }, { -EIO, -EIO }, { 0, -EPROTO }, { 31, -EPROTO },
	};
	uint8_t data[WIRE_DATA_MAX] = { 0 }, bytes[FRAME_MAX];
	struct world *w = world_new(DEALBOX_CAP_STORED_PLAN, false);
	struct dealbox_status status;
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(errors) / sizeof(*errors); n++) {
		struct dealbox_call call = { .data = data, .bytes = bytes };

		dealbox_call_ioctl(&call, DEALBOX_IOC_GET_STATUS, &status);
		assert_int_equal(dealbox_call_next(&w->core, &call, 0, 0), DEALBOX_CONTROL);
		assert_int_equal(call.ms, 1000);
		assert_int_equal(dealbox_call_next(&w->core, &call, errors[n].transfer, 0),
				 DEALBOX_DONE);
		assert_int_equal(call.error, errors[n].told);
	}
	world_free(w);
}

static void what_a_machine_says_of_itself(void **state)
{
	static const struct {
		const char *rules;
		bool serial;
		int error;
	} cases[] = {
		{ "on request 0x00: set 5 02", true, -EPROTONOSUPPORT },	/* protocol 2.0 */
		{ "on request 0x00: set 0 1c", true, 0 },
		{ "on request 0x00: stall", true, -EPROTO },
		{ "on request 0x00: no-answer", true, -ETIMEDOUT },
		{ "on request GET_INFO: stall", false, -EPROTO },
		{ "on request GET_INFO: no-answer", false, -ETIMEDOUT },
		{ "on request GET_RESULT: stall", false, -EPROTO },
		{ "on request GET_RESULT: short 15", false, -EPROTO },
	};
	struct world *w;
	int serial;
	size_t n;

	(void)state;
	for (serial = 0; serial < 2; serial++) {
		w = world_new(DEALBOX_CAP_HOST_ROUTED, serial);
		assert_string_equal(w->core.info.name, "bench");
		assert_int_equal(w->core.machine.pockets, 4);
		assert_int_equal(w->core.source.pockets, 4);
		assert_true(w->core.routed);
		world_free(w);
	}
	for (n = 0; n < sizeof(cases) / sizeof(*cases); n++) {
		w = world_before_greeting(DEALBOX_CAP_STORED_PLAN, cases[n].serial);
		fixture_rule(w->fixture, cases[n].rules);
		assert_int_equal(greet(w), cases[n].error);
		world_free(w);
	}
}

/* A device without a machine descriptor is asked for it before anything else. */
static void a_machine_that_is_known_by_its_answer(void **state)
{
	static const struct { const char *rules; int error; } cases[] = {
		{ "", 0 },
		{ "on request 0x00: stall", -EPROTO },
		{ "on request 0x00: short 23", -EPROTO },
		{ "on request 0x00: set 1 25", -EPROTO },
		{ "on request 0x00: set 6 00", -EPROTO },
		{ "on request 0x00: set 0 17", -EPROTO },
		{ "on request 0x00: set 0 1c", 0 },	/* of a later minor version */
		{ "on request 0x00: set 5 02", -EPROTONOSUPPORT },
		{ "on request 0x00: no-answer", -ETIMEDOUT },
	};
	struct wire_descriptor none = { 0 };
	struct world *w;
	int serial;
	size_t n;

	(void)state;
	for (serial = 0; serial < 2; serial++) {
		for (n = 0; n < sizeof(cases) / sizeof(*cases); n++) {
			struct dealbox_call call = { 0 };

			w = world_before_greeting(DEALBOX_CAP_STORED_PLAN, serial);
			w->core.machine = none;
			fixture_rule(w->fixture, cases[n].rules);
			dealbox_call_describe(&call);
			assert_int_equal(run_call(w, &call), cases[n].error);
			assert_string_equal(w->sent, "00");
			assert_int_equal(call.type, WIRE_REQ_IN);
			assert_int_equal(w->core.machine.pockets, cases[n].error ? 0 : 4);
			/* in frames, it is not asked twice */
			if (!cases[n].error) {
				assert_int_equal(greet(w), 0);
				assert_string_equal(w->sent, "01 03");
			}
			world_free(w);
		}
	}
}

static bool deal_is_over(struct world *w)
{
	return w->last.type == DEALBOX_EV_DEAL_DONE;
}

static bool board_is_in(struct world *w)
{
	return w->last.type == DEALBOX_EV_BOARD_INSERTED;
}

/* A whole board, routed by the host; then status, counters and parameters. */
static void a_board_is_dealt(void **state)
{
	struct dealbox_plan plan = bridge_plan(5);
	struct dealbox_param param = { .id = DEALBOX_PARAM_SPEED };
	struct dealbox_counters counters = { 0 };
	struct dealbox_status status;
	struct dealbox_control control;
	struct dealbox_call call;
	uint32_t kind = DEALBOX_CAP_STORED_PLAN;
	struct world *w;
	int way;

	(void)state;
	for (way = 0; way < 4; way++) {
		if (way == 2)
			kind = DEALBOX_CAP_HOST_ROUTED;
		w = world_new(kind, way & 1);
		fixture_cards(w->fixture, 52);
		assert_int_equal(machine_insert(w->fixture->m, 3), 0);
		assert_int_equal(run_until(w, board_is_in, 5000), 0);
		assert_int_equal(set_plan(w, &plan), 0);
		assert_int_equal(w->arrivals > 0, kind == DEALBOX_CAP_STORED_PLAN || way & 1);
		call = (struct dealbox_call){ 0 };
		control = (struct dealbox_control){ .op = DEALBOX_OP_START, .plan_id = 5,
						    .insertion = w->last.insertion };
		dealbox_call_ioctl(&call, DEALBOX_IOC_CONTROL, &control);
		assert_int_equal(run_call(w, &call), 0);
		assert_int_equal(call.command, DEALBOX_OP_START);
		assert_int_equal(call.command_error, 0);
		assert_int_equal(run_until(w, deal_is_over, 120000), 0);
		assert_int_equal(w->last.counts[0], 13);
		assert_int_equal(w->last.counts[3], 13);
		assert_int_equal(w->gates, kind == DEALBOX_CAP_HOST_ROUTED ? 52 : 0);
		assert_int_equal(w->core.source.seqno, w->events);
		assert_int_equal(w->last.seqno, w->events - 1);

		call = (struct dealbox_call){ 0 };
		dealbox_call_ioctl(&call, DEALBOX_IOC_GET_STATUS, &status);
		assert_int_equal(run_call(w, &call), 0);
		assert_int_equal(status.state, DEALBOX_STATE_DONE);
		assert_int_equal(status.plan_id, 5);
		assert_int_equal(status.seqno, w->events);
		assert_int_equal(status.machine_seq, w->last.machine_seq + 1);
		call = (struct dealbox_call){ 0 };
		dealbox_call_ioctl(&call, DEALBOX_IOC_GET_COUNTERS, &counters);
		assert_int_equal(run_call(w, &call), 0);
		assert_int_equal(counters.boards_dealt, 1);
		call = (struct dealbox_call){ 0 };
		dealbox_call_ioctl(&call, DEALBOX_IOC_GET_PARAM, &param);
		assert_int_equal(run_call(w, &call), 0);
		assert_true(param.min && param.min <= param.value && param.value <= param.max);
		param = (struct dealbox_param){ .id = DEALBOX_PARAM_SPEED };
		world_free(w);
	}
}

/* The host backs off after bad transfers, and resets after a second of errors. */
static void how_soon_events_are_asked_for(void **state)
{
	static const uint32_t pauses[] = { 0, 13, 26, 52, 104, 104 };
	static const uint8_t bytes[WIRE_EVENT_SIZE] = { DEALBOX_EV_KEY };
	static const uint8_t card[WIRE_EVENT_SIZE] = { DEALBOX_EV_CARD_READ, [17] = 54 };
	struct world *w = world_new(DEALBOX_CAP_STORED_PLAN, false);
	uint64_t now = 1000000000000;
	bool reset = false;
	unsigned int n;

	(void)state;
	for (n = 0; n < 6; n++, now += 1000000)
		assert_int_equal(dealbox_core_receive(&w->core, n % 2 ? card : bytes,
						      n % 2 ? 32 : 31, now), pauses[n]);
	assert_int_equal(dealbox_core_receive(&w->core, bytes, 32, now), 0);
	now += 600000000;
	assert_int_equal(dealbox_core_failed(&w->core, now, &reset), 0);
	assert_false(reset);
	now += 400000000;
	assert_int_equal(dealbox_core_failed(&w->core, now, &reset), 13);
	assert_false(reset);
	now += 400000000;
	dealbox_core_failed(&w->core, now, &reset);
	assert_false(reset);
	now += 200000000;
	dealbox_core_failed(&w->core, now, &reset);
	assert_true(reset);
	world_free(w);
}

static void native(void **state)
{
	(void)state;
	check_all(false, 0);
}

static void serial(void **state)
{
	(void)state;
	check_all(true, 0);
}

/* On a machine that refuses by result, all cases have the same outcome, with one more query. */
static void the_cases_on_a_machine_that_refuses_by_result(void **state)
{
	(void)state;
	check_all(false, DEALBOX_CAP_REFUSES_BY_RESULT);
}

/* GET_RESULT does not know the command, so it never arrived: it is repeated once. */
static void a_command_that_no_result_tells_of(void **state)
{
	struct dealbox_control locate = { .op = DEALBOX_OP_LOCATE, .arg = 1 };
	struct world *w = world_new(DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_REFUSES_BY_RESULT, false);
	struct dealbox_call call = { 0 };

	(void)state;
	fixture_rule(w->fixture, "on request GET_RESULT always: set 0 00000000");
	dealbox_call_ioctl(&call, DEALBOX_IOC_CONTROL, &locate);
	assert_int_equal(run_call(w, &call), -EPROTO);
	assert_string_equal(w->sent, "1a 03 1a 03");
	world_free(w);

	/* GET_RESULT fails, so the call does, too */
	w = world_new(DEALBOX_CAP_STORED_PLAN | DEALBOX_CAP_REFUSES_BY_RESULT, false);
	fixture_rule(w->fixture, "on request GET_RESULT: stall");
	memset(&call, 0, sizeof(call));
	dealbox_call_ioctl(&call, DEALBOX_IOC_CONTROL, &locate);
	assert_int_equal(run_call(w, &call), -EPROTO);
	assert_string_equal(w->sent, "1a 03");
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cases_on_a_machine_that_refuses_by_result),
		cmocka_unit_test(a_command_that_no_result_tells_of),
		cmocka_unit_test(native),
		cmocka_unit_test(serial),
		cmocka_unit_test(a_plan_that_the_host_keeps),
		cmocka_unit_test(an_answer_to_the_host_before),
		cmocka_unit_test(a_plan_is_forgotten),
		cmocka_unit_test(a_plan_that_nobody_waits_for),
		cmocka_unit_test(a_wait_that_is_ended),
		cmocka_unit_test(the_pause_at_the_end_of_a_claim),
		cmocka_unit_test(a_machine_that_goes),
		cmocka_unit_test(parameters_that_nobody_has),
		cmocka_unit_test(numbers_of_commands),
		cmocka_unit_test(errors_of_transfers),
		cmocka_unit_test(what_a_machine_says_of_itself),
		cmocka_unit_test(a_machine_that_is_known_by_its_answer),
		cmocka_unit_test(a_board_is_dealt),
		cmocka_unit_test(how_soon_events_are_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
