// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <string.h>

#include "deal-run.h"
#include "ui/event-text.h"
#include "ui/tracefile.h"

#define LOOK_MS		3000	/* of silence: does it still answer? */
#define PAUSE_MS	3000	/* PAUSE to PAUSED, and a second more */
#define OTHER_NUMBER	"the insertion got another number in mid-deal"
#define PAUSES		2	/* tries, before a deal is left to its end */
#define REFUSALS_MAX	3	/* of START, in a row */
#define OVERTAKEN_MS	1000	/* what a status tells comes as an event, too */

/* Says how an insertion ended; verdict may be NULL when it has no end to judge. */
static void outcome_say(const struct run *run, bool exact, const char *reason,
			const struct dealbox_verdict *verdict)
{
	const struct dealbox_difference *difference;
	bool reveal = run->options->reveal;
	struct json_object *object, *list;
	char text[256], name[48];
	size_t n;

	if (run->options->json) {
		object = json_object_new_object();
		list = json_object_new_array();
		json_add_text(object, "event", "board");
		json_add_number(object, "board", run->item->board);
		json_add_number(object, "copy", run->item->copy);
		json_add_number(object, "insertion", run->item->insertion);
		json_add_text(object, "verdict", exact ? "exact" : "void");
		json_add_text(object, "text", reason);
		for (n = 0; verdict && (difference = dealbox_verdict_get(verdict, n)); n++)
			json_object_array_add(list, difference_to_json(difference, reveal));
		json_object_object_add(object, "differences", list);
		json_say(object);
		return;
	}
	say("%s: %s", item_name(run, name), reason);
	for (n = 0; verdict && (difference = dealbox_verdict_get(verdict, n)); n++) {
		dealbox_difference_message(difference, reveal, text, sizeof(text));
		say("    %s", text);
	}
}

enum end insertion_void(struct run *run, const struct dealbox_verdict *verdict,
			const char *format, ...)
{
	char text[256] = "void: ";
	va_list list;

	va_start(list, format);
	vsnprintf(text + 6, sizeof(text) - 6, format, list);
	va_end(list);
	run->voids++;
	run->item->voids++;
	run->item->state = ITEM_TODO;
	run->empty_it = true;
	run->confirm = true;
	run->journal.doubt = true;
	outcome_say(run, false, text, verdict);
	/* another board that is there now is asked about */
	if (!run->known || run->known == run->item->insertion)
		tell(run, EMPTY_IT);
	return journal_save(&run->journal) ? END_VOID : END_INPUT;
}

void fault_seen(struct run *run)
{
	run->fault = true;
	run->fault_told = true;
	run->acted = false;
}

/* Before the board counts: its certificate is on disk, or the job stops. */
static bool certify(struct run *run, const struct dealbox_trace *trace,
		    const struct dealbox_verdict *verdict)
{
	struct dealbox_certificate certificate = {
		.board = run->item->board,
		.copy = run->item->copy,
		.pockets = "NESW",
		.exact = dealbox_verdict_exact(verdict),
		.basis = dealbox_verdict_basis(verdict),
		.identified = dealbox_verdict_identified(verdict),
		.insertion = dealbox_trace_insertion(trace),
	};
	struct dealbox_board board;
	bool good;

	if (!run->certifier)
		return true;
	snprintf(certificate.session, sizeof(certificate.session), "%s", run->session.file);
	snprintf(certificate.machine, sizeof(certificate.machine), "%s", run->info.serial);
	good = !dealbox_set_get(run->set, (size_t)dealbox_set_find(run->set, run->item->board), &board) &&
	       certifier_add(run->certifier, &certificate, &board.deal, trace);
	dealbox_deal_wipe(&board.deal);
	if (!good)
		complain("mend that, and go on with --resume", "%s: the board could not be certified",
			 run->certifier->folder);
	return good;
}

static enum end insertion_judge(struct run *run, const struct dealbox_trace *trace)
{
	struct dealbox_verdict *verdict;
	char text[256];
	enum end end;

	if (dealbox_verify(&run->plan, trace, &verdict))
		return insertion_void(run, NULL, "it could not be verified: out of memory");
	dealbox_verdict_message(verdict, text, sizeof(text));
	if (!certify(run, trace, verdict)) {
		end = END_INPUT;
	} else if (!dealbox_verdict_exact(verdict)) {
		end = insertion_void(run, verdict, "%s", text);
	} else {
		run->exact++;
		run->item->state = ITEM_EXACT;
		run->empty_it = false;
		end = journal_save(&run->journal) ? END_EXACT : END_INPUT;
		if (end == END_EXACT)
			outcome_say(run, true, text, NULL);
	}
	dealbox_verdict_free(verdict);
	return end;
}

