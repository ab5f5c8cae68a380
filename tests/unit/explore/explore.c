// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Walk every order in which a machine, its operator, its computer and some faults can act, breadth
 * first, so that the first failure is the shortest. README.md says what is asserted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <dealbox/event.h>
#include <dealbox/operator.h>

#include "story.h"

#define OLD		6	/* insertions ago: what was then is forgotten */
#define LAG		4	/* events that the computer may be behind the machine */
#define PATH		300	/* steps in which an operator must get the job done */

/* ---- actions ----------------------------------------------------------------------- */

static const unsigned int arguments[ACTIONS] = {
	[ACT_STEP] = STEP_WAYS, [ACT_ADVANCE] = MISHAPS, [ACT_INSERT] = 2, [ACT_FILL] = FILLINGS,
	[ACT_PUSH] = PUSHES, [ACT_COVER] = 2,
};

static bool records(enum step_kind kind)
{
	return kind == STEP_BEGIN || kind == STEP_JUDGE || kind == STEP_VOID || kind == STEP_UNDO;
}

static unsigned int ways(const struct state *s)
{
	return host_idle(s) ? dealbox_operator_ways(s->engine.shows) : 0;
}

/* The core receives what the machine sends: in the module, or in a program that has it open. */
static bool hears(const struct state *s)
{
	return !s->dead && (s->module || s->attached);
}

/*
 * Return the cost of an action: 0 = part of dealing, or the operator was told to do it; 'f' = a
 * fault or a mistake, 'k' = a kill, 'c' = a loss of power or state, 'n' = impossible now.
 */
static char cost(const struct state *s, enum action action, unsigned int arg)
{
	const struct world *w = &s->world;
	enum dealbox_operator_state shown = s->engine.shows;

	switch (action) {
	case ACT_STEP:
		if (!s->runs || !s->stepping)
			return 'n';
		if (arg == TRANSFERS_GOOD)
			return 0;
		if (arg == FULL_DISK)
			return records(s->step.kind) ? 'f' : 'n';
		if (arg == LATE)
			return s->step.kind == STEP_STATUS && w->on_wire ? 'f' : 'n';
		if (records(s->step.kind))
			return 'n';
		return arg == TRANSFERS_NONE || s->step.kind != STEP_STATUS ? 'f' : 'n';
	case ACT_ARRIVE:
		if (!host_idle(s) || !s->attached)
			return 'n';
		return w->on_wire || s->arrivals || s->dead ? 0 : 'n';
	case ACT_ADVANCE:
		if (!w->on || w->on_wire > LAG || !world_may(w, arg))
			return 'n';
		return arg ? 'f' : 0;
	case ACT_REPORT:
		return w->on && w->wrong && w->state == DEALBOX_STATE_DONE ? 0 : 'n';
	case ACT_SETTLED:
		/* the machine tells what it saw within that time */
		return host_idle(s) && s->engine.phase == PHASE_SETTLE && !s->engine.settled &&
		       !(w->wrong && !w->wrong_later) ? 0 : 'n';
	case ACT_LOOK:
		return host_idle(s) && s->attached && !s->dead && s->engine.plugged ? 0 : 'n';
	case ACT_INSERT:
		if (w->present || (arg && !w->aside_full) || w->on_wire > 1)
			return 'n';
		return arg || !(ways(s) & (DEALBOX_WAY_INSERT | DEALBOX_WAY_REMOVE)) ? 'f' : 0;
	case ACT_REMOVE:
		if (!w->present || w->on_wire > LAG)
			return 'n';
		/* by force */
		if (w->locked && w->on)
			return 'f';
		if (w->state == DEALBOX_STATE_DONE && s->runs)
			return 0;
		return ways(s) & DEALBOX_WAY_REMOVE ? 0 : 'f';
	case ACT_FILL:
		if (world_deals(w) || world_deck_whole(w) > !!arg || w->on_wire > 1)
			return 'n';
		return arg ? 'f' : 0;
	case ACT_ADD:
		if (w->state != DEALBOX_STATE_HELD || w->in_hopper || w->position == CARDS)
			return 'n';
		/* is he told to go on? */
		if (shown != DEALBOX_OPERATOR_DECK_SHORT)
			return 'f';
		return ways(s) & DEALBOX_WAY_START ? 0 : 'f';
	case ACT_TAKE:
		if (w->reader == NOBODY)
			return 'n';
		if (w->state == DEALBOX_STATE_FAULT)
			return 0;
		if (w->state != DEALBOX_STATE_HELD)
			return 'n';
		return shown == DEALBOX_OPERATOR_NOT_IN_PLAN ? 0 : 'f';
	case ACT_PUSH:
		if (!host_idle(s))
			return 'n';
		if (arg == PUSH_RELEASE && w->kind != KIND_LOCKED)
			return 'n';
		if (arg != PUSH_START)
			return 'f';
		if (shown == DEALBOX_OPERATOR_CONFIRM && !contents_empty(&w->board))
			return 'f';
		return ways(s) & DEALBOX_WAY_START ? 0 : 'f';
	case ACT_SWAP:
		return w->present && !contents_empty(&w->board) && w->on ? 'f' : 'n';
	case ACT_UNSPENT:
		return w->present && w->spent && !w->says_unspent && w->on ? 'f' : 'n';
	case ACT_DROP:
	case ACT_DOUBLE:
		return w->on_wire ? 'f' : 'n';
	case ACT_EXCHANGE:
		return w->on_wire > 1 ? 'f' : 'n';
	case ACT_KILL:
		return s->runs ? 'k' : 'n';
	case ACT_BOOT:
		return s->runs ? 'n' : 0;
	case ACT_OFF:
		return w->on ? 'c' : 'n';
	case ACT_ON:
		return w->on ? 'n' : 0;
	case ACT_RESET:
		return w->on ? 'c' : 'n';
	case ACT_OPEN:
		return host_idle(s) && !s->attached && w->on ? 0 : 'n';
	case ACT_COVER:
		if (w->kind != KIND_LOCKED || w->cover == !!arg || w->on_wire > LAG)
			return 'n';
		return arg ? 'f' : 0;
	case ACT_RECEIVE:
		return w->waits && w->on_wire && hears(s) && !host_idle(s) ? 0 : 'n';
	case ACT_GATE:
		return w->gates ? 0 : 'n';
	case ACT_GATE_LOST:
		return w->gates ? 'f' : 'n';
	case ACT_LATE:
		if (!w->waits)
			return 'n';
		return w->gates || (w->on_wire && hears(s)) ? 'f' : 0;
	default:
		return 'n';
	}
}

