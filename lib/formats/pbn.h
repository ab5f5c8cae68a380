/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the reader of PBN shares with those who keep what a game says beside its deal. */
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
	char plain[16];		/* `[Name "`, as nearly all lines with it begin */
	uint64_t mask[2];	/* the bits of plain that count */
	uint8_t size, plain_size;
};
extern const struct tag_name pbn_tags[TAGS_KNOWN];

/* A tag as it stands in the file. */
struct pbn_tag {
	const char *begin, *end;	/* from its bracket to behind the other one */
	const char *name, *value;
	size_t name_size, value_size;
	enum tag tag;
};

/*
 * Collects what a file says, and makes the text of each game of it (struct set_text). The
 * text of the file stays where it is. pbn_texts_new(): NULL = out of memory.
 */
struct pbn_texts;
struct pbn_texts *pbn_texts_new(const char *from);
void pbn_texts_free(struct pbn_texts *texts);

/* A tag of the game; again = the game has it already, and it is ignored. */
void pbn_texts_tag(struct pbn_texts *texts, const struct pbn_tag *tag, bool again);

/* What is between begin and end is not to be kept. */
void pbn_texts_skip(struct pbn_texts *texts, const char *begin, const char *end);

/*
 * The game ends at end, and its deal is in the set: its text, to be freed with set_text_free(). NULL =
 * out of memory.
 */
struct set_text *pbn_texts_game(struct pbn_texts *texts, const char *end);

/*
 * The game ends, and has no deal in the set. With header it only said what holds for all games: what
 * else it says then belongs to the next game. Returns false if it says something that belongs to none.
 */
bool pbn_texts_no_game(struct pbn_texts *texts, const char *end, bool header);

/*
 * The file ends: what was behind its last game is added to the text of that game, which may be
 * NULL. The same text or another one, or NULL = out of memory.
 */
struct set_text *pbn_texts_end(struct pbn_texts *texts, const char *end, struct set_text *last);

#endif
