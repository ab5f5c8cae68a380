// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <dealbox/set.h>

#include "job.h"
#include "ledger/job-options.h"
#include "strv.h"

#define JOB_HELD	0x80u	/* with the state of a copy: this PC holds it */

static int by_number(const void *a, const void *b)
{
	const unsigned int *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void insert(struct jobs *jobs, struct job *job)
{
	struct job **at = &jobs->first;

	while (*at && ((*at)->priority > job->priority ||
		       ((*at)->priority == job->priority && (*at)->id < job->id)))
		at = &(*at)->next;
	job->next = *at;
	*at = job;
}

static void take_out(struct jobs *jobs, struct job *job)
{
	struct job **at = &jobs->first;

	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
}

static void job_free(struct job *job)
{
	size_t n;

	for (n = 0; job->states && n < job->count; n++)
		free(job->states[n].state);
	strv_free(job->machines);
	free(job->states);
	free(job->boards);
	free(job);
}

struct job *jobs_add(struct jobs *jobs, uint64_t id, uint64_t set, const unsigned int *boards,
		     size_t count, unsigned int copies, unsigned int options, int priority)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->id = id;
	job->set = set;
	job->copies = copies;
	job->options = options;
	job->priority = priority;
	job->count = count;
	job->boards = calloc(count, sizeof(*job->boards));
	job->states = calloc(count, sizeof(*job->states));
	if (!job->boards || !job->states) {
		job_free(job);
		return NULL;
	}
	memcpy(job->boards, boards, count * sizeof(*boards));
	qsort(job->boards, count, sizeof(*job->boards), by_number);
	insert(jobs, job);
	return job;
}

int job_add_machine(struct job *job, const char *machine)
{
	return strv_add(&job->machines, machine);
}

bool job_for(const struct job *job, const char *machine)
{
	size_t n;

	for (n = 0; job->machines && job->machines[n]; n++)
		if (!strcmp(job->machines[n], machine))
			return true;
	return !job->machines;
}

struct job *jobs_find(const struct jobs *jobs, uint64_t id)
{
	struct job *job;

	for (job = jobs->first; job && job->id != id; job = job->next)
		;
	return job;
}

bool jobs_room(const struct jobs *jobs, unsigned int more, size_t boards, size_t names)
{
	size_t each = sizeof(unsigned int) + sizeof(struct copies), bytes = boards * each, n;
	const struct job *job;

	for (job = jobs->first; job; job = job->next) {
		more++;
		bytes += sizeof(*job) + job->count * each;
		for (n = 0; n < job->count; n++)
			bytes += job->states[n].count;
		for (n = 0; job->machines && job->machines[n]; n++)
			names += strlen(job->machines[n]) + 1;
	}
	return more <= JOBS_MAX && bytes <= JOBS_BYTES && names <= JOBS_NAMES;
}

void jobs_set_priority(struct jobs *jobs, struct job *job, int priority)
{
	take_out(jobs, job);
	job->priority = priority;
	insert(jobs, job);
}

void jobs_remove(struct jobs *jobs, struct job *job)
{
	take_out(jobs, job);
	job_free(job);
}

void jobs_free(struct jobs *jobs)
{
	while (jobs->first)
		jobs_remove(jobs, jobs->first);
}

/* Return the index of the board in the job, -1 if it is not there. */
static ssize_t find(const struct job *job, unsigned int board)
{
	const unsigned int *at = bsearch(&board, job->boards, job->count, sizeof(*job->boards),
					 by_number);

	return at ? at - job->boards : -1;
}

bool job_has(const struct job *job, unsigned int board, unsigned int copy)
{
	return copy && copy <= (job->copies ? job->copies : DEALBOX_BOARD_DEALT_MAX) &&
	       find(job, board) >= 0;
}

static enum dealbox_ledger_copy_state state_at(const struct job *job, size_t n, unsigned int copy)
{
	const struct copies *copies = &job->states[n];

	return copy <= copies->count ? copies->state[copy - 1] & ~JOB_HELD :
				       DEALBOX_LEDGER_COPY_OPEN;
}

static bool held_at(const struct job *job, size_t n, unsigned int copy)
{
	const struct copies *copies = &job->states[n];

	return copy <= copies->count && copies->state[copy - 1] & JOB_HELD;
}

static bool may_begin_at(const struct job *job, size_t n, unsigned int copy)
{
	return state_at(job, n, copy) == DEALBOX_LEDGER_COPY_OPEN &&
	       (!(job->options & JOB_EVENT) || (job->leased && held_at(job, n, copy)));
}

enum dealbox_ledger_copy_state job_state(const struct job *job, unsigned int board,
					 unsigned int copy)
{
	return job_has(job, board, copy) ? state_at(job, find(job, board), copy) :
	       DEALBOX_LEDGER_COPY_SKIPPED;
}

