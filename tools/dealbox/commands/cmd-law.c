// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox law: what the laws of dealing say of a record, of a ruleset, and in a
 * paragraph.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/law.h>

#include "ui/ruling-text.h"
#include "ui/tool.h"

static enum status record_judge(struct ruling_text *law, FILE *file)
{
	struct dealbox_judge *judge = dealbox_judge_new(ruling_text_print, law);
	struct dealbox_judgement before = { 0 }, now;
	struct dealbox_error error;
	enum status status = STATUS_DONE;
	unsigned long lines = 0;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	if (!judge || dealbox_judge_language(judge, law->language)) {
		complain("free some memory", "out of memory");
		dealbox_judge_free(judge);
		return STATUS_INPUT;
	}
	while (status == STATUS_DONE && (length = getline(&line, &size, file)) >= 0) {
		lines++;
		if (length && line[length - 1] == '\n')
			length--;
		if (!dealbox_judge_line(judge, line, (size_t)length, &error)) {
			dealbox_judge_result(judge, &now);
			if (before.deal != now.deal)
				ruling_text_judgement(law, &before);
			before = now;
			continue;
		}
		ruling_text_error(law, &error);
		status = STATUS_INPUT;
	}
	if (status == STATUS_DONE && ferror(file)) {
		complain(NULL, translated(law, N_("cannot read %s: %m")), law->source);
		status = STATUS_INPUT;
	} else if (status == STATUS_DONE && !lines) {
		complain(translated(law,
				    N_("law-record.md has the words of a record; "
				       "see dealbox-law(1)")),
			 translated(law, N_("%s is empty")), law->source);
		status = STATUS_INPUT;
	}
	if (status == STATUS_DONE)
		ruling_text_judgement(law, &before);
	free(line);
	dealbox_judge_free(judge);
	return status;
}

static enum status law_judge(struct ruling_text *law, const char *path)
{
	const bool named = strcmp(path, "-");
	FILE *file = named ? fopen(path, "re") : stdin;
	enum status status;

	law->source = named ? path : translated(law, N_("standard input"));
	if (!file) {
		complain(NULL, translated(law, N_("cannot read %s: %m")), path);
		return STATUS_INPUT;
	}
	status = record_judge(law, file);
	if (named)
		fclose(file);
	if (status != STATUS_DONE)
		return status;
	if (!law->rulings && !law->deals && !law->json)
		say(translated(law, N_("%s: no ruling")), law->source);
	return (law->deals ? law->other : law->no) ? STATUS_NO : STATUS_DONE;
}

static enum status law_rules(struct ruling_text *law, const char *name)
{
	const struct dealbox_ruleset *r = dealbox_ruleset_find(name);
	const struct dealbox_paragraph *p;
	struct json_object *object;
	size_t n;

	if (!r) {
		complain(translated(law,
				    N_("there are: duplicate-2007, duplicate-2017, "
				       "rubber, preferans")),
			 translated(law, N_("there is no ruleset '%s'")), name);
		return STATUS_INPUT;
	}
	if (law->json) {
		object = json_line("ruleset");
		json_add_text(object, "rules", r->name);
		json_add_text(object, "edition", r->edition);
		json_add_number(object, "cards", r->cards);
		json_add_number(object, "hand_count", r->hands);
		json_add_number(object, "hand_cards", r->hand_cards);
		json_add_number(object, "talon_cards", r->talon_cards);
		json_add_number(object, "packet", r->packet);
		json_add_number(object, "cut_least", r->cut_least);
		json_add_number(object, "shuffles_advised", r->shuffles_advised);
		json_add_bool(object, "rotation", r->rotation);
		json_add_bool(object, "adjacent", r->adjacent);
		json_add_bool(object, "cut_always", r->cut_always);
		json_add_bool(object, "director", r->director);
		json_say(object);
		return STATUS_DONE;
	}
	say("%s: %s", r->name, translated(law, r->edition));
	say(translated(law, N_("  pack: %u cards")), r->cards);
	say(translated(law, N_("  hands: %u, cards in each: %u")), r->hands, r->hand_cards);
	if (r->talon_cards)
		say(translated(law, N_("  talon: %u cards, packet number %u")), r->talon_cards,
		    r->talon_packet + 1);
	say(translated(law, N_("  cards at a time: %u")), r->packet);
	say("  %s", translated(law, r->rotation ? N_("rotation: clockwise, required") :
			       N_("rotation: clockwise, recommended")));
	say("  %s",
	    translated(law, r->adjacent ? N_("two adjacent cards to one hand: not forbidden") :
					  N_("two adjacent cards to one hand: forbidden")));
	say("  %s", translated(law, r->cut_always ? N_("cut: always") :
			       N_("cut: if an opponent asks for it")));
	if (r->cut_least)
		say(translated(law, N_("  cards in a portion of the cut: at least %u")),
		    r->cut_least);
	if (r->shuffles_advised)
		say(translated(law, N_("  shuffles recommended: at least %u")),
		    r->shuffles_advised);
	say("  %s", translated(law, r->director ? N_("who decides: the Director") :
			       N_("who decides: the players")));
	for (n = 0; (p = dealbox_paragraph_get(n)); n++)
		if (p->rules & 1u << r->rules)
			say("%-12s%s", p->reference, translated(law, p->text));
	return STATUS_DONE;
}

