// SPDX-License-Identifier: LGPL-2.1-or-later
/* Records, the judge's limits, plans and traces. The rulings are in tests/unit/law/cases. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dealbox/law.h>

/* Allocations since the start, counted by the linker's --wrap. */
static unsigned long allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
	allocations++;
	return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	allocations++;
	return __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	allocations++;
	return __real_realloc(old, size);
}

struct heard {
	unsigned long rulings, last_line, stands;
	char text[8][200];
};

static void hear(const struct dealbox_ruling *ruling, void *context)
{
	struct heard *heard = context;

	if (heard->rulings < 8)
		dealbox_ruling_format(ruling, heard->text[heard->rulings], sizeof(heard->text[0]));
	heard->rulings++;
	heard->stands += ruling->kind == DEALBOX_RULING_STANDS;
	heard->last_line = ruling->line;
}

/* Judges text. Returns the line of the error, or 0. */
static unsigned long judge(const char *text, struct heard *heard, struct dealbox_error *error)
{
	struct dealbox_judge *j = dealbox_judge_new(hear, heard);
	unsigned long bad = 0;

	assert_non_null(j);
	memset(heard, 0, sizeof(*heard));
	while (*text && !bad) {
		size_t n = strcspn(text, "\n");

		if (dealbox_judge_line(j, text, n, error))
			bad = error->line;
		text += n + (text[n] == '\n');
	}
	dealbox_judge_free(j);
	return bad;
}

