// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox deal with the service: submits the set, adds a job, and reports its progress. The service
 * deals (lib/dealing/engine.c).
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "deal-certify.h"
#include "dealing/deal.h"
#include "job-watch.h"
#include "set-add.h"
#include "ui/operator-say.h"
#include "ui/ruling-text.h"
#include "ui/set-to-deal.h"

#define WITHOUT		"run `sudo systemctl stop dealboxd` to release the machines; then " \
			"--machine ADDRESS " \
			"deals without it"

struct deal_follow {
	const struct deal_options *options;
	struct job_certifier *certifier;	/* NULL without --certify */
};

static const struct deal_options *options_of(const struct job_watch *f)
{
	return ((const struct deal_follow *)f->context)->options;
}

/* ---- the set -------------------------------------------------------------- */

struct alike {
	uint64_t *sets;
	size_t count;
};

/* Find the sets of the service with these deals. The caller frees them. */
static enum status sets_find(struct job_watch *f, const struct dealbox_set *set,
			     struct alike *alike)
{
	enum status status = STATUS_DONE;
	const void *sets = NULL;
	struct request r;
	int fd = set_seal(set), err;
	size_t size = 0;

	if (fd < 0)
		return STATUS_INPUT;
	err = request_manager(&r, f->bus, "FindSets");
	if (err >= 0)
		err = sd_bus_message_append(r.call, "hs", fd, "");
	if (err >= 0)
		err = request_send(&r);
	if (err >= 0)
		err = sd_bus_message_read_array(r.reply, 't', &sets, &size);
	if (err >= 0 && size) {
		alike->sets = malloc(size);
		if (alike->sets)
			memcpy(alike->sets, sets, size);
		else
			err = -ENOMEM;
		alike->count = size / sizeof(*alike->sets);
	}
	if (err < 0)
		status = service_error(&r, err);
	close(fd);
	request_end(&r);
	return status;
}

static bool is_over(struct json_object *job)
{
	return !strcmp(service_text(job, "state"), "done") ||
	       !strcmp(service_text(job, "state"), "cancelled");
}

/* Return true if the job deals one of these sets. */
static bool is_alike(const struct alike *alike, struct json_object *job)
{
	size_t n;

	for (n = 0; n < alike->count; n++)
		if (alike->sets[n] == (uint64_t)service_number(job, "set"))
			return true;
	return false;
}

/* Append the words of --how as options of AddJob. Boards start automatically by default. */
static int append_how(sd_bus_message *m, const char *how)
{
	char *words = strdup(how ? how : ""), *word, *rest = words;
	int err = words ? 0 : -ENOMEM, automatic = 1;

	while (err >= 0 && (word = strsep(&rest, ","))) {
		if (!strcmp(word, "wait-for-start"))
			automatic = 0;
		else if (*word)
			err = sd_bus_message_append(m, "{sv}", word, "b", 1);
	}
	free(words);
	return err < 0 ? err : sd_bus_message_append(m, "{sv}", "automatic-start", "b", automatic);
}

/* Append the boards to deal from the files. */
static int append_boards(sd_bus_message *m, const struct deal_options *options,
			 const struct dealbox_set *set)
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	size_t n;
	int err = 0;

	for (n = 0; err >= 0 && !dealbox_set_get(set, n, &board); n++)
		if (dealbox_set_find(set, board.number) == (long)n &&
		    (!options->boards_text || boards_has(&options->boards, board.number)))
			err = sd_bus_message_append(m, "u", board.number);
	dealbox_deal_wipe(&board.deal);
	return err;
}

