// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A correct deal whose events are changed by the input. A verdict of "exact" is checked by a
 * second, simpler reading of the trace; and no sentence may reveal a card unless asked to.
 */
#include <errno.h>

#include <dealbox/plan.h>
#include <dealbox/trace.h>
#include <dealbox/verify.h>

#include "fuzz.h"

#define INSERTION	3
#define PLAN_ID		7
#define CARDS		8	/* few, so that a change is likely to matter */
#define EVENTS_MAX	128

struct tape {
	size_t count;
	struct dealbox_event event[EVENTS_MAX];
};

static void emit(struct tape *tape, uint32_t type, uint8_t position, uint8_t card,
		 uint8_t pocket, uint32_t code)
{
	struct dealbox_event *event = &tape->event[tape->count];

	*event = (struct dealbox_event) {
		.seqno = tape->count, .machine_seq = tape->count + 1, .type = type,
		.insertion = INSERTION, .position = position, .card = card,
		.pocket = pocket, .quality = card == DEALBOX_NONE ? DEALBOX_NONE : 90,
		.code = code,
	};
	tape->count++;
}

static void good_deal(struct tape *tape, const struct dealbox_plan *plan, bool sensors)
{
	uint8_t counts[DEALBOX_MAX_POCKETS] = {};

	emit(tape, DEALBOX_EV_BOARD_INSERTED, DEALBOX_NONE, DEALBOX_NONE, DEALBOX_NONE, 0);
	emit(tape, DEALBOX_EV_DEAL_STARTED, DEALBOX_NONE, DEALBOX_NONE, DEALBOX_NONE, PLAN_ID);
	tape->event[tape->count - 1].arg[0] = CARDS;
	for (uint8_t position = 0; position < CARDS; position++) {
		uint8_t card = position * 3 % CARDS, pocket = plan->pocket[card];

		emit(tape, DEALBOX_EV_CARD_READ, position, card, DEALBOX_NONE, 0);
		emit(tape, DEALBOX_EV_CARD_ROUTED, position, card, pocket, 0);
		if (sensors)
			emit(tape, DEALBOX_EV_CARD_LANDED, position, card, pocket, 0);
		counts[pocket]++;
	}
	emit(tape, DEALBOX_EV_DEAL_DONE, CARDS, DEALBOX_NONE, DEALBOX_NONE, PLAN_ID);
	memcpy(tape->event[tape->count - 1].counts, counts, sizeof(counts));
}

/* Changes the tape. The four bytes of op are the kind of change, the place and the value. */
static void change(struct tape *tape, const uint8_t *op)
{
	size_t at = tape->count ? op[1] % tape->count : 0;
	struct dealbox_event *event = &tape->event[at];
	struct dealbox_event keep = *event;

	if (!tape->count)
		return;
	switch (op[0] % 12) {
	case 0: event->type = op[2]; break;
	case 1: event->card = op[2]; break;
	case 2: event->pocket = op[2]; break;
	case 3: event->position = op[2]; break;
	case 4: event->insertion = op[2]; break;
	case 5: event->code = op[2]; break;
	case 6: event->counts[op[3] % DEALBOX_MAX_POCKETS] = op[2]; break;
	case 7: event->flags ^= 1u << op[2] % 20; break;
	case 8: event->seqno += (int8_t)op[2]; break;
	case 9:	/* lost, and not noticed: the numbers are consecutive */
		memmove(event, event + 1, (tape->count - at - 1) * sizeof(*event));
		tape->count--;
		for (size_t i = 0; i < tape->count; i++) {
			tape->event[i].seqno = i;
			tape->event[i].machine_seq = i + 1;
		}
		break;
	case 10: /* replaced by another event, with the number of its place */
		*event = tape->event[op[2] % tape->count];
		event->seqno = keep.seqno;
		event->machine_seq = keep.machine_seq;
		keep.seqno = tape->event[op[2] % tape->count].seqno;
		keep.machine_seq = tape->event[op[2] % tape->count].machine_seq;
		tape->event[op[2] % tape->count] = keep;
		break;
	case 11: /* repeated at the end */
		if (tape->count < EVENTS_MAX) {
			keep.seqno = tape->count;
			keep.machine_seq = tape->count + 1;
			tape->event[tape->count++] = keep;
		}
		break;
	}
}