/* Get the place of the state of a copy. Returns 0, -ENOENT or -ENOMEM. */
static int state_place(struct job *job, unsigned int board, unsigned int copy, uint8_t **place)
{
	struct copies *copies;
	uint8_t *grown;

	if (!job_has(job, board, copy))
		return -ENOENT;
	copies = &job->states[find(job, board)];
	if (copy > copies->count) {
		grown = realloc(copies->state, copy);
		if (!grown)
			return -ENOMEM;
		memset(grown + copies->count, DEALBOX_LEDGER_COPY_OPEN, copy - copies->count);
		copies->state = grown;
		copies->count = copy;
	}
	*place = &copies->state[copy - 1];
	return 0;
}

int job_set_state(struct job *job, unsigned int board, unsigned int copy,
		  enum dealbox_ledger_copy_state state)
{
	uint8_t *place;
	int err = state_place(job, board, copy, &place);

	if (!err)
		*place = (*place & JOB_HELD) | state;
	return err;
}

int job_hold(struct job *job, unsigned int board, unsigned int copy, bool held)
{
	uint8_t *place;
	int err = state_place(job, board, copy, &place);

	if (!err)
		*place = held ? *place | JOB_HELD : *place & ~JOB_HELD;
	return err;
}

void job_hold_none(struct job *job)
{
	unsigned int copy;
	size_t n;

	for (n = 0; n < job->count; n++)
		for (copy = 0; copy < job->states[n].count; copy++)
			job->states[n].state[copy] &= ~JOB_HELD;
}

bool job_holds(const struct job *job, unsigned int board, unsigned int copy)
{
	return job_has(job, board, copy) && held_at(job, find(job, board), copy);
}

bool job_may_begin(const struct job *job, unsigned int board, unsigned int copy)
{
	return job_has(job, board, copy) && may_begin_at(job, find(job, board), copy);
}

bool job_lapsed(const struct job *job)
{
	unsigned int copy;
	size_t n;

	if (!(job->options & JOB_EVENT) || job->leased)
		return false;
	for (n = 0; n < job->count; n++)
		for (copy = 1; copy <= job->states[n].count; copy++)
			if (held_at(job, n, copy) &&
			    state_at(job, n, copy) == DEALBOX_LEDGER_COPY_OPEN)
				return true;
	return false;
}

unsigned int job_count(const struct job *job, enum dealbox_ledger_copy_state state)
{
	unsigned int count = 0, copy;
	size_t n;

	for (n = 0; n < job->count; n++)
		for (copy = 1; copy <= job->states[n].count; copy++)
			count += state_at(job, n, copy) == state;
	return count;
}

bool job_done(const struct job *job)
{
	unsigned int copy;
	size_t n;

	if (!job->copies)
		return false;
	for (n = 0; n < job->count; n++)
		for (copy = 1; copy <= job->copies; copy++)
			if (state_at(job, n, copy) < DEALBOX_LEDGER_COPY_RECORDED)
				return false;
	return true;
}

bool job_open(const struct job *job)
{
	return job->state == DEALBOX_LEDGER_JOB_OPEN && !job->repeat;
}

bool jobs_open(const struct jobs *jobs)
{
	const struct job *job;

	for (job = jobs->first; job && (!job_open(job) || job_done(job)); job = job->next)
		;
	return job;
}

/* Return true if this copy is to be dealt and not taken. */
static bool try_pick(const struct job *job, size_t n, unsigned int copy, unsigned int board,
		     bool (*taken)(const struct copy *copy, const void *context),
		     const void *context, struct copy *out)
{
	if (job->options & DEALBOX_JOB_DESCENDING)
		n = job->count - 1 - n;
	if ((board && job->boards[n] != board) ||
	    !may_begin_at(job, n, copy))
		return false;
	*out = (struct copy){ job->id, job->boards[n], copy };
	return !taken(out, context);
}

bool job_pick(const struct job *job, unsigned int board,
	      bool (*taken)(const struct copy *copy, const void *context), const void *context,
	      struct copy *out)
{
	unsigned int copies = job->copies ? job->copies : DEALBOX_BOARD_DEALT_MAX, copy;
	size_t n;

	if (board && find(job, board) < 0)
		return false;
	if (!job->copies || job->options & DEALBOX_JOB_SETS) {
		for (copy = 1; copy <= copies; copy++)
			for (n = 0; n < job->count; n++)
				if (try_pick(job, n, copy, board, taken, context, out))
					return true;
	} else {
		for (n = 0; n < job->count; n++)
			for (copy = 1; copy <= copies; copy++)
				if (try_pick(job, n, copy, board, taken, context, out))
					return true;
	}
	return false;
}
