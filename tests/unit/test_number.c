// SPDX-License-Identifier: LGPL-2.1-or-later
/* Numbers of deals: known answers, both ends, bijections. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "cards/number-internal.h"

/* a simple generator for test numbers: SplitMix64 (S. Vigna, public domain algorithm) */
static uint64_t mix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static struct dealbox_deal deal_of(const char *text)
{
	struct dealbox_deal deal;

	assert_int_equal(dealbox_deal_parse(text, &deal), 0);
	return deal;
}

static struct dealbox_number number_of(const char *text)
{
	struct dealbox_number number;

	assert_int_equal(dealbox_number_parse(text, &number), 0);
	return number;
}

static struct dealbox_number random_number(uint64_t *seed)
{
	const uint64_t high = mix(seed);
	struct dealbox_number number;

	number_divide(number_from(high, mix(seed)), number_deals, &number);
	return number;
}

static const struct dealbox_number one = { 0, 1 };

static void assert_same(struct dealbox_number a, struct dealbox_number b)
{
	assert_int_equal(a.high, b.high);
	assert_int_equal(a.low, b.low);
}

static void test_compare(void **state)
{
	static const struct dealbox_number order[] = {
		{ 0, 0 }, { 0, 1 }, { 0, UINT64_MAX }, { 1, 0 }, { 1, 1 }, { 2, 0 },
		{ UINT64_MAX, 0 }, { UINT64_MAX, UINT64_MAX },
	};
	const int count = sizeof(order) / sizeof(order[0]);

	(void)state;
	for (int a = 0; a < count; a++)
		for (int b = 0; b < count; b++)
			assert_int_equal(dealbox_number_compare(order[a], order[b]),
					 (a > b) - (a < b));
}

/* made with the programs of the numberings' authors */
static const struct known {
	const char *deal, *bigdeal, *andrews, *pavlicek;
} known[] = {
	{ "N:Q8.4.AQT3.AQT963 AKJ43.97652.4.K8 T9652.T3.K72.J52 7.AKQJ8.J9865.74",
	  "29029292115066478884550230894", "35237628023849513825609467653",
	  "17141372350497199495278312308" },
	{ "N:754.JT2.K732.AJ6 QJ9832..A9.KQT95 6.AQ86.QJT864.82 AKT.K97543.5.743",
	  "48037836354531447855498205538", "13011579916695887503430178518",
	  "51698274095315518805612889869" },
	{ "N:JT8762.42.QJ.QJ5 K3.QT9.T7632.932 Q94.KJ.98.AKT864 A5.A87653.AK54.7",
	  "31812352928991708751046131778", NULL, NULL },
	{ "N:AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432",
	  "0", "1", "1" },
	{ "N:...AKQJT98765432 ..AKQJT98765432. .AKQJT98765432.. AKQJT98765432...",
	  "53644737765488792839237439999", "53644737765488792839237440000",
	  "53644737765488792839237440000" },
	/* "there are 84,478,098,072,866,400 deals where north has 13 spades": the next one */
	{ "N:AKQJT9876543.A.. 2.KQJT98765432.. ..AKQJT98765432. ...AKQJT98765432",
	  "84478098072866400", NULL, NULL },
};

static void test_known_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *const text[DEALBOX_NUMBERINGS] = {
			known[i].bigdeal, known[i].andrews, known[i].pavlicek
		};
		const struct dealbox_deal want = deal_of(known[i].deal);

		for (int n = 0; n < DEALBOX_NUMBERINGS; n++) {
			char printed[DEALBOX_NUMBER_TEXT];
			struct dealbox_deal deal;
			struct dealbox_number number;

			if (!text[n])
				continue;
			assert_int_equal(dealbox_number_unrank(number_of(text[n]), n, &deal), 0);
			assert_memory_equal(&deal, &want, sizeof(deal));
			assert_int_equal(dealbox_number_rank(&want, n, &number), 0);
			dealbox_number_print(number, printed, sizeof(printed));
			assert_string_equal(printed, text[n]);
		}
	}
}

