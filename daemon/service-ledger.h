/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Jobs, sets and verdicts as the service's ledger has them.
 */
#ifndef DAEMON_SERVICE_LEDGER_H
#define DAEMON_SERVICE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dealbox/ledger.h>
#include <dealbox/plan.h>
#include <dealbox/set.h>
#include <dealbox/trace.h>
#include <dealbox/verify.h>

#include "dealing/job.h"

struct service;

/* Opens the ledger, settles what a crash left behind, and reads the jobs. */
int service_ledger_open(struct service *service);
/* Reads the copies of a job again. */
int service_ledger_refresh(struct service *service, struct job *job);
/* Adds the job of that number from the ledger. NULL: logged. */
struct job *service_ledger_load(struct service *service, uint64_t id);
/*
 * What a machine reported of an insertion that was dealt to its end for the job, and the
 * verdict on it, made again from the record; both are freed by the caller. -ENOENT: there is
 * none; another error is the ledger's.
 */
int service_ledger_judge(struct service *service, const struct job *job, const char *machine,
			 uint32_t insertion, struct dealbox_trace **trace,
			 struct dealbox_verdict **verdict);

/*
 * The numbers of the boards of a set in the ledger; the caller frees them. -ENOENT: there is no
 * such set; -ENOMEM; another error is the ledger's.
 */
int service_ledger_boards(struct service *service, uint64_t set, unsigned int **numbers,
			  size_t *count);
/* The set itself; the caller frees it. Errors as above. */
int service_ledger_set(struct service *service, uint64_t number, struct dealbox_set **set);
/*
 * The insertions of a job (of one board of it, or with 0 of all) of which there is a trace, oldest
 * first; the caller frees them; and its options, DEALBOX_JOB_*. 0, also when there are none; -ENOMEM;
 * another error is the ledger's.
 */
int service_ledger_traced(struct service *service, uint64_t job, unsigned int board,
			  unsigned int *options, struct dealbox_ledger_insertion **insertions,
			  size_t *count);

#define LEDGER_WHY	96

/*
 * The deal of a board that a job has captured; the caller wipes it, in any case. -EINVAL: not all its
 * pockets were read whole; -EBADMSG: they are no deal. why then says of which pocket, without a card.
 */
int service_ledger_original(struct service *service, const struct job *job, unsigned int board,
			    struct dealbox_deal *deal, char why[LEDGER_WHY]);

#endif
