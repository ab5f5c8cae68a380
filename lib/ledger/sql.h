/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers that stand in SQL, by name: "WHERE outcome = " SQL(OUTCOME_EXACT). Ledgers hold these
 * numbers, so none of them ever changes; the assertions compare them with the public enums, which a
 * preprocessor does not know. The names are those of exports and programs, in order of the numbers.
 */
#ifndef LEDGER_SQL_H
#define LEDGER_SQL_H

#include <dealbox/ledger.h>
#include <dealbox/set.h>

#define SQL_TEXT(number)	#number
#define SQL(name)		SQL_TEXT(name)

/* The name of the number in a column, by OUTCOME_NAMES or ACT_NAMES: an SQL expression. */
#define SQL_JSON_NAME(text)	",\"" text "\""
#define SQL_NAME(names, column) \
	"json_extract('[null" names(SQL_JSON_NAME) "]', '$[' || " column " || ']')"

#define OUTCOME_EXACT		1
#define OUTCOME_DIFFERS		2
#define OUTCOME_VOID		3
#define OUTCOME_UNKNOWN		4
#define OUTCOME_CAPTURED	5
#define OUTCOME_NAMES(name) \
	name("exact") name("differs") name("void") name("unknown") name("captured")

#define ACT_PAUSE		1
#define ACT_RESUME		2
#define ACT_CANCEL		3
#define ACT_SKIP		4
#define ACT_REDEAL		5
#define ACT_PRIORITY		6
#define ACT_ADD			10
#define ACT_PLAYED		13
#define ACT_UNPLAYED		14
#define ACT_COPIES		15
#define ACT_KEEP		16
#define ACT_NAMES(name) \
	name("pause") name("resume") name("cancel") name("skip") name("redeal") name("priority") \
	name("emptied") name("reveal") name("stop") name("add") name("restore") name("accept") \
	name("played") name("unplayed") name("copies") name("keep")

#define COPY_OPEN		0
#define COPY_DEALING		1
#define COPY_RECORDED		2
#define COPY_SKIPPED		3

#define SQL_IS(name, value)	_Static_assert((name) == (int)(value), #value)

#define SQL_COUNT(text)		+ 1

SQL_IS(OUTCOME_NAMES(SQL_COUNT), DEALBOX_LEDGER_CAPTURED);
SQL_IS(ACT_NAMES(SQL_COUNT), DEALBOX_ACT_KINDS - 1);
SQL_IS(OUTCOME_EXACT, DEALBOX_LEDGER_EXACT);
SQL_IS(OUTCOME_DIFFERS, DEALBOX_LEDGER_DIFFERS);
SQL_IS(OUTCOME_VOID, DEALBOX_LEDGER_VOID);
SQL_IS(OUTCOME_UNKNOWN, DEALBOX_LEDGER_UNKNOWN);
SQL_IS(OUTCOME_CAPTURED, DEALBOX_LEDGER_CAPTURED);
SQL_IS(ACT_PAUSE, DEALBOX_ACT_PAUSE);
SQL_IS(ACT_RESUME, DEALBOX_ACT_RESUME);
SQL_IS(ACT_CANCEL, DEALBOX_ACT_CANCEL);
SQL_IS(ACT_SKIP, DEALBOX_ACT_SKIP);
SQL_IS(ACT_REDEAL, DEALBOX_ACT_REDEAL);
SQL_IS(ACT_PRIORITY, DEALBOX_ACT_PRIORITY);
SQL_IS(ACT_ADD, DEALBOX_ACT_ADD);
SQL_IS(ACT_PLAYED, DEALBOX_ACT_PLAYED);
SQL_IS(ACT_UNPLAYED, DEALBOX_ACT_UNPLAYED);
SQL_IS(ACT_COPIES, DEALBOX_ACT_COPIES);
SQL_IS(ACT_KEEP, DEALBOX_ACT_KEEP);
SQL_IS(COPY_OPEN, DEALBOX_LEDGER_COPY_OPEN);
SQL_IS(COPY_DEALING, DEALBOX_LEDGER_COPY_DEALING);
SQL_IS(COPY_RECORDED, DEALBOX_LEDGER_COPY_RECORDED);
SQL_IS(COPY_SKIPPED, DEALBOX_LEDGER_COPY_SKIPPED);

#endif
