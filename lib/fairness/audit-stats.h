/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts deals, and compares the counts with the expectation for wholly random ones. No I/O; single
 * deals are not kept. Not exported.
 */
#ifndef AUDIT_STATS_H
#define AUDIT_STATS_H

#include <dealbox/audit.h>

#define STATS_SHAPES	39	/* ways to write 13 as four lengths, longest first */
#define STATS_POINTS	38	/* 0..37 honour points of a hand */
#define STATS_LAGS	4	/* deals looked back */
#define STATS_KEYS	733	/* of shapes */

struct audit_stats {
	uint8_t shape_index[STATS_KEYS];
	double shape_probability[STATS_SHAPES];
	uint64_t deals;
	uint64_t card_seat[DEALBOX_CARDS][DEALBOX_HANDS];
	uint64_t shape[DEALBOX_HANDS][STATS_SHAPES];	/* of the hand at that seat */
	uint64_t split[4][STATS_SHAPES];		/* of that suit among the seats */
	uint64_t points[DEALBOX_HANDS][STATS_POINTS];
	/* by distance to an earlier deal: cards at the same seat, pairs of deals */
	uint64_t same[STATS_LAGS], pairs[STATS_LAGS];
	/* sums over finished sets, for the points of N and S against the place in the set */
	double trend, trend_variance;
	/* of the current set */
	uint64_t in_set;
	double set_points, set_moment;
	struct dealbox_deal last[STATS_LAGS];
};

/* Clears all counts. */
void audit_stats_init(struct audit_stats *stats);

/* Adds a bridge deal to the current set. */
void audit_stats_add(struct audit_stats *stats, const struct dealbox_deal *deal);

/* Ends the current set. */
void audit_stats_end_set(struct audit_stats *stats);

#define AUDIT_TESTS	18

void audit_stats_test(const struct audit_stats *stats,
		      struct dealbox_audit_test tests[AUDIT_TESTS]);

/*
 * Returns the probability of a chi-square above x with that many degrees of freedom, within 1e-10.
 */
double audit_chi_square_above(double x, unsigned int degrees);

#endif
