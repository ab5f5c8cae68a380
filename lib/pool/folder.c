// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error-internal.h"
#include "pool/folder.h"

#define HEAD		"dealbox event 1"
#define FILE_MAX	(4 << 20)	/* bytes; a lease of 1,000 copies has 30,000 */

static int failed(const char *folder, const char *name, int err, struct dealbox_error *error)
{
	error_set(error, err, 0, NULL, "%s/%s: %s", folder, name, strerror(-err));
	return err;
}

static int path_of(const char *folder, const char *name, char path[4096])
{
	return snprintf(path, 4096, "%s/%s", folder, name) < 4096 ? 0 : -ENAMETOOLONG;
}

/* Reads all of an open file, with a zero behind it. */
static int text_read(int fd, char **text, size_t *size)
{
	struct stat st;
	ssize_t got;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
		return -EBADMSG;
	if (st.st_mode & 077)
		return -EACCES;
	*text = malloc((size_t)st.st_size + 1);
	if (!*text)
		return -ENOMEM;
	got = pread(fd, *text, (size_t)st.st_size, 0);
	*size = got < 0 ? 0 : (size_t)got;
	(*text)[*size] = '\0';
	return got < 0 ? -errno : got == st.st_size ? 0 : -EBADMSG;
}

/* Free the text, and wipe it if it is a secret. */
static int secret_read(const char *folder, const char *name, char **text, size_t *size,
		       struct dealbox_error *error)
{
	char path[4096];
	int fd, err = path_of(folder, name, path);

	*text = NULL;
	*size = 0;
	if (!err) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		err = fd < 0 ? -errno : text_read(fd, text, size);
		if (fd >= 0)
			close(fd);
	}
	if (err == -EACCES)
		error_set(error, err, 0, "only the service's user may read it: chmod 600",
			  "%s/%s: others may read it, or this user may not", folder, name);
	else if (err)
		failed(folder, name, err, error);
	return err;
}

static bool identity_parse(const char *text, struct pool_identity *identity)
{
	char hex[2 * POOL_KEY + 1] = "";
	size_t length = 0;
	bool good;

	good = sscanf(text, HEAD " %36s %24s %64s %63[^\n]", identity->token, identity->print, hex,
		      identity->name) == 4 &&
	       !sodium_hex2bin(identity->secret_key, POOL_KEY, hex, strlen(hex), NULL, &length,
			       NULL) && length == POOL_KEY;
	if (good)
		crypto_scalarmult_base(identity->public_key, identity->secret_key);
	sodium_memzero(hex, sizeof(hex));
	return good;
}

int pool_read_identity(const char *folder, struct pool_identity *identity,
		       struct dealbox_error *error)
{
	char *text;
	size_t size;
	int err = secret_read(folder, "identity", &text, &size, error);

	memset(identity, 0, sizeof(*identity));
	if (err == -ENOENT)
		err = error_set(error, err, 0, "`dealbox event join` makes it",
				"%s: this PC has not joined an event", folder);
	if (!err && !identity_parse(text, identity))
		err = error_set(error, -EBADMSG, 0, NULL,
				"%s/identity: this is no identity of a PC", folder);
	if (text)
		sodium_memzero(text, size);
	free(text);
	return err;
}

int pool_read_lease(const char *folder, struct lease *lease, struct dealbox_error *error)
{
	char *text;
	size_t size;
	int err = secret_read(folder, "lease", &text, &size, error);

	memset(lease, 0, sizeof(*lease));
	if (!err && lease_parse(text, lease))
		err = error_set(error, -EBADMSG, 0, "ask the director to declare this PC lost",
				"%s/lease: this is no lease", folder);
	free(text);
	return err == -ENOENT ? 0 : err;
}

/* Writes a new file, and gives it the name. */
static int replace(const char *folder, const char *name, const char *text, size_t size)
{
	char path[4096], other[4096];
	int fd, dir, err = path_of(folder, name, path);

	if (!err && snprintf(other, sizeof(other), "%s.new", path) >= (int)sizeof(other))
		err = -ENAMETOOLONG;

	if (err)
		return err;
	fd = open(other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	errno = EIO;
	if (write(fd, text, size) != (ssize_t)size || fsync(fd))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(other, path))
		err = -errno;
	if (err)
		return err;
	/* the name, too, must outlast a power cut */
	dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	if (fsync(dir))
		err = -errno;
	close(dir);
	return err;
}

int pool_write_lease(const char *folder, const struct lease *lease, struct dealbox_error *error)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int err;

	if (!out)
		return failed(folder, "lease", -ENOMEM, error);
	lease_print(lease, out);
	err = fclose(out) ? -ENOMEM : replace(folder, "lease", text, size);
	free(text);
	return err ? failed(folder, "lease", err, error) : 0;
}

/* ---- jobs --------------------------------------------------------------- */

#define JOBS_HEAD	"dealbox jobs 1\n"
#define JOBS_END	"end\n"

static int jobs_parse(const char *text, struct pool_local **list, size_t *count)
{
	struct pool_local one, *grown;

	if (strncmp(text, JOBS_HEAD, strlen(JOBS_HEAD)))
		return -EBADMSG;
	/* a line without an end, as of a file that was cut off, is no line */
	for (text = strchr(text, '\n'); text; text = strchr(text, '\n')) {
		text++;
		if (!strcmp(text, JOBS_END))
			return 0;
		if (sscanf(text, "%24s %" SCNu32 " %" SCNu64, one.print, &one.job, &one.local) != 3)
			return -EBADMSG;
		grown = realloc(*list, (*count + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		*list = grown;
		grown[(*count)++] = one;
	}
	return -EBADMSG;
}

int pool_read_jobs(const char *folder, struct pool_local **list, size_t *count,
		   struct dealbox_error *error)
{
	char *text;
	size_t size;
	int err = secret_read(folder, "jobs", &text, &size, error);

	*list = NULL;
	*count = 0;
	if (!err && text) {
		err = jobs_parse(text, list, count);
		if (err)
			failed(folder, "jobs", err, error);
	}
	free(text);
	return err == -ENOENT ? 0 : err;
}

int pool_write_jobs(const char *folder, const struct pool_local *list, size_t count,
		    struct dealbox_error *error)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int err;

	if (!out)
		return failed(folder, "jobs", -ENOMEM, error);
	fputs(JOBS_HEAD, out);
	for (size_t n = 0; n < count; n++)
		fprintf(out, "%s %" PRIu32 " %" PRIu64 "\n", list[n].print, list[n].job,
			list[n].local);
	fputs(JOBS_END, out);
	err = fclose(out) ? -ENOMEM : replace(folder, "jobs", text, size);
	free(text);
	return err ? failed(folder, "jobs", err, error) : 0;
}
