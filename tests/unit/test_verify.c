// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The verdict. Every possible difference is made in an exact trace, one at a time; the result must
 * never be "exact".
 */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/event.h>
#include <dealbox/law.h>
#include <dealbox/verify.h>

#include "freed_memory.h"

#define PLAN_ID		0x1234
#define INSERTION	77
#define EVENTS_MAX	512

/* A small generator, the same on every machine. */
static uint64_t state_of_random;

static uint32_t any(uint32_t below)
{
	state_of_random = state_of_random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((state_of_random >> 33) % below);
}

static void shuffle(uint8_t *deck, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		deck[i] = (uint8_t)i;
	for (uint32_t i = count; i > 1; i--) {
		uint32_t j = any(i);
		uint8_t card = deck[i - 1];

		deck[i - 1] = deck[j];
		deck[j] = card;
	}
}

static void random_deal(struct dealbox_deal *deal)
{
	uint8_t deck[52];

	shuffle(deck, 52);
	memset(deal, 0, sizeof(*deal));
	for (int i = 0; i < 52; i++)
		deal->hand[i / 13] |= (dealbox_cards)1 << deck[i];
}

struct run {
	struct dealbox_plan plan;
	struct dealbox_event events[EVENTS_MAX];
	size_t count;
};

static struct dealbox_event *emit(struct run *run, uint32_t type, uint8_t position,
				  uint8_t card, uint8_t pocket)
{
	struct dealbox_event *event = &run->events[run->count++];

	*event = (struct dealbox_event) {
		.type = type, .insertion = INSERTION, .position = position, .card = card,
		.pocket = pocket, .quality = 90,
	};
	return event;
}

/* Number the events as the driver does. Mutations may call it again. */
static void number(struct run *run)
{
	uint32_t machine_seq = 0xfffffff0;	/* wraps */

	for (size_t i = 0; i < run->count; i++) {
		run->events[i].seqno = 1000 + i;
		/* the driver's own events have none */
		if (!DEALBOX_EV_IS_DRIVER(run->events[i].type))
			run->events[i].machine_seq = machine_seq++;
	}
}

/* Make the trace of a machine that has a reader, with or without exit sensors. */
static void exact_run(struct run *run, bool sensors)
{
	struct dealbox_event *done;
	struct dealbox_deal deal;
	uint8_t deck[52], order[4];

	memset(run, 0, sizeof(*run));
	random_deal(&deal);
	shuffle(order, 4);
	assert_int_equal(dealbox_plan_by_card(&run->plan, PLAN_ID, &deal,
					      dealbox_pack_bridge(), order), 0);
	shuffle(deck, 52);
	emit(run, DEALBOX_EV_BOARD_INSERTED, DEALBOX_NONE, DEALBOX_NONE, DEALBOX_NONE);
	emit(run, DEALBOX_EV_DEAL_STARTED, DEALBOX_NONE, DEALBOX_NONE, DEALBOX_NONE);
	run->events[1].code = PLAN_ID;
	run->events[1].arg[0] = 52;
	for (uint8_t i = 0; i < 52; i++) {
		uint8_t card = deck[i], pocket = run->plan.pocket[card];

		emit(run, DEALBOX_EV_CARD_READ, i, card, DEALBOX_NONE);
		if (i && sensors && i % 3 == 0)	/* the one before is still falling */
			emit(run, DEALBOX_EV_CARD_LANDED, (uint8_t)(i - 1), deck[i - 1],
			     run->plan.pocket[deck[i - 1]]);
		emit(run, DEALBOX_EV_CARD_ROUTED, i, card, pocket);
		if (sensors && (i + 1) % 3)
			emit(run, DEALBOX_EV_CARD_LANDED, i, card, pocket);
	}
	done = emit(run, DEALBOX_EV_DEAL_DONE, 52, DEALBOX_NONE, DEALBOX_NONE);
	done->code = PLAN_ID;
	for (int i = 0; i < 4; i++)
		done->counts[i] = 13;
	number(run);
}

/* deck NULL: as dealbox_verify() */
static struct dealbox_verdict *judge_deck(const struct run *run, const uint8_t *deck)
{
	struct dealbox_trace *trace = dealbox_trace_new(INSERTION);
	struct dealbox_verdict *verdict;

	assert_non_null(trace);
	for (size_t i = 0; i < run->count; i++)
		assert_true(dealbox_trace_add(trace, &run->events[i]) >= 0);
	assert_int_equal(deck ? dealbox_verify_deck(&run->plan, deck, trace, &verdict) :
			 dealbox_verify(&run->plan, trace, &verdict), 0);
	dealbox_trace_free(trace);
	return verdict;
}

static struct dealbox_verdict *judge(const struct run *run)
{
	return judge_deck(run, NULL);
}

static bool is_exact(const struct run *run)
{
	struct dealbox_verdict *verdict = judge(run);
	bool exact = dealbox_verdict_exact(verdict);

	/* a board that is not exact has at least one difference */
	assert_int_equal(exact, dealbox_verdict_count(verdict) == 0);
	dealbox_verdict_free(verdict);
	return exact;
}

static const struct dealbox_difference *find(const struct dealbox_verdict *verdict,
					     unsigned int kind)
{
	const struct dealbox_difference *difference;

	for (size_t i = 0; (difference = dealbox_verdict_get(verdict, i)); i++)
		if (difference->kind == kind)
			return difference;
	fail_msg("no difference %s", dealbox_difference_name(kind));
	return NULL;
}

static bool differs(const struct run *run, unsigned int kind)
{
	struct dealbox_verdict *verdict = judge(run);

	find(verdict, kind);
	assert_false(dealbox_verdict_exact(verdict));
	dealbox_verdict_free(verdict);
	return true;
}

/* The nth event of a type. */
static size_t nth(const struct run *run, uint32_t type, unsigned int n)
{
	for (size_t i = 0; i < run->count; i++)
		if (run->events[i].type == type && !n--)
			return i;
	fail_msg("no such event");
	return 0;
}

static void erase(struct run *run, size_t index)
{
	memmove(&run->events[index], &run->events[index + 1],
		(run->count - index - 1) * sizeof(*run->events));
	run->count--;
}

static void insert(struct run *run, size_t index, struct dealbox_event event)
{
	memmove(&run->events[index + 1], &run->events[index],
		(run->count - index) * sizeof(*run->events));
	run->events[index] = event;
	run->count++;
}

/* The trace of an original, whose first pocket is read by a machine without exit sensors. */
static void capture_run(struct run *run)
{
	struct dealbox_event *done;

	memset(run, 0, sizeof(*run));
	assert_int_equal(dealbox_plan_capture(&run->plan, PLAN_ID, 0), 0);
	emit(run, DEALBOX_EV_DEAL_STARTED, DEALBOX_NONE, DEALBOX_NONE, DEALBOX_NONE)->code =
		PLAN_ID;
	for (uint8_t i = 0; i < 13; i++) {
		emit(run, DEALBOX_EV_CARD_READ, i, i, DEALBOX_NONE);
		emit(run, DEALBOX_EV_CARD_ROUTED, i, i, 0);
	}
	done = emit(run, DEALBOX_EV_DEAL_DONE, 13, DEALBOX_NONE, DEALBOX_NONE);
	done->code = PLAN_ID;
	done->counts[0] = 13;
	number(run);
}

static void exact_traces_are_exact(void **state)
{
	struct dealbox_verdict *verdict;
	struct run run;
	char text[80];

	(void)state;
	for (int i = 0; i < 50; i++) {
		exact_run(&run, i & 1);
		verdict = judge(&run);
		assert_true(dealbox_verdict_exact(verdict));
		assert_true(dealbox_verdict_identified(verdict));
		assert_int_equal(dealbox_verdict_basis(verdict),
				 i & 1 ? DEALBOX_BASIS_SENSORS : DEALBOX_BASIS_GATES);
		dealbox_verdict_message(verdict, text, sizeof(text));
		assert_string_equal(text, i & 1 ? "exact duplicate (by exit sensors)" :
				    "exact duplicate (by gates)");
		dealbox_verdict_free(verdict);
	}
	/* a person has dealt one of the cards */
	for (int i = 0; i < 2; i++) {
		exact_run(&run, i);
		run.events[50].flags |= DEALBOX_EVF_BY_HAND;
		verdict = judge(&run);
		assert_true(dealbox_verdict_exact(verdict));
		assert_int_equal(dealbox_verdict_basis(verdict), DEALBOX_BASIS_HAND);
		dealbox_verdict_message(verdict, text, sizeof(text));
		assert_string_equal(text, "exact duplicate (by hand)");
		dealbox_verdict_free(verdict);
	}
}

static struct dealbox_verdict *judge_machine(const struct run *run, uint32_t capabilities)
{
	struct dealbox_trace *trace = dealbox_trace_new(INSERTION);
	struct dealbox_verdict *verdict;

	assert_non_null(trace);
	for (size_t i = 0; i < run->count; i++)
		assert_true(dealbox_trace_add(trace, &run->events[i]) >= 0);
	assert_int_equal(dealbox_verify_machine(&run->plan, NULL, capabilities, trace, &verdict),
			 0);
	dealbox_trace_free(trace);
	return verdict;
}

/* Gates are evidence only for a machine that has no exit sensors. */
static void exit_sensors_that_see_nothing_are_doubt(void **state)
{
	static const struct {
		uint32_t capabilities;
		bool sensors, exact;
	} rows[] = {
		{ DEALBOX_CAP_BY_CARD, false, true }, { DEALBOX_CAP_BY_CARD, true, true },
		{ DEALBOX_CAP_EXIT_SENSORS, true, true },
		{ DEALBOX_CAP_EXIT_SENSORS, false, false },
	};
	struct dealbox_verdict *verdict;
	struct run run;
	char text[80];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		exact_run(&run, rows[i].sensors);
		verdict = judge_machine(&run, rows[i].capabilities);
		assert_int_equal(dealbox_verdict_exact(verdict), rows[i].exact);
		assert_int_equal(dealbox_verdict_count(verdict), !rows[i].exact);
		dealbox_verdict_message(verdict, text, sizeof(text));
		if (!rows[i].exact) {
			assert_int_equal(dealbox_verdict_get(verdict, 0)->kind,
					 DEALBOX_DIFFERENCE_UNSEEN);
			assert_string_equal(text,
					    "not an exact duplicate: the exit sensors saw no card");
		}
		dealbox_verdict_free(verdict);
	}

	/* the message is about all differences */
	run.events[1].arg[0]++;
	verdict = judge_machine(&run, DEALBOX_CAP_EXIT_SENSORS);
	dealbox_verdict_message(verdict, text, sizeof(text));
	assert_string_equal(text, "not an exact duplicate: 2 differences");
	dealbox_verdict_free(verdict);

	/* a deal without a card is not one that the sensors missed, and a capture needs none */
	run.count = 2;
	run.events[1].arg[0]--;
	verdict = judge_machine(&run, DEALBOX_CAP_EXIT_SENSORS);
	for (size_t i = 0; i < dealbox_verdict_count(verdict); i++)
		assert_int_not_equal(dealbox_verdict_get(verdict, i)->kind,
				     DEALBOX_DIFFERENCE_UNSEEN);
	dealbox_verdict_free(verdict);
	capture_run(&run);
	verdict = judge_machine(&run, DEALBOX_CAP_EXIT_SENSORS | DEALBOX_CAP_CAPTURE);
	assert_true(dealbox_verdict_exact(verdict));
	dealbox_verdict_free(verdict);
}

