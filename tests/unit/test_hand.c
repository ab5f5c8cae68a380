// SPDX-License-Identifier: LGPL-2.1-or-later
/* A person as a machine: what keys and bar codes become, and what can and cannot go wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/input-event-codes.h>
#include <stdio.h>

#include <dealbox/card.h>
#include <dealbox/verify.h>

#include "machine/hand.h"

#define SECOND	1000000000ull
#define PID	17

static struct hand hand;
static uint64_t now;
static struct dealbox_trace *trace;
static struct dealbox_plan plan;
static uint32_t plan_id;

/* Put all events of the machine into the trace of the last board. */
static void listen(void)
{
	struct dealbox_event event;

	while (dealbox_queue_pop(&hand.queue, &event)) {
		assert_true(event.flags & DEALBOX_EVF_BY_HAND);
		if (event.type == DEALBOX_EV_BOARD_INSERTED) {
			dealbox_trace_free(trace);
			trace = dealbox_trace_new(event.insertion);
		}
		if (trace)
			assert_int_not_equal(dealbox_trace_add(trace, &event), -ENOMEM);
	}
}

static bool key(uint32_t code)
{
	bool did;

	now += SECOND;
	did = hand_key(&hand, code, now);
	listen();
	return did;
}

static void code(uint8_t card)
{
	now += SECOND;
	hand_code(&hand, card, now);
	listen();
}

static int call(unsigned long request, void *arg)
{
	int ret = hand_call(&hand, request, arg, PID, now);

	listen();
	return ret;
}

static int control(uint32_t op, uint32_t plan_number, uint32_t insertion, uint32_t *result)
{
	struct dealbox_control c = { .op = op, .plan_id = plan_number, .insertion = insertion };
	int ret = call(DEALBOX_IOC_CONTROL, &c);

	if (result)
		*result = c.result;
	return ret;
}

static struct dealbox_status status(void)
{
	struct dealbox_status s;

	assert_int_equal(call(DEALBOX_IOC_GET_STATUS, &s), 0);
	return s;
}

static struct dealbox_prompt view(void)
{
	struct dealbox_prompt v;

	hand_view(&hand, &v);
	return v;
}

/* Count the events of a type in the trace; the last of them in *last. */
static unsigned int said(uint32_t type, struct dealbox_event *last)
{
	const struct dealbox_event *e;
	unsigned int n, count = 0;

	for (n = 0; trace && (e = dealbox_trace_get(trace, n)); n++) {
		if (e->type != type)
			continue;
		if (last)
			*last = *e;
		count++;
	}
	return count;
}

static bool exact(void)
{
	struct dealbox_verdict *verdict;
	bool ret;

	assert_int_equal(dealbox_verify(&plan, trace, &verdict), 0);
	ret = dealbox_verdict_exact(verdict);
	if (ret)
		assert_int_equal(dealbox_verdict_basis(verdict), DEALBOX_BASIS_HAND);
	dealbox_verdict_free(verdict);
	return ret;
}

