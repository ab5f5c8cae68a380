// SPDX-License-Identifier: LGPL-2.1-or-later
/* Stops (§4.3), pauses and aborts (§5): faults are made by the emulator's control socket. */
#include <string.h>

#include "run.h"

#define DEAL_MS		60000
#define LAST(r)		((r)->plan.entries - 1)

/* The rules of these tests concern the first four cards. */
static void enough_cards(struct run *r)
{
	if (r->plan.feed < 5)
		not_supported(r, "deals have fewer than five cards");
}

static bool takes_a_pack(const struct run *r)
{
	return r->desc.plan_entries >= 52 && r->desc.pocket_capacity * r->desc.pockets >= 52;
}

/* Start a deal with these rules; cards move. */
static void begin(struct run *r, const char *rules)
{
	char copy[200], *state = NULL, *rule;
	uint8_t error;

	ready(r);
	enough_cards(r);
	snprintf(copy, sizeof(copy), "%s", rules);
	for (rule = strtok_r(copy, "\n", &state); rule; rule = strtok_r(NULL, "\n", &state))
		do_step(r, "inject %s", rule);
	error = start(r);
	if (!check(r, "R-5-1", !error, "START is refused with error %u", error))
		end_test(r);
}

/* end must be this stop; else the test ends. */
static const struct event *check_stop(struct run *r, const struct event *end, uint8_t type,
				      uint8_t position, const char *requirement)
{
	check(r, requirement, end && end->e.type == type, "%s comes, not %s",
	      end ? event_name(end->e.type) : "nothing", event_name(type));
	if (!end || end->e.type != type)
		end_test(r);
	check(r, "R-4.3-1", end->e.position == position, "%s has the position %u, not %u",
	      event_name(type), end->e.position, position);
	return end;
}

static const struct event *expect_stop(struct run *r, uint8_t type, uint8_t position,
				       const char *requirement)
{
	return check_stop(r, await_end(r, DEAL_MS), type, position, requirement);
}

/* CARD_READ of this position since the deal began */
static bool was_read(const struct run *r, uint8_t position, size_t from)
{
	size_t i;

	for (i = from; i < r->event_count; i++)
		if (r->events[i].e.type == DEALBOX_EV_CARD_READ &&
		    r->events[i].e.position == position)
			return true;
	return false;
}

/* All cards past the gate fall, behind every stop (R-5-13). */
static void expect_fallen(struct run *r)
{
	uint64_t end = now_us() + 2000000;

	while (HAS(r, EXIT_SENSORS) && r->observer.done < r->observer.position && now_us() < end)
		fetch(r, 20);
	if (HAS(r, EXIT_SENSORS))
		check(r, "R-5-13", r->observer.done == r->observer.position,
		      "%u cards passed the gate, and %u fell", r->observer.position,
		      r->observer.done);
	status(r);
}

/* HELD: the deal goes on at the same position. */
static void go_on(struct run *r, uint8_t position)
{
	const struct event *event;
	uint8_t error, state;
	size_t from;

	expect_fallen(r);
	check(r, "R-4.3-1", status(r).state == DEALBOX_STATE_HELD, "the state is not HELD");
	error = command(r, DEALBOX_OP_REREAD, 0, 0, 0, NULL);
	if (!check(r, "R-5-1", !error, "REREAD is refused with error %u", error))
		end_test(r);
	from = r->event_count;
	state = status(r).state;
	/* the next card, too, may have stopped it by now */
	check(r, "R-5-3", state != DEALBOX_STATE_HELD || r->event_count != from,
	      "REREAD does not lead to DEALING");
	/* a joker has no CARD_READ */
	while ((event = next_event(r, 6000)) && event->e.type != DEALBOX_EV_CARD_READ)
		no_joker(r, event);
	check(r, "R-5.1-1", event, "CARD_READ did not come within 6000 ms");
	if (!event)
		end_test(r);
	check(r, "R-5-16", event->e.position == position,
	      "behind REREAD the position is %u, not %u", event->e.position, position);
	event = await_end(r, DEAL_MS);
	no_joker(r, event);
	check(r, "R-5-16", event && event->e.type == DEALBOX_EV_DEAL_DONE, "the deal ends with %s",
	      event ? event_name(event->e.type) : "nothing");
	status(r);
}

