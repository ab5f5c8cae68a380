/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pool of an event: the copies that its PCs take, and what they have reported, in one
 * PostgreSQL database. schema.sql has the rules; here is how they are asked.
 *
 * Not exported by the library: command and service link it. Functions return 0 or -errno, and then
 * fill *error.
 */
#ifndef POOL_H
#define POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dealbox/error.h>

#include "pool/deals.h"
#include "pool/lease.h"

#define POOL_VERSION	3	/* of schema.sql */

#define POOL_SESSION	128	/* size of a session's name */
#define POOL_NAME	128	/* and of that of a PC */

struct pool;

/*
 * Connects to the database; see struct database for the address and errors. Returns NULL after
 * filling *error, also if libpq is not installed.
 */
struct pool *pool_open(const char *address, struct dealbox_error *error);

/* Ends the connection. NULL is allowed. */
void pool_close(struct pool *pool);

/* Terms of an event. They never change once it has begun. */
struct pool_terms {
	const char *name;
	uint32_t lease_s;	/* how long a PC may begin boards without the server */
	uint32_t margin_s;	/* and how long a board that was begun may take */
	uint8_t key[POOL_KEY];	/* secret of director and PCs: hashes of deals are made with it */
	bool rehearsal;		/* boards of emulated machines count: no card is dealt */
};

/*
 * Makes an event in the database, all of it or nothing. -EEXIST: it has one; -EACCES: this user may
 * not make schemas or roles; -ETIMEDOUT: nobody knows whether it is made: keep the key.
 */
int pool_init(struct pool *pool, const struct pool_terms *terms, struct dealbox_error *error);

struct pool_event {
	char name[128];
	uint32_t lease_s, margin_s;
	bool rehearsal;
	uint8_t check[POOL_KEY];	/* pool_key_check() of its key */
};

/* Gets the event. -ENODATA: there is none; -EPROTONOSUPPORT: it is of another version. */
int pool_get_event(struct pool *pool, struct pool_event *event, struct dealbox_error *error);

struct pool_pc {
	const char *name, *state;	/* here, lost or left */
	const char *lost_by; /* the user who declared it lost or removed it, NULL = nobody */
	uint64_t silent_s;		/* since it last asked */
	uint64_t lease_s;		/* that its lease still lasts, 0 = it has ended */
	uint64_t held, recorded, surplus;	/* copies */
	bool admitted;			/* it has the key of the event */
	bool resting;		/* it is to take no copies, and to give back what is not begun */
	const char *rest_by;	/* PC or director's user who has said so, or not, last; "" = none */
};

/* The same for screens, which need it often. */
struct pool_rest {
	const char *pc, *state;
	uint64_t open;			/* copies that it has not begun, as it has told */
	bool resting;
	const char *by;
	uint64_t silent_s;
};

struct pool_job {
	uint32_t id;
	const char *session;
	int priority;
	bool open;
	uint64_t boards, copies;	/* copies of each board */
	uint64_t recorded, held;	/* copies of all boards */
};

/* An exact board besides the one that counts for its copy, or that was taken out of play. */
struct pool_surplus {
	uint64_t id;
	uint32_t job;
	const char *session;
	uint32_t board, copy;
	const char *pc, *machine;
	uint64_t insertion;
	const char *by, *at; /* the director who says that it is out of play; NULL = nobody does */
};

/* A copy that nobody holds: its board was taken out of play. pcs are those who have dealt it. */
struct pool_again {
	uint32_t job;
	const char *session;
	uint32_t board, copy;
	const char *pcs;
};

/* A machine of a PC, as that PC has told. */
struct pool_machine {
	const char *pc, *name;
	const char *state;	/* dealbox_operator_name() */
	uint32_t pace_s;	/* for a board, 0 = it has dealt none yet */
	uint64_t silent_s;	/* since the PC has told */
};

/* Called for each row; texts are valid during the call. NULL = not wanted. */
struct pool_view {
	void (*pc)(const struct pool_pc *pc, void *context);
	void (*job)(const struct pool_job *job, void *context);
	void (*rest)(const struct pool_rest *rest, void *context);	/* of those admitted */
	void (*machine)(const struct pool_machine *machine, void *context);
	void (*left)(uint64_t copies, void *context);	/* that somebody has to deal; once */
	void (*surplus)(const struct pool_surplus *surplus, void *context);
	void (*again)(const struct pool_again *again, void *context);
	void *context;
};

/* Tells of all PCs, jobs and surplus boards, as they are at one time. */
int pool_look(struct pool *pool, const struct pool_view *view, struct dealbox_error *error);

