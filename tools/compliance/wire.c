// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests, plans and events in the dialect of the machine; every event is watched. */
#include <errno.h>
#include <linux/crc32.h>
#include <linux/unaligned.h>
#include <stdlib.h>
#include <string.h>

#include "local.h"
#include "run.h"
#include "tests.h"

/* A machine has 500 ms. What comes within this time is measured; nothing after it. */
#define CONTROL_WAIT_MS		3000
#define OUT_WAIT_MS		3000
/* An event that GET_STATUS has numbered */
#define NUMBERED_WAIT_MS	1000
#define STATUS_TRIES		40
/* more than any test causes */
#define EVENTS_MAX		20000
#define FETCH_MS		1000

static void died(struct run *r)
{
	r->gone = true;
	check(r, "R-2-3", false,
	      "the machine is gone: it was unplugged, or its firmware restarted");
	end_test(r);
}

/* End the test: it needs what this address cannot do. */
noreturn static void unable(struct run *r)
{
	not_supported(r, r->access->local ?
		      "local: gives no raw access to the machine; test it by usb: for that" :
		      "this address cannot do that");
}

/* --- control transfers ---------------------------------------------------------------------- */

int control(struct run *r, uint8_t type, uint8_t request, uint16_t value, uint16_t index,
	    void *data, uint16_t length)
{
	const uint8_t setup[8] = { type, request, value & 0xff, (uint8_t)(value >> 8), index & 0xff,
				   (uint8_t)(index >> 8), length & 0xff, (uint8_t)(length >> 8) };
	uint64_t began = now_us();
	int ret;

	test_alive(r);
	uncertainty_begin();
	ret = r->access->ops->control(r->access, setup, data, CONTROL_WAIT_MS);
	if (ret == -ENODEV)
		died(r);
	if (ret == -EOPNOTSUPP)
		unable(r);
	note(r, "control %02x %02x value %04x index %04x length %u: %s%d", type, request, value,
	     index, length, ret == -EPIPE ? "stall " : "", ret);
	check_time(r, "R-2-3", now_us() - began, 500000, "a control transfer");
	if (ret == -ETIMEDOUT)
		end_test(r);
	if (ret >= 0 && type == 0x00 && request == 9)
		r->unconfigured = !value;
	if (ret >= 0)
		times_add(r, "control_ms", (double)(now_us() - began) / 1000);
	return ret;
}

int clear_halt(struct run *r, uint8_t endpoint)
{
	return control(r, 0x02, 1, 0, endpoint, NULL, 0);
}

/* --- what comes in ---------------------------------------------------------------------------- */

/* Return the pocket that the plan has for a card, 255 if none. */
static uint8_t pocket_of(const struct wire_plan *plan, const struct wire_event *e)
{
	if (plan->mode == DEALBOX_PLAN_CAPTURE)
		return plan->pocket[0];
	if (plan->mode == DEALBOX_PLAN_BY_POSITION)
		return e->position < plan->entries ? plan->pocket[e->position] : DEALBOX_NONE;
	return e->card < plan->entries ? plan->pocket[e->card] : DEALBOX_NONE;
}

/* Host-routed: answer a card as the plan says (§6). */
static void answer_card(struct run *r, const struct wire_event *e)
{
	uint8_t pocket = pocket_of(&r->plan, e);
	unsigned int i;

	for (i = 0; i < e->position && e->card != DEALBOX_NONE; i++)
		if (r->observer.cards[i].routed && r->observer.cards[i].card == e->card) {
			gate(r, e, DEALBOX_NONE, DEALBOX_EV_REPEATED_CARD, i);
			return;
		}
	gate(r, e, pocket, pocket == DEALBOX_NONE ? DEALBOX_EV_NOT_IN_PLAN : 0, 0);
}

/*
 * Judge the events that have come. While a command is under way, they wait: those that it causes
 * may come before its end (R-2.2-13).
 */
