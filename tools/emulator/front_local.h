/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the fronts on a Unix socket: one host at a time, and a transfer of events that is
 * always pending in the device, as with a host controller.
 */
#ifndef EMULATOR_FRONT_LOCAL_H
#define EMULATOR_FRONT_LOCAL_H

#include <sys/un.h>

#include "front_common.h"

#define INT_IN_TAG	UINT64_MAX	/* tag of transfers of events */

/* First member of such a front */
struct local_front {
	struct front front;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int listener, host;	/* host -1 = no host */
	bool int_in;		/* a transfer of events is pending in the device */
	uint64_t int_in_at;	/* earliest time of the next one */
};

/*
 * Allocate a front of size bytes, zeroed after this member, and listen at path with a socket of
 * this type. Returns NULL after printing an error to stderr.
 */
struct local_front *local_front_open(size_t size, const struct front_ops *ops, const char *path,
				     int type, struct device *device, struct machine *machine,
				     FILE *trace);
/* Close and free the front. The caller has closed the connection to the host. */
void local_front_close(struct local_front *f);
/* Submit a transfer of events if none is pending and it is time. */
void local_front_give(struct local_front *f, uint64_t now);
/* Note the result of that transfer. */
void local_front_took(struct local_front *f, uint64_t now, const struct completion *done);
/* Return when to check the device, or to submit that transfer. */
uint64_t local_front_next(const struct local_front *f);

#endif
