// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "usbmon.h"

int usbmon_open(void)
{
	int error, fd = open("/dev/usbmon0", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && ioctl(fd, MON_RING_SIZE, MON_RING)) {
		error = errno;
		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

int usbmon_next(int fd, struct mon_packet *packet)
{
	struct mon_get get = { .packet = packet };
	struct mon_stats stats;

	if (!ioctl(fd, MON_GET, &get))
		return 1;
	if (errno != EAGAIN || ioctl(fd, MON_STATS, &stats))
		return -1;
	errno = ENOBUFS;
	return stats.dropped ? -1 : 0;
}