/* The error of a wrong line has its number, and says what is allowed there. */
static void test_wrong_lines(void **state)
{
	static const struct {
		const char *record, *says;
		unsigned long line;
	} cases[] = {
		{ "turn S\n", "the first line is rules", 1 },
		{ "rules whist\n", "there may stand: duplicate-2007, "
				   "duplicate-2017, rubber, preferans", 1 },
		{ "rules rubber\nrules rubber\n", "rules stands once", 2 },
		{ "rules rubber\n\n# nothing\nW shufle\n", "\"shufle\" is no word of a record", 4 },
		{ "rules rubber\nshuffle\n", "who? Before shuffle stands", 2 },
		{ "rules rubber\nW rules rubber\n", "nobody stands before rules", 2 },
		{ "rules rubber\nW shuffle times=many\n", "times=many: not a number", 2 },
		{ "rules rubber\nW shuffle times=0\n", "leave the line out", 2 },
		{ "rules rubber\nW shuffle times=1 times=2\n", "times= stands twice", 2 },
		{ "rules rubber\nW shuffle pack=red\n", "write \"pack red\" before", 2 },
		{ "rules rubber\nW shuffle loudly\n",
		  "cannot stand after shuffle; there may stand: faceup", 2 },
		{ "rules rubber\nW cut 20/30\n", "the portions have 50 cards, and the pack has 52",
		  2 },
		{ "rules rubber\nW deal\n", "after deal stands one hand, or rest", 2 },
		{ "rules rubber\nW deal talon\n", "there is no talon in rubber", 2 },
		{ "rules rubber\nW deal N cards=53\n", "cards= is 1 to 52", 2 },
		{ "rules rubber\nW deal rest\nW deal N\n", "the deal was over", 3 },
		{ "rules rubber\nboard 1\n", "does not belong to rubber", 2 },
		{ "rules rubber\ndirector shuffle\n", "there is no director in rubber", 2 },
		{ "rules rubber\nW notes\n", "a word is missing after notes: ", 2 },
		{ "rules rubber\nW notes misdeal turn\n", "cannot stand together", 2 },
		{ "rules rubber\nW demand cut for=misdeal\n", "after demand redeal only", 2 },
		{ "rules rubber\nturn S\nS deal W\nturn N\n",
		  "it is the turn of W to deal, not of N", 4 },
		{ "rules rubber\n@5 turn S\n@4 W shuffle\n", "the time is before", 3 },
		{ "rules rubber\n@soon turn S\n", "after @ stand seconds", 2 },
		{ "rules preferans\nW look\n", "W does not play", 2 },
		{ "rules preferans\nN deal W\n", "W does not play", 2 },
		{ "rules preferans\nN find missing E trick\n", "does not belong to preferans", 2 },
		{ "rules preferans\nplayers N E S W\nturn N\nN deal N\n",
		  "gets no cards when four play", 4 },
		{ "rules duplicate-2017\ndirector instruct method\n", "random or biased", 2 },
		{ "rules rubber\nW find surplus E dummy\n", "in-hand, played or old-trick", 2 },
		{ "rules rubber\npack red\npack\n", "each needs a name", 3 },
		/* words that contradict each other */
		{ "rules rubber\nW find surplus E in-hand played\n",
		  "played and in-hand cannot stand together", 2 },
		{ "rules rubber\nW find surplus E played old-trick\n",
		  "played and old-trick cannot stand", 2 },
		{ "rules rubber\nW find surplus E trick dummy played\n",
		  "trick and dummy cannot stand", 2 },
		{ "rules rubber\nW find missing E trick elsewhere\n",
		  "elsewhere and trick cannot stand", 2 },
		{ "rules rubber\nW find missing E played\n",
		  "played cannot stand after find missing", 2 },
		{ "rules rubber\nW find missing E dummy\n", "dummy cannot stand after find missing",
		  2 },
		{ "rules rubber\npack sorted played\n", "sorted and played cannot stand", 2 },
		{ "rules rubber\nN place right elsewhere\n", "right and elsewhere cannot stand",
		  2 },
		{ "rules rubber\nE cut incomplete completed=S\n",
		  "a cut that is incomplete has nobody", 2 },
		{ "rules duplicate-2017\ndirector instruct method random biased\n",
		  "random and biased cannot stand", 2 },
		{ "rules duplicate-2017\ndirector instruct agents random\n",
		  "random cannot stand after instruct agents", 2 },
		{ "rules duplicate-2017\ndirector instruct agents 3\n",
		  "a number cannot stand after instruct agents", 2 },
		{ "rules duplicate-2017\ndirector instruct copies 0\n", "leave the line out", 2 },
		{ "rules duplicate-2017\nN demand redeal incompatible\n",
		  "incompatible stands after director", 2 },
		{ "rules duplicate-2017\nN demand cut incompatible\n",
		  "incompatible cannot stand after demand cut", 2 },
		{ "rules duplicate-2017\nboard 1\norigin exchanged\norigin other-session\n",
		  "line 3 says another origin", 4 },
		{ "rules duplicate-2017\ndirector instruct copies 1\nboard 1\nmachine copy exact\n"
		  "machine copy exact\n", "copies instructed, which is 1", 5 },
		{ "rules duplicate-2017\ndirector instruct copies 1\nboard 1\n"
		  "machine copy exact 2\n", "copies instructed, which is 1", 4 },
		{ "rules duplicate-2017\ndirector instruct copies 2\nboard 1\n"
		  "machine copy exact 1\nmachine copy exact 2\nmachine copy exact\n",
		  "copies instructed, which is 2", 6 },
		{ "rules preferans\ngame all-pass open closed\n", "closed and open cannot stand",
		  2 },
		{ "rules preferans\ngame misere open\n", "open cannot stand after game misere", 2 },
		{ "rules preferans\nturn N\ngame misere\ngame all-pass\n",
		  "line 3 says another game", 4 },
		{ "rules preferans\nturn N\nE call 6S\ngame all-pass\n", "line 3 has a bid", 4 },
		{ "rules preferans\ncustom talon-anywhere 5\n",
		  "a number cannot stand after custom talon-anywhere", 2 },
		{ "rules preferans\nturn N\nintent none\nintent possible\n",
		  "line 3 says another intent", 4 },
		{ "rules preferans\nturn N\ninterests conflict\ninterests no-conflict\n",
		  "line 3 says other interests", 4 },
	};
	struct dealbox_error error;
	struct heard heard;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned long line = judge(cases[i].record, &heard, &error);

		if (line != cases[i].line || !strstr(error.what, cases[i].says))
			fail_msg("%s: line %lu, \"%s\"", cases[i].record, line,
				 line ? error.what : "");
	}
}

/* Words that look alike, and do not contradict each other. */
static void test_right_lines(void **state)
{
	static const char *const records[] = {
		"rules rubber\nW find surplus E in-hand dummy\n",
		"rules rubber\nW find missing E\n",
		"rules rubber\nW find missing E elsewhere\n",
		"rules duplicate-2017\ndirector instruct copies 1\nboard 1\n"
		"machine copy different\nmachine copy exact\nboard 2\nmachine copy exact\n",
		"rules duplicate-2017\ndirector instruct copies 2\nboard 1\nmachine copy exact 2\n"
		"machine copy exact 2\nmachine copy exact 1\n",
		"rules duplicate-2017\n"
		"director instruct method biased\ndirector instruct method random\n",
		"rules duplicate-2017\n"
		"board 1\norigin exchanged\nboard 2\norigin other-session\n",
		"rules preferans\nturn N\nintent none\nN deal rest\nturn E\nintent possible\n",
		"rules preferans\nturn N\nE call pass\ngame all-pass closed\n",
	};
	struct dealbox_error error;
	struct heard heard;

	(void)state;
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++)
		if (judge(records[i], &heard, &error))
			fail_msg("%s: %s", records[i], error.what);
}

