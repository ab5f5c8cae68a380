/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the reader of PBN and the code that keeps the text of games. */
#ifndef DEALBOX_FORMAT_PBN_H
#define DEALBOX_FORMAT_PBN_H

#include "formats.h"

/* The mandatory tags in the order of the export format (3.4), and three others. */
enum tag {
	TAG_EVENT, TAG_SITE, TAG_DATE, TAG_BOARD, TAG_WEST, TAG_NORTH, TAG_EAST, TAG_SOUTH,
	TAG_DEALER, TAG_VULNERABLE, TAG_DEAL, TAG_SCORING, TAG_DECLARER, TAG_CONTRACT,
	TAG_RESULT,
	TAGS_MANDATORY,
	TAG_NOTE = TAGS_MANDATORY, TAG_AUCTION, TAG_PLAY,
	TAGS_KNOWN,
	TAG_OTHER = TAGS_KNOWN
};

struct tag_name {
	char name[16];		/* of at least 8 bytes: compared as a number */
	char plain[16];		/* `[Name "`, the usual beginning of its lines */
	uint64_t mask[2];	/* the bits of plain that count */
	uint8_t size, plain_size;
};
extern const struct tag_name pbn_tags[TAGS_KNOWN];

/* A tag in the file. */
struct pbn_tag {
	const char *begin, *end;	/* from its opening bracket to after the closing one */
	const char *name, *value;
	size_t name_size, value_size;
	enum tag tag;
};

/*
 * Collects the text of a file, and makes the text of each game (struct set_text). The text of the
 * file is not copied. pbn_texts_new(): NULL = out of memory.
 */
struct pbn_texts;
struct pbn_texts *pbn_texts_new(const char *from);
void pbn_texts_free(struct pbn_texts *texts);

/* Adds a tag of the game; again = it is repeated, and ignored. */
void pbn_texts_tag(struct pbn_texts *texts, const struct pbn_tag *tag, bool again);

/* Excludes the text between begin and end. */
void pbn_texts_skip(struct pbn_texts *texts, const char *begin, const char *end);

/*
 * Ends a game at end, whose deal is in the set: returns its text, to be freed with set_text_free().
 * NULL = out of memory.
 */
struct set_text *pbn_texts_game(struct pbn_texts *texts, const char *end);

/*
 * Ends a game without a deal in the set. With header it only gave values for all games: its other
 * text then belongs to the next game. Returns false if it has text that belongs to no game.
 */
bool pbn_texts_no_game(struct pbn_texts *texts, const char *end, bool header);

/*
 * Ends the file: adds the text after the last game to the text of that game, which may be NULL.
 * Returns that text or a new one, or NULL if out of memory.
 */
struct set_text *pbn_texts_end(struct pbn_texts *texts, const char *end, struct set_text *last);

#endif
