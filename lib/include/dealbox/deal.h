/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A deal: who holds which card.
 */
#ifndef DEALBOX_DEAL_H
#define DEALBOX_DEAL_H

#include <stdbool.h>

#include <dealbox/card.h>
#include <dealbox/pack.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEALBOX_HANDS	4

/*
 * Bridge: hand[DEALBOX_NORTH..DEALBOX_WEST]. Preferans: three hands and, in
 * hand[3], the talon. A plain value: copy it, compare it, wipe it.
 */
struct dealbox_deal {
	dealbox_cards hand[DEALBOX_HANDS];
};

/* Defects of a deal. */
enum dealbox_defect_kind {
	DEALBOX_DEFECT_REPEATED,	/* card, held by each hand of hands */
	DEALBOX_DEFECT_MISSING,		/* card, in no hand */
	DEALBOX_DEFECT_FOREIGN,		/* card, held by hands, is not in the pack */
	DEALBOX_DEFECT_SIZE,		/* hand has count cards instead of expected */
};

struct dealbox_defect {
	uint8_t kind;		/* enum dealbox_defect_kind */
	uint8_t card;		/* DEALBOX_CARD_NONE for DEALBOX_DEFECT_SIZE */
	uint8_t hands;		/* bit n = hand n */
	uint8_t hand;		/* DEALBOX_DEFECT_SIZE */
	uint8_t count;
	uint8_t expected;
};

/* The largest number of defects that a deal can have: each bit of each hand, and sizes. */
#define DEALBOX_DEFECTS_MAX	(64 + DEALBOX_HANDS)

/*
 * Returns true if the deal is complete: every card of the pack is in exactly one hand, and every
 * hand is full.
 */
DEALBOX_API bool dealbox_deal_complete(const struct dealbox_deal *deal,
				       const struct dealbox_pack *pack);

/*
 * Finds every defect: cards in the order of their numbers, then hand sizes. Writes at most max of
 * them to out, which may be NULL if max is 0. Returns the total number of defects; 0 means that the
 * deal is complete.
 */
DEALBOX_API size_t dealbox_deal_check(const struct dealbox_deal *deal,
				      const struct dealbox_pack *pack,
				      struct dealbox_defect *out, size_t max);

/* Returns the first hand that holds the card. -ENOENT: no hand holds it. */
DEALBOX_API int dealbox_deal_holder(const struct dealbox_deal *deal,
				    unsigned int card);

/* Size of a buffer for the text of any deal, including the terminating zero. */
#define DEALBOX_DEAL_TEXT	232

/*
 * Writes a deal as the Deal tag of PBN does (standard 2.1, 3.4.11): "N:" and the
 * four hands clockwise from seat first, ranks descending. Returns the length.
 */
DEALBOX_API size_t dealbox_deal_format(const struct dealbox_deal *deal, int first,
				       char text[DEALBOX_DEAL_TEXT]);

/*
 * Parses the text of dealbox_deal_format(), with ranks in any order and either case, and "-" for a
 * hand that is not given (it is then empty). Returns 0, or -EINVAL: a syntax error, or a card twice
 * in one hand (*deal is then undefined). dealbox_deal_check() tells whether the deal is complete.
 */
DEALBOX_API int dealbox_deal_parse(const char *text, struct dealbox_deal *deal);

/* Overwrites the deal in a way that the compiler cannot optimise away. */
DEALBOX_API void dealbox_deal_wipe(struct dealbox_deal *deal);

/* The vulnerable sides. */
enum dealbox_vulnerable {
	DEALBOX_VULNERABLE_NONE, DEALBOX_VULNERABLE_NS,
	DEALBOX_VULNERABLE_EW, DEALBOX_VULNERABLE_ALL
};

/* Returns the dealer of a board: N, E, S, W in turn from board 1 (Law 2). -EINVAL: board 0. */
DEALBOX_API int dealbox_board_dealer(uint32_t board);

/* Returns the vulnerability of a board, in a cycle of 16 (Law 2). -EINVAL: board 0. */
DEALBOX_API int dealbox_board_vulnerable(uint32_t board);

/* Returns the name in PBN: "None", "NS", "EW", "All"; "?" for other numbers. Static. */
DEALBOX_API const char *dealbox_vulnerable_name(int vulnerable);

#ifdef __cplusplus
}
#endif
#endif
