// SPDX-License-Identifier: LGPL-2.1-or-later
/* dealbox set: the sets of the service. */
#include <json-c/json.h>
#include <stdio.h>
#include <time.h>

#include "service/request.h"
#include "service/service-objects.h"
#include "service/set-add.h"
#include "ui/sealed.h"
#include "ui/set-to-deal.h"

#define KEY_SECRET	OPT_LONG

struct call {
	struct args *args;
	const char *session;
	bool json;
	bool secret;
};

static enum status add(struct call *call)
{
	struct dealbox_set *set = NULL;
	char today[SESSION_TODAY];
	struct json_object *object;
	uint64_t number = 0;
	enum status status;
	sd_bus *bus;

	if (call->json)
		set_to_deal_problems_as_json();
	if (call->secret && !sealed_secret_first())
		return STATUS_INPUT;
	status = set_to_deal_read(call->args->argv + 1, call->args->argc - 1, false,
				  "nothing was added", &set);
	sealed_secret_forget();
	if (status && call->json && sealed_secret_refused()) {
		object = json_line("refusal");
		json_add_text(object, "reason", "secret");
		json_say(object);
	}
	if (status)
		return status;
	bus = service_open();
	status = !bus ? STATUS_MACHINE :
		 set_add(bus, set, call->session ? call->session : session_today(today), &number);
	if (status == STATUS_DONE && call->json) {
		object = json_line("set");
		json_add_number(object, "set", (int64_t)number);
		json_say(object);
	} else if (status == STATUS_DONE) {
		say("%llu", (unsigned long long)number);
	}
	sd_bus_flush_close_unref(bus);
	dealbox_set_free(set);
	return status;
}

/* ---- list ---------------------------------------------------------------- */

struct set {
	uint64_t number;
	int64_t added;		/* microseconds since 1970, UTC */
	const char *session;
	uint32_t boards, open;
	int played;
};

static void set_say(const struct call *call, const struct set *set)
{
	const time_t seconds = set->added / 1000000;
	struct json_object *object;
	char added[32] = "?", open[32] = "";
	struct tm local;

	if (call->json) {
		object = json_line("set");
		json_add_number(object, "set", (int64_t)set->number);
		json_add_number(object, "added_us", set->added);
		json_add_text(object, "session", set->session);
		json_add_number(object, "boards", set->boards);
		json_add_bool(object, "played", set->played);
		json_add_number(object, "open_jobs", set->open);
		json_say(object);
		return;
	}
	if (localtime_r(&seconds, &local))
		strftime(added, sizeof(added), "%Y-%m-%d %H:%M", &local);
	if (set->open)
		snprintf(open, sizeof(open), ", open jobs: %u", set->open);
	say("%llu: %s, session %s, %u boards, %s%s", (unsigned long long)set->number, added,
	    set->session, set->boards, set->played ? "played" : "not played", open);
}

static int sets_say(const struct call *call, sd_bus_message *reply)
{
	int err = sd_bus_message_enter_container(reply, 'a', "(txsubu)");
	struct set set;

	while (err >= 0 &&
	       (err = sd_bus_message_read(reply, "(txsubu)", &set.number, &set.added, &set.session,
					  &set.boards, &set.played, &set.open)) > 0)
		set_say(call, &set);
	return err;
}

static enum status list(struct call *call)
{
	sd_bus *bus = service_open();
	enum status status = STATUS_DONE;
	struct request r;
	int err;

	if (!bus)
		return STATUS_MACHINE;
	err = request_manager(&r, bus, "GetSets");
	if (err >= 0)
		err = request_send(&r);
	if (err >= 0)
		err = sets_say(call, r.reply);
	if (err < 0)
		status = service_error(&r, err);
	request_end(&r);
	sd_bus_flush_close_unref(bus);
	return status;
}

/* ---- played -------------------------------------------------------------- */

static enum status mark(struct call *call, bool played)
{
	enum status status = STATUS_DONE;
	unsigned long number;
	struct request r;
	sd_bus *bus;
	int err;

	if (!args_number(call->args, "set", call->args->argv[1], 1, INT32_MAX, &number))
		return STATUS_INPUT;
	bus = service_open();
	if (!bus)
		return STATUS_MACHINE;
	err = request_manager(&r, bus, "SetPlayed");
	if (err >= 0)
		err = sd_bus_message_append(r.call, "tb", (uint64_t)number, played);
	if (err >= 0)
		err = request_ask(&r);
	if (err < 0)
		status = service_error(&r, err);
	else if (!call->json)
		say(played ? "set %lu is marked as played" : "set %lu is marked as not played",
		    number);
	request_end(&r);
	sd_bus_flush_close_unref(bus);
	return status;
}

static enum status played(struct call *call)
{
	return mark(call, true);
}

static enum status unplayed(struct call *call)
{
	return mark(call, false);
}

static const struct action_row actions[] = {
	{ "add", 2, INT32_MAX, "files, or - for standard input", add },
	{ "list", 1, 1, "nothing else", list },
	{ "played", 2, 2, "the number of a set", played },
	{ "unplayed", 2, 2, "the number of a set", unplayed },
	{ 0 }
};

static const struct option_row set_options[] = {
	{ 's', "session", "NAME", "with add: the session that the set is for (default: the date)" },
	OPT_KEY,
	{ KEY_SECRET, "secret-first", NULL, "with add -: the first line is the secret of the "
					    "sealed file that follows" },
	OPT_JSON,
	{ 0 }
};

static enum status set_run(struct args *args)
{
	struct call call = { .args = args };
	const struct action_row *action;
	const char *value;
	int key;

	while ((key = args_next(args, &value)) >= 0) {
		if (key == 's')
			call.session = value;
		else if (key == 'k')
			sealed_use_key(value);
		else if (key == KEY_SECRET)
			call.secret = true;
		else
			call.json = true;
	}
	if (key == ARGS_STOP)
		return args->status;
	action = args_action(args, actions);
	return action ? action->run(&call) : STATUS_INPUT;
}

const struct command cmd_set = {
	.name = "set",
	.operands = "add FILE... | list | played SET | unplayed SET",
	.summary = "Give sets to the service, list them, mark them as played",
	.about = "add reads deal files of any format (- is standard input), checks them, and adds\n"
		 "their boards to the ledger of the service as one set. Prints the number of the\n"
		 "set; `dealbox deal --set` deals it. The same deals for the same session are\n"
		 "the same set. A sealed file is opened in memory, by the key or by a passphrase\n"
		 "that is asked for. --secret-first is for programs that hand over both: a line\n"
		 "with the passphrase, or with the key as its file has it, comes first. With\n"
		 "--json, the problems of a file are on standard output as those of `dealbox\n"
		 "check` are; a line of kind \"refusal\" says that the passphrase or the key is\n"
		 "wrong.\n"
		 "list shows the sets of the service, newest first. played says that\n"
		 "everybody has played a set: whoever may deal may then print its hand records,\n"
		 "unless a job of it is open, or another set with one of the same deals is still\n"
		 "to be played. The service asks polkit whether you may see cards, and records\n"
		 "it. unplayed takes a mistake back.",
	.options = set_options,
	.run = set_run,
};
