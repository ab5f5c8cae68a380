// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calculates with numbers of deals, for number_math.py: of each line with two of them, in
 * hexadecimal digits, prints the results of all operations.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cards/number-math.h"

static void number_say(struct dealbox_number number)
{
	printf("%016" PRIx64 "%016" PRIx64 " ", number.high, number.low);
}

int main(void)
{
	struct dealbox_number a, b, rest;
	unsigned int bits;

	while (scanf("%16" SCNx64 "%16" SCNx64 " %16" SCNx64 "%16" SCNx64 " %u", &a.high, &a.low,
		     &b.high, &b.low, &bits) == 5) {
		number_say(number_add(a, b));
		number_say(number_subtract(a, b));
		number_say(number_product(a.low, b.low));
		number_say(number_multiply(a, b));
		number_say(number_times(a, (uint32_t)b.low));
		number_say(number_from(0, number_upper(a.low, b.low)));
		number_say(number_left(a, bits));
		number_say(number_right(a, bits));
		number_say(number_from(0, number_below(a, b)));
		number_say(number_divide(a, b, &rest));
		number_say(rest);
		printf("\n");
	}
	return 0;
}
