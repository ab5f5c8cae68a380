// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include <dealbox/certificate.h>
#include <dealbox/event.h>

#include "bus-job.h"
#include "bus-reply.h"
#include "call-queue.h"
#include "station.h"
#include "dealing/strv.h"
#include "ledger/job-options.h"
#include "service-ledger.h"

const struct job_option job_options[] = {
	{ "replay", DEALBOX_JOB_REPLAY, true },
	{ "sets-in-a-row", DEALBOX_JOB_SETS, true },
	{ "descending", DEALBOX_JOB_DESCENDING, true },
	{ "by-reader", DEALBOX_JOB_BY_READER, true },
	{ "automatic-start", DEALBOX_JOB_AUTO_START, true },
	{ "stop-card", DEALBOX_JOB_STOP_CARD, true },
	{ "reversed-pockets", DEALBOX_JOB_REVERSED, true },
	{ "by-position", DEALBOX_JOB_BY_POSITION, true },
	{ "capture", DEALBOX_JOB_CAPTURE, false },
	{ "by-law", JOB_LAWS, false },
	{ "event", JOB_EVENT, false },
	{ NULL, 0, false },
};

void job_path(uint64_t id, char path[JOB_PATH])
{
	snprintf(path, JOB_PATH, JOBS "/%llu", (unsigned long long)id);
}

static struct job *job_at(struct service *s, const char *path)
{
	unsigned long long id;
	int end = 0;

	if (sscanf(path, JOBS "/%llu%n", &id, &end) != 1 || path[end])
		return NULL;
	return jobs_find(&s->jobs, id);
}

int find_job(sd_bus *bus, const char *path, const char *interface, void *context,
		    void **found, sd_bus_error *error)
{
	(void)bus;
	(void)interface;
	(void)error;
	*found = context;
	return job_at(context, path) ? 1 : 0;
}

void job_added(struct service *s, uint64_t id)
{
	char path[JOB_PATH];

	job_path(id, path);
	sd_bus_emit_object_added(s->bus, path);
}

void job_changed(struct service *s, uint64_t id)
{
	const struct job *job = jobs_find(&s->jobs, id);
	char path[JOB_PATH];

	if (!job)
		return;
	job_path(id, path);
	sd_bus_emit_properties_changed(s->bus, path, "io.dealbox1.Job", "State", "Recorded", "Void",
				       "Priority", "Copies", "Skipped", "Machines", NULL);
	if (job_done(job))
		sd_bus_emit_signal(s->bus, path, "io.dealbox1.Job", "Finished", "");
}

/* An act on the job is recorded: tell everybody what has changed, and answer the call. */
static int job_acted(sd_bus_message *m, struct service *s, struct job *job)
{
	struct station *st;

	service_notify(s, &(struct notice){ .kind = NOTICE_JOB_CHANGED, .job = job->id });
	/* The copy that follows at a machine, and the number of copies, may have changed. */
	for (st = s->stations->first; st; st = st->next)
		service_notify(s, &(struct notice){ .kind = NOTICE_MACHINE_STATE, .station = st });
	return sd_bus_reply_method_return(m, "");
}

/* Record an operator's act on a job or on one of its copies, and apply it. */
static int job_do(sd_bus_message *m, struct service *s, struct job *job,
		  struct dealbox_ledger_act *act, sd_bus_error *error)
{
	int err;

	act->job = job->id;
	if (act->board && !job_has(job, act->board, act->copy))
		return sd_bus_error_setf(error, ERROR("NotFound"),
					 "job %llu has no copy %u of board %u",
					 (unsigned long long)job->id, act->copy, act->board);
	if ((act->act == DEALBOX_ACT_SKIP || act->act == DEALBOX_ACT_REDEAL) &&
	    !jobs_room(&s->jobs, 0, 0, 0) &&
	    job_state(job, act->board, act->copy) == DEALBOX_LEDGER_COPY_OPEN)
		return sd_bus_error_set(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					"the jobs are too large: "
					"finish or cancel some");
	err = record_act(s, m, act, error);
	if (err < 0)
		return err;
	if (act->act == DEALBOX_ACT_RESUME)
		job->repeat = false;
	if (service_ledger_refresh(s, job))
		return sd_bus_error_set(error, ERROR("Ledger"),
					dealbox_ledger_error(s->ledger)->what);
	/* The ledger's list of copies does not contain open ones. */
	if (act->act == DEALBOX_ACT_REDEAL)
		job_set_state(job, act->board, act->copy, DEALBOX_LEDGER_COPY_OPEN);
	return job_acted(m, s, job);
}

