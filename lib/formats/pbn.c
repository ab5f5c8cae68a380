// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Portable Bridge Notation, 1.0 to 2.1 (section numbers are those of PBN 2.1).
 *
 * Written for files of hundreds of thousands of boards: a line that is one plain tag is taken
 * apart eight bytes at a time, the four values that matter are kept as they stand, and are
 * understood at the end of the game. Everything else goes through scan_line(), which knows
 * all of the syntax.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cards/card-text.h"
#include "bytes.h"
#include "pbn.h"

#define MANDATORY	((1u << TAGS_MANDATORY) - 1)

/* The tags of each length of name. */
static const uint8_t tags_by_size[11][7] = {
	[4] = { TAG_DEAL, TAG_SITE, TAG_DATE, TAG_WEST, TAG_EAST, TAG_NOTE, TAG_PLAY },
	[5] = { TAG_BOARD, TAG_EVENT, TAG_NORTH, TAG_SOUTH, TAG_OTHER },
	[6] = { TAG_DEALER, TAG_RESULT, TAG_OTHER },
	[7] = { TAG_SCORING, TAG_AUCTION, TAG_OTHER },
	[8] = { TAG_DECLARER, TAG_CONTRACT, TAG_OTHER },
	[10] = { TAG_VULNERABLE, TAG_OTHER },
};

struct value {
	const char *text;
	uint32_t size;
	uint32_t line;
};

/* The rules for a file that is declared as export format (2.3, 3.3, 3.4). */
enum export_rule {
	EXPORT_CRLF, EXPORT_LINE, EXPORT_TAB, EXPORT_TAG_LAYOUT, EXPORT_TAGS_MISSING,
	EXPORT_TAGS_ORDER, EXPORT_FIRST_HAND, EXPORT_RANKS, EXPORT_RULES
};

static const char *const export_rules[EXPORT_RULES] = {
	[EXPORT_CRLF] = "lines not ended by CR LF",
	[EXPORT_LINE] = "a line over 255 bytes",
	[EXPORT_TAB] = "tabs",
	[EXPORT_TAG_LAYOUT] = "the layout of tags",
	[EXPORT_TAGS_MISSING] = "mandatory tags are missing",
	[EXPORT_TAGS_ORDER] = "tags are out of order",
	[EXPORT_FIRST_HAND] = "first hand not the dealer's",
	[EXPORT_RANKS] = "ranks not descending",
};

#define OTHERS_MAX	64

struct pbn {
	struct reader *reader;
	const char *next, *end;
	uint32_t line;		/* of next, from 1 */

	/* the game */
	uint32_t seen;		/* bit n = tag n */
	int first, last;	/* first tag of the game; last tag, -1 = none */
	bool header;		/* it gives values for all games with ## */
	bool doubtful;		/* two deals: which one is meant is not known */
	uint32_t first_line;
	struct value values[TAGS_KNOWN];
	bool whole, descends;	/* the value of TAG_DEAL is in `deal`; its ranks are in order */
	struct dealbox_deal deal;
	uint64_t others_bloom;
	size_t others_count;
	struct value others[OTHERS_MAX];

	/* the file */
	/* the known tag that followed each known tag last; [0]: the first one */
	uint8_t after[TAGS_KNOWN + 2];
	struct value board_before, board_header;	/* inheritance, 4.8 */
	uint32_t headers;	/* tags given for all games with ## */
	bool export;
	uint32_t broken[EXPORT_RULES];	/* line where each rule was broken first */
	uint32_t ends[3];	/* first line that ended in LF, CR LF, CR */
	struct pbn_texts *texts;	/* NULL: only deals are wanted */
	const char *begin, *behind;	/* of the tag that is taken; NULL = it is plain_tag() */
	size_t before;		/* boards that the set had before this file */
	const char *close;	/* the last closing brace that was looked for */
	bool said_stray, said_control, said_long;
};

/* -- lines and values ----------------------------------------------------------- */

/* The first control character, tab included; the padding is some. */
static inline const char *find_control(const char *text)
{
	uint64_t marks;

	while (!(marks = word_below(load_le64(text), 0x20)))
		text += 8;
	return text + word_first(marks);
}

/* The first byte that is this one, or a control character. */
static const char *find_either(const char *text, unsigned int byte)
{
	uint64_t marks;

	while (!(marks = word_below(load_le64(text), 0x20) | word_equal(load_le64(text), byte)))
		text += 8;
	return text + word_first(marks);
}

static void say(struct pbn *pbn, const struct found *found, uint32_t line,
		struct dealbox_problem problem)
{
	reader_say(pbn->reader, found, line ? line : pbn->line, problem);
}

static void breaks_export(struct pbn *pbn, enum export_rule rule)
{
	if (pbn->export && !pbn->broken[rule])
		pbn->broken[rule] = pbn->line;
}

/* The end of the line in which text is: at its CR or LF, or at the end of the file. */
static const char *line_end(struct pbn *pbn, const char *text)
{
	for (;; text++) {
		text = find_control(text);
		if (text >= pbn->end)
			return pbn->end;
		if (*text == '\n' || *text == '\r')
			return text;
		if (*text == '\t') {
			breaks_export(pbn, EXPORT_TAB);
		} else if (!pbn->said_control && *text != '\v') {
			say(pbn, NULL, 0, SAY(.code = DEALBOX_CODE_BYTE_INVALID));
			pbn->said_control = true;
		}
	}
}

/* Beyond the end of a line; counts it. */
static const char *skip_end(struct pbn *pbn, const char *text)
{
	unsigned int kind = 0;

	if (text >= pbn->end)
		return pbn->end;
	if (*text == '\r')
		kind = text[1] == '\n' ? 1 : 2;
	if (!pbn->ends[kind])
		pbn->ends[kind] = pbn->line;
	pbn->line++;
	return text + 1 + (kind == 1);
}

