// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Machines: finding them, reading their events, and doing what their desks decide.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include <sodium.h>

#include <dealbox/diagnosis.h>
#include <dealbox/law.h>
#include <dealbox/plan.h>
#include <dealbox/verify.h>

#include "log.h"
#include "service.h"
#include "station.h"
#include "work.h"

#define EVENTS_AT_ONCE	64
/* .. and so often, which is more than a queue holds: then others have their turn. */
#define READS_AT_ONCE	20
/*
 * Most of what an event costs is to be woken for it. So all machines are read at a time, at most
 * once in so long: no operator sees the difference, and no card waits for it. At most so many at
 * once; the others are next.
 */
#define READ_US		20000
#define MACHINES_AT_ONCE	64
/* An event that is on its way when a status was asked comes within so many times so long. */
#define SETTLE_MS	50
#define SETTLES		20

/*
 * A call waits for its machine, up to a second or a few. So that one that hangs takes neither
 * the others' time nor the watchdog's, no round of calls goes on for longer than this, ..
 */
#define ROUND_US	100000
/* .. one that did not answer is asked again only when three times as long has passed, .. */
#define QUIET		3
/* .. and what could not be opened, or was given up, is tried again ever less often. */
#define ASIDE_US	4000000
#define ASIDE_MAX_US	256000000
#define LOOK_US		2000000	/* between two looks at machines that work */
#define CARD_US		5000000	/* the longest that a machine takes for a card (docs/protocol.md, 5.1) */
#define CARDS_US	250000	/* between two numbers of cards that are told of a machine */

static uint64_t clock_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Stops to wait for events of a machine that is open. */
static void unwatch(struct station *st)
{
	if (!st->source)
		epoll_ctl(sd_event_source_get_io_fd(st->service->stations->ready), EPOLL_CTL_DEL,
			  dealbox_machine_fd(st->machine), NULL);
	st->source = sd_event_source_disable_unref(st->source);
}

static void station_close(struct station *st, const char *why)
{
	if (!st->machine)
		return;
	log_message(MESSAGE_GONE, st->id, NULL, "%s", why);
	unwatch(st);
	dealbox_machine_close(st->machine);
	st->machine = NULL;
	desk_unplugged(&st->desk);
}

/* Which machine is open by this address, or at this port ("": none)? */
static struct station *station_at(const struct service *s, const char *uri, const char *port)
{
	struct station *st;

	for (st = s->stations->first; st; st = st->next)
		if (st->machine && (!strcmp(st->uri, uri) || (*port && !strcmp(st->port, port))))
			return st;
	return NULL;
}

/* The address of an emulator of the settings. */
static void emulator_uri(const struct service *s, size_t n, char uri[URI_SIZE])
{
	snprintf(uri, URI_SIZE, "emu:%s", s->config.emulators[n]);
}

/* ---- machines that cannot be used ------------------------------------------- */

static struct aside *aside_find(const struct service *s, const char *uri)
{
	struct aside *aside;

	for (aside = s->stations->asides; aside && strcmp(aside->uri, uri); aside = aside->next)
		;
	return aside;
}

/* Leaves it alone for a while. One that is in use may be free at any moment. */
static void aside_add(struct service *s, const char *uri, const char *port, const char *why, int err)
{
	struct aside *aside = aside_find(s, uri);

	if (!aside) {
		aside = calloc(1, sizeof(*aside));
		if (!aside)
			return;
		snprintf(aside->uri, sizeof(aside->uri), "%s", uri);
		aside->wait = ASIDE_US / 2;
		aside->next = s->stations->asides;
		s->stations->asides = aside;
	}
	/* the same is not said again */
	if (*why && strcmp(aside->said, why))
		log_message(MESSAGE_REFUSED, NULL, NULL, "%s", why);
	snprintf(aside->said, sizeof(aside->said), "%s", why);
	snprintf(aside->port, sizeof(aside->port), "%s", port);
	if (err == -EBUSY)
		aside->wait = ASIDE_US;
	else if (aside->wait < ASIDE_MAX_US)
		aside->wait *= 2;
	aside->until = clock_us() + aside->wait;
}

static void aside_remove(struct service *s, const char *uri)
{
	struct aside *aside = aside_find(s, uri), **at = &s->stations->asides;

	if (!aside)
		return;
	while (*at != aside)
		at = &(*at)->next;
	*at = aside->next;
	free(aside);
}

/* ---- events ---------------------------------------------------------------- */

/* The trace of that insertion, NULL if there is none. */
static struct dealbox_trace *trace_of(const struct station *st, uint32_t insertion)
{
	if (st->trace && dealbox_trace_insertion(st->trace) == insertion)
		return st->trace;
	if (st->kept && dealbox_trace_insertion(st->kept) == insertion)
		return st->kept;
	return NULL;
}

/* Which cards of the deal have not come? */
static void diagnose_short(struct station *st)
{
	const struct dealbox_event *e;
	dealbox_cards missing = 0;
	unsigned int card, count;
	size_t n, length;

	for (card = 0; card < st->plan.entries && st->plan.mode == DEALBOX_PLAN_BY_CARD; card++)
		if (st->plan.pocket[card] != DEALBOX_NONE)
			missing |= (dealbox_cards)1 << card;
	for (n = 0; (e = dealbox_trace_get(st->trace, n)); n++)
		if (e->type == DEALBOX_EV_CARD_READ && e->card < 64)
			missing &= ~((dealbox_cards)1 << e->card);
	count = dealbox_cards_count(missing);
	snprintf(st->diagnosis, sizeof(st->diagnosis), count == 1 ? "%u card of the deal has not come" :
		 "%u cards of the deal have not come", count);
	length = snprintf(st->revealed, sizeof(st->revealed), "%s:", st->diagnosis);
	for (card = 0; card < 64 && length < sizeof(st->revealed); card++)
		if (missing >> card & 1)
			length += snprintf(st->revealed + length, sizeof(st->revealed) - length, " %s",
					   dealbox_card_name(card));
}

