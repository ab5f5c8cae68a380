/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ledger carried to another PC: what dealbox backup, restore and ledger accept-restore share.
 */
#ifndef RESTORE_H
#define RESTORE_H

#include "ui/tool.h"

#define LEDGER_PATH	"/var/lib/dealbox/ledger"

/* What lies in the folder of a backup. */
#define BACKUP_LEDGER	"ledger"
#define BACKUP_KEY	"ledger.key.sealed"

/* Who sits at the keyboard, also behind sudo. */
uint32_t user_logged_in(void);

/* Says what is to be done now, with so many boards of open jobs in doubt. */
void restored_say(unsigned int boards);

#endif
