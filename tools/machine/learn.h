/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds out how a machine is wired, with a person who moves its parts. */
#ifndef MACHINE_LEARN_H
#define MACHINE_LEARN_H

#include <stdio.h>

/*
 * Ask a person on `in` and `out`, watch all free lines of all GPIO chips, and write the wiring to
 * `path`, which must not exist yet: as a whole, or not at all. Returns 0, or -errno after a
 * sentence on `out`: -ECANCELED if the person has stopped.
 */
int learn(const char *path, FILE *in, FILE *out);

#endif
