// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The records: sets, jobs, insertions, acts. Every function here is one transaction; if it returns
 * 0, the record is on disk.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/event.h>

#include "job-options.h"
#include "ledger-internal.h"
#include "reserved.h"
#include "sql.h"

/* enum dealbox_ledger_copy_state, in the view copies */
#define SQL_COPY	"SELECT state FROM copies WHERE job = ? AND number = ? AND copy = ?"

static void copy_text(char *out, size_t size, const unsigned char *text)
{
	snprintf(out, size, "%s", text ? (const char *)text : "");
}

/* ---- sets ---------------------------------------------------------------- */

struct print {
	int64_t fingerprint;
	unsigned int number;
};

static int print_order(const void *a, const void *b)
{
	const struct print *x = a, *y = b;

	return (x->fingerprint > y->fingerprint) - (x->fingerprint < y->fingerprint);
}

static int number_order(const void *a, const void *b)
{
	const struct print *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* Finds the same deal, or the same number, twice in the set. */
static int check_set(struct dealbox_ledger *l, struct print *prints, size_t count,
		     struct dealbox_ledger_repeat *repeat)
{
	size_t n;

	qsort(prints, count, sizeof(*prints), print_order);
	for (n = 1; n < count; n++) {
		if (prints[n - 1].fingerprint != prints[n].fingerprint)
			continue;
		if (prints[n - 1].number == prints[n].number)
			continue;	/* the same number twice is the better report */
		if (repeat)
			*repeat = (struct dealbox_ledger_repeat){
				.board = prints[n].number, .other_board = prints[n - 1].number,
			};
		return ledger_fail(l, -EEXIST, "boards %u and %u of the set are the same deal "
				   "(turned or not): a set may have a deal once",
				   prints[n - 1].number, prints[n].number);
	}
	qsort(prints, count, sizeof(*prints), number_order);
	for (n = 1; n < count; n++)
		if (prints[n - 1].number == prints[n].number)
			return ledger_fail(l, -EINVAL, "board %u is twice in the set",
					   prints[n].number);
	if (prints[0].number < 1 || prints[count - 1].number > DEALBOX_BOARD_DEALT_MAX)
		return ledger_fail(l, -EINVAL, "boards are numbered from 1 to %d",
				   DEALBOX_BOARD_DEALT_MAX);
	return 0;
}

static void set_digest(const struct dealbox_ledger *l, const struct dealbox_ledger_board *boards,
		       size_t count, uint8_t digest[32])
{
	crypto_generichash_state state;
	uint64_t sum[4] = { 0 };
	uint8_t hash[32];
	size_t n, k;

	/* hash each board, then add: the order in the file does not matter */
	for (n = 0; n < count; n++) {
		uint64_t words[5] = { boards[n].number };

		memcpy(words + 1, boards[n].deal.hand, sizeof(boards[n].deal.hand));
		crypto_generichash(hash, sizeof(hash), (const uint8_t *)words, sizeof(words),
				   l->keys.fingerprint, sizeof(l->keys.fingerprint));
		sodium_memzero(words, sizeof(words));
		for (k = 0; k < 4; k++) {
			uint64_t part;

			memcpy(&part, hash + 8 * k, sizeof(part));
			sum[k] += part;
		}
	}
	crypto_generichash_init(&state, l->keys.fingerprint, sizeof(l->keys.fingerprint), 32);
	crypto_generichash_update(&state, (const uint8_t *)sum, sizeof(sum));
	crypto_generichash_final(&state, digest, 32);
}

/* The user who added a job, or a set. */
static int add_added(struct dealbox_ledger *l, uint64_t job, uint64_t set)
{
	if (l->user == DEALBOX_UID_NONE)
		return 0;
	return ledger_append(l, LEDGER_ACT, NULL, "iiioooit", ledger_now(), (int64_t)l->user,
			     (int64_t)DEALBOX_ACT_ADD, job, (uint64_t)0, (uint64_t)0, (int64_t)set,
			     (const char *)NULL);
}

static int check_boards(struct dealbox_ledger *l, const struct dealbox_ledger_board *boards,
			size_t count)
{
	for (size_t n = 0; n < count; n++)
		if (RESERVED_USED(&boards[n]))
			return ledger_fail(l, -EINVAL, "the reserved space of a board is not 0");
	return 0;
}

int dealbox_ledger_add_set(struct dealbox_ledger *l, const char *session,
			   const struct dealbox_ledger_board *boards, size_t count,
			   uint64_t *set, struct dealbox_ledger_repeat *repeat)
{
	uint8_t sealed[sizeof(boards->deal.hand) + LEDGER_SEAL_EXTRA], digest[32];
	struct print *prints;
	int64_t found;
	size_t n;
	int err;

	if (!*session || strlen(session) > 127)
		return ledger_fail(l, -EINVAL, "a session needs a name of 1 to 127 bytes");
	if (!count || count > DEALBOX_BOARD_DEALT_MAX)
		return ledger_fail(l, -EINVAL, "a set has 1 to %d boards, not %zu",
				   DEALBOX_BOARD_DEALT_MAX, count);
	err = check_boards(l, boards, count);
	if (err)
		return err;
	prints = calloc(count, sizeof(*prints));
	if (!prints)
		return ledger_fail(l, -ENOMEM, "no memory");
	for (n = 0; n < count; n++) {
		prints[n].number = boards[n].number;
		prints[n].fingerprint = ledger_fingerprint(&l->keys, &boards[n].deal);
	}
	err = check_set(l, prints, count, repeat);
	free(prints);
	if (err)
		return err;
	set_digest(l, boards, count, digest);

	err = ledger_begin(l);
	if (err)
		return err;
	err = ledger_number(l, &found, "SELECT seq FROM sets WHERE session = ? AND digest = ?",
			    "tb", session, digest, sizeof(digest));
	if (!err) {
		*set = found;
		return ledger_commit(l, 0);
	}
	if (err == -ENOENT)
		err = ledger_append(l, LEDGER_SET, set, "itib", ledger_now(), session,
				    (int64_t)count, digest, sizeof(digest));
	for (n = 0; !err && n < count; n++) {
		ledger_seal(l, ledger_next(l), boards[n].deal.hand, sizeof(boards[n].deal.hand),
			    sealed);
		err = ledger_append(l, LEDGER_BOARD, NULL, "uiib", *set, (int64_t)boards[n].number,
				    ledger_fingerprint(&l->keys, &boards[n].deal), sealed,
				    sizeof(sealed));
	}
	if (!err)
		err = add_added(l, 0, *set);
	return ledger_commit(l, err);
}

static int find_repeat(struct dealbox_ledger *l, const char *session, int64_t fingerprint,
		       struct dealbox_ledger_repeat *repeat)
{
	sqlite3_stmt *stmt;
	int rc;

	/*
	 * Dealt: an insertion that was recorded as exact, or whose outcome is unknown (or without a
	 * verdict). A void board was emptied, and nobody has played it.
	 */
	stmt = ledger_query(l,
		"SELECT b.number, s.session FROM boards b JOIN sets s ON s.seq = b.set_seq "
		"WHERE b.fingerprint = ? AND s.session <> ? AND EXISTS ("
		" SELECT 1 FROM jobs j JOIN insertions i ON i.job = j.seq AND i.number = b.number "
		" LEFT JOIN verdicts v ON v.insertion = i.seq "
		" WHERE j.set_seq = s.seq AND coalesce(v.outcome, " SQL(OUTCOME_UNKNOWN) ") IN "
		"(" SQL(OUTCOME_EXACT) ", " SQL(OUTCOME_UNKNOWN) ")) LIMIT 1",
		"it", fingerprint, session);
	if (!stmt)
		return l->error.code;
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		if (repeat) {
			*repeat = (struct dealbox_ledger_repeat){
				.other_board = sqlite3_column_int64(stmt, 0),
			};
			copy_text(repeat->session, sizeof(repeat->session),
				  sqlite3_column_text(stmt, 1));
		}
		rc = 1;
	} else {
		rc = rc == SQLITE_DONE ? 0 : ledger_fail_sql(l, "looking for a repeated deal");
	}
	ledger_done(l, stmt);
	return rc;
}

