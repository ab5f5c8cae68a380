// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dealbox/law.h>

#include "deal.h"
#include "front.h"
#include "old-journal.h"
#include "own-ledger.h"
#include "ui/certifier.h"
#include "ui/event-text.h"
#include "ui/ruling-text.h"
#include "ui/set-to-deal.h"
#include "ui/tournament.h"
#include "ui/tracefile.h"

/* A job of our own ledger that is dealt or certified */
struct own_deal {
	const struct deal_options *options;
	struct own_ledger own;
	struct front front;
	struct dealbox_set *set;	/* deals of the files; NULL: no files were given */
	unsigned int how;		/* DEALBOX_JOB_* */
	struct dealbox_ledger_job job;
	FILE *record;
	struct certifier certifier;
	struct dealbox_square_session session;	/* session of the certificates */
	unsigned int certified, had;	/* insertions certified in this run, and before it */
};

/* ---- messages --------------------------------------------------------- */

/* Report a verdict, with its differences unless verdict is NULL. */
static void board_say(const struct front *f, uint32_t board, uint32_t copy, uint32_t insertion,
		      bool exact, const char *reason, const struct dealbox_verdict *verdict)
{
	bool reveal = ((const struct own_deal *)f->context)->options->reveal;
	struct json_object *object;
	char name[OPERATOR_COPY];

	if (f->json) {
		object = json_line("board");
		json_add_number(object, "board", board);
		json_add_number(object, "copy", copy);
		json_add_number(object, "insertion", insertion);
		json_add_text(object, "verdict", exact ? "exact" : "void");
		json_add_text(object, "text", reason);
		if (exact || verdict)
			json_object_object_add(object, "differences",
					       differences_to_json(verdict, reveal, f->language));
		json_say(object);
		return;
	}
	say_in(exact ? TONE_GOOD : TONE_BAD, "%s%s", front_name(f, board, copy, name), reason);
	differences_say(verdict, reveal, f->language);
}

/* Report an insertion that the last run had begun and not ended. */
static int interrupted_say(const struct dealbox_ledger_insertion *insertion, void *context)
{
	struct front *f = context;
	char text[160];

	snprintf(text, sizeof(text), dealbox_law_translate(f->language,
		 N_("void: the last run ended in the middle of it (insertion %u)")),
		 insertion->number);
	board_say(f, insertion->board, insertion->copy, insertion->number, false, text, NULL);
	f->voids++;
	return 0;
}

/* Report the state of the job. dealt is the number of boards that became exact in this run. */
static void summary_say(const struct front *f, const struct own_stand *stand, unsigned int dealt)
{
	unsigned int all = stand->job.boards * stand->job.copies;
	double seconds = front_seconds(f);
	struct json_object *object;

	if (f->json) {
		object = json_line("summary");
		json_add_number(object, "job", (int64_t)stand->job.job);
		json_add_number(object, "boards", all);
		json_add_number(object, "exact", stand->job.recorded);
		json_add_number(object, "dealt", dealt);
		json_add_number(object, "voids", f->voids);
		json_add_real(object, "duration_s", seconds);
		json_add_bool(object, "done", !stand->board);
		json_say(object);
		return;
	}
	operator_summary(&(struct operator_summary){
		.language = f->language, .exact = stand->job.recorded, .all = all,
		.skipped = stand->skipped, .voids = f->voids, .dealt = dealt, .seconds = seconds,
	});
	if (((const struct own_deal *)f->context)->options->rehearse)
		say("%s", dealbox_law_translate(f->language,
						N_("it was a rehearsal: no card was dealt")));
}

