// SPDX-License-Identifier: LGPL-2.1-or-later
/* Shared by the readers: checking a deal, and the words of several formats. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "formats.h"

void reader_say(struct reader *reader, const struct found *found, uint32_t where,
		struct dealbox_problem problem)
{
	/* the notation of the file, which is the same throughout */
	const uint64_t once = 1ULL << DEALBOX_CODE_TEN_AS_10 | 1ULL << DEALBOX_CODE_VOID_AS_DASH |
			      1ULL << DEALBOX_CODE_SPACING | 1ULL << DEALBOX_CODE_VULNERABLE_WORD;

	_Static_assert(DEALBOX_CODES <= 64, "a bit for each");
	if (once & reader->said & 1ULL << problem.code)
		return;
	reader->said |= 1ULL << problem.code;
	if (!where && found)
		where = found->where;
	problem.severity = (uint8_t)dealbox_code_severity(problem.code);
	problem.file = reader->name;
	if (reader->binary)
		problem.byte = where;
	else
		problem.line = where;
	if (found && found->number)
		snprintf(problem.board, sizeof(problem.board), "%u", found->number);
	else if (found && found->label_size)
		dealbox_text_safe(found->label, found->label_size, problem.board,
				  sizeof(problem.board));
	dealbox_report_add(reader->report, &problem);
}

void found_unread(struct found *found, int seat)
{
	found->broken |= (uint8_t)(1 << seat);
	if (found->extra[seat] < UINT8_MAX)
		found->extra[seat]++;
}

void found_card(struct reader *reader, struct found *found, int seat, unsigned int card)
{
	dealbox_cards bit = (dealbox_cards)1 << card;

	if (found->deal.hand[seat] & bit) {
		reader_say(reader, found, 0, SAY_CARD(card, .code = DEALBOX_CODE_CARD_REPEATED,
			   .hands = (uint8_t)(1 << seat)));
		found_unread(found, seat);
	}
	found->deal.hand[seat] |= bit;
}

#define BIT(n)		((dealbox_cards)1 << (n))
#define BITS4(n)	BIT(n), BIT((n) + 1), BIT((n) + 2), BIT((n) + 3)
#define BITS13(n)	BITS4(n), BITS4((n) + 4), BITS4((n) + 8), BIT((n) + 12)
const dealbox_cards card_bits[64] = { BITS13(0), BITS13(13), BITS13(26), BITS13(39) };

/* Rank of a letter in either case, plus one. */
#define RANK(letter, rank)	[letter] = (rank) + 1, [(letter) | 0x20] = (rank) + 1
#define DIGIT(letter, rank)	[letter] = (rank) + 1
static const uint8_t rank_letters[256] = {
	RANK('A', 0), RANK('K', 1), RANK('Q', 2), RANK('J', 3), RANK('T', 4),
	DIGIT('9', 5), DIGIT('8', 6), DIGIT('7', 7), DIGIT('6', 8), DIGIT('5', 9),
	DIGIT('4', 10), DIGIT('3', 11), DIGIT('2', 12),
};

bool found_ranks(struct reader *reader, struct found *found, int seat, int suit,
		 const char *text, size_t size)
{
	bool good = true;

	if (size == 1 && *text == '-') {
		reader_say(reader, found, 0, SAY(.code = DEALBOX_CODE_VOID_AS_DASH));
		return true;
	}
	for (size_t i = 0; i < size; i++) {
		unsigned int rank = rank_letters[(unsigned char)text[i]];

		if (text[i] == '1' && i + 1 < size && text[i + 1] == '0') {
			reader_say(reader, found, 0, SAY(.code = DEALBOX_CODE_TEN_AS_10));
			rank = rank_letters['T'];
			i++;
		}
		if (!rank) {
			if (!(found->broken >> seat & 1))
				reader_say(reader, found, 0, SAY(.code = DEALBOX_CODE_BAD_RANK,
					   .hand = (uint8_t)seat));
			found_unread(found, seat);
			good = false;
			continue;
		}
		found_card(reader, found, seat, 13 * (unsigned int)suit + rank - 1);
	}
	return good;
}

void found_bad_suit(struct reader *reader, struct found *found, int seat)
{
	reader_say(reader, found, 0, SAY(.code = DEALBOX_CODE_BAD_SUIT, .hand = (uint8_t)seat));
	found->broken |= (uint8_t)(1 << seat);
	found->unread |= (uint8_t)(1 << seat);
}

void found_rest(struct found *found)
{
	dealbox_cards all = 0;
	int rest = -1;

	for (int seat = 0; seat < DEALBOX_HANDS; seat++) {
		all |= found->deal.hand[seat];
		if (!(found->given >> seat & 1))
			rest = seat;
	}
	if (rest < 0)
		return;
	found->deal.hand[rest] = DEALBOX_PACK_BRIDGE & ~all;
	found->given |= (uint8_t)(1 << rest);
	/* if it is not 13, the other hands are wrong, and reported */
	found->unread |= (uint8_t)(1 << rest);
}