/* FAULT: void, until it is cleared. */
static void clear(struct run *r, bool cause, const char *step_that_helps)
{
	uint8_t error, type = r->observer.fault_type;
	uint32_t detail;

	check(r, "R-4.3-1", status(r).state == DEALBOX_STATE_FAULT, "the state is not FAULT");
	if (cause) {
		error = command(r, DEALBOX_OP_CLEAR_FAULT, 0, 0, 0, &detail);
		check(r, "R-2.3-1", error == DEALBOX_ERR_FAULT && detail == type,
		      "CLEAR_FAULT while the cause of %s is there: error %u, detail %u",
		      event_name(type), error, detail);
	}
	if (step_that_helps)
		do_step(r, "%s", step_that_helps);
	error = command(r, DEALBOX_OP_CLEAR_FAULT, 0, 0, 0, &detail);
	check(r, cause ? "R-5-1" : "R-4.3-9", !error,
	      "CLEAR_FAULT behind %s is refused with error %u", event_name(type), error);
	if (!error)
		await(r, DEALBOX_EV_FAULT_CLEARED, 1500, "R-5.1-1");
	status(r);
	settle(r);
}

static void feed_timeout(struct run *r)
{
	begin(r, "position 3: feed-timeout");
	expect_stop(r, DEALBOX_EV_FEED_TIMEOUT, 3, "R-4.3-1");
	go_on(r, 3);
}

static void deck_short(struct run *r)
{
	struct dealbox_counters before;
	uint8_t error;

	if (!ROUTED(r) && !HAS(r, BY_POSITION))
		not_supported(r, "there are no deals by position");
	ready(r);
	enough_cards(r);
	before = counters(r);
	do_step(r, "hopper empty");
	do_step(r, "hopper top S2 H3 CK");
	status(r);
	error = start(r);
	check(r, "R-5-1", !error, "START is refused with error %u", error);
	expect_stop(r, DEALBOX_EV_DECK_SHORT, 3, ROUTED(r) ? "R-6-12" : "R-4.3-1");
	check(r, "R-4.3-7",
	      !(status(r).flags & (DEALBOX_STATUS_HOPPER | DEALBOX_STATUS_CARD_AT_READER)),
	      "DECK_SHORT, and there are cards");
	check(r, "R-2.1-7", counters(r).cards_fed == before.cards_fed + 3,
	      "%u cards were fed, not 3", counters(r).cards_fed - before.cards_fed);
	do_step(r, "hopper fill");
	do_step(r, "hopper top C2 C3 C4 C5 C6 C7 C8 C9 C10");
	go_on(r, 3);
	check(r, "R-5-16", r->observer.state == DEALBOX_STATE_DONE,
	      "the deal does not go on at the same position");
	settle(r);
}

static void unreadable(struct run *r)
{
	struct wire_plan plan;
	size_t from;
	uint8_t error;

	settle(r);
	fresh_board(r);
	if (HAS(r, BY_CARD) && takes_a_pack(r))
		plan_by_card(r, &plan, 52);
	else if (ROUTED(r))
		plan_default(r, &plan);
	else
		not_supported(r, "only deals by card stop at an unreadable card, "
				 "and a pack does not fit");
	r->route = true;
	load(r, &plan);
	enough_cards(r);
	from = r->event_count;
	do_step(r, "inject position 3: unreadable");
	error = start(r);
	check(r, "R-5-1", !error, "START is refused with error %u", error);
	expect_stop(r, DEALBOX_EV_CARD_UNREADABLE, 3, ROUTED(r) ? "R-6-9" : "R-4.3-1");
	check(r, ROUTED(r) ? "R-6-9" : "R-4.3-4", !was_read(r, 3, from),
	      "CARD_READ comes for a card that could not be read");
	check(r, "R-4.3-1", status(r).flags & DEALBOX_STATUS_CARD_AT_READER, "the card has moved");
	go_on(r, 3);
}

/* By position, a card that cannot be read is dealt all the same. */
static void unreadable_position(struct run *r)
{
	const struct event *end;

	if (ROUTED(r))
		not_supported(r, "a host-routed machine stops");
	begin(r, "position 3: unreadable");
	end = await_end(r, DEAL_MS);
	check(r, "R-4.2-1", end && end->e.type == DEALBOX_EV_DEAL_DONE, "the deal ends with %s",
	      end ? event_name(end->e.type) : "nothing");
	check(r, "R-4.2-1", r->observer.cards[3].read && r->observer.cards[3].card == DEALBOX_NONE,
	      "a card that could not be read is named");
	status(r);
}