static void stop_say(const struct front *f, const struct own_stand *stand,
		     const struct dealbox_ledger_insertion *open)
{
	const char *colon = f->stands ? ": " : "", *stands = f->stands ? f->stands : "";
	const char *before = N_("stopped before board %u, copy %u%s%s");

	if (((const struct own_deal *)f->context)->options->rehearse) {
		/* nothing is left to go on with */
		if (stand->board)
			complain(NULL, dealbox_law_translate(f->language, before), stand->board,
				 stand->copy, "", "");
		return;
	}
	if (open)
		complain(dealbox_law_translate(f->language,
					       f->capabilities & DEALBOX_CAP_BOARD_LOCK ?
			 N_("`dealbox deal --resume` lets go of that board, to be emptied, "
			    "and goes on") :
			 N_("empty that board; `dealbox deal --resume` goes on")),
			 dealbox_law_translate(f->language,
			 N_("stopped in the middle of board %u, copy %u, after card %u of %u%s%s")),
			 open->board, open->copy, f->landed, f->cards, colon, stands);
	else if (stand->board)
		complain(dealbox_law_translate(f->language, N_("`dealbox deal --resume` goes on")),
			 dealbox_law_translate(f->language, before), stand->board, stand->copy,
			 colon, stands);
}

/* ---- certificates --------------------------------------------------------- */

/*
 * Return true if a person dealt: nobody but him can say where the cards lie. Ask the insertion: a
 * job may go on at another machine than it began at.
 */
static bool is_hand(const struct dealbox_ledger_insertion *insertion)
{
	return !strcmp(insertion->machine, "hand");
}

/* Find the state of a copy. */
static int find_copy(const struct dealbox_ledger_copy *copy, void *context)
{
	struct dealbox_ledger_copy *wanted = context;

	if (copy->board == wanted->board && copy->copy == wanted->copy)
		wanted->state = copy->state;
	return 0;
}

/*
 * By hand, a certificate names no insertion, so it is about the copy: it stands as long as one of
 * its insertions counts. Returns true if this insertion needs no certificate.
 */
static bool hand_certified(struct own_deal *d, const struct dealbox_certificate *certificate)
{
	struct dealbox_ledger_copy copy = { .board = certificate->board,
					    .copy = certificate->copy };
	bool stands = certifier_has_exact(&d->certifier, certificate);

	if (certificate->exact || !stands)
		return certificate->exact == stands;
	return dealbox_ledger_copies(d->own.reader, d->job.job, find_copy, &copy) ||
	       copy.state == DEALBOX_LEDGER_COPY_RECORDED;
}

/* Put what the machine has signed into the certificate. Returns false on an error of the ledger. */
static bool attestation_take(struct dealbox_ledger *ledger,
			     const struct dealbox_ledger_insertion *insertion,
			     struct dealbox_certificate *certificate)
{
	struct dealbox_ledger_attestation found;
	struct dealbox_statement statement;
	int err = dealbox_ledger_get_attestation(ledger, insertion->id, &found);

	if (!err) {
		certificate->attested = true;
		memcpy(certificate->key, found.public_key, sizeof(certificate->key));
		memcpy(certificate->attestation.statement, found.statement,
		       sizeof(found.statement));
		memcpy(certificate->attestation.signature, found.signature,
		       sizeof(found.signature));
		memcpy(certificate->nonce, found.nonce, sizeof(certificate->nonce));
		if (!dealbox_attestation_read(&certificate->attestation, &statement) &&
		    statement.emulated)
			certificate->by = DEALBOX_BY_EMULATOR;
	}
	explicit_bzero(&found, sizeof(found));
	return !err || err == -ENOENT;
}

