/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules of the panel: the meaning of its lines and lamps. No I/O; panel.c drives the lines. */
#ifndef DAEMON_PANEL_RULES_H
#define DAEMON_PANEL_RULES_H

#include "dealing/engine.h"

#define PANEL_NAME_MAX	32	/* GPIO_MAX_NAME_SIZE */

/* Lines of a panel. A set of lines has the bits 1 << line. */
enum panel_line {
	PANEL_START,
	PANEL_STOP,
	PANEL_EMERGENCY,
	PANEL_COVER,	/* active = open */
	PANEL_BOARD,	/* active = seated */
	PANEL_RED,
	PANEL_AMBER,
	PANEL_GREEN,
	PANEL_BUZZER,
	PANEL_LINES
};

struct panel_row {
	const char *key;	/* name in dealboxd.conf */
	bool output;
};

extern const struct panel_row panel_rows[PANEL_LINES];

enum panel_bias { PANEL_AS_IS, PANEL_PULL_UP, PANEL_PULL_DOWN };

/* Settings of a line. An empty name means that the panel does not have it. */
struct panel_setting {
	char name[PANEL_NAME_MAX];
	bool active_low;
	enum panel_bias bias;
	unsigned int debounce_us;
};

/*
 * Parse "NAME [active-low] [pull-up | pull-down] [debounce=MS]". Words that are not options are
 * part of the name. Outputs only have the option active-low. Returns 0, or -EINVAL if the name is
 * missing or too long, or if MS is not 0..1000.
 */
int panel_setting_read(struct panel_setting *setting, enum panel_line line, const char *value);

/* Return the gravest reason why these lines forbid dealing, for engine_bar(). */
enum dealbox_operator_state panel_bars(unsigned int lines, unsigned int active);
/* Set *push to the function of a line that became active. Returns false if it has none. */
bool panel_pushes(enum panel_line line, enum push *push);
/*
 * Return true if the start button applies to a machine in this state. machines is the number of
 * machines at the panel, asking the number of those that wait for start. If the operator must look
 * into a machine first, one press cannot answer for several machines.
 */
bool panel_starts(enum dealbox_operator_state shows, unsigned int machines, unsigned int asking);
/* Return the lamps for a state. The buzzer sounds when a red state begins. */
unsigned int panel_lamps(enum dealbox_operator_state shows);

#endif
