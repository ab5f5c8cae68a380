// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * bench_reader [CARDS]: what the reader of tools/machine makes of CARDS (1,000,000) synthetic
 * cards.
 *
 * Each card is drawn at random: speed 100 to 10,000 ticks a module, which changes by up to 40 %
 * over the code, and waves by up to 0.05 modules, as a roller does that is not round; bars up to
 * 0.2 modules too wide or narrow; up to 5 degrees askew; jitter of each edge, normal, with a
 * standard deviation of up to 0.08 modules; either direction. A tenth has one of the defects below.
 * Then the same with a jitter that is given. The seed is fixed: two runs give the same counts.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "card_strip.h"

#define PI	3.14159265358979323846

enum defect { SOUND, MODULE_WRONG, MODULE_PART, PULSE, EDGE_LOST, DEFECTS };

static const char *const defect_names[DEFECTS] = {
	"sound", "one module wrong", "part of a module dirty", "short pulse", "two edges lost",
};

struct counts {
	unsigned long cards, right, doubt, nothing, wrong;
	unsigned long far;	/* wrong, and more than one module from the card */
	unsigned long named;	/* doubts that name the card as one that may lie there */
};

static uint64_t state = 0x9e3779b97f4a7c15u;

static double uniform(double from, double to)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return from + (to - from) * (double)(state >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform(1e-300, 1))) * cos(2 * PI * uniform(0, 1));
}

/* Replaces edges so that from .. to has that colour. */
static void paint(struct strip *strip, double from, double to, bool dark)
{
	const struct strip old = *strip;
	unsigned int i;

	strip->count = 0;
	for (i = 0; i < old.count && old.edges[i] < from; i++)
		strip->edges[strip->count++] = old.edges[i];
	if (strip->count % 2 != dark)
		strip->edges[strip->count++] = from;
	for (; i < old.count && old.edges[i] <= to; i++)
		;
	if (i % 2 != dark)
		strip->edges[strip->count++] = to;
	for (; i < old.count; i++)
		strip->edges[strip->count++] = old.edges[i];
}

static void pulse_add(struct strip *strip)
{
	const double at = uniform(0, STRIP_LENGTH), wide = uniform(0.02, 0.3);
	unsigned int i = 0;

	while (i < strip->count && strip->edges[i] < at)
		i++;
	paint(strip, at, at + wide, !(i % 2));
}

static void edges_lose(struct strip *strip)
{
	const unsigned int first = (unsigned int)uniform(0, strip->count - 1);

	memmove(&strip->edges[first], &strip->edges[first + 2],
		(strip->count - first - 2) * sizeof(double));
	strip->count -= 2;
}

static void part_dirty(struct strip *strip, uint16_t code)
{
	const int module = (int)uniform(0, CODE_MODULES);
	const double from = 19.0 / 11 + module, wide = uniform(0.1, 0.9);
	const bool dark = !(code >> (CODE_MODULES - 1 - module) & 1);

	/* from one of its sides */
	if (uniform(0, 1) < 0.5)
		paint(strip, from, from + wide, dark);
	else
		paint(strip, from + 1 - wide, from + 1, dark);
}

static struct strip card_make(uint8_t card, enum defect defect)
{
	uint16_t code = code_of(card);
	struct strip strip;

	if (defect == MODULE_WRONG)
		code ^= (uint16_t)(1 << (int)uniform(0, CODE_MODULES));
	strip = strip_of(code);
	if (defect == MODULE_PART)
		part_dirty(&strip, code);
	if (defect == PULSE)
		pulse_add(&strip);
	if (defect == EDGE_LOST)
		edges_lose(&strip);
	return strip;
}

/* Moves each edge as a machine would see it. Edges stay in order. */
static void disturb(struct strip *strip, double jitter)
{
	const double wave = uniform(0, 0.05), length = uniform(3, 20), phase = uniform(0, 2 * PI);
	const double askew = 1 / cos(uniform(-5, 5) * PI / 180), dark = uniform(-0.2, 0.2);

	for (unsigned int i = 0; i < strip->count; i++) {
		strip->edges[i] = strip->edges[i] * askew +
				  wave * sin(strip->edges[i] / length * 2 * PI + phase) +
				  jitter * normal() + (i % 2 ? 0.5 : -0.5) * dark;
		if (i && strip->edges[i] < strip->edges[i - 1] + 0.01)
			strip->edges[i] = strip->edges[i - 1] + 0.01;
	}
}

static void count_add(struct counts *counts, uint8_t card, const struct reading *reading)
{
	const uint16_t differ = reading->code ^ code_of(card);

	counts->cards++;
	counts->right += reading->result == READER_CARD && reading->card == card;
	counts->doubt += reading->result == READER_DOUBT;
	counts->nothing += reading->result == READER_NOTHING;
	if (reading->result == READER_DOUBT)
		for (unsigned int i = 0; i < reading->near_count; i++)
			counts->named += reading->near[i] == card;
	if (reading->result != READER_CARD || reading->card == card)
		return;
	counts->wrong++;
	counts->far += (differ & (differ - 1)) != 0;
}

static double seconds;	/* in the reader */

static void cards_read(struct counts counts[DEFECTS], unsigned long cards, double jitter,
		       bool defects)
{
	for (unsigned long n = 0; n < cards; n++) {
		const uint8_t card = (uint8_t)uniform(0, CODES);
		const enum defect defect = defects && uniform(0, 1) < 0.1 ?
			(enum defect)uniform(SOUND + 1, DEFECTS) : SOUND;
		const struct pass pass = { pow(10, uniform(2, 4)), uniform(-0.4, 0.4), 0,
					   (uint32_t)state };
		const bool reversed = uniform(0, 1) < 0.5;
		struct strip strip = card_make(card, defect);
		struct timespec begun, ended;
		struct reading reading;

		if (reversed)
			strip_turn(&strip);
		disturb(&strip, jitter < 0 ? uniform(0, 0.08) : jitter);
		clock_gettime(CLOCK_MONOTONIC, &begun);
		reading = strip_read(&strip, &pass, reversed);
		clock_gettime(CLOCK_MONOTONIC, &ended);
		seconds += (double)(ended.tv_sec - begun.tv_sec) +
			   1e-9 * (double)(ended.tv_nsec - begun.tv_nsec);
		count_add(&counts[defect], card, &reading);
	}
}

static void print_counts(const char *name, const struct counts *c)
{
	printf("%-24s %8lu %8lu %8lu %8lu %8lu %8lu %8lu\n", name, c->cards, c->right, c->doubt,
	       c->named, c->nothing, c->wrong, c->far);
}

int main(int argc, char **argv)
{
	const unsigned long cards = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
	static const char heading[] = "%-24s %8s %8s %8s %8s %8s %8s %8s\n";
	struct counts counts[DEFECTS] = { 0 };
	char name[32];

	cards_read(counts, cards, -1, true);
	printf(heading, "card", "cards", "right", "doubt", "named", "nothing", "wrong", "far");
	for (int defect = 0; defect < DEFECTS; defect++)
		print_counts(defect_names[defect], &counts[defect]);
	printf("%.0f ns for a card\n\n", 1e9 * seconds / (double)cards);
	printf(heading, "jitter (modules)", "cards", "right", "doubt", "named", "nothing", "wrong",
	       "far");
	for (int percent = 0; percent <= 20; percent += 4) {
		struct counts sound[DEFECTS] = { 0 };

		cards_read(sound, cards / 10, percent / 100.0, false);
		snprintf(name, sizeof(name), "%.2f", percent / 100.0);
		print_counts(name, &sound[SOUND]);
	}
	return 0;
}
