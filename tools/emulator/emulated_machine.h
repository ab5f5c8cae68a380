/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A dealing machine: protocol (docs/protocol.md), mechanics, reader, hopper, board slot.
 *
 * Pure: no I/O, no threads, no clock of its own. The caller sets the time with machine_run(), which
 * executes everything that is due; every other call acts at that time. machine_next() returns when
 * it must be run again. Times are µs from an arbitrary start.
 */
#ifndef EMULATED_MACHINE_H
#define EMULATED_MACHINE_H

#include "pile.h"
#include "scenario.h"
#include "wire.h"

#define MACHINE_NEVER		UINT64_MAX
#define MACHINE_QUEUE		256	/* events; the protocol asks for 64 */
#define MACHINE_THROTTLE	16	/* speed 0: no card moves while so many events wait */

/* The state that survives without power. */
struct machine_memory {
	uint32_t insertion;	/* the last insertion number given */
	struct dealbox_counters counters;
};

/* The outcome of an insertion. */
enum machine_end {
	MACHINE_UNUSED,		/* no deal was started */
	MACHINE_DONE,		/* the last deal ended in DEAL_DONE */
	MACHINE_VOID,		/* it did not */
};

/* An insertion, and what really lies in the pockets. */
struct machine_board {
	bool present;
	bool in_doubt, spent, captured, locked;
	uint16_t number;	/* 0 = none or not readable */
	uint32_t insertion;
	uint32_t ordinal;	/* 1 = first since the machine was made */
	uint32_t deals;		/* deals started in this insertion */
	uint32_t plan;		/* of the last deal, 0 = none */
	enum machine_end end;
	struct pile pocket[DEALBOX_MAX_POCKETS];
};

#define MACHINE_SPEED_MAX	1e6

struct machine_config {
	struct wire_descriptor desc;
	struct wire_info info;
	double speed;		/* 1 = about ten cards a second, 0 = at once */
	uint64_t seed;
	struct scenario *scenario;	/* not owned; NULL = nothing goes wrong */
	void *context;		/* handed to the two calls below, either may be NULL */
	/* before a number of *memory is used for the first time */
	void (*save)(void *context, const struct machine_memory *memory);
	/* when a board is taken out, before its pockets are emptied */
	void (*account)(void *context, const struct machine_board *board);
};

struct machine;

/*
 * A machine that was just switched on, without a board, with a closed cover and an
 * empty hopper, not configured. memory NULL = fresh from the factory. Returns NULL without memory.
 */
struct machine *machine_new(const struct machine_config *config,
			    const struct machine_memory *memory, uint64_t now);
void machine_free(struct machine *machine);

void machine_run(struct machine *machine, uint64_t now);
/* When machine_run() has something to do, MACHINE_NEVER if nothing is waited for. */
uint64_t machine_next(const struct machine *machine);

/* --- what the host does ------------------------------------------------------- */
/* SET_CONFIGURATION with a value that is not 0 */
void machine_configure(struct machine *machine);
/* bus reset, bus power gone, SET_CONFIGURATION 0: a deal that runs is stopped */
void machine_disconnect(struct machine *machine);
/* A query (c1): bytes of the answer in buf[64], 0 = stall. */
size_t machine_query(struct machine *machine, uint8_t request, uint16_t value, uint8_t *buf);
/* A command (41): true = accepted, false = stall. */
bool machine_command(struct machine *machine, uint8_t request, uint16_t value, const uint8_t *data,
		     size_t length);
/* A command that the machine refuses with this error and detail, whatever it is. */
void machine_refuse(struct machine *machine, uint8_t request, const uint8_t *data, size_t length,
		    uint8_t error, uint32_t detail);
/* A transfer on bulk OUT: false = stall. */
bool machine_bulk(struct machine *machine, const uint8_t *data, size_t length);
/* PLAN_LOADED of the next plan will carry this error, whatever the plan. */
void machine_refuse_plan(struct machine *machine, uint8_t error, uint32_t detail);
/* A transfer on interrupt OUT. */
void machine_gate(struct machine *machine, const uint8_t *data, size_t length);
/* As many whole events as fit into size bytes; 0 = none wait. */
size_t machine_fetch(struct machine *machine, uint8_t *buf, size_t size);
/* When events can be fetched: now or in the past = now, MACHINE_NEVER = none wait. */
uint64_t machine_fetch_at(const struct machine *machine);

/* --- what the operator does ----------------------------------------------------- */
/* 0; -EBUSY a board is there; -ENXIO no power. An empty board goes in. */
int machine_insert(struct machine *machine, uint16_t number);
/* 0; -ENOENT no board; -EPERM it is locked, and force is not given. Its cards go to the table. */
int machine_remove(struct machine *machine, bool force);
void machine_cover(struct machine *machine, bool open);
void machine_key(struct machine *machine, uint32_t key, bool pressed);
/* Switches off and on again after us; the board that is in is in doubt. */
void machine_power_cycle(struct machine *machine, uint64_t us);
/* The cable is pulled, and put back after us (MACHINE_NEVER: not by itself). */
void machine_unplug(struct machine *machine, uint64_t us);
void machine_plug(struct machine *machine);
/* Takes what is stuck or lies at the reader to the table; a jam is mended. */
void machine_clear_path(struct machine *machine);
/* Turns the card at the reader, and wipes it: what made it unreadable is gone. */
void machine_clean_card(struct machine *machine);
/* The piles may be changed; machine_hopper_changed() after the hopper was. */
struct pile *machine_hopper(struct machine *machine);
struct pile *machine_path(struct machine *machine);
struct pile *machine_table(struct machine *machine);
void machine_hopper_changed(struct machine *machine);

/* --- what breaks ------------------------------------------------------------------ */
void machine_reset_firmware(struct machine *machine);
/* HARDWARE with a code; lasting: until machine_repair() */
void machine_break(struct machine *machine, uint32_t code, bool lasting);
void machine_repair(struct machine *machine);
/* No card moves until thawed; everything else continues. */
void machine_freeze(struct machine *machine, bool frozen);
/* The factor of --speed, from what begins next. */
void machine_speed(struct machine *machine, double factor);
/* Carries out an effect of the world (ACTION_PULL and later); others are ignored. */
void machine_act(struct machine *machine, enum action action, const uint32_t *value);
/* Fills what the machine knows of a happening. */
struct happening machine_happening(const struct machine *machine, enum hook hook, uint8_t name);
struct scenario *machine_scenario(const struct machine *machine);

/* --- what one sees ---------------------------------------------------------------- */
struct machine_view {
	bool powered;		/* switched on */
	bool plugged;		/* the cable is in, and the machine is on */
	bool configured;
	bool frozen;
	bool cover_open;
	bool jammed, broken;
	uint8_t state, fault;
	uint8_t position;
	uint32_t stops;		/* stops so far */
	uint32_t deals;		/* deals started so far */
	uint32_t queued;	/* events that wait */
	uint32_t next_event;
	uint32_t plan;		/* loaded */
	double speed;
	const struct wire_descriptor *desc;
	const struct machine_board *board;
	const struct machine_memory *memory;
};

struct machine_view machine_view(const struct machine *machine);

#endif