static int certify_one(const struct dealbox_ledger_insertion *insertion, void *context)
{
	struct own_deal *d = context;
	struct dealbox_certificate certificate = {
		.board = insertion->board, .copy = insertion->copy, .insertion = insertion->number,
	};
	struct dealbox_verdict *verdict = NULL;
	struct dealbox_trace *trace;
	struct dealbox_deal deal;
	bool complete, good;
	int counts, emulated;

	/* of what was cut short, too: verifiers look for gaps between the insertions */
	if (!insertion->outcome || insertion->outcome == DEALBOX_LEDGER_CAPTURED)
		return 0;
	complete = insertion->outcome == DEALBOX_LEDGER_EXACT ||
		   insertion->outcome == DEALBOX_LEDGER_DIFFERS;
	counts = dealbox_ledger_counts(d->own.reader, insertion);
	if (counts < 0)
		return own_refused(d->own.reader), counts;
	certificate.exact = counts;
	emulated = dealbox_ledger_emulated(d->own.reader, insertion->id);
	if (emulated < 0)
		return own_refused(d->own.reader), emulated;
	certificate.by = emulated ? DEALBOX_BY_EMULATOR : DEALBOX_BY_MACHINE;
	certificate.number = insertion->plan;
	snprintf(certificate.session, sizeof(certificate.session), "%s", d->session.file);
	snprintf(certificate.machine, sizeof(certificate.machine), "%s", insertion->machine);
	memcpy(certificate.pockets, own_pockets(&d->job), DEALBOX_HANDS);
	if (is_hand(insertion)) {
		certificate.by = DEALBOX_BY_HAND;
		certificate.insertion = certificate.number = 0;
		strcpy(certificate.machine, "-");
	}
	if (is_hand(insertion) ?
	    hand_certified(d, &certificate) : certifier_has(&d->certifier, &certificate)) {
		d->had++;
		return 0;
	}
	if (!attestation_take(d->own.reader, insertion, &certificate))
		return own_refused(d->own.reader), -EIO;
	trace = own_trace(d->own.reader, insertion);
	if (!trace && !complete)
		trace = dealbox_trace_new(insertion->number);
	verdict = own_judge(d->own.reader, &d->job, insertion, trace);
	good = trace && (verdict || !complete) &&
	       !dealbox_ledger_get_deal(d->own.reader, d->job.set, insertion->board, &deal);
	if (good) {
		certificate.exact &= verdict && dealbox_verdict_exact(verdict);
		if (!is_hand(insertion))
			certificate.basis = verdict ? dealbox_verdict_basis(verdict) :
						      DEALBOX_BASIS_NONE;
		certificate.identified = verdict && dealbox_verdict_identified(verdict);
		if (is_hand(insertion)) {
			dealbox_trace_free(trace);
			trace = dealbox_trace_new(0);
		}
		good = trace && certifier_add(&d->certifier, &certificate, &deal, trace);
		dealbox_deal_wipe(&deal);
	}
	dealbox_verdict_free(verdict);
	dealbox_trace_free(trace);
	d->certified += good;
	if (good)
		return 0;
	complain("mend that, and go on with --resume and --certify",
		 "%s: board %u, copy %u could not be certified", d->certifier.folder,
		 insertion->board, insertion->copy);
	return -EIO;
}

/*
 * Certify each insertion that has ended and has no certificate, oldest first. A certificate
 * of one that does not count any more is taken back by another.
 */
static bool certify(struct own_deal *d)
{
	return !d->options->certify ||
	       !dealbox_ledger_insertions(d->own.reader, d->job.job, false, certify_one, d);
}

/* Certificates need exactly one file, of a session of the tournament. */
static bool certify_begin(struct own_deal *d, const struct args *args)
{
	if (args->argc != 1) {
		complain("deal one session at a time", "--certify needs exactly one deal file");
		return false;
	}
	return certifier_open(&d->certifier, d->options->certify) &&
	       session_find(dealbox_manifest_square(d->certifier.manifest), args->argv[0], "1",
			    &d->session);
}

/* ---- a verdict is recorded ------------------------------------------------ */

static bool judged(struct front *f, const struct dealbox_dealing_news *news)
{
	struct own_deal *d = f->context;
	struct dealbox_ledger_insertion insertion;
	struct dealbox_verdict *verdict = NULL;
	struct dealbox_trace *trace = NULL;
	bool good = true;

	if (!own_insertion(d->own.reader, f->job, news->insertion, news->facts.board,
			   news->facts.copy, &insertion)) {
		trace = own_trace(d->own.reader, &insertion);
		if (insertion.outcome == DEALBOX_LEDGER_DIFFERS)
			verdict = own_judge(d->own.reader, &d->job, &insertion, trace);
		/* An exact board that was revoked was written before. */
		if (d->record && (news->exact || insertion.outcome != DEALBOX_LEDGER_EXACT))
			good = own_record(d->record, &d->job, &insertion, trace);
	}
	board_say(f, news->facts.board, news->facts.copy, news->insertion, news->exact, news->text,
		  verdict);
	dealbox_verdict_free(verdict);
	dealbox_trace_free(trace);
	return good && certify(d);
}

/* ---- the job -------------------------------------------------------------- */