/*
 * Declares a PC lost: its copies are open again. What it still reports of them is surplus if
 * another PC holds the copy, or has reported it.
 * -EBUSY: its lease, with the margin, has not ended; -ENOENT: there is no such PC.
 */
int pool_lose(struct pool *pool, const char *pc, uint32_t *opened, struct dealbox_error *error);

/* ---- for the director: pool-director.c ------------------------------------- */

/* The same for good: it can never ask again, and its user may join as another PC. */
int pool_remove(struct pool *pool, const char *pc, uint32_t *opened, struct dealbox_error *error);

/*
 * Gets the public key of a PC. -ENOENT: there is no such PC. Compare it with what its screen says.
 */
int pool_get_pc_key(struct pool *pool, const char *name, uint8_t public_key[POOL_KEY],
		    struct dealbox_error *error);

/*
 * Gives a PC the key of the event, which makes it able to deal. -ENOTUNIQ: it has another public
 * key by now; -EINVAL: nothing can be sealed for that key; -ENOENT: the PC is lost, or not there.
 */
int pool_admit(struct pool *pool, const uint8_t key[POOL_KEY], const char *name,
	       const uint8_t public_key[POOL_KEY], struct dealbox_error *error);

struct pool_new_job {
	const char *session;
	uint32_t copies;	/* of each board */
	int priority;
	bool replay;		/* its deals may have been dealt for other sessions */
	const struct dealbox_set *set;	/* every board has a number */
};

/*
 * Adds a job, whose set every PC gets that the director has admitted; pcs is their number. -EEXIST:
 * a deal is of another session, or in a job of this one; -ENOKEY: no PC is admitted; -ETIMEDOUT:
 * nobody knows whether the job is there; pool_look() tells; -EINVAL: a number or deal is twice in
 * the set; -EKEYREJECTED: a PC was admitted with another key than this, or by somebody else.
 */
int pool_add_job(struct pool *pool, const uint8_t key[POOL_KEY], const struct pool_new_job *new_job,
		 uint32_t *job, uint32_t *pcs, struct dealbox_error *error);

/*
 * Gives a PC that was admitted the set of a job that was added before. Repeating changes nothing.
 * -ENOENT: there is no such PC or job, or the PC is lost; -ENOKEY: it is not admitted; -EBADMSG:
 * the set is not that of the job; -EKEYREJECTED as above.
 */
int pool_give(struct pool *pool, const uint8_t key[POOL_KEY], const char *name, uint32_t job,
	      const struct dealbox_set *set, struct dealbox_error *error);

/* Opens or closes a job. Nobody can take copies of a closed one. -ENOENT: there is no such job. */
int pool_open_job(struct pool *pool, uint32_t job, bool open, struct dealbox_error *error);

/*
 * Wants a PC to rest: to take no copies, and to give back what it has not begun; or to take copies
 * again. The PC does it when it hears of that. -ENOENT: there is no such PC.
 */
int pool_let_rest(struct pool *pool, const char *pc, bool rest, struct dealbox_error *error);

/* Records that a surplus board was taken out of play. -ENOENT: it is none. */
int pool_dismiss(struct pool *pool, uint64_t surplus, struct dealbox_error *error);

/*
 * Takes back the record of the board that counts for a copy, which is then open again; pc is who
 * had reported it. -ENOENT: none counts.
 */
int pool_void(struct pool *pool, const struct lease_copy *copy, char pc[POOL_NAME],
	      struct dealbox_error *error);

/* ---- for a PC: pool-pc.c ------------------------------------------------ */

/* Makes a random UUID, and gets the time for a lease. pool_time() returns 0 or -errno. */
void pool_uuid(char uuid[LEASE_ID]);
int pool_time(struct lease_time *now);

/*
 * Joins the event, as the user of the connection. token is a new UUID, and the PC's identity from
 * then on: it is on disk already, where only the PC can read it, for an answer may be lost. A
 * repetition changes nothing. -ENOTUNIQ: this user has joined, or the name is taken.
 */
int pool_join(struct pool *pool, const char *name, const uint8_t public_key[POOL_KEY],
	      const char *token, struct dealbox_error *error);

/*
 * Gets the key of the event, also for a PC that has left. print is the fingerprint of the event
 * that a person has given to this PC. -ENOKEY: the director has not admitted it yet; -EBADMSG: the
 * key is of another event, or for another PC; -EPERM: no PC of this key has joined as this user.
 */
int pool_get_key(struct pool *pool, const uint8_t public_key[POOL_KEY],
		 const uint8_t secret_key[POOL_KEY], const char *print, uint8_t key[POOL_KEY],
		 struct dealbox_error *error);

