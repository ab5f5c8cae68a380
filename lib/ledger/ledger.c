// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The ledger's file: opening it without ever overwriting a damaged one, its keys, its schema, and
 * the chain of records.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ledger-internal.h"
#include "sql.h"

#define KEY_SIZE	crypto_kdf_KEYBYTES
#define READ_WAIT_MS	5000	/* to wait for a lock of another program */
#define WRITE_WAIT_MS	100
#define TAIL_RECORDS	64	/* checked whenever the ledger is opened */

const struct ledger_table ledger_tables[LEDGER_KINDS] = {
	[LEDGER_SET] = {
		"sets", "at, session, boards, digest", 4,
		"'record', 'set', 'at', at, 'session', session, 'boards', boards"
	},
	[LEDGER_BOARD] = {
		"boards", "set_seq, number, fingerprint, sealed", 4,
		"'record', 'board', 'set', set_seq, 'board', number, "
		"'fingerprint', printf('%016llx', fingerprint)"
	},
	[LEDGER_JOB] = {
		"jobs", "at, set_seq, copies, options, priority", 5,
		"'record', 'job', 'at', at, 'set', set_seq, 'copies', copies, "
		"'options', options, 'priority', priority"
	},
	[LEDGER_JOB_BOARD] = {
		"job_boards", "job, number", 2,
		"'record', 'job board', 'job', job, 'board', number"
	},
	[LEDGER_INSERTION] = {
		"insertions", "at, job, number, copy, machine, insertion, plan, capture", 8,
		"'record', 'insertion', 'at', at, 'job', job, 'board', number, 'copy', copy, "
		"'machine', machine, 'insertion', insertion, 'plan', plan, "
		"'capture', json(iif(capture, 'true', 'false'))"
	},
	[LEDGER_TRACE] = {
		"traces", "insertion, events, sealed", 3,
		"'record', 'trace', 'of', insertion, 'events', events"
	},
	[LEDGER_VERDICT] = {
		"verdicts", "at, insertion, outcome, reason, differences, trace", 6,
		"'record', 'verdict', 'at', at, 'of', insertion, 'outcome', "
		"json_extract('[\"exact\",\"differs\",\"void\",\"unknown\",\"captured\"]', "
		"'$[' || (outcome - 1) || ']'), 'reason', reason, 'differences', differences, "
		"'trace', trace"
	},
	[LEDGER_ACT] = {
		"acts", "at, uid, act, job, board, copy, value, machine", 8,
		"'record', 'act', 'at', at, 'uid', uid, 'act', "
		"json_extract('[\"pause\",\"resume\",\"cancel\",\"skip\",\"redeal\",\"priority\","
		"\"emptied\",\"reveal\",\"stop\",\"add\",\"restore\",\"accept\"]', '$[' || (act - 1) || ']'), "
		"'job', job, "
		"'board', board, 'copy', copy, 'value', value, 'machine', machine"
	},
	[LEDGER_JOB_MACHINE] = {
		"job_machines", "job, machine", 2,
		"'record', 'job machine', 'job', job, 'machine', machine"
	},
};

#define CHAINED "seq INTEGER PRIMARY KEY REFERENCES chain DEFERRABLE INITIALLY DEFERRED, "
#define FIXED(table) \
	"CREATE TRIGGER " table "_no_update BEFORE UPDATE ON " table \
	" BEGIN SELECT RAISE(ABORT, 'records are never changed'); END;" \
	"CREATE TRIGGER " table "_no_delete BEFORE DELETE ON " table \
	" BEGIN SELECT RAISE(ABORT, 'records are never removed'); END;"

/* The copies that have any record; job, number and copy of each are given. */
#define COPIES(touched) \
	"CREATE VIEW copies AS SELECT job, number, copy, tries, CASE " \
	"  WHEN dealing THEN " SQL(COPY_DEALING) " WHEN recorded > redeal THEN " SQL(COPY_RECORDED) \
	" WHEN skipped > redeal THEN " SQL(COPY_SKIPPED) " " \
	"  ELSE " SQL(COPY_OPEN) " END AS state FROM (SELECT t.job, t.number, t.copy, " \
	"  (SELECT count(*) FROM insertions i WHERE i.job = t.job AND i.number = t.number " \
	"   AND i.copy = t.copy) AS tries, " \
	"  EXISTS (SELECT 1 FROM insertions i WHERE i.job = t.job AND i.number = t.number " \
	"   AND i.copy = t.copy AND NOT EXISTS " \
	"   (SELECT 1 FROM verdicts v WHERE v.insertion = i.seq)) AS dealing, " \
	"  (SELECT coalesce(max(v.seq), 0) FROM insertions i JOIN verdicts v " \
	"   ON v.insertion = i.seq WHERE i.job = t.job AND i.number = t.number " \
	"   AND i.copy = t.copy AND v.outcome IN (" SQL(OUTCOME_EXACT) ", " SQL(OUTCOME_CAPTURED) ")) AS recorded, " \
	"  (SELECT coalesce(max(a.seq), 0) FROM acts a WHERE a.job = t.job " \
	"   AND a.board = t.number AND a.copy = t.copy AND a.act = " SQL(ACT_REDEAL) ") AS redeal, " \
	"  (SELECT coalesce(max(a.seq), 0) FROM acts a WHERE a.job = t.job " \
	"   AND a.board = t.number AND a.copy = t.copy AND a.act = " SQL(ACT_SKIP) ") AS skipped " \
	"  FROM (" touched ") t);"