/* Checks every condition of an exact duplicate on the tape, independently of lib/verdict. */
static void check_exact(const struct tape *tape, const struct dealbox_plan *plan, bool sensors)
{
	unsigned int read[256] = {}, there[256] = {}, started = 0, done = 0;

	for (size_t i = 0; i < tape->count; i++) {
		const struct dealbox_event *event = &tape->event[i];

		/* events lost before the deal began do not belong to it */
		if (started && !done)
			CHECK(event->seqno == tape->event[i - 1].seqno + 1);
		if (event->insertion != INSERTION)
			continue;
		CHECK(!DEALBOX_EV_IS_VOID(event->type));
		switch (event->type) {
		case DEALBOX_EV_DEAL_STARTED:
			started++;
			CHECK(event->code == PLAN_ID);
			break;
		case DEALBOX_EV_CARD_READ:
			read[event->card]++;
			break;
		case DEALBOX_EV_CARD_ROUTED:
			CHECK(event->card < CARDS && event->pocket == plan->pocket[event->card]);
			there[event->card] += !sensors;
			break;
		case DEALBOX_EV_CARD_LANDED:
			CHECK(event->card < CARDS && event->pocket == plan->pocket[event->card]);
			there[event->card] += sensors;
			break;
		case DEALBOX_EV_DEAL_DONE:
			done++;
			CHECK(event->code == PLAN_ID && event->position == CARDS);
			break;
		case DEALBOX_EV_ABORTED:
			CHECK(0);
		}
	}
	CHECK(started == 1 && done == 1);
	for (unsigned int card = 0; card < CARDS; card++)
		CHECK(read[card] && there[card] == 1);
}

static void check_sentence(const struct dealbox_difference *difference)
{
	struct dealbox_difference other = *difference;
	char text[512], again[512];
	size_t length = dealbox_difference_message(difference, false, text, sizeof(text));

	CHECK(length > 0 && length < sizeof(text) && strlen(text) == length);
	CHECK(dealbox_difference_message(difference, false, again, 4) == length);
	if (difference->card == DEALBOX_NONE)
		return;
	other.card = difference->card ? 0 : 51;
	dealbox_difference_message(&other, false, again, sizeof(again));
	CHECK(!strcmp(text, again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dealbox_plan plan = { .plan_id = PLAN_ID, .mode = DEALBOX_PLAN_BY_CARD,
				     .entries = CARDS };
	struct dealbox_trace *trace = dealbox_trace_new(INSERTION);
	struct dealbox_verdict *verdict;
	struct tape tape = {};
	bool sensors;

	CHECK(trace);
	for (int card = 0; card < CARDS; card++)
		plan.pocket[card] = card % 4;
	sensors = !size || !(data[0] & 1);
	good_deal(&tape, &plan, sensors);
	for (size_t i = 1; i + 4 <= size && i < 64; i += 4)
		change(&tape, data + i);

	for (size_t i = 0; i < tape.count; i++)
		CHECK(dealbox_trace_add(trace, &tape.event[i]) >= 0);
	CHECK(dealbox_verify(&plan, trace, &verdict) == 0);
	if (size < 5)
		CHECK(dealbox_verdict_exact(verdict));
	if (dealbox_verdict_exact(verdict)) {
		CHECK(dealbox_verdict_count(verdict) == 0);
		check_exact(&tape, &plan, dealbox_verdict_basis(verdict) == DEALBOX_BASIS_SENSORS);
	} else {
		CHECK(dealbox_verdict_count(verdict) > 0);
	}
	for (size_t i = 0; i < dealbox_verdict_count(verdict); i++)
		check_sentence(dealbox_verdict_get(verdict, i));
	dealbox_verdict_free(verdict);
	dealbox_trace_free(trace);
	return 0;
}
