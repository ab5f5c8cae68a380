// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The functions of tools/emulator/emulated_machine.h, with the core of tools/machine behind them:
 * the emulator's USB device, operator, scenarios and sockets then serve that core. Cards are real
 * ones, in piles, so its account says where each went.
 *
 * Of a scenario, everything that happens to cards, boards, cover, cable and power takes place. What
 * changes a transfer is the device's. What changes an event on its way is ignored, and so are
 * mutants.
 */
#include "simulated.h"
#include "sign.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"

/* µs at speed 1, as in the emulator */
#define FEED_US		60000
#define READ_US		20000
#define GATE_US		20000
#define FALL_US		120000
/* however slow the machine is, no step takes longer than the core allows */
#define GATE_MOST	400000
#define MOST		900000

#define DEFERRED_MAX	16

enum step { STEP_NONE, STEP_FEED, STEP_READ, STEP_GATE };

/* Cards past the gate: one, or two that stick together */
struct falling {
	uint64_t at;
	struct pile cards;
	uint8_t position, real;
};

struct machine {
	struct machine_config config;
	struct core_config is;
	struct core_orders orders;
	struct core_attest attest;
	struct core core;
	struct serial serial;
	struct signer signer;
	uint8_t slots[RECORD_SLOTS][RECORD_BYTES];
	struct machine_memory memory;	/* what the newest slot holds */
	uint64_t now, random, power_on, lamp_until, replug_at;
	bool powered, plugged, frozen, jammed, broken, cover_open;

	struct pile hopper, path, table;
	struct machine_board board;
	uint32_t boards, deals, stops;
	struct falling falling;		/* one card moves at a time */
	bool falls;
	enum step step;
	uint64_t step_at;
	uint8_t pocket;			/* of the gate */

	uint32_t seen;			/* number of the next event that a scenario has not seen */
	struct { enum action action; uint32_t value[2]; } deferred[DEFERRED_MAX];
	unsigned int deferred_count;
};

static uint32_t core_time(const struct machine *m)
{
	return (uint32_t)(m->now - m->power_on);
}

static void go(struct machine *m, enum step step, double us, uint64_t most)
{
	const double takes = m->config.speed > 0 ? us / m->config.speed : 0;

	m->step = step;
	m->step_at = m->now + (takes < (double)most ? (uint64_t)takes : most);
}

/* --- what the scenario sees ------------------------------------------------------------- */

struct happening machine_happening(const struct machine *m, enum hook hook, uint8_t name)
{
	return (struct happening){
		.hook = hook, .name = name,
		.insertion = m->board.present ? m->board.ordinal : 0,
		.deal = m->deals,
		.position = m->core.running ? m->core.position : CORE_NONE,
		.card = CORE_NONE, .pocket = CORE_NONE,
	};
}

struct scenario *machine_scenario(const struct machine *m)
{
	return m->config.scenario;
}

static void defer(struct machine *m, const struct effect *effect)
{
	if (m->deferred_count == DEFERRED_MAX)
		return;
	m->deferred[m->deferred_count].action = effect->action;
	memcpy(m->deferred[m->deferred_count++].value, effect->value, sizeof(effect->value));
}

/* Return the next effect on the mechanics. What happens to the world, happens after this step. */
static const struct effect *next_effect(struct machine *m, const struct happening *happening,
					unsigned int *cursor)
{
	const struct effect *effect;

	while ((effect = scenario_next(m->config.scenario, happening, cursor))) {
		if (effect->action < ACTION_PULL)
			return effect;
		defer(m, effect);
	}
	return NULL;
}

static void see_event(struct machine *m, const uint8_t *event)
{
	struct happening happening = machine_happening(m, HOOK_EVENT, event[0]);
	unsigned int cursor = 0;

	happening.position = event[16];
	happening.card = event[17];
	happening.pocket = event[18];
	while (next_effect(m, &happening, &cursor))
		;
	if (DEALBOX_EV_IS_STOP(event[0]))
		m->stops++;
	if (event[0] == DEALBOX_EV_DEAL_STARTED) {
		m->deals++;
		m->board.deals++;
		m->board.plan = m->core.plan_number;
		m->board.end = MACHINE_VOID;
	}
	if (event[0] == DEALBOX_EV_DEAL_DONE)
		m->board.end = MACHINE_DONE;
}

