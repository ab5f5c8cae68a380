/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The heads of the certificates' logs that PCs have reported, and whether each continues the one
 * before. PostgreSQL cannot check a signature, so whoever audits the event does.
 */
#ifndef POOL_HEADS_H
#define POOL_HEADS_H

#include <dealbox/log.h>

#include "pool/pool.h"

/* A head as it is in the database. Nothing of it has been checked. */
struct pool_head {
	const char *pc, *login;	/* login: its user in PostgreSQL */
	const char *origin;	/* of the log */
	const char *note;	/* the head as text */
	const char *proof; /* that it continues the one before, which contains it; NULL = none */
	uint8_t key[DEALBOX_SIGNER_KEY];	/* with which it is said to be signed */
};

/* PC: gets the last head of a log, whoever has reported it; free *note; NULL = none. */
int pool_get_head(struct pool *pool, const char *origin, char **note, struct dealbox_error *error);

/* PC: reports a head; pc of it is not used. A repetition changes nothing. */
int pool_report_head(struct pool *pool, const char *token, const struct pool_head *head,
		     struct dealbox_error *error);

/* Director: calls each() for every head, log by log, in the order in which they were reported. */
int pool_get_heads(struct pool *pool,
		   int (*each)(const struct pool_head *head, void *context), void *context,
		   struct dealbox_error *error);

enum head_fault {
	HEAD_GOOD,
	HEAD_FORM, /* it is no head of that log */
	HEAD_KEY, /* it is signed with another key than that of the log, or with none */
	HEAD_OLDER, /* it has fewer certificates than the one before */
	HEAD_ANOTHER, /* it does not continue the one before, or nothing proves it */
	HEAD_FAULTS
};

/* A log, as far as its heads were judged. Zero it first. */
struct head_log {
	char pc[POOL_NAME];	/* that has reported the last good one; the caller's */
	char login[POOL_NAME];	/* of the PC that has reported last */
	uint32_t heads, wrong;
	bool known;		/* key is that of the log */
	uint8_t key[DEALBOX_SIGNER_KEY];
	struct dealbox_checkpoint last;	/* that the next one must continue */
};

/*
 * Judges the next head of a log. Also after a fault the next one is judged by it, so that each
 * break shows once; but not if it is another user's: then it is not the log that is broken.
 */
enum head_fault head_judge(struct head_log *log, const struct pool_head *head);

#endif
