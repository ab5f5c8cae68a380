// SPDX-License-Identifier: LGPL-2.1-or-later
/* Frames of the serial dialect (docs/protocol-serial.md). */
#include <errno.h>
#include <string.h>

#include "run.h"

static int send_bytes(struct run *r, const void *data, size_t length)
{
	return r->access->ops->out(r->access, r->pipes.out, data, length, 2000);
}

/*
 * A query in a frame, sealed. Returns its size. It has no second start byte, and its tag is no
 * length: so it is clear where a machine looks for the next frame.
 */
static size_t request(struct run *r, uint8_t *frame, uint8_t code)
{
	uint8_t *payload = frame + FRAME_HEADER;
	size_t size;

	do {
		r->tag = r->tag < 129 || r->tag == 255 ? 129 : (uint8_t)(r->tag + 1);
		payload[0] = code;
		payload[1] = payload[2] = 0;
		size = dealbox_frame_seal(frame, FRAME_REQUEST, r->tag, FRAME_REQUEST_HEADER);
	} while (memchr(frame + 1, FRAME_START, size - 1));
	return size;
}

/* Await the ANSWER to what was sent; false if none comes. */
static bool answered(struct run *r, unsigned int ms)
{
	uint64_t end = now_us() + ms * 1000ULL;

	while (r->answer_length < 0 && now_us() < end)
		fetch(r, 20);
	return r->answer_length >= 0;
}

static void expect_answer(struct run *r, const char *requirement, const uint8_t *data,
			  size_t length, const char *what)
{
	r->answer_length = -1;
	send_bytes(r, data, length);
	check(r, requirement, answered(r, 700), "no answer to a REQUEST %s", what);
	status(r);
}

static void noise(struct run *r)
{
	uint8_t data[2 * FRAME_MAX];
	size_t size;

	/* bytes before a frame */
	memset(data, 0x55, 7);
	size = request(r, data + 7, WIRE_GET_RESULT);
	expect_answer(r, "R-S2-4", data, 7 + size, "behind other bytes");
	/* start bytes that begin no frame */
	memset(data, FRAME_START, 5);
	size = request(r, data + 5, WIRE_GET_RESULT);
	expect_answer(r, "R-S2-4", data, 5 + size, "behind start bytes");
	/* a length over 128 */
	data[0] = FRAME_START;
	data[1] = FRAME_REQUEST;
	data[2] = 9;
	data[3] = 200;
	size = request(r, data + 4, WIRE_GET_RESULT);
	expect_answer(r, "R-S2-4", data, 4 + size, "behind a header with the length 200");
	/* a wrong sum, whose payload hides nothing */
	size = request(r, data, WIRE_GET_RESULT);
	data[size - 1] ^= 1;
	r->answer_length = -1;
	send_bytes(r, data, size);
	check(r, "R-S2-4", !answered(r, 60), "a REQUEST with a wrong sum is answered");
	size = request(r, data, WIRE_GET_RESULT);
	expect_answer(r, "R-S2-4", data, size, "behind one with a wrong sum");
	/*
	 * a frame within one with a wrong sum: the next begins behind the first byte, not the last
	 */
	size = request(r, data + FRAME_HEADER, WIRE_GET_RESULT);
	data[0] = FRAME_START;
	data[1] = FRAME_REQUEST;
	data[2] = 9;
	data[3] = (uint8_t)size;
	memset(data + FRAME_HEADER + size, 0x55, 4);
	expect_answer(r, "R-S2-4", data, FRAME_BYTES(size), "within a frame with a wrong sum");
}

static void unknown_kinds(struct run *r)
{
	static const uint8_t kinds[] = { 0x00, 0x04, 0x7f, 0x81, 0x82, 0xff };
	uint8_t data[FRAME_MAX];
	size_t i, size;

	for (i = 0; i < sizeof(kinds); i++) {
		memset(data, 0, sizeof(data));
		data[FRAME_HEADER] = WIRE_GET_RESULT;
		r->answer_length = -1;
		send_bytes(r, data, dealbox_frame_seal(data, kinds[i], 0, 3));
		check(r, "R-S2-5", !answered(r, 30), "a frame of the kind %02x is answered",
		      kinds[i]);
	}
	/* REQUESTs with 0, 1 and 2 bytes: there is no request code, or no wValue */
	for (i = 0; i < 3; i++) {
		data[FRAME_HEADER] = WIRE_GET_RESULT;
		r->answer_length = -1;
		send_bytes(r, data, dealbox_frame_seal(data, FRAME_REQUEST, 77, i));
		check(r, "R-S2-5", !answered(r, 30), "a REQUEST of %zu bytes is answered", i);
	}
	size = request(r, data, WIRE_GET_RESULT);
	expect_answer(r, "R-S2-5", data, size, "behind unknown kinds");
}

