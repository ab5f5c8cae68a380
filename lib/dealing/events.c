// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include <dealbox/card.h>
#include <dealbox/diagnosis.h>
#include <dealbox/event.h>
#include <dealbox/pack.h>
#include <dealbox/report.h>

#include "dealing/dealing-internal.h"
#include "dealing/job-ledger.h"
#include "verdict/event-internal.h"

#define EVENTS_AT_ONCE	64
/* Limit of reads in a row, more than a queue holds, so that other machines have their turn. */
#define READS_AT_ONCE	20

static void make_safe(char *text, size_t size)
{
	char safe[64];

	dealbox_text_safe(text, size, safe, size);
	memcpy(text, safe, strlen(safe) + 1);
}

void dealing_sanitize(struct dealbox_info *info)
{
	make_safe(info->serial, sizeof(info->serial));
	make_safe(info->model, sizeof(info->model));
	if (!strncmp(info->serial, "port:", 5) || strchr(info->serial, '@'))
		*info->serial = '\0';
}

void dealing_id(const struct dealbox_info *info, const char *port, char id[DEALING_ID])
{
	if (*info->serial)
		snprintf(id, DEALING_ID, "%s", info->serial);
	else
		snprintf(id, DEALING_ID, "port:%s", port);
}

void dealing_init(struct dealing *d, const char *id, struct dealbox_ledger *ledger,
		  struct jobs *jobs, const struct engine *others)
{
	d->ledger = ledger;
	d->jobs = jobs;
	d->starter = DEALBOX_UID_NONE;
	d->plan_id = randombytes_uniform(0x7fffffff);
	engine_init(&d->engine, id, others);
	d->engine.confirm = ledger_doubts(ledger, id);
	d->engine.cause = DEALBOX_OPERATOR_USED;
}

/* Return true if the machine is a person. He does not remember insertions, but the ledger does. */
static bool attach_hand(struct dealing *d)
{
	struct dealbox_ledger_insertion last;
	struct dealbox_prompt prompt;

	if (dealbox_machine_get_prompt(d->machine, &prompt))
		return false;
	if (!dealbox_ledger_last(d->ledger, d->engine.id, &last))
		dealbox_machine_count_from(d->machine, last.number);
	return true;
}

void dealing_attach(struct dealing *d, struct dealbox_machine *machine,
		    const struct dealbox_info *info)
{
	unsigned int options;
	uint32_t insertion;
	struct copy copy;

	d->machine = machine;
	d->suspect = false;
	d->fresh = true;
	dealbox_confusion_reader(&d->confusion, info->reader);
	d->engine.by_hand = attach_hand(d);
	d->engine.emulated = !strncmp(dealbox_machine_uri(machine), "emu:", strlen("emu:"));
	engine_plugged(&d->engine, info);
	/* A record that is still to be undone does not count. */
	if (d->engine.phase == PHASE_NONE && !d->engine.undo &&
	    ledger_recorded(d->ledger, d->engine.id, &insertion, &copy, &options))
		engine_recall(&d->engine, insertion, &copy, options);
}

void dealing_detach(struct dealing *d)
{
	dealbox_machine_close(d->machine);
	d->machine = NULL;
	if (d->tested.state == TEST_RUNNING)
		d->tested.state = TEST_LOST;
	engine_unplugged(&d->engine);
}

void dealing_end(struct dealing *d)
{
	dealbox_machine_close(d->machine);
	dealbox_trace_free(d->trace);
	dealbox_trace_free(d->kept);
	dealbox_plan_wipe(&d->plan);
	sodium_memzero(d->revealed, sizeof(d->revealed));
	sodium_memzero(d->nonce, sizeof(d->nonce));
}

void dealing_facts(const struct dealing *d, struct dealbox_operator_facts *facts)
{
	engine_facts(&d->engine, facts);
	facts->seat = d->seat;
	facts->depth = d->depth;
	facts->culprit = d->culprit;
	facts->chance = d->chance;
}

struct dealbox_trace *dealing_trace(const struct dealing *d, uint32_t insertion)
{
	if (d->trace && dealbox_trace_insertion(d->trace) == insertion)
		return d->trace;
	if (d->kept && dealbox_trace_insertion(d->kept) == insertion)
		return d->kept;
	return NULL;
}