/* -- mutations: each changes one thing; false = not possible in this place --- */

static bool lose_event(struct run *run, size_t i)
{
	if (run->events[i].type == DEALBOX_EV_BOARD_INSERTED)
		return false;
	erase(run, i);
	return i < run->count;	/* the loss of the last event cannot be detected, but .. */
}

static bool drop_event_unseen(struct run *run, size_t i)
{
	if (run->events[i].type == DEALBOX_EV_BOARD_INSERTED)
		return false;
	erase(run, i);
	number(run);
	return true;
}

static bool double_event(struct run *run, size_t i)
{
	if (run->events[i].type == DEALBOX_EV_BOARD_INSERTED)
		return false;
	insert(run, i, run->events[i]);
	number(run);
	return true;
}

static bool other_card(struct run *run, size_t i)
{
	if (run->events[i].card == DEALBOX_NONE)
		return false;
	run->events[i].card = (uint8_t)((run->events[i].card + 1 + any(51)) % 52);
	return true;
}

static bool no_card(struct run *run, size_t i)
{
	if (run->events[i].card == DEALBOX_NONE)
		return false;
	run->events[i].card = DEALBOX_NONE;
	return true;
}

static bool foreign_card(struct run *run, size_t i)
{
	if (run->events[i].card == DEALBOX_NONE)
		return false;
	run->events[i].card = (uint8_t)(52 + any(200));
	return true;
}

static bool other_pocket(struct run *run, size_t i)
{
	if (run->events[i].pocket == DEALBOX_NONE)
		return false;
	run->events[i].pocket = (uint8_t)((run->events[i].pocket + 1 + any(7)) % 8);
	return true;
}

static bool other_position(struct run *run, size_t i)
{
	if (run->events[i].position == DEALBOX_NONE)
		return false;
	run->events[i].position = (uint8_t)(run->events[i].position + 1 + any(255));
	return true;
}

static bool other_insertion(struct run *run, size_t i)
{
	if (run->events[i].type == DEALBOX_EV_BOARD_INSERTED)
		return false;
	run->events[i].insertion += 1 + any(5);
	return true;
}

static bool other_type(struct run *run, size_t i)
{
	static const uint32_t types[] = {
		DEALBOX_EV_DEAL_STARTED, DEALBOX_EV_CARD_READ, DEALBOX_EV_CARD_ROUTED,
		DEALBOX_EV_CARD_LANDED, DEALBOX_EV_DEAL_DONE, DEALBOX_EV_ABORTED,
		DEALBOX_EV_STATE_LOST, DEALBOX_EV_HOPPER_EMPTY, DEALBOX_EV_PROTOCOL_ERROR,
	};
	uint32_t type = types[any(sizeof(types) / sizeof(*types))];

	if (run->events[i].type == DEALBOX_EV_BOARD_INSERTED ||
	    run->events[i].type == type)
		return false;
	run->events[i].type = type;
	return true;
}

static bool add_fault(struct run *run, size_t i)
{
	struct dealbox_event fault = {
		.type = DEALBOX_EV_REPEATED_CARD + any(24), .insertion = INSERTION,
		.position = (uint8_t)any(52), .card = (uint8_t)any(52),
		.pocket = DEALBOX_NONE,
	};

	insert(run, i, fault);
	number(run);
	return true;
}

static bool face_up(struct run *run, size_t i)
{
	if (run->events[i].type != DEALBOX_EV_CARD_READ)
		return false;
	run->events[i].flags |= DEALBOX_EVF_FACE_UP;
	return true;
}

static bool gap_flag(struct run *run, size_t i)
{
	if (run->events[i].type == DEALBOX_EV_BOARD_INSERTED)
		return false;
	run->events[i].flags |= any(2) ? DEALBOX_EVF_GAP : DEALBOX_EVF_MACHINE_GAP;
	return true;
}

static bool number_jumps(struct run *run, size_t i)
{
	if (!i)
		return false;
	for (size_t j = i; j < run->count; j++)
		run->events[j].machine_seq += 1;
	return true;
}

static bool other_count(struct run *run, size_t i)
{
	if (run->events[i].type != DEALBOX_EV_DEAL_DONE)
		return false;
	run->events[i].counts[any(8)] += (uint8_t)(1 + any(255));
	return true;
}

static bool other_plan(struct run *run, size_t i)
{
	if (run->events[i].type != DEALBOX_EV_DEAL_STARTED &&
	    run->events[i].type != DEALBOX_EV_DEAL_DONE)
		return false;
	run->events[i].code ^= 1u << any(32);
	return true;
}

static bool other_number_to_feed(struct run *run, size_t i)
{
	if (run->events[i].type != DEALBOX_EV_DEAL_STARTED)
		return false;
	run->events[i].arg[0] += 1 + any(100);
	return true;
}

static bool state_lost_within(struct run *run, size_t i)
{
	struct dealbox_event lost = { .type = DEALBOX_EV_STATE_LOST, .code = 2 };

	if (i < 2)
		return false;
	insert(run, i, lost);
	number(run);
	return true;
}

static bool removed_within(struct run *run, size_t i)
{
	if (i < 2)
		return false;
	insert(run, i, (struct dealbox_event) {
		.type = DEALBOX_EV_BOARD_REMOVED, .insertion = INSERTION });
	number(run);
	return true;
}

/* The hopper runs empty and is refilled: the missing card may lie in the board. */
static bool short_and_filled_up(struct run *run, size_t i)
{
	if (i < 2)
		return false;
	insert(run, i, (struct dealbox_event) {
		.type = DEALBOX_EV_DECK_SHORT, .insertion = INSERTION, .position = (uint8_t)any(52),
		.card = DEALBOX_NONE, .pocket = DEALBOX_NONE, .quality = DEALBOX_NONE });
	number(run);
	return true;
}

static void hopper(struct run *run, size_t i, uint32_t type)
{
	insert(run, i, (struct dealbox_event) {
		.type = type, .insertion = INSERTION, .position = DEALBOX_NONE,
		.card = DEALBOX_NONE, .pocket = DEALBOX_NONE, .quality = DEALBOX_NONE });
	number(run);
}

/* The same, refilled before the machine has stopped. */
static bool filled_up_in_time(struct run *run, size_t i)
{
	if (i < 2 || run->events[i].type != DEALBOX_EV_CARD_READ)
		return false;
	hopper(run, i, DEALBOX_EV_HOPPER_EMPTY);
	hopper(run, i + 1, DEALBOX_EV_HOPPER_LOADED);
	return true;
}

/* The last card was a joker, and another card replaces it. */
static bool laid_for_a_joker(struct run *run, size_t i)
{
	struct dealbox_event joker = run->events[i];

	if (joker.type != DEALBOX_EV_CARD_READ)
		return false;
	joker.type = DEALBOX_EV_NOT_IN_PLAN;
	joker.card = DEALBOX_CARD_JOKER1;
	insert(run, i, joker);
	hopper(run, i + any(2), DEALBOX_EV_HOPPER_EMPTY);
	return true;
}

static bool read_badly(struct run *run, size_t i)
{
	if (run->events[i].type != DEALBOX_EV_CARD_READ)
		return false;
	run->events[i].quality = (uint8_t)(1 + any(DEALBOX_QUALITY_MIN - 1));
	return true;
}

static bool held_behind_the_end(struct run *run, size_t i)
{
	if (i + 1 != run->count)
		return false;
	insert(run, run->count,
	       (struct dealbox_event){ .type = DEALBOX_EV_CARD_UNREADABLE + any(8),
				       .insertion = INSERTION,
				       .position = 51 });
	number(run);
	return true;
}

static bool broken_behind_the_end(struct run *run, size_t i)
{
	if (i + 1 != run->count)
		return false;
	insert(run, run->count, (struct dealbox_event) { .type = DEALBOX_EV_PROTOCOL_ERROR });
	number(run);
	return true;
}

static bool steps_of_a_card_swapped(struct run *run, size_t i)
{
	struct dealbox_event event = run->events[i];

	if (i + 1 >= run->count || event.position != run->events[i + 1].position ||
	    event.type >= DEALBOX_EV_DEAL_DONE ||
	    run->events[i + 1].type >= DEALBOX_EV_DEAL_DONE)
		return false;
	run->events[i] = run->events[i + 1];
	run->events[i + 1] = event;
	number(run);
	return true;
}

static void one_change_is_never_exact(void **state)
{
	static const struct {
		const char *name;
		bool (*change)(struct run *run, size_t index);
	} changes[] = {
#define CHANGE(name) { #name, name }
		CHANGE(lose_event), CHANGE(drop_event_unseen), CHANGE(double_event),
		CHANGE(other_card), CHANGE(no_card), CHANGE(foreign_card),
		CHANGE(other_pocket), CHANGE(other_position), CHANGE(other_insertion),
		CHANGE(other_type), CHANGE(add_fault), CHANGE(face_up), CHANGE(gap_flag),
		CHANGE(number_jumps), CHANGE(other_count), CHANGE(other_plan),
		CHANGE(other_number_to_feed), CHANGE(state_lost_within),
		CHANGE(removed_within), CHANGE(steps_of_a_card_swapped),
		CHANGE(short_and_filled_up), CHANGE(filled_up_in_time), CHANGE(laid_for_a_joker),
		CHANGE(read_badly), CHANGE(held_behind_the_end),
		CHANGE(broken_behind_the_end),
	};
	static struct run exact, run;

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		state_of_random = seed;
		exact_run(&exact, seed & 1);
		assert_true(is_exact(&exact));
		for (size_t c = 0; c < sizeof(changes) / sizeof(*changes); c++) {
			unsigned int made = 0;

			for (size_t i = 0; i < exact.count; i++) {
				run = exact;
				if (!changes[c].change(&run, i))
					continue;
				made++;
				if (is_exact(&run))
					fail_msg("seed %u: %s at event %zu is exact",
						 (unsigned int)seed, changes[c].name, i);
			}
			assert_true(made);
		}
	}
}

