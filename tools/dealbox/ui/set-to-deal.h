/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deal files as a command wants them: a set that can be dealt, or the reasons
 * why not.
 */
#ifndef SET_TO_DEAL_H
#define SET_TO_DEAL_H

#include <dealbox/set.h>

#include "tool.h"

/*
 * Reads files into a set in which every board has a number of its own and a
 * whole deal. STATUS_DONE and *out, to be freed with dealbox_set_free(); or
 * STATUS_INPUT, when everything that is wrong has been said, and what follows
 * ("nothing was dealt").
 */
enum status set_to_deal_read(char *const *files, int count, bool reveal, const char *follows,
			     struct dealbox_set **out);

/* Before set_to_deal_read(): boards that have no number in their file get one, from first on. */
void set_to_deal_number_from(unsigned long first);

/*
 * Writes a new file, in the format of that name, or with NULL in the one that the name of the
 * file says. False, and said, when it is there already or cannot be written.
 */
bool set_to_deal_write(const struct dealbox_set *set, const char *path, const char *format);

/* Returns true if the suffix of the file name allows writing it; otherwise reports the error. */
bool set_to_deal_can_be(const char *path, const char *format);

/* A digest of boards and deals, in hex. The files' names do not matter. */
#define SET_TO_DEAL_DIGEST	65
void set_to_deal_digest(const struct dealbox_set *set, char digest[SET_TO_DEAL_DIGEST]);

#endif