/* The core has done something: show its new events to the scenario, and what the board is. */
static void look_at_core(struct machine *m)
{
	const struct core *core = &m->core;

	for (uint8_t i = 0; i < core->event_count; i++) {
		const uint8_t *event = core->events[(core->event_first + i) % CORE_EVENTS];

		if ((int32_t)(get_u32(event + 4) - m->seen) < 0)
			continue;
		m->seen = get_u32(event + 4) + 1;
		see_event(m, event);
	}
	if (!core->insertion)
		return;
	m->board.insertion = core->insertion;
	m->board.spent = core->spent;
	m->board.captured = core->captured;
	m->board.in_doubt = core->doubt;
}

static void told(struct machine *m)
{
	core_hopper(&m->core, m->hopper.count);
	if (!m->path.count && m->core.sensors.reader)
		core_reader(&m->core, false);
	look_at_core(m);
}

/* --- orders of the core ------------------------------------------------------------------- */

static void read_order(void *context)
{
	struct machine *m = context;

	if (m->path.count)
		go(m, STEP_READ, READ_US, MOST);
	else
		go(m, STEP_FEED, FEED_US, MOST);
}

static void gate_order(void *context, uint8_t pocket)
{
	struct machine *m = context;

	m->pocket = pocket;
	go(m, STEP_GATE, GATE_US, GATE_MOST);
}

static void let_go_order(void *context)
{
	struct machine *m = context;

	m->falls = true;
	m->falling.cards.count = 0;
	pile_move_all(&m->falling.cards, &m->path);
	m->falling.at = m->now + (m->config.speed <= 0 ? 0 : FALL_US / m->config.speed < MOST ?
				  (uint64_t)(FALL_US / m->config.speed) : MOST);
}

static void halt_order(void *context)
{
	((struct machine *)context)->step = STEP_NONE;
}

static void lock_order(void *context, bool locked)
{
	((struct machine *)context)->board.locked = locked;
}

static void locate_order(void *context, uint8_t seconds)
{
	struct machine *m = context;

	m->lamp_until = m->now + seconds * 1000000ULL;
}

static bool store_order(void *context, int slot, const uint8_t bytes[RECORD_BYTES])
{
	struct machine *m = context;

	memcpy(m->slots[slot], bytes, RECORD_BYTES);
	m->memory.insertion = m->core.record.insertion;
	m->memory.attestations = m->core.record.attestations;
	memcpy(&m->memory.counters, m->core.record.counters, sizeof(m->memory.counters));
	if (m->config.save)
		m->config.save(m->config.context, &m->memory);
	return true;
}

/* --- the path of a card ---------------------------------------------------------------------- */

static void jam(struct machine *m, uint8_t where)
{
	m->step = STEP_NONE;
	m->jammed = true;
	core_jam(&m->core, where);
}

static void stray(struct machine *m, int number)
{
	if (number >= 0)
		pile_put_top(&m->hopper, (struct card){ .number = (uint8_t)number, .stray = true });
}

/* Return a card that has passed the gate, -1: none has */
static int dealt_card(const struct machine *m)
{
	for (int card = 0; card < CORE_CARDS; card++)
		if (m->core.first[card] != CORE_NONE)
			return card;
	return -1;
}

static void feed(struct machine *m)
{
	struct happening happening = machine_happening(m, HOOK_FEED, 0);
	const struct effect *effect;
	unsigned int cursor = 0, cards = 1;
	bool face_up = false, jammed = false, none = false;

	m->step = STEP_NONE;
	if (m->hopper.count)
		happening.card = m->hopper.card[0].number;
	while ((effect = next_effect(m, &happening, &cursor))) {
		none |= effect->action == ACTION_FEED_TIMEOUT;
		jammed |= effect->action == ACTION_JAM;
		face_up |= effect->action == ACTION_FACE_UP;
		if (effect->action == ACTION_DOUBLE_FEED)
			cards = 2;
		if (effect->action == ACTION_MISSING && m->hopper.count)
			pile_put_bottom(&m->table, pile_take(&m->hopper, 0));
		if (effect->action == ACTION_EXTRA)
			stray(m, (int)effect->value[0]);
		if (effect->action == ACTION_REPEAT)
			stray(m, dealt_card(m));
	}
	if (none || !m->hopper.count)
		return;		/* nothing comes: the core waits */
	while (cards-- && m->hopper.count) {
		struct card card = pile_take(&m->hopper, 0);

		card.face_up |= face_up;
		pile_put_bottom(&m->path, card);
	}
	if (jammed)
		jam(m, 1);
	else if (m->path.count > 1 && m->is.capabilities & CORE_DOUBLE_FEED_SENSOR)
		core_double_feed(&m->core);
	else
		go(m, STEP_READ, READ_US, MOST);
	core_reader(&m->core, true);
}

