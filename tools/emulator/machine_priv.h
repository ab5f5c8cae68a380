/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Internals of a machine, shared by emulated_machine.c (protocol and states) and mechanics.c
 * (movement of cards, and the operator's hands).
 */
#ifndef EMULATOR_MACHINE_PRIV_H
#define EMULATOR_MACHINE_PRIV_H

#include "attest.h"
#include "emulated_machine.h"

#define FALLING_MAX	8
#define PARAM_COUNT	4
#define DEFERRED_MAX	16

/* The next step of the mechanics, at step_at */
enum step {
	STEP_NONE,	/* nothing moves */
	STEP_START,	/* the deal is being prepared */
	STEP_FEED,	/* a card is on its way from the hopper to the reader */
	STEP_TIMEOUT,	/* no card comes from the hopper */
	STEP_READ,	/* the card at the reader is being read */
	STEP_WAIT,	/* host-routed: waiting for the gate command */
	STEP_GATE,	/* the gate is being set */
};

/* A command that waits until the cards past the gate have landed */
enum pending {
	PENDING_NONE,
	PENDING_PAUSE,
	PENDING_ABORT,
};

/* The reading of the card at the reader */
struct reading {
	uint8_t card, quality, flags;
	uint32_t code;
};

/* A card past the gate */
struct falling {
	uint64_t at;
	struct pile cards;	/* one card, or two that stick together */
	uint8_t position;
	uint8_t card;		/* as read */
	uint8_t pocket;		/* intended pocket */
	uint8_t real;		/* pocket where it will land */
};

struct deal {
	bool running;		/* DEALING, PAUSED or HELD */
	bool test, capture, by_card;
	uint32_t plan;
	uint8_t total;		/* number of cards, 0 = until the hopper is empty */
	uint8_t position;	/* position of the next card to pass the gate */
	uint8_t done;		/* cards that have landed, in total and per pocket */
	uint8_t counts[DEALBOX_MAX_POCKETS];
	uint8_t first[DEALBOX_MAX_CARDS];	/* position of each card, 255 = not yet dealt */
};

struct machine {
	struct machine_config config;
	struct machine_memory memory;
	bool released;		/* a mutant: RELEASE_BOARD was sent once */
	struct dealbox_counters stored;	/* a mutant: what is left of them without power */
	uint64_t now, random;

	/* power and bus */
	bool powered, plugged, configured, configured_before, frozen;
	uint64_t power_on;	/* start of the machine's clock */
	uint64_t lamp_until;	/* LOCATE: the lamp blinks until then */
	uint64_t replug_at;
	bool power_at_replug;
	uint64_t seconds_from;	/* the counter of seconds includes the time before */

	/* the world */
	struct pile hopper, path, table;
	struct machine_board board;
	uint32_t boards;
	uint8_t let_in[DEALBOX_MAX_POCKETS];	/* cards routed in this insertion */
	bool hopper_had_cards, cover_open, jammed, broken;

	/* protocol */
	uint8_t state, fault;
	struct wire_result last;
	struct wire_result before; /* the command before; ahead: GET_RESULT has not told last yet */
	bool ahead;
	unsigned int untold;	/* openings of the cover while not configured */
	bool last_accepted;
	uint8_t queue[MACHINE_QUEUE][WIRE_EVENT_SIZE];
	unsigned int queue_head, queue_count;
	uint32_t next_event;
	uint64_t events_at;	/* events cannot be fetched before */
	uint32_t param[PARAM_COUNT];

	/* plans */
	struct wire_plan plan;
	bool plan_loaded;
	uint8_t load[WIRE_PLAN_MAX];
	uint32_t load_number, load_length, load_received;
	uint64_t load_deadline;	/* MACHINE_NEVER = no block is expected */
	uint64_t load_check_at;
	bool load_overrun;
	uint8_t refuse_plan;
	uint32_t refuse_detail;

	/* attestations (§5.3) */
	struct attest_key key;
	uint8_t plan_hash[WIRE_HASH_SIZE];	/* of the loaded plan */
	struct attest_deal attest;	/* the deal that runs, or the one that can be attested */
	bool attest_counts;	/* between DEAL_STARTED and DEAL_DONE */
	bool attestable;	/* the deal ended in DEAL_DONE */
	uint64_t done_at;
	uint64_t attest_at;	/* MACHINE_NEVER = none is being made */
	uint8_t nonce[DEALBOX_NONCE_SIZE];
	struct attestation attestation;
	bool attested;		/* attestation can be fetched */

	/* the current or last deal */
	struct deal deal;
	uint32_t deals, stops;
	enum pending pending;
	uint32_t pause_reason;
	enum step step;
	uint64_t step_at;
	struct reading reading;
	uint8_t gate_pocket;
	uint32_t gate_event, late_event;	/* number of the CARD_READ, 0 = none */
	struct falling falling[FALLING_MAX];
	unsigned int falling_count;

	/* actions of a scenario on the world, executed at the end of the step */
	struct { enum action action; uint32_t value[2]; } deferred[DEFERRED_MAX];
	unsigned int deferred_count;
};

/* emulated_machine.c */
struct wire_event event_of(uint8_t type);
void event_send(struct machine *m, struct wire_event *event);
/* Defer an action on the world to the end of the current step. */
void machine_defer(struct machine *m, const struct effect *effect);
/* Stop (§4.3): send the event and change the state. */
void machine_stop(struct machine *m, struct wire_event *event);
/* End the deal with this outcome. */
void deal_end(struct machine *m, enum machine_end end);
bool has(const struct machine *m, uint32_t capability);
void plan_forget(struct machine *m);
/* The events from now on belong to the deal that may be attested. */
void attest_started(struct machine *m);

/* mechanics.c */
void mechanics_start(struct machine *m);	/* START or TEST_DEAL was accepted */
void mechanics_go_on(struct machine *m);	/* RESUME, REREAD */
void mechanics_pending(struct machine *m);	/* PAUSE or ABORT was accepted */
/* Cut off the deal: cards past the gate land at once, undetected. */
void mechanics_cut(struct machine *m);
void mechanics_run(struct machine *m);
uint64_t mechanics_next(const struct machine *m);
bool mechanics_gate(struct machine *m, const struct wire_gate *gate);
/* A card that came to rest behind GATE_LATE waits for its gate command again: a mutant. */
void mechanics_resume_gate(struct machine *m);

#endif