/* Append the boards to deal from a set of the service: those of --boards, or all. */
static int append_boards_of(struct request *job, const struct deal_options *options,
			    uint64_t number)
{
	struct request r;
	uint32_t board;
	int err = 0;

	/* The service checks whether the set has them. */
	for (board = 1; options->boards_text && err >= 0 && board <= DEALBOX_BOARD_DEALT_MAX;
	     board++)
		if (boards_has(&options->boards, board))
			err = sd_bus_message_append(job->call, "u", board);
	if (options->boards_text)
		return err;
	err = request_manager(&r, sd_bus_message_get_bus(job->call), "GetBoards");
	if (err >= 0)
		err = sd_bus_message_append(r.call, "t", number);
	if (err >= 0)
		err = request_send(&r);
	if (err >= 0)
		err = sd_bus_message_enter_container(r.reply, 'a', "u");
	while (err >= 0 && (err = sd_bus_message_read(r.reply, "u", &board)) > 0)
		err = sd_bus_message_append(job->call, "u", board);
	sd_bus_error_move(&job->error, &r.error);
	request_end(&r);
	return err;
}

/* Add a job for a set of the service. set has the deals of the files; NULL without files. */
static enum status job_add(struct job_watch *f, const struct dealbox_set *set, uint64_t number)
{
	const struct deal_options *options = options_of(f);
	enum status status = STATUS_DONE;
	struct request r;
	int err = request_manager(&r, f->bus, "AddJob");

	if (err >= 0)
		err = sd_bus_message_append(r.call, "t", number);
	if (err >= 0)
		err = sd_bus_message_open_container(r.call, 'a', "u");
	if (err >= 0)
		err = set ? append_boards(r.call, options, set) :
			    append_boards_of(&r, options, number);
	if (err >= 0)
		err = sd_bus_message_close_container(r.call);
	if (err >= 0)
		err = sd_bus_message_append(r.call, "u", (uint32_t)options->copies);
	if (err >= 0)
		err = sd_bus_message_open_container(r.call, 'a', "{sv}");
	if (err >= 0)
		err = append_how(r.call, options->how);
	if (err >= 0 && options->priority)
		err = sd_bus_message_append(r.call, "{sv}", "priority", "i",
					    (int32_t)options->priority);
	if (err >= 0)
		err = wanted_append(r.call, &options->wanted);
	if (err >= 0)
		err = sd_bus_message_close_container(r.call);
	if (err >= 0)
		err = job_watch_new(f, &r);
	if (sd_bus_error_has_name(&r.error, "io.dealbox1.Error.Repeat")) {
		complain("for the same session, use --session NAME; for a replay, --how replay",
			 "%s", r.error.message);
		status = STATUS_INPUT;
	} else if (err < 0) {
		status = service_error(&r, err);
	}
	request_end(&r);
	return status;
}

/* Find the boards that a job has dealt. */
static enum status dealt_by(struct job_watch *f, struct json_object *job, struct dealt *dealt)
{
	enum status status = STATUS_DONE;
	const char *machine, *outcome, *head;
	uint32_t user, board, copy, insertion;
	uint64_t added, begun, ended;
	struct request r;
	int err = request_new(&r, f->bus, service_text(job, "path"), "Job", "GetReceipt");

	if (err >= 0)
		err = request_send(&r);
	if (err >= 0)
		err = sd_bus_message_read(r.reply, "xus", &added, &user, &head);
	if (err >= 0)
		err = sd_bus_message_enter_container(r.reply, 'a', "(uusuxxs)");
	while (err >= 0 && (err = sd_bus_message_read(r.reply, "(uusuxxs)", &board, &copy,
						      &machine, &insertion, &begun, &ended,
						      &outcome)) > 0)
		if (!strcmp(outcome, "exact"))
			dealt_add(dealt, board, (int64_t)ended);
	if (err < 0)
		status = service_error(&r, err);
	request_end(&r);
	return status;
}

/* Ask before the boards of a set, which the service has under a number, are dealt once more. */
static enum status look_back(struct job_watch *f, const struct dealbox_set *set, uint64_t number,
			     const char *session)
{
	const struct deal_options *options = options_of(f);
	enum status status = STATUS_DONE;
	struct dealt dealt = { 0 };
	struct json_object *job;

	for (size_t n = 0; status == STATUS_DONE && deal_asks(options) &&
	     n < json_object_array_length(f->jobs); n++) {
		job = json_object_array_get_idx(f->jobs, n);
		if (is_over(job) && (uint64_t)service_number(job, "set") == number)
			status = dealt_by(f, job, &dealt);
	}
	if (status != STATUS_DONE || !deal_asks(options))
		return status;
	return deal_again(options, set, session, &dealt) ? STATUS_DONE : STATUS_NO;
}

