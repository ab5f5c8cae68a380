/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Implements tools/emulator/emulated_machine.h on the core of tools/machine.
 */
#ifndef TEST_MACHINE_SIMULATED_H
#define TEST_MACHINE_SIMULATED_H

#include "core.h"
#include "emulated_machine.h"
#include "serial.h"

/*
 * Return parts of a machine, which stay its own. Call machine_run() around each call of the core.
 */
const struct core_config *simulated_config(const struct machine *machine);
struct core *simulated_core(struct machine *machine);
struct serial *simulated_serial(struct machine *machine);

#endif
