/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Instructions for the operator of a machine: the state, and what to do next. One table serves
 * every program that deals; the sentence is made from the state and from numbers. No sentence names
 * a card. docs/operator-states.md, which is made of the table, has all sentences.
 */
#ifndef DEALBOX_OPERATOR_H
#define DEALBOX_OPERATOR_H

#include <stddef.h>
#include <stdint.h>

#include <dealbox/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* States of a machine for the operator. dealbox_operator_name() has their names for programs. */
enum dealbox_operator_state {
	DEALBOX_OPERATOR_NONE,		/* the machine deals */
	/* no fault: the operator's next step */
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
	/* a card; the deal continues */
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
	/* the event */
	DEALBOX_OPERATOR_LEASE,		/* its lease has ended */
	DEALBOX_OPERATOR_STATES
};

/* Ways on, as bits. */
#define DEALBOX_WAY_PLUG	(1u << 0)	/* the machine is plugged in */
#define DEALBOX_WAY_INSERT	(1u << 1)	/* a board is put in */
#define DEALBOX_WAY_REMOVE	(1u << 2)	/* the board is taken out */
#define DEALBOX_WAY_START	(1u << 3)	/* start is pressed, or called: "task done" */
#define DEALBOX_WAY_HOPPER	(1u << 4)	/* cards are put into the hopper */
#define DEALBOX_WAY_COVER	(1u << 5)	/* the cover is closed */
#define DEALBOX_WAY_SKIP	(1u << 6)	/* the copy is skipped */
#define DEALBOX_WAY_JOB		(1u << 7)	/* another job, or the job changed */
#define DEALBOX_WAY_SELF	(1u << 8)	/* it continues automatically */

/* The facts of a state. 0 is unknown, and left out of the sentence. */
struct dealbox_operator_facts {
	uint32_t board;		/* that is dealt, or requested */
	uint32_t copy;		/* of that board, from 1 */
	uint32_t there;		/* number of the present board, if another is requested */
	uint32_t card;		/* card at which it stopped, from 1 .. */
	uint32_t cards;		/* .. of this many */
	uint32_t seat;		/* 1 = N .. 4 = W: pocket of the earlier of two cards .. */
	uint32_t depth;		/* .. counted from the top, 1 = the top card */
	uint32_t place;		/* of a jam: the code of DEALBOX_EV_JAM */
	uint32_t code;		/* of a fault, as the maker counts */
	uint32_t shuffled; /* 1 = a shuffled pack is dealt by a law, and the board has no number */
	/*
	 * card-repeated: 1 = the earlier card was probably misread, 2 = the one at the reader,
	 * 3 = there is a card of another deck ..
	 */
	uint32_t culprit;
	uint32_t chance;	/* .. in so many per cent of such cases, in tens */
	uint32_t by_hand;	/* 1 = a person deals: there is a pack, and no hopper */
	uint32_t reserved[3];	/* 0 */
};

/* Returns the name of a state for programs: "insert-board". NULL beyond the last. Static. */
DEALBOX_API const char *dealbox_operator_name(enum dealbox_operator_state state);
/*
 * Returns the rows of the field's list of errors that the state covers: "E3 E4"; "" if none.
 * Static.
 */
DEALBOX_API const char *dealbox_operator_rows(enum dealbox_operator_state state);
/* Returns the ways on: DEALBOX_WAY_*. */
DEALBOX_API unsigned int dealbox_operator_ways(enum dealbox_operator_state state);

/**
 * dealbox_operator_text - write the sentences for the operator: the state, and what to do next
 * @state: the state
 * @facts: the facts of the state
 * @language: one of dealbox_law_language(); NULL or any other is English
 * @text: out, UTF-8; terminated by a zero if size is not 0
 * @size: size of text; 2048 bytes are enough for every state and language
 *
 * Returns the length, as snprintf() does.
 */
DEALBOX_API size_t dealbox_operator_text(enum dealbox_operator_state state,
					 const struct dealbox_operator_facts *facts,
					 const char *language, char *text, size_t size);

/* Kinds of verdicts, each with the facts that its sentence uses. */
enum dealbox_operator_verdict_kind {
	DEALBOX_VERDICT_VOID,		/* reason, card, place, code */
	DEALBOX_VERDICT_EXACT,		/* basis, unidentified */
	DEALBOX_VERDICT_NOTHING,	/* no card came */
	DEALBOX_VERDICT_DIFFERS,	/* count: differences */
	DEALBOX_VERDICT_UNSEEN,		/* the exit sensors saw no card */
	DEALBOX_VERDICT_DEALT_UNKNOWN,	/* nothing is known of what was dealt */
	DEALBOX_VERDICT_READ_UNKNOWN,	/* .. or of what was read of an original */
	DEALBOX_VERDICT_READ,		/* count: cards of a pocket of an original */
	DEALBOX_VERDICT_POCKET,		/* seat, count, expected: wrong number of cards */
	DEALBOX_VERDICT_REVOKED,	/* reason: after it was recorded as exact */
	DEALBOX_VERDICT_KINDS
};

/* The facts of a verdict, without a card. 0 is unknown, and left out of the sentence. */
struct dealbox_operator_verdict {
	uint8_t kind;		/* enum dealbox_operator_verdict_kind */
	uint8_t basis;		/* enum dealbox_basis */
	uint8_t unidentified;	/* 1 = cards were not read */
	uint8_t place;		/* of a jam: the code of DEALBOX_EV_JAM, if its place is known */
	uint8_t seat;		/* 1 = N .. 4 = W */
	uint8_t coded;		/* 1 = code is known */
	uint16_t card;		/* card at which it stopped, from 1 */
	uint32_t code;		/* of a fault, as the maker counts */
	uint32_t reason;	/* event that made the board void: DEALBOX_EV_* */
	uint32_t count, expected;
	uint32_t reserved[2];	/* 0 */
};

struct dealbox_verdict;

/* Returns the name of a kind for programs: "exact". NULL beyond the last. Static. */
DEALBOX_API const char *dealbox_operator_verdict_name(unsigned int kind);

/**
 * dealbox_operator_verdict_from - take the facts of what dealbox_verify() found
 * @verdict: the verdict; not kept
 * @facts: out; all are set
 */
DEALBOX_API void dealbox_operator_verdict_from(const struct dealbox_verdict *verdict,
					       struct dealbox_operator_verdict *facts);

/**
 * dealbox_operator_verdict_text - write the sentence for a verdict: "exact duplicate (by gates)"
 * @verdict: its facts
 * @language: as above
 * @text: out, UTF-8; terminated by a zero if size is not 0
 * @size: size of text; 512 bytes are enough for every verdict and language
 *
 * Returns the length, as snprintf() does.
 */
DEALBOX_API size_t
dealbox_operator_verdict_text(const struct dealbox_operator_verdict *verdict, const char *language,
			      char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
