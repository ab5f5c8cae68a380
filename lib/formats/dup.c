// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The files of the first duplicating machines: BRI (card numbers of North, East and South,
 * 128 bytes a deal), DGE (the hands as they stand on a screen, 128 bytes), and DUP, which has
 * both and a trailer that numbers the boards (156 bytes).
 */
#include <stdio.h>
#include <string.h>

#include "cards/card-text.h"
#include "formats.h"

#define BRI_SIZE	78	/* 39 numbers of two digits */
#define DGE_HAND	17	/* 13 ranks and 4 marks */
#define DGE_SIZE	(4 * DGE_HAND)
#define TRAILER_SIZE	10
#define RECORD		128	/* of BRI and DGE */
#define DUP_RECORD	(BRI_SIZE + DGE_SIZE + TRAILER_SIZE)
#define DUP_BOARDS	99

/* The suit marks of the IBM PC, in the order spades, hearts, diamonds, clubs. */
static const uint8_t marks[4] = { 0x06, 0x03, 0x04, 0x05 };

/* -- reading ----------------------------------------------------------------- */

static int digit_pair(const uint8_t *text)
{
	if (text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9')
		return -1;
	return (text[0] - '0') * 10 + text[1] - '0';
}

static void spell_numbers(struct reader *reader, struct found *found, int seat,
			  const uint8_t *text)
{
	for (int i = 0; i < 13; i++) {
		int card = digit_pair(text + 2 * i) - 1;

		if (card < 0 || card >= DEALBOX_CARDS) {
			if (!(found->broken >> seat & 1))
				reader_say(reader, found, 0, SAY(.code = DEALBOX_CODE_BAD_CARD));
			found_unread(found, seat);
			continue;
		}
		found_card(reader, found, seat, (unsigned int)card);
	}
}

#define EACH_PAIR	0x0001000100010001ULL

/*
 * Returns the cards of 13 numbers, 1 to 52 in two digits: fewer than 13 if one is invalid or
 * repeated. Converts four numbers at a time; each pair of bytes is checked and becomes its number.
 */
static dealbox_cards number_cards(const uint8_t *text)
{
	dealbox_cards cards = 0;

	for (int i = 0; i < 13; i += 4) {
		/* the last four overlap with the ones before */
		uint64_t digits = load_le64(text + 2 * (i < 9 ? i : 9)) ^ 0x30 * EACH_BYTE;
		uint64_t numbers;

		if ((digits | (digits + 0x76 * EACH_BYTE)) & 0x80 * EACH_BYTE)
			return 0;
		numbers = (digits * 10 + (digits >> 8)) & 0xff * EACH_PAIR;
		if ((numbers + (0x7f - DEALBOX_CARDS) * EACH_PAIR) & 0x80 * EACH_PAIR)
			return 0;
		for (int n = 0; n < 4; n++, numbers >>= 16)
			cards |= (dealbox_cards)1 << (numbers & 63);
	}
	return cards >> 1;
}

static void read_numbers(struct reader *reader, struct found *found, const uint8_t *text)
{
	found->given = 7;
	for (int seat = 0; seat < 3; seat++, text += 26)
		if (!found_hand(found, seat, number_cards(text)))
			spell_numbers(reader, found, seat, text);
	found_rest(found);
}

/* Reads four marks in their order, each before the ranks of its suit. */
static bool has_suits(const uint8_t *hand)
{
	int suits = 0;

	for (int i = 0; i < DGE_HAND; i++) {
		const uint8_t *mark = memchr(marks, hand[i], sizeof(marks));

		if (mark && mark - marks != suits++)
			return false;
	}
	return suits == 4 && hand[0] == marks[0];
}

static void spell_screen(struct reader *reader, struct found *found, int seat,
			 const uint8_t *text)
{
	int suit = -1;

	if (!has_suits(text)) {
		found_bad_suit(reader, found, seat);
		return;
	}
	for (int i = 0; i < DGE_HAND; i++) {
		if (memchr(marks, text[i], sizeof(marks)))
			suit++;
		else
			found_ranks(reader, found, seat, suit, (const char *)text + i, 1);
	}
}

/* Classes of screen bytes: a rank, or a mark, which shifts the order of the marks so far. */
static const struct screen_byte {
	uint16_t rank;		/* its bit */
	uint8_t mark, shift;	/* suit + 1, and three bits */
} screen_bytes[256] = {
	['A'] = { 1 << 0 }, ['K'] = { 1 << 1 }, ['Q'] = { 1 << 2 }, ['J'] = { 1 << 3 },
	['T'] = { 1 << 4 }, ['9'] = { 1 << 5 }, ['8'] = { 1 << 6 }, ['7'] = { 1 << 7 },
	['6'] = { 1 << 8 }, ['5'] = { 1 << 9 }, ['4'] = { 1 << 10 }, ['3'] = { 1 << 11 },
	['2'] = { 1 << 12 },
	[0x06] = { 0, 1, 3 }, [0x03] = { 0, 2, 3 }, [0x04] = { 0, 3, 3 }, [0x05] = { 0, 4, 3 },
};

/* Returns the cards of a hand without a branch; fewer than 13 unless it is well-formed. */
static dealbox_cards screen_cards(const uint8_t *text)
{
	static const uint8_t first[8] = { [1] = 0, [2] = 13, [3] = 26, [4] = 39 };
	dealbox_cards cards = 0;
	uint64_t order = 0;

	for (int i = 0; i < DGE_HAND; i++) {
		const struct screen_byte *byte = &screen_bytes[text[i]];

		order = order << byte->shift | byte->mark;
		cards |= (dealbox_cards)byte->rank << first[order & 7];
	}
	return text[0] == marks[0] && order == 01234 ? cards : 0;
}

static void read_screen(struct reader *reader, struct found *found, const uint8_t *text)
{
	found->given = 15;
	for (int seat = 0; seat < 4; seat++, text += DGE_HAND)
		if (!found_hand(found, seat, screen_cards(text)))
			spell_screen(reader, found, seat, text);
}

static void truncated(struct reader *reader, size_t where)
{
	reader_say(reader, NULL, (uint32_t)where, SAY(.code = DEALBOX_CODE_FILE_TRUNCATED));
}

/* 78 digits and the end of a line, as some programs wrote it. */
static void read_bri_lines(struct reader *reader)
{
	struct lines lines;

	lines_begin(&lines, reader->data, reader->size);
	while (lines_next(&lines)) {
		struct found found = FOUND_INIT;

		found.where = (uint32_t)(lines.text - (const char *)reader->data);
		if (!lines.size || (lines.size == 1 && *lines.text == 0x1a))
			continue;	/* 1a: the end of a file in CP/M and DOS */
		reader->tally.games++;
		found_number(reader, &found);
		if (lines.size < BRI_SIZE) {
			reader_say(reader, &found, 0, SAY(.code = DEALBOX_CODE_RECORD_INVALID));
			reader_spoiled(reader, &found);
			continue;
		}
		read_numbers(reader, &found, (const uint8_t *)lines.text);
		reader_deal(reader, &found);
	}
}

static void read_records(struct reader *reader,
			 void (*read)(struct reader *reader, struct found *found,
				      const uint8_t *text))
{
	size_t place;

	for (place = 0; place + RECORD <= reader->size; place += RECORD) {
		struct found found = FOUND_INIT;

		found.where = (uint32_t)place;
		reader->tally.games++;
		found_number(reader, &found);
		read(reader, &found, reader->data + place);
		reader_deal(reader, &found);
	}
	/* an end of file of DOS is harmless */
	if (place < reader->size && reader->data[place] != 0x1a)
		truncated(reader, place);
}

static void read_bri(struct reader *reader)
{
	/* a record contains neither, so this is a short line */
	bool lines = memchr(reader->data, '\n', RECORD) || memchr(reader->data, '\r', RECORD);

	if (lines || reader->size == BRI_SIZE)
		read_bri_lines(reader);
	else
		read_records(reader, read_numbers);
}

static void read_dge(struct reader *reader)
{
	read_records(reader, read_screen);
}

static bool is_filled(const uint8_t *text, size_t size, uint8_t with)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] != with)
			return false;
	return true;
}