static void test_no_deal_beyond_the_ends(void **state)
{
	const struct dealbox_deal before = deal_of(known[0].deal);

	(void)state;
	for (int n = 0; n < DEALBOX_NUMBERINGS; n++) {
		const struct dealbox_number first = dealbox_number_first(n);
		const struct dealbox_number last = dealbox_number_last(n);
		struct dealbox_deal deal = before;

		assert_same(number_add(number_subtract(last, first), one), number_deals);
		assert_int_equal(dealbox_number_unrank(number_add(last, one), n, &deal), -ERANGE);
		assert_int_equal(dealbox_number_unrank(number_subtract(first, one), n, &deal),
				 -ERANGE);
		assert_int_equal(dealbox_number_unrank(number_from(last.high + 1, last.low), n,
						       &deal), -ERANGE);
		assert_int_equal(dealbox_number_unrank(number_subtract(number_from(0, 0), one), n,
						       &deal), -ERANGE);
		assert_memory_equal(&deal, &before, sizeof(deal));
	}
}

static void test_only_deals_have_numbers(void **state)
{
	struct dealbox_deal deal = deal_of(known[0].deal);
	struct dealbox_number number = { 3, 7 };

	(void)state;
	assert_same(dealbox_number_first(DEALBOX_NUMBERINGS), number_from(0, 0));
	assert_same(dealbox_number_last(DEALBOX_NUMBERINGS), number_from(0, 0));
	assert_int_equal(dealbox_number_rank(&deal, DEALBOX_NUMBERINGS, &number), -EINVAL);
	assert_int_equal(dealbox_number_unrank(one, DEALBOX_NUMBERINGS, &deal), -EINVAL);
	/* a card moved: 12 and 14 */
	deal.hand[1] |= deal.hand[0] & -deal.hand[0];
	deal.hand[0] &= deal.hand[0] - 1;
	for (int n = 0; n < DEALBOX_NUMBERINGS; n++)
		assert_int_equal(dealbox_number_rank(&deal, n, &number), -EINVAL);
	assert_same(number, number_from(3, 7));
}

static void test_rank_undoes_unrank(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int n = 0; n < DEALBOX_NUMBERINGS; n++) {
		const struct dealbox_number first = dealbox_number_first(n);

		for (int i = 0; i < 200000; i++) {
			struct dealbox_number want = random_number(&seed), number;
			struct dealbox_deal deal;

			/* every fourth near an end, where carries and borrows occur */
			if (i % 4 == 0)
				want = i % 8 ? number_from(0, (uint64_t)i) :
					       number_subtract(number_deals,
							       number_from(0, 1 + (uint64_t)i));
			want = number_add(want, first);
			assert_int_equal(dealbox_number_unrank(want, n, &deal), 0);
			assert_true(dealbox_deal_complete(&deal, dealbox_pack_bridge()));
			assert_int_equal(dealbox_number_rank(&deal, n, &number), 0);
			assert_same(number, want);
		}
	}
}

static void test_numberings_differ(void **state)
{
	const struct dealbox_deal deal = deal_of(known[0].deal);
	struct dealbox_number number[DEALBOX_NUMBERINGS];

	(void)state;
	for (int n = 0; n < DEALBOX_NUMBERINGS; n++) {
		assert_int_equal(dealbox_number_rank(&deal, n, &number[n]), 0);
		assert_int_equal(dealbox_numbering_find(dealbox_numbering_name(n)), n);
	}
	assert_int_not_equal(dealbox_number_compare(number[0], number[1]), 0);
	assert_int_not_equal(dealbox_number_compare(number[1], number[2]), 0);
	assert_int_not_equal(dealbox_number_compare(number[0], number[2]), 0);
	assert_int_equal(dealbox_numbering_find("none"), -ENOENT);
	assert_string_equal(dealbox_numbering_name(DEALBOX_NUMBERINGS), "?");
}

