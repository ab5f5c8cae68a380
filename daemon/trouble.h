/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an operator can meet: in each case the state, what to do, and what leads on.
 * One table for daemon, tools and documentation; the rows named E are those
 * of the field's own list of errors. No text here names a card.
 */
#ifndef DAEMON_TROUBLE_H
#define DAEMON_TROUBLE_H

#include <stddef.h>

enum trouble {
	TROUBLE_NONE,
	/* nothing is wrong: what the operator does next */
	TROUBLE_NO_WORK,
	TROUBLE_INSERT,
	TROUBLE_INSERT_ANY,
	TROUBLE_START,
	TROUBLE_TAKE_OUT,
	TROUBLE_PAUSED,
	TROUBLE_STOP_CARD,
	TROUBLE_CAPTURE,
	TROUBLE_CAPTURED,
	/* the machine */
	TROUBLE_ABSENT,
	TROUBLE_COVER,
	TROUBLE_HOPPER,
	TROUBLE_MACHINE,
	TROUBLE_UNSUITED,
	TROUBLE_SILENT,
	TROUBLE_SLOW,
	TROUBLE_STOPPED,
	TROUBLE_SEATED,
	TROUBLE_PANEL,
	TROUBLE_NEW,
	/* a card, the deal goes on */
	TROUBLE_UNREADABLE,
	TROUBLE_FACE_UP,
	TROUBLE_NOT_IN_PLAN,
	TROUBLE_GATE_LATE,
	TROUBLE_FEED,
	/* the board is void */
	TROUBLE_DECK_SHORT,
	TROUBLE_REPEATED,
	TROUBLE_DECK_WRONG,
	TROUBLE_WRONG_POCKET,
	TROUBLE_DOUBLE_FEED,
	TROUBLE_JAM,
	TROUBLE_PULLED,
	TROUBLE_COVER_OPENED,
	TROUBLE_HARDWARE,
	TROUBLE_ABORTED,
	TROUBLE_DIFFERS,
	TROUBLE_DOUBT,
	TROUBLE_USED,
	TROUBLE_REUSED,
	TROUBLE_CONFIRM,
	/* the number of the board */
	TROUBLE_NUMBER_UNREAD,
	TROUBLE_NUMBER_RANGE,
	TROUBLE_NUMBER_OTHER,
	TROUBLE_NUMBER_DONE,
	/* the set, the record */
	TROUBLE_PLACEHOLDER,
	TROUBLE_REPEAT,
	TROUBLE_BAD_SET,
	TROUBLE_LEDGER,
	TROUBLES
};

/* What leads on, bits. */
enum way {
	WAY_NONE = 0,
	WAY_PLUG = 1 << 0,	/* the machine is plugged in */
	WAY_INSERT = 1 << 1,	/* a board is put in */
	WAY_REMOVE = 1 << 2,	/* the board is taken out */
	WAY_START = 1 << 3,	/* start is pressed, or asked for: "I have done it" */
	WAY_HOPPER = 1 << 4,	/* cards are put into the hopper */
	WAY_COVER = 1 << 5,	/* the cover is closed */
	WAY_SKIP = 1 << 6,	/* the copy is skipped */
	WAY_JOB = 1 << 7,	/* another job, or the job changed */
	WAY_SELF = 1 << 8,	/* it goes on by itself */
};

struct trouble_row {
	const char *name;	/* for programs: never changes */
	const char *rows;	/* of the list of errors: "E3 E4"; "" if of none */
	const char *says;	/* what is so, and what to do */
	unsigned int ways;
};

extern const struct trouble_row trouble_rows[TROUBLES];

/*
 * The sentence for an operator: says, with %b and %c replaced by board and copy. Same
 * return value as snprintf().
 */
size_t trouble_text(enum trouble trouble, unsigned int board, unsigned int copy, char *text,
		    size_t size);

#endif
