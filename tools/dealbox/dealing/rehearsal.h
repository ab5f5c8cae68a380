/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A rehearsal: an emulated machine, and a ledger, that are there for one run of dealbox deal. */
#ifndef REHEARSAL_H
#define REHEARSAL_H

#include <stdbool.h>
#include <sys/types.h>

struct rehearsal {
	char folder[64];	/* nobody else's */
	char uri[80];		/* of the machine */
	char ledger[80];
	pid_t emulator;
	int output;		/* of the emulator */
};

/*
 * Start dealbox-emulator, which PATH finds. Returns false after reporting an error. Call
 * rehearsal_end() in any case.
 */
bool rehearsal_begin(struct rehearsal *r);
/* End the emulator, and remove what the run has written. */
void rehearsal_end(struct rehearsal *r);

#endif
