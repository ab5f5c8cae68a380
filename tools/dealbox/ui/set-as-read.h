/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading deal files with all their problems, for the commands that show, judge and convert them.
 */
#ifndef SET_AS_READ_H
#define SET_AS_READ_H

#include <stdio.h>

#include <dealbox/format.h>

#include "tool.h"

struct set_as_read {
	struct dealbox_set *set;
	struct dealbox_report *report;
	int unread;		/* number of files that could not be read */
};

/* Options for reading files. */
struct reading {
	const struct dealbox_format *from;	/* NULL = recognise it */
	unsigned long first;	/* number for the first unnumbered board; 0 = keep it unnumbered */
	bool keep_text;		/* keep the other contents of PBN files */
	bool keep_partial;	/* keep incomplete deals, apart from the set */
	bool sealed;		/* open sealed files: sealed_use_key() */
};

/*
 * Read files ("-" is standard input) into one set, and check it as a whole. Returns STATUS_DONE,
 * even if files could not be read; or STATUS_INPUT, after reporting an error: no memory, or first
 * was given for boards with numbers. Call set_as_read_free() in any case.
 */
enum status set_as_read_files(struct set_as_read *input, const struct reading *reading,
			      char *const *files, int count);
void set_as_read_free(struct set_as_read *input);

/* Find a format by name. Returns NULL after reporting an error. */
const struct dealbox_format *set_as_read_format(const struct args *args, const char *option,
					     const char *name);

/*
 * Return the dealer of a board, or its vulnerability (enum dealbox_vulnerable): as its file gives
 * it, otherwise by its number. -1 if neither is known.
 */
int board_dealer(const struct dealbox_board *board);
int board_vulnerable(const struct dealbox_board *board);

/* Options of commands that only read files */
struct look {
	struct reading reading;
	bool json, reveal, double_dummy;
};

/* Returns false if the command should exit with args->status. */
bool look_parse(struct look *look, struct args *args);

/*
 * Print problems and then notes to standard error, grouped by code, at most 20 of each. Shows cards
 * only if reveal.
 */
void set_as_read_complain(const struct dealbox_report *report, bool reveal);

/* The same for problems only or notes only. */
void set_as_read_complain_of(const struct dealbox_report *report, enum dealbox_severity severity,
			  bool reveal);

/*
 * Print the problems, a line each: file, place, problem, sentence, and the members that the
 * sentence shows without names of cards; then a summary. Only the sentence shows cards, and only if
 * reveal. deals is the number of complete deals.
 */
void set_as_read_json(const struct dealbox_report *report, size_t deals, bool reveal);

/* Add the number of a board, or the text that its file has instead of a number. */
void set_as_read_board_json(struct json_object *object, const struct dealbox_board *board);

/* Values of --from and --to, for their help */
#define SET_AS_READ_FORMATS "pbn, dup, dlm, lin, bri, dge, csv, ber, bhg, rzd, cds, rbn, zrd"

#endif
