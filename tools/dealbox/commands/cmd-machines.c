// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox machines: which there are, what they can, and how they stand.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include <dealbox/machine.h>

#include "ui/tool.h"

/* The meaning of a bit; in JSON the word before the first space. */
struct word {
	uint32_t bit;
	const char *word;
};

static const struct word capabilities[] = {
	{ DEALBOX_CAP_STORED_PLAN, "stored-plan" },
	{ DEALBOX_CAP_HOST_ROUTED, "host-routed" },
	{ DEALBOX_CAP_EXIT_SENSORS, "exit-sensors" },
	{ DEALBOX_CAP_BOARD_READER, "board-reader" },
	{ DEALBOX_CAP_BOARD_LOCK, "board-lock" },
	{ DEALBOX_CAP_FACE_SENSOR, "face-sensor" },
	{ DEALBOX_CAP_DOUBLE_FEED_SENSOR, "double-feed-sensor" },
	{ DEALBOX_CAP_TEST_DEAL, "test-deal" },
	{ DEALBOX_CAP_KEYS, "keys" },
	{ DEALBOX_CAP_BY_CARD, "by-card" },
	{ DEALBOX_CAP_BY_POSITION, "by-position" },
	{ DEALBOX_CAP_CAPTURE, "capture" },
	{ DEALBOX_CAP_REFUSES_BY_RESULT, "refuses-by-result" },
	{ DEALBOX_CAP_ATTEST, "attest" },
	{ 0 }
};

static const struct word status_flags[] = {
	{ DEALBOX_STATUS_BOARD, "board-present" },
	{ DEALBOX_STATUS_COVER_OPEN, "cover-open" },
	{ DEALBOX_STATUS_HOPPER, "cards-in-hopper" },
	{ DEALBOX_STATUS_SPENT, "board-dealt" },
	{ DEALBOX_STATUS_IN_DOUBT, "board-in-doubt" },
	{ DEALBOX_STATUS_CARD_AT_READER, "card-at-reader" },
	{ 0 }
};

static const char *const readers[] = { "none", "bar code", "camera", "other" };

static const char *reader_name(uint8_t reader)
{
	return reader < sizeof(readers) / sizeof(*readers) ? readers[reader] : "unknown";
}

struct versions {
	char protocol[8], firmware[16];
};

static void versions_of(const struct dealbox_info *info, struct versions *out)
{
	snprintf(out->protocol, sizeof(out->protocol), "%u.%u", info->protocol >> 8 & 0xff,
		 info->protocol & 0xff);
	snprintf(out->firmware, sizeof(out->firmware), "%u.%u.%u", info->firmware >> 24,
		 info->firmware >> 16 & 0xff, info->firmware & 0xffff);
}

/* One machine, with what could be learnt. */
struct found {
	const char *uri, *serial, *port, *model;
	struct dealbox_info info;
	struct dealbox_status status;
	struct dealbox_counters counters;
	struct dealbox_error reason;	/* what: empty when it could be asked */
};

static void ask(struct found *found)
{
	struct dealbox_machine *machine;

	if (dealbox_machine_open(found->uri, DEALBOX_MACHINE_OBSERVE, &machine, &found->reason))
		return;
	if (dealbox_machine_get_info(machine, &found->info) ||
	    dealbox_machine_get_status(machine, &found->status) ||
	    dealbox_machine_get_counters(machine, &found->counters))
		found->reason = *dealbox_machine_error(machine);
	dealbox_machine_close(machine);
}

static struct json_object *words_json(const struct word *words, uint32_t bits)
{
	struct json_object *list = json_object_new_array();

	for (; words->bit; words++)
		if (bits & words->bit)
			json_object_array_add(list, json_object_new_string(words->word));
	return list;
}

static struct json_object *counters_json(const struct dealbox_counters *counters)
{
	static const char *const names[] = {
		"boards_dealt", "boards_voided", "cards_fed", "cards_read", "unreadable",
		"repeated", "not_in_plan", "double_feeds", "feed_timeouts", "jams", "wrong_pockets",
		"gates_late", "gates_ignored", "power_ons", "powered_s",
	};
	struct json_object *object = json_object_new_object();
	uint32_t numbers[sizeof(*counters) / sizeof(uint32_t)];
	size_t n;

	memcpy(numbers, counters, sizeof(numbers));
	for (n = 0; n < sizeof(names) / sizeof(*names); n++)
		json_add_number(object, names[n], numbers[n]);
	return object;
}

static void found_json(const struct found *found)
{
	struct json_object *object = json_line("machine");
	const struct dealbox_info *info = &found->info;
	struct versions versions;

	json_add_text(object, "uri", found->uri);
	json_add_text(object, "serial", *found->serial ? found->serial : info->serial);
	json_add_text(object, "port", found->port);
	if (*found->reason.what) {
		json_add_text(object, "model", found->model);
		json_add_text(object, "error", found->reason.what);
		json_add_text(object, "next", found->reason.next);
		json_say(object);
		return;
	}
	json_add_text(object, "model", *info->model ? info->model : found->model);
	versions_of(info, &versions);
	json_add_text(object, "protocol", versions.protocol);
	json_add_text(object, "firmware", versions.firmware);
	json_add_number(object, "hardware", info->hardware);
	json_object_object_add(object, "capabilities",
			       words_json(capabilities, info->capabilities));
	json_add_known(object, "gate_deadline_us", info->gate_deadline_us);
	json_add_text(object, "reader", reader_name(info->reader));
	json_add_number(object, "pocket_count", info->pockets);
	json_add_number(object, "pocket_capacity", info->pocket_capacity);
	json_add_number(object, "hopper_capacity", info->hopper);
	json_add_number(object, "plan_entries", info->plan_entries);
	json_add_text(object, "state", dealbox_state_name(found->status.state));
	if (found->status.fault)
		json_add_text(object, "fault", dealbox_event_name(found->status.fault));
	json_object_object_add(object, "status", words_json(status_flags, found->status.flags));
	json_add_known(object, "insertion", found->status.insertion);
	json_add_known(object, "board", found->status.board);
	json_add_known(object, "owner_pid", found->status.owner_pid);
	json_object_object_add(object, "counters", counters_json(&found->counters));
	json_say(object);
}

