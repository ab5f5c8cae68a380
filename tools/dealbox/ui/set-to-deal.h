/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading deal files into a set that can be dealt. */
#ifndef SET_TO_DEAL_H
#define SET_TO_DEAL_H

#include <dealbox/set.h>

#include "tool.h"

/*
 * Read files ("-" is standard input) into a set in which every board has a unique number and a
 * complete deal. Returns STATUS_DONE with *out, to be freed with dealbox_set_free(); or
 * STATUS_INPUT after reporting all problems and follows, the consequence ("nothing was dealt").
 */
enum status set_to_deal_read(char *const *files, int count, bool reveal, const char *follows,
			     struct dealbox_set **out);

/* Let set_to_deal_read() number the unnumbered boards, starting with first. */
void set_to_deal_number_from(unsigned long first);

/* Let set_to_deal_read() print the problems as JSON, too: one object on standard output. */
void set_to_deal_problems_as_json(void);

/*
 * Write a new file. format is a name; NULL means the one for the suffix of path. Returns false,
 * after reporting an error, if the file exists or cannot be written.
 */
bool set_to_deal_write(const struct dealbox_set *set, const char *path, const char *format);

/* Return true if the format, or the suffix of path, can be written. Otherwise reports it. */
bool set_to_deal_can_be(const char *path, const char *format);

/* Compute a digest of boards and deals, in hex. File names do not matter. */
#define SET_TO_DEAL_DIGEST	65
void set_to_deal_digest(const struct dealbox_set *set, char digest[SET_TO_DEAL_DIGEST]);

#endif
