// SPDX-License-Identifier: LGPL-2.1-or-later
/* The tables of the ledger, and how each version of them is made from the one before. */
#include <stdio.h>

#include "schema.h"
#include "sql.h"

#define AT	"time of the record: µs since 1970, UTC"

/* The member of struct dealbox_ledger_insertion that has the value of a column */
#define FIELD(name, form, member) \
	{ name, form, offsetof(struct dealbox_ledger_insertion, member), \
	  sizeof(((struct dealbox_ledger_insertion *)0)->member) }

/*
 * A new column also needs a step in ledger_migrations. Without a field, it needs a value wherever
 * records.c appends a record of its kind. It changes the hash of its records: add it to a new
 * table, or leave it out of the hashes of older records.
 */
const struct ledger_table ledger_tables[LEDGER_KINDS] = {
	[LEDGER_SET] = {
		"sets", "set", "The deals of one session. The same deals for the same session are "
			       "the same set.", {
		{ "at", "at", NULL, AT },
		{ "session", "session", NULL, "name of the session" },
		{ "boards", "boards", NULL, "number of boards" },
		{ "digest", NULL, NULL, "keyed digest of all deals, whatever their order" },
	} },
	[LEDGER_BOARD] = {
		"boards", "board", "One deal of a set.", {
		{ "set_seq", "set", NULL, "number of the set's record" },
		{ "number", "board", NULL, "number of the board" },
		{ "fingerprint", "fingerprint", "printf('%016llx', fingerprint)",
		  "keyed hash of the deal: 16 hexadecimal digits. A deal that was turned has the "
		  "same" },
		{ "sealed", NULL, NULL, "the deal, encrypted" },
	} },
	[LEDGER_JOB] = {
		"jobs", "job", "A set that is to be dealt. A job without a set reads an original, "
			       "or deals a shuffled pack by a ruleset.", {
		{ "at", "at", NULL, AT },
		{ "set_seq", "set", NULL, "number of the set's record; null: none" },
		{ "copies", "copies", NULL, "copies of each board; of an original: its pockets; 0: "
					    "no limit" },
		{ "options", "options", NULL,
		  "sum of `DEALBOX_JOB_` values of `dealbox/ledger.h`; 512 * law + 4096 * dealer "
		  "for a shuffled pack; 16384: of an event" },
		{ "priority", "priority", NULL, "priority at first; an act may change it. The "
						"highest is dealt first" },
	} },
	[LEDGER_JOB_BOARD] = {
		"job_boards", "job board", "A board of a job.", {
		{ "job", "job", NULL, "number of the job's record" },
		{ "number", "board", NULL, "number of the board" },
	} },
	[LEDGER_INSERTION] = {
		"insertions", "insertion", "Written *before* START is sent: this insertion of this "
					   "machine is for this copy of this board.", {
		{ "at", "at", NULL, AT, FIELD("begun_us", 'n', begun_us) },
		{ "job", "job", NULL, "number of the job's record", FIELD("job", 'n', job) },
		{ "number", "board", NULL, "number of the board", FIELD("board", 'n', board) },
		{ "copy", "copy", NULL,
		  "copy of the board, from 1; of an original: its pocket, from 1",
		  FIELD("copy", 'n', copy) },
		{ "machine", "machine", NULL, "serial number of the machine, or its port",
		  FIELD("machine", 't', machine) },
		{ "insertion", "insertion", NULL, "the machine's number of the insertion",
		  FIELD("insertion", 'n', number) },
		{ "plan", "plan", NULL, "number of the plan, as given to the machine",
		  FIELD("plan", 'n', plan) },
		{ "capture", "capture", "json(iif(capture, 'true', 'false'))",
		  "true: the board is an original that is read" },
	} },
	[LEDGER_TRACE] = {
		"traces", "trace", "Every event of an insertion.", {
		{ "insertion", "of", NULL, "number of the insertion's record" },
		{ "events", "events", NULL, "number of events", FIELD("events", 'n', events) },
		{ "sealed", NULL, NULL, "the events, encrypted" },
	} },
	[LEDGER_VERDICT] = {
		"verdicts", "verdict", "The outcome of an insertion.", {
		{ "at", "at", NULL, AT, FIELD("ended_us", 'n', ended_us) },
		{ "insertion", "of", NULL, "number of the insertion's record" },
		{ "outcome", "outcome", SQL_NAME(OUTCOME_NAMES, "outcome"),
		  "exact; differs; void; unknown: it was cut short; captured: the original was "
		  "read", FIELD("outcome", 'o', outcome) },
		{ "reason", "reason", NULL,
		  "type of the event that stopped a void deal (`DEALBOX_EV_`); 0: none",
		  FIELD("reason", 'e', reason) },
		{ "differences", "differences", NULL,
		  "number of differences between board and plan",
		  FIELD("difference_count", 'n', differences) },
		{ "trace", "trace", NULL, "number of the trace's record; null: none" },
	} },
	[LEDGER_ACT] = {
		"acts", "act", "An action of an operator.", {
		{ "at", "at", NULL, AT },
		{ "uid", "uid", NULL, "number of the user; 4294967295: a key or button; "
				      "4294967294: a program that had ended before the bus could "
				      "name its user" },
		{ "act", "act", SQL_NAME(ACT_NAMES, "act"),
		  "pause, resume, cancel: the job. skip, redeal: the copy. priority: its value is "
		  "the job's new one. emptied: the board was said to be empty. reveal: cards were "
		  "shown, of a set if the value is not 0. stop: emergency stop. add: of a job, or "
		  "of the set that is the value. restore: an older ledger goes on, and the value "
		  "is the number of lost records. accept: of a new machine. played, unplayed: the "
		  "set that is the value. copies: the value is the job's new number of copies. "
		  "keep: only this machine, or any if there is none, deals the job from now on; "
		  "with a value that is not 0, this one besides" },
		{ "job", "job", NULL, "number of the job's record; null: none" },
		{ "board", "board", NULL, "number of the board; null: none" },
		{ "copy", "copy", NULL, "copy of the board; null: none" },
		{ "value", "value", NULL, "see act; otherwise 0" },
		{ "machine", "machine", NULL, "the machine, as in an insertion; null: none" },
	} },
	[LEDGER_JOB_MACHINE] = {
		"job_machines", "job machine", "A machine that may deal a job. If none is named, "
					       "any may.", {
		{ "job", "job", NULL, "number of the job's record" },
		{ "machine", "machine", NULL, "the machine, as in an insertion" },
	} },
	[LEDGER_ATTESTATION] = {
		"attestations", "attestation", "What the machine has signed about an insertion.", {
		{ "insertion", "of", NULL, "number of the insertion's record" },
		{ "public_key", "key", "lower(hex(public_key))",
		  "public key of the machine, as it said itself: 64 hexadecimal digits" },
		{ "statement", "statement", "lower(hex(statement))",
		  "the statement: 192 hexadecimal digits" },
		{ "signature", "signature", "lower(hex(signature))",
		  "the signature: 128 hexadecimal digits" },
		{ "sealed", NULL, NULL, "the nonce, encrypted" },
	} },
	[LEDGER_EMULATION] = {
		"emulations", "emulation", "A program has played the machine of an insertion "
					   "(`emu:`): no card was dealt. Written *before* START is "
					   "sent.", {
		{ "insertion", "of", NULL, "number of the insertion's record" },
	} },
};