/* Which of two cards was misread? */
static void diagnose_repeat(struct station *st)
{
	const struct job *job = jobs_find(&st->service->jobs, st->desk.copy.job);
	struct dealbox_diagnosis diagnosis;

	if (!dealbox_diagnose_repeat(st->trace, dealbox_pack_bridge(), &st->confusion,
				     job ? work_pockets(job) : NULL, &diagnosis)) {
		dealbox_diagnosis_message(&diagnosis, false, st->diagnosis, sizeof(st->diagnosis));
		dealbox_diagnosis_message(&diagnosis, true, st->revealed, sizeof(st->revealed));
	}
	sodium_memzero(&diagnosis, sizeof(diagnosis));
}

/* The first board that comes: does its number follow the last one that the ledger knows? */
static void first_board(struct station *st, uint32_t insertion)
{
	uint32_t known;

	st->fresh = false;
	if (!work_elsewhere(st->service, st->id, insertion, &known))
		return;
	log_message(MESSAGE_TROUBLE, st->id, NULL, "insertion %u has come, and the last one that the "
		    "ledger knows is %u: if another computer has dealt with this machine, look what it has dealt",
		    insertion, known);
	st->desk.confirm = true;
	st->desk.trouble = TROUBLE_USED;
}

/* What is told of a deal begins anew. */
static void deal_begins(struct station *st)
{
	st->cards = st->stopped_at = 0;
	st->detail[0] = '\0';
}

static void keep_event(struct station *st, const struct dealbox_event *e)
{
	if (e->type == DEALBOX_EV_BOARD_INSERTED && st->fresh)
		first_board(st, e->insertion);

	/* the trace of an insertion begins when the board comes, or when we do */
	if (e->insertion && (!st->trace || dealbox_trace_insertion(st->trace) != e->insertion ||
			     /* .. and each pocket of an original has its own */
			     (e->type == DEALBOX_EV_DEAL_STARTED && st->desk.capture))) {
		if (trace_of(st, st->desk.dealt) == st->trace && st->desk.phase >= PHASE_START) {
			dealbox_trace_free(st->kept);
			st->kept = st->trace;
		} else {
			dealbox_trace_free(st->trace);
		}
		st->trace = dealbox_trace_new(e->insertion);
	}
	if (st->trace)
		dealbox_trace_add(st->trace, e);
	if (e->type == DEALBOX_EV_DEAL_STARTED)
		deal_begins(st);
	/* what holds the deal, or ends it */
	if (e->type >= DEALBOX_EV_CARD_UNREADABLE && e->position != DEALBOX_NONE)
		st->stopped_at = e->position + 1;
	if (e->type >= DEALBOX_EV_CARD_UNREADABLE && e->type < 0x40)
		dealbox_event_detail(e, st->detail, sizeof(st->detail));
	if (e->type == DEALBOX_EV_CARD_ROUTED && e->position != DEALBOX_NONE)
		st->cards = e->position + 1;
	if (e->type == DEALBOX_EV_DECK_SHORT && st->trace)
		diagnose_short(st);
	if (e->type == DEALBOX_EV_NOT_IN_PLAN && e->position != DEALBOX_NONE) {
		snprintf(st->diagnosis, sizeof(st->diagnosis), "card %u does not belong to the deal",
			 e->position + 1u);
		snprintf(st->revealed, sizeof(st->revealed), "card %u was read as %s", e->position + 1u,
			 dealbox_card_name(e->card));
	}
	if (e->type == DEALBOX_EV_REPEATED_CARD && st->trace)
		diagnose_repeat(st);
	if (e->type == DEALBOX_EV_DEAL_DONE && st->trace)
		dealbox_confusion_learn(&st->confusion, st->trace);
}

/*
 * Reads all events that were there when it began. How many, or -errno. *news (may be NULL): there
 * is one that the desk heeds.
 */
static int read_events(struct station *st, bool *news)
{
	struct dealbox_event events[EVENTS_AT_ONCE];
	unsigned int reads = 0;
	ssize_t count, n;
	int all = 0;

	do {
		count = dealbox_machine_read(st->machine, events, EVENTS_AT_ONCE);
		for (n = 0; n < count; n++) {
			keep_event(st, &events[n]);
			if (desk_event(&st->desk, &st->service->jobs, &events[n]) && news)
				*news = true;
		}
		all += count > 0 ? count : 0;
		if (count > 0)
			st->heard = clock_us();
	} while (count == EVENTS_AT_ONCE && ++reads < READS_AT_ONCE);
	sodium_memzero(events, sizeof(events));
	return count == -EAGAIN || count >= 0 ? all : (int)count;
}

/*
 * What has changed is told at once, but for cards that fall: their last number is told when the
 * state changes, as at the end of a deal, or else when the machines are looked at.
 */
