// SPDX-License-Identifier: LGPL-2.1-or-later
/* Deals without a fault: the observer judges each event; here is what they come to. */
#include <string.h>

#include "run.h"
#include "tests.h"

#define DEAL_MS		180000

static void measure(struct run *r, size_t from)
{
	uint64_t read = 0, first = 0;
	size_t i;

	for (i = from; i < r->event_count; i++) {
		const struct event *event = &r->events[i];

		if (!first)
			first = event->us;
		if (event->e.type == DEALBOX_EV_CARD_READ) {
			if (read) {
				times_add(r, "card_ms", (double)(event->us - read) / 1000);
				check_time(r, "R-5.1-1", event->us - read, 5000000, "a card");
			}
			read = event->us;
		}
		if (event->e.type == DEALBOX_EV_DEAL_DONE)
			times_add(r, "board_ms", (double)(event->us - first) / 1000);
	}
	check(r, "R-5.1-1", true, "no card");
}

/* The plan that is loaded is dealt to its end; counters and status agree. */
static void deal(struct run *r, const char *what)
{
	struct dealbox_counters before = counters(r), behind;
	size_t from = r->event_count;
	const struct event *end;
	struct wire_status s;
	uint64_t began;
	uint32_t dealt;
	uint8_t error;

	uncertainty_begin();
	began = now_us();
	error = start(r);
	if (!check(r, "R-5-1", !error, "START of %s is refused with error %u", what, error))
		end_test(r);
	/* Without hands, the board may be dealt and exchanged already. */
	check(r, "R-5-3",
	      status(r).state == DEALBOX_STATE_DEALING ||
	      r->observer.state != DEALBOX_STATE_IDLE || !has_hands(r),
	      "START does not lead to DEALING");
	await(r, DEALBOX_EV_DEAL_STARTED, 2000, "R-5.1-1");
	check_time(r, "R-5.1-1", r->events[from].us - began, 1000000, "DEAL_STARTED");
	end = await_end(r, DEAL_MS);
	no_joker(r, end);
	if (end && end->e.type == DEALBOX_EV_REPEATED_CARD &&
	    r->plan.mode == DEALBOX_PLAN_CAPTURE && !has_faults(r))
		not_run(r, "a card is there twice: put one pack of 52 cards in");
	check(r, "R-4.2-1", end && end->e.type == DEALBOX_EV_DEAL_DONE, "%s ends with %s", what,
	      end ? event_name(end->e.type) : "nothing");
	if (!end || end->e.type != DEALBOX_EV_DEAL_DONE)
		end_test(r);
	dealt = end->e.position;
	s = status(r);
	/* Without hands, somebody may have exchanged the board. */
	check(r, "R-5-4", s.state == DEALBOX_STATE_DONE || !has_hands(r),
	      "the state is %s behind DEAL_DONE",
	      state_name(s.state));
	check(r, "R-5.2-2", !!(s.flags & DEALBOX_STATUS_SPENT) == !r->observer.capture ||
	      !has_hands(r),
	      "the insertion is%s spent behind %s", s.flags & DEALBOX_STATUS_SPENT ? "" : " not",
	      what);
	behind = counters(r);
	check(r, "R-2.1-7", behind.boards_dealt == before.boards_dealt + 1 &&
	      behind.boards_voided == before.boards_voided,
	      "%u boards dealt, %u voided behind %u, %u",
	      behind.boards_dealt, behind.boards_voided, before.boards_dealt, before.boards_voided);
	check(r, "R-2.1-7", behind.cards_fed == before.cards_fed + dealt ||
	      behind.cards_fed == before.cards_fed + dealt + 1,
	      "%u cards fed behind %u, and %u were dealt", behind.cards_fed, before.cards_fed,
	      dealt);
	if (r->desc.reader != DEALBOX_READER_NONE)
		check(r, "R-2.1-7", behind.cards_read + behind.unreadable >= before.cards_read +
		      before.unreadable + dealt, "%u cards read behind %u",
		      behind.cards_read, before.cards_read);
	measure(r, from);
}

