// SPDX-License-Identifier: LGPL-2.1-or-later
#include "statistics.h"

#include <math.h>
#include <stdlib.h>

#define RANKS_MIN	8	/* values for the normal approximation of rank sums */
#define CELL_EXACT	10000	/* of Fisher's test: larger cells are approximated */

/* -- exact intervals -------------------------------------------------------- */

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), by modified Lentz. */
static double beta_fraction(double x, double a, double b)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int m = 1; m < 1000000; m++) {
		const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = 1 + even / c;
		c = fabs(c) < tiny ? tiny : c;
		h *= d * c;
		d = 1 + odd * d;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = 1 + odd / c;
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		h *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return h;
}

double statistics_beta(double x, double a, double b)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	/* the fraction converges fast on one side of the mean only */
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

/* The x at which I_x(a, b) reaches p. Bisection needs no start and always ends. */
static double beta_inverse(double p, double a, double b)
{
	double low = 0, high = 1;

	/* relative precision matters: rates are small */
	for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		const double middle = (low + high) / 2;

		if (statistics_beta(middle, a, b) < p)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

struct interval statistics_interval(struct share share, double confidence)
{
	const double tail = (1 - confidence) / 2;
	const double errors = (double)share.errors, good = (double)(share.trials - share.errors);
	struct interval interval = { 0, 1 };

	if (share.errors)
		interval.low = beta_inverse(tail, errors, good + 1);
	if (share.errors < share.trials)
		interval.high = beta_inverse(1 - tail, errors + 1, good);
	return interval;
}

/* -- distributions ---------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void statistics_sort(double *values, size_t count)
{
	if (count)
		qsort(values, count, sizeof(*values), ascending);
}

double statistics_quantile(const double *sorted, size_t count, double p)
{
	double at, below;
	size_t i;

	if (!count)
		return NAN;
	at = p * (double)(count - 1);
	below = floor(at);
	i = (size_t)below;
	if (i + 1 >= count)
		return sorted[count - 1];
	return sorted[i] + (at - below) * (sorted[i + 1] - sorted[i]);
}

/* -- the sequential test ---------------------------------------------------- */

enum sprt_state statistics_sprt(const struct sprt *sprt, struct share share)
{
	const double errors = (double)share.errors, good = (double)(share.trials - share.errors);
	const double ratio = errors * log(sprt->bad / sprt->good) +
			     good * (log1p(-sprt->bad) - log1p(-sprt->good));

	if (ratio >= log((1 - sprt->miss) / sprt->false_alarm))
		return SPRT_REJECT;
	if (ratio <= log(sprt->miss / (1 - sprt->false_alarm)))
		return SPRT_ACCEPT;
	return SPRT_CONTINUE;
}

uint64_t statistics_sprt_least(const struct sprt *sprt)
{
	return (uint64_t)ceil(log(sprt->miss / (1 - sprt->false_alarm)) /
			      (log1p(-sprt->bad) - log1p(-sprt->good)));
}

/* -- comparisons ------------------------------------------------------------ */

static double two_sided(double deviate)
{
	return erfc(fabs(deviate) / sqrt(2));
}

static double log_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

double statistics_fisher(struct share a, struct share b)
{
	const uint64_t trials = a.trials + b.trials, errors = a.errors + b.errors;
	const uint64_t low = errors > b.trials ? errors - b.trials : 0;
	const uint64_t high = errors < a.trials ? errors : a.trials;
	double observed, p = 0;

	if (!a.trials || !b.trials || low == high)
		return 1;
	if (high - low > CELL_EXACT) {
		const double rate = (double)errors / (double)trials;
		const double off = (double)a.errors / (double)a.trials -
				   (double)b.errors / (double)b.trials;

		return two_sided(off / sqrt(rate * (1 - rate) *
					    (1 / (double)a.trials + 1 / (double)b.trials)));
	}
	observed = log_choose((double)a.trials, (double)a.errors) +
		   log_choose((double)b.trials, (double)b.errors);
	for (uint64_t k = low; k <= high; k++) {
		const double ways = log_choose((double)a.trials, (double)k) +
				    log_choose((double)b.trials, (double)(errors - k));

		/* tables as likely as the observed one count, whatever the rounding */
		if (ways <= observed + 1e-7)
			p += exp(ways - log_choose((double)trials, (double)errors));
	}
	return fmin(1, p);
}

double statistics_rank_sum(const double *a, size_t a_count, const double *b, size_t b_count,
			   bool *larger)
{
	const double m = (double)a_count, n = (double)b_count, all = m + n;
	double ranks = 0, ties = 0, variance;
	size_t i = 0, j = 0;

	if (larger)
		*larger = false;
	if (a_count < RANKS_MIN || b_count < RANKS_MIN)
		return 1;
	while (i < a_count || j < b_count) {
		const double value = j == b_count || (i < a_count && a[i] < b[j]) ? a[i] : b[j];
		const size_t before = i + j, i_before = i;
		double alike;

		while (i < a_count && a[i] <= value)
			i++;
		while (j < b_count && b[j] <= value)
			j++;
		alike = (double)(i + j - before);
		/* equal values share the mean of their ranks */
		ranks += (double)(i - i_before) * ((double)before + (alike + 1) / 2);
		ties += alike * alike * alike - alike;
	}
	variance = m * n / 12 * (all + 1 - ties / (all * (all - 1)));
	if (variance <= 0)
		return 1;
	if (larger)
		*larger = ranks < m * (all + 1) / 2;
	return two_sided((ranks - m * (all + 1) / 2) / sqrt(variance));
}
