/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The world outside the computer: cards, boards, a machine that follows docs/protocol.md, and the
 * bus. It knows where each card really lies, and nothing of what the host thinks.
 *
 * The protocol fixes no number of cards: a plan has 3 entries here, and the machine 2 pockets. All
 * of it is plain data, so that a copy of the struct is a copy of the world.
 */
#ifndef EXPLORE_WORLD_H
#define EXPLORE_WORLD_H

#include <stdbool.h>

#include "wire.h"

#define CARDS	3		/* of a deal; numbered from 0 */
#define JOKER	CARDS
#define KINDS	(CARDS + 1)
#define POCKETS	2
#define BOARDS	2		/* of the job; numbered from 1 */
#define DECK	4		/* cards in the hopper, at most */
#define WIRE	12		/* events that the machine keeps */
#define GATES	2		/* gate commands on their way, at most */
#define NOBODY	255		/* no card */

enum kind {
	KIND_STORED,		/* holds the plan, and deals by card */
	KIND_ROUTED,		/* asks the host for the pocket of each card */
	KIND_POSITION,		/* holds the plan, has no reader, and deals by position */
	KIND_LOCKED,		/* as KIND_STORED, but locks the board, has a cover that can be
				 * opened, and takes its time to abort */
	MACHINES
};

/* An event, on the wire or in the computer. */
struct told {
	uint32_t number;
	uint32_t code;
	uint32_t arg[2];
	uint16_t type;
	uint8_t flags;
	uint8_t insertion;
	uint8_t position, card, pocket, quality;
};

/* The number of each card in each pocket of a board. */
struct contents {
	uint8_t count[POCKETS][KINDS];
};

/*
 * Reasons for which a wrong board may be called exact: no computer can see them (docs/exact.md).
 */
enum excuse {
	EXCUSE_READ = 1,	/* cards were read as each other, or a foreign one as another */
	EXCUSE_SPARE = 2,	/* unseen double feed, and the hopper had one to spare */
	EXCUSE_SENSOR = 4,	/* a sensor saw a card in another pocket */
	EXCUSE_FULL = 8,	/* the board was not empty: the operator had said that it was,
				 * or an exact one was put in again */
	EXCUSE_SWAPPED = 16,	/* the board was exchanged, and the machine did not see it */
	EXCUSE_LATER = 32,	/* the machine has not reported in time what it saw */
	EXCUSE_REPORTED = 64,	/* .. and now it has: that must be acted upon */
	EXCUSE_ORDER = 128,	/* a deck that was only counted was not in order */
};

/* Faults of the next card. */
enum mishap {
	MISHAP_NONE,
	MISHAP_MISREAD,		/* as the next card */
	MISHAP_MISREAD_OTHER,	/* as the one after that */
	MISHAP_POOR,		/* as the next card, with quality 1 */
	MISHAP_UNREADABLE,
	MISHAP_DOUBLE,		/* two are fed, and nobody sees it */
	MISHAP_DOUBLE_SEEN,
	MISHAP_FLOOR,		/* it falls on the floor */
	MISHAP_JAM,
	MISHAP_WRONG,		/* it falls into another pocket */
	MISHAP_WRONG_BEHIND,	/* .. which the machine reports behind DEAL_DONE */
	MISHAP_WRONG_LATER,	/* .. later than it should */
	MISHAP_WRONG_UNSEEN,	/* .. which the sensor does not see */
	MISHAP_FEED,		/* it does not come */
	MISHAPS
};

/* Contents of a filled hopper. */
enum filling {
	FILL_DECK,		/* with the cards of the deal */
	FILL_JOKER_FIRST,
	FILL_JOKER_LAST,
	FILL_SPARE,		/* and a card of the next deck */
	FILL_SHORT,		/* without the last card */
	FILL_TWICE,		/* with one card twice, and another missing */
	FILLINGS
};

/* Faults of the transfers of a command. */
enum transfers {
	TRANSFERS_GOOD,
	TRANSFERS_ANSWER_LOST,	/* the command is carried out, and the transfer fails */
	TRANSFERS_LOST,		/* it does not arrive */
	TRANSFERS_NONE,		/* nothing is answered, whatever is asked */
	TRANSFERS
};

