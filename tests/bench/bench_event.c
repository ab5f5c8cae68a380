// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How fast many PCs take and report the copies of one event, and how fast a deal is looked up.
 *
 *	bench_event ADDRESS PCS ROUNDS
 *
 * ADDRESS is without a user; the event is new. Each PC has a connection of its own, which lasts.
 * WORKERS processes go round their PCs: take two copies, report both. At the end every copy must be
 * recorded once.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../system/event/connect.h"

#define WORKERS	4U
#define BLOCK	2U
#define HASH	"00000000-0000-0000-0000-000000000001"

struct member {
	struct pool *pool;
	char token[LEASE_ID];
	struct lease lease;
	uint32_t insertion;
};

/* Shared by the processes: the time of each request and report, in µs. */
static uint32_t *takes, *reports;

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void must(int err, const char *what, const struct dealbox_error *error)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %s\n", what, error->what);
	exit(1);
}

static void take_and_report(struct member *member, unsigned int pc, uint32_t *took,
			    uint32_t *reported)
{
	struct pool_report report = { .insertion = 0, .hash = HASH, .outcome = "exact", .at = 1 };
	enum pool_standing standing;
	struct dealbox_error error;
	char nonce[LEASE_ID], machine[16];
	struct lease_time sent;
	struct lease_copy copy;
	uint64_t begin;

	pool_uuid(nonce);
	must(lease_ask(&member->lease, LEASE_TAKE, BLOCK, NULL, 0, nonce), "asking", &error);
	must(pool_time(&sent), "the time", &error);
	begin = now_us();
	must(pool_request(member->pool, member->token, &member->lease, &sent, &error), "take",
	     &error);
	*took = (uint32_t)(now_us() - begin);
	for (unsigned int n = 0; n < BLOCK && member->lease.held_count; n++) {
		copy = member->lease.held[0];
		/* a PC has two machines */
		snprintf(machine, sizeof(machine), "m%u-%u", pc, n);
		report.machine = machine;
		report.insertion = ++member->insertion;
		report.copy = copy;
		begin = now_us();
		must(pool_report(member->pool, member->token, &report, &standing, &error), "report",
		     &error);
		reported[n] = (uint32_t)(now_us() - begin);
		lease_recorded(&member->lease, &copy);
	}
}

static void work(const char *address, unsigned int worker, unsigned int pcs, unsigned int rounds,
		 int go, int ready)
{
	struct member *members = calloc(pcs, sizeof(*members));
	const uint8_t key[POOL_KEY] = { 1 };
	struct dealbox_error error;
	char name[16], byte = 0;
	size_t at;

	if (!members)
		exit(1);
	for (unsigned int pc = worker; pc < pcs; pc += WORKERS) {
		snprintf(name, sizeof(name), "pc%u", pc);
		members[pc].pool = connect_as(address, name);
		pool_uuid(members[pc].token);
		must(pool_join(members[pc].pool, name, key, members[pc].token, &error), "join",
		     &error);
	}
	if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1)
		exit(1);
	for (unsigned int round = 0; round < rounds; round++)
		for (unsigned int pc = worker; pc < pcs; pc += WORKERS) {
			at = (size_t)round * pcs + pc;
			take_and_report(&members[pc], pc, &takes[at], &reports[BLOCK * at]);
		}
	exit(0);
}

static int compare(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

static void figures(const char *what, uint32_t *took, size_t count, double seconds)
{
	qsort(took, count, sizeof(*took), compare);
	printf("%s: %.0f a second, half within %.2f ms, 99 of 100 within %.2f ms\n", what,
	       (double)count / seconds, took[count / 2] / 1000.0, took[count * 99 / 100] / 1000.0);
}

int main(int argc, char **argv)
{
	unsigned int pcs, rounds, worker;
	int go[2], ready[2], status, bad = 0;
	struct pool *owner, *director;
	uint64_t copies, begin;
	char text[400], byte = 0;
	double seconds;

	if (argc != 4)
		return 2;
	pcs = (unsigned int)atoi(argv[2]);
	rounds = (unsigned int)atoi(argv[3]);
	copies = (uint64_t)pcs * rounds * BLOCK;
	owner = connect_as(argv[1], "owner");
	snprintf(text, sizeof(text), "DO $$ BEGIN FOR n IN 0..%u LOOP EXECUTE format("
		 "'CREATE ROLE pc%%s LOGIN IN ROLE dealbox_pc', n); END LOOP; END $$", pcs - 1);
	sql(owner, text);
	takes = mmap(NULL, (1 + BLOCK) * copies / BLOCK * sizeof(*takes), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (takes == MAP_FAILED || pipe(go) || pipe(ready))
		return 1;
	reports = takes + copies / BLOCK;
	for (worker = 0; worker < WORKERS; worker++)
		if (!fork())
			work(argv[1], worker, pcs, rounds, go[0], ready[1]);
	close(ready[1]);
	for (worker = 0; worker < WORKERS; worker++)
		if (read(ready[0], &byte, 1) != 1)
			return 1;
	director = connect_as(argv[1], "director");
	/* one board of as many copies as there are, up to the most of a job; each job a session */
	for (uint64_t left = copies; left; left -= left < 9999 ? left : 9999) {
		snprintf(text, sizeof(text),
			 "SELECT dealbox.add_job('bench %" PRIu64 "', %u, 0, true, '{1}', "
			 "'{" HASH "}')", left, (unsigned int)(left < 9999 ? left : 9999));
		sql(director, text);
	}
	sql(owner, "INSERT INTO dealbox.sealed_set (job, pc, sealed) "
	    "SELECT j.id, p.id, 'x' FROM dealbox.job j, dealbox.pc p");
	begin = now_us();
	for (worker = 0; worker < WORKERS; worker++)
		if (write(go[1], &byte, 1) != 1)
			return 1;
	for (worker = 0; worker < WORKERS; worker++)
		if (wait(&status) < 0 || status)
			bad = 1;
	seconds = (double)(now_us() - begin) / 1e6;
	if (bad)
		return 1;
	printf("%u PCs, %u processes, %.1f s\n", pcs, WORKERS, seconds);
	figures("leases of two copies", takes, copies / BLOCK, seconds);
	figures("reports", reports, copies, seconds);
	if (sql(owner, "SELECT count(*) FROM dealbox.copy WHERE record IS NULL") ||
	    sql(owner, "SELECT count(*) FROM dealbox.record WHERE standing <> 'counts'") ||
	    sql(owner, "SELECT count(*) FROM dealbox.record") != copies) {
		fprintf(stderr, "a copy was not recorded once\n");
		return 1;
	}
	printf("size: %.0f MB per million boards\n",
	       (double)sql(owner, "SELECT pg_total_relation_size('dealbox.copy') + "
			   "pg_total_relation_size('dealbox.record')") / (double)copies);
	pool_close(director);
	pool_close(owner);
	return 0;
}
