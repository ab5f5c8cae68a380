/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ledger of a user who deals without the service, and the only record of what was dealt: its
 * path, its jobs, and the traces of insertions.
 */
#ifndef OWN_LEDGER_H
#define OWN_LEDGER_H

#include <stdio.h>

#include <dealbox/ledger.h>
#include <dealbox/set.h>
#include <dealbox/trace.h>
#include <dealbox/verify.h>

#include "ui/tool.h"

struct own_ledger {
	char path[4096];
	bool named; /* path given by the user: a service may continue its jobs */
	bool rehearsal;			/* set before own_open(): the ledger is thrown away */
	struct dealbox_ledger *ledger;	/* for writing; used by the front while it deals */
	struct dealbox_ledger *reader;
};

/* Get the user's folder, $XDG_STATE_HOME/dealbox or ~/.local/state/dealbox. False: no home. */
bool own_folder(char *path, size_t size);

/*
 * Open the ledger at path, or with NULL that of the user, create it if it does not exist, and print
 * its path. Returns false after reporting an error. Call own_close() in any case.
 */
bool own_open(struct own_ledger *own, const char *path, bool json);
void own_close(struct own_ledger *own);

/* Report the ledger's last error. Returns STATUS_INPUT. */
enum status own_refused(const struct dealbox_ledger *ledger);

/*
 * Get the boards of a set for the ledger, each number once. Free them with own_boards_free().
 * Returns NULL after reporting an error.
 */
struct dealbox_ledger_board *own_boards(const struct dealbox_set *set, size_t *count);
void own_boards_free(struct dealbox_ledger_board *boards, size_t count);

/* Progress of a job */
struct own_stand {
	struct dealbox_ledger_job job;
	bool begun;			/* an insertion of it was begun */
	unsigned int skipped;		/* number of skipped copies */
	unsigned int board, copy;	/* the next copy; 0: none is left */
};

/* Get the progress of a job. Returns 0, or an error of the ledger. */
int own_stand(struct dealbox_ledger *ledger, uint64_t job, struct own_stand *stand);

/*
 * Find the last job with a set that this machine may deal, with done also one that is over. Sets
 * job->job to 0 if there is none. Returns 0, or an error of the ledger.
 */
int own_last(struct dealbox_ledger *ledger, const char *machine, bool done,
	     struct dealbox_ledger_job *job);

/* Cancel a job. Returns STATUS_DONE, or the result of own_refused(). */
enum status own_cancel(struct own_ledger *own, uint64_t job);
/*
 * Cancel jobs without a set whose program was killed, because they cannot be resumed. Leaves
 * captures of a named ledger to the service.
 */
enum status own_cancel_unfinished(struct own_ledger *own);

/*
 * Count the insertions of a job (0: of all jobs) without a verdict; the last one is in *last.
 * Returns the number, or an error of the ledger.
 */
int own_open_insertions(struct dealbox_ledger *ledger, uint64_t job,
			struct dealbox_ledger_insertion *last);

/* Get the record of a judged insertion. Returns 0, -ENOENT, or an error of the ledger. */
int own_insertion(struct dealbox_ledger *ledger, uint64_t job, uint32_t number, unsigned int board,
		  unsigned int copy, struct dealbox_ledger_insertion *insertion);

/* Get the trace of an insertion, to be freed by dealbox_trace_free(). NULL: there is none. */
struct dealbox_trace *own_trace(struct dealbox_ledger *ledger,
				const struct dealbox_ledger_insertion *insertion);

/* Judge an insertion by its trace again. Returns NULL if that is not possible. */
struct dealbox_verdict *own_judge(struct dealbox_ledger *ledger,
				  const struct dealbox_ledger_job *job,
				  const struct dealbox_ledger_insertion *insertion,
				  const struct dealbox_trace *trace);

/* Return the seats whose hands go to pockets 0 to 3. */
const char *own_pockets(const struct dealbox_ledger_job *job);

/* Write the trace of an insertion to a trace file. Returns false after reporting an error. */
bool own_record(FILE *file, const struct dealbox_ledger_job *job,
		const struct dealbox_ledger_insertion *insertion,
		const struct dealbox_trace *trace);

#endif
