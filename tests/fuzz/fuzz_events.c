// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * Arbitrary events of a machine, on the driver's path from the wire to the reader's queue and to
 * the gate. No card passes the gate twice in one deal, or without a plan, and the numbers that the
 * reader sees have no unmarked gap.
 */
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "fuzz.h"
#include "queue.h"
#include "router.h"

#define PLAN_ID		7
#define POCKETS		4

static void make_plan(struct wire_plan *plan, const uint8_t *data)
{
	memset(plan, 0, sizeof(*plan));
	plan->plan_id = PLAN_ID;
	plan->mode = DEALBOX_PLAN_BY_CARD;
	plan->entries = DEALBOX_MAX_CARDS;
	for (int card = 0; card < DEALBOX_MAX_CARDS; card++)
		plan->pocket[card] = data[card % 8] & 1 << card % 7 ? DEALBOX_NONE : card % POCKETS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct event_queue queue;
	struct event_source source = { .pockets = POCKETS };
	struct router router = {};
	struct dealbox_event out;
	struct wire_plan plan;
	uint64_t pushed = 0, seen = 0;
	/* the pocket of each card that passed the gate in this deal, by position */
	uint8_t through[DEALBOX_MAX_ENTRIES];

	if (size < 8)
		return 0;
	memset(&queue, 0, sizeof(queue));
	memset(through, DEALBOX_NONE, sizeof(through));
	make_plan(&plan, data);
	dealbox_router_load(&router, &plan);

	for (data += 8, size -= 8; size >= WIRE_EVENT_SIZE;
	     data += WIRE_EVENT_SIZE, size -= WIRE_EVENT_SIZE) {
		struct wire_event event;
		struct wire_gate gate;

		dealbox_decode_event(data, &event);
		if (dealbox_abi_event(&source, &event, pushed, &out)) {
			if (event.type == DEALBOX_EV_DEAL_STARTED)
				memset(through, DEALBOX_NONE, sizeof(through));
			if (dealbox_router_event(&router, &event, &gate) &&
			    gate.pocket != DEALBOX_NONE) {
				CHECK(event.type == DEALBOX_EV_CARD_READ);
				CHECK(event.card < DEALBOX_MAX_CARDS);
				CHECK(gate.pocket == plan.pocket[event.card]);
				CHECK(gate.insertion == event.insertion && event.insertion);
				for (int p = 0; p < DEALBOX_MAX_ENTRIES; p++)
					CHECK(p == event.position || through[p] != event.card);
				through[event.position] = event.card;
			} else if (event.type == DEALBOX_EV_CARD_READ &&
				   event.position < DEALBOX_MAX_ENTRIES) {
				/* the card was read again, and held this time */
				through[event.position] = DEALBOX_NONE;
			}
			/* a host loads its plan again then */
			if (event.type == DEALBOX_EV_STATE_LOST)
				dealbox_router_load(&router, &plan);
		}
		dealbox_queue_push(&queue, &out);
		pushed++;
	}

	for (bool first = true; dealbox_queue_pop(&queue, &out); first = false) {
		if (first && out.seqno)
			CHECK(out.flags & DEALBOX_EVF_GAP && out.seqno == queue.lost);
		else if (!first)
			CHECK(out.seqno == seen + 1);
		seen = out.seqno;
	}
	CHECK(!pushed || seen == pushed - 1);
	return 0;
}