/* The same, of a method of the job. */
static int job_act(sd_bus_message *m, struct service *s, enum dealbox_ledger_act_kind kind,
		   sd_bus_error *error)
{
	struct job *job = job_at(s, sd_bus_message_get_path(m));
	struct dealbox_ledger_act act = { .act = kind };
	int32_t priority = 0;
	uint32_t copies = 0;
	int err = 0;

	if (!job)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such job");
	if (kind == DEALBOX_ACT_SKIP || kind == DEALBOX_ACT_REDEAL)
		err = sd_bus_message_read(m, "uu", &act.board, &act.copy);
	else if (kind == DEALBOX_ACT_PRIORITY)
		err = sd_bus_message_read(m, "i", &priority);
	else if (kind == DEALBOX_ACT_COPIES)	/* the ledger refuses more than it can have */
		err = sd_bus_message_read(m, "u", &copies);
	act.value = kind == DEALBOX_ACT_PRIORITY ? (int64_t)priority : (int64_t)copies;
	return err < 0 ? err : job_do(m, s, job, &act, error);
}

int job_redeal_copy(sd_bus_message *m, struct service *s, struct job *job, unsigned int board,
		    unsigned int copy, sd_bus_error *error)
{
	return job_do(m, s, job,
		      &(struct dealbox_ledger_act){ .act = DEALBOX_ACT_REDEAL, .board = board,
						    .copy = copy }, error);
}

/* Keep the job to machines: what another one deals of it already, it ends. */
static int job_set_machines(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct job *job = job_at(s, sd_bus_message_get_path(m));
	char **machines = NULL;
	size_t n, names = 0;
	int err = sd_bus_message_read_strv(m, &machines);

	if (err >= 0 && !job)
		err = sd_bus_error_set(error, ERROR("NotFound"), "there is no such job");
	if (err >= 0)
		err = check_machines(machines, error);
	for (n = 0; err >= 0 && machines && machines[n]; n++)
		names += strlen(machines[n]) + 1;
	if (err >= 0 && !jobs_room(&s->jobs, 0, 0, names))
		err = sd_bus_error_set(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
				       "the jobs are too large: "
				       "finish or cancel some");
	if (err >= 0)
		err = dealbox_ledger_keep_job(s->ledger, job->id, sender_person(m),
					      (const char *const *)machines);
	strv_free(machines);
	if (err < 0)
		return sd_bus_error_is_set(error) ? err : ledger_error(s, err, error);
	if (service_ledger_refresh(s, job))
		return sd_bus_error_set(error, ERROR("Ledger"),
					dealbox_ledger_error(s->ledger)->what);
	return job_acted(m, s, job);
}

/* Make a set of the captured boards, to be copied (Law 6F). No card is shown. */
static int make_set(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct job *job = job_at(s, sd_bus_message_get_path(m));
	struct dealbox_ledger_board *boards;
	const char *session;
	char why[LEDGER_WHY] = "";
	uint64_t number;
	size_t n;
	int err = sd_bus_message_read(m, "s", &session);

	if (err < 0)
		return err;
	if (!is_name(session))
		return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS,
					"this is not a valid name of a session");
	if (!job || !(job->options & DEALBOX_JOB_CAPTURE))
		return sd_bus_error_set(error, ERROR("NotFound"), "this job is not a capture");
	boards = calloc(job->count, sizeof(*boards));
	if (!boards)
		return -ENOMEM;
	for (n = 0, err = 0; !err && n < job->count; n++) {
		boards[n].number = job->boards[n];
		err = service_ledger_original(s, job, job->boards[n], &boards[n].deal, why);
	}
	if (*why)
		err = sd_bus_error_setf(error, ERROR("BadSet"), "board %u: %s",
					boards[n - 1].number, why);
	else if (err)
		err = ledger_error(s, err, error);
	dealbox_ledger_user(s->ledger, sender_person(m));
	if (!err && dealbox_ledger_add_set(s->ledger, session, boards, job->count, &number, NULL))
		err = ledger_error(s, -EIO, error);
	if (!err)
		err = sd_bus_reply_method_return(m, "tu", number, (uint32_t)job->count);
	sodium_memzero(boards, job->count * sizeof(*boards));
	free(boards);
	return err;
}
METHOD(make_set, "deal")