/* A gate command. */
struct gate {
	uint32_t number;		/* of the CARD_READ that it answers */
	uint8_t insertion, position, pocket, reason;
};

struct world {
	enum kind kind;
	/* cards */
	uint8_t hopper[DECK], in_hopper;
	uint8_t reader;			/* card at the reader */
	bool stuck;			/* a cause that a fault may have is still there */
	bool irregular;			/* not the cards of one deal were put in */
	struct contents board, aside;
	bool present;			/* a board is in the machine */
	bool locked;			/* .. and cannot be taken out */
	bool cover;			/* open */
	bool aside_full;		/* one was taken out with cards, and not emptied */
	uint8_t aside_from;		/* .. from this insertion */
	/* the machine */
	bool on;
	uint8_t state, fault;
	uint8_t insertion, insertions;	/* that is there; that there were */
	bool spent, says_unspent, doubt;
	bool aborting;			/* between ABORT and ABORTED */
	uint8_t position, seen;		/* cards dealt; cards read, as bits */
	uint8_t counts[POCKETS];
	uint8_t wrong;			/* pocket + 1 of a card that fell wrong, unreported */
	bool wrong_later;
	uint32_t plan_id, deal_plan;
	uint8_t plan[CARDS];
	uint32_t load_id;		/* LOAD was sent, the block is to come */
	uint32_t sequence;		/* of the last command */
	uint8_t request, error;
	uint32_t next;			/* number of the next event */
	struct told wire[WIRE];
	uint8_t on_wire;
	uint8_t transfers;		/* enum transfers, of the next command */
	/* host-routed: the card at the reader waits for its gate command */
	bool waits;
	bool pausing;			/* PAUSE was accepted meanwhile */
	uint8_t read_as, quality, second, mishap;
	uint32_t asked;			/* number of its CARD_READ */
	struct gate gate[GATES];	/* on their way to the machine, the oldest first */
	uint8_t gates;
	/* the account */
	uint8_t deals;			/* that were started in this insertion */
	uint8_t excuses;		/* of this insertion */
	uint8_t misreads;
	bool vouched;			/* the operator said that it is empty, and it is not */
	uint8_t from;			/* insertion that its cards are from; 0: it was empty */
	bool refilled;			/* .. and it counts as exact */
	bool touched;			/* since the fault somebody did something */
};

/* Something forbidden that has happened, in words; NULL: nothing so far. */
extern const char *forbidden;

/* The pocket of each card, by board. */
extern const uint8_t planned[BOARDS + 1][CARDS];
extern const struct wire_descriptor world_machines[MACHINES];

void world_begin(struct world *w, enum kind kind);
/* Return true if the contents are exactly those of the board. */
bool contents_right(const struct contents *contents, unsigned int board);
bool contents_empty(const struct contents *contents);
bool world_deals(const struct world *w);
bool world_deck_whole(const struct world *w);

/* The next card falls, or DEAL_DONE is sent. */
void world_advance(struct world *w, enum mishap mishap);
bool world_may(const struct world *w, enum mishap mishap);
/* A gate command is on its way; it arrives; none has come in time. */
void world_send_gate(struct world *w, const struct wire_gate *gate);
void world_take_gate(struct world *w);
void world_late(struct world *w);
/* Forget the oldest gate command that is on its way. */
void world_drop_gate(struct world *w);
/* The machine reports what fell wrong before the end. */
void world_report(struct world *w);
void world_insert(struct world *w, bool full);
void world_remove(struct world *w);
void world_swap(struct world *w);
void world_fill(struct world *w, enum filling filling);
/* A card that was not seen yet is put into the empty hopper. */
void world_add_missing(struct world *w);
void world_take_card(struct world *w);
void world_cover(struct world *w, bool open);
void world_off(struct world *w);
void world_on(struct world *w);
/* STATE_LOST, as at a configuration or a restart of the firmware. */
void world_configure(struct world *w, unsigned int reason);
void world_pause(struct world *w);

/* A control transfer: bytes moved or -errno. */
int world_control(struct world *w, uint8_t type, uint8_t request, uint8_t *data, size_t length);
int world_bulk(struct world *w, const uint8_t *bytes, size_t size);

#endif
