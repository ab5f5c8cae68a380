/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* Declarations for all fuzz targets. */
#ifndef DEALBOX_FUZZ_H
#define DEALBOX_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)							\
	do {									\
		if (!(condition)) {						\
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();						\
		}								\
	} while (0)

static inline uint8_t *memdup(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	CHECK(copy);
	memcpy(copy, data, size);
	return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
