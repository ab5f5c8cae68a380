// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The verdict. An exact trace is made, then each thing that can be different in it is
 * made different: none may be "exact" any more.
 */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/verify.h>

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

/* Numbers as the driver gives them; what changed the trace before may call it again. */
static void number(struct run *run)
{
	for (size_t i = 0; i < run->count; i++) {
		run->events[i].seqno = 1000 + i;
		run->events[i].machine_seq = (uint32_t)(0xfffffff0 + i);	/* wraps */
	}
}

/* A deal as a machine does it that has a reader, with or without exit sensors. */
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

	/* not exact always has a reason that can be shown */
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
}

/* -- mutations: each changes one thing; false = it could not in this place -- */

static bool lose_event(struct run *run, size_t i)
{
	if (run->events[i].type == DEALBOX_EV_BOARD_INSERTED)
		return false;
	erase(run, i);
	return i < run->count;	/* nobody can know of a last event that is lost, but .. */
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

/* The hopper is empty, and is filled up: what was missing may lie in the board unseen. */
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

/* The same before the machine has stopped for it. */
static bool filled_up_in_time(struct run *run, size_t i)
{
	if (i < 2 || run->events[i].type != DEALBOX_EV_CARD_READ)
		return false;
	hopper(run, i, DEALBOX_EV_HOPPER_EMPTY);
	hopper(run, i + 1, DEALBOX_EV_HOPPER_LOADED);
	return true;
}

/* A joker was the last card, and another is laid in its place. */
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
	insert(run, run->count, (struct dealbox_event) {
		.type = DEALBOX_EV_CARD_UNREADABLE + any(8), .insertion = INSERTION, .position = 51 });
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
		hopper(&run, nth(&run, DEALBOX_EV_CARD_READ, 51) + !before, DEALBOX_EV_HOPPER_EMPTY);
		hopper(&run, nth(&run, DEALBOX_EV_CARD_READ, 51) + 2, DEALBOX_EV_HOPPER_LOADED);
		assert_true(is_exact(&run));
	}
}

/* From where on a reading counts; and what says nothing of how good it was. */
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
	assert_non_null(strstr(hidden, "a card, the "));
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

	/* host routed: the gate came late, and the card is read once more */
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

/* By position: the cards may be unread, what counts is the way of each position. */
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

	/* a card too few, and nothing else to see */
	for (i = run.count; i-- > 0;)
		if (run.events[i].position == 51)
			erase(&run, i);
	number(&run);
	assert_true(differs(&run, DEALBOX_DIFFERENCE_COUNT));
}

/* By position, and the cards are read all the same: they tell whether the deck lay as it should. */
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
	/* a deck says nothing of any other plan */
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

static void no_plan_no_verdict(void **state)
{
	struct dealbox_trace *trace = dealbox_trace_new(INSERTION);
	struct dealbox_verdict *verdict;
	struct dealbox_plan plan = { 0 };

	(void)state;
	assert_int_equal(dealbox_verify(&plan, trace, &verdict), -EINVAL);
	assert_null(verdict);
	dealbox_verdict_free(verdict);
	dealbox_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_traces_are_exact),
		cmocka_unit_test(one_change_is_never_exact),
		cmocka_unit_test(hopper_filled_behind_the_last_card),
		cmocka_unit_test(readings_that_count),
		cmocka_unit_test(the_plan_counts_not_the_trace),
		cmocka_unit_test(a_card_in_the_wrong_pocket),
		cmocka_unit_test(hidden_messages_never_name_a_card),
		cmocka_unit_test(a_card_never_lands),
		cmocka_unit_test(the_same_card_twice),
		cmocka_unit_test(an_unreadable_card_is_read_again),
		cmocka_unit_test(pause_and_resume_do_no_harm),
		cmocka_unit_test(an_unfinished_deal),
		cmocka_unit_test(cards_for_another_insertion),
		cmocka_unit_test(by_position_without_reader),
		cmocka_unit_test(by_position_with_reader),
		cmocka_unit_test(a_capture),
		cmocka_unit_test(no_plan_no_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
