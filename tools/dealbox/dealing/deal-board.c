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
	const struct dealbox_reason *reason = dealbox_machine_reason(run->machine);

	/* what the machine answers overtakes its events, and its event says more */
	if (!run->fault) {
		fault_seen(run);
		return END_AGAIN;
	}
	if (!run->acted) {
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

/* On a machine that reads numbers: whether it is the board that is expected, only the operator knows. */
static bool label_unread(const struct run *run, const struct dealbox_status *status)
{
	return run->info.capabilities & DEALBOX_CAP_BOARD_READER && !status->board &&
	       run->vouched != status->insertion;
}

static const char *label_ask(struct run *run, const struct dealbox_status *status, char text[160])
{
	run->unread = status->insertion;
	snprintf(text, 160, "its number cannot be read: clean the label and put it in again; or press the start "
		 "key or Enter if it is board %u", run->item->board);
	return text;
}

/* What the operator must do before the board can be dealt; NULL = nothing. */
static const char *board_need(struct run *run, const struct dealbox_status *status, char text[160])
{
	bool used = board_used(run, status);
	uint32_t board = run->item->board;

	run->unread = 0;
	if (!(status->flags & DEALBOX_STATUS_BOARD))
		snprintf(text, 160, run->empty_it ?
			 "put the emptied board %u in again, and all the cards into the hopper" :
			 "put in an empty board %u", board);
	else if (run->removed && run->removed == run->used && status->insertion == run->used)
		snprintf(text, 160, "the machine calls it insertion %u, which was dealt: no number may come twice; "
			 "switch the machine off and on", run->used);
	else if (run->ask && status->insertion == run->used &&
		 !(status->flags & DEALBOX_STATUS_SPENT) &&
		 !journal_has(&run->journal, status->insertion))
		snprintf(text, 160, run->empty_it ?
			 "take the board out, empty it, and put it in again; or press the start key or Enter if it is empty" :
			 "it may be the last board: take it out, and put in an empty board %u; or press the start "
			 "key or Enter if this one is empty", board);
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
 * its cards: only the operator can say that it is empty. False: events may tell more, in a moment.
 */
static bool board_known(struct run *run, const struct dealbox_status *status)
{
	uint32_t insertion = status->flags & DEALBOX_STATUS_BOARD ? status->insertion : 0;
	bool other = run->known && insertion && insertion != run->known;

	if (other && !run->overtaken) {
		run->overtaken = true;
		return false;
	}
	if (other) {
		run->used = insertion;
		run->ask = true;
	}
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

/* The operator says that the board is empty, or which it is, where only he can know. */
static void board_vouched(struct run *run)
{
	if (run->unread) {
		run->vouched = run->unread;
	} else if (run->ask) {
		run->used = 0;
		run->ask = false;
	}
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

/* An event between two deals; asked: the operator has been asked for something. END_READY: go on. */
static enum end board_event(struct run *run, const struct dealbox_event *event, bool asked)
{
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
		run->ask = false;
		break;
	case DEALBOX_EV_BOARD_REMOVED:
		run->removed = event->insertion;
		run->acted = true;
		if (event->insertion == run->known || event->insertion == run->used)
			run->known = 0;
		break;
	case DEALBOX_EV_BOARD_INSERTED:
		run->acted = true;
		break;
	}
	if (start_key(event)) {
		run->acted = true;
		if (asked)
			board_vouched(run);
	}
	return END_READY;
}

enum end board_wait(struct run *run, uint32_t *insertion)
{
	struct dealbox_status status = { 0 };
	struct dealbox_event event;
	int timeout_ms = 0;	/* first all that has come already: the status is newer */
	bool asked = false;
	enum end end;

	run->cards = 0;
	for (;;) {
		switch (next(run, &event, timeout_ms)) {
		case WAKE_EVENT:
			end = board_event(run, &event, asked);
			if (end != END_READY)
				return end;
			timeout_ms = run->overtaken && run->known ? LOOK_MS : 0;
			continue;
		case WAKE_GO:
			run->acted = true;
			if (asked)
				board_vouched(run);
			break;
		case WAKE_STOP:
			return END_STOPPED;
		case WAKE_GONE:
			return machine_failed(run);
		case WAKE_QUIET:
			break;
		}
		end = board_look(run, &status);
		*insertion = status.insertion;
		if (end != END_AGAIN)
			return end;
		asked |= status.state != DEALBOX_STATE_FAULT && !run->overtaken;
		timeout_ms = status.state == DEALBOX_STATE_FAULT || run->overtaken ? LOOK_MS : -1;
	}
}
