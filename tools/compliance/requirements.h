/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef COMPLIANCE_REQUIREMENTS_H
#define COMPLIANCE_REQUIREMENTS_H

#include "run.h"

/* A requirement of docs/protocol.md or docs/protocol-serial.md */
struct requirement {
	const char *number;	/* "R-1-1" */
	/* why it cannot be tested from outside; NULL = tests prove it, and a mutant violates it */
	const char *why_not;
	bool serial;		/* of the serial dialect only */
};

/* All of them, in the order of the pages; ended by a row without a number */
extern const struct requirement requirements[];

/* Return true if the row's list of requirements has the number. */
bool row_proves(const struct test_row *row, const char *number);

#endif
