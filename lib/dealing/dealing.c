// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One machine and one job, for a program without the service. Calls to the machine and writes to
 * the ledger block, so a thread makes them. The program's calls only access the two queues of
 * commands and news.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <dealbox/dealing.h>

#include "dealing/dealing-internal.h"
#include "dealing/job-ledger.h"
#include "machine/backend.h"

#define RETRY_US	2000000	/* interval of attempts to reopen the machine */
#define QUIET		3	/* after a timeout, wait so many times as long */

struct command {
	struct command *next;
	enum dealbox_dealing_command what;
	unsigned int board, copy;
	uint64_t answers;	/* serial of the last state that the program had read */
};

struct news {
	struct news *next;
	struct dealbox_dealing_news news;
	uint64_t serial;	/* number of the state */
};

struct dealbox_dealing {
	/* used by the thread only, once it runs: */
	struct dealing dealing;
	struct jobs jobs;
	struct job *job;
	char uri[256];		/* "" = the only machine */
	char id[DEALING_ID];
	uint64_t retry;		/* us: next attempt to open it; 0 = connected */
	uint64_t quiet;		/* us: a suspect machine is not queried before */
	uint64_t look;		/* us: next check */
	uint64_t settled;	/* us: when a finished deal may be judged; 0 = none */
	bool done;		/* DEALBOX_DEALING_DONE was queued */
	struct dealbox_dealing_news last;	/* last queued state */
	struct dealbox_prompt prompt;	/* last queued DEALBOX_DEALING_PROMPT */

	pthread_t thread;
	int wake;		/* eventfd for the thread: a command, or the end */
	int told;		/* eventfd for the program: news */

	pthread_mutex_t lock;	/* protects everything below: */
	struct command *commands, **command_end;
	struct news *news, **news_end;
	uint64_t serial;	/* number of the last queued state */
	uint64_t seen;		/* number of the last state that was read */
	bool end;
};

static void ring(int fd)
{
	eventfd_write(fd, 1);
}

/* ---- news for the program ---- */

/* Return the last of the queued news if it is of this kind, otherwise NULL. */
static struct news *last_news(struct dealbox_dealing *d, enum dealbox_dealing_kind kind)
{
	struct news *n;

	for (n = d->news; n && n->next; n = n->next)
		;
	return n && n->news.kind == kind ? n : NULL;
}

static void tell(struct dealbox_dealing *d, const struct dealbox_dealing_news *news)
{
	bool state = news->kind == DEALBOX_DEALING_STATE;
	bool latest = state || news->kind == DEALBOX_DEALING_CARDS ||
		      news->kind == DEALBOX_DEALING_PROMPT;
	struct news *n;

	pthread_mutex_lock(&d->lock);
	d->serial += state;
	/* Only the latest of these matters. */
	n = latest ? last_news(d, news->kind) : NULL;
	if (!n) {
		/* Without memory it is dropped: the ledger has verdicts, and states repeat. */
		n = calloc(1, sizeof(*n));
		if (n) {
			*d->news_end = n;
			d->news_end = &n->next;
		}
	}
	if (n) {
		n->news = *news;
		n->serial = d->serial;
	}
	pthread_mutex_unlock(&d->lock);
	ring(d->told);
}

/* Queue the state if it has changed. */
static void tell_state(struct dealbox_dealing *d)
{
	struct dealbox_dealing_news now = { .kind = DEALBOX_DEALING_STATE };
	bool same;

	now.state = engine_state(&d->dealing.engine);
	dealing_facts(&d->dealing, &now.facts);
	now.insertion = d->dealing.engine.insertion;
	same = now.state == d->last.state && now.insertion == d->last.insertion &&
	       !memcmp(&now.facts, &d->last.facts, sizeof(now.facts));
	now.landed = d->dealing.cards;
	if (same && now.landed == d->last.landed)
		return;
	if (same)
		now.kind = DEALBOX_DEALING_CARDS;
	d->last = now;
	tell(d, &now);
}

/* Queue what a person who deals by hand is to be shown, if it has changed. */
static void tell_hand(struct dealbox_dealing *d)
{
	struct dealbox_dealing_news now = { .kind = DEALBOX_DEALING_PROMPT };

	/* of a machine that is gone, nothing may stay on the screen */
	if (d->dealing.machine && dealbox_machine_get_prompt(d->dealing.machine, &now.prompt))
		return;
	if (memcmp(&now.prompt, &d->prompt, sizeof(now.prompt))) {
		d->prompt = now.prompt;
		tell(d, &now);
	}
	explicit_bzero(&now, sizeof(now));
}

