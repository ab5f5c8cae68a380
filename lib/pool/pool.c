// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/report.h>

#include "error-internal.h"
#include "pool-schema.h"
#include "pool/database.h"
#include "pool/pool-internal.h"

static const struct database *database_load(struct dealbox_error *error)
{
	/* found by the run path of the program: in a build that of lib/, else LIBDIR/dealbox */
	void *module = dlopen(DATABASE_FILE, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	const struct database *database = module ? dlsym(module, DATABASE_SYMBOL) : NULL;

	if (!database)
		error_fill(error, -ENOPKG, 0,
			   "install libpq; if it is there, dealbox was built without it",
			   "there are no events on many PCs without PostgreSQL: %s", dlerror());
	else if (database->version != DATABASE_VERSION)
		error_fill(error, -ENOPKG, 0, "install dealbox again",
			   "%s is of another version of dealbox", DATABASE_FILE);
	else
		return database;
	return NULL;
}

struct pool *pool_open(const char *address, struct dealbox_error *error)
{
	const struct database *database = database_load(error);
	struct pool *pool;

	if (!database)
		return NULL;
	pool = malloc(sizeof(*pool));
	if (!pool) {
		error_fill(error, -ENOMEM, 0, NULL, "out of memory");
		return NULL;
	}
	*pool = (struct pool){ .database = database, .connection = database->open(address, error) };
	if (pool->connection)
		return pool;
	free(pool);
	return NULL;
}

void pool_close(struct pool *pool)
{
	if (!pool)
		return;
	pool->database->close(pool->connection);
	free(pool);
}

int pool_run(struct pool *pool, struct dealbox_error *error, pool_row row, void *context,
	     const char *sql, size_t count, const char *const *values)
{
	int err;

	if (error)
		*error->what = *error->next = '\0';
	err = pool->database->run(pool->connection, sql, count, values, row, context, error);
	/* an error of row(), which has no words of its own */
	if (err < 0 && error && !*error->what)
		error_fill(error, err, 0,
			   "install the same version of dealbox on all PCs of the event; "
			   "if they have it, somebody has changed the database",
			   "dealbox does not understand an answer of the event's database: %s",
			   strerror(-err));
	return err;
}

bool pool_full(const char *const *columns, size_t count)
{
	while (count)
		if (!columns[--count])
			return false;
	return true;
}

struct one {
	pool_row row;
	void *context;
	unsigned int rows;
};

static int one_row(const char *const *columns, size_t count, void *context)
{
	struct one *one = context;

	if (one->rows++ || !pool_full(columns, count))
		return -EBADMSG;
	return one->row(columns, count, one->context);
}

int pool_get(struct pool *pool, struct dealbox_error *error, pool_row row, void *context,
	     const char *sql, size_t count, const char *const *values)
{
	struct one one = { .row = row, .context = context };
	int err = pool_run(pool, error, one_row, &one, sql, count, values);

	if (!err && !one.rows)
		return error_set(error, -EBADMSG, 0, "somebody has changed the database",
				 "the event's database gave no answer");
	return err;
}

uint64_t pool_number(const char *text)
{
	return text ? strtoull(text, NULL, 10) : 0;
}

bool pool_true(const char *text)
{
	return text && *text == 't';
}

char *pool_bytea(const uint8_t *bytes, size_t size)
{
	char *text = malloc(2 * size + 3);

	if (text) {
		strcpy(text, "\\x");
		sodium_bin2hex(text + 2, 2 * size + 1, bytes, size);
	}
	return text;
}

bool pool_hex(const char *text, uint8_t *bytes, size_t size)
{
	size_t length = 0;

	return text && strlen(text) == 2 * size &&
	       !sodium_hex2bin(bytes, size, text, 2 * size, NULL, &length, NULL) && length == size;
}

int pool_command(struct pool *pool, const char *sql, struct dealbox_error *error)
{
	return pool_run(pool, error, NULL, NULL, sql, 0, NULL);
}

int pool_finish(struct pool *pool, int err, struct dealbox_error *error)
{
	if (!err)
		return pool_command(pool, "COMMIT", error);
	pool_command(pool, "ROLLBACK", NULL);
	return err;
}

/* ---- the event ---------------------------------------------------------- */

int pool_init(struct pool *pool, const struct pool_terms *terms, struct dealbox_error *error)
{
	char version[12], lease[16], margin[16], *check;
	const char *values[] = { version, terms->name, lease, margin, NULL,
				 terms->rehearsal ? "t" : "f" };
	uint8_t key_check[POOL_KEY];
	int err;

	snprintf(version, sizeof(version), "%d", POOL_VERSION);
	snprintf(lease, sizeof(lease), "%" PRIu32, terms->lease_s);
	snprintf(margin, sizeof(margin), "%" PRIu32, terms->margin_s);
	pool_key_check(terms->key, key_check);
	check = pool_bytea(key_check, sizeof(key_check));
	if (!check)
		return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	values[4] = check;
	err = pool_command(pool, "BEGIN", error);
	if (err) {
		free(check);
		return err;
	}
	err = pool_command(pool, pool_schema, error);
	if (!err)
		err = pool_run(pool, error, NULL, NULL,
			       "INSERT INTO dealbox.event (version, name, made, lease, margin, "
			       "key_check, rehearsal) VALUES ($1, $2, now(), "
			       "make_interval(secs => $3), make_interval(secs => $4), $5, $6)",
			       6, values);
	free(check);
	return pool_finish(pool, err, error);
}

static int event_row(const char *const *columns, size_t count, void *context)
{
	struct pool_event *event = context;

	(void)count;
	if (pool_number(columns[0]) != POOL_VERSION)
		return -EPROTONOSUPPORT;
	dealbox_text_safe(columns[1], strlen(columns[1]), event->name, sizeof(event->name));
	event->lease_s = (uint32_t)(pool_number(columns[2]) / 1000);
	event->margin_s = (uint32_t)(pool_number(columns[3]) / 1000);
	event->rehearsal = pool_true(columns[4]);
	return pool_hex(columns[5], event->check, sizeof(event->check)) ? 0 : -EPROTO;
}

int pool_get_event(struct pool *pool, struct pool_event *event, struct dealbox_error *error)
{
	int err = pool_get(pool, error, event_row, event,
			   "SELECT version, name, lease_ms, margin_ms, rehearsal, key_check "
			   "FROM dealbox.status_event", 0,
			   NULL);

	if (err == -EPROTONOSUPPORT)
		return error_set(error, err, 0,
				 "install the same version of dealbox on all PCs of the event",
				 "this event was made by another version of dealbox");
	return err;
}

/* ---- looking ------------------------------------------------------------ */

static int pc_row(const char *const *columns, size_t count, void *context)
{
	const struct pool_view *view = context;
	struct pool_pc pc = {
		.name = columns[0],
		.state = columns[1],
		.silent_s = pool_number(columns[2]),
		.lease_s = pool_number(columns[3]),
		.held = pool_number(columns[4]),
		.recorded = pool_number(columns[5]),
		.surplus = pool_number(columns[6]),
		.admitted = pool_true(columns[7]),
		.resting = pool_true(columns[8]),
		.rest_by = columns[9],
		.lost_by = columns[10],
	};

	/* the last may be null */
	if (!pool_full(columns, count - 1) || (!strcmp(pc.state, "lost") && !pc.lost_by))
		return -EBADMSG;
	view->pc(&pc, view->context);
	return 0;
}

static int rest_row(const char *const *columns, size_t count, void *context)
{
	const struct pool_view *view = context;

	if (!pool_full(columns, count))
		return -EBADMSG;
	view->rest(&(struct pool_rest){
		.pc = columns[0], .state = columns[1], .open = pool_number(columns[2]),
		.resting = pool_true(columns[3]), .by = columns[4],
		.silent_s = pool_number(columns[5]),
	}, view->context);
	return 0;
}

static int job_row(const char *const *columns, size_t count, void *context)
{
	const struct pool_view *view = context;
	struct pool_job job = {
		.id = (uint32_t)pool_number(columns[0]),
		.session = columns[1],
		.copies = pool_number(columns[3]),
		.open = pool_true(columns[4]),
		.boards = pool_number(columns[5]),
		.recorded = pool_number(columns[6]),
		.held = pool_number(columns[7]),
	};

	if (!pool_full(columns, count))
		return -EBADMSG;
	job.priority = atoi(columns[2]);
	view->job(&job, view->context);
	return 0;
}

static int surplus_row(const char *const *columns, size_t count, void *context)
{
	const struct pool_view *view = context;
	struct pool_surplus surplus = {
		.id = pool_number(columns[0]),
		.job = (uint32_t)pool_number(columns[1]),
		.session = columns[2],
		.board = (uint32_t)pool_number(columns[3]),
		.copy = (uint32_t)pool_number(columns[4]),
		.pc = columns[5],
		.machine = columns[6],
		.insertion = pool_number(columns[7]),
		.by = columns[8],
		.at = columns[9],
	};

	/* the last two may be null, both */
	if (!pool_full(columns, count - 2) || !surplus.by != !surplus.at)
		return -EBADMSG;
	view->surplus(&surplus, view->context);
	return 0;
}

static int again_row(const char *const *columns, size_t count, void *context)
{
	const struct pool_view *view = context;

	if (!pool_full(columns, count))
		return -EBADMSG;
	view->again(&(struct pool_again){
		.job = (uint32_t)pool_number(columns[0]), .session = columns[1],
		.board = (uint32_t)pool_number(columns[2]),
		.copy = (uint32_t)pool_number(columns[3]), .pcs = columns[4],
	}, view->context);
	return 0;
}

static int machine_row(const char *const *columns, size_t count, void *context)
{
	const struct pool_view *view = context;

	if (!pool_full(columns, count))
		return -EBADMSG;
	view->machine(&(struct pool_machine){
		.pc = columns[0], .name = columns[1], .state = columns[2],
		.pace_s = (uint32_t)pool_number(columns[3]), .silent_s = pool_number(columns[4]),
	}, view->context);
	return 0;
}

static int left_row(const char *const *columns, size_t count, void *context)
{
	const struct pool_view *view = context;

	(void)count;
	view->left(pool_number(columns[0]), view->context);
	return 0;
}

int pool_look(struct pool *pool, const struct pool_view *view, struct dealbox_error *error)
{
	const struct {
		bool wanted;
		pool_row row;
		const char *sql;
	} parts[] = {
		{ view->pc, pc_row,
		  "SELECT name, state, silent_s, lease_s, held, recorded, surplus, admitted, rest, "
		  "rest_by, lost_by FROM dealbox.status_pc ORDER BY name" },
		{ view->rest, rest_row,
		  "SELECT name, state, open, rest, rest_by, silent_s FROM dealbox.status_pc "
		  "WHERE admitted AND state <> 'left' ORDER BY name" },
		{ view->job, job_row,
		  "SELECT id, session, priority, copies, open, boards, recorded, held "
		  "FROM dealbox.status_job ORDER BY id" },
		{ view->machine, machine_row,
		  "SELECT pc, name, state, pace, silent_s FROM dealbox.status_machine "
		  "ORDER BY pc, name" },
		{ view->left, left_row, "SELECT copies FROM dealbox.status_left" },
		{ view->surplus, surplus_row,
		  "SELECT id, job, session, number, copy, pc, machine, insertion, withdrawn_by, "
		  "to_char(withdrawn_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') "
		  "FROM dealbox.surplus ORDER BY job, number, copy, at" },
		{ view->again, again_row,
		  "SELECT job, session, number, copy, pcs FROM dealbox.status_again "
		  "ORDER BY job, number, copy" },
	};
	int err = pool_command(pool, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", error);
	size_t n;

	if (err)
		return err;
	for (n = 0; n < sizeof(parts) / sizeof(parts[0]) && !err; n++)
		if (parts[n].wanted)
			err = pool_run(pool, error, parts[n].row, (void *)view, parts[n].sql, 0,
				       NULL);
	return pool_finish(pool, err, error);
}

static int number_row(const char *const *columns, size_t count, void *context)
{
	uint32_t *out = context;

	(void)count;
	*out = (uint32_t)pool_number(columns[0]);
	return 0;
}

int pool_lose(struct pool *pool, const char *pc, uint32_t *opened, struct dealbox_error *error)
{
	return pool_get(pool, error, number_row, opened, "SELECT dealbox.lose($1)", 1, &pc);
}
