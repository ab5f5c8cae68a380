// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox jobs, pause, resume, cancel, priority, skip, redeal, accept: what the service deals, and
 * whether it does.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "service/service-objects.h"

#define KEY_ANY		OPT_LONG

static const struct option_row jobs_options[] = {
	{ 'm', "machine", "MACHINE", "with JOB: from now on only this machine "
				     "deals it; once or more" },
	{ KEY_ANY, "any-machine", NULL, "with JOB: from now on every machine may deal it" },
	OPT_JSON,
	{ 0 }
};

/* The machines that the job is kept to, and which of them are not there. */
static void machines_print(struct json_object *job, struct json_object *machines)
{
	struct json_object *names;
	const char *id;
	size_t n;

	if (!json_object_object_get_ex(job, "machines", &names))
		return;
	for (n = 0; n < json_object_array_length(names); n++) {
		id = json_object_get_string(json_object_array_get_idx(names, n));
		put("%s%s%s", n ? ", " : ", on ", id,
		    service_present(machines, id) ? "" : " (not connected)");
	}
}

static void job_print(struct json_object *job, struct json_object *machines)
{
	int64_t copies = service_number(job, "copies"), priority = service_number(job, "priority");
	char of[32] = "";

	if (copies)
		snprintf(of, sizeof(of), " of %lld",
			 (long long)copies * service_number(job, "boards"));
	put("job %-6lld %-9s  %lld%s recorded, %lld void  %s",
	    (long long)service_number(job, "id"), service_text(job, "state"),
	    (long long)service_number(job, "recorded"), of, (long long)service_number(job, "void"),
	    service_text(job, "session"));
	if (priority)
		put(", priority %lld", (long long)priority);
	machines_print(job, machines);
	putchar('\n');
}

/* Shows the insertions of a job: of any job that the service has. */
static enum status insertions_print(sd_bus *bus, unsigned long job, bool json)
{
	const char *machine, *outcome;
	uint32_t board, copy, insertion;
	enum status status = STATUS_DONE;
	struct json_object *object;
	struct request r;
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/io/dealbox1/job/%lu", job);
	err = request_new(&r, bus, path, "Job", "GetInsertions");
	if (err >= 0)
		err = request_send(&r);
	if (err >= 0)
		err = sd_bus_message_enter_container(r.reply, 'a', "(uusus)");
	while (err >= 0 && (err = sd_bus_message_read(r.reply, "(uusus)", &board, &copy, &machine,
						      &insertion, &outcome)) > 0) {
		if (!json) {
			put("  board %u, copy %u: insertion %u of machine %s: %s\n", board, copy,
			    insertion, machine, *outcome ? outcome : "not known yet");
			continue;
		}
		object = json_line("insertion");
		json_add_number(object, "board", board);
		json_add_number(object, "copy", copy);
		json_add_number(object, "insertion", insertion);
		json_add_text(object, "machine", machine);
		json_add_text(object, "outcome", outcome);
		json_say(object);
	}
	if (err < 0)
		status = service_error(&r, err);
	request_end(&r);
	return status;
}

/* Keeps the job of that number alone; false, and said: there is none. */
static bool jobs_only(struct json_object *jobs, unsigned long number)
{
	size_t n = json_object_array_length(jobs);

	while (n--)
		if (service_number(json_object_array_get_idx(jobs, n), "id") != (int64_t)number)
			json_object_array_del_idx(jobs, n, 1);
	if (json_object_array_length(jobs))
		return true;
	complain("`dealbox jobs` lists them, `dealbox ledger list` also earlier ones",
		 "the service has no job %lu", number);
	return false;
}

/* Keep a job to the wanted machines, of which one is there; none: let every machine deal it. */
static enum status job_keep(sd_bus *bus, unsigned long job, const struct wanted *wanted)
{
	struct json_object *machines = service_objects(bus, "Machine");
	enum status status = STATUS_DONE;
	struct request r;
	char path[64];
	int err;