static void news_free(struct news *n)
{
	explicit_bzero(n, sizeof(*n));
	free(n);
}

static void say(struct dealing *dealing, enum dealing_message message, const struct copy *copy,
		const char *text)
{
	struct dealbox_dealing_news news = { .kind = DEALBOX_DEALING_SAID };

	(void)copy;
	/* Verdicts are reported as DEALBOX_DEALING_BOARD. */
	if (message == DEALING_RECORDED || message == DEALING_VOID)
		return;
	snprintf(news.text, sizeof(news.text), "%s", text);
	tell(dealing->context, &news);
}

static void judged(struct dealing *dealing, const struct copy *copy, uint32_t insertion, bool exact,
		   const struct dealbox_operator_verdict *verdict)
{
	struct dealbox_dealing_news news = {
		.kind = DEALBOX_DEALING_BOARD, .insertion = insertion, .exact = exact,
		.facts = { .board = copy->board, .copy = copy->copy }, .verdict = *verdict,
	};

	dealbox_operator_verdict_text(verdict, NULL, news.text, sizeof(news.text));
	tell(dealing->context, &news);
}

static const struct dealing_listener listener = { .say = say, .judged = judged };

/* ---- commands of the program ---- */

/* Record an act on the job or a copy. */
static void do_act(struct dealbox_dealing *d, enum dealbox_ledger_act_kind kind,
		   const struct command *c)
{
	const struct dealbox_ledger_act act = {
		.act = kind, .uid = getuid(), .job = d->job->id, .board = c->board, .copy = c->copy,
	};
	int err = dealbox_ledger_add_act(d->dealing.ledger, &act);

	if (!err)
		err = job_refresh(d->dealing.ledger, &d->jobs, d->job);
	/* The ledger's list of copies does not contain open ones. */
	if (!err && kind == DEALBOX_ACT_REDEAL)
		err = job_set_state(d->job, c->board, c->copy, DEALBOX_LEDGER_COPY_OPEN);
	if (err)
		say(&d->dealing, DEALING_LEDGER, NULL,
		    dealbox_ledger_error(d->dealing.ledger)->what);
}

/* Deal the board that is there, or take it for the one that the operator names. */
static void do_number(struct dealbox_dealing *d, const struct command *c,
		      enum dealbox_operator_state shown)
{
	struct engine *engine = &d->dealing.engine;
	bool this = c->what == DEALBOX_DEALING_DEAL_THIS;

	if (shown != (this ? DEALBOX_OPERATOR_NUMBER_OTHER : DEALBOX_OPERATOR_NUMBER_UNREAD))
		return;
	if (this ? !engine_take(engine, &d->jobs, engine) :
		   !engine_number(engine, &d->jobs, engine, c->board))
		say(&d->dealing, DEALING_REFUSED, NULL,
		    "the job has no copy of this board left to be dealt");
}

static void do_command(struct dealbox_dealing *d, const struct command *c, uint64_t serial)
{
	static const struct {
		bool answer;	/* to the state that is shown */
		int push;
		enum dealbox_ledger_act_kind act;	/* 0 = a key */
	} rows[DEALBOX_DEALING_COMMANDS] = {
		[DEALBOX_DEALING_START] = { true, PUSH_START, 0 },
		[DEALBOX_DEALING_ACCEPT] = { true, PUSH_START, 0 },
		[DEALBOX_DEALING_PAUSE] = { false, PUSH_PAUSE, 0 },
		[DEALBOX_DEALING_STOP] = { false, PUSH_STOP, 0 },
		[DEALBOX_DEALING_RELEASE] = { false, PUSH_RELEASE, 0 },
		[DEALBOX_DEALING_SKIP] = { false, 0, DEALBOX_ACT_SKIP },
		[DEALBOX_DEALING_REDEAL] = { false, 0, DEALBOX_ACT_REDEAL },
		[DEALBOX_DEALING_CANCEL] = { false, 0, DEALBOX_ACT_CANCEL },
		[DEALBOX_DEALING_DEAL_THIS] = { true, 0, 0 },
		[DEALBOX_DEALING_NAME_BOARD] = { true, 0, 0 },
	};
	struct engine *engine = &d->dealing.engine;
	enum dealbox_operator_state shown = engine_state(engine);

	if (rows[c->what].answer && c->answers != serial)
		return;
	if (c->what == DEALBOX_DEALING_ACCEPT && shown != DEALBOX_OPERATOR_CONFIRM &&
	    shown != DEALBOX_OPERATOR_NUMBER_UNREAD)
		return;
	if (rows[c->what].act) {
		do_act(d, rows[c->what].act, c);
		return;
	}
	if (rows[c->what].answer)
		d->dealing.starter = getuid();
	if (c->what == DEALBOX_DEALING_DEAL_THIS || c->what == DEALBOX_DEALING_NAME_BOARD)
		do_number(d, c, shown);
	else
		engine_push(engine, rows[c->what].push);
}

