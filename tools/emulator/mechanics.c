/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Movement of cards: hopper, feeder, reader, gate, pockets, and the operator's hands. */
#include <errno.h>
#include <string.h>

#include "machine_priv.h"

/* At speed 1 and 600 cards/min: a card per 100 ms. */
#define START_US	200000
#define FEED_US		60000
#define READ_US		20000
#define GATE_US		20000
#define FALL_US		120000
#define PARAM_SPEED_NORMAL	600

/*
 * Limits of each step, even on a slow machine: gate and fall together stay below the 2000 ms for
 * PAUSE, a feed timeout and a reading below the 5000 ms for a card (§5.1).
 */
#define STEP_LIMIT_US		900000
#define TIMEOUT_LIMIT_US	4000000

/* code of HARDWARE if a pocket is full */
#define HARDWARE_POCKET_FULL	1

/* Return the end of a step that takes us at speed 1, and at most limit. */
static uint64_t after_limited(const struct machine *m, double us, uint64_t limit)
{
	if (m->config.speed <= 0)
		return m->now;
	us /= m->config.speed;
	return m->now + (us < limit ? (uint64_t)us : limit);
}

/* The same for a step of a card, which depends on the parameter SPEED. */
static uint64_t after(const struct machine *m, uint64_t us)
{
	return after_limited(m, (double)us * PARAM_SPEED_NORMAL /
			     m->param[DEALBOX_PARAM_SPEED - 1], STEP_LIMIT_US);
}

static void step_to(struct machine *m, enum step step, uint64_t at)
{
	m->step = step;
	m->step_at = at;
}

/* Return the next effect at a place of the mechanics. Defers actions on the world. */
static const struct effect *next_effect(struct machine *m, const struct happening *happening,
					unsigned int *cursor)
{
	const struct effect *effect;

	while ((effect = scenario_next(m->config.scenario, happening, cursor))) {
		if (effect->action < ACTION_PULL)
			return effect;
		machine_defer(m, effect);
	}
	return NULL;
}

static struct wire_event card_event(const struct machine *m, uint8_t type)
{
	struct wire_event event = event_of(type);

	event.position = m->deal.position;
	return event;
}

static void stop_at_position(struct machine *m, uint8_t type, uint32_t code)
{
	struct wire_event event = card_event(m, type);

	event.code = code;
	machine_stop(m, &event);
}

static void jam(struct machine *m, uint32_t where)
{
	m->jammed = true;
	m->memory.counters.jams++;
	stop_at_position(m, DEALBOX_EV_JAM, where);
}

/* Send HOPPER_LOADED or HOPPER_EMPTY if the hopper's state has changed. */
void machine_hopper_changed(struct machine *m)
{
	bool cards = m->hopper.count;
	struct wire_event event = event_of(cards ? DEALBOX_EV_HOPPER_LOADED :
					   DEALBOX_EV_HOPPER_EMPTY);

	if (cards == m->hopper_had_cards && !(MUTANT(m, hopper_each) && cards && !m->deal.running))
		return;
	m->hopper_had_cards = cards;
	if (!cards && MUTANT(m, hopper_silent))
		return;
	event_send(m, &event);
}

/* --- the path of a card ---------------------------------------------------------- */

static bool deal_complete(const struct machine *m)
{
	if (m->deal.total)
		return m->deal.position == m->deal.total;
	if (MUTANT(m, routed_capture) && m->deal.position == 2)
		return true;
	return !m->hopper.count && !m->path.count;
}

