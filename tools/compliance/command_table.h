/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A machine's answer to each command in each state: the table of R-5-1. */
#ifndef COMPLIANCE_COMMAND_TABLE_H
#define COMPLIANCE_COMMAND_TABLE_H

#include <stdint.h>

#define COMMAND_STATES	6u	/* IDLE, DEALING, PAUSED, HELD, FAULT, DONE */
#define COMMAND_ROWS	12u

enum command_answer { ANSWER_YES, ANSWER_STATE, ANSWER_FAULT, ANSWER_SPENT };

struct command_row {
	uint8_t request;
	const char *name;
	enum command_answer answer[COMMAND_STATES];
	uint32_t capability;	/* else UNSUPPORTED; 0 = none is needed */
};

extern const struct command_row command_rows[COMMAND_ROWS];

#endif
