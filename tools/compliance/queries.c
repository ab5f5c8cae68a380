// SPDX-License-Identifier: LGPL-2.1-or-later
/* Queries (§2.1): sizes, wrong values, in every state; and that they change nothing. */
#include <errno.h>
#include <linux/unaligned.h>
#include <stdio.h>
#include <string.h>

#include "run.h"

static const struct {
	uint8_t request;
	const char *name;
	uint16_t value, size;
	uint32_t capability;
} queries[] = {
	{ WIRE_GET_INFO, "GET_INFO", 0, WIRE_INFO_SIZE, 0 },
	{ WIRE_GET_STATUS, "GET_STATUS", 0, WIRE_STATUS_SIZE, 0 },
	{ WIRE_GET_RESULT, "GET_RESULT", 0, WIRE_RESULT_SIZE, 0 },
	{ WIRE_GET_COUNTERS, "GET_COUNTERS", 0, WIRE_COUNTERS_SIZE, 0 },
	{ WIRE_GET_IDENTITY, "GET_IDENTITY", 0, 48, DEALBOX_CAP_ATTEST },
};

#define QUERIES	(sizeof(queries) / sizeof(*queries))

static void sizes(struct run *r)
{
	static const uint16_t lengths[] = { 0, 1, 3, 8, 15, 200 };
	uint8_t whole[DATA_MAX], data[DATA_MAX];
	size_t i, n;
	int ret;

	for (i = 0; i < QUERIES; i++) {
		uint16_t size = queries[i].size;

		if (queries[i].capability && !(r->desc.capabilities & queries[i].capability))
			continue;
		memset(whole, 0, sizeof(whole));
		ret = query(r, queries[i].request, 0, whole, size);
		check(r, "R-2.1-1", ret == size, "%s is answered by %d bytes", queries[i].name,
		      ret);
		for (n = 0; n < sizeof(lengths) / sizeof(*lengths) && !r->serial; n++) {
			uint16_t want = lengths[n] < size ? lengths[n] : size;

			ret = query(r, queries[i].request, 0, data, lengths[n]);
			check(r, "R-2.1-1", ret == want,
			      "%s with wLength %u is answered by %d bytes", queries[i].name,
			      lengths[n], ret);
			if (ret == want && queries[i].request != WIRE_GET_STATUS &&
			    queries[i].request != WIRE_GET_COUNTERS)
				check(r, "R-2.1-1", !memcmp(whole, data, want),
				      "%s with wLength %u has not the first "
				      "bytes of the whole answer",
				      queries[i].name, lengths[n]);
		}
	}
	status(r);
}

static void refused(struct run *r)
{
	static const uint8_t unknown[] = { 0x09, 0x0a, 0x0f, 0x1c, 0x20, 0x41, 0x7f, 0x80, 0xff };
	static const uint16_t values[] = { 1, 2, 0x100, 0x8000, 0xffff };
	uint8_t data[DATA_MAX];
	size_t i, n;

	for (i = 0; i < sizeof(unknown); i++)
		check(r, "R-2.1-2", query(r, unknown[i], 0, data, 64) == -EPIPE,
		      "the unknown query %02x is answered", unknown[i]);
	for (i = 0x10; i <= 0x1b; i++)
		check(r, "R-2.1-2", r->serial || query(r, (uint8_t)i, 0, data, 16) == -EPIPE,
		      "command %02zx is answered as a query", i);
	for (i = 0; i < QUERIES; i++)
		for (n = 0; n < sizeof(values) / sizeof(*values); n++)
			check(r, "R-2.1-2", query(r, queries[i].request, values[n], data,
						  queries[i].size) == -EPIPE,
			      "%s with wValue %u is answered", queries[i].name, values[n]);
	check(r, "R-2.1-2", query(r, WIRE_GET_PARAM, 0, data, WIRE_PARAM_SIZE) == -EPIPE,
	      "GET_PARAM of parameter 0 is answered");
	check(r, "R-2.1-2", query(r, WIRE_GET_PARAM, 0x7fff, data, WIRE_PARAM_SIZE) == -EPIPE,
	      "GET_PARAM of parameter 32767 is answered");
	status(r);
}