/* All cards are at rest: execute the pending command, or end the deal. */
static void settle(struct machine *m)
{
	struct wire_event event;

	bool falling = m->falling_count &&
		!(MUTANT(m, done_early) && m->pending == PENDING_NONE) &&
		!(MUTANT(m, paused_falling) && m->pending == PENDING_PAUSE);

	if (m->step != STEP_NONE || falling)
		return;
	if (deal_complete(m) && ((MUTANT(m, pause_done) && m->pending == PENDING_PAUSE) ||
				 (MUTANT(m, abort_done) && m->pending == PENDING_ABORT)))
		m->pending = PENDING_NONE;
	if (m->pending == PENDING_ABORT) {
		event = event_of(DEALBOX_EV_ABORTED);
		event.code = m->deal.plan;
		event.position =
			m->deal.position + (m->path.count && !MUTANT(m, abort_count) ? 1 : 0);
		event_send(m, &event);
		deal_end(m, MACHINE_VOID);
		m->state = DEALBOX_STATE_IDLE;
		m->fault = 0;
	} else if (m->pending == PENDING_PAUSE) {
		event = event_of(DEALBOX_EV_PAUSED);
		event.position = m->deal.position;
		event.code = m->pause_reason;
		m->pending = PENDING_NONE;
		event_send(m, &event);
		m->state = DEALBOX_STATE_PAUSED;
	} else if (m->state == DEALBOX_STATE_DEALING && deal_complete(m)) {
		event = event_of(DEALBOX_EV_DEAL_DONE);
		event.code = m->deal.plan;
		event.position = m->deal.position;
		memcpy(event.arg, m->deal.counts, sizeof(event.arg));
		event_send(m, &event);
		if (MUTANT(m, done_again))
			event_send(m, &event);
		deal_end(m, MACHINE_DONE);
		m->state = DEALBOX_STATE_DONE;
	}
}

/* The previous card, if any, is past the gate: feed the next one. */
static void next_card(struct machine *m)
{
	m->step = STEP_NONE;
	if (MUTANT(m, routed_short) && !m->hopper.count && !m->path.count)
		m->deal.total = m->deal.position;
	if (m->pending != PENDING_NONE || deal_complete(m))
		settle(m);
	else if (m->path.count)
		step_to(m, STEP_READ, after(m, READ_US));
	else if (!m->hopper.count || (MUTANT(m, short_early) && m->hopper.count == 1))
		stop_at_position(m, DEALBOX_EV_DECK_SHORT, 0);
	else
		step_to(m, STEP_FEED, after(m, FEED_US));
}

void mechanics_start(struct machine *m)
{
	step_to(m, STEP_START, MUTANT(m, start_slow) ? m->now + 1300000 :
		after_limited(m, START_US, STEP_LIMIT_US));
}

void mechanics_go_on(struct machine *m)
{
	next_card(m);
}

void mechanics_pending(struct machine *m)
{
	/* A card that waits for the gate stays at the reader; a moving card comes to rest first. */
	if ((m->pending == PENDING_ABORT && !MUTANT(m, abort_lets) &&
	     (m->step == STEP_WAIT || m->step == STEP_GATE)) ||
	    (MUTANT(m, pause_holds) && m->step == STEP_GATE))
		m->step = STEP_NONE;
	settle(m);
}

static void start(struct machine *m)
{
	struct wire_event event = event_of(DEALBOX_EV_DEAL_STARTED);

	event.code = m->deal.plan;
	event.arg[0] = m->deal.total;
	attest_started(m);
	event_send(m, &event);
	next_card(m);
}

/* Return a card that was already dealt, for a repetition; -1 if there is none. */
static int dealt_card(const struct machine *m)
{
	unsigned int i;

	for (i = 0; i < DEALBOX_MAX_CARDS; i++)
		if (m->deal.first[i] != DEALBOX_NONE)
			return i;
	return -1;
}

static void extra_card(struct machine *m, int number)
{
	struct card card = { .number = number, .stray = true };

	if (number >= 0)
		pile_put_top(&m->hopper, card);
}

