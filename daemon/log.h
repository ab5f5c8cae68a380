/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages to the journal, and to standard error outside of it. They never contain a card. */
#ifndef DAEMON_LOG_H
#define DAEMON_LOG_H

struct copy;
struct dealbox_ledger;

enum message {
	MESSAGE_STARTED, MESSAGE_STOPPED, MESSAGE_MACHINE, MESSAGE_GONE, MESSAGE_RECORDED,
	MESSAGE_VOID, MESSAGE_OPERATOR, MESSAGE_JOB, MESSAGE_LEDGER, MESSAGE_REFUSED,
	MESSAGE_CONFIG, MESSAGE_SERVICE, MESSAGE_PANEL, MESSAGE_PANEL_LOST, MESSAGE_STOP,
	MESSAGE_EVENT, MESSAGES
};
/*
 * Add the head of this ledger to messages about recorded and void boards of a machine. NULL adds
 * none. The ledger must live until the next call.
 */
void log_ledger(struct dealbox_ledger *ledger);
/* machine, an id, and copy may be NULL. */
void log_message(enum message message, const char *machine, const struct copy *copy,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