static bool is_empty(const uint8_t *text, size_t size)
{
	return is_filled(text, size, ' ') || is_filled(text, size, 0);
}

static const char backwards[] = "it says to count backwards";

/* Reports that the trailer does not number the boards, unless the set gives numbers anyway. */
static void say_trailer(struct reader *reader, size_t where, const char *why)
{
	struct dealbox_problem problem = SAY(.code = DEALBOX_CODE_TRAILER_DISAGREES);

	snprintf(problem.text, sizeof(problem.text), "%s", why);
	if (!set_numbers(reader->set) || why == backwards)
		reader_say(reader, NULL, (uint32_t)where, problem);
}

/*
 * The trailer: Y or N for random hands, Y or N for counting backwards, lowest board (3 bytes),
 * copies (2), and then, by its inventor, the highest board; other writers have the number of boards
 * there (3). Returns the lowest board if one of the two agrees with the number of records,
 * otherwise reports it and returns 0. Big Deal writes 1 and no copies, whatever the numbers are.
 */
static uint32_t read_trailer(struct reader *reader, const uint8_t *text, size_t records,
			     bool whole)
{
	uint32_t lowest = parse_number((const char *)text + 2, 3);
	uint32_t copies = parse_number((const char *)text + 5, 2);
	uint32_t highest = parse_number((const char *)text + 7, 3);
	uint32_t count = highest;
	bool by_range, by_count;
	const char *why = NULL;
	char records_text[32];

	if (is_empty(text, TRAILER_SIZE)) {
		if (!set_numbers(reader->set))
			reader_say(reader, NULL, 0, SAY(.code = DEALBOX_CODE_BOARD_MISSING));
		return 0;
	}
	snprintf(records_text, sizeof(records_text), "%u records do not fit it",
		 (unsigned int)records);
	by_range = highest - lowest + 1 == records;
	by_count = count == records % 100 || count == records;
	if (!whole) {	/* more are announced than exist */
		by_range = highest - lowest + 1 > records;
		by_count = count > records;
	}
	if (!memchr("YN", text[0], 2) || !memchr("YN", text[1], 2) || !lowest)
		why = "it is not readable";
	else if (text[1] == 'Y')
		why = backwards;
	else if (!by_range && !by_count)
		why = records_text;
	else if (lowest + records - 1 > 999)
		why = "numbers above 999";
	else if (lowest == 1 && !copies)
		why = "some programs always say 1";
	if (why)
		say_trailer(reader, BRI_SIZE + DGE_SIZE, why);
	return why ? 0 : lowest;
}