static void feed(struct machine *m)
{
	struct happening happening = machine_happening(m, HOOK_FEED, 0);
	const struct effect *effect;
	unsigned int cursor = 0, cards = 1;
	bool face_up = false, jammed = false;

	if (m->hopper.count)
		happening.card = m->hopper.card[0].number;
	while ((effect = next_effect(m, &happening, &cursor))) {
		switch (effect->action) {
		case ACTION_FEED_TIMEOUT:
			step_to(m, STEP_TIMEOUT,
				after_limited(m, m->param[DEALBOX_PARAM_FEED_TIMEOUT - 1] * 1000.0,
					      TIMEOUT_LIMIT_US));
			return;
		case ACTION_MISSING:
			if (m->hopper.count)
				pile_put_bottom(&m->table, pile_take(&m->hopper, 0));
			break;
		case ACTION_EXTRA:
			extra_card(m, effect->value[0]);
			break;
		case ACTION_REPEAT:
			extra_card(m, dealt_card(m));
			break;
		case ACTION_DOUBLE_FEED:
			cards = 2;
			break;
		case ACTION_FACE_UP:
			face_up = true;
			break;
		case ACTION_JAM:
			jammed = true;
			break;
		default:
			break;
		}
	}
	if (!m->hopper.count) {
		machine_hopper_changed(m);
		next_card(m);
		return;
	}
	if (MUTANT(m, spent_first) && !m->deal.capture)
		m->board.spent = true;
	while (cards-- && m->hopper.count) {
		struct card card = pile_take(&m->hopper, 0);

		card.face_up |= face_up;
		pile_put_bottom(&m->path, card);
		if (!MUTANT(m, fed_uncounted) || m->deal.position % 3)
			m->memory.counters.cards_fed++;
	}
	machine_hopper_changed(m);
	if (jammed) {
		jam(m, DEALBOX_JAM_FEEDER);
	} else if (m->path.count > 1 && has(m, DEALBOX_CAP_DOUBLE_FEED_SENSOR)) {
		m->memory.counters.double_feeds++;
		stop_at_position(m, DEALBOX_EV_DOUBLE_FEED, 0);
	} else {
		next_card(m);
	}
}

/* The feeder has not delivered a card in time. */
static void feed_timeout(struct machine *m)
{
	m->memory.counters.feed_timeouts++;
	stop_at_position(m, DEALBOX_EV_FEED_TIMEOUT, 0);
}

/* Set the reading of a card that is clearly visible. */
static void see(struct machine *m, uint8_t number)
{
	m->reading.card = number;
	m->reading.quality = 80 + random_below(&m->random, 21);
	m->reading.code = 0x5a00u + number * 4 + random_below(&m->random, 4);
}

static void see_nothing(struct machine *m)
{
	m->reading.card = DEALBOX_NONE;
	m->reading.quality = random_below(&m->random, 30);
	m->reading.code = 0;
}

/* Return the most similar card: same rank, other suit of the same colour. */
static uint8_t confusable(uint8_t number)
{
	static const uint8_t other_suit[] = { 3, 2, 1, 0 };

	if (number >= 52)
		return 105 - number;
	return other_suit[number / 13] * 13 + number % 13;
}

/* Read the card at the reader. Returns false if it jammed there. */
static bool look(struct machine *m)
{
	struct happening happening = machine_happening(m, HOOK_READ, 0);
	const struct card *card = &m->path.card[0];
	const struct effect *effect;
	unsigned int cursor = 0;
	bool jammed = false;

	m->reading = (struct reading){ .card = DEALBOX_NONE, .quality = DEALBOX_NONE };
	if (m->config.desc.reader != DEALBOX_READER_NONE) {
		if (card->face_up)
			see_nothing(m);
		else
			see(m, card->number);
		if (card->face_up && has(m, DEALBOX_CAP_FACE_SENSOR))
			m->reading.flags = DEALBOX_EVF_FACE_UP;
	}
	happening.card = card->number;
	while ((effect = next_effect(m, &happening, &cursor))) {
		switch (effect->action) {
		case ACTION_JAM:
			jammed = true;
			break;
		case ACTION_MISREAD:
			see(m, effect->value[0] == EFFECT_NONE ? confusable(card->number) :
			    effect->value[0]);
			break;
		case ACTION_UNREADABLE:
			see_nothing(m);
			break;
		case ACTION_QUALITY:
			m->reading.quality = effect->value[0];
			break;
		default:
			break;
		}
	}
	if (m->config.desc.reader == DEALBOX_READER_NONE)
		m->reading = (struct reading){ .card = DEALBOX_NONE,
			.quality = MUTANT(m, blind_reads) ? 0 : DEALBOX_NONE };
	return !jammed;
}

static struct wire_event reading_event(const struct machine *m, uint8_t type)
{
	struct wire_event event = card_event(m, type);

	event.card = m->reading.card;
	event.quality = m->reading.quality;
	event.code = m->reading.code;
	event.flags = MUTANT(m, stop_face) && DEALBOX_EV_IS_STOP(type) ? 0 : m->reading.flags;
	return event;
}

