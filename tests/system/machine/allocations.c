// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Preloaded into a program whose loop calls ppoll(), this counts the memory that is allocated
 * between two of these calls, by whatever library or thread. Prints the count at the end.
 */
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define VISIBLE __attribute__((visibility("default")))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
VISIBLE void *malloc(size_t size);
VISIBLE void *calloc(size_t count, size_t size);
VISIBLE void *realloc(void *memory, size_t size);

static atomic_ulong allocated;
static unsigned long first, last, rounds;

void *malloc(size_t size)
{
	atomic_fetch_add(&allocated, 1);
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	atomic_fetch_add(&allocated, 1);
	return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	atomic_fetch_add(&allocated, 1);
	return __libc_realloc(memory, size);
}

VISIBLE int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		  const sigset_t *mask)
{
	/* the kernel writes what is left of it */
	struct timespec left = timeout ? *timeout : (struct timespec){ 0 };

	last = atomic_load(&allocated);
	if (!rounds++)
		first = last;
	return (int)syscall(SYS_ppoll, fds, count, timeout ? &left : NULL, mask, _NSIG / 8);
}

__attribute__((destructor)) static void print(void)
{
	fprintf(stderr, "%lu allocations in %lu rounds\n", last - first, rounds);
}