/* Step n brings a ledger from version n to n + 1. Steps are added, never changed. */
static const char *const migrations[] = {
	"CREATE TABLE ledger (id INTEGER PRIMARY KEY CHECK (id = 1), at INTEGER NOT NULL, "
	"  key_id BLOB NOT NULL) STRICT;"
	"CREATE TABLE chain (seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, "
	"  hash BLOB NOT NULL CHECK (length(hash) = 32)) STRICT;"
	"CREATE TABLE sets (" CHAINED "at INTEGER NOT NULL, "
	"  session TEXT NOT NULL CHECK (session <> ''), boards INTEGER NOT NULL, "
	"  digest BLOB NOT NULL, UNIQUE (session, digest)) STRICT;"
	"CREATE TABLE boards (" CHAINED "set_seq INTEGER NOT NULL REFERENCES sets, "
	"  number INTEGER NOT NULL CHECK (number BETWEEN 1 AND " SQL(DEALBOX_BOARD_DEALT_MAX) "), "
	"  fingerprint INTEGER NOT NULL, sealed BLOB NOT NULL, "
	"  UNIQUE (set_seq, number), UNIQUE (fingerprint, set_seq)) STRICT;"
	"CREATE TABLE jobs (" CHAINED "at INTEGER NOT NULL, set_seq INTEGER REFERENCES sets, "
	"  copies INTEGER NOT NULL CHECK (copies BETWEEN 0 AND " SQL(DEALBOX_BOARD_DEALT_MAX) "), "
	"  options INTEGER NOT NULL, priority INTEGER NOT NULL) STRICT;"
	"CREATE INDEX jobs_set ON jobs (set_seq);"
	"CREATE TABLE job_boards (" CHAINED "job INTEGER NOT NULL REFERENCES jobs, "
	"  number INTEGER NOT NULL CHECK (number BETWEEN 1 AND " SQL(DEALBOX_BOARD_DEALT_MAX) "), "
	"  UNIQUE (job, number)) STRICT;"
	"CREATE TABLE insertions (" CHAINED "at INTEGER NOT NULL, "
	"  job INTEGER NOT NULL, number INTEGER NOT NULL, "
	"  copy INTEGER NOT NULL CHECK (copy BETWEEN 1 AND " SQL(DEALBOX_BOARD_DEALT_MAX) "), "
	"  machine TEXT NOT NULL CHECK (machine <> ''), "
	"  insertion INTEGER NOT NULL CHECK (insertion BETWEEN 1 AND 4294967295), "
	"  plan INTEGER NOT NULL, capture INTEGER NOT NULL CHECK (capture IN (0, 1)), "
	"  FOREIGN KEY (job, number) REFERENCES job_boards (job, number)) STRICT;"
	/* one insertion is dealt at most once, whatever a program believes */
	"CREATE UNIQUE INDEX insertions_once ON insertions (machine, insertion) "
	"  WHERE capture = 0;"
	"CREATE INDEX insertions_copy ON insertions (job, number, copy);"
	"CREATE TABLE traces (" CHAINED "insertion INTEGER NOT NULL UNIQUE "
	"  REFERENCES insertions, events INTEGER NOT NULL CHECK (events > 0), "
	"  sealed BLOB NOT NULL) STRICT;"
	/* no board is recorded as exact, different or captured without its trace */
	"CREATE TABLE verdicts (" CHAINED "at INTEGER NOT NULL, "
	"  insertion INTEGER NOT NULL UNIQUE REFERENCES insertions, "
	"  outcome INTEGER NOT NULL CHECK (outcome BETWEEN " SQL(OUTCOME_EXACT) " AND " SQL(OUTCOME_CAPTURED) "), "
	"  reason INTEGER NOT NULL, differences INTEGER NOT NULL, "
	"  trace INTEGER REFERENCES traces, "
	"  CHECK (outcome NOT IN (" SQL(OUTCOME_EXACT) ", " SQL(OUTCOME_DIFFERS) ", "
	SQL(OUTCOME_CAPTURED) ") OR trace IS NOT NULL), "
	"  CHECK (outcome <> " SQL(OUTCOME_EXACT) " OR (differences = 0 AND reason = 0))) STRICT;"
	"CREATE TABLE acts (" CHAINED "at INTEGER NOT NULL, uid INTEGER NOT NULL, "
	"  act INTEGER NOT NULL, job INTEGER REFERENCES jobs, board INTEGER, copy INTEGER, "
	"  value INTEGER NOT NULL, machine TEXT, "
	"  FOREIGN KEY (job, board) REFERENCES job_boards (job, number)) STRICT;"
	"CREATE INDEX acts_copy ON acts (job, board, copy);"
	COPIES("SELECT job, number, copy FROM insertions UNION "
	       "SELECT job, board, copy FROM acts WHERE act IN (" SQL(ACT_SKIP) ", " SQL(ACT_REDEAL) ")")
	FIXED("ledger") FIXED("chain") FIXED("sets") FIXED("boards") FIXED("jobs")
	FIXED("job_boards") FIXED("insertions") FIXED("traces") FIXED("verdicts") FIXED("acts"),

	/* a job without a named machine is for any machine */
	"CREATE TABLE job_machines (" CHAINED "job INTEGER NOT NULL REFERENCES jobs, "
	"  machine TEXT NOT NULL CHECK (machine <> ''), UNIQUE (job, machine)) STRICT;"
	FIXED("job_machines"),

	/* SQLite searches each part of a UNION ALL, but materialises a UNION */
	"DROP VIEW copies;"
	COPIES("SELECT DISTINCT job, number, copy FROM insertions UNION ALL "
	       "SELECT DISTINCT job, board, copy FROM acts a WHERE act IN (" SQL(ACT_SKIP) ", " SQL(ACT_REDEAL) ") "
	       "AND NOT EXISTS "
	       "(SELECT 1 FROM insertions i WHERE i.job = a.job AND i.number = a.board "
	       "AND i.copy = a.copy)"),

	"CREATE INDEX insertions_machine ON insertions (machine);"
};

