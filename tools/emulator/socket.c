/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "socket.h"

/* Remove a stale socket. Returns 0 if the path can be used. */
static int remove_stale(const struct sockaddr_un *address, int type)
{
	struct stat status;
	int fd, error;

	if (lstat(address->sun_path, &status))
		return 0;	/* bind() will report the error */
	if (!S_ISSOCK(status.st_mode)) {
		fprintf(stderr,
			"dealbox-emulator: %s: is there and is not a socket; name another path\n",
			address->sun_path);
		return -1;
	}
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	error = connect(fd, (const struct sockaddr *)address, sizeof(*address)) ? errno : 0;
	close(fd);
	if (error == ECONNREFUSED)
		return unlink(address->sun_path);
	fprintf(stderr, "dealbox-emulator: %s: another process listens there; name another path\n",
		address->sun_path);
	return -1;
}

int socket_listen(const char *path, int type)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		fprintf(stderr, "dealbox-emulator: %s: a socket's path has at most %zu bytes\n",
			path, sizeof(address.sun_path) - 1);
		return -1;
	}
	strcpy(address.sun_path, path);
	if (remove_stale(&address, type))
		return -1;
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 8)) {
		fprintf(stderr, "dealbox-emulator: %s: %s\n", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}
