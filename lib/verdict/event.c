// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>

#include <dealbox/event.h>

#include "cards/messages.h"
#include "event-internal.h"
#include "wire.h"

_Static_assert(DEALBOX_QUALITY_MIN == WIRE_QUALITY_MIN,
	       "what the driver holds is what the verdict lacks");

/* Every type that is known: its name, whether its code may be shown, and how a stop is told. */
static const struct {
	const char *name;
	bool code_open;
	const char *fault;
} events[] = {
	[DEALBOX_EV_STATE_LOST] = { "state lost", true },
	[DEALBOX_EV_HOPPER_LOADED] = { "hopper loaded", false },
	[DEALBOX_EV_HOPPER_EMPTY] = { "hopper empty", false },
	[DEALBOX_EV_BOARD_INSERTED] = { "board inserted", false },
	[DEALBOX_EV_BOARD_REMOVED] = { "board removed", false },
	[DEALBOX_EV_COVER_OPEN] = { "cover open", false, N_("the cover was opened") },
	[DEALBOX_EV_COVER_CLOSED] = { "cover closed", false },
	[DEALBOX_EV_KEY] = { "key", true },
	[DEALBOX_EV_PLAN_LOADED] = { "plan loaded", true },
	[DEALBOX_EV_DEAL_STARTED] = { "deal started", true },
	[DEALBOX_EV_CARD_READ] = { "card read", false },
	[DEALBOX_EV_CARD_ROUTED] = { "card routed", false },
	[DEALBOX_EV_CARD_LANDED] = { "card landed", false },
	[DEALBOX_EV_DEAL_DONE] = { "deal done", true },
	[DEALBOX_EV_PAUSED] = { "paused", true },
	[DEALBOX_EV_RESUMED] = { "resumed", false },
	[DEALBOX_EV_ABORTED] = { "aborted", true },
	[DEALBOX_EV_FAULT_CLEARED] = { "fault cleared", true },
	[DEALBOX_EV_ATTESTED] = { "attested", true },
	[DEALBOX_EV_CARD_UNREADABLE] = { "card unreadable", false },
	[DEALBOX_EV_NOT_IN_PLAN] = { "card not in plan", false },
	[DEALBOX_EV_GATE_LATE] = { "gate command late", false },
	[DEALBOX_EV_FEED_TIMEOUT] = { "feed timeout", false },
	[DEALBOX_EV_DECK_SHORT] = { "deck short", false,
		N_("the hopper was empty and cards were missing; one may have come unseen with "
		   "another") },
	[DEALBOX_EV_REPEATED_CARD] = { "repeated card", false, N_("the same card came twice") },
	[DEALBOX_EV_DOUBLE_FEED] = { "double feed", false, N_("two cards at once") },
	[DEALBOX_EV_JAM] = { "jam", true, N_("a card is stuck") },
	[DEALBOX_EV_WRONG_POCKET] = { "wrong pocket", false,
		N_("a card fell into the wrong pocket") },
	[DEALBOX_EV_BOARD_PULLED] = { "board pulled", false, N_("the board was pulled out") },
	[DEALBOX_EV_COVER_OPENED] = { "cover opened", false, N_("the cover was opened") },
	[DEALBOX_EV_HARDWARE] = { "hardware fault", true },
	[DEALBOX_EV_PROTOCOL_ERROR] = { "protocol error", true },
};

enum dealbox_event_class dealbox_event_classify(uint32_t type)
{
	return DEALBOX_EV_IS_MACHINE(type) ? DEALBOX_EVENT_MACHINE :
	       DEALBOX_EV_IS_DEAL(type) ? DEALBOX_EVENT_DEAL :
	       DEALBOX_EV_IS_HELD(type) ? DEALBOX_EVENT_HELD :
	       DEALBOX_EV_IS_VOID(type) ? DEALBOX_EVENT_VOID :
	       DEALBOX_EV_IS_DRIVER(type) ? DEALBOX_EVENT_DRIVER : DEALBOX_EVENT_UNKNOWN;
}

bool dealbox_event_stops(uint32_t type)
{
	return DEALBOX_EV_IS_STOP(type);
}

const char *dealbox_event_name(uint32_t type)
{
	const char *name = type < sizeof(events) / sizeof(*events) ? events[type].name : NULL;

	return name ? name : "unknown event";
}

const char *event_fault(uint32_t type)
{
	const char *fault = type < sizeof(events) / sizeof(*events) ? events[type].fault : NULL;

	return fault ? fault : N_("a fault of the machine");
}

bool dealbox_event_code_open(uint32_t type)
{
	return type < sizeof(events) / sizeof(*events) && events[type].code_open;
}

size_t dealbox_event_detail(const struct dealbox_event *event, char *text, size_t size)
{
	static const char *const places[] = {
		NULL, "in the feeder", "at the reader", "at the gate", "at a pocket",
	};
	int length;

	if (event->type == DEALBOX_EV_JAM && event->code &&
	    event->code < sizeof(places) / sizeof(*places))
		length = snprintf(text, size, "%s", places[event->code]);
	else if (event->type == DEALBOX_EV_JAM || event->type == DEALBOX_EV_HARDWARE)
		length = snprintf(text, size, "code %u", event->code);
	else
		length = snprintf(text, size, "%s", "");
	return (size_t)length;
}