	/* a job that is kept to a name with a slip of the pen would wait forever */
	if (!machines || (*wanted->ids && !wanted_there(wanted, machines))) {
		json_object_put(machines);
		return STATUS_MACHINE;
	}
	snprintf(path, sizeof(path), "/io/dealbox1/job/%lu", job);
	err = request_new(&r, bus, path, "Job", "SetMachines");
	if (err >= 0)
		err = sd_bus_message_append_strv(r.call, (char **)wanted->ids);
	if (err >= 0)
		err = request_send(&r);
	if (err < 0)
		status = service_error(&r, err);
	request_end(&r);
	json_object_put(machines);
	return status;
}

static enum status jobs_run(struct args *args)
{
	struct json_object *jobs = NULL, *machines = NULL;
	bool json = false, any = false, keep;
	enum status status = STATUS_DONE;
	struct wanted wanted = { 0 };
	unsigned long number = 0;
	const char *value;
	sd_bus *bus;
	size_t n;
	int key;

	while ((key = args_next(args, &value)) >= 0) {
		if (key == 'm' && !wanted_add(args, &wanted, value))
			return STATUS_INPUT;
		any |= key == KEY_ANY;
		json |= key == 'j';
	}
	if (key == ARGS_STOP)
		return args->status;
	keep = any || *wanted.ids;
	if (wanted.uri)
		return args_wrong(args, "--machine takes the ids that `dealbox status` shows");
	if (any && *wanted.ids)
		return args_wrong(args, "--machine and --any-machine contradict each other");
	if (keep && !args->argc)
		return args_wrong(args, "--machine and --any-machine need the number of a job");
	if (args->argc > 1)
		return args_wrong(args, "it takes at most one job number");
	if (args->argc && !args_number(args, "job", args->argv[0], 1, UINT32_MAX, &number))
		return STATUS_INPUT;
	bus = service_open();
	if (bus && keep)
		status = job_keep(bus, number, &wanted);
	if (bus && !status)
		jobs = service_objects(bus, "Job");
	if (jobs)
		machines = service_objects(bus, "Machine");
	if (!machines && !status)
		status = STATUS_MACHINE;
	else if (machines && number && !jobs_only(jobs, number))
		status = STATUS_INPUT;
	for (n = 0; !json && !status && n < json_object_array_length(jobs); n++)
		job_print(json_object_array_get_idx(jobs, n), machines);
	json_object_put(machines);
	if (json && !status)
		service_say(jobs, "job");
	else
		json_object_put(jobs);
	if (number && !status)
		status = insertions_print(bus, number, json);
	sd_bus_flush_close_unref(bus);
	return status;
}

const struct command cmd_jobs = {
	.name = "jobs",
	.operands = "[JOB]",
	.summary = "List the jobs of the service",
	.about = "One line for each job of dealboxd: number, state, recorded copies, void\n"
		 "insertions, session, and its priority and machines if set. After a start, the\n"
		 "service keeps the last 64 finished jobs; `dealbox ledger list` has them all.\n"
		 "With JOB: that job, with the outcome of each of its boards. Unlike `dealbox\n"
		 "ledger`, this does not require root. --machine keeps the job to machines, by\n"
		 "the ids that `dealbox status` shows; a board that another one deals is\n"
		 "finished there. --any-machine lets all deal it again.",
	.options = jobs_options,
	.run = jobs_run,
};

/* Walks the options, of which there is only --help. False: args->status says how it ended. */
static bool operands_only(struct args *args)
{
	const char *value;
	int key;

	while ((key = args_next(args, &value)) >= 0)
		;
	return key != ARGS_STOP;
}

/* Calls a method of one job, with one or two numbers. */
static enum status job_call(unsigned long job, const char *method, const char *types,
			    unsigned long first, unsigned long second)
{
	sd_bus *bus = service_open();
	enum status status;
	char path[64];

	if (!bus)
		return STATUS_MACHINE;
	snprintf(path, sizeof(path), "/io/dealbox1/job/%lu", job);
	status = service_call(bus, path, "Job", method, types, (uint32_t)first, (uint32_t)second);
	sd_bus_flush_close_unref(bus);
	return status;
}

