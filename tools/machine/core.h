/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The machine's side of docs/protocol.md 1.1: requests, plans, gate commands and what the sensors
 * see go in; answers and events come out, and orders to the mechanics. No allocation, no clock, no
 * device.
 *
 * All calls come from one thread or one interrupt level. The caller calls core_clock() before each
 * other call, and at least every 10 ms while a deal runs. No order may call back into the core.
 *
 * One card moves at a time: the next one is fed when the last one has fallen.
 */
#ifndef MACHINE_CORE_H
#define MACHINE_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

#define CORE_POCKETS		8
#define CORE_PLAN_CARDS		64
#define CORE_CARDS		54
#define CORE_EVENTS		64	/* R-4-11 */
#define CORE_EVENT_BYTES	32
#define CORE_ANSWER_BYTES	96
#define CORE_DESCRIPTOR_BYTES	24
#define CORE_NONE		255	/* no card, position, pocket or quality */
#define CORE_STALL		-1
#define CORE_NEVER		UINT32_MAX
#define CORE_NONCE_BYTES	32
#define CORE_KEY_BYTES		40	/* key id, public key */
#define CORE_STATEMENT_BYTES	96
#define CORE_SIGNATURE_BYTES	64

enum core_capability {
	CORE_STORED_PLAN = 1 << 0,
	CORE_HOST_ROUTED = 1 << 1,
	CORE_EXIT_SENSORS = 1 << 2,
	CORE_BOARD_READER = 1 << 3,
	CORE_BOARD_LOCK = 1 << 4,
	CORE_FACE_SENSOR = 1 << 5,
	CORE_DOUBLE_FEED_SENSOR = 1 << 6,
	CORE_TEST_DEAL = 1 << 7,
	CORE_KEYS = 1 << 8,
	CORE_BY_CARD = 1 << 9,
	CORE_BY_POSITION = 1 << 10,
	CORE_CAPTURE = 1 << 11,
	CORE_REFUSES_BY_RESULT = 1 << 12,
	CORE_ATTEST = 1 << 13,		/* needs core_orders.attest */
};

enum core_state { CORE_IDLE, CORE_DEALING, CORE_PAUSED, CORE_HELD, CORE_FAULT, CORE_DONE,
		  CORE_STATES };

/* The numbers of the page; code is that of HARDWARE. */
enum core_hardware {
	CORE_HARDWARE_STORE = 1,	/* the record cannot be read or written */
	CORE_HARDWARE_FULL = 2,		/* the pocket, or the count of positions */
	CORE_HARDWARE_GATE = 3,		/* the gate was not set in time */
	CORE_HARDWARE_MAKER = 0x100,	/* the maker's codes begin here */
};

/* Description of the machine. It stays valid while the core is used. */
struct core_config {
	uint8_t interface;		/* bInterfaceNumber */
	uint8_t reader;			/* bReader; 0: none */
	uint8_t pockets, capacity;	/* 1..8, 1..64 */
	uint16_t hopper;		/* the cards that fit in, not 0 */
	uint8_t plan_cards;		/* 1..64 */
	uint32_t capabilities;		/* of enum core_capability */
	uint32_t gate_deadline;		/* in µs, 0 unless CORE_HOST_ROUTED; at most 400 ms */
	uint32_t firmware, hardware;	/* as in GET_INFO */
	bool emulated; /* a program without cards: GET_IDENTITY and statements say so */
	char model[32];			/* UTF-8, padded with zeros */
};

struct core_sensors {
	bool board, cover_open, hopper, reader;	/* hopper, reader: there is a card */
	uint16_t board_number;			/* 0 = not read */
};

struct core_reading {
	uint8_t card;			/* 0..53, CORE_NONE */
	uint8_t quality;		/* 0..100, CORE_NONE; 1..49: a doubt, whatever card says */
	bool face_up;
	uint32_t code;			/* what the reader saw; 0 = nothing */
};

/* Values that a machine that attests shows: docs/protocol.md, 5.3 */
enum core_shown { CORE_KEY, CORE_STATEMENT, CORE_SIGNATURE };

/*
 * Hashes and signatures, for which microcontrollers have no room: the core says when and of what.
 */
