// SPDX-License-Identifier: LGPL-2.1-or-later
/* dealbox event: one event on many PCs, whose copies are in one PostgreSQL database. */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pool/pool.h"
#include "ui/sealed.h"

#define LEASE_MINUTES	60
#define MARGIN_MINUTES	15
#define MINUTES_MAX	(7 * 24 * 60UL)

struct call {
	struct args *args;
	const char *database;
	unsigned long lease, margin;	/* minutes */
	bool json, yes;
	struct pool *pool;
};

/* Reports an error. */
static enum status refused(int err, const struct dealbox_error *error)
{
	static const struct {
		int err;
		enum status status;
	} outcomes[] = {
		{ -ETIMEDOUT, STATUS_MACHINE },
		{ -EIO, STATUS_MACHINE },
		{ -EBUSY, STATUS_NO },
		{ -EEXIST, STATUS_NO },
	};
	size_t n;

	complain(error->next, "%s", error->what);
	for (n = 0; n < sizeof(outcomes) / sizeof(outcomes[0]); n++)
		if (outcomes[n].err == err)
			return outcomes[n].status;
	return STATUS_INPUT;
}

/* Connects. Returns false after reporting an error: STATUS_MACHINE. */
static bool connect_event(struct call *call)
{
	struct dealbox_error error = { 0 };

	call->pool = pool_open(call->database, &error);
	if (!call->pool)
		complain(error.next, "%s", error.what);
	return call->pool;
}

/* ---- init --------------------------------------------------------------- */

/* Writes a new key to a file. */
static bool key_make(const char *path, uint8_t key[POOL_KEY])
{
	struct dealbox_random *random = random_start();
	char hex[2 * POOL_KEY + 2];
	bool good;

	if (!random)
		return false;
	dealbox_random_bytes(random, key, POOL_KEY);
	dealbox_random_free(random);
	sodium_bin2hex(hex, sizeof(hex) - 1, key, POOL_KEY);
	strcpy(hex + 2 * POOL_KEY, "\n");
	good = file_write(path, hex, sizeof(hex) - 1, FILE_SECRET, false);
	explicit_bzero(hex, sizeof(hex));
	return good;
}

static enum status init_run(struct call *call)
{
	const char *name = call->args->argv[1], *path = call->args->argv[2];
	struct pool_terms terms = {
		.name = name,
		.lease_s = (uint32_t)call->lease * 60,
		.margin_s = (uint32_t)call->margin * 60,
	};
	struct dealbox_error error = { 0 };
	enum status status = STATUS_DONE;
	struct json_object *object;
	int err;

	if (!*name || strlen(name) > 100)
		return args_wrong(call->args, "the name of an event has 1 to 100 bytes");
	/* the key first: without it on disk, the event could never take a deal */
	if (!key_make(path, terms.key))
		return STATUS_INPUT;
	if (!connect_event(call)) {
		status = STATUS_MACHINE;
	} else {
		err = pool_init(call->pool, &terms, &error);
		if (err)
			status = refused(err, &error);
	}
	explicit_bzero(&terms, sizeof(terms));
	if (status != STATUS_DONE) {
		unlink(path);
	} else if (call->json) {
		object = json_object_new_object();
		json_add_text(object, "event", name);
		json_add_text(object, "key", path);
		json_say(object);
	} else {
		say("%s has begun. %s is its key: keep it where only the director can get it, and "
		    "a copy elsewhere",
		    name, path);
	}
	return status;
}

/* ---- status ------------------------------------------------------------- */

struct lists {
	struct json_object *pcs, *jobs, *surplus;
};

static void pc_json(const struct pool_pc *pc, void *context)
{
	struct json_object *object = json_object_new_object();
	struct lists *lists = context;

	json_add_text(object, "pc", pc->name);
	json_add_text(object, "state", pc->state);
	json_add_number(object, "silent", (int64_t)pc->silent_s);
	json_add_number(object, "lease", (int64_t)pc->lease_s);
	json_add_number(object, "held", (int64_t)pc->held);
	json_add_number(object, "recorded", (int64_t)pc->recorded);
	json_add_number(object, "surplus", (int64_t)pc->surplus);
	json_object_object_add(object, "admitted", json_object_new_boolean(pc->admitted));
	json_object_array_add(lists->pcs, object);
}

