/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The side of a PC: which copies of the event it holds, until when it may begin them, and the
 * request that it has not got an answer to. Pure: time, random numbers and the disk are the
 * caller's. schema.sql is the other side.
 *
 * Save the lease on disk (lease_print()) behind lease_ask(), before the request is sent, and behind
 * each answer, before a copy is begun. Then a program or PC that is killed at any time knows what
 * it holds, and repeats a request that may have been heard.
 */
#ifndef POOL_LEASE_H
#define POOL_LEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LEASE_ID	37	/* a UUID as text */

struct lease_copy {
	uint32_t job, board, copy;
};

/*
 * A time of this PC: CLOCK_BOOTTIME, which goes on while the PC sleeps, and which no change of the
 * time of day moves; and the boot that it counts from.
 */
struct lease_time {
	char boot[LEASE_ID];
	uint64_t ms;
};

/* The requests that the server counts. */
enum lease_request {
	LEASE_NONE,
	LEASE_TAKE,		/* more copies, and the lease anew */
	LEASE_GIVE_BACK,	/* copies that were not begun */
	LEASE_BACK,		/* a lost PC has forgotten what it held */
	LEASE_LEAVE,		/* the PC leaves the event */
	LEASE_REQUESTS
};

struct lease {
	uint64_t asked;			/* number of the last request */
	enum lease_request request;	/* that has no answer yet, or NONE */
	char nonce[LEASE_ID]; /* tells it from that of another PC with this one's identity */
	uint32_t want;			/* TAKE: number of copies */
	const uint32_t *jobs; /* TAKE: of these only; NULL = any. The caller's, and not saved */
	size_t jobs_count;
	const struct lease_copy *useless; /* TAKE: not these. The caller's, and not saved */
	size_t useless_count;
	bool resting;			/* takes no copy until somebody says so */
	bool said;			/* somebody here has said so, or the opposite: tell it */
	struct lease_time until;	/* copies may be begun before it */
	bool lost;			/* somebody has declared the PC lost: ask BACK */
	struct lease_copy *held;
	size_t held_count;
	struct lease_copy *given;	/* GIVE_BACK: not held any more */
	size_t given_count;
};

/* Free the lists. The lease is then one of a PC that has just joined, as after zeroing it. */
void lease_clear(struct lease *lease);

bool lease_holds(const struct lease *lease, const struct lease_copy *copy);

/* Returns how long copies may still be begun, in ms; 0 = no longer, or not since the PC started. */
uint64_t lease_left(const struct lease *lease, const struct lease_time *now);

/* Returns true if an insertion for this copy may be begun. */
bool lease_may_begin(const struct lease *lease, const struct lease_copy *copy,
		     const struct lease_time *now);

/*
 * Makes a request. want is for TAKE, copies are for GIVE_BACK: the caller makes sure that none of
 * them is being dealt, or recorded and not reported. nonce is a new random UUID. From here on the
 * PC does not hold what it gives back; with LEAVE, nothing.
 * -EBUSY: one has no answer yet; -EINVAL: a lost PC asks for anything but BACK, or another for
 * that; -ENOENT: it does not hold such a copy; -ENOMEM.
 */
int lease_ask(struct lease *lease, enum lease_request request, uint32_t want,
	      const struct lease_copy *copies, size_t count, const char nonce[LEASE_ID]);

/* Input of lease_next(). */
struct lease_need {
	uint32_t open;		/* copies that it holds, and may still begin */
	uint32_t block;		/* that its machines want to hold; 0 = none can deal */
	bool dry;		/* the server had no more, and has not said otherwise since */
	uint64_t lease_ms;	/* how long a lease of this event lasts */
};

/*
 * Chooses the next request: the one that has no answer, BACK for a lost PC, and TAKE when half of
 * the block is dealt, with *want, or when half of the lease has passed. LEASE_NONE: none is needed.
 */
enum lease_request lease_next(const struct lease *lease, const struct lease_need *need,
			      const struct lease_time *now, uint32_t *want);

/*
 * Takes the answer to TAKE. sent is the time before this request, or its repetition that was
 * answered, was sent: the server counts from later. copies are those that the request got.
 * lease_ms = 0: the PC is lost. -EINVAL: no such request; -ENOMEM, after which nothing has changed:
 * repeat the request.
 */
int lease_answer_take(struct lease *lease, const struct lease_time *sent, uint64_t lease_ms,
		      const struct lease_copy *copies, size_t count);

/* Takes the answer to another request; lost: that of GIVE_BACK said that the PC is lost. */
void lease_answer(struct lease *lease, bool lost);

/* The copy was recorded here, or reported: it is not held any more. */
void lease_recorded(struct lease *lease, const struct lease_copy *copy);

/* A record was withdrawn, and the server says that the PC holds the copy again. */
int lease_regain(struct lease *lease, const struct lease_copy *copy);

/* Write the lease as text, and read it. lease_parse() gets a lease to lease_clear(). -EBADMSG. */
void lease_print(const struct lease *lease, FILE *out);
int lease_parse(const char *text, struct lease *lease);

#endif
