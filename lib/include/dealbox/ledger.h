/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ledger: the durable record of what was dealt. docs/ledger.md describes
 * the file, its secrets, and its constraints.
 *
 * Every function returns 0 or a negative errno unless it says otherwise;
 * dealbox_ledger_error() then has a sentence, which never contains a card.
 *	-EUCLEAN	the ledger is damaged; nothing was written to it
 *	-ENOKEY		the key file is missing, cannot be read, or is open to others
 *	-EKEYREJECTED	the key file belongs to another ledger
 *	-EBUSY		another program writes to this ledger
 *	-ESTALE		the ledger was replaced by an older one, or continued elsewhere
 *	-EPROTONOSUPPORT the ledger was written by a newer dealbox
 *	-EROFS		it was opened for reading only
 * Times are UTC in microseconds since 1970. Text is UTF-8.
 */
#ifndef DEALBOX_LEDGER_H
#define DEALBOX_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/dealbox.h>

#include <dealbox/api.h>
#include <dealbox/deal.h>
#include <dealbox/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dealbox_ledger;

#define DEALBOX_LEDGER_WRITE	(1u << 0)
#define DEALBOX_LEDGER_CREATE	(1u << 1)	/* with WRITE: if it does not exist */
#define DEALBOX_LEDGER_RESTORED	(1u << 2)	/* with WRITE: open an older ledger, to accept it */

/**
 * dealbox_ledger_new - make a ledger object that is not open yet
 *
 * Returns an object to be freed by dealbox_ledger_free(), or NULL if out of memory.
 */
DEALBOX_API struct dealbox_ledger *dealbox_ledger_new(void);

/**
 * dealbox_ledger_free - close and free; wipes the keys. NULL is allowed
 * @ledger: the ledger
 */
DEALBOX_API void dealbox_ledger_free(struct dealbox_ledger *ledger);

/**
 * dealbox_ledger_open - open the file, once for each object
 * @ledger: from dealbox_ledger_new()
 * @path: the database. The key is in the file of the same name with ".key"
 *	appended, which only its owner may read
 * @flags: DEALBOX_LEDGER_*
 *
 * Creates a ledger only if neither database nor key exist: an empty or broken file is never
 * overwritten. -ENOENT: there is none, and CREATE was not given. -EINVAL: an unknown flag, or
 * CREATE or RESTORED without WRITE.
 *
 * With WRITE the whole ledger is checked first, as by dealbox_ledger_verify(): some 5 ms for an
 * evening of 36 boards. Otherwise the last 64 records are checked. The file of the same name with
 * ".heads" appended has the past heads; a ledger that is older than the last of them is refused
 * with -ESTALE, and dealbox_ledger_accept_restore() accepts it.
 */
DEALBOX_API int dealbox_ledger_open(struct dealbox_ledger *ledger, const char *path,
				    unsigned int flags);

/**
 * dealbox_ledger_wait - set a callback for the time while the ledger waits for the disk
 * @ledger: the ledger that the program writes
 * @wait: returns when fd can be read, or 10 ms later if fd is -1; NULL, the default: no callback
 * @context: passed to wait
 *
 * A disk can take seconds to write. wait() is called in the thread that called the ledger; it may
 * do anything but use the ledger.
 */
DEALBOX_API void dealbox_ledger_wait(struct dealbox_ledger *ledger,
				     void (*wait)(int fd, void *context), void *context);

#define DEALBOX_UID_NONE	0xffffffff	/* no user: a key or button */
#define DEALBOX_UID_UNKNOWN	0xfffffffe	/* a program that ended before it was asked */

/**
 * dealbox_ledger_user - set the user who adds sets and jobs from now on
 * @ledger: the ledger
 * @uid: the user; DEALBOX_UID_NONE, the default: not recorded
 *
 * Each added set or job is recorded together with DEALBOX_ACT_ADD of that user.
 */
DEALBOX_API void dealbox_ledger_user(struct dealbox_ledger *ledger, uint32_t uid);

