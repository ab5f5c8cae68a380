// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error-internal.h"
#include "pool/pool-internal.h"
#include "pool/send.h"

struct insertions {
	struct dealbox_ledger_insertion *list;
	size_t count;
};

static int ledger_refused(const struct pool_sending *sending, int err, struct dealbox_error *error)
{
	const struct dealbox_error *of = dealbox_ledger_error(sending->ledger);

	return error_set(error, err, 0, of->next, "%s", of->what);
}

static int insertion_keep(const struct dealbox_ledger_insertion *insertion, void *context)
{
	struct insertions *insertions = context;
	void *grown =
		realloc(insertions->list, (insertions->count + 1) * sizeof(*insertions->list));

	if (!grown)
		return -ENOMEM;
	insertions->list = grown;
	insertions->list[insertions->count++] = *insertion;
	return 0;
}

static int job_keep(const struct dealbox_ledger_job *job, void *context)
{
	*(struct dealbox_ledger_job *)context = *job;
	return 0;
}

static int session_row(const char *const *columns, size_t count, void *context)
{
	if (!pool_full(columns, count))
		return -EBADMSG;
	return strcmp(columns[0], context) ? -EINVAL : 1;
}

/* Gets the job, and makes sure that it is of the event's session. */
static int job_find(struct pool *pool, const struct pool_sending *sending,
		    struct dealbox_ledger_job *job, struct dealbox_error *error)
{
	char number[12];
	const char *values[] = { sending->token, number };
	int err;

	job->job = 0;
	err = dealbox_ledger_jobs(sending->ledger, sending->job, job_keep, job);
	if (err)
		return ledger_refused(sending, err, error);
	if (!job->job)
		return error_set(error, -ENOENT, 0, "`dealbox ledger list` shows them",
				 "there is no job %" PRIu64, sending->job);
	if (!job->set)
		return error_set(error, -EINVAL, 0, NULL, "job %" PRIu64 " has no set",
				 sending->job);
	snprintf(number, sizeof(number), "%" PRIu32, sending->event_job);
	err = pool_run(pool, error, session_row, job->session,
		       "SELECT session FROM dealbox.jobs_of($1) WHERE id = $2", 2, values);
	if (!err)
		return error_set(error, -ENOENT, 0, "`dealbox event status` lists them",
				 "this PC has no set of job %" PRIu32 " of the event",
				 sending->event_job);
	if (err == -EINVAL)
		return error_set(error, err, 0, "name the job of the event with that session",
				 "job %" PRIu64 " is of session %s, and that of the event is not",
				 sending->job, job->session);
	return err == 1 ? 0 : err;
}

/* The hash of a board, of its deal in the ledger. */
static int hash_of(const struct pool_sending *sending, uint64_t set, unsigned int board,
		   char hash[LEASE_ID], struct dealbox_error *error)
{
	struct dealbox_deal deal;
	int err = dealbox_ledger_get_deal(sending->ledger, set, board, &deal);

	if (err)
		return ledger_refused(sending, err, error);
	pool_hash(sending->key, &deal, hash);
	sodium_memzero(&deal, sizeof(deal));
	return 0;
}

/* Returns 1 if it is an exact board of an emulated machine, which is none. */
static int is_played(const struct pool_sending *sending,
		     const struct dealbox_ledger_insertion *insertion)
{
	if (sending->rehearsal || insertion->outcome != DEALBOX_LEDGER_EXACT)
		return 0;
	return dealbox_ledger_emulated(sending->ledger, insertion->id);
}

static int withdraw(struct pool *pool, const struct pool_sending *sending,
		    const struct dealbox_ledger_insertion *insertion, struct dealbox_error *error)
{
	bool holds;

	return pool_withdraw(pool, sending->token, insertion->machine, insertion->number, &holds,
			     error);
}

/* Returns true if the server refuses this insertion, and may accept others. */
static bool refuses_one(int err)
{
	return err == -ENOTUNIQ || err == -EBADMSG || err == -ENOENT || err == -EINVAL;
}

static int insertion_send(struct pool *pool, const struct pool_sending *sending, uint64_t set,
			  const struct dealbox_ledger_insertion *insertion, struct pool_sent *sent,
			  struct dealbox_error *error)
{
	char hash[LEASE_ID];
	struct pool_report report = {
		.machine = insertion->machine,
		.insertion = insertion->number,
		.copy = { sending->event_job, insertion->board, insertion->copy },
		.hash = hash,
		.outcome = dealbox_ledger_outcome_name(insertion->outcome),
		.at = insertion->ended_us,
	};
	enum pool_standing standing;
	int err, counts = 1;

	err = is_played(sending, insertion);
	if (err == 1) {
		sent->emulated++;
		return 0;
	}
	if (!err && insertion->outcome == DEALBOX_LEDGER_EXACT)
		err = counts = dealbox_ledger_counts(sending->ledger, insertion);
	if (err < 0)
		return ledger_refused(sending, err, error);
	err = hash_of(sending, set, insertion->board, hash, error);
	if (err)
		return err;
	err = pool_report(pool, sending->token, &report, &standing, error);
	if (!err && !counts) {
		err = withdraw(pool, sending, insertion, error);
		standing = POOL_WITHDRAWN;
	}
	if (refuses_one(err)) {
		sent->refused++;
		sending->refused(&report, error, sending->context);
		return 0;
	}
	if (err)
		return err;
	sent->counts += standing == POOL_COUNTS;
	sent->surplus += standing == POOL_SURPLUS;
	sent->withdrawn += standing == POOL_WITHDRAWN;
	sent->no_board += standing == POOL_NO_BOARD;
	if (standing == POOL_SURPLUS)
		sending->surplus(&report, sending->context);
	return 0;
}

int pool_send(struct pool *pool, const struct pool_sending *sending, struct pool_sent *sent,
	      struct dealbox_error *error)
{
	struct insertions insertions = { 0 };
	struct dealbox_ledger_job job;
	int err = job_find(pool, sending, &job, error);
	size_t n;

	*sent = (struct pool_sent) { 0 };
	if (!err) {
		err = dealbox_ledger_insertions(sending->ledger, sending->job, false,
						insertion_keep, &insertions);
		if (err)
			err = ledger_refused(sending, err, error);
	}
	for (n = 0; n < insertions.count && !err; n++)
		if (insertions.list[n].outcome &&
		    insertions.list[n].outcome != DEALBOX_LEDGER_CAPTURED)
			err = insertion_send(pool, sending, job.set, &insertions.list[n], sent,
					     error);
	free(insertions.list);
	return err;
}
