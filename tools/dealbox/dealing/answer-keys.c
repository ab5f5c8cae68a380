// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include <dealbox/law.h>

#include "answer-keys.h"
#include "ui/ruling-text.h"
#include "ui/tool.h"

#define NUMBER_MOST	9999	/* more digits are not taken */
#define ESCAPE		'\33'
#define DELETE		'\177'

/* Keys besides Enter. Each is one of the screen's: tools/screen/present.js. */
static const struct key {
	char letter;
	enum dealbox_operator_state state;	/* that it answers */
	enum dealbox_dealing_command command;
	const char *label;			/* one %u at most: the board */
	bool there; /* the board that is in, not the one that is wanted */
} table[] = {
	{ 'D', DEALBOX_OPERATOR_NUMBER_OTHER, DEALBOX_DEALING_DEAL_THIS, N_("Deal board %u now"),
	  true },
	{ 'S', DEALBOX_OPERATOR_NUMBER_OTHER, DEALBOX_DEALING_SKIP, N_("Skip board %u"), false },
	{ 'N', DEALBOX_OPERATOR_NUMBER_UNREAD, DEALBOX_DEALING_NAME_BOARD,
	  N_("It has another number"), false },
};

#define KEYS	(sizeof(table) / sizeof(table[0]))

void answer_keys_open(struct answer_keys *keys)
{
	struct termios now;
	pid_t front = tcgetpgrp(STDIN_FILENO);

	/* In the background, the terminal is another program's. */
	if ((front >= 0 && front != getpgrp()) || tcgetattr(STDIN_FILENO, &keys->before))
		return;
	now = keys->before;
	now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	now.c_cc[VMIN] = 1;
	now.c_cc[VTIME] = 0;
	keys->raw = !tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

void answer_keys_close(struct answer_keys *keys)
{
	if (keys->raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &keys->before);
	keys->raw = false;
}

void answer_keys_state(struct answer_keys *keys, const struct dealbox_dealing_news *news)
{
	if (keys->entry == ENTRY_NUMBER &&
	    (keys->state != news->state || keys->insertion != news->insertion)) {
		/* its Enter is no answer to what is asked now */
		keys->entry = ENTRY_STALE;
		progress(NULL);
	}
	keys->state = news->state;
	keys->facts = news->facts;
	keys->insertion = news->insertion;
}

const char *answer_keys_marks(const struct answer_keys *keys, const char *language, char *text,
			      size_t size)
{
	size_t n, length = 0;
	char label[128];

	*text = '\0';
	for (n = 0; n < KEYS && length < size; n++) {
		const struct key *key = &table[n];

		if (key->state != keys->state)
			continue;
		snprintf(label, sizeof(label), dealbox_law_translate(language, key->label),
			 key->there ? keys->facts.there : keys->facts.board);
		length += (size_t)snprintf(text + length, size - length, " [%c: %s]", key->letter,
					   label);
	}
	return text;
}

static void number_show(const struct answer_keys *keys, const char *language)
{
	const char *question = dealbox_law_translate(language, N_("Which number is on the board?"));

	if (keys->board)
		progress("%s %u", question, keys->board);
	else
		progress("%s ", question);
}

/* Take a key of the number. Returns true if the number is typed. */
static bool number_typed(struct answer_keys *keys, const char *language, char typed)
{
	if (typed == '\n' || typed == ESCAPE) {
		keys->entry = ENTRY_NONE;
		progress(NULL);
		return typed == '\n' && keys->board;
	}
	if (isdigit((unsigned char)typed) &&
	    keys->board * 10 + (unsigned int)(typed - '0') <= NUMBER_MOST)
		keys->board = keys->board * 10 + (unsigned int)(typed - '0');
	else if (typed == DELETE || typed == '\b')
		keys->board /= 10;
	number_show(keys, language);
	return false;
}

/* Take a letter or digit. Returns true if it was an answer. */
static bool letter_typed(struct answer_keys *keys, const char *language,
			 struct dealbox_dealing *dealing, char letter)
{
	bool ours = isdigit((unsigned char)letter);
	size_t n;

	for (n = 0; n < KEYS; n++) {
		if (table[n].letter != toupper((unsigned char)letter))
			continue;
		if (table[n].state == keys->state)
			break;
		ours = true;
	}
	if (n == KEYS) {
		/*
		 * It is for a question that is over. An Enter behind it must not answer the present
		 * one.
		 */
		if (ours)
			keys->entry = ENTRY_STALE;
		return false;
	}
	keys->entry = ENTRY_NONE;
	if (table[n].command != DEALBOX_DEALING_NAME_BOARD) {
		dealbox_dealing_command(dealing, table[n].command, keys->facts.board,
					keys->facts.copy);
		return true;
	}
	keys->entry = ENTRY_NUMBER;
	keys->board = 0;
	number_show(keys, language);
	return false;
}

void answer_keys_typed(struct answer_keys *keys, const char *language,
		       struct dealbox_dealing *dealing, const char *typed, size_t size)
{
	bool answered = false;
	size_t n;

	/* Of what came at once, one answer counts: the next question has not been shown yet. */
	for (n = 0; n < size && !answered; n++) {
		if (keys->entry == ENTRY_NUMBER) {
			answered = number_typed(keys, language, typed[n]);
			if (answered &&
			    dealbox_dealing_command(dealing, DEALBOX_DEALING_NAME_BOARD,
						    keys->board, 0))
				complain("type the number that is on its label",
					 "the job has no board %u", keys->board);
		} else if (typed[n] != '\n' && typed[n] != ESCAPE) {
			answered = letter_typed(keys, language, dealing, typed[n]);
		} else if (keys->entry == ENTRY_STALE) {
			keys->entry = ENTRY_NONE;
		} else if (typed[n] == '\n') {
			dealbox_dealing_command(dealing, DEALBOX_DEALING_START, 0, 0);
			answered = true;
		}
	}
}
