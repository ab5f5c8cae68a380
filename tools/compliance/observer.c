// SPDX-License-Identifier: LGPL-2.1-or-later
#include <linux/unaligned.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "observer.h"

/* Values that the tables of §4 allow in a field */
enum rule {
	NONE,		/* 255 in position, card, pocket, quality; 0 in code and args */
	ANY,
	CARD,		/* a position below 64; a card, or 255; a pocket; a quality, or 255 */
	NEXT,		/* the position of the next card, or a number of cards: up to 64 */
	MAYBE,		/* like CARD, or 255 */
	REASON,		/* 1..top */
	PLAN,		/* number of the deal's plan */
};

static const struct form {
	uint8_t type;
	const char *name;
	enum rule position, card, pocket, quality, code, arg0, arg1;
	uint32_t top;		/* of REASON */
	uint8_t flags;		/* those that may be set */
} forms[] = {
	{ 0x01, "STATE_LOST", .code = REASON, .top = 3 },
	{ 0x02, "HOPPER_LOADED" },
	{ 0x03, "HOPPER_EMPTY" },
	{ 0x04, "BOARD_INSERTED", .arg0 = ANY, .flags = 2 },
	{ 0x05, "BOARD_REMOVED" },
	{ 0x06, "COVER_OPEN" },
	{ 0x07, "COVER_CLOSED" },
	{ 0x08, "KEY", .code = ANY, .arg0 = ANY },
	{ 0x10, "PLAN_LOADED", .code = ANY, .arg0 = ANY, .arg1 = ANY },
	{ 0x11, "DEAL_STARTED", .code = PLAN, .arg0 = ANY },
	{ 0x12, "CARD_READ", CARD, CARD, NONE, CARD, ANY, .flags = 1 },
	{ 0x13, "CARD_ROUTED", CARD, CARD, CARD },
	{ 0x14, "CARD_LANDED", CARD, CARD, CARD },
	{ 0x15, "DEAL_DONE", NEXT, .code = PLAN, .arg0 = ANY, .arg1 = ANY },
	{ 0x16, "PAUSED", NEXT, .code = REASON, .top = 2 },
	{ 0x17, "RESUMED", NEXT },
	{ 0x18, "ABORTED", NEXT, .code = PLAN },
	{ 0x19, "FAULT_CLEARED", .code = ANY },
	{ 0x1a, "ATTESTED", .code = ANY, .arg0 = ANY, .arg1 = ANY },
	{ 0x20, "CARD_UNREADABLE", CARD, NONE, NONE, CARD, ANY, .flags = 1 },
	{ 0x21, "NOT_IN_PLAN", CARD, CARD, NONE, CARD, ANY, .flags = 1 },
	{ 0x22, "GATE_LATE", CARD, CARD },
	{ 0x23, "FEED_TIMEOUT", CARD },
	{ 0x24, "DECK_SHORT", CARD },
	{ 0x28, "REPEATED_CARD", CARD, CARD, NONE, CARD, ANY, ANY, .flags = 1 },
	{ 0x29, "DOUBLE_FEED", CARD },
	{ 0x2a, "JAM", MAYBE, .code = REASON, .top = 4 },
	{ 0x2b, "WRONG_POCKET", CARD, CARD, CARD, .arg0 = ANY },
	{ 0x2c, "BOARD_PULLED", NEXT },
	{ 0x2d, "COVER_OPENED", NEXT },
	{ 0x2e, "HARDWARE", MAYBE, MAYBE, MAYBE, .code = ANY },
};

#define FORMS	(sizeof(forms) / sizeof(*forms))

static const struct form *form_of(uint8_t type)
{
	size_t i;

	for (i = 0; i < FORMS; i++)
		if (forms[i].type == type)
			return &forms[i];
	return NULL;
}

bool event_is_known(uint8_t type)
{
	return form_of(type);
}

const char *event_name(uint8_t type)
{
	const struct form *form = form_of(type);
	static char other[16];

	if (form)
		return form->name;
	snprintf(other, sizeof(other), "event %02x", type);
	return other;
}

const char *state_name(uint8_t state)
{
	static const char *const names[] = { "IDLE", "DEALING", "PAUSED", "HELD", "FAULT", "DONE" };

	return state < sizeof(names) / sizeof(*names) ? names[state] : "an unknown state";
}

