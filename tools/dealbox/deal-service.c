// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox deal with the service: it gets the set and makes a job of it, and here is told how
 * that goes. The rules of dealing are the service's (daemon/desk.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#include <dealbox/format.h>

#include "deal.h"
#include "deal-certify.h"
#include "setfile.h"

#define WITHOUT		"--machine ADDRESS deals without it, once `sudo systemctl stop dealboxd` has let " \
			"go of the machines"

struct follow {
	const struct deal_options *options;
	sd_bus *bus;
	sd_event *event;
	char path[64];			/* of the job */
	char state[16];			/* of the job, as it was told last */
	struct json_object *machines;
	struct json_object *jobs;
	bool changed;			/* .. and not looked at yet */
	bool renew;			/* a machine came: ask for all of them */
	bool stopped;			/* by Ctrl-C */
	struct job_certifier *certifier;	/* NULL: nothing is certified */
	bool judged;			/* and what was judged is not certified yet */
	unsigned int exact, voids;	/* in this run */
	struct timespec begin;
};

/* ---- the set -------------------------------------------------------------- */

/* The boards of the set, each number once: files of results have a board for each table. */
static struct dealbox_set *set_once(const struct dealbox_set *set)
{
	struct dealbox_set *once = dealbox_set_new(dealbox_set_pack(set));
	struct dealbox_board board;
	size_t n;
	int ret = once ? 0 : -ENOMEM;

	for (n = 0; !ret && !dealbox_set_get(set, n, &board); n++)
		if (dealbox_set_find(set, board.number) == (long)n)
			ret = dealbox_set_add(once, &board);
	dealbox_deal_wipe(&board.deal);
	if (!ret)
		return once;
	dealbox_set_free(once);
	return NULL;
}

/* The set in memory that nobody can change any more; -1, and said, when that cannot be. */
static int set_seal(const struct dealbox_set *set)
{
	struct dealbox_set *once = set_once(set);
	int fd = memfd_create("set.pbn", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	bool good = once && fd >= 0 &&
		    !dealbox_format_write_fd(dealbox_format_find("pbn"), once, fd, "set.pbn", NULL) &&
		    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);

	dealbox_set_free(once);
	if (good)
		return fd;
	complain("free some memory", "the set cannot be given to the service: %m");
	if (fd >= 0)
		close(fd);
	return -1;
}

/* What a refusal of the service means for the caller. */
static enum status refused(const sd_bus_error *error, int err)
{
	service_refused(error, err);
	return sd_bus_error_get_errno(error) == ETIMEDOUT ||
	       sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
	       sd_bus_error_has_name(error, SD_BUS_ERROR_NO_REPLY) ? STATUS_MACHINE : STATUS_INPUT;
}

static enum status set_add(struct follow *f, const struct dealbox_set *set, const char *session,
			   uint64_t *number)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	enum status status = STATUS_DONE;
	sd_bus_message *reply = NULL;
	uint32_t boards;
	int fd = set_seal(set), err;

	if (fd < 0)
		return STATUS_INPUT;
	err = sd_bus_call_method(f->bus, "io.dealbox1", "/io/dealbox1", "io.dealbox1.Manager", "AddSet",
				 &error, &reply, "hss", fd, session, "");
	if (err >= 0)
		err = sd_bus_message_read(reply, "tu", number, &boards);
	if (err < 0)
		status = refused(&error, err);
	close(fd);
	sd_bus_message_unref(reply);
	sd_bus_error_free(&error);
	return status;
}

/* The words of --how, as options of AddJob. Boards start by themselves, as without the service. */
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

static enum status job_add(struct follow *f, const struct dealbox_set *set, uint64_t number)
{
	const struct deal_options *options = f->options;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *call = NULL, *reply = NULL;
	enum status status = STATUS_DONE;
	struct dealbox_board board;
	const char *path;
	size_t n;
	int err;

