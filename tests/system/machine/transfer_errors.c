// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Preloaded into dealbox-machine, this lets each third transfer of its endpoints fail with EIO,
 * before the controller has it. Such errors are those of a controller, and dummy_hcd has none.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/aio_abi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define VISIBLE __attribute__((visibility("default")))
#define EACH	3
#define MOST	8

/* It stands before that of libc, whose arguments depend on the number. */
VISIBLE long syscall(long number, ...);

static struct io_event failed[MOST];
static unsigned int count, submitted, errors;

static long fail(const struct iocb *iocb)
{
	const uint64_t one = 1;

	failed[count++] = (struct io_event){ .data = iocb->aio_data,
					     .obj = (uint64_t)(uintptr_t)iocb, .res = -EIO };
	errors++;
	/* as the kernel would tell it */
	return write((int)iocb->aio_resfd, &one, sizeof(one)) == sizeof(one) ? 1 : -1;
}

VISIBLE long syscall(long number, ...)
{
	long (*const libc)(long number, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long at[6], got = 0;
	va_list args;

	va_start(args, number);
	for (int n = 0; n < 6; n++)
		at[n] = va_arg(args, long);
	va_end(args);
	if (number == SYS_io_submit && count < MOST && ++submitted % EACH == 0)
		return fail(*(struct iocb **)(uintptr_t)at[2]);
	for (; number == SYS_io_getevents && count && got < at[2]; got++)
		((struct io_event *)(uintptr_t)at[3])[got] = failed[--count];
	return got ? got : libc(number, at[0], at[1], at[2], at[3], at[4], at[5]);
}

__attribute__((destructor)) static void print(void)
{
	fprintf(stderr, "%u transfers failed\n", errors);
}