static void repeated(struct run *r)
{
	struct dealbox_counters before;
	const struct event *event;
	size_t from;

	ready(r);
	before = counters(r);
	from = r->event_count;
	begin(r, "position 3: repeat");
	event = await_end(r, DEAL_MS);
	check(r, "R-4.3-3", ROUTED(r) || (event && event->e.type != DEALBOX_EV_DEAL_DONE),
	      "the machine deals a repeated card");
	event = check_stop(r, event, DEALBOX_EV_REPEATED_CARD, 3, ROUTED(r) ? "R-6-5" : "R-4.3-2");
	check(r, ROUTED(r) ? "R-6-5" : "R-4.3-1", event->e.arg[0] < 3 &&
	      r->observer.cards[event->e.arg[0]].card == event->e.card,
	      "REPEATED_CARD has %u as the position of the first reading", event->e.arg[0]);
	if (!ROUTED(r))
		check(r, "R-4.3-4", !was_read(r, 3, from), "CARD_READ comes for a repeated card");
	expect_fallen(r);
	check(r, "R-2.1-7", counters(r).repeated == before.repeated + 1,
	      "%u repeated cards counted, not 1", counters(r).repeated - before.repeated);
	check(r, "R-2.1-7", counters(r).boards_voided == before.boards_voided + 1,
	      "a void board is not counted");
	clear(r, true, "take-card");
}

/* A card that stays at the reader is read again, and not repeated (R-4.3-10). */
static void read_again(struct run *r)
{
	const struct event *end;

	begin(r, "on event CARD_READ position 3: freeze");
	while (!r->observer.cards[3].read)
		if (!next_event(r, 5000))
			not_run(r, "the card was not read");
	do_step(r, "wait frozen");
	command(r, DEALBOX_OP_PAUSE, 0, 0, 0, NULL);
	do_step(r, "thaw");
	await(r, DEALBOX_EV_PAUSED, 3000, "R-5.1-1");
	check(r, "R-5-7", r->observer.position == 4,
	      "a card that was read is not let through before PAUSED");
	command(r, DEALBOX_OP_RESUME, 0, 0, 0, NULL);
	end = await_end(r, DEAL_MS);
	no_joker(r, end);
	check(r, "R-4.3-10", end && end->e.type == DEALBOX_EV_DEAL_DONE, "the deal ends with %s",
	      end ? event_name(end->e.type) : "nothing");
	status(r);
}

static void not_in_plan(struct run *r)
{
	struct dealbox_counters before;
	const struct event *event;
	uint8_t position, card;
	size_t from;

	if (!ROUTED(r) && r->desc.plan_entries < 52)
		not_supported(r, "plans are shorter than a pack");
	settle(r);
	before = counters(r);
	from = r->event_count;
	reach(r, DEALBOX_STATE_HELD);
	event = &r->events[r->event_count - 1];
	while (event > r->events + from && !DEALBOX_EV_IS_STOP(event->e.type))
		event--;
	position = event->e.position;
	card = event->e.card;
	if (!check(r, ROUTED(r) ? "R-6-5" : "R-4.3-1", event->e.type == DEALBOX_EV_NOT_IN_PLAN,
		   "%s comes for a card without a pocket", event_name(event->e.type)))
		end_test(r);
	if (!ROUTED(r))
		check(r, "R-4.3-4", !was_read(r, position, from),
		      "CARD_READ comes for a card that is not in the plan");
	check(r, "R-4.3-1", card >= 52 || r->plan.pocket[card] == DEALBOX_NONE,
	      "NOT_IN_PLAN names card %u, which has a pocket", card);
	check(r, "R-2.1-7", counters(r).not_in_plan == before.not_in_plan + 1,
	      "%u cards not in plan were counted, not 1",
	      counters(r).not_in_plan - before.not_in_plan);
	expect_fallen(r);
	/* it is the same card when it is read again */
	command(r, DEALBOX_OP_REREAD, 0, 0, 0, NULL);
	event = await_end(r, 6000);
	check(r, "R-4.3-10", event && event->e.type != DEALBOX_EV_REPEATED_CARD,
	      "a card that stayed at the reader is repeated when it is read again");
	check(r, "R-5-16",
	      event && event->e.type == DEALBOX_EV_NOT_IN_PLAN && event->e.card == card &&
		      event->e.position == position,
	      "behind REREAD the card at the reader is not read again");
	/* taken out, the next one comes, without opening the cover */
	do_step(r, "take-card");
	check(r, "R-5-17", !(status(r).flags & DEALBOX_STATUS_CARD_AT_READER),
	      "the card cannot be taken out");
	command(r, DEALBOX_OP_REREAD, 0, 0, 0, NULL);
	event = await_end(r, DEAL_MS);
	check(r, "R-5-16", event && (event->e.card != card || event->e.position != position),
	      "behind REREAD no next card is fed");
	settle(r);
}

