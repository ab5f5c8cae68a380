/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Deals of preferans as `dealbox generate --pack preferans` writes them: a line for each. */
#ifndef PRINT_PREFERANS_H
#define PRINT_PREFERANS_H

#include "ui/set-as-read.h"

/*
 * Read files into a new set, with an empty report. Call set_as_read_free() in any case. Returns
 * STATUS_INPUT after reporting an error, which names the line but no card.
 */
enum status preferans_read(struct set_as_read *input, char *const *files, int count);

#endif
