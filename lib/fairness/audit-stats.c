// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counting deals, and the exact expectations.
 */
#include "audit-stats.h"

#include <math.h>
#include <string.h>

#define SUIT_CARDS	13
#define EXPECTED_MIN	5.0	/* smaller cells are merged: the usual rule */
#define DEALS_MIN	100	/* for the normal approximation of sums */

/* Maps four lengths to one of the 39 patterns, independent of their order. */
static unsigned int shape_key(const unsigned int length[4])
{
	unsigned int key = 0;

	for (int i = 0; i < 4; i++)
		key += length[i] * length[i] * length[i] / 3;
	return key;
}

static double choose(unsigned int n, unsigned int k)
{
	double ways = 1;

	if (k > n)
		return 0;
	for (unsigned int i = 1; i <= k; i++)
		ways = ways * (n - k + i) / i;
	return ways;
}

void audit_stats_init(struct audit_stats *stats)
{
	unsigned int count = 0, length[4];

	memset(stats, 0, sizeof(*stats));
	/* the same patterns for the suits of a hand and for the hands of a suit */
	for (length[0] = 4; length[0] <= SUIT_CARDS; length[0]++)
	for (length[1] = 0; length[1] <= length[0]; length[1]++)
	for (length[2] = 0; length[2] <= length[1]; length[2]++) {
		const unsigned int three = length[0] + length[1] + length[2];
		double probability = 24 / choose(DEALBOX_CARDS, SUIT_CARDS);
		unsigned int alike = 1;

		if (three > SUIT_CARDS || SUIT_CARDS - three > length[2])
			continue;
		length[3] = SUIT_CARDS - three;
		for (int i = 0; i < 4; i++) {
			probability *= choose(SUIT_CARDS, length[i]);
			/* equal lengths have fewer than 24 orders */
			alike = i && length[i] == length[i - 1] ? alike + 1 : 1;
			probability /= alike;
		}
		stats->shape_index[shape_key(length)] = (uint8_t)count;
		stats->shape_probability[count++] = probability;
	}
}

/* -- counting --------------------------------------------------------------- */

static unsigned int count_of(dealbox_cards cards)
{
	return (unsigned int)__builtin_popcountll(cards);
}

/* Card n of each suit */
#define EACH_SUIT(n)	(0x0000008004002001ULL << (n))

static unsigned int points_of(dealbox_cards hand)
{
	return 4 * count_of(hand & EACH_SUIT(0)) + 3 * count_of(hand & EACH_SUIT(1)) +
	       2 * count_of(hand & EACH_SUIT(2)) + count_of(hand & EACH_SUIT(3));
}

void audit_stats_add(struct audit_stats *stats, const struct dealbox_deal *deal)
{
	unsigned int length[4][4];	/* by suit and seat */
	double north_south;

	stats->deals++;
	for (unsigned int seat = 0; seat < DEALBOX_HANDS; seat++) {
		const dealbox_cards hand = deal->hand[seat];
		unsigned int of_hand[4];

		for (dealbox_cards left = hand; left; left &= left - 1)
			stats->card_seat[__builtin_ctzll(left)][seat]++;
		for (unsigned int suit = 0; suit < 4; suit++)
			of_hand[suit] = length[suit][seat] =
				count_of(hand >> SUIT_CARDS * suit & 0x1fff);
		stats->shape[seat][stats->shape_index[shape_key(of_hand)]]++;
		stats->points[seat][points_of(hand)]++;
	}
	for (unsigned int suit = 0; suit < 4; suit++)
		stats->split[suit][stats->shape_index[shape_key(length[suit])]]++;

	for (unsigned int lag = 0; lag < STATS_LAGS && lag < stats->in_set; lag++) {
		const struct dealbox_deal *before =
			&stats->last[(stats->in_set - 1 - lag) % STATS_LAGS];

		for (unsigned int seat = 0; seat < DEALBOX_HANDS; seat++)
			stats->same[lag] += count_of(deal->hand[seat] & before->hand[seat]);
		stats->pairs[lag]++;
	}
	north_south =
		points_of(deal->hand[DEALBOX_NORTH]) + points_of(deal->hand[DEALBOX_SOUTH]) - 20.0;
	stats->set_points += north_south;
	stats->set_moment += north_south * stats->in_set;
	stats->last[stats->in_set++ % STATS_LAGS] = *deal;
}