	err = sd_bus_message_new_method_call(f->bus, &call, "io.dealbox1", "/io/dealbox1",
					     "io.dealbox1.Manager", "AddJob");
	if (err >= 0)
		err = sd_bus_message_append(call, "t", number);
	if (err >= 0)
		err = sd_bus_message_open_container(call, 'a', "u");
	for (n = 0; err >= 0 && !dealbox_set_get(set, n, &board); n++)
		if (dealbox_set_find(set, board.number) == (long)n &&
		    (!options->boards_text || boards_has(&options->boards, board.number)))
			err = sd_bus_message_append(call, "u", board.number);
	dealbox_deal_wipe(&board.deal);
	if (err >= 0)
		err = sd_bus_message_close_container(call);
	if (err >= 0)
		err = sd_bus_message_append(call, "u", (uint32_t)options->copies);
	if (err >= 0)
		err = sd_bus_message_open_container(call, 'a', "{sv}");
	if (err >= 0)
		err = append_how(call, options->how);
	if (err >= 0 && options->priority)
		err = sd_bus_message_append(call, "{sv}", "priority", "i", (int32_t)options->priority);
	if (err >= 0)
		err = wanted_append(call, &options->wanted);
	if (err >= 0)
		err = sd_bus_message_close_container(call);
	if (err >= 0)
		err = sd_bus_call(f->bus, call, 0, &error, &reply);
	if (err >= 0)
		err = sd_bus_message_read(reply, "o", &path);
	if (err >= 0)
		snprintf(f->path, sizeof(f->path), "%s", path);
	else if (sd_bus_error_has_name(&error, "io.dealbox1.Error.Repeat"))
		complain("the same session: --session NAME; a replay: --how replay", "%s", error.message);
	else
		status = refused(&error, err);
	if (sd_bus_error_has_name(&error, "io.dealbox1.Error.Repeat"))
		status = STATUS_INPUT;
	sd_bus_message_unref(call);
	sd_bus_message_unref(reply);
	sd_bus_error_free(&error);
	return status;
}

/* The only job that is paused, for --resume. */
static enum status job_find(struct follow *f, struct json_object **job)
{
	unsigned int found = 0;
	size_t n;

	for (n = 0; n < json_object_array_length(f->jobs); n++) {
		struct json_object *one = json_object_array_get_idx(f->jobs, n);

		if (strcmp(service_text(one, "state"), "paused"))
			continue;
		*job = one;
		found++;
	}
	if (found == 1) {
		snprintf(f->path, sizeof(f->path), "%s", service_text(*job, "path"));
		return STATUS_DONE;
	}
	if (found)
		complain("`dealbox jobs` lists them, `dealbox resume JOB` goes on with one",
			 "%u jobs of the service are paused", found);
	else
		complain("deal without --resume", "no job of the service is paused");
	return STATUS_INPUT;
}

/* ---- what is told --------------------------------------------------------- */

static struct json_object *the_job(const struct follow *f)
{
	size_t n;

	for (n = 0; n < json_object_array_length(f->jobs); n++)
		if (!strcmp(service_text(json_object_array_get_idx(f->jobs, n), "path"), f->path))
			return json_object_array_get_idx(f->jobs, n);
	return NULL;
}

/* "board 3", or "board 3, copy 2" when there are copies; "" without a board. */
static const char *copy_name(const struct follow *f, int64_t board, int64_t copy, char text[64])
{
	*text = '\0';
	if (board && service_number(the_job(f), "copies") != 1)
		snprintf(text, 64, "board %lld, copy %lld: ", (long long)board, (long long)copy);
	else if (board)
		snprintf(text, 64, "board %lld: ", (long long)board);
	return text;
}

/* Is the machine one that may deal the job? */
static bool machine_serves(const struct follow *f, struct json_object *m)
{
	struct json_object *names;

	return !json_object_object_get_ex(the_job(f), "machines", &names) ||
	       !json_object_array_length(names) ||
	       service_has(the_job(f), "machines", service_text(m, "id"));
}

/* What the operator does at a machine, when that is something new. */
static void machine_tell(const struct follow *f, struct json_object *m)
{
	const char *state = service_text(m, "state"), *text = service_text(m, "instruction");
	bool several = json_object_array_length(f->machines) > 1;
	int64_t board = service_number(m, "board"), copy = service_number(m, "copy");
	int64_t job = service_number(m, "job");
	struct json_object *object;
	char name[64];

	if (job == service_number(the_job(f), "id") && service_number(m, "dealing") &&
	    !f->options->json)
		progress("%s%s%scard %lld", several ? service_text(m, "id") : "", several ? ": " : "",
			 copy_name(f, board, copy, name), (long long)service_number(m, "cards"));
	if (!strcmp(service_text(m, "told"), text))
		return;
	json_object_object_add(m, "told", json_object_new_string(text));
	if (!strcmp(state, "none") || !strcmp(state, "no-work") || !machine_serves(f, m) ||
	    (job && job != service_number(the_job(f), "id")))
		return;
	if (!f->options->json) {
		say("%s%s%s%s", several ? service_text(m, "id") : "", several ? ": " : "",
		    copy_name(f, board, copy, name), text);
		return;
	}
	object = json_object_new_object();
	json_add_text(object, "event", "operator");
	json_add_number(object, "board", board);
	json_add_number(object, "copy", copy);
	json_add_text(object, "machine", service_text(m, "id"));
	json_add_text(object, "state", state);
	json_add_text(object, "text", text);
	json_say(object);
}