static int setup(void **state)
{
	(void)state;
	now = 100 * SECOND;
	plan_id = 0;
	dealbox_trace_free(trace);
	trace = NULL;
	assert_true(hand_init(&hand, NULL, now));
	listen();
	assert_int_equal(call(DEALBOX_IOC_CLAIM, NULL), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dealbox_trace_free(trace);
	trace = NULL;
	return 0;
}

static void load(uint8_t mode)
{
	struct dealbox_plan given;
	unsigned int n;

	plan = (struct dealbox_plan){ .plan_id = ++plan_id, .mode = mode, .entries = 52 };
	for (n = 0; n < 52; n++)
		plan.pocket[n] = (uint8_t)((n + n / 4) % 4);
	given = plan;
	assert_int_equal(call(DEALBOX_IOC_SET_PLAN, &given), 0);
}

/* A board is put in, and a deal begins. */
static void begin(uint8_t mode)
{
	assert_true(key(HAND_ENTER));
	assert_int_equal(said(DEALBOX_EV_BOARD_INSERTED, NULL), 1);
	load(mode);
	assert_int_equal(control(DEALBOX_OP_START, plan_id, hand.insertion, NULL), 0);
}

/* Deal the cards from first to last - 1, in the order of a pack that was shuffled somehow. */
static uint8_t shuffled(unsigned int n)
{
	return (uint8_t)(n * 7 % 52);
}

static void deal(unsigned int first, unsigned int last)
{
	for (; first < last; first++) {
		struct dealbox_prompt v;

		code(shuffled(first));
		v = view();
		assert_int_equal(v.shows, first == 51 ? DEALBOX_PROMPT_LAST : DEALBOX_PROMPT_CARD);
		assert_int_equal(v.pocket, plan.pocket[shuffled(first)]);
		assert_int_equal(v.number, first + 1);
		assert_int_equal(v.cards, 52);
		/* a scanned card is not shown */
		assert_int_equal(v.card, DEALBOX_NONE);
	}
}

static void a_board_by_bar_codes_is_exact_by_hand(void **state)
{
	struct dealbox_event done;
	char text[64];
	struct dealbox_verdict *verdict;

	(void)state;
	begin(DEALBOX_PLAN_BY_CARD);
	assert_int_equal(view().shows, DEALBOX_PROMPT_CARD);
	assert_int_equal(view().pocket, DEALBOX_NONE);
	deal(0, 52);
	/* the last card still is in the hand */
	assert_int_equal(said(DEALBOX_EV_DEAL_DONE, NULL), 0);
	assert_false(exact());
	key(HAND_ENTER);
	assert_int_equal(said(DEALBOX_EV_DEAL_DONE, &done), 1);
	for (int n = 0; n < 4; n++)
		assert_int_equal(done.counts[n], 13);
	assert_int_equal(view().shows, DEALBOX_PROMPT_NOTHING);
	assert_true(exact());
	assert_int_equal(dealbox_verify(&plan, trace, &verdict), 0);
	dealbox_verdict_message(verdict, text, sizeof(text));
	assert_string_equal(text, "exact duplicate (by hand)");
	dealbox_verdict_free(verdict);
}

/* 52 cards by two keys each, while the clock stands still: the second key shows the seat. */
static void no_card_waits_for_more_than_its_keys(void **state)
{
	unsigned int n;

	(void)state;
	begin(DEALBOX_PLAN_BY_CARD);
	for (n = 0; n < 52; n++) {
		const char *name = dealbox_card_name(shuffled(n));

		assert_true(hand_key(&hand, (uint8_t)name[1], now));
		assert_true(hand_key(&hand, (uint8_t)name[0], now));
		assert_int_equal(view().shows, n == 51 ? DEALBOX_PROMPT_LAST : DEALBOX_PROMPT_CARD);
		assert_int_equal(view().pocket, plan.pocket[shuffled(n)]);
		assert_int_equal(view().number, n + 1);
		listen();
	}
	/* only the Enter that says that the last card lies could be the end of a bar code */
	assert_true(hand_key(&hand, HAND_ENTER, now + HAND_SUFFIX_NS));
	listen();
	assert_true(exact());
}

static void a_board_by_position_is_exact_if_the_deck_was_in_order(void **state)
{
	struct dealbox_verdict *verdict;
	struct dealbox_prompt v;
	char text[96];
	unsigned int n;

	(void)state;
	begin(DEALBOX_PLAN_BY_POSITION);
	for (n = 0; n < 52; n++) {
		v = view();
		assert_int_equal(v.shows, DEALBOX_PROMPT_CARD);
		assert_int_equal(v.number, n + 1);
		assert_int_equal(v.pocket, plan.pocket[n]);
		assert_true(key(n & 1 ? ' ' : HAND_ENTER));
	}
	assert_int_equal(view().shows, DEALBOX_PROMPT_LAST);
	assert_int_equal(view().pocket, DEALBOX_NONE);
	/* whoever has a card left now presses no Enter */
	assert_false(key(' '));
	assert_false(exact());
	key(HAND_ENTER);
	assert_true(exact());
	assert_int_equal(dealbox_verify(&plan, trace, &verdict), 0);
	dealbox_verdict_message(verdict, text, sizeof(text));
	assert_string_equal(text,
			    "exact duplicate (by hand; cards not read, if the deck was in order)");
	dealbox_verdict_free(verdict);
}

/* ---- what could make a wrong board exact -------------------------------------- */

static void a_repeated_card_voids_the_board(void **state)
{
	struct dealbox_event e;

	(void)state;
	begin(DEALBOX_PLAN_BY_CARD);
	deal(0, 20);
	code(shuffled(3));
	/* no seat is shown for it, nothing is said yet: it may be a mistake of the moment */
	assert_int_equal(view().shows, DEALBOX_PROMPT_DEALT);
	assert_int_equal(view().pocket, DEALBOX_NONE);
	assert_int_equal(said(DEALBOX_EV_REPEATED_CARD, NULL), 0);
	code(shuffled(3));
	assert_int_equal(said(DEALBOX_EV_REPEATED_CARD, &e), 1);
	assert_int_equal(e.position, 20);
	assert_int_equal(e.card, shuffled(3));
	assert_int_equal(e.arg[0], 3);
	assert_int_equal(status().state, DEALBOX_STATE_FAULT);
	assert_int_equal(status().cards_done, 20);
	assert_int_equal(view().shows, DEALBOX_PROMPT_VOID);
	/* nothing more can be dealt into it */
	code(shuffled(20));
	key(HAND_ENTER);
	assert_false(exact());
	assert_int_equal(said(DEALBOX_EV_BOARD_REMOVED, NULL), 1);
	assert_int_equal(status().insertion, 0);
	assert_int_equal(control(DEALBOX_OP_CLEAR_FAULT, 0, 0, NULL), 0);
	assert_int_equal(status().state, DEALBOX_STATE_IDLE);
}

static void another_card_behind_a_repeated_one_says_that_it_was_a_mistake(void **state)
{
	(void)state;
	begin(DEALBOX_PLAN_BY_CARD);
	deal(0, 20);
	code(shuffled(3));
	deal(20, 30);
	/* it is not remembered: once more it is the first time */
	code(shuffled(3));
	assert_int_equal(view().shows, DEALBOX_PROMPT_DEALT);
	code(shuffled(4));
	assert_int_equal(view().shows, DEALBOX_PROMPT_DEALT);
	deal(30, 52);
	key(HAND_ENTER);
	assert_true(exact());
}

static void a_second_card_like_the_one_in_the_hand_gets_no_seat(void **state)
{
	(void)state;
	begin(DEALBOX_PLAN_BY_CARD);
	deal(0, 5);
	/* the scanner has it still under its beam */
	hand_code(&hand, shuffled(4), now + HAND_TWICE_NS - 1);
	assert_int_equal(view().shows, DEALBOX_PROMPT_CARD);
	assert_int_equal(view().pocket, plan.pocket[shuffled(4)]);
	now += SECOND;
	code(shuffled(4));
	assert_int_equal(view().shows, DEALBOX_PROMPT_SAME);
	assert_int_equal(view().pocket, DEALBOX_NONE);
	code(shuffled(4));
	assert_int_equal(view().shows, DEALBOX_PROMPT_SAME);
	/* the seat comes back */
	assert_true(key(HAND_UNDO));
	assert_int_equal(view().pocket, plan.pocket[shuffled(4)]);
	deal(5, 52);
	key(HAND_ENTER);
	assert_true(exact());
}

static void a_missing_card_ends_in_a_void_board(void **state)
{
	struct dealbox_event e;

	(void)state;
	begin(DEALBOX_PLAN_BY_CARD);
	deal(0, 51);
	key(HAND_ENTER);
	assert_int_equal(view().shows, DEALBOX_PROMPT_SHORT);
	assert_int_equal(said(DEALBOX_EV_DECK_SHORT, NULL), 0);
	/* an Enter too many does no harm */
	assert_true(key(HAND_UNDO));
	key(HAND_ENTER);
	key(HAND_ENTER);
	assert_int_equal(said(DEALBOX_EV_DECK_SHORT, &e), 1);
	assert_int_equal(e.position, 51);
	assert_int_equal(status().state, DEALBOX_STATE_HELD);
	/* the card that is found now proves nothing */
	code(shuffled(51));
	key(HAND_ENTER);
	assert_int_equal(said(DEALBOX_EV_DEAL_DONE, NULL), 0);
	assert_int_equal(control(DEALBOX_OP_REREAD, 0, 0, NULL), 0);
	assert_int_equal(status().state, DEALBOX_STATE_HELD);
	assert_int_equal(control(DEALBOX_OP_ABORT, 0, 0, NULL), 0);
	assert_int_equal(said(DEALBOX_EV_ABORTED, &e), 1);
	assert_int_equal(e.position, 51);
	assert_false(exact());
}

static void enter_ends_the_deal_only_where_the_last_card_is_asked_for(void **state)
{
	(void)state;
	begin(DEALBOX_PLAN_BY_CARD);
	deal(0, 52);
	/* a card that was dealt already: it, or an earlier one, was named wrong */
	code(shuffled(3));
	assert_false(key(HAND_ENTER));
	assert_int_equal(view().shows, DEALBOX_PROMPT_DEALT);
	assert_false(key('x'));
	assert_int_equal(view().shows, DEALBOX_PROMPT_UNREAD);
	assert_true(key(HAND_ENTER));
	assert_int_equal(view().shows, DEALBOX_PROMPT_LAST);
	/* half of a card */
	assert_true(key('a'));
	assert_true(key(HAND_ENTER));
	assert_int_equal(view().rank, DEALBOX_NONE);
	assert_int_equal(view().shows, DEALBOX_PROMPT_LAST);
	/* a second card like the last one */
	code(shuffled(51));
	assert_int_equal(view().shows, DEALBOX_PROMPT_SAME);
	assert_true(key(HAND_ENTER));
	assert_int_equal(view().shows, DEALBOX_PROMPT_LAST);
	code(DEALBOX_CARD_JOKER1);
	assert_int_equal(view().shows, DEALBOX_PROMPT_FOREIGN);
	assert_true(key(HAND_ENTER));
	assert_int_equal(view().shows, DEALBOX_PROMPT_LAST);
	assert_int_equal(said(DEALBOX_EV_DEAL_DONE, NULL), 0);
	assert_true(key(HAND_ENTER));
	assert_true(exact());

	/* the card that nobody can explain, named once more, voids the board at the end, too */
	key(HAND_ENTER);
	begin(DEALBOX_PLAN_BY_CARD);
	deal(0, 52);
	code(shuffled(3));
	assert_false(key(HAND_ENTER));
	code(shuffled(3));
	assert_int_equal(said(DEALBOX_EV_REPEATED_CARD, NULL), 1);
	assert_int_equal(said(DEALBOX_EV_DEAL_DONE, NULL), 0);
	assert_false(exact());
}

static void a_foreign_card_gets_no_seat(void **state)
{
	struct dealbox_plan given;

	(void)state;
	begin(DEALBOX_PLAN_BY_CARD);
	deal(0, 7);
	code(DEALBOX_CARD_JOKER1);
	assert_int_equal(view().shows, DEALBOX_PROMPT_FOREIGN);
	assert_int_equal(view().pocket, DEALBOX_NONE);
	assert_int_equal(view().number, 7);
	code(DEALBOX_NONE);
	assert_int_equal(view().shows, DEALBOX_PROMPT_UNREAD);
	assert_int_equal(view().pocket, DEALBOX_NONE);
	deal(7, 52);
	/* behind the last card, every card is one too many */
	code(DEALBOX_CARD_JOKER2);
	assert_int_equal(view().shows, DEALBOX_PROMPT_FOREIGN);
	code(shuffled(7));
	assert_int_equal(view().shows, DEALBOX_PROMPT_DEALT);
	assert_true(key(HAND_UNDO));
	key(HAND_ENTER);
	assert_true(exact());

	/* a card of the pack that the plan leaves out */
	key(HAND_ENTER);
	key(HAND_ENTER);
	load(DEALBOX_PLAN_BY_CARD);
	given = plan;
	given.plan_id = ++plan_id;
	given.pocket[12] = DEALBOX_NONE;
	assert_int_equal(call(DEALBOX_IOC_SET_PLAN, &given), 0);
	assert_int_equal(control(DEALBOX_OP_START, plan_id, hand.insertion, NULL), 0);
	code(12);
	assert_int_equal(view().shows, DEALBOX_PROMPT_FOREIGN);
	assert_int_equal(view().cards, 51);
}

static void the_last_card_is_taken_back(void **state)
{
	struct dealbox_prompt v;

	(void)state;
	begin(DEALBOX_PLAN_BY_CARD);
	assert_false(key(HAND_UNDO));
	deal(0, 9);
	/* it was the wrong card: it is not told */
	code(shuffled(30));
	assert_true(key(HAND_UNDO));
	v = view();
	assert_int_equal(v.number, 9);
	assert_int_equal(v.pocket, DEALBOX_NONE);
	/* the one before lies already */
	assert_false(key(HAND_UNDO));
	deal(9, 52);
	assert_true(key(HAND_UNDO));
	assert_int_equal(view().shows, DEALBOX_PROMPT_CARD);
	deal(51, 52);
	key(HAND_ENTER);
	assert_true(exact());
	/* and so it is over */
	assert_false(key(HAND_UNDO));
}

static void by_position_a_key_that_was_pressed_too_early_is_taken_back(void **state)
{
	unsigned int n;

	(void)state;
	begin(DEALBOX_PLAN_BY_POSITION);
	key(HAND_ENTER);
	key(HAND_ENTER);
	assert_int_equal(view().number, 3);
	assert_true(key(HAND_UNDO));
	assert_int_equal(view().number, 2);
	assert_int_equal(view().pocket, plan.pocket[1]);
	assert_false(key(HAND_UNDO));
	/* the key is held, or bounces */
	for (n = 0; n < 20; n++) {
		now += HAND_BOUNCE_NS - 1;
		assert_false(hand_key(&hand, HAND_ENTER, now));
	}
	assert_int_equal(view().number, 2);
	for (n = 1; n < 52; n++)
		key(HAND_ENTER);
	assert_int_equal(view().shows, DEALBOX_PROMPT_LAST);
	assert_true(key(HAND_UNDO));
	assert_int_equal(view().number, 52);
	key(HAND_ENTER);
	key(HAND_ENTER);
	assert_true(exact());
}

static void cards_are_typed_by_two_keys(void **state)
{
	static const struct {
		const char *language;
		uint32_t keys[3];
		uint8_t card;
	} rows[] = {
		{ "en", { 'A', 'S' }, 0 }, { "en", { 'k', 'h' }, 14 }, { "en", { 'q', 'd' }, 28 },
		{ "en", { 'j', 'c' }, 42 }, { "en", { 't', 's' }, 4 }, { "en", { '2', 'c' }, 51 },
		{ "en", { '9', 'h' }, 18 }, { "en", { '1', '0', 's' }, 4 },
		{ "en", { '1', 's' }, 0 },
		/* the number pad */
		{ "en", { '+', '1' }, 0 }, { "en", { '-', '2' }, 14 }, { "en", { '*', '3' }, 28 },
		{ "en", { '/', '4' }, 42 }, { "en", { '0', '1' }, 4 }, { "en", { '1', '1' }, 0 },
		{ "en", { '4', '4' }, 49 },
		/* national letters; English ones where nothing else has them */
		{ "nb", { 'e', 's' }, 0 }, { "nb", { 'k', 'h' }, 14 }, { "nb", { 'd', 'r' }, 28 },
		{ "nb", { 'b', 'k' }, 42 }, { "nb", { 'q', 'd' }, 28 }, { "nb", { 'j', 'c' }, 42 },
		{ "fr", { 'a', 'p' }, 0 }, { "fr", { 'r', 'c' }, 14 }, { "fr", { 'd', 'k' }, 28 },
		{ "fr", { 'v', 't' }, 42 },
		{ "el", { 0x3b1, 0x3c0 }, 0 }, { "el", { 0x3c1, 0x3ba }, 14 },
		{ "el", { 0x39d, 0x3a1 }, 28 },
		{ "el", { 0x392, 0x3c3 }, 42 },
		{ "ru", { 0x442, 0x43f }, 0 }, { "ru", { 0x43a, 0x447 }, 14 },
		{ "ru", { 0x434, 0x431 }, 28 },
		{ "ru", { 0x432, 0x442 }, 42 },
	};
	size_t n, k;

	(void)state;
	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		assert_true(hand_init(&hand, rows[n].language, now));
		assert_int_equal(call(DEALBOX_IOC_CLAIM, NULL), 0);
		begin(DEALBOX_PLAN_BY_CARD);
		for (k = 0; k < 3 && rows[n].keys[k]; k++) {
			if (k)
				assert_int_not_equal(view().rank, DEALBOX_NONE);
			assert_true(key(rows[n].keys[k]));
		}
		/* what was typed is shown, so that a mistake is seen */
		assert_int_equal(view().card, rows[n].card);
		assert_int_equal(view().pocket, plan.pocket[rows[n].card]);
		assert_int_equal(view().number, 1);
	}
	assert_false(hand_init(&hand, "xx", now));
	assert_true(hand_init(&hand, NULL, now));
}