/**
 * dealbox_ledger_error - the error of the last call that failed
 * @ledger: the ledger
 *
 * Returns a sentence that is valid until the next call with this object.
 */
DEALBOX_API const struct dealbox_error *dealbox_ledger_error(const struct dealbox_ledger *ledger);

/* ---- sets --------------------------------------------------------------- */

/* A board of a set. Start from zeros. */
struct dealbox_ledger_board {
	unsigned int number;	/* 1..DEALBOX_BOARD_DEALT_MAX */
	struct dealbox_deal deal;
	uint32_t reserved[4];	/* 0 */
};

/* The place of an earlier deal. */
struct dealbox_ledger_repeat {
	unsigned int board;		/* of the given set */
	unsigned int other_board;	/* the earlier board */
	char session[128];		/* its session; "" = in the same set */
	uint32_t reserved[4];	/* 0 */
};

/**
 * dealbox_ledger_add_set - record a set, or find the existing one
 * @ledger: open for writing
 * @session: the session of the set, not empty, at most 127 bytes
 * @boards: the boards; stored sealed
 * @count: number of boards, at least 1
 * @set: out: number of the set
 * @repeat: out, may be NULL: with -EEXIST, the deals that are the same
 *
 * The same boards for the same session are the same set, and get its number.
 * -EEXIST: the same deal twice in the set, also if it is turned (the hands of
 * one are the hands of the other, rotated by one, two or three seats).
 * -EINVAL: an empty session, no boards, or the same number twice; reserved is not 0.
 */
DEALBOX_API int dealbox_ledger_add_set(struct dealbox_ledger *ledger, const char *session,
				       const struct dealbox_ledger_board *boards, size_t count,
				       uint64_t *set, struct dealbox_ledger_repeat *repeat);

/**
 * dealbox_ledger_find_sets - call a function for every set with these deals, newest first
 * @ledger: open
 * @boards: as they were given to dealbox_ledger_add_set(), in any order
 * @count: number of boards
 * @each: called with the number of a set, for any session; returns 0 to continue, else the
 *	function ends and returns that value
 * @context: for @each
 *
 * -EINVAL: reserved of a board is not 0.
 */
DEALBOX_API int dealbox_ledger_find_sets(struct dealbox_ledger *ledger,
					 const struct dealbox_ledger_board *boards, size_t count,
					 int (*each)(uint64_t set, void *context), void *context);

struct dealbox_ledger_set {
	uint64_t set;
	int64_t at_us;
	char session[128];
	unsigned int boards;		/* number of boards */
	bool played;			/* DEALBOX_ACT_PLAYED: its deals are no secret any more */
	unsigned int open;		/* number of its jobs that are open or paused */
};

/**
 * dealbox_ledger_sets - call a function for sets, newest first
 * @ledger: open
 * @set: number of a single set, 0 = every set
 * @each: called with a set, which is valid during the call; returns 0 to continue, else the
 *	function ends and returns that value
 * @context: for @each
 */
DEALBOX_API int dealbox_ledger_sets(struct dealbox_ledger *ledger, uint64_t set,
				    int (*each)(const struct dealbox_ledger_set *set,
						void *context),
				    void *context);

/**
 * dealbox_ledger_secret - tell whether somebody may still have to play a deal of a set
 * @ledger: open
 * @set: number of the set
 * @keeper: out: the set that keeps the deals secret: @set itself if it does, otherwise another one
 *	with one of its deals; 0 = none. Turned deals count as the same
 *
 * Whoever shows the deals of a set checks first that this returns 0, or that the caller may see
 * cards. Returns 1 if @keeper is not played, or has an open or paused job; 0 if each set with one
 * of the deals is played and has none. -ENOENT: there is no such set.
 */
DEALBOX_API int dealbox_ledger_secret(struct dealbox_ledger *ledger, uint64_t set,
				      uint64_t *keeper);

