/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A verdict: whether the board is an exact duplicate of the plan, decided from plan and trace
 * alone. In doubt it is never "exact".
 *
 * A verdict proves no more than the machine saw. It cannot detect two cards that were read as each
 * other with good quality, a card that was fed unseen with another while the hopper had one to
 * spare (a joker, the next deck), a wrong sensor, a board that was exchanged unnoticed, or a board
 * that was not empty. docs/exact.md says how to reduce each of these risks.
 *
 * Judge a trace when no event can follow the end of the deal: when the board is out of the machine,
 * or DEALBOX_SETTLED_MS after DEAL_DONE, if the machine then confirms that it has not stopped.
 */
#ifndef DEALBOX_VERIFY_H
#define DEALBOX_VERIFY_H

#include <dealbox/plan.h>
#include <dealbox/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The lowest quality (0..100, as the machine reports it) of a reading that counts. A card that was
 * read with a lower quality counts as not read. 0 and DEALBOX_NONE: the machine reports no quality.
 */
#define DEALBOX_QUALITY_MIN	50

/* The longest time, in ms, from DEAL_DONE to a stop that still belongs to that deal. */
#define DEALBOX_SETTLED_MS	300

/*
 * Kinds of differences. The names in the comments are those of dealbox_difference_name() and of
 * JSON output; they never change. The fields that apply follow the name.
 */
enum dealbox_difference_kind {
	DEALBOX_DIFFERENCE_CARD_MISSING,	/* card-missing: card, expected */
	DEALBOX_DIFFERENCE_CARD_REPEATED,	/* card-repeated: card, position, other */
	DEALBOX_DIFFERENCE_CARD_FOREIGN,	/* card-foreign: card, position, pocket */
	DEALBOX_DIFFERENCE_CARD_UNREAD,		/* card-unread: position, pocket: not read, or
						 * not well enough to count */
	DEALBOX_DIFFERENCE_CARD_CHANGED,	/* card-changed: position: another card
						 * was read than was routed or landed */
	DEALBOX_DIFFERENCE_WRONG_POCKET,	/* wrong-pocket: card, position, pocket,
						 * expected */
	DEALBOX_DIFFERENCE_NOT_LANDED,		/* not-landed: card, position, pocket */
	DEALBOX_DIFFERENCE_NOT_ROUTED,		/* not-routed: card, position */
	DEALBOX_DIFFERENCE_FACE_UP,		/* face-up: card, position, pocket */
	DEALBOX_DIFFERENCE_COUNT,		/* count: pocket (DEALBOX_NONE = in all),
						 * count, count_expected */
	DEALBOX_DIFFERENCE_ORDER,		/* order: position: events that cannot
						 * follow one another */
	DEALBOX_DIFFERENCE_GAP,			/* gap: events are missing */
	DEALBOX_DIFFERENCE_FAULT,		/* fault: code = DEALBOX_EV_*, position */
	DEALBOX_DIFFERENCE_ABORTED,		/* aborted */
	DEALBOX_DIFFERENCE_STATE_LOST,		/* state-lost: code = DEALBOX_LOST_* */
	DEALBOX_DIFFERENCE_BOARD_REMOVED,	/* board-removed: before the end */
	DEALBOX_DIFFERENCE_WRONG_INSERTION,	/* wrong-insertion: count = which */
	DEALBOX_DIFFERENCE_WRONG_PLAN,		/* wrong-plan: another plan was dealt */
	DEALBOX_DIFFERENCE_NOT_STARTED,		/* not-started */
	DEALBOX_DIFFERENCE_NOT_DONE,		/* not-done: the deal has no end */
	DEALBOX_DIFFERENCE_AGAIN,		/* again: started or ended twice */
	DEALBOX_DIFFERENCE_UNSEEN,		/* unseen: the exit sensors saw no card at all */

	DEALBOX_DIFFERENCES			/* number of kinds */
};

/* The fields card to other are DEALBOX_NONE if they do not apply, the later ones 0. */
struct dealbox_difference {
	uint8_t kind;		/* enum dealbox_difference_kind */
	uint8_t card;
	uint8_t position;
	uint8_t pocket;
	uint8_t expected;	/* pocket that was planned */
	uint8_t other;		/* position of its earlier reading */
	uint32_t code;
	uint32_t count;
	uint32_t count_expected;
};

