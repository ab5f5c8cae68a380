// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CSV as Big Deal writes it: sixteen suits (North, East, South, West; spades to clubs), the
 * board, dealer and vulnerability.
 */
#include <string.h>

#include "cards/card-text.h"
#include "bytes.h"
#include "formats.h"

#define FIELDS	18

struct field {
	const char *text;
	size_t size;
};

/* The fields of a line, quoted or not, between commas or semicolons. Returns how many. */
static int split(const char *text, size_t size, struct field fields[FIELDS])
{
	const char *end = text + size;
	int count = 0;

	while (text <= end) {
		struct field field = { text, 0 };
		const char *next;

		while (text < end && (*text == ' ' || *text == '\t'))
			text++;
		if (text < end && *text == '"') {
			field.text = ++text;
			next = memchr(text, '"', (size_t)(end - text));
			if (!next)
				return -1;
			field.size = (size_t)(next - text);
			text = next + 1;
			while (text < end && (*text == ' ' || *text == '\t'))
				text++;
			if (text < end && *text != ',' && *text != ';')
				return -1;
		} else {
			while (text < end && *text != ',' && *text != ';')
				text++;
			field.size = (size_t)(text - field.text);
		}
		if (count < FIELDS)
			fields[count] = field;
		count++;
		text++;
	}
	return count;
}

/*
 * The sixteen suits as Big Deal and this library write them: each between quotes, and commas
 * between these. Then a hand is 13 ranks, three times `","`, and what is around it.
 */
#define HAND_TEXT	22
#define HAND_STEP	25	/* to the next one */

/* Returns the errors in sixteen bytes of a hand, of which only the marked ones count */
static bytes16 bytes_wrong(const char *text, bytes16 *comma, bytes16 *ranks, bytes16 *known)
{
	const bytes16 bytes = bytes_load(text), quote = bytes_equal(bytes, '"');
	const bytes16 before = bytes_load(text - 1), behind = bytes_load(text + 1);

	*comma = bytes_equal(bytes, ',');
	*ranks = bytes_ranks(bytes, known);
	/* a comma has two quotes, a quote has one comma */
	return ~(*known | *comma | quote) |
	       (*comma & ~(bytes_equal(before, '"') & bytes_equal(behind, '"'))) |
	       (quote & ~(bytes_equal(before, ',') ^ bytes_equal(behind, ',')));
}

/* A hand, and the quote, the comma and the quote behind it. False: it may be anything. */
static bool take_whole_hand(struct found *found, int seat, const char *text)
{
	bytes16 comma, ranks, known, suits, wrong;
	dealbox_cards cards;
	uint8_t first;

	wrong = bytes_wrong(text, &comma, &ranks, &known);
	suits = bytes_sums(comma & 1);
	cards = cards_gather(bytes_cards(ranks, suits, known));
	/* the last sixteen, of which the first ten were among those before */
	first = suits[HAND_TEXT - 16 - 1];
	wrong |= bytes_wrong(text + HAND_TEXT - 16, &comma, &ranks, &known);
	suits = bytes_sums(comma & 1) + first;
	cards |= cards_gather(bytes_cards(ranks, suits, known));
	if (suits[15] != 3 || !bytes_all(~wrong) || memcmp(text + HAND_TEXT, "\",\"", 3))
		return false;
	return found_hand(found, seat, cards);
}

/* The line if all of it is as programs write it, and good. False: it may be anything. */
static bool take_plain(struct reader *reader, const struct lines *lines, struct found *found)
{
	const char *text = lines->text + 1, *end = lines->text + lines->size, *digits;
	uint32_t number = 0;

	if (lines->size < DEALBOX_HANDS * HAND_STEP + 8 || *lines->text != '"' || end[-1] != '"')
		return false;
	for (int seat = 0; seat < DEALBOX_HANDS; seat++, text += HAND_STEP)
		if (!take_whole_hand(found, seat, text))
			return false;
	for (digits = text; *text >= '0' && *text <= '9' && text - digits < 9; text++)
		number = number * 10 + (uint32_t)(*text - '0');
	if (!number || memcmp(text, "\",\"", 3))
		return false;
	text += 3;
	found->dealer = dealbox_seat_parse(*text);
	if (found->dealer < 0 || text[1] != '/' || end - text < 4 ||
	    memchr(text, '"', (size_t)(end - 1 - text)))
		return false;
	found->number = number;
	found->given = 15;
	found->vulnerable = parse_vulnerable(reader, found, text + 2, (size_t)(end - 1 - text - 2));
	return true;
}