static void job_json(const struct pool_job *job, void *context)
{
	struct json_object *object = json_object_new_object();
	struct lists *lists = context;

	json_add_number(object, "job", job->id);
	json_add_text(object, "session", job->session);
	json_add_number(object, "priority", job->priority);
	json_object_object_add(object, "open", json_object_new_boolean(job->open));
	json_add_number(object, "boards", (int64_t)job->boards);
	json_add_number(object, "copies", (int64_t)job->copies);
	json_add_number(object, "recorded", (int64_t)job->recorded);
	json_add_number(object, "held", (int64_t)job->held);
	json_object_array_add(lists->jobs, object);
}

static void surplus_json(const struct pool_surplus *surplus, void *context)
{
	struct json_object *object = json_object_new_object();
	struct lists *lists = context;

	json_add_number(object, "job", surplus->job);
	json_add_text(object, "session", surplus->session);
	json_add_number(object, "board", surplus->board);
	json_add_number(object, "copy", surplus->copy);
	json_add_text(object, "pc", surplus->pc);
	json_add_text(object, "machine", surplus->machine);
	json_add_number(object, "insertion", (int64_t)surplus->insertion);
	json_object_array_add(lists->surplus, object);
}

static void pc_say(const struct pool_pc *pc, void *context)
{
	(void)context;
	put("  %-20s %-4s  %" PRIu64 " recorded, %" PRIu64 " held", pc->name, pc->state,
	    pc->recorded, pc->held);
	if (pc->surplus)
		put(", %" PRIu64 " surplus", pc->surplus);
	if (!pc->admitted)
		put(", not admitted");
	put("; last heard of %" PRIu64 " min ago, lease %" PRIu64 " min\n", pc->silent_s / 60,
	    (pc->lease_s + 59) / 60);
}

static void job_say(const struct pool_job *job, void *context)
{
	(void)context;
	put("job %-6" PRIu32 " %" PRIu64 " of %" PRIu64 " recorded, %" PRIu64 " held  %s%s\n",
	    job->id, job->recorded, job->boards * job->copies, job->held, job->session,
	    job->open ? "" : ", closed");
}

static void surplus_say(const struct pool_surplus *surplus, void *context)
{
	(void)context;
	say("surplus: job %" PRIu32 ", board %" PRIu32 ", copy %" PRIu32
	    " of %s (machine %s, insertion %" PRIu64 "): take it out of play",
	    surplus->job, surplus->board, surplus->copy, surplus->pc, surplus->machine,
	    surplus->insertion);
}

static int status_print(struct call *call, struct dealbox_error *error)
{
	const struct pool_view view = { .pc = pc_say, .job = job_say, .surplus = surplus_say };
	struct pool_event event;
	int err = pool_get_event(call->pool, &event, error);

	if (err)
		return err;
	say("%s: lease %" PRIu32 " min, margin %" PRIu32 " min", event.name, event.lease_s / 60,
	    event.margin_s / 60);
	return pool_look(call->pool, &view, error);
}

static int status_json(struct call *call, struct dealbox_error *error)
{
	struct lists lists;
	const struct pool_view view = {
		.pc = pc_json, .job = job_json, .surplus = surplus_json, .context = &lists
	};
	struct json_object *object;
	struct pool_event event;
	int err = pool_get_event(call->pool, &event, error);

	if (err)
		return err;
	object = json_object_new_object();
	lists = (struct lists){ json_object_new_array(), json_object_new_array(),
				json_object_new_array() };
	json_add_text(object, "event", event.name);
	json_add_number(object, "lease", event.lease_s);
	json_add_number(object, "margin", event.margin_s);
	json_object_object_add(object, "pcs", lists.pcs);
	json_object_object_add(object, "jobs", lists.jobs);
	json_object_object_add(object, "surplus", lists.surplus);
	err = pool_look(call->pool, &view, error);
	if (err)
		json_object_put(object);
	else
		json_say(object);
	return err;
}

