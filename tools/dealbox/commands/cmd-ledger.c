// SPDX-License-Identifier: LGPL-2.1-or-later
/* dealbox ledger: shows, checks and copies the record of what was dealt. */
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <dealbox/law.h>
#include <dealbox/ledger.h>
#include <dealbox/machine.h>

#include "ledger/job-options.h"
#include "service/restore.h"
#include "service/service-objects.h"
#include "ui/tracefile.h"

struct call {
	struct args *args;
	struct dealbox_ledger *ledger;
	const char *path;
	const char *head;
	const char *board;
	bool json;
	bool found;
};

static const char *const job_states[] = { "open", "paused", "cancelled", "done" };
static const char *const copy_states[] = { "open", "being dealt", "recorded", "skipped" };

/* For people, and for programs as the service has them */
static const struct {
	unsigned int bit;
	const char *word, *name;
} options[] = {
	{ DEALBOX_JOB_REPLAY, "replay", "replay" },
	{ DEALBOX_JOB_SETS, "sets in a row", "sets-in-a-row" },
	{ DEALBOX_JOB_DESCENDING, "descending", "descending" },
	{ DEALBOX_JOB_BY_READER, "by board reader", "by-reader" },
	{ DEALBOX_JOB_AUTO_START, "automatic start", "automatic-start" },
	{ DEALBOX_JOB_STOP_CARD, "stop card", "stop-card" },
	{ DEALBOX_JOB_REVERSED, "reversed pockets", "reversed-pockets" },
	{ DEALBOX_JOB_CAPTURE, "capture", "capture" },
	{ DEALBOX_JOB_BY_POSITION, "by position", "by-position" },
	{ JOB_EVENT, "of an event", "event" },
	{ 0 }
};

#define LAW_TEXT	64

/* Returns NULL if the job has no law, or one that this program does not know. */
static const struct dealbox_ruleset *job_rules(const struct dealbox_ledger_job *job)
{
	return job->law ? dealbox_ruleset_get(job->law - 1) : NULL;
}

/* Writes the law of a job that has one: "rubber, E deals"; else "". */
static const char *law_text(const struct dealbox_ledger_job *job, char text[LAW_TEXT])
{
	const struct dealbox_ruleset *rules = job_rules(job);

	*text = '\0';
	if (job->law)
		snprintf(text, LAW_TEXT, "%s, %s deals", rules ? rules->name : "unknown law",
			 dealbox_actor_name(job->dealer));
	return text;
}

static const char *outcome_text(enum dealbox_ledger_outcome outcome)
{
	return outcome ? dealbox_ledger_outcome_name(outcome) : "no verdict";
}

static void time_text(int64_t at, char text[32])
{
	time_t seconds = at / 1000000;
	struct tm local;

	if (!at || !localtime_r(&seconds, &local) ||
	    !strftime(text, 32, "%Y-%m-%d %H:%M:%S", &local))
		strcpy(text, "-");
}

/* Returns true if this user may not read the ledger. Its key is for the service alone. */
static bool ledger_closed(const struct call *call)
{
	char key[PATH_MAX];

	snprintf(key, sizeof(key), "%s.key", call->path);
	return access(key, R_OK) && errno == EACCES;
}

/* Reports an error of the library, and the next step. */
static enum status refused(struct call *call, int err)
{
	static const struct {
		int err;
		const char *next;
	} advice[] = {
		{ -ENOENT, "--ledger FILE names another one; "
			   "dealboxd makes its own when it starts" },
		{ -EACCES, "run it as root, or as a user of the group dealbox" },
		{ -ENOKEY, "put the key file back from where it is kept" },
		{ -EUCLEAN, "`dealbox ledger verify` says what is damaged; "
			    "docs/ledger.md how to go on" },
		{ 0 }
	};
	const char *next = NULL;
	size_t n;

	for (n = 0; advice[n].err; n++)
		if (advice[n].err == err)
			next = advice[n].next;
	if (ledger_closed(call))
		next = "`dealbox jobs JOB` prints what was dealt, by the service, for members of "
		       "the group dealbox; the ledger itself is for root";
	complain(next, "%s", dealbox_ledger_error(call->ledger)->what);
	return err == -EUCLEAN ? STATUS_NO : STATUS_INPUT;
}