static void take_line(struct reader *reader, const struct lines *lines)
{
	struct found found = FOUND_INIT;
	struct field fields[FIELDS] = { { NULL, 0 } };
	const struct field *last = &fields[FIELDS - 1];
	const char *slash;
	int count;

	found.where = lines->number;
	if (take_plain(reader, lines, &found)) {
		reader_deal(reader, &found);
		return;
	}
	found = (struct found) FOUND_INIT;
	found.where = lines->number;
	count = split(lines->text, lines->size, fields);
	if (count != FIELDS && count != FIELDS - 2) {
		found_number(reader, &found);
		reader_say(reader, &found, 0, SAY(.code = DEALBOX_CODE_RECORD_INVALID));
		reader_spoiled(reader, &found);
		return;
	}
	if (count == FIELDS) {
		found_board(reader, &found, fields[16].text, fields[16].size);
		slash = memchr(last->text, '/', last->size);
		found.dealer = parse_dealer(reader, &found, last->text, slash ?
					    (size_t)(slash - last->text) : last->size);
		if (slash)
			found.vulnerable = parse_vulnerable(reader, &found, slash + 1,
				(size_t)(last->text + last->size - slash - 1));
	}
	if (!found_number(reader, &found))
		reader_say(reader, &found, 0, SAY(.code = DEALBOX_CODE_BOARD_MISSING));
	found.given = 15;
	for (int i = 0; i < 16; i++)
		if (fields[i].size != 1 || *fields[i].text != '-')
			found_ranks(reader, &found, i / 4, i % 4, fields[i].text,
				    fields[i].size);
	reader_deal(reader, &found);
}

static bool is_empty(const struct lines *lines)
{
	for (size_t i = 0; i < lines->size; i++)
		if ((unsigned char)lines->text[i] > ' ')
			return false;	/* the end of a DOS file is none, either */
	return true;
}

static void read_csv(struct reader *reader)
{
	struct lines lines;

	lines_begin(&lines, reader->data, reader->size);
	while (lines_next(&lines) && !reader->error) {
		if (is_empty(&lines))
			continue;
		reader->tally.games++;
		take_line(reader, &lines);
	}
}

static bool is_ranks(const struct field *field)
{
	static const char ranks[] = "AKQJT98765432akqjt10-";

	for (size_t i = 0; i < field->size; i++)
		if (!memchr(ranks, field->text[i], sizeof(ranks) - 1))
			return false;
	return true;
}

/* One of the first lines has sixteen fields of ranks. */
static int recognise_csv(const uint8_t *data, size_t size, uint64_t total)
{
	struct field fields[FIELDS];
	struct lines lines;

	(void)total;
	lines_begin(&lines, data, size);
	while (lines_next(&lines) && lines.number < 20) {
		int i, count = split(lines.text, lines.size, fields);

		if (count != FIELDS && count != FIELDS - 2)
			continue;
		for (i = 0; i < 16 && is_ranks(&fields[i]); i++)
			;
		if (i == 16)
			return 80;
	}
	return 0;
}

static int can_write_csv(const struct dealbox_set *set, struct dealbox_report *report)
{
	return need_numbers(set, DEALBOX_BOARD_MAX, false, report);
}

static void write_csv(struct writer *writer, const struct dealbox_set *set)
{
	static const char *const vulnerable[] = { "-", "NS", "EW", "All" };
	struct dealbox_board board;
	struct ordered ordered;

	writer->error = ordered_begin(&ordered, set, false);
	for (size_t i = 0; !writer->error && i < ordered.count; i++) {
		char *text = writer_room(writer, 256), *begin = text;

		if (!text)
			break;
		ordered_get(&ordered, i, &board);
		for (int suit = 0; suit < 16; suit++) {
			unsigned int ranks = board.deal.hand[suit / 4] >>
					     (13 * (suit % 4)) & 0x1fff;

			*text++ = '"';
			for (; ranks; ranks &= ranks - 1)
				*text++ = card_ranks[__builtin_ctz(ranks)];
			*text++ = '"';
			*text++ = ',';
		}
		*text++ = '"';
		text = number_put(board.number, text);
		writer->used += (size_t)(text - begin);
		writer_print(writer, "\",\"%c/%s\"\r\n",
			     dealbox_seat_letter(board_dealer(&board)),
			     vulnerable[board_vulnerable(&board)]);
		dealbox_deal_wipe(&board.deal);
	}
	ordered_end(&ordered);
}

const struct dealbox_format format_csv = {
	.name = "csv",
	.title = "CSV of Big Deal",
	.recognise = recognise_csv,
	.read = read_csv,
	.can_write = can_write_csv,
	.write = write_csv,
};