static enum status status_run(struct call *call)
{
	struct dealbox_error error = { 0 };
	int err;

	if (!connect_event(call))
		return STATUS_MACHINE;
	err = (call->json ? status_json : status_print)(call, &error);
	return err ? refused(err, &error) : STATUS_DONE;
}

/* ---- lost --------------------------------------------------------------- */

static enum status lost_run(struct call *call)
{
	const char *name = call->args->argv[1];
	struct dealbox_error error = { 0 };
	struct json_object *object;
	uint32_t opened;
	int err;

	if (!confirm(call->yes,
		     "Is %s lost? Others then deal its copies again, and what it has dealt "
		     "meanwhile is surplus",
		     name))
		return STATUS_NO;
	if (!connect_event(call))
		return STATUS_MACHINE;
	err = pool_lose(call->pool, name, &opened, &error);
	if (err)
		return refused(err, &error);
	if (call->json) {
		object = json_object_new_object();
		json_add_text(object, "lost", name);
		json_add_number(object, "opened", opened);
		json_say(object);
	} else {
		say("%s is lost; %" PRIu32 " copies are open again", name, opened);
	}
	return STATUS_DONE;
}

/* ---- the command -------------------------------------------------------- */

enum {
	KEY_LEASE = OPT_LONG,
	KEY_MARGIN,
};

static const struct action_row actions[] = {
	{ "init", 3, 3, "a name and a new file for the key", init_run },
	{ "status", 1, 1, "no operand", status_run },
	{ "lost", 2, 2, "the name of a PC", lost_run },
	{ 0 }
};

static enum status event_run(struct args *args)
{
	struct call call = {
		.args = args, .database = "", .lease = LEASE_MINUTES, .margin = MARGIN_MINUTES
	};
	const struct action_row *action;
	enum status status;
	const char *value;
	int key;

	while ((key = args_next(args, &value)) != ARGS_END) {
		switch (key) {
		case ARGS_STOP:
			return args->status;
		case 'd':
			call.database = value;
			break;
		case 'j':
			call.json = true;
			break;
		case 'y':
			call.yes = true;
			break;
		case KEY_LEASE:
			if (!args_number(args, "--lease", value, 1, MINUTES_MAX, &call.lease))
				return STATUS_INPUT;
			break;
		case KEY_MARGIN:
			if (!args_number(args, "--margin", value, 0, MINUTES_MAX, &call.margin))
				return STATUS_INPUT;
			break;
		}
	}
	action = args_action(args, actions);
	status = action ? action->run(&call) : STATUS_INPUT;
	pool_close(call.pool);
	return status;
}

static const struct option_row event_options[] = {
	{ 'd', "database", "ADDRESS",
	  "the event's database (default: as libpq's environment says)" },
	{ KEY_LEASE, "lease", "MINUTES",
	  "init: how long a PC may deal on without the server (default: 60)" },
	{ KEY_MARGIN, "margin", "MINUTES",
	  "init: how long a board may take that was begun then (default: 15)" },
	OPT_YES,
	OPT_JSON,
	{ 0 }
};

const struct command cmd_event = {
	.name = "event",
	.operands = "init|status|lost OPERAND...",
	.summary = "Deal one event on many PCs",
	.about = "The copies of an event are in a PostgreSQL database, from which its PCs take "
		 "them.\n"
		 "init NAME KEY: begin an event in a new database, and write its key to the new\n"
		 "file KEY. status: show PCs, jobs, and boards that were dealt once too often.\n"
		 "lost PC: say that this PC will not report what it holds; others deal it again.\n"
		 "docs/event.md is the guide for organisers.",
	.options = event_options,
	.run = event_run,
};
