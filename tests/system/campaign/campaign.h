/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CAMPAIGN_H
#define CAMPAIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "page_machine.h"

/* -- faults.c: faults --------------------------------------------------------------- */

enum group { MECHANICS, READER, FIRMWARE, BUS, PEOPLE };

/* The places where a fault is queried; the querying code knows its effect. */
enum site {
	SITE_STRIKE,	/* a card on its way: enum strike */
	SITE_BEGIN,	/* the deal begins */
	SITE_HOPPER,	/* the hopper is loaded */
	SITE_EVENT,	/* an event goes to the host */
	SITE_PACKET,	/* a transfer with events */
	SITE_CONTROL,	/* a control transfer */
	SITE_BULK,
	SITE_GATE,
	SITE_MOMENT,	/* at any time in a deal */
	SITE_INSERT,	/* a board is put in */
	SITE_EMPTY,	/* a board is to be emptied */
	SITE_HELP,	/* a deal is held */
	SITE_BETWEEN,	/* the program has ended, and will be started again */
};

enum fault_id {
	F_NONE,
	/* mechanics */
	F_DOUBLE, F_DOUBLE_UNSEEN, F_WRONG_POCKET, F_WRONG_POCKET_LATE, F_WRONG_POCKET_UNSEEN,
	F_TIMEOUT, F_JAM, F_HARDWARE, F_JOKER, F_SHORT, F_TWICE, F_SURPLUS,
	/* reader */
	F_MISREAD, F_SWAPPED_CLEAR, F_SWAPPED_FAINT, F_UNREADABLE, F_FAINT, F_FACE_UP, F_LABEL,
	/* firmware */
	F_LOST, F_LOST_QUIETLY, F_DOUBLED, F_DOUBLED_QUIETLY, F_LATE, F_LATE_QUIETLY, F_ALTERED,
	F_CARD_ALTERED, F_STRANGE, F_RENUMBERED, F_UNSPENT, F_REUSED, F_RESTARTED, F_OLD_PLAN,
	F_DOUBT_FORGOTTEN,
	/* bus */
	F_STALLED, F_UNANSWERED, F_UNHEARD, F_BULK_STALLED, F_EVENTS_FAILED, F_EVENTS_CUT,
	F_GATE_LOST, F_GATE_TWICE, F_RESET, F_POWER, F_UNPLUGGED,
	/* people */
	F_STOP_KEY, F_START_KEY, F_ENTER, F_COVER, F_PULLED, F_PUSHED_BACK, F_KILLED, F_KILLED_ANEW,
	F_INTERRUPTED, F_TERMINATED, F_NOT_EMPTIED, F_EXCHANGED, F_UNHELPED, F_SPARE, F_PACK_ADDED,
	F_MEANWHILE, F_VOUCHED,
	FAULTS
};

struct kind {
	const char *name;
	enum group group;
	enum site site;
	enum strike strike;	/* SITE_STRIKE */
	bool unseen;		/* no host can always detect it */
	enum fault_id with;	/* often occurs with this one */
	bool open;		/* not handled by dealbox yet: only with -a */
};

extern const struct kind kinds[FAULTS];
extern bool kind_off[FAULTS];
enum fault_id kind_find(const char *name);

/* One of a job's faults. */
struct fault {
	enum fault_id id;
	int deal;		/* deal of the job, from 1 */
	int position;		/* earliest position */
	int skip;		/* events or transfers to skip first */
	uint32_t arg;		/* random parameter */
	bool struck;
};

/* Choose the faults of a job, with its own random numbers. */
void faults_choose(void);
#define FAULTS_MAX	12
extern struct fault faults[FAULTS_MAX];
extern int fault_count;
/*
 * Return a fault that is due at this site and mark it as occurred; NULL if there is none. id is a
 * fault, F_NONE = any of the site.
 */
struct fault *fault_due(enum site site, enum fault_id id);
/* Return a fault that occurred and that no host can detect, or F_NONE */
enum fault_id fault_unseen(void);

/* -- random numbers, reproducible from the seed --------------------------------------- */

void chance_seed(uint64_t seed, uint64_t job);
uint32_t chance(uint32_t below);

/* -- the rest ----------------------------------------------------------- */

#define BOARDS		2	/* boards of a job */
#define EMPTY_BOARDS	96

extern bool verbose;
/* Judge the claims for this board, or for all (NULL), by its contents now. */
void claims_judge(const struct board *board);
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* people.c */
struct people {
	char text[512];		/* last instruction */
	int wanted;		/* board named in it, 0 = none */
	struct board boards[EMPTY_BOARDS];
	bool exact[EMPTY_BOARDS];	/* was called so */
	int boards_used;
	uint64_t next_us;	/* time of their next act */
	int acts, helps, idle;
	int deeds;		/* number of acts at the machine */
	uint8_t set_aside[60];	/* cards beside the machine */
	int set_aside_count;
	bool empty_again;	/* put the board in their hands in again */
};

extern struct people people;
void people_begin(void);
/* Process an instruction to the people */
void people_told(const char *text);
/* The people look at the machine and act. Returns 'e' for Enter, 'i' for Ctrl-C, 0 for no key */
int people_act(void);
/* People disturb a running deal */
int people_moment(enum fault_id id);
/* The program has ended */
void people_alone(void);
int board_index(const struct board *board);

#endif
