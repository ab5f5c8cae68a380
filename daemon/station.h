/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A machine known to the service, connected or not, with its dealing; and the list of all. */
#ifndef DAEMON_STATION_H
#define DAEMON_STATION_H

#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#include "dealing/dealing-internal.h"

struct backoff;
struct service;

#define URI_SIZE	300	/* size of a machine's address in bytes */

/* A machine, connected or not, identified by serial number, or by port if it has none */
struct station {
	struct station *next;
	struct service *service;
	struct dealing dealing;
	char id[DEALING_ID];			/* as in the ledger: "SN1", "port:1-2.3" */
	char uri[URI_SIZE];		/* address that it was opened at */
	char serial[64];
	char port[32];
	char model[64];
	sd_event_source *source;	/* for a machine that is read at once; NULL = by the tick */
	bool known;			/* the ledger allows it to deal */
	uint64_t settled;		/* us: when the finished deal may be judged; 0 = none */
	bool stepping;			/* a step of its engine is in progress */
	bool stop_after;		/* an emergency stop came during the step */
	uint64_t changed;		/* us: the state, the board or an emergency stop */
	uint32_t question; /* number of what is asked now; another one after each change */
	/* last announced values: */
	enum dealbox_operator_state told;
	struct dealbox_operator_facts told_facts;
	unsigned int told_keys;		/* ENGINE_* */
	struct copy told_copy;
	uint32_t told_insertion;
	unsigned int told_cards;
	uint64_t told_at;		/* us */
};

/* All machines. */
struct stations {
	struct station *first;
	struct station *turn;		/* next one in stations_run(), NULL = the first */
	struct backoff *backoffs;	/* station-hotplug.c */
	uint64_t quiet;			/* us: suspect machines are not queried before */
	bool stopped;			/* stations_run() is due after a stop */
	uint64_t look;			/* us: next check of busy machines */
	sd_event_source *ready;		/* epoll of the machines that the tick reads */
	sd_event_source *tick;		/* timer: reads them while they have events */
	sd_event_source *alarm;		/* timer for changes without an event */
	sd_event_source *seek;		/* looks for machines */
	sd_event_source *run;		/* continues stations_run() */
	sd_event_io_handler_t on_events;	/* for machines that are read at once */
};

/*
 * Emit notices of changes. Changes of the number of cards are limited in rate; the final number is
 * announced with the next change of state, as at the end of a deal, or at the next check of
 * machines.
 */
void station_notify(struct station *station);
/* The question to the operator has changed: earlier answers do not count any more. */
void station_asks_anew(struct station *station);
/* Return what an operator may ask for now: ENGINE_*. */
unsigned int station_keys(const struct station *station);
/* Logs what a dealing reports, and emits notices of it. */
extern const struct dealing_listener station_listener;
/* Return the list of the engines of all machines, of which there is at least one. */
const struct engine *stations_engines(const struct service *service);
/* Find a machine by id. Returns NULL if it was never connected. */
struct station *stations_find(const struct service *service, const char *id);

#endif