/* The last card has left, and the next deck is put in while it falls. */
static void hopper_filled_behind_the_last_card(void **state)
{
	struct run run;

	(void)state;
	for (unsigned int before = 0; before < 2; before++) {
		exact_run(&run, true);
		hopper(&run, nth(&run, DEALBOX_EV_CARD_READ, 51) + !before,
		       DEALBOX_EV_HOPPER_EMPTY);
		hopper(&run, nth(&run, DEALBOX_EV_CARD_READ, 51) + 2, DEALBOX_EV_HOPPER_LOADED);
		assert_true(is_exact(&run));
	}
}

/* The quality from which on a reading counts; and readings without a quality. */
static void readings_that_count(void **state)
{
	static const uint8_t good[] = { 0, DEALBOX_QUALITY_MIN, 100, DEALBOX_NONE };
	static const uint8_t bad[] = { 1, DEALBOX_QUALITY_MIN - 1 };
	struct run run;
	size_t first;

	(void)state;
	exact_run(&run, true);
	first = nth(&run, DEALBOX_EV_CARD_READ, 0);
	for (size_t n = 0; n < sizeof(good); n++) {
		run.events[first].quality = good[n];
		assert_true(is_exact(&run));
	}
	for (size_t n = 0; n < sizeof(bad); n++) {
		run.events[first].quality = bad[n];
		assert_true(differs(&run, DEALBOX_DIFFERENCE_CARD_UNREAD));
	}
}

static void the_plan_counts_not_the_trace(void **state)
{
	struct run run;

	(void)state;
	exact_run(&run, true);
	/* two cards have changed places in the plan */
	for (int other = 1; other < 52; other++)
		if (run.plan.pocket[other] != run.plan.pocket[0]) {
			uint8_t pocket = run.plan.pocket[0];

			run.plan.pocket[0] = run.plan.pocket[other];
			run.plan.pocket[other] = pocket;
			break;
		}
	assert_true(differs(&run, DEALBOX_DIFFERENCE_WRONG_POCKET));
}

/* -- each difference has its name and its fields ------------------------------ */

static void a_card_in_the_wrong_pocket(void **state)
{
	const struct dealbox_difference *difference;
	struct dealbox_verdict *verdict;
	char hidden[120], revealed[120];
	struct run run;
	size_t i;

	(void)state;
	exact_run(&run, true);
	i = nth(&run, DEALBOX_EV_CARD_LANDED, 10);
	run.events[i].pocket ^= 1;
	verdict = judge(&run);
	difference = find(verdict, DEALBOX_DIFFERENCE_WRONG_POCKET);
	assert_int_equal(difference->card, run.events[i].card);
	assert_int_equal(difference->pocket, run.events[i].pocket);
	assert_int_equal(difference->expected, run.events[i].pocket ^ 1);
	assert_string_equal(dealbox_difference_name(difference->kind), "wrong-pocket");

	dealbox_difference_message(difference, false, hidden, sizeof(hidden));
	dealbox_difference_message(difference, true, revealed, sizeof(revealed));
	assert_null(strstr(hidden, dealbox_card_name(difference->card)));
	assert_non_null(strstr(revealed, dealbox_card_name(difference->card)));
	assert_string_equal(hidden, "a card lies in the wrong pocket");
	dealbox_verdict_free(verdict);
}

static void hidden_messages_never_name_a_card(void **state)
{
	struct dealbox_difference difference = {
		.position = 4, .pocket = 2, .expected = 1, .other = 3,
		.code = DEALBOX_EV_REPEATED_CARD, .count = 2, .count_expected = 13,
	};

	(void)state;
	for (unsigned int kind = 0; kind < DEALBOX_DIFFERENCES; kind++) {
		char first[200], text[200];

		difference.kind = (uint8_t)kind;
		for (unsigned int card = 0; card < 54; card++) {
			difference.card = (uint8_t)card;
			assert_true(dealbox_difference_message(&difference, false, text,
							       sizeof(text)));
			assert_null(strchr(text, '{'));
			if (!card)
				strcpy(first, text);
			assert_string_equal(text, first);
		}
	}
}

/* All sentences of a verdict without reveal, one a line, as commands and programs print them. */
static void hidden_text(const struct run *run, char *text, size_t size)
{
	struct dealbox_verdict *verdict = judge(run);
	const struct dealbox_difference *difference;
	size_t used = 0;

	for (size_t i = 0; (difference = dealbox_verdict_get(verdict, i)); i++) {
		used += dealbox_difference_message(difference, false, text + used, size - used);
		assert_true(used + 2 < size);
		text[used++] = '\n';
	}
	text[used] = 0;
	dealbox_verdict_free(verdict);
}

enum mishap {
	TRUNCATED, STUCK, STUCK_FACE_UP, ALL_THE_SAME, READ_BADLY, ONE_LANDED, OTHER_GATE, MISHAPS
};

/*
 * Give a deal on a sorted deck: position n is card n, so a sentence about a position names a card.
 */
static void sorted_run(struct run *run, enum mishap mishap, unsigned int cut)
{
	uint8_t order[4] = { 0, 1, 2, 3 };
	struct dealbox_deal deal;

	memset(run, 0, sizeof(*run));
	random_deal(&deal);
	assert_int_equal(dealbox_plan_by_card(&run->plan, PLAN_ID, &deal,
					      dealbox_pack_bridge(), order), 0);
	emit(run, DEALBOX_EV_BOARD_INSERTED, DEALBOX_NONE, DEALBOX_NONE, DEALBOX_NONE);
	emit(run, DEALBOX_EV_DEAL_STARTED, DEALBOX_NONE, DEALBOX_NONE, DEALBOX_NONE);
	run->events[1].code = PLAN_ID;
	run->events[1].arg[0] = 52;
	for (uint8_t i = 0; i < 52; i++) {
		uint8_t card = mishap == ALL_THE_SAME ? 0 : i;
		uint8_t pocket = mishap == STUCK || mishap == STUCK_FACE_UP ?
				 0 : run->plan.pocket[i];
		struct dealbox_event *event =
			emit(run, DEALBOX_EV_CARD_READ, i, card, DEALBOX_NONE);

		event->flags = mishap == STUCK_FACE_UP && i % 3 ? DEALBOX_EVF_FACE_UP : 0;
		event->quality = mishap == READ_BADLY ? DEALBOX_QUALITY_MIN - 1 : 90;
		emit(run, DEALBOX_EV_CARD_ROUTED, i, card, pocket);
		if (mishap == OTHER_GATE)
			pocket = (pocket + 1) % 4;
		if (mishap != ONE_LANDED || !i)
			emit(run, DEALBOX_EV_CARD_LANDED, i, card, pocket);
	}
	if (run->count > cut)
		run->count = cut;
	number(run);
}

static void hidden_sentences_are_the_same_for_every_deal(void **state)
{
	static char text[2][16384];
	struct run run;

	(void)state;
	for (unsigned int mishap = 0; mishap < MISHAPS; mishap++) {
		/* by chance, some of the first cards belong where the gate is stuck */
		bool chance = mishap == STUCK || mishap == STUCK_FACE_UP || mishap == ALL_THE_SAME;

		for (unsigned int cut = chance ? 160 : 0; cut <= 160; cut++) {
			for (unsigned int n = 0; n < 2; n++) {
				sorted_run(&run, mishap, cut);
				hidden_text(&run, text[n], sizeof(text[n]));
			}
			assert_string_equal(text[0], text[1]);
		}
	}
}

static void a_card_never_lands(void **state)
{
	struct run run;

	(void)state;
	exact_run(&run, true);
	erase(&run, nth(&run, DEALBOX_EV_CARD_LANDED, 30));
	number(&run);
	assert_true(differs(&run, DEALBOX_DIFFERENCE_NOT_LANDED));
}

static void the_same_card_twice(void **state)
{
	const struct dealbox_difference *difference;
	struct dealbox_verdict *verdict;
	struct run run;
	uint8_t first, lost;

	(void)state;
	exact_run(&run, false);
	/* the card at position 20 was read as the one at position 5, all along */
	first = run.events[nth(&run, DEALBOX_EV_CARD_READ, 5)].card;
	lost = run.events[nth(&run, DEALBOX_EV_CARD_READ, 20)].card;
	for (size_t i = 0; i < run.count; i++)
		if (run.events[i].card == lost) {
			run.events[i].card = first;
			if (run.events[i].pocket != DEALBOX_NONE)
				run.events[i].pocket = run.plan.pocket[first];
		}
	verdict = judge(&run);
	difference = find(verdict, DEALBOX_DIFFERENCE_CARD_REPEATED);
	assert_int_equal(difference->card, first);
	assert_int_equal(difference->position, 20);
	assert_int_equal(difference->other, 5);
	difference = find(verdict, DEALBOX_DIFFERENCE_CARD_MISSING);
	assert_int_equal(difference->card, lost);
	assert_int_equal(difference->expected, run.plan.pocket[lost]);
	dealbox_verdict_free(verdict);
}

static void an_unreadable_card_is_read_again(void **state)
{
	struct dealbox_event stop;
	struct run run;
	size_t i;

	(void)state;
	/* stored plan: the stop carries the reading, CARD_READ comes when it is good */
	exact_run(&run, true);
	i = nth(&run, DEALBOX_EV_CARD_READ, 7);
	stop = run.events[i];
	stop.type = DEALBOX_EV_CARD_UNREADABLE;
	stop.card = DEALBOX_NONE;
	insert(&run, i, stop);
	number(&run);
	assert_true(is_exact(&run));

	/* host-routed: the gate command came late, and the card is read once more */
	exact_run(&run, true);
	i = nth(&run, DEALBOX_EV_CARD_READ, 7);
	stop = run.events[i];
	insert(&run, i + 1, stop);
	stop.type = DEALBOX_EV_GATE_LATE;
	insert(&run, i + 1, stop);
	number(&run);
	assert_true(is_exact(&run));

	/* a joker is taken out: the next card has the same position */
	exact_run(&run, false);
	i = nth(&run, DEALBOX_EV_CARD_READ, 7);
	stop = run.events[i];
	stop.card = DEALBOX_CARD_JOKER1;
	insert(&run, i, stop);
	stop.type = DEALBOX_EV_NOT_IN_PLAN;
	insert(&run, i + 1, stop);
	number(&run);
	assert_true(is_exact(&run));
}