static void push(unsigned int arg)
{
	struct world *w = &now.world;

	if (arg == PUSH_START) {
		w->touched = true;
		if (host_shows() == DEALBOX_OPERATOR_CONFIRM && !contents_empty(&w->board))
			w->vouched = true;
	}
	host_push(arg);
}

static void turn_on(void)
{
	world_on(&now.world);
	/* the driver begins with it, too */
	host_new_core();
}

/* Reports of the machine that are not read yet are lost. */
static void lose_reports(void)
{
	unsigned int board;

	for (board = 1; board <= BOARDS; board++)
		if (now.record.exact[board].excuses & EXCUSE_REPORTED)
			now.record.exact[board].excuses ^= EXCUSE_LATER | EXCUSE_REPORTED;
	if (now.world.excuses & EXCUSE_REPORTED)
		now.world.excuses ^= EXCUSE_LATER | EXCUSE_REPORTED;
}

/* Actions of the program need its restored state: see of_program(). */
static void act(enum action action, unsigned int arg)
{
	struct world *w = &now.world;
	struct told told;

	switch (action) {
	case ACT_STEP:
		if (arg == FULL_DISK)
			now.full = true;
		else if (arg == LATE)
			now.late = true;
		else
			w->transfers = arg;
		host_step();
		break;
	case ACT_ARRIVE:
		if (!now.arrivals)
			host_arrive();
		host_read();
		break;
	case ACT_ADVANCE:
		world_advance(w, arg);
		break;
	case ACT_REPORT:
		world_report(w);
		/* nobody hears it */
		if (w->excuses & EXCUSE_REPORTED && (!now.attached || now.dead))
			w->excuses ^= EXCUSE_LATER | EXCUSE_REPORTED;
		break;
	case ACT_SETTLED:
		host_settled();
		break;
	case ACT_LOOK:
		host_look();
		break;
	case ACT_INSERT:
		world_insert(w, arg);
		break;
	case ACT_REMOVE:
		/* a verdict is taken back while the board is still there */
		lose_reports();
		world_remove(w);
		break;
	case ACT_FILL:
		world_fill(w, arg);
		break;
	case ACT_ADD:
		world_add_missing(w);
		break;
	case ACT_TAKE:
		world_take_card(w);
		break;
	case ACT_PUSH:
		push(arg);
		break;
	case ACT_SWAP:
		world_swap(w);
		break;
	case ACT_UNSPENT:
		w->says_unspent = true;
		break;
	case ACT_DROP:
		if (dealbox_event_stops(w->wire[0].type))
			lose_reports();
		memmove(w->wire, w->wire + 1, (WIRE - 1) * sizeof(*w->wire));
		memset(&w->wire[--w->on_wire], 0, sizeof(*w->wire));
		break;
	case ACT_DOUBLE:
		if (w->on_wire == WIRE)
			break;
		memmove(w->wire + 1, w->wire, w->on_wire++ * sizeof(*w->wire));
		break;
	case ACT_EXCHANGE:
		if (dealbox_event_stops(w->wire[0].type))
			lose_reports();
		told = w->wire[0];
		w->wire[0] = w->wire[1];
		w->wire[1] = told;
		break;
	case ACT_KILL:
		host_kill();
		break;
	case ACT_BOOT:
		if (!now.module)
			lose_reports();
		host_boot();
		break;
	case ACT_OFF:
		now.dead = now.attached;
		lose_reports();
		world_off(w);
		break;
	case ACT_ON:
		turn_on();
		break;
	case ACT_RESET:
		lose_reports();
		world_configure(w, DEALBOX_LOST_FIRMWARE);
		now.route.gates = 0;
		break;
	case ACT_OPEN:
		host_attach();
		break;
	case ACT_COVER:
		world_cover(w, arg);
		break;
	case ACT_RECEIVE:
		host_arrive();
		break;
	case ACT_GATE:
		world_take_gate(w);
		host_gate_done(0);
		break;
	case ACT_GATE_LOST:
		world_drop_gate(w);
		host_gate_done(-EPROTO);
		break;
	case ACT_LATE:
		world_late(w);
		break;
	default:
		break;
	}
}