__attribute__((format(printf, 3, 4)))
static void fault(struct observer *o, const char *requirement, const char *format, ...)
{
	char text[300];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	o->fault(o->context, requirement, text);
}

#define WANT(o, requirement, holds, ...) \
	do { if (!(holds)) fault(o, requirement, __VA_ARGS__); } while (0)

/* --- the form of an event (§4) ---------------------------------------------------------- */

static bool fits(enum rule rule, uint32_t value, uint32_t below, uint32_t none)
{
	switch (rule) {
	case NONE:
		return value == none;
	case CARD:
		return value < below;
	case NEXT:
		return value <= below;
	case MAYBE:
		return value < below || value == none;
	default:
		return true;
	}
}

static void check_numbers(struct observer *o, const struct form *form, const struct wire_event *e)
{
	const char *name = form->name;

	WANT(o, form->position == CARD || form->position == NEXT ? "R-4-10" : "R-4-4",
	     fits(form->position, e->position, DEALBOX_MAX_ENTRIES, DEALBOX_NONE),
	     "%s has the position %u", name, e->position);
	WANT(o, "R-4-4", e->card == DEALBOX_NONE || fits(form->card, e->card, DEALBOX_MAX_CARDS,
							 DEALBOX_NONE),
	     "%s has the card number %u", name, e->card);
	WANT(o, "R-4-4", fits(form->pocket, e->pocket, o->desc.pockets, DEALBOX_NONE),
	     "%s has the pocket %u", name, e->pocket);
	WANT(o, "R-4-4", e->quality == DEALBOX_NONE || fits(form->quality, e->quality, 101,
							    DEALBOX_NONE),
	     "%s has the quality %u", name, e->quality);
}

static void check_form(struct observer *o, const struct form *form, const struct wire_event *e,
		       const uint8_t *bytes)
{
	const char *name = form->name;

	WANT(o, "R-0-2", !bytes[2] && !bytes[3], "the reserved bytes of %s are %02x %02x", name,
	     bytes[2], bytes[3]);
	WANT(o, "R-4-4", !(e->flags & ~form->flags), "%s has the flags %02x", name, e->flags);
	check_numbers(o, form, e);
	if (form->code == NONE)
		WANT(o, "R-4-6", !e->code, "%s has the code %u", name, e->code);
	if (form->code == REASON)
		WANT(o, e->type == DEALBOX_EV_STATE_LOST ? "R-1.2-2" : e->type >= 0x20 ? "R-4.3-1" :
		     "R-4.2-1", e->code >= 1 && e->code <= form->top,
		     "%s has the reason %u", name, e->code);
	if (form->code == PLAN && o->running)
		WANT(o, o->test ? "R-7-2" : "R-4.2-1", e->code == o->plan_number,
		     "%s has the plan number %u", name, e->code);
	WANT(o, "R-4-6", form->arg0 != NONE || !e->arg[0], "%s has %u as arg 0", name, e->arg[0]);
	WANT(o, "R-4-6", form->arg1 != NONE || !e->arg[1], "%s has %u as arg 1", name, e->arg[1]);
	if (form->quality == CARD && e->quality >= 1 && e->quality <= 49)
		WANT(o, "R-4-13", e->card == DEALBOX_NONE,
		     "%s names a card that was read with quality %u", name, e->quality);
}

/* --- events of the machine (§4.1) --------------------------------------------------------- */

/* Rank of what follows STATE_LOST (R-5.2-8): each at most once, in this order */
static uint8_t rank(uint8_t type)
{
	return type == DEALBOX_EV_BOARD_INSERTED ? 1 : type == DEALBOX_EV_COVER_OPEN ? 2 :
		type == DEALBOX_EV_HOPPER_LOADED ? 3 : 0;
}

static void deal_forget(struct observer *o)
{
	o->running = o->started = o->pausing = o->aborting = false;
	o->attestable = 0;
	o->test = o->capture = false;
	o->plan_number = 0;
	o->total = o->position = o->done = 0;
	memset(o->counts, 0, sizeof(o->counts));
	memset(o->cards, 0, sizeof(o->cards));
	memset(o->gate, DEALBOX_NONE, sizeof(o->gate));
}

