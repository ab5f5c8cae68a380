// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox-double-dummy: solves deals for dealbox, by libdds. It is a program of its own so that its
 * memory is bounded, and so that a crash of the solver loses nothing else.
 *
 * Standard input: a line per deal, of 52 digits: the seats (N, E, S, W = 0..3) that hold the cards
 * in the order of enum dealbox_suit, aces first. Standard output: a line per deal in the same
 * order, of 20 hexadecimal digits: the tricks of N, E, S, W as declarer in spades, hearts,
 * diamonds, clubs and no trumps. Cards come in no other way, and leave in none.
 *
 * Exit status: 0 at the end of the input, 1 if the input is not as above, 2 if libdds failed.
 */
#include <errno.h>
#include <malloc.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <dds/dll.h>

#define CARDS		52
#define LINE		(CARDS + 1)
#define ANSWER		(DDS_STRAINS * DDS_HANDS + 1)

/*
 * libdds solves a batch on its threads and waits for the last one, so a small batch costs time and
 * a large one delays the first answer.
 */
#define BATCH		8

/* Memory of the transposition tables, in MB, and threads, each of which has its own table. */
#define TABLES_MB	60
#define THREADS		2

/* All memory of the process, with stacks and libraries */
#define ADDRESS_SPACE	((rlim_t)256 << 20)

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED
#endif

static void limit(int resource, rlim_t most)
{
	setrlimit(resource, &(struct rlimit){ most, most });
}

/* No core dump or debugger sees a card, and the process ends with the one that started it. */
static void confine(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	limit(RLIMIT_CORE, 0);
#ifndef SANITIZED	/* which reserves terabytes */
	limit(RLIMIT_AS, ADDRESS_SPACE);
#endif
	mallopt(M_ARENA_MAX, 1);
}

/* From here on: compute, read and write what is open, start threads, end. */
static bool seal(void)
{
#ifdef SANITIZED
	return true;
#else
	static const int allowed[] = {
		SCMP_SYS(read), SCMP_SYS(write),
		SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(mmap2), SCMP_SYS(munmap),
		SCMP_SYS(mprotect), SCMP_SYS(mremap), SCMP_SYS(madvise),
		SCMP_SYS(clone), SCMP_SYS(clone3), SCMP_SYS(set_robust_list), SCMP_SYS(rseq),
		SCMP_SYS(futex), SCMP_SYS(futex_time64), SCMP_SYS(sched_yield),
		SCMP_SYS(sched_getaffinity), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn),
		SCMP_SYS(clock_gettime), SCMP_SYS(clock_gettime64), SCMP_SYS(gettimeofday),
		SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(tgkill),
		SCMP_SYS(exit), SCMP_SYS(exit_group),
	};
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err = filter ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < sizeof(allowed) / sizeof(*allowed); i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return !err;
#endif
}

/* Read up to size bytes, fewer at the end of the input only. */
static size_t read_full(char *data, size_t size)
{
	size_t have = 0;

	while (have < size) {
		ssize_t got = read(STDIN_FILENO, data + have, size - have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		have += (size_t)got;
	}
	return have;
}

static bool write_full(const char *data, size_t size)
{
	while (size) {
		ssize_t wrote = write(STDOUT_FILENO, data, size);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return false;
		data += wrote;
		size -= (size_t)wrote;
	}
	return true;
}

/* A card is a bit of its suit: 2 for the two, 14 for the ace. */
static bool deal_parse(const char line[LINE], struct ddTableDeal *deal)
{
	unsigned int held[DDS_HANDS] = { 0 };

	memset(deal, 0, sizeof(*deal));
	for (int card = 0; card < CARDS; card++) {
		unsigned int seat = (unsigned int)line[card] - '0';

		if (seat >= DDS_HANDS)
			return false;
		deal->cards[seat][card / 13] |= 1u << (14 - card % 13);
		held[seat]++;
	}
	for (int seat = 0; seat < DDS_HANDS; seat++)
		if (held[seat] != 13)
			return false;
	return line[CARDS] == '\n';
}

/* libdds numbers suits and seats as dealbox does, and no trumps last. */
static void table_format(const struct ddTableResults *table, char answer[ANSWER])
{
	for (int strain = 0; strain < DDS_STRAINS; strain++)
		for (int seat = 0; seat < DDS_HANDS; seat++)
			*answer++ = "0123456789abcdef"[table->resTable[strain][seat] & 15];
	*answer = '\n';
}

int main(void)
{
	static struct ddTableDeals deals;
	static struct ddTablesRes tables;
	static struct allParResults par;
	static char lines[BATCH * LINE], answers[BATCH * ANSWER];
	int every_strain[DDS_STRAINS] = { 0 };
	size_t have;

	confine();
	SetResources(TABLES_MB, THREADS);
	if (!seal())
		return 2;
	while ((have = read_full(lines, sizeof(lines)))) {
		deals.noOfTables = (int)(have / LINE);
		if (have % LINE)
			return 1;
		for (int i = 0; i < deals.noOfTables; i++)
			if (!deal_parse(lines + i * LINE, &deals.deals[i]))
				return 1;
		if (CalcAllTables(&deals, -1, every_strain, &tables, &par) != RETURN_NO_FAULT)
			return 2;
		for (int i = 0; i < deals.noOfTables; i++)
			table_format(&tables.results[i], answers + i * ANSWER);
		if (!write_full(answers, (size_t)deals.noOfTables * ANSWER))
			break;
	}
	return 0;
}
