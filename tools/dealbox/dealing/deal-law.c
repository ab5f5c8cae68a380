// SPDX-License-Identifier: LGPL-2.1-or-later
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <dealbox/verify.h>

#include "deal-law.h"
#include "feed.h"
#include "ui/ruling-text.h"

struct run {
	const struct deal_law *options;
	const struct dealbox_ruleset *rules;
	struct ruling_text say;
	struct dealbox_judge *judge;
	FILE *record;
};

/* The pack was prepared as it should be: who does that in each ruleset. */
static void lines_default(const struct run *run, uint8_t dealer, char text[256])
{
	unsigned int players = run->rules->hands;
	const char *left = dealbox_actor_name((dealer + 1) % players);
	const char *right = dealbox_actor_name((dealer + players - 1) % players);
	const char *name = dealbox_actor_name(dealer);

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

/* What was before the machine deals. */
static bool before_take(struct run *run, uint8_t dealer)
{
	char text[256], *line = NULL;
	FILE *file;
	size_t size = 0;
	ssize_t length;
	bool good = true;

	if (run->options->before) {
		file = fopen(run->options->before, "re");
	} else {
		lines_default(run, dealer, text);
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

/* The verdict, after the rulings: for people in one line. */
static void verdict_say(const struct run *run, const char *verdict, const char *why)
{
	struct json_object *object;

	if (!run->options->json) {
		say("%s: %s", translated(&run->say, verdict), why);
		return;
	}
	object = json_object_new_object();
	json_add_text(object, "event", "verdict");
	json_add_text(object, "verdict", verdict);
	json_add_text(object, "text", why);
	json_say(object);
}

static enum status trace_judge(struct run *run, const struct dealbox_plan *plan,
			       const struct dealbox_trace *trace)
{
	struct dealbox_error error;
	struct dealbox_judgement law;
	struct dealbox_verdict *verdict;
	bool exact;
	char why[256];

	if (dealbox_verify(plan, trace, &verdict)) {
		complain("free some memory", "out of memory");
		return STATUS_INPUT;
	}
	exact = dealbox_verdict_exact(verdict);
	dealbox_verdict_message(verdict, why, sizeof(why));
	dealbox_verdict_free(verdict);
	if (dealbox_judge_trace(run->judge, plan, trace, record_take, run, &error)) {
		complain(NULL, "%s:%u: %s", run->say.source, error.line, error.what);
		return STATUS_INPUT;
	}
	dealbox_judge_result(run->judge, &law);
	if (law.verdict > DEALBOX_LAW_OPEN)
		verdict_say(run, "redeal", translated(&run->say,
			    N_("by the rulings above; take the cards out of the board")));
	else if (!exact)
		verdict_say(run, N_("void"), why);
	else if (law.verdict == DEALBOX_LAW_OPEN)
		verdict_say(run, "open", translated(&run->say,
			    N_("by the rulings above it is for people to decide")));
	else
		verdict_say(run, "stands", translated(&run->say, N_("dealt as the laws have it")));
	return exact && law.verdict == DEALBOX_LAW_STANDS ? STATUS_DONE : STATUS_NO;
}

static enum status machine_deal(struct run *run, uint8_t dealer)
{
	struct feed feed = { .json = run->options->json };
	struct dealbox_trace *trace = NULL;
	struct dealbox_plan plan;
	enum status status;
	uint32_t id;

	do {
		if (getrandom(&id, sizeof(id), 0) != sizeof(id))
			id = DEALBOX_PLAN_NONE;
	} while (dealbox_law_plan(run->rules->rules, dealer, id, &plan));
	status = feed_open(&feed, run->options->uri, DEALBOX_CAP_BY_POSITION,
			   "cannot deal by position");
	if (status == STATUS_DONE)
		status = feed_run(&feed, &plan, run->rules->name, &trace);
	if (status == STATUS_DONE)
		status = trace_judge(run, &plan, trace);
	dealbox_trace_free(trace);
	feed_close(&feed);
	return status;
}

static enum status options_take(struct run *run, uint8_t *dealer)
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
	*dealer = (uint8_t)n;
	run->say.language = options->language ? options->language : ruling_text_language("en");
	if (!run->say.language)
		return STATUS_INPUT;
	run->say.json = options->json;
	run->say.source = options->before ? options->before : "deal";
	return STATUS_DONE;
}

enum status deal_by_law(const struct deal_law *options)
{
	struct run run = { .options = options };
	uint8_t dealer = 0;
	enum status status = options_take(&run, &dealer);

	if (status != STATUS_DONE)
		return status;
	run.judge = dealbox_judge_new(ruling_text_print, &run.say);
	if (options->record) {
		run.record = fopen(options->record, "wxe");
		if (!run.record) {
			complain("give the name of a new file", "cannot write %s: %m", options->record);
			status = STATUS_INPUT;
		}
	}
	if (status == STATUS_DONE && (!run.judge || dealbox_judge_language(run.judge, run.say.language) ||
				      !before_take(&run, dealer)))
		status = STATUS_INPUT;
	if (status == STATUS_DONE)
		status = machine_deal(&run, dealer);
	if (run.record && fclose(run.record)) {
		complain(NULL, "cannot write %s: %m", options->record);
		status = STATUS_INPUT;
	}
	dealbox_judge_free(run.judge);
	return status;
}
