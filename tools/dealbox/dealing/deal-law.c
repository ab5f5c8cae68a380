// SPDX-License-Identifier: LGPL-2.1-or-later
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dealbox/law.h>

#include "deal-law.h"
#include "front.h"
#include "own-ledger.h"
#include "ui/ruling-text.h"

struct run {
	const struct deal_law *options;
	const struct dealbox_ruleset *rules;
	struct ruling_text say;
	struct dealbox_judge *judge;
	FILE *record;
	uint8_t dealer;
	struct front front;
	struct own_ledger own;
	bool exact;		/* the last recorded verdict */
	bool is_void;		/* .. is there, and is not exact */
	char why[512];		/* the verdict in words */
	bool redeal;		/* required by the laws */
	bool kept;		/* the record has a deal that the laws have judged */
};

/* Write the record of a pack that was prepared correctly, by the players or the director. */
static void lines_default(const struct run *run, char text[256])
{
	unsigned int players = run->rules->hands;
	const char *left = dealbox_actor_name((run->dealer + 1) % players);
	const char *right = dealbox_actor_name((run->dealer + players - 1) % players);
	const char *name = dealbox_actor_name(run->dealer);

	if (run->rules->director)
		snprintf(text, 256, "rules %s\ndirector instruct agents\nboard\nmachine shuffle\n",
			 run->rules->name);
	else
		snprintf(text, 256, "rules %s\nturn %s\n%s shuffle\n%s pickup\n%s cut\n",
			 run->rules->name, name, left, name, right);
}

static bool line_take(struct run *run, const char *line, size_t length)
{
	struct dealbox_error error;

	if (run->record)
		fprintf(run->record, "%.*s\n", (int)length, line);
	if (!dealbox_judge_line(run->judge, line, length, &error))
		return true;
	ruling_text_error(&run->say, &error);
	return false;
}

/* Judge the record that precedes the machine's part. */
static bool before_take(struct run *run)
{
	char text[256], *line = NULL;
	FILE *file;
	size_t size = 0;
	ssize_t length;
	bool good = true;

	if (run->options->before) {
		file = fopen(run->options->before, "re");
	} else {
		lines_default(run, text);
		file = fmemopen(text, strlen(text), "r");
	}
	if (!file) {
		complain(NULL, translated(&run->say, N_("cannot read %s: %m")), run->say.source);
		return false;
	}
	while (good && (length = getline(&line, &size, file)) >= 0) {
		if (length && line[length - 1] == '\n')
			length--;
		good = line_take(run, line, (size_t)length);
	}
	free(line);
	fclose(file);
	return good;
}

static void record_take(const struct dealbox_happening *happening, void *context)
{
	struct run *run = context;
	char line[512];

	if (!run->record)
		return;
	dealbox_record_format(happening, line, sizeof(line));
	fprintf(run->record, "%s\n", line);
}

/* A void deal never stands: what its trace lacks, the judge does not know. */
static void rule(const struct dealbox_ruling *ruling, void *context)
{
	struct run *run = context;

	if (!run->is_void || ruling->kind != DEALBOX_RULING_STANDS)
		ruling_text_print(ruling, &run->say);
}

/* Print the verdict after the rulings, as one line or as JSON. */
static void verdict_say(const struct run *run, const char *verdict, const char *why)
{
	struct json_object *object;

	if (!run->options->json) {
		say("%s: %s", translated(&run->say, verdict), why);
		return;
	}
	object = json_line("verdict");
	json_add_text(object, "verdict", verdict);
	json_add_text(object, "text", why);
	json_say(object);
}

/* Judge the trace by the laws, and print whether the deal stands. */
static enum status trace_judge(struct run *run, const struct dealbox_trace *trace, uint32_t plan_id)
{
	struct dealbox_error error = { .what = "the laws know no such plan" };
	struct dealbox_judgement law;
	struct dealbox_plan plan;

	if (trace && (dealbox_law_plan(run->rules->rules, run->dealer, plan_id, &plan) ||
		      dealbox_judge_trace(run->judge, &plan, trace, record_take, run, &error))) {
		complain(NULL, "%s:%u: %s", run->say.source, error.line, error.what);
		return STATUS_INPUT;
	}
	dealbox_judge_result(run->judge, &law);
	run->redeal = law.verdict != DEALBOX_LAW_STANDS && law.verdict != DEALBOX_LAW_OPEN;
	run->kept = trace && (run->redeal || run->exact);
	if (run->redeal)
		verdict_say(run, "redeal", translated(&run->say,
			    N_("by the rulings above; take the cards out of the board")));
	else if (!run->exact)
		verdict_say(run, N_("void"), run->why);
	else if (law.verdict == DEALBOX_LAW_OPEN)
		verdict_say(run, "open", translated(&run->say,
			    N_("by the rulings above it is for people to decide")));
	else
		verdict_say(run, "stands", translated(&run->say, N_("dealt as the laws have it")));
	return run->exact && law.verdict == DEALBOX_LAW_STANDS ? STATUS_DONE : STATUS_NO;
}

/* Cancel the job after a void board: the pack must be shuffled before it is dealt again. */
static bool judged(struct front *front, const struct dealbox_dealing_news *news)
{
	struct run *run = front->context;
	const char *why = news->text;

	if (!strncmp(why, "void: ", 6))
		why += 6;
	else if (!strcmp(why, "void"))
		why = "the machine did not take the deal";
	snprintf(run->why, sizeof(run->why), "%s", why);
	run->exact = news->exact;
	run->is_void = !news->exact;
	if (!news->exact)
		dealbox_dealing_do(front->dealing, DEALBOX_DEALING_CANCEL, 0, 0);
	return true;
}

