/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* The kernel's types. User space has those of the ABI already. */
#ifndef DEALBOX_SHIM_TYPES_H
#define DEALBOX_SHIM_TYPES_H

#include_next <linux/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define U8_MAX	UINT8_MAX
#define U16_MAX	UINT16_MAX
#define U32_MAX	UINT32_MAX

#endif
