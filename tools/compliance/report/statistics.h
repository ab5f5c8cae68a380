/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Statistics of a machine: error rates with exact confidence intervals, distributions, the
 * sequential test of endurance, and comparisons of two samples. Pure functions.
 */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest count that these functions take. */
#define STATISTICS_COUNT_MAX	1000000000u

/* Errors among trials; errors <= trials <= STATISTICS_COUNT_MAX. */
struct share {
	uint64_t errors, trials;
};

struct interval {
	double low, high;
};

/*
 * Returns the exact two-sided confidence interval of an error rate (Clopper and Pearson,
 * Biometrika 26, 1934), for a confidence between 0 and 1. Without trials it is 0..1.
 */
struct interval statistics_interval(struct share share, double confidence);

/*
 * Returns the regularised incomplete beta function I_x(a, b), 0 <= x <= 1, a and b >= 1, within
 * 1e-10 up to a + b = 1e4 and 1e-5 up to 1e9.
 */
double statistics_beta(double x, double a, double b);

/* Sorts values in ascending order. */
void statistics_sort(double *values, size_t count);

/*
 * Returns the quantile p (0..1) of sorted values, interpolated (Hyndman and Fan's type 7, the
 * default of R). NAN without values.
 */
double statistics_quantile(const double *sorted, size_t count, double p);

/*
 * Wald's sequential probability ratio test (Sequential Analysis, 1947). good: an error rate that
 * shall be accepted; bad: one that shall be refuted, 0 < good < bad < 1. false_alarm: the risk to
 * refute a good machine; miss: the risk to accept a bad one.
 */
struct sprt {
	double good, bad, false_alarm, miss;
};

enum sprt_state { SPRT_CONTINUE, SPRT_ACCEPT, SPRT_REJECT };

/* Says whether the errors so far decide. Ask after each trial: the first decision counts. */
enum sprt_state statistics_sprt(const struct sprt *sprt, struct share share);

/* Returns the trials without any error after which the test accepts. */
uint64_t statistics_sprt_least(const struct sprt *sprt);

/*
 * Return the two-sided p-value of "both samples have the same error rate" (Fisher's exact test;
 * the normal approximation where each cell has more than 10000) ..
 */
double statistics_fisher(struct share a, struct share b);

/*
 * .. and of "neither sample tends to larger values" (rank sums of Mann and Whitney, with the
 * correction for ties, by the normal approximation). Sorted values. 1 if a sample has fewer than
 * 8 values, which is too few to say. *larger, if not NULL: b tends to larger values.
 */
double statistics_rank_sum(const double *a, size_t a_count, const double *b, size_t b_count,
			   bool *larger);

#endif
