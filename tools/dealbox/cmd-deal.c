// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox deal: a set, dealt board by board and copy by copy.
 *
 * The rules (design: any doubt is void):
 *  - the journal says "started" on disk before the machine is told to start;
 *  - a board counts when its trace is complete and the verdict is "exact", and
 *    that is on disk before the next one is asked for;
 *  - everything else makes the board void: it must be taken out and emptied, and
 *    is dealt again under the number of its new insertion.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <dealbox/machine.h>
#include <dealbox/plan.h>
#include <dealbox/trace.h>
#include <dealbox/verify.h>

#include "deal-law.h"
#include "events.h"
#include "journal.h"
#include "certifier.h"
#include "sealed.h"
#include "setfile.h"
#include "tournament.h"
#include "tool.h"
#include "tracefile.h"

#define COPIES_MAX	99
#define EVENTS_MAX	1024	/* as many as the kernel's queue holds */
#define QUIET_MS	10000	/* longer than a machine may be silent while it deals */
#define PAUSE_MS	3000	/* PAUSE to PAUSED, and a second more */
#define FAULT_MS	1000	/* how often a fault is tried to be cleared */
#define REFUSALS_MAX	3	/* of START, in a row */

#define NOTHING_DEALT	"nothing was dealt"
#define EMPTY_IT	"take the board out, empty it, put all the cards into the hopper, " \
			"and put the board in again"

struct options {
	const char *uri;
	const char *boards_text;
	const char *copies_text;
	const char *record;
	const char *certify;
	bool resume;
	bool practice;
	bool json;
	bool reveal;
	struct boards boards;
	unsigned long copies;
};

struct run {
	const struct options *options;
	struct dealbox_machine *machine;
	struct dealbox_info info;
	const struct dealbox_set *set;
	struct journal journal;
	FILE *record;
	struct certifier *certifier;	/* NULL = nothing is certified */
	struct dealbox_square_session session;	/* that it is dealt for */
	int signal_fd;
	bool stdin_open;

	/* events that were read and not looked at yet */
	struct dealbox_event events[EVENTS_MAX];
	size_t event_first, event_count;

	struct item *item;		/* what is dealt now */
	struct dealbox_plan plan;	/* of plan_board */
	uint32_t plan_board;
	bool plan_loaded;		/* the machine has it */
	uint32_t used;			/* insertion that must not be dealt into (again) */
	bool empty_it;			/* .. because what lies in it is void */
	bool ask;			/* .. unless the operator says that it is empty */
	uint32_t released;		/* insertion whose board was let go */
	unsigned int refusals;		/* of START, in a row */
	unsigned int cards;		/* dealt in this insertion */
	char told[320];			/* to the operator, last */

	unsigned int exact, voids;
	struct timespec begin;
};

/* How an attempt ends. */
enum end {
	END_EXACT,
	END_VOID,	/* deal it again */
	END_AGAIN,	/* nothing was dealt: try again */
	END_READY,	/* board_wait() only: a board is there */
	END_STOPPED,	/* by Ctrl-C */
	END_MACHINE,	/* it is gone or broken, which has been said */
	END_INPUT,	/* our side cannot go on, which has been said */
};

/* What there is to do next. */
enum wake {
	WAKE_EVENT,
	WAKE_GO,	/* the operator pressed Enter */
	WAKE_STOP,	/* Ctrl-C */
	WAKE_QUIET,	/* nothing, for as long as asked */
	WAKE_GONE,
};

