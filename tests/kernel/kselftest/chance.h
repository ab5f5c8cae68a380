/* SPDX-License-Identifier: GPL-2.0-only */
/* Random choices: the same for the same state, everywhere. */
#ifndef TEST_CHANCE_H
#define TEST_CHANCE_H

#include <stdint.h>

/* splitmix64 */
static inline uint64_t chance(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* 0..n-1; n is not 0 */
static inline uint32_t below(uint64_t *state, uint32_t n)
{
	return chance(state) % n;
}

#endif
