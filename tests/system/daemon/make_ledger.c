// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * make_ledger FILE: a ledger with a job of two boards: one recorded, one void and
 * then skipped. For tests of what reads ledgers.
 */
#include <stdio.h>
#include <string.h>

#include <dealbox/ledger.h>

int main(int argc, char **argv)
{
	static const char *const machines[] = { "SN1", NULL };
	static const unsigned int numbers[] = { 1, 2 };
	struct dealbox_ledger_board boards[2] = { { .number = 1 }, { .number = 2 } };
	struct dealbox_ledger_act skip = {
		.act = DEALBOX_ACT_SKIP, .uid = 0, .board = 2, .copy = 1
	};
	struct dealbox_ledger_new_job new_job = {
		.boards = numbers, .count = 2, .copies = 1, .machines = machines,
	};
	struct dealbox_ledger_insertion exact = {
		.board = 1, .copy = 1, .machine = "SN1", .number = 41, .plan = 1,
		.outcome = DEALBOX_LEDGER_EXACT,
	};
	struct dealbox_ledger_insertion jam = {
		.board = 2, .copy = 1, .machine = "SN1", .number = 42, .plan = 2,
		.outcome = DEALBOX_LEDGER_VOID, .reason = DEALBOX_EV_JAM,
	};
	struct dealbox_event event = { .type = DEALBOX_EV_DEAL_DONE };
	struct dealbox_ledger *l = dealbox_ledger_new();
	uint64_t job;
	unsigned int card;

	for (card = 0; card < DEALBOX_CARDS; card++) {
		boards[0].deal.hand[card % 4] |= 1ULL << card;
		boards[1].deal.hand[card / 13] |= 1ULL << card;
	}
	if (argc != 2 ||
	    dealbox_ledger_open(l, argv[1], DEALBOX_LEDGER_WRITE | DEALBOX_LEDGER_CREATE) ||
	    dealbox_ledger_add_set(l, "club evening", boards, 2, &new_job.set, NULL) ||
	    dealbox_ledger_add_job(l, &new_job, &job, NULL)) {
		fprintf(stderr, "make_ledger: %s\n", dealbox_ledger_error(l)->what);
		return 1;
	}
	exact.job = jam.job = skip.job = job;
	if (dealbox_ledger_begin(l, &exact) || dealbox_ledger_end(l, &exact, &event, 1) ||
	    dealbox_ledger_begin(l, &jam) || dealbox_ledger_end(l, &jam, NULL, 0) ||
	    dealbox_ledger_add_act(l, &skip))
		return 1;
	dealbox_ledger_free(l);
	return 0;
}
