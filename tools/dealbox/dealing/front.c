// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <dealbox/law.h>

#include "front.h"
#include "own-ledger.h"
#include "ui/operator-say.h"
#include "ui/ruling-text.h"

#define PAUSE_MS	5000	/* time limit for the pause, or for the end of the deal */
#define RETRY_MS	2000	/* interval of attempts to open a machine that went away */

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
	object = json_line("operator");
	json_add_known(object, "board", news->facts.board);
	json_add_known(object, "copy", news->facts.copy);
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
	object = json_line("said");
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
		return N_("the machine continues to deal; press its stop key");
	if (f->state == DEALBOX_OPERATOR_PAUSED)
		return N_("the machine is paused");
	if (f->state == DEALBOX_OPERATOR_ABSENT)
		return moved ?
		       N_("the machine does not answer; press its stop key, or switch it off") :
		       NULL;
	return stands_still(f) ? N_("the machine is waiting at a card") : NULL;
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
	if (dealbox_dealing_do(f->dealing, answer.command,
			       answer.board ? answer.board : answer.asked.board,
			       answer.asked.copy))
		complain(dealbox_law_translate(f->language,
					       N_("type the number that is on its label")),
			 dealbox_law_translate(f->language, N_("the job has no board %u")),
			 answer.board);
}

/*
 * Get the next news. Keys are read before: they answer what was shown when they were pressed, and
 * the caller may have needed seconds to write down a verdict.
 */
static bool next_news(struct front *f, struct dealbox_dealing_news *news)
{
	struct pollfd keys = { .fd = STDIN_FILENO, .events = POLLIN };

	while (f->listens && poll(&keys, 1, 0) > 0)
		read_keys(f);
	return dealbox_dealing_step(f->dealing, news);
}