static void jams(struct run *r)
{
	static const char *const rules[] = { "position 3: jam feeder", "position 3: jam reader",
		"position 3: jam gate", "on land position 3: jam pocket" };
	struct dealbox_counters before;
	const struct event *event;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		ready(r);
		before = counters(r);
		begin(r, rules[i]);
		event = expect_stop(r, DEALBOX_EV_JAM, 3, "R-4.3-1");
		check(r, "R-4.3-1", event->e.code == i + 1, "JAM has the code %u, not %u",
		      event->e.code, i + 1);
		check(r, "R-2.1-7", counters(r).jams == before.jams + 1, "a jam is not counted");
		clear(r, true, "empty");
	}
}

static void double_feed(struct run *r)
{
	struct dealbox_counters before;

	ready(r);
	before = counters(r);
	begin(r, "position 3: double-feed");
	expect_stop(r, DEALBOX_EV_DOUBLE_FEED, 3, "R-4.3-1");
	check(r, "R-2.1-7", counters(r).double_feeds == before.double_feeds + 1,
	      "a double feed is not counted");
	expect_fallen(r);
	clear(r, true, "empty");
}

static void wrong_pocket(struct run *r)
{
	struct dealbox_counters before;
	const struct event *event;
	if (r->desc.pockets < 2)
		not_supported(r, "there is one pocket");
	ready(r);
	before = counters(r);
	begin(r, "position 3: wrong-pocket");
	event = expect_stop(r, DEALBOX_EV_WRONG_POCKET, 3, "R-4.3-1");
	check(r, "R-4.3-1", event->e.arg[0] == r->observer.cards[3].pocket &&
	      event->e.pocket != event->e.arg[0],
	      "WRONG_POCKET has pocket %u, and %u as the right one", event->e.pocket,
	      event->e.arg[0]);
	check(r, "R-2.1-7", counters(r).wrong_pockets == before.wrong_pockets + 1,
	      "a wrong pocket is not counted");
	expect_fallen(r);
	clear(r, false, NULL);
}

static void pulled_in(struct run *r, uint8_t state)
{
	const struct event *event;
	uint32_t insertion;
	uint8_t position;

	reach(r, state);
	insertion = r->observer.insertion;
	position = r->observer.position;
	do_step(r, "remove force");
	event = await(r, DEALBOX_EV_BOARD_PULLED, 3000, "R-4.3-1");
	check(r, "R-4.3-1", event->e.insertion == insertion && event->e.position == position,
	      "BOARD_PULLED has insertion %u, position %u", event->e.insertion, event->e.position);
	event = await(r, DEALBOX_EV_BOARD_REMOVED, 3000, "R-4.3-1");
	check(r, "R-4.1-1", event->e.insertion == insertion, "BOARD_REMOVED has insertion %u",
	      event->e.insertion);
	status(r);
	do_step(r, "insert");
	do_step(r, "thaw");
	status(r);
	while ((event = next_event(r, 200)))
		if (event->e.type == DEALBOX_EV_CARD_LANDED)
			check(r, "R-4.2-5", !event->e.insertion,
			      "a card of the old board is counted into the new");
	check(r, "R-4.2-5", !r->observer.done, "a card of the old board is counted into the new");
	check(r, "R-5-2", status(r).state == DEALBOX_STATE_FAULT, "a new board ends FAULT");
	clear(r, false, NULL);
	check(r, "R-4.2-5", !(status(r).flags & DEALBOX_STATUS_SPENT), "the new board is spent");
}

/* "During the deal" is DEALING, PAUSED and HELD. */
static void pulled(struct run *r)
{
	pulled_in(r, DEALBOX_STATE_DEALING);
	pulled_in(r, DEALBOX_STATE_PAUSED);
	pulled_in(r, DEALBOX_STATE_HELD);
}

