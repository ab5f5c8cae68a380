/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef DEALBOX_SHIM_STRING_H
#define DEALBOX_SHIM_STRING_H

#include <stddef.h>
#include <string.h>

#define memzero_explicit explicit_bzero

/* The first byte that is not c; NULL: they all are. */
static inline void *memchr_inv(const void *data, int c, size_t size)
{
	const unsigned char *bytes = data;

	for (; size; bytes++, size--)
		if (*bytes != (unsigned char)c)
			return (void *)bytes;
	return NULL;
}

#endif