static double seconds_since(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

/* "board 3", or "board 3, copy 2" when there are copies. */
static const char *item_name(const struct run *run, char text[48])
{
	if (run->journal.copies > 1)
		snprintf(text, 48, "board %u, copy %u", run->item->board, run->item->copy);
	else
		snprintf(text, 48, "board %u", run->item->board);
	return text;
}

static void progress_show(const struct run *run)
{
	double seconds = seconds_since(&run->begin);
	char name[48];

	if (run->options->json)
		return;
	progress("%s: card %u/%u, %.0f boards per hour", item_name(run, name), run->cards,
		 DEALBOX_CARDS, seconds > 0 ? run->exact * 3600 / seconds : 0);
}

/* Tells the operator what to do; once, until there is something else to tell. */
static void tell(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void tell(struct run *run, const char *format, ...)
{
	char text[sizeof(run->told)], name[48];
	struct json_object *object;
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (!strcmp(text, run->told))
		return;
	strcpy(run->told, text);
	if (!run->options->json) {
		say("%s: %s", item_name(run, name), text);
		return;
	}
	object = json_object_new_object();
	json_add_text(object, "event", "operator");
	json_add_number(object, "board", run->item->board);
	json_add_number(object, "copy", run->item->copy);
	json_add_text(object, "text", text);
	json_say(object);
}

/* The last call failed: says why. */
static enum end machine_failed(const struct run *run)
{
	const struct dealbox_reason *reason = dealbox_machine_reason(run->machine);

	complain(reason->next, "%s", reason->what);
	return END_MACHINE;
}

/* ---- what happens next --------------------------------------------------- */

static bool stop_asked(const struct run *run)
{
	struct signalfd_siginfo info;

	return read(run->signal_fd, &info, sizeof(info)) > 0;
}

/* The operator's Enter. At the end of standard input there is nobody to press it. */
static bool enter_pressed(struct run *run)
{
	char keys[64];

	if (read(STDIN_FILENO, keys, sizeof(keys)) > 0)
		return true;
	run->stdin_open = false;
	return false;
}

static enum wake next(struct run *run, struct dealbox_event *event, int timeout_ms)
{
	struct pollfd wait[] = {
		{ .fd = dealbox_machine_fd(run->machine), .events = POLLIN },
		{ .fd = run->signal_fd, .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
	};
	ssize_t count;

	for (;;) {
		if (run->event_count) {
			*event = run->events[run->event_first];
			explicit_bzero(&run->events[run->event_first++], sizeof(*event));
			run->event_count--;
			return WAKE_EVENT;
		}
		if (stop_asked(run))
			return WAKE_STOP;
		count = dealbox_machine_read(run->machine, run->events, EVENTS_MAX);
		if (count > 0) {
			run->event_first = 0;
			run->event_count = (size_t)count;
			continue;
		}
		if (count != -EAGAIN)
			return WAKE_GONE;
		wait[2].fd = run->stdin_open ? STDIN_FILENO : -1;
		if (!poll(wait, 3, timeout_ms))
			return WAKE_QUIET;
		if (wait[2].revents && enter_pressed(run))
			return WAKE_GO;
	}
}

static bool start_key(const struct dealbox_event *event)
{
	return event->type == DEALBOX_EV_KEY && event->code == DEALBOX_KEY_START && event->arg[0];
}

/* ---- plan and board ------------------------------------------------------- */

static enum end plan_make(struct run *run)
{
	struct dealbox_board board;
	uint32_t id;
	long index;
	int ret;

	if (run->plan_board == run->item->board)
		return END_READY;
	do {
		if (getrandom(&id, sizeof(id), 0) != sizeof(id))
			id = DEALBOX_PLAN_NONE;
	} while (id == DEALBOX_PLAN_NONE || id == DEALBOX_PLAN_TEST);
	index = dealbox_set_find(run->set, run->item->board);
	ret = index < 0 ? (int)index : dealbox_set_get(run->set, (size_t)index, &board);
	if (!ret)
		ret = dealbox_plan_by_card(&run->plan, id, &board.deal,
					   dealbox_set_pack(run->set), NULL);
	dealbox_deal_wipe(&board.deal);
	if (ret) {
		complain(NULL, "board %u cannot be dealt: %s", run->item->board, strerror(-ret));
		return END_INPUT;
	}
	run->plan_board = run->item->board;
	run->plan_loaded = false;
	return END_READY;
}

static enum end plan_load(struct run *run)
{
	if (run->plan_loaded)
		return END_READY;
	if (dealbox_machine_set_plan(run->machine, &run->plan))
		return machine_failed(run);
	run->plan_loaded = true;
	return END_READY;
}

/*
 * The deal shall not stay in the machine when the job is done. Refused by a machine in the
 * middle of a deal, which needs it; one that is gone has forgotten it.
 */
static void plan_forget(struct run *run)
{
	struct dealbox_plan none = { 0 };

	if (run->plan_loaded)
		dealbox_machine_set_plan(run->machine, &none);
}

/* A deal that we do not know, or no longer: what lies in the board is void. */
static enum end deal_abandon(struct run *run, const struct dealbox_status *status)
{
	run->used = status->insertion;
	run->empty_it = true;
	tell(run, "the machine was in the middle of a deal: that board is void");
	/* refused: it ended by itself in the meantime */
	if (dealbox_machine_abort(run->machine) && !dealbox_machine_result(run->machine, NULL))
		return machine_failed(run);
	return END_AGAIN;
}

/* While the board is still in, a refusal is no news: the operator was told to take it out. */
static enum end fault_clear(struct run *run, const struct dealbox_status *status)
{
	const struct dealbox_reason *reason = dealbox_machine_reason(run->machine);

	if (!dealbox_machine_clear_fault(run->machine))
		return END_AGAIN;
	if (!dealbox_machine_result(run->machine, NULL))
		return machine_failed(run);
	if (!(run->empty_it && status->insertion == run->used))
		tell(run, "%s: %s", reason->what, reason->next);
	return END_AGAIN;
}

/* What the operator must do before the board can be dealt; NULL = nothing. */
static const char *board_need(const struct run *run, const struct dealbox_status *status,
			      char text[128])
{
	uint32_t board = run->item->board;

	if (!(status->flags & DEALBOX_STATUS_BOARD))
		snprintf(text, 128, run->empty_it ?
			 "put the emptied board %u in again, and all the cards into the hopper" :
			 "put in an empty board %u", board);
	else if (run->ask && status->insertion == run->used &&
		 !(status->flags & DEALBOX_STATUS_SPENT))
		return "take the board out, empty it, and put it in again; or press the start key or Enter if it is empty";
	else if (run->empty_it && (status->insertion == run->used ||
				   status->flags & DEALBOX_STATUS_SPENT))
		return EMPTY_IT;
	else if (status->flags & DEALBOX_STATUS_IN_DOUBT)
		return "the board was there when the machine was switched on: take it out, empty it, and put it in again";
	else if (status->insertion == run->used || status->flags & DEALBOX_STATUS_SPENT)
		snprintf(text, 128, "take the dealt board out, and put in an empty board %u", board);
	else if (status->board && status->board != board)
		snprintf(text, 128, "this is board %u: take it out, and put in an empty board %u",
			 status->board, board);
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
	    status->insertion == run->released ||
	    (status->insertion != run->used && !(status->flags & DEALBOX_STATUS_SPENT)))
		return;
	if (!dealbox_machine_release_board(run->machine))
		run->released = status->insertion;
}

/* One look at the machine: ready, or what is in the way has been told or mended. */
static enum end board_look(struct run *run, struct dealbox_status *status)
{
	const char *need;
	char text[128];
	enum end end;

	if (dealbox_machine_get_status(run->machine, status))
		return machine_failed(run);
	switch (status->state) {
	case DEALBOX_STATE_FAULT:
		board_release(run, status);
		return fault_clear(run, status);
	case DEALBOX_STATE_DEALING:
	case DEALBOX_STATE_PAUSED:
	case DEALBOX_STATE_HELD:
		return deal_abandon(run, status);
	}
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

/* The operator says that the board is empty, where only he can know. */
static void board_vouched(struct run *run)
{
	if (run->ask) {
		run->used = 0;
		run->ask = false;
	}
}

/* An event between two deals; asked: the operator has been asked for something. */
static void board_event(struct run *run, const struct dealbox_event *event, bool asked)
{
	if (event->type == DEALBOX_EV_STATE_LOST)
		run->plan_loaded = false;
	if (asked && start_key(event))
		board_vouched(run);
}

/* Waits for a board that can be dealt; its insertion. */
static enum end board_wait(struct run *run, uint32_t *insertion)
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
			board_event(run, &event, asked);
			timeout_ms = 0;
			continue;
		case WAKE_GO:
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
		asked = true;
		timeout_ms = status.state == DEALBOX_STATE_FAULT ? FAULT_MS : -1;
	}
}

/* ---- one insertion -------------------------------------------------------- */

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

static enum end insertion_void(struct run *run, const struct dealbox_verdict *verdict,
			       const char *format, ...) __attribute__((format(printf, 3, 4)));

static enum end insertion_void(struct run *run, const struct dealbox_verdict *verdict,
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
	outcome_say(run, false, text, verdict);
	if (!run->ask)
		tell(run, EMPTY_IT);
	return journal_save(&run->journal) ? END_VOID : END_INPUT;
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
	int ret;

	run->item->insertion = insertion;
	run->item->state = ITEM_STARTED;
	if (!journal_save(&run->journal))
		return END_INPUT;
	ret = dealbox_machine_start(run->machine, run->plan.plan_id, insertion);
	if (ret != -EREMOTEIO) {
		run->used = insertion;
		run->ask = false;
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
	run->item->state = ITEM_TODO;
	if (!journal_save(&run->journal))
		return END_INPUT;
	return ++run->refusals < REFUSALS_MAX ? END_AGAIN : machine_failed(run);
}

/* What the operator can do about a stop after which the deal goes on. */
static void held_tell(struct run *run, const struct dealbox_event *event)
{
	static const struct {
		uint32_t type;
		const char *what;
	} texts[] = {
		{ DEALBOX_EV_CARD_UNREADABLE,
		  "cannot be read: turn it, clean it, or exchange it for the same card" },
		{ DEALBOX_EV_NOT_IN_PLAN,
		  "does not belong to the pack (a joker, another pack): take it out" },
		{ DEALBOX_EV_GATE_LATE, "waits: the computer answered too late" },
		{ DEALBOX_EV_FEED_TIMEOUT, "does not come: look into the hopper" },
		{ DEALBOX_EV_DECK_SHORT, "is missing: the hopper is empty, put in the rest of the pack" },
	};
	const char *what = "stopped the machine";
	size_t n;

	for (n = 0; n < sizeof(texts) / sizeof(*texts); n++)
		if (texts[n].type == event->type)
			what = texts[n].what;
	run->told[0] = '\0';	/* each stop is news */
	tell(run, "card %u %s; then press the start key or Enter", event->position + 1u, what);
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
	tell(run, "%s: %s", dealbox_machine_reason(run->machine)->what,
	     dealbox_machine_reason(run->machine)->next);
	return END_READY;
}

/* Ctrl-C in a deal. END_READY: the machine will say that it has paused. */
static enum end insertion_pause(struct run *run)
{
	struct dealbox_status status;

	if (!dealbox_machine_pause(run->machine))
		return END_READY;
	if (dealbox_machine_get_status(run->machine, &status))
		return machine_failed(run);
	return status.state == DEALBOX_STATE_HELD || status.state == DEALBOX_STATE_PAUSED ?
	       END_STOPPED : END_READY;
}

/* Events of a deal. END_READY: it goes on. */
static enum end insertion_event(struct run *run, const struct dealbox_trace *trace,
				const struct dealbox_event *event)
{
	if (event_voids(event)) {
		if (event->position != DEALBOX_NONE)
			return insertion_void(run, NULL, "%s at card %u",
					      dealbox_event_name(event->type), event->position + 1u);
		return insertion_void(run, NULL, "%s", dealbox_event_name(event->type));
	}
	if (dealbox_trace_gap(trace)) {
		/* refused: it has ended by itself */
		dealbox_machine_abort(run->machine);
		return insertion_void(run, NULL, "events of the machine were lost");
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
	case DEALBOX_EV_DEAL_DONE:
		return insertion_judge(run, trace);
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

/* The machine has been silent for so long that something may have been lost. */
static enum end insertion_quiet(struct run *run)
{
	struct dealbox_status status;

	if (dealbox_machine_get_status(run->machine, &status))
		return machine_failed(run);
	if (status.insertion == run->item->insertion &&
	    (status.state == DEALBOX_STATE_DEALING || status.state == DEALBOX_STATE_HELD ||
	     status.state == DEALBOX_STATE_PAUSED))
		return END_READY;
	return insertion_void(run, NULL, "the end of the deal was not reported");
}

/* Follows a deal that was started, to its end. */
static enum end insertion_follow(struct run *run, struct dealbox_trace **trace)
{
	uint32_t insertion = run->item->insertion;
	bool started = false, stopping = false;
	struct dealbox_event event;
	enum end end = END_READY;

	while (end == END_READY) {
		switch (next(run, &event, stopping ? PAUSE_MS : QUIET_MS)) {
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
			end = stopping ? END_STOPPED : insertion_quiet(run);
			continue;
		case WAKE_EVENT:
			break;
		}
		started |= event.type == DEALBOX_EV_DEAL_STARTED && event.insertion == insertion;
		if (!started && event.type == DEALBOX_EV_STATE_LOST) {
			/* of before the start, or the end of it: the machine knows */
			end = insertion_quiet(run);
			continue;
		}
		if (started || event.type >= DEALBOX_EV_DEAL_STARTED) {
			dealbox_trace_add(*trace, &event);
			tracefile_event(run->record, &event);
			end = insertion_event(run, *trace, &event);
		}
		if (stopping && end == END_READY &&
		    (event.type == DEALBOX_EV_PAUSED || event_holds(&event)))
			end = END_STOPPED;
	}
	/* the deal ended before the pause took hold: that is where the job stands */
	return stopping && (end == END_EXACT || end == END_VOID) ? END_STOPPED : end;
}

static enum end insertion_deal(struct run *run, uint32_t insertion)
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
				run->plan.plan_id);
		progress_show(run);
		end = insertion_follow(run, &trace);
		progress(NULL);
		if (!tracefile_end(run->record))
			end = END_INPUT;
	}
	dealbox_trace_free(trace);
	return end;
}

/* ---- the job -------------------------------------------------------------- */

/*
 * An earlier run ended in the middle of this item. When its insertion is still
 * there and not spent, the machine never began. Otherwise it is void, and a board
 * that is there now may have been put in again with its cards: the operator must
 * move it, or say that it is empty.
 */
static enum end item_doubt(struct run *run, const struct item *item)
{
	struct dealbox_status status;

	if (dealbox_machine_get_status(run->machine, &status))
		return machine_failed(run);
	if (status.insertion == item->insertion && !(status.flags & DEALBOX_STATUS_SPENT))
		return END_AGAIN;
	run->used = status.insertion;
	run->ask = status.insertion != item->insertion;
	run->empty_it = true;
	return END_VOID;
}

/* Goes on where the last run ended. */
static enum end job_take_up(struct run *run)
{
	enum end end;
	size_t n;

	for (n = 0; n < run->journal.item_count; n++) {
		run->item = &run->journal.items[n];
		if (run->item->state != ITEM_STARTED)
			continue;
		end = item_doubt(run, run->item);
		if (end == END_VOID)
			return insertion_void(run, NULL,
					      "the last run ended in the middle of it (insertion %u)",
					      run->item->insertion);
		run->item->state = ITEM_TODO;
		return end;
	}
	return END_READY;
}

static enum end job_deal(struct run *run)
{
	uint32_t insertion;
	enum end end;

	while ((run->item = journal_next(&run->journal))) {
		end = plan_make(run);
		if (end == END_READY)
			end = board_wait(run, &insertion);
		if (end == END_READY)
			end = insertion_deal(run, insertion);
		if (end > END_AGAIN)
			return end;
	}
	return END_EXACT;
}

static void summary_say(const struct run *run, enum end end)
{
	double seconds = seconds_since(&run->begin);
	const struct item *item = journal_next(&run->journal);
	struct json_object *object;
	size_t n, exact = 0;

	for (n = 0; n < run->journal.item_count; n++)
		exact += run->journal.items[n].state == ITEM_EXACT;
	if (run->options->json) {
		object = json_object_new_object();
		json_add_text(object, "event", "summary");
		json_add_number(object, "boards", (int64_t)run->journal.item_count);
		json_add_number(object, "exact", (int64_t)exact);
		json_add_number(object, "dealt", run->exact);
		json_add_number(object, "voids", run->voids);
		json_object_object_add(object, "seconds", json_object_new_double(seconds));
		json_object_object_add(object, "done", json_object_new_boolean(!item));
		json_say(object);
	} else {
		say("%zu of %zu boards are exact duplicates; %u void and dealt again; %.0f s, %.0f boards per hour",
		    exact, run->journal.item_count, run->voids, seconds,
		    seconds > 0 ? run->exact * 3600 / seconds : 0);
	}
	if (!item)
		return;
	if (item->state == ITEM_STARTED)
		complain("empty that board; `dealbox deal --resume` goes on",
			 "stopped in the middle of board %u, copy %u, after card %u of %u%s",
			 item->board, item->copy, run->cards, DEALBOX_CARDS,
			 end == END_STOPPED ? ": the machine is paused" : "");
	else
		complain("`dealbox deal --resume` goes on", "stopped before board %u, copy %u",
			 item->board, item->copy);
}

static enum status job_run(struct run *run)
{
	enum end end = job_take_up(run);

	clock_gettime(CLOCK_MONOTONIC, &run->begin);
	if (end <= END_READY)
		end = job_deal(run);
	summary_say(run, end);
	if (!journal_next(&run->journal)) {
		journal_remove(&run->journal);
		return STATUS_DONE;
	}
	switch (end) {
	case END_MACHINE:
		return STATUS_MACHINE;
	case END_INPUT:
		return STATUS_INPUT;
	default:
		return STATUS_NO;
	}
}

static int by_board(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->board != y->board)
		return x->board < y->board ? -1 : 1;
	return x->copy < y->copy ? -1 : x->copy > y->copy;
}

