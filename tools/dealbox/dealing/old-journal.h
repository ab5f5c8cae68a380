/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Earlier versions kept a journal of each job that was dealt without the service: a file
 * job-SERIAL.json for each machine. A job that was interrupted then goes on from the ledger: what
 * was exact is not dealt again, and nothing is dealt again into an insertion that was begun.
 */
#ifndef OLD_JOURNAL_H
#define OLD_JOURNAL_H

#include "own-ledger.h"

/*
 * Makes a job of the journal of that machine (its name in the ledger), if there is one, and removes
 * it. The deals are those of set, or with NULL those of the files that it names. False: it has been
 * said why not, and the journal is as it was.
 */
bool old_journal_take(struct own_ledger *own, const char *machine, const struct dealbox_set *set);

#endif
