/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Jobs, sets and verdicts, read from the ledger. */
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

/*
 * Open the ledger, recover from a crash, and read the jobs. Returns 0, or -errno, which is logged.
 */
int service_ledger_open(struct service *service);
/* Reread the copies of a job. Returns 0 or -errno. */
int service_ledger_refresh(struct service *service, struct job *job);
/* Add a job from the ledger. Returns NULL on failure, which is logged. */
struct job *service_ledger_load(struct service *service, uint64_t id);
/*
 * Read the trace of a finished insertion of the job, and verify it again. The caller frees both.
 * Returns 0, -ENOENT if there is no such insertion, or an error of the ledger.
 */
int service_ledger_judge(struct service *service, const struct job *job, const char *machine,
			 uint32_t insertion, struct dealbox_trace **trace,
			 struct dealbox_verdict **verdict);

/*
 * Read what the machine has signed about a finished insertion of the job, and its deal. The caller
 * wipes both, in case of an error too. *attested is false if it has signed nothing. Errors as
 * above.
 */
int service_ledger_attestation(struct service *service, const struct job *job, const char *machine,
			       uint32_t insertion, struct dealbox_ledger_insertion *found,
			       struct dealbox_deal *deal,
			       struct dealbox_ledger_attestation *attestation, bool *attested);

/*
 * Read the board numbers of a set in the ledger. The caller frees them. Returns 0, -ENOENT if there
 * is no such set, -ENOMEM, or an error of the ledger.
 */
int service_ledger_boards(struct service *service, uint64_t set, unsigned int **numbers,
			  size_t *count);
/* Read the set. The caller frees it. Errors as above. */
int service_ledger_set(struct service *service, uint64_t number, struct dealbox_set **set);
/*
 * List the insertions of a job that have a trace, oldest first, of one board or of all (0). The
 * caller frees them. *options is set to the job's DEALBOX_JOB_*. Returns 0, also if there are none,
 * -ENOMEM, or an error of the ledger.
 */
int service_ledger_traced(struct service *service, uint64_t job, unsigned int board,
			  unsigned int *options, struct dealbox_ledger_insertion **insertions,
			  size_t *count);

#define LEDGER_WHY	96

/*
 * Like dealbox_dealing_original(). With -ENODATA, -EINVAL, -EBADMSG and -EDOM, why says what is
 * wrong with which pocket, without a card; otherwise it is empty.
 */
int service_ledger_original(struct service *service, const struct job *job, unsigned int board,
			    struct dealbox_deal *deal, char why[LEDGER_WHY]);

#endif
