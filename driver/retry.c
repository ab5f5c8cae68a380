// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Back-off of the event pipe. */
#include "retry.h"

#define NS_PER_MS	1000000ULL

static bool is_reset_due(struct retry *retry, u64 now_ns)
{
	bool due = retry->reset_ns && now_ns >= retry->reset_ns;

	if (!retry->reset_ms)
		retry->reset_ms = RETRY_RESET_MS;
	else if (due && retry->reset_ms < RETRY_RESET_MAX_MS)
		retry->reset_ms *= 2;
	if (due || !retry->reset_ns)
		retry->reset_ns = now_ns + retry->reset_ms * NS_PER_MS;
	return due;
}

u32 dealbox_retry_failed(struct retry *retry, u64 now_ns, bool *reset)
{
	bool alone = !retry->last_ns ||
		     now_ns - retry->last_ns >= RETRY_ALONE_MS * NS_PER_MS;

	if (alone || !retry->failing) {
		retry->pause_ms = alone ? 0 : RETRY_FIRST_MS;
		retry->reset_ns = 0;
	} else if (!retry->pause_ms) {
		retry->pause_ms = RETRY_FIRST_MS;
	} else if (retry->pause_ms < RETRY_MAX_MS) {
		retry->pause_ms *= 2;
	}
	retry->failing = true;
	retry->last_ns = now_ns;
	if (reset)
		*reset = is_reset_due(retry, now_ns);
	return retry->pause_ms;
}

void dealbox_retry_begins(struct retry *retry, u64 now_ns)
{
	if (retry->failing)
		retry->last_ns = now_ns;
}

void dealbox_retry_good(struct retry *retry)
{
	retry->failing = false;
	retry->reset_ms = 0;
}
