// SPDX-License-Identifier: LGPL-2.1-or-later
/* The reader of a machine: every card at every speed, and nothing else than what is there. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "card_strip.h"

#define PACK	52	/* without the joker */

/* tests/system/machine-arm, whose computer is emulated, reads fewer cards */
#ifndef STRIDE
#define STRIDE	1
#endif

static const struct pass even = { .ticks = 1000 };

static bool is_near(const struct reading *reading, uint8_t card)
{
	return reading->near_count && memchr(reading->near, card, reading->near_count);
}

/* Both ways round, at any speed, with ink that runs or fades, while the clock wraps */
static void every_card_is_read(void **state)
{
	static const double ticks[] = { 80, 1000, 50000, 50e6 },
			    changes[] = { -0.6, -0.2, 0, 0.2, 0.6 };
	static const double darks[] = { -0.3, 0, 0.3 };
	unsigned int read = 0;

	(void)state;
	for (unsigned int n = 0; n < CODES * 2 * 4 * 5 * 3; n++) {
		const uint8_t card = (uint8_t)(n % CODES);
		const bool reversed = n / CODES % 2;
		const struct pass pass = { ticks[n / CODES / 2 % 4], changes[n / CODES / 8 % 5],
					   darks[n / CODES / 40], (uint32_t)-3 * 1000 };
		struct strip strip = strip_of(code_of(card));
		struct reading reading;

		if (reversed)
			strip_turn(&strip);
		reading = strip_read(&strip, &pass, reversed);
		assert_int_equal(reading.result, READER_CARD);
		assert_int_equal(reading.card, card);
		assert_int_equal(reading.code, code_of(card));
		assert_int_equal(reading.why, READER_WHY_NONE);
		assert_int_equal(reading.near_count, 0);
		assert_in_range(reading.quality, pass.change * pass.change > 0.1 ? 70 : 90, 100);
		read++;
	}
	assert_int_equal(read, 6360);
}

/* One module is dark that should be light, or light: a doubt, unless that is another card. */
static void a_wrong_module_is_a_doubt(void **state)
{
	unsigned int doubts = 0, others = 0;

	(void)state;
	for (uint8_t card = 0; card < CODES; card++)
		for (int module = 0; module < CODE_MODULES; module++) {
			const uint16_t code = code_of(card) ^ (uint16_t)(1 << module);
			const struct strip strip = strip_of(code);
			const struct reading reading = strip_read(&strip, &even, false);

			assert_int_equal(reading.code, code);
			if (code_card(code) != CODE_NO_CARD) {
				assert_int_equal(reading.card, code_card(code));
				others++;
				continue;
			}
			assert_int_equal(reading.result, READER_DOUBT);
			assert_int_equal(reading.why, READER_WHY_NO_CARD);
			assert_int_equal(reading.card, CODE_NO_CARD);
			assert_in_range(reading.quality, 1, READER_QUALITY - 1);
			assert_true(is_near(&reading, card));
			doubts++;
		}
	assert_int_equal(doubts, 381);
	assert_int_equal(others, 96);
}

/* One edge moves, bit by bit, by a module: halfway there is no card. */
static void an_edge_between_modules_is_a_doubt(void **state)
{
	(void)state;
	for (uint8_t card = 0; card < CODES; card++) {
		const struct strip strip = strip_of(code_of(card));

		for (unsigned int edge = 2; edge + 2 < strip.count; edge++)
			for (int step = -50; step <= 50; step += STRIDE) {
				struct strip moved = strip;
				struct reading reading;

				moved.edges[edge] += step / 50.0;
				if (moved.edges[edge] <= moved.edges[edge - 1] + 0.01 ||
				    moved.edges[edge] >= moved.edges[edge + 1] - 0.01)
					continue;
				reading = strip_read(&moved, &even, false);
				if (abs(step) <= 7)
					assert_int_equal(reading.card, card);
				else if (abs(step) <= 32)
					assert_true(reading.card == card ||
						    reading.card == CODE_NO_CARD);
				if (abs(step) >= 20 && abs(step) <= 30)
					assert_int_equal(reading.card, CODE_NO_CARD);
			}
	}
}

