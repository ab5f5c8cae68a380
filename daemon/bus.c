// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include "bus.h"
#include "bus-event.h"
#include "bus-job.h"
#include "bus-machine.h"
#include "bus-manager.h"
#include "bus-reply.h"
#include "call-queue.h"
#include "log.h"

void bus_notice(struct service *s, const struct notice *notice)
{
	switch (notice->kind) {
	case NOTICE_MACHINE_ADDED:
		machine_added(notice->station);
		break;
	case NOTICE_MACHINE_STATE:
	case NOTICE_MACHINE_CARDS:
		machine_changed(notice->station, notice->kind == NOTICE_MACHINE_STATE);
		break;
	case NOTICE_JUDGED:
		job_judged(s, notice);
		break;
	case NOTICE_JOB_CHANGED:
		job_changed(s, notice->job);
		break;
	case NOTICE_JOB_ADDED:
		job_added(s, notice->job);
		break;
	case NOTICE_MEMBER_CHANGED:
		event_changed(s);
		break;
	case NOTICE_PANEL_CHANGED:
		manager_panel_changed(s);
		break;
	default:
		break;
	}
}

int bus_open(struct service *s)
{
	int err = sd_bus_open_system(&s->bus);

	if (err >= 0)
		err = sd_bus_add_object_manager(s->bus, NULL, ROOT);
	if (err >= 0)
		err = sd_bus_add_object_vtable(s->bus, NULL, ROOT, "io.dealbox1.Manager",
					       manager_vtable, s);
	if (err >= 0)
		err = sd_bus_add_fallback_vtable(s->bus, NULL, MACHINES, "io.dealbox1.Machine",
						 machine_vtable, find_station, s);
	if (err >= 0)
		err = sd_bus_add_node_enumerator(s->bus, NULL, MACHINES, list_stations, s);
	if (err >= 0)
		err = sd_bus_add_fallback_vtable(s->bus, NULL, JOBS, "io.dealbox1.Job", job_vtable,
						 find_job, s);
	if (err >= 0)
		err = sd_bus_add_node_enumerator(s->bus, NULL, JOBS, list_jobs, s);
	if (err >= 0 && s->member)
		err = sd_bus_add_object_vtable(s->bus, NULL, EVENT, "io.dealbox1.Event",
					       event_vtable, s);
	/*
	 * The same priority as for machines, so that the source that has waited longest is next,
	 * and a client that sends calls without end cannot starve the others.
	 */
	if (err >= 0)
		err = sd_bus_attach_event(s->bus, s->event, SD_EVENT_PRIORITY_NORMAL);
	if (err >= 0)
		err = calls_open(s);
	/* Without the bus nobody can stop a deal, so exit, which pauses the machines. */
	if (err >= 0)
		err = sd_bus_set_exit_on_disconnect(s->bus, true);
	if (err >= 0)
		err = sd_bus_request_name(s->bus, "io.dealbox1", 0);
	if (err < 0)
		log_message(MESSAGE_CONFIG, NULL, NULL, "the bus: %s", strerror(-err));
	return err < 0 ? err : 0;
}

void bus_close(struct service *s)
{
	calls_close(s);
	s->bus = sd_bus_flush_close_unref(s->bus);
}