/* ---- list ---------------------------------------------------------------- */

static int machine_add(const char *machine, void *context)
{
	json_object_array_add(context, json_object_new_string(machine));
	return 0;
}

static int job_print(const struct dealbox_ledger_job *job, void *context)
{
	struct call *call = context;
	unsigned int wanted = job->copies * job->boards, n;
	const struct dealbox_ruleset *rules = job_rules(job);
	struct json_object *object, *list, *machines;
	char at[32], of[16] = "", law[LAW_TEXT];
	int err;

	call->found = true;
	machines = json_object_new_array();
	err = dealbox_ledger_machines(call->ledger, job->job, machine_add, machines);
	if (err) {
		json_object_put(machines);
		return err;
	}
	if (!call->json) {
		time_text(job->at_us, at);
		if (wanted)
			snprintf(of, sizeof(of), " of %u", wanted);
		put("job %-6llu %s  %-9s  %u%s recorded, %u void  %s", (unsigned long long)job->job,
		    at, job_states[job->state], job->recorded, of, job->voided, job->session);
		for (n = 0; options[n].bit; n++)
			if (job->options & options[n].bit)
				put(", %s", options[n].word);
		if (*law_text(job, law))
			put(", %s", law);
		for (n = 0; n < json_object_array_length(machines); n++)
			put("%s%s", n ? ", " : ", on ",
			    json_object_get_string(json_object_array_get_idx(machines, n)));
		putchar('\n');
		json_object_put(machines);
		return 0;
	}
	object = json_line("job");
	json_add_number(object, "job", job->job);
	json_add_known(object, "set", job->set);
	json_add_number(object, "at_us", job->at_us);
	json_add_text(object, "session", job->session);
	json_add_text(object, "state", job_states[job->state]);
	json_add_number(object, "boards", job->boards);
	json_add_number(object, "copies", job->copies);
	json_add_number(object, "priority", job->priority);
	json_add_number(object, "recorded", job->recorded);
	json_add_number(object, "voids", job->voided);
	list = json_object_new_array();
	for (n = 0; options[n].bit; n++)
		if (job->options & options[n].bit)
			json_object_array_add(list, json_object_new_string(options[n].name));
	if (job->law)
		json_object_array_add(list, json_object_new_string("by-law"));
	json_object_object_add(object, "options", list);
	if (rules) {
		json_add_text(object, "law", rules->name);
		json_add_text(object, "dealer", dealbox_actor_name(job->dealer));
	}
	json_object_object_add(object, "machines", machines);
	json_say(object);
	return 0;
}

static enum status list_run(struct call *call)
{
	int err = dealbox_ledger_jobs(call->ledger, 0, job_print, call);

	return err ? refused(call, err) : STATUS_DONE;
}

/* ---- show ---------------------------------------------------------------- */

static int copy_print(const struct dealbox_ledger_copy *copy, void *context)
{
	struct call *call = context;
	struct json_object *object;

	if (!call->json) {
		put("  board %-4u copy %-4u %s%s", copy->board, copy->copy,
		    copy_states[copy->state], copy->tries > 1 ? "" : "\n");
		if (copy->tries > 1)
			put(", %u insertions\n", copy->tries);
		return 0;
	}
	object = json_line("copy");
	json_add_number(object, "board", copy->board);
	json_add_number(object, "copy", copy->copy);
	json_add_text(object, "state", copy_states[copy->state]);
	json_add_number(object, "insertions", copy->tries);
	json_say(object);
	return 0;
}

