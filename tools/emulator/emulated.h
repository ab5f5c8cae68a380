/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An emulated machine as the options describe it: machine, device, operator, scenario. The caller
 * gives the time and connects it to a host. Reads files of --state; no other I/O.
 */
#ifndef EMULATOR_EMULATED_H
#define EMULATOR_EMULATED_H

#include "command.h"
#include "options.h"

struct emulated {
	struct machine *machine;
	struct device *device;
	struct operator operator;
	struct scenario *scenario;
	struct control control;
};

/*
 * Make machine number index, 0 for the first. state is the path of its memory, or NULL. save and
 * account, which get context, are as in struct machine_config and may be NULL. Exits with a message
 * if that is impossible. emulated_close() frees it; emulated stays where it is until then.
 */
void emulated_open(struct emulated *emulated, const struct options *options, unsigned int index,
		   const char *state, uint64_t now, void *context,
		   void (*save)(void *context, const struct machine_memory *memory),
		   void (*account)(void *context, const struct machine_board *board));
void emulated_close(struct emulated *emulated);

#endif