struct core_attest {
	void *context;			/* for the functions */
	/*
	 * A deal begins; what was kept of the one before is gone. plan: NULL on a host-routed
	 * machine
	 */
	void (*begin)(void *context, const uint8_t *plan, uint32_t length);
	/* The next event of the deal, as it was queued */
	void (*event)(void *context, const uint8_t event[CORE_EVENT_BYTES]);
	/* Overwrite what is kept of the deal */
	void (*forget)(void *context);
	/*
	 * ATTEST was accepted: keep the nonce, overwrite the last statement. NULL: overwrite both
	 */
	void (*nonce)(void *context, const uint8_t *nonce);
	/*
	 * Complete and sign a statement, in which counter, insertion, number of events and flags
	 * are set, and overwrite the nonce. Returns false if that is impossible. It may take 100
	 * ms.
	 */
	bool (*sign)(void *context, const uint8_t statement[CORE_STATEMENT_BYTES]);
	/* Returns the bytes, of the size that the name says */
	const uint8_t *(*show)(void *context, enum core_shown what);
};

/*
 * Orders to the mechanics. Each returns at once; what comes of it is told by a call. All are
 * needed.
 */
struct core_orders {
	/*
	 * Bring the next card to the reader, or leave the one that is there, and read it:
	 * core_card()
	 */
	void (*read)(void *context);
	/* Set the gate for a pocket: core_gate_set() */
	void (*gate)(void *context, uint8_t pocket);
	/* Let the card at the reader go through the gate: core_landed() */
	void (*let_go)(void *context);
	/* Stop. No card may pass the gate any more, but those that have passed it fall. */
	void (*halt)(void *context);
	void (*lock)(void *context, bool locked);
	void (*locate)(void *context, uint8_t seconds);	/* blink; 0 = stop */
	/*
	 * Write a slot, and return true when it is safe from power loss. This is the one order that
	 * may take time, 200 ms at most.
	 */
	bool (*store)(void *context, int slot, const uint8_t bytes[RECORD_BYTES]);
	const struct core_attest *attest;	/* NULL without CORE_ATTEST */
};

/* The next card waits for this. */
enum core_phase {
	CORE_NOTHING,
	CORE_READING,			/* core_card() */
	CORE_HOST,			/* a gate command */
	CORE_GATE,			/* core_gate_set() */
	CORE_FALL,			/* core_landed() */
};

enum core_mode { CORE_MODE_ROUTED, CORE_MODE_CARD, CORE_MODE_POSITION, CORE_MODE_CAPTURE,
		 CORE_MODE_TEST };

/* The caller reads no field of it. */
struct core {
	const struct core_config *config;
	const struct core_orders *orders;
	void *context;
	uint32_t now, second;		/* the clock; when the last second was counted */

	struct record record;
	int slot;			/* of the newest record; RECORD_NEW, RECORD_BROKEN */
	uint32_t stored;		/* the sum of its counters, which only grow */

	struct core_sensors sensors;
	uint32_t insertion;		/* 0 = no board */
	bool at_power_on, doubt, spent, captured;
	uint8_t in_board[CORE_POCKETS];	/* of the insertion, whatever the deal */
	uint8_t jam;			/* where a card is stuck now, 0 = nowhere */
	uint32_t trouble;		/* of the mechanics: its code, 0 = none */
	bool unstored;			/* the last write failed, or none is safe */
	uint32_t feed_timeout;		/* ms, a parameter */

	bool configured, was_configured;
	enum core_state state;
	uint8_t fault;			/* the stop that led to HELD or FAULT */

	/* the plan, and the load under way */
	uint8_t block[36 + CORE_PLAN_CARDS];
	uint8_t expected, received;	/* expected 0: no load */
	uint32_t load_number, load_end;
	bool loaded;

	/* the deal that runs or ran last */
	bool known, running;
	enum core_mode mode;
	bool to_the_end;		/* until the hopper is empty */
	uint32_t plan_number;
	uint8_t cards, position, done;
	uint8_t counts[CORE_POCKETS];
	uint8_t first[CORE_CARDS];	/* position of a card that has passed the gate */
	enum core_phase phase;
	bool timed;			/* phase_end counts */
	uint32_t phase_end;
	struct core_reading reading;
	uint32_t read_event;		/* number of the CARD_READ that waits for the host */
	bool late;			/* ... or that stopped with GATE_LATE */
	uint8_t pocket;			/* of the card that waits for the gate, or falls */
	uint8_t pausing;		/* reason of the PAUSE that has not ended, 0 = none */
	bool aborting;

