/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file of the state that survives without power: lines "name number". */
#ifndef EMULATOR_MEMORY_H
#define EMULATOR_MEMORY_H

#include "emulated_machine.h"

/* Replace the file atomically. Returns 0, or -1 with errno set. */
int memory_save(const char *path, const struct machine_memory *memory);
/* Returns 0, also for a missing file: a new machine. On -1, error has "path:line: reason". */
int memory_load(const char *path, struct machine_memory *memory, char *error, size_t size);

#endif
