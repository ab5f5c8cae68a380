/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Back-off of the event pipe. A failure is a transfer that fails or whose
 * contents are malformed.
 *
 * Retry an isolated failure at once, since a card may be waiting for its gate
 * command. Pause after one that closely follows another, and double the pause
 * while failures continue, as usbhid does, so that they cannot occupy a CPU. If
 * transfers go on failing, reset the machine. Double the time to the next reset
 * each time, so that the log does not fill up.
 */
#ifndef DEALBOX_RETRY_H
#define DEALBOX_RETRY_H

#include "wire.h"

/* A failure so long after the previous one is isolated. */
#define RETRY_ALONE_MS		500
#define RETRY_FIRST_MS		13
#define RETRY_MAX_MS		104
/* Reset the machine when it has been failing for so long. */
#define RETRY_RESET_MS		1000
#define RETRY_RESET_MAX_MS	64000

/**
 * struct retry - back-off state of a pipe; initialised with zeroes
 * @failing: no good transfer since the last failure
 * @pause_ms: pause after the last failure
 * @reset_ms: time of failing before the next reset; 0 = RETRY_RESET_MS
 * @last_ns: time of the last failure or of the retry after it; 0 = never
 * @reset_ns: time from which on a failed transfer causes a reset; 0 = none has
 *	failed in this series
 *
 * Times are of any monotonic clock.
 */
struct retry {
	bool failing;
	u32 pause_ms;
	u32 reset_ms;
	u64 last_ns;
	u64 reset_ns;
};

/**
 * dealbox_retry_failed() - note a failure
 * @retry: the back-off state
 * @now_ns: time of the failure
 * @reset: set to whether the machine is to be reset; NULL if that would not
 *	help, since the transfer did not fail
 *
 * Return: pause in ms before the next attempt.
 */
u32 dealbox_retry_failed(struct retry *retry, u64 now_ns, bool *reset);

/**
 * dealbox_retry_begins() - note the start of the next attempt
 * @retry: the back-off state
 * @now_ns: time of the attempt
 *
 * Without it, a halt that takes long to clear would make the next failure look
 * isolated.
 */
void dealbox_retry_begins(struct retry *retry, u64 now_ns);

/**
 * dealbox_retry_good() - note a good transfer
 * @retry: the back-off state
 */
void dealbox_retry_good(struct retry *retry);

#endif
