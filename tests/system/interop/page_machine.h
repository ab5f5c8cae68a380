/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A dealing machine written from docs/protocol.md alone. It shares no line and
 * no constant with dealbox: that is its use. This is the machine with its cards;
 * who uses it carries the transfers, is its operator, and says what goes wrong.
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
	STRIKE_MISREAD,			/* gives the card that is read */
	STRIKE_UNREADABLE,
	STRIKE_FACE_UP,
	STRIKE_FAINT,			/* read right, with the quality that it gives */
	STRIKE_DOUBLE,			/* two cards at once */
	STRIKE_DOUBLE_UNSEEN,		/* .. and no sensor says so */
	STRIKE_TIMEOUT,
	STRIKE_JAM,			/* gives where */
	STRIKE_HARDWARE,
	STRIKE_WRONG_POCKET,		/* gives where it falls */
	STRIKE_WRONG_POCKET_LATE,	/* .. seen behind the end of the deal */
	STRIKE_WRONG_POCKET_UNSEEN,	/* .. the sensor lies */
	STRIKES
};

/* The number of copies of each card in each pocket. */
typedef uint8_t pockets_t[POCKETS][54];

/* A real board. */
struct board {
	int number;
	pockets_t cards;
	/*
	 * The same, as it would be had the sensors and the reader not lied, and people
	 * done what they were thought to have done: the rest no host can see.
	 */
	pockets_t told;
	/* those that fell unseen with the card before them, in both */
	pockets_t under;
	int ran_short;		/* and the machine said so */
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
	/* the plan, or what has come of it */
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
	int late_position, late_card, late_pocket, late_planned;	/* seen too late, or -1 */
	uint32_t late_us, done_clock;	/* so long behind the end of the deal */
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

/* -- what its user provides ------------------------------------------------------ */

/* Returns -1 if the fault does not happen now, otherwise its value, or 0. */
int strikes(enum strike strike);
void deal_begins(void);
/* done: all its cards lie in the pockets, as far as the machine knows. Else it is void */
void deal_ends(int done);

/* -- transfers -------------------------------------------------------------------- */

extern uint8_t *const machine_descriptor;	/* 24 bytes */

/* After m.routed and m.capabilities were set. */
void describe(void);
/*
 * A control transfer: data is what came, or takes the answer (256 bytes).
 * Gives the length of the answer, or -1: stall.
 */
int control(const uint8_t *setup, uint8_t *data);
/* Bulk data; false: stall */
int bulk(const uint8_t *p, uint32_t length);
/* Host-routed: the host's answer to a card */
void gate(const uint8_t *p, uint32_t length);
/* Moves up to count events to buf; gives how many */
int fetch(uint8_t *buf, int count);
void configure(void);

/* -- mechanics, and what people do -------------------------------------------------- */

/* One step of the mechanics; m.clock is what time it is */
void tick(void);
int running(void);
void board_insert(struct board *board, int number);
/* Also in a deal */
void board_remove(void);
/* Everything that the hopper holds then, and whether it is shuffled */
void hopper_load(const uint8_t *cards, int count);
void cover_open(void);
void cover_close(void);
void key_press(int key);
/* Off, and on again */
void power_cycle(void);
void reader_clear(void);
/* Puts the whole pack into cards, shuffled; next gives a random number below its argument */
void pack_shuffled(uint8_t cards[52], uint32_t (*next)(uint32_t below));
/* The four hands as in a deal tag: spades first, ace first */
void pockets_text(const pockets_t cards, char text[80 * POCKETS]);

/* -- USB/IP (usbip.c) ---------------------------------------------------------------- */

/* Plugs it into vhci_hcd: the socket, or -1 */
int usbip_attach(void);
/* Pulls the cable. m.configured is the caller's */
void usbip_detach(int fd);
/* Serves one packet; the program ends when the cable is pulled */
void usbip_serve(int fd);
/* Returns true if the host waits for events. */
int usbip_waits(void);
/* Gives it those (whole events), as one transfer */
void usbip_give(int fd, const uint8_t *events, int length);

#endif
