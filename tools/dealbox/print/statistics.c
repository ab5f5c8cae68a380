// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <string.h>

#include "statistics.h"

#define HAND		13
#define HONOURS		16
#define SHAPES		39	/* of hands, whatever the order of the suits */
#define WORTH_A_ROW	0.5	/* expected hands */

static double choose(unsigned int n, unsigned int k)
{
	double ways = 1;

	if (k > n)
		return 0;
	for (unsigned int i = 1; i <= k; i++)
		ways = ways * (n - k + i) / i;
	return ways;
}

double statistics_points_chance(unsigned int points)
{
	double ways = 0;

	for (unsigned int a = 0; a <= 4; a++)
		for (unsigned int k = 0; k <= 4; k++)
			for (unsigned int q = 0; q <= 4; q++)
				for (unsigned int j = 0; j <= 4; j++)
					if (4 * a + 3 * k + 2 * q + j == points &&
					    a + k + q + j <= HAND)
						ways += choose(4, a) * choose(4, k) * choose(4, q) *
							choose(4, j) *
							choose(DEALBOX_CARDS - HONOURS,
							       HAND - a - k - q - j);
	return ways / choose(DEALBOX_CARDS, HAND);
}

/* How many orders the lengths have. They are sorted. */
static double orders(const unsigned int lengths[4])
{
	double ways = 24;
	unsigned int same = 1;

	for (int i = 1; i < 4; i++) {
		same = lengths[i] == lengths[i - 1] ? same + 1 : 1;
		ways /= same;
	}
	return ways;
}

double statistics_shape_chance(const unsigned int lengths[4])
{
	double ways = orders(lengths);

	for (int suit = 0; suit < 4; suit++)
		ways *= choose(HAND, lengths[suit]);
	return ways / choose(DEALBOX_CARDS, HAND);
}

struct shape {
	unsigned int lengths[4];	/* longest first */
	unsigned int hands[4];		/* of each seat */
	double chance;
};

struct counts {
	struct shape shapes[SHAPES];
	size_t shapes_count;
	unsigned int points[4][41];	/* of each seat, hands */
	unsigned int sum[4];		/* of points */
	unsigned int hands[4];
};

/* All shapes, the most frequent first. */
static void shapes_fill(struct counts *counts)
{
	for (unsigned int a = 0; a <= HAND; a++)
		for (unsigned int b = 0; b <= a && a + b <= HAND; b++)
			for (unsigned int c = 0; c <= b && a + b + c <= HAND; c++) {
				const unsigned int d = HAND - a - b - c;
				struct shape shape = { .lengths = { a, b, c, d } };
				size_t at = counts->shapes_count;

				if (d > c)
					continue;
				shape.chance = statistics_shape_chance(shape.lengths);
				for (; at && counts->shapes[at - 1].chance < shape.chance; at--)
					counts->shapes[at] = counts->shapes[at - 1];
				counts->shapes[at] = shape;
				counts->shapes_count++;
			}
}

static void lengths_of(dealbox_cards hand, unsigned int lengths[4])
{
	for (int suit = 0; suit < 4; suit++) {
		const unsigned int length = dealbox_cards_count(hand >> (HAND * suit) & 0x1fff);
		int at = suit;

		for (; at && lengths[at - 1] < length; at--)
			lengths[at] = lengths[at - 1];
		lengths[at] = length;
	}
}

static void hand_count(struct counts *counts, int seat, dealbox_cards hand)
{
	const unsigned int points = sheet_points(hand);
	unsigned int lengths[4] = { 0 };

	counts->points[seat][points]++;
	counts->sum[seat] += points;
	counts->hands[seat]++;
	lengths_of(hand, lengths);
	for (size_t i = 0; i < counts->shapes_count; i++)
		if (!memcmp(counts->shapes[i].lengths, lengths, sizeof(lengths)))
			counts->shapes[i].hands[seat]++;
}

