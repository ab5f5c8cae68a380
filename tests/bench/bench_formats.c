// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Deal files: how fast they are read with full validation, and written, on 300,000 boards and one
 * core. Beside them in the same run, on the same file: a plain read of it as the floor of reading,
 * and grep for PBN; and the dealing programs of Debian as peers of writing. CPU time, the best of
 * five.
 *
 * usage: bench_formats [BOARDS]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dealbox/format.h>

#include "deals.h"

#define RUNS	5

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

/* To a file that is there already, without waiting for the disk: what writing itself costs. */
static double write_set(const char *format, const struct dealbox_set *set, const char *path)
{
	double best = 1e9;

	for (int run = 0; run < RUNS; run++) {
		int fd = open(path, O_WRONLY | O_CREAT, 0600);
		double start = now(), took;

		if (fd < 0 || dealbox_format_write_fd(dealbox_format_find(format), set, fd, path,
						      NULL))
			die(path);
		took = now() - start;
		best = took < best ? took : best;
		close(fd);
	}
	return best;
}

/* From the file to the verdict on the whole set. */
static double read_set(const char *path, size_t boards)
{
	double best = 1e9;

	for (int run = 0; run < RUNS; run++) {
		struct dealbox_report *report = dealbox_report_new();
		struct dealbox_set *set = dealbox_set_new(NULL);
		double start = now(), took;

		if (dealbox_format_read_file(NULL, path, set, report, NULL) ||
		    dealbox_set_check(set, report) || dealbox_set_count(set) != boards)
			die(path);
		took = now() - start;
		best = took < best ? took : best;
		dealbox_set_free(set);
		dealbox_report_free(report);
	}
	return best;
}

/* From the file into memory of its own, and every byte looked at once: no reader can do with less. */
static double read_plain(const char *path)
{
	size_t size = (size_t)size_of(path);
	double best = 1e9;

	for (int run = 0; run < RUNS; run++) {
		double start = now(), took;
		char *data = malloc(size);
		int fd = open(path, O_RDONLY);

		if (!data || fd < 0 || read(fd, data, size) != (ssize_t)size)
			die(path);
		for (char *next = data; (next = memchr(next, 0xfe, size - (size_t)(next - data)));)
			next++;
		free(data);
		close(fd);
		took = now() - start;
		best = took < best ? took : best;
	}
	return best;
}

/* CPU time of a command in the shell; 0 = it failed. */
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

	/* once into a file, to know how much it writes */
	if (run_command(make) <= 0) {
		printf("  %-44s does not run here\n", what);
		return;
	}
	took = run_command(command);
	row(what, size_of(path), boards, took);
}

int main(int argc, char **argv)
{
	static const char *const formats[] = {
		"pbn", "lin", "csv", "bri", "dge", "ber", "bhg", "rzd",
	};
	size_t boards = argc > 1 ? strtoul(argv[1], NULL, 10) : 300000;
	char folder[] = "/tmp/dealbox-bench-XXXXXX", path[64], peers[64], command[256], make[400];
	uint64_t seed = 1;
	struct dealbox_set *set = random_set(&seed, 1, boards), *short_set;

	if (!mkdtemp(folder) || !set)
		die("bench");
	snprintf(peers, sizeof(peers), "%s/peer", folder);
	printf("%zu boards\n", boards);
	printf("writing\n");
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		const struct dealbox_set *what = set;
		size_t count = boards;
		char text[64];
		double took;

		/* RZD counts in 16 bits */
		short_set = NULL;
		if (!strcmp(formats[i], "rzd") && boards > UINT16_MAX) {
			uint64_t again = 1;

			count = UINT16_MAX;
			what = short_set = random_set(&again, 1, count);
		}
		snprintf(path, sizeof(path), "%s/set.%s", folder, formats[i]);
		took = write_set(formats[i], what, path);
		snprintf(text, sizeof(text), "dealbox, %s", formats[i]);
		row(text, size_of(path), count, took);
		dealbox_set_free(short_set);
	}
	snprintf(command, sizeof(command),
		 "echo 'action printpbn' | /usr/games/dealer -p %zu -g %zu -s 1", boards, boards);
	snprintf(make, sizeof(make), "%s >%s", command, peers);
	snprintf(command + strlen(command), sizeof(command) - strlen(command), " >/dev/null");
	peer("dealer (makes the deals, too), pbn", make, command, boards, peers);
	snprintf(command, sizeof(command), "cd /usr/share/deal && /usr/games/deal -i format/pbn %zu",
		 boards);
	snprintf(make, sizeof(make), "%s >%s", command, peers);
	snprintf(command + strlen(command), sizeof(command) - strlen(command), " >/dev/null");
	peer("deal (makes the deals, too), pbn, tag Deal", make, command, boards, peers);

	printf("reading, with full validation of deals and set\n");
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		char text[64];
		size_t count = strcmp(formats[i], "rzd") || boards < UINT16_MAX ? boards :
			       UINT16_MAX;
		double took;

		snprintf(path, sizeof(path), "%s/set.%s", folder, formats[i]);
		took = read_set(path, count);
		snprintf(text, sizeof(text), "dealbox, %s", formats[i]);
		row(text, size_of(path), count, took);
		snprintf(text, sizeof(text), "  read() and memchr(), %s: the floor", formats[i]);
		row(text, size_of(path), count, read_plain(path));
	}
	snprintf(path, sizeof(path), "%s/set.pbn", folder);
	/* not to /dev/null: then it would stop at the first one */
	snprintf(command, sizeof(command), "grep -c Deal %s >%s", path, peers);
	row("grep -c Deal, pbn: the floor", size_of(path), boards, run_command(command));

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		snprintf(path, sizeof(path), "%s/set.%s", folder, formats[i]);
		unlink(path);
	}
	unlink(peers);
	rmdir(folder);
	dealbox_set_free(set);
	return EXIT_SUCCESS;
}