void ledger_columns(enum ledger_kind kind, char sql[LEDGER_SQL])
{
	const struct ledger_column *column;
	size_t length = 0;

	for (column = ledger_tables[kind].columns; column->name; column++)
		length += snprintf(sql + length, LEDGER_SQL - length, "%s%s", length ? ", " : "",
				   column->name);
}

void ledger_insert(enum ledger_kind kind, char sql[LEDGER_STATEMENT])
{
	const struct ledger_table *table = &ledger_tables[kind];
	const struct ledger_column *column;
	char columns[LEDGER_SQL];
	unsigned int given = 2, field = 2;
	size_t length;

	for (column = table->columns; column->name; column++)
		field += !column->field.name;
	ledger_columns(kind, columns);
	length = snprintf(sql, LEDGER_STATEMENT, "INSERT INTO %s (seq, %s) VALUES (?1", table->name,
			  columns);
	for (column = table->columns; column->name; column++)
		length += snprintf(sql + length, LEDGER_STATEMENT - length, ", ?%u",
				   column->field.name ? field++ : given++);
	snprintf(sql + length, LEDGER_STATEMENT - length, ")");
}

const struct ledger_column *ledger_next_field(const struct ledger_column *column,
					      enum ledger_kind *kind)
{
	if (column) {
		column++;
	} else {
		*kind = LEDGER_SET;
		column = ledger_tables[*kind].columns;
	}
	while (!column->field.name) {
		if (column->name)
			column++;
		else if (++*kind < LEDGER_KINDS)
			column = ledger_tables[*kind].columns;
		else
			return NULL;
	}
	return column;
}

void ledger_export_columns(enum ledger_kind kind, char sql[LEDGER_SQL])
{
	const struct ledger_table *table = &ledger_tables[kind];
	const struct ledger_column *column;
	size_t length = snprintf(sql, LEDGER_SQL, "'record', '%s'", table->record);

	for (column = table->columns; column->name; column++)
		if (column->key)
			length += snprintf(sql + length, LEDGER_SQL - length, ", '%s', %s",
					   column->key,
					   column->value ? column->value : column->name);
}

