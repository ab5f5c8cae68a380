/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filling a fault. Not exported. */
#ifndef FAULT_H
#define FAULT_H

#include <dealbox/fault.h>

/* Fills *fault (which may be NULL) and returns err, so that a check is one statement. */
int fault_set(struct dealbox_fault *fault, int err, uint32_t line, const char *next,
	      const char *what, ...) __attribute__((format(printf, 5, 6)));

#endif
