/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Giving sets to the service. */
#ifndef SET_ADD_H
#define SET_ADD_H

#include <dealbox/set.h>
#include <systemd/sd-bus.h>

#include "ui/tool.h"

/*
 * Write the set, each board once, to a sealed memfd. The caller closes it. Returns -1 after
 * reporting an error.
 */
int set_seal(const struct dealbox_set *set);

/*
 * Add the set to the ledger of the service, for that session. number is set to its number there.
 * Returns STATUS_DONE, or the exit status after reporting an error.
 */
enum status set_add(sd_bus *bus, const struct dealbox_set *set, const char *session,
		    uint64_t *number);

#endif
