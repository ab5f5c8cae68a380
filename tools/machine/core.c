// SPDX-License-Identifier: LGPL-2.1-or-later
/* The machine's side of docs/protocol.md. "R-..." are its requirements. */
#include "core.h"

#include <string.h>

#include "bytes.h"
#include "plan.h"

#define PROTOCOL	0x0101
#define TEST_PLAN	0xffffffff	/* R-7-2 */

/* µs. Both together are less than the 2000 ms that PAUSE and ABORT have (R-5.1-1). */
#define GATE_TIME	500000
#define FALL_TIME	1000000
#define GATE_DEADLINE	400000
#define REST_TIME 1500000 /* until a card that comes is at rest, behind PAUSE and ABORT */
#define LOAD_TIME	2000000		/* R-3-6 */
#define QUIET_TIME	300000		/* R-4.3-8 */
/* ms; with a purge of 1100 ms before it less than 5000 ms to the event of a card (R-5.1-1) */
#define FEED_LEAST	100
#define FEED_MOST	3800
#define FEED_DEFAULT	2000

enum event_type {
	STATE_LOST = 0x01,
	HOPPER_LOADED,
	HOPPER_EMPTY,
	BOARD_INSERTED,
	BOARD_REMOVED,
	COVER_OPEN,
	COVER_CLOSED,
	KEY,
	PLAN_LOADED = 0x10,
	DEAL_STARTED,
	CARD_READ,
	CARD_ROUTED,
	CARD_LANDED,
	DEAL_DONE,
	PAUSED,
	RESUMED,
	ABORTED,
	FAULT_CLEARED,
	ATTESTED,
	CARD_UNREADABLE = 0x20,
	NOT_IN_PLAN,
	GATE_LATE,
	FEED_TIMEOUT,
	DECK_SHORT,
	REPEATED_CARD = 0x28,
	DOUBLE_FEED,
	JAM,
	WRONG_POCKET,
	BOARD_PULLED,
	COVER_OPENED,
	HARDWARE,
};

#define FIRST_STOP	CARD_UNREADABLE
#define FIRST_FAULT	REPEATED_CARD
#define LAST_STOP	HARDWARE

enum error {
	OK,
	BAD_REQUEST,
	BAD_LENGTH,
	BAD_VALUE,
	UNSUPPORTED,
	WRONG_STATE,
	IN_FAULT,
	NO_PLAN,
	WRONG_PLAN,
	NO_BOARD,
	WRONG_INSERTION,
	SPENT,
	IN_DOUBT,
	COVER_IS_OPEN,
	HOPPER_IS_EMPTY,
	BAD_CRC,
	BAD_PLAN,
	INCOMPLETE,
	UNABLE,
};

enum counter {
	BOARDS_DEALT,
	BOARDS_VOIDED,
	CARDS_FED,
	CARDS_READ,
	CARDS_UNREADABLE,
	REPEATED_CARDS,
	NOT_IN_PLANS,
	DOUBLE_FEEDS,
	FEED_TIMEOUTS,
	JAMS,
	WRONG_POCKETS,
	GATES_LATE,
	GATES_IGNORED,
	POWER_ONS,
	SECONDS,
	NO_COUNTER,
};

static const uint8_t stop_counters[LAST_STOP - FIRST_STOP + 1] = {
	[CARD_UNREADABLE - FIRST_STOP] = CARDS_UNREADABLE,
	[NOT_IN_PLAN - FIRST_STOP] = NOT_IN_PLANS,
	[FEED_TIMEOUT - FIRST_STOP] = FEED_TIMEOUTS,
	[REPEATED_CARD - FIRST_STOP] = REPEATED_CARDS,
	[DOUBLE_FEED - FIRST_STOP] = DOUBLE_FEEDS,
	[JAM - FIRST_STOP] = JAMS,
	[WRONG_POCKET - FIRST_STOP] = WRONG_POCKETS,
};

/* fields of an event */
#define AT_FLAGS	1
#define AT_NUMBER	4
#define AT_CLOCK	8
#define AT_INSERTION	12
#define AT_POSITION	16
#define AT_CARD		17
#define AT_POCKET	18
#define AT_QUALITY	19
#define AT_CODE		20
#define AT_ARG0		24
#define AT_ARG1		28
#define FACE_UP		1
#define AT_POWER_ON	2

static bool has(const struct core *core, uint32_t capability)
{
	return core->config->capabilities & capability;
}

static bool is_in_deal(const struct core *core)
{
	return core->state == CORE_DEALING || core->state == CORE_PAUSED ||
	       core->state == CORE_HELD;
}

/* A plan is secret (R-3-11); the compiler would leave out a memset() that nobody reads. */
static void wipe(uint8_t *bytes, uint32_t length)
{
	volatile uint8_t *at = bytes;

	while (length--)
		*at++ = 0;
}

static void arm(struct core *core, uint32_t after)
{
	core->timed = true;
	core->phase_end = core->now + after;
}

static bool is_over(const struct core *core, uint32_t end)
{
	return (int32_t)(core->now - end) >= 0;
}

/* -- events -- */

/* The card's time begins when the host could see it, or never will. */
static void event_left(struct core *core, const uint8_t event[CORE_EVENT_BYTES])
{
	if (core->phase == CORE_HOST && !core->timed &&
	    get_u32(event + AT_NUMBER) == core->read_event)
		arm(core, core->config->gate_deadline);
}

/* Hash the last event of a deal. It is complete when the next thing happens. */
static void hash_event(struct core *core)
{
	if (core->unhashed)
		core->orders->attest->event(core->orders->attest->context, core->unhashed);
	core->unhashed = NULL;
}

/*
 * Queue an event; the caller fills in more of it. Without a host, nothing of it remains (R-1.2-10).
 */
static uint8_t *queue(struct core *core, enum event_type type)
{
	uint8_t *event;

	hash_event(core);
	if (core->event_count == CORE_EVENTS) {
		event_left(core, core->events[core->event_first]);
		core->event_first = (core->event_first + 1) % CORE_EVENTS;
		core->event_count--;
	}
	event = core->events[(core->event_first + core->event_count) % CORE_EVENTS];
	memset(event, 0, CORE_EVENT_BYTES);
	event[0] = type;
	put_u32(event + AT_NUMBER, core->event_next);
	put_u32(event + AT_CLOCK, core->now);
	put_u32(event + AT_INSERTION, core->insertion);
	memset(event + AT_POSITION, CORE_NONE, AT_CODE - AT_POSITION);
	if (core->configured) {
		core->event_count++;
		core->event_next++;
	}
	if (core->hashing) {
		core->unhashed = event;
		core->hashed++;
	}
	return event;
}

