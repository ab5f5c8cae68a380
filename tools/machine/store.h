/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file in which a machine keeps its record (record.h) without power. For Linux computers. */
#ifndef MACHINE_STORE_H
#define MACHINE_STORE_H

#include "record.h"

/*
 * Open the file, or make it for a new machine, and store what its slots hold. No other program can
 * open it so until it is closed by close(). Returns its descriptor, or -1 with errno: EWOULDBLOCK
 * if another program has it; EUCLEAN if it is no such file or was cut off, so that no number is
 * known to be unused.
 */
int store_open(const char *path, uint8_t slots[RECORD_SLOTS][RECORD_BYTES]);

/* Write a slot. Returns true when it is safe from power loss. */
bool store_write(int fd, int slot, const uint8_t bytes[RECORD_BYTES]);

#endif