/* After an error the judge takes no more lines, and repeats the error. */
static void test_error_stays(void **state)
{
	struct dealbox_error first, again;
	struct dealbox_happening happening;
	struct heard heard = { 0 };
	struct dealbox_judge *j = dealbox_judge_new(hear, &heard);

	(void)state;
	memset(&first, 0xff, sizeof(first));
	assert_int_equal(dealbox_judge_line(j, "nonsense", 8, &first), -EINVAL);
	assert_int_equal(dealbox_judge_line(j, "rules rubber", 12, &again), -EINVAL);
	assert_int_equal(again.line, 1);
	assert_int_equal(again.code, -EINVAL);
	assert_memory_equal(&first, &again, sizeof(first));
	assert_int_equal(heard.rulings, 0);
	dealbox_judge_free(j);

	/* without an error object the call still fails */
	j = dealbox_judge_new(hear, &heard);
	assert_int_equal(dealbox_record_parse("nonsense", 8, &(struct dealbox_happening){ 0 },
					      NULL), -EINVAL);
	assert_int_equal(dealbox_judge_line(j, "nonsense", 8, NULL), -EINVAL);
	assert_int_equal(dealbox_judge_line(j, "rules rubber", 12, NULL), -EINVAL);
	assert_int_equal(dealbox_judge_happening(j, &(struct dealbox_happening){ 0 }, NULL),
			 -EINVAL);
	assert_int_equal(dealbox_judge_trace(j, &(struct dealbox_plan){ 0 }, NULL, NULL, NULL,
					     NULL), -EINVAL);
	dealbox_judge_free(j);

	/* nor may a happening mean something that only a later library knows */
	j = dealbox_judge_new(hear, &heard);
	assert_int_equal(dealbox_record_parse("rules rubber", 12, &happening, NULL), 1);
	happening.reserved[3] = 1;
	assert_int_equal(dealbox_judge_happening(j, &happening, NULL), -EINVAL);
	dealbox_judge_free(j);

	/* a word may not contain zero bytes */
	memset(&first, 0xff, sizeof(first));
	assert_int_equal(dealbox_record_parse("S\0\0\0\0\0\0\0 look", 13,
					      &(struct dealbox_happening){ 0 }, &first), -EINVAL);
	assert_int_equal(first.code, -EINVAL);
	assert_int_equal(first.line, 0);
	assert_string_equal(first.next, "");
}

/* Parsing a formatted line gives the same happening, for a line with each kind of word. */
static void test_format_is_the_inverse(void **state)
{
	static const char *const lines[] = {
		"rules duplicate-2017", "players N E S W", "pack red cards=51 of=EW",
		"pack sorted", "turn S pack=red", "board 17", "origin other-session unplayed",
		"custom remise 10", "W shuffle faceup times=5", "N place right pack=red",
		"E cut 20/32 completed=S", "S deal W cards=2 faceup fault=E", "S deal N seen=W",
		"S deal rest left=3", "dealt", "@12.345 E look talon", "mix N E",
		"N count 12 expected=11", "N count W 14 silent", "W find surplus E dummy played",
		"E call pass", "E call X", "E call 6S", "N call misere", "S call 10NT",
		"E notes damaged pack=red", "E demand redeal for=misdeal",
		"director demand redeal incompatible", "director instruct method random",
		"director instruct copies 3", "machine copy exact 2", "game all-pass closed",
	};
	struct dealbox_happening a, b;
	struct dealbox_error error;
	char text[512];

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(dealbox_record_parse(lines[i], strlen(lines[i]), &a, &error), 1);
		dealbox_record_format(&a, text, sizeof(text));
		assert_int_equal(dealbox_record_parse(text, strlen(text), &b, &error), 1);
		if (memcmp(&a, &b, sizeof(a)))
			fail_msg("\"%s\" became \"%s\"", lines[i], text);
		/* truncated as by snprintf(), without writing beyond the end */
		memset(text, 'x', sizeof(text));
		assert_true(dealbox_record_format(&a, text, 4) >= 4);
		assert_int_equal(strlen(text), 3);
		assert_int_equal(text[4], 'x');
	}
}