static uint8_t planned_pocket(const struct machine *m)
{
	if (m->deal.test && MUTANT(m, test_pockets))
		return m->deal.position / 4 % m->config.desc.pockets;
	if (m->deal.test)
		return m->deal.position % m->config.desc.pockets;
	if (m->deal.capture)
		return m->plan.pocket[0];
	if (m->deal.by_card)
		return m->reading.card < m->plan.entries ? m->plan.pocket[m->reading.card] :
			DEALBOX_NONE;
	return m->plan.pocket[m->deal.position];
}

/*
 * Return the stop that the reading requires, 0 for none: unreadable and repeated cards, and cards
 * without a pocket (§4.3). On a host-routed machine, the host detects the latter two.
 */
static uint8_t reading_stop(struct machine *m, bool routed)
{
	struct dealbox_counters *counters = &m->memory.counters;
	uint8_t card = m->reading.card;
	bool needs_card = m->deal.by_card || m->deal.capture;

	if (m->config.desc.reader == DEALBOX_READER_NONE)
		return 0;
	if (card == DEALBOX_NONE) {
		counters->unreadable++;
		return needs_card && !m->deal.test && !(routed && MUTANT(m, routed_unreadable)) ?
			DEALBOX_EV_CARD_UNREADABLE : 0;
	}
	counters->cards_read++;
	if ((m->deal.test && !MUTANT(m, test_stops)) || routed)
		return 0;
	if (m->deal.first[card] != DEALBOX_NONE && !MUTANT(m, repeated_unfound) &&
	    !(MUTANT(m, repeated_position) && !needs_card)) {
		counters->repeated += !MUTANT(m, repeated_uncounted);
		return DEALBOX_EV_REPEATED_CARD;
	}
	if (planned_pocket(m) == DEALBOX_NONE) {
		counters->not_in_plan++;
		return DEALBOX_EV_NOT_IN_PLAN;
	}
	return 0;
}

static void read_card(struct machine *m)
{
	bool routed = has(m, DEALBOX_CAP_HOST_ROUTED) && !m->deal.test;
	struct wire_event event;
	uint8_t stop;

	if (m->pending != PENDING_NONE &&
	    !(MUTANT(m, pause_reads) && m->pending == PENDING_PAUSE)) {
		m->step = STEP_NONE;
		settle(m);
		return;
	}
	if (!look(m)) {
		jam(m, DEALBOX_JAM_READER);
		return;
	}
	stop = reading_stop(m, routed);
	if (stop) {
		event = reading_event(m, stop);
		if (stop == DEALBOX_EV_REPEATED_CARD && !MUTANT(m, repeated_first))
			event.arg[0] = m->deal.first[m->reading.card];
		if (stop == DEALBOX_EV_REPEATED_CARD && MUTANT(m, repeated_first))
			event.arg[0] = m->deal.position;
		if (stop == DEALBOX_EV_NOT_IN_PLAN && MUTANT(m, again_repeated))
			m->deal.first[m->reading.card] = m->deal.position;
		if (stop == DEALBOX_EV_NOT_IN_PLAN && MUTANT(m, read_before_stop)) {
			struct wire_event before = reading_event(m, DEALBOX_EV_CARD_READ);

			event_send(m, &before);
		}
		machine_stop(m, &event);
		return;
	}
	event = reading_event(m, DEALBOX_EV_CARD_READ);
	if (!MUTANT(m, reread_silent) || !m->late_event)
		event_send(m, &event);
	if (routed && MUTANT(m, gate_unasked)) {
		m->gate_pocket = 0;
		step_to(m, STEP_GATE, after(m, GATE_US));
	} else if (routed) {
		if (!MUTANT(m, gate_reread) || !m->late_event)
			m->gate_event = event.number;
		step_to(m, STEP_WAIT, m->now + m->config.desc.gate_deadline_us /
			(MUTANT(m, gate_early) ? 2 : 1));
	} else {
		m->gate_pocket = planned_pocket(m);
		step_to(m, STEP_GATE, after(m, GATE_US));
	}
}

