// SPDX-License-Identifier: LGPL-2.1-or-later
/* A PC's requests to the pool. */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "error-internal.h"
#include "pool/database.h"
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

int pool_join(struct pool *pool, const char *name, const uint8_t public_key[POOL_KEY],
	      const char *token, struct dealbox_error *error)
{
	char *key = pool_bytea(public_key, POOL_KEY);
	const char *values[] = { name, key, token };
	int err = key ? pool_run(pool, error, NULL, NULL, "SELECT dealbox.join_event($1, $2, $3)",
				 3, values)
		      : error_set(error, -ENOMEM, 0, NULL, "out of memory");

	free(key);
	return err;
}

/* The server's answer to a PC that asks to join. */
struct admission {
	bool left, lost, admitted;
	uint64_t asked;
	uint8_t sealed_key[POOL_SEALED_KEY];
};

static int admission_row(const char *const *columns, size_t count, void *context)
{
	struct admission *admission = context;

	if (!pool_full(columns, count - 1))
		return -EBADMSG;
	admission->left = !strcmp(columns[0], "left");
	admission->lost = !strcmp(columns[0], "lost");
	admission->asked = pool_number(columns[1]);
	admission->admitted = columns[2];
	if (columns[2] && !pool_hex(columns[2], admission->sealed_key, POOL_SEALED_KEY))
		return -EBADMSG;
	return 1;
}

/* By the public key: the user of a PC that has left may be another PC by now. */
static int get_admission(struct pool *pool, const uint8_t public_key[POOL_KEY],
			 struct admission *admission, struct dealbox_error *error)
{
	char *key = pool_bytea(public_key, POOL_KEY);
	const char *values[] = { key };
	int err = -ENOMEM;

	if (key)
		err = pool_run(pool, error, admission_row, admission,
			       "SELECT state, asked, encode(sealed_key, 'hex') "
			       "FROM dealbox.admission_of($1)", 1, values);
	else
		error_fill(error, -ENOMEM, 0, NULL, "out of memory");
	free(key);
	if (!err)
		return error_set(error, -EPERM, 0, "join with `dealbox event join`",
				 "this PC has not joined the event as this user");
	return err == 1 ? 0 : err;
}

int pool_get_key(struct pool *pool, const uint8_t public_key[POOL_KEY],
		 const uint8_t secret_key[POOL_KEY], const char *print, uint8_t key[POOL_KEY],
		 struct dealbox_error *error)
{
	struct admission admission;
	uint8_t check[POOL_KEY];
	char own[POOL_PRINT];
	int err = get_admission(pool, public_key, &admission, error);

	if (!err && !admission.admitted)
		return error_set(error, -ENOKEY, 0, "let the director run `dealbox event admit`",
				 "the director has not admitted this PC yet");
	if (!err)
		err = pool_open_key(public_key, secret_key, admission.sealed_key, key);
	if (!err) {
		pool_key_check(key, check);
		pool_print(check, own);
		if (strcmp(own, print))
			err = -EBADMSG;
	}
	if (err == -EBADMSG) {
		sodium_memzero(key, POOL_KEY);
		return error_set(error, err, 0,
				 "compare the fingerprint of the event again; if it is "
				 "right, somebody has changed the database",
				 "this PC was given the key of another event");
	}
	return err;
}

int pool_forget_lease(struct pool *pool, const uint8_t public_key[POOL_KEY], struct lease *lease,
		      struct dealbox_error *error)
{
	struct admission admission;
	int err = get_admission(pool, public_key, &admission, error);

	if (err)
		return err;
	if (!admission.lost && !admission.left)
		return error_set(error, -EBUSY, 0, "ask the director to declare this PC lost",
				 "this PC may hold copies, and does not know which");
	lease_clear(lease);
	lease->asked = admission.asked;
	lease->lost = admission.lost;
	return 0;
}

struct sealed_set {
	char session[POOL_SESSION];
	uint8_t *bytes;
	size_t size;
};