/* Parse the words of --how. */
static bool read_how(const struct args *args, const char *how, unsigned int *options)
{
	static const struct {
		const char *word;
		unsigned int option;
	} rows[] = {
		{ "sets-in-a-row", DEALBOX_JOB_SETS }, { "descending", DEALBOX_JOB_DESCENDING },
		{ "by-reader", DEALBOX_JOB_BY_READER }, { "by-position", DEALBOX_JOB_BY_POSITION },
		{ "stop-card", DEALBOX_JOB_STOP_CARD },
		{ "reversed-pockets", DEALBOX_JOB_REVERSED },
		{ "replay", DEALBOX_JOB_REPLAY }, { "wait-for-start", 0 }, { "", 0 },
	};
	const char *rest = how ? how : "", *comma;
	size_t n, length;

	*options = DEALBOX_JOB_AUTO_START;
	for (;; rest = comma + 1) {
		comma = strchrnul(rest, ',');
		length = (size_t)(comma - rest);
		for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++)
			if (strlen(rows[n].word) == length && !memcmp(rows[n].word, rest, length))
				break;
		if (n == sizeof(rows) / sizeof(rows[0])) {
			args_wrong(args, "--how knows no '%.*s'", (int)length, rest);
			return false;
		}
		*options |= rows[n].option;
		if (length && !rows[n].option)
			*options &= ~DEALBOX_JOB_AUTO_START;
		if (!*comma)
			return true;
	}
}

static int is_set(uint64_t set, void *context)
{
	const struct own_deal *d = context;

	return set == d->job.set;
}

/* Check that the files, if any, have the deals of the job. */
static enum status same_set(struct own_deal *d)
{
	struct dealbox_ledger_board *boards;
	size_t count;
	int same;

	if (!d->set)
		return STATUS_DONE;
	boards = own_boards(d->set, &count);
	if (!boards)
		return STATUS_INPUT;
	same = dealbox_ledger_find_sets(d->own.reader, boards, count, is_set, d);
	own_boards_free(boards, count);
	if (same < 0)
		return own_refused(d->own.reader);
	if (same)
		return STATUS_DONE;
	complain("give the files of that job, unchanged; or deal without --resume",
		 "the job to resume has other deals than these files");
	return STATUS_INPUT;
}

static enum status resume_job(struct own_deal *d)
{
	if (own_last(d->own.reader, d->front.id, false, &d->job))
		return own_refused(d->own.reader);
	if (d->job.job)
		return same_set(d);
	complain("deal without --resume", "there is no job to resume in %s", d->own.path);
	return STATUS_INPUT;
}

/* Cancel the last job if it is not done. Asks first if it was begun. */
static enum status give_up(struct own_deal *d)
{
	struct dealbox_ledger_job last;
	struct own_stand stand;

	if (own_last(d->own.reader, d->front.id, false, &last))
		return own_refused(d->own.reader);
	if (!last.job)
		return STATUS_DONE;
	if (own_stand(d->own.reader, last.job, &stand))
		return own_refused(d->own.reader);
	if (stand.begun && !confirm(d->options->yes,
				    "The last job stands at board %u, copy %u; `dealbox deal "
				    "--resume` goes on with it. Give it up?",
				    stand.board, stand.copy))
		return STATUS_NO;
	if (stand.begun)
		complain(NULL, "the job that stood at board %u, copy %u is given up", stand.board,
			 stand.copy);
	return own_cancel(&d->own, last.job);
}

struct looking_back {
	struct dealbox_ledger *ledger;
	const char *session;
	uint64_t set;
	struct dealt dealt;
};

static int look_at_insertion(const struct dealbox_ledger_insertion *insertion, void *context)
{
	struct looking_back *back = context;
	int counts = dealbox_ledger_counts(back->ledger, insertion);

	if (counts > 0)
		dealt_add(&back->dealt, insertion->board, insertion->ended_us);
	return counts < 0 ? counts : 0;
}

static int look_at_job(const struct dealbox_ledger_job *job, void *context)
{
	struct looking_back *back = context;

	if (job->set != back->set || job->state < DEALBOX_LEDGER_JOB_CANCELLED ||
	    strcmp(job->session, back->session))
		return 0;
	return dealbox_ledger_insertions(back->ledger, job->job, false, look_at_insertion, back);
}