/* Returns false if the thread is to end. */
static bool do_commands(struct dealbox_dealing *d)
{
	struct command *c, *next;
	uint64_t serial;
	bool end;

	pthread_mutex_lock(&d->lock);
	c = d->commands;
	d->commands = NULL;
	d->command_end = &d->commands;
	serial = d->serial;
	end = d->end;
	pthread_mutex_unlock(&d->lock);
	for (; c; c = next) {
		next = c->next;
		do_command(d, c, serial);
		free(c);
	}
	return !end;
}

/* ---- the machine ---- */

int dealbox_dealing_id(struct dealbox_machine *machine, char id[DEALBOX_DEALING_ID])
{
	struct dealbox_info info;
	int err = dealbox_machine_get_info(machine, &info);

	if (err)
		return err;
	dealing_sanitize(&info);
	dealing_id(&info, dealbox_machine_uri(machine), id);
	return 0;
}

/* Open and claim the machine; after an unplug, it must be the same one. Returns 0 or -errno. */
static int machine_open(struct dealbox_dealing *d, struct dealbox_error *reason)
{
	struct dealbox_machine *machine;
	struct dealbox_info info;
	char id[DEALING_ID];
	int err = dealbox_machine_open(*d->uri ? d->uri : NULL, 0, &machine, reason);

	if (err)
		return err;
	err = dealbox_machine_get_info(machine, &info);
	if (!err)
		err = dealbox_machine_claim(machine);
	if (err) {
		*reason = *dealbox_machine_error(machine);
		goto close;
	}
	dealing_sanitize(&info);
	dealing_id(&info, dealbox_machine_uri(machine), id);
	if (*d->id && strcmp(d->id, id)) {
		err = error_set(reason, -ENODEV, 0, "plug in the one that deals",
				"this is another machine");
		goto close;
	}
	if (!*d->id) {
		memcpy(d->id, id, sizeof(id));
		dealing_init(&d->dealing, d->id, d->dealing.ledger, &d->jobs, NULL);
		d->dealing.listener = &listener;
		d->dealing.context = d;
	}
	dealing_attach(&d->dealing, machine, &info);
	d->retry = 0;
	return 0;

close:
	dealbox_machine_close(machine);
	return err;
}

static void machine_gone(struct dealbox_dealing *d)
{
	dealing_detach(&d->dealing);
	d->dealing.suspect = false;
	d->retry = monotonic_us() + RETRY_US;
}

/* Handle timeouts. */
static void pass_time(struct dealbox_dealing *d)
{
	struct engine *engine = &d->dealing.engine;
	uint64_t now = monotonic_us();
	struct dealbox_error reason;

	if (d->retry && now >= d->retry && machine_open(d, &reason))
		d->retry = now + RETRY_US;
	if (engine->phase != PHASE_SETTLE)
		d->settled = 0;
	else if (!d->settled)
		d->settled = now + DEALBOX_SETTLED_MS * 1000;
	if (d->settled && now >= d->settled && !engine->settled)
		engine_settled(engine);
	if (engine_moves(engine) && now >= d->dealing.heard + DEALING_CARD_US)
		engine_silent(engine);
	if (now < d->look)
		return;
	d->look = now + DEALING_LOOK_US;
	if (engine_watched(engine, &d->jobs))
		engine_look(engine);
}

