// SPDX-License-Identifier: LGPL-2.1-or-later
/* Dealing at random. test_uniform.c tests the distribution. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "cards/random-internal.h"

static int broken_origin(uint8_t key[RANDOM_KEY_SIZE])
{
	memset(key, 0, RANDOM_KEY_SIZE / 2);
	return -ENOSYS;
}

static int fixed_origin(uint8_t key[RANDOM_KEY_SIZE])
{
	memset(key, 7, RANDOM_KEY_SIZE);
	return 0;
}

static struct dealbox_random *fixed_random(void)
{
	struct dealbox_random *random;

	assert_int_equal(random_new_from(fixed_origin, &random), 0);
	return random;
}

static void test_no_deals_without_entropy(void **state)
{
	struct dealbox_random *random = NULL;

	(void)state;
	assert_int_equal(random_new_from(broken_origin, &random), -ENOSYS);
	assert_null(random);
}

static void test_two_sources_differ(void **state)
{
	struct dealbox_random *random[2];
	uint8_t bytes[2][32];

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(dealbox_random_new(&random[i]), 0);
		dealbox_random_bytes(random[i], bytes[i], sizeof(bytes[i]));
		dealbox_random_free(random[i]);
	}
	assert_memory_not_equal(bytes[0], bytes[1], sizeof(bytes[0]));
}

/* Also across refills, and whatever the sizes of the requests are. */
static void test_stream_does_not_repeat(void **state)
{
	struct dealbox_random *random = fixed_random();
	static uint64_t words[8192];

	(void)state;
	for (size_t i = 0, size; i < sizeof(words); i += size) {
		size = 1 + i % 1000;
		if (size > sizeof(words) - i)
			size = sizeof(words) - i;
		dealbox_random_bytes(random, (uint8_t *)words + i, size);
	}
	for (size_t i = 0; i < 8192; i++)
		for (size_t j = 0; j < i; j++)
			assert_true(words[i] != words[j]);
	dealbox_random_free(random);
}

static void test_every_deal_is_complete(void **state)
{
	const struct dealbox_pack *const packs[] = {
		dealbox_pack_bridge(), dealbox_pack_preferans()
	};
	struct dealbox_random *random = fixed_random();

	(void)state;
	for (size_t p = 0; p < 2; p++) {
		struct dealbox_deal last = { { 0 } }, deal;

		for (int i = 0; i < 20000; i++) {
			assert_int_equal(dealbox_random_deal(random, packs[p], NULL, &deal), 0);
			assert_true(dealbox_deal_complete(&deal, packs[p]));
			assert_memory_not_equal(&deal, &last, sizeof(deal));
			last = deal;
		}
	}
	dealbox_random_free(random);
}

static void test_fixed_cards_stay(void **state)
{
	struct dealbox_random *random = fixed_random();
	struct dealbox_deal fixed, deal;

	(void)state;
	assert_int_equal(dealbox_deal_parse("N:AKQJ.AKQJ.AKQJ.A - 2.2.2.2 -", &fixed), 0);
	for (int i = 0; i < 20000; i++) {
		assert_int_equal(dealbox_random_deal(random, NULL, &fixed, &deal), 0);
		assert_true(dealbox_deal_complete(&deal, dealbox_pack_bridge()));
		assert_true(deal.hand[0] == fixed.hand[0]);
		assert_true((deal.hand[2] & fixed.hand[2]) == fixed.hand[2]);
	}
	/* a complete deal has only one completion */
	fixed = deal;
	assert_int_equal(dealbox_random_deal(random, NULL, &fixed, &deal), 0);
	assert_memory_equal(&deal, &fixed, sizeof(deal));
	dealbox_random_free(random);
}

