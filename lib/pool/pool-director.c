// SPDX-License-Identifier: LGPL-2.1-or-later
/* The director's requests to the pool. */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error-internal.h"
#include "pool/pool-internal.h"

static int out_of_memory(struct dealbox_error *error)
{
	return error_set(error, -ENOMEM, 0, NULL, "out of memory");
}

/* ---- admission ------------------------------------------------------------ */

static int key_row(const char *const *columns, size_t count, void *context)
{
	(void)count;
	return pool_hex(columns[0], context, POOL_KEY) ? 1 : -EPROTO;
}

int pool_get_pc_key(struct pool *pool, const char *name, uint8_t public_key[POOL_KEY],
		    struct dealbox_error *error)
{
	int err = pool_run(pool, error, key_row, public_key,
			   "SELECT encode(public_key, 'hex') FROM dealbox.pc "
			   "WHERE name = $1 AND state <> 'left'", 1, &name);

	if (err)
		return err == 1 ? 0 : err;
	return error_set(error, -ENOENT, 0, "`dealbox event status` lists them",
			 "there is no PC %s in the event", name);
}

int pool_admit(struct pool *pool, const uint8_t key[POOL_KEY], const char *name,
	       const uint8_t public_key[POOL_KEY], struct dealbox_error *error)
{
	uint8_t sealed[POOL_SEALED_KEY], admission[POOL_KEY];
	char *texts[3];
	int err;

	if (pool_seal_key(public_key, key, sealed))
		return error_set(error, -EINVAL, 0,
				 "do not use that PC until the reason is known: dealbox makes "
				 "no such key",
				 "PC %s shows a key for which nothing can be sealed", name);
	pool_admission(key, name, public_key, admission);
	texts[0] = pool_bytea(public_key, POOL_KEY);
	texts[1] = pool_bytea(sealed, sizeof(sealed));
	texts[2] = pool_bytea(admission, sizeof(admission));
	if (texts[0] && texts[1] && texts[2])
		err = pool_run(pool, error, NULL, NULL, "SELECT dealbox.give_key($1, $2, $3, $4)",
			       4, (const char *[]){ name, texts[0], texts[1], texts[2] });
	else
		err = out_of_memory(error);
	for (size_t n = 0; n < 3; n++)
		free(texts[n]);
	return err;
}

/* ---- jobs ----------------------------------------------------------------- */

/* The PCs that have an admission. */
struct admitted {
	const uint8_t *key;
	struct {
		char name[POOL_NAME];
		uint8_t public_key[POOL_KEY];
	} *pcs;
	size_t count;
};

static int admitted_row(const char *const *columns, size_t count, void *context)
{
	uint8_t public_key[POOL_KEY], admission[POOL_KEY], wanted[POOL_KEY];
	struct admitted *admitted = context;
	void *grown;

	if (!pool_full(columns, count))
		return -EBADMSG;
	if (!pool_hex(columns[1], public_key, POOL_KEY) ||
	    !pool_hex(columns[2], admission, POOL_KEY))
		return -EPROTO;
	/* else whoever runs the database could add a PC of his own, and get the deals */
	pool_admission(admitted->key, columns[0], public_key, wanted);
	if (sodium_memcmp(wanted, admission, POOL_KEY))
		return -EKEYREJECTED;
	grown = realloc(admitted->pcs, (admitted->count + 1) * sizeof(*admitted->pcs));
	if (!grown)
		return -ENOMEM;
	admitted->pcs = grown;
	snprintf(admitted->pcs[admitted->count].name, POOL_NAME, "%s", columns[0]);
	memcpy(admitted->pcs[admitted->count++].public_key, public_key, POOL_KEY);
	return 0;
}

static int number_row(const char *const *columns, size_t count, void *context)
{
	(void)count;
	*(uint32_t *)context = (uint32_t)pool_number(columns[0]);
	return 0;
}

