// SPDX-License-Identifier: LGPL-2.1-or-later
#include "measure.h"

#include <dealbox/card.h>
#include <linux/dealbox.h>
#include <string.h>

#define VALUES_MAX	100000	/* of a distribution */
#define POSITIONS	256

/* -- rows ------------------------------------------------------------------- */

/* Get a member, made if it is not there. */
static struct json_object *member(struct json_object *object, const char *key,
				  struct json_object *(*make)(void))
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value)) {
		value = make();
		json_object_object_add(object, key, value);
	}
	return value;
}

static struct json_object *list_make(void)
{
	return json_object_new_array();
}

static struct json_object *measurements(struct json_object *report)
{
	return member(report, "measurements", json_object_new_object);
}

static void count(struct json_object *row, const char *key, int more)
{
	const double now = report_number(row, key);

	json_object_object_add(row, key, json_object_new_int64((int64_t)now + more));
}

static void value_add(struct json_object *list, double value)
{
	if (report_length(list) < VALUES_MAX)
		json_object_array_add(list, json_object_new_double(value));
}

static void reading_add(struct json_object *report, const char *reader, unsigned int expected,
			unsigned int read)
{
	struct json_object *rows = member(measurements(report), "readings", list_make), *row;

	report_each(row, rows)
		if ((unsigned int)report_number(row, "expected") == expected &&
		    (unsigned int)report_number(row, "read") == read &&
		    !strcmp(report_text(row, "reader"), reader)) {
			count(row, "count", 1);
			return;
		}
	row = json_object_new_object();
	json_object_object_add(row, "reader", json_object_new_string(reader));
	json_object_object_add(row, "expected", json_object_new_int((int)expected));
	json_object_object_add(row, "read", json_object_new_int((int)read));
	json_object_object_add(row, "count", json_object_new_int(1));
	json_object_array_add(rows, row);
}

static struct json_object *gate_row(struct json_object *report, unsigned int gate)
{
	struct json_object *rows = member(measurements(report), "gates", list_make), *row;

	report_each(row, rows)
		if ((unsigned int)report_number(row, "gate") == gate)
			return row;
	row = json_object_new_object();
	json_object_object_add(row, "gate", json_object_new_int((int)gate));
	json_object_object_add(row, "cards", json_object_new_int(0));
	json_object_object_add(row, "wrong", json_object_new_int(0));
	json_object_object_add(row, "feed_faults", json_object_new_int(0));
	json_object_object_add(row, "latency_us", json_object_new_array());
	json_object_array_add(rows, row);
	return row;
}

static void time_add(struct json_object *report, const char *name, uint64_t us)
{
	struct json_object *times = member(measurements(report), "times", json_object_new_object);

	value_add(member(times, name, list_make), (double)us / 1000);
}

/* -- a deal ----------------------------------------------------------------- */

/* Count the reading that stopped the deal. Which card was expected is unknown. */
static void measure_stopped(struct json_object *report, const struct measured_deal *deal)
{
	for (size_t i = 0; i < deal->count; i++)
		if (deal->events[i].type == DEALBOX_EV_REPEATED_CARD ||
		    deal->events[i].type == DEALBOX_EV_CARD_UNREADABLE)
			reading_add(report, deal->reader, DEALBOX_CARD_NONE,
				    deal->events[i].type == DEALBOX_EV_REPEATED_CARD &&
				    deal->events[i].card < READING_CARDS ?
				    deal->events[i].card : DEALBOX_CARD_NONE);
}

