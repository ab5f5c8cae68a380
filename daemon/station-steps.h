/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Steps: what a desk decides is done with its machine and the ledger.
 */
#ifndef DAEMON_STATION_STEPS_H
#define DAEMON_STATION_STEPS_H

#include "station.h"

/*
 * Does the step of a machine that is there, and gives what became of it, for desk_did(). It may take
 * as long as the machine takes to answer, or the ledger to write. station->suspect says then whether
 * the machine failed to answer in time.
 */
enum did station_do(struct station *station, const struct step *step);

#endif
