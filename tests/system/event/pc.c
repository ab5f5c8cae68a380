// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A PC of an event whose machine deals every board at once and exactly. It may be killed at any
 * time, and goes on from what is in its folder: token, lease, and the journal, which stands for the
 * ledger. It ends when there is nothing more to take, or, with "report", when it has reported.
 *
 * usage: event-pc ADDRESS NAME FOLDER [report]
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pool/pool.h"

#define HASH	"00000000-0000-0000-0000-000000000001"
#define BLOCK	3
#define TRIES	9000	/* of 20 ms: a server that was killed comes back */

struct entry {
	struct lease_copy copy;
	bool reported;
};

static const char *address, *name, *machine;
static bool late;	/* it only reports: others may have dealt its copies */
static struct pool *pool;
static char token[LEASE_ID];
static struct lease lease;
static struct entry journal[1000];
static uint32_t count;

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", name, what, why);
	exit(1);
}

/* Writes a file so that a kill leaves the old or the new one. */
static void save(const char *path, const char *text)
{
	int fd = open("new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fsync(fd) ||
	    close(fd) || rename("new", path))
		fail(path, strerror(errno));
}

static void lease_save(void)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		fail("lease", "out of memory");
	lease_print(&lease, file);
	fclose(file);
	save("lease", text);
	free(text);
}

static bool load(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t length;

	if (!file)
		return false;
	length = fread(text, 1, size - 1, file);
	text[length] = '\0';
	fclose(file);
	return true;
}

/* Returns true if it must be tried again, after a moment. */
static bool again(int err, const char *what, const struct dealbox_error *error)
{
	static unsigned int tries;

	if (!err) {
		tries = 0;
		return false;
	}
	/* a server that is in trouble: no connection, a disk that is full */
	if ((err != -ETIMEDOUT && err != -EIO && err != -EAGAIN) || ++tries == TRIES)
		fail(what, error->what);
	usleep(20000);
	return true;
}

static void request(void)
{
	struct dealbox_error error = { 0 };
	struct lease_time sent;

	do {
		if (pool_time(&sent))
			fail("time", strerror(errno));
	} while (again(pool_request(pool, token, &lease, &sent, &error), "request", &error));
	lease_save();
}

static void take(void)
{
	char nonce[LEASE_ID];

	pool_uuid(nonce);
	if (lease_ask(&lease, LEASE_TAKE, BLOCK, NULL, 0, nonce))
		fail("take", "refused");
	lease_save();
	request();
}

static void report_all(void)
{
	struct dealbox_error error = { 0 };
	enum pool_standing standing;
	struct pool_report report;

	for (uint32_t n = 0; n < count; n++) {
		report = (struct pool_report) {
			.machine = machine, .insertion = n + 1, .copy = journal[n].copy,
			.hash = HASH,
			.outcome = "exact", .at = 1,
		};
		while (!journal[n].reported) {
			if (again(pool_report(pool, token, &report, &standing, &error), "report",
				  &error))
				continue;
			if (standing != POOL_COUNTS && !late)
				fail("report", "it does not count");
			journal[n].reported = true;
		}
	}
}

static void deal(void)
{
	const struct lease_copy copy = lease.held[0];
	char line[64];
	int fd;

	/* the record is on disk before anything else hears of it */
	snprintf(line, sizeof(line), "%" PRIu32 " %" PRIu32 " %" PRIu32 "\n", copy.job, copy.board,
		 copy.copy);
	fd = open("journal", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, line, strlen(line)) != (ssize_t)strlen(line) || fsync(fd) ||
	    close(fd))
		fail("journal", strerror(errno));
	journal[count++].copy = copy;
	lease_recorded(&lease, &copy);
	lease_save();
}

static void journal_load(void)
{
	FILE *file = fopen("journal", "re");
	struct lease_copy *copy;

	for (; file; count++) {
		copy = &journal[count].copy;
		if (fscanf(file, "%" SCNu32 " %" SCNu32 " %" SCNu32, &copy->job, &copy->board,
			   &copy->copy) != 3)
			break;
		lease_recorded(&lease, copy);
	}
	if (file)
		fclose(file);
}

static void begin(void)
{
	const uint8_t key[POOL_KEY] = { 1 };
	struct dealbox_error error = { 0 };
	static char text[65536];

	if (!load("token", token, sizeof(token))) {
		pool_uuid(token);
		save("token", token);
	}
	if (load("lease", text, sizeof(text)) && lease_parse(text, &lease))
		fail("lease", "it cannot be read");
	journal_load();
	while (!(pool = pool_open(address, &error)))
		again(-ETIMEDOUT, "connect", &error);
	/* a PC that was removed cannot join */
	while (!late && again(pool_join(pool, name, key, token, &error), "join", &error))
		;
}

int main(int argc, char **argv)
{
	struct lease_time now;

	if (argc < 4 || argc > 5 || chdir(argv[3]))
		return 2;
	address = argv[1];
	name = argv[2];
	machine = strrchr(argv[3], '/') ? strrchr(argv[3], '/') + 1 : argv[3];
	late = argc == 5;
	begin();
	if (late) {
		report_all();
		goto out;
	}
	if (lease.request)
		request();
	for (;;) {
		report_all();
		take();
		if (!lease.held_count)
			break;
		while (lease.held_count) {
			if (pool_time(&now) || !lease_may_begin(&lease, &lease.held[0], &now))
				fail("deal", "the lease has ended");
			deal();
			if (count % 2)
				report_all();
		}
	}
out:
	lease_clear(&lease);
	pool_close(pool);
	return 0;
}
