/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deal files as they are, good or bad: for the commands that show, judge and
 * convert them.
 */
#ifndef SETINPUT_H
#define SETINPUT_H

#include <stdio.h>

#include <dealbox/format.h>

#include "tool.h"

struct setinput {
	struct dealbox_set *set;
	struct dealbox_report *report;
	int unread;		/* files that could not be read at all */
};

/* How files are to be read. */
struct reading {
	const struct dealbox_format *from;	/* NULL: it is to be recognised */
	unsigned long first;	/* number of the first board that has none; 0 = it has none */
	bool keep_text;		/* what PBN says beside deals is wanted, too */
};

/*
 * Reads files ("-" is standard input) into one set, and checks it as a whole.
 * STATUS_DONE, also when files are unread; or STATUS_INPUT (out of memory, or numbers for
 * files that have their own; said). Call setinput_free() in any case.
 */
enum status setinput_read(struct setinput *input, const struct reading *reading,
			  char *const *files, int count);
void setinput_free(struct setinput *input);

/* The format of that name; NULL, and said, when there is none. */
const struct dealbox_format *setinput_format(const struct args *args, const char *option,
					     const char *name);

/* What the commands that only look at files are given, beside the files. */
struct look {
	struct reading reading;
	bool json, reveal;
};

/* False: it is over, with args->status. */
bool look_parse(struct look *look, struct args *args);

/*
 * Says problems and then notes on standard error, those of a kind together and no more than 20 of
 * each; cards only with reveal.
 */
void setinput_complain(const struct dealbox_report *report, bool reveal);

/* The same, of problems only or of notes only. */
void setinput_complain_of(const struct dealbox_report *report, enum dealbox_severity severity,
			  bool reveal);

/* The problems as a JSON array, on standard output. */
void setinput_problems_json(const struct dealbox_report *report, bool reveal);

/* How many there are of each kind, as a JSON object by their codes. */
void setinput_counts_json(const struct dealbox_report *report);

/* Text of a file as JSON text: what is not UTF-8 is taken as Latin-1. */
void setinput_text_json(const char *text);

/* What --from and --to take, for their help. */
#define SETINPUT_FORMATS "pbn, dup, dlm, lin, bri, dge, csv, ber, bhg, rzd, cds, rbn, zrd"

#endif