static void observe(struct run *r)
{
	/* what the observer looks at in each event, and in the status behind it */
	static const char *const looks[] = {
		"R-0-2", "R-2.1-5", "R-2.1-9", "R-4-4", "R-4-5", "R-4-6", "R-4-10", "R-4-13",
		"R-4-15", "R-4.2-1", "R-4.2-2", "R-4.2-3", "R-5-4", "R-5-5", "R-5.2-1", "R-5.2-2",
		"R-5.2-7", "R-5.2-8"
	};
	size_t i;

	r->deferring = false;
	/* the module does not show reserved fields */
	for (i = !!r->access->local;
	     i < sizeof(looks) / sizeof(*looks) && r->event_judged < r->event_count; i++)
		check(r, looks[i], true, "observed");
	if (ROUTED(r) && r->observer.started) {
		check(r, "R-6-4", true, "observed");
		check(r, "R-6-11", true, "observed");
	}
	while (r->event_judged < r->event_count) {
		struct wire_event e = r->events[r->event_judged].e;

		/* The module has routed it, and may have held it. */
		if (r->access->local && e.type == DEALBOX_EV_CARD_READ)
			r->observer.gate[e.position & 63] = pocket_of(&r->plan, &e);
		observer_event(&r->observer, r->events[r->event_judged++].bytes);
		if (r->route && ROUTED(r) && !r->access->local && e.type == DEALBOX_EV_CARD_READ &&
		    !r->observer.test)
			answer_card(r, &e);
	}
}

static void take_event(struct run *r, const uint8_t *bytes)
{
	struct event *event;

	if (r->event_count == r->event_room) {
		size_t room = r->event_room ? 2 * r->event_room : 1024;
		struct event *events = realloc(r->events, room * sizeof(*events));

		if (!events)
			end_test(r);
		r->events = events;
		r->event_room = room;
	}
	/* A flood must not take the limit of each test. */
	if (r->event_count - r->event_first >= EVENTS_MAX && r->row &&
	    strcmp(r->row->group, "endurance")) {
		check(r, "R-4.1-1", false, "there are more than %d events", EVENTS_MAX);
		end_test(r);
	}
	event = &r->events[r->event_count++];
	event->us = now_us();
	memcpy(event->bytes, bytes, WIRE_EVENT_SIZE);
	dealbox_decode_event(bytes, &event->e);
	note(r,
	     "event %u %s insertion %u position %u card %u pocket %u "
	     "quality %u code %u args %u %u flags %u",
	     event->e.number, event_name(event->e.type), event->e.insertion, event->e.position,
	     event->e.card, event->e.pocket, event->e.quality, event->e.code, event->e.arg[0],
	     event->e.arg[1], event->e.flags);
	if (!r->deferring)
		observe(r);
}

static void take_frames(struct run *r, const uint8_t *data, size_t length)
{
	struct frame frame;

	while (dealbox_frame_read(&r->frames, &data, &length, &frame)) {
		check(r, "R-S2-1", frame.kind & 0x80,
		      "the machine sends a frame of the kind %02x, which is the host's",
		      frame.kind);
		/* A later version may add kinds (R-S2-5). */
		if (frame.kind != FRAME_ANSWER && frame.kind != FRAME_EVENT)
			continue;
		if (frame.kind == FRAME_EVENT) {
			check(r, "R-S2-1", frame.length == WIRE_EVENT_SIZE && !frame.tag,
			      "a frame EVENT has %u bytes and the tag %u", frame.length, frame.tag);
			if (frame.length == WIRE_EVENT_SIZE)
				take_event(r, frame.payload);
		} else if (frame.kind == FRAME_ANSWER && frame.length && r->answer_length < 0) {
			check(r, "R-S3-2", frame.tag == r->tag,
			      "an ANSWER has the tag %u, and the request had %u", frame.tag,
			      r->tag);
			memcpy(r->answer, frame.payload, frame.length);
			r->answer_length = frame.length;
		} else {
			check(r, "R-S3-2", false, "an ANSWER that nobody asked for");
		}
	}
	if (r->frames.dropped)
		check(r, "R-S2-1", false, "%u bytes belong to no frame", r->frames.dropped);
	r->frames.dropped = 0;
}

