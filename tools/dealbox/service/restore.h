/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moving the ledger to another PC: shared by dealbox backup, restore and ledger accept-restore. */
#ifndef RESTORE_H
#define RESTORE_H

#include "ui/tool.h"

#define LEDGER_PATH	"/var/lib/dealbox/ledger"

/* Files of a backup */
#define BACKUP_LEDGER	"ledger"
#define BACKUP_KEY	"ledger.key.sealed"

/* Return the user who is logged in, also with sudo. */
uint32_t user_logged_in(void);

/* Print what to do next. boards is the number of boards of open jobs in doubt. */
void restored_say(unsigned int boards);

#endif
