// SPDX-License-Identifier: LGPL-2.1-or-later
/* The tables of the ledger, and how each version of them is made from the one before. */
#include "ledger-internal.h"
#include "sql.h"

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
		"'record', 'verdict', 'at', at, 'of', insertion, "
		"'outcome', " SQL_NAME(OUTCOME_NAMES, "outcome") ", 'reason', reason, "
		"'differences', differences, 'trace', trace"
	},
	[LEDGER_ACT] = {
		"acts", "at, uid, act, job, board, copy, value, machine", 8,
		"'record', 'act', 'at', at, 'uid', uid, 'act', " SQL_NAME(ACT_NAMES, "act") ", "
		"'job', job, 'board', board, 'copy', copy, 'value', value, 'machine', machine"
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
const char *const ledger_migrations[] = {
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

const int ledger_version = sizeof(ledger_migrations) / sizeof(ledger_migrations[0]);
