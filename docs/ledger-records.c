// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Prints ledger-records.md: each record of the ledger, and its columns, from lib/ledger/schema.c.
 * It runs during a build, also of a cross-build, so it links that file alone.
 */
#include <stdio.h>

#include "ledger/schema.h"

int main(void)
{
	const struct ledger_column *column;
	const struct ledger_table *table;

	puts("<!-- SPDX-License-" "Identifier: CC-BY-SA-4.0 -->\n"
	     "# Records of the ledger\n"
	     "The records of the [ledger](ledger.md), and their columns. `dealbox ledger export`\n"
	     "writes each record as one line of JSON with every key below. Each line also has\n"
	     "`number`, the number of the record, `record`, its kind, and `hash`, its hash in the\n"
	     "chain (64 hexadecimal digits). A record is never changed. New keys and kinds may be\n"
	     "added, so ignore those that you do not know.");
	for (table = ledger_tables + 1; table < ledger_tables + LEDGER_KINDS; table++) {
		printf("\n## %s\n%s Table `%s`.\n\n"
		       "| key | column | contents |\n|---|---|---|\n",
		       table->record, table->about, table->name);
		for (column = table->columns; column->name; column++)
			printf("| %s | %s | %s |\n", column->key ? column->key : "not exported",
			       column->name, column->about);
	}
	return 0;
}