/*
 * A million lines: the judge reads each line once and allocates nothing for it, so the last line
 * takes as much work as the first.
 */
static void test_a_million_lines(void **state)
{
	static const char *const round[] = { "S deal W", "S deal N", "S deal E", "S deal S" };
	struct heard heard = { 0 };
	struct dealbox_judge *j = dealbox_judge_new(hear, &heard);
	struct dealbox_error error;
	unsigned long lines = 0, deals = 0, before;

	(void)state;
	assert_int_equal(dealbox_judge_line(j, "rules rubber", 12, &error), 0);
	before = allocations;
	for (lines = 1; lines < 1000000; deals++) {
		static const char *const start[] = {
			"rubber", "turn S", "W shuffle times=5", "S pickup", "E cut 26/26",
		};

		for (size_t i = 0; i < 5; i++, lines++)
			assert_int_equal(dealbox_judge_line(j, start[i], strlen(start[i]), &error),
					 0);
		for (size_t i = 0; i < 52; i++, lines++)
			assert_int_equal(dealbox_judge_line(j, round[i % 4], 8, &error), 0);
	}
	assert_int_equal(allocations, before);
	assert_int_equal(heard.rulings, deals);
	assert_int_equal(heard.stands, deals);
	assert_int_equal(heard.last_line, lines);
	dealbox_judge_free(j);
}

/* Each ruleset's rotation: the owner of each position; the judge accepts it. */
static void test_rotation(void **state)
{
	static const uint8_t preferans[] = { 1, 1, 2, 2, 0, 0, 3, 3, 1, 1, 2, 2, 0, 0 };
	struct dealbox_plan plan;
	unsigned int count[4];

	(void)state;
	for (int rules = 0; rules < DEALBOX_RULES; rules++) {
		const struct dealbox_ruleset *r = dealbox_ruleset_get(rules);

		assert_int_equal(dealbox_law_plan(rules, 0, 7, &plan), 0);
		assert_int_equal(plan.mode, DEALBOX_PLAN_BY_POSITION);
		assert_int_equal(plan.entries, r->cards);
		assert_int_equal(plan.plan_id, 7);
		memset(count, 0, sizeof(count));
		for (int i = 0; i < plan.entries; i++) {
			count[plan.pocket[i]]++;
			if (r->packet == 1 && i)
				assert_int_not_equal(plan.pocket[i], plan.pocket[i - 1]);
		}
		for (int h = 0; h < r->hands; h++)
			assert_int_equal(count[h], r->hand_cards);
		/* the first to the left of the dealer, the last to himself */
		assert_int_equal(plan.pocket[0], 1);
		assert_int_equal(plan.pocket[plan.entries - 1], 0);
	}
	assert_int_equal(dealbox_law_plan(DEALBOX_RULES_PREFERANS, 0, 7, &plan), 0);
	assert_memory_equal(plan.pocket, preferans, sizeof(preferans));
	assert_int_equal(dealbox_law_plan(DEALBOX_RULES_PREFERANS, DEALBOX_ACTOR_WEST, 7, &plan),
			 -EINVAL);
	assert_int_equal(dealbox_law_plan(DEALBOX_RULES, 0, 7, &plan), -EINVAL);
	assert_int_equal(dealbox_law_plan(DEALBOX_RULES_RUBBER, 0, DEALBOX_PLAN_NONE, &plan),
			 -EINVAL);
}

static void event_quality(struct dealbox_trace *trace, uint32_t type, uint8_t position,
			  uint8_t card, uint8_t pocket, uint8_t quality)
{
	struct dealbox_event e = {
		.type = type, .position = position, .card = card, .pocket = pocket,
		.insertion = 1, .quality = quality,
		.seqno = dealbox_trace_count(trace) + 1,
		.machine_seq = (uint32_t)dealbox_trace_count(trace) + 1,
	};

	assert_int_equal(dealbox_trace_add(trace, &e), 1);
}

static void event(struct dealbox_trace *trace, uint32_t type, uint8_t position, uint8_t card,
		  uint8_t pocket)
{
	event_quality(trace, type, position, card, pocket, DEALBOX_NONE);
}

