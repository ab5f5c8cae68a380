/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The protocol side of a machine. Section numbers are those of docs/protocol.md. */
#include <errno.h>
#include <linux/crc32.h>
#include <linux/unaligned.h>
#include <stdlib.h>
#include <string.h>

#include "machine_priv.h"
#include "machine_wire.h"

#define US_PER_MS	1000ULL
#define PLAN_CHECK_US	20000
#define SIGN_US		50000
/* A stop behind DEAL_DONE comes within this time (§4.3). */
#define LAST_STOP_US	300000

bool has(const struct machine *m, uint32_t capability)
{
	return m->config.desc.capabilities & capability;
}

static uint32_t machine_clock(const struct machine *m)
{
	return (m->now - m->power_on) /
	       (MUTANT(m, clock_slow) ? 2 : MUTANT(m, clock_ms) ? 1000 : 1);
}

/* --- events (§4) ------------------------------------------------------------- */

struct wire_event event_of(uint8_t type)
{
	return (struct wire_event){
		.type = type,
		.position = DEALBOX_NONE, .card = DEALBOX_NONE,
		.pocket = DEALBOX_NONE, .quality = DEALBOX_NONE,
	};
}

static void event_queue(struct machine *m, const struct wire_event *event)
{
	unsigned int slot;

	if (MUTANT(m, queue_newest) && m->queue_count == MACHINE_QUEUE)
		return;
	if (m->queue_count == (MUTANT(m, queue_short) ? 40 : MACHINE_QUEUE)) {
		m->queue_head = (m->queue_head + 1) % MACHINE_QUEUE;
		m->queue_count--;
	}
	slot = (m->queue_head + m->queue_count++) % MACHINE_QUEUE;
	wire_event_put(m->queue[slot], event);
}

/*
 * Hash an event of a deal as the machine means it, also if a scenario loses or changes it on its
 * way.
 */
static void event_hash(struct machine *m, const struct wire_event *event)
{
	uint8_t bytes[WIRE_EVENT_SIZE];

	if (!m->attest_counts ||
	    (MUTANT(m, attest_landed) && event->type == DEALBOX_EV_CARD_LANDED))
		return;
	wire_event_put(bytes, event);
	attest_event(&m->attest, bytes);
	explicit_bzero(bytes, sizeof(bytes));
}

/* Queue an event of an unknown type. */
static void event_unknown(struct machine *m)
{
	struct wire_event event = event_of(0xf0);

	event.number = m->next_event++;
	event.clock_us = machine_clock(m);
	event_hash(m, &event);
	event_queue(m, &event);
}

static void event_number(struct machine *m, struct wire_event *event)
{
	event->number = m->next_event++;
	event->clock_us = machine_clock(m);
	if (MUTANT(m, clock_back) && event->number % 7 == 0)
		event->clock_us -= 5000;
	if (m->board.present)
		event->insertion = m->board.insertion;
}

/* Hold back events for us. */
static void delay_events(struct machine *m, uint64_t us)
{
	if (m->events_at < m->now + us)
		m->events_at = m->now + us;
}

void event_send(struct machine *m, struct wire_event *event)
{
	struct happening happening = machine_happening(m, HOOK_EVENT, event->type);
	struct scenario *scenario = m->config.scenario;
	const struct effect *effect;
	unsigned int cursor = 0, copies = 1, patch_at = 0;
	const struct effect *patch = NULL;

	if (!m->configured) {
		m->untold += m->configured_before && event->type == DEALBOX_EV_COVER_OPEN;
		return;
	}
	happening.position = event->position;
	happening.card = event->card;
	happening.pocket = event->pocket;
	while ((effect = scenario_next(scenario, &happening, &cursor))) {
		uint32_t i;

		switch (effect->action) {
		case ACTION_DROP:
			copies = 0;
			break;
		case ACTION_DUPLICATE:
			copies = 2;
			break;
		case ACTION_UNKNOWN:
			event_unknown(m);
			break;
		case ACTION_FLOOD:
			for (i = 0; i < effect->value[0]; i++)
				event_unknown(m);
			break;
		case ACTION_SET:
			patch = effect;
			patch_at = effect->value[0];
			break;
		case ACTION_DELAY:
			delay_events(m, effect->value[0] * US_PER_MS);
			break;
		default:
			machine_defer(m, effect);
			break;
		}
	}
	event_number(m, event);
	event_hash(m, event);
	while (copies--) {
		event_queue(m, event);
		if (patch) {
			unsigned int slot = (m->queue_head + m->queue_count - 1) % MACHINE_QUEUE;

			memcpy(m->queue[slot] + patch_at, patch->bytes, patch->length);
		}
	}
}

void machine_defer(struct machine *m, const struct effect *effect)
{
	if (m->deferred_count == DEFERRED_MAX)
		return;
	m->deferred[m->deferred_count].action = effect->action;
	memcpy(m->deferred[m->deferred_count].value, effect->value, sizeof(effect->value));
	m->deferred_count++;
}

size_t machine_fetch(struct machine *m, uint8_t *buf, size_t size)
{
	size_t length = 0;

	if (machine_fetch_at(m) > m->now)
		return 0;
	while (m->queue_count && length + WIRE_EVENT_SIZE <= size) {
		memcpy(buf + length, m->queue[m->queue_head], WIRE_EVENT_SIZE);
		if (MUTANT(m, clock_fetched))
			put_unaligned_le32(machine_clock(m), buf + length + 8);
		length += WIRE_EVENT_SIZE;
		m->queue_head = (m->queue_head + 1) % MACHINE_QUEUE;
		m->queue_count--;
	}
	return length;
}

bool machine_wakes(const struct machine *m)
{
	unsigned int i;

	for (i = 0; i < m->queue_count; i++)
		if (!MUTANT(m, wakeup_keys) || m->queue[(m->queue_head + i) % MACHINE_QUEUE][0] ==
		    DEALBOX_EV_BOARD_INSERTED || m->queue[(m->queue_head + i) % MACHINE_QUEUE][0] ==
		    DEALBOX_EV_KEY)
			return true;
	return false;
}

void machine_suspended(struct machine *m)
{
	if (MUTANT(m, suspend_empties))
		m->queue_count = 0;
}

const struct machine_stream *machine_stream(void)
{
	return NULL;
}

uint64_t machine_fetch_at(const struct machine *m)
{
	return m->queue_count ? m->events_at : MACHINE_NEVER;
}

