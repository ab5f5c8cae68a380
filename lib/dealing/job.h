/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Jobs: which copy of which board is next. No I/O, no clock; the ledger is the
 * memory of all this, and what is here is what was read from it.
 */
#ifndef DEALING_JOB_H
#define DEALING_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dealbox/ledger.h>

#define JOBS_MAX	1000		/* that are kept in memory */
#define JOBS_BYTES	(16 << 20)	/* that they take there, all together */
#define JOBS_NAMES	(1 << 20)	/* bytes of the names of machines in them */

/* One copy of one board of one job. job 0 = none. */
struct copy {
	uint64_t job;
	unsigned int board;
	unsigned int copy;	/* from 1 */
};

struct job {
	struct job *next;
	uint64_t id;
	uint64_t set;
	unsigned int options;		/* DEALBOX_JOB_* */
	unsigned int copies;		/* of each board, 0 = without limit */
	int priority;
	enum dealbox_ledger_job_state state;	/* never DONE: that is computed */
	bool repeat;			/* a deal of it was dealt for another session */
	uint32_t uid;			/* of who added it, or DEALBOX_UID_* */
	char session[128];
	unsigned int voided;		/* insertions that did not end exact */
	char **machines;		/* that may deal it, ends with NULL; NULL: any may */
	size_t count;			/* of boards; a capture's copies are the pockets */
	unsigned int *boards;		/* ascending */
	/* for each board the state of copies 1..; those beyond the array are open */
	struct copies {
		uint8_t *state;		/* enum dealbox_ledger_copy_state */
		unsigned int count;
	} *states;
};

/* All jobs, the one to be dealt first in front. */
struct jobs {
	struct job *first;
};

/*
 * Adds a job: boards is copied, in any order, without repeats. Sorted in by priority,
 * then by number. NULL = out of memory. It belongs to jobs.
 */
struct job *jobs_add(struct jobs *jobs, uint64_t id, uint64_t set, const unsigned int *boards,
		     size_t count, unsigned int copies, unsigned int options, int priority);
/* From now on only the machines that were so named may deal it. 0; -ENOMEM. */
int job_add_machine(struct job *job, const char *machine);
/* May this machine deal it? */
bool job_for(const struct job *job, const char *machine);
struct job *jobs_find(const struct jobs *jobs, uint64_t id);
/* Is there room for so many jobs more, with so many boards and bytes of names of machines? */
bool jobs_room(const struct jobs *jobs, unsigned int more, size_t boards, size_t names);
void jobs_set_priority(struct jobs *jobs, struct job *job, int priority);
void jobs_remove(struct jobs *jobs, struct job *job);
void jobs_free(struct jobs *jobs);

/* Has the job this board, and may it have this copy? */
bool job_has(const struct job *job, unsigned int board, unsigned int copy);
enum dealbox_ledger_copy_state job_state(const struct job *job, unsigned int board,
					 unsigned int copy);
/* 0; -ENOENT: no such copy; -ENOMEM. */
int job_set_state(struct job *job, unsigned int board, unsigned int copy,
		  enum dealbox_ledger_copy_state state);
/* How many copies are recorded. */
unsigned int job_recorded(const struct job *job);
/* Is nothing left to be dealt? A job without limit is never done. */
bool job_done(const struct job *job);
/* May boards of it be dealt: is it neither paused nor cancelled, nor a repeat? */
bool job_open(const struct job *job);
/* Is any job open, and not done? */
bool jobs_open(const struct jobs *jobs);

/*
 * The copy that is to be dealt next, in the order that the job wants: copies in a row
 * (all copies of a board, then the next board) or sets in a row (all boards, then
 * again); a job without limit goes by sets. Those for which taken() is true are left
 * to others. With board not 0 only that board. False when there is none.
 */
bool job_pick(const struct job *job, unsigned int board,
	      bool (*taken)(const struct copy *copy, const void *context), const void *context,
	      struct copy *out);

#endif
