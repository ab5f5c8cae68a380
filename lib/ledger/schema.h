/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables of the ledger. INSERT, SELECT, exports and docs/ledger-records.c, which makes a page
 * of them, all follow ledger_tables. So does struct dealbox_ledger_insertion: a column with a field
 * is written from it and read into it. schema.c needs no other file of the library.
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

/* The place of a column's value in struct dealbox_ledger_insertion. */
struct ledger_field {
	const char *name;	/* for programs; NULL = there is none */
	char form;		/* n = number, t = text, o = an outcome, e = type of an event */
	size_t offset;
	size_t size;		/* of a number: 4 or 8 bytes */
};

struct ledger_column {
	const char *name;
	const char *key;	/* in an export; NULL = not exported */
	const char *value;	/* there: an SQL expression; NULL = the column */
	const char *about;	/* for people: phrases, without a full stop at the end */
	struct ledger_field field;
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
#define LEDGER_STATEMENT	1408	/* bytes of a statement with one */

/* Write "at, session, boards, digest", as SELECT has it. */
void ledger_columns(enum ledger_kind kind, char sql[LEDGER_SQL]);
/*
 * Write an INSERT. Its parameters are the number of the record, the columns without a field, and
 * those with one.
 */
void ledger_insert(enum ledger_kind kind, char sql[LEDGER_STATEMENT]);
/*
 * Return the column with a field that follows this one, or the first if it is NULL; NULL: there are
 * no more. *kind is the kind of its table.
 */
const struct ledger_column *ledger_next_field(const struct ledger_column *column,
					      enum ledger_kind *kind);
/* Write "'at', at, 'session', session", the arguments of json_object() in an export. */
void ledger_export_columns(enum ledger_kind kind, char sql[LEDGER_SQL]);

#endif