/* --- attestations (§5.3) --------------------------------------------------------- */

void attest_started(struct machine *m)
{
	m->attest_counts = m->attest.insertion;
}

static void attest_done(struct machine *m)
{
	m->attestable = m->attest_counts;
	m->attest_counts = false;
	m->done_at = m->now;
}

static void attest_drop(struct machine *m)
{
	attest_forget(&m->attest);
	m->attest_counts = false;
	m->attestable = false;
}

static void attest_answer(struct machine *m, uint32_t counter, uint8_t error, uint32_t insertion)
{
	struct wire_event event = event_of(DEALBOX_EV_ATTESTED);

	m->attest_at = MACHINE_NEVER;
	explicit_bzero(m->nonce, sizeof(m->nonce));
	m->attested = !error;
	event.code = counter;
	event.arg[0] = error;
	event.arg[1] = insertion;
	event_send(m, &event);
}

/* A stop came: a deal that has ended cannot be attested any more. */
static void attest_stop(struct machine *m)
{
	uint32_t insertion = m->attest.insertion;

	if (m->deal.running || MUTANT(m, attest_stopped))
		return;
	attest_drop(m);
	if (m->attest_at != MACHINE_NEVER)
		attest_answer(m, 0, DEALBOX_ERR_STATE, insertion);
}

/* Forget everything about attestations but the counter. */
static void attest_reset(struct machine *m)
{
	attest_drop(m);
	m->attest_at = MACHINE_NEVER;
	explicit_bzero(m->nonce, sizeof(m->nonce));
	m->attested = MUTANT(m, statement_kept) && m->attested;
}

static void attest_finish(struct machine *m)
{
	m->memory.attestations += MUTANT(m, attest_counter) ? !m->memory.attestations : 1;
	if (m->config.save)
		m->config.save(m->config.context, &m->memory);
	attest_make(&m->attestation, &m->attest, &m->key, m->memory.attestations, m->nonce);
	attest_answer(m, m->memory.attestations, DEALBOX_ERR_OK, m->attest.insertion);
}

/* --- states ------------------------------------------------------------------- */

void machine_stop(struct machine *m, struct wire_event *event)
{
	bool fault = DEALBOX_EV_IS_VOID(event->type);
	bool paused = m->pending != PENDING_NONE && MUTANT(m, stop_paused);

	if (MUTANT(m, stop_swallows))
		m->falling_count = 0;
	m->stops++;
	m->step = STEP_NONE;
	m->pending = PENDING_NONE;
	event_send(m, event);
	attest_stop(m);
	if (fault)
		deal_end(m, MACHINE_VOID);
	if (paused) {
		struct wire_event other = event_of(DEALBOX_EV_PAUSED);

		other.position = m->deal.position;
		other.code = DEALBOX_PAUSED_BY_HOST;
		event_send(m, &other);
	}
	if (MUTANT(m, late_stop) && m->state == DEALBOX_STATE_DONE)
		return;
	m->state = fault ? DEALBOX_STATE_FAULT : DEALBOX_STATE_HELD;
	m->fault = event->type;
}

void deal_end(struct machine *m, enum machine_end end)
{
	struct dealbox_counters *counters = &m->memory.counters;

	m->step = STEP_NONE;
	m->pending = PENDING_NONE;
	if (!m->deal.running)
		return;
	m->deal.running = false;
	m->board.end = end;
	if (MUTANT(m, spent_done))
		m->board.spent |= end == MACHINE_DONE;
	if (MUTANT(m, plan_once) && end == MACHINE_DONE)
		plan_forget(m);
	if (end == MACHINE_DONE) {
		attest_done(m);
		counters->boards_dealt++;
		m->stored = *counters;
	} else {
		attest_drop(m);
		counters->boards_voided++;
	}
}

void plan_forget(struct machine *m)
{
	explicit_bzero(&m->plan, sizeof(m->plan));
	explicit_bzero(m->load, sizeof(m->load));
	explicit_bzero(m->plan_hash, sizeof(m->plan_hash));
	m->plan_loaded = false;
	m->load_deadline = MACHINE_NEVER;
	m->load_check_at = MACHINE_NEVER;
	m->load_received = 0;
	m->load_overrun = false;
}

/* Reset the state that configuration resets, and send STATE_LOST. */
static void machine_forget(struct machine *m, uint32_t reason)
{
	struct wire_event event = event_of(DEALBOX_EV_STATE_LOST);
	bool cut = m->board.end == MACHINE_VOID && m->board.deals;
	bool goes_on = MUTANT(m, deal_goes_on) && m->deal.running;
	struct deal deal = { 0 };

	if (goes_on)
		deal = m->deal;
	else
		mechanics_cut(m);
	if (MUTANT(m, spent_forgotten) || (MUTANT(m, cut_unspent) && cut))
		m->board.spent = false;
	if (MUTANT(m, unspent_spent))
		m->board.spent = true;
	if (!MUTANT(m, plan_kept))
		plan_forget(m);
	attest_reset(m);
	if (!goes_on && (!MUTANT(m, done_stays) || m->state != DEALBOX_STATE_DONE))
		m->state = DEALBOX_STATE_IDLE;
	m->fault = 0;
	m->deal = deal;
	if (!MUTANT(m, last_kept))
		memset(&m->last, 0, sizeof(m->last));
	m->last_accepted = false;
	if (!MUTANT(m, queue_kept))
		m->queue_count = 0;
	m->events_at = 0;
	m->next_event = !MUTANT(m, number_zero);
	m->gate_event = 0;
	m->late_event = 0;

	event.code = reason;
	event_send(m, &event);
	if (m->hopper.count && MUTANT(m, lost_order)) {
		event = event_of(DEALBOX_EV_HOPPER_LOADED);
		event_send(m, &event);
	}
	if (m->board.present && !MUTANT(m, board_untold)) {
		event = event_of(DEALBOX_EV_BOARD_INSERTED);
		event.flags = m->board.in_doubt && !(MUTANT(m, flag_once) && m->configured_before) ?
			DEALBOX_EVF_AT_POWER_ON : 0;
		event.arg[0] = has(m, DEALBOX_CAP_BOARD_READER) ? m->board.number : 0;
		event_send(m, &event);
	}
	if (m->cover_open && !MUTANT(m, cover_untold)) {
		event = event_of(DEALBOX_EV_COVER_OPEN);
		event_send(m, &event);
	}
	if (m->hopper.count && !MUTANT(m, hopper_untold) && !MUTANT(m, lost_order)) {
		event = event_of(DEALBOX_EV_HOPPER_LOADED);
		event_send(m, &event);
	}
	for (; m->untold && MUTANT(m, unconfigured_told); m->untold--) {
		event = event_of(DEALBOX_EV_COVER_OPEN);
		event_send(m, &event);
	}
	m->untold = 0;
}

