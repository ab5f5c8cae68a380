// SPDX-License-Identifier: LGPL-2.1-or-later
/* local: the backend for machines that the kernel module drives. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend.h"

static int local_call(void *self, unsigned long request, void *arg)
{
	int ret;

	/* A signal interrupts the wait for the verdict. Sending the same plan again is harmless. */
	do {
		ret = ioctl((int)(intptr_t)self, request, arg);
	} while (ret && errno == EINTR && request == DEALBOX_IOC_SET_PLAN);
	return ret ? -errno : 0;
}

/* The node is not O_NONBLOCK, since calls must block. So poll before reading. */
static ssize_t local_read(void *self, struct dealbox_event *events, size_t max)
{
	struct pollfd pollfd = { .fd = (int)(intptr_t)self, .events = POLLIN };
	ssize_t bytes;

	if (poll(&pollfd, 1, 0) == 0)
		return -EAGAIN;
	bytes = read((int)(intptr_t)self, events, max * sizeof(*events));

	return bytes < 0 ? -errno : bytes / (ssize_t)sizeof(*events);
}

static void local_close(void *self)
{
	close((int)(intptr_t)self);
}

static int local_open(struct dealbox_machine *machine, const char *place, bool observe)
{
	struct dealbox_error *reason = &machine->reason;
	struct dealbox_info info;
	int fd;

	fd = open(place, (observe ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	if (fd < 0) {
		switch (errno) {
		case EACCES:
		case EPERM:
			return reason_permission(reason, place, NO_RULE);
		case ENOENT:
		case ENODEV:
		case ENXIO:
			return reason_no_machine(reason);
		default:
			return error_set(reason, -errno, 0, NULL, "cannot open %s: %m", place);
		}
	}
	/* Make sure that this is not some other file or device. */
	if (ioctl(fd, DEALBOX_IOC_GET_INFO, &info)) {
		if (errno == ENODEV) {
			close(fd);
			return reason_no_machine(reason);
		}
		close(fd);
		return error_set(reason, -ENOTTY, 0, "`dealbox machines` lists the machines",
				 "%s is not a dealing machine", place);
	}
	machine->self = (void *)(intptr_t)fd;
	machine->fd = fd;
	snprintf(machine->uri, sizeof(machine->uri), "local:%s", place);
	return 0;
}

const struct backend backend_local = {
	.scheme = "local",
	.open = local_open,
	.call = local_call,
	.read = local_read,
	.close = local_close,
};
