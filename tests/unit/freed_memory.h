/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory for tests: failing allocations, detection of leaks and of memory that is freed without
 * being wiped. For objects that hold cards; linked with wrap_wiped.
 */
#ifndef TESTS_MEMORY_H
#define TESTS_MEMORY_H

#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_ARRAYS	64

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __real_free(void *memory);
void __wrap_free(void *memory);
void __real_explicit_bzero(void *memory, size_t size);
void __wrap_explicit_bzero(void *memory, size_t size);

static struct {
	unsigned int fails_at;		/* the allocation to fail: 1 = the next, 0 = none */
	long blocks;			/* allocated and not freed */
	unsigned int unwiped;		/* arrays that were freed without being wiped */
	size_t wiped;			/* most bytes that were wiped at once */
	struct { void *start; size_t size; } arrays[MEMORY_ARRAYS];
} memory_seen;

void *__wrap_calloc(size_t count, size_t size)
{
	void *memory;

	if (memory_seen.fails_at && !--memory_seen.fails_at)
		return NULL;
	memory = __real_calloc(count, size);
	memory_seen.blocks += memory != NULL;
	for (size_t i = 0; memory && count > 1 && i < MEMORY_ARRAYS; i++)
		if (!memory_seen.arrays[i].start) {
			memory_seen.arrays[i].start = memory;
			memory_seen.arrays[i].size = count * size;
			break;
		}
	return memory;
}

/* Always moves the block, and does not zero new memory. */
void *__wrap_realloc(void *memory, size_t size)
{
	size_t before = memory ? malloc_usable_size(memory) : 0;
	void *grown;

	if (memory_seen.fails_at && !--memory_seen.fails_at)
		return NULL;
	grown = __real_realloc(NULL, size);
	if (!grown)
		return NULL;
	memset(grown, 0xa5, size);
	if (memory)
		memcpy(grown, memory, before < size ? before : size);
	memory_seen.blocks++;
	free(memory);
	return grown;
}

void __wrap_free(void *memory)
{
	for (size_t i = 0; memory && i < MEMORY_ARRAYS; i++) {
		const char *bytes = memory_seen.arrays[i].start;

		if (bytes != memory)
			continue;
		for (size_t n = 0; n < memory_seen.arrays[i].size; n++)
			if (bytes[n]) {
				memory_seen.unwiped++;
				break;
			}
		memory_seen.arrays[i].start = NULL;
	}
	memory_seen.blocks -= memory != NULL;
	__real_free(memory);
}

void __wrap_explicit_bzero(void *memory, size_t size)
{
	if (size > memory_seen.wiped)
		memory_seen.wiped = size;
	__real_explicit_bzero(memory, size);
}

#endif