static void removed_done(struct run *r)
{
	reach(r, DEALBOX_STATE_DONE);
	if (HAS(r, BOARD_LOCK))
		command(r, DEALBOX_OP_RELEASE_BOARD, 0, 0, 0, NULL);
	do_step(r, "remove");
	await(r, DEALBOX_EV_BOARD_REMOVED, 10000, "R-4.1-1");
	check(r, "R-5-2", status(r).state == DEALBOX_STATE_IDLE,
	      "DONE is not IDLE behind BOARD_REMOVED");
	check(r, "R-2.1-6", !status(r).cards_done, "the deal that ran last is not forgotten");
	do_step(r, "insert");
	status(r);
}

static void cover(struct run *r)
{
	static const uint8_t states[] = { DEALBOX_STATE_DEALING, DEALBOX_STATE_PAUSED,
					  DEALBOX_STATE_HELD };
	const struct event *event;
	size_t i;

	for (i = 0; i < sizeof(states); i++) {
		/* A person needs more time for the cover than a deal has. */
		if (states[i] == DEALBOX_STATE_DEALING && !has_faults(r))
			continue;
		reach(r, states[i]);
		do_step(r, "cover open");
		event = await_maybe(r, DEALBOX_EV_COVER_OPENED, 3000);
		if (!check(r, "R-4.3-1", event, "COVER_OPENED does not come in %s",
			   state_name(states[i]))) {
			step(r, "cover close");
			end_test(r);
		}
		do_step(r, "cover close");
		if (has_faults(r))
			step(r, "thaw");
		clear(r, false, NULL);
	}
}

/* The sensor's flag is in whatever event carries the reading. */
static void face_up(struct run *r)
{
	struct wire_plan plan;
	const struct event *event;
	uint8_t error;

	settle(r);
	fresh_board(r);
	if (HAS(r, BY_CARD) && takes_a_pack(r))
		plan_by_card(r, &plan, 52);
	else if (ROUTED(r))
		plan_default(r, &plan);
	else
		not_supported(r, "only deals by card stop at a card that lies face up, "
				 "and a pack does not fit");
	r->route = true;
	load(r, &plan);
	enough_cards(r);
	do_step(r, "inject position 3: face-up");
	error = start(r);
	check(r, "R-5-1", !error, "START is refused with error %u", error);
	while ((event = next_event(r, 6000)) &&
	       !(event->e.position == 3 && (event->e.type == DEALBOX_EV_CARD_READ ||
					    DEALBOX_EV_IS_STOP(event->e.type))))
		;
	check(r, event && event->e.type == DEALBOX_EV_CARD_READ ? "R-4.2-1" : "R-4.3-4",
	      event && event->e.flags & DEALBOX_EVF_FACE_UP,
	      "%s of a card that lies face up has not the flag",
	      event ? event_name(event->e.type) : "no event");
	settle(r);
}

static void hardware(struct run *r)
{
	const struct event *event;
	uint8_t error;
	uint32_t detail;

	reach(r, DEALBOX_STATE_DEALING);
	do_step(r, "break 77 lasting");
	event = await(r, DEALBOX_EV_HARDWARE, 3000, "R-4.3-1");
	check(r, "R-4.3-1", event->e.code == 77, "HARDWARE has the code %u", event->e.code);
	do_step(r, "thaw");
	status(r);
	error = command(r, DEALBOX_OP_CLEAR_FAULT, 0, 0, 0, &detail);
	check(r, "R-2.3-1", error == DEALBOX_ERR_FAULT && detail == DEALBOX_EV_HARDWARE,
	      "CLEAR_FAULT while HARDWARE lasts: error %u, detail %u", error, detail);
	do_step(r, "repair");
	clear(r, false, NULL);
	/* behind DEAL_DONE (R-4.3-8) */
	reach(r, DEALBOX_STATE_DONE);
	do_step(r, "break 78");
	await(r, DEALBOX_EV_HARDWARE, 3000, "R-4.3-8");
	check(r, "R-4.3-8", status(r).state == DEALBOX_STATE_FAULT,
	      "FAULT is not entered from DONE");
	clear(r, false, NULL);
}

/* --- pauses and aborts ------------------------------------------------------------------------ */

