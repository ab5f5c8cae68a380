// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a PC asks of the pool. */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "error-internal.h"
#include "pool/pool-internal.h"

void pool_uuid(char uuid[LEASE_ID])
{
	uint8_t bytes[16];
	char hex[33];

	randombytes_buf(bytes, sizeof(bytes));
	sodium_bin2hex(hex, sizeof(hex), bytes, sizeof(bytes));
	snprintf(uuid, LEASE_ID, "%.8s-%.4s-4%.3s-a%.3s-%.12s", hex, hex + 8, hex + 13, hex + 17,
		 hex + 20);
}

int pool_time(struct lease_time *now)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	struct timespec at;
	bool good;

	if (!file)
		return -errno;
	good = fscanf(file, "%36s", now->boot) == 1;
	fclose(file);
	if (!good)
		return -EIO;
	if (clock_gettime(CLOCK_BOOTTIME, &at))
		return -errno;
	now->ms = (uint64_t)at.tv_sec * 1000 + (uint64_t)at.tv_nsec / 1000000;
	return 0;
}

static int text_row(const char *const *columns, size_t count, void *context)
{
	snprintf(context, LEASE_ID, "%s", columns[count - 1] ? columns[count - 1] : "");
	return 0;
}

int pool_join(struct pool *pool, const char *name, const uint8_t public_key[POOL_KEY],
	      char token[LEASE_ID], struct dealbox_error *error)
{
	char key[2 * POOL_KEY + 3] = "\\x";
	const char *values[] = { name, key };

	sodium_bin2hex(key + 2, sizeof(key) - 2, public_key, POOL_KEY);
	return pool_run(pool, error, text_row, token,
			"SELECT id, token FROM dealbox.join_event($1, $2)", 2, values);
}

/* ---- requests ----------------------------------------------------------- */

struct taken {
	uint64_t lease_ms;
	struct lease_copy *copies;
	size_t count;
};

