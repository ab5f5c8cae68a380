/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EMULATOR_SOCKET_H
#define EMULATOR_SOCKET_H

/*
 * A listening unix socket of this type at path; a file that a dead process left there is replaced.
 * Returns the descriptor, or -1 after saying on stderr what is wrong.
 */
int socket_listen(const char *path, int type);

#endif
