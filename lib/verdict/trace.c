// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dealbox/event.h>
#include <dealbox/trace.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct dealbox_trace {
	uint32_t insertion;
	struct dealbox_event *events;
	size_t count, room;
	bool gap;
	bool seen;		/* the two numbers of the previous event, kept or not */
	uint64_t seqno;
	uint32_t machine_seq;
	bool lost;		/* a gap since the last event that was kept */
};

struct dealbox_trace *dealbox_trace_new(uint32_t insertion)
{
	struct dealbox_trace *trace = calloc(1, sizeof(*trace));

	if (trace)
		trace->insertion = insertion;
	return trace;
}

void dealbox_trace_free(struct dealbox_trace *trace)
{
	if (!trace)
		return;
	if (trace->events)
		explicit_bzero(trace->events, trace->room * sizeof(*trace->events));
	free(trace->events);
	free(trace);
}

uint32_t dealbox_trace_insertion(const struct dealbox_trace *trace)
{
	return trace->insertion;
}

size_t dealbox_trace_count(const struct dealbox_trace *trace)
{
	return trace->count;
}

const struct dealbox_event *dealbox_trace_get(const struct dealbox_trace *trace,
					      size_t index)
{
	return index < trace->count ? &trace->events[index] : NULL;
}

bool dealbox_trace_gap(const struct dealbox_trace *trace)
{
	/*
	 * what is lost while the board is in may have been a stop, or that the board was taken out
	 */
	return trace->gap || (trace->lost && trace->count &&
			      trace->events[trace->count - 1].type != DEALBOX_EV_BOARD_REMOVED);
}

static bool of_a_deal(const struct dealbox_event *event)
{
	return dealbox_event_classify(event->type) == DEALBOX_EVENT_DEAL ||
	       dealbox_event_stops(event->type);
}

static bool concerns(const struct dealbox_trace *trace, const struct dealbox_event *event)
{
	if (event->insertion == trace->insertion ||
	    event->type == DEALBOX_EV_STATE_LOST ||
	    event->type == DEALBOX_EV_PROTOCOL_ERROR)
		return true;
	/* while this board is in the machine, no other one can be dealt */
	return of_a_deal(event) && trace->count &&
	       trace->events[trace->count - 1].type != DEALBOX_EV_BOARD_REMOVED;
}

/* Returns true if events are missing between the previous one and this one. */
static bool jumped(struct dealbox_trace *trace, const struct dealbox_event *event)
{
	bool numbered = dealbox_event_classify(event->type) != DEALBOX_EVENT_DRIVER;
	bool jump = event->flags & (DEALBOX_EVF_GAP | DEALBOX_EVF_MACHINE_GAP);

	if (trace->seen && event->seqno != trace->seqno + 1)
		jump = true;
	/* the machine begins anew at STATE_LOST; the driver's own events have no number */
	if (trace->seen && numbered && event->type != DEALBOX_EV_STATE_LOST &&
	    event->machine_seq != trace->machine_seq + 1)
		jump = true;
	if (numbered)
		trace->machine_seq = event->machine_seq;
	trace->seqno = event->seqno;
	trace->seen = true;
	return jump;
}

static int keep(struct dealbox_trace *trace, const struct dealbox_event *event)
{
	if (trace->count == DEALBOX_TRACE_MAX)
		return -ENOSPC;
	if (trace->count == trace->room) {
		size_t room = trace->room ? trace->room * 2 : 256;
		struct dealbox_event *events = calloc(room, sizeof(*events));

		if (!events)
			return -ENOMEM;
		if (trace->count) {
			/* not realloc, which would leave a copy of the cards behind */
			memcpy(events, trace->events, trace->count * sizeof(*events));
			explicit_bzero(trace->events, trace->count * sizeof(*events));
			free(trace->events);
		}
		trace->events = events;
		trace->room = room;
	}
	trace->events[trace->count++] = *event;
	return 1;
}

int dealbox_trace_add(struct dealbox_trace *trace, const struct dealbox_event *event)
{
	int kept;

	if (jumped(trace, event))
		trace->lost = true;
	if (!concerns(trace, event))
		return 0;
	/* events before the board was put in do not matter */
	if (trace->lost && event->type != DEALBOX_EV_BOARD_INSERTED)
		trace->gap = true;
	trace->lost = false;
	kept = keep(trace, event);
	if (kept < 0)
		trace->gap = true;
	return kept;
}