struct listed {
	struct service *s;
	sd_bus_message *reply;
	unsigned int count;
};

/* Count a row. Returns -E2BIG if there are too many. Stop does not wait for thousands of them. */
static int count_row(struct listed *listed)
{
	if (!(listed->count % LOOK_EVERY))
		calls_look(listed->s);
	return ++listed->count > INSERTIONS_MAX ? -E2BIG : 0;
}

/* Set *name to that of the outcome; an exact insertion that does not count any more is revoked. */
static int outcome_name(struct listed *listed, const struct dealbox_ledger_insertion *i,
			const char **name)
{
	int counts = i->outcome == DEALBOX_LEDGER_EXACT ?
		dealbox_ledger_counts(listed->s->ledger, i) : 1;

	*name = counts ? dealbox_ledger_outcome_name(i->outcome) : "revoked";
	return counts < 0 ? counts : count_row(listed);
}

static int append_insertion(const struct dealbox_ledger_insertion *i, void *context)
{
	struct listed *listed = context;
	const char *outcome;
	int err = outcome_name(listed, i, &outcome);

	if (!err)
		err = sd_bus_message_append(listed->reply, "(uusus)", i->board, i->copy, i->machine,
					    i->number, outcome);
	return err < 0 ? err : 0;
}

static int append_dealt(const struct dealbox_ledger_insertion *i, void *context)
{
	struct listed *listed = context;
	const char *outcome;
	int err = outcome_name(listed, i, &outcome);

	if (!err)
		err = sd_bus_message_append(listed->reply, "(uusuxxs)", i->board, i->copy,
					    i->machine, i->number, i->begun_us, i->ended_us,
					    outcome);
	return err < 0 ? err : 0;
}

/* Append all insertions of the job as an array of that type, each by append(). */
static int append_all(struct service *s, uint64_t job, sd_bus_message *reply, const char *type,
		      int (*append)(const struct dealbox_ledger_insertion *i, void *context),
		      sd_bus_error *error)
{
	struct listed listed = { s, reply, 0 };
	int err = sd_bus_message_open_container(reply, 'a', type);

	if (err < 0)
		return err;
	err = dealbox_ledger_insertions(s->ledger, job, false, append, &listed);
	if (err == -E2BIG)
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "the job has more than %d insertions; "
					 "`dealbox ledger` shows them", INSERTIONS_MAX);
	return err ? ledger_error(s, -EIO, error) : sd_bus_message_close_container(reply);
}

/* List the boards of the job. */
static int job_boards(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	const struct job *job = job_at(s, sd_bus_message_get_path(m));
	sd_bus_message *reply = NULL;
	size_t n;
	int err;

	if (!job)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such job");
	err = sd_bus_message_new_method_return(m, &reply);
	if (err >= 0)
		err = sd_bus_message_open_container(reply, 'a', "u");
	for (n = 0; err >= 0 && n < job->count; n++)
		err = append_number(reply, 'u', job->boards[n]);
	if (err >= 0)
		err = sd_bus_message_close_container(reply);
	return send_reply(reply, err);
}
METHOD(job_boards, "status")