static void load_good(struct run *r, const struct wire_plan *plan)
{
	uint8_t error;

	r->route = true;
	error = load(r, plan);
	if (!check(r, "R-3-12", !error, "a good plan is refused with error %u", error))
		end_test(r);
}

static void by_position(struct run *r)
{
	unsigned int room = r->desc.pocket_capacity * (unsigned int)r->desc.pockets, n = 52;
	struct wire_plan plan;

	settle(r);
	fresh_board(r);
	n = n < room ? n : room;
	n = n < r->desc.plan_entries ? n : r->desc.plan_entries;
	plan_by_position(r, &plan, n < 20 ? n : 20);
	load_good(r, &plan);
	deal(r, "a deal by position");
	/* a second board from the same plan, loaded once (R-3-10) */
	fresh_board(r);
	if (!ROUTED(r))
		check(r, "R-3-10", status(r).plan_id == plan.plan_id,
		      "the plan is not there for a second board");
	deal(r, "the second board of a plan");
}

static void by_card(struct run *r)
{
	struct wire_plan plan;

	if (r->desc.plan_entries < 52 || r->desc.pocket_capacity * r->desc.pockets < 52)
		not_supported(r, "52 cards do not fit");
	settle(r);
	fresh_board(r);
	plan_by_card(r, &plan, 52);
	load_good(r, &plan);
	deal(r, "a deal by card");
}

/* Every pocket, once each; and all cards into the last */
static void pockets(struct run *r)
{
	unsigned int n = r->desc.pockets, i;
	struct wire_plan plan;

	settle(r);
	fresh_board(r);
	plan_by_position(r, &plan, n < r->desc.plan_entries ? n : r->desc.plan_entries);
	for (i = 0; i < plan.entries; i++)
		plan.pocket[i] = (uint8_t)(n - 1 - i);
	dealbox_count_plan(&plan);
	load_good(r, &plan);
	deal(r, "a card into each pocket");
	fresh_board(r);
	plan_by_position(r, &plan, r->desc.pocket_capacity < 6 ? r->desc.pocket_capacity :
			 r->desc.plan_entries < 6 ? r->desc.plan_entries : 6);
	memset(plan.pocket, (int)n - 1, plan.entries);
	dealbox_count_plan(&plan);
	load_good(r, &plan);
	deal(r, "all cards into one pocket");
}

static void test_deal(struct run *r)
{
	const struct event *end;
	uint8_t error, n = (uint8_t)(r->desc.plan_entries < 9 ? r->desc.plan_entries : 9);

	if (n > r->desc.pocket_capacity * r->desc.pockets)
		n = (uint8_t)(r->desc.pocket_capacity * r->desc.pockets);
	settle(r);
	fresh_board(r);
	/* needs no plan */
	if (!ROUTED(r))
		command(r, WIRE_LOAD, 0, 0, 0, NULL);
	/* neither repeated nor unreadable cards stop it */
	if (has_faults(r) && r->desc.reader != DEALBOX_READER_NONE && n > 2) {
		do_step(r, "inject position 1: repeat");
		do_step(r, "inject position 2: unreadable");
	}
	error = command(r, DEALBOX_OP_TEST_DEAL, 0, r->observer.insertion, n, NULL);
	if (!check(r, "R-7-1", !error, "TEST_DEAL is refused with error %u", error))
		end_test(r);
	await(r, DEALBOX_EV_DEAL_STARTED, 2000, "R-5.1-1");
	end = await_end(r, DEAL_MS);
	check(r, "R-7-3", end && end->e.type == DEALBOX_EV_DEAL_DONE, "a test deal ends with %s",
	      end ? event_name(end->e.type) : "nothing");
	if (!end)
		end_test(r);
	check(r, "R-7-1", end->e.position == n, "a test deal of %u cards deals %u", n,
	      end->e.position);
	check(r, "R-7-2", end->e.type != DEALBOX_EV_DEAL_DONE || end->e.code == DEALBOX_PLAN_TEST,
	      "the plan number of a test deal is %u", end->e.code);
	status(r);
	if (!has_hands(r))
		return;
	error = command(r, DEALBOX_OP_TEST_DEAL, 0, r->observer.insertion, n, NULL);
	check(r, "R-5.2-2", error == DEALBOX_ERR_SPENT, "a second TEST_DEAL: error %u", error);
	/* during one, the status has its number */
	if (has_faults(r)) {
		fresh_board(r);
		do_step(r, "inject on event DEAL_STARTED: freeze");
		error = command(r, DEALBOX_OP_TEST_DEAL, 0, r->observer.insertion, n, NULL);
		check(r, "R-7-1", !error, "TEST_DEAL is refused with error %u", error);
		await(r, DEALBOX_EV_DEAL_STARTED, 2000, "R-5.1-1");
		do_step(r, "wait frozen");
		check(r, "R-7-2", status(r).plan_id == DEALBOX_PLAN_TEST,
		      "GET_STATUS has no test deal");
		settle(r);
	}
}