/* The card that is most alike: same rank, other suit of the colour */
static uint8_t alike(uint8_t card)
{
	static const uint8_t suits[] = { 3, 2, 1, 0 };

	return card >= 52 ? 105 - card : (uint8_t)(suits[card / 13] * 13 + card % 13);
}

static void see(struct machine *m, struct core_reading *reading, uint8_t card)
{
	reading->card = card;
	reading->quality = (uint8_t)(80 + random_below(&m->random, 21));
	reading->code = 0x5a00u + card * 4u;
}

static void see_nothing(struct machine *m, struct core_reading *reading)
{
	*reading = (struct core_reading){ .card = CORE_NONE, .face_up = reading->face_up,
					  .quality = (uint8_t)random_below(&m->random, 30) };
}

static void read_card(struct machine *m)
{
	struct happening happening = machine_happening(m, HOOK_READ, 0);
	const struct card *card = &m->path.card[0];
	struct core_reading reading = { .face_up = card->face_up };
	const struct effect *effect;
	unsigned int cursor = 0;
	bool jammed = false;

	m->step = STEP_NONE;
	if (card->face_up)
		see_nothing(m, &reading);
	else
		see(m, &reading, card->number);
	happening.card = card->number;
	while ((effect = next_effect(m, &happening, &cursor))) {
		jammed |= effect->action == ACTION_JAM;
		if (effect->action == ACTION_MISREAD)
			see(m, &reading, effect->value[0] == EFFECT_NONE ? alike(card->number) :
			    (uint8_t)effect->value[0]);
		if (effect->action == ACTION_UNREADABLE)
			see_nothing(m, &reading);
		if (effect->action == ACTION_QUALITY)
			reading.quality = (uint8_t)effect->value[0];
	}
	if (jammed)
		jam(m, 2);
	else
		core_card(&m->core, &reading);
}

static void set_gate(struct machine *m)
{
	struct happening happening = machine_happening(m, HOOK_GATE, 0);
	uint32_t real = m->pocket;
	const struct effect *effect;
	unsigned int cursor = 0;
	bool jammed = false;

	m->step = STEP_NONE;
	happening.card = m->path.count ? m->path.card[0].number : CORE_NONE;
	happening.pocket = m->pocket;
	while ((effect = next_effect(m, &happening, &cursor))) {
		jammed |= effect->action == ACTION_JAM;
		if (effect->action == ACTION_WRONG_POCKET)
			real = effect->value[0] == EFFECT_NONE ? m->pocket + 1u : effect->value[0];
	}
	if (jammed) {
		jam(m, 3);
		return;
	}
	m->falling.position = m->core.position;
	m->falling.real = (uint8_t)(real % m->is.pockets);
	core_gate_set(&m->core);
}

static void land(struct machine *m)
{
	struct happening happening = machine_happening(m, HOOK_LAND, 0);
	const struct effect *effect;
	unsigned int cursor = 0;
	bool jammed = false;

	m->falls = false;
	happening.position = m->falling.position;
	happening.card = m->falling.cards.card[0].number;
	happening.pocket = m->falling.real;
	while ((effect = next_effect(m, &happening, &cursor)))
		jammed |= effect->action == ACTION_JAM;
	if (jammed) {
		pile_move_all(&m->path, &m->falling.cards);
		jam(m, 4);
		return;
	}
	pile_move_all(m->board.present ? &m->board.pocket[m->falling.real] : &m->table,
		      &m->falling.cards);
	core_landed(&m->core, m->is.capabilities & CORE_EXIT_SENSORS ? m->falling.real : CORE_NONE);
}

/* --- time ------------------------------------------------------------------------------------- */