static int append_copy(const struct dealbox_ledger_copy *copy, void *context)
{
	static const char *const states[] = { "open", "dealing", "recorded", "skipped" };
	struct listed *listed = context;
	int err = count_row(listed);

	if (err)
		return err;
	err = sd_bus_message_append(listed->reply, "(uuus)", copy->board, copy->copy, copy->tries,
				    states[copy->state]);
	return err < 0 ? err : 0;
}

/* List the copies that were begun, recorded or skipped; all others are open. */
static int job_copies(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	const struct job *job = job_at(s, sd_bus_message_get_path(m));
	struct listed listed = { .s = s };
	int err, read;

	if (!job)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such job");
	err = sd_bus_message_new_method_return(m, &listed.reply);
	if (err >= 0)
		err = sd_bus_message_open_container(listed.reply, 'a', "(uuus)");
	if (err >= 0) {
		read = dealbox_ledger_copies(s->ledger, job->id, append_copy, &listed);
		err = read == -E2BIG ?
			sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					  "the job has more than %d copies", INSERTIONS_MAX) :
		      read ? ledger_error(s, -EIO, error) :
			sd_bus_message_close_container(listed.reply);
	}
	return send_reply(listed.reply, err);
}
METHOD(job_copies, "status")

/* List all insertions of the job, with their outcomes. */
static int job_insertions(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	const struct job *job = job_at(s, sd_bus_message_get_path(m));
	sd_bus_message *reply = NULL;
	int err;

	if (!job)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such job");
	err = sd_bus_message_new_method_return(m, &reply);
	if (err >= 0)
		err = append_all(s, job->id, reply, "(uusus)", append_insertion, error);
	return send_reply(reply, err);
}
METHOD(job_insertions, "deal")

static int copy_job(const struct dealbox_ledger_job *job, void *context)
{
	*(struct dealbox_ledger_job *)context = *job;
	return 0;
}

/*
 * Return who added the job and when, the head of the ledger, and all insertions with their times.
 */
static int job_receipt(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	const struct job *job = job_at(s, sd_bus_message_get_path(m));
	char head[DEALBOX_LEDGER_HEAD_TEXT];
	struct dealbox_ledger_head last;
	struct dealbox_ledger_job added = { 0 };
	sd_bus_message *reply = NULL;
	int err;

	if (!job)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such job");
	if (dealbox_ledger_jobs(s->ledger, job->id, copy_job, &added) ||
	    dealbox_ledger_get_head(s->ledger, &last))
		return ledger_error(s, -EIO, error);
	dealbox_ledger_head_format(&last, head);
	err = sd_bus_message_new_method_return(m, &reply);
	if (err >= 0)
		err = sd_bus_message_append(reply, "xus", added.at_us, added.uid, head);
	if (err >= 0)
		err = append_all(s, job->id, reply, "(uusuxxs)", append_dealt, error);
	return send_reply(reply, err);
}
METHOD(job_receipt, "deal")

static const char *const basis_words[] = {
	[DEALBOX_BASIS_NONE] = "none", [DEALBOX_BASIS_GATES] = "gates",
	[DEALBOX_BASIS_SENSORS] = "sensors", [DEALBOX_BASIS_HAND] = "hand",
};

static const char *job_pocket_order(const struct job *job)
{
	return job->options & DEALBOX_JOB_REVERSED ? "WSEN" : "NESW";
}

/*
 * Return the verdict on an insertion and a commitment to its trace, made with the caller's salt,
 * for a certificate. The digest reveals no card.
 */