/* -- games --------------------------------------------------------------------- */

/* A whole deal as nearly all files have it: each hand is 13 ranks and 3 dots. */
#define HAND_TEXT	16
#define DEAL_TEXT	(2 + 4 * HAND_TEXT + 3)

/* With `descend`, whether the ranks of each suit are in order as well. */
static inline bool parse_whole_deal(const char *text, struct dealbox_deal *deal, bool *descend)
{
	const int first = dealbox_seat_parse(text[0]);
	dealbox_cards hands[DEALBOX_HANDS], all = 0;
	bytes16 disorder = { 0 };
	unsigned int dots = 0;

	if (first < 0 || text[1] != ':' || text[18] != ' ' || text[35] != ' ' || text[52] != ' ')
		return false;
	for (unsigned int i = 0; i < DEALBOX_HANDS; i++) {
		const bytes16 hand = bytes_load(text + 2 + i * (HAND_TEXT + 1));
		const bytes16 dot = bytes_equal(hand, '.'), suits = bytes_sums(dot & 1);
		bytes16 card, ranks = bytes_ranks(hand, &card), numbers;

		numbers = bytes_cards(ranks, suits, card);
		hands[i] = cards_gather(numbers);
		all |= hands[i];
		dots |= suits[HAND_TEXT - 1] ^ 3;
		/* a dot lies between the cards of two suits: half a card below those of the next */
		numbers = bytes_cards(ranks, suits, ~(bytes16) { 0 });
		numbers += numbers + (card & 1);
		disorder |= (bytes16)((signed16)bytes_before(numbers) >= (signed16)numbers);
	}
	/*
	 * where 12 of 64 bytes are dots, and all cards are there, each is there once, and nothing
	 * else
	 */
	if (dots || all != DEALBOX_PACK_BRIDGE)
		return false;
	for (int i = 0; i < DEALBOX_HANDS; i++)
		deal->hand[(first + i) & 3] = hands[i];
	*descend = bytes_all(~disorder);
	return true;
}

/* Returns true if the ranks of each suit are descending, as the export format requires. */
static bool ranks_descend(const char *text, size_t size)
{
	const char *before = NULL;

	for (size_t i = 2; i < size; i++) {
		const char letter = text[i] >= 'a' ? (char)(text[i] - 'a' + 'A') : text[i];
		const char *rank = memchr(card_ranks, letter, sizeof(card_ranks));

		if (rank && before && rank <= before)
			return false;
		before = rank;
	}
	return true;
}

/* The slow path, which reports errors. Returns false if the deal cannot be checked. */
static bool parse_deal(struct pbn *pbn, struct found *found)
{
	struct reader *reader = pbn->reader;
	const char *text = pbn->values[TAG_DEAL].text, *end = text + pbn->values[TAG_DEAL].size;
	bool spacing = false;
	uint32_t hands = 0;
	int first;

	while (text < end && (*text == ' ' || *text == '\t'))
		text++, spacing = true;
	while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
		end--, spacing = true;
	first = text < end ? dealbox_seat_parse(*text) : -1;
	if (first < 0 || end - text < 2 || text[1] != ':') {
		say(pbn, found, found->where, SAY(.code = DEALBOX_CODE_DEAL_SYNTAX));
		return false;
	}

	text += 2;
	while (text < end) {
		const char *hand = text, *suit = text;
		int seat = (first + (int)(hands & 3)) & 3, suits = 0;

		if (*text == ' ' || *text == '\t') {
			text++;
			spacing = spacing || text == end || text[0] == ' ' ||
				  text[0] == '\t' || text[-1] == '\t' || !hands;
			continue;
		}
		while (text < end && *text != ' ' && *text != '\t')
			text++;
		if (++hands > DEALBOX_HANDS)
			continue;
		if (text - hand == 1 && *hand == '-')
			continue;
		found->given |= (uint8_t)(1 << seat);
		for (const char *p = hand; p < text; p++)
			suits += *p == '.';
		if (suits != 3) {
			found_bad_suit(reader, found, seat);
			continue;
		}
		suits = 0;
		for (const char *p = hand; p <= text; p++) {
			if (p < text && *p != '.')
				continue;
			found_ranks(reader, found, seat, suits++, suit, (size_t)(p - suit));
			suit = p + 1;
		}
	}
	if (spacing)
		say(pbn, found, found->where, SAY(.code = DEALBOX_CODE_SPACING));
	if (hands != DEALBOX_HANDS) {
		say(pbn, found, found->where, SAY(.code = DEALBOX_CODE_HANDS_NUMBER,
		    .count = hands, .expected = DEALBOX_HANDS));
		return false;
	}
	return true;
}

/* A value that may not be inherited (4.8): said, and then as if not given. */
static void say_inheritance(struct pbn *pbn, struct found *found, struct value *value, enum tag tag)
{
	struct dealbox_problem problem = SAY(.code = DEALBOX_CODE_INHERITANCE_FORBIDDEN);

	memcpy(problem.text, pbn_tags[tag].name, pbn_tags[tag].size);
	say(pbn, found, value->line, problem);
	value->size = 0;
}

static inline void forbid_inheritance(struct pbn *pbn, struct found *found, enum tag tag)
{
	struct value *value = &pbn->values[tag];

	if (value->size && *value->text == '#')
		say_inheritance(pbn, found, value, tag);
}