void machine_configure(struct machine *m)
{
	m->configured = true;
	machine_forget(m, m->configured_before ? DEALBOX_LOST_RESET : DEALBOX_LOST_POWER_ON);
	m->configured_before = true;
}

void machine_disconnect(struct machine *m)
{
	if (!MUTANT(m, deal_goes_on))
		mechanics_cut(m);
	attest_reset(m);
	m->configured = false;
}

void machine_reset_firmware(struct machine *m)
{
	if (m->powered && m->configured && MUTANT(m, restart_untold)) {
		plan_forget(m);
		memset(&m->last, 0, sizeof(m->last));
	} else if (m->powered && m->configured) {
		machine_forget(m, DEALBOX_LOST_FIRMWARE);
	}
}

/* --- queries (§2.1) -------------------------------------------------------------- */

static const struct {
	uint32_t min, max, start;
} params[PARAM_COUNT] = {
	[DEALBOX_PARAM_SPEED - 1] = { 60, 1200, 600 },
	[DEALBOX_PARAM_READ_RETRIES - 1] = { 0, 9, 2 },
	[DEALBOX_PARAM_FEED_TIMEOUT - 1] = { 200, 4000, 1500 },
	[DEALBOX_PARAM_VOLUME - 1] = { 0, 100, 50 },
};

static size_t get_info(struct machine *m, uint16_t value, uint8_t *buf)
{
	if (MUTANT(m, query_changes))
		m->last.error = 0;
	wire_info_put(buf, &m->config.info);
	return value ? 0 : WIRE_INFO_SIZE;
}

static size_t get_status(struct machine *m, uint16_t value, uint8_t *buf)
{
	struct wire_status status = {
		.state = m->state,
		.fault = m->fault,
		.cards_total = m->deal.total,
		.insertion = m->board.present ? m->board.insertion : 0,
		.cards_done = m->deal.done,
		.next_event = m->next_event,
		.clock_us = machine_clock(m),
	};

	if (m->board.present) {
		status.flags |= DEALBOX_STATUS_BOARD;
		if (m->board.spent)
			status.flags |= DEALBOX_STATUS_SPENT;
		if (m->board.in_doubt)
			status.flags |= DEALBOX_STATUS_IN_DOUBT;
		if (has(m, DEALBOX_CAP_BOARD_READER))
			status.board = m->board.number;
	}
	if (m->cover_open)
		status.flags |= DEALBOX_STATUS_COVER_OPEN;
	if (m->hopper.count)
		status.flags |= DEALBOX_STATUS_HOPPER;
	if (m->path.count)
		status.flags |= DEALBOX_STATUS_CARD_AT_READER;
	if ((m->deal.test && m->deal.running) || has(m, DEALBOX_CAP_HOST_ROUTED))
		status.plan_id = m->deal.plan;
	else if (m->plan_loaded)
		status.plan_id = m->plan.plan_id;
	memcpy(status.counts, m->deal.counts, sizeof(status.counts));
	if (MUTANT(m, status_plan) && m->state == DEALBOX_STATE_DONE)
		status.plan_id = 0;
	if (MUTANT(m, status_ahead))
		status.cards_done = m->deal.position;
	if (MUTANT(m, status_next))
		status.next_event--;
	wire_status_put(buf, &status);
	return value && !MUTANT(m, value_ignored) ? 0 : WIRE_STATUS_SIZE;
}

static size_t get_result(struct machine *m, uint16_t value, uint8_t *buf)
{
	wire_result_put(buf, MUTANT(m, result_early) && m->ahead ? &m->before : &m->last);
	m->ahead = false;
	return value ? 0 : WIRE_RESULT_SIZE;
}

static size_t get_counters(struct machine *m, uint16_t value, uint8_t *buf)
{
	if (MUTANT(m, query_dealing) && m->state == DEALBOX_STATE_DEALING)
		return 0;
	wire_counters_put(buf, &m->memory.counters);
	return value ? 0 : WIRE_COUNTERS_SIZE;
}

static size_t get_param(struct machine *m, uint16_t value, uint8_t *buf)
{
	struct wire_param param = { .id = value };

	if (!value || value > PARAM_COUNT)
		return 0;
	param.value = m->param[value - 1];
	param.min = params[value - 1].min;
	param.max = params[value - 1].max;
	wire_param_put(buf, &param);
	return WIRE_PARAM_SIZE;
}

static size_t get_identity(struct machine *m, uint16_t value, uint8_t *buf)
{
	if (value || !(has(m, DEALBOX_CAP_ATTEST) || MUTANT(m, identity_bare)))
		return 0;
	attest_identity(buf, &m->key, m->memory.attestations);
	return WIRE_IDENTITY_SIZE;
}

static size_t get_statement(struct machine *m, uint16_t value, uint8_t *buf)
{
	if (value || !m->attested)
		return 0;
	memcpy(buf, m->attestation.statement, DEALBOX_STATEMENT_SIZE);
	return DEALBOX_STATEMENT_SIZE;
}

static size_t get_signature(struct machine *m, uint16_t value, uint8_t *buf)
{
	if (value || !m->attested)
		return 0;
	memcpy(buf, m->attestation.signature, DEALBOX_SIGNATURE_SIZE);
	return DEALBOX_SIGNATURE_SIZE;
}

size_t machine_query(struct machine *m, uint8_t request, uint16_t value, uint8_t *buf)
{
	static size_t (*const queries[])(struct machine *, uint16_t, uint8_t *) = {
		[WIRE_GET_INFO] = get_info,
		[WIRE_GET_STATUS] = get_status,
		[WIRE_GET_RESULT] = get_result,
		[WIRE_GET_COUNTERS] = get_counters,
		[WIRE_GET_PARAM] = get_param,
		[WIRE_GET_IDENTITY] = get_identity,
		[WIRE_GET_STATEMENT] = get_statement,
		[WIRE_GET_SIGNATURE] = get_signature,
	};

	if (request == 0x0f && MUTANT(m, unknown_query))
		return 1;
	if (request >= sizeof(queries) / sizeof(*queries) || !queries[request])
		return 0;
	return queries[request](m, value, buf);
}