static void take_transfer(struct run *r, const uint8_t *data, size_t length)
{
	size_t at;

	/* The module takes the frames off. */
	if (!r->serial || r->access->local) {
		check(r, "R-4-3", length, "a packet of zero length on the interrupt IN endpoint");
		check(r, "R-4-1", length % WIRE_EVENT_SIZE == 0,
		      "a transfer of %zu bytes is not one of whole events", length);
		for (at = 0; at + WIRE_EVENT_SIZE <= length; at += WIRE_EVENT_SIZE)
			take_event(r, data + at);
	} else {
		check(r, "R-S2-3", length || r->full, "an empty packet follows none that was full");
		r->full = length && length % r->pipes.in_size == 0;
		take_frames(r, data, length);
	}
}

unsigned int fetch(struct run *r, unsigned int ms)
{
	size_t before = r->event_count;
	uint8_t data[1024];
	int ret;

	test_alive(r);
	/* look often enough whether the run was interrupted */
	ms = ms < FETCH_MS ? ms : FETCH_MS;
	ret = r->access->ops->in(r->access, r->pipes.in, data,
				 r->pipes.in_size < sizeof(data) ? r->pipes.in_size : sizeof(data),
				 ms);
	if (ret == -ENODEV)
		died(r);
	if (ret == -EPIPE) {
		check(r, "R-4-1", false, "the IN endpoint stalls");
		clear_halt(r, r->pipes.in);
	} else if (ret >= 0) {
		take_transfer(r, data, (size_t)ret);
	} else if (ret != -ETIMEDOUT) {
		check(r, "R-4-1", false, "a transfer of events ends with an error: %s",
		      strerror(-ret));
	}
	return (unsigned int)(r->event_count - before);
}

const struct event *next_event(struct run *r, unsigned int ms)
{
	uint64_t end = now_us() + ms * 1000ULL, now;

	for (;;) {
		while (r->event_seen < r->event_count) {
			const struct event *event = &r->events[r->event_seen++];

			/* Others have types that a later version gives a meaning. */
			if (event_is_known(event->e.type))
				return event;
		}
		now = now_us();
		if (!fetch(r, now < end ? (unsigned int)((end - now + 999) / 1000) : 0) &&
		    now >= end)
			return NULL;
	}
}

static const struct event *await_any(struct run *r, bool (*wanted)(uint8_t type, uint8_t which),
				     uint8_t which, unsigned int ms)
{
	uint64_t end = now_us() + ms * 1000ULL, now;
	const struct event *event;

	for (;;) {
		now = now_us();
		event = next_event(r, now < end ? (unsigned int)((end - now) / 1000) : 0);
		if (!event)
			return NULL;
		if (wanted(event->e.type, which))
			return event;
		if (now > end)
			return NULL;
	}
}

static bool is_type(uint8_t type, uint8_t which)
{
	return type == which;
}

static bool is_end(uint8_t type, uint8_t which)
{
	(void)which;
	return DEALBOX_EV_IS_STOP(type) || type == DEALBOX_EV_DEAL_DONE ||
		type == DEALBOX_EV_ABORTED || type == DEALBOX_EV_STATE_LOST;
}

const struct event *await_maybe(struct run *r, uint8_t type, unsigned int ms)
{
	return await_any(r, is_type, type, ms);
}

const struct event *await(struct run *r, uint8_t type, unsigned int ms, const char *requirement)
{
	const struct event *event = await_maybe(r, type, ms);

	if (!check(r, requirement, event, "%s did not come within %u ms", event_name(type), ms))
		end_test(r);
	return event;
}

const struct event *await_end(struct run *r, unsigned int ms)
{
	return await_any(r, is_end, 0, ms);
}

void no_joker(struct run *r, const struct event *end)
{
	if (end && end->e.type == DEALBOX_EV_NOT_IN_PLAN && end->e.card >= 52)
		not_run(r, "there is a joker in the hopper: put packs of 52 cards in");
}

void expect_quiet(struct run *r, const char *requirement, unsigned int ms, const char *after)
{
	const struct event *event;

	/* Without hands, somebody may exchange boards at any time. */
	do
		event = next_event(r, ms);
	while (event && !has_hands(r) && event->e.type < DEALBOX_EV_PLAN_LOADED);
	check(r, requirement, !event, "%s comes %s", event ? event_name(event->e.type) : "", after);
}