static void a_key_that_is_no_card_is_said_so(void **state)
{
	(void)state;
	begin(DEALBOX_PLAN_BY_CARD);
	deal(0, 3);
	assert_false(key('x'));
	assert_int_equal(view().shows, DEALBOX_PROMPT_UNREAD);
	assert_true(key('a'));
	assert_int_equal(view().rank, 0);
	assert_false(key('9'));
	assert_int_equal(view().shows, DEALBOX_PROMPT_UNREAD);
	assert_int_equal(view().rank, DEALBOX_NONE);
	/* the half of a card is taken back alone */
	assert_true(key('k'));
	assert_true(key(HAND_UNDO));
	assert_int_equal(view().rank, DEALBOX_NONE);
	assert_int_equal(view().number, 3);
	assert_int_equal(view().pocket, plan.pocket[shuffled(2)]);
	/* nor does a key mean anything where no card is wanted */
	assert_false(key(0));
	assert_false(key('\t'));
	deal(3, 52);
	key(HAND_ENTER);
	assert_true(exact());
	assert_false(key('a'));
	code(3);
	assert_int_equal(view().shows, DEALBOX_PROMPT_NOTHING);
}

static void enter_behind_a_bar_code_is_its_end(void **state)
{
	(void)state;
	begin(DEALBOX_PLAN_BY_CARD);
	deal(0, 4);
	assert_false(hand_key(&hand, HAND_ENTER, now + HAND_SUFFIX_NS - 1));
	assert_int_equal(view().shows, DEALBOX_PROMPT_CARD);
	deal(4, 52);
	/* above all, it does not say that the last card lies where it belongs */
	assert_false(hand_key(&hand, HAND_ENTER, now + HAND_SUFFIX_NS - 1));
	assert_false(hand_key(&hand, HAND_ENTER, now + HAND_SUFFIX_NS - 1));
	listen();
	assert_int_equal(said(DEALBOX_EV_DEAL_DONE, NULL), 0);
	key(HAND_ENTER);
	assert_int_equal(said(DEALBOX_EV_DEAL_DONE, NULL), 1);
}

