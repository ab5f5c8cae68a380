// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Preloaded: the time of day is a day ahead, as on a PC with a battery that is empty. If
 * DEALBOX_CLOCK_BACK names a file, it is right until there is that file, and then a day behind.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define DAY	86400

#define EXPORTED	__attribute__((visibility("default")))

static time_t offset(void)
{
	const char *file = getenv("DEALBOX_CLOCK_BACK");

	return !file ? DAY : access(file, F_OK) ? 0 : -DAY;
}

EXPORTED int clock_gettime(clockid_t clock, struct timespec *now)
{
	int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
	int err = real(clock, now);

	if (!err && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		now->tv_sec += offset();
	return err;
}

EXPORTED time_t time(time_t *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

EXPORTED int gettimeofday(struct timeval *now, void *zone)
{
	struct timespec real;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &real);
	*now = (struct timeval) { real.tv_sec, real.tv_nsec / 1000 };
	return 0;
}
