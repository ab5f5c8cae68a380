// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "job.h"

static struct json_object *job_find(struct json_object *jobs, unsigned long number)
{
	for (size_t n = 0; n < json_object_array_length(jobs); n++) {
		struct json_object *job = json_object_array_get_idx(jobs, n);

		if (service_number(job, "id") == (int64_t)number)
			return job;
	}
	complain("`dealbox jobs` lists them", "the service has no job %lu", number);
	return NULL;
}

static bool properties_read(sd_bus *bus, struct print_job *out)
{
	struct json_object *jobs = service_objects(bus, "Job"), *job = NULL;

	if (jobs)
		job = job_find(jobs, out->number);
	if (job) {
		out->set = (uint64_t)service_number(job, "set");
		out->boards = (unsigned int)service_number(job, "boards");
		out->copies = (unsigned int)service_number(job, "copies");
		out->exact = (unsigned int)service_number(job, "recorded");
		snprintf(out->session, sizeof(out->session), "%s", service_text(job, "session"));
	}
	json_object_put(jobs);
	return job;
}

/*
 * An outcome in words. One of a later service is given by its name, as nothing else is known of it.
 */
static const char *outcome_text(const struct words *words, const char *name)
{
	static const char *const names[] = { "", "exact", "differs", "void", "unknown", "captured",
					     "revoked" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return words->outcomes[i];
	return name;
}

struct print_insertion *print_insertion_new(struct print_job *out)
{
	struct print_insertion *list;

	/* doubled at each power of two */
	if (!(out->count & (out->count - 1))) {
		list = realloc(out->insertions, (2 * out->count + 1) * sizeof(*list));
		if (!list)
			return NULL;
		out->insertions = list;
	}
	out->insertions[out->count] = (struct print_insertion){ 0 };
	return &out->insertions[out->count];
}

static int insertion_take(struct print_job *out, sd_bus_message *m)
{
	struct print_insertion *to = print_insertion_new(out);
	const char *machine, *outcome;
	int err;

	if (!to)
		return -ENOMEM;
	err = sd_bus_message_read(m, "(uusuxxs)", &to->board, &to->copy, &machine, &to->number,
				  &to->begun, &to->ended, &outcome);
	if (err <= 0)
		return err;
	snprintf(to->machine, sizeof(to->machine), "%s", machine);
	snprintf(to->outcome, sizeof(to->outcome), "%s", outcome);
	out->count++;
	return 1;
}

static bool receipt_read(sd_bus *bus, struct print_job *out)
{
	struct request r;
	const char *head;
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/io/dealbox1/job/%lu", out->number);
	err = request_new(&r, bus, path, "Job", "GetReceipt");
	if (err >= 0)
		err = request_ask(&r);
	if (err >= 0)
		err = sd_bus_message_read(r.reply, "xus", &out->added, &out->user, &head);
	if (err >= 0) {
		snprintf(out->head, sizeof(out->head), "%s", head);
		err = sd_bus_message_enter_container(r.reply, 'a', "(uusuxxs)");
	}
	while (err >= 0 && (err = insertion_take(out, r.reply)) > 0)
		;
	if (err < 0)
		service_refused(&r, err);
	request_end(&r);
	return err >= 0;
}

bool print_job_read(sd_bus *bus, unsigned long number, struct print_job *out)
{
	*out = (struct print_job){ .number = number };
	return properties_read(bus, out) && receipt_read(bus, out);
}

void print_job_free(struct print_job *job)
{
	free(job->insertions);
	job->insertions = NULL;
}

int print_job_deals(sd_bus *bus, uint64_t set)
{
	int fd = -1, err;
	struct request r;

	err = request_manager(&r, bus, "GetSet");
	if (err >= 0)
		err = sd_bus_message_append(r.call, "t", set);
	if (err >= 0)
		err = request_ask(&r);
	if (err >= 0)
		err = sd_bus_message_read(r.reply, "h", &fd);
	if (err >= 0) {
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		err = fd < 0 ? -errno : 0;
	}
	if (err < 0)
		service_refused(&r, err);
	request_end(&r);
	return err < 0 ? -1 : fd;
}

/*
 * Sets *found if the answer of GetSets has the set as played, without open jobs. Returns 0 or
 * -errno.
 */
static int set_played(sd_bus_message *reply, uint64_t wanted, bool *found)
{
	int err = sd_bus_message_enter_container(reply, 'a', "(txsubu)"), played;
	uint32_t boards, open;
	uint64_t number;
	const char *session;
	int64_t added;

	while (err >= 0 && (err = sd_bus_message_read(reply, "(txsubu)", &number, &added, &session,
						      &boards, &played, &open)) > 0)
		if (number == wanted && played && !open)
			*found = true;
	return err;
}

bool print_job_is_played(sd_bus *bus, const struct print_job *job)
{
	bool found = false;
	char next[96];
	struct request r;
	int err;

	err = request_manager(&r, bus, "GetSets");
	if (err >= 0)
		err = request_send(&r);
	if (err >= 0)
		err = set_played(r.reply, job->set, &found);
	if (err < 0)
		service_refused(&r, err);
	request_end(&r);
	if (err < 0 || found)
		return found;
	snprintf(next, sizeof(next),
		 "after the session, close its jobs and run `dealbox set played %llu`",
		 (unsigned long long)job->set);
	complain(next,
		 "the set of job %lu is not marked as played, "
		 "or has open jobs; no statistics were made",
		 job->number);
	return false;
}

static const char *time_text(int64_t at, char text[32])
{
	const time_t seconds = at / 1000000;
	struct tm local;

	if (!at || !localtime_r(&seconds, &local) ||
	    !strftime(text, 32, "%Y-%m-%d %H:%M:%S", &local))
		strcpy(text, "—");
	return text;
}

static const char *user_text(uint32_t user, char text[64])
{
	const struct passwd *entry = user < DEALBOX_UID_UNKNOWN ? getpwuid(user) : NULL;

	if (entry)
		snprintf(text, 64, "%s", entry->pw_name);
	else if (user < DEALBOX_UID_UNKNOWN)
		snprintf(text, 64, "%u", user);
	else
		strcpy(text, "—");
	return text;
}

void print_job_receipt(struct rows *rows, const struct print_job *job, const struct words *words)
{
	/* dates are on one line */
	static const unsigned char shares[] = { 12, 13, 26, 26, 18, 14, 16 };
	char time[32], user[64];

	rows->shares = shares;
	rows_begin(rows, ROW_HEADING);
	time_text(job->added, time);
	rows_cell(rows, words->added, job->number, user_text(job->user, user), time);
	rows_begin(rows, ROW_NAMES);
	rows_cell(rows, "%s", words->board);
	rows_cell(rows, "%s", words->copy);
	rows_cell(rows, "%s", words->begun);
	rows_cell(rows, "%s", words->ended);
	rows_cell(rows, "%s", words->machine);
	rows_cell(rows, "%s", words->insertion);
	rows_cell(rows, "%s", words->outcome);
	for (size_t i = 0; i < job->count; i++) {
		const struct print_insertion *insertion = &job->insertions[i];

		rows_begin(rows, ROW_CELLS);
		rows_cell(rows, "%u", insertion->board);
		rows_cell(rows, "%u", insertion->copy);
		rows_cell(rows, "%s", time_text(insertion->begun, time));
		rows_cell(rows, "%s", time_text(insertion->ended, time));
		rows_cell(rows, "%s", insertion->machine);
		rows_cell(rows, "%u", insertion->number);
		rows_cell(rows, "%s", outcome_text(words, insertion->outcome));
	}
}

void print_job_footer(const struct print_job *job, const struct words *words, char text[JOB_FOOTER])
{
	const unsigned int all = job->boards * job->copies;
	char count[48];

	if (all && job->exact == all)
		snprintf(count, sizeof(count), "%u × %u", job->boards, job->copies);
	else if (all)
		snprintf(count, sizeof(count), "%u / %u", job->exact, all);
	else
		snprintf(count, sizeof(count), "%u", job->exact);
	snprintf(text, JOB_FOOTER, "%s %s, %s %s", count, words->outcomes[DEALBOX_LEDGER_EXACT],
		 words->head, job->head);
}
