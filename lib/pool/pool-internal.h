/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files of this room. */
#ifndef POOL_INTERNAL_H
#define POOL_INTERNAL_H

#include "pool/pool.h"

struct pool {
	const struct database *database;
	struct connection *connection;
};

typedef int (*pool_row)(const char *const *columns, size_t count, void *context);

/* Run a statement; see struct database. */
int pool_run(struct pool *pool, struct dealbox_error *error, pool_row row, void *context,
	     const char *sql, size_t count, const char *const *values);

/* The same for a statement that gives one row without null. -EBADMSG: it gives anything else. */
int pool_get(struct pool *pool, struct dealbox_error *error, pool_row row, void *context,
	     const char *sql, size_t count, const char *const *values);

/* Returns true if no column is null. */
bool pool_full(const char *const *columns, size_t count);

/* Return the value of a column: 0 and false if it is null. */
uint64_t pool_number(const char *text);
bool pool_true(const char *text);

/* Return bytes as a value for PostgreSQL; free it. NULL: no memory. */
char *pool_bytea(const uint8_t *bytes, size_t size);

/* Read exactly size bytes of hexadecimal text. Returns false if it is anything else. */
bool pool_hex(const char *text, uint8_t *bytes, size_t size);

/*
 * Run a command without values, or end a transaction: COMMIT if err is 0. Returns err, or its own.
 */
int pool_command(struct pool *pool, const char *sql, struct dealbox_error *error);
int pool_finish(struct pool *pool, int err, struct dealbox_error *error);

#endif