static void read_dup_record(struct reader *reader, struct found *found,
			    const uint8_t *text)
{
	const uint8_t *screen = text + BRI_SIZE;
	struct reader silent = *reader;
	struct found other = FOUND_INIT;
	bool disagree = false;

	read_numbers(reader, found, text);
	/* blank: somebody wanted to be able to play (a blind file) */
	if (!is_empty(screen, DGE_SIZE)) {
		silent.report = NULL;
		read_screen(&silent, &other, screen);
		disagree = other.broken ||
			   memcmp(&other.deal, &found->deal, sizeof(other.deal)) != 0;
	}
	if (disagree) {
		reader_say(reader, found, 0, SAY(.code = DEALBOX_CODE_HALVES_DISAGREE));
		reader_spoiled(reader, found);
	} else {
		reader_deal(reader, found);
	}
	dealbox_deal_wipe(&other.deal);
}

static void read_dup(struct reader *reader)
{
	size_t records = reader->size / DUP_RECORD, rest = reader->size % DUP_RECORD;
	const uint8_t *first = reader->data + BRI_SIZE + DGE_SIZE;
	bool whole = !rest || reader->data[records * DUP_RECORD] == 0x1a;
	uint32_t lowest = 0;

	if (records)
		lowest = read_trailer(reader, first, records, whole);
	for (size_t i = 0; i < records; i++) {
		const uint8_t *text = reader->data + i * DUP_RECORD;
		const uint8_t *trailer = text + BRI_SIZE + DGE_SIZE;

		if (lowest && !is_empty(trailer, TRAILER_SIZE) &&
		    memcmp(trailer, first, TRAILER_SIZE)) {
			say_trailer(reader, (size_t)(trailer - reader->data), "records differ");
			lowest = 0;
		}
	}
	for (size_t i = 0; i < records; i++) {
		struct found found = FOUND_INIT;

		found.where = (uint32_t)(i * DUP_RECORD);
		found.number = lowest ? lowest + (uint32_t)i : 0;
		reader->tally.games++;
		found_number(reader, &found);
		read_dup_record(reader, &found, reader->data + i * DUP_RECORD);
	}
	if (!whole)
		truncated(reader, records * DUP_RECORD);
}

/* -- recognising --------------------------------------------------------------- */

static bool has_numbers(const uint8_t *data, size_t size)
{
	if (size < BRI_SIZE)
		return false;
	for (int i = 0; i < 39; i++)
		if (digit_pair(data + 2 * i) < 0)
			return false;
	return true;
}

static int recognise_bri(const uint8_t *data, size_t size, uint64_t total)
{
	if (!has_numbers(data, size))
		return 0;
	if (total == BRI_SIZE || data[BRI_SIZE] == '\r' || data[BRI_SIZE] == '\n')
		return 80;
	return size >= RECORD && is_filled(data + BRI_SIZE, 32, ' ') &&
	       is_filled(data + 110, 18, 0) ? 90 : 40;
}

