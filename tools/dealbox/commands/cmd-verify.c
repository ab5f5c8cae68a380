// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox verify: judges recorded traces by the deals that they were to be.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include <dealbox/law.h>
#include <dealbox/operator.h>

#include "ui/event-text.h"
#include "ui/operator-say.h"
#include "ui/ruling-text.h"
#include "ui/set-to-deal.h"
#include "ui/tool.h"
#include "ui/tracefile.h"

struct judge {
	const struct dealbox_set *set;
	bool json;
	bool reveal;
	const char *language;
	size_t exact, differ;
	struct tracefile_head head;	/* of the trace that is judged */
};

static void verdict_json(const struct judge *judge, const struct dealbox_verdict *verdict,
			 const char *text)
{
	struct json_object *object = json_line("board");

	json_add_number(object, "board", judge->head.board);
	json_add_number(object, "copy", judge->head.copy);
	json_add_number(object, "insertion", judge->head.insertion);
	json_add_text(object, "verdict", dealbox_verdict_exact(verdict) ? "exact" : "void");
	json_add_text(object, "text", text);
	json_object_object_add(object, "differences",
			       differences_to_json(verdict, judge->reveal, judge->language));
	json_say(object);
}

static void verdict_say(const struct judge *judge, const struct dealbox_verdict *verdict)
{
	struct dealbox_operator_verdict facts;
	char text[512];

	dealbox_operator_verdict_from(verdict, &facts);
	dealbox_operator_verdict_text(&facts, judge->language, text, sizeof(text));
	if (judge->json) {
		verdict_json(judge, verdict, text);
		return;
	}
	say(dealbox_law_translate(judge->language, N_("board %u, copy %u, insertion %u: %s")),
	    judge->head.board, judge->head.copy, judge->head.insertion, text);
	differences_say(verdict, judge->reveal, judge->language);
}

/* 0 or -errno */
static int trace_judge(struct judge *judge, const struct dealbox_trace *trace)
{
	struct dealbox_verdict *verdict;
	struct dealbox_board board;
	long index = dealbox_set_find(judge->set, judge->head.board);
	int ret = index < 0 ? -ENOENT : dealbox_set_get(judge->set, (size_t)index, &board);

	if (ret)
		return ret;
	ret = tracefile_judge(&judge->head, judge->head.pockets, trace, &board.deal,
			      dealbox_set_pack(judge->set), &verdict);
	dealbox_deal_wipe(&board.deal);
	if (ret)
		return ret;
	verdict_say(judge, verdict);
	if (dealbox_verdict_exact(verdict))
		judge->exact++;
	else
		judge->differ++;
	dealbox_verdict_free(verdict);
	return 0;
}

static bool trace_take(void *context, const struct tracefile_head *head,
		       struct dealbox_trace *trace, const char *path, unsigned long line)
{
	struct judge *judge = context;
	int ret;

	judge->head = *head;
	ret = trace_judge(judge, trace);
	dealbox_trace_free(trace);
	if (ret == -ENOENT)
		complain("give the deal file that was dealt", "%s:%lu: board %u is not in the set",
			 path, line, head->board);
	else if (ret == -ENODATA)
		complain("`dealbox ledger traces` writes it with the order of the deck",
			 "%s:%lu: the machine counted the cards of board %u without reading them, "
			 "and the trace does not say that the deck was sorted", path, line,
			 head->board);
	else if (ret == -ENOTSUP)
		complain("give the traces of the job that dealt its copies",
			 "%s:%lu: this was a capture: board %u was read there, and not dealt", path,
			 line, head->board);
	else if (ret)
		complain(NULL, "%s:%lu: cannot judge the trace: %s", path, line, strerror(-ret));
	return !ret;
}

static enum status verify_run(struct args *args)
{
	struct judge judge = { 0 };
	struct dealbox_set *set;
	const char *value;
	enum status status;
	int key, n;

	while ((key = args_next(args, &value)) >= 0) {
		judge.json |= key == 'j';
		judge.reveal |= key == KEY_REVEAL;
		if (key != KEY_LANG)
			continue;
		judge.language = ruling_text_language(value);
		if (!judge.language)
			return STATUS_INPUT;
	}
	if (key == ARGS_STOP)
		return args->status;
	if (args->argc < 2)
		return args_wrong(args, "it needs a deal file and at least one trace");
	status = set_to_deal_read(args->argv, 1, judge.reveal, "nothing was judged", &set);
	if (status != STATUS_DONE)
		return status;
	judge.set = set;
	for (n = 1; n < args->argc && status == STATUS_DONE; n++)
		if (!tracefile_read(args->argv[n], trace_take, &judge))
			status = STATUS_INPUT;
	if (status == STATUS_DONE && judge.differ)
		status = STATUS_NO;
	dealbox_set_free(set);
	return status;
}

static const struct option_row verify_options[] = {
	{ KEY_LANG, "lang", "LANGUAGE", "sentences in nb, el, fr, ru or en (default: en)" },
	OPT_JSON,
	OPT_REVEAL,
	{ 0 }
};

const struct command cmd_verify = {
	.name = "verify",
	.operands = "FILE TRACE...",
	.summary = "Compare recorded traces with their planned deals",
	.about = "FILE is a deal file; each TRACE was written by `dealbox deal --record`, or, for\n"
		 "deals of the service, by `dealbox ledger traces`. For each insertion, reports\n"
		 "whether the board is an exact duplicate, or the differences. If cards were\n"
		 "counted and not read (`--how by-position`), that holds only if the deck was\n"
		 "sorted. The exit status is 0 if all are exact, otherwise 1.",
	.options = verify_options,
	.run = verify_run,
};
