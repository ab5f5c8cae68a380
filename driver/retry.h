/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * When to try again after a failure of the event pipe: a transfer that failed, or
 * whose content cannot be.
 *
 * One alone costs nothing, since a card may wait for its gate command. One that has
 * another shortly before it costs a pause, and in a row the pauses grow, as those of
 * usbhid do: no flood of failures owns a CPU, whatever comes between them. When
 * failing goes on, the machine is to be reset; if that does not help, again after
 * twice the time, so that the log does not fill up either.
 */
#ifndef DEALBOX_RETRY_H
#define DEALBOX_RETRY_H

#include "wire.h"

/* A failure this long after the last one is alone. */
#define RETRY_ALONE_MS		500
#define RETRY_FIRST_MS		13
#define RETRY_MAX_MS		104
/* Failing for so long in a row leads to a reset. */
#define RETRY_RESET_MS		1000
#define RETRY_RESET_MAX_MS	64000

/**
 * struct retry - zeroed memory is a pipe that never failed
 * @failing: no good transfer since the last failure
 * @pause_ms: pause behind the last failure
 * @reset_ms: how long failing may go on now; 0 = RETRY_RESET_MS
 * @last_ns: time of the last failure, or of the try behind it; 0 = never
 * @reset_ns: time from which a failure leads to a reset
 */
struct retry {
	bool failing;
	u32 pause_ms;
	u32 reset_ms;
	u64 last_ns;
	u64 reset_ns;
};

/* Times are of any clock that only goes forward. */

/* A failure: how many ms to pause before the next try. Sets *reset: time for one. */
u32 dealbox_retry_failed(struct retry *retry, u64 now_ns, bool *reset);

/* The next try begins. Clearing a halt before it was no time without failures. */
void dealbox_retry_begins(struct retry *retry, u64 now_ns);

/* A transfer as it should be. */
void dealbox_retry_good(struct retry *retry);

#endif