void audit_stats_end_set(struct audit_stats *stats)
{
	/* honour points of 26 cards drawn from the pack: sum of squares 120, sum 40 */
	const double card = 120.0 / 52 - (40.0 / 52) * (40.0 / 52);
	const double variance = 26 * card * (52 - 26) / 51;
	const double n = (double)stats->in_set;

	/* the moment about the middle of the set, and its variance */
	stats->trend += stats->set_moment - (n - 1) / 2 * stats->set_points;
	stats->trend_variance += variance * n * (n * n - 1) / 12;
	stats->in_set = 0;
	stats->set_points = 0;
	stats->set_moment = 0;
	memset(stats->last, 0, sizeof(stats->last));
}

/* -- probabilities ---------------------------------------------------------- */

/*
 * The incomplete gamma function, by its series below a + 1 and by its continued fraction
 * (modified Lentz) above (Abramowitz and Stegun 6.5.29, 6.5.31).
 */
double audit_chi_square_above(double x, unsigned int degrees)
{
	const double a = degrees / 2.0, tiny = 1e-300;
	const double front = x > 0 ? exp(a * log(x / 2) - x / 2 - lgamma(a)) : 0;

	x /= 2;
	if (x <= 0)
		return 1;
	if (x < a + 1) {
		double term = 1 / a, sum = term;

		for (double n = a + 1; term > sum * 1e-16; n++)
			sum += term *= x / n;
		return 1 - front * sum;
	}
	double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;

	for (int i = 1; i < 100000; i++) {
		const double an = -i * (i - a);
		double step;

		b += 2;
		d = an * d + b;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = b + an / c;
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		h *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return front * h;
}

static void test_chi_square(struct dealbox_audit_test *test, double statistic, unsigned int degrees)
{
	const double above = audit_chi_square_above(statistic, degrees);

	test->enough = true;
	test->statistic = statistic;
	test->degrees = degrees;
	/* too even is as suspicious as too uneven */
	test->p = fmin(1, 2 * fmin(above, 1 - above));
}

static void test_normal(struct dealbox_audit_test *test, double deviate)
{
	test->enough = true;
	test->statistic = deviate;
	test->p = erfc(fabs(deviate) / sqrt(2));
}

/*
 * Compares counts with probabilities; merges neighbouring cells until the expectation is large
 * enough.
 */
static void test_counts(struct dealbox_audit_test *test, const uint64_t *counts,
			const double *probabilities, unsigned int cells, uint64_t deals)
{
	double observed[STATS_SHAPES], expected[STATS_SHAPES], statistic = 0;
	unsigned int merged = 0;

	observed[0] = expected[0] = 0;
	for (unsigned int i = 0; i < cells; i++) {
		if (expected[merged] >= EXPECTED_MIN) {
			merged++;
			observed[merged] = expected[merged] = 0;
		}
		observed[merged] += (double)counts[i];
		expected[merged] += probabilities[i] * (double)deals;
	}
	/* the remainder at the end joins the cell before it */
	if (merged && expected[merged] < EXPECTED_MIN) {
		observed[merged - 1] += observed[merged];
		expected[merged - 1] += expected[merged];
		merged--;
	}
	if (merged < 2)
		return;
	for (unsigned int i = 0; i <= merged; i++)
		statistic +=
			(observed[i] - expected[i]) * (observed[i] - expected[i]) / expected[i];
	test_chi_square(test, statistic, merged);
}

/* -- the tests -------------------------------------------------------------- */

static void test_card_seat(struct dealbox_audit_test *test, const struct audit_stats *stats)
{
	const double expected = (double)stats->deals / 4;
	double statistic = 0;

	if (stats->deals < DEALS_MIN)
		return;
	for (unsigned int card = 0; card < DEALBOX_CARDS; card++)
		for (unsigned int seat = 0; seat < DEALBOX_HANDS; seat++) {
			const double off = (double)stats->card_seat[card][seat] - expected;

			statistic += off * off / expected;
		}
	/* each hand gets exactly 13 cards, so the cards' seats are not independent */
	test_chi_square(test, statistic * 51 / 52, 51 * 3);
}

/* Honour points of a hand: the number of ways for each total */
static void points_make(double probabilities[STATS_POINTS])
{
	memset(probabilities, 0, STATS_POINTS * sizeof(*probabilities));
	for (unsigned int a = 0; a <= 4; a++)
	for (unsigned int k = 0; k <= 4; k++)
	for (unsigned int q = 0; q <= 4; q++)
	for (unsigned int j = 0; j <= 4; j++) {
		const unsigned int honours = a + k + q + j;

		if (honours > SUIT_CARDS)
			continue;
		probabilities[4 * a + 3 * k + 2 * q + j] +=
			choose(4, a) * choose(4, k) * choose(4, q) * choose(4, j) *
			choose(36, SUIT_CARDS - honours) / choose(DEALBOX_CARDS, SUIT_CARDS);
	}
}

/*
 * Cards at the same seat as in another deal: 13 on average. The variance is the sum of squared
 * covariances of "card c is at seat s" over all pairs: (52/51)^2 * 51 * 3/16.
 */
static void test_same(struct dealbox_audit_test *test, uint64_t same, uint64_t pairs)
{
	const double variance = 52.0 * 52 / 51 * 3 / 16;

	if (pairs >= DEALS_MIN)
		test_normal(test,
			    ((double)same - 13.0 * (double)pairs) / sqrt(variance * (double)pairs));
}

static void test_trend(struct dealbox_audit_test *test, const struct audit_stats *stats)
{
	if (stats->deals >= DEALS_MIN && stats->trend_variance > 0)
		test_normal(test, stats->trend / sqrt(stats->trend_variance));
}

/* Holm: the smallest p times the number of tests, the next times one less, never decreasing. */
static void correct(struct dealbox_audit_test *tests, size_t count)
{
	double reached = 0;
	size_t left = 0;

	for (size_t i = 0; i < count; i++)
		left += tests[i].enough;
	for (;; left--) {
		struct dealbox_audit_test *least = NULL;

		for (size_t i = 0; i < count; i++)
			if (tests[i].enough && tests[i].corrected < 0 &&
			    (!least || tests[i].p < least->p))
				least = &tests[i];
		if (!least)
			return;
		reached = fmax(reached, fmin(1, least->p * (double)left));
		least->corrected = reached;
	}
}

void audit_stats_test(const struct audit_stats *stats,
		      struct dealbox_audit_test tests[AUDIT_TESTS])
{
	static const char *const names[AUDIT_TESTS][2] = {
		{ "card-seat", "which seat each card goes to" },
		{ "shapes-north", "hand shapes, North" },
		{ "shapes-east", "hand shapes, East" },
		{ "shapes-south", "hand shapes, South" },
		{ "shapes-west", "hand shapes, West" },
		{ "splits-spades", "how spades lie" },
		{ "splits-hearts", "how hearts lie" },
		{ "splits-diamonds", "how diamonds lie" },
		{ "splits-clubs", "how clubs lie" },
		{ "points-north", "honour points, North" },
		{ "points-east", "honour points, East" },
		{ "points-south", "honour points, South" },
		{ "points-west", "honour points, West" },
		{ "same-1", "cards at the same seat as in the deal before" },
		{ "same-2", "cards at the same seat as two deals before" },
		{ "same-3", "cards at the same seat as three deals before" },
		{ "same-4", "cards at the same seat as four deals before" },
		{ "trend", "honour points of North and South by place in the set" },
	};
	double points_probability[STATS_POINTS];

	memset(tests, 0, AUDIT_TESTS * sizeof(*tests));
	for (size_t i = 0; i < AUDIT_TESTS; i++) {
		tests[i].name = names[i][0];
		tests[i].what = names[i][1];
		tests[i].corrected = -1;
	}
	points_make(points_probability);

	test_card_seat(&tests[0], stats);
	for (unsigned int i = 0; i < 4; i++) {
		test_counts(&tests[1 + i], stats->shape[i], stats->shape_probability, STATS_SHAPES,
			    stats->deals);
		test_counts(&tests[5 + i], stats->split[i], stats->shape_probability, STATS_SHAPES,
			    stats->deals);
		test_counts(&tests[9 + i], stats->points[i], points_probability, STATS_POINTS,
			    stats->deals);
		test_same(&tests[13 + i], stats->same[i], stats->pairs[i]);
	}
	test_trend(&tests[17], stats);
	correct(tests, AUDIT_TESTS);
	for (size_t i = 0; i < AUDIT_TESTS; i++)
		if (!tests[i].enough)
			tests[i].corrected = 0;
}