/*
 * Report the number of missing cards; and which, for users who may see cards. A plan by position
 * does not know that; its missing cards are counted from the position of the stop.
 */
static void diagnose_short(struct dealing *d, unsigned int position)
{
	bool named = d->plan.mode == DEALBOX_PLAN_BY_CARD;
	const struct dealbox_event *e;
	dealbox_cards missing = 0;
	unsigned int card, count;
	size_t n, length;

	for (card = named ? 0 : position; card < d->plan.entries; card++)
		if (d->plan.pocket[card] != DEALBOX_NONE)
			missing |= (dealbox_cards)1 << card;
	for (n = 0; named && (e = dealbox_trace_get(d->trace, n)); n++)
		if (e->type == DEALBOX_EV_CARD_READ && e->card < 64)
			missing &= ~((dealbox_cards)1 << e->card);
	count = dealbox_cards_count(missing);
	*d->diagnosis = '\0';
	if (count)
		snprintf(d->diagnosis, sizeof(d->diagnosis), count == 1 ?
			 "%u card of the deal has not come" :
			 "%u cards of the deal have not come", count);
	if (!named)
		missing = 0;
	length = snprintf(d->revealed, sizeof(d->revealed), "%s%s", d->diagnosis,
			  missing ? ":" : "");
	/* a plan has too few cards to fill it, but that is another file's rule */
	for (card = 0; card < 64 && length < sizeof(d->revealed); card++)	/* GCOVR_EXCL_BR_LINE */
		if (missing >> card & 1)
			length += snprintf(d->revealed + length, sizeof(d->revealed) - length, " %s",
					   dealbox_card_name(card));
}

/* Diagnose which of two equal readings was wrong. */
static void diagnose_repeat(struct dealing *d)
{
	const struct job *job = jobs_find(d->jobs, d->engine.copy.job);
	struct dealbox_diagnosis diagnosis;

	if (!dealbox_diagnose_repeat(d->trace, dealbox_pack_bridge(), &d->confusion,
				     job ? job_pockets(job) : NULL, &diagnosis)) {
		dealbox_diagnosis_message(&diagnosis, false, d->diagnosis, sizeof(d->diagnosis));
		dealbox_diagnosis_message(&diagnosis, true, d->revealed, sizeof(d->revealed));
		d->seat = diagnosis.earlier.hand == DEALBOX_NONE ? 0 : diagnosis.earlier.hand + 1u;
		d->depth = diagnosis.earlier.place ? diagnosis.earlier.above + 1u : 0;
		d->culprit = diagnosis.likely + 1u;
		/* in tens: the exact figure depends on the cards */
		d->chance = (diagnosis.chance[diagnosis.likely] + 5u) / 10 * 10;
	}
	sodium_memzero(&diagnosis, sizeof(diagnosis));
}

/* Compare the first board put in with the last one of this machine in the ledger. */
static void check_first_board(struct dealing *d, uint32_t insertion)
{
	uint32_t known;
	char text[256];

	d->fresh = false;
	if (!ledger_missed(d->ledger, d->engine.id, insertion, &known))
		return;
	snprintf(text, sizeof(text), "insertion %u has come, and the last one that the ledger "
				     "knows is %u: if another computer has dealt with this "
				     "machine, look what it has dealt", insertion, known);
	d->listener->say(d, DEALING_DOUBT, NULL, text);
	d->engine.confirm = true;
	d->engine.cause = DEALBOX_OPERATOR_USED;
}

void dealing_reset_progress(struct dealing *d)
{
	d->cards = d->stopped_at = 0;
	d->seat = d->depth = d->culprit = d->chance = 0;
	d->place = 0;
	d->coded = false;
	d->code = 0;
}

/*
 * Add the event to the trace of its insertion. A trace begins with the board, or with the program.
 */
static void add_to_trace(struct dealing *d, const struct dealbox_event *e)
{
	if (e->insertion && (!d->trace || dealbox_trace_insertion(d->trace) != e->insertion ||
			     /* each pocket of an original has its own trace */
			     (e->type == DEALBOX_EV_DEAL_STARTED && d->engine.capture))) {
		if (dealing_trace(d, d->engine.dealt) == d->trace &&
	    d->engine.phase >= PHASE_START) {
			dealbox_trace_free(d->kept);
			d->kept = d->trace;
		} else {
			dealbox_trace_free(d->trace);
		}
		d->trace = dealbox_trace_new(e->insertion);
	}
	if (d->trace)
		dealbox_trace_add(d->trace, e);
}