/* ---- what could deal a board twice --------------------------------------------- */

static void a_board_is_dealt_once(void **state)
{
	struct dealbox_plan given;
	uint32_t result, insertion;

	(void)state;
	begin(DEALBOX_PLAN_BY_CARD);
	insertion = hand.insertion;
	assert_int_equal(control(DEALBOX_OP_START, plan_id, insertion, &result), -EREMOTEIO);
	assert_int_equal(result, DEALBOX_ERR_STATE);
	given = plan;
	assert_int_equal(call(DEALBOX_IOC_SET_PLAN, &given), -EREMOTEIO);
	assert_int_equal(given.result, DEALBOX_ERR_STATE);
	deal(0, 52);
	key(HAND_ENTER);
	assert_true(exact());
	load(DEALBOX_PLAN_BY_CARD);
	assert_int_equal(control(DEALBOX_OP_START, plan_id, insertion, &result), -EREMOTEIO);
	assert_int_equal(result, DEALBOX_ERR_SPENT);
	assert_true(status().flags & DEALBOX_STATUS_SPENT);
	/* the next board has another number, and the old number is refused */
	key(HAND_ENTER);
	assert_int_equal(control(DEALBOX_OP_START, plan_id, insertion, &result), -EREMOTEIO);
	assert_int_equal(result, DEALBOX_ERR_NO_BOARD);
	key(HAND_ENTER);
	assert_int_equal(hand.insertion, insertion + 1);
	assert_int_equal(control(DEALBOX_OP_START, plan_id, insertion, &result), -EREMOTEIO);
	assert_int_equal(result, DEALBOX_ERR_WRONG_INSERTION);
	assert_int_equal(control(DEALBOX_OP_START, plan_id + 1, insertion + 1, &result),
			 -EREMOTEIO);
	assert_int_equal(result, DEALBOX_ERR_WRONG_PLAN);
	given = (struct dealbox_plan){ 0 };
	assert_int_equal(call(DEALBOX_IOC_SET_PLAN, &given), 0);
	assert_int_equal(control(DEALBOX_OP_START, plan_id, insertion + 1, &result), -EREMOTEIO);
	assert_int_equal(result, DEALBOX_ERR_NO_PLAN);
}