/* Between accepting PAUSE or ABORT and its event, all is refused but LOCATE (R-5-6). */
static void refused_between(struct run *r, bool aborting)
{
	static const uint8_t requests[] = { DEALBOX_OP_PAUSE, DEALBOX_OP_RESUME, DEALBOX_OP_REREAD,
		DEALBOX_OP_CLEAR_FAULT, DEALBOX_OP_ABORT };
	size_t i;

	for (i = 0; i < sizeof(requests) - !aborting; i++) {
		uint8_t error = command(r, requests[i], 0, 0, 0, NULL);

		check(r, "R-5-6", error == DEALBOX_ERR_STATE, "command %02x behind %s: error %u",
		      requests[i], aborting ? "ABORT" : "PAUSE", error);
	}
	check(r, "R-5-6", !command(r, DEALBOX_OP_LOCATE, 0, 0, 0, NULL), "LOCATE is refused");
}

static void pause_feed(struct run *r)
{
	const struct event *event;
	uint8_t error;

	uint8_t position;

	reach(r, DEALBOX_STATE_DEALING);
	position = r->observer.position;
	error = command(r, DEALBOX_OP_PAUSE, 0, 0, 0, NULL);
	check(r, "R-5-1", !error, "PAUSE is refused with error %u", error);
	check(r, "R-5-4", status(r).state == DEALBOX_STATE_DEALING,
	      "PAUSED is entered before its event");
	refused_between(r, false);
	do_step(r, "thaw");
	event = await(r, DEALBOX_EV_PAUSED, 3000, "R-5.1-1");
	check(r, "R-4.2-1", event->e.code == DEALBOX_PAUSED_BY_HOST, "PAUSED has the reason %u",
	      event->e.code);
	check(r, "R-5-8", r->observer.position == position && !r->observer.cards[position].read,
	      "a card that was not read when PAUSE was accepted is read before RESUME");
	expect_quiet(r, "R-5-8", 60, "in PAUSED");
	status(r);
	error = command(r, DEALBOX_OP_RESUME, 0, 0, 0, NULL);
	check(r, "R-5-3", !error && r->observer.state == DEALBOX_STATE_DEALING,
	      "RESUME is refused");
	await(r, DEALBOX_EV_RESUMED, 1500, "R-5.1-1");
	event = await_end(r, DEAL_MS);
	no_joker(r, event);
	check(r, "R-5-8", event && event->e.type == DEALBOX_EV_DEAL_DONE, "the deal ends with %s",
	      event ? event_name(event->e.type) : "nothing");
	status(r);
}

/* ABORT overrides PAUSE: ABORTED comes, PAUSED does not. */
static void abort_pause(struct run *r)
{
	const struct event *event;
	uint8_t error;

	reach(r, DEALBOX_STATE_DEALING);
	command(r, DEALBOX_OP_PAUSE, 0, 0, 0, NULL);
	error = command(r, DEALBOX_OP_ABORT, 0, 0, 0, NULL);
	check(r, "R-5-6", !error, "ABORT behind PAUSE is refused with error %u", error);
	refused_between(r, true);
	do_step(r, "thaw");
	while ((event = next_event(r, 3000)) && event->e.type != DEALBOX_EV_ABORTED)
		check(r, "R-5-6", event->e.type != DEALBOX_EV_PAUSED, "PAUSED comes behind ABORT");
	check(r, "R-5-6", event, "ABORTED does not come");
	expect_quiet(r, "R-5-11", 60, "behind ABORTED");
	status(r);
	settle(r);
}

/* Hold the machine between a reading and the gate. */
static void hold_read(struct run *r, uint8_t position)
{
	char rule[80];

	snprintf(rule, sizeof(rule), "on event CARD_READ position %u: freeze", position);
	begin(r, rule);
	while (!r->observer.cards[position].read)
		if (!next_event(r, 5000))
			not_run(r, "the card was not read");
	do_step(r, "wait frozen");
}

