// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Boards of 52 cards, dealt until the sequential test of the profile decides; and what they tell
 * about reader, gates and times.
 */
#include <stdlib.h>

#include "measure.h"
#include "run.h"
#include "tests.h"

#define BOARD_MS	600000	/* with a person who exchanges the board */
#define DEAL_MS		180000

static void measured(struct measured_event *to, const struct event *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = (struct measured_event){ from[i].us, from[i].e.type, from[i].e.position,
			from[i].e.card, from[i].e.pocket };
}

/* Adds the events from this one on to the report. Returns true if the board is exact. */
static bool measure_from(struct run *r, size_t from)
{
	struct measured_deal deal = {
		.reader = r->desc.reader == DEALBOX_READER_NONE ? NULL : "reader",
		.whole_pack = true,
		.routed = ROUTED(r),
		.blind = !HAS(r, EXIT_SENSORS),
		.cards = r->plan.feed,
		.by_card = r->plan.mode == DEALBOX_PLAN_BY_CARD,
		.count = r->event_count - from,
	};
	struct measured_event *events = calloc(deal.count + 1, sizeof(*events));
	bool exact;

	if (!events)
		not_run(r, "out of memory");
	measured(events, r->events + from, deal.count);
	deal.events = events;
	for (unsigned int i = 0; i < r->plan.entries; i++)
		deal.pocket[i] = r->plan.pocket[i];
	exact = measure_deal(r->report, &deal);
	free(events);
	return exact;
}

static void deal_board(struct run *r, const struct wire_plan *plan)
{
	size_t from;
	uint8_t error;

	r->deadline = now_us() + BOARD_MS * 1000ULL;
	settle(r);
	fresh_board(r);
	r->route = true;
	error = load(r, plan);
	if (error)
		not_run(r, "a plan of 52 cards is refused with error %u", error);
	from = r->event_count;
	error = start(r);
	if (error)
		not_run(r, "START is refused with error %u", error);
	await_end(r, DEAL_MS);
	measure_board(r->report, measure_from(r, from));
}

static void boards(struct run *r)
{
	struct wire_plan plan;

	if (!r->endurance)
		not_run(r, "no --profile says how many boards may be wrong");
	if (r->desc.plan_entries < 52 || r->desc.pocket_capacity * r->desc.pockets < 52)
		not_supported(r, "52 cards do not fit");
	/* by position, a card that is misread does not stop the deal */
	if (HAS(r, BY_POSITION) || ROUTED(r))
		plan_by_position(r, &plan, 52);
	else
		plan_by_card(r, &plan, 52);
	while (statistics_sprt(r->endurance, report_endurance(r->report)) == SPRT_CONTINUE)
		deal_board(r, &plan);
	note(r, "%llu boards, %llu of them not exact",
	     (unsigned long long)report_endurance(r->report).trials,
	     (unsigned long long)report_endurance(r->report).errors);
}

const struct test_row endurance_tests[] = {
	{ "endurance", "boards", "R-4.2-2 R-4.2-3", "boards until the profile's "
						    "sequential test decides",
	  NEED_BOARD, 0, boards },
	{ 0 }
};
