// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>

#include <sodium.h>

#include <dealbox/card.h>
#include <dealbox/diagnosis.h>
#include <dealbox/pack.h>

#include "log.h"
#include "service.h"
#include "station-events.h"
#include "work.h"

#define EVENTS_AT_ONCE	64
/* .. and so often, which is more than a queue holds: then others have their turn. */
#define READS_AT_ONCE	20

struct dealbox_trace *station_trace(const struct station *st, uint32_t insertion)
{
	if (st->trace && dealbox_trace_insertion(st->trace) == insertion)
		return st->trace;
	if (st->kept && dealbox_trace_insertion(st->kept) == insertion)
		return st->kept;
	return NULL;
}

/* Says how many cards of the deal have not come; and, for those who may see cards, which. */
static void diagnose_short(struct station *st)
{
	const struct dealbox_event *e;
	dealbox_cards missing = 0;
	unsigned int card, count;
	size_t n, length;

	for (card = 0; card < st->plan.entries && st->plan.mode == DEALBOX_PLAN_BY_CARD; card++)
		if (st->plan.pocket[card] != DEALBOX_NONE)
			missing |= (dealbox_cards)1 << card;
	for (n = 0; (e = dealbox_trace_get(st->trace, n)); n++)
		if (e->type == DEALBOX_EV_CARD_READ && e->card < 64)
			missing &= ~((dealbox_cards)1 << e->card);
	count = dealbox_cards_count(missing);
	snprintf(st->diagnosis, sizeof(st->diagnosis), count == 1 ? "%u card of the deal has not come" :
		 "%u cards of the deal have not come", count);
	length = snprintf(st->revealed, sizeof(st->revealed), "%s:", st->diagnosis);
	for (card = 0; card < 64 && length < sizeof(st->revealed); card++)
		if (missing >> card & 1)
			length += snprintf(st->revealed + length, sizeof(st->revealed) - length, " %s",
					   dealbox_card_name(card));
}

/* Says which of two cards with the same face was misread. */
static void diagnose_repeat(struct station *st)
{
	const struct job *job = jobs_find(&st->service->jobs, st->desk.copy.job);
	struct dealbox_diagnosis diagnosis;

	if (!dealbox_diagnose_repeat(st->trace, dealbox_pack_bridge(), &st->confusion,
				     job ? work_pockets(job) : NULL, &diagnosis)) {
		dealbox_diagnosis_message(&diagnosis, false, st->diagnosis, sizeof(st->diagnosis));
		dealbox_diagnosis_message(&diagnosis, true, st->revealed, sizeof(st->revealed));
		st->seat = diagnosis.earlier.hand < DEALBOX_HANDS ? diagnosis.earlier.hand + 1u : 0;
		st->depth = diagnosis.earlier.place ? diagnosis.earlier.above + 1u : 0;
	}
	sodium_memzero(&diagnosis, sizeof(diagnosis));
}

/* Compare the first board that comes with the last one of this machine in the ledger. */
static void check_first_board(struct station *st, uint32_t insertion)
{
	uint32_t known;

	st->fresh = false;
	if (!work_elsewhere(st->service, st->id, insertion, &known))
		return;
	log_message(MESSAGE_TROUBLE, st->id, NULL, "insertion %u has come, and the last one that the "
		    "ledger knows is %u: if another computer has dealt with this machine, look what it has dealt",
		    insertion, known);
	st->desk.confirm = true;
	st->desk.trouble = DEALBOX_OPERATOR_USED;
}

void station_reset_progress(struct station *st)
{
	st->cards = st->stopped_at = 0;
	st->seat = st->depth = 0;
	st->detail[0] = '\0';
}

/* Keep the event in the trace of its insertion, which begins when the board comes, or when we do. */
static void add_to_trace(struct station *st, const struct dealbox_event *e)
{
	if (e->insertion && (!st->trace || dealbox_trace_insertion(st->trace) != e->insertion ||
			     /* .. and each pocket of an original has its own */
			     (e->type == DEALBOX_EV_DEAL_STARTED && st->desk.capture))) {
		if (station_trace(st, st->desk.dealt) == st->trace && st->desk.phase >= PHASE_START) {
			dealbox_trace_free(st->kept);
			st->kept = st->trace;
		} else {
			dealbox_trace_free(st->trace);
		}
		st->trace = dealbox_trace_new(e->insertion);
	}
	if (st->trace)
		dealbox_trace_add(st->trace, e);
}

/* How far the deal is, and what holds or ends it. */
static void follow_progress(struct station *st, const struct dealbox_event *e)
{
	if (e->type == DEALBOX_EV_DEAL_STARTED)
		station_reset_progress(st);
	if (e->type >= DEALBOX_EV_CARD_UNREADABLE && e->position != DEALBOX_NONE)
		st->stopped_at = e->position + 1;
	if (e->type >= DEALBOX_EV_CARD_UNREADABLE && e->type < 0x40)
		dealbox_event_detail(e, st->detail, sizeof(st->detail));
	if (e->type == DEALBOX_EV_CARD_ROUTED && e->position != DEALBOX_NONE)
		st->cards = e->position + 1;
}

/* Finds out why the deal has stopped, and learns how the reader errs from one that has not. */
static void diagnose(struct station *st, const struct dealbox_event *e)
{
	if (e->type == DEALBOX_EV_DECK_SHORT && st->trace)
		diagnose_short(st);
	if (e->type == DEALBOX_EV_NOT_IN_PLAN && e->position != DEALBOX_NONE) {
		snprintf(st->diagnosis, sizeof(st->diagnosis), "card %u does not belong to the deal",
			 e->position + 1u);
		snprintf(st->revealed, sizeof(st->revealed), "card %u was read as %s", e->position + 1u,
			 dealbox_card_name(e->card));
	}
	if (e->type == DEALBOX_EV_REPEATED_CARD && st->trace)
		diagnose_repeat(st);
	if (e->type == DEALBOX_EV_DEAL_DONE && st->trace)
		dealbox_confusion_learn(&st->confusion, st->trace);
}

static void keep_event(struct station *st, const struct dealbox_event *e)
{
	if (e->type == DEALBOX_EV_BOARD_INSERTED && st->fresh)
		check_first_board(st, e->insertion);
	add_to_trace(st, e);
	follow_progress(st, e);
	diagnose(st, e);
}

int station_read(struct station *st, bool *news)
{
	struct dealbox_event events[EVENTS_AT_ONCE];
	unsigned int reads = 0;
	ssize_t count, n;
	int all = 0;

	do {
		count = dealbox_machine_read(st->machine, events, EVENTS_AT_ONCE);
		for (n = 0; n < count; n++) {
			keep_event(st, &events[n]);
			if (desk_event(&st->desk, &st->service->jobs, &events[n]) && news)
				*news = true;
		}
		all += count > 0 ? count : 0;
		if (count > 0)
			st->heard = monotonic_us();
	} while (count == EVENTS_AT_ONCE && ++reads < READS_AT_ONCE);
	sodium_memzero(events, sizeof(events));
	return count == -EAGAIN || count >= 0 ? all : (int)count;
}
