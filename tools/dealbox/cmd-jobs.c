// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox jobs, pause, resume, cancel, skip, redeal: what the service deals, and whether it does.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "service.h"

static const struct option_row json_options[] = {
	OPT_JSON,
	{ 0 }
};

static void job_print(struct json_object *job)
{
	int64_t copies = service_number(job, "copies");
	char of[32] = "";

	if (copies)
		snprintf(of, sizeof(of), " of %lld",
			 (long long)(copies * service_number(job, "boards")));
	printf("job %-6lld %-9s  %lld%s recorded, %lld void  %s\n",
	       (long long)service_number(job, "id"), service_text(job, "state"),
	       (long long)service_number(job, "recorded"), of, (long long)service_number(job, "void"),
	       service_text(job, "session"));
}

static enum status jobs_run(struct args *args)
{
	struct json_object *jobs = NULL;
	bool json = false;
	sd_bus *bus;
	size_t n;

	if (!args_only_json(args, &json))
		return args->status;
	bus = service_open();
	if (bus)
		jobs = service_objects(bus, "Job");
	sd_bus_flush_close_unref(bus);
	if (!jobs)
		return STATUS_MACHINE;
	if (json) {
		service_say(jobs);
		return STATUS_DONE;
	}
	for (n = 0; n < json_object_array_length(jobs); n++)
		job_print(json_object_array_get_idx(jobs, n));
	json_object_put(jobs);
	return STATUS_DONE;
}

const struct command cmd_jobs = {
	.name = "jobs",
	.operands = "",
	.summary = "List what the service deals",
	.about = "One line for each job that dealboxd has: number, state, copies recorded,\n"
		 "insertions that were void, session. `dealbox ledger list` also has those that\n"
		 "were done before the service started.",
	.options = json_options,
	.run = jobs_run,
};

/* Does to the jobs that are named, or to all in that state, what method says. */
static enum status change_run(struct args *args, const char *method, const char *from)
{
	struct json_object *jobs = NULL, *job;
	enum status status = STATUS_DONE;
	unsigned long number;
	const char *value;
	char path[64];
	sd_bus *bus;
	size_t n;
	int key;

	while ((key = args_next(args, &value)) >= 0)
		;
	if (key == ARGS_STOP)
		return args->status;
	for (n = 0; n < (size_t)args->argc; n++)
		if (!args_number(args, "job", args->argv[n], 1, UINT32_MAX, &number))
			return STATUS_INPUT;
	bus = service_open();
	if (!bus)
		return STATUS_MACHINE;
	for (n = 0; n < (size_t)args->argc; n++) {
		snprintf(path, sizeof(path), "/io/dealbox1/job/%s", args->argv[n]);
		if (!service_call(bus, path, "Job", method))
			status = STATUS_INPUT;
	}
	if (!args->argc)
		jobs = service_objects(bus, "Job");
	for (n = 0; jobs && n < json_object_array_length(jobs); n++) {
		job = json_object_array_get_idx(jobs, n);
		if (!strcmp(service_text(job, "state"), from) &&
		    !service_call(bus, service_text(job, "path"), "Job", method))
			status = STATUS_INPUT;
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
	.about = "Without JOB: all that are open. A board that is being dealt stops after the next\n"
		 "card, and goes on with `dealbox resume`. This is no emergency stop.",
	.run = pause_run,
};

const struct command cmd_resume = {
	.name = "resume",
	.operands = "[JOB...]",
	.summary = "Go on with paused jobs of the service",
	.about = "Without JOB: all that are paused.",
	.run = resume_run,
};

static enum status cancel_run(struct args *args)
{
	/* nobody means all of them by saying nothing */
	if (args->argc < 2)
		return args_wrong(args, "it wants the number of a job");
	return change_run(args, "Cancel", "");
}

const struct command cmd_cancel = {
	.name = "cancel",
	.operands = "JOB...",
	.summary = "Cancel jobs of the service",
	.about = "A board that is being dealt is void: empty it. What is recorded stays recorded.",
	.run = cancel_run,
};

/* Skip or Redeal: of a job one board, and of that one copy. */
static enum status copy_run(struct args *args, const char *method)
{
	unsigned long job, board, copy = 1;
	sd_bus_error error = SD_BUS_ERROR_NULL;
	enum status status = STATUS_DONE;
	const char *value;
	char path[64];
	sd_bus *bus;
	int key, err;

	while ((key = args_next(args, &value)) >= 0)
		;
	if (key == ARGS_STOP)
		return args->status;
	if (args->argc < 2 || args->argc > 3)
		return args_wrong(args, "it wants a job and a board, and may have a copy");
	if (!args_number(args, "job", args->argv[0], 1, UINT32_MAX, &job) ||
	    !args_number(args, "board", args->argv[1], 1, BOARDS_MAX, &board) ||
	    (args->argc == 3 && !args_number(args, "copy", args->argv[2], 1, 9999, &copy)))
		return STATUS_INPUT;
	bus = service_open();
	if (!bus)
		return STATUS_MACHINE;
	snprintf(path, sizeof(path), "/io/dealbox1/job/%lu", job);
	err = sd_bus_call_method(bus, "io.dealbox1", path, "io.dealbox1.Job", method, &error, NULL, "uu",
				 (uint32_t)board, (uint32_t)copy);
	if (err < 0) {
		service_refused(&error, err);
		status = STATUS_INPUT;
	}
	sd_bus_error_free(&error);
	sd_bus_flush_close_unref(bus);
	return status;
}

static enum status skip_run(struct args *args)
{
	return copy_run(args, "Skip");
}

static enum status redeal_run(struct args *args)
{
	return copy_run(args, "Redeal");
}

const struct command cmd_skip = {
	.name = "skip",
	.operands = "JOB BOARD [COPY]",
	.summary = "Leave out a board of a job",
	.about = "The job goes on with the next board. Without COPY: copy 1. `dealbox redeal` takes\n"
		 "it back.",
	.run = skip_run,
};

const struct command cmd_redeal = {
	.name = "redeal",
	.operands = "JOB BOARD [COPY]",
	.summary = "Deal a board of a job again",
	.about = "What was recorded of that copy does not count any more; the record of it stays.\n"
		 "Without COPY: copy 1.",
	.run = redeal_run,
};
