// SPDX-License-Identifier: LGPL-2.1-or-later
/* Gate commands of host-routed machines (§6). */
#include <linux/unaligned.h>
#include <string.h>

#include "run.h"

/* A deal that waits for the first gate command. */
static struct wire_event waiting(struct run *r)
{
	const struct event *event;
	uint8_t error;

	ready(r);
	r->route = false;
	error = start(r);
	if (!check(r, "R-5-1", !error, "START is refused with error %u", error))
		end_test(r);
	event = await(r, DEALBOX_EV_CARD_READ, 6000, "R-6-1");
	fetch(r, r->desc.gate_deadline_us / 2000 < 10 ? r->desc.gate_deadline_us / 2000 : 10);
	check(r, "R-6-1", !r->observer.cards[0].routed,
	      "the card does not wait for a gate command");
	return event->e;
}

static void put(uint8_t *data, const struct wire_event *e, uint8_t pocket)
{
	const struct wire_gate good = { .pocket = pocket,
					.position = e->position,
					.number = e->number,
					.insertion = e->insertion };

	dealbox_encode_gate(data, &good);
}

/*
 * A gate command that must be ignored, and counted. The deadline is long enough, or the card is
 * read again.
 */
static void ignored(struct run *r, struct wire_event *e, const uint8_t *data, size_t length,
		    const char *what)
{
	struct dealbox_counters before = counters(r), behind;

	gate_out(r, data, length);
	if (r->serial)
		get_result(r);		/* the frame before it has been seen then */
	behind = counters(r);
	fetch(r, 15);
	check(r, "R-6-3", !r->observer.cards[e->position & 63].routed,
	      "a gate command with %s is obeyed", what);
	check(r, "R-6-3", behind.gates_ignored + behind.gates_late == before.gates_ignored +
	      before.gates_late + 1, "a gate command with %s is not counted", what);
	/* late meanwhile: it is read again, with another number */
	while (next_event(r, 0))
		;
	if (r->observer.state == DEALBOX_STATE_HELD) {
		command(r, DEALBOX_OP_REREAD, 0, 0, 0, NULL);
		*e = await(r, DEALBOX_EV_CARD_READ, 6000, "R-6-7")->e;
	}
}

static void wrong(struct run *r)
{
	struct wire_event e = waiting(r);
	uint8_t data[32] = { 0 };

#define SPOIL(what, ...) do {						\
	put(data, &e, 0);						\
	__VA_ARGS__;							\
	ignored(r, &e, data, WIRE_GATE_SIZE, what);			\
} while (0)
	SPOIL("type 02", data[0] = 2);
	SPOIL("type 00", data[0] = 0);
	SPOIL("a pocket that there is not", data[1] = r->desc.pockets);
	SPOIL("pocket 254", data[1] = 254);
	SPOIL("a reason, and a pocket", data[2] = 0x28);
	SPOIL("hold without a reason", data[1] = 255);
	SPOIL("hold and the reason 22", data[1] = 255; data[2] = 0x22);
	SPOIL("another position", data[3]++);
	SPOIL("the next number", put_unaligned_le32(e.number + 1, data + 4));
	SPOIL("the number before", put_unaligned_le32(e.number - 1, data + 4));
	SPOIL("another insertion", put_unaligned_le32(e.insertion + 1, data + 8));
	SPOIL("insertion 0", put_unaligned_le32(0, data + 8));
	put(data, &e, 0);
	ignored(r, &e, data, 15, "15 bytes");
	put(data, &e, 0);
	ignored(r, &e, data, 17, "17 bytes");
	put(data, &e, 0);
	ignored(r, &e, data, 1, "1 byte");
	/* the right one still counts */
	gate(r, &e, 0, 0, 0);
	await(r, DEALBOX_EV_CARD_ROUTED, 2000, r->serial ? "R-S3-7" : "R-6-4");
	status(r);
	settle(r);
}