static int sealed_set_row(const char *const *columns, size_t count, void *context)
{
	struct sealed_set *sealed = context;

	if (sealed->bytes || !pool_full(columns, count))
		return -EBADMSG;
	snprintf(sealed->session, sizeof(sealed->session), "%s", columns[0]);
	sealed->size = strlen(columns[1]) / 2;
	sealed->bytes = malloc(sealed->size + 1);
	if (!sealed->bytes)
		return -ENOMEM;
	return pool_hex(columns[1], sealed->bytes, sealed->size) ? 1 : -EBADMSG;
}

int pool_get_set(struct pool *pool, const uint8_t key[POOL_KEY], const uint8_t public_key[POOL_KEY],
		 const uint8_t secret_key[POOL_KEY], uint32_t job, struct dealbox_set **set,
		 char session[POOL_SESSION], struct dealbox_error *error)
{
	struct sealed_set sealed = { 0 };
	struct admission admission;
	const char *values[1];
	char number[12];
	int err;

	snprintf(number, sizeof(number), "%" PRIu32, job);
	values[0] = number;
	*set = NULL;
	err = get_admission(pool, public_key, &admission, error);
	if (!err && admission.lost)
		return error_set(error, -ENOENT, 0,
				 "let it report and leave; it may join under another name",
				 "this PC was declared lost, and gets no set");
	if (!err && admission.left)
		return error_set(error, -EPERM, 0,
				 "it may report with `dealbox event send`, "
				 "and join under another name",
				 "this PC has left the event, and gets no set");
	if (err)
		return err;
	err = pool_run(pool, error, sealed_set_row, &sealed,
		       "SELECT j.session, encode(s.sealed, 'hex') FROM dealbox.sealed_set s "
		       "JOIN dealbox.job j ON j.id = s.job WHERE s.job = $1", 1, values);
	if (!err)
		err = error_set(error, -ENOENT, 0,
				"a PC gets the sets of jobs that were "
				"added after its admission",
				"this PC has no set of job %" PRIu32, job);
	else if (err == 1)
		err = pool_open_set(key, public_key, secret_key, job, sealed.session,
				    sealed.bytes, sealed.size, set);
	if (!err)
		snprintf(session, POOL_SESSION, "%s", sealed.session);
	if (err == -ENOMEM)
		error_fill(error, -ENOMEM, 0, NULL, "out of memory");
	free(sealed.bytes);
	if (err == -EBADMSG)
		return error_set(error, err, 0,
				 "do not deal this job: somebody has changed the database",
				 "the set of job %" PRIu32 " was not sealed by the director", job);
	return err;
}

/* ---- requests ----------------------------------------------------------- */

#define REQUEST_VALUES	8	/* of the request that has the most */

struct taken {
	uint64_t lease_ms;
	struct lease_copy *copies;
	size_t count;
};