/* The numbers of a set's boards and the hashes of their deals, as arrays; free both. */
static int arrays_of(const uint8_t key[POOL_KEY], const struct dealbox_set *set, char **numbers,
		     char **hashes)
{
	struct dealbox_board board;
	size_t sizes[2];
	FILE *number_file = open_memstream(numbers, &sizes[0]);
	FILE *hash_file = open_memstream(hashes, &sizes[1]);
	char hash[LEASE_ID];
	bool good = number_file && hash_file;

	for (size_t n = 0; good && n < dealbox_set_count(set); n++) {
		dealbox_set_get(set, n, &board);
		pool_hash(key, &board.deal, hash);
		fprintf(number_file, "%c%" PRIu32, n ? ',' : '{', board.number);
		fprintf(hash_file, "%c%s", n ? ',' : '{', hash);
	}
	sodium_memzero(&board, sizeof(board));
	if (good) {
		fputc('}', number_file);
		fputc('}', hash_file);
	}
	if (number_file && fclose(number_file))
		good = false;
	if (hash_file && fclose(hash_file))
		good = false;
	return good ? 0 : -ENOMEM;
}

/*
 * Gets the PC of that name, or NULL for all, that were admitted and are not lost; free
 * admitted->pcs.
 */
static int admitted_get(struct pool *pool, const char *name, struct admitted *admitted,
			struct dealbox_error *error)
{
	int err = pool_run(
		pool, error, admitted_row, admitted,
		"SELECT name, encode(public_key, 'hex'), encode(admission, 'hex') FROM dealbox.pc "
		"WHERE admission IS NOT NULL AND state = 'here' AND name = coalesce($1, name) "
		"ORDER BY name", 1, &name);

	if (err == -EKEYREJECTED)
		error_fill(error, err, 0,
			   "use the key of this event; if that fails, "
			   "somebody has changed the database",
			   "a PC was admitted with another key than this");
	return err;
}

static int job_insert(struct pool *pool, const uint8_t key[POOL_KEY],
		      const struct pool_new_job *new_job, uint32_t *job,
		      struct dealbox_error *error)
{
	char copies[12], priority[12], *numbers = NULL, *hashes = NULL;
	const char *values[] = {
		new_job->session, copies, priority, new_job->replay ? "t" : "f", NULL, NULL
	};
	int err = arrays_of(key, new_job->set, &numbers, &hashes);

	snprintf(copies, sizeof(copies), "%" PRIu32, new_job->copies);
	snprintf(priority, sizeof(priority), "%d", new_job->priority);
	values[4] = numbers;
	values[5] = hashes;
	if (err)
		err = out_of_memory(error);
	else
		err = pool_get(pool, error, number_row, job,
			       "SELECT dealbox.add_job($1, $2, $3, $4, $5, $6)", 6, values);
	free(numbers);
	free(hashes);
	return err;
}

static int set_give(struct pool *pool, const uint8_t key[POOL_KEY], const char *name,
		    const uint8_t public_key[POOL_KEY], uint32_t job, const char *session,
		    const struct dealbox_set *set, struct dealbox_error *error)
{
	char number[12], *text = NULL;
	uint8_t *sealed;
	size_t size;
	int err = pool_seal_set(key, public_key, job, session, set, &sealed, &size);

	if (err)
		return error_set(error, err, 0, NULL, "the set cannot be sealed for PC %s", name);
	snprintf(number, sizeof(number), "%" PRIu32, job);
	text = pool_bytea(sealed, size);
	if (text)
		err = pool_run(pool, error, NULL, NULL, "SELECT dealbox.give_set($1, $2, $3)", 3,
			       (const char *[]) { name, number, text });
	else
		err = out_of_memory(error);
	free(text);
	free(sealed);
	return err;
}

int pool_add_job(struct pool *pool, const uint8_t key[POOL_KEY], const struct pool_new_job *new_job,
		 uint32_t *job, uint32_t *pcs, struct dealbox_error *error)
{
	struct admitted admitted = { .key = key };
	int err = pool_command(pool, "BEGIN", error);
	size_t n;

	if (err)
		return err;
	err = admitted_get(pool, NULL, &admitted, error);
	if (!err && !admitted.count)
		err = error_set(error, -ENOKEY, 0,
				"admit PCs first, with `dealbox event admit`",
				"the event has no PC that is admitted, so nobody could deal this");
	if (!err)
		err = job_insert(pool, key, new_job, job, error);
	for (n = 0; n < admitted.count && !err; n++)
		err = set_give(pool, key, admitted.pcs[n].name, admitted.pcs[n].public_key, *job,
			       new_job->session, new_job->set, error);
	*pcs = (uint32_t)admitted.count;
	free(admitted.pcs);
	return pool_finish(pool, err, error);
}

