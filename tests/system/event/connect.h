/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Connections of programs that test and measure the database of an event. They exit on errors. */
#ifndef EVENT_CONNECT_H
#define EVENT_CONNECT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "pool/pool.h"
#include "pool/pool-internal.h"

/* Connects as a user; address is without one. pool_close() it. */
static inline struct pool *connect_as(const char *address, const char *user)
{
	struct dealbox_error error;
	char whole[512];
	struct pool *pool;

	snprintf(whole, sizeof(whole), "%s user=%s", address, user);
	pool = pool_open(whole, &error);
	if (pool)
		return pool;
	fprintf(stderr, "%s: %s\n", whole, error.what);
	exit(1);
}

static inline int number_row(const char *const *columns, size_t count, void *context)
{
	(void)count;
	*(uint64_t *)context = pool_number(columns[0]);
	return 0;
}

/* Runs a statement; returns the number in its first column, 0 without a row. */
static inline uint64_t sql(struct pool *pool, const char *text)
{
	struct dealbox_error error;
	uint64_t out = 0;

	if (!pool_run(pool, &error, number_row, &out, text, 0, NULL))
		return out;
	fprintf(stderr, "%s: %s\n", text, error.what);
	exit(1);
}

#endif
