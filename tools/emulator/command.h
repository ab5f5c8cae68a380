/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Commands, one line each, answered by one line: "ok ..." or "error ...". */
#ifndef EMULATOR_COMMAND_H
#define EMULATOR_COMMAND_H

#include "device.h"
#include "emulated_operator.h"

#define CONTROL_LINE_MAX	9000
#define CONTROL_REPLY_MAX	16384

struct control {
	struct machine *machine;
	struct operator *operator;
	struct scenario *scenario;
	const struct device *device;
};

/*
 * Execute a line, which has no line end. Returns false for a "wait" whose condition is not met yet:
 * run the machine and call this again with the same line. The machine must have been run to the
 * present.
 */
bool control_line(const struct control *control, const char *line, char *reply, size_t size);
/* Return a line about each command, for --help. */
const char *control_help(void);

/*
 * Write an insertion, with the cards in its pockets, as a JSON object on one line:
 * {"insertion":7,"board":3,...}. Returns the length, or -1 if size is too small.
 */
int account_json(const struct machine_board *board, char *buf, size_t size);

#endif
