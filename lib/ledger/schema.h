/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables of the ledger. INSERT, SELECT, exports and docs/ledger-records.c, which makes a page
 * of them, all follow ledger_tables. schema.c needs no other file of the library.
 */
#ifndef LEDGER_SCHEMA_H
#define LEDGER_SCHEMA_H

#include <stddef.h>

/* Kinds of records, as stored in chain.kind: never renumbered. */
enum ledger_kind {
	LEDGER_SET = 1,
	LEDGER_BOARD,
	LEDGER_JOB,
	LEDGER_JOB_BOARD,
	LEDGER_INSERTION,
	LEDGER_TRACE,
	LEDGER_VERDICT,
	LEDGER_ACT,
	LEDGER_JOB_MACHINE,
	LEDGER_ATTESTATION,
	LEDGER_EMULATION,
	LEDGER_KINDS
};

#define LEDGER_COLUMNS	9	/* of a table, one more than any has */

struct ledger_column {
	const char *name;
	const char *key;	/* in an export; NULL = not exported */
	const char *value;	/* there: an SQL expression; NULL = the column */
	const char *about;	/* for people: phrases, without a full stop at the end */
};

/* The table of a kind. The hash of a record covers seq and these columns, in this order. */
struct ledger_table {
	const char *name;
	const char *record;	/* name of the kind in an export */
	const char *about;	/* for people: sentences */
	struct ledger_column columns[LEDGER_COLUMNS];	/* up to one without a name */
};

extern const struct ledger_table ledger_tables[LEDGER_KINDS];
/* Step n brings a ledger from version n to n + 1; so many steps make the present version. */
extern const char *const ledger_migrations[];
extern const int ledger_version;

#define LEDGER_SQL		1024	/* bytes of a list of columns, at most */
#define LEDGER_STATEMENT	1152	/* bytes of a statement with one */

/*
 * Write "at, session, boards, digest", as INSERT and SELECT have it. Returns the number of columns.
 */
int ledger_columns(enum ledger_kind kind, char sql[LEDGER_SQL]);
/* Write "'at', at, 'session', session", the arguments of json_object() in an export. */
void ledger_export_columns(enum ledger_kind kind, char sql[LEDGER_SQL]);

#endif
