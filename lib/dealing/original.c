// SPDX-License-Identifier: LGPL-2.1-or-later
/* The original that a job has captured (Law 6F), from the ledger. */
#include <errno.h>
#include <stdlib.h>

#include <sodium.h>

#include <dealbox/dealing.h>
#include <dealbox/law.h>

/* The last capture of each pocket of a board; id 0 = none */
struct original {
	unsigned int board;
	struct dealbox_ledger_insertion pockets[DEALBOX_HANDS];
};

static int find_captured(const struct dealbox_ledger_insertion *insertion, void *context)
{
	struct original *original = context;

	if (insertion->board == original->board && insertion->copy <= DEALBOX_HANDS &&
	    insertion->outcome == DEALBOX_LEDGER_CAPTURED)
		original->pockets[insertion->copy - 1] = *insertion;
	return 0;
}

/* A pocket that was asked for again does not count until it is read. */
static int drop_open(const struct dealbox_ledger_copy *copy, void *context)
{
	struct original *original = context;

	if (copy->board == original->board && copy->copy <= DEALBOX_HANDS &&
	    copy->state != DEALBOX_LEDGER_COPY_RECORDED)
		original->pockets[copy->copy - 1].id = 0;
	return 0;
}

static int read_trace(struct dealbox_ledger *ledger,
		      const struct dealbox_ledger_insertion *insertion,
		      struct dealbox_trace **trace)
{
	struct dealbox_event *events;
	size_t count, n;
	int err = dealbox_ledger_get_trace(ledger, insertion->id, &events, &count);

	if (err)
		return err;
	*trace = dealbox_trace_new(insertion->number);
	err = *trace ? 0 : -ENOMEM;
	for (n = 0; !err && n < count; n++)
		if (dealbox_trace_add(*trace, &events[n]) == -ENOMEM)
			err = -ENOMEM;
	sodium_memzero(events, count * sizeof(*events));
	free(events);
	return err;
}

int dealbox_dealing_original(struct dealbox_ledger *ledger, uint64_t job, unsigned int board,
			     struct dealbox_deal *deal, unsigned int *pocket)
{
	struct dealbox_trace *traces[DEALBOX_HANDS] = { 0 };
	struct original original = { .board = board };
	int err = dealbox_ledger_insertions(ledger, job, false, find_captured, &original);
	unsigned int n;

	if (!err)
		err = dealbox_ledger_copies(ledger, job, drop_open, &original);
	*deal = (struct dealbox_deal){ 0 };
	for (n = 0; !err && n < DEALBOX_HANDS; n++) {
		*pocket = n;
		err = original.pockets[n].id ?
			      read_trace(ledger, &original.pockets[n], &traces[n]) :
			      -ENODATA;
	}
	if (!err)
		err = dealbox_law_capture((const struct dealbox_trace *const *)traces,
					  dealbox_pack_bridge(), deal, pocket);
	for (n = 0; n < DEALBOX_HANDS; n++)
		dealbox_trace_free(traces[n]);
	return err;
}