static void read_board(struct pbn *pbn, struct found *found)
{
	struct value *value = &pbn->values[TAG_BOARD];

	if (!(pbn->seen & 1u << TAG_BOARD)) {
		*value = pbn->board_header;
	} else if (value->size && *value->text == '#') {
		if (value->size > 1 && value->text[1] == '#') {
			value->text += 2;
			value->size -= 2;
			pbn->board_header = *value;
		} else {
			*value = pbn->board_before;
		}
	}
	pbn->board_before = *value;

	if (value->size && value->size <= 9) {
		uint32_t number = 0, i;

		for (i = 0; i < value->size && value->text[i] >= '0' &&
		     value->text[i] <= '9'; i++)
			number = number * 10 + (uint32_t)(value->text[i] - '0');
		if (i == value->size && number) {
			found->number = number;
			return;
		}
	}
	found->where = value->line;
	found_board(pbn->reader, found, value->text, value->size);
}

static void read_dealer(struct pbn *pbn, struct found *found)
{
	struct value *value = &pbn->values[TAG_DEALER];

	found->dealer_where = value->line;
	forbid_inheritance(pbn, found, TAG_DEALER);
	found->dealer = parse_dealer(pbn->reader, found, value->text, value->size);
}

static void read_vulnerable(struct pbn *pbn, struct found *found)
{
	struct value *value = &pbn->values[TAG_VULNERABLE];

	found->vulnerable_where = value->line;
	forbid_inheritance(pbn, found, TAG_VULNERABLE);
	found->vulnerable = parse_vulnerable(pbn->reader, found, value->text, value->size);
}

static void begin_game(struct pbn *pbn)
{
	pbn->seen = 0;
	pbn->first = -1;
	pbn->last = -1;
	pbn->header = false;
	pbn->doubtful = false;
	pbn->whole = false;
	pbn->others_bloom = 0;
	pbn->others_count = 0;
	pbn->values[TAG_BOARD].size = 0;
	pbn->values[TAG_DEALER].size = 0;
	pbn->values[TAG_VULNERABLE].size = 0;
	pbn->values[TAG_DEAL].size = 0;
}

static void check_export(struct pbn *pbn, const struct found *found)
{
	uint32_t line = pbn->line;

	pbn->line = found->where;
	if ((pbn->seen | pbn->headers | ~MANDATORY) != ~0u)
		breaks_export(pbn, EXPORT_TAGS_MISSING);
	if (pbn->values[TAG_DEAL].size > 2) {
		if (found->dealer >= 0 &&
		    *pbn->values[TAG_DEAL].text != dealbox_seat_letter(found->dealer))
			breaks_export(pbn, EXPORT_FIRST_HAND);
		if (pbn->whole ? !pbn->descends :
		    !ranks_descend(pbn->values[TAG_DEAL].text, pbn->values[TAG_DEAL].size))
			breaks_export(pbn, EXPORT_RANKS);
	}
	pbn->line = line;
}

/* Tags of which one is a value for all games, or none is known, need no deal (4.8). */
static bool is_header(const struct pbn *pbn)
{
	return pbn->header || !(pbn->seen & MANDATORY);
}

/* Keeps the text of the game besides its deal, which is the last one of the set if it is good. */
__attribute__((noinline, cold))
static void keep_text(struct pbn *pbn, const struct found *found, size_t count, const char *end)
{
	struct reader *reader = pbn->reader;
	struct set_text *text;
	int err;

	if (dealbox_set_count(reader->set) == count) {
		if (!pbn_texts_no_game(pbn->texts, end, is_header(pbn) && !found->number &&
				       !found->label_size && !(pbn->seen & 1u << TAG_DEAL)))
			say(pbn, found, pbn->first_line, SAY(.code = DEALBOX_CODE_NOT_CARRIED));
		return;
	}
	text = pbn_texts_game(pbn->texts, end);
	err = text ? set_text_put(reader->set, count, text) : -ENOMEM;
	if (err) {
		set_text_free(text);
		reader->error = err;
	}
}

static void judge_game(struct pbn *pbn, struct found *found)
{
	struct reader *reader = pbn->reader;

	reader->tally.games++;
	read_board(pbn, found);
	read_dealer(pbn, found);
	read_vulnerable(pbn, found);
	found->where = pbn->seen & 1u << TAG_DEAL ? pbn->values[TAG_DEAL].line : pbn->first_line;
	forbid_inheritance(pbn, found, TAG_DEAL);
	if (!(pbn->seen & 1u << TAG_DEAL) || !pbn->values[TAG_DEAL].size ||
	    (pbn->values[TAG_DEAL].size == 1 && *pbn->values[TAG_DEAL].text == '?')) {
		/* the values for all games may stand alone */
		if (found->number || found->label_size || !is_header(pbn)) {
			found_number(reader, found);
			say(pbn, found, found->where, SAY(.code = DEALBOX_CODE_DEAL_NOT_GIVEN));
		}
		reader->tally.partial += pbn->seen >> TAG_DEAL & 1;
		return;
	}
	if (pbn->export)
		check_export(pbn, found);
	if (!found_number(reader, found))
		say(pbn, found, found->where, SAY(.code = DEALBOX_CODE_BOARD_MISSING));

	if (pbn->doubtful) {
		reader_spoiled(reader, found);
	} else if (pbn->whole) {
		found->deal = pbn->deal;
		found->given = 15;
		reader_deal(reader, found);
	} else {
		memset(&found->deal, 0, sizeof(found->deal));
		if (parse_deal(pbn, found))
			reader_deal(reader, found);
		else
			reader_spoiled(reader, found);
	}
}

/* The game, if there is one, ends here. */
static void end_game(struct pbn *pbn, const char *end)
{
	struct found found = FOUND_INIT;
	size_t count;

	if (pbn->first < 0)
		return;
	count = pbn->texts ? dealbox_set_count(pbn->reader->set) : 0;
	judge_game(pbn, &found);
	if (pbn->texts && !pbn->reader->error)
		keep_text(pbn, &found, count, end);
	begin_game(pbn);
}