/* Requests that are not for the interface (R-2-1, R-2-2). */
static void recipients(struct run *r)
{
	static const uint8_t types[] = { 0xc0, 0xc2, 0xc3, 0xa1, 0xa0, 0xe1 };
	struct wire_command wire = { r->sequence + 500, 0, 0, 0 };
	struct wire_result before = get_result(r), result;
	uint8_t data[DATA_MAX];
	size_t i;

	for (i = 0; i < sizeof(types); i++)
		check(r, "R-2-1",
		      control(r, types[i], WIRE_GET_RESULT, 0, r->access->interface, data, 16) < 0,
		      "GET_RESULT with bmRequestType %02x is answered", types[i]);
	for (i = 1; i < 4; i++)
		check(r, "R-2-2", control(r, WIRE_REQ_IN, WIRE_GET_RESULT, 0,
					  (uint16_t)(r->access->interface + i), data, 16) < 0,
		      "GET_RESULT for interface %zu is answered", r->access->interface + i);
	check(r, "R-2-2", control(r, WIRE_REQ_IN, WIRE_GET_RESULT, 0,
				  (uint16_t)(r->access->interface | 0x100), data, 16) < 0,
	      "GET_RESULT is answered with wIndex %u", r->access->interface | 0x100);
	dealbox_encode_command(data, &wire);
	for (i = 1; i < 3; i++)
		check(r, "R-2-2", control(r, WIRE_REQ_OUT, DEALBOX_OP_LOCATE, 0,
					  (uint16_t)(r->access->interface + i), data, 16) < 0,
		      "a command for interface %zu is not stalled", r->access->interface + i);
	result = get_result(r);
	check(r, "R-2-2", is_same_result(&result, &before),
	      "a command for another interface became the last command");
	for (i = 0; i < 2; i++) {
		static const uint8_t out[] = { 0x40, 0x42 };

		check(r, "R-2-1",
		      control(r, out[i], DEALBOX_OP_LOCATE, 0, r->access->interface, data, 16) < 0,
		      "a command with bmRequestType %02x is not stalled", out[i]);
	}
	result = get_result(r);
	check(r, "R-2-1", is_same_result(&result, &before),
	      "a command for another recipient became the last command");
}

/* R-2.1-4: the last result and the numbers of the events stay as they are. */
static void change_nothing(struct run *r)
{
	struct wire_result before, result;
	uint8_t data[DATA_MAX];
	uint32_t number;
	size_t i;

	command(r, DEALBOX_OP_RESUME, 7, 0, 0, NULL);
	before = get_result(r);
	number = status(r).next_event;
	for (i = 0; i < QUERIES; i++)
		query(r, queries[i].request, 0, data, queries[i].size);
	query(r, WIRE_GET_PARAM, 1, data, WIRE_PARAM_SIZE);
	query(r, 0x0f, 0, data, 16);
	query(r, WIRE_GET_INFO, 9, data, 64);
	result = get_result(r);
	check(r, "R-2.1-4", is_same_result(&result, &before),
	      "the last result is another behind queries");
	check(r, "R-2.1-4", status(r).next_event == number || !has_hands(r),
	      "queries cause events");
}

