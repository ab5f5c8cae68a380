/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reporting what is in the ledger of a PC. */
#ifndef POOL_SEND_H
#define POOL_SEND_H

#include <dealbox/ledger.h>

#include "pool/pool.h"

struct pool_sending {
	const char *token;
	const uint8_t *key;		/* of the event */
	struct dealbox_ledger *ledger;	/* open */
	uint64_t job;			/* of the ledger */
	uint32_t event_job;		/* that it deals */
	bool rehearsal;			/* of the event: boards of emulated machines count */
	/* Called for each surplus board, which has to be taken out of play. */
	void (*surplus)(const struct pool_report *report, void *context);
	/* Called for each insertion that the server refuses: somebody has to find out why. */
	void (*refused)(const struct pool_report *report, const struct dealbox_error *error,
			void *context);
	void *context;
};

/* Numbers of insertions */
struct pool_sent {
	uint32_t counts, surplus, withdrawn, no_board;
	uint32_t refused;
	uint32_t emulated;		/* exact ones of emulated machines, which were not sent */
};

/*
 * Reports every insertion of a job that has ended, in their order, and withdraws the exact ones
 * that count no longer. All of it may be repeated. An insertion that the server refuses does not
 * keep the others from being sent; other errors end it, and what was sent until then is in *sent.
 * -EINVAL: the job is of another session, or has no set; -ENOENT: there is no such job; errors of
 * the ledger, whose text is then that of *error; -EPERM and -ETIMEDOUT as of pool_request().
 */
int pool_send(struct pool *pool, const struct pool_sending *sending, struct pool_sent *sent,
	      struct dealbox_error *error);

#endif