/* A new job: the boards asked for, each with its copies. */
static bool job_new(struct run *run, char *const *files, int count)
{
	const struct options *options = run->options;
	struct journal *journal = &run->journal;
	size_t boards = dealbox_set_count(run->set), n;
	struct dealbox_board board;
	uint32_t copy;

	journal->copies = (uint32_t)options->copies;
	journal->files = calloc((size_t)count + 1, sizeof(*journal->files));
	journal->items = calloc(boards * journal->copies + 1, sizeof(*journal->items));
	if (!journal->files || !journal->items)
		goto no_memory;
	for (; journal->file_count < (size_t)count; journal->file_count++) {
		journal->files[journal->file_count] = realpath(files[journal->file_count], NULL);
		if (!journal->files[journal->file_count])
			goto no_memory;
	}
	for (n = 0; n < boards; n++) {
		dealbox_set_get(run->set, n, &board);
		dealbox_deal_wipe(&board.deal);
		if (options->boards_text && !boards_has(&options->boards, board.number))
			continue;
		/* files of results have a board for each table: it is dealt once */
		if (dealbox_set_find(run->set, board.number) != (long)n)
			continue;
		for (copy = 1; copy <= journal->copies; copy++)
			journal->items[journal->item_count++] = (struct item){
				.board = board.number, .copy = copy };
	}
	qsort(journal->items, journal->item_count, sizeof(*journal->items), by_board);
	return true;

no_memory:
	complain("free some memory", "out of memory");
	return false;
}

