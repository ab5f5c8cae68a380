/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that fill a fault. Not exported. */
#ifndef FAULT_H
#define FAULT_H

#include <dealbox/fault.h>

/* Fills *fault, which may be NULL. */
void fault_fill(struct dealbox_fault *fault, uint32_t line, const char *next,
		const char *what, ...) __attribute__((format(printf, 4, 5)));

/*
 * Fills *fault and evaluates to err, so that a check is one statement: fault_set(fault, err, line,
 * next, what, ...). A macro, so that an analyser sees that an error comes out.
 */
#define fault_set(fault, err, ...) ({ \
	fault_fill(fault, __VA_ARGS__); \
	(err); \
})

#endif
