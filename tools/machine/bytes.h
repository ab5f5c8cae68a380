/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Little-endian numbers at any address: a Cortex-M0 cannot load unaligned words. */
#ifndef MACHINE_BYTES_H
#define MACHINE_BYTES_H

#include <stdint.h>

static inline void put_u16(uint8_t *at, uint16_t value)
{
	at[0] = (uint8_t)value;
	at[1] = (uint8_t)(value >> 8);
}

static inline void put_u32(uint8_t *at, uint32_t value)
{
	put_u16(at, (uint16_t)value);
	put_u16(at + 2, (uint16_t)(value >> 16));
}

static inline uint16_t get_u16(const uint8_t *at)
{
	return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t get_u32(const uint8_t *at)
{
	return get_u16(at) | (uint32_t)get_u16(at + 2) << 16;
}

#endif
