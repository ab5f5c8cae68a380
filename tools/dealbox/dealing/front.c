// SPDX-License-Identifier: LGPL-2.1-or-later
#include <json-c/json.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <dealbox/law.h>

#include "front.h"
#include "own-ledger.h"
#include "ui/operator-say.h"

#define PAUSE_MS	5000	/* time limit for the pause, or for the end of the deal */

bool front_machine(struct front *f, uint32_t capability, const char *lacks, const char *next)
{
	const struct dealbox_error *error;
	struct dealbox_machine *machine;
	struct dealbox_error reason;
	struct dealbox_info info = { 0 };
	struct dealbox_hand hand;
	bool good;

	/* keys have the letters of the language that is shown */
	if (f->uri && f->language && !strncmp(f->uri, "hand:", 5) && !strstr(f->uri, ",lang=")) {
		snprintf(f->address, sizeof(f->address), "%s,lang=%s", f->uri, f->language);
		f->uri = f->address;
	}
	if (dealbox_machine_open(f->uri, false, &machine, &reason)) {
		complain(reason.next, "%s", reason.what);
		return false;
	}
	error = dealbox_machine_error(machine);
	good = !dealbox_machine_get_info(machine, &info) && !dealbox_machine_claim(machine) &&
	       !dealbox_dealing_id(machine, f->id);
	f->capabilities = info.capabilities;
	f->by_hand = !dealbox_machine_get_hand(machine, &hand);
	if (!good) {
		complain(error->next, "%s", error->what);
	} else if (!(info.capabilities & capability)) {
		complain(next, "%s %s", dealbox_machine_uri(machine), lacks);
		good = false;
	}
	dealbox_machine_close(machine);
	return good;
}

const char *front_name(const struct front *f, uint32_t board, uint32_t copy,
		       char text[OPERATOR_COPY])
{
	return operator_copy_name(&(struct operator_copy){
		.language = f->language, .board = board, .copy = copy, .several = f->several,
		.capture = f->capture }, text);
}

double front_seconds(const struct front *f)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - f->begin.tv_sec) +
	       (double)(now.tv_nsec - f->begin.tv_nsec) / 1e9;
}

static void show_progress(const struct front *f, const struct dealbox_dealing_news *news)
{
	char name[OPERATOR_COPY];

	if (f->json || f->by_hand)
		return;
	operator_progress(&(struct operator_progress){
		.language = f->language,
		.name = front_name(f, news->facts.board, news->facts.copy, name),
		.cards = news->landed,
		.of = news->facts.cards, .done = f->done, .all = f->all, .exact = f->exact,
		.seconds = front_seconds(f),
	});
}

/* Count the copies of the job. A capture and a shuffled pack have no total. */
static void count(struct front *f)
{
	struct own_stand stand;

	if (!progress_seen() || f->json || f->by_hand || own_stand(f->reader, f->job, &stand) ||
	    !stand.job.set)
		return;
	f->done = stand.job.recorded + stand.skipped;
	f->all = (uint64_t)stand.job.boards * stand.job.copies;
}

/* Return true if nothing of the job is left to be dealt: the program is about to end. */
static bool is_last(const struct front *f)
{
	struct own_stand stand;

	return own_stand(f->reader, f->job, &stand) || !stand.board;
}

/*
 * Return true if Enter is the answer to the state. By hand it also says that the board is in, or
 * out.
 */
static bool enter_answers(const struct front *f, enum dealbox_operator_state state)
{
	unsigned int enters = DEALBOX_WAY_START;

	/* behind the last board, the program ends: it waits for nothing */
	if (state == DEALBOX_OPERATOR_TAKE_OUT && is_last(f))
		return false;
	if (f->by_hand)
		enters |= DEALBOX_WAY_INSERT | DEALBOX_WAY_REMOVE;
	return (f->by_hand || f->listens) && dealbox_operator_ways(state) & enters;
}

/* Note what is asked, and what keys answer it. */
static void ask(struct front *f, const struct dealbox_dealing_news *news)
{
	bool other = news->state != f->state || news->insertion != f->insertion;

	f->state = news->state;
	f->insertion = news->insertion;
	f->asked = (struct answer_asked){
		.question = f->asked.question + other, .board = news->facts.board,
		.copy = news->facts.copy, .there = news->facts.there,
	};
	if (f->listens && !f->capture &&
	    !(news->state == DEALBOX_OPERATOR_TAKE_OUT && is_last(f)))
		f->asked.keys = answer_keys_of(news->state, NULL, NULL);
	answer_keys_ask(&f->keys, &f->asked, 1);
}

