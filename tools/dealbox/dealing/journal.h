/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The journal of a job: how far the dealing of a set has come, on disk, so that
 * neither a power cut nor kill -9 lets an insertion be dealt twice or a board be
 * taken for good that nobody verified. It holds no card.
 *
 * One file for each machine. Each change is on disk before the call returns, and
 * the file is always whole: the old one or the new one.
 */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How one copy of one board stands. */
enum item_state {
	ITEM_TODO,
	ITEM_STARTED,	/* the machine may have been told to deal it into insertion */
	ITEM_EXACT,	/* verified */
	ITEM_STATES
};

struct item {
	uint32_t board;
	uint32_t copy;		/* from 1 */
	uint32_t insertion;	/* the last one that it was or may have been dealt into, 0 = none */
	uint32_t voids;		/* insertions that became void */
	enum item_state state;
};

struct journal {
	char path[4096];
	int lock;		/* descriptor, 0 = none */
	char digest[65];	/* of the set */
	uint32_t copies;
	bool doubt;		/* the last board became void: is it still there, with its cards? */
	char **files;		/* absolute paths of the deal files */
	size_t file_count;
	struct item *items;	/* in the order in which they are dealt */
	size_t item_count;
};

/*
 * Finds the place of the journal of the machine with that serial number (may be
 * empty): $XDG_STATE_HOME/dealbox, else ~/.local/state/dealbox, for root
 * /var/lib/dealbox; makes the folder, and keeps others from the same journal until
 * journal_free(). False, and said, when that cannot be.
 */
bool journal_place(struct journal *journal, const char *serial);

/*
 * Reads what stands at the place. 0; -ENOENT when there is none; -EBADMSG, and
 * said, when it is damaged; another -errno, and said, when it cannot be read.
 */
int journal_load(struct journal *journal);

/* Writes it. False, and said, when it is not on disk. */
bool journal_save(const struct journal *journal);

/* The first item that is not exact; NULL when all are. */
struct item *journal_next(const struct journal *journal);

/* Was anything dealt into that insertion, or may it have been? 0 is none. */
bool journal_has(const struct journal *journal, uint32_t insertion);

/* Has anything been dealt, or begun? */
bool journal_begun(const struct journal *journal);

/* Removes the file: the job is done. */
void journal_remove(const struct journal *journal);

/* Frees what it points to, and lets others have it. */
void journal_free(struct journal *journal);

#endif
