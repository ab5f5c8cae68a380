/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace: all events of one insertion, as the machine sent them. */
#ifndef DEALBOX_TRACE_H
#define DEALBOX_TRACE_H

#include <linux/dealbox.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dealbox/api.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DEALBOX_TRACE_MAX	4096	/* events; a deal has some 160 */

struct dealbox_trace;

/*
 * Returns an empty trace of the insertion with that number, or NULL if out of memory. Free it with
 * dealbox_trace_free().
 */
DEALBOX_API struct dealbox_trace *dealbox_trace_new(uint32_t insertion);

/* Wipes and frees the trace. NULL is allowed. */
DEALBOX_API void dealbox_trace_free(struct dealbox_trace *trace);

/*
 * Adds the next event that was read from the machine. Add all events, in their order, whatever
 * their subject. The trace keeps those of its insertion and those that put the insertion in doubt
 * (state lost, protocol errors, deal events that name another insertion), and detects missing
 * events.
 *
 * Returns 1 if the event was kept, 0 if it does not concern this insertion. -ENOMEM, -ENOSPC (more
 * than DEALBOX_TRACE_MAX): the event is lost, and the trace remains incomplete.
 */
DEALBOX_API int dealbox_trace_add(struct dealbox_trace *trace,
				  const struct dealbox_event *event);

/* Returns the number of the insertion. */
DEALBOX_API uint32_t dealbox_trace_insertion(const struct dealbox_trace *trace);

/*
 * Returns the number of kept events, or the event with that index (NULL beyond the last). Events
 * are valid as long as the trace, until the next event is added.
 */
DEALBOX_API size_t dealbox_trace_count(const struct dealbox_trace *trace);
DEALBOX_API const struct dealbox_event *
dealbox_trace_get(const struct dealbox_trace *trace, size_t index);

/*
 * Returns true if events are missing: a jump of either number, an event flagged with a gap (unless
 * the insertion began with that event, or had ended before it), or an event that could not be kept.
 */
DEALBOX_API bool dealbox_trace_gap(const struct dealbox_trace *trace);

#ifdef __cplusplus
}
#endif
#endif
