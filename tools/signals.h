/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How programs with an event loop are asked to end. */
#ifndef TOOLS_SIGNALS_H
#define TOOLS_SIGNALS_H

#include <signal.h>
#include <sys/signalfd.h>

/*
 * Block SIGINT and SIGTERM, in threads that start later, too. Returns a file descriptor that
 * becomes readable when one arrives, which the caller closes; -1 with errno.
 */
static inline int signals_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

#endif