#define VERSION ((int)(sizeof(migrations) / sizeof(migrations[0])))

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
	vsnprintf(l->error.what, sizeof(l->error.what), format, ap);
	va_end(ap);
	return error;
}

int ledger_fail_sql(struct dealbox_ledger *l, const char *doing)
{
	int code = l->db ? sqlite3_errcode(l->db) & 0xff : SQLITE_NOMEM;

	switch (code) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		l->damaged = true;
		return ledger_fail(l, -EUCLEAN, "%s: the ledger is damaged (%s); nothing was written "
				   "to it. Keep the file, and continue with a backup", l->path,
				   sqlite3_errmsg(l->db));
	case SQLITE_FULL:
		return ledger_fail(l, -ENOSPC, "%s: no room on the disk, while %s", l->path, doing);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return ledger_fail(l, -EBUSY, "%s: in use by another program, while %s", l->path,
				   doing);
	case SQLITE_READONLY:
		if (l->write)
			return ledger_fail(l, -EROFS, "%s: may not be written, while %s", l->path, doing);
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

static int bind(struct dealbox_ledger *l, sqlite3_stmt *stmt, int first, const char *format,
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
			rc = sqlite3_bind_text(stmt, n, va_arg(ap, const char *), -1, SQLITE_STATIC);
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

static sqlite3_stmt *prepare(struct dealbox_ledger *l, const char *sql)
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
	stmt = prepare(l, sql);
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

	for (n = 0; n < LEDGER_KINDS; n++) {
		sqlite3_finalize(l->insert[n]);
		sqlite3_finalize(l->select[n]);
		l->insert[n] = l->select[n] = NULL;
	}
	while (l->kept_count)
		sqlite3_finalize(l->kept[--l->kept_count]);
}

static sqlite3_stmt *query(struct dealbox_ledger *l, const char *sql, const char *format,
			   va_list ap)
{
	sqlite3_stmt *stmt = statement(l, sql);

	if (stmt && bind(l, stmt, 1, format, ap)) {
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
	stmt = query(l, sql, format, ap);
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
	stmt = query(l, sql, format, ap);
	va_end(ap);
	if (!stmt)
		return l->damaged ? -EUCLEAN : -EIO;
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

static int run(struct dealbox_ledger *l, const char *sql, const char *doing)
{
	if (sqlite3_exec(l->db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return ledger_fail_sql(l, doing);
}

/* ---- transactions and the chain ------------------------------------------ */

static int read_head(struct dealbox_ledger *l, struct dealbox_ledger_head *head)
{
	sqlite3_stmt *stmt = ledger_query(l, "SELECT seq, hash FROM chain ORDER BY seq DESC LIMIT 1",
					  "");
	int rc;

	memset(head, 0, sizeof(*head));
	if (!stmt)
		return l->damaged ? -EUCLEAN : -EIO;
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW && sqlite3_column_bytes(stmt, 1) == sizeof(head->hash)) {
		head->record = sqlite3_column_int64(stmt, 0);
		memcpy(head->hash, sqlite3_column_blob(stmt, 1), sizeof(head->hash));
		rc = SQLITE_DONE;
	}
	rc = rc == SQLITE_DONE ? 0 : ledger_fail_sql(l, "reading the last record");
	ledger_done(l, stmt);
	return rc;
}

int dealbox_ledger_get_head(struct dealbox_ledger *l, struct dealbox_ledger_head *head)
{
	return read_head(l, head);
}

int ledger_begin(struct dealbox_ledger *l)
{
	int err;

	if (!l->write)
		return ledger_fail(l, -EROFS, "%s: opened for reading only", l->path);
	if (l->damaged)
		return ledger_fail(l, -EUCLEAN, "%s: the ledger is damaged: nothing more is written "
				   "to it", l->path);
	err = run(l, "BEGIN IMMEDIATE", "beginning to write");
	if (err)
		return err;
	err = read_head(l, &l->head);
	return err ? ledger_commit(l, err) : 0;
}

int ledger_commit(struct dealbox_ledger *l, int error)
{
	if (!error) {
		error = run(l, "COMMIT", "writing");
		if (!error)
			ledger_heads_note(l);
	}
	/* also after a COMMIT that failed: then the transaction may still be open */
	if (error && !sqlite3_get_autocommit(l->db))
		sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
	return error;
}

int ledger_append(struct dealbox_ledger *l, enum ledger_kind kind, uint64_t *seq,
		  const char *format, ...)
{
	const struct ledger_table *table = &ledger_tables[kind];
	uint64_t next = ledger_next(l);
	sqlite3_stmt *stmt = l->insert[kind];
	uint8_t hash[DEALBOX_LEDGER_HASH];
	char sql[256];
	va_list ap;
	int err, rc;

	if (!stmt) {
		snprintf(sql, sizeof(sql), "INSERT INTO %s (seq, %s) VALUES (?%.*s)", table->name,
			 table->columns, (int)(2 * table->count), ",?,?,?,?,?,?,?,?");
		stmt = l->insert[kind] = prepare(l, sql);
		if (!stmt)
			return -EIO;
	}
	sqlite3_bind_int64(stmt, 1, next);
	va_start(ap, format);
	err = bind(l, stmt, 2, format, ap);
	va_end(ap);
	if (!err) {
		rc = sqlite3_step(stmt);
		err = rc == SQLITE_DONE ? 0 : ledger_fail_sql(l, "writing a record");
	}
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	if (!err)
		err = ledger_hash(l, kind, next, l->head.hash, hash);
	if (err)
		return err;

	stmt = ledger_query(l, "INSERT INTO chain (seq, kind, hash) VALUES (?, ?, ?)", "uib", next,
			    (int64_t)kind, hash, sizeof(hash));
	if (!stmt)
		return -EIO;
	rc = sqlite3_step(stmt);
	err = rc == SQLITE_DONE ? 0 : ledger_fail_sql(l, "writing a record");
	ledger_done(l, stmt);
	if (err)
		return err;
	l->head.record = next;
	memcpy(l->head.hash, hash, sizeof(hash));
	if (seq)
		*seq = next;
	return 0;
}

static void hash_number(crypto_generichash_state *state, uint64_t value)
{
	uint8_t bytes[8];
	int n;

	for (n = 0; n < 8; n++)
		bytes[n] = value >> (8 * n);
	crypto_generichash_update(state, bytes, sizeof(bytes));
}

int ledger_hash(struct dealbox_ledger *l, enum ledger_kind kind, uint64_t seq,
		const uint8_t before[DEALBOX_LEDGER_HASH], uint8_t hash[DEALBOX_LEDGER_HASH])
{
	const struct ledger_table *table = &ledger_tables[kind];
	sqlite3_stmt *stmt = l->select[kind];
	crypto_generichash_state state;
	char sql[256];
	int n, rc;

	if (!stmt) {
		snprintf(sql, sizeof(sql), "SELECT %s FROM %s WHERE seq = ?", table->columns,
			 table->name);
		stmt = l->select[kind] = prepare(l, sql);
		if (!stmt)
			return -EIO;
	}
	sqlite3_bind_int64(stmt, 1, seq);
	rc = sqlite3_step(stmt);
	if (rc != SQLITE_ROW) {
		rc = rc == SQLITE_DONE ? -ENOENT : ledger_fail_sql(l, "reading a record");
		sqlite3_reset(stmt);
		return rc;
	}
	crypto_generichash_init(&state, l->keys.chain, sizeof(l->keys.chain), DEALBOX_LEDGER_HASH);
	crypto_generichash_update(&state, before, DEALBOX_LEDGER_HASH);
	hash_number(&state, seq);
	hash_number(&state, kind);
	for (n = 0; n < sqlite3_column_count(stmt); n++) {
		int type = sqlite3_column_type(stmt, n);

		hash_number(&state, type);
		if (type == SQLITE_INTEGER) {
			hash_number(&state, sqlite3_column_int64(stmt, n));
		} else if (type != SQLITE_NULL) {
			const void *data = sqlite3_column_blob(stmt, n);
			int size = sqlite3_column_bytes(stmt, n);

			hash_number(&state, size);
			crypto_generichash_update(&state, data, size);
		}
	}
	crypto_generichash_final(&state, hash, DEALBOX_LEDGER_HASH);
	sqlite3_reset(stmt);
	return 0;
}

/* ---- sealing and fingerprints -------------------------------------------- */

void ledger_seal(const struct dealbox_ledger *l, uint64_t seq, const void *plain, size_t size,
		 uint8_t *sealed)
{
	uint8_t *text = sealed + crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;

	randombytes_buf(sealed, crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
	crypto_aead_xchacha20poly1305_ietf_encrypt(text, NULL, plain, size,
						   (const uint8_t *)&seq, sizeof(seq), NULL,
						   sealed, l->keys.seal);
}

int ledger_unseal(const struct dealbox_ledger *l, uint64_t seq, const uint8_t *sealed,
		  size_t size, void *plain)
{
	const uint8_t *text = sealed + crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;

	if (size < LEDGER_SEAL_EXTRA ||
	    crypto_aead_xchacha20poly1305_ietf_decrypt(plain, NULL, NULL, text,
						       size - (text - sealed),
						       (const uint8_t *)&seq, sizeof(seq), sealed,
						       l->keys.seal))
		return -EBADMSG;
	return 0;
}

int64_t ledger_fingerprint(const struct ledger_keys *keys, const struct dealbox_deal *deal)
{
	bool talon = __builtin_popcountll(deal->hand[DEALBOX_HANDS - 1]) !=
		     __builtin_popcountll(deal->hand[0]);
	int hands = DEALBOX_HANDS - talon, first = 0, n;
	struct dealbox_deal turned = *deal;
	crypto_generichash_state state;
	dealbox_cards lowest, all = 0;
	uint8_t hash[16];
	int64_t out;

	for (n = 0; n < hands; n++)
		all |= deal->hand[n];
	lowest = all & -all;
	for (n = 0; n < hands; n++)
		if (deal->hand[n] & lowest)
			first = n;
	for (n = 0; n < hands; n++)
		turned.hand[n] = deal->hand[(first + n) % hands];

	crypto_generichash_init(&state, keys->fingerprint, sizeof(keys->fingerprint),
				sizeof(hash));
	for (n = 0; n < DEALBOX_HANDS; n++)
		hash_number(&state, turned.hand[n]);
	crypto_generichash_final(&state, hash, sizeof(hash));
	memcpy(&out, hash, sizeof(out));
	sodium_memzero(&turned, sizeof(turned));
	sodium_memzero(&state, sizeof(state));
	return out;
}

/* ---- the key file -------------------------------------------------------- */

static void derive(const uint8_t key[KEY_SIZE], struct ledger_keys *keys)
{
	static const char context[crypto_kdf_CONTEXTBYTES + 1] = "dealboxL";

	crypto_kdf_derive_from_key(keys->fingerprint, sizeof(keys->fingerprint), 1, context, key);
	crypto_kdf_derive_from_key(keys->seal, sizeof(keys->seal), 2, context, key);
	crypto_kdf_derive_from_key(keys->chain, sizeof(keys->chain), 3, context, key);
	crypto_kdf_derive_from_key(keys->id, sizeof(keys->id), 4, context, key);
}

/* Reads the key; with write, keeps the file locked against another that writes. */
static int read_key(struct dealbox_ledger *l)
{
	uint8_t key[KEY_SIZE + 1];
	struct stat st;
	ssize_t size;
	int fd;

	fd = open(l->key_path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ledger_fail(l, -ENOKEY, "%s: the key of the ledger cannot be read: %s",
				   l->key_path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (st.st_mode & 077)) {
		close(fd);
		return ledger_fail(l, -ENOKEY, "%s: the key of the ledger is open to others; close "
				   "it with `chmod 600`", l->key_path);
	}
	size = read(fd, key, sizeof(key));
	if (size != KEY_SIZE) {
		close(fd);
		return ledger_fail(l, -ENOKEY, "%s: not the key of a ledger: it must have %d bytes",
				   l->key_path, (int)KEY_SIZE);
	}
	derive(key, &l->keys);
	sodium_memzero(key, sizeof(key));
	if (!l->write) {
		close(fd);
		return 0;
	}
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return ledger_fail(l, -EBUSY, "%s: another program writes to this ledger: dealboxd, "
				   "or a second dealbox", l->path);
	}
	l->lock = fd;
	return 0;
}

static int write_key(const char *path)
{
	uint8_t key[KEY_SIZE];
	int err = 0, fd;

	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	crypto_kdf_keygen(key);
	if (write(fd, key, sizeof(key)) != sizeof(key) || fsync(fd))
		err = errno ? -errno : -EIO;
	sodium_memzero(key, sizeof(key));
	close(fd);
	return err;
}

/* ---- opening ------------------------------------------------------------- */

static int migrate(struct dealbox_ledger *l, int version)
{
	char sql[64];
	int err = 0;

	for (; !err && version < VERSION; version++) {
		err = run(l, "BEGIN IMMEDIATE", "beginning to write");
		if (err)
			return err;
		err = run(l, migrations[version], "bringing it up to date");
		snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", version + 1);
		if (!err)
			err = run(l, sql, "bringing it up to date");
		err = ledger_commit(l, err);
	}
	return err;
}

/* A user who can read one of the files can also lock it and make the writer wait. */
static void close_to_others(const char *path)
{
	static const char *const files[] = { "", "-wal", "-shm" };
	char *file;
	size_t n;

	for (n = 0; n < sizeof(files) / sizeof(files[0]); n++)
		if (asprintf(&file, "%s%s", path, files[n]) >= 0) {
			chmod(file, 0600);
			free(file);
		}
}

/* Retries a lock up to a limit. Returns 0 to report it as busy. */
static int on_busy(void *context, int times)
{
	if (times >= WRITE_WAIT_MS / LEDGER_WAIT_MS)
		return 0;
	ledger_disk_wait(context, -1);
	return 1;
}

static int open_database(struct dealbox_ledger *l, const char *path, int flags)
{
	if (sqlite3_open_v2(path, &l->db, flags, l->write ? ledger_disk_register(&l->disk) : NULL) != SQLITE_OK)
		return ledger_fail_sql(l, "opening it");
	sqlite3_extended_result_codes(l->db, 1);
	/* none of our programs locks out the writer; it does not wait long for others */
	if (l->write)
		sqlite3_busy_handler(l->db, on_busy, &l->disk);
	else
		sqlite3_busy_timeout(l->db, READ_WAIT_MS);
	/* a damaged file may have a false schema: do not run code from it */
	sqlite3_db_config(l->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	/* nor is a WAL left by a crash checkpointed into it */
	sqlite3_db_config(l->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	return run(l, "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; "
		   "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON", "opening it");
}

/* The ledger is sound: closing it checkpoints the WAL. */
static void trust_database(struct dealbox_ledger *l)
{
	sqlite3_db_config(l->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
}

static void close_database(struct dealbox_ledger *l)
{
	ledger_forget(l);
	sqlite3_close(l->db);
	l->db = NULL;
	ledger_disk_unregister(&l->disk);
}

static int sync_folder(const char *path)
{
	char *copy = strdup(path);
	int fd, err = 0;

	if (!copy)
		return -ENOMEM;
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(copy);
	if (fd < 0)
		return -errno;
	if (fsync(fd))
		err = -errno;
	close(fd);
	return err;
}

/*
 * A new ledger is made under another name and then renamed, the database first: a power cut leaves
 * nothing, or a database whose key is still named ".new".
 */
static int create(struct dealbox_ledger *l, const char *new_path, const char *new_key)
{
	sqlite3_stmt *stmt;
	int err, fd;

	unlink(new_path);
	unlink(new_key);
	err = write_key(new_key);
	if (err)
		return ledger_fail(l, err, "%s: cannot be made: %s", new_key, strerror(-err));
	/* SQLite gives its files the mode of the database */
	fd = open(new_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return ledger_fail(l, -errno, "%s: cannot be made: %s", new_path, strerror(errno));
	close(fd);

	fd = open(new_key, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		uint8_t key[KEY_SIZE];

		if (read(fd, key, sizeof(key)) == sizeof(key))
			derive(key, &l->keys);
		sodium_memzero(key, sizeof(key));
		close(fd);
	}
	err = open_database(l, new_path, SQLITE_OPEN_READWRITE);
	if (!err)
		err = run(l, "PRAGMA journal_mode = WAL; PRAGMA application_id = 1145195591",
			  "making it");
	if (!err)
		err = migrate(l, 0);
	if (!err) {
		stmt = ledger_query(l, "INSERT INTO ledger (id, at, key_id) VALUES (1, ?, ?)", "ib",
				    ledger_now(), l->keys.id, sizeof(l->keys.id));
		if (!stmt || sqlite3_step(stmt) != SQLITE_DONE)
			err = ledger_fail_sql(l, "making it");
		ledger_done(l, stmt);
	}
	if (!err)
		trust_database(l);
	close_database(l);
	if (!err && (rename(new_path, l->path) || rename(new_key, l->key_path)))
		err = ledger_fail(l, -errno, "%s: cannot be made: %s", l->path, strerror(errno));
	if (!err)
		err = sync_folder(l->path);
	if (err) {
		unlink(new_path);
		unlink(new_key);
	}
	return err;
}

static int settle_files(struct dealbox_ledger *l, unsigned int flags)
{
	bool database = !access(l->path, F_OK), key = !access(l->key_path, F_OK);
	bool heads = !access(l->heads_path, F_OK);
	char *new_path = NULL, *new_key = NULL;
	int err = 0;

	if (database && key)
		return 0;
	if (!database && key)
		return ledger_fail(l, -EUCLEAN, "%s: the ledger is gone, but its key is there. Put "
				   "a backup in its place; to begin anew, move %s away", l->path,
				   l->key_path);
	if (!database && heads && flags & DEALBOX_LEDGER_CREATE)
		return ledger_fail(l, -EUCLEAN, "%s: the ledger and its key are gone, but %s is there. Put "
				   "backups in their place; to begin anew, move that away, too", l->path,
				   l->heads_path);
	if (!database && !(flags & DEALBOX_LEDGER_CREATE))
		return ledger_fail(l, -ENOENT, "%s: there is no ledger", l->path);
	if (asprintf(&new_path, "%s.new", l->path) < 0 ||
	    asprintf(&new_key, "%s.new", l->key_path) < 0)
		err = ledger_fail(l, -ENOMEM, "no memory");
	else if (!database)
		err = create(l, new_path, new_key);
	else if (l->write && !access(new_key, F_OK) && rename(new_key, l->key_path))
		/* creation was interrupted between the two renames */
		err = ledger_fail(l, -errno, "%s: %s", new_key, strerror(errno));
	free(new_path);
	free(new_key);
	return err;
}

static int check_identity(struct dealbox_ledger *l)
{
	int64_t application, version;
	sqlite3_stmt *stmt;
	int err, rc;

	err = ledger_number(l, &application, "PRAGMA application_id", "");
	if (err)
		return err == -EUCLEAN ? err : ledger_fail_sql(l, "opening it");
	if (application != LEDGER_APPLICATION)
		return ledger_fail(l, -EUCLEAN, "%s: not a ledger, or its first page is damaged; "
				   "nothing was written to it", l->path);
	err = ledger_number(l, &version, "PRAGMA user_version", "");
	if (err)
		return err;
	if (version > VERSION)
		return ledger_fail(l, -EPROTONOSUPPORT, "%s: written by a newer dealbox (version "
				   "%lld of the ledger, this program knows %d); install that one",
				   l->path, (long long)version, VERSION);
	if (version < VERSION && !l->write)
		return ledger_fail(l, -EROFS, "%s: written by an older dealbox; dealboxd brings it up "
				   "to date when it starts", l->path);
	stmt = ledger_query(l, "SELECT key_id FROM ledger WHERE id = 1", "");
	if (!stmt)
		return -EIO;
	rc = sqlite3_step(stmt);
	if (rc != SQLITE_ROW)
		err = rc == SQLITE_DONE ?
		      ledger_fail(l, -EUCLEAN, "%s: the ledger is damaged: it does not say which "
				  "key is its own", l->path) : ledger_fail_sql(l, "opening it");
	else if (sqlite3_column_bytes(stmt, 0) != sizeof(l->keys.id) ||
		 memcmp(sqlite3_column_blob(stmt, 0), l->keys.id, sizeof(l->keys.id)))
		err = ledger_fail(l, -EKEYREJECTED, "%s: the key of another ledger; put the right one "
				  "there", l->key_path);
	ledger_done(l, stmt);
	return err;
}

static void first_damage(const char *sentence, void *context)
{
	char *first = context;

	if (!*first)
		snprintf(first, 256, "%s", sentence);
}

/* Readers check the last records, where a crash would show. */
static int check_tail(struct dealbox_ledger *l)
{
	struct dealbox_ledger_head from = { 0 };
	char first[256] = "";
	sqlite3_stmt *stmt;
	int err;

	stmt = ledger_query(l, "SELECT seq, hash FROM chain ORDER BY seq DESC LIMIT 1 OFFSET ?", "i",
			    (int64_t)TAIL_RECORDS);
	if (!stmt)
		return -EIO;
	if (sqlite3_step(stmt) == SQLITE_ROW &&
	    sqlite3_column_bytes(stmt, 1) == sizeof(from.hash)) {
		from.record = sqlite3_column_int64(stmt, 0);
		memcpy(from.hash, sqlite3_column_blob(stmt, 1), sizeof(from.hash));
	}
	ledger_done(l, stmt);
	err = ledger_walk(l, &from, NULL, first_damage, first, NULL);
	if (err == -EUCLEAN)
		return ledger_fail(l, err, "%s: the ledger is damaged (%s); nothing was written to it. "
				   "Keep the file, and continue with a backup", l->path, first);
	return err;
}

/*
 * The writer checks everything: otherwise damage in an old page would be found when it is too late
 * for a backup from that time.
 */
static int check_whole(struct dealbox_ledger *l)
{
	char first[256] = "";
	int err = ledger_verify(l, NULL, first_damage, first, NULL);

	if (err == -EUCLEAN)
		return ledger_fail(l, err, "%s: the ledger is damaged (%s); nothing was written to it. "
				   "Keep the file, and continue with a backup", l->path, first);
	return err;
}

static int bring_up_to_date(struct dealbox_ledger *l)
{
	int64_t version;
	int err = ledger_number(l, &version, "PRAGMA user_version", "");

	return err ? err : migrate(l, version);
}

struct dealbox_ledger *dealbox_ledger_new(void)
{
	struct dealbox_ledger *l;

	if (sodium_init() < 0)
		return NULL;
	/* contains keys: neither swapped nor in a core dump */
	l = sodium_malloc(sizeof(*l));
	if (l) {
		memset(l, 0, sizeof(*l));
		l->lock = l->heads = -1;
		l->user = DEALBOX_UID_NONE;
	}
	return l;
}

void dealbox_ledger_wait(struct dealbox_ledger *l, void (*wait)(int fd, void *context), void *context)
{
	l->disk.wait = wait;
	l->disk.context = context;
}

void dealbox_ledger_user(struct dealbox_ledger *l, uint32_t uid)
{
	l->user = uid;
}

void dealbox_ledger_free(struct dealbox_ledger *l)
{
	if (!l)
		return;
	close_database(l);
	if (l->lock >= 0)
		close(l->lock);
	if (l->heads >= 0)
		close(l->heads);
	free(l->path);
	free(l->key_path);
	free(l->heads_path);
	sodium_free(l);
}

int dealbox_ledger_open(struct dealbox_ledger *l, const char *path, unsigned int flags)
{
	struct dealbox_ledger_head known;
	int err;

	if (l->path)
		return ledger_fail(l, -EALREADY, "%s: is open", l->path);
	l->write = flags & DEALBOX_LEDGER_WRITE;
	l->path = strdup(path);
	if (!l->path || asprintf(&l->key_path, "%s.key", path) < 0 ||
	    asprintf(&l->heads_path, "%s.heads", path) < 0) {
		free(l->path);
		l->path = NULL;
		return ledger_fail(l, -ENOMEM, "no memory");
	}
	err = settle_files(l, flags);
	if (!err)
		err = read_key(l);
	if (!err && l->write)
		close_to_others(path);
	if (!err)
		err = open_database(l, path, l->write ? SQLITE_OPEN_READWRITE :
				    SQLITE_OPEN_READONLY);
	if (!err)
		err = check_identity(l);
	if (!err)
		err = l->write ? check_whole(l) : check_tail(l);
	if (!err && l->write && !(flags & DEALBOX_LEDGER_RESTORED) && !ledger_heads_last(l, &known))
		err = ledger_heads_check(l, &known);
	/* not before it is known to be ours, and sound */
	if (!err && l->write)
		err = bring_up_to_date(l);
	/* a restored backup is not in this mode */
	if (!err && l->write)
		err = run(l, "PRAGMA journal_mode = WAL", "opening it");
	if (!err)
		trust_database(l);
	/* once accepted, a restored ledger defines the state */
	if (!err && l->write && !(flags & DEALBOX_LEDGER_RESTORED))
		err = ledger_heads_open(l);
	return err;
}

const struct dealbox_error *dealbox_ledger_error(const struct dealbox_ledger *l)
{
	return &l->error;
}
