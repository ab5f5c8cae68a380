/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

#define FIELD(name)	{ #name, offsetof(struct machine_memory, counters.name) }
static const struct { const char *name; size_t offset; } fields[] = {
	{ "insertion", offsetof(struct machine_memory, insertion) },
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
