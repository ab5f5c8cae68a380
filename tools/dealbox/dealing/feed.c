// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <json-c/json.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <dealbox/verify.h>

#include "feed.h"
#include "ui/event-text.h"

#define EVENTS_MAX	256
#define FAULT_MS	1000	/* how often a fault is tried to be cleared */
#define STOP_MS		3000	/* ABORT to ABORTED, and a second more */

static enum status failed(const struct feed *feed)
{
	const struct dealbox_error *reason = dealbox_machine_error(feed->machine);

	complain(*reason->next ? reason->next : NULL, "%s", reason->what);
	return STATUS_MACHINE;
}

enum status feed_open(struct feed *feed, const char *uri, uint32_t capability, const char *lacks)
{
	struct dealbox_error reason;
	struct dealbox_info info;

	feed->signal_fd = signals_take();
	if (feed->signal_fd < 0)
		return STATUS_MACHINE;
	if (dealbox_machine_open(uri, false, &feed->machine, &reason)) {
		complain(*reason.next ? reason.next : NULL, "%s", reason.what);
		return STATUS_MACHINE;
	}
	if (dealbox_machine_get_info(feed->machine, &info) || dealbox_machine_claim(feed->machine))
		return failed(feed);
	feed->capabilities = info.capabilities;
	if (info.capabilities & capability)
		return STATUS_DONE;
	complain("use another machine", "%s %s", dealbox_machine_uri(feed->machine), lacks);
	return STATUS_MACHINE;
}

/* Lets go of the board; refused in mid-deal. */
static void board_release(struct feed *feed)
{
	if (feed->capabilities & DEALBOX_CAP_BOARD_LOCK)
		dealbox_machine_release_board(feed->machine);
}

void feed_close(struct feed *feed)
{
	if (feed->machine)
		board_release(feed);
	dealbox_machine_close(feed->machine);
	feed->machine = NULL;
	if (feed->signal_fd >= 0)
		close(feed->signal_fd);
}