/* Keep where a jam is, or else its code, or that of a fault. */
static void keep_detail(struct dealing *d, const struct dealbox_event *e)
{
	bool jam = e->type == DEALBOX_EV_JAM;

	d->place = jam && e->code <= DEALBOX_JAM_POCKET ? (uint8_t)e->code : 0;
	d->coded = (jam && !d->place) || e->type == DEALBOX_EV_HARDWARE;
	d->code = d->coded ? e->code : 0;
}

/* Track the progress of the deal, and its stops. */
static void follow_progress(struct dealing *d, const struct dealbox_event *e)
{
	if (e->type == DEALBOX_EV_DEAL_STARTED)
		dealing_reset_progress(d);
	if (dealbox_event_stops(e->type) && e->position != DEALBOX_NONE)
		d->stopped_at = e->position + 1;
	if (dealbox_event_stops(e->type))
		keep_detail(d, e);
	if (e->type == DEALBOX_EV_CARD_ROUTED && e->position != DEALBOX_NONE)
		d->cards = e->position + 1;
}

/* Diagnose a stop. Learn the reader's misreads from a deal that has ended. */
static void diagnose(struct dealing *d, const struct dealbox_event *e)
{
	if (e->type == DEALBOX_EV_DECK_SHORT && d->trace)
		diagnose_short(d, e->position);
	if (e->type == DEALBOX_EV_NOT_IN_PLAN && !event_guess(e) && e->position != DEALBOX_NONE) {
		snprintf(d->diagnosis, sizeof(d->diagnosis), "card %u does not belong to the deal",
			 e->position + 1u);
		snprintf(d->revealed, sizeof(d->revealed), "card %u was read as %s",
			 e->position + 1u, dealbox_card_name(e->card));
	}
	if (e->type == DEALBOX_EV_REPEATED_CARD && d->trace)
		diagnose_repeat(d);
	if (e->type == DEALBOX_EV_DEAL_DONE && d->trace)
		dealbox_confusion_learn(&d->confusion, d->trace);
}

/* Count a test deal when it begins, and when anything but a card comes. */
static void follow_test(struct dealing *d, const struct dealbox_event *e)
{
	bool card = e->type >= DEALBOX_EV_CARD_READ && e->type <= DEALBOX_EV_CARD_LANDED;
	struct test_result result;

	if (!d->trace || card ||
	    (d->tested.state != TEST_RUNNING && e->type != DEALBOX_EV_DEAL_STARTED))
		return;
	count_test(d->trace, &result);
	if (result.state)
		d->tested = result;
}

static void keep_event(struct dealing *d, const struct dealbox_event *e)
{
	if (e->type == DEALBOX_EV_BOARD_INSERTED && d->fresh)
		check_first_board(d, e->insertion);
	/* From here on, it is not the user who pressed start before. */
	if (e->type == DEALBOX_EV_KEY && e->code == DEALBOX_KEY_START && e->arg[0])
		d->starter = DEALBOX_UID_NONE;
	add_to_trace(d, e);
	follow_progress(d, e);
	follow_test(d, e);
	diagnose(d, e);
}

int dealing_read(struct dealing *d, bool *news)
{
	struct dealbox_event events[EVENTS_AT_ONCE];
	unsigned int reads = 0;
	ssize_t count, n;
	int all = 0;

	do {
		count = dealbox_machine_read(d->machine, events, EVENTS_AT_ONCE);
		for (n = 0; n < count; n++) {
			keep_event(d, &events[n]);
			if (engine_event(&d->engine, d->jobs, &events[n]) && news)
				*news = true;
		}
		if (count > 0) {
			all += count;
			d->heard = monotonic_us();
		}
	} while (count == EVENTS_AT_ONCE && ++reads < READS_AT_ONCE);
	sodium_memzero(events, sizeof(events));
	return count == -EAGAIN || count >= 0 ? all : (int)count;
}
