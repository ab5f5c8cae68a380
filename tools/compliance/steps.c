// SPDX-License-Identifier: LGPL-2.1-or-later
/* Steps at the machine: a fixture does them, or a person is told what to do. */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cards/messages.h"
#include "dealbox/law.h"
#include "fixture.h"
#include "run.h"

#define SLICE_MS	500

/* Instructions: words go to a fixture, text to a person. */
static const struct sentence {
	const char *words, *text;
	bool asks;	/* a question, which is not for hands but for eyes */
} sentences[] = {
	{ "insert", N_("Put in an empty board.") },
	{ "remove", N_("Take the board out. If it is locked, leave it in, and answer s.") },
	{ "remove force", N_("Pull the board out now, while the machine deals.") },
	{ "cover open", N_("Open the cover.") },
	{ "cover close", N_("Close the cover.") },
	{ "empty", N_("Take out all cards that are stuck or at the reader, "
		      "and put them into the hopper.") },
	{ "take-card", N_("Take out the card at the reader.") },
	{ "hopper empty", N_("Take all cards out of the hopper.") },
	{ "hopper three", N_("Put three of the cards that are outside into the hopper.") },
	{ "hopper fill", N_("Shuffle all cards that are outside, and put them into the hopper.") },
	{ "key start", N_("Press the start key, and let it go.") },
	{ "key stop", N_("Press the stop key, and let it go.") },
	{ "key release", N_("Press the key that releases the board, and let it go.") },
	{ "power-cycle", N_("Switch the machine off, wait two seconds, and switch it on again.") },
	{ "lamp on", N_("Look at the machine: does a lamp blink?"), true },
	{ "lamp off", N_("Look at the machine: has the lamp stopped blinking?"), true },
};

static const char *const prompts[] = {
	N_("Press Enter when it is done, or s and Enter if it is not possible: "),
	N_("Press Enter for yes, or n and Enter for no: "),
};

static const struct sentence *sentence_of(const char *words)
{
	size_t i;

	for (i = 0; i < sizeof(sentences) / sizeof(*sentences); i++)
		if (!strcmp(words, sentences[i].words))
			return &sentences[i];
	return NULL;
}

/* Read the answer of a person: a line, of which the first character counts. */
static bool is_done(int tty)
{
	struct pollfd wait = { .fd = tty, .events = POLLIN };
	char c, first = '\0';

	while (!run_interrupted()) {
		if (poll(&wait, 1, SLICE_MS) <= 0)
			continue;
		if (read(tty, &c, 1) != 1)
			return false;
		if (c == '\n')
			return !first;
		if (!first)
			first = c;
	}
	return false;
}

static bool ask_person(struct run *r, const char *words)
{
	const char *language = r->hands.language;
	const struct sentence *sentence = sentence_of(words);
	FILE *tty = sentence ? fopen("/dev/tty", "r+") : NULL;
	bool done;

	if (!tty)
		return false;
	fprintf(tty, "\r\033[K\n>>> %s\n    %s", dealbox_law_translate(language, sentence->text),
		dealbox_law_translate(language, prompts[sentence->asks]));
	fflush(tty);
	done = is_done(fileno(tty));
	fclose(tty);
	return done;
}

bool hands_begin(struct run *r, char *error, size_t size)
{
	struct hands *h = &r->hands;
	char reply[FIXTURE_LINE_MAX];

	if (h->control)
		h->fixture = fixture_connect(h->control, error, size);
	else if (h->program)
		h->fixture = fixture_start(h->program, error, size);
	else
		return true;
	if (!h->fixture)
		return false;
	if (!fixture_ask(h->fixture, "begin", reply, sizeof(reply)) || strncmp(reply, "ok", 2)) {
		snprintf(error, size, "the fixture does not answer \"begin\" with \"ok\"");
		return false;
	}
	h->faults = strstr(reply, " faults");
	return true;
}

void hands_end(struct run *r)
{
	fixture_close(r->hands.fixture);
	r->hands.fixture = NULL;
}

bool has_faults(const struct run *r)
{
	return r->hands.faults;
}

bool has_hands(const struct run *r)
{
	return r->hands.fixture || !r->hands.unattended;
}

static bool try_words(struct run *r, const char *words, char *reply, size_t size)
{
	bool done;

	snprintf(reply, size, "nobody was there, or the step is not possible");
	note(r, "step: %s", words);
	r->hands.locked = false;
	if (r->hands.fixture) {
		if (!fixture_ask(r->hands.fixture, words, reply, size)) {
			snprintf(reply, size, "the fixture did not answer");
			return false;
		}
		if (!strncmp(reply, "ok", 2))
			return true;
		note(r, "fixture: %s", reply);
		r->hands.locked = strstr(reply, "locked");
		if (strcmp(reply, "ask"))
			return false;
		snprintf(reply, size, "the fixture leaves it to a person");
	}
	if (r->hands.unattended)
		return false;
	done = ask_person(r, words);
	r->hands.locked = !done && !strcmp(words, "remove");
	return done;
}

static bool do_words(struct run *r, const char *words, char *reply, size_t size)
{
	uint64_t began = now_us();
	bool done = try_words(r, words, reply, size);

	/* Hands take the time that they need; the limit of a test is for the machine. */
	r->deadline += now_us() - began;
	return done;
}

bool step(struct run *r, const char *words, ...)
{
	char text[400], reply[FIXTURE_LINE_MAX];
	va_list args;

	va_start(args, words);
	vsnprintf(text, sizeof(text), words, args);
	va_end(args);
	return do_words(r, text, reply, sizeof(reply));
}

void do_step(struct run *r, const char *words, ...)
{
	char text[400], reply[FIXTURE_LINE_MAX];
	va_list args;

	va_start(args, words);
	vsnprintf(text, sizeof(text), words, args);
	va_end(args);
	if (!do_words(r, text, reply, sizeof(reply)))
		not_run(r, "the step \"%s\" was not done: %.200s", text, reply);
}