int dealbox_ledger_find_repeat(struct dealbox_ledger *l, const char *session,
			       const struct dealbox_deal *deal,
			       struct dealbox_ledger_repeat *repeat)
{
	return find_repeat(l, session, ledger_fingerprint(&l->keys, deal), repeat);
}

static int board_fingerprint(struct dealbox_ledger *l, uint64_t set, unsigned int number,
			     int64_t *fingerprint)
{
	int err = ledger_number(l, fingerprint, "SELECT fingerprint FROM boards WHERE set_seq = ? "
				"AND number = ?", "ui", set, (int64_t)number);

	return err == -ENOENT ? ledger_fail(l, err, "set %llu has no board %u",
					    (unsigned long long)set, number) : err;
}

int ledger_find_board_repeat(struct dealbox_ledger *l, const char *session, uint64_t set,
			     unsigned int number, struct dealbox_ledger_repeat *repeat)
{
	int64_t fingerprint;
	int err = board_fingerprint(l, set, number, &fingerprint);

	return err ? err : find_repeat(l, session, fingerprint, repeat);
}

int dealbox_ledger_get_deal(struct dealbox_ledger *l, uint64_t set, unsigned int number,
			    struct dealbox_deal *deal)
{
	sqlite3_stmt *stmt = ledger_query(l, "SELECT seq, sealed FROM boards WHERE set_seq = ? AND "
					  "number = ?", "ui", set, (int64_t)number);
	int err = 0, rc;

	if (!stmt)
		return l->error.code;
	rc = sqlite3_step(stmt);
	if (rc != SQLITE_ROW)
		err = rc == SQLITE_DONE ? ledger_fail(l, -ENOENT, "set %llu has no board %u",
						      (unsigned long long)set, number) :
		      ledger_fail_sql(l, "reading a deal");
	else if (sqlite3_column_bytes(stmt, 1) != sizeof(deal->hand) + LEDGER_SEAL_EXTRA ||
		 ledger_unseal(l, sqlite3_column_int64(stmt, 0), sqlite3_column_blob(stmt, 1),
			       sqlite3_column_bytes(stmt, 1), deal->hand))
		err = ledger_fail(l, -EUCLEAN, "%s: the ledger is damaged: the deal of board %u of "
				  "set %llu cannot be unsealed", l->path, number,
				  (unsigned long long)set);
	ledger_done(l, stmt);
	return err;
}

/* ---- jobs ---------------------------------------------------------------- */

/* Adds a board of a new job, and refuses a deal that was dealt for another session. */
static int add_job_board(struct dealbox_ledger *l, uint64_t job,
			 const struct dealbox_ledger_new_job *new_job, size_t n,
			 const char *session, struct dealbox_ledger_repeat *repeat)
{
	struct dealbox_ledger_repeat before;
	unsigned int number = new_job->boards[n];
	int64_t fingerprint;
	int err = 0;

	if (new_job->set)
		err = new_job->options & DEALBOX_JOB_REPLAY ?
		      board_fingerprint(l, new_job->set, number, &fingerprint) :
		      ledger_find_board_repeat(l, session, new_job->set, number, &before);
	if (err < 0)
		return err;
	if (err) {
		before.board = number;
		if (repeat)
			*repeat = before;
		/* do not say which: a user who tries many deals could learn the cards of a board */
		return ledger_fail(l, -EEXIST, "a deal of the set was dealt for the session '%s' "
					       "(Law 6D2); if that is wanted, ask for a replay",
					       before.session);
	}
	err = ledger_append(l, LEDGER_JOB_BOARD, NULL, "ui", job, (int64_t)number);
	if (err == -EIO && (sqlite3_errcode(l->db) & 0xff) == SQLITE_CONSTRAINT)
		return ledger_fail(l, -EINVAL, "board %u is named twice, or is not a board",
				   number);
	return err;
}

/* Adds the machines that a new job is for. */
static int add_job_machine(struct dealbox_ledger *l, uint64_t job, const char *machine)
{
	int err;

	if (!*machine || strlen(machine) > 127)
		return ledger_fail(l, -EINVAL, "the id of a machine has 1 to 127 bytes");
	err = ledger_append(l, LEDGER_JOB_MACHINE, NULL, "ut", job, machine);
	if (err == -EIO && (sqlite3_errcode(l->db) & 0xff) == SQLITE_CONSTRAINT)
		return ledger_fail(l, -EINVAL, "the machine %s is named twice", machine);
	return err;
}

static int get_session(struct dealbox_ledger *l, uint64_t set, char session[128])
{
	sqlite3_stmt *stmt = ledger_query(l, "SELECT session FROM sets WHERE seq = ?", "u", set);
	int err = 0, rc;

	if (!stmt)
		return l->error.code;
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		copy_text(session, 128, sqlite3_column_text(stmt, 0));
	else
		err = rc == SQLITE_DONE ? ledger_fail(l, -ENOENT, "there is no set %llu",
						      (unsigned long long)set) :
		      ledger_fail_sql(l, "reading a set");
	ledger_done(l, stmt);
	return err;
}

int dealbox_ledger_add_job(struct dealbox_ledger *l, const struct dealbox_ledger_new_job *new_job,
			   uint64_t *job, struct dealbox_ledger_repeat *repeat)
{
	unsigned int deals = !!new_job->set + !!(new_job->options & DEALBOX_JOB_CAPTURE) +
			     !!new_job->law;
	char session[128] = "";
	size_t n;
	int err;

	if (!new_job->count || new_job->copies > DEALBOX_BOARD_DEALT_MAX ||
	    new_job->options & ~(JOB_OPTIONS | JOB_EVENT) || new_job->law > DEALBOX_RULES ||
	    new_job->dealer > (new_job->law ? DEALBOX_ACTOR_WEST : 0) || RESERVED_USED(new_job))
		return ledger_fail(l, -EINVAL,
				   "a job has boards, at most %d copies, known options and laws",
				   DEALBOX_BOARD_DEALT_MAX);
	if (deals != 1)
		return ledger_fail(l, -EINVAL,
				   "a job deals a set, or without one captures or deals by a law");
	err = ledger_begin(l);
	if (err)
		return err;
	if (new_job->set)
		err = get_session(l, new_job->set, session);
	if (!err)
		err = ledger_append(l, LEDGER_JOB, job, "ioiii", ledger_now(), new_job->set,
				    (int64_t)new_job->copies,
				    (int64_t)(new_job->options |
					      JOB_BY_LAW(new_job->law, new_job->dealer)),
				    (int64_t)new_job->priority);
	for (n = 0; !err && n < new_job->count; n++)
		err = add_job_board(l, *job, new_job, n, session, repeat);
	for (n = 0; !err && new_job->machines && new_job->machines[n]; n++)
		err = add_job_machine(l, *job, new_job->machines[n]);
	if (!err)
		err = add_added(l, *job, 0);
	return ledger_commit(l, err);
}