/* --- commands (§2.2, §2.3) ---------------------------------------------------------- */

static bool is_plan_number(uint32_t number)
{
	return number != DEALBOX_PLAN_NONE && number != DEALBOX_PLAN_TEST;
}

static bool is_count(const struct machine *m, uint32_t cards)
{
	return cards >= 1 && cards <= m->config.desc.plan_entries;
}

/* Returns the detail of BAD_VALUE: 1, 2, 3 for a, b, c; 0 if all are valid. */
static int values_none(const struct machine *m, const struct wire_command *cmd)
{
	return cmd->a && !MUTANT(m, pause_a) ? 1 : cmd->b ? 2 : cmd->c ? 3 : 0;
}

static int values_set_param(const struct machine *m, const struct wire_command *cmd)
{
	if (!cmd->a || cmd->a > PARAM_COUNT)
		return 1;
	if (cmd->b < params[cmd->a - 1].min ||
	    cmd->b > params[cmd->a - 1].max + MUTANT(m, param_above))
		return 2;
	return cmd->c ? 3 : 0;
}

static int values_load(const struct machine *m, const struct wire_command *cmd)
{
	if (cmd->b && !is_plan_number(cmd->a))
		return 1;
	if (cmd->b &&
	    (cmd->b < WIRE_PLAN_SIZE(1) ||
	     cmd->b > WIRE_PLAN_SIZE(m->config.desc.plan_entries) - MUTANT(m, plan_longest)))
		return 2;
	return cmd->c ? 3 : 0;
}

static int values_start(const struct machine *m, const struct wire_command *cmd)
{
	if (!is_plan_number(cmd->a))
		return 1;
	if (!cmd->b)
		return 2;
	if (!has(m, DEALBOX_CAP_HOST_ROUTED))
		return cmd->c && !MUTANT(m, start_c) ? 3 : 0;
	if (cmd->c == WIRE_START_CAPTURE)
		return 0;
	return is_count(m, cmd->c & ~WIRE_START_CAPTURE) ? 0 : 3;
}

static int values_test_deal(const struct machine *m, const struct wire_command *cmd)
{
	return cmd->a ? 1 : !cmd->b ? 2 : !is_count(m, cmd->c) ? 3 : 0;
}

static int values_locate(const struct machine *m, const struct wire_command *cmd)
{
	return cmd->a > (MUTANT(m, locate_short) ? 30 : 60u - MUTANT(m, locate_59)) ? 1 :
	       cmd->b ? 2 :
	       cmd->c ? 3 : 0;
}

static int values_attest(const struct machine *m, const struct wire_command *cmd)
{
	(void)m;
	return cmd->a ? 1 : !cmd->b ? 2 : cmd->c ? 3 : 0;
}

static bool start_is_capture(const struct machine *m, const struct wire_command *cmd)
{
	if (has(m, DEALBOX_CAP_HOST_ROUTED))
		return cmd->c & WIRE_START_CAPTURE;
	return m->plan_loaded && m->plan.mode == DEALBOX_PLAN_CAPTURE;
}

static void run_set_param(struct machine *m, const struct wire_command *cmd)
{
	if (!MUTANT(m, param_lost))
		m->param[cmd->a - 1] = cmd->b;
}

static void run_load(struct machine *m, const struct wire_command *cmd)
{
	if (!MUTANT(m, load_keeps) || !cmd->b)
		plan_forget(m);
	if (MUTANT(m, load_idle))
		m->state = DEALBOX_STATE_IDLE;
	m->load_received = 0;
	m->load_overrun = false;
	if (!cmd->b && MUTANT(m, load_zero_event)) {
		struct wire_event event = event_of(DEALBOX_EV_PLAN_LOADED);

		event_send(m, &event);
	}
	if (!cmd->b)
		return;
	m->load_number = cmd->a;
	m->load_length = cmd->b;
	m->load_deadline =
		m->now + WIRE_PLAN_COMPLETE_MS * US_PER_MS / (MUTANT(m, load_hasty) ? 2 : 1);
}

static void deal_begin(struct machine *m)
{
	m->deal.running = true;
	m->deals++;
	m->board.deals++;
	m->board.plan = m->deal.plan;
	m->board.end = MACHINE_VOID;
	if (!MUTANT(m, unlocked_deal))
		m->board.locked = has(m, DEALBOX_CAP_BOARD_LOCK);
	attest_drop(m);
	if (has(m, DEALBOX_CAP_ATTEST) && !m->deal.test)
		attest_begin(&m->attest, m->board.insertion, has(m, DEALBOX_CAP_STORED_PLAN) ?
			     m->plan_hash : NULL);
	if (m->deal.capture && MUTANT(m, capture_room))
		memset(m->let_in, 0, sizeof(m->let_in));
	if (m->deal.capture)
		m->board.captured = true;
	else if (!MUTANT(m, spent_done) && !MUTANT(m, spent_first) &&
		 !(MUTANT(m, test_unspent) && m->deal.test))
		m->board.spent = true;
	if (MUTANT(m, capture_spends))
		m->board.spent = true;
	memset(m->deal.first, DEALBOX_NONE, sizeof(m->deal.first));
	m->state = DEALBOX_STATE_DEALING;
	mechanics_start(m);
}

static void run_start(struct machine *m, const struct wire_command *cmd)
{
	bool stored = has(m, DEALBOX_CAP_STORED_PLAN);

	m->deal = (struct deal){
		.plan = cmd->a,
		.capture = start_is_capture(m, cmd),
		.by_card = !stored || m->plan.mode == DEALBOX_PLAN_BY_CARD,
		.total = stored ? m->plan.feed : cmd->c & 0xff,
	};
	deal_begin(m);
}

static void run_test_deal(struct machine *m, const struct wire_command *cmd)
{
	m->deal = (struct deal){ .plan = MUTANT(m, test_number) ? 1 : DEALBOX_PLAN_TEST,
		.test = true, .total = cmd->c };
	if (MUTANT(m, test_plan))
		plan_forget(m);
	deal_begin(m);
}

static void run_pause(struct machine *m, const struct wire_command *cmd)
{
	(void)cmd;
	m->pending = PENDING_PAUSE;
	m->pause_reason = DEALBOX_PAUSED_BY_HOST;
	mechanics_pending(m);
	if (MUTANT(m, paused_at_once))
		m->state = DEALBOX_STATE_PAUSED;
}