static void late(struct run *r)
{
	struct dealbox_counters before;
	const struct event *event;
	struct wire_event e, again;
	uint64_t us;

	if (r->desc.gate_deadline_us > 20000000)
		not_supported(r, "the deadline is longer than 20 s");
	e = waiting(r);
	us = now_us();
	before = counters(r);
	event = await(r, DEALBOX_EV_GATE_LATE, r->desc.gate_deadline_us / 1000 + 2000, "R-6-6");
	check(r, "R-6-6", event->e.clock_us - e.clock_us >= r->desc.gate_deadline_us * 0.98,
	      "GATE_LATE comes after %u us, and the deadline is %u us",
	      event->e.clock_us - e.clock_us, r->desc.gate_deadline_us);
	note(r, "GATE_LATE %.1f ms behind CARD_READ", (now_us() - us) / 1e3);
	check(r, "R-6-6", event->e.position == 0 && event->e.card == e.card,
	      "GATE_LATE is of position %u", event->e.position);
	check(r, "R-6-6", status(r).flags & DEALBOX_STATUS_CARD_AT_READER,
	      "the card is not at the reader");
	/* a command that comes too late is ignored */
	gate(r, &e, 0, 0, 0);
	r->observer.gate[0] = DEALBOX_NONE;
	fetch(r, 30);
	check(r, "R-6-6", !r->observer.cards[0].routed,
	      "a gate command behind GATE_LATE is obeyed");
	check(r, "R-6-3", counters(r).gates_late == before.gates_late + 1,
	      "a gate command behind GATE_LATE is not counted as too late");
	command(r, DEALBOX_OP_REREAD, 0, 0, 0, NULL);
	again = await(r, DEALBOX_EV_CARD_READ, 6000, "R-6-7")->e;
	check(r, "R-6-7", again.card == e.card && again.position == e.position,
	      "behind REREAD another card is read, or for position %u", again.position);
	check(r, "R-6-7", again.number != e.number, "CARD_READ has its old number");
	/* the answer to the first reading does not answer the second */
	gate(r, &e, 0, 0, 0);
	r->observer.gate[0] = DEALBOX_NONE;
	fetch(r, 30);
	check(r, "R-6-3", !r->observer.cards[0].routed,
	      "the answer to an earlier reading is obeyed");
	settle(r);
}

static void hold(struct run *r)
{
	static const uint8_t reasons[] = { DEALBOX_EV_NOT_IN_PLAN, DEALBOX_EV_REPEATED_CARD };
	const struct event *event;
	struct wire_event e;
	size_t i;

	for (i = 0; i < 2; i++) {
		e = waiting(r);
		gate(r, &e, DEALBOX_NONE, reasons[i], 0);
		event = await(r, reasons[i], 2000, "R-6-5");
		check(r, "R-6-5", event->e.position == e.position && event->e.card == e.card &&
		      event->e.quality == e.quality && event->e.code == e.code,
		      "%s has not the reading of the card", event_name(reasons[i]));
		check(r, "R-6-5", status(r).state == (i ? DEALBOX_STATE_FAULT : DEALBOX_STATE_HELD),
		      "the state is %s behind %s", state_name(r->observer.state),
		      event_name(reasons[i]));
		check(r, "R-6-5", status(r).flags & DEALBOX_STATUS_CARD_AT_READER,
		      "the card is not at the reader");
		if (i)
			do_step(r, "take-card");
		settle(r);
	}
}

/* More cards than a pocket holds (R-6-8) */
static void full(struct run *r)
{
	unsigned int n = r->desc.pocket_capacity + 1u;
	const struct event *end;
	struct wire_plan plan;

	if (n > r->desc.plan_entries || n > 40)
		not_supported(r, "a plan does not fill a pocket");
	settle(r);
	fresh_board(r);
	plan_by_position(r, &plan, n);
	memset(plan.pocket, 0, sizeof(plan.pocket));
	dealbox_count_plan(&plan);
	load(r, &plan);
	r->route = true;
	check(r, "R-5-1", !start(r), "START is refused");
	end = await_end(r, 60000);
	check(r, "R-6-8", end && end->e.type == DEALBOX_EV_HARDWARE && end->e.position == n - 1,
	      "%s comes for a card too many", end ? event_name(end->e.type) : "nothing");
	check(r, "R-6-8", status(r).flags & DEALBOX_STATUS_CARD_AT_READER,
	      "the card is not at the reader");
	settle(r);
}

#define HOST	DEALBOX_CAP_HOST_ROUTED

const struct test_row gate_tests[] = {
	{ "gates", "wrong", "R-6-1 R-6-3 R-6-4 R-S3-7", "commands that must be ignored",
	  NEED_RAW | NEED_BOARD, HOST, wrong },
	{ "gates", "late", "R-6-3 R-6-6 R-6-7", "no command comes in time", NEED_RAW | NEED_BOARD,
	  HOST, late },
	{ "gates", "hold", "R-6-5", "the host holds a card",
	  NEED_RAW | NEED_FAULTS | NEED_BOARD | NEED_READER, HOST, hold },
	{ "gates", "full", "R-6-8", "a full pocket", NEED_RAW | NEED_BOARD, HOST, full },
	{ 0 }
};