/**
 * dealbox_ledger_find_repeat - find a deal that was dealt for another session (Law 6D2)
 * @ledger: open
 * @session: the current session of the deal
 * @deal: the deal; turned deals count as the same
 * @repeat: out, may be NULL
 *
 * Returns 1 if it was, otherwise 0. A deal counts as dealt when a board with it was
 * recorded, or when its outcome is unknown; void boards do not count.
 */
DEALBOX_API int dealbox_ledger_find_repeat(struct dealbox_ledger *ledger, const char *session,
					   const struct dealbox_deal *deal,
					   struct dealbox_ledger_repeat *repeat);

/**
 * dealbox_ledger_get_deal - get the unsealed deal of a board
 * @ledger: open
 * @set: number of the set
 * @number: of the board
 * @deal: out; the caller wipes it
 *
 * -ENOENT: the set has no such board.
 */
DEALBOX_API int dealbox_ledger_get_deal(struct dealbox_ledger *ledger, uint64_t set,
					unsigned int number, struct dealbox_deal *deal);

/* ---- jobs --------------------------------------------------------------- */

/* options of a job */
#define DEALBOX_JOB_REPLAY	(1u << 0)	/* deals of other sessions are allowed */
#define DEALBOX_JOB_SETS	(1u << 1)	/* sets in a row, not copies in a row */
#define DEALBOX_JOB_DESCENDING	(1u << 2)	/* highest board first */
#define DEALBOX_JOB_BY_READER	(1u << 3)	/* the machine's board reader chooses */
#define DEALBOX_JOB_AUTO_START	(1u << 4)	/* starts when the board goes in */
#define DEALBOX_JOB_STOP_CARD	(1u << 5)	/* a stop card is between the decks */
#define DEALBOX_JOB_REVERSED	(1u << 6)	/* pockets in reversed order */
#define DEALBOX_JOB_CAPTURE	(1u << 7)	/* read originals; copy n is pocket n - 1 */
#define DEALBOX_JOB_BY_POSITION	(1u << 8)	/* sorted decks, whose cards are counted */
/* Bits 9 to 15 are not for programs. */

enum dealbox_ledger_job_state {
	DEALBOX_LEDGER_JOB_OPEN,	/* to be dealt */
	DEALBOX_LEDGER_JOB_PAUSED,
	DEALBOX_LEDGER_JOB_CANCELLED,
	DEALBOX_LEDGER_JOB_DONE,
};

struct dealbox_ledger_job {
	uint64_t job;
	uint64_t set;
	int64_t at_us;
	char session[128];
	unsigned int options;		/* DEALBOX_JOB_*; others: of dealboxd */
	unsigned int copies;		/* of each board, 0 = without limit */
	int priority;			/* the highest goes first */
	unsigned int boards;		/* number of boards of the job */
	unsigned int recorded;		/* copies that are recorded as exact */
	unsigned int voided;		/* insertions with another outcome */
	enum dealbox_ledger_job_state state;
	uint32_t uid;			/* user who added it, or DEALBOX_UID_NONE: not recorded */
	uint8_t law;			/* as in struct dealbox_ledger_new_job */
	uint8_t dealer;
};

/* A job that is not recorded yet. Start from zeros: 0 and NULL are the defaults. */
struct dealbox_ledger_new_job {
	uint64_t set;			/* number of the set; 0 with DEALBOX_JOB_CAPTURE or a law */
	const unsigned int *boards;	/* numbers of the boards of the set to deal */
	size_t count;			/* number of boards */
	unsigned int copies; /* of each, at most DEALBOX_BOARD_DEALT_MAX; 0 = without limit */
	unsigned int options;		/* DEALBOX_JOB_* */
	int priority;			/* the highest goes first */
	/*
	 * Deal a shuffled pack by position: 1 + enum dealbox_rules, and the dealer's seat (enum
	 * dealbox_actor). 0 = the deals of a set, or a capture
	 */
	uint8_t law;
	uint8_t dealer;
	/*
	 * Ids of the machines that may deal it, each of 1 to 127 bytes, terminated by NULL; NULL or
	 * an empty list: any machine
	 */
	const char *const *machines;
	uint32_t reserved[8];	/* 0 */
};