static uint8_t *event_at(struct core *core, enum event_type type, uint8_t position)
{
	uint8_t *at = queue(core, type);

	at[AT_POSITION] = position;
	return at;
}

static void put_reading(uint8_t *event, const struct core_reading *reading)
{
	event[AT_FLAGS] |= reading->face_up ? FACE_UP : 0;
	event[AT_CARD] = reading->card;
	event[AT_QUALITY] = reading->quality;
	put_u32(event + AT_CODE, reading->code);
}

static void put_way(const struct core *core, uint8_t *event)
{
	event[AT_CARD] = core->reading.card;
	event[AT_POCKET] = core->pocket;
}

bool core_event(struct core *core, uint8_t event[CORE_EVENT_BYTES])
{
	if (!core->event_count)
		return false;
	hash_event(core);
	memcpy(event, core->events[core->event_first], CORE_EVENT_BYTES);
	event_left(core, event);
	core->event_first = (core->event_first + 1) % CORE_EVENTS;
	core->event_count--;
	return true;
}

/* -- what lasts -- */

static uint32_t counted(const struct core *core)
{
	uint32_t sum = 0;

	for (int i = 0; i < COUNTERS; i++)
		sum += core->record.counters[i];
	return sum;
}

static bool save(struct core *core)
{
	uint8_t bytes[RECORD_BYTES];
	const int slot = record_next(core->slot);

	if (core->slot == RECORD_BROKEN)
		return false;
	core->record.generation++;
	record_encode(&core->record, bytes);
	if (!core->orders->store(core->context, slot, bytes)) {
		/* the next write goes to the same slot: the other one is whole */
		core->unstored = true;
		return false;
	}
	core->slot = slot;
	core->stored = counted(core);
	core->unstored = false;
	return true;
}

/* Give a number that no board ever had: R-5.2-1. It is stored before anybody hears of it. */
static bool new_insertion(struct core *core)
{
	if (core->record.insertion == 0xffffffff || (core->slot < 0 && !save(core))) {
		core->unstored = true;
		return false;
	}
	core->record.insertion++;
	if (!save(core))
		return false;
	core->insertion = core->record.insertion;
	core->spent = core->captured = core->doubt = core->at_power_on = false;
	memset(core->in_board, 0, sizeof(core->in_board));
	return true;
}

/* -- attestations: 5.3 -- */

/* Forget the deal that is or may be attested. */
static void forget_hashes(struct core *core)
{
	core->unhashed = NULL;
	core->hashing = core->attestable = false;
	core->attested_insertion = core->hashed = 0;
	if (has(core, CORE_ATTEST))
		core->orders->attest->forget(core->orders->attest->context);
}

/* Forget all but key and counter. */
static void forget_attestation(struct core *core)
{
	forget_hashes(core);
	core->attesting = core->attested = false;
	if (has(core, CORE_ATTEST))
		core->orders->attest->nonce(core->orders->attest->context, NULL);
}

static void tell_attested(struct core *core, uint32_t counter, enum error error, uint32_t insertion)
{
	uint8_t *at = queue(core, ATTESTED);

	put_u32(at + AT_CODE, counter);
	put_u32(at + AT_ARG0, error);
	put_u32(at + AT_ARG1, insertion);
}

/* No statement will be made. */
static void give_up(struct core *core, enum error error)
{
	const uint32_t insertion = core->attested_insertion;

	core->attesting = false;
	core->orders->attest->nonce(core->orders->attest->context, NULL);
	tell_attested(core, 0, error, insertion);
}

/* A deal whose board was counted may stop: its statement would be wrong. */
static void unattest(struct core *core)
{
	if (core->running || !core->attestable)
		return;
	if (core->attesting)
		give_up(core, WRONG_STATE);
	forget_hashes(core);
}

static void begin_hashes(struct core *core, const uint8_t *plan, uint32_t length)
{
	forget_hashes(core);
	if (!has(core, CORE_ATTEST))
		return;
	core->orders->attest->begin(core->orders->attest->context, plan, length);
	core->attested_insertion = core->insertion;
	core->hashing = true;
}

static void attest_now(struct core *core)
{
	const bool plan = has(core, CORE_STORED_PLAN);
	uint8_t statement[CORE_STATEMENT_BYTES] = "DBXA";

	hash_event(core);
	/* Stored before anybody can see it: R-5.3-10. A number that is lost is not given again. */
	core->record.attestations++;
	statement[5] = 1;
	statement[6] = (uint8_t)(core->config->emulated | plan << 1);
	put_u32(statement + 16, core->record.attestations);
	put_u32(statement + 20, core->attested_insertion);
	put_u32(statement + 24, core->hashed);
	if (!save(core) || !core->orders->attest->sign(core->orders->attest->context, statement)) {
		give_up(core, UNABLE);
		return;
	}
	core->attesting = false;
	core->attested = true;
	tell_attested(core, core->record.attestations, OK, core->attested_insertion);
}

/* -- the deal -- */

static void end_deal(struct core *core, enum counter counter)
{
	if (!core->running)
		return;
	core->running = false;
	core->record.dealing = false;
	core->record.counters[counter]++;
	if (counter == BOARDS_VOIDED)
		forget_hashes(core);
	save(core);
}

static void forget_deal(struct core *core)
{
	core->known = false;
	core->plan_number = 0;
	core->cards = core->position = core->done = 0;
	memset(core->counts, 0, sizeof(core->counts));
	memset(core->first, CORE_NONE, sizeof(core->first));
}

static void forget_plan(struct core *core)
{
	core->loaded = false;
	core->expected = core->received = 0;
	wipe(core->block, sizeof(core->block));
}

/* Stop the mechanics. A card that falls is still awaited, but no longer for long. */
static void stand_still(struct core *core)
{
	core->orders->halt(core->context);
	if (core->phase != CORE_FALL)
		core->phase = CORE_NOTHING;
	core->timed = false;
	core->pausing = 0;
	core->aborting = false;
}

/* Stop by an event of 4.3; the caller fills in more of it. */
static uint8_t *stop(struct core *core, enum event_type type, uint8_t position)
{
	const uint8_t counter = stop_counters[type - FIRST_STOP];
	uint8_t *at;

	stand_still(core);
	core->fault = type;
	core->state = type < FIRST_FAULT ? CORE_HELD : CORE_FAULT;
	if (counter)
		core->record.counters[counter]++;
	at = event_at(core, type, position);
	if (core->state == CORE_FAULT)
		end_deal(core, BOARDS_VOIDED);
	unattest(core);
	return at;
}

