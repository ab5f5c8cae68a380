// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sets are passed as files. Signals, properties and errors never contain a card.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/set.h>
#include <dealbox/version.h>

#include "bus-job.h"
#include "bus-machine.h"
#include "bus-manager.h"
#include "bus-reply.h"
#include "bus-reveal.h"
#include "bus-set.h"
#include "call-queue.h"
#include "ledger/job-options.h"
#include "log.h"
#include "panel.h"
#include "stations.h"
#include "dealing/strv.h"
#include "service-ledger.h"

#define SETS_MAX	10000		/* in a reply */
#define ABSENT_MAX	8		/* log messages about missing ones */

/* ---- sets -------------------------------------------------------------------- */

static int add_set(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct dealbox_ledger_board *boards = NULL;
	const char *session, *pack;
	size_t count = 0;
	uint64_t number;
	int fd, err;

	err = sd_bus_message_read(m, "hss", &fd, &session, &pack);
	if (err >= 0 && !is_name(session))
		err = sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS,
				       "the name of a session must have 1 to "
				       "127 bytes, and no control characters");
	if (err >= 0)
		err = read_boards(fd, pack, &boards, &count, error);
	if (err >= 0)
		err = may_ask(m, s, count, error);
	if (err >= 0) {
		dealbox_ledger_user(s->ledger, sender_person(m));
		err = dealbox_ledger_add_set(s->ledger, session, boards, count, &number, NULL);
		err = err ? ledger_error(s, err, error) :
			    sd_bus_reply_method_return(m, "tu", number, (uint32_t)count);
	}
	boards_free(boards, count);
	return err;
}
METHOD(add_set, "deal")

static int append_set(uint64_t set, void *context)
{
	int err = append_number(context, 't', set);

	return err < 0 ? err : 0;
}

/* Find the sets of the ledger with these deals, for any session. Adds nothing. */
static int find_sets(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct dealbox_ledger_board *boards = NULL;
	sd_bus_message *reply = NULL;
	const char *pack;
	size_t count = 0;
	int fd, err;

	err = sd_bus_message_read(m, "hs", &fd, &pack);
	if (err >= 0)
		err = read_boards(fd, pack, &boards, &count, error);
	if (err >= 0)
		err = may_ask(m, s, count, error);
	if (err >= 0)
		err = sd_bus_message_new_method_return(m, &reply);
	if (err >= 0)
		err = sd_bus_message_open_container(reply, 'a', "t");
	if (err >= 0 && dealbox_ledger_find_sets(s->ledger, boards, count, append_set, reply))
		err = ledger_error(s, -EIO, error);
	boards_free(boards, count);
	if (err >= 0)
		err = sd_bus_message_close_container(reply);
	return send_reply(reply, err);
}
METHOD(find_sets, "deal")

struct listed_sets {
	sd_bus_message *reply;
	unsigned int count;
};

static int list_set(const struct dealbox_ledger_set *set, void *context)
{
	struct listed_sets *listed = context;
	int err;

	if (listed->count++ == SETS_MAX)
		return -E2BIG;
	err = sd_bus_message_append(listed->reply, "(txsubu)", set->set, set->at_us, set->session,
				    set->boards, set->played, set->open);
	return err < 0 ? err : 0;
}

/* List the last sets of the ledger, newest first. */
static int get_sets(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct listed_sets listed = { 0 };
	int err = sd_bus_message_new_method_return(m, &listed.reply), read;

	if (err >= 0)
		err = sd_bus_message_open_container(listed.reply, 'a', "(txsubu)");
	if (err >= 0) {
		read = dealbox_ledger_sets(s->ledger, 0, list_set, &listed);
		err = read && read != -E2BIG ? ledger_error(s, -EIO, error) :
		      sd_bus_message_close_container(listed.reply);
	}
	return send_reply(listed.reply, err);
}
METHOD(get_sets, "deal")

/*
 * Record that everybody has played a set, so that its deals are no secret, or that this was wrong.
 */
static int set_played(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct dealbox_ledger_act act = { 0 };
	uint64_t number;
	int played, err = sd_bus_message_read(m, "tb", &number, &played);

	if (err < 0)
		return err;
	if (!number || number > INT64_MAX)
		return sd_bus_error_setf(error, ERROR("NotFound"), "there is no set %llu",
					 (unsigned long long)number);
	act.act = played ? DEALBOX_ACT_PLAYED : DEALBOX_ACT_UNPLAYED;
	act.value = (int64_t)number;
	err = record_act(s, m, &act, error);
	return err < 0 ? err : sd_bus_reply_method_return(m, "");
}
METHOD(set_played, "reveal")

