/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Show and speak the seat to a person who deals by hand, as a letter as high as the terminal. It is
 * drawn on the terminal's alternate screen, which has no scrollback, and never on standard output.
 */
#ifndef HAND_SHOW_H
#define HAND_SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include <dealbox/machine.h>

#include "hand-words.h"
#include "print/words.h"

struct hand_show {
	const struct words *words;
	const struct hand_words *says;
	const char *pockets;	/* seats of the pockets, such as "NESW" */
	FILE *terminal;
	FILE *voice;		/* of spd-say; NULL: nothing is spoken */
	int voice_pid;
	bool plain;		/* lines instead of large letters */
	bool shown;		/* the other screen is there */
};

/*
 * Open the terminal, and with speak the voice. language is that of the sentences, NULL: English.
 * Returns false after reporting an error. Call hand_show_close() in any case.
 */
bool hand_show_open(struct hand_show *show, const char *language, const char *pockets, bool speak);
/* Show what has changed. DEALBOX_PROMPT_NOTHING leads back to the ordinary screen. */
void hand_show(struct hand_show *show, const struct dealbox_prompt *hand);
/* Go back to the ordinary screen, before something is written there. */
void hand_show_leave(struct hand_show *show);
void hand_show_close(struct hand_show *show);

#endif