/* Every way to divide a few cards occurs exactly once. */
static void test_small_spaces_exhaustively(void **state)
{
	static const struct {
		struct number_space space;
		unsigned int count;
	} cases[] = {
		{ { 0x8000000000401ULL | 1ULL << 30, { 1, 1, 1, 1 } }, 24 },
		{ { 0xff00, { 2, 2, 2, 2 } }, 2520 },
		{ { 0x1248012481248ULL, { 3, 0, 4, 5 } }, 27720 },
		{ { 0x1fff, { 13, 0, 0, 0 } }, 1 },
		{ { 0x3fff, { 0, 0, 1, 13 } }, 14 },
		{ { 0, { 0, 0, 0, 0 } }, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct number_space *space = &cases[i].space;
		struct dealbox_deal *seen = test_calloc(cases[i].count, sizeof(*seen));

		assert_same(number_space_count(space), number_from(0, cases[i].count));
		for (unsigned int n = 0; n < cases[i].count; n++) {
			dealbox_cards all = 0;

			number_space_unrank(space, number_from(0, n), &seen[n]);
			for (int hand = 0; hand < DEALBOX_HANDS; hand++) {
				assert_int_equal(__builtin_popcountll(seen[n].hand[hand]),
						 space->size[hand]);
				all |= seen[n].hand[hand];
			}
			assert_true(all == space->cards);
		}
		/* sorted, so that equal ones would be adjacent */
		for (unsigned int n = 1; n < cases[i].count; n++) {
			const dealbox_cards *a = seen[n - 1].hand, *b = seen[n].hand;
			int hand = 0;

			while (hand < 3 && a[hand] == b[hand])
				hand++;
			assert_true(a[hand] < b[hand]);
		}
		test_free(seen);
	}
}

static uint64_t choose(unsigned int n, unsigned int k)
{
	uint64_t ways = 1;

	for (unsigned int i = 1; i <= k; i++)
		ways = ways * (n - k + i) / i;
	return k > n ? 0 : ways;
}

/*
 * A hand's highest card changes at ranks C(p, k); around each of them the search by
 * bucket must find the right one.
 */
static void test_every_step_of_the_search(void **state)
{
	(void)state;
	for (unsigned int k = 1; k <= 13; k++) {
		const unsigned int n = 39 + k;
		const struct number_space space = {
			.cards = ((dealbox_cards)1 << n) - 1, .size = { (uint8_t)k, 13, 13, 13 }
		};
		struct dealbox_number rest, ways = number_space_count(&space);

		ways = number_divide(ways, number_from(0, choose(n, k)), &rest);

		assert_same(rest, number_from(0, 0));
		for (unsigned int p = k - 1; p < n; p++) {
			const struct dealbox_number first =
				number_multiply(number_from(0, choose(p, k)), ways);
			const struct dealbox_number after =
				number_multiply(number_from(0, choose(p + 1, k)), ways);
			const dealbox_cards lowest = ((dealbox_cards)1 << (k - 1)) - 1;
			struct dealbox_deal deal;

			number_space_unrank(&space, first, &deal);
			assert_true(deal.hand[0] == (lowest | (dealbox_cards)1 << p));
			number_space_unrank(&space, number_subtract(after, one), &deal);
			assert_true(deal.hand[0] == (((dealbox_cards)1 << k) - 1) << (p + 1 - k));
		}
	}
}

/*
 * The numbers at which the owner of a card changes: the first number of a prefix, and the one
 * before it
 */
static void test_pavlicek_boundaries(void **state)
{
	const enum dealbox_numbering numbering = DEALBOX_NUMBERING_PAVLICEK;
	uint64_t random = 7;

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct dealbox_number number = number_add(random_number(&random), one);
		struct dealbox_deal deal, again;
		struct dealbox_number before;

		assert_int_equal(dealbox_number_unrank(number, numbering, &deal), 0);
		for (int card = 51; card >= 0; card--) {
			/* the cards from this one on: North's first, then East's ... */
			const dealbox_cards prefix = (1ULL << card) - 1;
			struct dealbox_deal first;
			int next = card;

			for (int seat = 0; seat < DEALBOX_HANDS; seat++) {
				first.hand[seat] = deal.hand[seat] & prefix;
				for (int n = __builtin_popcountll(first.hand[seat]); n < 13; n++)
					first.hand[seat] |= 1ULL << next++;
			}
			assert_int_equal(dealbox_number_rank(&first, numbering, &number), 0);
			assert_int_equal(dealbox_number_unrank(number, numbering, &again), 0);
			assert_memory_equal(&again, &first, sizeof(first));
			if (!dealbox_number_compare(number, one))
				continue;
			number = number_subtract(number, one);
			assert_int_equal(dealbox_number_unrank(number, numbering, &again), 0);
			assert_int_equal(dealbox_number_rank(&again, numbering, &before), 0);
			assert_same(before, number);
		}
	}
}