void observer_configured(struct observer *o, uint8_t reason)
{
	o->configured = true;
	o->first = true;
	o->expect_lost = reason;
	o->next = 1;
	if (reason == DEALBOX_LOST_POWER_ON)
		o->have_clock = false;
}

static void lost(struct observer *o, const struct wire_event *e)
{
	WANT(o, "R-1.2-2", !o->expect_lost || e->code == o->expect_lost,
	     "STATE_LOST has the reason %u, not %u", e->code, o->expect_lost);
	if (o->running && !o->capture)
		o->spent = true;
	deal_forget(o);
	o->first = false;
	o->expect_lost = 0;
	o->after_lost = 1;
	o->board = o->cover_open = o->hopper = false;
	o->state = DEALBOX_STATE_IDLE;
	o->fault_type = 0;
	o->loaded = o->loading = 0;
}

static bool used(const struct observer *o, uint32_t insertion)
{
	unsigned int i;

	for (i = 0; i < o->used_count; i++)
		if (o->used[i] == insertion)
			return true;
	return false;
}

static void inserted(struct observer *o, const struct wire_event *e)
{
	bool again = o->after_lost && e->insertion == o->insertion;

	WANT(o, "R-4.1-1", !o->board, "BOARD_INSERTED while a board is in");
	WANT(o, "R-5.2-1", e->insertion, "the insertion number is 0");
	WANT(o, "R-5.2-1", again || !used(o, e->insertion),
	     "the insertion number %u was used before", e->insertion);
	WANT(o, "R-4.1-1", e->arg[0] <= 0xffff, "BOARD_INSERTED has the board number %u",
	     e->arg[0]);
	if (!(o->desc.capabilities & DEALBOX_CAP_BOARD_READER))
		WANT(o, "R-1.1-1", !e->arg[0],
		     "a machine without BOARD_READER reads a board number");
	if (!o->after_lost)
		WANT(o, "R-5.2-7", !(e->flags & DEALBOX_EVF_AT_POWER_ON),
		     "BOARD_INSERTED has the flag of a board that was there at power-on");
	if (!again) {
		o->spent = o->captured = false;
		o->at_power_on = e->flags & DEALBOX_EVF_AT_POWER_ON;
		o->from_before = o->after_lost && !o->used_count;
		if (o->used_count < sizeof(o->used) / sizeof(*o->used))
			o->used[o->used_count++] = e->insertion;
	} else {
		WANT(o, "R-5.2-8", o->at_power_on == !!(e->flags & DEALBOX_EVF_AT_POWER_ON),
		     "BOARD_INSERTED behind STATE_LOST has not the flags that it had first");
	}
	o->board = true;
	o->insertion = e->insertion;
	o->board_number = e->arg[0];
}

static void removed(struct observer *o, const struct wire_event *e)
{
	WANT(o, "R-4.1-1", o->board, "BOARD_REMOVED without a board");
	WANT(o, "R-4.1-1", e->insertion == o->insertion,
	     "BOARD_REMOVED has the insertion %u, not %u", e->insertion, o->insertion);
	WANT(o, "R-4.3-1", !o->running, "BOARD_REMOVED during the deal, without BOARD_PULLED");
	o->board = o->spent = o->captured = o->at_power_on = false;
	o->board_number = 0;
	deal_forget(o);
	if (o->state == DEALBOX_STATE_DONE)
		o->state = DEALBOX_STATE_IDLE;
}

/* --- events of a deal (§4.2) ------------------------------------------------------------------ */

static void read_card(struct observer *o, const struct wire_event *e)
{
	struct observed_card *card = &o->cards[e->position & 63];

	WANT(o, "R-4.2-1", o->started && o->state == DEALBOX_STATE_DEALING,
	     "CARD_READ in state %s", state_name(o->state));
	WANT(o, "R-4.2-2", e->position == o->position,
	     "CARD_READ has the position %u, and that of the next card is %u", e->position,
	     o->position);
	if (o->desc.reader == DEALBOX_READER_NONE)
		WANT(o, o->desc.capabilities & DEALBOX_CAP_HOST_ROUTED ? "R-6-10" : "R-4.2-4",
		     e->card == DEALBOX_NONE && e->quality == DEALBOX_NONE,
		     "a machine without reader reads a card");
	card->read = true;
	card->card = e->card;
}

