/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of run.c for those of run.h. */
#ifndef COMPLIANCE_TESTS_H
#define COMPLIANCE_TESTS_H

#include "run.h"

/* Ends the test if its time is over, or the run is to end. */
void test_alive(struct run *r);
/* Add a measured time to the report. */
void times_add(struct run *r, const char *name, double ms);

#endif
