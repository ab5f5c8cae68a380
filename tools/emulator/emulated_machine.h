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

#include "mutants.h"
#include "pile.h"
#include "scenario.h"
#include "wire.h"

#define MACHINE_NEVER		UINT64_MAX
#define MACHINE_QUEUE		256	/* events; the protocol requires 64 */
#define MACHINE_THROTTLE	16	/* speed 0: no card moves while so many events are queued */

/* State that survives without power */
struct machine_memory {
	uint32_t insertion;	/* last assigned insertion number */
	uint32_t attestations;	/* made so far with the key */
	struct dealbox_counters counters;
};

/* Outcome of an insertion */
enum machine_end {
	MACHINE_UNUSED,		/* no deal was started */
	MACHINE_DONE,		/* the last deal ended in DEAL_DONE */
	MACHINE_VOID,		/* the last deal ended otherwise */
};

/* An insertion, with the cards that are really in the pockets */
struct machine_board {
	bool present;
	bool in_doubt, spent, captured, locked;
	uint16_t number;	/* board number, 0 = none or not readable */
	uint32_t insertion;
	uint32_t ordinal;	/* counts from 1 since the start of the emulator */
	uint32_t deals;		/* deals started in this insertion */
	uint32_t plan;		/* plan of the last deal, 0 = none */
	enum machine_end end;
	struct pile pocket[DEALBOX_MAX_POCKETS];
};

#define MACHINE_SPEED_MAX	1e6
#define MACHINE_KEY_SIZE	32	/* seed of an Ed25519 key */

struct machine_config {
	struct wire_descriptor desc;
	struct wire_info info;
	uint8_t key[MACHINE_KEY_SIZE];	/* with DEALBOX_CAP_ATTEST: the private key */
	double speed;		/* 1 = about 10 cards/s, 0 = no delays */
	uint64_t seed;
	struct machine_mutant mutant;	/* what it does wrong */
	struct scenario *scenario;	/* not owned; NULL = no faults */
	void *context;		/* for the two callbacks, which may be NULL */
	/* called before a number of *memory is used for the first time */
	void (*save)(void *context, const struct machine_memory *memory);
	/* called when a board is taken out, before its pockets are emptied */
	void (*account)(void *context, const struct machine_board *board);
};

struct machine;

/*
 * Create a machine that was just switched on: no board, closed cover, empty hopper, not configured.
 * memory NULL is a new machine. Returns NULL without memory.
 */
struct machine *machine_new(const struct machine_config *config,
			    const struct machine_memory *memory, uint64_t now);
void machine_free(struct machine *machine);

void machine_run(struct machine *machine, uint64_t now);
/* Return when machine_run() must be called next, or MACHINE_NEVER. */
uint64_t machine_next(const struct machine *machine);

/* --- the host ----------------------------------------------------------------- */
/* SET_CONFIGURATION with a value other than 0 */
void machine_configure(struct machine *machine);
/* Bus reset, loss of bus power, or SET_CONFIGURATION 0. Stops a running deal. */
void machine_disconnect(struct machine *machine);
/* The longest answer to a query */
#define MACHINE_ANSWER_MAX	WIRE_DATA_MAX
/* Answer a query (c1) in buf[MACHINE_ANSWER_MAX]. Returns the size of the answer, 0 for a stall. */
size_t machine_query(struct machine *machine, uint8_t request, uint16_t value, uint8_t *buf);
/* Execute a command (41). Returns false for a stall. */
bool machine_command(struct machine *machine, uint8_t request, uint16_t value, const uint8_t *data,
		     size_t length);
/* Refuse a command with this error and detail. */
void machine_refuse(struct machine *machine, uint8_t request, const uint8_t *data, size_t length,
		    uint8_t error, uint32_t detail);
