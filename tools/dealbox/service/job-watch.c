// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include <dealbox/law.h>

#include "job-watch.h"
#include "ui/operator-say.h"
#include "ui/ruling-text.h"

/* ---- output --------------------------------------------------------------- */

int job_watch_new(struct job_watch *f, struct request *r)
{
	const char *path;
	int err = request_send(r);

	if (err >= 0)
		err = sd_bus_message_read(r->reply, "o", &path);
	if (err >= 0)
		snprintf(f->path, sizeof(f->path), "%s", path);
	return err;
}

static const char *in_language(const struct job_watch *f, const char *message)
{
	return dealbox_law_translate(f->language, message);
}

struct json_object *job_watch_job(const struct job_watch *f)
{
	size_t n;

	for (n = 0; n < json_object_array_length(f->jobs); n++)
		if (!strcmp(service_text(json_object_array_get_idx(f->jobs, n), "path"), f->path))
			return json_object_array_get_idx(f->jobs, n);
	return NULL;
}

static const char *copy_name(const struct job_watch *f, int64_t board, int64_t copy,
			     char text[OPERATOR_COPY])
{
	struct json_object *job = job_watch_job(f);

	return operator_copy_name(&(struct operator_copy){
		.language = f->language, .board = (uint32_t)board, .copy = (uint32_t)copy,
		.several = service_number(job, "copies") != 1,
		.capture = service_captures(job) }, text);
}

/* Return true if the machine may deal the job. */
static bool machine_serves(const struct job_watch *f, struct json_object *m)
{
	struct json_object *names;

	return !json_object_object_get_ex(job_watch_job(f), "machines", &names) ||
	       !json_object_array_length(names) ||
	       service_has(job_watch_job(f), "machines", service_text(m, "id"));
}

/*
 * Return the number of machines that wait for the operator in this job; *last is the last of them.
 */
static unsigned int waiting(const struct job_watch *f, struct json_object **last)
{
	unsigned int count = 0;
	struct json_object *m;
	size_t n;

	for (n = 0; n < json_object_array_length(f->machines); n++) {
		m = json_object_array_get_idx(f->machines, n);
		if (service_number(m, "job") != service_number(job_watch_job(f), "id") ||
		    !strcmp(service_text(m, "state"), "none"))
			continue;
		*last = m;
		count++;
	}
	return count;
}

static bool allowed(const char *name, void *machine)
{
	return service_has(machine, "keys", name);
}

/* Return what the machine asks for this job, and what keys answer it. */
static struct answer_asked asked_by(const struct job_watch *f, struct json_object *m)
{
	enum dealbox_operator_state state = operator_state(service_text(m, "state"));
	struct json_object *job = job_watch_job(f), *facts = NULL;
	int64_t all = service_number(job, "boards") * service_number(job, "copies");
	struct answer_asked asked = {
		.machine = m, .question = (uint64_t)service_number(m, "question"),
		.board = (uint32_t)service_number(m, "board"),
		.copy = (uint32_t)service_number(m, "copy"),
	};

	json_object_object_get_ex(m, "facts", &facts);
	asked.there = (uint32_t)service_number(facts, "there");
	/* behind the last board, the job ends: nobody waits */
	if (f->listens && f->kind->letters &&
	    service_number(m, "job") == service_number(job, "id") &&
	    !(state == DEALBOX_OPERATOR_TAKE_OUT && all &&
	      service_number(job, "recorded") + service_number(job, "skipped") >= all))
		asked.keys = answer_keys_of(state, allowed, m);
	return asked;
}

#define ASKED_MOST	64

/* Collect what the machines ask. Returns their number. */
static size_t asked_by_all(const struct job_watch *f, struct answer_asked asked[ASKED_MOST])
{
	size_t n;

	for (n = 0; n < json_object_array_length(f->machines) && n < ASKED_MOST; n++)
		asked[n] = asked_by(f, json_object_array_get_idx(f->machines, n));
	return n;
}

