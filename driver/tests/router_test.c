// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * router.c: the pocket of each card, repeated cards, and events without an
 * answer.
 */
#include <kunit/test.h>

#include "router.h"

#define PLAN		77
#define INSERTION	1001

static void load(struct router *r, u8 mode, u8 entries)
{
	struct wire_plan plan = { .plan_id = PLAN, .mode = mode, .entries = entries };

	for (int i = 0; i < entries; i++)
		plan.pocket[i] = (i + 1) % 4;
	dealbox_count_plan(&plan);
	memset(r, 0, sizeof(*r));
	dealbox_router_load(r, &plan);
}

static bool send(struct router *r, u8 type, u32 insertion, u32 code)
{
	struct wire_event event = { .type = type, .insertion = insertion, .code = code };
	struct wire_gate gate;

	return dealbox_router_event(r, &event, &gate);
}

static void start(struct kunit *test, struct router *r)
{
	KUNIT_ASSERT_FALSE(test, send(r, DEALBOX_EV_DEAL_STARTED, INSERTION, PLAN));
}

static bool read_card(struct router *r, u8 position, u8 card, struct wire_gate *gate)
{
	struct wire_event event = {
		.type = DEALBOX_EV_CARD_READ, .number = 5000 + position,
		.insertion = INSERTION, .position = position, .card = card,
	};

	memset(gate, 0xa5, sizeof(*gate));
	return dealbox_router_event(r, &event, gate);
}

static void assert_pocket(struct kunit *test, struct router *r, u8 position, u8 card, u8 pocket)
{
	struct wire_gate gate;

	KUNIT_ASSERT_TRUE(test, read_card(r, position, card, &gate));
	KUNIT_ASSERT_EQ(test, gate.pocket, pocket);
	KUNIT_ASSERT_EQ(test, gate.reason, 0);
	KUNIT_ASSERT_EQ(test, gate.position, position);
	KUNIT_ASSERT_EQ(test, gate.number, 5000 + position);
	KUNIT_ASSERT_EQ(test, gate.insertion, INSERTION);
	KUNIT_ASSERT_EQ(test, gate.first, 0);
}

static void assert_hold(struct kunit *test, struct router *r, u8 position, u8 card,
			u8 reason, u32 first)
{
	struct wire_gate gate;

	KUNIT_ASSERT_TRUE(test, read_card(r, position, card, &gate));
	KUNIT_ASSERT_EQ(test, gate.pocket, DEALBOX_NONE);
	KUNIT_ASSERT_EQ(test, gate.reason, reason);
	KUNIT_ASSERT_EQ(test, gate.position, position);
	KUNIT_ASSERT_EQ(test, gate.number, 5000 + position);
	KUNIT_ASSERT_EQ(test, gate.insertion, INSERTION);
	KUNIT_ASSERT_EQ(test, gate.first, first);
}

static void assert_silent(struct kunit *test, struct router *r, u8 position, u8 card)
{
	struct wire_gate gate;

	KUNIT_ASSERT_FALSE(test, read_card(r, position, card, &gate));
}

static void test_by_card(struct kunit *test)
{
	struct router r;

	load(&r, DEALBOX_PLAN_BY_CARD, 52);
	start(test, &r);
	for (int i = 0; i < 52; i++)	/* a deck in another order */
		assert_pocket(test, &r, i, i * 5 % 52, (i * 5 % 52 + 1) % 4);
}

static void test_by_position(struct kunit *test)
{
	struct router r;

	load(&r, DEALBOX_PLAN_BY_POSITION, 52);
	start(test, &r);
	for (int i = 0; i < 52; i++)	/* with jokers and unread cards */
		assert_pocket(test, &r, i, i % 2 ? DEALBOX_NONE : 53 - i, (i + 1) % 4);
	assert_hold(test, &r, 52, DEALBOX_NONE, DEALBOX_EV_NOT_IN_PLAN, 0);
}

static void test_capture(struct kunit *test)
{
	struct router r;

	load(&r, DEALBOX_PLAN_CAPTURE, 1);
	start(test, &r);
	assert_pocket(test, &r, 0, 52, 1);
	assert_pocket(test, &r, 1, 3, 1);
	assert_hold(test, &r, 2, DEALBOX_NONE, DEALBOX_EV_NOT_IN_PLAN, 0);
	assert_hold(test, &r, 2, 52, DEALBOX_EV_REPEATED_CARD, 0);
}

