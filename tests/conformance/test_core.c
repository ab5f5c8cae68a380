// SPDX-License-Identifier: LGPL-2.1-or-later
/* The cases on the pure core, against the emulator's pure machine, in virtual time. */
#include <stdio.h>

#include "../unit/emulator_rig.h"

#include "cases.h"
#include "core.h"
#include "device.h"

#define IN_TAG		1
#define OUT_TAG		2
#define IN_SIZE		64

struct world {
	struct dealbox_core core;	/* first: the ops find the world by it */
	struct rig *rig;
	struct device *device;
	bool asked;			/* for a transfer of events */
	bool ended;			/* the other transfer has */
	struct completion done;		/* ... so */
	char sent[200];
};

static void send_gate(struct dealbox_core *core, const struct wire_gate *gate)
{
	(void)core;
	(void)gate;
}

static void event(struct dealbox_core *core, const struct dealbox_event *event)
{
	(void)core;
	(void)event;
}

static const struct dealbox_core_ops ops = { .send_gate = send_gate, .event = event };

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

/* Everything that has ended by now. */
static void reap(struct world *w)
{
	static struct completion done;
	static const struct transfer in = { .tag = IN_TAG, .endpoint = DEVICE_EP_INT_IN,
					    .length = IN_SIZE };

	do {
		if (!w->asked)
			device_submit(w->device, w->rig->now, &in);
		w->asked = true;
		while (device_reap(w->device, w->rig->now, &done)) {
			if (done.tag == OUT_TAG) {
				w->done = done;
				w->ended = true;
				continue;
			}
			w->asked = false;
			if (!done.status)
				dealbox_core_receive(&w->core, done.data, done.length,
						     w->rig->now * 1000);
		}
	} while (!w->asked);
}

/* Lets time go by until that is true, at most ms. */
static int run_until(struct world *w, bool (*over)(struct world *w), unsigned int ms)
{
	uint64_t end = w->rig->now + ms * 1000ULL;
	uint64_t next, other;

	for (;;) {
		reap(w);
		if (over(w))
			return 0;
		next = device_next(w->device);
		other = machine_next(w->rig->m);
		if (other < next)
			next = other;
		if (next > end) {
			w->rig->now = end;
			machine_run(w->rig->m, end);
			return -ETIMEDOUT;
		}
		if (next > w->rig->now)
			w->rig->now = next;
		machine_run(w->rig->m, w->rig->now);
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
	device_submit(w->device, w->rig->now, transfer);
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
	uint8_t data[WIRE_INFO_SIZE], bytes[FRAME_MAX];
	enum dealbox_action action;
	int result = 0;

	call->data = data;
	call->bytes = bytes;
	for (;;) {
		action = dealbox_call_next(&w->core, call, result, w->rig->now * 1000);
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

static struct world *world_new(uint32_t kind, bool serial)
{
	const struct device_config config = {
		.serial = "C1", .product = "conformance", .int_in_size = IN_SIZE,
		.serial_dialect = serial,
	};
	struct world *w = calloc(1, sizeof(*w));
	struct dealbox_call call = { 0 };

	assert_non_null(w);
	w->rig = rig_new(kind);
	w->device = device_new(w->rig->m, &config);
	w->core.ops = &ops;
	w->core.dialect = serial ? &dealbox_serial : &dealbox_native;
	w->core.machine = *machine_view(w->rig->m).desc;
	w->core.transfer_size = IN_SIZE;
	assert_int_equal(make_transfer(w, &(struct transfer){ .setup = { 0, 9, 1 } }, 1000), 0);
	dealbox_call_greet(&call);
	assert_int_equal(run_call(w, &call), 0);
	*w->sent = '\0';
	return w;
}

static void world_free(struct world *w)
{
	device_free(w->device);
	rig_free(w->rig);
	free(w);
}

static int make_call(struct world *w, const struct conformance_case *c, uint32_t *result,
		     uint32_t *detail)
{
	struct dealbox_param param = { .id = DEALBOX_PARAM_SPEED, .value = 600 };
	struct dealbox_control locate = { .op = DEALBOX_OP_LOCATE, .arg = 1 };
	struct dealbox_plan plan = { .plan_id = CONFORMANCE_PLAN, .entries = 52,
				     .mode = DEALBOX_PLAN_BY_CARD };
	struct dealbox_counters counters;
	struct dealbox_status status;
	struct dealbox_call call = { 0 };
	int card, error;

	if (c->call == ASK_PARAM)
		param.value = 0;
	for (card = 0; card < 52; card++)
		plan.pocket[card] = card % 4;
	switch (c->call) {
	case ASK_STATUS:
		dealbox_call_status(&call, &status);
		break;
	case ASK_COUNTERS:
		dealbox_call_counters(&call, &counters);
		break;
	case ASK_PARAM:
		dealbox_call_get_param(&call, &param);
		break;
	case SET_PARAM:
		dealbox_call_set_param(&call, &param);
		break;
	case LOCATE:
		dealbox_call_control(&call, &locate);
		break;
	default:
		dealbox_call_set_plan(&call, &plan, true);
		break;
	}
	error = run_call(w, &call);
	*result = call.result;
	*detail = call.detail;
	return error;
}

static void check(const struct conformance_case *c, uint32_t kind, bool serial)
{
	struct world *w = world_new(kind, serial);
	uint32_t result, detail;
	int error, expected = serial ? c->serial : c->native;

	if (c->rules)
		rig_rule(w->rig, c->rules);
	error = make_call(w, c, &result, &detail);
	if (error != expected || (error == -EREMOTEIO &&
				  (result != c->result || detail != c->detail)))
		fail_msg("%s, %s: error %d (%u, %u), not %d (%u, %u)", c->name,
			 serial ? "serial" : "native", error, result, detail, expected, c->result,
			 c->detail);
	if (strcmp(w->sent, c->sent))
		fail_msg("%s, %s: sent %s, not %s", c->name, serial ? "serial" : "native", w->sent,
			 c->sent);
	/* and the next call is answered: nothing that came late is taken for it */
	error = make_call(w, &(struct conformance_case){ .call = ASK_STATUS }, &result, &detail);
	if (error)
		fail_msg("%s, %s: %d afterwards", c->name, serial ? "serial" : "native", error);
	world_free(w);
}

static void check_all(bool serial)
{
	size_t n;

	for (n = 0; n < conformance_count; n++) {
		if (conformance_cases[n].kinds & STORED)
			check(&conformance_cases[n], DEALBOX_CAP_STORED_PLAN, serial);
		if (conformance_cases[n].kinds & ROUTED)
			check(&conformance_cases[n], DEALBOX_CAP_HOST_ROUTED, serial);
	}
}

static void native(void **state)
{
	(void)state;
	check_all(false);
}

static void serial(void **state)
{
	(void)state;
	check_all(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(native),
		cmocka_unit_test(serial),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
