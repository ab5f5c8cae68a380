// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dealbox/event.h>

#include "dealing/counts.h"

/* A reading of quality 1..49 counts as not read (R-4-14). */
static bool is_read(const struct dealbox_event *e)
{
	return e->card < 64 && (!e->quality || e->quality >= 50);
}

void count_test(const struct dealbox_trace *trace, struct test_result *result)
{
	const struct dealbox_event *e;
	uint64_t seen = 0;
	size_t n;

	*result = (struct test_result){ .insertion = dealbox_trace_insertion(trace) };
	for (n = 0; (e = dealbox_trace_get(trace, n)); n++) {
		if (e->type == DEALBOX_EV_DEAL_STARTED && e->code == TEST_PLAN) {
			result->state = TEST_RUNNING;
			result->cards = e->arg[0];
		}
		if (result->state != TEST_RUNNING)
			continue;
		if (e->type == DEALBOX_EV_CARD_READ) {
			result->fed++;
			result->face_up += !!(e->flags & DEALBOX_EVF_FACE_UP);
		}
		if (e->type == DEALBOX_EV_CARD_READ && is_read(e)) {
			result->read++;
			result->repeated += seen >> e->card & 1;
			seen |= (uint64_t)1 << e->card;
		}
		result->landed += e->type == DEALBOX_EV_CARD_LANDED;
		if (e->type == DEALBOX_EV_DEAL_DONE)
			result->state = TEST_DONE;
		else if (e->type == DEALBOX_EV_STATE_LOST)
			result->state = TEST_LOST;
		else if (e->type == DEALBOX_EV_ABORTED ||
			 dealbox_event_classify(e->type) == DEALBOX_EVENT_VOID)
			result->state = TEST_STOPPED;
		if (result->state == TEST_STOPPED)
			result->stop = e->type;
	}
}
