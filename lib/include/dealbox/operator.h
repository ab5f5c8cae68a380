/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the operator of a machine is told: how things stand, and what to do about it. One table
 * for every program that deals; a program makes the sentence from the state and from numbers.
 * No sentence names a card. docs/daemon.md has the table.
 */
#ifndef DEALBOX_OPERATOR_H
#define DEALBOX_OPERATOR_H

#include <stddef.h>
#include <stdint.h>

#include <dealbox/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How it stands. The name of each, for programs, is that of dealbox_operator_name(). */
enum dealbox_operator_state {
	DEALBOX_OPERATOR_NONE,		/* the machine deals */
	/* nothing is wrong: what the operator does next */
	DEALBOX_OPERATOR_NO_WORK,
	DEALBOX_OPERATOR_INSERT,
	DEALBOX_OPERATOR_INSERT_ANY,
	DEALBOX_OPERATOR_START,
	DEALBOX_OPERATOR_TAKE_OUT,
	DEALBOX_OPERATOR_PAUSED,
	DEALBOX_OPERATOR_STOP_CARD,
	DEALBOX_OPERATOR_CAPTURE,
	DEALBOX_OPERATOR_CAPTURED,
	/* the machine */
	DEALBOX_OPERATOR_ABSENT,
	DEALBOX_OPERATOR_COVER,
	DEALBOX_OPERATOR_HOPPER,
	DEALBOX_OPERATOR_MACHINE,	/* it refuses the plan or the start */
	DEALBOX_OPERATOR_UNSUITED,
	DEALBOX_OPERATOR_SILENT,
	DEALBOX_OPERATOR_SLOW,
	DEALBOX_OPERATOR_STOPPED,	/* by the emergency stop */
	DEALBOX_OPERATOR_SEATED,	/* the board is not */
	DEALBOX_OPERATOR_PANEL,
	DEALBOX_OPERATOR_NEW,
	/* a card; the deal goes on */
	DEALBOX_OPERATOR_UNREADABLE,
	DEALBOX_OPERATOR_FACE_UP,
	DEALBOX_OPERATOR_NOT_IN_PLAN,
	DEALBOX_OPERATOR_GATE_LATE,
	DEALBOX_OPERATOR_FEED,
	/* the board is void */
	DEALBOX_OPERATOR_DECK_SHORT,
	DEALBOX_OPERATOR_REPEATED,
	DEALBOX_OPERATOR_DECK_WRONG,
	DEALBOX_OPERATOR_WRONG_POCKET,
	DEALBOX_OPERATOR_DOUBLE_FEED,
	DEALBOX_OPERATOR_JAM,
	DEALBOX_OPERATOR_PULLED,
	DEALBOX_OPERATOR_COVER_OPENED,
	DEALBOX_OPERATOR_HARDWARE,
	DEALBOX_OPERATOR_ABORTED,
	DEALBOX_OPERATOR_DIFFERS,
	DEALBOX_OPERATOR_DOUBT,
	DEALBOX_OPERATOR_USED,
	DEALBOX_OPERATOR_REUSED,
	DEALBOX_OPERATOR_CONFIRM,
	/* the number of the board */
	DEALBOX_OPERATOR_NUMBER_UNREAD,
	DEALBOX_OPERATOR_NUMBER_RANGE,
	DEALBOX_OPERATOR_NUMBER_OTHER,
	DEALBOX_OPERATOR_NUMBER_DONE,
	/* the set, the record */
	DEALBOX_OPERATOR_PLACEHOLDER,
	DEALBOX_OPERATOR_REPEAT,
	DEALBOX_OPERATOR_BAD_SET,
	DEALBOX_OPERATOR_LEDGER,
	DEALBOX_OPERATOR_STATES
};

/* What leads on, bits. */
#define DEALBOX_WAY_PLUG	(1u << 0)	/* the machine is plugged in */
#define DEALBOX_WAY_INSERT	(1u << 1)	/* a board is put in */
#define DEALBOX_WAY_REMOVE	(1u << 2)	/* the board is taken out */
#define DEALBOX_WAY_START	(1u << 3)	/* start is pressed, or asked for: "I have done it" */
#define DEALBOX_WAY_HOPPER	(1u << 4)	/* cards are put into the hopper */
#define DEALBOX_WAY_COVER	(1u << 5)	/* the cover is closed */
#define DEALBOX_WAY_SKIP	(1u << 6)	/* the copy is skipped */
#define DEALBOX_WAY_JOB		(1u << 7)	/* another job, or the job changed */
#define DEALBOX_WAY_SELF	(1u << 8)	/* it goes on by itself */

/* Where it is, and how much. 0 is not known: then nothing is said about it. */
struct dealbox_operator_facts {
	uint32_t board;		/* that is dealt, or wanted */
	uint32_t copy;		/* of that board, from 1 */
	uint32_t there;		/* number of the board that is there, when another is wanted */
	uint32_t card;		/* at which it stopped, from 1 .. */
	uint32_t cards;		/* .. of so many */
	uint32_t seat;		/* 1 = N .. 4 = W: in whose pocket the earlier of two cards lies .. */
	uint32_t depth;		/* .. counted from the top, 1 = the top card */
	uint32_t place;		/* of a jam: the code of DEALBOX_EV_JAM */
	uint32_t code;		/* of a fault, as the maker counts */
	uint32_t reserved[7];	/* 0 */
};

/* The state's name, for programs: "insert-board". NULL beyond the last. Static. */
DEALBOX_API const char *dealbox_operator_name(enum dealbox_operator_state state);
/* Which rows of the field's own list of errors it answers: "E3 E4"; "" if none. Static. */
DEALBOX_API const char *dealbox_operator_rows(enum dealbox_operator_state state);
/* What leads on: DEALBOX_WAY_*. */
DEALBOX_API unsigned int dealbox_operator_ways(enum dealbox_operator_state state);

/**
 * dealbox_operator_text - the sentences for the operator: what is so, and what to do
 * @state: how it stands
 * @facts: where, and how much
 * @language: one of dealbox_law_language(); NULL or any other is English
 * @text: out, UTF-8; ends with a zero when size is not 0
 * @size: bytes of text. 2048 are enough for every state and language
 *
 * As snprintf().
 */
DEALBOX_API size_t dealbox_operator_text(enum dealbox_operator_state state,
					 const struct dealbox_operator_facts *facts,
					 const char *language, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