/* Tell the operator what to do, if that has changed. */
static void tell(struct front *f, const struct dealbox_dealing_news *news)
{
	struct json_object *object;
	bool calls = operator_calls(news->state);
	char text[sizeof(f->told)];
	char name[OPERATOR_COPY], marks[256] = "";

	/* the same may be asked of another board */
	if (news->insertion && news->insertion != f->insertion)
		*f->told = '\0';
	ask(f, news);
	if (news->state != DEALBOX_OPERATOR_ABSENT) {
		/* every Enter has an answer, also where the same is to be done */
		if (f->by_hand && !f->json && f->board != !!news->insertion) {
			hand_show_leave(&f->show);
			say("%s", news->insertion ? f->show.says->in : f->show.says->out);
		}
		f->board = news->insertion;
	}
	dealbox_operator_text(news->state, &news->facts, f->language, text, sizeof(text));
	if (!strcmp(text, f->told))
		return;
	strcpy(f->told, text);
	if (news->state == DEALBOX_OPERATOR_NONE || news->state == DEALBOX_OPERATOR_NO_WORK)
		return;
	hand_show_leave(&f->show);
	if (!f->json) {
		say_in(calls ? TONE_CALL : TONE_PLAIN, "%s%s%s%s",
		       front_name(f, news->facts.board, news->facts.copy, name), text,
		       enter_answers(f, news->state) ? ENTER_MARK : "",
		       answer_keys_marks(&f->asked, f->language, marks, sizeof(marks)));
		if (calls && !f->by_hand)
			bell();
		return;
	}
	object = json_object_new_object();
	json_add_text(object, "event", "operator");
	json_add_number(object, "board", news->facts.board);
	json_add_number(object, "copy", news->facts.copy);
	json_add_text(object, "state", dealbox_operator_name(news->state));
	json_add_text(object, "text", text);
	json_say(object);
}

static void say_more(const struct front *f, const char *text)
{
	struct json_object *object;

	if (!f->json) {
		complain(NULL, "%s", text);
		return;
	}
	object = json_object_new_object();
	json_add_text(object, "event", "said");
	json_add_text(object, "text", text);
	json_say(object);
}

/* Return true if the machine moves, so that it must be paused before the program exits. */
static bool moves(const struct front *f)
{
	return f->state == DEALBOX_OPERATOR_NONE || f->state == DEALBOX_OPERATOR_SLOW ||
	       f->state == DEALBOX_OPERATOR_SILENT;
}

/* Return true if it has stopped in the middle of a deal, or is gone. */
static bool stands_still(const struct front *f)
{
	return f->state == DEALBOX_OPERATOR_PAUSED || f->state == DEALBOX_OPERATOR_STOP_CARD ||
	       f->state == DEALBOX_OPERATOR_ABSENT ||
	       (f->state >= DEALBOX_OPERATOR_UNREADABLE && f->state <= DEALBOX_OPERATOR_FEED);
}

/* Return true if a deal is running, whether or not news has reported it yet. */
static bool under_way(const struct front *f)
{
	struct dealbox_ledger_insertion open;

	return own_open_insertions(f->reader, f->job, &open) > 0;
}

/* Describe the state of a machine that is left in mid-deal. Returns NULL if no deal runs. */
static const char *stands(const struct front *f, bool moved)
{
	if (moves(f))
		return "the machine continues to deal; press its stop key";
	if (f->state == DEALBOX_OPERATOR_PAUSED)
		return "the machine is paused";
	if (f->state == DEALBOX_OPERATOR_ABSENT)
		return moved ? "the machine does not answer; press its stop key, or switch it off" :
			       NULL;
	return stands_still(f) ? "the machine is waiting at a card" : NULL;
}

/* Process all news. Returns false at the end, with its reason in *end. */
static bool take_news(struct front *f, enum front_end *end)
{
	struct dealbox_dealing_news news;

	while (dealbox_dealing_step(f->dealing, &news)) {
		switch (news.kind) {
		case DEALBOX_DEALING_STATE:
			tell(f, &news);
			/* fall through */
		case DEALBOX_DEALING_CARDS:
			f->landed = news.landed;
			f->cards = news.facts.cards;
			if (moves(f) && news.landed)
				show_progress(f, &news);
			break;
		case DEALBOX_DEALING_BOARD:
			f->exact += news.exact;
			f->voids += !news.exact;
			dealbox_operator_verdict_text(&news.verdict, f->language, news.text,
						      sizeof(news.text));
			hand_show_leave(&f->show);
			count(f);
			if (f->judged(f, &news))
				break;
			dealbox_dealing_command(f->dealing, DEALBOX_DEALING_PAUSE, 0, 0);
			*end = FRONT_FAILED;
			return false;
		case DEALBOX_DEALING_HAND:
			hand_show(&f->show, &news.hand);
			explicit_bzero(&news.hand, sizeof(news.hand));
			break;
		case DEALBOX_DEALING_SAID:
			hand_show_leave(&f->show);
			say_more(f, news.text);
			break;
		default:
			*end = FRONT_DONE;
			return false;
		}
	}
	return true;
}

