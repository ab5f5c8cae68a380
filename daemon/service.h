/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State shared by the files of dealboxd, which runs in a single thread. */
#ifndef DAEMON_SERVICE_H
#define DAEMON_SERVICE_H

#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include <dealbox/ledger.h>

#include "config.h"
#include "dealing/job.h"
#include "notice.h"

struct member;
struct panel;
struct stations;

struct service {
	struct config config;
	const char *config_path;
	sd_event *event;
	sd_bus *bus;
	struct dealbox_ledger *ledger;
	struct jobs jobs;
	struct stations *stations;
	struct panel *panel;
	struct member *member;		/* of an event; NULL = no event is configured */
	const notice_fn *subscribers;	/* of notices; terminated by NULL */
};

static inline void service_notify(struct service *service, const struct notice *notice)
{
	const notice_fn *subscriber;

	for (subscriber = service->subscribers; *subscriber; subscriber++)
		(*subscriber)(service, notice);
}

#endif
