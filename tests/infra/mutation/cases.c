// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Linked with a test by `run`: it runs each case of a cmocka program in a process of its own, in
 * the order asked for, and ends with the first one that fails.
 *
 * CASES	names, each with its limit of CPU time in seconds: "test_a:3 test_b:2"; unset: all
 * REACHED	a file that gets a line "case function" for each function that a case reaches
 *
 * The last line of the output is "[done]", or "[failed] case". Without CASES, "[case] case seconds"
 * follows each case.
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
#include <unistd.h>

#include <cmocka.h>

#define WAITING	120	/* seconds that a case may take by the clock: for an event that never comes */
#define LIMIT	100	/* seconds of CPU time, where no other limit is given */

static const char *running;	/* in the process of a case: its name */
static int reached = -1;	/* the file; tests count their descriptors */
static pid_t child;

int __real__cmocka_run_group_tests(const char *, const struct CMUnitTest *, size_t,
				   CMFixtureFunction, CMFixtureFunction);
int __wrap__cmocka_run_group_tests(const char *, const struct CMUnitTest *, size_t,
				   CMFixtureFunction, CMFixtureFunction);
void mutation_reached(const char *function);

/* Sources are compiled with a call of this in each function. The test may replace write(). */
void mutation_reached(const char *function)
{
	static const char *known[512];
	char line[256];
	size_t n;

	if (!running || reached < 0)
		return;
	for (n = 0; known[n]; n++)
		if (known[n] == function)
			return;
	known[n] = function;
	snprintf(line, sizeof(line), "%s %s\n", running, function);
	syscall(SYS_write, reached, line, strlen(line));
}

static void kill_child(int signal)
{
	(void)signal;
	kill(child, SIGKILL);
}

/* Returns true in the process of the case, and in this one after the case has passed. */
static bool run_case(const char *name, rlim_t seconds, bool print)
{
	struct rlimit limit = {seconds, seconds};
	struct rusage used;
	int status;

	if (reached < 0 && getenv("REACHED"))
		reached = (int)syscall(SYS_openat, AT_FDCWD, getenv("REACHED"),
				       O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	fflush(NULL);
	child = fork();
	if (!child) {
		running = name;
		signal(SIGALRM, SIG_DFL);
		setrlimit(RLIMIT_CPU, &limit);
		return true;
	}
	signal(SIGALRM, kill_child);
	alarm(WAITING);
	wait4(child, &status, 0, &used);
	alarm(0);
	if (status) {
		printf("\n[failed] %s\n", name);
		fflush(NULL);
		_exit(1);
	}
	if (print)
		printf("\n[case] %s %ld.%03ld\n", name, used.ru_utime.tv_sec + used.ru_stime.tv_sec,
		       (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000);
	return true;
}

int __wrap__cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t count,
				   CMFixtureFunction setup, CMFixtureFunction teardown)
{
	const char *wanted = getenv("CASES"), *at;
	size_t n, length;

	if (running)		/* another group of this program */
		return 0;
	for (n = 0; !wanted && n < count; n++) {
		run_case(tests[n].name, LIMIT, true);
		if (running)
			return __real__cmocka_run_group_tests(group, &tests[n], 1, setup, teardown);
	}
	for (at = wanted; at && *at; at += strcspn(at, " "), at += strspn(at, " ")) {
		length = strcspn(at, ":");
		for (n = 0; n < count; n++) {
			if (strncmp(tests[n].name, at, length) || tests[n].name[length])
				continue;
			run_case(tests[n].name, strtoul(at + length + 1, NULL, 10), false);
			if (running)
				return __real__cmocka_run_group_tests(group, &tests[n], 1, setup, teardown);
		}
	}
	return 0;
}

/* The process that started them all. */
__attribute__((destructor)) static void done(void)
{
	if (!running) {
		printf("\n[done]\n");
		fflush(NULL);
	}
}
