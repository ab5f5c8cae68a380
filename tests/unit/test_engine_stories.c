// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stories of the engine: events at one machine, and then the engine's steps and the state that the
 * operator sees. Every line of a story is "events | reaction".
 *
 * Events, separated by ";":
 *	in, out, started, jam ..		an event: event_words
 *	is ..					the machine's status, without an event: is()
 *	press start				an operator's push
 *	recall #1 1.1				the ledger's last insertion: that copy, exact
 *	next begin used				the result of the next such step, if it is not "ok"
 *	after begin: out			happens when the next such step has been done
 *	ask					adds the answers of the engine's other queries
 *	keys					adds the requests that an operator may make now
 *	following				adds job, board and copy that come next
 *	state 1.1				adds the state of that copy
 *	take, number 2				an operator's word about the present board
 * Reaction: the steps with copy and insertion (#), and void boards with outcome and reason; then,
 * after ">", the state that is shown, with board, copy and the other facts of its sentence.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/card.h>

#include "dealing/engine.h"
#include "ledger/job-options.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define STEPS_MAX 12

struct world {
	struct jobs jobs;
	struct engine engine, other;
	struct dealbox_info info;
	struct dealbox_status status;	/* of the machine */
	uint32_t last;			/* insertion */
	uint64_t time_ns;
	enum did results[STEPS];
	char after[STEPS][64];
	char saw[1024];
	int length;
};

/* Words of steps, results, pushes and outcomes, in the order of their enumerations. */
static const char *const step_words[STEPS] = {
	"status", "plan", "begin", "start", "pause", "resume", "reread", "abort", "clear",
	"release", "judge", "void", "undo", "attest", "signed",
};

static const char *const did_words[DIDS] = {
	"ok", "refused", "no-answer", "used", "taken", "repeat", "ledger", "exact", "differs",
};

static const char *const push_words[PUSHES] = { "start", "pause", "stop", "release" };
/* ENGINE_START .. ENGINE_TEST */
static const char *const key_words[] = {
	"start", "take", "number", "skip", "redeal", "pause", "resume", "release", "accept", "test",
};
static const char *const outcome_words[] = { "none", "exact", "differs", "void", "unknown",
					     "captured" };
static const char *const state_words[] = { "idle", "dealing", "paused", "held", "fault", "done" };
static const char *const job_words[] = { "open", "paused", "cancelled" };
static const char *const copy_words[] = { "open", "dealing", "recorded", "skipped" };

/* Words of events, and the state of the machine afterwards; -1 = unchanged. */
static const struct {
	const char *word;
	uint32_t type;
	int state;
} event_words[] = {
	{ "lost", DEALBOX_EV_STATE_LOST, -1 },
	{ "loaded", DEALBOX_EV_HOPPER_LOADED, -1 },
	{ "empty", DEALBOX_EV_HOPPER_EMPTY, -1 },
	{ "in", DEALBOX_EV_BOARD_INSERTED, -1 },
	{ "out", DEALBOX_EV_BOARD_REMOVED, -1 },
	{ "open", DEALBOX_EV_COVER_OPEN, -1 },
	{ "closed", DEALBOX_EV_COVER_CLOSED, -1 },
	{ "key", DEALBOX_EV_KEY, -1 },
	{ "started", DEALBOX_EV_DEAL_STARTED, DEALBOX_STATE_DEALING },
	{ "read", DEALBOX_EV_CARD_READ, -1 },
	{ "routed", DEALBOX_EV_CARD_ROUTED, -1 },
	{ "landed", DEALBOX_EV_CARD_LANDED, -1 },
	{ "done", DEALBOX_EV_DEAL_DONE, DEALBOX_STATE_DONE },
	{ "paused", DEALBOX_EV_PAUSED, DEALBOX_STATE_PAUSED },
	{ "resumed", DEALBOX_EV_RESUMED, DEALBOX_STATE_DEALING },
	{ "aborted", DEALBOX_EV_ABORTED, DEALBOX_STATE_IDLE },
	{ "cleared", DEALBOX_EV_FAULT_CLEARED, DEALBOX_STATE_IDLE },
	{ "attested", DEALBOX_EV_ATTESTED, -1 },
	{ "unreadable", DEALBOX_EV_CARD_UNREADABLE, DEALBOX_STATE_HELD },
	{ "not-in-plan", DEALBOX_EV_NOT_IN_PLAN, DEALBOX_STATE_HELD },
	{ "late", DEALBOX_EV_GATE_LATE, DEALBOX_STATE_HELD },
	{ "feed", DEALBOX_EV_FEED_TIMEOUT, DEALBOX_STATE_HELD },
	{ "short", DEALBOX_EV_DECK_SHORT, DEALBOX_STATE_HELD },
	{ "held-25", 0x25, DEALBOX_STATE_HELD },
	{ "held-27", 0x27, DEALBOX_STATE_HELD },
	{ "repeated", DEALBOX_EV_REPEATED_CARD, DEALBOX_STATE_FAULT },
	{ "double", DEALBOX_EV_DOUBLE_FEED, DEALBOX_STATE_FAULT },
	{ "jam", DEALBOX_EV_JAM, DEALBOX_STATE_FAULT },
	{ "wrong", DEALBOX_EV_WRONG_POCKET, DEALBOX_STATE_FAULT },
	{ "pulled", DEALBOX_EV_BOARD_PULLED, DEALBOX_STATE_FAULT },
	{ "opened", DEALBOX_EV_COVER_OPENED, DEALBOX_STATE_FAULT },
	{ "hardware", DEALBOX_EV_HARDWARE, DEALBOX_STATE_FAULT },
	{ "fault-2f", 0x2f, DEALBOX_STATE_FAULT },
	{ "fault-3f", 0x3f, DEALBOX_STATE_FAULT },
	{ "unknown-1f", 0x1f, -1 },
	{ "unknown-40", 0x40, -1 },
	{ "protocol", DEALBOX_EV_PROTOCOL_ERROR, -1 },
	{ "driver-101", 0x101, -1 },
};

static unsigned int word_in(const char *const *words, size_t count, const char *word)
{
	unsigned int n;

	for (n = 0; n < count; n++)
		if (word && !strcmp(words[n], word))
			return n;
	fail_msg("what is \"%s\"?", word ? word : "");
	return 0;
}

static enum dealbox_operator_state state_of(const char *word)
{
	enum dealbox_operator_state state = 0;

	while (word && state < DEALBOX_OPERATOR_STATES &&
	       strcmp(dealbox_operator_name(state), word))
		state++;
	if (!word || state == DEALBOX_OPERATOR_STATES)
		fail_msg("what state is \"%s\"?", word ? word : "");
	return state;
}

/* Return true if text is the word with a number after it: "card8" is 8. */
static bool number_in(const char *text, const char *word, uint32_t *number)
{
	size_t size = strlen(word);

	if (strncmp(text, word, size) || text[size] < '0' || text[size] > '9')
		return false;
	*number = strtoul(text + size, NULL, 10);
	return true;
}

static void add(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct world *w, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	w->length += vsnprintf(w->saw + w->length, sizeof(w->saw) - w->length, format, list);
	va_end(list);
	assert_in_range(w->length, 0, sizeof(w->saw) - 1);
}

/* ---- events ---- */

/* Set the machine's status: state, board, cover. */
static void is(struct world *w, char *word)
{
	static const struct {
		const char *word;
		uint32_t set, clear;
	} flags[] = {
		{ "spent", DEALBOX_STATUS_SPENT, 0 }, { "unspent", 0, DEALBOX_STATUS_SPENT },
		{ "in-doubt", DEALBOX_STATUS_IN_DOUBT, 0 }, { "sure", 0, DEALBOX_STATUS_IN_DOUBT },
		{ "open", DEALBOX_STATUS_COVER_OPEN, 0 },
		{ "closed", 0, DEALBOX_STATUS_COVER_OPEN },
		{ "loaded", DEALBOX_STATUS_HOPPER, 0 }, { "empty", 0, DEALBOX_STATUS_HOPPER },
		{ "without-board", 0, DEALBOX_STATUS_BOARD },
		{ "with-board", DEALBOX_STATUS_BOARD, 0 },
	};
	uint32_t number;
	size_t n;

	for (; word; word = strtok(NULL, " ")) {
		for (n = 0; n < COUNT(flags) && strcmp(flags[n].word, word); n++)
			;
		if (n < COUNT(flags))
			w->status.flags = (w->status.flags & ~flags[n].clear) | flags[n].set;
		else if (number_in(word, "#", &number))
			w->status.insertion = w->last = number;
		else if (number_in(word, "number", &number))
			w->status.board = number;
		else if (number_in(word, "seq", &number))
			w->status.machine_seq = number;
		else if (number_in(word, "type", &number))
			w->status.fault = number;
		else
			w->status.state = word_in(state_words, COUNT(state_words), word);
	}
}

static void event(struct world *w, size_t row, char *word)
{
	struct dealbox_event e = { .type = event_words[row].type, .position = DEALBOX_NONE };
	uint32_t number;
	bool inserted = e.type == DEALBOX_EV_BOARD_INSERTED;

	if (inserted)
		w->last++;
	e.insertion = inserted ? w->last : w->status.insertion;
	for (; word; word = strtok(NULL, " ")) {
		if (number_in(word, "#", &number))
			e.insertion = number;
		else if (number_in(word, "card", &number))
			e.position = number - 1;
		else if (number_in(word, "code", &number))
			e.code = number;
		else if (number_in(word, "number", &number))
			e.arg[0] = number;
		else if (number_in(word, "quality", &number))
			e.quality = number;
		else if (number_in(word, "ms", &number))
			w->time_ns += (uint64_t)number * 1000000;
		else if (number_in(word, "seq", &number))
			e.machine_seq = number;
		else if (number_in(word, "signs", &number))
			e.arg[1] = number;
		else if (!strcmp(word, "fails"))
			e.arg[0] = DEALBOX_ERR_HARDWARE;
		else if (!strcmp(word, "joker"))
			e.card = DEALBOX_CARD_JOKER1;
		else if (!strcmp(word, "face-up"))
			e.flags |= DEALBOX_EVF_FACE_UP;
		else if (!strcmp(word, "at-power-on"))
			e.flags |= DEALBOX_EVF_AT_POWER_ON;
		else if (!strcmp(word, "gap"))
			e.flags |= DEALBOX_EVF_GAP;
		else if (!strcmp(word, "machine-gap"))
			e.flags |= DEALBOX_EVF_MACHINE_GAP;
		else
			fail_msg("%s %s?", event_words[row].word, word);
	}
	e.timestamp_ns = w->time_ns += 1000;
	if (inserted) {
		w->last = w->status.insertion = e.insertion;
		w->status.flags =
			(w->status.flags & ~(DEALBOX_STATUS_SPENT | DEALBOX_STATUS_IN_DOUBT)) |
			DEALBOX_STATUS_BOARD |
			(e.flags & DEALBOX_EVF_AT_POWER_ON ? DEALBOX_STATUS_IN_DOUBT : 0);
		w->status.board = e.arg[0];
	}
	if (e.type == DEALBOX_EV_BOARD_REMOVED)
		w->status.flags &=
			~(DEALBOX_STATUS_BOARD | DEALBOX_STATUS_SPENT | DEALBOX_STATUS_IN_DOUBT);
	if (e.type == DEALBOX_EV_COVER_OPEN)
		w->status.flags |= DEALBOX_STATUS_COVER_OPEN;
	if (e.type == DEALBOX_EV_COVER_CLOSED)
		w->status.flags &= ~DEALBOX_STATUS_COVER_OPEN;
	if (e.type == DEALBOX_EV_HOPPER_LOADED)
		w->status.flags |= DEALBOX_STATUS_HOPPER;
	if (e.type == DEALBOX_EV_HOPPER_EMPTY)
		w->status.flags &= ~DEALBOX_STATUS_HOPPER;
	if (event_words[row].state >= 0) {
		w->status.state = event_words[row].state;
		w->status.fault = DEALBOX_EV_IS_STOP(e.type) ? e.type : 0;
	}
	if (!engine_event(&w->engine, &w->jobs, &e))
		add(w, "nothing ");
}

/* Parse "board.copy", a copy of the first job. */
static struct copy copy_in(const struct world *w, const char *text)
{
	struct copy copy = { .job = w->jobs.first ? w->jobs.first->id : 0 };

	if (!text || sscanf(text, "%u.%u", &copy.board, &copy.copy) != 2)
		fail_msg("what copy is \"%s\"?", text ? text : "");
	return copy;
}

static void recall(struct world *w, const char *number)
{
	const struct copy copy = copy_in(w, strtok(NULL, " "));
	uint32_t insertion;

	assert_true(number_in(number, "#", &insertion));
	engine_recall(&w->engine, insertion, &copy, w->jobs.first->options);
}

static void change(struct world *w, const char *verb)
{
	struct job *job = w->jobs.first;
	struct copy copy;
	const char *word = strtok(NULL, " ");

	if (!strcmp(verb, "job")) {
		job->state = word_in(job_words, COUNT(job_words), word);
	} else if (!strcmp(verb, "only")) {
		assert_int_equal(job_add_machine(job, word), 0);
	} else if (!strcmp(verb, "copy")) {
		copy = copy_in(w, word);
		job_set_state(job, copy.board, copy.copy,
			      word_in(copy_words, COUNT(copy_words), strtok(NULL, " ")));
	} else if (!strcmp(verb, "hold") || !strcmp(verb, "back")) {
		job->leased = true;
		copy = copy_in(w, word);
		assert_int_equal(job_hold(job, copy.board, copy.copy, *verb == 'h'), 0);
	} else if (!strcmp(verb, "elsewhere")) {
		w->other.copy = copy_in(w, word);
	} else if (!strcmp(verb, "without")) {
		jobs_remove(&w->jobs, job);
	} else if (!strcmp(verb, "more")) {
		assert_non_null(jobs_add(&w->jobs, 2, 1, job->boards, job->count, 1, 0, 0));
	} else {
		fail_msg("what is to %s?", verb);
	}
}

/* Add what the engine answers to programs. */
static void ask(struct world *w, const char *verb)
{
	struct engine *d = &w->engine;
	struct copy copy;
	unsigned int keys, n;

	if (!strcmp(verb, "keys")) {
		keys = engine_keys(d, &w->jobs, &w->other);
		add(w, "{");
		for (n = 0; n < COUNT(key_words); n++)
			if (keys >> n & 1)
				add(w, " %s", key_words[n]);
		add(w, " } ");
		assert_int_equal(keys >> COUNT(key_words), 0);
	} else if (!strcmp(verb, "following")) {
		if (engine_following(d, &w->jobs, &w->other, &copy))
			add(w, "(%u: %u.%u) ", (unsigned int)copy.job, copy.board, copy.copy);
		else
			add(w, "(none) ");
	} else if (!strcmp(verb, "state")) {
		copy = copy_in(w, strtok(NULL, " "));
		add(w, "(%s) ", copy_words[job_state(w->jobs.first, copy.board, copy.copy)]);
	} else {
		add(w, "[%s%s%s%s%s%s] ", engine_watched(d, &w->jobs) ? "watched" : "in peace",
		    engine_may_test(d) ? ", may test" : "", engine_moves(d) ? ", moves" : "",
		    engine_must_abort(d) ? ", must abort" : "", engine_slow(d) ? ", slow" : "",
		    engine_news(d, &w->status) ? ", news" : "");
	}
}

static void happens(struct world *w, char *text)
{
	static const char *const questions[] = { "ask", "keys", "following", "state" };
	struct engine *d = &w->engine;
	char *verb = strtok(text, " ");
	size_t n;

	for (n = 0; n < COUNT(event_words) && strcmp(event_words[n].word, verb); n++)
		;
	if (n < COUNT(event_words)) {
		event(w, n, strtok(NULL, " "));
	} else if (!strcmp(verb, "is")) {
		is(w, strtok(NULL, " "));
	} else if (!strcmp(verb, "press")) {
		engine_push(d, word_in(push_words, PUSHES, strtok(NULL, " ")));
	} else if (!strcmp(verb, "next")) {
		n = word_in(step_words, STEPS, strtok(NULL, " "));
		w->results[n] = word_in(did_words, DIDS, strtok(NULL, " "));
	} else if (!strcmp(verb, "plug")) {
		engine_plugged(d, &w->info);
	} else if (!strcmp(verb, "recall")) {
		recall(w, strtok(NULL, " "));
	} else if (!strcmp(verb, "unplug")) {
		engine_unplugged(d);
	} else if (!strcmp(verb, "look")) {
		engine_look(d);
	} else if (!strcmp(verb, "settled")) {
		engine_settled(d);
	} else if (!strcmp(verb, "silent")) {
		engine_silent(d);
	} else if (!strcmp(verb, "bar")) {
		engine_bar(d, state_of(strtok(NULL, " ")));
	} else if (!strcmp(verb, "new")) {
		d->unknown = true;
	} else if (!strcmp(verb, "accepted")) {
		d->unknown = false;
	} else if (!strcmp(verb, "test")) {
		d->test = true;
	} else if (!strcmp(verb, "take")) {
		if (!engine_take(d, &w->jobs, &w->other))
			add(w, "refused ");
	} else if (!strcmp(verb, "number")) {
		if (!engine_number(d, &w->jobs, &w->other, strtoul(strtok(NULL, " "), NULL, 10)))
			add(w, "refused ");
	} else {
		for (n = 0; n < COUNT(questions) && strcmp(questions[n], verb); n++)
			;
		if (n < COUNT(questions))
			ask(w, verb);
		else
			change(w, verb);
	}
}

/* Perform all events of a line. */
static void all_happens(struct world *w, const char *text)
{
	char buffer[512], part[256], *from, *end;

	snprintf(buffer, sizeof(buffer), "%s", text);
	for (from = buffer; from && *from; from = end) {
		end = strchr(from, ';');
		if (end)
			*end++ = '\0';
		from += strspn(from, " ");
		snprintf(part, sizeof(part), "%s", from);
		if (!strncmp(from, "after ", 6)) {
			char *colon = strchr(part, ':');
			unsigned int step;

			assert_non_null(colon);
			*colon = '\0';
			step = word_in(step_words, STEPS, part + 6);
			snprintf(w->after[step], sizeof(w->after[step]), "%s", colon + 2);
		} else {
			happens(w, part);
		}
	}
}

/* ---- reaction ---- */

static void perform(struct world *w, const struct step *step)
{
	enum did did = w->results[step->kind];
	char then[64];

	w->results[step->kind] = DID_OK;
	if (step->kind == STEP_JUDGE && did == DID_OK)
		did = DID_EXACT;
	add(w, "%s", step_words[step->kind]);
	if (step->kind == STEP_PLAN)
		add(w, " %u.%u", step->copy.board, step->copy.copy);
	else if (step->kind == STEP_BEGIN || step->kind >= STEP_JUDGE)
		add(w, " %u.%u #%u", step->copy.board, step->copy.copy,
		    (unsigned int)step->insertion);
	else if (step->kind == STEP_START)
		add(w, " #%u", (unsigned int)step->insertion);
	if (step->kind == STEP_VOID)
		add(w, " %s", outcome_words[step->outcome]);
	if (step->kind == STEP_VOID || step->kind == STEP_UNDO)
		add(w, " 0x%x", step->reason);
	add(w, ", ");
	if (step->kind == STEP_STATUS && did == DID_OK) {
		struct dealbox_status status = w->status;

		if (!(status.flags & DEALBOX_STATUS_BOARD))
			status.insertion = w->last;	/* without a board it has no meaning */
		engine_status(&w->engine, &status);
	}
	engine_did(&w->engine, &w->jobs, step, did);
	strcpy(then, w->after[step->kind]);
	*w->after[step->kind] = '\0';
	all_happens(w, then);
}

static void sees(struct world *w)
{
	struct dealbox_operator_facts facts;
	struct step step;
	unsigned int n;

	for (n = 0; engine_next(&w->engine, &w->jobs, &w->other, &step); n++) {
		if (n == STEPS_MAX) {
			add(w, "for ever");
			return;
		}
		perform(w, &step);
	}
	engine_facts(&w->engine, &facts);
	add(w, "> %s", dealbox_operator_name(engine_state(&w->engine)));
	if (facts.shuffled)
		add(w, " shuffled");
	if (w->engine.copy.job && (facts.board || !facts.shuffled))
		add(w, " %u.%u", facts.board, facts.copy);
	if (facts.card)
		add(w, " card %u", facts.card);
	if (facts.cards)
		add(w, " of %u", facts.cards);
	if (facts.place)
		add(w, " place %u", facts.place);
	if (facts.code)
		add(w, " code %u", facts.code);
	if (facts.there)
		add(w, " there %u", facts.there);
}

struct story {
	const char *name;
	unsigned int options;
	uint32_t capabilities;		/* besides those that every story has */
	unsigned int copies;
	const char *const *lines;	/* ends with NULL */
};

/* ---- the stories ---- */

#define LINES(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define BEGUN "plug | "

static const struct story stories[] = {
#include "engine_stories.h"
};

static void test_stories(void **state)
{
	static const unsigned int boards[] = { 1, 2 };
	struct world w;
	size_t n, k;
	unsigned int wrong = 0;

	(void)state;
	for (n = 0; n < COUNT(stories); n++) {
		const struct story *s = &stories[n];

		memset(&w, 0, sizeof(w));
		w.info.capabilities = DEALBOX_CAP_STORED_PLAN | s->capabilities |
			(s->capabilities & DEALBOX_CAP_BY_POSITION ? 0 : DEALBOX_CAP_BY_CARD);
		w.status.flags = DEALBOX_STATUS_HOPPER;
		w.time_ns = 1000000000;
		engine_init(&w.other, "SN2", NULL);
		engine_init(&w.engine, "SN1", NULL);
		w.other.next = &w.engine;
		assert_non_null(jobs_add(&w.jobs, 1, 1, boards, 2, s->copies ? s->copies : 1,
					 s->options, 0));
		for (k = 0; s->lines[k]; k++) {
			const char *line = s->lines[k], *bar = strchr(line, '|');
			char does[512];

			assert_non_null(bar);
			snprintf(does, sizeof(does), "%.*s", (int)(bar - line), line);
			w.length = 0;
			*w.saw = '\0';
			all_happens(&w, does);
			sees(&w);
			if (strcmp(w.saw, bar + 2)) {
				print_message("# %s, line %zu: %s| %s\n", s->name, k + 1, does,
					      w.saw);
				wrong++;
			}
		}
		jobs_free(&w.jobs);
	}
	if (wrong)
		fail_msg("%u lines", wrong);
}

/* The operator's state of an event that stops a deal, for programs that know the event alone. */
static void test_stop_state(void **state)
{
	(void)state;
	assert_int_equal(engine_stop_state(DEALBOX_EV_JAM), DEALBOX_OPERATOR_JAM);
	assert_int_equal(engine_stop_state(DEALBOX_EV_FEED_TIMEOUT), DEALBOX_OPERATOR_FEED);
	assert_int_equal(engine_stop_state(DEALBOX_EV_DOUBLE_FEED), DEALBOX_OPERATOR_DOUBLE_FEED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stories),
		cmocka_unit_test(test_stop_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