/* Return the pocket that a stored plan, or a test deal, names for a card; 255 if unknown. */
static uint8_t planned(const struct observer *o, uint8_t position, uint8_t card)
{
	if (o->test)
		return position % o->desc.pockets;
	if (o->desc.capabilities & DEALBOX_CAP_HOST_ROUTED)
		return o->gate[position];
	if (!o->plan)
		return DEALBOX_NONE;
	if (o->plan->mode == DEALBOX_PLAN_CAPTURE)
		return o->plan->pocket[0];
	if (o->plan->mode == DEALBOX_PLAN_BY_POSITION)
		return position < o->plan->entries ? o->plan->pocket[position] : DEALBOX_NONE;
	return card < o->plan->entries ? o->plan->pocket[card] : DEALBOX_NONE;
}

static const char *requirement_of_pocket(const struct observer *o)
{
	if (o->test)
		return "R-7-1";
	return o->desc.capabilities & DEALBOX_CAP_HOST_ROUTED ? "R-6-4" : "R-3-12";
}

static void card_done(struct observer *o, uint8_t pocket)
{
	o->done++;
	o->counts[pocket & 7]++;
}

static void routed(struct observer *o, const struct wire_event *e)
{
	struct observed_card *card = &o->cards[e->position & 63];
	uint8_t pocket = planned(o, e->position & 63, e->card);

	WANT(o, "R-4.2-2", card->read, "CARD_ROUTED for position %u without CARD_READ",
	     e->position);
	WANT(o, "R-4.2-2", !card->routed, "CARD_ROUTED twice for position %u", e->position);
	WANT(o, "R-4.2-2", e->position == o->position,
	     "CARD_ROUTED has the position %u, and that of the next card is %u", e->position,
	     o->position);
	WANT(o, "R-4.2-1", !card->read || e->card == card->card,
	     "CARD_ROUTED names another card than CARD_READ for position %u", e->position);
	WANT(o, requirement_of_pocket(o), pocket == DEALBOX_NONE || e->pocket == pocket,
	     "the card of position %u is let into pocket %u, not %u", e->position, e->pocket,
	     pocket);
	WANT(o, "R-4.2-1", !DEALBOX_EV_IS_STOP(o->fault_type) || !o->fault_type,
	     "CARD_ROUTED behind a stop");
	card->routed = true;
	card->pocket = e->pocket;
	o->position = (uint8_t)(e->position + 1);
	if (!(o->desc.capabilities & DEALBOX_CAP_EXIT_SENSORS))
		card_done(o, e->pocket);
}

static void landed(struct observer *o, const struct wire_event *e)
{
	struct observed_card *card = &o->cards[e->position & 63];
	bool wrong = e->type == DEALBOX_EV_WRONG_POCKET;
	const char *name = event_name(e->type);

	WANT(o, "R-1.1-1", o->desc.capabilities & DEALBOX_CAP_EXIT_SENSORS,
	     "%s without the capability EXIT_SENSORS", name);
	if (!o->board) {
		WANT(o, "R-4.2-5", !e->insertion, "%s without a board has an insertion", name);
		return;
	}
	WANT(o, "R-4.2-2", card->routed, "%s for position %u without CARD_ROUTED", name,
	     e->position);
	WANT(o, "R-4.2-2", !card->landed, "%s twice for position %u", name, e->position);
	WANT(o, "R-4.2-1", !card->routed || e->card == card->card,
	     "%s names another card than CARD_ROUTED for position %u", name, e->position);
	if (wrong) {
		WANT(o, "R-4.3-1", !card->routed || e->arg[0] == card->pocket,
		     "WRONG_POCKET has %u as the right pocket, not %u", e->arg[0], card->pocket);
		WANT(o, "R-4.3-1", !card->routed || e->pocket != card->pocket,
		     "WRONG_POCKET names the right pocket");
	} else {
		WANT(o, "R-4.2-1", !card->routed || e->pocket == card->pocket,
		     "CARD_LANDED has pocket %u, and the card of position %u was let into %u",
		     e->pocket, e->position, card->pocket);
	}
	card->landed = true;
	card_done(o, e->pocket);
}

static unsigned int still_falling(const struct observer *o)
{
	return o->desc.capabilities & DEALBOX_CAP_EXIT_SENSORS && o->position > o->done ?
		o->position - o->done : 0;
}