/* Show how far the board is, and the job, which has no total without a limit of copies. */
static void progress_tell(const struct job_watch *f, struct json_object *m, const char *id,
			  const char *name)
{
	struct json_object *job = job_watch_job(f);
	struct timespec now;
	char both[256];

	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(both, sizeof(both), "%s%s", id, name);
	operator_progress(&(struct operator_progress){
		.language = f->language, .name = both,
		.cards = (uint32_t)service_number(m, "cards"),
		.of = (uint32_t)service_number(m, "cards_total"),
		.done = (uint64_t)(service_number(job, "recorded") +
				   service_number(job, "skipped")),
		.all = service_captures(job) ? 0 :
		       (uint64_t)(service_number(job, "boards") * service_number(job, "copies")),
		.exact = f->exact,
		.seconds = (double)(now.tv_sec - f->begin.tv_sec) +
			   (double)(now.tv_nsec - f->begin.tv_nsec) / 1e9,
	});
}

/* Tell the operator what to do at a machine, if that has changed. */
static void machine_tell(const struct job_watch *f, struct json_object *m)
{
	const char *state = service_text(m, "state");
	bool calls = operator_calls(operator_state(state)),
	     several = json_object_array_length(f->machines) > 1;
	int64_t board = service_number(m, "board"), copy = service_number(m, "copy");
	int64_t job = service_number(m, "job");
	struct json_object *object, *other;
	char name[OPERATOR_COPY], id[160] = "", text[2048], marks[256];
	struct answer_asked asked = asked_by(f, m);

	service_instruction(m, f->language, text, sizeof(text));
	if (several)
		snprintf(id, sizeof(id), "%s: ", service_text(m, "id"));
	if (job == service_number(job_watch_job(f), "id") && service_number(m, "dealing") &&
	    !f->json)
		progress_tell(f, m, id, copy_name(f, board, copy, name));
	/* the same may be asked of another board */
	if (!strcmp(service_text(m, "told"), text) &&
	    (!service_number(m, "insertion") ||
	     service_number(m, "insertion") == service_number(m, "told-insertion")))
		return;
	json_object_object_add(m, "told", json_object_new_string(text));
	json_object_object_add(m, "told-insertion",
			       json_object_new_int64(service_number(m, "insertion")));
	if (!strcmp(state, "none") || !strcmp(state, "no-work") || !machine_serves(f, m) ||
	    (job && job != service_number(job_watch_job(f), "id")))
		return;
	if (!f->json) {
		say_in(calls ? TONE_CALL : TONE_PLAIN, "%s%s%s%s%s", id,
		       copy_name(f, board, copy, name), text,
		       f->listens && service_has(m, "keys", "start") && waiting(f, &other) == 1 ?
		       ENTER_MARK : "",
		       answer_keys_marks(&asked, f->language, marks, sizeof(marks)));
		if (calls)
			bell();
		return;
	}
	object = json_line("operator");
	json_add_known(object, "board", board);
	json_add_known(object, "copy", copy);
	json_add_text(object, "machine", service_text(m, "id"));
	json_add_text(object, "state", state);
	json_add_text(object, "text", text);
	json_say(object);
}

/* Write the sentence for a verdict, in the language that was asked for or that of the service. */
static void verdict_text(const struct job_watch *f, struct json_object *facts, char *text,
			 size_t size)
{
	struct dealbox_operator_verdict verdict;

	if (f->language && service_verdict(facts, &verdict))
		dealbox_operator_verdict_text(&verdict, f->language, text, size);
	else
		snprintf(text, size, "%s", service_text(facts, "text"));
}