static void words_print(const char *label, const struct word *words, uint32_t bits)
{
	bool first = true;

	put("  %-10s", label);
	for (; words->bit; words++) {
		if (!(bits & words->bit))
			continue;
		put("%s%s", first ? "" : ", ", words->word);
		first = false;
	}
	putchar('\n');
}

static void found_print(const struct found *found)
{
	const struct dealbox_info *info = &found->info;
	const struct dealbox_status *status = &found->status;
	struct versions versions;

	put("%s\n", found->uri);
	put("  %-10s%s%s%s%s%s\n", "model", *info->model ? info->model : found->model,
	    *found->serial || *info->serial ? ", serial number " : "",
	    *found->serial ? found->serial : info->serial,
	    *found->port ? ", at port " : "", found->port);
	if (*found->reason.what) {
		put("  %-10s%s\n", "problem", found->reason.what);
		if (*found->reason.next)
			put("  %-10s%s\n", "", found->reason.next);
		return;
	}
	versions_of(info, &versions);
	put("  %-10sprotocol %s, firmware %s, hardware %u\n", "version", versions.protocol,
	    versions.firmware, info->hardware);
	put("  %-10s%u pockets of %u cards, hopper of %u cards, reader: %s\n", "has",
	    info->pockets, info->pocket_capacity, info->hopper, reader_name(info->reader));
	words_print("can", capabilities, info->capabilities);
	put("  %-10s%s%s%s", "state", dealbox_state_name(status->state),
	    status->fault ? ": " : "", status->fault ? dealbox_event_name(status->fault) : "");
	if (status->insertion)
		put(", insertion %u", status->insertion);
	if (status->board)
		put(", board %u", status->board);
	if (status->claimed == DEALBOX_CLAIMED_BY_OTHER && status->owner_pid)
		put(", in use by process %u", status->owner_pid);
	else if (status->claimed == DEALBOX_CLAIMED_BY_OTHER)
		put(", in use by another process");
	putchar('\n');
	words_print("", status_flags, status->flags);
	put("  %-10s%u boards dealt, %u void, %u cards, %u unreadable, %u repeated, %u jams\n",
	    "life", found->counters.boards_dealt, found->counters.boards_voided,
	    found->counters.cards_fed, found->counters.unreadable, found->counters.repeated,
	    found->counters.jams);
}

/* Asks the machine and shows it. */
static enum status show(struct found *found, bool json)
{
	ask(found);
	if (json)
		found_json(found);
	else
		found_print(found);
	return *found->reason.what ? STATUS_MACHINE : STATUS_DONE;
}

static enum status show_named(struct args *args, bool json)
{
	enum status worst = STATUS_DONE, one;
	int n;

	for (n = 0; n < args->argc; n++) {
		struct found found = { .uri = args->argv[n], .serial = "", .port = "",
				       .model = "" };

		one = show(&found, json);
		if (one > worst)
			worst = one;
	}
	return worst;
}

static enum status show_all(bool json)
{
	struct dealbox_machine_list *list;
	struct dealbox_machine *none;
	struct dealbox_error reason;
	size_t count, n;

	if (dealbox_machine_list_new(NULL, &list, &reason)) {
		complain(reason.next, "%s", reason.what);
		return STATUS_MACHINE;
	}
	count = dealbox_machine_list_count(list);
	for (n = 0; n < count; n++) {
		struct found found = {
			.uri = dealbox_machine_list_uri(list, n),
			.serial = dealbox_machine_list_serial(list, n),
			.port = dealbox_machine_list_port(list, n),
			.model = dealbox_machine_list_model(list, n),
		};

		show(&found, json);
	}
	dealbox_machine_list_free(list);
	if (count)
		return STATUS_DONE;
	/* opening "the only one" knows why there is none */
	if (dealbox_machine_open(NULL, DEALBOX_MACHINE_OBSERVE, &none, &reason))
		complain(reason.next, "%s", reason.what);
	else
		dealbox_machine_close(none);
	return STATUS_NO;
}

static enum status machines_run(struct args *args)
{
	const char *value;
	bool json = false;
	int key;

	while ((key = args_next(args, &value)) >= 0)
		json |= key == 'j';
	if (key == ARGS_STOP)
		return args->status;
	return args->argc ? show_named(args, json) : show_all(json);
}

static const struct option_row machines_options[] = {
	OPT_JSON,
	{ 0 }
};

const struct command cmd_machines = {
	.name = "machines",
	.operands = "[URI...]",
	.summary = "List the machines, their capabilities and their state",
	.about = "Without URI: all that are plugged in, with or without the kernel module. The\n"
		 "socket of an emulator must be named (emu:PATH).\n"
		 "The exit status is 1 if there is no machine.",
	.options = machines_options,
	.run = machines_run,
};
