// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Preloaded (LD_PRELOAD) into the program that deals, so that program and campaign become one
 * reproducible computation. When the program waits, it tells the campaign for how long, and the
 * campaign lets the machine and the people act until an event comes or the time has passed, on
 * the campaign's clock, which is the program's, too. fsync() does nothing.
 *
 * The program has a second thread, which deals. Only one of the two runs at a time: it hands over
 * when it waits. When both wait, the campaign lets time pass.
 */
#undef _FORTIFY_SOURCE		/* it would define poll() itself */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
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

/* -- two threads --------------------------------------------------- */

#define FOREVER	UINT64_MAX

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t handed_over = PTHREAD_COND_INITIALIZER;
static __thread unsigned int me;	/* 0: the first one */
static unsigned int turn;		/* the thread that runs */

static struct side {
	bool there;
		bool waits;		/* and nothing has happened since its last look */
	uint64_t until;		/* us */
} sides[2] = { { .there = true } };

/* Let the other thread run until it hands over. The caller holds the lock. */
static void hand_over(void)
{
	turn = !me;
	pthread_cond_broadcast(&handed_over);
	while (turn != me)
		pthread_cond_wait(&handed_over, &lock);
}

/* Let the campaign pass time, as long as neither thread has anything to do. */
static void pass_time(void)
{
	uint64_t until = sides[me].until;
	struct lockstep_answer answer;
	int32_t left = -1;

	if (sides[!me].there && sides[!me].until < until)
		until = sides[!me].until;
	if (until != FOREVER)
		left = until > now_us ? (int32_t)((until - now_us + 999) / 1000) : 0;
	if (write(LOCKSTEP_FD, &left, sizeof(left)) != sizeof(left) ||
	    read(LOCKSTEP_FD, &answer, sizeof(answer)) != sizeof(answer))
		_exit(99);
	now_us = answer.now_us;
	sides[0].waits = sides[1].waits = false;
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	int ret = poll_now(fds, count);

	if (ret || !timeout_ms)
		return ret;
	pthread_mutex_lock(&lock);
	sides[me].until = timeout_ms < 0 ? FOREVER : now_us + (uint64_t)timeout_ms * 1000;
	while (!(ret = poll_now(fds, count)) && now_us < sides[me].until) {
		sides[me].waits = true;
		if (sides[!me].there && !sides[!me].waits)
			hand_over();
		else
			pass_time();
	}
	/* the other thread may be waiting for what this one does now */
	sides[0].waits = sides[1].waits = false;
	pthread_mutex_unlock(&lock);
	return ret;
}

struct beginning {
	void *(*run)(void *context);
	void *context;
};

static void *begin(void *context)
{
	struct beginning beginning = *(struct beginning *)context;
	void *result;

	free(context);
	me = 1;
	pthread_mutex_lock(&lock);
	while (turn != me)
		pthread_cond_wait(&handed_over, &lock);
	pthread_mutex_unlock(&lock);
	result = beginning.run(beginning.context);
	pthread_mutex_lock(&lock);
	sides[me].there = false;
	turn = 0;
	pthread_cond_broadcast(&handed_over);
	pthread_mutex_unlock(&lock);
	return result;
}

typedef int create_fn(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *context),
		      void *context);
typedef int join_fn(pthread_t thread, void **result);

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *context),
		   void *context)
{
	create_fn *create = (create_fn *)dlsym(RTLD_NEXT, "pthread_create");
	struct beginning *beginning = malloc(sizeof(*beginning));

	*beginning = (struct beginning){ run, context };
	sides[1] = (struct side){ .there = true };
	return create(thread, attr, begin, beginning);
}

int pthread_join(pthread_t thread, void **result)
{
	join_fn *join = (join_fn *)dlsym(RTLD_NEXT, "pthread_join");

	pthread_mutex_lock(&lock);
	sides[me].until = FOREVER;
	while (sides[!me].there) {
		sides[me].waits = true;
		hand_over();
	}
	pthread_mutex_unlock(&lock);
	return join(thread, result);
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
	now_us++;	/* so that busy waits on the clock end */
	now->tv_sec = (time_t)(now_us / 1000000);
	now->tv_nsec = (long)(now_us % 1000000 * 1000);
	return 0;
}

/* Plan numbers are seeded, so that transfers are corrupted in a reproducible way. */
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

int fdatasync(int fd)
{
	return fsync(fd);
}
