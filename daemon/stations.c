// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include <sodium.h>

#include <dealbox/machine.h>
#include <dealbox/verify.h>

#include "log.h"
#include "service.h"
#include "station-hotplug.h"
#include "stations.h"

/*
 * Most of the cost of an event is the wake-up. So read all machines together, at most once per
 * READ_US: operators do not notice the delay, and no card waits for it. Read at most
 * MACHINES_AT_ONCE per round.
 */
#define READ_US		20000
#define MACHINES_AT_ONCE	64
/*
 * A call can block for seconds if its machine hangs. Limit each round of calls to ROUND_US, so that
 * other machines and the watchdog are not delayed.
 */
#define ROUND_US	100000
/* After a call that got no answer, wait QUIET times as long before the next one. */
#define QUIET		3

/* ---- reading ------------------------------------------------------------------ */

/* Read events of a machine. Returns true if its engine needs stations_run(). */
static bool read_machine(struct station *st)
{
	bool news = false;

	if (dealing_read(&st->dealing, &news) < 0) {
		station_close(st, "the machine is gone");
		/* It may be back before its removal was noticed. */
		stations_seek(st->service, NULL);
		return true;
	}
	/* Most events only report a card. */
	if (!news)
		station_notify(st);
	return news;
}

/* A machine that is read at once has events. */
static int on_events(sd_event_source *source, int fd, uint32_t revents, void *context)
{
	struct station *st = context;

	(void)source;
	(void)fd;
	(void)revents;
	if (read_machine(st))
		stations_run(st->service);
	return 0;
}

/* Read the other machines that have events. Returns false if none has. */
static bool read_machines(struct service *s)
{
	struct epoll_event ready[MACHINES_AT_ONCE];
	int fd = sd_event_source_get_io_fd(s->stations->ready), n;
	int count = epoll_wait(fd, ready, MACHINES_AT_ONCE, 0);
	bool news = false;

	for (n = 0; n < count; n++)
		news |= read_machine(ready[n].data.ptr);
	if (news)
		stations_run(s);
	return count > 0;
}