/* Tells the operator what to do; once, until there is something else to tell. */
static void tell(struct feed *feed, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void tell(struct feed *feed, const char *format, ...)
{
	struct json_object *object;
	char text[sizeof(feed->told)];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (!strcmp(text, feed->told))
		return;
	strcpy(feed->told, text);
	if (!feed->json) {
		say("%s", text);
		return;
	}
	object = json_object_new_object();
	json_add_text(object, "event", "operator");
	json_add_text(object, "text", text);
	json_say(object);
}

/* What the operator must do first; NULL = nothing. */
static const char *need(const struct dealbox_status *status)
{
	if (!(status->flags & DEALBOX_STATUS_BOARD))
		return "put in an empty board";
	if (status->flags & DEALBOX_STATUS_IN_DOUBT)
		return "the board was there when the machine was switched on: take it out, empty it, and put it in again";
	if (status->flags & DEALBOX_STATUS_SPENT)
		return "take the board out, and put in an empty one";
	if (status->flags & DEALBOX_STATUS_COVER_OPEN)
		return "close the cover";
	if (!(status->flags & DEALBOX_STATUS_HOPPER))
		return "put the cards into the hopper";
	return NULL;
}

static bool start_key(const struct dealbox_event *event)
{
	return event->type == DEALBOX_EV_KEY && event->code == DEALBOX_KEY_START && event->arg[0];
}

static void fault_seen(struct feed *feed)
{
	feed->fault = true;
	feed->fault_told = true;
	feed->acted = false;
	feed->doubt = true;
	feed->empty = 0;
}

/* Did somebody do something? What comes before the fault's own event is older than the fault. */
static void heed(struct feed *feed, const struct dealbox_event *event)
{
	bool anew = feed->lost;

	feed->lost = event->type == DEALBOX_EV_STATE_LOST;
	if (event->type == DEALBOX_EV_BOARD_INSERTED && !anew)
		feed->seen = event->insertion;
	if (event->type == DEALBOX_EV_BOARD_INSERTED || event->type == DEALBOX_EV_BOARD_REMOVED)
		feed->asked = false;
	if (feed->asked && start_key(event))
		feed->empty = feed->offered;
	if (event_voids(event))
		fault_seen(feed);
	else
		feed->acted |= (event->type == DEALBOX_EV_BOARD_INSERTED && !anew) ||
			       event->type == DEALBOX_EV_BOARD_REMOVED || start_key(event);
}

/* Enter answers the question that is asked. True: it has. What was pressed before is no answer. */
static bool enter_pressed(struct feed *feed)
{
	char keys[64];

	feed->deaf = read(STDIN_FILENO, keys, sizeof(keys)) <= 0;
	if (feed->deaf || !feed->asked)
		return false;
	feed->empty = feed->offered;
	return true;
}

/* The next events, waiting for them; their number, or -errno: -EINTR after Ctrl-C. */
static ssize_t events_wait(struct feed *feed, struct dealbox_event *events, int timeout_ms)
{
	struct pollfd wait[] = {
		{ .fd = dealbox_machine_fd(feed->machine), .events = POLLIN },
		{ .fd = feed->signal_fd, .events = POLLIN },
		{ .fd = feed->deaf ? -1 : STDIN_FILENO, .events = POLLIN },
	};
	struct signalfd_siginfo info;
	ssize_t count, n;

	while ((count = dealbox_machine_read(feed->machine, events, EVENTS_MAX)) == -EAGAIN) {
		if (read(feed->signal_fd, &info, sizeof(info)) > 0)
			return -EINTR;
		if (!poll(wait, 3, timeout_ms))
			return 0;
		if (wait[2].revents && enter_pressed(feed))
			return 0;
		if (feed->deaf)
			wait[2].fd = -1;
	}
	for (n = 0; n < count; n++)
		heed(feed, &events[n]);
	return count;
}

/* A fault is cleared when somebody has moved the board, or pressed start. False: it cannot be. */
static bool fault_clear(struct feed *feed)
{
	feed->fault = true;
	return !feed->fault_told || !feed->acted || !dealbox_machine_clear_fault(feed->machine) ||
	       dealbox_machine_result(feed->machine, NULL);
}

static enum status stopped_before(void)
{
	complain("begin again", "stopped: nothing was dealt into this board");
	return STATUS_NO;
}

/* May the board have cards, and nobody has said that it is empty? */
static bool doubted(struct feed *feed, const struct dealbox_status *status)
{
	if (status->flags & (DEALBOX_STATUS_SPENT | DEALBOX_STATUS_IN_DOUBT) ||
	    (status->state != DEALBOX_STATE_IDLE && status->state != DEALBOX_STATE_DONE)) {
		feed->doubt = true;
		feed->empty = 0;
	}
	return (feed->doubt || feed->seen != status->insertion) && feed->empty != status->insertion;
}

static enum status board_wait(struct feed *feed, const char *what, uint32_t *insertion)
{
	struct dealbox_event events[EVENTS_MAX];
	struct dealbox_status status;
	const char *text;
	ssize_t count;
	bool ask;

	for (;;) {
		/* first all that has come already: the status is newer */
		do
			count = events_wait(feed, events, 0);
		while (count > 0);
		if (count == -EINTR)
			return stopped_before();
		if (dealbox_machine_get_status(feed->machine, &status))
			return failed(feed);
		*insertion = status.insertion;
		ask = doubted(feed, &status);
		feed->fault &= status.state == DEALBOX_STATE_FAULT;
		feed->fault_told &= feed->fault;
		if (status.state == DEALBOX_STATE_FAULT) {
			if (!fault_clear(feed))
				return failed(feed);
			text = "empty the board, put all cards into the hopper, and put the board in again";
		} else if (status.state != DEALBOX_STATE_IDLE && status.state != DEALBOX_STATE_DONE) {
			dealbox_machine_abort(feed->machine);
			text = "the machine was in the middle of a deal: take the board out and empty it";
		} else {
			text = need(&status);
		}
		feed->asked = !text && ask;
		feed->offered = status.insertion;
		if (feed->asked)
			text = "the board before it was void, or nobody watched when this one came: if it is empty, "
			       "press start";
		if (!text)
			return STATUS_DONE;
		tell(feed, "%s: %s", what, text);
		if (status.flags & DEALBOX_STATUS_SPENT || status.state == DEALBOX_STATE_FAULT)
			board_release(feed);
		count = events_wait(feed, events, status.state == DEALBOX_STATE_FAULT ? FAULT_MS : -1);
		if (count == -EINTR)
			return stopped_before();
		if (count < 0)
			return failed(feed);
		/* a fault that only the status has told of: nothing that is older comes any more */
		if (!count && feed->fault && !feed->fault_told)
			fault_seen(feed);
	}
}

static bool event_ends(const struct dealbox_event *event)
{
	return event->type == DEALBOX_EV_DEAL_DONE || event->type == DEALBOX_EV_ABORTED ||
	       event->type == DEALBOX_EV_STATE_LOST || event_voids(event);
}

/* What an event of the deal asks for. True: the deal has ended. */
static bool event_take(struct feed *feed, const struct dealbox_event *event)
{
	char text[HELD_TEXT];

	if (event->type == DEALBOX_EV_DECK_SHORT) {
		tell(feed, "the hopper is empty, and cards are missing");
		dealbox_machine_abort(feed->machine);
	} else if (event_holds(event)) {
		held_text(event, feed->cards, text);
		tell(feed, "%s", text);
	} else if (start_key(event)) {
		feed->told[0] = '\0';
		if (dealbox_machine_reread(feed->machine))
			dealbox_machine_resume(feed->machine);
	}
	return event_ends(event);
}

/* Ctrl-C. No other run goes on with this deal, so it is not paused but ended, and the board can be taken out. */
static enum status stop(struct feed *feed, struct dealbox_event *events)
{
	bool ended = dealbox_machine_abort(feed->machine);
	ssize_t count;

	/* a second one leaves at once */
	while (!ended && (count = events_wait(feed, events, STOP_MS)) > 0)
		for (ssize_t n = 0; n < count; n++)
			ended |= event_ends(&events[n]);
	complain("empty the board, and begin again", "stopped in mid-deal: %s",
		 machine_stands(feed->machine));
	return STATUS_NO;
}

/* Nothing came for as long as a card may take. -errno: it does not answer either. */
static int silence(struct feed *feed)
{
	struct dealbox_status status;
	char text[HELD_TEXT];
	int ret = dealbox_machine_get_status(feed->machine, &status);

	if (!ret && status.state == DEALBOX_STATE_DEALING) {
		silent_text(text);
		tell(feed, "%s", text);
	}
	return ret;
}

static long ms_since(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - begin->tv_sec) * 1000 + (now.tv_nsec - begin->tv_nsec) / 1000000;
}

