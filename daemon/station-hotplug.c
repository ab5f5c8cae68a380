// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include <sodium.h>

#include <dealbox/machine.h>

#include "log.h"
#include "service.h"
#include "station-hotplug.h"
#include "service-ledger.h"

/* The back-off doubles with each failure. */
#define BACKOFF_US	4000000
#define BACKOFF_MAX_US	256000000
#define WHY		1024	/* size of the reason why a machine cannot be used */

struct backoff {
	struct backoff *next;
	char uri[URI_SIZE];
	char port[32];
	uint64_t until;			/* us */
	uint64_t wait;
	char said[WHY];
};

/* Stop waiting for events of a machine that is open. */
static void unwatch(struct station *st)
{
	if (!st->source)
		epoll_ctl(sd_event_source_get_io_fd(st->service->stations->ready), EPOLL_CTL_DEL,
			  dealbox_machine_fd(st->dealing.machine), NULL);
	st->source = sd_event_source_disable_unref(st->source);
}

void station_close(struct station *st, const char *why)
{
	if (!st->dealing.machine)
		return;
	log_message(MESSAGE_GONE, st->id, NULL, "%s", why);
	unwatch(st);
	dealing_detach(&st->dealing);
}

/* Return the machine that is open at this address or port; port may be "". */
static struct station *stations_find_open(const struct service *s, const char *uri,
					  const char *port)
{
	struct station *st;

	for (st = s->stations->first; st; st = st->next)
		if (st->dealing.machine &&
		    (!strcmp(st->uri, uri) || (*port && !strcmp(st->port, port))))
			return st;
	return NULL;
}

static void emulator_uri(const struct service *s, size_t n, char uri[URI_SIZE])
{
	snprintf(uri, URI_SIZE, "emu:%s", s->config.emulators[n]);
}

static struct backoff *backoff_find(const struct service *s, const char *uri)
{
	struct backoff *backoff;

	for (backoff = s->stations->backoffs; backoff; backoff = backoff->next)
		if (!strcmp(backoff->uri, uri))
			break;
	return backoff;
}

/* The back-off of a machine in use does not grow: it may become free at any moment. */
static void backoff_add(struct service *s, const char *uri, const char *port, const char *why,
			int err)
{
	struct backoff *backoff = backoff_find(s, uri);

	if (!backoff) {
		backoff = calloc(1, sizeof(*backoff));
		if (!backoff)
			return;
		snprintf(backoff->uri, sizeof(backoff->uri), "%s", uri);
		backoff->wait = BACKOFF_US / 2;
		backoff->next = s->stations->backoffs;
		s->stations->backoffs = backoff;
	}
	/* Do not log the same reason again. */
	if (*why && strcmp(backoff->said, why))
		log_message(MESSAGE_REFUSED, NULL, NULL, "%s", why);
	snprintf(backoff->said, sizeof(backoff->said), "%s", why);
	snprintf(backoff->port, sizeof(backoff->port), "%s", port);
	if (err == -EBUSY)
		backoff->wait = BACKOFF_US;
	else if (backoff->wait < BACKOFF_MAX_US)
		backoff->wait *= 2;
	backoff->until = monotonic_us() + backoff->wait;
}

void station_answered(struct service *s, const char *uri)
{
	struct backoff *backoff = backoff_find(s, uri), **at = &s->stations->backoffs;

	if (!backoff)
		return;
	while (*at != backoff)
		at = &(*at)->next;
	*at = backoff->next;
	free(backoff);
}

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
	st->told = DEALBOX_OPERATOR_STATES;
	dealing_init(&st->dealing, st->id, s->ledger, &s->jobs,
		     s->stations->first ? &s->stations->first->dealing.engine : NULL);
	st->dealing.listener = &station_listener;
	st->dealing.context = st;
	/* An answer to the service of before a restart is no answer to this one. */
	st->question = randombytes_random();
	st->known = dealbox_ledger_knows(s->ledger, id) > 0;
	st->next = s->stations->first;
	s->stations->first = st;
	service_notify(s, &(struct notice){ .kind = NOTICE_MACHINE_ADDED, .station = st });
	return st;
}