static void done(struct observer *o, const struct wire_event *e)
{
	uint8_t counts[DEALBOX_MAX_POCKETS];
	unsigned int i;

	put_unaligned_le32(e->arg[0], counts);
	put_unaligned_le32(e->arg[1], counts + 4);
	o->attestable = o->insertion;
	WANT(o, "R-4.2-1", o->started && o->running, "DEAL_DONE without a deal that runs");
	WANT(o, "R-5-11", !o->aborting, "DEAL_DONE after ABORT was accepted");
	WANT(o, "R-5-10", !o->pausing, "DEAL_DONE after PAUSE was accepted, before RESUME");
	WANT(o, "R-4.2-3", !still_falling(o), "DEAL_DONE while %u cards fall", still_falling(o));
	WANT(o, o->desc.capabilities & DEALBOX_CAP_HOST_ROUTED ? "R-6-11" : "R-4.2-3",
	     !o->total || o->position == o->total, "DEAL_DONE after %u of %u cards", o->position,
	     o->total);
	WANT(o, "R-4.2-1", e->position == o->position, "DEAL_DONE has %u cards, and %u were dealt",
	     e->position, o->position);
	for (i = 0; i < DEALBOX_MAX_POCKETS; i++)
		WANT(o, "R-4.2-1", counts[i] == o->counts[i],
		     "DEAL_DONE has %u cards in pocket %u, and %u went there", counts[i], i,
		     o->counts[i]);
	o->running = false;
	o->state = DEALBOX_STATE_DONE;
}

static void paused(struct observer *o, const struct wire_event *e)
{
	WANT(o, "R-5-5", !still_falling(o), "PAUSED while %u cards fall", still_falling(o));
	WANT(o, "R-4-15", e->position == o->position, "PAUSED has the position %u, not %u",
	     e->position, o->position);
	if (e->code == 1)
		WANT(o, "R-4.2-1", o->pausing || !o->configured, "PAUSED without PAUSE");
	o->pausing = false;
	o->state = DEALBOX_STATE_PAUSED;
}

static void aborted(struct observer *o, const struct wire_event *e)
{
	WANT(o, "R-4.2-1", o->aborting, "ABORTED without ABORT");
	WANT(o, "R-5-5", !still_falling(o), "ABORTED while %u cards fall", still_falling(o));
	WANT(o, "R-4.2-1", e->position == o->position || e->position == o->position + 1,
	     "ABORTED has %u cards, and %u have passed the gate", e->position, o->position);
	o->running = o->aborting = o->pausing = false;
	o->state = DEALBOX_STATE_IDLE;
	o->fault_type = 0;
}

static void started(struct observer *o, const struct wire_event *e)
{
	WANT(o, "R-4.2-1", o->running && !o->started, "DEAL_STARTED without START");
	if (!o->running)
		o->running = true;
	WANT(o, "R-4.2-1", e->arg[0] == o->total || !o->plan_number,
	     "DEAL_STARTED has %u cards to feed, not %u", e->arg[0], o->total);
	o->started = true;
}

static void plan_loaded(struct observer *o, const struct wire_event *e)
{
	WANT(o, "R-4.2-1", o->loading, "PLAN_LOADED without LOAD, or twice");
	WANT(o, "R-4.2-1", !o->loading || e->code == o->loading,
	     "PLAN_LOADED has the number %u, not %u", e->code, o->loading);
	o->loading = 0;
	o->loaded = e->arg[0] ? 0 : e->code;
}

/* --- stops (§4.3) ----------------------------------------------------------------------------- */