static void stop_with_code(struct core *core, enum event_type type, uint8_t position, uint32_t code)
{
	put_u32(stop(core, type, position) + AT_CODE, code);
}

/* Returns the position of the card that moves, or stays at the reader. */
static uint8_t moving(const struct core *core)
{
	if (core->state == CORE_DONE)
		return CORE_NONE;
	return core->phase == CORE_FALL ? core->position - 1 : core->position;
}

static void finish(struct core *core)
{
	uint8_t *at;

	core->state = CORE_DONE;
	core->phase = CORE_NOTHING;
	core->timed = false;
	core->orders->halt(core->context);
	at = event_at(core, DEAL_DONE, core->done);
	put_u32(at + AT_CODE, core->plan_number);
	memcpy(at + AT_ARG0, core->counts, CORE_POCKETS);
	core->attestable = core->hashing;
	core->hashing = false;
	core->quiet = core->now + QUIET_TIME;
	core->calm = false;
	end_deal(core, BOARDS_DEALT);
}

static void read_card(struct core *core)
{
	core->phase = CORE_READING;
	arm(core, core->feed_timeout * 1000);
	core->orders->read(core->context);
}

void core_feeds_in(struct core *core, uint32_t after)
{
	/* a PAUSE or an ABORT that waits cannot wait longer */
	if (core->phase == CORE_READING && !core->pausing && !core->aborting)
		arm(core, after + core->feed_timeout * 1000);
}

/* Go on with the next card, or end. */
static void proceed(struct core *core)
{
	const bool none = !core->sensors.reader && !core->sensors.hopper;

	if (core->to_the_end ? none : core->position == core->cards)
		finish(core);
	else if (none)
		stop(core, DECK_SHORT, core->position);
	else if (core->position == CORE_PLAN_CARDS)	/* R-4-10 */
		stop_with_code(core, HARDWARE, core->position, CORE_HARDWARE_FULL);
	else
		read_card(core);
}

static void pause_now(struct core *core)
{
	const uint8_t reason = core->pausing;

	stand_still(core);
	core->state = CORE_PAUSED;
	put_u32(event_at(core, PAUSED, core->position) + AT_CODE, reason);
}

static void abort_now(struct core *core)
{
	stand_still(core);
	core->state = CORE_IDLE;
	put_u32(event_at(core, ABORTED, core->position + core->sensors.reader) + AT_CODE,
		core->plan_number);
	end_deal(core, BOARDS_VOIDED);
}

/* Carry out what was asked for while a card moved. Returns false if there is nothing. */
static bool rest(struct core *core)
{
	if (core->aborting)
		abort_now(core);
	else if (core->pausing)
		pause_now(core);
	else
		return false;
	return true;
}

/*
 * A card that comes shall rest at the reader, not halfway: but PAUSED and ABORTED cannot wait long.
 */
static void come_to_rest(struct core *core)
{
	if (core->phase_end - core->now > REST_TIME)
		arm(core, REST_TIME);
}

/* Pause; first let a card through that has been read (R-5-7). */
static void pause_deal(struct core *core, uint8_t reason)
{
	core->pausing = reason;
	if (core->phase == CORE_NOTHING)
		pause_now(core);
	else if (core->phase == CORE_READING)
		come_to_rest(core);
}

static void set_gate(struct core *core, uint8_t pocket)
{
	if (core->in_board[pocket] >= core->config->capacity) {
		stop_with_code(core, HARDWARE, core->position, CORE_HARDWARE_FULL);
		return;
	}
	core->pocket = pocket;
	core->phase = CORE_GATE;
	arm(core, GATE_TIME);
	core->orders->gate(core->context, pocket);
}

void core_gate_set(struct core *core)
{
	const uint8_t card = core->reading.card;

	if (core->phase != CORE_GATE)
		return;
	put_way(core, event_at(core, CARD_ROUTED, core->position));
	/*
	 * From here on the card is in the board, as far as anybody can be sure: never count less.
	 */
	if (card < CORE_CARDS && core->first[card] == CORE_NONE)
		core->first[card] = core->position;
	core->in_board[core->pocket]++;
	core->position++;
	core->sensors.reader = false;
	core->phase = CORE_FALL;
	arm(core, FALL_TIME);
	if (!has(core, CORE_EXIT_SENSORS)) {
		core->counts[core->pocket]++;
		core->done++;
	}
	core->orders->let_go(core->context);
}

/* Take note of a card that an exit sensor saw. Returns the pocket for which it was. */
static uint8_t take_landed(struct core *core, uint8_t pocket)
{
	const uint8_t meant = core->phase == CORE_FALL ? core->pocket : CORE_NONE;

	core->counts[pocket]++;
	core->done++;
	if (pocket != meant && core->in_board[pocket] < CORE_NONE)
		core->in_board[pocket]++;
	return meant;
}

void core_landed(struct core *core, uint8_t pocket)
{
	uint8_t meant, *at;

	if (has(core, CORE_EXIT_SENSORS)) {
		if (pocket >= core->config->pockets || !core->known)
			return;
		meant = take_landed(core, pocket);
		if (meant == CORE_NONE) {
			/* a second card, which went through together with the one before */
			if (is_in_deal(core) || core->state == CORE_DONE)
				stop(core, DOUBLE_FEED, core->position ? core->position - 1 : 0);
			return;
		}
		core->phase = CORE_NOTHING;
		core->timed = false;
		if (pocket != meant) {
			if (core->state == CORE_FAULT)
				return;
			at = stop(core, WRONG_POCKET, core->position - 1);
			at[AT_CARD] = core->reading.card;
			at[AT_POCKET] = pocket;
			put_u32(at + AT_ARG0, meant);
			return;
		}
		put_way(core, event_at(core, CARD_LANDED, core->position - 1));
	} else if (core->phase != CORE_FALL) {
		return;
	}
	core->phase = CORE_NOTHING;
	core->timed = false;
	if (core->state != CORE_DEALING)
		return;
	if (!rest(core))
		proceed(core);
}

static uint8_t *stop_reading(struct core *core, enum event_type type)
{
	uint8_t *at = stop(core, type, core->position);

	put_reading(at, &core->reading);
	return at;
}

/* Say what was read, where it is no stop. */
static void tell_reading(struct core *core)
{
	core->read_event = core->event_next;
	put_reading(event_at(core, CARD_READ, core->position), &core->reading);
}

