// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sodium.h>

#include <dealbox/report.h>

#include "bus-reply.h"
#include "ledger/job-options.h"
#include "log.h"
#include "member.h"
#include "member-worker.h"
#include "service.h"
#include "service-ledger.h"
#include "stations.h"

/*
 * Copies for each machine that can deal: what it deals in half an hour, should the network go. More
 * is taken when half is left.
 */
#define BLOCK		16
#define PAUSE_MS	1000	/* before the server is tried again, and twice as long each time */
#define PAUSE_MAX_MS	60000
/* Between two looks at the event. With many machines they are rarer: each PC looks at all. */
#define LOOK_MS		10000
#define LOOK_MACHINE_MS	50
#define GONE_S		120	/* a machine whose PC has been silent for so long deals nothing */
/*
 * Nobody who notifies can keep the service from its work, and not all PCs ask at the same time. A
 * notification is followed by a question within two of these.
 */
#define NOTIFIED_MS	500
#define SILENT_MS	10000	/* a server that has not answered for so long is offline */

/* A job of the event whose set this PC has. */
struct event_job {
	uint32_t id;
	char session[POOL_SESSION];	/* once its set is known */
	uint32_t copies;
	int priority;
	bool replay;
	uint64_t local;		/* its number in the ledger, 0 = it is not there yet */
	uint64_t added;		/* the same before it is written down: it is not added again */
	char why[512];		/* it cannot be dealt here; "" = it can */
};

/* An insertion whose report the server has answered. Ordered by machine and number. */
struct known {
	char machine[128];
	uint32_t insertion;
	struct lease_copy copy;
	enum pool_standing standing;
	bool again;		/* the server wants the copy dealt again */
	char *why;		/* it was refused; NULL = it was not */
};

struct member {
	struct service *service;
	struct pool_identity identity;
	struct worker *worker;
	sd_event_source *timer;
	char boot[LEASE_ID];
	/* the event, once it is known */
	struct pool_event event;
	uint8_t key[POOL_KEY];
	struct event_job *jobs;
	size_t job_count;
	struct pool_local *locals; /* as on disk: which job of the ledger is which of an event */
	size_t local_count;
	struct known *known;
	size_t known_count;
	struct round_machine *machines;
	size_t machine_count;
	struct round_pc *pcs;
	size_t pc_count;
	uint64_t left;
	uint64_t looked_ms;		/* of CLOCK_BOOTTIME: when it has told what others do */
	/* this PC */
	struct lease lease;
	bool unsaved;		/* the lease on disk is another: nothing is begun or asked before */
	bool heard;		/* the server has answered since the start, so the lease counts */
	bool renew;		/* the connection is new: an old backup may be behind it */
	bool leased;		/* copies may be begun; of the last look at the clock */
	bool dry;		/* the server had no more */
	bool news;		/* there may be something to report or to ask */
	bool look;		/* the server may have other jobs, or the connection is lost */
	bool check;		/* what was reported may not count any more */
	uint32_t waiting;
	char rest_by[POOL_NAME];	/* who has said last whether this PC rests */
	/* what somebody here wants of another PC; NULL = nothing that was not answered */
	sd_bus_message *wish;
	char wish_of[POOL_PC];
	bool wish_rest;
	/* the connection */
	enum member_state state;
	char reason[512];
	int64_t since;
	char address[512];
	struct round round;
	uint64_t given_ms;	/* when the thread got it */
	uint32_t *ask_jobs;	/* of the round's request */
	struct lease_copy *ask_useless;
	bool busy;		/* the thread has the round */
	bool online;
	uint64_t pause_ms, retry_ms;
	uint64_t ask_ms;	/* when to ask a server that refuses requests again; 0 = now */
	uint64_t look_ms;	/* the server has notified: when to ask; 0 = it has not */
};

/* ---- small things -------------------------------------------------------------- */

static struct lease_time now_of(const struct member *m)
{
	struct lease_time now;
	struct timespec at;

	memcpy(now.boot, m->boot, sizeof(now.boot));
	clock_gettime(CLOCK_BOOTTIME, &at);
	now.ms = (uint64_t)at.tv_sec * 1000 + (uint64_t)at.tv_nsec / 1000000;
	return now;
}

static int64_t us_of(clockid_t clock)
{
	struct timespec at;

	clock_gettime(clock, &at);
	return (int64_t)at.tv_sec * 1000000 + at.tv_nsec / 1000;
}

/*
 * Return the UTC, in us since 1970, of a point in time of CLOCK_BOOTTIME. It moves when the clock
 * is set. A second is exact enough, and does not waver.
 */
static int64_t real_us(int64_t boot_ms)
{
	int64_t ahead = us_of(CLOCK_REALTIME) - us_of(CLOCK_BOOTTIME);

	return (ahead + boot_ms * 1000 + 500000) / 1000000 * 1000000;
}

static struct event_job *job_of(const struct member *m, uint32_t id)
{
	size_t n;

	for (n = 0; n < m->job_count; n++)
		if (m->jobs[n].id == id)
			return &m->jobs[n];
	return NULL;
}

static struct event_job *job_of_local(const struct member *m, uint64_t local)
{
	size_t n;

	for (n = 0; n < m->job_count; n++)
		if (m->jobs[n].local && m->jobs[n].local == local)
			return &m->jobs[n];
	return NULL;
}

static struct job *local_of(const struct member *m, const struct event_job *job)
{
	return job && job->local ? jobs_find(&m->service->jobs, job->local) : NULL;
}

static void changed(struct member *m)
{
	service_notify(m->service, &(struct notice){ .kind = NOTICE_MEMBER_CHANGED });
}

static void set_state(struct member *m, enum member_state state, const char *reason)
{
	static const char *const words[MEMBER_STATES] = {
		"connecting", "the server answers", "the server does not answer",
		"the server refuses this PC"
	};

	if (m->state != state) {
		m->since = us_of(CLOCK_REALTIME);
		log_message(MESSAGE_EVENT, NULL, NULL, "event: %s%s%s", words[state],
			    *reason ? ": " : "", reason);
	}
	m->state = state;
	dealbox_text_safe(reason, strlen(reason), m->reason, sizeof(m->reason));
}

/* ---- the lease ----------------------------------------------------------------- */

static bool save(struct member *m)
{
	struct dealbox_error error;

	m->unsaved = pool_write_lease(m->service->config.folder, &m->lease, &error) != 0;
	if (m->unsaved)
		log_message(MESSAGE_LEDGER, NULL, NULL, "%s", error.what);
	return !m->unsaved;
}

