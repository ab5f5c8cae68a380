/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages to the journal; to standard error where there is none. Never a card.
 */
#ifndef DAEMON_LOG_H
#define DAEMON_LOG_H

struct copy;
struct dealbox_ledger;

enum message {
	MESSAGE_STARTED, MESSAGE_STOPPED, MESSAGE_MACHINE, MESSAGE_GONE, MESSAGE_RECORDED,
	MESSAGE_VOID, MESSAGE_OPERATOR, MESSAGE_JOB, MESSAGE_LEDGER, MESSAGE_REFUSED,
	MESSAGE_CONFIG, MESSAGE_SERVICE, MESSAGE_PANEL, MESSAGE_PANEL_LOST, MESSAGE_STOP, MESSAGES
};
/*
 * The messages about recorded and void boards that name a machine carry the head of this ledger,
 * too; NULL: none does. It must live until another is named.
 */
void log_ledger(struct dealbox_ledger *ledger);
/* machine (its id) and copy may be NULL. */
void log_message(enum message message, const char *machine, const struct copy *copy,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