	/* the deal that is or may be attested, and the attestation under way */
	uint8_t *unhashed;		/* an event that is not complete yet, or NULL */
	bool hashing, attestable, attesting, attested, calm;
	uint32_t attested_insertion, hashed;
	uint32_t quiet,
		attest_end; /* calm: quiet is over, so no stop of that deal comes any more */

	/* the last command */
	uint32_t sequence, detail;
	uint8_t request, error;

	uint8_t events[CORE_EVENTS][CORE_EVENT_BYTES];
	uint8_t event_first, event_count;
	uint32_t event_next;
};

/* Return true if docs/protocol.md allows such a machine, and this core can be it. */
bool core_config_is_valid(const struct core_config *config);

/*
 * Start at power-on. `sensors` is what they see at this moment, `slots` what the store holds;
 * neither is needed later. A board that is there becomes an insertion in doubt. The first write
 * counts the power-on. The host is told nothing before core_configure().
 */
void core_start(struct core *core, const struct core_config *config,
		const struct core_orders *orders, void *context, uint32_t now,
		const struct core_sensors *sensors,
		const uint8_t slots[RECORD_SLOTS][RECORD_BYTES]);

/* Tell the time, in µs of a clock that wraps at 2^32; deadlines that have passed take effect. */
void core_clock(struct core *core, uint32_t now);

/*
 * Return in how many µs core_clock() is to be called at the latest, CORE_NEVER: nothing is awaited.
 */
uint32_t core_next(const struct core *core);

/* The host has chosen a configuration that is not 0. Empty the caller's endpoint buffers, too. */
void core_configure(struct core *core);
/* The bus was reset, its power went, or the host chose configuration 0. */
void core_deconfigure(struct core *core);
/*
 * The machine lost its state while it stayed configured (R-1.2-3): what moves the cards has
 * restarted, for example.
 */
void core_lost(struct core *core);

/*
 * Take a control transfer: `setup`, and the `length` bytes of its data stage, of which 48 are read
 * at most. Returns CORE_STALL, or how many bytes of `answer` to send (0 for a command).
 */
int core_control(struct core *core, const uint8_t setup[8], const uint8_t *data, uint16_t length,
		 uint8_t answer[CORE_ANSWER_BYTES]);

/* Take bytes of the bulk endpoint. Returns false if it must be halted. */
bool core_bulk(struct core *core, const uint8_t *data, uint16_t length);

/* Take a packet of the interrupt OUT endpoint. */
void core_gate(struct core *core, const uint8_t *data, uint16_t length);

/*
 * Take the oldest event out of the queue, to give it to the USB controller now: the time limit of a
 * gate command begins. Returns false if there is none.
 */
bool core_event(struct core *core, uint8_t event[CORE_EVENT_BYTES]);

/* Sensors. A call that brings nothing new does nothing. number: 0 = not read */
void core_board(struct core *core, bool present, uint16_t number);
void core_cover(struct core *core, bool open);
void core_hopper(struct core *core, bool cards);
void core_reader(struct core *core, bool card);
/* 1 start, 2 stop, 3 release */
void core_key(struct core *core, uint8_t key, bool pressed);

/* The card at the reader has been read: the answer to orders->read(). */
void core_card(struct core *core, const struct core_reading *reading);
/* The order to read: its card is fed in so many µs, when its time limit begins. At most 1 s. */
void core_feeds_in(struct core *core, uint32_t after);
/* The gate is where it was ordered. */
void core_gate_set(struct core *core);
/* A card fell into a pocket; without exit sensors: it must have fallen by now, CORE_NONE. */
void core_landed(struct core *core, uint8_t pocket);
/* Two cards have left the hopper together. */
void core_double_feed(struct core *core);
/* A card is stuck: 1 feeder, 2 reader, 3 gate, 4 pocket. 0: none is stuck any more. */
void core_jam(struct core *core, uint8_t where);
/* The machine is unable to deal, by a code from CORE_HARDWARE_MAKER. 0: it is able again. */
void core_trouble(struct core *core, uint32_t code);

#endif
