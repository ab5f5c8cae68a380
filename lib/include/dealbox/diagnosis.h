/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The diagnosis of a repeated card: which of the two readings was probably wrong, so that a person
 * looks at two cards and not at fifty-two.
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
 * Returns the cards whose bar codes are easily read as that of card: those one module away, and the
 * one that reads so when it is turned round. The codes are those of the bar-coded cards in general
 * use (nine modules, without a check digit). 0 for jokers.
 */
DEALBOX_API dealbox_cards dealbox_card_confusable(unsigned int card);

/*
 * The misreadings of a reader: weight[card][read] is how often card is read as read, relative to
 * the other numbers of its row; 0 where both are the same. Plain data of the caller.
 */
struct dealbox_confusion {
	uint16_t weight[DEALBOX_CARDS][DEALBOX_CARDS];
};

/*
 * Fills in the typical misreadings of a kind of reader (DEALBOX_READER_*, as in dealbox_info): a
 * bar code is misread by one module or turned round, a camera mistakes the suit for the other of
 * its colour, or the rank for one of similar shape. Any other confusion is possible, but rare.
 * Other readers have no typical misreadings.
 */
DEALBOX_API void dealbox_confusion_reader(struct dealbox_confusion *confusion, unsigned int reader);

/*
 * Adds the misreadings that a trace shows: if a card is read again at the same position with
 * another result, the first reading was wrong. Returns the number of misreadings. The weights are
 * statistics of all deals and reveal nothing about a single board.
 */
DEALBOX_API size_t dealbox_confusion_learn(struct dealbox_confusion *confusion,
					   const struct dealbox_trace *trace);

enum dealbox_culprit {
	DEALBOX_CULPRIT_EARLIER,	/* the earlier reading: that card is a different one */
	DEALBOX_CULPRIT_LATER,		/* the card at the reader is a different one */
	DEALBOX_CULPRIT_DECK,		/* both are right: there is a card of another deck */
	DEALBOX_CULPRITS		/* number of culprits */
};

/* One of the two cards. Unknown members are DEALBOX_NONE, or 0 for place. */
struct dealbox_reading {
	uint8_t position;	/* in the deal, from 0 */
	uint8_t quality;	/* 0..100 */
	uint8_t pocket;		/* the card's pocket */
	uint8_t hand;		/* hand of that pocket: enum dealbox_seat */
	uint8_t place;		/* in that pocket, from 1 = the first card in it */
	uint8_t above;		/* number of cards on top of it */
};

struct dealbox_diagnosis {
	uint8_t card;			/* the repeated card. Secret */
	dealbox_cards candidates;	/* possible identities of the misread card, not yet seen.
					 * Secret */
	dealbox_cards easily;		/* those that this reader easily misreads so. Secret */
	struct dealbox_reading earlier;
	struct dealbox_reading later;	/* at the reader */
	/*
	 * chance of each enum dealbox_culprit, with room for more: percent, sum 100; a rule of
	 * thumb
	 */
	uint8_t chance[8];
	enum dealbox_culprit likely;	/* the most likely culprit */
	uint32_t reserved[8];	/* 0 */
};

/*
 * Diagnoses the last repeated card of the trace. Three facts count: the quality of the two readings
 * among all of this deal; that machines read a repeated card again before they report it, so that
 * the earlier reading is wrong more often; and how easily one of the unseen cards is misread so, by
 * confusion. Only if hardly any can be is a card of another deck more likely. pockets maps hand to
 * pocket; NULL is the identity mapping. Returns 0. -ENOENT: the trace has no repeated card.
 * docs/daemon.md has the success rate, measured by tests/unit/test_diagnosis.c.
 */
DEALBOX_API int dealbox_diagnose_repeat(const struct dealbox_trace *trace,
					const struct dealbox_pack *pack,
					const struct dealbox_confusion *confusion,
					const uint8_t *pockets, struct dealbox_diagnosis *out);

/*
 * Writes the instruction for a person, in English. It names cards only with reveal. Writes at most
 * size bytes including the terminating zero; returns the length it would have had.
 */
DEALBOX_API size_t dealbox_diagnosis_message(const struct dealbox_diagnosis *diagnosis,
					     bool reveal, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
