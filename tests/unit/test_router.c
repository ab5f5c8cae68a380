// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Where the card at the gate goes: every card, every repetition, every doubt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "router.h"

#define PLAN		77
#define INSERTION	1001

static void load(struct router *r, u8 mode, u8 entries)
{
	struct wire_plan plan = { .plan_id = PLAN, .mode = mode, .entries = entries };

	for (int i = 0; i < entries; i++)
		plan.pocket[i] = (i + 1) % 4;
	wire_plan_count(&plan);
	memset(r, 0, sizeof(*r));
	router_load(r, &plan);
}

static bool send(struct router *r, u8 type, u32 insertion, u32 code)
{
	struct wire_event event = { .type = type, .insertion = insertion, .code = code };
	struct wire_gate gate;

	return router_event(r, &event, &gate);
}

static void start(struct router *r)
{
	assert_false(send(r, DEALBOX_EV_DEAL_STARTED, INSERTION, PLAN));
}

static bool read_card(struct router *r, u8 position, u8 card, struct wire_gate *gate)
{
	struct wire_event event = {
		.type = DEALBOX_EV_CARD_READ, .number = 5000 + position,
		.insertion = INSERTION, .position = position, .card = card,
	};

	memset(gate, 0xa5, sizeof(*gate));
	return router_event(r, &event, gate);
}

static void assert_pocket(struct router *r, u8 position, u8 card, u8 pocket)
{
	struct wire_gate gate;

	assert_true(read_card(r, position, card, &gate));
	assert_int_equal(gate.pocket, pocket);
	assert_int_equal(gate.reason, 0);
	assert_int_equal(gate.position, position);
	assert_int_equal(gate.number, 5000 + position);
	assert_int_equal(gate.insertion, INSERTION);
	assert_int_equal(gate.first, 0);
}

static void assert_hold(struct router *r, u8 position, u8 card, u8 reason, u32 first)
{
	struct wire_gate gate;

	assert_true(read_card(r, position, card, &gate));
	assert_int_equal(gate.pocket, DEALBOX_NONE);
	assert_int_equal(gate.reason, reason);
	assert_int_equal(gate.position, position);
	assert_int_equal(gate.number, 5000 + position);
	assert_int_equal(gate.insertion, INSERTION);
	assert_int_equal(gate.first, first);
}

static void assert_silent(struct router *r, u8 position, u8 card)
{
	struct wire_gate gate;

	assert_false(read_card(r, position, card, &gate));
}

static void test_by_card(void **state)
{
	struct router r;

	(void)state;
	load(&r, DEALBOX_PLAN_BY_CARD, 52);
	start(&r);
	for (int i = 0; i < 52; i++)	/* the deck in any order */
		assert_pocket(&r, i, i * 5 % 52, (i * 5 % 52 + 1) % 4);
}

static void test_by_position(void **state)
{
	struct router r;

	(void)state;
	load(&r, DEALBOX_PLAN_BY_POSITION, 52);
	start(&r);
	for (int i = 0; i < 52; i++)	/* read, unread, and jokers alike */
		assert_pocket(&r, i, i % 2 ? DEALBOX_NONE : 53 - i, (i + 1) % 4);
	assert_hold(&r, 52, DEALBOX_NONE, DEALBOX_EV_NOT_IN_PLAN, 0);
}

static void test_capture(void **state)
{
	struct router r;

	(void)state;
	load(&r, DEALBOX_PLAN_CAPTURE, 1);
	start(&r);
	assert_pocket(&r, 0, 52, 1);
	assert_pocket(&r, 1, 3, 1);
	assert_hold(&r, 2, DEALBOX_NONE, DEALBOX_EV_NOT_IN_PLAN, 0);
	assert_hold(&r, 2, 52, DEALBOX_EV_REPEATED_CARD, 0);
}

/* For every card and every pair of positions, the second one is held. */
static void test_repeated(void **state)
{
	static const u8 modes[] = { DEALBOX_PLAN_BY_CARD, DEALBOX_PLAN_BY_POSITION };
	struct router r;

	(void)state;
	for (size_t m = 0; m < 2; m++) {
		for (int p = 0; p < 51; p++) {
			for (int q = p + 1; q < 52; q++) {
				load(&r, modes[m], 52);
				start(&r);
				assert_pocket(&r, p, p, (p + 1) % 4);
				assert_hold(&r, q, p, DEALBOX_EV_REPEATED_CARD, p);
				/* asked again: still held */
				assert_hold(&r, q, p, DEALBOX_EV_REPEATED_CARD, p);
			}
		}
	}
}