/*
 * Returns the pocket of the card at the reader, by a stored plan or a test; CORE_NONE: it has none
 */
static uint8_t planned(const struct core *core)
{
	const uint8_t *entries = core->block + 32, card = core->reading.card;

	switch (core->mode) {
	case CORE_MODE_CARD:
		return card < core->block[12] ? entries[card] : CORE_NONE;
	case CORE_MODE_POSITION:
		return entries[core->position];
	case CORE_MODE_CAPTURE:
		return entries[0];
	default:
		return core->position % core->config->pockets;
	}
}

static void take_reading(struct core *core)
{
	const uint8_t card = core->reading.card;
	const bool by_position = core->mode == CORE_MODE_POSITION || core->mode == CORE_MODE_TEST;
	uint8_t pocket;

	if (card == CORE_NONE && !by_position && core->config->reader) {
		stop_reading(core, CARD_UNREADABLE);	/* R-6-9 for the host-routed */
		return;
	}
	if (core->mode == CORE_MODE_ROUTED) {
		tell_reading(core);
		core->phase = CORE_HOST;
		core->timed = false;
		core->late = false;
		return;
	}
	if (core->mode != CORE_MODE_TEST && card != CORE_NONE && core->first[card] != CORE_NONE) {
		put_u32(stop_reading(core, REPEATED_CARD) + AT_ARG0, core->first[card]);
		return;
	}
	pocket = planned(core);
	if (pocket == CORE_NONE) {
		stop_reading(core, NOT_IN_PLAN);
		return;
	}
	tell_reading(core);
	set_gate(core, pocket);
}

void core_card(struct core *core, const struct core_reading *reading)
{
	struct core_reading *kept = &core->reading;

	/* A card that comes when none is wanted stays, and is read when it is wanted. */
	core->sensors.reader = true;
	if (core->state != CORE_DEALING || core->phase != CORE_READING || rest(core))
		return;
	*kept = *reading;
	if (!core->config->reader) {
		kept->card = kept->quality = CORE_NONE;
		kept->code = 0;
	}
	if (kept->quality > 100)
		kept->quality = CORE_NONE;
	if (kept->card >= CORE_CARDS || (kept->quality && kept->quality < 50))
		kept->card = CORE_NONE;
	kept->face_up = kept->face_up && has(core, CORE_FACE_SENSOR);
	core->record.counters[CARDS_FED]++;
	if (kept->card != CORE_NONE)
		core->record.counters[CARDS_READ]++;
	take_reading(core);
}

/* -- gate commands -- */

enum gate_reason { GATE_WRONG, GATE_POCKET, GATE_HOLD };

static enum gate_reason gate_reason(const struct core *core, const uint8_t data[16])
{
	if (data[0] != 1)
		return GATE_WRONG;
	if (data[1] == CORE_NONE)
		return data[2] == REPEATED_CARD || data[2] == NOT_IN_PLAN ? GATE_HOLD : GATE_WRONG;
	return data[1] < core->config->pockets && !data[2] ? GATE_POCKET : GATE_WRONG;
}

void core_gate(struct core *core, const uint8_t *data, uint16_t length)
{
	enum gate_reason reason = GATE_WRONG;
	bool answers = false;

	if (length == 16) {
		reason = gate_reason(core, data);
		answers = data[3] == core->position && get_u32(data + 4) == core->read_event &&
			  get_u32(data + 8) == core->insertion && core->insertion;
	}
	if (reason == GATE_WRONG || !answers || core->phase != CORE_HOST) {
		core->record.counters[reason != GATE_WRONG && answers && core->late ?
				      GATES_LATE : GATES_IGNORED]++;
		return;
	}
	if (reason == GATE_POCKET)
		set_gate(core, data[1]);
	else
		put_u32(stop_reading(core, data[2]) + AT_ARG0, get_u32(data + 12));
}

/* -- the clock -- */

static void phase_is_over(struct core *core)
{
	switch (core->phase) {
	case CORE_READING:
		if (rest(core))
			break;
		if (core->sensors.reader)
			stop_with_code(core, JAM, core->position, 2);
		else if (core->sensors.hopper)
			stop(core, FEED_TIMEOUT, core->position);
		else	/* it has left the hopper */
			stop_with_code(core, JAM, core->position, 1);
		break;
	case CORE_HOST:
		core->late = true;
		stop(core, GATE_LATE, core->position)[AT_CARD] = core->reading.card;
		break;
	case CORE_GATE:
		stop_with_code(core, HARDWARE, core->position, CORE_HARDWARE_GATE);
		break;
	case CORE_FALL:
		stop_with_code(core, JAM, core->position - 1, 4);
		break;
	case CORE_NOTHING:
		core->timed = false;
		break;
	}
}

static void tell_loaded(struct core *core, enum error error, uint32_t detail)
{
	uint8_t *at = queue(core, PLAN_LOADED);

	put_u32(at + AT_CODE, core->load_number);
	put_u32(at + AT_ARG0, error);
	put_u32(at + AT_ARG1, detail);
}

void core_clock(struct core *core, uint32_t now)
{
	core->now = now;
	while (now - core->second >= 1000000) {
		core->second += 1000000;
		core->record.counters[SECONDS]++;
	}
	if (core->timed && is_over(core, core->phase_end))
		phase_is_over(core);
	if (core->expected && is_over(core, core->load_end)) {
		const uint8_t received = core->received;

		forget_plan(core);
		tell_loaded(core, INCOMPLETE, received);
	}
	/* the clock wraps, so do not compare with it later */
	core->calm = core->calm || is_over(core, core->quiet);
	if (core->attesting && is_over(core, core->attest_end))
		attest_now(core);
}

static void sooner(const struct core *core, bool awaited, uint32_t end, uint32_t *next)
{
	const uint32_t left = is_over(core, end) ? 0 : end - core->now;

	if (awaited && left < *next)
		*next = left;
}

uint32_t core_next(const struct core *core)
{
	uint32_t next = CORE_NEVER;

	sooner(core, core->timed, core->phase_end, &next);
	sooner(core, core->expected, core->load_end, &next);
	sooner(core, core->attesting, core->attest_end, &next);
	return next;
}

/* -- power, bus -- */

static bool is_in(uint32_t value, uint32_t least, uint32_t most)
{
	return value >= least && value <= most;
}