/* Boards that were asked for and are not in the files. */
static bool boards_there(const struct options *options, const struct dealbox_set *set)
{
	unsigned int board;

	for (board = 1; options->boards_text && board <= BOARDS_MAX; board++) {
		if (!boards_has(&options->boards, board) || dealbox_set_find(set, board) >= 0)
			continue;
		complain("`dealbox show` lists the boards of a file", "board %u is not in the set",
			 board);
		return false;
	}
	return true;
}

/* May the set be dealt: as a session, and with what is recorded of it? */
static bool set_allowed(const struct options *options, const struct dealbox_set *set,
			char *const *files, int count)
{
	if (dealbox_set_marks(set) & DEALBOX_MARK_RESTRICTED && !options->practice) {
		complain("--practice deals them all the same; no result of theirs may stand",
			 "the deals are restricted: they are not wholly random (Law 6E4)");
		return false;
	}
	for (int i = 0; options->record && i < count; i++) {
		if (!sealed_is(files[i]))
			continue;
		complain("deal without --record", "%s is sealed, and a record tells its deals", files[i]);
		return false;
	}
	return true;
}

/* The journal of the job to go on with, and its set. */
static enum status job_resume(struct run *run, struct args *args, struct dealbox_set **set)
{
	char digest[SETFILE_DIGEST];
	enum status status;
	int ret;