static void insertions_go_on_behind_those_on_record(void **state)
{
	(void)state;
	hand_count_from(&hand, 41);
	hand_count_from(&hand, 7);
	key(HAND_ENTER);
	assert_int_equal(hand.insertion, 42);
	/* a board that was put in by mistake is taken out */
	assert_true(key(HAND_UNDO));
	assert_int_equal(hand.insertion, 0);
	assert_false(key(HAND_UNDO));
	key(HAND_ENTER);
	assert_int_equal(hand.insertion, 43);
	/* the board is there, and has no cards: Enter is the start key */
	key(HAND_ENTER);
	assert_int_equal(said(DEALBOX_EV_KEY, NULL), 1);
}

static void a_fault_must_be_cleared_before_the_next_board(void **state)
{
	uint32_t result;

	(void)state;
	begin(DEALBOX_PLAN_BY_CARD);
	deal(0, 2);
	code(shuffled(0));
	code(shuffled(0));
	assert_int_equal(control(DEALBOX_OP_START, plan_id, hand.insertion, &result), -EREMOTEIO);
	assert_int_equal(result, DEALBOX_ERR_FAULT);
	key(HAND_ENTER);
	/* Enter puts no board into a machine with a fault */
	key(HAND_ENTER);
	assert_int_equal(hand.insertion, 0);
	assert_int_equal(control(DEALBOX_OP_CLEAR_FAULT, 0, 0, NULL), 0);
	assert_int_equal(control(DEALBOX_OP_CLEAR_FAULT, 0, 0, &result), -EREMOTEIO);
	assert_int_equal(result, DEALBOX_ERR_STATE);
	begin(DEALBOX_PLAN_BY_CARD);
	deal(0, 52);
	key(HAND_ENTER);
	assert_true(exact());
}

