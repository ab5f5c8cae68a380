/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the parts of dealboxd share. One thread; everything hangs on struct service.
 */
#ifndef DAEMON_SERVICE_H
#define DAEMON_SERVICE_H

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include <dealbox/ledger.h>

#include "budget.h"
#include "config.h"
#include "job.h"
#include "panel.h"

struct service {
	struct config config;
	const char *config_path;
	sd_event *event;
	sd_bus *bus;
	struct dealbox_ledger *ledger;
	struct jobs jobs;
	struct station *stations;
	struct station *turn;		/* whose turn it is in stations_run(), NULL = the first */
	struct aside *asides;
	uint64_t quiet;			/* us: until then no machine is asked that is suspect */
	bool stopped;			/* stations_run() has yet to follow a stop */
	uint64_t look;			/* us: when machines that work are looked at next */
	sd_event_source *ready;		/* an epoll of the machines that are read together */
	sd_event_source *tick;		/* reads them, while they have events */
	sd_event_source *alarm;		/* for what no event tells */
	sd_event_source *seek;		/* looks what there is */
	sd_event_source *more;		/* goes on with stations_run() */
	struct dealbox_monitor *monitor;	/* machines that come and go */
	struct udev_monitor *chips;	/* GPIO chips that do, for the panel */
	struct panel panel;
	struct budgets budgets;		/* of deals that users give us */
};

#endif
