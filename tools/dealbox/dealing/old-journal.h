/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Takes over jobs of earlier versions, which kept a journal job-SERIAL.json for each machine
 * instead of a ledger. The interrupted job is resumed from the ledger: exact boards are not dealt
 * again, and no insertion that was begun is dealt into again.
 */
#ifndef OLD_JOURNAL_H
#define OLD_JOURNAL_H

#include "own-ledger.h"

/*
 * Record the journal of a machine, if there is one, as a job of the ledger, and remove it. machine
 * is its name in the ledger. The deals are those of set; NULL: of the files that the journal names.
 * Returns false after reporting an error; the journal is then unchanged.
 */
bool old_journal_take(struct own_ledger *own, const char *machine, const struct dealbox_set *set);

#endif
