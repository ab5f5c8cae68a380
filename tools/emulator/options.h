/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parsed command line */
#ifndef EMULATOR_OPTIONS_H
#define EMULATOR_OPTIONS_H

#include "device.h"
#include "emulated_operator.h"

#define EXIT_USAGE	2	/* wrong usage or input */
#define EXIT_MACHINE	3	/* a front or a file failed */

#define MACHINES_MAX	64

struct options {
	const char *socket, *usbredir;	/* paths */
	const char *gadget;		/* controller; if all three are NULL: usbip or serve */
	bool usbip, manual;
	int serve;			/* TCP port; -1 = no server */
	int port;			/* -1 = any */
	unsigned int machines, packs;
	uint64_t cards;			/* cards of a pack: bit n = card n */
	const char *control, *account, *state, *trace;	/* paths, NULL = none */
	const char *tell;		/* path of a control socket; words are the command */
	char **words;
	uint8_t *order;			/* --deck, owned; NULL = shuffled packs */
	unsigned int order_count;
	uint16_t boards[OPERATOR_BOARDS_MAX];
	unsigned int board_count;
	char *scenario;			/* contents of the file, owned; NULL = none */
	const struct mutant *mutant;	/* of --mutant, NULL = none */
	size_t scenario_length;
	const char *scenario_name;
	struct machine_config machine;
	struct device_config device;
};

/* Print "dealbox-emulator: " and the text to stderr, and exit. */
__attribute__((format(printf, 2, 3), noreturn))
void die(int status, const char *format, ...) __attribute__((noreturn));

/* Parse the command line. Exits after --help and --version, and on errors. */
void options_parse(struct options *options, int argc, char **argv);
void options_free(struct options *options);

#endif