static bool held_back(const struct machine *m)
{
	return m->frozen || (m->config.speed <= 0 && m->core.event_count >= MACHINE_THROTTLE);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Frozen mechanics take longer than they may. The core would say so; but what is frozen is to go on
 * later, so the core waits for as long.
 */
static bool core_waits(const struct machine *m)
{
	return held_back(m) && m->core.phase != CORE_HOST && m->core.phase != CORE_NOTHING;
}

static uint64_t core_due(const struct machine *m)
{
	struct core core = m->core;
	uint32_t left;

	if (core_waits(m))
		core.timed = false;
	if (m->frozen)
		core.attesting = false;
	left = core_next(&core);
	return left == CORE_NEVER || !m->powered ? MACHINE_NEVER : m->now + left;
}

uint64_t machine_next(const struct machine *m)
{
	uint64_t next = earlier(m->replug_at, core_due(m));

	if (m->deferred_count)
		return m->now;
	if (held_back(m))
		return next;
	if (m->falls)
		next = earlier(next, m->falling.at);
	return m->step == STEP_NONE ? next : earlier(next, m->step_at);
}

static void set_clock(struct machine *m, uint64_t now)
{
	const uint32_t passed = (uint32_t)(now - m->now);

	if (core_waits(m))
		m->core.phase_end += passed;
	if (m->frozen && m->core.attesting)
		m->core.attest_end = core_time(m) + passed + 1;
	m->now = now;
	if (m->powered)
		core_clock(&m->core, core_time(m));
}

static void act_deferred(struct machine *m)
{
	const enum action action = m->deferred[0].action;
	const uint32_t value[2] = { m->deferred[0].value[0], m->deferred[0].value[1] };

	m->deferred_count--;
	memmove(m->deferred, m->deferred + 1, m->deferred_count * sizeof(*m->deferred));
	machine_act(m, action, value);
}

static void step(struct machine *m)
{
	static void (*const steps[])(struct machine *) = {
		[STEP_FEED] = feed, [STEP_READ] = read_card, [STEP_GATE] = set_gate,
	};

	if (held_back(m))
		return;
	if (m->falls && m->falling.at <= m->now)
		land(m);
	else if (m->step != STEP_NONE && m->step_at <= m->now)
		steps[m->step](m);
}

void machine_run(struct machine *m, uint64_t now)
{
	for (;;) {
		const uint64_t due = machine_next(m);

		if (due > now)
			break;
		set_clock(m, due > m->now ? due : m->now);
		if (m->deferred_count)
			act_deferred(m);
		else if (m->replug_at <= m->now)
			machine_plug(m);
		else
			step(m);
		told(m);
	}
	if (now > m->now)
		set_clock(m, now);
	look_at_core(m);
}

/* --- power and cable -------------------------------------------------------------------------- */

static void power_on(struct machine *m)
{
	const struct core_sensors sensors = {
		.board = m->board.present, .cover_open = m->cover_open, .hopper = m->hopper.count,
		.reader = m->path.count, .board_number = m->board.number,
	};

	m->powered = true;
	m->power_on = m->now;
	m->lamp_until = 0;
	m->step = STEP_NONE;
	m->falls = false;
	m->seen = 1;
	if (m->board.present) {
		m->board.ordinal = ++m->boards;
		m->board.deals = 0;
		m->board.plan = 0;
		m->board.end = MACHINE_UNUSED;
	}
	core_start(&m->core, &m->is, &m->orders, m, 0, &sensors, m->slots);
	if (m->broken)
		core_trouble(&m->core, CORE_HARDWARE_MAKER);
	look_at_core(m);
}

static struct core_config config_of(const struct machine_config *from)
{
	const struct wire_descriptor *desc = &from->desc;
	struct core_config config = {
		.reader = desc->reader, .pockets = desc->pockets, .capacity = desc->pocket_capacity,
		.hopper = desc->hopper, .plan_cards = (uint8_t)desc->plan_entries,
		.capabilities = desc->capabilities, .gate_deadline = desc->gate_deadline_us,
		.firmware = from->info.firmware, .hardware = from->info.hardware, .emulated = true,
	};

	memcpy(config.model, from->info.name, strnlen(from->info.name, sizeof(config.model)));
	return config;
}

/* The memory of an emulator, as if the core had written it */
static void write_slots(struct machine *m)
{
	struct record record = { .insertion = m->memory.insertion,
				 .attestations = m->memory.attestations };

	memcpy(record.counters, &m->memory.counters, sizeof(record.counters));
	record_encode(&record, m->slots[0]);
	record.generation++;
	record_encode(&record, m->slots[1]);
}

struct machine *machine_new(const struct machine_config *config,
			    const struct machine_memory *memory, uint64_t now)
{
	const struct core_orders orders = { read_order, gate_order, let_go_order, halt_order,
					    lock_order, locate_order, store_order, NULL };
	struct machine *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->config = *config;
	m->is = config_of(config);
	if (!core_config_is_valid(&m->is)) {
		fputs("the core of tools/machine cannot be such a machine\n", stderr);
		free(m);
		return NULL;
	}
	m->orders = orders;
	if (m->is.capabilities & CORE_ATTEST) {
		signer_make(&m->signer, config->key);
		m->attest = signer_attest(&m->signer);
		m->orders.attest = &m->attest;
	}
	if (memory)
		m->memory = *memory;
	write_slots(m);
	m->now = now;
	m->random = config->seed;
	m->plugged = true;
	m->replug_at = MACHINE_NEVER;
	power_on(m);
	return m;
}

void machine_free(struct machine *m)
{
	if (!m)
		return;
	if (m->powered)
		core_deconfigure(&m->core);
	signer_wipe(&m->signer);
	free(m);
}

void machine_unplug(struct machine *m, uint64_t us)
{
	if (m->core.configured)
		machine_disconnect(m);
	m->plugged = false;
	m->replug_at = us == MACHINE_NEVER ? us : m->now + us;
}

void machine_plug(struct machine *m)
{
	m->replug_at = MACHINE_NEVER;
	if (!m->powered)
		power_on(m);
	m->plugged = true;
}

/* A card that is falling when the power goes still lands, but is neither counted nor recorded. */
void machine_power_cycle(struct machine *m, uint64_t us)
{
	m->core.configured = false;
	machine_unplug(m, us);
	if (m->falls)
		pile_move_all(m->board.present ? &m->board.pocket[m->falling.real] : &m->table,
			      &m->falling.cards);
	m->falls = false;
	m->step = STEP_NONE;
	if (m->board.present && m->config.account)
		m->config.account(m->config.context, &m->board);
	m->powered = false;
	memset(&m->core, 0, sizeof(m->core));
	m->core.config = &m->is;
	m->core.orders = &m->orders;
	m->core.context = m;
}

/* --- the host --------------------------------------------------------------------------------- */

void machine_configure(struct machine *m)
{
	core_configure(&m->core);
	m->seen = 1;
	look_at_core(m);
}

void machine_disconnect(struct machine *m)
{
	core_deconfigure(&m->core);
	look_at_core(m);
}

void machine_reset_firmware(struct machine *m)
{
	if (!m->powered || !m->core.configured)
		return;
	core_lost(&m->core);
	m->seen = 1;
	look_at_core(m);
}

size_t machine_query(struct machine *m, uint8_t request, uint16_t value, uint8_t *buf)
{
	const uint8_t setup[8] = { 0xc1, request, (uint8_t)value, (uint8_t)(value >> 8), 0, 0,
				   CORE_ANSWER_BYTES };
	const int size = core_control(&m->core, setup, NULL, 0, buf);

	return size < 0 ? 0 : (size_t)size;
}

bool machine_command(struct machine *m, uint8_t request, uint16_t value, const uint8_t *data,
		     size_t length)
{
	const uint8_t setup[8] = { 0x41, request, (uint8_t)value, (uint8_t)(value >> 8), 0, 0,
				   (uint8_t)length };
	uint8_t answer[CORE_ANSWER_BYTES];
	const int ended = core_control(&m->core, setup, data, (uint16_t)length, answer);

	look_at_core(m);
	return ended != CORE_STALL;
}

/* Refused by a scenario: the core knows nothing of it. */
void machine_refuse(struct machine *m, uint8_t request, const uint8_t *data, size_t length,
		    uint8_t error, uint32_t detail)
{
	(void)m;
	(void)request;
	(void)data;
	(void)length;
	(void)error;
	(void)detail;
}

void machine_refuse_plan(struct machine *m, uint8_t error, uint32_t detail)
{
	(void)m;
	(void)error;
	(void)detail;
}

bool machine_bulk(struct machine *m, const uint8_t *data, size_t length)
{
	const bool taken = core_bulk(&m->core, data, (uint16_t)length);

	look_at_core(m);
	return taken;
}

void machine_gate(struct machine *m, const uint8_t *data, size_t length)
{
	core_gate(&m->core, data, (uint16_t)length);
	look_at_core(m);
}

size_t machine_fetch(struct machine *m, uint8_t *buf, size_t size)
{
	size_t length = 0;

	while (length + CORE_EVENT_BYTES <= size && core_event(&m->core, buf + length))
		length += CORE_EVENT_BYTES;
	return length;
}

uint64_t machine_fetch_at(const struct machine *m)
{
	return m->core.event_count ? 0 : MACHINE_NEVER;
}

bool machine_wakes(const struct machine *m)
{
	return m->core.event_count;
}

void machine_suspended(struct machine *m)
{
	(void)m;
}

static void stream_reset(struct machine *m, bool out)
{
	if (out)
		serial_discard(&m->serial);
	else
		serial_reset(&m->serial);
}

static void stream_take(struct machine *m, const uint8_t *data, size_t length)
{
	serial_take(&m->serial, &m->core, data, length);
	look_at_core(m);
}

static size_t stream_give(struct machine *m, uint8_t *buf, size_t size)
{
	return serial_give(&m->serial, &m->core, buf, size);
}

static bool stream_ready(const struct machine *m)
{
	return serial_is_ready(&m->serial, &m->core);
}

const struct machine_stream *machine_stream(void)
{
	static const struct machine_stream stream = { stream_reset, stream_take, stream_give,
						      stream_ready };

	return &stream;
}

/* --- the operator ----------------------------------------------------------------------------- */

int machine_insert(struct machine *m, uint16_t number)
{
	if (!m->powered)
		return -ENXIO;
	if (m->board.present)
		return -EBUSY;
	memset(&m->board, 0, sizeof(m->board));
	m->board.ordinal = ++m->boards;
	m->board.number = number;
	m->board.present = true;
	core_board(&m->core, true, number);
	look_at_core(m);
	return 0;
}

int machine_remove(struct machine *m, bool force)
{
	if (!m->board.present)
		return -ENOENT;
	if (m->board.locked && m->powered && !force)
		return -EPERM;
	if (m->powered)
		core_board(&m->core, false, 0);
	look_at_core(m);
	if (m->config.account)
		m->config.account(m->config.context, &m->board);
	for (int i = 0; i < CORE_POCKETS; i++)
		pile_move_all(&m->table, &m->board.pocket[i]);
	/* what falls misses the board */
	if (m->falls)
		pile_move_all(&m->table, &m->falling.cards);
	m->falls = false;
	m->board.present = false;
	return 0;
}

void machine_cover(struct machine *m, bool open)
{
	m->cover_open = open;
	if (m->powered)
		core_cover(&m->core, open);
	look_at_core(m);
}

void machine_key(struct machine *m, uint32_t key, bool pressed)
{
	if (m->powered)
		core_key(&m->core, (uint8_t)key, pressed);
	look_at_core(m);
}

void machine_clear_path(struct machine *m)
{
	pile_move_all(&m->table, &m->path);
	m->jammed = false;
	if (!m->powered)
		return;
	core_reader(&m->core, false);
	core_jam(&m->core, 0);
	look_at_core(m);
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

void machine_hopper_changed(struct machine *m)
{
	if (m->powered)
		core_hopper(&m->core, m->hopper.count);
	look_at_core(m);
}

/* --- faults ----------------------------------------------------------------------------------- */

void machine_break(struct machine *m, uint32_t code, bool lasting)
{
	if (!m->powered)
		return;
	m->broken = lasting;
	core_trouble(&m->core, code == CORE_HARDWARE_STORE ? CORE_HARDWARE_MAKER : code);
	if (!lasting)
		core_trouble(&m->core, 0);
	look_at_core(m);
}

void machine_repair(struct machine *m)
{
	m->broken = false;
	if (m->powered)
		core_trouble(&m->core, 0);
}

void machine_freeze(struct machine *m, bool frozen)
{
	m->frozen = frozen;
}

void machine_speed(struct machine *m, double factor)
{
	m->config.speed = factor;
}

/* --- observation ------------------------------------------------------------------------------ */

struct machine_view machine_view(const struct machine *m)
{
	return (struct machine_view){
		.powered = m->powered,
		.plugged = m->plugged && m->powered,
		.configured = m->core.configured,
		.frozen = m->frozen,
		.lamp = m->now < m->lamp_until,
		.cover_open = m->cover_open,
		.jammed = m->jammed,
		.broken = m->broken,
		.state = (uint8_t)m->core.state,
		.fault = m->core.fault,
		.position = m->core.position,
		.stops = m->stops,
		.deals = m->deals,
		.queued = m->core.event_count,
		.next_event = m->core.event_next,
		.plan = m->core.loaded ? get_u32(m->core.block + 8) : 0,
		.speed = m->config.speed,
		.mutant = m->config.mutant,
		.desc = &m->config.desc,
		.board = &m->board,
		.memory = &m->memory,
	};
}

const struct core_config *simulated_config(const struct machine *m)
{
	return &m->is;
}

struct core *simulated_core(struct machine *m)
{
	return &m->core;
}

struct serial *simulated_serial(struct machine *m)
{
	return &m->serial;
}