static int taken_row(const char *const *columns, size_t count, void *context)
{
	struct taken *taken = context;
	struct lease_copy *grown;

	if (!columns[0])
		return -EBADMSG;
	taken->lease_ms = pool_number(columns[0]);
	if (!columns[1])
		return 0;
	if (!pool_full(columns, count))
		return -EBADMSG;
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

/* An array of PostgreSQL of one number of each of count structures of a size; free it. */
static char *numbers_print(const void *structures, size_t count, size_t size_of_one, size_t offset)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputc('{', out);
	for (size_t n = 0; n < count; n++)
		fprintf(out, "%s%" PRIu32, n ? "," : "",
			*(const uint32_t *)((const char *)structures + n * size_of_one + offset));
	fputc('}', out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* The three arrays that name copies. */
struct copy_lists {
	char *jobs, *boards, *numbers;
};

/* Returns 0 or -ENOMEM; the lists go to copies_free() either way. */
static int copies_list(const struct lease_copy *copies, size_t count, struct copy_lists *lists,
		       struct dealbox_error *error)
{
	const size_t size = sizeof(*copies);

	lists->jobs = numbers_print(copies, count, size, offsetof(struct lease_copy, job));
	lists->boards = numbers_print(copies, count, size, offsetof(struct lease_copy, board));
	lists->numbers = numbers_print(copies, count, size, offsetof(struct lease_copy, copy));
	if (lists->jobs && lists->boards && lists->numbers)
		return 0;
	return error_set(error, -ENOMEM, 0, NULL, "out of memory");
}

static void copies_free(struct copy_lists *lists)
{
	free(lists->jobs);
	free(lists->boards);
	free(lists->numbers);
}

static int take(struct pool *pool, struct lease *lease, const struct lease_time *sent,
		const char *values[REQUEST_VALUES], struct dealbox_error *error)
{
	struct taken taken = { 0 };
	struct copy_lists but;
	char want[12], *jobs = NULL;
	int err = copies_list(lease->useless, lease->useless_count, &but, error);

	if (!err && lease->jobs) {
		jobs = numbers_print(lease->jobs, lease->jobs_count, sizeof(*lease->jobs), 0);
		if (!jobs)
			err = error_set(error, -ENOMEM, 0, NULL, "out of memory");
	}
	snprintf(want, sizeof(want), "%" PRIu32, lease->want);
	values[3] = want;
	values[4] = jobs;
	values[5] = but.jobs;
	values[6] = but.boards;
	values[7] = but.numbers;
	if (!err)
		err = pool_run(pool, error, taken_row, &taken,
			       "SELECT lease_ms, job, number, copy "
			       "FROM dealbox.take($1, $2, $3, $4, $5, $6, $7, $8)", 8, values);
	free(jobs);
	copies_free(&but);
	if (!err) {
		err = lease_answer_take(lease, sent, taken.lease_ms, taken.copies, taken.count);
		if (err)
			error_fill(error, err, 0, NULL, "the answer cannot be kept: %s",
				   strerror(-err));
	}
	free(taken.copies);
	return err;
}

static int true_row(const char *const *columns, size_t count, void *context)
{
	(void)count;
	*(bool *)context = pool_true(columns[0]);
	return 0;
}

static int give_back(struct pool *pool, struct lease *lease, const struct lease_time *sent,
		     const char *values[REQUEST_VALUES], struct dealbox_error *error)
{
	struct copy_lists lists;
	bool lost = false;
	int err = copies_list(lease->given, lease->given_count, &lists, error);

	(void)sent;
	values[3] = lists.jobs;
	values[4] = lists.boards;
	values[5] = lists.numbers;
	if (!err)
		err = pool_get(pool, error, true_row, &lost,
			       "SELECT dealbox.give_back($1, $2, $3, $4, $5, $6)", 6, values);
	copies_free(&lists);
	if (!err)
		lease_answer(lease, lost);
	return err;
}

static int back(struct pool *pool, struct lease *lease, const struct lease_time *sent,
		const char *values[REQUEST_VALUES], struct dealbox_error *error)
{
	int err = pool_run(pool, error, NULL, NULL, "SELECT dealbox.back($1, $2, $3)", 3, values);

	(void)sent;
	if (!err)
		lease_answer(lease, false);
	return err;
}

static int leave(struct pool *pool, struct lease *lease, const struct lease_time *sent,
		 const char *values[REQUEST_VALUES], struct dealbox_error *error)
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
	const char *values[REQUEST_VALUES] = { token, number, lease->nonce };

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
	return pool_get(
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
	return pool_get(pool, error, true_row, holds, "SELECT dealbox.withdraw($1, $2, $3)", 3,
			values);
}

/* ---- what a PC hears ---------------------------------------------------- */

int pool_listen(struct pool *pool, struct dealbox_error *error)
{
	return pool_command(pool, "LISTEN dealbox", error);
}

int pool_wait(struct pool *pool, int fd, struct dealbox_error *error)
{
	return pool->database->wait(pool->connection, fd, error);
}

struct walk {
	int (*job)(const struct pool_offer *offer, void *context);
	int (*record)(const struct pool_record *record, void *context);
	void *context;
};

static int offer_row(const char *const *columns, size_t count, void *context)
{
	const struct walk *walk = context;

	if (!pool_full(columns, count))
		return -EBADMSG;
	return walk->job(&(struct pool_offer){
		.id = (uint32_t)pool_number(columns[0]),
		.session = columns[1],
		.copies = (uint32_t)pool_number(columns[2]),
		.priority = (int)strtol(columns[3], NULL, 10),
		.replay = pool_true(columns[4]),
	}, walk->context);
}

int pool_get_offers(struct pool *pool, const char *token,
		    int (*each)(const struct pool_offer *offer, void *context), void *context,
		    struct dealbox_error *error)
{
	struct walk walk = { .job = each, .context = context };

	return pool_run(pool, error, offer_row, &walk,
			"SELECT id, session, copies, priority, replay FROM dealbox.jobs_of($1) "
			"ORDER BY id", 1, &token);
}

static int record_row(const char *const *columns, size_t count, void *context)
{
	const struct walk *walk = context;
	struct pool_record record;
	int err;

	if (!pool_full(columns, count))
		return -EBADMSG;
	record = (struct pool_record){
		.machine = columns[0],
		.insertion = (uint32_t)pool_number(columns[1]),
		.copy = { (uint32_t)pool_number(columns[2]), (uint32_t)pool_number(columns[3]),
			  (uint32_t)pool_number(columns[4]) },
	};
	err = standing_row(&columns[5], 1, &record.standing);
	return err ? err : walk->record(&record, walk->context);
}

int pool_get_records(struct pool *pool, const char *token,
		     int (*each)(const struct pool_record *record, void *context), void *context,
		     struct dealbox_error *error)
{
	struct walk walk = { .record = each, .context = context };

	return pool_run(pool, error, record_row, &walk,
			"SELECT machine, insertion, job, number, copy, standing "
			"FROM dealbox.records_of($1)", 1, &token);
}

/* ---- what a PC tells ---------------------------------------------------- */

/* An array of PostgreSQL of texts; free it. */
static char *texts_print(const struct pool_machine *machines, size_t count, size_t offset)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	const char *of;

	if (!out)
		return NULL;
	fputc('{', out);
	for (size_t n = 0; n < count; n++) {
		of = *(const char *const *)((const char *)&machines[n] + offset);
		fputs(n ? ",\"" : "\"", out);
		for (; *of; of++) {
			if (*of == '"' || *of == '\\')
				fputc('\\', out);
			fputc(*of, out);
		}
		fputc('"', out);
	}
	fputc('}', out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

int pool_tell_machines(struct pool *pool, const char *token, const struct pool_machine *machines,
		       size_t count, uint32_t open, struct dealbox_error *error)
{
	char *names = texts_print(machines, count, offsetof(struct pool_machine, name));
	char *states = texts_print(machines, count, offsetof(struct pool_machine, state));
	char *paces = numbers_print(machines, count, sizeof(*machines),
				    offsetof(struct pool_machine, pace_s));
	char number[12];
	const char *values[] = { token, names, states, paces, number };
	int err;

	snprintf(number, sizeof(number), "%" PRIu32, open);

	if (names && states && paces)
		err = pool_run(pool, error, NULL, NULL,
			       "SELECT dealbox.tell_machines($1, $2, $3, $4, $5)", 5, values);
	else
		err = error_set(error, -ENOMEM, 0, NULL, "out of memory");
	free(names);
	free(states);
	free(paces);
	return err;
}

/* ---- resting ------------------------------------------------------------ */

struct rest {
	bool *rest;
	char *by;
};

static int rest_row(const char *const *columns, size_t count, void *context)
{
	const struct rest *rest = context;

	(void)count;
	*rest->rest = pool_true(columns[0]);
	snprintf(rest->by, POOL_NAME, "%s", columns[1]);
	return 0;
}

int pool_get_rest(struct pool *pool, const char *token, const bool *said, bool *rest,
		  char by[POOL_NAME], struct dealbox_error *error)
{
	const char *values[] = { token, !said ? NULL : *said ? "t" : "f" };
	struct rest out = { rest, by };

	return pool_get(pool, error, rest_row, &out,
			"SELECT rest, rest_by FROM dealbox.rest_of($1, $2)", 2, values);
}

int pool_wish_rest(struct pool *pool, const char *token, const char *pc, bool rest,
		   struct dealbox_error *error)
{
	const char *values[] = { token, pc, rest ? "t" : "f" };

	return pool_run(pool, error, NULL, NULL, "SELECT dealbox.wish_rest($1, $2, $3)", 3, values);
}