/* All ways to give out the first four cards, and the last seven: they come from tables */
static void test_pavlicek_first_and_last_cards(void **state)
{
	const enum dealbox_numbering numbering = DEALBOX_NUMBERING_PAVLICEK;

	(void)state;
	for (unsigned int way = 0; way < 256 + 16384; way++) {
		const bool first = way < 256;
		const unsigned int cards = first ? 4 : 7, start = first ? 0 : DEALBOX_CARDS - 7;
		const dealbox_cards fixed = ((1ULL << cards) - 1) << start;
		dealbox_cards left = DEALBOX_PACK_BRIDGE & ~fixed;
		struct dealbox_deal deal = { 0 }, again;
		struct dealbox_number number;

		for (unsigned int n = 0; n < cards; n++)
			deal.hand[way >> 2 * n & 3] |= 1ULL << (start + n);
		for (int hand = 0; hand < DEALBOX_HANDS; hand++)
			while (__builtin_popcountll(deal.hand[hand]) < 13) {
				deal.hand[hand] |= left & -left;
				left &= left - 1;
			}
		assert_int_equal(dealbox_number_rank(&deal, numbering, &number), 0);
		assert_int_equal(dealbox_number_unrank(number, numbering, &again), 0);
		assert_memory_equal(&again, &deal, sizeof(deal));
		/* the number before, which may have other first cards */
		if (!dealbox_number_compare(number, one))
			continue;
		number = number_subtract(number, one);
		assert_int_equal(dealbox_number_unrank(number, numbering, &again), 0);
		assert_int_equal(dealbox_number_rank(&again, numbering, &number), 0);
		number = number_add(number, one);
		assert_int_equal(dealbox_number_unrank(number, numbering, &again), 0);
		assert_memory_equal(&again, &deal, sizeof(deal));
	}
}

/* The bound on the rounding of Pavlicek's unrank, with the deals that n cards have at most */
static void test_pavlicek_rounding(void **state)
{
	double ways = 1, deals = 0;

	(void)state;
	for (int left = 1; left <= 32; left++) {
		/* the seat that gets one more card has then (left + 3) / 4 */
		ways = ways * left / ((left + 3) / 4);
		deals += (left < 32 ? 16 : 1) * ways / left / (double)(1ULL << 57);
	}
	assert_true(deals < 0.15);
}

static void test_text(void **state)
{
	static const char *const wrong[] = {
		"", " 1", "1 ", "+1", "-1", "0x1", "1e3", "12,34", ",123", "1,,234", "123,",
		"1234,567", "12.345",
	};
	struct dealbox_number number = { 3, 7 };
	char text[4];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(dealbox_number_parse(wrong[i], &number), -EINVAL);
	assert_int_equal(dealbox_number_parse("340282366920938463463374607431768211456", &number),
			 -ERANGE);
	assert_int_equal(dealbox_number_parse("340282366920938463463374607431768211460", &number),
			 -ERANGE);
	assert_int_equal(dealbox_number_parse("999999999999999999999999999999999999999", &number),
			 -ERANGE);
	assert_int_equal(dealbox_number_parse("9999999999999999999999999999999999999999", &number),
			 -ERANGE);
	assert_same(number, number_from(3, 7));
	assert_same(number_of("340282366920938463463374607431768211455"),
		    number_from(UINT64_MAX, UINT64_MAX));
	assert_same(number_of("53,644,737,765,488,792,839,237,440,000"), number_deals);
	assert_same(number_of("18446744073709551616"), number_from(1, 0));
	assert_same(number_of("1,234"), number_from(0, 1234));
	assert_int_equal(dealbox_number_print(number_from(0, 12345), text, sizeof(text)), 5);
	assert_string_equal(text, "123");
	assert_int_equal(dealbox_number_print(number_from(0, 0), text, sizeof(text)), 1);
	assert_string_equal(text, "0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_known_answers),
		cmocka_unit_test(test_no_deal_beyond_the_ends),
		cmocka_unit_test(test_only_deals_have_numbers),
		cmocka_unit_test(test_rank_undoes_unrank),
		cmocka_unit_test(test_numberings_differ),
		cmocka_unit_test(test_small_spaces_exhaustively),
		cmocka_unit_test(test_every_step_of_the_search),
		cmocka_unit_test(test_pavlicek_boundaries),
		cmocka_unit_test(test_pavlicek_first_and_last_cards),
		cmocka_unit_test(test_pavlicek_rounding),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