/* For every card and every pair of positions, the second reading is held. */
static void test_repeated(struct kunit *test)
{
	static const u8 modes[] = { DEALBOX_PLAN_BY_CARD, DEALBOX_PLAN_BY_POSITION };
	struct router r;

	for (size_t m = 0; m < 2; m++) {
		for (int p = 0; p < 51; p++) {
			for (int q = p + 1; q < 52; q++) {
				load(&r, modes[m], 52);
				start(test, &r);
				assert_pocket(test, &r, p, p, (p + 1) % 4);
				assert_hold(test, &r, q, p, DEALBOX_EV_REPEATED_CARD, p);
				/* still held when the machine asks again */
				assert_hold(test, &r, q, p, DEALBOX_EV_REPEATED_CARD, p);
			}
		}
	}
}

static void test_not_in_plan(struct kunit *test)
{
	struct router r;

	load(&r, DEALBOX_PLAN_BY_CARD, 52);
	r.plan.pocket[20] = DEALBOX_NONE;
	start(test, &r);
	assert_hold(test, &r, 0, 20, DEALBOX_EV_NOT_IN_PLAN, 0);
	assert_hold(test, &r, 0, 52, DEALBOX_EV_NOT_IN_PLAN, 0);
	assert_hold(test, &r, 0, 54, DEALBOX_EV_NOT_IN_PLAN, 0);
	assert_hold(test, &r, 0, DEALBOX_NONE, DEALBOX_EV_NOT_IN_PLAN, 0);
	/* A held card was not routed, so its next reading is no repetition. */
	assert_hold(test, &r, 1, 20, DEALBOX_EV_NOT_IN_PLAN, 0);
	assert_pocket(test, &r, 1, 21, 2);
}

/* A reading of quality 1..49 counts as none, even where it names a card. */
static void test_quality(struct kunit *test)
{
	static const struct {
		u8 mode, quality;
		bool pocket, counts;
	} rows[] = {
		{ DEALBOX_PLAN_BY_CARD, 0, true, true },
		{ DEALBOX_PLAN_BY_CARD, 1, false, false },
		{ DEALBOX_PLAN_BY_CARD, 49, false, false },
		{ DEALBOX_PLAN_BY_CARD, 50, true, true },
		{ DEALBOX_PLAN_BY_CARD, 100, true, true },
		{ DEALBOX_PLAN_BY_CARD, DEALBOX_NONE, true, true },
		{ DEALBOX_PLAN_CAPTURE, 1, false, false },
		{ DEALBOX_PLAN_CAPTURE, 49, false, false },
		{ DEALBOX_PLAN_CAPTURE, 50, true, true },
		/* by position, its pocket does not depend on it */
		{ DEALBOX_PLAN_BY_POSITION, 1, true, false },
		{ DEALBOX_PLAN_BY_POSITION, 49, true, false },
		{ DEALBOX_PLAN_BY_POSITION, 50, true, true },
	};
	struct wire_event event = {
		.type = DEALBOX_EV_CARD_READ, .insertion = INSERTION, .position = 7, .card = 7,
	};
	struct wire_gate gate;
	struct router r;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		load(&r, rows[i].mode, rows[i].mode == DEALBOX_PLAN_CAPTURE ? 1 : 52);
		start(test, &r);
		event.quality = rows[i].quality;
		KUNIT_ASSERT_TRUE(test, dealbox_router_event(&r, &event, &gate));
		KUNIT_ASSERT_EQ(test, gate.pocket != DEALBOX_NONE, rows[i].pocket);
		KUNIT_ASSERT_EQ(test, gate.reason,
				rows[i].pocket ? 0 : DEALBOX_EV_NOT_IN_PLAN);
		/* the card, read well this time, at the next position */
		KUNIT_ASSERT_TRUE(test, read_card(&r, 8, 7, &gate));
		KUNIT_ASSERT_EQ(test, gate.reason,
				rows[i].counts ? DEALBOX_EV_REPEATED_CARD : 0);
	}
}

/* After GATE_LATE, the machine rereads the card at the same position. */
static void test_read_again(struct kunit *test)
{
	struct router r;

	load(&r, DEALBOX_PLAN_BY_CARD, 52);
	start(test, &r);
	assert_pocket(test, &r, 0, 8, 1);
	assert_pocket(test, &r, 1, 9, 2);
	assert_pocket(test, &r, 1, 9, 2);
	/* The operator exchanged the card: the one before was never routed. */
	assert_pocket(test, &r, 1, 10, 3);
	assert_pocket(test, &r, 2, 9, 2);
	assert_hold(test, &r, 3, 10, DEALBOX_EV_REPEATED_CARD, 1);
	/*
	 * Reread as a card that was routed before: hold it, forget the first
	 * reading.
	 */
	assert_pocket(test, &r, 3, 11, 0);
	assert_hold(test, &r, 3, 10, DEALBOX_EV_REPEATED_CARD, 1);
	assert_pocket(test, &r, 4, 11, 0);
}

