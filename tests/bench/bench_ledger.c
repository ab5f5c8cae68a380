// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How long the ledger takes to say whether a deal was dealt before (Law 6D2), with
 * so many deals in it, against an empty ledger in the same run. Wanted: 99 of
 * 100 answers under 20 us with 10 million deals.
 *
 *	bench_ledger [DEALS] [FOLDER]
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ledger.h"

#define CHECKS	200000

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
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
 * Deals as dealbox_ledger_add_set() stores them, but for the chain: what a check reads is the
 * table and its indexes, and those are full size.
 */
static void fill(const char *path, long deals)
{
	char sql[1024];
	sqlite3 *db;

	if (sqlite3_open(path, &db) != SQLITE_OK)
		die("cannot open the ledger");
	snprintf(sql, sizeof(sql),
		 "PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; PRAGMA temp_store = MEMORY; "
		 "BEGIN; CREATE TEMP TABLE t (f INTEGER); "
		 "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < %ld) "
		 "INSERT INTO t SELECT random() FROM c; "
		 "INSERT INTO boards (seq, set_seq, number, fingerprint, sealed) "
		 "SELECT row_number() OVER (ORDER BY f), row_number() OVER (ORDER BY f) / 36, "
		 "row_number() OVER (ORDER BY f) %% 36 + 1, f, zeroblob(72) FROM t ORDER BY f; "
		 "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)", deals);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		die(sqlite3_errmsg(db));
	sqlite3_close(db);
}

static int by_size(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* p50 and p99 of a check, in microseconds. */
static void measure(const char *path, double *p50, double *p99, double *most)
{
	static uint32_t took[CHECKS];
	struct dealbox_ledger *l = dealbox_ledger_new();
	struct dealbox_deal deal;
	uint64_t start;
	unsigned int n;

	if (dealbox_ledger_open(l, path, DEALBOX_LEDGER_WRITE))
		die(dealbox_ledger_error(l));
	for (n = 0; n < CHECKS; n++) {
		random_deal(&deal);
		start = now_ns();
		if (dealbox_ledger_find_repeat(l, "tonight", &deal, NULL) < 0)
			die(dealbox_ledger_error(l));
		took[n] = now_ns() - start;
	}
	dealbox_ledger_free(l);
	qsort(took, CHECKS, sizeof(*took), by_size);
	*p50 = took[CHECKS / 2] / 1e3;
	*p99 = took[CHECKS - CHECKS / 100] / 1e3;
	*most = took[CHECKS - 1] / 1e3;
}

int main(int argc, char **argv)
{
	long deals = argc > 1 ? atol(argv[1]) : 10000000;
	char path[256], command[300];
	double p50[2], p99[2], most[2];
	struct dealbox_ledger *l;

	snprintf(path, sizeof(path) - 16, "%s/bench-ledger-XXXXXX", argc > 2 ? argv[2] : "/tmp");
	if (!mkdtemp(path))
		die("cannot make a folder");
	snprintf(command, sizeof(command), "rm -rf %s", path);
	strcat(path, "/ledger");
	l = dealbox_ledger_new();
	if (!l || dealbox_ledger_open(l, path, DEALBOX_LEDGER_WRITE | DEALBOX_LEDGER_CREATE))
		die(l ? dealbox_ledger_error(l) : "no memory");
	dealbox_ledger_free(l);
	measure(path, &p50[0], &p99[0], &most[0]);
	fill(path, deals);
	measure(path, &p50[1], &p99[1], &most[1]);
	printf("check of a deal, %d times   p50 us   p99 us   most us\n", CHECKS);
	printf("empty ledger                 %8.2f %8.2f %9.1f\n", p50[0], p99[0], most[0]);
	printf("%9ld deals              %8.2f %8.2f %9.1f\n", deals, p50[1], p99[1], most[1]);
	printf("ratio                        %8.2f %8.2f\n", p50[1] / p50[0], p99[1] / p99[0]);
	return system(command);
}