/* Calls method for the named jobs, or for all in that state. */
static enum status change_run(struct args *args, const char *method, const char *from)
{
	struct json_object *jobs = NULL, *job;
	enum status status = STATUS_DONE, one;
	unsigned long number;
	char path[64];
	sd_bus *bus;
	size_t n;

	if (!operands_only(args))
		return args->status;
	for (n = 0; n < (size_t)args->argc; n++)
		if (!args_number(args, "job", args->argv[n], 1, UINT32_MAX, &number))
			return STATUS_INPUT;
	bus = service_open();
	if (!bus)
		return STATUS_MACHINE;
	for (n = 0; n < (size_t)args->argc; n++) {
		snprintf(path, sizeof(path), "/io/dealbox1/job/%s", args->argv[n]);
		one = service_call(bus, path, "Job", method, "");
		if (one > status)
			status = one;
	}
	if (!args->argc)
		jobs = service_objects(bus, "Job");
	for (n = 0; jobs && n < json_object_array_length(jobs); n++) {
		job = json_object_array_get_idx(jobs, n);
		if (strcmp(service_text(job, "state"), from))
			continue;
		one = service_call(bus, service_text(job, "path"), "Job", method, "");
		if (one > status)
			status = one;
	}
	json_object_put(jobs);
	sd_bus_flush_close_unref(bus);
	return status;
}

static enum status pause_run(struct args *args)
{
	return change_run(args, "Pause", "open");
}

static enum status resume_run(struct args *args)
{
	return change_run(args, "Resume", "paused");
}

const struct command cmd_pause = {
	.name = "pause",
	.operands = "[JOB...]",
	.summary = "Pause jobs of the service",
	.about = "Without JOB: all open jobs. A board that is being dealt stops after the next\n"
		 "card and continues with `dealbox resume`. This is not an emergency stop.",
	.run = pause_run,
};

const struct command cmd_resume = {
	.name = "resume",
	.operands = "[JOB...]",
	.summary = "Resume paused jobs of the service",
	.about = "Without JOB: all paused jobs.",
	.run = resume_run,
};

static enum status cancel_run(struct args *args)
{
	/* an empty list does not mean all jobs */
	if (args->argc < 2)
		return args_wrong(args, "it needs the number of a job");
	return change_run(args, "Cancel", "");
}

const struct command cmd_cancel = {
	.name = "cancel",
	.operands = "JOB...",
	.summary = "Cancel jobs of the service",
	.about = "A board that is being dealt becomes void: empty it. Recorded boards stay\n"
		 "recorded.",
	.run = cancel_run,
};

static enum status priority_run(struct args *args)
{
	unsigned long job, priority;

	if (!operands_only(args))
		return args->status;
	if (args->argc != 2)
		return args_wrong(args, "it needs the number of a job and a priority");
	if (!args_number(args, "job", args->argv[0], 1, UINT32_MAX, &job) ||
	    !args_number(args, "priority", args->argv[1], 0, PRIORITY_MAX, &priority))
		return STATUS_INPUT;
	return job_call(job, "SetPriority", "i", priority, 0);
}

const struct command cmd_priority = {
	.name = "priority",
	.operands = "JOB N",
	.summary = "Set the priority of a job of the service",
	.about = "A machine deals the job with the highest N first, 0 to 99; of equal ones, the\n"
		 "oldest. A board that an operator has already been asked for is not changed.",
	.run = priority_run,
};

/*
 * Skip or Redeal: of a job one board, and of that one copy. what: what that does, of board, copy
 * and job.
 */
static enum status copy_run(struct args *args, const char *method, const char *what)
{
	unsigned long job, board, copy = 1;
	bool yes = false;
	const char *value;
	int key;