/* -- tags ------------------------------------------------------------------------ */

static enum tag find_tag(const char *name, size_t size)
{
	uint64_t word;

	if (size >= sizeof(tags_by_size) / sizeof(*tags_by_size) || !*tags_by_size[size])
		return TAG_OTHER;
	/* the bytes after the name do not matter: at least a quote follows */
	word = load_le64(name) & (size < 8 ? ((uint64_t)1 << (8 * size)) - 1 : ~(uint64_t)0);
	for (int i = 0; i < 7 && tags_by_size[size][i] != TAG_OTHER; i++) {
		enum tag tag = tags_by_size[size][i];

		if (word == load_le64(pbn_tags[tag].name) &&
		    (size <= 8 || !memcmp(name + 8, pbn_tags[tag].name + 8, size - 8)))
			return tag;
	}
	return TAG_OTHER;
}

static void say_repeated(struct pbn *pbn, const char *name, size_t size)
{
	struct dealbox_problem problem = SAY(.code = DEALBOX_CODE_TAG_REPEATED);

	memcpy(problem.text, name, size < sizeof(problem.text) - 1 ? size :
	       sizeof(problem.text) - 1);
	say(pbn, NULL, 0, problem);
}

/* Tags that are not known here are only looked at for being there twice (3.4). */
static void other_tag(struct pbn *pbn, const char *name, size_t size)
{
	uint64_t bit = (uint64_t)1 << ((size * 7 + (unsigned char)name[0] * 5 +
			(unsigned char)name[size - 1] * 3) & 63);

	if (pbn->others_bloom & bit)
		for (size_t i = 0; i < pbn->others_count; i++)
			if (pbn->others[i].size == size &&
			    !memcmp(pbn->others[i].text, name, size)) {
				say_repeated(pbn, name, size);
				return;
			}
	pbn->others_bloom |= bit;
	if (pbn->others_count < OTHERS_MAX)
		pbn->others[pbn->others_count++] =
			(struct value) { name, (uint32_t)size, pbn->line };
}

static bool same_value(const struct value *value, const char *text, size_t size)
{
	return value->size == size && !memcmp(value->text, text, size);
}

/* Another deal, or another board, than the game has already? */
static bool contradicts(const struct pbn *pbn, enum tag tag, const char *text, size_t size)
{
	return (tag == TAG_DEAL && !same_value(&pbn->values[TAG_DEAL], text, size)) ||
	       (tag == TAG_BOARD && !same_value(&pbn->values[TAG_BOARD], text, size));
}

/*
 * A tag that the game has already. The standard says to ignore it; but when the game has its
 * deal and begins again with its first tag, an empty line was forgotten, and the next
 * deal must not be lost.
 */
static bool repeated_tag(struct pbn *pbn, enum tag tag, const char *value, size_t size)
{
	if (tag == TAG_NOTE)
		return true;
	if ((int)tag == pbn->first && pbn->seen & 1u << TAG_DEAL &&
	    !(tag == TAG_DEAL && same_value(&pbn->values[TAG_DEAL], value, size))) {
		end_game(pbn, pbn->begin ? pbn->begin : pbn->next);
		say(pbn, NULL, 0, SAY(.code = DEALBOX_CODE_GAME_NOT_SEPARATED));
		return false;
	}
	if (contradicts(pbn, tag, value, size)) {
		struct dealbox_problem problem = SAY(.code = DEALBOX_CODE_TAG_CONTRADICTS);

		memcpy(problem.text, pbn_tags[tag].name, pbn_tags[tag].size);
		say(pbn, NULL, 0, problem);
		pbn->doubtful |= tag == TAG_DEAL;
	} else {
		say_repeated(pbn, pbn_tags[tag].name, pbn_tags[tag].size);
	}
	return true;
}

__attribute__((noinline, cold))
static void keep_tag(struct pbn *pbn, const char *name, size_t name_size, struct value value,
		     enum tag tag, bool again)
{
	const struct pbn_tag kept = {
		.begin = pbn->begin ? pbn->begin : name - 1,
		.end = pbn->begin ? pbn->behind : value.text + value.size + 2,
		.name = name, .name_size = name_size,
		.value = value.text, .value_size = value.size, .tag = tag,
	};

	pbn_texts_tag(pbn->texts, &kept, again);
}

static void take_tag(struct pbn *pbn, const char *name, size_t name_size,
		     const char *text, size_t size)
{
	enum tag tag = find_tag(name, name_size);
	struct value value = { text, (uint32_t)size, pbn->line };

	if (tag != TAG_OTHER && pbn->seen & 1u << tag &&
	    repeated_tag(pbn, tag, text, size)) {
		if (pbn->texts)
			keep_tag(pbn, name, name_size, value, tag, true);
		pbn->last = TAG_OTHER;
		return;
	}
	if (pbn->texts)
		keep_tag(pbn, name, name_size, value, tag, false);
	if (pbn->first < 0) {
		pbn->first = (int)tag;
		pbn->first_line = pbn->line;
	}
	if (pbn->export && tag < TAGS_MANDATORY && pbn->seen & MANDATORY & (~0u << tag))
		breaks_export(pbn, EXPORT_TAGS_ORDER);
	if (tag != TAG_OTHER)
		pbn->after[pbn->last + 1] = (uint8_t)tag;
	pbn->last = (int)tag;
	if (tag == TAG_OTHER) {
		other_tag(pbn, name, name_size);
		return;
	}
	pbn->seen |= 1u << tag;
	if (size > 1 && text[0] == '#' && text[1] == '#') {
		pbn->headers |= 1u << tag;
		pbn->header = true;
	}
	pbn->values[tag] = value;
	if (tag == TAG_DEAL)
		pbn->whole = size == DEAL_TEXT &&
			     parse_whole_deal(text, &pbn->deal, &pbn->descends);
}