	ret = journal_load(&run->journal);
	if (ret) {
		if (ret == -ENOENT)
			complain("deal without --resume", "there is no job to resume on this machine");
		return STATUS_INPUT;
	}
	status = setfile_read(args->argc ? args->argv : run->journal.files,
			      args->argc ? args->argc : (int)run->journal.file_count,
			      run->options->reveal, NOTHING_DEALT, set);
	if (status != STATUS_DONE)
		return status;
	if (!set_allowed(run->options, *set, args->argc ? args->argv : run->journal.files,
			 args->argc ? args->argc : (int)run->journal.file_count))
		return STATUS_INPUT;
	setfile_digest(*set, digest);
	if (!strcmp(digest, run->journal.digest))
		return STATUS_DONE;
	complain("give the files of that job, unchanged; or deal without --resume",
		 "the job to resume has other deals than these files");
	return STATUS_INPUT;
}

static enum status job_begin(struct run *run, struct args *args)
{
	enum status end = STATUS_DONE;
	struct journal old = { 0 };
	const struct item *item;

	setfile_digest(run->set, run->journal.digest);
	memcpy(old.path, run->journal.path, sizeof(old.path));
	if (!access(old.path, F_OK) && !journal_load(&old)) {
		item = journal_next(&old);
		if (item)
			complain(NULL, "the job that stood at board %u, copy %u is given up",
				 item->board, item->copy);
		/* its board may still be there, with cards in it */
		if (item && item->state == ITEM_STARTED && item_doubt(run, item) == END_MACHINE)
			end = STATUS_MACHINE;
	}
	journal_free(&old);
	if (end != STATUS_DONE)
		return end;
	if (!job_new(run, args->argv, args->argc) || !journal_save(&run->journal))
		return STATUS_INPUT;
	return STATUS_DONE;
}

