// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The text of a PBN game besides its deal: all its tags, sections and comments, in the order of the
 * export format as far as that has one (section numbers are those of PBN 2.1). Inherited values
 * (4.8) are written out, because the preceding games may not be written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pbn.h"

/* The low bytes of a word that count, of so many. */
#define LOW_BYTES(size)	((size) >= 8 ? ~(uint64_t)0 : ((uint64_t)1 << 8 * ((size) & 7)) - 1)
#define PLAIN_SIZE(text) (sizeof(text) - 1 + 3)
#define WORD(text) { \
	.name = text, .size = sizeof(text) - 1, \
	.plain = "[" text " \"", .plain_size = PLAIN_SIZE(text), \
	.mask = { LOW_BYTES(PLAIN_SIZE(text)), \
		  PLAIN_SIZE(text) < 8 ? 0 : LOW_BYTES(PLAIN_SIZE(text) - 8) }, \
}
const struct tag_name pbn_tags[TAGS_KNOWN] = {
	[TAG_EVENT] = WORD("Event"), [TAG_SITE] = WORD("Site"), [TAG_DATE] = WORD("Date"),
	[TAG_BOARD] = WORD("Board"), [TAG_WEST] = WORD("West"),
	[TAG_NORTH] = WORD("North"), [TAG_EAST] = WORD("East"),
	[TAG_SOUTH] = WORD("South"), [TAG_DEALER] = WORD("Dealer"),
	[TAG_VULNERABLE] = WORD("Vulnerable"), [TAG_DEAL] = WORD("Deal"),
	[TAG_SCORING] = WORD("Scoring"), [TAG_DECLARER] = WORD("Declarer"),
	[TAG_CONTRACT] = WORD("Contract"), [TAG_RESULT] = WORD("Result"),
	[TAG_NOTE] = WORD("Note"), [TAG_AUCTION] = WORD("Auction"),
	[TAG_PLAY] = WORD("Play"),
};

/* Tags of which values are inherited; what a file has beyond so many is left as it is. */
#define INHERITED_MAX	256

struct inherited {
	struct pbn_tag tag;	/* the last one, with the value that it really has */
	bool all;		/* for all games that come (##) */
	size_t game;		/* the last one that had it */
};

struct pbn_texts {
	const char *from;	/* here begins what belongs to no game yet */
	struct pbn_tag *tags;	/* of the game; without a name: to be left out */
	size_t count, room;
	struct inherited inherited[INHERITED_MAX];
	size_t inherited_count;
	size_t game;

	/* the text that is made */
	char *out;
	size_t used, out_room;
	bool more, other;
	bool failed;		/* out of memory */
};

struct pbn_texts *pbn_texts_new(const char *from)
{
	struct pbn_texts *texts = calloc(1, sizeof(*texts));

	if (texts)
		texts->from = from;
	return texts;
}

void pbn_texts_free(struct pbn_texts *texts)
{
	if (!texts)
		return;
	free(texts->tags);
	if (texts->out)
		explicit_bzero(texts->out, texts->out_room);
	free(texts->out);
	free(texts);
}

static void add(struct pbn_texts *texts, const struct pbn_tag *tag)
{
	if (texts->count == texts->room) {
		size_t room = texts->room ? texts->room * 2 : 64;
		struct pbn_tag *tags = realloc(texts->tags, room * sizeof(*tags));

		if (!tags) {
			texts->failed = true;
			return;
		}
		texts->tags = tags;
		texts->room = room;
	}
	texts->tags[texts->count++] = *tag;
}

/* -- inheritance (4.8) --------------------------------------------------------- */

static bool may_inherit(enum tag tag)
{
	const uint32_t never = 1u << TAG_DEALER | 1u << TAG_VULNERABLE | 1u << TAG_DEAL |
			       1u << TAG_DECLARER | 1u << TAG_CONTRACT | 1u << TAG_AUCTION |
			       1u << TAG_PLAY | 1u << TAG_NOTE;

	return !(never >> tag & 1);
}

static struct inherited *find_inherited(struct pbn_texts *texts, const struct pbn_tag *tag)
{
	for (size_t i = 0; i < texts->inherited_count; i++) {
		struct inherited *have = &texts->inherited[i];

		if (have->tag.name_size == tag->name_size &&
		    !memcmp(have->tag.name, tag->name, tag->name_size))
			return have;
	}
	if (texts->inherited_count == INHERITED_MAX)
		return NULL;
	texts->inherited[texts->inherited_count] = (struct inherited) { .tag = *tag };
	texts->inherited[texts->inherited_count].tag.value_size = 0;
	return &texts->inherited[texts->inherited_count++];
}

