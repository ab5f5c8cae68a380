// SPDX-License-Identifier: LGPL-2.1-or-later
/* The ledger as a whole: verification, export for people and programs, backup. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ledger-internal.h"

/* musl lacked the call for a long time; a C library that has it has the flag */
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE	(1 << 0)

static int renameat2(int folder, const char *from, int other, const char *to, unsigned int flags)
{
	return (int)syscall(SYS_renameat2, folder, from, other, to, flags);
}
#endif

struct report {
	void (*damage)(const char *sentence, void *context);
	void *context;
	unsigned int count;
	int failed;		/* it could not be checked, which says nothing about the ledger */
};

static void report(struct report *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void report(struct report *r, const char *format, ...)
{
	char sentence[512];
	va_list ap;

	r->count++;
	if (!r->damage)
		return;
	va_start(ap, format);
	vsnprintf(sentence, sizeof(sentence), format, ap);
	va_end(ap);
	r->damage(sentence, r->context);
}

/* A read error is damage, unless memory is short, or a lock or a right is missing. */
static bool is_damage(struct report *r, int err)
{
	if (err == -EUCLEAN || err == -EIO)
		return true;
	r->failed = err;
	return false;
}

/* The results of reading one record of the chain. */
static void walk_record(struct dealbox_ledger *l, struct report *r, uint64_t seq, int64_t kind,
			const uint8_t before[DEALBOX_LEDGER_HASH],
			const uint8_t hash[DEALBOX_LEDGER_HASH])
{
	uint8_t computed[DEALBOX_LEDGER_HASH];
	int err;

	if (kind < LEDGER_SET || kind >= LEDGER_KINDS) {
		report(r, "record %llu is of no known kind", (unsigned long long)seq);
		return;
	}
	err = ledger_hash(l, kind, seq, before, computed);
	if (err == -ENOENT)
		report(r, "record %llu is gone from %s", (unsigned long long)seq,
		       ledger_tables[kind].name);
	else if (err && is_damage(r, err))
		report(r, "record %llu in %s cannot be read: %s", (unsigned long long)seq,
		       ledger_tables[kind].name, sqlite3_errmsg(l->db));
	else if (!err && memcmp(computed, hash, DEALBOX_LEDGER_HASH))
		report(r, "record %llu in %s, or the one before it, was changed",
		       (unsigned long long)seq, ledger_tables[kind].name);
}

int ledger_walk(struct dealbox_ledger *l, const struct dealbox_ledger_head *from,
		const struct dealbox_ledger_head *wanted,
		void (*damage)(const char *sentence, void *context), void *context,
		uint64_t *records)
{
	struct report r = { damage, context, 0, 0 };
	struct dealbox_ledger_head last = *from;
	bool found = !wanted || !wanted->record;
	uint64_t seq, count = 0;
	sqlite3_stmt *stmt;
	int rc = SQLITE_ERROR;

	stmt = ledger_query(l, "SELECT seq, kind, hash FROM chain WHERE seq > ? ORDER BY seq", "u",
			    from->record);
	while (stmt && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		seq = sqlite3_column_int64(stmt, 0);
		count++;
		if (seq != last.record + 1)
			report(&r, "records %llu to %llu are gone",
			       (unsigned long long)last.record + 1, (unsigned long long)seq - 1);
		last.record = seq;
		if (sqlite3_column_bytes(stmt, 2) != DEALBOX_LEDGER_HASH) {
			report(&r, "the hash of record %llu was changed", (unsigned long long)seq);
			continue;
		}
		walk_record(l, &r, seq, sqlite3_column_int64(stmt, 1), last.hash,
			    sqlite3_column_blob(stmt, 2));
		memcpy(last.hash, sqlite3_column_blob(stmt, 2), DEALBOX_LEDGER_HASH);
		if (wanted && wanted->record == seq) {
			found = true;
			if (memcmp(wanted->hash, last.hash, DEALBOX_LEDGER_HASH))
				report(&r, "record %llu is not the one that the head names: what "
				       "lies before it was changed", (unsigned long long)seq);
		}
	}
	if (rc != SQLITE_DONE &&
	    is_damage(&r, stmt ? ledger_fail_sql(l, "verifying") : l->error.code))
		report(&r, "the records cannot be read to their end: %s", sqlite3_errmsg(l->db));
	ledger_done(l, stmt);
	if (!found && !r.failed)
		report(&r, "the ledger ends at record %llu, and record %llu was there once: its "
			   "end was cut off", (unsigned long long)last.record,
		       (unsigned long long)wanted->record);
	if (records)
		*records = count;
	return r.count ? -EUCLEAN : r.failed;
}

/* Calls report for each row of a check that should find none. */
static void check(struct dealbox_ledger *l, struct report *r, const char *sql, const char *format)
{
	sqlite3_stmt *stmt = ledger_query(l, sql, "");
	char sentence[512];
	int rc = SQLITE_ERROR;

	while (stmt && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(stmt, 0);

		if (text && !strcmp(text, "ok"))
			continue;
		snprintf(sentence, sizeof(sentence), "%s%s", format, text ? text : "?");
		report(r, "%s", sentence);
	}
	if (rc != SQLITE_DONE &&
	    is_damage(r, stmt ? ledger_fail_sql(l, "verifying") : l->error.code))
		report(r, "%scannot be read: %s", format, sqlite3_errmsg(l->db));
	ledger_done(l, stmt);
}

int ledger_verify(struct dealbox_ledger *l, const struct dealbox_ledger_head *head,
		  void (*damage)(const char *sentence, void *context), void *context,
		  uint64_t *records)
{
	struct dealbox_ledger_head start = { 0 };
	struct report r = { damage, context, 0, 0 };
	char sql[192];
	int64_t there;
	int kind, err;

	if (!l->db)
		return -EUCLEAN;	/* there is nothing to read; keep the error of open */
	/* one snapshot of the ledger, whatever is written meanwhile */
	if (sqlite3_exec(l->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		return ledger_fail_sql(l, "verifying");
	check(l, &r, "PRAGMA integrity_check", "database: ");
	check(l, &r, "SELECT \"table\" || ', row ' || coalesce(rowid, '?') || ': names a record of "
		     "' || parent || ' that is not there' FROM pragma_foreign_key_check",
		     "database: ");
	err = ledger_walk(l, &start, head, damage, context, records);
	if (err == -EUCLEAN)
		r.count++;
	else if (err)
		r.failed = err;
	for (kind = LEDGER_SET; kind < LEDGER_KINDS; kind++) {
		/* an older ledger lacks some of them, and has no record in them */
		err = ledger_number(l, &there,
				    "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?",
				    "t", ledger_tables[kind].name);
		if (err && err != -ENOENT && is_damage(&r, err))
			report(&r, "the tables cannot be read: %s", sqlite3_errmsg(l->db));
		if (err)
			continue;
		snprintf(sql, sizeof(sql), "SELECT 'record ' || seq || ' in %s was added past the "
			 "chain' FROM %s WHERE NOT EXISTS (SELECT 1 FROM chain c WHERE "
			 "c.seq = %s.seq AND c.kind = %d)", ledger_tables[kind].name,
			 ledger_tables[kind].name, ledger_tables[kind].name, kind);
		check(l, &r, sql, "");
	}
	check(l, &r, "SELECT 'insertion ' || insertion || ' of machine ' || machine || "
	      "' was dealt ' || count(*) || ' times' FROM insertions WHERE capture = 0 "
	      "GROUP BY machine, insertion HAVING count(*) > 1", "");
	sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
	if (r.count)
		return ledger_fail(l, -EUCLEAN, "%s: the ledger is damaged; nothing was written to "
						"it. Keep the file, and continue with a backup",
						l->path);
	return r.failed;
}

int dealbox_ledger_verify(struct dealbox_ledger *l, const struct dealbox_ledger_head *head,
			  void (*damage)(const char *sentence, void *context), void *context,
			  uint64_t *records)
{
	struct dealbox_ledger_head known;
	int err = -ENOENT;

	/* read before the ledger, which may be written meanwhile */
	if (!head && l->db)
		err = ledger_heads_last(l, &known);
	if (!err)
		head = &known;
	else if (err != -ENOENT)
		return err;
	return ledger_verify(l, head, damage, context, records);
}

int dealbox_ledger_export(struct dealbox_ledger *l, FILE *out)
{
	sqlite3_stmt *rows[LEDGER_KINDS] = { NULL }, *chain;
	int err = 0, rc = SQLITE_DONE, kind;
	char sql[LEDGER_STATEMENT], columns[LEDGER_SQL];

	if (sqlite3_exec(l->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		return ledger_fail_sql(l, "exporting");
	chain = ledger_query(l, "SELECT seq, kind FROM chain ORDER BY seq", "");
	if (!chain)
		err = l->error.code;
	while (!err && (rc = sqlite3_step(chain)) == SQLITE_ROW) {
		kind = sqlite3_column_int64(chain, 1);
		if (kind < LEDGER_SET || kind >= LEDGER_KINDS) {
			err = ledger_fail(l, -EUCLEAN, "%s: the ledger is damaged; `dealbox ledger "
					  "verify` says where", l->path);
			break;
		}
		if (!rows[kind]) {
			ledger_export_columns(kind, columns);
			snprintf(sql, sizeof(sql), "SELECT json_object('number', seq, %s, 'hash', "
				 "lower(hex(chain.hash))) FROM %s JOIN chain USING (seq) "
				 "WHERE seq = ?", columns, ledger_tables[kind].name);
			rows[kind] = ledger_query(l, sql, "");
			if (!rows[kind]) {
				err = l->error.code;
				break;
			}
		}
		sqlite3_bind_int64(rows[kind], 1, sqlite3_column_int64(chain, 0));
		rc = sqlite3_step(rows[kind]);
		if (rc == SQLITE_ROW)
			fprintf(out, "%s\n", sqlite3_column_text(rows[kind], 0));
		else if (rc == SQLITE_DONE)
			err = ledger_fail(l, -EUCLEAN, "%s: the ledger is damaged; `dealbox ledger "
					  "verify` says where", l->path);
		else
			err = ledger_fail_sql(l, "exporting");
		sqlite3_reset(rows[kind]);
	}
	if (!err && rc != SQLITE_DONE)
		err = ledger_fail_sql(l, "exporting");
	ledger_done(l, chain);
	for (kind = LEDGER_SET; kind < LEDGER_KINDS; kind++)
		ledger_done(l, rows[kind]);
	sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

/* ---- backup -------------------------------------------------------------- */

static int copy_pages(struct dealbox_ledger *l, sqlite3 *to)
{
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", l->db, "main");
	int rc;

	if (!backup)
		return ledger_fail(l, -EIO, "the backup: %s", sqlite3_errmsg(to));
	do {
		rc = sqlite3_backup_step(backup, 1024);
		if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
			sqlite3_sleep(50);
	} while (rc == SQLITE_OK || rc == SQLITE_BUSY || rc == SQLITE_LOCKED);
	rc = sqlite3_backup_finish(backup);
	if (rc == SQLITE_OK)
		return 0;
	return ledger_fail(l, rc == SQLITE_FULL ? -ENOSPC : rc == SQLITE_CORRUPT ? -EUCLEAN : -EIO,
			   "the backup: %s", sqlite3_errmsg(to));
}

/* Verifies the copy like an unknown ledger. */
static int verify_copy(struct dealbox_ledger *l, sqlite3 *copy)
{
	struct dealbox_ledger other = { .db = copy, .path = l->path, .keys = l->keys };
	int err;

	err = ledger_verify(&other, NULL, NULL, NULL, NULL);
	ledger_forget(&other);
	sodium_memzero(&other.keys, sizeof(other.keys));
	if (err == -EUCLEAN)
		ledger_fail(l, err,
			    "the ledger is damaged, so is a copy of it: no backup was made; "
			    "`dealbox ledger verify` says where");
	else if (err)
		ledger_fail(l, err, "%s", other.error.what);
	return err;
}

int dealbox_ledger_backup(struct dealbox_ledger *l, const char *path)
{
	sqlite3 *copy = NULL;
	char *part;
	int err = 0, fd;

	if (asprintf(&part, "%s.part", path) < 0)
		return ledger_fail(l, -ENOMEM, "no memory");
	fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		err = ledger_fail(l, -errno, "%s: %s", part, strerror(errno));
		free(part);
		return err;
	}
	if (sqlite3_open_v2(part, &copy, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		err = ledger_fail(l, -EIO, "%s: %s", part, sqlite3_errmsg(copy));
	if (!err)
		err = copy_pages(l, copy);
	if (!err)
		err = verify_copy(l, copy);
	/* without -wal and -shm files of its own */
	if (!err &&
	    sqlite3_exec(copy, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) != SQLITE_OK)
		err = ledger_fail(l, -EIO, "%s: %s", part, sqlite3_errmsg(copy));
	sqlite3_close(copy);
	if (!err && fsync(fd))
		err = ledger_fail(l, -errno, "%s: %s", part, strerror(errno));
	close(fd);
	/* unlike rename, these never replace a file; FAT has no links, NFS no renameat2() */
	if (!err && renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_NOREPLACE) &&
	    ((errno != EINVAL && errno != ENOSYS) || link(part, path)))
		err = ledger_fail(l, -errno, "%s: %s", path, strerror(errno));
	unlink(part);
	if (!err)
		err = ledger_sync_folder(l, path);
	free(part);
	return err;
}
