// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes number-tables.h, the constant tables of number.c. Run by the build.
 *
 * They are made here because nobody could review thousands of numbers, and at build time
 * because the library keeps no state that it would have to set up.
 */
#include <stdint.h>
#include <stdio.h>

#include "number-math.h"

#define PACK	52
#define HAND	13
#define BUCKETS	(32 * 36)	/* ranks of hands lie below C(52, 13) < 2^40 */

static uint64_t choose[PACK + 1][PACK + 1];	/* [k][n] */

static void pascal(void)
{
	for (int n = 0; n <= PACK; n++) {
		choose[0][n] = choose[n][n] = 1;
		for (int k = 1; k < n; k++)
			choose[k][n] = choose[k][n - 1] + choose[k - 1][n - 1];
	}
}

/*
 * The lowest rank in a bucket. Of rank + 32, which has no ranks below 32 to treat otherwise,
 * there are 32 buckets for each power of two.
 */
static uint64_t bucket_start(int bucket)
{
	return ((32ULL + bucket % 32) << bucket / 32) - 32;
}

static void words(const char *name, uint64_t (*entry)(int byte))
{
	printf("static const uint64_t %s[256] = {\n", name);
	for (int byte = 0; byte < 256; byte++)
		printf("0x%llxULL,%c", (unsigned long long)entry(byte), byte % 4 == 3 ? '\n' : ' ');
	puts("};");
}

static uint64_t members(int byte)
{
	uint64_t v = 0;

	for (int bit = 0, n = 0; bit < 8; bit++)
		if (byte >> bit & 1)
			v |= (uint64_t)bit << 8 * n++;
	return v;
}

static uint64_t below(int byte)
{
	uint64_t v = 0;

	for (int bit = 0, n = 0; bit < 8; n += byte >> bit++ & 1)
		v |= (uint64_t)n << 8 * bit;
	return v;
}

#define NARROW		32	/* left is then below 2^5 */
#define HEAD_CARDS	4
#define HEADS		(1 << 2 * HEAD_CARDS)
#define HEAD_BUCKET	86	/* buckets of 2^86 numbers: none of the heads has so few */

/* left / ways * 2^203, digit by digit: the remainder is below 2^96 */
static struct dealbox_number head_ratio(unsigned int left, struct dealbox_number ways)
{
	struct dealbox_number share = { 0, 0 }, rest = { 0, 0 };

	for (int bit = 208; bit >= 0; bit--) {
		rest = number_left(rest, 1);
		rest.low |= bit >= 203 && left >> (bit - 203) & 1;
		share = number_left(share, 1);
		if (number_below(rest, ways))
			continue;
		share.low |= 1;
		rest = number_subtract(rest, ways);
	}
	return share;
}

