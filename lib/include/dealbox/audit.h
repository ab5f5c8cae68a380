/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An audit: compares many deals, after play, with the exact expectations for wholly random deals.
 * It also finds deals of a sorted deck, repeated deals (also turned to other seats), and generators
 * that were started again with the same seed.
 *
 * Only for deals that have been played. Looking at statistics and then choosing which set to play
 * breaks Law 6: the deals are then no longer random.
 */
#ifndef DEALBOX_AUDIT_H
#define DEALBOX_AUDIT_H

#include <dealbox/set.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dealbox_audit;

/* Returns an empty audit, or NULL if out of memory. Free it with dealbox_audit_free(). */
DEALBOX_API struct dealbox_audit *dealbox_audit_new(void);

/* Wipes and frees the audit. NULL is allowed. */
DEALBOX_API void dealbox_audit_free(struct dealbox_audit *audit);

/*
 * Adds the deals of a set, in their order, under a name (of its file). -EPERM: the set is
 * marked unplayed, nothing was added; -EINVAL: it is not bridge; -ENOMEM.
 */
DEALBOX_API int dealbox_audit_add(struct dealbox_audit *audit, const struct dealbox_set *set,
				  const char *name);

/* Returns the number of deals, or of sets, in the audit. */
DEALBOX_API size_t dealbox_audit_deals(const struct dealbox_audit *audit);
DEALBOX_API size_t dealbox_audit_sets(const struct dealbox_audit *audit);

/* Returns the name of set number 0..; NULL beyond the last. Valid as long as the audit. */
DEALBOX_API const char *dealbox_audit_set(const struct dealbox_audit *audit, size_t set);

/* One test of the deals together. */
struct dealbox_audit_test {
	const char *name;	/* "shapes-north"; names never change. Static */
	const char *what;	/* "hand shapes, North". Static */
	bool enough;		/* there were enough deals; if not, the rest is 0 */
	double statistic;	/* chi-square, or with 0 degrees a normal deviate */
	unsigned int degrees;	/* degrees of freedom */
	double p;		/* chance of a statistic at least as extreme, two-sided */
	double corrected;	/* p corrected for the number of tests (Holm) */
	uint64_t reserved[4];	/* 0 */
};

/*
 * Runs the tests, always all of them, and writes at most max of the results to out, which may be
 * NULL if max is 0. Returns the total number of tests, which is the same for every audit and grows
 * with later versions. A corrected p below 0.01 is a reason to ask questions; it occurs in one of
 * 100 audits of perfect deals.
 */
DEALBOX_API size_t dealbox_audit_run(const struct dealbox_audit *audit,
				     struct dealbox_audit_test *out, size_t max);

enum dealbox_audit_kind {
	DEALBOX_AUDIT_SORTED,	/* dealt from a sorted deck, or never dealt */
	DEALBOX_AUDIT_REPEATED,	/* the same deal as before */
	DEALBOX_AUDIT_SEED,	/* several deals in the same order as before */
};

struct dealbox_audit_finding {
	enum dealbox_audit_kind kind;
	size_t set;
	uint32_t board;		/* 0 = no number */
	size_t count;		/* deals in a row, from this one on */
	/* the earlier place; not for SORTED */
	size_t other_set;
	uint32_t other_board;
	unsigned int turned;	/* by how many seats clockwise */
};

/*
 * Calls each() for every finding, in the order of the deals. If each() gives a value other than 0,
 * the search ends and returns that value. -ENOMEM.
 */
DEALBOX_API int dealbox_audit_find(const struct dealbox_audit *audit,
				   int (*each)(const struct dealbox_audit_finding *finding,
					       void *context),
				   void *context);

#ifdef __cplusplus
}
#endif
#endif