static int job_commit(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	const struct job *job = job_at(s, sd_bus_message_get_path(m));
	struct dealbox_verdict *verdict = NULL;
	struct dealbox_trace *trace = NULL;
	sd_bus_message *reply = NULL;
	uint8_t digest[DEALBOX_HASH];
	const char *machine;
	const void *salt;
	uint32_t number;
	size_t size;
	int err;

	err = sd_bus_message_read(m, "su", &machine, &number);
	if (err >= 0)
		err = sd_bus_message_read_array(m, 'y', &salt, &size);
	if (err < 0)
		return err;
	if (size != DEALBOX_HASH)
		return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
					 "a salt must have %d bytes", DEALBOX_HASH);
	err = job ? service_ledger_judge(s, job, machine, number, &trace, &verdict) : -ENOENT;
	if (err == -ENOENT)
		return sd_bus_error_setf(error, ERROR("NotFound"),
					 "the job has no insertion %u of the "
					 "machine %s that has ended", number, machine);
	if (err)
		return sd_bus_error_set(error, ERROR("Ledger"),
					"the record of the insertion cannot be read");
	dealbox_trace_commit(trace, salt, digest);
	err = sd_bus_message_new_method_return(m, &reply);
	if (err >= 0)
		err = sd_bus_message_append(reply, "bsbs", dealbox_verdict_exact(verdict),
					    basis_words[dealbox_verdict_basis(verdict)],
					    dealbox_verdict_identified(verdict),
					    job_pocket_order(job));
	if (err >= 0)
		err = sd_bus_message_append_array(reply, 'y', digest, sizeof(digest));
	dealbox_verdict_free(verdict);
	dealbox_trace_free(trace);
	return send_reply(reply, err);
}
METHOD(job_commit, "deal")

/* Return true if the machine was a program: recorded so, connected so now, or so it has signed. */
static bool is_emulator(struct service *s, const struct dealbox_ledger_insertion *insertion,
			const struct dealbox_attestation *attestation)
{
	struct dealbox_statement statement;
	const struct station *st;

	/* if the ledger cannot be read, nobody knows that it was a machine */
	if (dealbox_ledger_emulated(s->ledger, insertion->id))
		return true;
	for (st = s->stations->first; st; st = st->next)
		if (!strcmp(st->id, insertion->machine) &&
		    !strncmp(st->uri, "emu:", strlen("emu:")))
			return true;
	return !dealbox_attestation_read(attestation, &statement) && statement.emulated;
}

/* Append a field of the machine's word, or an empty array if there is none. */
static int append_word(sd_bus_message *reply, bool attested, const uint8_t *bytes, size_t size)
{
	return sd_bus_message_append_array(reply, 'y', bytes, attested ? size : 0);
}

static int reply_attestation(sd_bus_message *m, struct service *s,
			     const struct dealbox_ledger_insertion *insertion,
			     struct dealbox_ledger_attestation *found, bool attested,
			     const uint8_t *salt)
{
	struct dealbox_attestation attestation = { 0 };
	sd_bus_message *reply = NULL;
	int err;

	memcpy(attestation.statement, found->statement, sizeof(found->statement));
	/* whoever has the opening opens it again, after play */
	dealbox_nonce_seal(found->nonce, &attestation, salt);
	err = sd_bus_message_new_method_return(m, &reply);
	if (err >= 0)
		err = sd_bus_message_append(reply, "b", is_emulator(s, insertion, &attestation));
	if (err >= 0)
		err = sd_bus_message_append(reply, "u", insertion->plan);
	if (err >= 0)
		err = append_word(reply, attested, found->public_key, sizeof(found->public_key));
	if (err >= 0)
		err = append_word(reply, attested, found->statement, sizeof(found->statement));
	if (err >= 0)
		err = append_word(reply, attested, found->signature, sizeof(found->signature));
	if (err >= 0)
		err = append_word(reply, attested, found->nonce, sizeof(found->nonce));
	return send_reply(reply, err);
}

/* How many wrong commitments a user may give until the service is restarted. */
#define WRONG_COMMITMENTS 20

/*
 * Count the wrong commitments of a user. Each tells that a deal is not the right one: somebody who
 * knows 26 cards could try all 10,400,600. Users beyond the table share its last slot.
 */
static unsigned int *wrong_commitments(uint32_t uid)
{
	static struct { uint32_t uid; unsigned int count; } users[16];
	size_t i;

	for (i = 0; i < sizeof(users) / sizeof(*users) - 1 && users[i].count && users[i].uid != uid;
	     i++)
		;
	users[i].uid = uid;
	return &users[i].count;
}

/*
 * Return what the machine has signed about an insertion, for a certificate: to a caller who knows
 * the deal, as the commitment to it shows. With the nonce, deals could be tried.
 */