/*
 * The events of a deal. It is over when the board is out, or a while after its end: a stop may come
 * behind the last card.
 */
static enum status trace_take(struct feed *feed, struct dealbox_trace *trace)
{
	struct dealbox_event events[EVENTS_MAX];
	bool ended = false, removed = false;
	struct timespec end;
	enum status status;
	ssize_t count, n;
	long left = CARD_MS;

	do {
		count = events_wait(feed, events, (int)left);
		if (!count && !ended)
			count = silence(feed);
		for (n = 0; n < count; n++) {
			dealbox_trace_add(trace, &events[n]);
			removed |= events[n].type == DEALBOX_EV_BOARD_REMOVED;
			if (!ended && event_take(feed, &events[n])) {
				ended = true;
				clock_gettime(CLOCK_MONOTONIC, &end);
			}
		}
		left = ended ? DEALBOX_SETTLED_MS - ms_since(&end) : CARD_MS;
	} while (count >= 0 && !(ended && (removed || left <= 0)));
	status = count == -EINTR ? stop(feed, events) :
		 ended && count >= 0 ? STATUS_DONE : failed(feed);
	explicit_bzero(events, sizeof(events));
	return status;
}

enum status feed_run(struct feed *feed, struct dealbox_plan *plan, const char *what,
		     struct dealbox_trace **out)
{
	enum status status;
	uint32_t insertion;

	*out = NULL;
	feed->cards = plan->entries;
	status = board_wait(feed, what, &insertion);
	if (status != STATUS_DONE)
		return status;
	*out = dealbox_trace_new(insertion);
	if (!*out) {
		complain("free some memory", "out of memory");
		return STATUS_MACHINE;
	}
	if (dealbox_machine_set_plan(feed->machine, plan) ||
	    dealbox_machine_start(feed->machine, plan->plan_id, insertion))
		return failed(feed);
	return trace_take(feed, *out);
}