static void run_resume(struct machine *m, const struct wire_command *cmd)
{
	struct wire_event event = event_of(DEALBOX_EV_RESUMED);

	(void)cmd;
	event.position = m->deal.position;
	event_send(m, &event);
	m->state = DEALBOX_STATE_DEALING;
	mechanics_go_on(m);
}

static void run_reread(struct machine *m, const struct wire_command *cmd)
{
	(void)cmd;
	if (MUTANT(m, reread_next))
		machine_clear_path(m);
	if (MUTANT(m, short_skips) && m->fault == DEALBOX_EV_DECK_SHORT)
		m->deal.position++;
	m->state = DEALBOX_STATE_DEALING;
	m->fault = 0;
	mechanics_go_on(m);
	if (MUTANT(m, reread_late)) {
		m->state = DEALBOX_STATE_HELD;
		m->fault = DEALBOX_EV_FEED_TIMEOUT;
	}
}

static void run_abort(struct machine *m, const struct wire_command *cmd)
{
	(void)cmd;
	m->pending = PENDING_ABORT;
	if (MUTANT(m, abort_plan))
		plan_forget(m);
	mechanics_pending(m);
}

static void run_clear_fault(struct machine *m, const struct wire_command *cmd)
{
	struct wire_event event = event_of(DEALBOX_EV_FAULT_CLEARED);

	(void)cmd;
	event.code = m->fault;
	event_send(m, &event);
	m->state = DEALBOX_STATE_IDLE;
	m->fault = 0;
}

static void run_release(struct machine *m, const struct wire_command *cmd)
{
	(void)cmd;
	m->board.locked = MUTANT(m, release_nothing);
	m->released = true;
}

static void run_locate(struct machine *m, const struct wire_command *cmd)
{
	if (cmd->a || !MUTANT(m, lamp_stays))
		m->lamp_until = m->now + cmd->a * 1000000ULL;
}

static void run_attest(struct machine *m, const struct wire_command *cmd)
{
	uint64_t quiet = m->done_at + LAST_STOP_US;

	(void)cmd;
	m->attested = false;
	m->attest_at = m->now;
	if (m->config.speed > 0)
		m->attest_at = (m->now < quiet ? quiet : m->now) + SIGN_US;
}

#define IN(state)	(1u << DEALBOX_STATE_##state)
#define ANY		(IN(IDLE) | IN(DEALING) | IN(PAUSED) | IN(HELD) | IN(FAULT) | IN(DONE))

/* The table of §5, and the checks of §2.3 that apply to each command */
static const struct command {
	int (*values)(const struct machine *m, const struct wire_command *cmd);
	void (*run)(struct machine *m, const struct wire_command *cmd);
	unsigned int states;	/* allowed states, otherwise STATE */
	uint32_t capability;	/* otherwise UNSUPPORTED */
	bool deals;		/* check FAULT to HOPPER_EMPTY: START, TEST_DEAL */
	bool cover;		/* check COVER_OPEN */
	bool attests;		/* has a nonce behind it: ATTEST */
} commands[] = {
	[WIRE_SET_PARAM - WIRE_SET_PARAM] = { values_set_param, run_set_param,
		IN(IDLE) | IN(FAULT) | IN(DONE) },
	[WIRE_LOAD - WIRE_SET_PARAM] = { values_load, run_load, IN(IDLE) | IN(DONE),
		.capability = DEALBOX_CAP_STORED_PLAN },
	[DEALBOX_OP_START - WIRE_SET_PARAM] = { values_start, run_start,
		IN(IDLE) | IN(FAULT) | IN(DONE), .deals = true, .cover = true },
	[DEALBOX_OP_PAUSE - WIRE_SET_PARAM] = { values_none, run_pause, IN(DEALING) },
	[DEALBOX_OP_RESUME - WIRE_SET_PARAM] = { values_none, run_resume, IN(PAUSED),
		.cover = true },
	[DEALBOX_OP_REREAD - WIRE_SET_PARAM] = { values_none, run_reread, IN(HELD),
		.cover = true },
	[DEALBOX_OP_ABORT - WIRE_SET_PARAM] = { values_none, run_abort,
		IN(DEALING) | IN(PAUSED) | IN(HELD) },
	[DEALBOX_OP_CLEAR_FAULT - WIRE_SET_PARAM] = { values_none, run_clear_fault, IN(FAULT),
		.cover = true },
	[DEALBOX_OP_RELEASE_BOARD - WIRE_SET_PARAM] = { values_none, run_release,
		IN(IDLE) | IN(FAULT) | IN(DONE), .capability = DEALBOX_CAP_BOARD_LOCK },
	[DEALBOX_OP_TEST_DEAL - WIRE_SET_PARAM] = { values_test_deal, run_test_deal,
		IN(IDLE) | IN(FAULT) | IN(DONE), .capability = DEALBOX_CAP_TEST_DEAL,
		.deals = true, .cover = true },
	[DEALBOX_OP_LOCATE - WIRE_SET_PARAM] = { values_locate, run_locate, ANY },
	[WIRE_ATTEST - WIRE_SET_PARAM] = { values_attest, run_attest, IN(IDLE) | IN(DONE),
		.capability = DEALBOX_CAP_ATTEST, .attests = true },
};

static bool cause_is_there(const struct machine *m)
{
	if (MUTANT(m, cause_ignored))
		return false;
	if (MUTANT(m, clear_reader) && m->path.count)
		return true;
	switch (m->fault) {
	case DEALBOX_EV_REPEATED_CARD:
	case DEALBOX_EV_DOUBLE_FEED:
		return m->path.count;
	case DEALBOX_EV_JAM:
		return m->jammed;
	case DEALBOX_EV_HARDWARE:
		return m->broken;
	default:
		return false;
	}
}

