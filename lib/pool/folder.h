/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The folder of a PC that takes part in an event: who it is, which `dealbox event join` writes, and
 * its lease. Only the PC's user may read them.
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

#endif