static int session_row(const char *const *columns, size_t count, void *context)
{
	if (!pool_full(columns, count))
		return -EBADMSG;
	snprintf(context, POOL_SESSION, "%s", columns[0]);
	return 1;
}

/* Gets the session of a job, and makes sure that the set is that of the job. */
static int job_check(struct pool *pool, const uint8_t key[POOL_KEY], uint32_t job,
		     const struct dealbox_set *set, char session[POOL_SESSION],
		     struct dealbox_error *error)
{
	char number[12], *numbers = NULL, *hashes = NULL;
	const char *values[3] = { number };
	int err;

	snprintf(number, sizeof(number), "%" PRIu32, job);
	err = pool_run(pool, error, session_row, session,
		       "SELECT session FROM dealbox.job WHERE id = $1", 1, values);
	if (!err)
		return error_set(error, -ENOENT, 0, "`dealbox event status` lists them",
				 "there is no job %" PRIu32 " in the event", job);
	if (err < 0)
		return err;
	err = arrays_of(key, set, &numbers, &hashes);
	values[1] = numbers;
	values[2] = hashes;
	if (err)
		err = out_of_memory(error);
	else
		err = pool_run(pool, error, NULL, NULL, "SELECT dealbox.check_set($1, $2, $3)", 3,
			       values);
	free(numbers);
	free(hashes);
	return err;
}

int pool_give(struct pool *pool, const uint8_t key[POOL_KEY], const char *name, uint32_t job,
	      const struct dealbox_set *set, struct dealbox_error *error)
{
	struct admitted admitted = { .key = key };
	uint8_t public_key[POOL_KEY];
	char session[POOL_SESSION];
	int err = pool_get_pc_key(pool, name, public_key, error);

	if (!err)
		err = pool_command(pool, "BEGIN", error);
	if (err)
		return err;
	err = admitted_get(pool, name, &admitted, error);
	if (!err && !admitted.count)
		err = error_set(error, -ENOKEY, 0, "`dealbox event status` says which",
				"PC %s is not admitted, or is lost", name);
	if (!err)
		err = job_check(pool, key, job, set, session, error);
	if (!err)
		err = set_give(pool, key, name, admitted.pcs[0].public_key, job, session, set,
			       error);
	free(admitted.pcs);
	return pool_finish(pool, err, error);
}

/* ---- what a person has found ------------------------------------------------- */

int pool_remove(struct pool *pool, const char *pc, uint32_t *opened, struct dealbox_error *error)
{
	return pool_get(pool, error, number_row, opened, "SELECT dealbox.remove($1)", 1, &pc);
}

int pool_open_job(struct pool *pool, uint32_t job, bool open, struct dealbox_error *error)
{
	char number[12];
	const char *values[] = { number, open ? "t" : "f" };

	snprintf(number, sizeof(number), "%" PRIu32, job);
	return pool_run(pool, error, NULL, NULL, "SELECT dealbox.open_job($1, $2)", 2, values);
}

int pool_let_rest(struct pool *pool, const char *pc, bool rest, struct dealbox_error *error)
{
	const char *values[] = { pc, rest ? "t" : "f" };

	return pool_run(pool, error, NULL, NULL, "SELECT dealbox.let_rest($1, $2)", 2, values);
}

int pool_dismiss(struct pool *pool, uint64_t surplus, struct dealbox_error *error)
{
	char number[24];
	const char *values[] = { number };

	snprintf(number, sizeof(number), "%" PRIu64, surplus);
	return pool_run(pool, error, NULL, NULL, "SELECT dealbox.dismiss($1)", 1, values);
}

static int name_row(const char *const *columns, size_t count, void *context)
{
	(void)count;
	snprintf(context, POOL_NAME, "%s", columns[0]);
	return 0;
}

int pool_void(struct pool *pool, const struct lease_copy *copy, char pc[POOL_NAME],
	      struct dealbox_error *error)
{
	char job[12], board[12], number[12];
	const char *values[] = { job, board, number };

	snprintf(job, sizeof(job), "%" PRIu32, copy->job);
	snprintf(board, sizeof(board), "%" PRIu32, copy->board);
	snprintf(number, sizeof(number), "%" PRIu32, copy->copy);
	return pool_get(pool, error, name_row, pc, "SELECT dealbox.void($1, $2, $3)", 3, values);
}
