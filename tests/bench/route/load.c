// SPDX-License-Identifier: LGPL-2.1-or-later
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"

#define PIECE	4096
#define PIECES	256

static pid_t group;

static void spin(void)
{
	static volatile uint64_t count;

	for (;;)
		count++;
}

/* The load of a shell script: short-lived processes. */
static void start_processes(void)
{
	for (;;) {
		pid_t pid = fork();

		if (!pid) {
			char *memory = mmap(NULL, PIECE * PIECES, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			int i;

			for (i = 0; memory != MAP_FAILED && i < PIECES; i++)
				memory[i * PIECE] = 1;
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

static void write_files(void)
{
	static char piece[PIECE];
	char path[64];
	int i, fd;

	snprintf(path, sizeof(path), "/tmp/load-%d", getpid());
	for (;;) {
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd < 0)
			err(3, "%s", path);
		for (i = 0; i < PIECES; i++)
			if (write(fd, piece, PIECE) != PIECE)
				err(3, "%s", path);
		fsync(fd);
		for (i = 0; i < PIECES; i++)
			if (pread(fd, piece, PIECE, (off_t)i * PIECE) != PIECE)
				err(3, "%s", path);
		close(fd);
		unlink(path);
	}
}

static void start_one(void (*work)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		err(3, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		work();
	}
}

void load_start(void)
{
	long cpu, cpus = sysconf(_SC_NPROCESSORS_ONLN);

	group = fork();
	if (group < 0)
		err(3, "fork");
	if (group) {
		setpgid(group, group);
		return;
	}
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (cpu = 0; cpu < cpus; cpu++) {
		start_one(spin);
		start_one(start_processes);
		start_one(write_files);
	}
	for (;;)
		pause();
}

void load_stop(void)
{
	kill(-group, SIGKILL);
	waitpid(group, NULL, 0);
}
