/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GetStatistics of a machine. */
#ifndef DAEMON_BUS_STATISTICS_H
#define DAEMON_BUS_STATISTICS_H

#include <systemd/sd-bus.h>

#include "service.h"

#define STATISTICS_TYPE	"(suuuua(uu)a(uuuu))"	/* of a month */

/*
 * Answer with the statistics of the machine with this id, as lib/dealing/statistics.h allows.
 * Returns as a method does.
 */
int reply_statistics(sd_bus_message *m, struct service *s, const char *machine,
		     sd_bus_error *error);

#endif
