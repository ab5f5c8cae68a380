/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Settings of the service: dealboxd.conf(5).
 */
#ifndef DAEMON_CONFIG_H
#define DAEMON_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "panel-rules.h"

#define EMULATORS_MAX	64

struct config {
	char ledger[256];
	char *emulators[EMULATORS_MAX + 1];	/* paths, ends with NULL */
	size_t emulator_count;
	bool accept;				/* machines that are new here may deal */
	char language[8];			/* of what operators are told, "": English */
	char chip[256];				/* of the panel, "": there is none */
	char machine[128];			/* whose panel it is, "": that of all */
	struct panel_setting panel[PANEL_LINES];
};

/* Reads the file into *config; what it does not name has its default. 0 or -errno, logged. */
int config_read(struct config *config, const char *path);
void config_free(struct config *config);

#endif
