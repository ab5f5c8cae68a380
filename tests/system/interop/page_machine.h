/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A dealing machine written from docs/protocol.md alone, to test that the page suffices. It shares
 * no line and no constant with dealbox. This is the machine with its cards; its user carries the
 * transfers, acts as the operator, and decides which faults occur.
 */
#ifndef INTEROP_PAGE_MACHINE_H
#define INTEROP_PAGE_MACHINE_H

#include <stdint.h>

enum { IDLE, DEALING, PAUSED, HELD, FAULT, DONE };

enum {
	STATE_LOST = 0x01, HOPPER_LOADED, HOPPER_EMPTY, BOARD_INSERTED, BOARD_REMOVED,
	COVER_OPEN, COVER_CLOSED, KEY,
	PLAN_LOADED = 0x10, DEAL_STARTED, CARD_READ, CARD_ROUTED, CARD_LANDED, DEAL_DONE,
	EV_PAUSED, RESUMED, ABORTED, FAULT_CLEARED,
	CARD_UNREADABLE = 0x20, NOT_IN_PLAN, GATE_LATE, FEED_TIMEOUT, DECK_SHORT,
	REPEATED_CARD = 0x28, DOUBLE_FEED, JAM, WRONG_POCKET, BOARD_PULLED, COVER_OPENED,
	EV_HARDWARE
};

/* bits of dCapabilities */
enum {
	STORED_PLAN = 0x1, HOST_ROUTED = 0x2, EXIT_SENSORS = 0x4, BOARD_READER = 0x8,
	BOARD_LOCK = 0x10, FACE_SENSOR = 0x20, DOUBLE_FEED_SENSOR = 0x40, KEYS = 0x100,
	BY_CARD = 0x200, BY_POSITION = 0x400
};

enum { KEY_START = 1, KEY_STOP, KEY_RELEASE };

#define POCKETS		4
#define CAPACITY	20
#define PLAN_CARDS	54
#define HOPPER_CARDS	60
#define GATE_DEADLINE	1000000		/* us */
#define PACKET		64
#define QUEUE		64
#define NONE		255

/* The faults of a card that strikes() is called for. */
enum strike {
	STRIKE_MISREAD,			/* the value is the card that is read */
	STRIKE_UNREADABLE,
	STRIKE_FACE_UP,
	STRIKE_FAINT,			/* read correctly; the value is the quality */
	STRIKE_DOUBLE,			/* two cards at once */
	STRIKE_DOUBLE_UNSEEN,		/* .. not noticed by a sensor */
	STRIKE_TIMEOUT,
	STRIKE_JAM,			/* the value is the place */
	STRIKE_HARDWARE,
	STRIKE_WRONG_POCKET,		/* the value is the pocket */
	STRIKE_WRONG_POCKET_LATE,	/* .. noticed after the end of the deal */
	STRIKE_WRONG_POCKET_UNSEEN,	/* .. the sensor reports the planned pocket */
	STRIKES
};

/* The number of copies of each card in each pocket. */
typedef uint8_t pockets_t[POCKETS][54];

/* A real board. */
struct board {
	int number;
	pockets_t cards;
	/*
	 * The contents if the sensors and the reader had told the truth, and people had done
	 * what they were thought to have done. No host can see the difference.
	 */
	pockets_t told;
	/* cards that fell unseen with the card before them; part of both accounts */
	pockets_t under;
	int ran_short;		/* the machine reported a short deck */
};

struct machine {
	int routed, configured, configurations;
	uint32_t capabilities, clock;
	/* board and hopper */
	struct board *board;
	uint32_t insertion, insertions;
	int spent, doubt, locked, cover, board_number;
	uint8_t hopper[HOPPER_CARDS];
	int cards;			/* in the hopper */
	uint8_t reader[2];		/* the real cards there */
	int readers;
	/* the plan, and the upload of one */
	uint8_t plan[36 + PLAN_CARDS], block[36 + PLAN_CARDS];
	uint32_t plan_number, load_number, load_time;
	uint32_t load_length, load_got;	/* length 0: no load */
	int halted;
	/* the deal that runs or ran last */
	int state, fault, ending, phase;
	uint32_t deal_plan;
	int to_deal, position, done, read, pocket, quality;
	uint8_t in_pocket[8];
	int first[54];			/* position of the first reading, or -1 */
	int swapped[2], swapped_quality;/* two cards that are read as each other, or -1 */
	int late_position, late_card, late_pocket, late_planned;	/* noticed late, or -1 */
	uint32_t late_us, done_clock;	/* how late; the end of the deal */
	uint32_t gate_event, gate_time;
	int gate_given;
	int deals;			/* counted from 1; 0: none */
	/* events */
	uint8_t queue[QUEUE][32];
	uint32_t number;		/* of the next event */
	int queued;
	/* the last command */
	uint32_t sequence, detail;
	uint8_t request, error;
	uint32_t counters[16];
};

extern struct machine m;

/* -- provided by the user -------------------------------------------------------- */

/* Returns -1 if the fault does not happen now, otherwise its value, or 0. */
int strikes(enum strike strike);
void deal_begins(void);
/* done: as far as the machine knows, all cards lie in the pockets. Otherwise the deal is void. */
void deal_ends(int done);

/* -- transfers -------------------------------------------------------------------- */

extern uint8_t *const machine_descriptor;	/* 24 bytes */

/* Makes the descriptor. Call it after setting m.routed and m.capabilities. */
void describe(void);
/*
 * Handles a control transfer. data holds the data of the host, or gets the answer (256 bytes).
 * Returns the length of the answer, or -1 for a stall.
 */
int control(const uint8_t *setup, uint8_t *data);
/* Handles bulk data. Returns false for a stall. */
int bulk(const uint8_t *p, uint32_t length);
/* Host-routed machines only: handles a gate command. */
void gate(const uint8_t *p, uint32_t length);
/* Moves up to count events to buf. Returns how many. */
int fetch(uint8_t *buf, int count);
void configure(void);

/* -- mechanics, and acts of people -------------------------------------------------- */

/* Advances the mechanics by one step. m.clock is the time. */
void tick(void);
int running(void);
void board_insert(struct board *board, int number);
/* Also works during a deal. */
void board_remove(void);
/* Sets the contents of the hopper. */
void hopper_load(const uint8_t *cards, int count);
void cover_open(void);
void cover_close(void);
void key_press(int key);
/* Switches the machine off. The host's configuration of it ends that. */
void power_off(void);
/* Switches the machine off and on, and configures it. */
void power_cycle(void);
void reader_clear(void);
/* Puts the whole pack into cards, shuffled. next() returns a random number below its argument. */
void pack_shuffled(uint8_t cards[52], uint32_t (*next)(uint32_t below));
/* Writes the four hands as in PBN's deal tag: spades first, ace first. */
void pockets_text(const pockets_t cards, char text[80 * POCKETS]);

/* -- USB/IP (usbip.c) ---------------------------------------------------------------- */

/* Plugs the machine into vhci_hcd. Returns the socket, or -1. */
int usbip_attach(void);
/* Pulls the cable. The caller resets m.configured. */
void usbip_detach(int fd);
/* Serves one packet; the program ends when the cable is pulled */
void usbip_serve(int fd);
/* Returns true if the host waits for events. */
int usbip_waits(void);
/* Sends whole events as one transfer. */
void usbip_give(int fd, const uint8_t *events, int length);

#endif
