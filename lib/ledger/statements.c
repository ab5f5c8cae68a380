// SPDX-License-Identifier: LGPL-2.1-or-later
/* The floor of the ledger: errors, SQL statements, and the head as the database has it. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "error-internal.h"
#include "ledger-internal.h"

int64_t ledger_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

int ledger_fail(struct dealbox_ledger *l, int error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	error_vfill(&l->error, error, 0, NULL, format, ap);
	va_end(ap);
	return error;
}

int ledger_fail_damaged(struct dealbox_ledger *l, const char *what)
{
	l->damaged = true;
	return ledger_fail(l, -EUCLEAN, "%s: the ledger is damaged (%s); nothing was written to "
					"it. Keep the file, and continue with a backup", l->path,
					what);
}

int ledger_fail_sql(struct dealbox_ledger *l, const char *doing)
{
	int code = l->db ? sqlite3_errcode(l->db) & 0xff : SQLITE_NOMEM;

	switch (code) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return ledger_fail_damaged(l, sqlite3_errmsg(l->db));
	case SQLITE_FULL:
		return ledger_fail(l, -ENOSPC, "%s: no room on the disk, while %s", l->path, doing);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return ledger_fail(l, -EBUSY, "%s: in use by another program, while %s", l->path,
				   doing);
	case SQLITE_READONLY:
		if (l->write)
			return ledger_fail(l, -EROFS, "%s: may not be written, while %s", l->path,
					   doing);
		/* SQLite keeps a file beside it for readers, too */
		__attribute__((fallthrough));
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return ledger_fail(l, -EACCES, "%s: may not be opened: the file, or its folder, is "
				   "closed to this user", l->path);
	case SQLITE_NOMEM:
		return ledger_fail(l, -ENOMEM, "%s: no memory, while %s", l->path, doing);
	default:
		return ledger_fail(l, -EIO, "%s: %s, while %s", l->path, sqlite3_errmsg(l->db),
				   doing);
	}
}

/* ---- statements ---------------------------------------------------------- */

int ledger_bind(struct dealbox_ledger *l, sqlite3_stmt *stmt, int first, const char *format,
		va_list ap)
{
	int n = first, rc = SQLITE_OK;
	const void *data;
	uint64_t number;

	for (; *format && rc == SQLITE_OK; format++, n++) {
		switch (*format) {
		case 'i':
			rc = sqlite3_bind_int64(stmt, n, va_arg(ap, int64_t));
			break;
		case 'u':
			rc = sqlite3_bind_int64(stmt, n, (int64_t)va_arg(ap, uint64_t));
			break;
		case 't':
			rc = sqlite3_bind_text(stmt, n, va_arg(ap, const char *), -1,
					       SQLITE_STATIC);
			break;
		case 'b':
			data = va_arg(ap, const void *);
			rc = sqlite3_bind_blob64(stmt, n, data, va_arg(ap, size_t), SQLITE_STATIC);
			break;
		default:
			number = va_arg(ap, uint64_t);
			rc = number ? sqlite3_bind_int64(stmt, n, number) :
			     sqlite3_bind_null(stmt, n);
		}
	}
	return rc == SQLITE_OK ? 0 : ledger_fail_sql(l, "preparing a query");
}

sqlite3_stmt *ledger_prepare(struct dealbox_ledger *l, const char *sql)
{
	sqlite3_stmt *stmt;

	if (sqlite3_prepare_v3(l->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL) == SQLITE_OK)
		return stmt;
	ledger_fail_sql(l, "preparing a query");
	return NULL;
}

/*
 * Preparing a statement takes longer than running it, so it is kept. A statement that is needed
 * again while its rows are being read is prepared once more.
 */
static sqlite3_stmt *statement(struct dealbox_ledger *l, const char *sql)
{
	sqlite3_stmt *stmt;
	size_t n;

	for (n = 0; n < l->kept_count && strcmp(sqlite3_sql(l->kept[n]), sql); n++)
		;
	if (n < l->kept_count && !sqlite3_stmt_busy(l->kept[n]))
		return l->kept[n];
	stmt = ledger_prepare(l, sql);
	if (stmt && n == l->kept_count && n < LEDGER_KEPT)
		l->kept[l->kept_count++] = stmt;
	return stmt;
}

void ledger_done(struct dealbox_ledger *l, sqlite3_stmt *stmt)
{
	size_t n;

	for (n = 0; n < l->kept_count && l->kept[n] != stmt; n++)
		;
	if (n == l->kept_count) {
		sqlite3_finalize(stmt);
		return;
	}
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
}

void ledger_forget(struct dealbox_ledger *l)
{
	int n;

	for (n = LEDGER_SET; n < LEDGER_KINDS; n++) {
		sqlite3_finalize(l->insert[n]);
		sqlite3_finalize(l->select[n]);
		l->insert[n] = l->select[n] = NULL;
	}
	while (l->kept_count)
		sqlite3_finalize(l->kept[--l->kept_count]);
}

sqlite3_stmt *ledger_vquery(struct dealbox_ledger *l, const char *sql, const char *format,
			    va_list ap)
{
	sqlite3_stmt *stmt = statement(l, sql);

	if (stmt && ledger_bind(l, stmt, 1, format, ap)) {
		ledger_done(l, stmt);
		stmt = NULL;
	}
	return stmt;
}

sqlite3_stmt *ledger_query(struct dealbox_ledger *l, const char *sql, const char *format, ...)
{
	sqlite3_stmt *stmt;
	va_list ap;

	va_start(ap, format);
	stmt = ledger_vquery(l, sql, format, ap);
	va_end(ap);
	return stmt;
}

int ledger_number(struct dealbox_ledger *l, int64_t *out, const char *sql,
		  const char *format, ...)
{
	sqlite3_stmt *stmt;
	va_list ap;
	int rc;

	va_start(ap, format);
	stmt = ledger_vquery(l, sql, format, ap);
	va_end(ap);
	if (!stmt)
		return l->error.code;
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		*out = sqlite3_column_int64(stmt, 0);
		rc = 0;
	} else {
		rc = rc == SQLITE_DONE ? -ENOENT : ledger_fail_sql(l, "reading");
	}
	ledger_done(l, stmt);
	return rc;
}

int ledger_run(struct dealbox_ledger *l, const char *sql, const char *doing)
{
	if (sqlite3_exec(l->db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return ledger_fail_sql(l, doing);
}

int ledger_find_head(struct dealbox_ledger *l, struct dealbox_ledger_head *head, const char *sql,
		     uint64_t number)
{
	sqlite3_stmt *stmt = ledger_query(l, sql, "u", number);
	int rc;

	memset(head, 0, sizeof(*head));
	if (!stmt)
		return l->error.code;
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_DONE) {
		rc = -ENOENT;
	} else if (rc != SQLITE_ROW) {
		rc = ledger_fail_sql(l, "reading a record");
	} else if (sqlite3_column_bytes(stmt, 1) != sizeof(head->hash)) {
		rc = ledger_fail_damaged(l, "the hash of a record was changed");
	} else {
		head->record = sqlite3_column_int64(stmt, 0);
		memcpy(head->hash, sqlite3_column_blob(stmt, 1), sizeof(head->hash));
		rc = 0;
	}
	ledger_done(l, stmt);
	return rc;
}

int dealbox_ledger_get_head(struct dealbox_ledger *l, struct dealbox_ledger_head *head)
{
	int err = ledger_find_head(l, head, LEDGER_LAST, 0);

	return err == -ENOENT ? 0 : err;
}