/* The evidence of a verdict: what saw the cards reach their pockets. */
enum dealbox_basis {
	DEALBOX_BASIS_NONE, /* nothing: there is no deal in the trace */
	DEALBOX_BASIS_GATES, /* the machine set its gates so; nothing saw them fall */
	DEALBOX_BASIS_SENSORS, /* a sensor at the exit saw each card fall */
	DEALBOX_BASIS_HAND /* a person was shown each card's pocket; nothing saw it go there */
};

struct dealbox_verdict;

/*
 * Judges a trace. Returns 0 and a verdict in *out, to be freed with dealbox_verdict_free(), or
 * -ENOMEM, or -EINVAL: not a plan.
 *
 * It does not know the machine, so it cannot notice that exit sensors are dead: for the trace of a
 * machine that is known, call dealbox_verify_machine().
 */
DEALBOX_API int dealbox_verify(const struct dealbox_plan *plan,
			       const struct dealbox_trace *trace,
			       struct dealbox_verdict **out);

/*
 * The same for a plan by position, with the expected order of the deck: deck has the card of each
 * position of the plan. If the machine nevertheless reads the cards, each must be in the pocket
 * that was planned for it, whatever its place in the deck.
 */
DEALBOX_API int dealbox_verify_deck(const struct dealbox_plan *plan, const uint8_t *deck,
				    const struct dealbox_trace *trace,
				    struct dealbox_verdict **out);

/*
 * The same for a machine with these capabilities (DEALBOX_CAP_*, from dealbox_machine_get_info()).
 * deck is as above, or NULL. If the machine has exit sensors, a deal of which they saw no card is
 * in doubt: gates are evidence only where there is nothing better. Captures need no exit sensors.
 */
DEALBOX_API int dealbox_verify_machine(const struct dealbox_plan *plan, const uint8_t *deck,
				       uint32_t capabilities, const struct dealbox_trace *trace,
				       struct dealbox_verdict **out);

/* Wipes and frees the verdict. NULL is allowed. */
DEALBOX_API void dealbox_verdict_free(struct dealbox_verdict *verdict);

/* Returns true if the board is an exact duplicate of the plan: no difference, no doubt. */
DEALBOX_API bool dealbox_verdict_exact(const struct dealbox_verdict *verdict);

/* Returns the evidence of the verdict. */
DEALBOX_API enum dealbox_basis dealbox_verdict_basis(const struct dealbox_verdict *verdict);

/*
 * Returns true if each card was read. If not (a plan by position on a machine without reader), an
 * exact duplicate is exact only if the deck was in the order that the plan was made for.
 */
DEALBOX_API bool dealbox_verdict_identified(const struct dealbox_verdict *verdict);

/*
 * Returns the number of differences, or the difference with that index (NULL beyond the last),
 * valid as long as the verdict.
 */
DEALBOX_API size_t dealbox_verdict_count(const struct dealbox_verdict *verdict);
DEALBOX_API const struct dealbox_difference *
dealbox_verdict_get(const struct dealbox_verdict *verdict, size_t index);

/* Returns the name of a kind, "wrong-pocket"; "?" for other numbers. Static. */
DEALBOX_API const char *dealbox_difference_name(unsigned int kind);

/*
 * Writes the sentence for a difference, in language "nb", "el", "fr", "ru" or "en" (NULL is
 * English), UTF-8. Only with reveal, it names a card and says where the card lies and belongs: all
 * sentences together would tell the deal. Writes at most size bytes including the terminating zero;
 * returns the length it would have had.
 */
DEALBOX_API size_t dealbox_difference_text(const struct dealbox_difference *difference, bool reveal,
					   const char *language, char *text, size_t size);

/* The same in English. */
DEALBOX_API size_t dealbox_difference_message(const struct dealbox_difference *difference,
					      bool reveal, char *text, size_t size);

/*
 * Writes the sentence for the whole verdict: "exact duplicate (by exit sensors)", "not an exact
 * duplicate: 3 differences". Same return value.
 */
DEALBOX_API size_t dealbox_verdict_message(const struct dealbox_verdict *verdict,
					   char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