/* --- requests --------------------------------------------------------------------------------- */

static int framed(struct run *r, uint8_t request, uint16_t value, const void *data, size_t length)
{
	uint8_t frame[FRAME_MAX], *payload = frame + FRAME_HEADER;
	uint64_t began = now_us(), end = began + CONTROL_WAIT_MS * 1000ULL;
	size_t size;
	int ret;

	test_alive(r);
	payload[0] = request;
	put_unaligned_le16(value, payload + 1);
	if (length)
		memcpy(payload + FRAME_REQUEST_HEADER, data, length);
	size = dealbox_frame_seal(frame, FRAME_REQUEST, ++r->tag, FRAME_REQUEST_HEADER + length);
	r->answer_length = -1;
	uncertainty_begin();
	ret = r->access->ops->out(r->access, r->pipes.out, frame, size, OUT_WAIT_MS);
	if (ret == -ENODEV)
		died(r);
	while (ret >= 0 && r->answer_length < 0 && now_us() < end)
		fetch(r, (unsigned int)((end - now_us()) / 1000 + 1));
	note(r, "request %02x value %04x with %zu bytes: %d bytes, status %d", request, value,
	     length, r->answer_length, r->answer_length > 0 ? r->answer[0] : -1);
	check_time(r, "R-S3-2", now_us() - began, 500000, "the answer to a REQUEST");
	if (r->answer_length < 0)
		end_test(r);
	times_add(r, "control_ms", (double)(now_us() - began) / 1000);
	check(r, "R-S3-2", r->answer[0] <= FRAME_STALL, "an ANSWER has the status %02x",
	      r->answer[0]);
	return r->answer[0] ? -EPIPE : r->answer_length - FRAME_ANSWER_HEADER;
}

/* A query by the module */
static int asked(struct run *r, uint8_t request, uint16_t value, uint8_t *data, uint16_t length)
{
	uint8_t answer[DATA_MAX] = { 0 };
	int ret;

	test_alive(r);
	ret = local_query(r->access->local, request, value, answer);
	if (ret == -ENODEV)
		died(r);
	if (ret == -EOPNOTSUPP)
		unable(r);
	note(r, "query %02x value %04x: %d", request, value, ret);
	check(r, "R-2-3", ret >= 0 || ret == -EPIPE, "query %02x fails: %s", request,
	      strerror(-ret));
	if (ret > length)
		ret = length;
	if (ret > 0)
		memcpy(data, answer, (size_t)ret);
	return ret;
}

int query(struct run *r, uint8_t request, uint16_t value, void *data, uint16_t length)
{
	int ret;

	if (r->access->local)
		return asked(r, request, value, data, length);
	if (!r->serial)
		return control(r, WIRE_REQ_IN, request, value, r->access->interface, data, length);
	ret = framed(r, request, value, NULL, 0);
	if (ret > 0)
		memcpy(data, r->answer + FRAME_ANSWER_HEADER, ret < length ? (size_t)ret : length);
	return ret;
}

int command_raw(struct run *r, uint8_t request, uint16_t value, const void *data, uint16_t length)
{
	if (r->access->local)
		unable(r);
	if (!r->serial)
		return control(r, WIRE_REQ_OUT, request, value, r->access->interface, (void *)data,
			       length);
	return framed(r, request, value, data, length);
}

struct wire_result get_result(struct run *r)
{
	uint8_t data[DATA_MAX] = { 0 };
	struct wire_result result;
	int ret = query(r, WIRE_GET_RESULT, 0, data, WIRE_RESULT_SIZE);

	check(r, "R-2.1-1", ret == WIRE_RESULT_SIZE, "GET_RESULT is answered by %d bytes", ret);
	check(r, "R-0-2", !data[6] && !data[7] && !get_unaligned_le32(data + 12),
	      "a reserved field of GET_RESULT is not 0");
	dealbox_decode_result(data, &result);
	return result;
}

bool is_same_result(const struct wire_result *a, const struct wire_result *b)
{
	return a->sequence == b->sequence && a->request == b->request && a->error == b->error &&
	       a->detail == b->detail;
}

