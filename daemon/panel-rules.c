// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "panel-rules.h"

#define DEBOUNCE_US	10000	/* default: longer than contacts bounce, too short to notice */
#define DEBOUNCE_MAX	1000	/* ms */

const struct panel_row panel_rows[PANEL_LINES] = {
	[PANEL_START] = { "start", false },
	[PANEL_STOP] = { "stop", false },
	[PANEL_EMERGENCY] = { "emergency", false },
	[PANEL_COVER] = { "cover", false },
	[PANEL_BOARD] = { "board", false },
	[PANEL_RED] = { "red", true },
	[PANEL_AMBER] = { "amber", true },
	[PANEL_GREEN] = { "green", true },
	[PANEL_BUZZER] = { "buzzer", true },
};

/* Returns 1 if the word is an option, 0 if it is none, or -EINVAL. */
static int read_option(struct panel_setting *setting, bool output, const char *word)
{
	static const char debounce[] = "debounce=";
	unsigned long ms;
	char *end;

	if (!strcmp(word, "active-low")) {
		setting->active_low = true;
		return 1;
	}
	if (output)
		return 0;
	if (!strcmp(word, "pull-up")) {
		setting->bias = PANEL_PULL_UP;
	} else if (!strcmp(word, "pull-down")) {
		setting->bias = PANEL_PULL_DOWN;
	} else if (!strncmp(word, debounce, strlen(debounce))) {
		word += strlen(debounce);
		ms = strtoul(word, &end, 10);
		if (*word < '0' || *word > '9' || *end || ms > DEBOUNCE_MAX)
			return -EINVAL;
		setting->debounce_us = ms * 1000;
	} else {
		return 0;
	}
	return 1;
}

int panel_setting_read(struct panel_setting *setting, enum panel_line line, const char *value)
{
	char text[128], *word;
	int option;

	*setting = (struct panel_setting){
		.debounce_us = panel_rows[line].output ? 0 : DEBOUNCE_US
	};
	if (snprintf(text, sizeof(text), "%s", value) >= (int)sizeof(text))
		return -EINVAL;
	/* Parse from the end, since a name may contain spaces. */
	while ((word = strrchr(text, ' '))) {
		option = *word && word[1] ?
			read_option(setting, panel_rows[line].output, word + 1) : 1;
		if (option < 0)
			return option;
		if (!option)
			break;
		*word = 0;
	}
	if (!*text || strlen(text) >= sizeof(setting->name))
		return -EINVAL;
	strcpy(setting->name, text);
	return 0;
}

enum dealbox_operator_state panel_bars(unsigned int lines, unsigned int active)
{
	/* gravest first */
	static const struct {
		enum panel_line line;
		bool active;
		enum dealbox_operator_state state;
	} rows[] = {
		{ PANEL_EMERGENCY, true, DEALBOX_OPERATOR_STOPPED },
		{ PANEL_COVER, true, DEALBOX_OPERATOR_COVER },
		{ PANEL_BOARD, false, DEALBOX_OPERATOR_SEATED },
	};
	size_t n;

	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++)
		if (lines >> rows[n].line & 1 && (active >> rows[n].line & 1) == rows[n].active)
			return rows[n].state;
	return DEALBOX_OPERATOR_NONE;
}

bool panel_pushes(enum panel_line line, enum push *push)
{
	static const enum push pushes[] = {
		[PANEL_START] = PUSH_START, [PANEL_STOP] = PUSH_PAUSE,
		[PANEL_EMERGENCY] = PUSH_STOP,
	};

	if (line >= sizeof(pushes) / sizeof(pushes[0]))
		return false;
	*push = pushes[line];
	return true;
}

bool panel_starts(enum dealbox_operator_state shows, unsigned int machines, unsigned int asking)
{
	if (machines == 1 || shows == DEALBOX_OPERATOR_START || shows == DEALBOX_OPERATOR_PAUSED ||
	    shows == DEALBOX_OPERATOR_STOPPED)
		return true;
	return asking == 1 && dealbox_operator_ways(shows) & DEALBOX_WAY_START;
}

#define RED	(1 << PANEL_RED)
#define AMBER	(1 << PANEL_AMBER)
#define GREEN	(1 << PANEL_GREEN)

unsigned int panel_lamps(enum dealbox_operator_state shows)
{
	/*
	 * red: something is wrong; amber: waiting for the operator; green: dealing. Default: red.
	 */
	static const unsigned char lamps[DEALBOX_OPERATOR_STATES] = {
		[DEALBOX_OPERATOR_NONE] = GREEN,
		[DEALBOX_OPERATOR_INSERT ... DEALBOX_OPERATOR_CAPTURED] = AMBER,
		[DEALBOX_OPERATOR_SLOW] = GREEN | AMBER,
		[DEALBOX_OPERATOR_SEATED] = AMBER,
		[DEALBOX_OPERATOR_CONFIRM] = AMBER,
	};

	if (shows == DEALBOX_OPERATOR_NO_WORK)
		return 0;
	return lamps[shows] ? lamps[shows] : RED;
}
