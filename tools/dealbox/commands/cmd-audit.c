// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox audit: were many deals, after play, as wholly random ones should be?
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/audit.h>
#include <dealbox/format.h>

#include "ui/files.h"

#define SUSPICIOUS	0.01	/* corrected p */

static const char warning[] =
	"An audit is for deals that have been played. Who looks at statistics and then\n"
	"chooses which set to play, or deals again, breaks Law 6: the deals are then not\n"
	"random any more. One audit in a hundred of perfect deals finds something odd.";

struct call {
	bool json;
	const struct dealbox_audit *audit;
	size_t findings;
};

static void where_text(const struct call *call, size_t set, uint32_t board, char *text, size_t size)
{
	const char *name = dealbox_audit_set(call->audit, set);

	if (board)
		snprintf(text, size, "%s board %u", name, board);
	else
		snprintf(text, size, "%s", name);
}

static int finding_say(const struct dealbox_audit_finding *finding, void *context)
{
	static const char *const kinds[] = {
		[DEALBOX_AUDIT_SORTED] = "sorted-deck",
		[DEALBOX_AUDIT_REPEATED] = "repeated-deal",
		[DEALBOX_AUDIT_SEED] = "repeated-sequence",
	};
	struct call *call = context;
	struct json_object *object;
	char here[300], there[300];

	call->findings++;
	where_text(call, finding->set, finding->board, here, sizeof(here));
	where_text(call, finding->other_set, finding->other_board, there, sizeof(there));
	if (call->json) {
		object = json_line("finding");
		json_add_text(object, "finding", kinds[finding->kind]);
		json_add_text(object, "file", dealbox_audit_set(call->audit, finding->set));
		json_add_known(object, "board", finding->board);
		json_add_number(object, "deals", (int64_t)finding->count);
		if (finding->kind != DEALBOX_AUDIT_SORTED) {
			json_add_text(object, "other_file",
				      dealbox_audit_set(call->audit, finding->other_set));
			json_add_known(object, "other_board", finding->other_board);
			json_add_number(object, "turned", finding->turned);
		}
		json_say(object);
	} else if (finding->kind == DEALBOX_AUDIT_SORTED) {
		say("FOUND %s: the cards lie as from a deck that was not shuffled (Law 6D2)", here);
	} else if (finding->kind == DEALBOX_AUDIT_REPEATED) {
		say("FOUND %s: the same deal as %s%s (Law 6D2)", here, there,
		    finding->turned ? ", turned to other seats" : "");
	} else {
		say("FOUND %s and the next %zu: the deals are those from %s on: the file was used "
		    "again, or the generator began from the same seed", here, finding->count - 1,
		    there);
	}
	return 0;
}

/* Sets *odd to the number of suspicious results. Returns false if out of memory. */
static bool tests_say(const struct call *call, size_t *odd)
{
	const size_t count = dealbox_audit_run(call->audit, NULL, 0);
	struct dealbox_audit_test *tests = calloc(count, sizeof(*tests));
	struct json_object *object;

	*odd = 0;
	if (!tests)
		return false;
	dealbox_audit_run(call->audit, tests, count);
	for (size_t i = 0; i < count; i++) {
		const struct dealbox_audit_test *t = &tests[i];
		const bool suspicious = t->enough && t->corrected < SUSPICIOUS;

		*odd += suspicious;
		if (call->json) {
			object = json_line("test");
			json_add_text(object, "test", t->name);
			json_add_bool(object, "enough", t->enough);
			if (t->enough) {
				json_add_real(object, "statistic", t->statistic);
				json_add_number(object, "degrees", t->degrees);
				json_add_real(object, "p", t->p);
				json_add_real(object, "corrected", t->corrected);
			}
			json_say(object);
		} else if (!t->enough) {
			say("%-54s too few deals", t->what);
		} else {
			say("%-54s p = %-8.3g%s", t->what, t->p, suspicious ? "  <== ODD" : "");
		}
	}
	free(tests);
	return true;
}

static enum status audit_say(struct call *call)
{
	size_t odd;

	if (dealbox_audit_find(call->audit, finding_say, call) || !tests_say(call, &odd)) {
		complain(NULL, "out of memory");
		return STATUS_INPUT;
	}
	if (!call->json)
		say("%zu deals in %zu sets: %zu findings, %zu of the statistics odd",
		    dealbox_audit_deals(call->audit), dealbox_audit_sets(call->audit),
		    call->findings, odd);
	return call->findings || odd ? STATUS_NO : STATUS_DONE;
}

