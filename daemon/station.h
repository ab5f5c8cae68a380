/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One machine as the service has it, there or not, with its engine; and the list of all.
 */
#ifndef DAEMON_STATION_H
#define DAEMON_STATION_H

#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#include "dealing/dealing-internal.h"

struct backoff;
struct service;

#define URI_SIZE	300	/* bytes of the address of a machine */

/* A machine, there or not: known by its serial number, or by its port without one. */
struct station {
	struct station *next;
	struct service *service;
	struct dealing dealing;
	char id[DEALING_ID];			/* "SN1", "port:1-2.3": as in the ledger */
	char uri[URI_SIZE];		/* by which it was opened */
	char serial[64];
	char port[32];
	char model[64];
	sd_event_source *source;	/* of a machine that is read at once; NULL: of the others */
	bool known;			/* it may have deals, as the ledger has it */
	uint64_t settled;		/* us: when a deal that is done may be judged; 0 = there is none */
	bool stepping;			/* a step of its engine is being done */
	bool stop_after;		/* .. and a stop came meanwhile */
	/* what was announced last */
	enum dealbox_operator_state told;
	struct copy told_copy;
	unsigned int told_cards;
	uint64_t told_at;		/* us */
};

/* All machines. */
struct stations {
	struct station *first;
	struct station *turn;		/* whose turn it is in stations_run(), NULL = the first */
	struct backoff *backoffs;	/* station-hotplug.c */
	uint64_t quiet;			/* us: until then no machine is asked that is suspect */
	bool stopped;			/* stations_run() has yet to follow a stop */
	uint64_t look;			/* us: when machines that work are looked at next */
	sd_event_source *ready;		/* an epoll of the machines that are read together */
	sd_event_source *tick;		/* reads them, while they have events */
	sd_event_source *alarm;		/* for what no event tells */
	sd_event_source *seek;		/* looks what there is */
	sd_event_source *run;		/* goes on with stations_run() */
	sd_event_io_handler_t on_events;	/* of a machine that is read at once */
};

/*
 * Emits notices of what has changed: at once, but for cards that fall; their last number is told
 * when the state changes, as at the end of a deal, or else when the machines are looked at.
 */
void station_notify(struct station *station);
/* What a dealing tells goes to the log, and is a notice. */
extern const struct dealing_listener station_listener;
/* The machine with that id; NULL: there never was one. */
struct station *stations_find(const struct service *service, const char *id);

#endif