/*
 * Tells the machine to deal. END_READY: it does. Only a refusal proves that it
 * does not; after any other failure the board stays "started" in the journal.
 */
static enum end insertion_start(struct run *run, uint32_t insertion)
{
	uint32_t before = run->item->insertion;
	int ret;

	run->item->insertion = insertion;
	run->item->state = ITEM_STARTED;
	run->journal.doubt = false;
	if (!journal_save(&run->journal))
		return END_INPUT;
	ret = dealbox_machine_start(run->machine, run->plan.plan_id, insertion);
	if (ret != -EREMOTEIO) {
		run->used = insertion;
		run->known = insertion;
		run->confirm = false;
		run->refusals = 0;
		return ret ? machine_failed(run) : END_READY;
	}
	switch (dealbox_machine_result(run->machine, NULL)) {
	case DEALBOX_ERR_NO_PLAN:
	case DEALBOX_ERR_WRONG_PLAN:
		run->plan_loaded = false;
		break;
	case DEALBOX_ERR_SPENT:
		run->used = insertion;
		break;
	}
	run->item->insertion = before;
	run->item->state = ITEM_TODO;
	if (!journal_save(&run->journal))
		return END_INPUT;
	return ++run->refusals < REFUSALS_MAX ? END_AGAIN : machine_failed(run);
}

/* What the operator can do about a stop after which the deal goes on. */
static void held_tell(struct run *run, const struct dealbox_event *event)
{
	char text[HELD_TEXT];

	held_text(event, DEALBOX_CARDS, text);
	run->told[0] = '\0';	/* each stop is news */
	tell(run, "%s Start is the machine's start key, or Enter.", text);
}

/* Lets a held or paused deal go on. */
static enum end insertion_go(struct run *run)
{
	struct dealbox_status status;
	int ret;

	if (dealbox_machine_get_status(run->machine, &status))
		return machine_failed(run);
	if (status.state == DEALBOX_STATE_HELD)
		ret = dealbox_machine_reread(run->machine);
	else if (status.state == DEALBOX_STATE_PAUSED)
		ret = dealbox_machine_resume(run->machine);
	else
		return END_READY;
	if (!ret)
		return END_READY;
	if (ret != -EREMOTEIO)
		return machine_failed(run);
	tell(run, "%s: %s", dealbox_machine_error(run->machine)->what,
	     dealbox_machine_error(run->machine)->next);
	return END_READY;
}

/* Ctrl-C in a deal. END_READY: the machine will say that it has paused. */
static enum end insertion_pause(struct run *run)
{
	struct dealbox_status status = { .state = DEALBOX_STATE_DEALING };
	unsigned int n;

	/* one that was lost on its way is sent again */
	for (n = 0; n < PAUSES && status.state == DEALBOX_STATE_DEALING; n++) {
		if (!dealbox_machine_pause(run->machine))
			return END_READY;
		if (dealbox_machine_get_status(run->machine, &status))
			return machine_failed(run);
	}
	return status.state == DEALBOX_STATE_HELD || status.state == DEALBOX_STATE_PAUSED ?
	       END_STOPPED : END_READY;
}

/*
 * A void that the machine does not know of, so it must stop; refused: it has ended by itself.
 * insertion: which it says that it deals into.
 */
static enum end insertion_break(struct run *run, uint32_t insertion, const char *why)
{
	dealbox_machine_abort(run->machine);
	run->used = insertion;
	return insertion_void(run, NULL, "%s", why);
}

/* What the machine says of dealing and is not of this deal, or cannot be; NULL: it is as it should be. */
static const char *event_strange(const struct run *run, const struct dealbox_event *event, bool started)
{
	uint32_t insertion = run->item->insertion;

	/* of the deal, but for stops that make it void anyway */
	if (event->type < DEALBOX_EV_DEAL_STARTED || event->type >= DEALBOX_EV_REPEATED_CARD ||
	    event->type == DEALBOX_EV_FAULT_CLEARED)
		return NULL;
	if (event->type == DEALBOX_EV_DEAL_STARTED && event->code != run->plan.plan_id)
		return NULL;
	if (event->insertion != insertion)
		return started || event->type == DEALBOX_EV_DEAL_STARTED ?
		       OTHER_NUMBER : NULL;
	return started ? NULL : "the machine did not say that the deal began";
}