/*
 * A machine with the same serial number was plugged in. If the open one was moved to another port,
 * it may appear there before its removal is noticed; close it in that case. Returns 0 if it is
 * certain whether the open machine is still connected. Otherwise the two cannot be told apart.
 */
static int still_there(struct station *st)
{
	struct dealbox_status status;
	int err = dealbox_machine_get_status(st->dealing.machine, &status);

	/* Read its last events first. */
	if (dealing_read(&st->dealing, NULL) >= 0 && err != -ENODEV)
		return err;
	station_close(st, "the machine is gone");
	return 0;
}

/* ---- opening ----------------------------------------------------------------- */

/* Watch for events of a machine opened at uri. Returns 0 or -errno. */
static int watch(struct station *st, const char *uri, struct dealbox_machine *machine,
		 const struct dealbox_info *info)
{
	struct epoll_event ready = { .events = EPOLLIN, .data.ptr = st };
	bool routed = info->capabilities & DEALBOX_CAP_HOST_ROUTED;
	int fd = dealbox_machine_fd(machine);

	/*
	 * For local:, the module reads events and routes cards. For usb:, the next events are
	 * transferred only once these are read. If the library routes, cards wait for this process.
	 */
	if (strncmp(uri, "local:", 6) && (routed || strncmp(uri, "emu:", 4)))
		return sd_event_add_io(st->service->event, &st->source, fd, EPOLLIN,
				       st->service->stations->on_events, st);
	return epoll_ctl(sd_event_source_get_io_fd(st->service->stations->ready), EPOLL_CTL_ADD,
			 fd, &ready) ? -errno : 0;
}

/*
 * Return the station of a machine that was plugged in. On failure, returns NULL with *err set, and
 * the reason in why if it is to be logged.
 */
static struct station *station_for(struct service *s, const struct dealbox_info *info,
				   const char *uri, const char *port, char why[WHY], int *err)
{
	struct station *st;
	char id[DEALING_ID];

	*err = -ENOMEM;
	dealing_id(info, *port ? port : uri, id);
	st = station_get(s, id);
	if (st && st->dealing.machine && still_there(st)) {
		snprintf(why, WHY,
			 "two machines have the serial number %.60s, and the one at %.60s does "
			 "not answer; unplug it if it is not in use", st->id, st->uri);
		*err = -EBUSY;
		return NULL;
	}
	/* Of two machines with the same serial number, identify the second by its port. */
	if (st && st->dealing.machine) {
		snprintf(id, sizeof(id), "%.60s@%.60s", info->serial, *port ? port : uri);
		st = station_get(s, id);
	}
	return st && !st->dealing.machine ? st : NULL;
}

/* Claim an opened machine for its station. Returns 0, or -errno with the reason in why. */
static int attach(struct service *s, struct dealbox_machine *machine, const char *uri,
		  const char *port, char why[WHY])
{
	struct dealbox_info info;
	struct station *st;
	int err = dealbox_machine_get_info(machine, &info);

	if (!err)
		err = dealbox_machine_claim(machine);
	if (err) {
		snprintf(why, WHY, "%s", dealbox_machine_error(machine)->what);
		return err;
	}
	dealing_sanitize(&info);
	st = station_for(s, &info, uri, port, why, &err);
	if (!st)
		return err;
	if (watch(st, uri, machine, &info) < 0)
		return -ENOMEM;
	snprintf(st->uri, sizeof(st->uri), "%s", uri);
	snprintf(st->serial, sizeof(st->serial), "%s", info.serial);
	snprintf(st->port, sizeof(st->port), "%s", port);
	snprintf(st->model, sizeof(st->model), "%s", info.model);
	log_message(MESSAGE_MACHINE, st->id, NULL, "%s connected, as %s", info.model, uri);
	dealing_attach(&st->dealing, machine, &info);
	return 0;
}