/* The trace of a deal by plan; position faulty (255 = none) goes to pocket wrong. */
static struct dealbox_trace *deal(const struct dealbox_plan *plan, uint8_t faulty, uint8_t wrong)
{
	struct dealbox_trace *trace = dealbox_trace_new(1);

	event(trace, DEALBOX_EV_DEAL_STARTED, DEALBOX_NONE, DEALBOX_NONE, DEALBOX_NONE);
	for (uint8_t i = 0; i < plan->entries; i++) {
		uint8_t pocket = i == faulty ? wrong : plan->pocket[i];

		event(trace, DEALBOX_EV_CARD_READ, i, DEALBOX_NONE, DEALBOX_NONE);
		event(trace, DEALBOX_EV_CARD_ROUTED, i, DEALBOX_NONE, plan->pocket[i]);
		event(trace, DEALBOX_EV_CARD_LANDED, i, DEALBOX_NONE, pocket);
	}
	event(trace, DEALBOX_EV_DEAL_DONE, plan->entries, DEALBOX_NONE, DEALBOX_NONE);
	return trace;
}

static void heard_of_trace(enum dealbox_rules rules, uint8_t faulty, uint8_t wrong,
			   const char *before, struct heard *heard)
{
	struct dealbox_error error;
	struct dealbox_judge *j = dealbox_judge_new(hear, heard);
	struct dealbox_trace *trace;
	struct dealbox_plan plan;

	memset(heard, 0, sizeof(*heard));
	assert_int_equal(dealbox_law_plan(rules, 0, 7, &plan), 0);
	trace = deal(&plan, faulty, wrong);
	while (*before) {
		size_t n = strcspn(before, "\n");

		assert_int_equal(dealbox_judge_line(j, before, n, &error), 0);
		before += n + 1;
	}
	assert_int_equal(dealbox_judge_trace(j, &plan, trace, NULL, NULL, &error), 0);
	dealbox_trace_free(trace);
	dealbox_judge_free(j);
}

#define RUBBER		"rules rubber\nturn N\nE shuffle\nW cut\n"
#define PREFERANS	"rules preferans\nturn N\nS cut\n"

static void test_trace(void **state)
{
	struct dealbox_error error;
	struct dealbox_judge *j;
	struct dealbox_plan plan;
	struct heard heard;

	(void)state;
	heard_of_trace(DEALBOX_RULES_RUBBER, 255, 0, RUBBER, &heard);
	assert_int_equal(heard.rulings, 1);
	assert_string_equal(heard.text[0], "stands 8");
	heard_of_trace(DEALBOX_RULES_RUBBER, 51, 2, RUBBER, &heard);
	assert_string_equal(heard.text[1], "claim-too-late 10(a)(ii)");
	assert_string_equal(heard.text[3],
			    "redeal 10(c)(ii) who=N anew=shuffle,cut see=6(e)");
	heard_of_trace(DEALBOX_RULES_RUBBER, 30, 1, RUBBER, &heard);
	assert_string_equal(heard.text[1],
			    "redeal 10(a)(ii) who=N anew=shuffle,cut see=6(e)");
	heard_of_trace(DEALBOX_RULES_PREFERANS, 255, 0, PREFERANS, &heard);
	assert_int_equal(heard.rulings, 1);
	assert_string_equal(heard.text[0], "stands 3.2.13");
	/* half of the talon to a player */
	heard_of_trace(DEALBOX_RULES_PREFERANS, 7, 1, PREFERANS, &heard);
	/* the dealer is not warned, because the machine made the error */
	assert_string_equal(heard.text[0], "redeal 3.2.13 who=N see=3.2.15(5)");

	/* no ruleset, no judgement */
	j = dealbox_judge_new(hear, &heard);
	assert_int_equal(dealbox_law_plan(DEALBOX_RULES_RUBBER, 0, 7, &plan), 0);
	assert_int_equal(dealbox_judge_trace(j, &plan, NULL, NULL, NULL, &error), -EINVAL);
	dealbox_judge_free(j);
}

