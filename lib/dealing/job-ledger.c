// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/law.h>
#include <dealbox/pack.h>

#include "dealing/job-ledger.h"
#include "dealing/strv.h"
#include "ledger/job-options.h"

static int add_machine(const char *machine, void *context)
{
	return strv_add(context, machine);
}

/* Read the machines that may deal the job. With an error, those that were known stay. */
static int renew_machines(struct dealbox_ledger *ledger, struct job *job)
{
	char **machines = NULL;
	int err = dealbox_ledger_machines(ledger, job->id, add_machine, &machines);

	if (err) {
		strv_free(machines);
		return err;
	}
	strv_free(job->machines);
	job->machines = machines;
	return 0;
}

static int set_copy(const struct dealbox_ledger_copy *copy, void *context)
{
	int err = job_set_state(context, copy->board, copy->copy, copy->state);

	/* Ignore acts about copies that do not exist: this library's ledger refuses them. */
	return err == -ENOENT ? 0 : err;
}

static int keep_job(const struct dealbox_ledger_job *job, void *context)
{
	*(struct dealbox_ledger_job *)context = *job;
	return 0;
}

/* Update the job from the ledger. */
static int renew(struct dealbox_ledger *ledger, struct jobs *jobs, struct job *job,
		 const struct dealbox_ledger_job *record)
{
	int err;

	err = renew_machines(ledger, job);
	if (err)
		return err;
	/* They grow by DEALBOX_ACT_COPIES. */
	job->copies = record->copies;
	err = dealbox_ledger_copies(ledger, job->id, set_copy, job);
	if (err)
		return err;
	/* DONE is computed from the copies. */
	job->state = record->state == DEALBOX_LEDGER_JOB_DONE ? DEALBOX_LEDGER_JOB_OPEN :
								record->state;
	job->uid = record->uid;
	job->voided = record->voided;
	memcpy(job->session, record->session, sizeof(job->session));
	if (record->priority != job->priority)
		jobs_set_priority(jobs, job, record->priority);
	return 0;
}

int job_refresh(struct dealbox_ledger *ledger, struct jobs *jobs, struct job *job)
{
	struct dealbox_ledger_job record = { 0 };
	int err = dealbox_ledger_jobs(ledger, job->id, keep_job, &record);

	return err ? err : renew(ledger, jobs, job, &record);
}

/* The boards of a job */
struct board_list {
	unsigned int *boards;
	size_t count, room;
};

static int add_board(unsigned int board, void *context)
{
	struct board_list *list = context;

	if (list->count == list->room)
		return -EIO;
	list->boards[list->count++] = board;
	return 0;
}

int job_take(struct dealbox_ledger *ledger, struct jobs *jobs,
	     const struct dealbox_ledger_job *record, struct job **taken)
{
	struct board_list list = { calloc(record->boards, sizeof(*list.boards)), 0,
				   record->boards };
	struct job *job = NULL;
	int err = list.boards ? dealbox_ledger_boards(ledger, record->job, add_board, &list) :
				-ENOMEM;

	if (!err && !list.count)
		err = -EIO;
	if (!err) {
		job = jobs_add(jobs, record->job, record->set, list.boards, list.count,
			       record->copies, job_options_of(record), record->priority);
		err = job ? 0 : -ENOMEM;
	}
	free(list.boards);
	if (!err)
		err = renew(ledger, jobs, job, record);
	/* the ledger may have more than can be held, of a time when nobody counted */
	if (!err && !jobs_room(jobs, 0, 0, 0))
		err = -E2BIG;
	if (job && err) {
		jobs_remove(jobs, job);
		job = NULL;
	}
	*taken = job;
	return err;
}

int job_load(struct dealbox_ledger *ledger, struct jobs *jobs, uint64_t id, struct job **taken)
{
	struct dealbox_ledger_job record = { 0 };
	int err = dealbox_ledger_jobs(ledger, id, keep_job, &record);

	*taken = NULL;
	if (err || !record.job)
		return err ? err : -ENOENT;
	return job_take(ledger, jobs, &record, taken);
}

/* Insertions without a verdict */
struct open_list {
	struct dealbox_ledger_insertion *list;
	size_t count;
};