/*
 * Cards that jitter so much that the border bars tell a wrong change of the speed: another card
 * fits, with all edges less than a quarter of a module off.
 */
static void two_cards_that_fit_are_a_doubt(void **state)
{
	static const struct {
		uint8_t card;
		unsigned int count;
		uint32_t edges[READER_EDGES];
	} cards[] = {
		{ 7, 10, { 3984, 4635, 6820, 8743, 10785, 11960, 12878, 13974, 15671, 16628 } },
		{ 1, 12, { 4071, 4530, 5427, 6499, 8483, 9245, 10328, 11175, 12379, 13425, 15434,
			   16348 } },
		{ 7, 10, { 4078, 4611, 6961, 8879, 10984, 11962, 13054, 13927, 15688, 16369 } },
	};

	(void)state;
	for (size_t n = 0; n < sizeof(cards) / sizeof(*cards); n++) {
		struct reader reader;
		struct reading reading;

		reader_start(&reader, false);
		for (unsigned int i = 0; i < cards[n].count; i++)
			reader_edge(&reader, cards[n].edges[i], !(i % 2));
		reader_read(&reader, &reading);
		assert_true(reading.card == CODE_NO_CARD || reading.card == cards[n].card);
	}
}

/* A short pulse anywhere, light or dark, is never a module. */
static void a_pulse_is_never_a_card(void **state)
{
	(void)state;
	for (uint8_t card = 0; card < CODES; card++)
		for (double at = 0.05; at < STRIP_LENGTH; at += 0.1) {
			struct strip strip = strip_of(code_of(card));
			unsigned int edge = 0;
			struct reading reading;

			while (edge < strip.count && strip.edges[edge] < at + 0.2)
				edge++;
			if (edge && strip.edges[edge - 1] > at - 0.05)
				continue;
			memmove(&strip.edges[edge + 2], &strip.edges[edge],
				(strip.count - edge) * sizeof(double));
			strip.edges[edge] = at;
			strip.edges[edge + 1] = at + 0.15;
			strip.count += 2;
			reading = strip_read(&strip, &even, false);
			assert_int_not_equal(reading.result, READER_CARD);
		}
}

static void the_wrong_direction_is_seen_in_a_pack(void **state)
{
	unsigned int same = 0, turned = 0, none = 0;

	(void)state;
	for (uint8_t card = 0; card < PACK; card++) {
		struct strip strip = strip_of(code_of(card));
		struct reading reading;

		strip_turn(&strip);
		reading = strip_read(&strip, &even, false);
		assert_int_equal(reading.turned, card);
		assert_int_equal(reading.card, code_card(code_turned(code_of(card))));
		same += reading.card == card;
		turned += reading.card != card && reading.card != CODE_NO_CARD;
		none += reading.card == CODE_NO_CARD;
	}
	assert_int_equal(same, 7);
	assert_int_equal(turned, 36);
	assert_int_equal(none, 9);
}

static enum reader_why why_of(const char *edges)
{
	struct reader reader;
	struct reading reading;
	uint32_t time = 0;

	reader_start(&reader, false);
	for (; *edges; edges++, time += 1000)
		if (*edges == '!')
			reader_lost(&reader);
		else
			reader_edge(&reader, time, *edges == 'd');
	reader_read(&reader, &reading);
	assert_int_equal(reading.result,
			 reading.why == READER_WHY_NO_CARD ? READER_DOUBT : READER_NOTHING);
	assert_int_equal(reading.card, CODE_NO_CARD);
	return reading.why;
}

static void what_is_no_code_says_why(void **state)
{
	(void)state;
	assert_int_equal(why_of(""), READER_WHY_EMPTY);
	assert_int_equal(why_of("d"), READER_WHY_EMPTY);
	assert_int_equal(why_of("dldl"), READER_WHY_TOO_FEW);
	assert_int_equal(why_of("dlddl"), READER_WHY_LOST_EDGE);
	assert_int_equal(why_of("l"), READER_WHY_LOST_EDGE);
	assert_int_equal(why_of("dldl!dldl"), READER_WHY_LOST_EDGE);
	assert_int_equal(why_of("dldldldldldldldl"), READER_WHY_TOO_MANY);
	/* evenly spaced bars: nothing of that is a border */
	assert_int_equal(why_of("dldldl"), READER_WHY_SPEED);
}