/*
 * A line that is `[Name "value"]` and nothing else, without a backslash. False: it may be
 * anything.
 */
static inline bool plain_tag(struct pbn *pbn, const char *text, const char *end)
{
	const char *value, *stop = end - 2;
	uint64_t marks;
	size_t name;

	if (end - text < 8 || end[-1] != ']' || *stop != '"')
		return false;
	marks = word_equal(load_le64(text), '"');
	if (marks) {
		value = text + word_first(marks) + 1;
	} else {
		marks = word_equal(load_le64(text + 8), '"');
		if (!marks)
			return false;
		value = text + 8 + word_first(marks) + 1;
	}
	if (value > stop || value[-2] != ' ' || value - text < 4)
		return false;
	name = (size_t)(value - text) - 3;

	/* the last quote must be the next one */
	for (const char *p = value; p < stop; p += 8) {
		uint64_t word = load_le64(p), left = (uint64_t)(stop - p);

		marks = word_equal(word, '"') | word_equal(word, '\\');
		if (left < 8)
			marks &= ((uint64_t)1 << (8 * left)) - 1;
		if (marks)
			return false;
	}
	/* letters, digits and _ only */
	for (size_t i = 1; i <= name; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < '0' || c > 'z' || (c > '9' && c < 'A') || (c > 'Z' && c < '_') ||
		    c == '`')
			return false;
	}
	take_tag(pbn, text + 1, name, value, (size_t)(stop - value));
	return true;
}

/* The first byte that is a quote, a backslash or a control character; the padding is some. */
static inline const char *value_stop(const char *text)
{
	uint64_t marks;

	while (!(marks = word_below(load_le64(text), 0x20) | word_equal(load_le64(text), '"') |
			 word_equal(load_le64(text), '\\')))
		text += 8;
	return text + word_first(marks);
}

/*
 * The games of a file mostly have the same tags in the same order. So a line is compared with
 * the tag that last followed the one before it, and what plain_tag() and take_tag() do is done at
 * once. Goes on for as long as that suffices; returns the first line that is another tag, or
 * no plain one, or of which there is more to say than that it is there.
 */
static const char *expected_tags(struct pbn *pbn, const char *text)
{
	const uint32_t order = pbn->export ? MANDATORY : 0;
	uint32_t line = pbn->line, seen = pbn->seen;
	int first = pbn->first, last = pbn->last;

	while (*text == '[') {
		const enum tag tag = pbn->after[last + 1];
		const struct tag_name *name = &pbn_tags[tag];
		const char *value = text + name->plain_size, *stop = value;
		bool whole = false, descends, crlf;
		uint32_t end;

		if (((load_le64(text) ^ load_le64(name->plain)) & name->mask[0]) |
		    ((load_le64(text + 8) ^ load_le64(name->plain + 8)) & name->mask[1]))
			break;
		if (seen & (1u << tag | (order & ~0u << tag)))
			break;
		if (tag == TAG_DEAL && value[DEAL_TEXT] == '"')
			whole = parse_whole_deal(value, &pbn->deal, &descends);
		if (whole)
			stop = value + DEAL_TEXT;
		else if (*value != '"')
			stop = value_stop(value);
		end = load_le32(stop);
		crlf = end == TEXT32('"', ']', '\r', '\n');
		if ((!crlf && (end & 0xffffff) != TEXT32('"', ']', '\n', 0)) || *value == '#' ||
		    stop + 2 - text > 253)
			break;
		if (!pbn->ends[crlf])
			pbn->ends[crlf] = line;
		pbn->values[tag] = (struct value) { value, (uint32_t)(stop - value), line };
		if (whole) {
			pbn->whole = true;
			pbn->descends = descends;
		}
		seen |= 1u << tag;
		last = (int)tag;
		line++;
		text = stop + 3 + crlf;
	}
	if (first < 0 && text != pbn->next) {
		pbn->first = pbn->after[0];
		pbn->first_line = pbn->line;
	}
	pbn->line = line;
	pbn->seen = seen;
	pbn->last = last;
	return text;
}