/* Process all news. Returns false at the end, with its reason in *end. */
static bool take_news(struct front *f, enum front_end *end)
{
	struct dealbox_dealing_news news;

	while (next_news(f, &news)) {
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
			dealbox_dealing_do(f->dealing, DEALBOX_DEALING_PAUSE, 0, 0);
			*end = FRONT_FAILED;
			return false;
		case DEALBOX_DEALING_PROMPT:
			hand_show(&f->show, &news.prompt);
			explicit_bzero(&news.prompt, sizeof(news.prompt));
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
	dealbox_dealing_do(f->dealing,
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
	if (f->stands)
		f->stands = dealbox_law_translate(f->language, f->stands);
	return end;
}

static enum front_end loop(struct front *f, int signals)
{
	enum front_end end;

	for (;;) {
		struct pollfd wait[] = {
			{ .fd = dealbox_dealing_fd(f->dealing), .events = POLLIN },
			{ .fd = signals, .events = POLLIN },
			/* after its end, nobody can press Enter; take_news() reads the keys */
			{ .fd = f->listens ? STDIN_FILENO : -1, .events = POLLIN },
		};

		poll(wait, 3, -1);
		if (!take_news(f, &end))
			return end;
		if (stop_asked(signals))
			return stop(f, signals);
	}
}

/* ---- the machine is opened ---- */

/* Return true if machine n of the list is the one at the address. */
static bool is_at(const struct dealbox_machine_list *list, size_t n, const char *uri)
{
	const char *found = dealbox_machine_list_uri(list, n);
	bool same;
	char *node;

	if (!strncmp(uri, "usb:", 4))
		return !strcmp(dealbox_machine_list_serial(list, n), uri + 4) ||
		       !strcmp(dealbox_machine_list_port(list, n), uri + 4);
	/* it may be a link that udev has made */
	node = strncmp(found, "local:", 6) ? NULL : realpath(uri + 6, NULL);
	same = node && !strcmp(node, found + 6);
	free(node);
	return same;
}

/* Return true if the computer sees a machine at the address, whether or not it answers. */
static bool is_there(const char *uri)
{
	struct dealbox_machine_list *list;
	bool there = false;
	size_t n, count;

	if (uri && !strncmp(uri, "emu:", 4))
		return !access(uri + 4, F_OK);
	if ((uri && strncmp(uri, "usb:", 4) && strncmp(uri, "local:", 6)) ||
	    dealbox_machine_list_new(NULL, &list, NULL))
		return false;
	count = dealbox_machine_list_count(list);
	for (n = 0; uri && n < count; n++)
		there |= is_at(list, n, uri);
	dealbox_machine_list_free(list);
	return uri ? there : count == 1;
}

/* Return true if the error may come from a machine that went away. */
static bool is_lost(int err)
{
	return err == -ENODEV || err == -ENOENT || err == -EIO || err == -EPIPE ||
	       err == -EPROTO || err == -ETIMEDOUT;
}

/*
 * Open and claim the machine for a moment, to learn what it is. Returns 0; or -errno with the
 * reason, also if it is not the machine that was there before.
 */
static int look_at(struct front *f, struct dealbox_error *reason)
{
	struct dealbox_machine *machine;
	struct dealbox_info info = { 0 };
	char id[DEALBOX_DEALING_ID];
	struct dealbox_prompt prompt;
	int err = dealbox_machine_open(f->uri, 0, &machine, reason);

	if (err)
		return err;
	err = dealbox_machine_get_info(machine, &info);
	if (!err)
		err = dealbox_machine_claim(machine);
	if (!err)
		err = dealbox_dealing_id(machine, id);
	if (err)
		*reason = *dealbox_machine_error(machine);
	else if (*f->id && strcmp(f->id, id))
		err = -ENODEV;
	if (!err) {
		memcpy(f->id, id, sizeof(id));
		snprintf(f->found, sizeof(f->found), "%s", dealbox_machine_uri(machine));
		f->capabilities = info.capabilities;
		f->by_hand = !dealbox_machine_get_prompt(machine, &prompt);
	}
	dealbox_machine_close(machine);
	return err;
}

/*
 * Tell the operator that the machine is not there, and wait until the next attempt. Returns false
 * if the program is asked to stop.
 */
static bool wait_for_machine(struct front *f, int signals)
{
	struct pollfd wait = { .fd = signals, .events = POLLIN };

	tell(f, &(struct dealbox_dealing_news){ .kind = DEALBOX_DEALING_STATE,
						.state = DEALBOX_OPERATOR_ABSENT });
	poll(&wait, 1, RETRY_MS);
	return !stop_asked(signals);
}

/*
 * Wait for a machine that was there, and could not be opened. Returns 0 if it was opened later, or
 * -errno with the reason.
 */
static int machine_await(struct front *f, int signals, struct dealbox_error *reason)
{
	struct pollfd wait = { .fd = signals, .events = POLLIN };
	int err;

	/* the computer may notice later that the machine went than that it does not answer */
	if (is_there(f->uri))
		poll(&wait, 1, RETRY_MS);
	do {
		while (!is_there(f->uri))
			if (!wait_for_machine(f, signals)) {
				*reason = (struct dealbox_error){
					.what = "stopped: nothing was dealt" };
				return -EINTR;
			}
		err = look_at(f, reason);
	} while (is_lost(err) && !is_there(f->uri));
	return err;
}

/* Open the machine. One that goes away meanwhile is waited for, one that never was there is not. */
static enum status machine_find(struct front *f)
{
	bool seen = is_there(f->uri);
	struct dealbox_error reason;
	int err = look_at(f, &reason);
	sigset_t before;
	int signals;

	if (seen && is_lost(err)) {
		sigprocmask(SIG_BLOCK, NULL, &before);
		signals = signals_take();
		if (signals < 0)
			return STATUS_MACHINE;
		err = machine_await(f, signals, &reason);
		close(signals);
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
	if (err)
		complain(reason.next, "%s", reason.what);
	return !err ? STATUS_DONE : err == -EINTR ? STATUS_STOPPED : STATUS_MACHINE;
}

enum status front_machine(struct front *f, uint32_t capability, const char *lacks,
			  const char *next)
{
	enum status status;

	/* keys have the letters of the language that is shown */
	if (f->uri && f->language && !strncmp(f->uri, "hand:", 5) && !strstr(f->uri, ",lang=")) {
		snprintf(f->address, sizeof(f->address), "%s,lang=%s", f->uri, f->language);
		f->uri = f->address;
	}
	status = machine_find(f);
	if (status != STATUS_DONE || f->capabilities & capability)
		return status;
	complain(next, "%s %s", f->found, lacks);
	return STATUS_MACHINE;
}

/*
 * Begin to deal on the machine that front_machine() has found. Waits while it is gone, and while
 * another one is in its place.
 */
static enum front_end begin(struct front *f, int signals)
{
	struct dealbox_error reason, gone;
	unsigned int failed = 0;

	while (dealbox_dealing_new(f->ledger, f->uri, f->job, 0, &f->dealing, &reason)) {
		int err = look_at(f, &gone);

		/* not for lack of the machine; or it was back at once */
		if ((!err && failed++) || (err && !is_lost(err))) {
			complain(reason.next, "%s", reason.what);
			return FRONT_MACHINE;
		}
		while (err) {
			if (!wait_for_machine(f, signals))
				return FRONT_STOPPED;
			err = look_at(f, &gone);
		}
	}
	return FRONT_DONE;
}

enum front_end front_run(struct front *f)
{
	int signals = signals_take();
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
	end = begin(f, signals);
	if (end != FRONT_DONE) {
		hand_show_close(&f->show);
		close(signals);
		return end;
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
		complain(dealbox_law_translate(f->language,
					       N_("begin again: that lets go of the board")),
			 "%s", dealbox_law_translate(f->language,
			 N_("the machine is gone, and may keep its board locked in")));
	dealbox_dealing_free(f->dealing);
	close(signals);
	return end;
}