static void a_clock_that_goes_back_is_no_code(void **state)
{
	(void)state;
	for (unsigned int edge = 1; edge < 9; edge++) {
		const struct strip strip = strip_of(code_of(0));
		struct reader reader;
		struct reading reading;

		reader_start(&reader, false);
		for (unsigned int i = 0; i < strip.count; i++)
			reader_edge(&reader,
				    pass_time(&even, strip.edges[i]) - (i == edge ? 1u << 31 : 0),
				    !(i % 2));
		reader_read(&reader, &reading);
		assert_int_equal(reading.result, READER_NOTHING);
		assert_int_equal(reading.why, READER_WHY_SPEED);
	}
}

/* The dark of a card that leaves follows at once. */
static void a_card_that_leaves_is_no_edge(void **state)
{
	(void)state;
	for (uint8_t card = 0; card < CODES; card++) {
		const struct strip strip = strip_of(code_of(card));
		struct reader reader;
		struct reading reading;

		reader_start(&reader, false);
		for (unsigned int i = 0; i < strip.count; i++) {
			const uint32_t time = pass_time(&even, strip.edges[i]);

			assert_false(reader_is_over(&reader, time));
			reader_edge(&reader, time, !(i % 2));
		}
		assert_false(reader_is_over(&reader, pass_time(&even, STRIP_LENGTH + 12)));
		assert_true(reader_is_over(&reader, pass_time(&even, STRIP_LENGTH + 13)));
		reader_edge(&reader, pass_time(&even, STRIP_LENGTH + 9), true);
		reader_read(&reader, &reading);
		assert_int_equal(reading.card, card);
	}
}

/* Whatever comes: the parts of a reading agree. With a sanitizer: no overflow. */
static void any_edges_are_taken(void **state)
{
	uint64_t random = 88172645463325252u;
	unsigned int cards = 0;

	(void)state;
	for (int n = 0; n < 200000; n += STRIDE * STRIDE) {
		struct reader reader;
		struct reading reading;
		uint32_t time = (uint32_t)random;
		unsigned int scale;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		scale = random >> 8 & 31;
		reader_start(&reader, random >> 3 & 1);
		for (unsigned int i = 0; i < (random & 15) + 3; i++) {
			reader_edge(&reader, time, !(i % 2));
			time += (uint32_t)((random >> (i * 3) & 0xffffffff) >> scale);
		}
		reader_read(&reader, &reading);
		cards += reading.result == READER_CARD;
		if (reading.result == READER_CARD) {
			assert_int_equal(reading.card, code_card(reading.code));
			assert_in_range(reading.card, 0, CODES - 1);
			assert_in_range(reading.quality, READER_QUALITY, 100);
			assert_int_equal(reading.why, READER_WHY_NONE);
			continue;
		}
		assert_int_equal(reading.card, CODE_NO_CARD);
		assert_in_range(reading.quality, 0, READER_QUALITY - 1);
		assert_int_not_equal(reading.why, READER_WHY_NONE);
	}
	/* noise is hardly ever a card */
	assert_in_range(cards, 0, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_card_is_read),
		cmocka_unit_test(a_wrong_module_is_a_doubt),
		cmocka_unit_test(an_edge_between_modules_is_a_doubt),
		cmocka_unit_test(two_cards_that_fit_are_a_doubt),
		cmocka_unit_test(a_pulse_is_never_a_card),
		cmocka_unit_test(the_wrong_direction_is_seen_in_a_pack),
		cmocka_unit_test(what_is_no_code_says_why),
		cmocka_unit_test(a_clock_that_goes_back_is_no_code),
		cmocka_unit_test(a_card_that_leaves_is_no_edge),
		cmocka_unit_test(any_edges_are_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
