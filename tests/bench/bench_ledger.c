// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The time that the ledger takes to find out whether a deal was dealt before (Law 6D2): with DEALS
 * deals in it and with none, in turns in the same run. The goal is that 99 of 100 answers take
 * less than 20 us with 10 million deals.
 *
 *	bench_ledger [DEALS] [FOLDER]
 *
 * It measures the check that a job makes for each board: the board is in the ledger, with its
 * fingerprint, and a transaction has begun. "By itself" is dealbox_ledger_find_repeat(), which
 * computes the fingerprint and begins a transaction of its own. The file is read before each round,
 * so that it is in the page cache; pages that were read from the disk nevertheless are reported.
 * "From the disk" is a check with an empty page cache, as on the first evening after a start.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "ledger/ledger-internal.h"
#include "processes.h"

#define ROUNDS	10
#define CHECKS	19944		/* of each kind in a round */
#define JOB	36		/* boards that are checked in one transaction */
#define SET	9972		/* boards of a set to deal; a multiple of JOB */
#define SETS	4

struct subject {
	const char *path;
	struct dealbox_ledger *ledger;
	uint64_t sets[SETS];
	size_t count;			/* of sets, and boards in each */
	size_t boards;
};

struct figures {
	uint32_t took[ROUNDS * CHECKS];	/* ns */
	size_t count;
	double p99[ROUNDS];		/* us */
	long disk;			/* pages read from the disk */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static long disk_pages(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_inblock / 8;	/* of 512 bytes */
}

/* The folder of the ledgers; removed when the program ends, also by die(). */
static char folder[256];

static void remove_folder(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (system(command))
		fprintf(stderr, "bench_ledger: cannot remove %s\n", folder);
}

static void die(const char *what)
{
	fprintf(stderr, "bench_ledger: %s\n", what);
	exit(1);
}

static void random_deal(struct dealbox_deal *deal)
{
	uint8_t cards[DEALBOX_CARDS];
	unsigned int n;

	memset(deal, 0, sizeof(*deal));
	for (n = 0; n < DEALBOX_CARDS; n++) {
		unsigned int k = randombytes_uniform(n + 1);

		cards[n] = cards[k];
		cards[k] = n;
	}
	for (n = 0; n < DEALBOX_CARDS; n++)
		deal->hand[n % 4] |= 1ULL << cards[n];
}

/*
 * Inserts deals as dealbox_ledger_add_set() would, but without the chain: a check reads only the
 * table and its indexes, which have their full size. Their numbers do not collide with those of
 * sets that are added later.
 */
static void fill(const char *path, long deals)
{
	char sql[512];
	sqlite3 *db;

	if (sqlite3_open(path, &db) != SQLITE_OK)
		die("cannot open the ledger");
	snprintf(sql, sizeof(sql),
		 "PRAGMA synchronous = OFF; PRAGMA cache_size = -600000; BEGIN; "
		 "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < %ld) "
		 "INSERT INTO boards (seq, set_seq, number, fingerprint, sealed) "
		 "SELECT 1000000 + n, 1000000 + n / 36, n %% 36 + 1, random(), zeroblob(72) "
		 "FROM c; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)", deals);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		die(sqlite3_errmsg(db));
	sqlite3_close(db);
}

/* Creates a ledger with the sets whose boards will be checked. */
static void make(struct subject *s)
{
	struct dealbox_ledger_board *boards = calloc(s->boards, sizeof(*boards));
	size_t n, k;

	s->ledger = dealbox_ledger_new();
	if (!boards || !s->ledger)
		die("no memory");
	if (dealbox_ledger_open(s->ledger, s->path, DEALBOX_LEDGER_WRITE | DEALBOX_LEDGER_CREATE))
		die(dealbox_ledger_error(s->ledger)->what);
	for (n = 0; n < s->count; n++) {
		for (k = 0; k < s->boards; k++) {
			boards[k].number = k + 1;
			random_deal(&boards[k].deal);
		}
		if (dealbox_ledger_add_set(s->ledger, "tonight", boards, s->boards, &s->sets[n],
					   NULL))
			die(dealbox_ledger_error(s->ledger)->what);
	}
	free(boards);
}

/* Opens it for reading: opening for writing checks the chain, which the filled-in deals lack. */
static void reopen(struct subject *s)
{
	dealbox_ledger_free(s->ledger);
	s->ledger = dealbox_ledger_new();
	if (!s->ledger || dealbox_ledger_open(s->ledger, s->path, 0))
		die(s->ledger ? dealbox_ledger_error(s->ledger)->what : "no memory");
}

/* Reads the whole file into the page cache, or drops it from there. */
static void in_memory(const char *path, bool wanted)
{
	static char buffer[1 << 20];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fsync(fd))
		die("cannot read the ledger");
	if (!wanted && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		die("the kernel keeps the ledger in memory");
	while (wanted && read(fd, buffer, sizeof(buffer)) > 0)
		;
	close(fd);
}

static void keep(struct figures *f, uint64_t start)
{
	f->took[f->count++] = now_ns() - start;
}

/* Checks the boards of one job, from the nth board of the sets on. */
static void check_job(struct subject *s, size_t n, struct figures *f)
{
	uint64_t set = s->sets[n / s->boards % s->count], start;
	unsigned int k, first = n % s->boards + 1;
	int rc;

	if (sqlite3_exec(s->ledger->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		die(sqlite3_errmsg(s->ledger->db));
	for (k = 0; k < JOB; k++) {
		start = now_ns();
		rc = ledger_find_board_repeat(s->ledger, "tonight", set, first + k, NULL);
		keep(f, start);
		if (rc)
			die(rc < 0 ? dealbox_ledger_error(s->ledger)->what : "a repeat by chance");
	}
	sqlite3_exec(s->ledger->db, "ROLLBACK", NULL, NULL, NULL);
}

static void check_by_itself(struct subject *s, struct figures *f)
{
	struct dealbox_deal deal;
	uint64_t start;
	int rc;

	random_deal(&deal);
	start = now_ns();
	rc = dealbox_ledger_find_repeat(s->ledger, "tonight", &deal, NULL);
	keep(f, start);
	if (rc)
		die(rc < 0 ? dealbox_ledger_error(s->ledger)->what : "a repeat by chance");
}

static int by_size(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Returns the time that percent of the answers did not exceed. Sorts took. */
static double percentile(uint32_t *took, size_t count, unsigned int percent)
{
	qsort(took, count, sizeof(*took), by_size);
	return took[(count * percent + 99) / 100 - 1] / 1e3;
}

static void report(const char *what, struct figures *f, unsigned int rounds)
{
	size_t each = f->count / rounds, n;
	double least = 1e9, most = 0;

	for (n = 0; n < rounds; n++) {
		double p99 = percentile(f->took + n * each, each, 99);

		least = p99 < least ? p99 : least;
		most = p99 > most ? p99 : most;
	}
	printf("%-38s %7zu %8.1f %8.1f  %6.1f - %-6.1f %9.1f %8ld\n", what, f->count,
	       percentile(f->took, f->count, 50), percentile(f->took, f->count, 99), least, most,
	       f->took[f->count - 1] / 1e3, f->disk);
}

int main(int argc, char **argv)
{
	static struct figures job[2], single[2], cold;
	long deals = argc > 1 ? atol(argv[1]) : 10000000, before;
	char path[2][280], line[64];
	struct subject subject[2] = {
		{ .path = path[0], .count = 1, .boards = JOB },
		{ .path = path[1], .count = SETS, .boards = SET },
	};
	unsigned int rounds = bench_times(ROUNDS), round, n, k;
	double load;

	snprintf(folder, sizeof(folder), "%s/bench-ledger-XXXXXX", argc > 2 ? argv[2] : "/tmp");
	if (!mkdtemp(folder))
		die("cannot make a folder");
	atexit(remove_folder);
	for (k = 0; k < 2; k++) {
		snprintf(path[k], sizeof(path[k]), "%s/ledger-%u", folder, k);
		make(&subject[k]);
	}
	dealbox_ledger_free(subject[1].ledger);
	subject[1].ledger = NULL;
	fill(path[1], deals);

	for (round = 0; round < rounds; round++) {
		reopen(&subject[1]);
		in_memory(path[1], true);
		for (k = 0; k < 2; k++) {
			before = disk_pages();
			for (n = 0; n < CHECKS; n += JOB)
				check_job(&subject[k], round * CHECKS + n, &job[k]);
			job[k].disk += disk_pages() - before;
			before = disk_pages();
			for (n = 0; n < CHECKS; n++)
				check_by_itself(&subject[k], &single[k]);
			single[k].disk += disk_pages() - before;
		}
	}
	dealbox_ledger_free(subject[1].ledger);
	subject[1].ledger = NULL;
	in_memory(path[1], false);
	reopen(&subject[1]);
	before = disk_pages();
	for (n = 0; n < SET; n += JOB)
		check_job(&subject[1], n, &cold);
	cold.disk = disk_pages() - before;

	if (getloadavg(&load, 1) != 1)
		die("the load of the computer is not told");
	printf("us; %u rounds, the ledgers in turn; %d boards in a transaction; "
	       "load of the computer %.1f\n", rounds, JOB, load);
	printf("check of                                 times      p50      p99  "
	       "p99 of a round       most from disk\n");
	report("a board of a job, empty ledger", &job[0], rounds);
	snprintf(line, sizeof(line), "a board of a job, %ld deals", deals);
	report(line, &job[1], rounds);
	report("a deal by itself, empty ledger", &single[0], rounds);
	snprintf(line, sizeof(line), "a deal by itself, %ld deals", deals);
	report(line, &single[1], rounds);
	report("a board of a job, from the disk", &cold, 1);
	dealbox_ledger_free(subject[0].ledger);
	dealbox_ledger_free(subject[1].ledger);
	return 0;
}
