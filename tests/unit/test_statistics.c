// SPDX-License-Identifier: LGPL-2.1-or-later
/* Statistics of a machine, and that they do not show where a card of a board lies. */
#include "unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <dealing/statistics.h>

#define DAY	86400000000LL
#define MONTH	(31 * DAY)
#define BOARDS	400
#define EVENTS	(3 * 52 + 8)

/*
 * A world of boards that one machine deals, some copies of the others, with cards that are misread.
 */
struct dealt {
	struct statistics_insertion insertion;
	struct dealbox_event events[EVENTS];
	size_t count;
};

static uint32_t seed;

static unsigned int draw(unsigned int below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static void put(struct dealt *d, uint32_t type, unsigned int position, unsigned int card,
		unsigned int pocket)
{
	assert_true(d->count < EVENTS);
	d->events[d->count++] = (struct dealbox_event){
		.type = type, .position = position, .card = card, .pocket = pocket
	};
}

/* Deal a shuffled pack. The readings of bad fail, and of one card more at a place of its own. */
static void deal(struct dealt *d, unsigned int bad, unsigned int at)
{
	uint8_t pack[52];
	unsigned int n, other, card;

	for (n = 0; n < 52; n++)
		pack[n] = n;
	for (n = 51; n; n--) {
		other = draw(n + 1);
		card = pack[n];
		pack[n] = pack[other];
		pack[other] = card;
	}
	d->count = 0;
	for (n = 0; n < 52; n++) {
		if (pack[n] == bad || n == at)
			put(d, DEALBOX_EV_CARD_UNREADABLE, n, DEALBOX_NONE, DEALBOX_NONE);
		put(d, DEALBOX_EV_CARD_READ, n, pack[n], DEALBOX_NONE);
		put(d, DEALBOX_EV_CARD_ROUTED, n, pack[n], draw(4));
	}
}

/* One answer: everything that may be shown. */
struct answer {
	size_t months;
	struct statistics_month month[STATISTICS_MONTHS];
	unsigned int named[STATISTICS_MONTHS][STATISTICS_CARDS];
};

static void ask(const struct dealt *all, size_t count, struct answer *answer)
{
	struct statistics_insertion *list = calloc(count + 1, sizeof(*list));
	struct statistics_month month = { 0 };
	size_t n, m, kept;
	unsigned int card;

	assert_non_null(list);
	memset(answer, 0, sizeof(*answer));
	for (n = 0; n < count; n++) {
		list[n] = all[n].insertion;
		list[n].id = n;
	}
	kept = statistics_choose(list, count);
	for (n = 0; n < kept; n = m) {
		memset(&month, 0, sizeof(month));
		for (m = n; m < kept && list[m].month == list[n].month; m++)
			/* the trace is written with the verdict */
			statistics_add(&month, &list[m], all[list[m].id].events,
				       list[m].judged ? all[list[m].id].count : 0);
		statistics_end(&month);
		if (!statistics_shown(&month))
			continue;
		assert_true(answer->months < STATISTICS_MONTHS);
		for (card = 0; card < STATISTICS_CARDS; card++)
			answer->named[answer->months][card] = statistics_named(&month, card);
		/* the rest is not to be shown */
		memset(month.card_failed, 0, sizeof(month.card_failed));
		memset(month.card_deals, 0, sizeof(month.card_deals));
		month.set = month.board = 0;
		answer->month[answer->months++] = month;
	}
	free(list);
}

/* Return the index of the month in the answer, or -1. */
static int find(const struct answer *answer, unsigned int month)
{
	size_t n;

	for (n = 0; n < answer->months; n++)
		if (answer->month[n].month == month)
			return (int)n;
	return -1;
}

static struct dealt *evening(size_t count, unsigned int bad)
{
	struct dealt *all = calloc(count, sizeof(*all));
	size_t n;

	assert_non_null(all);
	for (n = 0; n < count; n++) {
		all[n].insertion = (struct statistics_insertion){
			.begun = (int64_t)n * DAY / 3, .judged = true, .set = 1 + n / 24,
			.board = 1 + n % 24, .by_card = true
		};
		deal(&all[n], bad, draw(3) ? 99 : draw(52));
	}
	return all;
}

static void a_worn_card_is_named(void **state)
{
	struct dealt *all = evening(BOARDS, 17);
	struct answer answer;
	unsigned int card;

	(void)state;
	ask(all, BOARDS, &answer);
	assert_int_equal(answer.months,
			 4); /* 400 boards, three a day: January to April, and some of May */
	assert_int_equal(answer.month[0].month, 0);
	assert_int_equal(answer.month[0].boards, 93);
	assert_int_equal(answer.month[0].deals, 93);
	for (card = 0; card < STATISTICS_CARDS; card++)
		assert_int_equal(answer.named[0][card], card == 17 ? 93 : 0);
	assert_true(answer.month[0].failed >= 93);
	assert_int_equal(answer.month[0].gates[0].routed + answer.month[0].gates[1].routed +
				 answer.month[0].gates[2].routed + answer.month[0].gates[3].routed,
			 93 * 52);
	free(all);
}

/* A month that was shown is shown again as it was, or is left out because it is old. */
static void assert_no_difference(const struct answer *before, const struct answer *behind)
{
	size_t m;
	int at;

	for (m = 0; m < before->months; m++) {
		at = find(behind, before->month[m].month);
		if (at < 0 && behind->months &&
		    before->month[m].month + STATISTICS_MONTHS <=
			    behind->month[behind->months - 1].month)
			continue;
		assert_true(at >= 0);
		assert_memory_equal(&before->month[m], &behind->month[at],
				    sizeof(before->month[m]));
		assert_memory_equal(before->named[m], behind->named[at], sizeof(before->named[m]));
	}
}

/*
 * Whoever asks before and behind each board, and each verdict, learns nothing from the difference,
 * in whatever order clocks run and verdicts come.
 */
static void two_queries_around_a_board_have_no_difference(void **state)
{
	struct answer *before = calloc(1, sizeof(*before)), *behind = calloc(1, sizeof(*behind));
	struct dealt *all;
	unsigned int round, shown = 0;
	size_t n, late;

	(void)state;
	for (round = 1; round <= 3; round++) {
		seed = round;
		all = evening(BOARDS, 17);
		/* the clock is set back now and then */
		for (n = 0; n < BOARDS; n++)
			if (!draw(9))
				all[n].insertion.begun -= (int64_t)draw(40) * DAY;
		ask(all, 0, before);
		for (n = 1; n <= BOARDS; n++) {
			all[n - 1].insertion.judged = draw(4);
			ask(all, n, behind);
			assert_no_difference(before, behind);
			/* boards that wait for their verdict get it some boards later */
			for (late = n > 20 ? n - 20 : 0; late < n; late++)
				all[late].insertion.judged |= late + 20 == n || !draw(5);
			ask(all, n, before);
			assert_no_difference(behind, before);
			shown += before->months;
		}
		free(all);
	}
	assert_true(shown);
	free(before);
	free(behind);
}

/*
 * Whoever knows at which place of a board a reading failed cannot tell which card it was: the
 * answer is the same whatever the cards are, also if everything about all other boards is known.
 */
static void the_cards_of_one_board_make_no_difference(void **state)
{
	struct answer *one = calloc(1, sizeof(*one)), *other = calloc(1, sizeof(*other));
	struct dealt *all, kept;
	unsigned int card;
	size_t n;

	(void)state;
	seed = 5;
	all = evening(150, 255);
	ask(all, 150, one);
	assert_true(one->months >= 1);
	for (n = 0; n < 90; n += 7) {
		kept = all[n];
		/* at the same places, other cards */
		for (card = 0; card < all[n].count; card++)
			if (all[n].events[card].card < 52)
				all[n].events[card].card = 51 - all[n].events[card].card;
		ask(all, 150, other);
		assert_memory_equal(one, other, sizeof(*one));
		all[n] = kept;
	}
	free(all);
	free(one);
	free(other);
}

/*
 * A void board that stopped at its second card: only the first was read once more than the others.
 */
static void a_stop_shows_no_card(void **state)
{
	struct answer *whole = calloc(1, sizeof(*whole)), *stopped = calloc(1, sizeof(*stopped));
	struct dealt *all;
	size_t pocket;

	(void)state;
	seed = 7;
	all = evening(150, 255);
	ask(all, 150, whole);
	all[3].count = 0;
	for (pocket = 0; pocket < 2; pocket++) {
		deal(&all[3], 255, 99);
		all[3].count = 2;	/* read and routed */
		all[3].events[1].pocket = 0;
		ask(all, 150, pocket ? stopped : whole);
	}
	assert_memory_equal(whole, stopped, sizeof(*whole));
	free(all);
	free(whole);
	free(stopped);
}

static size_t months_of(size_t deals, size_t copies, bool later, unsigned int *named)
{
	size_t count = deals * copies + later, n;
	struct dealt *all = calloc(count, sizeof(*all));
	struct answer *answer = calloc(1, sizeof(*answer));
	size_t months;

	for (n = 0; n < count; n++) {
		all[n].insertion = (struct statistics_insertion){
			.judged = true, .set = 1, .board = 1 + n % deals, .by_card = true
		};
		deal(&all[n], 17, 99);
	}
	if (later)
		all[count - 1].insertion.begun = MONTH;
	ask(all, count, answer);
	months = answer->months;
	*named = months ? answer->named[0][17] : 0;
	free(all);
	free(answer);
	return months;
}

static void what_is_too_few_is_not_shown(void **state)
{
	unsigned int named;

	(void)state;
	assert_int_equal(months_of(8, 1, true, &named), 1);
	assert_int_equal(named, 8);
	assert_int_equal(months_of(7, 1, true, &named), 0);
	/* many copies of few deals are few deals */
	assert_int_equal(months_of(7, 40, true, &named), 0);
	assert_int_equal(months_of(1, 100, true, &named), 0);
	/* the month is not over */
	assert_int_equal(months_of(100, 1, false, &named), 0);
}

static void gates_are_counted(void **state)
{
	struct statistics_insertion insertion = { .set = 1, .board = 1, .by_card = true };
	struct dealbox_event events[] = {
		{ .type = DEALBOX_EV_CARD_READ, .position = 0, .card = 5, .pocket = DEALBOX_NONE },
		{ .type = DEALBOX_EV_CARD_ROUTED, .position = 0, .card = 5, .pocket = 2 },
		{ .type = DEALBOX_EV_WRONG_POCKET, .position = 0, .card = 5, .pocket = 3,
		  .arg = { 2 } },
		{ .type = DEALBOX_EV_GATE_LATE, .position = 1, .card = 6, .pocket = DEALBOX_NONE },
		{ .type = DEALBOX_EV_CARD_ROUTED, .position = 1, .card = 6, .pocket = 1 },
		{ .type = DEALBOX_EV_JAM, .position = 1, .card = DEALBOX_NONE,
		  .code = DEALBOX_JAM_POCKET },
		{ .type = DEALBOX_EV_JAM, .position = 2, .card = DEALBOX_NONE,
		  .code = DEALBOX_JAM_GATE },
		{ .type = DEALBOX_EV_JAM, .position = 1, .card = DEALBOX_NONE,
		  .code = DEALBOX_JAM_FEEDER },
		{ .type = DEALBOX_EV_WRONG_POCKET, .position = 64, .card = 5, .pocket = 3,
		  .arg = { 2 } },
		{ .type = DEALBOX_EV_WRONG_POCKET, .position = 3, .card = 5, .pocket = 3,
		  .arg = { 8 } },
	};
	struct statistics_month month = { 0 };

	(void)state;
	statistics_add(&month, &insertion, events, sizeof(events) / sizeof(events[0]));
	statistics_end(&month);
	assert_int_equal(month.late, 1);
	assert_int_equal(month.gates[2].routed, 1);
	assert_int_equal(month.gates[2].wrong, 1);
	assert_int_equal(month.gates[1].stuck, 1);
	assert_int_equal(month.gates[0].wrong + month.gates[3].wrong + month.gates[2].stuck, 0);
	assert_false(statistics_shown(&month));
}

/* Of which card a failed reading was, is known when the card is sent on. */
static void readings_are_counted_for_the_card_that_it_was(void **state)
{
	struct statistics_insertion insertion = { .set = 1, .by_card = true };
	struct dealbox_event events[] = {
		{ .type = DEALBOX_EV_CARD_READ, .position = 0, .card = 5 },
		{ .type = DEALBOX_EV_CARD_READ, .position = 0,
		  .card = 7 },	/* another one, when read again */
		{ .type = DEALBOX_EV_CARD_READ, .position = 0, .card = 9, .quality = 49 },
		{ .type = DEALBOX_EV_NOT_IN_PLAN, .position = 0, .card = 52 },
		{ .type = DEALBOX_EV_CARD_READ, .position = 0, .card = 7, .quality = 50 },
		{ .type = DEALBOX_EV_CARD_ROUTED, .position = 0, .card = 7 },
		{ .type = DEALBOX_EV_CARD_UNREADABLE, .position = 1, .card = DEALBOX_NONE },
	};
	struct statistics_month month = { 0 }, sorted = { 0 };

	(void)state;
	for (insertion.board = 1; insertion.board <= 8; insertion.board++) {
		statistics_add(&month, &insertion, events, sizeof(events) / sizeof(events[0]));
		insertion.by_card = false;
		statistics_add(&sorted, &insertion, events, sizeof(events) / sizeof(events[0]));
		insertion.by_card = true;
		/* the last deal is not over before statistics_end() */
		assert_int_equal(statistics_named(&month, 7), 0);
	}
	statistics_end(&month);
	statistics_end(&sorted);
	assert_int_equal(statistics_named(&month, 7), 8 * 3);
	assert_int_equal(statistics_named(&month, 5), 0);
	assert_int_equal(month.failed, 8 * 4);
	/* a deck that nobody reads has no misread cards */
	assert_int_equal(statistics_named(&sorted, 7), 0);
	assert_int_equal(sorted.failed, 0);
}

/* Older months are left out, whole, if there is too much to be counted at once. */
static void there_is_a_limit(void **state)
{
	size_t each = STATISTICS_TRACES / 2 + 1, n, kept;
	struct statistics_insertion *list = calloc(4 * each, sizeof(*list));

	(void)state;
	assert_non_null(list);
	for (n = 0; n < 3 * each + 1; n++)
		list[n] = (struct statistics_insertion){
			.id = n, .begun = (int64_t)(n / each) * MONTH, .judged = true, .board = n
		};
	kept = statistics_choose(list, 3 * each + 1);
	assert_int_equal(kept, each);
	assert_int_equal(list[0].month, 2);
	/* two months that can just be counted at once */
	for (n = 0; n <= STATISTICS_TRACES; n++)
		list[n] = (struct statistics_insertion){
			.id = n, .begun = (int64_t)(n / (STATISTICS_TRACES / 2)) * MONTH,
			.judged = true, .board = n
		};
	assert_int_equal(statistics_choose(list, STATISTICS_TRACES + 1), STATISTICS_TRACES);
	/* one month that is too long: its first boards, whenever it is asked */
	for (n = 0; n < 4 * each; n++)
		list[n] = (struct statistics_insertion){
			.id = n, .begun = n == 4 * each - 1 ? MONTH : 0, .judged = true, .board = n
		};
	kept = statistics_choose(list, 4 * each);
	assert_int_equal(kept, STATISTICS_TRACES);
	assert_int_equal(list[kept - 1].id, STATISTICS_TRACES - 1);
	free(list);
}

/* Choose of insertions that were begun in these months. Returns how many, and their ids. */
static size_t chosen(const char *months, uint64_t ids[64])
{
	size_t count = strlen(months), n, kept;
	/* as long as the months: nothing behind it is read */
	struct statistics_insertion *list = calloc(count, sizeof(*list));

	for (n = 0; n < count; n++)
		list[n] = (struct statistics_insertion){
			.id = n + 1, .begun = (months[n] & ~0x20) == 'A' ? -1 :
				((months[n] | 0x20) - 'a') * MONTH + DAY,
			.judged = months[n] >= 'a', .set = 1, .board = 1, .month = 77 };
	kept = statistics_choose(list, count);
	for (n = 0; n < kept; n++)
		ids[n] = list[n].id;
	free(list);
	return kept;
}

/*
 * Each letter is the month of a board; a small one has its verdict. 'a' has a clock that was never
 * set.
 */
static void a_month_is_shown_as_a_whole(void **state)
{
	uint64_t ids[64];

	(void)state;
	assert_int_equal(chosen("", ids), 0);
	assert_int_equal(chosen("a", ids), 0);
	assert_int_equal(chosen("ab", ids), 1);
	assert_int_equal(chosen("aab", ids), 2);
	assert_int_equal(chosen("abbc", ids), 3);
	assert_int_equal(chosen("Aab", ids), 0);
	assert_int_equal(chosen("aAb", ids), 0);
	assert_int_equal(chosen("abBbc", ids), 1);
	assert_int_equal(chosen("abbC", ids), 3);
	/* the newest twelve */
	assert_int_equal(chosen("abcdefghijklm", ids), 12);
	assert_int_equal(ids[0], 1);
	assert_int_equal(chosen("aabcdefghijklmn", ids), 12);
	assert_int_equal(ids[0], 3);
}

/* By month, set, board and id, from whatever order. */
static void copies_of_a_deal_stand_together(void **state)
{
	static const uint8_t in[][3] = { { 2, 2, 1 }, { 1, 2, 0 }, { 2, 1, 2 }, { 1, 1, 1 },
					 { 2, 2, 0 }, { 1, 1, 0 }, { 1, 2, 1 },
					 { 2, 1, 0 }, { 1, 2, 0 }, { 1, 1, 0 }, { 2, 2, 1 },
					 { 2, 1, 2 } };
	enum { COUNT = sizeof(in) / sizeof(in[0]) };
	struct statistics_insertion list[2 * COUNT + 1] = { 0 };
	size_t n, kept;

	(void)state;
	for (n = 0; n < 2 * COUNT; n++)
		list[n] = (struct statistics_insertion){
			.id = 2 * COUNT - n, .begun = n < COUNT ? 0 : MONTH, .judged = true,
			.set = in[n % COUNT][0], .board = in[n % COUNT][1] };
	list[n] = (struct statistics_insertion){ .id = 99, .begun = 2 * MONTH };
	kept = statistics_choose(list, 2 * COUNT + 1);
	assert_int_equal(kept, 2 * COUNT);
	for (n = 1; n < kept; n++) {
		const struct statistics_insertion *a = &list[n - 1], *b = &list[n];

		assert_true(a->month < b->month ||
			    (a->month == b->month &&
			     (a->set < b->set ||
			      (a->set == b->set &&
			       (a->board < b->board || (a->board == b->board && a->id < b->id))))));
	}
}

/* Readings at the limits of card, quality, position and pocket. */
static unsigned int failed_of(struct dealbox_event event, struct statistics_month *month)
{
	struct statistics_insertion insertion = { .set = 1, .by_card = true };
	const struct dealbox_event events[] = {
		event, { .type = DEALBOX_EV_CARD_ROUTED, .position = event.position, .card = 51,
			 .pocket = event.pocket } };

	*month = (struct statistics_month){ 0 };
	statistics_add(month, &insertion, events, 2);
	statistics_end(month);
	return month->failed;
}

static void readings_have_limits(void **state)
{
	struct dealbox_event read = {
		.type = DEALBOX_EV_CARD_READ, .position = 63, .card = 51, .pocket = 7
	};
	struct statistics_month month;

	(void)state;
	assert_int_equal(failed_of(read, &month), 0);
	assert_int_equal(month.gates[7].routed, 1);
	assert_int_equal(month.boards, 1);
	assert_int_equal(month.deals, 1);
	read.pocket = DEALBOX_MAX_POCKETS;
	assert_int_equal(failed_of(read, &month), 0);
	assert_int_equal(month.late, 0);
	read.quality = 1;
	assert_int_equal(failed_of(read, &month), 1);
	assert_int_equal(month.card_failed[51], 1);
	assert_int_equal(month.card_deals[51], 1);
	assert_int_equal(month.card_deals[0], 0);
	read.quality = 0;
	read.card = 52;
	assert_int_equal(failed_of(read, &month), 1);
	read.type = DEALBOX_EV_REPEATED_CARD;
	read.card = 51;
	assert_int_equal(failed_of(read, &month), 1);
	read.position = 64;
	assert_int_equal(failed_of(read, &month), 0);
}

/* Count events of one insertion. */
static struct statistics_month month_of(const struct dealbox_event *events, size_t count)
{
	struct statistics_insertion insertion = { .set = 1, .board = 1, .by_card = true };
	struct statistics_month month = { 0 };

	statistics_add(&month, &insertion, events, count);
	statistics_end(&month);
	return month;
}

#define MONTH_OF(...) \
	month_of((const struct dealbox_event[]){ __VA_ARGS__ }, \
		 sizeof((const struct dealbox_event[]){ __VA_ARGS__ }) / \
		 sizeof(struct dealbox_event))
#define READ(named) { .type = DEALBOX_EV_CARD_READ, .card = (named), .pocket = DEALBOX_NONE }
#define UNREAD { .type = DEALBOX_EV_CARD_UNREADABLE, .card = DEALBOX_NONE, .pocket = DEALBOX_NONE }
#define ROUTED(named, to) { .type = DEALBOX_EV_CARD_ROUTED, .card = (named), .pocket = (to) }

static void only_another_reading_is_a_failure(void **state)
{
	struct statistics_month month;

	(void)state;
	assert_int_equal(MONTH_OF(READ(5), READ(5), ROUTED(5, 0)).failed, 0);
	assert_int_equal(MONTH_OF(READ(5), READ(7), ROUTED(7, 0)).failed, 1);
	assert_int_equal(MONTH_OF(READ(5), UNREAD, READ(5), ROUTED(5, 0)).failed, 1);
	assert_int_equal(MONTH_OF(READ(5), UNREAD, READ(7), ROUTED(7, 0)).failed, 2);
	/* nobody knows which card it was: it was never sent on, or was sent without a name */
	assert_int_equal(MONTH_OF(UNREAD).failed, 1);
	month = MONTH_OF(UNREAD, ROUTED(STATISTICS_CARDS, 0));
	assert_int_equal(month.failed, 1);
	assert_int_equal(month.card_deals[0], 0);
	month = MONTH_OF(UNREAD, ROUTED(0, 0));
	assert_int_equal(month.card_failed[0], 1);
	assert_int_equal(month.card_deals[0], 1);
	assert_int_equal(month.card_deals[1], 0);
}

static void a_jam_is_of_the_gate_that_the_card_went_to(void **state)
{
	struct dealbox_event jam = { .type = DEALBOX_EV_JAM,
				     .card = DEALBOX_NONE,
				     .code = DEALBOX_JAM_GATE };
	struct dealbox_event wrong = { .type = DEALBOX_EV_WRONG_POCKET,
				       .code = DEALBOX_JAM_POCKET,
				       .arg = { 2 } };
	struct statistics_month month;

	(void)state;
	assert_int_equal(MONTH_OF(ROUTED(5, 3), jam).gates[3].stuck, 1);
	/* and no other event is a jam */
	jam.type = DEALBOX_EV_DOUBLE_FEED;
	assert_int_equal(MONTH_OF(ROUTED(5, 3), jam).gates[3].stuck, 0);
	jam.type = DEALBOX_EV_JAM;
	month = MONTH_OF(ROUTED(5, DEALBOX_MAX_POCKETS), jam);
	assert_int_equal(month.card_failed[0] + month.card_failed[1] + month.card_failed[2], 0);
	/* a card that fell elsewhere is not stuck, whatever the code of that event */
	month = MONTH_OF(ROUTED(5, 3), wrong);
	assert_int_equal(month.gates[2].wrong, 1);
	assert_int_equal(month.gates[3].stuck, 0);
}

static void the_same_board_of_another_set_is_another_deal(void **state)
{
	struct statistics_insertion insertion = { .set = 1, .board = 1 };
	struct statistics_month month = { 0 };

	(void)state;
	statistics_add(&month, &insertion, NULL, 0);
	statistics_add(&month, &insertion, NULL, 0);
	assert_int_equal(month.deals, 1);
	insertion.set = 2;
	statistics_add(&month, &insertion, NULL, 0);
	assert_int_equal(month.deals, 2);
	insertion.board = 2;
	statistics_add(&month, &insertion, NULL, 0);
	assert_int_equal(month.deals, 3);
	assert_int_equal(month.boards, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_worn_card_is_named),
		cmocka_unit_test(two_queries_around_a_board_have_no_difference),
		cmocka_unit_test(the_cards_of_one_board_make_no_difference),
		cmocka_unit_test(a_stop_shows_no_card),
		cmocka_unit_test(what_is_too_few_is_not_shown),
		cmocka_unit_test(gates_are_counted),
		cmocka_unit_test(readings_are_counted_for_the_card_that_it_was),
		cmocka_unit_test(there_is_a_limit),
		cmocka_unit_test(a_month_is_shown_as_a_whole),
		cmocka_unit_test(copies_of_a_deal_stand_together),
		cmocka_unit_test(readings_have_limits),
		cmocka_unit_test(only_another_reading_is_a_failure),
		cmocka_unit_test(a_jam_is_of_the_gate_that_the_card_went_to),
		cmocka_unit_test(the_same_board_of_another_set_is_another_deal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
