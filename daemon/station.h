/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One machine as the service has it, there or not, with its desk; and the list of all.
 */
#ifndef DAEMON_STATION_H
#define DAEMON_STATION_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <systemd/sd-event.h>

#include <dealbox/diagnosis.h>
#include <dealbox/machine.h>
#include <dealbox/plan.h>
#include <dealbox/trace.h>

#include "dealing/engine.h"

struct backoff;
struct service;

#define URI_SIZE	300	/* bytes of the address of a machine */

/* A machine, there or not: known by its serial number, or by its port without one. */
struct station {
	struct station *next;
	struct service *service;
	char id[128];			/* "SN1", "port:1-2.3": as in the ledger */
	char uri[URI_SIZE];		/* by which it was opened */
	char serial[64];
	char port[32];
	char model[64];
	struct dealbox_machine *machine;	/* NULL: not there */
	sd_event_source *source;	/* of a machine that is read at once; NULL: of the others */
	bool suspect;			/* its last answer did not come */
	bool fresh;			/* no board has come since it was opened */
	bool known;			/* it may have deals, as the ledger has it */
	uint64_t settled;		/* us: when a deal that is done may be judged; 0 = there is none */
	uint64_t heard;			/* us: its last event, or the start of its deal */
	struct desk desk;
	struct dealbox_plan plan;	/* of desk.copy; wiped after the deal */
	uint32_t plan_id;
	struct dealbox_trace *trace;	/* of the insertion that is there */
	struct dealbox_trace *kept;	/* of a deal whose board is out, and not recorded yet */
	uint64_t insertion;		/* record in the ledger of the deal */
	unsigned int cards;		/* that have landed */
	bool stepping;			/* a step of its desk is being done */
	bool stop_after;		/* .. and a stop came meanwhile */
	unsigned int stopped_at;	/* card at which the last stop came, from 1; 0 = none */
	uint32_t starter;		/* who pressed start last; DEALBOX_UID_NONE = a key */
	/* what was announced last */
	enum dealbox_operator_state told;
	struct copy told_copy;
	unsigned int told_cards;
	uint64_t told_at;		/* us */
	struct dealbox_confusion confusion;	/* how its reader misreads, as far as is known */
	char detail[48];		/* of what stopped the deal: where, or a code */
	unsigned int seat, depth;	/* where the earlier of two same cards lies; 0 = not known */
	char diagnosis[512];		/* of the last repeated card, without its name */
	char revealed[512];		/* and with it */
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

/* Microseconds of a clock that goes on, for what lasts. */
static inline uint64_t monotonic_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/*
 * Emits notices of what has changed: at once, but for cards that fall; their last number is told
 * when the state changes, as at the end of a deal, or else when the machines are looked at.
 */
void station_notify(struct station *station);
/* What the operator is told is about that. */
void station_facts(const struct station *station, struct dealbox_operator_facts *facts);
/* The machine with that id; NULL: there never was one. */
struct station *stations_find(const struct service *service, const char *id);

#endif