static int on_verdict(sd_bus_message *m, void *context, sd_bus_error *unused)
{
	struct job_watch *f = context;
	uint32_t board, copy, insertion;
	const char *machine;
	struct json_object *object, *facts;
	char name[OPERATOR_COPY], text[512];
	int exact;

	(void)unused;
	if (strcmp(sd_bus_message_get_path(m), f->path) ||
	    sd_bus_message_read(m, "uusub", &board, &copy, &machine, &insertion, &exact) < 0)
		return 0;
	facts = service_facts(m);
	verdict_text(f, facts, text, sizeof(text));
	json_object_put(facts);
	f->exact += !!exact;
	f->voids += !exact;
	f->judged = f->changed = true;
	if (!f->json) {
		say_in(exact ? TONE_GOOD : TONE_BAD, "%s%s", copy_name(f, board, copy, name), text);
		return 0;
	}
	object = json_line("board");
	json_add_number(object, "board", board);
	json_add_number(object, "copy", copy);
	json_add_text(object, "machine", machine);
	json_add_number(object, "insertion", insertion);
	json_add_text(object, "verdict", exact ? "exact" : "void");
	json_add_text(object, "text", text);
	/* The service does not report differences, which contain cards. */
	json_say(object);
	return 0;
}

static void over(const struct job_watch *f)
{
	if (f->kind->over)
		f->kind->over(f);
}

/* ---- following ------------------------------------------------------------ */

static bool is_machine(const char *path)
{
	static const char machines[] = "/io/dealbox1/machine/";

	return !strncmp(path, machines, strlen(machines));
}

static int on_properties(sd_bus_message *m, void *context, sd_bus_error *unused)
{
	struct job_watch *f = context;
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
	struct job_watch *f = context;
	const char *path;

	(void)unused;
	if (sd_bus_message_read(m, "o", &path) >= 0 && is_machine(path))
		f->renew = f->changed = true;
	return 0;
}

static int on_owner(sd_bus_message *m, void *context, sd_bus_error *unused)
{
	struct job_watch *f = context;
	const char *name, *before, *after;

	(void)unused;
	/* As for the service: sd-bus lets anybody pass for the owner of a name, the bus too. */
	if (strcmp(sd_bus_message_get_sender(m), "org.freedesktop.DBus") ||
	    sd_bus_message_read(m, "sss", &name, &before, &after) < 0 ||
	    strcmp(name, "io.dealbox1"))
		return 0;
	progress(NULL);
	complain(in_language(f, N_("`journalctl -u dealboxd` shows why; the job continues when "
				   "the service runs again")),
		 "%s", in_language(f, N_("the service dealboxd has ended")));
	return sd_event_exit(f->event, STATUS_MACHINE);
}

/* Enter is the start key if only one machine waits. */
static void press_start(const struct job_watch *f)
{
	struct json_object *wants = NULL;
	unsigned int count = waiting(f, &wants);

	/* the number of what this screen shows: it may have changed meanwhile */
	if (count == 1 && service_has(wants, "keys", "start"))
		service_call(f->bus, service_text(wants, "path"), "Machine", "Answer", "u",
			     (uint32_t)service_number(wants, "question"));
	else if (count > 1)
		complain(NULL, dealbox_law_translate_count(f->language,
			 P_("press start at the machine itself: %u machine is waiting",
			    "press start at the machine itself: %u machines are waiting"), count),
			 count);
}

/* Send an answer, by the methods that the screen calls, for the question that was shown. */
static void send_answer(const struct job_watch *f, const struct answer *answer)
{
	const struct answer_asked *asked = &answer->asked;
	const char *path = service_text((struct json_object *)asked->machine, "path");

	switch (answer->command) {
	case DEALBOX_DEALING_DEAL_THIS:
		service_call(f->bus, path, "Machine", "DealThis", "u", (uint32_t)asked->question);
		break;
	case DEALBOX_DEALING_NAME_BOARD:
		service_call(f->bus, path, "Machine", "NameBoard", "uu",
			     (uint32_t)asked->question, answer->board);
		break;
	case DEALBOX_DEALING_SKIP:
		service_call(f->bus, f->path, "Job", "Skip", "uu", asked->board, asked->copy);
		break;
	case DEALBOX_DEALING_REDEAL:
		service_call(f->bus, f->path, "Job", "Redeal", "uu", asked->board, asked->copy);
		break;
	default:
		press_start(f);
	}
}

