/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A job of the service, followed to its end: the operator is told what to do, Enter is the start
 * key, Ctrl-C holds the job and leaves. The rules of dealing are the service's (lib/dealing/engine.c).
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <time.h>

#include "service.h"

struct follow;

/* What is otherwise in each kind of job. */
struct follow_kind {
	const char *again;			/* how to go on after Ctrl-C */
	/* Insertions were judged, perhaps in an earlier run. False: the job is held; that was said. NULL: nothing. */
	bool (*judged)(struct follow *f);
	/* It is over, for now or for good. NULL: nothing. */
	void (*over)(const struct follow *f);
};

/* Zeros, and what the caller sets. */
struct follow {
	/* the caller's */
	const struct follow_kind *kind;
	void *context;
	sd_bus *bus;
	bool json;
	char path[64];				/* of the job, before follow_run() */
	/* to be read */
	struct json_object *machines;		/* as service_objects() gives them */
	struct json_object *jobs;
	unsigned int exact, voids;		/* in this run */
	struct timespec begin;
	/* its own */
	sd_event *event;
	char state[16];				/* of the job, as it was told last */
	bool changed;				/* .. and not looked at yet */
	bool renew;				/* a machine came: ask for all of them */
	bool stopped;				/* by Ctrl-C */
	bool judged;				/* what was judged is not looked at yet */
};

/*
 * Listens to the service, and gets its machines and jobs. What is wrong has been said.
 * follow_close() in any case.
 */
enum status follow_open(struct follow *f);

/* Sends a request that makes a job: that is the one to follow. As request_send(). */
int follow_new(struct follow *f, struct request *r);

/* The job, from jobs; NULL: there is none. */
struct json_object *follow_job(const struct follow *f);

/*
 * Follows the job at path. STATUS_DONE: all of it is recorded; STATUS_NO: it is done and not all is,
 * was cancelled, or is held by Ctrl-C; else what was wrong has been said.
 */
enum status follow_run(struct follow *f);
void follow_close(struct follow *f);

#endif