#define CHAINED "seq INTEGER PRIMARY KEY REFERENCES chain DEFERRABLE INITIALLY DEFERRED, "
#define FIXED(table) \
	"CREATE TRIGGER " table "_no_update BEFORE UPDATE ON " table \
	" BEGIN SELECT RAISE(ABORT, 'records are never changed'); END;" \
	"CREATE TRIGGER " table "_no_delete BEFORE DELETE ON " table \
	" BEGIN SELECT RAISE(ABORT, 'records are never removed'); END;"

/* The copies that have any record; job, number and copy of each are given. */
#define COPIES(touched) \
	"CREATE VIEW copies AS SELECT job, number, copy, tries, CASE " \
	"  WHEN dealing THEN " SQL(COPY_DEALING) " WHEN recorded > redeal " \
						 "THEN " SQL(COPY_RECORDED) \
	" WHEN skipped > redeal THEN " SQL(COPY_SKIPPED) " " \
	"  ELSE " SQL(COPY_OPEN) " END AS state FROM (SELECT t.job, t.number, t.copy, " \
	"  (SELECT count(*) FROM insertions i WHERE i.job = t.job AND i.number = t.number " \
	"   AND i.copy = t.copy) AS tries, " \
	"  EXISTS (SELECT 1 FROM insertions i WHERE i.job = t.job AND i.number = t.number " \
	"   AND i.copy = t.copy AND NOT EXISTS " \
	"   (SELECT 1 FROM verdicts v WHERE v.insertion = i.seq)) AS dealing, " \
	"  (SELECT coalesce(max(v.seq), 0) FROM insertions i JOIN verdicts v " \
	"   ON v.insertion = i.seq WHERE i.job = t.job AND i.number = t.number " \
	"   AND i.copy = t.copy AND v.outcome IN " \
	"(" SQL(OUTCOME_EXACT) ", " SQL(OUTCOME_CAPTURED) ")) AS recorded, " \
	"  (SELECT coalesce(max(a.seq), 0) FROM acts a WHERE a.job = t.job " \
	"   AND a.board = t.number AND a.copy = t.copy AND a.act " \
	"= " SQL(ACT_REDEAL) ") AS redeal, " \
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
	"  outcome INTEGER NOT NULL CHECK (outcome "
	"BETWEEN " SQL(OUTCOME_EXACT) " AND " SQL(OUTCOME_CAPTURED) "), "
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
	       "SELECT job, board, copy FROM acts WHERE act IN "
	       "(" SQL(ACT_SKIP) ", " SQL(ACT_REDEAL) ")")
	FIXED("ledger") FIXED("chain") FIXED("sets") FIXED("boards") FIXED("jobs")
	FIXED("job_boards") FIXED("insertions") FIXED("traces") FIXED("verdicts") FIXED("acts"),

	/* a job without a named machine is for any machine */
	"CREATE TABLE job_machines (" CHAINED "job INTEGER NOT NULL REFERENCES jobs, "
	"  machine TEXT NOT NULL CHECK (machine <> ''), UNIQUE (job, machine)) STRICT;"
	FIXED("job_machines"),

	/* SQLite searches each part of a UNION ALL, but materialises a UNION */
	"DROP VIEW copies;"
	COPIES("SELECT DISTINCT job, number, copy FROM insertions UNION ALL "
	       "SELECT DISTINCT job, board, copy FROM acts a WHERE act IN "
	       "(" SQL(ACT_SKIP) ", " SQL(ACT_REDEAL) ") "
	       "AND NOT EXISTS "
	       "(SELECT 1 FROM insertions i WHERE i.job = a.job AND i.number = a.board "
	       "AND i.copy = a.copy)"),

	"CREATE INDEX insertions_machine ON insertions (machine);",

	"CREATE TABLE attestations (" CHAINED "insertion INTEGER NOT NULL UNIQUE "
	"  REFERENCES insertions, public_key BLOB NOT NULL CHECK (length(public_key) = 32), "
	"  statement BLOB NOT NULL CHECK (length(statement) = 96), "
	"  signature BLOB NOT NULL CHECK (length(signature) = 64), sealed BLOB NOT NULL) STRICT;"
	FIXED("attestations"),

	"CREATE TABLE emulations (" CHAINED "insertion INTEGER NOT NULL UNIQUE "
	"  REFERENCES insertions) STRICT;"
	FIXED("emulations")
};

const int ledger_version = sizeof(ledger_migrations) / sizeof(ledger_migrations[0]);