bool core_config_is_valid(const struct core_config *config)
{
	const uint32_t can = config->capabilities, known = (CORE_ATTEST << 1) - 1;
	const uint32_t kind = can & (CORE_STORED_PLAN | CORE_HOST_ROUTED);

	if (can & ~known || (kind != CORE_STORED_PLAN && kind != CORE_HOST_ROUTED) ||
	    !(can & (CORE_BY_CARD | CORE_BY_POSITION)))
		return false;
	if (!config->reader && can & (CORE_BY_CARD | CORE_CAPTURE))
		return false;
	if (kind == CORE_HOST_ROUTED ? !is_in(config->gate_deadline, 1, GATE_DEADLINE) :
				       config->gate_deadline)
		return false;
	return config->reader <= 3 && is_in(config->pockets, 1, CORE_POCKETS) &&
	       is_in(config->capacity, 1, 64) && config->hopper &&
	       is_in(config->plan_cards, 1, CORE_PLAN_CARDS);
}

void core_start(struct core *core, const struct core_config *config,
		const struct core_orders *orders, void *context, uint32_t now,
		const struct core_sensors *sensors,
		const uint8_t slots[RECORD_SLOTS][RECORD_BYTES])
{
	memset(core, 0, sizeof(*core));
	core->config = config;
	core->orders = orders;
	core->context = context;
	core->now = core->second = now;
	core->sensors = *sensors;
	core->feed_timeout = FEED_DEFAULT;
	forget_deal(core);
	core->slot = record_choose(slots, &core->record);
	core->unstored = core->slot == RECORD_BROKEN;
	if (core->record.dealing)
		core->record.counters[BOARDS_VOIDED]++;
	core->record.dealing = false;
	core->record.counters[POWER_ONS]++;
	save(core);
	orders->halt(context);
	if (sensors->board && new_insertion(core))
		core->doubt = core->at_power_on = true;
	if (sensors->board && has(core, CORE_BOARD_LOCK))
		orders->lock(context, true);
}

static void tell_board(struct core *core)
{
	uint8_t *at = queue(core, BOARD_INSERTED);

	at[AT_FLAGS] = core->at_power_on ? AT_POWER_ON : 0;
	put_u32(at + AT_ARG0, has(core, CORE_BOARD_READER) ? core->sensors.board_number : 0);
}

void core_deconfigure(struct core *core)
{
	core->configured = false;
	core->event_first = core->event_count = 0;
	stand_still(core);
	core->phase = CORE_NOTHING;
	core->state = CORE_IDLE;
	core->fault = 0;
	core->late = false;
	end_deal(core, BOARDS_VOIDED);
	forget_deal(core);
	forget_plan(core);
	forget_attestation(core);
	core->sequence = core->detail = 0;
	core->request = core->error = 0;
}

static void begin_anew(struct core *core, uint32_t reason)
{
	core_deconfigure(core);
	core->configured = true;
	core->event_next = 1;
	put_u32(queue(core, STATE_LOST) + AT_CODE, reason);
	core->was_configured = true;
	if (core->insertion)
		tell_board(core);
	if (core->sensors.cover_open)
		queue(core, COVER_OPEN);
	if (core->sensors.hopper)
		queue(core, HOPPER_LOADED);
}

void core_configure(struct core *core)
{
	begin_anew(core, core->was_configured ? 2 : 1);
}

void core_lost(struct core *core)
{
	if (core->configured)
		begin_anew(core, 3);
}

/* -- commands -- */

struct fields {
	uint32_t a, b, c;
	const uint8_t *nonce;		/* of ATTEST */
};

#define IN(state)	(1 << CORE_##state)
#define ANY_STATE	((1 << CORE_STATES) - 1)

struct command {
	uint8_t states;			/* in which it is allowed */
	uint8_t zero;			/* bit 0..2: a, b, c is 0 */
	bool board, cover;		/* needs a board; needs the cover closed */
	bool deals;			/* takes the board: START, TEST_DEAL */
	bool attests;			/* has a nonce behind the fields: ATTEST */
	uint32_t capability;		/* 0: none */
	/* Returns the number of the first bad field, or 0; NULL: none can be bad */
	uint32_t (*bad)(const struct core *core, const struct fields *fields);
	enum error (*run)(struct core *core, const struct fields *fields);
};

static bool is_plan_number(uint32_t number)
{
	return number && number != TEST_PLAN;
}

static uint32_t bad_param(const struct core *core, const struct fields *fields)
{
	(void)core;
	return fields->a != 3 ? 1 : is_in(fields->b, FEED_LEAST, FEED_MOST) ? 0 : 2;
}

static enum error set_param(struct core *core, const struct fields *fields)
{
	core->feed_timeout = fields->b;
	return OK;
}

static uint32_t bad_load(const struct core *core, const struct fields *fields)
{
	if (!fields->b)
		return 0;
	return !is_plan_number(fields->a) ? 1 :
	       is_in(fields->b, PLAN_LEAST, 36u + core->config->plan_cards) ? 0 : 2;
}

static enum error load(struct core *core, const struct fields *fields)
{
	forget_plan(core);
	core->load_number = fields->a;
	core->expected = (uint8_t)fields->b;
	core->load_end = core->now + LOAD_TIME;
	return OK;
}

static uint32_t bad_start(const struct core *core, const struct fields *fields)
{
	const uint32_t cards = fields->c & 0xff;

	if (!is_plan_number(fields->a))
		return 1;
	if (!fields->b)
		return 2;
	if (has(core, CORE_STORED_PLAN))
		return fields->c ? 3 : 0;
	return fields->c > 0x1ff || cards > core->config->plan_cards ||
	       (!cards && !(fields->c >> 8)) ? 3 : 0;
}

static enum error begin(struct core *core, enum core_mode mode, uint32_t number, uint32_t cards,
			bool capture)
{
	uint8_t *at;

	if (core->jam || core->trouble || core->unstored)
		return UNABLE;
	core->record.dealing = true;
	if (!save(core)) {
		core->record.dealing = false;
		return UNABLE;
	}
	forget_deal(core);
	if (mode == CORE_MODE_TEST)
		forget_hashes(core);
	else if (mode == CORE_MODE_ROUTED)
		begin_hashes(core, NULL, 0);
	else
		begin_hashes(core, core->block, 36u + core->block[12]);
	core->known = core->running = true;
	core->mode = mode;
	core->plan_number = number;
	core->cards = (uint8_t)cards;
	core->to_the_end = !cards;
	core->spent = core->spent || !capture;
	core->captured = core->captured || capture;
	core->late = false;
	core->phase = CORE_NOTHING;
	core->fault = 0;
	core->state = CORE_DEALING;
	if (has(core, CORE_BOARD_LOCK))
		core->orders->lock(core->context, true);
	at = queue(core, DEAL_STARTED);
	put_u32(at + AT_CODE, number);
	put_u32(at + AT_ARG0, cards);
	proceed(core);
	return OK;
}