/**
 * dealbox_ledger_add_job - record a job
 * @ledger: open for writing
 * @new_job: the job; needed during the call only
 * @job: out: number of the job
 * @repeat: out, may be NULL: with -EEXIST, the deal that was dealt before
 *
 * -EEXIST: a deal was dealt for another session, and the job does not have
 * DEALBOX_JOB_REPLAY (Law 6D2). -ENOENT: no such set, or no such board in it.
 * -EINVAL: no boards, a board or a machine named twice, an unknown option or law, a dealer without
 * a law, a set with DEALBOX_JOB_CAPTURE or a law, or neither.
 */
DEALBOX_API int dealbox_ledger_add_job(struct dealbox_ledger *ledger,
				       const struct dealbox_ledger_new_job *new_job, uint64_t *job,
				       struct dealbox_ledger_repeat *repeat);

/**
 * dealbox_ledger_jobs - call a function for jobs, oldest first
 * @ledger: open
 * @job: number of a single job, 0 = every job
 * @each: called with a job, which is valid during the call; returns 0 to continue, else the
 *	function ends and returns that value
 * @context: for @each
 */
DEALBOX_API int dealbox_ledger_jobs(struct dealbox_ledger *ledger, uint64_t job,
				    int (*each)(const struct dealbox_ledger_job *job,
						void *context),
				    void *context);

enum dealbox_ledger_copy_state {
	DEALBOX_LEDGER_COPY_OPEN,	/* to be dealt (again) */
	DEALBOX_LEDGER_COPY_DEALING,	/* an insertion was begun and has no verdict */
	DEALBOX_LEDGER_COPY_RECORDED,	/* exact */
	DEALBOX_LEDGER_COPY_SKIPPED,
};

struct dealbox_ledger_copy {
	unsigned int board;
	unsigned int copy;		/* from 1 */
	unsigned int tries;		/* insertions begun for it */
	enum dealbox_ledger_copy_state state;
};

/**
 * dealbox_ledger_copies - call a function for every copy of a job that was begun,
 * skipped or recorded, by board and copy. All other copies are open
 * @ledger: open
 * @job: number of the job
 * @each: as in dealbox_ledger_jobs()
 * @context: for @each
 */
DEALBOX_API int dealbox_ledger_copies(struct dealbox_ledger *ledger, uint64_t job,
				      int (*each)(const struct dealbox_ledger_copy *copy,
						  void *context), void *context);

/**
 * dealbox_ledger_boards - call a function for the boards of a job, ascending
 * @ledger: open
 * @job: number of the job
 * @each: called with the number of a board; as in dealbox_ledger_jobs()
 * @context: for @each
 */
DEALBOX_API int dealbox_ledger_boards(struct dealbox_ledger *ledger, uint64_t job,
				      int (*each)(unsigned int board, void *context),
				      void *context);

/**
 * dealbox_ledger_set_boards - call a function for the boards of a set, ascending
 * @ledger: open
 * @set: number of the set
 * @each: called with the number of a board; as in dealbox_ledger_jobs(). It is not called for a
 *	set that does not exist
 * @context: for @each
 */
DEALBOX_API int dealbox_ledger_set_boards(struct dealbox_ledger *ledger, uint64_t set,
					  int (*each)(unsigned int board, void *context),
					  void *context);

/**
 * dealbox_ledger_machines - call a function for the machines that may deal a job, in its order
 * @ledger: open
 * @job: number of the job
 * @each: called with the id of a machine, which is valid during the call; as in
 *	dealbox_ledger_jobs(). It is not called for a job that any machine may deal
 * @context: for @each
 */
DEALBOX_API int dealbox_ledger_machines(struct dealbox_ledger *ledger, uint64_t job,
					int (*each)(const char *machine, void *context),
					void *context);

