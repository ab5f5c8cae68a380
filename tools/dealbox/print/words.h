/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Words on paper, in the languages of the laws. */
#ifndef PRINT_WORDS_H
#define PRINT_WORDS_H

#include <dealbox/card.h>

struct words {
	const char *language;		/* "nb": RFC 5646 */
	const char *ranks[4];		/* ace, king, queen, jack */
	const char *seats[4];		/* one letter each */
	const char *seat_names[4];
	const char *sides[2];		/* North-South, East-West */
	const char *players[4];		/* preferans: three players; the talon, a letter */
	const char *vulnerable[4];	/* enum dealbox_vulnerable */
	const char *dealer;		/* "Dealer %s" */
	const char *board;		/* before its number */
	const char *records;		/* default title */
	const char *session, *set;	/* before their names */
	const char *page;		/* "Page %u of %u" */
	const char *points;		/* high-card points */
	const char *suits[4];
	const char *notrump;		/* abbreviated */
	const char *tricks;		/* heading of the table */
	const char *par, *makes;
	const char *footnote;		/* about double dummy */
	const char *incomplete;		/* of a deal */
	const char *unknown;		/* "%u cards not known" */
	const char *contract, *lead, *result, *auction;
	const char *statistics, *mean, *expected, *shapes, *all;
	const char *receipt;		/* title: of what was dealt */
	const char *added;		/* "Job %lu, added by %s at %s" */
	const char *copy, *begun, *ended, *machine, *insertion, *outcome;
	const char *outcomes[7];	/* enum dealbox_ledger_outcome, and revoked */
	const char *head;		/* before the head of the ledger */
};

/*
 * Returns the words of a language: "nb", or the name of a locale, "nb_NO.UTF-8"; NULL if unknown.
 */
const struct words *words_find(const char *language);

/* Returns the words with that index; NULL beyond the last. */
const struct words *words_get(size_t index);

/* Four signs, ♠ to ♣ */
extern const char *const suit_signs[4];

#endif