/* The first two cards are read as the same one, the second with this quality. */
static void test_trace_readings(void **state)
{
	static const struct {
		uint8_t quality;
		const char *says;
	} rows[] = {
		{ 0, "redeal" }, { 1, "stands" }, { 49, "stands" }, { 50, "redeal" },
		{ DEALBOX_NONE, "redeal" },
	};
	struct dealbox_error error;
	struct dealbox_trace *trace;
	struct dealbox_judge *j;
	struct dealbox_plan plan;
	struct heard heard;

	(void)state;
	assert_int_equal(dealbox_law_plan(DEALBOX_RULES_RUBBER, 0, 7, &plan), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		heard = (struct heard){ 0 };
		j = dealbox_judge_new(hear, &heard);
		for (const char *line = RUBBER; *line; line += strcspn(line, "\n") + 1)
			assert_int_equal(dealbox_judge_line(j, line, strcspn(line, "\n"), &error),
					 0);
		trace = dealbox_trace_new(1);
		event(trace, DEALBOX_EV_DEAL_STARTED, DEALBOX_NONE, DEALBOX_NONE, DEALBOX_NONE);
		for (uint8_t n = 0; n < plan.entries; n++) {
			event_quality(trace, DEALBOX_EV_CARD_READ, n, n < 2 ? 17 : DEALBOX_NONE,
				      DEALBOX_NONE, n == 1 ? rows[i].quality : DEALBOX_NONE);
			event(trace, DEALBOX_EV_CARD_ROUTED, n, DEALBOX_NONE, plan.pocket[n]);
		}
		event(trace, DEALBOX_EV_DEAL_DONE, plan.entries, DEALBOX_NONE, DEALBOX_NONE);
		assert_int_equal(dealbox_judge_trace(j, &plan, trace, NULL, NULL, &error), 0);
		if (strncmp(heard.text[heard.rulings - 1], rows[i].says, strlen(rows[i].says)))
			fail_msg("quality %u: %s", rows[i].quality, heard.text[heard.rulings - 1]);
		dealbox_trace_free(trace);
		dealbox_judge_free(j);
	}
}

/* Every paragraph and cause is there in every language, and differs from the English. */
static void test_languages(void **state)
{
	const struct dealbox_paragraph *p;

	(void)state;
	assert_string_equal(dealbox_law_language(0), "en");
	assert_null(dealbox_law_language(5));
	for (size_t n = 0; (p = dealbox_paragraph_get(n)); n++) {
		assert_ptr_equal(dealbox_law_translate("en", p->text), p->text);
		assert_ptr_equal(dealbox_law_translate(NULL, p->text), p->text);
		assert_ptr_equal(dealbox_law_translate("tlh", p->text), p->text);
		for (size_t l = 1; dealbox_law_language(l); l++)
			assert_string_not_equal(p->text,
						dealbox_law_translate(dealbox_law_language(l),
								      p->text));
	}
	assert_null(dealbox_paragraph_find(DEALBOX_RULES_RUBBER, "6D1"));
	assert_non_null(dealbox_paragraph_find(DEALBOX_RULES_DUPLICATE_2007, "6D1"));
	assert_ptr_not_equal(dealbox_paragraph_find(DEALBOX_RULES_DUPLICATE_2007, "6D1"),
			     dealbox_paragraph_find(DEALBOX_RULES_DUPLICATE_2017, "6D1"));
}

struct sentence {
	const char *language;
	char text[1024];	/* of the last ruling */
};

static void hear_sentence(const struct dealbox_ruling *ruling, void *context)
{
	struct sentence *s = context;

	dealbox_ruling_text(ruling, s->language, s->text, sizeof(s->text));
}

