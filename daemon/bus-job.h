/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Jobs on the bus: io.dealbox1.Job.
 */
#ifndef DAEMON_BUS_JOB_H
#define DAEMON_BUS_JOB_H

#include <stdint.h>

#include <systemd/sd-bus.h>

#include "service.h"

#define JOB_PATH	64	/* bytes of the path of a job's object */

extern const sd_bus_vtable job_vtable[];
/* As sd_bus_add_fallback_vtable() and sd_bus_add_node_enumerator() want them. */
int find_job(sd_bus *bus, const char *path, const char *interface, void *context, void **found,
	     sd_bus_error *error);
int list_jobs(sd_bus *bus, const char *prefix, void *context, char ***nodes, sd_bus_error *error);
/* The path of the object of a job. */
void job_path(uint64_t id, char path[JOB_PATH]);
/* Signals: its properties may have changed; an insertion of it was judged (NOTICE_JUDGED). */
void job_changed(struct service *s, uint64_t id);
void job_judged(struct service *s, const struct notice *notice);

#endif
