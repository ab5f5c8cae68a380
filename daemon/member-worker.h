/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thread that talks to the database of the event. libpq waits for the network, for seconds if
 * it has to, and the service must not. The thread has no other access to the service than a round:
 * what is to be asked, and the answers. It does rounds one after the other.
 */
#ifndef DAEMON_MEMBER_WORKER_H
#define DAEMON_MEMBER_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#include <dealbox/set.h>

#include "pool/folder.h"
#include "pool/pool.h"

#define ROUND_ERRANDS	50	/* reports of a round: the next ones may be more urgent by then */

/* A report of an insertion, or of the end of its worth */
struct errand {
	bool withdraw;
	char machine[128];
	uint32_t insertion;
	struct lease_copy copy;
	char hash[LEASE_ID];
	const char *outcome;		/* static */
	int64_t at;
	/* the answer: */
	bool answered;
	enum pool_standing standing;	/* of a report */
	bool holds;			/* withdraw: this PC holds the copy */
	int err;			/* the server refuses this one, and said why */
	char why[512];
};

/* A job whose set this PC has; a report that the server has. Texts are copies. */
struct round_offer {
	struct pool_offer offer;
	char session[POOL_SESSION];
};

struct round_record {
	struct pool_record record;
	char machine[128];
};

/* A machine of the event, or of this PC. */
struct round_machine {
	char pc[POOL_PC], name[128], state[32];
	uint32_t pace_s;
	uint64_t silent_s;
};

/* A PC of the event. */
struct round_pc {
	char pc[POOL_PC], state[8], by[POOL_NAME];
	uint32_t open;
	bool resting;
	uint64_t silent_s;
};

#define ROUND_MACHINES	64	/* that a PC tells of */

struct round {
	/* what is to be asked: */
	struct errand *errands;
	size_t errand_count;
	bool look;			/* tell of the machines here, and get those of the event */
	struct round_machine *here;
	size_t here_count;
	uint32_t open;			/* copies that are not begun, with look */
	bool said, said_rest;		/* somebody here has said whether this PC rests */
	char wish_of[POOL_PC];		/* a PC that is to rest, or not; "" = none */
	bool wish_rest;
	uint32_t set_of;		/* job whose set is wanted; 0 = none */
	struct lease ask; /* a request with no answer, without what is held; NONE = none */
	/* the answers: */
	int err;			/* what ended the round: no connection, or a refusal */
	struct dealbox_error error;
	bool fresh;			/* the connection is new; then these are known: */
	struct pool_event event;
	uint8_t key[POOL_KEY];
	struct round_record *records;
	size_t record_count;
	struct round_offer *offers;	/* each time */
	size_t offer_count;
	struct round_machine *machines;	/* with look: all of the event */
	size_t machine_count;
	struct round_pc *pcs;
	size_t pc_count;
	uint64_t left;			/* copies that somebody has to deal */
	bool rest_known;		/* then: */
	bool rest;			/* this PC is to rest */
	char rest_by[POOL_NAME];
	bool wish_answered;
	int wish_err;			/* it is refused */
	struct dealbox_error wish_error;
	int set_err;
	struct dealbox_error set_error;
	struct dealbox_set *set;
	char session[POOL_SESSION];
	struct lease_time sent;		/* when the request was */
	bool answered;			/* the request was; ask is the lease after the answer */
	int ask_err;			/* it was refused, with error; reports are heard */
};

/* Free and wipe what a round has. */
void round_clear(struct round *round);

struct worker;

/*
 * Starts the thread. done() is called from the loop with each round when it has ended, and with
 * NULL when the server says that there may be something to take, or that the connection was lost
 * between rounds. address and identity must live until worker_end(). Returns 0 or -errno.
 */
int worker_start(struct worker **worker, sd_event *loop, const char *address,
		 const struct pool_identity *identity,
		 void (*done)(struct round *round, void *context), void *context);
/* Let the thread do a round. The last one has ended. */
void worker_give(struct worker *worker, struct round *round);
/*
 * Ends the thread. Returns false if it still waits for the network: the process must then end by
 * _exit(). The round that it does is lost. NULL is allowed.
 */
bool worker_end(struct worker *worker);

#endif