/* Laws are cited as in the text of that language; numbers are worded without plural forms. */
static void test_sentences(void **state)
{
#define SEEN "rules duplicate-2017\nN call 1C\nE see S\n"
#define TWICE "rules rubber\nturn S\nN count 9 expected=10\nW notes twice N\n"
#define REMISE "rules preferans\ncustom remise 1\nturn N\nN deal E\nS notes manner\nN deal S\nS " \
	       "notes manner\n" \
	"N redeal\n"
#define TALON "rules preferans\nturn N\nE see talon\ngame all-pass"
	static const struct {
		const char *record, *language, *says;
	} cases[] = {
		{ SEEN, "en", "These Laws apply: 16D, 24." },
		{ SEEN, "el", "Εφαρμόζονται οι Νόμοι: 16Δ, 24." },
		{ SEEN, "nb", "Disse paragrafene gjelder: § 16D, § 24." },
		{ SEEN, "fr", "Ces Lois s'appliquent : 16D, 24." },
		{ "rules duplicate-2007\nN call 1C\nE see S\n", "el", "οι Νόμοι: 16Γ, 24." },
		{ "rules duplicate-2017\ndirector demand redeal\n", "el",
		  "Βλέπε επίσης: 22Β, 86Α." },
		{ "rules duplicate-2007\ndirector demand redeal\n", "nb",
		  "Se også: § 22A, § 86C." },
		{ TWICE, "nb", "Disse paragrafene gjelder: § 67." },
		{ TWICE, "el", "οι Νόμοι: 67." },
		{ "rules rubber\nturn S\nN count 9 expected=10\n", "nb", "Se også: § 10(c)." },
		{ "rules preferans\nturn N\nN call pass\nN count 9\n", "nb",
		  "Se også: 3.2.23, 3.9.18." },
		{ REMISE, "en", "The deal passes to the next player (East)." },
		{ "rules preferans\nturn N\nS look talon\n", "ru", "Штраф: 5 в гору (Юг)." },
		{ TALON "\n", "en", "he must take the first two tricks" },
		{ TALON " closed\n", "en", "he must take all ten tricks" },
		{ TALON "\n", "ru", "первые две взятки" },
		{ TALON " closed\n", "ru", "все десять взяток" },
	};
	struct dealbox_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sentence s = { .language = cases[i].language };
		struct dealbox_judge *j = dealbox_judge_new(hear_sentence, &s);

		for (const char *line = cases[i].record; *line; line += strcspn(line, "\n") + 1)
			assert_int_equal(dealbox_judge_line(j, line, strcspn(line, "\n"), &error),
					 0);
		if (!strstr(s.text, cases[i].says))
			fail_msg("%s: \"%s\" is not in \"%s\"", cases[i].record, cases[i].says,
				 s.text);
		dealbox_judge_free(j);
	}
}

static void read_pocket(struct dealbox_trace *trace, dealbox_cards cards)
{
	uint8_t position = 0;

	event(trace, DEALBOX_EV_DEAL_STARTED, DEALBOX_NONE, DEALBOX_NONE, DEALBOX_NONE);
	for (uint8_t card = 0; card < 52; card++)
		if (cards >> card & 1)
			event(trace, DEALBOX_EV_CARD_READ, position++, card, DEALBOX_NONE);
	event(trace, DEALBOX_EV_DEAL_DONE, position, DEALBOX_NONE, DEALBOX_NONE);
}

static void test_capture(void **state)
{
	dealbox_cards hands[4] = { 0x1fffULL, 0x1fffULL << 13, 0x1fffULL << 26, 0x1fffULL << 39 };
	dealbox_cards cards;
	struct dealbox_trace *traces[4];
	const struct dealbox_trace *const *read = (const struct dealbox_trace *const *)traces;
	struct dealbox_deal out;
	unsigned int pocket;

	(void)state;
	/* each suit to one hand, but for the aces of spades and hearts */
	hands[0] ^= 1ULL | 1ULL << 13;
	hands[1] ^= 1ULL | 1ULL << 13;
	for (int h = 0; h < 4; h++) {
		traces[h] = dealbox_trace_new(1);
		read_pocket(traces[h], hands[h]);
	}
	assert_int_equal(dealbox_law_capture(read, dealbox_pack_bridge(), &out, &pocket), 0);
	for (int h = 0; h < 4; h++)
		assert_int_equal(out.hand[h], hands[h]);
	assert_int_equal(dealbox_law_capture_pocket(traces[0], &cards), 0);
	assert_int_equal(cards, hands[0]);

	/* a second reading of the same pocket counts, not the first */
	read_pocket(traces[2], hands[2]);
	assert_int_equal(dealbox_law_capture(read, dealbox_pack_bridge(), &out, &pocket), 0);

	/* one suit in each pocket is no random deal */
	read_pocket(traces[0], 0x1fffULL);
	read_pocket(traces[1], 0x1fffULL << 13);
	assert_int_equal(dealbox_law_capture(read, dealbox_pack_bridge(), &out, &pocket), -EDOM);

	/* a pocket with twelve cards was read whole, but is no hand */
	read_pocket(traces[1], 0xfffULL << 13);
	assert_int_equal(dealbox_law_capture_pocket(traces[1], &cards), 0);
	assert_int_equal(dealbox_cards_count(cards), 12);
	assert_int_equal(dealbox_law_capture(read, dealbox_pack_bridge(), &out, &pocket), -EBADMSG);

	/* a card in two pockets */
	read_pocket(traces[1], 0x1fffULL << 12);
	assert_int_equal(dealbox_law_capture(read, dealbox_pack_bridge(), &out, &pocket), -EBADMSG);

	/* a pocket that was not read completely */
	event(traces[3], DEALBOX_EV_DEAL_STARTED, DEALBOX_NONE, DEALBOX_NONE, DEALBOX_NONE);
	event(traces[3], DEALBOX_EV_CARD_READ, 0, 40, DEALBOX_NONE);
	assert_int_equal(dealbox_law_capture(read, dealbox_pack_bridge(), &out, &pocket), -EINVAL);
	assert_int_equal(pocket, 3);
	assert_int_equal(dealbox_law_capture_pocket(traces[3], &cards), -EINVAL);
	event(traces[0], DEALBOX_EV_DOUBLE_FEED, 3, DEALBOX_NONE, DEALBOX_NONE);
	assert_int_equal(dealbox_law_capture(read, dealbox_pack_bridge(), &out, &pocket), -EINVAL);
	assert_int_equal(pocket, 0);
	for (int h = 0; h < 4; h++)
		dealbox_trace_free(traces[h]);
}

