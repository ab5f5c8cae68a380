// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox status, watch: what the operator does at each machine.
 */
#include <errno.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/law.h>

#include "service/service-objects.h"
#include "ui/operator-say.h"
#include "ui/ruling-text.h"

static const struct option_row status_options[] = {
	OPT_JSON,
	OPT_LANG,
	{ 0 }
};

/*
 * Parse --json, and --lang for people. Returns false if the command should exit with args->status.
 */
static bool options_parse(struct args *args, bool *json, const char **language)
{
	const char *value;
	int key;

	while ((key = args_next(args, &value)) >= 0) {
		*json |= key == 'j';
		if (key != KEY_LANG)
			continue;
		*language = ruling_text_language(value);
		args->status = STATUS_INPUT;
		if (!*language)
			return false;
	}
	if (key == ARGS_STOP)
		return false;
	if (args->argc)
		args->status = args_wrong(args, "it takes no operand: '%s'", args->argv[0]);
	return !args->argc;
}

/* Which of two same cards was misread, as the service names it in Facts. */
static const struct {
	const char *suspect, *message;
} suspects[] = {
	{ "earlier", N_("Probably the earlier card was misread (%lld %% of such cases): "
			"replace it.") },
	{ "reader", N_("Probably the card at the reader was misread (%lld %% of such cases): "
		       "replace it.") },
	{ "deck", N_("Probably both are right, and one is of another deck (%lld %% of such "
		     "cases).") },
};

/*
 * The service has its diagnosis in English only. What it says beside the instruction is of two same
 * cards, and is made from the facts.
 */
static void diagnosis_print(struct json_object *m, const char *language)
{
	struct json_object *facts = NULL;
	size_t n;

	if (!language || !strcmp(language, "en")) {
		if (*service_text(m, "diagnosis"))
			put("  the last stop: %s\n", service_text(m, "diagnosis"));
		return;
	}
	json_object_object_get_ex(m, "facts", &facts);
	for (n = 0; facts && n < sizeof(suspects) / sizeof(suspects[0]); n++) {
		if (strcmp(service_text(facts, "suspect"), suspects[n].suspect))
			continue;
		put("  ");
		put(dealbox_law_translate(language, suspects[n].message),
		    (long long)service_number(facts, "chance"));
		put("\n");
	}
}

static void machine_print(struct json_object *m, const char *language)
{
	char text[2048];

	service_instruction(m, language, text, sizeof(text));
	put("%s: %s\n  %s\n", service_text(m, "id"), service_text(m, "state"), text);
	if (service_number(m, "dealing"))
		put(dealbox_law_translate(language,
					  N_("  job %lld, board %lld, copy %lld: card %lld\n")),
		    (long long)service_number(m, "job"), (long long)service_number(m, "board"),
		    (long long)service_number(m, "copy"), (long long)service_number(m, "cards"));
	diagnosis_print(m, language);
}

static enum status status_run(struct args *args)
{
	struct json_object *machines = NULL;
	const char *language = NULL;
	bool json = false;
	sd_bus *bus;
	size_t n, count;

	if (!options_parse(args, &json, &language))
		return args->status;
	bus = service_open();
	if (bus)
		machines = service_objects(bus, "Machine");
	sd_bus_flush_close_unref(bus);
	if (!machines)
		return STATUS_MACHINE;
	count = json_object_array_length(machines);
	if (json) {
		service_say(machines, "machine");
	} else {
		for (n = 0; n < count; n++)
			machine_print(json_object_array_get_idx(machines, n), language);
		json_object_put(machines);
	}
	if (count)
		return STATUS_DONE;
	complain("plug one in; `dealbox machines` also shows machines that the service cannot use",
		 "the service has seen no machine");
	return STATUS_NO;
}

const struct command cmd_status = {
	.name = "status",
	.operands = "",
	.summary = "Show what to do at each machine of the service",
	.about = "For each machine: its state, what the operator is to do, and what is being\n"
		 "dealt. The exit status is 1 if the service has seen no machine.",
	.options = status_options,
	.run = status_run,
};

/* ---- watch ---------------------------------------------------------------- */

/* The last output for each machine. */
struct shown {
	char path[256];
	char state[64];
	int64_t board, copy;
};

