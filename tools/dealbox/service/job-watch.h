/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Follow a job of the service to its end and tell the operator what to do, who answers by keys
 * (ui/answer-keys.h). Ctrl-C pauses the job and ends the command. The service deals
 * (lib/dealing/engine.c).
 */
#ifndef JOB_WATCH_H
#define JOB_WATCH_H

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <time.h>

#include <dealbox/dealing.h>

#include "service-objects.h"
#include "ui/answer-keys.h"

struct job_watch;

/* Differences between kinds of jobs */
struct job_watch_kind {
	const char *again;			/* N_(): how to continue after Ctrl-C */
	bool letters;				/* answers have letters besides Enter */
	/*
	 * Called when insertions were judged, perhaps in an earlier run. Returns false, after
	 * reporting an error, to pause the job. May be NULL.
	 */
	bool (*judged)(struct job_watch *f);
	/* Called at the end, also if the job is only paused. May be NULL. */
	void (*over)(const struct job_watch *f);
};

/* Initialised with zeroes, except for the fields of the caller */
struct job_watch {
	/* set by the caller: */
	const struct job_watch_kind *kind;
	void *context;
	sd_bus *bus;
	bool json;
	const char *language; /* of the operator's sentences; NULL: that of the service */
	char path[64];				/* object path of the job, before job_watch_run() */
	/* for the caller to read: */
	struct json_object *machines;		/* from service_objects() */
	struct json_object *jobs;
	unsigned int exact, voids;		/* in this run */
	struct timespec begin;
	bool listens;				/* keys are read */
	/* private: */
	sd_event *event;
	struct answer_keys keys;
	char state[16];				/* last reported state of the job */
	bool changed;				/* changes are to be handled */
	bool renew;				/* a machine was added: read all again */
	bool stopped;				/* by Ctrl-C */
	bool judged;				/* kind->judged() is to be called */
};

/*
 * Subscribe to the service and read its machines and jobs. Reports errors. Call job_watch_close()
 * in any case.
 */
enum status job_watch_open(struct job_watch *f);

/* Send a request that adds a job, and follow that job. Returns like request_send(). */
int job_watch_new(struct job_watch *f, struct request *r);

/* Return the job in jobs, NULL if there is none. */
struct json_object *job_watch_job(const struct job_watch *f);

/*
 * Follow the job at path. Returns STATUS_DONE if all of it is recorded; STATUS_NO if it ended
 * without that or was cancelled; STATUS_STOPPED if Ctrl-C paused it; other values after reporting
 * an error.
 */
enum status job_watch_run(struct job_watch *f);
void job_watch_close(struct job_watch *f);

#endif
