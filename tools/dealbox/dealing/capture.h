/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dealbox capture: its options, and reading with and without the service */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <dealbox/set.h>

#include "service/service-objects.h"

struct capture_options {
	struct wanted wanted;
	const char *file;		/* deal file to write */
	const char *board_text;
	unsigned long board;
	bool resume;			/* by the service only */
	const char *ledger;		/* without the service; NULL: the user's own */
	const char *language; /* of the operator's sentences; NULL: English, or the service's */
};

/* Write the captured set to a file. Reports success or failure. */
enum status capture_write(const struct dealbox_set *set, const char *file);

/* Capture with a machine and a ledger of our own. */
enum status capture_alone(const struct capture_options *options);

/* Capture by the service on that bus, as a job that is followed to its end. */
enum status capture_by_service(sd_bus *bus, const struct capture_options *options);

#endif
