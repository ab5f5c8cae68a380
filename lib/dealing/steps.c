// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include <dealbox/law.h>
#include <dealbox/pack.h>

#include "dealing/dealing-internal.h"
#include "dealing/job-ledger.h"

/*
 * Poll SETTLES times, SETTLE_MS apart, for events still in flight after a status; after that second
 * they are lost (docs/protocol.md, R-8-13).
 */
#define SETTLE_MS	50
#define SETTLES		20

/* For a log. */
static void say(struct dealing *d, enum dealing_message message, const struct copy *copy,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

static void say(struct dealing *d, enum dealing_message message, const struct copy *copy,
		const char *format, ...)
{
	char text[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	d->listener->say(d, message, copy, text);
}

/* Convert the result of a command. */
static enum did answer(struct dealing *d, int err)
{
	d->suspect = err == -ETIMEDOUT;
	if (!err)
		return DID_OK;
	say(d, DEALING_REFUSED, &d->engine.copy, "%s",
		    dealbox_machine_error(d->machine)->what);
	return err == -EREMOTEIO || err == -EOPNOTSUPP || err == -EINVAL ? DID_REFUSED :
	       DID_NO_ANSWER;
}

/*
 * A status is only valid together with all events before it, so wait for those that are still in
 * flight.
 */
static enum did do_status(struct dealing *d, const struct step *step)
{
	struct pollfd wait = { .fd = dealbox_machine_fd(d->machine), .events = POLLIN };
	struct dealbox_status status;
	unsigned int n, quiet = 0;
	bool news = true;
	int err, events;

	(void)step;
	for (n = 0; n < 2 * SETTLES && news && quiet < SETTLES; n++) {
		err = dealbox_machine_get_status(d->machine, &status);
		if (err)
			return answer(d, err);
		events = dealing_read(d, NULL);
		if (events < 0)
			return DID_NO_ANSWER;
		if (events) {
			quiet = 0;
			continue;
		}
		news = engine_news(&d->engine, &status);
		quiet++;
		if (news)
			poll(&wait, 1, SETTLE_MS);
	}
	/* If newer events keep arriving, give up; the status will be queried again later. */
	if (news && quiet < SETTLES)
		d->engine.stale = false;
	else
		engine_status(&d->engine, &status);
	return answer(d, 0);
}

/* Return the number of cards of the plan, 0 for a capture. */
static unsigned int plan_cards(const struct dealbox_plan *plan)
{
	unsigned int n, cards = 0;

	for (n = 0; n < plan->entries && plan->mode != DEALBOX_PLAN_CAPTURE; n++)
		cards += plan->pocket[n] != DEALBOX_NONE;
	return cards;
}

static enum did load_plan(struct dealing *d)
{
	struct dealbox_plan given = d->plan;
	int err = dealbox_machine_set_plan(d->machine, &given);

	d->engine.cards = plan_cards(&d->plan);
	dealbox_plan_wipe(&given);
	return answer(d, err);
}

static enum did do_plan(struct dealing *d, const struct step *step)
{
	const struct job *job = jobs_find(d->jobs, step->copy.job);
	int err;

	/* neither 0 nor DEALBOX_PLAN_TEST */
	d->plan_id = d->plan_id % 0x7fffffff + 1;
	err = job_plan(d->ledger, job, &step->copy, d->plan_id, &d->plan);
	if (!err)
		return load_plan(d);
	if (err != -EINVAL) {
		say(d, DEALING_LEDGER, &step->copy, "%s",
			    dealbox_ledger_error(d->ledger)->what);
		return DID_LEDGER;
	}
	say(d, DEALING_REFUSED, &step->copy, "board %u cannot be planned", step->copy.board);
	return DID_REFUSED;
}

static enum did do_begin(struct dealing *d, const struct step *step)
{
	struct job *job = jobs_find(d->jobs, step->copy.job);
	/* Starting a board in doubt confirms that it is empty. */
	const struct dealbox_ledger_act emptied = {
		.act = DEALBOX_ACT_EMPTIED, .uid = d->starter, .job = step->copy.job,
		.board = step->copy.board, .copy = step->copy.copy, .machine = d->engine.id,
	};
	/* A person who deals by hand sees each card and its seat. Record that first. */
	const struct dealbox_ledger_act revealed = {
		.act = DEALBOX_ACT_REVEAL, .uid = getuid(), .job = step->copy.job,
		.board = step->copy.board, .machine = d->engine.id,
	};
	struct dealbox_ledger_insertion insertion = {
		.job = step->copy.job, .board = step->copy.board, .copy = step->copy.copy,
		.number = step->insertion, .plan = d->plan_id,
	};
	int err = 0;

	_Static_assert(sizeof(insertion.machine) >= DEALING_ID, "the name of a machine");
	snprintf(insertion.machine, sizeof(insertion.machine), "%s", d->engine.id);
	if (d->engine.by_hand)
		err = dealbox_ledger_add_act(d->ledger, &revealed);
	if (!err && d->engine.confirm && !d->engine.capture)
		err = dealbox_ledger_add_act(d->ledger, &emptied);
	if (!err)
		err = dealbox_ledger_begin(d->ledger, &insertion);
	if (!err)
		d->insertion = insertion.id;
	/* it is certified later, perhaps when another machine is connected */
	if (!err && d->engine.emulated)
		err = dealbox_ledger_add_emulation(d->ledger, d->insertion);
	d->starter = DEALBOX_UID_NONE;
	if (!err)
		return DID_OK;
	say(d, DEALING_REFUSED, &step->copy, "%s", dealbox_ledger_error(d->ledger)->what);
	switch (err) {
	case -EALREADY:
		return DID_USED;
	case -EEXIST:
	case -EINPROGRESS:
	case -ECANCELED:
	case -ENOENT:
		if (job && !job_refresh(d->ledger, d->jobs, job) &&
		    job_state(job, step->copy.board, step->copy.copy) == DEALBOX_LEDGER_COPY_OPEN &&
		    err == -EEXIST)
			return DID_REPEAT;
		return DID_TAKEN;
	default:
		return DID_LEDGER;
	}
}

static enum did do_start(struct dealing *d, const struct step *step)
{
	dealing_reset_progress(d);
	d->heard = monotonic_us();
	return answer(d, dealbox_machine_start(d->machine, d->plan_id, step->insertion));
}

/* Log a verdict, and report it. */
static void notify_judged(struct dealing *d, const struct step *step, bool exact,
			  const struct dealbox_operator_verdict *verdict)
{
	char text[256];

	dealbox_operator_verdict_text(verdict, NULL, text, sizeof(text));
	say(d, exact ? DEALING_RECORDED : DEALING_VOID, &step->copy, "board %u, copy %u: %s%s",
	    step->copy.board, step->copy.copy, text, exact ? ", recorded" : "");
	d->listener->judged(d, &step->copy, step->insertion, exact, verdict);
}

/* Record the end of an insertion, with its trace. Returns 0, or an error, which is logged. */
static int record_end(struct dealing *d, const struct step *step,
		      enum dealbox_ledger_outcome outcome, unsigned int reason,
		      unsigned int differences)
{
	const struct dealbox_trace *trace = dealing_trace(d, step->insertion);
	size_t count = trace ? dealbox_trace_count(trace) : 0, n;
	const struct dealbox_ledger_insertion ended = {
		.id = d->insertion, .outcome = outcome, .reason = reason,
		.differences = differences,
	};
	struct dealbox_event *events = NULL;
	int err;

	if (count) {
		events = calloc(count, sizeof(*events));
		if (!events)
			return -ENOMEM;
		for (n = 0; n < count; n++)
			events[n] = *dealbox_trace_get(trace, n);
	}
	err = dealbox_ledger_end(d->ledger, &ended, events, count);
	if (events)
		sodium_memzero(events, count * sizeof(*events));
	free(events);
	if (err)
		say(d, DEALING_LEDGER, &step->copy, "%s",
			    dealbox_ledger_error(d->ledger)->what);
	return err;
}

/* Record the outcome of an insertion and call the listener. Returns 0 or -errno. */
static int record(struct dealing *d, const struct step *step, enum dealbox_ledger_outcome outcome,
		  unsigned int reason, unsigned int differences,
		  const struct dealbox_operator_verdict *verdict)
{
	struct job *job = jobs_find(d->jobs, step->copy.job);
	bool exact = outcome == DEALBOX_LEDGER_EXACT || outcome == DEALBOX_LEDGER_CAPTURED;
	int err = record_end(d, step, outcome, reason, differences);

	if (err)
		return err;
	if (job && !exact)
		job->voided++;
	notify_judged(d, step, exact, verdict);
	dealbox_plan_wipe(&d->plan);
	dealbox_trace_free(d->kept);
	d->kept = NULL;
	return 0;
}

/*
 * A pocket of an original that was read without a fault counts only if it has the right number of
 * cards.
 */
static enum dealbox_ledger_outcome judge_pocket(const struct dealbox_trace *trace,
						unsigned int pocket,
						struct dealbox_operator_verdict *says)
{
	unsigned int want = dealbox_pack_bridge()->size[pocket], count;
	dealbox_cards cards;

	if (dealbox_law_capture_pocket(trace, &cards)) {
		says->kind = DEALBOX_VERDICT_READ_UNKNOWN;
		return DEALBOX_LEDGER_UNKNOWN;
	}
	count = dealbox_cards_count(cards);
	sodium_memzero(&cards, sizeof(cards));
	*says = (struct dealbox_operator_verdict){
		.kind = count == want ? DEALBOX_VERDICT_READ : DEALBOX_VERDICT_POCKET,
		.seat = (uint8_t)(pocket + 1), .count = count, .expected = want,
	};
	return count == want ? DEALBOX_LEDGER_CAPTURED : DEALBOX_LEDGER_VOID;
}

static enum did do_judge(struct dealing *d, const struct step *step)
{
	struct dealbox_operator_verdict says = { .kind = DEALBOX_VERDICT_DEALT_UNKNOWN };
	const struct dealbox_trace *trace = dealing_trace(d, step->insertion);
	enum dealbox_ledger_outcome outcome = DEALBOX_LEDGER_UNKNOWN;
	struct dealbox_verdict *verdict = NULL;
	unsigned int differences = 1;

	if (trace && !job_verify(jobs_find(d->jobs, step->copy.job), &d->plan,
				 d->engine.capabilities, trace, &verdict)) {
		differences = dealbox_verdict_count(verdict);
		dealbox_operator_verdict_from(verdict, &says);
		if (!d->engine.capture)
			outcome = dealbox_verdict_exact(verdict) ? DEALBOX_LEDGER_EXACT :
				  DEALBOX_LEDGER_DIFFERS;
		else
			outcome = !differences ? judge_pocket(trace, step->copy.copy - 1, &says) :
						 DEALBOX_LEDGER_VOID;
	}
	dealbox_verdict_free(verdict);
	if (record(d, step, outcome, 0, differences, &says))
		return DID_LEDGER;
	return outcome == DEALBOX_LEDGER_EXACT || outcome == DEALBOX_LEDGER_CAPTURED ? DID_EXACT :
	       DID_DIFFERS;
}

static enum did do_void(struct dealing *d, const struct step *step)
{
	const struct dealbox_operator_verdict says = {
		.kind = DEALBOX_VERDICT_VOID, .reason = step->reason,
		.card = (uint16_t)d->stopped_at, .place = d->place, .coded = d->coded,
		.code = d->code,
	};

	return record(d, step, step->outcome, step->reason, 0, &says) ? DID_LEDGER : DID_OK;
}

/* Revoke an exact record: the machine stopped after the end of that deal. */
static enum did do_undo(struct dealing *d, const struct step *step)
{
	const struct dealbox_ledger_act redeal = {
		.act = DEALBOX_ACT_REDEAL, .uid = DEALBOX_UID_NONE, .job = step->copy.job,
		.board = step->copy.board, .copy = step->copy.copy, .machine = d->engine.id,
	};
	const struct dealbox_operator_verdict says = { .kind = DEALBOX_VERDICT_REVOKED,
						       .reason = step->reason };
	struct job *job = jobs_find(d->jobs, step->copy.job);

	if (dealbox_ledger_add_act(d->ledger, &redeal)) {
		say(d, DEALING_LEDGER, &step->copy, "%s",
			    dealbox_ledger_error(d->ledger)->what);
		return DID_LEDGER;
	}
	if (job)
		job->voided++;
	notify_judged(d, step, false, &says);
	return DID_OK;
}

static enum did do_pause(struct dealing *d, const struct step *step)
{
	(void)step;
	return answer(d, dealbox_machine_pause(d->machine));
}

static enum did do_resume(struct dealing *d, const struct step *step)
{
	(void)step;
	d->heard = monotonic_us();
	return answer(d, dealbox_machine_resume(d->machine));
}

static enum did do_reread(struct dealing *d, const struct step *step)
{
	(void)step;
	d->heard = monotonic_us();
	return answer(d, dealbox_machine_reread(d->machine));
}

static enum did do_abort(struct dealing *d, const struct step *step)
{
	(void)step;
	return answer(d, dealbox_machine_abort(d->machine));
}

static enum did do_clear(struct dealing *d, const struct step *step)
{
	(void)step;
	return answer(d, dealbox_machine_clear_fault(d->machine));
}

static enum did do_release(struct dealing *d, const struct step *step)
{
	(void)step;
	return answer(d, dealbox_machine_release_board(d->machine));
}

/* A machine that does not sign deals as well: the board then rests on this computer's word. */
static enum did do_attest(struct dealing *d, const struct step *step)
{
	/*
	 * nobody may guess it, and it stays secret: whoever has it can try all deals (R-5.3-17,
	 * R-5.3-18)
	 */
	randombytes_buf(d->nonce, sizeof(d->nonce));
	return answer(d, dealbox_machine_attest(d->machine, step->insertion, d->nonce));
}

static enum did do_signed(struct dealing *d, const struct step *step)
{
	struct dealbox_ledger_attestation signed_now;
	struct dealbox_attestation attestation;
	struct dealbox_identity identity;
	int err = dealbox_machine_get_attestation(d->machine, &attestation);

	if (!err)
		err = dealbox_machine_get_identity(d->machine, &identity);
	if (!err) {
		memcpy(signed_now.public_key, identity.public_key, sizeof(signed_now.public_key));
		memcpy(signed_now.statement, attestation.statement, sizeof(signed_now.statement));
		memcpy(signed_now.signature, attestation.signature, sizeof(signed_now.signature));
		memcpy(signed_now.nonce, d->nonce, sizeof(signed_now.nonce));
		if (dealbox_ledger_add_attestation(d->ledger, d->insertion, &signed_now))
			say(d, DEALING_LEDGER, &step->copy, "%s",
			    dealbox_ledger_error(d->ledger)->what);
	}
	sodium_memzero(&signed_now, sizeof(signed_now));
	sodium_memzero(d->nonce, sizeof(d->nonce));
	return answer(d, err);
}

static enum did (*const doers[STEPS])(struct dealing *d, const struct step *step) = {
	[STEP_STATUS] = do_status, [STEP_PLAN] = do_plan, [STEP_BEGIN] = do_begin,
	[STEP_START] = do_start, [STEP_PAUSE] = do_pause, [STEP_RESUME] = do_resume,
	[STEP_REREAD] = do_reread, [STEP_ABORT] = do_abort, [STEP_CLEAR] = do_clear,
	[STEP_RELEASE] = do_release, [STEP_JUDGE] = do_judge, [STEP_VOID] = do_void,
	[STEP_UNDO] = do_undo, [STEP_ATTEST] = do_attest, [STEP_SIGNED] = do_signed,
};

enum did dealing_do(struct dealing *d, const struct step *step)
{
	return doers[step->kind](d, step);
}
