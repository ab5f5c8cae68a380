/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The keys that answer a state of a machine, with the letters of the screen: Enter is the start
 * key, D deals the board that is in, S skips the one that is wanted, N names the board that is in.
 * At a terminal a letter counts at once; from a pipe, too.
 */
#ifndef ANSWER_KEYS_H
#define ANSWER_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include <dealbox/dealing.h>

enum answer_entry {
	ENTRY_NONE,
	ENTRY_NUMBER, /* the number of the board is typed */
	ENTRY_STALE, /* the question has changed: ignore what is typed, up to Enter */
};

/* Start from zeros. */
struct answer_keys {
	bool raw;			/* the terminal has other settings than before */
	struct termios before;
	enum dealbox_operator_state state;	/* that was shown last .. */
	struct dealbox_operator_facts facts;
	uint32_t insertion;
	enum answer_entry entry;
	unsigned int board;		/* as far as it is typed */
};

/* Let a terminal hand over each key at once, and take that back. */
void answer_keys_open(struct answer_keys *keys);
void answer_keys_close(struct answer_keys *keys);

/* A state is shown. Ends the number that is being typed if it answered another question. */
void answer_keys_state(struct answer_keys *keys, const struct dealbox_dealing_news *news);

/* Write the marks of the keys, to stand behind the sentence of the state. Returns text. */
const char *answer_keys_marks(const struct answer_keys *keys, const char *language, char *text,
			      size_t size);

/* Pass on what was typed. */
void answer_keys_typed(struct answer_keys *keys, const char *language,
		       struct dealbox_dealing *dealing, const char *typed, size_t size);

#endif