/* List the boards of a set of the ledger. */
static int set_boards(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	sd_bus_message *reply = NULL;
	unsigned int *numbers;
	uint64_t number;
	size_t count, n;
	int err;

	err = sd_bus_message_read(m, "t", &number);
	if (err < 0)
		return err;
	err = service_ledger_boards(s, number, &numbers, &count);
	if (err == -ENOENT)
		return sd_bus_error_setf(error, ERROR("NotFound"), "there is no set %llu",
					 (unsigned long long)number);
	if (err)
		return ledger_error(s, err, error);
	err = sd_bus_message_new_method_return(m, &reply);
	if (err >= 0)
		err = sd_bus_message_open_container(reply, 'a', "u");
	for (n = 0; err >= 0 && n < count; n++)
		err = append_number(reply, 'u', numbers[n]);
	free(numbers);
	if (err >= 0)
		err = sd_bus_message_close_container(reply);
	return send_reply(reply, err);
}
METHOD(set_boards, "deal")

/* ---- jobs -------------------------------------------------------------------- */

/* Options of a job */
struct wishes {
	unsigned int options;
	int priority;
	char **machines;	/* NULL = any machine */
};

/* Returns 0, or a negative value with *error set. The caller frees machines in any case. */
static int read_wishes(sd_bus_message *m, struct wishes *wishes, sd_bus_error *error)
{
	const char *name;
	size_t n;
	int err, on;

	err = sd_bus_message_enter_container(m, 'a', "{sv}");
	while (err >= 0 && (err = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		err = sd_bus_message_read(m, "s", &name);
		if (err < 0)
			break;
		for (n = 0; job_options[n].asked; n++)
			if (!strcmp(name, job_options[n].name))
				break;
		if (job_options[n].asked) {
			err = sd_bus_message_read(m, "v", "b", &on);
			if (err >= 0 && on)
				wishes->options |= job_options[n].bit;
		} else if (!strcmp(name, "priority")) {
			err = sd_bus_message_read(m, "v", "i", &wishes->priority);
		} else if (!strcmp(name, "machines")) {
			strv_free(wishes->machines);
			wishes->machines = NULL;
			err = sd_bus_message_enter_container(m, 'v', "as");
			if (err >= 0)
				err = sd_bus_message_read_strv(m, &wishes->machines);
			if (err >= 0)
				err = sd_bus_message_exit_container(m);
		} else {
			return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
						 "there is no option '%s'", name);
		}
		if (err >= 0)
			err = sd_bus_message_exit_container(m);
	}
	return err < 0 ? sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS,
					  "an option has the wrong type") :
	       check_machines(wishes->machines, error);
}

/*
 * Return the oldest job that is done or cancelled, or NULL. One of an event stays, because its
 * boards may be reported later.
 */
static struct job *oldest_over(const struct service *s)
{
	struct job *job, *over = NULL;

	for (job = s->jobs.first; job; job = job->next)
		if ((job_done(job) || job->state == DEALBOX_LEDGER_JOB_CANCELLED) &&
		    !(job->options & JOB_EVENT) &&
		    (!over || job->id < over->id))
			over = job;
	return over;
}

/* Make room for another job or more copies by dropping jobs that are over. False if that fails. */
static bool make_room(struct service *s, unsigned int more, size_t boards, size_t names)
{
	char path[JOB_PATH];
	struct job *over;

	while (!jobs_room(&s->jobs, more, boards, names)) {
		over = oldest_over(s);
		if (!over)
			return false;
		job_path(over->id, path);
		sd_bus_emit_object_removed(s->bus, path);
		jobs_remove(&s->jobs, over);
	}
	return true;
}

/* Log which machines of the job are missing. The job waits for them. */
static void tell_absent(const struct service *s, const struct job *job)
{
	const struct station *st;
	unsigned int said = 0;
	size_t n;

	for (n = 0; job->machines && job->machines[n] && said < ABSENT_MAX; n++) {
		st = stations_find(s, job->machines[n]);
		if (st && st->dealing.machine)
			continue;
		log_message(MESSAGE_JOB, st ? st->id : NULL, &(struct copy){ job->id, 0, 0 },
			    "job %llu is for "
			    "the machine %s, which is not connected now",
			    (unsigned long long)job->id, job->machines[n]);
		said++;
	}
}

/* Record the job, start it, and reply with its object path. */
static int begin_job(sd_bus_message *m, struct service *s, uint64_t set, const uint32_t *boards,
		     size_t size, uint32_t copies, const struct wishes *wishes,
		     sd_bus_error *error)
{
	struct dealbox_ledger_new_job new_job;
	unsigned int *numbers;
	struct job *job;
	char path[JOB_PATH];
	size_t n, names = 0;
	uint64_t id;
	int err;

	size /= sizeof(*boards);
	if (!size || size > DEALBOX_BOARD_DEALT_MAX)
		return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS,
					 "a job must have 1 to %d boards", DEALBOX_BOARD_DEALT_MAX);
	for (n = 0; wishes->machines && wishes->machines[n]; n++)
		names += strlen(wishes->machines[n]) + 1;
	if (!make_room(s, 1, size, names))
		return sd_bus_error_set(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
					"there are too many jobs, or too "
					"large ones: finish or cancel some");
	numbers = calloc(size, sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	for (n = 0; n < size; n++)
		numbers[n] = boards[n];
	dealbox_ledger_user(s->ledger, sender_person(m));
	new_job = (struct dealbox_ledger_new_job){
		.set = set, .boards = numbers, .count = size, .copies = copies,
		.options = wishes->options, .priority = wishes->priority,
		.machines = (const char *const *)wishes->machines,
	};
	err = dealbox_ledger_add_job(s->ledger, &new_job, &id, NULL);
	free(numbers);
	if (err)
		return ledger_error(s, err, error);
	job = service_ledger_load(s, id);
	if (!job)
		return sd_bus_error_set(error, ERROR("Ledger"),
					"the job is recorded, and will be dealt "
					"after a restart of the service");
	log_message(MESSAGE_JOB, NULL, &(struct copy){ id, 0, 0 }, "job %llu: %zu boards",
		    (unsigned long long)id, size);
	tell_absent(s, job);
	job_path(id, path);
	sd_bus_emit_object_added(s->bus, path);
	return sd_bus_reply_method_return(m, "o", path);
}

