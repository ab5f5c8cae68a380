/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the fronts on a unix socket: one host at a time, and events, for which a transfer is
 * always pending in the device, as with a host controller.
 */
#ifndef EMULATOR_FRONT_LOCAL_H
#define EMULATOR_FRONT_LOCAL_H

#include <sys/un.h>

#include "front.h"

#define INT_IN_TAG	UINT64_MAX	/* of the transfers for events */

/* The first member of such a front. */
struct local_front {
	struct front front;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int listener, host;	/* host -1 = no host */
	bool int_in;		/* a transfer for events is with the device */
	uint64_t int_in_at;	/* when the next one may be given */
};

/*
 * Listens at path, with a socket of this type; the front is size bytes long, zeroed after this
 * part. NULL: the reason is on stderr.
 */
struct local_front *local_front_open(size_t size, const struct front_ops *ops, const char *path,
				     int type, struct device *device, struct machine *machine,
				     FILE *trace);
/* Frees it too. The host has been hung up. */
void local_front_close(struct local_front *f);
/* Gives the device a transfer for events, if it has none and it is time. */
void local_front_give(struct local_front *f, uint64_t now);
/* That transfer has ended so. */
void local_front_took(struct local_front *f, uint64_t now, const struct completion *done);
/* When the device may have something, or is to be given that transfer. */
uint64_t local_front_next(const struct local_front *f);

#endif