/* Begin a pocket with eleven cards of hearts, and a reading of quality at position 11. */
static struct dealbox_trace *pocket_of(uint8_t card, uint8_t quality)
{
	struct dealbox_trace *trace = dealbox_trace_new(1);

	event(trace, DEALBOX_EV_DEAL_STARTED, DEALBOX_NONE, DEALBOX_NONE, DEALBOX_NONE);
	for (uint8_t n = 0; n < 11; n++)
		event(trace, DEALBOX_EV_CARD_READ, n, 13 + n, DEALBOX_NONE);
	event_quality(trace, DEALBOX_EV_CARD_READ, 11, card, DEALBOX_NONE, quality);
	return trace;
}

/* A card of an original counts as it was read last, and only if it was read well enough. */
static void test_capture_readings(void **state)
{
	static const struct {
		uint8_t card, quality;		/* of the first reading */
		uint32_t stop;			/* 0 = none; then it is read again: */
		uint8_t again, quality_again;
		bool good;
	} rows[] = {
		{ 7, 50, 0, 0, 0, true },
		{ 7, 0, 0, 0, 0, true },
		{ 7, DEALBOX_NONE, 0, 0, 0, true },
		{ 7, 49, 0, 0, 0, false },
		{ 7, 1, 0, 0, 0, false },
		{ 7, 90, DEALBOX_EV_GATE_LATE, 7, 90, true },
		/* it was misread at first */
		{ 8, 30, DEALBOX_EV_NOT_IN_PLAN, 7, 90, true },
		{ 8, 90, DEALBOX_EV_GATE_LATE, 7, 90, true },
		{ DEALBOX_NONE, DEALBOX_NONE, DEALBOX_EV_NOT_IN_PLAN, 7, 90, true },
		{ 7, 90, DEALBOX_EV_GATE_LATE, 7, 30, false },
		{ 7, 90, DEALBOX_EV_GATE_LATE, DEALBOX_NONE, DEALBOX_NONE, false },
		/* nobody stopped, so these are two cards */
		{ 8, 90, DEALBOX_EV_CARD_ROUTED, 7, 90, false },
	};
	struct dealbox_trace *trace;
	dealbox_cards cards;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		trace = pocket_of(rows[i].card, rows[i].quality);
		if (rows[i].stop) {
			event(trace, rows[i].stop, 11, rows[i].card, DEALBOX_NONE);
			event_quality(trace, DEALBOX_EV_CARD_READ, 11, rows[i].again, DEALBOX_NONE,
				      rows[i].quality_again);
		}
		event(trace, DEALBOX_EV_CARD_READ, 12, 0, DEALBOX_NONE);
		event(trace, DEALBOX_EV_DEAL_DONE, 13, DEALBOX_NONE, DEALBOX_NONE);
		if (dealbox_law_capture_pocket(trace, &cards) != (rows[i].good ? 0 : -EINVAL))
			fail_msg("row %zu", i);
		if (rows[i].good)
			assert_int_equal(cards, 0x7ffULL << 13 | 1 << 7 | 1);
		dealbox_trace_free(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_lines),
		cmocka_unit_test(test_right_lines),
		cmocka_unit_test(test_error_stays),
		cmocka_unit_test(test_format_is_the_inverse),
		cmocka_unit_test(test_a_million_lines),
		cmocka_unit_test(test_rotation),
		cmocka_unit_test(test_trace),
		cmocka_unit_test(test_trace_readings),
		cmocka_unit_test(test_languages),
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_capture_readings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
