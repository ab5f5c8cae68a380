// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <sodium.h>

#include <dealbox/report.h>

#include "member-worker.h"

#define END_S	1	/* how long the service waits for the thread when it ends */

struct worker {
	pthread_t thread;
	int wake, told;			/* eventfd: for the thread, and for the loop */
	sd_event_source *source;
	const char *address;
	const struct pool_identity *identity;
	void (*done)(struct round *round, void *context);
	void *context;
	struct pool *pool;		/* the thread's; NULL = no connection */
	pthread_mutex_t lock;		/* for the rest: */
	struct round *todo, *ready;
	bool notified, end;
};

void round_clear(struct round *round)
{
	free(round->errands);
	free(round->records);
	free(round->offers);
	free(round->here);
	free(round->machines);
	free(round->pcs);
	dealbox_set_free(round->set);
	lease_clear(&round->ask);
	sodium_memzero(round, sizeof(*round));
}

/* Copy a text that others have written: a bus takes no other than valid UTF-8. */
static void text_copy(char *text, size_t size, const char *from)
{
	dealbox_text_safe(from, strlen(from), text, size);
}

/* ---- what a round asks, in the thread ------------------------------------------ */

static int keep_record(const struct pool_record *record, void *context)
{
	struct round *round = context;
	struct round_record *grown =
		realloc(round->records, (round->record_count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	round->records = grown;
	grown += round->record_count++;
	grown->record = *record;
	grown->record.machine = NULL;
	snprintf(grown->machine, sizeof(grown->machine), "%s", record->machine);
	return 0;
}

static int keep_offer(const struct pool_offer *offer, void *context)
{
	struct round *round = context;
	struct round_offer *grown =
		realloc(round->offers, (round->offer_count + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	round->offers = grown;
	grown += round->offer_count++;
	grown->offer = *offer;
	grown->offer.session = NULL;
	snprintf(grown->session, sizeof(grown->session), "%s", offer->session);
	return 0;
}

static int connect_pool(struct worker *w, struct round *round)
{
	const struct pool_identity *identity = w->identity;
	int err = -ETIMEDOUT;

	round->fresh = true;
	w->pool = pool_open(w->address, &round->error);
	if (w->pool)
		err = pool_get_event(w->pool, &round->event, &round->error);
	/* before anything is read, so that no change behind it is missed */
	if (!err)
		err = pool_listen(w->pool, &round->error);
	if (!err)
		err = pool_get_key(w->pool, identity->public_key, identity->secret_key,
				   identity->print, round->key, &round->error);
	if (!err)
		err = pool_get_records(w->pool, identity->token, keep_record, round, &round->error);
	return err;
}

/* Returns true if the server refuses this report, and may accept others. */
static bool refuses_one(int err)
{
	return err == -ENOTUNIQ || err == -EBADMSG || err == -ENOENT || err == -EINVAL;
}

static int run_errand(struct worker *w, struct errand *errand, struct dealbox_error *error)
{
	const struct pool_report report = {
		.machine = errand->machine, .insertion = errand->insertion, .copy = errand->copy,
		.hash = errand->hash, .outcome = errand->outcome, .at = errand->at,
	};
	int err = pool_report(w->pool, w->identity->token, &report, &errand->standing, error);

	if (!err && errand->withdraw) {
		errand->standing = POOL_WITHDRAWN;
		err = pool_withdraw(w->pool, w->identity->token, errand->machine, errand->insertion,
				    &errand->holds, error);
	}
	errand->answered = !err || refuses_one(err);
	if (!err || !errand->answered)
		return err;
	errand->err = err;
	text_copy(errand->why, sizeof(errand->why), error->what);
	return 0;
}

static int get_set(struct worker *w, struct round *round)
{
	const struct pool_identity *identity = w->identity;

	round->set_err = pool_get_set(w->pool, round->key, identity->public_key,
				      identity->secret_key, round->set_of, &round->set,
				      round->session, &round->set_error);
	if (round->set_err != -ETIMEDOUT)
		return 0;
	round->error = round->set_error;
	return round->set_err;
}

/* Return true if the server gives this PC nothing until a person has done something. */
static bool refuses_all(int err)
{
	return err == -EPERM || err == -ESTALE || err == -ENOTUNIQ;
}

static int request(struct worker *w, struct round *round)
{
	int err = pool_time(&round->sent);

	if (err)
		snprintf(round->error.what, sizeof(round->error.what), "the clock: %s",
			 strerror(-err));
	else
		err = pool_request(w->pool, w->identity->token, &round->ask, &round->sent,
				   &round->error);
	round->answered = !err;
	/* what the PC has dealt is heard all the same */
	if (!refuses_all(err))
		return err;
	round->ask_err = err;
	return 0;
}

static void keep_machine(const struct pool_machine *machine, void *context)
{
	struct round *round = context;
	struct round_machine *grown =
		realloc(round->machines, (round->machine_count + 1) * sizeof(*grown));

	/* without memory, a screen shows less */
	if (!grown)
		return;
	round->machines = grown;
	grown += round->machine_count++;
	text_copy(grown->pc, sizeof(grown->pc), machine->pc);
	text_copy(grown->name, sizeof(grown->name), machine->name);
	text_copy(grown->state, sizeof(grown->state), machine->state);
	grown->pace_s = machine->pace_s;
	grown->silent_s = machine->silent_s;
}

static void keep_rest(const struct pool_rest *rest, void *context)
{
	struct round *round = context;
	struct round_pc *grown = realloc(round->pcs, (round->pc_count + 1) * sizeof(*grown));

	if (!grown)
		return;
	round->pcs = grown;
	grown += round->pc_count++;
	text_copy(grown->pc, sizeof(grown->pc), rest->pc);
	text_copy(grown->state, sizeof(grown->state), rest->state);
	text_copy(grown->by, sizeof(grown->by), rest->by);
	grown->open = (uint32_t)rest->open;
	grown->resting = rest->resting;
	grown->silent_s = rest->silent_s;
}

static void keep_left(uint64_t copies, void *context)
{
	struct round *round = context;

	round->left = copies;
}

static int look(struct worker *w, struct round *round)
{
	const struct pool_view view = { .machine = keep_machine, .rest = keep_rest,
					.left = keep_left,
					.context = round };
	struct pool_machine here[ROUND_MACHINES] = { 0 };
	size_t n;
	int err;

	for (n = 0; n < round->here_count; n++)
		here[n] = (struct pool_machine){ .name = round->here[n].name,
						 .state = round->here[n].state,
						 .pace_s = round->here[n].pace_s };
	err = pool_tell_machines(w->pool, w->identity->token, here, n, round->open, &round->error);
	return err ? err : pool_look(w->pool, &view, &round->error);
}

/* Whether this PC rests, before it asks for copies; and what somebody here wants of another PC. */
static int rest(struct worker *w, struct round *round)
{
	char by[POOL_NAME];
	int err = pool_get_rest(w->pool, w->identity->token, round->said ? &round->said_rest : NULL,
				&round->rest, by, &round->error);

	round->rest_known = !err;
	if (!err)
		text_copy(round->rest_by, sizeof(round->rest_by), by);
	if (err || !*round->wish_of)
		return err;
	err = pool_wish_rest(w->pool, w->identity->token, round->wish_of, round->wish_rest,
			     &round->wish_error);
	round->wish_answered = !err || refuses_one(err);
	round->wish_err = err;
	if (!round->wish_answered)
		round->error = round->wish_error;
	return round->wish_answered ? 0 : err;
}

/* Reports come first: a copy that is recorded is not open for anybody, whatever follows. */
static void run_round(struct worker *w, struct round *round)
{
	int err = w->pool ? 0 : connect_pool(w, round);
	size_t n;

	if (!err)
		err = pool_get_offers(w->pool, w->identity->token, keep_offer, round,
				      &round->error);
	if (!err)
		err = rest(w, round);
	for (n = 0; n < round->errand_count && !err; n++)
		err = run_errand(w, &round->errands[n], &round->error);
	if (!err && round->set_of)
		err = get_set(w, round);
	if (!err && round->ask.request)
		err = request(w, round);
	/* the least of all */
	if (!err && round->look && !round->ask_err)
		err = look(w, round);
	round->err = err;
	if (!err)
		return;
	/* also behind a refusal: the next connection finds out anew how things are */
	pool_close(w->pool);
	w->pool = NULL;
}

/* ---- the thread ---------------------------------------------------------------- */

static void ring(int fd)
{
	eventfd_write(fd, 1);
}

/* Wait for a round, and meanwhile for the server. */
static void wait_for_round(struct worker *w)
{
	struct dealbox_error error;
	eventfd_t count;
	int got = w->pool ? pool_wait(w->pool, w->wake, &error) : 0;

	if (!got) {
		/* blocks without a connection */
		eventfd_read(w->wake, &count);
		return;
	}
	if (got < 0) {
		pool_close(w->pool);
		w->pool = NULL;
	}
	pthread_mutex_lock(&w->lock);
	w->notified = true;
	pthread_mutex_unlock(&w->lock);
	ring(w->told);
}

static void *work(void *context)
{
	struct worker *w = context;
	struct round *round;
	bool end = false;

	while (!end) {
		pthread_mutex_lock(&w->lock);
		round = w->todo;
		w->todo = NULL;
		end = w->end;
		pthread_mutex_unlock(&w->lock);
		if (end)
			break;
		if (!round) {
			wait_for_round(w);
			continue;
		}
		run_round(w, round);
		pthread_mutex_lock(&w->lock);
		w->ready = round;
		pthread_mutex_unlock(&w->lock);
		ring(w->told);
	}
	pool_close(w->pool);
	return NULL;
}

/* ---- in the loop --------------------------------------------------------------- */

static int on_told(sd_event_source *source, int fd, uint32_t revents, void *context)
{
	struct worker *w = context;
	struct round *round;
	eventfd_t count;
	bool notified;

	(void)source;
	(void)revents;
	eventfd_read(fd, &count);
	pthread_mutex_lock(&w->lock);
	round = w->ready;
	notified = w->notified;
	w->ready = NULL;
	w->notified = false;
	pthread_mutex_unlock(&w->lock);
	if (round)
		w->done(round, w->context);
	if (notified)
		w->done(NULL, w->context);
	return 0;
}

static void worker_free(struct worker *w)
{
	sd_event_source_disable_unref(w->source);
	if (w->wake >= 0)
		close(w->wake);
	if (w->told >= 0)
		close(w->told);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

int worker_start(struct worker **worker, sd_event *loop, const char *address,
		 const struct pool_identity *identity,
		 void (*done)(struct round *round, void *context), void *context)
{
	struct worker *w = calloc(1, sizeof(*w));
	sigset_t all, old;
	int err;

	if (!w)
		return -ENOMEM;
	w->address = address;
	w->identity = identity;
	w->done = done;
	w->context = context;
	pthread_mutex_init(&w->lock, NULL);
	w->wake = eventfd(0, EFD_CLOEXEC);
	w->told = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = w->wake < 0 || w->told < 0 ? -errno :
	      sd_event_add_io(loop, &w->source, w->told, EPOLLIN, on_told, w);
	if (err >= 0) {
		/* signals are the loop's */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &old);
		err = -pthread_create(&w->thread, NULL, work, w);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	if (err < 0) {
		worker_free(w);
		return err;
	}
	*worker = w;
	return 0;
}

void worker_give(struct worker *w, struct round *round)
{
	pthread_mutex_lock(&w->lock);
	w->todo = round;
	pthread_mutex_unlock(&w->lock);
	ring(w->wake);
}

bool worker_end(struct worker *w)
{
	struct timespec until;

	if (!w)
		return true;
	pthread_mutex_lock(&w->lock);
	w->end = true;
	pthread_mutex_unlock(&w->lock);
	ring(w->wake);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += END_S;
	if (pthread_timedjoin_np(w->thread, NULL, &until))
		return false;
	worker_free(w);
	return true;
}