static void params(struct run *r)
{
	uint8_t data[DATA_MAX] = { 0 };
	unsigned int number, has = 0;
	struct wire_param param;
	uint32_t detail, value;
	uint8_t error;
	int ret;

	for (number = 1; number <= 8; number++) {
		ret = query(r, WIRE_GET_PARAM, (uint16_t)number, data, WIRE_PARAM_SIZE);
		if (ret < 0) {
			error = command(r, WIRE_SET_PARAM, number, 1, 0, &detail);
			check(r, "R-2.3-5", error == DEALBOX_ERR_BAD_VALUE && detail == 1,
			      "SET_PARAM of a parameter that there is not: error %u, detail %u",
			      error, detail);
			continue;
		}
		has++;
		dealbox_decode_param(data, &param);
		check(r, "R-2.1-1", ret == WIRE_PARAM_SIZE, "GET_PARAM is answered by %d bytes",
		      ret);
		check(r, "R-2.1-1", param.id == number, "GET_PARAM %u is answered for %u", number,
		      param.id);
		check(r, "R-2.1-1", param.min <= param.value && param.value <= param.max,
		      "parameter %u has the value %u, not within %u..%u", number, param.value,
		      param.min, param.max);
		value = param.value;
		error = command(r, WIRE_SET_PARAM, number, param.min, 0, NULL);
		check(r, "R-2.3-7", !error, "SET_PARAM %u to the least value: error %u", number,
		      error);
		query(r, WIRE_GET_PARAM, (uint16_t)number, data, WIRE_PARAM_SIZE);
		check(r, "R-2.2-3", get_unaligned_le32(data + 4) == param.min,
		      "parameter %u is %u behind SET_PARAM, not %u", number,
		      get_unaligned_le32(data + 4), param.min);
		error = command(r, WIRE_SET_PARAM, number, value, 0, NULL);
		check(r, "R-2.3-7", !error, "SET_PARAM %u to its value: error %u", number, error);
		if (param.max != UINT32_MAX) {
			error = command(r, WIRE_SET_PARAM, number, param.max + 1, 0, &detail);
			check(r, "R-2.3-5", error == DEALBOX_ERR_BAD_VALUE && detail == 2,
			      "SET_PARAM %u above its range: error %u, detail %u", number, error,
			      detail);
		}
		if (param.min) {
			error = command(r, WIRE_SET_PARAM, number, param.min - 1, 0, &detail);
			check(r, "R-2.3-5", error == DEALBOX_ERR_BAD_VALUE && detail == 2,
			      "SET_PARAM %u below its range: error %u, detail %u", number, error,
			      detail);
		}
		query(r, WIRE_GET_PARAM, (uint16_t)number, data, WIRE_PARAM_SIZE);
		check(r, "R-2.3-5", get_unaligned_le32(data + 4) == value,
		      "a refused SET_PARAM changes parameter %u", number);
	}
	error = command(r, WIRE_SET_PARAM, 0x7ffe, 1, 0, &detail);
	check(r, "R-2.3-7", error == DEALBOX_ERR_BAD_VALUE && detail == 1,
	      "SET_PARAM of an unknown parameter: error %u, detail %u", error, detail);
	note(r, "%u parameters", has);
}

static void in_state(struct run *r)
{
	static const uint8_t states[] = { 0, 1, 2, 3, 4, 5 };
	uint8_t data[DATA_MAX];
	size_t s, i;
	int ret;

	for (s = 0; s < sizeof(states); s++) {
		reach(r, states[s]);
		for (i = 0; i < QUERIES; i++) {
			if (queries[i].capability &&
			    !(r->desc.capabilities & queries[i].capability))
				continue;
			ret = query(r, queries[i].request, 0, data, queries[i].size);
			check(r, "R-2.1-3", ret == queries[i].size,
			      "%s in state %s is answered by %d bytes", queries[i].name,
			      state_name(states[s]), ret);
		}
		status(r);
	}
	settle(r);
}

static void no_attest(struct run *r)
{
	static const uint8_t requests[] = { WIRE_GET_IDENTITY, WIRE_GET_STATEMENT,
					    WIRE_GET_SIGNATURE };
	static const uint16_t size[] = { 48, 96, 64 };
	uint8_t data[DATA_MAX];
	size_t i;

	if (HAS(r, ATTEST))
		not_supported(r, "the machine has ATTEST");
	for (i = 0; i < 3; i++)
		check(r, "R-5.3-13", query(r, requests[i], 0, data, size[i]) == -EPIPE,
		      "query %02x is answered without ATTEST", requests[i]);
}

const struct test_row query_tests[] = {
	{ "queries", "sizes", "R-2.1-1 R-2-3", "each query, with each wLength", NEED_RAW,
	  .run = sizes },
	{ "queries", "refused", "R-2.1-2", "unknown queries and values are stalled",
	  .run = refused },
	{ "queries", "recipients", "R-2-1 R-2-2", "requests that are not for the interface",
	  NEED_NATIVE,
	  .run = recipients },
	{ "queries", "change-nothing", "R-2.1-4", "queries change nothing", .run = change_nothing },
	{ "queries", "parameters", "R-2.1-1 R-2.2-3 R-2.3-5 R-2.3-7", "parameters and their ranges",
	  .run = params },
	{ "queries", "no-attest", "R-5.3-13", "queries of a machine without ATTEST",
	  .run = no_attest },
	{ "queries", "states", "R-2.1-3", "queries in every state", NEED_HANDS | NEED_BOARD,
	  .run = in_state },
	{ 0 }
};
