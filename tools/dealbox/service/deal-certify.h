/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dealbox deal --certify with the service. The service keeps what the machine reported and
 * gives the verdict; the key, the opening and the deals stay here.
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
	const struct dealbox_set *set;		/* the caller's */
	unsigned int added, had;		/* insertions: certified now, and before */
};

/*
 * Opens the folder for the only file that is dealt, which has the deals in set.
 * job_certifier_close() in any case. False: it has been said why.
 */
bool job_certifier_open(struct job_certifier *c, const char *folder, char *const *files, int count,
			const struct dealbox_set *set);
void job_certifier_close(struct job_certifier *c);

/*
 * Certifies each insertion of that job that was dealt to its end and has no certificate yet,
 * oldest first. False: it has been said why.
 */
bool job_certify(struct job_certifier *c, sd_bus *bus, const char *job);

#endif