	while ((key = args_next(args, &value)) >= 0)
		yes = true;
	if (key == ARGS_STOP)
		return args->status;
	if (args->argc < 2 || args->argc > 3)
		return args_wrong(args, "it needs a job and a board, and optionally a copy");
	if (!args_number(args, "job", args->argv[0], 1, UINT32_MAX, &job) ||
	    !args_number(args, "board", args->argv[1], 1, DEALBOX_BOARD_DEALT_MAX, &board) ||
	    (args->argc == 3 &&
	     !args_number(args, "copy", args->argv[2], 1, DEALBOX_BOARD_DEALT_MAX, &copy)))
		return STATUS_INPUT;
	if (!confirm(yes, "Board %lu, copy %lu of job %lu %s?", board, copy, job, what))
		return STATUS_NO;
	return job_call(job, method, "uu", board, copy);
}

static enum status skip_run(struct args *args)
{
	return copy_run(args, "Skip",
			"is left out: nobody will have that deal in it. Is that meant");
}

static enum status redeal_run(struct args *args)
{
	return copy_run(args, "Redeal",
			"is dealt again, and what was recorded of it does not count any more. "
			"Is that meant");
}

static const struct option_row yes_options[] = {
	OPT_YES,
	{ 0 }
};

const struct command cmd_skip = {
	.name = "skip",
	.operands = "JOB BOARD [COPY]",
	.summary = "Skip a board of a job",
	.about = "The job continues with the next board. Without COPY: copy 1. `dealbox redeal`\n"
		 "reverses it. The command asks first.",
	.options = yes_options,
	.run = skip_run,
};

const struct command cmd_redeal = {
	.name = "redeal",
	.operands = "JOB BOARD [COPY]",
	.summary = "Deal a board of a job again",
	.about = "The earlier result of that copy no longer counts, but stays in the ledger.\n"
		 "Without COPY: copy 1. The command asks first.",
	.options = yes_options,
	.run = redeal_run,
};

/* Accepts new machines: the named ones, or the only one that waits for it. */
static enum status accept_run(struct args *args)
{
	struct json_object *machines = NULL, *m;
	enum status status = STATUS_DONE, one;
	const char *path = NULL;
	unsigned int waiting = 0;
	sd_bus *bus;
	size_t n;
	int i;

	if (!operands_only(args))
		return args->status;
	bus = service_open();
	if (bus)
		machines = service_objects(bus, "Machine");
	for (i = 0; machines && i < args->argc; i++) {
		for (n = 0, path = NULL; n < json_object_array_length(machines) && !path; n++) {
			m = json_object_array_get_idx(machines, n);
			if (!strcmp(service_text(m, "id"), args->argv[i]))
				path = service_text(m, "path");
		}
		if (!path)
			complain("`dealbox status` shows them", "the service knows no machine %s",
				 args->argv[i]);
		one = path ? service_call(bus, path, "Machine", "Accept", "") : STATUS_INPUT;
		if (one > status)
			status = one;
	}
	for (n = 0; machines && !args->argc && n < json_object_array_length(machines); n++) {
		m = json_object_array_get_idx(machines, n);
		if (strcmp(service_text(m, "state"), "machine-new"))
			continue;
		waiting++;
		path = service_text(m, "path");
		say("%s: %s, at %s", service_text(m, "id"), service_text(m, "model"),
		    *service_text(m, "port") ? service_text(m, "port") : "no port");
	}
	if (machines && !args->argc && waiting != 1) {
		complain(waiting ? "name those that may deal" :
				   "`dealbox status` shows all machines",
			 "%u machines are new", waiting);
		status = waiting ? STATUS_INPUT : STATUS_NO;
	} else if (machines && !args->argc) {
		status = service_call(bus, path, "Machine", "Accept", "");
	}
	if (!machines)
		status = STATUS_MACHINE;
	json_object_put(machines);
	sd_bus_flush_close_unref(bus);
	return status;
}

const struct command cmd_accept = {
	.name = "accept",
	.operands = "[MACHINE...]",
	.summary = "Allow a new machine to deal",
	.about = "A machine that the service has not seen before does not deal until somebody\n"
		 "confirms that it belongs to the club. Without MACHINE: the only new one. It is\n"
		 "remembered by its serial number, or by its port if it has none.",
	.run = accept_run,
};