static bool is_name(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Blanks, and ends of lines, but no empty line: that would be the end of the game. */
static const char *skip_blanks(struct pbn *pbn, const char *text)
{
	bool empty = false;

	while (text < pbn->end) {
		if (*text == '\n' || *text == '\r') {
			if (empty)
				return text;
			empty = true;
			text = skip_end(pbn, text);
		} else if (*text == ' ' || *text == '\t' || *text == '\v') {
			text++;
		} else {
			break;
		}
	}
	return text;
}

/*
 * A tag in any layout that the import format allows (3.3). Returns what follows it, or NULL
 * when it is broken; the line counter is then that of before.
 */
static const char *any_tag(struct pbn *pbn, const char *text)
{
	const char *name, *value, *begin = text;
	uint32_t line = pbn->line;
	size_t name_size, size;

	name = skip_blanks(pbn, text + 1);
	text = name;
	while (text < pbn->end && is_name(*text))
		text++;
	name_size = (size_t)(text - name);
	text = skip_blanks(pbn, text);
	if (!name_size || text >= pbn->end || *text != '"')
		goto broken;
	value = ++text;
	while (text < pbn->end && *text != '"') {
		if ((unsigned char)*text < 0x20 && *text != '\t')
			goto broken;
		text += 1 + (*text == '\\' && (text[1] == '"' || text[1] == '\\'));
	}
	if (text >= pbn->end)
		goto broken;
	size = (size_t)(text - value);
	text = skip_blanks(pbn, text + 1);
	if (text >= pbn->end || *text != ']')
		goto broken;
	breaks_export(pbn, EXPORT_TAG_LAYOUT);
	pbn->begin = begin;
	pbn->behind = text + 1;
	take_tag(pbn, name, name_size, value, size);
	pbn->begin = NULL;
	return text + 1;
broken:
	pbn->line = line;
	return NULL;
}

/* -- everything that is not a plain tag --------------------------------------------- */

/* A line that is a tag, and looks like nothing else: its kind, or -1. */
static int tag_line(const struct pbn *pbn, const char *text)
{
	const char *name = text + 1, *end;

	if (text >= pbn->end || *text != '[' || *name < 'A' || *name > 'Z')
		return -1;
	for (text = name; text < pbn->end && is_name(*text); text++)
		;
	if (text + 1 >= pbn->end || text[0] != ' ' || text[1] != '"')
		return -1;
	for (end = text + 2; end < pbn->end && (unsigned char)*end >= ' '; end++)
		;
	if (end[-1] != ']' || end[-2] != '"' || end - text < 4)
		return -1;
	return (int)find_tag(name, (size_t)(text - name));
}

/* The next closing brace, or the end. Each byte is looked at once, however often it is asked. */
static const char *find_close(struct pbn *pbn, const char *text)
{
	if (!pbn->close || pbn->close < text)
		pbn->close = memchr(text, '}', (size_t)(pbn->end - text));
	if (!pbn->close)
		pbn->close = pbn->end;
	return pbn->close;
}

/*
 * Returns true if the comment around text is never closed: no brace follows, or the next one closes
 * another comment, or is in the value of a tag.
 */
static bool never_closed(struct pbn *pbn, const char *text)
{
	const char *close = find_close(pbn, text), *line = close;

	if (close == pbn->end || memchr(text, '{', (size_t)(close - text)))
		return true;
	while (line > text && line[-1] != '\n' && line[-1] != '\r')
		line--;
	return tag_line(pbn, line) >= 0;
}

/*
 * A comment in braces (3.8): returns what follows it. It may have empty lines, and whole games that
 * somebody put away. But where a tag begins behind an empty line of a comment that is never closed,
 * the next game begins.
 */
static const char *brace_comment(struct pbn *pbn, const char *text)
{
	uint32_t line = pbn->line;
	bool empty = false, game = false;

	for (text++; text < pbn->end; text++) {
		const char *end = find_either(text, '}');

		if (end >= pbn->end)
			break;
		if (*end == '}') {
			if (game)
				say(pbn, NULL, line, SAY(.code = DEALBOX_CODE_COMMENT_HOLDS_GAME));
			return end + 1;
		}
		text = end;
		if (*end != '\n' && *end != '\r')
			continue;
		text = skip_end(pbn, end);
		if (empty && !game && tag_line(pbn, text) >= 0) {
			if (never_closed(pbn, text)) {
				say(pbn, NULL, line, SAY(.code = DEALBOX_CODE_COMMENT_UNCLOSED));
				end_game(pbn, text);
				/* the line begins anew: it is counted when its end is met */
				pbn->next = text;
				return NULL;
			}
			game = true;
		}
		if (text >= pbn->end)
			break;
		/* is the line that begins here empty? */
		for (end = text; end < pbn->end && (*end == ' ' || *end == '\t'); end++)
			;
		empty = end >= pbn->end || *end == '\n' || *end == '\r';
		text--;
	}
	say(pbn, NULL, line, SAY(.code = DEALBOX_CODE_COMMENT_UNCLOSED));
	return pbn->end;
}

/* Returns true if the text begins with that word. */
static bool begins(const char *text, const char *end, const char *word)
{
	size_t size = strlen(word);

	return (size_t)(end - text) >= size && !memcmp(text, word, size);
}

/* Text that is neither tag nor comment: the data of a section, if the tag before has any. */
static void stray(struct pbn *pbn, const char *text)
{
	/* a deal, or the number of a board, whose bracket is missing */
	if (begins(text, pbn->end, "Deal \"") || begins(text, pbn->end, "Board \"")) {
		say(pbn, NULL, 0, SAY(.code = DEALBOX_CODE_TAG_BROKEN));
		pbn->said_stray = true;	/* the rest of the line */
		return;
	}
	if (pbn->said_stray || (pbn->last >= TAGS_MANDATORY && pbn->first >= 0))
		return;
	pbn->said_stray = true;
	say(pbn, NULL, 0, SAY(.code = DEALBOX_CODE_TEXT_STRAY));
}

/* From text to the end of a line, which may be a later one. Returns what follows it. */
static const char *scan_line(struct pbn *pbn, const char *text)
{
	const char *after;

	while (text < pbn->end) {
		switch (*text) {
		case '\n':
		case '\r':
			return skip_end(pbn, text);
		case ' ':
		case '\t':
		case '\v':
			text++;
			break;
		case '{':
			text = brace_comment(pbn, text);
			if (!text)
				return pbn->next;
			break;
		case ';':
			text = line_end(pbn, text);
			break;
		case '[':
			after = any_tag(pbn, text);
			if (!after) {
				say(pbn, NULL, 0, SAY(.code = DEALBOX_CODE_TAG_BROKEN));
				after = line_end(pbn, text);
			}
			text = after;
			break;
		case '"':
			/* a string of a table; it ends with its line at the latest */
			stray(pbn, text);
			text = find_either(text + 1, '"');
			text += text < pbn->end && *text == '"';
			break;
		default:
			stray(pbn, text);
			while (text < pbn->end && (unsigned char)*text > ' ' &&
			       *text != '{' && *text != ';' && *text != '[' && *text != '"')
				text++;
			/* control characters */
			while (text < pbn->end && (unsigned char)*text < ' ' &&
			       *text != '\n' && *text != '\r' && *text != '\t')
				text++;
			break;
		}
	}
	return pbn->end;
}

static bool is_blank(const char *text, const char *end)
{
	while (text < end && (*text == ' ' || *text == '\t'))
		text++;
	return text == end;
}

/* Reads our own escape line: the marks of the set. */
static const char marks_line[] = "dealbox:";
static const struct {
	unsigned int mark;
	const char *word;
} marks[] = {
	{ DEALBOX_MARK_RESTRICTED, " restricted" },
	{ DEALBOX_MARK_UNPLAYED, " unplayed" },
};

/* `%` in the first column (2.4); three of them mean something. */
static void escape_line(struct pbn *pbn, const char *text, const char *end)
{
	const char *line = text;
	bool own;

	for (text++; text < end && *text == ' '; text++)
		;
	if (begins(text, end, "EXPORT"))
		pbn->export = true;
	/* these are written for the whole file */
	own = begins(text, end, marks_line);
	if (pbn->texts && (own || begins(text, end, "EXPORT") || begins(text, end, "PBN ")))
		pbn_texts_skip(pbn->texts, line, end);
	if (!own)
		return;
	for (size_t m = 0; m < sizeof(marks) / sizeof(marks[0]); m++)
		if (memmem(text, (size_t)(end - text), marks[m].word, strlen(marks[m].word)))
			dealbox_set_mark(pbn->reader->set,
					 dealbox_set_marks(pbn->reader->set) | marks[m].mark);
}

static void read_lines(struct pbn *pbn)
{
	while (pbn->next < pbn->end && !pbn->reader->error) {
		const char *text, *end;
		size_t size;

		if (!pbn->texts)
			pbn->next = expected_tags(pbn, pbn->next);
		text = pbn->next;
		end = line_end(pbn, text);
		size = (size_t)(end - text);
		if (size > 253) {
			if (!pbn->said_long && size > 254)
				say(pbn, NULL, 0, SAY(.code = DEALBOX_CODE_LINE_LONG,
				    .count = (uint32_t)size));
			pbn->said_long |= size > 254;
			breaks_export(pbn, EXPORT_LINE);
		}
		if (*text == '[' && plain_tag(pbn, text, end)) {
			pbn->next = skip_end(pbn, end);
		} else if (is_blank(text, end)) {
			end_game(pbn, text);
			pbn->next = skip_end(pbn, end);
		} else if (*text == '%') {
			escape_line(pbn, text, end);
			pbn->next = skip_end(pbn, end);
		} else {
			pbn->next = scan_line(pbn, text);
		}
	}
	end_game(pbn, pbn->end);
}

/* Reports what is reported once for the whole file. */
static void sum_up(struct pbn *pbn)
{
	unsigned int kinds = 0;
	uint32_t line = 0;

	for (int i = 0; i < 3; i++) {
		kinds += pbn->ends[i] != 0;
		if (pbn->ends[i] > line)
			line = pbn->ends[i];
	}
	if (kinds > 1)
		say(pbn, NULL, line, SAY(.code = DEALBOX_CODE_LINE_ENDS_MIXED));
	if (pbn->export && (pbn->ends[0] || pbn->ends[2]))
		pbn->broken[EXPORT_CRLF] = pbn->ends[0] ? pbn->ends[0] : pbn->ends[2];
	for (int rule = 0; rule < EXPORT_RULES; rule++) {
		struct dealbox_problem problem = SAY(.code = DEALBOX_CODE_NOT_EXPORT);

		if (!pbn->broken[rule])
			continue;
		strncpy(problem.text, export_rules[rule], sizeof(problem.text) - 1);
		say(pbn, NULL, pbn->broken[rule], problem);
	}
}

static void end_texts(struct pbn *pbn);

static void read_pbn(struct reader *reader)
{
	struct pbn *pbn = calloc(1, sizeof(*pbn));

	if (!pbn) {
		reader->error = -ENOMEM;
		return;
	}
	pbn->reader = reader;
	pbn->next = (const char *)reader->data;
	pbn->end = pbn->next + reader->size;
	pbn->line = 1;
	/* the order of the export format */
	for (unsigned int tag = 0; tag < TAGS_KNOWN; tag++)
		pbn->after[tag] = (uint8_t)tag;
	if (set_keeps_text(reader->set)) {
		pbn->texts = pbn_texts_new(pbn->next);
		pbn->before = dealbox_set_count(reader->set);
		if (!pbn->texts)
			reader->error = -ENOMEM;
	}
	begin_game(pbn);
	read_lines(pbn);
	if (pbn->texts && !reader->error)
		end_texts(pbn);
	sum_up(pbn);
	pbn_texts_free(pbn->texts);
	dealbox_deal_wipe(&pbn->deal);
	free(pbn);
}

/* A tag at the beginning of a line, soon. */
static int recognise_pbn(const uint8_t *data, size_t size, uint64_t total)
{
	struct pbn pbn = { .end = (const char *)data + size };
	const char *text = (const char *)data;

	(void)total;
	if (pbn.end - text > 5 && !memcmp(text, "% PBN", 5))
		return 100;
	while (text < pbn.end) {
		int tag = tag_line(&pbn, text);

		if (tag >= 0 && tag < TAGS_MANDATORY)
			return 90;
		text = text_line_end(text, pbn.end);
		while (text < pbn.end && (*text == '\n' || *text == '\r' || *text == ' '))
			text++;
	}
	return 0;
}

/* -- writing ------------------------------------------------------------------- */

static char *put_text(char *text, const char *from, size_t size)
{
	memcpy(text, from, size);
	return text + size;
}

#define PUT(text, constant) put_text(text, constant, sizeof(constant) - 1)

static char *put_number(char *text, const struct dealbox_board *board)
{
	if (board->number)
		return number_put(board->number, text);
	return stpcpy(text, board->label ? board->label : "?");
}

static char *put_dealer(char *text, const struct dealbox_board *board)
{
	*text++ = dealbox_seat_letter(board_dealer(board));
	return text;
}

static char *put_vulnerable(char *text, const struct dealbox_board *board)
{
	return stpcpy(text, dealbox_vulnerable_name(board_vulnerable(board)));
}

static char *put_deal(char *text, const struct dealbox_board *board)
{
	int dealer = board_dealer(board), first = dealer < 0 ? DEALBOX_NORTH : dealer;

	*text++ = dealbox_seat_letter(first);
	for (int i = 0; i < DEALBOX_HANDS; i++) {
		*text++ = i ? ' ' : ':';
		text = cards_put(board->deal.hand[(first + i) & 3], text);
	}
	return text;
}

/* Export format: a game has the 15 mandatory tags; what does not apply is empty. */
static char *put_game(char *text, const struct dealbox_board *board)
{
	text = PUT(text, "[Event \"\"]\r\n[Site \"\"]\r\n[Date \"\"]\r\n[Board \"");
	text = put_number(text, board);
	text = PUT(text, "\"]\r\n[West \"\"]\r\n[North \"\"]\r\n[East \"\"]\r\n"
		   "[South \"\"]\r\n[Dealer \"");
	text = put_dealer(text, board);
	text = PUT(text, "\"]\r\n[Vulnerable \"");
	text = put_vulnerable(text, board);
	text = PUT(text, "\"]\r\n[Deal \"");
	text = put_deal(text, board);
	return PUT(text, "\"]\r\n[Scoring \"\"]\r\n[Declarer \"\"]\r\n[Contract \"\"]\r\n"
		   "[Result \"\"]\r\n");
}

#define GAME_MAX	640	/* bytes, with the longest label */

/* Returns a game with all the text of its file; wipe and free it. NULL = out of memory. */
static char *kept_game(const struct set_text *kept, const struct dealbox_board *board, size_t *size)
{
	static char *(*const values[SET_TEXT_HOLES])(char *, const struct dealbox_board *) = {
		put_number, put_dealer, put_vulnerable, put_deal,
	};
	char *begin = malloc(kept->size + GAME_MAX), *text = begin;
	size_t from = 0;

	if (!begin)
		return NULL;
	for (int i = 0; i < SET_TEXT_HOLES; i++) {
		text = put_text(text, kept->text + from, kept->hole[i] - from);
		text = values[i](text, board);
		from = kept->hole[i];
	}
	text = put_text(text, kept->text + from, kept->size - from);
	*size = (size_t)(text - begin);
	return begin;
}

static void kept_free(char *text, size_t size)
{
	if (text)
		explicit_bzero(text, size);
	free(text);
}

/* Text after the last game belongs to it. */
static void end_texts(struct pbn *pbn)
{
	struct reader *reader = pbn->reader;
	size_t count = dealbox_set_count(reader->set);
	struct set_text *text;

	if (count > pbn->before) {
		text = pbn_texts_end(pbn->texts, pbn->end, set_text(reader->set, count - 1));
		if (!text || set_text_put(reader->set, count - 1, text))
			reader->error = -ENOMEM;
	}
}

static int can_write_pbn(const struct dealbox_set *set, struct dealbox_report *report)
{
	struct dealbox_board board;

	for (size_t i = 0; !dealbox_set_get(set, i, &board); i++) {
		/* such a value is that of another game (PBN 2.1, 4.8) */
		if (board.label && board.label[0] == '#')
			return cannot_express(report, &board, "a label that begins with #");
		for (const char *c = board.label; c && *c; c++)
			if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
				return cannot_express(report, &board, "quotes in a label");
	}
	return 0;
}

static void write_kept(struct writer *writer, const struct set_text *kept,
		       const struct dealbox_board *board)
{
	size_t size = 0, piece;
	char *text = kept_game(kept, board, &size);

	if (!text)
		writer->error = -ENOMEM;
	for (size_t done = 0; done < size && !writer->error; done += piece) {
		piece = size - done < WRITER_ROOM ? size - done : WRITER_ROOM;
		writer_add(writer, text + done, piece);
	}
	kept_free(text, size);
}

static void write_pbn(struct writer *writer, const struct dealbox_set *set)
{
	struct dealbox_board board;
	bool export = true;

	for (size_t i = 0; export && i < dealbox_set_count(set); i++)
		export = !set_text(set, i) || set_text(set, i)->export;
	writer_text(writer, export ? "% PBN 2.1\r\n% EXPORT\r\n" : "% PBN 2.1\r\n");
	if (dealbox_set_marks(set)) {
		writer_print(writer, "%% %s", marks_line);
		for (size_t m = 0; m < sizeof(marks) / sizeof(marks[0]); m++)
			if (dealbox_set_marks(set) & marks[m].mark)
				writer_text(writer, marks[m].word);
		writer_text(writer, "\r\n");
	}
	for (size_t i = 0; !writer->error && !dealbox_set_get(set, i, &board); i++) {
		char *begin = writer_room(writer, GAME_MAX), *text = begin;

		if (!begin)
			break;
		if (i)
			text = PUT(text, "\r\n");
		if (set_text(set, i)) {
			writer->used += (size_t)(text - begin);
			write_kept(writer, set_text(set, i), &board);
			continue;
		}
		text = put_game(text, &board);
		writer->used += (size_t)(text - begin);
	}
	dealbox_deal_wipe(&board.deal);
}

const struct dealbox_format format_pbn = {
	.name = "pbn",
	.title = "Portable Bridge Notation 1.0 to 2.1",
	.recognise = recognise_pbn,
	.read = read_pbn,
	.can_write = can_write_pbn,
	.write = write_pbn,
	.kept_game = kept_game,
};
