/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EMULATOR_SOCKET_H
#define EMULATOR_SOCKET_H

/*
 * Create a listening Unix socket of this type at path, replacing a stale one of a dead process.
 * Returns the descriptor, or -1 after printing an error to stderr.
 */
int socket_listen(const char *path, int type);

#endif
