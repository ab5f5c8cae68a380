/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included first for kernels whose <linux/crc32.h> has no crc32c(). The
 * crc32c() of these kernels is in a separate module, which may not be loaded;
 * the equivalent __crc32c_le() is built in.
 */
#ifndef DEALBOX_COMPAT_CRC32C_H
#define DEALBOX_COMPAT_CRC32C_H

#include <linux/crc32.h>

static inline u32 crc32c(u32 crc, const void *data, size_t size)
{
	return __crc32c_le(crc, data, size);
}

#endif