static void pause_and_resume_do_no_harm(void **state)
{
	struct run run;

	(void)state;
	exact_run(&run, true);
	insert(&run, 50, (struct dealbox_event) { .type = DEALBOX_EV_PAUSED,
	       .insertion = INSERTION, .code = DEALBOX_PAUSED_BY_KEY });
	insert(&run, 51, (struct dealbox_event) { .type = DEALBOX_EV_RESUMED,
	       .insertion = INSERTION });
	insert(&run, 52, (struct dealbox_event) { .type = 0x1f, .insertion = INSERTION });
	number(&run);
	assert_true(is_exact(&run));
}

static void an_unfinished_deal(void **state)
{
	struct run run;

	(void)state;
	exact_run(&run, true);
	run.count /= 2;
	assert_true(differs(&run, DEALBOX_DIFFERENCE_NOT_DONE));
	assert_true(differs(&run, DEALBOX_DIFFERENCE_CARD_MISSING));
	run.count = 1;
	assert_true(differs(&run, DEALBOX_DIFFERENCE_NOT_STARTED));
	run.count = 0;
	assert_true(differs(&run, DEALBOX_DIFFERENCE_NOT_STARTED));
}

static void cards_for_another_insertion(void **state)
{
	struct dealbox_verdict *verdict;
	struct run run;

	(void)state;
	exact_run(&run, true);
	run.events[40].insertion = 78;
	verdict = judge(&run);
	assert_int_equal(find(verdict, DEALBOX_DIFFERENCE_WRONG_INSERTION)->count, 78);
	dealbox_verdict_free(verdict);
}

/* By position: cards need not be read; the pocket of each position counts. */
static void by_position_without_reader(void **state)
{
	struct dealbox_verdict *verdict;
	struct dealbox_deal deal;
	uint8_t deck[52];
	struct run run;
	char text[100];
	size_t i;

	(void)state;
	exact_run(&run, true);
	random_deal(&deal);
	shuffle(deck, 52);
	assert_int_equal(dealbox_plan_by_position(&run.plan, PLAN_ID, &deal,
			 dealbox_pack_bridge(), NULL, deck, 52), 0);
	for (i = 0; i < run.count; i++) {
		run.events[i].card = DEALBOX_NONE;
		if (run.events[i].pocket != DEALBOX_NONE)
			run.events[i].pocket = run.plan.pocket[run.events[i].position];
	}
	verdict = judge(&run);
	assert_true(dealbox_verdict_exact(verdict));
	assert_false(dealbox_verdict_identified(verdict));
	dealbox_verdict_message(verdict, text, sizeof(text));
	assert_string_equal(text, "exact duplicate (by exit sensors; cards not read, if "
			    "the deck was in order)");
	dealbox_verdict_free(verdict);

	i = nth(&run, DEALBOX_EV_CARD_LANDED, 51);
	run.events[i].pocket ^= 2;
	assert_true(differs(&run, DEALBOX_DIFFERENCE_WRONG_POCKET));
	run.events[i].pocket ^= 2;

	/* one card too few, and no other sign */
	for (i = run.count; i-- > 0;)
		if (run.events[i].position == 51)
			erase(&run, i);
	number(&run);
	assert_true(differs(&run, DEALBOX_DIFFERENCE_COUNT));
}

/* By position with a reader: the readings show whether the deck was in the expected order. */
static void by_position_with_reader(void **state)
{
	struct dealbox_verdict *verdict;
	struct dealbox_trace *trace;
	struct dealbox_deal deal;
	uint8_t deck[64], first;
	struct run run;
	size_t i;

	(void)state;
	exact_run(&run, true);
	random_deal(&deal);
	dealbox_pack_sorted(dealbox_pack_bridge(), deck);
	assert_int_equal(dealbox_plan_by_position(&run.plan, PLAN_ID, &deal,
			 dealbox_pack_bridge(), NULL, deck, 52), 0);
	for (i = 0; i < run.count; i++) {
		if (run.events[i].pocket != DEALBOX_NONE)
			run.events[i].pocket = run.plan.pocket[run.events[i].position];
		if (run.events[i].card != DEALBOX_NONE)
			run.events[i].card = deck[run.events[i].position];
	}
	verdict = judge_deck(&run, deck);
	assert_true(dealbox_verdict_exact(verdict));
	assert_true(dealbox_verdict_identified(verdict));
	dealbox_verdict_free(verdict);

	/* the first card lay below the next one that goes elsewhere */
	for (first = 1; run.plan.pocket[first] == run.plan.pocket[0]; first++)
		;
	for (i = 0; i < run.count; i++)
		if (run.events[i].card == deck[0] || run.events[i].card == deck[first])
			run.events[i].card = (uint8_t)(deck[0] + deck[first] - run.events[i].card);
	verdict = judge_deck(&run, deck);
	assert_int_equal(dealbox_verdict_count(verdict), 2);
	assert_int_equal(find(verdict, DEALBOX_DIFFERENCE_WRONG_POCKET)->card, deck[first]);
	dealbox_verdict_free(verdict);

	/* a card that is not of the pack */
	i = nth(&run, DEALBOX_EV_CARD_READ, 5);
	run.events[i].card = DEALBOX_CARD_JOKER1;
	verdict = judge_deck(&run, deck);
	find(verdict, DEALBOX_DIFFERENCE_CARD_FOREIGN);
	dealbox_verdict_free(verdict);
	/* a deck does not apply to other kinds of plan */
	run.plan.mode = DEALBOX_PLAN_BY_CARD;
	trace = dealbox_trace_new(INSERTION);
	assert_int_equal(dealbox_verify_deck(&run.plan, deck, trace, &verdict), -EINVAL);
	dealbox_trace_free(trace);
}

static void a_capture(void **state)
{
	struct run run;

	(void)state;
	exact_run(&run, true);
	assert_int_equal(dealbox_plan_capture(&run.plan, PLAN_ID, 2), 0);
	for (size_t i = 0; i < run.count; i++)
		if (run.events[i].pocket != DEALBOX_NONE)
			run.events[i].pocket = 2;
	run.events[1].arg[0] = 0;
	memset(run.events[run.count - 1].counts, 0, 8);
	run.events[run.count - 1].counts[2] = 52;
	assert_true(is_exact(&run));
	run.events[run.count - 1].counts[2] = 51;
	assert_true(differs(&run, DEALBOX_DIFFERENCE_COUNT));
}

/* -- verdicts in full: every difference of short deals, with its fields --------- */

#define NO	DEALBOX_NONE
#define EVENT(t, p, c, k, ...) { .type = DEALBOX_EV_##t, .position = p, .card = c, .pocket = k, \
	.quality = 0, __VA_ARGS__ }
#define IN	EVENT(BOARD_INSERTED, NO, NO, NO)
#define OUT	EVENT(BOARD_REMOVED, NO, NO, NO)
#define START	EVENT(DEAL_STARTED, NO, NO, NO, .code = PLAN_ID, .arg[0] = 3)
#define DONE	EVENT(DEAL_DONE, 3, NO, NO, .code = PLAN_ID, .counts = { 1, 2 })
#define EMPTY	EVENT(HOPPER_EMPTY, NO, NO, NO)
#define LOADED	EVENT(HOPPER_LOADED, NO, NO, NO)
#define STOP(type, position)		EVENT(type, position, NO, NO)
#define HELD(good)	{ .type = DEALBOX_EV_NOT_IN_PLAN, .position = 1, .card = 0, \
			  .quality = good }
#define READ(position, card)		EVENT(CARD_READ, position, card, NO)
#define ROUTE(position, card, pocket)	EVENT(CARD_ROUTED, position, card, pocket)
#define LAND(position, card, pocket)	EVENT(CARD_LANDED, position, card, pocket)
#define CARD(position, card, pocket)	READ(position, card), ROUTE(position, card, pocket), \
					LAND(position, card, pocket)
#define FIRST	CARD(0, 2, 1)
#define SECOND	CARD(1, 0, 0)
#define THIRD	CARD(2, 1, 1)
#define MISSING	"card-missing card 0 expected 0; card-missing card 1 expected 1; " \
		"card-missing card 2 expected 1"

/* Three cards into two pockets; a fourth is in the pack, and has no pocket. */
static struct dealbox_plan short_plan(void)
{
	return (struct dealbox_plan) {
		.plan_id = PLAN_ID, .mode = DEALBOX_PLAN_BY_CARD, .entries = 4,
		.pocket = { 0, 1, 1, DEALBOX_NONE },
	};
}

static void in_words(const struct dealbox_verdict *verdict, char *text, size_t size)
{
	const struct dealbox_difference *difference;
	FILE *file = fmemopen(text, size, "w");

	assert_non_null(file);
	text[0] = '\0';
	for (size_t i = 0; (difference = dealbox_verdict_get(verdict, i)); i++) {
		const struct { const char *name; uint8_t value; } fields[] = {
			{ "card", difference->card }, { "position", difference->position },
			{ "pocket", difference->pocket }, { "expected", difference->expected },
			{ "other", difference->other },
		};

		fprintf(file, "%s%s", i ? "; " : "", dealbox_difference_name(difference->kind));
		for (size_t n = 0; n < sizeof(fields) / sizeof(*fields); n++)
			if (fields[n].value != DEALBOX_NONE)
				fprintf(file, " %s %u", fields[n].name, fields[n].value);
		if (difference->code)
			fprintf(file, " code 0x%x", difference->code);
		if (difference->count || difference->count_expected)
			fprintf(file, " %u of %u", difference->count, difference->count_expected);
	}
	fclose(file);
}

static void judged(int line, const struct dealbox_plan *plan, const uint8_t *deck,
		   const struct dealbox_event *events, size_t count, const char *expected)
{
	struct dealbox_verdict *verdict;
	struct run run = { .plan = *plan, .count = count };
	char text[2000];

	memcpy(run.events, events, count * sizeof(*events));
	for (size_t i = 0; i < count; i++)
		if (!run.events[i].insertion)
			run.events[i].insertion = INSERTION;
	number(&run);
	verdict = judge_deck(&run, deck);
	in_words(verdict, text, sizeof(text));
	if (strcmp(text, expected))
		fail_msg("line %d: \"%s\", not \"%s\"", line, text, expected);
	assert_int_equal(dealbox_verdict_exact(verdict), !*expected);
	dealbox_verdict_free(verdict);
}