static void names_add(struct rows *rows, const struct words *words, const char *first)
{
	rows_begin(rows, ROW_NAMES);
	rows_cell(rows, "%s", first);
	for (int seat = 0; seat < 4; seat++)
		rows_cell(rows, "%s", words->seat_names[seat]);
	rows_cell(rows, "%s", words->all);
	rows_cell(rows, "%s", words->expected);
}

static void row_add(struct rows *rows, const char *name, const unsigned int hands[4],
		    double expected)
{
	unsigned int all = 0;

	rows_begin(rows, ROW_CELLS);
	rows_cell(rows, "%s", name);
	for (int seat = 0; seat < 4; seat++) {
		rows_cell(rows, "%u", hands[seat]);
		all += hands[seat];
	}
	rows_cell(rows, "%u", all);
	rows_cell(rows, "%.1f", expected);
}

static void means_add(struct rows *rows, const struct counts *counts, const struct words *words)
{
	unsigned int sum = 0, hands = 0;

	rows_begin(rows, ROW_CELLS);
	rows_cell(rows, "%s", words->mean);
	for (int seat = 0; seat < 4; seat++) {
		rows_cell(rows, "%.2f",
			  counts->hands[seat] ? 1.0 * counts->sum[seat] / counts->hands[seat] : 0);
		sum += counts->sum[seat];
		hands += counts->hands[seat];
	}
	rows_cell(rows, "%.2f", hands ? 1.0 * sum / hands : 0);
	rows_cell(rows, "10.00");
}

static void points_add(struct rows *rows, const struct counts *counts, unsigned int hands)
{
	static const struct {
		unsigned int from, to;
	} ranges[] = { { 0, 3 }, { 4, 6 }, { 7, 9 }, { 10, 12 }, { 13, 15 }, { 16, 18 }, { 19, 21 },
		       { 22, 37 } };
	char name[16];

	for (size_t r = 0; r < sizeof(ranges) / sizeof(*ranges); r++) {
		unsigned int found[4] = { 0 };
		double chance = 0;

		for (unsigned int points = ranges[r].from; points <= ranges[r].to; points++) {
			for (int seat = 0; seat < 4; seat++)
				found[seat] += counts->points[seat][points];
			chance += statistics_points_chance(points);
		}
		snprintf(name, sizeof(name), "%u–%u", ranges[r].from, ranges[r].to);
		row_add(rows, name, found, chance * hands);
	}
}

static void shapes_add(struct rows *rows, const struct counts *counts, unsigned int hands)
{
	char name[32];

	for (size_t i = 0; i < counts->shapes_count; i++) {
		const struct shape *shape = &counts->shapes[i];
		const unsigned int *found = shape->hands;

		if (shape->chance * hands < WORTH_A_ROW &&
		    !(found[0] + found[1] + found[2] + found[3]))
			continue;
		snprintf(name, sizeof(name), "%u-%u-%u-%u", shape->lengths[0], shape->lengths[1],
			 shape->lengths[2], shape->lengths[3]);
		row_add(rows, name, found, shape->chance * hands);
	}
}

void statistics_add(struct rows *rows, const struct sheet *sheet)
{
	struct counts counts = { 0 };
	unsigned int hands = 0;

	shapes_fill(&counts);
	for (size_t i = 0; i < sheet->count; i++)
		for (int seat = 0; seat < DEALBOX_HANDS; seat++)
			if (sheet_hand_known(sheet, &sheet->boards[i], seat)) {
				hand_count(&counts, seat, sheet->boards[i].deal.hand[seat]);
				hands++;
			}
	rows_begin(rows, ROW_HEADING);
	rows_cell(rows, "%s", sheet->words->points);
	names_add(rows, sheet->words, "");
	means_add(rows, &counts, sheet->words);
	points_add(rows, &counts, hands);
	rows_begin(rows, ROW_HEADING);
	rows_cell(rows, "%s", sheet->words->shapes);
	names_add(rows, sheet->words, "");
	shapes_add(rows, &counts, hands);
	explicit_bzero(&counts, sizeof(counts));
}