static int insertion_print(const struct dealbox_ledger_insertion *i, void *context)
{
	struct call *call = context;
	struct dealbox_ledger_field field;
	struct json_object *object;
	unsigned int n;
	char at[32];

	if (!call->json) {
		time_text(i->begun_us, at);
		put("  %s  board %u, copy %u: insertion %u of machine %s: %s", at, i->board,
		    i->copy, i->number, i->machine, outcome_text(i->outcome));
		if (i->reason)
			put(" (%s)", dealbox_event_name(i->reason));
		if (i->differences)
			put(" in %u cards", i->differences);
		putchar('\n');
		return 0;
	}
	object = json_line("insertion");
	json_add_number(object, "record_id", i->id);
	for (n = 0; dealbox_ledger_get_field(i, n, &field); n++)
		if (field.text)
			json_add_text(object, field.name, field.text);
		else if (i->outcome || field.number)
			json_add_number(object, field.name, field.number);
	json_say(object);
	return 0;
}

static enum status show_run(struct call *call)
{
	unsigned long job;
	int err;

	if (!args_number(call->args, "job", call->args->argv[1], 1, UINT32_MAX, &job))
		return STATUS_INPUT;
	err = dealbox_ledger_jobs(call->ledger, job, job_print, call);
	if (!err && !call->found) {
		complain("`dealbox ledger list` shows them", "there is no job %lu", job);
		return STATUS_INPUT;
	}
	if (!err)
		err = dealbox_ledger_copies(call->ledger, job, copy_print, call);
	if (!err)
		err = dealbox_ledger_insertions(call->ledger, job, false, insertion_print, call);
	return err ? refused(call, err) : STATUS_DONE;
}

/* ---- verify, export, backup ---------------------------------------------- */

static void damage_print(const char *sentence, void *context)
{
	struct call *call = context;
	struct json_object *object;

	if (!call->json) {
		complain(NULL, "%s", sentence);
		return;
	}
	object = json_line("damage");
	json_add_text(object, "text", sentence);
	json_say(object);
}

static enum status verify_run(struct call *call)
{
	struct dealbox_ledger_head head, wanted;
	struct json_object *object;
	uint64_t records = 0;
	char text[DEALBOX_LEDGER_HEAD_TEXT] = "";
	int err;

	if (call->head && dealbox_ledger_head_parse(call->head, &wanted))
		return args_wrong(call->args, "--head needs what an earlier verify "
				  "printed, NUMBER:HASH");
	err = dealbox_ledger_verify(call->ledger, call->head ? &wanted : NULL, damage_print, call,
				    &records);
	if (err)
		return refused(call, err);
	if (!dealbox_ledger_get_head(call->ledger, &head))
		dealbox_ledger_head_format(&head, text);
	if (call->json) {
		object = json_line("summary");
		json_add_number(object, "records", records);
		json_add_text(object, "head", text);
		json_say(object);
	} else {
		say("the ledger is sound: %llu records, head %s", (unsigned long long)records,
		    text);
	}
	return STATUS_DONE;
}

static enum status export_run(struct call *call)
{
	int err = dealbox_ledger_export(call->ledger, stdout);

	return err ? refused(call, err) : STATUS_DONE;
}

static enum status backup_run(struct call *call)
{
	int err = dealbox_ledger_backup(call->ledger, call->args->argv[1]);

	if (err)
		return refused(call, err);
	if (!call->json)
		say("%s is a copy of the ledger; keep %s.key elsewhere: "
		    "without it the copy is useless",
		    call->args->argv[1], call->path);
	return STATUS_DONE;
}

/* ---- accept-restore --------------------------------------------------------- */

static enum status accept_run(struct call *call)
{
	unsigned int boards;
	int err;

	err = dealbox_ledger_open(call->ledger, call->path, DEALBOX_LEDGER_WRITE);
	if (!err) {
		complain("nothing was changed",
			 "%s is not older than its last known state: there is nothing to accept",
			 call->path);
		return STATUS_NO;
	}
	if (err != -ESTALE)
		return refused(call, err);
	complain(NULL, "%s", dealbox_ledger_error(call->ledger)->what);
	dealbox_ledger_free(call->ledger);
	call->ledger = dealbox_ledger_new();
	if (!call->ledger)
		return STATUS_INPUT;
	err = dealbox_ledger_open(call->ledger, call->path,
				  DEALBOX_LEDGER_WRITE | DEALBOX_LEDGER_RESTORED);
	if (!err)
		err = dealbox_ledger_accept_restore(call->ledger, user_logged_in(), &boards);
	if (err)
		return refused(call, err);
	restored_say(boards);
	return STATUS_DONE;
}

