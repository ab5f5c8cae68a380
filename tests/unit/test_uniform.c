// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The distribution of ten million deals. The keys are fixed, and so is the outcome; the bounds are
 * those of an audit. Slow.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/bigdeal.h>

#include "fairness/audit-stats.h"
#include "cards/number-internal.h"
#include "cards/random-internal.h"

#define DEALS	10000000
#define SET	32

static int fixed_origin(uint8_t key[RANDOM_KEY_SIZE])
{
	for (unsigned int i = 0; i < RANDOM_KEY_SIZE; i++)
		key[i] = (uint8_t)i;
	return 0;
}

/* Return the least corrected p of that many deals. */
static double least_p(void (*deal_make)(void *context, struct dealbox_deal *deal), void *context,
		      unsigned int deals)
{
	static struct audit_stats stats;
	struct dealbox_audit_test tests[AUDIT_TESTS];
	double least = 1;

	audit_stats_init(&stats);
	for (unsigned int i = 0; i < deals; i++) {
		struct dealbox_deal deal;

		deal_make(context, &deal);
		audit_stats_add(&stats, &deal);
		if (i % SET == SET - 1)
			audit_stats_end_set(&stats);
	}
	audit_stats_test(&stats, tests);
	for (size_t i = 0; i < AUDIT_TESTS; i++) {
		assert_true(tests[i].enough);
		print_message("# %-16s %10.3f  %3u degrees  p %.4f\n", tests[i].name,
			      tests[i].statistic, tests[i].degrees, tests[i].p);
		if (tests[i].corrected < least)
			least = tests[i].corrected;
	}
	return least;
}

static void deal_random(void *context, struct dealbox_deal *deal)
{
	assert_int_equal(dealbox_random_deal(context, NULL, NULL, deal), 0);
}

static void test_ten_million_deals(void **state)
{
	struct dealbox_random *random;

	(void)state;
	assert_int_equal(random_new_from(fixed_origin, &random), 0);
	assert_true(least_p(deal_random, random, DEALS) > 0.01);
	dealbox_random_free(random);
}

static void deal_bigdeal(void *context, struct dealbox_deal *deal)
{
	assert_int_equal(dealbox_bigdeal_deal(context, deal), 0);
}

static void test_a_million_like_big_deal(void **state)
{
	struct dealbox_bigdeal *bigdeal;

	(void)state;
	assert_int_equal(dealbox_bigdeal_new("owner", 5, "entropy", 7, &bigdeal), 0);
	assert_true(least_p(deal_bigdeal, bigdeal, DEALS / 10) > 0.01);
	dealbox_bigdeal_free(bigdeal);
}

/* A usual mistake: numbers beyond the last deal are wrapped round instead of drawn again. */
static void deal_wrapped(void *context, struct dealbox_deal *deal)
{
	struct dealbox_number number;
	uint64_t words[2] = { 0 };

	dealbox_random_bytes(context, words, 12);
	number_divide(number_from(words[1], words[0]), number_deals, &number);
	number_bigdeal_unrank(number, deal);
}

/* A naive shuffle: exchanges each card with any card instead of one of the remaining ones. */
static void deal_naive_shuffle(void *context, struct dealbox_deal *deal)
{
	uint8_t deck[DEALBOX_CARDS];
	uint32_t draw;

	memset(deal, 0, sizeof(*deal));
	for (unsigned int i = 0; i < DEALBOX_CARDS; i++)
		deck[i] = (uint8_t)i;
	for (unsigned int i = 0; i < DEALBOX_CARDS; i++) {
		uint8_t card = deck[i];

		dealbox_random_bytes(context, &draw, sizeof(draw));
		deck[i] = deck[draw % DEALBOX_CARDS];
		deck[draw % DEALBOX_CARDS] = card;
	}
	for (unsigned int i = 0; i < DEALBOX_CARDS; i++)
		deal->hand[i % DEALBOX_HANDS] |= (dealbox_cards)1 << deck[i];
}

static void test_known_mistakes_show(void **state)
{
	struct dealbox_random *random;

	(void)state;
	assert_int_equal(random_new_from(fixed_origin, &random), 0);
	assert_true(least_p(deal_wrapped, random, DEALS / 100) < 1e-6);
	assert_true(least_p(deal_naive_shuffle, random, DEALS / 10) < 1e-6);
	dealbox_random_free(random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ten_million_deals),
		cmocka_unit_test(test_a_million_like_big_deal),
		cmocka_unit_test(test_known_mistakes_show),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
