// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include <dealbox/law.h>

#include "answer-keys.h"
#include "ruling-text.h"
#include "tool.h"

#define NUMBER_MOST	9999	/* more digits are not taken */
#define ESCAPE		'\33'
#define DELETE		'\177'

/* Keys besides Enter. Each is one of the screen's: tools/screen/present.js. */
static const struct key {
	char letter;
	enum dealbox_operator_state state;	/* that it answers */
	enum dealbox_dealing_command command;
	const char *name;			/* of the property Keys of the service */
	const char *label;			/* one %u at most: the board */
	bool there; /* the board that is in, not the one that is wanted */
	enum answer_entry entry;		/* what is typed next */
} table[] = {
	{ 'D', DEALBOX_OPERATOR_NUMBER_OTHER, DEALBOX_DEALING_DEAL_THIS, "deal-this",
	  N_("Deal board %u now"), true, ENTRY_NONE },
	{ 'S', DEALBOX_OPERATOR_NUMBER_OTHER, DEALBOX_DEALING_SKIP, "skip", N_("Skip board %u"),
	  false, ENTRY_NONE },
	{ 'N', DEALBOX_OPERATOR_NUMBER_UNREAD, DEALBOX_DEALING_NAME_BOARD, "name-board",
	  N_("It has another number"), false, ENTRY_NUMBER },
	/* it takes back what is recorded */
	{ 'R', DEALBOX_OPERATOR_TAKE_OUT, DEALBOX_DEALING_REDEAL, "redeal",
	  N_("Deal board %u again"), false, ENTRY_SURE },
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

unsigned int answer_keys_of(enum dealbox_operator_state state,
			    bool (*allowed)(const char *name, void *context), void *context)
{
	unsigned int keys = 0;
	size_t n;

	for (n = 0; n < KEYS; n++)
		if (table[n].state == state && (!allowed || allowed(table[n].name, context)))
			keys |= 1u << n;
	return keys;
}

static bool same(const struct answer_asked *a, const struct answer_asked *b)
{
	return a->machine == b->machine && a->question == b->question;
}

void answer_keys_ask(struct answer_keys *keys, const struct answer_asked *asked, size_t count)
{
	size_t n;

	if (keys->entry != ENTRY_NUMBER && keys->entry != ENTRY_SURE)
		return;
	for (n = 0; n < count; n++)
		if (same(&asked[n], &keys->asked) && asked[n].keys >> keys->key & 1)
			return;
	/* its Enter is no answer to what is asked now */
	keys->entry = ENTRY_STALE;
	progress(NULL);
}

/* Write what a key does. Returns text. */
static const char *label_of(const struct key *key, const struct answer_asked *asked,
			    const char *language, char *text, size_t size)
{
	snprintf(text, size, dealbox_law_translate(language, key->label),
		 key->there ? asked->there : asked->board);
	return text;
}

const char *answer_keys_marks(const struct answer_asked *asked, const char *language, char *text,
			      size_t size)
{
	size_t n, length = 0;
	char label[128];

	*text = '\0';
	for (n = 0; n < KEYS && length < size; n++)
		if (asked->keys >> n & 1)
			length += (size_t)snprintf(text + length, size - length, " [%c: %s]",
						   table[n].letter,
						   label_of(&table[n], asked, language, label,
							    sizeof(label)));
	return text;
}

/* Show what is being typed. */
static void entry_show(const struct answer_keys *keys, const char *language)
{
	char label[128];

	if (keys->entry == ENTRY_SURE)
		progress("%s? [Enter] [Esc]", label_of(&table[keys->key], &keys->asked, language,
						       label, sizeof(label)));
	else if (keys->board)
		progress("%s %u", dealbox_law_translate(language,
			 N_("Which number is on the board?")), keys->board);
	else
		progress("%s ", dealbox_law_translate(language,
			 N_("Which number is on the board?")));
}

/* Take a key of an entry. Returns true if Enter has made it an answer. */
static bool entry_typed(struct answer_keys *keys, const char *language, char typed)
{
	bool number = keys->entry == ENTRY_NUMBER;

	if (typed == '\n' || typed == ESCAPE || (!number && !isspace((unsigned char)typed))) {
		/* after another key than Enter or Esc, an Enter may be meant for that */
		keys->entry = typed == '\n' || typed == ESCAPE ? ENTRY_NONE : ENTRY_STALE;
		progress(NULL);
		return typed == '\n' && (!number || keys->board);
	}
	if (isdigit((unsigned char)typed) &&
	    keys->board * 10 + (unsigned int)(typed - '0') <= NUMBER_MOST)
		keys->board = keys->board * 10 + (unsigned int)(typed - '0');
	else if (typed == DELETE || typed == '\b')
		keys->board /= 10;
	entry_show(keys, language);
	return false;
}

/* Return the only machine that takes the key; NULL if none does, or several. */
static const struct answer_asked *asks_for(unsigned int key, const struct answer_asked *asked,
					   size_t count)
{
	const struct answer_asked *found = NULL;
	unsigned int machines = 0;
	size_t n;

	for (n = 0; n < count; n++)
		if (asked[n].keys >> key & 1) {
			found = &asked[n];
			machines++;
		}
	if (machines > 1)
		complain("answer on the screen; or deal with --machine, on each from a terminal of "
			 "its own", "%u machines ask for that", machines);
	return machines == 1 ? found : NULL;
}

/* Take a letter or digit. Returns true if it was an answer. */
static bool letter_typed(struct answer_keys *keys, const char *language,
			 const struct answer_asked *asked, size_t count, char letter)
{
	const struct answer_asked *found;
	unsigned int n;

	for (n = 0; n < KEYS && table[n].letter != toupper((unsigned char)letter); n++)
		;
	if (n == KEYS && !isdigit((unsigned char)letter))
		return false;
	found = n < KEYS ? asks_for(n, asked, count) : NULL;
	if (!found) {
		/*
		 * It is for a question that is over. An Enter behind it must not answer the present
		 * one.
		 */
		keys->entry = ENTRY_STALE;
		return false;
	}
	keys->key = n;
	keys->asked = *found;
	keys->entry = table[n].entry;
	keys->board = 0;
	if (keys->entry != ENTRY_NONE)
		entry_show(keys, language);
	return keys->entry == ENTRY_NONE;
}

bool answer_keys_typed(struct answer_keys *keys, const char *language,
		       const struct answer_asked *asked, size_t count, const char *typed,
		       size_t size, struct answer *answer)
{
	bool lettered;
	size_t n;

	for (n = 0; n < size; n++) {
		if (keys->entry == ENTRY_NUMBER || keys->entry == ENTRY_SURE) {
			lettered = entry_typed(keys, language, typed[n]);
		} else if (typed[n] != '\n' && typed[n] != ESCAPE) {
			lettered = letter_typed(keys, language, asked, count, typed[n]);
		} else if (keys->entry == ENTRY_STALE || typed[n] == ESCAPE) {
			keys->entry = ENTRY_NONE;
			continue;
		} else {
			*answer = (struct answer){ .command = DEALBOX_DEALING_START };
			return true;
		}
		if (!lettered)
			continue;
		*answer = (struct answer){ .command = table[keys->key].command,
					   .asked = keys->asked, .board = keys->board };
		return true;
	}
	return false;
}
