/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A busy computer: for each processor a loop that never ends, a program that starts
 * others, and one that writes files; all at normal priority.
 */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

/* Ends the program if a process cannot be made. It dies with the caller. */
void load_start(void);
void load_stop(void);

#endif
