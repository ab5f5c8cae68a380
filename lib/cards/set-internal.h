/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The readers' interface of a set: adding without repeated checks. */
#ifndef DEALBOX_SET_INTERNAL_H
#define DEALBOX_SET_INTERNAL_H

#include <dealbox/set.h>

#define SET_LABEL_MAX	63	/* longer labels are cut */

/* A file that deals come from: its number for set_append(), or -errno. */
int set_file(struct dealbox_set *set, const char *name, bool binary);

/* A board for set_append(). */
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

/* Keeps a partial deal if the set does: dealbox_set_keep_partial(). Returns 0 or -ENOMEM. */
int set_partial_put(struct dealbox_set *set, const struct set_entry *entry);

/* Tells whether boards without a number get one, and the number for the next; 0 = none. */
bool set_numbers(const struct dealbox_set *set);
uint32_t set_next_number(struct dealbox_set *set);

/* The text of a PBN file about a board besides its deal: dealbox_set_keep_text(). */
#define SET_TEXT_HOLES	4
struct set_text {
	bool more;	/* than that there is a board */
	bool export;	/* as the export format wants it */
	size_t size;
	size_t hole[SET_TEXT_HOLES];	/* for number, dealer, vulnerability and deal */
	char text[];
};

/* Returns true if text is kept. */
bool set_keeps_text(const struct dealbox_set *set);

/* Returns the text of a board, NULL if none is kept; owned by the set. */
struct set_text *set_text(const struct dealbox_set *set, size_t index);

/* Wipes and frees the text: auctions, play and comments reveal cards. NULL is allowed. */
void set_text_free(struct set_text *text);

/* Replaces it; the set frees it, and no longer knows the one that was there. */
int set_text_put(struct dealbox_set *set, size_t index, struct set_text *text);

#endif