static bool set_add(struct dealbox_audit *audit, const char *path)
{
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct dealbox_report *report = dealbox_report_new();
	char text[512];
	int err = set && report ? dealbox_format_read_file(NULL, path, set, report, NULL) : -ENOMEM;

	if (err) {
		const struct dealbox_problem *problem =
			report ? dealbox_report_get(report, 0) : NULL;

		if (problem)
			dealbox_problem_describe(problem, false, text, sizeof(text));
		complain(NULL, "%s", problem ? text : "out of memory");
	} else if (!dealbox_set_count(set)) {
		complain("`dealbox check` shows why", "%s: it contains no complete deal", path);
		err = -ENODATA;
	} else {
		err = dealbox_audit_add(audit, set, path);
		if (err == -EPERM)
			complain("after the session, run `dealbox played FILE`",
				 "%s: this set is marked as not yet played, so it was not audited",
				 path);
		else if (err)
			complain(NULL, "%s: %s", path, strerror(-err));
	}
	dealbox_report_free(report);
	dealbox_set_free(set);
	return !err;
}

static enum status audit_run(struct args *args)
{
	struct dealbox_audit *audit;
	struct call call = { 0 };
	enum status status = STATUS_DONE;
	const char *value;
	int key;

	while ((key = args_next(args, &value)) != ARGS_END) {
		if (key == ARGS_STOP)
			return args->status;
		call.json = true;
	}
	if (!args->argc)
		return args_wrong(args, "it needs files of played deals");
	fprintf(stderr, "%s\n\n", warning);
	audit = dealbox_audit_new();
	if (!audit) {
		complain(NULL, "out of memory");
		return STATUS_INPUT;
	}
	/* check every file first, to report all errors at once */
	for (int i = 0; i < args->argc; i++) {
		progress("reading %d of %d", i + 1, args->argc);
		if (!set_add(audit, args->argv[i]))
			status = STATUS_INPUT;
	}
	progress(NULL);
	call.audit = audit;
	if (!status)
		status = audit_say(&call);
	dealbox_audit_free(audit);
	return status;
}

static const struct option_row audit_options[] = {
	OPT_JSON,
	{ 0 }
};

const struct command cmd_audit = {
	.name = "audit",
	.operands = "FILE...",
	.summary = "Compare many deals, after play, with what chance produces",
	.about = "Compares played deals with exact expectations, and finds sorted decks,\n"
		 "repeated deals (also turned), and repeated sequences. NEVER use it to choose\n"
		 "which set to play: that breaks Law 6. Sets marked as not yet played are\n"
		 "refused. The exit status is 1 if there is a reason to ask questions.",
	.options = audit_options,
	.run = audit_run,
};

/* -- dealbox played ----------------------------------------------------------- */

/* Only that word goes: the file may hold results and more that is not ours. */
static bool played(const char *path)
{
	static const char mark[] = "% dealbox:", word[] = " unplayed";
	struct blob blob = { 0 };
	char *line, *found = NULL;
	bool good = false;

	if (!file_read(path, &blob))
		goto out;
	for (line = blob.data; line && !found; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, mark, sizeof(mark) - 1))
			continue;
		found = strstr(line, word);
		if (found && found > line + strcspn(line, "\r\n"))
			found = NULL;
	}
	if (!found) {
		say("%s: it is not marked as unplayed", path);
		good = true;
		goto out;
	}
	blob.size -= sizeof(word) - 1;
	memmove(found, found + sizeof(word) - 1, blob.size - (size_t)(found - blob.data) + 1);
	good = file_write(path, blob.data, blob.size, FILE_SECRET, true);
	if (good)
		say("%s: played", path);
out:
	blob_wipe(&blob);
	return good;
}

static enum status played_run(struct args *args)
{
	enum status status = STATUS_DONE;
	const char *value;

	if (args_next(args, &value) != ARGS_END)
		return args->status;
	if (!args->argc)
		return args_wrong(args,
				  "it needs files that `dealbox generate` "
				  "or `dealbox square` wrote");
	for (int i = 0; i < args->argc; i++)
		if (!played(args->argv[i]))
			status = STATUS_INPUT;
	return status;
}

const struct command cmd_played = {
	.name = "played",
	.operands = "FILE...",
	.summary = "Mark sets as played, so that they may be audited",
	.about = "Removes the mark \"unplayed\" from sets that dealbox made. Do so when the\n"
		 "session is over: the mark cannot be restored.",
	.run = played_run,
};