/* ABORT: a card that was read stays at the reader, and is the first of the next deal. */
static void abort_read(struct run *r)
{
	const struct event *event;
	struct wire_plan plan;
	uint8_t card;

	if (ROUTED(r))
		r->route = false;
	hold_read(r, 3);
	card = r->observer.cards[3].card;
	command(r, DEALBOX_OP_ABORT, 0, 0, 0, NULL);
	do_step(r, "thaw");
	event = await(r, DEALBOX_EV_ABORTED, 3000, "R-5.1-1");
	check(r, "R-5-9", !r->observer.cards[3].routed,
	      "a card that was read passes the gate behind ABORT");
	check(r, "R-4.2-1", event->e.position == 4, "ABORTED has %u cards, not 4",
	      event->e.position);
	check(r, "R-5-9", status(r).flags & DEALBOX_STATUS_CARD_AT_READER,
	      "the card is not at the reader");
	if (r->desc.reader == DEALBOX_READER_NONE)
		return;
	/* another board, and the card that nobody took out */
	if (HAS(r, BOARD_LOCK))
		command(r, DEALBOX_OP_RELEASE_BOARD, 0, 0, 0, NULL);
	do_step(r, "remove");
	do_step(r, "insert");
	status(r);
	plan = r->plan;
	load(r, &plan);
	r->route = true;
	check(r, "R-5-9", !start(r), "START is refused");
	event = await(r, DEALBOX_EV_CARD_READ, 6000, "R-5.1-1");
	check(r, "R-5-9", event->e.card == card,
	      "the card at the reader is not the first of the next deal");
	settle(r);
}

/* PAUSE and ABORT while the last card falls */
static void at_the_end(struct run *r)
{
	const struct event *event;
	char rule[80];
	uint8_t last;

	if (!HAS(r, EXIT_SENSORS))
		not_supported(r, "no card falls that is not done");
	for (int aborting = 0; aborting < 2; aborting++) {
		ready(r);
		last = (uint8_t)LAST(r);
		snprintf(rule, sizeof(rule), "on event CARD_ROUTED position %u: freeze", last);
		begin(r, rule);
		while (!r->observer.cards[last].routed)
			if (!next_event(r, 5000))
				not_run(r, "the last card was not let in");
		do_step(r, "wait frozen");
		command(r, aborting ? DEALBOX_OP_ABORT : DEALBOX_OP_PAUSE, 0, 0, 0, NULL);
		do_step(r, "thaw");
		event = await_maybe(r, aborting ? DEALBOX_EV_ABORTED : DEALBOX_EV_PAUSED, 3000);
		check(r, aborting ? "R-5-11" : "R-5-10", event && event->e.position == last + 1,
		      "behind %s at the end of a deal, %s", aborting ? "ABORT" : "PAUSE",
		      event ? "the position is wrong" : "its event does not come");
		if (aborting)
			continue;
		expect_quiet(r, "R-5-10", 60, "in PAUSED");
		command(r, DEALBOX_OP_RESUME, 0, 0, 0, NULL);
		await(r, DEALBOX_EV_DEAL_DONE, 3000, "R-5-10");
	}
	status(r);
	settle(r);
}

/* A stop comes instead of PAUSED, and a fault instead of ABORTED (R-5-12). */
static void replaced(struct run *r)
{
	const struct event *event;
	int aborting;

	if (!HAS(r, EXIT_SENSORS))
		not_supported(r, "no card can be stuck behind the gate");
	for (aborting = 0; aborting < 2; aborting++) {
		ready(r);
		begin(r, "on event CARD_ROUTED position 2: freeze\non land position 2: jam pocket");
		while (!r->observer.cards[2].routed)
			if (!next_event(r, 5000))
				not_run(r, "the card was not let in");
		do_step(r, "wait frozen");
		command(r, aborting ? DEALBOX_OP_ABORT : DEALBOX_OP_PAUSE, 0, 0, 0, NULL);
		do_step(r, "thaw");
		await(r, DEALBOX_EV_JAM, 3000, "R-5-12");
		while ((event = next_event(r, 60)))
			check(r, "R-5-12", event->e.type != DEALBOX_EV_PAUSED &&
			      event->e.type != DEALBOX_EV_ABORTED, "%s comes behind JAM",
			      event_name(event->e.type));
		clear(r, true, "empty");
	}
}

static void lock(struct run *r)
{
	ready(r);
	check(r, "R-5-14", !step(r, "remove"), "the board is not locked when it is put in");
	status(r);
	command(r, DEALBOX_OP_RELEASE_BOARD, 0, 0, 0, NULL);
	check(r, "R-5-14", !start(r), "START is refused");
	check(r, "R-5-14", !step(r, "remove"), "the board is not locked when a deal starts");
	await_end(r, DEAL_MS);
	check(r, "R-5-14", !step(r, "remove"),
	      "the board is free behind DEAL_DONE, without RELEASE_BOARD");
	check(r, "R-5-15", !command(r, DEALBOX_OP_RELEASE_BOARD, 0, 0, 0, NULL),
	      "RELEASE_BOARD is refused");
	check(r, "R-5-15", step(r, "remove"), "RELEASE_BOARD does not open the lock");
	do_step(r, "insert");
	status(r);
	check(r, "R-5-14", !step(r, "remove"),
	      "the next board is not locked, since RELEASE_BOARD for that before");
	status(r);
}