static void test_not_in_plan(void **state)
{
	struct router r;

	(void)state;
	load(&r, DEALBOX_PLAN_BY_CARD, 52);
	r.plan.pocket[20] = DEALBOX_NONE;
	start(&r);
	assert_hold(&r, 0, 20, DEALBOX_EV_NOT_IN_PLAN, 0);
	assert_hold(&r, 0, 52, DEALBOX_EV_NOT_IN_PLAN, 0);
	assert_hold(&r, 0, 54, DEALBOX_EV_NOT_IN_PLAN, 0);
	assert_hold(&r, 0, DEALBOX_NONE, DEALBOX_EV_NOT_IN_PLAN, 0);
	/* a card that was held is not routed, so it does not repeat */
	assert_hold(&r, 1, 20, DEALBOX_EV_NOT_IN_PLAN, 0);
	assert_pocket(&r, 1, 21, 2);
}

/* After GATE_LATE the machine reads the card again, at the same position. */
static void test_read_again(void **state)
{
	struct router r;

	(void)state;
	load(&r, DEALBOX_PLAN_BY_CARD, 52);
	start(&r);
	assert_pocket(&r, 0, 8, 1);
	assert_pocket(&r, 1, 9, 2);
	assert_pocket(&r, 1, 9, 2);
	/* the operator put another card there: the one before was never routed */
	assert_pocket(&r, 1, 10, 3);
	assert_pocket(&r, 2, 9, 2);
	assert_hold(&r, 3, 10, DEALBOX_EV_REPEATED_CARD, 1);
}

static void test_silent_in_doubt(void **state)
{
	struct router r;
	struct wire_gate gate;
	struct wire_event event = { .type = DEALBOX_EV_CARD_READ, .insertion = INSERTION + 1,
				    .position = 0, .card = 1 };

	(void)state;
	memset(&r, 0, sizeof(r));
	start(&r);			/* no plan */
	assert_silent(&r, 0, 1);

	load(&r, DEALBOX_PLAN_BY_CARD, 52);
	assert_silent(&r, 0, 1);	/* no deal */
	send(&r, DEALBOX_EV_DEAL_STARTED, INSERTION, PLAN + 1);
	assert_silent(&r, 0, 1);	/* another plan's */
	send(&r, DEALBOX_EV_DEAL_STARTED, INSERTION, DEALBOX_PLAN_TEST);
	assert_silent(&r, 0, 1);
	start(&r);
	assert_false(router_event(&r, &event, &gate));	/* another insertion's */
	assert_silent(&r, DEALBOX_MAX_ENTRIES, 1);
	assert_silent(&r, DEALBOX_NONE, 1);
	assert_pocket(&r, 0, 1, 2);
	router_load(&r, &r.plan);	/* a new plan ends the deal */
	assert_silent(&r, 1, 2);
}

static void test_end_of_deal(void **state)
{
	struct router r;

	(void)state;
	for (int type = 0; type < 256; type++) {
		bool ends = type == DEALBOX_EV_DEAL_DONE || type == DEALBOX_EV_ABORTED ||
			    type == DEALBOX_EV_BOARD_REMOVED ||
			    (type >= 0x28 && type <= 0x3f);

		if (type == DEALBOX_EV_CARD_READ || type == DEALBOX_EV_DEAL_STARTED ||
		    type == DEALBOX_EV_STATE_LOST)
			continue;
		load(&r, DEALBOX_PLAN_BY_CARD, 52);
		start(&r);
		assert_pocket(&r, 0, 1, 2);
		assert_false(send(&r, type, INSERTION, PLAN));
		if (!ends) {
			assert_hold(&r, 1, 1, DEALBOX_EV_REPEATED_CARD, 0);
			continue;
		}
		assert_silent(&r, 1, 2);
		for (int i = 0; i < DEALBOX_MAX_ENTRIES; i++)
			assert_int_equal(r.card_at[i], DEALBOX_NONE);
		/* the plan stays for the next copy, and knows nothing of the first */
		start(&r);
		assert_pocket(&r, 0, 1, 2);
	}
}

static void test_state_lost(void **state)
{
	static const struct router none;
	struct router r;

	(void)state;
	load(&r, DEALBOX_PLAN_BY_CARD, 52);
	start(&r);
	assert_pocket(&r, 0, 1, 2);
	assert_false(send(&r, DEALBOX_EV_STATE_LOST, 0, 2));
	assert_memory_equal(&r.plan, &none.plan, sizeof(r.plan));
	start(&r);
	assert_silent(&r, 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_card),
		cmocka_unit_test(test_by_position),
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_not_in_plan),
		cmocka_unit_test(test_read_again),
		cmocka_unit_test(test_silent_in_doubt),
		cmocka_unit_test(test_end_of_deal),
		cmocka_unit_test(test_state_lost),
	};

	return cmocka_run_group_tests_name("router", tests, NULL, NULL);
}
