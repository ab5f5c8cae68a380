/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Jobs, plans and verdicts, read from the ledger. They are never written back.
 */
#ifndef DEALING_JOB_LEDGER_H
#define DEALING_JOB_LEDGER_H

#include <dealbox/ledger.h>
#include <dealbox/pack.h>
#include <dealbox/plan.h>
#include <dealbox/trace.h>
#include <dealbox/verify.h>

#include "dealing/job.h"

/*
 * Add a job to jobs. Returns 0 with *job; on failure *job is NULL: -E2BIG without room, -ENOENT if
 * there is no such job, -ENOMEM, or an error of the ledger.
 */
int job_take(struct dealbox_ledger *ledger, struct jobs *jobs,
	     const struct dealbox_ledger_job *record, struct job **job);
int job_load(struct dealbox_ledger *ledger, struct jobs *jobs, uint64_t id, struct job **job);
/* Reread state and copies of a job. */
int job_refresh(struct dealbox_ledger *ledger, struct jobs *jobs, struct job *job);
/*
 * Record unknown outcomes for insertions that were begun and not ended by the last program.
 * *settled is set to their number. Returns 0, or an error of the ledger.
 */
int ledger_settle(struct dealbox_ledger *ledger, unsigned int *settled);
/*
 * Return true if the last insertion of the machine is exact and counts, with its number, its copy,
 * and the options of its job (ledger/job-options.h).
 */
bool ledger_recorded(struct dealbox_ledger *ledger, const char *machine, uint32_t *insertion,
		     struct copy *copy, unsigned int *options);
/* Return true if the last insertion of the machine does not count as exact, or is unknown. */
bool ledger_doubts(struct dealbox_ledger *ledger, const char *machine);
/*
 * Return true if insertions are missing between the last one of the machine in the ledger (*known)
 * and this one: nobody was watching, or another computer used the machine.
 */
bool ledger_missed(struct dealbox_ledger *ledger, const char *machine, uint32_t insertion,
		   uint32_t *known);

/* Return the pack of the deal. */
const struct dealbox_pack *job_pack(const struct dealbox_deal *deal);
/*
 * Make the plan of a copy with number id. The caller wipes it. Returns 0, -EINVAL if there is no
 * plan for it, or an error of the ledger.
 */
int job_plan(struct dealbox_ledger *ledger, const struct job *job, const struct copy *copy,
	     uint32_t id, struct dealbox_plan *plan);
/* Return the map from hand to pocket of a job; NULL is the identity mapping. */
const uint8_t *job_pockets(const struct job *job);
/*
 * Like dealbox_verify_machine(), for plans of job_plan(). Counted decks are expected to be sorted,
 * except for a job by a law. job may be NULL: it is not known any more.
 */
int job_verify(const struct job *job, const struct dealbox_plan *plan, uint32_t capabilities,
	       const struct dealbox_trace *trace, struct dealbox_verdict **verdict);

#endif