/* Let the engines begin what is held, as long as the lease lasts. */
static void look_at_clock(struct member *m)
{
	const struct lease_time now = now_of(m);
	bool leased = m->heard && !m->unsaved && lease_left(&m->lease, &now);
	struct job *job;
	size_t n;

	for (n = 0; n < m->job_count; n++) {
		job = local_of(m, &m->jobs[n]);
		if (job)
			job->leased = leased;
	}
	if (leased == m->leased)
		return;
	m->leased = leased;
	if (!leased)
		log_message(MESSAGE_EVENT, NULL, NULL,
			    "event: the lease has ended, "
			    "and no board is begun before the server answers");
	changed(m);
}

/* Tell the engines what is held. */
static void hold_all(struct member *m)
{
	const struct lease_copy *copy;
	struct job *job;
	size_t n;

	for (n = 0; n < m->job_count; n++) {
		job = local_of(m, &m->jobs[n]);
		if (!job)
			continue;
		job_hold_none(job);
		job->rehearsal = m->event.rehearsal;
	}
	for (n = 0; n < m->lease.held_count; n++) {
		copy = &m->lease.held[n];
		job = local_of(m, job_of(m, copy->job));
		/* without memory it is not begun */
		if (job)
			job_hold(job, copy->board, copy->copy, true);
	}
	look_at_clock(m);
	stations_run_later(m->service);
}

/* Return true if the copy is held, and nobody here has begun it. */
static bool is_open(const struct member *m, const struct lease_copy *copy)
{
	const struct job *job = local_of(m, job_of(m, copy->job));

	return job && job_state(job, copy->board, copy->copy) == DEALBOX_LEDGER_COPY_OPEN;
}

static bool is_recorded(const struct member *m, const struct lease_copy *copy)
{
	const struct job *job = local_of(m, job_of(m, copy->job));

	return job && job_state(job, copy->board, copy->copy) == DEALBOX_LEDGER_COPY_RECORDED;
}

static uint32_t count_open(const struct member *m)
{
	uint32_t count = 0;
	size_t n;

	for (n = 0; n < m->lease.held_count; n++)
		count += is_open(m, &m->lease.held[n]);
	return count;
}

/* Return how many copies the machines here want to hold. */
static uint32_t block_of(const struct member *m)
{
	const struct service *s = m->service;
	const struct station *st;
	uint32_t block = 0;

	for (st = s->stations->first; st; st = st->next)
		if (st->dealing.machine && (st->known || s->config.accept) &&
		    (m->event.rehearsal || !st->dealing.engine.emulated))
			block += BLOCK;
	return block;
}

/* ---- what the server knows ------------------------------------------------------- */

static int compare(const struct known *known, const char *machine, uint32_t insertion)
{
	int order = strcmp(known->machine, machine);

	return order ? order : known->insertion < insertion ? -1 : known->insertion > insertion;
}