/* Return true if the action needs the program, false if it only needs the world. */
static bool of_program(enum action action)
{
	return action == ACT_STEP || action == ACT_ARRIVE || action == ACT_SETTLED ||
	       action == ACT_LOOK || action == ACT_PUSH || action == ACT_KILL ||
	       action == ACT_BOOT || action == ACT_OPEN || action == ACT_RECEIVE ||
	       action == ACT_GATE || action == ACT_GATE_LOST;
}

static void account(struct entry *entry)
{
	const struct world *w = &now.world;

	if (!entry->id || !w->present || entry->number != w->insertion)
		return;
	entry->right = contents_right(&w->board, entry->board);
	entry->excuses = w->excuses;
}

/* Update the true contents of the present board in the record. */
static void keep_account(void)
{
	unsigned int board;

	account(&now.record.last);
	for (board = 1; board <= BOARDS; board++)
		account(&now.record.exact[board]);
}

/* acted_upon: what the machine has reported has been acted upon */
static void check_exact(bool acted_upon)
{
	unsigned int board, unseen = acted_upon ? (uint8_t)~EXCUSE_REPORTED : 0xff;

	for (board = 1; board <= BOARDS && !forbidden; board++)
		if (now.record.exact[board].id && !now.record.exact[board].right &&
		    !(now.record.exact[board].excuses & unseen))
			forbidden = "a board is called exact, and is not";
}

/* Apply an action to `now`; restore and save the program's state if the action needs it. */
static void apply(enum action action, unsigned int arg)
{
	uint64_t before[BOARDS + 1];
	unsigned int board;
	char price = cost(&now, action, arg);

	now.faults -= price == 'f';
	now.kills -= price == 'k';
	now.cuts -= price == 'c';
	for (board = 1; board <= BOARDS; board++)
		before[board] = now.record.exact[board].id;
	/* what is there before it is taken out */
	keep_account();
	for (now.world.refilled = false, board = 1; board <= BOARDS; board++)
		now.world.refilled |= now.world.from && now.record.exact[board].id &&
				      now.record.exact[board].number == now.world.from;
	if (of_program(action)) {
		host_restore();
		act(action, arg);
		host_save();
	} else {
		act(action, arg);
	}
	keep_account();
	for (board = 1; board <= BOARDS; board++)
		if (now.record.exact[board].id != before[board])
			check_exact(false);
}

static bool payable(const struct state *s, char price)
{
	return price == 0 || (price == 'f' && s->faults) || (price == 'k' && s->kills) ||
	       (price == 'c' && s->cuts);
}

/* ---- states that are the same -------------------------------------------------------- */

/* A multiplication takes as long as three that do not wait for each other. */
#define LANES	3

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9fb21c651e98df25u;
	return hash ^ hash >> 29;
}

/* count: a multiple of LANES */
static uint64_t hash_words(const uint64_t *words, size_t count)
{
	uint64_t lanes[LANES] = {
		0x243f6a8885a308d3u, 0x13198a2e03707344u, 0xa4093822299f31d0u,
	};
	uint64_t hash = 0;
	size_t n, lane;

	for (n = 0; n < count; n += LANES)
		for (lane = 0; lane < LANES; lane++)
			lanes[lane] = mix(lanes[lane], words[n + lane]);
	for (lane = 0; lane < LANES; lane++)
		hash = mix(hash, lanes[lane]);
	return hash ^ hash >> 32;
}

static void rename_plan(uint32_t *id, const struct state *s)
{
	if (*id)
		*id = s->record.plan_id + 1 - *id;
}

/* Old insertions are all alike, since no number comes back. */
static uint32_t age(uint32_t insertion, const struct state *s)
{
	uint32_t back = s->world.insertions + 1 - insertion;

	return !insertion ? 0 : back < OLD ? back : OLD;
}

static void rename_insertion(uint32_t *insertion, const struct state *s)
{
	*insertion = age(*insertion, s);
}

/* Of cards from an earlier insertion, only whether that one counts makes a difference. */
static uint8_t origin(uint8_t from, const struct state *s)
{
	unsigned int board, same = 1;

	if (!from)
		return 0;
	if (s->record.last.id && s->record.last.number == from)
		same |= 2;
	for (board = 1; board <= BOARDS; board++)
		if (s->record.exact[board].id && s->record.exact[board].number == from)
			same |= 2 << board;
	return same;
}

static void rename_event(struct told *e, const struct state *s)
{
	e->number = s->world.next - e->number;
	e->insertion = age(e->insertion, s);
	if (e->type == DEALBOX_EV_DEAL_STARTED || e->type == DEALBOX_EV_DEAL_DONE ||
	    e->type == DEALBOX_EV_ABORTED || e->type == DEALBOX_EV_PLAN_LOADED)
		e->code = s->record.plan_id + 1 - e->code;
}

