/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deal files as they are, good or bad: for the commands that show, judge and
 * convert them.
 */
#ifndef SET_AS_READ_H
#define SET_AS_READ_H

#include <stdio.h>

#include <dealbox/format.h>

#include "tool.h"

struct set_as_read {
	struct dealbox_set *set;
	struct dealbox_report *report;
	int unread;		/* files that could not be read at all */
};

/* Options for reading files. */
struct reading {
	const struct dealbox_format *from;	/* NULL: it is to be recognised */
	unsigned long first;	/* number of the first board that has none; 0 = it has none */
	bool keep_text;		/* what PBN says beside deals is wanted, too */
};

/*
 * Reads files ("-" is standard input) into one set, and checks it as a whole.
 * STATUS_DONE, also when files are unread; or STATUS_INPUT (out of memory, or numbers for
 * files that have their own; said). Call set_as_read_free() in any case.
 */
enum status set_as_read_files(struct set_as_read *input, const struct reading *reading,
			      char *const *files, int count);
void set_as_read_free(struct set_as_read *input);

/* The format of that name; NULL, and said, when there is none. */
const struct dealbox_format *set_as_read_format(const struct args *args, const char *option,
						const char *name);

/* The options of commands that only read files. */
struct look {
	struct reading reading;
	bool json, reveal;
};

/* False: it is over, with args->status. */
bool look_parse(struct look *look, struct args *args);

/*
 * Prints problems and then notes to standard error, grouped by code and at most 20 of each; cards
 * only with reveal.
 */
void set_as_read_complain(const struct dealbox_report *report, bool reveal);

/* The same, of problems only or of notes only. */
void set_as_read_complain_of(const struct dealbox_report *report, enum dealbox_severity severity,
			     bool reveal);

/* The problems as a JSON array, on standard output. */
void set_as_read_problems_json(const struct dealbox_report *report, bool reveal);

/* Prints the number of problems by code, as a JSON object. */
void set_as_read_counts_json(const struct dealbox_report *report);

/* Converts text of a file to JSON text: bytes that are not UTF-8 are read as Latin-1. */
void set_as_read_text_json(const char *text);

/* The values of --from and --to, for their help. */
#define SET_AS_READ_FORMATS "pbn, dup, dlm, lin, bri, dge, csv, ber, bhg, rzd, cds, rbn, zrd"

#endif
