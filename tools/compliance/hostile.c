// SPDX-License-Identifier: LGPL-2.1-or-later
/* Requests that no host should send. The machine must answer each, and not change its state. */
#include <errno.h>
#include <string.h>

#include "run.h"

/* The machine is as it was: idle, with the same board and number of events. */
static void unmoved(struct run *r, uint32_t next, const char *what)
{
	bool same = status(r).next_event == next;

	/* Without hands, somebody may exchange boards at any time. */
	check(r, "R-2.1-4", same || !has_hands(r), "%s causes events", what);
}

/* All requests of type vendor, in both directions, with odd values and lengths */
static void requests(struct run *r)
{
	uint32_t next;
	uint8_t data[512];
	unsigned int code;

	settle(r);
	next = status(r).next_event;
	memset(data, 0xff, sizeof(data));
	for (code = 0; code < 256; code++) {
		if (code > 8)
			check(r, "R-2.1-2",
			      query(r, (uint8_t)code, 0, data, 100) == -EPIPE || code == 0,
			      "the unknown query %02x is answered", code);
		/* sequence number ff ff ff ff, and wrong values, which LOCATE and others refuse */
		memset(data, 0xff, sizeof(data));
		data[0] = (uint8_t)code;
		data[1] = 0x77;
		check(r, "R-2.3-1", command_raw(r, (uint8_t)code, 0xffff, data, 16) < 0 ||
		      HAS(r, REFUSES_BY_RESULT), "command %02x with wrong values succeeds", code);
		check(r, "R-2.3-1", get_result(r).error,
		      "command %02x with wrong values is carried out", code);
	}
	unmoved(r, next, "a wrong request");
}

static void flood(struct run *r)
{
	uint32_t next;
	uint8_t data[DATA_MAX];
	int i;

	settle(r);
	next = status(r).next_event;
	for (i = 0; i < 2000; i++)
		check(r, "R-2.1-3", query(r, (uint8_t)(1 + i % 4), 0, data, 64) > 0,
		      "a query is not answered");
	for (i = 0; i < 300; i++)
		check(r, "R-2.3-7", !command(r, DEALBOX_OP_LOCATE, (uint32_t)(i % 61), 0, 0, NULL),
		      "LOCATE is refused");
	command(r, DEALBOX_OP_LOCATE, 0, 0, 0, NULL);
	unmoved(r, next, "a flood of requests");
}

/* Plan data and gate commands at a machine that waits for none */
static void data_anywhere(struct run *r)
{
	uint8_t data[600];
	uint32_t next;
	int i;

	settle(r);
	next = status(r).next_event;
	memset(data, 0xdb, sizeof(data));
	if (!ROUTED(r))
		command(r, WIRE_LOAD, 0, 0, 0, NULL);
	for (i = 0; i < 20; i++) {
		r->access->ops->out(r->access, r->pipes.out, data, (size_t)i * 30, 1000);
		if (!r->serial)
			clear_halt(r, r->pipes.out);
	}
	if (r->pipes.gate)
		for (i = 0; i < 20; i++)
			r->access->ops->out(r->access, r->pipes.gate, data, (size_t)i, 1000);
	if (r->serial) {
		/* zeros end what may be taken for the beginning of a frame */
		memset(data, 0, sizeof(data));
		r->access->ops->out(r->access, r->pipes.out, data, 300, 1000);
	}
	check(r, "R-3-3", status(r).next_event == next || !has_hands(r),
	      "data that nobody asked for cause events");
}

const struct test_row hostile_tests[] = {
	{ "hostile", "requests", "R-2.1-2 R-2.3-1 R-2.1-4", "every request, with wrong values",
	  .run = requests },
	{ "hostile", "flood", "R-2.1-3 R-2.1-4 R-2.3-7", "thousands of requests", .run = flood },
	{ "hostile", "data", "R-3-3", "data that nobody asked for", NEED_RAW,
	  .run = data_anywhere },
	{ 0 }
};
