/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dealbox capture: what was asked for, and what both ways share.
 */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <dealbox/set.h>

#include "service/service-objects.h"

struct capture_options {
	struct wanted wanted;
	const char *file;		/* to be written */
	const char *board_text;
	unsigned long board;
	bool resume;			/* only by the service */
	const char *ledger;		/* without the service; NULL: the user's own */
};

/* Writes what was captured, and says so; or says why not. */
enum status capture_write(const struct dealbox_set *set, const char *file);

/* With a machine of its own, and the user's own ledger. */
enum status capture_alone(const struct capture_options *options);

/* With the service, on that bus: makes a job of it, follows it to its end, and gets what was read. */
enum status capture_by_service(sd_bus *bus, const struct capture_options *options);

#endif
