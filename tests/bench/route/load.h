/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A busy computer: for each processor an endless loop, a program that starts others, and one
 * that writes files; all at normal priority.
 */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

/* Starts the load, which ends with the caller. Ends the program if a process cannot be made. */
void load_start(void);
void load_stop(void);

#endif
