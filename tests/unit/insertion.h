/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An insertion of the ledger in one line, for tests that record many. */
#ifndef TESTS_INSERTION_H
#define TESTS_INSERTION_H

#include <stdio.h>

#include <dealbox/ledger.h>

static inline struct dealbox_ledger_insertion
new_insertion(uint64_t job, unsigned int board, unsigned int copy, const char *machine,
	      uint32_t number, uint32_t plan)
{
	struct dealbox_ledger_insertion insertion = {
		.job = job, .board = board, .copy = copy, .number = number, .plan = plan,
	};

	snprintf(insertion.machine, sizeof(insertion.machine), "%s", machine);
	return insertion;
}

static inline int begin_insertion(struct dealbox_ledger *l, uint64_t job, unsigned int board,
				  unsigned int copy, const char *machine, uint32_t number,
				  uint32_t plan, uint64_t *id)
{
	struct dealbox_ledger_insertion insertion =
		new_insertion(job, board, copy, machine, number, plan);
	int err = dealbox_ledger_begin(l, &insertion);

	*id = insertion.id;
	return err;
}

static inline int end_insertion(struct dealbox_ledger *l, uint64_t id,
				enum dealbox_ledger_outcome outcome, unsigned int reason,
				unsigned int differences, const struct dealbox_event *events,
				size_t count)
{
	const struct dealbox_ledger_insertion insertion = {
		.id = id, .outcome = outcome, .reason = reason, .differences = differences,
	};

	return dealbox_ledger_end(l, &insertion, events, count);
}

#endif