/* Checks from FAULT to HARDWARE for a command that starts a deal. */
static uint8_t check_deal(const struct machine *m, const struct wire_command *cmd, bool test,
			  uint32_t *detail)
{
	bool capture = !test && start_is_capture(m, cmd);

	if (m->state == DEALBOX_STATE_FAULT) {
		*detail = m->fault;
		return DEALBOX_ERR_FAULT;
	}
	if (MUTANT(m, board_before_plan) && !m->board.present)
		return DEALBOX_ERR_NO_BOARD;
	if (!test && has(m, DEALBOX_CAP_STORED_PLAN)) {
		if (!m->plan_loaded)
			return DEALBOX_ERR_NO_PLAN;
		if (m->plan.plan_id != cmd->a) {
			*detail = m->plan.plan_id;
			return DEALBOX_ERR_WRONG_PLAN;
		}
	}
	if (!m->board.present)
		return DEALBOX_ERR_NO_BOARD;
	*detail = m->board.insertion;
	if (m->board.insertion != cmd->b)
		return DEALBOX_ERR_WRONG_INSERTION;
	if (m->board.spent || (m->board.captured && !capture && !MUTANT(m, capture_then_deal)))
		return DEALBOX_ERR_SPENT;
	if (m->board.in_doubt)
		return DEALBOX_ERR_IN_DOUBT;
	*detail = 0;
	if (m->cover_open && !MUTANT(m, cover_last))
		return DEALBOX_ERR_COVER_OPEN;
	if (!m->hopper.count)
		return DEALBOX_ERR_HOPPER_EMPTY;
	if (m->cover_open)
		return DEALBOX_ERR_COVER_OPEN;
	return m->broken ? DEALBOX_ERR_HARDWARE : DEALBOX_ERR_OK;
}

/* Checks from WRONG_INSERTION to HARDWARE for ATTEST. */
static uint8_t check_attest(const struct machine *m, const struct wire_command *cmd,
			    uint32_t *detail)
{
	uint32_t insertion = m->attestable ? m->attest.insertion : 0;

	if (MUTANT(m, attest_removed) && !m->board.present)
		insertion = 0;
	if (MUTANT(m, attest_any) && insertion)
		insertion = cmd->b;
	if (insertion != cmd->b) {
		*detail = insertion;
		return DEALBOX_ERR_WRONG_INSERTION;
	}
	return m->memory.attestations == UINT32_MAX ? DEALBOX_ERR_HARDWARE : DEALBOX_ERR_OK;
}

/*
 * All checks but those of the request and the length, in the order of the codes. nonce is
 * that of ATTEST.
 */
static uint8_t check(const struct machine *m, uint8_t request, uint16_t value,
		     const struct wire_command *cmd, const uint8_t *nonce, uint32_t *detail)
{
	const struct command *command = &commands[request - WIRE_SET_PARAM];
	bool test = request == DEALBOX_OP_TEST_DEAL;
	unsigned int states = command->states;

	if (m->config.mutant.request == request)
		states ^= 1u << m->config.mutant.state;
	if (MUTANT(m, state_first) && !(command->states & 1u << m->state)) {
		*detail = m->state;
		return DEALBOX_ERR_STATE;
	}
	*detail = command->values(m, cmd);
	if (*detail && MUTANT(m, detail_one))
		*detail = 1;
	if (!*detail && value)
		*detail = 4;
	if (!*detail && command->attests && sodium_is_zero(nonce, DEALBOX_NONCE_SIZE))
		*detail = 5;
	if (*detail)
		return DEALBOX_ERR_BAD_VALUE;
	if (command->capability && !has(m, command->capability))
		return MUTANT(m, unsupported_state) ? DEALBOX_ERR_STATE : DEALBOX_ERR_UNSUPPORTED;
	if (request == DEALBOX_OP_START && has(m, DEALBOX_CAP_HOST_ROUTED) &&
	    start_is_capture(m, cmd) && !has(m, DEALBOX_CAP_CAPTURE))
		return DEALBOX_ERR_UNSUPPORTED;
	/* After PAUSE or ABORT, accept nothing but ABORT after PAUSE. */
	if (!(states & 1u << m->state) ||
	    (m->pending != PENDING_NONE && command->states != ANY && !MUTANT(m, between) &&
	     (m->pending == PENDING_ABORT || request != DEALBOX_OP_ABORT ||
	      MUTANT(m, abort_waits))) ||
	    (m->attest_at != MACHINE_NEVER &&
	     (command->deals || (command->attests && !MUTANT(m, attest_twice))))) {
		*detail = m->state;
		return DEALBOX_ERR_STATE;
	}
	if (command->deals)
		return check_deal(m, cmd, test, detail);
	if (command->attests)
		return check_attest(m, cmd, detail);
	if (request == DEALBOX_OP_CLEAR_FAULT && cause_is_there(m)) {
		*detail = m->fault;
		return DEALBOX_ERR_FAULT;
	}
	if (request == DEALBOX_OP_RELEASE_BOARD && !m->board.present)
		return DEALBOX_ERR_NO_BOARD;
	if (command->cover && m->cover_open &&
	    !(MUTANT(m, clear_open) && request == DEALBOX_OP_CLEAR_FAULT))
		return DEALBOX_ERR_COVER_OPEN;
	return DEALBOX_ERR_OK;
}

static void get_command(const uint8_t *data, size_t length, struct wire_command *cmd)
{
	uint8_t buf[WIRE_COMMAND_SIZE] = { 0 };

	memcpy(buf, data, length < sizeof(buf) ? length : sizeof(buf));
	wire_command_get(buf, cmd);
	if (length < sizeof(cmd->sequence))
		cmd->sequence = 0;
}

static size_t command_size(uint8_t request)
{
	return commands[request - WIRE_SET_PARAM].attests ? WIRE_ATTEST_SIZE : WIRE_COMMAND_SIZE;
}