static void rename_trace(struct kept_trace *trace, const struct state *s, bool old)
{
	rename_insertion(&trace->insertion, s);
	if (old) {
		/* nothing is added to it */
		trace->seqno = trace->number = trace->seen = trace->lost = 0;
		return;
	}
	trace->seqno = s->source.seqno - trace->seqno;
	trace->number = s->world.next - trace->number;
}

static void rename_entry(struct entry *entry, const struct state *s)
{
	entry->id = entry->id ? 1 + (s->record.count - entry->id == 0) : 0;
	rename_insertion(&entry->number, s);
}

/*
 * Return a hash of everything that affects the future. Numbers that only rise count from the last
 * one: states that differ in them alone are the same.
 */
static uint64_t fingerprint(const struct state *s)
{
	union {
		struct state state;
		uint64_t words[(sizeof(struct state) / 8 + LANES - 1) / LANES * LANES];
	} u;
	struct state *c = &u.state;
	unsigned int n;

	_Static_assert(sizeof(struct state) % 8 == 0, "it is hashed by words");
	for (n = sizeof(struct state) / 8; n < sizeof(u.words) / 8; n++)
		u.words[n] = 0;
	*c = *s;
	for (n = 0; n < c->world.on_wire; n++)
		rename_event(&c->world.wire[n], s);
	for (n = c->world.on_wire; n < WIRE; n++)
		memset(&c->world.wire[n], 0, sizeof(*c->world.wire));
	for (n = 0; n < c->arrivals; n++)
		rename_event(&c->arrived[n], s);
	c->world.insertion = age(s->world.insertion, s);
	c->world.from = origin(s->world.from, s);
	c->world.aside_from = origin(s->world.aside_from, s);
	c->world.insertions = 0;
	rename_plan(&c->world.plan_id, s);
	rename_plan(&c->world.deal_plan, s);
	rename_plan(&c->world.load_id, s);
	rename_plan(&c->plan_id, s);
	rename_plan(&c->plan.plan_id, s);
	c->world.sequence = s->world.sequence ? s->sequence - s->world.sequence + 1 : 0;
	c->sequence = 0;
	c->world.next = 0;
	c->source.seqno = 0;
	c->source.machine_next = s->world.next - s->source.machine_next;
	rename_trace(&c->trace, s, false);
	rename_trace(&c->kept, s, true);
	c->insertion = s->record.count - s->insertion;
	rename_entry(&c->record.last, s);
	for (n = 1; n <= BOARDS; n++)
		rename_entry(&c->record.exact[n], s);
	c->record.count = 0;
	c->record.plan_id = 0;
	if (c->world.waits)
		c->world.asked = s->world.next - s->world.asked;
	else
		c->world.asked = c->world.read_as = c->world.quality = c->world.mishap = 0;
	for (n = 0; n < c->world.gates; n++) {
		c->world.gate[n].number = s->world.next - s->world.gate[n].number;
		c->world.gate[n].insertion = age(c->world.gate[n].insertion, s);
	}
	rename_plan(&c->route.plan_id, s);
	rename_insertion(&c->route.insertion, s);
	rename_insertion(&c->step.insertion, s);
	rename_insertion(&c->engine.insertion, s);
	rename_insertion(&c->engine.dealt, s);
	/* only what is said of it */
	c->engine.id = NULL;
	c->engine.machine_next = s->engine.numbered ? s->world.next - s->engine.machine_next : 0;
	c->engine.cards = c->engine.stop_card = c->engine.stop_place = c->engine.stop_code = 0;
	if (!s->runs) {
		/* nothing of it is there */
		memset(&c->engine, 0, sizeof(c->engine));
		memset(&c->trace, 0, sizeof(c->trace));
		memset(&c->kept, 0, sizeof(c->kept));
		memset(&c->plan, 0, sizeof(c->plan));
		memset(c->copies, 0, sizeof(c->copies));
		c->insertion = c->plan_id = c->fresh = c->by_repeat = 0;
	}
	return hash_words(u.words, sizeof(u.words) / 8);
}

/*
 * A set of hashes, with a number of each, or without. Two states with the same hash count as one:
 * among n of them, the chance that this has happened anywhere is below n * n / 2^65, which is
 * 1.7e-6 for eight million states.
 */
struct set {
	bool numbered;
	uint64_t *hashes;
	uint32_t *numbers;
	size_t slots, count;	/* slots: a power of two */
};

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory) {
		fprintf(stderr, "explore: out of memory\n");
		exit(2);
	}
	return memory;
}

static void set_grow(struct set *set)
{
	struct set old = *set;
	size_t n, at;

	set->slots = old.slots ? 2 * old.slots : 1 << 16;
	set->hashes = allocate(set->slots, sizeof(*set->hashes));
	set->numbers = set->numbered ? allocate(set->slots, sizeof(*set->numbers)) : NULL;
	for (n = 0; n < old.slots; n++) {
		if (!old.hashes[n])
			continue;
		for (at = old.hashes[n] & (set->slots - 1); set->hashes[at];
		     at = (at + 1) & (set->slots - 1))
			;
		set->hashes[at] = old.hashes[n];
		if (set->numbered)
			set->numbers[at] = old.numbers[n];
	}
	free(old.hashes);
	free(old.numbers);
}

