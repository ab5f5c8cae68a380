// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading deal files with full validation, and writing them: 300,000 boards on one core. The
 * references in the same run, on the same file: a plain read, grep for PBN, and for writing the
 * dealing programs of Debian. The figure is CPU time, of the best and the worst of several
 * processes; each process reports the best of its runs.
 *
 * A format that cannot hold that many boards in one file is read and written several times.
 *
 * usage: bench_formats [BOARDS [FORMAT [ROUNDS]]]
 *	with FORMAT only that one; with ROUNDS it is written once and read ROUNDS times, for a
 *	profile
 *
 *	bench_formats BOARDS FORMAT read|plain|write FILE
 *	one measurement in this process; prints seconds
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dealbox/format.h>

#include "deals.h"
#include "processes.h"

#define RUNS	3

static const struct {
	const char *name;
	size_t most;	/* boards in a file, 0 = any */
} formats[] = {
	{ "pbn", 0 }, { "lin", 0 }, { "csv", 0 }, { "bri", 0 }, { "dge", 0 }, { "ber", 0 },
	{ "bhg", 0 }, { "rzd", UINT16_MAX }, { "cds", UINT8_MAX }, { "dup", 99 }, { "dlm", 99 },
};
#define FORMATS	(sizeof(formats) / sizeof(*formats))

/* The measurement of a format: number of boards in a file, and repetitions of the file */
struct share {
	size_t boards, times;
};

static struct share share_of(size_t format, size_t boards)
{
	const size_t most = formats[format].most;

	return most && most < boards ? (struct share) { most, boards / most } :
				       (struct share) { boards, 1 };
}

static double seconds(const struct timespec *t)
{
	return (double)t->tv_sec + (double)t->tv_nsec / 1e9;
}

/* CPU time of this process, system calls included. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return seconds(&t);
}

static void row(const char *what, double bytes, size_t boards, double time)
{
	printf("  %-44s %8.1f MB/s %12.0f boards/s\n", what, bytes / time / 1e6,
	       (double)boards / time);
}

static void row_spread(const char *what, double bytes, size_t boards, struct spread time)
{
	printf("  %-44s %8.1f MB/s %12.0f boards/s, worst process %8.1f MB/s\n", what,
	       bytes / time.best / 1e6, (double)boards / time.best, bytes / time.worst / 1e6);
}

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static double size_of(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		die(path);
	return (double)st.st_size;
}

/* Writes to a file that exists, without waiting for the disk, to measure the writer alone. */
static double write_set(const char *format, const struct dealbox_set *set, const char *path,
			size_t times)
{
	double best = 1e9;

	for (int run = 0; run < RUNS; run++) {
		double start = now(), took;

		for (size_t i = 0; i < times; i++) {
			int fd = open(path, O_WRONLY | O_CREAT, 0600);

			if (fd < 0 || dealbox_format_write_fd(dealbox_format_find(format), set, fd,
							      path, NULL))
				die(path);
			close(fd);
		}
		took = now() - start;
		best = took < best ? took : best;
	}
	return best;
}

/* Reads the file, with all checks of the set. */
static double read_set(const char *path, struct share share, size_t runs)
{
	double best = 1e9;

	for (size_t run = 0; run < runs; run++) {
		double took = 0;

		for (size_t i = 0; i < share.times; i++) {
			struct dealbox_report *report = dealbox_report_new();
			struct dealbox_set *set = dealbox_set_new(NULL);
			double start = now();

			if (dealbox_format_read_file(NULL, path, set, report, NULL) ||
			    dealbox_set_check(set, report) ||
			    dealbox_set_count(set) != share.boards)
				die(path);
			took += now() - start;
			dealbox_set_free(set);
			dealbox_report_free(report);
		}
		best = took < best ? took : best;
	}
	return best;
}

/*
 * Copies the file to memory and reads every byte once: the least that any reader must do. The
 * memory is new from the kernel, as for a program that reads one file, not recycled by malloc().
 */
static double read_plain(const char *path, size_t times)
{
	size_t size = (size_t)size_of(path);
	double best = 1e9;

	for (int run = 0; run < RUNS; run++) {
		double start = now(), took;

		for (size_t i = 0; i < times; i++) {
			char *data = mmap(NULL, size, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			int fd = open(path, O_RDONLY);

			if (data == MAP_FAILED || fd < 0 || read(fd, data, size) != (ssize_t)size)
				die(path);
			for (char *next = data;
			     (next = memchr(next, 0xfe, size - (size_t)(next - data)));)
				next++;
			munmap(data, size);
			close(fd);
		}
		took = now() - start;
		best = took < best ? took : best;
	}
	return best;
}

/* Returns the CPU time of a shell command in seconds, 0 if it failed. */
static double run_command(const char *command)
{
	double best = 1e9;

	for (int run = 0; run < RUNS; run++) {
		struct rusage usage;
		double took;
		int status;
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid) {
			execl("/bin/sh", "sh", "-c", command, (char *)NULL);
			_exit(127);
		}
		if (wait4(pid, &status, 0, &usage) < 0 || status)
			return 0;
		took = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
		best = took < best ? took : best;
	}
	return best;
}

static void peer(const char *what, const char *make, const char *command, size_t boards,
		 const char *path)
{
	double took;

	/* once to a file, to get the size of its output */
	if (run_command(make) <= 0) {
		printf("  %-44s does not run here\n", what);
		return;
	}
	took = run_command(command);
	row(what, size_of(path), boards, took);
}