/* The value that the tag really has; a later game may inherit it. */
static void resolve(struct pbn_texts *texts, struct pbn_tag *tag)
{
	struct inherited *have;
	bool all;

	if (!may_inherit(tag->tag))
		return;
	have = find_inherited(texts, tag);
	if (!have)
		return;
	all = tag->value_size > 1 && tag->value[0] == '#' && tag->value[1] == '#';
	if (all) {
		tag->value += 2;
		tag->value_size -= 2;
	} else if (tag->value_size == 1 && *tag->value == '#') {
		tag->value = have->tag.value;
		tag->value_size = have->tag.value_size;
	}
	have->tag.value = tag->value;
	have->tag.value_size = tag->value_size;
	have->all = have->all || all;
	have->game = texts->game;
}

void pbn_texts_tag(struct pbn_texts *texts, const struct pbn_tag *tag, bool again)
{
	struct pbn_tag copy = *tag;

	if (again)
		copy.tag = TAG_OTHER;
	else
		resolve(texts, &copy);
	add(texts, &copy);
}

void pbn_texts_skip(struct pbn_texts *texts, const char *begin, const char *end)
{
	add(texts, &(struct pbn_tag) { .begin = begin, .end = end });
}

/* -- the text ------------------------------------------------------------------ */

static void put(struct pbn_texts *texts, const char *text, size_t size)
{
	if (!texts->out || texts->used + size > texts->out_room) {
		size_t room = 2 * (texts->used + size) + 1024;
		char *out = malloc(room);

		if (!out) {
			texts->failed = true;
			return;
		}
		if (texts->out) {
			memcpy(out, texts->out, texts->used);
			explicit_bzero(texts->out, texts->out_room);
		}
		free(texts->out);
		texts->out = out;
		texts->out_room = room;
	}
	if (size)
		memcpy(texts->out + texts->used, text, size);
	texts->used += size;
}

#define PUT(texts, constant)	put(texts, constant, sizeof(constant) - 1)

static void put_tag(struct pbn_texts *texts, const char *name, size_t name_size,
		    const char *value, size_t size)
{
	PUT(texts, "[");
	put(texts, name, name_size);
	PUT(texts, " \"");
	put(texts, value, size);
	PUT(texts, "\"]\r\n");
}

static bool is_blank(const char *text, const char *end)
{
	while (text < end && (*text == ' ' || *text == '\t' || *text == '\v'))
		text++;
	return text == end;
}

/* Returns true if the line ends within a comment. comment: it begins within one. */
static bool in_comment(const char *text, const char *end, bool comment)
{
	for (; text < end; text++) {
		if (comment) {
			comment = *text != '}';
		} else if (*text == '{') {
			comment = true;
		} else if (*text == ';') {
			return false;
		} else if (*text == '"') {
			text = memchr(text + 1, '"', (size_t)(end - text - 1));
			if (!text)
				return false;
		}
	}
	return comment;
}

/*
 * Comments and sections. An empty line would end the game, but not in a comment (3.8).
 */
static void put_between(struct pbn_texts *texts, const char *text, const char *end)
{
	bool comment = false;

	while (text < end && (*text == ' ' || *text == '\t'))
		text++;
	while (text < end) {
		const char *stop = text_line_end(text, end);
		bool escape = !comment && *text == '%';

		if (comment || !is_blank(text, stop)) {
			put(texts, text, (size_t)(stop - text));
			PUT(texts, "\r\n");
			texts->more = texts->other = true;
		}
		if (!escape)
			comment = in_comment(text, stop, comment);
		text = stop;
		if (text < end)
			text += 1 + (*text == '\r' && text + 1 < end && text[1] == '\n');
	}
}

/* Adds the text after a tag, up to the next kept one. */
static void put_behind(struct pbn_texts *texts, size_t n, const char *end)
{
	do {
		const struct pbn_tag *next = n + 1 < texts->count ? &texts->tags[n + 1] : NULL;

		put_between(texts, texts->tags[n].end, next ? next->begin : end);
		n++;
	} while (n < texts->count && !texts->tags[n].name);
}

/* Adds the text in front of the first tag. */
static void put_front(struct pbn_texts *texts, const char *end)
{
	put_between(texts, texts->from, texts->count ? texts->tags[0].begin : end);
	if (texts->count && !texts->tags[0].name)
		put_behind(texts, 0, end);
}