#define JUDGED_BY(plan, deck, expected, ...) do { \
	const struct dealbox_event events[] = { __VA_ARGS__ }; \
	\
	judged(__LINE__, plan, deck, events, sizeof(events) / sizeof(*events), expected); \
} while (0)
#define JUDGED(expected, ...)	JUDGED_BY(&plan, NULL, expected, __VA_ARGS__)

static void the_frame_of_a_deal(void **state)
{
	struct dealbox_plan plan = short_plan();

	(void)state;
	JUDGED("", IN, START, FIRST, SECOND, THIRD, DONE);
	JUDGED("", IN, IN, START, FIRST, SECOND, THIRD, DONE, OUT);
	JUDGED("not-started; " MISSING, IN);
	JUDGED("not-started; " MISSING, IN, OUT);
	JUDGED("not-started; " MISSING, IN, DONE);
	JUDGED("aborted; not-started; " MISSING, IN, EVENT(ABORTED, NO, NO, NO));
	JUDGED("not-done", IN, START, FIRST, SECOND, THIRD);
	JUDGED("not-done; card-missing card 0 expected 0; card-missing card 1 expected 1",
	       IN, START, FIRST);
	/* a second one is a difference, and its contents are ignored */
	JUDGED("again", IN, START, EVENT(DEAL_STARTED, NO, NO, NO, .code = 99, .arg[0] = 7),
	       FIRST, SECOND, THIRD, DONE);
	JUDGED("again", IN, START, FIRST, SECOND, THIRD, DONE,
	       EVENT(DEAL_DONE, 9, NO, NO, .code = 99, .counts = { 7, 7 }));
	JUDGED("wrong-plan", IN, EVENT(DEAL_STARTED, NO, NO, NO, .code = 99, .arg[0] = 3), FIRST,
	       SECOND, THIRD, DONE);
	JUDGED("wrong-plan", IN, START, FIRST, SECOND, THIRD,
	       EVENT(DEAL_DONE, 3, NO, NO, .code = 99, .counts = { 1, 2 }));
	JUDGED("aborted position 1", IN, START, FIRST, STOP(ABORTED, 1), SECOND, THIRD, DONE);
	JUDGED("aborted position 2", IN, START, FIRST, SECOND, THIRD, DONE, STOP(ABORTED, 2));
	JUDGED("order", IN, START, FIRST, IN, SECOND, THIRD, DONE);
	JUDGED("wrong-insertion position 3 78 of 0; not-done", IN, START, FIRST, SECOND, THIRD,
	       EVENT(DEAL_DONE, 3, NO, NO, .code = PLAN_ID, .counts = { 1, 2 }, .insertion = 78));
}

static void cards_dealt_when_none_can_be(void **state)
{
	struct dealbox_plan plan = short_plan();

	(void)state;
	/* before the start */
	JUDGED("order card 1 position 0", IN, READ(0, 1), START, FIRST, SECOND, THIRD, DONE);
	/* after the end */
	JUDGED("order card 1 position 2; order card 1 position 2 pocket 1; "
	       "order card 1 position 2 pocket 1; card-missing card 1 expected 1",
	       IN, START, FIRST, SECOND, DONE, THIRD);
	JUDGED("order card 1 position 2 pocket 1; order card 1 position 2 pocket 1; "
	       "not-routed card 1 position 2 expected 1; card-missing card 1 expected 1",
	       IN, START, FIRST, SECOND, READ(2, 1), DONE, ROUTE(2, 1, 1), LAND(2, 1, 1));
	JUDGED("order card 1 position 2 pocket 1; "
	       "not-landed card 1 position 2 pocket 1 expected 1",
	       IN, START, FIRST, SECOND, READ(2, 1), ROUTE(2, 1, 1), DONE, LAND(2, 1, 1));
	/* without a board */
	JUDGED("board-removed; order card 1 position 2; order card 1 position 2 pocket 1; "
	       "order card 1 position 2 pocket 1; card-missing card 1 expected 1",
	       IN, START, FIRST, SECOND, OUT, THIRD, DONE);
	JUDGED("order card 1 position 0; " MISSING, IN, OUT, IN, START, READ(0, 1), DONE, OUT);
}

static void the_way_of_a_card(void **state)
{
	struct dealbox_plan plan = short_plan();

	(void)state;
	/* an event out of order does not change the earlier ones */
	JUDGED("order card 0 position 0", IN, START, FIRST, READ(0, 0), SECOND, THIRD, DONE);
	JUDGED("order card 2 position 0 pocket 0", IN, START, READ(0, 2), ROUTE(0, 2, 1),
	       ROUTE(0, 2, 0), LAND(0, 2, 1), SECOND, THIRD, DONE);
	JUDGED("order card 2 position 0 pocket 0", IN, START, FIRST, LAND(0, 2, 0), SECOND, THIRD,
	       DONE);
	/* a card that is held is not let go */
	JUDGED("order card 2 position 0 pocket 1; order card 2 position 0 pocket 1; "
	       "not-routed card 2 position 0 expected 1; card-missing card 2 expected 1",
	       IN, START, READ(0, 2), STOP(GATE_LATE, 0), ROUTE(0, 2, 1), LAND(0, 2, 1), SECOND,
	       THIRD, DONE);
	JUDGED("", IN, START, READ(0, 2), STOP(GATE_LATE, 0), FIRST, SECOND, THIRD, DONE);
	/* nor is one that has passed the reader, once the next one is read */
	JUDGED("order card 2 position 0 pocket 1; order card 2 position 0 pocket 1; "
	       "not-routed card 2 position 0 expected 1; card-missing card 2 expected 1",
	       IN, START, READ(0, 2), READ(1, 0), ROUTE(0, 2, 1), LAND(0, 2, 1), ROUTE(1, 0, 0),
	       LAND(1, 0, 0), THIRD, DONE);
	JUDGED("card-changed card 1 position 0 pocket 1", IN, START, READ(0, 2), ROUTE(0, 1, 1),
	       LAND(0, 2, 1), SECOND, THIRD, DONE);
	JUDGED("card-changed card 1 position 0 pocket 1", IN, START, READ(0, 2), ROUTE(0, 2, 1),
	       LAND(0, 1, 1), SECOND, THIRD, DONE);
	/* the pocket in which it landed counts: against its gate, and against the plan */
	JUDGED("wrong-pocket card 0 position 1 pocket 1 expected 0; "
	       "wrong-pocket card 0 position 1 pocket 1 expected 0",
	       IN, START, FIRST, READ(1, 0), ROUTE(1, 0, 0), LAND(1, 0, 1), THIRD, DONE);
	JUDGED("wrong-pocket card 0 position 1 pocket 0 expected 1",
	       IN, START, FIRST, READ(1, 0), ROUTE(1, 0, 1), LAND(1, 0, 0), THIRD, DONE);
	JUDGED("wrong-pocket card 0 position 1 pocket 8 expected 0", IN, START, FIRST,
	       CARD(1, 0, 8), THIRD, DONE);
	JUDGED("not-landed card 0 position 1 pocket 0 expected 0",
	       IN, START, FIRST, READ(1, 0), ROUTE(1, 0, 0), THIRD, DONE);
	JUDGED("not-routed card 0 position 1 expected 0; card-missing card 0 expected 0",
	       IN, START, FIRST, READ(1, 0), THIRD, DONE);
	JUDGED("", IN, START, READ(0, 2), ROUTE(0, 2, 1), READ(1, 0), ROUTE(1, 0, 0), READ(2, 1),
	       ROUTE(2, 1, 1), DONE);
}

/* 255 is never a position, however many cards there were. */
static void more_cards_than_positions(void **state)
{
	struct run run = { .plan = short_plan() };
	struct dealbox_verdict *verdict;
	size_t orders = 0;

	(void)state;
	emit(&run, DEALBOX_EV_DEAL_STARTED, NO, NO, NO)->code = PLAN_ID;
	for (unsigned int i = 0; i <= NO; i++)
		emit(&run, DEALBOX_EV_CARD_READ, (uint8_t)i, 2, NO);
	number(&run);
	verdict = judge(&run);
	assert_int_equal(find(verdict, DEALBOX_DIFFERENCE_ORDER)->position, NO);
	for (size_t i = 0; i < dealbox_verdict_count(verdict); i++)
		orders += dealbox_verdict_get(verdict, i)->kind == DEALBOX_DIFFERENCE_ORDER;
	assert_int_equal(orders, 1);
	dealbox_verdict_free(verdict);
}

/* A newer driver may have more events. */
static void a_word_of_the_driver_that_is_new(void **state)
{
	struct dealbox_plan plan = short_plan();

	(void)state;
	JUDGED("", IN, START, FIRST, { .type = DEALBOX_EV_PROTOCOL_ERROR + 1, .position = NO,
				       .card = NO, .pocket = NO }, SECOND, THIRD, DONE);
}

/* Without a card nothing is proved, even without a difference. */
static void a_capture_without_a_card(void **state)
{
	const struct dealbox_event events[] = {
		IN, EVENT(DEAL_STARTED, NO, NO, NO, .code = PLAN_ID),
		EVENT(DEAL_DONE, 0, NO, NO, .code = PLAN_ID),
	};
	struct run run = { .count = sizeof(events) / sizeof(*events) };
	struct dealbox_verdict *verdict;
	char text[64];

	(void)state;
	assert_int_equal(dealbox_plan_capture(&run.plan, PLAN_ID, 2), 0);
	memcpy(run.events, events, sizeof(events));
	for (size_t i = 0; i < run.count; i++)
		run.events[i].insertion = INSERTION;
	number(&run);
	verdict = judge(&run);
	assert_int_equal(dealbox_verdict_count(verdict), 0);
	assert_int_equal(dealbox_verdict_basis(verdict), DEALBOX_BASIS_NONE);
	assert_false(dealbox_verdict_exact(verdict));
	dealbox_verdict_message(verdict, text, sizeof(text));
	assert_string_equal(text, "no card came, so nothing is proved");
	dealbox_verdict_free(verdict);
}

/* By position, a reading that is not a card is no proof. */
static void by_position_with_a_strange_reading(void **state)
{
	struct dealbox_plan plan = {
		.plan_id = PLAN_ID, .mode = DEALBOX_PLAN_BY_POSITION, .entries = 3,
		.pocket = { 1, 0, 1 },
	};

	(void)state;
	JUDGED("", IN, START, CARD(0, NO, 1), SECOND, THIRD, DONE);
	JUDGED("card-unread card 60 position 0 pocket 1 expected 1",
	       IN, START, CARD(0, 60, 1), SECOND, THIRD, DONE);
}