/* ---- insertions --------------------------------------------------------- */

enum dealbox_ledger_outcome {
	DEALBOX_LEDGER_NONE,		/* no verdict (yet) */
	DEALBOX_LEDGER_EXACT,		/* an exact duplicate */
	DEALBOX_LEDGER_DIFFERS,		/* complete, but not as planned */
	DEALBOX_LEDGER_VOID,		/* stopped: reason = DEALBOX_EV_* */
	DEALBOX_LEDGER_UNKNOWN,		/* the contents of the board are unknown */
	DEALBOX_LEDGER_CAPTURED,	/* read by a capture */
};

/*
 * Returns the name for programs, "exact"; "" for DEALBOX_LEDGER_NONE, "?" out of range. Names are
 * static and never change.
 */
DEALBOX_API const char *dealbox_ledger_outcome_name(enum dealbox_ledger_outcome outcome);

/* An insertion. To record one, start from zeros. */
struct dealbox_ledger_insertion {
	uint64_t id;			/* number of the record */
	uint64_t job;			/* number of the job */
	unsigned int board;
	unsigned int copy;		/* from 1 */
	char machine[128];		/* its permanent name: serial number or port */
	uint32_t number;		/* the machine's number of the insertion */
	uint32_t plan;
	int64_t begun_us;
	int64_t ended_us;		/* 0 without a verdict */
	enum dealbox_ledger_outcome outcome;
	unsigned int reason;		/* DEALBOX_EV_*, 0 = none */
	unsigned int differences;
	unsigned int events;		/* of the trace, 0 = no trace */
	uint32_t reserved[8];	/* 0 */
};

/**
 * dealbox_ledger_begin - record that an insertion is about to be dealt
 * @ledger: open for writing
 * @insertion: job, board, copy, machine, number, which is not 0, and plan; out: id and begun_us
 *
 * When it returns 0 the record is on disk, and START may be sent; otherwise START
 * must not be sent.
 * -EALREADY: this insertion has been dealt, or captured and the job is no capture.
 * -EINPROGRESS: another insertion of this copy has no verdict yet. -EEXIST: the copy
 * is recorded, or skipped, or the deal has meanwhile been dealt for another session.
 * -ENOENT: not a copy of the job. -ECANCELED: the job is paused or cancelled.
 */
DEALBOX_API int dealbox_ledger_begin(struct dealbox_ledger *ledger,
				     struct dealbox_ledger_insertion *insertion);

/**
 * dealbox_ledger_end - record the outcome of an insertion
 * @ledger: open for writing
 * @insertion: id, from dealbox_ledger_begin(); outcome, which is not DEALBOX_LEDGER_NONE; reason,
 *	the event that stopped it, or 0; and differences, the number of cards that are not where
 *	they were planned
 * @events: the trace, stored sealed; may be NULL unless the outcome is EXACT,
 *	DIFFERS or CAPTURED
 * @count: number of entries
 *
 * Trace and verdict are written to disk together or not at all. -EALREADY: it has a verdict.
 * -EINVAL: an outcome without its required trace, or exact with differences.
 */
DEALBOX_API int dealbox_ledger_end(struct dealbox_ledger *ledger,
				   const struct dealbox_ledger_insertion *insertion,
				   const struct dealbox_event *events, size_t count);

/**
 * dealbox_ledger_insertions - call a function for insertions, in order of time
 * @ledger: open
 * @job: number of the job, 0 = of every job
 * @open_only: only those without a verdict
 * @each: as in dealbox_ledger_jobs()
 * @context: for @each
 */
DEALBOX_API int
dealbox_ledger_insertions(struct dealbox_ledger *ledger, uint64_t job, bool open_only,
			  int (*each)(const struct dealbox_ledger_insertion *insertion,
				      void *context),
			  void *context);

