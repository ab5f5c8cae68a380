/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The deals to be printed: files that the user holds, sealed ones too. */
#ifndef PRINT_INPUT_H
#define PRINT_INPUT_H

#include "sheet.h"
#include "ui/set-as-read.h"

struct print_input {
	struct reading reading;
	bool chosen;			/* only these boards */
	struct boards boards;
	bool double_dummy;
	bool preferans;

	struct set_as_read set;		/* from here on: the result */
	struct sheet_board *list;
	size_t count;
	struct double_dummy *tables;	/* of the complete deals */
	struct par *pars;
	int64_t made;			/* seconds since 1970, -1 = unknown */
};

/*
 * Read files, and report their problems. Call print_input_free() in any case. Returns STATUS_INPUT
 * after reporting an error, also if there is no board to print.
 */
enum status print_input_read(struct print_input *input, char *const *files, int count);

/* Returns SOURCE_DATE_EPOCH (reproducible-builds.org) if the environment has it, else date. */
int64_t print_made(int64_t date);

/* Wipes the cards. */
void print_input_free(struct print_input *input);

#endif
