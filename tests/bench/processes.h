/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A measurement in several processes. The contents and the cache alignment of the stack stay the
 * same while a process runs, so a slow case may occur in some processes only, however often each
 * repeats the measurement.
 */
#ifndef BENCH_PROCESSES_H
#define BENCH_PROCESSES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES	8

/*
 * Return how often something is done: BENCH_SHORT in the environment asks for a short run, which
 * only shows that there is something to measure.
 */
static inline int bench_times(int times)
{
	return getenv("BENCH_SHORT") ? 1 : times;
}

/* Seconds: the best and the worst of all processes. */
struct spread {
	double best, worst;
};

/*
 * Run this program again, with those arguments (the first is its name), in PROCESSES processes,
 * each with an environment 16 bytes longer than the last. Each prints its seconds and nothing
 * else; anything else ends the program.
 */
static inline struct spread spread_measure(const char *const arguments[])
{
	struct spread spread = { .best = 1e9 };

	fflush(stdout);
	for (int n = 0; n < bench_times(PROCESSES); n++) {
		char padding[16 * PROCESSES + 1] = "", line[64] = "";
		double took;
		ssize_t size;
		int fds[2], status;
		pid_t child;

		if (pipe(fds) || (child = fork()) < 0) {
			perror("bench");
			exit(EXIT_FAILURE);
		}
		if (!child) {
			memset(padding, 'x', 16 * (size_t)n);
			setenv("BENCH_PADDING", padding, 1);
			/* so that only the padding moves the stack; otherwise chance does */
			personality(ADDR_NO_RANDOMIZE);
			dup2(fds[1], STDOUT_FILENO);
			close(fds[0]);
			close(fds[1]);
			execv("/proc/self/exe", (char *const *)arguments);
			_exit(127);
		}
		close(fds[1]);
		size = read(fds[0], line, sizeof(line) - 1);
		close(fds[0]);
		if (waitpid(child, &status, 0) < 0 || status || size <= 0 ||
		    sscanf(line, "%lf", &took) != 1) {
			fprintf(stderr, "bench: %s %s does not measure\n", arguments[0],
				arguments[1]);
			exit(EXIT_FAILURE);
		}
		spread.best = took < spread.best ? took : spread.best;
		spread.worst = took > spread.worst ? took : spread.worst;
	}
	return spread;
}

#endif