static void cards_that_are_not_the_right_ones(void **state)
{
	struct dealbox_plan plan = short_plan();

	(void)state;
	JUDGED("face-up card 0 position 1 pocket 0 expected 0", IN, START, FIRST,
	       EVENT(CARD_READ, 1, 0, NO, .flags = DEALBOX_EVF_FACE_UP), ROUTE(1, 0, 0),
	       LAND(1, 0, 0), THIRD, DONE);
	JUDGED("card-repeated card 2 position 1 pocket 1 expected 1 other 0; "
	       "card-missing card 0 expected 0", IN, START, FIRST, CARD(1, 2, 1), THIRD, DONE);
	/* not in the plan, beyond the plan, a joker, an invalid card, not read */
	JUDGED("card-foreign card 3 position 1 pocket 0; card-missing card 0 expected 0",
	       IN, START, FIRST, CARD(1, 3, 0), THIRD, DONE);
	JUDGED("card-foreign card 4 position 1 pocket 0; card-missing card 0 expected 0",
	       IN, START, FIRST, CARD(1, 4, 0), THIRD, DONE);
	JUDGED("card-foreign card 53 position 1 pocket 0; card-missing card 0 expected 0",
	       IN, START, FIRST, CARD(1, DEALBOX_CARD_JOKER2, 0), THIRD, DONE);
	JUDGED("card-unread card 54 position 1 pocket 0; card-missing card 0 expected 0",
	       IN, START, FIRST, CARD(1, 54, 0), THIRD, DONE);
	JUDGED("card-unread position 1 pocket 0; card-missing card 0 expected 0",
	       IN, START, FIRST, CARD(1, NO, 0), THIRD, DONE);
}

static void what_the_machine_counted(void **state)
{
	struct dealbox_plan plan = short_plan();

	(void)state;
	JUDGED("count 4 of 3", IN, EVENT(DEAL_STARTED, NO, NO, NO, .code = PLAN_ID,
	       .arg = { 4, 3 }), FIRST, SECOND, THIRD, DONE);
	JUDGED("count pocket 0 2 of 1; count pocket 1 1 of 2", IN, START, FIRST, SECOND, THIRD,
	       EVENT(DEAL_DONE, 3, NO, NO, .code = PLAN_ID, .counts = { 2, 1 }));
	JUDGED("count 4 of 3", IN, START, FIRST, SECOND, THIRD,
	       EVENT(DEAL_DONE, 4, NO, NO, .code = PLAN_ID, .counts = { 1, 2 }));
	JUDGED("count pocket 7 1 of 0", IN, START, FIRST, SECOND, THIRD,
	       EVENT(DEAL_DONE, 3, NO, NO, .code = PLAN_ID, .counts = { 1, 2, [7] = 1 }));
	/* the machine's counts are right, but a card was not read */
	plan = (struct dealbox_plan) { .plan_id = PLAN_ID, .mode = DEALBOX_PLAN_BY_POSITION,
		.entries = 3, .pocket = { 1, 0, 1 } };
	JUDGED("", IN, START, CARD(0, NO, 1), CARD(1, NO, 0), CARD(2, NO, 1), DONE);
	JUDGED("count pocket 1 1 of 2", IN, START, CARD(0, NO, 1), CARD(1, NO, 0), DONE);
	JUDGED("not-done", IN, START, CARD(0, NO, 1), CARD(1, NO, 0));
}

static void stops_and_faults(void **state)
{
	struct dealbox_plan plan = short_plan();

	(void)state;
	JUDGED("fault card 0 position 1 pocket 0 code 0x2a", IN, START, FIRST,
	       EVENT(JAM, 1, 0, 0, .arg = { 7, 5 }), SECOND, THIRD, DONE);
	/* the position where the card was before, if it is one */
	JUDGED("fault card 0 position 1 other 1 code 0x28", IN, START, FIRST,
	       EVENT(REPEATED_CARD, 1, 0, NO, .arg = { 1, 300 }), SECOND, THIRD, DONE);
	JUDGED("fault card 0 position 1 other 254 code 0x28", IN, START, FIRST,
	       EVENT(REPEATED_CARD, 1, 0, NO, .arg = { 254, 7 }), SECOND, THIRD, DONE);
	JUDGED("fault card 0 position 1 code 0x28", IN, START, FIRST,
	       EVENT(REPEATED_CARD, 1, 0, NO, .arg = { 256, 7 }), SECOND, THIRD, DONE);
	JUDGED("fault position 1 code 0x24", IN, START, FIRST, STOP(DECK_SHORT, 1), SECOND, THIRD,
	       DONE);
	/* a stop after the end belongs to this deal until the board is out */
	JUDGED("fault code 0x2a", IN, START, FIRST, SECOND, THIRD, DONE, STOP(JAM, NO), OUT);
	JUDGED("", IN, START, FIRST, SECOND, THIRD, DONE, OUT, STOP(JAM, NO));
	JUDGED("order position 2", IN, START, FIRST, SECOND, THIRD, DONE, STOP(GATE_LATE, 2), OUT);
	JUDGED("", IN, START, FIRST, SECOND, THIRD, DONE, OUT, STOP(GATE_LATE, 2));
	/* an invalid event may have been a stop */
	JUDGED("gap", IN, START, FIRST, EVENT(PROTOCOL_ERROR, NO, NO, NO), SECOND, THIRD, DONE);
	JUDGED("gap", IN, START, FIRST, SECOND, THIRD, DONE, EVENT(PROTOCOL_ERROR, NO, NO, NO));
	JUDGED("", IN, START, FIRST, SECOND, THIRD, DONE, OUT,
	       EVENT(PROTOCOL_ERROR, NO, NO, NO));
	/* types of newer versions: stops count, others do not */
	JUDGED("fault code 0x3f", IN, START, { .type = 0x3f, .position = NO, .card = NO,
	       .pocket = NO }, FIRST, SECOND, THIRD, DONE);
	JUDGED("", IN, START, { .type = 0x40 }, { .type = 0x41 }, { .type = 0x1f }, FIRST, SECOND,
	       THIRD, DONE);
}

static void cover_and_power(void **state)
{
	struct dealbox_plan plan = short_plan();

	(void)state;
	JUDGED("", IN, STOP(COVER_OPEN, NO), START, FIRST, SECOND, THIRD, DONE);
	JUDGED("fault code 0x6", IN, START, FIRST, STOP(COVER_OPEN, NO), SECOND, THIRD, DONE);
	JUDGED("", IN, START, FIRST, SECOND, THIRD, DONE, STOP(COVER_OPEN, NO));
	JUDGED("", IN, EVENT(STATE_LOST, NO, NO, NO, .code = 2), START, FIRST, SECOND, THIRD,
	       DONE);
	JUDGED("state-lost code 0x2", IN, START, FIRST, EVENT(STATE_LOST, NO, NO, NO, .code = 2),
	       SECOND, THIRD, DONE);
	JUDGED("", IN, START, FIRST, SECOND, THIRD, DONE,
	       EVENT(STATE_LOST, NO, NO, NO, .code = 2));
}

/* Refilling an empty hopper does not explain the missing cards. */
static void the_hopper(void **state)
{
	static const char doubt[] = "fault card 0 position 1 code 0x24";
	struct dealbox_plan plan = short_plan();

	(void)state;
	JUDGED("", EMPTY, LOADED, IN, EMPTY, LOADED, START, FIRST, SECOND, THIRD, DONE);
	JUDGED("", IN, START, FIRST, LOADED, SECOND, THIRD, DONE);
	JUDGED("", IN, START, FIRST, EMPTY, SECOND, THIRD, DONE);
	JUDGED("", IN, EMPTY, LOADED, START, FIRST, LOADED, SECOND, THIRD, DONE);
	JUDGED(doubt, IN, START, FIRST, EMPTY, LOADED, SECOND, THIRD, DONE);
	/* a card without a pocket was taken out, and was the last in the hopper */
	JUDGED("", IN, START, FIRST, STOP(NOT_IN_PLAN, 1), SECOND, THIRD, DONE);
	JUDGED(doubt, IN, START, FIRST, STOP(NOT_IN_PLAN, 1), EMPTY, SECOND, THIRD, DONE);
	JUDGED(doubt, IN, START, FIRST, STOP(NOT_IN_PLAN, 1), EMPTY, READ(1, 0),
	       STOP(GATE_LATE, 1), SECOND, THIRD, DONE);
	JUDGED("", IN, EMPTY, LOADED, START, FIRST, STOP(NOT_IN_PLAN, 1), SECOND, THIRD, DONE);
	/* it was only read badly, and is read again */
	JUDGED("", IN, START, FIRST, HELD(49), EMPTY, SECOND, THIRD, DONE);
	JUDGED(doubt, IN, START, FIRST, HELD(50), EMPTY, SECOND, THIRD, DONE);
	JUDGED(doubt, IN, START, FIRST, HELD(0), EMPTY, SECOND, THIRD, DONE);
	JUDGED("", IN, START, READ(0, 2), STOP(GATE_LATE, 0), EMPTY, FIRST, SECOND, THIRD, DONE);
	JUDGED("", IN, START, FIRST, STOP(GATE_LATE, 1), EMPTY, SECOND, THIRD, DONE);
	/* a capture has no fixed number of cards */
	assert_int_equal(dealbox_plan_capture(&plan, PLAN_ID, 1), 0);
	JUDGED("", IN, START, CARD(0, 2, 1), EMPTY, LOADED, CARD(1, 0, 1),
	       EVENT(DEAL_DONE, 2, NO, NO, .code = PLAN_ID, .counts = { 0, 2 }));
	JUDGED("count pocket 0 1 of 0; count pocket 1 1 of 2", IN, START, CARD(0, 2, 1),
	       CARD(1, 0, 1),
	       EVENT(DEAL_DONE, 2, NO, NO, .code = PLAN_ID, .counts = { 1, 1 }));
	JUDGED("wrong-pocket card 0 position 1 pocket 0 expected 1", IN, START, CARD(0, 2, 1),
	       CARD(1, 0, 0),
	       EVENT(DEAL_DONE, 2, NO, NO, .code = PLAN_ID, .counts = { 0, 2 }));
}