static int look_at_set(uint64_t set, void *context)
{
	struct looking_back *back = context;

	back->set = set;
	return dealbox_ledger_jobs(back->ledger, 0, look_at_job, back);
}

/* Ask before the boards are dealt once more today. */
static enum status look_back(struct own_deal *d)
{
	char today[SESSION_TODAY];
	struct looking_back back = { .ledger = d->own.reader, .session = session_today(today) };
	struct dealbox_ledger_board *boards;
	size_t count;
	int err;

	if (!deal_asks(d->options))
		return STATUS_DONE;
	boards = own_boards(d->set, &count);
	if (!boards)
		return STATUS_INPUT;
	err = dealbox_ledger_find_sets(d->own.reader, boards, count, look_at_set, &back);
	own_boards_free(boards, count);
	if (err)
		return own_refused(d->own.reader);
	return deal_again(d->options, d->set, today, &back.dealt) ? STATUS_DONE : STATUS_NO;
}

/* Record the set of the files, and a job of the wanted boards. */
static enum status add_job(struct own_deal *d)
{
	const struct deal_options *options = d->options;
	struct dealbox_ledger_new_job new_job = { .copies = (unsigned int)options->copies,
						  .options = d->how };
	struct dealbox_ledger_board *boards;
	unsigned int *numbers;
	char today[SESSION_TODAY];
	size_t count, n;
	int err;

	boards = own_boards(d->set, &count);
	if (!boards)
		return STATUS_INPUT;
	numbers = calloc(count + 1, sizeof(*numbers));
	for (n = 0; numbers && n < count; n++)
		if (!options->boards_text || boards_has(&options->boards, boards[n].number))
			numbers[new_job.count++] = boards[n].number;
	new_job.boards = numbers;
	err = !numbers ? -ENOMEM :
	      dealbox_ledger_add_set(d->own.ledger,
				     options->session ? options->session : session_today(today),
				     boards, count, &new_job.set, NULL);
	own_boards_free(boards, count);
	if (!err) {
		err = dealbox_ledger_add_job(d->own.ledger, &new_job, &d->job.job, NULL);
		if (err == -EEXIST) {
			complain("the same session: --session NAME; a replay: --how replay", "%s",
				 dealbox_ledger_error(d->own.ledger)->what);
			free(numbers);
			return STATUS_INPUT;
		}
	}
	free(numbers);
	if (err)
		return own_refused(d->own.ledger);
	return STATUS_DONE;
}

static enum status begin_job(struct own_deal *d)
{
	enum status status = d->options->resume ? resume_job(d) : look_back(d);
	struct own_stand stand;

	if (status == STATUS_DONE && !d->options->resume)
		status = give_up(d);
	if (status == STATUS_DONE && !d->options->resume)
		status = add_job(d);
	if (status != STATUS_DONE)
		return status;
	if (own_stand(d->own.reader, d->job.job, &stand))
		return own_refused(d->own.reader);
	d->job = stand.job;
	return STATUS_DONE;
}

/* Certify the boards of a job that is over, from the record. */
static enum status certify_over(struct own_deal *d)
{
	struct json_object *object;
	enum status status;

	if (own_last(d->own.reader, d->front.id, true, &d->job))
		return own_refused(d->own.reader);
	if (!d->job.job) {
		complain("deal without --resume", "there is no job to resume in %s", d->own.path);
		return STATUS_INPUT;
	}
	status = same_set(d);
	if (status != STATUS_DONE)
		return status;
	if (!certify(d))
		return STATUS_INPUT;
	if (!d->front.json) {
		say("job %llu is over: %u boards are certified now, %u were already",
		    (unsigned long long)d->job.job, d->certified, d->had);
		return STATUS_DONE;
	}
	object = json_line("certified");
	json_add_number(object, "job", (int64_t)d->job.job);
	json_add_number(object, "certified_now", d->certified);
	json_add_number(object, "certified_before", d->had);
	json_say(object);
	return STATUS_DONE;
}

/* Return true if the job is over, and only certificates are wanted. */
static bool is_over(struct own_deal *d)
{
	struct dealbox_ledger_job open;

	return d->options->resume && d->options->certify &&
	       !own_last(d->own.reader, d->front.id, false, &open) && !open.job;
}

