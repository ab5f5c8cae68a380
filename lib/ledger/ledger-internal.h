/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the files of the ledger: the open database, its keys, and the only function that adds a
 * record. docs/ledger.md has the description.
 */
#ifndef LEDGER_H
#define LEDGER_H

#include <stdarg.h>

#include <sodium.h>
#include <sqlite3.h>

#include <dealbox/ledger.h>

#include "schema.h"

#define LEDGER_APPLICATION	0x44424c47	/* "DBLG" */

#define LEDGER_KEPT	48	/* statements, more than there are */

/* Keys, each for one purpose, derived from the key file. */
struct ledger_keys {
	uint8_t fingerprint[32];
	uint8_t seal[crypto_aead_xchacha20poly1305_ietf_KEYBYTES];
	uint8_t chain[32];
	uint8_t id[16];
};

/* A VFS of SQLite's for one ledger: see disk.c. */
struct ledger_disk {
	sqlite3_vfs vfs;		/* not registered while its name is NULL */
	sqlite3_vfs *below;
	char name[32];
	void (*wait)(int fd, void *context);	/* NULL: no callback */
	void *context;
};

struct dealbox_ledger {
	sqlite3 *db;
	struct ledger_disk disk;
	char *path;
	char *key_path;
	char *heads_path;
	int heads;			/* -1: not open */
	struct dealbox_ledger_head noted;	/* there last */
	int lock;			/* the key file, locked by the one who writes */
	bool write;
	bool damaged;			/* no further writes are allowed */
	uint32_t user;			/* user who adds sets and jobs, or DEALBOX_UID_NONE */
	struct ledger_keys keys;
	struct dealbox_ledger_head head;	/* while writing */
	sqlite3_stmt *insert[LEDGER_KINDS];
	sqlite3_stmt *select[LEDGER_KINDS];
	sqlite3_stmt *kept[LEDGER_KEPT];	/* of ledger_query() */
	size_t kept_count;
	struct dealbox_error error;
};

#define LEDGER_WAIT_MS	10

/* ---- disk.c ---- */
/*
 * Registers the VFS; returns its name, or NULL if out of memory. Close the database before
 * unregistering it.
 */
const char *ledger_disk_register(struct ledger_disk *disk);
void ledger_disk_unregister(struct ledger_disk *disk);
/* Waits until fd can be read; -1: for LEDGER_WAIT_MS. */
void ledger_disk_wait(const struct ledger_disk *disk, int fd);
/* Waits until the name of a new file is on the disk. */
int ledger_sync_folder(struct dealbox_ledger *l, const char *path);

/* ---- statements.c ---- */
/* Keeps an error and its sentence, and returns it. */
int ledger_fail(struct dealbox_ledger *l, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for SQLite's error of the last call: -EUCLEAN, -ENOSPC, -EBUSY, -EIO .. */
int ledger_fail_sql(struct dealbox_ledger *l, const char *doing);
/* -EUCLEAN: nothing more is written. */
int ledger_fail_damaged(struct dealbox_ledger *l, const char *what);

/* Prepares a statement that lives until ledger_forget(). NULL: l->error.code has the error. */
sqlite3_stmt *ledger_prepare(struct dealbox_ledger *l, const char *sql);
/* Binds arguments from number first on, by format as below. */
int ledger_bind(struct dealbox_ledger *l, sqlite3_stmt *stmt, int first, const char *format,
		va_list ap);
/*
 * A statement with its arguments bound, by format: i = int64_t, u = uint64_t (below 2^63), o = the
 * same or 0 for NULL, t = text or NULL, b = const void * and size_t; pointers must be valid until
 * the last step. NULL: l->error.code has the error. End it with ledger_done().
 */
sqlite3_stmt *ledger_query(struct dealbox_ledger *l, const char *sql, const char *format, ...);
sqlite3_stmt *ledger_vquery(struct dealbox_ledger *l, const char *sql, const char *format,
			    va_list ap);
/* Ends the use of a statement: its arguments may be freed, and its read transaction ends. */
void ledger_done(struct dealbox_ledger *l, sqlite3_stmt *stmt);
/* Frees all statements; call it before closing the database. */
void ledger_forget(struct dealbox_ledger *l);
/* Gets the first column of the first row as a number; -ENOENT if there is no row. */
int ledger_number(struct dealbox_ledger *l, int64_t *out, const char *sql,
		  const char *format, ...);
/* Gets the record of a query for seq and hash, which takes a number; -ENOENT: none, and 0. */
int ledger_find_head(struct dealbox_ledger *l, struct dealbox_ledger_head *head, const char *sql,
		     uint64_t number);
#define LEDGER_LAST	"SELECT seq, hash FROM chain ORDER BY seq DESC LIMIT 1 OFFSET ?"

/* Runs SQL without a result; doing is for the sentence of an error. */
int ledger_run(struct dealbox_ledger *l, const char *sql, const char *doing);

int64_t ledger_now(void);

/* ---- chain.c ---- */
/* Begins a write transaction; end it with commit, which rolls back if error is not 0. */
int ledger_begin(struct dealbox_ledger *l);
int ledger_commit(struct dealbox_ledger *l, int error);

/*
 * Adds a record within a transaction: the values of its table's columns, by
 * format as above. Its number is in *seq. The table has no column with a field.
 */
int ledger_append(struct dealbox_ledger *l, enum ledger_kind kind, uint64_t *seq,
		  const char *format, ...);
/* The same with the fields of an insertion; format is for the columns without a field. */
int ledger_append_insertion(struct dealbox_ledger *l, enum ledger_kind kind, uint64_t *seq,
			    const struct dealbox_ledger_insertion *insertion, const char *format,
			    ...);
/* Returns the value of a field that is a number. */
int64_t ledger_field_number(const struct ledger_field *field,
			    const struct dealbox_ledger_insertion *insertion);

/*
 * Computes the hash of the record: of the hash before it, its number, its kind and its columns.
 * -ENOENT: it is not in its table.
 */
int ledger_hash(struct dealbox_ledger *l, enum ledger_kind kind, uint64_t seq,
		const uint8_t before[DEALBOX_LEDGER_HASH], uint8_t hash[DEALBOX_LEDGER_HASH]);

/* Sealing: nonce, then cipher text; bound to the number of the record that holds it. */
#define LEDGER_SEAL_EXTRA	(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES + \
				 crypto_aead_xchacha20poly1305_ietf_ABYTES)
