/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings of the service, see dealboxd.conf(5). */
#ifndef DAEMON_CONFIG_H
#define DAEMON_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "panel-rules.h"

#define EMULATORS_MAX	64

struct config {
	char ledger[256];
	char *emulators[EMULATORS_MAX + 1];	/* socket paths, terminated by NULL */
	size_t emulator_count;
	bool accept;				/* new machines may deal */
	char event[512];			/* address of the event's database, "" = no event */
	char folder[256];			/* of this PC's identity in it */
	char language[8];			/* for operators, "" = English */
	char chip[256];				/* GPIO chip of the panel, "" = no panel */
	char machine[128];			/* machine of the panel, "" = all machines */
	struct panel_setting panel[PANEL_LINES];
};

/* Read the settings. Missing ones get defaults. Returns 0, or -errno, which is logged. */
int config_read(struct config *config, const char *path);
void config_free(struct config *config);

#endif