static int recognise_dge(const uint8_t *data, size_t size, uint64_t total)
{
	(void)total;
	return size >= DGE_SIZE && data[0] == marks[0] && data[DGE_HAND] == marks[0] &&
	       data[2 * DGE_HAND] == marks[0] ? 90 : 0;
}

static int recognise_dup(const uint8_t *data, size_t size, uint64_t total)
{
	if (!has_numbers(data, size) || size < DUP_RECORD)
		return 0;
	if (data[BRI_SIZE] == marks[0])
		return 100;
	return is_filled(data + BRI_SIZE, DGE_SIZE, ' ') &&
	       (total % DUP_RECORD == 0 || memchr("YN", data[BRI_SIZE + DGE_SIZE], 2)) ?
	       100 : 0;
}

/* -- writing ------------------------------------------------------------------- */

static void put_numbers(const struct dealbox_deal *deal, char *text)
{
	for (int seat = 0; seat < 3; seat++) {
		for (dealbox_cards left = deal->hand[seat]; left; left &= left - 1) {
			int number = __builtin_ctzll(left) + 1;

			*text++ = (char)('0' + number / 10);
			*text++ = (char)('0' + number % 10);
		}
	}
}

static void put_screen(const struct dealbox_deal *deal, char *text)
{
	for (int seat = 0; seat < 4; seat++) {
		for (int suit = 0; suit < 4; suit++) {
			unsigned int ranks = deal->hand[seat] >> (13 * suit) & 0x1fff;

			*text++ = (char)marks[suit];
			for (; ranks; ranks &= ranks - 1)
				*text++ = card_ranks[__builtin_ctz(ranks)];
		}
	}
}

static void put_bri(const struct dealbox_deal *deal, size_t index, char *text)
{
	(void)index;
	put_numbers(deal, text);
	memset(text + BRI_SIZE, ' ', 32);
	memset(text + BRI_SIZE + 32, 0, 18);
}

static void write_bri(struct writer *writer, const struct dealbox_set *set)
{
	write_records(writer, set, RECORD, put_bri);
}

static void put_dge(const struct dealbox_deal *deal, size_t index, char *text)
{
	(void)index;
	put_screen(deal, text);
	memset(text + DGE_SIZE, 0, RECORD - DGE_SIZE);
}

static void write_dge(struct writer *writer, const struct dealbox_set *set)
{
	write_records(writer, set, RECORD, put_dge);
}

static int can_write_dup(const struct dealbox_set *set, struct dealbox_report *report)
{
	return need_numbers(set, DUP_BOARDS, true, report);
}

static void write_dup(struct writer *writer, const struct dealbox_set *set)
{
	char trailer[TRAILER_SIZE + 1];
	struct dealbox_board board;
	struct ordered ordered;
	uint32_t lowest, highest;

	writer->error = ordered_begin(&ordered, set, true);
	if (writer->error || !ordered.count) {
		ordered_end(&ordered);
		return;
	}
	ordered_get(&ordered, 0, &board);
	lowest = board.number;
	ordered_get(&ordered, ordered.count - 1, &board);
	highest = board.number;
	/* random hands, not backwards, lowest, one copy, highest */
	snprintf(trailer, sizeof(trailer), "YN%-3u1 %-3u", lowest, highest);

	for (size_t i = 0; i < ordered.count; i++) {
		char *text = writer_room(writer, DUP_RECORD);

		if (!text)
			break;
		ordered_get(&ordered, i, &board);
		put_numbers(&board.deal, text);
		put_screen(&board.deal, text + BRI_SIZE);
		memcpy(text + BRI_SIZE + DGE_SIZE, trailer, TRAILER_SIZE);
		writer->used += DUP_RECORD;
	}
	ordered_end(&ordered);
	dealbox_deal_wipe(&board.deal);
}

const struct dealbox_format format_bri = {
	.name = "bri",
	.title = "BRI, card numbers of three hands",
	.binary = true,
	.recognise = recognise_bri,
	.read = read_bri,
	.can_write = need_no_numbers,
	.write = write_bri,
};

const struct dealbox_format format_dge = {
	.name = "dge",
	.title = "DGE, hands as on a screen",
	.binary = true,
	.recognise = recognise_dge,
	.read = read_dge,
	.can_write = need_no_numbers,
	.write = write_dge,
};

const struct dealbox_format format_dup = {
	.name = "dup",
	.title = "DUP, Duplimate of DOS",
	.binary = true,
	.recognise = recognise_dup,
	.read = read_dup,
	.can_write = can_write_dup,
	.write = write_dup,
};