void ledger_seal(const struct dealbox_ledger *l, uint64_t seq, const void *plain, size_t size,
		 uint8_t *sealed);
/*
 * size is that of the sealed bytes, LEDGER_SEAL_EXTRA or more; -EBADMSG: they were not sealed with
 * our key.
 */
int ledger_unseal(const struct dealbox_ledger *l, uint64_t seq, const uint8_t *sealed,
		  size_t size, void *plain);

/* Returns the number that the next record will have, within a transaction. */
static inline uint64_t ledger_next(const struct dealbox_ledger *l)
{
	return l->head.record + 1;
}

/*
 * The keyed fingerprint of a deal. Deals that are turned have the same: before the
 * hash is taken, the hands are turned so that the lowest card of the turning hands
 * is in the first. A talon (a last hand of another size) stays where it is.
 */
int64_t ledger_fingerprint(const struct ledger_keys *keys, const struct dealbox_deal *deal);

/* ---- records.c ---- */
/*
 * Makes the check of Law 6D2 that a job needs for each board: dealbox_ledger_find_repeat() of a
 * board in the ledger. -ENOENT and a kept sentence if the set has no such board.
 */
int ledger_find_board_repeat(struct dealbox_ledger *l, const char *session, uint64_t set,
			     unsigned int number, struct dealbox_ledger_repeat *repeat);

/* ---- ledger-verify.c ---- */
/*
 * Checks the chain from the record after `from` (which is trusted) and reports damage. Returns 0,
 * -EUCLEAN, or why it cannot be checked; *records is the number of records.
 */
int ledger_walk(struct dealbox_ledger *l, const struct dealbox_ledger_head *from,
		const struct dealbox_ledger_head *wanted,
		void (*damage)(const char *sentence, void *context), void *context,
		uint64_t *records);

/* Implements dealbox_ledger_verify(), with the given heads only (may be NULL). */
int ledger_verify(struct dealbox_ledger *l, const struct dealbox_ledger_head *wanted,
		  void (*damage)(const char *sentence, void *context), void *context,
		  uint64_t *records);

/* ---- heads.c ---- */
/* Gets the last head of the file beside the ledger. -ENOENT: there is none. Others: a sentence. */
int ledger_heads_last(struct dealbox_ledger *l, struct dealbox_ledger_head *head);
/* Checks that this head, if there is one, is in the ledger. -ESTALE and a sentence if not. */
int ledger_heads_check(struct dealbox_ledger *l);
/* Begins the file of heads with the current one; each commit is noted from then on. */
int ledger_heads_open(struct dealbox_ledger *l);
void ledger_heads_note(struct dealbox_ledger *l);

#endif
