// SPDX-License-Identifier: LGPL-2.1-or-later
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "clock.h"

/* what a clock that is read twice, and a transfer on its way, may be wrong at least */
#define UNCERTAIN_US	1000

uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/*
 * A thread sleeps for a ms again and again. How late it wakes is how late this program, or the
 * machine's controller on this computer, may have seen what it measures.
 */
static _Atomic uint64_t latest_us;

static void *watch_lateness(void *unused)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	(void)unused;
	for (;;) {
		uint64_t began = now_us(), late;

		clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, NULL);
		late = now_us() - began - 1000;
		if (late > atomic_load(&latest_us))
			atomic_store(&latest_us, late);
	}
	return NULL;
}

bool clock_watch(void)
{
	pthread_t thread;

	return !pthread_create(&thread, NULL, watch_lateness, NULL);
}

void uncertainty_begin(void)
{
	atomic_store(&latest_us, 0);
}

double uncertainty_us(void)
{
	return (double)atomic_load(&latest_us) + UNCERTAIN_US;
}
