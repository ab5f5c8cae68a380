/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A front of the emulator, and a host on its unix socket that sends arbitrary bytes: the front
 * answers or hangs up, and serves the next host.
 */
#ifndef DEALBOX_FUZZ_FRONT_H
#define DEALBOX_FUZZ_FRONT_H

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "front_common.h"
#include "fuzz_machine.h"

#define ROUNDS	20	/* of the emulator's loop, after which a machine has nothing more to send */
#define PIECES	64	/* the most that a host sends */

static inline int connect_to(const char *path, int type)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	strcpy(address.sun_path, path);
	CHECK(fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)));
	return fd;
}

/* Runs the emulator's loop once. Returns true if something was sent or received. */
static inline bool serve(struct fuzz_machine *f, struct front *front, int host, uint64_t *now)
{
	struct pollfd fds[FRONT_POLL_MAX];
	uint8_t reply[8192];
	bool busy = false;

	*now += 500;
	machine_run(f->m, *now);
	memset(fds, 0xff, sizeof(fds));
	front->ops->poll(front, fds);
	if (poll(fds, FRONT_POLL_MAX, 0) > 0) {
		front->ops->serve(front, fds, *now);
		busy = true;
	}
	machine_run(f->m, *now);
	front->ops->flush(front, *now);
	front->ops->next(front);
	while (recv(host, reply, sizeof(reply), MSG_DONTWAIT) > 0)
		busy = true;
	return busy;
}

static inline void serve_on(struct fuzz_machine *f, struct front *front, int host, uint64_t *now)
{
	int i;

	for (i = 0; i < ROUNDS && serve(f, front, host, now); i++)
		;
}

/* Creates everything anew for each input. say: sends the host's part, piece by piece. */
static inline void fuzz_front(uint8_t choice, int type,
			      struct front *(*open_front)(const char *path, struct device *device,
							  struct machine *machine, FILE *trace),
			      void (*say)(struct fuzz_machine *f, struct front *front, int host,
					  uint64_t *now, const uint8_t *data, size_t size),
			      const uint8_t *data, size_t size)
{
	static char path[64];
	struct fuzz_machine f = fuzz_machine_new(choice);
	struct front *front;
	uint64_t now = NOW;
	int host, i;

	if (!*path)
		snprintf(path, sizeof(path), "/tmp/fuzz-front-%d", getpid());
	front = open_front(path, f.device, f.m, NULL);
	CHECK(front);
	for (i = 0; i < 2; i++) {
		host = connect_to(path, type);
		serve_on(&f, front, host, &now);
		say(&f, front, host, &now, data, i ? 0 : size);
		close(host);
		for (int n = 0; n < 3; n++)
			serve(&f, front, -1, &now);
	}
	front->ops->close(front);
	fuzz_machine_free(&f);
}

#endif