static enum error start(struct core *core, const struct fields *fields)
{
	const enum core_mode mode = core->block[6];

	if (has(core, CORE_HOST_ROUTED))
		return begin(core, CORE_MODE_ROUTED, fields->a, fields->c & 0xff, fields->c >> 8);
	return begin(core, mode, fields->a, core->block[13], mode == CORE_MODE_CAPTURE);
}

static uint32_t bad_test(const struct core *core, const struct fields *fields)
{
	return !fields->b ? 2 : is_in(fields->c, 1, core->config->plan_cards) ? 0 : 3;
}

static enum error test_deal(struct core *core, const struct fields *fields)
{
	/* a block that comes now would meet a deal (R-3-15) */
	if (core->expected)
		forget_plan(core);
	return begin(core, CORE_MODE_TEST, TEST_PLAN, fields->c, false);
}

static enum error pause_command(struct core *core, const struct fields *fields)
{
	(void)fields;
	pause_deal(core, 1);
	return OK;
}

static enum error resume(struct core *core, const struct fields *fields)
{
	(void)fields;
	core->state = CORE_DEALING;
	event_at(core, RESUMED, core->position);
	proceed(core);
	return OK;
}

static enum error reread(struct core *core, const struct fields *fields)
{
	(void)fields;
	core->state = CORE_DEALING;
	core->fault = 0;
	proceed(core);
	return OK;
}

static enum error abort_command(struct core *core, const struct fields *fields)
{
	(void)fields;
	core->fault = 0;
	core->pausing = 0;
	core->aborting = true;
	if (core->phase == CORE_READING)
		come_to_rest(core);
	else if (core->phase != CORE_FALL)
		abort_now(core);
	return OK;
}

/* Returns true if the cause of a fault is there: 2.3. The store is tried again. */
static bool is_caused(struct core *core)
{
	if (core->fault == JAM || core->fault == DOUBLE_FEED || core->fault == REPEATED_CARD)
		return core->jam || core->sensors.reader;
	if (core->fault != HARDWARE)
		return false;
	if (core->unstored)
		save(core);
	return core->trouble || core->unstored;
}

static enum error clear_fault(struct core *core, const struct fields *fields)
{
	(void)fields;
	put_u32(queue(core, FAULT_CLEARED) + AT_CODE, core->fault);
	core->state = CORE_IDLE;
	core->fault = 0;
	core->phase = CORE_NOTHING;
	return OK;
}

static enum error release_board(struct core *core, const struct fields *fields)
{
	(void)fields;
	core->orders->lock(core->context, false);
	return OK;
}

static uint32_t bad_locate(const struct core *core, const struct fields *fields)
{
	(void)core;
	return fields->a > 60;
}

static enum error locate(struct core *core, const struct fields *fields)
{
	core->orders->locate(core->context, (uint8_t)fields->a);
	return OK;
}

static uint32_t bad_attest(const struct core *core, const struct fields *fields)
{
	(void)core;
	return !fields->b ? 2 : 0;
}

static enum error attest(struct core *core, const struct fields *fields)
{
	core->attested = false;
	core->attesting = true;
	core->attest_end = core->calm ? core->now : core->quiet;
	core->orders->attest->nonce(core->orders->attest->context, fields->nonce);
	return OK;
}

#define FIRST_COMMAND	0x10

/* START and TEST_DEAL are let through in FAULT and DONE: later checks refuse them (R-2.3-1). */
static const struct command commands[] = {
	{ IN(IDLE) | IN(FAULT) | IN(DONE), 4, .bad = bad_param, .run = set_param },
	{ IN(IDLE) | IN(DONE), 4, .capability = CORE_STORED_PLAN, .bad = bad_load, .run = load },
	{ IN(IDLE) | IN(FAULT) | IN(DONE), 0, .board = true, .cover = true, .deals = true,
	  .bad = bad_start, .run = start },
	{ IN(DEALING), 7, .run = pause_command },
	{ IN(PAUSED), 7, .cover = true, .run = resume },
	{ IN(HELD), 7, .cover = true, .run = reread },
	{ IN(DEALING) | IN(PAUSED) | IN(HELD), 7, .run = abort_command },
	{ IN(FAULT), 7, .cover = true, .run = clear_fault },
	{ IN(IDLE) | IN(FAULT) | IN(DONE), 7, .board = true, .capability = CORE_BOARD_LOCK,
	  .run = release_board },
	{ IN(IDLE) | IN(FAULT) | IN(DONE), 1, .board = true, .cover = true, .deals = true,
	  .capability = CORE_TEST_DEAL, .bad = bad_test, .run = test_deal },
	{ ANY_STATE, 6, .bad = bad_locate, .run = locate },
	{ IN(IDLE) | IN(DONE), 5, .attests = true, .capability = CORE_ATTEST, .bad = bad_attest,
	  .run = attest },
};

#define COMMANDS	(sizeof(commands) / sizeof(commands[0]))

static bool is_zero(const uint8_t nonce[CORE_NONCE_BYTES])
{
	uint8_t all = 0;

	for (int i = 0; i < CORE_NONCE_BYTES; i++)
		all |= nonce[i];
	return !all;
}

/* Returns the number of the first bad field: R-2.3-2 */
static uint32_t bad_field(const struct core *core, const struct command *command,
			  const struct fields *fields, uint16_t value)
{
	const uint32_t all[] = { fields->a, fields->b, fields->c };
	uint32_t bad = command->bad ? command->bad(core, fields) : 0;

	for (uint32_t i = 0; i < 3; i++)
		if (command->zero & 1 << i && all[i] && (!bad || i + 1 < bad))
			bad = i + 1;
	return bad ? bad : value ? 4 : command->attests && is_zero(fields->nonce) ? 5 : 0;
}

static bool is_capture(const struct core *core, const struct command *command,
		       const struct fields *fields)
{
	if (command->run != start)
		return false;
	return has(core, CORE_HOST_ROUTED) ? fields->c >> 8 : core->block[6] == CORE_MODE_CAPTURE;
}