/* A pocket gets more than it holds (R-4.3-6). */
static void full_pocket(struct run *r)
{
	unsigned int n = r->desc.pocket_capacity * (unsigned int)r->desc.pockets + 1;
	const struct event *end;
	uint8_t error;

	if (n > r->desc.plan_entries)
		not_supported(r, "a test deal does not fill the pockets");
	settle(r);
	fresh_board(r);
	error = command(r, DEALBOX_OP_TEST_DEAL, 0, r->observer.insertion, n, NULL);
	if (!check(r, "R-7-1", !error, "TEST_DEAL is refused with error %u", error))
		end_test(r);
	end = await_end(r, DEAL_MS);
	check(r, "R-4.3-6", end && end->e.type == DEALBOX_EV_HARDWARE && end->e.position == n - 1,
	      "card %u, one too many, leads to %s", n - 1,
	      end ? event_name(end->e.type) : "nothing");
	check(r, "R-4.3-6", status(r).flags & DEALBOX_STATUS_CARD_AT_READER,
	      "the card that is too many is not at the reader");
	settle(r);
}

/* All cards of an insertion count, also those of an earlier capture (R-4.3-6). */
static void full_capture(struct run *r)
{
	static const char suits[] = "SHDC";
	static const char *const ranks[] = {
		"2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"
	};
	unsigned int n = r->desc.pocket_capacity, i;
	char words[300] = "hopper top";
	const struct event *end;
	struct wire_plan plan;
	size_t length;

	if (n > 50)
		not_supported(r, "a pocket holds more cards than a capture has");
	settle(r);
	fresh_board(r);
	plan_by_position(r, &plan, 1);
	plan.mode = DEALBOX_PLAN_CAPTURE;
	dealbox_count_plan(&plan);
	load_good(r, &plan);
	do_step(r, "hopper empty");
	for (i = 0; i < n; i++) {
		length = strlen(words);
		snprintf(words + length, sizeof(words) - length, " %c%s", suits[i / 13],
			 ranks[i % 13]);
	}
	do_step(r, "%s", words);
	deal(r, "a capture that fills a pocket");
	do_step(r, "hopper top CA");
	status(r);
	check(r, "R-5.2-5", !start(r), "a second capture is refused");
	end = await_end(r, DEAL_MS);
	check(r, ROUTED(r) ? "R-6-8" : "R-4.3-6", end && end->e.type == DEALBOX_EV_HARDWARE,
	      "a card that is too many for the insertion leads to %s",
	      end ? event_name(end->e.type) : "nothing");
	check(r, "R-4.3-6", status(r).flags & DEALBOX_STATUS_CARD_AT_READER,
	      "the card that is too many is not at the reader");
	settle(r);
}