static bool machine_suits(const struct run *run)
{
	if (run->info.capabilities & DEALBOX_CAP_BY_CARD)
		return true;
	complain("use a machine with a card reader",
		 "%s cannot read cards: it would have to trust the order of the pack",
		 dealbox_machine_uri(run->machine));
	return false;
}

static bool signals_take(struct run *run)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	run->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return run->signal_fd >= 0;
}

/* One file, and it is of a session of the tournament that the certificates are for */
static bool certify_begin(struct run *run)
{
	struct dealbox_square_session *session = &run->session;
	struct certifier *certifier = calloc(1, sizeof(*certifier));
	bool good;

	run->certifier = certifier;
	if (run->journal.file_count != 1) {
		complain("deal one session at a time", "--certify wants one deal file");
		return false;
	}
	good = certifier && certifier_open(certifier, run->options->certify);
	return good && session_find(dealbox_manifest_square(certifier->manifest),
				    run->journal.files[0], "1", session);
}

/* With the machine open: claims it, finds the job, and deals it. */
static enum status deal_with(struct run *run, struct args *args, struct dealbox_set **set)
{
	enum status status;

	if (dealbox_machine_get_info(run->machine, &run->info) ||
	    dealbox_machine_claim(run->machine)) {
		machine_failed(run);
		return STATUS_MACHINE;
	}
	if (!machine_suits(run))
		return STATUS_MACHINE;
	if (!journal_place(&run->journal, run->info.serial) || !signals_take(run))
		return STATUS_INPUT;
	if (run->options->resume)
		status = job_resume(run, args, set);
	else
		status = job_begin(run, args);
	if (status != STATUS_DONE)
		return status;
	run->set = *set;
	if (run->options->record) {
		run->record = tracefile_create(run->options->record, run->options->resume);
		if (!run->record)
			return STATUS_INPUT;
	}
	if (run->options->certify && !certify_begin(run))
		return STATUS_INPUT;
	return job_run(run);
}