/* Bridge boards have a dealer and a vulnerability by their number (Law 2). */
static void check_board(struct reader *reader, const struct found *found)
{
	if (!found->number)
		return;
	if (found->dealer >= 0 && found->dealer != dealbox_board_dealer(found->number))
		reader_say(reader, found, found->dealer_where,
			   SAY(.code = DEALBOX_CODE_DEALER_CONTRADICTS));
	if (found->vulnerable >= 0 &&
	    found->vulnerable != dealbox_board_vulnerable(found->number))
		reader_say(reader, found, found->vulnerable_where,
			   SAY(.code = DEALBOX_CODE_VULNERABLE_CONTRADICTS));
}

void reader_spoiled(struct reader *reader, struct found *found)
{
	check_board(reader, found);
	reader->tally.invalid++;
}

/* More missing cards than this are not named one by one: a whole hand is missing. */
#define NAMED_MISSING	13

static struct set_entry found_entry(const struct reader *reader, const struct found *found)
{
	return (struct set_entry) {
		.deal = found->deal, .number = found->number, .label = found->label,
		.label_size = found->label_size, .dealer = found->dealer,
		.vulnerable = found->vulnerable, .file = reader->file,
		.where = found->where,
	};
}

static void say_defects(struct reader *reader, struct found *found)
{
	struct dealbox_defect defects[DEALBOX_DEFECTS_MAX];
	struct set_entry entry;
	unsigned int missing = 0;
	bool excess = found->broken != 0;
	size_t count;

	count = dealbox_deal_check(&found->deal, dealbox_pack_bridge(), defects,
				   DEALBOX_DEFECTS_MAX);
	for (size_t i = 0; i < count; i++)
		missing += defects[i].kind == DEALBOX_DEFECT_MISSING;

	for (int seat = 0; seat < DEALBOX_HANDS; seat++)
		if (!(found->given >> seat & 1))
			reader_say(reader, found, 0, SAY(.code = DEALBOX_CODE_HAND_NOT_GIVEN,
				   .hand = (uint8_t)seat));
	for (size_t i = 0; i < count; i++) {
		const struct dealbox_defect *defect = &defects[i];

		switch (defect->kind) {
		case DEALBOX_DEFECT_REPEATED:
			reader_say(reader, found, 0, SAY_CARD(defect->card,
				   .code = DEALBOX_CODE_CARD_REPEATED, .hands = defect->hands));
			excess = true;
			break;
		case DEALBOX_DEFECT_MISSING:
			if (found->given == 15 && !found->unread &&
			    missing <= NAMED_MISSING)
				reader_say(reader, found, 0, SAY_CARD(defect->card,
					   .code = DEALBOX_CODE_CARD_MISSING));
			break;
		default:	/* sizes: below, as they were written */
			break;
		}
	}
	for (int seat = 0; seat < DEALBOX_HANDS; seat++) {
		unsigned int size = dealbox_cards_count(found->deal.hand[seat]) +
				    found->extra[seat];

		if (!(found->given >> seat & 1) || found->unread >> seat & 1 ||
		    size == 13)
			continue;
		excess |= size > 13;
		reader_say(reader, found, 0, SAY(.code = DEALBOX_CODE_HAND_SIZE,
			   .hand = (uint8_t)seat, .count = size,
			   .expected = 13));
	}
	if (excess) {
		reader->tally.invalid++;
		return;
	}
	reader->tally.partial++;
	entry = found_entry(reader, found);
	reader->error = set_partial_put(reader->set, &entry);
}

void reader_deal(struct reader *reader, struct found *found)
{
	struct set_entry entry;

	if (reader->error)
		return;
	check_board(reader, found);
	if (found->broken ||
	    !dealbox_deal_complete(&found->deal, dealbox_pack_bridge())) {
		say_defects(reader, found);
		return;
	}
	if (deal_is_placeholder(&found->deal)) {
		reader_say(reader, found, 0, SAY(.code = DEALBOX_CODE_PLACEHOLDER_DEAL));
		reader->tally.invalid++;
		return;
	}
	entry = found_entry(reader, found);
	reader->error = set_append(reader->set, &entry);
	if (!reader->error)
		reader->tally.complete++;
}

/* -- words ----------------------------------------------------------------- */

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static void trim(const char **text, size_t *size)
{
	while (*size && is_space((*text)[*size - 1]))
		--*size;
	while (*size && is_space(**text)) {
		++*text;
		--*size;
	}
}

uint32_t parse_number(const char *text, size_t size)
{
	uint64_t number = 0;

	trim(&text, &size);
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return 0;
		number = number * 10 + (uint64_t)(text[i] - '0');
		if (number > DEALBOX_BOARD_MAX)
			return 0;
	}
	return (uint32_t)number;
}

void found_board(struct reader *reader, struct found *found, const char *text,
		 size_t size)
{
	found->label = NULL;
	found->label_size = 0;
	trim(&text, &size);
	found->number = parse_number(text, size);
	if (found->number || !size || (size == 1 && *text == '?'))
		return;
	/* a label is short text of one line; anything else is ignored */
	for (size_t i = 0; i < size; i++)
		if (size > SET_LABEL_MAX || (unsigned char)text[i] < ' ')
			return;
	found->label = text;
	found->label_size = size;
	reader_say(reader, found, 0, SAY(.code = DEALBOX_CODE_BOARD_NOT_NUMBER));
}