static void tell(struct station *st)
{
	enum trouble trouble = desk_trouble(&st->desk);
	bool state = trouble != st->told || memcmp(&st->told_copy, &st->desk.copy, sizeof(struct copy));
	char text[768];

	if (!state && (st->cards == st->told_cards || clock_us() - st->told_at < CARDS_US))
		return;
	if (trouble != st->told && trouble_rows[trouble].ways != WAY_SELF) {
		trouble_text(trouble, st->desk.copy.board, st->desk.copy.copy, text, sizeof(text));
		log_message(MESSAGE_TROUBLE, st->id, &st->desk.copy, "%s: %s", trouble_rows[trouble].name,
			    text);
	}
	service_notify(st->service, &(struct notice){
		.kind = state ? NOTICE_MACHINE_STATE : NOTICE_MACHINE_CARDS, .station = st });
	if (trouble != st->told)
		service_notify(st->service, &(struct notice){
			.kind = NOTICE_MACHINE_TROUBLE, .station = st });
	st->told = trouble;
	st->told_copy = st->desk.copy;
	st->told_cards = st->cards;
	st->told_at = clock_us();
}

/* The machine has events. True: the desks are to do what they can. */
static bool take_events(struct station *st)
{
	bool news = false;

	if (read_events(st, &news) < 0) {
		station_close(st, "the machine is gone");
		/* it may have come back before we saw that it went */
		stations_seek(st->service, NULL);
		return true;
	}
	/* a card that falls is all that most events tell */
	if (!news)
		tell(st);
	return news;
}

/* Of one that waits for us. */
static int on_events(sd_event_source *source, int fd, uint32_t revents, void *context)
{
	struct station *st = context;

	(void)source;
	(void)fd;
	(void)revents;
	if (take_events(st))
		stations_run(st->service);
	return 0;
}

/* The others, as many as have any. False: none has. */
static bool take_all(struct service *s)
{
	struct epoll_event ready[MACHINES_AT_ONCE];
	int count = epoll_wait(sd_event_source_get_io_fd(s->stations->ready), ready, MACHINES_AT_ONCE, 0), n;
	bool news = false;

	for (n = 0; n < count; n++)
		news |= take_events(ready[n].data.ptr);
	if (news)
		stations_run(s);
	return count > 0;
}