/* A frame in several transfers, and several frames in one */
static void pieces(struct run *r)
{
	uint8_t data[3 * FRAME_MAX];
	size_t size = request(r, data, WIRE_GET_RESULT), i;

	r->answer_length = -1;
	for (i = 0; i < size; i++)
		send_bytes(r, data + i, 1);
	check(r, "R-S2-1", answered(r, 700), "a frame of single bytes is not understood");
	size = request(r, data, WIRE_GET_RESULT);
	expect_answer(r, "R-S2-1", data, size, "");
}

static void discarded(struct run *r)
{
	uint8_t data[FRAME_MAX];
	size_t size = request(r, data, WIRE_GET_RESULT);

	/* half a frame, then CLEAR_FEATURE: the other half is nothing */
	send_bytes(r, data, 5);
	clear_halt(r, r->pipes.out);
	r->answer_length = -1;
	send_bytes(r, data + 5, size - 5);
	check(r, "R-S1-3", !answered(r, 60), "an incomplete frame is kept behind CLEAR_FEATURE");
	size = request(r, data, WIRE_GET_RESULT);
	expect_answer(r, "R-S1-3", data, size, "behind CLEAR_FEATURE");
	send_bytes(r, data, 6);
	configure(r, DEALBOX_LOST_RESET);
	r->answer_length = -1;
	send_bytes(r, data + 6, size - 6);
	check(r, "R-S1-3", !answered(r, 60),
	      "an incomplete frame is kept behind SET_CONFIGURATION");
	status(r);
}

static void suspended(struct run *r)
{
	uint8_t data[FRAME_MAX];
	size_t size = request(r, data, WIRE_GET_RESULT);

	send_bytes(r, data, 5);
	if (r->access->ops->suspend(r->access) == -EOPNOTSUPP)
		not_run(r, "this address cannot suspend the machine");
	r->access->ops->resume(r->access);
	r->answer_length = -1;
	send_bytes(r, data + 5, size - 5);
	check(r, "R-S1-4", answered(r, 700), "an incomplete frame is lost by a suspend");
	status(r);
}

static void answers(struct run *r)
{
	uint8_t data[DATA_MAX];
	int i;

	for (i = 0; i < 40; i++) {
		check(r, "R-S3-2", query(r, WIRE_GET_INFO, 0, data, 64) == 64,
		      "GET_INFO is not answered");
		check(r, "R-S3-2", query(r, 0x44, 0, data, 64) == -EPIPE,
		      "an unknown query is answered");
	}
	status(r);
}

/* An ANSWER does not wait for events, nor do they wait for a REQUEST. */
static void at_once(struct run *r)
{
	settle(r);
	do_step(r, "cover open");
	check(r, "R-S3-6", next_event(r, 500), "an event does not come by itself");
	do_step(r, "cover close");
	check(r, "R-S3-6", query(r, WIRE_GET_RESULT, 0, (uint8_t[DATA_MAX]){ 0 }, 16) == 16,
	      "an ANSWER waits for events");
	status(r);
}

#define SERIAL(name, requirements, what, function) \
	{ "frames", name, requirements, what, NEED_RAW | NEED_SERIAL, .run = function }

const struct test_row frame_tests[] = {
	SERIAL("noise", "R-S2-4", "bytes that are no frame", noise),
	SERIAL("kinds", "R-S2-5", "frames of unknown kinds", unknown_kinds),
	SERIAL("pieces", "R-S2-1", "a frame in pieces", pieces),
	SERIAL("discarded", "R-S1-3", "an incomplete frame is discarded", discarded),
	SERIAL("suspended", "R-S1-4", "a suspend in the middle of a frame", suspended),
	SERIAL("answers", "R-S2-3 R-S3-2", "tags and status of answers", answers),
	{ "frames", "at-once", "R-S3-6", "events and answers do not wait",
	  NEED_RAW | NEED_SERIAL | NEED_HANDS,
	  .run = at_once },
	{ 0 }
};
