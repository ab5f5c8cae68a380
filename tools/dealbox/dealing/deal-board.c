// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <string.h>

#include "deal-run.h"
#include "ui/event-text.h"

/* how often a fault is tried to be cleared; what a status tells comes as an event, too, by then */
#define LOOK_MS		1000

/* A deal that we do not know, or no longer: what lies in the board is void. */
static enum end deal_abandon(struct run *run, const struct dealbox_status *status)
{
	run->used = run->known = status->insertion;
	run->empty_it = true;
	run->confirm = true;
	tell(run, "the machine was in the middle of a deal: that board is void");
	/* refused: it ended by itself in the meantime */
	if (dealbox_machine_abort(run->machine) && !dealbox_machine_result(run->machine, NULL))
		return machine_failed(run);
	return END_AGAIN;
}

/*
 * Somebody has moved the board, or pressed start: not before that. While the board is still in, it is
 * no news that the machine stands: the operator was told to take it out.
 */
static enum end fault_clear(struct run *run, const struct dealbox_status *status)
{
	const struct dealbox_error *reason = dealbox_machine_error(run->machine);

	/*
	 * What the machine answers overtakes its events. Those that are still to come are older than
	 * the fault, or one of them is the fault's own, and tells what is newer.
	 */
	run->fault = true;
	if (!run->fault_told)
		return END_AGAIN;
	if (!run->acted) {
		run->asks = ASKS_FAULT;
		if (!(run->empty_it && status->insertion == run->used))
			tell(run, "the machine stands still after a fault: see to it, then press the start key or Enter");
		return END_AGAIN;
	}
	if (!dealbox_machine_clear_fault(run->machine))
		return END_AGAIN;
	if (!dealbox_machine_result(run->machine, NULL))
		return machine_failed(run);
	if (!(run->empty_it && status->insertion == run->used))
		tell(run, "%s: %s", reason->what, reason->next);
	return END_AGAIN;
}

/* What was dealt into, as far as we or the machine know, is not dealt into again. */
static bool board_used(const struct run *run, const struct dealbox_status *status)
{
	return status->insertion == run->used || status->flags & DEALBOX_STATUS_SPENT ||
	       journal_has(&run->journal, status->insertion);
}

/* Does it hold cards that nobody knows? */
static bool board_strange(const struct run *run, const struct dealbox_status *status)
{
	return status->flags & DEALBOX_STATUS_IN_DOUBT ||
	       (status->flags & DEALBOX_STATUS_SPENT && !journal_has(&run->journal, status->insertion));
}

/* On a machine that reads numbers: whether it is the board that is expected, only the operator knows. */
static bool label_unread(const struct run *run, const struct dealbox_status *status)
{
	return run->info.capabilities & DEALBOX_CAP_BOARD_READER && !status->board &&
	       run->vouched != status->insertion;
}

static const char *label_ask(struct run *run, const struct dealbox_status *status, char text[160])
{
	run->asks = ASKS_NUMBER;
	run->asks_of = status->insertion;
	snprintf(text, 160, "its number cannot be read: clean the label and put it in again; or press the start "
		 "key or Enter if it is board %u", run->item->board);
	return text;
}

/* After a board with cards that are void, or that nobody knows: this may be the same. */
static const char *empty_ask(struct run *run, const struct dealbox_status *status, char text[160])
{
	run->asks = ASKS_EMPTY;
	run->asks_of = status->insertion;
	snprintf(text, 160, run->empty_it ?
		 "look into the board: press the start key or Enter if it is empty; else take it out, empty it, "
		 "and put it in again" :
		 "it may be the last board: take it out, and put in an empty board %u; or press the start "
		 "key or Enter if this one is empty", run->item->board);
	return text;
}

/* What the operator must do before the board can be dealt; NULL = nothing. */
static const char *board_need(struct run *run, const struct dealbox_status *status, char text[160])
{
	bool used = board_used(run, status);
	uint32_t board = run->item->board;

	if (!(status->flags & DEALBOX_STATUS_BOARD))
		snprintf(text, 160, run->empty_it ?
			 "put the emptied board %u in again, and all the cards into the hopper" :
			 "put in an empty board %u", board);
	else if (run->removed && run->removed == run->used && status->insertion == run->used)
		snprintf(text, 160, "the machine calls it insertion %u, which was dealt: no number may come twice; "
			 "switch the machine off and on", run->used);
	else if (run->empty_it && used)
		return EMPTY_IT;
	else if (status->flags & DEALBOX_STATUS_IN_DOUBT)
		return "the board was there when the machine was switched on: take it out, empty it, and put it in again";
	else if (used)
		snprintf(text, 160, "take the dealt board out, and put in an empty board %u", board);
	else if (status->board && status->board != board)
		snprintf(text, 160, "this is board %u: take it out, and put in an empty board %u",
			 status->board, board);
	else if (label_unread(run, status))
		return label_ask(run, status, text);
	else if (status->flags & DEALBOX_STATUS_COVER_OPEN)
		return "close the cover";
	else if (!(status->flags & DEALBOX_STATUS_HOPPER))
		return "put a pack of cards into the hopper";
	else if (run->confirm && run->emptied != status->insertion)
		return empty_ask(run, status, text);
	else
		return NULL;
	return text;
}