/* The deck has exactly as many bytes as the plan has cards, so a sanitizer sees a read beyond. */
static void a_deck_and_a_card_that_is_not_in_it(void **state)
{
	struct dealbox_plan plan = { .plan_id = PLAN_ID, .mode = DEALBOX_PLAN_BY_POSITION,
		.entries = 3, .pocket = { 1, 0, 1 } };
	uint8_t *deck = malloc(3);

	(void)state;
	assert_non_null(deck);
	memcpy(deck, (uint8_t[]) { 2, 0, 1 }, 3);
	JUDGED_BY(&plan, deck, "", IN, START, FIRST, SECOND, THIRD, DONE);
	JUDGED_BY(&plan, deck, "wrong-pocket card 1 position 1 pocket 0 expected 1; "
		  "wrong-pocket card 0 position 2 pocket 1 expected 0",
		  IN, START, FIRST, CARD(1, 1, 0), CARD(2, 0, 1), DONE);
	JUDGED_BY(&plan, deck, "card-foreign card 5 position 1 pocket 0", IN, START, FIRST,
		  CARD(1, 5, 0), THIRD, DONE);
	/* not read: the position counts */
	JUDGED_BY(&plan, deck, "", IN, START, CARD(0, NO, 1), SECOND, THIRD, DONE);
	free(deck);
}

static void a_verdict_on_a_single_card(void **state)
{
	const struct dealbox_event events[] = {
		IN, EVENT(DEAL_STARTED, NO, NO, NO, .code = PLAN_ID, .arg[0] = 1), CARD(0, 0, 0),
		EVENT(DEAL_DONE, 1, NO, NO, .code = PLAN_ID, .counts = { 1 }),
	};
	struct dealbox_verdict *verdict;
	struct run run = {
		.plan = { .plan_id = PLAN_ID, .mode = DEALBOX_PLAN_BY_CARD, .entries = 1 },
		.count = sizeof(events) / sizeof(*events),
	};

	(void)state;
	memcpy(run.events, events, sizeof(events));
	for (size_t i = 0; i < run.count; i++)
		run.events[i].insertion = INSERTION;
	number(&run);
	verdict = judge(&run);
	assert_true(dealbox_verdict_exact(verdict));
	assert_true(dealbox_verdict_identified(verdict));
	dealbox_verdict_free(verdict);

	run.count = 1;
	verdict = judge(&run);
	assert_false(dealbox_verdict_exact(verdict));
	assert_false(dealbox_verdict_identified(verdict));
	assert_int_equal(dealbox_verdict_basis(verdict), DEALBOX_BASIS_NONE);
	dealbox_verdict_free(verdict);
}

/* -- memory ----------------------------------------------------------------------- */

/* A deal with more differences than there is room for at first. */
static void many_differences(struct run *run)
{
	exact_run(run, true);
	for (size_t i = 0; i < run->count; i++)
		if (run->events[i].type == DEALBOX_EV_CARD_READ)
			run->events[i].flags = DEALBOX_EVF_FACE_UP;
}

static void no_memory_is_never_exact(void **state)
{
	struct dealbox_trace *trace = dealbox_trace_new(INSERTION);
	struct dealbox_verdict *verdict;
	struct run run;
	int err = -ENOMEM;

	(void)state;
	many_differences(&run);
	for (size_t i = 0; i < run.count; i++)
		assert_int_equal(dealbox_trace_add(trace, &run.events[i]), 1);
	for (unsigned int n = 1; err; n++) {
		long blocks = memory_seen.blocks;

		verdict = (struct dealbox_verdict *)&run;
		memory_seen.fails_at = n;
		err = dealbox_verify(&run.plan, trace, &verdict);
		/* the verdict itself, then room for 16, 32 and 64 differences */
		assert_int_equal(err, n <= 4 ? -ENOMEM : 0);
		memory_seen.fails_at = 0;
		if (err) {
			assert_null(verdict);
			assert_int_equal(memory_seen.blocks, blocks);
		}
	}
	assert_int_equal(dealbox_verdict_count(verdict), 52);
	for (size_t i = 0; i < 52; i++)
		assert_int_equal(dealbox_verdict_get(verdict, i)->position, i);
	assert_null(dealbox_verdict_get(verdict, 52));
	dealbox_verdict_free(verdict);
	dealbox_trace_free(trace);
}

static void nothing_of_the_cards_stays_in_memory(void **state)
{
	struct dealbox_trace *trace;
	struct dealbox_verdict *verdict;
	long blocks = memory_seen.blocks;
	struct run run;

	(void)state;
	many_differences(&run);
	memory_seen.unwiped = 0;
	assert_false(is_exact(&run));
	assert_int_equal(memory_seen.blocks, blocks);
	assert_int_equal(memory_seen.unwiped, 0);
	trace = dealbox_trace_new(INSERTION);
	/* and the state of 256 positions */
	for (size_t i = 0; i < run.count; i++)
		assert_int_equal(dealbox_trace_add(trace, &run.events[i]), 1);
	memory_seen.wiped = 0;
	assert_int_equal(dealbox_verify(&run.plan, trace, &verdict), 0);
	assert_true(memory_seen.wiped >= 256 * 3);
	dealbox_verdict_free(verdict);
	dealbox_trace_free(trace);
}

/* -- words ------------------------------------------------------------------------ */

/* What --reveal shows: in English the card's name in deal files, elsewhere what players write. */
static void a_card_is_named_as_its_players_name_it(void **state)
{
	static const struct {
		const char *language;
		uint8_t card;
		const char *name;
	} rows[] = {
		{ NULL, 3, "SJ" }, { "en", 2, "SQ" }, { "en", 4, "ST" }, { "de", 0, "SA" },
		{ "nb", 0, "♠E" }, { "nb", 1, "♠K" }, { "nb", 2, "♠D" }, { "nb", 3, "♠Kn" },
		{ "nb", 4, "♠10" }, { "nb", 12, "♠2" }, { "nb", 13, "♥E" }, { "nb", 29, "♦Kn" },
		{ "nb", 51, "♣2" }, { "el", 15, "♥Ν" }, { "el", 39, "♣Α" }, { "fr", 14, "♥R" },
		{ "fr", 3, "♠V" }, { "ru", 26, "♦Т" }, { "ru", 42, "♣В" }, { "ru", 43, "♣10" },
	};
	char text[200], begin[32];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct dealbox_difference difference = {
			.kind = DEALBOX_DIFFERENCE_FACE_UP, .card = rows[i].card, .position = 1,
			.pocket = 3,
		};

		snprintf(begin, sizeof(begin), "%s, ", rows[i].name);
		dealbox_difference_text(&difference, true, rows[i].language, text, sizeof(text));
		assert_memory_equal(text, begin, strlen(begin));
		/* and never without leave */
		dealbox_difference_text(&difference, false, rows[i].language, text, sizeof(text));
		assert_null(strstr(text, rows[i].name));
	}
	/* a joker has one name everywhere */
	const struct dealbox_difference joker = {
		.kind = DEALBOX_DIFFERENCE_FACE_UP, .card = 52, .pocket = 3,
	};

	dealbox_difference_text(&joker, true, "nb", text, sizeof(text));
	assert_memory_equal(text, dealbox_card_name(52), strlen(dealbox_card_name(52)));
}

static void every_difference_has_its_sentence(void **state)
{
	static const struct {
		struct dealbox_difference difference;
		const char *name, *sentence;
	} rows[] = {
#define FIELDS(k, c, p, number) { .kind = DEALBOX_DIFFERENCE_##k, .card = c, .position = 1, \
	.pocket = p, .expected = 0, .other = 4, .code = number, .count = 12, .count_expected = 13 }
#define KIND(k)		FIELDS(k, 2, 3, 0)
#define CODE(number)	FIELDS(FAULT, 2, 3, DEALBOX_EV_##number)
		{ KIND(CARD_MISSING), "card-missing", "SQ is missing; it belongs in pocket 0" },
		{ KIND(CARD_REPEATED), "card-repeated", "SQ was dealt twice, as the 2nd and as the "
		  "5th: one of the two was misread, or the deck has it twice" },
		{ KIND(CARD_FOREIGN), "card-foreign",
		  "SQ, the 2nd dealt, is not in the plan and lies in pocket 3" },
		{ FIELDS(CARD_UNREAD, 2, NO, 0), "card-unread",
		  "the 2nd card was not read, or not well enough, and lies in no pocket" },
		{ KIND(CARD_CHANGED), "card-changed",
		  "the 2nd card is not the same all along its way" },
		{ KIND(WRONG_POCKET), "wrong-pocket",
		  "SQ, the 2nd dealt, lies in pocket 3 and belongs in pocket 0" },
		{ KIND(NOT_LANDED), "not-landed",
		  "SQ, the 2nd dealt, was never seen to fall into pocket 3" },
		{ KIND(NOT_ROUTED), "not-routed", "SQ, the 2nd read, was not let into a pocket" },
		{ KIND(FACE_UP), "face-up", "SQ, the 2nd dealt, lies face up in pocket 3" },
		{ FIELDS(FACE_UP, NO, 3, 0), "face-up",
		  "a card, the 2nd dealt, lies face up in pocket 3" },
		/* without a pocket, only a count concerns the whole deal */
		{ FIELDS(FACE_UP, 2, NO, 0), "face-up",
		  "SQ, the 2nd dealt, lies face up in no pocket" },
		{ KIND(COUNT), "count", "pocket 3 has 12 cards, not 13" },
		{ FIELDS(COUNT, 2, NO, 0), "count", "the deal has 12 cards, not 13" },
		{ KIND(ORDER), "order",
		  "what the machine said of the 2nd card cannot be in that order" },
		{ KIND(GAP), "gap", "some of the machine's events are lost: there is no proof" },
		{ CODE(DECK_SHORT), "fault",
		  "the machine stopped: the hopper was empty and cards were missing; "
		  "one may have come unseen with another" },
		{ CODE(REPEATED_CARD), "fault",
		  "the machine stopped: the same card came twice" },
		{ CODE(DOUBLE_FEED), "fault",
		  "the machine stopped: two cards at once" },
		{ CODE(JAM), "fault",
		  "the machine stopped: a card is stuck" },
		{ CODE(WRONG_POCKET), "fault",
		  "the machine stopped: a card fell into the wrong pocket" },
		{ CODE(BOARD_PULLED), "fault",
		  "the machine stopped: the board was pulled out" },
		{ CODE(COVER_OPEN), "fault",
		  "the machine stopped: the cover was opened" },
		{ CODE(COVER_OPENED), "fault",
		  "the machine stopped: the cover was opened" },
		{ CODE(HARDWARE), "fault",
		  "the machine stopped: a fault of the machine" },
		{ KIND(ABORTED), "aborted", "the deal was aborted" },
		{ KIND(STATE_LOST), "state-lost",
		  "the machine was reset or lost its power during the deal" },
		{ KIND(BOARD_REMOVED), "board-removed",
		  "the board was taken out before the deal was done" },
		{ KIND(WRONG_INSERTION), "wrong-insertion",
		  "cards were dealt into another insertion, number 12" },
		{ KIND(WRONG_PLAN), "wrong-plan", "another plan was dealt" },
		{ KIND(NOT_STARTED), "not-started", "the deal never started" },
		{ KIND(NOT_DONE), "not-done", "the deal was not finished" },
		{ KIND(AGAIN), "again", "a deal started or ended twice in one insertion" },
		{ KIND(UNSEEN), "unseen", "the exit sensors saw no card" },
		{ { .kind = DEALBOX_DIFFERENCES }, "?", "" },
#undef CODE
#undef KIND
#undef FIELDS
	};
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(dealbox_difference_message(&rows[i].difference, true, text,
							    sizeof(text)),
				 strlen(rows[i].sentence));
		assert_string_equal(text, rows[i].sentence);
		assert_string_equal(dealbox_difference_name(rows[i].difference.kind),
				    rows[i].name);
	}
}

