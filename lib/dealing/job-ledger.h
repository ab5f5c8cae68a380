/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Jobs, plans and verdicts as the ledger has them. It is the memory of all this: what is read here
 * is never written back.
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
 * Adds a job to those that are held. *job is NULL unless 0 is returned. -E2BIG: there is no room for
 * it; -ENOENT: there is none of that number; -ENOMEM; another error is the ledger's.
 */
int job_take(struct dealbox_ledger *ledger, struct jobs *jobs, const struct dealbox_ledger_job *record,
	     struct job **job);
int job_load(struct dealbox_ledger *ledger, struct jobs *jobs, uint64_t id, struct job **job);
/* Reads state and copies of a job again. */
int job_refresh(struct dealbox_ledger *ledger, struct jobs *jobs, struct job *job);
/*
 * Ends what was under way when the last program that wrote the ledger ended: nobody knows what became
 * of it. *settled: how many there were. 0 or the ledger's error.
 */
int ledger_settle(struct dealbox_ledger *ledger, unsigned int *settled);
/*
 * Returns true if the last insertion of this machine is exact and counts, with its number and the
 * copy that was dealt into it.
 */
bool ledger_recorded(struct dealbox_ledger *ledger, const char *machine, uint32_t *insertion,
		     struct copy *copy);
/* Was the last insertion of this machine other than exact, or is it not known which was the last? */
bool ledger_doubts(struct dealbox_ledger *ledger, const char *machine);
/*
 * Is this not the insertion that follows the last one of this machine in the ledger (in *known)?
 * Then nobody watched, or another computer has dealt with it.
 */
bool ledger_missed(struct dealbox_ledger *ledger, const char *machine, uint32_t insertion,
		   uint32_t *known);

/* Of which pack the deal is. */
const struct dealbox_pack *job_pack(const struct dealbox_deal *deal);
/*
 * The plan of a copy, under that number; the caller wipes it. -EINVAL: it cannot be planned;
 * another error is the ledger's.
 */
int job_plan(struct dealbox_ledger *ledger, const struct job *job, const struct copy *copy,
	     uint32_t id, struct dealbox_plan *plan);
/* Pocket of each hand in a job; NULL: hand n in pocket n. */
const uint8_t *job_pockets(const struct job *job);
/* As dealbox_verify(), of what job_plan() planned: a deck that is counted lies sorted. */
int job_verify(const struct dealbox_plan *plan, const struct dealbox_trace *trace,
	       struct dealbox_verdict **verdict);

#endif
