// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dealing/statistics.h"

#define POSITIONS	64

static unsigned int month_of(int64_t at)
{
	time_t seconds = at / 1000000;
	struct tm utc;

	if (at < 0)
		return 0;
	gmtime_r(&seconds, &utc);
	return (utc.tm_year - 70) * 12 + utc.tm_mon;
}

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare(const void *a, const void *b)
{
	const struct statistics_insertion *one = a, *other = b;
	int by = order(one->month, other->month);

	if (!by)
		by = order(one->set, other->set);
	if (!by)
		by = order(one->board, other->board);
	return by ? by : order(one->id, other->id);
}

size_t statistics_choose(struct statistics_insertion *list, size_t count)
{
	unsigned int month = 0, first;
	size_t n, last, kept, begin;

	/* A clock that is set back does not lead back into a month that may have been shown. */
	for (n = 0; n < count; n++) {
		if (month_of(list[n].begun) > month)
			month = month_of(list[n].begun);
		list[n].month = month;
	}
	/* Up to the month that is not over, or that has a board without a verdict. */
	for (last = 0; last < count && list[last].month < month && list[last].judged; last++)
		;
	while (last && list[last - 1].month == list[last].month)
		last--;
	/*
	 * The newest months, as far as they can be counted at once; one month at least, from its
	 * start.
	 */
	first = last ? list[last - 1].month : 0;
	first = first < STATISTICS_MONTHS ? 0 : first - STATISTICS_MONTHS + 1;
	for (begin = last, kept = 0; begin && list[begin - 1].month >= first;
	     begin -= n, kept += n) {
		for (n = 1; n < begin && list[begin - n - 1].month == list[begin - 1].month; n++)
			;
		if (kept && kept + n > STATISTICS_TRACES)
			break;
	}
	memmove(list, list + begin, kept * sizeof(*list));
	if (kept > STATISTICS_TRACES)
		kept = STATISTICS_TRACES;
	if (kept)
		qsort(list, kept, sizeof(*list), compare);
	return kept;
}

void statistics_end(struct statistics_month *m)
{
	unsigned int card;

	for (card = 0; card < STATISTICS_CARDS; card++)
		m->card_deals[card] += m->misread >> card & 1;
	m->misread = 0;
}

/* The card at a position of the deck, as far as it is known. */
struct place {
	unsigned int failed;	/* readings of it that failed */
	uint8_t card;		/* as it was read last */
	uint8_t pocket;		/* into which it was sent */
};

static bool is_read(const struct dealbox_event *e)
{
	return e->card < STATISTICS_CARDS && (!e->quality || e->quality >= 50);
}

static void count_reading(struct place *place, const struct dealbox_event *e)
{
	const bool read = e->type == DEALBOX_EV_CARD_READ && is_read(e);

	if (!read || (place->card != DEALBOX_NONE && place->card != e->card))
		place->failed++;
	if (read)
		place->card = e->card;
}

/* The card has passed the reader: what it is, is known. */
static void count_routed(struct statistics_month *m, struct place *place,
			 const struct dealbox_event *e)
{
	place->pocket = e->pocket;
	if (e->pocket < DEALBOX_MAX_POCKETS)
		m->gates[e->pocket].routed++;
	if (!place->failed || e->card >= STATISTICS_CARDS)
		return;
	m->card_failed[e->card] += place->failed;
	m->misread |= (uint64_t)1 << e->card;
}

static void count_event(struct statistics_month *m, struct place *place,
			const struct dealbox_event *e, bool by_card)
{
	switch (e->type) {
	case DEALBOX_EV_CARD_READ:
	case DEALBOX_EV_CARD_UNREADABLE:
	case DEALBOX_EV_NOT_IN_PLAN:
	case DEALBOX_EV_REPEATED_CARD:
		if (by_card)
			count_reading(place, e);
		break;
	case DEALBOX_EV_CARD_ROUTED:
		m->failed += place->failed;
		count_routed(m, place, e);
		place->failed = 0;
		break;
	case DEALBOX_EV_GATE_LATE:
		m->late++;
		break;
	case DEALBOX_EV_WRONG_POCKET:
		if (e->arg[0] < DEALBOX_MAX_POCKETS)
			m->gates[e->arg[0]].wrong++;
		break;
	case DEALBOX_EV_JAM:
		if (e->code >= DEALBOX_JAM_GATE && place->pocket < DEALBOX_MAX_POCKETS)
			m->gates[place->pocket].stuck++;
		break;
	default:
		break;
	}
}

void statistics_add(struct statistics_month *m, const struct statistics_insertion *insertion,
		    const struct dealbox_event *events, size_t count)
{
	struct place places[POSITIONS];
	size_t n;

	memset(places, 0, sizeof(places));
	for (n = 0; n < POSITIONS; n++)
		places[n].card = places[n].pocket = DEALBOX_NONE;
	if (!m->boards || m->set != insertion->set || m->board != insertion->board) {
		statistics_end(m);
		m->deals++;
	}
	m->month = insertion->month;
	m->set = insertion->set;
	m->board = insertion->board;
	m->boards++;
	for (n = 0; n < count; n++)
		if (events[n].position < POSITIONS)
			count_event(m, &places[events[n].position], &events[n], insertion->by_card);
	/*
	 * a card that was never sent anywhere: its readings failed, and nobody knows whose they
	 * were
	 */
	for (n = 0; n < POSITIONS; n++)
		m->failed += places[n].failed;
	explicit_bzero(places, sizeof(places));
}

bool statistics_shown(const struct statistics_month *m)
{
	return m->deals >= STATISTICS_DEALS;
}

unsigned int statistics_named(const struct statistics_month *m, unsigned int card)
{
	return statistics_shown(m) && m->card_deals[card] >= STATISTICS_DEALS ?
		       m->card_failed[card] :
		       0;
}