static void stopped(struct observer *o, const struct wire_event *e)
{
	bool is_void = DEALBOX_EV_IS_VOID(e->type);
	bool next = e->type == DEALBOX_EV_BOARD_PULLED || e->type == DEALBOX_EV_COVER_OPENED;
	bool late = e->type == DEALBOX_EV_WRONG_POCKET || e->type == DEALBOX_EV_JAM ||
		e->type == DEALBOX_EV_HARDWARE;

	WANT(o, "R-4.3-1", o->running || late, "%s without a deal", event_name(e->type));
	if (next && o->running)
		WANT(o, "R-4-15", e->position == o->position, "%s has the position %u, not %u",
		     event_name(e->type), e->position, o->position);
	if (!next && !late && o->running)
		WANT(o, "R-4.3-1", e->position == o->position, "%s has the position %u, not %u",
		     event_name(e->type), e->position, o->position);
	if (e->type == DEALBOX_EV_COVER_OPENED)
		WANT(o, "R-4.3-1", o->cover_open, "COVER_OPENED without COVER_OPEN before it");
	if (e->type == DEALBOX_EV_DECK_SHORT)
		WANT(o, "R-4.3-7", !o->hopper, "DECK_SHORT, and the hopper is not empty");
	if (e->type == DEALBOX_EV_FEED_TIMEOUT)
		WANT(o, "R-4.3-1", o->hopper, "FEED_TIMEOUT, and the hopper is empty");
	o->pausing = false;
	if (is_void) {
		o->running = o->aborting = false;
		o->state = DEALBOX_STATE_FAULT;
	} else {
		o->state = DEALBOX_STATE_HELD;
	}
	o->fault_type = e->type;
}

/* --- all events ------------------------------------------------------------------------------- */

static void toggle(struct observer *o, bool *is, bool now, const char *name)
{
	WANT(o, "R-4.1-1", *is != now, "%s came twice", name);
	*is = now;
}

static void take(struct observer *o, const struct wire_event *e)
{
	switch (e->type) {
	case DEALBOX_EV_STATE_LOST:
		lost(o, e);
		break;
	case DEALBOX_EV_HOPPER_LOADED:
	case DEALBOX_EV_HOPPER_EMPTY:
		toggle(o, &o->hopper, e->type == DEALBOX_EV_HOPPER_LOADED, event_name(e->type));
		break;
	case DEALBOX_EV_BOARD_INSERTED:
		inserted(o, e);
		break;
	case DEALBOX_EV_BOARD_REMOVED:
		removed(o, e);
		break;
	case DEALBOX_EV_COVER_OPEN:
	case DEALBOX_EV_COVER_CLOSED:
		toggle(o, &o->cover_open, e->type == DEALBOX_EV_COVER_OPEN, event_name(e->type));
		break;
	case DEALBOX_EV_KEY:
		WANT(o, "R-1.1-1", o->desc.capabilities & DEALBOX_CAP_KEYS,
		     "KEY without the capability KEYS");
		WANT(o, "R-4.1-1", e->arg[0] <= 1, "KEY has %u as arg 0", e->arg[0]);
		break;
	case DEALBOX_EV_PLAN_LOADED:
		plan_loaded(o, e);
		break;
	case DEALBOX_EV_DEAL_STARTED:
		started(o, e);
		break;
	case DEALBOX_EV_CARD_READ:
		read_card(o, e);
		break;
	case DEALBOX_EV_CARD_ROUTED:
		routed(o, e);
		break;
	case DEALBOX_EV_CARD_LANDED:
		landed(o, e);
		break;
	case DEALBOX_EV_DEAL_DONE:
		done(o, e);
		break;
	case DEALBOX_EV_PAUSED:
		paused(o, e);
		break;
	case DEALBOX_EV_RESUMED:
		WANT(o, "R-4-15", e->position == o->position, "RESUMED has the position %u, not %u",
		     e->position, o->position);
		break;
	case DEALBOX_EV_ABORTED:
		aborted(o, e);
		break;
	case DEALBOX_EV_FAULT_CLEARED:
		WANT(o, "R-4.2-1", o->state == DEALBOX_STATE_FAULT && e->code == o->fault_type,
		     "FAULT_CLEARED has the type %02x, not %02x", e->code, o->fault_type);
		o->state = DEALBOX_STATE_IDLE;
		o->fault_type = 0;
		break;
	default:
		break;
	}
	if (e->type == DEALBOX_EV_WRONG_POCKET)
		landed(o, e);
	if (DEALBOX_EV_IS_STOP(e->type) || e->type == DEALBOX_EV_ABORTED)
		o->attestable = 0;
	if (DEALBOX_EV_IS_STOP(e->type))
		stopped(o, e);
}

/* The events directly behind STATE_LOST restate the present state, in order of rank (R-5.2-8). */
static void check_after_lost(struct observer *o, const struct wire_event *e)
{
	uint8_t is = rank(e->type);

	if (e->type == DEALBOX_EV_STATE_LOST || !o->after_lost)
		return;
	if (!is) {
		o->after_lost = 0;
	} else {
		WANT(o, "R-5.2-8", is >= o->after_lost, "%s is out of order behind STATE_LOST",
		     event_name(e->type));
		o->after_lost = (uint8_t)(is + 1);
	}
}