/* The checks of START and TEST_DEAL that others have not */
static enum error check_deal(struct core *core, const struct command *command,
			     const struct fields *fields)
{
	const bool capture = is_capture(core, command, fields);

	core->detail = core->insertion;
	if (fields->b != core->insertion)
		return WRONG_INSERTION;
	if (core->spent || (core->captured && !capture))
		return SPENT;
	if (core->doubt)
		return IN_DOUBT;
	core->detail = 0;
	return OK;
}

static enum error check_plan(struct core *core, const struct fields *fields)
{
	if (!core->loaded)
		return NO_PLAN;
	core->detail = get_u32(core->block + 8);
	if (core->detail != fields->a)
		return WRONG_PLAN;
	core->detail = 0;
	return OK;
}

static enum error check_attest(struct core *core, const struct fields *fields)
{
	core->detail = core->attestable ? core->attested_insertion : 0;
	if (core->detail != fields->b)
		return WRONG_INSERTION;
	core->detail = 0;
	return core->record.attestations == 0xffffffff ? UNABLE : OK;
}

static bool is_busy(const struct core *core, const struct command *command)
{
	if (command->run == locate)
		return false;
	if (core->attesting && (command->deals || command->attests))	/* R-5.3-9 */
		return true;
	return core->aborting || (core->pausing && command->run != abort_command);
}

/* Check and carry out. Each check may leave a detail. The order is that of 2.3. */
static enum error run(struct core *core, const struct command *command, uint16_t value,
		      const struct fields *fields)
{
	enum error error;

	core->detail = bad_field(core, command, fields, value);
	if (core->detail)
		return BAD_VALUE;
	if ((command->capability && !has(core, command->capability)) ||
	    (has(core, CORE_HOST_ROUTED) && is_capture(core, command, fields) &&
	     !has(core, CORE_CAPTURE)))
		return UNSUPPORTED;
	core->detail = core->state;
	if (!(command->states & 1 << core->state) || is_busy(core, command))
		return WRONG_STATE;
	core->detail = core->fault;
	if (core->state == CORE_FAULT &&
	    (command->deals || (command->run == clear_fault && is_caused(core))))
		return IN_FAULT;
	core->detail = 0;
	if (command->run == start && has(core, CORE_STORED_PLAN)) {
		error = check_plan(core, fields);
		if (error)
			return error;
	}
	if (command->attests) {
		error = check_attest(core, fields);
		if (error)
			return error;
	}
	if (command->board && !core->insertion)
		return NO_BOARD;
	if (command->deals) {
		error = check_deal(core, command, fields);
		if (error)
			return error;
	}
	if (command->cover && core->sensors.cover_open)
		return COVER_IS_OPEN;
	if (command->deals && !core->sensors.hopper)
		return HOPPER_IS_EMPTY;
	return command->run(core, fields);
}

static enum error take_command(struct core *core, uint8_t request, uint16_t value,
			       const uint8_t *data, uint16_t length)
{
	const uint8_t index = request - FIRST_COMMAND;
	struct fields fields;

	core->detail = 0;
	if (request < FIRST_COMMAND || index >= COMMANDS)
		return BAD_REQUEST;
	core->detail = length;
	if (length != (commands[index].attests ? 16 + CORE_NONCE_BYTES : 16) || !core->sequence)
		return BAD_LENGTH;
	fields = (struct fields){ get_u32(data + 4), get_u32(data + 8), get_u32(data + 12),
				  data + 16 };
	return run(core, &commands[index], value, &fields);
}

static int answer_command(struct core *core, const uint8_t setup[8], const uint8_t *data,
			  uint16_t length)
{
	const uint32_t sequence = length >= 4 ? get_u32(data) : 0;

	if (!sequence || sequence != core->sequence) {
		core->sequence = sequence;
		core->request = setup[1];
		core->error = take_command(core, setup[1], get_u16(setup + 2), data, length);
	}
	return core->error && !has(core, CORE_REFUSES_BY_RESULT) ? CORE_STALL : 0;
}

/* -- queries -- */

static int describe(const struct core *core, uint8_t *at)
{
	const struct core_config *config = core->config;

	at[0] = CORE_DESCRIPTOR_BYTES;
	at[1] = 0x24;
	at[2] = 1;
	at[3] = config->reader;
	put_u16(at + 4, PROTOCOL);
	at[6] = config->pockets;
	at[7] = config->capacity;
	put_u16(at + 8, config->hopper);
	put_u16(at + 10, config->plan_cards);
	put_u32(at + 12, config->capabilities);
	put_u32(at + 16, config->gate_deadline);
	return CORE_DESCRIPTOR_BYTES;
}

static int get_info(const struct core *core, uint8_t *at)
{
	put_u16(at, PROTOCOL);
	put_u32(at + 4, core->config->firmware);
	put_u32(at + 8, core->config->hardware);
	memcpy(at + 16, core->config->model, sizeof(core->config->model));
	return 64;
}

/* R-2.1-5 */
static uint32_t plan_number(const struct core *core)
{
	if (has(core, CORE_HOST_ROUTED) || (core->mode == CORE_MODE_TEST && is_in_deal(core)))
		return core->plan_number;
	return core->loaded ? get_u32(core->block + 8) : 0;
}

static int get_status(const struct core *core, uint8_t *at)
{
	const struct core_sensors *sensors = &core->sensors;
	const bool board = core->insertion;

	at[0] = core->state;
	at[1] = core->fault;
	at[2] = (uint8_t)(board | sensors->cover_open << 1 | sensors->hopper << 2 |
			  (board && core->spent) << 3 | (board && core->doubt) << 4 |
			  sensors->reader << 5);
	at[3] = core->cards;
	put_u32(at + 4, plan_number(core));
	put_u32(at + 8, core->insertion);
	put_u16(at + 12, board && has(core, CORE_BOARD_READER) ? sensors->board_number : 0);
	at[14] = core->done;
	put_u32(at + 16, core->event_next);
	put_u32(at + 20, core->now);
	memcpy(at + 24, core->counts, CORE_POCKETS);
	return 32;
}

static int get_result(const struct core *core, uint8_t *at)
{
	put_u32(at, core->sequence);
	at[4] = core->request;
	at[5] = core->error;
	put_u32(at + 8, core->detail);
	return 16;
}

static int get_counters(const struct core *core, uint8_t *at)
{
	for (int i = 0; i < COUNTERS; i++)
		put_u32(at + 4 * i, core->record.counters[i]);
	return 64;
}

static int get_param(const struct core *core, uint8_t *at)
{
	put_u32(at, 3);
	put_u32(at + 4, core->feed_timeout);
	put_u32(at + 8, FEED_LEAST);
	put_u32(at + 12, FEED_MOST);
	return 16;
}

