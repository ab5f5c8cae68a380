// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Judges arbitrary records. Every accepted line is the same after writing and reading. Every
 * ruling has its paragraph, a sentence in each language and its citation, and rests on lines of the
 * record in ascending order, of which the last is its own. No verdict rests on a later line, and
 * the number of the deal never decreases.
 */
#include <dealbox/law.h>

#include "fuzz.h"

struct heard {
	unsigned long line;	/* of the record */
	enum dealbox_rules rules;
};

static void hear(const struct dealbox_ruling *r, void *context)
{
	const struct heard *heard = context;
	char text[2048];

	CHECK(r->kind < DEALBOX_RULING_KINDS && r->rules < DEALBOX_RULES);
	CHECK(r->line == heard->line);
	CHECK(dealbox_paragraph_find(r->rules, r->reference));
	for (const char *see = r->see; see && *see;) {
		size_t n = strcspn(see, ",");

		snprintf(text, sizeof(text), "%.*s", (int)n, see);
		CHECK(dealbox_paragraph_find(r->rules, text));
		see += n + strspn(see + n, ", ");
	}
	CHECK(r->fact_count >= 1 && r->fact_count <= DEALBOX_RULING_FACTS);
	CHECK(r->facts[r->fact_count - 1] == r->line && r->facts[0] > 0);
	for (int i = 1; i < r->fact_count; i++)
		CHECK(r->facts[i - 1] < r->facts[i]);
	for (size_t n = 0; dealbox_law_language(n); n++) {
		size_t length = dealbox_ruling_text(r, dealbox_law_language(n), text, sizeof(text));

		CHECK(length > 10 && length < sizeof(text) && strlen(text) == length);
	}
	CHECK(dealbox_ruling_format(r, text, sizeof(text)) < sizeof(text));
}

static void again(const char *line, size_t length)
{
	struct dealbox_error error;
	struct dealbox_happening a, b;
	char text[512];
	int ret = dealbox_record_parse(line, length, &a, &error);

	if (ret < 0)
		CHECK(*error.what && strlen(error.what) < sizeof(error.what));
	if (ret <= 0)
		return;
	CHECK(dealbox_record_format(&a, text, sizeof(text)) < sizeof(text));
	CHECK(dealbox_record_parse(text, strlen(text), &b, &error) == 1);
	CHECK(!memcmp(&a, &b, sizeof(a)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const rules[] = {
		"rules duplicate-2007", "rules duplicate-2017", "rules rubber", "rules preferans",
	};
	struct heard heard = { 0 };
	struct dealbox_error error;
	struct dealbox_judgement now;
	unsigned long deal = 0;
	struct dealbox_judge *judge = dealbox_judge_new(hear, &heard);
	char *text = (char *)memdup(data, size), *at = text, *end = text + size;

	CHECK(judge);
	/* the first byte may choose the ruleset, so that lines alone are a record */
	if (size && data[0] < 4) {
		heard.line++;
		CHECK(!dealbox_judge_line(judge, rules[data[0]], strlen(rules[data[0]]), &error));
		at++;
	}
	while (at < end) {
		char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((stop ? stop : end) - at);

		again(at, length);
		heard.line++;
		if (dealbox_judge_line(judge, at, length, &error)) {
			CHECK(error.line == heard.line && *error.what);
			break;
		}
		dealbox_judge_result(judge, &now);
		CHECK(now.line <= heard.line && *now.name && *now.text);
		CHECK(!now.deal || now.deal >= deal);
		deal = now.deal ? now.deal : deal;
		at += length + 1;
	}
	dealbox_judge_free(judge);
	free(text);
	return 0;
}