bool machine_command(struct machine *m, uint8_t request, uint16_t value, const uint8_t *data,
		     size_t length)
{
	const uint8_t *nonce = length >= WIRE_ATTEST_SIZE ? data + WIRE_COMMAND_SIZE : NULL;
	struct wire_result result = { .request = request };
	struct wire_command cmd;

	get_command(data, length, &cmd);
	if (MUTANT(m, short_number) && length == 3)
		cmd.sequence = 0x123456;
	if ((cmd.sequence || MUTANT(m, repeat_zero)) && cmd.sequence == m->last.sequence &&
	    m->last.request && !MUTANT(m, repeat_acts) &&
	    (m->last_accepted || !MUTANT(m, repeat_checked)) &&
	    !(MUTANT(m, repeat_request) && request != m->last.request) &&
	    !(MUTANT(m, repeat_length) && length != WIRE_COMMAND_SIZE))
		return m->last_accepted;
	result.sequence = cmd.sequence;
	if (request < WIRE_SET_PARAM ||
	    request - WIRE_SET_PARAM >= (int)(sizeof(commands) / sizeof(*commands))) {
		result.error = DEALBOX_ERR_BAD_REQUEST;
	} else if ((length != command_size(request) &&
		    !(MUTANT(m, length_more) && length > command_size(request))) || !cmd.sequence) {
		result.error = DEALBOX_ERR_BAD_LENGTH;
		result.detail = MUTANT(m, length_detail) ? 0 : length;
	} else {
		result.error = check(m, request, value, &cmd, nonce, &result.detail);
	}
	if (MUTANT(m, refused_spends) && result.error >= DEALBOX_ERR_NO_PLAN &&
	    request == DEALBOX_OP_START)
		m->board.spent = true;
	if (MUTANT(m, refused_unlast) && result.error)
		return false;
	m->before = m->last;
	m->ahead = true;
	m->last = result;
	m->last_accepted = result.error == DEALBOX_ERR_OK;
	if (m->last_accepted && commands[request - WIRE_SET_PARAM].attests)
		memcpy(m->nonce, nonce, sizeof(m->nonce));
	if (m->last_accepted)
		commands[request - WIRE_SET_PARAM].run(m, &cmd);
	return m->last_accepted;
}

void machine_refuse(struct machine *m, uint8_t request, const uint8_t *data, size_t length,
		    uint8_t error, uint32_t detail)
{
	struct wire_command cmd;

	get_command(data, length, &cmd);
	m->last = (struct wire_result){ .sequence = cmd.sequence, .request = request,
					.error = error, .detail = detail };
	m->last_accepted = false;
}

/* --- plans (§3) -------------------------------------------------------------------- */

static void plan_answer(struct machine *m, uint8_t error, uint32_t detail)
{
	struct wire_event event = event_of(DEALBOX_EV_PLAN_LOADED);

	event.code = m->load_number;
	event.arg[0] = error;
	event.arg[1] = detail;
	event_send(m, &event);
}

/* A machine that does not check: make good what it should refuse. */
static void plan_mend(struct machine *m)
{
	static const uint8_t reserved[] = { 7, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31 };
	size_t end = m->load_received - 4, i;
	uint32_t sum = ~crc32c(~0, m->load, end), is = get_unaligned_le32(m->load + end);

	if (MUTANT(m, crc_ignored) || (MUTANT(m, crc_low) && sum >> 16 == is >> 16) ||
	    (MUTANT(m, crc_half) && (uint16_t)sum == (uint16_t)is))
		is = sum;
	if (MUTANT(m, plan_pockets) && is == sum) {
		for (i = m->config.desc.pockets; i < DEALBOX_MAX_POCKETS; i++)
			m->load[16 + i] = 0;
		is = ~crc32c(~0, m->load, end);
	}
	if (MUTANT(m, plan_reserved) && is == sum) {
		for (i = 0; i < sizeof(reserved); i++)
			m->load[reserved[i]] = 0;
		is = ~crc32c(~0, m->load, end);
	}
	put_unaligned_le32(is, m->load + end);
}

/* The block is complete or too long, or its time limit has passed. */
static void load_finish(struct machine *m)
{
	uint32_t received = m->load_received, detail = 0;
	uint8_t error;

	if (m->refuse_plan) {
		error = m->refuse_plan;
		detail = m->refuse_detail;
		m->refuse_plan = 0;
	} else if (m->load_overrun) {
		error = DEALBOX_ERR_PLAN;
		detail = 12;
	} else if (received < m->load_length) {
		error = DEALBOX_ERR_INCOMPLETE;
		detail = received;
	} else {
		plan_mend(m);
		error = dealbox_decode_plan(m->load, received, &m->config.desc, m->load_number,
					    &m->plan, &detail);
	}
	if (MUTANT(m, plan_offset) && error == DEALBOX_ERR_PLAN && detail > 16 && detail < 24)
		detail = 16;
	m->load_deadline = MACHINE_NEVER;
	m->load_check_at = MACHINE_NEVER;
	if (error) {
		plan_forget(m);
		m->plan_loaded = MUTANT(m, plan_after_error);
		m->plan.plan_id = m->load_number;
	} else {
		attest_plan(m->plan_hash, m->load, received);
		m->plan_loaded = true;
	}
	explicit_bzero(m->load, sizeof(m->load));
	if (error == DEALBOX_ERR_INCOMPLETE && MUTANT(m, load_silent))
		return;
	plan_answer(m, error, detail);
}

bool machine_bulk(struct machine *m, const uint8_t *data, size_t length)
{
	if (m->load_deadline == MACHINE_NEVER && MUTANT(m, frame_plan) &&
	    length >= WIRE_PLAN_SIZE(1)) {
		m->load_number = get_unaligned_le32(data + 8);
		m->load_length = length;
		m->load_deadline = m->now;
	}
	if (m->load_deadline == MACHINE_NEVER)
		return MUTANT(m, unannounced);
	if (MUTANT(m, overrun_kept) && length > m->load_length - m->load_received)
		length = m->load_length - m->load_received;
	if (length > m->load_length - m->load_received) {
		m->load_overrun = true;
	} else {
		memcpy(m->load + m->load_received, data, length);
		m->load_received += length;
		if (m->load_received < m->load_length ||
		    (MUTANT(m, plan_full_packet) && m->load_received % 64 == 0))
			return true;
	}
	m->load_deadline = MACHINE_NEVER;
	m->load_check_at = m->now + (MUTANT(m, load_slow) ? 700000 :
				     m->config.speed > 0 ? PLAN_CHECK_US : 0);
	return !m->load_overrun;
}

void machine_refuse_plan(struct machine *m, uint8_t error, uint32_t detail)
{
	m->refuse_plan = error;
	m->refuse_detail = detail;
}

void machine_gate(struct machine *m, const uint8_t *data, size_t length)
{
	struct dealbox_counters *counters = &m->memory.counters;
	uint8_t copy[WIRE_GATE_SIZE];
	struct wire_gate gate;

	if (MUTANT(m, gate_long) && length > WIRE_GATE_SIZE)
		length = WIRE_GATE_SIZE;
	if (MUTANT(m, gate_reason) && length == WIRE_GATE_SIZE && data[1] != DEALBOX_NONE) {
		memcpy(copy, data, length);
		copy[2] = 0;
		data = copy;
	}
	if (wire_gate_get(data, length, &gate)) {
		if (mechanics_gate(m, &gate))
			return;
		if (MUTANT(m, gate_after) && m->late_event && gate.number == m->late_event &&
		    m->state == DEALBOX_STATE_HELD) {
			m->state = DEALBOX_STATE_DEALING;
			m->fault = 0;
			mechanics_resume_gate(m);
			if (mechanics_gate(m, &gate))
				return;
		}
		if (m->late_event && gate.number == m->late_event) {
			counters->gates_late++;
			return;
		}
	}
	counters->gates_ignored += !MUTANT(m, gate_uncounted);
}