/*
 * Steps to the next row of a query (NULL: preparing failed), unless *err is set. Returns false at
 * the end: stmt is finished, and *err has the error, if any.
 */
static bool next_row(struct dealbox_ledger *l, sqlite3_stmt *stmt, const char *doing, int *err)
{
	int rc = !stmt || *err ? SQLITE_DONE : sqlite3_step(stmt);

	if (rc == SQLITE_ROW)
		return true;
	if (!stmt)
		*err = l->error.code;
	else if (rc != SQLITE_DONE)
		*err = ledger_fail_sql(l, doing);
	ledger_done(l, stmt);
	return false;
}

int dealbox_ledger_find_sets(struct dealbox_ledger *l, const struct dealbox_ledger_board *boards,
			     size_t count, int (*each)(uint64_t set, void *context), void *context)
{
	uint8_t digest[32];
	sqlite3_stmt *stmt;
	int err = check_boards(l, boards, count);

	set_digest(l, boards, count, digest);
	stmt = ledger_query(l, "SELECT seq FROM sets WHERE digest = ? ORDER BY seq DESC", "b",
			    digest, sizeof(digest));
	while (next_row(l, stmt, "reading sets", &err))
		err = each((uint64_t)sqlite3_column_int64(stmt, 0), context);
	return err;
}

/*
 * The column of the last act of a job among acts. By max(): for each ORDER BY SQLite keeps a table
 * of its own in memory.
 */
#define SQL_LAST(column, acts) \
	"(SELECT a." column " FROM acts a WHERE a.seq = (SELECT max(b.seq) FROM acts b " \
	"WHERE b.job = j.seq AND b.act IN (" acts ")))"

/* the present number of copies of each board: that of the last act, or the first one */
#define SQL_COPIES_NOW "coalesce(" SQL_LAST("value", SQL(ACT_COPIES)) ", j.copies)"

/* the effective act among pause, resume and cancel; a cancelled job stays cancelled */
#define SQL_LAST_ACT \
	"coalesce(" SQL_LAST("act", SQL(ACT_CANCEL)) ", " \
	SQL_LAST("act", SQL(ACT_PAUSE) ", " SQL(ACT_RESUME)) ") "

/* of: "WHERE job = ?1", or none: of all; and the same of the table jobs */
#define SQL_JOBS(of, job) \
	"SELECT j.seq, coalesce(j.set_seq, 0), j.at, coalesce(s.session, ''), " \
	"j.options, " SQL_COPIES_NOW ", " \
	"coalesce(" SQL_LAST("value", SQL(ACT_PRIORITY)) ", j.priority), " \
	" (SELECT count(*) FROM job_boards b WHERE b.job = j.seq), coalesce(c.recorded, 0), " \
	" (SELECT count(*) FROM insertions i JOIN verdicts v ON v.insertion = i.seq " \
	"  WHERE i.job = j.seq AND v.outcome IN " \
	"(" SQL(OUTCOME_DIFFERS) ", " SQL(OUTCOME_VOID) ", " \
	SQL(OUTCOME_UNKNOWN) ")), coalesce(c.skipped, 0), " \
	SQL_LAST_ACT ", (SELECT a.uid FROM acts a WHERE a.job = j.seq AND a.act = " SQL(ACT_ADD) \
	" LIMIT 1) " \
	"FROM jobs j LEFT JOIN sets s ON s.seq = j.set_seq LEFT JOIN " \
	" (SELECT job, sum(state = " SQL(COPY_RECORDED) ") AS recorded, " \
	" sum(state = " SQL(COPY_SKIPPED) ") AS skipped FROM copies " of \
	"  GROUP BY job) c ON c.job = j.seq " job " ORDER BY j.seq"

int dealbox_ledger_jobs(struct dealbox_ledger *l, uint64_t only,
			int (*each)(const struct dealbox_ledger_job *job, void *context),
			void *context)
{
	sqlite3_stmt *stmt = only ? ledger_query(l, SQL_JOBS("WHERE job = ?1", "WHERE j.seq = ?1"),
						 "u", only) :
			     ledger_query(l, SQL_JOBS("", ""), "");
	struct dealbox_ledger_job job;
	unsigned int options, skipped, last;
	int err = 0;

	while (next_row(l, stmt, "reading jobs", &err)) {
		memset(&job, 0, sizeof(job));
		job.job = sqlite3_column_int64(stmt, 0);
		job.set = sqlite3_column_int64(stmt, 1);
		job.at_us = sqlite3_column_int64(stmt, 2);
		copy_text(job.session, sizeof(job.session), sqlite3_column_text(stmt, 3));
		options = sqlite3_column_int64(stmt, 4);
		job.options = options & ~JOB_LAWS;
		job.law = JOB_LAW(options);
		job.dealer = JOB_DEALER(options);
		job.copies = sqlite3_column_int64(stmt, 5);
		job.priority = sqlite3_column_int64(stmt, 6);
		job.boards = sqlite3_column_int64(stmt, 7);
		job.recorded = sqlite3_column_int64(stmt, 8);
		job.voided = sqlite3_column_int64(stmt, 9);
		skipped = sqlite3_column_int64(stmt, 10);
		last = sqlite3_column_int64(stmt, 11);
		job.uid = sqlite3_column_type(stmt, 12) == SQLITE_NULL ? DEALBOX_UID_NONE :
			  sqlite3_column_int64(stmt, 12);
		if (last == DEALBOX_ACT_CANCEL)
			job.state = DEALBOX_LEDGER_JOB_CANCELLED;
		else if (job.copies && job.recorded + skipped >= job.copies * job.boards)
			job.state = DEALBOX_LEDGER_JOB_DONE;
		else if (last == DEALBOX_ACT_PAUSE)
			job.state = DEALBOX_LEDGER_JOB_PAUSED;
		err = each(&job, context);
	}
	return err;
}

/* the jobs of set s, with the number of their copies that are recorded or skipped */
#define SQL_OPEN_JOBS \
	"(SELECT j.set_seq, " SQL_COPIES_NOW " AS copies, " SQL_LAST_ACT "AS last, " \
	" (SELECT count(*) FROM job_boards b WHERE b.job = j.seq) AS boards, " \
	" (SELECT count(*) FROM copies c WHERE c.job = j.seq AND " \
	"  c.state IN (" SQL(COPY_RECORDED) ", " SQL(COPY_SKIPPED) ")) AS over " \
	" FROM jobs j WHERE j.set_seq = s.seq)"

/* which: a condition */
#define SQL_SETS(which) \
	"SELECT s.seq AS seq, s.at, s.session, s.boards, " \
	" coalesce(p.act, 0) = " SQL(ACT_PLAYED) " AS played, " \
	" (SELECT count(*) FROM " SQL_OPEN_JOBS " WHERE last IS NOT " SQL(ACT_CANCEL) \
	"  AND (NOT copies OR over < copies * boards)) AS open FROM sets s LEFT JOIN " \
	" (SELECT value, act, max(seq) FROM acts WHERE act IN " \
	"(" SQL(ACT_PLAYED) ", " SQL(ACT_UNPLAYED) ") " \
	"  GROUP BY value) p ON p.value = s.seq " which " ORDER BY s.seq DESC"