/* What the ledger has of an insertion under one name. Names are for programs and never change. */
struct dealbox_ledger_field {
	const char *name;	/* "board" */
	const char *text;	/* NULL: a number; of an outcome or an event: its name, "": none */
	int64_t number;
	uint32_t reserved[4];	/* 0 */
};

/**
 * dealbox_ledger_get_field - get what is recorded of an insertion, one after the other
 * @insertion: from dealbox_ledger_insertions() or dealbox_ledger_last()
 * @n: 0, 1 ..
 * @field: out; valid as long as the insertion
 *
 * All members of the insertion but its id. Returns false if there are no more.
 */
DEALBOX_API bool dealbox_ledger_get_field(const struct dealbox_ledger_insertion *insertion,
					  unsigned int n, struct dealbox_ledger_field *field);

/**
 * dealbox_ledger_last - get the last insertion of a machine
 * @ledger: open
 * @machine: permanent name of the machine, as in dealbox_ledger_begin()
 * @last: out
 *
 * -ENOENT: the machine has none.
 */
DEALBOX_API int dealbox_ledger_last(struct dealbox_ledger *ledger, const char *machine,
				    struct dealbox_ledger_insertion *last);

/**
 * dealbox_ledger_add_emulation - record that a program plays the machine
 * @ledger: open for writing
 * @insertion: number of the record
 *
 * Record it before START is sent: no card is dealt, and whoever certifies the insertion later, with
 * that machine or without it, must be able to tell.
 *
 * -ENOENT: there is no such insertion; -EALREADY: it is recorded.
 */
DEALBOX_API int dealbox_ledger_add_emulation(struct dealbox_ledger *ledger, uint64_t insertion);

/**
 * dealbox_ledger_emulated - tell whether a program has played the machine
 * @ledger: open
 * @insertion: number of the record
 *
 * Returns 1 if that was recorded, 0 if not: also of insertions in a ledger that an older dealbox
 * wrote.
 */
DEALBOX_API int dealbox_ledger_emulated(struct dealbox_ledger *ledger, uint64_t insertion);

/**
 * dealbox_ledger_counts - tell whether an insertion is the exact one that counts for its copy
 * @ledger: open
 * @insertion: from dealbox_ledger_insertions() or dealbox_ledger_last()
 *
 * Returns 1 if its copy is recorded, and it is the last exact insertion of the copy. Returns 0 if
 * not: it is not exact, DEALBOX_ACT_REDEAL has revoked its record, or the copy was dealt again.
 */
DEALBOX_API int dealbox_ledger_counts(struct dealbox_ledger *ledger,
				      const struct dealbox_ledger_insertion *insertion);

/**
 * dealbox_ledger_get_trace - get the unsealed trace of an insertion
 * @ledger: open
 * @insertion: number of the record
 * @events: out: allocated; wipe and free() it. It contains cards
 * @count: out
 *
 * -ENOENT: there is none.
 */
DEALBOX_API int dealbox_ledger_get_trace(struct dealbox_ledger *ledger, uint64_t insertion,
					 struct dealbox_event **events, size_t *count);

/* A machine's signed statement about an insertion: docs/protocol.md, section 5.3. */
struct dealbox_ledger_attestation {
	uint8_t public_key[DEALBOX_PUBLIC_KEY_SIZE];	/* as the machine says itself */
	uint8_t statement[DEALBOX_STATEMENT_SIZE];
	uint8_t signature[DEALBOX_SIGNATURE_SIZE];
	uint8_t nonce[DEALBOX_NONCE_SIZE];	/* secret as long as the cards are; stored sealed */
};

/**
 * dealbox_ledger_add_attestation - record what the machine has signed
 * @ledger: open for writing
 * @insertion: number of the record
 * @attestation: what it has signed; it is not checked
 *
 * -ENOENT: there is no such insertion; -EALREADY: it has one.
 */
DEALBOX_API int dealbox_ledger_add_attestation(struct dealbox_ledger *ledger, uint64_t insertion,
				const struct dealbox_ledger_attestation *attestation);

