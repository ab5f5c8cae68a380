/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dealbox deal: what was asked for, and the ways to do it.
 */
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
	const char *language;		/* of what the operator reads, without the service */
	unsigned long set;		/* of the service's ledger; 0: of files */
	const char *how;
	const char *priority_text;
	bool resume;
	bool yes;			/* to whether an old job is given up */
	bool practice;
	bool json;
	bool reveal;
	struct boards boards;
	unsigned long copies;		/* 0: without limit */
	unsigned long priority;
};

/* Are all boards that were asked for in the set? May it be dealt at all? If not, it has been said. */
bool boards_there(const struct deal_options *options, const struct dealbox_set *set);
bool set_allowed(const struct deal_options *options, const struct dealbox_set *set,
		 char *const *files, int count);

/* With the service, on that bus: makes a job of the files and follows it to its end. */
enum status deal_by_service(sd_bus *bus, struct args *args, const struct deal_options *options);

/* With a machine of its own, and a ledger: deals the files, or goes on with the job that was stopped. */
enum status deal_alone(struct args *args, const struct deal_options *options);

#endif
