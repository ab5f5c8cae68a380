/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The computer: the host core, the dealing engine and the verdict as they are built for the
 * library, and an in-memory ledger. What the ledger has outlives the computer.
 */
#ifndef EXPLORE_HOST_H
#define EXPLORE_HOST_H

#include "dealing/dealing-internal.h"
#include "abi.h"
#include "world.h"

/* The last insertion of the ledger, and those that count. */
struct entry {
	uint64_t id;			/* 0: there is none */
	uint32_t number;
	uint8_t board;
	uint8_t outcome;		/* enum dealbox_ledger_outcome */
	bool undone;
	/* the account of it, kept from when its board is out */
	bool right;
	uint8_t excuses;
};

struct record {
	uint64_t count;
	uint32_t plan_id;		/* of the last plan: numbers of plans do not come again */
	struct entry last;
	struct entry exact[BOARDS + 1];	/* of each board */
};

/* A trace: its events are a node of a tree of all traces. */
struct kept_trace {
	uint32_t node;			/* 0: there is no trace */
	uint32_t insertion;
	bool gap, lost, seen;
	uint64_t seqno;
	uint32_t number;
};

/* The part of the core that serves a host-routed machine. */
struct route {
	uint32_t plan_id, insertion;
	uint8_t mode, entries, pocket[CARDS], card_at[CARDS];
	uint8_t gates;			/* commands on their way */
};

/* The state of the world and of the computer. Plain data. */
struct state {
	struct world world;
	struct record record;
	/* the computer */
	bool runs;			/* the program */
	bool attached;			/* it has opened the machine */
	bool dead;			/* .. which has gone since then */
	bool fresh;
	bool stepping;			/* a step is to be done: */
	struct step step;
	bool late;			/* an event takes longer than a status waits for it */
	bool full;			/* the disk, for the next record */
	struct engine engine;
	uint32_t plan_id;
	struct dealbox_plan plan;
	uint64_t insertion;
	uint32_t sequence;		/* of the core */
	struct event_source source;
	struct route route;
	struct told arrived[WIRE];
	uint8_t arrivals;
	uint8_t copies[BOARDS + 1];	/* enum dealbox_ledger_copy_state, in the program */
	bool by_repeat;
	struct kept_trace trace, kept;
	/* how it is set up */
	bool module;			/* the driver is in the kernel, and outlives the program */
	unsigned int options;		/* of the job */
	/* what may still go wrong */
	uint8_t faults, kills, cuts;
	bool looked;			/* nothing has happened since the machine was asked last */
};

/* The world and its computer, as code works on them: */
extern struct state now;

/* The program waits for events or the operator. */
static inline bool host_idle(const struct state *s)
{
	return s->runs && !s->stepping;
}

/* Once. */
void host_init(void);
/* Load the code under test from `now`, and store it there. */
void host_restore(void);
void host_save(void);

void host_boot(void);
void host_kill(void);
/* Opens the machine again. */
void host_attach(void);
/* The program reads the events that have arrived. */
void host_read(void);
/* The step that is to be done. */
void host_step(void);
void host_push(enum push push);
void host_look(void);
void host_settled(void);
enum dealbox_operator_state host_shows(void);
/* Events go from the wire into the computer: single cards, and one that tells more. */
void host_arrive(void);
/* The oldest gate command has ended. */
void host_gate_done(int status);
/* A new driver, or the library in its place: it knows nothing of the machine. */
void host_new_core(void);

#endif