/* Captures of a hopper with few cards; they spend nothing (R-5.2-5, R-5.2-6). */
static void capture(struct run *r)
{
	struct wire_plan plan;
	uint8_t error, mode = HAS(r, BY_POSITION) ? DEALBOX_PLAN_BY_POSITION : DEALBOX_PLAN_BY_CARD;
	uint32_t insertion;
	int times;

	if (r->desc.pocket_capacity < 6)
		not_supported(r, "two captures of three cards do not fit into a pocket");
	settle(r);
	fresh_board(r);
	plan_by_position(r, &plan, 1);
	plan.mode = DEALBOX_PLAN_CAPTURE;
	plan.plan_id++;
	dealbox_count_plan(&plan);
	load_good(r, &plan);
	insertion = r->observer.insertion;
	for (times = 0; times < 2; times++) {
		do_step(r, "hopper empty");
		if (has_faults(r))
			do_step(r, times ? "hopper top S2 H3 CK" : "hopper top SA HK D5");
		else
			do_step(r, "hopper three");
		status(r);
		deal(r, times ? "a second capture" : "a capture");
		if (ROUTED(r))
			check(r, "R-6-11", r->observer.position == 3,
			      "a capture deals %u of 3 cards", r->observer.position);
		check(r, "R-5.2-5", r->observer.insertion == insertion && !r->observer.spent,
		      "a capture spends the insertion");
	}
	do_step(r, "hopper fill");
	plan_by_position(r, &plan, 1);
	plan.mode = mode;
	dealbox_count_plan(&plan);
	load_good(r, &plan);
	error = start(r);
	check(r, "R-5.2-6", error == DEALBOX_ERR_SPENT, "a deal behind a capture: error %u", error);
	if (HAS(r, TEST_DEAL)) {
		error = command(r, DEALBOX_OP_TEST_DEAL, 0, insertion, 1, NULL);
		check(r, "R-5.2-6", error == DEALBOX_ERR_SPENT,
		      "a test deal behind a capture: error %u", error);
	}
	/* and the other way round */
	fresh_board(r);
	deal(r, "a deal");
	plan.mode = DEALBOX_PLAN_CAPTURE;
	dealbox_count_plan(&plan);
	load_good(r, &plan);
	error = start(r);
	check(r, "R-5.2-6", error == DEALBOX_ERR_SPENT, "a capture behind a deal: error %u", error);
}

static void no_reader(struct run *r)
{
	if (r->desc.reader != DEALBOX_READER_NONE)
		not_supported(r, "the machine has a reader");
	check(r, "R-6-10", true, "no reader");
	check(r, "R-4.2-4", true, "no reader");
	by_position(r);
}

#define TEST_DEAL	DEALBOX_CAP_TEST_DEAL

const struct test_row dealing_tests[] = {
	{ "dealing", "by-position", "R-0-2 R-2.1-5 R-2.1-7 R-2.1-9 R-3-10 R-3-12 R-4-1 R-4-3 R-4-4 "
				    "R-4-5 R-4-6 R-4-10 R-4-13 R-4.2-1 R-4.2-2 R-4.2-3 R-5-3 R-5-4 "
				    "R-5.1-1 R-5.2-2 R-6-4 R-6-11 R-S2-1 R-S3-2",
	  "two boards of one plan", NEED_BOARD, DEALBOX_CAP_BY_POSITION, by_position },
	{ "dealing", "by-card", "R-4.2-1 R-4.2-2 R-4.2-3", "52 cards by card",
	  NEED_BOARD | NEED_READER, DEALBOX_CAP_BY_CARD, by_card },
	{ "dealing", "pockets", "R-4.2-1", "every pocket", NEED_BOARD, DEALBOX_CAP_BY_POSITION,
	  pockets },
	{ "dealing", "test-deal", "R-7-1 R-7-2 R-7-3 R-5.2-2", "a test deal", NEED_BOARD, TEST_DEAL,
	  test_deal },
	{ "dealing", "full-pocket", "R-4.3-6", "one card too many for a pocket", NEED_BOARD,
	  TEST_DEAL, full_pocket },
	{ "dealing", "full-capture", "R-4.3-6", "captures of more cards than a pocket holds",
	  NEED_FAULTS | NEED_BOARD, DEALBOX_CAP_CAPTURE, full_capture },
	{ "dealing", "capture", "R-5.2-5 R-5.2-6 R-6-11", "captures", NEED_HANDS | NEED_BOARD,
	  DEALBOX_CAP_CAPTURE, capture },
	{ "dealing", "no-reader", "R-4.2-4 R-6-10", "a machine without reader", NEED_BOARD,
	  DEALBOX_CAP_BY_POSITION, no_reader },
	{ 0 }
};
