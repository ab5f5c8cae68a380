/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dealbox deal: its options, and dealing with and without the service */
#ifndef DEAL_H
#define DEAL_H

#include <systemd/sd-bus.h>

#include <dealbox/set.h>

#include "service/service-objects.h"

#define NOTHING_DEALT	"nothing was dealt"

struct deal_options {
	struct wanted wanted;
	const char *boards_text;
	const char *copies_text;
	const char *record;
	const char *certify;
	const char *session;
	const char *ledger;		/* without the service; NULL: the user's own */
	const char *language; /* of the operator's sentences; NULL: English, or the service's */
	unsigned long set;		/* number of a set of the service's ledger; 0: deal files */
	const char *how;
	const char *priority_text;
	bool resume;
	bool rehearse;			/* no card is dealt: the ledger is thrown away */
	bool yes;			/* do not ask: give an old job up, deal once more */
	bool practice;
	bool json;
	bool reveal;
	bool speak;			/* by hand: say the seats */
	struct boards boards;
	unsigned long copies;		/* 0: without limit */
	unsigned long priority;
};

/* Return false, after reporting it, if the set lacks a wanted board. */
bool boards_there(const struct deal_options *options, const struct dealbox_set *set);
/* Return false, after reporting it, if the set must not be dealt with these options. */
bool set_allowed(const struct deal_options *options, const struct dealbox_set *set,
		 char *const *files, int count);

/* What jobs that are over have dealt of a set, for its session */
struct dealt {
	struct boards boards;
	int64_t last;			/* when the last of them was dealt, in µs since 1970 */
};

/* Return true if the user is to be asked before boards are dealt once more. */
bool deal_asks(const struct deal_options *options);
void dealt_add(struct dealt *dealt, unsigned int board, int64_t at);
/*
 * Ask before all boards are dealt once more for the session of today: the same deals would be
 * played twice (Law 6D2), unless they are more copies. Returns false, after reporting it, if
 * nothing is to be dealt.
 */
bool deal_again(const struct deal_options *options, const struct dealbox_set *set,
		const char *session, const struct dealt *dealt);

/* Deal the files by the service on that bus, as a job that is followed to its end. */
enum status deal_by_service(sd_bus *bus, struct args *args, const struct deal_options *options);

/* Deal the files, or resume the interrupted job, with a machine and a ledger of our own. */
enum status deal_alone(struct args *args, const struct deal_options *options);

#endif
