/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The folder of a PC that takes part in an event: who it is, which `dealbox event join` writes, and
 * its lease, and which jobs of the ledger are of the event. Only the PC's user may read them.
 */
#ifndef POOL_FOLDER_H
#define POOL_FOLDER_H

#include <dealbox/error.h>

#include "pool/deals.h"
#include "pool/lease.h"

#define POOL_FOLDER	"/var/lib/dealbox/event"
#define POOL_PC		64	/* size of the name of a PC */

struct pool_identity {
	char name[POOL_PC], token[LEASE_ID];
	char print[POOL_PRINT];		/* of the event that it has joined */
	uint8_t secret_key[POOL_KEY], public_key[POOL_KEY];
};

/*
 * Reads who the PC is. Wipe it in any case. -ENOENT: it has joined no event; -EACCES: others may
 * read the file; -EBADMSG: it is no identity; other errors of reading.
 */
int pool_read_identity(const char *folder, struct pool_identity *identity,
		       struct dealbox_error *error);

/*
 * Reads the lease; lease_clear() it. Without a file, it is one of a PC that has just joined. Errors
 * as above.
 */
int pool_read_lease(const char *folder, struct lease *lease, struct dealbox_error *error);

/* Writes the lease to disk, so that whatever happens the old one or this is there. */
int pool_write_lease(const char *folder, const struct lease *lease, struct dealbox_error *error);

/* A job of the ledger that is of an event. */
struct pool_local {
	char print[POOL_PRINT];		/* of the event */
	uint32_t job;			/* its number there */
	uint64_t local;			/* and in the ledger */
};

/*
 * Reads which jobs of the ledger are of events; free(*list). Without a file, none is. Errors as
 * above.
 */
int pool_read_jobs(const char *folder, struct pool_local **list, size_t *count,
		   struct dealbox_error *error);

/* Writes them to disk, as pool_write_lease() does. */
int pool_write_jobs(const char *folder, const struct pool_local *list, size_t count,
		    struct dealbox_error *error);

#endif
