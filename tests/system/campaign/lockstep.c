// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Loaded into the program that deals (LD_PRELOAD), it makes of it and of the campaign
 * one computation that always goes the same way. When the program waits, it says for
 * how long, and the campaign lets the machine and the people act until something has
 * come, or until that time has passed: on the campaign's clock, which is the program's, too.
 * Nothing is written to a disk in earnest.
 */
#undef _FORTIFY_SOURCE		/* it would define poll() itself */
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lockstep.h"

static uint64_t now_us = LOCKSTEP_BEGIN;
static uint64_t random_state;

static int poll_now(struct pollfd *fds, nfds_t count)
{
	static const struct timespec at_once;

	return (int)syscall(SYS_ppoll, fds, count, &at_once, NULL, 0);
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	struct lockstep_answer answer;
	int32_t left = timeout_ms;
	uint64_t begin = now_us;
	int ret;

	for (;;) {
		ret = poll_now(fds, count);
		if (ret || !timeout_ms)
			return ret;
		if (write(LOCKSTEP_FD, &left, sizeof(left)) != sizeof(left) ||
		    read(LOCKSTEP_FD, &answer, sizeof(answer)) != sizeof(answer))
			_exit(99);
		now_us = answer.now_us;
		if (timeout_ms < 0)
			continue;
		left = timeout_ms - (int32_t)((now_us - begin) / 1000);
		if (left <= 0)
			return poll_now(fds, count);
	}
}

int __poll_chk(struct pollfd *fds, nfds_t count, int timeout_ms, size_t size);
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout_ms, size_t size)
{
	(void)size;
	return poll(fds, count, timeout_ms);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	now_us++;	/* so that a wait for it without poll() ends */
	now->tv_sec = (time_t)(now_us / 1000000);
	now->tv_nsec = (long)(now_us % 1000000 * 1000);
	return 0;
}

/* Plan numbers: seeded, so that a transfer that is altered is altered the same way again. */
ssize_t getrandom(void *buf, size_t size, unsigned int flags)
{
	const char *seed = getenv(LOCKSTEP_SEED);
	uint8_t *p = buf;
	size_t n;

	(void)flags;
	if (!random_state)
		random_state = seed ? strtoull(seed, NULL, 10) | 1 : 1;
	for (n = 0; n < size; n++) {
		random_state = random_state * 6364136223846793005u + 1442695040888963407u;
		p[n] = (uint8_t)(random_state >> 56);
	}
	return (ssize_t)size;
}

int fsync(int fd)
{
	return fcntl(fd, F_GETFD) < 0 ? -1 : 0;
}