int dealbox_ledger_sets(struct dealbox_ledger *l, uint64_t only,
			int (*each)(const struct dealbox_ledger_set *set, void *context),
			void *context)
{
	sqlite3_stmt *stmt = only ? ledger_query(l, SQL_SETS("WHERE s.seq = ?"), "u", only) :
			     ledger_query(l, SQL_SETS(""), "");
	struct dealbox_ledger_set set;
	int err = 0;

	while (next_row(l, stmt, "reading sets", &err)) {
		set.set = sqlite3_column_int64(stmt, 0);
		set.at_us = sqlite3_column_int64(stmt, 1);
		copy_text(set.session, sizeof(set.session), sqlite3_column_text(stmt, 2));
		set.boards = sqlite3_column_int64(stmt, 3);
		set.played = sqlite3_column_int(stmt, 4);
		set.open = sqlite3_column_int64(stmt, 5);
		err = each(&set, context);
	}
	return err;
}

int dealbox_ledger_secret(struct dealbox_ledger *l, uint64_t set, uint64_t *keeper)
{
	int64_t number = 0;
	/* the set itself has the same deals, too */
	int err = ledger_number(l, &number, "SELECT CASE WHEN played AND NOT open THEN 0 ELSE seq "
				"END AS keeper FROM (" SQL_SETS("WHERE s.seq IN (SELECT o.set_seq "
				"FROM boards b JOIN boards o USING (fingerprint) WHERE b.set_seq = "
				"?1)") ") ORDER BY keeper = 0, seq = ?1 DESC, seq LIMIT 1", "u",
				set);

	*keeper = (uint64_t)number;
	if (err == -ENOENT)
		return ledger_fail(l, err, "there is no set %llu", (unsigned long long)set);
	return err ? err : number != 0;
}

int dealbox_ledger_copies(struct dealbox_ledger *l, uint64_t job,
			  int (*each)(const struct dealbox_ledger_copy *copy, void *context),
			  void *context)
{
	sqlite3_stmt *stmt = ledger_query(l, "SELECT number, copy, tries, state FROM copies "
					  "WHERE job = ? ORDER BY number, copy", "u", job);
	struct dealbox_ledger_copy copy;
	int err = 0;

	while (next_row(l, stmt, "reading copies", &err)) {
		copy.board = sqlite3_column_int64(stmt, 0);
		copy.copy = sqlite3_column_int64(stmt, 1);
		copy.tries = sqlite3_column_int64(stmt, 2);
		copy.state = sqlite3_column_int64(stmt, 3);
		err = each(&copy, context);
	}
	return err;
}

static int each_board(struct dealbox_ledger *l, const char *sql, uint64_t of,
		      int (*each)(unsigned int board, void *context), void *context)
{
	sqlite3_stmt *stmt = ledger_query(l, sql, "u", of);
	int err = 0;

	while (next_row(l, stmt, "reading boards", &err))
		err = each(sqlite3_column_int64(stmt, 0), context);
	return err;
}

int dealbox_ledger_boards(struct dealbox_ledger *l, uint64_t job,
			  int (*each)(unsigned int board, void *context), void *context)
{
	return each_board(l, "SELECT number FROM job_boards WHERE job = ? ORDER BY number", job,
			  each, context);
}

int dealbox_ledger_set_boards(struct dealbox_ledger *l, uint64_t set,
			      int (*each)(unsigned int board, void *context), void *context)
{
	return each_board(l, "SELECT number FROM boards WHERE set_seq = ? ORDER BY number", set,
			  each, context);
}

int dealbox_ledger_machines(struct dealbox_ledger *l, uint64_t job,
			    int (*each)(const char *machine, void *context), void *context)
{
	/* those that the job began with, or those of the last DEALBOX_ACT_KEEP */
	sqlite3_stmt *stmt = ledger_query(l, "WITH anew AS (SELECT max(seq) AS seq FROM acts WHERE "
					     "job = ?1 AND act = " SQL(ACT_KEEP) " AND value = 0) "
					  "SELECT machine FROM (SELECT m.seq, m.machine FROM "
					  "job_machines m, anew WHERE m.job = ?1 AND anew.seq IS "
					  "NULL UNION ALL SELECT a.seq, a.machine FROM acts a, "
					  "anew WHERE a.job = ?1 AND a.act = " SQL(ACT_KEEP) " "
					  "AND a.seq >= anew.seq AND a.machine IS NOT NULL) ORDER "
					  "BY seq", "u", job);
	int err = 0;

	while (next_row(l, stmt, "reading machines", &err))
		err = each((const char *)sqlite3_column_text(stmt, 0), context);
	return err;
}

/* ---- insertions ---------------------------------------------------------- */

/* The request of a job, without counting the outcomes of its copies, which may be thousands. */
struct terms {
	bool found;
	uint64_t set;
	unsigned int options, copies, last; /* last: DEALBOX_ACT_PAUSE, _RESUME or _CANCEL, or 0 */
	char session[128];
};

static int get_terms(struct dealbox_ledger *l, uint64_t job, struct terms *terms)
{
	sqlite3_stmt *stmt = ledger_query(l,
					  "SELECT j.set_seq, s.session, j.options, " SQL_COPIES_NOW
					  ", " SQL_LAST_ACT "FROM jobs j LEFT JOIN sets s "
					  "ON s.seq = j.set_seq WHERE j.seq = ?", "u", job);
	int err = 0;

	while (next_row(l, stmt, "reading a job", &err)) {
		terms->found = true;
		terms->set = sqlite3_column_int64(stmt, 0);
		copy_text(terms->session, sizeof(terms->session), sqlite3_column_text(stmt, 1));
		terms->options = sqlite3_column_int64(stmt, 2);
		terms->copies = sqlite3_column_int64(stmt, 3);
		terms->last = sqlite3_column_int64(stmt, 4);
	}
	return err;
}

/* Checks that this copy may be begun now. */
static int check_begin(struct dealbox_ledger *l, const struct dealbox_ledger_insertion *insertion,
		       struct terms *terms)
{
	unsigned int board = insertion->board, copy = insertion->copy;
	uint64_t job = insertion->job;
	struct dealbox_ledger_repeat before;
	int64_t state;
	int err;

	err = get_terms(l, job, terms);
	if (err)
		return err;
	if (!terms->found || !copy || (terms->copies && copy > terms->copies))
		return ledger_fail(l, -ENOENT, "job %llu has no copy %u of board %u",
				   (unsigned long long)job, copy, board);
	err = ledger_number(l, &state, "SELECT 1 FROM job_boards WHERE job = ? AND number = ?",
			    "ui", job, (int64_t)board);
	if (err)
		return err == -ENOENT ? ledger_fail(l, err, "job %llu has no board %u",
						    (unsigned long long)job, board) : err;
	err = ledger_number(l, &state, SQL_COPY, "uii", job, (int64_t)board, (int64_t)copy);
	if (err && err != -ENOENT)
		return err;
	if (!err && state == DEALBOX_LEDGER_COPY_DEALING)
		return ledger_fail(l, -EINPROGRESS, "copy %u of board %u is being dealt", copy,
				   board);
	if (!err && state != DEALBOX_LEDGER_COPY_OPEN)
		return ledger_fail(l, -EEXIST, "copy %u of board %u is %s already", copy, board,
				   state == DEALBOX_LEDGER_COPY_RECORDED ? "recorded" : "skipped");
	if (terms->last == DEALBOX_ACT_PAUSE || terms->last == DEALBOX_ACT_CANCEL)
		return ledger_fail(l, -ECANCELED, "job %llu is %s", (unsigned long long)job,
				   terms->last == DEALBOX_ACT_PAUSE ? "paused" : "cancelled");
	if (!terms->set || terms->options & DEALBOX_JOB_REPLAY)
		return 0;