/* ---- pause, and the end of a program -------------------------------------------- */

static void a_pause_shows_no_seat(void **state)
{
	struct dealbox_event e;
	uint32_t result;

	(void)state;
	begin(DEALBOX_PLAN_BY_CARD);
	deal(0, 10);
	key('k');
	assert_true(key(HAND_STOP));
	assert_int_equal(said(DEALBOX_EV_PAUSED, &e), 1);
	assert_int_equal(e.code, DEALBOX_PAUSED_BY_KEY);
	assert_int_equal(e.position, 10);
	assert_int_equal(view().shows, DEALBOX_PROMPT_PAUSED);
	assert_int_equal(view().pocket, DEALBOX_NONE);
	code(shuffled(10));
	assert_false(key('a'));
	assert_false(key(HAND_UNDO));
	assert_false(key(HAND_STOP));
	/* Enter asks the computer to go on */
	key(HAND_ENTER);
	assert_int_equal(said(DEALBOX_EV_KEY, &e), 1);
	assert_int_equal(e.code, DEALBOX_KEY_START);
	assert_int_equal(control(DEALBOX_OP_RESUME, 0, 0, NULL), 0);
	assert_int_equal(control(DEALBOX_OP_RESUME, 0, 0, &result), -EREMOTEIO);
	assert_int_equal(view().pocket, plan.pocket[shuffled(9)]);
	assert_int_equal(control(DEALBOX_OP_PAUSE, 0, 0, NULL), 0);
	assert_int_equal(control(DEALBOX_OP_PAUSE, 0, 0, &result), -EREMOTEIO);
	assert_int_equal(control(DEALBOX_OP_RESUME, 0, 0, NULL), 0);
	deal(10, 52);
	key(HAND_ENTER);
	assert_true(exact());
}

static void no_deal_runs_that_nobody_controls(void **state)
{
	(void)state;
	begin(DEALBOX_PLAN_BY_CARD);
	deal(0, 10);
	assert_int_equal(call(DEALBOX_IOC_RELEASE, NULL), 0);
	assert_int_equal(status().state, DEALBOX_STATE_PAUSED);
	assert_int_equal(status().claimed, DEALBOX_CLAIMED_NOT);
	assert_int_equal(control(DEALBOX_OP_RESUME, 0, 0, NULL), -EPERM);
}

static void power_lost_in_mid_board_is_doubt(void **state)
{
	struct dealbox_trace *before;
	struct dealbox_verdict *verdict;

	(void)state;
	begin(DEALBOX_PLAN_BY_CARD);
	deal(0, 30);
	before = trace;
	trace = NULL;
	/* the next program begins with no board, and with no plan */
	assert_true(hand_init(&hand, NULL, now));
	assert_int_equal(status().insertion, 0);
	assert_int_equal(view().shows, DEALBOX_PROMPT_NOTHING);
	code(shuffled(30));
	key('a');
	assert_int_equal(status().cards_done, 0);
	assert_int_equal(dealbox_verify(&plan, before, &verdict), 0);
	assert_false(dealbox_verdict_exact(verdict));
	dealbox_verdict_free(verdict);
	dealbox_trace_free(before);
}

/* ---- calls ----------------------------------------------------------------------- */