/* Events of a deal. END_READY: it goes on. */
static enum end insertion_event(struct run *run, const struct dealbox_trace *trace,
				const struct dealbox_event *event)
{
	char detail[48] = ", ";
	const char *comma;

	if (event_voids(event)) {
		const char *name = dealbox_event_name(event->type);

		fault_seen(run);
		dealbox_event_detail(event, detail + 2, sizeof(detail) - 2);
		comma = detail[2] ? detail : "";
		if (event->position != DEALBOX_NONE)
			return insertion_void(run, NULL, "%s at card %u%s", name, event->position + 1u, comma);
		return insertion_void(run, NULL, "%s%s", name, comma);
	}
	if (dealbox_trace_gap(trace)) {
		return insertion_break(run, run->item->insertion, "events of the machine were lost");
	}
	if (event->type == DEALBOX_EV_DECK_SHORT) {
		dealbox_machine_abort(run->machine);
		return insertion_void(run, NULL, "%s at card %u: what is missing may lie in the board, "
				      "having come unseen with another card; count the cards",
				      dealbox_event_name(event->type), event->position + 1u);
	}
	if (event_holds(event)) {
		held_tell(run, event);
		return END_READY;
	}
	switch (event->type) {
	case DEALBOX_EV_CARD_ROUTED:
		run->cards = event->position + 1u;
		progress_show(run);
		return END_READY;
	case DEALBOX_EV_PAUSED:
		run->told[0] = '\0';
		if (event->code == DEALBOX_PAUSED_BY_KEY)
			tell(run, "paused at card %u: press the start key or Enter to go on",
			     event->position + 1u);
		return END_READY;
	case DEALBOX_EV_KEY:
		return start_key(event) ? insertion_go(run) : END_READY;
	case DEALBOX_EV_STATE_LOST:
	case DEALBOX_EV_ABORTED:
	case DEALBOX_EV_BOARD_REMOVED:
		run->plan_loaded &= event->type != DEALBOX_EV_STATE_LOST;
		return insertion_void(run, NULL, "%s", dealbox_event_name(event->type));
	default:
		return END_READY;
	}
}

/* The machine has been silent for so long that something may have been lost, or that it is stuck. */
static enum end insertion_quiet(struct run *run, int silent_ms)
{
	struct dealbox_status status;
	char text[HELD_TEXT];
	bool deals;

	if (dealbox_machine_get_status(run->machine, &status))
		return machine_failed(run);
	deals = status.state == DEALBOX_STATE_DEALING || status.state == DEALBOX_STATE_HELD ||
		status.state == DEALBOX_STATE_PAUSED;
	if (deals && status.insertion != run->item->insertion)
		return insertion_break(run, status.insertion, OTHER_NUMBER);
	if (status.state == DEALBOX_STATE_DEALING && silent_ms >= CARD_MS) {
		silent_text(text);
		tell(run, "%s", text);
	}
	if (deals)
		return END_READY;
	return insertion_void(run, NULL, "the end of the deal was not reported");
}

/*
 * No event has told of a stop: does the machine say the same? END_READY: the board is out, and the
 * event of that is on its way; *wait_ms is how long that may take.
 */
static enum end insertion_ask(struct run *run, const struct dealbox_trace *trace, int *wait_ms)
{
	struct dealbox_status status;

	if (dealbox_machine_get_status(run->machine, &status))
		return machine_failed(run);
	if (status.insertion == run->item->insertion && status.state == DEALBOX_STATE_DONE)
		return insertion_judge(run, trace);
	if (status.insertion == run->item->insertion || *wait_ms == OVERTAKEN_MS)
		return insertion_void(run, NULL, "the machine is not as it is behind the end of a deal");
	*wait_ms = OVERTAKEN_MS;
	return END_READY;
}

/*
 * All cards have fallen, but a stop may still come: for a card that fell beside, or stuck on its
 * way. So a board is judged when it is out, or else when no stop has come for a while. *stopping:
 * Ctrl-C came.
 */