	/* it may have been dealt for another session since the job was made */
	err = ledger_find_board_repeat(l, terms->session, terms->set, board, &before);
	if (err > 0)
		return ledger_fail(l, -EEXIST,
				   "the deal was dealt for the session '%s' meanwhile (Law 6D2)",
				   before.session);
	return err;
}

int dealbox_ledger_begin(struct dealbox_ledger *l, struct dealbox_ledger_insertion *insertion)
{
	const char *machine = insertion->machine;
	uint32_t number = insertion->number;
	struct terms terms = { 0 };
	int64_t other;
	int err;

	if (!*machine || !memchr(machine, '\0', sizeof(insertion->machine)) || !number ||
	    RESERVED_USED(insertion))
		return ledger_fail(l, -EINVAL,
				   "an insertion has a machine and a number, and no more");
	err = ledger_begin(l);
	if (err)
		return err;
	err = ledger_number(l, &other, "SELECT seq FROM insertions WHERE machine = ? AND "
			    "insertion = ? AND capture = 0", "ti", machine, (int64_t)number);
	if (!err)
		err = ledger_fail(l, -EALREADY, "insertion %u of the machine %s has been dealt: "
						"take the board out, empty it, and put it in again",
						number, machine);
	else if (err == -ENOENT)
		err = check_begin(l, insertion, &terms);
	/* A machine may refuse this, too; but our own record is the one that counts. */
	if (!err && !(terms.options & DEALBOX_JOB_CAPTURE)) {
		err = ledger_number(l, &other, "SELECT insertion FROM insertions WHERE machine = ? "
				    "ORDER BY seq DESC LIMIT 1", "t", machine);
		if (!err && other == number)
			err = ledger_fail(l, -EALREADY,
					  "insertion %u of the machine %s is an original that was "
					  "read: take the board out, and put an empty one in",
					  number, machine);
		else if (err == -ENOENT)
			err = 0;
	}
	if (!err) {
		insertion->begun_us = ledger_now();
		err = ledger_append_insertion(l, LEDGER_INSERTION, &insertion->id, insertion, "i",
					      (int64_t)!!(terms.options & DEALBOX_JOB_CAPTURE));
	}
	return ledger_commit(l, err);
}

static int add_trace(struct dealbox_ledger *l, const struct dealbox_ledger_insertion *insertion,
		     const struct dealbox_event *events, uint64_t *trace)
{
	size_t size = insertion->events * sizeof(*events) + LEDGER_SEAL_EXTRA;
	uint8_t *sealed = malloc(size);
	int err;

	if (!sealed)
		return ledger_fail(l, -ENOMEM, "no memory");
	ledger_seal(l, ledger_next(l), events, insertion->events * sizeof(*events), sealed);
	err = ledger_append_insertion(l, LEDGER_TRACE, trace, insertion, "ub", insertion->id,
				      sealed, size);
	free(sealed);
	return err;
}

const char *dealbox_ledger_outcome_name(enum dealbox_ledger_outcome outcome)
{
#define TEXT(text)	text,
	static const char *const names[] = { "", OUTCOME_NAMES(TEXT) };
#undef TEXT

	return outcome < sizeof(names) / sizeof(names[0]) ? names[outcome] : "?";
}