/* The readings of one pass: the last of each position, up to the first that is missing */
static void measure_readings(struct json_object *report, const struct measured_deal *deal)
{
	dealbox_cards seen = 0, missing;
	unsigned int again[POSITIONS], errors = 0, count;
	int read[POSITIONS];

	memset(read, -1, sizeof(read));
	for (size_t i = 0; i < deal->count; i++)
		if (deal->events[i].type == DEALBOX_EV_CARD_READ)
			read[deal->events[i].position] = deal->events[i].card;
	for (count = 0; count < deal->cards && read[count] >= 0; count++) {
		const unsigned int card = (unsigned int)read[count];

		if (card < DEALBOX_CARDS && !(seen >> card & 1)) {
			seen |= 1ULL << card;
			reading_add(report, deal->reader, card, card);
		} else {
			again[errors++] = card < READING_CARDS ? card : DEALBOX_CARD_NONE;
		}
	}
	if (count < deal->cards) {
		measure_stopped(report, deal);
		return;
	}
	/* as many are missing as were read wrongly, since 52 were fed */
	missing = DEALBOX_PACK_BRIDGE & ~seen;
	for (unsigned int i = 0; i < errors && missing; i++, missing &= missing - 1)
		reading_add(report, deal->reader, (unsigned int)__builtin_ctzll(missing), again[i]);
}

static uint8_t planned(const struct measured_deal *deal, const struct measured_event *event)
{
	return deal->pocket[deal->by_card ? event->card : event->position];
}

/* A stop, which no exact board has; some of them are faults of the feeder. */
static bool measure_stop(struct json_object *report, const struct measured_deal *deal,
			 const struct measured_event *event)
{
	if (event->type < DEALBOX_EV_CARD_UNREADABLE || event->type > DEALBOX_EV_HARDWARE)
		return false;
	/* a card that did not come has no number: by card, nobody knows where it was to go */
	if (event->type == DEALBOX_EV_FEED_TIMEOUT || event->type == DEALBOX_EV_DOUBLE_FEED)
		count(gate_row(report, deal->by_card ? 0 : deal->pocket[event->position]),
		      "feed_faults", 1);
	if (event->type == DEALBOX_EV_WRONG_POCKET) {
		struct json_object *gate = gate_row(report, planned(deal, event));

		count(gate, "cards", 1);
		count(gate, "wrong", 1);
	}
	return true;
}

/* Returns true if the card is where it was to go. */
static bool measure_arrival(struct json_object *report, const struct measured_deal *deal,
			    const struct measured_event *event)
{
	struct json_object *gate = gate_row(report, planned(deal, event));
	const bool wrong = event->pocket != planned(deal, event);

	count(gate, "cards", 1);
	count(gate, "wrong", wrong);
	return !wrong;
}

bool measure_deal(struct json_object *report, const struct measured_deal *deal)
{
	uint64_t began = 0, last_read = 0, read_us[POSITIONS] = { 0 };
	bool exact = true, done = false;
	const uint8_t arrival = deal->blind ? DEALBOX_EV_CARD_ROUTED : DEALBOX_EV_CARD_LANDED;
	unsigned int landed = 0;

	for (size_t i = 0; i < deal->count; i++) {
		const struct measured_event *event = &deal->events[i];
		if (measure_stop(report, deal, event))
			exact = false;
		switch (event->type) {
		case DEALBOX_EV_DEAL_STARTED:
			began = event->us;
			break;
		case DEALBOX_EV_CARD_READ:
			if (last_read)
				time_add(report, "card_ms", event->us - last_read);
			last_read = read_us[event->position] = event->us;
			break;
		case DEALBOX_EV_CARD_ROUTED:
			if (deal->routed && read_us[event->position])
				value_add(report_list(gate_row(report, planned(deal, event)),
						      "latency_us"),
					  (double)(event->us - read_us[event->position]));
			break;
		case DEALBOX_EV_DEAL_DONE:
			done = true;
			if (began)
				time_add(report, "board_ms", event->us - began);
			break;
		}
		if (event->type == arrival) {
			exact &= measure_arrival(report, deal, event);
			landed++;
		}
	}
	if (deal->reader && deal->whole_pack && deal->cards == DEALBOX_CARDS)
		measure_readings(report, deal);
	return exact && done && landed == deal->cards;
}

void measure_board(struct json_object *report, bool exact)
{
	struct json_object *endurance =
		member(measurements(report), "endurance", json_object_new_object);

	count(endurance, "boards", 1);
	count(endurance, "wrong", !exact);
}