/* Find the only paused job that deals, for --resume. */
static enum status job_find(struct job_watch *f, struct json_object **job)
{
	unsigned int found = 0;
	size_t n;

	for (n = 0; n < json_object_array_length(f->jobs); n++) {
		struct json_object *one = json_object_array_get_idx(f->jobs, n);

		if (strcmp(service_text(one, "state"), "paused") || service_captures(one))
			continue;
		*job = one;
		found++;
	}
	if (found == 1) {
		snprintf(f->path, sizeof(f->path), "%s", service_text(*job, "path"));
		return STATUS_DONE;
	}
	if (found)
		complain("`dealbox jobs` lists them, `dealbox resume JOB` resumes one",
			 "%u jobs of the service are paused", found);
	else
		complain("deal without --resume", "no job of the service is paused");
	return STATUS_INPUT;
}

/* ---- the command ---------------------------------------------------------- */

static void summary_say(const struct job_watch *f)
{
	struct json_object *job = job_watch_job(f), *object;
	int64_t recorded = service_number(job, "recorded");
	int64_t all = service_number(job, "boards") * service_number(job, "copies");
	struct timespec now;
	double seconds;

	clock_gettime(CLOCK_MONOTONIC, &now);
	seconds = (double)(now.tv_sec - f->begin.tv_sec) +
		  (double)(now.tv_nsec - f->begin.tv_nsec) / 1e9;
	if (!f->json) {
		operator_summary(&(struct operator_summary){
			.language = f->language, .exact = (uint64_t)recorded,
			.all = (uint64_t)all,
			.skipped = (unsigned int)service_number(job, "skipped"),
			.voids = f->voids, .dealt = f->exact, .seconds = seconds,
		});
		return;
	}
	object = json_line("summary");
	json_add_number(object, "job", service_number(job, "id"));
	json_add_number(object, "boards", all);
	json_add_number(object, "exact", recorded);
	json_add_number(object, "dealt", f->exact);
	json_add_number(object, "voids", f->voids);
	json_add_real(object, "duration_s", seconds);
	json_add_bool(object, "done", !strcmp(service_text(job, "state"), "done"));
	json_say(object);
}

static bool certify(struct job_watch *f)
{
	const struct deal_follow *deal = f->context;

	return !deal->certifier || job_certify(deal->certifier, f->bus, f->path);
}

static const struct job_watch_kind dealing = {
	.again = N_("`dealbox deal --resume` continues it"), .letters = true,
	.judged = certify, .over = summary_say,
};

/* Return an option that works only without the service, or NULL. */
static const char *not_by_service(const struct deal_options *options)
{
	return options->record ? "--record" :
	       options->reveal ? "--reveal" :
	       options->ledger ? "--ledger" : NULL;
}

/* Add a job for the set, or resume the paused one. */
static enum status job_begin(struct job_watch *f, const struct dealbox_set *set)
{
	const struct deal_options *options = options_of(f);
	struct json_object *job = NULL;
	enum status status;
	uint64_t number = 0;
	const char *session = options->session;
	char today[SESSION_TODAY];

	if (options->resume) {
		status = job_find(f, &job);
		if (status != STATUS_DONE || !set)
			return status;
		status = set_add(f->bus, set, service_text(job, "session"), &number);
		if (status != STATUS_DONE || (int64_t)number == service_number(job, "set"))
			return status;
		complain("give the unchanged files of that job; or deal without --resume",
			 "the deals of these files are not those of the job");
		return STATUS_INPUT;
	}
	if (!set)
		return job_add(f, NULL, options->set);
	if (!session)
		session = session_today(today);
	status = set_add(f->bus, set, session, &number);
	if (status == STATUS_DONE)
		status = look_back(f, set, number, session);
	return status == STATUS_DONE ? job_add(f, set, number) : status;
}

