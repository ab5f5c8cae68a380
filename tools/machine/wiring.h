/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The wiring of a machine: which lines of which GPIO chips move and see its cards, and how long
 * each may take. Read from an INI file, see dealbox-machine.conf(5). Pure.
 */
#ifndef MACHINE_WIRING_H
#define MACHINE_WIRING_H

#include <stdbool.h>
#include <stdint.h>

#include "core.h"

#define WIRING_NAME	64
#define WIRING_GATES	8
#define WIRING_SETTLE_MOST 400u	/* ms; before the core's limit for gates */

/* Outputs come first; the groups of gates and exits have a line for each gate and each pocket. */
enum wiring_line {
	WIRING_FEED,			/* moves a card from the hopper to the reader */
	WIRING_RELEASE,			/* moves the card at the reader through the gates */
	WIRING_GATE,
	WIRING_LOCK = WIRING_GATE + WIRING_GATES,
	WIRING_LAMP,
	WIRING_BUZZER,
	WIRING_HEARTBEAT,
	WIRING_READER,			/* active = dark */
	WIRING_CARD,			/* active = a card has come past the reader, and rests */
	WIRING_HOPPER,			/* active = there are cards */
	WIRING_BOARD,			/* active = there is one */
	WIRING_COVER,			/* active = open */
	WIRING_DOUBLE,			/* active = two cards lie upon each other */
	WIRING_KEY_START,
	WIRING_KEY_STOP,
	WIRING_KEY_RELEASE,
	WIRING_EXIT,			/* active = a card falls into the pocket */
	WIRING_LINES = WIRING_EXIT + CORE_POCKETS,
	WIRING_INPUTS = WIRING_READER,	/* the first input */
};

enum wiring_bias { WIRING_AS_IS, WIRING_PULL_UP, WIRING_PULL_DOWN };

struct wiring_setting {
	unsigned int at;		/* line of the file, 0 = the machine has no such line */
	char chip[WIRING_NAME];		/* path, name or label */
	char name[WIRING_NAME];		/* of the line, or its number */
	bool active_low;
	bool reversed;			/* of the reader: cards pass with the last module first */
	enum wiring_bias bias;		/* of inputs */
	uint32_t debounce_us;		/* of inputs; 0 for the reader */
	uint32_t most_ms;		/* of outputs but the heartbeat: how long they may be on */
};

struct wiring {
	struct wiring_setting lines[WIRING_LINES];
	char model[32];			/* padded with zeros */
	uint16_t hopper;		/* the cards that fit in */
	uint8_t capacity;		/* cards that a pocket holds */
	uint8_t pockets;
	uint8_t gates[CORE_POCKETS];	/* of each pocket: 1 << n, the gates that are switched on */
	uint32_t settle_ms;		/* from switching gates until a card may come */
	uint32_t fall_ms; /* from leaving the reader until it has fallen: without exits */
	char error[200];
};

/*
 * Read the text of an INI file. Returns 0, or the number of the line that is wrong; wiring->error
 * then says why. If something is missing, that is the last line of the file.
 */
unsigned int wiring_read(struct wiring *wiring, const char *text);

/* Returns true if the machine has the line. */
static inline bool wiring_has(const struct wiring *wiring, enum wiring_line line)
{
	return wiring->lines[line].at;
}

/* Store the section and the key of a line, as "[inputs] card". */
void wiring_name(enum wiring_line line, char name[WIRING_NAME]);

/*
 * Set what the wiring says about the machine: reader, pockets, capacity, hopper, model, and the
 * capabilities of its sensors. The others are for the caller.
 */
void wiring_config(const struct wiring *wiring, struct core_config *config);

#endif
