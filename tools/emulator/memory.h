/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file of the state that survives without power: lines "name number". */
#ifndef EMULATOR_MEMORY_H
#define EMULATOR_MEMORY_H

#include "emulated_machine.h"

/* Replace the file atomically. Returns 0, or -1 with errno set. */
int memory_save(const char *path, const struct machine_memory *memory);
/* Returns 0, also for a missing file: a new machine. On -1, error has "path:line: reason". */
int memory_load(const char *path, struct machine_memory *memory, char *error, size_t size);
/*
 * Load the private key from the file path.key. Without that file, or without the file path, which
 * has the counter that belongs to it, make a new key, set the counter to 0, and save both. path
 * NULL makes a key that is not saved. Returns 0, or -1 with errno set; EINVAL: this is no key.
 */
int memory_key(const char *path, struct machine_memory *memory, uint8_t key[MACHINE_KEY_SIZE]);

#endif