/* "rubber:10" is 10 and what begins with 10( in rubber; without a ruleset, in each. */
static bool paragraph_fits(const struct dealbox_paragraph *p, unsigned int rules,
			   const char *reference)
{
	size_t length = strlen(reference);

	return p->rules & 1u << rules && !strncmp(p->reference, reference, length) &&
	       (!p->reference[length] || p->reference[length] == '(');
}

static enum status law_explain(struct ruling_text *law, const char *reference)
{
	const char *colon = strchr(reference, ':');
	const char *wanted = colon ? colon + 1 : reference;
	const struct dealbox_paragraph *p;
	const struct dealbox_ruleset *r;
	struct json_object *object;
	unsigned int found = 0;
	size_t n, rules;

	for (rules = 0; (r = dealbox_ruleset_get((enum dealbox_rules)rules)); rules++) {
		if (colon && (strlen(r->name) != (size_t)(colon - reference) ||
			      strncmp(r->name, reference, strlen(r->name))))
			continue;
		for (n = 0; (p = dealbox_paragraph_get(n)); n++) {
			const char *text;

			if (!paragraph_fits(p, (unsigned int)rules, wanted))
				continue;
			found++;
			text = translated(law, p->text);
			if (!law->json) {
				say("%s %s: %s", r->name, p->reference, text);
				continue;
			}
			object = json_line("paragraph");
			json_add_text(object, "rules", r->name);
			json_add_text(object, "reference", p->reference);
			json_add_text(object, "language", law->language);
			json_add_text(object, "text", text);
			json_say(object);
		}
	}
	if (found)
		return STATUS_DONE;
	complain(translated(law,
			    N_("`dealbox law rules RULESET` lists the paragraphs; write "
			       "rubber:10(b), 6D1, 3.2.15")),
		 translated(law, N_("there is no paragraph '%s'")), reference);
	return STATUS_INPUT;
}

static enum status law_run(struct args *args)
{
	static const struct {
		const char *name;
		enum status (*run)(struct ruling_text *law, const char *operand);
	} acts[] = {
		{ "judge", law_judge }, { "rules", law_rules }, { "explain", law_explain },
	};
	struct ruling_text law = { .language = "en" };
	const char *value;
	size_t n;
	int key;

	while ((key = args_next(args, &value)) >= 0) {
		law.json |= key == 'j';
		if (key == 'l') {
			law.language = ruling_text_language(value);
			if (!law.language)
				return STATUS_INPUT;
		}
	}
	if (key == ARGS_STOP)
		return args->status;
	if (args->argc != 2)
		return args_wrong(args, "it needs judge, rules or explain, and one operand");
	for (n = 0; n < sizeof(acts) / sizeof(acts[0]); n++)
		if (!strcmp(args->argv[0], acts[n].name))
			return acts[n].run(&law, args->argv[1]);
	return args_wrong(args, "it can judge, show rules and explain, not '%s'", args->argv[0]);
}

static const struct option_row law_options[] = {
	OPT_JSON,
	{ 'l', "lang", "LANGUAGE", "sentences in nb, el, fr, ru or en (default: en)" },
	{ 0 }
};

const struct command cmd_law = {
	.name = "law",
	.operands = "judge FILE | rules RULESET | explain REFERENCE",
	.summary = "Judge a record of dealing by the laws, and explain them",
	.about = "judge reads a record of what happened (- is standard input) and prints the\n"
		 "rulings of the laws, each with its paragraph, the lines it is based on and a\n"
		 "sentence; and after each board, its final status.\n"
		 "The exit status is 0 if all boards stand, otherwise 1.\n"
		 "\n"
		 "rules shows a ruleset: duplicate-2007, duplicate-2017, rubber or preferans.\n"
		 "explain summarises a paragraph: 6D1, rubber:10(a)(i), 3.2.15.",
	.options = law_options,
	.run = law_run,
};