static void calls_are_answered_as_by_other_machines(void **state)
{
	struct dealbox_control c = { .op = DEALBOX_OP_RELEASE_BOARD };
	struct dealbox_counters counters;
	struct dealbox_param param = { .id = DEALBOX_PARAM_SPEED };
	struct dealbox_info info;
	struct dealbox_status s;
	uint32_t result;

	(void)state;
	assert_int_equal(call(0, NULL), -ENOTTY);
	assert_int_equal(call(DEALBOX_IOC_GET_INFO, &info), 0);
	assert_string_equal(info.serial, "hand");
	assert_int_equal(info.pockets, 4);
	/* what a person can not do */
	assert_int_equal(call(DEALBOX_IOC_CONTROL, &c), -EOPNOTSUPP);
	c.op = DEALBOX_OP_TEST_DEAL;
	c.insertion = c.arg = 1;
	assert_int_equal(call(DEALBOX_IOC_CONTROL, &c), -EOPNOTSUPP);
	assert_int_equal(call(DEALBOX_IOC_GET_PARAM, &param), -EOPNOTSUPP);
	c = (struct dealbox_control){ .op = DEALBOX_OP_START };
	assert_int_equal(call(DEALBOX_IOC_CONTROL, &c), -EINVAL);
	assert_int_equal(control(DEALBOX_OP_LOCATE, 0, 0, NULL), 0);
	assert_int_equal(control(DEALBOX_OP_ABORT, 0, 0, &result), -EREMOTEIO);
	assert_int_equal(control(DEALBOX_OP_REREAD, 0, 0, &result), -EREMOTEIO);
	load(DEALBOX_PLAN_BY_CARD);
	plan.pocket[0] = 4;
	assert_int_equal(call(DEALBOX_IOC_SET_PLAN, &plan), -EINVAL);
	plan.mode = DEALBOX_PLAN_CAPTURE;
	plan.entries = 1;
	memset(plan.pocket, 0, sizeof(plan.pocket));
	assert_int_equal(call(DEALBOX_IOC_SET_PLAN, &plan), -EOPNOTSUPP);
	begin(DEALBOX_PLAN_BY_CARD);
	deal(0, 6);
	s = status();
	assert_int_equal(s.state, DEALBOX_STATE_DEALING);
	assert_int_equal(s.cards_total, 52);
	/* the sixth is in the hand */
	assert_int_equal(s.cards_done, 5);
	assert_int_equal(s.plan_id, plan_id);
	assert_int_equal(s.claimed, DEALBOX_CLAIMED_BY_THIS);
	assert_int_equal(s.owner_pid, PID);
	deal(6, 52);
	key(HAND_ENTER);
	assert_int_equal(call(DEALBOX_IOC_GET_COUNTERS, &counters), 0);
	assert_int_equal(counters.boards_dealt, 1);
	assert_int_equal(counters.cards_fed, 52);
}

static void nothing_of_a_deal_stays_behind_its_end(void **state)
{
	static const uint8_t zeros[DEALBOX_MAX_ENTRIES];
	struct dealbox_plan none = { 0 };

	(void)state;
	begin(DEALBOX_PLAN_BY_CARD);
	deal(0, 51);
	key('a');
	key('s');
	key('j');
	assert_true(key(HAND_UNDO));
	code(shuffled(51));
	key(HAND_ENTER);
	assert_true(exact());
	assert_int_equal(call(DEALBOX_IOC_SET_PLAN, &none), 0);
	assert_memory_equal(hand.where, zeros, sizeof(zeros));
	assert_memory_equal(hand.plan.pocket, zeros, sizeof(zeros));
	assert_int_equal(hand.card.card, 0);
	assert_int_equal(hand.again, 0);
	assert_int_equal(hand.rank, DEALBOX_NONE);
}

/* ---- devices ------------------------------------------------------------------------ */

static void keys_of_a_device(void **state)
{
	(void)state;
	assert_int_equal(hand_key_of(KEY_KP7), '7');
	assert_int_equal(hand_key_of(KEY_KPENTER), HAND_ENTER);
	assert_int_equal(hand_key_of(KEY_BACKSPACE), HAND_UNDO);
	assert_int_equal(hand_key_of(KEY_ESC), HAND_STOP);
	assert_int_equal(hand_key_of(KEY_Q), 'Q');
	assert_int_equal(hand_key_of(KEY_KPASTERISK), '*');
	assert_int_equal(hand_key_of(KEY_LEFTSHIFT), 0);
	assert_int_equal(hand_key_of(KEY_MAX), 0);
	assert_int_equal(hand_key_of(100000), 0);
}

