/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dealbox deal --certify with the service. The service keeps the traces and gives the verdicts. The
 * key, the opening and the deals stay in this process.
 */
#ifndef DEAL_CERTIFY_H
#define DEAL_CERTIFY_H

#include <dealbox/set.h>
#include <dealbox/square.h>

#include "service-objects.h"
#include "ui/certifier.h"

struct job_certifier {
	struct certifier certifier;
	struct dealbox_square_session session;
	const struct dealbox_set *set;		/* owned by the caller */
	unsigned int added, had;		/* insertions certified in this run, and before */
};

/*
 * Open the folder of certificates. files must name the only file that is dealt, with the deals of
 * set. Returns false after reporting an error. Call job_certifier_close() in any case.
 */
bool job_certifier_open(struct job_certifier *c, const char *folder, char *const *files, int count,
			const struct dealbox_set *set);
void job_certifier_close(struct job_certifier *c);

/*
 * Certify all finished insertions of the job that have no certificate yet, oldest first. Returns
 * false after reporting an error.
 */
bool job_certify(struct job_certifier *c, sd_bus *bus, const char *job);

#endif
