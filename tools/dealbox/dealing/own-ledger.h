/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ledger of whoever deals without the service: the only record of what was dealt. Here are its
 * place, the jobs in it, and what was reported of an insertion.
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
	bool named;			/* by the user: a service may continue its jobs */
	struct dealbox_ledger *ledger;	/* for writing; the front has it while it deals */
	struct dealbox_ledger *reader;
};

/* The folder of this user's files, $XDG_STATE_HOME/dealbox or ~/.local/state/dealbox. False: there is none. */
bool own_folder(char *path, size_t size);

/*
 * Opens the ledger at path, or that of this user with NULL, which is made when there is none, and
 * says which. False: it has been said why. own_close() in any case.
 */
bool own_open(struct own_ledger *own, const char *path, bool json);
void own_close(struct own_ledger *own);

/* Says what the ledger refused. Returns STATUS_INPUT. */
enum status own_refused(const struct dealbox_ledger *ledger);

/* The boards of a set, each number once, as the ledger wants them; own_boards_free(). NULL, and said. */
struct dealbox_ledger_board *own_boards(const struct dealbox_set *set, size_t *count);
void own_boards_free(struct dealbox_ledger_board *boards, size_t count);

/* How far a job is. */
struct own_stand {
	struct dealbox_ledger_job job;
	bool begun;			/* a board of it was dealt, or begun */
	unsigned int skipped;		/* copies */
	unsigned int board, copy;	/* that comes next; 0: there is none */
};

/* 0 or the ledger's error. */
int own_stand(struct dealbox_ledger *ledger, uint64_t job, struct own_stand *stand);

/*
 * The last job that deals a set and may be dealt on this machine: job.job is 0 when there is none.
 * done: also one that is over.
 */
int own_last(struct dealbox_ledger *ledger, const char *machine, bool done, struct dealbox_ledger_job *job);

/* Cancels a job. STATUS_DONE; or what own_refused() returns. */
enum status own_cancel(struct own_ledger *own, uint64_t job);
/*
 * Cancels jobs without a set whose program was killed: nobody continues them. Captures of a named
 * ledger are left to the service.
 */
enum status own_cancel_unfinished(struct own_ledger *own);

/* Insertions of a job (0: of all) without a verdict: the number of them, the last in *last; or an error. */
int own_open_insertions(struct dealbox_ledger *ledger, uint64_t job, struct dealbox_ledger_insertion *last);

/* The record of an insertion of which a verdict was told. 0; -ENOENT; or the ledger's error. */
int own_insertion(struct dealbox_ledger *ledger, uint64_t job, uint32_t number, unsigned int board,
		  unsigned int copy, struct dealbox_ledger_insertion *insertion);

/* The trace of a record. NULL: there is none. dealbox_trace_free() */
struct dealbox_trace *own_trace(struct dealbox_ledger *ledger,
				const struct dealbox_ledger_insertion *insertion);

/* Judges it anew. NULL: it cannot be judged. */
struct dealbox_verdict *own_judge(struct dealbox_ledger *ledger, const struct dealbox_ledger_job *job,
				  const struct dealbox_ledger_insertion *insertion,
				  const struct dealbox_trace *trace);

/* The seats whose hands pockets 0 to 3 get in a job. */
const char *own_pockets(const struct dealbox_ledger_job *job);

/* Writes the trace of a record to a file of traces. False: that was said. */
bool own_record(FILE *file, const struct dealbox_ledger_job *job,
		const struct dealbox_ledger_insertion *insertion, const struct dealbox_trace *trace);

#endif