/* All ways to give out the first cards, in order, and by buckets the last that starts below */
static void heads(void)
{
	const struct dealbox_number deals =
		number_product(choose[13][52], choose[13][39] * choose[13][26]);
	static struct dealbox_number start[HEADS + 1];

	printf("#define HEAD_CARDS\t%d\n#define HEAD_BUCKET\t%d\n", HEAD_CARDS, HEAD_BUCKET);
	puts("#define HEAD_SHIFT\t38\t/* 2 * rest of the number + 1 "
	     "becomes a factor of the ratio */");
	puts("/* the number that starts it, left / ways * 2^203, what the seats still want */");
	puts("struct head {\n\tuint64_t start_high, start_low, ratio_high, ratio_low;\n"
	     "\tuint8_t want[4], low, high;\n};");
	printf("static const struct head heads[%d] = {\n", HEADS + 1);
	for (int head = 0; head < HEADS; head++) {
		unsigned int want[4] = { HAND, HAND, HAND, HAND }, left = PACK, low = 0, high = 0;
		struct dealbox_number ways = deals, ratio;

		for (unsigned int card = 0; card < HEAD_CARDS; card++) {
			const unsigned int seat =
				(unsigned int)head >> 2 * (HEAD_CARDS - 1 - card) & 3;

			ways = number_multiply(ways, number_from(0, want[seat]--));
			ways = number_divide(ways, number_from(0, left--), &ratio);
			low |= (seat & 1) << card;
			high |= (seat >> 1) << card;
		}
		start[head + 1] = number_add(start[head], ways);
		ratio = head_ratio(left, ways);
		printf("\t{ 0x%llxULL, 0x%llxULL, 0x%llxULL, 0x%llxULL, "
		       "{ %u, %u, %u, %u }, %u, %u },\n",
		       (unsigned long long)start[head].high, (unsigned long long)start[head].low,
		       (unsigned long long)ratio.high, (unsigned long long)ratio.low,
		       want[0], want[1], want[2], want[3], low, high);
	}
	/* behind the last one */
	printf("\t{ 0x%llxULL, 0x%llxULL },\n};\n", (unsigned long long)deals.high,
	       (unsigned long long)deals.low);

	puts("static const uint8_t head_guess[] = {");
	for (int head = 0, bucket = 0;; bucket++) {
		const struct dealbox_number first =
			number_from((uint64_t)bucket << (HEAD_BUCKET - 64), 0);

		if (!number_below(first, deals))
			break;
		while (!number_below(first, start[head + 1]))
			head++;
		printf("%d,", head);
	}
	puts("};");
}

#define TAIL_CARDS	7
#define TAIL_SEATS	(TAIL_CARDS + 1)

/* All ways to give out the last cards to seats that want so many, in order; returns how many */
static unsigned int tail_print(unsigned int want[4], unsigned int card, unsigned int owner)
{
	unsigned int ways = 0;

	if (card == TAIL_CARDS) {
		printf("%u,", owner);
		return 1;
	}
	for (unsigned int seat = 0; seat < 4; seat++) {
		if (!want[seat])
			continue;
		want[seat]--;
		ways += tail_print(want, card + 1,
				   owner | (seat & 1) << card | (seat >> 1) << (8 + card));
		want[seat]++;
	}
	return ways;
}

static void tails(void)
{
	static unsigned int first[TAIL_SEATS][TAIL_SEATS][TAIL_SEATS],
		ways[TAIL_SEATS][TAIL_SEATS][TAIL_SEATS];
	unsigned int count = 0;

	printf("#define TAIL_CARDS\t%d\n", TAIL_CARDS);
	puts("/* the owners of the last cards: low bits of the seats, "
	     "high bits in the upper byte */");
	puts("static const uint16_t tail_owners[] = {");
	for (unsigned int n = 0; n <= TAIL_CARDS; n++)
		for (unsigned int e = 0; n + e <= TAIL_CARDS; e++)
			for (unsigned int s = 0; n + e + s <= TAIL_CARDS; s++) {
				unsigned int want[4] = { n, e, s, TAIL_CARDS - n - e - s };

				first[n][e][s] = count;
				ways[n][e][s] = tail_print(want, 0, 0);
				count += ways[n][e][s];
			}
	puts("};");
	puts("/* where they are, by what N, E and S want */");
	puts("struct tail {\n\tuint16_t first, ways;\n};");
	printf("static const struct tail tails[%d][%d][%d] = {\n", TAIL_SEATS, TAIL_SEATS,
	       TAIL_SEATS);
	for (unsigned int n = 0; n <= TAIL_CARDS; n++)
		for (unsigned int e = 0; n + e <= TAIL_CARDS; e++)
			for (unsigned int s = 0; n + e + s <= TAIL_CARDS; s++)
				printf("\t[%u][%u][%u] = { %u, %u },\n", n, e, s, first[n][e][s],
				       ways[n][e][s]);
	puts("};");
}

