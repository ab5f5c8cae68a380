/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The D-Bus objects of jobs: io.dealbox1.Job. */
#ifndef DAEMON_BUS_JOB_H
#define DAEMON_BUS_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-bus.h>

#include "service.h"

#define JOB_PATH	64	/* size of an object path in bytes */

/* Options of a job, up to one without a name. */
struct job_option {
	const char *name;
	unsigned int bit;	/* DEALBOX_JOB_* */
	bool asked;		/* AddJob takes it */
};
extern const struct job_option job_options[];

extern const sd_bus_vtable job_vtable[];
/* Callbacks for sd_bus_add_fallback_vtable() and sd_bus_add_node_enumerator() */
int find_job(sd_bus *bus, const char *path, const char *interface, void *context, void **found,
	     sd_bus_error *error);
int list_jobs(sd_bus *bus, const char *prefix, void *context, char ***nodes, sd_bus_error *error);
/* Write the object path of a job. */
void job_path(uint64_t id, char path[JOB_PATH]);
/* Emit InterfacesAdded. */
void job_added(struct service *s, uint64_t id);
/* Emit PropertiesChanged for a job, and Finished if it has ended. */
void job_changed(struct service *s, uint64_t id);
/*
 * Record that a copy is to be dealt again, as the method Redeal does, and answer the call m of
 * another object. Returns a negative value with *error set.
 */
int job_redeal_copy(sd_bus_message *m, struct service *s, struct job *job, unsigned int board,
		    unsigned int copy, sd_bus_error *error);
/* Emit the signal Verdict for NOTICE_JUDGED. */
void job_judged(struct service *s, const struct notice *notice);

#endif