static void check_insertion(struct observer *o, const struct wire_event *e)
{
	bool board = o->board || e->type == DEALBOX_EV_BOARD_INSERTED;

	if (e->type == DEALBOX_EV_STATE_LOST || e->type == DEALBOX_EV_BOARD_INSERTED ||
	    o->after_lost)
		return;
	WANT(o, "R-4-4", e->insertion == (board ? o->insertion : 0),
	     "%s has the insertion %u, and that of the board is %u", event_name(e->type),
	     e->insertion, board ? o->insertion : 0);
}

void observer_event(struct observer *o, const uint8_t *bytes)
{
	const struct form *form = form_of(bytes[0]);
	struct wire_event e;

	dealbox_decode_event(bytes, &e);
	if (o->first && e.type != DEALBOX_EV_STATE_LOST)
		fault(o, "R-1.2-1", "%s, of before the configuration, comes behind it",
		      event_name(e.type));
	if (o->first)
		WANT(o, "R-1.2-2", e.type == DEALBOX_EV_STATE_LOST && e.number == 1,
		     "the first event is %s with number %u", event_name(e.type), e.number);
	if (e.type == DEALBOX_EV_STATE_LOST) {
		WANT(o, "R-1.2-2", e.number == 1, "STATE_LOST has the number %u", e.number);
	} else if (o->configured && e.number != o->next) {
		fault(o, "R-4-5", "%s has the number %u, not %u", event_name(e.type), e.number,
		      o->next);
	}
	o->next = e.number + 1;
	if (o->have_clock)
		WANT(o, "R-4-4", e.clock_us - o->clock < 0x80000000u,
		     "the clock of %s is %u us behind that before it", event_name(e.type),
		     o->clock - e.clock_us);
	o->clock = e.clock_us;
	o->have_clock = true;
	if (!form) {
		/* Unknown types are allowed; only their numbers count. */
		return;
	}
	check_form(o, form, &e, bytes);
	check_after_lost(o, &e);
	check_insertion(o, &e);
	take(o, &e);
	o->first = false;
}

/* --- commands and status ---------------------------------------------------------------------- */

static void begins(struct observer *o, uint8_t request, const struct wire_command *c)
{
	bool routed_kind = o->desc.capabilities & DEALBOX_CAP_HOST_ROUTED;

	deal_forget(o);
	o->running = true;
	o->test = request == DEALBOX_OP_TEST_DEAL;
	o->plan_number = o->test ? DEALBOX_PLAN_TEST : c->a;
	if (o->test) {
		o->total = (uint8_t)c->c;
	} else if (routed_kind) {
		o->capture = c->c & WIRE_START_CAPTURE;
		o->total = (uint8_t)c->c;
	} else if (o->plan) {
		o->capture = o->plan->mode == DEALBOX_PLAN_CAPTURE;
		o->total = o->plan->feed;
	}
	if (o->capture)
		o->captured = true;
	else
		o->spent = true;
	o->state = DEALBOX_STATE_DEALING;
	o->fault_type = 0;
}

void observer_accepted(struct observer *o, uint8_t request, const struct wire_command *c)
{
	switch (request) {
	case WIRE_LOAD:
		o->loaded = 0;
		o->loading = c->b ? c->a : 0;
		break;
	case DEALBOX_OP_START:
	case DEALBOX_OP_TEST_DEAL:
		o->attestable = 0;
		begins(o, request, c);
		break;
	case DEALBOX_OP_PAUSE:
		o->pausing = true;
		break;
	case DEALBOX_OP_RESUME:
	case DEALBOX_OP_REREAD:
		o->state = DEALBOX_STATE_DEALING;
		o->fault_type = 0;
		break;
	case DEALBOX_OP_ABORT:
		o->aborting = true;
		o->pausing = false;
		break;
	default:
		break;
	}
}