static int on_keys(sd_event_source *source, int fd, uint32_t revents, void *context)
{
	struct answer answer = { .command = DEALBOX_DEALING_START };
	struct answer_asked asked[ASKED_MOST];
	struct job_watch *f = context;
	char typed[64];
	ssize_t size = read(fd, typed, sizeof(typed));
	size_t count = asked_by_all(f, asked);

	(void)revents;
	answer_keys_ask(&f->keys, asked, count);
	if (size <= 0) {
		f->listens = false;
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
	} else if (!f->kind->letters || answer_keys_typed(&f->keys, f->language, asked, count,
							  typed, (size_t)size, &answer)) {
		send_answer(f, &answer);
	}
	return 0;
}

/* Ctrl-C pauses the job, which stays with the service, and ends this command. */
static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *context)
{
	struct job_watch *f = context;
	struct json_object *m;
	size_t n;

	(void)source;
	(void)info;
	f->stopped = true;
	progress(NULL);
	if (service_call(f->bus, f->path, "Job", "Pause", "") != STATUS_DONE)
		return sd_event_exit(f->event, STATUS_MACHINE);
	over(f);
	/* Get the present state: signals may still be queued. */
	json_object_put(f->machines);
	f->machines = service_objects(f->bus, "Machine");
	for (n = 0; f->machines && n < json_object_array_length(f->machines); n++) {
		m = json_object_array_get_idx(f->machines, n);
		if (service_number(m, "dealing") &&
		    service_number(m, "job") == service_number(job_watch_job(f), "id"))
			complain(NULL, in_language(f,
				 N_("%s: paused in board %lld; a machine that locks its board "
				    "keeps it until the job continues")),
				 service_text(m, "id"), (long long)service_number(m, "board"));
	}
	complain(in_language(f, f->kind->again),
		 in_language(f, N_("job %lld of the service is paused")),
		 (long long)service_number(job_watch_job(f), "id"));
	return sd_event_exit(f->event, STATUS_STOPPED);
}

/* Runs after every event, and reports changes. */
static int on_change(sd_event_source *source, void *context)
{
	struct answer_asked asked[ASKED_MOST];
	struct job_watch *f = context;
	char before[sizeof(f->state)];
	struct json_object *job;
	uint64_t queued = 0;
	size_t n;

	(void)source;
	/* Handle queued messages first: they may include the verdict on the last board. */
	sd_bus_get_n_queued_read(f->bus, &queued);
	if (!f->changed || f->stopped || queued)
		return 0;
	f->changed = false;
	if (f->renew) {
		/* what is being typed was for one of the old objects */
		answer_keys_ask(&f->keys, NULL, 0);
		json_object_put(f->machines);
		f->machines = service_objects(f->bus, "Machine");
		if (!f->machines)
			return sd_event_exit(f->event, STATUS_MACHINE);
		f->renew = false;
	}
	if (f->judged && f->kind->judged && !f->kind->judged(f)) {
		/* Deal no further boards after an error. */
		service_call(f->bus, f->path, "Job", "Pause", "");
		return sd_event_exit(f->event, STATUS_INPUT);
	}
	f->judged = false;
	for (n = 0; n < json_object_array_length(f->machines); n++)
		machine_tell(f, json_object_array_get_idx(f->machines, n));
	answer_keys_ask(&f->keys, asked, asked_by_all(f, asked));
	job = job_watch_job(f);
	memcpy(before, f->state, sizeof(before));
	snprintf(f->state, sizeof(f->state), "%s", service_text(job, "state"));
	if (!strcmp(f->state, before) || !strcmp(f->state, "open"))
		return 0;
	progress(NULL);
	if (!strcmp(f->state, "paused")) {
		complain(in_language(f, N_("`dealbox resume` continues it")),
			 in_language(f, N_("job %lld is paused")),
			 (long long)service_number(job, "id"));
		return 0;
	}
	over(f);
	if (!strcmp(f->state, "done"))
		return sd_event_exit(f->event, STATUS_DONE);
	if (!strcmp(f->state, "repeat")) {
		complain(in_language(f, N_("`dealbox resume` asks again; for a replay, use "
					   "--how replay")),
			 in_language(f, N_("a deal of job %lld was dealt for another session "
					   "meanwhile (Law 6D2)")),
			 (long long)service_number(job, "id"));
		return sd_event_exit(f->event, STATUS_INPUT);
	}
	complain(NULL, in_language(f, N_("job %lld was cancelled")),
		 (long long)service_number(job, "id"));
	return sd_event_exit(f->event, STATUS_NO);
}

