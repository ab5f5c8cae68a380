// SPDX-License-Identifier: LGPL-2.1-or-later
#include "transfer.h"

#include <errno.h>

/* transfers that are given back one after the other, as when the host clears a halt */
#define FAILURES_MOST	16

void transfer_begin(struct transfer *t, bool taken, bool pending)
{
	t->busy = taken;
	t->rests = !taken;
	t->outlived = false;
	t->crossed = pending;
}

static void fail(struct transfer *t, bool goes_in, uint16_t wanted, int64_t error)
{
	const bool gone = error == -ESHUTDOWN || error == -ENODEV;

	if (gone || ++t->failures > FAILURES_MOST)
		t->rests = true;
	else if (goes_in)
		t->again = wanted;
}

void transfer_end(struct transfer *t, bool goes_in, uint16_t wanted, int64_t result)
{
	t->busy = false;
	if (result < 0) {
		/* an earlier configuration ended it: the endpoint works in this one */
		if (!t->outlived)
			fail(t, goes_in, wanted, result);
		return;
	}
	/* Its configuration may be this one. If not, it is data for a core that expects none. */
	if (t->outlived && !t->crossed)
		return;
	t->failures = 0;
	t->has_data = !goes_in;
	t->length = (uint16_t)result;
}

void transfer_configure(struct transfer *t, bool enabled)
{
	/*
	 * Data of a transfer that crossed the event have waited for it: they belong to what it
	 * began.
	 */
	t->has_data = t->has_data && t->crossed && enabled;
	/* The second configuration has ended it, whatever the first one was. */
	if (t->has_data || t->outlived)
		t->crossed = false;
	t->outlived = t->busy;
	t->rests = false;
	t->failures = 0;
	t->again = 0;
}

void transfer_settle(struct transfer *t)
{
	if (!t->outlived)
		t->crossed = false;
}

bool transfer_is_due(const struct transfer *t, bool pending)
{
	return t->has_data && !(t->crossed && !t->outlived && pending);
}