/* Host-routed: no gate command arrived in time. */
static void late(struct machine *m)
{
	struct wire_event event = card_event(m, DEALBOX_EV_GATE_LATE);

	event.card = m->reading.card;
	m->late_event = m->gate_event;
	if (MUTANT(m, gate_guesses)) {
		m->gate_pocket = 0;
		step_to(m, STEP_GATE, m->now);
		return;
	}
	machine_stop(m, &event);
}

void mechanics_resume_gate(struct machine *m)
{
	step_to(m, STEP_WAIT, m->now);
}

bool mechanics_gate(struct machine *m, const struct wire_gate *gate)
{
	struct wire_event event;

	if (m->step != STEP_WAIT ||
	    (gate->number != m->gate_event && !MUTANT(m, gate_number)) ||
	    (gate->position != m->deal.position && !MUTANT(m, gate_position)) ||
	    (gate->insertion != m->board.insertion && !MUTANT(m, gate_insertion)) ||
	    (gate->pocket != DEALBOX_NONE && gate->pocket >= m->config.desc.pockets))
		return false;
	if (gate->pocket != DEALBOX_NONE) {
		m->gate_pocket = gate->pocket;
		step_to(m, STEP_GATE, after(m, GATE_US));
		return true;
	}
	event = reading_event(m, gate->reason);
	event.arg[0] = gate->first;
	if (gate->reason == DEALBOX_EV_REPEATED_CARD)
		m->memory.counters.repeated++;
	else
		m->memory.counters.not_in_plan++;
	if (MUTANT(m, hold_lets))
		pile_move_all(&m->table, &m->path);
	machine_stop(m, &event);
	return true;
}

static void open_gate(struct machine *m)
{
	struct happening happening = machine_happening(m, HOOK_GATE, 0);
	uint8_t pocket = m->gate_pocket, real = pocket;
	struct falling *falling;
	const struct effect *effect;
	struct wire_event event;
	unsigned int cursor = 0;

	if (m->falling_count == FALLING_MAX) {
		m->step_at = m->falling[0].at;
		return;
	}
	happening.card = m->path.card[0].number;
	happening.pocket = pocket;
	while ((effect = next_effect(m, &happening, &cursor))) {
		if (effect->action == ACTION_JAM) {
			jam(m, DEALBOX_JAM_GATE);
			return;
		}
		if (effect->action == ACTION_WRONG_POCKET)
			real = effect->value[0] == EFFECT_NONE ? pocket + 1u : effect->value[0];
	}
	if (m->let_in[pocket] >= m->config.desc.pocket_capacity && !MUTANT(m, full_pocket) &&
	    !MUTANT(m, routed_full)) {
		stop_at_position(m, DEALBOX_EV_HARDWARE, HARDWARE_POCKET_FULL);
		return;
	}
	event = card_event(m, DEALBOX_EV_CARD_ROUTED);
	event.card = m->reading.card;
	event.pocket = pocket;
	event_send(m, &event);

	falling = &m->falling[m->falling_count++];
	falling->cards.count = 0;
	pile_move_all(&falling->cards, &m->path);
	falling->at = after(m, FALL_US);
	falling->position = m->deal.position;
	falling->card = m->reading.card;
	falling->pocket = pocket;
	falling->real = real % m->config.desc.pockets;
	if (falling->card < DEALBOX_MAX_CARDS && m->deal.first[falling->card] == DEALBOX_NONE)
		m->deal.first[falling->card] = falling->position;
	m->let_in[pocket]++;
	if (!has(m, DEALBOX_CAP_EXIT_SENSORS)) {
		m->deal.counts[pocket]++;
		m->deal.done++;
	}
	m->deal.position++;
	next_card(m);
}