static enum status deal(struct args *args, const struct options *options)
{
	struct run *run = calloc(1, sizeof(*run));
	struct dealbox_set *set = NULL;
	struct dealbox_reason reason;
	enum status status = STATUS_INPUT;

	if (!run)
		return STATUS_INPUT;
	run->options = options;
	run->signal_fd = -1;
	run->stdin_open = true;
	/* input first: nobody shall fetch a machine for a file that cannot be dealt */
	if (!options->resume) {
		status = setfile_read(args->argv, args->argc, options->reveal, NOTHING_DEALT, &set);
		if (status != STATUS_DONE || !boards_there(options, set) ||
		    !set_allowed(options, set, args->argv, args->argc)) {
			status = STATUS_INPUT;
			goto out;
		}
		run->set = set;
	}
	if (dealbox_machine_open(options->uri, false, &run->machine, &reason)) {
		complain(reason.next, "%s", reason.what);
		status = STATUS_MACHINE;
		goto out;
	}
	status = deal_with(run, args, &set);
	plan_forget(run);
	dealbox_machine_close(run->machine);
out:
	if (run->record)
		fclose(run->record);
	if (run->certifier)
		certifier_close(run->certifier);
	free(run->certifier);
	if (run->signal_fd >= 0)
		close(run->signal_fd);
	journal_free(&run->journal);
	dealbox_set_free(set);
	explicit_bzero(run, sizeof(*run));
	free(run);
	return status;
}

enum {
	KEY_PRACTICE = OPT_LONG, KEY_CERTIFY, KEY_LAW, KEY_TURN, KEY_BEFORE, KEY_LAW_RECORD, KEY_LANG
};