/**
 * dealbox_ledger_get_attestation - get what the machine has signed, with the unsealed nonce
 * @ledger: open
 * @insertion: number of the record
 * @attestation: out; wipe it
 *
 * -ENOENT: there is none.
 */
DEALBOX_API int dealbox_ledger_get_attestation(struct dealbox_ledger *ledger, uint64_t insertion,
					       struct dealbox_ledger_attestation *attestation);

/* ---- operators' acts ---------------------------------------------------- */

enum dealbox_ledger_act_kind {
	DEALBOX_ACT_PAUSE = 1,
	DEALBOX_ACT_RESUME,
	DEALBOX_ACT_CANCEL,
	DEALBOX_ACT_SKIP, /* a copy */
	DEALBOX_ACT_REDEAL, /* a copy: its record no longer counts */
	DEALBOX_ACT_PRIORITY, /* value = the new priority, an int */
	DEALBOX_ACT_EMPTIED, /* the operator confirms that the board is empty */
	DEALBOX_ACT_REVEAL, /* cards were shown */
	DEALBOX_ACT_STOP, /* emergency stop */
	DEALBOX_ACT_ADD, /* a job was added, or a set: value = its number */
	DEALBOX_ACT_RESTORE, /* a restored ledger was accepted; value = number of lost records */
	DEALBOX_ACT_ACCEPT, /* a new machine may deal */
	DEALBOX_ACT_PLAYED, /* everybody has played a set: value = its number */
	DEALBOX_ACT_UNPLAYED, /* it was marked by mistake: value = its number */
	DEALBOX_ACT_COPIES, /* a job gets more copies: value = how many in all; 0 = unlimited */
	DEALBOX_ACT_KEEP, /* a job is kept to machines, see dealbox_ledger_keep_job() */
	DEALBOX_ACT_KINDS
};

/* An act of an operator. Start from zeros: 0 and NULL are "none". */
struct dealbox_ledger_act {
	enum dealbox_ledger_act_kind act;
	uint32_t uid;		/* the operator's user, or DEALBOX_UID_* */
	uint64_t job;		/* 0 = none */
	unsigned int board;	/* 0 = none */
	unsigned int copy;	/* 0 = none */
	int64_t value;
	const char *machine;	/* NULL = none */
	uint32_t reserved[8];	/* 0 */
};

/**
 * dealbox_ledger_add_act - record an act of an operator
 * @ledger: open for writing
 * @act: the act; never contains a card
 *
 * -ENOENT: no such job or set, or no such board in it. -EBUSY: SKIP or REDEAL of a copy that
 * is being dealt. -EINVAL: a field that the act needs is missing; fewer copies than the job has, or
 * copies of a capture.
 */
DEALBOX_API int dealbox_ledger_add_act(struct dealbox_ledger *ledger,
				       const struct dealbox_ledger_act *act);

/**
 * dealbox_ledger_keep_job - let only these machines deal a job from now on
 * @ledger: open for writing
 * @job: number of the job
 * @uid: the operator's user, or DEALBOX_UID_*
 * @machines: their ids, as in struct dealbox_ledger_new_job; NULL or empty: any machine
 *
 * Records an act for each, or one without a machine, all of them or none; the acts' values are 0,
 * 1, .. 0 begins the list anew. dealbox_ledger_machines() has the new list. -ENOENT: no such job;
 * -EINVAL: an id is not valid, or named twice.
 */
DEALBOX_API int dealbox_ledger_keep_job(struct dealbox_ledger *ledger, uint64_t job, uint32_t uid,
					const char *const *machines);

/**
 * dealbox_ledger_knows - tell whether a machine is known to the ledger, and so may deal
 * @ledger: open
 * @machine: permanent name of the machine, as in dealbox_ledger_begin()
 *
 * Returns 1 if somebody has accepted it (DEALBOX_ACT_ACCEPT) or it has dealt, otherwise 0.
 */
DEALBOX_API int dealbox_ledger_knows(struct dealbox_ledger *ledger, const char *machine);