#define MADE	(NEED_FAULTS | NEED_BOARD)

const struct test_row stop_tests[] = {
	{ "stops", "feed-timeout", "R-4.3-1 R-5-3 R-5-13 R-5-16", "no card comes", MADE,
	  .run = feed_timeout },
	{ "stops", "deck-short", "R-4.3-1 R-4.3-7 R-5-16 R-6-12", "the hopper runs empty", MADE,
	  .run = deck_short },
	{ "stops", "unreadable", "R-4.3-1 R-4.3-4 R-6-9", "a card that cannot be read, by card",
	  MADE | NEED_READER, .run = unreadable },
	{ "stops", "unreadable-position", "R-4.2-1", "the same by position", MADE | NEED_READER,
	  DEALBOX_CAP_BY_POSITION, unreadable_position },
	{ "stops", "repeated", "R-2.1-7 R-2.3-1 R-4.3-1 R-4.3-2 R-4.3-3 R-4.3-4 R-5-13 R-6-5",
	  "a card that was already dealt",
	  MADE | NEED_READER, .run = repeated },
	{ "stops", "read-again", "R-4.3-10 R-5-7", "a card that was read before a pause", MADE,
	  .run = read_again },
	{ "stops", "not-in-plan", "R-2.1-7 R-4.3-1 R-4.3-4 R-4.3-10 R-5-13 R-5-16 R-5-17 R-6-5",
	  "a card without a pocket",
	  MADE | NEED_READER, DEALBOX_CAP_BY_CARD, not_in_plan },
	{ "stops", "jam", "R-2.1-7 R-2.3-1 R-4.3-1", "a card is stuck", MADE,
	  DEALBOX_CAP_EXIT_SENSORS, jams },
	{ "stops", "double-feed", "R-2.1-7 R-4.3-1 R-5-13", "two cards at once", MADE,
	  DEALBOX_CAP_DOUBLE_FEED_SENSOR, double_feed },
	{ "stops", "wrong-pocket", "R-2.1-7 R-4.3-1 R-4.3-9", "a card falls elsewhere", MADE,
	  DEALBOX_CAP_EXIT_SENSORS, wrong_pocket },
	{ "stops", "board-pulled", "R-4.2-5 R-4.3-1 R-5-2", "the board is pulled out", MADE,
	  .run = pulled },
	{ "stops", "removed", "R-2.1-6 R-5-2", "the board is taken out behind DEAL_DONE",
	  NEED_HANDS | NEED_BOARD, .run = removed_done },
	{ "stops", "cover", "R-4.3-1 R-4.3-9", "the cover is opened", NEED_HANDS | NEED_BOARD,
	  .run = cover },
	{ "stops", "face-up", "R-4.3-4", "a card that lies face up", MADE | NEED_READER,
	  DEALBOX_CAP_FACE_SENSOR, face_up },
	{ "stops", "hardware", "R-4.3-1 R-4.3-8 R-2.3-1", "HARDWARE", MADE, .run = hardware },
	{ "stops", "pause", "R-2.1-9 R-4-15 R-5-3 R-5-4 R-5-5 R-5-6 R-5-8", "PAUSE and RESUME",
	  MADE,
	  .run = pause_feed },
	{ "stops", "abort-pause", "R-5-6", "ABORT overrides PAUSE", MADE, .run = abort_pause },
	{ "stops", "abort-read", "R-4.2-1 R-5-9", "ABORT with a card at the reader", MADE,
	  DEALBOX_CAP_STORED_PLAN, abort_read },
	{ "stops", "at-the-end", "R-5-10 R-5-11", "PAUSE and ABORT while the last card falls", MADE,
	  .run = at_the_end },
	{ "stops", "replaced", "R-5-12", "a stop instead of PAUSED and ABORTED", MADE,
	  .run = replaced },
	{ "stops", "lock", "R-5-14 R-5-15", "the lock of the board", MADE, DEALBOX_CAP_BOARD_LOCK,
	  lock },
	{ 0 }
};