/* Open a machine that is not open yet. Logs nothing if it is not connected. */
static void station_open(struct service *s, const char *uri, const char *port)
{
	const struct backoff *backoff = backoff_find(s, uri);
	struct dealbox_machine *machine;
	struct dealbox_error reason;
	char why[WHY] = "";
	int err;

	if ((backoff && monotonic_us() < backoff->until) || stations_find_open(s, uri, port))
		return;
	err = dealbox_machine_open(uri, 0, &machine, &reason);
	if (err == -ENOENT || err == -ENODEV || err == -ECONNREFUSED) {
		station_answered(s, uri);
		return;
	}
	if (err) {
		snprintf(why, sizeof(why), "%s%s%s", reason.what, *reason.next ? "; " : "",
			 reason.next);
		backoff_add(s, uri, port, why, err);
		return;
	}
	err = attach(s, machine, uri, port, why);
	if (err) {
		backoff_add(s, uri, port, why, err);
		dealbox_machine_close(machine);
	}
}

bool emulators_look(struct service *s, uint64_t end)
{
	char uri[URI_SIZE];
	size_t n;

	for (n = 0; n < s->config.emulator_count && monotonic_us() < end; n++) {
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

/* Drop back-off entries for machines that were unplugged or removed from the settings. */
static void backoffs_forget(struct service *s, const struct dealbox_machine_list *list)
{
	size_t n, count = dealbox_machine_list_count(list);
	struct backoff *backoff, *next;

	for (backoff = s->stations->backoffs; backoff; backoff = next) {
		next = backoff->next;
		for (n = 0; n < count && strcmp(backoff->uri, dealbox_machine_list_uri(list, n));
		     n++)
			;
		if (n == count && !emulator_named(s, backoff->uri))
			station_answered(s, backoff->uri);
	}
}

bool emulator_missing(const struct service *s)
{
	char uri[URI_SIZE];
	size_t n;

	for (n = 0; n < s->config.emulator_count; n++) {
		emulator_uri(s, n, uri);
		if (!stations_find_open(s, uri, "") && !backoff_find(s, uri))
			return true;
	}
	return false;
}

bool machines_look(struct service *s, uint64_t end)
{
	struct dealbox_machine_list *list;
	struct dealbox_error reason;
	bool all = true;
	size_t n;

	/* The list includes open machines, which station_open() skips. */
	if (!dealbox_machine_list_new(NULL, &list, &reason)) {
		backoffs_forget(s, list);
		for (n = 0; n < dealbox_machine_list_count(list) && monotonic_us() < end; n++)
			station_open(s, dealbox_machine_list_uri(list, n),
				     dealbox_machine_list_port(list, n));
		all = n == dealbox_machine_list_count(list);
		dealbox_machine_list_free(list);
	} else {
		log_message(MESSAGE_REFUSED, NULL, NULL, "%s; %s", reason.what, reason.next);
	}
	return emulators_look(s, end) && all;
}

void machines_retry(struct service *s, uint64_t now, uint64_t end)
{
	struct backoff *backoff, *next;
	char uri[sizeof(backoff->uri)], port[sizeof(backoff->port)];

	/* A retry may remove its own entry, but no other. */
	for (backoff = s->stations->backoffs; backoff && monotonic_us() < end; backoff = next) {
		next = backoff->next;
		if (backoff->until > now)
			continue;
		snprintf(uri, sizeof(uri), "%s", backoff->uri);
		snprintf(port, sizeof(port), "%s", backoff->port);
		station_open(s, uri, port);
	}
}

uint64_t machines_next_retry(const struct service *s)
{
	const struct backoff *backoff;
	uint64_t next = UINT64_MAX;

	for (backoff = s->stations->backoffs; backoff; backoff = backoff->next)
		if (backoff->until < next && !stations_find_open(s, backoff->uri, backoff->port))
			next = backoff->until;
	return next;
}

void machines_retry_port(struct service *s, const char *port)
{
	struct backoff *backoff;

	for (backoff = s->stations->backoffs; backoff; backoff = backoff->next)
		if (!strcmp(backoff->port, port))
			backoff->until = 0;
}

void station_give_up(struct station *st)
{
	backoff_add(st->service, st->uri, st->port, "", -EIO);
	station_close(st, "the machine is out of order");
	st->dealing.suspect = false;
}

void machines_forget(struct service *s)
{
	while (s->stations->backoffs)
		station_answered(s, s->stations->backoffs->uri);
}
