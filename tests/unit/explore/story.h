/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A story: what somebody or something does, one thing after the other. It is told in words, and as
 * commands with which the emulator plays the same (player.py).
 */
#ifndef EXPLORE_STORY_H
#define EXPLORE_STORY_H

#include "host.h"

enum action {
	ACT_STEP,		/* of the program; argument: enum transfers, or FULL_DISK, LATE */
	ACT_ARRIVE,		/* events reach the program */
	ACT_ADVANCE,		/* the machine; argument: enum mishap */
	ACT_REPORT,
	ACT_SETTLED,		/* a deal is over for long enough */
	ACT_LOOK,		/* the program looks at the machine */
	ACT_INSERT,		/* argument: 1 = the board that was taken out, as it is */
	ACT_REMOVE,
	ACT_FILL,		/* argument: enum filling */
	ACT_ADD,		/* the missing card is put into the hopper */
	ACT_TAKE,		/* the card at the reader is taken out */
	ACT_PUSH,		/* argument: enum push */
	ACT_SWAP,
	ACT_UNSPENT,		/* the machine forgets that the insertion is spent */
	ACT_DROP,
	ACT_DOUBLE,
	ACT_EXCHANGE,		/* two events */
	ACT_KILL,
	ACT_BOOT,
	ACT_OFF,
	ACT_ON,
	ACT_RESET,
	ACT_OPEN,		/* the program opens the machine again */
	ACT_COVER,		/* argument: 1 = it is opened */
	/* host-routed */
	ACT_RECEIVE,		/* the driver receives events while the program is busy */
	ACT_GATE,		/* a gate command reaches the machine */
	ACT_GATE_LOST,
	ACT_LATE,		/* the machine has waited long enough for it */
	ACTIONS
};

#define FULL_DISK	TRANSFERS
#define LATE		(TRANSFERS + 1)
#define STEP_WAYS	(TRANSFERS + 2)

struct choice {
	enum action action;
	unsigned int arg;
};

/* Begin a story. `now` is its first state. */
void story_begin(void);
/* Print what comes next, before it is applied to `now`. */
void story_next(const struct choice *choice);
/* Print what the operator is told, if that has changed. */
void story_shows(void);
/* End a story. what is forbidden and has happened; NULL: both boards were dealt. */
void story_end(const char *what);

#endif