/* Return the number that came with the hash, or 1 without numbers; 0: it was new, and is added. */
static uint32_t set_add(struct set *set, uint64_t hash, uint32_t number)
{
	size_t at;

	hash += !hash;
	if (2 * set->count >= set->slots)
		set_grow(set);
	for (at = hash & (set->slots - 1); set->hashes[at]; at = (at + 1) & (set->slots - 1))
		if (set->hashes[at] == hash)
			return set->numbered ? set->numbers[at] : 1;
	set->hashes[at] = hash;
	if (set->numbered)
		set->numbers[at] = number;
	set->count++;
	return 0;
}

static void set_clear(struct set *set, bool numbered)
{
	free(set->hashes);
	free(set->numbers);
	*set = (struct set){ .numbered = numbered };
}

/* ---- what the operator does who follows what he is told ----------------------------------- */

static bool job_is_done(void)
{
	const struct world *w = &now.world;
	unsigned int board;

	for (board = 1; board <= BOARDS; board++)
		if (!now.record.exact[board].id)
			return false;
	return host_idle(&now) && !w->on_wire && !now.arrivals && now.engine.phase == PHASE_NONE &&
	       !now.engine.undo && (!w->present || now.engine.shows == DEALBOX_OPERATOR_NO_WORK);
}

/* Choose the next action without a fault or a mistake. Return false if there is none. */
static bool follow(bool *looked, struct choice *choice)
{
	const struct world *w = &now.world;
	enum dealbox_operator_state shown = now.engine.shows;
	unsigned int way = dealbox_operator_ways(shown);
	bool was_looked = *looked;

	*looked = false;
	*choice = (struct choice){ ACT_BOOT, 0 };
	if (!now.runs)
		return true;
	if (now.stepping) {
		*choice = (struct choice){ ACT_STEP, TRANSFERS_GOOD };
		*looked = was_looked;
	} else if (now.attached && (w->on_wire || now.arrivals || now.dead)) {
		*choice = (struct choice){ ACT_ARRIVE, 0 };
	} else if (!w->on && way & DEALBOX_WAY_PLUG) {
		*choice = (struct choice){ ACT_ON, 0 };
	} else if (!now.attached && w->on) {
		*choice = (struct choice){ ACT_OPEN, 0 };
	} else if (w->on && w->wrong && w->state == DEALBOX_STATE_DONE) {
		*choice = (struct choice){ ACT_REPORT, 0 };
	} else if (w->gates) {
		*choice = (struct choice){ ACT_GATE, 0 };
	} else if (w->waits) {
		*choice = (struct choice){ ACT_LATE, 0 };
	} else if (w->on && (w->state == DEALBOX_STATE_DEALING || w->aborting)) {
		*choice = (struct choice){ ACT_ADVANCE, MISHAP_NONE };
	} else if (now.engine.phase == PHASE_SETTLE && !now.engine.settled) {
		*choice = (struct choice){ ACT_SETTLED, 0 };
	} else if (!was_looked && now.attached) {
		*choice = (struct choice){ ACT_LOOK, 0 };
		*looked = true;
	} else if (w->cover && (way & DEALBOX_WAY_COVER || shown == DEALBOX_OPERATOR_JAM)) {
		*choice = (struct choice){ ACT_COVER, 0 };
	} else if (way & DEALBOX_WAY_REMOVE && w->present && !(w->locked && w->on) &&
		   (!(way & DEALBOX_WAY_START) || !contents_empty(&w->board))) {
		*choice = (struct choice){ ACT_REMOVE, 0 };
	} else if (w->state == DEALBOX_STATE_FAULT && w->reader != NOBODY) {
		*choice = (struct choice){ ACT_TAKE, 0 };
	} else if (!cost(&now, ACT_ADD, 0)) {
		*choice = (struct choice){ ACT_ADD, 0 };
	} else if (shown == DEALBOX_OPERATOR_NOT_IN_PLAN && w->reader != NOBODY) {
		*choice = (struct choice){ ACT_TAKE, 0 };
	} else if (!world_deck_whole(w) && !world_deals(w)) {
		*choice = (struct choice){ ACT_FILL, FILL_DECK };
	} else if (way & DEALBOX_WAY_START && (w->present || w->state == DEALBOX_STATE_FAULT ||
					       shown == DEALBOX_OPERATOR_STOPPED ||
					       shown == DEALBOX_OPERATOR_LEDGER ||
					       shown == DEALBOX_OPERATOR_PAUSED)) {
		*choice = (struct choice){ ACT_PUSH, PUSH_START };
	} else if (way & (DEALBOX_WAY_INSERT | DEALBOX_WAY_REMOVE) && !w->present) {
		*choice = (struct choice){ ACT_INSERT, 0 };
	} else {
		return false;
	}
	return true;
}

/* States from which there is a way on, with the number of the check that found it. */
static struct set good;
static uint32_t walks;
/* The way on of the last state, to be told. */
static struct choice path[PATH];
static unsigned int path_length;

