/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Space in public structures that is reserved for later versions. Not exported. */
#ifndef RESERVED_H
#define RESERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns true if the reserved space is not 0. A function that takes such a structure refuses it:
 * its program may mean something by it that only a later library knows.
 */
static inline bool reserved_used(const uint32_t *reserved, size_t count)
{
	uint32_t used = 0;

	for (size_t n = 0; n < count; n++)
		used |= reserved[n];
	return used;
}

#define RESERVED_USED(structure) \
	reserved_used((structure)->reserved, \
		      sizeof((structure)->reserved) / sizeof((structure)->reserved[0]))

#endif