static void test_impossible_fixed_cards(void **state)
{
	static const struct dealbox_deal impossible[] = {
		{ { 0x3fff } },				/* 14 cards */
		{ { 1, 1 } },				/* one card twice */
		{ { DEALBOX_PACK_BRIDGE + 1 } },	/* a joker */
	};
	struct dealbox_random *random = fixed_random();
	struct dealbox_deal two = { { 1 << 12 } }, deal;

	(void)state;
	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++)
		assert_int_equal(dealbox_random_deal(random, NULL, &impossible[i], &deal), -EINVAL);
	/* a two is in the pack of bridge, not of preferans */
	assert_int_equal(dealbox_random_deal(random, NULL, &two, &deal), 0);
	assert_int_equal(dealbox_random_deal(random, dealbox_pack_preferans(), &two, &deal),
			 -EINVAL);
	dealbox_random_free(random);
}

/* Four cards left: 24 ways, about equally often. The stream is fixed, so is the outcome. */
static void test_rest_is_uniform(void **state)
{
	struct dealbox_random *random = fixed_random();
	struct dealbox_deal fixed, deal;
	unsigned int count[256] = { 0 }, ways = 0;
	double chi2 = 0;
	const int n = 240000;

	(void)state;
	/* the four twos are missing, one in each hand */
	assert_int_equal(dealbox_deal_parse("N:AKQJT9876543... .AKQJT9876543.. ..AKQJT9876543. "
					    "...AKQJT9876543", &fixed), 0);
	for (int i = 0; i < n; i++) {
		unsigned int way = 0;

		assert_int_equal(dealbox_random_deal(random, NULL, &fixed, &deal), 0);
		for (unsigned int suit = 0; suit < 4; suit++)
			way = way << 2 | (unsigned int)dealbox_deal_holder(&deal, 13 * suit + 12);
		count[way]++;
	}
	for (int way = 0; way < 256; way++) {
		if (!count[way])
			continue;
		ways++;
		chi2 += (count[way] - n / 24.) * (count[way] - n / 24.) / (n / 24.);
	}
	assert_int_equal(ways, 24);
	/* chi-square with 23 degrees of freedom: 0.1 % lie above 49.7 */
	assert_true(chi2 < 49.7);
	dealbox_random_free(random);
}

/* Many deals at once are the same as one at a time, for all threads and sizes, also afterwards. */
static void test_many_are_the_same(void **state)
{
	static const unsigned int threads[] = { 0, 1, 2, 3, 8, 200 };
	static const size_t sizes[] = { 1, 3, 679, 20000, 0, 5000, 1360, 7 };
	static struct dealbox_deal one[27100], many[27100];
	struct dealbox_random *random = fixed_random();
	uint8_t byte, bytes[2][20];
	size_t total = 0;

	(void)state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		for (size_t i = 0; i < sizes[s]; i++)
			dealbox_random_deal(random, NULL, NULL, &one[total++]);
		/* so that draws are not aligned with refills */
		dealbox_random_bytes(random, &byte, 1);
	}
	dealbox_random_bytes(random, bytes[0], sizeof(bytes[0]));
	dealbox_random_free(random);
	for (size_t t = 0; t < sizeof(threads) / sizeof(threads[0]); t++) {
		struct dealbox_deal *next = many;

		memset(many, 0, sizeof(many));
		random = fixed_random();
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			dealbox_random_deals(random, next, sizes[s], threads[t]);
			next += sizes[s];
			dealbox_random_bytes(random, &byte, 1);
		}
		dealbox_random_bytes(random, bytes[1], sizeof(bytes[1]));
		dealbox_random_free(random);
		assert_int_equal(next - many, total);
		assert_memory_equal(many, one, total * sizeof(one[0]));
		assert_memory_equal(bytes[1], bytes[0], sizeof(bytes[0]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_deals_without_entropy),
		cmocka_unit_test(test_two_sources_differ),
		cmocka_unit_test(test_stream_does_not_repeat),
		cmocka_unit_test(test_every_deal_is_complete),
		cmocka_unit_test(test_many_are_the_same),
		cmocka_unit_test(test_fixed_cards_stay),
		cmocka_unit_test(test_impossible_fixed_cards),
		cmocka_unit_test(test_rest_is_uniform),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
