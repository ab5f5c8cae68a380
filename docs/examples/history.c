// SPDX-License-Identifier: LGPL-2.1-or-later
/* history LEDGER: each insertion of a ledger, and whether it was exact. */
#include <stdio.h>

#include <dealbox/ledger.h>

static int show(const struct dealbox_ledger_insertion *insertion, void *context)
{
	(void)context;
	printf("board %u, copy %u: %s\n", insertion->board, insertion->copy,
	       insertion->outcome == DEALBOX_LEDGER_EXACT ? "exact" : "not exact");
	return 0;
}

int main(int argc, char **argv)
{
	struct dealbox_ledger *ledger = dealbox_ledger_new();
	int err;

	if (argc != 2 || !ledger)
		return 2;
	err = dealbox_ledger_open(ledger, argv[1], 0);
	if (!err)
		err = dealbox_ledger_insertions(ledger, 0, false, show, NULL);
	if (err)
		fprintf(stderr, "%s\n", dealbox_ledger_error(ledger)->what);
	dealbox_ledger_free(ledger);
	return err ? 1 : 0;
}