static int show(const struct core *core, enum core_shown what, uint8_t *at, int size)
{
	memcpy(at, core->orders->attest->show(core->orders->attest->context, what), (size_t)size);
	return size;
}

static int get_identity(const struct core *core, uint8_t *at)
{
	if (!has(core, CORE_ATTEST))
		return CORE_STALL;
	put_u32(at, core->config->emulated);
	put_u32(at + 4, core->record.attestations);
	return 8 + show(core, CORE_KEY, at + 8, CORE_KEY_BYTES);
}

static int get_statement(const struct core *core, uint8_t *at)
{
	return core->attested ? show(core, CORE_STATEMENT, at, CORE_STATEMENT_BYTES) : CORE_STALL;
}

static int get_signature(const struct core *core, uint8_t *at)
{
	return core->attested ? show(core, CORE_SIGNATURE, at, CORE_SIGNATURE_BYTES) : CORE_STALL;
}

static int (*const queries[])(const struct core *core, uint8_t *answer) = {
	describe, get_info, get_status, get_result, get_counters, get_param, get_identity,
	get_statement, get_signature,
};

#define QUERIES		(sizeof(queries) / sizeof(queries[0]))
#define GET_COUNTERS	4
#define GET_PARAM	5

static int answer_query(struct core *core, const uint8_t setup[8], uint8_t *answer)
{
	const uint16_t wanted = get_u16(setup + 6);
	int size;

	if (setup[1] >= QUERIES || get_u16(setup + 2) != (setup[1] == GET_PARAM ? 3 : 0))
		return CORE_STALL;
	/*
	 * Store counters before the host sees them, so that they never go back after a power cut.
	 * Not while cards move: they cannot wait for the write.
	 */
	if (setup[1] == GET_COUNTERS && core->state != CORE_DEALING &&
	    counted(core) != core->stored)
		save(core);
	memset(answer, 0, CORE_ANSWER_BYTES);
	size = queries[setup[1]](core, answer);
	return size < wanted ? size : wanted;
}

int core_control(struct core *core, const uint8_t setup[8], const uint8_t *data, uint16_t length,
		 uint8_t answer[CORE_ANSWER_BYTES])
{
	if (!core->configured || get_u16(setup + 4) != core->config->interface)
		return CORE_STALL;
	switch (setup[0]) {
	case 0xc1:
		return answer_query(core, setup, answer);
	case 0x41:
		return answer_command(core, setup, data, length);
	default:
		return CORE_STALL;
	}
}

bool core_bulk(struct core *core, const uint8_t *data, uint16_t length)
{
	uint32_t detail;
	int error;

	if (!core->expected)
		return false;
	if (length > core->expected - core->received) {
		forget_plan(core);
		tell_loaded(core, BAD_PLAN, 12);	/* R-3-4 */
		return false;
	}
	memcpy(core->block + core->received, data, length);
	core->received += (uint8_t)length;
	if (core->received < core->expected)
		return true;
	error = plan_check(core->config, core->block, core->received, core->load_number, &detail);
	core->expected = 0;
	core->loaded = !error;
	if (error)
		forget_plan(core);
	tell_loaded(core, error, detail);
	return true;
}

/* -- sensors -- */

static void remove_board(struct core *core)
{
	if (!core->insertion)
		return;
	if (is_in_deal(core))
		stop(core, BOARD_PULLED, core->position);
	/* what still falls belongs to no insertion (R-4.2-5) */
	core->phase = CORE_NOTHING;
	core->timed = false;
	queue(core, BOARD_REMOVED);
	core->insertion = 0;
	if (core->state == CORE_DONE)
		core->state = CORE_IDLE;
	forget_deal(core);
}

/* A fault that no deal is needed for. Without a host it shows at the next START (R-1.2-7). */
static void report_trouble(struct core *core, uint32_t code)
{
	if (core->configured && core->state != CORE_FAULT)
		stop_with_code(core, HARDWARE, is_in_deal(core) ? moving(core) : CORE_NONE, code);
}

void core_board(struct core *core, bool present, uint16_t number)
{
	if (core->sensors.board == present)
		return;
	core->sensors.board = present;
	core->sensors.board_number = present ? number : 0;
	if (!present) {
		remove_board(core);
		return;
	}
	if (!new_insertion(core)) {
		report_trouble(core, CORE_HARDWARE_STORE);
		return;
	}
	if (has(core, CORE_BOARD_LOCK))
		core->orders->lock(core->context, true);
	tell_board(core);
}

void core_cover(struct core *core, bool open)
{
	if (core->sensors.cover_open == open)
		return;
	core->sensors.cover_open = open;
	queue(core, open ? COVER_OPEN : COVER_CLOSED);
	if (open && is_in_deal(core))
		stop(core, COVER_OPENED, core->position);
}

void core_hopper(struct core *core, bool cards)
{
	if (core->sensors.hopper == cards)
		return;
	core->sensors.hopper = cards;
	queue(core, cards ? HOPPER_LOADED : HOPPER_EMPTY);
}

void core_reader(struct core *core, bool card)
{
	const bool left = core->sensors.reader && !card;

	core->sensors.reader = card;
	/* nobody let it go, so nobody knows where it is */
	if (left && core->state == CORE_DEALING &&
	    (core->phase == CORE_READING || core->phase == CORE_HOST || core->phase == CORE_GATE))
		stop_with_code(core, JAM, core->position, 2);
}

void core_key(struct core *core, uint8_t key, bool pressed)
{
	uint8_t *at;

	if (has(core, CORE_KEYS)) {
		at = queue(core, KEY);
		put_u32(at + AT_CODE, key);
		put_u32(at + AT_ARG0, pressed);
	}
	if (key == 2 && pressed && core->state == CORE_DEALING && !core->pausing && !core->aborting)
		pause_deal(core, 2);	/* R-5-18 */
}

void core_double_feed(struct core *core)
{
	if (is_in_deal(core))
		stop(core, DOUBLE_FEED, moving(core));
	else if (core->state == CORE_DONE)	/* R-4.3-8 */
		stop(core, DOUBLE_FEED, core->position - 1);
}

void core_jam(struct core *core, uint8_t where)
{
	core->jam = where;
	if (where && (is_in_deal(core) || core->state == CORE_DONE))
		stop_with_code(core, JAM, moving(core), where);
}

void core_trouble(struct core *core, uint32_t code)
{
	core->trouble = code;
	if (code)
		report_trouble(core, code);
}
