// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * When libdds is loaded, it multiplies the pages of the computer by their size, in a long. Where a
 * long has 32 bits, that overflows from 2 GB on, and libdds aborts. What it may use is said later,
 * by SetResources(), so here it learns of 1 GB at most.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <unistd.h>

#if LONG_MAX == INT32_MAX
#define PAGES_MAX	((1L << 30) / sysconf(_SC_PAGESIZE))

__attribute__((visibility("default"))) long sysconf(int name)
{
	long (*real)(int) = dlsym(RTLD_NEXT, "sysconf");
	long value = real(name);

	return name == _SC_PHYS_PAGES && value > PAGES_MAX ? PAGES_MAX : value;
}
#endif