static int add_open(const struct dealbox_ledger_insertion *insertion, void *context)
{
	struct open_list *open = context;
	struct dealbox_ledger_insertion *grown =
		realloc(open->list, (open->count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	open->list = grown;
	grown[open->count] = *insertion;
	grown[open->count++].outcome = DEALBOX_LEDGER_UNKNOWN;
	return 0;
}

int ledger_settle(struct dealbox_ledger *ledger, unsigned int *settled)
{
	struct open_list open = { 0 };
	int err = dealbox_ledger_insertions(ledger, 0, true, add_open, &open);

	for (*settled = 0; !err && *settled < open.count; ++*settled)
		err = dealbox_ledger_end(ledger, &open.list[*settled], NULL, 0);
	free(open.list);
	return err;
}

static int keep_options(const struct dealbox_ledger_job *job, void *context)
{
	*(unsigned int *)context = job_options_of(job);
	return 0;
}

bool ledger_recorded(struct dealbox_ledger *ledger, const char *machine, uint32_t *insertion,
		     struct copy *copy, unsigned int *options)
{
	struct dealbox_ledger_insertion last;

	if (dealbox_ledger_last(ledger, machine, &last) ||
	    dealbox_ledger_counts(ledger, &last) <= 0 ||
	    dealbox_ledger_jobs(ledger, last.job, keep_options, options))
		return false;
	*insertion = last.number;
	*copy = (struct copy){ last.job, last.board, last.copy };
	return true;
}

bool ledger_doubts(struct dealbox_ledger *ledger, const char *machine)
{
	struct dealbox_ledger_insertion last;
	struct copy copy;
	uint64_t restored;
	uint32_t number;
	unsigned int options;
	int err = dealbox_ledger_last(ledger, machine, &last);

	/* Insertions between a backup and its restore are unknown. */
	if ((!err || err == -ENOENT) &&
	    (dealbox_ledger_restored(ledger, &restored) || last.id < restored))
		return true;
	if (err == -ENOENT)
		return false;
	/* An original, or an exact board that no longer counts, may come back with its cards. */
	return err || !ledger_recorded(ledger, machine, &number, &copy, &options);
}

bool ledger_missed(struct dealbox_ledger *ledger, const char *machine, uint32_t insertion,
		   uint32_t *known)
{
	struct dealbox_ledger_insertion last;

	if (dealbox_ledger_last(ledger, machine, &last))
		return false;
	*known = last.number;
	/* The pockets of an original are read in one insertion. */
	return insertion != last.number + 1 && insertion != last.number;
}

/* ---- plans and verdicts ---- */

const struct dealbox_pack *job_pack(const struct dealbox_deal *deal)
{
	return dealbox_deal_complete(deal, dealbox_pack_preferans()) ? dealbox_pack_preferans() :
	       dealbox_pack_bridge();
}

/* Make a plan for sorted decks. */
static int plan_sorted(struct dealbox_plan *plan, uint32_t id, const struct dealbox_deal *deal,
		       const uint8_t *pockets)
{
	const struct dealbox_pack *pack = job_pack(deal);
	uint8_t deck[64];
	size_t count = dealbox_pack_sorted(pack, deck);

	return dealbox_plan_by_position(plan, id, deal, pack, pockets, deck, count);
}

int job_verify(const struct job *job, const struct dealbox_plan *plan, uint32_t capabilities,
	       const struct dealbox_trace *trace, struct dealbox_verdict **verdict)
{
	bool sorted = plan->mode == DEALBOX_PLAN_BY_POSITION &&
		      !(job && job->options & JOB_LAWS);
	uint8_t deck[64];

	if (!sorted)
		return dealbox_verify_machine(plan, NULL, capabilities, trace, verdict);
	if (dealbox_pack_sorted(dealbox_pack_preferans(), deck) != plan->entries)
		dealbox_pack_sorted(dealbox_pack_bridge(), deck);
	return dealbox_verify_machine(plan, deck, capabilities, trace, verdict);
}

const uint8_t *job_pockets(const struct job *job)
{
	static const uint8_t reversed[DEALBOX_HANDS] = { 3, 2, 1, 0 };

	return job->options & DEALBOX_JOB_REVERSED ? reversed : NULL;
}

int job_plan(struct dealbox_ledger *ledger, const struct job *job, const struct copy *copy,
	     uint32_t id, struct dealbox_plan *plan)
{
	const uint8_t *pockets = job_pockets(job);
	struct dealbox_deal deal;
	int err;

	if (job->options & DEALBOX_JOB_CAPTURE)
		return dealbox_plan_capture(plan, id, copy->copy - 1) ? -EINVAL : 0;
	if (job->options & JOB_LAWS)
		return dealbox_law_plan(JOB_LAW(job->options) - 1, JOB_DEALER(job->options), id,
					plan);
	err = dealbox_ledger_get_deal(ledger, job->set, copy->board, &deal);
	if (err)
		return err == -EINVAL ? -EIO : err;
	if (job->options & DEALBOX_JOB_BY_POSITION)
		err = plan_sorted(plan, id, &deal, pockets);
	else
		err = dealbox_plan_by_card(plan, id, &deal, job_pack(&deal), pockets);
	dealbox_deal_wipe(&deal);
	return err ? -EINVAL : 0;
}