static int job_attestation(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	const struct job *job = job_at(s, sd_bus_message_get_path(m));
	struct dealbox_ledger_attestation found = { 0 };
	struct dealbox_ledger_insertion insertion;
	size_t salt_size, plan_size;
	uint8_t digest[DEALBOX_HASH];
	struct dealbox_deal deal = { 0 };
	const void *salt, *plan;
	bool attested = false;
	const char *machine;
	uint32_t number;
	unsigned int *wrong;
	int err;

	err = sd_bus_message_read(m, "su", &machine, &number);
	if (err >= 0)
		err = sd_bus_message_read_array(m, 'y', &salt, &salt_size);
	if (err >= 0)
		err = sd_bus_message_read_array(m, 'y', &plan, &plan_size);
	if (err < 0)
		return err;
	if (salt_size != DEALBOX_HASH || plan_size != DEALBOX_HASH)
		return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
					 "a salt and a commitment must have %d bytes",
					 DEALBOX_HASH);
	wrong = wrong_commitments(sender_uid(m));
	if (*wrong >= WRONG_COMMITMENTS)
		return sd_bus_error_setf(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					 "%u commitments were to other deals: "
					 "restart dealboxd to go on", *wrong);
	err = !job ? -ENOENT :
		service_ledger_attestation(s, job, machine, number, &insertion, &deal, &found,
					   &attested);
	if (err == -ENOENT)
		err = sd_bus_error_setf(error, ERROR("NotFound"),
					"the job has no insertion %u of the "
					"machine %s that has ended", number, machine);
	else if (err)
		err = sd_bus_error_set(error, ERROR("Ledger"),
				       "the record of the insertion cannot be read");
	else if (!dealbox_plan_commit(job_pocket_order(job), &deal, salt, digest) &&
		 !memcmp(digest, plan, sizeof(digest)))
		err = reply_attestation(m, s, &insertion, &found, attested, salt);
	else {
		(*wrong)++;
		err = sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED,
				       "the commitment is not to the deal of this board");
	}
	explicit_bzero(&found, sizeof(found));
	dealbox_deal_wipe(&deal);
	return err;
}
METHOD(job_attestation, "deal")

/* Users who may add jobs may also end them, or add copies. Skipping all that is left ends a job. */
static const char *to_end_job(sd_bus_message *m, struct service *s)
{
	const struct job *job = job_at(s, sd_bus_message_get_path(m));

	return job && job->uid == sender_person(m) ? "deal" : "manage";
}

#define JOB_METHOD(function, kind, action) \
static int function(sd_bus_message *m, struct service *s, sd_bus_error *error) \
{ \
	return job_act(m, s, kind, error); \
} \
METHOD(function, action)

JOB_METHOD(job_pause, DEALBOX_ACT_PAUSE, "deal")
JOB_METHOD(job_resume, DEALBOX_ACT_RESUME, "deal")
JOB_METHOD(job_cancel, DEALBOX_ACT_CANCEL, to_end_job(m, context))
JOB_METHOD(job_skip, DEALBOX_ACT_SKIP, to_end_job(m, context))
JOB_METHOD(job_redeal, DEALBOX_ACT_REDEAL, "manage")
JOB_METHOD(job_priority, DEALBOX_ACT_PRIORITY, "manage")
JOB_METHOD(job_set_copies, DEALBOX_ACT_COPIES, to_end_job(m, context))
METHOD(job_set_machines, to_end_job(m, context))

static int append_options(sd_bus_message *reply, const struct job *job)
{
	size_t n;
	int err = sd_bus_message_open_container(reply, 'a', "s");

	for (n = 0; err >= 0 && job_options[n].name; n++)
		if (job->options & job_options[n].bit)
			err = sd_bus_message_append(reply, "s", job_options[n].name);
	return err < 0 ? err : sd_bus_message_close_container(reply);
}