static void check_flags(struct observer *o, uint8_t flags)
{
	const struct { uint8_t bit; bool is; const char *name; } bits[] = {
		{ DEALBOX_STATUS_BOARD, o->board, "board present" },
		{ DEALBOX_STATUS_COVER_OPEN, o->cover_open, "cover open" },
		{ DEALBOX_STATUS_HOPPER, o->hopper, "hopper has cards" },
		{ DEALBOX_STATUS_SPENT, o->board && o->spent, "insertion is spent" },
		{ DEALBOX_STATUS_IN_DOUBT, o->board && o->at_power_on, "insertion is in doubt" },
	};
	size_t i;

	for (i = 0; i < sizeof(bits) / sizeof(*bits); i++)
		WANT(o, bits[i].bit == DEALBOX_STATUS_SPENT ?
		     (o->captured && !o->spent ? "R-5.2-5" : "R-5.2-2") :
		     bits[i].bit == DEALBOX_STATUS_IN_DOUBT ? "R-5.2-7" :
		     o->after_lost ? "R-5.2-8" : "R-2.1-9",
		     !(flags & bits[i].bit) == !bits[i].is, "GET_STATUS says \"%s\": %s",
		     bits[i].name, flags & bits[i].bit ? "yes" : "no");
	/* what is said once is not said again in each status */
	o->cover_open = flags & DEALBOX_STATUS_COVER_OPEN;
	o->hopper = flags & DEALBOX_STATUS_HOPPER;
	WANT(o, "R-0-2", !(flags & 0xc0), "GET_STATUS has the flags %02x", flags);
}

static void check_deal(struct observer *o, const struct wire_status *s)
{
	const char *requirement = o->plan_number ? "R-2.1-9" : "R-2.1-6";
	bool routed_kind = o->desc.capabilities & DEALBOX_CAP_HOST_ROUTED;
	uint32_t plan = (o->test && o->running) || routed_kind ? o->plan_number : o->loaded;
	unsigned int i;

	if (!o->loading)
		WANT(o, o->test && o->running ? "R-7-2" : "R-2.1-5", s->plan_id == plan,
		     "GET_STATUS has the plan number %u, not %u", s->plan_id, plan);
	WANT(o, requirement, s->cards_total == o->total,
	     "GET_STATUS has %u cards to deal, not %u", s->cards_total, o->total);
	WANT(o, requirement, s->cards_done == o->done, "GET_STATUS has %u cards done, not %u",
	     s->cards_done, o->done);
	for (i = 0; i < DEALBOX_MAX_POCKETS; i++)
		WANT(o, requirement, s->counts[i] == o->counts[i],
		     "GET_STATUS has %u cards in pocket %u, and the events %u", s->counts[i], i,
		     o->counts[i]);
}

void observer_status(struct observer *o, const uint8_t *bytes)
{
	struct wire_status s;

	if (!dealbox_decode_status(bytes, &s)) {
		fault(o, "R-2.1-1", "GET_STATUS has a field out of range");
		return;
	}
	WANT(o, "R-0-2", !bytes[15], "GET_STATUS has %02x in a reserved byte", bytes[15]);
	if (o->have_clock)
		WANT(o, "R-2.1-9", s.clock_us - o->clock < 0x80000000u,
		     "the clock of GET_STATUS is behind that of an event before it");
	if (o->state != OBSERVER_UNKNOWN) {
		WANT(o, o->state == DEALBOX_STATE_DEALING ? "R-5-3" : "R-5-4", s.state == o->state,
		     "GET_STATUS says %s, and the events %s", state_name(s.state),
		     state_name(o->state));
		if (s.state == o->state)
			WANT(o, "R-2.1-9", s.fault == (s.state == DEALBOX_STATE_HELD ||
						       s.state == DEALBOX_STATE_FAULT ?
						       o->fault_type : 0),
			     "GET_STATUS has the fault %02x, not %02x", s.fault, o->fault_type);
	}
	WANT(o, "R-2.1-9", s.insertion == (o->board ? o->insertion : 0),
	     "GET_STATUS has the insertion %u", s.insertion);
	WANT(o, "R-2.1-9", s.board == (o->board ? o->board_number : 0),
	     "GET_STATUS has the board number %u", s.board);
	/* No event tells what happened to a board before. */
	if (o->from_before && o->board)
		o->spent |= s.flags & DEALBOX_STATUS_SPENT;
	o->from_before = false;
	check_flags(o, s.flags);
	check_deal(o, &s);
}
