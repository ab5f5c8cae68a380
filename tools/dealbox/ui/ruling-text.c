// SPDX-License-Identifier: LGPL-2.1-or-later
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "ruling-text.h"
#include "tool.h"

const char *translated(const struct ruling_text *law, const char *message)
{
	return dealbox_law_translate(law->language, message);
}

void ruling_text_error(const struct ruling_text *law, const struct dealbox_error *error)
{
	complain(translated(law, N_("law-record.md has the words of a record; see dealbox-law(1)")),
		 "%s:%u: %s", law->source, error->line, error->what);
}

const char *ruling_text_language(const char *name)
{
	const char *language;
	size_t n;

	for (n = 0; (language = dealbox_law_language(n)); n++)
		if (!strcmp(language, name))
			return language;
	complain("nb, el, fr, ru and en are there", "there is no language '%s'", name);
	return NULL;
}

/* Return true for rulings that require no action. */
static bool ruling_good(const struct dealbox_ruling *ruling)
{
	return ruling->kind == DEALBOX_RULING_STANDS ||
	       ruling->kind == DEALBOX_RULING_NEXT_DEALER ||
	       ruling->kind == DEALBOX_RULING_ENTITLED;
}

static void ruling_json(const struct ruling_text *law, const struct dealbox_ruling *r,
			const char *text)
{
	struct json_object *object = json_line("ruling");
	struct json_object *facts = json_object_new_array();
	struct json_object *options = json_object_new_array();
	unsigned int option;
	int n;

	json_add_number(object, "line", r->line);
	json_add_text(object, "ruling", dealbox_ruling_kind_name(r->kind));
	json_add_text(object, "rules", dealbox_ruleset_get(r->rules)->name);
	json_add_text(object, "reference", r->reference);
	if (r->see)
		json_add_text(object, "see", r->see);
	if (*dealbox_actor_name(r->who))
		json_add_text(object, "who", dealbox_actor_name(r->who));
	if (r->pack)
		json_add_text(object, "pack", r->pack);
	if (r->shuffle)
		json_add_bool(object, "shuffle", true);
	if (r->cut)
		json_add_bool(object, "cut", true);
	if (r->until)
		json_add_text(object, "until", dealbox_until_name(r->until));
	if (r->unit) {
		json_add_text(object, "unit", dealbox_unit_name(r->unit));
		json_add_number(object, "amount", (uint64_t)r->amount);
	}
	for (option = 1; option <= r->options; option <<= 1)
		if (r->options & option)
			json_object_array_add(options, json_object_new_string(
				dealbox_option_name((enum dealbox_option)option)));
	if (r->options)
		json_object_object_add(object, "options", options);
	else
		json_object_put(options);
	for (n = 0; n < r->fact_count; n++)
		json_object_array_add(facts, json_object_new_int64((int64_t)r->facts[n]));
	json_object_object_add(object, "fact_lines", facts);
	json_add_text(object, "language", law->language);
	json_add_text(object, "text", text);
	json_say(object);
}

void ruling_text_judgement(struct ruling_text *law, const struct dealbox_judgement *j)
{
	const char *text = translated(law, j->text);
	struct json_object *object;

	if (!j->known)
		return;
	law->deals++;
	law->other |= j->verdict != DEALBOX_LAW_STANDS;
	if (!law->json) {
		if (j->board >= 0)
			say("%s: %s %d: %s. %s", law->source, translated(law, N_("board")),
			    j->board, translated(law, j->name), text);
		else
			say("%s: %s %lu: %s. %s", law->source, translated(law, N_("deal")), j->deal,
			    translated(law, j->name), text);
		return;
	}
	object = json_line("verdict");
	json_add_number(object, "record_deal", j->deal);
	if (j->board >= 0)
		json_add_number(object, "board", (uint64_t)j->board);
	json_add_text(object, "verdict", j->name);
	if (j->line)
		json_add_number(object, "line", j->line);
	json_add_text(object, "language", law->language);
	json_add_text(object, "text", text);
	json_say(object);
}

void ruling_text_print(const struct dealbox_ruling *r, void *context)
{
	struct ruling_text *law = context;
	char text[1024], facts[128] = "";
	size_t used = 0;
	int n;

	law->rulings++;
	law->no |= !ruling_good(r);
	dealbox_ruling_text(r, law->language, text, sizeof(text));
	if (law->json) {
		ruling_json(law, r, text);
		return;
	}
	for (n = 0; n < r->fact_count && used < sizeof(facts); n++)
		used += (size_t)snprintf(facts + used, sizeof(facts) - used, "%s%lu",
					 n ? ", " : "", r->facts[n]);
	say("%s:%lu: %s, %s %s [%s]", law->source, r->line,
	    translated(law, dealbox_ruling_kind_name(r->kind)), dealbox_ruleset_get(r->rules)->name,
	    r->reference, facts);
	say("    %s", text);
}
