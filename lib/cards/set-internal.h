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

/* Do boards without a number get one, and which does the next one get? 0 = no. */
bool set_numbers(const struct dealbox_set *set);
uint32_t set_next_number(struct dealbox_set *set);

/* What a file of PBN says of a board beside its deal: dealbox_set_keep_text(). */
#define SET_TEXT_HOLES	4
struct set_text {
	bool more;	/* than that there is a board */
	bool export;	/* as the export format wants it */
	size_t size;
	size_t hole[SET_TEXT_HOLES];	/* for number, dealer, vulnerability and deal */
	char text[];
};

/* Is text kept? */
bool set_keeps_text(const struct dealbox_set *set);

/* The text of a board, NULL if none is kept; the set's own. */
struct set_text *set_text(const struct dealbox_set *set, size_t index);

/* Wipes and frees it: auctions, play and comments tell cards. NULL is allowed. */
void set_text_free(struct set_text *text);

/* Replaces it; the set frees it, and no longer knows the one that was there. */
int set_text_put(struct dealbox_set *set, size_t index, struct set_text *text);

#endif
