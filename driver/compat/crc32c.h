/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before everything else where <linux/crc32.h> has no crc32c(). Those
 * kernels have one in a module of its own, which may not be loaded; the function
 * that does the same is built in.
 */
#ifndef DEALBOX_COMPAT_CRC32C_H
#define DEALBOX_COMPAT_CRC32C_H

#include <linux/crc32.h>

static inline u32 crc32c(u32 crc, const void *data, size_t size)
{
	return __crc32c_le(crc, data, size);
}

#endif