static void codes_of_a_file(void **state)
{
	struct hand_codes codes;
	char sorted[1024] = "# scanned on Tuesday\n";
	unsigned int line, n;
	const char *why;

	(void)state;
	assert_int_equal(hand_codes_read(&codes, "4711 SA\n\n0815\tH10\r\n99,3d\n12 2c", &line,
					 &why), 0);
	assert_int_equal(hand_codes_find(&codes, "4711"), 0);
	assert_int_equal(hand_codes_find(&codes, "0815"), 17);
	assert_int_equal(hand_codes_find(&codes, "12"), 51);
	/* an unknown code is no card, and a label with its name is one */
	assert_int_equal(hand_codes_find(&codes, "4712"), DEALBOX_NONE);
	assert_int_equal(hand_codes_find(&codes, ""), DEALBOX_NONE);
	assert_int_equal(hand_codes_find(&codes, "AS"), 0);
	assert_int_equal(hand_codes_find(&codes, "10h"), 17);
	hand_codes_free(&codes);

	/* a sorted pack */
	for (n = 0; n < 52; n++)
		snprintf(sorted + strlen(sorted), 8, "%u\n", 1000 + n);
	assert_int_equal(hand_codes_read(&codes, sorted, &line, &why), 0);
	for (n = 0; n < 52; n++) {
		char text[8];

		snprintf(text, sizeof(text), "%u", 1000 + n);
		assert_int_equal(hand_codes_find(&codes, text), n);
	}
	hand_codes_free(&codes);
	/* a card was not scanned */
	sorted[strlen(sorted) - 5] = '\0';
	assert_int_equal(hand_codes_read(&codes, sorted, &line, &why), -EINVAL);
	assert_int_equal(line, 0);
	hand_codes_free(&codes);
	assert_int_equal(hand_codes_read(&codes, "1 SA\n2 SB\n", &line, &why), -EINVAL);
	assert_int_equal(line, 2);
	hand_codes_free(&codes);
	/* one card scanned twice */
	assert_int_equal(hand_codes_read(&codes, "1 SA\n2 SK\n1 SQ\n", &line, &why), -EEXIST);
	assert_int_equal(line, 3);
	hand_codes_free(&codes);
	assert_int_equal(hand_codes_read(&codes, "", &line, &why), -EINVAL);
	hand_codes_free(&codes);
	assert_int_equal(hand_codes_read(&codes, "0123456789012345678901234567890123456789"
					 "012345678901234567890123 SA", &line, &why), -EINVAL);
	assert_int_equal(line, 1);
	hand_codes_free(&codes);
}

/* Whatever is pressed in whatever order: exact is only what was named whole, each card once. */
static void random_keys_make_no_wrong_board_exact(void **state)
{
	static const uint32_t keys[] = { HAND_ENTER, HAND_ENTER, HAND_UNDO, HAND_STOP, ' ', 'a',
					 's', '1', '0' };
	unsigned int round, n, finished = 0;
	struct dealbox_event e;

	(void)state;
	srand(1);
	for (round = 0; round < 300; round++) {
		unsigned int at = 0, presses = 0;

		assert_true(hand_init(&hand, NULL, now));
		assert_int_equal(call(DEALBOX_IOC_CLAIM, NULL), 0);
		begin(DEALBOX_PLAN_BY_CARD);
		while (hand.state != DEALBOX_STATE_DONE && hand.state != DEALBOX_STATE_FAULT &&
		       hand.state != DEALBOX_STATE_HELD && presses++ < 2000) {
			if (hand.state == DEALBOX_STATE_PAUSED)
				control(DEALBOX_OP_RESUME, 0, 0, NULL);
			if (at < 52 && rand() % 16)
				code(shuffled(at));
			else
				key(keys[(unsigned int)rand() % (sizeof(keys) / sizeof(keys[0]))]);
			/* who is asked for a card looks which are left */
			for (at = 0;
			     at < 52 && (hand.where[shuffled(at)] ||
					 (hand.card.there && hand.card.card == shuffled(at)));
			     at++)
				;
		}
		if (hand.state != DEALBOX_STATE_DONE) {
			assert_false(exact());
			continue;
		}
		finished++;
		assert_true(exact());
		assert_int_equal(said(DEALBOX_EV_DEAL_DONE, &e), 1);
		for (n = 0; n < 4; n++)
			assert_int_equal(e.counts[n], 13);
	}
	assert_true(finished > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(a_board_by_bar_codes_is_exact_by_hand),
		TEST(no_card_waits_for_more_than_its_keys),
		TEST(a_board_by_position_is_exact_if_the_deck_was_in_order),
		TEST(a_repeated_card_voids_the_board),
		TEST(another_card_behind_a_repeated_one_says_that_it_was_a_mistake),
		TEST(a_second_card_like_the_one_in_the_hand_gets_no_seat),
		TEST(a_missing_card_ends_in_a_void_board),
		TEST(enter_ends_the_deal_only_where_the_last_card_is_asked_for),
		TEST(a_foreign_card_gets_no_seat),
		TEST(the_last_card_is_taken_back),
		TEST(by_position_a_key_that_was_pressed_too_early_is_taken_back),
		TEST(cards_are_typed_by_two_keys),
		TEST(a_key_that_is_no_card_is_said_so),
		TEST(enter_behind_a_bar_code_is_its_end),
		TEST(a_board_is_dealt_once),
		TEST(insertions_go_on_behind_those_on_record),
		TEST(a_fault_must_be_cleared_before_the_next_board),
		TEST(a_pause_shows_no_seat),
		TEST(no_deal_runs_that_nobody_controls),
		TEST(power_lost_in_mid_board_is_doubt),
		TEST(calls_are_answered_as_by_other_machines),
		TEST(nothing_of_a_deal_stays_behind_its_end),
		TEST(keys_of_a_device),
		TEST(codes_of_a_file),
		TEST(random_keys_make_no_wrong_board_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