static int on_judged(sd_bus_message *m, void *context, sd_bus_error *unused)
{
	struct follow *f = context;
	uint32_t board, copy, insertion;
	const char *machine, *text;
	struct json_object *object;
	char name[64];
	int exact;

	(void)unused;
	if (strcmp(sd_bus_message_get_path(m), f->path) ||
	    sd_bus_message_read(m, "uusubs", &board, &copy, &machine, &insertion, &exact, &text) < 0)
		return 0;
	f->exact += !!exact;
	f->voids += !exact;
	f->judged = f->changed = true;
	if (!f->options->json) {
		say("%s%s", copy_name(f, board, copy, name), text);
		return 0;
	}
	object = json_object_new_object();
	json_add_text(object, "event", "board");
	json_add_number(object, "board", board);
	json_add_number(object, "copy", copy);
	json_add_text(object, "machine", machine);
	json_add_number(object, "insertion", insertion);
	json_add_text(object, "verdict", exact ? "exact" : "void");
	json_add_text(object, "text", text);
	/* without --reveal there is none to show */
	json_object_object_add(object, "differences", json_object_new_array());
	json_say(object);
	return 0;
}

static void summary_say(const struct follow *f)
{
	struct json_object *job = the_job(f), *object;
	int64_t recorded = service_number(job, "recorded");
	int64_t all = service_number(job, "boards") * service_number(job, "copies");
	struct timespec now;
	char of[32] = "";
	double seconds;

	clock_gettime(CLOCK_MONOTONIC, &now);
	seconds = (double)(now.tv_sec - f->begin.tv_sec) +
		  (double)(now.tv_nsec - f->begin.tv_nsec) / 1e9;
	if (!f->options->json) {
		/* a job without limit has no number of all */
		if (all)
			snprintf(of, sizeof(of), " of %lld", (long long)all);
		say("%lld%s boards are exact duplicates; %u void and dealt again; %.0f s, %.0f boards per hour",
		    (long long)recorded, of, f->voids, seconds,
		    seconds > 0 ? f->exact * 3600 / seconds : 0);
		return;
	}
	object = json_object_new_object();
	json_add_text(object, "event", "summary");
	json_add_number(object, "job", service_number(job, "id"));
	json_add_number(object, "boards", all);
	json_add_number(object, "exact", recorded);
	json_add_number(object, "dealt", f->exact);
	json_add_number(object, "voids", f->voids);
	json_object_object_add(object, "seconds", json_object_new_double(seconds));
	json_object_object_add(object, "done", json_object_new_boolean(all && recorded == all));
	json_say(object);
}

/* ---- following ------------------------------------------------------------ */

static bool is_machine(const char *path)
{
	static const char machines[] = "/io/dealbox1/machine/";

	return !strncmp(path, machines, strlen(machines));
}

static int on_properties(sd_bus_message *m, void *context, sd_bus_error *unused)
{
	struct follow *f = context;
	struct json_object *machine;

	(void)unused;
	f->changed = true;
	if (!is_machine(sd_bus_message_get_path(m))) {
		service_changed(f->jobs, m);
		return 0;
	}
	machine = service_changed(f->machines, m);
	if (machine)
		machine_tell(f, machine);
	else
		f->renew = true;
	return 0;
}

static int on_added(sd_bus_message *m, void *context, sd_bus_error *unused)
{
	struct follow *f = context;
	const char *path;

	(void)unused;
	if (sd_bus_message_read(m, "o", &path) >= 0 && is_machine(path))
		f->renew = f->changed = true;
	return 0;
}

static int on_owner(sd_bus_message *m, void *context, sd_bus_error *unused)
{
	struct follow *f = context;
	const char *name, *before, *after;

	(void)unused;
	if (sd_bus_message_read(m, "sss", &name, &before, &after) < 0 || strcmp(name, "io.dealbox1"))
		return 0;
	progress(NULL);
	complain("`journalctl -u dealboxd` says why; the job goes on when the service does",
		 "the service dealboxd has ended");
	return sd_event_exit(f->event, STATUS_MACHINE);
}

