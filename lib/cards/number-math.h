/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arithmetic of 128 bits on numbers of deals, for every compiler of C11: those of 32-bit processors
 * have no integer that is wider than 64 bits. Pure; sums and products are modulo 2^128.
 */
#ifndef NUMBER_MATH_H
#define NUMBER_MATH_H

#include <stdbool.h>
#include <stdint.h>

#include <dealbox/number.h>

static inline struct dealbox_number number_from(uint64_t high, uint64_t low)
{
	return (struct dealbox_number){ high, low };
}

static inline bool number_below(struct dealbox_number a, struct dealbox_number b)
{
	return (a.high < b.high) | ((a.high == b.high) & (a.low < b.low));
}

static inline struct dealbox_number number_add(struct dealbox_number a, struct dealbox_number b)
{
	const uint64_t low = a.low + b.low;

	return number_from(a.high + b.high + (low < a.low), low);
}

static inline struct dealbox_number number_subtract(struct dealbox_number a,
						    struct dealbox_number b)
{
	const uint64_t low = a.low - b.low;

	return number_from(a.high - b.high - (low > a.low), low);
}

/* Shift by 1 to 63 bits. */
static inline struct dealbox_number number_left(struct dealbox_number a, unsigned int bits)
{
	return number_from(a.high << bits | a.low >> (64 - bits), a.low << bits);
}

/* Shift by 0 to 63 bits. */
static inline struct dealbox_number number_right(struct dealbox_number a, unsigned int bits)
{
	/* twice, because a shift by 64 is none */
	return number_from(a.high >> bits, a.low >> bits | a.high << 1 << (63 - bits));
}

/* The whole product, from those of the halves; the middle sums cannot overflow. */
static inline struct dealbox_number number_product(uint64_t a, uint64_t b)
{
	const uint64_t a_high = a >> 32, a_low = (uint32_t)a;
	const uint64_t b_high = b >> 32, b_low = (uint32_t)b;
	const uint64_t low = a_low * b_low;
	const uint64_t middle = a_high * b_low + (low >> 32);
	const uint64_t other = a_low * b_high + (uint32_t)middle;

	return number_from(a_high * b_high + (middle >> 32) + (other >> 32),
			   other << 32 | (uint32_t)low);
}

/* The upper half of a product without some carries: at most 2 too small. */
static inline uint64_t number_upper(uint64_t a, uint64_t b)
{
	const uint64_t a_high = a >> 32, a_low = (uint32_t)a;
	const uint64_t b_high = b >> 32, b_low = (uint32_t)b;

	return a_high * b_high + (a_high * b_low >> 32) + (a_low * b_high >> 32);
}

/* The product with a small number, below 2^32 */
static inline struct dealbox_number number_times(struct dealbox_number a, uint64_t small)
{
	const uint64_t low = (uint32_t)a.low * small;
	const uint64_t middle = (a.low >> 32) * small + (low >> 32);

	return number_from(a.high * small + (middle >> 32), middle << 32 | (uint32_t)low);
}

static inline struct dealbox_number number_multiply(struct dealbox_number a,
						    struct dealbox_number b)
{
	struct dealbox_number product = number_product(a.low, b.low);

	product.high += a.high * b.low + a.low * b.high;
	return product;
}

/* The nearest double, but for a part of 2^-52. */
static inline double number_double(struct dealbox_number a)
{
	return (double)a.high * 0x1p64 + (double)a.low;
}

/*
 * Divide where the quotient is below 2^48 and by is not 0 and below 2^126. Doubles give a quotient
 * that is at most one too large or too small, in whatever way they are rounded. The remainder goes
 * to *rest.
 */
static inline uint64_t number_quotient(struct dealbox_number a, struct dealbox_number by,
				       struct dealbox_number *rest)
{
	uint64_t quotient = (uint64_t)(int64_t)(number_double(a) / number_double(by));
	struct dealbox_number left =
		number_subtract(a, number_multiply(number_from(0, quotient), by));

	if (left.high >> 63) {
		quotient--;
		left = number_add(left, by);
	} else if (!number_below(left, by)) {
		quotient++;
		left = number_subtract(left, by);
	}
	*rest = left;
	return quotient;
}

/* Divide by anything from 1 to 2^95, digit by digit of 32 bits. */
static inline struct dealbox_number number_divide(struct dealbox_number a,
						  struct dealbox_number by,
						  struct dealbox_number *rest)
{
	struct dealbox_number quotient = { 0, 0 }, left = { 0, 0 };

	for (int digit = 0; digit < 4; digit++) {
		const uint64_t half = digit < 2 ? a.high : a.low;

		left = number_left(left, 32);
		left.low |= (uint32_t)(half >> (digit % 2 ? 0 : 32));
		quotient = number_left(quotient, 32);
		quotient.low |= number_quotient(left, by, &left);
	}
	*rest = left;
	return quotient;
}

#endif