/* Assert that an operator who follows his instructions gets from `now` to the end of the job. */
static void check_way_on(void)
{
	bool looked = false;
	uint32_t walk;

	now.faults = now.kills = now.cuts = 0;
	walks++;
	for (path_length = 0; path_length < PATH; path_length++) {
		if (job_is_done()) {
			check_exact(true);
			return;
		}
		walk = looked ? 0 : set_add(&good, fingerprint(&now), walks);
		if (walk && walk != walks)
			return;
		if (walk == walks) {
			forbidden = "an operator who does what he is told goes round in a circle";
			return;
		}
		if (!follow(&looked, &path[path_length])) {
			forbidden = now.engine.shows ? "what the operator is told leads nowhere" :
				    "nothing moves, and the operator is told nothing";
			return;
		}
		if (looked && !now.stepping && path[path_length].action != ACT_LOOK)
			check_exact(true);
		if (!forbidden)
			apply(path[path_length].action, path[path_length].arg);
		if (forbidden) {
			path_length++;
			return;
		}
	}
	forbidden = "an operator who does what he is told does not come to an end";
}

/* ---- the walk ---------------------------------------------------------------------------- */

struct visit {
	uint32_t parent;
	uint8_t action, arg;
};

/* States that are to be expanded. They need most of the memory: each block is freed after use. */
#define BLOCK	64

struct block {
	struct state states[BLOCK];
	uint32_t visits[BLOCK];
};

struct list {
	struct block **blocks;
	size_t count, room;	/* states; blocks */
};

static struct visit *visits;
static size_t visit_count, visit_room;
static struct set seen;

/* Situations that the walks must meet: else they prove nothing about them. */
enum meeting {
	MET_EXACT, MET_VOID, MET_DOUBT, MET_UNDONE, MET_BOTH, MET_RESUMED, MET_CONFIRM, MET_READ,
	MET_SPARE, MET_SENSOR, MET_FULL, MET_SWAPPED, MET_LATER, MET_ORDER, MET_GATE_LATE,
	MET_GATE_OLD, MEETINGS
};

static const char *const meetings[MEETINGS] = {
	"an exact board", "a void one", "one of which nobody knows",
	"an exact one that was taken back", "the whole set dealt",
	"a deal found by a new program", "a board that must be said to be empty",
	"exact but wrong: cards read as each other",
	"exact but wrong: a double feed with a card to spare",
	"exact but wrong: a lying sensor", "exact but wrong: a board that was not empty",
	"exact but wrong: a board exchanged unseen", "exact until the machine reported late",
	"exact but wrong: a deck that was not in order", "a card held for want of a gate command",
	"a gate command for a card that is not at the gate any more",
};

static unsigned long met[MEETINGS], acted[ACTIONS][16];
static unsigned long transitions;

static void note(void)
{
	const struct record *r = &now.record;
	unsigned int board, excuse;

	met[MET_VOID] +=
		r->last.outcome == DEALBOX_LEDGER_VOID || r->last.outcome == DEALBOX_LEDGER_DIFFERS;
	met[MET_DOUBT] += r->last.outcome == DEALBOX_LEDGER_UNKNOWN;
	met[MET_UNDONE] += r->last.undone;
	met[MET_BOTH] += r->exact[1].id && r->exact[2].id;
	met[MET_CONFIRM] += host_idle(&now) && now.engine.shows == DEALBOX_OPERATOR_CONFIRM;
	met[MET_RESUMED] += now.runs && world_deals(&now.world) && now.engine.deals &&
			    now.engine.phase == PHASE_NONE;
	for (board = 1; board <= BOARDS; board++) {
		met[MET_EXACT] += r->exact[board].id && r->exact[board].right;
		for (excuse = 0; excuse < 6; excuse++)
			met[MET_READ + excuse] += r->exact[board].id && !r->exact[board].right &&
						  r->exact[board].excuses & 1 << excuse;
		met[MET_ORDER] += r->exact[board].id && !r->exact[board].right &&
				  r->exact[board].excuses & EXCUSE_ORDER;
	}
	met[MET_GATE_LATE] += now.world.state == DEALBOX_STATE_HELD &&
			      now.world.fault == DEALBOX_EV_GATE_LATE;
	met[MET_GATE_OLD] += now.world.gates && now.world.gate[0].number != now.world.asked;
}

static uint32_t add_visit(uint32_t parent, unsigned int action, unsigned int arg)
{
	if (visit_count == visit_room) {
		visit_room = visit_room ? 2 * visit_room : 1 << 16;
		visits = realloc(visits, visit_room * sizeof(*visits));
		if (!visits)
			exit(2);
	}
	visits[visit_count] = (struct visit){ parent, action, arg };
	return visit_count++;
}

static void add_state(struct list *list, uint32_t visit)
{
	size_t block = list->count / BLOCK, at = list->count % BLOCK;

	if (block == list->room) {
		list->room = list->room ? 2 * list->room : 1 << 10;
		list->blocks = realloc(list->blocks, list->room * sizeof(struct block *));
		if (!list->blocks)
			exit(2);
	}
	if (!at)
		list->blocks[block] = allocate(1, sizeof(struct block));
	list->blocks[block]->states[at] = now;
	list->blocks[block]->visits[at] = visit;
	list->count++;
}

/* ---- a story ------------------------------------------------------------------------------ */

static struct state first;