/* Return the place of an insertion, or where it would be. */
static size_t place_of(const struct member *m, const char *machine, uint32_t insertion)
{
	size_t low = 0, high = m->known_count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (compare(&m->known[middle], machine, insertion) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct known *known_find(const struct member *m, const char *machine, uint32_t insertion)
{
	size_t n = place_of(m, machine, insertion);

	return n < m->known_count && !compare(&m->known[n], machine, insertion) ?
		&m->known[n] : NULL;
}

static int known_order(const void *x, const void *y)
{
	const struct known *known = y;

	return compare(x, known->machine, known->insertion);
}

static void known_clear(struct member *m)
{
	size_t n;

	for (n = 0; n < m->known_count; n++)
		free(m->known[n].why);
	free(m->known);
	m->known = NULL;
	m->known_count = 0;
}

/* Take what the server knows, instead of what was known. Without memory all is reported again. */
static void known_take(struct member *m, const struct round_record *records, size_t count)
{
	struct known *known;
	size_t n;

	known_clear(m);
	known = calloc(count + 1, sizeof(*known));
	if (!known)
		return;
	m->known = known;
	for (n = 0; n < count; n++) {
		known = &m->known[m->known_count++];
		*known = (struct known){ .insertion = records[n].record.insertion,
					 .copy = records[n].record.copy,
					 .standing = records[n].record.standing };
		snprintf(known->machine, sizeof(known->machine), "%s", records[n].machine);
	}
	/* a database that somebody has changed may have another order */
	qsort(m->known, m->known_count, sizeof(*m->known), known_order);
}

/* why: it was refused; or NULL. Without memory it stays unknown, and is reported again. */
static void known_put(struct member *m, const char *machine, uint32_t insertion,
		      const struct lease_copy *copy, enum pool_standing standing, const char *why)
{
	char *kept = why ? strdup(why) : NULL;
	struct known *known = known_find(m, machine, insertion);
	size_t n = place_of(m, machine, insertion);

	if (why && !kept)
		return;
	if (!known) {
		known = realloc(m->known, (m->known_count + 1) * sizeof(*known));
		if (!known) {
			free(kept);
			return;
		}
		m->known = known;
		known += n;
		memmove(known + 1, known, (m->known_count++ - n) * sizeof(*known));
	} else {
		free(known->why);
	}
	*known = (struct known){ .insertion = insertion, .copy = *copy, .standing = standing,
				 .why = kept };
	snprintf(known->machine, sizeof(known->machine), "%s", machine);
}

/* ---- reports --------------------------------------------------------------------- */

struct collecting {
	struct member *m;
	const struct event_job *job;
	uint64_t set;
	bool count_only;
	uint32_t waiting;
};

/* Return true if a report that was answered must be taken back. -errno of the ledger. */
static int is_withdrawn(struct member *m, const struct known *known, const struct job *job,
			const struct dealbox_ledger_insertion *insertion)
{
	int counts;

	if (known->standing > POOL_SURPLUS || known->why)
		return 0;
	/* reading the ledger for each one takes time: it counts while its copy is recorded */
	if (!m->check &&
	    job_state(job, insertion->board, insertion->copy) == DEALBOX_LEDGER_COPY_RECORDED)
		return 0;
	counts = dealbox_ledger_counts(m->service->ledger, insertion);
	return counts < 0 ? counts : !counts;
}

static int add_errand(struct collecting *c, const struct dealbox_ledger_insertion *insertion)
{
	struct service *s = c->m->service;
	struct round *round = &c->m->round;
	struct dealbox_deal deal;
	struct errand *errand;
	int err, counts = 1;

	c->waiting++;
	if (c->count_only || round->errand_count == ROUND_ERRANDS)
		return 0;
	if (insertion->outcome == DEALBOX_LEDGER_EXACT)
		counts = dealbox_ledger_counts(s->ledger, insertion);
	err = counts < 0 ? counts :
			   dealbox_ledger_get_deal(s->ledger, c->set, insertion->board, &deal);
	if (err)
		return err;
	errand = &round->errands[round->errand_count++];
	*errand = (struct errand){
		.withdraw = !counts, .insertion = insertion->number, .at = insertion->ended_us,
		.copy = { c->job->id, insertion->board, insertion->copy },
		.outcome = dealbox_ledger_outcome_name(insertion->outcome),
	};
	snprintf(errand->machine, sizeof(errand->machine), "%s", insertion->machine);
	pool_hash(c->m->key, &deal, errand->hash);
	dealbox_deal_wipe(&deal);
	return 0;
}

/* Return true if the server has answered a report of this insertion, and not of another one. */
static bool is_same(const struct known *known, const struct event_job *job,
		    const struct dealbox_ledger_insertion *insertion)
{
	return known->copy.job == job->id && known->copy.board == insertion->board &&
	       known->copy.copy == insertion->copy &&
	       (known->why || (known->standing == POOL_NO_BOARD) ==
			      (insertion->outcome != DEALBOX_LEDGER_EXACT));
}

static int collect(const struct dealbox_ledger_insertion *insertion, void *context)
{
	struct collecting *c = context;
	struct member *m = c->m;
	const struct known *known = known_find(m, insertion->machine, insertion->number);
	const struct job *job = local_of(m, c->job);
	int due = 1;

	if (known && !is_same(known, c->job, insertion))
		known = NULL;

	if (!insertion->outcome || insertion->outcome == DEALBOX_LEDGER_CAPTURED || !job)
		return 0;
	/* an emulated machine has dealt no card */
	if (!known && insertion->outcome == DEALBOX_LEDGER_EXACT && *m->event.name &&
	    !m->event.rehearsal)
		due = !dealbox_ledger_emulated(m->service->ledger, insertion->id);
	if (known)
		due = insertion->outcome == DEALBOX_LEDGER_EXACT ?
		      is_withdrawn(m, known, job, insertion) : 0;
	if (due > 0)
		due = add_errand(c, insertion);
	return due < 0 ? due : 0;
}

/* Look through what the ledger has of the event. Returns false with an error of the ledger. */
static bool look_through(struct member *m, bool count_only)
{
	struct collecting c = { .m = m, .count_only = count_only };
	const struct job *job;
	int err = 0;
	size_t n;

	for (n = 0; n < m->job_count && !err; n++) {
		job = local_of(m, &m->jobs[n]);
		if (!job)
			continue;
		c.job = &m->jobs[n];
		c.set = job->set;
		err = dealbox_ledger_insertions(m->service->ledger, job->id, false, collect, &c);
	}
	m->waiting = c.waiting;
	if (err)
		log_message(MESSAGE_LEDGER, NULL, NULL, "%s",
			    dealbox_ledger_error(m->service->ledger)->what);
	else if (!c.waiting)
		m->check = false;
	return !err;
}

/* Fill the round with what the server has not heard of. Returns false if that is not known. */
static bool collect_errands(struct member *m)
{
	m->round.errand_count = 0;
	if (!m->round.errands)
		m->round.errands = calloc(ROUND_ERRANDS, sizeof(*m->round.errands));
	return m->round.errands && look_through(m, false);
}

static void errand_done(struct member *m, const struct errand *errand)
{
	const struct copy copy = { 0, errand->copy.board, errand->copy.copy };
	bool surplus = !errand->err && errand->standing == POOL_SURPLUS;

	if (!errand->answered)
		return;
	known_put(m, errand->machine, errand->insertion, &errand->copy,
		  errand->err ? POOL_SURPLUS : errand->standing, errand->err ? errand->why : NULL);
	if (errand->err)
		log_message(MESSAGE_EVENT, errand->machine, &copy,
			    "event: board %u, copy %u, insertion %u is refused, "
			    "keep it out of play: %s", copy.board, copy.copy, errand->insertion,
			    errand->why);
	if (surplus)
		log_message(MESSAGE_EVENT, errand->machine, &copy,
			    "event: board %u, copy %u, insertion %u is surplus: "
			    "take it out of play", copy.board, copy.copy, errand->insertion);
	/* a refused report takes no copy from a PC, and the board is none of the event */
	if (errand->err && !m->lease.lost)
		lease_regain(&m->lease, &errand->copy);
	/* nothing exact is there: the copy is held as before */
	if (errand->err || errand->standing == POOL_NO_BOARD)
		return;
	lease_recorded(&m->lease, &errand->copy);
	if (errand->withdraw && errand->holds)
		lease_regain(&m->lease, &errand->copy);
}

/* ---- jobs of the event ------------------------------------------------------------- */

static void take_offer(struct member *m, const struct round_offer *given)
{
	struct event_job *job = job_of(m, given->offer.id), *grown;

	if (!job) {
		grown = realloc(m->jobs, (m->job_count + 1) * sizeof(*grown));
		if (!grown)
			return;
		m->jobs = grown;
		job = &m->jobs[m->job_count++];
		*job = (struct event_job){ .id = given->offer.id };
		m->dry = false;
	}
	job->copies = given->offer.copies;
	job->priority = given->offer.priority;
	job->replay = given->offer.replay;
}

struct finding {
	struct service *s;
	const char *session;
	uint64_t set;
};

static int same_session(const struct dealbox_ledger_set *set, void *context)
{
	struct finding *finding = context;

	if (!strcmp(set->session, finding->session))
		finding->set = set->set;
	return 0;
}

static int find_set(uint64_t set, void *context)
{
	struct finding *finding = context;
	int err = dealbox_ledger_sets(finding->s->ledger, set, same_session, finding);

	/* a single set ends the list with its own code, if with any */
	return err < 0 ? err : 0;
}

/*
 * Write down which job of the ledger is this one. Session and deals do not tell: those of another
 * event may be the same, and its boards do not count in this one.
 */
static int write_local(struct member *m, const struct event_job *job, uint64_t local)
{
	struct pool_local *list = calloc(m->local_count + 1, sizeof(*list));
	struct dealbox_error error;
	size_t n, count = 0;
	int err;

	if (!list)
		return -ENOMEM;
	for (n = 0; n < m->local_count; n++)
		if (m->locals[n].local != local &&
		    (m->locals[n].job != job->id || strcmp(m->locals[n].print, m->identity.print)))
			list[count++] = m->locals[n];
	list[count] = (struct pool_local){ .job = job->id, .local = local };
	memcpy(list[count++].print, m->identity.print, sizeof(list->print));
	err = pool_write_jobs(m->service->config.folder, list, count, &error);
	if (err) {
		log_message(MESSAGE_LEDGER, NULL, NULL, "%s", error.what);
		free(list);
		return err;
	}
	free(m->locals);
	m->locals = list;
	m->local_count = count;
	return 0;
}

/*
 * Add the job to the ledger, with the set unless it is there, and write down its number before it
 * gets copies. A service that is killed between leaves a job without copies, which nobody deals.
 */
static int adopt(struct member *m, struct event_job *job, const struct dealbox_ledger_board *boards,
		 size_t count)
{
	struct service *s = m->service;
	struct finding finding = { .s = s, .session = job->session };
	struct dealbox_ledger_new_job new_job = { .count = count, .copies = job->copies,
						  .options = JOB_EVENT,
						  .priority = job->priority };
	unsigned int *numbers = calloc(count, sizeof(*numbers));
	int err = numbers ? dealbox_ledger_find_sets(s->ledger, boards, count, find_set, &finding) :
			    -ENOMEM;
	size_t n;

	dealbox_ledger_user(s->ledger, DEALBOX_UID_NONE);
	if (!err && !finding.set)
		err = dealbox_ledger_add_set(s->ledger, job->session, boards, count, &finding.set,
					     NULL);
	if (!err && !job->added) {
		for (n = 0; n < count; n++)
			numbers[n] = boards[n].number;
		new_job.set = finding.set;
		new_job.boards = numbers;
		new_job.options |= job->replay ? DEALBOX_JOB_REPLAY : 0;
		err = dealbox_ledger_add_job(s->ledger, &new_job, &job->added, NULL);
	}
	if (!err)
		err = write_local(m, job, job->added);
	free(numbers);
	if (err)
		return err;
	job->local = job->added;
	log_message(MESSAGE_JOB, NULL, &(struct copy){ job->local, 0, 0 },
		    "job %llu: job %u of the event, %zu boards", (unsigned long long)job->local,
		    job->id, count);
	return 0;
}

static int keep_options(const struct dealbox_ledger_job *job, void *context)
{
	*(unsigned int *)context = job->options;
	return 0;
}

/*
 * Take up the jobs that the ledger has, before the server is asked: what they have dealt is
 * reported whatever sets the server gives to this PC. If one cannot be taken up, nothing is: it
 * would be added again, and dealt again.
 */
static int take_locals(struct member *m, struct dealbox_error *error)
{
	struct service *s = m->service;
	const struct pool_local *local;
	struct event_job *grown;
	unsigned int options;
	size_t n;
	int err;

	for (n = 0; n < m->local_count; n++) {
		local = &m->locals[n];
		options = 0;
		if (strcmp(local->print, m->identity.print))
			continue;
		err = dealbox_ledger_jobs(s->ledger, local->local, keep_options, &options);
		if (err) {
			snprintf(error->what, sizeof(error->what), "%s",
				 dealbox_ledger_error(s->ledger)->what);
			return err;
		}
		/* another ledger has another job of this number, or none */
		if (!(options & JOB_EVENT))
			continue;
		if (!jobs_find(&s->jobs, local->local) && !service_ledger_load(s, local->local)) {
			snprintf(error->what, sizeof(error->what),
				 "there is no room for job %llu of the ledger, which belongs to "
				 "the event: finish or cancel others, and restart the service",
				 (unsigned long long)local->local);
			return -E2BIG;
		}
		grown = realloc(m->jobs, (m->job_count + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		m->jobs = grown;
		grown[m->job_count++] =
			(struct event_job){ .id = local->job, .local = local->local };
	}
	return 0;
}

/* Turn the set into boards for the ledger, and wipe them. */
static int adopt_set(struct member *m, struct event_job *job, const struct dealbox_set *set)
{
	size_t count = dealbox_set_count(set), n;
	struct dealbox_ledger_board *boards = calloc(count + 1, sizeof(*boards));
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	int err;

	if (!boards)
		return -ENOMEM;
	for (n = 0; n < count; n++) {
		dealbox_set_get(set, n, &board);
		boards[n].number = board.number;
		boards[n].deal = board.deal;
	}
	err = adopt(m, job, boards, count);
	dealbox_deal_wipe(&board.deal);
	sodium_memzero(boards, (count + 1) * sizeof(*boards));
	free(boards);
	return err;
}

static void take_set(struct member *m, struct round *round)
{
	struct event_job *job = job_of(m, round->set_of);
	struct service *s = m->service;
	int err = round->set_err;

	if (!job)
		return;
	if (err) {
		dealbox_text_safe(round->set_error.what, sizeof(round->set_error.what), job->why,
				  sizeof(job->why));
	} else if (!is_name(round->session)) {
		err = -EINVAL;
		snprintf(job->why, sizeof(job->why), "its session has no valid name");
	} else {
		/* the set is sealed with this name; that of the offer is not */
		snprintf(job->session, sizeof(job->session), "%s", round->session);
		err = adopt_set(m, job, round->set);
		if (err)
			snprintf(job->why, sizeof(job->why), "%s",
				 *dealbox_ledger_error(s->ledger)->what ?
				 dealbox_ledger_error(s->ledger)->what : strerror(-err));
	}
	if (!err && !local_of(m, job) && !service_ledger_load(s, job->local)) {
		err = -E2BIG;
		snprintf(job->why, sizeof(job->why), "there is no room for it");
	}
	if (err)
		log_message(MESSAGE_REFUSED, NULL, NULL, "event: job %u is not dealt here: %s",
			    job->id, job->why);
	else
		service_notify(s, &(struct notice){ .kind = NOTICE_JOB_ADDED, .job = job->local });
	m->dry = false;
}

/* ---- answers ------------------------------------------------------------------------ */

/* A job may be refused for a reason that is gone. */
static void try_again(struct member *m)
{
	size_t n;

	for (n = 0; n < m->job_count; n++)
		*m->jobs[n].why = '\0';
}

static void answer_fresh(struct member *m, const struct round *round)
{
	size_t n;

	m->event = round->event;
	memcpy(m->key, round->key, sizeof(m->key));
	known_take(m, round->records, round->record_count);
	/* the answer to a report may have been lost */
	for (n = 0; n < round->record_count; n++)
		if (round->records[n].record.standing == POOL_COUNTS)
			lease_recorded(&m->lease, &round->records[n].record.copy);
	try_again(m);
	m->renew = true;
	m->check = true;
	m->dry = false;
}

static void answer_request(struct member *m, const struct round *round)
{
	const struct lease *ask = &round->ask;
	uint32_t want = m->lease.want;
	uint64_t lease_ms = ask->lost ? 0 : ask->until.ms - round->sent.ms;

	/* a lost PC gets no sets */
	if (m->lease.request == LEASE_BACK)
		try_again(m);
	if (m->lease.request != LEASE_TAKE) {
		lease_answer(&m->lease, ask->lost);
	} else if (lease_answer_take(&m->lease, &round->sent, lease_ms, ask->held,
				     ask->held_count)) {
		/* no memory: the request is repeated */
		return;
	} else if (want && ask->held_count < want) {
		m->dry = true;
	}
	if (ask->lost)
		log_message(MESSAGE_EVENT, NULL, NULL,
			    "event: this PC was declared lost; it no longer holds any copies");
	/* what the ledger has, and the server has not, could be held by mistake */
	m->heard |= !m->waiting;
}

/* Return true if a person has to do something before the server may be believed. */
static bool is_refusal(int err)
{
	static const int refusals[] = { -EPERM, -ESTALE, -ENOTUNIQ, -EBADMSG, -ENOKEY, -ENODATA,
					-EPROTONOSUPPORT, -EACCES, -EINVAL };
	size_t n;

	for (n = 0; n < sizeof(refusals) / sizeof(refusals[0]); n++)
		if (err == refusals[n])
			return true;
	return false;
}

/* Returns when to try again: later each time, and not all PCs at once. */
static uint64_t pause_until(struct member *m)
{
	uint64_t until = now_of(m).ms + m->pause_ms +
			 randombytes_uniform((uint32_t)m->pause_ms / 2 + 1);

	m->pause_ms = m->pause_ms * 2 < PAUSE_MAX_MS ? m->pause_ms * 2 : PAUSE_MAX_MS;
	return until;
}

static void answer_error(struct member *m, const struct round *round)
{
	bool refusal = is_refusal(round->err);

	m->online = false;
	if (refusal)
		m->heard = false;
	set_state(m, refusal ? MEMBER_REFUSED : MEMBER_OFFLINE, round->error.what);
	m->retry_ms = pause_until(m);
}

/* The server hears reports, and no requests: this PC has left, or somebody has to look at it. */
static void answer_refusal(struct member *m, const struct round *round)
{
	m->heard = false;
	set_state(m, MEMBER_REFUSED, round->error.what);
	m->ask_ms = pause_until(m);
}

/* Others may have said whether this PC rests. Returns true if the lease changes. */
static bool answer_rest(struct member *m, const struct round *round)
{
	bool changes = m->lease.said || m->lease.resting != round->rest;

	/* what somebody has said here meanwhile is later */
	if (!round->rest_known ||
	    (m->lease.said && (!round->said || round->said_rest != m->lease.resting)))
		return false;
	memcpy(m->rest_by, round->rest_by, sizeof(m->rest_by));
	if (m->lease.resting != round->rest) {
		m->dry = false;
		log_message(MESSAGE_EVENT, NULL, NULL, round->rest ?
			    "event: this PC takes no copies, and gives back what is not begun: "
			    "%s has said so" :
			    "event: this PC takes copies again: %s has said so", m->rest_by);
	}
	m->lease.resting = round->rest;
	m->lease.said = false;
	return changes;
}

/* Reply to who wants another PC to rest. what: why it cannot be; NULL = the server knows. */
static void wish_end(struct member *m, const char *what)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;

	if (!m->wish)
		return;
	if (what)
		sd_bus_error_setf(&error, ERROR("Event"), "%s", what);
	if (what)
		sd_bus_reply_method_error(m->wish, &error);
	else
		sd_bus_reply_method_return(m->wish, "");
	sd_bus_error_free(&error);
	m->wish = sd_bus_message_unref(m->wish);
}

static void answer_wish(struct member *m, const struct round *round)
{
	char what[sizeof(round->error.what)];
	const char *of = round->wish_answered ? round->wish_error.what : round->error.what;

	/* who is told that it failed does not expect it to happen later */
	if (!*round->wish_of && !round->err)
		return;
	dealbox_text_safe(of, strlen(of), what, sizeof(what));
	wish_end(m, round->wish_answered && !round->wish_err ? NULL : what);
}

static void run(struct member *m);
static void set_timer(struct member *m);

static void on_round(struct round *round, void *context)
{
	struct member *m = context;
	bool rest;
	size_t n;

	if (!round) {
		if (!m->look_ms)
			m->look_ms = now_of(m).ms +
				     (now_of(m).ms < m->given_ms + NOTIFIED_MS ? NOTIFIED_MS : 0) +
				     randombytes_uniform(NOTIFIED_MS);
		set_timer(m);
		return;
	}
	m->busy = false;
	if (round->fresh && !round->err)
		answer_fresh(m, round);
	/* also of a round that was ended later: these were answered */
	for (n = 0; n < round->errand_count; n++) {
		errand_done(m, &round->errands[n]);
		m->waiting -= round->errands[n].answered && m->waiting;
	}
	rest = answer_rest(m, round);
	answer_wish(m, round);
	if (round->err) {
		answer_error(m, round);
	} else {
		m->online = true;
		if (round->answered) {
			m->ask_ms = 0;
			m->renew = false;
		}
		if (round->ask_err) {
			answer_refusal(m, round);
		} else if (!m->ask_ms) {
			m->pause_ms = PAUSE_MS;
			set_state(m, MEMBER_ONLINE, "");
		}
		for (n = 0; n < round->offer_count; n++)
			take_offer(m, &round->offers[n]);
		if (round->set_of)
			take_set(m, round);
	}
	if (round->answered)
		answer_request(m, round);
	if (round->look && !round->err) {
		free(m->machines);
		m->machines = round->machines;
		m->machine_count = round->machine_count;
		m->left = round->left;
		m->looked_ms = now_of(m).ms;
		round->machines = NULL;
		free(m->pcs);
		m->pcs = round->pcs;
		m->pc_count = round->pc_count;
		round->pcs = NULL;
	}
	if (rest || round->fresh || round->errand_count || round->answered)
		save(m);
	round_clear(round);
	m->news = true;
	hold_all(m);
	changed(m);
	run(m);
}

/* ---- questions ---------------------------------------------------------------------- */

/* Return true if a copy that is held should go to another PC. */
static bool is_unwanted(const struct member *m, const struct lease_copy *copy)
{
	const struct event_job *job = job_of(m, copy->job);
	const struct job *local = local_of(m, job);

	/* taken just now, and its set is on the way */
	if (!local)
		return !job || *job->why;
	if (!job_has(local, copy->board, copy->copy))
		return true;
	/*
	 * The server has heard of the board here, and does not count it: the director has said that
	 * it is void, or it was refused. It is dealt elsewhere, unless somebody redeals it here.
	 */
	if (is_recorded(m, copy))
		return !m->waiting;
	return is_open(m, copy) &&
	       (m->lease.resting || local->state == DEALBOX_LEDGER_JOB_CANCELLED);
}

/* The board that is recorded here for a copy counts no more, and the copy is to be dealt again. */
static void known_void(struct member *m, const struct lease_copy *copy)
{
	struct known *known;
	size_t n;

	for (n = 0; n < m->known_count; n++) {
		known = &m->known[n];
		if (known->standing == POOL_NO_BOARD || memcmp(&known->copy, copy, sizeof(*copy)))
			continue;
		if (known->standing == POOL_COUNTS)
			known->standing = POOL_WITHDRAWN;
		known->again = true;
	}
}

/* What a person has had redealt is taken and dealt as any other copy. */
static void known_redealt(struct member *m)
{
	size_t n;

	for (n = 0; n < m->known_count; n++)
		if (m->known[n].again && !is_recorded(m, &m->known[n].copy))
			m->known[n].again = false;
}

/* Ask to give back what is not to be dealt here. Returns false if there is nothing. */
static bool ask_give_back(struct member *m, const char nonce[LEASE_ID])
{
	struct lease_copy *copies = calloc(m->lease.held_count + 1, sizeof(*copies));
	size_t n, count = 0;
	bool asked = false;

	for (n = 0; copies && n < m->lease.held_count; n++)
		if (is_unwanted(m, &m->lease.held[n]))
			copies[count++] = m->lease.held[n];
	if (count)
		asked = !lease_ask(&m->lease, LEASE_GIVE_BACK, 0, copies, count, nonce);
	for (n = 0; asked && n < count; n++)
		if (is_recorded(m, &copies[n]))
			known_void(m, &copies[n]);
	free(copies);
	return asked;
}

/* List the jobs that can be dealt here; others get no copy of the rest. */
static size_t list_jobs_here(struct member *m)
{
	const struct job *job;
	size_t n, count = 0;

	free(m->ask_jobs);
	m->ask_jobs = calloc(m->job_count + 1, sizeof(*m->ask_jobs));
	for (n = 0; m->ask_jobs && n < m->job_count; n++) {
		job = local_of(m, &m->jobs[n]);
		/* somebody has changed the database */
		if (job && job->copies != m->jobs[n].copies)
			continue;
		if (job && job_open(job))
			m->ask_jobs[count++] = m->jobs[n].id;
	}
	return count;
}

/*
 * List copies that would be given back at once. They are not taken, so that a PC without others
 * does not do both for ever.
 */
static size_t list_useless(struct member *m)
{
	size_t n, count = 0;

	free(m->ask_useless);
	m->ask_useless = calloc(m->known_count + 1, sizeof(*m->ask_useless));
	for (n = 0; m->ask_useless && n < m->known_count; n++)
		if (m->known[n].again && is_recorded(m, &m->known[n].copy))
			m->ask_useless[count++] = m->known[n].copy;
	return count;
}

/* Choose a request. Returns false if none is needed, or can be made now. */
static bool ask(struct member *m)
{
	const struct lease_need need = {
		.open = count_open(m), .block = block_of(m),
		.dry = m->dry,
		.lease_ms = (uint64_t)m->event.lease_s * 1000,
	};
	const struct lease_time now = now_of(m);
	size_t jobs = list_jobs_here(m), useless = list_useless(m), n;
	enum lease_request request;
	char nonce[LEASE_ID];
	uint32_t want;

	pool_uuid(nonce);
	if (!m->lease.request && (m->lease.lost || !ask_give_back(m, nonce))) {
		request = lease_next(&m->lease, &need, &now, &want);
		/* at the start and by a new connection it is asked for, however long it lasts */
		if (!request && (!m->heard || m->renew))
			request = LEASE_TAKE;
		if (!request || lease_ask(&m->lease, request, jobs ? want : 0, NULL, 0, nonce))
			return false;
	}
	/* before it is sent */
	if (!save(m))
		return false;
	m->round.ask = (struct lease){ .asked = m->lease.asked, .request = m->lease.request,
				       .want = m->lease.want, .jobs = m->ask_jobs,
				       .jobs_count = jobs, .useless = m->ask_useless,
				       .useless_count = useless };
	memcpy(m->round.ask.nonce, m->lease.nonce, sizeof(m->lease.nonce));
	if (!m->lease.given_count)
		return true;
	m->round.ask.given = calloc(m->lease.given_count, sizeof(*m->lease.given));
	if (!m->round.ask.given) {
		m->round.ask.request = LEASE_NONE;
		return false;
	}
	for (n = 0; n < m->lease.given_count; n++)
		m->round.ask.given[n] = m->lease.given[n];
	m->round.ask.given_count = n;
	return true;
}

/* List what the machines here do. */
static void list_here(struct member *m)
{
	struct round_machine *here = calloc(ROUND_MACHINES, sizeof(*here));
	const struct station *st = m->service->stations->first;
	size_t n;

	m->round.look = here;
	m->round.here = here;
	for (n = 0; here && st && n < ROUND_MACHINES; st = st->next, n++) {
		snprintf(here[n].name, sizeof(here[n].name), "%s", st->id);
		snprintf(here[n].state, sizeof(here[n].state), "%s",
			 dealbox_operator_name(engine_state(&st->dealing.engine)));
		here[n].pace_s = (uint32_t)((st->dealing.engine.pace + 999999999) / 1000000000);
	}
	m->round.here_count = n;
	m->round.open = count_open(m);
}

/* Set the timer: the end of the lease, the next try, or the next question. */
static void set_timer(struct member *m)
{
	const struct lease_time now = now_of(m);
	uint64_t next = now.ms + LOOK_MS + m->machine_count * LOOK_MACHINE_MS,
		 left = lease_left(&m->lease, &now);

	if (!m->online && !m->busy && m->retry_ms < next)
		next = m->retry_ms;
	if (m->look_ms && m->look_ms < next)
		next = m->look_ms;
	if (m->ask_ms > now.ms && m->ask_ms < next)
		next = m->ask_ms;
	if (m->busy && m->given_ms + SILENT_MS < next && m->given_ms + SILENT_MS > now.ms)
		next = m->given_ms + SILENT_MS;
	if (left && now.ms + left < next)
		next = now.ms + left;
	/* an hour's lease is asked for at half of it; a short one, too */
	if (m->online && !m->busy && left > (uint64_t)m->event.lease_s * 500 &&
	    now.ms + left - (uint64_t)m->event.lease_s * 500 + 1 < next)
		next = now.ms + left - (uint64_t)m->event.lease_s * 500 + 1;
	sd_event_source_set_time(m->timer, (next < now.ms ? now.ms : next) * 1000);
	sd_event_source_set_enabled(m->timer, SD_EVENT_ONESHOT);
}

/* Give the thread the next round, if there is anything to ask, and nothing is on the way. */
static void run(struct member *m)
{
	bool any = false;
	size_t n;

	if (!m->busy && m->news && (m->online || now_of(m).ms >= m->retry_ms)) {
		m->news = false;
		memcpy(m->round.key, m->key, sizeof(m->key));
		m->round.said = m->lease.said;
		m->round.said_rest = m->lease.resting;
		if (!m->online) {
			any = true;
		} else if (collect_errands(m)) {
			any = m->round.errand_count || m->look || m->lease.said || m->wish;
			if (m->wish) {
				memcpy(m->round.wish_of, m->wish_of, sizeof(m->wish_of));
				m->round.wish_rest = m->wish_rest;
			}
			if (m->look)
				list_here(m);
			m->look = false;
			for (n = 0; n < m->job_count && !m->round.set_of; n++)
				if (!m->jobs[n].local && !*m->jobs[n].why)
					m->round.set_of = m->jobs[n].id;
			any |= m->round.set_of;
			/* first what was dealt, and the jobs: then it is known what is open here */
			if (now_of(m).ms >= m->ask_ms &&
			    ((m->waiting <= m->round.errand_count && !m->round.set_of) ||
			     m->lease.request))
				any |= ask(m);
			/* what is given back is not begun, whenever the answer comes */
			if (m->lease.request == LEASE_GIVE_BACK)
				hold_all(m);
		} else {
			wish_end(m, "the ledger cannot be read");
		}
		if (any) {
			m->busy = true;
			m->given_ms = now_of(m).ms;
			worker_give(m->worker, &m->round);
		}
	}
	set_timer(m);
}

static int on_timer(sd_event_source *source, uint64_t at, void *context)
{
	struct member *m = context;

	(void)source;
	(void)at;
	look_at_clock(m);
	if (m->busy && m->state == MEMBER_ONLINE && now_of(m).ms >= m->given_ms + SILENT_MS) {
		set_state(m, MEMBER_OFFLINE, "no answer for 10 s");
		changed(m);
	}
	stations_run_later(m->service);
	m->look_ms = 0;
	m->dry = false;
	m->look = true;
	m->news = true;
	run(m);
	return 0;
}

/* ---- the service ---------------------------------------------------------------------- */

void member_notice(struct service *s, const struct notice *notice)
{
	struct member *m = s->member;
	struct event_job *job;
	struct lease_copy copy;

	if (!m || !m->worker)
		return;
	switch (notice->kind) {
	case NOTICE_MACHINE_TURN:
		look_at_clock(m);
		break;
	case NOTICE_JUDGED:
		job = job_of_local(m, notice->copy->job);
		if (!job)
			break;
		m->news = true;
		m->waiting++;
		copy = (struct lease_copy){ job->id, notice->copy->board, notice->copy->copy };
		if (!notice->exact)
			break;
		/* it is in the ledger; should it be doubted, the server says who deals it again */
		lease_recorded(&m->lease, &copy);
		if (local_of(m, job))
			job_hold(local_of(m, job), copy.board, copy.copy, false);
		break;
	case NOTICE_JOB_CHANGED:
		if (!job_of_local(m, notice->job))
			break;
		known_redealt(m);
		/* there may be copies that it can deal now */
		m->dry = false;
		m->news = true;
		break;
	case NOTICE_MACHINE_ADDED:
		m->news = true;
		break;
	case NOTICE_MACHINES_RUN:
		if (!m->news)
			break;
		run(m);
		changed(m);
		break;
	default:
		break;
	}
}

void member_open(struct service *s)
{
	struct dealbox_error error = { 0 };
	struct lease_time now;
	struct member *m;
	int err;

	if (!*s->config.event)
		return;
	m = calloc(1, sizeof(*m));
	if (!m)
		return;
	s->member = m;
	m->service = s;
	m->since = us_of(CLOCK_REALTIME);
	m->pause_ms = PAUSE_MS;
	m->news = true;
	memcpy(m->address, s->config.event, sizeof(m->address));
	err = pool_read_identity(s->config.folder, &m->identity, &error);
	if (!err)
		err = pool_read_jobs(s->config.folder, &m->locals, &m->local_count, &error);
	if (!err)
		err = pool_read_lease(s->config.folder, &m->lease, &error);
	if (!err) {
		err = pool_time(&now);
		/* a lease that is not there has left its words */
		snprintf(error.what, sizeof(error.what), "/proc/sys/kernel/random/boot_id: %s",
			 strerror(-err));
	}
	if (!err) {
		memcpy(m->boot, now.boot, sizeof(m->boot));
		*error.what = '\0';
		err = take_locals(m, &error);
	}
	if (!err)
		err = sd_event_add_time(s->event, &m->timer, CLOCK_BOOTTIME, 0, 1000, on_timer, m);
	if (err >= 0)
		err = worker_start(&m->worker, s->event, m->address, &m->identity, on_round, m);
	if (err < 0) {
		if (!*error.what)
			snprintf(error.what, sizeof(error.what), "%s", strerror(-err));
		set_state(m, MEMBER_REFUSED, error.what);
		return;
	}
	/* until the server says what it has, it may have none of it */
	look_through(m, true);
	run(m);
}

bool member_close(struct service *s)
{
	struct member *m = s->member;
	bool ended;

	if (!m)
		return true;
	ended = worker_end(m->worker);
	wish_end(m, "the service ends");
	sd_event_source_disable_unref(m->timer);
	s->member = NULL;
	/* a thread that has not ended uses it */
	if (!ended)
		return false;
	round_clear(&m->round);
	free(m->ask_jobs);
	free(m->ask_useless);
	free(m->machines);
	free(m->pcs);
	free(m->jobs);
	free(m->locals);
	known_clear(m);
	lease_clear(&m->lease);
	sodium_memzero(m, sizeof(*m));
	free(m);
	return true;
}

/* Return when somebody was heard of who was silent for so long when the server was asked. */
static int64_t heard_at(const struct member *m, uint64_t silent_s)
{
	return real_us((int64_t)m->looked_ms - (int64_t)silent_s * 1000);
}

/* Return when the lease ends, 0 = it is over. */
static int64_t lease_ends(const struct member *m)
{
	const struct lease_time now = now_of(m);
	uint64_t left = m->heard ? lease_left(&m->lease, &now) : 0;

	return left ? real_us((int64_t)(now.ms + left)) : 0;
}

bool member_look(const struct service *s, struct member_view *view)
{
	double per_hour = 0;
	const struct member *m = s->member;
	size_t n;

	if (!m)
		return false;
	*view = (struct member_view){
		.event = m->event.name, .pc = m->identity.name, .state = m->state,
		.reason = m->reason,
		.since = m->since, .waiting = m->waiting, .open = count_open(m),
		.lease_ends = lease_ends(m),
		.resting = m->lease.resting,
		.rest_by = m->lease.said ? m->identity.name : m->rest_by,
	};
	for (n = 0; n < m->known_count; n++)
		view->recorded += m->known[n].standing == POOL_COUNTS;
	view->left = m->left;
	/* as of the last answer, so that the figure changes only when that is signalled */
	for (n = 0; m->state == MEMBER_ONLINE && n < m->machine_count; n++)
		if (m->machines[n].pace_s && m->machines[n].silent_s < GONE_S)
			per_hour += 3600.0 / m->machines[n].pace_s;
	if (per_hour > 0)
		view->left_min = (uint32_t)((double)m->left * 60 / per_hour + 0.999);
	return true;
}

void member_machines(const struct service *s,
		     void (*each)(const struct member_machine *machine, void *context),
		     void *context)
{
	const struct member *m = s->member;
	const struct round_machine *of;
	size_t n;

	for (n = 0; m && n < m->machine_count; n++) {
		of = &m->machines[n];
		each(&(struct member_machine){ of->pc, of->name, of->state, of->pace_s,
					       heard_at(m, of->silent_s) },
		     context);
	}
}

void member_pcs(const struct service *s, void (*each)(const struct member_pc *pc, void *context),
		void *context)
{
	const struct member *m = s->member;
	const struct round_pc *of;
	size_t n;

	for (n = 0; m && n < m->pc_count; n++) {
		of = &m->pcs[n];
		each(&(struct member_pc){ of->pc, of->state, of->by, of->open,
					  heard_at(m, of->silent_s), of->resting },
		     context);
	}
}

void member_troubles(const struct service *s, bool refused,
		     void (*each)(const struct member_trouble *trouble, void *context),
		     void *context)
{
	const struct member *m = s->member;
	size_t n;

	for (n = 0; m && n < m->known_count; n++)
		if (m->known[n].standing == POOL_SURPLUS && !m->known[n].why == !refused)
			each(&(struct member_trouble){ m->known[n].copy, m->known[n].machine,
						       m->known[n].insertion,
						       m->known[n].why ? m->known[n].why : "" },
			     context);
	for (n = 0; m && refused && n < m->job_count; n++)
		if (*m->jobs[n].why)
			each(&(struct member_trouble){ { m->jobs[n].id, 0, 0 }, "", 0,
						       m->jobs[n].why },
			     context);
	for (n = 0; m && refused && !m->waiting && n < m->known_count; n++)
		if (m->known[n].again && !m->known[n].why && is_recorded(m, &m->known[n].copy))
			each(&(struct member_trouble){ m->known[n].copy, m->known[n].machine,
						       m->known[n].insertion,
						       "the director has said that this board is "
						       "void: take it out of play, and redeal it "
						       "here, too" }, context);
}

void member_again(const struct service *s,
		  void (*each)(const struct lease_copy *copy, void *context), void *context)
{
	const struct member *m = s->member;
	size_t n, other;

	for (n = 0; m && n < m->known_count; n++) {
		if (!m->known[n].again || !is_recorded(m, &m->known[n].copy))
			continue;
		/* once, however often it was dealt */
		for (other = 0; other < n; other++)
			if (m->known[other].again &&
			    !memcmp(&m->known[other].copy, &m->known[n].copy,
				    sizeof(struct lease_copy)))
				break;
		if (other == n)
			each(&m->known[n].copy, context);
	}
}

uint64_t member_local(const struct service *s, const struct lease_copy *copy)
{
	const struct member *m = s->member;
	size_t n;

	for (n = 0; m && n < m->known_count; n++)
		if (m->known[n].again && !memcmp(&m->known[n].copy, copy, sizeof(*copy)) &&
		    is_recorded(m, copy))
			return job_of(m, copy->job)->local;
	return 0;
}

int member_rest(struct service *s, bool rest)
{
	struct member *m = s->member;
	bool old = m->lease.resting, said = m->lease.said;

	if (!m->worker)
		return -EIO;
	m->lease.resting = rest;
	m->lease.said = true;
	if (!save(m)) {
		m->lease.resting = old;
		m->lease.said = said;
		return -EIO;
	}
	m->dry = false;
	m->news = true;
	run(m);
	changed(m);
	return 0;
}

int member_rest_pc(struct service *s, sd_bus_message *call, const char *pc, bool rest)
{
	struct member *m = s->member;

	if (!m->worker || !m->online || m->wish)
		return m->wish ? -EBUSY : -ENOTCONN;
	m->wish = sd_bus_message_ref(call);
	snprintf(m->wish_of, sizeof(m->wish_of), "%s", pc);
	m->wish_rest = rest;
	m->news = true;
	run(m);
	return 0;
}