static const struct inherited *inherited_for(const struct pbn_texts *texts, enum tag tag)
{
	for (size_t i = 0; i < texts->inherited_count; i++)
		if (texts->inherited[i].tag.tag == tag && texts->inherited[i].all)
			return &texts->inherited[i];
	return NULL;
}

static void put_mandatory(struct pbn_texts *texts, enum tag tag, const char *end)
{
	const struct inherited *inherited = inherited_for(texts, tag);
	const struct tag_name *name = &pbn_tags[tag];
	const char *value = "";
	size_t n, size = 0;

	for (n = 0; n < texts->count; n++)
		if (texts->tags[n].name && texts->tags[n].tag == tag)
			break;
	if (n < texts->count) {
		value = texts->tags[n].value;
		size = texts->tags[n].value_size;
	} else if (inherited) {
		value = inherited->tag.value;
		size = inherited->tag.value_size;
	}
	texts->more |= size && (size > 1 || *value != '?');
	put_tag(texts, name->name, name->size, value, size);
	if (n < texts->count)
		put_behind(texts, n, end);
}

/* The values that the board has: where they are to be written, there is nothing yet. */
static void put_hole(struct pbn_texts *texts, enum tag tag, const char *end, size_t *hole)
{
	const struct tag_name *name = &pbn_tags[tag];

	put_tag(texts, name->name, name->size, "", 0);
	*hole = texts->used - 4;	/* before the quote */
	for (size_t n = 0; n < texts->count; n++)
		if (texts->tags[n].name && texts->tags[n].tag == tag)
			put_behind(texts, n, end);
}

static void put_others(struct pbn_texts *texts, const char *end)
{
	for (size_t i = 0; i < texts->inherited_count; i++) {
		const struct inherited *have = &texts->inherited[i];

		if (have->all && have->game != texts->game && have->tag.tag >= TAGS_MANDATORY) {
			put_tag(texts, have->tag.name, have->tag.name_size, have->tag.value,
				have->tag.value_size);
			texts->more = texts->other = true;
		}
	}
	for (size_t n = 0; n < texts->count; n++) {
		const struct pbn_tag *tag = &texts->tags[n];

		if (!tag->name || tag->tag < TAGS_MANDATORY)
			continue;
		put_tag(texts, tag->name, tag->name_size, tag->value, tag->value_size);
		put_behind(texts, n, end);
		texts->more = texts->other = true;
	}
}

/* Lines of the export format have at most 255 bytes, and no tabs (2.3). */
static bool is_export(const char *text, size_t size)
{
	const char *line = text, *end = text + size;

	for (; text < end; text++) {
		if (*text == '\t' || text - line > 254)
			return false;
		if (*text == '\n')
			line = text + 1;
	}
	return true;
}

static void begin_game(struct pbn_texts *texts, const char *from)
{
	texts->from = from;
	texts->count = 0;
	texts->used = 0;
	texts->more = texts->other = false;
	texts->game++;
}

struct set_text *pbn_texts_game(struct pbn_texts *texts, const char *end)
{
	struct set_text *text = NULL;
	size_t holes[SET_TEXT_HOLES], hole = 0;

	put_front(texts, end);
	for (enum tag tag = 0; tag < TAGS_MANDATORY; tag++) {
		if (tag == TAG_BOARD || tag == TAG_DEALER || tag == TAG_VULNERABLE ||
		    tag == TAG_DEAL)
			put_hole(texts, tag, end, &holes[hole++]);
		else
			put_mandatory(texts, tag, end);
	}
	put_others(texts, end);
	if (!texts->failed)
		text = malloc(sizeof(*text) + texts->used);
	if (text) {
		text->more = texts->more;
		text->export = !texts->other && is_export(texts->out, texts->used);
		text->size = texts->used;
		memcpy(text->hole, holes, sizeof(holes));
		memcpy(text->text, texts->out, texts->used);
	}
	begin_game(texts, end);
	return text;
}

bool pbn_texts_no_game(struct pbn_texts *texts, const char *end, bool header)
{
	bool good = true;

	if (!header) {
		begin_game(texts, end);
		return true;
	}
	/* the values for all games are known; comments and unknown tags go to the next one */
	for (size_t n = 0; n < texts->count; n++) {
		struct pbn_tag *tag = &texts->tags[n];
		bool all = tag->name && tag->value[-1] == '#';	/* it was cut off */

		if (!tag->name || (!all && tag->tag >= TAGS_MANDATORY))
			continue;
		good = good && (all || !tag->value_size);
		tag->name = NULL;
	}
	texts->game++;
	return good;
}