static enum end insertion_settle(struct run *run, struct dealbox_trace *trace, bool *stopping)
{
	struct dealbox_event event;
	enum end end = END_READY;
	struct timespec begin;
	int left, wait_ms = DEALBOX_SETTLED_MS;
	const char *strange;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	while (end == END_READY) {
		left = wait_ms - (int)(seconds_since(&begin) * 1000);
		switch (next(run, &event, left > 0 ? left : 0)) {
		case WAKE_GONE:
			return machine_failed(run);
		case WAKE_STOP:
			*stopping = true;
			continue;
		case WAKE_GO:
			continue;
		case WAKE_QUIET:
			end = insertion_ask(run, trace, &wait_ms);
			continue;
		case WAKE_EVENT:
			break;
		}
		dealbox_trace_add(trace, &event);
		tracefile_event(run->record, &event);
		if (event.type == DEALBOX_EV_BOARD_REMOVED &&
		    event.insertion == run->item->insertion && !dealbox_trace_gap(trace)) {
			run->known = 0;
			end = insertion_judge(run, trace);
			continue;
		}
		strange = dealbox_trace_gap(trace) ? NULL : event_strange(run, &event, true);
		end = strange ? insertion_break(run, event.insertion, strange) :
		      insertion_event(run, trace, &event);
	}
	return end;
}

/* Follows a deal that was started, to its end. */
static enum end insertion_follow(struct run *run, struct dealbox_trace **trace)
{
	uint32_t insertion = run->item->insertion;
	bool started = false, stopping = false;
	int wait_ms, silent_ms = 0;
	const char *strange;
	struct dealbox_event event;
	enum end end = END_READY;

	while (end == END_READY) {
		wait_ms = stopping ? PAUSE_MS : silent_ms ? CARD_MS - LOOK_MS : LOOK_MS;
		switch (next(run, &event, wait_ms)) {
		case WAKE_GONE:
			return machine_failed(run);
		case WAKE_GO:
			end = insertion_go(run);
			continue;
		case WAKE_STOP:
			stopping = true;
			end = insertion_pause(run);
			continue;
		case WAKE_QUIET:
			silent_ms += wait_ms;
			end = stopping ? END_STOPPED : insertion_quiet(run, silent_ms);
			continue;
		case WAKE_EVENT:
			silent_ms = 0;
			break;
		}
		started |= event.type == DEALBOX_EV_DEAL_STARTED && event.insertion == insertion;
		if (!started && event.type == DEALBOX_EV_STATE_LOST) {
			/* of before the start, or the end of it: the machine knows */
			end = insertion_quiet(run, 0);
			continue;
		}
		if (started || event.type >= DEALBOX_EV_DEAL_STARTED) {
			dealbox_trace_add(*trace, &event);
			tracefile_event(run->record, &event);
			strange = dealbox_trace_gap(*trace) ? NULL : event_strange(run, &event, started);
			end = strange ? insertion_break(run, event.insertion, strange) :
			      insertion_event(run, *trace, &event);
			if (end == END_READY && event.type == DEALBOX_EV_DEAL_DONE)
				end = insertion_settle(run, *trace, &stopping);
		}
		if (stopping && end == END_READY &&
		    (event.type == DEALBOX_EV_PAUSED || event_holds(&event)))
			end = END_STOPPED;
	}
	if (end == END_STOPPED) {
		run->stands = machine_stands(run->machine);
		run->locked = run->info.capabilities & DEALBOX_CAP_BOARD_LOCK;
	}
	/* the deal ended before the pause took hold: that is where the job stands */
	return stopping && (end == END_EXACT || end == END_VOID) ? END_STOPPED : end;
}

enum end insertion_deal(struct run *run, uint32_t insertion)
{
	struct dealbox_trace *trace;
	enum end end;

	trace = dealbox_trace_new(insertion);
	if (!trace) {
		complain("free some memory, and go on with --resume", "out of memory");
		return END_INPUT;
	}
	end = insertion_start(run, insertion);
	if (end == END_READY) {
		run->told[0] = '\0';
		tracefile_begin(run->record, run->item->board, run->item->copy, insertion,
				run->plan.plan_id, TRACEFILE_BY_CARD, "NESW");
		progress_show(run);
		end = insertion_follow(run, &trace);
		progress(NULL);
		if (!tracefile_end(run->record))
			end = END_INPUT;
	}
	dealbox_trace_free(trace);
	return end;
}