static bool stop_asked(int signals)
{
	struct signalfd_siginfo info;

	return read(signals, &info, sizeof(info)) > 0;
}

/*
 * Handle Ctrl-C: wait until the machine has paused, or the job is cancelled. Verdicts that are
 * recorded meanwhile still count. A second Ctrl-C exits at once.
 */
static enum front_end stop(struct front *f, int signals)
{
	enum front_end end = FRONT_STOPPED;
	struct timespec begin, now;
	bool moved = moves(f) || under_way(f);
	int left = PAUSE_MS;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	dealbox_dealing_command(f->dealing,
				f->give_up ? DEALBOX_DEALING_CANCEL : DEALBOX_DEALING_PAUSE, 0, 0);
	while ((f->give_up || ((moves(f) || under_way(f)) && !stands_still(f))) && left > 0 &&
	       !stop_asked(signals)) {
		struct pollfd wait[] = {
			{ .fd = dealbox_dealing_fd(f->dealing), .events = POLLIN },
			{ .fd = signals, .events = POLLIN },
		};

		poll(wait, 2, left);
		if (!take_news(f, &end))
			return f->give_up && end == FRONT_DONE ? FRONT_STOPPED : end;
		clock_gettime(CLOCK_MONOTONIC, &now);
		left = PAUSE_MS - (int)((now.tv_sec - begin.tv_sec) * 1000 +
					(now.tv_nsec - begin.tv_nsec) / 1000000);
	}
	f->stands = stands(f, moved);
	return end;
}

/* Read what was typed, and pass on an answer to what is shown. */
static void read_keys(struct front *f)
{
	struct answer answer = { .command = DEALBOX_DEALING_START };
	char typed[64];
	ssize_t size = read(STDIN_FILENO, typed, sizeof(typed));

	f->listens = size > 0;
	if (!f->listens || (!f->capture && !answer_keys_typed(&f->keys, f->language, &f->asked, 1,
							      typed, (size_t)size, &answer)))
		return;
	if (dealbox_dealing_command(f->dealing, answer.command,
				    answer.board ? answer.board : answer.asked.board,
				    answer.asked.copy))
		complain("type the number that is on its label", "the job has no board %u",
			 answer.board);
}

static enum front_end loop(struct front *f, int signals)
{
	enum front_end end;

	for (;;) {
		struct pollfd wait[] = {
			{ .fd = dealbox_dealing_fd(f->dealing), .events = POLLIN },
			{ .fd = signals, .events = POLLIN },
			/* after its end, nobody can press Enter */
			{ .fd = f->listens ? STDIN_FILENO : -1, .events = POLLIN },
		};

		poll(wait, 3, -1);
		/* first: a key answers what was shown when it was pressed */
		if (wait[2].revents)
			read_keys(f);
		if (!take_news(f, &end))
			return end;
		if (stop_asked(signals))
			return stop(f, signals);
	}
}

enum front_end front_run(struct front *f)
{
	int signals = signals_take();
	struct dealbox_error reason;
	enum front_end end;

	if (signals < 0)
		return FRONT_FAILED;
	/* no state was reported yet */
	f->state = DEALBOX_OPERATOR_NO_WORK;
	clock_gettime(CLOCK_MONOTONIC, &f->begin);
	if (f->by_hand &&
	    !hand_show_open(&f->show, f->language, f->pockets ? f->pockets : "NESW", f->speak)) {
		hand_show_close(&f->show);
		close(signals);
		return FRONT_FAILED;
	}
	if (f->by_hand && !f->json)
		say("%s", f->show.says->help);
	if (dealbox_dealing_new(f->ledger, f->uri, f->job, &f->dealing, &reason)) {
		complain(reason.next, "%s", reason.what);
		hand_show_close(&f->show);
		close(signals);
		return FRONT_MACHINE;
	}
	count(f);
	/* by hand, all keys are the machine's */
	f->listens = !f->by_hand;
	if (f->listens && !f->capture)
		answer_keys_open(&f->keys);
	end = loop(f, signals);
	answer_keys_close(&f->keys);
	hand_show_close(&f->show);
	progress(NULL);
	/* nobody can ask it now */
	if (f->board && f->state == DEALBOX_OPERATOR_ABSENT &&
	    f->capabilities & DEALBOX_CAP_BOARD_LOCK)
		complain("begin again: that lets go of the board",
			 "the machine is gone, and may keep its board locked in");
	dealbox_dealing_free(f->dealing);
	close(signals);
	return end;
}