/* Tell one action, and apply it. */
static void tell_one(struct choice choice)
{
	story_next(&choice);
	apply(choice.action, choice.arg);
	story_shows();
}

/* Tell the story of what is forbidden, from the beginning. */
static void tell_story(uint32_t visit, bool and_path)
{
	const char *what = forbidden;
	unsigned int count = 0, n;
	struct choice *way;
	uint32_t at;

	for (at = visit; at; at = visits[at].parent)
		count++;
	way = allocate(count + PATH, sizeof(*way));
	for (at = visit, n = count; at; at = visits[at].parent)
		way[--n] = (struct choice){ visits[at].action, visits[at].arg };
	if (and_path) {
		memcpy(way + count, path, path_length * sizeof(*path));
		count += path_length;
	}
	printf("# %s:\n", what);
	forbidden = NULL;
	now = first;
	story_begin();
	for (n = 0; n < count; n++)
		tell_one(way[n]);
	story_end(what);
	/* for `explore replay` */
	printf("# choices:");
	for (n = 0; n < count; n++)
		printf(" %u.%u", way[n].action, way[n].arg);
	printf("\n");
	free(way);
	forbidden = what;
}

/* The limits of a walk; depth in `make check`, deep in `make check-all`. */
struct plan_of_walk {
	const char *name;
	bool module;
	enum kind kind;
	unsigned int options, faults, kills, cuts, depth, deep;
	bool (*only)(enum action action, unsigned int arg);	/* these faults; NULL: every one */
};

static bool (*allowed)(enum action action, unsigned int arg);

static bool late_and_back(enum action action, unsigned int arg)
{
	return (action == ACT_ADVANCE && arg == MISHAP_WRONG_LATER) ||
	       (action == ACT_INSERT && arg == 1);
}

/* Take every action in one state. Return false if something forbidden happened. */
static bool expand(const struct state *state, uint32_t visit, struct list *next)
{
	unsigned int action, arg;
	uint32_t child;

	for (action = 0; action < ACTIONS; action++) {
		for (arg = 0; arg < (arguments[action] ? arguments[action] : 1); arg++) {
			if (!payable(state, cost(state, action, arg)) ||
			    (allowed && cost(state, action, arg) == 'f' && !allowed(action, arg)))
				continue;
			now = *state;
			apply(action, arg);
			transitions++;
			acted[action][arg]++;
			if (!forbidden && set_add(&seen, fingerprint(&now), 1))
				continue;
			child = add_visit(visit, action, arg);
			if (forbidden) {
				tell_story(child, false);
				return false;
			}
			note();
			add_state(next, child);
			check_way_on();
			if (forbidden) {
				tell_story(child, true);
				return false;
			}
		}
	}
	return true;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Return the most memory that the program has had so far, in MB. */
static long megabytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss / 1024;
}

static struct state begin(const struct plan_of_walk *walk)
{
	memset(&now, 0, sizeof(now));
	world_begin(&now.world, walk->kind);
	now.module = walk->module;
	now.options = walk->options;
	now.faults = walk->faults;
	now.kills = walk->kills;
	now.cuts = walk->cuts;
	host_restore();
	host_boot();
	host_save();
	return now;
}

/* Walk up to a depth. Return false if something forbidden happened. */
static bool walk(unsigned int depth)
{
	struct list levels[2] = { 0 };
	bool good_so_far = true;
	unsigned int level;
	size_t n;

	set_clear(&seen, false);
	set_clear(&good, true);
	visit_count = walks = transitions = 0;
	/* visit 0 ends a path */
	add_visit(0, 0, 0);
	set_add(&seen, fingerprint(&now), 1);
	add_state(&levels[0], 0);
	for (level = 0; level < depth && levels[level & 1].count && good_so_far; level++) {
		struct list *from = &levels[level & 1], *to = &levels[!(level & 1)];

		for (n = 0; n < from->count; n++) {
			struct block *block = from->blocks[n / BLOCK];

			if (good_so_far)
				good_so_far = expand(&block->states[n % BLOCK],
						     block->visits[n % BLOCK], to);
			if (n % BLOCK == BLOCK - 1 || n + 1 == from->count)
				free(block);
		}
		from->count = 0;
	}
	for (level = 0; level < 2; level++) {
		for (n = 0; n < levels[level].count; n += BLOCK)
			free(levels[level].blocks[n / BLOCK]);
		free(levels[level].blocks);
	}
	return good_so_far;
}

#define AUTO	DEALBOX_JOB_AUTO_START