/* Return the time in ms until the next pass_time(). */
static int due_ms(const struct dealbox_dealing *d)
{
	const struct engine *engine = &d->dealing.engine;
	uint64_t next = UINT64_MAX, now = monotonic_us();

	if (d->retry)
		next = d->retry;
	if (engine->phase == PHASE_SETTLE && !engine->settled)
		next = d->settled ? d->settled : now;
	if (engine_watched(engine, &d->jobs) && d->look < next)
		next = d->look;
	if (d->dealing.suspect && engine->plugged && d->quiet < next)
		next = d->quiet;
	if (engine_moves(engine) && !engine->silent && d->dealing.heard + DEALING_CARD_US < next)
		next = d->dealing.heard + DEALING_CARD_US;
	if (next == UINT64_MAX)
		return -1;
	return next > now ? (int)((next - now) / 1000 + 1) : 0;
}

/* Execute all steps that are due. */
static void run_steps(struct dealbox_dealing *d)
{
	struct engine *engine = &d->dealing.engine;
	uint64_t begun;
	struct step step;
	enum did did;

	while ((!d->dealing.suspect || monotonic_us() >= d->quiet) &&
	       engine_next(engine, &d->jobs, engine, &step)) {
		begun = monotonic_us();
		did = dealing_do(&d->dealing, &step);
		if (d->dealing.suspect)
			d->quiet = monotonic_us() + QUIET * (monotonic_us() - begun);
		engine_did(engine, &d->jobs, &step, did);
	}
	if (!engine->plugged && d->dealing.machine) {
		machine_gone(d);
		engine_next(engine, &d->jobs, engine, &step);
	}
}

static bool is_done(const struct dealbox_dealing *d)
{
	const struct engine *engine = &d->dealing.engine;

	/* A deal that is void may still be ending. */
	return engine->phase == PHASE_NONE && !engine->undo && !engine->deals &&
	       (d->job->state == DEALBOX_LEDGER_JOB_CANCELLED || job_done(d->job));
}

static void *run(void *context)
{
	const struct dealbox_dealing_news done = { .kind = DEALBOX_DEALING_DONE };
	struct dealbox_dealing *d = context;
	eventfd_t count;

	while (do_commands(d)) {
		pass_time(d);
		if (d->dealing.machine && dealing_read(&d->dealing, NULL) < 0)
			machine_gone(d);
		run_steps(d);
		tell_state(d);
		tell_hand(d);
		if (is_done(d) && !d->done)
			tell(d, &done);
		d->done = is_done(d);
		struct pollfd wait[] = {
			{ .fd = d->wake, .events = POLLIN },
			{ .fd = d->dealing.machine ? dealbox_machine_fd(d->dealing.machine) : -1,
			  .events = POLLIN },
		};
		poll(wait, 2, due_ms(d));
		if (wait[0].revents)
			eventfd_read(d->wake, &count);
	}
	return NULL;
}

/* ---- start and end ---- */

static void wipe(struct dealbox_dealing *d)
{
	struct command *c;
	struct news *n;

	while ((c = d->commands)) {
		d->commands = c->next;
		free(c);
	}
	while ((n = d->news)) {
		d->news = n->next;
		news_free(n);
	}
	jobs_free(&d->jobs);
	if (d->wake >= 0)
		close(d->wake);
	if (d->told >= 0)
		close(d->told);
	pthread_mutex_destroy(&d->lock);
	explicit_bzero(d, sizeof(*d));
	free(d);
}

/* Block signals in the thread: the program must handle them. */
static int start_thread(struct dealbox_dealing *d)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&d->thread, NULL, run, d);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

/* Read the job, and resume it if it was paused. */
static int job_open_again(struct dealbox_dealing *d, uint64_t job, struct dealbox_error *reason)
{
	struct dealbox_ledger_act resume = { .act = DEALBOX_ACT_RESUME,
					     .uid = getuid(),
					     .job = job };
	struct dealbox_ledger *ledger = d->dealing.ledger;
	unsigned int settled;
	int err = ledger_settle(ledger, &settled);

	if (!err)
		err = job_load(ledger, &d->jobs, job, &d->job);
	if (!err && d->job->state == DEALBOX_LEDGER_JOB_PAUSED)
		err = dealbox_ledger_add_act(ledger, &resume);
	if (!err)
		err = job_refresh(ledger, &d->jobs, d->job);
	if (err == -ENOENT)
		return error_set(reason, err, 0, NULL, "there is no job %llu in the ledger",
				 (unsigned long long)job);
	if (err == -E2BIG)
		return error_set(reason, err, 0, NULL, "job %llu is too large",
				 (unsigned long long)job);
	return err ? error_set(reason, err, 0, NULL, "%s", dealbox_ledger_error(ledger)->what) : 0;
}