static enum status run_job(struct own_deal *d)
{
	static const enum status statuses[] = {
		[FRONT_DONE] = STATUS_DONE, [FRONT_STOPPED] = STATUS_STOPPED,
		[FRONT_FAILED] = STATUS_INPUT,
		[FRONT_MACHINE] = STATUS_MACHINE,
	};
	struct dealbox_ledger_insertion open;
	unsigned int before = d->job.recorded;
	struct own_stand stand;
	enum front_end end;
	int left;

	d->front.ledger = d->own.ledger;
	d->front.reader = d->own.reader;
	d->front.job = d->job.job;
	d->front.several = d->job.copies != 1;
	d->front.pockets = own_pockets(&d->job);
	d->front.judged = judged;
	d->front.context = d;
	if (dealbox_ledger_insertions(d->own.reader, d->job.job, true, interrupted_say, &d->front))
		return own_refused(d->own.reader);
	/* boards that an earlier run has not certified */
	if (!certify(d))
		return STATUS_INPUT;
	end = front_run(&d->front);
	left = own_open_insertions(d->own.reader, d->job.job, &open);
	if (left < 0 || own_stand(d->own.reader, d->job.job, &stand))
		return own_refused(d->own.reader);
	summary_say(&d->front, &stand,
		    stand.job.recorded > before ? stand.job.recorded - before : 0);
	stop_say(&d->front, &stand, left ? &open : NULL);
	return end == FRONT_STOPPED && !stand.board ? STATUS_DONE : statuses[end];
}

/* Deal; the input was read and checked. */
static enum status deal_with(struct own_deal *d)
{
	bool counts = d->how & DEALBOX_JOB_BY_POSITION;
	enum status status;

	status = front_machine(&d->front,
			       d->options->resume ? UINT32_MAX :
			       counts ? DEALBOX_CAP_BY_POSITION : DEALBOX_CAP_BY_CARD,
			       counts ? "cannot deal by position" :
			       "cannot read cards: it would have to trust the order of the pack",
			       counts ? "use another machine" : "use a machine with a card reader");
	if (status != STATUS_DONE)
		return status;
	d->own.rehearsal = d->options->rehearse;
	if (!own_open(&d->own, d->options->ledger, d->options->json))
		return STATUS_INPUT;
	/* what an earlier version has left is of a real machine */
	if (!d->options->rehearse && !old_journal_take(&d->own, d->front.id, d->set))
		return STATUS_INPUT;
	if (is_over(d))
		return certify_over(d);
	/* first, because begin_job() may cancel a job */
	if (d->options->record) {
		d->record = tracefile_create(d->options->record, d->options->resume);
		if (!d->record)
			return STATUS_INPUT;
	}
	status = begin_job(d);
	if (status == STATUS_DONE)
		return run_job(d);
	/* remove the empty file */
	if (d->options->record && !d->options->resume)
		unlink(d->options->record);
	return status;
}

enum status deal_alone(struct args *args, const struct deal_options *options)
{
	struct own_deal d = {
		.options = options,
		.front = { .uri = options->wanted.uri,
			   .json = options->json,
			   .language = options->language,
			   .speak = options->speak },
	};
	enum status status = STATUS_DONE;

	if (!read_how(args, options->how, &d.how))
		return STATUS_INPUT;
	/* Check the input first: it needs no machine. */
	if (args->argc)
		status = set_to_deal_read(args->argv, args->argc, options->reveal, NOTHING_DEALT,
					  &d.set);
	if (status == STATUS_DONE && d.set &&
	    (!boards_there(options, d.set) || !set_allowed(options, d.set, args->argv, args->argc)))
		status = STATUS_INPUT;
	if (status == STATUS_DONE && options->certify && !certify_begin(&d, args))
		status = STATUS_INPUT;
	if (status == STATUS_DONE)
		status = deal_with(&d);
	if (d.record && fclose(d.record) && status == STATUS_DONE) {
		complain(NULL, "cannot write %s: %m", options->record);
		status = STATUS_INPUT;
	}
	if (options->certify)
		certifier_close(&d.certifier);
	own_close(&d.own);
	dealbox_set_free(d.set);
	return status;
}