/* ---- the whole ---------------------------------------------------------- */

/* A place in the chain of records: the number of the last record, and its hash. */
#define DEALBOX_LEDGER_HASH	32
struct dealbox_ledger_head {
	uint64_t record;	/* 0 = the ledger is empty */
	uint8_t hash[DEALBOX_LEDGER_HASH];
};

#define DEALBOX_LEDGER_HEAD_TEXT 96 /* size of "NUMBER:HASH" with the terminating zero */

/**
 * dealbox_ledger_head_format - write a head as text: NUMBER:HASH
 * @head: the head
 * @text: out
 */
DEALBOX_API void dealbox_ledger_head_format(const struct dealbox_ledger_head *head,
					    char text[DEALBOX_LEDGER_HEAD_TEXT]);

/**
 * dealbox_ledger_head_parse - parse the text of a head
 * @text: as dealbox_ledger_head_format() writes it
 * @head: out
 *
 * -EINVAL: not a head.
 */
DEALBOX_API int dealbox_ledger_head_parse(const char *text, struct dealbox_ledger_head *head);

/**
 * dealbox_ledger_get_head - get the head of the last record
 * @ledger: open
 * @head: out
 *
 * A head that is kept elsewhere proves later that nothing up to it was cut off or changed.
 */
DEALBOX_API int dealbox_ledger_get_head(struct dealbox_ledger *ledger,
					struct dealbox_ledger_head *head);

/**
 * dealbox_ledger_verify - read and check everything
 * @ledger: open, or one that dealbox_ledger_open() found damaged
 * @head: an earlier head that must still be there; NULL: the last of the file of heads, if
 *	there is one
 * @damage: called for each damage with a sentence, which is valid during the call; may be NULL
 * @context: for @damage
 * @records: out, may be NULL: number of records that were read
 *
 * Writes nothing. Returns 0 if the ledger is sound, otherwise -EUCLEAN.
 */
DEALBOX_API int dealbox_ledger_verify(struct dealbox_ledger *ledger,
				      const struct dealbox_ledger_head *head,
				      void (*damage)(const char *sentence, void *context),
				      void *context, uint64_t *records);

/**
 * dealbox_ledger_accept_restore - continue with an older ledger
 * @ledger: open for writing, with RESTORED if it is older than its heads
 * @uid: the user who decides it
 * @boards: out, may be NULL: number of boards of open jobs that are in doubt
 *
 * Boards dealt since its last record are unknown. Therefore each board of an open job gets an
 * insertion with unknown outcome (the deal counts as dealt), those jobs are paused, and
 * dealbox_ledger_restored() shows that no board in any machine is known. All of this is one
 * transaction.
 */
DEALBOX_API int dealbox_ledger_accept_restore(struct dealbox_ledger *ledger, uint32_t uid,
					      unsigned int *boards);

/**
 * dealbox_ledger_restored - find when a restored ledger was last accepted
 * @ledger: open
 * @record: out: number of that record, 0 = never. A machine whose last insertion is older may
 *	have dealt since
 */
DEALBOX_API int dealbox_ledger_restored(struct dealbox_ledger *ledger, uint64_t *record);

/**
 * dealbox_ledger_export - write every record as one line of JSON, in order
 * @ledger: open
 * @out: the output; the caller flushes it and checks for errors
 *
 * The sealed columns are left out, so it contains no card.
 */
DEALBOX_API int dealbox_ledger_export(struct dealbox_ledger *ledger, FILE *out);

/**
 * dealbox_ledger_backup - copy the ledger to a new file, even while it is being written
 * @ledger: open
 * @path: must not exist
 *
 * If it returns 0, the copy is on disk and verified; otherwise there is no file. The key is
 * not copied: keep it elsewhere, the copy is useless without it. -EEXIST: the file exists.
 */
DEALBOX_API int dealbox_ledger_backup(struct dealbox_ledger *ledger, const char *path);

#ifdef __cplusplus
}
#endif
#endif