/* Boards that are done with, exact or void, are not held back. */
static void board_release(struct run *run, const struct dealbox_status *status)
{
	if (!(run->info.capabilities & DEALBOX_CAP_BOARD_LOCK) || !status->insertion ||
	    status->insertion == run->released || !board_used(run, status))
		return;
	if (!dealbox_machine_release_board(run->machine))
		run->released = status->insertion;
}

/*
 * Is it the board that we know? Under another number, without having been seen to go, it may be, with
 * its cards; only the operator can say that it is empty. False: events may tell more, in a moment.
 */
static bool board_known(struct run *run, const struct dealbox_status *status)
{
	uint32_t insertion = status->flags & DEALBOX_STATUS_BOARD ? status->insertion : 0;
	bool other = run->known && insertion && insertion != run->known;

	if (other && !run->overtaken) {
		run->overtaken = true;
		return false;
	}
	run->confirm |= other;
	run->overtaken = false;
	run->known = insertion;
	return true;
}

/* One look at the machine: ready, or what is in the way has been told or mended. */
static enum end board_look(struct run *run, struct dealbox_status *status)
{
	const char *need;
	char text[160];
	enum end end;

	if (dealbox_machine_get_status(run->machine, status))
		return machine_failed(run);
	run->fault &= status->state == DEALBOX_STATE_FAULT;
	run->fault_told &= run->fault;
	run->asks = ASKS_NOTHING;
	if (!board_known(run, status))
		return END_AGAIN;
	switch (status->state) {
	case DEALBOX_STATE_FAULT:
		board_release(run, status);
		return fault_clear(run, status);
	case DEALBOX_STATE_DEALING:
	case DEALBOX_STATE_PAUSED:
	case DEALBOX_STATE_HELD:
		return deal_abandon(run, status);
	}
	if (!(status->flags & DEALBOX_STATUS_BOARD))
		run->removed = run->used;
	run->confirm |= board_strange(run, status);
	end = plan_load(run);
	if (end != END_READY)
		return end;
	board_release(run, status);
	need = board_need(run, status, text);
	if (!need)
		return END_READY;
	tell(run, "%s", need);
	return END_AGAIN;
}

/* The operator has pressed start or Enter: that answers what he was asked, and nothing else. */
static void board_answered(struct run *run)
{
	if (run->asks == ASKS_FAULT)
		run->acted = true;
	else if (run->asks == ASKS_NUMBER)
		run->vouched = run->asks_of;
	else if (run->asks == ASKS_EMPTY)
		run->emptied = run->asks_of;
	run->asks = ASKS_NOTHING;
}

/* A stop behind the end of a deal, while its board is there: what was called exact is void. */
static enum end board_spoiled(struct run *run, const struct dealbox_event *event)
{
	struct item *item;
	size_t n;

	fault_seen(run);
	for (n = 0; event->insertion && n < run->journal.item_count; n++) {
		item = &run->journal.items[n];
		if (item->state != ITEM_EXACT || item->insertion != event->insertion)
			continue;
		run->item = item;
		run->exact -= !!run->exact;
		return insertion_void(run, NULL, "%s behind its end, so it is not exact after all",
				      dealbox_event_name(event->type));
	}
	return END_READY;
}

/* An event between two deals. END_READY: go on. */
static enum end board_event(struct run *run, const struct dealbox_event *event)
{
	/* behind STATE_LOST the machine tells of a board that has been there */
	bool anew = run->lost;

	run->lost = event->type == DEALBOX_EV_STATE_LOST;
	if (event_voids(event))
		return board_spoiled(run, event);
	switch (event->type) {
	case DEALBOX_EV_STATE_LOST:
		run->plan_loaded = false;
		break;
	case DEALBOX_EV_DEAL_STARTED:
		/* not by us, or refused at first: it has cards now */
		run->used = event->insertion;
		run->empty_it = true;
		run->confirm = true;
		break;
	case DEALBOX_EV_BOARD_REMOVED:
		run->removed = event->insertion;
		run->acted = true;
		if (event->insertion == run->known || event->insertion == run->used)
			run->known = 0;
		break;
	case DEALBOX_EV_BOARD_INSERTED:
		run->acted |= !anew;
		break;
	}
	if (start_key(event))
		board_answered(run);
	return END_READY;
}

/* Has the status told what an event is still to tell? */
static bool news_due(const struct run *run)
{
	return (run->overtaken && run->known) || (run->fault && !run->fault_told);
}

enum end board_wait(struct run *run, uint32_t *insertion)
{
	struct dealbox_status status = { 0 };
	struct dealbox_event event;
	int timeout_ms = 0;	/* first all that has come already: the status is newer */
	enum end end;

	run->cards = 0;
	run->asks = ASKS_NOTHING;
	for (;;) {
		switch (next(run, &event, timeout_ms)) {
		case WAKE_EVENT:
			end = board_event(run, &event);
			if (end != END_READY)
				return end;
			timeout_ms = news_due(run) ? LOOK_MS : 0;
			continue;
		case WAKE_GO:
			board_answered(run);
			break;
		case WAKE_STOP:
			return END_STOPPED;
		case WAKE_GONE:
			return machine_failed(run);
		case WAKE_QUIET:
			/* nothing that is older than it comes any more */
			if (run->fault && !run->fault_told)
				fault_seen(run);
			break;
		}
		end = board_look(run, &status);
		*insertion = status.insertion;
		if (end != END_AGAIN)
			return end;
		timeout_ms = status.state == DEALBOX_STATE_FAULT || run->overtaken ? LOOK_MS : -1;
	}
}