static enum status certify_job(struct job_watch *f, struct json_object *job)
{
	struct job_certifier *c = ((const struct deal_follow *)f->context)->certifier;
	struct json_object *object;

	c->added = c->had = 0;
	if (!job_certify(c, f->bus, service_text(job, "path")))
		return STATUS_INPUT;
	if (!f->json) {
		say("job %lld is %s: %u boards are certified now, %u were already",
		    (long long)service_number(job, "id"), service_text(job, "state"), c->added,
		    c->had);
		return STATUS_DONE;
	}
	object = json_line("certified");
	json_add_number(object, "job", service_number(job, "id"));
	json_add_number(object, "certified_now", c->added);
	json_add_number(object, "certified_before", c->had);
	json_say(object);
	return STATUS_DONE;
}

/*
 * If no board of these deals is left to be dealt, certify those that were, from the record. Returns
 * true with *status set in that case; false if a job of them is paused and is to be resumed.
 */
static bool certify_over(struct job_watch *f, const struct dealbox_set *set, enum status *status)
{
	struct alike alike = { 0 };
	struct json_object *job;
	bool paused = false;
	size_t n, found = 0;

	*status = sets_find(f, set, &alike);
	for (n = 0; *status == STATUS_DONE && n < json_object_array_length(f->jobs); n++) {
		job = json_object_array_get_idx(f->jobs, n);
		if (!is_alike(&alike, job))
			continue;
		found += is_over(job);
		paused |= !strcmp(service_text(job, "state"), "paused");
	}
	if (*status == STATUS_DONE && !paused && !found) {
		complain("`dealbox jobs` lists its jobs: give the file of one that is done, "
			 "cancelled or paused",
			 "the service has no such job with these deals");
		*status = STATUS_INPUT;
	}
	for (n = 0; *status == STATUS_DONE && !paused && n < json_object_array_length(f->jobs);
	     n++) {
		job = json_object_array_get_idx(f->jobs, n);
		if (is_over(job) && is_alike(&alike, job))
			*status = certify_job(f, job);
	}
	free(alike.sets);
	return *status != STATUS_DONE || !paused;
}

static enum status follow(struct job_watch *f, const struct dealbox_set *set)
{
	const struct deal_options *options = options_of(f);
	enum status status = job_watch_open(f);

	if (status == STATUS_DONE && options->resume && options->certify &&
	    certify_over(f, set, &status))
		return status;
	if (status == STATUS_DONE && !wanted_there(&options->wanted, f->machines))
		status = STATUS_MACHINE;
	if (status == STATUS_DONE)
		status = job_begin(f, set);
	if (status == STATUS_DONE && options->resume)
		status = service_call(f->bus, f->path, "Job", "Resume", "");
	return status == STATUS_DONE ? job_watch_run(f) : status;
}

enum status deal_by_service(sd_bus *bus, struct args *args, const struct deal_options *options)
{
	struct deal_follow deal = { .options = options };
	struct job_watch f = { .kind = &dealing, .context = &deal, .bus = bus,
			       .json = options->json,
			       .language = options->language };
	struct job_certifier certifier = { 0 };
	struct dealbox_set *set = NULL;
	enum status status = STATUS_DONE;

	if (not_by_service(options)) {
		complain(WITHOUT, "%s works only without the service, which is running",
			 not_by_service(options));
		return STATUS_INPUT;
	}
	if (args->argc)
		status = set_to_deal_read(args->argv, args->argc, false, NOTHING_DEALT, &set);
	if (status == STATUS_DONE && set &&
	    (!boards_there(options, set) || !set_allowed(options, set, args->argv, args->argc)))
		status = STATUS_INPUT;
	if (status == STATUS_DONE && options->certify) {
		deal.certifier = &certifier;
		if (!job_certifier_open(&certifier, options->certify, args->argv, args->argc, set))
			status = STATUS_INPUT;
	}
	if (status == STATUS_DONE)
		status = follow(&f, set);
	if (deal.certifier)
		job_certifier_close(deal.certifier);
	job_watch_close(&f);
	dealbox_set_free(set);
	return status;
}