/* Record the module's result of a command. Returns the machine's error code. */
static uint8_t ordered(struct run *r, uint8_t request, const struct wire_command *wire, int ret)
{
	if (ret == -ENODEV)
		died(r);
	if (ret == -EOPNOTSUPP)
		unable(r);
	if (ret == -EINVAL)
		not_supported(r, "the module refuses this command before the machine sees it");
	note(r, "command %02x %u %u %u: %d", request, wire->a, wire->b, wire->c, ret);
	if (!check(r, "R-2-3", ret >= 0, "command %02x fails: %s", request, strerror(-ret)))
		end_test(r);
	if (!ret)
		observer_accepted(&r->observer, request, wire);
	observe(r);
	return (uint8_t)ret;
}

uint8_t load_local(struct run *r, const struct wire_plan *plan)
{
	/* as the machine is told */
	const struct wire_command wire = { 0, plan->plan_id, WIRE_PLAN_SIZE(plan->entries), 0 };
	uint32_t detail;
	int ret;

	test_alive(r);
	ret = local_load(r->access->local, plan, &detail);
	if (ret >= DEALBOX_ERR_CRC && !ROUTED(r)) {
		observer_accepted(&r->observer, WIRE_LOAD, &wire);
		observe(r);
		return (uint8_t)ret;
	}
	return ordered(r, WIRE_LOAD, &wire, ret);
}

uint8_t command(struct run *r, uint8_t request, uint32_t a, uint32_t b, uint32_t c,
		uint32_t *detail)
{
	struct wire_command wire = { ++r->sequence, a, b, c };
	uint32_t told = 0;
	uint8_t data[WIRE_ATTEST_SIZE];
	struct wire_result result;
	int ret;

	test_alive(r);
	if (r->access->local) {
		ret = local_command(r->access->local, request, &wire, &told);
		if (detail)
			*detail = told;
		return ordered(r, request, &wire, ret);
	}
	memset(data, 0xa5, sizeof(data));	/* the nonce of ATTEST */
	dealbox_encode_command(data, &wire);
	r->deferring = true;
	ret = command_raw(r, request, 0, data,
			  request == WIRE_ATTEST ? WIRE_ATTEST_SIZE : WIRE_COMMAND_SIZE);
	result = get_result(r);
	check(r, "R-2.2-2", result.sequence == wire.sequence && result.request == request,
	      "GET_RESULT behind command %02x tells of command %02x with the number %u, not %u",
	      request, result.request, result.sequence, wire.sequence);
	if (HAS(r, REFUSES_BY_RESULT))
		check(r, "R-2.2-9", ret >= 0, "the transfer of command %02x does not succeed",
		      request);
	else
		check(r, "R-2.2-2", (ret >= 0) == !result.error,
		      "command %02x %s, and GET_RESULT has the error %u", request,
		      ret >= 0 ? "succeeds" : "is stalled", result.error);
	if (!result.error)
		check(r, "R-2.3-1", !result.detail, "an accepted command has the detail %u",
		      result.detail);
	if (detail)
		*detail = result.detail;
	if (!result.error)
		observer_accepted(&r->observer, request, &wire);
	observe(r);
	return result.error;
}

struct wire_status status(struct run *r)
{
	uint8_t data[DATA_MAX] = { 0 };
	struct wire_status s = { 0 };
	int tries, ret;

	for (tries = 0; tries < STATUS_TRIES; tries++) {
		size_t before = r->event_count;

		ret = query(r, WIRE_GET_STATUS, 0, data, WIRE_STATUS_SIZE);
		if (!check(r, "R-2.1-1", ret == WIRE_STATUS_SIZE,
			   "GET_STATUS is answered by %d bytes", ret))
			end_test(r);
		if (!check(r, "R-2.1-1", dealbox_decode_status(data, &s),
			   "GET_STATUS has a field out of range"))
			end_test(r);
		while ((int32_t)(s.next_event - r->observer.next) > 0)
			if (!fetch(r, NUMBERED_WAIT_MS) &&
			    !check(r, "R-2.1-9", false,
				   "event %u, which GET_STATUS has numbered, did not come",
				   r->observer.next))
				end_test(r);
		/* More events came than GET_STATUS numbers: it describes an earlier moment. */
		if (s.next_event != r->observer.next && r->event_count != before)
			continue;
		if (s.next_event != r->observer.next && tries < STATUS_TRIES - 1)
			continue;
		check(r, "R-2.1-9", s.next_event == r->observer.next,
		      "GET_STATUS numbers the next event %u, and that of the last one is %u",
		      s.next_event, r->observer.next - 1);
		if (r->access->local) {
			/* These the module does not show, or not as the machine says them. */
			put_unaligned_le32(r->observer.clock, data + 20);
			if (ROUTED(r))
				put_unaligned_le32(r->observer.plan_number, data + 4);
			dealbox_decode_status(data, &s);
		}
		observer_status(&r->observer, data);
		break;
	}
	r->observer.after_lost = 0;
	return s;
}