/* While machines are dealing, read them by timer; otherwise wait for the next event. */
static int on_tick(sd_event_source *source, uint64_t at, void *context)
{
	struct service *s = context;
	int err;

	(void)at;
	if (!read_machines(s))
		return sd_event_source_set_io_events(s->stations->ready, EPOLLIN);
	err = sd_event_source_set_time_relative(source, READ_US);
	return err < 0 ? err : sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int on_ready(sd_event_source *source, int fd, uint32_t revents, void *context)
{
	struct service *s = context;

	(void)fd;
	(void)revents;
	/* Disabling the source would cost more, as the kernel then polls all machines again. */
	sd_event_source_set_io_events(source, 0);
	return on_tick(s->stations->tick, 0, s);
}

/* ---- running ---------------------------------------------------------------- */

/* Do one step, and report its outcome to the engine and to subscribers. */
static void do_step(struct station *st, const struct step *step)
{
	struct service *s = st->service;
	uint64_t begun = monotonic_us();
	enum did did;

	st->stepping = true;
	did = dealing_do(&st->dealing, step);
	if (step->kind == STEP_STATUS && did == DID_OK)
		station_answered(s, st->uri);
	st->stepping = false;
	if (st->dealing.suspect)
		s->stations->quiet = monotonic_us() + QUIET * (monotonic_us() - begun);
	engine_did(&st->dealing.engine, &s->jobs, step, did);
	if (st->stop_after)
		engine_push(&st->dealing.engine, PUSH_STOP);
	st->stop_after = false;
	/* The last copy of a job also changes the state of the job. */
	if (step->kind == STEP_JUDGE || step->kind == STEP_VOID || step->kind == STEP_UNDO ||
	    did == DID_REPEAT)
		service_notify(s, &(struct notice){
			.kind = NOTICE_JOB_CHANGED, .job = step->copy.job });
}

/* Run a step of the machine whose turn it is. Returns false if it had one. */
static bool run_one(struct station *st)
{
	struct service *s = st->service;
	bool quiet = true;
	struct step step;

	st->dealing.engine.unknown = !st->known && !s->config.accept;
	service_notify(s, &(struct notice){ .kind = NOTICE_MACHINE_TURN, .station = st });
	while ((!st->dealing.suspect || monotonic_us() >= s->stations->quiet) &&
	       engine_next(&st->dealing.engine, &s->jobs, stations_engines(s), &step)) {
		quiet = false;
		do_step(st, &step);
	}
	if (!st->dealing.engine.plugged && st->dealing.machine) {
		station_give_up(st);
		quiet = false;
	}
	station_notify(st);
	return quiet;
}

/* Run all machines in turn, at most ROUND_US; the rest in the next round. */
static void run_all(struct service *s)
{
	uint64_t begun = monotonic_us();
	size_t left, all = 0;
	struct station *st;

	for (st = s->stations->first; st; st = st->next)
		all++;
	for (st = s->stations->turn, left = all; left; left--) {
		if (!st)
			st = s->stations->first;
		/* A step may affect other engines, so check all of them again. */
		if (!run_one(st))
			left = all + 1;
		st = st->next;
		if (monotonic_us() - begun < ROUND_US)
			continue;
		s->stations->turn = st;
		stations_run_later(s);
		return;
	}
	s->stations->turn = NULL;
}

/*
 * Set the timer for changes that no event reports: machines to check, query or retry. Usually there
 * are none, and the service sleeps until the next event.
 */
static void alarm_set(struct service *s)
{
	uint64_t next = machines_next_retry(s);
	struct station *st;

	for (st = s->stations->first; st; st = st->next) {
		if (st->dealing.engine.phase != PHASE_SETTLE)
			st->settled = 0;
		else if (!st->settled)
			st->settled = monotonic_us() + DEALBOX_SETTLED_MS * 1000;
		if (st->settled && !st->dealing.engine.settled && st->settled < next)
			next = st->settled;
		if (engine_watched(&st->dealing.engine, &s->jobs) && s->stations->look < next)
			next = s->stations->look;
		if (st->dealing.suspect && st->dealing.engine.plugged && s->stations->quiet < next)
			next = s->stations->quiet;
		if (engine_moves(&st->dealing.engine) && !st->dealing.engine.silent &&
		    st->dealing.heard + DEALING_CARD_US < next)
			next = st->dealing.heard + DEALING_CARD_US;
	}
	/* Check this last: it compares all emulators with all machines. */
	if (s->stations->look < next && emulator_missing(s))
		next = s->stations->look;
	if (next != UINT64_MAX)
		sd_event_source_set_time(s->stations->alarm, next);
	sd_event_source_set_enabled(s->stations->alarm,
				    next == UINT64_MAX ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
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
	uint64_t begun = monotonic_us();
	bool news = !s->stations->first;
	struct station *st;
	struct step step;

	for (st = s->stations->first; st; st = st->next)
		if (!only || only == st) {
			news |= !st->dealing.engine.stop && !st->stop_after;
			station_asks_anew(st);
			/*
			 * During a step, which may wait for the disk, tell the engine after the
			 * step.
			 */
			if (st->stepping)
				st->stop_after = true;
			else
				engine_push(&st->dealing.engine, PUSH_STOP);
		}
	/* Only abort deals here: no machine may wait for records of another. */
	for (st = s->stations->first; st && monotonic_us() - begun < ROUND_US; st = st->next)
		if (!st->dealing.suspect && !st->stepping &&
		    engine_must_abort(&st->dealing.engine) &&
		    engine_next(&st->dealing.engine, &s->jobs, stations_engines(s), &step))
			do_step(st, &step);
	/* Stop machines that hang next, even if they were suspect before. */
	for (st = s->stations->first; st; st = st->next)
		if (!only || only == st)
			st->dealing.suspect = false;
	s->stations->stopped = true;
	stations_run_later(s);
	return news;
}

void stations_stopped(struct service *s, const struct station *only, uint32_t uid)
{
	const struct dealbox_ledger_act act = {
		.act = DEALBOX_ACT_STOP, .uid = uid, .machine = only ? only->id : NULL,
	};

	log_message(MESSAGE_STOP, act.machine, NULL, "emergency stop");
	if (dealbox_ledger_add_act(s->ledger, &act))
		log_message(MESSAGE_LEDGER, act.machine, NULL, "%s",
			    dealbox_ledger_error(s->ledger)->what);
}

/* ---- the event sources -------------------------------------------------------- */

/* Something was plugged in or unplugged. Scan for machines rather than trust the event. */
static int on_seek(sd_event_source *source, void *context)
{
	struct service *s = context;

	if (!machines_look(s, monotonic_us() + ROUND_US))
		sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	stations_run(s);
	return 0;
}

static int on_alarm(sd_event_source *source, uint64_t at, void *context)
{
	struct service *s = context;
	uint64_t now = monotonic_us(), end = now + ROUND_US;
	struct station *st;

	(void)source;
	(void)at;
	machines_retry(s, now, end);
	for (st = s->stations->first; st; st = st->next) {
		if (st->settled && now >= st->settled)
			engine_settled(&st->dealing.engine);
		if (engine_moves(&st->dealing.engine) && now >= st->dealing.heard + DEALING_CARD_US)
			engine_silent(&st->dealing.engine);
	}
	if (now >= s->stations->look) {
		s->stations->look = now + DEALING_LOOK_US;
		emulators_look(s, end);
		for (st = s->stations->first; st; st = st->next)
			if (engine_watched(&st->dealing.engine, &s->jobs))
				engine_look(&st->dealing.engine);
	}
	stations_run(s);
	return 0;
}

int stations_open(struct service *s)
{
	int err, fd = epoll_create1(EPOLL_CLOEXEC);
	struct stations *all = s->stations;

	all->on_events = on_events;
	err = fd < 0 ? -errno : sd_event_add_io(s->event, &all->ready, fd, EPOLLIN, on_ready, s);
	if (err >= 0)
		err = sd_event_source_set_io_fd_own(all->ready, true);
	if (err >= 0)
		err = sd_event_add_time(s->event, &all->tick, CLOCK_MONOTONIC, 0, READ_US / 10,
					on_tick, s);
	if (err >= 0)
		err = sd_event_source_set_enabled(all->tick, SD_EVENT_OFF);
	if (err >= 0)
		err = sd_event_add_defer(s->event, &all->run, on_run, s);
	if (err >= 0)
		err = sd_event_source_set_enabled(all->run, SD_EVENT_OFF);
	if (err >= 0)
		err = sd_event_add_defer(s->event, &all->seek, on_seek, s);
	if (err >= 0)
		err = sd_event_add_time(s->event, &all->alarm, CLOCK_MONOTONIC, 0, 0, on_alarm, s);
	if (err >= 0)
		err = sd_event_source_set_enabled(all->alarm, SD_EVENT_OFF);
	return err;
}

void stations_seek(struct service *s, const char *port)
{
	if (port)
		machines_retry_port(s, port);
	sd_event_source_set_enabled(s->stations->seek, SD_EVENT_ONESHOT);
}

void stations_free(struct service *s)
{
	struct station *st;

	machines_forget(s);
	sd_event_source_unref(s->stations->run);
	sd_event_source_unref(s->stations->seek);
	sd_event_source_unref(s->stations->alarm);
	sd_event_source_unref(s->stations->ready);
	sd_event_source_unref(s->stations->tick);
	while ((st = s->stations->first)) {
		s->stations->first = st->next;
		sd_event_source_disable_unref(st->source);
		/* Closing pauses a running deal, and the next daemon reports it. */
		dealing_end(&st->dealing);
		free(st);
	}
}