/* While machines deal, the clock says when they are read; else their next event does. */
static int on_tick(sd_event_source *source, uint64_t at, void *context)
{
	struct service *s = context;
	int err;

	(void)at;
	if (!take_all(s))
		return sd_event_source_set_io_events(s->stations->ready, EPOLLIN);
	err = sd_event_source_set_time_relative(source, READ_US);
	return err < 0 ? err : sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int on_ready(sd_event_source *source, int fd, uint32_t revents, void *context)
{
	struct service *s = context;

	(void)fd;
	(void)revents;
	/* to take it out of the loop and in again would cost more: the kernel looks at all machines */
	sd_event_source_set_io_events(source, 0);
	return on_tick(s->stations->tick, 0, s);
}

/* Begins to wait for events of a machine that has been opened by that address. 0 or -errno. */
static int watch(struct station *st, const char *uri, struct dealbox_machine *machine,
		 const struct dealbox_info *info)
{
	struct epoll_event ready = { .events = EPOLLIN, .data.ptr = st };
	bool routed = info->capabilities & DEALBOX_CAP_HOST_ROUTED;
	int fd = dealbox_machine_fd(machine);

	/*
	 * The module fetches events, and decides, by itself. On usb: the machine's next events are
	 * fetched only when we have read these; and where the library decides, a card waits for us.
	 */
	if (strncmp(uri, "local:", 6) && (routed || strncmp(uri, "emu:", 4)))
		return sd_event_add_io(st->service->event, &st->source, fd, EPOLLIN, on_events, st);
	return epoll_ctl(sd_event_source_get_io_fd(st->service->stations->ready), EPOLL_CTL_ADD, fd, &ready) ?
	       -errno : 0;
}

/* ---- steps ------------------------------------------------------------------ */

static enum did answer(struct station *st, int err)
{
	st->suspect = err == -ETIMEDOUT;
	if (!err)
		return DID_OK;
	log_message(MESSAGE_REFUSED, st->id, &st->desk.copy, "%s",
		    dealbox_machine_reason(st->machine)->what);
	return err == -EREMOTEIO || err == -EOPNOTSUPP || err == -EINVAL ? DID_REFUSED :
	       DID_NO_ANSWER;
}

/*
 * A status is only good together with all events before it: those that are still on
 * their way are waited for.
 */
static enum did do_status(struct station *st, const struct step *step)
{
	struct pollfd wait = { .fd = dealbox_machine_fd(st->machine), .events = POLLIN };
	struct dealbox_status status;
	int err, events = 0;
	unsigned int n;

	(void)step;
	for (n = 0; n < SETTLES; n++) {
		err = dealbox_machine_get_status(st->machine, &status);
		if (err)
			return answer(st, err);
		events = read_events(st, NULL);
		if (events < 0)
			return DID_NO_ANSWER;
		if (events)
			continue;
		if (!desk_news(&st->desk, &status))
			break;
		poll(&wait, 1, SETTLE_MS);
	}
	/* events without end, and each is newer than the status: then it is asked another time */
	if (events)
		st->desk.stale = false;
	else
		desk_status(&st->desk, &status);
	aside_remove(st->service, st->uri);
	return answer(st, 0);
}

static enum did give_plan(struct station *st)
{
	struct dealbox_plan given = st->plan;
	int err = dealbox_machine_set_plan(st->machine, &given);

	dealbox_plan_wipe(&given);
	return answer(st, err);
}

static enum did do_plan(struct station *st, const struct step *step)
{
	const struct job *job = jobs_find(&st->service->jobs, step->copy.job);
	int err;

	/* never 0 and never that of a test deal */
	st->plan_id = st->plan_id % 0x7fffffff + 1;
	err = work_plan(st->service, job, &step->copy, st->plan_id, &st->plan);
	if (!err)
		return give_plan(st);
	if (err != -EINVAL) {
		log_message(MESSAGE_LEDGER, st->id, &step->copy, "%s",
			    dealbox_ledger_error(st->service->ledger));
		return DID_LEDGER;
	}
	log_message(MESSAGE_REFUSED, st->id, &step->copy, "board %u cannot be planned", step->copy.board);
	return DID_REFUSED;
}

static enum did do_begin(struct station *st, const struct step *step)
{
	struct service *s = st->service;
	struct job *job = jobs_find(&s->jobs, step->copy.job);
	/* who starts a board of which there was doubt says that it is empty */
	const struct dealbox_ledger_act emptied = {
		.act = DEALBOX_ACT_EMPTIED, .uid = st->starter, .job = step->copy.job,
		.board = step->copy.board, .copy = step->copy.copy, .machine = st->id,
	};
	int err = 0;

	if (st->desk.confirm && !st->desk.capture)
		err = dealbox_ledger_add_act(s->ledger, &emptied);
	if (!err)
		err = dealbox_ledger_begin(s->ledger, step->copy.job, step->copy.board,
					   step->copy.copy, st->id, step->insertion, st->plan_id,
					   &st->insertion);
	st->starter = DEALBOX_UID_NONE;
	if (!err)
		return DID_OK;
	log_message(MESSAGE_REFUSED, st->id, &step->copy, "%s", dealbox_ledger_error(s->ledger));
	switch (err) {
	case -EALREADY:
		return DID_USED;
	case -EEXIST:
	case -EINPROGRESS:
	case -ECANCELED:
	case -ENOENT:
		if (job && !work_refresh(s, job) &&
		    job_state(job, step->copy.board, step->copy.copy) == DEALBOX_LEDGER_COPY_OPEN &&
		    err == -EEXIST)
			return DID_REPEAT;
		return DID_TAKEN;
	default:
		return DID_LEDGER;
	}
}

static enum did do_start(struct station *st, const struct step *step)
{
	deal_begins(st);
	st->heard = clock_us();
	return answer(st, dealbox_machine_start(st->machine, st->plan_id, step->insertion));
}

static void notify_judged(struct station *st, const struct step *step, bool exact, const char *text)
{
	service_notify(st->service, &(struct notice){
		.kind = NOTICE_JUDGED, .station = st, .copy = &step->copy,
		.insertion = step->insertion, .exact = exact, .text = text });
}

/* Writes down what became of the insertion, with its trace, and tells it. */
static int record(struct station *st, const struct step *step,
		  enum dealbox_ledger_outcome outcome, unsigned int reason, unsigned int differences,
		  const char *text)
{
	const struct dealbox_trace *trace = trace_of(st, step->insertion);
	size_t count = trace ? dealbox_trace_count(trace) : 0, n;
	struct job *job = jobs_find(&st->service->jobs, step->copy.job);
	bool exact = outcome == DEALBOX_LEDGER_EXACT || outcome == DEALBOX_LEDGER_CAPTURED;
	struct dealbox_event *events = NULL;
	int err;

	if (count) {
		events = calloc(count, sizeof(*events));
		if (!events)
			return -ENOMEM;
		for (n = 0; n < count; n++)
			events[n] = *dealbox_trace_get(trace, n);
	}
	err = dealbox_ledger_end(st->service->ledger, st->insertion, outcome, reason, differences,
				 events, count);
	if (events)
		sodium_memzero(events, count * sizeof(*events));
	free(events);
	if (err) {
		log_message(MESSAGE_LEDGER, st->id, &step->copy, "%s",
			    dealbox_ledger_error(st->service->ledger));
		return err;
	}
	if (job && !exact)
		job->voided++;
	log_message(exact ? MESSAGE_RECORDED : MESSAGE_VOID, st->id, &step->copy, "board %u, copy %u: %s%s",
		    step->copy.board, step->copy.copy, text, exact ? ", recorded" : "");
	notify_judged(st, step, exact, text);
	dealbox_plan_wipe(&st->plan);
	dealbox_trace_free(st->kept);
	st->kept = NULL;
	return 0;
}

static enum did do_judge(struct station *st, const struct step *step)
{
	const struct dealbox_trace *trace = trace_of(st, step->insertion);
	char text[256] = "void: what was dealt is not known";
	enum dealbox_ledger_outcome outcome = DEALBOX_LEDGER_UNKNOWN;
	struct dealbox_verdict *verdict = NULL;
	unsigned int differences = 1, want, count;
	dealbox_cards cards;

	if (trace && !work_verify(&st->plan, trace, &verdict)) {
		if (st->desk.capture)
			outcome = dealbox_verdict_exact(verdict) ? DEALBOX_LEDGER_CAPTURED :
				  DEALBOX_LEDGER_VOID;
		else
			outcome = dealbox_verdict_exact(verdict) ? DEALBOX_LEDGER_EXACT :
				  DEALBOX_LEDGER_DIFFERS;
		differences = dealbox_verdict_count(verdict);
		dealbox_verdict_message(verdict, text, sizeof(text));
		if (outcome == DEALBOX_LEDGER_CAPTURED && !dealbox_law_capture_pocket(trace, &cards)) {
			want = dealbox_pack_bridge()->size[step->copy.copy - 1];
			count = dealbox_cards_count(cards);
			sodium_memzero(&cards, sizeof(cards));
			snprintf(text, sizeof(text), "read: %u cards", count);
			if (count != want) {
				outcome = DEALBOX_LEDGER_VOID;
				snprintf(text, sizeof(text), "pocket %s has %u cards, and not %u: put "
					 "the right ones into the hopper",
					 dealbox_actor_name(step->copy.copy - 1), count, want);
			}
		}
	}
	dealbox_verdict_free(verdict);
	if (record(st, step, outcome, 0, differences, text))
		return DID_LEDGER;
	return outcome == DEALBOX_LEDGER_EXACT || outcome == DEALBOX_LEDGER_CAPTURED ? DID_EXACT :
	       DID_DIFFERS;
}

static enum did do_void(struct station *st, const struct step *step)
{
	const char *name = dealbox_event_name(step->reason);
	const char *comma = *st->detail ? ", " : "";
	char text[128] = "void";

	if (step->reason && st->stopped_at)
		snprintf(text, sizeof(text), "void: %s at card %u%s%s", name, st->stopped_at, comma, st->detail);
	else if (step->reason)
		snprintf(text, sizeof(text), "void: %s%s%s", name, comma, st->detail);
	return record(st, step, step->outcome, step->reason, 0, text) ? DID_LEDGER : DID_OK;
}

/* What was recorded as exact does not count: the machine stopped behind the end of that deal. */
static enum did do_undo(struct station *st, const struct step *step)
{
	const struct dealbox_ledger_act redeal = {
		.act = DEALBOX_ACT_REDEAL, .uid = DEALBOX_UID_NONE, .job = step->copy.job,
		.board = step->copy.board, .copy = step->copy.copy, .machine = st->id,
	};
	struct job *job = jobs_find(&st->service->jobs, step->copy.job);
	char text[128];

	if (dealbox_ledger_add_act(st->service->ledger, &redeal)) {
		log_message(MESSAGE_LEDGER, st->id, &step->copy, "%s",
			    dealbox_ledger_error(st->service->ledger));
		return DID_LEDGER;
	}
	if (job)
		job->voided++;
	snprintf(text, sizeof(text), "void: %s behind its end, so it is not exact after all",
		 dealbox_event_name(step->reason));
	log_message(MESSAGE_VOID, st->id, &step->copy, "board %u, copy %u: %s", step->copy.board,
		    step->copy.copy, text);
	notify_judged(st, step, false, text);
	return DID_OK;
}

static enum did do_pause(struct station *st, const struct step *step)
{
	(void)step;
	return answer(st, dealbox_machine_pause(st->machine));
}

static enum did do_resume(struct station *st, const struct step *step)
{
	(void)step;
	st->heard = clock_us();
	return answer(st, dealbox_machine_resume(st->machine));
}

static enum did do_reread(struct station *st, const struct step *step)
{
	(void)step;
	st->heard = clock_us();
	return answer(st, dealbox_machine_reread(st->machine));
}

static enum did do_abort(struct station *st, const struct step *step)
{
	(void)step;
	return answer(st, dealbox_machine_abort(st->machine));
}

static enum did do_clear(struct station *st, const struct step *step)
{
	(void)step;
	return answer(st, dealbox_machine_clear_fault(st->machine));
}

static enum did do_release(struct station *st, const struct step *step)
{
	(void)step;
	return answer(st, dealbox_machine_release_board(st->machine));
}

static enum did (*const doers[STEPS])(struct station *st, const struct step *step) = {
	[STEP_STATUS] = do_status, [STEP_PLAN] = do_plan, [STEP_BEGIN] = do_begin,
	[STEP_START] = do_start, [STEP_PAUSE] = do_pause, [STEP_RESUME] = do_resume,
	[STEP_REREAD] = do_reread, [STEP_ABORT] = do_abort, [STEP_CLEAR] = do_clear,
	[STEP_RELEASE] = do_release, [STEP_JUDGE] = do_judge, [STEP_VOID] = do_void,
	[STEP_UNDO] = do_undo,
};

/* ---- running ---------------------------------------------------------------- */

/* Does one step, and tells the desk and the bus what became of it. */
static void do_step(struct station *st, const struct step *step)
{
	struct service *s = st->service;
	uint64_t begun = clock_us();
	enum did did;

	st->stepping = true;
	did = doers[step->kind](st, step);
	st->stepping = false;
	if (st->suspect)
		s->stations->quiet = clock_us() + QUIET * (clock_us() - begun);
	desk_did(&st->desk, &s->jobs, step, did);
	if (st->stop_after)
		desk_push(&st->desk, PUSH_STOP);
	st->stop_after = false;
	/* a job that is done says so when the copy counts */
	if (step->kind == STEP_JUDGE || step->kind == STEP_VOID || step->kind == STEP_UNDO ||
	    did == DID_REPEAT)
		service_notify(s, &(struct notice){
			.kind = NOTICE_JOB_CHANGED, .job = step->copy.job });
}

/* False: there was something to do. */
static bool run_one(struct station *st)
{
	struct service *s = st->service;
	bool quiet = true;
	struct step step;

	st->desk.unknown = !st->known && !s->config.accept;
	service_notify(s, &(struct notice){ .kind = NOTICE_MACHINE_TURN, .station = st });
	while ((!st->suspect || clock_us() >= s->stations->quiet) &&
	       desk_next(&st->desk, &s->jobs, &s->stations->first->desk, &step)) {
		quiet = false;
		do_step(st, &step);
	}
	if (!st->desk.plugged && st->machine) {
		aside_add(s, st->uri, st->port, "", -EIO);
		station_close(st, "the machine is out of order");
		st->suspect = false;
		quiet = false;
	}
	tell(st);
	return quiet;
}

/* Each in its turn, until their time is over; the rest when others have had theirs. */
static void run_all(struct service *s)
{
	uint64_t begun = clock_us();
	size_t left, all = 0;
	struct station *st;

	for (st = s->stations->first; st; st = st->next)
		all++;
	for (st = s->stations->turn, left = all; left; left--) {
		if (!st)
			st = s->stations->first;
		/* a step may change what another desk does: once more all of them */
		if (!run_one(st))
			left = all + 1;
		st = st->next;
		if (clock_us() - begun < ROUND_US)
			continue;
		s->stations->turn = st;
		stations_run_later(s);
		return;
	}
	s->stations->turn = NULL;
}

/* Emulators tell nobody when they come: is one missing that is not left alone? */
static bool emulator_missing(const struct service *s)
{
	char uri[URI_SIZE];
	size_t n;

	for (n = 0; n < s->config.emulator_count; n++) {
		emulator_uri(s, n, uri);
		if (!station_at(s, uri, "") && !aside_find(s, uri))
			return true;
	}
	return false;
}

/*
 * Sets the alarm for what no event will tell: machines that are looked at, asked or tried
 * again. Mostly there is none, and the service sleeps until something happens.
 */
static void alarm_set(struct service *s)
{
	const struct aside *aside;
	struct station *st;
	uint64_t next = UINT64_MAX;

	for (st = s->stations->first; st; st = st->next) {
		if (st->desk.phase != PHASE_SETTLE)
			st->settled = 0;
		else if (!st->settled)
			st->settled = clock_us() + DEALBOX_SETTLED_MS * 1000;
		if (st->settled && !st->desk.settled && st->settled < next)
			next = st->settled;
		if (desk_watched(&st->desk, &s->jobs) && s->stations->look < next)
			next = s->stations->look;
		if (st->suspect && st->desk.plugged && s->stations->quiet < next)
			next = s->stations->quiet;
		if (desk_moves(&st->desk) && !st->desk.silent && st->heard + CARD_US < next)
			next = st->heard + CARD_US;
	}
	for (aside = s->stations->asides; aside; aside = aside->next)
		if (aside->until < next && !station_at(s, aside->uri, aside->port))
			next = aside->until;
	/* asked last: it compares all emulators with all machines */
	if (s->stations->look < next && emulator_missing(s))
		next = s->stations->look;
	if (next != UINT64_MAX)
		sd_event_source_set_time(s->stations->alarm, next);
	sd_event_source_set_enabled(s->stations->alarm, next == UINT64_MAX ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

void stations_run(struct service *s)
{
	s->stations->stopped = false;
	run_all(s);
	service_notify(s, &(struct notice){ .kind = NOTICE_MACHINES_RUN });
	alarm_set(s);
}

void stations_run_later(struct service *s)
{
	sd_event_source_set_enabled(s->stations->run, SD_EVENT_ONESHOT);
}

static int on_run(sd_event_source *source, void *context)
{
	(void)source;
	stations_run(context);
	return 0;
}

bool stations_stop(struct service *s, const struct station *only)
{
	uint64_t begun = clock_us();
	bool news = !s->stations->first;
	struct station *st;
	struct step step;

	for (st = s->stations->first; st; st = st->next)
		if (!only || only == st) {
			news |= !st->desk.stop && !st->stop_after;
			/* it may come while the ledger waits for the disk: a desk is told after its step */
			if (st->stepping)
				st->stop_after = true;
			else
				desk_push(&st->desk, PUSH_STOP);
		}
	/* what deals is aborted, and no more: no machine waits for what is written of another, .. */
	for (st = s->stations->first; st && clock_us() - begun < ROUND_US; st = st->next)
		if (!st->suspect && !st->stepping && desk_must_abort(&st->desk) &&
		    desk_next(&st->desk, &s->jobs, &s->stations->first->desk, &step))
			do_step(st, &step);
	/* .. or for one that hangs; that one is asked next, whatever it did before */
	for (st = s->stations->first; st; st = st->next)
		if (!only || only == st)
			st->suspect = false;
	s->stations->stopped = true;
	stations_run_later(s);
	return news;
}

void stations_stopped(struct service *s, const struct station *only, uint32_t uid)
{
	const struct dealbox_ledger_act act = {
		.act = DEALBOX_ACT_STOP, .uid = uid, .machine = only ? only->id : NULL,
	};

	log_message(MESSAGE_STOP, only ? only->id : NULL, NULL, "emergency stop");
	if (dealbox_ledger_add_act(s->ledger, &act))
		log_message(MESSAGE_LEDGER, only ? only->id : NULL, NULL, "%s", dealbox_ledger_error(s->ledger));
}

/* ---- coming and going -------------------------------------------------------- */

static struct station *station_get(struct service *s, const char *id)
{
	struct station *st = stations_find(s, id);

	if (st)
		return st;
	st = calloc(1, sizeof(*st));
	if (!st)
		return NULL;
	snprintf(st->id, sizeof(st->id), "%s", id);
	st->service = s;
	st->told = TROUBLES;
	st->starter = DEALBOX_UID_NONE;
	st->plan_id = randombytes_uniform(0x7fffffff);
	desk_init(&st->desk, st->id, s->stations->first ? &s->stations->first->desk : NULL);
	st->known = dealbox_ledger_knows(s->ledger, id) > 0;
	st->desk.confirm = work_doubt(s, id);
	st->desk.trouble = TROUBLE_USED;
	st->next = s->stations->first;
	s->stations->first = st;
	service_notify(s, &(struct notice){ .kind = NOTICE_MACHINE_ADDED, .station = st });
	return st;
}

/*
 * A machine of the same serial number has come. Unplugged here and plugged in elsewhere, a machine
 * can be there for the second time before we hear that it has gone; then it is closed here. 0 when
 * that is known for sure, whether it is open still or not; otherwise nobody knows which is which.
 */
static int still_there(struct station *st)
{
	struct dealbox_status status;
	int err = dealbox_machine_get_status(st->machine, &status);

	/* what it has told until it went counts */
	if (read_events(st, NULL) >= 0 && err != -ENODEV)
		return err;
	station_close(st, "the machine is gone");
	return 0;
}

static void make_safe(char *text, size_t size)
{
	char safe[64];

	dealbox_text_safe(text, size, safe, size);
	memcpy(text, safe, strlen(safe) + 1);
}

/* Opens a machine that is not open yet; quietly nothing when it is not there. */
static void station_open(struct service *s, const char *uri, const char *port)
{
	const struct aside *aside = aside_find(s, uri);
	struct dealbox_machine *machine;
	struct dealbox_reason reason;
	struct dealbox_info info;
	char id[128], why[sizeof(aside->said)];
	struct station *st;
	int err;

	if ((aside && clock_us() < aside->until) || station_at(s, uri, port))
		return;
	err = dealbox_machine_open(uri, false, &machine, &reason);
	if (err == -ENOENT || err == -ENODEV || err == -ECONNREFUSED) {
		aside_remove(s, uri);
		return;
	}
	if (err) {
		snprintf(why, sizeof(why), "%s%s%s", reason.what, *reason.next ? "; " : "", reason.next);
		aside_add(s, uri, port, why, err);
		return;
	}
	err = dealbox_machine_get_info(machine, &info);
	if (!err)
		err = dealbox_machine_claim(machine);
	if (err) {
		snprintf(why, sizeof(why), "%s", dealbox_machine_reason(machine)->what);
		aside_add(s, uri, port, why, err);
		dealbox_machine_close(machine);
		return;
	}
	/* they stand in names of objects, in records and on terminals, and a machine may send anything */
	make_safe(info.serial, sizeof(info.serial));
	make_safe(info.name, sizeof(info.name));
	/* one that calls itself as we call others, by their ports, is known by its own */
	if (!strncmp(info.serial, "port:", 5) || strchr(info.serial, '@'))
		*info.serial = '\0';
	if (*info.serial)
		snprintf(id, sizeof(id), "%s", info.serial);
	else
		snprintf(id, sizeof(id), "port:%s", *port ? port : uri);
	st = station_get(s, id);
	if (st && st->machine) {
		err = still_there(st);
		if (err) {
			snprintf(why, sizeof(why), "two machines have the serial number %.60s, and the one at %.60s "
				 "does not answer; unplug it if it is not in use", st->id, st->uri);
			aside_add(s, uri, port, why, -EBUSY);
			dealbox_machine_close(machine);
			return;
		}
	}
	/* two machines of the same serial number: the second is told apart by its port */
	if (st && st->machine) {
		snprintf(id, sizeof(id), "%.60s@%.60s", info.serial, *port ? port : uri);
		st = station_get(s, id);
	}
	if (!st || st->machine || watch(st, uri, machine, &info) < 0) {
		aside_add(s, uri, port, "", -ENOMEM);
		dealbox_machine_close(machine);
		return;
	}
	st->machine = machine;
	st->suspect = false;
	st->fresh = true;
	snprintf(st->uri, sizeof(st->uri), "%s", uri);
	snprintf(st->serial, sizeof(st->serial), "%s", info.serial);
	snprintf(st->port, sizeof(st->port), "%s", port);
	snprintf(st->model, sizeof(st->model), "%s", info.name);
	log_message(MESSAGE_MACHINE, st->id, NULL, "%s is there, as %s", info.name, uri);
	dealbox_confusion_reader(&st->confusion, info.reader);
	desk_plugged(&st->desk, &info);
}

/* Tries the emulators of the settings; false: not all of them, the time was over. */
static bool open_emulators(struct service *s, uint64_t end)
{
	char uri[URI_SIZE];
	size_t n;

	for (n = 0; n < s->config.emulator_count && clock_us() < end; n++) {
		emulator_uri(s, n, uri);
		station_open(s, uri, "");
	}
	return n == s->config.emulator_count;
}

static bool emulator_named(const struct service *s, const char *uri)
{
	char named[URI_SIZE];
	size_t n;

	for (n = 0; n < s->config.emulator_count; n++) {
		emulator_uri(s, n, named);
		if (!strcmp(named, uri))
			return true;
	}
	return false;
}

/* What is not there any more, or not in the settings, need not be tried again. */
static void asides_forget(struct service *s, const struct dealbox_machine_list *list)
{
	size_t n, count = dealbox_machine_list_count(list);
	struct aside *aside, *next;

	for (aside = s->stations->asides; aside; aside = next) {
		next = aside->next;
		for (n = 0; n < count && strcmp(aside->uri, dealbox_machine_list_uri(list, n)); n++)
			;
		if (n == count && !emulator_named(s, aside->uri))
			aside_remove(s, aside->uri);
	}
}

/* Something came or went: what there is now is looked up, so that no event can mislead. */
static int on_seek(sd_event_source *source, void *context)
{
	struct service *s = context;
	uint64_t end = clock_us() + ROUND_US;
	struct dealbox_machine_list *list;
	struct dealbox_reason reason;
	bool all = true;
	size_t n;

	/* a machine that is open is in the list too; station_open() knows it */
	if (!dealbox_machine_list(NULL, &list, &reason)) {
		asides_forget(s, list);
		for (n = 0; n < dealbox_machine_list_count(list) && clock_us() < end; n++)
			station_open(s, dealbox_machine_list_uri(list, n),
				     dealbox_machine_list_port(list, n));
		all = n == dealbox_machine_list_count(list);
		dealbox_machine_list_free(list);
	} else {
		log_message(MESSAGE_REFUSED, NULL, NULL, "%s; %s", reason.what, reason.next);
	}
	if (!open_emulators(s, end) || !all)
		sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	stations_run(s);
	return 0;
}

static int on_alarm(sd_event_source *source, uint64_t at, void *context)
{
	struct service *s = context;
	uint64_t now = clock_us(), end = now + ROUND_US;
	struct aside *aside, *next;
	char uri[sizeof(aside->uri)], port[sizeof(aside->port)];
	struct station *st;

	(void)source;
	(void)at;
	/* a try may take its own entry away, and no other */
	for (aside = s->stations->asides; aside && clock_us() < end; aside = next) {
		next = aside->next;
		if (aside->until > now)
			continue;
		snprintf(uri, sizeof(uri), "%s", aside->uri);
		snprintf(port, sizeof(port), "%s", aside->port);
		station_open(s, uri, port);
	}
	for (st = s->stations->first; st; st = st->next) {
		if (st->settled && now >= st->settled)
			desk_settled(&st->desk);
		if (desk_moves(&st->desk) && now >= st->heard + CARD_US)
			desk_silent(&st->desk);
	}
	if (now >= s->stations->look) {
		s->stations->look = now + LOOK_US;
		open_emulators(s, end);
		for (st = s->stations->first; st; st = st->next)
			if (desk_watched(&st->desk, &s->jobs))
				desk_look(&st->desk);
	}
	stations_run(s);
	return 0;
}

int stations_open(struct service *s)
{
	int err, fd = epoll_create1(EPOLL_CLOEXEC);

	err = fd < 0 ? -errno : sd_event_add_io(s->event, &s->stations->ready, fd, EPOLLIN, on_ready, s);
	if (err >= 0)
		err = sd_event_source_set_io_fd_own(s->stations->ready, true);
	if (err >= 0)
		err = sd_event_add_time(s->event, &s->stations->tick, CLOCK_MONOTONIC, 0, READ_US / 10, on_tick, s);
	if (err >= 0)
		err = sd_event_source_set_enabled(s->stations->tick, SD_EVENT_OFF);
	if (err >= 0)
		err = sd_event_add_defer(s->event, &s->stations->run, on_run, s);
	if (err >= 0)
		err = sd_event_source_set_enabled(s->stations->run, SD_EVENT_OFF);
	if (err >= 0)
		err = sd_event_add_defer(s->event, &s->stations->seek, on_seek, s);
	if (err >= 0)
		err = sd_event_add_time(s->event, &s->stations->alarm, CLOCK_MONOTONIC, 0, 0, on_alarm, s);
	if (err >= 0)
		err = sd_event_source_set_enabled(s->stations->alarm, SD_EVENT_OFF);
	return err;
}

void stations_seek(struct service *s, const char *port)
{
	struct aside *aside;

	for (aside = s->stations->asides; aside && port; aside = aside->next)
		if (!strcmp(aside->port, port))
			aside->until = 0;
	sd_event_source_set_enabled(s->stations->seek, SD_EVENT_ONESHOT);
}

struct station *stations_find(const struct service *s, const char *id)
{
	struct station *st;

	for (st = s->stations->first; st && strcmp(st->id, id); st = st->next)
		;
	return st;
}

void stations_free(struct service *s)
{
	struct station *st;

	while (s->stations->asides)
		aside_remove(s, s->stations->asides->uri);
	sd_event_source_unref(s->stations->run);
	sd_event_source_unref(s->stations->seek);
	sd_event_source_unref(s->stations->alarm);
	sd_event_source_unref(s->stations->ready);
	sd_event_source_unref(s->stations->tick);
	while ((st = s->stations->first)) {
		s->stations->first = st->next;
		sd_event_source_disable_unref(st->source);
		/* closing pauses a deal that runs; the next daemon finds it, and says so */
		dealbox_machine_close(st->machine);
		dealbox_trace_free(st->trace);
		dealbox_trace_free(st->kept);
		dealbox_plan_wipe(&st->plan);
		sodium_memzero(st->revealed, sizeof(st->revealed));
		free(st);
	}
}