static int add_job(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct wishes wishes = { 0 };
	const uint32_t *boards;
	uint32_t copies;
	uint64_t set;
	size_t size;
	int err;

	err = sd_bus_message_read(m, "t", &set);
	if (err >= 0)
		err = sd_bus_message_read_array(m, 'u', (const void **)&boards, &size);
	if (err >= 0)
		err = sd_bus_message_read(m, "u", &copies);
	if (err >= 0)
		err = read_wishes(m, &wishes, error);
	if (err >= 0)
		err = begin_job(m, s, set, boards, size, copies, &wishes, error);
	strv_free(wishes.machines);
	return err;
}
METHOD(add_job, "deal")

/* A capture reads boards that were dealt by hand, pocket by pocket. */
static int add_capture(sd_bus_message *m, struct service *s, sd_bus_error *error)
{
	struct wishes wishes = { 0 };
	const uint32_t *boards;
	size_t size;
	int err = sd_bus_message_read_array(m, 'u', (const void **)&boards, &size);

	if (err >= 0)
		err = read_wishes(m, &wishes, error);
	if (err >= 0 && wishes.options)
		err = sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS,
				       "a capture accepts only the "
				       "options machines and priority");
	wishes.options |= DEALBOX_JOB_CAPTURE;
	if (err >= 0)
		err = begin_job(m, s, 0, boards, size, DEALBOX_HANDS, &wishes, error);
	strv_free(wishes.machines);
	return err;
}
METHOD(add_capture, "deal")

/* ---- the service ---------------------------------------------------------------- */

METHOD(reveal_set, to_reveal_set(m, context))
METHOD(reveal_traces, "reveal")

static int get_version(sd_bus *bus, const char *path, const char *interface, const char *property,
		       sd_bus_message *reply, void *context, sd_bus_error *error)
{
	(void)bus;
	(void)path;
	(void)interface;
	(void)property;
	(void)context;
	(void)error;
	return sd_bus_message_append(reply, "s", DEALBOX_VERSION);
}

static int get_panel(sd_bus *bus, const char *path, const char *interface, const char *property,
		     sd_bus_message *reply, void *context, sd_bus_error *error)
{
	(void)bus;
	(void)path;
	(void)interface;
	(void)property;
	(void)error;
	return sd_bus_message_append(reply, "s", panel_state(context));
}

const sd_bus_vtable manager_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Version", "s", get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Panel", "s", get_panel, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_METHOD_WITH_NAMES("AddSet", "hss",
				 SD_BUS_PARAM(file) SD_BUS_PARAM(session) SD_BUS_PARAM(pack), "tu",
				 SD_BUS_PARAM(set) SD_BUS_PARAM(boards), add_set_call,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("AddJob", "tauua{sv}",
				 SD_BUS_PARAM(set) SD_BUS_PARAM(boards) SD_BUS_PARAM(copies)
				 SD_BUS_PARAM(options), "o", SD_BUS_PARAM(job), add_job_call,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("AddCapture", "aua{sv}", SD_BUS_PARAM(boards)
				 SD_BUS_PARAM(options), "o", SD_BUS_PARAM(job), add_capture_call,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("FindSets", "hs", SD_BUS_PARAM(file) SD_BUS_PARAM(pack), "at",
				 SD_BUS_PARAM(sets), find_sets_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetBoards", "t", SD_BUS_PARAM(set), "au", SD_BUS_PARAM(boards),
				 set_boards_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetSets", "", , "a(txsubu)", SD_BUS_PARAM(sets), get_sets_call,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("SetPlayed", "tb", SD_BUS_PARAM(set) SD_BUS_PARAM(played), "", ,
				 set_played_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetSet", "t", SD_BUS_PARAM(set), "h", SD_BUS_PARAM(file),
				 reveal_set_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetTraces", "tu", SD_BUS_PARAM(job) SD_BUS_PARAM(board),
				 "hss" "a(uusuuu)", SD_BUS_PARAM(events) SD_BUS_PARAM(how)
				 SD_BUS_PARAM(pockets) SD_BUS_PARAM(insertions),
				 reveal_traces_call, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("Stop", "", "", stop_all, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END
};

void manager_panel_changed(struct service *s)
{
	sd_bus_emit_properties_changed(s->bus, ROOT, "io.dealbox1.Manager", "Panel", NULL);
}