static const struct plan_of_walk walks_to_do[] = {
	{ "two faults", true, KIND_STORED, AUTO, 2, 0, 0, 24, 31, NULL },
	{ "a fault, and a program that dies", true, KIND_STORED, AUTO, 1, 1, 0, 32, 56, NULL },
	{ "the same without a driver", false, KIND_STORED, AUTO, 1, 1, 0, 35, 60, NULL },
	{ "a fault, and a loss of power", true, KIND_STORED, AUTO, 1, 0, 1, 26, 41, NULL },
	{ "two faults, a loss of power, a program that dies", true, KIND_STORED, AUTO, 2, 1, 1, 14,
	  20, NULL },
	{ "a fault, and each board is started by hand", true, KIND_STORED, 0, 1, 0, 0, 40, 68,
	  NULL },
	{ "a program that dies, and a loss of power", true, KIND_STORED, AUTO, 0, 1, 1, 38, 70,
	  NULL },
	{ "a late report, a board that comes back, a program that dies", true, KIND_STORED, AUTO, 2,
	  1, 0, 36, 44, late_and_back },
	{ "host-routed: two faults", true, KIND_ROUTED, AUTO, 2, 0, 0, 23, 29, NULL },
	{ "host-routed: a fault, and a program that dies", true, KIND_ROUTED, AUTO, 1, 1, 0, 32, 44,
	  NULL },
	{ "host-routed, without a driver", false, KIND_ROUTED, AUTO, 1, 1, 0, 34, 46, NULL },
	{ "host-routed: a loss of power, and a program that dies", true, KIND_ROUTED, AUTO, 0, 1, 1,
	  36, 60, NULL },
	{ "with a lock: two faults", true, KIND_LOCKED, AUTO, 2, 0, 0, 20, 28, NULL },
	{ "with a lock: a fault, and a program that dies", true, KIND_LOCKED, AUTO, 1, 1, 0, 28, 46,
	  NULL },
	{ "with a lock: a fault, and a loss of power", true, KIND_LOCKED, AUTO, 1, 0, 1, 24, 40,
	  NULL },
	{ "by position: two faults", true, KIND_POSITION, DEALBOX_JOB_BY_POSITION, 2, 0, 0, 20, 29,
	  NULL },
	{ "by position: a fault, and a program that dies", true, KIND_POSITION,
	  DEALBOX_JOB_BY_POSITION, 1, 1, 0, 29, 50, NULL },
};

#define WALKS	(sizeof(walks_to_do) / sizeof(walks_to_do[0]))

/* Assert that every situation was met, and every action taken. */
static bool complete(void)
{
	unsigned int n, arg;
	bool all = true;

	for (n = 0; n < MEETINGS; n++) {
		printf("# %lu states with %s\n", met[n], meetings[n]);
		all &= met[n] > 0;
	}
	for (n = 0; n < ACTIONS; n++) {
		for (arg = 0; arg < (arguments[n] ? arguments[n] : 1); arg++) {
			if (!acted[n][arg])
				printf("# action %u, %u was never taken\n", n, arg);
			all &= acted[n][arg] > 0;
		}
	}
	return all;
}

static void begin_walk(unsigned int walk)
{
	forbidden = NULL;
	first = begin(&walks_to_do[walk]);
	allowed = walks_to_do[walk].only;
}

/*
 * Tells the story of choices that another build has printed, as far as they can be taken, and how
 * an operator who does what he is told comes to the end of the job then. Nothing forbidden may
 * happen.
 */
static int replay(unsigned int walk, char **words)
{
	struct choice choice;
	bool looked = false;
	unsigned int n;

	begin_walk(walk);
	story_begin();
	for (; *words && !forbidden; words++)
		if (sscanf(*words, "%u.%u", (unsigned int *)&choice.action, &choice.arg) == 2 &&
		    payable(&now, cost(&now, choice.action, choice.arg)))
			tell_one(choice);
	for (n = 0; n < PATH && !forbidden && !job_is_done() && follow(&looked, &choice); n++)
		tell_one(choice);
	check_exact(true);
	if (!forbidden && !job_is_done())
		forbidden = "there is no way on";
	if (forbidden)
		printf("# %s\n", forbidden);
	story_end(forbidden);
	return !!forbidden;
}

/*
 * usage: explore [quick|deep] [WALK]
 *        explore replay WALK CHOICE...
 *
 * quick: as far as a sanitizer allows; WALK: the number of one walk
 */
int main(int argc, char **argv)
{
	unsigned int only = argc > 1 ? strtoul(argv[argc - 1], NULL, 10) : 0;
	bool quick = argc > 1 && !strcmp(argv[1], "quick");
	bool deep = argc > 1 && !strcmp(argv[1], "deep");
	unsigned int depth, n;
	bool all_good = true, whole;
	double begun;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 2 && !strcmp(argv[1], "replay")) {
		host_init();
		only = strtoul(argv[2], NULL, 10);
		return only && only <= WALKS ? replay(only - 1, argv + 3) : 2;
	}
	printf("1..%zu\n", only ? 1 : quick ? WALKS : WALKS + 1);
	host_init();
	for (n = 0; n < WALKS; n++) {
		if (only && only != n + 1)
			continue;
		depth = quick ? 12 : deep ? walks_to_do[n].deep : walks_to_do[n].depth;
		begun = seconds();
		begin_walk(n);
		whole = walk(depth);
		all_good &= whole;
		printf("# %zu states, %lu transitions, %.1f s, at most %ld MB\n", seen.count,
		       transitions, seconds() - begun, megabytes());
		printf("%sok %u - %s, %u steps\n", whole ? "" : "not ", only ? 1 : n + 1,
		       walks_to_do[n].name, depth);
		if (!whole)
			break;
	}
	if (!all_good || only || quick)
		return !all_good;
	whole = complete();
	printf("%sok %zu - all was met that can be\n", whole ? "" : "not ", WALKS + 1);
	return !whole;
}
