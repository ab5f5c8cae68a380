/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The panel, what it means: which line does what, which lamp shows what. No I/O;
 * panel.c has the lines.
 */
#ifndef DAEMON_PANEL_RULES_H
#define DAEMON_PANEL_RULES_H

#include "dealing/engine.h"

#define PANEL_NAME_MAX	32	/* of a line: GPIO_MAX_NAME_SIZE */

/* The lines of a panel; a set of them is bits, 1 << line. */
enum panel_line {
	PANEL_START,
	PANEL_STOP,
	PANEL_EMERGENCY,
	PANEL_COVER,	/* active = open */
	PANEL_BOARD,	/* active = it sits */
	PANEL_RED,
	PANEL_AMBER,
	PANEL_GREEN,
	PANEL_BUZZER,
	PANEL_LINES
};

struct panel_row {
	const char *key;	/* in dealboxd.conf */
	bool output;
};

extern const struct panel_row panel_rows[PANEL_LINES];

enum panel_bias { PANEL_AS_IS, PANEL_PULL_UP, PANEL_PULL_DOWN };

/* What dealboxd.conf says of a line; an empty name: there is none. */
struct panel_setting {
	char name[PANEL_NAME_MAX];
	bool active_low;
	enum panel_bias bias;
	unsigned int debounce_us;
};

/*
 * Reads "NAME [active-low] [pull-up | pull-down] [debounce=MS]"; what is no option belongs to
 * the name. Outputs have no option but active-low. 0, or -EINVAL: no name, one that is too
 * long, or a debounce time that is not 0..1000.
 */
int panel_setting_read(struct panel_setting *setting, enum panel_line line, const char *value);

/* What these lines, of which some are active, bar: see engine_bar(). The gravest is told. */
enum dealbox_operator_state panel_bars(unsigned int lines, unsigned int active);
/* What a line that has become active presses: false if nothing. */
bool panel_pushes(enum panel_line line, enum push *push);
/*
 * Does the start button mean this machine, which shows that? machines: how many there are at
 * the panel; asking: how many of them wait for start. A question that is answered by looking
 * into one machine is not answered for several by one press.
 */
bool panel_starts(enum dealbox_operator_state shows, unsigned int machines, unsigned int asking);
/* The lamps for a machine that shows that. What is red beeps when it comes. */
unsigned int panel_lamps(enum dealbox_operator_state shows);

#endif