/* Enter is the start key, where it is clear of which machine. */
static int on_enter(sd_event_source *source, int fd, uint32_t revents, void *context)
{
	struct follow *f = context;
	struct json_object *m, *wants = NULL;
	unsigned int count = 0;
	char keys[64];
	size_t n;

	(void)revents;
	if (read(fd, keys, sizeof(keys)) <= 0) {
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
		return 0;
	}
	for (n = 0; n < json_object_array_length(f->machines); n++) {
		m = json_object_array_get_idx(f->machines, n);
		if (service_number(m, "job") != service_number(the_job(f), "id") ||
		    !strcmp(service_text(m, "state"), "none"))
			continue;
		wants = m;
		count++;
	}
	if (count == 1)
		service_call(f->bus, service_text(wants, "path"), "Machine", "Start", "");
	else if (count)
		complain(NULL, "press start at the machine: %u of them wait", count);
	return 0;
}

/* Ctrl-C: the job is held, and we leave it to the service. */
static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *context)
{
	struct follow *f = context;

	(void)source;
	(void)info;
	f->stopped = true;
	progress(NULL);
	if (!service_call(f->bus, f->path, "Job", "Pause", ""))
		return sd_event_exit(f->event, STATUS_MACHINE);
	summary_say(f);
	complain("`dealbox deal --resume` goes on", "job %lld of the service is paused",
		 (long long)service_number(the_job(f), "id"));
	return sd_event_exit(f->event, STATUS_NO);
}

/* After whatever has happened: what is new is told. */
static int on_change(sd_event_source *source, void *context)
{
	struct follow *f = context;
	struct json_object *job;
	uint64_t queued = 0;
	const char *state;
	int64_t all;
	size_t n;

	(void)source;
	/* what came before this state was told comes first: the verdict of the last board */
	sd_bus_get_n_queued_read(f->bus, &queued);
	if (!f->changed || f->stopped || queued)
		return 0;
	f->changed = false;
	if (f->renew) {
		json_object_put(f->machines);
		f->machines = service_objects(f->bus, "Machine");
		if (!f->machines)
			return sd_event_exit(f->event, STATUS_MACHINE);
		f->renew = false;
	}
	if (f->certifier && f->judged && !job_certify(f->certifier, f->bus, f->path)) {
		/* no board more than need be is dealt without a certificate */
		service_call(f->bus, f->path, "Job", "Pause", "");
		return sd_event_exit(f->event, STATUS_INPUT);
	}
	f->judged = false;
	for (n = 0; n < json_object_array_length(f->machines); n++)
		machine_tell(f, json_object_array_get_idx(f->machines, n));
	job = the_job(f);
	state = service_text(job, "state");
	if (!strcmp(state, f->state))
		return 0;
	snprintf(f->state, sizeof(f->state), "%s", state);
	if (!strcmp(state, "open"))
		return 0;
	progress(NULL);
	all = service_number(job, "boards") * service_number(job, "copies");
	if (!strcmp(state, "paused")) {
		complain("`dealbox resume` goes on", "job %lld is paused",
			 (long long)service_number(job, "id"));
		return 0;
	}
	summary_say(f);
	if (!strcmp(state, "done"))
		return sd_event_exit(f->event, service_number(job, "recorded") == all ? STATUS_DONE :
				     STATUS_NO);
	if (!strcmp(state, "repeat")) {
		complain("`dealbox resume` asks again; a replay: --how replay",
			 "a deal of job %lld was dealt for another session meanwhile (Law 6D2)",
			 (long long)service_number(job, "id"));
		return sd_event_exit(f->event, STATUS_INPUT);
	}
	complain(NULL, "job %lld was cancelled", (long long)service_number(job, "id"));
	return sd_event_exit(f->event, STATUS_NO);
}