int dealbox_dealing_new(struct dealbox_ledger *ledger, const char *uri, uint64_t job,
			unsigned int flags, struct dealbox_dealing **out,
			struct dealbox_error *reason)
{
	struct dealbox_error why = { 0 };
	struct dealbox_dealing *d;
	int err;

	*out = NULL;
	if (flags)
		return error_set(reason, -EINVAL, 0, NULL, "unknown flags %#x", flags);
	d = calloc(1, sizeof(*d));
	if (!d)
		return error_set(reason, -ENOMEM, 0, "free some memory", "out of memory");
	pthread_mutex_init(&d->lock, NULL);
	d->command_end = &d->commands;
	d->news_end = &d->news;
	d->dealing.ledger = ledger;
	d->last.state = DEALBOX_OPERATOR_STATES;
	d->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	d->told = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (uri)
		snprintf(d->uri, sizeof(d->uri), "%s", uri);
	if (d->wake < 0 || d->told < 0) {
		err = error_set(&why, -errno, 0, "close some files", "no descriptor is left: %m");
		goto fail;
	}
	err = job_open_again(d, job, &why);
	if (!err)
		err = machine_open(d, &why);
	if (err)
		goto fail;
	err = start_thread(d);
	if (!err) {
		*out = d;
		return 0;
	}
	dealing_end(&d->dealing);
	error_fill(&why, err, 0, "free some memory", "no thread can be made: %s", strerror(-err));
fail:
	if (reason)
		*reason = why;
	wipe(d);
	return err;
}

/* If no deal is running, unlock the board and clear the plan. */
static void leave_machine(struct dealing *dealing)
{
	struct dealbox_plan none = { 0 };

	if (!dealing->machine || dealing->engine.deals)
		return;
	if (dealing->engine.capabilities & DEALBOX_CAP_BOARD_LOCK)
		dealbox_machine_release_board(dealing->machine);
	dealbox_machine_set_plan(dealing->machine, &none);
}

void dealbox_dealing_free(struct dealbox_dealing *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	d->end = true;
	pthread_mutex_unlock(&d->lock);
	ring(d->wake);
	pthread_join(d->thread, NULL);
	leave_machine(&d->dealing);
	dealing_end(&d->dealing);
	wipe(d);
}

/* ---- calls of the program ---- */

int dealbox_dealing_fd(const struct dealbox_dealing *d)
{
	return d->told;
}

int dealbox_dealing_step(struct dealbox_dealing *d, struct dealbox_dealing_news *news)
{
	eventfd_t count;
	struct news *n;

	pthread_mutex_lock(&d->lock);
	n = d->news;
	if (n) {
		d->news = n->next;
		if (!d->news)
			d->news_end = &d->news;
		if (n->news.kind == DEALBOX_DEALING_STATE)
			d->seen = n->serial;
	} else {
		eventfd_read(d->told, &count);
	}
	pthread_mutex_unlock(&d->lock);
	if (!n)
		return 0;
	*news = n->news;
	news_free(n);
	return 1;
}

int dealbox_dealing_do(struct dealbox_dealing *d, enum dealbox_dealing_command command,
		       unsigned int board, unsigned int copy)
{
	bool of_copy = command == DEALBOX_DEALING_SKIP || command == DEALBOX_DEALING_REDEAL;
	bool of_board = of_copy || command == DEALBOX_DEALING_NAME_BOARD;
	struct command *c;

	/* The boards of a job never change, so no lock is needed. */
	if ((unsigned int)command >= DEALBOX_DEALING_COMMANDS ||
	    (of_board && (!board || !job_has(d->job, board, of_copy ? copy : 1))))
		return -EINVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->what = command;
	c->board = of_board ? board : 0;
	c->copy = of_copy ? copy : 0;
	pthread_mutex_lock(&d->lock);
	c->answers = d->seen;
	*d->command_end = c;
	d->command_end = &c->next;
	pthread_mutex_unlock(&d->lock);
	ring(d->wake);
	return 0;
}
