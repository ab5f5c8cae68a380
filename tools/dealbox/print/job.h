/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A job of the service: what was dealt, and, for who may see cards, the deals of its set. */
#ifndef PRINT_JOB_H
#define PRINT_JOB_H

#include <dealbox/ledger.h>

#include "rows.h"
#include "service/service-objects.h"

struct print_insertion {
	unsigned int board, copy, number;
	char machine[128];
	int64_t begun, ended;		/* microseconds since 1970, UTC; ended 0: it is not */
	char outcome[24];
};

struct print_job {
	unsigned long number;
	uint64_t set;
	char session[128];
	unsigned int boards, copies;	/* copies 0: without limit */
	unsigned int exact;		/* copies that are recorded as exact */
	int64_t added;			/* microseconds since 1970, UTC */
	uint32_t user;			/* who added it: a uid, or DEALBOX_UID_* */
	char head[DEALBOX_LEDGER_HEAD_TEXT];
	struct print_insertion *insertions;
	size_t count;
};

/* Read a job. Call print_job_free() in any case. Returns false after reporting an error. */
bool print_job_read(sd_bus *bus, unsigned long number, struct print_job *out);

/*
 * The same from the file of a ledger, which this user can read: of who deals without the service.
 */
bool print_job_of_ledger(const char *path, unsigned long number, struct print_job *out);

void print_job_free(struct print_job *job);

/* Room for one more insertion. NULL: out of memory. */
struct print_insertion *print_insertion_new(struct print_job *job);

/*
 * Get the deals of the set of a job in the file of a ledger, as PBN in memory. The ledger has a
 * record of who sees them before a card is read. Returns a descriptor, or -1 after reporting an
 * error.
 */
int print_job_deals_of_ledger(const char *path, unsigned long number);

/*
 * Ask the service for the deals of a set, as PBN. Its polkit may ask the user, and the ledger has a
 * record of it before a card is seen. Returns a descriptor, or -1 after reporting an error.
 */
int print_job_deals(sd_bus *bus, uint64_t set);

/*
 * Ask the service whether the set of a job is marked as played and no job of it is open. Returns
 * false after reporting that it is not, or an error. No card is asked for.
 */
bool print_job_is_played(sd_bus *bus, const struct print_job *job);

/* Add the table of a dealing receipt, which names no card. */
void print_job_receipt(struct rows *rows, const struct print_job *job, const struct words *words);

/* Write the line for the foot of pages: "36 × 10 exact, ledger head 12:ab..". */
#define JOB_FOOTER	256
void print_job_footer(const struct print_job *job, const struct words *words,
		      char text[JOB_FOOTER]);

#endif