static enum status add_job(struct run *run)
{
	static const unsigned int board = 1;
	const char *const machines[] = { run->front.id, NULL };
	const struct dealbox_ledger_new_job new_job = {
		.boards = &board, .count = 1, .copies = 1, .machines = machines,
		.options = DEALBOX_JOB_AUTO_START, .law = (uint8_t)(run->rules->rules + 1),
		.dealer = run->dealer,
	};
	enum status status = own_cancel_unfinished(&run->own);

	if (status == STATUS_DONE &&
	    dealbox_ledger_add_job(run->own.ledger, &new_job, &run->front.job, NULL))
		return own_refused(run->own.ledger);
	return status;
}

static int keep_last(const struct dealbox_ledger_insertion *insertion, void *context)
{
	*(struct dealbox_ledger_insertion *)context = *insertion;
	return 0;
}

/* Judge the recorded insertion. */
static enum status record_judge(struct run *run, const struct dealbox_ledger_insertion *insertion)
{
	struct dealbox_ledger_act redeal = {
		.act = DEALBOX_ACT_REDEAL, .uid = getuid(), .job = run->front.job,
		.board = insertion->board,
		.copy = insertion->copy, .machine = run->front.id,
	};
	struct dealbox_trace *trace = own_trace(run->own.reader, insertion);
	enum status status = trace_judge(run, trace, insertion->plan);

	dealbox_trace_free(trace);
	/* An annulled deal does not count. Its board may come back with its cards. */
	if (run->redeal && run->exact && dealbox_ledger_add_act(run->own.ledger, &redeal))
		status = own_refused(run->own.ledger);
	return status;
}

static enum status stop_say(const struct front *front, bool begun)
{
	if (begun)
		complain("empty the board, and begin again", "stopped in mid-deal: %s",
			 front->stands ? front->stands : "the deal has ended");
	else
		complain("begin again", "stopped: nothing was dealt into this board");
	return STATUS_STOPPED;
}

/* Deal the job of the ledger, and judge the result. */
static enum status job_deal(struct run *run)
{
	struct dealbox_ledger_insertion last = { 0 };
	enum status status;
	enum front_end end;

	run->front.ledger = run->own.ledger;
	run->front.reader = run->own.reader;
	end = front_run(&run->front);
	if (dealbox_ledger_insertions(run->own.reader, run->front.job, false, keep_last, &last))
		return own_refused(run->own.reader);
	if (end == FRONT_DONE || (end == FRONT_STOPPED && run->exact))
		status = record_judge(run, &last);
	else if (end == FRONT_STOPPED)
		status = stop_say(&run->front, last.id);
	else
		status = end == FRONT_MACHINE ? STATUS_MACHINE : STATUS_INPUT;
	/* The job cannot be resumed. */
	own_cancel_unfinished(&run->own);
	return status;
}

static enum status machine_deal(struct run *run)
{
	enum status status = front_machine(&run->front, DEALBOX_CAP_BY_POSITION,
					   "cannot deal by position", "use another machine");

	if (status != STATUS_DONE)
		return status;
	status = STATUS_INPUT;
	if (own_open(&run->own, run->options->ledger, run->options->json))
		status = add_job(run);
	if (status == STATUS_DONE)
		status = job_deal(run);
	own_close(&run->own);
	return status;
}

static enum status options_take(struct run *run)
{
	const struct deal_law *options = run->options;
	const char *turn = options->turn ? options->turn : "N";
	size_t n;

	run->rules = dealbox_ruleset_find(options->rules);
	if (!run->rules) {
		complain(N_("there are: duplicate-2007, duplicate-2017, rubber, preferans"),
			 "there is no ruleset '%s'", options->rules);
		return STATUS_INPUT;
	}
	for (n = 0; n < run->rules->hands && strcmp(turn, dealbox_actor_name(n)); n++)
		;
	if (n == run->rules->hands) {
		complain(NULL, "--turn %s: it is %s", turn,
			 run->rules->hands == 3 ? "N, E or S" : "N, E, S or W");
		return STATUS_INPUT;
	}
	run->dealer = (uint8_t)n;
	run->say.language = options->language ? options->language : ruling_text_language("en");
	if (!run->say.language)
		return STATUS_INPUT;
	run->say.json = options->json;
	run->say.source = options->before ? options->before : "deal";
	return STATUS_DONE;
}

enum status deal_by_law(const struct deal_law *options)
{
	struct run run = {
		.options = options,
		.front = { .uri = options->uri, .json = options->json,
			   .language = options->language,
			   .give_up = true, .judged = judged, .context = &run },
	};
	enum status status = options_take(&run);

	if (status != STATUS_DONE)
		return status;
	if (options->record) {
		run.record = fopen(options->record, "wxe");
		if (!run.record) {
			complain("give the name of a new file", "cannot write %s: %m",
				 options->record);
			return STATUS_INPUT;
		}
	}
	run.judge = dealbox_judge_new(rule, &run);
	if (run.judge && !dealbox_judge_language(run.judge, run.say.language) && before_take(&run))
		status = machine_deal(&run);
	else
		status = STATUS_INPUT;
	if (options->record && fclose(run.record)) {
		complain(NULL, "cannot write %s: %m", options->record);
		status = STATUS_INPUT;
		run.kept = false;
	}
	/* Without a deal it would only be in the way when the command is repeated. */
	if (options->record && !run.kept)
		unlink(options->record);
	dealbox_judge_free(run.judge);
	return status;
}
