/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Statistics of a machine, by month: which cards are misread, and which gate errs. Pure.
 *
 * They are made of traces, so they must not show where a card of a board lies. Somebody who watches
 * the machine knows at which card of which board a reading failed, and into which pocket that card
 * went: to learn which card it was would give it away. Hence:
 * - A month is shown as a whole, once the machine has begun a board of a later month, and every
 *   board of it and before has its verdict. What was shown never changes, so two queries around one
 *   board have no difference. The months are those of the ledger's records, of which none can come
 *   before an earlier one, even if the clock is set back.
 * - A month is shown if it has STATISTICS_DEALS deals. Copies of a deal are one deal.
 * - A card is named if its readings failed in STATISTICS_DEALS deals of the month.
 * - How often a card was read is not told: it would show which cards came before a stop.
 */
#ifndef DEALING_STATISTICS_H
#define DEALING_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/dealbox.h>

#define STATISTICS_DEALS	8	/* least number of deals that a figure is made of */
#define STATISTICS_MONTHS	12	/* shown, at most */
#define STATISTICS_TRACES	2000	/* counted at once; older months are left out */
#define STATISTICS_CARDS	52

/* An insertion of the machine as the ledger has it. */
struct statistics_insertion {
	uint64_t id;
	int64_t begun;		/* us since 1970, UTC */
	bool judged;		/* it has a verdict */
	uint64_t set;		/* of its job */
	unsigned int board;
	bool by_card;		/* the machine reads the cards that it deals */
	unsigned int month;	/* out: months since 1970 */
};

struct statistics_gate {
	unsigned int routed;	/* cards sent into this pocket */
	unsigned int wrong;	/* of these: seen to fall into another one */
	unsigned int stuck;	/* of these: stuck at gate or pocket */
};

struct statistics_month {
	unsigned int month;	/* months since 1970 */
	unsigned int boards;	/* insertions */
	unsigned int deals;
	unsigned int failed;	/* readings that failed, of any card */
	unsigned int late;	/* gate commands that came too late */
	struct statistics_gate gates[DEALBOX_MAX_POCKETS];
	/* not to be shown below STATISTICS_DEALS: see statistics_named() */
	unsigned int card_failed[STATISTICS_CARDS];
	unsigned int card_deals[STATISTICS_CARDS];
	/* the deal that is being counted */
	uint64_t set;
	unsigned int board;
	uint64_t misread;	/* its cards whose readings failed; a set of cards */
};

/*
 * Sort the insertions that may be shown to the front: by month, set and board. list has all of one
 * machine that deal a set, in the order in which they were begun. Returns their number.
 */
size_t statistics_choose(struct statistics_insertion *list, size_t count);

/*
 * Count an insertion. Call it for those of one month in the order of statistics_choose(), with the
 * events of its trace, of which there may be none; then statistics_end(). month begins as zeroes.
 */
void statistics_add(struct statistics_month *month, const struct statistics_insertion *insertion,
		    const struct dealbox_event *events, size_t count);
void statistics_end(struct statistics_month *month);
/* Return true if the month is shown. */
bool statistics_shown(const struct statistics_month *month);
/* Return the number of failed readings of a card, or 0 if it is not to be named. */
unsigned int statistics_named(const struct statistics_month *month, unsigned int card);

#endif