static int watch(struct follow *f)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t set;
	size_t n;
	int err;

	sigemptyset(&set);
	for (n = 0; n < 3; n++)
		sigaddset(&set, signals[n]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	err = sd_event_new(&f->event);
	for (n = 0; err >= 0 && n < 3; n++)
		err = sd_event_add_signal(f->event, NULL, signals[n], on_signal, f);
	if (err >= 0)
		err = sd_event_add_post(f->event, NULL, on_change, f);
	if (err >= 0)
		err = sd_bus_attach_event(f->bus, f->event, SD_EVENT_PRIORITY_NORMAL);
	if (err >= 0)
		err = sd_bus_match_signal(f->bus, NULL, "io.dealbox1", NULL, "io.dealbox1.Job", "Judged",
					  on_judged, f);
	if (err >= 0)
		err = sd_bus_match_signal(f->bus, NULL, "io.dealbox1", NULL,
					  "org.freedesktop.DBus.Properties", "PropertiesChanged",
					  on_properties, f);
	if (err >= 0)
		err = sd_bus_match_signal(f->bus, NULL, "io.dealbox1", NULL,
					  "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
					  on_added, f);
	if (err >= 0)
		err = sd_bus_match_signal(f->bus, NULL, "org.freedesktop.DBus", NULL,
					  "org.freedesktop.DBus", "NameOwnerChanged", on_owner, f);
	/* a file on standard input cannot be waited for, and is nobody's Enter */
	if (err >= 0)
		sd_event_add_io(f->event, NULL, STDIN_FILENO, EPOLLIN, on_enter, f);
	return err;
}

/* ---- the whole ------------------------------------------------------------ */

/* What only a machine of our own can do. */
static const char *not_by_service(const struct deal_options *options)
{
	return options->record ? "--record" : options->reveal ? "--reveal" : NULL;
}

/* A job for the set, or the one that is paused. */
static enum status job_begin(struct follow *f, const struct dealbox_set *set)
{
	const struct deal_options *options = f->options;
	struct json_object *job = NULL;
	enum status status;
	uint64_t number;
	char today[16];
	time_t now;

	if (options->resume) {
		status = job_find(f, &job);
		if (status != STATUS_DONE || !set)
			return status;
		status = set_add(f, set, service_text(job, "session"), &number);
		if (status != STATUS_DONE || (int64_t)number == service_number(job, "set"))
			return status;
		complain("give the files of that job, unchanged; or deal without --resume",
			 "the job to resume has other deals than these files");
		return STATUS_INPUT;
	}
	now = time(NULL);
	strftime(today, sizeof(today), "%Y-%m-%d", localtime(&now));
	status = set_add(f, set, options->session ? options->session : today, &number);
	return status == STATUS_DONE ? job_add(f, set, number) : status;
}

static enum status follow(struct follow *f, const struct dealbox_set *set)
{
	enum status status;
	int err = watch(f);

	/* listening comes first, so that nothing is missed */
	if (err < 0) {
		complain(NULL, "the service cannot be watched: %s", strerror(-err));
		return STATUS_MACHINE;
	}
	f->machines = service_objects(f->bus, "Machine");
	f->jobs = f->machines ? service_objects(f->bus, "Job") : NULL;
	if (!f->jobs || !wanted_there(&f->options->wanted, f->machines))
		return STATUS_MACHINE;
	status = job_begin(f, set);
	if (status != STATUS_DONE)
		return status;
	if (f->options->resume && !service_call(f->bus, f->path, "Job", "Resume", ""))
		return STATUS_INPUT;
	json_object_put(f->jobs);
	f->jobs = service_objects(f->bus, "Job");
	if (!f->jobs)
		return STATUS_MACHINE;
	f->changed = true;
	/* those of an earlier run too */
	f->judged = true;
	clock_gettime(CLOCK_MONOTONIC, &f->begin);
	return sd_event_loop(f->event);
}

enum status deal_by_service(sd_bus *bus, struct args *args, const struct deal_options *options)
{
	struct follow f = { .options = options, .bus = bus };
	struct job_certifier certifier = { 0 };
	struct dealbox_set *set = NULL;
	enum status status = STATUS_DONE;

	if (not_by_service(options)) {
		complain(WITHOUT, "%s is not for the service, which runs", not_by_service(options));
		return STATUS_INPUT;
	}
	if (args->argc)
		status = setfile_read(args->argv, args->argc, false, NOTHING_DEALT, &set);
	if (status == STATUS_DONE && set &&
	    (!boards_there(options, set) || !set_allowed(options, set, args->argv, args->argc)))
		status = STATUS_INPUT;
	if (status == STATUS_DONE && options->certify) {
		f.certifier = &certifier;
		if (!job_certifier_open(&certifier, options->certify, args->argv, args->argc, set))
			status = STATUS_INPUT;
	}
	if (status == STATUS_DONE)
		status = follow(&f, set);
	if (f.certifier)
		job_certifier_close(f.certifier);
	progress(NULL);
	dealbox_set_free(set);
	json_object_put(f.machines);
	json_object_put(f.jobs);
	sd_bus_detach_event(bus);
	sd_event_unref(f.event);
	return status;
}
