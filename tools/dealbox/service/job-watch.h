/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A job of the service, followed to its end: the operator is told what to do, Enter is the start
 * key, Ctrl-C holds the job and leaves. The rules of dealing are the service's (lib/dealing/engine.c).
 */
#ifndef JOB_WATCH_H
#define JOB_WATCH_H

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <time.h>

#include "service-objects.h"

struct job_watch;

/* What is otherwise in each kind of job. */
struct job_watch_kind {
	const char *again;			/* how to go on after Ctrl-C */
	/* Insertions were judged, perhaps in an earlier run. False: the job is held; that was said. NULL: nothing. */
	bool (*judged)(struct job_watch *f);
	/* It is over, for now or for good. NULL: nothing. */
	void (*over)(const struct job_watch *f);
};

/* Zeros, and what the caller sets. */
struct job_watch {
	/* the caller's */
	const struct job_watch_kind *kind;
	void *context;
	sd_bus *bus;
	bool json;
	char path[64];				/* of the job, before job_watch_run() */
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
 * job_watch_close() in any case.
 */
enum status job_watch_open(struct job_watch *f);

/* Sends a request that makes a job: that is the one to follow. As request_send(). */
int job_watch_new(struct job_watch *f, struct request *r);

/* The job, from jobs; NULL: there is none. */
struct json_object *job_watch_job(const struct job_watch *f);

/*
 * Follows the job at path. STATUS_DONE: all of it is recorded; STATUS_NO: it is done and not all is,
 * was cancelled, or is held by Ctrl-C; else what was wrong has been said.
 */
enum status job_watch_run(struct job_watch *f);
void job_watch_close(struct job_watch *f);

#endif
