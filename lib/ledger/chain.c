// SPDX-License-Identifier: LGPL-2.1-or-later
/* Transactions, the chain of records, sealing and fingerprints. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "cards/deal-internal.h"
#include "ledger-internal.h"

int ledger_begin(struct dealbox_ledger *l)
{
	int err;

	if (!l->write)
		return ledger_fail(l, -EROFS, "%s: opened for reading only", l->path);
	if (l->damaged)
		return ledger_fail(l, -EUCLEAN, "%s: the ledger is damaged: nothing more is "
						"written to it", l->path);
	err = ledger_run(l, "BEGIN IMMEDIATE", "beginning to write");
	if (err)
		return err;
	err = dealbox_ledger_get_head(l, &l->head);
	return err ? ledger_commit(l, err) : 0;
}

int ledger_commit(struct dealbox_ledger *l, int error)
{
	if (!error) {
		error = ledger_run(l, "COMMIT", "writing");
		if (!error)
			ledger_heads_note(l);
	}
	/* also after a COMMIT that failed: then the transaction may still be open */
	if (error && !sqlite3_get_autocommit(l->db))
		sqlite3_exec(l->db, "ROLLBACK", NULL, NULL, NULL);
	return error;
}

/* Bind the fields of an insertion that a record of this kind has, from parameter n on. */
static int bind_fields(struct dealbox_ledger *l, sqlite3_stmt *stmt, enum ledger_kind kind, int n,
		       const struct dealbox_ledger_insertion *insertion)
{
	const struct ledger_column *column;
	int rc = SQLITE_OK;

	for (column = ledger_tables[kind].columns; column->name; column++) {
		const struct ledger_field *field = &column->field;

		if (!field->name)
			continue;
		if (field->form == 't')
			rc = sqlite3_bind_text(stmt, n++, (const char *)insertion + field->offset,
					       -1, SQLITE_STATIC);
		else
			sqlite3_bind_int64(stmt, n++, ledger_field_number(field, insertion));
	}
	return rc == SQLITE_OK ? 0 : ledger_fail_sql(l, "preparing a query");
}

static int append(struct dealbox_ledger *l, enum ledger_kind kind, uint64_t *seq,
		  const struct dealbox_ledger_insertion *insertion, const char *format, va_list ap)
{
	uint64_t next = ledger_next(l);
	sqlite3_stmt *stmt = l->insert[kind];
	char sql[LEDGER_STATEMENT];
	uint8_t hash[DEALBOX_LEDGER_HASH];
	int err, rc;

	if (!stmt) {
		ledger_insert(kind, sql);
		stmt = l->insert[kind] = ledger_prepare(l, sql);
		if (!stmt)
			return l->error.code;
	}
	sqlite3_bind_int64(stmt, 1, next);
	err = ledger_bind(l, stmt, 2, format, ap);
	if (!err)
		err = bind_fields(l, stmt, kind, 2 + (int)strlen(format), insertion);
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
		return l->error.code;
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

int ledger_append(struct dealbox_ledger *l, enum ledger_kind kind, uint64_t *seq,
		  const char *format, ...)
{
	va_list ap;
	int err;

	va_start(ap, format);
	err = append(l, kind, seq, NULL, format, ap);
	va_end(ap);
	return err;
}

int ledger_append_insertion(struct dealbox_ledger *l, enum ledger_kind kind, uint64_t *seq,
			    const struct dealbox_ledger_insertion *insertion, const char *format,
			    ...)
{
	va_list ap;
	int err;

	va_start(ap, format);
	err = append(l, kind, seq, insertion, format, ap);
	va_end(ap);
	return err;
}

int64_t ledger_field_number(const struct ledger_field *field,
			    const struct dealbox_ledger_insertion *insertion)
{
	uint32_t narrow;
	int64_t wide;

	if (field->size == sizeof(wide)) {
		memcpy(&wide, (const char *)insertion + field->offset, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, (const char *)insertion + field->offset, sizeof(narrow));
	return narrow;
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
	char sql[LEDGER_STATEMENT], columns[LEDGER_SQL];
	sqlite3_stmt *stmt = l->select[kind];
	crypto_generichash_state state;
	int n, rc;

	if (!stmt) {
		ledger_columns(kind, columns);
		snprintf(sql, sizeof(sql), "SELECT %s FROM %s WHERE seq = ?", columns,
			 ledger_tables[kind].name);
		stmt = l->select[kind] = ledger_prepare(l, sql);
		if (!stmt)
			return l->error.code;
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

	return crypto_aead_xchacha20poly1305_ietf_decrypt(plain, NULL, NULL, text,
							  size - (text - sealed),
							  (const uint8_t *)&seq, sizeof(seq),
							  sealed, l->keys.seal) ? -EBADMSG : 0;
}

int64_t ledger_fingerprint(const struct ledger_keys *keys, const struct dealbox_deal *deal)
{
	struct dealbox_deal turned;
	crypto_generichash_state state;
	uint8_t hash[16];
	int64_t out;
	int n;

	deal_turn(deal, &turned);
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
