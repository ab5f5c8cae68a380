/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Notices: how stations and the panel tell the rest of the service what has changed, without knowing
 * who listens. main.c lists the subscribers; service_notify() calls each of them, in that order,
 * before it returns.
 */
#ifndef DAEMON_NOTICE_H
#define DAEMON_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

struct copy;
struct service;
struct station;

enum notice_kind {
	NOTICE_MACHINE_ADDED,	/* station: a machine that was never seen before has come */
	NOTICE_MACHINE_STATE,	/* station: its state, and all that goes with it, may have changed */
	NOTICE_MACHINE_CARDS,	/* station: the number of its cards has changed */
	NOTICE_MACHINE_OPERATOR,	/* station: what the operator sees; station->told is the last */
	NOTICE_MACHINE_TURN,	/* station: its steps are chosen now; to forbid dealing, engine_bar() */
	NOTICE_MACHINES_RUN,	/* all stations have done what they can */
	NOTICE_JUDGED,		/* station, copy, insertion, exact, text: the verdict is recorded */
	NOTICE_JOB_CHANGED,	/* job: its state or its counts may have changed */
	NOTICE_PANEL_CHANGED,	/* panel_state() may have changed */
};

struct notice {
	enum notice_kind kind;
	/* those that the kind names; they live until the subscriber returns */
	struct station *station;
	uint64_t job;
	const struct copy *copy;
	uint32_t insertion;
	bool exact;
	const char *text;	/* never with a card */
};

typedef void (*notice_fn)(struct service *service, const struct notice *notice);

#endif