/*
 * Match the signals of the service by the name of its connection. For a name such as io.dealbox1,
 * sd-bus relies on the bus, and the bus delivers to a connection what anyone sends to it alone.
 */
static int service_match(struct job_watch *f)
{
	sd_bus_creds *creds = NULL;
	const char *owner;
	int err = sd_bus_get_name_creds(f->bus, "io.dealbox1", SD_BUS_CREDS_UNIQUE_NAME, &creds);

	if (err >= 0)
		err = sd_bus_creds_get_unique_name(creds, &owner);
	if (err >= 0)
		err = sd_bus_match_signal(f->bus, NULL, owner, NULL, "io.dealbox1.Job", "Verdict",
					  on_verdict, f);
	if (err >= 0)
		err = sd_bus_match_signal(f->bus, NULL, owner, NULL,
					  "org.freedesktop.DBus.Properties", "PropertiesChanged",
					  on_properties, f);
	if (err >= 0)
		err = sd_bus_match_signal(f->bus, NULL, owner, NULL,
					  "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
					  on_added, f);
	sd_bus_creds_unref(creds);
	return err;
}

static int watch(struct job_watch *f)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	sd_event_source *keys = NULL;
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
	/* The caller may use the bus after the end of the job. */
	if (err >= 0)
		err = sd_bus_set_close_on_exit(f->bus, 0);
	/* first, so that another owner of the name ends this */
	if (err >= 0)
		err = sd_bus_match_signal(f->bus, NULL, "org.freedesktop.DBus", NULL,
					  "org.freedesktop.DBus", "NameOwnerChanged", on_owner, f);
	if (err >= 0)
		err = service_match(f);
	/* This fails for a file, which cannot be watched and has no Enter. */
	if (err >= 0)
		f->listens = sd_event_add_io(f->event, &keys, STDIN_FILENO, EPOLLIN,
					     on_keys, f) >= 0;
	/* before messages: a key answers what was shown when it was pressed */
	if (err >= 0 && f->listens)
		err = sd_event_source_set_priority(keys, SD_EVENT_PRIORITY_IMPORTANT);
	if (keys)
		sd_event_source_set_floating(keys, 1);
	sd_event_source_unref(keys);
	return err;
}

enum status job_watch_open(struct job_watch *f)
{
	int err = watch(f);

	/* Subscribe before reading the state, so that no change is missed. */
	if (err < 0) {
		complain(NULL, "the service cannot be watched: %s", strerror(-err));
		return STATUS_MACHINE;
	}
	f->machines = service_objects(f->bus, "Machine");
	f->jobs = f->machines ? service_objects(f->bus, "Job") : NULL;
	return f->jobs ? STATUS_DONE : STATUS_MACHINE;
}

enum status job_watch_run(struct job_watch *f)
{
	json_object_put(f->jobs);
	f->jobs = service_objects(f->bus, "Job");
	if (!f->jobs)
		return STATUS_MACHINE;
	f->changed = true;
	/* Include the insertions of earlier runs. */
	f->judged = true;
	clock_gettime(CLOCK_MONOTONIC, &f->begin);
	if (f->listens && f->kind->letters)
		answer_keys_open(&f->keys);
	return sd_event_loop(f->event);
}

void job_watch_close(struct job_watch *f)
{
	answer_keys_close(&f->keys);
	progress(NULL);
	json_object_put(f->machines);
	json_object_put(f->jobs);
	sd_bus_detach_event(f->bus);
	sd_event_unref(f->event);
}
