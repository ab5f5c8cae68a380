/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The keys that answer what machines ask, with the letters of the screen, with the service and
 * without it: Enter is the start key, D deals the board that is in, S skips the one that is wanted,
 * N names the board that is in, R deals the recorded one again. At a terminal a letter counts at
 * once; from a pipe, too. An answer belongs to the question that was shown when it was begun.
 */
#ifndef ANSWER_KEYS_H
#define ANSWER_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

#include <dealbox/dealing.h>

/* The question of one machine, as it is shown. */
struct answer_asked {
	const void *machine;	/* tells machines apart */
	uint64_t question;	/* another number with each question */
	unsigned int keys;	/* from answer_keys_of() */
	uint32_t board, copy;	/* that is wanted, or recorded */
	uint32_t there;		/* number of the board that is in, if another is wanted */
};

enum answer_entry {
	ENTRY_NONE,
	ENTRY_NUMBER,	/* the number of the board is typed */
	ENTRY_SURE,	/* Enter confirms the letter */
	ENTRY_STALE, /* the question has changed: what is typed, up to Enter, is for no one */
};

/* Start from zeros. */
struct answer_keys {
	bool raw;			/* the terminal has other settings than before */
	struct termios before;
	enum answer_entry entry;
	unsigned int key;		/* that the entry is for */
	struct answer_asked asked;	/* the question that it answers */
	unsigned int board;		/* as far as it is typed */
};

/* An answer. */
struct answer {
	enum dealbox_dealing_command command;	/* START: it is Enter, and asked is not set */
	struct answer_asked asked;
	unsigned int board;			/* with NAME_BOARD: as it was typed */
};

/* Let a terminal hand over each key at once, and take that back. */
void answer_keys_open(struct answer_keys *keys);
void answer_keys_close(struct answer_keys *keys);

/*
 * Return the keys that answer a state. allowed() returns false if the machine does not take the
 * answer of that name, of the property Keys; NULL: it takes all.
 */
unsigned int answer_keys_of(enum dealbox_operator_state state,
			    bool (*allowed)(const char *name, void *context), void *context);

/* Machines ask this now. Ends what is being typed if it answered another question. */
void answer_keys_ask(struct answer_keys *keys, const struct answer_asked *asked, size_t count);

/* Write the marks of the keys, to stand behind the sentence of the state. Returns text. */
const char *answer_keys_marks(const struct answer_asked *asked, const char *language, char *text,
			      size_t size);

/*
 * Take what was typed while machines asked this. Returns true if it is an answer. Of what came at
 * once, one answer counts: the next question has not been shown yet.
 */
bool answer_keys_typed(struct answer_keys *keys, const char *language,
		       const struct answer_asked *asked, size_t count, const char *typed,
		       size_t size, struct answer *answer);

#endif
