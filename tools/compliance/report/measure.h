/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Add measurements from the events of a deal to a report. */
#ifndef COMPLIANCE_MEASURE_H
#define COMPLIANCE_MEASURE_H

#include "report.h"

/* An event of a deal; type is DEALBOX_EV_.. */
struct measured_event {
	uint64_t us;	/* when the host got it */
	uint8_t type, position, card, pocket;
};

/* A deal of the suite's own plan */
struct measured_deal {
	const char *reader;	/* which reader read the cards; NULL = the machine has none */
	bool whole_pack;	/* the 52 cards of a pack were fed, each once */
	bool routed;		/* the host sends gate commands */
	bool blind;		/* no exit sensors: a card counts where it was routed */
	unsigned int cards;	/* of the plan; <= 255 */
	/* the planned pocket of the card at a position, or of a card number */
	uint8_t pocket[256];
	bool by_card;
	const struct measured_event *events;
	size_t count;
};

/*
 * Add a deal to the readings, gates and times of a report. Returns true if it was exact: all cards
 * landed where the plan says, and no stop came between.
 *
 * Nobody knows the order of a shuffled pack, but each of its cards is fed once. A card that is
 * missing among the readings was read as one that is there twice, or not read. If several cards
 * were misread in one deal, it is arbitrary which is paired with which; their number is right. A
 * card that stops the deal counts with the expected card unknown.
 */
bool measure_deal(struct json_object *report, const struct measured_deal *deal);

/* Add a board to the endurance test. */
void measure_board(struct json_object *report, bool exact);

#endif