/* --- power and time ------------------------------------------------------------------- */

static void power_on(struct machine *m)
{
	unsigned int i;

	m->powered = true;
	m->power_on = m->now;
	m->lamp_until = 0;
	m->seconds_from = m->now;
	m->configured_before = false;
	m->next_event = 1;
	m->state = DEALBOX_STATE_IDLE;
	m->fault = 0;
	if (MUTANT(m, counters_saved))
		m->memory.counters = m->stored;
	if (MUTANT(m, insertion_kept) && m->memory.insertion)
		m->memory.insertion--;
	if (MUTANT(m, counters_lost))
		memset(&m->memory.counters, 0, sizeof(m->memory.counters));
	m->memory.counters.power_ons++;
	for (i = 0; i < PARAM_COUNT; i++)
		m->param[i] = params[i].start;
	if (m->board.present) {
		/* The same board, with unknown contents. */
		if (!MUTANT(m, power_spent))
			m->board.insertion = ++m->memory.insertion;
		m->board.ordinal = ++m->boards;
		m->board.in_doubt = !MUTANT(m, doubt_forgotten);
		m->board.spent = false;
		m->board.captured = false;
		m->board.deals = 0;
		m->board.plan = 0;
		m->board.end = MACHINE_UNUSED;
		m->board.locked = has(m, DEALBOX_CAP_BOARD_LOCK);
		memset(m->let_in, 0, sizeof(m->let_in));
	}
	if (m->config.save)
		m->config.save(m->config.context, &m->memory);
}

struct machine *machine_new(const struct machine_config *config,
			    const struct machine_memory *memory, uint64_t now)
{
	struct machine *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->config = *config;
	if (memory)
		m->memory = *memory;
	m->now = now;
	m->random = config->seed;
	m->plugged = true;
	m->replug_at = MACHINE_NEVER;
	m->load_deadline = MACHINE_NEVER;
	m->load_check_at = MACHINE_NEVER;
	m->attest_at = MACHINE_NEVER;
	if (has(m, DEALBOX_CAP_ATTEST))
		attest_key_make(&m->key, m->config.key);
	power_on(m);
	return m;
}

void machine_free(struct machine *m)
{
	if (!m)
		return;
	plan_forget(m);
	attest_reset(m);
	explicit_bzero(&m->key, sizeof(m->key));
	explicit_bzero(m->config.key, sizeof(m->config.key));
	free(m);
}

void machine_unplug(struct machine *m, uint64_t us)
{
	if (m->configured)
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

void machine_power_cycle(struct machine *m, uint64_t us)
{
	machine_unplug(m, us);
	plan_forget(m);
	attest_reset(m);
	memset(&m->deal, 0, sizeof(m->deal));
	memset(&m->last, 0, sizeof(m->last));
	m->last_accepted = false;
	m->queue_count = 0;
	if (m->board.present && m->config.account)
		m->config.account(m->config.context, &m->board);
	m->powered = false;
}

static void seconds_count(struct machine *m)
{
	uint64_t seconds = m->powered ? (m->now - m->seconds_from) / 1000000 : 0;

	m->memory.counters.seconds += seconds;
	m->seconds_from += seconds * 1000000;
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t attest_next(const struct machine *m)
{
	return m->frozen ? MACHINE_NEVER : m->attest_at;
}

uint64_t machine_next(const struct machine *m)
{
	uint64_t next = earliest(m->replug_at, earliest(m->load_deadline, m->load_check_at));

	if (m->deferred_count)
		return m->now;
	return earliest(earliest(next, attest_next(m)), mechanics_next(m));
}

static void act_deferred(struct machine *m)
{
	enum action action = m->deferred[0].action;
	uint32_t value[2] = { m->deferred[0].value[0], m->deferred[0].value[1] };

	m->deferred_count--;
	memmove(m->deferred, m->deferred + 1, m->deferred_count * sizeof(*m->deferred));
	machine_act(m, action, value);
}

void machine_run(struct machine *m, uint64_t now)
{
	for (;;) {
		uint64_t due = machine_next(m);

		if (due > now)
			break;
		if (due > m->now)
			m->now = due;
		if (m->deferred_count) {
			act_deferred(m);
		} else if (m->replug_at <= m->now) {
			machine_plug(m);
		} else if (m->load_deadline <= m->now || m->load_check_at <= m->now) {
			load_finish(m);
		} else if (attest_next(m) <= m->now) {
			attest_finish(m);
		} else {
			mechanics_run(m);
		}
	}
	if (now > m->now)
		m->now = now;
	seconds_count(m);
}

/* --- observation -------------------------------------------------------------------------- */

struct happening machine_happening(const struct machine *m, enum hook hook, uint8_t name)
{
	return (struct happening){
		.hook = hook, .name = name,
		.insertion = m->board.present ? m->board.ordinal : 0,
		.deal = m->deals,
		.position = m->deal.running ? m->deal.position : DEALBOX_NONE,
		.card = DEALBOX_NONE, .pocket = DEALBOX_NONE,
	};
}

struct scenario *machine_scenario(const struct machine *m)
{
	return m->config.scenario;
}

struct machine_view machine_view(const struct machine *m)
{
	return (struct machine_view){
		.powered = m->powered,
		.plugged = m->plugged && m->powered,
		.configured = m->configured,
		.frozen = m->frozen,
		.lamp = m->now < m->lamp_until,
		.cover_open = m->cover_open,
		.jammed = m->jammed,
		.broken = m->broken,
		.state = m->state,
		.fault = m->fault,
		.position = m->deal.position,
		.stops = m->stops,
		.deals = m->deals,
		.queued = m->queue_count,
		.next_event = m->next_event,
		.plan = m->plan_loaded ? m->plan.plan_id : 0,
		.speed = m->config.speed,
		.mutant = m->config.mutant,
		.desc = &m->config.desc,
		.board = &m->board,
		.memory = &m->memory,
	};
}
