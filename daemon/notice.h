/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Notices: stations and the panel report changes without knowing the listeners. dealboxd.c lists
 * the subscribers. service_notify() calls them all, in that order, before it returns.
 */
#ifndef DAEMON_NOTICE_H
#define DAEMON_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

struct copy;
struct dealbox_operator_verdict;
struct service;
struct station;

enum notice_kind {
	NOTICE_MACHINE_ADDED, /* station: a machine was connected for the first time */
	NOTICE_MACHINE_STATE, /* station: state and related properties may have changed */
	NOTICE_MACHINE_CARDS, /* station: the number of cards has changed */
	NOTICE_MACHINE_OPERATOR, /* station: the operator's state; station->told is the old one */
	NOTICE_MACHINE_TURN, /* station: about to choose its next steps; may call engine_bar() */
	NOTICE_MACHINES_RUN, /* all stations have done their steps */
	NOTICE_JUDGED, /* station, copy, insertion, exact, verdict: it was recorded */
	NOTICE_JOB_CHANGED, /* job: state or counts may have changed */
	NOTICE_PANEL_CHANGED, /* panel_state() may have changed */
	NOTICE_MEMBER_CHANGED, /* state, copies or boards of the event may have changed */
	NOTICE_JOB_ADDED, /* job: of the event */
};

struct notice {
	enum notice_kind kind;
	/* Set as listed with the kind, and valid until the subscriber returns: */
	struct station *station;
	uint64_t job;
	const struct copy *copy;
	uint32_t insertion;
	bool exact;
	const struct dealbox_operator_verdict *verdict;
};

typedef void (*notice_fn)(struct service *service, const struct notice *notice);

#endif