static enum status deal_run(struct args *args)
{
	struct options options = { .copies = 1 };
	struct deal_law law = { 0 };
	const char *value;
	int key;

	while ((key = args_next(args, &value)) >= 0) {
		switch (key) {
		case 'm':
			options.uri = value;
			break;
		case 'b':
			options.boards_text = value;
			break;
		case 'c':
			options.copies_text = value;
			break;
		case 'r':
			options.resume = true;
			break;
		case 'k':
			sealed_use_key(value);
			break;
		case KEY_PRACTICE:
			options.practice = true;
			break;
		case KEY_CERTIFY:
			options.certify = value;
			break;
		case 't':
			options.record = value;
			break;
		case 'j':
			options.json = true;
			break;
		case KEY_LAW:
			law.rules = value;
			break;
		case KEY_TURN:
			law.turn = value;
			break;
		case KEY_BEFORE:
			law.before = value;
			break;
		case KEY_LAW_RECORD:
			law.record = value;
			break;
		case KEY_LANG:
			law.language = value;
			break;
		case KEY_REVEAL:
			options.reveal = true;
			break;
		}
	}
	if (key == ARGS_STOP)
		return args->status;
	if (law.rules) {
		if (args->argc || options.resume || options.boards_text || options.copies_text ||
		    options.record)
			return args_wrong(args, "--law deals a shuffled pack, and no deal file");
		law.uri = options.uri;
		law.json = options.json;
		return deal_by_law(&law);
	}
	if (law.turn || law.before || law.record || law.language)
		return args_wrong(args, "--turn, --before, --law-record and --lang go with --law");
	if (options.resume && (options.boards_text || options.copies_text))
		return args_wrong(args, "--resume takes boards and copies from the job that it resumes");
	if (!options.resume && !args->argc)
		return args_wrong(args, "it wants a deal file");
	if (options.boards_text &&
	    !args_boards(args, "boards", options.boards_text, &options.boards))
		return STATUS_INPUT;
	if (options.copies_text &&
	    !args_number(args, "copies", options.copies_text, 1, COPIES_MAX, &options.copies))
		return STATUS_INPUT;
	return deal(args, &options);
}

static const struct option_row deal_options[] = {
	OPT_MACHINE,
	{ 'b', "boards", "LIST", "only these boards, such as 1-8,11 (default: all)" },
	{ 'c', "copies", "N", "so many boards with each deal, 1 to 99 (default: 1)" },
	{ 'r', "resume", NULL, "go on with the job that was stopped on this machine" },
	OPT_KEY,
	{ KEY_CERTIFY, "certify", "FOLDER", "certify each board (`dealbox certificate begin` makes FOLDER)" },
	{ KEY_PRACTICE, "practice", NULL, "deal sets that are restricted, for practice only" },
	{ 't', "record", "FILE", "write what the machine reports to FILE; it will tell the deals" },
	{ KEY_LAW, "law", "RULESET", "deal a shuffled pack by position, and judge it: duplicate-2017, rubber, preferans .." },
	{ KEY_TURN, "turn", "SEAT", "with --law: whose turn it is to deal (default: N)" },
	{ KEY_BEFORE, "before", "FILE", "with --law: record of shuffle and cut (default: as they should be)" },
	{ KEY_LAW_RECORD, "law-record", "FILE", "with --law: write the record that was judged to FILE" },
	{ KEY_LANG, "lang", "LANGUAGE", "with --law: sentences in nb, el, fr, ru or en (default: en)" },
	OPT_JSON,
	OPT_REVEAL,
	{ 0 }
};

const struct command cmd_deal = {
	.name = "deal",
	.operands = "FILE... | --law RULESET",
	.summary = "Deal a set of boards, and prove that each is an exact duplicate",
	.about = "Deals the boards of the deal files one after the other, each as often as --copies\n"
		 "says, and judges every one by what the machine reported. A board that is not\n"
		 "proven exact is void: empty it, put it in again, and it is dealt again.\n"
		 "When the machine waits for help, press its start key or Enter.\n"
		 "Ctrl-C pauses the machine and leaves; --resume goes on, with the same files.\n"
		 "\n"
		 "With --law no file is dealt but a shuffled pack, one card or packet after the\n"
		 "other as the ruleset has it, and the laws judge it: stands, redeal or open, and why.",
	.options = deal_options,
	.run = deal_run,
};
