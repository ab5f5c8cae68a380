/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the readers know of a set: how to add to it without asking twice. */
#ifndef DEALBOX_SET_INTERNAL_H
#define DEALBOX_SET_INTERNAL_H

#include <dealbox/set.h>

#define SET_LABEL_MAX	63	/* longer labels are cut */

/* A file that deals come from: its number for set_append(), or -errno. */
int set_file(struct dealbox_set *set, const char *name, bool binary);

/* What set_append() takes for a board. */
struct set_entry {
	struct dealbox_deal deal;	/* complete: the caller has checked */
	uint32_t number;		/* 0 = none */
	const char *label;		/* when number is 0; not terminated */
	size_t label_size;		/* 0 = none */
	int dealer, vulnerable;		/* -1 = not given */
	int file;			/* set_file() */
	uint32_t where;			/* line; binary formats: byte */
};

int set_append(struct dealbox_set *set, const struct set_entry *entry);

#endif
