/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "memory.h"

#define FIELD(name)	{ #name, offsetof(struct machine_memory, counters.name) }
static const struct { const char *name; size_t offset; } fields[] = {
	{ "insertion", offsetof(struct machine_memory, insertion) },
	{ "attestations", offsetof(struct machine_memory, attestations) },
	FIELD(boards_dealt), FIELD(boards_voided), FIELD(cards_fed), FIELD(cards_read),
	FIELD(unreadable), FIELD(repeated), FIELD(not_in_plan), FIELD(double_feeds),
	FIELD(feed_timeouts), FIELD(jams), FIELD(wrong_pockets), FIELD(gates_late),
	FIELD(gates_ignored), FIELD(power_ons), FIELD(seconds),
};

#define FIELDS	(sizeof(fields) / sizeof(*fields))

static const uint32_t *get(const struct machine_memory *memory, size_t field)
{
	return (const uint32_t *)((const char *)memory + fields[field].offset);
}

int memory_save(const char *path, const struct machine_memory *memory)
{
	char *fresh = NULL;
	FILE *file;
	size_t i;
	int error = 0;

	if (asprintf(&fresh, "%s.new", path) < 0)
		return -1;
	file = fopen(fresh, "we");
	if (!file) {
		free(fresh);
		return -1;
	}
	for (i = 0; i < FIELDS; i++)
		fprintf(file, "%s %" PRIu32 "\n", fields[i].name, *get(memory, i));
	if (fflush(file) || fsync(fileno(file)) || ferror(file))
		error = errno;
	if (fclose(file) && !error)
		error = errno;
	if (!error && rename(fresh, path))
		error = errno;
	if (error)
		unlink(fresh);
	free(fresh);
	errno = error;
	return error ? -1 : 0;
}

int memory_load(const char *path, struct machine_memory *memory, char *error, size_t size)
{
	FILE *file = fopen(path, "re");
	unsigned int line = 0;
	char text[100];

	memset(memory, 0, sizeof(*memory));
	if (!file && errno == ENOENT)
		return 0;
	if (!file) {
		snprintf(error, size, "%s: %s", path, strerror(errno));
		return -1;
	}
	while (fgets(text, sizeof(text), file)) {
		char name[40], end;
		uint32_t value;
		size_t i;

		line++;
		if (sscanf(text, "%39s %" SCNu32 "%c", name, &value, &end) != 3 || end != '\n')
			goto bad;
		for (i = 0; i < FIELDS; i++)
			if (!strcmp(name, fields[i].name))
				break;
		if (i == FIELDS)
			goto bad;
		memcpy((char *)memory + fields[i].offset, &value, sizeof(value));
	}
	fclose(file);
	return 0;
bad:
	snprintf(error, size, "%s:%u: this is not the state of a machine", path, line);
	fclose(file);
	return -1;
}

static int key_load(const char *path, uint8_t key[MACHINE_KEY_SIZE])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t more;
	bool good;

	if (fd < 0)
		return -1;
	good = read(fd, key, MACHINE_KEY_SIZE) == MACHINE_KEY_SIZE && !read(fd, &more, 1);
	close(fd);
	errno = EINVAL;
	return good ? 0 : -1;
}

/* Replace the file atomically. Only its owner may read it. */
static int key_save(const char *path, const uint8_t key[MACHINE_KEY_SIZE])
{
	char *fresh = NULL;
	int fd, error = 0;

	if (asprintf(&fresh, "%s.new", path) < 0)
		return -1;
	unlink(fresh);
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, key, MACHINE_KEY_SIZE) != MACHINE_KEY_SIZE || fsync(fd))
		error = errno ? errno : EIO;
	if (fd >= 0)
		close(fd);
	if (!error && rename(fresh, path))
		error = errno;
	if (error)
		unlink(fresh);
	free(fresh);
	errno = error;
	return error ? -1 : 0;
}

int memory_key(const char *path, struct machine_memory *memory, uint8_t key[MACHINE_KEY_SIZE])
{
	char *file = NULL;
	int ret = -1;

	errno = EIO;
	if (sodium_init() < 0 || (path && asprintf(&file, "%s.key", path) < 0))
		return -1;
	if (file && !access(path, F_OK)) {
		ret = key_load(file, key);
		if (!ret || errno != ENOENT)
			goto out;
	}
	randombytes_buf(key, MACHINE_KEY_SIZE);
	memory->attestations = 0;
	ret = file ? key_save(file, key) : 0;
	if (file && !ret)
		ret = memory_save(path, memory);
out:
	free(file);
	return ret;
}