/* Receive a transfer on bulk OUT. Returns false for a stall. */
bool machine_bulk(struct machine *machine, const uint8_t *data, size_t length);
/* Refuse the next plan with this error in PLAN_LOADED. */
void machine_refuse_plan(struct machine *machine, uint8_t error, uint32_t detail);
/* Receive a transfer on interrupt OUT. */
void machine_gate(struct machine *machine, const uint8_t *data, size_t length);
/* Fetch as many events as fit into size bytes. Returns the number of bytes. */
size_t machine_fetch(struct machine *machine, uint8_t *buf, size_t size);
/* Return when events can be fetched, which may be in the past; MACHINE_NEVER if none are queued. */
uint64_t machine_fetch_at(const struct machine *machine);
/* Return true if an event is queued for which a suspended machine wakes the host. */
bool machine_wakes(const struct machine *machine);
/* The bus is suspended. */
void machine_suspended(struct machine *machine);

/*
 * A machine that speaks the serial dialect itself, instead of by the frames of its device: for the
 * core of tools/machine, in tests/system/machine. Then no scenario changes a frame.
 */
struct machine_stream {
	/*
	 * The machine was configured, or is no longer; out: only a halt of the OUT endpoint was
	 * cleared
	 */
	void (*reset)(struct machine *machine, bool out);
	void (*take)(struct machine *machine, const uint8_t *data, size_t length);
	size_t (*give)(struct machine *machine, uint8_t *buf, size_t size);
	bool (*ready)(const struct machine *machine);
};

/* Returns NULL if the device makes the frames. */
const struct machine_stream *machine_stream(void);

/* --- the operator --------------------------------------------------------------- */
/* Insert an empty board. Returns 0, -EBUSY if there is a board, or -ENXIO without power. */
int machine_insert(struct machine *machine, uint16_t number);
/*
 * Remove the board. Its cards go to the table. Returns 0, -ENOENT without a board, or -EPERM if it
 * is locked and force is not set.
 */
int machine_remove(struct machine *machine, bool force);
void machine_cover(struct machine *machine, bool open);
void machine_key(struct machine *machine, uint32_t key, bool pressed);
/* Switch off, and on again after us. A board in the machine is then in doubt. */
void machine_power_cycle(struct machine *machine, uint64_t us);
/* Unplug the cable, and plug it in after us; MACHINE_NEVER leaves it unplugged. */
void machine_unplug(struct machine *machine, uint64_t us);
void machine_plug(struct machine *machine);
/* Move cards that are stuck or at the reader to the table, which clears a jam. */
void machine_clear_path(struct machine *machine);
/* Turn and clean the card at the reader, which makes it readable. */
void machine_clean_card(struct machine *machine);
/* Piles that the caller may change. Call machine_hopper_changed() after changing the hopper. */
struct pile *machine_hopper(struct machine *machine);
struct pile *machine_path(struct machine *machine);
struct pile *machine_table(struct machine *machine);
void machine_hopper_changed(struct machine *machine);

/* --- faults ----------------------------------------------------------------------- */
void machine_reset_firmware(struct machine *machine);
/* Report HARDWARE with a code. A lasting fault remains until machine_repair(). */
void machine_break(struct machine *machine, uint32_t code, bool lasting);
void machine_repair(struct machine *machine);
/* While frozen, no card moves and no deal is attested; everything else continues. */
void machine_freeze(struct machine *machine, bool frozen);
/* Set the factor of --speed, from the next step on. */
void machine_speed(struct machine *machine, double factor);
/* Execute an action of the world (ACTION_PULL and later). Ignores others. */
void machine_act(struct machine *machine, enum action action, const uint32_t *value);
/* Make a happening from the state of the machine. */
struct happening machine_happening(const struct machine *machine, enum hook hook, uint8_t name);
struct scenario *machine_scenario(const struct machine *machine);

/* --- observation ------------------------------------------------------------------ */
struct machine_view {
	bool powered;		/* switched on */
	bool plugged;		/* plugged in and switched on */
	bool configured;
	bool frozen;
	bool lamp;		/* it blinks */
	bool cover_open;
	bool jammed, broken;
	uint8_t state, fault;
	uint8_t position;
	uint32_t stops;		/* stops so far */
	uint32_t deals;		/* deals started so far */
	uint32_t queued;	/* number of queued events */
	uint32_t next_event;
	uint32_t plan;		/* loaded plan */
	double speed;
	struct machine_mutant mutant;
	const struct wire_descriptor *desc;
	const struct machine_board *board;
	const struct machine_memory *memory;
};

struct machine_view machine_view(const struct machine *machine);

#endif
