// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reading and replacing small files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"

static bool blob_fill(const char *path, int fd, size_t room, struct blob *out)
{
	ssize_t n;

	out->data = malloc(room + 1);
	if (!out->data) {
		complain(NULL, "%s: out of memory", path);
		return false;
	}
	while (out->size < room) {
		n = read(fd, out->data + out->size, room - out->size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			complain(NULL, "%s: %s", path, strerror(errno));
			return false;
		}
		if (!n)
			break;
		out->size += (size_t)n;
	}
	out->data[out->size] = 0;
	return true;
}

bool file_read_piped(size_t room, struct blob *out)
{
	static const char name[] = "standard input";

	memset(out, 0, sizeof(*out));
	if (!blob_fill(name, STDIN_FILENO, room, out))
		return false;
	if (out->size < room)
		return true;
	complain("check that this is the right file", "%s: it is too large", name);
	return false;
}

static bool read_checked(const char *path, bool secret, struct blob *out)
{
	struct stat stat;
	bool good = false;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	memset(out, 0, sizeof(*out));
	if (fd < 0 || fstat(fd, &stat) < 0)
		complain(NULL, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(stat.st_mode))
		complain("give the name of a file", "%s: this is not a regular file", path);
	else if (secret && stat.st_mode & 077)
		complain("run `chmod 600` on it; if somebody may have read it, what it protects is "
			 "no longer secret",
			 "%s: others than its owner may read it (mode %04o)",
			 path, stat.st_mode & 07777);
	else if ((size_t)stat.st_size > FILE_SIZE_MAX)
		complain("check that this is the right file", "%s: it is too large", path);
	else
		good = blob_fill(path, fd, (size_t)stat.st_size, out);
	if (fd >= 0)
		close(fd);
	return good;
}

bool file_read(const char *path, struct blob *out)
{
	return read_checked(path, false, out);
}

bool file_read_secret(const char *path, struct blob *out)
{
	return read_checked(path, true, out);
}

void blob_wipe(struct blob *blob)
{
	if (blob->data)
		explicit_bzero(blob->data, blob->size);
	free(blob->data);
	memset(blob, 0, sizeof(*blob));
}

static bool write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		data += n;
		size -= (size_t)n;
	}
	return !fsync(fd);
}

/* Open the folder of a path. */
static int folder_open(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	free(folder);
	return fd;
}

/*
 * Create a file in the folder of path, unnamed if possible, so that an incomplete file leaves
 * nothing behind. If the file system does not support that, *name is its temporary name.
 */
static int new_file(int folder, const char *path, mode_t mode, bool unnamed, char **name)
{
	int fd = -1;

	*name = NULL;
	if (unnamed)
		fd = openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	if (fd >= 0 || asprintf(name, "%s.%u.new", path, (unsigned int)getpid()) < 0)
		return fd;
	return open(*name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

/*
 * Rename the file, unless path exists. FAT has no hard links, and NFS does not support renameat2().
 */
static bool rename_new(const char *name, const char *path)
{
	return !renameat2(AT_FDCWD, name, AT_FDCWD, path, RENAME_NOREPLACE) ||
	       ((errno == EINVAL || errno == ENOSYS) && !link(name, path));
}

/* Give the file its final name. rename() replaces an existing file. */
static bool name_give(int fd, const char *name, const char *path, bool replace)
{
	char self[32];

	if (replace)
		return !rename(name, path);
	if (name)
		return rename_new(name, path);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return !linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

bool file_write(const char *path, const void *data, size_t size, enum file_kind kind, bool replace)
{
	const mode_t mode = kind == FILE_SECRET ? 0600 : 0666;
	const int folder = folder_open(path);
	struct stat old;
	char *name = NULL;
	bool good = false;
	int fd = -1, err;

	if (folder >= 0)
		fd = new_file(folder, path, mode, !replace, &name);
	/* Keep the mode of a replaced file. Sync the folder too, or the name may be lost. */
	if (fd >= 0)
		good = (!replace || stat(path, &old) || !fchmod(fd, old.st_mode & 0777)) &&
		       write_all(fd, data, size) && name_give(fd, name, path, replace) &&
		       !fsync(folder);
	err = errno;
	if (!good && err == EEXIST)
		complain("move it away first, or choose another name",
			 "%s: there is such a file already", path);
	else if (!good)
		complain("nothing was written", "%s: %s", path, strerror(err));
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && name)
		unlink(name);
	if (folder >= 0)
		close(folder);
	free(name);
	return good;
}

bool file_exists(const char *path)
{
	return !access(path, F_OK) || errno != ENOENT;
}

enum status fault_say(const char *path, const struct dealbox_error *error)
{
	const char *next = *error->next ? error->next : NULL;

	if (error->line)
		complain(next, "%s:%u: %s", path, error->line, error->what);
	else
		complain(next, "%s: %s", path, error->what);
	return STATUS_INPUT;
}
