/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Jobs: choose the next copy of the next board. No I/O, no clock. All data here was read from the
 * ledger, which is the only record.
 */
#ifndef DEALING_JOB_H
#define DEALING_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dealbox/ledger.h>

#define JOBS_MAX	1000		/* jobs in memory */
#define JOBS_BYTES	(16 << 20)	/* memory of all jobs */
#define JOBS_NAMES	(1 << 20)	/* bytes of all names of machines */

/* A copy of a board of a job; job 0 = none. */
struct copy {
	uint64_t job;
	unsigned int board;
	unsigned int copy;	/* from 1 */
};

struct job {
	struct job *next;
	uint64_t id;
	uint64_t set;
	unsigned int options;		/* as in ledger/job-options.h */
	unsigned int copies;		/* of each board, 0 = without limit */
	int priority;
	enum dealbox_ledger_job_state state;	/* never DONE: that is computed */
	bool repeat;			/* a deal of it was dealt for another session */
	uint32_t uid;			/* user who added it, or DEALBOX_UID_* */
	char session[128];
	bool leased;			/* JOB_EVENT: the lease has not ended */
	bool rehearsal;			/* JOB_EVENT: emulated machines may deal it, too */
	unsigned int voided;		/* insertions with another outcome than exact */
	char **machines;		/* ids of machines, terminated by NULL; NULL = any */
	size_t count;			/* number of boards; copies of a capture are pockets */
	unsigned int *boards;		/* ascending */
	/* per board, the states of copies from 1; copies beyond the array are open */
	struct copies {
		uint8_t *state;		/* enum dealbox_ledger_copy_state, and JOB_HELD */
		unsigned int count;
	} *states;
};

/* All jobs, the first to be dealt at the head. */
struct jobs {
	struct job *first;
};

/*
 * Add a job, sorted by priority, then by number. boards is copied; it has no repeats and any order.
 * Returns NULL without memory. jobs owns the job.
 */
struct job *jobs_add(struct jobs *jobs, uint64_t id, uint64_t set, const unsigned int *boards,
		     size_t count, unsigned int copies, unsigned int options, int priority);
/* Restrict the job to this machine and others added so. Returns 0 or -ENOMEM. */
int job_add_machine(struct job *job, const char *machine);
/* Return true if the machine may deal the job. */
bool job_for(const struct job *job, const char *machine);
struct job *jobs_find(const struct jobs *jobs, uint64_t id);
/* Return true if there is room for more jobs with so many boards and bytes of names. */
bool jobs_room(const struct jobs *jobs, unsigned int more, size_t boards, size_t names);
void jobs_set_priority(struct jobs *jobs, struct job *job, int priority);
void jobs_remove(struct jobs *jobs, struct job *job);
void jobs_free(struct jobs *jobs);

/* Return true if the job has this copy of the board. */
bool job_has(const struct job *job, unsigned int board, unsigned int copy);
enum dealbox_ledger_copy_state job_state(const struct job *job, unsigned int board,
					 unsigned int copy);
/* Returns 0, -ENOENT if there is no such copy, or -ENOMEM. */
int job_set_state(struct job *job, unsigned int board, unsigned int copy,
		  enum dealbox_ledger_copy_state state);
/*
 * Of a job of an event (JOB_EVENT), this PC may begin only copies that it holds, and only
 * while its lease lasts (job->leased). Both are false until somebody says otherwise.
 * job_hold() returns 0, -ENOENT if there is no such copy, or -ENOMEM.
 */
int job_hold(struct job *job, unsigned int board, unsigned int copy, bool held);
/* Hold no copy. */
void job_hold_none(struct job *job);
bool job_holds(const struct job *job, unsigned int board, unsigned int copy);
/* Return true if the copy is open and may be begun now. */
bool job_may_begin(const struct job *job, unsigned int board, unsigned int copy);
/* Return true if an open copy is held, but the lease has ended. */
bool job_lapsed(const struct job *job);
/* Return the number of copies in a state other than DEALBOX_LEDGER_COPY_OPEN. */
unsigned int job_count(const struct job *job, enum dealbox_ledger_copy_state state);
/* Return true if no copy is left to be dealt. A job without a limit of copies is never done. */
bool job_done(const struct job *job);
/* Return true if the job is not paused, cancelled or a repeat. */
bool job_open(const struct job *job);
/* Return true if any job is open and not done. */
bool jobs_open(const struct jobs *jobs);

/*
 * Choose the next copy in the order of the job: all copies of a board and then the next board; or,
 * with DEALBOX_JOB_SETS or without a limit of copies, all boards and then the next copy of each.
 * Skips copies that may not be begun, and those for which taken() is true. board restricts it to
 * that board unless 0. Returns false if there is none.
 */
bool job_pick(const struct job *job, unsigned int board,
	      bool (*taken)(const struct copy *copy, const void *context), const void *context,
	      struct copy *out);

#endif