bool found_next_number(struct reader *reader, struct found *found)
{
	found->number = set_next_number(reader->set);
	return found->number;
}

int parse_dealer(struct reader *reader, const struct found *found, const char *text,
		 size_t size)
{
	int seat;

	trim(&text, &size);
	if (!size || (size == 1 && *text == '?'))
		return -1;
	seat = size == 1 ? dealbox_seat_parse(*text) : -1;
	if (seat < 0) {
		reader_say(reader, found, found->dealer_where,
			   SAY(.code = DEALBOX_CODE_DEALER_INVALID));
		return -1;
	}
	return seat;
}

/* The usual notation of programs. */
static const struct {
	uint32_t text, mask;
	size_t size;
	int vulnerable;
} vulnerable_names[] = {
	{ TEXT32('N', 'o', 'n', 'e'), 0xffffffff, 4, DEALBOX_VULNERABLE_NONE },
	{ TEXT32('-', 0, 0, 0), 0xff, 1, DEALBOX_VULNERABLE_NONE },
	{ TEXT32('N', 'S', 0, 0), 0xffff, 2, DEALBOX_VULNERABLE_NS },
	{ TEXT32('E', 'W', 0, 0), 0xffff, 2, DEALBOX_VULNERABLE_EW },
	{ TEXT32('A', 'l', 'l', 0), 0xffffff, 3, DEALBOX_VULNERABLE_ALL },
};

int parse_vulnerable(struct reader *reader, const struct found *found, const char *text,
		     size_t size)
{
	/* PBN 3.4.10, then what other programs write */
	static const struct {
		const char *word;
		int8_t vulnerable;
		bool usual;
	} words[] = {
		{ "none", DEALBOX_VULNERABLE_NONE, true },
		{ "love", DEALBOX_VULNERABLE_NONE, true },
		{ "-", DEALBOX_VULNERABLE_NONE, true },
		{ "ns", DEALBOX_VULNERABLE_NS, true },
		{ "ew", DEALBOX_VULNERABLE_EW, true },
		{ "all", DEALBOX_VULNERABLE_ALL, true },
		{ "both", DEALBOX_VULNERABLE_ALL, true },
		{ "o", DEALBOX_VULNERABLE_NONE, false },
		{ "nil", DEALBOX_VULNERABLE_NONE, false },
		{ "n-s", DEALBOX_VULNERABLE_NS, false },
		{ "n/s", DEALBOX_VULNERABLE_NS, false },
		{ "e-w", DEALBOX_VULNERABLE_EW, false },
		{ "e/w", DEALBOX_VULNERABLE_EW, false },
	};
	size_t whole = size;

	/* first the usual notation */
	for (size_t i = 0; i < sizeof(vulnerable_names) / sizeof(*vulnerable_names); i++)
		if (size == vulnerable_names[i].size &&
		    (load_le32(text) & vulnerable_names[i].mask) == vulnerable_names[i].text)
			return vulnerable_names[i].vulnerable;
	trim(&text, &size);
	if (!size || (size == 1 && *text == '?'))
		return -1;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strlen(words[i].word) != size ||
		    strncasecmp(words[i].word, text, size))
			continue;
		if (!words[i].usual || whole != size)
			reader_say(reader, found, found->vulnerable_where,
				   SAY(.code = DEALBOX_CODE_VULNERABLE_WORD));
		return words[i].vulnerable;
	}
	reader_say(reader, found, found->vulnerable_where,
		   SAY(.code = DEALBOX_CODE_VULNERABLE_INVALID));
	return -1;
}

void lines_begin(struct lines *lines, const void *data, size_t size)
{
	*lines = (struct lines) { .next = data, .end = (const char *)data + size };
}

/* Eight bytes at a time: behind the text is READER_PADDING. */
const char *text_line_end(const char *text, const char *end)
{
	for (; text < end; text += 8) {
		const uint64_t word = load_le64(text);
		const uint64_t feed = word ^ '\n' * EACH_BYTE, carriage = word ^ '\r' * EACH_BYTE;
		/* the lowest bit that is set belongs to the first byte that became 0 */
		const uint64_t ends = (((feed - EACH_BYTE) & ~feed) |
				       ((carriage - EACH_BYTE) & ~carriage)) & 0x80 * EACH_BYTE;

		if (ends) {
			text += __builtin_ctzll(ends) / 8;
			break;
		}
	}
	return text < end ? text : end;
}

bool lines_next(struct lines *lines)
{
	const char *end;

	if (lines->next >= lines->end)
		return false;
	lines->text = lines->next;
	end = text_line_end(lines->next, lines->end);
	lines->size = (size_t)(end - lines->text);
	if (end < lines->end)
		end += 1 + (end[0] == '\r' && end[1] == '\n');
	lines->next = end;
	lines->number++;
	return true;
}
