/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file of what a machine keeps without power: a line "name number" for each. */
#ifndef EMULATOR_MEMORY_H
#define EMULATOR_MEMORY_H

#include "emulated_machine.h"

/* 0, or -1 and errno. The file is whole at any time, also after a power cut. */
int memory_save(const char *path, const struct machine_memory *memory);
/* Returns 0; a missing file means a new machine. -1: error has "path:line: what is wrong". */
int memory_load(const char *path, struct machine_memory *memory, char *error, size_t size);

#endif