static int taken_row(const char *const *columns, size_t count, void *context)
{
	struct taken *taken = context;
	struct lease_copy *grown;

	(void)count;
	taken->lease_ms = pool_number(columns[0]);
	if (!columns[1])
		return 0;
	grown = realloc(taken->copies, (taken->count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	taken->copies = grown;
	grown[taken->count++] = (struct lease_copy){
		.job = (uint32_t)pool_number(columns[1]),
		.board = (uint32_t)pool_number(columns[2]),
		.copy = (uint32_t)pool_number(columns[3]),
	};
	return 0;
}

static int take(struct pool *pool, struct lease *lease, const struct lease_time *sent,
		const char *values[4], struct dealbox_error *error)
{
	struct taken taken = { 0 };
	char want[12];
	int err;

	snprintf(want, sizeof(want), "%" PRIu32, lease->want);
	values[3] = want;
	err = pool_run(pool, error, taken_row, &taken,
		       "SELECT lease_ms, job, number, copy FROM dealbox.take($1, $2, $3, $4)", 4,
		       values);
	if (!err)
		err = lease_answer_take(lease, sent, taken.lease_ms, taken.copies, taken.count);
	free(taken.copies);
	return err;
}

static int true_row(const char *const *columns, size_t count, void *context)
{
	(void)count;
	*(bool *)context = pool_true(columns[0]);
	return 0;
}

/* An array of PostgreSQL of one number of each copy; free it. */
static char *array_of(const struct lease_copy *copies, size_t count, size_t offset)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputc('{', out);
	for (size_t n = 0; n < count; n++)
		fprintf(out, "%s%" PRIu32, n ? "," : "",
			*(const uint32_t *)((const char *)&copies[n] + offset));
	fputc('}', out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static int give_back(struct pool *pool, struct lease *lease, const struct lease_time *sent,
		     const char *values[6], struct dealbox_error *error)
{
	const struct lease_copy *copies = lease->given;
	char *jobs = array_of(copies, lease->given_count, offsetof(struct lease_copy, job));
	char *boards = array_of(copies, lease->given_count, offsetof(struct lease_copy, board));
	char *numbers = array_of(copies, lease->given_count, offsetof(struct lease_copy, copy));
	bool lost = false;
	int err = -ENOMEM;

	(void)sent;
	values[3] = jobs;
	values[4] = boards;
	values[5] = numbers;
	if (jobs && boards && numbers)
		err = pool_run(pool, error, true_row, &lost,
			       "SELECT dealbox.give_back($1, $2, $3, $4, $5, $6)", 6, values);
	free(jobs);
	free(boards);
	free(numbers);
	if (!err)
		lease_answer(lease, lost);
	return err;
}

static int back(struct pool *pool, struct lease *lease, const struct lease_time *sent,
		const char *values[3], struct dealbox_error *error)
{
	int err = pool_run(pool, error, NULL, NULL, "SELECT dealbox.back($1, $2, $3)", 3, values);

	(void)sent;
	if (!err)
		lease_answer(lease, false);
	return err;
}

static int leave(struct pool *pool, struct lease *lease, const struct lease_time *sent,
		 const char *values[3], struct dealbox_error *error)
{
	int err = pool_run(pool, error, NULL, NULL, "SELECT dealbox.leave($1, $2, $3)", 3, values);

	(void)sent;
	if (!err)
		lease_answer(lease, false);
	return err;
}

int pool_request(struct pool *pool, const char *token, struct lease *lease,
		 const struct lease_time *sent, struct dealbox_error *error)
{
	static int (*const senders[LEASE_REQUESTS])(struct pool *, struct lease *,
						    const struct lease_time *, const char **,
						    struct dealbox_error *) = {
		[LEASE_TAKE] = take,
		[LEASE_GIVE_BACK] = give_back,
		[LEASE_BACK] = back,
		[LEASE_LEAVE] = leave,
	};
	char number[24];
	const char *values[6] = { token, number, lease->nonce };

	snprintf(number, sizeof(number), "%" PRIu64, lease->asked);
	return senders[lease->request] ? senders[lease->request](pool, lease, sent, values, error)
				       : 0;
}

/* ---- reports ------------------------------------------------------------ */

static int standing_row(const char *const *columns, size_t count, void *context)
{
	static const char *const standings[] = { "counts", "surplus", "withdrawn", "no board" };
	size_t n;

	(void)count;
	for (n = 0; n < sizeof(standings) / sizeof(standings[0]); n++)
		if (columns[0] && !strcmp(columns[0], standings[n])) {
			*(enum pool_standing *)context = n;
			return 0;
		}
	return -EPROTO;
}

int pool_report(struct pool *pool, const char *token, const struct pool_report *report,
		enum pool_standing *standing, struct dealbox_error *error)
{
	char insertion[12], job[12], board[12], copy[12], at[32];
	const char *values[] = { token, report->machine, insertion,	  job, board,
				 copy,	report->hash,	 report->outcome, at };

	snprintf(insertion, sizeof(insertion), "%" PRIu32, report->insertion);
	snprintf(job, sizeof(job), "%" PRIu32, report->copy.job);
	snprintf(board, sizeof(board), "%" PRIu32, report->copy.board);
	snprintf(copy, sizeof(copy), "%" PRIu32, report->copy.copy);
	snprintf(at, sizeof(at), "%" PRId64 ".%06" PRId64, report->at / 1000000,
		 report->at % 1000000);
	return pool_run(
		pool, error, standing_row, standing,
		"SELECT dealbox.report($1, $2, $3, $4, $5, $6, $7, $8, to_timestamp($9::float8))",
		9, values);
}

int pool_withdraw(struct pool *pool, const char *token, const char *machine, uint32_t insertion,
		  bool *holds, struct dealbox_error *error)
{
	char number[12];
	const char *values[] = { token, machine, number };

	snprintf(number, sizeof(number), "%" PRIu32, insertion);
	return pool_run(pool, error, true_row, holds, "SELECT dealbox.withdraw($1, $2, $3)", 3,
			values);
}
