/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef DEALBOX_SHIM_CRC32_H
#define DEALBOX_SHIM_CRC32_H

#include <linux/types.h>

/* CRC-32C of size bytes, going on from crc; neither end is inverted, as in the kernel. */
static inline u32 crc32c(u32 crc, const void *data, size_t size)
{
	const u8 *bytes = data;
	int bit;

	/* 0x82f63b78 is the polynomial 1edc6f41 with its bits reflected */
	while (size--) {
		crc ^= *bytes++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return crc;
}

#endif
