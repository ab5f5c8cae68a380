// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox capture with the service. A job reads the board, pocket by pocket, and makes a set of the
 * ledger. The file is written only if this user may see the cards. Copies can be dealt without it
 * (`dealbox deal --set`).
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/format.h>

#include "dealing/capture.h"
#include "job-watch.h"
#include "ui/ruling-text.h"

static const struct job_watch_kind capturing = {
	.again = N_("`dealbox capture --resume FILE` continues it")
};

static enum status capture_add(struct job_watch *f, const struct capture_options *options)
{
	enum status status = STATUS_DONE;
	struct request r;
	int err = request_manager(&r, f->bus, "AddCapture");

	if (err >= 0)
		err = sd_bus_message_append(r.call, "au", 1, (uint32_t)options->board);
	if (err >= 0)
		err = sd_bus_message_open_container(r.call, 'a', "{sv}");
	if (err >= 0)
		err = wanted_append(r.call, &options->wanted);
	if (err >= 0)
		err = sd_bus_message_close_container(r.call);
	if (err >= 0)
		err = job_watch_new(f, &r);
	if (err < 0)
		status = service_error(&r, err);
	request_end(&r);
	return status;
}

/* Find the last capture, which was interrupted, or has not written its file yet. */
static enum status capture_find(struct job_watch *f)
{
	struct json_object *job, *last = NULL;
	size_t n;

	for (n = 0; n < json_object_array_length(f->jobs); n++) {
		job = json_object_array_get_idx(f->jobs, n);
		if (service_captures(job) && strcmp(service_text(job, "state"), "cancelled") &&
		    service_number(job, "id") > service_number(last, "id"))
			last = job;
	}
	if (!last) {
		complain("capture without --resume", "the service has no capture to resume");
		return STATUS_INPUT;
	}
	snprintf(f->path, sizeof(f->path), "%s", service_text(last, "path"));
	return strcmp(service_text(last, "state"), "paused") ? STATUS_DONE :
	       service_call(f->bus, f->path, "Job", "Resume", "");
}

/* Make a set of the ledger of the captured board. */
static enum status set_make(struct job_watch *f, uint64_t *number)
{
	enum status status = STATUS_DONE;
	char session[SESSION_TODAY];
	uint32_t boards;
	struct request r;
	int err = request_new(&r, f->bus, f->path, "Job", "MakeSet");

	if (err >= 0)
		err = sd_bus_message_append(r.call, "s", session_today(session));
	if (err >= 0)
		err = request_send(&r);
	if (err >= 0)
		err = sd_bus_message_read(r.reply, "tu", number, &boards);
	if (err < 0 && sd_bus_error_has_name(&r.error, "io.dealbox1.Error.BadSet")) {
		complain("put 13 cards into each pocket, and capture the board again",
			 "nothing was written: %s", r.error.message);
		status = STATUS_NO;
	} else if (err < 0) {
		status = service_error(&r, err);
	}
	request_end(&r);
	return status;
}

static enum status set_read(int fd, struct dealbox_set **set)
{
	int err;

	*set = dealbox_set_new(NULL);
	err = !*set ? -ENOMEM :
	      dealbox_format_read_fd(dealbox_format_find("pbn"), fd, "set.pbn", *set, NULL, NULL);
	if (!err && dealbox_set_count(*set))
		return STATUS_DONE;
	complain(err == -ENOMEM ? "free some memory" : "capture the board again",
		 "the service has returned a deal that cannot be read");
	return STATUS_INPUT;
}

/* Get the deals of the set, if this user may see them. Otherwise copies can still be dealt. */
static enum status set_get(struct job_watch *f, uint64_t number, const char *file,
			   struct dealbox_set **set)
{
	enum status status;
	struct request r;
	char next[160];
	int err = request_manager(&r, f->bus, "GetSet"), fd;

	if (err >= 0)
		err = sd_bus_message_append(r.call, "t", number);
	if (err >= 0)
		err = request_ask(&r);
	if (err >= 0)
		err = sd_bus_message_read(r.reply, "h", &fd);
	if (err >= 0) {
		status = set_read(fd, set);
	} else if (sd_bus_error_has_name(&r.error, SD_BUS_ERROR_ACCESS_DENIED)) {
		snprintf(next, sizeof(next), "`dealbox deal --set %llu --copies N` makes exact "
					     "copies all the same; root writes the file by "
					     "`dealbox capture --resume FILE`",
					     (unsigned long long)number);
		complain(next, "the board is read, as set %llu of the service; but this user may "
			       "not see its cards, and %s was not written",
			       (unsigned long long)number, file);
		status = STATUS_INPUT;
	} else {
		status = service_error(&r, err);
	}
	request_end(&r);
	return status;
}

static enum status capture_follow(struct job_watch *f, const struct capture_options *options)
{
	struct dealbox_set *set = NULL;
	enum status status;
	uint64_t number = 0;

	status = job_watch_open(f);
	if (status == STATUS_DONE && !options->resume &&
	    !wanted_there(&options->wanted, f->machines))
		status = STATUS_MACHINE;
	if (status == STATUS_DONE)
		status = options->resume ? capture_find(f) : capture_add(f, options);
	if (status == STATUS_DONE)
		status = job_watch_run(f);
	if (status == STATUS_DONE)
		status = set_make(f, &number);
	if (status == STATUS_DONE)
		status = set_get(f, number, options->file, &set);
	if (status == STATUS_DONE)
		status = capture_write(set, options->file);
	dealbox_set_free(set);
	return status;
}

enum status capture_by_service(sd_bus *bus, const struct capture_options *options)
{
	struct job_watch f = { .kind = &capturing, .bus = bus, .language = options->language };
	enum status status = capture_follow(&f, options);

	job_watch_close(&f);
	return status;
}