struct watch {
	bool json;
	const char *language;
	struct shown *shown;
	size_t count;
};

static struct shown *shown_find(struct watch *watch, const char *path)
{
	struct shown *grown;
	size_t n;

	for (n = 0; n < watch->count; n++)
		if (!strcmp(watch->shown[n].path, path))
			return &watch->shown[n];
	grown = realloc(watch->shown, (watch->count + 1) * sizeof(*grown));
	if (!grown)
		abort();
	watch->shown = grown;
	memset(&grown[watch->count], 0, sizeof(*grown));
	snprintf(grown[watch->count].path, sizeof(grown->path), "%s", path);
	return &grown[watch->count++];
}

static void machine_show(struct watch *watch, struct json_object *m)
{
	struct shown *shown = shown_find(watch, service_text(m, "path"));
	enum dealbox_operator_state state = operator_state(service_text(m, "state"));
	char text[2048];

	progress(dealbox_law_translate(watch->language,
				       N_("%s: board %lld, copy %lld: card %lld")),
		 service_text(m, "id"), (long long)service_number(m, "board"),
		 (long long)service_number(m, "copy"),
		 (long long)service_number(m, "cards"));
	if (!strcmp(shown->state, service_text(m, "state")) &&
	    shown->board == service_number(m, "board") && shown->copy == service_number(m, "copy"))
		return;
	snprintf(shown->state, sizeof(shown->state), "%s", service_text(m, "state"));
	shown->board = service_number(m, "board");
	shown->copy = service_number(m, "copy");
	if (watch->json) {
		service_object_say(m, "machine");
		return;
	}
	service_instruction(m, watch->language, text, sizeof(text));
	say_in(operator_calls(state) ? TONE_CALL : TONE_PLAIN, "%s: %s: %s", service_text(m, "id"),
	       service_text(m, "state"), text);
	if (operator_calls(state))
		bell();
}

/* False when the service has gone. */
static bool show_all(struct watch *watch, sd_bus *bus)
{
	struct json_object *machines = service_objects(bus, "Machine");
	size_t n;

	for (n = 0; machines && n < json_object_array_length(machines); n++)
		machine_show(watch, json_object_array_get_idx(machines, n));
	json_object_put(machines);
	return machines;
}

static int on_change(sd_bus_message *m, void *context, sd_bus_error *error)
{
	(void)m;
	(void)error;
	*(bool *)context = true;
	return 0;
}

static enum status watch_run(struct args *args)
{
	struct watch watch = { 0 };
	bool changed = true, alive = true;
	sd_bus *bus;
	int err;

	if (!options_parse(args, &watch.json, &watch.language))
		return args->status;
	bus = service_open();
	if (!bus)
		return STATUS_MACHINE;
	/* whatever the service says: then what there is now is looked up */
	err = sd_bus_match_signal(bus, NULL, "io.dealbox1", NULL, NULL, NULL, on_change, &changed);
	if (err >= 0)
		err = sd_bus_match_signal(bus, NULL, "org.freedesktop.DBus", NULL, NULL,
					  "NameOwnerChanged", on_change, &changed);
	while (err >= 0 && alive) {
		if (changed) {
			changed = false;
			alive = sd_bus_get_name_creds(bus, "io.dealbox1", 0, NULL) >= 0 &&
				show_all(&watch, bus);
		}
		err = sd_bus_process(bus, NULL);
		if (!err && !changed)
			err = sd_bus_wait(bus, UINT64_MAX);
		if (err == -EINTR)
			err = 0;
	}
	complain("`journalctl -u dealboxd` shows why", "the service dealboxd has ended");
	free(watch.shown);
	sd_bus_flush_close_unref(bus);
	return STATUS_MACHINE;
}

static const struct option_row watch_options[] = {
	OPT_JSON,
	OPT_LANG,
	OPT_PLAIN,
	{ 0 }
};

const struct command cmd_watch = {
	.name = "watch",
	.operands = "",
	.summary = "Show each change at the machines of the service",
	.about = "A line whenever the instruction at a machine changes, until the command is\n"
		 "interrupted or the service ends. On a terminal, the last line counts the cards.",
	.options = watch_options,
	.run = watch_run,
};
