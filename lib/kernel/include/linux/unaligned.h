/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef DEALBOX_SHIM_UNALIGNED_H
#define DEALBOX_SHIM_UNALIGNED_H

#include <endian.h>
#include <linux/types.h>
#include <string.h>

static inline u16 get_unaligned_le16(const void *p)
{
	u16 value;

	memcpy(&value, p, sizeof(value));
	return le16toh(value);
}

static inline u32 get_unaligned_le32(const void *p)
{
	u32 value;

	memcpy(&value, p, sizeof(value));
	return le32toh(value);
}

static inline void put_unaligned_le16(u16 value, void *p)
{
	value = htole16(value);
	memcpy(p, &value, sizeof(value));
}

static inline void put_unaligned_le32(u32 value, void *p)
{
	value = htole32(value);
	memcpy(p, &value, sizeof(value));
}

#endif