/* Answer from memory, so that clients that poll cause no I/O on the ledger. */
static int get_job(sd_bus *bus, const char *path, const char *interface, const char *property,
		   sd_bus_message *reply, void *context, sd_bus_error *error)
{
	static const char *const states[] = { "open", "paused", "cancelled" };
	const struct job *job = job_at(context, path);
	const struct {
		const char *name;
		char type;
		uint64_t number;
	} numbers[] = {
		{ "Id", 't', job ? job->id : 0 },
		{ "Set", 't', job ? job->set : 0 },
		{ "Boards", 'u', job ? job->count : 0 },
		{ "Copies", 'u', job ? job->copies : 0 },
		{ "Priority", 'i', job ? job->priority : 0 },
		{ "Recorded", 'u', job ? job_count(job, DEALBOX_LEDGER_COPY_RECORDED) : 0 },
		{ "Skipped", 'u', job ? job_count(job, DEALBOX_LEDGER_COPY_SKIPPED) : 0 },
		{ "Void", 'u', job ? job->voided : 0 },
	};
	size_t n;

	(void)bus;
	(void)interface;
	if (!job)
		return sd_bus_error_set(error, ERROR("NotFound"), "there is no such job");
	for (n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
		if (!strcmp(property, numbers[n].name))
			return append_number(reply, numbers[n].type, numbers[n].number);
	if (!strcmp(property, "Session"))
		return sd_bus_message_append(reply, "s", job->session);
	if (!strcmp(property, "Options"))
		return append_options(reply, job);
	if (!strcmp(property, "Machines"))
		return sd_bus_message_append_strv(reply, job->machines);
	return sd_bus_message_append(reply, "s", job->repeat ? "repeat" :
				     job->state != DEALBOX_LEDGER_JOB_CANCELLED && job_done(job) ?
				     "done" : states[job->state]);
}

const sd_bus_vtable job_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Id", "t", get_job, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Set", "t", get_job, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Session", "s", get_job, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Boards", "u", get_job, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Copies", "u", get_job, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Options", "as", get_job, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Machines", "as", get_job, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Priority", "i", get_job, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("State", "s", get_job, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Recorded", "u", get_job, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Void", "u", get_job, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Skipped", "u", get_job, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_METHOD("Pause", "", "", job_pause_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Resume", "", "", job_resume_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Cancel", "", "", job_cancel_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("SetPriority", "i", SD_BUS_PARAM(priority), "", ,
				 job_priority_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("SetCopies", "u", SD_BUS_PARAM(copies), "", ,
				 job_set_copies_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("SetMachines", "as", SD_BUS_PARAM(machines), "", ,
				 job_set_machines_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetBoards", "", , "au", SD_BUS_PARAM(boards), job_boards_call,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetCopies", "", , "a(uuus)", SD_BUS_PARAM(copies),
				 job_copies_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("Skip", "uu", SD_BUS_PARAM(board) SD_BUS_PARAM(copy), "", ,
				 job_skip_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("Redeal", "uu", SD_BUS_PARAM(board) SD_BUS_PARAM(copy), "", ,
				 job_redeal_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("MakeSet", "s", SD_BUS_PARAM(session), "tu",
				 SD_BUS_PARAM(set) SD_BUS_PARAM(boards), make_set_call,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetInsertions", "", , "a(uusus)", SD_BUS_PARAM(insertions),
				 job_insertions_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetReceipt", "", , "xusa(uusuxxs)", SD_BUS_PARAM(added)
				 SD_BUS_PARAM(user) SD_BUS_PARAM(head) SD_BUS_PARAM(insertions),
				 job_receipt_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("Commit", "suay", SD_BUS_PARAM(machine) SD_BUS_PARAM(insertion)
				 SD_BUS_PARAM(salt), "bsbsay", SD_BUS_PARAM(exact)
				 SD_BUS_PARAM(basis) SD_BUS_PARAM(read) SD_BUS_PARAM(pockets)
				 SD_BUS_PARAM(trace), job_commit_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetAttestation", "suayay",
				 SD_BUS_PARAM(machine) SD_BUS_PARAM(insertion)
				 SD_BUS_PARAM(salt) SD_BUS_PARAM(plan), "buayayayay",
				 SD_BUS_PARAM(emulator)
				 SD_BUS_PARAM(number) SD_BUS_PARAM(key) SD_BUS_PARAM(statement)
				 SD_BUS_PARAM(attestation) SD_BUS_PARAM(nonce),
				 job_attestation_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_SIGNAL_WITH_NAMES("Verdict", "uusuba{sv}", SD_BUS_PARAM(board) SD_BUS_PARAM(copy)
				 SD_BUS_PARAM(machine) SD_BUS_PARAM(insertion) SD_BUS_PARAM(exact)
				 SD_BUS_PARAM(facts), 0),
	SD_BUS_SIGNAL("Finished", "", 0),
	SD_BUS_VTABLE_END
};

int list_jobs(sd_bus *bus, const char *prefix, void *context, char ***nodes,
		     sd_bus_error *error)
{
	struct service *s = context;
	const struct job *job;
	char path[JOB_PATH];
	int err = 0;

	(void)bus;
	(void)prefix;
	(void)error;
	for (job = s->jobs.first; job && !err; job = job->next) {
		job_path(job->id, path);
		err = strv_add(nodes, path);
	}
	return err;
}

/*
 * The facts of a verdict: the sentence, and the words and numbers for clients that make their own.
 * None is a card.
 */
static int append_verdict(sd_bus_message *m, const struct dealbox_operator_verdict *v,
			  const char *text)
{
	/* dealbox_verify() also tells these of cards that came otherwise than planned */
	const bool exact = v->kind == DEALBOX_VERDICT_EXACT;
	/* a pocket may be empty */
	const bool empty = v->kind == DEALBOX_VERDICT_POCKET && !v->count;
	const struct {
		const char *key;
		uint32_t number;
		const char *const *words;
		size_t count;
	} facts[] = {
		{ "basis", exact ? v->basis : 0, WORDS(basis_words) },
		{ "seat", v->seat, WORDS(seat_words) },
		{ "place", v->place, WORDS(place_words) },
		{ "card", v->card },
		{ "count", v->count },
		{ "expected", v->expected },
	};
	int err = sd_bus_message_open_container(m, 'a', "{sv}");
	size_t n;

	if (err >= 0)
		err = sd_bus_message_append(m, "{sv}{sv}", "text", "s", text, "kind", "s",
					    dealbox_operator_verdict_name(v->kind));
	for (n = 0; err >= 0 && n < sizeof(facts) / sizeof(facts[0]); n++)
		err = append_fact(m, facts[n].key, facts[n].number, facts[n].words, facts[n].count);
	if (err >= 0 && empty)
		err = sd_bus_message_append(m, "{sv}", "count", "u", 0);
	if (err >= 0 && exact && v->unidentified)
		err = sd_bus_message_append(m, "{sv}", "unidentified", "b", 1);
	/* a code may be 0 */
	if (err >= 0 && v->coded)
		err = sd_bus_message_append(m, "{sv}", "code", "u", v->code);
	if (err >= 0 && v->reason)
		err = sd_bus_message_append(m, "{sv}", "reason", "s",
					    dealbox_event_name(v->reason));
	return err < 0 ? err : sd_bus_message_close_container(m);
}

void job_judged(struct service *s, const struct notice *notice)
{
	char path[JOB_PATH], text[512];
	sd_bus_message *m = NULL;
	int err;

	job_path(notice->copy->job, path);
	dealbox_operator_verdict_text(notice->verdict, s->config.language, text, sizeof(text));
	err = sd_bus_message_new_signal(s->bus, &m, path, "io.dealbox1.Job", "Verdict");
	if (err >= 0)
		err = sd_bus_message_append(m, "uusub", notice->copy->board, notice->copy->copy,
					    notice->station->id, notice->insertion, notice->exact);
	if (err >= 0)
		err = append_verdict(m, notice->verdict, text);
	if (err >= 0)
		sd_bus_send(s->bus, m, NULL);
	sd_bus_message_unref(m);
}
