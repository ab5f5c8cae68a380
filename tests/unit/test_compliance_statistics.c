// SPDX-License-Identifier: LGPL-2.1-or-later
/* The statistics of acceptance: published values, and error rates of simulated machines. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "statistics.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static void assert_near(double value, double expected, double margin)
{
	if (!(fabs(value - expected) <= margin))
		fail_msg("%.12g, not %.12g", value, expected);
}

/* splitmix64, for seeded simulations */
static double uniform(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static uint64_t errors_of(uint64_t *state, double rate, uint64_t trials)
{
	uint64_t errors = 0;

	for (uint64_t i = 0; i < trials; i++)
		errors += uniform(state) < rate;
	return errors;
}

/* P(X >= k) of a binomial distribution is I_p(k, n - k + 1) */
static void test_beta_is_the_binomial_tail(void **state)
{
	static const double rates[] = { 1e-6, 0.001, 0.1, 0.5, 0.77, 0.999 };
	static const unsigned int sizes[] = { 1, 2, 17, 60, 10000 };

	(void)state;
	for (size_t r = 0; r < COUNT(rates); r++)
		for (size_t s = 0; s < COUNT(sizes); s++) {
			const unsigned int n = sizes[s], step = n > 100 ? 997 : 1;
			double *at_least = test_calloc(n + 2, sizeof(*at_least));

			for (unsigned int k = n + 1; k--;)
				at_least[k] = at_least[k + 1] +
					      exp(lgamma(n + 1.0) - lgamma(k + 1.0) -
						  lgamma(n - k + 1.0) + k * log(rates[r]) +
						  (n - k) * log1p(-rates[r]));
			for (unsigned int k = 1; k <= n; k += step)
				assert_near(statistics_beta(rates[r], k, n - k + 1.0), at_least[k],
					    1e-10);
			test_free(at_least);
		}
	assert_near(statistics_beta(0, 3, 4), 0, 0);
	assert_near(statistics_beta(1, 3, 4), 1, 0);
	/* symmetric about the mean, at the largest counts */
	assert_near(statistics_beta(0.5, 5e8, 5e8), 0.5, 1e-5);
}

/* Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 5 */
static void test_intervals_as_published(void **state)
{
	static const struct {
		struct share share;
		struct interval interval;
	} cases[] = {
		{ { 81, 263 }, { 0.2527, 0.3676 } },
		{ { 15, 148 }, { 0.0578, 0.1617 } },
		{ { 0, 20 }, { 0, 0.1684 } },
		{ { 1, 29 }, { 0.0009, 0.1776 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct interval interval = statistics_interval(cases[i].share, 0.95);

		assert_near(interval.low, cases[i].interval.low, 0.00005);
		assert_near(interval.high, cases[i].interval.high, 0.00005);
	}
}

static void test_intervals_at_the_edges(void **state)
{
	static const uint64_t sizes[] = { 1, 52, 5200, 1000000, STATISTICS_COUNT_MAX };
	static const double confidences[] = { 0.5, 0.95, 0.99, 1 - 0.05 / 5408 };
	struct interval interval = statistics_interval((struct share){ 0, 0 }, 0.95);

	(void)state;
	assert_near(interval.low, 0, 0);
	assert_near(interval.high, 1, 0);
	for (size_t s = 0; s < COUNT(sizes); s++)
		for (size_t c = 0; c < COUNT(confidences); c++) {
			const double n = (double)sizes[s], tail = (1 - confidences[c]) / 2;
			/* no error: (1 - p)^n = tail */
			const double bound = -expm1(log(tail) / n);

			interval =
				statistics_interval((struct share){ 0, sizes[s] }, confidences[c]);
			assert_near(interval.low, 0, 0);
			assert_near(interval.high / bound, 1, 1e-5);
			interval = statistics_interval((struct share){ sizes[s], sizes[s] },
						       confidences[c]);
			assert_near(interval.high, 1, 0);
			assert_near(interval.low, 1 - bound, 1e-5);
		}
}

/* An interval misses the true rate no more often than it says */
static void test_intervals_cover(void **state)
{
	static const double rates[] = { 0.002, 0.05, 0.4 };
	uint64_t seed = 20;

	(void)state;
	for (size_t r = 0; r < COUNT(rates); r++) {
		unsigned int low = 0, high = 0;

		for (int i = 0; i < 2000; i++) {
			const struct share share = { errors_of(&seed, rates[r], 300), 300 };
			const struct interval interval = statistics_interval(share, 0.95);

			low += rates[r] < interval.low;
			high += rates[r] > interval.high;
		}
		/* 2.5 % of 2000 is 50; five standard deviations above is 85 */
		assert_true(low < 85 && high < 85);
	}
}

static void test_quantiles(void **state)
{
	double values[] = { 10, 3, 7, 1, 9, 2, 8, 5, 6, 4 };

	(void)state;
	statistics_sort(values, COUNT(values));
	assert_near(statistics_quantile(values, COUNT(values), 0), 1, 0);
	assert_near(statistics_quantile(values, COUNT(values), 0.25), 3.25, 1e-12);
	assert_near(statistics_quantile(values, COUNT(values), 0.5), 5.5, 1e-12);
	assert_near(statistics_quantile(values, COUNT(values), 0.99), 9.91, 1e-12);
	assert_near(statistics_quantile(values, COUNT(values), 1), 10, 0);
	assert_near(statistics_quantile(values, 1, 0.5), 1, 0);
	statistics_sort(NULL, 0);
	assert_true(isnan(statistics_quantile(NULL, 0, 0.5)));
}

/*
 * Accept at or below one line, reject at or above the other, as published. Points too near to a
 * line for the digits published are left out.
 */
static void assert_lines(const struct sprt *sprt, double accept, double reject, double slope)
{
	for (uint64_t n = 1; n <= 100; n++)
		for (uint64_t k = 0; k <= n; k++) {
			const enum sprt_state is = statistics_sprt(sprt, (struct share){ k, n });
			const double above_accept = (double)k - (accept + slope * (double)n);
			const double above_reject = (double)k - (reject + slope * (double)n);

			if (fabs(above_accept) > 0.02 && fabs(above_reject) > 0.02)
				assert_int_equal(is, above_accept < 0 ? SPRT_ACCEPT :
						 above_reject > 0 ? SPRT_REJECT : SPRT_CONTINUE);
		}
}

static void test_sequential_as_published(void **state)
{
	/* NIST/SEMATECH e-Handbook, 6.2.6 */
	static const struct sprt handbook = { 0.01, 0.10, 0.05, 0.10 };
	/* Wald (1947), 5.3 */
	static const struct sprt wald = { 0.1, 0.3, 0.02, 0.03 };

	(void)state;
	assert_lines(&handbook, -0.939, 1.205, 0.0397);
	assert_lines(&wald, -2.58, 2.88, 0.186);
	assert_int_equal(statistics_sprt_least(&handbook), 24);
	assert_int_equal(statistics_sprt(&handbook, (struct share){ 0, 0 }), SPRT_CONTINUE);
}

/* Returns how many of 2000 machines are accepted; *boards is the mean number of boards dealt. */
static unsigned int accepted_of(const struct sprt *sprt, double rate, uint64_t *seed,
				double *boards)
{
	unsigned int accepted = 0;

	*boards = 0;
	for (int i = 0; i < 2000; i++) {
		struct share share = { 0, 0 };
		enum sprt_state is = SPRT_CONTINUE;

		while (is == SPRT_CONTINUE) {
			share.errors += uniform(seed) < rate;
			share.trials++;
			is = statistics_sprt(sprt, share);
		}
		accepted += is == SPRT_ACCEPT;
		*boards += (double)share.trials / 2000;
	}
	return accepted;
}

/* The risks of simulated machines are those named: five standard deviations are 49 of 2000 */
static void test_sequential_keeps_its_risks(void **state)
{
	static const struct sprt sprt = { 0.002, 0.02, 0.05, 0.05 };
	uint64_t seed = 21;
	double boards;

	(void)state;
	assert_true(accepted_of(&sprt, sprt.good, &seed, &boards) > 2000 - 100 - 49);
	/* a fixed sample that shows 2 % at this confidence is dealt to its end whatever happens */
	assert_true(boards < 250);
	assert_true(accepted_of(&sprt, sprt.bad, &seed, &boards) < 100 + 49);
	assert_true(boards < 150);
	assert_int_equal(accepted_of(&sprt, 0, &seed, &boards), 2000);
	assert_near(boards, (double)statistics_sprt_least(&sprt), 1e-6);
	assert_int_equal(accepted_of(&sprt, 0.3, &seed, &boards), 0);
	assert_true(boards < 10);
}

static void test_fisher_as_published(void **state)
{
	static const struct share many = { 60000, 200000 };

	(void)state;
	/* Fisher, The Design of Experiments (1935): the lady tasting tea */
	assert_near(statistics_fisher((struct share){ 3, 4 }, (struct share){ 1, 4 }), 34.0 / 70,
		    1e-9);
	/* Fisher (1962): convictions of twins */
	assert_near(statistics_fisher((struct share){ 2, 17 }, (struct share){ 10, 13 }), 0.0005367,
		    5e-8);
	assert_near(statistics_fisher((struct share){ 0, 0 }, (struct share){ 1, 4 }), 1, 0);
	assert_near(statistics_fisher((struct share){ 0, 9 }, (struct share){ 0, 4 }), 1, 0);
	/* the approximation joins the exact test without a step */
	assert_near(statistics_fisher((struct share){ 5100, 20000 }, (struct share){ 4900, 20000 }),
		    statistics_fisher((struct share){ 5101, 20000 }, (struct share){ 4901, 20000 }),
		    0.001);
	assert_near(statistics_fisher(many, many), 1, 1e-9);
	assert_true(statistics_fisher((struct share){ 500000000, STATISTICS_COUNT_MAX },
				      (struct share){ 500100000, STATISTICS_COUNT_MAX }) < 0.001);
}

static void test_rank_sum(void **state)
{
	double a[100], b[100];
	uint64_t seed = 22;
	unsigned int found = 0;
	bool larger;

	(void)state;
	for (int i = 0; i < 8; i++) {
		a[i] = i;
		b[i] = i + 8;
	}
	assert_true(statistics_rank_sum(a, 8, b, 8, &larger) < 0.001 && larger);
	assert_true(statistics_rank_sum(b, 8, a, 8, &larger) < 0.001 && !larger);
	/* U = 0, mean 32, variance 8 * 8 * 17 / 12 */
	assert_near(statistics_rank_sum(a, 8, b, 8, NULL),
		    erfc(32 / sqrt(8 * 8 * 17 / 12.0) / sqrt(2)), 1e-12);
	assert_near(statistics_rank_sum(a, 7, b, 8, NULL), 1, 0);
	assert_near(statistics_rank_sum(a, 8, a, 8, NULL), 1, 1e-12);
	for (int i = 0; i < 8; i++)
		a[i] = b[i] = 5;
	assert_near(statistics_rank_sum(a, 8, b, 8, NULL), 1, 0);
	/* 5 % of 1000 pairs without a difference, five standard deviations 34; with ties */
	for (int n = 0; n < 1000; n++) {
		for (size_t i = 0; i < 100; i++) {
			a[i] = floor(20 * uniform(&seed));
			b[i] = floor(20 * uniform(&seed));
		}
		statistics_sort(a, 60);
		statistics_sort(b, 100);
		found += statistics_rank_sum(a, 60, b, 100, NULL) < 0.05;
	}
	assert_true(found < 84 && found > 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beta_is_the_binomial_tail),
		cmocka_unit_test(test_intervals_as_published),
		cmocka_unit_test(test_intervals_at_the_edges),
		cmocka_unit_test(test_intervals_cover),
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_sequential_as_published),
		cmocka_unit_test(test_sequential_keeps_its_risks),
		cmocka_unit_test(test_fisher_as_published),
		cmocka_unit_test(test_rank_sum),
	};

	return cmocka_run_group_tests_name("compliance_statistics", tests, NULL, NULL);
}
