/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A card came twice: which reading was wrong? So that a person looks at two cards and
 * not at fifty-two.
 */
#ifndef DEALBOX_DIAGNOSIS_H
#define DEALBOX_DIAGNOSIS_H

#include <stdbool.h>
#include <stddef.h>

#include <dealbox/card.h>
#include <dealbox/deal.h>
#include <dealbox/pack.h>
#include <dealbox/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The cards whose bar codes are easily read as that of card: those one module away, and
 * the one that reads so when it lies the wrong way round. The codes are those of the
 * bar-coded cards in general use (nine modules, without a check digit). 0 for jokers.
 */
DEALBOX_API dealbox_cards dealbox_card_confusable(unsigned int card);

/*
 * How a reader misreads: weight[card][read] is how often card is read as read, against the other
 * numbers of its row; 0 where both are the same. Plain data of the caller.
 */
struct dealbox_confusion {
	uint16_t weight[DEALBOX_CARDS][DEALBOX_CARDS];
};

/*
 * Fills in what is known of a kind of reader (DEALBOX_READER_*, as in dealbox_info): a bar code is misread by
 * one module or the wrong way round, a camera takes the suit for the other of its colour, or the rank
 * for one of similar shape. Any other confusion is possible, and rare; of other readers nothing is known.
 */
DEALBOX_API void dealbox_confusion_reader(struct dealbox_confusion *confusion, unsigned int reader);

/*
 * Adds what a trace shows of this machine: a card that was read again at the same position, and otherwise, was
 * misread before. Returns how many there were. The numbers are statistics of all deals and tell of no board.
 */
DEALBOX_API size_t dealbox_confusion_learn(struct dealbox_confusion *confusion,
					   const struct dealbox_trace *trace);

enum dealbox_culprit {
	DEALBOX_CULPRIT_EARLIER,	/* the earlier reading: that card is another */
	DEALBOX_CULPRIT_LATER,		/* the card at the reader is another */
	DEALBOX_CULPRIT_DECK,		/* both are right: a card of another deck got in */
	DEALBOX_CULPRITS		/* how many */
};

/* One of the two cards. What is not known is DEALBOX_NONE, or 0 for place. */
struct dealbox_reading {
	uint8_t position;	/* in the deal, from 0 */
	uint8_t quality;	/* 0..100 */
	uint8_t pocket;		/* where it lies */
	uint8_t hand;		/* whose pocket that is: enum dealbox_seat */
	uint8_t place;		/* in that pocket, from 1 = the first that fell in */
	uint8_t above;		/* how many fell on it */
};

struct dealbox_diagnosis {
	uint8_t card;			/* that came twice. Secret */
	dealbox_cards candidates;	/* what the misread one can be: not yet seen. Secret */
	dealbox_cards easily;		/* those of them that this reader easily reads so. Secret */
	struct dealbox_reading earlier;
	struct dealbox_reading later;	/* at the reader */
	/* of each enum dealbox_culprit, with room for more: percent, together 100; a rule of thumb */
	uint8_t chance[8];
	enum dealbox_culprit likely;	/* the greatest of them */
};

/*
 * Looks at the last repeated card of the trace. Weighs: how good the two readings were, among all of
 * this deal; that machines try a repeated card again before they report it, so that the
 * earlier reading is oftener wrong; and how easily one of the cards not seen yet is read so, by
 * confusion: only where hardly any is, a card of another deck is likelier. pockets: pocket of each
 * hand, NULL for hand n in pocket n. 0; -ENOENT when no card of the trace came twice. How often it is
 * right: docs/daemon.md, measured by tests/unit/test_diagnosis.c.
 */
DEALBOX_API int dealbox_diagnose_repeat(const struct dealbox_trace *trace,
					const struct dealbox_pack *pack,
					const struct dealbox_confusion *confusion,
					const uint8_t *pockets, struct dealbox_diagnosis *out);

/*
 * What a person does with it, in English. Names cards only with reveal. Writes at most size
 * bytes with the terminating zero; returns the length it would have had.
 */
DEALBOX_API size_t dealbox_diagnosis_message(const struct dealbox_diagnosis *diagnosis,
					     bool reveal, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