/* A card lands; seen if a sensor reports it. */
static void land(struct machine *m, bool seen)
{
	struct falling falling = m->falling[0];
	struct happening happening = machine_happening(m, HOOK_LAND, 0);
	bool wrong = falling.real != falling.pocket;
	const struct effect *effect;
	struct wire_event event;
	unsigned int cursor = 0;
	bool jammed = false;

	m->falling_count--;
	memmove(m->falling, m->falling + 1, m->falling_count * sizeof(falling));
	happening.position = falling.position;
	happening.card = falling.cards.card[0].number;
	happening.pocket = falling.real;
	while (seen && (effect = next_effect(m, &happening, &cursor)))
		jammed |= effect->action == ACTION_JAM;
	if (jammed) {
		event = event_of(DEALBOX_EV_JAM);
		event.position = falling.position;
		event.code = DEALBOX_JAM_POCKET;
		pile_move_all(&m->path, &falling.cards);
		m->jammed = true;
		m->memory.counters.jams++;
		machine_stop(m, &event);
		return;
	}
	pile_move_all(m->board.present ? &m->board.pocket[falling.real] : &m->table,
		      &falling.cards);
	if (!seen || !has(m, DEALBOX_CAP_EXIT_SENSORS) || !m->board.present) {
		settle(m);
		return;
	}
	m->deal.counts[falling.real]++;
	m->deal.done++;
	event = event_of(wrong ? DEALBOX_EV_WRONG_POCKET : DEALBOX_EV_CARD_LANDED);
	event.position = falling.position;
	event.card = falling.card;
	event.pocket = falling.real;
	if (wrong) {
		event.arg[0] = falling.pocket;
		m->memory.counters.wrong_pockets++;
		machine_stop(m, &event);
		return;
	}
	event_send(m, &event);
	settle(m);
}

void mechanics_cut(struct machine *m)
{
	m->step = STEP_NONE;
	m->pending = PENDING_NONE;
	deal_end(m, MACHINE_VOID);
	m->state = m->state == DEALBOX_STATE_FAULT || m->state == DEALBOX_STATE_DONE ?
		m->state : DEALBOX_STATE_IDLE;
	while (m->falling_count)
		land(m, false);
	if (m->state == DEALBOX_STATE_IDLE)
		m->fault = 0;
}

/* At speed 0, hold the cards until the host has fetched the events so far. */
static bool held_back(const struct machine *m)
{
	return m->frozen || (m->config.speed <= 0 && m->queue_count >= MACHINE_THROTTLE);
}

uint64_t mechanics_next(const struct machine *m)
{
	uint64_t next = MACHINE_NEVER;

	if (m->step == STEP_WAIT)
		next = m->step_at;
	if (held_back(m))
		return next;
	if (m->falling_count)
		next = m->falling[0].at;
	if (m->step != STEP_NONE && m->step_at < next)
		next = m->step_at;
	return next;
}

void mechanics_run(struct machine *m)
{
	static void (*const steps[])(struct machine *) = {
		[STEP_START] = start,
		[STEP_FEED] = feed,
		[STEP_TIMEOUT] = feed_timeout,
		[STEP_READ] = read_card,
		[STEP_WAIT] = late,
		[STEP_GATE] = open_gate,
	};

	/* Cards that are due at the same time land before the next one moves. */
	if (!held_back(m) && m->falling_count &&
	    (m->step == STEP_NONE || m->falling[0].at <= m->step_at))
		land(m, true);
	else
		steps[m->step](m);
}

/* --- the operator's hands ------------------------------------------------------------ */

static bool deal_is_on(const struct machine *m)
{
	return m->deal.running;
}

int machine_insert(struct machine *m, uint16_t number)
{
	struct wire_event event = event_of(DEALBOX_EV_BOARD_INSERTED);

	if (!m->powered)
		return -ENXIO;
	if (m->board.present)
		return -EBUSY;
	memset(&m->board, 0, sizeof(m->board));
	memset(m->let_in, 0, sizeof(m->let_in));
	m->board.insertion = m->memory.insertion += !MUTANT(m, insertion_again) ||
						    (m->boards + 1) % 4;
	if (!m->board.insertion)
		m->board.insertion = ++m->memory.insertion;
	m->board.ordinal = ++m->boards;
	m->board.number = number;
	m->board.locked = has(m, DEALBOX_CAP_BOARD_LOCK) && !MUTANT(m, unlocked) &&
		!(MUTANT(m, released_again) && m->released);
	m->board.present = true;
	if (m->config.save)
		m->config.save(m->config.context, &m->memory);
	event.arg[0] = has(m, DEALBOX_CAP_BOARD_READER) ? number : 0;
	event_send(m, &event);
	return 0;
}

