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

enum dealbox_culprit {
	DEALBOX_CULPRIT_EARLIER,	/* the earlier reading: that card is another */
	DEALBOX_CULPRIT_LATER,		/* the card at the reader is another */
	DEALBOX_CULPRIT_DECK,		/* both are right: a card of another deck got in */
	DEALBOX_CULPRITS
};

/* One of the two cards. What is not known is DEALBOX_NONE, or 0 for place. */
struct dealbox_reading {
	uint8_t position;	/* in the deal, from 0 */
	uint8_t quality;	/* 0..100 */
	uint8_t pocket;		/* where it lies */
	uint8_t place;		/* in that pocket, from 1 = the first that fell in */
	uint8_t above;		/* how many fell on it */
};

struct dealbox_diagnosis {
	uint8_t card;			/* that came twice. Secret */
	dealbox_cards candidates;	/* what the misread one can be: not yet seen, and easily
					 * read so. Secret */
	struct dealbox_reading earlier;
	struct dealbox_reading later;	/* at the reader */
	uint8_t chance[DEALBOX_CULPRITS]; /* percent, together 100; a rule of thumb */
	enum dealbox_culprit likely;	/* the greatest of them */
};

/*
 * Looks at the last repeated card of the trace. Weighs: which cards of the pack have not been
 * seen yet, and which of them have a confusable code; how well the two readings were; that
 * machines try a repeated card again before they report it, so that the earlier reading is
 * oftener wrong. 0; -ENOENT when no card of the trace came twice.
 */
DEALBOX_API int dealbox_diagnose_repeat(const struct dealbox_trace *trace,
					const struct dealbox_pack *pack,
					struct dealbox_diagnosis *out);

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