static void bench_peers(size_t boards, const char *peers)
{
	char command[256], make[400];

	snprintf(command, sizeof(command),
		 "echo 'action printpbn' | /usr/games/dealer -p %zu -g %zu -s 1", boards, boards);
	snprintf(make, sizeof(make), "%s >%s", command, peers);
	snprintf(command + strlen(command), sizeof(command) - strlen(command), " >/dev/null");
	peer("dealer (makes the deals, too), pbn", make, command, boards, peers);
	snprintf(command, sizeof(command),
		 "cd /usr/share/deal && /usr/games/deal -i format/pbn %zu", boards);
	snprintf(make, sizeof(make), "%s >%s", command, peers);
	snprintf(command + strlen(command), sizeof(command) - strlen(command), " >/dev/null");
	peer("deal (makes the deals, too), pbn, tag Deal", make, command, boards, peers);
}

static double time_write(size_t format, struct share share, const char *path)
{
	uint64_t seed = 1;
	struct dealbox_set *set = random_set(&seed, 1, share.boards);
	const double took = write_set(formats[format].name, set, path, share.times);

	dealbox_set_free(set);
	return took;
}

static double time_read(size_t format, struct share share, const char *path)
{
	(void)format;
	return read_set(path, share, RUNS);
}

static double time_plain(size_t format, struct share share, const char *path)
{
	(void)format;
	return read_plain(path, share.times);
}

static const struct measure {
	const char *name;
	const char *text;	/* contains the name of the format */
	double (*time)(size_t format, struct share share, const char *path);
} measures[] = {
	{ "write", "dealbox, %s", time_write },
	{ "read", "dealbox, %s", time_read },
	{ "plain", "  read() and memchr(), %s: the floor", time_plain },
};

/* The work of the process that takes a measurement. */
static int measure_run(size_t boards, const char *format, const char *name, const char *path)
{
	for (size_t f = 0; f < FORMATS; f++)
		for (size_t m = 0; m < sizeof(measures) / sizeof(*measures); m++)
			if (!strcmp(format, formats[f].name) && !strcmp(name, measures[m].name)) {
				printf("%.9f\n", measures[m].time(f, share_of(f, boards), path));
				return EXIT_SUCCESS;
			}
	fprintf(stderr, "bench_formats: no measure %s of %s\n", name, format);
	return EXIT_FAILURE;
}

static void bench(const struct measure *measure, size_t format, size_t boards, const char *path)
{
	const struct share share = share_of(format, boards);
	char count[24], text[64];
	const char *const arguments[] = {
		"bench_formats", count, formats[format].name, measure->name, path, NULL
	};
	struct spread took;

	snprintf(count, sizeof(count), "%zu", boards);
	snprintf(text, sizeof(text), measure->text, formats[format].name);
	took = spread_measure(arguments);
	row_spread(text, size_of(path) * (double)share.times, share.boards * share.times, took);
}

/* Writes once, then reads again and again, so that a profile shows little but reading. */
static void loop_read(size_t format, size_t boards, size_t rounds, const char *path)
{
	const struct share share = share_of(format, boards);
	uint64_t seed = 1;
	struct dealbox_set *set = random_set(&seed, 1, share.boards);
	double took;

	write_set(formats[format].name, set, path, 1);
	dealbox_set_free(set);
	took = read_set(path, share, rounds);
	row(formats[format].name, size_of(path) * (double)share.times, share.boards * share.times,
	    took);
}

int main(int argc, char **argv)
{
	size_t rounds = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	size_t boards = argc > 1 ? strtoul(argv[1], NULL, 10) : 300000;
	const char *only = argc > 2 ? argv[2] : NULL;
	char folder[] = "/tmp/dealbox-bench-XXXXXX", paths[FORMATS][64], peers[64], command[256];

	if (argc == 5)
		return measure_run(boards, argv[2], argv[3], argv[4]);
	if (!boards || !mkdtemp(folder))
		die("bench");
	snprintf(peers, sizeof(peers), "%s/peer", folder);
	for (size_t i = 0; i < FORMATS; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/set.%s", folder, formats[i].name);
	printf("%zu boards\n", boards);
	if (rounds) {
		for (size_t i = 0; i < FORMATS; i++)
			if (!strcmp(only, formats[i].name))
				loop_read(i, boards, rounds, paths[i]);
		goto clean;
	}
	printf("writing\n");
	for (size_t i = 0; i < FORMATS; i++) {
		if (!only || !strcmp(only, formats[i].name))
			bench(&measures[0], i, boards, paths[i]);
	}
	if (!only)
		bench_peers(boards, peers);

	printf("reading, with full validation of deals and set\n");
	for (size_t i = 0; i < FORMATS; i++)
		if (!only || !strcmp(only, formats[i].name)) {
			bench(&measures[1], i, boards, paths[i]);
			bench(&measures[2], i, boards, paths[i]);
		}
	if (!only || !strcmp(only, "pbn")) {
		/* not to /dev/null: grep would stop at the first match */
		snprintf(command, sizeof(command), "grep -c Deal %s >%s", paths[0], peers);
		row("grep -c Deal, pbn: the floor", size_of(paths[0]), boards,
		    run_command(command));
	}

clean:
	for (size_t i = 0; i < FORMATS; i++)
		unlink(paths[i]);
	unlink(peers);
	rmdir(folder);
	return EXIT_SUCCESS;
}