int machine_remove(struct machine *m, bool force)
{
	struct wire_event event;
	unsigned int i;

	if (!m->board.present)
		return -ENOENT;
	if (m->board.locked && m->powered && !force)
		return -EPERM;
	if (deal_is_on(m) && MUTANT(m, pulled_held) && m->state == DEALBOX_STATE_HELD) {
		deal_end(m, MACHINE_VOID);
		m->state = DEALBOX_STATE_IDLE;
		m->fault = 0;
	}
	if (deal_is_on(m)) {
		event = event_of(DEALBOX_EV_BOARD_PULLED);
		event.position = m->deal.position;
		machine_stop(m, &event);
	}
	event = event_of(DEALBOX_EV_BOARD_REMOVED);
	event_send(m, &event);
	if (m->config.account)
		m->config.account(m->config.context, &m->board);
	for (i = 0; i < DEALBOX_MAX_POCKETS; i++)
		pile_move_all(&m->table, &m->board.pocket[i]);
	/* Falling cards miss the board. */
	if (!MUTANT(m, next_insertion)) {
		for (i = 0; i < m->falling_count; i++)
			pile_move_all(&m->table, &m->falling[i].cards);
		m->falling_count = 0;
	}
	m->board.present = false;
	if (!MUTANT(m, deal_kept))
		memset(&m->deal, 0, sizeof(m->deal));
	if (m->state == DEALBOX_STATE_DONE && !MUTANT(m, removed_done))
		m->state = DEALBOX_STATE_IDLE;
	if (MUTANT(m, removed_clears)) {
		m->state = DEALBOX_STATE_IDLE;
		m->fault = 0;
	}
	return 0;
}

void machine_cover(struct machine *m, bool open)
{
	struct wire_event event = event_of(open ? DEALBOX_EV_COVER_OPEN : DEALBOX_EV_COVER_CLOSED);

	if (m->cover_open == open)
		return;
	m->cover_open = open;
	event_send(m, &event);
	if (open && deal_is_on(m) &&
	    !(MUTANT(m, cover_paused) && m->state == DEALBOX_STATE_PAUSED) &&
	    !(MUTANT(m, resume_open) && m->state == DEALBOX_STATE_HELD)) {
		event = event_of(DEALBOX_EV_COVER_OPENED);
		event.position = m->deal.position;
		machine_stop(m, &event);
	}
}

void machine_key(struct machine *m, uint32_t key, bool pressed)
{
	struct wire_event event = event_of(DEALBOX_EV_KEY);

	if (!has(m, DEALBOX_CAP_KEYS))
		return;
	event.code = key;
	event.arg[0] = pressed;
	event_send(m, &event);
	if (MUTANT(m, start_key) && key == DEALBOX_KEY_START && m->state == DEALBOX_STATE_PAUSED) {
		m->state = DEALBOX_STATE_DEALING;
		next_card(m);
	}
	if (key == DEALBOX_KEY_STOP && pressed && !MUTANT(m, stop_key) &&
	    !(MUTANT(m, test_key) && m->deal.test) && m->state == DEALBOX_STATE_DEALING &&
	    m->pending == PENDING_NONE) {
		m->pending = PENDING_PAUSE;
		m->pause_reason = DEALBOX_PAUSED_BY_KEY;
		mechanics_pending(m);
	}
}

void machine_clear_path(struct machine *m)
{
	if (MUTANT(m, card_kept) && m->state == DEALBOX_STATE_HELD)
		return;
	pile_move_all(&m->table, &m->path);
	m->jammed = false;
}

void machine_clean_card(struct machine *m)
{
	if (m->path.count)
		m->path.card[0].face_up = false;
}

struct pile *machine_hopper(struct machine *m)
{
	return &m->hopper;
}

struct pile *machine_path(struct machine *m)
{
	return &m->path;
}

struct pile *machine_table(struct machine *m)
{
	return &m->table;
}

void machine_break(struct machine *m, uint32_t code, bool lasting)
{
	struct wire_event event = event_of(DEALBOX_EV_HARDWARE);

	if (!m->powered)
		return;
	m->broken = lasting;
	event.code = code;
	machine_stop(m, &event);
}

void machine_repair(struct machine *m)
{
	m->broken = false;
}

void machine_freeze(struct machine *m, bool frozen)
{
	m->frozen = frozen;
}

void machine_speed(struct machine *m, double factor)
{
	m->config.speed = factor;
}
