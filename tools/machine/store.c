// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Slots are so far apart that no disk writes both at once. */
#define APART	4096
#define SIZE	(APART * RECORD_SLOTS)

/* A file without a name after a power cut would be a new machine, whose numbers begin again. */
static bool keep_name(const char *path)
{
	char copy[4096];
	bool done;
	int fd;

	if (strlen(path) >= sizeof(copy)) {
		errno = ENAMETOOLONG;
		return false;
	}
	strcpy(copy, path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = !fsync(fd);
	close(fd);
	return done;
}

static bool read_slots(int fd, const char *path, uint8_t slots[RECORD_SLOTS][RECORD_BYTES])
{
	struct stat is;

	if (flock(fd, LOCK_EX | LOCK_NB) || fstat(fd, &is))
		return false;
	if (!is.st_size) {
		errno = posix_fallocate(fd, 0, SIZE);
		if (errno || fsync(fd) || !keep_name(path))
			return false;
	} else if (is.st_size != SIZE || !S_ISREG(is.st_mode)) {
		errno = EUCLEAN;
		return false;
	}
	for (int i = 0; i < RECORD_SLOTS; i++) {
		const ssize_t got = pread(fd, slots[i], RECORD_BYTES, i * APART);

		if (got != RECORD_BYTES) {
			errno = got < 0 ? errno : EUCLEAN;
			return false;
		}
	}
	return true;
}

int store_open(const char *path, uint8_t slots[RECORD_SLOTS][RECORD_BYTES])
{
	const int fd = open(path, O_RDWR | O_CREAT | O_DSYNC | O_CLOEXEC, 0600);
	int error;

	if (fd < 0 || read_slots(fd, path, slots))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

bool store_write(int fd, int slot, const uint8_t bytes[RECORD_BYTES])
{
	return pwrite(fd, bytes, RECORD_BYTES, slot * APART) == RECORD_BYTES;
}