int main(void)
{
	pascal();
	puts("/* generated by gen-number.c */");

	puts("/* choose[k][n]: how many ways to take k cards of n */");
	printf("static const uint64_t choose[%d][%d] = {\n", HAND + 1, PACK + 1);
	for (int k = 0; k <= HAND; k++) {
		printf("\t{ ");
		for (int n = 0; n <= PACK; n++)
			printf("%lluULL, ", (unsigned long long)choose[k][n]);
		puts("},");
	}
	puts("};");

	/*
	 * The largest p with C(p, k) <= the lowest rank in the bucket. For k >= 2 the next p
	 * starts further on than a bucket is wide, so that for the ranks in it p is right or
	 * one too small; the test walks all of them.
	 */
	printf("static const uint8_t guess[%d][%d] = {\n", HAND + 1, BUCKETS);
	for (int k = 0; k <= HAND; k++) {
		printf("\t{ ");
		for (int bucket = 0; bucket < BUCKETS; bucket++) {
			int p = k ? k - 1 : 0;

			while (k && p + 1 < PACK && choose[k][p + 1] <= bucket_start(bucket))
				p++;
			printf("%d,", p);
		}
		puts(" },");
	}
	puts("};");

	/* by = 2^shift * odd: inverse * odd = 1 modulo 2^128 */
	puts("struct exact_divisor { unsigned int shift; struct dealbox_number inverse; };");
	printf("static const struct exact_divisor exact_divisor[%d] = {\n\t{ 0, { 0, 0 } },\n",
	       PACK + 1);
	for (int by = 1; by <= PACK; by++) {
		const int shift = __builtin_ctz((unsigned int)by);
		const unsigned int odd = (unsigned int)by >> shift;
		/* right in the 3 lowest bits; each round doubles that */
		struct dealbox_number inverse = { 0, odd };

		for (int i = 0; i < 6; i++) {
			const struct dealbox_number one =
				number_multiply(number_from(0, odd), inverse);

			inverse = number_multiply(inverse,
						  number_subtract(number_from(0, 2), one));
		}
		printf("\t{ %d, { 0x%llxULL, 0x%llxULL } },\n", shift,
		       (unsigned long long)inverse.high, (unsigned long long)inverse.low);
	}
	puts("};");

	puts("/* left / want * 2^120, rounded down, in two halves of 63 bits: [left][want] */");
	for (int half = 0; half < 2; half++) {
		printf("static const uint64_t ratio_%s[%d][%d] = {\n", half ? "low" : "high",
		       PACK, HAND + 1);
		for (int left = 0; left < PACK; left++) {
			printf("\t{ 0, ");
			for (int want = 1; want <= HAND; want++) {
				struct dealbox_number rest;
				const struct dealbox_number r =
					number_divide(number_from((uint64_t)left << 56, 0),
						      number_from(0, (unsigned int)want), &rest);

				printf("0x%llxULL, ", (unsigned long long)
				       (half ? r.low & (UINT64_MAX >> 1) :
					       r.high << 1 | r.low >> 63));
			}
			puts("},");
		}
		puts("};");
	}
	puts("/* left / want * 2^59, rounded down, for the last cards: [left][want] */");
	printf("static const uint64_t ratio_narrow[%d][%d] = {\n", NARROW, HAND + 1);
	for (uint64_t left = 0; left < NARROW; left++) {
		printf("\t{ 0, ");
		for (unsigned int want = 1; want <= HAND; want++)
			printf("0x%llxULL, ", (unsigned long long)((left << 59) / want));
		puts("},");
	}
	puts("};");
	heads();
	tails();

	puts("/* which bits of a byte are set, lowest first, each in one byte */");
	words("byte_members", members);
	puts("/* how many bits of a byte are set below bit n, in byte n */");
	words("byte_below", below);
	puts("/* how many bits of a byte are set */");
	puts("static const uint8_t byte_count[256] = {");
	for (int byte = 0; byte < 256; byte++)
		printf("%d,%c", __builtin_popcount(byte), byte % 16 == 15 ? '\n' : ' ');
	puts("};");
	return 0;
}