static void test_silent_in_doubt(struct kunit *test)
{
	struct router r;
	struct wire_gate gate;
	struct wire_event event = { .type = DEALBOX_EV_CARD_READ, .insertion = INSERTION + 1,
				    .position = 0, .card = 1 };

	memset(&r, 0, sizeof(r));
	start(test, &r);			/* no plan */
	assert_silent(test, &r, 0, 1);

	load(&r, DEALBOX_PLAN_BY_CARD, 52);
	assert_silent(test, &r, 0, 1);	/* no deal */
	for (u32 insertion = 0; insertion < 2; insertion++) {
		event.insertion = insertion;
		KUNIT_ASSERT_FALSE(test, dealbox_router_event(&r, &event, &gate));
	}
	event.insertion = INSERTION + 1;
	send(&r, DEALBOX_EV_DEAL_STARTED, INSERTION, PLAN + 1);
	assert_silent(test, &r, 0, 1);	/* deal of another plan */
	send(&r, DEALBOX_EV_DEAL_STARTED, INSERTION, DEALBOX_PLAN_TEST);
	assert_silent(test, &r, 0, 1);
	start(test, &r);
	/* another insertion */
	KUNIT_ASSERT_FALSE(test, dealbox_router_event(&r, &event, &gate));
	assert_silent(test, &r, DEALBOX_MAX_ENTRIES, 1);
	assert_silent(test, &r, DEALBOX_NONE, 1);
	assert_pocket(test, &r, 0, 1, 2);
	dealbox_router_load(&r, &r.plan);	/* a new plan ends the deal */
	assert_silent(test, &r, 1, 2);
	start(test, &r);
	assert_pocket(test, &r, 0, 1, 2);
	/* so does another deal */
	send(&r, DEALBOX_EV_DEAL_STARTED, INSERTION, PLAN + 1);
	assert_silent(test, &r, 1, 2);
}

static void test_end_of_deal(struct kunit *test)
{
	struct router r;

	for (int type = 0; type < 256; type++) {
		bool ends = type == DEALBOX_EV_DEAL_DONE || type == DEALBOX_EV_ABORTED ||
			    type == DEALBOX_EV_BOARD_REMOVED ||
			    (type >= 0x28 && type <= 0x3f);

		if (type == DEALBOX_EV_CARD_READ || type == DEALBOX_EV_DEAL_STARTED ||
		    type == DEALBOX_EV_STATE_LOST)
			continue;
		load(&r, DEALBOX_PLAN_BY_CARD, 52);
		start(test, &r);
		assert_pocket(test, &r, 0, 1, 2);
		KUNIT_ASSERT_FALSE(test, send(&r, type, INSERTION, PLAN));
		if (!ends) {
			assert_hold(test, &r, 1, 1, DEALBOX_EV_REPEATED_CARD, 0);
			continue;
		}
		assert_silent(test, &r, 1, 2);
		for (int i = 0; i < DEALBOX_MAX_ENTRIES; i++)
			KUNIT_ASSERT_EQ(test, r.card_at[i], DEALBOX_NONE);
		/*
		 * The plan stays for the next copy, without the cards of this
		 * one.
		 */
		start(test, &r);
		assert_pocket(test, &r, 0, 1, 2);
	}
}

static void test_state_lost(struct kunit *test)
{
	static const struct router none;
	struct router r;

	load(&r, DEALBOX_PLAN_BY_CARD, 52);
	start(test, &r);
	assert_pocket(test, &r, 0, 1, 2);
	KUNIT_ASSERT_FALSE(test, send(&r, DEALBOX_EV_STATE_LOST, 0, 2));
	KUNIT_ASSERT_MEMEQ(test, &r.plan, &none.plan, sizeof(r.plan));
	start(test, &r);
	assert_silent(test, &r, 0, 1);
}

static struct kunit_case router_cases[] = {
	KUNIT_CASE(test_by_card),
	KUNIT_CASE(test_by_position),
	KUNIT_CASE(test_capture),
	KUNIT_CASE(test_repeated),
	KUNIT_CASE(test_not_in_plan),
	KUNIT_CASE(test_quality),
	KUNIT_CASE(test_read_again),
	KUNIT_CASE(test_silent_in_doubt),
	KUNIT_CASE(test_end_of_deal),
	KUNIT_CASE(test_state_lost),
	{ }
};

static struct kunit_suite router_suite = {
	.name = "dealbox_router",
	.test_cases = router_cases,
};

kunit_test_suite(router_suite);