int dealbox_ledger_end(struct dealbox_ledger *l, const struct dealbox_ledger_insertion *insertion,
		       const struct dealbox_event *events, size_t count)
{
	struct dealbox_ledger_insertion ended = *insertion;
	enum dealbox_ledger_outcome outcome = ended.outcome;
	bool complete = outcome == DEALBOX_LEDGER_EXACT || outcome == DEALBOX_LEDGER_DIFFERS ||
			outcome == DEALBOX_LEDGER_CAPTURED;
	int64_t capture, verdict;
	uint64_t trace = 0;
	int err;

	if (outcome < DEALBOX_LEDGER_EXACT || outcome > DEALBOX_LEDGER_CAPTURED)
		return ledger_fail(l, -EINVAL, "%d is not an outcome", outcome);
	if (RESERVED_USED(&ended))
		return ledger_fail(l, -EINVAL, "the reserved space of an insertion is not 0");
	if (complete && (!events || !count))
		return ledger_fail(l, -EINVAL, "a board is not recorded without its trace");
	if (outcome == DEALBOX_LEDGER_EXACT && (ended.differences || ended.reason))
		return ledger_fail(l, -EINVAL,
				   "an exact duplicate has no differences and no reason");
	err = ledger_begin(l);
	if (err)
		return err;
	err = ledger_number(l, &capture, "SELECT capture FROM insertions WHERE seq = ?", "u",
			    ended.id);
	if (err == -ENOENT)
		err = ledger_fail(l, err, "there is no insertion %llu",
				  (unsigned long long)ended.id);
	if (!err) {
		err = ledger_number(l, &verdict, "SELECT seq FROM verdicts WHERE insertion = ?",
				    "u", ended.id);
		if (!err)
			err = ledger_fail(l, -EALREADY, "insertion %llu has a verdict",
					  (unsigned long long)ended.id);
		else if (err == -ENOENT)
			err = 0;
	}
	if (!err && complete && capture != (outcome == DEALBOX_LEDGER_CAPTURED))
		err = ledger_fail(l, -EINVAL, "a capture is captured, a deal is exact or differs");
	ended.events = (unsigned int)count;
	ended.ended_us = ledger_now();
	if (!err && events && count)
		err = add_trace(l, &ended, events, &trace);
	if (!err)
		err = ledger_append_insertion(l, LEDGER_VERDICT, NULL, &ended, "uo", ended.id,
					      trace);
	err = ledger_commit(l, err);
	/* after each board the file itself is complete: it may be copied, or the WAL be lost */
	if (!err)
		sqlite3_wal_checkpoint_v2(l->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	return err;
}

/* Checks that an insertion is there, and has no record in that table yet. */
static int check_first(struct dealbox_ledger *l, uint64_t insertion, const char *sql,
		       const char *what)
{
	int64_t there;
	int err = ledger_number(l, &there, "SELECT seq FROM insertions WHERE seq = ?", "u",
				insertion);

	if (err == -ENOENT)
		return ledger_fail(l, err, "there is no insertion %llu",
				   (unsigned long long)insertion);
	if (err)
		return err;
	err = ledger_number(l, &there, sql, "u", insertion);
	if (!err)
		return ledger_fail(l, -EALREADY, "insertion %llu has %s",
				   (unsigned long long)insertion, what);
	return err == -ENOENT ? 0 : err;
}

#define SEALED_NONCE	(DEALBOX_NONCE_SIZE + LEDGER_SEAL_EXTRA)

#define SQL_ATTESTATION	"SELECT seq FROM attestations WHERE insertion = ?"
#define SQL_EMULATION	"SELECT seq FROM emulations WHERE insertion = ?"

int dealbox_ledger_add_attestation(struct dealbox_ledger *l, uint64_t insertion,
				   const struct dealbox_ledger_attestation *attestation)
{
	uint8_t sealed[SEALED_NONCE];
	int err = ledger_begin(l);

	if (err)
		return err;
	err = check_first(l, insertion, SQL_ATTESTATION, "an attestation");
	if (!err) {
		ledger_seal(l, ledger_next(l), attestation->nonce, DEALBOX_NONCE_SIZE, sealed);
		err = ledger_append(l, LEDGER_ATTESTATION, NULL, "ubbbb", insertion,
				    attestation->public_key, sizeof(attestation->public_key),
				    attestation->statement, sizeof(attestation->statement),
				    attestation->signature, sizeof(attestation->signature), sealed,
				    sizeof(sealed));
	}
	return ledger_commit(l, err);
}

int dealbox_ledger_add_emulation(struct dealbox_ledger *l, uint64_t insertion)
{
	int err = ledger_begin(l);

	if (err)
		return err;
	err = check_first(l, insertion, SQL_EMULATION, "an emulation");
	if (!err)
		err = ledger_append(l, LEDGER_EMULATION, NULL, "u", insertion);
	return ledger_commit(l, err);
}

int dealbox_ledger_emulated(struct dealbox_ledger *l, uint64_t insertion)
{
	int64_t there;
	int err = ledger_number(l, &there, SQL_EMULATION, "u", insertion);

	return err == -ENOENT ? 0 : err ? err : 1;
}

int dealbox_ledger_get_attestation(struct dealbox_ledger *l, uint64_t insertion,
				   struct dealbox_ledger_attestation *out)
{
	sqlite3_stmt *stmt = ledger_query(l, "SELECT seq, public_key, statement, signature, sealed "
					     "FROM attestations WHERE insertion = ?", "u",
					     insertion);
	int err = 0, rc;

	memset(out, 0, sizeof(*out));
	if (!stmt)
		return l->error.code;
	rc = sqlite3_step(stmt);
	if (rc != SQLITE_ROW) {
		err = rc == SQLITE_DONE ?
			      ledger_fail(l, -ENOENT, "insertion %llu has no attestation",
					  (unsigned long long)insertion) :
			      ledger_fail_sql(l, "reading an attestation");
	} else if (sqlite3_column_bytes(stmt, 1) != sizeof(out->public_key) ||
		   sqlite3_column_bytes(stmt, 2) != sizeof(out->statement) ||
		   sqlite3_column_bytes(stmt, 3) != sizeof(out->signature) ||
		   sqlite3_column_bytes(stmt, 4) != SEALED_NONCE ||
		   ledger_unseal(l, sqlite3_column_int64(stmt, 0), sqlite3_column_blob(stmt, 4),
				 SEALED_NONCE, out->nonce)) {
		err = ledger_fail(l, -EUCLEAN, "%s: the ledger is damaged: the attestation of "
					       "insertion %llu cannot be unsealed", l->path,
					       (unsigned long long)insertion);
	} else {
		memcpy(out->public_key, sqlite3_column_blob(stmt, 1), sizeof(out->public_key));
		memcpy(out->statement, sqlite3_column_blob(stmt, 2), sizeof(out->statement));
		memcpy(out->signature, sqlite3_column_blob(stmt, 3), sizeof(out->signature));
	}
	ledger_done(l, stmt);
	return err;
}

/* Reads a field from a column of a row. */
static void read_field(sqlite3_stmt *stmt, int n, const struct ledger_field *field,
		       struct dealbox_ledger_insertion *insertion)
{
	char *to = (char *)insertion + field->offset;
	int64_t wide = sqlite3_column_int64(stmt, n);
	uint32_t narrow = (uint32_t)wide;

	if (field->form == 't')
		copy_text(to, field->size, sqlite3_column_text(stmt, n));
	else if (field->size == sizeof(wide))
		memcpy(to, &wide, sizeof(wide));
	else
		memcpy(to, &narrow, sizeof(narrow));
}

/*
 * Calls each() for each insertion i with its verdict v and its trace; which: a condition, whose
 * arguments follow each().
 */
static int each_insertion(struct dealbox_ledger *l, const char *which,
			  int (*each)(const struct dealbox_ledger_insertion *insertion,
				      void *context), void *context, const char *format, ...)
{
	const struct ledger_column *column = NULL;
	struct dealbox_ledger_insertion insertion;
	char sql[LEDGER_STATEMENT];
	size_t length = snprintf(sql, sizeof(sql), "SELECT i.seq");
	enum ledger_kind kind;
	sqlite3_stmt *stmt;
	int err = 0, n;
	va_list ap;

	while ((column = ledger_next_field(column, &kind)))
		length += snprintf(sql + length, sizeof(sql) - length, ", coalesce(%c.%s, 0)",
				   ledger_tables[kind].name[0], column->name);
	snprintf(sql + length, sizeof(sql) - length,
		 " FROM insertions i LEFT JOIN verdicts v ON v.insertion = i.seq "
		 "LEFT JOIN traces t ON t.seq = v.trace WHERE %s", which);
	va_start(ap, format);
	stmt = ledger_vquery(l, sql, format, ap);
	va_end(ap);
	while (next_row(l, stmt, "reading insertions", &err)) {
		memset(&insertion, 0, sizeof(insertion));
		insertion.id = sqlite3_column_int64(stmt, 0);
		for (n = 1; (column = ledger_next_field(column, &kind)); n++)
			read_field(stmt, n, &column->field, &insertion);
		err = each(&insertion, context);
	}
	return err;
}

bool dealbox_ledger_get_field(const struct dealbox_ledger_insertion *insertion, unsigned int n,
			      struct dealbox_ledger_field *out)
{
	const struct ledger_column *column = NULL;
	enum ledger_kind kind;

	do {
		column = ledger_next_field(column, &kind);
	} while (column && n--);
	if (!column)
		return false;
	*out = (struct dealbox_ledger_field){ .name = column->field.name };
	if (column->field.form == 't') {
		out->text = (const char *)insertion + column->field.offset;
		return true;
	}
	out->number = ledger_field_number(&column->field, insertion);
	if (column->field.form == 'o')
		out->text = dealbox_ledger_outcome_name(insertion->outcome);
	else if (column->field.form == 'e')
		out->text = out->number ? dealbox_event_name(insertion->reason) : "";
	return true;
}

int dealbox_ledger_insertions(struct dealbox_ledger *l, uint64_t job, bool open_only,
			      int (*each)(const struct dealbox_ledger_insertion *insertion,
					  void *context), void *context)
{
	/* "0 or this job" would search everything that was ever dealt */
	return job ? each_insertion(l, "i.job = ?2 AND (NOT ?1 OR v.seq IS NULL) ORDER BY i.seq",
				    each, context, "iu", (int64_t)open_only, job) :
	       each_insertion(l, "NOT ?1 OR v.seq IS NULL ORDER BY i.seq", each, context, "i",
			      (int64_t)open_only);
}

static int keep_insertion(const struct dealbox_ledger_insertion *insertion, void *context)
{
	*(struct dealbox_ledger_insertion *)context = *insertion;
	return 0;
}

int dealbox_ledger_last(struct dealbox_ledger *l, const char *machine,
			struct dealbox_ledger_insertion *last)
{
	int err;

	last->id = 0;
	err = each_insertion(l, "i.machine = ? ORDER BY i.seq DESC LIMIT 1", keep_insertion, last,
			     "t", machine);
	if (!err && !last->id)
		err = ledger_fail(l, -ENOENT, "nothing was dealt by the machine %s", machine);
	return err;
}

int dealbox_ledger_counts(struct dealbox_ledger *l,
			  const struct dealbox_ledger_insertion *insertion)
{
	int64_t counts;
	int err = ledger_number(l, &counts, "SELECT (SELECT state FROM copies WHERE job = ?1 AND "
					    "number = ?2 AND copy = ?3) "
					    "= " SQL(COPY_RECORDED) " AND ?4 = (SELECT max(i.seq) "
				"FROM insertions i JOIN verdicts v ON v.insertion = i.seq WHERE "
				"i.job = ?1 AND i.number = ?2 AND i.copy = ?3 AND v.outcome "
				"= " SQL(OUTCOME_EXACT) ")", "uiiu", insertion->job,
				(int64_t)insertion->board, (int64_t)insertion->copy, insertion->id);

	return err ? err : (int)counts;
}

int dealbox_ledger_get_trace(struct dealbox_ledger *l, uint64_t insertion,
			     struct dealbox_event **events, size_t *count)
{
	sqlite3_stmt *stmt = ledger_query(l, "SELECT seq, events, sealed FROM traces WHERE "
					  "insertion = ?", "u", insertion);
	int err = 0, rc;

	*events = NULL;
	*count = 0;
	if (!stmt)
		return l->error.code;
	rc = sqlite3_step(stmt);
	if (rc != SQLITE_ROW) {
		err = rc == SQLITE_DONE ? ledger_fail(l, -ENOENT, "insertion %llu has no trace",
						      (unsigned long long)insertion) :
		      ledger_fail_sql(l, "reading a trace");
	} else {
		size_t size = sqlite3_column_bytes(stmt, 2);

		*count = sqlite3_column_int64(stmt, 1);
		*events = calloc(*count + 1, sizeof(**events));
		if (!*events)
			err = ledger_fail(l, -ENOMEM, "no memory");
		else if (size != *count * sizeof(**events) + LEDGER_SEAL_EXTRA ||
			 ledger_unseal(l, sqlite3_column_int64(stmt, 0),
				       sqlite3_column_blob(stmt, 2), size, *events))
			err = ledger_fail(l, -EUCLEAN, "%s: the ledger is damaged: the trace of "
					  "insertion %llu cannot be unsealed", l->path,
					  (unsigned long long)insertion);
		if (err) {
			free(*events);
			*events = NULL;
			*count = 0;
		}
	}
	ledger_done(l, stmt);
	return err;
}

/* ---- acts ---------------------------------------------------------------- */

/* The fields that an act requires. */
#define NEEDS_JOB	1u
#define NEEDS_COPY	2u
#define NEEDS_IDLE	4u	/* the copy is not being dealt */
#define NEEDS_MACHINE	8u
#define NEEDS_SET	16u	/* as its value */
#define NEEDS_MORE	32u	/* its value is more than the copies of the job */

static const unsigned int act_needs[DEALBOX_ACT_KINDS] = {
	[DEALBOX_ACT_PAUSE] = NEEDS_JOB,
	[DEALBOX_ACT_RESUME] = NEEDS_JOB,
	[DEALBOX_ACT_CANCEL] = NEEDS_JOB,
	[DEALBOX_ACT_SKIP] = NEEDS_JOB | NEEDS_COPY | NEEDS_IDLE,
	[DEALBOX_ACT_REDEAL] = NEEDS_JOB | NEEDS_COPY | NEEDS_IDLE,
	[DEALBOX_ACT_PRIORITY] = NEEDS_JOB,
	[DEALBOX_ACT_ACCEPT] = NEEDS_MACHINE,
	[DEALBOX_ACT_PLAYED] = NEEDS_SET,
	[DEALBOX_ACT_UNPLAYED] = NEEDS_SET,
	[DEALBOX_ACT_COPIES] = NEEDS_JOB | NEEDS_MORE,
	[DEALBOX_ACT_KEEP] = NEEDS_JOB,
};

/* Copies may be added to a job, but those that were announced are not taken away. */
static int check_more(struct dealbox_ledger *l, const struct dealbox_ledger_act *act,
		      int64_t copies)
{
	struct terms terms = { 0 };
	int err = get_terms(l, act->job, &terms);

	if (err)
		return err;
	if (terms.options & DEALBOX_JOB_CAPTURE)
		return ledger_fail(l, -EINVAL, "job %llu reads originals, which have no copies",
				   (unsigned long long)act->job);
	if (act->value < 0 || act->value > DEALBOX_BOARD_DEALT_MAX)
		return ledger_fail(l, -EINVAL, "a board has 1 to %d copies, or 0: no limit",
				   DEALBOX_BOARD_DEALT_MAX);
	if (!copies || (act->value && act->value <= copies))
		return ledger_fail(l, -EINVAL, "job %llu has as many copies already: skip those "
					       "that are not wanted", (unsigned long long)act->job);
	return 0;
}

static int check_act(struct dealbox_ledger *l, const struct dealbox_ledger_act *act)
{
	unsigned int needs = act_needs[act->act];
	int64_t number;
	int err;

	if ((needs & NEEDS_JOB && !act->job) ||
	    (needs & NEEDS_COPY && (!act->board || !act->copy)) || (act->board && !act->job) ||
	    (needs & NEEDS_MACHINE && (!act->machine || !*act->machine)))
		return ledger_fail(l, -EINVAL,
				   "the act does not say which job, board, copy or machine");
	if (act->act == DEALBOX_ACT_PRIORITY && act->value != (int)act->value)
		return ledger_fail(l, -EINVAL, "%lld is not a priority", (long long)act->value);
	if (needs & NEEDS_SET) {
		err = ledger_number(l, &number, "SELECT 1 FROM sets WHERE seq = ?", "i",
				    act->value);
		if (err)
			return err == -ENOENT ?
				       ledger_fail(l, err, "there is no set %lld",
						   (long long)act->value) : err;
	}
	if (act->job) {
		err = ledger_number(l, &number,
				    "SELECT " SQL_COPIES_NOW " FROM jobs j WHERE j.seq = ?", "u",
				    act->job);
		if (err)
			return err == -ENOENT ? ledger_fail(l, err, "there is no job %llu",
					(unsigned long long)act->job) : err;
		if (act->copy > (number ? number : DEALBOX_BOARD_DEALT_MAX))
			return ledger_fail(l, -ENOENT, "job %llu has no copy %u",
					   (unsigned long long)act->job, act->copy);
		err = needs & NEEDS_MORE ? check_more(l, act, number) : 0;
		if (err)
			return err;
	}
	if (act->board) {
		err = ledger_number(l, &number, "SELECT seq FROM job_boards WHERE job = ? AND "
				    "number = ?", "ui", act->job, (int64_t)act->board);
		if (err)
			return err == -ENOENT ? ledger_fail(l, err, "job %llu has no board %u",
					(unsigned long long)act->job, act->board) : err;
	}
	if (!(needs & NEEDS_IDLE))
		return 0;
	err = ledger_number(l, &number, SQL_COPY, "uii", act->job, (int64_t)act->board,
			    (int64_t)act->copy);
	if (!err && number == DEALBOX_LEDGER_COPY_DEALING)
		return ledger_fail(l, -EBUSY, "copy %u of board %u is being dealt: pause the job "
					      "or wait", act->copy, act->board);
	return err == -ENOENT ? 0 : err;
}

int dealbox_ledger_add_act(struct dealbox_ledger *l, const struct dealbox_ledger_act *act)
{
	int err;

	if (act->act < DEALBOX_ACT_PAUSE || act->act >= DEALBOX_ACT_KINDS)
		return ledger_fail(l, -EINVAL, "%d is not an act", act->act);
	if (RESERVED_USED(act))
		return ledger_fail(l, -EINVAL, "the reserved space of an act is not 0");
	err = ledger_begin(l);
	if (err)
		return err;
	err = check_act(l, act);
	if (!err)
		err = ledger_append(l, LEDGER_ACT, NULL, "iiioooit", ledger_now(),
				    (int64_t)act->uid, (int64_t)act->act, act->job,
				    (uint64_t)act->board, (uint64_t)act->copy, act->value,
				    act->machine);
	return ledger_commit(l, err);
}

static int check_names(struct dealbox_ledger *l, const char *const *machines)
{
	size_t n, m;

	for (n = 0; machines && machines[n]; n++) {
		if (!*machines[n] || strlen(machines[n]) > 127)
			return ledger_fail(l, -EINVAL, "the id of a machine has 1 to 127 bytes");
		for (m = 0; m < n; m++)
			if (!strcmp(machines[m], machines[n]))
				return ledger_fail(l, -EINVAL, "the machine %s is named twice",
						   machines[n]);
	}
	return 0;
}

int dealbox_ledger_keep_job(struct dealbox_ledger *l, uint64_t job, uint32_t uid,
			    const char *const *machines)
{
	const struct dealbox_ledger_act act = { .act = DEALBOX_ACT_KEEP, .job = job };
	size_t n = 0;
	int err = check_names(l, machines);

	if (!err)
		err = ledger_begin(l);
	if (err)
		return err;
	err = check_act(l, &act);
	while (!err) {
		err = ledger_append(l, LEDGER_ACT, NULL, "iiioooit", ledger_now(), (int64_t)uid,
				    (int64_t)DEALBOX_ACT_KEEP, job, (uint64_t)0, (uint64_t)0,
				    (int64_t)n, machines ? machines[n] : NULL);
		if (!machines || !machines[n] || !machines[++n])
			break;
	}
	return ledger_commit(l, err);
}

int dealbox_ledger_knows(struct dealbox_ledger *l, const char *machine)
{
	int64_t found;
	int err = ledger_number(l, &found, "SELECT EXISTS (SELECT 1 FROM insertions WHERE machine "
					   "= ?1) OR EXISTS (SELECT 1 FROM acts WHERE act = ?2 AND "
					   "machine = ?1)", "ti", machine,
				(int64_t)DEALBOX_ACT_ACCEPT);

	return err ? err : (int)found;
}

/* ---- after a restore ----------------------------------------------------- */

int dealbox_ledger_restored(struct dealbox_ledger *l, uint64_t *record)
{
	int64_t found = 0;
	int err = ledger_number(l, &found, "SELECT coalesce(max(seq), 0) FROM acts WHERE act = ?",
				"i", (int64_t)DEALBOX_ACT_RESTORE);

	*record = (uint64_t)found;
	return err;
}

/* The machine of unknown deals: not a possible name of a machine. */
#define RESTORED	"(before the restore)"

/* Records an insertion with unknown outcome, because the copy may have been begun. */
static int doubt_copy(struct dealbox_ledger *l, uint64_t job, unsigned int board, unsigned int copy)
{
	struct dealbox_ledger_insertion insertion = {
		.job = job, .board = board, .copy = copy, .machine = RESTORED,
		.begun_us = ledger_now(), .outcome = DEALBOX_LEDGER_UNKNOWN,
	};
	int64_t number;
	int err = ledger_number(l, &number, "SELECT coalesce(max(insertion), 0) + 1 FROM "
					    "insertions WHERE machine = ?", "t", RESTORED);

	if (err)
		return err;
	insertion.number = (uint32_t)number;
	insertion.ended_us = insertion.begun_us;
	err = ledger_append_insertion(l, LEDGER_INSERTION, &insertion.id, &insertion, "i",
				      (int64_t)0);
	return err ? err : ledger_append_insertion(l, LEDGER_VERDICT, NULL, &insertion, "uo",
						   insertion.id, (uint64_t)0);
}

/*
 * Doubts each board of the job that has an open copy, by that copy. One is enough: the deal may
 * have been dealt, for which Law 6D2 does not look at copies; and every open copy waits for an
 * operator, who skips those that lie on the table. What lies in a machine is told by the restore
 * itself.
 */
static int doubt_job(struct dealbox_ledger *l, const struct dealbox_ledger_job *job,
		     unsigned int *boards)
{
	unsigned int most = job->copies ? job->copies : DEALBOX_BOARD_DEALT_MAX, copy;
	int64_t state, board = 0;
	int err;

	while (!(err = ledger_number(l, &board, "SELECT number FROM job_boards WHERE job = ? AND "
						"number > ? ORDER BY number LIMIT 1", "ui",
						job->job, board))) {
		for (copy = 1; copy <= most; copy++) {
			state = DEALBOX_LEDGER_COPY_OPEN;
			err = ledger_number(l, &state, SQL_COPY, "uii", job->job, board,
					    (int64_t)copy);
			if (state == DEALBOX_LEDGER_COPY_OPEN)
				break;
		}
		if (copy > most)
			continue;
		if (!err || err == -ENOENT)
			err = doubt_copy(l, job->job, (unsigned int)board, copy);
		if (err)
			return err;
		++*boards;
	}
	return err == -ENOENT ? 0 : err;
}

struct open_jobs {
	struct dealbox_ledger *ledger;
	struct dealbox_ledger_job *list;
	size_t count;
};

static int keep_open(const struct dealbox_ledger_job *job, void *context)
{
	struct open_jobs *jobs = context;
	struct dealbox_ledger_job *grown;

	if (job->state != DEALBOX_LEDGER_JOB_OPEN && job->state != DEALBOX_LEDGER_JOB_PAUSED)
		return 0;
	grown = realloc(jobs->list, (jobs->count + 1) * sizeof(*grown));
	if (!grown)
		return ledger_fail(jobs->ledger, -ENOMEM, "no memory");
	jobs->list = grown;
	grown[jobs->count++] = *job;
	return 0;
}

int dealbox_ledger_accept_restore(struct dealbox_ledger *l, uint32_t uid, unsigned int *boards)
{
	struct dealbox_ledger_head known;
	struct open_jobs jobs = { .ledger = l };
	unsigned int doubts = 0;
	int64_t gone = 0;
	size_t n;
	int err = ledger_begin(l);

	if (err)
		return err;
	err = ledger_heads_last(l, &known);
	if (!err && known.record > l->head.record)
		gone = (int64_t)(known.record - l->head.record);
	if (!err || err == -ENOENT)
		err = ledger_append(l, LEDGER_ACT, NULL, "iiioooit", ledger_now(), (int64_t)uid,
				    (int64_t)DEALBOX_ACT_RESTORE, (uint64_t)0, (uint64_t)0,
				    (uint64_t)0, gone < INT32_MAX ? gone : INT32_MAX,
				    (const char *)NULL);
	if (!err)
		err = dealbox_ledger_jobs(l, 0, keep_open, &jobs);
	for (n = 0; !err && n < jobs.count; n++) {
		if (!(jobs.list[n].options & DEALBOX_JOB_CAPTURE))
			err = doubt_job(l, &jobs.list[n], &doubts);
		if (!err)
			err = ledger_append(l, LEDGER_ACT, NULL, "iiioooit", ledger_now(),
					    (int64_t)uid, (int64_t)DEALBOX_ACT_PAUSE,
					    jobs.list[n].job, (uint64_t)0, (uint64_t)0, (int64_t)0,
					    (const char *)NULL);
	}
	free(jobs.list);
	if (boards)
		*boards = doubts;
	err = ledger_commit(l, err);
	return err || l->heads >= 0 ? err : ledger_heads_open(l);
}
