/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sentences for a person who deals by hand, in the languages of the laws. */
#ifndef HAND_WORDS_H
#define HAND_WORDS_H

#include <dealbox/machine.h>

struct hand_words {
	const char *language;
	const char *help;		/* when it begins */
	const char *in, *out;		/* the board is in, or out: the answer to Enter */
	const char *first;		/* name the first card */
	const char *card;		/* "card %u of %u" */
	const char *of[DEALBOX_PROMPT_KINDS];	/* enum dealbox_prompt_kind; NULL: none */
};

/* Returns the words of a language; those of English for NULL and for an unknown one. */
const struct hand_words *hand_words_find(const char *language);

#endif