struct set_text *pbn_texts_end(struct pbn_texts *texts, const char *end, struct set_text *last)
{
	struct set_text *text;

	texts->used = 0;
	PUT(texts, "\r\n");
	put_front(texts, end);
	for (size_t n = 0; n < texts->count; n++) {
		const struct pbn_tag *tag = &texts->tags[n];

		if (!tag->name)
			continue;
		put_tag(texts, tag->name, tag->name_size, tag->value, tag->value_size);
		put_behind(texts, n, end);
	}
	if (!last || texts->used == 2 || texts->failed)
		return texts->failed ? NULL : last;
	text = malloc(sizeof(*last) + last->size + texts->used);
	if (!text)
		return NULL;
	memcpy(text, last, sizeof(*last) + last->size);
	set_text_free(last);
	memcpy(text->text + text->size, texts->out, texts->used);
	text->size += texts->used;
	text->more = true;
	text->export = false;
	return text;
}

/* -- tags of the caller -------------------------------------------------------- */

/* The text of a board of which no file said anything */
static struct set_text *empty_text(void)
{
	static const char nothing[] = "";
	struct pbn_texts *texts = pbn_texts_new(nothing);
	struct set_text *text = texts ? pbn_texts_game(texts, nothing) : NULL;

	pbn_texts_free(texts);
	return text;
}

/* Returns true if the line is a tag with the name of one of the tags. */
static bool is_replaced(const char *tags, const char *line, const char *end)
{
	const char *space = memchr(line, ' ', (size_t)(end - line));
	size_t size = space ? (size_t)(space - line) + 1 : 0;

	while (size && tags) {
		if (!strncmp(tags, line, size))
			return true;
		tags = strchr(tags, '\n');
		if (tags)
			tags++;
	}
	return false;
}

static char *put_lines(char *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			*out++ = '\r';
		*out++ = *text;
	}
	return out;
}

/*
 * Copies a game, without the tags that are replaced and their sections, and with the new ones
 * behind the mandatory tags. Comments of their own lines remain. Every line ends with CR LF.
 */
static char *put_replaced(char *out, const char *text, const char *end, const char *tags)
{
	static const char result[] = "[Result \"";
	bool comment = false, keep = true, replaced = false, mandatory = true, put = false;

	while (text < end) {
		const char *feed = memchr(text, '\n', (size_t)(end - text));
		const char *next = feed ? feed + 1 : end, *stop = feed ? feed - 1 : end;

		if (!comment && is_blank(text, stop))
			break;
		if (!comment && *text == '[') {
			replaced = is_replaced(tags, text, stop);
			if (!mandatory && !put)
				out = put_lines(out, tags);
			put = !mandatory;
			mandatory = mandatory && strncmp(text, result, sizeof(result) - 1);
		}
		if (!comment)
			keep = !replaced || strchr("{;%", *text);
		if (comment || *text != '%')
			comment = in_comment(text, stop, comment);
		if (keep) {
			memcpy(out, text, (size_t)(next - text));
			out += next - text;
		}
		text = next;
	}
	if (!put)
		out = put_lines(out, tags);
	memcpy(out, text, (size_t)(end - text));
	return out + (end - text);
}

int dealbox_pbn_put_tags(struct dealbox_set *set, size_t index, const char *tags)
{
	struct set_text *kept, *text;
	size_t last;
	char *end;

	if (index >= dealbox_set_count(set))
		return -ENOENT;
	kept = set_text(set, index);
	if (!kept) {
		kept = empty_text();
		if (!kept)
			return -ENOMEM;
		if (set_text_put(set, index, kept)) {
			set_text_free(kept);
			return -ENOMEM;
		}
	}
	text = malloc(sizeof(*text) + kept->size + 2 * strlen(tags));
	if (!text)
		return -ENOMEM;
	*text = *kept;
	last = kept->hole[SET_TEXT_HOLES - 1];
	memcpy(text->text, kept->text, last);
	end = put_replaced(text->text + last, kept->text + last, kept->text + kept->size, tags);
	text->size = (size_t)(end - text->text);
	text->more = true;
	text->export = false;
	set_text_put(set, index, text);
	set_text_free(kept);
	return 0;
}