struct dealbox_counters counters(struct run *r)
{
	uint8_t data[DATA_MAX] = { 0 };
	struct dealbox_counters out;
	int ret = query(r, WIRE_GET_COUNTERS, 0, data, WIRE_COUNTERS_SIZE);

	check(r, "R-2.1-1", ret == WIRE_COUNTERS_SIZE, "GET_COUNTERS is answered by %d bytes", ret);
	check(r, "R-0-2", !get_unaligned_le32(data + 60),
	      "a reserved field of GET_COUNTERS is not 0");
	dealbox_decode_counters(data, &out);
	return out;
}

/* --- plans and gates -------------------------------------------------------------------------- */

static int framed_out(struct run *r, uint8_t kind, const void *data, size_t length)
{
	uint8_t frame[FRAME_MAX];

	memcpy(frame + FRAME_HEADER, data, length);
	return r->access->ops->out(r->access, r->pipes.out, frame,
				   dealbox_frame_seal(frame, kind, 0, length), OUT_WAIT_MS);
}

int plan_out(struct run *r, const void *data, size_t length)
{
	int ret =
		r->access->local ? -EOPNOTSUPP :
		r->serial        ? framed_out(r, FRAME_PLAN, data, length) :
			    r->access->ops->out(r->access, r->pipes.out, data, length, OUT_WAIT_MS);

	note(r, "plan data, %zu bytes: %d", length, ret);
	if (ret == -ENODEV)
		died(r);
	if (ret == -EOPNOTSUPP)
		unable(r);
	return ret;
}

int gate_out(struct run *r, const void *data, size_t length)
{
	int ret = r->access->local ? -EOPNOTSUPP :
		  r->serial ? framed_out(r, FRAME_GATE, data, length) :
		  r->access->ops->out(r->access, r->pipes.gate, data, length, OUT_WAIT_MS);

	note(r, "gate command, %zu bytes: %d", length, ret);
	if (ret == -ENODEV)
		died(r);
	if (ret == -EOPNOTSUPP)
		unable(r);
	return ret;
}

void gate(struct run *r, const struct wire_event *read, uint8_t pocket, uint8_t reason,
	  uint32_t first)
{
	struct wire_gate wire = {
		.pocket = pocket, .reason = reason, .position = read->position,
		.number = read->number, .insertion = read->insertion, .first = first,
	};
	uint8_t data[WIRE_GATE_SIZE];

	dealbox_encode_gate(data, &wire);
	r->observer.gate[read->position & 63] = pocket;
	gate_out(r, data, sizeof(data));
}

void configure(struct run *r, uint8_t reason)
{
	if (r->access->local)
		unable(r);
	memset(&r->frames, 0, sizeof(r->frames));
	observer_configured(&r->observer, reason);
	if (!check(r, "R-1.2-1", control(r, 0x00, 9, r->configuration, 0, NULL, 0) == 0,
		   "SET_CONFIGURATION fails"))
		end_test(r);
	if (!await_maybe(r, DEALBOX_EV_STATE_LOST, 1000)) {
		check(r, "R-1.2-2", false, "STATE_LOST does not come behind SET_CONFIGURATION");
		check(r, "R-1.2-1", false, "SET_CONFIGURATION makes the machine forget nothing");
		/* the next test begins with another connection */
		r->gone = true;
		end_test(r);
	}
	check(r, "R-1.2-2", true, "STATE_LOST came");
	status(r);
}
