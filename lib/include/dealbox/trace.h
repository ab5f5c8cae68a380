/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace: all events of one insertion, as the machine gave them.
 */
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
 * An empty trace of the insertion with that number. NULL = out of memory. Free it with
 * dealbox_trace_free().
 */
DEALBOX_API struct dealbox_trace *dealbox_trace_new(uint32_t insertion);

/* Wipes and frees it. NULL is allowed. */
DEALBOX_API void dealbox_trace_free(struct dealbox_trace *trace);

/*
 * Takes the next event that was read from the machine: give it all of them, in their
 * order, whatever they are about. It keeps those of its insertion, and those that put the
 * insertion in doubt (state lost, protocol errors, deal events that name another
 * insertion), and notices when some are missing in between.
 *
 * 1 = kept, 0 = it does not concern this insertion. -ENOMEM, -ENOSPC (more than
 * DEALBOX_TRACE_MAX): the event is lost, and the trace is incomplete for ever.
 */
DEALBOX_API int dealbox_trace_add(struct dealbox_trace *trace,
				  const struct dealbox_event *event);

/* The number that it was made with. */
DEALBOX_API uint32_t dealbox_trace_insertion(const struct dealbox_trace *trace);

/* How many events it keeps, and the one with that index (NULL beyond). They live as
 * the trace, until the next event is added. */
DEALBOX_API size_t dealbox_trace_count(const struct dealbox_trace *trace);
DEALBOX_API const struct dealbox_event *
dealbox_trace_get(const struct dealbox_trace *trace, size_t index);

/*
 * Are events missing? A jump of either number, a gap that an event is flagged with
 * (unless the insertion began with that event), or one that could not be kept.
 */
DEALBOX_API bool dealbox_trace_gap(const struct dealbox_trace *trace);

#ifdef __cplusplus
}
#endif
#endif