/* ---- traces: only the service may write down who has seen cards ------------ */

static bool event_read(int fd, struct dealbox_event *event)
{
	size_t done = 0;
	ssize_t got;

	while (done < sizeof(*event)) {
		got = read(fd, (char *)event + done, sizeof(*event) - done);
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

/* One insertion into the file: 1; 0: there is no more; or -errno. */
static int trace_write(sd_bus_message *reply, int fd, enum tracefile_how how, const char *pockets,
		       FILE *file)
{
	uint32_t board, copy, insertion, plan, count, n;
	struct dealbox_event event;
	const char *machine;
	int err;

	err = sd_bus_message_read(reply, "(uusuuu)", &board, &copy, &machine, &insertion, &plan,
				  &count);
	if (err <= 0)
		return err;
	tracefile_begin(file, board, copy, insertion, plan, how, pockets);
	for (n = 0; n < count && event_read(fd, &event); n++)
		tracefile_event(file, &event);
	explicit_bzero(&event, sizeof(event));
	return n < count ? -EIO : 1;
}

static enum status traces_save(struct call *call, sd_bus_message *reply)
{
	const char *path = call->args->argv[2], *word, *pockets;
	enum tracefile_how how;
	unsigned int insertions = 0;
	FILE *file;
	int fd, err;
	bool good;

	err = sd_bus_message_read(reply, "hss", &fd, &word, &pockets);
	if (err >= 0 && !tracefile_how_parse(word, &how))
		err = -EBADMSG;
	if (err >= 0)
		err = sd_bus_message_enter_container(reply, 'a', "(uusuuu)");
	if (err >= 0 && sd_bus_message_at_end(reply, 0) > 0) {
		complain("`dealbox ledger show` lists the insertions and their outcomes",
			 "nothing of it was dealt");
		return STATUS_INPUT;
	}
	file = err < 0 ? NULL : tracefile_create(path, false);
	if (err >= 0 && !file)
		return STATUS_INPUT;
	while (err >= 0 && (err = trace_write(reply, fd, how, pockets, file)) > 0)
		insertions++;
	if (err < 0)
		complain(NULL, "cannot read the answer of the service: %s", strerror(-err));
	good = err >= 0 && tracefile_end(file);
	if (file && fclose(file) && good) {
		complain(NULL, "cannot write %s: %m", path);
		good = false;
	}
	/* half of it is of no use */
	if (file && !good)
		unlink(path);
	if (good)
		say("%s has the traces of %u insertions, which reveal their deals", path,
		    insertions);
	return good ? STATUS_DONE : STATUS_INPUT;
}

static enum status traces_run(struct call *call)
{
	unsigned long job, board = 0;
	enum status status;
	struct request r;
	sd_bus *bus;
	int err;

	if (!args_number(call->args, "job", call->args->argv[1], 1, UINT32_MAX, &job) ||
	    (call->board && !args_number(call->args, "board", call->board, 1,
					 DEALBOX_BOARD_DEALT_MAX, &board)))
		return STATUS_INPUT;
	bus = service_open();
	if (!bus)
		return STATUS_MACHINE;
	err = request_manager(&r, bus, "GetTraces");
	if (err >= 0)
		err = sd_bus_message_append(r.call, "tu", (uint64_t)job, (uint32_t)board);
	if (err >= 0)
		err = request_ask(&r);
	status = err < 0 ? service_error(&r, err) : traces_save(call, r.reply);
	request_end(&r);
	sd_bus_flush_close_unref(bus);
	return status;
}

/* ---- statistics -------------------------------------------------------------- */

struct month {
	const char *name;
	uint32_t boards, deals, failed, late;
};

/* Misread cards: number and failed readings. */
static int cards_read(sd_bus_message *reply, struct json_object *to)
{
	struct json_object *one;
	uint32_t card, failed;
	int err = sd_bus_message_enter_container(reply, 'a', "(uu)");

	while (err >= 0 && (err = sd_bus_message_read(reply, "(uu)", &card, &failed)) > 0) {
		one = json_object_new_object();
		json_add_number(one, "card", card);
		json_add_number(one, "failed", failed);
		json_object_array_add(to, one);
	}
	return err < 0 ? err : sd_bus_message_exit_container(reply);
}

static int gates_read(sd_bus_message *reply, struct json_object *to)
{
	uint32_t pocket, routed, wrong, stuck;
	struct json_object *one;
	int err = sd_bus_message_enter_container(reply, 'a', "(uuuu)");

	while (err >= 0 &&
	       (err = sd_bus_message_read(reply, "(uuuu)", &pocket, &routed, &wrong, &stuck)) > 0) {
		one = json_object_new_object();
		json_add_number(one, "pocket", pocket);
		json_add_number(one, "routed", routed);
		json_add_number(one, "wrong", wrong);
		json_add_number(one, "stuck", stuck);
		json_object_array_add(to, one);
	}
	return err < 0 ? err : sd_bus_message_exit_container(reply);
}

static void month_say(const struct call *call, const struct month *month, struct json_object *cards,
		      struct json_object *gates)
{
	struct json_object *object;
	size_t n;

	if (call->json) {
		object = json_line("month");
		json_add_text(object, "month", month->name);
		json_add_number(object, "boards", month->boards);
		json_add_number(object, "deals", month->deals);
		json_add_number(object, "failed", month->failed);
		json_add_number(object, "late", month->late);
		json_object_object_add(object, "misread_cards", json_object_get(cards));
		json_object_object_add(object, "gates", json_object_get(gates));
		json_say(object);
		return;
	}
	say("%s  %u boards, %u readings failed, %u gate commands were late", month->name,
	    month->boards, month->failed, month->late);
	for (n = 0; n < json_object_array_length(cards); n++) {
		object = json_object_array_get_idx(cards, n);
		say("  card %s: %lld readings failed",
		    dealbox_card_name((unsigned int)service_number(object, "card")),
		    (long long)service_number(object, "failed"));
	}
	for (n = 0; n < json_object_array_length(gates); n++) {
		object = json_object_array_get_idx(gates, n);
		say("  pocket %lld: %lld cards, %lld fell elsewhere, %lld stuck",
		    (long long)service_number(object, "pocket"),
		    (long long)service_number(object, "routed"),
		    (long long)service_number(object, "wrong"),
		    (long long)service_number(object, "stuck"));
	}
}

static int months_say(struct call *call, sd_bus_message *reply)
{
	struct json_object *cards, *gates;
	struct month month;
	int err = sd_bus_message_enter_container(reply, 'a', "(suuuua(uu)a(uuuu))");

	while (err >= 0 &&
	       (err = sd_bus_message_enter_container(reply, 'r', "suuuua(uu)a(uuuu)")) > 0) {
		cards = json_object_new_array();
		gates = json_object_new_array();
		err = sd_bus_message_read(reply, "suuuu", &month.name, &month.boards, &month.deals,
					  &month.failed, &month.late);
		if (err >= 0)
			err = cards_read(reply, cards);
		if (err >= 0)
			err = gates_read(reply, gates);
		if (err >= 0)
			month_say(call, &month, cards, gates);
		json_object_put(cards);
		json_object_put(gates);
		call->found = true;
		if (err >= 0)
			err = sd_bus_message_exit_container(reply);
	}
	return err;
}

/* The service makes them: the ledger is its own, and the traces are sealed. */
static enum status statistics_run(struct call *call)
{
	const char *id = call->args->argv[1];
	struct json_object *machines = NULL, *machine = NULL;
	enum status status = STATUS_DONE;
	sd_bus *bus = service_open();
	struct request r = { 0 };
	int err;

	if (bus)
		machines = service_objects(bus, "Machine");
	if (machines)
		machine = service_machine(machines, id);
	if (machine) {
		err = request_new(&r, bus, service_text(machine, "path"), "Machine",
				  "GetStatistics");
		if (err >= 0)
			err = request_ask(&r);
		if (err >= 0)
			err = months_say(call, r.reply);
		if (err < 0)
			status = service_error(&r, err);
		else if (!call->found && !call->json)
			say("no month of %s can be shown yet: it must be over, "
			    "and have eight deals",
			    id);
		request_end(&r);
	} else {
		status = machines ? STATUS_INPUT : STATUS_MACHINE;
	}
	json_object_put(machines);
	sd_bus_flush_close_unref(bus);
	return status;
}

static const struct action_row actions[] = {
	{ "list", 1, 1, "nothing more", list_run },
	{ "show", 2, 2, "the number of a job", show_run },
	{ "traces", 3, 3, "the number of a job and the name of a new file", traces_run },
	{ "statistics", 2, 2, "the id of a machine", statistics_run },
	{ "verify", 1, 1, "nothing more", verify_run },
	{ "export", 1, 1, "nothing more", export_run },
	{ "backup", 2, 2, "the name of a new file", backup_run },
	{ "accept-restore", 1, 1, "nothing more", accept_run },
	{ NULL }
};

static enum status ledger_run(struct args *args)
{
	struct call call = { .args = args, .path = LEDGER_PATH };
	const struct action_row *action;
	const char *value;
	enum status status;
	int key, err;

	while ((key = args_next(args, &value)) >= 0) {
		if (key == 'j')
			call.json = true;
		else if (key == 'l')
			call.path = value;
		else if (key == 'b')
			call.board = value;
		else
			call.head = value;
	}
	if (key == ARGS_STOP)
		return args->status;
	action = args_action(args, actions);
	if (!action)
		return STATUS_INPUT;
	if (call.head && action->run != verify_run)
		return args_wrong(args, "--head is for verify");
	if (call.board && action->run != traces_run)
		return args_wrong(args, "--board is for traces");
	if (action->run == traces_run || action->run == statistics_run)
		return action->run(&call);

	call.ledger = dealbox_ledger_new();
	if (!call.ledger) {
		complain(NULL, "no memory");
		return STATUS_INPUT;
	}
	/* the one that writes opens it by itself; a damaged one can still be verified */
	err = action->run == accept_run ? 0 : dealbox_ledger_open(call.ledger, call.path, 0);
	status = err && !(err == -EUCLEAN && action->run == verify_run) ? refused(&call, err) :
		 action->run(&call);
	dealbox_ledger_free(call.ledger);
	return status;
}

static const struct option_row ledger_options[] = {
	OPT_JSON,
	{ 'l', "ledger", "FILE", "the ledger (default: " LEDGER_PATH ")" },
	{ 'b', "board", "N", "traces: of this board only" },
	{ OPT_LONG, "head", "NUMBER:HASH", "verify: this earlier head must still be there" },
	{ 0 }
};

const struct command cmd_ledger = {
	.name = "ledger",
	.operands = "list | show JOB | traces JOB FILE | statistics MACHINE | verify | export | "
		    "backup FILE | accept-restore",
	.summary = "Show, check and copy the record of what was dealt",
	.about = "list lists the jobs; show lists the copies and insertions of a job; verify\n"
		 "checks everything and reports damage (exit status 1); export writes each record\n"
		 "as a line of JSON; backup makes a verified copy while the service is running.\n"
		 "None of these shows a card or changes the ledger.\n"
		 "accept-restore, with the service stopped, continues with a ledger that is older\n"
		 "than its last known state: its open jobs are paused, and their boards are in\n"
		 "doubt. The ledger records who did it.\n"
		 "traces gets what the machines reported from the service, for `dealbox verify`\n"
		 "and `dealbox certificate verify`. It reveals the deals, so it is only for users\n"
		 "who may see cards, and is recorded.\n"
		 "statistics shows, by month, which cards a machine misreads, and which gate\n"
		 "errs, for service technicians. It names a card only if its readings failed in\n"
		 "eight deals of a month that is over.",
	.options = ledger_options,
	.run = ledger_run,
};