/*
 * Begins a lease anew that cannot be read, if somebody has declared the PC lost, or it has left:
 * then it holds nothing. -EBUSY: nobody has; -EPERM as above.
 */
int pool_forget_lease(struct pool *pool, const uint8_t public_key[POOL_KEY], struct lease *lease,
		      struct dealbox_error *error);

/*
 * Gets the set of a job, free it, and its session. -ENOENT: this PC has none of it, or is lost;
 * -EPERM: it has left; -EBADMSG: see pool_open_set().
 */
int pool_get_set(struct pool *pool, const uint8_t key[POOL_KEY], const uint8_t public_key[POOL_KEY],
		 const uint8_t secret_key[POOL_KEY], uint32_t job, struct dealbox_set **set,
		 char session[POOL_SESSION], struct dealbox_error *error);

/*
 * Sends the request of a lease that has no answer yet, and gives the lease the answer. Save it
 * then. sent is the time of this moment. -ETIMEDOUT: nobody knows whether it was heard; send it
 * again. -EPERM: the PC has not joined, or has left; -ESTALE: an old backup of the server was
 * restored; -ENOTUNIQ: another PC has this one's identity. Deal nothing more then: a person has to
 * look.
 */
int pool_request(struct pool *pool, const char *token, struct lease *lease,
		 const struct lease_time *sent, struct dealbox_error *error);

/* An insertion that has ended, and is in the ledger of the PC. */
struct pool_report {
	const char *machine;
	uint32_t insertion;
	struct lease_copy copy;
	const char *hash;	/* of the deal: pool_hash() */
	const char *outcome;	/* dealbox_ledger_outcome_name() */
	int64_t at;		/* µs since 1970 */
};

enum pool_standing { POOL_COUNTS, POOL_SURPLUS, POOL_WITHDRAWN, POOL_NO_BOARD };

/*
 * Reports an insertion. A repetition changes nothing. -ENOENT: the event has no such copy;
 * -EBADMSG: the event has another deal there; -ENOTUNIQ: another insertion was reported with this
 * number.
 */
int pool_report(struct pool *pool, const char *token, const struct pool_report *report,
		enum pool_standing *standing, struct dealbox_error *error);

/*
 * Takes the report of an exact board back. holds is out: the PC holds the copy (lease_regain()).
 * -ENOENT: there is no such report.
 */
int pool_withdraw(struct pool *pool, const char *token, const char *machine, uint32_t insertion,
		  bool *holds, struct dealbox_error *error);

/*
 * Tells what all machines of this PC do: state and pace of each; pc and silent_s are the server's;
 * and how many of its copies it has not begun.
 */
int pool_tell_machines(struct pool *pool, const char *token, const struct pool_machine *machines,
		       size_t count, uint32_t open, struct dealbox_error *error);

/*
 * Gets whether this PC is to rest, and who has said so last (POOL_NAME bytes, "" = nobody). said:
 * what somebody at this PC has said since, or NULL; it counts until another one says otherwise.
 */
int pool_get_rest(struct pool *pool, const char *token, const bool *said, bool *rest,
		  char by[POOL_NAME], struct dealbox_error *error);

/*
 * The same as pool_let_rest(), for somebody at this PC. -ENOENT: there is no such PC, or this one
 * has no say: it is not admitted, or was declared lost or removed.
 */
int pool_wish_rest(struct pool *pool, const char *token, const char *pc, bool rest,
		   struct dealbox_error *error);

/*
 * Asks the server to say when there may be something to take, and waits for that. pool_wait()
 * returns 1 when it has said so, 0 when fd can be read, or -ETIMEDOUT.
 */
int pool_listen(struct pool *pool, struct dealbox_error *error);
int pool_wait(struct pool *pool, int fd, struct dealbox_error *error);

/* A job whose set this PC has. */
struct pool_offer {
	uint32_t id;
	const char *session;
	uint32_t copies;
	int priority;
	bool replay;
};

/* A board that this PC has reported. */
struct pool_record {
	const char *machine;
	uint32_t insertion;
	struct lease_copy copy;
	enum pool_standing standing;
};

/*
 * Call each() for every one; it stops if that returns non-zero, and returns it. Records come
 * ordered by machine, as strcmp() does, and insertion. Also for a PC that has left, which still
 * reports.
 */
int pool_get_offers(struct pool *pool, const char *token,
		    int (*each)(const struct pool_offer *offer, void *context), void *context,
		    struct dealbox_error *error);
int pool_get_records(struct pool *pool, const char *token,
		     int (*each)(const struct pool_record *record, void *context), void *context,
		     struct dealbox_error *error);

#endif
