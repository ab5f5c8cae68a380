/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The words of a record as numbers: see docs/law-record.md for their meaning. */
#ifndef LAW_RECORD_H
#define LAW_RECORD_H

#include <dealbox/law.h>

enum law_verb {
	/* facts */
	V_RULES, V_RUBBER, V_PLAYERS, V_PACK, V_TURN, V_BOARD, V_PURPOSE, V_ORIGIN, V_CUSTOM,
	V_INTENT, V_INTERESTS, V_PRESENT,
	/* acts with the pack */
	V_SHUFFLE, V_PLACE, V_DISTURB, V_PICKUP, V_CUT, V_DEAL, V_DEALT, V_RECTIFY, V_OBJECT,
	V_REDEAL, V_POCKET,
	/* with the cards */
	V_TAKE, V_LOOK, V_SEE, V_SHOW, V_MIX, V_COUNT, V_SEARCH, V_FIND,
	/* the game */
	V_AUCTION, V_CALL, V_BUY, V_GAME, V_PLAY, V_OVER,
	/* statements */
	V_NOTES, V_DEMAND, V_INSTRUCT, V_COPY,
	LAW_VERBS
};

enum law_topic {
	T_NONE,
	T_DUPLICATE_2007, T_DUPLICATE_2017, T_RUBBER, T_PREFERANS,	/* as enum dealbox_rules */
	T_PLAY, T_REPLAY,
	T_THIS_SESSION, T_OTHER_SESSION, T_EXCHANGED,
	T_TALON_ANYWHERE, T_REMISE,
	T_INTENT_NONE, T_POSSIBLE, T_NO_CONFLICT, T_CONFLICT,
	T_CONTRACT, T_MISERE, T_ALL_PASS,
	T_FACEUP, T_MISDEAL, T_TURN, T_UNCUT, T_UNSHUFFLED, T_SEEN, T_WRONG_HAND, T_DAMAGED,
	T_NONCONFORMING, T_SHORT_PACK, T_SHUFFLE, T_MANNER, T_OMITTED, T_TWICE, T_COUNT, T_OTHER,
	T_CUT, T_REDEAL, T_RESTORE_PACK,
	T_AT_TABLE, T_AGENTS, T_METHOD, T_ABSENCE, T_COPIES,
	T_EXACT, T_DIFFERENT,
	T_FOUND, T_VAIN, T_MISSING, T_SURPLUS,
	LAW_TOPICS
};

/* Flags: bare words after a verb. */
enum law_flag {
	F_FACEUP, F_POORLY, F_HIDDEN, F_INCOMPLETE, F_SORTED, F_PLAYED, F_SILENT, F_INCOMPATIBLE,
	F_CLOSED, F_UNPLAYED, F_RIGHT, F_ELSEWHERE, F_RANDOM, F_BIASED, F_REST, F_TRICK, F_DUMMY,
	F_OTHER_PACK, F_IN_HAND, F_OLD_TRICK, F_OPEN,
	LAW_FLAGS
};

#define FLAG(f)		(1u << (f))

/* dealbox_record_parse() with its errors in a language; NULL is English. */
int law_record_parse(const char *language, const char *line, size_t length,
		     struct dealbox_happening *out, struct dealbox_error *error);

#endif