static void ordinal_numbers(void **state)
{
	static const struct { uint8_t position; const char *name; } rows[] = {
		{ 0, "1st" }, { 1, "2nd" }, { 2, "3rd" }, { 3, "4th" }, { 9, "10th" },
		{ 10, "11th" }, { 11, "12th" }, { 12, "13th" }, { 20, "21st" }, { 21, "22nd" },
		{ 22, "23rd" }, { 23, "24th" }, { 110, "111th" }, { 120, "121st" },
		{ 254, "255th" }, { DEALBOX_NONE, "last" },
	};
	char text[200], expected[200];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct dealbox_difference difference = {
			.kind = DEALBOX_DIFFERENCE_CARD_CHANGED, .position = rows[i].position,
		};

		dealbox_difference_message(&difference, false, text, sizeof(text));
		snprintf(expected, sizeof(expected),
			 "the %s card is not the same all along its way", rows[i].name);
		assert_string_equal(text, expected);
	}
}

/* .. with the same fields as in English, and as secret. */
static void every_language_has_its_sentences(void **state)
{
	struct dealbox_difference difference = {
		.card = 7, .position = 4, .pocket = 2, .expected = 1, .other = 3,
		.code = DEALBOX_EV_REPEATED_CARD, .count = 2, .count_expected = 13,
	};
	char english[512], text[512];
	const char *language, *card;
	size_t l, length;
	unsigned int n;

	(void)state;
	for (l = 0; (language = dealbox_law_language(l)); l++) {
		card = strcmp(language, "en") ? "♠7" : "S7";
		for (n = 0; n < 2 * DEALBOX_DIFFERENCES; n++) {
			difference.kind = (uint8_t)(n / 2);
			length = dealbox_difference_text(&difference, n & 1, language, text,
							 sizeof(text));
			dealbox_difference_message(&difference, n & 1, english, sizeof(english));
			assert_int_equal(length, strlen(text));
			assert_true(length && length < 256);
			assert_null(strpbrk(text, "{}%"));
			assert_int_equal(!strcmp(text, english), !strcmp(language, "en"));
			assert_int_equal(!strstr(text, card), !strstr(english, "S7"));
			assert_true(!(n & 1) || !strchr(english, '2') == !strchr(text, '2'));
			assert_true(n & 1 || !strstr(english, "pocket") || strchr(text, ' '));
		}
	}
	/* places that are not known */
	difference.kind = DEALBOX_DIFFERENCE_NOT_LANDED;
	difference.position = difference.pocket = DEALBOX_NONE;
	dealbox_difference_text(&difference, true, "fr", text, 22);
	assert_string_equal(text, "♠7, (la derni\u00e8re) ");
	difference.kind = DEALBOX_DIFFERENCE_CARD_UNREAD;
	dealbox_difference_text(&difference, true, "nb", text, sizeof(text));
	assert_string_equal(text, "kort (det siste) ble ikke lest, eller ikke godt nok, "
				  "og ligger i ingen lomme");
	difference.kind = DEALBOX_DIFFERENCE_FAULT;
	difference.code = DEALBOX_EV_HARDWARE;
	dealbox_difference_text(&difference, false, "nb", text, sizeof(text));
	assert_string_equal(text, "maskinen stoppet: en feil p\u00e5 maskinen");
}

/* Forms for a number, which that each language has its own way with. */
static void counts_have_their_forms(void **state)
{
	static const struct {
		const char *language;
		unsigned int count;
		const char *text;
	} rows[] = {
		{ NULL, 1, "the deal has 1 card, not 13" },
		{ "en", 0, "the deal has 0 cards, not 13" },
		{ "nb", 1, "given har 1 kort, ikke 13" },
		{ "fr", 0, "la donne : 0 carte au lieu de 13" },
		{ "fr", 2, "la donne : 2 cartes au lieu de 13" },
		{ "el", 1, "\u03b4\u03b9\u03b1\u03bd\u03bf\u03bc\u03ae: 1 "
			   "\u03c6\u03cd\u03bb\u03bb\u03bf, \u03cc\u03c7\u03b9 13" },
		{ "ru", 1, "\u0441\u0434\u0430\u0447\u0430: 1 \u043a\u0430\u0440\u0442\u0430, "
			   "\u0430 \u043d\u0435 13" },
		{ "ru", 12, "\u0441\u0434\u0430\u0447\u0430: 12 \u043a\u0430\u0440\u0442, "
			    "\u0430 \u043d\u0435 13" },
		{ "ru", 22, "\u0441\u0434\u0430\u0447\u0430: 22 "
			    "\u043a\u0430\u0440\u0442\u044b, \u0430 \u043d\u0435 13" },
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct dealbox_difference difference = {
			.kind = DEALBOX_DIFFERENCE_COUNT, .pocket = DEALBOX_NONE,
			.count = rows[i].count, .count_expected = 13,
		};

		dealbox_difference_text(&difference, false, rows[i].language, text, sizeof(text));
		assert_string_equal(text, rows[i].text);
	}
}

static void a_verdict_counts_its_differences(void **state)
{
	struct dealbox_verdict *verdict;
	struct run run;
	char text[80];

	(void)state;
	exact_run(&run, true);
	run.events[1].arg[0]++;
	verdict = judge(&run);
	assert_int_equal(dealbox_verdict_message(verdict, text, sizeof(text)), 36);
	assert_string_equal(text, "not an exact duplicate: 1 difference");
	dealbox_verdict_free(verdict);
	run.events[1].code++;
	verdict = judge(&run);
	dealbox_verdict_message(verdict, text, sizeof(text));
	assert_string_equal(text, "not an exact duplicate: 2 differences");
	dealbox_verdict_free(verdict);
}

static void no_plan_no_verdict(void **state)
{
	struct dealbox_trace *trace = dealbox_trace_new(INSERTION);
	struct dealbox_plan good = short_plan(), plan;
	struct dealbox_verdict *verdict;
	uint8_t deck[DEALBOX_MAX_ENTRIES] = { 0 };

	(void)state;
#define REFUSED(field, value) do { \
	plan = good; \
	plan.field = value; \
	verdict = (struct dealbox_verdict *)&plan; \
	assert_int_equal(dealbox_verify(&plan, trace, &verdict), -EINVAL); \
	assert_null(verdict); \
} while (0)
	REFUSED(mode, 0);
	REFUSED(mode, DEALBOX_PLAN_CAPTURE + 1);
	REFUSED(entries, 0);
	REFUSED(entries, DEALBOX_MAX_ENTRIES + 1);
	REFUSED(plan_id, DEALBOX_PLAN_NONE);
#undef REFUSED
	/* a deck says nothing of a plan by card */
	assert_int_equal(dealbox_verify_deck(&good, deck, trace, &verdict), -EINVAL);
	assert_null(verdict);
	dealbox_verdict_free(verdict);

	good.entries = DEALBOX_MAX_ENTRIES;
	assert_int_equal(dealbox_verify(&good, trace, &verdict), 0);
	dealbox_verdict_free(verdict);
	dealbox_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_traces_are_exact),
		cmocka_unit_test(exit_sensors_that_see_nothing_are_doubt),
		cmocka_unit_test(one_change_is_never_exact),
		cmocka_unit_test(hopper_filled_behind_the_last_card),
		cmocka_unit_test(readings_that_count),
		cmocka_unit_test(the_plan_counts_not_the_trace),
		cmocka_unit_test(a_card_in_the_wrong_pocket),
		cmocka_unit_test(hidden_messages_never_name_a_card),
		cmocka_unit_test(hidden_sentences_are_the_same_for_every_deal),
		cmocka_unit_test(a_card_never_lands),
		cmocka_unit_test(the_same_card_twice),
		cmocka_unit_test(an_unreadable_card_is_read_again),
		cmocka_unit_test(pause_and_resume_do_no_harm),
		cmocka_unit_test(an_unfinished_deal),
		cmocka_unit_test(cards_for_another_insertion),
		cmocka_unit_test(by_position_without_reader),
		cmocka_unit_test(by_position_with_reader),
		cmocka_unit_test(a_capture),
		cmocka_unit_test(the_frame_of_a_deal),
		cmocka_unit_test(cards_dealt_when_none_can_be),
		cmocka_unit_test(the_way_of_a_card),
		cmocka_unit_test(more_cards_than_positions),
		cmocka_unit_test(a_word_of_the_driver_that_is_new),
		cmocka_unit_test(a_capture_without_a_card),
		cmocka_unit_test(by_position_with_a_strange_reading),
		cmocka_unit_test(cards_that_are_not_the_right_ones),
		cmocka_unit_test(what_the_machine_counted),
		cmocka_unit_test(stops_and_faults),
		cmocka_unit_test(cover_and_power),
		cmocka_unit_test(the_hopper),
		cmocka_unit_test(a_deck_and_a_card_that_is_not_in_it),
		cmocka_unit_test(a_verdict_on_a_single_card),
		cmocka_unit_test(no_memory_is_never_exact),
		cmocka_unit_test(nothing_of_the_cards_stays_in_memory),
		cmocka_unit_test(a_card_is_named_as_its_players_name_it),
		cmocka_unit_test(every_difference_has_its_sentence),
		cmocka_unit_test(ordinal_numbers),
		cmocka_unit_test(every_language_has_its_sentences),
		cmocka_unit_test(counts_have_their_forms),
		cmocka_unit_test(a_verdict_counts_its_differences),
		cmocka_unit_test(no_plan_no_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
