// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Linked with a test by `run`: it runs each case of a cmocka program in a process of its own, in
 * the order asked for, and ends with the first one that fails.
 *
 * REACHED	unset, or a file that gets a line "case number" for each part of the source that a
 *		case reaches. All cases are run. "[case] case CPU-time time" in seconds follows
 *		each, and "[done]" or "[failed] case" is the last line.
 *
 * Without REACHED, each line of standard input asks for a breakage: its number, and cases, each
 * with its limits of CPU time and of time in seconds: "17 test_a:3:40 test_b:2:30". They are run
 * until one fails. "[passed]" or "[failed] case" answers.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define WAITING	600	/* seconds that a case may take, where no other limit is given */
#define LIMIT	100	/* seconds of CPU time that it may take then */
#define PARTS	(1 << 20)

static const char *running;	/* in the process of a case: its name */
static int reached = -1;	/* the file; tests count their descriptors */
static pid_t child;

int mutation_number;		/* of the breakage; 0 = the whole source */

int __real__cmocka_run_group_tests(const char *, const struct CMUnitTest *, size_t,
				   CMFixtureFunction, CMFixtureFunction);
int __wrap__cmocka_run_group_tests(const char *, const struct CMUnitTest *, size_t,
				   CMFixtureFunction, CMFixtureFunction);
void mutation_reached(unsigned int part);

/* Each part of the source calls this with its number. The test may replace write(). */
void mutation_reached(unsigned int part)
{
	static uint8_t known[PARTS / 8];
	char line[256];

	if (!running || reached < 0 || part >= PARTS || known[part / 8] >> part % 8 & 1)
		return;
	known[part / 8] |= 1 << part % 8;
	snprintf(line, sizeof(line), "%s %u\n", running, part);
	syscall(SYS_write, reached, line, strlen(line));
}

static void kill_child(int signal)
{
	(void)signal;
	kill(child, SIGKILL);
}

static double seconds_now(void)
{
	struct timespec now;

	/* the test may replace clock_gettime() */
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Run a case. Returns true if it passed, and in its own process, which has to do it. */
static bool run_case(const char *name, rlim_t seconds, unsigned int waiting, bool print)
{
	struct rlimit limit = {seconds, seconds};
	struct rusage used;
	double begin = seconds_now();
	int status, null;

	fflush(NULL);
	child = fork();
	if (child < 0)
		_exit(2);
	if (!child) {
		running = name;
		setpgid(0, 0);
		null = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY, 0);
		syscall(SYS_dup3, null, 0, 0);
		syscall(SYS_close, null);
		signal(SIGALRM, SIG_DFL);
		setrlimit(RLIMIT_CPU, &limit);
		return true;
	}
	signal(SIGALRM, kill_child);
	alarm(waiting);
	wait4(child, &status, 0, &used);
	alarm(0);
	/* and what it has left behind */
	kill(-child, SIGKILL);
	if (status)
		printf("\n[failed] %s\n", name);
	else if (print)
		printf("\n[case] %s %ld.%03ld %.3f\n", name,
		       used.ru_utime.tv_sec + used.ru_stime.tv_sec,
		       (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000,
		       seconds_now() - begin);
	fflush(NULL);
	return !status;
}

/* Read a line from standard input. Returns false at its end. */
static bool get_line(char *line, size_t size)
{
	size_t length = 0;

	while (length < size - 1 && syscall(SYS_read, 0, line + length, 1) == 1 &&
	       line[length] != '\n')
		length++;
	line[length] = '\0';
	return length;
}

int __wrap__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t count,
				   CMFixtureFunction setup, CMFixtureFunction teardown)
{
	static char line[1 << 16];
	const char *file = getenv("REACHED");
	char *number, *next, *name, *seconds, *waiting;
	bool good = true;
	size_t n;

	if (file) {
		reached = (int)syscall(SYS_openat, AT_FDCWD, file,
				       O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		for (n = 0; good && n < count; n++) {
			good = run_case(tests[n].name, LIMIT, WAITING, true);
			if (running)
				return __real__cmocka_run_group_tests(group, &tests[n], 1, setup,
								      teardown);
		}
		if (good)
			printf("\n[done]\n");
	}
	while (!file && get_line(line, sizeof(line))) {
		number = strtok_r(line, " ", &next);
		for (good = true; good && (name = strtok_r(NULL, ":", &next)); ) {
			seconds = strtok_r(NULL, ":", &next);
			waiting = strtok_r(NULL, " ", &next);
			for (n = 0; n < count && strcmp(tests[n].name, name); n++)
				;
			mutation_number = atoi(number);
			good = n < count &&
			       run_case(tests[n].name, strtoul(seconds, NULL, 10),
					(unsigned int)strtoul(waiting, NULL, 10), false);
			if (running)
				return __real__cmocka_run_group_tests(group, &tests[n], 1, setup,
								      teardown);
			mutation_number = 0;
		}
		if (good)
			printf("\n[passed]\n");
		fflush(NULL);
	}
	fflush(NULL);
	_exit(!good);
}
